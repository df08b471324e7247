/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rtune.h: the whole public interface of librtune, the tuned parallel reduction library.
 *
 * This header is the authority on what the library does. It is plain C11 and compiles as C++17.
 *
 * Ownership: inputs are borrowed for the duration of the call. What an _open or _create function
 * returns is released with the matching _close or _destroy function, all of which accept NULL.
 * A const char * result lives as long as the handle it came from, or for ever if it came from none.
 *
 * Errors: every function that can fail returns an enum rtune_status and takes, last, a caller-owned
 * struct rtune_error (may be NULL) that says why and where. Outputs are written only on success.
 * The library keeps no last error, prints nothing and has no global mutable state.
 *
 * Threads: an rtune handle may be shared by any number of threads for rtune_lookup, rtune_explain,
 * rtune_prepare, rtune_reduce, rtune_plan_create and rtune_reload. rtune_close needs exclusive use.
 * An rtune_plan is used by one thread at a time; different plans are independent.
 *
 * Sizes: rtune_problem, rtune_launch, rtune_options and rtune_args begin with struct_size, which
 * the caller sets, best by their _INIT macros. A later version adds fields at their ends, where 0
 * means what was before. It takes every size from that of 0.1.0 up to its own, reads what is
 * missing as 0, and fills a record as far as the caller's reaches; other sizes are INVALID, but a
 * record may be larger than the library's.
 *
 * CUDA: nothing is initialised when the library is loaded; the driver is first touched by
 * rtune_open. Streams are passed as void * (a CUstream or cudaStream_t; NULL is the legacy default
 * stream).
 */
#ifndef RTUNE_RTUNE_H
#define RTUNE_RTUNE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rtune/version.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RTUNE_API __attribute__((visibility("default")))
#define RTUNE_NODISCARD __attribute__((warn_unused_result))
#else
#define RTUNE_API
#define RTUNE_NODISCARD
#endif

/* ---- status ---------------------------------------------------------------------------------- */

/* X(name, value, text). The values are pinned; new ones go to the end of their decade. */
#define RTUNE_STATUS_TABLE(X)                                                                      \
    X(OK, 0, "success")                                                                            \
    X(INVALID, 10, "invalid argument")                                                             \
    X(UNSUPPORTED, 11, "unsupported problem")                                                      \
    X(EMPTY, 12, "empty input has no value for this op")                                           \
    X(SYNTAX, 20, "malformed text")                                                                \
    X(RANGE, 21, "value out of range")                                                             \
    X(NOT_FOUND, 30, "not found")                                                                  \
    X(IO, 31, "input or output error")                                                             \
    X(LOCKED, 32, "store is locked")                                                               \
    X(STORE_DAMAGED, 33, "store is damaged")                                                       \
    X(STORE_FOREIGN, 34, "file is not a store of this program")                                    \
    X(STORE_NEWER, 35, "store has a newer format")                                                 \
    X(STORE_UNTRUSTED, 36, "store is not trusted")                                                 \
    X(NO_DEVICE, 40, "no such device")                                                             \
    X(WRONG_CONTEXT, 41, "stream belongs to another context")                                      \
    X(NO_WORKSPACE, 42, "no workspace is free")                                                    \
    X(DEVICE, 43, "device error")                                                                  \
    X(COMPILE, 44, "kernel does not compile")                                                      \
    X(TIMEOUT, 50, "time limit reached")                                                           \
    X(INTERRUPTED, 51, "interrupted")                                                              \
    X(INCORRECT, 60, "wrong result")                                                               \
    X(NO_MEMORY, 90, "out of memory")                                                              \
    X(INTERNAL, 91, "internal error")

enum rtune_status {
#define X(name, value, text) RTUNE_##name = value,
    RTUNE_STATUS_TABLE(X)
#undef X
};

/* Why a call failed. file, line and column name a place in the user's input (a profile, a search
 * space), not in this library; file is empty and the numbers are 0 where there is no such place. */
struct rtune_error {
    enum rtune_status status;
    int line;
    int column;
    char file[256];
    char message[512];
};

/* Name ("RANGE") and text ("value out of range") of a status; never NULL. */
RTUNE_API const char *rtune_status_name(enum rtune_status status);
RTUNE_API const char *rtune_status_text(enum rtune_status status);

