# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_host
tests/bench/bench_host-objs := tests/bench/bench_host.o tools/torusemu/gro.o
