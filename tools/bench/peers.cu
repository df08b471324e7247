// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/peers.cu: librtune (tuned, and built-in only) beside cub::DeviceReduce, interleaved
// in one process, on a cold input: L2 holds other, clean data. Uses the public interface of
// librtune alone.
//
//   bench_peers [--op sum] [--dtype f32] [--from 6] [--to 32] [--samples 41] [--db FILE]
//
// One CSV line a size: op,dtype,n,cache,tuned_us,default_us,cub_us,floor_us,config. Times are
// medians; CUB's are bimodal, so its lower mode is given: the median of its faster half. floor = an
// empty kernel between the same events + bytes / the best read rate that any of the three reached
// in this run. Comment lines (#) tell device, driver, commit and the tuner's figure for each size.

#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "rtune/rtune.h"

namespace {

void check_cuda(cudaError_t e, const char *what, int line) {
    if (e == cudaSuccess) return;
    std::fprintf(stderr, "bench_peers: line %d: %s: %s\n", line, what, cudaGetErrorString(e));
    std::exit(1);
}
#define CUDA(x) check_cuda((x), #x, __LINE__)

void check_rtune(rtune_status s, const rtune_error &err, const char *what) {
    if (s == RTUNE_OK) return;
    std::fprintf(stderr, "bench_peers: %s: %s: %s\n", what, rtune_status_text(s), err.message);
    std::exit(1);
}

__global__ void empty_kernel() {}

__global__ void read_kernel(const uint4 *p, size_t n, unsigned *sink) {
    unsigned x = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * size_t(blockDim.x)) {
        const uint4 v = p[i];
        x |= v.x & v.y & v.z & v.w;
    }
    if (x == 0xdeadbeefu) *sink = x; // never: the buffer holds one repeated byte
}

// Small integers of zero mean: every order of summation is exact.
template <class T> __global__ void fill_kernel(T *p, size_t n) {
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += gridDim.x * size_t(blockDim.x)) {
        unsigned long long z = i * 0x9e3779b97f4a7c15ull;
        z ^= z >> 32;
        p[i] = T(int(z % 7) - 3);
    }
}

struct options {
    std::string op = "sum", dtype = "f32", db, commit = "unknown", driver = "unknown";
    int from = 6, to = 32, samples = 41;
};

class flusher { // leaves L2 full of clean lines of its own
  public:
    explicit flusher(cudaStream_t s) : stream(s) {
        CUDA(cudaMalloc(&dirty, bytes));
        CUDA(cudaMalloc(&clean, bytes));
        CUDA(cudaMalloc(&sink, 64));
        CUDA(cudaMemsetAsync(clean, 0x55, bytes, stream));
    }
    void operator()() const {
        CUDA(cudaMemsetAsync(dirty, 0, bytes, stream));
        read_kernel<<<528, 512, 0, stream>>>(static_cast<const uint4 *>(clean), bytes / 16, sink);
    }

  private:
    static constexpr size_t bytes = size_t(256) << 20; // 4 x L2 of an H200
    cudaStream_t stream;
    void *dirty = nullptr, *clean = nullptr;
    unsigned *sink = nullptr;
};

class stopwatch {
  public:
    stopwatch(cudaStream_t s, const flusher &f) : stream(s), flush(f) {
        CUDA(cudaEventCreate(&first));
        CUDA(cudaEventCreate(&last));
    }
    // One call on a cold input. The flush runs while the rest is enqueued, so that all work is
    // queued before timing starts; waiting after each sample keeps the queue short (a long one adds
    // 0.7 us).
    double operator()(const std::function<void()> &work) const {
        flush();
        CUDA(cudaEventRecord(first, stream));
        work();
        CUDA(cudaEventRecord(last, stream));
        CUDA(cudaStreamSynchronize(stream));
        float ms = 0;
        CUDA(cudaEventElapsedTime(&ms, first, last));
        return double(ms) * 1000;
    }

  private:
    cudaStream_t stream;
    const flusher &flush;
    cudaEvent_t first, last;
};

double quantile(std::vector<double> v, double q) {
    std::sort(v.begin(), v.end());
    return v[std::min(v.size() - 1, size_t(q * double(v.size())))];
}

template <class T> struct names;
template <> struct names<float> { static constexpr rtune_dtype id = RTUNE_F32; };
template <> struct names<double> { static constexpr rtune_dtype id = RTUNE_F64; };
template <> struct names<int> { static constexpr rtune_dtype id = RTUNE_I32; };
template <> struct names<long long> { static constexpr rtune_dtype id = RTUNE_I64; };

