# SPDX-License-Identifier: GPL-2.0-only
# How a program decides which node becomes root.
install-arbiter:
	install -d $(DESTDIR)$(PREFIX)/share/man/man7
	install -m 644 tools/arbiter/torus-arbiter.7 $(DESTDIR)$(PREFIX)/share/man/man7/

install: install-arbiter
.PHONY: install-arbiter
