// SPDX-License-Identifier: Apache-2.0
/*
 * kernels/device/support.cuh: the tuner's own kernels. They fill inputs, compute references,
 * displace the caches and keep time. They share no code with the reduction templates: a reference
 * evaluates the generator, not the memory, in a plain grid-stride loop over integers.
 *
 * Includes nothing, so that nvcc and NVRTC compile it without an include path. The generator also
 * compiles as C++ on the host, where the kernels are left out; tuner/data.c has the same functions
 * in C.
 *
 * Entry points, all extern "C", each with one struct by value as its only parameter (below):
 *   rtune_support_fill_{f32,f64,i32,i64}       struct rtune_support_fill_args
 *   rtune_support_reference_{f32,f64,i32,i64}  struct rtune_support_reference_args
 *   rtune_support_read                         struct rtune_support_read_args
 *   rtune_support_spin                         struct rtune_support_spin_args
 *   rtune_support_empty                        struct rtune_support_empty_args
 * Any one-dimensional grid and block is right for all of them (block: at most 1024).
 *
 * A data set is a function of (data, dtype, seed, i) alone. Sums and extremes are integers k times
 * a power of two, products are one of eight classes c, so that a reference is made of integers and
 * is exact. By the value of data:
 *
 * - 0, sum, exact: k; floats: small, odd, zero mean. Words: [0] sum of k >> 26, [1] of the low
 * bits.
 * - 1, sum, random: k * 2^-23 (f32) or k * 2^-52 (f64), in [-1, 1). Words as for 0.
 * - 2, product, exact: class c; floats: +-1, and one 2 or 1/2 per octave of i; integers: odd.
 * Words: [c] number of elements of class c.
 * - 3, product, random: class c; floats: +-1, and 32 of 1.5 or 0.75 per octave. Words as for 2.
 * - 4, extreme: as 1; integers: half of their range. Words: [0] min and [1] max of k ^ 2^63.
 *
 * The caller sets the words to 0 before (extreme: [0] to all ones).
 */
#ifndef RTUNE_KERNELS_DEVICE_SUPPORT_CUH
#define RTUNE_KERNELS_DEVICE_SUPPORT_CUH

typedef unsigned int rtune_s_u32;
typedef int rtune_s_i32;
typedef unsigned long long rtune_s_u64;
typedef long long rtune_s_i64;

struct rtune_support_fill_args {
    void *out; /* n elements: out[i] becomes element first + i */
    rtune_s_u64 first;
    rtune_s_u64 n;
    rtune_s_u64 seed;
    rtune_s_u32 data; /* data set, as above */
    rtune_s_u32 reserved;
};

struct rtune_support_reference_args {
    rtune_s_u64 *words; /* 8, see above */
    rtune_s_u64 first;  /* elements first <= i < first + n */
    rtune_s_u64 n;
    rtune_s_u64 seed;
    rtune_s_u32 data;
    rtune_s_u32 reserved;
};

/* Reads bytes (a multiple of 16) at in (aligned to 16); writes the sink only for one value in 2^32.
 */
struct rtune_support_read_args {
    const void *in;
    rtune_s_u64 bytes;
    rtune_s_u32 *sink;
};

/* Every thread runs a dependent chain of turns multiply-adds: time follows the SM clock alone. */
struct rtune_support_spin_args {
    rtune_s_u64 turns;
    rtune_s_u32 *sink;
};

/* As large as the parameter of a reduction; never read. */
struct rtune_support_empty_args {
    rtune_s_u64 words[7];
};

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define RTUNE_SUPPORT_FN static __device__ __forceinline__
#else
#define RTUNE_SUPPORT_FN static inline
#endif

/* base/rng.h: rtune_rng_at. */
RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_rng(rtune_s_u64 seed, rtune_s_u64 i) {
    rtune_s_u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

RTUNE_SUPPORT_FN int rtune_support_log2(rtune_s_u64 i) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    return 63 - __clzll((rtune_s_i64)i);
#else
    return 63 - __builtin_clzll(i);
#endif
}

/* Class of element i of a product of floats: bit 0 is the sign, the rest the magnitude: 0 for 1;
 * exact: 1 for 2, 2 for 1/2; random: 1 for 1.5, 2 for 0.75. */
RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_class(rtune_s_u32 data, rtune_s_u64 seed,
                                                 rtune_s_u64 i) {
    rtune_s_u64 r = rtune_support_rng(seed, i);
    rtune_s_u32 sign = (rtune_s_u32)(r >> 63), magnitude = 0;
    if (i > 0) {
        int octave = rtune_support_log2(i);
        rtune_s_u64 mask = (1ull << octave) - 1;
        if (data == 2) {
            rtune_s_u64 place = rtune_support_rng(~seed, (rtune_s_u64)octave) & mask;
            if ((i & mask) == place) magnitude = 1 + (octave & 1);
        } else if ((i & (mask >> 5)) == 0) {
            magnitude = ((r >> 32) & 1023) < 425 ? 1 : 2;
        }
    }
    return magnitude << 1 | sign;
}

