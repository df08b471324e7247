// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_common.cu: names, command lines and timing of the GPU benches. Calls nothing of
// librtune.
#include "tools/bench/bench_common.cuh"

#include <algorithm>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace bench {

void die(const char *format, ...) {
    va_list args;
    va_start(args, format);
    std::fputs("bench: ", stderr);
    std::vfprintf(stderr, format, args);
    std::fputc('\n', stderr);
    va_end(args);
    std::exit(1);
}

void check_cuda(cudaError_t e, const char *what, const char *file, int line) {
    if (e != cudaSuccess) die("%s:%d: %s: %s", file, line, what, cudaGetErrorString(e));
}

// ---- names and options ------------------------------------------------------------------------

static const char *const op_names[] = {"sum",           "sumsq",  "asum",   "dot",    "prod", "min",
                                       "max",           "minmax", "argmin", "argmax", "any",  "all",
                                       "count_nonzero", "band",   "bor",    "bxor"};
static const char *const dtype_names[] = {"i8",  "u8",  "i16", "u16",  "i32", "u32",
                                          "i64", "u64", "f16", "bf16", "f32", "f64"};
static const char *const acc_names[] = {"wide", "native"};
static const char *const mode_names[] = {"plain", "kahan", "reproducible", "fixed"};
static const char *const cache_names[] = {"cold", "dirty", "warm"};
static const char *const finish_names[] = {
    "one", "slots", "last", "packed", "two_kernels", "dependent", "cluster", "grid_sync", "atomic"};
template <int N> constexpr int length(const char *const (&)[N]) { return N; }
static_assert(length(op_names) == RTUNE_OP_COUNT && length(dtype_names) == RTUNE_DTYPE_COUNT &&
                  length(acc_names) == RTUNE_ACC_COUNT && length(mode_names) == RTUNE_MODE_COUNT &&
                  length(cache_names) == RTUNE_CACHE_COUNT &&
                  length(finish_names) == RTUNE_FINISH_COUNT,
              "a name for each value");
const name_table ops = {op_names, RTUNE_OP_COUNT}, dtypes = {dtype_names, RTUNE_DTYPE_COUNT},
                 accs = {acc_names, RTUNE_ACC_COUNT}, modes = {mode_names, RTUNE_MODE_COUNT},
                 caches = {cache_names, RTUNE_CACHE_COUNT},
                 finishes = {finish_names, RTUNE_FINISH_COUNT};

int name_table::find(const std::string &text) const {
    for (int i = 0; i < count; i++)
        if (text == names[i]) return i;
    return -1;
}

uint64_t number(const std::string &text, uint64_t most) {
    uint64_t x = 0;
    const auto end = text.data() + text.size();
    const auto r = std::from_chars(text.data(), end, x);
    if (r.ec != std::errc() || r.ptr != end || x > most)
        die("\"%s\" is no number up to %llu", text.c_str(), (unsigned long long)most);
    return x;
}

std::vector<std::string> split(const std::string &text) {
    std::vector<std::string> words;
    for (size_t at = 0; at <= text.size();) {
        const size_t comma = std::min(text.find(',', at), text.size());
        if (comma > at) words.push_back(text.substr(at, comma - at));
        at = comma + 1;
    }
    return words;
}

std::vector<int> choose(const name_table &table, const std::string &list, const char *option) {
    std::vector<int> chosen;
    for (const std::string &word : split(list)) {
        const int i = table.find(word);
        if (i < 0) die("%s: unknown word \"%s\"", option, word.c_str());
        chosen.push_back(i);
    }
    return chosen;
}

arguments::arguments(int argc, char **argv,
                     const std::vector<std::pair<std::string, std::string>> &known,
                     const char *usage)
    : values(known) {
    for (int i = 1; i < argc; i += 2) {
        auto it = std::find_if(values.begin(), values.end(),
                               [&](const auto &v) { return v.first == argv[i]; });
        if (it == values.end() || i + 1 >= argc) {
            std::fprintf(stderr, "%s\n", usage);
            std::exit(2);
        }
        it->second = argv[i + 1];
    }
}

const std::string &arguments::operator[](const std::string &name) const {
    for (const auto &v : values)
        if (v.first == name) return v.second;
    die("no option %s", name.c_str());
}

// ---- timing -----------------------------------------------------------------------------------

double quantile(std::vector<double> v, double q) {
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, size_t(q * double(v.size())))];
}

