# SPDX-License-Identifier: GPL-2.0-only
# Tests of the host side of a NIC: one for each of its files.
host-tests := send lane lanes chain unreach fault clock

define host-test
tests += tests/unit/test_host_$(1)
tests/unit/test_host_$(1)-objs := tests/unit/test_host_$(1).o tests/unit/host_shell.o $(host-objs) \
	kernel/core/topo.o kernel/core/plan.o
tests/unit/test_host_$(1)-deps := $$(B)/libtorus.a
tests/unit/test_host_$(1)-libs := $$(call pkg-libs,cmocka) $$(lib-libs)
endef
$(foreach t,$(host-tests),$(eval $(call host-test,$(t))))
