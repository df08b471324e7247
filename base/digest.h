/* SPDX-License-Identifier: Apache-2.0 */
/* base/digest.h: SHA-256 (FIPS 180-4), for kernel sources and stored cubins. */
#ifndef RTUNE_BASE_DIGEST_H
#define RTUNE_BASE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

enum { RTUNE_DIGEST_HEX = 65 }; /* 64 hexadecimal digits and NUL */

struct rtune_sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};
void rtune_sha256_init(struct rtune_sha256 *sha);
void rtune_sha256_add(struct rtune_sha256 *sha, const void *data, size_t size);
void rtune_sha256_hex(struct rtune_sha256 *sha, char hex[RTUNE_DIGEST_HEX]);

/* All three at once. */
void rtune_digest_hex(const void *data, size_t size, char hex[RTUNE_DIGEST_HEX]);

#endif /* RTUNE_BASE_DIGEST_H */
