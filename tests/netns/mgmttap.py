#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Management packets on a cable, as frames and as what NICs deliver of them.

	mgmttap.py record IFACE		prints "ready", then "FRAME DATA", in hex, for each management
		packet that comes in
	mgmttap.py send IFACE FRAME...	sends these frames as they are
	mgmttap.py alter FRAME		prints the frame once for each of its bytes behind the Ethernet
		header, with a bit of that byte changed
"""
import errno
import socket
import struct
import sys

ETHERTYPE = 0x88b5
HEAD, FLIT = 14, 16
PAD, MGMT, ACKNAK = 0, 5, 7		# kernel/core/wire.h


def payloads(frame):
    """The payloads of the management packets of a frame."""
    at = HEAD
    while at + 8 <= len(frame):
        w0 = struct.unpack_from("<Q", frame, at)[0]
        kind, flits = w0 & 7, w0 >> 8 & 0x3ff
        if kind == ACKNAK:
            at += 8
            continue
        tail = at + (1 + flits) * FLIT
        if kind == PAD or tail + FLIT > len(frame):
            return
        if kind == MGMT:
            yield frame[at + FLIT:tail - (frame[tail + 13] & 15)]
        at = tail + FLIT * (1 + (w0 >> 18 & 1))


def record(iface):
    tap = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
    tap.bind((iface, ETHERTYPE))
    print("ready", flush=True)
    while True:
        try:
            frame = tap.recv(65536)
        except OSError as e:		# the cable is cut: more comes when it is mended
            if e.errno != errno.ENETDOWN:
                raise
            continue
        for data in payloads(frame):
            print(frame.hex(), data.hex(), flush=True)


def send(iface, frames):
    out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    out.bind((iface, 0))
    for frame in frames:
        out.send(bytes.fromhex(frame))


def alter(frame):
    data = bytearray.fromhex(frame)
    for i in range(HEAD, len(data)):
        data[i] ^= 1 << i % 8
        print(data.hex())
        data[i] ^= 1 << i % 8


if sys.argv[1] == "record":
    record(sys.argv[2])
elif sys.argv[1] == "send":
    send(sys.argv[2], sys.argv[3:])
else:
    alter(sys.argv[2])
