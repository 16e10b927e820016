# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_svc tests/fuzz/fuzz_init
tests/fuzz/fuzz_svc-objs := tests/fuzz/fuzz_svc.o $(fm-objs) $(svc-objs)
tests/fuzz/fuzz_svc-deps := $(B)/libtorus.a
tests/fuzz/fuzz_svc-libs := $(svc-libs)
tests/fuzz/fuzz_init-objs := tests/fuzz/fuzz_init.o daemon/fm/wire/init.o daemon/fm/grow/packet.o
