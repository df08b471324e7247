/* SPDX-License-Identifier: Apache-2.0 */
/* input.c: fills by what is missing, a short table of references, one poke at a time. */
#include "tuner/input.h"

#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 65536 };

void rtune_input_init(struct rtune_input *input, rtune_rig *rig) {
    memset(input, 0, sizeof(*input));
    input->rig = rig;
}

void rtune_input_free(struct rtune_input *input) {
    free(input->entries);
    input->entries = NULL;
    input->count = input->capacity = 0;
}

static bool same_data(const struct rtune_recipe *a, const struct rtune_recipe *b) {
    return a->data == b->data && a->dtype == b->dtype;
}

/* Write the low bytes of bits into element i. */
static enum rtune_status put(struct rtune_input *input, uint64_t i, uint64_t bits,
                             struct rtune_error *err) {
    rtune_device *dev = input->rig->dev;
    size_t size = rtune_dtype_size(input->recipe.dtype);
    enum rtune_status status = rtune_rig_wait(input->rig, err);
    if (status != RTUNE_OK) return status;
    return dev->ops->mem_put(dev, input->rig->input + i * size, &bits, size, err);
}

enum rtune_status rtune_input_poke(struct rtune_input *input, const struct rtune_poke *poke,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    for (; input->poke.count > 0; input->poke.count--) {
        uint64_t i = input->poke.place[input->poke.count - 1];
        TRY(put(input, i, rtune_data_element(&input->recipe, input->rig->seed, i), err));
    }
    for (uint32_t k = 0; k < poke->count; k++)
        TRY(put(input, poke->place[k], poke->bits[k], err));
    input->poke = *poke;
done:
    if (status != RTUNE_OK) input->filled[0] = 0;
    return status;
}

static enum rtune_status fill_one(struct rtune_input *input, bool second, uint64_t n,
                                  struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t *filled = &input->filled[second];
    rtune_rig *rig = input->rig;
    if (n <= *filled) return RTUNE_OK;
    status = rig->ops->fill(rig, &input->recipe, second, *filled, n - *filled, err);
    *filled = status == RTUNE_OK ? n : 0;
    return status;
}

enum rtune_status rtune_input_fill(struct rtune_input *input, const struct rtune_recipe *recipe,
                                   bool pair, uint64_t n, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    const struct rtune_poke none = {.count = 0};
    uint64_t size = rtune_dtype_size(recipe->dtype);
    uint64_t half = rtune_rig_pair_room(input->rig);
    uint64_t room = pair ? half : input->rig->input_bytes - RTUNE_RIG_SLACK;
    if (n > room / size)
        return rtune_err_set(err, RTUNE_INVALID, "input: %llu elements do not fit",
                             (unsigned long long)n);
    if (!same_data(&input->recipe, recipe) || input->filled[0] == 0) {
        input->filled[0] = input->filled[1] = 0;
        input->poke.count = 0;
    }
    TRY(rtune_input_poke(input, &none, err));
    input->recipe = *recipe;
    /* One input is all of the memory, two are its halves. */
    if (pair && input->filled[0] > half / size) input->filled[0] = half / size;
    if (!pair && n > half / size) input->filled[1] = 0;
    TRY(fill_one(input, false, n, err));
    if (pair) TRY(fill_one(input, true, n, err));
done:
    return status;
}

/* The entry for n, or the longest below it; NULL if none. */
static const struct rtune_input_entry *nearest(const struct rtune_input *input,
                                               const struct rtune_recipe *recipe, uint64_t n) {
    const struct rtune_input_entry *best = NULL;
    for (size_t k = 0; k < input->count; k++) {
        const struct rtune_input_entry *e = &input->entries[k];
        if (same_data(&e->recipe, recipe) && e->recipe.fold == recipe->fold && e->n <= n &&
            (best == NULL || e->n > best->n))
            best = e;
    }
    return best;
}

static enum rtune_status keep(struct rtune_input *input, const struct rtune_input_entry *entry,
                              struct rtune_error *err) {
    if (input->count == ENTRIES_MAX) input->count = 0;
    if (input->count == input->capacity) {
        size_t capacity = input->capacity == 0 ? 64 : 2 * input->capacity;
        struct rtune_input_entry *grown = realloc(input->entries, capacity * sizeof(*grown));
        if (grown == NULL) return rtune_err_set(err, RTUNE_NO_MEMORY, "references: out of memory");
        input->entries = grown;
        input->capacity = capacity;
    }
    input->entries[input->count++] = *entry;
    return RTUNE_OK;
}

enum rtune_status rtune_input_words(struct rtune_input *input, const struct rtune_recipe *recipe,
                                    uint64_t n, struct rtune_data_words *words,
                                    struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_input_entry made = {.recipe = *recipe, .n = n};
    const struct rtune_input_entry *known = nearest(input, recipe, n);
    uint64_t first = 0;
    rtune_data_words_init(&made.words, recipe->fold);
    if (known != NULL) {
        made.words = known->words;
        first = known->n;
    }
    if (first < n) {
        TRY(input->rig->ops->reference(input->rig, recipe, first, n - first, &made.words, err));
        TRY(keep(input, &made, err));
    }
    *words = made.words;
done:
    return status;
}
