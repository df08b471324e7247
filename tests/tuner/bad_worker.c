/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/tuner/bad_worker.c: a worker program on the cpu device, some of whose kernels misbehave as
 * RTUNE_TEST_CHEATS says: "kind=text;kind=text": those whose config, printed, has text in it.
 *
 * - nothing: returns at once and writes nothing
 * - skip: leaves out the last element
 * - stale: returns the first result that it ever had
 * - overrun: writes one byte too many
 * - refuse: the launch fails; the device goes on working
 * - sticky: the launch fails, and so does everything after it
 * - crash, late_crash: kills the process; the latter only after a few launches
 * - hang, late_hang: never returns
 * - stall, late_stall: never returns in the first process, and behaves in later ones
 * - once_skip: as skip in the first process, and behaves in later ones
 * - slow: its first launch in a process takes 2 s
 * - absent: cannot be opened
 *
 * RTUNE_TEST_STARTS names a file that gets one byte for each start.
 */
#include "base/parse.h"
#include "runtime/device.h"
#include "tuner/tuner.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KERNELS = 256,
    LATE = 10 /* launches before the late ones show: more than a thorough verification has */
};

struct cheat {
    const rtune_kernel *kernel;
    char kind[16];
    unsigned launches;
    bool remembered;
    unsigned char result[16];
    size_t result_size;
};

static const struct rtune_device_ops *real;
static struct rtune_device_ops bent;
static struct cheat cheats[KERNELS];
static size_t cheat_count;
static bool broken;
static off_t starts; /* of this program, with this one */

enum rtune_status __real_rtune_device_open(const struct rtune_device_request *request,
                                           rtune_device **dev, struct rtune_error *err);
enum rtune_status __wrap_rtune_device_open(const struct rtune_device_request *request,
                                           rtune_device **dev, struct rtune_error *err);

/* The kind for a config; false if it behaves. */
static bool find_kind(const struct rtune_config *config, char kind[16]) {
    const char *spec = getenv("RTUNE_TEST_CHEATS");
    char text[256], one[128];
    rtune_config_print(config, text, sizeof(text));
    while (spec != NULL && *spec != '\0') {
        size_t length = strcspn(spec, ";");
        snprintf(one, sizeof(one), "%.*s", (int)length, spec);
        spec += length + (spec[length] == ';');
        char *equals = strchr(one, '=');
        if (equals == NULL) continue;
        *equals = '\0';
        if (strstr(text, equals + 1) == NULL) continue;
        snprintf(kind, 16, "%.15s", one);
        return true;
    }
    return false;
}

static enum rtune_status bent_open(rtune_device *dev, const struct rtune_problem *problem,
                                   const struct rtune_config *config, const void *image,
                                   size_t size, rtune_kernel **kernel, struct rtune_error *err) {
    struct cheat cheat = {.kernel = NULL};
    bool bad = find_kind(config, cheat.kind);
    if (bad && strcmp(cheat.kind, "absent") == 0)
        return rtune_err_set(err, RTUNE_DEVICE, "CUDA_ERROR_NOT_FOUND (drawn so)");
    enum rtune_status status = real->kernel_open(dev, problem, config, image, size, kernel, err);
    if (status != RTUNE_OK || !bad || cheat_count == KERNELS) return status;
    cheat.kernel = *kernel;
    cheat.result_size = rtune_result_size(problem);
    cheats[cheat_count++] = cheat;
    return status;
}

static bool is(const struct cheat *cheat, const char *kind) {
    return strcmp(cheat->kind, kind) == 0;
}

static void misbehave(const struct cheat *cheat) {
    bool late = strncmp(cheat->kind, "late_", 5) == 0;
    const char *what = late ? cheat->kind + 5 : cheat->kind;
    if (late && cheat->launches <= LATE) return;
    if (strcmp(what, "crash") == 0) abort();
    if (strcmp(what, "slow") == 0 && cheat->launches == 1) sleep(2);
    while (strcmp(what, "hang") == 0 || (strcmp(what, "stall") == 0 && starts == 1))
        pause();
}

static enum rtune_status bent_launch(rtune_device *dev, const rtune_kernel *kernel,
                                     const struct rtune_launch_request *request,
                                     struct rtune_error *err) {
    struct rtune_launch_request wrong = *request;
    struct cheat *cheat = NULL;
    for (size_t k = 0; k < cheat_count; k++)
        if (cheats[k].kernel == kernel) cheat = &cheats[k];
    if (cheat == NULL) return real->launch(dev, kernel, request, err);
    cheat->launches++;
    misbehave(cheat);
    if (is(cheat, "nothing")) return RTUNE_OK;
    if (is(cheat, "refuse"))
        return rtune_err_set(err, RTUNE_DEVICE, "CUDA_ERROR_INVALID_VALUE (drawn so)");
    if (is(cheat, "sticky")) {
        broken = true;
        return rtune_err_set(err, RTUNE_DEVICE, "CUDA_ERROR_ILLEGAL_ADDRESS (drawn so)");
    }
    if (is(cheat, "stale") && cheat->remembered) {
        memcpy(request->args.out, cheat->result, cheat->result_size);
        return RTUNE_OK;
    }
    bool skip = is(cheat, "skip") || (is(cheat, "once_skip") && starts == 1);
    if (skip && request->args.n > 1) wrong.args.n--;
    enum rtune_status status = real->launch(dev, kernel, &wrong, err);
    memcpy(cheat->result, request->args.out, cheat->result_size);
    cheat->remembered = true;
    if (is(cheat, "overrun")) ((unsigned char *)request->args.out)[cheat->result_size] = 0;
    return status;
}

static enum rtune_status bent_wait(rtune_device *dev, void *stream, struct rtune_error *err) {
    if (broken) return rtune_err_set(err, RTUNE_DEVICE, "CUDA_ERROR_ILLEGAL_ADDRESS (still)");
    return real->stream_wait(dev, stream, err);
}

static void bent_close(rtune_device *dev, rtune_kernel *kernel) {
    for (size_t k = 0; k < cheat_count; k++)
        if (cheats[k].kernel == kernel) cheats[k] = cheats[--cheat_count];
    real->kernel_close(dev, kernel);
}

enum rtune_status __wrap_rtune_device_open(const struct rtune_device_request *request,
                                           rtune_device **dev, struct rtune_error *err) {
    enum rtune_status status = __real_rtune_device_open(request, dev, err);
    if (status != RTUNE_OK) return status;
    real = (*dev)->ops;
    bent = *real;
    bent.kernel_open = bent_open;
    bent.kernel_close = bent_close;
    bent.launch = bent_launch;
    bent.stream_wait = bent_wait;
    (*dev)->ops = &bent;
    return RTUNE_OK;
}

static void count_start(void) {
    const char *path = getenv("RTUNE_TEST_STARTS");
    int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0) return;
    if (write(fd, "x", 1) != 1) abort();
    starts = lseek(fd, 0, SEEK_END);
    close(fd);
}

int main(int argc, char **argv) {
    uint64_t fd = 0;
    if (argc != 4 || strcmp(argv[1], "worker") != 0 || strcmp(argv[2], "--fd") != 0 ||
        rtune_parse_u64(argv[3], 3, 1024, &fd, NULL) != RTUNE_OK)
        return 2;
    count_start();
    return rtune_worker_main((int)fd);
}
