/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mkinstances.c: build tool of the tests. Writes one shard of the selected instances as a C++ file:
 * the program text that a GPU compiler would get, and a table of its entry points.
 *
 *     rtune_mkinstances SHARD SHARDS OUTPUT.cpp
 *
 * SHARD = SHARDS stands for the instances for big inputs, SHARDS + 1 for those of slow machines.
 */
#include "tests/kernels/emu/selection.h"

#include "base/buf.h"
#include "base/parse.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHARD_MAX = 512 };

/* The shard's instances: every shards-th of the selection; behind the last shard, the big ones, and
 * the slow ones. */
static size_t select_shard(uint64_t shard, uint64_t shards, struct rtune_problem *problems,
                           struct rtune_config *configs) {
    size_t count = 0;
    while (shard == shards && rtune_emu_selection_big(count, &problems[count], &configs[count]))
        count++;
    while (shard > shards && rtune_emu_selection_slow(count, &problems[count], &configs[count]))
        count++;
    if (shard >= shards) return count;
    for (size_t k = (size_t)shard; count < SHARD_MAX; k += (size_t)shards, count++)
        if (!rtune_emu_selection(k, &problems[count], &configs[count])) break;
    return count;
}

static void add_table(struct rtune_buf *buf, uint64_t shard, const struct rtune_problem *problems,
                      const struct rtune_config *configs, size_t count) {
    char name[RTUNE_INSTANCE_NAME];
    rtune_buf_puts(
        buf, "namespace {\ntemplate <void KERNEL(const rtune::args)> void call(const void *a) "
             "{\n    KERNEL(*static_cast<const rtune::args *>(a));\n}\n} // namespace\n");
    rtune_buf_printf(buf, "extern const rtune_emu::entry rtune_emu_shard_%u[] = {\n",
                     (unsigned)shard);
    for (size_t k = 0; k < count; k++) {
        rtune_instance_name(&problems[k], &configs[k], name);
        rtune_buf_printf(buf, "    {\"%s\", call<%s>, ", name, name);
        if (configs[k].finish == RTUNE_FINISH_TWO_KERNELS)
            rtune_buf_printf(buf, "call<%s_2>},\n", name);
        else
            rtune_buf_puts(buf, "nullptr},\n");
    }
    rtune_buf_printf(buf, "};\nextern const size_t rtune_emu_shard_%u_count = %zu;\n",
                     (unsigned)shard, count);
}

int main(int argc, char **argv) {
    static struct rtune_problem problems[SHARD_MAX];
    static struct rtune_config configs[SHARD_MAX];
    enum rtune_status status = RTUNE_OK;
    struct rtune_error err = {.status = RTUNE_OK};
    struct rtune_buf buf;
    uint64_t shard = 0, shards = 0;
    char *program = NULL;
    rtune_buf_init(&buf, 16 << 20);
    if (argc != 4) TRY(rtune_err_set(&err, RTUNE_INVALID, "usage: SHARD SHARDS OUTPUT.cpp"));
    TRY(rtune_parse_u64(argv[2], 1, 64, &shards, &err));
    TRY(rtune_parse_u64(argv[1], 0, shards + 1, &shard, &err));
    const size_t count = select_shard(shard, shards, problems, configs);
    if (count == SHARD_MAX) TRY(rtune_err_set(&err, RTUNE_RANGE, "too many instances in a shard"));
    TRY(rtune_instance_source(problems, configs, count, &program, &err));

    /* Weak: problems that are one to the bit share a kernel, and may be in two shards. */
    rtune_buf_puts(&buf, "#include \"tests/kernels/emu/emu.h\"\n"
                         "#define __global__ __attribute__((weak))\n"
                         "#define __launch_bounds__(...)\n");
    rtune_buf_puts(&buf, program);
    add_table(&buf, shard, problems, configs, count);
    TRY(rtune_buf_status(&buf, &err));
    TRY(rtune_file_write(argv[3], buf.data, buf.size, 0644, &err));
done:
    if (status != RTUNE_OK) fprintf(stderr, "rtune_mkinstances: %s\n", err.message);
    free(program);
    rtune_buf_free(&buf);
    return status == RTUNE_OK ? 0 : 1;
}
