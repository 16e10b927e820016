#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
form.py FILE...

Compares sources with what clang-format makes of them (.clang-format), and prints where they differ:

  spaces        between words, operators and brackets
  indentation   of lines that begin a statement or declaration

Where a statement is broken into lines is its author's choice, as are the spaces that follow from
that: behind "(" at the end of a line, before "{" of a compound literal, and in "for (;; )".
Files whose remarks are clang-format's errors stand in form.txt, with these remarks.
Exit status 1 if anything was printed.
"""
import difflib
import re
import subprocess
import sys

ENDS = (";", "{", "}")
# clang-format takes C for C++. With these renamed, it takes them for the names that they are.
CPLUSPLUS = re.compile(r"\b(and|catch|class|delete|namespace|new|not|or|private|public"
                       r"|template|this|throw|try|using|xor)\b")


def formatted(name, text):
    run = subprocess.run(["clang-format", "--style=file", "--assume-filename=" + name],
                         input=text, capture_output=True, text=True, check=True)
    return run.stdout


def words(text):
    """The words of a source between spaces, without the spaces that an author may choose."""
    text = text.replace("\\\n", "\n")
    text = re.sub(r"\(\s+", "(", text)
    text = re.sub(r"\)\s*\{", ") {", text)
    text = re.sub(r";\s*\)", ";)", text)
    text = re.sub(r";\s+;", ";;", text)
    text = re.sub(r"\)\s+([~(])", r")\1", text)
    return re.sub(r"\{\s*\}", "{}", text).split()


def report_spaces(name, old, new):
    a, b = words(old), words(new)
    if a == b:
        return False
    for tag, i, j, k, l in difflib.SequenceMatcher(None, a, b, False).get_opcodes():
        if tag != "equal":
            print("%s: spaces: '%s' should be '%s'" %
                  (name, " ".join(a[max(0, i - 1):j + 1]), " ".join(b[max(0, k - 1):l + 1])))
    return True


def statements(text):
    """Lines that begin a statement and occur once: {line without indentation: (number, line)}"""
    seen, once, before = set(), {}, ";"
    for n, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare:
            continue
        if bare in seen:
            once.pop(bare, None)
        elif before.endswith(ENDS):
            once[bare] = (n, line.rstrip())
        seen.add(bare)
        before = bare
    return once


def report_indentation(name, old, new):
    wrong = False
    new = statements(new)
    for bare, (n, line) in statements(old).items():
        if bare in new and new[bare][1] != line and not bare.startswith(("/*", "*", "#")):
            print("%s:%d: indentation: %s" % (name, n, bare))
            wrong = True
    return wrong


def main():
    wrong = False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            old = CPLUSPLUS.sub(r"\1_", f.read())
        new = formatted(name, old)
        if old != new:
            wrong |= report_spaces(name, old, new)
            wrong |= report_indentation(name, old, new)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