/* Version of the library in use: RTUNE_VERSION_NUMBER and RTUNE_VERSION_STRING as it was built. */
RTUNE_API int rtune_version_number(void);
RTUNE_API const char *rtune_version_string(void);

/* ---- problem: what is reduced ---------------------------------------------------------------- */

/* Result of each op, and of n = 0; acc, mode and NaN rule are below.
 *   SUM, PROD           by acc                                                   0, 1
 *   SUMSQ, ASUM, DOT    by acc; SUMSQ (of squares) and ASUM (of magnitudes) of
 *                       integers are unsigned when wide; DOT has two inputs      0
 *   MIN, MAX            the input type                                           EMPTY
 *   MINMAX              two of the input type, the minimum first                 EMPTY
 *   ARGMIN, ARGMAX      16 bytes: the value at 0, zeros behind it, its index as
 *                       int64 at 8; the lowest index of equals, -0 = +0          EMPTY
 *   ANY, ALL            int32, 0 or 1; NaN is not zero, -0 is                    0, 1
 *   COUNT_NONZERO       uint64, by the same rule                                 0
 *   BAND, BOR, BXOR     the input type, of integers alone                        all ones, 0, 0 */
enum rtune_op {
    RTUNE_SUM,
    RTUNE_SUMSQ,
    RTUNE_ASUM,
    RTUNE_DOT,
    RTUNE_PROD,
    RTUNE_MIN,
    RTUNE_MAX,
    RTUNE_MINMAX,
    RTUNE_ARGMIN,
    RTUNE_ARGMAX,
    RTUNE_ANY,
    RTUNE_ALL,
    RTUNE_COUNT_NONZERO,
    RTUNE_BAND,
    RTUNE_BOR,
    RTUNE_BXOR,
    RTUNE_OP_COUNT
};

enum rtune_dtype {
    RTUNE_I8,
    RTUNE_U8,
    RTUNE_I16,
    RTUNE_U16,
    RTUNE_I32,
    RTUNE_U32,
    RTUNE_I64,
    RTUNE_U64,
    RTUNE_F16,
    RTUNE_BF16,
    RTUNE_F32,
    RTUNE_F64,
    RTUNE_DTYPE_COUNT
};

/* Type of a sum or product. WIDE: 64-bit integers (of the input's signedness), f32 for f16, bf16
 * and f32, f64 for f64. NATIVE: the input type; integers wrap modulo 2^bits, floats are summed as
 * in WIDE and rounded at the end. */
enum rtune_acc { RTUNE_WIDE, RTUNE_NATIVE, RTUNE_ACC_COUNT };

/* How SUM, SUMSQ, ASUM and DOT of floats are formed; for all else it is PLAIN.
 * PLAIN: the same bits in every run with one config, n and base address modulo 128, unless the
 *   problem carries ALLOW_NONDETERMINISTIC.
 * KAHAN: compensated, as if summed in twice the precision; wide.
 * REPRODUCIBLE: the same bits for every config, grid, base address and device; wide.
 * FIXED: of integers, see struct rtune_fixed; the same bits as well.
 * docs/ACCURACY.md has their bounds, docs/REPRODUCIBLE.md the bits. */
enum rtune_mode { RTUNE_PLAIN, RTUNE_KAHAN, RTUNE_REPRODUCIBLE, RTUNE_FIXED, RTUNE_MODE_COUNT };

/* NaN in min and max, minmax and arg ops. PROPAGATE: IEEE 754-2019 minimum/maximum; the first NaN
 * wins an arg op. IGNORE: minimumNumber/maximumNumber; all NaN gives NaN, with index 0. In both,
 * -0 < +0, but for arg ops. A NaN result is the canonical quiet NaN. */
enum rtune_nan { RTUNE_NAN_PROPAGATE, RTUNE_NAN_IGNORE, RTUNE_NAN_COUNT };

/* State of the input when the reduction starts. COLD: not cached, the cache holds clean data.
 * DIRTY: the cache holds another kernel's writes. WARM: the input itself, as far as it fits. */
enum rtune_cache { RTUNE_COLD, RTUNE_DIRTY, RTUNE_WARM, RTUNE_CACHE_COUNT };

