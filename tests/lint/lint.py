#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the source tree itself: lint.py [--root FOLDER] CHECK...

Each check prints "file:line: message" for every finding and makes the exit code 1.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys

FOLDERS = ['include', 'base', 'kernels', 'db', 'runtime', 'tuner', 'tools']  # each includes to its left
ANYWHERE = ['tests', 'examples']  # may include from every folder
SOURCE = ('.c', '.h', '.cc', '.cpp', '.cu', '.cuh', '.hpp')
TEXT = SOURCE + ('.py', '.sh', '.cmake', '.txt', '.md', '.yaml', '.t', '.1', '.sql')
FILE_MAX, HEADER_MAX, FUNCTION_MAX, COLUMN_MAX = 500, 300, 60, 100
PUBLIC_HEADER = 'include/rtune/rtune.h'  # the reference manual of the library: bounded like a file

# tuner/: siblings that know nothing of each other, and the session on top that sees them all. The name of
# a file says where it belongs; what is named here neither way (stats, yaml, profile) is for everybody.
# Search asks for measurements through the seam tuner/meter.h; measuring and verifying share a rig.
SIBLINGS = {'space': 'space', 'search': 'search',
            'measuring': 'meter|bench|rounds|rig|shelf|wire|worker|spawn|records',
            'measuring ': 'check|data|input',  # verification
            'session': 'session|steps|report|agenda|menu|effort|forge'}
SEAM = 'tuner/meter.h'

# pattern, folders where it is allowed ('' stands for none), why
BANNED = [
    (r'\b(strcpy|strcat|sprintf|vsprintf|strtok|gets|system|popen)\s*\(', ['tests'],
     'has no bound (use snprintf, memcpy with a checked size, or base/buf.h)'),
    (r'\b(atoi|atol|atoll|atof)\s*\(', ['tests'], 'reads numbers without an error (use base/parse.h)'),
    (r'\bstrto(d|f|ld|l|ul|ll|ull|umax|imax)(_l)?\s*\(', ['base', 'tests'],
     'skips blanks, takes signs, follows the locale (use base/parse.h)'),
    (r'\bsetlocale\s*\(', ['tests'], 'changes the locale of the whole process'),
    (r'\b(alloca|setjmp|longjmp)\s*\(', [], 'is not used here'),
    (r'__attribute__\s*\(\(\s*cleanup', [], 'hides a release (use one done: label)'),
    (r'\bdlopen\s*\(', ['runtime', 'examples', 'tests'], 'belongs to runtime/'),
    (r'\b(v?printf|puts|putchar)\s*\(|\b(fputs|fputc|v?fprintf)\s*\(.*\bstd(out|err)\b',
     ['tools', 'examples', 'tests'], 'speaks to the user (that is for tools/; set an rtune_error)'),
    (r'\bgetenv\s*\(', ['tools', 'examples', 'tests'],
     'trusts the environment of a set-user-id program (use secure_getenv)'),
    (r'#\s*include\s*[<"]yaml\.h[>"]', ['tuner', 'tests'], 'belongs to tuner/'),
    (r'#\s*include\s*[<"]sqlite3\.h[>"]', ['db', 'tests'], 'belongs to db/'),
    (r'"\s*(SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE TABLE|PRAGMA|BEGIN|COMMIT|ALTER TABLE)\b',
     ['db', 'tests'], 'is SQL (all of it is in db/)'),
]
# Spelled in halves, so that this file does not find itself.
UNFINISHED = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK|st' r'ub|W' r'IP)\b')

findings = 0


def report(path, line, message):
    global findings
    findings += 1
    print(f'{path}:{line}: {message}')


def tree(root):
    """Paths of the files of the project, from the root."""
    try:
        listed = subprocess.run(['git', '-C', root, 'ls-files', '-co', '--exclude-standard', '-z'],
                                capture_output=True, check=True).stdout.decode().split('\0')
        paths = [path for path in listed if path and os.path.isfile(os.path.join(root, path))]
    except (OSError, subprocess.CalledProcessError):  # a release tarball
        paths = []
    if not paths:
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if not f.startswith(('build', '.git', '.cache'))]
            paths += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(paths)


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        return file.read().splitlines()


