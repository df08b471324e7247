/* SPDX-License-Identifier: Apache-2.0 */
/* fiber.cpp: stacks from mmap, a switch by hand on x86-64, and what AddressSanitizer wants to know.
 */
#include "tests/kernels/emu/fiber.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_ASAN 1
#endif
#endif
#ifdef EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
/* rtune_emu_switch(save, load): push what the ABI preserves, store the stack pointer in *save,
 * continue where `load` was stored. The control words of the FPU stay as they are: nobody here
 * changes them. A jump ends it, since a return to another stack is always predicted wrong. */
extern "C" void rtune_emu_switch(void **save, void *load);
asm(R"(
    .text
    .p2align 4
    .hidden rtune_emu_switch
    .globl rtune_emu_switch
    .type rtune_emu_switch, @function
rtune_emu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size rtune_emu_switch, .-rtune_emu_switch
)");
#else
#include <ucontext.h>
#endif

namespace rtune_emu {
namespace {

constexpr size_t stack_bytes = 64 << 10;
void *main_context;
void (*entry_body)();

#ifdef EMU_ASAN
const void *main_stack;
size_t main_stack_size;
void before_switch(void **fake, const void *stack, size_t size) {
    __sanitizer_start_switch_fiber(fake, stack, size);
}
void after_switch(void *fake, const void **stack, size_t *size) {
    __sanitizer_finish_switch_fiber(fake, stack, size);
}
void enter() {
    after_switch(nullptr, &main_stack, &main_stack_size);
    entry_body();
    abort();
}
#else
void enter() {
    entry_body();
    abort();
}
#endif

#if defined(__x86_64__)
void switch_context(void **save, void *load) { rtune_emu_switch(save, load); }
void *prepare(fiber *f) {
    /* Six registers, the entry point, and the zero that stands for its return address: at entry the
     * stack pointer is 8 below a multiple of 16, as after a call. */
    uintptr_t top = (reinterpret_cast<uintptr_t>(f->stack) + f->stack_size) & ~uintptr_t(15);
    auto *sp = reinterpret_cast<uintptr_t *>(top) - 8;
    for (int k = 0; k < 8; k++)
        sp[k] = 0;
    sp[6] = reinterpret_cast<uintptr_t>(&enter);
    return sp;
}
#else
ucontext_t main_ucontext;
void switch_context(void **save, void *load) {
    auto *from = static_cast<ucontext_t *>(*save ? *save : &main_ucontext);
    *save = from;
    if (swapcontext(from, static_cast<ucontext_t *>(load)) != 0) abort();
}
void *prepare(fiber *f) {
    auto *context =
        static_cast<ucontext_t *>(f->context ? f->context : calloc(1, sizeof(ucontext_t)));
    if (!context || getcontext(context) != 0) abort();
    context->uc_stack.ss_sp = f->stack;
    context->uc_stack.ss_size = f->stack_size;
    makecontext(context, enter, 0);
    return context;
}
#endif

} // namespace

void fiber_create(fiber *f) {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    void *map = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED || mprotect(map, page, PROT_NONE) != 0) {
        perror("fiber: stack");
        abort();
    }
    /* The tops of the stacks at different places in their pages, or they would share few lines of
     * the cache. */
    static unsigned count = 0;
    const size_t colour = count++ % 32 * 512;
    *f = fiber{nullptr, static_cast<char *>(map) + page, stack_bytes - colour, nullptr};
}

void fiber_start(fiber *f, void (*body)()) {
#ifdef EMU_ASAN
    __asan_unpoison_memory_region(f->stack, f->stack_size);
#endif
    entry_body = body;
    f->fake = nullptr;
    f->context = prepare(f);
}

void fiber_resume(fiber *f) {
#ifdef EMU_ASAN
    void *fake = nullptr;
    before_switch(&fake, f->stack, f->stack_size);
#endif
    switch_context(&main_context, f->context);
#ifdef EMU_ASAN
    after_switch(fake, nullptr, nullptr);
#endif
}

void fiber_yield(fiber *f) {
#ifdef EMU_ASAN
    before_switch(&f->fake, main_stack, main_stack_size);
#endif
    switch_context(&f->context, main_context);
#ifdef EMU_ASAN
    after_switch(f->fake, &main_stack, &main_stack_size);
#endif
}

} // namespace rtune_emu
