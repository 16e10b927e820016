# SPDX-License-Identifier: GPL-2.0-only
# Sources of the NIC's host side, for Kbuild and the top-level Makefile both.
torus-host-objs := send.o lane.o chain.o unreach.o fault.o clock.o
