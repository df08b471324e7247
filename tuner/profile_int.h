/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/profile_int.h: shared by profile*.c alone: the keys of a profile, and its rows while it is
 * read. */
#ifndef RTUNE_TUNER_PROFILE_INT_H
#define RTUNE_TUNER_PROFILE_INT_H

#include "tuner/profile.h"
#include "tuner/yaml.h"

enum {
    RTUNE_PROFILE_VERSION = 1,
    RTUNE_PROFILE_DEVICES = 64,    /* of one profile */
    RTUNE_PROFILE_PROBLEMS = 4096, /* of one device */
    RTUNE_PROFILE_CONFIGS = 4096   /* labels of one device */
};
#define RTUNE_PROFILE_US_MAX RTUNE_DB_US_MAX

/* A winner with the place that it was read from. */
struct rtune_profile_row {
    struct rtune_winner winner;
    const struct rtune_yaml_node *node;
};

/* Rows of a profile, growing. The caller frees rows with free(). */
struct rtune_profile_rows {
    const struct rtune_yaml_node *configs; /* the device's list of labels and configs, or NULL */
    struct rtune_profile_row *rows;
    size_t count;
    size_t capacity;
};

/* Check the list of labels and configs of a device: pairs of texts, labels distinct. */
enum rtune_status rtune_profile_check_configs(const struct rtune_yaml_node *list,
                                              struct rtune_error *err);

/* Read one entry of "problems": every row of it is appended. device gives the kind of device and
 * device_index is what the rows get. *kind gets the problem, canonical, with n = 0. */
enum rtune_status rtune_profile_read_problem(const struct rtune_yaml_node *node,
                                             const struct rtune_identity *device,
                                             uint32_t device_index, struct rtune_profile_rows *rows,
                                             struct rtune_problem *kind, struct rtune_error *err);

/* Sort rows by device and problem; two with the same n or overlapping intervals fail, naming both.
 */
enum rtune_status rtune_profile_sort(struct rtune_profile_rows *rows, struct rtune_error *err);

#endif /* RTUNE_TUNER_PROFILE_INT_H */
