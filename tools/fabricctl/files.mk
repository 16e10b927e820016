# SPDX-License-Identifier: GPL-2.0-only
# Commands first, in the order in which help lists them; then what they share.
ctl-commands := status root nodes links cabling inventory table counters metrics routes trace verify exclude include drain park \
	events outages diff report config coord map export log regions windows
ctl-lab := up down list status exec hosts agent cut mend swap silence ber vb latency line \
	retry kill pause revive replace traffic
ctl-link := down up eye retrain retry test locate module
ctl-job := start list show hosts verify stop
ctl-device := up check owner add del list attach detach
ctl-shared := main program command output kind table number json ask wave local show map change orders cabling dry_run rows path \
	lab labfile labconf names netns wire device nicfile nic nic_args nic_user \
	nic_packed nic_kernel raise node node_proc power revive enter launcher proc teardown await moment past follow concern replace slurm outages difference report report_html job \
	appgraph slots rankfile hook hook_follow web errors next fault cable line root tested both traffic_record traffic_judge traffic_udp \
	traffic_tcp traffic_rma memory

include tools/metrics/files.mk

programs += fabricctl
fabricctl-objs := $(ctl-commands:%=tools/fabricctl/cmd_%.o) \
	$(ctl-lab:%=tools/fabricctl/lab_%.o) $(ctl-device:%=tools/fabricctl/device_%.o) \
	$(ctl-link:%=tools/fabricctl/link_%.o) $(ctl-job:%=tools/fabricctl/job_%.o) \
	$(ctl-shared:%=tools/fabricctl/%.o) \
	$(metrics-objs) tools/torusemu/guid.o tools/torusemu/param.o kernel/core/params.o lib/util/inifile.o lib/util/units.o \
	lib/deps/crc32c.o
fabricctl-deps := $(B)/libtorus.a
fabricctl-libs := $(lib-libs) $(call pkg-libs,libnl-route-3.0 inih) -lm

$(B)/tools/fabricctl/%.o: CPPFLAGS += $(call pkg-cflags,libnl-route-3.0 jansson)

COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPLETIONDIR ?= $(PREFIX)/share/zsh/site-functions

install-fabricctl: $(B)/fabricctl
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man8 \
		$(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(COMPLETIONDIR) \
		$(DESTDIR)$(ZSHCOMPLETIONDIR) $(DESTDIR)$(UNITDIR) $(DESTDIR)$(PREFIX)/lib/udev/rules.d \
		$(DESTDIR)$(PREFIX)/share/doc/fabricctl $(DESTDIR)$(PREFIX)/share/fabricctl/schema \
		$(DESTDIR)$(PREFIX)/libexec/torus $(DESTDIR)$(SYSCONFDIR)/torus
	install -m 755 $(B)/fabricctl $(DESTDIR)$(PREFIX)/bin/
	install -m 755 tools/fabricctl/slurm-prolog tools/fabricctl/slurm-epilog \
		tools/fabricctl/slurm-hook $(DESTDIR)$(PREFIX)/libexec/torus/
	install -m 644 tools/fabricctl/fabricctl.8 $(DESTDIR)$(PREFIX)/share/man/man8/
	install -m 644 tools/fabricctl/torus-nic.conf.5 $(DESTDIR)$(PREFIX)/share/man/man5/
	install -m 644 tools/fabricctl/schema/*.json $(DESTDIR)$(PREFIX)/share/fabricctl/schema/
	install -m 644 tools/fabricctl/torus0.conf tools/metrics/torus.rules.yml \
		tools/metrics/torus.dashboard.json $(DESTDIR)$(PREFIX)/share/doc/fabricctl/
	sed -e 's|@PREFIX@|$(PREFIX)|' tools/fabricctl/torus-nic@.service.in \
		> $(DESTDIR)$(UNITDIR)/torus-nic@.service
	sed -e 's|@PREFIX@|$(PREFIX)|' tools/fabricctl/torus-hook.service.in \
		> $(DESTDIR)$(UNITDIR)/torus-hook.service
	sed -e 's|@PREFIX@|$(PREFIX)|' tools/fabricctl/90-torus-ports.rules.in \
		> $(DESTDIR)$(PREFIX)/lib/udev/rules.d/90-torus-ports.rules
	install -m 644 tools/fabricctl/fabricctl.bash $(DESTDIR)$(COMPLETIONDIR)/fabricctl
	install -m 644 tools/fabricctl/fabricctl.zsh $(DESTDIR)$(ZSHCOMPLETIONDIR)/_fabricctl

install: install-fabricctl
.PHONY: install-fabricctl
