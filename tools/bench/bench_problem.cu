// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_problem.cu: problems and handles of librtune, for the GPU benches.
#include "tools/bench/bench_common.cuh"

#include <algorithm>

namespace bench {

void check_rtune(rtune_status s, const rtune_error &err, const char *what) {
    if (s != RTUNE_OK) die("%s: %s: %s", what, rtune_status_text(s), err.message);
}

rtune_problem problem_of(const kind &what, uint64_t n, rtune_cache cache) {
    rtune_problem p = RTUNE_PROBLEM(what.op, what.dtype, n);
    p.acc = what.acc;
    p.mode = what.mode;
    p.cache = cache;
    return p;
}

std::string name_of(const kind &what) {
    return std::string(ops.names[what.op]) + "," + dtypes.names[what.dtype] + "," +
           accs.names[what.acc] + "," + modes.names[what.mode];
}

std::string config_text(const rtune_launch &launch) {
    char text[256];
    rtune_config_print(&launch.config, text, sizeof text);
    std::string s = text;
    std::replace(s.begin(), s.end(), ',', ' ');
    return s;
}

uint64_t prime_below(uint64_t n) {
    for (uint64_t p = n - 1 - (n % 2); p > 2; p -= 2) {
        bool prime = true;
        for (uint64_t d = 3; prime && d * d <= p; d += 2)
            prime = p % d != 0;
        if (prime) return p;
    }
    return 2;
}

rtune *open_library(const char *store, uint32_t workspaces) {
    rtune_options o = RTUNE_OPTIONS_INIT;
    rtune_error err;
    rtune *rt = nullptr;
    o.store = store;
    o.workspaces = workspaces;
    check_rtune(rtune_open(&rt, &o, &err), err, "rtune_open");
    return rt;
}

} // namespace bench