/* The dtypes: k or class of an element, and the element itself. */
struct rtune_support_f32 {
    typedef float type;
    RTUNE_SUPPORT_FN rtune_s_i64 k(rtune_s_u32 data, rtune_s_u64 seed, rtune_s_u64 i) {
        rtune_s_u64 r = rtune_support_rng(seed, i);
        return data == 0 ? (rtune_s_i64)(r >> 61) * 2 - 7
                         : (rtune_s_i64)((rtune_s_i32)(r >> 32) >> 8);
    }
    RTUNE_SUPPORT_FN rtune_s_u32 c(rtune_s_u32 data, rtune_s_u64 seed, rtune_s_u64 i) {
        return rtune_support_class(data, seed, i);
    }
    RTUNE_SUPPORT_FN float from_k(rtune_s_u32 data, rtune_s_i64 k) {
        return data == 0 ? (float)k : (float)k * 0x1p-23f;
    }
    RTUNE_SUPPORT_FN float from_c(rtune_s_u32 data, rtune_s_u32 c) {
        float up = data == 2 ? 2.0f : 1.5f, down = data == 2 ? 0.5f : 0.75f;
        float x = c >> 1 == 0 ? 1.0f : c >> 1 == 1 ? up : down;
        return c & 1 ? -x : x;
    }
};

struct rtune_support_f64 {
    typedef double type;
    RTUNE_SUPPORT_FN rtune_s_i64 k(rtune_s_u32 data, rtune_s_u64 seed, rtune_s_u64 i) {
        rtune_s_u64 r = rtune_support_rng(seed, i);
        return data == 0 ? (rtune_s_i64)((rtune_s_i32)(r >> 32) | 1) : (rtune_s_i64)r >> 11;
    }
    RTUNE_SUPPORT_FN rtune_s_u32 c(rtune_s_u32 data, rtune_s_u64 seed, rtune_s_u64 i) {
        return rtune_support_class(data, seed, i);
    }
    RTUNE_SUPPORT_FN double from_k(rtune_s_u32 data, rtune_s_i64 k) {
        return data == 0 ? (double)k : (double)k * 0x1p-52;
    }
    RTUNE_SUPPORT_FN double from_c(rtune_s_u32 data, rtune_s_u32 c) {
        return (double)rtune_support_f32::from_c(data, c);
    }
};

RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_odd(rtune_s_u32 c) {
    return rtune_support_rng(0x6f6464ull, c) | 1; /* eight odd numbers */
}

struct rtune_support_i64 {
    typedef rtune_s_i64 type;
    RTUNE_SUPPORT_FN rtune_s_i64 k(rtune_s_u32 data, rtune_s_u64 seed, rtune_s_u64 i) {
        rtune_s_i64 r = (rtune_s_i64)rtune_support_rng(seed, i);
        return data == 4 ? r >> 1 : r | 1;
    }
    RTUNE_SUPPORT_FN rtune_s_u32 c(rtune_s_u32, rtune_s_u64 seed, rtune_s_u64 i) {
        return (rtune_s_u32)(rtune_support_rng(seed, i) >> 61);
    }
    RTUNE_SUPPORT_FN rtune_s_i64 from_k(rtune_s_u32, rtune_s_i64 k) { return k; }
    RTUNE_SUPPORT_FN rtune_s_i64 from_c(rtune_s_u32, rtune_s_u32 c) {
        return (rtune_s_i64)rtune_support_odd(c);
    }
};

struct rtune_support_i32 {
    typedef rtune_s_i32 type;
    RTUNE_SUPPORT_FN rtune_s_i64 k(rtune_s_u32 data, rtune_s_u64 seed, rtune_s_u64 i) {
        rtune_s_i32 r = (rtune_s_i32)(rtune_support_rng(seed, i) >> 32);
        return data == 4 ? r >> 1 : r | 1;
    }
    RTUNE_SUPPORT_FN rtune_s_u32 c(rtune_s_u32, rtune_s_u64 seed, rtune_s_u64 i) {
        return (rtune_s_u32)(rtune_support_rng(seed, i) >> 61);
    }
    RTUNE_SUPPORT_FN rtune_s_i32 from_k(rtune_s_u32, rtune_s_i64 k) { return (rtune_s_i32)k; }
    RTUNE_SUPPORT_FN rtune_s_i32 from_c(rtune_s_u32, rtune_s_u32 c) {
        return (rtune_s_i32)(rtune_s_u32)rtune_support_odd(c);
    }
};

template <class D>
RTUNE_SUPPORT_FN typename D::type rtune_support_value(rtune_s_u32 data, rtune_s_u64 seed,
                                                      rtune_s_u64 i) {
    if (data == 2 || data == 3) return D::from_c(data, D::c(data, seed, i));
    return D::from_k(data, D::k(data, seed, i));
}

