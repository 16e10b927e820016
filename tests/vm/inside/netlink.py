#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""
In a guest, tests of netlink that need a raw socket: a dump with a commit in between is flagged;
a listener that is too slow gets an error and can read everything again; of two writers at once
one gets an error; the counters of a NIC with 12 ports come in one datagram; a user without
privileges can change nothing, however it got its socket; no port is bound to a device of the
namespace to which its NIC is moving; a container that is given a NIC does not command it; and
events report what happens.
"""
import ctypes
import errno
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time

import nl
from nl import A, ACK, CMD, DUMP_INTR, R, REQUEST, Sock, attr, attrs, check, header, messages, perms, u16s

NODES = 16384


def version(v):
    return attr(A["TORUS_A_VERSION"], struct.pack("=Q", v))


def rows(first, row, n):
    inside = attr(R["TORUS_ROWS_FIRST"], struct.pack("=I", first)) + \
        attr(R["TORUS_ROWS_DATA"], struct.pack("=Q", row) * n)
    return attr(A["TORUS_A_ROWS"] | 0x8000, inside)


def row_of(v):
    return 1 << 56 | 15 << 12 | 15 << 16 | 1 | v << 32


def write_table(s, v):
    err = s.ask("ROWS_BEGIN", version(v))
    for first in range(0, NODES, 4096):
        err = err or s.ask("ROWS_PUT", version(v), rows(first, row_of(v), 4096))
    return err or s.ask("ROWS_COMMIT", version(v))


def port(n):
    return attr(A["TORUS_A_PORT"], bytes([n]))


def test_dump_intr(a, b):
    check("a table is written", write_table(a, 1) == 0)
    a.dump("ROWS_GET")
    flags = [f for part in a.parts() for f, _ in part]
    check("a dump in peace comes in parts", len(flags) > 3)
    check("a dump in peace is not flagged", not any(f & DUMP_INTR for f in flags))
    a.dump("ROWS_GET")
    parts = a.parts(8192)
    first = next(parts)
    check("a table is committed while another dumps", write_table(b, 2) == 0)
    rest = [f for part in parts for f, _ in part]
    check("the part before is not flagged", not any(f & DUMP_INTR for f, _ in first))
    check("what comes after it is flagged", any(f & DUMP_INTR for f in rest))
    a.dump("ROWS_GET")
    again = [(f, m) for part in a.parts() for f, m in part]
    check("a dump that is read again is not flagged", not any(f & DUMP_INTR for f, _ in again))
    data = b"".join(dict(attrs(m[A["TORUS_A_ROWS"]]))[R["TORUS_ROWS_DATA"]]
                    for _, m in again if A["TORUS_A_ROWS"] in m)
    check("a dump that is read again is whole", data == struct.pack("=Q", row_of(2)) * NODES)


def test_writers(a, b):
    check("the first begins a table", a.ask("ROWS_BEGIN", version(10)) == 0)
    check("the other begins", b.ask("ROWS_BEGIN", version(11)) == 0)
    check("the first is told with its rows",
          a.ask("ROWS_PUT", version(10), rows(0, row_of(10), 9)) == -errno.ESTALE)
    check("the other's are taken", b.ask("ROWS_PUT", version(11), rows(0, row_of(11), 9)) == 0)
    check("the first cannot commit", a.ask("ROWS_COMMIT", version(10)) == -errno.ESTALE)
    check("the other can", b.ask("ROWS_COMMIT", version(11)) == 0)
    check("the other can commit once only", b.ask("ROWS_COMMIT", version(11)) == -errno.ESTALE)


def test_writers_of_one_version(a, b):
    put = (version(12), rows(0, row_of(12), 9))
    check("one begins a version", a.ask("ROWS_BEGIN", version(12)) == 0)
    check("who did not cannot put", b.refusal("ROWS_PUT", b"".join(put))[0] == errno.ESTALE)
    check("who did not begin cannot commit", b.ask("ROWS_COMMIT", version(12)) == -errno.ESTALE)
    check("the other begins the same", b.ask("ROWS_BEGIN", version(12)) == 0)
    err, text, _ = a.refusal("ROWS_PUT", b"".join(put))
    check("the first is told that another writes", err == errno.ESTALE and "another socket" in text)
    check("the first cannot commit either", a.ask("ROWS_COMMIT", version(12)) == -errno.ESTALE)
    check("the other's rows are taken", b.ask("ROWS_PUT", *put) == 0)
    check("the other's rows are committed", b.ask("ROWS_COMMIT", version(12)) == 0)
    err, text, _ = a.refusal("ROWS_PUT", b"".join(put))
    check("rows after the commit are refused", err == errno.ESTALE and "active is 12" in text)


def half_a_table():
    """A writer that dies before its commit."""
    pid = os.fork()
    if not pid:
        sock = Sock()
        err = sock.ask("ROWS_BEGIN", version(30)) or \
            sock.ask("ROWS_PUT", version(30), rows(0, row_of(30), 4096))
        os._exit(1 if err else 0)
    return os.waitpid(pid, 0)[1] == 0


def test_dead_writer(s):
    s.dump("ROWS_GET")
    before = [m for part in s.parts() for _, m in part]
    check("a writer dies after half of a table", half_a_table())
    s.dump("ROWS_GET")
    check("nobody sees half a table", [m for part in s.parts() for _, m in part] == before)
    check("half a table stops no other writer", write_table(s, 31) == 0)
    s.dump("ROWS_GET")
    got = b"".join(dict(attrs(m[A["TORUS_A_ROWS"]]))[R["TORUS_ROWS_DATA"]]
                   for part in s.parts() for _, m in part if A["TORUS_A_ROWS"] in m)
    check("nothing of half a table is left", got == struct.pack("=Q", row_of(31)) * NODES)


def drain(sock):
    """Return: the error that ends it."""
    sock.s.setblocking(False)
    try:
        while True:
            sock.s.recv(65536)
    except OSError as e:
        return e.errno
    finally:
        sock.s.settimeout(120)


def test_overrun(a, slow):
    slow.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    slow.s.setsockopt(270, 1, slow.groups["link"])
    a.ask("LINK_ATTACH", port(0), attr(A["TORUS_A_LOWER"], b"wire\0"))
    for i in range(201):
        a.ask("LINK_SET", port(0), attr(A["TORUS_A_ADMIN"], bytes([i % 2])))
    time.sleep(0.5)  # a work sends the events
    check("a listener that is too slow finds ENOBUFS", drain(slow) == errno.ENOBUFS)
    check("a listener finds ENOBUFS once only", drain(slow) == errno.EAGAIN)
    slow.dump("LINK_GET")
    links = {m[A["TORUS_A_PORT"]][0]: m for part in slow.parts() for _, m in part if m}
    check("a listener that lost events reads all again", sorted(links) == list(range(12)))
    check("the last change shows in what is read again", links[0][A["TORUS_A_ADMIN"]] == b"\0")


def test_one_datagram():
    """The kernel makes datagrams larger for who has received with room for it: nobody here."""
    a = Sock(4096)
    a.dump("LINK_GET")
    parts = [[m for _, m in part if m] for part in a.parts(1 << 17)]
    check("12 ports come in one datagram", len(parts[0]) == 12)
    counters = [len(dict(attrs(m[A["TORUS_A_PORT_COUNTERS"]]))) for m in parts[0]]
    lines = re.search(r"TORUS_PORT_COUNTER_LIST\(X\)(.*?)\n\n", header, re.S).group(1)
    check("each port comes with all counters", set(counters) == {len(re.findall(r"\bX\(", lines))})
    lanes = [set(dict(attrs(lane))) for m in parts[0] for _, lane in attrs(m[A["TORUS_A_LANES"]])]
    every = set(range(1, nl.enum("torus_lane_attr")["__TORUS_LANE_A_MAX"]))
    check("each lane comes with all its attributes", lanes and all(lane == every for lane in lanes))


def test_six_dimensions(s):
    place = (attr(A["TORUS_A_SHAPE"], u16s(*[2] * 6)), attr(A["TORUS_A_COORDS"], u16s(*[1] * 6)))
    check("a place in six dimensions is given", s.ask("DEVICE_SET", *place) == 0)
    node = s.get("DEVICE_GET")[A["TORUS_A_NODE"]]
    check("a place in six dimensions is that of the last node",
          int.from_bytes(node, "little") == 2**6 - 1)


def nobody():
    os.setgid(65534)
    os.setuid(65534)


def no_user():
    """Root of a user namespace of its own, which our network does not belong to."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x10000000):
        raise OSError(ctypes.get_errno(), "unshare")


