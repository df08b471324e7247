/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/kernels.h: what exists. One table each of ops, dtypes and axes; problems and configs to
 * and from text; kernel instances, their sources and the built-in images. Knows no device and no
 * store.
 *
 * Everything here is immutable and thread-safe.
 */
#ifndef RTUNE_KERNELS_KERNELS_H
#define RTUNE_KERNELS_KERNELS_H

#include "base/err.h"

/* Raised when an axis changes its meaning; rows of another abi are not served. */
enum { RTUNE_KERNEL_ABI = 1 };

/* Flags that every kernel takes as an argument, where its op has them: they select no other. */
enum { RTUNE_ARGUMENT_FLAGS = RTUNE_ACCUMULATE | RTUNE_ROOT };

/* ---- names ----------------------------------------------------------------------------------- */

/* Spellings used on the command line, in the store and in profiles; NULL past the end. */
const char *rtune_op_name(enum rtune_op op);
const char *rtune_dtype_name(enum rtune_dtype dtype);
const char *rtune_acc_name(enum rtune_acc acc);
const char *rtune_mode_name(enum rtune_mode mode);
const char *rtune_nan_name(enum rtune_nan nan_rule);
const char *rtune_cache_name(enum rtune_cache cache);
const char *rtune_flag_name(int bit); /* of 1u << bit */
const char *rtune_variant_name(enum rtune_variant variant);
const char *rtune_load_name(enum rtune_load load);
const char *rtune_finish_name(enum rtune_finish finish);
const char *rtune_map_name(enum rtune_map map);
const char *rtune_source_name(enum rtune_source source);
const char *rtune_kernel_source_name(enum rtune_kernel_source source);

/* One field of a problem or config that is spelled by name, for tables over switches. */
struct rtune_name_table {
    const char *what;               /* "op", "dtype", ... as error messages and options say it */
    const char *(*name)(int value); /* NULL past the end */
    int count;
};
enum rtune_name_kind {
    RTUNE_NAMES_OP,
    RTUNE_NAMES_DTYPE,
    RTUNE_NAMES_ACC,
    RTUNE_NAMES_MODE,
    RTUNE_NAMES_NAN,
    RTUNE_NAMES_CACHE,
    RTUNE_NAMES_FLAG, /* values are numbers of bits */
    RTUNE_NAMES_VARIANT,
    RTUNE_NAMES_LOAD,
    RTUNE_NAMES_FINISH,
    RTUNE_NAMES_MAP,
    RTUNE_NAMES_COUNT
};
const struct rtune_name_table *rtune_names(enum rtune_name_kind kind);
/* "f32, f64": the names of the values whose bits are in mask, as far as they fit. */
void rtune_names_list(enum rtune_name_kind kind, uint32_t mask, char *text, size_t size);
/* Value of a name; else SYNTAX, with the accepted names in the message. */
enum rtune_status rtune_name_parse(enum rtune_name_kind kind, const char *text, int *value,
                                   struct rtune_error *err);

/* ---- problems -------------------------------------------------------------------------------- */

struct rtune_dtype_info {
    const char *name;
    uint32_t size; /* bytes */
    bool is_float;
    bool is_signed;
};
const struct rtune_dtype_info *rtune_dtype_info(enum rtune_dtype dtype);

/* INVALID for values out of range or a wrong struct_size, UNSUPPORTED (naming what is) for an op,
 * dtype, acc, mode or flag combination that no kernel serves. */
enum rtune_status rtune_problem_check(const struct rtune_problem *problem, struct rtune_error *err);

/* The caller's problem, of this or an earlier version of the interface, as one of this version, and
 * then rtune_problem_check. */
enum rtune_status rtune_problem_read(const struct rtune_problem *given,
                                     struct rtune_problem *problem, struct rtune_error *err);

/* The same problem with fields that cannot matter set to their defaults (acc where wide and native
 * are one, nan_rule where there is no NaN, flags that do not select a kernel). Two problems with
 * equal canonical forms are served by the same rows. n and cache are kept. */
