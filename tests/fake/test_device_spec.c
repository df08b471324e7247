/* SPDX-License-Identifier: Apache-2.0 */
/* Names of devices: every accepted spelling, and refusals that say what was expected. */
#include "runtime/device_spec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static struct rtune_device_spec parse(const char *text) {
    struct rtune_device_spec spec;
    struct rtune_error err;
    rtune_err_clear(&err);
    enum rtune_status status = rtune_device_spec_parse(text, &spec, &err);
    if (status != RTUNE_OK) fail_msg("%s: %s", text ? text : "NULL", err.message);
    return spec;
}

static void test_kinds(void **state) {
    (void)state;
    assert_int_equal(parse(NULL).kind, RTUNE_SPEC_CURRENT);
    assert_int_equal(parse("cpu").kind, RTUNE_SPEC_CPU);
    assert_int_equal(parse("0").kind, RTUNE_SPEC_INDEX);
    assert_int_equal(parse("0").index, 0);
    assert_int_equal(parse("17").index, 17);
    assert_int_equal(parse("cuda:3").kind, RTUNE_SPEC_INDEX);
    assert_int_equal(parse("cuda:3").index, 3);
}

static void test_uuid(void **state) {
    (void)state;
    struct rtune_device_spec spec = parse("GPU-FACE0000-00ab-0000-0000-000000000001");
    assert_int_equal(spec.kind, RTUNE_SPEC_UUID);
    assert_string_equal(spec.uuid, "GPU-face0000-00ab-0000-0000-000000000001");
    assert_string_equal(parse("MIG-a").uuid, "MIG-a");
}

static void test_pci(void **state) {
    (void)state;
    struct rtune_device_spec spec = parse("0001:3B:1f.0");
    assert_int_equal(spec.kind, RTUNE_SPEC_PCI);
    assert_int_equal(spec.pci_domain, 1);
    assert_int_equal(spec.pci_bus, 0x3b);
    assert_int_equal(spec.pci_slot, 0x1f);
    assert_int_equal(parse("00000000:3b:00.0").pci_bus, 0x3b);
    spec = parse("3b:01.0");
    assert_int_equal(spec.pci_domain, 0);
    assert_int_equal(spec.pci_slot, 1);
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *spec;
        bool names;
    } known[] = {
        {"GPU-FACE0000-00ab-0000-0000-000000000001", true},
        {"GPU-face", true},
        {"MIG-face", false},
        {"GPU-face0000-00ab-0000-0000-000000000002", false},
        {"0001:3b:1f.0", true},
        {"00000001:3B:1F.0", true},
        {"3b:1f.0", false},
        {"0001:3b:1e.0", false},
        {"0001:3a:1f.0", false},
        {"cpu", false},
        {"0", false},
        {NULL, false},
    };
    struct rtune_identity identity = {.uuid = "GPU-face0000-00ab-0000-0000-000000000001",
                                      .pci = "0001:3B:1F.0"};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const struct rtune_device_spec spec = parse(known[k].spec);
        assert_int_equal(rtune_device_spec_names(&spec, &identity), known[k].names);
    }
    const struct rtune_device_spec pci = parse("0000:00:00.0");
    identity.pci[0] = '\0'; /* not known */
    assert_false(rtune_device_spec_names(&pci, &identity));
}

static void test_refused(void **state) {
    (void)state;
    static const char *const bad[] = {
        "",
        "gpu",
        "CPU",
        "cpu0",
        "cuda",
        "cuda:",
        "cuda:x",
        "cuda:-1",
        "-1",
        "+1",
        " 0",
        "0 ",
        "0x1",
        "1.0",
        "2147483648",
        "99999999999999999999",
        "cuda:2147483648",
        "GPU-",
        "GPU--",
        "GPU-xyz",
        "gpu-12",
        "MIG",
        "GPU-1g",
        "3b:00",
        "3b:00.",
        "3b:00.00",
        "333:00.0",
        "0:0:0:0.0",
        ":00.0",
        "000000000:3b:00.0",
        "3b:00.0 ",
        "g0:00.0",
        "GPU-0123456789012345678901234567890123456789012345678901234567890123456789",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct rtune_device_spec spec = {.index = 77};
        struct rtune_error err;
        if (rtune_device_spec_parse(bad[i], &spec, &err) != RTUNE_NO_DEVICE)
            fail_msg("\"%s\" was accepted", bad[i]);
        assert_int_equal(spec.index, 77);
        assert_non_null(strstr(err.message, "expected cuda:N"));
        assert_non_null(strstr(err.message, "0000:3b:00.0"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds), cmocka_unit_test(test_uuid),    cmocka_unit_test(test_pci),
        cmocka_unit_test(test_names), cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
