/* SPDX-License-Identifier: Apache-2.0 */
/* tests/tuner/support_host.h: the generator of kernels/device/support.cuh, compiled for the host.
 */
#ifndef RTUNE_TESTS_TUNER_SUPPORT_HOST_H
#define RTUNE_TESTS_TUNER_SUPPORT_HOST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum support_dtype { SUPPORT_F32, SUPPORT_F64, SUPPORT_I32, SUPPORT_I64, SUPPORT_COUNT };

/* Bits of element i; its contribution to eight words. */
uint64_t support_element(enum support_dtype dtype, uint32_t data, uint64_t seed, uint64_t i);
void support_count(enum support_dtype dtype, uint32_t data, uint64_t seed, uint64_t i,
                   uint64_t words[8]);

#ifdef __cplusplus
}
#endif

#endif /* RTUNE_TESTS_TUNER_SUPPORT_HOST_H */
