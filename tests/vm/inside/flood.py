# SPDX-License-Identifier: GPL-2.0-only
"""flood.py ADDRESS...: sends UDP datagrams of all sizes to each in turn, and ignores errors."""
import socket
import sys

s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setblocking(False)
size = 1
while True:
    for address in sys.argv[1:]:
        try:
            s.sendto(bytes(size), (address, 9))
        except OSError:
            pass
    size = size * 3 % 60013
