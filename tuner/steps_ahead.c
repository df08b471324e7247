/* SPDX-License-Identifier: Apache-2.0 */
/* steps_ahead.c: what the steps to come will need is compiled while others are measured. */
#include "tuner/session.h"

#include <stdlib.h>
#include <string.h>

enum { ENOUGH = 256 /* instances in the queue: no more kinds are looked at */ };

/* The menus of all sizes, as far as they are known before the first is measured; freed by the
 * caller. A reference's are whole: which part of one is measured is decided as the sizes are. */
static enum rtune_status gather(const struct rtune_tuning *t, const struct rtune_kind *kind,
                                struct rtune_config **configs, size_t *count,
                                struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_menu_source source = rtune_step_menus(t);
    struct rtune_menu menu = {.configs = NULL};
    struct rtune_share share;
    struct rtune_config *all = NULL;
    size_t total = 0;
    for (size_t i = 0; i < kind->size_count; i++) {
        if (kind->role == RTUNE_ROLE_REFERENCE)
            TRY(rtune_menu_make(&source, kind, i, false, &menu, err));
        else
            TRY(rtune_step_menu(t, kind, i, &share, &menu, err));
        struct rtune_config *grown = realloc(all, (total + menu.count) * sizeof(*grown));
        if (grown == NULL) TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "search: out of memory"));
        all = grown;
        memcpy(all + total, menu.configs, menu.count * sizeof(*all));
        total += menu.count;
        free(menu.configs);
        menu.configs = NULL;
    }
    *configs = all;
    *count = total;
    all = NULL;
done:
    free(menu.configs);
    free(all);
    return status;
}

size_t rtune_step_instances(const struct rtune_tuning *t, const struct rtune_kind *kind) {
    struct rtune_config *configs = NULL;
    size_t count = 0, found = 0;
    if (!t->meter->info.cuda || gather(t, kind, &configs, &count, NULL) != RTUNE_OK) return 0;
    found = rtune_forge_count(t->forge, &kind->problem, configs, count);
    free(configs);
    return found;
}

static enum rtune_status queue(struct rtune_tuning *t, struct rtune_kind *kind, bool soon,
                               struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_config *configs = NULL;
    size_t count = 0;
    TRY(gather(t, kind, &configs, &count, err));
    TRY(rtune_forge_ahead(t->forge, &kind->problem, configs, count, soon, err));
    kind->queued = true;
done:
    free(configs);
    return status;
}

/* Is all that kind k begins with decided, when kind now is about to be measured? */
static bool is_known(const struct rtune_agenda *agenda, size_t k, size_t now) {
    const struct rtune_kind *kind = &agenda->kinds[k];
    return (kind->reference == k || kind->reference < now) &&
           (kind->lead == k || kind->lead < now) && (kind->twin == k || kind->twin < now);
}

enum rtune_status rtune_step_ahead(struct rtune_tuning *t, size_t now, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    if (!t->meter->info.cuda) return RTUNE_OK;
    for (size_t k = now; k < t->agenda.count; k++) {
        struct rtune_kind *kind = &t->agenda.kinds[k];
        if (kind->queued || !is_known(&t->agenda, k, now)) continue;
        if (k > now && rtune_forge_queued(t->forge) >= ENOUGH) break;
        TRY(queue(t, kind, k == now, err));
    }
done:
    return status;
}

enum rtune_status rtune_step_ahead_next(struct rtune_tuning *t, const struct rtune_kind *kind,
                                        size_t index, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_menu menu = {.configs = NULL};
    struct rtune_share share;
    bool whole = kind->role == RTUNE_ROLE_REFERENCE; /* is queued already */
    if (!t->meter->info.cuda || whole || index >= kind->size_count) return RTUNE_OK;
    TRY(rtune_step_menu(t, kind, index, &share, &menu, err));
    TRY(rtune_forge_ahead(t->forge, &kind->problem, menu.configs, menu.count, true, err));
done:
    free(menu.configs);
    return status;
}
