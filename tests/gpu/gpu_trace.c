/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_trace.c: from the second rtune_reduce on, no driver call but the launch and what tells the
 * stream apart. Run it with the tracing driver of
 * tests/fake on LD_LIBRARY_PATH and RTUNE_TRACE_FILE set.
 */
#include "rtune/rtune.h"

#include "tests/gpu/gpu.h"

static const char *const cheap[] = {"cuLaunchKernel", "cuStreamGetCtx", "cuStreamGetId", "cuStreamIsCapturing",
                                    "cuCtxGetCurrent", "cuCtxPushCurrent", "cuCtxPopCurrent"};

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

int main(void) {
    const char *path = getenv("RTUNE_TRACE_FILE");
    struct gpu_cuda cu;
    struct rtune_error err;
    struct rtune_launch launch;
    rtune *rt = NULL;
    CUdeviceptr in, out;
    const uint64_t n = 1u << 20;
    CHECK(path != NULL, "RTUNE_TRACE_FILE is not set: run it under the tracing driver");
    gpu_open(&cu);
    CU(cu.cuMemAlloc(&in, n * 4));
    CU(cu.cuMemAlloc(&out, 64));
    CU(cu.cuMemsetD32(in, 0x3f800000u, n));
    OK(rtune_open(&rt, NULL, &err), &err);
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_F32, n);
    struct rtune_args a = RTUNE_ARGS(gpu_ptr(in), gpu_ptr(out));
    CUstream s;
    CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    a.launch = &launch;
    for (int call = 1; call <= 3; call++) {
        const long from = trace_size(path);
        OK(rtune_reduce(rt, &p, &a, s, &err), &err);
        printf("call %d (%s):", call, launch.reason);
        const int calls = show(path, from, call > 1);
        CHECK(calls > 0, "no call was traced: is the tracing driver in use?");
    }
    float got = 0;
    CU(cu.cuStreamSynchronize(s));
    CU(cu.cuMemcpyDtoH(&got, out, 4));
    CHECK(got == (float)n, "sum is %g", (double)got);
    printf("source=%d kernel=%d predicted_us=%.3f\n", (int)launch.source, (int)launch.kernel,
           launch.predicted_us);
    rtune_close(rt);
    return 0;
}