struct row {
    size_t n;
    double tuned, standard, cub;
    std::string config;
};

rtune *open_library(const char *db) {
    rtune_options o = RTUNE_OPTIONS_INIT;
    rtune_error err;
    rtune *rt = nullptr;
    o.store = db;
    check_rtune(rtune_open(&rt, &o, &err), err, "rtune_open");
    return rt;
}

template <class T> class bench {
  public:
    bench(const options &o, rtune_op op_) : opts(o), op(op_), stream(make_stream()), flush(stream),
                                            time(stream, flush) {
        tuned = open_library(o.db.empty() ? nullptr : o.db.c_str());
        standard = open_library("none");
        size_t free_bytes = 0, total = 0;
        CUDA(cudaMemGetInfo(&free_bytes, &total));
        most = size_t(1) << o.to;
        while (most * sizeof(T) > free_bytes - (size_t(2) << 30)) most /= 2;
        CUDA(cudaMalloc(&in, most * sizeof(T)));
        CUDA(cudaMalloc(&out, 64));
        fill_kernel<<<1056, 512, 0, stream>>>(in, most);
        CUDA(cub_call(most));
        CUDA(cudaMalloc(&temp, temp_bytes + 1));
        for (int i = 0; i < 2000; i++) flush(); // clocks
        CUDA(cudaStreamSynchronize(stream));
    }
    bench(const bench &) = delete;
    ~bench() {
        rtune_close(standard);
        rtune_close(tuned);
    }

    void run() {
        for (size_t n = size_t(1) << opts.from; n <= most; n *= 2) measure(n);
        print();
    }

  private:
    static cudaStream_t make_stream() {
        cudaStream_t s;
        CUDA(cudaFree(nullptr));
        CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        return s;
    }

    cudaError_t cub_call(size_t n) {
        T *result = reinterpret_cast<T *>(out + 4);
        if (op == RTUNE_MIN) return cub::DeviceReduce::Min(temp, temp_bytes, in, result, n, stream);
        if (op == RTUNE_MAX) return cub::DeviceReduce::Max(temp, temp_bytes, in, result, n, stream);
        return cub::DeviceReduce::Sum(temp, temp_bytes, in, result, n, stream);
    }

    void reduce(rtune *rt, size_t n, void *result) {
        rtune_problem p = RTUNE_PROBLEM(op, names<T>::id, n);
        rtune_args a = RTUNE_ARGS(in, result);
        rtune_error err;
        p.acc = RTUNE_NATIVE; // as CUB: the result has the input type
        a.launch = &launch;
        check_rtune(rtune_reduce(rt, &p, &a, stream, &err), err, "rtune_reduce");
    }

    void measure(size_t n) {
        std::vector<double> t, d, c;
        const int samples =
            n * sizeof(T) >= (size_t(1) << 31) ? std::max(9, opts.samples / 4) : opts.samples;
        for (int i = -2; i < samples; i++) { // two rounds to prepare and warm up
            const double dd = time([&] { reduce(standard, n, out + 2); });
            const double cc = time([&] { CUDA(cub_call(n)); });
            const double tt = time([&] { reduce(tuned, n, out); });
            const double ee = time([&] { empty_kernel<<<1, 32, 0, stream>>>(); });
            if (i < 0) continue;
            t.push_back(tt), d.push_back(dd), c.push_back(cc), launches.push_back(ee);
        }
        compare(n);
        char config[256];
        rtune_config_print(&launch.config, config, sizeof config);
        std::replace(config, config + std::strlen(config), ',', ' ');
        const row r = {n, quantile(t, 0.5), quantile(d, 0.5), quantile(c, 0.25), config};
        for (double us : {r.tuned, r.standard, r.cub})
            if (n * sizeof(T) >= (size_t(1) << 28))
                best_rate = std::max(best_rate, double(n * sizeof(T)) / us);
        rows.push_back(r);
        std::printf("# n=%zu tuner_us=%.3f measured_us=%.3f source=%d kernel=%d grid=%u\n", n,
                    launch.predicted_us, r.tuned, int(launch.source), int(launch.kernel),
                    launch.grid);
        std::fflush(stdout);
    }

    void compare(size_t n) const {
        T results[3];
        for (int i = 0; i < 3; i++)
            CUDA(cudaMemcpy(&results[i], out + 2 * i, sizeof(T), cudaMemcpyDeviceToHost));
        if (results[0] == results[2] && results[1] == results[2]) return;
        std::fprintf(stderr, "bench_peers: n = %zu: results differ: %.17g %.17g %.17g\n", n,
                     double(results[0]), double(results[1]), double(results[2]));
        std::exit(1);
    }

    void print() const {
        cudaDeviceProp prop;
        int runtime = 0;
        CUDA(cudaGetDeviceProperties(&prop, 0));
        CUDA(cudaRuntimeGetVersion(&runtime));
        const double floor = quantile(launches, 0.5);
        std::printf("# device=%s driver=%s cuda=%d.%d cub=%d commit=%s launch_us=%.3f "
                    "read_TB_s=%.3f samples=%d\n",
                    prop.name, opts.driver.c_str(), runtime / 1000, runtime % 1000 / 10,
                    CUB_VERSION, opts.commit.c_str(), floor, best_rate / 1e6, opts.samples);
        for (const row &r : rows)
            std::printf("%s,%s,%zu,cold,%.3f,%.3f,%.3f,%.3f,%s\n", opts.op.c_str(),
                        opts.dtype.c_str(), r.n, r.tuned, r.standard, r.cub,
                        floor + (best_rate > 0 ? double(r.n * sizeof(T)) / best_rate : 0),
                        r.config.c_str());
    }

    const options &opts;
    const rtune_op op;
    const cudaStream_t stream;
    const flusher flush;
    const stopwatch time;
    rtune *tuned, *standard;
    T *in = nullptr;
    long long *out = nullptr; // three results, 16 bytes apart
    void *temp = nullptr;     // CUB's; NULL asks for its size
    size_t temp_bytes = 0, most = 0;
    rtune_launch launch; // record of the last call
    std::vector<row> rows;
    std::vector<double> launches;
    double best_rate = 0; // bytes a microsecond
};

