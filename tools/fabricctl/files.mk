# SPDX-License-Identifier: GPL-2.0-only
# Commands first, in the order in which help lists them; then what they share.
ctl-commands :=
ctl-lab := up down exec
ctl-shared := main command say number json \
	lab labfile names netns wire raise node enter proc teardown fault

programs += fabricctl
fabricctl-objs := $(ctl-commands:%=tools/fabricctl/cmd_%.o) \
	$(ctl-lab:%=tools/fabricctl/lab_%.o) $(ctl-shared:%=tools/fabricctl/%.o)
fabricctl-deps := $(B)/libtorus.a
fabricctl-libs := $(lib-libs) $(call pkg-libs,libnl-route-3.0) -lm

$(B)/tools/fabricctl/%.o: CPPFLAGS += $(call pkg-cflags,libnl-route-3.0 jansson)
