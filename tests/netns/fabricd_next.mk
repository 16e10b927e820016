# SPDX-License-Identifier: GPL-2.0-only
# fabricd of the release before and of the one after, for rolling updates: SCHEMAS_name are the oldest and the
# newest schema that each speaks.
SCHEMAS_prev := 5 5
SCHEMAS_next := 6 8

define fabricd-release
programs += tests/netns/fabricd_$(1)
tests/netns/fabricd_$(1)-objs = tests/netns/fabricd_$(1).o $$(filter-out daemon/schema.o,$$(fabricd-objs))
tests/netns/fabricd_$(1)-deps = $$(fabricd-deps)
tests/netns/fabricd_$(1)-libs = $$(fabricd-libs) $(2)
$$(B)/tests/netns/fabricd_$(1).o: CPPFLAGS += -DSCHEMA_OLDEST=$(word 1,$(SCHEMAS_$(1))) -DSCHEMA_NEWEST=$(word 2,$(SCHEMAS_$(1)))
endef
$(eval $(call fabricd-release,prev))
$(eval $(call fabricd-release,next,-Wl$$(comma)--wrap=svc_msg_pack))
