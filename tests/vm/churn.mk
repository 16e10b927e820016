# SPDX-License-Identifier: GPL-2.0-only
tests += tests/vm/churn
tests/vm/churn-objs := tests/vm/churn.o tools/torusemu/param.o kernel/core/params.o lib/util/units.o \
	$(addprefix tools/fabricctl/,device.o kind.o netns.o proc.o number.o output.o wire.o)
tests/vm/churn-deps := $(B)/libtorus.a
tests/vm/churn-libs := $(call pkg-libs,libnl-route-3.0) $(lib-libs) -lm
