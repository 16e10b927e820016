# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/rma_rate
tests/bench/rma_rate-objs := tests/bench/rma_rate.o
tests/bench/rma_rate-deps := $(B)/libtorus.a
tests/bench/rma_rate-libs := $(lib-libs)

programs += tests/bench/tcp_rate
tests/bench/tcp_rate-objs := tests/bench/tcp_rate.o
