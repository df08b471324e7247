// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_peer_typed.cu: the calls of CUB and thrust for one dtype: BENCH_DTYPE
// (RTUNE_F32) of the type BENCH_TYPE (float). The build compiles this file once for each.
#include "tools/bench/bench_peer.cuh"

#include <cub/cub.cuh>
#include <cuda/std/functional>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/reduce.h>

#include <type_traits>

namespace bench {

using element = BENCH_TYPE;
constexpr bool half = sizeof(element) == 2; // f16 and bf16

static cudaError_t cub_enqueue(const call &c, void *temp, size_t &bytes) {
    const element *in = static_cast<const element *>(c.in);
    element *out = static_cast<element *>(c.out);
    const auto n = int64_t(c.n);
    long long *index = static_cast<long long *>(c.out) + 1;
    if (c.what.op == RTUNE_MIN) return cub::DeviceReduce::Min(temp, bytes, in, out, n, c.stream);
    if (c.what.op == RTUNE_MAX) return cub::DeviceReduce::Max(temp, bytes, in, out, n, c.stream);
    if (c.what.op == RTUNE_ARGMIN)
        return cub::DeviceReduce::ArgMin(temp, bytes, in, out, index, n, c.stream);
    if (c.what.op == RTUNE_ARGMAX)
        return cub::DeviceReduce::ArgMax(temp, bytes, in, out, index, n, c.stream);
    if constexpr (half)
        if (c.what.acc == RTUNE_WIDE)
            return cub::DeviceReduce::Reduce(temp, bytes, in, static_cast<float *>(c.out), n,
                                             cuda::std::plus<float>(), 0.0f, c.stream);
    return cub::DeviceReduce::Sum(temp, bytes, in, out, n, c.stream);
}

template <> void cub_call<BENCH_DTYPE>(const call &c) {
    const scratch s = cub_scratch();
    size_t bytes = s.bytes;
    CUDA(cub_enqueue(c, s.p, bytes));
}

template <> void thrust_call<BENCH_DTYPE>(const call &c) {
    if constexpr (half || sizeof(element) == 1) {
        die("thrust: not measured for this dtype");
    } else {
        const element *in = static_cast<const element *>(c.in), *end = in + c.n;
        const auto policy = thrust::cuda::par.on(c.stream);
        element result = element(0);
        if (c.what.op == RTUNE_SUM)
            result = thrust::reduce(policy, in, end, element(0));
        else if (c.what.op == RTUNE_MIN)
            result = thrust::reduce(policy, in, end, cuda::std::numeric_limits<element>::max(),
                                    cuda::minimum<element>());
        else
            result = thrust::reduce(policy, in, end, cuda::std::numeric_limits<element>::lowest(),
                                    cuda::maximum<element>());
        *static_cast<element *>(c.out) = result;
    }
}

} // namespace bench
