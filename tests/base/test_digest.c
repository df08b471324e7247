/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 against the vectors of FIPS 180-4's examples and of the NIST CAVP set. */
#include "base/digest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check(const void *data, size_t size, const char *expected) {
    char hex[RTUNE_DIGEST_HEX];
    rtune_digest_hex(data, size, hex);
    assert_string_equal(hex, expected);
}

static void test_vectors(void **state) {
    (void)state;
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopq"
          "klmnopqrlmnopqrsmnopqrstnopqrstu",
          112, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
    check("\xbd", 1, "68325720aabd7c82f30f554b313d0570c95accbb7dc4b5aae11204c08ffe732b");
    check("\xc9\x8c\x8e\x55", 4,
          "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
}

static void test_lengths(void **state) {
    (void)state;
    char zeros[65] = {0};
    check(zeros, 55, "02779466cdec163811d078815c633f21901413081449002f24aa3e80f0b88ef7");
    check(zeros, 56, "d4817aa5497628e7c77e6b606107042bbba3130888c5f47a375e6179be789fbb");
    check(zeros, 57, "65a16cb7861335d5ace3c60718b5052e44660726da4cd13bb745381b235a1785");
    check(zeros, 64, "f5a5fd42d16a20302798ef6ed309979b43003d2320d9f0e8ea9831a92759fb4b");
}

static void test_million(void **state) {
    (void)state;
    struct rtune_sha256 sha;
    char hex[RTUNE_DIGEST_HEX], part[997];
    memset(part, 'a', sizeof(part));
    rtune_sha256_init(&sha);
    for (size_t left = 1000000; left > 0;) {
        size_t take = left < sizeof(part) ? left : sizeof(part);
        rtune_sha256_add(&sha, part, take);
        left -= take;
    }
    rtune_sha256_hex(&sha, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_parts_equal_whole(void **state) {
    (void)state;
    char data[200], whole[RTUNE_DIGEST_HEX], parts[RTUNE_DIGEST_HEX];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)(i * 7);
    rtune_digest_hex(data, sizeof(data), whole);
    for (size_t cut = 0; cut <= sizeof(data); cut++) {
        struct rtune_sha256 sha;
        rtune_sha256_init(&sha);
        rtune_sha256_add(&sha, data, cut);
        rtune_sha256_add(&sha, data + cut, sizeof(data) - cut);
        rtune_sha256_hex(&sha, parts);
        assert_string_equal(parts, whole);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_million),
        cmocka_unit_test(test_parts_equal_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
