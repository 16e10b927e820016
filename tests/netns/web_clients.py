#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Many or odd clients of an HTTP server on this machine.

    web_clients.py PORT idle N          opens N connections one after the other and sends nothing;
                                        prints how many got 503, how many were ended without it, and
                                        how many are open; keeps these until its input ends
    web_clients.py PORT refused N       opens N connections and asks for / on each, as nobody; prints
                                        how many got 401; keeps them until its input ends
    web_clients.py PORT events N PATH   opens N streams of /events, creates PATH, and reads until
                                        each has had that a cable is lost; prints how many, keeps
                                        them until its input ends
    web_clients.py PORT slow            a request of one byte each tenth of a second: prints when the
                                        server closes the connection
    web_clients.py PORT pipeline        two requests at once on one connection: prints the statuses
    web_clients.py PORT deaf            asks for events, never reads, and sends more and more
    web_clients.py PORT hold N PATH [HOST] opens N connections, asks for PATH on each, in which {} becomes
                                        the number of the connection, reads nothing, and prints N;
                                        keeps these until its input ends; HOST: where the server is,
                                        and the clients are at the address after that
    web_clients.py PORT raw             sends standard input, prints the first line of the answer
    web_clients.py PORT all             the same, and prints the statuses until the server closes
"""
import ipaddress
import re
import resource
import select
import socket
import sys
import time

PATIENCE = 120    # seconds; a busy machine may take long for anything

port, verb = int(sys.argv[1]), sys.argv[2]


def connect():
    return socket.create_connection(("127.0.0.1", port), PATIENCE)


def idle(n):
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, n + 50), most))
    poll, kept, refused, ended = select.poll(), {}, 0, 0
    for _ in range(n):
        s = connect()
        kept[s.fileno()] = s
        poll.register(s, select.POLLIN)
    end = time.time() + PATIENCE
    while len(kept) > 256 and time.time() < end:
        for fd, _ in poll.poll(200):
            try:
                answer = kept[fd].recv(100)
                refused += answer.startswith(b"HTTP/1.1 503")
                ended += not answer
            except ConnectionResetError:
                pass
            poll.unregister(fd)
            kept.pop(fd).close()
    print(refused, ended, len(kept))
    sys.stdout.flush()
    sys.stdin.read()


def refused(n):
    kept = [connect() for _ in range(n)]
    for s in kept:
        s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    print(sum(s.recv(1000).startswith(b"HTTP/1.1 401") for s in kept))
    sys.stdout.flush()
    sys.stdin.read()


def events(n, path):
    streams = []
    for _ in range(n):
        s = connect()
        s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        streams.append(s)
    for s in streams:
        s.recv(100000)
    open(path, "w", encoding="utf-8").close()
    got = {s: b"" for s in streams}
    end = time.time() + PATIENCE
    while time.time() < end and streams:
        for s in select.select(streams, [], [], 0.2)[0]:
            more = s.recv(100000)
            got[s] += more
            if not more or b"is lost" in got[s]:
                streams.remove(s)
    print(sum(b"is lost" in v for v in got.values()))
    sys.stdout.flush()
    sys.stdin.read()


def slow():
    s = connect()
    begin = time.time()
    try:
        while time.time() < begin + 60:
            s.sendall(b"G" if time.time() == begin else b"x")
            if select.select([s], [], [], 0.1)[0] and not s.recv(1000):
                break
    except (BrokenPipeError, ConnectionResetError):
        pass
    print(int(time.time() - begin))


def pipeline():
    s = connect()
    one = b"GET /api/status HTTP/1.1\r\nHost: localhost\r\n\r\n"
    s.sendall(one + one + b"GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    data = b""
    while True:
        more = s.recv(100000)
        if not more:
            break
        data += more
    print(*re.findall("HTTP/1.1 ([0-9]+)", data.decode()))


def everything():
    s = connect()
    s.sendall(sys.stdin.buffer.read())
    data = b""
    while more := s.recv(100000):
        data += more
    print(*re.findall("HTTP/1.[01] ([0-9]+)", data.decode(errors="replace")))


def deaf():
    s = connect()
    s.sendall(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    s.settimeout(2)
    try:
        for _ in range(1000):
            s.sendall(b"x" * 65536)    # this is not read, and may not fill the server's memory
    except (TimeoutError, BrokenPipeError, ConnectionResetError):
        pass
    print("held back")


def hold(n, path, host="127.0.0.1"):
    kept = []
    own = str(ipaddress.ip_address(host) + 1)
    for i in range(n):
        s = socket.socket()
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)    # what is not read stays in the server
        s.bind((own, 0))
        s.connect((host, port))
        s.sendall(f"GET {path.format(i)} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        kept.append(s)
    print(n)
    sys.stdout.flush()
    sys.stdin.read()


def raw():
    s = connect()
    s.sendall(sys.stdin.buffer.read())
    try:
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass    # the server has closed the connection already
    print(s.recv(200).split(b"\r\n")[0].decode(errors="replace"))


if verb == "idle":
    idle(int(sys.argv[3]))
elif verb == "refused":
    refused(int(sys.argv[3]))
elif verb == "all":
    everything()
elif verb == "hold":
    hold(int(sys.argv[3]), *sys.argv[4:])
elif verb == "events":
    events(int(sys.argv[3]), sys.argv[4])
else:
    {"slow": slow, "pipeline": pipeline, "deaf": deaf, "raw": raw}[verb]()
