#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""odd_manager.py SOCKET: a control socket that answers large, or a byte each second.

nodes: 4 MB; links: 14 MB; rows: bytes without end, one a second; park: an empty answer after
half a second; events: one event, then nothing; anything else: an empty answer at once.
"""
import json
import os
import socket
import sys
import threading
import time

LARGE = (json.dumps({"ok": True, "data": ["x" * 1000] * 4000}) + "\n").encode()
HUGE = (json.dumps({"ok": True, "data": ["x" * 1000] * 14000}) + "\n").encode()
EVENT = {"seq": 1, "time": 1000.5, "node": [0, 0], "level": "info", "kind": "log", "text": "hello"}


def trickle(connection):
    connection.sendall(b'{"ok":true,"data":"')
    while True:
        connection.sendall(b"x")
        time.sleep(1)


def talk(connection):
    try:
        for line in connection.makefile("rb"):
            request = json.loads(line)
            if request["cmd"] == "rows":
                trickle(connection)
            elif request["cmd"] == "events":
                connection.sendall((json.dumps({"ok": True, "data": [EVENT], "more": True}) + "\n").encode())
            else:
                if request["cmd"] == "park":
                    time.sleep(0.5)
                connection.sendall({"nodes": LARGE, "links": HUGE}.get(request["cmd"], b'{"ok":true,"data":{}}\n'))
    except (BrokenPipeError, ConnectionResetError):
        pass


server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1] + ".new")
server.listen(64)
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