enum rtune_flag {
    RTUNE_ACCUMULATE = 1u << 0, /* out = op(out, reduce(in)); not for arg ops. any and all take what
                                   is not 0 in out as true, and leave 0 or 1 */
    RTUNE_ALLOW_NONDETERMINISTIC = 1u << 1, /* bits may differ from run to run */
    RTUNE_ROOT = 1u << 2, /* the Euclidean norm: SUMSQ of floats in PLAIN, KAHAN and REPRODUCIBLE
                             alone, without ACCUMULATE. The correctly rounded square root of the
                             wide sum, rounded to the result type: the norm of f16 or bf16 fits
                             where its square does not. Nothing is scaled as in BLAS nrm2: the norm
                             is inf where the wide sum (f32, or f64 of f64) overflows, and 0 where
                             all squares underflow */
    RTUNE_FLAG_ALL = (1u << 3) - 1
};

struct rtune_problem {
    size_t struct_size; /* sizeof(struct rtune_problem), set by RTUNE_PROBLEM */
    enum rtune_op op;
    enum rtune_dtype dtype;
    enum rtune_acc acc;
    enum rtune_mode mode;
    enum rtune_nan nan_rule;
    enum rtune_cache cache;
    uint32_t flags; /* of enum rtune_flag */
    uint64_t n;     /* elements */
};

#define RTUNE_PROBLEM_INIT(op_, dtype_, n_)                                                        \
    {                                                                                              \
        sizeof(struct rtune_problem), (op_), (dtype_), RTUNE_WIDE, RTUNE_PLAIN,                    \
            RTUNE_NAN_PROPAGATE, RTUNE_COLD, 0, (n_)                                               \
    }
#ifdef __cplusplus
#define RTUNE_PROBLEM(op, dtype, n) (rtune_problem RTUNE_PROBLEM_INIT(op, dtype, n))
#else
#define RTUNE_PROBLEM(op, dtype, n) ((struct rtune_problem)RTUNE_PROBLEM_INIT(op, dtype, n))
#endif

/* Result of mode FIXED: sum of round-half-even(term x scale), where a term is an element, its
 * magnitude, its square or a product of two, taken in f64. A term beyond int64 counts as the
 * nearest int64, NaN as 0, and flags (a bit mask) tell that there were such; the sum wraps modulo
 * 2^64. */
struct rtune_fixed {
    int64_t value;
    uint32_t flags;
    uint32_t reserved; /* 0 */
};
enum rtune_fixed_flag { RTUNE_FIXED_RANGE = 1u << 0, RTUNE_FIXED_NAN = 1u << 1 };

/* Bytes of one element, and of the result of a problem; 0 if the problem is invalid. The result
 * must be aligned to the smaller of its size and 8. */
RTUNE_API size_t rtune_dtype_size(enum rtune_dtype dtype);
RTUNE_API size_t rtune_result_size(const struct rtune_problem *problem);

/* ---- config and launch: how it is reduced ---------------------------------------------------- */

enum rtune_variant {
    RTUNE_CASCADED, /* loads into registers */
    RTUNE_BULK,     /* the same cascade, fed by bulk copies into shared memory (TMA, sm_90) */
    RTUNE_VARIANT_COUNT
};
enum rtune_load {
    RTUNE_LOAD_PLAIN,
    RTUNE_LOAD_NONCOHERENT, /* read-only path */
    RTUNE_LOAD_NOALLOCATE,  /* read-only path, no L1 allocation, 256-byte L2 prefetch hint */
    RTUNE_LOAD_EVICTFIRST,  /* read-only path, L1 evict-first policy */
    RTUNE_LOAD_COUNT
};
enum rtune_finish {
    RTUNE_FINISH_ONE,    /* one block; grid is 1 */
    RTUNE_FINISH_SLOTS,  /* flagged slots, polled by the block that started last */
    RTUNE_FINISH_LAST,   /* the block that is done last reads the partials */
    RTUNE_FINISH_PACKED, /* one 64-bit atomic carries block count and value; integers in range */
    RTUNE_FINISH_TWO_KERNELS, /* a second kernel reads the partials */
    RTUNE_FINISH_DEPENDENT,   /* the same by programmatic dependent launch (sm_90) */
    RTUNE_FINISH_CLUSTER,     /* distributed shared memory in a cluster (sm_90), then slots */
    RTUNE_FINISH_GRID_SYNC,   /* cooperative launch: all blocks meet, the first one reads */
    RTUNE_FINISH_ATOMIC,      /* floating-point atomics; RTUNE_ALLOW_NONDETERMINISTIC only */
    RTUNE_FINISH_COUNT
};
enum rtune_map { RTUNE_MAP_STRIP, RTUNE_MAP_CHUNK, RTUNE_MAP_COUNT };
enum rtune_grid_kind {
    RTUNE_GRID_BLOCKS, /* value blocks */
    RTUNE_GRID_SM,     /* value x number of multiprocessors */
    RTUNE_GRID_COVER,  /* as many as cover n once, at most one resident wave; value is 0 */
    RTUNE_GRID_COUNT
};

