# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_core
tests/bench/bench_core-objs := tests/bench/bench_core.o $(core-objs)
