// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/peers.cu: librtune (tuned, and built-in only) beside CUB, thrust and cuBLAS,
// interleaved in one process. A result that differs between the libraries ends the program.
//
// One CSV line a cell and peer, as tools/bench/report.py reads them. Times are medians; CUB's are
// bimodal, so its lower mode is given: the median of its faster half. floor = an empty kernel
// between the same events + bytes / the best read rate that any kernel reached in this run; 0 where
// the input is not cold, or the peer is one that waits: beside thrust, all times end with the
// result on the host. The norm of cuBLAS is beside our sumsq with RTUNE_ROOT.
#include "tools/bench/bench_peer.cuh"

#include <cuda_fp16.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

using namespace bench;

namespace {

constexpr const char *usage =
    "usage: bench_peers [--ops sum,min,max,argmin,argmax,asum,dot,sumsq] [--dtypes i8,...,f64]\n"
    "    [--from 6] [--to 33] [--states cold,dirty,warm] [--offsets 0,1] [--odd 1]\n"
    "    [--peers cub,thrust,cublas] [--samples 31] [--db FILE] [--run NAME] [--commit ID]\n"
    "    [--driver VERSION]\n"
    "Sizes are 2^from ... 2^to elements, as far as memory goes. --odd adds 2^k-1, 2^k+1 or a "
    "prime.";

const std::vector<std::pair<std::string, std::string>> known = {
    {"--ops", "sum"},   {"--dtypes", "f32"},     {"--from", "6"},    {"--to", "33"},
    {"--odd", "0"},     {"--offsets", "0"},      {"--db", ""},       {"--states", "cold"},
    {"--peers", "cub"}, {"--commit", "unknown"}, {"--run", "peers"}, {"--driver", "unknown"},
    {"--samples", "31"}};

struct cell {
    kind what;
    uint64_t n, offset; // offset in elements
    rtune_cache cache;
};

struct row {
    cell at;
    const peer *beside;
    double tuned, standard, other;
    std::string config;
};

enum slot { TUNED, STANDARD, PEER, SLOTS };
constexpr size_t slot_bytes = 64;

uint64_t bytes_of(const cell &c) {
    return c.n * rtune_dtype_size(c.what.dtype) * (c.what.op == RTUNE_DOT ? 2 : 1);
}

// ---- are two results the same -----------------------------------------------------------------

// Of the type of the input: those that are compared within a bound are.
double value_of(const void *p, rtune_dtype dtype) {
    float f;
    double d;
    __half h;
    if (dtype == RTUNE_F64) return std::memcpy(&d, p, sizeof d), d;
    if (dtype == RTUNE_F32) return std::memcpy(&f, p, sizeof f), double(f);
    return std::memcpy(&h, p, sizeof h), double(__half2float(h));
}

// 0: all sums of this data are exact, so the bits must agree.
double bound_of(const kind &what) {
    const bool grows = what.op == RTUNE_ASUM || what.op == RTUNE_SUMSQ;
    if (what.dtype == RTUNE_F16 && (grows || what.op == RTUNE_DOT)) return 5e-3;
    if (what.dtype == RTUNE_F32 && grows) return 1e-3;
    return what.op == RTUNE_SUMSQ ? 1e-12 : 0;
}

bool agree(const cell &c, const char *a, const char *b) {
    const double bound = bound_of(c.what);
    if (bound == 0) return std::memcmp(a, b, 16) == 0;
    const double x = value_of(a, c.what.dtype), y = value_of(b, c.what.dtype);
    return x == y || std::fabs(x - y) <=
                         bound * std::max({std::fabs(x), std::fabs(y), std::sqrt(double(c.n))});
}

// ---- the comparison ---------------------------------------------------------------------------

class comparison {
public:
    comparison(const arguments &a, uint64_t most_bytes) : args(a), on(most_bytes) {
        const char *db = a["--db"].empty() ? nullptr : a["--db"].c_str();
        handle[TUNED] = open_library(db);
        handle[STANDARD] = open_library("none");
        CUDA(cudaMalloc(&out, SLOTS * slot_bytes));
        CUDA(cudaMallocHost(&host, SLOTS * slot_bytes));
        for (const slot s : {TUNED, STANDARD}) {
            workspace_bytes[s] = rtune_workspace_size(handle[s]);
            CUDA(cudaMalloc(&workspace[s], workspace_bytes[s]));
            CUDA(cudaMemsetAsync(workspace[s], 0, workspace_bytes[s], on.stream));
        }
        for (const std::string &name : split(a["--peers"])) {
            if (name == "cub")
                peers.push_back(&cub_peer), cub_scratch();
            else if (name == "thrust")
                peers.push_back(&thrust_peer);
            else if (name != "cublas")
                die("--peers: unknown word \"%s\"", name.c_str());
            else if (cublas_open(on.stream))
                peers.push_back(&cublas_peer);
        }
        samples = int(number(a["--samples"], 1000));
        best_rate = on.read_rate(uint64_t(8) << 30);
    }
    comparison(const comparison &) = delete;
    ~comparison() {
        rtune_close(handle[STANDARD]);
        rtune_close(handle[TUNED]);
    }

