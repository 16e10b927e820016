# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_due
tests/unit/test_emu_due-objs := tests/unit/test_emu_due.o tools/torusemu/due.o
tests/unit/test_emu_due-libs := $(call pkg-libs,cmocka)
