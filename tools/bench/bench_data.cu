// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_data.cu: input data of the GPU benches, made on the device from the index.
#include "tools/bench/bench_common.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

namespace bench {

__device__ static unsigned long long mix(unsigned long long i) { // splitmix64
    unsigned long long z = i + 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

template <class T> __device__ static T number_as(double x) { return T(x); }
template <> __device__ __half number_as<__half>(double x) { return __double2half(x); }
template <> __device__ __nv_bfloat16 number_as<__nv_bfloat16>(double x) {
    return __double2bfloat16(x);
}

// A whole number that the type holds exactly, of as many bits as it can.
template <class T> __device__ static T whole(unsigned long long z) {
    if constexpr (std::is_integral_v<T>) return T(z);
    if constexpr (std::is_same_v<T, double>) return double((long long)z >> 11);
    if constexpr (std::is_same_v<T, float>) return float((long long)z >> 40);
    constexpr int bits = std::is_same_v<T, __half> ? 12 : 9;
    return number_as<T>(double((long long)z >> (64 - bits)));
}

__device__ static int sparse_value(unsigned long long i) {
    const int k = 63 - __clzll((long long)(i + 1));
    const unsigned long long at = i + 1 - (1ull << k); // within the power of two
    for (int j = 0; j < 4; j++) {
        const unsigned long long z = mix(unsigned(k) * 4 + j);
        if ((z & ((1ull << k) - 1)) == at) return z >> 63 ? 1 : -1;
    }
    return 0;
}

template <class T> __global__ void fill_kernel(T *p, size_t n, data d, size_t salt) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * size_t(blockDim.x)) {
        const unsigned long long z = mix(i + salt);
        double x = 0;
        if (d == data::small) x = int((z >> 8) % 7) - 3;
        if (d == data::sparse) x = sparse_value(i);
        if (d == data::sign) x = z >> 63 ? 1 : -1;
        if (d == data::one) x = 1;
        if (std::is_unsigned_v<T>) x = fabs(x);
        p[i] = d == data::range ? whole<T>(z) : number_as<T>(x);
    }
}

template <class T> static void fill_as(void *p, uint64_t n, data d, uint64_t salt, cudaStream_t s) {
    fill_kernel<<<2112, 512, 0, s>>>(static_cast<T *>(p), n, d, salt);
    CUDA(cudaGetLastError());
}

void fill(const area &to, rtune_dtype dtype, data d, cudaStream_t stream) {
    static void (*const by_dtype[])(void *, uint64_t, data, uint64_t, cudaStream_t) = {
        fill_as<int8_t>,  fill_as<uint8_t>,       fill_as<int16_t>, fill_as<uint16_t>,
        fill_as<int32_t>, fill_as<uint32_t>,      fill_as<int64_t>, fill_as<uint64_t>,
        fill_as<__half>,  fill_as<__nv_bfloat16>, fill_as<float>,   fill_as<double>};
    by_dtype[dtype](to.p, to.n, d, to.salt, stream);
}

data data_for(rtune_op op) {
    switch (op) {
    case RTUNE_MIN:
    case RTUNE_MAX:
    case RTUNE_MINMAX:
    case RTUNE_ARGMIN:
    case RTUNE_ARGMAX:
    case RTUNE_BAND:
    case RTUNE_BOR:
    case RTUNE_BXOR:
        return data::range;
    case RTUNE_PROD:
        return data::sign;
    case RTUNE_ANY: // an answer that is known only at the end
        return data::zero;
    case RTUNE_ALL:
        return data::one;
    default:
        return data::small;
    }
}

} // namespace bench

// ---- for tools/bench/peers.py: as a shared library ---------------------------------------------

extern "C" {
void bench_fill(void *p, int dtype, uint64_t n, uint64_t salt, int op, void *stream) {
    bench::fill({p, n, salt}, rtune_dtype(dtype), bench::data_for(rtune_op(op)),
                cudaStream_t(stream));
}
void bench_empty(void *stream) { bench::launch_empty(cudaStream_t(stream)); }
}
