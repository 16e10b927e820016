#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""alerts.py METRICS.md RULES TESTS DASHBOARD: prints names of metrics in rules, tests and dashboard
that METRICS.md does not list, and alerts without a test that raises it; exits with 1 then."""
import json
import re
import sys

import yaml

NAME = re.compile(r"\btorus_[a-z0-9_]+")
HISTOGRAM = re.compile(r"_(bucket|sum|count)$")
wrong = []


def listed(path):
    """Return: {name: type} of the families that the document lists."""
    with open(path, encoding="utf-8") as f:
        rows = [line.split("|") for line in f if line.startswith("| `")]
    return {row[1].strip(" `"): row[2].strip() for row in rows}


def check_names(where, text, known):
    for name in sorted(set(NAME.findall(text))):
        base = HISTOGRAM.sub("", name)
        if name in known and known[name] != "histogram":
            continue
        if base == name or known.get(base) != "histogram":
            wrong.append(f"{where}: there is no {name}")


def main():
    document, rules, tests, dashboard = sys.argv[1:]
    known = listed(document)
    alerts = set()
    with open(rules, encoding="utf-8") as f:
        for group in yaml.safe_load(f)["groups"]:
            for rule in group["rules"]:
                alerts.add(rule["alert"])
                check_names(rule["alert"], rule["expr"], known)
                if rule["labels"]["severity"] not in ("critical", "warning", "info"):
                    wrong.append(f"{rule['alert']}: severity {rule['labels']['severity']}")
    with open(tests, encoding="utf-8") as f:
        cases = yaml.safe_load(f)["tests"]
    for case in cases:
        for series in case["input_series"]:
            check_names(case["name"], series["series"], known)
    raised = {t["alertname"] for case in cases for t in case["alert_rule_test"] if t.get("exp_alerts")}
    wrong.extend(f"{a}: no test raises it" for a in sorted(alerts - raised))
    wrong.extend(f"{a}: there is no such alert" for a in sorted(raised - alerts))
    with open(dashboard, encoding="utf-8") as f:
        panels = json.load(f)["panels"]
    for panel in panels:
        for target in panel["targets"]:
            check_names(panel["title"], target["expr"], known)
    for line in wrong:
        print(line)
    return bool(wrong or not alerts or not panels)


sys.exit(main())
