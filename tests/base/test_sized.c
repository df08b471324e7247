/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of callers of earlier and later versions. */
#include "base/sized.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

/* One struct as version 1, 2 and 3 have it; this library is version 2. */
struct one {
    size_t struct_size;
    uint64_t a;
};
struct two {
    size_t struct_size;
    uint64_t a, b;
};
struct three {
    size_t struct_size;
    uint64_t a, b, c;
};

enum { OLDEST = RTUNE_SIZE_TO(struct two, a) };

static void test_read(void **state) {
    (void)state;
    const struct one one = {sizeof one, 11};
    const struct two two = {sizeof two, 21, 22};
    const struct three three = {sizeof three, 31, 32, 33};
    struct two full = {7, 7, 7};
    assert_true(rtune_sized_read(&full, sizeof full, &one, OLDEST));
    assert_int_equal(full.struct_size, sizeof full);
    assert_int_equal(full.a, 11);
    assert_int_equal(full.b, 0);
    assert_true(rtune_sized_read(&full, sizeof full, &two, OLDEST));
    assert_int_equal(full.a, 21);
    assert_int_equal(full.b, 22);
    assert_false(rtune_sized_read(&full, sizeof full, &three, OLDEST));
    for (size_t size = 0; size < OLDEST; size++) {
        const struct one small = {size, 11};
        assert_false(rtune_sized_read(&full, sizeof full, &small, OLDEST));
    }
    assert_int_equal(full.a, 21);
}

static void test_write(void **state) {
    (void)state;
    const struct two full = {sizeof full, 21, 22};
    struct three room = {sizeof(struct one), 7, 7, 7}; /* of a caller that has only a */
    rtune_sized_write(&room, &full, sizeof full);
    assert_int_equal(room.struct_size, sizeof(struct one));
    assert_int_equal(room.a, 21);
    assert_int_equal(room.b, 7);
    room = (struct three){sizeof room, 7, 7, 7};
    rtune_sized_write(&room, &full, sizeof full);
    assert_int_equal(room.struct_size, sizeof room);
    assert_int_equal(room.b, 22);
    assert_int_equal(room.c, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
