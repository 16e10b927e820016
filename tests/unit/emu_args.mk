# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_emu_args
tests/unit/test_emu_args-objs := tests/unit/test_emu_args.o tools/torusemu/args.o \
	tools/torusemu/param.o tools/torusemu/log.o kernel/core/params.o lib/util/units.o
tests/unit/test_emu_args-deps := $(B)/libtorus.a
tests/unit/test_emu_args-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm
