#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench/report.py on a made-up GPU: every goal that it states is met, then missed, one at a time."""
import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'tools/bench'))
import report  # noqa: E402
import results_io  # noqa: E402

LAUNCH, RATE = 2.6, 4.6e6
HEAD = ('# run={} device=NVIDIA H200 cuda=13.0 driver=580.1 cub=300001 commit=abcdef1 launch_us=2.600 '
        'read_TB_s=4.6000 samples=9')
CUB_KINDS = [(op, dtype, acc)
             for op in ('sum', 'min', 'max', 'argmax')
             for dtype in ('i8', 'i32', 'i64', 'f16', 'bf16', 'f32', 'f64')
             for acc in (('wide', 'native') if op == 'sum' and dtype in ('f16', 'bf16') else
                         ('native',) if op == 'sum' and dtype[0] == 'i' else ('wide',))]


def row(run, kind, n, offset=0, cache='cold', **more):
    made = {'run': run, 'op': kind[0], 'dtype': kind[1], 'acc': kind[2], 'mode': 'plain', 'n': n,
            'offset': offset, 'cache': cache, 'peer': 'cub', 'config': 'block=1 items=2'}
    made.update(more)
    size = results_io.bytes_of(made)
    floor = LAUNCH + size / RATE
    made['rtune_us'] = 1.004 * floor if size >= 1 << 28 else 1.1 * floor
    made['default_us'], made['floor_us'] = 1.2 * floor, floor
    made['peer_us'] = made['rtune_us'] * more.get('ratio', 1.6)
    made.pop('ratio', None)
    return made


def cub_rows():
    rows = []
    for kind in CUB_KINDS:
        for k in range(6, 34):
            rows.append(row('sum', kind, 1 << k))
            if k >= 10:
                rows.append(row('sum', kind, (1 << k) - 1))
                rows.append(row('sum', kind, 1 << k, 1, ratio=3.5 if kind[1] == 'i8' else 1.6))
            if 10 <= k <= 23:
                rows.append(row('sum', kind, 1 << k, cache='warm'))
    return rows


def torch_rows():
    def acc(op, dtype):
        return 'native' if op in ('sum', 'sumsq', 'dot') and 'f16' in dtype else 'wide'
    return [row('torch', (op, dtype, acc(op, dtype)), 1 << k, peer='torch', ratio=2.5)
            for op, dtypes in report.TORCH_CELLS.items() for dtype in dtypes.split() for k in range(6, 31)]


def mode_rows():
    return [row('modes', (op, 'f32', 'wide'), (1 << 33) // 4 // (2 if op == 'dot' else 1), offset, mode=mode,
                peer='', ratio=1)
            for op in ('sum', 'dot', 'asum') for mode in ('plain', 'kahan', 'fixed') for offset in (0, 1)]


