#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
comments.py FILE...     C sources and headers, and scripts

Prints each comment at the left margin, as stand above functions, structures and objects, that begins
with a pronoun or a conjunction: its subject is in another place, which the reader has to find.
"One" may be a number ("One link fails"), and must not be a pronoun ("One that fails").
Exit status 1 if anything was printed.
"""
import re
import sys

WORDS = ("And|But|Else|It|Its|Neither|Nobody|None|Nor|Of|Or|Others|So|Such|That|Their|Theirs|Them|Then"
         "|These|They|Those|What|Whatever|Whether|Which|Who|Whoever|Whose")
VERBS = "can|does|had|has|is|may|more|must|of|that|was|which|who|whose|will|without"
FIRST = re.compile(rf"(?:{WORDS}|One(?= (?:{VERBS})\b))\b")


def c_comments(text):
    """(number of the line, text) of each comment at the left margin"""
    for found in re.finditer(r"^/\*\*?[\s*]*(.*?)\*/", text, re.M | re.S):
        yield text.count("\n", 0, found.start(1)) + 1, found[1]


def script_comments(text):
    lines = text.split("\n")
    for n, line in enumerate(lines):
        if line.startswith("# ") and not (n and lines[n - 1].startswith("#")):
            yield n + 1, line[2:]


def main():
    wrong = False
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as f:
            text = f.read()
        for line, comment in (c_comments if name.endswith((".c", ".h")) else script_comments)(text):
            word = FIRST.match(comment)
            if word:
                print(f"{name}:{line}: begins with '{word[0]}': name the subject")
                wrong = True
    sys.exit(wrong)


if __name__ == "__main__":
    main()
