/* SPDX-License-Identifier: Apache-2.0 */
/* isa_base.c: the CPU kernels for the baseline of the architecture. */
#define CPU_TABLE rtune_cpu_table_base
#include "kernels/cpu/kernels.inc"
