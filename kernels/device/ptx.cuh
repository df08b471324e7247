/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels/device/ptx.cuh: everything the templates ask of the machine: indices, barrier, shuffle, loads
 * with cache hints, atomics and memory order. All PTX is in the ptx*.cuh headers and hopper.cuh. Without a CUDA compiler
 * the same names have a host body, over a fixture that emulates one block at a time (tests/kernels/emu).
 */
#ifndef RTUNE_DEVICE_PTX_CUH
#define RTUNE_DEVICE_PTX_CUH

#include "kernels/device/abi.cuh"

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define RTUNE_DEVICE __device__ __forceinline__
#define RTUNE_SHARED __shared__
#define RTUNE_ON_DEVICE 1
#else
#define RTUNE_DEVICE inline
#define RTUNE_SHARED static /* one block at a time */
#define RTUNE_ON_DEVICE 0
/* The fixture: the running thread's indices, its barrier, and an exchange among the lanes of its warp. */
namespace rtune_emu {
unsigned thread_index();
unsigned block_index();
unsigned grid_size();
void barrier();
unsigned shuffle_xor(unsigned value, unsigned mask);
unsigned shuffle(unsigned value, unsigned lane);
} // namespace rtune_emu
#endif

namespace rtune {

/* 16 bytes, the unit of every bulk load. */
struct alignas(16) vec16 {
    u32 w[4];
};
struct alignas(16) word2 {
    u64 lo, hi;
};

#if RTUNE_ON_DEVICE

/* At the head of a loop's body: ptxas unrolls loops that nvcc leaves alone. */
#define RTUNE_NO_UNROLL asm volatile(".pragma \"nounroll\";")

RTUNE_DEVICE u32 thread_index() { return threadIdx.x; }
RTUNE_DEVICE u32 block_index() { return blockIdx.x; }
RTUNE_DEVICE u32 grid_size() { return gridDim.x; }
RTUNE_DEVICE void barrier() { __syncthreads(); }
RTUNE_DEVICE u32 shuffle_xor(u32 x, u32 mask) { return __shfl_xor_sync(0xffffffffu, x, int(mask)); }
RTUNE_DEVICE u32 shuffle(u32 x, u32 lane) { return __shfl_sync(0xffffffffu, x, int(lane)); }

/* Loads in front of it are issued before arithmetic behind it: the exit, which is never taken, ends a basic
 * block. Else ptxas starts on the first load's result while the last ones are not on their way, which then
 * cost a latency of their own. p is any address of global memory: those have no highest bit, as compilers do
 * not know. It is the same for all threads of the block, or what follows would be compiled as divergent, and
 * another one each time, or the second exit would be dropped as one that cannot be reached. */
RTUNE_DEVICE void loads_first(const void *p) {
    if (reinterpret_cast<i64>(p) < 0) asm volatile("exit;");
}

/* Shared memory by its address, which is made of the block's place in its cluster. That takes a while to
 * ask for; and compilers ask again behind each barrier, unless the address comes out of an asm. What is
 * accessed so is not accessed by name, too. Accesses of 2 and 4 words must be aligned to all of them. */
RTUNE_DEVICE u32 shared_address(const void *p) {
    u32 address = u32(__cvta_generic_to_shared(p));
    asm volatile("" : "+r"(address));
    return address;
}
RTUNE_DEVICE void load_shared(u32 from, u32 (&w)[1]) {
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w[0]) : "r"(from) : "memory");
}
RTUNE_DEVICE void load_shared(u32 from, u32 (&w)[2]) {
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(w[0]), "=r"(w[1]) : "r"(from) : "memory");
}
RTUNE_DEVICE void load_shared(u32 from, u32 (&w)[3]) {
    asm volatile("ld.shared.u32 %0, [%3];\n\tld.shared.u32 %1, [%3 + 4];\n\t"
                 "ld.shared.u32 %2, [%3 + 8];"
                 : "=&r"(w[0]), "=&r"(w[1]), "=&r"(w[2]) : "r"(from) : "memory");
}
RTUNE_DEVICE void load_shared(u32 from, u32 (&w)[4]) {
    asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]) : "r"(from) : "memory");
}
RTUNE_DEVICE void store_shared(u32 to, const u32 (&w)[1]) {
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(to), "r"(w[0]) : "memory");
}
RTUNE_DEVICE void store_shared(u32 to, const u32 (&w)[2]) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" : : "r"(to), "r"(w[0]), "r"(w[1]) : "memory");
}
RTUNE_DEVICE void store_shared(u32 to, const u32 (&w)[3]) {
    asm volatile("st.shared.u32 [%0], %1;\n\tst.shared.u32 [%0 + 4], %2;\n\t"
                 "st.shared.u32 [%0 + 8], %3;"
                 : : "r"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]) : "memory");
}
RTUNE_DEVICE void store_shared(u32 to, const u32 (&w)[4]) {
    asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
                 : : "r"(to), "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]) : "memory");
}

