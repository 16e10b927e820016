# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_fe
tests/bench/bench_fe-objs := tests/bench/bench_fe.o kernel/core/fe.o kernel/core/amo.o
