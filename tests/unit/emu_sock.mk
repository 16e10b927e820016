# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_sock
tests/unit/test_emu_sock-objs := tests/unit/test_emu_sock.o tools/torusemu/sock.o
tests/unit/test_emu_sock-libs := $(call pkg-libs,cmocka)
