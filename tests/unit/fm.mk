# SPDX-License-Identifier: GPL-2.0-only
# Parts of the manager by themselves; what they call of the rest is in the tests.
tests += tests/unit/test_conns
tests/unit/test_conns-objs := tests/unit/test_conns.o daemon/fm/node/conns.o
tests/unit/test_conns-libs := $(call pkg-libs,cmocka)

tests += tests/unit/test_judge
tests/unit/test_judge-objs := tests/unit/test_judge.o daemon/fm/root/judge.o
tests/unit/test_judge-libs := $(call pkg-libs,cmocka)

tests += tests/unit/test_settle
tests/unit/test_settle-objs := tests/unit/test_settle.o daemon/fm/root/settle.o
tests/unit/test_settle-libs := $(call pkg-libs,cmocka)

# A whole manager, of which the test is the NIC and all other nodes.
one-fm-objs := tests/unit/one_fm.o $(fm-objs)
one-fm-tests := drain bounds steps sums publish member
tests += $(one-fm-tests:%=tests/unit/test_%)

define one-fm-test
tests/unit/test_$(1)-objs := tests/unit/test_$(1).o $(one-fm-objs)
tests/unit/test_$(1)-deps := $$(B)/libtorus.a
tests/unit/test_$(1)-libs := $$(call pkg-libs,cmocka)
endef
$(foreach t,$(one-fm-tests),$(eval $(call one-fm-test,$(t))))
