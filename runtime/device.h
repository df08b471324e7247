/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime/device.h: one small interface in front of every device: cuda:N and cpu.
 *
 * A device owns its context, kernels belong to a device. All calls but launch may allocate. launch,
 * support_launch, event_record and stream_state neither allocate nor synchronise. Streams are void
 * *; cpu ignores them. NULL is the legacy default stream of the device's context, whichever context
 * is current; every call leaves the caller's current context as it found it.
 */
#ifndef RTUNE_RUNTIME_DEVICE_H
#define RTUNE_RUNTIME_DEVICE_H

#include "base/log.h"
#include "db/db.h"
#include "kernels/kernels.h"

typedef struct rtune_device rtune_device;
typedef struct rtune_kernel rtune_kernel;

struct rtune_launch_request {
    struct rtune_kernel_args args;
    uint32_t grid; /* blocks (cpu: threads) */
    void *stream;
};

struct rtune_stream_state {
    uint64_t key; /* unique for the life of the process; 0 on cpu and while it captures */
    bool capturing;
};

/* State of a GPU now, as NVML tells it; 0 where it does not. */
struct rtune_device_health {
    bool known;                          /* NVML answered */
    uint32_t sm_mhz, memory_mhz;         /* clocks now */
    uint32_t sm_max_mhz, memory_max_mhz; /* the highest they can be */
    uint32_t temperature_c;
    uint32_t power_limit_mw; /* enforced */
    uint32_t busy_percent;   /* utilisation over the last sample period, any process */
    uint64_t throttle;       /* NVML's clock event reasons, a bit mask; bit 0 is idle */
};

struct rtune_device_ops {
    void (*close)(rtune_device *dev);
    /* A kernel from an image (cubin), or the built-in instance for the problem if image is NULL;
     * config must then be rtune_config_default's but for the grid. */
    enum rtune_status (*kernel_open)(rtune_device *dev, const struct rtune_problem *problem,
                                     const struct rtune_config *config, const void *image,
                                     size_t size, rtune_kernel **kernel, struct rtune_error *err);
    void (*kernel_close)(rtune_device *dev, rtune_kernel *kernel);
    /* Blocks of this kernel that one SM holds at once (cpu: 1). */
    uint32_t (*kernel_resident)(const rtune_kernel *kernel);
    enum rtune_status (*launch)(rtune_device *dev, const rtune_kernel *kernel,
                                const struct rtune_launch_request *request,
                                struct rtune_error *err);
    /* WRONG_CONTEXT if the stream is not of this device's context. */
    enum rtune_status (*stream_state)(rtune_device *dev, void *stream,
                                      struct rtune_stream_state *state, struct rtune_error *err);
    enum rtune_status (*mem_alloc)(rtune_device *dev, size_t size, void **ptr,
                                   struct rtune_error *err);
    void (*mem_free)(rtune_device *dev, void *ptr);
    enum rtune_status (*mem_set)(rtune_device *dev, void *ptr, unsigned char byte, size_t size,
                                 void *stream, struct rtune_error *err); /* enqueued */
    enum rtune_status (*mem_put)(
        rtune_device *dev, void *dst, const void *src, size_t size,
        struct rtune_error *err); /* host to device, done on return; ordered
                                     with no stream: wait for yours first */
    enum rtune_status (*mem_get)(rtune_device *dev, void *dst, const void *src, size_t size,
                                 struct rtune_error *err); /* device to host, likewise */
    enum rtune_status (*mem_free_bytes)(rtune_device *dev, uint64_t *bytes,
                                        struct rtune_error *err);
    enum rtune_status (*stream_create)(rtune_device *dev, void **stream, struct rtune_error *err);
    void (*stream_destroy)(rtune_device *dev, void *stream);
    enum rtune_status (*stream_wait)(rtune_device *dev, void *stream, struct rtune_error *err);
    /* Events: created without (timing false) or with time stamps. */
    enum rtune_status (*event_create)(rtune_device *dev, bool timing, void **event,
                                      struct rtune_error *err);
    void (*event_destroy)(rtune_device *dev, void *event);
    enum rtune_status (*event_record)(rtune_device *dev, void *event, void *stream,
                                      struct rtune_error *err);
    enum rtune_status (*event_done)(rtune_device *dev, void *event, bool *done,
                                    struct rtune_error *err); /* never blocks */
    enum rtune_status (*event_us)(rtune_device *dev, void *first, void *last, double *us,
                                  struct rtune_error *err);
    /* A kernel of rtune_support_image by the name of its entry point, closed with kernel_close; and
     * its launch, with params as cuLaunchKernel takes them (a pointer to each parameter). Both are
     * NULL where the device has no support kernels (cpu: kernels/cpu does that work on the host).
     */
    enum rtune_status (*support_open)(rtune_device *dev, const char *name, rtune_kernel **kernel,
                                      struct rtune_error *err);
    enum rtune_status (*support_launch)(rtune_device *dev, const rtune_kernel *kernel,
                                        uint32_t grid, uint32_t block, void **params, void *stream,
                                        struct rtune_error *err);
    /* As rtune_device_health; NULL where nothing is known. */
    enum rtune_status (*health)(rtune_device *dev, struct rtune_device_health *health,
                                struct rtune_error *err);
};

/* Every implementation's struct starts with this. */
struct rtune_device {
    const struct rtune_device_ops *ops;
    struct rtune_identity identity;
    char name[32]; /* "cuda:0", "cpu" */
    bool cuda;
    uint32_t units; /* SMs, or threads of the pool */
    const struct rtune_log *log;
};

struct rtune_device_request {
    const char *spec; /* as struct rtune_options.device; NULL: current context, else device 0 */
    uint32_t threads; /* cpu; 0: as affinity and cgroup allow */
    const struct rtune_log *log; /* borrowed for the life of the device; may be NULL */
};

/* Open a device. NO_DEVICE names what is missing ("libcuda.so.1: cannot open ..."). */
enum rtune_status rtune_device_open(const struct rtune_device_request *request, rtune_device **dev,
                                    struct rtune_error *err);
void rtune_device_close(rtune_device *dev);

/* Clocks, temperature, power and throttling now; all 0 and known false where nothing tells (cpu, or
 * no NVML). Opens NVML on first use, so it is not for librtune's own calls. */
enum rtune_status rtune_device_health(rtune_device *dev, struct rtune_device_health *health,
                                      struct rtune_error *err);

/* What can be opened, without opening a context: cuda devices in order, then cpu. err says why
 * there is no cuda device (its status stays OK if there is one). At most max entries. */
struct rtune_device_entry {
    char spec[32];
    struct rtune_identity identity;
};
enum rtune_status rtune_device_list(struct rtune_device_entry *entries, size_t max, size_t *count,
                                    struct rtune_error *why_no_cuda, struct rtune_error *err);

/* The implementations, called by rtune_device_open. */
enum rtune_status rtune_device_open_cuda(const struct rtune_device_request *request,
                                         rtune_device **dev, struct rtune_error *err);
enum rtune_status rtune_device_open_cpu(const struct rtune_device_request *request,
                                        rtune_device **dev, struct rtune_error *err);
/* The cuda part of rtune_device_list: NO_DEVICE if there is none. */
enum rtune_status rtune_device_list_cuda(struct rtune_device_entry *entries, size_t max,
                                         size_t *count, struct rtune_error *err);
/* The cpu's identity, without a pool. */
enum rtune_status rtune_device_cpu_identity(uint32_t threads, struct rtune_identity *identity,
                                            struct rtune_error *err);

#endif /* RTUNE_RUNTIME_DEVICE_H */
