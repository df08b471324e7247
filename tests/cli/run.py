#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden tests of the program: run scripts, compare standard output, standard error and exit code.

A .t file is a list of cases that run in order in one scratch folder:

    == name: what it shows
    needs nogpu
    $ reduce-tune lookup --op sum
    > expected line of standard output
    ! expected line of standard error
    ? 2

All '$' lines of a case are one sh script. In an expected line, '*' stands for any text; a line '...'
stands for any number of lines. No '>' (or '!') line means that nothing may be printed there; no '?' line
means exit code 0. 'needs' names a condition without which the case is skipped: nogpu, gpu, fake, nvrtc,
root, user. The scratch folder is kept when a case fails; --bless writes what was printed into the file
where it does not match.
"""
import argparse
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT = 120
# What the tuner says of the machine and not of the case: other tests run beside this one.
WEATHER = re.compile(
    r'reduce-tune: warning: \S+: (the clock dropped|something else seems|no answer for )')


class Case:
    def __init__(self, title, line):
        self.title, self.line = title, line
        self.name = title.split(':')[0].strip()
        self.needs, self.script, self.code = [], [], 0
        self.expected = {'>': [], '!': []}
        self.source = []  # (mark, text of the line) in the order of the file


def parse(path):
    head, cases = [], []
    with open(path, encoding='utf-8') as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if line.startswith('== '):
                cases.append(Case(line[3:], number))
                continue
            if not cases:
                head.append(line)
                continue
            case, mark = cases[-1], line[:1]
            if mark == '$':
                case.script.append(line[2:])
            elif mark in ('>', '!'):
                case.expected[mark].append(line[2:])
            elif mark == '?':
                case.code = int(line[2:])
            elif line.startswith('needs '):
                case.needs += line.split()[1:]
            elif mark not in ('', '#'):
                sys.exit(f'{path}:{number}: unknown line: {line}')
            case.source.append((mark, line))
    return head, cases


def matches(expected, got):
    """Do the printed lines match the expected ones?"""
    if not expected:
        return not got
    if expected[0] == '...':
        return any(matches(expected[1:], got[k:]) for k in range(len(got) + 1))
    if not got:
        return False
    pattern = '.*'.join(re.escape(part) for part in expected[0].split('*'))
    return re.fullmatch(pattern, got[0]) is not None and matches(expected[1:], got[1:])


def has_gpu():
    try:
        cuda = ctypes.CDLL('libcuda.so.1')
    except OSError:
        return False
    count = ctypes.c_int(0)
    return cuda.cuInit(0) == 0 and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0 and count.value > 0


def has_nvrtc(tool):
    told = subprocess.run([tool, 'doctor'], capture_output=True, text=True).stdout
    return re.search(r'^ok +nvrtc ', told, re.MULTILINE) is not None


class Runner:
    def __init__(self, args):
        self.args = args
        self.have = {'root' if os.getuid() == 0 else 'user', 'gpu' if has_gpu() else 'nogpu'}
        if args.fake and os.path.exists(os.path.join(args.fake, 'libcuda.so.1')):
            self.have.add('fake')
            if has_nvrtc(args.tool):
                self.have.add('nvrtc')

    def environment(self, scratch, case):
        tool = os.path.dirname(os.path.abspath(self.args.tool))
        env = {
            'PATH': f"{HERE}/bin:{tool}:{os.environ.get('PATH', '/usr/bin:/bin')}",
            'HOME': os.path.join(scratch, 'home'), 'RTUNE_DB': os.path.join(scratch, 'tune.db'),
            'SCRATCH': scratch, 'CASES': HERE, 'LC_ALL': 'C', 'TERM': 'dumb',
        }
        for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LSAN_OPTIONS', 'TSAN_OPTIONS'):
            if name in os.environ:
                env[name] = os.environ[name]
        if 'fake' in case.needs:
            env['LD_LIBRARY_PATH'] = self.args.fake
        return env

    def execute(self, case, scratch):
        script = 'cd work || exit 99\n' + '\n'.join(case.script) + '\n'
        process = subprocess.Popen(['sh', '-c', script], cwd=scratch, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment(scratch, case), start_new_session=True)
        try:
            out, err = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f'\ntimed out after {TIMEOUT} s\n'.encode()
        text = [data.decode('utf-8', 'replace').replace(scratch, 'SCRATCH').splitlines()
                for data in (out, err)]
        out, err = ([line for line in lines if not WEATHER.match(line)] for lines in text)
        return {'>': out, '!': err}, process.returncode

    def run_case(self, case, scratch):
        """True, False, or None for a case that cannot run here."""
        missing = [need for need in case.needs if need not in self.have]
        if missing:
            print(f'  skip {case.name}: needs {" ".join(missing)}')
            return None
        start = time.monotonic()
        got, code = self.execute(case, scratch)
        took = time.monotonic() - start
        bad = [mark for mark in '>!' if not matches(case.expected[mark], got[mark])]
        if not bad and code == case.code:
            print(f'  ok   {case.name}' + (f' ({took:.1f} s)' if took >= 1 else ''))
            return True
        print(f'  FAIL {case.name} (line {case.line})')
        for line in case.script:
            print(f'       $ {line}')
        for mark in bad:
            for line in case.expected[mark]:
                print(f'       - {mark} {line}')
            for line in got[mark]:
                print(f'       + {mark} {line}')
        if code != case.code:
            print(f'       exit code {code}, expected {case.code}')
        for mark in bad:
            case.expected[mark] = got[mark]
        case.code = code
        return False

    def run_file(self, path):
        head, cases = parse(path)
        scratch = os.path.realpath(tempfile.mkdtemp(prefix='rtune-cli-'))
        for folder in ('work', 'home'):
            os.mkdir(os.path.join(scratch, folder))
        print(path)
        results = [self.run_case(case, scratch) for case in cases
                   if self.args.only is None or case.name in self.args.only]
        if False in results and self.args.bless:
            write(path, head, cases)
            print(f'  blessed {path}')
        if False in results:
            print(f'  kept {scratch}')
        else:
            shutil.rmtree(scratch, ignore_errors=True)
        return results


def write(path, head, cases):
    lines = list(head)
    for case in cases:
        lines.append(f'== {case.title}')
        body = [text for mark, text in case.source if mark not in ('>', '!', '?') and text != '']
        body += [f'{mark} {text}'.rstrip() for mark in '>!' for text in case.expected[mark]]
        if case.code != 0:
            body.append(f'? {case.code}')
        lines += body + ['']
    with open(path, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--tool', required=True, help='the reduce-tune program')
    parser.add_argument('--fake', help='folder of the fake driver')
    parser.add_argument('--only', action='append', help='name of a case (repeat for more)')
    parser.add_argument('--bless', action='store_true', help='make what is printed the expectation')
    parser.add_argument('files', nargs='+')
    args = parser.parse_args()
    if os.path.basename(args.tool) != 'reduce-tune' or not os.access(args.tool, os.X_OK):
        sys.exit(f'{args.tool}: is not the reduce-tune program')
    runner = Runner(args)
    results = [result for path in args.files for result in runner.run_file(path)]
    failed, skipped = results.count(False), results.count(None)
    print(f'{len(results)} cases: {failed} failed, {skipped} skipped')
    if not results or (skipped == len(results) and not failed):
        sys.exit(77)  # CTest: skipped
    sys.exit(1 if failed and not args.bless else 0)


if __name__ == '__main__':
    main()
