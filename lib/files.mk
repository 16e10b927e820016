# SPDX-License-Identifier: GPL-2.0-only
# libtorus. Programs of this repository link the static one:
#	NAME-deps := $(B)/libtorus.a
#	NAME-libs := $(lib-libs)
lib-objs := lib/topology.o lib/names.o lib/route/health.o lib/route/rows.o lib/route/walk.o \
	lib/client.o lib/device.o lib/links.o lib/rows.o lib/park.o lib/events.o \
	lib/transport-unix.o lib/transport-genl.o \
	kernel/core/topo.o kernel/core/route.o
lib-cflags := $(call pkg-cflags,libnl-genl-3.0 jansson)
lib-libs := $(call pkg-libs,libnl-genl-3.0 jansson)
lib-targets := $(B)/libtorus.a

$(B)/libtorus.a: $(addprefix $(B)/,$(lib-objs))
	@mkdir -p $(@D)
	rm -f $@ && $(AR) rcs $@ $^

$(B)/lib/%.o: CPPFLAGS += $(lib-cflags)