class Report(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = pathlib.Path(self.folder.name)
        self.rows = cub_rows() + torch_rows() + mode_rows()

    def part(self, rows, name='part.txt'):
        lines = [HEAD.format(run) for run in sorted({r['run'] for r in rows})]
        lines += [','.join(results_io.number_text(r[c]) if r['peer'] or c not in ('peer', 'peer_us') else ''
                           for c in results_io.PEERS) for r in rows]
        (self.path / name).write_text('\n'.join(lines) + '\n', encoding='utf-8')
        return str(self.path / name)

    def run_report(self, *parts):
        """Exit status and what was printed."""
        out, argv = io.StringIO(), sys.argv
        sys.argv = ['report.py', str(self.path), *parts]
        try:
            with contextlib.redirect_stdout(out), self.assertRaises(SystemExit) as stop:
                report.main()
        finally:
            sys.argv = argv
        return stop.exception.code, out.getvalue()

    def failures(self, rows):
        code, text = self.run_report(self.part(rows))
        failed = [line for line in text.splitlines() if line.startswith('FAIL')]
        self.assertEqual(code, 1 if failed else 0, text[-500:])
        return failed

    def slower(self, chosen, factor):
        """All rows, those that are chosen with our time longer."""
        changed = [dict(r, rtune_us=r['rtune_us'] * factor) if chosen(r) else r for r in self.rows]
        self.assertNotEqual(changed, self.rows)
        return changed

    def assert_fails(self, chosen, factor, *words):
        failed = self.failures(self.slower(chosen, factor))
        for word in words:
            self.assertTrue(any(word in line for line in failed), (word, failed))

    def test_all_goals_met(self):
        self.assertEqual(self.failures(self.rows), [])

    def test_every_goal_can_fail(self):
        def cub(r, **want):
            return r['peer'] == 'cub' and all(r[name] == value for name, value in want.items())
        self.assert_fails(lambda r: cub(r, op='max', dtype='i64') and 2**10 <= r['n'] <= 2**25, 1.4,
                          'cub max i64 wide, 2^10 ... 2^25')
        self.assert_fails(lambda r: cub(r, cache='cold', offset=0), 1.3, 'cub pooled, 2^10 ... 2^25')
        self.assert_fails(lambda r: cub(r, op='sum', dtype='f16') and r['n'] >= 2**26, 1.49,
                          'cub sum f16 wide, above 2^25: 1.07', 'cub sum f16 native, above 2^25')
        self.assert_fails(lambda r: cub(r, op='argmax', dtype='f32') and r['n'] >= 2**26, 1.4,
                          'cub argmax f32 wide, above 2^25')
        self.assert_fails(lambda r: cub(r, op='min', dtype='f64') and r['n'] < 1000, 1.61,
                          'cub min f64 wide, below 2^10')
        self.assert_fails(lambda r: cub(r, cache='warm'), 1.4, 'cub pooled, warm')
        self.assert_fails(lambda r: cub(r) and report.shape(r) == 'odd size', 1.2, 'cub pooled, odd size:',
                          'cub sum f32 wide, odd size')
        self.assert_fails(lambda r: cub(r, offset=1), 1.5, 'cub pooled, odd base', 'odd sizes and bases')
        self.assert_fails(lambda r: cub(r, dtype='i8', offset=1, n=2**28, op='sum'), 1.2,
                          'cub sum i8 on an odd base at 2^28')
        self.assert_fails(lambda r: cub(r, dtype='f32', op='sum', n=2**12, cache='warm'), 1.7,
                          'cub: the least of')

    def test_floors_torch_and_bandwidth_can_fail(self):
        def cell(r, op, n):
            return (r['op'], r['n'], r['cache'], r['offset']) == (op, n, 'cold', 0)
        self.assert_fails(lambda r: cell(r, 'sum', 2**22) and r['dtype'] == 'f32' and r['peer'] == 'cub', 1.3,
                          'floor: sum f32 wide at 2^22')
        self.assert_fails(lambda r: cell(r, 'sum', 2**24) and r['dtype'] == 'i32' and r['peer'] == 'cub', 1.1,
                          'floor: sum i32 native at 2^24')
        self.assert_fails(lambda r: r['peer'] == 'torch', 1.3, 'torch pooled')
        self.assert_fails(lambda r: r['peer'] == 'torch' and r['n'] == 64 and r['op'] == 'dot', 2.6,
                          'torch: the least cell')
        self.assert_fails(lambda r: r['run'] == 'modes' and r['mode'] == 'fixed', 1.1, 'modes: least share')
        self.assert_fails(lambda r: r['run'] == 'sum' and r['n'] == 2**31 and r['dtype'] == 'f32', 1.03,
                          'peers: least share')
        self.assert_fails(lambda r: r['op'] == 'sumsq' and r['dtype'] == 'f64' and r['n'] == 2**30, 1.03,
                          'peers: least share', 'sumsq f64 wide plain+0')
        self.assertEqual(self.failures(self.slower(
            lambda r: r['run'] == 'modes' and r['mode'] == 'fixed', 1.05)), [])

    def test_missing_cells_are_told(self):
        failed = self.failures([r for r in self.rows if r['n'] != 2**20 or r['op'] != 'sum'])
        self.assertTrue(any('cub: missing cells' in line for line in failed), failed)
        self.assertTrue(any('torch: missing cells' in line for line in failed), failed)

    def test_what_is_written_is_read_again(self):
        code, text = self.run_report(self.part(self.rows))
        self.assertEqual(code, 0)
        again = self.run_report()
        self.assertEqual(again, (code, text))
        first = (self.path / 'h200-peers.csv').read_text(encoding='utf-8').splitlines()
        self.assertRegex(first[0], r'^# date=\d{4}-\d\d-\d\d run=sum device=NVIDIA H200 .*commit=abcdef1')
        self.assertEqual(first[2], 'run,op,dtype,acc,mode,n,offset,cache,rtune_us,default_us,peer,peer_us,'
                                   'floor_us,config')
        modes = (self.path / 'h200-modes.csv').read_text(encoding='utf-8').splitlines()
        self.assertEqual(modes[1], 'run,op,dtype,acc,mode,n,offset,cache,rtune_us,default_us,floor_us,config')
        self.assertEqual(len(modes), 2 + len(mode_rows()))

    def test_no_rows_are_no_failure(self):
        code, text = self.run_report(self.part([r for r in self.rows if r['run'] == 'modes']))
        self.assertEqual(code, 0)
        self.assertIn('NONE torch pooled', text)

    def test_later_parts_replace(self):
        later = [dict(r, run='again', config='block=7') for r in self.rows
                 if r['run'] == 'sum' and r['cache'] == 'warm' and r['n'] == 1 << 12]
        code, _ = self.run_report(self.part(self.rows), self.part(later, 'later.txt'))
        self.assertEqual(code, 0)
        rows = results_io.read(self.path / 'h200-peers.csv')[1]['h200-peers.csv']
        self.assertEqual(len(rows), sum(1 for r in self.rows if r['peer']))
        self.assertEqual(sorted((r['op'], r['dtype'], r['acc']) for r in rows if r['config'] == 'block=7'),
                         sorted((r['op'], r['dtype'], r['acc']) for r in later))

    def test_two_runs_of_modes(self):
        modes = [r for r in self.rows if r['run'] == 'modes']
        part = self.part(modes)
        code, _ = self.run_report(part, part)
        self.assertIn('another part has run modes', str(code))
        code, _ = self.run_report(part, f'other={part}')
        self.assertEqual(code, 0)
        heads, rows = results_io.read(self.path / 'h200-modes.csv')
        self.assertEqual(len(heads), 2)
        self.assertEqual([r['run'] for r in rows['h200-modes.csv']],
                         ['modes'] * len(modes) + ['other'] * len(modes))

    def test_bad_files(self):
        for lines in (['sum,f32,1'], ['sum' + ',1' * 13],
                      [HEAD.format('x'), 'x,sum,f99,wide,plain,64,0,cold,1,1,cub,1,1,c'],
                      ['x,sum,f32,wide,plain,64,0,cold,1,1,cub,1,1,c'],
                      [HEAD.format('x'), 'x,sum,f32,wide,plain,64,0,cold,0,1,cub,1,1,c'],
                      [HEAD.format('x'), 'x,sum,f32,wide,plain,64,0,cold,nan,1,cub,1,1,c']):
            (self.path / 'bad').write_text('\n'.join(lines), encoding='utf-8')
            code, _ = self.run_report(str(self.path / 'bad'))
            self.assertIn('report.py: ', str(code), lines)

    def test_finishes(self):
        lines = [HEAD.format('finishes')] + \
            [f'finishes,sum,f32,wide,{1 << k},{f},{4 + k / 10:.3f},3.000,5,block=256' for k in (14, 16)
             for f in ('slots', 'last')]
        (self.path / 'part').write_text('\n'.join(lines), encoding='utf-8')
        code, text = self.run_report(str(self.path / 'part'))
        self.assertEqual(code, 0)
        self.assertRegex(text, r'slots +5\.40 +5\.60')
        self.assertTrue((self.path / 'h200-finishes.csv').exists())


if __name__ == '__main__':
    unittest.main()
