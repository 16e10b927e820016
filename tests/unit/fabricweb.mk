# SPDX-License-Identifier: GPL-2.0-only
define fabricweb-test
tests += tests/unit/$(1)
tests/unit/$(1)-objs := tests/unit/$(1).o $$(web-common)
tests/unit/$(1)-deps := $$(B)/libtorus.a
tests/unit/$(1)-libs = $$(call pkg-libs,cmocka libcrypto libcrypt) $$(lib-libs)
$$(B)/tests/unit/$(1).o: CPPFLAGS += $$(call pkg-cflags,jansson)
endef
$(foreach t,test_fabricweb_request test_fabricweb_ring test_fabricweb_limit test_fabricweb_users \
	test_fabricweb_source, $(eval $(call fabricweb-test,$(t))))

tests += tests/unit/test_fabricweb_body
tests/unit/test_fabricweb_body-objs := tests/unit/test_fabricweb_body.o tools/fabricweb/body.o
tests/unit/test_fabricweb_body-libs = $(call pkg-libs,cmocka libevent_core)

tests += tests/unit/test_fabricweb_arena
tests/unit/test_fabricweb_arena-objs := tests/unit/test_fabricweb_arena.o tools/fabricweb/arena.o
tests/unit/test_fabricweb_arena-libs = $(call pkg-libs,cmocka jansson)

tests += tests/unit/test_fabricweb_logline
tests/unit/test_fabricweb_logline-objs := tests/unit/test_fabricweb_logline.o tools/fabricweb/logline.o $(web-common)
tests/unit/test_fabricweb_logline-deps := $(B)/libtorus.a
tests/unit/test_fabricweb_logline-libs = $(call pkg-libs,cmocka libcrypto libcrypt) $(lib-libs)
$(B)/tests/unit/test_fabricweb_logline.o: CPPFLAGS += $(call pkg-cflags,jansson)

tests += tests/unit/test_fabricweb_hasher
tests/unit/test_fabricweb_hasher-objs := tests/unit/test_fabricweb_hasher.o \
	$(addprefix tools/fabricweb/,hasher.o source.o)
tests/unit/test_fabricweb_hasher-libs = $(call pkg-libs,cmocka libevent_core libcrypto) -lpthread
