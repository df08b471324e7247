/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: whole frames in and out of a SOCK_SEQPACKET socket, with deadlines. */
#include "tuner/wire.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Room for one descriptor, aligned as the kernel wants it. */
union passing {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
};

void rtune_frame_init(struct rtune_frame *frame, enum rtune_frame_kind kind, uint32_t slot) {
    memset(frame, 0, sizeof(*frame)); /* padding too: frames leave the process */
    frame->version = RTUNE_WIRE_VERSION;
    frame->kind = kind;
    frame->slot = slot;
}

enum rtune_status rtune_frame_send_with(int fd, const struct rtune_frame *frame, int passed,
                                        struct rtune_error *err) {
    struct rtune_frame copy = *frame;
    struct iovec part = {.iov_base = &copy, .iov_len = sizeof(copy)};
    union passing control;
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;
    if (passed >= 0) {
        memset(&control, 0, sizeof(control));
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(passed));
        memcpy(CMSG_DATA(head), &passed, sizeof(passed));
    }
    do
        sent = sendmsg(fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return rtune_err_set_errno(err, RTUNE_IO, errno, "worker: cannot send");
    return RTUNE_OK;
}

enum rtune_status rtune_frame_send(int fd, const struct rtune_frame *frame,
                                   struct rtune_error *err) {
    return rtune_frame_send_with(fd, frame, -1, err);
}

/* Wait until the socket can be read; at most 50 ms at a time, so that stop is seen. */
static enum rtune_status wait_readable(int fd, uint64_t deadline_ns, const atomic_bool *stop,
                                       struct rtune_error *err) {
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int timeout = stop == NULL && deadline_ns == 0 ? -1 : 50;
        int ready = poll(&p, 1, timeout);
        if (ready > 0) return RTUNE_OK;
        if (ready < 0 && errno != EINTR)
            return rtune_err_set_errno(err, RTUNE_IO, errno, "worker: cannot wait");
        if (stop != NULL && *stop) return rtune_err_set(err, RTUNE_INTERRUPTED, "interrupted");
        if (deadline_ns != 0 && rtune_clock_ns() > deadline_ns)
            return rtune_err_set(err, RTUNE_TIMEOUT, "worker: no answer in time");
    }
}

/* The descriptor that came with a message; -1 if none. */
static int descriptor_of(struct msghdr *message) {
    int passed = -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (head != NULL && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof(passed)))
        memcpy(&passed, CMSG_DATA(head), sizeof(passed));
    return passed;
}

enum rtune_status rtune_frame_receive_with(int fd, struct rtune_frame *frame, bool *got,
                                           int *passed, struct rtune_error *err) {
    struct iovec part = {.iov_base = frame, .iov_len = sizeof(*frame)};
    union passing control;
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof(control.bytes)};
    ssize_t size;
    *passed = -1;
    do
        size = recvmsg(fd, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    if (size == 0 || (size < 0 && errno == ECONNRESET)) {
        *got = false;
        return RTUNE_OK;
    }
    if (size < 0) return rtune_err_set_errno(err, RTUNE_IO, errno, "worker: cannot receive");
    *passed = descriptor_of(&message);
    if ((size_t)size != sizeof(*frame) || frame->version != RTUNE_WIRE_VERSION)
        return rtune_err_set(err, RTUNE_SYNTAX,
                             "worker: answers in another format: it is of another "
                             "build of the program");
    *got = true;
    return RTUNE_OK;
}

enum rtune_status rtune_frame_receive(int fd, struct rtune_frame *frame, bool *got,
                                      uint64_t deadline_ns, const atomic_bool *stop,
                                      struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int passed = -1;
    if (stop != NULL && *stop) return rtune_err_set(err, RTUNE_INTERRUPTED, "interrupted");
    TRY(wait_readable(fd, deadline_ns, stop, err));
    TRY(rtune_frame_receive_with(fd, frame, got, &passed, err));
done:
    if (passed >= 0) close(passed);
    return status;
}
