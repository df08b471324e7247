/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/input.h: what a rig's input holds, and the references over it. Fills only what is missing
 * and computes each reference once.
 */
#ifndef RTUNE_TUNER_INPUT_H
#define RTUNE_TUNER_INPUT_H

#include "tuner/rig.h"

struct rtune_input_entry {
    enum rtune_data data;
    enum rtune_dtype dtype;
    uint64_t n;
    struct rtune_data_words words; /* over [0, n) */
};

struct rtune_input {
    rtune_rig *rig; /* borrowed */
    enum rtune_data data;
    enum rtune_dtype dtype;
    uint64_t filled; /* elements from 0 that hold the generator's values; 0: nothing is known */
    struct rtune_poke poke; /* in the input now */
    struct rtune_input_entry *entries;
    size_t count, capacity;
};

void rtune_input_init(struct rtune_input *input, rtune_rig *rig);
void rtune_input_free(struct rtune_input *input);

/* Elements [0, n) hold the generator's values. */
enum rtune_status rtune_input_fill(struct rtune_input *input, enum rtune_data data,
                                   enum rtune_dtype dtype, uint64_t n, struct rtune_error *err);
/* Words over [0, n). */
enum rtune_status rtune_input_words(struct rtune_input *input, enum rtune_data data,
                                    enum rtune_dtype dtype, uint64_t n,
                                    struct rtune_data_words *words, struct rtune_error *err);
/* Overwrite one element of a filled input; an inactive poke takes the last one back. */
enum rtune_status rtune_input_poke(struct rtune_input *input, const struct rtune_poke *poke,
                                   struct rtune_error *err);

#endif /* RTUNE_TUNER_INPUT_H */
