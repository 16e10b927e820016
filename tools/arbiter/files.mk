# SPDX-License-Identifier: GPL-2.0-only
# Programs that decide which node becomes root. The one for corosync needs libquorum.
arbiters := torus-arbiter-etcd
torus-arbiter-etcd-objs := $(addprefix tools/arbiter/,etcd.o claim.o) lib/util/inifile.o lib/util/units.o
torus-arbiter-etcd-libs := $(call pkg-libs,libevent_extra libevent_core jansson inih)
torus-arbiter-corosync-objs := $(addprefix tools/arbiter/,corosync.o claim.o) lib/util/units.o
ifeq ($(shell pkg-config --exists libquorum && echo yes),yes)
arbiters += torus-arbiter-corosync
torus-arbiter-corosync-libs := $(call pkg-libs,libquorum libcorosync_common)
else ifeq ($(MAKELEVEL)$(findstring s,$(firstword -$(MAKEFLAGS))),0)
$(info torus-arbiter-corosync is not built: pkg-config does not find libquorum)
endif
programs += $(arbiters)

install-arbiter: $(addprefix $(B)/,$(arbiters))
	install -d $(DESTDIR)$(PREFIX)/libexec/torus $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 755 $^ $(DESTDIR)$(PREFIX)/libexec/torus/
	install -m 644 tools/arbiter/torus-arbiter.7 $(DESTDIR)$(PREFIX)/share/man/man7/

install: install-arbiter
.PHONY: install-arbiter
