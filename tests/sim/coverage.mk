# SPDX-License-Identifier: GPL-2.0-only
tests += tests/sim/test_coverage
tests/sim/test_coverage-objs := tests/sim/test_coverage.o tools/fabricsim/route_fabric.o tools/fabricsim/route_engine.o \
	tools/fabricsim/jobs.o tools/fabricctl/output.o
tests/sim/test_coverage-deps := $(B)/libtorus.a
tests/sim/test_coverage-libs := $(call pkg-libs,cmocka) $(lib-libs) -lpthread
