/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/space_int.h: shared by space*.c alone: a space as it is kept after reading. */
#ifndef RTUNE_TUNER_SPACE_INT_H
#define RTUNE_TUNER_SPACE_INT_H

#include "tuner/space.h"

enum {
    RTUNE_SPACE_VERSION = 1,
    RTUNE_SPACE_VALUES = 64,      /* of one axis */
    RTUNE_SPACE_FLIGHTS = 16,     /* entries of in_flight */
    RTUNE_SPACE_CONFIGS = 1 << 19 /* of one section, before constraints */
};

enum rtune_space_axis {
    RTUNE_SPACE_BLOCK,
    RTUNE_SPACE_VECTORS,
    RTUNE_SPACE_GRID,
    RTUNE_SPACE_LOAD,
    RTUNE_SPACE_FINISH,
    RTUNE_SPACE_MAP,
    RTUNE_SPACE_OCCUPANCY,
    RTUNE_SPACE_VARIANT,
    RTUNE_SPACE_EXTRA,
    RTUNE_SPACE_AXES
};

union rtune_space_value {
    uint32_t number; /* or the value of an enum */
    struct rtune_grid grid;
};

struct rtune_space_values {
    union rtune_space_value value[RTUNE_SPACE_VALUES];
    size_t count;
};

/* Bytes in flight per multiprocessor, for inputs of from bytes and more. */
struct rtune_space_flight {
    uint64_t from, min, max;
};

/* What is not worth measuring; 0 and false do not constrain. */
struct rtune_space_limits {
    uint64_t threads_per_sm;
    uint64_t registers_per_sm, register_base, register_per_vector;
    uint64_t shared_per_sm; /* bytes, for the pipelines of bulk copies */
    uint64_t waves;
    uint64_t bytes_per_block;
    bool idle_blocks; /* allowed */
    bool one_block_finish;
    bool warm_plain; /* no load but plain ones of an input that is in the cache */
    struct rtune_space_flight flight[RTUNE_SPACE_FLIGHTS]; /* ascending in from */
    size_t flights;
};

struct rtune_space_section {
    bool present;
    struct rtune_space_values axes[RTUNE_SPACE_AXES];
    struct rtune_space_limits limits;
};

struct rtune_space {
    struct rtune_space_section cuda, cpu;
    char name[256];
    char *text;
};

#endif /* RTUNE_TUNER_SPACE_INT_H */
