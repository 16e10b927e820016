# SPDX-License-Identifier: GPL-2.0-only
programs += tests/bench/bench_flow
tests/bench/bench_flow-objs := tests/bench/bench_flow.o tests/sim/flow_naive.o \
	$(sim-flow-engine:%=tools/fabricsim/%.o) \
	$(addprefix tools/fabricsim/,flow_sweep.o jobs.o) tools/fabricctl/output.o \
	kernel/core/bubble.o
tests/bench/bench_flow-deps := $(B)/libtorus.a
tests/bench/bench_flow-libs := $(lib-libs) -lm -lpthread
