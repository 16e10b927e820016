# SPDX-License-Identifier: GPL-2.0-only
# torus-req-objs: what torus.ko, torusemu and libtorus do with netlink attributes, for Kbuild and the
# top-level Makefile both.
torus-req-objs := attr.o rules.o policy.o trees.o tree.o
# What the two NICs do besides: commands, and the software NIC that obeys them.
torus-nic-req-objs := request.o request_device.o request_link.o request_rows.o request_park.o \
	fence.o soft.o soft_fill.o soft_rma.o soft_region.o soft_space.o soft_list.o
