/* SPDX-License-Identifier: Apache-2.0 */
/* steps_estimate.c: what steps will take, and what there is time for. */
#include "tuner/session.h"

#include <math.h>
#include <stdlib.h>

enum { SEEDED_COUNT = 24, FOLLOWER_COUNT = 6 /* candidates, for estimates */ };
/* What making an element on a cpu and adding it up exactly takes at least, for all inputs that a
 * verification uses. */
static const double verified_s_cpu = 60e-9;

/* Read bandwidth as far as it is known: measured, else from the bus and its clock. */
static double bandwidth_gbs(const struct rtune_tuning *t) {
    const struct rtune_meter_info *info = &t->meter->info;
    const struct rtune_identity *id = &info->identity;
    double measured = fmax(t->read_gbs, info->read_gbs);
    if (measured > 0) return measured;
    double bus = 2.0 * id->memory_mhz * 1e6 * id->bus_bits / 8 / 1e9;
    return bus > 0 ? bus : 10;
}

/* A guess of what a launch takes at least, for plans and deadlines. */
static double guess_us(const struct rtune_tuning *t, const struct rtune_kind *kind, uint64_t n) {
    return t->meter->info.floor_us + rtune_kind_bytes(kind, n) / bandwidth_gbs(t) / 1000;
}

struct rtune_cost rtune_step_cost(const struct rtune_tuning *t, const struct rtune_kind *kind,
                                  uint64_t n) {
    const struct rtune_meter_info *info = &t->meter->info;
    struct rtune_problem problem = kind->problem;
    problem.n = n;
    struct rtune_cost cost = {info->overhead_us, guess_us(t, kind, n),
                              rtune_check_is_large(&problem)};
    if (cost.overhead_us <= 0) cost.overhead_us = info->cuda ? 160 : 2;
    /* A cpu's input is flushed from the caches line by line, at about 2 GB/s (rig_cpu.c). */
    double flushed = fmax(64 << 20, 2.0 * (double)info->identity.l3_bytes);
    if (!info->cuda && rtune_kind_bytes(kind, n) <= flushed)
        cost.overhead_us += rtune_kind_bytes(kind, n) / 2e3;
    return cost;
}

struct rtune_menu_source rtune_step_menus(const struct rtune_tuning *t) {
    return (struct rtune_menu_source){t->space, t->meter, t->forge, &t->agenda, t->options->effort};
}

double rtune_step_estimate(const struct rtune_tuning *t, const struct rtune_kind *kind,
                           size_t index) {
    struct rtune_cost cost = rtune_step_cost(t, kind, kind->sizes[index]);
    double cap = rtune_effort_cap(t->options->effort, kind->role);
    struct rtune_menu_source source = rtune_step_menus(t);
    struct rtune_menu menu;
    size_t count = kind->role == RTUNE_ROLE_FOLLOWER ? FOLLOWER_COUNT : SEEDED_COUNT;
    if (kind->role == RTUNE_ROLE_REFERENCE &&
        rtune_menu_make(&source, kind, index, false, &menu, NULL) == RTUNE_OK) {
        count = menu.count;
        free(menu.configs);
    }
    struct rtune_share share = rtune_effort_share(t->options->effort, count, &cost, cap);
    return rtune_effort_seconds(&share, &cost);
}

/* What a step takes at the very least: its cheapest share, and on a cpu its inputs. */
static double least_s(const struct rtune_tuning *t, const struct rtune_kind *kind, size_t index) {
    struct rtune_cost cost = rtune_step_cost(t, kind, kind->sizes[index]);
    struct rtune_share share = rtune_effort_share(t->options->effort, 1, &cost, 0);
    double inputs = t->meter->info.cuda ? 0 : (double)kind->sizes[index] * verified_s_cpu;
    return rtune_effort_seconds(&share, &cost) + inputs;
}

/* A step that would run past the end of the budget by more than a little is left out. */
bool rtune_step_leave_out(struct rtune_tuning *t, const struct rtune_kind *kind, size_t index) {
    double budget = t->options->budget_s, least = least_s(t, kind, index);
    struct rtune_problem problem = kind->problem;
    char text[160];
    bool recorded = t->meter->ops->configs != NULL; /* answers at once */
    double left = budget - rtune_tuning_elapsed(t) + fmax(1, 0.05 * budget);
    if (budget <= 0 || recorded || least <= left) return false;
    problem.n = kind->sizes[index];
    rtune_problem_print(&problem, text, sizeof(text));
    rtune_tuning_warn(t, "%s: left out: it needs about %.0f s, more than is left of the budget",
                      text, least);
    t->left_out++;
    t->left_s -= kind->decisions[index].estimate_s;
    return true;
}

/* Seconds that a step may take: its part of what is left of the budget. */
double rtune_step_allowance(const struct rtune_tuning *t, const struct rtune_kind *kind,
                            size_t index) {
    double cap = rtune_effort_cap(t->options->effort, kind->role);
    if (t->options->budget_s <= 0) return cap;
    double left = 0.97 * (t->options->budget_s - rtune_tuning_elapsed(t));
    double part = kind->decisions[index].estimate_s / fmax(t->left_s, 1e-9);
    return fmin(cap, fmax(left, 0) * fmin(part, 1));
}

/* Is there time to measure break-points, beside the steps that are left? */
bool rtune_step_on_schedule(const struct rtune_tuning *t) {
    if (t->options->budget_s <= 0) return true;
    double rate = t->estimated_s > 0 ? t->spent_s / t->estimated_s : 1;
    return t->options->budget_s - rtune_tuning_elapsed(t) > 1.05 * rate * t->left_s + 0.5;
}
