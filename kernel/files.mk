# SPDX-License-Identifier: GPL-2.0-only
# torus.ko for the running kernel, or for KREL, or for the one built in KDIR. It is
# built in a copy of the sources, so that kernels do not mix and the checkout stays
# clean. DKMS and tests run kbuild themselves: Kbuild needs nothing from here.

KREL ?= $(shell for r in $$(uname -r) $$(ls -v /lib/modules | tac); do \
	test -e /lib/modules/$$r/build && echo $$r && break; done)
KDIR ?= /lib/modules/$(KREL)/build
SPARSE ?=
KBUILD_DIR := $(B)/kmod-$(KREL)
kbuild = $(MAKE) -C $(KDIR) M=$(abspath $(KBUILD_DIR)) $(if $(SPARSE),C=2) \
	$(if $(V),V=1,--no-print-directory -s)

# Files that are gone here are gone there too; those that are not keep their objects.
modules:
	@test -e $(KDIR)/Makefile || { echo "no headers of kernel '$(KREL)' in $(KDIR):" \
		"install linux-headers-$(KREL), or set KREL or KDIR" >&2; exit 1; }
	$(Q)mkdir -p $(KBUILD_DIR)
	$(Q)find $(KBUILD_DIR) -name '*.[ch]' ! -name '*.mod.c' | while read -r f; do \
		test -e "$${f#$(KBUILD_DIR)/}" || rm -f "$$f"; done
	$(Q)cp -u --parents Kbuild dkms.conf $$(find kernel include -name '*.[ch]' -o -name files.mk) \
		$(KBUILD_DIR)
	$(call say,KBUILD,$(KBUILD_DIR)/torus.ko)
	+$(Q)$(kbuild) W=1 modules

modules_install: modules
	+$(Q)$(kbuild) $(if $(DESTDIR),INSTALL_MOD_PATH=$(abspath $(DESTDIR))) modules_install

.PHONY: modules modules_install
