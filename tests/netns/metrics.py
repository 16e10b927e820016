#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads metrics, as other programs do.

    metrics.py parse FILE OPENMETRICS   both texts have the same samples, by the parsers of Prometheus
    metrics.py tables <JSON             the tables of doc/METRICS.md, from fabricctl metrics --json
    metrics.py document FILE <JSON      whether FILE has just these tables
"""
import json
import sys

GROUPS = (
    ("Node: the NIC, its host and its parking segment", ("torus_node",)),
    ("Links: each port of the NIC", ("torus_link",)),
    ("Ports: the counters and gauges of each port", ("torus_port",)),
    ("Lanes: each lane of a port that is on", ("torus_lane",)),
    ("Manager: fabricd of the node", ("torus_manager", "torus_table", "torus_root")),
    ("Fabric: only of the root, the whole fabric", ("torus_fabric",)),
)
ENDING = {"counter": "_total", "info": "_info"}


def samples_of(families):
    """Return: the values by name and labels, without the info families' type, which differs."""
    found = {}
    for family in families:
        for s in family.samples:
            key = (s.name, tuple(sorted(s.labels.items())))
            assert key not in found, f"twice: {key}"
            found[key] = s.value
    return found


def parse(plain, openmetrics):
    from prometheus_client import parser
    from prometheus_client.openmetrics import parser as open_parser

    with open(plain, encoding="utf-8") as a, open(openmetrics, encoding="utf-8") as b:
        one = samples_of(parser.text_string_to_metric_families(a.read()))
        two = samples_of(open_parser.text_string_to_metric_families(b.read()))
    assert one, "no samples"
    assert one.keys() == two.keys(), f"only in one format: {set(one) ^ set(two)}"
    print(f"{len(one)} samples")


def rows(families):
    """Return: the rows of each table, as text."""
    for title, prefixes in GROUPS:
        lines = []
        for f in families:
            if "_".join(f["name"].split("_")[:2]) in prefixes:
                labels = ", ".join(f["samples"][0]["labels"])
                name = f["name"] + ENDING.get(f["type"], "")
                lines.append(f"| `{name}` | {f['type']} | {labels} | {f['help']} |")
        yield title, lines


def tables(families):
    text = ""
    for title, lines in rows(families):
        text += f"\n## {title}\n\n| family | type | labels | meaning |\n|---|---|---|---|\n"
        text += "".join(line + "\n" for line in lines)
    return text


def document(path, families):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    wanted = {line for _, lines in rows(families) for line in lines}
    assert len(wanted) == len(families), "a family belongs to no table"
    found = {line for line in text.splitlines() if line.startswith("| `")}
    for line in sorted(wanted - found):
        print("missing:", line)
    for line in sorted(found - wanted):
        print("not so: ", line)
    return 0 if wanted == found else 1


def main():
    if sys.argv[1] == "parse":
        return parse(*sys.argv[2:])
    families = json.load(sys.stdin)
    if sys.argv[1] == "tables":
        return print(tables(families), end="")
    return document(sys.argv[2], families)


sys.exit(main())
