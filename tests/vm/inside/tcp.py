# SPDX-License-Identifier: GPL-2.0-only
"""
tcp.py receive ADDRESS | send ADDRESS MEGABYTES: both print the data's hash. With the name of
a file instead of MEGABYTES it sends until that file exists.
"""
import hashlib
import os
import socket
import sys

PORT = 7000
# Seconds without progress. Scripts stop a flow on purpose while they look at other things, which takes
# minutes on a busy machine; the guest's own limit is not much longer.
PATIENCE = 600


def receive(address):
    server = socket.create_server((address, PORT))
    print("listening", flush=True)
    server.settimeout(PATIENCE)
    connection, _ = server.accept()
    print("connected", flush=True)
    connection.settimeout(PATIENCE)
    hashed = hashlib.sha256()
    while data := connection.recv(1 << 20):
        hashed.update(data)
    print(hashed.hexdigest(), flush=True)


def blocks(until):
    if until.isdigit():
        yield from range(int(until))
        return
    i = 0
    while not os.path.exists(until):
        yield i
        i += 1


def send(address, until):
    connection = socket.create_connection((address, PORT), PATIENCE)
    block, hashed = os.urandom(1 << 20), hashlib.sha256()
    for i in blocks(until):
        data = i.to_bytes(8, "little") + block[8:]
        hashed.update(data)
        connection.sendall(data)
    connection.close()
    print(hashed.hexdigest(), flush=True)


{"receive": receive, "send": send}[sys.argv[1]](*sys.argv[2:])
