# SPDX-License-Identifier: GPL-2.0-only
#
# make            everything, into build/
# make B=DIR      ... into DIR
# make SAN=1      ... with AddressSanitizer and UBSan, into build-san/
# make ASSERT=1   ... with assertions, as SAN=1 has them (lib/deps/invariant.h); B= says where
# make CC=clang   ... with clang
# make V=1        ... showing every command
# make check      the tests that need no privileges
# make install    PREFIX=/usr DESTDIR=
# make modules    torus.ko for kernel KREL, into build/kmod-KREL/; SPARSE=1 checks it
# make modules_install    ... and into /lib/modules
# make uninstall  removes that, but keeps configuration
# make doc        documents and manual pages as HTML, into build/doc/; needs cmark-gfm and mandoc
# make dkms-install, dkms-uninstall    the driver, for each kernel that comes
#
# Each folder lists its sources in a files.mk; a program NAME is declared by
# NAME-objs (paths from the top) and NAME-libs, and by adding NAME to programs.

VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
PREFIX ?= /usr
SAN ?=
ASSERT ?= $(SAN)
V ?=
B ?= $(if $(SAN),build-san,build)
CC := gcc
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wwrite-strings -Wvla -Wimplicit-fallthrough -Werror
OPT ?= $(if $(SAN),-O1 -g1,-O2 -g)
SANFLAGS := $(if $(SAN),-fsanitize=address -fsanitize=undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
assert-flags = $(if $(ASSERT),-DTORUS_ASSERT)
CPPFLAGS += $(assert-flags) -D_GNU_SOURCE -DTORUS_VERSION='"$(VERSION)"' -Iinclude -Ilib/deps -I$(B)/gen -I.
CFLAGS += -std=gnu11 $(OPT) $(WARN) -fPIC -fvisibility=hidden $(SANFLAGS)
LDFLAGS += $(SANFLAGS)

pkg-cflags = $(shell pkg-config --cflags $(1))
pkg-libs = $(shell pkg-config --libs $(1))

# One line a step, or with V=1 the command itself.
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' $(1) $(2))

programs :=
tests :=
all:

include kernel/files.mk
include kernel/install/files.mk

# Who builds nothing but the driver has none of the libraries.
ifneq ($(filter-out modules% dkms-%,$(or $(MAKECMDGOALS),all)),)
include kernel/core/files.mk
include kernel/host/files.mk
include kernel/req/files.mk
core-objs := $(addprefix kernel/core/,$(tn-core-objs)) lib/deps/crc32c.o
host-objs := $(addprefix kernel/host/,$(torus-host-objs))
req-objs := $(addprefix kernel/req/,$(torus-req-objs))
nic-req-objs := $(req-objs) $(addprefix kernel/req/,$(torus-nic-req-objs))
soft-objs := $(host-objs) $(core-objs) $(nic-req-objs)
include lib/files.mk
include lib/mpi/files.mk
include daemon/files.mk
include tools/torusemu/files.mk
include tools/arbiter/files.mk
include tools/fabricctl/files.mk
include tools/fabricweb/files.mk
include tools/fabricsim/files.mk
include tests/files.mk
endif

# The core and its host side: conversions count, and nothing but what tn_deps.h lists.
$(B)/kernel/core/%.o $(B)/kernel/host/%.o: CFLAGS += -Wconversion -ffreestanding -fno-builtin-printf
$(B)/kernel/core/%.o $(B)/kernel/host/%.o: CPPFLAGS = $(assert-flags) -Ilib/deps
$(B)/kernel/req/%.o: CFLAGS += -Wconversion -ffreestanding
$(B)/kernel/req/%.o: CPPFLAGS = $(assert-flags) -Ilib/deps -Ikernel

all: $(addprefix $(B)/,$(programs)) $(lib-targets)

define program-rule
$(B)/$(1): $(addprefix $(B)/,$($(1)-objs)) $($(1)-deps)
	@mkdir -p $$(@D)
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$(filter %.o %.a,$$^) $($(1)-libs)
endef
$(foreach p,$(programs) $(tests),$(eval $(call program-rule,$(p))))

# The dependencies hold for both names of the object, because some callers give an absolute B.
both-names = -MT $(abspath $@) -MT $(patsubst $(CURDIR)/%,%,$(abspath $@))
$(B)/%.o: %.c | $(gen-files)
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP $(both-names) -MF $@.d -c -o $@ $<

# Generated C (protobuf-c) is not ours to warn about.
$(B)/gen/%.o: $(B)/gen/%.c
	$(call say,CC,$@)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w -c -o $@ $<

tests: $(addprefix $(B)/,$(tests))
# The same without linking, for a compiler that is only to find errors
test-objects: $(addprefix $(B)/,$(sort $(foreach t,$(tests),$($(t)-objs))))

check: all tests
	$(Q)for t in $(filter tests/unit/% tests/sim/%,$(tests)); do \
		$(B)/$$t || exit 1; \
	done

# What an installation elsewhere puts down is what there is to remove.
uninstall:
	$(Q)rm -rf $(B)/installed
	$(Q)$(MAKE) -s install DESTDIR=$(abspath $(B)/installed)
	$(Q)cd $(B)/installed && find . ! -type d ! -path '.$(SYSCONFDIR)/*' -printf '%P\n' | \
		(cd $(DESTDIR)/ && xargs -d '\n' rm -f --)
	$(Q)rm -rf $(B)/installed

doc:
	$(Q)rm -rf $(B)/doc
	$(Q)doc/pages.py $(B)/doc

clean:
	rm -rf $(B)

.PHONY: all tests test-objects check doc clean install uninstall
.DELETE_ON_ERROR:
-include $(shell test -d $(B) && find $(B) -name '*.o.d')