def without_comments(lines):
    """The lines with comments blanked, strings kept."""
    inside, out = False, []
    for line in lines:
        kept, k, quote = '', 0, None
        while k < len(line):
            two = line[k:k + 2]
            if inside:
                inside, k = (False, k + 2) if two == '*/' else (True, k + 1)
                continue
            if quote:
                kept += line[k:k + 2] if line[k] == '\\' else line[k]
                if line[k] == quote:
                    quote = None
                k += 2 if line[k] == '\\' else 1
                continue
            if two == '/*':
                inside, k = True, k + 2
                continue
            if two == '//':
                break
            if line[k] in '"\'':
                quote = line[k]
            kept += line[k]
            k += 1
        out.append(kept)
    return out


def check_includes(root, paths):
    for path in paths:
        folder = path.split('/')[0]
        if not path.endswith(SOURCE) or folder not in FOLDERS + ANYWHERE:
            continue
        for number, line in enumerate(read(root, path), 1):
            found = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
            if not found:
                continue
            include = found.group(1)
            first = include.split('/')[0]
            if first == 'rtune':
                first = 'include'
            if folder in ANYWHERE:
                continue
            if folder == 'kernels' and path.startswith('kernels/device/') and '/' not in include:
                continue  # device headers are embedded and have no folders
            if first not in FOLDERS or '/' not in include:
                report(path, number, f'"{include}": write project includes from the root')
            elif FOLDERS.index(first) > FOLDERS.index(folder):
                report(path, number, f'"{include}": {folder}/ must not include from {first}/')
            elif folder == 'tuner' and first == 'tuner':
                check_sibling(path, number, include)


def sibling(path):
    stem = os.path.basename(path).split('.')[0]
    for what, names in SIBLINGS.items():
        if re.fullmatch(f'({names})(_.*)?', stem):
            return what.strip()
    return None


def check_sibling(path, number, include):
    mine, other = sibling(path), sibling(include)
    if mine in (None, 'session', other) or other is None or (mine == 'search' and include == SEAM):
        return
    report(path, number, f'"{include}": {mine} must not know {other} (tuner/)')


def check_banned(root, paths):
    for path in paths:
        folder = path.split('/')[0]
        if not path.endswith(SOURCE) or folder not in FOLDERS + ANYWHERE:
            continue
        lines = without_comments(read(root, path))
        if path.startswith('tools/bench/'):
            folder = 'tests'  # programs of their own that nothing links
        if os.path.basename(path).startswith('mk'):
            folder = 'tools'  # programs of the build
        for number, line in enumerate(lines, 1):
            for pattern, allowed, why in BANNED:
                found = re.search(pattern, line)
                if found and folder not in allowed:
                    report(path, number, f'{found.group(0).strip()}: {why}')


def check_sizes(root, paths):
    for path in paths:
        if not path.endswith(SOURCE):
            continue
        lines = read(root, path)
        header = path.endswith(('.h', '.hpp')) and path != PUBLIC_HEADER
        limit = HEADER_MAX if header else FILE_MAX
        if len(lines) > limit:
            report(path, len(lines), f'{len(lines)} lines (at most {limit})')
        start = None
        for number, line in enumerate(lines, 1):
            if start is None and re.match(r'[A-Za-z_].*\)\s*\{$|^\{$|^ {4}.*\) \{$', line) and \
                    (line == '{' or '(' in line or ')' in line) and \
                    not re.match(r'(struct|enum|union|namespace|extern)\b[^()]*\{$', line) and \
                    not line.startswith('    '):
                start = number
            elif start is None and re.match(r' {4,}\S.*\) \{$', line) and continues(lines, number):
                start = number
            elif start is not None and line.startswith('}'):
                if number - start + 1 > FUNCTION_MAX:
                    report(path, start, f'a function of {number - start + 1} lines '
                                        f'(at most {FUNCTION_MAX})')
                start = None


def continues(lines, number):
    """Is this line the end of a function's head that began in column 0?"""
    for line in reversed(lines[:number - 1]):
        if not line or line.startswith('}') or line.endswith((';', '{')):
            return False
        if not line.startswith(' '):
            return '(' in line and not line.startswith('#')
    return False


