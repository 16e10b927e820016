#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
papers.py TOP [FILE]: checks doc/PAPERS.md. In each line of its tables the files and tests that are
named exist, fabricsim and fabricctl have the command and its option, the status is one of those
that the head explains, and what is built names a file; no number stands twice. A test has its folder
before it if there are two of the name. What is inferred names a test, and its reason stands in a list
"- **NUMBER**: ..." at the end, as no other line's does.
"""
import glob
import os
import re
import sys

STATUS = {"built", "differs", "inferred", "not yet", "no"}


def manual(top, program):
    name = {"fabricsim": "tools/fabricsim/fabricsim.1", "fabricctl": "tools/fabricctl/fabricctl.8"}[program]
    return open(os.path.join(top, name)).read().replace("\\-", "-")


def test_wrong(top, name):
    pattern = name if "/" in name else "*/" + name
    found = [f for ext in (".c", ".sh") for f in glob.glob(os.path.join(top, "tests", pattern + ext))]
    if len(found) > 1:
        folders = sorted(os.path.basename(os.path.dirname(f)) for f in found)
        return "test %s is in %s: name the folder" % (name, " and ".join(folders))
    return None if found else "there is no test %s" % name


def command_wrong(top, text):
    words = text.split()
    if words[0] == "lab":
        words.insert(0, "fabricctl")
    program, options = words[0], [w for w in words if w.startswith("--")]
    if program not in ("fabricsim", "fabricctl"):
        return "is no command"
    name = " ".join(w for w in words[1:] if not w.startswith("--"))
    page = manual(top, program)
    section = re.search(r"^\.SS %s\n(.*?)(?=^\.S[SH] |\Z)" % re.escape(name), page, re.M | re.S)
    if not section:
        return "is no command of %s" % program
    for o in options:
        if o not in section.group(1):
            return "has no option %s" % o
    return None


def cell_wrong(top, kind, text):
    for token in re.findall(r"`([^`]*)`", text):
        if kind == "file" and not os.path.exists(os.path.join(top, token)):
            return "there is no %s" % token
        if kind == "test" and test_wrong(top, token):
            return test_wrong(top, token)
        if kind == "command":
            wrong = command_wrong(top, token)
            if wrong:
                return "'%s' %s" % (token, wrong)
    if re.sub(r"`[^`]*`", "", text).strip():
        return "'%s' is not in backquotes" % text.strip()
    return None


def row_wrong(top, cells):
    number, claim, built, tests, command, status = cells
    if status not in STATUS:
        return "status '%s', must be %s" % (status, ", ".join(sorted(STATUS)))
    if not claim:
        return "says nothing"
    if status in ("built", "differs", "inferred") and not built:
        return "is %s, and no file is named" % status
    if status == "inferred" and not tests:
        return "is inferred, and no test is named"
    for kind, text in (("file", built), ("test", tests), ("command", command)):
        wrong = cell_wrong(top, kind, text)
        if wrong:
            return wrong
    return None


def main():
    top = sys.argv[1]
    path = sys.argv[2] if len(sys.argv) > 2 else os.path.join(top, "doc/PAPERS.md")
    bad = rows = 0
    section, seen, inferred, reasons = "", set(), set(), []
    for line in open(path):
        if line.startswith("## "):
            section = line[3:].strip()
        reasons += re.findall(r"^- \*\*([A-Z][0-9]+)\*\*: ", line)
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if not line.startswith("|") or not re.match(r"[A-Z][0-9]+$", cells[0]):
            continue
        rows += 1
        wrong = "has %d columns, not 6" % len(cells) if len(cells) != 6 else row_wrong(top, cells)
        if cells[0] in seen:
            wrong = "stands twice"
        seen.add(cells[0])
        if cells[-1] == "inferred":
            inferred.add(cells[0])
        if wrong:
            print("%s, %s: %s" % (section, cells[0], wrong))
            bad += 1
    for number in sorted(inferred ^ set(reasons)):
        print("%s: %s" % (number, "is inferred, and no reason is given" if number in inferred else
                          "a reason is given, but it is not inferred"))
        bad += 1
    if not rows:
        print("no rows")
    sys.exit(bad > 0 or not rows)


main()
