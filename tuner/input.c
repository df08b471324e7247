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

/* Write the low bytes of bits into element i. */
static enum rtune_status put(struct rtune_input *input, uint64_t i, uint64_t bits,
                             struct rtune_error *err) {
    rtune_device *dev = input->rig->dev;
    size_t size = rtune_dtype_size(input->dtype);
    uint32_t low = (uint32_t)bits;
    const void *src = size == 4 ? (const void *)&low : (const void *)&bits;
    enum rtune_status status = rtune_rig_wait(input->rig, err);
    if (status != RTUNE_OK) return status;
    return dev->ops->mem_put(dev, input->rig->input + i * size, src, size, err);
}

enum rtune_status rtune_input_poke(struct rtune_input *input, const struct rtune_poke *poke,
                                   struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (input->poke.active) {
        uint64_t i = input->poke.place;
        TRY(put(input, i, rtune_data_element(input->data, input->dtype, input->rig->seed, i), err));
        input->poke.active = false;
    }
    if (!poke->active) goto done;
    TRY(put(input, poke->place, poke->bits, err));
    input->poke = *poke;
done:
    if (status != RTUNE_OK) input->filled = 0;
    return status;
}

enum rtune_status rtune_input_fill(struct rtune_input *input, enum rtune_data data,
                                   enum rtune_dtype dtype, uint64_t n, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    uint64_t room = input->rig->input_bytes - RTUNE_RIG_SLACK;
    if (n > room / rtune_dtype_size(dtype))
        return rtune_err_set(err, RTUNE_INVALID, "input: %llu elements do not fit",
                             (unsigned long long)n);
    if (input->data != data || input->dtype != dtype || input->filled == 0) {
        input->data = data;
        input->dtype = dtype;
        input->filled = 0;
        input->poke.active = false;
    }
    if (n <= input->filled) goto done;
    TRY(input->rig->ops->fill(input->rig, data, dtype, input->filled, n - input->filled, err));
    input->filled = n;
done:
    if (status != RTUNE_OK) input->filled = 0;
    return status;
}

/* The entry for n, or the longest below it; NULL if none. */
static const struct rtune_input_entry *
nearest(const struct rtune_input *input, enum rtune_data data, enum rtune_dtype dtype, uint64_t n) {
    const struct rtune_input_entry *best = NULL;
    for (size_t k = 0; k < input->count; k++) {
        const struct rtune_input_entry *e = &input->entries[k];
        if (e->data == data && e->dtype == dtype && e->n <= n && (best == NULL || e->n > best->n))
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

enum rtune_status rtune_input_words(struct rtune_input *input, enum rtune_data data,
                                    enum rtune_dtype dtype, uint64_t n,
                                    struct rtune_data_words *words, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_input_entry made = {.data = data, .dtype = dtype, .n = n};
    const struct rtune_input_entry *known = nearest(input, data, dtype, n);
    uint64_t first = 0;
    rtune_data_words_init(&made.words, data);
    if (known != NULL) {
        made.words = known->words;
        first = known->n;
    }
    if (first < n) {
        TRY(input->rig->ops->reference(input->rig, data, dtype, first, n - first, &made.words,
                                       err));
        TRY(keep(input, &made, err));
    }
    *words = made.words;
done:
    return status;
}
