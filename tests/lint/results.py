#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that docs/results/ holds results, and that the README quotes them.

usage: results.py ROOT [--words]

The README's figures are made again from h200-peers.csv. --words prints what the README has to say.
"""
import pathlib
import re
import sys


def fail(text):
    sys.exit(f'results.py: {text}')


def check_heads(io, path, heads):
    for line in heads:
        if not re.match(r'# date=\d{4}-\d\d-\d\d run=\S+ device=.+ driver=\S+ .*commit=[0-9a-f]{7,} ', line):
            fail(f'{path.name}: "{line}" does not name date, run, device, driver and commit')
        if not io.HEAD.match(line):
            fail(f'{path.name}: "{line}" has no launch floor and read rate')


def peers_words(root, folder):
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root / 'tools/bench'))
    import report
    import results_io
    try:
        for name in results_io.FILES:
            if (folder / name).exists():
                heads, rows = results_io.read(folder / name)
                check_heads(results_io, folder / name, heads)
                if not rows[name] or any(rows[other] for other in rows if other != name):
                    fail(f'{name}: has rows of another file, or none')
    except results_io.BadFile as e:
        fail(str(e))
    _, rows = results_io.read(folder / 'h200-peers.csv')
    rows = report.Rows(rows['h200-peers.csv'])
    for r in rows:
        if r['floor_us'] > 1.02 * r['rtune_us']:
            fail(f'{r["op"]} {r["dtype"]} n = {r["n"]}: the floor is above the time')
    words = []
    for peer, name, least, most in (('cub', 'CUB', 10, 25), ('torch', 'PyTorch', 6, 30)):
        cells = rows.where('cold', 'aligned', least, most, peer)
        if not cells:
            fail(f'h200-peers.csv has no rows beside {name}')
        mean = report.mean([report.ratio(r) for r in cells])
        words.append(f'{mean:.2f} times less time than {name}')
        longest = max(1 / report.ratio(r) for r in rows.where(peer=peer))
        words.append(f'none takes longer than {name}' if longest <= 1 else
                     f'none more than {longest:.2f} times as long as {name}')
    return words


def check_accuracy(path):
    head = path.read_text(encoding='utf-8').split('\n', 1)[0]
    if not re.match(r'# device=.+ units=\d+ commit=[0-9a-f]{7,}$', head):
        fail(f'{path.name}: the first line does not name device, units and commit')


def main():
    root = pathlib.Path(sys.argv[1])
    folder = root / 'docs/results'
    for path in sorted(folder.glob('accuracy-*.csv')):
        check_accuracy(path)
    words = peers_words(root, folder)
    if '--words' in sys.argv:
        print('\n'.join(words))
        return
    readme = ' '.join((root / 'README.md').read_text(encoding='utf-8').split())
    for text in words:
        if text not in readme:
            fail(f'the README does not say "{text}", which is what the files give')
    print('the README says ' + '; '.join(words))


if __name__ == '__main__':
    main()