struct rtune_grid {
    enum rtune_grid_kind kind;
    uint32_t value;
};

/* One set of launch parameters. On cpu devices, grid is the number of threads, block is 1, items
 * counts the elements in flight in SIMD accumulators, load is plain, map is chunk, and finish is
 * slots, or one for one thread. */
struct rtune_config {
    enum rtune_variant variant;
    uint32_t block; /* threads per block */
    uint32_t items; /* elements in flight per thread and trip: vectors x elements per 16 bytes */
    struct rtune_grid grid;
    enum rtune_load load;
    enum rtune_finish finish;
    enum rtune_map map;
    uint32_t
        occupancy;  /* minimum resident blocks per SM the kernel is compiled for; 0: unbounded */
    uint32_t extra; /* bulk: stages of the pipeline; cluster: blocks in one; else 0 */
};

/* Where a launch came from. How well a row meets n counts first, then the file it is in: an exact
 * row of the shipped profiles beats a clamped one of the user's store, and both beat a similar
 * device. */
enum rtune_source {
    RTUNE_FROM_OVERRIDE, /* RTUNE_OVERRIDE */
    RTUNE_FROM_EXACT,    /* this device was tuned at this n */
    RTUNE_FROM_BETWEEN,  /* ... at sizes below and above n */
    RTUNE_FROM_CLAMPED,  /* ... only at sizes below, or only above n */
    RTUNE_FROM_SIBLING,  /* this device was tuned, for a problem that is like this one */
    RTUNE_FROM_SIMILAR,  /* another device of the same compute capability was tuned */
    RTUNE_FROM_SHIPPED,  /* this device, in the profiles that come with the library */
    RTUNE_FROM_BUILTIN,  /* the built-in default */
    RTUNE_SOURCE_COUNT
};

/* Which compiled kernel serves it. */
enum rtune_kernel_source {
    RTUNE_KERNEL_NONE,     /* not loaded yet (lookup only) */
    RTUNE_KERNEL_STORED,   /* cubin kept by the tuner */
    RTUNE_KERNEL_COMPILED, /* compiled now, by NVRTC */
    RTUNE_KERNEL_BUILTIN,  /* the built-in instance, with the config's grid */
    RTUNE_KERNEL_SOURCE_COUNT
};

/* What is, or was, launched for a problem: the launch record. */
struct rtune_launch {
    size_t struct_size; /* sizeof(struct rtune_launch), set by RTUNE_LAUNCH_INIT */
    enum rtune_source source;
    enum rtune_kernel_source kernel;
    struct rtune_config config; /* as served, after any fall-back */
    uint32_t grid;              /* blocks, resolved for n and this device; of a cover grid an
                                   estimate while kernel is NONE */
    uint32_t block;             /* threads per block */
    uint32_t shared_bytes;      /* dynamic shared memory */
    bool fell_back;             /* the tuned config could not be used as it is; reason says why */
    bool stale;                 /* tuned under another driver or kernel source */
    uint64_t tuned_n;           /* the size it was tuned at; 0 if none */
    double predicted_us;        /* time measured by the tuner at tuned_n; 0 if unknown */
    char reason[160];           /* one line for people */
};
#define RTUNE_LAUNCH_INIT                                                                          \
    {                                                                                              \
        sizeof(struct rtune_launch), RTUNE_FROM_BUILTIN, RTUNE_KERNEL_NONE,                        \
            {RTUNE_CASCADED,  0, 0, {RTUNE_GRID_BLOCKS, 0}, RTUNE_LOAD_PLAIN, RTUNE_FINISH_ONE,    \
             RTUNE_MAP_STRIP, 0, 0},                                                               \
            0, 0, 0, false, false, 0, 0.0, ""                                                      \
    }

