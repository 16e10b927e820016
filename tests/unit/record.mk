# SPDX-License-Identifier: GPL-2.0-only
# Recordings of a manager, as lines.
tests += tests/unit/test_record
tests/unit/test_record-objs := tests/unit/test_record.o daemon/record.o $(fm-objs) $(svc-objs)
tests/unit/test_record-deps := $(B)/libtorus.a
tests/unit/test_record-libs = $(call pkg-libs,cmocka jansson) $(svc-libs) $(lib-libs)
