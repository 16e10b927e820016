# SPDX-License-Identifier: GPL-2.0-only
"""
inorder.py receive ADDRESS COUNT | send ADDRESS COUNT: numbered datagrams of many sizes. All
must arrive once, whole and in order, however long they were under way.
"""
import socket
import sys

PORT = 7002
PATIENCE = 120  # seconds


def datagram(n):
    number = n.to_bytes(4, "little")
    return number + bytes([n & 255]) * (n * 1237 % 9000)


def receive(address, count):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
    s.bind((address, PORT))
    s.settimeout(PATIENCE)
    print("listening", flush=True)
    for n in range(count):
        got = s.recv(65536)
        if got != datagram(n):
            sys.exit(f"datagram {n}: {len(got)} bytes of number {int.from_bytes(got[:4], 'little')}")
    print("all", flush=True)


def send(address, count):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for n in range(count):
        s.sendto(datagram(n), (address, PORT))


{"receive": receive, "send": send}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