    void run(const kind &what) {
        if (std::none_of(peers.begin(), peers.end(), [&](auto p) { return p->has(what); })) return;
        const auto start = std::chrono::steady_clock::now();
        const std::vector<cell> cells = cells_of(what);
        const bool half = what.dtype == RTUNE_F16 || what.dtype == RTUNE_BF16;
        inexact = half && what.op == RTUNE_SUM && what.acc == RTUNE_NATIVE;
        if (inexact) { // CUB adds halves in half: its sums are right on sparse data alone
            prepare(what, data::sparse);
            for (const cell &c : cells)
                verify(c);
        }
        prepare(what, data_for(what.op));
        for (const cell &c : cells)
            measure(c);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::fprintf(stderr, "%s: %zu cells in %.1f s\n", name_of(what).c_str(), cells.size(),
                     took.count());
    }

    void print() const;

private:
    std::vector<cell> cells_of(const kind &what) const;
    std::vector<const peer *> peers_of(const cell &c) const;
    int samples_of(const cell &c) const;
    void prepare(const kind &what, data d);
    call call_of(const cell &c, slot s) const;
    void reduce(const cell &c, slot s, bool captured);
    void to_host(const cell &c, slot s);
    void verify(const cell &c);
    void compare(const cell &c, slot a, slot b, const char *name);
    void measure(const cell &c);
    void measure_device(const cell &c, const std::vector<const peer *> &beside);
    void measure_host(const cell &c, const peer *beside);
    void measure_warm(const cell &c, const std::vector<const peer *> &beside);
    void keep(const row &r);
    void keep_all(const cell &c, const std::vector<const peer *> &beside,
                  const std::vector<std::vector<double>> &times, const std::string &config);
    std::vector<size_t> next_order(size_t count);