struct rtune_problem rtune_problem_canonical(const struct rtune_problem *problem);
/* Equal in all but n. */
bool rtune_problem_same_kind(const struct rtune_problem *a, const struct rtune_problem *b);
/* Equal in all that a kernel depends on: not n, nor the state of the caches. */
bool rtune_problem_same_kernel(const struct rtune_problem *a, const struct rtune_problem *b);
/* Total order: op, dtype, acc, mode, nan_rule, flags, cache, n. */
int rtune_problem_compare(const struct rtune_problem *a, const struct rtune_problem *b);
/* "sum,f32,wide,plain,propagate,cold,n=1048576". */
int rtune_problem_print(const struct rtune_problem *problem, char *text, size_t size);

/* k-th (op, dtype, acc, mode, nan_rule) that has kernels, canonical, n = 0, cold; false past the
 * last. */
bool rtune_problem_at(size_t k, struct rtune_problem *problem);

/* Type of the result (and of the accumulator) of a checked problem. */
enum rtune_dtype rtune_result_dtype(const struct rtune_problem *problem);
/* Write the identity (result of n = 0) in the result type to out, rtune_result_size bytes; EMPTY if
 * there is none. */
enum rtune_status rtune_identity(const struct rtune_problem *problem, void *out,
                                 struct rtune_error *err);

/* ---- configs --------------------------------------------------------------------------------- */

enum {
    RTUNE_BLOCK_MAX = 1024,
    RTUNE_VECTOR_BYTES = 16,
    RTUNE_VECTORS_MAX = 16, /* vectors of 16 bytes in flight per thread */
    RTUNE_GRID_MAX = 4096   /* blocks of one launch; bounds the workspace */
};

/* Is it a config some kernel instance can have, for elements of this size? RANGE, naming the axis
 * and its allowed values, if not. */
enum rtune_status rtune_config_check(const struct rtune_config *config, enum rtune_dtype dtype,
                                     struct rtune_error *err);
/* Is there a kernel instance of this config for the (canonical or checked) problem, at some n?
 * RANGE as rtune_config_check, UNSUPPORTED, naming the rule, for a finish or a variant that does
 * not serve the op, dtype or mode. */
enum rtune_status rtune_instance_check(const struct rtune_problem *problem,
                                       const struct rtune_config *config, struct rtune_error *err);
/* Least compute capability that has what the config uses, as 10 x major + minor; 0: any. */
uint32_t rtune_config_needs_cc(const struct rtune_config *config);
/* Has a device of this compute capability that? */
bool rtune_config_runs_on(const struct rtune_config *config, int cc_major, int cc_minor);
bool rtune_config_equal(const struct rtune_config *a, const struct rtune_config *b);
/* Same compiled kernel: equal but for the grid. */
bool rtune_config_same_instance(const struct rtune_config *a, const struct rtune_config *b);
/* Total order, axis by axis as they are printed, and a hash. with_grid false leaves the grid out:
 * equal then means the same compiled kernel. */
int rtune_config_compare(const struct rtune_config *a, const struct rtune_config *b,
                         bool with_grid);
uint64_t rtune_config_hash(const struct rtune_config *config, bool with_grid);
/* Reads what rtune_config_print writes. Axes may be missing; they keep the value that *config has.
 * An unknown or repeated axis is SYNTAX. */
enum rtune_status rtune_config_parse(const char *text, struct rtune_config *config,
                                     struct rtune_error *err);
/* The same, and which axes the text gives, a bit for each; and those axes of one config put into
 * another. */
enum rtune_status rtune_config_parse_axes(const char *text, struct rtune_config *config,
                                          uint32_t *given, struct rtune_error *err);
void rtune_config_put_axes(struct rtune_config *to, const struct rtune_config *from,
                           uint32_t given);
/* Grid alone: "528", "4xsm", "cover". */
enum rtune_status rtune_grid_parse(const char *text, struct rtune_grid *grid,
                                   struct rtune_error *err);
int rtune_grid_print(const struct rtune_grid *grid, char *text, size_t size);

