# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_words tests/fuzz/fuzz_files
tests/fuzz/fuzz_words-objs := tests/fuzz/fuzz_words.o tools/fabricctl/number.o \
	tools/torusemu/param.o kernel/core/params.o lib/util/units.o
tests/fuzz/fuzz_words-deps := $(B)/libtorus.a
tests/fuzz/fuzz_words-libs := $(lib-libs) -lm
tests/fuzz/fuzz_files-objs := tests/fuzz/fuzz_files.o $(addprefix tools/fabricctl/,nicfile.o \
	number.o) tools/torusemu/param.o kernel/core/params.o lib/util/inifile.o lib/util/units.o tools/fabricsim/flow_trace.o
tests/fuzz/fuzz_files-deps := $(B)/libtorus.a
tests/fuzz/fuzz_files-libs := $(call pkg-libs,inih) $(lib-libs) -lm