/* ---- library handle -------------------------------------------------------------------------- */

typedef struct rtune rtune;
typedef struct rtune_plan rtune_plan;

enum rtune_log_level { RTUNE_LOG_ERROR, RTUNE_LOG_WARN, RTUNE_LOG_INFO, RTUNE_LOG_DEBUG };
typedef void (*rtune_log_fn)(void *user, enum rtune_log_level level, const char *message);

struct rtune_options {
    size_t struct_size; /* sizeof(struct rtune_options), set by RTUNE_OPTIONS_INIT */
    const char *device; /* "cuda:0", "0", a UUID, a PCI id, "cpu"; NULL: the current CUDA context's
                           device, or device 0's primary context */
    const char *store;  /* path of the only store to read; NULL: RTUNE_DB alone, else the user's and
                           the system's store. "none": no store and no shipped profiles */
    rtune_log_fn log;   /* may be NULL; called from any thread that uses the handle, and must not
                           call this library */
    void *log_user;
    uint32_t workspaces; /* how many to allocate at open; 0: 64 */
    uint32_t threads;    /* cpu: threads at most; 0: as affinity and cgroup allow */
};
#define RTUNE_OPTIONS_INIT                                                                         \
    { sizeof(struct rtune_options), NULL, NULL, NULL, NULL, 0, 0 }

/* Open the device and read the stores once. opts may be NULL. A store that is missing, damaged,
 * foreign, newer or untrusted is logged and skipped; it never makes this call fail.
 * Errors: NO_DEVICE (no driver, no device, unknown name), DEVICE, INVALID (opts, RTUNE_OVERRIDE),
 * NO_MEMORY. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_open(rtune **rt, const struct rtune_options *opts,
                                                       struct rtune_error *err);

/* Release the handle, its kernels and workspaces. No call may be in flight on it, and no captured
 * graph that contains its launches may run afterwards. NULL is accepted. */
RTUNE_API void rtune_close(rtune *rt);

/* Read the stores again and swap the table atomically. On failure the old table stays: that is when
 * a store that was readable has become unreadable (a store that is gone is no failure). Replaced
 * tables are freed by rtune_close. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_reload(rtune *rt, struct rtune_error *err);

/* Name of the device ("cuda:0", "cpu") and its identity text. */
RTUNE_API const char *rtune_device_name(const rtune *rt);
RTUNE_API const char *rtune_device_identity(const rtune *rt);

/* Path and state of the k-th store that was considered; false past the last one. */
struct rtune_store_info {
    char path[512];
    enum rtune_status status; /* OK, or why it was skipped */
    char reason[256];
    uint32_t rows; /* winners read for any device */
};
RTUNE_API bool rtune_store_at(const rtune *rt, uint32_t k, struct rtune_store_info *info);

/* ---- lookup ---------------------------------------------------------------------------------- */

/* The launch to use for a problem; *launch starts from RTUNE_LAUNCH_INIT. Lock-free,
 * allocation-free, no file; never fails for a valid, supported problem (worst case: the built-in
 * config). Errors: INVALID, UNSUPPORTED. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_lookup(const rtune *rt,
                                                         const struct rtune_problem *problem,
                                                         struct rtune_launch *launch,
                                                         struct rtune_error *err);

/* How rtune_lookup came to its answer, step by step, as lines of text. Writes at most size bytes
 * with the final NUL; *length (may be NULL) gets the whole length without it. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_explain(const rtune *rt,
                                                          const struct rtune_problem *problem,
                                                          char *text, size_t size, size_t *length,
                                                          struct rtune_error *err);

/* A config as text ("block=256,items=16,grid=4xsm,load=noncoherent,finish=slots,map=strip,
 * occupancy=0", or "(none)" for NULL; variant and extra where they are not cascaded and 0); same
 * contract for size and return value as snprintf. */
RTUNE_API int rtune_config_print(const struct rtune_config *config, char *text, size_t size);

/* ---- reduce ---------------------------------------------------------------------------------- */

