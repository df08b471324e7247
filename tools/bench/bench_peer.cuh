// SPDX-License-Identifier: Apache-2.0
//
// tools/bench/bench_peer.cuh: the libraries that bench_peers puts beside ours. Each is a record;
// the calls of CUB and thrust are compiled once for each dtype (bench_peer_typed.cu).
#pragma once

#include "tools/bench/bench_common.cuh"

namespace bench {

struct peer {
    const char *name;
    bool host; // the call ends with the result on the host: c.out is host memory, and it waits
    bool (*has)(const kind &what);
    void (*run)(const call &c); // on c.stream
};
extern const peer cub_peer, thrust_peer, cublas_peer;

// Where this is false, cublas_peer has nothing.
bool cublas_open(cudaStream_t stream);

template <rtune_dtype D> void cub_call(const call &c);
template <rtune_dtype D> void thrust_call(const call &c);

// Workspace of CUB's calls: made once, larger than any of them asks for.
struct scratch {
    void *p;
    size_t bytes;
};
scratch cub_scratch();
int cub_version();

} // namespace bench
