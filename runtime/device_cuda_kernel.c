/* SPDX-License-Identifier: Apache-2.0 */
/* runtime/device_cuda_kernel.c: kernels of a CUDA device, from their images to functions that are
 * ready to be launched. */
#include "runtime/device_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JIT_LOG = 512 };

/* Errors that say that an image does not suit this GPU or this driver, not that something broke. */
static bool is_unsuitable(CUresult result) {
    switch ((int)result) {
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED:
        return true;
    default:
        return false;
    }
}

/* What to do differs: images of this library come from nvcc, others from the tuner. */
static const char library_images[] = "the library's GPU kernels", tuned_image[] = "compiled kernel";

static enum rtune_status explain_load(const struct rtune_cuda_device *dev, CUresult result,
                                      const char *what, const char *log, struct rtune_error *err) {
    const struct rtune_identity *id = &dev->base.identity;
    int driver = dev->cuda.version;
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU && what == tuned_image)
        return rtune_err_set(err, RTUNE_DEVICE,
                             "%s: CUDA_ERROR_NO_BINARY_FOR_GPU: it was compiled for another GPU "
                             "than compute capability %d.%d (tune this device again)",
                             what, id->cc_major, id->cc_minor);
    if (result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
        return rtune_err_set(
            err, RTUNE_DEVICE,
            "%s: CUDA_ERROR_UNSUPPORTED_PTX_VERSION: made by the CUDA %s toolkit, "
            "but the driver (%s) supports CUDA %d.%d (update the NVIDIA driver, or "
            "build with an older toolkit)",
            what, RTUNE_TOOLKIT_VERSION, id->driver, driver / 1000, driver % 1000 / 10);
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU)
        return rtune_err_set(err, RTUNE_DEVICE,
                             "%s: CUDA_ERROR_NO_BINARY_FOR_GPU: nothing in it runs on compute "
                             "capability %d.%d; this library was built by CUDA %s for %s (build "
                             "with RTUNE_CUDA_ARCHS=%d%d)",
                             what, id->cc_major, id->cc_minor, RTUNE_TOOLKIT_VERSION,
                             RTUNE_TOOLKIT_ARCHS, id->cc_major, id->cc_minor);
    (void)rtune_cuda_result(&dev->cuda, result, "cuModuleLoadDataEx", RTUNE_CUDA_PLACE, err);
    if (log[0]) rtune_err_prefix(err, "%.*s", (int)strcspn(log, "\n"), log);
    rtune_err_prefix(err, "%s", what);
    return RTUNE_DEVICE;
}

/* Needs an open scope. *unsuitable (may be NULL) tells a wrong image from a broken device. */
static enum rtune_status load_module(const struct rtune_cuda_device *dev, const void *image,
                                     const char *what, CUmodule *module, bool *unsuitable,
                                     struct rtune_error *err) {
    char log[JIT_LOG] = "";
    CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[2] = {log, (void *)(uintptr_t)sizeof log};
    CUresult result = dev->cuda.cuModuleLoadDataEx(module, image, 2, options, values);
    log[sizeof log - 1] = '\0';
    if (unsuitable) *unsuitable = is_unsuitable(result);
    return result == CUDA_SUCCESS ? RTUNE_OK : explain_load(dev, result, what, log, err);
}

enum rtune_status rtune_cuda_load_builtin(struct rtune_cuda_device *dev, struct rtune_error *err) {
    size_t size = 0;
    const void *image = rtune_builtin_image(&size);
    if (size == 0) {
        (void)rtune_err_set(&dev->builtin_error, RTUNE_UNSUPPORTED,
                            "this build has no built-in GPU kernels (build with nvcc)");
        return RTUNE_OK;
    }
    bool unsuitable = false;
    enum rtune_status status =
        load_module(dev, image, library_images, &dev->builtin, &unsuitable, &dev->builtin_error);
    if (status == RTUNE_OK) return RTUNE_OK;
    dev->builtin = NULL;
    if (!unsuitable) {
        if (err) *err = dev->builtin_error;
        return status;
    }
    rtune_log_write(dev->base.log, RTUNE_LOG_WARN, "%s", dev->builtin_error.message);
    return RTUNE_OK;
}

/* Find a function and make the driver load it now rather than in its first launch
 * (CUDA_MODULE_LOADING is LAZY by default, and a lazy load waits for running kernels). */
static enum rtune_status find_function(const struct rtune_cuda_device *dev, CUmodule module,
                                       const char *name, CUfunction *function,
                                       struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    int registers = 0;
    TRY(RTUNE_CU(&dev->cuda, err, cuModuleGetFunction, function, module, name));
    if (dev->cuda.cuFuncLoad)
        TRY(RTUNE_CU(&dev->cuda, err, cuFuncLoad, *function));
    else
        TRY(RTUNE_CU(&dev->cuda, err, cuFuncGetAttribute, &registers, CU_FUNC_ATTRIBUTE_NUM_REGS,
                     *function));
done:
    return status;
}

/* How many blocks fit, and what the finish needs. */
static enum rtune_status make_ready(const struct rtune_cuda_device *dev, CUmodule module,
                                    const char *name, const struct rtune_config *config,
                                    struct rtune_cuda_kernel *kernel, struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    char second[RTUNE_INSTANCE_NAME + 2];
    int blocks = 0;
    kernel->block = config->block;
    kernel->finish = config->finish;
    kernel->cluster = config->finish == RTUNE_FINISH_CLUSTER ? config->extra : 0;
    TRY(RTUNE_CU(&dev->cuda, err, cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                 kernel->function, (int)config->block, 0));
    if (blocks < 1)
        TRY(rtune_err_set(err, RTUNE_DEVICE,
                          "a block of %u threads does not fit on a multiprocessor of %s",
                          (unsigned)config->block, dev->base.name));
    kernel->resident = (uint32_t)blocks;
    if (config->finish == RTUNE_FINISH_TWO_KERNELS || config->finish == RTUNE_FINISH_DEPENDENT) {
        snprintf(second, sizeof second, "%s_2", name);
        TRY(find_function(dev, module, second, &kernel->second, err));
    }
    if (kernel->cluster) TRY(rtune_cuda_cluster_check(dev, kernel, err));
done:
    return status;
}

