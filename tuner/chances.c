/* SPDX-License-Identifier: Apache-2.0 */
/* chances.c: second chances of candidates that did not end in time. */
#include "tuner/chances.h"

/* Index of a config that was late; count if it was not. */
static uint32_t find(const struct rtune_chances *chances, const struct rtune_config *config) {
    uint32_t k = 0;
    while (k < chances->count && !rtune_config_equal(&chances->configs[k], config))
        k++;
    return k;
}

bool rtune_chances_late(struct rtune_chances *chances, const struct rtune_config *config) {
    const uint32_t k = find(chances, config);
    if (k < chances->count) {
        if (chances->states[k] == RTUNE_CHANCE_OPEN) chances->in_vain++;
        chances->states[k] = RTUNE_CHANCE_IN_VAIN;
        return false;
    }
    if (k == RTUNE_CHANCES || chances->in_vain >= RTUNE_CHANCES_IN_VAIN) return false;
    chances->configs[k] = *config;
    chances->states[k] = RTUNE_CHANCE_OPEN;
    chances->count++;
    return true;
}

bool rtune_chances_more_time(const struct rtune_chances *chances,
                             const struct rtune_config *config) {
    const uint32_t k = find(chances, config);
    return k < chances->count && chances->states[k] != RTUNE_CHANCE_IN_VAIN;
}

void rtune_chances_answered(struct rtune_chances *chances, const struct rtune_config *config) {
    const uint32_t k = find(chances, config);
    if (k == chances->count || chances->states[k] != RTUNE_CHANCE_OPEN) return;
    chances->states[k] = RTUNE_CHANCE_USED;
    chances->in_vain = 0;
}
