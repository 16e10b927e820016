#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
form.py FILE...         from the directory that has .clang-format

Compares sources with what clang-format makes of them (.clang-format), and prints where they differ:

  spaces        between words, operators and brackets
  indentation   of lines that begin a statement or declaration

Where a statement is broken into lines is its author's choice, as are the spaces that follow from
that: behind "(" at the end of a line, before "{" of a compound literal, and in "for (;; )".
Files whose remarks are clang-format's errors stand in form.txt, with these remarks.
Exit status 1 if anything was printed.
"""
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

ENDS = (";", "{", "}")
# clang-format takes C for C++. With these renamed, it takes them for the names that they are.
CPLUSPLUS = re.compile(r"\b(and|catch|class|delete|namespace|new|not|or|private|public"
                       r"|template|this|throw|try|using|xor)\b")


def read(name):
    with open(name, encoding="utf-8") as f:
        return f.read()


def formatted(texts):
    """{name: text} as clang-format makes it, by one process, because it takes long to start"""
    with tempfile.TemporaryDirectory() as tmp:
        shutil.copy(".clang-format", tmp)
        for name, text in texts.items():
            copy = os.path.join(tmp, name)
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            with open(copy, "w", encoding="utf-8") as f:
                f.write(text)
        subprocess.run(["clang-format", "--style=file", "-i", *texts], cwd=tmp, check=True)
        return {name: read(os.path.join(tmp, name)) for name in texts}


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
    texts = {name: CPLUSPLUS.sub(r"\1_", read(name)) for name in sys.argv[1:]}
    for name, new in formatted(texts).items():
        old = texts[name]
        if old != new:
            wrong |= report_spaces(name, old, new)
            wrong |= report_indentation(name, old, new)
    sys.exit(wrong)


if __name__ == "__main__":
    main()