def lent():
    """Opened by nobody, written by root, as a program with setuid can be made to."""
    os.setresuid(65534, 65534, 0)
    sock = Sock()
    os.setresuid(0, 0, 0)
    return sock


def stranger():
    nobody()
    return Sock()


def other_root():
    no_user()
    return Sock()


def dropped():
    sock = Sock()
    nobody()
    return sock


def answers(become, bodies):
    """Return: command to error, as the process that @become makes is answered."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        sock = become()
        os.write(w, json.dumps({c: sock.ask(c, *b) for c, b in bodies.items()}).encode())
        os._exit(0)
    os.close(w)
    said = os.read(r, 65536)
    os.waitpid(pid, 0)
    return json.loads(said or "{}")


def state(s):
    """All that sets can change; counters, gauges and ages go on by themselves."""
    moving = [A["TORUS_A_" + n]
              for n in ("PORT_COUNTERS", "GAUGES", "NODE_COUNTERS", "STATE_AGE", "UPTIME")]
    all_of = []
    for cmd in "DEVICE_GET", "LINK_GET", "ROWS_GET":
        s.dump(cmd)
        all_of += [{k: v for k, v in m.items() if k not in moving}
                   for part in s.parts() for _, m in part]
    s.send(s.family, CMD["TORUS_CMD_PARK_GET"], b"", REQUEST)
    return all_of + [dict(attrs(d[4:])) for _, _, d in messages(s.s.recv(65536))]


def listens(become):
    """Return: group to error, as the process that @become makes is answered that joins it."""
    r, w = os.pipe()
    pid = os.fork()
    if not pid:
        sock, said = become(), {}
        for name, number in sock.groups.items():
            try:
                sock.s.setsockopt(270, 1, number)
                said[name] = 0
            except OSError as e:
                said[name] = e.errno
        os.write(w, json.dumps(said).encode())
        os._exit(0)
    os.close(w)
    said = os.read(r, 65536)
    os.waitpid(pid, 0)
    return json.loads(said or "{}")


def test_listeners():
    for become in stranger, other_root:
        said = listens(become)
        check(f"{become.__name__}: may listen to events, but not to management packets",
              said == {"link": 0, "park": 0, "mgmt": errno.EPERM} or print(said))
    check("root may listen to all", set(listens(Sock).values()) == {0})


def test_privilege(s):
    u8 = lambda name, v: attr(A["TORUS_A_" + name], bytes([v]))
    bodies = {
        "DEVICE_SET": [u8("BOOTSTRAP", 1)],
        "LINK_SET": [port(1), u8("ADMIN", 0)],
        "LINK_ATTACH": [port(2), attr(A["TORUS_A_LOWER"], b"wire2\0")],
        "ROWS_BEGIN": [version(40)],
        "ROWS_PUT": [version(40), rows(0, row_of(7), 9)],
        "ROWS_COMMIT": [version(40)],
        "HOLD": [attr(A["TORUS_A_NODES"], struct.pack("=I", 3))],
        "RELEASE": [version(40)],
        "PARK_RESOLVE": [port(0), attr(A["TORUS_A_SESSION"], struct.pack("=I", 1))],
        "PARK_REPLAY": [version(40), attr(A["TORUS_A_PORTS"], u16s(1))],
        "MGMT_SEND": [port(0), attr(A["TORUS_A_DATA"], b"hello")],
    }
    check("every set is tried", set(bodies) == set(re.findall(r"PERM_(\w+) = GENL", perms)))
    before = state(s)
    for become in stranger, other_root, dropped, lent:
        said = answers(become, bodies)
        check(f"{become.__name__}: every set is refused for want of privilege",
              said == {c: -errno.EPERM for c in bodies} or print(said))
    check("refused sets change nothing", state(s) == before)
    said = answers(Sock, bodies)
    check("the same of root are done; there is only no link for a message",
          said == {c: -errno.ENETDOWN if c == "MGMT_SEND" else 0 for c in bodies} or print(said))
    check("sets of root change the state", state(s) != before)


def setns(path):
    with open(path) as ns:
        if ctypes.CDLL(None, use_errno=True).setns(ns.fileno(), 0x40000000):
            raise OSError(ctypes.get_errno(), "setns")


def rtnl():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.bind((0, 0))
    s.settimeout(120)
    return s


def move(s, name, fd):
    """Return: 0 or -errno of RTM_SETLINK with IFLA_NET_NS_FD."""
    data = bytes(16) + attr(3, name) + attr(28, struct.pack("=I", fd))
    s.send(struct.pack("=IHHII", 16 + len(data), 19, REQUEST | ACK, 1, 0) + data)
    return struct.unpack_from("=i", s.recv(65536), 16)[0]


def attaches(until):
    """A process that wants what is only there. Return: its pid; it ends with 1 if it got it."""
    pid = os.fork()
    if pid:
        return pid
    s, body = Sock(), (attr(A["TORUS_A_NAME"], b"mover\0"), port(0), attr(A["TORUS_A_LOWER"], b"there\0"))
    got = 0
    while not os.path.exists(until):
        got |= s.ask("LINK_ATTACH", *body) == 0
    os._exit(got)


def test_moves():
    until = "/tmp/moved"
    os.system("ip netns add there; ip -n there link add there mtu 9000 up type dummy;"
              "ip link add mover type torus")
    here, there, s = os.open("/proc/self/ns/net", 0), os.open("/run/netns/there", 0), rtnl()
    pids = [attaches(until) for _ in range(2)]
    setns("/run/netns/there")
    away = rtnl()
    moved = [move(s, b"mover\0", there) or move(away, b"mover\0", here) for _ in range(50)]
    open(until, "w").close()
    check("a NIC moves there and back", not any(moved) or print(moved))
    check("who commands here gets no device from there", not any([os.waitpid(p, 0)[1] for p in pids]))


def test_same_number():
    """A NIC goes to another namespace while one writes, where a socket has the writer's number."""
    os.system("ip netns add far; ip link add far type torus")
    nic, put = attr(A["TORUS_A_NAME"], b"far\0"), (version(1), rows(0, row_of(1), 4))
    one, far = Sock(number=77777), os.open("/run/netns/far", 0)
    check("a NIC is placed", one.ask("DEVICE_SET", nic, attr(A["TORUS_A_SHAPE"], u16s(4)),
                                     attr(A["TORUS_A_COORDS"], u16s(0))) == 0)
    check("one begins to write its rows", one.ask("ROWS_BEGIN", nic, version(1)) == 0)
    check("it moves away", move(rtnl(), b"far\0", far) == 0)
    pid = os.fork()
    if not pid:
        setns("/run/netns/far")
        other = Sock(number=77777)
        err, text, _ = other.refusal("ROWS_PUT", nic + b"".join(put))
        os._exit(err != errno.ESTALE or "another socket" not in text or
                 other.ask("ROWS_BEGIN", nic, version(1)) or other.ask("ROWS_PUT", nic, *put) != 0)
    check("a socket of the same number there is another writer", os.waitpid(pid, 0)[1] == 0)
    os.system("ip -n far link del far")


