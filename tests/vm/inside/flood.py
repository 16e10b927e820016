# SPDX-License-Identifier: GPL-2.0-only
"""
flood.py [--wait] ADDRESS...: sends UDP datagrams of all sizes to each in turn, and ignores errors.
With --wait it sleeps while the socket is full; else it tries the next datagram at once.
"""
import socket
import sys

addresses = sys.argv[1:]
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if addresses[0] == "--wait":
    del addresses[0]
else:
    s.setblocking(False)
size = 1
while True:
    for address in addresses:
        try:
            s.sendto(bytes(size), (address, 9))
        except OSError:
            pass
    size = size * 3 % 60013