/* The built-in default config for a problem on a kind of device, and the config that the built-in
 * instance was compiled with (the same in all but the grid). */
struct rtune_config rtune_config_default(const struct rtune_problem *problem, bool cuda);

/* May this config's finish serve this problem on so many blocks? false with a reason (a static
 * string) for a packed finish whose running total may not fit, a float atomic on a problem that
 * asks for determinism, a cluster that does not divide the grid. What the device must offer
 * (resident blocks, compute capability) is the device's to check. */
bool rtune_finish_admits(const struct rtune_config *config, const struct rtune_problem *problem,
                         uint32_t grid, const char **why);

/* Blocks to launch: the grid rule resolved for n elements, 1 ... RTUNE_GRID_MAX. resident is the
 * number of blocks of this kernel that one SM holds at once. With finish=grid_sync all of them are
 * resident, with finish=cluster they are rounded down to whole clusters, at least one. */
uint32_t rtune_grid_resolve(const struct rtune_config *config, enum rtune_dtype dtype, uint64_t n,
                            uint32_t sm_count, uint32_t resident);

/* Workspace of one launch: a 256-byte header and two arrays of RTUNE_GRID_MAX entries. The device
 * code has the same numbers (kernels/device/abi.cuh). */
enum {
    RTUNE_WORKSPACE_HEADER = 256,
    RTUNE_WORKSPACE_SLOT = 32,   /* flagged slot: up to four words of 32-bit value, 32-bit flag */
    RTUNE_WORKSPACE_PARTIAL = 16 /* plain partial */
};
size_t rtune_workspace_bytes(void);

/* ---- instances: what is compiled ------------------------------------------------------------- */

enum { RTUNE_INSTANCE_NAME = 128 };

/* Name of the kernel's entry point, from the problem (but n, cache and flags) and the config
 * (but the grid): a C identifier. Problems whose arithmetic is the same to the bit (any of i8 and
 * of u8) share a name, and so a kernel. A finish by a second kernel has it under this name with _2
 * appended. */
void rtune_instance_name(const struct rtune_problem *problem, const struct rtune_config *config,
                         char name[RTUNE_INSTANCE_NAME]);

/* CUDA C++ text of a program with the given instances' entry points, to be compiled with the
 * headers below and no include path. */
enum rtune_status rtune_instance_source(const struct rtune_problem *problems,
                                        const struct rtune_config *configs, size_t count,
                                        char **source, struct rtune_error *err);

/* The embedded device headers: name as written in #include, text. */
struct rtune_source_file {
    const char *name;
    const char *text;
};
const struct rtune_source_file *rtune_device_sources(size_t *count);
/* SHA-256 over all of them, the text of an instance and the compile options, 64 hexadecimal digits:
 * the source hash of a row. */
const char *rtune_device_sources_hash(void);

/* Options to compile with, for an architecture like 90 ("--gpu-architecture=sm_90", ...).
 * NULL-terminated; the first entry is written into arch, which must outlive the array. */
void rtune_compile_options(int cc_major, int cc_minor, char arch[32], const char *options[8]);

/* Fatbin of the built-in instances (one per problem of rtune_problem_at, with
 * rtune_config_default), and of the tuner's support kernels (kernels/device/support.cuh); size 0
 * where the build had no nvcc. */
const void *rtune_builtin_image(size_t *size);
const void *rtune_support_image(size_t *size);

/* ---- kernel arguments ------------------------------------------------------------------------ */

/* The one by-value parameter of every kernel; kernels/device/abi.cuh has the same layout. */
struct rtune_kernel_args {
    const void *in;
    const void *in2;
    void *out;
    void *workspace;
    uint64_t n;
    uint32_t
        flags; /* of RTUNE_ARGUMENT_FLAGS; in the first 48 bytes: a line of the constant cache */
    uint32_t partials; /* blocks of the (first) launch: how many partials a second kernel reads */
    double scale;
};

#endif /* RTUNE_KERNELS_KERNELS_H */
