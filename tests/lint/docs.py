#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks of the documentation against the program and the tree: docs.py --tool REDUCE-TUNE CHECK.

  options   the man page names every verb, option and environment variable; its generated lists are those
            of the program (--bless writes them)
  commands  every reduce-tune command in the documents uses verbs and options that exist, and every script
            they name is there and can be run
  links     every relative link in the documents leads to a file, every anchor to a heading
"""
import argparse
import os
import re
import subprocess
import sys

MAN = 'docs/man/reduce-tune.1'
findings = 0


def report(path, line, message):
    global findings
    findings += 1
    print(f'{path}:{line}: {message}')


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.read()


def ask(tool, *args):
    return subprocess.run([tool, *args], capture_output=True, text=True, check=True).stdout


def listed(tool):
    """{verb: set of options}, names of environment variables."""
    verbs, variables = {}, set()
    for line in ask(tool, 'help', '--list').splitlines():
        word = line.split()
        if word[0] == 'verb':
            verbs[word[1]] = set()
        elif word[0] == 'option':
            verbs[word[1]].add(word[2])
        else:
            variables.add(word[1])
    return verbs, variables


def documents(root):
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(f for f in folders if not f.startswith(('build', '.git', '.cache', '.ci')))
        for name in sorted(names):
            if name.endswith('.md'):
                yield os.path.relpath(os.path.join(folder, name), root)


def check_options(root, tool, bless):
    text = read(root, MAN)
    for part in ('verbs', 'options', 'environment'):
        made = ask(tool, 'help', '--man', part)
        begin, end = f'.\\" begin {part}\n', f'.\\" end {part}\n'
        if begin not in text or end not in text:
            report(MAN, 1, f'no generated part "{part}"')
            continue
        at, to = text.index(begin) + len(begin), text.index(end)
        if text[at:to] == made:
            continue
        if bless:
            text = text[:at] + made + text[to:]
        else:
            report(MAN, text[:at].count('\n') + 1,
                   f'the list of {part} is not that of the program (docs.py --bless options)')
    if bless:
        with open(os.path.join(root, MAN), 'w', encoding='utf-8') as file:
            file.write(text)
    plain = text.replace('\\-', '-')
    verbs, variables = listed(tool)
    if not verbs or not variables:
        report(MAN, 1, 'the program lists no verbs or no variables')
    for verb, options in verbs.items():
        for word in [verb, *options]:
            if not re.search(r'(?<![\w-])' + re.escape(word) + r'(?![\w-])', plain):
                report(MAN, 1, f'{word} of {verb} is not mentioned')
    for variable in variables:
        if variable not in plain:
            report(MAN, 1, f'{variable} is not mentioned')


def code_lines(text):
    """(line number, text) of indented and fenced code and of `inline code`."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('```'):
            fenced = not fenced
        elif fenced or line.startswith('    '):
            yield number, line.strip()
        else:
            for code in re.findall(r'`([^`]+)`', line):
                yield number, code


def check_command(path, number, words, verbs):
    verb = 'tune'
    if words and not words[0].startswith('-'):
        if words[0] not in verbs:
            report(path, number, f'reduce-tune {words[0]}: no such verb')
            return
        verb = words[0]
    for word in words:
        option = word.split('=')[0].rstrip('.,;:)')
        if word.startswith('-') and len(option) > 1 and option not in verbs[verb]:
            report(path, number, f'reduce-tune {verb} {option}: no such option')


def check_commands(root, tool, _bless):
    verbs, _ = listed(tool)
    seen = 0
    for path in documents(root):
        for number, code in code_lines(read(root, path)):
            code = code.split(' #')[0].strip()
            found = re.match(r'(?:sudo )?(?:[\w./$-]*/)?reduce-tune((?:\s[^|;&>]*)?)(?=$|[|;&>])', code)
            if found:
                seen += 1
                words = [w for w in re.split(r'\s+', re.sub(r'[\[\]…]', ' ', found.group(1))) if w]
                check_command(path, number, words, verbs)
            for script in re.findall(r'(?:^|\s|\./)((?:tools|tests|\.ci)/[\w./-]+)', code):
                script = script.rstrip('.')
                full = os.path.join(root, script)
                if not os.path.exists(full):
                    report(path, number, f'{script}: no such file')
                elif code.startswith((script, './' + script)) and os.path.isfile(full) and \
                        ('.' not in os.path.basename(script) or script.endswith('.py')) and \
                        not os.access(full, os.X_OK):
                    report(path, number, f'{script}: cannot be run (no x bit)')
    if seen == 0:
        report('README.md', 1, 'no command found: this check checks nothing')


def anchors(text):
    made = set()
    for line in text.splitlines():
        if line.startswith('#'):
            title = re.sub(r'[^\w\s-]', '', line.lstrip('#').strip().lower())
            made.add(re.sub(r'\s', '-', title))
    return made


def check_links(root, _tool, _bless):
    seen = 0
    for path in documents(root):
        text = read(root, path)
        for number, line in enumerate(text.splitlines(), 1):
            for target in re.findall(r'\]\(([^)\s]+)\)', line):
                if re.match(r'[a-z]+:', target):
                    continue
                seen += 1
                name, _, anchor = target.partition('#')
                file = os.path.normpath(os.path.join(os.path.dirname(path), name)) if name else path
                if not os.path.exists(os.path.join(root, file)):
                    report(path, number, f'{target}: no such file')
                elif anchor and file.endswith('.md') and anchor not in anchors(read(root, file)):
                    report(path, number, f'{target}: no such heading')
    if seen == 0:
        report('README.md', 1, 'no link found: this check checks nothing')


CHECKS = {'options': check_options, 'commands': check_commands, 'links': check_links}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--root', default=os.path.join(os.path.dirname(__file__), '..', '..'))
    parser.add_argument('--tool', default='reduce-tune', help='the reduce-tune program')
    parser.add_argument('--bless', action='store_true', help='write the generated parts')
    parser.add_argument('check', choices=sorted(CHECKS))
    args = parser.parse_args()
    CHECKS[args.check](os.path.realpath(args.root), args.tool, args.bless)
    print(f'{findings} findings')
    sys.exit(1 if findings else 0)


if __name__ == '__main__':
    main()
