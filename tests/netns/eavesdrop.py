#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What an attacker on the service network can do without the key.

	eavesdrop.py listen ADDRESS PORT FILE	writes to FILE what the next peer that connects
		to ADDRESS:PORT sends, until it has sent its proof
	eavesdrop.py say ADDRESS PORT FILE	sends FILE on a connection of its own
	eavesdrop.py schema ADDRESS PORT	sends a message of another schema
say and schema exit with 0 if the listener ends the connection.
"""
import socket
import struct
import sys
import time

FRAMES = 2		# of the one who connects: nonce, proof


def frames(data):
    """The whole frames at the beginning of data."""
    n, at = 0, 0
    while len(data) - at >= 4:
        size = struct.unpack(">I", data[at:at + 4])[0]
        if len(data) - at - 4 < size:
            break
        n, at = n + 1, at + 4 + size
    return n, data[:at]


def listen(address, port, file):
    sniffer = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    sniffer.settimeout(120)
    print("listening", flush=True)
    streams = {}
    while True:
        ip = sniffer.recv(65535)
        tcp = ip[(ip[0] & 15) * 4:struct.unpack(">H", ip[2:4])[0]]
        if ip[9] != 6 or socket.inet_ntoa(ip[16:20]) != address:
            continue
        source, dest, seq = struct.unpack(">HHI", tcp[:8])
        if dest != port:
            continue
        key = (ip[12:16], source)
        if tcp[13] & 2:
            streams[key] = (seq + 1, {})
        elif key in streams:
            first, parts = streams[key]
            parts[(seq - first) & 0xffffffff] = tcp[(tcp[12] >> 4) * 4:]
            data = b"".join(parts[k] for k in sorted(parts))
            n, whole = frames(data)
            if n >= FRAMES:
                with open(file, "wb") as f:
                    f.write(whole)
                return


def say(address, port, data):
    s = socket.create_connection((address, port), timeout=60)
    s.sendall(data)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            if not s.recv(65536):
                return 0
        except ConnectionError:
            return 0
    return 1


def main():
    what, address, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if what == "listen":
        listen(address, port, sys.argv[4])
        return 0
    if what == "say":
        with open(sys.argv[4], "rb") as f:
            return say(address, port, f.read())
    body = bytes((0x08, 99, 0x6a, 0))		# schema 99, an empty Auth
    return say(address, port, struct.pack(">I", len(body)) + body)


sys.exit(main())
