/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_streams.c: librtune on streams and in graphs, through the public interface: two
 * streams at once, 10,000 streams used once each, first call in a capture (CASES C07), two branches
 * of one captured graph, replay beside direct calls on the capture stream, late writes and a busy
 * legacy stream (C09), 512 results and one copy (B11).
 */
#include "rtune/rtune.h"

#include "base/clock.h"
#include "base/rng.h"
#include "tests/gpu/gpu.h"

enum { N = 1 << 18 };

static struct gpu_cuda cu;
static rtune *rt;
static CUdeviceptr input, results; /* N ints; room for 16384 results */
static int64_t sums[N + 1];        /* sums[i]: of the first i elements of the random input */

/* Reduce n elements from element `first` on. */
static void reduce_at(uint64_t first, uint64_t n, uint64_t slot, CUstream stream,
                      struct rtune_launch *launch) {
    struct rtune_error err;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, n);
    struct rtune_args a = RTUNE_ARGS(gpu_ptr(input + 4 * first), gpu_ptr(results + 8 * slot));
    a.launch = launch;
    OK(rtune_reduce(rt, &p, &a, stream, &err), &err);
}

/* Call r of the tests with many calls: its own part of the random input, odd bases and sizes
 * included, so that no two calls in flight have the same partials or the same result. */
static uint64_t first_of(uint64_t r) { return rtune_rng_at(1, r) % 1000; }
static uint64_t size_of(uint64_t r) { return N - 1000 - rtune_rng_at(2, r) % 200000; }

static void reduce(uint64_t r, CUstream stream) {
    reduce_at(first_of(r), size_of(r), r, stream, NULL);
}

/* The same where no workspace may be free; whatever else fails ends the program. */
static enum rtune_status reduce_on(uint64_t r, CUstream stream) {
    struct rtune_error err;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, size_of(r));
    const struct rtune_args a =
        RTUNE_ARGS(gpu_ptr(input + 4 * first_of(r)), gpu_ptr(results + 8 * r));
    const enum rtune_status status = rtune_reduce(rt, &p, &a, stream, &err);
    if (status != RTUNE_NO_WORKSPACE) OK(status, &err);
    return status;
}

/* Results first ... first + count of such calls, against the running sums of the input. */
static void expect(uint64_t first, uint64_t count, const char *what) {
    static int64_t host[16384];
    CU(cu.cuMemcpyDtoH(host, results + 8 * first, 8 * count));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t from = first_of(first + i), to = from + size_of(first + i);
        const int64_t want = sums[to] - sums[from];
        CHECK(host[i] == want, "%s: result %llu is %lld, not %lld", what, (unsigned long long)i,
              (long long)host[i], (long long)want);
    }
    printf("%s: %llu results right\n", what, (unsigned long long)count);
    fflush(stdout);
}

/* Random input, and its running sums. */
static void fill(void) {
    static int32_t host[N];
    for (uint64_t i = 0; i < N; i++) {
        host[i] = (int32_t)(uint32_t)rtune_rng_at(3, i);
        sums[i + 1] = sums[i] + host[i];
    }
    CU(cu.cuMemcpyHtoD(input, host, sizeof host));
    CU(cu.cuCtxSynchronize());
}

