# SPDX-License-Identifier: GPL-2.0-only
"""
In a guest: netlink messages as bytes, for tests that need a raw socket; the numbers are read from
the header.
"""
import os
import re
import socket
import struct

top = os.environ["TOP"]
header = "".join(open(f"{top}/include/uapi/{h}.h").read() for h in ("torus", "torus_abi"))
policy = open(f"{top}/include/uapi/torus_policy.h").read()
perms = open(f"{top}/kernel/genl_policy.h").read()


def enum(name):
    body = re.search(r"enum %s \{(.*?)\n\};" % name, header, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return {n: i for i, n in enumerate(re.findall(r"\b(\w*TORUS_\w+),", body))}


CMD, A, R = enum("torus_cmd"), enum("torus_attr"), enum("torus_rows_attr")
REQUEST, ACK, MULTI, DUMP_INTR, DUMP = 1, 4, 2, 0x10, 0x300
failed = told = 0


def check(name, good):
    global failed, told
    told += 1
    good = bool(good)
    print(("ok - " if good else "not ok - ") + name, flush=True)
    failed |= not good


def done_testing():
    """The script's end, with the plan of its tests; without it it has ended early."""
    print(f"1..{told}", flush=True)
    raise SystemExit(failed)


def attrs(data):
    while len(data) >= 4:
        n, t = struct.unpack_from("=HH", data)
        yield t & 0x3fff, data[4:n]
        data = data[(n + 3) & ~3:]


def attr(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + b"\0" * (-len(data) % 4)


def messages(data):
    while len(data) >= 16:
        n, kind, flags = struct.unpack_from("=IHH", data)
        yield kind, flags, data[16:n]
        data = data[(n + 3) & ~3:]


class Sock:
    """A socket of family torus; family and groups are asked of the controller."""

    def __init__(self, room=65536, number=0):
        self.s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.s.bind((number, 0))
        self.s.settimeout(120)
        self.send(16, 3, attr(2, b"torus\0"), REQUEST)
        family = dict(attrs(next(messages(self.s.recv(room)))[2][4:]))
        self.family = struct.unpack("=H", family[1])[0]
        self.groups = {}
        for _, group in attrs(family[7]):
            g = dict(attrs(group))
            self.groups[g[1].rstrip(b"\0").decode()] = struct.unpack("=I", g[2])[0]

    def send(self, family, cmd, body, flags):
        data = struct.pack("=BBH", cmd, 1, 0) + body
        self.s.send(struct.pack("=IHHII", 16 + len(data), family, flags, 1, 0) + data)

    def refusal(self, cmd, body, flags=0):
        """Return: of a request's answer the error, its text, the attribute that it names."""
        self.s.setsockopt(270, 11, 1)  # NETLINK_EXT_ACK
        self.send(self.family, CMD["TORUS_CMD_" + cmd], body, REQUEST | ACK | flags)
        return refusal(self.s.recv(65536), 20, body)

    def ask(self, cmd, *body):
        """Return: 0 or -errno."""
        self.send(self.family, CMD["TORUS_CMD_" + cmd], b"".join(body), REQUEST | ACK)
        while True:
            for kind, _, data in messages(self.s.recv(65536)):
                if kind == 2:
                    return struct.unpack_from("=i", data)[0]

    def get(self, cmd, *body):
        """Return: the attributes of the answer."""
        self.send(self.family, CMD["TORUS_CMD_" + cmd], b"".join(body), REQUEST)
        kind, _, data = next(messages(self.s.recv(65536)))
        return {} if kind in (2, 3) else dict(attrs(data[4:]))

    def dump(self, cmd):
        self.send(self.family, CMD["TORUS_CMD_" + cmd], b"", REQUEST | DUMP)

    def parts(self, size=65536):
        """Datagrams of a dump, as lists of (flags, attributes), until its end."""
        while True:
            got, end = [], False
            for kind, flags, data in messages(self.s.recv(size)):
                end |= kind in (2, 3)
                got.append((flags, {} if kind in (2, 3) else dict(attrs(data[4:]))))
            yield got
            if end:
                return


def refusal(answer, head, body):
    """Of an error message: the error, its text, the attribute that it names or misses."""
    n, kind, flags, _, _, err, asked = struct.unpack_from("=IHHIIiI", answer)
    if kind not in (2, 3) or not err:
        return 0, "", None
    at = 20 if kind == 3 else 36 if flags & 0x100 else 20 + (asked + 3 & ~3)
    said = dict(attrs(answer[at:n])) if flags & 0x200 else {}
    named = None
    if 2 in said:  # its offset in the message
        named = struct.unpack_from("=H", body, struct.unpack("=I", said[2])[0] - head + 2)[0] & 0x3fff
    elif 5 in said:
        named = struct.unpack("=I", said[5])[0]
    return -err, said.get(1, b"").rstrip(b"\0").decode(), named


def u16s(*values):
    return struct.pack("=%dH" % len(values), *values)
