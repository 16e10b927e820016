# SPDX-License-Identifier: GPL-2.0-only
programs += tests/netns/rmatool
tests/netns/rmatool-objs := tests/netns/rmatool.o
tests/netns/rmatool-deps = $(B)/libtorus.a
tests/netns/rmatool-libs = $(lib-libs)
programs += tests/netns/rmahostile
tests/netns/rmahostile-objs := tests/netns/rmahostile.o
