/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data.c: what each problem is verified on: the generator's data set, its words, and the elements
 * that are overwritten. The generator itself is the text that the device compiles.
 */
#include "tuner/data_int.h"

#include <string.h>

_Static_assert(RTUNE_U64 == RTUNE_S_U64 && RTUNE_F16 == RTUNE_S_F16 && RTUNE_BF16 == RTUNE_S_BF16 &&
                   RTUNE_F32 == RTUNE_S_F32 && RTUNE_F64 == RTUNE_S_F64,
               "the generator knows dtypes by their numbers");

#define SIGN_BIT (UINT64_C(1) << 63)
/* Odd bits: those that the data of bitwise ops leave alone. */
#define ODD_BITS UINT64_C(0xaaaaaaaaaaaaaaaa)

static bool is_float(enum rtune_dtype dtype) { return rtune_dtype_info(dtype)->is_float; }

bool rtune_data_is_pair(const struct rtune_problem *problem) { return problem->op == RTUNE_DOT; }

uint64_t rtune_data_second_seed(uint64_t seed) { return rtune_support_second(seed); }

double rtune_data_scale(void) { return (double)(UINT64_C(1) << RTUNE_DATA_SCALE_BITS); }

/* ---- choosing -------------------------------------------------------------------------------- */

/* Data of EXACT and of RANDOM, fold. EXACT of integers is RTUNE_S_EXACT where floats need a set of
 * their own. */
struct op_data {
    uint32_t exact, random, fold;
};
static const struct op_data op_data[RTUNE_OP_COUNT] = {
    [RTUNE_SUM] = {RTUNE_S_EXACT, RTUNE_S_RANDOM, RTUNE_S_SUM},
    [RTUNE_SUMSQ] = {RTUNE_S_THIN, RTUNE_S_PAIR_RANDOM, RTUNE_S_SUMSQ},
    [RTUNE_ASUM] = {RTUNE_S_THIN, RTUNE_S_RANDOM, RTUNE_S_ASUM},
    [RTUNE_DOT] = {RTUNE_S_PAIR_EXACT, RTUNE_S_PAIR_RANDOM, RTUNE_S_DOT},
    [RTUNE_PROD] = {RTUNE_S_PROD_EXACT, RTUNE_S_PROD_RANDOM, RTUNE_S_CLASS},
    [RTUNE_MIN] = {RTUNE_S_EXTREME, RTUNE_S_EXTREME, RTUNE_S_EXTREMA},
    [RTUNE_MAX] = {RTUNE_S_EXTREME, RTUNE_S_EXTREME, RTUNE_S_EXTREMA},
    [RTUNE_MINMAX] = {RTUNE_S_EXTREME, RTUNE_S_EXTREME, RTUNE_S_EXTREMA},
    [RTUNE_ARGMIN] = {RTUNE_S_EXTREME, RTUNE_S_EXTREME, RTUNE_S_EXTREMA},
    [RTUNE_ARGMAX] = {RTUNE_S_EXTREME, RTUNE_S_EXTREME, RTUNE_S_EXTREMA},
    [RTUNE_ANY] = {RTUNE_S_ZERO, RTUNE_S_ZERO, RTUNE_S_COUNT},
    [RTUNE_ALL] = {RTUNE_S_EXACT, RTUNE_S_EXACT, RTUNE_S_COUNT},
    [RTUNE_COUNT_NONZERO] = {RTUNE_S_HALF, RTUNE_S_HALF, RTUNE_S_COUNT},
    [RTUNE_BAND] = {RTUNE_S_BITS_AND, RTUNE_S_BITS_AND, RTUNE_S_AND},
    [RTUNE_BOR] = {RTUNE_S_BITS_OR, RTUNE_S_BITS_OR, RTUNE_S_OR},
    [RTUNE_BXOR] = {RTUNE_S_EXACT, RTUNE_S_EXACT, RTUNE_S_XOR},
};

bool rtune_data_is_extreme(enum rtune_op op) { return op_data[op].fold == RTUNE_S_EXTREMA; }

