// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_peer.cu: the peers as records. cuBLAS is opened when it is asked for, so that
// the program starts where there is none; its scalars are in device memory, as ours.
#include "tools/bench/bench_peer.cuh"

#include <cub/version.cuh>
#include <cublas_v2.h>
#include <dlfcn.h>

#include <cstdio>

namespace bench {

// ---- CUB and thrust ---------------------------------------------------------------------------

template <> void cub_call<RTUNE_I8>(const call &c);
template <> void cub_call<RTUNE_I32>(const call &c);
template <> void cub_call<RTUNE_I64>(const call &c);
template <> void cub_call<RTUNE_F16>(const call &c);
template <> void cub_call<RTUNE_BF16>(const call &c);
template <> void cub_call<RTUNE_F32>(const call &c);
template <> void cub_call<RTUNE_F64>(const call &c);
template <> void thrust_call<RTUNE_I32>(const call &c);
template <> void thrust_call<RTUNE_I64>(const call &c);
template <> void thrust_call<RTUNE_F32>(const call &c);
template <> void thrust_call<RTUNE_F64>(const call &c);

using call_fn = void (*)(const call &);

static call_fn cub_of(rtune_dtype dtype) {
    switch (dtype) {
    case RTUNE_I8:
        return cub_call<RTUNE_I8>;
    case RTUNE_I32:
        return cub_call<RTUNE_I32>;
    case RTUNE_I64:
        return cub_call<RTUNE_I64>;
    case RTUNE_F16:
        return cub_call<RTUNE_F16>;
    case RTUNE_BF16:
        return cub_call<RTUNE_BF16>;
    case RTUNE_F32:
        return cub_call<RTUNE_F32>;
    case RTUNE_F64:
        return cub_call<RTUNE_F64>;
    default:
        return nullptr;
    }
}

static call_fn thrust_of(rtune_dtype dtype) {
    switch (dtype) {
    case RTUNE_I32:
        return thrust_call<RTUNE_I32>;
    case RTUNE_I64:
        return thrust_call<RTUNE_I64>;
    case RTUNE_F32:
        return thrust_call<RTUNE_F32>;
    case RTUNE_F64:
        return thrust_call<RTUNE_F64>;
    default:
        return nullptr;
    }
}

// The acc whose result has the type of CUB's: of halves both, of integers the native one.
static bool typed_alike(const kind &what) {
    if (what.op != RTUNE_SUM) return what.acc == RTUNE_WIDE;
    if (what.dtype == RTUNE_F16 || what.dtype == RTUNE_BF16) return true;
    return (what.acc == RTUNE_WIDE) == (what.dtype == RTUNE_F32 || what.dtype == RTUNE_F64);
}

static bool cub_has(const kind &what) {
    const bool op = what.op == RTUNE_SUM || what.op == RTUNE_MIN || what.op == RTUNE_MAX ||
                    what.op == RTUNE_ARGMIN || what.op == RTUNE_ARGMAX;
    return op && what.mode == RTUNE_PLAIN && cub_of(what.dtype) && typed_alike(what);
}

static bool thrust_has(const kind &what) {
    const bool op = what.op == RTUNE_SUM || what.op == RTUNE_MIN || what.op == RTUNE_MAX;
    return op && what.mode == RTUNE_PLAIN && thrust_of(what.dtype) && typed_alike(what);
}

scratch cub_scratch() {
    static const scratch s = [] {
        scratch made = {nullptr, size_t(64) << 20};
        CUDA(cudaMalloc(&made.p, made.bytes));
        return made;
    }();
    return s;
}

int cub_version() { return CUB_VERSION; }

static void cub_run(const call &c) { cub_of(c.what.dtype)(c); }

static void thrust_run(const call &c) { thrust_of(c.what.dtype)(c); }

const peer cub_peer = {"cub", false, cub_has, cub_run};
const peer thrust_peer = {"thrust", true, thrust_has, thrust_run};

// ---- cuBLAS -----------------------------------------------------------------------------------

struct cublas_functions {
    cublasHandle_t handle;
    decltype(&cublasSasum_v2_64) sasum;
    decltype(&cublasDasum_v2_64) dasum;
    decltype(&cublasSdot_v2_64) sdot;
    decltype(&cublasDdot_v2_64) ddot;
    decltype(&cublasSnrm2_v2_64) snrm2;
    decltype(&cublasDnrm2_v2_64) dnrm2;
    decltype(&cublasAsumEx_64) asum_ex;
    decltype(&cublasDotEx_64) dot_ex;
    decltype(&cublasNrm2Ex_64) nrm2_ex;
};
static cublas_functions blas;
static bool half_asum, half_dot, half_nrm2; // are there?

static void check_cublas(cublasStatus_t s, const char *what) {
    if (s != CUBLAS_STATUS_SUCCESS) die("cuBLAS: %s: status %d", what, int(s));
}

template <class F> static bool find(void *library, const char *name, F &f) {
    f = reinterpret_cast<F>(dlsym(library, name));
    if (!f) std::fprintf(stderr, "bench: cuBLAS has no %s\n", name);
    return f != nullptr;
}

static cublasStatus_t cublas_half(const call &c) {
    const auto n = int64_t(c.n);
    const cudaDataType in = CUDA_R_16F, inside = CUDA_R_32F;
    if (c.what.op == RTUNE_ASUM)
        return blas.asum_ex(blas.handle, n, c.in, in, 1, c.out, in, inside);
    if (c.what.op == RTUNE_DOT)
        return blas.dot_ex(blas.handle, n, c.in, in, 1, c.in2, in, 1, c.out, in, inside);
    return blas.nrm2_ex(blas.handle, n, c.in, in, 1, c.out, in, inside);
}

bool cublas_open(cudaStream_t stream) {
    void *lib = nullptr;
    for (const char *name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so"})
        if (!lib) lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!lib) {
        std::fprintf(stderr, "bench: no cuBLAS: %s\n", dlerror());
        return false;
    }
    decltype(&cublasCreate_v2) create;
    decltype(&cublasSetStream_v2) set_stream;
    decltype(&cublasSetPointerMode_v2) set_mode;
    if (!find(lib, "cublasCreate_v2", create) || !find(lib, "cublasSetStream_v2", set_stream) ||
        !find(lib, "cublasSetPointerMode_v2", set_mode) ||
        !find(lib, "cublasSasum_v2_64", blas.sasum) ||
        !find(lib, "cublasDasum_v2_64", blas.dasum) || !find(lib, "cublasSdot_v2_64", blas.sdot) ||
        !find(lib, "cublasDdot_v2_64", blas.ddot) || !find(lib, "cublasSnrm2_v2_64", blas.snrm2) ||
        !find(lib, "cublasDnrm2_v2_64", blas.dnrm2) ||
        !find(lib, "cublasAsumEx_64", blas.asum_ex) || !find(lib, "cublasDotEx_64", blas.dot_ex) ||
        !find(lib, "cublasNrm2Ex_64", blas.nrm2_ex))
        return false;
    check_cublas(create(&blas.handle), "cublasCreate");
    check_cublas(set_stream(blas.handle, stream), "cublasSetStream");
    check_cublas(set_mode(blas.handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
    void *few;
    CUDA(cudaMalloc(&few, 256));
    call c = {{RTUNE_ASUM, RTUNE_F16, RTUNE_NATIVE, RTUNE_PLAIN}, 8, few, few, few, stream};
    const auto works = [&c](rtune_op op) {
        c.what.op = op;
        return cublas_half(c) == CUBLAS_STATUS_SUCCESS;
    };
    half_asum = works(RTUNE_ASUM), half_dot = works(RTUNE_DOT), half_nrm2 = works(RTUNE_SUMSQ);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(few));
    return true;
}

// sumsq stands for the norm, of which bench_peers asks the library for the root.
static bool cublas_has(const kind &what) {
    if (!blas.handle || what.mode != RTUNE_PLAIN) return false;
    const bool wide = what.acc == RTUNE_WIDE;
    if (what.op != RTUNE_ASUM && what.op != RTUNE_DOT && what.op != RTUNE_SUMSQ) return false;
    if (what.dtype != RTUNE_F16)
        return wide && (what.dtype == RTUNE_F32 || what.dtype == RTUNE_F64);
    const bool there = what.op == RTUNE_ASUM  ? half_asum
                       : what.op == RTUNE_DOT ? half_dot
                                              : half_nrm2;
    return !wide && there;
}

template <class T, class Asum, class Dot, class Nrm2>
static cublasStatus_t cublas_typed(const call &c, Asum asum, Dot dot, Nrm2 nrm2) {
    const T *x = static_cast<const T *>(c.in), *y = static_cast<const T *>(c.in2);
    T *out = static_cast<T *>(c.out);
    const auto n = int64_t(c.n);
    if (c.what.op == RTUNE_ASUM) return asum(blas.handle, n, x, 1, out);
    if (c.what.op == RTUNE_DOT) return dot(blas.handle, n, x, 1, y, 1, out);
    return nrm2(blas.handle, n, x, 1, out);
}

static void cublas_run(const call &c) {
    cublasStatus_t s;
    if (c.what.dtype == RTUNE_F16)
        s = cublas_half(c);
    else if (c.what.dtype == RTUNE_F32)
        s = cublas_typed<float>(c, blas.sasum, blas.sdot, blas.snrm2);
    else
        s = cublas_typed<double>(c, blas.dasum, blas.ddot, blas.dnrm2);
    check_cublas(s, name_of(c.what).c_str());
}

const peer cublas_peer = {"cublas", false, cublas_has, cublas_run};

} // namespace bench
