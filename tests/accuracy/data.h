/* SPDX-License-Identifier: Apache-2.0 */
/* data.h: inputs that are easy or hard to sum. */
#ifndef RTUNE_TESTS_ACCURACY_DATA_H
#define RTUNE_TESTS_ACCURACY_DATA_H

#include "rtune/rtune.h"

enum accuracy_data {
    ACCURACY_UNIFORM, /* in [0, 1) */
    ACCURACY_NORMAL,  /* of mean 0 */
    ACCURACY_1E4,     /* terms that cancel but for 10^-4 of their magnitudes; 10^-8; 10^-12 */
    ACCURACY_1E8,
    ACCURACY_1E12,
    ACCURACY_DATA_COUNT
};
const char *accuracy_data_name(enum accuracy_data data);

/* n elements x, and y for dot. The terms of sum and dot cancel, whose magnitudes spread over 2^8.
 */
void accuracy_fill(enum accuracy_data data, enum rtune_dtype dtype, uint64_t n, void *x, void *y);

#endif