static void two_streams(void) {
    CUstream s[2];
    for (int i = 0; i < 2; i++)
        CU(cu.cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
    for (uint64_t r = 0; r < 8192; r++)
        reduce(r, s[r % 2]);
    for (int i = 0; i < 2; i++)
        CU(cu.cuStreamSynchronize(s[i]));
    expect(0, 8192, "two streams at once");
    for (int i = 0; i < 2; i++)
        CU(cu.cuStreamDestroy(s[i]));
}

static void many_streams(void) {
    for (uint64_t r = 0; r < 10000; r++) {
        CUstream s;
        CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        /* A device that others use too may still have work of all workspaces. */
        if (reduce_on(r, s) == RTUNE_NO_WORKSPACE) {
            CU(cu.cuCtxSynchronize());
            reduce(r, s);
        }
        CU(cu.cuStreamDestroy(s)); /* returns at once; the work goes on */
    }
    CU(cu.cuCtxSynchronize());
    expect(0, 10000, "10000 streams used once");
}

/* The very first call for a problem, inside a capture in global mode; then 100 replays with changed
 * input and no growth of memory. */
static void first_call_in_capture(void) {
    CUstream s;
    CUgraph graph;
    CUgraphExec exec;
    struct rtune_launch launch = RTUNE_LAUNCH_INIT;
    size_t before, after, total;
    CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CU(cu.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    reduce_at(0, 12345, 0, s, &launch);
    CU(cu.cuStreamEndCapture(s, &graph));
    CHECK(launch.kernel == RTUNE_KERNEL_BUILTIN,
          "an unprepared capture is served by the built-in kernel");
    CU(cu.cuGraphInstantiate(&exec, graph, 0));
    CU(cu.cuMemGetInfo(&before, &total));
    for (unsigned r = 0; r < 100; r++) {
        int64_t got = 0;
        CU(cu.cuMemsetD32Async(input, r, N, s));
        CU(cu.cuGraphLaunch(exec, s));
        CU(cu.cuStreamSynchronize(s));
        CU(cu.cuMemcpyDtoH(&got, results, 8));
        CHECK(got == 12345 * (int64_t)r, "replay %u: %lld", r, (long long)got);
    }
    CU(cu.cuMemGetInfo(&after, &total));
    CHECK(before == after, "100 replays took %lld bytes", (long long)before - (long long)after);
    printf("first call in a capture (%s), 100 replays right\n", launch.reason);
    fill();
    CU(cu.cuGraphExecDestroy(exec));
    CU(cu.cuGraphDestroy(graph));
    CU(cu.cuStreamDestroy(s));
}

/* Two branches of one graph, replayed while the capture stream makes direct calls of its own. */
static void branches(void) {
    CUstream a, b, replay;
    CUevent fork, join;
    CUgraph graph;
    CUgraphExec exec;
    CU(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    CU(cu.cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    CU(cu.cuStreamCreate(&replay, CU_STREAM_NON_BLOCKING));
    CU(cu.cuEventCreate(&fork, CU_EVENT_DISABLE_TIMING));
    CU(cu.cuEventCreate(&join, CU_EVENT_DISABLE_TIMING));
    for (uint64_t r = 0; r < 16 + 8000; r++)
        reduce(r, a); /* prepared */
    CU(cu.cuStreamSynchronize(a));
    CU(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cu.cuEventRecord(fork, a));
    CU(cu.cuStreamWaitEvent(b, fork, 0));
    for (uint64_t r = 0; r < 16; r++)
        reduce(r, r % 2 ? b : a);
    reduce(16, replay); /* a stream that does not capture, meanwhile */
    CU(cu.cuEventRecord(join, b));
    CU(cu.cuStreamWaitEvent(a, join, 0));
    CU(cu.cuStreamEndCapture(a, &graph));
    CU(cu.cuGraphInstantiate(&exec, graph, 0));
    for (uint64_t r = 0; r < 400; r++) {
        CU(cu.cuGraphLaunch(exec, replay));
        for (uint64_t k = 0; k < 20; k++)
            reduce(16 + 20 * r + k, a);
    }
    CU(cu.cuStreamSynchronize(replay));
    CU(cu.cuStreamSynchronize(a));
    expect(0, 16, "two branches of a graph");
    expect(16, 8000, "direct calls on the capture stream beside replays");
    CU(cu.cuGraphExecDestroy(exec));
    CU(cu.cuGraphDestroy(graph));
    CU(cu.cuEventDestroy(fork));
    CU(cu.cuEventDestroy(join));
    CUstream all[] = {a, b, replay};
    for (int i = 0; i < 3; i++)
        CU(cu.cuStreamDestroy(all[i]));
}

/* PTX of a kernel that spins for p0 nanoseconds. */
static const char spin_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry spin(.param .u64 p0) {\n.reg .u64 %r<5>;\n.reg .pred %p;\n"
    "ld.param.u64 %r1, [p0];\nmov.u64 %r2, %globaltimer;\nadd.u64 %r3, %r2, %r1;\n"
    "again:\nmov.u64 %r4, %globaltimer;\nsetp.lt.u64 %p, %r4, %r3;\n@%p bra again;\nret;\n}\n";

static void late_write(void) {
    CUmodule module;
    CUfunction spin;
    CUstream s;
    CUevent legacy_done;
    uint64_t short_ns = 200000000u, long_ns = 1000000000u;
    void *short_params[] = {&short_ns}, *long_params[] = {&long_ns};
    int64_t got = 0;
    CU(cu.cuModuleLoadData(&module, spin_ptx));
    CU(cu.cuModuleGetFunction(&spin, module, "spin"));
    CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CU(cu.cuEventCreate(&legacy_done, CU_EVENT_DISABLE_TIMING));
    reduce_at(0, N, 0, s, NULL); /* prepared */
    CU(cu.cuCtxSynchronize());
    CU(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, long_params, NULL));
    CU(cu.cuEventRecord(legacy_done, NULL));
    CU(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, short_params, NULL));
    CU(cu.cuMemsetD32Async(input, 3, N, s));
    const uint64_t start = rtune_clock_ns();
    reduce_at(0, N, 0, s, NULL);
    const double call_ms = (double)(rtune_clock_ns() - start) / 1e6;
    CU(cu.cuMemcpyDtoHAsync(&got, results, 8, s));
    CU(cu.cuStreamSynchronize(s));
    CHECK(cu.cuEventQuery(legacy_done) == CUDA_ERROR_NOT_READY,
          "the call waited for the legacy stream");
    CHECK(got == 3 * (int64_t)N, "the late write was not seen: %lld", (long long)got);
    CHECK(call_ms < 5, "the call took %.1f ms", call_ms);
    printf("late write seen, legacy stream not waited for, call %.3f ms\n", call_ms);
    CU(cu.cuCtxSynchronize());
    fill();
    CU(cu.cuEventDestroy(legacy_done));
    CU(cu.cuStreamDestroy(s));
}

static void many_results(void) {
    static int64_t host[512];
    CUstream s;
    CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (uint64_t r = 0; r < 512; r++)
        reduce(r, s);
    CU(cu.cuMemcpyDtoHAsync(host, results, sizeof host, s));
    CU(cu.cuStreamSynchronize(s));
    for (uint64_t r = 0; r < 512; r++)
        CHECK(host[r] == sums[first_of(r) + size_of(r)] - sums[first_of(r)], "result %d: %lld",
              (int)r, (long long)host[r]);
    printf("512 reductions, one copy: right\n");
    CU(cu.cuStreamDestroy(s));
}

int main(void) {
    struct rtune_error err;
    gpu_open(&cu);
    CU(cu.cuMemAlloc(&input, (size_t)N * 4));
    CU(cu.cuMemAlloc(&results, 16384 * 8));
    fill();
    OK(rtune_open(&rt, NULL, &err), &err);
    first_call_in_capture();
    two_streams();
    branches();
    late_write();
    many_results();
    many_streams();
    rtune_close(rt);
    CU(cu.cuMemFree(input));
    CU(cu.cuMemFree(results));
    return 0;
}
