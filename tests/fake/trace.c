/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/trace.c: a libcuda.so.1 that passes every call on to the real driver and appends its
 * name to the file RTUNE_TRACE_FILE. It shows on a real GPU which driver calls a program makes. The
 * real driver is RTUNE_TRACE_REAL, else the first of the usual places.
 *
 * Each function is a trampoline: it keeps the argument registers, asks trace_enter for the real
 * function by name, and jumps there. (No function of the tables takes a floating-point argument by
 * value.)
 */
#include "tests/fake/driver.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define TRAMPOLINE(symbol)                                                                         \
    __asm__(".text\n.globl " symbol "\n.type " symbol ",@function\n" symbol ":\n"                  \
            "push %rdi\npush %rsi\npush %rdx\npush %rcx\npush %r8\npush %r9\nsub $8,%rsp\n"        \
            "lea 1f(%rip),%rdi\ncall trace_enter\nmov %rax,%r11\n"                                 \
            "add $8,%rsp\npop %r9\npop %r8\npop %rcx\npop %rdx\npop %rsi\npop %rdi\njmp *%r11\n"   \
            "1: .asciz \"" symbol "\"\n.size " symbol ",.-" symbol "\n.balign 16\n");
#elif defined(__aarch64__)
#define TRAMPOLINE(symbol)                                                                         \
    __asm__(".text\n.balign 4\n.globl " symbol "\n.type " symbol ",@function\n" symbol ":\n"       \
            "stp x29,x30,[sp,#-80]!\nstp x0,x1,[sp,#16]\nstp x2,x3,[sp,#32]\n"                     \
            "stp x4,x5,[sp,#48]\nstp x6,x7,[sp,#64]\nadr x0,1f\nbl trace_enter\nmov x16,x0\n"      \
            "ldp x0,x1,[sp,#16]\nldp x2,x3,[sp,#32]\nldp x4,x5,[sp,#48]\nldp x6,x7,[sp,#64]\n"     \
            "ldp x29,x30,[sp],#80\nbr x16\n"                                                       \
            "1: .asciz \"" symbol "\"\n.size " symbol ",.-" symbol "\n.balign 4\n");
#else
#error "tests/fake/trace.c has no trampoline for this processor"
#endif

#define X(required, name) TRAMPOLINE(RTUNE_CUDA_TEXT(name))
RTUNE_CUDA_TABLE(X)
#undef X
#define X(required, member, type, symbol) TRAMPOLINE(symbol)
RTUNE_CUDA_PINNED(X)
#undef X
#define X(name) TRAMPOLINE(RTUNE_CUDA_TEXT(name))
TEST_DRIVER_TABLE(X)
#undef X
#define X(member, type, symbol) TRAMPOLINE(symbol)
TEST_DRIVER_PINNED(X)
#undef X
/* What the CUDA runtime asks for, when it is in the same process. */
TRAMPOLINE("cuGetProcAddress")
TRAMPOLINE("cuGetProcAddress_v2")
TRAMPOLINE("cuGetExportTable")

void *trace_enter(const char *symbol) __attribute__((visibility("hidden"), used));

static struct {
    pthread_once_t once;
    void *real;
    int file;
} trace = {PTHREAD_ONCE_INIT, NULL, -1};

static void open_real(void) {
    const char *places[] = {
        getenv("RTUNE_TRACE_REAL"),
        "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
        "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
        "/usr/lib64/libcuda.so.1",
        "/usr/local/nvidia/lib64/libcuda.so.1",
        "/usr/local/nvidia/lib/libcuda.so.1",
    };
    const char *path = getenv("RTUNE_TRACE_FILE");
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !trace.real; i++)
        if (places[i]) trace.real = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
    if (path) trace.file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
}

/* What a function answers that the real driver does not have: not found. */
static CUresult absent(void) { return CUDA_ERROR_NOT_FOUND; }

void *trace_enter(const char *symbol) {
    char line[128];
    void *function = NULL;
    pthread_once(&trace.once, open_real);
    int length = snprintf(line, sizeof line, "%s\n", symbol);
    if (trace.file >= 0 && write(trace.file, line, (size_t)length) != length) abort();
    if (!trace.real) {
        fprintf(stderr, "trace: no driver to pass %s on to (set RTUNE_TRACE_REAL)\n", symbol);
        abort();
    }
    function = dlsym(trace.real, symbol);
    if (!function) {
        CUresult (*answer)(void) = absent;
        memcpy(&function, &answer, sizeof function);
    }
    return function;
}
