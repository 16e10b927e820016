# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_loop
tests/unit/test_emu_loop-objs := tests/unit/test_emu_loop.o tools/torusemu/loop.o \
	kernel/host/clock.o
tests/unit/test_emu_loop-libs := $(call pkg-libs,cmocka)