template <class T> void run(const options &o, rtune_op op) { bench<T>(o, op).run(); }

const char *value_of(int argc, char **argv, int &i) {
    if (i + 1 >= argc) {
        std::fprintf(stderr, "bench_peers: %s needs a value\n", argv[i]);
        std::exit(2);
    }
    return argv[++i];
}

int number_of(int argc, char **argv, int &i) {
    const char *name = argv[i], *text = value_of(argc, argv, i);
    char *end;
    const long x = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || x < 0 || x > 1000000) {
        std::fprintf(stderr, "bench_peers: %s %s: not a number\n", name, text);
        std::exit(2);
    }
    return int(x);
}

} // namespace

int main(int argc, char **argv) {
    options o;
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        if (a == "--op") o.op = value_of(argc, argv, i);
        else if (a == "--dtype") o.dtype = value_of(argc, argv, i);
        else if (a == "--db") o.db = value_of(argc, argv, i);
        else if (a == "--commit") o.commit = value_of(argc, argv, i);
        else if (a == "--driver") o.driver = value_of(argc, argv, i);
        else if (a == "--from") o.from = number_of(argc, argv, i);
        else if (a == "--to") o.to = number_of(argc, argv, i);
        else if (a == "--samples") o.samples = number_of(argc, argv, i);
        else {
            std::fprintf(stderr, "bench_peers: unknown option %s\n", a.c_str());
            return 2;
        }
    }
    if (o.from < 0 || o.to > 34 || o.from > o.to || o.samples < 5) {
        std::fprintf(stderr, "bench_peers: --from 0..34, --to from..34, --samples >= 5\n");
        return 2;
    }
    const rtune_op op = o.op == "sum" ? RTUNE_SUM : o.op == "min" ? RTUNE_MIN
                      : o.op == "max" ? RTUNE_MAX : RTUNE_OP_COUNT;
    if (op == RTUNE_OP_COUNT) {
        std::fprintf(stderr, "bench_peers: --op sum, min or max\n");
        return 2;
    }
    if (o.dtype == "f32") run<float>(o, op);
    else if (o.dtype == "f64") run<double>(o, op);
    else if (o.dtype == "i32") run<int>(o, op);
    else if (o.dtype == "i64") run<long long>(o, op);
    else {
        std::fprintf(stderr, "bench_peers: --dtype f32, f64, i32 or i64\n");
        return 2;
    }
    return 0;
}
