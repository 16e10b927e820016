# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_crc32c
tests/unit/test_crc32c-objs := tests/unit/test_crc32c.o
tests/unit/test_crc32c-libs := $(call pkg-libs,cmocka)
