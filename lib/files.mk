# SPDX-License-Identifier: GPL-2.0-only
# libtorus. Programs of this repository link the static one:
#	NAME-deps := $(B)/libtorus.a
#	NAME-libs := $(lib-libs)
lib-objs := lib/topology.o lib/plan.o lib/route/health.o lib/route/search.o lib/route/detour.o \
	lib/route/box.o lib/route/plain.o lib/route/relay.o lib/route/routes.o lib/route/walk.o \
	lib/route/deps.o lib/route/verify.o \
	lib/route/dm.o lib/route/dm_dominant.o lib/route/dm_exact.o lib/route/dm_table.o lib/route/dm_torus.o \
	lib/map/score.o lib/map/fold.o lib/map/anneal.o lib/map/improve.o \
	lib/client.o lib/refusal.o lib/transport-unix.o lib/transport-genl.o lib/names.o \
	lib/device.o lib/links.o lib/serdes.o lib/rows.o lib/park.o lib/events.o \
	lib/netdev.o lib/fabric.o lib/rma.o lib/rma_call.o lib/rma_ring.o lib/window.o \
	kernel/core/window.o kernel/core/topo.o kernel/core/plan.o kernel/core/route.o $(req-objs)
lib-cflags := $(call pkg-cflags,libnl-genl-3.0 jansson)
lib-libs := $(call pkg-libs,libnl-genl-3.0 jansson)
lib-so := libtorus.so.$(VERSION)
lib-soname := libtorus.so.0
lib-targets := $(B)/libtorus.a $(B)/$(lib-so)
LIBDIR ?= $(PREFIX)/lib

# libtorus.map alone says what is public, so the objects leave it open.
$(B)/lib/%.o: CPPFLAGS += $(lib-cflags)
$(B)/lib/%.o: CFLAGS += -fvisibility=default -fno-semantic-interposition

$(B)/libtorus.a: $(addprefix $(B)/,$(lib-objs))
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

# A sanitized library gets the sanitizer's symbols from the program.
$(B)/$(lib-so): $(addprefix $(B)/,$(lib-objs)) lib/libtorus.map
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -shared $(LDFLAGS) -Wl,-soname,$(lib-soname) \
		-Wl,--version-script,lib/libtorus.map $(if $(SANFLAGS),,-Wl,-z,defs) \
		-o $@ $(filter %.o,$^) $(lib-libs)

install-lib: $(lib-targets)
	install -d $(DESTDIR)$(LIBDIR)/pkgconfig $(DESTDIR)$(PREFIX)/include/torus \
		$(DESTDIR)$(PREFIX)/share/man/man3
	install -m 644 $(B)/libtorus.a $(B)/$(lib-so) $(DESTDIR)$(LIBDIR)/
	ln -sf $(lib-so) $(DESTDIR)$(LIBDIR)/$(lib-soname)
	ln -sf $(lib-soname) $(DESTDIR)$(LIBDIR)/libtorus.so
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(LIBDIR)|' \
		-e 's|@VERSION@|$(VERSION)|' lib/libtorus.pc.in \
		> $(DESTDIR)$(LIBDIR)/pkgconfig/libtorus.pc
	install -m 644 $(filter-out include/torus/uapi.h,$(wildcard include/torus/*.h)) \
		$(DESTDIR)$(PREFIX)/include/torus/
	install -m 644 include/uapi/torus.h $(DESTDIR)$(PREFIX)/include/torus/uapi.h
	install -m 644 lib/libtorus.3 lib/libtorus-rma.3 $(DESTDIR)$(PREFIX)/share/man/man3/

install: install-lib
.PHONY: install-lib
