# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_step
tests/unit/test_emu_step-objs := tests/unit/test_emu_step.o tools/torusemu/emu.o \
	tools/torusemu/pool.o kernel/host/lane.o
tests/unit/test_emu_step-libs := $(call pkg-libs,cmocka)
$(B)/tests/unit/test_emu_step.o: CPPFLAGS += $(lib-cflags)
