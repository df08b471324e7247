// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/finishes.cu: what each finish costs. The sum of f32 and the native sum of i32, cold,
// over n = 2^from, 2^(from + 2) ... 2^to: for every finish the best of some configs, which are
// forced by RTUNE_OVERRIDE, one handle each. A config that was not served as it was asked for is
// left out; the results of all configs must be equal. Needs NVRTC.
//
// One CSV line a finish and size: run,op,dtype,acc,n,finish,us,floor_us,configs,config, where
// configs is the number of those that were measured.
#include "tools/bench/bench_common.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <random>

using namespace bench;

namespace {

constexpr const char *usage =
    "usage: bench_finishes [--from 14] [--to 26] [--samples 15] [--finishes slots,...]\n"
    "    [--run NAME] [--commit ID] [--driver VERSION]";

const std::vector<std::pair<std::string, std::string>> known = {
    {"--from", "14"},
    {"--to", "26"},
    {"--samples", "15"},
    {"--finishes", "one,slots,last,packed,two_kernels,dependent,cluster,grid_sync,atomic"},
    {"--run", "finishes"},
    {"--commit", "unknown"},
    {"--driver", "unknown"}};

// An override selects by what a problem says of NaN and the cache, which changes nothing of a sum's
// kernel: so one handle, and one compilation of its kernel, serve all grids. An entry for propagate
// takes what is asked with ignore too, because NaN does not matter to a sum: it comes second.
struct grid_choice {
    const char *text;
    const char *of_clusters; // a multiple of the blocks of a cluster
    rtune_cache cache;
    rtune_nan nan;
    const char *selector;
};
const grid_choice grids[] = {{"32", "32", RTUNE_COLD, RTUNE_NAN_IGNORE, "cold,ignore"},
                             {"cover", "cover", RTUNE_COLD, RTUNE_NAN_PROPAGATE, "cold,propagate"},
                             {"2xsm", "256", RTUNE_DIRTY, RTUNE_NAN_IGNORE, "dirty,ignore"},
                             {"1xsm", "128", RTUNE_DIRTY, RTUNE_NAN_PROPAGATE, "dirty,propagate"}};

std::string grid_text(const grid_choice &g, rtune_finish finish) {
    if (finish == RTUNE_FINISH_ONE) return "1";
    return finish == RTUNE_FINISH_CLUSTER ? g.of_clusters : g.text;
}

struct candidate {
    rtune *rt;
    rtune_finish finish;
    const grid_choice *grid;
    std::string text;
};

// All but the grid: blocks and items (of 4 bytes) that won in the study of the finish.
std::vector<std::string> configs_of(rtune_finish finish) {
    static const char *const shapes[] = {"block=256,items=8", "block=256,items=16",
                                         "block=512,items=8", "block=512,items=16"};
    static const char *const alone[] = {"block=512,items=16", "block=512,items=32",
                                        "block=1024,items=16", "block=1024,items=32"};
    std::vector<std::string> list;
    for (const char *shape : finish == RTUNE_FINISH_ONE ? alone : shapes) {
        const std::string text =
            std::string(shape) +
            ",load=noallocate,map=strip,occupancy=0,finish=" + finishes.names[finish];
        if (finish != RTUNE_FINISH_CLUSTER)
            list.push_back(text);
        else
            for (const char *extra : {"8", "16"})
                list.push_back(text + ",extra=" + extra);
    }
    return list;
}

class study {
public:
    explicit study(const arguments &a)
        : args(a), on((uint64_t(4) << number(a["--to"], 34)) + (uint64_t(1) << 30)),
          samples(int(number(a["--samples"], 1000))) {
        CUDA(cudaMalloc(&out, 64));
        best_rate = on.read_rate(uint64_t(1) << 30);
        for (int i = 0; i < 41; i++)
            launches.push_back(on.empty());
        for (const int finish : choose(finishes, a["--finishes"], "--finishes"))
            for (const std::string &text : configs_of(rtune_finish(finish)))
                open(rtune_finish(finish), text);
        unsetenv("RTUNE_OVERRIDE");
        if (candidates.empty()) die("no config can be forced");
    }
    study(const study &) = delete;
    ~study() {
        for (rtune *rt : handles)
            rtune_close(rt);
    }

    void run(const kind &what) {
        fill({on.pool, on.pool_bytes / 4, 0}, what.dtype, data::small, on.stream);
        const int to = int(number(args["--to"], 34));
        for (int k = int(number(args["--from"], 34)); k <= to; k += 2)
            measure(what, uint64_t(1) << k);
    }
    void head() const {
        std::printf("# run=%s %s driver=%s commit=%s launch_us=%.3f read_TB_s=%.4f samples=%d\n",
                    args["--run"].c_str(), device_line().c_str(), args["--driver"].c_str(),
                    args["--commit"].c_str(), quantile(launches, 0.5), best_rate / 1e6, samples);
    }

private:
    // A handle reads RTUNE_OVERRIDE when it is opened; one workspace is enough for one stream.
    void open(rtune_finish finish, const std::string &text) {
        const bool one = finish == RTUNE_FINISH_ONE;
        rtune_options o = RTUNE_OPTIONS_INIT;
        rtune_error err;
        rtune *rt = nullptr;
        std::string entries;
        for (const grid_choice &g : grids)
            entries += std::string(g.selector) + ":" + text + ",grid=" + grid_text(g, finish) + ";";
        entries.pop_back();
        o.store = "none";
        o.workspaces = 1;
        setenv("RTUNE_OVERRIDE", entries.c_str(), 1);
        if (rtune_open(&rt, &o, &err) != RTUNE_OK) {
            std::fprintf(stderr, "%s: %s\n", text.c_str(), err.message);
            return;
        }
        handles.push_back(rt);
        for (const grid_choice &g : grids)
            if (!one || &g == grids)
                candidates.push_back({rt, finish, &g, text + ",grid=" + grid_text(g, finish)});
    }

