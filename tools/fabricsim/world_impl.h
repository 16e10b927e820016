/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal header of the world's files. */
#ifndef WORLD_IMPL_H
#define WORLD_IMPL_H

#include <stdlib.h>
#include <string.h>

#include "queue.h"
#include "world.h"

enum ev_kind {
	EV_FRAME,	/* frame arrives at (node, port) */
	EV_NIC,		/* NIC timer */
	EV_FM,		/* manager timer */
	EV_LINK,	/* link event reaches the manager */
	EV_MGMT,	/* management packet reaches the manager */
	EV_CONN_UP,
	EV_CONN_DOWN,
	EV_MSG,
	EV_TRAFFIC,
	EV_CARRIER,
	EV_TABLE,	/* a table arrives, as a struct parcel */
	EV_ACT,		/* a slow NIC does an action of its manager */
	EV_DONE,	/* the end of an action of a slow NIC reaches the manager */
	EV_ARBITER,	/* the arbiter's answer reaches the manager */
	EV_TRAINED,	/* the links of a cable between plain NICs come up */
};

/** struct frame - bytes of a frame, kept as long as some packet's payload lies in it */
struct frame {
	uint32_t refs;
	uint32_t len;
	uint8_t data[];
};

/**
 * struct parcel - a table in transit; one copy for all connections on which it is sent
 * @len: size of the packed message, bytes
 */
struct parcel {
	uint32_t refs;
	struct fm_msg msg;
	size_t len;
};

struct cable {
	uint32_t node[2];
	uint8_t port[2];
	bool there, cut;
	uint8_t silent;		/* mask of ends whose frames are lost */
	uint64_t mended;	/* when the cable was last repaired, that is neither cut nor
				 * silent any more; 0: never */
	struct tn_cable line;	/* properties of the line, with world_config.lines */
};

/**
 * struct end - one end of a service connection; its id is its index + 1
 * @peer: id of the other end; 0: there is none
 * @prev, @next: ids in the list of the node's open ends, oldest first; 0: end of the list
 */
struct end {
	uint32_t node;
	uint32_t life;
	int peer;
	int prev, next;
	bool open;
	bool vanished;		/* the host of this end has lost its power, and the other end
				 * does not know */
	bool torn;		/* data that was sent to this end is lost */
	uint64_t last;		/* arrival time of the newest message to this end */
};

struct wnode {
	bool on, managed, hung;
	bool paused;		/* NIC and manager are paused */
	bool vanished;		/* the host vanished without power, until it has power again */
	uint32_t nic_life, fm_life;
	uint64_t guid;
	uint32_t epoch;
	uint64_t root_epoch, root_guid;	/* the root that the NIC obeys */
	struct torus_plan plan;		/* address plan of the NIC; all 0: the default plan */
	uint64_t rows_epoch;		/* epoch of the root whose rows the NIC has */
	uint64_t by_epoch, by_guid;	/* the root whose orders the manager follows */
	uint32_t relay_packets;		/* parameter of the NIC; 0: the default */
	bool bootstrap;
	unsigned int priority;
	char name[TORUS_NAME_MAX + 1];
	const char *fabric;	/* name of the fabric, which the caller keeps */
	struct tn_nic *nic;
	struct tn_serdes_model *serdes;	/* models of the ports' receivers, with
					 * world_config.lines */
	struct plain *plain;	/* state of the NIC with links_only, in place of @nic */
	void *table;
	struct fm *fm;
	uint64_t nic_due, fm_due;
	int first_end, last_end;	/* list of open ends of service connections; 0: none */
	uint64_t cpu_busy;	/* time until which the node's processor is busy */
	bool fm_late;		/* the manager's timer is due, and waits for a processor */
	uint64_t svc_out, svc_in;	/* time until which the node's service link is busy, in
					 * each direction */
	uint64_t act_time;	/* time that an action at the NIC takes */
	uint64_t act_busy;	/* time until which the NIC is busy with an action */
	unsigned int act_fails;	/* of 1000 actions, this many fail */
	uint16_t mgmt_queued;	/* mask of ports with a management packet in the NIC's queue */
	struct nic_act *mgmt_waits;	/* list of the packets to be queued after those */
	unsigned int refuse[WORLD_ACTS];	/* number of the next actions of each kind that
						 * fail */
	uint32_t ignore;	/* mask of types of messages that the manager ignores */
	uint8_t *kept;		/* the table that the manager has kept on its disk, packed */
	size_t kept_len;
	uint32_t held;		/* rows on hold */
	uint64_t held_first;	/* time at which the first of these rows was put on hold */
	uint64_t held_began;	/* sum of the times at which these rows were put on hold, modulo
				 * 2^64 */
	struct ev *late;	/* events that wait for a manager that hangs, or a node that is
				 * paused */
	size_t nlate;
	uint32_t links_changed;	/* mask of ports whose links have changed; nic_pump() reports
				 * them to the manager */
	uint64_t *seq;		/* next number of a packet of the traffic, for each (destination,
				 * VC) */
	uint32_t next_dst;
	int32_t *cable;		/* number of the cable at each port, -1: no cable */
};

/**
 * struct ended - an action at a NIC that has ended
 * @tag: tag of the action; 0: no action has ended
 */
struct ended {
	uint32_t tag;
	int err;
	struct fm_counts counts;
};

/**
 * struct warbiter - the arbiter of the site
 * @verdict: the arbiter's answer; FM_GRANTED only if the epoch is after @epoch, which the arbiter
 *	granted to @guid
 * @delay: time until the answer
 * @asked: number of questions
 */
struct warbiter {
	enum fm_verdict verdict;
	uint64_t delay, epoch, guid;
	unsigned int asked;
};

