/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/shelf.h: the kernels of one problem kind that a worker has loaded. */
#ifndef RTUNE_TUNER_SHELF_H
#define RTUNE_TUNER_SHELF_H

#include "runtime/device.h"

struct rtune_shelf_entry {
    struct rtune_config config;
    uint64_t image_at;
    uint32_t image_size;
    rtune_kernel *kernel;
};

struct rtune_shelf {
    rtune_device *dev; /* borrowed */
    int images;        /* borrowed: descriptor of a file of cubins; -1: none */
    struct rtune_problem kind;
    struct rtune_shelf_entry *entries;
    size_t count, capacity;
};

void rtune_shelf_init(struct rtune_shelf *shelf, rtune_device *dev, int images);
void rtune_shelf_free(struct rtune_shelf *shelf);
/* The kernel of a config, loaded on first use from image_size bytes at image_at of the images; 0
 * bytes: the built-in one. It belongs to the shelf and lives until another kind of problem is asked
 * for. */
enum rtune_status rtune_shelf_get(struct rtune_shelf *shelf, const struct rtune_problem *problem,
                                  const struct rtune_config *config, uint64_t image_at,
                                  uint32_t image_size, const rtune_kernel **kernel,
                                  struct rtune_error *err);

#endif /* RTUNE_TUNER_SHELF_H */