def contained(uid=0):
    """Root of a container of a user: of a user namespace that owns a network namespace."""
    if uid:
        os.setgid(uid)
        os.setuid(uid)
        ctypes.CDLL(None).prctl(4, 1)  # PR_SET_DUMPABLE: its files in /proc are its own
    if ctypes.CDLL(None, use_errno=True).unshare(0x50000000):
        raise OSError(ctypes.get_errno(), "unshare")
    for name, text in ("uid_map", f"0 {uid} 1"), ("setgroups", "deny"), ("gid_map", f"0 {uid} 1"):
        with open(f"/proc/self/{name}", "w") as to:
            to.write(text)


USER = 1000


def full(uid=0):
    """Return: whether a container of the user may have no NIC, because of the number."""
    pid = os.fork()
    if not pid:
        contained(uid)
        os._exit(os.system("ip link add own type torus 2>&1 | grep -q 'have 64 NICs'") != 0)
    return os.waitpid(pid, 0)[1] == 0


def container(given, report):
    """Waits for a NIC, and then does with it, and with one of its own, what it may."""
    contained(USER)
    os.write(report, b"here\n")
    os.read(given, 1)
    u8 = lambda name, v: attr(A["TORUS_A_" + name], bytes([v]))
    fault = attr(A["TORUS_A_FAULT"] | 0x8000, attr(nl.enum("torus_fault_attr")["TORUS_FAULT_SILENCE"], b"\1"))
    s = Sock()
    said = {
        "reads": 0 if s.get("DEVICE_GET") else -1,
        "changes": s.refusal("LINK_SET", port(1) + u8("ADMIN", 0)),
        "detaches": s.ask("LINK_ATTACH", port(0), attr(A["TORUS_A_LOWER"], b"\0")),
        "writes": s.ask("ROWS_BEGIN", version(20)),
        "makes": os.system("ip link add own type torus"),
    }
    make = f"{os.environ['B']}/fabricctl device add %s --set %s >/dev/null"
    said["small"] = os.system(make % ("small", "hold_bytes=1M"))
    said["large"] = [os.system(make % ("large", more) + " 2>&1") != 0 for more in
                     ("hold_bytes=25M", "relay_packets=4097", "slots=257", "retry_packets=257",
                      "park_bytes=257M")]
    n, why = 0, (0, "")
    while n < 100 and not why[0]:
        why = subprocess.getstatusoutput(make % (f"n{n} --ports 2", "park_bytes=64K"))
        n += not why[0]
    said["many"] = n + 2, why[1]
    said["nested"] = full()
    os.write(report, json.dumps(said).encode())
    os.read(given, 1)
    said["one less"] = os.system("ip link del n0 && " + make % ("n0 --ports 2", "park_bytes=64K"))
    own = attr(A["TORUS_A_NAME"], b"own\0")
    said["changes own"] = s.ask("LINK_SET", own, port(1), u8("ADMIN", 0))
    said["faults"] = s.refusal("LINK_SET", own + port(1) + fault)
    os.write(report, json.dumps(said).encode())
    os.read(given, 1)
    os._exit(0)


