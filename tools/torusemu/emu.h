/* SPDX-License-Identifier: GPL-2.0-only */
/* One NIC: the core, its ports, its host side and its socket. */
#ifndef EMU_H
#define EMU_H

#include "chassis.h"
#include "kernel/req/soft.h"
#include "msg.h"
#include "port.h"
#include "rma.h"
#include "server.h"
#include "tun.h"

#define EMU_COPY_BREAK	2048	/* frames of fewer bytes are copied, so that they do not keep a
				 * large buffer in use */

/**
 * struct emu - one NIC
 * @next: private to chassis.c, as are @next_ready, @ready and @due
 * @loop: the loop of the chassis; @pool: the pool of the chassis
 * @attach: binds a port to a lower device (LINK_ATTACH); a fuzzer replaces it
 * @placed: sets the addresses of the host side (DEVICE_SET); a fuzzer replaces it
 * @soft: the core, the host side and the parameters
 * @netns: descriptor of the host side's namespace, owned by make.c; -1: the namespace of the
 *	process
 * @rma: remote memory; NULL: the NIC does not offer it
 * @look_at: when to ask again for the carrier of ports that have none, ns
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
	struct rma *rma;
	int (*attach)(struct port *port, const char *name, const char **why, u64 now);
	void (*placed)(struct emu *emu, const struct torus_shape *old,
		       const struct torus_plan *old_plan, u32 old_node);
	u64 rng;
	u64 look_at;
};

/**
 * emu_init() - make the core of the NIC; the caller has set soft.params and soft.hw, and makes
 * ports, host side and socket later
 */
int emu_init(struct emu *emu, struct chassis *chassis, u64 now);
void emu_fini(struct emu *emu);
/** emu_step() - run one turn of the NIC: move packets, send frames, notify subscribers */
void emu_step(struct emu *emu, u64 now);
/** emu_expiry() - Return: when the next timer of the NIC is due, ns; ~0 for never */
u64 emu_expiry(struct emu *emu);
/** emu_busy() - note that something other than a keep-alive arrived */
void emu_busy(struct emu *emu, u64 now);

#endif /* EMU_H */
