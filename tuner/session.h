/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/session.h: the state of one tuning session, shared by session.c, steps.c and report.c. */
#ifndef RTUNE_TUNER_SESSION_H
#define RTUNE_TUNER_SESSION_H

#include "tuner/agenda.h"
#include "tuner/check.h"
#include "tuner/effort.h"
#include "tuner/forge.h"
#include "tuner/menu.h"
#include "tuner/space.h"
#include "tuner/tuner.h"

struct rtune_tuning {
    const struct rtune_tune_options *options;
    rtune_tune_event_fn event;
    void *user;
    uint64_t start_ns;

    struct rtune_store_path store;
    char key[RTUNE_IDENTITY_KEY];
    rtune_space *space;
    rtune_forge *forge;
    rtune_work *work;
    struct rtune_meter *meter; /* what is measured with; records once the work is open */
    struct rtune_session row;
    bool resumed; /* trials of an unfinished session answer first */
    struct rtune_agenda agenda;

    size_t done;        /* steps */
    double spent_s;     /* by finished steps */
    double estimated_s; /* what they had been estimated at */
    double left_s;      /* estimate of the steps that are left */
    double read_gbs;    /* best read bandwidth that a cold winner had */
    double least_us;    /* of the shortest cold winner; 0: none yet */
    size_t failures[RTUNE_REASON_COUNT];
    bool told_clock, told_foreign; /* warned once */
    size_t left_out;               /* sizes that the budget had no time for */
    size_t undecided;              /* sizes at which every candidate failed */
    char first_undecided[160];     /* the first of them */
};

/* ---- report.c: events ------------------------------------------------------------------------ */

double rtune_tuning_elapsed(const struct rtune_tuning *t);
/* Fill the common fields and send. */
void rtune_tuning_tell(struct rtune_tuning *t, struct rtune_tune_event *event);
void rtune_tuning_warn(struct rtune_tuning *t, const char *fmt, ...) RTUNE_PRINTF(2, 3);
/* rtune_on_trial and rtune_forge_progress; user is the tuning. */
void rtune_tuning_on_trial(void *user, const struct rtune_trial *trial);
void rtune_tuning_on_compiled(void *user, size_t done, size_t total);

/* ---- steps_estimate.c: times ----------------------------------------------------------------- */

/* What one sample of a kind costs at n elements. */
struct rtune_cost rtune_step_cost(const struct rtune_tuning *t, const struct rtune_kind *kind,
                                  uint64_t n);
struct rtune_menu_source rtune_step_menus(const struct rtune_tuning *t);
/* Estimated seconds of one step (size index of a kind) at most. */
double rtune_step_estimate(const struct rtune_tuning *t, const struct rtune_kind *kind,
                           size_t index);
/* Seconds that a step may take: its part of what is left of the budget. */
double rtune_step_allowance(const struct rtune_tuning *t, const struct rtune_kind *kind,
                            size_t index);
/* Would a step run past the end of the budget by more than a little? Then it is left out, aloud. */
bool rtune_step_leave_out(struct rtune_tuning *t, const struct rtune_kind *kind, size_t index);
/* Is there time to measure break-points, beside the steps that are left? */
bool rtune_step_on_schedule(const struct rtune_tuning *t);

/* ---- steps_ahead.c: compiling what is to come -------------------------------------------------
 */

/* Queue what kind now needs, and kinds after it of which all is decided that they begin with, as
 * far as that is known; enough of them to keep the forge busy. */
enum rtune_status rtune_step_ahead(struct rtune_tuning *t, size_t now, struct rtune_error *err);
/* Queue what a size (index of a kind) will need, if the size before is decided as expected. */
enum rtune_status rtune_step_ahead_next(struct rtune_tuning *t, const struct rtune_kind *kind,
                                        size_t index, struct rtune_error *err);
/* Number of instances that would be queued for a kind. */
size_t rtune_step_instances(const struct rtune_tuning *t, const struct rtune_kind *kind);

/* ---- steps.c: measuring ---------------------------------------------------------------------- */

/* The candidates of one size, as many as there is time for; the caller frees menu->configs. */
enum rtune_status rtune_step_menu(const struct rtune_tuning *t, const struct rtune_kind *kind,
                                  size_t index, struct rtune_share *share, struct rtune_menu *menu,
                                  struct rtune_error *err);
/* Decide one size. One that clearly takes longer than the budget lasts is left out aloud. A size at
 * which every candidate fails stays undecided, and is counted. TIMEOUT: the budget is used up. */
enum rtune_status rtune_step_run(struct rtune_tuning *t, struct rtune_kind *kind, size_t index,
                                 struct rtune_error *err);
/* Place the break-points between decided sizes (measured unless quick or pressed for time) and
 * store the kind's winners. measure false: geometric means. */
enum rtune_status rtune_step_store(struct rtune_tuning *t, struct rtune_kind *kind, bool measure,
                                   struct rtune_error *err);
/* At the end, when the best bandwidth is known: store all winners again, with their floors. */
enum rtune_status rtune_step_floors(struct rtune_tuning *t, struct rtune_error *err);

#endif /* RTUNE_TUNER_SESSION_H */
