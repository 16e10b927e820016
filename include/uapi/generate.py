#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
Writes the C files that follow from the netlink family's source, torus.yaml, and from torus_c.yaml
beside it. Run it after a change of these two; what it writes is checked in, so that building needs
no Python. With --check it writes nothing and fails if a file is not what it would write. A number
that the header has given keeps its meaning; --renumber is for numbers that nobody has used yet.
"""
import os
import re
import sys
import textwrap

import yaml

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.join(here, "../..")
spec = yaml.safe_load(open(os.path.join(here, "torus.yaml")))
more = yaml.safe_load(open(os.path.join(here, "torus_c.yaml")))

sets = {s["name"]: s for s in spec["attribute-sets"]}
consts = {d["name"]: d["value"] for d in spec["definitions"] if d["type"] == "const"}
enums = {d["name"]: d for d in spec["definitions"] if d["type"] == "enum"}
ops = spec["operations"]["list"]
MAIN = spec["attribute-sets"][0]

HEAD = """/* SPDX-License-Identifier: %s */
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
"""
UAPI = "GPL-2.0-only WITH Linux-syscall-note"
FREE = "GPL-2.0-only OR LGPL-2.1-or-later"


def upper(name):
    return name.upper().replace("-", "_")


def lower(name):
    return name.replace("-", "_")


def prefix(attribute_set):
    return upper(attribute_set["name-prefix"])


def commented(text, comment, tab="\t"):
    """A line of C, and its comment after or before it."""
    if not comment:
        return [tab + text]
    line = f"{tab}{text}\t/* {comment} */"
    if len(line.expandtabs(8)) <= 100:
        return [line]
    return [*boxed(comment, tab), tab + text]


def boxed(text, tab=""):
    text = text[0].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")
    if len(text) < 80:
        return [f"{tab}/* {text} */"]
    lines = textwrap.wrap(text, 85 - len(tab.expandtabs(8)), break_on_hyphens=False)
    return [f"{tab}/*", *(f"{tab} * {line}" for line in lines), f"{tab} */"]


# --- the header -----------------------------------------------------------------------


def attribute_type(a):
    kind = a["type"]
    if "sub-type" in a:
        kind = f"{'nest' if kind == 'indexed-array' else 'array'} of {a['sub-type']}"
    if "enum" in a:
        kind += f", enum {more['enums'][a['enum']][0]}"
    elif "nested-attributes" in a:
        kind += f", enum {lower(sets[a['nested-attributes']]['enum-name'])}"
    return kind + (", may repeat" if a.get("multi-attr") else "")


def numbered(name, doc, entries, first):
    """An enum of entries (name, comment); @first of them stands before."""
    lines = boxed(doc) if doc else []
    lines.append(f"enum {name} {{")
    for entry, comment in [(first, None), *entries] if first else entries:
        lines += commented(entry + ",", comment)
    return lines


def attribute_enum(s):
    entries = []
    for a in s["attributes"]:
        doc = "" if a["type"] == "unused" else attribute_type(a)
        entries.append((prefix(s) + upper(a["name"]),
                        doc + (": " + a["doc"] if "doc" in a else "")))
    lines = numbered(lower(s["enum-name"]), s.get("doc"), entries, prefix(s) + "UNSPEC")
    return [*lines, f"\t__{prefix(s)}MAX,", "};",
            f"#define {prefix(s)}MAX (__{prefix(s)}MAX - 1)", ""]


def counter_list(entries, listed, enum, pre, doc):
    """X(ID, name, unit, help): a doc begins with the unit."""
    lines = boxed("Counters: " + doc) + [f"#define TORUS_{listed}_LIST(X) \\"]
    for e in entries:
        unit, text = e["doc"].split(": ", 1)
        lines.append(f'\tX({upper(e["name"])}, {lower(e["name"])}, {unit}, "{text}") \\')
    lines[-1] = lines[-1][:-2]
    return [*lines, "", f"enum {enum} {{", f"#define TORUS_X_(id, name, unit, help) {pre}##id,",
            f"\tTORUS_{listed}_LIST(TORUS_X_)", "#undef TORUS_X_", f"\t{pre}COUNT,", "};", ""]


def command_doc(op):
    text = [op["doc"]]
    for how in ("do", "dump"):
        carried = [a for a in op.get(how, {}).get("request", {}).get("attributes", ())
                   if a not in ("ifindex", "name") or op["name"] == "device-set"]
        if carried:
            text.append(f"{how}: " + ", ".join(
                upper(a) + ("" if a in more["required"].get(op["name"], ()) or how == "dump"
                            else "?") for a in carried))
        elif how in op:
            text.append(how)
    for what, where in (("reply", op.get("do", op.get("dump", {}))), ("event", op)):
        if what in where:
            text.append(f"{what}: " + ", ".join(upper(a) for a in where[what]["attributes"]))
    return "; ".join(text)


def command_enum():
    lines = ["/*", " * Commands: what each does, may carry (with '?' if it need not be there) and is",
             " * answered with. Every request may carry IFINDEX or NAME to name the device."]
    for op in ops:
        lines += textwrap.wrap(upper(op["name"]) + ": " + command_doc(op), 96,
                               initial_indent=" * ", subsequent_indent=" *\t",
                               break_on_hyphens=False)
    lines += [" */", "enum torus_cmd {", "\tTORUS_CMD_UNSPEC,"]
    ordered = sorted(ops, key=number_of_command)
    lines += [f"\tTORUS_CMD_{upper(op['name'])}," for op in ordered]
    return [*lines, "\t__TORUS_CMD_MAX,", "};", "#define TORUS_CMD_MAX (__TORUS_CMD_MAX - 1)", ""]


def number_of_command(op):
    return ops.index(op)


def header():
    lines = [HEAD % UAPI + "#ifndef _UAPI_LINUX_TORUS_ABI_H", "#define _UAPI_LINUX_TORUS_ABI_H", ""]
    for d in spec["definitions"]:
        if d["type"] == "const":
            value = d["value"]
            text = f"{value}ULL" if value > 0x7fffffff else str(value)
            lines += commented(f"#define TORUS_{upper(d['name'])}\t{text}", d.get("doc"), "")
    lines.append("")
    for name, (tag, count) in more["enums"].items():
        entries = [(f"TORUS_{upper(name)}_{upper(e['name'])}", e.get("doc"))
                   for e in enums[name]["entries"]]
        lines += numbered(tag, enums[name]["doc"], entries, None) + [f"\t{count},", "};", ""]
    for g in spec["mcast-groups"]["list"]:
        lines.append(f'#define TORUS_GROUP_{upper(g["name"])}_NAME\t"{g["name"]}"')
    lines.append("")
    lines += command_enum()
    for s in spec["attribute-sets"]:
        if s["name"] not in more["counters"]:
            lines += attribute_enum(s)
    for name, (listed, enum, pre) in more["counters"].items():
        s = sets.get(name) or enums[name]
        lines += counter_list(s.get("attributes") or s["entries"], listed, enum, pre, s["doc"])
    return "\n".join([*lines, "#endif /* _UAPI_LINUX_TORUS_ABI_H */", ""])


# --- checks of requests -----------------------------------------------------------------

BYTES = {"u8": 1, "u16": 2, "u32": 4, "u64": 8}


def limit(text):
    return consts[text] if isinstance(text, str) else text


def rule(a):
    """Kind, least and most of an attribute, as in struct torus_rule."""
    c, kind, sub = a.get("checks", {}), a["type"], a.get("sub-type")
    if "enum" in a:
        c = {"max": len(enums[a["enum"]]["entries"]) - 1, **c}
    if kind in BYTES:
        return upper(kind), limit(c.get("min", 0)), limit(c.get("max", 256 ** BYTES[kind] - 1))
    exact = c.get("exact-len")
    low, high = limit(c.get("min-len", exact or 0)), limit(c.get("max-len", exact or 65535))
    if kind == "string":
        return "TEXT", low, high
    if kind == "binary" and sub:
        return upper(sub) + "S", low // BYTES[sub], high // BYTES[sub]
    if kind == "binary":
        return "BYTES", low, high
    return {"flag": "FLAG", "unused": "NONE"}.get(kind, "NEST"), 0, 0


def requests():
    """The attribute sets that requests carry, the main one first."""
    asked = {a for op in ops for how in ("do", "dump") if how in op
             for a in op[how]["request"]["attributes"]}
    nests = [a["nested-attributes"] for a in MAIN["attributes"]
             if a["name"] in asked and a["type"] == "nest"]
    return [MAIN, *(sets[n] for n in nests)]


def number(value):
    if value == 2 ** 64 - 1:
        return "~0ULL"
    return f"{value}ULL" if value > 0x7fffffff else str(value)


def ruled():
    """The attribute sets that have rules: those of requests, and those in nests of replies."""
    return requests() + [sets[n] for n in more["nests"] if sets[n] not in requests()]


def rules_of(s):
    lines = [f"static const struct torus_rule {lower(s['name'])}_rules[{prefix(s)}MAX + 1] = {{"]
    for a in s["attributes"]:
        kind, low, high = rule(a)
        if kind == "NONE":
            continue
        extra = ", .repeats = true" if a.get("multi-attr") else ""
        if a["type"] == "nest" and sets[a["nested-attributes"]] in requests():
            extra += f", .nest = &torus_set_{lower(a['nested-attributes'])}"
        lines.append(f"\t[{prefix(s)}{upper(a['name'])}] = {{ .name = \"{upper(a['name'])}\", "
                     f".kind = TORUS_{kind}, .min = {number(low)}, .max = {number(high)}{extra} }},")
    return [*lines, "};", ""]


def mask(s, names):
    """An initializer of struct torus_attrs."""
    numbers = {a["name"]: i + 1 for i, a in enumerate(s["attributes"])}
    words = [0] * (len(MAIN["attributes"]) // 64 + 1)
    for n in names:
        words[numbers[n] // 64] |= 1 << numbers[n] % 64
    return "{ { " + ", ".join(f"{w:#x}ULL" if w else "0" for w in words) + " } }"


def asked_by(op, how):
    return op.get(how, {}).get("request", {}).get("attributes", [])


def scopes():
    lines = [f"_Static_assert(TORUS_ATTR_WORDS == {len(MAIN['attributes']) // 64 + 1}, "
             '"width of the masks");', "",
             "const struct torus_scope torus_scopes[TORUS_CMD_MAX + 1] = {"]
    for op in ops:
        lines.append(f"\t[TORUS_CMD_{upper(op['name'])}] = {{")
        lines.append(f"\t\t.name = \"{upper(op['name'])}\",")
        if "event" not in op:
            lines += [f"\t\t.privileged = {'true' if 'flags' in op else 'false'},",
                      f"\t\t.allowed = {mask(MAIN, asked_by(op, 'do') or asked_by(op, 'dump'))},",
                      f"\t\t.required = {mask(MAIN, more['required'].get(op['name'], ()))},",
                      f"\t\t.dump = {mask(MAIN, asked_by(op, 'dump'))},"]
        lines.append("\t},")
    return [*lines, "};", ""]


def rules():
    lines = [HEAD % FREE + '#include "policy.h"', ""]
    for s in reversed(ruled()):
        lines += rules_of(s)
        lines += [f"const struct torus_set torus_set_{lower(s['name'])} = {{",
                  f"\t.name = \"{upper(s['name'])}\",",
                  f"\t.prefix = \"{'' if s is MAIN else upper(s['name']) + '.'}\",",
                  f"\t.rules = {lower(s['name'])}_rules,", f"\t.max = {prefix(s)}MAX,",
                  f"\t.required = {mask(s, more['required'].get(s['name'], ()))},", "};", ""]
    return "\n".join(lines + scopes()[:-1]) + "\n"


# --- replies ------------------------------------------------------------------------------


def field(s, a, tree):
    """A line of a struct torus_field."""
    kind = rule(a)[0]
    member = tree.get("members", {}).get(a["name"], lower(a["name"]))
    member, count = member if isinstance(member, list) else (member, None)
    struct, nest = tree["struct"], a.get("nested-attributes")
    text = f"\t{{ .attr = {prefix(s)}{upper(a['name'])}, "
    if nest in more["nests"] and a["type"] == "nest":
        return text + f".nest = &nest_{lower(nest)} }},"
    if kind in ("U8", "U16", "U32", "U64"):
        text += f"NUMBER({struct}, {member}, {BYTES[a['type']]})"
    else:
        text += f"MEMBER({struct}, {member})"
    if count:
        text += f", COUNT({struct}, {count})"
    if nest in more["nests"]:
        text += f", .nest = &nest_{lower(nest)}"
    if a["name"] in tree.get("needs", ()):
        text += ", .needed = true"
    closed = "enum" in a and a["enum"] not in more["open"]
    if closed or s is MAIN and a["name"] in more["checked"]:
        text += ", .checked = true"
    return text + " },"


def tree_of(s, names, tree, name, static):
    by_name = {a["name"]: a for a in s["attributes"]}
    return [f"static const struct torus_field {name}_fields[] = {{",
            *(field(s, by_name[n], tree) for n in names), "};", "",
            f"{static}const struct torus_tree {name} = {{",
            f"\t.set = &torus_set_{lower(s['name'])},", f"\t.field = {name}_fields,",
            f"\t.fields = ARRAY_SIZE({name}_fields),", f"\t.size = sizeof(struct {tree['struct']}),",
            "};", ""]


def trees():
    lines = [HEAD % FREE + '#include "tree.h"', ""]
    for name, tree in more["nests"].items():
        names = [a["name"] for a in sets[name]["attributes"]]
        lines += tree_of(sets[name], names, tree, f"nest_{lower(name)}", "static ")
    for op in ops:
        if op["name"] in more["replies"]:
            names = (op.get("event") or op["do"]["reply"])["attributes"]
            lines += tree_of(MAIN, names, more["replies"][op["name"]],
                             f"torus_tree_{lower(op['name'])}", "")
    return "\n".join(lines[:-1]) + "\n"


# --- policies of the kernel ----------------------------------------------------------------


def policy(a, ranges):
    kind, low, high = rule(a)
    width = {"BYTES": 1, "U16S": 2, "U32S": 4, "U64S": 8}.get(kind)
    if kind == "TEXT":
        return f"{{ .type = NLA_NUL_STRING, .len = {high} }}"
    if kind == "NEST":
        return f"NLA_POLICY_NESTED({lower(a['nested-attributes'])}_policy)"
    if kind == "FLAG" or not low and high == 256 ** BYTES.get(a["type"], 0) - 1:
        return f"{{ .type = NLA_{kind} }}"
    low, high, kind = low * (width or 1), high * (width or 1), "BINARY" if width else kind
    if high <= 0x7fff:
        return f"NLA_POLICY_RANGE(NLA_{kind}, {low}, {high})"
    name, limits = f"{lower(a['name'])}_range", f"{{ .min = {number(low)}, .max = {number(high)} }}"
    while ranges.get(name, limits) != limits:  # an attribute of another set with this name
        name = "other_" + name
    ranges[name] = limits
    return f"NLA_POLICY_FULL_RANGE(NLA_{kind}, &{name})"


def policies():
    ranges, lines = {}, []
    for s in requests()[1:]:
        lines += [f"static const struct nla_policy {lower(s['name'])}_policy[] = {{",
                  *(f"\t[{prefix(s)}{upper(a['name'])}] = {policy(a, ranges)},"
                    for a in s["attributes"])]
        lines += ["};", ""]
    lines += ["const struct nla_policy torus_policies[TORUS_CMD_MAX + 1][TORUS_A_MAX + 1] = {"]
    for op in ops:
        lines.append(f"\t[TORUS_CMD_{upper(op['name'])}] = {{")
        allowed = set(asked_by(op, "do")) | set(asked_by(op, "dump"))
        gap, told = None, MAIN["attributes"]
        for i, a in enumerate([*told, {"name": "max + 1"}]):
            end = i == len(told)
            if gap is None and not end and a["name"] not in allowed:
                gap = i
            if gap is not None and (end or a["name"] in allowed):
                first = f"TORUS_A_{upper(told[gap]['name'])}" if gap else "0"
                if i - gap > 1 or not gap:
                    first += f" ... TORUS_A_{upper(told[i - 1]['name'])}"
                lines.append(f"\t\t[{first}] = REFUSED,")
                gap = None
            if a["name"] in allowed:
                lines.append(f"\t\t[TORUS_A_{upper(a['name'])}] = {policy(a, ranges)},")
        lines.append("\t},")
    made = [f"static struct netlink_range_validation {n} = {v};" for n, v in ranges.items()]
    refused = ['#define REFUSED { .type = NLA_REJECT, \\',
               '\t\t  .reject_message = "attribute is not allowed in this command" }', ""]
    return "\n".join([HEAD % "GPL-2.0-only" + '#include "genl.h"', "", *refused, *made, "",
                      *lines, "};", ""])


def policies_header():
    lines = [HEAD % "GPL-2.0-only" + "#ifndef TORUS_GENL_POLICY_H", "#define TORUS_GENL_POLICY_H", "",
             "#include <net/genetlink.h>", "", '#include "../include/uapi/torus.h"', "",
             "extern const struct nla_policy torus_policies[TORUS_CMD_MAX + 1][TORUS_A_MAX + 1];",
             "", "/* Flags of the commands: the capability that each one requires. */", "enum {"]
    lines += [f"\tPERM_{upper(op['name'])} = "
              + ("GENL_UNS_ADMIN_PERM," if "flags" in op else "0,") for op in ops if "event" not in op]
    return "\n".join([*lines, "};", "", "#endif /* TORUS_GENL_POLICY_H */", ""])


# --- mistakes in the source ------------------------------------------------------------------

TYPES = {*BYTES, "string", "binary", "flag", "unused", "nest", "indexed-array"}


def twice(what, names):
    names = list(names)
    return [f"{what} {n} is there twice" for n in sorted({n for n in names if names.count(n) > 1})]


def unknown(what, names, known):
    return [f"{what} {n} is not known" for n in names if n not in known]


def attribute_mistakes(s):
    out = twice(f"{s['name']}: attribute", (a["name"] for a in s["attributes"]))
    for a in s["attributes"]:
        name = f"{s['name']}: {a['name']}:"
        out += unknown(f"{name} type", [a["type"]], TYPES)
        if a["type"] == "nest" or a.get("sub-type") == "nest":
            out += unknown(f"{name} nest", [a.get("nested-attributes")], sets)
        elif a["type"] in ("binary", "indexed-array") and "sub-type" in a:
            out += unknown(f"{name} sub-type", [a["sub-type"]], BYTES)
        if "enum" in a:
            out += unknown(f"{name} enum", [a["enum"]], more["enums"])
        out += unknown(f"{name} limit", (v for v in a.get("checks", {}).values()
                                         if isinstance(v, str)), consts)
    return out


def command_mistakes(op):
    """What a command carries exists, and replies are of types that tree.c puts and parses."""
    main = {a["name"]: a for a in MAIN["attributes"]}
    out, parts = [], [op[how][what] for how in ("do", "dump") if how in op
                      for what in ("request", "reply") if what in op[how]]
    for part in [*parts, op.get("event", {"attributes": ()})]:
        out += unknown(f"{op['name']}: attribute", part["attributes"], main)
    told = (op.get("event") or op.get("do", {}).get("reply", {})).get("attributes", [])
    out += [f"{op['name']}: a reply has no flags: {n} is to be u8, max 1" for n in told
            if main.get(n, {}).get("type") == "flag"]
    out += unknown(f"{op['name']}: required attribute", more["required"].get(op["name"], ()),
                   [*asked_by(op, "do"), *asked_by(op, "dump")])
    return out


def more_mistakes():
    names = {op["name"] for op in ops}
    out = unknown("required: command or set", more["required"], {*names, *sets})
    out += unknown("replies: command", more["replies"], names)
    out += unknown("nests: set", more["nests"], sets)
    out += unknown("enums: enum", more["enums"], enums)
    out += unknown("counters: set or enum", more["counters"], {*sets, *enums})
    main = [a["name"] for a in MAIN["attributes"]]
    out += unknown("checked: attribute", more["checked"], main)
    out += unknown("open: enum", more["open"], enums)
    trees = [(n, t, main) for n, t in more["replies"].items()]
    trees += [(n, t, [a["name"] for a in sets[n]["attributes"]]) for n, t in more["nests"].items()
              if n in sets]
    for name, tree, known in trees:
        out += unknown(f"{name}: attribute", [*tree.get("needs", ()), *tree.get("members", ())], known)
    return out


def enumerators(text):
    """{enum or list: names in order}, without the number of them at the end."""
    out = {}
    for m in re.finditer(r"^(?:enum (\w+) {|#define (TORUS_\w+_LIST)\(X\))(.*?)(?:^};|\n\n)", text,
                         re.M | re.S):
        names = re.findall(r"^\t(?:X\()?(_*[A-Z]\w*)", m[3], re.M)
        out[m[1] or m[2]] = names if m[2] else names[:-1]
    return out


def renumbered(old, new):
    """Numbers that programs were built with mean the same for ever, so what is new comes last."""
    new = enumerators(new)
    return [f"{names[n]} had number {n}: what is new goes to the end of its list"
            for enum, names in enumerators(old).items()
            for n in range(len(names)) if new.get(enum, [])[n:n + 1] != names[n:n + 1]][:1]


def mistakes():
    out = twice("definition", (d["name"] for d in spec["definitions"]))
    out += twice("set", (s["name"] for s in spec["attribute-sets"]))
    out += twice("command", (op["name"] for op in ops))
    for s in spec["attribute-sets"]:
        out += attribute_mistakes(s)
    for op in ops:
        out += command_mistakes(op)
    return out + more_mistakes()


def refuse(out):
    for line in out:
        print(f"torus.yaml, torus_c.yaml: {line}", file=sys.stderr)
    if out:
        sys.exit(2)


FILES = {
    "include/uapi/torus_abi.h": header,
    "kernel/req/rules.c": rules,
    "kernel/req/trees.c": trees,
    "kernel/genl_policy.c": policies,
    "kernel/genl_policy.h": policies_header,
}


def main():
    stale = []
    refuse(mistakes())
    abi = os.path.join(top, "include/uapi/torus_abi.h")
    if os.path.exists(abi) and "--renumber" not in sys.argv:
        refuse(renumbered(open(abi).read(), header()))
    for path, make in FILES.items():
        text, file = make(), os.path.join(top, path)
        if path.endswith(".c"):
            text = text.replace("/* SPDX", "// SPDX", 1).replace(" */\n", "\n", 1)
        if os.path.exists(file) and open(file).read() == text:
            continue
        stale.append(path)
        if "--check" not in sys.argv:
            open(file, "w").write(text)
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path} is not what include/uapi/generate.py makes from torus.yaml")
        sys.exit(bool(stale))


if __name__ == "__main__":
    main()
