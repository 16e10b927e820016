# SPDX-License-Identifier: GPL-2.0-only
# Tests of libtorus and of the part of the core that it shares.
lib-tests := test_topo test_route test_topology test_rows
tests += $(addprefix tests/unit/,$(lib-tests))

define lib-test
tests/unit/$(1)-objs := tests/unit/$(1).o
tests/unit/$(1)-deps := $$(B)/libtorus.a
tests/unit/$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs)
endef
$(foreach t,$(lib-tests),$(eval $(call lib-test,$(t))))