/* out = *p if valid, else out stays. Predicated, so that the loads of a partial tile are in flight
 * together. volatile keeps them in the order of the source; loads_first keeps arithmetic behind them. */
#define RTUNE_VLOAD(instruction)                                                                   \
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %5, 0;\n\t@p " instruction                  \
                 " {%0, %1, %2, %3}, [%4];\n\t}"                                                   \
                 : "+r"(out.w[0]), "+r"(out.w[1]), "+r"(out.w[2]), "+r"(out.w[3])                  \
                 : "l"(p), "r"(u32(valid)))

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define RTUNE_LD_NOALLOCATE "ld.global.nc.L1::no_allocate.L2::256B.v4.u32"
#else
#define RTUNE_LD_NOALLOCATE "ld.global.nc.L1::no_allocate.v4.u32"
#endif
#define RTUNE_LD_PLAIN "ld.global.v4.u32"
#define RTUNE_LD_NONCOHERENT "ld.global.nc.v4.u32"
#define RTUNE_LD_EVICTFIRST "ld.global.nc.L1::evict_first.v4.u32"

template <load_kind LOAD> RTUNE_DEVICE void load_vector_if(vec16 &out, const vec16 *p, bool valid) {
    if (LOAD == load_kind::plain) RTUNE_VLOAD(RTUNE_LD_PLAIN);
    if (LOAD == load_kind::noncoherent) RTUNE_VLOAD(RTUNE_LD_NONCOHERENT);
    if (LOAD == load_kind::noallocate) RTUNE_VLOAD(RTUNE_LD_NOALLOCATE);
    if (LOAD == load_kind::evictfirst) RTUNE_VLOAD(RTUNE_LD_EVICTFIRST);
}
/* The same for one element, zero-extended. */
RTUNE_DEVICE void load_bits_if(u8 &out, const void *p, bool valid) {
    u32 x = out;
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.u8 %0, [%1];\n\t}"
                 : "+r"(x) : "l"(p), "r"(u32(valid)));
    out = u8(x);
}
RTUNE_DEVICE void load_bits_if(u16 &out, const void *p, bool valid) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.u16 %0, [%1];\n\t}"
                 : "+h"(out) : "l"(p), "r"(u32(valid)));
}
RTUNE_DEVICE void load_bits_if(u32 &out, const void *p, bool valid) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.u32 %0, [%1];\n\t}"
                 : "+r"(out) : "l"(p), "r"(u32(valid)));
}
RTUNE_DEVICE void load_bits_if(u64 &out, const void *p, bool valid) {
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.global.u64 %0, [%1];\n\t}"
                 : "+l"(out) : "l"(p), "r"(u32(valid)));
}
#undef RTUNE_VLOAD
#undef RTUNE_LD_PLAIN
#undef RTUNE_LD_NONCOHERENT
#undef RTUNE_LD_NOALLOCATE
#undef RTUNE_LD_EVICTFIRST

