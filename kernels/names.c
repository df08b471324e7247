/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.c: the one table of spellings for every enum that people and files spell. Printing, parsing
 * and help text all read it.
 */
#include "kernels/kernels.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>

static const char *const op_names[RTUNE_OP_COUNT] = {
    [RTUNE_SUM] = "sum",       [RTUNE_SUMSQ] = "sumsq",
    [RTUNE_ASUM] = "asum",     [RTUNE_DOT] = "dot",
    [RTUNE_PROD] = "prod",     [RTUNE_MIN] = "min",
    [RTUNE_MAX] = "max",       [RTUNE_MINMAX] = "minmax",
    [RTUNE_ARGMIN] = "argmin", [RTUNE_ARGMAX] = "argmax",
    [RTUNE_ANY] = "any",       [RTUNE_ALL] = "all",
    [RTUNE_BAND] = "band",     [RTUNE_BOR] = "bor",
    [RTUNE_BXOR] = "bxor",     [RTUNE_COUNT_NONZERO] = "count_nonzero",
};
static const char *const acc_names[RTUNE_ACC_COUNT] = {
    [RTUNE_WIDE] = "wide",
    [RTUNE_NATIVE] = "native",
};
static const char *const mode_names[RTUNE_MODE_COUNT] = {
    [RTUNE_PLAIN] = "plain",
    [RTUNE_KAHAN] = "kahan",
    [RTUNE_REPRODUCIBLE] = "reproducible",
    [RTUNE_FIXED] = "fixed",
};
static const char *const nan_names[RTUNE_NAN_COUNT] = {
    [RTUNE_NAN_PROPAGATE] = "propagate",
    [RTUNE_NAN_IGNORE] = "ignore",
};
static const char *const cache_names[RTUNE_CACHE_COUNT] = {
    [RTUNE_COLD] = "cold",
    [RTUNE_DIRTY] = "dirty",
    [RTUNE_WARM] = "warm",
};
/* By the number of their bit. */
static const char *const flag_names[] = {"accumulate", "nondeterministic", "root"};
_Static_assert(RTUNE_FLAG_ALL == (1u << RTUNE_ARRAY_SIZE(flag_names)) - 1, "a name for each flag");
static const char *const variant_names[RTUNE_VARIANT_COUNT] = {
    [RTUNE_CASCADED] = "cascaded",
    [RTUNE_BULK] = "bulk",
};
static const char *const load_names[RTUNE_LOAD_COUNT] = {
    [RTUNE_LOAD_PLAIN] = "plain",
    [RTUNE_LOAD_NONCOHERENT] = "noncoherent",
    [RTUNE_LOAD_NOALLOCATE] = "noallocate",
    [RTUNE_LOAD_EVICTFIRST] = "evictfirst",
};
static const char *const finish_names[RTUNE_FINISH_COUNT] = {
    [RTUNE_FINISH_ONE] = "one",
    [RTUNE_FINISH_SLOTS] = "slots",
    [RTUNE_FINISH_LAST] = "last",
    [RTUNE_FINISH_PACKED] = "packed",
    [RTUNE_FINISH_TWO_KERNELS] = "two_kernels",
    [RTUNE_FINISH_DEPENDENT] = "dependent",
    [RTUNE_FINISH_CLUSTER] = "cluster",
    [RTUNE_FINISH_GRID_SYNC] = "grid_sync",
    [RTUNE_FINISH_ATOMIC] = "atomic",
};
static const char *const map_names[RTUNE_MAP_COUNT] = {
    [RTUNE_MAP_STRIP] = "strip",
    [RTUNE_MAP_CHUNK] = "chunk",
};
static const char *const source_names[RTUNE_SOURCE_COUNT] = {
    [RTUNE_FROM_OVERRIDE] = "override", [RTUNE_FROM_EXACT] = "exact",
    [RTUNE_FROM_BETWEEN] = "between",   [RTUNE_FROM_CLAMPED] = "clamped",
    [RTUNE_FROM_SIBLING] = "sibling",   [RTUNE_FROM_SIMILAR] = "similar",
    [RTUNE_FROM_SHIPPED] = "shipped",   [RTUNE_FROM_BUILTIN] = "builtin",
};
static const char *const kernel_source_names[RTUNE_KERNEL_SOURCE_COUNT] = {
    [RTUNE_KERNEL_NONE] = "none",
    [RTUNE_KERNEL_STORED] = "stored",
    [RTUNE_KERNEL_COMPILED] = "compiled",
    [RTUNE_KERNEL_BUILTIN] = "builtin",
};

static const struct rtune_dtype_info dtypes[RTUNE_DTYPE_COUNT] = {
    [RTUNE_I8] = {"i8", 1, false, true},   [RTUNE_U8] = {"u8", 1, false, false},
    [RTUNE_I16] = {"i16", 2, false, true}, [RTUNE_U16] = {"u16", 2, false, false},
    [RTUNE_I32] = {"i32", 4, false, true}, [RTUNE_U32] = {"u32", 4, false, false},
    [RTUNE_I64] = {"i64", 8, false, true}, [RTUNE_U64] = {"u64", 8, false, false},
    [RTUNE_F16] = {"f16", 2, true, true},  [RTUNE_BF16] = {"bf16", 2, true, true},
    [RTUNE_F32] = {"f32", 4, true, true},  [RTUNE_F64] = {"f64", 8, true, true},
};

