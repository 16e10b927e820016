# SPDX-License-Identifier: GPL-2.0-only
fuzzers += tests/fuzz/fuzz_web
tests/fuzz/fuzz_web-objs := tests/fuzz/fuzz_web.o $(web-common)
tests/fuzz/fuzz_web-deps := $(B)/libtorus.a
tests/fuzz/fuzz_web-libs = $(call pkg-libs,libcrypto libcrypt) $(lib-libs)