    // Does the library serve what was asked for?
    bool reduce(const candidate &c, const kind &what, uint64_t n, rtune_launch &launch) {
        rtune_problem p = problem_of(what, n, c.grid->cache);
        rtune_args a = RTUNE_ARGS(on.pool, out);
        rtune_error err;
        p.nan_rule = c.grid->nan;
        if (c.finish == RTUNE_FINISH_ATOMIC) p.flags = RTUNE_ALLOW_NONDETERMINISTIC;
        a.launch = &launch;
        if (rtune_reduce(c.rt, &p, &a, on.stream, &err) != RTUNE_OK) {
            std::fprintf(stderr, "n=%llu %s: %s\n", (unsigned long long)n, c.text.c_str(),
                         err.message);
            return false;
        }
        const std::string grid = "grid=" + grid_text(*c.grid, c.finish) + " ";
        return launch.source == RTUNE_FROM_OVERRIDE && !launch.fell_back &&
               launch.config.finish == c.finish &&
               config_text(launch).find(grid) != std::string::npos;
    }

    void measure(const kind &what, uint64_t n);
    void print(const kind &what, uint64_t n, const std::vector<double> &medians,
               const std::vector<const candidate *> &served) const;
    void check(const candidate &c, const kind &what, uint64_t n, bool first, unsigned &expected);

    const arguments &args;
    stand on;
    const int samples;
    char *out = nullptr;
    std::vector<rtune *> handles;
    std::vector<candidate> candidates;
    std::vector<double> launches;
    double best_rate;
};

void study::check(const candidate &c, const kind &what, uint64_t n, bool first,
                  unsigned &expected) {
    unsigned result;
    CUDA(cudaMemcpyAsync(&result, out, 4, cudaMemcpyDeviceToHost, on.stream));
    CUDA(cudaStreamSynchronize(on.stream));
    if (first) expected = result;
    if (result != expected)
        die("%s n=%llu: %08x, not %08x, with %s", name_of(what).c_str(), (unsigned long long)n,
            result, expected, c.text.c_str());
}

void study::measure(const kind &what, uint64_t n) {
    std::vector<const candidate *> served;
    unsigned expected = 0;
    rtune_launch launch = RTUNE_LAUNCH_INIT;
    for (const candidate &c : candidates) {
        CUDA(cudaMemsetAsync(out, 0xff, 64, on.stream));
        if (!reduce(c, what, n, launch)) continue;
        check(c, what, n, served.empty(), expected);
        served.push_back(&c);
    }
    std::vector<std::vector<double>> times(served.size());
    std::vector<size_t> order(served.size());
    std::iota(order.begin(), order.end(), size_t(0));
    std::mt19937 random;                 // of the same seed always
    for (int i = -1; i < samples; i++) { // one sample of each in a round, in another order
        std::shuffle(order.begin(), order.end(), random);
        for (const size_t k : order) {
            const double us =
                on.once(RTUNE_COLD, [&] { (void)reduce(*served[k], what, n, launch); });
            if (i >= 0) times[k].push_back(us);
        }
    }
    std::vector<double> medians;
    for (const std::vector<double> &t : times)
        medians.push_back(quantile(t, 0.5));
    print(what, n, medians, served);
}

void study::print(const kind &what, uint64_t n, const std::vector<double> &medians,
                  const std::vector<const candidate *> &served) const {
    for (int f = 0; f < finishes.count; f++) {
        int count = 0;
        size_t best = 0;
        for (size_t k = 0; k < served.size(); k++) {
            if (served[k]->finish != f) continue;
            if (count == 0 || medians[k] < medians[best]) best = k;
            count++;
        }
        if (count == 0) continue;
        std::string config = served[best]->text;
        std::replace(config.begin(), config.end(), ',', ' ');
        std::printf("%s,%s,%s,%s,%llu,%s,%.3f,%.3f,%d,%s\n", args["--run"].c_str(),
                    ops.names[what.op], dtypes.names[what.dtype], accs.names[what.acc],
                    (unsigned long long)n, finishes.names[f], medians[best],
                    quantile(launches, 0.5) + double(n * 4) / best_rate, count, config.c_str());
    }
    std::fflush(stdout);
}

} // namespace

int main(int argc, char **argv) {
    const arguments a(argc, argv, known, usage);
    study s(a);
    s.head();
    s.run({RTUNE_SUM, RTUNE_F32, RTUNE_WIDE, RTUNE_PLAIN});
    s.run({RTUNE_SUM, RTUNE_I32, RTUNE_NATIVE, RTUNE_PLAIN});
    return 0;
}
