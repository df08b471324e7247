// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/modes.cu: how fast every op, dtype, acc and mode reads a large input: 8 GiB (of dot:
// both inputs together), on an aligned base and on one that is off by one element. Tuned and
// built-in launches, whose results must have the same bits where the mode or the data makes every
// order exact. One CSV line each, as tools/bench/report.py reads them; the comment line has the
// best rate that any kernel reached in this run.
#include "tools/bench/bench_common.cuh"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace bench;

namespace {

constexpr const char *usage =
    "usage: bench_modes [--ops sum,...] [--dtypes i8,...] [--modes plain,...] [--offsets 0,1]\n"
    "    [--bytes 8589934592] [--samples 7] [--db FILE] [--run NAME] [--commit ID]\n"
    "    [--driver VERSION]\n"
    "Without lists: all that are defined.";

const std::vector<std::pair<std::string, std::string>> known = {
    {"--ops", "sum,sumsq,asum,dot,prod,min,max,minmax,argmin,argmax,any,all,count_nonzero,band,bor,"
              "bxor"},
    {"--dtypes", "i8,u8,i16,u16,i32,u32,i64,u64,f16,bf16,f32,f64"},
    {"--modes", "plain,kahan,reproducible,fixed"},
    {"--offsets", "0,1"},
    {"--bytes", "8589934592"},
    {"--samples", "7"},
    {"--db", ""},
    {"--run", "modes"},
    {"--commit", "unknown"},
    {"--driver", "unknown"}};

struct row {
    kind what;
    uint64_t n, offset, bytes;
    double tuned, standard;
    std::string config;
};

bool is_sum(rtune_op op) {
    return op == RTUNE_SUM || op == RTUNE_SUMSQ || op == RTUNE_ASUM || op == RTUNE_DOT;
}

// Problems whose result has another type than that of wide, and modes that there are.
bool defined(const kind &what) {
    const bool is_float = what.dtype >= RTUNE_F16;
    const bool own_type = what.dtype == RTUNE_F32 || what.dtype == RTUNE_F64;
    if (what.op >= RTUNE_BAND && is_float) return false;
    if (what.mode != RTUNE_PLAIN && (!is_float || !is_sum(what.op))) return false;
    if (what.acc == RTUNE_WIDE) return true;
    return (is_sum(what.op) || what.op == RTUNE_PROD) && what.mode == RTUNE_PLAIN && !own_type;
}

// Sums of squares and magnitudes of f32 grow beyond what it holds exactly: their bits depend on the
// config, unless the mode says otherwise.
bool exact(const kind &what) {
    const bool grows = what.op == RTUNE_SUMSQ || what.op == RTUNE_ASUM;
    const bool narrow = what.dtype >= RTUNE_F16 && what.dtype <= RTUNE_F32;
    return !(grows && narrow) || what.mode == RTUNE_REPRODUCIBLE || what.mode == RTUNE_FIXED;
}

class survey {
public:
    explicit survey(const arguments &a)
        : args(a), on(number(a["--bytes"], uint64_t(1) << 40) + (1 << 16)),
          bytes(number(a["--bytes"], uint64_t(1) << 40)),
          samples(int(number(a["--samples"], 100))) {
        if (on.pool_bytes < bytes + 4096)
            die("the device has no room for %llu bytes", (unsigned long long)bytes);
        tuned = open_library(a["--db"].empty() ? nullptr : a["--db"].c_str());
        standard = open_library("none");
        CUDA(cudaMalloc(&out, 128));
        best_rate = on.read_rate(bytes);
        for (int i = 0; i < 41; i++)
            launches.push_back(on.empty());
    }
    survey(const survey &) = delete;
    ~survey() {
        rtune_close(standard);
        rtune_close(tuned);
    }