struct rtune_args {
    size_t struct_size; /* sizeof(struct rtune_args), set by RTUNE_ARGS */
    const void *in;     /* n elements, aligned to one element */
    const void *in2;    /* second input of dot, else NULL */
    void *out;          /* rtune_result_size bytes, in device memory on cuda */
    double scale;       /* mode FIXED only: finite, not 0 */
    void *workspace;    /* NULL: the library's; else rtune_workspace_size bytes, zeroed before the
                           first use, aligned to 256, never in flight twice at the same time */
    size_t workspace_bytes;
    struct rtune_launch *launch; /* NULL, or gets the launch record; start from RTUNE_LAUNCH_INIT */
};
#define RTUNE_ARGS_INIT(in_, out_)                                                                 \
    { sizeof(struct rtune_args), (in_), NULL, (out_), 1.0, NULL, 0, NULL }
#ifdef __cplusplus
#define RTUNE_ARGS(in, out) (rtune_args RTUNE_ARGS_INIT(in, out))
#else
#define RTUNE_ARGS(in, out) ((struct rtune_args)RTUNE_ARGS_INIT(in, out))
#endif

/* Bytes of a workspace that serves every problem on this handle's device; 0 on cpu, which needs
 * none. */
RTUNE_API size_t rtune_workspace_size(const rtune *rt);

/* Load the kernels for some problems now, so that the first rtune_reduce is as fast as the second.
 * Errors: INVALID, UNSUPPORTED, DEVICE (nothing can serve one of them), NO_MEMORY (also where the
 * handle has no room for more kernels). Some of them may be loaded then. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_prepare(rtune *rt,
                                                          const struct rtune_problem *problems,
                                                          size_t count, struct rtune_error *err);

/* Reduce. On cuda it is enqueued on the stream and returns at once; on cpu it is done on return.
 *
 * The first call for an unprepared problem prepares it, except while the stream captures: then the
 * built-in instance serves and the launch record says so. From the second call on, and in capture
 * always: no allocation, load, compilation, synchronization or file.
 *
 * Workspace: if args->workspace is NULL, the library uses one of a fixed number of its own, bound
 * to the stream; a captured call takes one for itself until the handle closes. One workspace is
 * never in flight twice: do not run two instances of a graph that captured the same call at the
 * same time.
 *
 * in (and in2), out and a workspace of the caller's must not overlap: no part of them may be
 * written or read as another while the reduction runs.
 *
 * Signals: NVRTC, which the first call may use, has handlers of its own for SIGINT and SIGTERM
 * while it compiles; a program that must not miss one blocks them and waits in a thread.
 *
 * Programmatic dependent launch (compute capability 9.0 and newer): a kernel that the caller
 * enqueues behind a reduction with that attribute is launched early. All its threads must wait for
 * the grid before it (cudaGridDependencySynchronize, griddepcontrol.wait) ahead of touching in,
 * in2, out or the workspace, and ahead of their end: what follows on the stream relies on it.
 *
 * n = 0: writes the identity (with ACCUMULATE nothing, and out stays as it is), or returns EMPTY
 * and writes nothing for min and max (and arg ops). Errors: INVALID, UNSUPPORTED, EMPTY,
 * WRONG_CONTEXT, NO_WORKSPACE, DEVICE; nothing was launched, or of two kernels the first alone,
 * which does not write out.
 */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_reduce(rtune *rt,
                                                         const struct rtune_problem *problem,
                                                         const struct rtune_args *args,
                                                         void *stream, struct rtune_error *err);

/* A plan binds a problem to a loaded kernel and a workspace of its own. A plan is in flight on one
 * stream at a time. The handle must outlive it. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_plan_create(rtune_plan **plan, rtune *rt,
                                                              const struct rtune_problem *problem,
                                                              struct rtune_error *err);
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_plan_reduce(rtune_plan *plan,
                                                              const struct rtune_args *args,
                                                              void *stream,
                                                              struct rtune_error *err);
/* The launch a plan will use. */
RTUNE_API const struct rtune_launch *rtune_plan_launch(const rtune_plan *plan);
/* Make the plan's workspace good again after a launch that failed or was aborted; enqueued. */
RTUNE_API RTUNE_NODISCARD enum rtune_status rtune_plan_reset(rtune_plan *plan, void *stream,
                                                             struct rtune_error *err);
RTUNE_API void rtune_plan_destroy(rtune_plan *plan);

#ifdef __cplusplus
}
#endif

#endif /* RTUNE_RTUNE_H */
