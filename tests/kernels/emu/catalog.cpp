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
#undef SHARD

namespace rtune_emu {
namespace {

const struct {
    const entry *entries;
    size_t count;
} shards[] = {
    {rtune_emu_shard_0, rtune_emu_shard_0_count},
    {rtune_emu_shard_1, rtune_emu_shard_1_count},
    {rtune_emu_shard_2, rtune_emu_shard_2_count},
    {rtune_emu_shard_3, rtune_emu_shard_3_count},
};
constexpr size_t shard_count = sizeof shards / sizeof shards[0];

std::vector<instance> build() {
    std::vector<instance> list;
    instance i = {};
    for (size_t k = 0; rtune_emu_selection(k, &i.problem, &i.config); k++) {
        char name[RTUNE_INSTANCE_NAME];
        rtune_instance_name(&i.problem, &i.config, name);
        const auto &shard = shards[k % shard_count];
        if (k / shard_count >= shard.count ||
            strcmp(shard.entries[k / shard_count].name, name) != 0) {
            fprintf(stderr, "catalog: instance %zu (%s) was not generated\n", k, name);
            abort();
        }
        i.kernel = shard.entries[k / shard_count].kernel;
        i.name = shard.entries[k / shard_count].name;
        list.push_back(i);
    }
    return list;
}

} // namespace

const std::vector<instance> &catalog() {
    static const std::vector<instance> list = build();
    return list;
}

} // namespace rtune_emu
