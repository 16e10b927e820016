# SPDX-License-Identifier: GPL-2.0-only
define req-test
tests += tests/unit/test_req_$(1)
tests/unit/test_req_$(1)-objs := tests/unit/test_req_$(1).o $$(req-objs)
tests/unit/test_req_$(1)-libs := $$(call pkg-libs,cmocka)
endef
$(foreach t,policy tree,$(eval $(call req-test,$(t))))

define req-commands-test
tests += tests/unit/test_req_$(1)
tests/unit/test_req_$(1)-objs := tests/unit/test_req_$(1).o tests/unit/recorder.o $$(soft-objs)
tests/unit/test_req_$(1)-libs := $$(call pkg-libs,cmocka)
endef
$(foreach t,commands dumps,$(eval $(call req-commands-test,$(t))))

tests += tests/unit/test_soft_fill
tests/unit/test_soft_fill-objs := tests/unit/test_soft_fill.o tests/unit/lone.o tests/unit/cable.o \
	$(soft-objs)
tests/unit/test_soft_fill-deps := $(B)/libtorus.a
tests/unit/test_soft_fill-libs := $(call pkg-libs,cmocka) $(lib-libs)