bool rtune_data_is_arg(enum rtune_op op) { return op == RTUNE_ARGMIN || op == RTUNE_ARGMAX; }

/* What RANDOM data can find that EXACT data does not: bounds, and NaN. */
static bool random_applies(const struct rtune_problem *p) {
    if (!is_float(p->dtype) || p->mode == RTUNE_FIXED || op_data[p->op].fold == RTUNE_S_COUNT)
        return false;
    if (rtune_data_is_extreme(p->op)) return true;
    return rtune_dtype_size(rtune_result_dtype(p)) >= 4;
}

enum rtune_status rtune_data_select(const struct rtune_problem *problem, enum rtune_data_set set,
                                    struct rtune_recipe *recipe, struct rtune_error *err) {
    const struct op_data *known = &op_data[problem->op];
    bool random = set == RTUNE_SET_RANDOM;
    if (random && !random_applies(problem))
        return rtune_err_set(err, RTUNE_UNSUPPORTED, "random data for %s of %s: it has none",
                             rtune_op_name(problem->op), rtune_dtype_name(problem->dtype));
    recipe->dtype = problem->dtype;
    recipe->data = random ? known->random : known->exact;
    recipe->fold = known->fold;
    if (recipe->data == RTUNE_S_THIN && !is_float(problem->dtype)) recipe->data = RTUNE_S_EXACT;
    return RTUNE_OK;
}

/* ---- words ----------------------------------------------------------------------------------- */

static struct rtune_support_recipe support_recipe(const struct rtune_recipe *r) {
    return (struct rtune_support_recipe){(rtune_s_u32)r->dtype, r->data, r->fold};
}

/* The generator's types are CUDA's: as wide as those of stdint.h, but not the same. */
static void start(rtune_s_u64 words[8], const struct rtune_data_words *from) {
    for (int k = 0; k < 8; k++)
        words[k] = from->word[k];
}

static void finish(struct rtune_data_words *to, const rtune_s_u64 words[8]) {
    for (int k = 0; k < 8; k++)
        to->word[k] = words[k];
}

uint64_t rtune_data_element(const struct rtune_recipe *recipe, uint64_t seed, uint64_t i) {
    return rtune_data_low(recipe->dtype,
                          rtune_support_element((rtune_s_u32)recipe->dtype, recipe->data, seed, i));
}

void rtune_data_words_init(struct rtune_data_words *words, uint32_t fold) {
    rtune_s_u64 w[8];
    rtune_support_start(w, fold);
    finish(words, w);
}

void rtune_data_words_add(struct rtune_data_words *words, const struct rtune_recipe *recipe,
                          uint64_t seed, uint64_t i, uint64_t i2) {
    rtune_s_u64 w[8];
    uint64_t least = words->word[0], greatest = words->word[1];
    start(w, words);
    rtune_support_count(w, support_recipe(recipe), seed, i, i2);
    if (recipe->fold == RTUNE_S_EXTREMA && w[0] != least) w[2] = i;
    if (recipe->fold == RTUNE_S_EXTREMA && w[1] != greatest) w[3] = i;
    finish(words, w);
}

static int64_t k_at(const struct rtune_recipe *r, uint64_t seed, uint64_t i) {
    return rtune_support_k((rtune_s_u32)r->dtype, r->data, seed, i);
}

uint64_t rtune_data_term_at(const struct rtune_recipe *r, uint64_t seed, uint64_t i) {
    int64_t k = k_at(r, seed, i);
    int64_t k2 = r->fold == RTUNE_S_DOT ? k_at(r, rtune_support_second(seed), i) : 0;
    return rtune_support_term((rtune_s_u32)r->dtype, r->fold, k, k2);
}

