/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/chances.h: second chances of candidates that did not end in time. A machine that is busy,
 * or was suspended, looks from outside like a kernel that hangs; a kernel that hangs now and then
 * must not win by being asked often. So each config, whatever the problem, may be late once in a
 * session, and no other may once two in a row were late again.
 */
#ifndef RTUNE_TUNER_CHANCES_H
#define RTUNE_TUNER_CHANCES_H

#include "kernels/kernels.h"

enum {
    RTUNE_CHANCES = 16,       /* configs of a session that get one */
    RTUNE_CHANCES_IN_VAIN = 2 /* in a row: then there are no more */
};

/* Of a config that was late. */
enum rtune_chance {
    RTUNE_CHANCE_OPEN,   /* it has not answered since */
    RTUNE_CHANCE_USED,   /* it has: the machine was to blame */
    RTUNE_CHANCE_IN_VAIN /* it was late again */
};

/* Zero: none was late yet. */
struct rtune_chances {
    struct rtune_config configs[RTUNE_CHANCES];
    enum rtune_chance states[RTUNE_CHANCES];
    uint32_t count;
    uint32_t in_vain; /* in a row */
};

/* A config did not end in time: true if it is to be asked again. */
bool rtune_chances_late(struct rtune_chances *chances, const struct rtune_config *config);
/* Was it late once, and once only? Then it has more time. */
bool rtune_chances_more_time(const struct rtune_chances *chances,
                             const struct rtune_config *config);
/* It answered in time. */
void rtune_chances_answered(struct rtune_chances *chances, const struct rtune_config *config);

#endif /* RTUNE_TUNER_CHANCES_H */
