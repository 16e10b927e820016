#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
link_abi.py [TOP]: torus_link.yaml has the attributes of the two IFLA_TORUS enums of torus.h, in
order, and parameters have there the types of TORUS_PARAM_LIST.
"""
import os
import re
import sys

import yaml

top = sys.argv[1] if len(sys.argv) > 1 else "."
uapi = {f: open(os.path.join(top, "include/uapi", f)).read()
        for f in ("torus.h", "torus_abi.h", "torus_policy.h", "torus_link.yaml")}
sets = {s["name"]: s for s in yaml.safe_load(uapi["torus_link.yaml"])["attribute-sets"]}
failed = False


def complain(text):
    global failed
    failed = True
    print(f"torus_link.yaml: {text}")


def enum(name):
    body = re.search(r"enum %s \{(.*?)__IFLA" % name, uapi["torus.h"], re.S).group(1)
    return re.findall(r"^\t(IFLA_\w+),", body, re.M)[1:]


for name, c in (("linkinfo-torus-attrs", "torus_ifla"),
                ("linkinfo-member-torus-attrs", "torus_ifla_slave")):
    s = sets[name]
    said = [(s["name-prefix"] + a["name"]).upper().replace("-", "_") for a in s["attributes"]]
    if said != enum(c):
        complain(f"{name} and enum {c} differ: {sorted(set(said) ^ set(enum(c)))}")
kinds = {a["name"]: a["type"] for a in sets["linkinfo-torus-attrs"]["attributes"]}
params = re.findall(r"X\((\w+), \w+, (U32|U64),", uapi["torus.h"] + uapi["torus_abi.h"] +
                    uapi["torus_policy.h"])
if len(params) < 20:
    complain("TORUS_PARAM_LIST was not found")
for name, kind in params:
    if kinds.get(name.lower().replace("_", "-")) != kind.lower():
        complain(f"{name} is {kind}")
sys.exit(failed)
