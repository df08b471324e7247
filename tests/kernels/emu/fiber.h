/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fiber.h: switching between stacks. On x86-64 a switch is a dozen instructions; elsewhere it goes
 * through ucontext, which costs a system call, and is right all the same.
 */
#ifndef RTUNE_TESTS_EMU_FIBER_H
#define RTUNE_TESTS_EMU_FIBER_H

#include <cstddef>

namespace rtune_emu {

struct fiber {
    void *context; /* of the suspended fiber; opaque */
    char *stack;
    size_t stack_size;
    void *fake; /* AddressSanitizer's fake stack */
};

/* Give the fiber a stack, once; it has a guard page below. Aborts if there is no memory. */
void fiber_create(fiber *f);
/* Start it anew: the next resume enters body, which must never return. What it was doing is
 * dropped. */
void fiber_start(fiber *f, void (*body)());
/* From the main stack: run it until it yields. */
void fiber_resume(fiber *f);
/* From the running fiber: back to the main stack. */
void fiber_yield(fiber *f);

} // namespace rtune_emu

#endif
