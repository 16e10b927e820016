# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_dm
tests/bench/bench_dm-objs := tests/bench/bench_dm.o
tests/bench/bench_dm-deps := $(B)/libtorus.a
tests/bench/bench_dm-libs := $(lib-libs)
