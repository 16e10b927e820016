# SPDX-License-Identifier: GPL-2.0-only
# What torus.ko, torusemu and libtorus do with netlink attributes, for Kbuild and the
# top-level Makefile both.
torus-req-objs := attr.o rules.o policy.o
