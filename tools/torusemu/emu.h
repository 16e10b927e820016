/* SPDX-License-Identifier: GPL-2.0-only */
/* One emulated NIC: the core and what surrounds it. */
#ifndef EMU_H
#define EMU_H

#include "chassis.h"
#include "kernel/req/soft.h"
#include "msg.h"
#include "port.h"
#include "server.h"
#include "tun.h"

#define EMU_COPY_BREAK	2048	/* shorter frames do not pin a large buffer */

/**
 * struct emu - one NIC
 * @next, @next_ready, @ready, @due: its chassis's
 * @loop, @pool: its chassis's too
 * @attach, @placed: what LINK_ATTACH and DEVICE_SET do to the machine around the
 *	NIC; a fuzzer puts its own here
 * @soft: the NIC itself
 * @netns: the host side's, -1 for that of the process; whoever made the NIC minds it
 * @look_at: when to look again for the carrier of ports that have none
 */
struct emu {
	struct chassis *chassis;
	struct emu *next, *next_ready;
	struct due due;
	bool ready;

	struct loop *loop;
	struct pool *pool;
	struct tn_soft soft;
	int netns;
	struct port port[TORUS_MAX_PORTS];
	struct tun tun;
	struct server server;
	int (*attach)(struct port *port, const char *name, const char **why, u64 now);
	void (*placed)(struct emu *emu, const struct torus_shape *old, u32 old_node);
	u64 rng;
	u64 look_at;
};

/** emu_init() - the NIC, without ports, host side and socket; soft.params, .hw etc. are set */
int emu_init(struct emu *emu, struct chassis *chassis, u64 now);
void emu_fini(struct emu *emu);
/** emu_step() - after something happened: move packets, send, notify */
void emu_step(struct emu *emu, u64 now);
/** emu_expiry() - when it has something to do again, unless something comes */
u64 emu_expiry(const struct emu *emu);
/** emu_busy() - something came for it that is no keep-alive */
void emu_busy(struct emu *emu, u64 now);

#endif /* EMU_H */
