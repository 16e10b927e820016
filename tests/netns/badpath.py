#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A path between two namespaces that damages some records of "fabricctl lab traffic".

	badpath.py NETNS ADDRESS NETNS ADDRESS [FAULT:NUMBER...]

It makes torus0 in both and passes on packets between them. To the datagram from the first
namespace that carries record NUMBER it does FAULT: lose, double, swap (with the next one), or
alter (in a way that the checksum of UDP does not detect). "tcp:NUMBER" alters the full segment of
this number in the same way. "done:NUMBER" loses as many of the answers that say that the flow is
done. Prints "ready" and runs until it is killed.
"""
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys

TUNSETIFF = 0x400454ca
IFF_TUN_NO_PI = 0x1001
CLONE_NEWNET = 0x40000000
MTU = 1500
HEAD = 24		# struct record
ANSWER = 16		# struct ack
TCP, UDP = 6, 17


def open_tun(netns, address):
    with open("/run/netns/" + netns) as ns:
        if ctypes.CDLL(None, use_errno=True).setns(ns.fileno(), CLONE_NEWNET):
            sys.exit(f"setns {netns}: {os.strerror(ctypes.get_errno())}")
    tun = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH14x", b"torus0", IFF_TUN_NO_PI))
    for words in (f"addr add {address}/32 dev torus0", f"link set torus0 mtu {MTU} up",
                  "route add 10.0.0.0/8 dev torus0"):
        subprocess.run(["ip"] + words.split(), check=True)
    return tun


def payload(packet):
    """Protocol, and where the payload begins."""
    if packet[0] >> 4 != 4:
        return 0, 0
    ip = (packet[0] & 15) * 4
    return packet[9], ip + 8 if packet[9] == UDP else ip + (packet[ip + 12] >> 4) * 4


def altered(packet):
    """One more in a word of 16 bits and one less in the next: the sum stays."""
    at = len(packet) - len(packet) % 2 - 8
    a, b = struct.unpack(">HH", packet[at:at + 4])
    return packet[:at] + struct.pack(">HH", (a + 1) % 65535, (b - 1) % 65535) + packet[at + 4:]


class Path:
    def __init__(self, faults):
        self.faults = faults
        self.segments = 0
        self.kept = None
        self.done = sum(number for what, number in faults if what == "done")

    def fault(self, packet):
        proto, at = payload(packet)
        if proto == UDP and len(packet) >= at + HEAD:
            return self.faults.pop(("udp", struct.unpack("=Q", packet[at + 8:at + 16])[0]), None)
        if proto == TCP and len(packet) == MTU:
            self.segments += 1
            return self.faults.pop(("tcp", self.segments), None)
        return None

    def answers(self, packet):
        """The same for a packet in the other direction."""
        proto, at = payload(packet)
        if self.done and proto == UDP and len(packet) == at + ANSWER and any(packet[at + 8:]):
            self.done -= 1
            return []
        return [packet]

    def passes(self, packet):
        """What comes out for this packet."""
        what = self.fault(packet)
        if what == "swap":
            self.kept = packet
        out = {"lose": [], "swap": [], "double": [packet, packet],
               "alter": [altered(packet)]}.get(what, [packet])
        if out and self.kept:
            out.append(self.kept)
            self.kept = None
        return out


def main(args):
    faults = {}
    for word in args[4:]:
        what, number = word.split(":")
        kind = what if what in ("tcp", "done") else "udp"
        faults[kind, int(number)] = "alter" if what == "tcp" else what
    near, far = open_tun(args[0], args[1]), open_tun(args[2], args[3])
    path = Path(faults)
    print("ready", flush=True)
    while True:
        for tun in select.select([near, far], [], [])[0]:
            packet = os.read(tun, 65536)
            for out in path.passes(packet) if tun == near else path.answers(packet):
                os.write(far if tun == near else near, out)


main(sys.argv[1:])
