/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture itself: what it must let pass, and what it must catch. */
#define rtune device_side /* this namespace has the name of the library's handle */
#include "kernels/device/abi.cuh"
#undef rtune
#include "tests/kernels/emu/cmocka_cpp.h"
#include "tests/kernels/emu/emu.h"
#include "tests/kernels/emu/memory.h"
#include "tests/kernels/emu/selection.h"

#include <csignal>
#include <cstddef>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace rtune_emu {
unsigned thread_index();
unsigned block_index();
unsigned grid_size();
void barrier();
unsigned shuffle_xor(unsigned value, unsigned mask);
unsigned shuffle(unsigned value, unsigned lane);
} // namespace rtune_emu

using namespace rtune_emu;

/* What kernels/device/abi.cuh and kernels/kernels.h must say alike. */
static_assert(unsigned(device_side::grid_max) == RTUNE_GRID_MAX &&
                  unsigned(device_side::header_bytes) == RTUNE_WORKSPACE_HEADER &&
                  unsigned(device_side::slot_bytes_max) == RTUNE_WORKSPACE_SLOT &&
                  unsigned(device_side::partial_bytes) == RTUNE_WORKSPACE_PARTIAL,
              "layout of the workspace");
static_assert(uint32_t(device_side::accumulate_flag) == uint32_t(RTUNE_ACCUMULATE), "flags");
#define SAME_PLACE(field)                                                                          \
    static_assert(offsetof(device_side::args, field) == offsetof(rtune_kernel_args, field), #field)
SAME_PLACE(workspace);
SAME_PLACE(n);
SAME_PLACE(flags);
SAME_PLACE(scale);
static_assert(offsetof(device_side::args, partials) == offsetof(rtune_kernel_args, partials),
              "partials");
static_assert(sizeof(device_side::args) == sizeof(rtune_kernel_args), "arguments of a kernel");
static_assert(int(device_side::load_kind::evictfirst) == RTUNE_LOAD_EVICTFIRST &&
                  int(device_side::load_kind::noallocate) == RTUNE_LOAD_NOALLOCATE &&
                  int(device_side::load_kind::noncoherent) == RTUNE_LOAD_NONCOHERENT &&
                  int(device_side::load_kind::plain) == RTUNE_LOAD_PLAIN &&
                  int(device_side::finish_kind::one) == RTUNE_FINISH_ONE &&
                  int(device_side::finish_kind::slots) == RTUNE_FINISH_SLOTS &&
                  int(device_side::finish_kind::last) == RTUNE_FINISH_LAST &&
                  int(device_side::finish_kind::packed) == RTUNE_FINISH_PACKED &&
                  int(device_side::finish_kind::two_kernels) == RTUNE_FINISH_TWO_KERNELS &&
                  int(device_side::finish_kind::dependent) == RTUNE_FINISH_DEPENDENT &&
                  int(device_side::finish_kind::cluster) == RTUNE_FINISH_CLUSTER &&
                  int(device_side::finish_kind::grid_sync) == RTUNE_FINISH_GRID_SYNC &&
                  int(device_side::finish_kind::atomic) == RTUNE_FINISH_ATOMIC &&
                  int(device_side::map_kind::strip) == RTUNE_MAP_STRIP &&
                  int(device_side::map_kind::chunk) == RTUNE_MAP_CHUNK &&
                  int(device_side::variant_kind::cascaded) == RTUNE_CASCADED &&
                  int(device_side::variant_kind::bulk) == RTUNE_BULK,
              "axes");

namespace {

constexpr order orders[] = {order::forward, order::backward, order::random};

/* ---- kernels --------------------------------------------------------------------------------- */

struct sums {
    unsigned blocks[8];
};

/* The sum of all thread indices, by every means there is. */
void good(const void *args) {
    static unsigned shared[32];
    const unsigned t = thread_index();
    unsigned x = t;
    for (unsigned mask = 16; mask > 0; mask /= 2)
        x += shuffle_xor(x, mask);
    if (shuffle(x, 7) != x) x = 0; /* all lanes have the same */
    if (t % 32 == 0) shared[t / 32] = x;
    barrier();
    if (t != 0) return;
    unsigned total = 0;
    for (unsigned w = 0; w < 4; w++)
        total += shared[w];
    auto *out = *static_cast<sums *const *>(args);
    out->blocks[block_index()] += total + grid_size();
}
void barrier_of_half_the_warps(const void *) {
    if (thread_index() < 64) barrier();
}
void barrier_of_half_a_warp(const void *) {
    if (thread_index() % 32 < 16) barrier();
}
void shuffle_after_some_lanes_ended(const void *) {
    if (thread_index() % 32 == 31) return;
    shuffle_xor(1, 1);
}
void shuffle_against_barrier(const void *) {
    if (thread_index() % 32 == 3)
        barrier();
    else
        shuffle_xor(1, 1);
}
void shuffle_with_two_masks(const void *) { shuffle_xor(1, thread_index() % 32 < 16 ? 1 : 2); }
void one_more_barrier(const void *) {
    barrier();
    if (thread_index() / 32 == 2) barrier();
}
/* Reads what other warps write, without a barrier between. */
void race(const void *args) {
    static unsigned shared[4];
    const unsigned t = thread_index();
    if (t % 32 == 0) shared[t / 32] = 1;
    const unsigned total = shared[0] + shared[1] + shared[2] + shared[3];
    auto *out = *static_cast<sums *const *>(args);
    if (t == 0) out->blocks[block_index()] = total;
    barrier();
    if (t % 32 == 0) shared[t / 32] = 0;
}
void read_byte(const void *args) {
    const volatile char *p = *static_cast<const char *const *>(args);
    if (thread_index() == 0) (void)*p;
}

const char *run_in(kernel_fn kernel, const void *args, order in) {
    return run({kernel, args, 2, 128, in, 7});
}

/* ---- tests ----------------------------------------------------------------------------------- */

void test_a_good_kernel_runs_in_every_order(void **) {
    for (const order in : orders) {
        sums result = {};
        sums *args = &result;
        assert_null(run({good, &args, 5, 128, in, 3}));
        for (unsigned b = 0; b < 5; b++)
            assert_int_equal(result.blocks[b], 127 * 128 / 2 + 5);
        assert_int_equal(result.blocks[5], 0);
    }
}

void test_divergence_is_caught(void **) {
    static const struct {
        kernel_fn kernel;
        const char *says;
    } bad[] = {
        {barrier_of_half_the_warps, "its end"},        {barrier_of_half_a_warp, "its end"},
        {shuffle_after_some_lanes_ended, "its end"},   {shuffle_against_barrier, "a barrier"},
        {shuffle_with_two_masks, "a shuffle_xor (2)"}, {one_more_barrier, "its end"},
    };
    for (const auto &b : bad) {
        for (const order in : orders) {
            const char *error = run_in(b.kernel, nullptr, in);
            assert_non_null(error);
            assert_non_null(strstr(error, b.says));
        }
    }
    test_a_good_kernel_runs_in_every_order(nullptr); /* the machine is whole again */
}

void test_a_missing_barrier_shows(void **) {
    sums result = {};
    sums *args = &result;
    assert_null(run_in(race, &args, order::forward));
    assert_int_not_equal(result.blocks[0], 4);
}

void test_wrong_shapes_are_refused(void **) {
    assert_non_null(run({good, nullptr, 1, 33, order::forward, 0}));
    assert_non_null(run({good, nullptr, 1, 2048, order::forward, 0}));
    assert_non_null(run({good, nullptr, 0, 32, order::forward, 0}));
}

/* Does a kernel that reads this byte survive? */
bool survives(const char *p) {
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        close(2); /* a sanitizer's report of the crash that is wanted */
        _exit(run_in(read_byte, &p, order::forward) == nullptr ? 0 : 2);
    }
    int state = 0;
    assert_int_equal(waitpid(child, &state, 0), child);
    return WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

void test_guard_pages_end_a_stray_access(void **) {
    const guarded buffer = guarded_new(1);
    assert_true(survives(buffer.begin));
    assert_true(survives(buffer.end - 1));
    assert_false(survives(buffer.begin - 1));
    assert_false(survives(buffer.end));
}

void test_workspace_must_be_left_empty(void **) {
    char *workspace = static_cast<char *>(workspace_new());
    assert_null(workspace_check(workspace));
    workspace[128] = 1;
    assert_non_null(strstr(workspace_check(workspace), "header byte 128"));
    workspace[128] = 0;
    workspace[256 + 32 * 4096 - 1] = 1;
    assert_non_null(strstr(workspace_check(workspace), "of the slots"));
    workspace[256 + 32 * 4096 - 1] = 0;
    workspace[256 + 32 * 4096]++; /* partials may hold anything */
    assert_null(workspace_check(workspace));
}

} // namespace

int main() {
    const CMUnitTest tests[] = {
        cmocka_unit_test(test_a_good_kernel_runs_in_every_order),
        cmocka_unit_test(test_divergence_is_caught),
        cmocka_unit_test(test_a_missing_barrier_shows),
        cmocka_unit_test(test_wrong_shapes_are_refused),
        cmocka_unit_test(test_guard_pages_end_a_stray_access),
        cmocka_unit_test(test_workspace_must_be_left_empty),
    };
    return cmocka_run_group_tests_name("emulation fixture", tests, nullptr, nullptr);
}
