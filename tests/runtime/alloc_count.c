/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/runtime/alloc_count.c: counts what asks for memory, in one of two ways. As it is, it takes
 * the place of glibc's malloc in the whole program. With ALLOC_WRAP it counts the calls of what is
 * linked into the program itself, by --wrap, which works beside a sanitizer too.
 */
#include "tests/runtime/alloc_count.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

static _Atomic uint64_t count;

uint64_t alloc_count(void) { return atomic_load(&count); }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if defined(ALLOC_WRAP)
#define NAME(f) __wrap_##f
#define REAL(f) __real_##f
#elif !defined(SANITIZED)
#define NAME(f) f
#define REAL(f) __libc_##f
#endif

#ifndef NAME
bool alloc_counted(void) { return false; }
#else
bool alloc_counted(void) { return true; }

void *REAL(malloc)(size_t size);
void *REAL(calloc)(size_t n, size_t size);
void *REAL(realloc)(void *ptr, size_t size);
/* Visible, since the linker looks for them in the name of shared libraries too. */
#define VISIBLE __attribute__((visibility("default")))
VISIBLE void *NAME(malloc)(size_t size);
VISIBLE void *NAME(calloc)(size_t n, size_t size);
VISIBLE void *NAME(realloc)(void *ptr, size_t size);

void *NAME(malloc)(size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return REAL(malloc)(size);
}

void *NAME(calloc)(size_t n, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return REAL(calloc)(n, size);
}

void *NAME(realloc)(void *ptr, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return REAL(realloc)(ptr, size);
}
#endif

#if !defined(ALLOC_WRAP) && !defined(SANITIZED)
void *__libc_memalign(size_t alignment, size_t size);

void *aligned_alloc(size_t alignment, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **ptr, size_t alignment, size_t size) {
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    *ptr = __libc_memalign(alignment, size);
    return *ptr ? 0 : ENOMEM;
}
#endif
