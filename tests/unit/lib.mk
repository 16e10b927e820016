# SPDX-License-Identifier: GPL-2.0-only
# Tests of libtorus and of the part of the core that it shares.
lib-tests := test_topo test_route test_topology test_rows test_client test_fabric
test_client-extra := tests/unit/fake_nic.o
tests += $(addprefix tests/unit/,$(lib-tests))

define lib-test
tests/unit/$(1)-objs := tests/unit/$(1).o $$($(1)-extra)
tests/unit/$(1)-deps := $$(B)/libtorus.a
tests/unit/$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs)
endef
$(foreach t,$(lib-tests),$(eval $(call lib-test,$(t))))

$(addprefix $(B)/tests/unit/,test_client.o fake_nic.o): CPPFLAGS += $(lib-cflags)
