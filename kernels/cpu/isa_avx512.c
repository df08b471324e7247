/* SPDX-License-Identifier: Apache-2.0 */
/* isa_avx512.c: the CPU kernels for AVX-512 (F, BW, DQ, VL). */
#define CPU_TABLE rtune_cpu_table_avx512
#include "kernels/cpu/kernels.inc"
