/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emu.cpp: the scheduler. A warp runs as passes over its lanes: each lane runs to its next shuffle,
 * barrier or end, and all lanes of a pass must have come to the same. A block runs its warps from
 * barrier to barrier, and all must come to the same, too.
 */
#include "tests/kernels/emu/emu.h"

#include "base/rng.h"
#include "tests/kernels/emu/fiber.h"

#include <cstdio>
#include <utility>

namespace rtune_emu {

unsigned thread_index();
unsigned block_index();
unsigned grid_size();
void barrier();
unsigned shuffle_xor(unsigned value, unsigned mask);
unsigned shuffle(unsigned value, unsigned lane);

namespace {

constexpr unsigned warp_size = 32, block_max = 1024, grid_max = 1 << 16;

enum class at { shuffle_xor, shuffle, barrier, end };
const char *const place_names[] = {"a shuffle_xor", "a shuffle", "a barrier", "its end"};

struct thread {
    fiber context;
    at place;           /* where it yielded */
    unsigned operand;   /* mask or lane of the shuffle */
    unsigned turn;      /* which of the two values is the current shuffle's */
    unsigned values[2]; /* a lane may come to its next shuffle before another has read this one */
};

struct machine {
    thread threads[block_max];
    bool created[block_max];
    bool fresh[block_max]; /* started, and at the top of its body */
    unsigned current, block_index;
    launch l;
    rtune_rng rng;
    char error[256];
} m;

void body() {
    for (;;) {
        m.l.kernel(m.l.args);
        m.threads[m.current].place = at::end;
        fiber_yield(&m.threads[m.current].context);
    }
}

void yield_at(at place, unsigned operand) {
    thread &t = m.threads[m.current];
    t.place = place;
    t.operand = operand;
    fiber_yield(&t.context);
}

unsigned exchange(at place, unsigned value, unsigned operand, unsigned partner) {
    thread &t = m.threads[m.current];
    t.turn ^= 1;
    t.values[t.turn] = value;
    yield_at(place, operand);
    return m.threads[m.current / warp_size * warp_size + partner].values[t.turn];
}

/* 0 ... count-1 in the launch's order. */
void sequence(unsigned *index, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        index[i] = m.l.in == order::backward ? count - 1 - i : i;
    if (m.l.in != order::random) return;
    for (unsigned i = count; i > 1; i--)
        std::swap(index[i - 1], index[rtune_rng_below(&m.rng, i)]);
}

bool same_place(const thread &a, const thread &b) {
    const bool shuffles = a.place == at::shuffle_xor || a.place == at::shuffle;
    return a.place == b.place && (!shuffles || a.operand == b.operand);
}

bool diverged(unsigned a, unsigned b) {
    const thread &x = m.threads[a], &y = m.threads[b];
    snprintf(m.error, sizeof m.error,
             "block %u: thread %u is at %s (%u) while thread %u is at %s (%u)", m.block_index, a,
             place_names[int(x.place)], x.operand, b, place_names[int(y.place)], y.operand);
    return false;
}

/* Run a warp to its next barrier or its end; false if it diverged. */
bool run_warp(unsigned first) {
    unsigned lanes[warp_size];
    sequence(lanes, warp_size);
    for (;;) {
        for (const unsigned lane : lanes) {
            m.current = first + lane;
            m.fresh[m.current] = false;
            fiber_resume(&m.threads[m.current].context);
        }
        for (unsigned lane = 1; lane < warp_size; lane++)
            if (!same_place(m.threads[first], m.threads[first + lane]))
                return diverged(first, first + lane);
        const at place = m.threads[first].place;
        if (place == at::barrier || place == at::end) return true;
    }
}

bool run_block() {
    const unsigned warps = m.l.block / warp_size;
    unsigned index[block_max / warp_size];
    for (unsigned t = 0; t < m.l.block; t++)
        m.threads[t].turn = 0;
    for (;;) {
        sequence(index, warps);
        for (unsigned w = 0; w < warps; w++)
            if (!run_warp(index[w] * warp_size)) return false;
        for (unsigned w = 1; w < warps; w++)
            if (m.threads[0].place != m.threads[w * warp_size].place)
                return diverged(0, w * warp_size);
        if (m.threads[0].place == at::end) break;
    }
    for (unsigned t = 0; t < m.l.block; t++)
        m.fresh[t] = true;
    return true;
}

/* Every fiber of the block at the top of its body. */
void start_threads() {
    for (unsigned t = 0; t < m.l.block; t++) {
        if (!m.created[t]) fiber_create(&m.threads[t].context);
        if (!m.fresh[t]) fiber_start(&m.threads[t].context, body);
        m.created[t] = m.fresh[t] = true;
    }
}

} // namespace

unsigned thread_index() { return m.current; }
unsigned block_index() { return m.block_index; }
unsigned grid_size() { return m.l.grid; }
void barrier() { yield_at(at::barrier, 0); }
unsigned shuffle_xor(unsigned value, unsigned mask) {
    return exchange(at::shuffle_xor, value, mask, (m.current % warp_size) ^ (mask % warp_size));
}
unsigned shuffle(unsigned value, unsigned lane) {
    return exchange(at::shuffle, value, lane, lane % warp_size);
}

const char *run(const launch &l) {
    static unsigned blocks[grid_max];
    if (l.block == 0 || l.block > block_max || l.block % warp_size || l.grid == 0 ||
        l.grid > grid_max)
        return "no such block or grid";
    m.l = l;
    m.rng = rtune_rng{l.seed, 0};
    start_threads();
    sequence(blocks, l.grid);
    for (unsigned b = 0; b < l.grid; b++) {
        m.block_index = blocks[b];
        if (!run_block()) return m.error;
    }
    return nullptr;
}

} // namespace rtune_emu
