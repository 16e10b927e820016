# SPDX-License-Identifier: GPL-2.0-only
"""
uso.py receive ADDRESS | send ADDRESS: messages of up to 64 datagrams that the kernel
must split (UDP_SEGMENT), of several sizes. All must arrive whole, once and in order.
"""
import socket
import struct
import sys

PORT, SOL_UDP, UDP_SEGMENT = 7001, 17, 103
# (bytes of a datagram, of the message): the last datagram is full, short, alone
MESSAGES = [(1400, 28000), (1400, 28001), (100, 6399), (8000, 60000), (5000, 5000), (9000, 1)]


def datagrams():
    for m, (size, total) in enumerate(MESSAGES):
        for at in range(0, total, size):
            yield bytes([m + at // size & 255]) * min(size, total - at)


def receive(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    s.bind((address, PORT))
    s.settimeout(120)
    print("listening", flush=True)
    for n, want in enumerate(datagrams()):
        got = s.recv(65536)
        if got != want:
            sys.exit(f"datagram {n}: {len(got)} bytes of {got[0]}, not {len(want)} of {want[0]}")


def send(address):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for m, (size, total) in enumerate(MESSAGES):
        data = b"".join(bytes([m + at // size & 255]) * min(size, total - at)
                        for at in range(0, total, size))
        s.sendmsg([data], [(SOL_UDP, UDP_SEGMENT, struct.pack("=H", size))], 0, (address, PORT))


{"receive": receive, "send": send}[sys.argv[1]](sys.argv[2])