/* A kernel of an image of its own, or of the built-in module if image is NULL. config NULL: one
 * that is no reduction. */
struct opening {
    const char *what; /* the image, for messages */
    const void *image;
    const char *name;
    const struct rtune_config *config;
};

static enum rtune_status open_kernel(const struct rtune_cuda_device *dev,
                                     const struct opening *opening, rtune_kernel **out,
                                     struct rtune_error *err) {
    enum rtune_status status = RTUNE_OK;
    struct rtune_cuda_scope scope;
    bool entered = false;
    CUmodule module = dev->builtin;
    struct rtune_cuda_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel)
        TRY(rtune_err_set(err, RTUNE_NO_MEMORY, "kernel %s: out of memory", opening->name));
    TRY(rtune_cuda_enter(dev, true, &scope, err));
    entered = true;
    if (opening->image) {
        TRY(load_module(dev, opening->image, opening->what, &kernel->module, NULL, err));
        module = kernel->module;
    }
    status = find_function(dev, module, opening->name, &kernel->function, err);
    if (status == RTUNE_OK && opening->config)
        status = make_ready(dev, module, opening->name, opening->config, kernel, err);
    if (status != RTUNE_OK) rtune_err_prefix(err, "kernel %s", opening->name);
done:
    if (status != RTUNE_OK && kernel && kernel->module) dev->cuda.cuModuleUnload(kernel->module);
    if (entered) {
        enum rtune_status left = rtune_cuda_leave(&scope, status, err);
        if (left != RTUNE_OK && status == RTUNE_OK && kernel->module)
            dev->cuda.cuModuleUnload(kernel->module);
        status = left;
    }
    if (status == RTUNE_OK)
        *out = (rtune_kernel *)kernel;
    else
        free(kernel);
    return status;
}

/* Has this device what the config needs? */
static enum rtune_status check_capability(const struct rtune_cuda_device *dev,
                                          const struct rtune_config *config,
                                          struct rtune_error *err) {
    const struct rtune_identity *id = &dev->base.identity;
    const uint32_t needs = rtune_config_needs_cc(config);
    if (!rtune_config_runs_on(config, id->cc_major, id->cc_minor))
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "variant=%s with finish=%s needs compute capability %u.%u, and %s has "
                             "%d.%d",
                             rtune_variant_name(config->variant), rtune_finish_name(config->finish),
                             (unsigned)needs / 10, (unsigned)needs % 10, dev->base.name,
                             id->cc_major, id->cc_minor);
    const bool attributes = config->finish == RTUNE_FINISH_DEPENDENT ||
                            config->finish == RTUNE_FINISH_CLUSTER ||
                            config->finish == RTUNE_FINISH_GRID_SYNC;
    if (attributes && !dev->cuda.cuLaunchKernelEx)
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "finish=%s needs cuLaunchKernelEx, which this driver lacks",
                             rtune_finish_name(config->finish));
    return RTUNE_OK;
}

enum rtune_status rtune_cuda_kernel_open(rtune_device *base, const struct rtune_problem *problem,
                                         const struct rtune_config *config, const void *image,
                                         size_t size, rtune_kernel **kernel,
                                         struct rtune_error *err) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    char name[RTUNE_INSTANCE_NAME];
    struct rtune_config builtin = rtune_config_default(problem, true);
    if (image && size == 0) return rtune_err_set(err, RTUNE_INVALID, "kernel image: empty");
    if (!image && !rtune_config_same_instance(config, &builtin))
        return rtune_err_set(err, RTUNE_INVALID,
                             "only the default config has a built-in kernel (give an image)");
    if (!image && !dev->builtin) {
        if (err) *err = dev->builtin_error;
        return dev->builtin_error.status;
    }
    const enum rtune_status status = check_capability(dev, config, err);
    if (status != RTUNE_OK) return status;
    rtune_instance_name(problem, config, name);
    return open_kernel(dev, &(struct opening){tuned_image, image, name, config}, kernel, err);
}

enum rtune_status rtune_cuda_support_open(rtune_device *base, const char *name,
                                          rtune_kernel **kernel, struct rtune_error *err) {
    size_t size = 0;
    const void *image = rtune_support_image(&size);
    if (size == 0)
        return rtune_err_set(err, RTUNE_UNSUPPORTED,
                             "kernel %s: this build has no support kernels (build with nvcc)",
                             name);
    return open_kernel(rtune_cuda_device(base),
                       &(struct opening){library_images, image, name, NULL}, kernel, err);
}

void rtune_cuda_kernel_close(rtune_device *base, rtune_kernel *kernel) {
    struct rtune_cuda_device *dev = rtune_cuda_device(base);
    struct rtune_cuda_kernel *own = (struct rtune_cuda_kernel *)kernel;
    struct rtune_cuda_scope scope;
    if (!own) return;
    if (own->module && rtune_cuda_enter(dev, true, &scope, NULL) == RTUNE_OK) {
        dev->cuda.cuModuleUnload(own->module);
        (void)rtune_cuda_leave(&scope, RTUNE_OK, NULL);
    }
    free(own);
}

uint32_t rtune_cuda_kernel_resident(const rtune_kernel *kernel) {
    return ((const struct rtune_cuda_kernel *)kernel)->resident;
}
