/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/prepared.h: kernels that are loaded and ready: an entry for each kind of problem and
 * instance, and one kernel for all entries whose instance has the same name. Entries are added
 * under a lock, found without one, and live until the handle closes.
 */
#ifndef RTUNE_RUNTIME_PREPARED_H
#define RTUNE_RUNTIME_PREPARED_H

#include "runtime/device.h"
#include "runtime/nvrtc.h"

#include <pthread.h>
#include <stdatomic.h>

struct rtune_index;
struct rtune_decision;

enum { RTUNE_PREPARED_SLOTS = 4096, RTUNE_PREPARED_MAX = 3072 };

struct rtune_prepared {
    /* the key: a canonical problem whose n and cache do not count, and a config whose grid does not
     */
    struct rtune_problem kind;
    struct rtune_config wanted;
    char name[RTUNE_INSTANCE_NAME]; /* of the instance wanted */
    uint64_t name_hash;
    /* what serves it */
    struct rtune_config served; /* grid does not count; another than wanted only if fell_back */
    rtune_kernel *kernel;
    enum rtune_kernel_source source;
    uint32_t resident;
    bool owned; /* the kernel is closed with this entry, and may serve others of its name */
    bool fell_back;
    uint64_t generation; /* of the index it was prepared for; a fall-back is tried again after a
                            reload */
    char reason[96];     /* of the fall-back */
    struct rtune_prepared *next; /* all entries, newest first */
};

struct rtune_kernels {
    _Atomic(struct rtune_prepared *) slots[RTUNE_PREPARED_SLOTS]; /* open addressing */
    pthread_mutex_t lock;                                         /* guards all below */
    struct rtune_prepared *all;
    _Atomic uint32_t count; /* entries; read without the lock */
    rtune_nvrtc *nvrtc;
    bool nvrtc_tried;
    struct rtune_error nvrtc_error;
};

/* Open the built-in instance of every problem there is. A build without them is not an error. */
enum rtune_status rtune_kernels_open(rtune *rt, struct rtune_error *err);
void rtune_kernels_close(rtune *rt);

/* The entry for a canonical problem and config; NULL if there is none, or if it is a fall-back of
 * another index generation. Lock-free. */
const struct rtune_prepared *rtune_prepared_find(const rtune *rt, const struct rtune_index *index,
                                                 const struct rtune_problem *problem,
                                                 const struct rtune_config *config);
/* The built-in instance for a canonical problem; NULL if this build has none. Lock-free. */
const struct rtune_prepared *rtune_prepared_builtin(const rtune *rt,
                                                    const struct rtune_problem *problem);

/* Is there no room for another entry? Lock-free. */
bool rtune_prepared_full(const rtune *rt);

/* Make entries for some decisions: a stored cubin, else a compiled one, else the built-in instance
 * with a reason; none for those that there is no room for. Fails (DEVICE) only where nothing at all
 * can serve one of them, and for NO_MEMORY.
 */
enum rtune_status rtune_prepared_make(rtune *rt, const struct rtune_index *index,
                                      const struct rtune_decision *decisions, size_t count,
                                      struct rtune_error *err);

#endif /* RTUNE_RUNTIME_PREPARED_H */
