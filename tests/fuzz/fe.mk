# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_fe
tests/fuzz/fuzz_fe-objs := tests/fuzz/fuzz_fe.o kernel/core/fe.o kernel/core/amo.o
