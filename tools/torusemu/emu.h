/* SPDX-License-Identifier: GPL-2.0-only */
/* One emulated NIC: the core and what surrounds it. */
#ifndef EMU_H
#define EMU_H

#include "chassis.h"
#include "msg.h"
#include "port.h"
#include "server.h"
#include "tun.h"

#define EMU_EVENTS	256	/* link events between two rounds of the loop */
#define EMU_COPY_BREAK	2048	/* shorter frames do not pin a large buffer */

/**
 * struct emu - one NIC
 * @next, @next_ready, @ready, @due: its chassis's
 * @loop, @pool: its chassis's too
 * @attach, @placed: what LINK_ATTACH and DEVICE_SET do to the machine around the
 *	NIC; a fuzzer puts its own here
 * @netns: the host side's, -1 for that of the process; whoever made the NIC minds it
 * @table: memory of the routing tables
 * @look_at: when to look again for the carrier of ports that have none
 */
struct emu {
	struct chassis *chassis;
	struct emu *next, *next_ready;
	struct due due;
	bool ready;

	struct loop *loop;
	struct pool *pool;
	struct tn_nic *nic;
	void *table;
	struct tn_params params;
	char name[TORUS_NAME_MAX + 1];
	u64 guid;
	u32 epoch;
	int netns;
	u8 nports;
	bool bootstrap;

	bool is_placed;
	struct torus_shape shape;
	struct torus_coords at;
	u32 node;

	struct port port[TORUS_MAX_PORTS];
	struct tun tun;
	struct torus_host host;
	struct server server;
	int (*attach)(struct port *port, const char *name, const char **why, u64 now);
	void (*placed)(struct emu *emu, const struct torus_shape *old, u32 old_node);

	struct tn_event event[EMU_EVENTS];
	u32 nevents;
	bool events_lost;
	bool park_event;
	u64 rng;
	u64 look_at;
};

/** emu_init() - the NIC, without ports, host side and socket; params etc. are set */
int emu_init(struct emu *emu, struct chassis *chassis, u64 now);
void emu_fini(struct emu *emu);
/** emu_place() - shape and coordinates; Return: 0 or negative errno */
int emu_place(struct emu *emu, const struct torus_shape *shape, const struct torus_coords *at);
/** emu_step() - after something happened: move packets, send, notify */
void emu_step(struct emu *emu, u64 now);
/** emu_expiry() - when it has something to do again, unless something comes */
u64 emu_expiry(const struct emu *emu);
/** emu_busy() - something came for it that is no keep-alive */
void emu_busy(struct emu *emu, u64 now);

#endif /* EMU_H */
