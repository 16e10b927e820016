#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Who includes whom: includes.txt holds, and no folders include each other in a circle.

usage: includes.py [RULES]     print each violation; exit status 1 if there is one
       includes.py --picture   the folders and what they include, for people
"""

import collections
import os
import re
import sys

SKIP = ("build", "tests", ".git")
# Where a compiler looks, besides the includer's own folder (Makefile, Kbuild). kernel/compat
# stands before the kernel's own headers, and whoever means these does not know of it.
PATH = ("", "include", "lib/deps", "kernel", "kernel/deps")


def sources():
    for top, folders, names in os.walk("."):
        folders[:] = [f for f in folders if not f.startswith(SKIP)]
        for name in names:
            if name.endswith((".c", ".h")):
                yield os.path.normpath(os.path.join(top, name))


def resolve(source, name):
    """The header of this project that @source means by @name, or None."""
    for folder in (os.path.dirname(source), *PATH):
        path = os.path.normpath(os.path.join(folder, name))
        if os.path.isfile(path):
            return os.path.relpath(os.path.realpath(path))
    return None


def includes():
    """(source, header) of all includes of another folder's header."""
    for source in sorted(sources()):
        with open(source, encoding="utf-8") as f:
            names = re.findall(r'^\s*#\s*include\s+["<]([^">]+)[">]', f.read(), re.M)
        for name in names:
            header = resolve(source, name)
            if header and os.path.dirname(header) != os.path.dirname(source):
                yield source, header


def read_rules(path):
    rules = {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                folder, allowed = line.split(":")
                rules[folder] = allowed.split()
    return rules


def check_rules(rules, edges):
    used = collections.defaultdict(set)
    for source, header in edges:
        folder = os.path.dirname(source)
        allowed = [a for a in (header, os.path.dirname(header)) if a in rules.get(folder, ())]
        used[folder].update(allowed)
        if folder not in rules:
            yield f"{source}: includes.txt says nothing of the folder {folder}"
        elif not allowed:
            yield f"{source}: may not include {header}, see includes.txt"
    for folder, allowed in rules.items():
        for one in sorted(set(allowed) - used[folder]):
            yield f"includes.txt: {folder} includes nothing of {one}"


def check_circles(rules, edges):
    """No folder includes itself by way of others. A header allowed alone is lent to a folder
    below it, such as a public face to the rooms behind it: that makes no circle."""
    after = collections.defaultdict(set)
    for source, header in edges:
        if header not in rules.get(os.path.dirname(source), ()):
            after[os.path.dirname(source)].add(os.path.dirname(header))

    def reaches(start):
        seen, left = set(), list(after[start])
        while left:
            folder = left.pop()
            if folder not in seen:
                seen.add(folder)
                left += after[folder]
        return seen

    for folder in sorted(after):
        if folder in reaches(folder):
            yield f"{folder} is in a circle of folders"


def picture(edges):
    lines = collections.Counter((os.path.dirname(s), os.path.dirname(h)) for s, h in edges)
    for (folder, other), n in sorted(lines.items()):
        print(f"{folder:20} -> {other:20} {n:4}")


def main():
    edges = list(includes())
    if sys.argv[1:] == ["--picture"]:
        picture(edges)
        return 0
    rules = read_rules(sys.argv[1] if sys.argv[1:] else "tests/static/includes.txt")
    problems = [*check_rules(rules, edges), *check_circles(rules, edges)]
    for problem in problems:
        print(problem)
    return 1 if problems or not edges else 0


if __name__ == "__main__":
    sys.exit(main())