def test_container():
    """A container that is given a NIC uses it; only its maker commands it."""
    (given, give), (said, report) = os.pipe(), os.pipe()
    os.system("ip link add gift type torus")
    pid = os.fork()
    if not pid:
        container(given, report)
    os.read(said, 5)
    there = os.open(f"/proc/{pid}/ns/net", 0)
    check("a NIC is given to a container", move(rtnl(), b"gift\0", there) == 0)
    os.write(give, b"!")
    got = json.loads(os.read(said, 65536))
    check("it has 64 NICs at most", got["many"][0] == 64 or print(got["many"]))
    check("a container and those in it have 64 NICs together", got["nested"])
    check("all containers of a user have 64 NICs together", full(USER))
    check("containers of root have more than 64 NICs", not full())
    os.write(give, b"!")
    got = json.loads(os.read(said, 65536))
    check("the container sees the NIC", got["reads"] == 0)
    check("the container may not change ports of the NIC", got["changes"][0] == errno.EPERM and
          "user namespace" in got["changes"][1] or print(got["changes"]))
    check("the container may not detach cables of the NIC", got["detaches"] == -errno.EPERM)
    check("the container may not write rows of the NIC", got["writes"] == -errno.EPERM)
    check("the container commands its own NIC", got["makes"] == 0 and got["changes own"] == 0)
    check("the container may make a NIC with less memory than by default", got["small"] == 0)
    check("the container may not make a NIC with more memory",
          all(got["large"]) or print(got["large"]))
    check("the container may make one more NIC after one less", got["one less"] == 0)
    check("root of the host has more", all(os.system(f"ip link add h{n} type torus") == 0
                                           for n in range(2)))
    os.system("ip link del h0; ip link del h1")
    err, text, name = got["faults"]
    check("the container may not order faults", (err, name) == (errno.EPERM, A["TORUS_A_FAULT"]) and
          "initial user namespace" in text or print(got["faults"]))
    pid2 = os.fork()
    if not pid2:
        setns(f"/proc/{pid}/ns/net")
        os._exit(Sock().ask("LINK_SET", attr(A["TORUS_A_NAME"], b"gift\0"), port(1),
                            attr(A["TORUS_A_ADMIN"], b"\0")) != 0)
    check("root of the host still commands the NIC there", os.waitpid(pid2, 0)[1] == 0)
    os.write(give, b"!")
    os.waitpid(pid, 0)
    os.close(there)


