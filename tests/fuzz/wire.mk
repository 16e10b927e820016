# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_wire
tests/fuzz/fuzz_wire-objs := tests/fuzz/fuzz_wire.o $(core-objs)
