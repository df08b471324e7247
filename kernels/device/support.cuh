// SPDX-License-Identifier: Apache-2.0
/*
 * kernels/device/support.cuh: the tuner's own kernels. They fill inputs, compute references,
 * displace the caches and keep time. They share no code with the reduction templates: a reference
 * evaluates the generator, not the memory, in a plain grid-stride loop over integers.
 *
 * Includes nothing, so that nvcc and NVRTC compile it without an include path. The generator is
 * written in what C and C++ have in common: tuner/data.c includes this text too, and only CUDA sees
 * the kernels.
 *
 * Entry points, all extern "C", each with one struct by value as its only parameter (below):
 *   rtune_support_fill       struct rtune_support_fill_args
 *   rtune_support_reference  struct rtune_support_reference_args
 *   rtune_support_read       struct rtune_support_read_args
 *   rtune_support_spin       struct rtune_support_spin_args
 *   rtune_support_empty      struct rtune_support_empty_args
 * Any one-dimensional grid and block is right for all of them (block: at most 1024).
 *
 * A data set is a function of (dtype, data, seed, i) alone. Elements are integers k, those of floats
 * times a power of two, or one of eight classes c, so that a reference is made of integers and is
 * exact. dtype has the values of enum rtune_dtype, data those of enum rtune_support_data, fold (what
 * a reference makes of the elements) those of enum rtune_support_fold.
 */
#ifndef RTUNE_KERNELS_DEVICE_SUPPORT_CUH
#define RTUNE_KERNELS_DEVICE_SUPPORT_CUH

typedef unsigned int rtune_s_u32;
typedef int rtune_s_i32;
typedef unsigned long long rtune_s_u64;
typedef long long rtune_s_i64;

enum rtune_support_data {
    RTUNE_S_EXACT,       /* odd; integers: of full range; f64: of 32 bits; other floats: -7 ... 7 */
    RTUNE_S_RANDOM,      /* floats: all digits, in [-1, 1) */
    RTUNE_S_PROD_EXACT,  /* classes; floats: +-1, and one 2 or 1/2 per octave of i; integers: odd */
    RTUNE_S_PROD_RANDOM, /* classes; floats: +-1, and 32 of 1.5 or 0.75 per octave */
    RTUNE_S_EXTREME,     /* floats: as RANDOM; integers: the middle of their range */
    RTUNE_S_PAIR_EXACT,  /* floats: -3, -1, 1, 3; integers: as EXACT */
    RTUNE_S_PAIR_RANDOM, /* as RANDOM, but 29 bits of f64: a product is 57 bits long at most */
    RTUNE_S_THIN,        /* floats: -2, -1, 1, 2, and 0 for all but about 2^18 of an octave of i */
    RTUNE_S_ZERO,        /* zeros, of floats of either sign */
    RTUNE_S_HALF,        /* every other one a zero, in no order; else odd */
    RTUNE_S_BITS_AND,    /* all ones; one element per octave has one even bit cleared */
    RTUNE_S_BITS_OR      /* zeros; one element per octave has one even bit set */
};

/* What the eight words of a reference hold. The caller sets them to 0 before, but word 0 of EXTREME
 * and AND to all ones. */
enum rtune_support_fold {
    RTUNE_S_SUM,     /* [0] sum of t >> 26 and [1] of the low 26 bits of terms t: k, */
    RTUNE_S_ASUM,    /* |k|, */
    RTUNE_S_SUMSQ,   /* k * k, */
    RTUNE_S_DOT,     /* k times the second input's k; all of them modulo 2^64 */
    RTUNE_S_CLASS,   /* [c] number of elements of class c */
    RTUNE_S_EXTREMA, /* [0] min and [1] max of k ^ 2^63 */
    RTUNE_S_AND,     /* [0] */
    RTUNE_S_OR,      /* [0] */
    RTUNE_S_XOR,     /* [0] */
    RTUNE_S_COUNT    /* [0] elements that are not zero */
};

/* dtypes, as enum rtune_dtype has them: integers of 8 to 64 bits, the odd ones unsigned, floats. */
#define RTUNE_S_U64 7u
#define RTUNE_S_F16 8u
#define RTUNE_S_BF16 9u
#define RTUNE_S_F32 10u
#define RTUNE_S_F64 11u
/* k of a negative zero. */
#define RTUNE_S_MINUS_0 ((rtune_s_i64)(1ull << 63))

