/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_memo.c: results of recent reductions. A tuner reduces the same bytes thousands of
 * times; an entry is dropped when any of its bytes is written or freed.
 */
#include "tests/fake/fake_int.h"

#include <string.h>

enum { ENTRIES = 32 };

static struct entry {
    const unsigned char *in;
    size_t size;
    enum rtune_op op;
    enum rtune_dtype dtype;
    enum rtune_acc acc;
    enum rtune_nan nan_rule;
    unsigned char result[8];
} entries[ENTRIES];
static size_t next;

static bool same(const struct entry *e, const struct fake_shape *shape, const void *in,
                 size_t size) {
    return e->size && e->in == in && e->size == size && e->op == shape->op &&
           e->dtype == shape->dtype && e->acc == shape->acc && e->nan_rule == shape->nan_rule;
}

bool fake_memo_find(const struct fake_shape *shape, const void *in, size_t size,
                    unsigned char result[8]) {
    for (size_t i = 0; i < ENTRIES; i++)
        if (same(&entries[i], shape, in, size)) {
            memcpy(result, entries[i].result, 8);
            return true;
        }
    return false;
}

void fake_memo_keep(const struct fake_shape *shape, const void *in, size_t size,
                    const unsigned char result[8]) {
    struct entry *e = &entries[next++ % ENTRIES];
    *e = (struct entry){in, size, shape->op, shape->dtype, shape->acc, shape->nan_rule, {0}};
    memcpy(e->result, result, 8);
}

void fake_written(const void *from, size_t size) {
    const unsigned char *begin = from, *end = begin + size;
    for (size_t i = 0; i < ENTRIES; i++)
        if (entries[i].size > 0 && begin < entries[i].in + entries[i].size && entries[i].in < end)
            entries[i].size = 0;
}
