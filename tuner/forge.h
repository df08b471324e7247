/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/forge.h: compiled kernels of a session. Each instance is compiled once, by NVRTC, into an
 * anonymous file that worker processes read; kinds whose kernel has the same name share one.
 * Threads of the forge compile what is queued while the session measures. Without NVRTC only the
 * built-in instances exist. One thread at a time calls these functions.
 */
#ifndef RTUNE_TUNER_FORGE_H
#define RTUNE_TUNER_FORGE_H

#include "db/db.h"

#include <stdatomic.h>

typedef struct rtune_forge rtune_forge;

/* done of total instances that a call waits for, from the calling thread; may be NULL. */
typedef void (*rtune_forge_progress)(void *user, size_t done, size_t total);

struct rtune_forge_options {
    const atomic_bool *stop; /* may be NULL */
    uint64_t deadline_ns;    /* of rtune_clock_ns: nothing is compiled after it; 0: no limit */
    rtune_forge_progress progress;
    void *user;
};

enum rtune_status rtune_forge_open(const struct rtune_forge_options *options, rtune_forge **forge,
                                   struct rtune_error *err);
/* Say what to compile for, once: nothing, and every config counts as built in, unless it is a CUDA
 * device. Never fails for lack of NVRTC: rtune_forge_missing says why there is none. */
void rtune_forge_target(rtune_forge *forge, const struct rtune_identity *identity);
/* Drops what is queued and waits for what is being compiled. NULL is accepted. */
void rtune_forge_close(rtune_forge *forge);

/* NULL if kernels can be compiled (or need not be), else why not. */
const char *rtune_forge_missing(const rtune_forge *forge);
/* "13.0", "" if there is none. */
const char *rtune_forge_version(const rtune_forge *forge);
/* Descriptor of the images. */
int rtune_forge_images(const rtune_forge *forge);

/* Can this config be measured at all: built in, or can it be compiled? */
bool rtune_forge_can(const rtune_forge *forge, const struct rtune_problem *problem,
                     const struct rtune_config *config);
/* Queue those of the configs that are neither built in nor compiled yet, to be compiled in their
 * order while the caller does something else; soon: before all that is queued already. Errors:
 * NO_MEMORY. */
enum rtune_status rtune_forge_ahead(rtune_forge *forge, const struct rtune_problem *problem,
                                    const struct rtune_config *configs, size_t count, bool soon,
                                    struct rtune_error *err);
/* Number of instances that are queued and not begun. */
size_t rtune_forge_queued(rtune_forge *forge);
/* See that all of the configs are built in or compiled: what is missing comes before all that is
 * queued, and the calling thread compiles too. Errors: INTERRUPTED, TIMEOUT (the deadline; what was
 * compiled stays), NO_MEMORY, IO; an instance that does not compile is no error here. */
enum rtune_status rtune_forge_need(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *configs, size_t count,
                                   struct rtune_error *err);
/* Number of instances that rtune_forge_need would have to queue; 0 for lack of memory, too. */
size_t rtune_forge_count(rtune_forge *forge, const struct rtune_problem *problem,
                         const struct rtune_config *configs, size_t count);
/* Where the image of a config is; *size 0: built in. COMPILE with the compiler's words if it has
 * none. */
enum rtune_status rtune_forge_find(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *config, uint64_t *at, uint32_t *size,
                                   struct rtune_error *err);
/* Keep a config's image beside a store, once: it is always the same store. digest becomes "" for a
 * built-in one. */
enum rtune_status rtune_forge_keep(rtune_forge *forge, const struct rtune_problem *problem,
                                   const struct rtune_config *config, const char *store,
                                   char digest[RTUNE_DIGEST_HEX], struct rtune_error *err);

struct rtune_forge_account {
    bool compiles;   /* there is a compiler, and a device that needs it */
    size_t compiled; /* instances, failures included */
    double waited_s; /* by rtune_forge_need */
};
struct rtune_forge_account rtune_forge_account(rtune_forge *forge);

#endif /* RTUNE_TUNER_FORGE_H */
