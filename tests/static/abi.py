#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
The netlink ABI is in three files: torus.h (names and numbers), torus_policy.h
(attributes that requests may carry: the kernel's policies and torusemu's checks are
made from it) and torus.yaml (the same for YNL). This program compares them, after the
compiler has read the headers; it fails if only one of them was changed. With a file as
argument it compares the policies of a loaded module, as lines "CMD ATTR TYPE MIN MAX"
(tests/vm/inside/policies.sh).
"""
import os
import re
import subprocess
import sys
import tempfile

import yaml

top = os.environ.get("TOP", os.path.join(os.path.dirname(__file__), "../.."))
os.chdir(top)
failed = told = 0


def verdict(name, problems):
    global failed, told
    told += 1
    if problems:
        failed = 1
        print(f"not ok - {name}")
        for p in problems:
            print(f"  {p}")
    else:
        print(f"ok - {name}")


# --- the headers, as compiled ---------------------------------------------------

header = open("include/uapi/torus.h").read()


def enum_names(name):
    body = re.search(r"enum %s \{(.*?)\n\};" % name, header, re.S).group(1)
    return re.findall(r"^\s*(\w+),", body, re.M)


enums = {
    name: enum_names(name)
    for name in (
        "torus_attr", "torus_cmd", "torus_rows_attr", "torus_fault_attr", "torus_vc",
        "torus_link_state", "torus_link_reason", "torus_retry", "torus_group",
        "torus_lane_state", "torus_lane_attr",
    )
}

PROGRAM = """
#include <stdio.h>
#include <uapi/torus_policy.h>
int main(void)
{
%s
#define A(set, id, kind, min, max) printf("attr %%s %%s %%s %%llu %%llu\\n", set, #id, #kind, \\
	(unsigned long long)(min), (unsigned long long)(max));
#define TOP(id, kind, min, max) A("torus", id, kind, min, max)
#define ROWS(id, kind, min, max) A("rows", id, kind, min, max)
#define FAULT(id, kind, min, max) A("fault", id, kind, min, max)
	TORUS_REQUEST_ATTR_LIST(TOP)
	TORUS_REQUEST_ROWS_LIST(ROWS)
	TORUS_REQUEST_FAULT_LIST(FAULT)
#define C(id, priv, allowed, required, dump) printf("cmd %%s %%s %%llu %%llu\\n", #id, #priv, \\
	(unsigned long long)(allowed), (unsigned long long)(dump));
	TORUS_COMMAND_LIST(C)