bool rtune_data_words_drop(struct rtune_data_words *words, const struct rtune_recipe *recipe,
                           uint64_t seed, uint64_t i) {
    struct rtune_data_words one;
    uint64_t key;
    switch (recipe->fold) {
    case RTUNE_S_EXTREMA: /* nothing changes unless it is an extreme itself */
        key = (uint64_t)k_at(recipe, seed, i) ^ SIGN_BIT;
        return key != words->word[0] && key != words->word[1];
    case RTUNE_S_AND:
    case RTUNE_S_OR: /* nothing changes if it has no bit of its own */
        rtune_data_words_init(&one, recipe->fold);
        key = one.word[0];
        rtune_data_words_add(&one, recipe, seed, i, i);
        return rtune_data_low(recipe->dtype, one.word[0] ^ key) == 0;
    case RTUNE_S_XOR:
        rtune_data_words_add(words, recipe, seed, i, i);
        return true;
    default:
        rtune_data_words_init(&one, recipe->fold);
        rtune_data_words_add(&one, recipe, seed, i, i);
        for (int k = 0; k < 8; k++)
            words->word[k] -= one.word[k];
        return true;
    }
}

/* ---- pokes ----------------------------------------------------------------------------------- */

/* A NaN with a payload and a sign: the result must be the canonical one all the same. */
uint64_t rtune_data_nan(enum rtune_dtype dtype, bool canonical) {
    static const uint64_t quiet[] = {0x7e00, 0x7fc0, 0x7fc00000, UINT64_C(0x7ff8000000000000)};
    uint64_t bits = quiet[dtype - RTUNE_F16];
    uint64_t sign = UINT64_C(1) << (8 * rtune_dtype_size(dtype) - 1);
    return canonical ? bits : bits | sign | 0x23;
}

uint64_t rtune_data_beyond(enum rtune_dtype dtype, bool least) {
    const struct rtune_dtype_info *info = rtune_dtype_info(dtype);
    if (info->is_float) return rtune_support_float((rtune_s_u32)dtype, least ? -2 : 2, 0);
    uint64_t top = UINT64_C(1) << (8 * info->size - 1);
    if (!info->is_signed) return least ? 0 : rtune_data_low(dtype, UINT64_MAX);
    return least ? top : top - 1;
}

static bool is_an_extreme(const struct rtune_problem *p, uint64_t seed,
                          const struct rtune_data_words *words, uint64_t i) {
    const struct rtune_recipe recipe = {p->dtype, RTUNE_S_EXTREME, RTUNE_S_EXTREMA};
    uint64_t key = (uint64_t)k_at(&recipe, seed, i) ^ SIGN_BIT;
    bool least = p->op != RTUNE_MAX && key == words->word[0];
    return least || (p->op != RTUNE_MIN && key == words->word[1]);
}

static void add_poke(struct rtune_poke *poke, uint64_t place, uint64_t bits) {
    poke->place[poke->count] = place;
    poke->bits[poke->count++] = bits;
}

/* Exact: the extreme at place and a tie behind it. With a NaN: the extreme, and the NaN elsewhere.
 */
static void poke_arg(const struct rtune_problem *p, enum rtune_data_set set, uint64_t place,
                     struct rtune_poke *poke) {
    uint64_t best = rtune_data_beyond(p->dtype, p->op == RTUNE_ARGMIN);
    uint64_t nan = set == RTUNE_SET_RANDOM ? rtune_data_nan(p->dtype, false) : 0;
    if (set == RTUNE_SET_EXACT) {
        add_poke(poke, place, best);
        if (p->n - place > 1) add_poke(poke, place + 1 + (p->n - place - 1) / 2, best);
    } else if (p->n == 1) {
        add_poke(poke, 0, nan);
    } else {
        add_poke(poke, place, best);
        add_poke(poke, (place + p->n / 2) % p->n, nan);
    }
}

