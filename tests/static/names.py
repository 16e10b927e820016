#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names that headers declare: prints each that should not be there.

usage: names.py alone     a function or object that no file but its own uses: it ought to be static
       names.py twice     a function that has the name of one of libtorus and is another

In the directory of a tree. Whoever uses libtorus has other files, so its own names may be alone.
"""

import collections
import glob
import re
import sys

FOLDERS = "daemon include kernel lib tools"


def read(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)


def sources(*folders):
    paths = [p for d in folders for k in "ch" for p in glob.glob(f"{d}/**/*.{k}", recursive=True)]
    return {path: read(path) for path in sorted(paths)}


def declared(text):
    """What a header says is defined elsewhere."""
    text = re.sub(r"^#(?:.*\\\n)*.*", "", text, flags=re.M)
    text = re.sub(r"^(?:struct|union|enum)\b[^;(){}]*\{.*?^\}[^;]*;", "", text, flags=re.S | re.M)
    text = re.sub(r"__attribute__\(\(.*?\)\)(?=\n|;)", "", text)
    found = re.findall(r"^(?!static|typedef)[a-z][^;{}=()]*?\b(\w+)\([^;{]*\);", text, re.M)
    return set(found + re.findall(r"^extern [^;()]*?\b(\w+)(?:\[[^;]*)?;", text, re.M))


def check_alone():
    texts = sources(*FOLDERS.split(), "tests")
    users = collections.defaultdict(list)
    for path, text in texts.items():
        text = re.sub(r"\b(struct|union|enum)\s+\w+", "", text)
        for word in re.findall(r"[A-Za-z_]\w*", text):
            users[word].append(path)
    for path, text in texts.items():
        if path.endswith(".c") or path.startswith(("include/", "tests/")):
            continue
        for name in sorted(declared(text)):
            others = set(users[name]) - {path}
            # A macro or an inline function of the header hands some on; the linker makes others.
            if len(others) < 2 and users[name].count(path) < 2 and not name.startswith("__"):
                yield f"{path}: {name} is used in {' '.join(others) or 'no file'} alone"


def check_twice():
    public = set().union(*(declared(t) for p, t in sources("include/torus").items()))
    for path, text in sources("daemon", "kernel", "lib", "tools").items():
        if path.endswith(".h"):
            for name in sorted(declared(text) & public):
                yield f"{path}: {name} is a function of libtorus"


def main(argv):
    checks = {"alone": check_alone, "twice": check_twice}
    check = checks.get(argv[1] if len(argv) == 2 else "")
    if not check:
        sys.exit(__doc__)
    wrong = list(check())
    print("".join(line + "\n" for line in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
