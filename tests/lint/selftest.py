#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every check of lint.py and docs.py finds what it is for, and nothing in a clean tree."""
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SPDX = '/* SPDX-License-Identifier: Apache-2.0 */\n'
LONG = 'int f(void)\n{\n' + '    g();\n' * 60 + '}\n'

# check, file, text, part of the message
BAD = [
    ('includes', 'base/a.c', '#include "db/db.h"\n', 'base/ must not include from db/'),
    ('includes', 'runtime/a.c', '#include "tuner/tuner.h"\n', 'must not include from tuner/'),
    ('includes', 'db/a.c', '#include "store.h"\n', 'write project includes from the root'),
    ('includes', 'tuner/search_race.c', '#include "tuner/space.h"\n', 'search must not know space'),
    ('includes', 'tuner/search.c', '#include "tuner/rig.h"\n', 'search must not know measuring'),
    ('includes', 'tuner/rig_cpu.c', '#include "tuner/session.h"\n', 'must not know session'),
    ('banned', 'base/a.c', 'void f(char *a) { strcpy(a, "x"); }\n', 'strcpy('),
    ('banned', 'tools/a.c', 'int f(char *a) { return atoi(a); }\n', 'atoi('),
    ('banned', 'db/a.c', 'double f(char *a) { return strtod(a, 0); }\n', 'strtod('),
    ('banned', 'runtime/a.c', 'char *q = "SELECT 1";\n', 'is SQL'),
    ('banned', 'tools/a.c', '#include <yaml.h>\n', 'belongs to tuner/'),
    ('banned', 'tools/a.c', '#include <sqlite3.h>\n', 'belongs to db/'),
    ('banned', 'db/a.c', 'void f(void) { dlopen("x", 0); }\n', 'belongs to runtime/'),
    ('banned', 'runtime/a.c', 'char *f(void) { return getenv("A"); }\n', 'use secure_getenv'),
    ('banned', 'db/a.c', 'void f(void) { printf("x"); }\n', 'speaks to the user'),
    ('banned', 'db/a.c', 'void f(void) { fputs("x", stderr); }\n', 'speaks to the user'),
    ('banned', 'tools/a.c', 'void f(void) { setlocale(0, ""); }\n', 'setlocale('),
    ('sizes', 'base/a.c', 'int a;\n' * 501, '501 lines (at most 500)'),
    ('sizes', 'base/a.h', 'int a;\n' * 301, '301 lines (at most 300)'),
    ('sizes', 'base/a.c', LONG, 'a function of 62 lines'),
    ('sizes', 'base/a.c', LONG.replace(')\n{', ') {'), 'a function of 62 lines'),
    ('sizes', 'base/a.c', LONG.replace('(void)\n{', '(int a,\n      int b) {'), 'a function of 62 lines'),
    ('text', 'base/a.c', 'int ' + 'a' * 100 + ';\n', '105 columns'),
    ('text', 'base/a.c', '\tint a;\n', 'a tab'),
    ('text', 'base/a.c', 'int a; \n', 'blanks at the end'),
    ('text', 'base/a.c', '/* TO' + 'DO: more */\n', 'unfinished'),
    ('spdx', 'base/b.c', 'int a;\n', 'no SPDX'),
    ('spdx', 'tools/run', '#!/bin/sh\n', 'no SPDX'),
    ('messages', 'tools/a.c', 'rtune_err_set(e, S,\n "%s: untested " "words (do it)", x);\n',
     'untested words'),
    ('names', 'db/main.c', SPDX, 'has the same name'),
    ('names', 'db/Main.c', SPDX, 'lower case'),
]
CLEAN = {
    'base/main.c': SPDX + '#include "rtune/rtune.h"\n#include "base/err.h"\n/* strcpy(a, b) is banned */\n',
    'db/sql.c': SPDX + 'char *q = "SELECT 1";\n#include <sqlite3.h>\n',
    'tuner/session.c': SPDX + '#include "tuner/space.h"\n#include "tuner/search.h"\n',
    'tuner/search.c': SPDX + '#include "tuner/meter.h"\n#include "tuner/stats.h"\n',
    'tuner/rig.h': SPDX + '#include "tuner/data.h"\n',
    'tests/db/test.c': SPDX + '#include "db/db.h"\nvoid f(char *a) { strcpy(a, "x"); }\n',
    'tools/b.c': SPDX + 'int f(void) { return rtune_err_set(e, S, "%s: tested words", x); }\n',
    'tuner/mkx.c': SPDX + 'void f(void) { fprintf(stderr, "x"); }\n',
    'tests/cli/a.t': '# ' + 'SPDX-License-Identifier: Apache-2.0\n! a: tested words\n',
    'runtime/cuda.c': SPDX + 'void f(void) { dlopen("x", 0); }\n',
    'base/snprintf.c': SPDX + 'int f(void) { return snprintf(a, 1, "SELECT"); }\n'.replace('SELECT', 'x'),
}


