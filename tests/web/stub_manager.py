#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""stub_manager.py SOCKET SHAPE: a control socket with a fabric that is only told.

Its node 1 has a name with markup. SIGUSR1: 1000 events come, within a second. SIGUSR2: the first
cable is lost. SIGHUP: a recovery begins, and takes a step with each further SIGHUP. The manager's parts and limits of replies are kept (fabricd-control(7)).
"""
import json
import signal
import socket
import sys
import threading
import time

path, shape = sys.argv[1], [int(n) for n in sys.argv[2].split("x")]
total = 1
for size in shape:
    total *= size
HOSTILE = "<img src=x onerror=\"document.title='hit'\">"
followers, seq, lost, lock = [], 0, False, threading.Lock()


def place(n):
    at = []
    for size in shape:
        at.append(n % size)
        n //= size
    return at


def node_name(n):
    return HOSTILE if n == 1 else "n" + "-".join(map(str, place(n)))


def beside(at, dim, step):
    at = list(at)
    at[dim] = (at[dim] + step) % shape[dim]
    return at


def span(request):
    first = 0
    if "node" in request:
        at = [int(c) for c in request["node"].split(",")]
        for c, size in reversed(list(zip(at, shape))):
            first = first * size + c
        return range(first, min(total, first + request.get("count", 1)))
    return range(total)


def nodes(request):
    which = span(request)
    assert len(which) <= 4096
    return [{"node": place(n), "name": node_name(n), "id": n, "guid": f"{n:016x}", "state": "up",
             "address": "10.0.0.1", "service": "172.30.0.1:7117", "table_version": 1, "parent": None,
             "software": "0.1.0", "heard_ms": 0.1, "excluded": False, "until": None, "rootless": False}
            for n in which]


def links(request):
    ends, bad_only = [], request.get("bad")
    for n in span(request) if not bad_only else range(2 if lost else 0):
        at = place(n)
        for dim in range(len(shape)):
            for sign, step in (("+", 1), ("-", -1)):
                peer, port = beside(at, dim, step), "-+"[sign == "-"] + "xyzabc"[dim]
                bad = lost and dim == 0 and ((n == 0 and step == 1) or (n == 1 and step == -1))
                if bad_only and not bad:
                    continue
                ends.append({"node": at, "port": sign + "xyzabc"[dim], "peer": {"node": peer, "port": port},
                             "state": "faulty" if bad else "up", "state_age": 10**9, "downs": 0,
                             "reason": "carrier" if bad else "none", "held_ms": None, "excluded": None,
                             "tx_bytes": 1000 * n, "rx_bytes": 0, "retries": 0, "crc_errors": 0,
                             "seq_errors": 0, "malformed": 0, "lanes": 12, "width": 12, "rate": 6250,
                             "rate_max": 6250, "margin": 300, "rootless": False})
    assert len(ends) <= 2048, len(ends)
    return ends


def status(_):
    cables = total * len(shape)
    return {"shape": shape, "state": "degraded" if lost else "running", "table_version": 1 + lost, "fabric": "stub",
            "software": "0.1.0", "nodes": {"total": total, "up": total, "excluded": 0},
            "links": {"total": cables, "up": cables - lost, "faulty": int(lost), "excluded": 0, "wrong": 0},
            "parked_packets": 0, "relayed_pairs": 0, "problems": [], "problems_more": 0, "faulty": [],
            "faulty_more": 0, "orders": [], "orders_more": 0, "held_links": [], "last_recovery": None,
            "root": {"node": place(0), "name": node_name(0), "reachable": True}}


def jobs(request):
    """One job, of nodes 0 and 1, which are sent one at a time."""
    start = request.get("from", 0)
    members = [{"number": n, "node": place(n), "name": node_name(n), "state": "up", "excluded": False}
               for n in range(start, min(start + 1, 2))] if "name" in request else None
    return {"version": 1, "jobs": [{"name": HOSTILE, "uid": 0, "by": "n0", "since": 1, "how": "box", "nodes": 2,
                                    "up": 2, "parts": 1, "state": "runs", "members": members}]}


ANSWERS = {"status": status, "nodes": nodes, "links": links, "jobs": jobs,
           "park": lambda r: [{"node": place(0), "parked": 0, "bytes": 0, "held": 0, "flows": [], "more": 0}]}


def event(text, **more):
    global seq
    with lock:
        seq += 1
        return {"seq": seq, "time": time.time(), "node": place(0), "level": "info", "kind": "node", "text": text, **more}


def tell(e):
    line = (json.dumps({"ok": True, "data": [e], "more": True}) + "\n").encode()
    for f in list(followers):
        try:
            f.sendall(line)
        except OSError:
            followers.remove(f)


def talk(connection):
    for line in connection.makefile("rb"):
        request = json.loads(line)
        if request["cmd"] == "events":
            followers.append(connection)
            tell(event(f"a reader came, {HOSTILE}"))
            continue
        make = ANSWERS.get(request["cmd"])
        reply = {"ok": True, "data": make(request)} if make else {"ok": False, "code": "usage", "error": HOSTILE}
        connection.sendall((json.dumps(reply) + "\n").encode())


def flood():
    for i in range(1000):
        tell(event(f"event {i}"))
        time.sleep(0.0009)


def cut():
    global lost
    lost = True
    end, peer = {"node": place(0), "port": "+x"}, {"node": beside(place(0), 0, 1), "port": "-x"}
    tell(event("0:+x is lost", kind="link", link={**end, "peer": peer, "state": "lost", "reason": "carrier"}))


STEPS = ["table", "rebuilt", "drained", "replayed"]
reached = 0


def recover():
    global reached
    at = reached
    reached += 1
    if at < len(STEPS):
        tell(event(f"step {at}", kind="step", step={"version": 7, "cause": HOSTILE, "step": STEPS[at], "ms": 10.0 * (at + 1)}))
    else:
        tell(event("in force", kind="recovery", recovery={"version": 7, "duration_ms": 50.0, "parked": 3, "replayed": 3,
                                                          "lost": 0}))


signal.signal(signal.SIGHUP, lambda *_: threading.Thread(target=recover, daemon=True).start())
signal.signal(signal.SIGUSR1, lambda *_: threading.Thread(target=flood, daemon=True).start())
signal.signal(signal.SIGUSR2, lambda *_: threading.Thread(target=cut, daemon=True).start())
server = socket.socket(socket.AF_UNIX)
server.bind(path)
server.listen(64)
while True:
    threading.Thread(target=talk, args=(server.accept()[0],), daemon=True).start()