static void poke_extreme(const struct rtune_problem *p, enum rtune_data_set set, uint64_t seed,
                         const struct rtune_data_words *words, uint64_t place,
                         struct rtune_poke *poke) {
    bool least = p->op == RTUNE_MIN || (p->op == RTUNE_MINMAX && place + 1 == p->n);
    uint64_t bits = set == RTUNE_SET_EXACT ? rtune_data_beyond(p->dtype, least)
                                           : rtune_data_nan(p->dtype, false);
    if (set == RTUNE_SET_EXACT && p->op != RTUNE_MINMAX) {
        add_poke(poke, place, bits);
        return;
    }
    /* The rest must keep its extremes. */
    for (int tries = 0; tries < 5 && is_an_extreme(p, seed, words, place); tries++)
        place = (place + 1) % p->n;
    bool alone = p->n == 1 && set == RTUNE_SET_RANDOM;
    if (alone || !is_an_extreme(p, seed, words, place)) add_poke(poke, place, bits);
}

/* What is poked into EXACT data for ops that are not about an extreme, instead of an element;
 * false: nothing. */
static bool poke_bits(const struct rtune_problem *p, uint64_t element, uint64_t *bits) {
    enum rtune_dtype dtype = p->dtype;
    uint64_t top = UINT64_C(1) << (8 * rtune_dtype_size(dtype) - 1);
    bool thin = is_float(dtype) && (p->op == RTUNE_SUMSQ || p->op == RTUNE_ASUM);
    if (thin)
        *bits = rtune_support_float((rtune_s_u32)dtype, RTUNE_DATA_POKED_K,
                                    rtune_support_shift((rtune_s_u32)dtype, RTUNE_S_THIN));
    else if (p->op == RTUNE_PROD && is_float(dtype))
        *bits = rtune_support_float((rtune_s_u32)dtype, -2, 0);
    else if (p->op == RTUNE_ANY)
        *bits = 1; /* of floats the least subnormal */
    else if (p->op == RTUNE_ALL)
        *bits = is_float(dtype) ? top : 0; /* -0 */
    else if (p->op == RTUNE_BAND)
        *bits = rtune_data_low(dtype, element & ~ODD_BITS);
    else if (p->op == RTUNE_BOR)
        *bits = rtune_data_low(dtype, element | ODD_BITS);
    else
        return false;
    return true;
}

struct rtune_poke rtune_data_poke(const struct rtune_problem *problem, enum rtune_data_set set,
                                  uint64_t seed, const struct rtune_data_words *words,
                                  uint64_t place) {
    struct rtune_poke poke = {.count = 0};
    uint64_t bits = 0;
    struct rtune_recipe recipe = {.dtype = problem->dtype};
    (void)rtune_data_select(problem, set, &recipe, NULL);
    if (rtune_data_is_arg(problem->op))
        poke_arg(problem, set, place, &poke);
    else if (rtune_data_is_extreme(problem->op))
        poke_extreme(problem, set, seed, words, place, &poke);
    else if (set == RTUNE_SET_EXACT &&
             poke_bits(problem, rtune_data_element(&recipe, seed, place), &bits))
        add_poke(&poke, place, bits);
    return poke;
}

bool rtune_data_in_range(const struct rtune_data_view *view, uint32_t k) {
    return k < view->poke.count && view->poke.place[k] >= view->first &&
           view->poke.place[k] - view->first < view->problem.n;
}

static bool is_poked(const struct rtune_poke *poke, uint64_t i) {
    for (uint32_t k = 0; k < poke->count; k++)
        if (poke->place[k] == i) return true;
    return false;
}

struct rtune_data_view rtune_data_head(const struct rtune_data_view *view, uint64_t n,
                                       uint64_t first2) {
    struct rtune_data_view head = *view;
    struct rtune_recipe recipe = {.dtype = view->problem.dtype};
    (void)rtune_data_select(&view->problem, view->set, &recipe, NULL);
    bool replaces = recipe.fold == RTUNE_S_EXTREMA; /* other folds know what a poke took away */
    head.first = 0;
    head.first2 = first2;
    head.problem.n = n;
    rtune_data_words_init(&head.words, recipe.fold);
    for (uint64_t i = 0; i < n; i++)
        if (!replaces || !is_poked(&head.poke, i))
            rtune_data_words_add(&head.words, &recipe, view->seed, i, first2 + i);
    return head;
}

bool rtune_data_poked(const struct rtune_data_view *view) { return rtune_data_in_range(view, 0); }
