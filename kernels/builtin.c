/* SPDX-License-Identifier: Apache-2.0 */
/*
 * builtin.c: what the build made of the device sources: their hash, and the fatbins of the built-in
 * and the support kernels where there was an nvcc.
 */
#include "kernels/kernels.h"

#include "kernels/sources_hash.h" /* generated: RTUNE_SOURCES_HASH */

const char *rtune_device_sources_hash(void) { return RTUNE_SOURCES_HASH; }

#if RTUNE_BUILTIN_IMAGE
extern const unsigned char rtune_fatbin_builtin[], rtune_fatbin_builtin_end[];
const void *rtune_builtin_image(size_t *size) {
    *size = (size_t)(rtune_fatbin_builtin_end - rtune_fatbin_builtin);
    return rtune_fatbin_builtin;
}
#else
const void *rtune_builtin_image(size_t *size) {
    *size = 0;
    return NULL;
}
#endif

#if RTUNE_SUPPORT_IMAGE
extern const unsigned char rtune_fatbin_support[], rtune_fatbin_support_end[];
const void *rtune_support_image(size_t *size) {
    *size = (size_t)(rtune_fatbin_support_end - rtune_fatbin_support);
    return rtune_fatbin_support;
}
#else
const void *rtune_support_image(size_t *size) {
    *size = 0;
    return NULL;
}
#endif
