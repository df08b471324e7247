/* SPDX-License-Identifier: Apache-2.0 */
/* catalog.cpp: selection and generated entry points put together. */
#include "tests/kernels/emu/catalog.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define SHARD(k)                                                                                   \
    extern const rtune_emu::entry rtune_emu_shard_##k[];                                           \
    extern const size_t rtune_emu_shard_##k##_count;
#ifdef RTUNE_EMU_SLOW_F64
SHARD(5)
#else
SHARD(0)
SHARD(1)
SHARD(2)
SHARD(3)
SHARD(4)
#endif
#undef SHARD

namespace rtune_emu {
namespace {

const struct {
    const entry *entries;
    size_t count;
} shards[] = {
#ifdef RTUNE_EMU_SLOW_F64
    {rtune_emu_shard_5, rtune_emu_shard_5_count},
#else
    {rtune_emu_shard_0, rtune_emu_shard_0_count}, {rtune_emu_shard_1, rtune_emu_shard_1_count},
    {rtune_emu_shard_2, rtune_emu_shard_2_count}, {rtune_emu_shard_3, rtune_emu_shard_3_count},
    {rtune_emu_shard_4, rtune_emu_shard_4_count}, /* the big ones */
#endif
};
constexpr size_t shard_count = sizeof shards / sizeof shards[0];

/* The k-th of a list is entry k / count of the table k % count. */
template <class Tables>
std::vector<instance> build(bool (*select)(size_t, rtune_problem *, rtune_config *),
                            const Tables &tables, size_t count) {
    std::vector<instance> list;
    instance i = {};
    for (size_t k = 0; select(k, &i.problem, &i.config); k++) {
        char name[RTUNE_INSTANCE_NAME];
        rtune_instance_name(&i.problem, &i.config, name);
        const auto &table = tables[k % count];
        if (k / count >= table.count || strcmp(table.entries[k / count].name, name) != 0) {
            fprintf(stderr, "catalog: instance %zu (%s) was not generated\n", k, name);
            abort();
        }
        i.kernel = table.entries[k / count].kernel;
        i.second = table.entries[k / count].second;
        i.name = table.entries[k / count].name;
        list.push_back(i);
    }
    return list;
}

} // namespace

#ifdef RTUNE_EMU_SLOW_F64
const std::vector<instance> &catalog() {
    static const std::vector<instance> list = build(rtune_emu_selection_slow, shards, shard_count);
    return list;
}
#else
const std::vector<instance> &catalog() {
    static const std::vector<instance> list = build(rtune_emu_selection, shards, shard_count - 1);
    return list;
}

const std::vector<instance> &catalog_big() {
    static const std::vector<instance> list =
        build(rtune_emu_selection_big, &shards[shard_count - 1], 1);
    return list;
}
#endif

} // namespace rtune_emu