def events(s, cmd, index, until):
    """Those of a command and NIC that s hears, until one fits; each with its attributes."""
    heard, index = [], struct.pack("=I", index)
    while not heard or not until(heard[-1]):
        found = [dict(attrs(d[4:])) for _, _, d in messages(s.s.recv(65536))
                 if d[0] == CMD["TORUS_CMD_" + cmd]]
        heard += [m for m in found if m[A["TORUS_A_IFINDEX"]] == index]
    return heard


def test_events():
    """A cable from port 3 to port 5 of one NIC: what is said of it, and what comes over it."""
    def attach(n, name):
        return s.ask("LINK_ATTACH", nic, port(n), attr(A["TORUS_A_LOWER"], name + b"\0"))

    def number(m, name):
        return int.from_bytes(m[A["TORUS_A_" + name]], "little")

    os.system("ip link add events type torus; ip link add end3 mtu 9000 up type veth peer name end5 mtu 9000;"
              "ip link set end5 up")
    s, links, mgmt, nic = Sock(), Sock(), Sock(), attr(A["TORUS_A_NAME"], b"events\0")
    links.s.setsockopt(270, 1, links.groups["link"])
    mgmt.s.setsockopt(270, 1, mgmt.groups["mgmt"])
    state_of, up = nl.enum("torus_link_state"), set()
    check("a cable is attached", attach(3, b"end3") == 0 and attach(5, b"end5") == 0)

    def both_up(m):
        if m[A["TORUS_A_STATE"]][0] == state_of["TORUS_LINK_UP"]:
            up.add(m[A["TORUS_A_PORT"]][0])
        return up == {3, 5}

    index = socket.if_nametoindex("events")
    heard = events(links, "LINK_NTF", index, both_up)
    for n, name in (3, b"end3\0"), (5, b"end5\0"):
        mine = [m for m in heard if number(m, "PORT") == n]
        states = [number(m, "STATE") for m in mine]
        check(f"port {n} comes up step by step, from down", [number(m, "OLD_STATE") for m in mine] ==
              [state_of["TORUS_LINK_DOWN"]] + states[:-1] or print(states))
        check("each event of the link tells its device",
              {m[A["TORUS_A_LOWER"]] for m in mine} == {name})
        link = s.get("LINK_GET", nic, port(n))
        for what in "SESSION", "PEER_GUID", "PEER_PORT", "CARRIER", "ADMIN", "RETRY":
            check(f"{what} is that which LINK_GET tells",
                  number(link, what) == number(mine[-1], what) or print(number(mine[-1], what)))
        check("the link knows its other end", number(link, "PEER_PORT") == 8 - n and
              number(link, "PEER_GUID") == number(s.get("DEVICE_GET", nic), "GUID"))
    data = bytes(range(1, 200))
    check("a management packet is sent", s.ask("MGMT_SEND", nic, port(3), attr(A["TORUS_A_DATA"], data)) == 0)
    got = events(mgmt, "MGMT_NTF", index, lambda m: True)[-1]
    check("a management packet arrives whole at the other end",
          (number(got, "PORT"), got[A["TORUS_A_DATA"]]) == (5, data))
    check("the cable is detached", attach(3, b"") == 0)
    last = events(links, "LINK_NTF", index, lambda m: number(m, "PORT") == 3)[-1]
    check("the event of a detached cable has no device",
          (number(last, "OLD_STATE"), last[A["TORUS_A_LOWER"]]) ==
          (state_of["TORUS_LINK_UP"], b"\0") and number(last, "CARRIER") == 0)
    os.system("ip link del events; ip link del end3")


first, second = Sock(), Sock()
place = (attr(A["TORUS_A_SHAPE"], u16s(128, 128, 1, 1, 1, 1)[:4]),
         attr(A["TORUS_A_COORDS"], u16s(0, 0)))
test_six_dimensions(first)
check("the NIC is placed", first.ask("DEVICE_SET", *place) == 0)
test_dump_intr(first, second)
test_writers(first, second)
test_writers_of_one_version(first, second)
test_dead_writer(second)
test_overrun(first, Sock())
test_one_datagram()
test_privilege(second)
test_listeners()
test_events()
test_moves()
test_same_number()
test_container()
nl.done_testing()