def check_text(root, paths):
    for path in paths:
        base = os.path.basename(path)
        script = path.startswith(('tools/', '.ci/', 'tests/')) and '.' not in base
        if not (path.endswith(TEXT) or script):
            continue
        lines = read(root, path)
        for number, line in enumerate(lines, 1):
            if '\t' in line and not path.endswith(('.t', '.1')):
                report(path, number, 'a tab')
            if line != line.rstrip():
                report(path, number, 'blanks at the end')
            # The digest of the device sources is in every row of every store: they are not reflowed
            # for their looks.
            wide = path.endswith(('.1', '.t', '.csv')) or path.startswith('kernels/device/') or \
                '/data/' in path or '/profiles/' in path or \
                '://' in line or (path.endswith('.md') and line.startswith('|'))
            if len(line) > COLUMN_MAX + 10 * path.endswith('.py') and not wide:
                report(path, number, f'{len(line)} columns (at most {COLUMN_MAX})')
            if UNFINISHED.search(line):
                report(path, number, f'unfinished: {UNFINISHED.search(line).group(0)}')
        if lines and lines[-1] == '':
            report(path, len(lines), 'an empty line at the end')


def check_spdx(root, paths):
    for path in paths:
        base = os.path.basename(path)
        script = path.startswith(('tools/', '.ci/', 'tests/')) and '.' not in base
        needs = path.endswith(SOURCE + ('.py', '.sh', '.cmake', '.sql', '.yaml')) or \
            base == 'CMakeLists.txt' or script
        if not needs or path.startswith(('configs/profiles/', 'docs/results/')) or '/data/' in path:
            continue
        if not any('SPDX-License-Identifier: Apache-2.0' in line for line in read(root, path)[:3]):
            report(path, 1, 'no SPDX-License-Identifier: Apache-2.0 in the first lines')


def check_names(root, paths):
    """File names of the product are unique, so that a name says which file is meant."""
    seen = {}
    for path in paths:
        if not path.endswith(SOURCE) or path.split('/')[0] not in FOLDERS:
            continue
        base = os.path.basename(path)
        if base in seen:
            report(path, 1, f'{seen[base]} has the same name')
        seen[base] = path
        if not re.fullmatch(r'[a-z0-9_]+\.[a-z]+', base):
            report(path, 1, 'file names are lower case, digits and _')


def check_format(root, paths):
    tool = shutil.which('clang-format-14') or shutil.which('clang-format')
    version = subprocess.run([tool, '--version'], capture_output=True, text=True).stdout if tool else ''
    if ' 14.' not in version:
        print('skipped: clang-format 14 is not here')
        sys.exit(77)
    files = [path for path in paths if path.endswith(('.c', '.h')) and
             path.split('/')[0] in FOLDERS + ANYWHERE]
    for k in range(0, len(files), 50):
        done = subprocess.run([tool, '--dry-run', '-Werror'] + files[k:k + 50], cwd=root,
                              capture_output=True, text=True)
        for line in done.stderr.splitlines():
            found = re.match(r'(.*?):(\d+):\d+: error: (.*)', line)
            if found:
                report(found.group(1), found.group(2), found.group(3))


def check_messages(root, paths):
    """Every message of tools/ is in a golden case, or in no_case.txt with a reason."""
    cases = ''
    for path in paths:
        if path.startswith('tests/cli/') and path.endswith(('.t', 'no_case.txt')):
            cases += '\n'.join(read(root, path))
    for path in paths:
        if not re.fullmatch(r'tools/\w+\.c', path):
            continue
        text = '\n'.join(read(root, path))
        calls = re.finditer(r'(?:rtune_err_set\(|rtune_err_set_errno\(|console_warn\(|return bad\(|'
                            r'TRY\(bad\()[^;"]*((?:"(?:[^"\\]|\\.)*"[\s\w]*)+)', text)
        for call in calls:
            message = ''.join(re.findall(r'"((?:[^"\\]|\\.)*)"', call.group(1)))
            parts = re.split(r'%[-.*\d]*(?:l*z*[a-zA-Z])?|\\"', message)
            longest = max(parts, key=len).strip(' :(,')
            if longest and longest not in cases and 'out of memory' not in message:
                line = text[:call.start()].count('\n') + 1
                report(path, line, f'no case of tests/cli prints "{longest}"')


CHECKS = {'includes': check_includes, 'banned': check_banned, 'sizes': check_sizes, 'text': check_text,
          'spdx': check_spdx, 'names': check_names, 'format': check_format,
          'messages': check_messages}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--root', default=os.path.join(os.path.dirname(__file__), '..', '..'))
    parser.add_argument('checks', nargs='+', choices=sorted(CHECKS))
    args = parser.parse_args()
    root = os.path.realpath(args.root)
    paths = tree(root)
    if not paths:
        sys.exit('lint.py: no files found')
    for check in args.checks:
        CHECKS[check](root, paths)
    print(f'{findings} findings in {len(paths)} files')
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()
