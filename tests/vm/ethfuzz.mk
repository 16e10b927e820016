# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/ethfuzz
tests/vm/ethfuzz-objs := tests/vm/ethfuzz.o
tests/vm/ethfuzz-libs := $(call pkg-libs,libnl-genl-3.0)
$(B)/tests/vm/ethfuzz.o: CPPFLAGS += $(call pkg-cflags,libnl-genl-3.0)
