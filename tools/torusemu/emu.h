/* SPDX-License-Identifier: GPL-2.0-only */
/* One emulated NIC: the core and what surrounds it. */
#ifndef EMU_H
#define EMU_H

#include <sys/socket.h>

#include "kernel/core/nic.h"
#include "lower.h"
#include "loop.h"
#include "msg.h"
#include "pool.h"
#include "port.h"
#include "server.h"
#include "tun.h"

#define EMU_EVENTS	256	/* link events between two rounds of the loop */
#define EMU_COPY_BREAK	2048	/* shorter frames do not pin a large buffer */

/**
 * struct emu - one NIC
 * @attach, @placed: what LINK_ATTACH and DEVICE_SET do to the machine around the
 *	NIC; a fuzzer puts its own here
 * @table: memory of the routing tables
 * @rx, @rx_iov, @rx_mm: frames to receive into; the first @rx_taken of them were
 *	used last time
 * @tx: the frame being sent
 * @busy_at: when something other than keep-alives last passed
 * @look_at: when to look again for the carrier of ports that have none
 */
struct emu {
	struct loop loop;
	struct tn_nic *nic;
	void *table;
	struct pool pool;
	struct tn_params params;
	char name[TORUS_NAME_MAX + 1];
	u64 guid;
	u32 epoch;
	u8 nports;
	bool bootstrap;
	bool stop;

	bool is_placed;
	struct torus_shape shape;
	struct torus_coords at;
	u32 node;

	struct port port[TORUS_MAX_PORTS];
	struct tun tun;
	struct msg msg;
	struct lower lower;
	struct server server;
	int (*attach)(struct port *port, const char *name, const char **why, u64 now);
	void (*placed)(struct emu *emu, const struct torus_shape *old, u32 old_node);

	struct tn_event event[EMU_EVENTS];
	u32 nevents;
	bool events_lost;
	bool park_event;
	u64 rng;
	u64 look_at;
	u64 busy_at;

	struct frame *rx[PORT_RX_BATCH];
	struct iovec rx_iov[PORT_RX_BATCH];
	struct mmsghdr rx_mm[PORT_RX_BATCH];
	u32 rx_taken;
	struct tn_frame tx;
};

/** emu_init() - the NIC, without ports, host side and socket; params etc. are set */
int emu_init(struct emu *emu, u64 now);
void emu_fini(struct emu *emu);
/** emu_place() - shape and coordinates; Return: 0 or negative errno */
int emu_place(struct emu *emu, const struct torus_shape *shape, const struct torus_coords *at);
/** emu_step() - after something happened: move packets, send, notify */
void emu_step(struct emu *emu, u64 now);
/** emu_run() - until told to stop */
void emu_run(struct emu *emu);

#endif /* EMU_H */
