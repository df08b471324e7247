/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/menu.h: the candidates for one kind at one size, before anything is compiled: all of the
 * space for a reference; for the lead of a class what was good for the reference at as many bytes,
 * and configs beside that; for its followers what was good for the lead; and the neighbouring
 * size's best.
 */
#ifndef RTUNE_TUNER_MENU_H
#define RTUNE_TUNER_MENU_H

#include "tuner/agenda.h"
#include "tuner/forge.h"
#include "tuner/space.h"

struct rtune_menu_source {
    const rtune_space *space;
    struct rtune_meter *meter;
    const rtune_forge *forge;
    const struct rtune_agenda *agenda;
    enum rtune_effort effort;
};

struct rtune_menu {
    struct rtune_config *configs; /* the default first; distinct */
    size_t count;
    long favourite; /* index of the config that wins ties, or RTUNE_NO_FAVOURITE */
};

/* big: a launch takes so long that only what was good at the size before is tried again. The caller
 * frees menu->configs. */
enum rtune_status rtune_menu_make(const struct rtune_menu_source *source,
                                  const struct rtune_kind *kind, size_t index, bool big,
                                  struct rtune_menu *menu, struct rtune_error *err);
/* Keep at most count of them: the default, the favourite, what was best at the size before, then
 * evenly. */
void rtune_menu_limit(struct rtune_menu *menu, const struct rtune_kind *kind, size_t count);

#endif /* RTUNE_TUNER_MENU_H */