struct rtune_support_fill_args {
    void *out; /* n elements: out[i] becomes element first + i */
    rtune_s_u64 first;
    rtune_s_u64 n;
    rtune_s_u64 seed; /* of the second input: rtune_support_second */
    rtune_s_u32 data;
    rtune_s_u32 dtype;
};

struct rtune_support_reference_args {
    rtune_s_u64 *words; /* 8, see above */
    rtune_s_u64 first;  /* elements first <= i < first + n */
    rtune_s_u64 n;
    rtune_s_u64 seed; /* of the first input */
    rtune_s_u32 data;
    rtune_s_u32 dtype;
    rtune_s_u32 fold;
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

/* Seed of the second input. */
RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_second(rtune_s_u64 seed) {
    return rtune_support_rng(seed, 0x646f74);
}

/* i > 0 */
RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_octave(rtune_s_u64 i) {
#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
    return 63u - (rtune_s_u32)__clzll((rtune_s_i64)i);
#else
    return 63u - (rtune_s_u32)__builtin_clzll(i);
#endif
}

/* Is element i the one of its octave? *octave is that. */
RTUNE_SUPPORT_FN int rtune_support_is_chosen(rtune_s_u64 seed, rtune_s_u64 i, rtune_s_u32 *octave) {
    if (i == 0) return 0;
    *octave = rtune_support_octave(i);
    rtune_s_u64 mask = (1ull << *octave) - 1;
    return (i & mask) == (rtune_support_rng(~seed, *octave) & mask);
}

RTUNE_SUPPORT_FN int rtune_support_is_float(rtune_s_u32 dtype) { return dtype >= RTUNE_S_F16; }

RTUNE_SUPPORT_FN int rtune_support_is_signed(rtune_s_u32 dtype) {
    return dtype > RTUNE_S_U64 || dtype % 2 == 0;
}

/* Bits of an element; significand bits of a float. */
RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_bits(rtune_s_u32 dtype) {
    if (dtype <= RTUNE_S_U64) return 8u << (dtype / 2);
    return dtype == RTUNE_S_F64 ? 64u : dtype == RTUNE_S_F32 ? 32u : 16u;
}

RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_digits(rtune_s_u32 dtype) {
    return dtype == RTUNE_S_F64 ? 53u : dtype == RTUNE_S_F32 ? 24u : dtype == RTUNE_S_F16 ? 11u : 8u;
}

/* The low bits of an integer type, as a number. */
RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_extend(rtune_s_u32 dtype, rtune_s_u64 k) {
    rtune_s_u32 unused = 64 - rtune_support_bits(dtype);
    if (rtune_support_is_signed(dtype)) return (rtune_s_i64)(k << unused) >> unused;
    return (rtune_s_i64)(k << unused >> unused);
}

/* ---- classes --------------------------------------------------------------------------------- */

RTUNE_SUPPORT_FN int rtune_support_has_classes(rtune_s_u32 data) {
    return data == RTUNE_S_PROD_EXACT || data == RTUNE_S_PROD_RANDOM;
}

/* Class of element i. Floats: bit 0 is the sign, the rest the magnitude: 0 for 1; exact: 1 for 2, 2
 * for 1/2; random: 1 for 1.5, 2 for 0.75. */
RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_class(rtune_s_u32 dtype, rtune_s_u32 data,
                                                 rtune_s_u64 seed, rtune_s_u64 i) {
    rtune_s_u64 r = rtune_support_rng(seed, i);
    rtune_s_u32 magnitude = 0, octave = 0;
    if (!rtune_support_is_float(dtype)) return (rtune_s_u32)(r >> 61);
    if (data == RTUNE_S_PROD_EXACT) {
        if (rtune_support_is_chosen(seed, i, &octave)) magnitude = 1 + (octave & 1);
    } else if (i > 0 && (i & (((1ull << rtune_support_octave(i)) - 1) >> 5)) == 0) {
        magnitude = ((r >> 32) & 1023) < 425 ? 1 : 2;
    }
    return magnitude << 1 | (rtune_s_u32)(r >> 63);
}

/* k of a class: halves (exact) or quarters (random) of floats; one of eight odd integers. */
RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_class_k(rtune_s_u32 dtype, rtune_s_u32 data,
                                                   rtune_s_u32 c) {
    if (!rtune_support_is_float(dtype))
        return rtune_support_extend(dtype, rtune_support_rng(0x6f6464ull, c) | 1);
    rtune_s_i64 exact = c >> 1 == 0 ? 2 : c >> 1 == 1 ? 4 : 1;
    rtune_s_i64 random = c >> 1 == 0 ? 4 : c >> 1 == 1 ? 6 : 3;
    rtune_s_i64 k = data == RTUNE_S_PROD_EXACT ? exact : random;
    return c & 1 ? -k : k;
}

/* ---- integers -------------------------------------------------------------------------------- */

RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_small(rtune_s_u64 r) {
    return (rtune_s_i64)(r >> 61) * 2 - 7;
}

/* So few that their sum stays below 2^24 up to i = 2^33. */
RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_thin(rtune_s_u64 r, rtune_s_u64 i) {
    rtune_s_u32 octave = i > 0 ? rtune_support_octave(i) : 0;
    rtune_s_u64 mask = octave > 18 ? (1ull << (octave - 18)) - 1 : 0;
    rtune_s_i64 k = 1 + (rtune_s_i64)(r & 1);
    if ((r >> 8 & mask) != 0) return 0;
    return r >> 63 ? -k : k;
}

RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_float_k(rtune_s_u32 dtype, rtune_s_u32 data,
                                                   rtune_s_u64 r, rtune_s_u64 i) {
    rtune_s_i64 zero = r >> 63 ? RTUNE_S_MINUS_0 : 0;
    switch (data) {
    case RTUNE_S_EXACT:
        return dtype == RTUNE_S_F64 ? (rtune_s_i64)r >> 32 | 1 : rtune_support_small(r);
    case RTUNE_S_PAIR_EXACT:
        return (rtune_s_i64)(r >> 62) * 2 - 3;
    case RTUNE_S_THIN:
        return rtune_support_thin(r, i);
    case RTUNE_S_ZERO:
        return zero;
    case RTUNE_S_HALF:
        return r & 1 ? zero : rtune_support_small(r);
    case RTUNE_S_PAIR_RANDOM:
        if (dtype == RTUNE_S_F64) return (rtune_s_i64)r >> 35;
        break;
    default:
        break;
    }
    return (rtune_s_i64)r >> (64 - rtune_support_digits(dtype));
}

RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_integer_k(rtune_s_u32 dtype, rtune_s_u32 data,
                                                     rtune_s_u64 seed, rtune_s_u64 r,
                                                     rtune_s_u64 i) {
    rtune_s_u32 bits = rtune_support_bits(dtype), octave = 0;
    int is_signed = rtune_support_is_signed(dtype);
    rtune_s_u64 flipped;
    switch (data) {
    case RTUNE_S_EXTREME:
        return is_signed ? (rtune_s_i64)r >> (65 - bits) : (rtune_s_i64)(r >> (66 - bits)) + 1;
    case RTUNE_S_ZERO:
        return 0;
    case RTUNE_S_HALF:
        if (r & 1) return 0;
        break;
    case RTUNE_S_BITS_AND:
    case RTUNE_S_BITS_OR:
        flipped = rtune_support_is_chosen(seed, i, &octave) ? 1ull << octave % (bits / 2) * 2 : 0;
        return rtune_support_extend(dtype, data == RTUNE_S_BITS_AND ? ~flipped : flipped);
    default:
        break;
    }
    return rtune_support_extend(dtype, r >> (64 - bits) | 1);
}

/* k of element i, of data without classes. */
RTUNE_SUPPORT_FN rtune_s_i64 rtune_support_k(rtune_s_u32 dtype, rtune_s_u32 data, rtune_s_u64 seed,
                                             rtune_s_u64 i) {
    rtune_s_u64 r = rtune_support_rng(seed, i);
    return rtune_support_is_float(dtype) ? rtune_support_float_k(dtype, data, r, i)
                                         : rtune_support_integer_k(dtype, data, seed, r, i);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* A float is k * 2^-shift. */
RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_shift(rtune_s_u32 dtype, rtune_s_u32 data) {
    if (!rtune_support_is_float(dtype)) return 0;
    if (data == RTUNE_S_PROD_EXACT) return 1;
    if (data == RTUNE_S_PROD_RANDOM) return 2;
    if (data == RTUNE_S_PAIR_RANDOM && dtype == RTUNE_S_F64) return 28;
    if (data == RTUNE_S_RANDOM || data == RTUNE_S_EXTREME || data == RTUNE_S_PAIR_RANDOM)
        return rtune_support_digits(dtype) - 1;
    return dtype == RTUNE_S_F16 ? 9 : 0; /* sums of many do not overflow a native result */
}

RTUNE_SUPPORT_FN rtune_s_u32 rtune_support_float_bits(float x) {
    union {
        float x;
        rtune_s_u32 bits;
    } u;
    u.x = x;
    return u.bits;
}

RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_double_bits(double x) {
    union {
        double x;
        rtune_s_u64 bits;
    } u;
    u.x = x;
    return u.bits;
}

/* Bits of k * 2^-shift in a float type that holds it as a normal number. */
RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_float(rtune_s_u32 dtype, rtune_s_i64 k,
                                                 rtune_s_u32 shift) {
    if (k == RTUNE_S_MINUS_0) return 1ull << (rtune_support_bits(dtype) - 1);
    if (dtype == RTUNE_S_F64) {
        union {
            rtune_s_u64 bits;
            double x;
        } scale;
        scale.bits = (rtune_s_u64)(1023 - shift) << 52;
        return rtune_support_double_bits((double)k * scale.x);
    }
    union {
        rtune_s_u32 bits;
        float x;
    } scale;
    scale.bits = (127 - shift) << 23;
    rtune_s_u32 bits = rtune_support_float_bits((float)k * scale.x);
    if (dtype == RTUNE_S_F32) return bits;
    if (dtype == RTUNE_S_BF16) return bits >> 16;
    rtune_s_u32 magnitude = bits & 0x7fffffff, sign = bits >> 16 & 0x8000;
    return magnitude == 0 ? sign : sign | ((magnitude >> 13) - ((127 - 15) << 10));
}

/* Bits of element i in the low bytes; integers extended. */
RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_element(rtune_s_u32 dtype, rtune_s_u32 data,
                                                   rtune_s_u64 seed, rtune_s_u64 i) {
    rtune_s_i64 k =
        rtune_support_has_classes(data)
            ? rtune_support_class_k(dtype, data, rtune_support_class(dtype, data, seed, i))
            : rtune_support_k(dtype, data, seed, i);
    if (!rtune_support_is_float(dtype)) return (rtune_s_u64)k;
    return rtune_support_float(dtype, k, rtune_support_shift(dtype, data));
}

/* ---- references ------------------------------------------------------------------------------ */

/* Term of a sum, modulo 2^64; the magnitude of an integer is that of its value. */
RTUNE_SUPPORT_FN rtune_s_u64 rtune_support_term(rtune_s_u32 dtype, rtune_s_u32 fold, rtune_s_i64 k,
                                                rtune_s_i64 k2) {
    rtune_s_u64 x = (rtune_s_u64)k;
    if (fold == RTUNE_S_ASUM) return rtune_support_is_signed(dtype) && k < 0 ? 0 - x : x;
    if (fold == RTUNE_S_SUMSQ) return x * x;
    return fold == RTUNE_S_DOT ? x * (rtune_s_u64)k2 : x;
}

RTUNE_SUPPORT_FN void rtune_support_add_term(rtune_s_u64 word[8], rtune_s_u64 term) {
    word[0] += (rtune_s_u64)((rtune_s_i64)term >> 26);
    word[1] += term & ((1ull << 26) - 1);
}

/* What an element is to a reference. */
struct rtune_support_recipe {
    rtune_s_u32 dtype, data, fold;
};

RTUNE_SUPPORT_FN void rtune_support_start(rtune_s_u64 word[8], rtune_s_u32 fold) {
    for (int j = 0; j < 8; j++)
        word[j] = 0;
    if (fold == RTUNE_S_EXTREMA || fold == RTUNE_S_AND) word[0] = ~0ull;
}

/* Element i of the first input, and i2 of the second one for DOT. */
RTUNE_SUPPORT_FN void rtune_support_count(rtune_s_u64 word[8], struct rtune_support_recipe a,
                                          rtune_s_u64 seed, rtune_s_u64 i, rtune_s_u64 i2) {
    if (a.fold == RTUNE_S_CLASS) {
        rtune_s_u32 c = rtune_support_class(a.dtype, a.data, seed, i);
        for (rtune_s_u32 j = 0; j < 8; j++)
            word[j] += c == j;
        return;
    }
    rtune_s_i64 k = rtune_support_k(a.dtype, a.data, seed, i), k2 = 0;
    rtune_s_u64 key = (rtune_s_u64)k ^ (1ull << 63);
    switch (a.fold) {
    case RTUNE_S_EXTREMA:
        if (key < word[0]) word[0] = key;
        if (key > word[1]) word[1] = key;
        break;
    case RTUNE_S_AND:
        word[0] &= (rtune_s_u64)k;
        break;
    case RTUNE_S_OR:
        word[0] |= (rtune_s_u64)k;
        break;
    case RTUNE_S_XOR:
        word[0] ^= (rtune_s_u64)k;
        break;
    case RTUNE_S_COUNT:
        word[0] += k != 0 && k != RTUNE_S_MINUS_0;
        break;
    default:
        if (a.fold == RTUNE_S_DOT)
            k2 = rtune_support_k(a.dtype, a.data, rtune_support_second(seed), i2);
        rtune_support_add_term(word, rtune_support_term(a.dtype, a.fold, k, k2));
        break;
    }
}

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)

extern "C" __global__ void rtune_support_fill(rtune_support_fill_args a) {
    rtune_s_u32 bits = rtune_support_bits(a.dtype);
    rtune_s_u64 stride = (rtune_s_u64)gridDim.x * blockDim.x;
    for (rtune_s_u64 i = (rtune_s_u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += stride) {
        rtune_s_u64 x = rtune_support_element(a.dtype, a.data, a.seed, a.first + i);
        if (bits == 8)
            ((unsigned char *)a.out)[i] = (unsigned char)x;
        else if (bits == 16)
            ((unsigned short *)a.out)[i] = (unsigned short)x;
        else if (bits == 32)
            ((rtune_s_u32 *)a.out)[i] = (rtune_s_u32)x;
        else
            ((rtune_s_u64 *)a.out)[i] = x;
    }
}

static __device__ void rtune_support_merge(rtune_s_u64 *to, const rtune_s_u64 *from,
                                           rtune_s_u32 fold) {
    switch (fold) {
    case RTUNE_S_EXTREMA:
        atomicMin(&to[0], from[0]);
        atomicMax(&to[1], from[1]);
        return;
    case RTUNE_S_AND:
        atomicAnd(&to[0], from[0]);
        return;
    case RTUNE_S_OR:
        atomicOr(&to[0], from[0]);
        return;
    case RTUNE_S_XOR:
        atomicXor(&to[0], from[0]);
        return;
    default:
        for (int j = 0; j < 8; j++)
            if (from[j] != 0) atomicAdd(&to[j], from[j]);
    }
}

extern "C" __global__ void rtune_support_reference(rtune_support_reference_args a) {
    __shared__ rtune_s_u64 block[8];
    rtune_s_u64 mine[8];
    rtune_support_recipe recipe = {a.dtype, a.data, a.fold};
    rtune_support_start(mine, a.fold);
    if (threadIdx.x == 0) rtune_support_start(block, a.fold);
    __syncthreads();
    rtune_s_u64 stride = (rtune_s_u64)gridDim.x * blockDim.x;
    for (rtune_s_u64 i = (rtune_s_u64)blockIdx.x * blockDim.x + threadIdx.x; i < a.n; i += stride)
        rtune_support_count(mine, recipe, a.seed, a.first + i, a.first + i);
    rtune_support_merge(block, mine, a.fold);
    __syncthreads();
    if (threadIdx.x == 0) rtune_support_merge(a.words, block, a.fold);
}

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
