#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Names of functions: prints each that should not be there.

usage: names.py alone     a function or object of a header that only its own file uses, or none
       names.py twice     a function of a header that has the name of one of libtorus
       names.py shared    static functions that have one name in several files, if above 3 %
       names.py words     static functions that have a name of one word, if above 6 %

In the directory of a tree. Users of libtorus have other files, so its own names may be alone.
The last two count the .c files of the product, without kunit.
"""

import collections
import glob
import re
import sys

FOLDERS = "daemon include kernel lib tools"
SHARED_MAX = 0.03
WORDS_MAX = 0.06


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


def statics():
    """The static functions of the product, as pairs of a path and a name."""
    pairs = set()
    for path, text in sources(*FOLDERS.split()).items():
        if path.endswith(".c") and "kunit" not in path:
            text = re.sub(r"__attribute__\(\(.*?\)\)\s*(?=[\w*])", "", text)
            names = re.findall(r"^static\s+[\w\s*]+?[\s*](\w+)\s*\(", text, re.M)
            pairs.update((path, name) for name in names)
    return sorted(pairs)


def above(limit, what, bad, pairs):
    """A line for each bad pair, and their share, if that is above the limit."""
    if len(bad) > limit * len(pairs):
        for path, name in bad:
            yield f"{path}: {name}"
        yield f"{what}: {len(bad)} of {len(pairs)} static functions, above {limit:.0%}"


def check_shared():
    pairs = statics()
    count = collections.Counter(name for _, name in pairs)
    bad = sorted((p for p in pairs if count[p[1]] > 1), key=lambda p: p[1])
    return above(SHARED_MAX, "names that several files define", bad, pairs)


def check_words():
    pairs = statics()
    return above(WORDS_MAX, "names of one word", [p for p in pairs if "_" not in p[1]], pairs)


def main(argv):
    checks = {"alone": check_alone, "twice": check_twice, "shared": check_shared,
              "words": check_words}
    check = checks.get(argv[1] if len(argv) == 2 else "")
    if not check:
        sys.exit(__doc__)
    wrong = list(check())
    print("".join(line + "\n" for line in wrong), end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