    const arguments &args;
    stand on;
    std::vector<const peer *> peers;
    rtune *handle[2];
    void *workspace[2];
    size_t workspace_bytes[2];
    char *out = nullptr, *host = nullptr;
    rtune_launch launch[2] = {RTUNE_LAUNCH_INIT, RTUNE_LAUNCH_INIT}; // records of the last calls
    std::mt19937 random;                                             // of the same seed always
    bool inexact = false; // is CUB's sum of the timed data?
    int samples;
    std::vector<row> rows;
    std::vector<double> launches;
    double best_rate; // bytes a microsecond
};

// ---- which cells ------------------------------------------------------------------------------

std::vector<cell> comparison::cells_of(const kind &what) const {
    const int from = int(number(args["--from"], 40)), to = int(number(args["--to"], 40));
    std::vector<cell> cells;
    const auto add = [&](uint64_t n, uint64_t offset, rtune_cache state) {
        const cell c = {what, n, offset, state};
        if (bytes_of(c) + 4096 <= on.pool_bytes && !peers_of(c).empty()) cells.push_back(c);
    };
    for (const int state : choose(caches, args["--states"], "--states")) {
        const auto cache = rtune_cache(state);
        const int last = cache == RTUNE_COLD ? to : std::min(to, cache == RTUNE_WARM ? 23 : 25);
        for (int k = cache == RTUNE_COLD ? from : std::max(from, 10); k <= last; k++) {
            const uint64_t n = uint64_t(1) << k;
            add(n, 0, cache);
            if (cache != RTUNE_COLD || k < 10) continue;
            for (const std::string &offset : split(args["--offsets"]))
                if (offset != "0") add(n, number(offset, 64), cache);
            const uint64_t odd[] = {n - 1, n + 1, prime_below(n)};
            if (args["--odd"] != "0") add(odd[k % 3], 0, cache);
        }
    }
    return cells;
}

std::vector<const peer *> comparison::peers_of(const cell &c) const {
    std::vector<const peer *> list;
    for (const peer *p : peers) {
        if (!p->has(c.what)) continue;
        const bool plain = c.cache == RTUNE_COLD && c.offset == 0 && (c.n & (c.n - 1)) == 0;
        if (p == &cublas_peer && !plain) continue;
        if (p->host && !(plain && c.n >= 1024 && c.n <= uint64_t(1) << 30)) continue;
        list.push_back(p);
    }
    return list;
}

int comparison::samples_of(const cell &c) const {
    const uint64_t bytes = bytes_of(c);
    if (bytes <= uint64_t(4) << 20) return samples;
    if (bytes <= uint64_t(256) << 20) return std::max(5, samples * 2 / 3);
    return std::max(5, bytes <= uint64_t(2) << 30 ? samples / 3 : 5);
}

// ---- one call ---------------------------------------------------------------------------------

void comparison::prepare(const kind &what, data d) {
    const bool dot = what.op == RTUNE_DOT;
    const uint64_t room = on.pool_bytes / (dot ? 2 : 1) / rtune_dtype_size(what.dtype);
    const uint64_t n = std::min(room, (uint64_t(1) << number(args["--to"], 40)) + 128);
    fill({on.pool, n, 0}, what.dtype, d, on.stream);
    if (dot) fill({on.pool + on.pool_bytes / 2, n, 1234567}, what.dtype, d, on.stream);
}

call comparison::call_of(const cell &c, slot s) const {
    const char *in = on.pool + c.offset * rtune_dtype_size(c.what.dtype);
    const char *in2 = c.what.op == RTUNE_DOT ? in + on.pool_bytes / 2 : nullptr;
    return {c.what, c.n, in, in2, out + s * slot_bytes, on.stream};
}

void comparison::reduce(const cell &c, slot s, bool captured) {
    const call k = call_of(c, s);
    rtune_problem p = problem_of(c.what, c.n, c.cache);
    rtune_args a = RTUNE_ARGS(k.in, k.out);
    rtune_error err;
    if (c.what.op == RTUNE_SUMSQ) p.flags = RTUNE_ROOT;
    a.in2 = k.in2;
    a.launch = &launch[s];
    if (captured) { // else each of the calls would take a workspace of its own
        a.workspace = workspace[s];
        a.workspace_bytes = workspace_bytes[s];
    }
    check_rtune(rtune_reduce(handle[s], &p, &a, on.stream, &err), err, name_of(c.what).c_str());
}

void comparison::to_host(const cell &, slot s) {
    CUDA(cudaMemcpyAsync(host + s * slot_bytes, out + s * slot_bytes, 16, cudaMemcpyDeviceToHost,
                         on.stream));
    CUDA(cudaStreamSynchronize(on.stream));
}

// ---- results ----------------------------------------------------------------------------------

void comparison::compare(const cell &c, slot a, slot b, const char *name) {
    const char *x = host + a * slot_bytes, *y = host + b * slot_bytes;
    if (agree(c, x, y)) return;
    unsigned long long words[4];
    std::memcpy(words, x, 16);
    std::memcpy(words + 2, y, 16);
    die("%s n=%llu offset=%llu %s: tuned %016llx %016llx, %s %016llx %016llx",
        name_of(c.what).c_str(), (unsigned long long)c.n, (unsigned long long)c.offset,
        caches.names[c.cache], words[0], words[1], name, words[2], words[3]);
}

// One call of each on data that is exact for all.
void comparison::verify(const cell &c) {
    CUDA(cudaMemsetAsync(out, 0, SLOTS * slot_bytes, on.stream));
    reduce(c, TUNED, false);
    reduce(c, STANDARD, false);
    to_host(c, TUNED);
    to_host(c, STANDARD);
    compare(c, TUNED, STANDARD, "built-in");
    for (const peer *p : peers_of(c)) {
        if (p->host) continue;
        p->run(call_of(c, PEER));
        to_host(c, PEER);
        compare(c, TUNED, PEER, p->name);
    }
}

// ---- times ------------------------------------------------------------------------------------

void comparison::keep(const row &r) {
    const uint64_t bytes = bytes_of(r.at);
    // cuBLAS 13 returns at once from norms of 2^31 halves and more.
    if (r.at.cache == RTUNE_COLD && double(bytes) > 2 * best_rate * r.other) {
        std::fprintf(stderr, "%s n=%llu: %s takes %.3f us, which no memory allows: left out\n",
                     name_of(r.at.what).c_str(), (unsigned long long)r.at.n, r.beside->name,
                     r.other);
        return;
    }
    rows.push_back(r);
    if (r.at.cache != RTUNE_COLD || r.beside->host || bytes < uint64_t(1) << 28) return;
    for (const double us : {r.tuned, r.standard, r.other})
        best_rate = std::max(best_rate, double(bytes) / us);
}

// times: ours tuned, ours built-in, then each peer's.
void comparison::keep_all(const cell &c, const std::vector<const peer *> &beside,
                          const std::vector<std::vector<double>> &times,
                          const std::string &config) {
    for (size_t k = 0; k < beside.size(); k++)
        keep({c, beside[k], quantile(times[0], 0.5), quantile(times[1], 0.5),
              quantile(times[k + 2], beside[k] == &cub_peer ? 0.25 : 0.5), config});
}

std::vector<size_t> comparison::next_order(size_t count) {
    std::vector<size_t> order(count);
    std::iota(order.begin(), order.end(), size_t(0));
    std::shuffle(order.begin(), order.end(), random);
    return order;
}

void comparison::measure(const cell &c) {
    std::vector<const peer *> device;
    for (const peer *p : peers_of(c)) {
        if (p->host)
            measure_host(c, p);
        else
            device.push_back(p);
    }
    if (device.empty()) return;
    if (!inexact) verify(c);
    if (c.cache == RTUNE_WARM)
        measure_warm(c, device);
    else
        measure_device(c, device);
}

// The order of each round is another one: what always follows the same call would always meet the
// same state of the machine, and small kernels were seen to differ by a tenth for that alone.
void comparison::measure_device(const cell &c, const std::vector<const peer *> &beside) {
    std::vector<stand::work> calls = {[&] { reduce(c, TUNED, false); },
                                      [&] { reduce(c, STANDARD, false); }};
    for (const peer *p : beside)
        calls.push_back([this, p, &c] { p->run(call_of(c, PEER)); });
    std::vector<std::vector<double>> times(calls.size());
    const int count = samples_of(c);
    for (int i = -2; i < count; i++) { // two rounds to prepare and warm up
        for (const size_t k : next_order(calls.size())) {
            const double us = on.once(c.cache, calls[k]);
            if (i >= 0) times[k].push_back(us);
        }
        if (i >= 0 && i % 8 == 0) launches.push_back(on.empty());
    }
    keep_all(c, beside, times, config_text(launch[TUNED]));
    for (const slot s : {TUNED, STANDARD})
        to_host(c, s);
    compare(c, TUNED, STANDARD, "built-in"); // after timing as before it
}

void comparison::measure_host(const cell &c, const peer *beside) {
    std::vector<double> tuned, standard, other;
    const int count = std::max(5, samples_of(c) / 2);
    call k = call_of(c, PEER);
    k.out = host + PEER * slot_bytes;
    std::memset(host, 0, SLOTS * slot_bytes);
    CUDA(cudaMemsetAsync(out, 0, SLOTS * slot_bytes, on.stream));
    for (int i = -2; i < count; i++) {
        const double d =
            on.once(c.cache, [&] { reduce(c, STANDARD, false), to_host(c, STANDARD); });
        const double o = on.once(c.cache, [&] { beside->run(k); });
        const double t = on.once(c.cache, [&] { reduce(c, TUNED, false), to_host(c, TUNED); });
        if (i >= 0) tuned.push_back(t), standard.push_back(d), other.push_back(o);
    }
    compare(c, TUNED, STANDARD, "built-in");
    compare(c, TUNED, PEER, beside->name);
    keep({c, beside, quantile(tuned, 0.5), quantile(standard, 0.5), quantile(other, 0.5),
          config_text(launch[TUNED])});
}

void comparison::measure_warm(const cell &c, const std::vector<const peer *> &beside) {
    const int count = std::max(9, samples_of(c) / 2);
    std::vector<cudaGraphExec_t> graphs;
    graphs.push_back(on.capture([&] { reduce(c, TUNED, true); }));
    const std::string config = config_text(launch[TUNED]);
    graphs.push_back(on.capture([&] { reduce(c, STANDARD, true); }));
    for (const peer *p : beside)
        graphs.push_back(on.capture([&] { p->run(call_of(c, PEER)); }));
    std::vector<std::vector<double>> times(graphs.size());
    for (int i = -1; i < count; i++) {
        for (const size_t k : next_order(graphs.size())) {
            const double t = on.warm(graphs[k]);
            if (i >= 0) times[k].push_back(t);
        }
    }
    for (const slot s : {TUNED, STANDARD, PEER})
        to_host(c, s);
    compare(c, TUNED, STANDARD, "built-in");
    if (!inexact) compare(c, TUNED, PEER, beside.back()->name);
    keep_all(c, beside, times, config);
    for (cudaGraphExec_t g : graphs)
        CUDA(cudaGraphExecDestroy(g));
}

// ---- output -----------------------------------------------------------------------------------

void comparison::print() const {
    if (rows.empty()) die("no cell has a peer: see --ops, --dtypes, --peers");
    std::vector<double> more = launches;
    while (more.size() < 25)
        more.push_back(on.empty());
    const double empty = quantile(more, 0.5);
    const char *run = args["--run"].c_str();
    std::printf("# run=%s %s driver=%s cub=%d commit=%s launch_us=%.3f read_TB_s=%.4f samples=%d\n",
                run, device_line().c_str(), args["--driver"].c_str(), cub_version(),
                args["--commit"].c_str(), empty, best_rate / 1e6, samples);
    for (const row &r : rows) {
        const bool known_floor = r.at.cache == RTUNE_COLD && !r.beside->host;
        const double floor = known_floor ? empty + double(bytes_of(r.at)) / best_rate : 0;
        std::printf("%s,%s,%llu,%llu,%s,%.3f,%.3f,%s,%.3f,%.3f,%s\n", run,
                    name_of(r.at.what).c_str(), (unsigned long long)r.at.n,
                    (unsigned long long)r.at.offset, caches.names[r.at.cache], r.tuned, r.standard,
                    r.beside->name, r.other, floor, r.config.c_str());
    }
}

} // namespace

int main(int argc, char **argv) {
    const arguments a(argc, argv, known, usage);
    const std::vector<int> op_list = choose(ops, a["--ops"], "--ops");
    const std::vector<int> dtype_list = choose(dtypes, a["--dtypes"], "--dtypes");
    uint64_t most = uint64_t(1) << 30; // bytes; fewer would give the read rate of a cache
    for (const int op : op_list)
        for (const int dtype : dtype_list)
            most = std::max(most, (rtune_dtype_size(rtune_dtype(dtype)) << number(a["--to"], 40)) *
                                      (op == RTUNE_DOT ? 2 : 1));
    comparison bench(a, most + (uint64_t(1) << 20));
    for (const int op : op_list)
        for (const int dtype : dtype_list)
            for (const rtune_acc acc : {RTUNE_WIDE, RTUNE_NATIVE})
                bench.run({rtune_op(op), rtune_dtype(dtype), acc, RTUNE_PLAIN});
    bench.print();
    return 0;
}
