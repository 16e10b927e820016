# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_link
tests/bench/bench_link-objs := tests/bench/bench_link.o $(core-objs)
