# SPDX-License-Identifier: GPL-2.0-only
"""
In a guest: requests that the driver refuses although they pass its policies, command by command,
and invalid new NICs: each with the right error, a text, and the attribute in the ack; and module
parameters that change between new NICs.
"""
import errno
import os
import re
import socket
import struct
import subprocess

import nl
from nl import A, ACK, DUMP, R, REQUEST, Sock, attr, check, policy, u16s

NEST = 0x8000
F, I = nl.enum("torus_fault_attr"), nl.enum("torus_ifla")


def a(name, fmt, *values):
    return attr(A["TORUS_A_" + name], struct.pack(fmt, *values))


def text(name, value):
    return attr(A["TORUS_A_" + name], value + b"\0")


def index(name):
    return a("IFINDEX", "=I", socket.if_nametoindex(name))


def port(n):
    return a("PORT", "=B", n)


def version(v):
    return a("VERSION", "=Q", v)


def shape(*sizes):
    return attr(A["TORUS_A_SHAPE"], u16s(*sizes))


def coords(*at):
    return attr(A["TORUS_A_COORDS"], u16s(*at))


def rows(first, *values):
    return attr(A["TORUS_A_ROWS"] | NEST, attr(R["TORUS_ROWS_FIRST"], struct.pack("=I", first)) +
                attr(R["TORUS_ROWS_DATA"], struct.pack("=%dQ" % len(values), *values)))


def fault(name, fmt, *values):
    """More than one value: the attribute is there as often."""
    return attr(A["TORUS_A_FAULT"] | NEST, b"".join(
        attr(F["TORUS_FAULT_" + name], struct.pack(fmt, v)) for v in values))


def rows_twice(name, data):
    one = attr(R["TORUS_ROWS_" + name], data)
    return attr(A["TORUS_A_ROWS"] | NEST, attr(R["TORUS_ROWS_FIRST"], struct.pack("=I", 0)) +
                attr(R["TORUS_ROWS_DATA"], struct.pack("=Q", 0)) + one)


