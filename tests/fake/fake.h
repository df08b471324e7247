/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/fake/fake.h: a CUDA driver that runs on the host, and what tests can ask of it. Link
 * fake_cuda into a test program (its SONAME is libcuda.so.1, so the library under test finds it),
 * or point a program at it with LD_LIBRARY_PATH.
 *
 * Work on a stream is done when something waits for it, never before, so that missing waits show.
 * Kernels are known by name: reductions (rtune_instance_name) and the tuner's support kernels.
 * Every other name is not found. What no correct caller does (a workspace in flight twice, an input
 * outside its allocation, a stream that is gone) is printed, remembered as the problem, and breaks
 * the context as on a GPU.
 *
 * Settings, read from the environment by cuInit and fake_cuda_reset; lists give one value per
 * device, the last one for all others:
 *
 * - RTUNE_FAKE_DEVICES=1: number of GPUs
 * - RTUNE_FAKE_CC=9.0: compute capability (list)
 * - RTUNE_FAKE_SMS=132: multiprocessors (list)
 * - RTUNE_FAKE_L2=4194304: bytes of L2 (list)
 * - RTUNE_FAKE_MEMORY=268435456: bytes of memory (list)
 * - RTUNE_FAKE_MIG=0: 1: the device is a MIG slice (list)
 * - RTUNE_FAKE_DRIVER=13000: version of the driver
 * - RTUNE_FAKE_INIT=0: result of cuInit
 * - RTUNE_FAKE_LOAD=0: result of cuModuleLoadDataEx
 * - RTUNE_FAKE_SEED=1: of the noise on times
 * - RTUNE_FAKE_NOISE=10: its size, in thousandths
 * - RTUNE_FAKE_FAULTS=kind=text,...: kernels whose name has the text in it misbehave. Kinds: wrong
 *   (a wrong result), skip (none), trap (breaks the context), hang (never ends), absent (cannot be
 *   found)
 * - RTUNE_FAKE_LOG=: a file; the name of every call is appended to it
 */
#ifndef RTUNE_TESTS_FAKE_FAKE_H
#define RTUNE_TESTS_FAKE_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_API __attribute__((visibility("default")))

/* Forget everything: objects, counts, the log, armed failures, the problem; read the settings
 * again. Nothing made before may be used afterwards. */
FAKE_API void fake_cuda_reset(void);

/* Calls of a driver function since the last reset, by its symbol ("cuMemAlloc_v2"); NULL: of all,
 * but for the two that only name an error. */
FAKE_API uint64_t fake_cuda_calls(const char *symbol);
/* Name of the k-th call of all since the last reset or mark, NULL past the last; the first 65536
 * are kept. */
FAKE_API const char *fake_cuda_call_at(size_t k);
FAKE_API void fake_cuda_mark(void);

/* Make the k-th next call (from 1) of a function, or of any function if symbol is NULL, fail with a
 * CUresult instead of being done. One failure is armed at a time; k = 0 disarms. */
FAKE_API void fake_cuda_fail(const char *symbol, uint64_t k, int result);
/* Has the armed failure happened? */
FAKE_API bool fake_cuda_failed(void);

/* What is alive: contexts (retained primary ones and created ones), allocations, streams (created
 * ones), events, modules, graphs (executable ones too). */
struct fake_cuda_live {
    size_t contexts, allocations, streams, events, modules, graphs;
};
FAKE_API struct fake_cuda_live fake_cuda_live(void);

/* The first thing that no correct caller does, as text; NULL if there was none. */
FAKE_API const char *fake_cuda_problem(void);

/* Operations that were enqueued and are not done yet, on all streams. */
FAKE_API size_t fake_cuda_pending(void);

#endif /* RTUNE_TESTS_FAKE_FAKE_H */
