/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fake/fake_module.c: modules of the fake driver, which know every kernel that a name can
 * say. */
#include "tests/fake/fake_int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static CUresult find_module(CUmodule handle, struct fake_module **module) {
    for (struct fake_module *m = fake.modules; m; m = m->next)
        if (m == (struct fake_module *)handle) {
            *module = m;
            return CUDA_SUCCESS;
        }
    fake_problem("a module was used that does not exist (any more)");
    return CUDA_ERROR_INVALID_HANDLE;
}

CUresult fake_function_find(CUfunction handle, struct fake_function **function) {
    for (struct fake_module *m = fake.modules; m; m = m->next)
        for (struct fake_function *f = m->functions; f; f = f->next)
            if (f == (struct fake_function *)handle) {
                *function = f;
                return CUDA_SUCCESS;
            }
    fake_problem("a function was used whose module is gone");
    return CUDA_ERROR_INVALID_HANDLE;
}

static void release(struct fake_module **link) {
    struct fake_module *module = *link;
    *link = module->next;
    while (module->functions) {
        struct fake_function *function = module->functions;
        module->functions = function->next;
        free(function);
    }
    free(module);
}

void fake_modules_clear(struct fake_context *context) {
    struct fake_module **link = &fake.modules;
    while (*link) {
        if ((*link)->context == context)
            release(link);
        else
            link = &(*link)->next;
    }
}

/* ---- modules --------------------------------------------------------------------------------- */

/* Any image will do, but one that says "bad image". */
static CUresult load(CUmodule *handle, const void *image, unsigned int count, CUjit_option *options,
                     void **values) {
    static const char log[] = "fake log: first line\nsecond line";
    struct fake_context *context;
    CUresult result = fake_current(&context);
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result == CUDA_SUCCESS && !image) result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) result = (CUresult)fake.settings.load_result;
    if (result == CUDA_SUCCESS && strncmp(image, "bad image", 9) == 0)
        result = CUDA_ERROR_INVALID_IMAGE;
    for (unsigned int i = 0; result != CUDA_SUCCESS && i + 1 < count; i++)
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER &&
            options[i + 1] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            snprintf(values[i], (size_t)(uintptr_t)values[i + 1], "%s", log);
    if (result != CUDA_SUCCESS) return result;
    struct fake_module *module = calloc(1, sizeof *module);
    if (!module) return CUDA_ERROR_OUT_OF_MEMORY;
    module->context = context;
    module->next = fake.modules;
    fake.modules = module;
    *handle = (CUmodule)module;
    return CUDA_SUCCESS;
}
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values) {
    return FAKE_CALL(cuModuleLoadDataEx, load(module, image, count, options, values));
}

static CUresult unload(CUmodule handle) {
    struct fake_module *module;
    CUresult result = find_module(handle, &module);
    if (result == CUDA_SUCCESS) result = fake_capture_unsafe();
    if (result != CUDA_SUCCESS) return result;
    if (!fake_drain_context(module->context)) fake_hang();
    struct fake_module **link = &fake.modules;
    while (*link != module)
        link = &(*link)->next;
    release(link);
    return CUDA_SUCCESS;
}
CUresult cuModuleUnload(CUmodule module) { return FAKE_CALL(cuModuleUnload, unload(module)); }

/* ---- functions ------------------------------------------------------------------------------- */

static bool has_partials(const struct fake_shape *shape) {
    return shape->finish == RTUNE_FINISH_TWO_KERNELS || shape->finish == RTUNE_FINISH_DEPENDENT;
}

/* What a name says; with _2 behind it it is that of the second of two kernels. */
static bool shape_of(const char *name, struct fake_shape *shape) {
    char first[RTUNE_INSTANCE_NAME];
    const size_t length = strlen(name);
    if (fake_shape_parse(name, shape)) return true;
    if (length < 2 || length - 2 >= sizeof first || strcmp(name + length - 2, "_2") != 0)
        return false;
    memcpy(first, name, length - 2);
    first[length - 2] = '\0';
    if (!fake_shape_parse(first, shape) || !has_partials(shape)) return false;
    shape->second = true;
    return true;
}

static CUresult get_function(CUfunction *handle, CUmodule module_handle, const char *name) {
    struct fake_module *module;
    struct fake_shape shape;
    CUresult result = find_module(module_handle, &module);
    if (result != CUDA_SUCCESS) return result;
    enum fake_fault fault = fake_settings_fault(&fake.settings, name);
    if (fault == FAKE_ABSENT || !shape_of(name, &shape)) return CUDA_ERROR_NOT_FOUND;
    struct fake_function *function = calloc(1, sizeof *function);
    if (!function) return CUDA_ERROR_OUT_OF_MEMORY;
    function->module = module;
    function->shape = shape;
    function->fault = fault;
    snprintf(function->name, sizeof function->name, "%s", name);
    function->next = module->functions;
    module->functions = function;
    *handle = (CUfunction)function;
    return CUDA_SUCCESS;
}
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    return FAKE_CALL(cuModuleGetFunction, get_function(function, module, name));
}

static CUresult load_function(CUfunction handle) {
    struct fake_function *function;
    CUresult result = fake_function_find(handle, &function);
    return result == CUDA_SUCCESS ? fake_capture_unsafe() : result;
}
CUresult cuFuncLoad(CUfunction function) { return FAKE_CALL(cuFuncLoad, load_function(function)); }

static CUresult function_attribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    struct fake_function *function;
    CUresult result = fake_function_find(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
        *value = (int)(24 + 4 * function->shape.vectors);
    else if (attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
        *value = function->shape.block ? (int)function->shape.block : RTUNE_BLOCK_MAX;
    else
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
    return FAKE_CALL(cuFuncGetAttribute, function_attribute(value, attribute, function));
}

/* By threads and by registers, of which a multiprocessor has 65536. */
int fake_function_resident(const struct fake_function *function, int block) {
    int registers = (int)(24 + 4 * function->shape.vectors);
    int by_threads = 2048 / block, by_registers = 65536 / (block * registers);
    int blocks = by_threads < by_registers ? by_threads : by_registers;
    if (blocks > 32) blocks = 32;
    return block > RTUNE_BLOCK_MAX ? 0 : blocks;
}

static CUresult occupancy(int *blocks, CUfunction handle, int block) {
    struct fake_function *function;
    CUresult result = fake_function_find(handle, &function);
    if (result != CUDA_SUCCESS) return result;
    if (block < 1) return CUDA_ERROR_INVALID_VALUE;
    *blocks = fake_function_resident(function, block);
    return CUDA_SUCCESS;
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block,
                                                     size_t shared) {
    (void)shared;
    return FAKE_CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor,
                     occupancy(blocks, function, block));
}
