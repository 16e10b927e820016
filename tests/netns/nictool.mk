# SPDX-License-Identifier: GPL-2.0-only
programs += tests/netns/nictool
tests/netns/nictool-objs := tests/netns/nictool.o
tests/netns/nictool-deps = $(B)/libtorus.a
tests/netns/nictool-libs = $(lib-libs)
