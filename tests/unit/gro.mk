# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_gro
tests/unit/test_gro-objs := tests/unit/test_gro.o tools/torusemu/gro.o
tests/unit/test_gro-libs := $(call pkg-libs,cmocka)
