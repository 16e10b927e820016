# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/nlfuzz
tests/vm/nlfuzz-objs := tests/vm/nlfuzz.o $(req-objs)
tests/vm/nlfuzz-libs := $(call pkg-libs,libnl-genl-3.0)
$(B)/tests/vm/nlfuzz.o: CPPFLAGS += $(call pkg-cflags,libnl-genl-3.0)