struct world {
	struct world_config cfg;
	struct world_watch watch;
	uint64_t now, random;
	uint32_t nodes, root;	/* @root: the node that was root last */
	unsigned int nports;
	struct wnode *node;
	struct cable *cable;
	uint32_t ncables;
	struct queue queue;
	uint64_t cpu_busy;	/* time until which the processor that all managers share is busy */
	struct end *end;
	size_t nends, ends_room;
	struct world_counts counts;
	struct fm_library *library;
	struct parcel *last;	/* the newest parcel */
	struct parcel *handing;	/* the parcel that is being delivered */
	struct plain_route *route;
	struct warbiter arbiter;
	bool *lost;		/* for each pair of nodes, true if the service network loses
				 * packets from the first to the second; or NULL */
	unsigned int svc_changes;	/* number of changes of @lost */
	uint64_t tick;		/* time of the next call of the checker */
	uint64_t fm_events;	/* number of events that managers got */
	uint64_t link_events;	/* number of links that changed their state */
	bool calling;		/* a manager is handling an event */
	bool flow;		/* the only traffic is from @flow_src to @flow_dst */
	uint32_t flow_src, flow_dst;
	struct ended ended;	/* action that a NIC has done within a call of the manager, and
				 * that is reported after the call */
};

void world_post(struct world *w, struct ev *ev);
/* Adds a message, or a timer, to the work of @node's processor. Return: when it is handled. */
uint64_t world_work(struct world *w, uint32_t node);
bool world_chance(struct world *w, unsigned int n, unsigned int of);
void frame_put(struct frame *f);
/*
 * held_more() adds @rows rows on hold of @node; held_none() counts that all its holds are released.
 */
void held_more(struct world *w, uint32_t node, uint32_t rows);
void held_none(struct world *w, uint32_t node);

/* nic_side.c */
void nic_start(struct world *w, uint32_t node);
void nic_stop(struct world *w, uint32_t node);
void nic_pump(struct world *w, uint32_t node);
void nic_frame(struct world *w, const struct ev *ev);
void nic_carrier(struct world *w, uint32_t cable);
void nic_line(struct world *w, uint32_t cable);
void nic_link(struct world *w, uint32_t node, unsigned int port, struct torus_link *out);
void nic_traffic(struct world *w, uint32_t node);
/* Sends the state of a link to the manager of @node; it arrives after 20 us. */
void report_link(struct world *w, uint32_t node, unsigned int port);
/*
 * Reads from @pkt which packet of the traffic it carries. Return: false if it is not a packet of
 * the traffic.
 */
bool nic_packet(const struct tn_pkt *pkt, struct world_packet *id);

/* nic_plain.c, nic_plain_rows.c: NICs that consist only of links */
void plain_start(struct world *w, uint32_t node);
void plain_stop(struct world *w, uint32_t node);
void plain_carrier(struct world *w, uint32_t cable);
void plain_trained(struct world *w, const struct ev *ev);
void plain_link(struct world *w, uint32_t node, unsigned int port, struct torus_link *out);
void plain_device(struct world *w, uint32_t node, struct torus_device *dev);
bool plain_links_as_wanted(struct world *w);
void plain_end(struct world *w);
int plain_mgmt(struct world *w, uint32_t node, unsigned int port, const void *data, size_t len);
int plain_place(struct world *w, uint32_t node, const struct torus_shape *shape,
		const struct torus_coords *at);
int plain_rows(struct world *w, uint32_t node, uint64_t version, const uint16_t *closed);
int plain_flow(struct world *w, uint32_t node, struct torus_park *out);
int plain_replay(struct world *w, uint32_t node, uint16_t ports);

/** struct whost - host of a manager, the argument of the manager's actions */
struct whost {
	struct world *w;
	uint32_t node;
};

/* host_nic.c: the actions of managers at their NICs */
void host_mgmt_send(void *io, unsigned int port, const void *data, size_t len);
void host_root_set(void *io, uint32_t tag, uint64_t epoch, uint64_t guid);
void host_place_set(void *io, uint32_t tag, const struct torus_shape *shape,
		    const struct torus_coords *at, const struct torus_plan *plan);
void host_rows_write(void *io, uint32_t tag, uint64_t version, const uint32_t *node,
		     const uint64_t *row, uint32_t n);
void host_rows_apply(void *io, uint32_t tag, uint64_t version, const uint16_t *closed);
void host_release(void *io, uint32_t tag, uint64_t version, bool give_up);
void host_count(void *io, uint32_t tag, bool lost);
void host_park_resolve(void *io, unsigned int port, uint32_t session, int seq);
void host_park_replay(void *io, uint32_t tag, uint64_t version, uint16_t ports);
void host_counters(struct world *w, uint32_t node, struct torus_park *out);
/* host_act() and host_done() handle the events EV_ACT and EV_DONE. */
void host_act(struct world *w, struct ev *ev);
void host_done(struct world *w, const struct ev *ev);
/* Drops the management packets that wait for a slow NIC, when its manager ends. */
void host_drop_mgmt(struct wnode *n);
/* Ends the actions that @node's manager began in an event, unless its NIC is slow. */
void host_settle(struct world *w, uint32_t node);

/* arbiter_side.c */
void host_arbitrate(void *io, uint64_t epoch, uint64_t guid);
void host_answered(struct world *w, const struct ev *ev);

/* svc_side.c */
void parcel_put(struct parcel *p);
/* Return: true if the service network loses messages from @a to @b. */
bool world_lost(const struct world *w, uint32_t a, uint32_t b);
void manager_start(struct world *w, uint32_t node);
void manager_stop(struct world *w, uint32_t node);
/* Frees a manager without messages to its peers, at the end of the world. */
void manager_drop(struct world *w, uint32_t node);
void manager_event(struct world *w, struct ev *ev);

#endif /* WORLD_IMPL_H */