__global__ static void empty_kernel() {}
void launch_empty(cudaStream_t stream) { empty_kernel<<<1, 32, 0, stream>>>(); }

// 8 vectors in flight for each thread; n is a multiple of what one trip of the grid reads.
__global__ static void read_kernel(const uint4 *p, size_t n, unsigned *sink) {
    const size_t step = gridDim.x * size_t(blockDim.x);
    unsigned x = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n; i += 8 * step) {
        uint4 v[8];
#pragma unroll
        for (int k = 0; k < 8; k++)
            v[k] = i + k * step < n ? p[i + k * step] : make_uint4(0, 0, 0, 0);
#pragma unroll
        for (int k = 0; k < 8; k++)
            x ^= (v[k].x ^ v[k].y) * (v[k].z | v[k].w);
    }
    if (x == 0xdeadbeefu) *sink = x; // so that the loads are not dropped
}

stand::stand(uint64_t most_bytes) {
    CUDA(cudaFree(nullptr));
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&first));
    CUDA(cudaEventCreate(&last));
    CUDA(cudaMalloc(&dirty, flush_bytes));
    CUDA(cudaMalloc(&clean, flush_bytes));
    CUDA(cudaMalloc(&sink, 64));
    CUDA(cudaMemsetAsync(clean, 0x55, flush_bytes, stream));
    size_t free_bytes = 0, total = 0;
    CUDA(cudaMemGetInfo(&free_bytes, &total));
    const uint64_t spare = uint64_t(3) << 30; // handles, peers' workspaces
    if (free_bytes < 2 * spare) die("the device has only %zu bytes free", free_bytes);
    pool_bytes = std::min(most_bytes, free_bytes - spare) / 4096 * 4096;
    CUDA(cudaMalloc(&pool, pool_bytes));
    CUDA(cudaMemsetAsync(pool, 0, pool_bytes, stream));
    for (int i = 0; i < 2000; i++)
        flush(RTUNE_COLD); // clocks
    CUDA(cudaStreamSynchronize(stream));
}

void stand::flush(rtune_cache state) const {
    CUDA(cudaMemsetAsync(dirty, 0, flush_bytes, stream));
    if (state == RTUNE_COLD)
        read_kernel<<<528, 512, 0, stream>>>(static_cast<const uint4 *>(clean), flush_bytes / 16,
                                             sink);
}

double stand::once(rtune_cache state, const work &w) const {
    flush(state);
    CUDA(cudaEventRecord(first, stream));
    w();
    CUDA(cudaEventRecord(last, stream));
    CUDA(cudaStreamSynchronize(stream));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, first, last));
    return double(ms) * 1000;
}

double stand::empty() const {
    return once(RTUNE_COLD, [this] { launch_empty(stream); });
}

cudaGraphExec_t stand::capture(const work &w) const {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < repeats; i++)
        w();
    CUDA(cudaStreamEndCapture(stream, &graph));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphDestroy(graph));
    return exec;
}

double stand::warm(cudaGraphExec_t graph) const {
    CUDA(cudaGraphLaunch(graph, stream)); // the input into the cache, and time to queue the rest
    CUDA(cudaEventRecord(first, stream));
    CUDA(cudaGraphLaunch(graph, stream));
    CUDA(cudaEventRecord(last, stream));
    CUDA(cudaStreamSynchronize(stream));
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, first, last));
    return double(ms) * 1000 / repeats;
}

double stand::read_rate(uint64_t bytes) const {
    double best = 0;
    bytes = std::min(bytes, pool_bytes);
    for (const int block : {256, 512, 1024}) {
        for (const int blocks : {264, 528, 1056, 2112, 4224}) {
            std::vector<double> t;
            for (int i = 0; i < 4; i++)
                t.push_back(once(RTUNE_COLD, [&] {
                    read_kernel<<<blocks, block, 0, stream>>>(reinterpret_cast<const uint4 *>(pool),
                                                              bytes / 16, sink);
                }));
            best = std::max(best, double(bytes) / quantile(t, 0.5));
        }
    }
    CUDA(cudaGetLastError());
    return best;
}

std::string device_line() {
    cudaDeviceProp prop;
    int runtime = 0;
    CUDA(cudaGetDeviceProperties(&prop, 0));
    CUDA(cudaRuntimeGetVersion(&runtime));
    char text[400];
    std::snprintf(text, sizeof text, "device=%s cuda=%d.%d", prop.name, runtime / 1000,
                  runtime % 1000 / 10);
    return text;
}

} // namespace bench
