# SPDX-License-Identifier: GPL-2.0-only
torusemu-srcs := $(addprefix tools/torusemu/, \
	loop.c log.c pool.c due.c chassis.c port.c ether.c carrier.c cable.c lower.c tun.c gro.c msg.c \
	sock.c server.c commands.c reply.c notify.c rma.c rma_mem.c rma_sock.c emu.c)
# Shared with the fuzzer.
torusemu-common := $(torusemu-srcs:.c=.o) lib/topology.o lib/plan.o lib/netdev.o $(soft-objs)
torusemu-pkgs := libnl-3.0

programs += torusemu
torusemu-objs := $(addprefix tools/torusemu/,main.o args.o make.o netns.o pack.o param.o guid.o priv.o) lib/util/units.o lib/util/systemd.o lib/names.o $(torusemu-common)
torusemu-libs := $(call pkg-libs,$(torusemu-pkgs))

$(B)/tools/torusemu/%.o: CPPFLAGS += $(call pkg-cflags,$(torusemu-pkgs))

install-torusemu: $(B)/torusemu
	install -d $(DESTDIR)$(PREFIX)/sbin $(DESTDIR)$(PREFIX)/share/man/man8
	install -m 755 $(B)/torusemu $(DESTDIR)$(PREFIX)/sbin/
	install -m 644 tools/torusemu/torusemu.8 $(DESTDIR)$(PREFIX)/share/man/man8/

install: install-torusemu
.PHONY: install-torusemu
