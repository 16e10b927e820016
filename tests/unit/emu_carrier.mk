# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_carrier
tests/unit/test_emu_carrier-objs := tests/unit/test_emu_carrier.o tools/torusemu/carrier.o \
	tools/torusemu/loop.o kernel/host/clock.o
tests/unit/test_emu_carrier-libs := $(call pkg-libs,cmocka) -lpthread
