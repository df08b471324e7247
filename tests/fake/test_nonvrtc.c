/* SPDX-License-Identifier: Apache-2.0 */
/* The library path has an NVRTC of 12.2: it is passed over for a newer one elsewhere, or the
 * message says what is wrong with it. */
#include "runtime/nvrtc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_old(void **state) {
    (void)state;
    rtune_nvrtc *nvrtc = NULL;
    struct rtune_error err;
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    enum rtune_status status = rtune_nvrtc_open(&nvrtc, &err);
    if (status == RTUNE_OK) {
        assert_string_not_equal(rtune_nvrtc_version(nvrtc), "12.2");
        rtune_nvrtc_close(nvrtc);
        return;
    }
    assert_int_equal(status, RTUNE_NOT_FOUND);
    assert_null(nvrtc);
    assert_non_null(strstr(err.message, "is too old (12.2)"));
    assert_non_null(strstr(err.message, "libnvrtc.so.13"));
    assert_non_null(strstr(err.message, "/usr/local/cuda"));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_old)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
