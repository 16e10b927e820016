#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Dependences between the files of daemon/fm: prints each violation.

usage: rooms.py up DIR       a file of a room that calls a function of a file above the rooms
       rooms.py calls DIR    a file that calls a function without including its header: such a
                             dependence would be missing from the picture of includes
       rooms.py order DIR    a file of node/ or root/ that includes one below it in the table of the
                             folder's README.md
"""

import glob
import os
import re
import sys


def read(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def declared(top):
    """Function: the header that declares it."""
    where = {}
    for path in sorted(glob.glob(top + "/*/*.h")):
        for name in re.findall(r"^[a-z][^;{}=]*?\b(fm_\w+)\(", read(path), re.M):
            where.setdefault(name, os.path.relpath(path, top))
    return where


def included(text):
    return re.findall(r'^#include "daemon/fm/([^"]+)"', text, re.M)


def check_up(top):
    above = {}
    for path in sorted(glob.glob(top + "/*.c")):
        defined = re.findall(r"^(?!static)[a-z][^;{}=]*?\b(fm_\w+)\([^;{]*\)\n\{", read(path), re.M)
        for name in defined:
            above[name] = os.path.relpath(path, top)
    for path in sorted(glob.glob(top + "/*/*.c")):
        for call in sorted(set(re.findall(r"\b(fm_\w+)\(", read(path))) & above.keys()):
            yield f"{os.path.relpath(path, top)} calls {call}() of {above[call]}"


def check_calls(top):
    where = declared(top)
    for path in sorted(glob.glob(top + "/*.c") + glob.glob(top + "/*/*.c")):
        name = os.path.relpath(path, top)
        text = read(path)
        for call in sorted(set(re.findall(r"\b(fm_\w+)\(", text)) & where.keys()):
            header = where[call]
            if header not in included(text) and header[:-2] != name[:-2]:
                yield f"{name} calls {call}() and does not include {header}"


def check_order(top):
    for folder in ("node", "root"):
        place = {}
        with open(f"{top}/{folder}/README.md", encoding="utf-8") as f:
            for line in f:
                cells = line.split("|")
                for name in re.findall(r"`(\w+)\.[ch]`", cells[1]) if len(cells) > 2 else []:
                    place[name] = len(place)
        for path in sorted(glob.glob(f"{top}/{folder}/*.[ch]")):
            name = os.path.basename(path)[:-2]
            if name not in place:
                yield f"{folder}/README.md says nothing of {name}"
                continue
            for header in included(read(path)):
                room, other = header.split("/") if "/" in header else ("", header)
                if room == folder and place.get(other[:-2], 0) > place[name]:
                    yield f"{name} includes {other}, which is below it in {folder}/README.md"


def main(argv):
    checks = {"up": check_up, "calls": check_calls, "order": check_order}
    check = checks.get(argv[1] if len(argv) == 3 else "")
    if not check:
        sys.exit(__doc__)
    wrong = list(check(argv[2]))
    print("".join(line + "\n" for line in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
