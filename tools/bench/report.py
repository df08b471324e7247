#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merge what the GPU benches printed into result files, and say which goals the figures meet.

usage: report.py FOLDER [[RUN=]PART...]

Writes FOLDER/h200-peers.csv, h200-modes.csv and h200-finishes.csv from the parts, of which a later
one replaces what earlier ones have of the same cell beside a peer; without parts, reads the files
that are there. A part may be given as RUN=PART: then that is the name of its run, where two have
the same. Prints a table of ratios and a line for every goal: PASS, FAIL, or NONE where no row
answers it. Fails if a goal fails.
"""
import math
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from results_io import FILES, HEAD, BadFile, bytes_of, mean, read, read_rates, write  # noqa: E402

CUB_OPS = ('sum', 'min', 'max', 'argmin', 'argmax')
CUB_DTYPES = ('i8', 'i32', 'i64', 'f16', 'bf16', 'f32', 'f64')
TORCH_CELLS = {'sum': 'i8 i32 f16 bf16 f32 f64', 'max': 'i8 i32 f16 bf16 f32 f64',
               'argmax': 'f16 f32 f64 i32', 'sumsq': 'f16 f32 f64', 'dot': 'f16 f32 f64'}
FLOORS = {('f32', 'wide'): {16: 1.80, 20: 1.66, 22: 1.41, 24: 1.16},
          ('i32', 'native'): {16: 1.62, 20: 1.52, 22: 1.32, 24: 1.13}}
LEAST_CELL, LARGE = 0.97, 8 << 30
CELL = ('op', 'dtype', 'acc', 'mode', 'n', 'offset', 'cache', 'peer', 'finish')


def near(row):
    """The k of the power of two that n is, or lies beside."""
    return round(math.log2(row['n']))


def power(row):
    return row['n'] & (row['n'] - 1) == 0


def shape(row):
    if row['offset']:
        return 'odd base'
    return 'aligned' if power(row) else 'odd size'


def ratio(row):
    return row['peer_us'] / row['rtune_us']


def kind(row):
    return row['op'], row['dtype'], row['acc']


class Goals:
    """The lines of the verdict."""

    def __init__(self):
        self.lines = []

    def add(self, name, figure, sign, bar, note=''):
        met = figure >= bar if sign == '>=' else figure <= bar
        text = f'{figure:.4g} {sign} {bar} {note}'.rstrip()
        self.lines.append(('PASS' if met else 'FAIL', name, text))

    def none(self, name):
        self.lines.append(('NONE', name, 'no rows'))

    def at_least(self, name, rows, bar):
        """The geometric mean of the ratios."""
        if rows:
            self.add(name, mean([ratio(row) for row in rows]), '>=', bar, f'({len(rows)} cells)')
        else:
            self.none(name)

    def print(self):
        for verdict, name, text in self.lines:
            print(f'{verdict} {name}: {text}')
        failed = [name for verdict, name, _ in self.lines if verdict == 'FAIL']
        print(f'{len(self.lines)} goals, {len(failed)} failed')
        return failed


class Rows(list):
    def where(self, cache=None, look=None, least=0, most=99, peer=None):
        return Rows(row for row in self if (cache is None or row['cache'] == cache) and
                    (look is None or shape(row) == look) and least <= near(row) <= most and
                    (peer is None or row['peer'] == peer))

    def by_kind(self):
        groups = {}
        for row in self:
            groups.setdefault(kind(row), Rows()).append(row)
        return groups


# ---- beside CUB ---------------------------------------------------------------------------------

def bar_large(op, dtype):
    if op.startswith('arg'):
        return 1.2
    return {'i8': 1.04, 'f16': 1.08, 'bf16': 1.08}.get(dtype, 1.01)


def cub_goals(goals, all_rows):
    cub = all_rows.where(peer='cub')
    aligned = cub.where('cold', 'aligned')
    for (op, dtype, acc), rows in sorted(aligned.by_kind().items()):
        name = f'cub {op} {dtype} {acc}'
        goals.at_least(f'{name}, 2^10 ... 2^25', rows.where(least=10, most=25), 1.18)
        goals.at_least(f'{name}, above 2^25', rows.where(least=26), bar_large(op, dtype))
        goals.at_least(f'{name}, below 2^10', rows.where(most=9), 1.0)
    goals.at_least('cub pooled, 2^10 ... 2^25', aligned.where(least=10, most=25), 1.25)
    warm = cub.where('warm', 'aligned', 10, 23)
    for (op, dtype, acc), rows in sorted(warm.by_kind().items()):
        goals.at_least(f'cub {op} {dtype} {acc}, warm', rows, 1.2)
    goals.at_least('cub pooled, warm', warm, 1.2)
    odd = {look: cub.where('cold', look, 13, 25) for look in ('odd size', 'odd base')}
    for look, bar in (('odd size', 1.4), ('odd base', 1.2)):
        for (op, dtype, acc), rows in sorted(odd[look].by_kind().items()):
            goals.at_least(f'cub {op} {dtype} {acc}, {look}', rows, bar)
        goals.at_least(f'cub pooled, {look}', odd[look], bar)
    goals.at_least('cub pooled, odd sizes and bases', odd['odd size'] + odd['odd base'], 1.5)
    bases = [row for row in cub.where('cold', 'odd base', 28, 28) if row['dtype'] == 'i8']
    if not bases:
        goals.none('cub i8 on an odd base at 2^28')
    for row in bases:
        goals.add(f'cub {row["op"]} i8 on an odd base at 2^28', ratio(row), '>=', 3)


def cub_cells(goals, rows):
    """Every cell that is asked for is there: kinds of the four ops, sizes as far as memory goes."""
    have = {(kind(row), near(row), shape(row)) for row in rows.where('cold', peer='cub')}
    if not have:
        return goals.none('cub: all cells are there')
    missing = []
    for op in CUB_OPS:
        if op == 'argmin':
            continue
        for dtype in CUB_DTYPES:
            half = dtype in ('f16', 'bf16')
            accs = ['wide', 'native'] if half and op == 'sum' else \
                ['native' if op == 'sum' and dtype[0] == 'i' else 'wide']
            for acc in accs:
                for k in range(6, 34):
                    for look in ('aligned', 'odd size', 'odd base')[:3 if k >= 10 else 1]:
                        if ((op, dtype, acc), k, look) not in have:
                            missing.append(f'{op} {dtype} {acc} 2^{k} {look}')
    goals.add('cub: missing cells', len(missing), '<=', 0, f'(first: {missing[0]})' if missing else '')


def least_goals(goals, rows):
    for peer in ('cub', 'cublas', 'thrust', 'cupy'):
        cells = rows.where(peer=peer)
        if not cells:
            goals.none(f'{peer}: the least cell')
            continue
        row = min(cells, key=ratio)
        where = f'({" ".join(kind(row))} n={row["n"]} {shape(row)} {row["cache"]})'
        below = sum(ratio(row) < LEAST_CELL for row in cells)
        goals.add(f'{peer}: the least of {len(cells)} cells', ratio(row), '>=', LEAST_CELL,
                  f'{where}, {below} below')


# ---- the floor, PyTorch, bandwidth ---------------------------------------------------------------

def floor_goals(goals, rows):
    aligned = [row for row in rows.where('cold', 'aligned', peer='cub') if row['op'] == 'sum']
    for (dtype, acc), bars in FLOORS.items():
        for k, bar in bars.items():
            name = f'floor: sum {dtype} {acc} at 2^{k}'
            found = [row for row in aligned if row['n'] == 1 << k and kind(row) == ('sum', dtype, acc)]
            if not found:
                goals.none(name)
            for row in found:
                goals.add(name, row['rtune_us'] / row['floor_us'], '<=', bar)


def torch_goals(goals, rows):
    cells = Rows(row for row in rows.where('cold', 'aligned', 6, 30, peer='torch')
                 if row['dtype'] in TORCH_CELLS.get(row['op'], '').split())
    goals.at_least('torch pooled, 2^6 ... 2^30', cells, 2.0)
    if not cells:
        return
    row = min(cells, key=ratio)
    below = sum(ratio(row) < 1 for row in cells)
    goals.add('torch: the least cell', ratio(row), '>=', 1.0,
              f'({" ".join(kind(row))} n={row["n"]}), {below} below')
    asked = sum(len(dtypes.split()) for dtypes in TORCH_CELLS.values()) * 25
    have = len({(kind(row), row['n']) for row in cells})
    goals.add('torch: missing cells', asked - have, '<=', 0)


def share_bar(row):
    bar = 98
    if row['op'] == 'dot':
        bar = min(bar, 95)
    if row['offset']:
        bar = min(bar, 96)
    return min(bar, 92) if row['mode'] == 'fixed' else bar


def best_rates(rows, heads):
    """By run: the most that a kernel read of at least 256 MiB, in bytes a microsecond."""
    best = read_rates(heads)
    for row in rows:
        if row['cache'] == 'cold' and bytes_of(row) >= 1 << 28 and row.get('peer') != 'thrust':
            times = [row[name] for name in ('rtune_us', 'default_us', 'peer_us') if row.get(name)]
            best[row['run']] = max(best.get(row['run'], 0), bytes_of(row) / min(times))
    return best


def share_goals(goals, rows, heads, name):
    best, groups = best_rates(rows, heads), {}
    for row in rows:
        large = row['cache'] == 'cold' and bytes_of(row) >= LARGE - 64
        if large and row.get('peer') != 'thrust':
            share = 100 * bytes_of(row) / row['rtune_us'] / best[row['run']]
            groups.setdefault((share_bar(row), row['run']), []).append((share, row))
    if not groups:
        goals.none(f'{name}: share of the best read rate from 8 GiB')
    for (bar, run), shares in sorted(groups.items(), key=str):
        share, row = min(shares, key=lambda pair: pair[0])
        where = f'{" ".join(kind(row))} {row["mode"]} n={row["n"]} offset {row["offset"]}'
        below = sorted({f'{" ".join(kind(r))} {r["mode"]}+{r["offset"]}' for s, r in shares if s < bar})
        title = f'{name}: least share of {best[run] / 1e6:.3f} TB/s in run {run} (bar {bar} %)'
        sheet = bytes_of(row) / row['rtune_us'] / 4.8e4
        goals.add(title, share, '>=', bar, f'({where}, {sheet:.1f} % of 4.8 TB/s; {len(below)} kinds in '
                                           f'{len(shares)} cells below: {", ".join(below[:40])})')


# ---- tables -------------------------------------------------------------------------------------

def text_of(rows):
    return f'{mean([ratio(row) for row in rows]):10.3f}' if rows else f'{"":>10}'


def print_ratios(rows):
    bands = (('< 2^10', 0, 9), ('.. 2^25', 10, 25), ('> 2^25', 26, 99))
    print(f'{"peer / ours, geometric mean":46}' + ''.join(f'{name:>10}' for name, _, _ in bands) +
          f'{"least":>10}{"at n":>12}')
    for peer in sorted({row['peer'] for row in rows}):
        for cache in ('cold', 'dirty', 'warm'):
            for look in ('aligned', 'odd size', 'odd base'):
                groups = rows.where(cache, look, peer=peer).by_kind()
                for key, cells in sorted(groups.items()):
                    least = min(cells, key=ratio)
                    print(f'{peer:7}{cache:6}{look:9} {" ".join(key):23}' +
                          ''.join(text_of(cells.where(least=a, most=b)) for _, a, b in bands) +
                          f'{ratio(least):10.3f}{least["n"]:12}')


def print_modes(rows, heads):
    best = best_rates(rows, heads)
    for row in rows:
        rate = bytes_of(row) / row['rtune_us']
        print(f'{row["op"]:14}{row["dtype"]:5}{row["acc"]:7}{row["mode"]:13}+{row["offset"]} '
              f'{row["rtune_us"]:10.1f} us {rate / 1e6:7.3f} TB/s '
              f'{100 * rate / best[row["run"]]:6.1f} % of the best {100 * rate / 4.8e6:6.1f} % of 4.8 '
              f'built-in {row["default_us"] / row["rtune_us"]:6.3f}')


def print_finishes(rows):
    sizes = sorted({row['n'] for row in rows})
    for dtype in sorted({row['dtype'] for row in rows}):
        print(f'{dtype:14}' + ''.join(f'{n.bit_length() - 1:>9}' for n in sizes) + '  (us at 2^k)')
        for finish in sorted({row['finish'] for row in rows}):
            cells = {row['n']: row['us'] for row in rows if (row['dtype'], row['finish']) == (dtype, finish)}
            print(f'{finish:14}' + ''.join(f'{cells[n]:9.2f}' if n in cells else f'{"":9}' for n in sizes))


def gather(paths):
    """Of a cell that several parts have, the row of the last one."""
    heads, cells = [], {name: {} for name in FILES}
    for path in paths:
        name, _, path = str(path).rpartition('=')
        more_heads, more = read(path, name)
        runs = {m.group(1) for m in map(HEAD.match, heads) if m}
        again = {m.group(1) for m in map(HEAD.match, more_heads) if m} & runs
        if again:
            raise BadFile(f'{path}: another part has run {", ".join(sorted(again))} (give RUN={path})')
        heads += more_heads
        for name in FILES:
            cell = CELL if name == 'h200-peers.csv' else (*CELL, 'run')
            for row in more[name]:
                cells[name][tuple(row.get(key) for key in cell)] = row
    return heads, {name: Rows(cells[name].values()) for name in FILES}


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    if not folder.is_dir():
        sys.exit(f'report.py: {folder} is no folder')
    parts = sys.argv[2:] or [folder / name for name in FILES if (folder / name).exists()]
    try:
        heads, rows = gather(parts)
    except (OSError, BadFile) as e:
        sys.exit(f'report.py: {e}')
    if not any(rows.values()):
        sys.exit(f'report.py: no rows: {folder} has none of {", ".join(FILES)}')
    if len(sys.argv) > 2:
        for name in FILES:
            if rows[name]:
                write(folder / name, heads, rows[name])
    peers, modes = rows['h200-peers.csv'], rows['h200-modes.csv']
    print_modes(modes, heads)
    print_finishes(rows['h200-finishes.csv'])
    print_ratios(peers)
    goals = Goals()
    cub_goals(goals, peers)
    cub_cells(goals, peers)
    least_goals(goals, peers)
    floor_goals(goals, peers)
    torch_goals(goals, peers)
    share_goals(goals, peers, heads, 'peers')
    share_goals(goals, modes, heads, 'modes')
    sys.exit(1 if goals.print() else 0)


if __name__ == '__main__':
    main()
