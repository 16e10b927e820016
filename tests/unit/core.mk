# SPDX-License-Identifier: GPL-2.0-only
# Tests of the NIC core, one for each of its files.
core-test-link := tests/unit/linkpair.o tests/unit/cable.o
core-tests := wire pkt retry credit link

define core-test
tests += tests/unit/test_$(1)
tests/unit/test_$(1)-objs := tests/unit/test_$(1).o $(core-test-$(1)) $(core-objs)
tests/unit/test_$(1)-libs := $$(call pkg-libs,cmocka)
endef
$(foreach t,$(core-tests),$(eval $(call core-test,$(t))))
