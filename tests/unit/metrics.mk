# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_metrics
tests/unit/test_metrics-objs := tests/unit/test_metrics.o $(metrics-objs) daemon/meter.o \
	daemon/histogram.o
tests/unit/test_metrics-deps := $(B)/libtorus.a
tests/unit/test_metrics-libs = $(call pkg-libs,cmocka jansson) $(lib-libs)
