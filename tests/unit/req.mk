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
$(foreach t,commands dumps fence,$(eval $(call req-commands-test,$(t))))

define soft-test
tests += tests/unit/test_$(1)
tests/unit/test_$(1)-objs := $$(addprefix tests/unit/,test_$(1).o softnic.o lone.o cable.o) $$(soft-objs)
tests/unit/test_$(1)-deps := $$(B)/libtorus.a
tests/unit/test_$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs)
endef
$(foreach t,soft soft_links soft_fill soft_rma,$(eval $(call soft-test,$(t))))

# Remote memory of a software NIC by itself: stubs stand for the core and the shell.
define soft-rma-test
tests += tests/unit/test_soft_$(1)
tests/unit/test_soft_$(1)-objs := $$(addprefix tests/unit/,test_soft_$(1).o fake_service.o) \
	$$(addprefix kernel/req/soft_,rma.o region.o space.o list.o) \
	$$(addprefix kernel/core/,window.o fe.o amo.o topo.o)
tests/unit/test_soft_$(1)-libs := $$(call pkg-libs,cmocka)
endef
$(foreach t,contexts region list,$(eval $(call soft-rma-test,$(t))))
