# SPDX-License-Identifier: GPL-2.0-only
# What fabricsim's commands share, and its command flow.
tests += tests/unit/test_fabricsim
tests/unit/test_fabricsim-objs := tests/unit/test_fabricsim.o tests/unit/program.o \
	$(addprefix tools/fabricsim/,range.o jobs.o) $(addprefix tools/fabricctl/,output.o number.o) lib/util/units.o
tests/unit/test_fabricsim-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm -lpthread

tests += tests/unit/test_fabricsim_flow
tests/unit/test_fabricsim_flow-objs := tests/unit/test_fabricsim_flow.o tests/unit/program.o \
	$(sim-flow:%=tools/fabricsim/%.o) $(addprefix tools/fabricsim/,range.o jobs.o) \
	$(addprefix tools/fabricctl/,output.o number.o) lib/util/units.o kernel/core/bubble.o
tests/unit/test_fabricsim_flow-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_flow-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm -lpthread

tests += tests/unit/test_fabricsim_retry
tests/unit/test_fabricsim_retry-objs := tests/unit/test_fabricsim_retry.o tests/unit/program.o \
	$(filter-out %/retry_play.o,$(sim-retry:%=tools/fabricsim/%.o)) $(sim-core:%=kernel/core/%.o)
tests/unit/test_fabricsim_retry-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_retry-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

tests += tests/unit/test_fabricsim_train
tests/unit/test_fabricsim_train-objs := tests/unit/test_fabricsim_train.o tests/unit/program.o \
	$(sim-train:%=tools/fabricsim/%.o) daemon/quality.o daemon/wear.o \
	$(filter-out kernel/core/topo.o kernel/core/plan.o kernel/core/route.o,$(core-objs))
tests/unit/test_fabricsim_train-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_train-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

tests += tests/unit/test_fabricsim_recovery
tests/unit/test_fabricsim_recovery-objs := tests/unit/test_fabricsim_recovery.o tests/unit/program.o
tests/unit/test_fabricsim_recovery-deps := $(B)/fabricsim
tests/unit/test_fabricsim_recovery-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

tests += tests/unit/test_fabricsim_availability
tests/unit/test_fabricsim_availability-objs := tests/unit/test_fabricsim_availability.o \
	tests/unit/program.o $(sim-availability:%=tools/fabricsim/%.o) \
	$(addprefix tools/fabricsim/,range.o jobs.o) $(addprefix tools/fabricctl/,output.o number.o) lib/util/units.o
tests/unit/test_fabricsim_availability-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_availability-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm -lpthread

tests += tests/unit/test_fabricsim_route
tests/unit/test_fabricsim_route-objs := tests/unit/test_fabricsim_route.o tests/unit/program.o \
	tests/unit/naive.o tools/fabricsim/route_engine.o
tests/unit/test_fabricsim_route-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_route-libs := $(call pkg-libs,cmocka) $(lib-libs)

tests += tests/unit/test_fabricsim_translate
tests/unit/test_fabricsim_translate-objs := tests/unit/test_fabricsim_translate.o tests/unit/program.o \
	$(sim-translate:%=tools/fabricsim/%.o) kernel/core/window.o
tests/unit/test_fabricsim_translate-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_translate-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

tests += tests/unit/test_fabricsim_address
tests/unit/test_fabricsim_address-objs := tests/unit/test_fabricsim_address.o tests/unit/program.o
tests/unit/test_fabricsim_address-deps := $(B)/fabricsim
tests/unit/test_fabricsim_address-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

tests += tests/unit/test_fabricsim_grow
tests/unit/test_fabricsim_grow-objs := tests/unit/test_fabricsim_grow.o tests/unit/program.o \
	tests/unit/naive_grow.o $(sim-grow:%=tools/fabricsim/%.o) $(growth-objs)
tests/unit/test_fabricsim_grow-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_grow-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

tests += tests/unit/test_fabricsim_plot
tests/unit/test_fabricsim_plot-objs := tests/unit/test_fabricsim_plot.o tests/unit/program.o \
	tools/fabricsim/plot.o tools/fabricctl/output.o
tests/unit/test_fabricsim_plot-deps := $(B)/libtorus.a $(B)/fabricsim
tests/unit/test_fabricsim_plot-libs := $(call pkg-libs,cmocka) $(lib-libs) -lm

$(addprefix $(B)/tests/unit/,test_fabricsim.o test_fabricsim_plot.o test_fabricsim_recovery.o test_fabricsim_flow.o \
	test_fabricsim_retry.o test_fabricsim_train.o test_fabricsim_availability.o test_fabricsim_route.o \
	test_fabricsim_translate.o test_fabricsim_address.o test_fabricsim_grow.o): CPPFLAGS += $(lib-cflags)
