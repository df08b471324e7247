#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench/rtune_ctypes.py on the cpu device: test_ctypes.py LIBRTUNE.

The structs have the sizes that the library expects (it checks struct_size), and the results are right.
"""
import array
import ctypes
import pathlib
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'tools/bench'))
import rtune_ctypes as rt  # noqa: E402


class Binding(unittest.TestCase):
    def setUp(self):
        self.library = rt.Library(PATH)
        self.handle = rt.Handle(self.library, store='none', device='cpu')
        self.addCleanup(self.handle.close)

    def reduce(self, op, dtype, acc, values, code, second=None, flags=()):
        data = array.array(code, values)
        other = array.array(code, second) if second else None
        out, launch = ctypes.create_string_buffer(32), rt.new_launch()
        problem = rt.problem_of(op, dtype, acc, len(data), flags=flags)
        second = other.buffer_info()[0] if other else None
        args = rt.args_of(data.buffer_info()[0], ctypes.addressof(out), second, launch)
        self.handle.call(problem, args, None)()
        size = self.library.dll.rtune_result_size(ctypes.byref(problem))
        self.assertRegex(self.library.config_text(launch.config), r'^block=1 items=\d+ grid=\w+ ')
        return out.raw[:size]

    def test_sums(self):
        values = range(-500, 1001)
        self.assertEqual(array.array('f', self.reduce('sum', 'f32', 'wide', values, 'f'))[0], sum(values))
        self.assertEqual(array.array('q', self.reduce('sum', 'i32', 'wide', values, 'i'))[0], sum(values))
        self.assertEqual(array.array('i', self.reduce('sum', 'i32', 'native', values, 'i'))[0], sum(values))

    def test_norm(self):
        norm = self.reduce('sumsq', 'f64', 'wide', [-3, 4], 'd', flags=['root'])
        self.assertEqual(array.array('d', norm)[0], 5)

    def test_max(self):
        self.assertEqual(array.array('d', self.reduce('max', 'f64', 'wide', [3, -7, 9.5, 2], 'd'))[0], 9.5)

    def test_failure_has_the_reason(self):
        with self.assertRaisesRegex(rt.Failed, 'max'):
            self.reduce('max', 'f32', 'wide', [], 'f')

    def test_names_are_those_of_the_header(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        text = (root / 'include/rtune/rtune.h').read_text(encoding='utf-8')
        body = text[text.index('enum rtune_op {'):text.index('RTUNE_OP_COUNT')]
        names = [line.strip(' ,').removeprefix('RTUNE_').lower() for line in body.splitlines()[1:]]
        self.assertEqual([name for name in names if name], rt.OPS)
        body = text[text.index('enum rtune_dtype {'):text.index('RTUNE_DTYPE_COUNT')]
        names = [line.strip(' ,').removeprefix('RTUNE_').lower() for line in body.splitlines()[1:]]
        self.assertEqual([name for name in names if name], rt.DTYPES)
        body = text[text.index('enum rtune_flag {'):text.index('RTUNE_FLAG_ALL')]
        bits = {int(bit): name.lower() for name, bit in re.findall(r'RTUNE_(\w+) = 1u << (\d+)', body)}
        self.assertEqual([bits[bit] for bit in range(len(bits))], rt.FLAGS)


if __name__ == '__main__':
    PATH = sys.argv.pop(1)
    unittest.main()
