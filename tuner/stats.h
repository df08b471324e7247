/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/stats.h: medians and their distribution-free intervals. Nothing assumes a shape of the
 * noise. */
#ifndef RTUNE_TUNER_STATS_H
#define RTUNE_TUNER_STATS_H

#include <stddef.h>

enum { RTUNE_STATS_MAX = 4096 }; /* samples at most; more are ignored */

struct rtune_summary {
    double median;
    double lo,
        hi; /* interval of the median, at least 95 % where count >= 6, else the whole range */
    size_t count;
};

/* Summary of samples; all 0 for count 0. The interval is between two order statistics whose ranks
 * follow from the binomial distribution (David and Nagaraja, Order Statistics, 3rd ed.,
 * section 7.1). */
struct rtune_summary rtune_stats_summary(const double *samples, size_t count);

/* Summary of a[j] - b[j]: of one round each, so that what disturbed both cancels. */
struct rtune_summary rtune_stats_paired(const double *a, const double *b, size_t count);

/* The q-quantile (0 ... 1) by nearest rank; 0 for count 0. */
double rtune_stats_quantile(const double *samples, size_t count, double q);

#endif /* RTUNE_TUNER_STATS_H */
