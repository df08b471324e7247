/* SPDX-License-Identifier: Apache-2.0 */
/* test_emu_sums.h: the tests of test_emu_sums.cpp, for the list in test_emu_cases.cpp. */
#ifndef RTUNE_TESTS_EMU_SUMS_H
#define RTUNE_TESTS_EMU_SUMS_H

void test_A15_halves_accumulate_in_f32(void **);
void test_A17_halves_round_once(void **);
void test_A19_sums_outgrow_their_elements(void **);
void test_A21_product_of_ones(void **);
void test_A37_one_block_and_more_blocks_than_elements(void **);
void test_A39_compensation_past_infinity(void **);
void test_A44_sums_of_zeros(void **);
void test_special_values_of_sums(void **);
void test_norms(void **);
void test_integers_wrap(void **);
void test_packed_totals_at_their_limit(void **);
void test_fixed_edges(void **);

#endif
