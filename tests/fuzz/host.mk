# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_host
tests/fuzz/fuzz_host-objs := tests/fuzz/fuzz_host.o $(host-objs) kernel/core/topo.o kernel/core/plan.o
