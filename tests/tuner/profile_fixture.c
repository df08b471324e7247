/* SPDX-License-Identifier: Apache-2.0 */
/* A small good profile, as the program writes it. */
#include "profile_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"

const char PROFILE[] =
    "# Launch parameters that reduce-tune measured; `reduce-tune import` reads them. Times are in\n"
    "# microseconds; each config is served for n from `from` to `to`.\n"
    "rtune_profile: 1\n"
    "devices:\n"
    "  - identity: \"v1|cpu|model=Some CPU|isa=avx2|cores=8|l1=32768|l3=33554432\"\n"
    "    name: \"Some CPU @ 3 GHz\"\n"
    "    driver: \"\"\n"
    "    memory_bytes: 0\n"
    "    power_mw: 0\n"
    "    ecc: false\n"
    "    problems:\n"
    "      - op: max\n"
    "        dtype: f64\n"
    "        acc: wide\n"
    "        mode: plain\n"
    "        nan: ignore\n"
    "        cache: warm\n"
    "        flags: []\n"
    "        kernel_abi: 1\n"
    "        source_hash: \"" HASH "\"\n"
    "        driver: \"\"\n"
    "        rows:\n"
    "          - {n: 1000, from: 0, to: 18446744073709551615, config: "
    "\"block=1,items=32,grid=8,load=plain,finish=slots,map=chunk,occupancy=0\", us: 12.5, "
    "us_lo: 12.25, us_hi: 13, default_us: 0, floor_us: 0}\n"
    "  - identity: \"v1|cuda|cc=9.0|sm=132|l2=62914560|bus=6144|mem=3200|clk=2000|mig=0\"\n"
    "    name: \"NVIDIA H200\"\n"
    "    driver: \"580.65.06\"\n"
    "    memory_bytes: 150000000000\n"
    "    power_mw: 700000\n"
    "    ecc: true\n"
    "    problems:\n"
    "      - op: sum\n"
    "        dtype: i32\n"
    "        acc: native\n"
    "        mode: plain\n"
    "        nan: propagate\n"
    "        cache: dirty\n"
    "        flags: []\n"
    "        kernel_abi: 1\n"
    "        source_hash: \"\"\n"
    "        driver: \"580.65.06\"\n"
    "        rows:\n"
    "          - {n: 64, from: 64, to: 64, config: "
    "\"block=32,items=8,grid=cover,load=plain,finish=last,map=chunk,occupancy=2\", us: 3, "
    "us_lo: 3, us_hi: 3, default_us: 0, floor_us: 0}\n"
    "      - op: sum\n"
    "        dtype: f32\n"
    "        acc: wide\n"
    "        mode: plain\n"
    "        nan: propagate\n"
    "        cache: cold\n"
    "        flags: []\n"
    "        kernel_abi: 1\n"
    "        source_hash: \"" HASH "\"\n"
    "        driver: \"580.65.06\"\n"
    "        rows:\n"
    "          - {n: 1024, from: 1, to: 4095, config: "
    "\"block=256,items=4,grid=1,load=plain,finish=one,map=strip,occupancy=0\", us: 3.3, "
    "us_lo: 3.25, us_hi: 3.4, default_us: 3.5, floor_us: 2.6}\n"
    "          - {n: 1048576, from: 4096, to: 9000000, config: "
    "\"block=512,items=16,grid=2xsm,load=noallocate,finish=slots,map=strip,occupancy=0\", "
    "us: 0.30000000000000004, us_lo: 0.3, us_hi: 6, default_us: 6.25, floor_us: 3.5, "
    "source_hash: \"" OTHER "\", driver: \"other\"}\n";

char *profile_with(const char *from, const char *to) {
    const char *at = strstr(PROFILE, from);
    char *text = malloc(sizeof(PROFILE) + strlen(to));
    if (at == NULL || text == NULL) fail_msg("no \"%s\" in the fixture", from);
    size_t head = (size_t)(at - PROFILE);
    memcpy(text, PROFILE, head);
    strcpy(text + head, to);
    strcat(text, at + strlen(from));
    return text;
}

int line_of(const char *text, const char *words, int k) {
    const char *at = strstr(text, words);
    int line = 1;
    while (at != NULL && k-- > 0)
        at = strstr(at + 1, words);
    if (at == NULL) fail_msg("no \"%s\" in the text", words);
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    return line;
}
