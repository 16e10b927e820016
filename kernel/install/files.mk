# SPDX-License-Identifier: GPL-2.0-only
# What the driver needs on its machine besides the module: this folder's files; and
# DKMS, which builds the module anew for every kernel that is installed.

SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system

install-driver:
	install -d $(DESTDIR)$(PREFIX)/share/man/man4 $(DESTDIR)$(PREFIX)/lib/udev/rules.d \
		$(DESTDIR)$(PREFIX)/lib/systemd/network
	install -m 644 kernel/install/torus.4 $(DESTDIR)$(PREFIX)/share/man/man4/
	install -m 644 kernel/install/70-torus.rules $(DESTDIR)$(PREFIX)/lib/udev/rules.d/
	install -m 644 kernel/install/70-torus.network $(DESTDIR)$(PREFIX)/lib/systemd/network/

install: install-driver

# For the running kernel, or for KREL if that is said.
dkms-kernel := $(if $(filter command environment,$(firstword $(origin KREL))),-k $(KREL))
# What Kbuild includes and compiles, and what that includes; without the test suites.
dkms-dir := $(DESTDIR)/usr/src/torus-$(VERSION)
dkms-files := Kbuild dkms.conf LICENSE $(wildcard include/uapi/*.h) \
	$(addprefix include/torus/,reply.h uapi.h torus_abi.h) \
	$(shell find kernel \( -name '*.[ch]' -o -path 'kernel/*/files.mk' \) ! -path 'kernel/install/*' \
		! -path 'kernel/kunit/*')

dkms-install:
	rm -rf $(dkms-dir)
	install -d $(dkms-dir)
	cp --parents $(dkms-files) $(dkms-dir)
	$(if $(DESTDIR),,dkms install --force torus/$(VERSION) $(dkms-kernel))

dkms-uninstall:
	$(if $(DESTDIR),,-dkms remove torus/$(VERSION) --all)
	rm -rf $(dkms-dir)

.PHONY: install-driver dkms-install dkms-uninstall
