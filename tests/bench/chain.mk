# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bare
tests/bench/bare-objs := tests/bench/bare.o

programs += tests/bench/udp_rate
tests/bench/udp_rate-objs := tests/bench/udp_rate.o

programs += tests/bench/readers
tests/bench/readers-objs := tests/bench/readers.o
tests/bench/readers-deps = $(B)/libtorus.a
tests/bench/readers-libs = $(lib-libs)

programs += tests/bench/udp_ask
tests/bench/udp_ask-objs := tests/bench/udp_ask.o