const struct rtune_dtype_info *rtune_dtype_info(enum rtune_dtype dtype) {
    return (unsigned)dtype < RTUNE_DTYPE_COUNT ? &dtypes[dtype] : NULL;
}

static const char *dtype_name(int value) {
    return value >= 0 && value < RTUNE_DTYPE_COUNT ? dtypes[value].name : NULL;
}
const char *rtune_dtype_name(enum rtune_dtype dtype) { return dtype_name((int)dtype); }

/* X(noun, enum type, array, its count): the accessor by int for the table, and the typed one. */
#define NAMED(noun, type, array, count)                                                            \
    static const char *noun##_name(int value) {                                                    \
        return value >= 0 && value < (int)(count) ? (array)[value] : NULL;                         \
    }                                                                                              \
    const char *rtune_##noun##_name(type value) { return noun##_name((int)value); }

NAMED(op, enum rtune_op, op_names, RTUNE_OP_COUNT)
NAMED(acc, enum rtune_acc, acc_names, RTUNE_ACC_COUNT)
NAMED(mode, enum rtune_mode, mode_names, RTUNE_MODE_COUNT)
NAMED(nan, enum rtune_nan, nan_names, RTUNE_NAN_COUNT)
NAMED(cache, enum rtune_cache, cache_names, RTUNE_CACHE_COUNT)
NAMED(flag, int, flag_names, RTUNE_ARRAY_SIZE(flag_names))
NAMED(variant, enum rtune_variant, variant_names, RTUNE_VARIANT_COUNT)
NAMED(load, enum rtune_load, load_names, RTUNE_LOAD_COUNT)
NAMED(finish, enum rtune_finish, finish_names, RTUNE_FINISH_COUNT)
NAMED(map, enum rtune_map, map_names, RTUNE_MAP_COUNT)
NAMED(source, enum rtune_source, source_names, RTUNE_SOURCE_COUNT)
NAMED(kernel_source, enum rtune_kernel_source, kernel_source_names, RTUNE_KERNEL_SOURCE_COUNT)

static const struct rtune_name_table tables[RTUNE_NAMES_COUNT] = {
    [RTUNE_NAMES_OP] = {"op", op_name, RTUNE_OP_COUNT},
    [RTUNE_NAMES_DTYPE] = {"dtype", dtype_name, RTUNE_DTYPE_COUNT},
    [RTUNE_NAMES_ACC] = {"acc", acc_name, RTUNE_ACC_COUNT},
    [RTUNE_NAMES_MODE] = {"mode", mode_name, RTUNE_MODE_COUNT},
    [RTUNE_NAMES_NAN] = {"nan", nan_name, RTUNE_NAN_COUNT},
    [RTUNE_NAMES_CACHE] = {"cache", cache_name, RTUNE_CACHE_COUNT},
    [RTUNE_NAMES_FLAG] = {"flags", flag_name, (int)RTUNE_ARRAY_SIZE(flag_names)},
    [RTUNE_NAMES_VARIANT] = {"variant", variant_name, RTUNE_VARIANT_COUNT},
    [RTUNE_NAMES_LOAD] = {"load", load_name, RTUNE_LOAD_COUNT},
    [RTUNE_NAMES_FINISH] = {"finish", finish_name, RTUNE_FINISH_COUNT},
    [RTUNE_NAMES_MAP] = {"map", map_name, RTUNE_MAP_COUNT},
};

const struct rtune_name_table *rtune_names(enum rtune_name_kind kind) {
    return (unsigned)kind < RTUNE_NAMES_COUNT ? &tables[kind] : NULL;
}

void rtune_names_list(enum rtune_name_kind kind, uint32_t mask, char *text, size_t size) {
    const struct rtune_name_table *table = rtune_names(kind);
    size_t used = 0;
    text[0] = '\0';
    for (int v = 0; v < table->count; v++) {
        if ((mask & 1u << v) == 0) continue;
        int length = snprintf(text + used, size - used, "%s%s", used ? ", " : "", table->name(v));
        if (length > 0) used = rtune_min_u64(used + (size_t)length, size - 1);
    }
}

enum rtune_status rtune_name_parse(enum rtune_name_kind kind, const char *text, int *value,
                                   struct rtune_error *err) {
    const struct rtune_name_table *table = rtune_names(kind);
    if (!table || !text) return rtune_err_set(err, RTUNE_INVALID, "name: no table or no text");

    for (int v = 0; v < table->count; v++) {
        if (strcmp(table->name(v), text) != 0) continue;
        *value = v;
        return RTUNE_OK;
    }
    char known[256];
    rtune_names_list(kind, UINT32_MAX, known, sizeof known);
    return rtune_err_set(err, RTUNE_SYNTAX, "%s: \"%.40s\" is not known (use one of %s)",
                         table->what, text, known);
}
