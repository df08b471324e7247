#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""librtune beside PyTorch and CuPy on the same device memory and stream, interleaved, on a cold input.

Writes one CSV line a cell and peer to standard output, as report.py reads them. A spin kernel and the flush
(a memset of 256 MiB, then a read of another 256 MiB) run while Python enqueues event, call and event, so the
host's time is in no sample. PyTorch and CuPy are called as their users call them; what they launch counts.
Their results are compared with ours; one that differs ends the program.
"""
import argparse
import ctypes
import gc
import importlib
import os
import random
import statistics
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rtune_ctypes as rt  # noqa: E402

FLUSH = 256 << 20
SPIN = 600_000  # cycles: 300 us, in which the host enqueues a sample
SIZES = {'i8': 1, 'f16': 2, 'bf16': 2, 'i32': 4, 'f32': 4, 'f64': 8}
# our op (sumsq with its root): dtypes; the acc whose result has the type of PyTorch's is wide but for halves
KINDS = {'sum': 'i8 i32 f16 bf16 f32 f64', 'max': 'i8 i32 f16 bf16 f32 f64', 'argmax': 'i32 f16 f32 f64',
         'sumsq': 'f16 f32 f64', 'dot': 'f16 f32 f64'}
BOUNDS = {'f16': 5e-3, 'bf16': 4e-2, 'f32': 1e-3, 'f64': 1e-9}  # the peers add in orders of their own


def acc_of(op, dtype):
    return 'native' if op in ('sum', 'sumsq', 'dot') and dtype in ('f16', 'bf16') else 'wide'


class Helper:
    """libbench_helper.so: what PyTorch has not, or not as the other benches have it."""

    def __init__(self, path):
        dll = ctypes.CDLL(path)
        self.fill, self.empty = dll.bench_fill, dll.bench_empty
        pointer, whole = ctypes.c_void_p, ctypes.c_uint64
        self.fill.argtypes = [pointer, ctypes.c_int, whole, whole, ctypes.c_int, pointer]
        self.empty.argtypes = [pointer]
        for function in (self.fill, self.empty):
            function.restype = None


class Stand:
    """The stream, the memory and the clock of all samples."""

    def __init__(self, torch, most_bytes):
        self.torch = torch
        self.stream = torch.cuda.Stream()
        torch.cuda.set_stream(self.stream)
        byte = {'dtype': torch.uint8, 'device': 'cuda'}
        self.dirty = torch.empty(FLUSH, **byte)
        self.clean = torch.ones(FLUSH // 4, dtype=torch.float32, device='cuda')
        self.sink = torch.empty((), dtype=torch.float32, device='cuda')
        self.pool = torch.empty(most_bytes, **byte)
        self.out = torch.zeros(64, **byte)
        self.first = torch.cuda.Event(enable_timing=True)
        self.last = torch.cuda.Event(enable_timing=True)
        self.sleep = getattr(torch.cuda, '_sleep', None)

    def spin(self):
        if self.sleep:
            self.sleep(SPIN)
        else:  # as long, with what every version has
            for _ in range(4):
                self.dirty.zero_()

    def flush(self):
        self.spin()
        self.dirty.zero_()
        self.torch.sum(self.clean, dim=0, out=self.sink)

    def once(self, call):
        """Microseconds of one call, and what it returned."""
        self.flush()
        self.first.record(self.stream)
        result = call()
        self.last.record(self.stream)
        self.stream.synchronize()
        return self.first.elapsed_time(self.last) * 1000, result


class Torch:
    name = 'torch'

    def __init__(self, torch, stand):
        self.torch, self.stand = torch, stand
        self.dtypes = {'i8': torch.int8, 'i32': torch.int32, 'f16': torch.float16, 'bf16': torch.bfloat16,
                       'f32': torch.float32, 'f64': torch.float64}

    def array(self, at, dtype, n):
        size = SIZES[dtype]
        return self.stand.pool[at:at + n * size].view(self.dtypes[dtype])

    def call(self, op, dtype, n, at2):
        """A function that enqueues the op of the first n elements and returns the result, or None."""
        x = self.array(0, dtype, n)
        if op == 'dot':
            y, dot = self.array(at2, dtype, n), self.torch.dot
            return lambda: dot(x, y)
        function = {'sum': self.torch.sum, 'max': self.torch.amax, 'argmax': self.torch.argmax,
                    'sumsq': self.torch.linalg.vector_norm}[op]
        return lambda: function(x)

    def value(self, result):
        return result.item()


class Cupy:
    name = 'cupy'

    def __init__(self, cupy, stand):
        self.cupy, self.stand = cupy, stand
        self.stream = cupy.cuda.ExternalStream(stand.stream.cuda_stream)
        self.stream.use()
        self.dtypes = {'i8': cupy.int8, 'i32': cupy.int32, 'f16': cupy.float16, 'f32': cupy.float32,
                       'f64': cupy.float64}

    def call(self, op, dtype, n, _):
        if dtype not in self.dtypes or op not in ('sum', 'max', 'argmax'):
            return None
        pool = self.stand.pool
        memory = self.cupy.cuda.UnownedMemory(pool.data_ptr(), n * SIZES[dtype], pool)
        x = self.cupy.ndarray((n,), self.dtypes[dtype], self.cupy.cuda.MemoryPointer(memory, 0))
        function = {'sum': self.cupy.sum, 'max': self.cupy.max, 'argmax': self.cupy.argmax}[op]
        return lambda: function(x)

    def value(self, result):
        return result.item()


class Ours:
    """Tuned and built-in handles, and what one cell of them needs."""

    def __init__(self, options, stand, helper):
        library = rt.Library(options.lib)
        self.library, self.stand, self.helper = library, stand, helper
        self.handles = rt.Handle(library, store=options.db or None), rt.Handle(library, store='none')
        self.stream = stand.stream.cuda_stream

    def calls(self, op, dtype, n, at2):
        """The tuned call, the built-in one, and the launch record of the former."""
        launch, base, out = rt.new_launch(), self.stand.pool.data_ptr(), self.stand.out.data_ptr()
        flags = ['root'] if op == 'sumsq' else []
        problem = rt.problem_of(op, dtype, acc_of(op, dtype), n, flags=flags)
        in2 = base + at2 if op == 'dot' else None
        made = []
        for handle, record in zip(self.handles, (launch, None)):
            made.append(handle.call(problem, rt.args_of(base, out, in2, record), self.stream))
        return made[0], made[1], launch

    def value(self, op, dtype, torch_side):
        """The result as Python has it: of argmax the index."""
        torch, out = torch_side.torch, self.stand.out
        if op == 'argmax':
            return out[8:16].view(torch.int64).item()
        kind = torch_side.dtypes[dtype]
        if op == 'sum' and dtype in ('i8', 'i32'):
            kind = torch.int64
        return out[:8].view(kind)[0].item()


def same(ours, theirs, op, dtype, x):
    """Are two results the same? x is the input: of several largest elements a peer may take any."""
    if op == 'argmax':
        return ours == theirs or (ours < theirs and x[ours].item() == x[theirs].item())
    if op == 'max' or dtype in ('i8', 'i32'):
        return ours == theirs
    least = len(x) ** 0.5
    return ours == theirs or abs(ours - theirs) <= BOUNDS[dtype] * max(abs(ours), abs(theirs), least)


class Bench:
    def __init__(self, options, torch, peers, stand, ours):
        self.options, self.torch, self.peers, self.stand, self.ours = options, torch, peers, stand, ours
        self.rows, self.launches, self.best_rate = [], [], 0.0
        self.random = random.Random(1)

    def samples(self, size):
        count = self.options.samples
        return count if size <= 4 << 20 else max(5, count // 2 if size <= FLUSH else count // 4)

    def kind(self, op, dtype):
        most = min(1 << self.options.to, len(self.stand.pool) // SIZES[dtype] // (2 if op == 'dot' else 1))
        fill, stream = self.ours.helper.fill, self.ours.stream
        at2, number, base = most * SIZES[dtype], rt.DTYPES.index(dtype), self.stand.pool.data_ptr()
        fill(base, number, most, 0, rt.OPS.index(op), stream)
        if op == 'dot':
            fill(base + at2, number, most, 1234567, rt.OPS.index(op), stream)
        n = 1 << self.options.from_
        while n <= most:
            self.cell(op, dtype, n, at2)
            n *= 2

    def cell(self, op, dtype, n, at2):
        once, empty = self.stand.once, lambda: self.ours.helper.empty(self.ours.stream)
        tuned, standard, launch = self.ours.calls(op, dtype, n, at2)
        theirs = [(p, p.call(op, dtype, n, at2)) for p in self.peers]
        theirs = [(p, call, []) for p, call in theirs if call]
        size = n * SIZES[dtype] * (2 if op == 'dot' else 1)
        a, b, x = [], [], self.peers_array(dtype, n)
        for i in range(-2, self.samples(size)):
            calls = [(tuned, a, None), (standard, b, None)]
            calls += [(call, times, peer) for peer, call, times in theirs]
            self.random.shuffle(calls)  # what always follows the same call meets the same state
            results = []
            for call, times, peer in calls:
                us, result = once(call)
                if peer:
                    results.append((peer, result))
                if i >= 0:
                    times.append(us)
            if i == -2:
                tuned()
                self.compare(op, dtype, x, results)
            if i % 5 == 0:
                self.launches.append(once(empty)[0])
        config = self.ours.library.config_text(launch.config)
        for peer, _, times in theirs:
            row = [statistics.median(a), statistics.median(b), peer.name, statistics.median(times)]
            self.rows.append(((op, dtype, acc_of(op, dtype)), n, size, row, config))
            if size >= FLUSH:
                self.best_rate = max(self.best_rate, size / min(row[0], row[1], row[3]))

    def peers_array(self, dtype, n):
        return Torch(self.torch, self.stand).array(0, dtype, n)

    def compare(self, op, dtype, x, results):
        mine = self.ours.value(op, dtype, Torch(self.torch, self.stand))
        for peer, result in results:
            other = peer.value(result)
            if not same(mine, other, op, dtype, x):
                sys.exit(f'peers.py: {op} {dtype} n={len(x)}: ours {mine}, {peer.name} {other}')

    def print(self, versions):
        o, empty = self.options, statistics.median(self.launches)
        rate = self.best_rate or float('inf')
        name = self.torch.cuda.get_device_name(0)
        print(f'# run={o.run} device={name} cuda={self.torch.version.cuda} driver={o.driver} {versions} '
              f'commit={o.commit} launch_us={empty:.3f} read_TB_s={self.best_rate / 1e6:.4f} '
              f'samples={o.samples}')
        for (op, dtype, acc), n, size, (tuned, standard, peer, other), config in self.rows:
            print(f'{o.run},{op},{dtype},{acc},plain,{n},0,cold,{tuned:.3f},{standard:.3f},{peer},'
                  f'{other:.3f},{empty + size / rate:.3f},{config}')


def options_of():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--lib', required=True, help='librtune.so')
    parser.add_argument('--helper', required=True, help='libbench_helper.so')
    parser.add_argument('--db', default='', help='store; default: RTUNE_DB, or the user\'s')
    parser.add_argument('--ops', default=','.join(KINDS))
    parser.add_argument('--dtypes', default=','.join(SIZES))
    parser.add_argument('--peers', default='torch,cupy')
    parser.add_argument('--from', dest='from_', type=int, default=6)
    parser.add_argument('--to', type=int, default=30)
    parser.add_argument('--samples', type=int, default=21)
    parser.add_argument('--run', default='torch')
    parser.add_argument('--commit', default='unknown')
    parser.add_argument('--driver', default='unknown')
    return parser.parse_args()


def main():
    options = options_of()
    torch = importlib.import_module('torch')
    wanted, versions = options.peers.split(','), f'torch={torch.__version__}'
    kinds = [(op, dtype) for op in options.ops.split(',') for dtype in KINDS[op].split()
             if dtype in options.dtypes.split(',')]
    most = max((SIZES[dtype] << options.to) * (2 if op == 'dot' else 1) for op, dtype in kinds)
    stand = Stand(torch, most)
    peers = [Torch(torch, stand)] if 'torch' in wanted else []
    if 'cupy' in wanted:
        try:
            cupy = importlib.import_module('cupy')
            peers.append(Cupy(cupy, stand))
            versions += f' cupy={cupy.__version__}'
        except ImportError as e:
            print(f'peers.py: no CuPy: {e}', file=sys.stderr)
    bench = Bench(options, torch, peers, stand, Ours(options, stand, Helper(options.helper)))
    for _ in range(1500):
        stand.flush()  # clocks
    stand.stream.synchronize()
    gc.disable()
    for op, dtype in kinds:
        start = time.monotonic()
        bench.kind(op, dtype)
        print(f'{op} {dtype}: {time.monotonic() - start:.1f} s', file=sys.stderr)
    bench.print(versions)


if __name__ == '__main__':
    main()
