/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Implements the interface of hw.h by a software NIC: the core, its host side, and the state of
 * ports that the core does not have. torus.ko and torusemu share this code; where they differ, it
 * calls struct tn_soft_shell.
 */
#ifndef TN_SOFT_H
#define TN_SOFT_H

#include "../core/serdes_model.h"
#include "../host/fault.h"
#include "../host/host.h"
#include "hw.h"

/* most events while the lock is held, or in one round of torusemu's loop */
#define TN_SOFT_EVENTS	256

struct tn_soft;

/**
 * struct tn_soft_shell - functions of the program or driver that contains a software NIC
 * @lock, @unlock: protect the core; the holder must not sleep. @changed: the core may have events
 *	to report and packets to move
 * @rest: called between two locked sections, to let other threads take the lock
 * @now: monotonic time in ns
 * @table_new: allocate zeroed memory, aligned to 64 bytes; NULL if out of memory
 * @attach: as torus_hw_ops.link_attach
 * @leave: the NIC is about to get another place; may be NULL
 */
struct tn_soft_shell {
	void (*lock)(struct tn_soft *s);
	void (*unlock)(struct tn_soft *s, bool changed);
	void (*rest)(void);
	u64 (*now)(struct tn_soft *s);
	void *(*table_new)(size_t bytes);
	void (*table_free)(void *table);
	int (*attach)(struct tn_soft *s, unsigned int port, const char *lower,
		      struct torus_refusal *why);
	void (*leave)(struct tn_soft *s);
};

/**
 * struct tn_soft_port - the state of a port that the core does not have
 * @lower: name of the device that carries its frames, "" for none
 * @fault: faults injected into the frames that it sends
 * @serdes: model of its receiver, and of the cable that leads to it
 */
struct tn_soft_port {
	char lower[16];
	struct torus_host_fault fault;
	struct tn_serdes_model serdes;
};

/**
 * struct tn_soft - one software NIC; the shell's lock protects all but @hw, @shell and @params
 * @began: time of its creation, ns
 * @nic: the core
 * @host: state of messages between the core and the host
 * @table: memory of its routing tables
 * @shape: shape of the fabric, while it has a place
 * @eye, @eye_serdes: of EYE_GET, copies of what an eye is measured with (torus_dev.ctl)
 * @event, @nevents, @events_lost, @park_event: events of the core that were not sent yet
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
	struct torus_plan plan;
	struct tn_soft_port port[TORUS_MAX_PORTS];
	struct tn_train eye;
	struct tn_serdes_model eye_serdes;
	struct tn_event event[TN_SOFT_EVENTS];
	u32 nevents;
	bool events_lost;
	bool park_event;
};

/** tn_soft_ops - for tn_soft.hw.ops */
extern const struct torus_hw_ops tn_soft_ops;

/**
 * tn_soft_init() - initialise the core in @mem, tn_nic_size() bytes that the caller owns
 * The caller has set the constant members of s->hw, s->params and s->shell; @cfg has the rest.
 * Return: 0, -EINVAL.
 */
int tn_soft_init(struct tn_soft *s, void *mem, struct tn_nic_config *cfg, torus_host_lost lost,
		 torus_host_free forget, u64 now);
/** tn_soft_flush() - give all packets back to their owners, before @mem is freed */
void tn_soft_flush(struct tn_soft *s);
/**
 * tn_soft_note() - implementation of tn_ops.event: stores the event, because the core must not be
 * called from a callback
 */
void tn_soft_note(struct tn_soft *s, const struct tn_event *ev);

static inline struct tn_soft *tn_soft_of(struct torus_hw *hw)
{
	return (struct tn_soft *)((u8 *)hw - offsetof(struct tn_soft, hw));
}

/*
 * The following fill answers and notifications, except for the ifindex (soft_fill.c). The caller
 * holds the lock.
 */

void tn_soft_link(struct tn_soft *s, unsigned int port, struct torus_link *out, u64 now);
/** tn_soft_link_event() - fill the members of torus_tree_link_ntf, with the states of @ev */
void tn_soft_link_event(struct tn_soft *s, const struct tn_event *ev, struct torus_link *out,
			u64 now);
void tn_soft_flow(struct tn_soft *s, struct torus_flow *out);
void tn_soft_park(struct tn_soft *s, struct torus_park *out);
void tn_soft_park_flows(struct tn_soft *s, struct torus_park_flows *out, u64 now);

#endif /* TN_SOFT_H */
