# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_msg
tests/unit/test_emu_msg-objs := tests/unit/test_emu_msg.o tools/torusemu/msg.o \
	tools/torusemu/pool.o $(host-objs) kernel/core/topo.o kernel/core/plan.o
tests/unit/test_emu_msg-libs := $(call pkg-libs,cmocka)