# Command, attributes; the error, the attribute it is to name, words of its text.
UNPLACED = [
    ("ROWS_BEGIN", [version(1)], "ENODEV", None, "no place"),
    ("ROWS_PUT", [version(1), rows(0, 0)], "ENODEV", None, "no place"),
    ("ROWS_COMMIT", [version(1)], "ENODEV", None, "no place"),
    ("HOLD", [a("NODES", "=I", 0)], "ENODEV", None, "no place"),
    ("RELEASE", [version(0)], "ENODEV", None, "no place"),
    ("PARK_REPLAY", [version(0), a("PORTS", "=H", 1)], "ENODEV", None, "no place"),
    ("DEVICE_SET", [shape(4, 4)], "EINVAL", "SHAPE", "must be given together"),
    ("DEVICE_SET", [coords(0, 0)], "EINVAL", "COORDS", "must be given together"),
    ("DEVICE_SET", [shape(4, 4), coords(1)], "EINVAL", "COORDS", "1 entries, SHAPE 2"),
    ("DEVICE_SET", [shape(4, 4, 4), coords(0, 0, 0)], "EINVAL", "SHAPE", "4 ports allow 1 to 2"),
    ("DEVICE_SET", [shape(4, 0), coords(0, 0)], "EINVAL", "SHAPE", "1 to 4096"),
    ("DEVICE_SET", [shape(4097, 1), coords(0, 0)], "EINVAL", "SHAPE", "1 to 4096"),
    ("DEVICE_SET", [shape(4, 8), coords(0, 8)], "ERANGE", "COORDS", r"COORDS\[1\] is 8.*0 to 7"),
]
PLACED = [
    ("DEVICE_GET", [a("IFINDEX", "=I", 1)], "ENODEV", "IFINDEX", "IFINDEX is 1"),
    ("DEVICE_GET", [text("NAME", b"nobody")], "ENODEV", "NAME", "'nobody'"),
    ("DEVICE_GET", [attr(99, b"")], "EINVAL", 99, "."),
    ("LINK_SET", [index("torus0"), text("NAME", b"other"), port(0), a("ADMIN", "=B", 1)], "ENODEV",
     "NAME", "not that of the NIC with IFINDEX"),
    ("LINK_SET", [index("torus0"), text("NAME", b"torus0"), port(0), a("ADMIN", "=B", 1)], None,
     None, ""),
    ("LINK_GET", [port(4)], "EINVAL", "PORT", "PORT is 4, must be 0 to 3"),
    ("LINK_SET", [port(5), a("ADMIN", "=B", 1)], "EINVAL", "PORT", "PORT is 5, must be 0 to 3"),
    ("LINK_SET", [port(0), fault("BER", "=Q", 10**18 + 1)], "ERANGE", F["TORUS_FAULT_BER"], "."),
    ("LINK_SET", [port(0), fault("TEMPERATURE", "=I", 199)], "ERANGE",
     F["TORUS_FAULT_TEMPERATURE"], "."),
    ("LINK_SET", [port(0), fault("BER", "=Q", 0, 1)], "EINVAL", F["TORUS_FAULT_BER"],
     "BER is there twice"),
    ("LINK_ATTACH", [port(4), text("LOWER", b"wire")], "EINVAL", "PORT", "PORT is 4"),
    ("LINK_ATTACH", [port(0), text("LOWER", b"none")], "ENODEV", "LOWER", "no such lower device"),
    ("LINK_ATTACH", [port(0), text("LOWER", b"lo")], "EINVAL", "LOWER", "not an Ethernet device"),
    ("LINK_ATTACH", [port(0), text("LOWER", b"torus0")], "EINVAL", "LOWER", "not an Ethernet"),
    ("LINK_ATTACH", [port(0), text("LOWER", b"thin")], "EINVAL", "LOWER", "4143, must be 4144 or more"),
    ("EYE_GET", [port(4), a("LANE", "=B", 0)], "EINVAL", "PORT", "PORT is 4"),
    ("MGMT_SEND", [port(4), a("DATA", "=B", 1)], "EINVAL", "PORT", "PORT is 4"),
    ("MGMT_SEND", [port(1), a("DATA", "=B", 1)], "ENETDOWN", None, "port 1 is not up"),
    ("PARK_RESOLVE", [port(4), a("SESSION", "=I", 1)], "EINVAL", "PORT", "PORT is 4"),
    ("ROWS_PUT", [version(1), rows(0, 0)], "ESTALE", "VERSION", "VERSION is 1; active is 0"),
    ("ROWS_COMMIT", [version(1)], "ESTALE", "VERSION", "VERSION is 1; active is 0"),
    ("RELEASE", [version(7)], "ESTALE", "VERSION", "VERSION is 7; active is 0"),
    ("PARK_REPLAY", [version(7), a("PORTS", "=H", 1)], "ESTALE", "VERSION", "active is 0"),
    ("PARK_REPLAY", [version(0), a("PORTS", "=H", 16)], "ERANGE", "PORTS", "PORTS is 0x10.*0xf"),
    ("HOLD", [a("NODES", "=III", 0, 31, 32)], "ERANGE", "NODES", r"NODES\[2\] is 32.*0 to 31"),
    ("ROWS_BEGIN", [version(2)], None, None, ""),
    ("ROWS_PUT", [version(1), rows(0, 0)], "ESTALE", "VERSION", "VERSION is 1"),
    ("ROWS_PUT", [version(2), rows_twice("FIRST", struct.pack("=I", 1))], "EINVAL",
     R["TORUS_ROWS_FIRST"], "FIRST is there twice"),
    ("ROWS_PUT", [version(2), rows_twice("DATA", struct.pack("=Q", 0))], "EINVAL",
     R["TORUS_ROWS_DATA"], "DATA is there twice"),
    ("ROWS_PUT", [version(2), rows(31, 0, 0)], "ERANGE", "ROWS", "ROWS are 31 to 32.*0 to 31"),
    ("ROWS_PUT", [version(2), rows(32, 0)], "ERANGE", "ROWS", "ROWS are 32 to 32.*0 to 31"),
    ("ROWS_PUT", [version(2), rows(0, 1 << 60)], "EINVAL", R["TORUS_ROWS_DATA"], "unknown format"),
    ("ROWS_PUT", [version(2), rows(0, 1 << 56 | 1 << 4)], "EINVAL", R["TORUS_ROWS_DATA"],
     "unknown format or a value out of range"),
    ("ROWS_COMMIT", [version(2)], None, None, ""),
]
DUMPS = [
    ("ROWS_GET", [a("FIRST", "=I", 32)], "ERANGE", "FIRST", "FIRST is 32, must be 0 to 31"),
    ("LINK_GET", [port(0)], "EINVAL", "PORT", "not allowed in a dump of LINK_GET"),
    ("DEVICE_GET", [text("NAME", b"nobody")], "ENODEV", "NAME", "'nobody'"),
    ("LINK_GET", [a("IFINDEX", "=I", 1)], "ENODEV", "IFINDEX", "IFINDEX is 1"),
]
SEVERAL = [
    ("DEVICE_GET", [], "EINVAL", "IFINDEX", "several"),
    ("ROWS_BEGIN", [version(9)], "EINVAL", "IFINDEX", "several"),
    ("DEVICE_GET", [text("NAME", b"torus0")], None, None, ""),
]


