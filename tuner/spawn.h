/* SPDX-License-Identifier: Apache-2.0 */
/* tuner/spawn.h: starting and ending worker processes. */
#ifndef RTUNE_TUNER_SPAWN_H
#define RTUNE_TUNER_SPAWN_H

#include "base/err.h"

#include <sys/types.h>

struct rtune_child {
    pid_t pid; /* 0: none */
    int fd;    /* this side of the socket pair; -1: none */
};

/* Start "program worker --fd N" on a SOCK_SEQPACKET pair. The child dies with this process,
 * inherits no other descriptor and has /dev/null as its standard streams. A program that cannot be
 * run shows as the end of the stream. */
enum rtune_status rtune_spawn(const char *program, struct rtune_child *child,
                              struct rtune_error *err);
/* Kill it and wait, at most 5 s (a process inside a hung driver may take longer and is then left to
 * the system). why says how it had ended, if it had before: "exit status 1", "signal 11
 * (Segmentation fault)". why may be NULL. Resets the child to none; does nothing if it is none. */
void rtune_spawn_end(struct rtune_child *child, char *why, size_t size);

#endif /* RTUNE_TUNER_SPAWN_H */
