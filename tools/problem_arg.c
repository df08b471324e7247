/* SPDX-License-Identifier: Apache-2.0 */
/* tools/problem_arg.c: from bits of names to problems. */
#include "tools/problem_arg.h"

#include <stdlib.h>
#include <string.h>

/* The one name of an option, or fallback where none was given. */
static enum rtune_status one_name(uint32_t bits, int fallback, const char *option, int *value,
                                  struct rtune_error *err) {
    if ((bits & (bits - 1)) != 0)
        return rtune_err_set(err, RTUNE_SYNTAX, "--%s: takes one name here, not a list", option);
    *value = bits == 0 ? fallback : __builtin_ctz(bits);
    return RTUNE_OK;
}

enum rtune_status problem_arg_one(const struct cli_options *opt, const enum rtune_dtype *dtype,
                                  const uint64_t *n, struct rtune_problem *problem,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int op = 0, acc = 0, mode = 0, nan_rule = 0, cache = 0;
    int type = 0;
    if (dtype == NULL && opt->dtypes == 0)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "--dtype: is needed (as f32, f16, i32 or u8)"));
    if (n == NULL && !opt->has_n)
        TRY(rtune_err_set(err, RTUNE_SYNTAX, "-n: is needed (the number of elements, as 2^20)"));
    TRY(one_name(opt->ops, RTUNE_SUM, "op", &op, err));
    TRY(one_name(opt->dtypes, 0, "dtype", &type, err));
    TRY(one_name(opt->accs, RTUNE_WIDE, "acc", &acc, err));
    TRY(one_name(opt->modes, RTUNE_PLAIN, "mode", &mode, err));
    TRY(one_name(opt->nans, RTUNE_NAN_PROPAGATE, "nan", &nan_rule, err));
    TRY(one_name(opt->caches, RTUNE_COLD, "cache", &cache, err));
    *problem = RTUNE_PROBLEM((enum rtune_op)op, dtype != NULL ? *dtype : (enum rtune_dtype)type,
                             n != NULL ? *n : opt->n);
    problem->acc = (enum rtune_acc)acc;
    problem->mode = (enum rtune_mode)mode;
    problem->nan_rule = (enum rtune_nan)nan_rule;
    problem->cache = (enum rtune_cache)cache;
    TRY(rtune_problem_check(problem, err));
done:
    return status;
}

struct kinds {
    struct rtune_problem *list;
    size_t count, capacity;
};

static enum rtune_status add_kind(struct kinds *kinds, const struct rtune_problem *problem,
                                  struct rtune_error *err) {
    for (size_t k = 0; k < kinds->count; k++)
        if (rtune_problem_same_kind(&kinds->list[k], problem)) return RTUNE_OK;
    if (kinds->count == kinds->capacity) {
        size_t capacity = kinds->capacity == 0 ? 64 : 2 * kinds->capacity;
        void *grown = realloc(kinds->list, capacity * sizeof kinds->list[0]);
        if (grown == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "out of memory for problems");
        kinds->list = grown;
        kinds->capacity = capacity;
    }
    kinds->list[kinds->count++] = *problem;
    return RTUNE_OK;
}

/* What one combination counter runs over: six fields of a problem, as bits. */
enum { FIELDS = 6 };

/* The combination after this one; false past the last. */
static bool next_combination(const uint32_t bits[FIELDS], int value[FIELDS]) {
    for (int f = FIELDS - 1; f >= 0; f--) {
        uint32_t above = value[f] < 31 ? bits[f] & ~((2u << value[f]) - 1) : 0;
        if (above != 0) {
            value[f] = __builtin_ctz(above);
            return true;
        }
        value[f] = __builtin_ctz(bits[f]);
    }
    return false;
}

static struct rtune_problem combination(const int value[FIELDS]) {
    struct rtune_problem problem =
        RTUNE_PROBLEM((enum rtune_op)value[0], (enum rtune_dtype)value[1], 1);
    problem.acc = (enum rtune_acc)value[2];
    problem.mode = (enum rtune_mode)value[3];
    problem.nan_rule = (enum rtune_nan)value[4];
    problem.cache = (enum rtune_cache)value[5];
    return problem;
}

/* Why a value of a field is in no problem: the reason of the combination that could do with the
 * first kind's value of that field, so that it is this value which is told, not its company. */
