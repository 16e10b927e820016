# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_nic_messages
tests/fuzz/fuzz_nic_messages-objs = tests/fuzz/fuzz_nic_messages.o $(torusemu-common)
tests/fuzz/fuzz_nic_messages-libs = $(torusemu-libs)
$(B)/tests/fuzz/fuzz_nic_messages.o: CPPFLAGS += $(call pkg-cflags,$(torusemu-pkgs))
