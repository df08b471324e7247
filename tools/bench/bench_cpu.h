/* SPDX-License-Identifier: Apache-2.0 */
/* tools/bench/bench_cpu.h: reductions as one writes them with OpenMP, to compare launches with. */
#ifndef RTUNE_TOOLS_BENCH_BENCH_CPU_H
#define RTUNE_TOOLS_BENCH_BENCH_CPU_H

#include "rtune/rtune.h"

/* in2 of dot alone; the result, of up to 16 bytes, goes to out. */
typedef void bench_peer_fn(const void *in, const void *in2, uint64_t n, void *out);

/* Of mode plain; NULL where there is none. */
bench_peer_fn *bench_peer_find(enum rtune_op op, enum rtune_dtype dtype);
/* Is there one of any op? */
bool bench_peer_has(enum rtune_dtype dtype);

/* Reads everything, n bytes, and does next to nothing with it. */
bench_peer_fn bench_read_all;

#endif /* RTUNE_TOOLS_BENCH_BENCH_CPU_H */