#define X(set) printf("counter %%s %%s %%d\\n", set, name, value);
#define N(id, n, unit, help) printf("counter node-counters %%s %%d\\n", #n, TORUS_NC_##id + 1);
#define P(id, n, unit, help) printf("counter port-counters %%s %%d\\n", #n, TORUS_PC_##id + 1);
#define G(id, n, unit, help) printf("counter gauges %%s %%d\\n", #n, TORUS_PG_##id + 1);
#define F(id, n, unit, help) for (int c = 0; c < TORUS_COLOURS; c++) \\
	printf("counter flow %%s_%%d %%d\\n", #n, c, TORUS_FC_##id * TORUS_COLOURS + c + 1);
	TORUS_NODE_COUNTER_LIST(N)
	TORUS_PORT_COUNTER_LIST(P)
	TORUS_PORT_GAUGE_LIST(G)
	TORUS_FLOW_COUNTER_LIST(F)
	return 0;
}
"""


def compiled():
    names = [n for e in enums.values() for n in e if not n.startswith("__")]
    names += ["TORUS_MAX_DIMS", "TORUS_MAX_PORTS", "TORUS_MAX_SIZE", "TORUS_MAX_NODES",
              "TORUS_NAME_MAX", "TORUS_MGMT_MAX", "TORUS_MSG_MAX"]
    lines = "\n".join(f'\tprintf("number {n} %llu\\n", (unsigned long long){n});' for n in names)
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/a.c", "w") as f:
            f.write(PROGRAM % lines)
        subprocess.run(["gcc", "-Iinclude", "-o", f"{d}/a", f"{d}/a.c"], check=True)
        out = subprocess.run([f"{d}/a"], check=True, capture_output=True, text=True).stdout
    return [line.split() for line in out.splitlines()]


numbers, attrs, commands, counters = {}, {}, {}, {}
for what, *rest in compiled():
    if what == "number":
        numbers[rest[0]] = int(rest[1])
    elif what == "attr":
        attrs.setdefault(rest[0], {})[rest[1]] = (rest[2], int(rest[3]), int(rest[4]))
    elif what == "cmd":
        commands[rest[0]] = (rest[1], int(rest[2]), int(rest[3]))
    else:
        counters.setdefault(rest[0], {})[rest[1]] = int(rest[2])

# --- the spec ---------------------------------------------------------------------

spec = yaml.safe_load(open("include/uapi/torus.yaml"))
WIDTH = {"U16S": 2, "U32S": 4, "U64S": 8, "BYTES": 1}
TYPE = {"U8": "u8", "U16": "u16", "U32": "u32", "U64": "u64", "TEXT": "string",
        "FLAG": "flag", "BYTES": "binary", "U16S": "binary", "U32S": "binary",
        "U64S": "binary", "NEST": "nest"}
SUB = {"U16S": "u16", "U32S": "u32", "U64S": "u64"}


def upper(name):
    return name.upper().replace("-", "_")


def values(entries):
    """Name to value: each is one more than the last, unless it says."""
    value, out = 0, {}
    for e in entries:
        value = e.get("value", value)
        out[upper(e["name"])] = value
        value += 1
    return out


sets = {s["name"]: s for s in spec["attribute-sets"]}
by_name = {n: {upper(a["name"]): a for a in s["attributes"]} for n, s in sets.items()}


def compare(what, have, want):
    problems = [f"{what} {n} is missing in torus.yaml" for n in want.keys() - have.keys()]
    problems += [f"{what} {n} is in torus.yaml only" for n in have.keys() - want.keys()]
    problems += [f"{what} {n}: torus.yaml says {have[n]}, the header {want[n]}"
                 for n in sorted(have.keys() & want.keys()) if have[n] != want[n]]
    return problems


def enum_values(enum, prefix, skip=()):
    return {n[len(prefix):]: numbers[n] for n in enums[enum]
            if not n.startswith("__") and n[len(prefix):] not in ("UNSPEC", *skip)}


def check_numbers():
    problems = compare("attribute", values(sets["torus"]["attributes"]),
                       enum_values("torus_attr", "TORUS_A_"))
    problems += compare("attribute of rows", values(sets["rows"]["attributes"]),
                        enum_values("torus_rows_attr", "TORUS_ROWS_"))
    problems += compare("attribute of fault", values(sets["fault"]["attributes"]),
                        enum_values("torus_fault_attr", "TORUS_FAULT_"))
    problems += compare("attribute of lane", values(sets["lane"]["attributes"]),
                        enum_values("torus_lane_attr", "TORUS_LANE_A_"))
    problems += compare("command", values(spec["operations"]["list"]),
                        enum_values("torus_cmd", "TORUS_CMD_"))
    for s, want in counters.items():
        have = {n.lower(): v for n, v in values(sets[s]["attributes"]).items()}
        problems += compare(f"counter of {s}", have, want)
    return problems


def check_definitions():
    problems = []
    last = {"vc": "VCS", "link-state": "LINK_STATES", "link-reason": "REASONS",
            "retry": "RETRIES", "group": "GROUPS", "lane-state": "LANE_STATES"}
    prefix = {"vc": "TORUS_VC_", "link-state": "TORUS_LINK_", "link-reason": "TORUS_REASON_",
              "retry": "TORUS_RETRY_", "group": "TORUS_GROUP_", "lane-state": "TORUS_LANE_"}
    for d in spec["definitions"]:
        if d["type"] == "const":
            n = "TORUS_" + upper(d["name"])
            if n.startswith(("TORUS_NAME_", "TORUS_MGMT_", "TORUS_MSG_", "TORUS_MAX_")) and \
                    numbers.get(n) != d["value"]:
                problems.append(f"{n} is {numbers.get(n)}, torus.yaml says {d['value']}")
            continue
        e = "torus_" + d["name"].replace("-", "_")
        p = prefix[d["name"]]
        want = {n[len(p):]: numbers[n] for n in enums[e] if n != "TORUS_" + last[d["name"]]}
        have = {upper(n): i for i, n in enumerate(d["entries"])}
        problems += compare(f"value of {e}", have, want)
    return problems


def rule_of(attr):
    """What the spec says, in the words of torus_policy.h."""
    checks = attr.get("checks", {})
    return (attr["type"], attr.get("sub-type"),
            checks.get("min", checks.get("min-len")), checks.get("max", checks.get("max-len")))


def check_rules():
    problems = []
    for s, rules in attrs.items():
        for name, (kind, low, high) in rules.items():
            attr = by_name[s].get(name)
            if not attr:
                continue  # told above
            w = WIDTH.get(kind, 1)
            bounds = (low * w, high * w)
            if kind in ("FLAG", "NEST"):
                bounds = (None, None)
            elif kind == "TEXT" and not low:
                bounds = (None, high)
            want = (TYPE[kind], SUB.get(kind), *bounds)
            if rule_of(attr) != want:
                problems.append(f"{s}.{name}: torus.yaml says {rule_of(attr)}, "
                                f"torus_policy.h {want}")
            if bool(attr.get("multi-attr")) != (kind == "NEST" and high != 1):
                problems.append(f"{s}.{name}: may it repeat?")
    return problems


def names_of(mask):
    return {n for n, v in enum_values("torus_attr", "TORUS_A_").items() if mask >> v & 1}


def check_commands():
    problems = []
    for op in spec["operations"]["list"]:
        name = upper(op["name"])
        if "event" in op:
            unknown = {upper(a) for a in op["event"]["attributes"]} - by_name["torus"].keys()
            problems += [f"{name}: attribute {a} does not exist" for a in unknown]
            continue
        privilege, allowed, dump = commands.get(name, ("", 0, 0))
        if (privilege == "SET") != ("uns-admin-perm" in op.get("flags", ())):
            problems.append(f"{name}: privilege is {privilege} in torus_policy.h")
        for how, mask in (("do", allowed), ("dump", dump)):
            if how not in op:
                continue
            have = {upper(a) for a in op[how]["request"]["attributes"]}
            want = names_of(mask) | {"IFINDEX", "NAME"}
            if name == "SUBSCRIBE":
                want |= {"IFINDEX", "NAME"}
            if have != want:
                problems.append(f"{how} of {name}: torus.yaml and torus_policy.h differ by "
                                f"{sorted(have ^ want)}")
            reply = {upper(a) for a in op[how].get("reply", {}).get("attributes", ())}
            problems += [f"reply of {name}: attribute {a} does not exist"
                         for a in reply - by_name["torus"].keys()]
    missing = commands.keys() - {upper(o["name"]) for o in spec["operations"]["list"]}
    return problems + [f"{n} is missing in torus.yaml" for n in missing]


def check_loaded(path):
    """Policies of a module, read back through the controller family."""
    problems, have = [], {}
    for line in open(path):
        cmd, attr, kind, low, high = (int(x) for x in line.split())
        have.setdefault(cmd, {})[attr] = (kind, low, high)
    number = enum_values("torus_attr", "TORUS_A_")
    NETLINK = {"FLAG": 1, "U8": 2, "U16": 3, "U32": 4, "U64": 5, "BYTES": 10, "U16S": 10,
               "U32S": 10, "U64S": 10, "TEXT": 12, "NEST": 13}
    for name, (_, allowed, dump) in commands.items():
        if name == "SUBSCRIBE":
            continue
        cmd = numbers["TORUS_CMD_" + name]
        want = {}
        for a in names_of(allowed | dump) | {"IFINDEX", "NAME"}:
            kind, low, high = attrs["torus"][a]
            w = WIDTH.get(kind, 1)
            bounds = (low * w, high * w) if kind in WIDTH or kind.startswith("U") else \
                (0, high if kind == "TEXT" else 0)
            if kind in WIDTH and high * w > 0x7fff:
                bounds = (0, 0)  # checked, but not told
            want[number[a]] = (NETLINK[kind], *bounds)
        if have.get(cmd) != want:
            problems.append(f"{name}: the module says {have.get(cmd)}, torus_policy.h {want}")
    return problems


if len(sys.argv) > 1:
    verdict("the loaded module's policies are those of torus_policy.h", check_loaded(sys.argv[1]))
else:
    verdict("spec and header have the same names and values", check_numbers())
    verdict("spec and header have the same definitions", check_definitions())
    verdict("spec and policy say the same of each attribute", check_rules())
    verdict("spec and policy give each command the same attributes", check_commands())
print(f"1..{told}")
sys.exit(failed)
