/* SPDX-License-Identifier: Apache-2.0 */
/* tests/runtime/alloc_count.h: how often this process asked for memory. */
#ifndef RTUNE_TESTS_RUNTIME_ALLOC_COUNT_H
#define RTUNE_TESTS_RUNTIME_ALLOC_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* False under a sanitizer, which has an allocator of its own. */
bool alloc_counted(void);
/* Calls of malloc and its relatives so far, in all threads and libraries. */
uint64_t alloc_count(void);

#endif /* RTUNE_TESTS_RUNTIME_ALLOC_COUNT_H */
