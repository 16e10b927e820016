# SPDX-License-Identifier: GPL-2.0-only
tests += tests/unit/test_codec tests/unit/test_codec_limits tests/unit/test_texts
tests/unit/test_codec-deps := $(B)/libtorus.a
tests/unit/test_codec-objs := tests/unit/test_codec.o tests/unit/memory.o $(svc-objs)
tests/unit/test_codec-libs = $(svc-libs) $(call pkg-libs,cmocka) \
	$(addprefix -Wl$(comma)--wrap=,malloc calloc realloc strdup free)
tests/unit/test_codec_limits-deps := $(B)/libtorus.a
tests/unit/test_codec_limits-objs := tests/unit/test_codec_limits.o $(svc-objs)
tests/unit/test_codec_limits-libs := $(svc-libs) $(call pkg-libs,cmocka)
tests/unit/test_texts-objs := tests/unit/test_texts.o daemon/texts.o
tests/unit/test_texts-libs := $(call pkg-libs,cmocka)

tests += tests/unit/test_codec_own
tests/unit/test_codec_own-deps := $(B)/libtorus.a
tests/unit/test_codec_own-objs := tests/unit/test_codec_own.o daemon/codec_own.o $(svc-objs)
tests/unit/test_codec_own-libs := $(svc-libs) $(call pkg-libs,cmocka)
