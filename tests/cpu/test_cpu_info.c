/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_cpu_info.c: what is read from /proc and /sys, against made-up trees of files: control groups
 * of both versions, quotas on ancestors, caches, models, and nothing at all.
 */
#include "runtime/cpuinfo.h"

#include "base/buf.h"
#include "tests/scratch_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static char root[SCRATCH_FOLDER];

static int make_root(void **state) {
    (void)state;
    return scratch_folder_make(root, "cpuinfo");
}

static int remove_root(void **state) {
    (void)state;
    return scratch_folder_remove(root);
}

/* A file of the tree, with its folders. */
static void put(const char *path, const char *text) {
    char whole[512];
    struct rtune_error err;
    snprintf(whole, sizeof whole, "%s%s", root, path);
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    if (rtune_folder_make(whole, 0700, &err) != RTUNE_OK) fail_msg("%s", err.message);
    *slash = '/';
    if (rtune_file_write(whole, text, strlen(text), 0600, &err) != RTUNE_OK)
        fail_msg("%s", err.message);
}

/* Processors of the affinity mask: what the quotas cap. */
static uint32_t affinity(void) {
    struct rtune_cpuinfo info;
    rtune_cpuinfo_read("/nonexistent", &info);
    return info.usable;
}

static void test_nothing(void **state) {
    struct rtune_cpuinfo info;
    (void)state;
    rtune_cpuinfo_read(root, &info);
    assert_string_equal(info.model, "unknown");
    assert_true(info.usable >= 1);
    assert_int_equal(info.l1_bytes, 0);
    assert_int_equal(info.l3_bytes, 0);
    assert_int_equal(info.memory_bytes, 0);
    assert_int_equal(rtune_cpuinfo_memory_free(root), 0);
}

static void test_model(void **state) {
    struct rtune_cpuinfo info;
    (void)state;
    put("/proc/cpuinfo",
        "processor\t: 0\nmodel\t\t: 7\nmodel name\t: A  B|C=3,0 @ 2 GHz \nflags: x\n");
    rtune_cpuinfo_read(root, &info);
    assert_string_equal(info.model, "A B_C_3_0 @ 2 GHz");
    put("/proc/cpuinfo", "processor : 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n");
    rtune_cpuinfo_read(root, &info);
    assert_string_equal(info.model, "implementer 0x41 part 0xd40");
}

/* The quota of any ancestor counts, rounded down to whole processors, but never below one. */
static void test_quota_v2(void **state) {
    struct rtune_cpuinfo info;
    const uint32_t all = affinity();
    (void)state;
    put("/proc/self/cgroup", "0::/a/b\n");
    put("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.usable, all);
    put("/sys/fs/cgroup/a/cpu.max", "190000 100000\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.usable, 1);
    put("/sys/fs/cgroup/a/cpu.max", "50000 100000\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.usable, 1);
    put("/sys/fs/cgroup/a/cpu.max", "9900000 100000\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.usable, all < 99 ? all : 99);
}

/* In a container, the path of the process is not below the mount; the mount's own files count. */
static void test_quota_v1(void **state) {
    struct rtune_cpuinfo info;
    const uint32_t all = affinity();
    (void)state;
    put("/proc/self/cgroup", "5:cpuset:/q\n4:cpuacct,cpu:/docker/x\n3:memory:/docker/x\n0::/\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.usable, all);
    put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.usable, 1);
}

/* Two processors with caches of their own but for the last level. */
static void test_caches(void **state) {
    static const char *const values[4][3] = {{"1", "Data", "48K"},
                                             {"1", "Instruction", "32K"},
                                             {"2", "Unified", "2M"},
                                             {"3", "Unified", "30720K"}};
    struct rtune_cpuinfo info;
    (void)state;
    for (int cpu = 0; cpu < 2; cpu++)
        for (int index = 0; index < 4; index++)
            for (int k = 0; k < 3; k++) {
                static const char *const names[] = {"level", "type", "size"};
                char path[128], text[32];
                snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu,
                         index, names[k]);
                snprintf(text, sizeof text, "%s\n", values[index][k]);
                put(path, text);
                snprintf(path, sizeof path,
                         "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu, index);
                put(path, index == 3 ? "0-1\n" : cpu ? "1\n" : "0\n");
            }
    rtune_cpuinfo_read(root, &info);
    if (info.l1_bytes == 0) skip(); /* neither of the two processors is in the affinity mask */
    assert_int_equal(info.l1_bytes, 48 << 10);
    assert_int_equal(info.l3_bytes, 30 << 20); /* shared: once */
}

static void test_memory(void **state) {
    struct rtune_cpuinfo info;
    (void)state;
    put("/proc/meminfo", "MemTotal:       16000 kB\nMemFree: 1 kB\nMemAvailable:    8000 kB\n");
    rtune_cpuinfo_read(root, &info);
    assert_int_equal(info.memory_bytes, 16000 << 10);
    assert_int_equal(rtune_cpuinfo_memory_free(root), 8000 << 10);
    put("/proc/self/cgroup", "0::/job/step\n");
    put("/sys/fs/cgroup/job/step/memory.max", "max\n");
    put("/sys/fs/cgroup/job/step/memory.current", "1\n");
    put("/sys/fs/cgroup/job/memory.max", "4096000\n");
    put("/sys/fs/cgroup/job/memory.current", "1048576\n");
    put("/sys/fs/cgroup/job/memory.stat", "anon 1\nactive_file 9\ninactive_file 48576\nx 1\n");
    assert_int_equal(rtune_cpuinfo_memory_free(root), 4096000 - 1000000);
    put("/sys/fs/cgroup/job/memory.current", "5000000\n");
    assert_int_equal(rtune_cpuinfo_memory_free(root), 0);
    put("/proc/self/cgroup", "7:memory:/job\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000000\n");
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "500000\n");
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "700000\n");
    assert_int_equal(rtune_cpuinfo_memory_free(root), 1500000);
}

/* This machine, as it is: something sensible. */
static void test_here(void **state) {
    struct rtune_cpuinfo info;
    (void)state;
    rtune_cpuinfo_read("", &info);
    assert_true(info.usable >= 1 && info.usable <= 65536);
    assert_true(info.model[0] != '\0');
    assert_true(info.memory_bytes > 16 << 20);
    assert_true(rtune_cpuinfo_memory_free("") <= info.memory_bytes);
}

int main(void) {
#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)
    const struct CMUnitTest tests[] = {
        IN_ROOT(test_nothing), IN_ROOT(test_model),  IN_ROOT(test_quota_v2), IN_ROOT(test_quota_v1),
        IN_ROOT(test_caches),  IN_ROOT(test_memory), IN_ROOT(test_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