/* What one thread knows of a reference: eight words, as above. */
struct rtune_support_words {
    rtune_s_u64 word[8];
};

template <class D>
RTUNE_SUPPORT_FN void rtune_support_count(rtune_support_words *w, rtune_s_u32 data,
                                          rtune_s_u64 seed, rtune_s_u64 i) {
    if (data == 2 || data == 3) {
        rtune_s_u32 c = D::c(data, seed, i);
        for (rtune_s_u32 j = 0; j < 8; j++)
            w->word[j] += c == j;
        return;
    }
    rtune_s_i64 k = D::k(data, seed, i);
    if (data == 4) {
        rtune_s_u64 key = (rtune_s_u64)k ^ (1ull << 63);
        if (key < w->word[0]) w->word[0] = key;
        if (key > w->word[1]) w->word[1] = key;
    } else {
        w->word[0] += (rtune_s_u64)(k >> 26);
        w->word[1] += (rtune_s_u64)k & ((1ull << 26) - 1);
    }
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

template <class D> static __device__ void rtune_support_fill(const rtune_support_fill_args &a) {
    typename D::type *out = (typename D::type *)a.out;
    rtune_s_u64 stride = (rtune_s_u64)gridDim.x * blockDim.x;
    for (rtune_s_u64 i = (rtune_s_u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += stride)
        out[i] = rtune_support_value<D>(a.data, a.seed, a.first + i);
}

static __device__ void rtune_support_merge(rtune_s_u64 *to, const rtune_s_u64 *from,
                                           rtune_s_u32 data) {
    if (data == 4) {
        atomicMin(&to[0], from[0]);
        atomicMax(&to[1], from[1]);
        return;
    }
    for (int j = 0; j < 8; j++)
        if (from[j] != 0) atomicAdd(&to[j], from[j]);
}

template <class D>
static __device__ void rtune_support_reference(const rtune_support_reference_args &a) {
    __shared__ rtune_s_u64 block[8];
    rtune_support_words mine = {{a.data == 4 ? ~0ull : 0ull, 0, 0, 0, 0, 0, 0, 0}};
    if (threadIdx.x == 0)
        for (int j = 0; j < 8; j++)
            block[j] = mine.word[j];
    __syncthreads();
    rtune_s_u64 stride = (rtune_s_u64)gridDim.x * blockDim.x;
    for (rtune_s_u64 i = (rtune_s_u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += stride)
        rtune_support_count<D>(&mine, a.data, a.seed, a.first + i);
    rtune_support_merge(block, mine.word, a.data);
    __syncthreads();
    if (threadIdx.x == 0) rtune_support_merge(a.words, block, a.data);
}

#define RTUNE_SUPPORT_DTYPE(name)                                                                  \
    extern "C" __global__ void rtune_support_fill_##name(rtune_support_fill_args a) {              \
        rtune_support_fill<rtune_support_##name>(a);                                               \
    }                                                                                              \
    extern "C" __global__ void rtune_support_reference_##name(rtune_support_reference_args a) {    \
        rtune_support_reference<rtune_support_##name>(a);                                          \
    }
RTUNE_SUPPORT_DTYPE(f32)
RTUNE_SUPPORT_DTYPE(f64)
RTUNE_SUPPORT_DTYPE(i32)
RTUNE_SUPPORT_DTYPE(i64)
#undef RTUNE_SUPPORT_DTYPE

extern "C" __global__ void rtune_support_read(rtune_support_read_args a) {
    const uint4 *in = (const uint4 *)a.in;
    rtune_s_u64 count = a.bytes / 16, stride = (rtune_s_u64)gridDim.x * blockDim.x;
    rtune_s_u64 i = (rtune_s_u64)blockIdx.x * blockDim.x + threadIdx.x;
    rtune_s_u32 mix = 0;
    for (; i + 3 * stride < count; i += 4 * stride) {
        uint4 v0 = in[i], v1 = in[i + stride], v2 = in[i + 2 * stride], v3 = in[i + 3 * stride];
        mix ^= v0.x ^ v0.y ^ v0.z ^ v0.w ^ v1.x ^ v1.y ^ v1.z ^ v1.w;
        mix ^= v2.x ^ v2.y ^ v2.z ^ v2.w ^ v3.x ^ v3.y ^ v3.z ^ v3.w;
    }
    for (; i < count; i += stride) {
        uint4 v = in[i];
        mix ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (mix == 0x5eed5eedu) *a.sink = mix;
}

extern "C" __global__ void rtune_support_spin(rtune_support_spin_args a) {
    rtune_s_u32 x = threadIdx.x;
    for (rtune_s_u64 t = 0; t < a.turns; t++)
        x = x * 1664525u + 1013904223u;
    if (x == 0x5eed5eedu) *a.sink = x;
}

extern "C" __global__ void rtune_support_empty(rtune_support_empty_args) {}

#endif
#endif
