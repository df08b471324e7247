/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.cpp: selection and generated entry points put together. */
#include "tests/kernels/emu/catalog.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define SHARD(k)                                                                                   \
    extern const rtune_emu::entry rtune_emu_shard_##k[];                                           \
    extern const size_t rtune_emu_shard_##k##_count;
SHARD(0)
SHARD(1)
SHARD(2)
SHARD(3)
SHARD(4)
SHARD(5)
#undef SHARD

namespace rtune_emu {
namespace {

struct table {
    const entry *entries;
    size_t count;
};
#define TABLE(k)                                                                                   \
    { rtune_emu_shard_##k, rtune_emu_shard_##k##_count }
#ifdef RTUNE_EMU_SLOW_F64
const table shards[] = {TABLE(5)};
constexpr auto selection = rtune_emu_selection_slow;
#else
const table shards[] = {TABLE(0), TABLE(1), TABLE(2), TABLE(3)}, big[] = {TABLE(4)};
constexpr auto selection = rtune_emu_selection;
#endif
#undef TABLE

/* The k-th of a list is entry k / COUNT of the table k % COUNT. */
template <size_t COUNT>
std::vector<instance> build(bool (*select)(size_t, rtune_problem *, rtune_config *),
                            const table (&tables)[COUNT]) {
    std::vector<instance> list;
    instance i = {};
    for (size_t k = 0; select(k, &i.problem, &i.config); k++) {
        char name[RTUNE_INSTANCE_NAME];
        rtune_instance_name(&i.problem, &i.config, name);
        const table &from = tables[k % COUNT];
        if (k / COUNT >= from.count || strcmp(from.entries[k / COUNT].name, name) != 0) {
            fprintf(stderr, "catalog: instance %zu (%s) was not generated\n", k, name);
            abort();
        }
        i.kernel = from.entries[k / COUNT].kernel;
        i.second = from.entries[k / COUNT].second;
        i.name = from.entries[k / COUNT].name;
        list.push_back(i);
    }
    return list;
}

} // namespace

const std::vector<instance> &catalog() {
    static const std::vector<instance> list = build(selection, shards);
    return list;
}

#ifndef RTUNE_EMU_SLOW_F64
const std::vector<instance> &catalog_big() {
    static const std::vector<instance> list = build(rtune_emu_selection_big, big);
    return list;
}
#endif

} // namespace rtune_emu
