# SPDX-License-Identifier: GPL-2.0-only
# fabricd. fabricd-common is everything but main, for the tests.
include daemon/fm/files.mk

fabricd-common := $(addprefix daemon/,loop.o histogram.o meter.o stream.o log.o events.o history_file.o history_filter.o history.o history_write.o history_search.o keeper.o answer_history.o address.o service_network.o config.o config_dump.o \
	frame.o codec_own.o schema.o auth.o auth_key.o seal.o linktest.o tester.o lower.o module.o plug.o svc.o nic.o nic_call.o nicq.o line.o quality.o wear.o slow.o errors.o stall.o stall_walk.o hotplug.o wall.o thread.o machine.o \
	record.o record_ops.o recorder.o state.o arbiter.o query.o \
	answer.o answer_args.o answer_fabric.o answer_table.o answer_exclude.o answer_job.o answer_root.o \
	answer_links.o answer_port.o answer_test.o answer_plug.o answer_rows.o answer_nic.o answer_part.o answer_gather.o question.o answer_log.o answer_config.o answer_metrics.o answer_wait.o control.o priv.o) lib/util/inifile.o lib/util/units.o lib/util/systemd.o lib/deps/crc32c.o \
	$(fm-objs) $(svc-objs)
fabricd-pkgs := libevent_core jansson inih libudev libgcrypt libprotobuf-c

# The manager is one piece; without it there is nothing to run.
ifneq ($(fm-objs),)
programs += fabricd
endif
fabricd-objs := daemon/main.o $(fabricd-common)
fabricd-deps := $(B)/libtorus.a
fabricd-libs = $(call pkg-libs,$(fabricd-pkgs)) $(lib-libs)

$(B)/daemon/lower.o: CPPFLAGS += $(lib-cflags)

UNITDIR ?= $(PREFIX)/lib/systemd/system
SYSCONFDIR ?= /etc

install-fabricd: $(B)/fabricd
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/share/man/man8 \
		$(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(PREFIX)/share/man/man7 \
		$(DESTDIR)$(UNITDIR) $(DESTDIR)$(PREFIX)/share/doc/fabricd
	install -m 755 $(B)/fabricd $(DESTDIR)$(PREFIX)/sbin/
	sed -e 's|@PREFIX@|$(PREFIX)|' daemon/fabricd.service.in \
		> $(DESTDIR)$(UNITDIR)/fabricd.service
	install -m 644 daemon/fabricd.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	install -m 644 daemon/fabricd.conf.5 $(DESTDIR)$(PREFIX)/share/man/man5/
	install -m 644 daemon/fabricd-control.7 $(DESTDIR)$(PREFIX)/share/man/man7/
	install -m 644 daemon/fabricd.conf $(DESTDIR)$(PREFIX)/share/doc/fabricd/
	test -e $(DESTDIR)$(SYSCONFDIR)/fabricd.conf || \
		install -D -m 644 daemon/fabricd.conf $(DESTDIR)$(SYSCONFDIR)/fabricd.conf

install: install-fabricd
.PHONY: install-fabricd
