/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/cpuinfo.h: what this process may use of the machine's processors and memory: affinity
 * mask, control groups (v1 and v2), caches, model. Reads /proc and /sys and does without what is
 * not there.
 */
#ifndef RTUNE_RUNTIME_CPUINFO_H
#define RTUNE_RUNTIME_CPUINFO_H

#include <stdint.h>

struct rtune_cpuinfo {
    char model[64];    /* "unknown" if nothing tells */
    uint32_t usable;   /* processors: affinity mask, capped by the control groups' quota; >= 1 */
    uint64_t l1_bytes; /* data cache of one core; 0: unknown */
    uint64_t l3_bytes; /* last-level caches of the processors in the affinity mask; 0: unknown */
    uint64_t memory_bytes; /* of the machine; 0: unknown */
};

/* Files are looked for below root: "" but in tests. Never fails. */
void rtune_cpuinfo_read(const char *root, struct rtune_cpuinfo *info);

/* Memory that can be allocated now: available memory, capped by what the control groups leave. */
uint64_t rtune_cpuinfo_memory_free(const char *root);

#endif /* RTUNE_RUNTIME_CPUINFO_H */