def lint(check, files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        done = subprocess.run([sys.executable, os.path.join(HERE, 'lint.py'), '--root', root, check],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def docs(check, files, listing):
    with tempfile.TemporaryDirectory() as root:
        tool = os.path.join(root, 'tool')
        files = dict(files, tool='#!/bin/sh\ncase "$2" in --list) cat <<END\n' + listing +
                     'END\n;; --man) echo "made $3" ;; esac\n')
        for path, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        os.chmod(tool, 0o755)
        done = subprocess.run([sys.executable, os.path.join(HERE, 'docs.py'), '--root', root, '--tool',
                               tool, check], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


LISTING = 'verb tune\noption tune --device\nverb show\noption show --db\nenv RTUNE_DB\n'
PARTS = ''.join(f'.\\" begin {part}\nmade {part}\n.\\" end {part}\n'
                for part in ('verbs', 'options', 'environment'))
MAN = PARTS + 'tune show \\-\\-device \\-\\-db RTUNE_DB\n'


class Lint(unittest.TestCase):
    def test_findings(self):
        for check, path, text, message in BAD:
            with self.subTest(check=check, message=message):
                code, out = lint(check, dict(CLEAN, **{path: text}))
                self.assertIn(message, out)
                self.assertIn(path, out)
                self.assertEqual(code, 1)

    def test_clean(self):
        for check in ('includes', 'banned', 'sizes', 'text', 'spdx', 'names', 'messages'):
            with self.subTest(check=check):
                code, out = lint(check, CLEAN)
                self.assertEqual((code, out.split()[0]), (0, '0'), out)


class Docs(unittest.TestCase):
    def expect(self, check, files, code, message):
        got, out = docs(check, files, LISTING)
        self.assertIn(message, out)
        self.assertEqual(got, code, out)

    def test_options(self):
        man = 'docs/man/reduce-tune.1'
        self.expect('options', {man: MAN}, 0, '0 findings')
        self.expect('options', {man: MAN.replace('\\-\\-db', '')}, 1, '--db of show is not mentioned')
        self.expect('options', {man: MAN.replace('RTUNE_DB', '')}, 1, 'RTUNE_DB is not mentioned')
        self.expect('options', {man: MAN.replace('made options', 'old')}, 1, 'is not that of the program')

    def test_commands(self):
        self.expect('commands', {'README.md': 'Run `reduce-tune --device 0`.\n'}, 0, '0 findings')
        self.expect('commands', {'README.md': '    reduce-tune shwo\n'}, 1, 'no such verb')
        self.expect('commands', {'README.md': '    reduce-tune show --device 0\n'}, 1, 'no such option')
        self.expect('commands', {'README.md': '`reduce-tune show` `tools/gone`\n'}, 1, 'no such file')
        self.expect('commands', {'README.md': '`reduce-tune show`\n\n    tools/x\n', 'tools/x': '#\n'}, 1,
                    'cannot be run')
        self.expect('commands', {'README.md': 'nothing\n'}, 1, 'checks nothing')

    def test_links(self):
        self.expect('links', {'README.md': '[a](docs/A.md#one-two)\n', 'docs/A.md': '# One two\n'}, 0,
                    '0 findings')
        self.expect('links', {'README.md': '[a](docs/A.md)\n'}, 1, 'no such file')
        self.expect('links', {'README.md': '[a](#gone)\n'}, 1, 'no such heading')


if __name__ == '__main__':
    unittest.main()
