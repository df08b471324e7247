/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tuner/wire.h: what a tuning session and its worker process say to each other: frames of one fixed
 * size over a SOCK_SEQPACKET socket pair. Both ends are the same program on the same machine, so
 * frames are plain structs; the version word guards against another build.
 */
#ifndef RTUNE_TUNER_WIRE_H
#define RTUNE_TUNER_WIRE_H

#include "db/db.h"

#include <stdatomic.h>

enum { RTUNE_WIRE_SAMPLES = 128, RTUNE_WIRE_CANDIDATES = 256 };

enum rtune_frame_kind {
    /* session to worker */
    RTUNE_FRAME_HELLO,     /* hello, with a descriptor of the images or none */
    RTUNE_FRAME_SETUP,     /* setup */
    RTUNE_FRAME_CANDIDATE, /* candidate, for the next MEASURE; slot counts up from 0 */
    RTUNE_FRAME_MEASURE,   /* measure */
    /* worker to session */
    RTUNE_FRAME_READY,    /* ready: after HELLO */
    RTUNE_FRAME_PREPARED, /* prepared: after SETUP */
    RTUNE_FRAME_AT,       /* slot is about to run, or one of enum rtune_at */
    RTUNE_FRAME_FAIL,     /* failure of slot; fatal: the worker ends now */
    RTUNE_FRAME_SAMPLES,  /* samples of slot, in order */
    RTUNE_FRAME_DONE,     /* done: after MEASURE */
    RTUNE_FRAME_ERROR     /* failure: HELLO or SETUP failed, the worker ends */
};

/* Values of slot that are no candidate. */
enum rtune_at {
    RTUNE_AT_INPUT = 0x7ffffffe, /* filling inputs, computing references */
    RTUNE_AT_BATCH = 0x7fffffff  /* timing all candidates that are left */
};

struct rtune_frame_hello {
    char device[256];
    uint64_t seed;
    uint32_t threads;
};
struct rtune_frame_setup {
    uint64_t input_bytes;
};
struct rtune_frame_candidate {
    struct rtune_config config;
    uint64_t image_at;
    uint32_t image_size; /* 0: none */
};
struct rtune_frame_measure {
    struct rtune_problem problem;
    uint32_t count, samples;
    bool thorough;
};
struct rtune_frame_ready {
    struct rtune_identity identity;
    char name[32];
    bool cuda;
    uint32_t units;
    uint64_t free_bytes;
    uint32_t busy_percent;
};
struct rtune_frame_prepared {
    double floor_us, read_gbs, overhead_us;
    uint32_t sm_mhz, memory_mhz, temperature_c;
};
struct rtune_frame_failure {
    enum rtune_status status; /* of ERROR */
    enum rtune_reason reason; /* of FAIL */
    bool fatal;
    char detail[512];
};
struct rtune_frame_samples {
    uint32_t count;
    double us[RTUNE_WIRE_SAMPLES];
};
struct rtune_frame_done {
    uint32_t discarded;
    bool clock_drop, foreign_load;
    uint32_t sm_mhz, memory_mhz, temperature_c; /* of thorough requests; 0: unknown */
};

struct rtune_frame {
    uint32_t version;
    enum rtune_frame_kind kind;
    uint32_t slot;
    union {
        struct rtune_frame_hello hello;
        struct rtune_frame_setup setup;
        struct rtune_frame_candidate candidate;
        struct rtune_frame_measure measure;
        struct rtune_frame_ready ready;
        struct rtune_frame_prepared prepared;
        struct rtune_frame_failure failure;
        struct rtune_frame_samples samples;
        struct rtune_frame_done done;
    } u;
};

/* A count for changes of meaning, over the size, which a change of form seldom leaves alone. */
enum { RTUNE_WIRE_VERSION = 0x72000000 + (2 << 16) + (int)sizeof(struct rtune_frame) };
_Static_assert(sizeof(struct rtune_frame) < 1 << 16, "the size stays out of the count");

/* A zeroed frame of a kind. */
void rtune_frame_init(struct rtune_frame *frame, enum rtune_frame_kind kind, uint32_t slot);
/* Send one frame; IO if the other side is gone. Never raises SIGPIPE. */
enum rtune_status rtune_frame_send(int fd, const struct rtune_frame *frame,
                                   struct rtune_error *err);
/* The same, with a descriptor that the other side gets a copy of; -1: none. */
enum rtune_status rtune_frame_send_with(int fd, const struct rtune_frame *frame, int passed,
                                        struct rtune_error *err);
/* Receive one frame. *got is false at the end of the stream. deadline_ns (of rtune_clock_ns; 0:
 * none) gives TIMEOUT, stop (may be NULL, polled every 50 ms) INTERRUPTED. Errors: IO, SYNTAX
 * (another build). */
enum rtune_status rtune_frame_receive(int fd, struct rtune_frame *frame, bool *got,
                                      uint64_t deadline_ns, const atomic_bool *stop,
                                      struct rtune_error *err);

/* The same without deadline and stop. *passed gets a descriptor that came along, which the caller
 * closes, or -1. */
enum rtune_status rtune_frame_receive_with(int fd, struct rtune_frame *frame, bool *got,
                                           int *passed, struct rtune_error *err);

#endif /* RTUNE_TUNER_WIRE_H */