def table(sock, cases, flags=0):
    for cmd, body, err, named, words in cases:
        want = getattr(errno, err) if err else 0
        named = A["TORUS_A_" + named] if isinstance(named, str) else named
        got = sock.refusal(cmd, b"".join(body), flags)
        # The end of a dump names an attribute by its text only, before Linux 6.10.
        if flags & DUMP and got[2] is None:
            named = None
        good = got[0] == want and got[2] == named and re.search(words, got[1])
        check(f"{cmd}: {err or 'done'}: {words}", good or print(f"it is {got}"))


# --- a new NIC --------------------------------------------------------------------

def ask_rtnl(kind, flags, name, *data):
    """Return: as refusal(), of a request about a NIC, with these attributes of its kind."""
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.setsockopt(270, 11, 1)
    body = attr(3, name + b"\0")
    if kind == 16:
        body += attr(18 | NEST, attr(1, b"torus\0") + attr(2 | NEST, b"".join(data)))
    s.send(struct.pack("=IHHII", 32 + len(body), kind, REQUEST | ACK | flags, 1, 0) + bytes(16) + body)
    return nl.refusal(s.recv(65536), 32, body)


def new_nic(*data):
    """Return: as refusal(), of a NIC t0 with these attributes; made, it is deleted."""
    got = ask_rtnl(16, 0x600, b"t0", *data)
    if not got[0]:
        ask_rtnl(17, 0, b"t0")
    return got


def ifla(name, fmt, value):
    return attr(I["IFLA_TORUS_" + name], struct.pack(fmt, value))


def refuses(what, got, err, named, words):
    good = got[0] == err and got[2] == I["IFLA_TORUS_" + named] and re.search(words, got[1])
    check(f"a new NIC: {what}", good or print(f"it is {got}"))


def test_params():
    """Each at its bounds and beyond; what depends on another is moved out of the way."""
    lines = re.search(r"TORUS_PARAM_LIST\(X\)(.*?)\n\n", policy, re.S).group(1)
    listed = re.findall(r"X\((\w+), (\w+), U(\d+), \w+, ([^,]+), ([^)]+)\)", lines)
    check("parameters are found", len(listed) == lines.count("X("))
    for name, low, bits, least, most in listed:
        fmt = "=Q" if bits == "64" else "=I"
        for bound, step in ((least, -1), (most, 1)):
            v = eval(re.sub(r"U?LL?", "", bound)) + step
            if v < 0 or v >= 1 << 64:
                continue
            refuses(f"{low} {v}", new_nic(ifla(name, fmt, v)), errno.ERANGE, name,
                    f"^{low} is {v}, must be")


