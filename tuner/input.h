/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/input.h: what a rig's inputs hold, and the references over them. Fills only what is missing
 * and computes each reference once.
 */
#ifndef RTUNE_TUNER_INPUT_H
#define RTUNE_TUNER_INPUT_H

#include "tuner/rig.h"

struct rtune_input_entry {
    struct rtune_recipe recipe;
    uint64_t n;
    struct rtune_data_words words; /* over [0, n) */
};

struct rtune_input {
    rtune_rig *rig;             /* borrowed */
    struct rtune_recipe recipe; /* of what is filled; its fold means nothing */
    /* Elements of each input from 0 that hold the generator's values; 0: nothing is known. */
    uint64_t filled[2];
    struct rtune_poke poke; /* in the first input now */
    struct rtune_input_entry *entries;
    size_t count, capacity;
};

void rtune_input_init(struct rtune_input *input, rtune_rig *rig);
void rtune_input_free(struct rtune_input *input);

/* Elements [0, n), of both inputs if the recipe is that of a pair, hold the generator's values. */
enum rtune_status rtune_input_fill(struct rtune_input *input, const struct rtune_recipe *recipe,
                                   bool pair, uint64_t n, struct rtune_error *err);
/* Words over [0, n). */
enum rtune_status rtune_input_words(struct rtune_input *input, const struct rtune_recipe *recipe,
                                    uint64_t n, struct rtune_data_words *words,
                                    struct rtune_error *err);
/* Overwrite elements of the filled first input, after the last poke was taken back; an empty one
 * only does that. */
enum rtune_status rtune_input_poke(struct rtune_input *input, const struct rtune_poke *poke,
                                   struct rtune_error *err);

#endif /* RTUNE_TUNER_INPUT_H */
