/* SPDX-License-Identifier: Apache-2.0 */
/* stats.c: order statistics on a sorted copy. */
#include "tuner/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* How many of the smallest (and of the largest) samples lie outside the interval: the largest r
 * with P(Binomial(n, 1/2) < r) <= 2.5 %. */
static size_t outside(size_t n) {
    if (n > 500) {
        double r = floor(0.5 * (double)n - 0.98 * sqrt((double)n) - 0.5);
        return r > 0 ? (size_t)r : 0;
    }
    double p = ldexp(1.0, -(int)n), sum = p; /* P(B = 0) */
    size_t r = 0;
    while (sum <= 0.025 && r + 1 < n) {
        r++;
        p = p * (double)(n - r + 1) / (double)r;
        sum += p;
    }
    return r;
}

static struct rtune_summary summarize(double *sorted, size_t n) {
    struct rtune_summary s = {0, 0, 0, n};
    if (n == 0) return s;
    qsort(sorted, n, sizeof(*sorted), compare);
    size_t r = outside(n);
    /* The interval from the r-th to the (n + 1 - r)-th order statistic misses the median when fewer
     * than r samples lie on one side of it. */
    s.lo = sorted[r > 0 ? r - 1 : 0];
    s.hi = sorted[n - (r > 0 ? r : 1)];
    s.median = n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
    return s;
}

static size_t bounded(size_t count) { return count < RTUNE_STATS_MAX ? count : RTUNE_STATS_MAX; }

struct rtune_summary rtune_stats_summary(const double *samples, size_t count) {
    double sorted[RTUNE_STATS_MAX];
    count = bounded(count);
    if (count > 0) memcpy(sorted, samples, count * sizeof(*sorted));
    return summarize(sorted, count);
}

struct rtune_summary rtune_stats_paired(const double *a, const double *b, size_t count) {
    double sorted[RTUNE_STATS_MAX];
    count = bounded(count);
    for (size_t j = 0; j < count; j++)
        sorted[j] = a[j] - b[j];
    return summarize(sorted, count);
}

double rtune_stats_quantile(const double *samples, size_t count, double q) {
    double sorted[RTUNE_STATS_MAX];
    count = bounded(count);
    if (count == 0) return 0;
    memcpy(sorted, samples, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), compare);
    double rank = ceil(q * (double)count);
    size_t k = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[k < count ? k : count - 1];
}
