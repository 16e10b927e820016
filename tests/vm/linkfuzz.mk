# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/linkfuzz
tests/vm/linkfuzz-objs := tests/vm/linkfuzz.o
tests/vm/linkfuzz-libs := $(call pkg-libs,libnl-3.0)
$(B)/tests/vm/linkfuzz.o: CPPFLAGS += $(call pkg-cflags,libnl-3.0)
