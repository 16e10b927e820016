# SPDX-License-Identifier: GPL-2.0-only
# lib/util; inifile is tested by its users' tests, test_config and test_nicfile.
tests += tests/unit/test_units
tests/unit/test_units-objs := tests/unit/test_units.o lib/util/units.o
tests/unit/test_units-libs := $(call pkg-libs,cmocka)

tests += tests/unit/test_hash
tests/unit/test_hash-objs := tests/unit/test_hash.o lib/util/hash.o
tests/unit/test_hash-libs := $(call pkg-libs,cmocka) -Wl,--wrap=calloc

tests += tests/unit/test_systemd
tests/unit/test_systemd-objs := tests/unit/test_systemd.o lib/util/systemd.o
tests/unit/test_systemd-libs := $(call pkg-libs,cmocka) -Wl,--wrap=sendmsg
