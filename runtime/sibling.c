/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/sibling.c: whose rows stand in for a kind of problem that was not tuned. How fast a
 * reduction is depends on its bytes far more than on its op, so a config that was tuned for one
 * that is like it is a better guess than one that was tuned for nothing. In this order:
 *
 *   1. the same op and dtype with another acc or NaN rule;
 *   2. the same op of another dtype of the same size;
 *   3. the same op in mode plain;
 *   4. the op that does about as much with an element, in mode plain, of the same dtype;
 *   5. the plain sum of f32 of as many bytes.
 */
#include "runtime/lookup.h"

#include "base/num.h"

/* The op whose kernels are most like an op's; of one that has none, itself. */
static const enum rtune_op nearest[RTUNE_OP_COUNT] = {
    [RTUNE_SUM] = RTUNE_SUM,           [RTUNE_SUMSQ] = RTUNE_SUM,  [RTUNE_ASUM] = RTUNE_SUM,
    [RTUNE_DOT] = RTUNE_SUM,           [RTUNE_PROD] = RTUNE_SUM,   [RTUNE_MIN] = RTUNE_MAX,
    [RTUNE_MAX] = RTUNE_MIN,           [RTUNE_MINMAX] = RTUNE_MAX, [RTUNE_ARGMIN] = RTUNE_ARGMAX,
    [RTUNE_ARGMAX] = RTUNE_ARGMIN,     [RTUNE_ANY] = RTUNE_ALL,    [RTUNE_ALL] = RTUNE_ANY,
    [RTUNE_BAND] = RTUNE_BOR,          [RTUNE_BOR] = RTUNE_BAND,   [RTUNE_BXOR] = RTUNE_BOR,
    [RTUNE_COUNT_NONZERO] = RTUNE_SUM,
};

/* Bytes that are read for an element. */
static size_t element_bytes(const struct rtune_problem *problem) {
    return rtune_dtype_size(problem->dtype) * (problem->op == RTUNE_DOT ? 2 : 1);
}

/* Append a kind in canonical form, unless it is the problem's own or there already. */
static void add(const struct rtune_problem *problem, const struct rtune_problem *kind,
                struct rtune_problem list[RTUNE_SIBLINGS], size_t *count) {
    const struct rtune_problem sibling = rtune_problem_canonical(kind);
    if (rtune_problem_same_kind(problem, &sibling)) return;
    for (size_t k = 0; k < *count; k++)
        if (rtune_problem_same_kind(&list[k], &sibling)) return;
    list[(*count)++] = sibling;
}

/* A kind with its own acc and NaN rule, then with every other. */
static void add_rules(const struct rtune_problem *problem, const struct rtune_problem *kind,
                      struct rtune_problem list[RTUNE_SIBLINGS], size_t *count) {
    struct rtune_problem other = *kind;
    add(problem, kind, list, count);
    for (int acc = 0; acc < RTUNE_ACC_COUNT; acc++) {
        for (int rule = 0; rule < RTUNE_NAN_COUNT; rule++) {
            other.acc = (enum rtune_acc)acc;
            other.nan_rule = (enum rtune_nan)rule;
            add(problem, &other, list, count);
        }
    }
}

size_t rtune_siblings(const struct rtune_problem *problem,
                      struct rtune_problem list[RTUNE_SIBLINGS]) {
    const size_t size = rtune_dtype_size(problem->dtype), bytes = element_bytes(problem);
    struct rtune_problem kind = *problem;
    size_t count = 0;
    add_rules(problem, &kind, list, &count);
    for (int dtype = 0; dtype < RTUNE_DTYPE_COUNT; dtype++) {
        kind.dtype = (enum rtune_dtype)dtype;
        if (rtune_dtype_size(kind.dtype) == size) add_rules(problem, &kind, list, &count);
    }
    kind = *problem;
    kind.mode = RTUNE_PLAIN;
    add_rules(problem, &kind, list, &count);
    kind.op = nearest[problem->op];
    kind.n = problem->n * (bytes / size); /* of a pair, both */
    if (kind.op != problem->op) add_rules(problem, &kind, list, &count);
    kind.op = RTUNE_SUM;
    kind.dtype = RTUNE_F32;
    kind.acc = RTUNE_WIDE;
    kind.nan_rule = RTUNE_NAN_PROPAGATE;
    kind.n =
        problem->n / sizeof(float) * bytes + problem->n % sizeof(float) * bytes / sizeof(float);
    add(problem, &kind, list, &count);
    return count;
}

bool rtune_sibling_config(const struct rtune_problem *problem, const struct rtune_problem *sibling,
                          struct rtune_config *config) {
    struct rtune_config own = *config;
    const uint64_t least = RTUNE_VECTOR_BYTES / rtune_dtype_size(problem->dtype);
    const uint64_t bytes = (uint64_t)own.items * element_bytes(sibling); /* in flight */
    own.items = (uint32_t)rtune_max_u64(bytes / element_bytes(problem), least);
    const bool other_op = sibling->op != problem->op && own.finish != RTUNE_FINISH_ONE;
    if (other_op || rtune_instance_check(problem, &own, NULL) != RTUNE_OK) {
        if (own.finish != RTUNE_FINISH_ONE) own.finish = RTUNE_FINISH_SLOTS;
        own.variant = RTUNE_CASCADED;
        own.extra = 0;
    }
    if (rtune_instance_check(problem, &own, NULL) != RTUNE_OK) return false;
    *config = own;
    return true;
}
