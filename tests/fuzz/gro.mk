# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_gro
tests/fuzz/fuzz_gro-objs := tests/fuzz/fuzz_gro.o tools/torusemu/gro.o
