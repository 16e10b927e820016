# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_route
tests/bench/bench_route-objs := tests/bench/bench_route.o
tests/bench/bench_route-deps := $(B)/libtorus.a
tests/bench/bench_route-libs := $(lib-libs)
