# SPDX-License-Identifier: Apache-2.0
"""librtune from Python through ctypes: the structs of include/rtune/rtune.h and what the benches call.

All records are made once; a call then costs a few microseconds of the host.
"""
import ctypes
from ctypes import POINTER, Structure, byref, c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint32, \
    c_uint64, c_void_p

OPS = ('sum sumsq asum dot prod min max minmax argmin argmax any all count_nonzero band bor bxor').split()
DTYPES = 'i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64'.split()
ACCS = ['wide', 'native']
CACHES = ['cold', 'dirty', 'warm']
FLAGS = ['accumulate', 'allow_nondeterministic', 'root']  # by the number of their bit


class Error(Structure):
    _fields_ = [('status', c_int), ('line', c_int), ('column', c_int), ('file', c_char * 256),
                ('message', c_char * 512)]


class Problem(Structure):
    _fields_ = [('struct_size', c_size_t), ('op', c_int), ('dtype', c_int), ('acc', c_int), ('mode', c_int),
                ('nan_rule', c_int), ('cache', c_int), ('flags', c_uint32), ('n', c_uint64)]


class Config(Structure):
    _fields_ = [('variant', c_int), ('block', c_uint32), ('items', c_uint32), ('grid_kind', c_int),
                ('grid_value', c_uint32), ('load', c_int), ('finish', c_int), ('map', c_int),
                ('occupancy', c_uint32), ('extra', c_uint32)]


class Launch(Structure):
    _fields_ = [('struct_size', c_size_t), ('source', c_int), ('kernel', c_int), ('config', Config),
                ('grid', c_uint32), ('block', c_uint32), ('shared_bytes', c_uint32),
                ('fell_back', c_bool), ('stale', c_bool), ('tuned_n', c_uint64),
                ('predicted_us', c_double), ('reason', c_char * 160)]


class Args(Structure):
    _fields_ = [('struct_size', c_size_t), ('in_', c_void_p), ('in2', c_void_p), ('out', c_void_p),
                ('scale', c_double), ('workspace', c_void_p), ('workspace_bytes', c_size_t),
                ('launch', POINTER(Launch))]


class Options(Structure):
    _fields_ = [('struct_size', c_size_t), ('device', c_char_p), ('store', c_char_p), ('log', c_void_p),
                ('log_user', c_void_p), ('workspaces', c_uint32), ('threads', c_uint32)]


class Failed(Exception):
    """A call of the library did not return RTUNE_OK."""


class Library:
    """librtune.so, loaded."""

    def __init__(self, path):
        self.dll = ctypes.CDLL(path)
        self.dll.rtune_open.argtypes = [POINTER(c_void_p), POINTER(Options), POINTER(Error)]
        self.dll.rtune_close.argtypes = [c_void_p]
        self.dll.rtune_close.restype = None
        self.dll.rtune_reduce.argtypes = [c_void_p, POINTER(Problem), POINTER(Args), c_void_p, POINTER(Error)]
        self.dll.rtune_result_size.argtypes = [POINTER(Problem)]
        self.dll.rtune_result_size.restype = c_size_t
        self.dll.rtune_config_print.argtypes = [POINTER(Config), c_char_p, c_size_t]

    def config_text(self, config):
        """With blanks for commas, as the results have it."""
        text = ctypes.create_string_buffer(256)
        self.dll.rtune_config_print(byref(config), text, len(text))
        return text.value.decode().replace(',', ' ')


class Handle:
    """One open handle; store as in struct rtune_options."""

    def __init__(self, library, store=None, device=None):
        self.library, self.pointer, self.error = library, c_void_p(), Error()
        options = Options(struct_size=ctypes.sizeof(Options), device=device and device.encode(),
                          store=store and store.encode())
        if library.dll.rtune_open(byref(self.pointer), byref(options), byref(self.error)):
            raise Failed(f'rtune_open: {self.error.message.decode()}')

    def close(self):
        self.library.dll.rtune_close(self.pointer)
        self.pointer = c_void_p()

    def call(self, problem, args, stream):
        """A function without arguments that enqueues this reduction; it keeps the records alive."""
        reduce, error = self.library.dll.rtune_reduce, self.error
        parts = (self.pointer, byref(problem), byref(args), c_void_p(stream), byref(error))

        def run():
            if reduce(*parts):
                raise Failed(f'rtune_reduce: {error.message.decode()}')
        run.keep = problem, args
        return run


def problem_of(op, dtype, acc, n, cache='cold', flags=()):
    return Problem(struct_size=ctypes.sizeof(Problem), op=OPS.index(op), dtype=DTYPES.index(dtype),
                   acc=ACCS.index(acc), cache=CACHES.index(cache), n=n,
                   flags=sum(1 << FLAGS.index(flag) for flag in flags))


def args_of(in_, out, in2=None, launch=None):
    args = Args(struct_size=ctypes.sizeof(Args), in_=in_, in2=in2, out=out, scale=1.0)
    if launch is not None:
        args.launch = ctypes.pointer(launch)
    return args


def new_launch():
    return Launch(struct_size=ctypes.sizeof(Launch))
