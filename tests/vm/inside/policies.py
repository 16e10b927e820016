#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
In a guest: prints "CMD ATTR TYPE MIN MAX" for each attribute of each command of the
loaded module's netlink family, as the kernel's controller tells its policies.
"""
import socket
import struct

CTRL = 16
GETPOLICY = 10


def attrs(data):
    while len(data) >= 4:
        n, t = struct.unpack_from("=HH", data)
        yield t & 0x3fff, data[4:n]
        data = data[(n + 3) & ~3:]


def u(data):
    return int.from_bytes(data, "little")


def policy(sock):
    name = b"torus\0"
    attr = struct.pack("=HH", 4 + len(name), 2) + name + b"\0" * (-len(name) % 4)
    body = struct.pack("=BBH", GETPOLICY, 1, 0) + attr
    sock.send(struct.pack("=IHHII", 16 + len(body), CTRL, 0x301, 1, 0) + body)
    while True:
        data = sock.recv(1 << 16)
        while data:
            n, t = struct.unpack_from("=IH", data)
            if t == 3:
                return
            if t == 2:
                raise OSError(-struct.unpack_from("=i", data, 16)[0], "no policies")
            yield dict(attrs(data[20:n]))
            data = data[(n + 3) & ~3:]


sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
sock.bind((0, 0))
tables, of_cmd = {}, {}
for msg in policy(sock):
    for cmd, nest in attrs(msg.get(9, b"")):  # CTRL_ATTR_OP_POLICY
        for how, index in attrs(nest):
            if how == 1 or cmd not in of_cmd:  # a do, else a dump
                of_cmd[cmd] = u(index)
    for index, nest in attrs(msg.get(8, b"")):  # CTRL_ATTR_POLICY
        for attr, values in attrs(nest):
            tables.setdefault(index, {})[attr] = dict(attrs(values))
for cmd, index in sorted(of_cmd.items()):
    for attr, v in sorted(tables.get(index, {}).items()):
        low = v.get(4, v.get(6, b"\0"))  # value of unsigned, else length
        high = v.get(5, v.get(7, b"\0"))
        print(cmd, attr, u(v[1]), u(low), u(high))
