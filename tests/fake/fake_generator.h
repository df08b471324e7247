/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake_generator.h: the tuner's support kernels on the host, from the text of the
 * kernels: their parameters, what they touch and what they do.
 */
#ifndef RTUNE_TESTS_FAKE_FAKE_GENERATOR_H
#define RTUNE_TESTS_FAKE_FAKE_GENERATOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fake_support_kind {
    FAKE_SUPPORT_FILL,
    FAKE_SUPPORT_REFERENCE,
    FAKE_SUPPORT_READ,
    FAKE_SUPPORT_SPIN,
    FAKE_SUPPORT_EMPTY
};

/* What a launch with these parameters touches. */
struct fake_support_call {
    const void *in;
    size_t in_bytes;
    void *out;
    size_t out_bytes;
    uint64_t turns; /* of a spin */
};

/* Bytes of the one parameter. */
size_t fake_support_param_bytes(enum fake_support_kind kind);
void fake_support_describe(enum fake_support_kind kind, const void *params,
                           struct fake_support_call *call);
/* Do it; the memory that describe told must be there. */
void fake_support_do(enum fake_support_kind kind, const void *params);

#ifdef __cplusplus
}
#endif

#endif /* RTUNE_TESTS_FAKE_FAKE_GENERATOR_H */
