# SPDX-License-Identifier: Apache-2.0
"""The result files of the GPU benches: rows, comment lines, reading and writing.

A part is what one bench prints: a comment line with the name of the run, device, driver, commit, launch
floor and best read rate, and rows. Parts become docs/results/h200-peers.csv (rows with a peer),
h200-modes.csv (without) and h200-finishes.csv (the study of the finish).
"""
import datetime
import math
import re

PEERS = 'run,op,dtype,acc,mode,n,offset,cache,rtune_us,default_us,peer,peer_us,floor_us,config'.split(',')
MODES = [name for name in PEERS if not name.startswith('peer')]
FINISHES = 'run,op,dtype,acc,n,finish,us,floor_us,configs,config'.split(',')
FILES = {'h200-peers.csv': PEERS, 'h200-modes.csv': MODES, 'h200-finishes.csv': FINISHES}
SIZES = {'i8': 1, 'u8': 1, 'i16': 2, 'u16': 2, 'i32': 4, 'u32': 4, 'i64': 8, 'u64': 8, 'f16': 2, 'bf16': 2,
         'f32': 4, 'f64': 8}
HEAD = re.compile(r'# (?:date=\S+ )?run=(\S+) device=.+ driver=\S+ .*commit=\S+ launch_us=([\d.]+) '
                  r'read_TB_s=([\d.]+)')


class BadFile(Exception):
    """A result file that is none."""


def typed(fields, where):
    """A row with numbers for what are numbers."""
    try:
        for name, text in fields.items():
            if name in ('n', 'offset', 'configs'):
                fields[name] = int(text)
            elif name.endswith('us') and text != '':
                fields[name] = float(text)
                if not math.isfinite(fields[name]) or fields[name] < 0:
                    raise ValueError
    except ValueError:
        raise BadFile(f'{where}: {name} is "{text}"') from None
    if fields['dtype'] not in SIZES or any(fields.get(t, 1) == 0 for t in ('rtune_us', 'us', 'default_us')):
        raise BadFile(f'{where}: not a result')
    return fields


def bytes_of(row):
    return row['n'] * SIZES[row['dtype']] * (2 if row['op'] == 'dot' else 1)


def columns_for(count, where):
    for columns in (PEERS, MODES, FINISHES):
        if len(columns) == count:
            return columns
    raise BadFile(f'{where}: {count} columns')


def read(path, run=''):
    """Comment lines, and rows by the file they belong to; path is a part or a finished file. A run, if given,
    is the name of the only one that a part has."""
    heads, rows = [], {name: [] for name in FILES}
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file, 1):
            line, where = line.rstrip('\n'), f'{path}:{number}'
            if line.startswith('#'):
                heads.append(re.sub(r'(?<= run=)\S+', run, line) if run else line)
                continue
            fields = line.split(',')
            if fields in (PEERS, MODES, FINISHES) or line == '':
                continue
            row = typed(dict(zip(columns_for(len(fields), where), fields)), where)
            row['run'] = run or row['run']
            if 'finish' in row:
                rows['h200-finishes.csv'].append(row)
            elif row.get('peer'):
                rows['h200-peers.csv'].append(row)
            else:
                rows['h200-modes.csv'].append(row)
    known = {HEAD.match(line).group(1) for line in heads if HEAD.match(line)}
    runs = {row['run'] for part in rows.values() for row in part}
    if runs - known:
        raise BadFile(f'{path}: no comment line tells of run {", ".join(sorted(runs - known))}')
    return heads, rows


def number_text(value):
    return f'{value:.3f}' if isinstance(value, float) else str(value)


def write(path, heads, rows):
    columns = FILES[path.name]
    runs = {row['run'] for row in rows}
    today = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%d')
    lines = []
    for line in heads:
        if HEAD.match(line) and HEAD.match(line).group(1) in runs:
            lines.append(line if line.startswith('# date=') else f'# date={today} {line[2:]}')
    lines.append(','.join(columns))
    lines += [','.join(number_text(row[name]) for name in columns) for row in rows]
    path.write_text('\n'.join(lines) + '\n', encoding='utf-8')


def read_rates(heads):
    """Bytes a microsecond that were read at best, by run, as the comment lines have it."""
    return {m.group(1): float(m.group(3)) * 1e6 for m in map(HEAD.match, heads) if m}


def mean(ratios):
    return math.exp(sum(math.log(x) for x in ratios) / len(ratios))
