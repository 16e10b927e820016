#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""options.py DIRECTORY PROGRAM PAGE [SOURCE]: compares the options of "PROGRAM --help" with those
of its man page PAGE. Prints each that only one of them has, or that has another letter, and then
exits with 1. The page of a program with commands has a heading (.SS) for each of them; options of
many commands are under COMMON OPTIONS. SOURCE is the file that calls getopt_long(), for programs
that do not make their help from its table."""
import re
import subprocess
import sys

OPTION = re.compile(r'--([a-z][a-z-]*)')
# "-n, --name" of a help, "-n , --name" of a list, "-n | --name" of a synopsis
LETTER = re.compile(r'(?<![\w-])-([a-zA-Z])(?: ?[,|] )--([a-z][a-z-]*)')


def plain(text):
    """The words of a page: without macros, fonts, quotes and brackets."""
    text = re.sub(r'^[.\']\\".*$', '', text, flags=re.M)
    text = text.replace(r'\-', '-').replace(r'\ ', ' ')
    text = re.sub(r'\\f(\[\w*\]|.)', '', text)
    text = re.sub(r'^\.[A-Z]+ ?', '', text, flags=re.M)
    text = re.sub(r'"|\[|\]|[()]', '', text)
    return re.sub(r'\s+', ' ', text)


def sections(text):
    """{heading: text} of a page, both .SH and .SS, in capitals and not."""
    parts = re.split(r'^\.S[HS] (.*)$', text, flags=re.M)
    return dict(zip((h.strip('"') for h in parts[1::2]), map(plain, parts[2::2])))


wrong = []


class Options:
    """Names, and the letters of those that have one."""

    def __init__(self, text):
        self.names = set(OPTION.findall(text))
        self.letters = {name: letter for letter, name in LETTER.findall(text)}


def help_of(program, words):
    run = subprocess.run([program, *words, '--help'], capture_output=True, text=True, check=True)
    lines = [re.match(r' +(-\w, )?--[a-z].*?(  |$)', line) for line in run.stdout.splitlines()]
    options = Options('\n'.join(m[0] for m in lines if m))
    if 'help' not in options.names:
        sys.exit(f'{program} {" ".join(words)}: --help does not name itself')
    return options


def without_others(text, helps, program, own):
    """Cuts options of other commands and programs out, each of which follows their name."""
    for other in {'fabricctl', 'fabricd', 'fabricsim', 'torusemu'} - {program}:
        text = re.sub(rf'\b{other}( [\w-]+){{0,2}} --[a-z-]+', other, text)
    for command, options in helps.items():
        if command == own:
            continue
        for name in options.names:
            text = re.sub(rf'\b{command} ([\w-]+ )?--{name}\b(?!-)', command, text)
    return text


def compare(where, told, page, common):
    """@told: of the help; @page: of its section; @common: of all commands, or nothing"""
    for name in sorted(told.names - page.names - common.names):
        wrong.append(f'{where}: the page does not have --{name}')
    for name in sorted(page.names - told.names):
        wrong.append(f'{where}: --help does not have --{name}')
    for name in sorted(told.names & (page.names | common.names)):
        described = page.letters.get(name) or common.letters.get(name)
        if described != told.letters.get(name):
            wrong.append(f'{where}: --{name} has the letter {told.letters.get(name)} in --help, '
                         f'{described} on the page')


def main():
    directory, name, path = sys.argv[1:4]
    program = f'{directory}/{name}'
    with open(path) as page:
        text = page.read()
    commands = re.findall(r'^\.SS (.*)$', text, flags=re.M)
    if 'COMMON OPTIONS' not in sections(text):
        told = help_of(program, [])
        compare(name, told, Options(without_others(plain(text), {}, name, '')), Options(''))
        if len(sys.argv) > 4:
            with open(sys.argv[4]) as source:
                known = set(re.findall(r'\{ "([a-z-]+)", (?:\w+_argument|[01]),', source.read()))
            for option in sorted(known ^ told.names):
                wrong.append(f'{name}: only one of --help and getopt knows --{option}')
        return
    helps = {c: help_of(program, c.split()) for c in commands}
    common = Options(sections(text)['COMMON OPTIONS'])
    for command in commands:
        own = without_others(sections(text)[command], helps, name, command)
        compare(f'{name} {command}', helps[command], Options(own), common)
    for option in sorted(common.names):
        if not any(option in told.names for told in helps.values()):
            wrong.append(f'{name}: no command has the common option --{option}')


main()
for line in wrong:
    print(line)
sys.exit(bool(wrong))
