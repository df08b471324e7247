/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/gpu/gpu_streams.c: librtune on streams and in graphs, through the public interface: two
 * streams at once, 10,000 streams used once each, first call in a capture (CASES C07), two branches
 * of one captured graph, replay beside direct calls on the capture stream, late writes and a busy
 * legacy stream (C09), 512 results and one copy (B11).
 */
#include "rtune/rtune.h"

#include "base/clock.h"
#include "tests/gpu/gpu.h"

enum { N = 1 << 18 };

static struct gpu_cuda cu;
static rtune *rt;
static CUdeviceptr input, results; /* N ints; room for 16384 results */

static void reduce(uint64_t n, uint64_t slot, CUstream stream, struct rtune_launch *launch) {
    struct rtune_error err;
    const struct rtune_problem p = RTUNE_PROBLEM(RTUNE_SUM, RTUNE_I32, n);
    struct rtune_args a = RTUNE_ARGS(gpu_ptr(input), gpu_ptr(results + 8 * slot));
    a.launch = launch;
    OK(rtune_reduce(rt, &p, &a, stream, &err), &err);
}

static void expect(uint64_t first, uint64_t count, int64_t want, const char *what) {
    static int64_t host[16384];
    CU(cu.cuMemcpyDtoH(host, results + 8 * first, 8 * count));
    for (uint64_t i = 0; i < count; i++)
        CHECK(host[i] == want, "%s: result %llu is %lld, not %lld", what, (unsigned long long)i,
              (long long)host[i], (long long)want);
    printf("%s: %llu results right\n", what, (unsigned long long)count);
    fflush(stdout);
}

static void two_streams(void) {
    CUstream s[2];
    for (int i = 0; i < 2; i++)
        CU(cu.cuStreamCreate(&s[i], CU_STREAM_NON_BLOCKING));
    for (uint64_t r = 0; r < 8192; r++)
        reduce(N, r, s[r % 2], NULL);
    for (int i = 0; i < 2; i++)
        CU(cu.cuStreamSynchronize(s[i]));
    expect(0, 8192, N, "two streams at once");
    for (int i = 0; i < 2; i++)
        CU(cu.cuStreamDestroy(s[i]));
}

static void many_streams(void) {
    for (uint64_t r = 0; r < 10000; r++) {
        CUstream s;
        CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
        reduce(N, r, s, NULL);
        CU(cu.cuStreamDestroy(s)); /* returns at once; the work goes on */
    }
    CU(cu.cuCtxSynchronize());
    expect(0, 10000, N, "10000 streams used once");
}

/* The very first call for a problem, inside a capture in global mode; then 100 replays with changed
 * input and no growth of memory. */
static void first_call_in_capture(void) {
    CUstream s;
    CUgraph graph;
    CUgraphExec exec;
    struct rtune_launch launch;
    size_t before, after, total;
    CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CU(cu.cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    reduce(12345, 0, s, &launch);
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
    CU(cu.cuMemsetD32(input, 1, N));
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
    reduce(N, 0, a, NULL); /* prepared */
    CU(cu.cuStreamSynchronize(a));
    CU(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cu.cuEventRecord(fork, a));
    CU(cu.cuStreamWaitEvent(b, fork, 0));
    for (uint64_t r = 0; r < 16; r++)
        reduce(N, r, r % 2 ? b : a, NULL);
    reduce(N, 16, replay, NULL); /* a stream that does not capture, meanwhile */
    CU(cu.cuEventRecord(join, b));
    CU(cu.cuStreamWaitEvent(a, join, 0));
    CU(cu.cuStreamEndCapture(a, &graph));
    CU(cu.cuGraphInstantiate(&exec, graph, 0));
    for (uint64_t r = 0; r < 400; r++) {
        CU(cu.cuGraphLaunch(exec, replay));
        for (uint64_t k = 0; k < 20; k++)
            reduce(N, 16 + 20 * r + k, a, NULL);
    }
    CU(cu.cuStreamSynchronize(replay));
    CU(cu.cuStreamSynchronize(a));
    expect(0, 16, N, "two branches of a graph");
    expect(16, 8000, N, "direct calls on the capture stream beside replays");
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
    reduce(N, 0, s, NULL); /* prepared */
    CU(cu.cuCtxSynchronize());
    CU(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, NULL, long_params, NULL));
    CU(cu.cuEventRecord(legacy_done, NULL));
    CU(cu.cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, s, short_params, NULL));
    CU(cu.cuMemsetD32Async(input, 3, N, s));
    const uint64_t start = rtune_clock_ns();
    reduce(N, 0, s, NULL);
    const double call_ms = (double)(rtune_clock_ns() - start) / 1e6;
    CU(cu.cuMemcpyDtoHAsync(&got, results, 8, s));
    CU(cu.cuStreamSynchronize(s));
    CHECK(cu.cuEventQuery(legacy_done) == CUDA_ERROR_NOT_READY,
          "the call waited for the legacy stream");
    CHECK(got == 3 * (int64_t)N, "the late write was not seen: %lld", (long long)got);
    CHECK(call_ms < 5, "the call took %.1f ms", call_ms);
    printf("late write seen, legacy stream not waited for, call %.3f ms\n", call_ms);
    CU(cu.cuCtxSynchronize());
    CU(cu.cuMemsetD32(input, 1, N));
    CU(cu.cuEventDestroy(legacy_done));
    CU(cu.cuStreamDestroy(s));
}

static void many_results(void) {
    static int64_t host[512];
    CUstream s;
    CU(cu.cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    for (uint64_t r = 0; r < 512; r++)
        reduce(N, r, s, NULL);
    CU(cu.cuMemcpyDtoHAsync(host, results, sizeof host, s));
    CU(cu.cuStreamSynchronize(s));
    for (int r = 0; r < 512; r++)
        CHECK(host[r] == N, "result %d: %lld", r, (long long)host[r]);
    printf("512 reductions, one copy: right\n");
    CU(cu.cuStreamDestroy(s));
}

int main(void) {
    struct rtune_error err;
    gpu_open(&cu);
    CU(cu.cuMemAlloc(&input, (size_t)N * 4));
    CU(cu.cuMemAlloc(&results, 16384 * 8));
    CU(cu.cuMemsetD32(input, 1, N));
    CU(cu.cuCtxSynchronize());
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
