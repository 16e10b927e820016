/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The software NIC as commands see it (hw.h): the core, its host side, and what the core
 * does not know of its ports. The same in torus.ko and torusemu; what differs is struct
 * tn_soft_shell.
 */
#ifndef TN_SOFT_H
#define TN_SOFT_H

#include "../core/serdes_model.h"
#include "../host/fault.h"
#include "../host/host.h"
#include "hw.h"

#define TN_SOFT_EVENTS	256	/* of one hold of the lock, or one round of torusemu's loop */

struct tn_soft;

/**
 * struct tn_soft_shell - what the world around a software NIC does for it
 * @lock, @unlock: the core is the caller's; what happens inside does not sleep. @changed: there may
 *	be events to tell and packets to move
 * @rest: between two holds of the lock that follow each other at once
 * @now: monotonic ns
 * @table_new: cleared, aligned to 64 bytes; NULL if out of memory
 * @attach: as torus_hw_ops.link_attach
 */
struct tn_soft_shell {
	void (*lock)(struct tn_soft *s);
	void (*unlock)(struct tn_soft *s, bool changed);
	void (*rest)(void);
	u64 (*now)(void);
	void *(*table_new)(size_t bytes);
	void (*table_free)(void *table);
	int (*attach)(struct tn_soft *s, unsigned int port, const char *lower,
		      struct torus_refusal *why);
};

/**
 * struct tn_soft_port - what the core does not know of a port
 * @lower: name of what carries its frames, "" for nothing
 * @fault: faults put into what it sends
 * @serdes: its receiver, and the cable that it receives from
 */
struct tn_soft_port {
	char lower[16];
	struct torus_host_fault fault;
	struct tn_serdes_model serdes;
};

/**
 * struct tn_soft - one software NIC; all but @hw, @shell and @params under the shell's lock
 * @began: when it was made, ns
 * @nic: the core
 * @host: messages between it and the host
 * @table: memory of its routing tables
 * @shape: of the fabric, while it has a place
 * @event, @nevents, @events_lost, @park_event: what the core told and nobody was told yet
 */
struct tn_soft {
	struct torus_hw hw;
	const struct tn_soft_shell *shell;
	struct tn_params params;
	u64 began;
	struct tn_nic *nic;
	struct torus_host host;
	void *table;
	struct torus_shape shape;
	struct tn_soft_port port[TORUS_MAX_PORTS];
	struct tn_event event[TN_SOFT_EVENTS];
	u32 nevents;
	bool events_lost;
	bool park_event;
};

/** tn_soft_ops - for tn_soft.hw.ops */
extern const struct torus_hw_ops tn_soft_ops;

/**
 * tn_soft_init() - the core in @mem, of tn_nic_size() bytes, which stays the caller's
 * s->hw (all that is fixed), s->params and s->shell are set; @cfg has the rest.
 * Return: 0, -EINVAL.
 */
int tn_soft_init(struct tn_soft *s, void *mem, struct tn_nic_config *cfg, torus_host_lost lost,
		 u64 now);
/** tn_soft_flush() - all packets go back to where they came from, before @mem is freed */
void tn_soft_flush(struct tn_soft *s);
/** tn_soft_note() - tn_ops.event: the core may not be asked anything yet, so it is kept */
void tn_soft_note(struct tn_soft *s, const struct tn_event *ev);

static inline struct tn_soft *tn_soft_of(struct torus_hw *hw)
{
	return (struct tn_soft *)((u8 *)hw - offsetof(struct tn_soft, hw));
}

/* soft_fill.c: what it says of itself, with the lock; all but the ifindex */

void tn_soft_link(struct tn_soft *s, unsigned int port, struct torus_link *out, u64 now);
/** tn_soft_link_event() - what torus_tree_link_ntf has, with the states of @ev */
void tn_soft_link_event(struct tn_soft *s, const struct tn_event *ev, struct torus_link *out,
			u64 now);
void tn_soft_flow(struct tn_soft *s, struct torus_flow *out);
void tn_soft_park(struct tn_soft *s, struct torus_park *out);
void tn_soft_park_flows(struct tn_soft *s, struct torus_park_flows *out, u64 now);

#endif /* TN_SOFT_H */
