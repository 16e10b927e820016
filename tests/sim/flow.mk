# SPDX-License-Identifier: GPL-2.0-only
# The flow simulator of fabricsim against a slow one.
flow-test-objs := $(sim-flow-engine:%=tools/fabricsim/%.o) kernel/core/bubble.o

tests += tests/sim/test_flow_naive
tests/sim/test_flow_naive-objs := tests/sim/test_flow_naive.o tests/sim/flow_naive.o \
	$(flow-test-objs)
tests/sim/test_flow_naive-deps := $(B)/libtorus.a
tests/sim/test_flow_naive-libs := $(lib-libs) $(call pkg-libs,cmocka) -lm

tests += tests/sim/test_flow_physics
tests/sim/test_flow_physics-objs := tests/sim/test_flow_physics.o $(flow-test-objs)
tests/sim/test_flow_physics-deps := $(B)/libtorus.a
tests/sim/test_flow_physics-libs := $(lib-libs) $(call pkg-libs,cmocka) -lm
