# SPDX-License-Identifier: GPL-2.0-only
# fabricweb links OpenSSL, so nothing in it may be under GPL-2.0 alone: web-common, the metrics, and
# of libtorus what these need (tests/static/test_fabricweb.sh).
web-common := $(addprefix tools/fabricweb/,request.o reply.o ring.o limit.o source.o users.o) \
	$(metrics-objs) lib/util/units.o
web-pkgs := libevent_extra libevent_core libevent_openssl libssl libcrypto jansson inih libcrypt

programs += fabricweb
fabricweb-objs := $(addprefix tools/fabricweb/,main.o conf.o server.o visit.o http.o \
	control.o body.o arena.o feed.o files.o tls.o hasher.o logline.o) \
	$(web-common) lib/util/inifile.o
fabricweb-deps := $(B)/libtorus.a
fabricweb-libs := $(call pkg-libs,$(web-pkgs)) $(lib-libs) -lm

$(B)/tools/fabricweb/%.o: CPPFLAGS += $(call pkg-cflags,$(web-pkgs))
$(B)/tools/fabricweb/files.o: $(wildcard tools/fabricweb/page/*)

install-fabricweb: $(B)/fabricweb
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man8 \
		$(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(COMPLETIONDIR) $(DESTDIR)$(UNITDIR) \
		$(DESTDIR)$(ZSHCOMPLETIONDIR) \
		$(DESTDIR)$(PREFIX)/share/doc/fabricweb
	install -m 755 $(B)/fabricweb $(DESTDIR)$(PREFIX)/bin/
	install -m 644 tools/fabricweb/fabricweb.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	install -m 644 tools/fabricweb/fabricweb.conf.5 $(DESTDIR)$(PREFIX)/share/man/man5/
	install -m 644 tools/fabricweb/fabricweb.conf $(DESTDIR)$(PREFIX)/share/doc/fabricweb/
	install -m 644 tools/fabricweb/fabricweb.bash $(DESTDIR)$(COMPLETIONDIR)/fabricweb
	install -m 644 tools/fabricweb/fabricweb.zsh $(DESTDIR)$(ZSHCOMPLETIONDIR)/_fabricweb
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@OF@||' -e 's|@CONFIG@|$(SYSCONFDIR)/fabricweb.conf|' \
		tools/fabricweb/fabricweb.service.in > $(DESTDIR)$(UNITDIR)/fabricweb.service
	sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@OF@| (%i)|' -e 's|@CONFIG@|$(SYSCONFDIR)/fabricweb-%i.conf|' \
		tools/fabricweb/fabricweb.service.in > $(DESTDIR)$(UNITDIR)/fabricweb@.service
	test -e $(DESTDIR)$(SYSCONFDIR)/fabricweb.conf || \
		install -D -m 644 tools/fabricweb/fabricweb.conf $(DESTDIR)$(SYSCONFDIR)/fabricweb.conf

install: install-fabricweb
.PHONY: install-fabricweb
