// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_common.cuh: what the GPU benches share: names, checks of calls, input data, the
// three states of the input, timing by events. Everything uses the public interface of librtune.
//
// A function that cannot go on ends the program with a message: a bench has nothing to clean up.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "rtune/rtune.h"

namespace bench {

[[noreturn]] void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void check_cuda(cudaError_t e, const char *what, const char *file, int line);
void check_rtune(rtune_status s, const rtune_error &err, const char *what);
#define CUDA(x) bench::check_cuda((x), #x, __FILE__, __LINE__)

// ---- names and options ------------------------------------------------------------------------

struct name_table {
    const char *const *names;
    int count;
    int find(const std::string &text) const; // -1: none
};
extern const name_table ops, dtypes, accs, modes, caches, finishes;

uint64_t number(const std::string &text, uint64_t most); // decimal; ends the program if it is not
std::vector<std::string> split(const std::string &text); // at commas
std::vector<int> choose(const name_table &table, const std::string &list, const char *option);

// "--name value" pairs of a command line; unknown names end the program with status 2.
class arguments {
public:
    arguments(int argc, char **argv, const std::vector<std::pair<std::string, std::string>> &known,
              const char *usage);
    const std::string &operator[](const std::string &name) const;

private:
    std::vector<std::pair<std::string, std::string>> values;
};

// ---- problems ---------------------------------------------------------------------------------

struct kind {
    rtune_op op;
    rtune_dtype dtype;
    rtune_acc acc;
    rtune_mode mode;
};

// One call, of whatever library. out has 32 bytes.
struct call {
    kind what;
    uint64_t n;
    const void *in, *in2; // in2: of dot
    void *out;
    cudaStream_t stream;
};

rtune_problem problem_of(const kind &what, uint64_t n, rtune_cache cache);
std::string name_of(const kind &what);               // "sum,f32,wide,plain"
std::string config_text(const rtune_launch &launch); // with blanks for commas
uint64_t prime_below(uint64_t n);                    // the largest one; n > 3

rtune *open_library(const char *store, uint32_t workspaces = 0); // NULL: RTUNE_DB, or the user's

// ---- data -------------------------------------------------------------------------------------

enum class data {
    small,  // -3 ... 3 of zero mean: sums of f32 and f64 are exact in every order
    range,  // as many different values as the type has, all whole numbers: for min, max, arg ops
    sparse, // zeros but for 4 of each power of two, +1 or -1: sums are exact even in bf16
    sign,   // +1 or -1
    zero,
    one
};
data data_for(rtune_op op);
struct area {
    void *p;
    uint64_t n;    // elements
    uint64_t salt; // other salt, other data
};
void fill(const area &to, rtune_dtype dtype, data d, cudaStream_t stream);

// ---- timing -----------------------------------------------------------------------------------

double quantile(std::vector<double> v, double q);

void launch_empty(cudaStream_t stream); // a kernel that does nothing

// A stream, a pool of input, and calls timed by events.
class stand {
public:
    static constexpr int repeats = 20; // calls in one graph
    using work = std::function<void()>;

    explicit stand(uint64_t most_bytes); // the pool has this, or what the device has free
    stand(const stand &) = delete;

    // One call on an input that is not in the cache (cold), or whose cache is full of another's
    // writes (dirty). The flush runs while the rest is enqueued, so that all work is queued before
    // timing starts; waiting after each sample keeps the queue short (a long one adds 0.7 us).
    double once(rtune_cache state, const work &w) const;
    double empty() const; // of a kernel that does nothing, cold
    // A graph of 20 captured calls; its time for each call.
    cudaGraphExec_t capture(const work &w) const;
    double warm(cudaGraphExec_t graph) const;

    // The best rate of plain kernels that only read, in bytes a microsecond, over bytes of the
    // pool.
    double read_rate(uint64_t bytes) const;

    cudaStream_t stream = nullptr;
    char *pool = nullptr;
    uint64_t pool_bytes = 0;

private:
    void flush(rtune_cache state) const;
    static constexpr size_t flush_bytes = size_t(256) << 20; // 4 x L2 of an H200
    void *dirty = nullptr, *clean = nullptr;
    unsigned *sink = nullptr;
    cudaEvent_t first = nullptr, last = nullptr;
};

// "device=... cuda=... ..." for the comment line of a result.
std::string device_line();

} // namespace bench