/* old = *p; *p = old >= wrap ? 0 : old + 1; returns old. Device scope. */
RTUNE_DEVICE u32 ticket_relaxed(u32 *p, u32 wrap) {
    u32 old;
    asm volatile("atom.relaxed.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(old) : "l"(p), "r"(wrap) : "memory");
    return old;
}
RTUNE_DEVICE u32 ticket_acq_rel(u32 *p, u32 wrap) {
    u32 old;
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
                 : "=r"(old) : "l"(p), "r"(wrap) : "memory");
    return old;
}
/* Relaxed accesses of device scope. Each 64-bit word is accessed whole; two words are not one access. */
RTUNE_DEVICE void store_word(u64 *p, u64 x) {
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" : : "l"(p), "l"(x) : "memory");
}
RTUNE_DEVICE u64 load_word(const u64 *p) {
    u64 x;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(x) : "l"(p) : "memory");
    return x;
}
RTUNE_DEVICE void store_words(word2 *p, word2 x) {
    asm volatile("st.relaxed.gpu.global.v2.u64 [%0], {%1, %2};"
                 : : "l"(p), "l"(x.lo), "l"(x.hi) : "memory");
}
RTUNE_DEVICE word2 load_words(const word2 *p) {
    word2 x;
    asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(x.lo), "=l"(x.hi) : "l"(p) : "memory");
    return x;
}

/* *p += x, of device scope and without an order; the old value, or nothing. */
RTUNE_DEVICE u64 add_relaxed(u64 *p, u64 x) {
    u64 old;
    asm volatile("atom.relaxed.gpu.global.add.u64 %0, [%1], %2;"
                 : "=l"(old) : "l"(p), "l"(x) : "memory");
    return old;
}
RTUNE_DEVICE void reduce_add(f32 *p, f32 x) {
    asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;" : : "l"(p), "f"(x) : "memory");
}
RTUNE_DEVICE void reduce_add(f64 *p, f64 x) {
    asm volatile("red.relaxed.gpu.global.add.f64 [%0], %1;" : : "l"(p), "d"(x) : "memory");
}
RTUNE_DEVICE u32 load_acquire(const u32 *p) {
    u32 x;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(x) : "l"(p) : "memory");
    return x;
}

/* Bring the line of p into L2; a hint. */
RTUNE_DEVICE void prefetch(const void *p) { asm volatile("prefetch.global.L2 [%0];" : : "l"(p)); }

/* The kernel behind this one may be launched, if it was enqueued so that it waits for results by itself
 * (programmatic dependent launch). A no-op before sm_90. */
RTUNE_DEVICE void launch_dependents() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" : : : "memory");
#endif
}

#else /* host body */

#define RTUNE_NO_UNROLL (void)0
RTUNE_DEVICE void loads_first(const void *) {}
RTUNE_DEVICE void launch_dependents() {}

RTUNE_DEVICE u32 thread_index() { return rtune_emu::thread_index(); }
RTUNE_DEVICE u32 block_index() { return rtune_emu::block_index(); }
RTUNE_DEVICE u32 grid_size() { return rtune_emu::grid_size(); }
RTUNE_DEVICE void barrier() { rtune_emu::barrier(); }
RTUNE_DEVICE u32 shuffle_xor(u32 x, u32 mask) { return rtune_emu::shuffle_xor(x, mask); }
RTUNE_DEVICE u32 shuffle(u32 x, u32 lane) { return rtune_emu::shuffle(x, lane); }

template <load_kind LOAD> RTUNE_DEVICE void load_vector_if(vec16 &out, const vec16 *p, bool valid) {
    if (valid) out = *p;
}
template <class U> RTUNE_DEVICE void load_bits_if(U &out, const void *p, bool valid) {
    if (valid) out = *static_cast<const U *>(p);
}
RTUNE_DEVICE u32 ticket_relaxed(u32 *p, u32 wrap) {
    const u32 old = *p;
    *p = old >= wrap ? 0 : old + 1;
    return old;
}
RTUNE_DEVICE u32 ticket_acq_rel(u32 *p, u32 wrap) { return ticket_relaxed(p, wrap); }
RTUNE_DEVICE void store_word(u64 *p, u64 x) { *p = x; }
RTUNE_DEVICE u64 load_word(const u64 *p) { return *p; }
RTUNE_DEVICE void store_words(word2 *p, word2 x) { *p = x; }
RTUNE_DEVICE word2 load_words(const word2 *p) { return *p; }
RTUNE_DEVICE u64 add_relaxed(u64 *p, u64 x) {
    const u64 old = *p;
    *p = old + x;
    return old;
}
template <class A> RTUNE_DEVICE void reduce_add(A *p, A x) { *p += x; }

RTUNE_DEVICE void prefetch(const void *) {}

#endif

} // namespace rtune

#endif