    void run(const kind &what) {
        const uint64_t size = rtune_dtype_size(what.dtype);
        const data d = data_for(what.op);
        if (what.dtype != filled || d != content) { // the last fill often serves again
            fill({on.pool, on.pool_bytes / size, 0}, what.dtype, d, on.stream);
            filled = what.dtype, content = d;
        }
        for (const std::string &text : split(args["--offsets"]))
            measure(what, number(text, 64));
    }
    void print() const;

private:
    void reduce(rtune *rt, const row &r, char *result) {
        const uint64_t size = rtune_dtype_size(r.what.dtype);
        const rtune_problem p = problem_of(r.what, r.n, RTUNE_COLD);
        rtune_args a = RTUNE_ARGS(on.pool + r.offset * size, result);
        rtune_error err;
        // The second input begins behind the first: together they are one range of the pool.
        if (r.what.op == RTUNE_DOT) a.in2 = on.pool + bytes / 2 + r.offset * size;
        a.scale = 1024;
        a.launch = &launch;
        check_rtune(rtune_reduce(rt, &p, &a, on.stream, &err), err, name_of(r.what).c_str());
    }
    void measure(const kind &what, uint64_t offset);

    const arguments &args;
    stand on;
    const uint64_t bytes;
    const int samples;
    rtune *tuned, *standard;
    char *out = nullptr; // two results
    rtune_launch launch = RTUNE_LAUNCH_INIT;
    rtune_dtype filled = RTUNE_DTYPE_COUNT;
    data content = data::zero;
    std::vector<row> rows;
    std::vector<double> launches;
    double best_rate;
};

void survey::measure(const kind &what, uint64_t offset) {
    const uint64_t inputs = what.op == RTUNE_DOT ? 2 : 1;
    row r = {what, bytes / inputs / rtune_dtype_size(what.dtype), offset, bytes, 0, 0, ""};
    std::vector<double> t, d;
    char results[128];
    CUDA(cudaMemsetAsync(out, 0, sizeof results, on.stream));
    for (int i = -1; i < samples; i++) {
        double a = 0, b = 0;
        for (int turn = 0; turn < 2; turn++) { // which comes first changes from round to round
            if ((i + turn) % 2 == 0)
                a = on.once(RTUNE_COLD, [&] { reduce(tuned, r, out); });
            else
                b = on.once(RTUNE_COLD, [&] { reduce(standard, r, out + 64); });
        }
        if (i >= 0) t.push_back(a), d.push_back(b);
    }
    CUDA(cudaMemcpy(results, out, sizeof results, cudaMemcpyDeviceToHost));
    if (exact(what) && std::memcmp(results, results + 64, 16) != 0)
        die("%s offset=%llu: tuned and built-in results differ", name_of(what).c_str(),
            (unsigned long long)offset);
    r.tuned = quantile(t, 0.5), r.standard = quantile(d, 0.5), r.config = config_text(launch);
    best_rate = std::max(best_rate, double(bytes) / std::min(r.tuned, r.standard));
    rows.push_back(r);
}

void survey::print() const {
    const double empty = quantile(launches, 0.5);
    const char *run = args["--run"].c_str();
    std::printf("# run=%s %s driver=%s commit=%s launch_us=%.3f read_TB_s=%.4f samples=%d\n", run,
                device_line().c_str(), args["--driver"].c_str(), args["--commit"].c_str(), empty,
                best_rate / 1e6, samples);
    for (const row &r : rows)
        std::printf("%s,%s,%llu,%llu,cold,%.3f,%.3f,,,%.3f,%s\n", run, name_of(r.what).c_str(),
                    (unsigned long long)r.n, (unsigned long long)r.offset, r.tuned, r.standard,
                    empty + double(r.bytes) / best_rate, r.config.c_str());
}

} // namespace

int main(int argc, char **argv) {
    const arguments a(argc, argv, known, usage);
    const std::vector<int> op_list = choose(ops, a["--ops"], "--ops");
    const std::vector<int> mode_list = choose(modes, a["--modes"], "--modes");
    survey s(a);
    for (const int dtype : choose(dtypes, a["--dtypes"], "--dtypes"))
        for (const int op : op_list)
            for (const int mode : mode_list)
                for (const rtune_acc acc : {RTUNE_WIDE, RTUNE_NATIVE}) {
                    const kind what = {rtune_op(op), rtune_dtype(dtype), acc, rtune_mode(mode)};
                    if (defined(what)) s.run(what);
                }
    s.print();
    return 0;
}
