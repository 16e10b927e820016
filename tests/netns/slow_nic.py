#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Stands before the socket of a NIC and delays its answers, or loses some.

	slow_nic.py NIC SOCKET DIR

Requests that come at SOCKET pass at once to the socket NIC, notifications likewise; each answer
waits for as many milliseconds as the file DIR/delay says. While the number in DIR/lose is above
0, an answer is lost, and the number becomes smaller by one. Prints "ready" and runs until it is
killed.
"""
import os
import socket
import struct
import sys
import threading
import time

MESSAGE_MAX = 1 << 17
lock = threading.Lock()


def number(path):
    try:
        with open(path) as f:
            return int(f.read() or 0)
    except FileNotFoundError:
        return 0


def lose(path):
    with lock:
        n = number(path)
        if n > 0:
            with open(path + ".new", "w") as f:
                f.write(str(n - 1))
            os.rename(path + ".new", path)
        return n > 0


def is_answer(data):
    return struct.unpack_from("=IHHII", data)[3] != 0


def carry(source, sink, where):
    try:
        while data := source.recv(MESSAGE_MAX):
            if where and is_answer(data):
                time.sleep(number(where + "/delay") / 1000)
                if lose(where + "/lose"):
                    continue
            sink.send(data)
    except OSError:
        pass
    for s in (source, sink):
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    nic, path, where = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(path)
    listener.listen()
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server.connect(nic)
        for args in ((client, server, None), (server, client, where)):
            threading.Thread(target=carry, args=args, daemon=True).start()


main()
