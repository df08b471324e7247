/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_trace.c: from the second rtune_reduce on, no driver call but the launch and what
 * tells the stream apart. Run it with the tracing driver of tests/fake on LD_LIBRARY_PATH and
 * RTUNE_TRACE_FILE set.
 */
#include "rtune/rtune.h"

#include "kernels/kernels.h"
#include "tests/gpu/gpu.h"

enum { N_MAX = 1 << 24 };
static const char *const cheap[] = {"cuLaunchKernel",      "cuStreamGetCtx",  "cuStreamGetId",
                                    "cuStreamIsCapturing", "cuCtxGetCurrent", "cuCtxPushCurrent",
                                    "cuCtxPopCurrent"};

static long trace_size(const char *path) {
    FILE *f = fopen(path, "r");
    if (f == NULL) return 0;
    fseek(f, 0, SEEK_END);
    const long size = ftell(f);
    fclose(f);
    return size;
}

/* Print the calls after an offset, one line; returns how many, fails for one that is not cheap. */
static int show(const char *path, long from, bool must_be_cheap) {
    char line[256];
    int count = 0;
    FILE *f = fopen(path, "r");
    CHECK(f != NULL && fseek(f, from, SEEK_SET) == 0, "%s cannot be read", path);
    while (fgets(line, sizeof line, f) != NULL) {
        bool known = false;
        line[strcspn(line, " (\n")] = '\0';
        if (strncmp(line, "cu", 2) != 0) continue;
        for (size_t i = 0; i < sizeof cheap / sizeof cheap[0]; i++) {
            const size_t length = strlen(cheap[i]);
            known = known || (strncmp(line, cheap[i], length) == 0 &&
                              (line[length] == '\0' || line[length] == '_'));
        }
        CHECK(known || !must_be_cheap, "%s in a later call", line);
        printf(" %s", line);
        count++;
    }
    fclose(f);
    printf("\n");
    return count;
}

/* The first size from 2^5 on whose winner is not the built-in instance; without a store, any. */
static uint64_t size_with_own_kernel(rtune *rt, bool must) {
    struct rtune_error err;
    for (uint64_t n = 1 << 5; n <= N_MAX; n *= 2) {
        struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, n);
        struct rtune_launch launch = RTUNE_LAUNCH_INIT;
        OK(rtune_lookup(rt, &p, &launch, &err), &err);
        struct rtune_config standard = rtune_config_default(&p, true);
        standard.grid = launch.config.grid; /* any grid of it is built in */
        if (launch.source == RTUNE_FROM_EXACT && !rtune_config_equal(&launch.config, &standard))
            return n;
    }
    CHECK(!must, "no winner but the built-in instance: is this device tuned?");
    return 1 << 16;
}

int main(void) {
    const char *path = getenv("RTUNE_TRACE_FILE");
    const bool tuned = getenv("RTUNE_TRACE_TUNED") != NULL;
    struct rtune_error err;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    struct rtune_device_request request = {.spec = "cuda:0"};
    rtune_device *dev = NULL;
    rtune *rt = NULL;
    void *in, *out, *stream;
    float got = -1;
    CHECK(path != NULL, "RTUNE_TRACE_FILE is not set: run it under the tracing driver");
    OK(rtune_device_open(&request, &dev, &err), &err);
    OK(dev->ops->mem_alloc(dev, N_MAX * sizeof(float), &in, &err), &err);
    OK(dev->ops->mem_alloc(dev, 64, &out, &err), &err);
    OK(dev->ops->stream_create(dev, &stream, &err), &err);
    OK(dev->ops->mem_set(dev, in, 0, N_MAX * sizeof(float), stream, &err), &err);
    OK(rtune_open(&rt, NULL, &err), &err);
    const struct rtune_problem p =
        RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, size_with_own_kernel(rt, tuned));
    struct rtune_args a = RTUNE_ARGS(in, out);
    a.launch = &launch;
    for (int call = 1; call <= 3; call++) {
        const long from = trace_size(path);
        OK(rtune_reduce(rt, &p, &a, stream, &err), &err);
        printf("call %d (%s):", call, launch.reason);
        const int calls = show(path, from, call > 1);
        CHECK(calls > 0, "no call was traced: is the tracing driver in use?");
    }
    OK(dev->ops->stream_wait(dev, stream, &err), &err);
    OK(dev->ops->mem_get(dev, &got, out, sizeof got, &err), &err);
    CHECK(got == 0, "sum of zeros is %g", (double)got);
    printf("source=%s kernel=%s predicted_us=%.3f\n", rtune_source_name(launch.source),
           rtune_kernel_source_name(launch.kernel), launch.predicted_us);
    if (tuned) {
        CHECK(launch.source == RTUNE_FROM_EXACT, "the launch is not exact: %s", launch.reason);
        CHECK(launch.kernel == RTUNE_KERNEL_STORED, "the kernel is not the stored one: %s",
              launch.reason);
    }
    rtune_close(rt);
    dev->ops->mem_free(dev, in);
    dev->ops->mem_free(dev, out);
    dev->ops->stream_destroy(dev, stream);
    rtune_device_close(dev);
    return 0;
}