def test_contradictions():
    ms = 1000000
    refuses("silence of a keepalive", new_nic(ifla("SILENCE", "=Q", 100 * ms)), errno.EINVAL,
            "SILENCE", "silence is 100000000, .*keepalive is 100000000")
    refuses("keepalive of the silence", new_nic(ifla("KEEPALIVE", "=Q", 1000 * ms)), errno.EINVAL,
            "KEEPALIVE", "keepalive is 1000000000")
    refuses("ack_delay beyond replay_timeout", new_nic(ifla("ACK_DELAY", "=Q", 50 * ms)),
            errno.EINVAL, "ACK_DELAY", "replay_timeout is 50000000")
    refuses("margin_train below margin_retrain", new_nic(ifla("MARGIN_TRAIN", "=I", 99)),
            errno.EINVAL, "MARGIN_TRAIN", "margin_train is 99, must be 100 or more")
    refuses("odd ports", new_nic(ifla("PORTS", "=B", 3)), errno.EINVAL, "PORTS", "ports is 3")
    refuses("too many ports", new_nic(ifla("PORTS", "=B", 14)), errno.ERANGE, "PORTS", ".")
    refuses("ports as a number of four bytes", new_nic(ifla("PORTS", "=I", 2)), errno.EINVAL,
            "PORTS", "length")
    refuses("slots as a number of eight bytes", new_nic(ifla("SLOTS", "=Q", 64)), errno.EINVAL,
            "SLOTS", "length")
    refuses("no GUID", new_nic(ifla("GUID", "=Q", 0)), errno.EINVAL, "GUID", "guid must not be 0")
    refuses("no name", new_nic(attr(I["IFLA_TORUS_NAME"], b"\0")), errno.EINVAL, "NAME", "empty")
    refuses("a bootstrap flag of 2", new_nic(ifla("BOOTSTRAP", "=B", 2)), errno.ERANGE, "BOOTSTRAP", ".")
    refuses("its epoch", new_nic(ifla("EPOCH", "=I", 1)), errno.EINVAL, "EPOCH", ".")
    check("a new NIC asks for no margins", new_nic() == (0, "", None))
    check("a new NIC has the same margins", new_nic(ifla("MARGIN_TRAIN", "=I", 100))[0] == 0)


def test_changes(sock):
    """ip link set changes what DEVICE_SET can change, and nothing else."""
    shown = [A["TORUS_A_" + name] for name in ("NAME", "BOOTSTRAP", "PORT_COUNT", "GUID")]
    device = lambda: {a: sock.get("DEVICE_GET", index("torus0"))[a] for a in shown}
    before = device()
    change = lambda *data: ask_rtnl(16, 0, b"torus0", *data)
    for name, fmt, value in (("PORTS", "=B", 6), ("GUID", "=Q", 7), ("SLOTS", "=I", 64)):
        refuses(f"{name} of one that there is", change(attr(I["IFLA_TORUS_NAME"], b"new\0"),
                ifla(name, fmt, value)), errno.EOPNOTSUPP, name, "only the name and the bootstrap")
    refuses("a bootstrap flag of 2 of one that there is", change(ifla("BOOTSTRAP", "=B", 2)),
            errno.ERANGE, "BOOTSTRAP", ".")
    check("a refused change changes nothing", device() == before)
    check("a change without values changes nothing", change()[0] == 0 and device() == before)
    check("another name and flag are taken",
          change(attr(I["IFLA_TORUS_NAME"], b"new\0"), ifla("BOOTSTRAP", "=B", 1))[0] == 0)
    check("another name and flag show", device()[A["TORUS_A_NAME"]] == b"new\0" and
          device()[A["TORUS_A_BOOTSTRAP"]] == b"\1")
    check("the former name and flag are taken again",
          change(attr(I["IFLA_TORUS_NAME"], b"torus0\0"), ifla("BOOTSTRAP", "=B", 0))[0] == 0)
    check("the former name and flag show again", device() == before)


first = Sock()
table(first, UNPLACED)
check("the NIC is placed", first.ask("DEVICE_SET", shape(8, 4), coords(0, 0)) == 0)
table(first, PLACED)
table(first, DUMPS, DUMP)
test_params()
test_contradictions()
test_changes(Sock())
subprocess.run(["ip", "link", "add", "torus1", "type", "torus"], check=True)
table(first, SEVERAL)
nl.done_testing()
