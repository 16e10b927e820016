# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_fault
tests/unit/test_emu_fault-objs := tests/unit/test_emu_fault.o \
	tools/torusemu/fault.o tools/torusemu/pool.o
tests/unit/test_emu_fault-libs := $(call pkg-libs,cmocka)