static enum rtune_status lost_value(const uint32_t bits[FIELDS], int field, int lost,
                                    struct rtune_error *err) {
    static const int usual[FIELDS] = {RTUNE_SUM,   RTUNE_F32,           RTUNE_WIDE,
                                      RTUNE_PLAIN, RTUNE_NAN_PROPAGATE, RTUNE_COLD};
    uint32_t only[FIELDS];
    int value[FIELDS];
    struct rtune_error reason, best;
    memcpy(only, bits, sizeof only);
    only[field] = 1u << lost;
    for (int f = 0; f < FIELDS; f++)
        value[f] = __builtin_ctz(only[f]);
    rtune_err_clear(&best);
    do {
        int replaced[FIELDS];
        memcpy(replaced, value, sizeof replaced);
        replaced[field] = usual[field];
        struct rtune_problem problem = combination(value), other = combination(replaced);
        (void)rtune_problem_check(&problem, &reason);
        bool guilty = rtune_problem_check(&other, NULL) == RTUNE_OK;
        if (best.status == RTUNE_OK || guilty) best = reason;
        if (guilty) break;
    } while (next_combination(only, value));
    return rtune_err_set(err, best.status, "%s", best.message);
}

/* Every name that was given must be in a problem. */
static enum rtune_status check_named(const uint32_t given[FIELDS], const uint32_t bits[FIELDS],
                                     const uint32_t used[FIELDS], struct rtune_error *err) {
    for (int f = 0; f < FIELDS; f++)
        if ((given[f] & ~used[f]) != 0)
            return lost_value(bits, f, __builtin_ctz(given[f] & ~used[f]), err);
    return RTUNE_OK;
}

enum rtune_status problem_arg_many(const struct cli_options *opt, struct rtune_problem **problems,
                                   size_t *count, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct kinds kinds = {NULL, 0, 0};
    uint32_t used[FIELDS] = {0};
    int value[FIELDS];
    const uint32_t given[FIELDS] = {opt->ops,   opt->dtypes, opt->accs,
                                    opt->modes, opt->nans,   opt->caches};
    const uint32_t bits[FIELDS] = {
        opt->ops != 0 ? opt->ops : (1u << RTUNE_OP_COUNT) - 1,
        opt->dtypes != 0 ? opt->dtypes : (1u << RTUNE_DTYPE_COUNT) - 1,
        opt->accs != 0 ? opt->accs : 1u << RTUNE_WIDE,
        opt->modes != 0 ? opt->modes : 1u << RTUNE_PLAIN,
        opt->nans != 0 ? opt->nans : 1u << RTUNE_NAN_PROPAGATE,
        opt->caches != 0 ? opt->caches : 1u << RTUNE_COLD,
    };
    for (int f = 0; f < FIELDS; f++)
        value[f] = __builtin_ctz(bits[f]);
    do {
        struct rtune_problem problem = combination(value);
        struct rtune_error reason;
        enum rtune_status checked = rtune_problem_check(&problem, &reason);
        if (checked == RTUNE_OK) {
            for (int f = 0; f < FIELDS; f++)
                used[f] |= 1u << value[f];
            problem = rtune_problem_canonical(&problem);
            problem.n = 0;
            TRY(add_kind(&kinds, &problem, err));
        } else if (checked != RTUNE_UNSUPPORTED || (opt->ops != 0 && opt->dtypes != 0)) {
            TRY(rtune_err_set(err, checked, "%s", reason.message));
        }
    } while (next_combination(bits, value));
    TRY(check_named(given, bits, used, err));
    *problems = kinds.list;
    *count = kinds.count;
    kinds.list = NULL;
done:
    free(kinds.list);
    return status;
}

static bool named(uint32_t bits, int value) { return bits == 0 || (bits >> value & 1) != 0; }

bool problem_arg_matches(const struct cli_options *opt, const struct rtune_problem *problem) {
    return named(opt->ops, (int)problem->op) && named(opt->dtypes, (int)problem->dtype) &&
           named(opt->accs, (int)problem->acc) && named(opt->modes, (int)problem->mode) &&
           named(opt->nans, (int)problem->nan_rule) && named(opt->caches, (int)problem->cache);
}
