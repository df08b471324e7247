/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/shipped.c: the profiles of configs/profiles, made into one store image at build time. */
#include "runtime/rtune_int.h"

#if RTUNE_SHIPPED
extern const unsigned char rtune_shipped_db[], rtune_shipped_db_end[];
const void *rtune_shipped_image(size_t *size) {
    *size = (size_t)(rtune_shipped_db_end - rtune_shipped_db);
    return rtune_shipped_db;
}
#else
const void *rtune_shipped_image(size_t *size) {
    *size = 0;
    return NULL;
}
#endif
