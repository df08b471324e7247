/* SPDX-License-Identifier: Apache-2.0 */
/* isa_avx2.c: the CPU kernels for AVX2. */
#define CPU_TABLE rtune_cpu_table_avx2
#include "kernels/cpu/kernels.inc"
