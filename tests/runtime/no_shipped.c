/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/runtime/no_shipped.c: stands in for runtime/shipped.c, so that what is tested does not
 * depend on the profiles that this version ships.
 */
#include "runtime/rtune_int.h"

const void *rtune_shipped_image(size_t *size) {
    *size = 0;
    return NULL;
}
