# SPDX-License-Identifier: GPL-2.0-only
"""
echo.py answer ADDRESS PORT | ask ADDRESS PORT STOP: numbered datagrams of all sizes, several
of them under way at once, are answered one by one until the file STOP exists. The answers must
come whole and in order; else "ask" exits with 1. It says when the first has come.
"""
import hashlib
import os
import socket
import sys
import time

UNDER_WAY = 8
PATIENCE = 120  # seconds: a flood on one processor goes first
SIZE_MAX = 12000


def datagram(n):
    number = n.to_bytes(8, "little")
    size = 8 + n * 7919 % SIZE_MAX
    return number + (hashlib.sha256(number).digest() * (size // 32 + 1))[:size - 8]


def answer(address, port):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((address, int(port)))
    while True:
        data, peer = s.recvfrom(65536)
        s.sendto(data, peer)


def ask(address, port, stop):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.connect((address, int(port)))
    s.settimeout(PATIENCE)
    sent = heard = 0
    while not os.path.exists(stop) or heard < sent:
        if not os.path.exists(stop) and sent - heard < UNDER_WAY:
            s.send(datagram(sent))
            sent += 1
            continue
        try:
            data = s.recv(65536)
        except TimeoutError:
            sys.exit(f"{address}: datagram {heard} of {sent} is lost")
        if data != datagram(heard):
            n = int.from_bytes(data[:8], "little")
            sys.exit(f"{address}: {len(data)} bytes of datagram {n} instead of datagram {heard}")
        heard += 1
        if heard == 1:
            print(f"{address}: the first datagram is answered", flush=True)
        time.sleep(0.001)
    print(f"{address}: {heard} datagrams answered in order")


{"answer": answer, "ask": ask}[sys.argv[1]](*sys.argv[2:])
