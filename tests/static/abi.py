#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
abi.py FILE compares the policies of a loaded module, as lines "CMD ATTR TYPE MIN MAX"
(tests/vm/inside/policies.sh), with include/uapi/torus.yaml.
"""
import os
import sys

top = os.environ.get("TOP", os.path.join(os.path.dirname(__file__), "../.."))
sys.path.insert(0, os.path.join(top, "include/uapi"))
sys.dont_write_bytecode = True
from generate import MAIN, asked_by, ops, rule  # noqa: E402

NETLINK = {"FLAG": 1, "U8": 2, "U16": 3, "U32": 4, "U64": 5, "BYTES": 10, "U16S": 10,
           "U32S": 10, "U64S": 10, "TEXT": 12, "NEST": 13}
WIDTH = {"BYTES": 1, "U16S": 2, "U32S": 4, "U64S": 8}


def wanted(op):
    """{attribute: (type, least, most)} of a command, as the controller should tell them."""
    out = {}
    for i, a in enumerate(MAIN["attributes"], 1):
        if a["name"] not in {*asked_by(op, "do"), *asked_by(op, "dump")}:
            continue
        kind, low, high = rule(a)
        w = WIDTH.get(kind, 1)
        bounds = (low * w, high * w) if kind in WIDTH or kind.startswith("U") else \
            (0, high if kind == "TEXT" else 0)
        if kind in WIDTH and high * w > 0x7fff:
            bounds = (0, 0)  # checked, but not told
        out[i] = (NETLINK[kind], *bounds)
    return out


have, failed = {}, 0
for line in open(sys.argv[1]):
    cmd, attr, kind, low, high = (int(x) for x in line.split())
    have.setdefault(cmd, {})[attr] = (kind, low, high)
for number, op in enumerate(ops, 1):
    if "event" not in op and op["name"] != "subscribe" and have.get(number) != wanted(op):
        failed = 1
        print(f"{op['name']}: the module says {have.get(number)}, torus.yaml {wanted(op)}")
print("not " * failed + "ok - the loaded module's policies are those of torus.yaml")
print("1..1")
sys.exit(failed)
