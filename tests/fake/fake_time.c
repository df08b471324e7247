/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_time.c: how long a launch takes on a GPU that does not exist, as a function of
 * what is launched, what L2 holds and a seeded noise. Shaped like the measurements of a large GPU:
 * a fixed cost, a finish, latency of each trip, bandwidth that enough bytes in flight must fill,
 * dirty lines that are written back.
 */
#include "tests/fake/fake_int.h"

#include "base/rng.h"

#include <string.h>

static const double launch_us = 2.0, trip_us = 0.55, block_us = 0.0004;
static const double memory_bytes_per_us = 4.7e6, l2_bytes_per_us = 9e6,
                    writeback_bytes_per_us = 2e7;
static const double in_flight_bytes =
    40960; /* per multiprocessor, to fill the memory's bandwidth */
static const double spin_us_per_turn = 0.0021;

/* ---- the second-level cache ------------------------------------------------------------------ */

static size_t overlap(const struct fake_range *range, const unsigned char *from, size_t size) {
    const unsigned char *begin = range->from > from ? range->from : from;
    const unsigned char *end = range->from + range->size, *other = from + size;
    if (other < end) end = other;
    return begin < end ? (size_t)(end - begin) : 0;
}

/* Newest ranges win; what no longer fits is forgotten from the oldest on. */
void fake_touch(int device, const void *from, size_t size, bool write) {
    struct fake_range *ranges = fake.ranges[device], kept[FAKE_RANGES];
    size_t count = 0, room = fake.settings.l2[device];
    const unsigned char *at = from;
    if (size > room) { /* only the end stays */
        at += size - room;
        size = room;
    }
    kept[count++] = (struct fake_range){at, size, write};
    room -= size;
    for (int i = 0; i < FAKE_RANGES && ranges[i].size && count < FAKE_RANGES && room > 0; i++) {
        struct fake_range range = ranges[i];
        if (overlap(&range, at, size)) continue; /* coarse: replaced as a whole */
        if (range.size > room) range.size = room;
        kept[count++] = range;
        room -= range.size;
    }
    memset(ranges, 0, sizeof fake.ranges[device]);
    memcpy(ranges, kept, count * sizeof kept[0]);
}

static void look_up(int device, const unsigned char *from, size_t size, size_t *cached,
                    size_t *dirty) {
    *cached = *dirty = 0;
    for (int i = 0; i < FAKE_RANGES; i++) {
        const struct fake_range *range = &fake.ranges[device][i];
        size_t shared = range->size ? overlap(range, from, size) : 0;
        *cached += shared;
        if (range->dirty && !shared) *dirty += range->size;
    }
}

/* ---- reductions ------------------------------------------------------------------------------ */

static double finish_us(const struct fake_shape *shape, unsigned grid) {
    static const double us[RTUNE_FINISH_COUNT] = {
        [RTUNE_FINISH_SLOTS] = 0.8,       [RTUNE_FINISH_LAST] = 1.2,
        [RTUNE_FINISH_PACKED] = 0.6,      [RTUNE_FINISH_CLUSTER] = 1.0,
        [RTUNE_FINISH_GRID_SYNC] = 1.5,   [RTUNE_FINISH_ATOMIC] = 0.9,
        [RTUNE_FINISH_TWO_KERNELS] = 0.2, [RTUNE_FINISH_DEPENDENT] = 0.2,
    };
    if (shape->finish == RTUNE_FINISH_ONE) return 0;
    return us[shape->finish] + block_us * grid;
}

/* Best at 256 threads; each halving or doubling costs a little. */
static double block_factor(unsigned block) {
    double factor = 1;
    for (; block < 256; block *= 2)
        factor *= 1.05;
    for (; block > 256; block /= 2)
        factor *= 1.05;
    return factor;
}

static double reduction_us(int device, const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    struct rtune_kernel_args args;
    memcpy(&args, op->params, sizeof args);
    static const size_t sizes[RTUNE_DTYPE_COUNT] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8};
    double bytes = (double)args.n * (double)sizes[shape->dtype];
    double sms = (double)fake.settings.sms[device], per_trip = 16.0 * shape->vectors * op->block;
    double resident = op->grid / sms < 2048.0 / op->block ? op->grid / sms : 2048.0 / op->block;
    double filled = resident * per_trip / in_flight_bytes;
    if (filled > 1) filled = 1;
    size_t cached, dirty;
    look_up(device, args.in, (size_t)bytes, &cached, &dirty);
    if (cached > (size_t)bytes) cached = (size_t)bytes;
    if ((double)dirty > bytes) dirty = (size_t)bytes; /* as much as the input displaces */
    if (shape->load == RTUNE_LOAD_NOALLOCATE) dirty /= 2;
    double transfer = ((bytes - (double)cached) / memory_bytes_per_us +
                       (double)cached / l2_bytes_per_us + (double)dirty / writeback_bytes_per_us);
    double trips = bytes / (per_trip * op->grid);
    double body = transfer / filled;
    if (body < trip_us * (trips < 1 ? 1 : trips)) body = trip_us * (trips < 1 ? 1 : trips);
    if (shape->map == RTUNE_MAP_CHUNK) body *= 1.03;
    if (shape->load == RTUNE_LOAD_EVICTFIRST) body *= 1.01;
    return (body + finish_us(shape, op->grid)) * block_factor(op->block);
}

/* ---- launches -------------------------------------------------------------------------------- */

static double support_us(const struct fake_op *op) {
    const struct fake_shape *shape = &op->function->shape;
    struct fake_support_call call;
    fake_support_describe(shape->support, op->params, &call);
    return (double)(call.in_bytes + call.out_bytes) / memory_bytes_per_us +
           (double)call.turns * spin_us_per_turn;
}

double fake_launch_us(int device, const struct fake_op *op) {
    bool reduction = op->function->shape.reduction;
    double us = launch_us;
    if (op->function->shape.second)
        us = op->dependent ? 1.0 : 1.6; /* queued behind the first */
    else
        us += reduction ? reduction_us(device, op) : support_us(op);
    double random = (double)(rtune_rng_at(fake.settings.seed, fake.launches) >> 11) * 0x1p-53;
    return us * (1 + (random * 2 - 1) * (double)fake.settings.noise / 1000);
}
