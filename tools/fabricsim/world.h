/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulated fabric, the world, in virtual time: the real NIC cores, joined by cables with
 * latency and loss; the real managers (daemon/fm/), joined by a service network with latency,
 * broken connections and duplicated messages; and traffic between all nodes. The same config and
 * the same calls give the same history.
 *
 * Nothing here depends on a test framework: checkers watch through struct world_watch or read
 * the world between calls.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/status.h"
#include "kernel/core/nic.h"
#include "kernel/core/serdes_model.h"
#include "lib/util/times.h"


struct world;

/** struct world_packet - a packet of the traffic: the @seq-th of its flow */
struct world_packet {
	uint32_t src, dst;
	unsigned int vc;
	uint64_t seq;
};

/**
 * struct world_watch - callbacks of a checker; any may be NULL
 * @sent: the NIC of @p->src has accepted the packet from its host
 * @got: the host of @p->dst got the packet
 * @returned: the host of @p->src got the packet back as unreachable
 * @copied: @node has one more copy of the packet in its memory
 * @freed: @node frees its copy @pkt
 * @power: @node has got power, with a new NIC; or it is about to lose power and its NIC
 * @ends: the manager of @node is about to end
 * @keeps: @node is about to keep for replay all packets that it parked unresolved from @port in
 *	@session, because it will not learn which of them the far end accepted
 * @switched: the NIC of @node has switched to the rows of @version
 * @replays: the NIC of @node is about to replay its parked packets by the rows of @version
 * @releases: the NIC of @node is about to lift the holds of @version and, with @give_up, to go on
 *	behind packets that are missing in a flow
 * @tick: some ms have passed; the callback may read managers, as between two calls of world_run()
 */
struct world_watch {
	void (*sent)(void *arg, const struct world_packet *p);
	void (*got)(void *arg, const struct world_packet *p);
	void (*returned)(void *arg, const struct world_packet *p);
	void (*copied)(void *arg, uint32_t node, const struct world_packet *p);
	void (*freed)(void *arg, uint32_t node, const struct world_packet *p,
		      const struct tn_pkt *pkt);
	void (*power)(void *arg, uint32_t node, bool on);
	void (*ends)(void *arg, uint32_t node);
	void (*keeps)(void *arg, uint32_t node, unsigned int port, uint32_t session);
	void (*switched)(void *arg, uint32_t node, uint64_t version);
	void (*replays)(void *arg, uint32_t node, uint64_t version);
	void (*releases)(void *arg, uint32_t node, uint64_t version, bool give_up);
	void (*tick)(void *arg);
	void *arg;
};

/**
 * struct world_config - parameters of a world
 * @shape: shape of the cabling; node i has the coordinates of id i, node 0 has the bootstrap flag
 * @discover: the root discovers the shape; false: it is configured
 * @plan, @plan_given: members of the managers' fm_config
 * @svc_ip: form of service addresses: 4: 172.30.ID.1; 6: fd00:30:ID::1; 0: names, which are in no
 *	address plan
 * @no_plans: mask of nodes whose NIC knows only the default address plan
 * @open: mask of dimensions without a cable from the last node back to the first
 * @link_latency, @svc_latency: latency in one direction, in ns
 * @svc_mbps: rate of each node's link to the service network, which a message passes at both
 *	ends, in Mbit/s; 0: no limit
 * @svc_jitter: random delay of a message, less than this; order is kept within a connection
 * @svc_double: of 1000 messages, this many arrive a second time later
 * @svc_break: of 100000 messages, this many break their connection
 * @svc_cpu_ns: processor time of a manager for each message that it sends or receives, on either
 *	network, one after the other; 0: no time
 * @svc_shared: all managers share one processor, which also needs that time for each timer that is
 *	due, and handles all work in the order in which it arrives; false: each manager has its own
 * @frame_loss: of 100000 frames, this many are lost
 * @traffic: ns between a node's packets; 0: no traffic
 * @adaptive: a third of the packets uses VCA; false: no packet does
 * @share: managers share equal tables (struct fm_library)
 * @lines: receivers train for modelled cables, which are perfect until world_line() is called
 * @bubble: enum torus_bubble of all NICs; @slots: packet buffers of each VC and input, 0: 16
 * @vanish: a host without power closes no service connection: data sent to it is lost, and
 *	connections to it hang, until it has power again. false: its peers learn at once that it is
 *	gone, as when a manager ends
 * @arbiter: the configuration of managers has an arbiter; see world_arbiter()
 * @links_only: NICs consist only of links (nic_plain.c); no traffic
 * @member_max, @flap_limit, @flap_half_life, @hold_max: as in struct fm_config; 0: its default
 * @verbose: print the managers' log: 0 nothing, 1 errors, ... 4 everything
 */
struct world_config {
	struct torus_shape shape;
	bool discover;
	uint8_t open;
	struct torus_plan plan;
	unsigned int plan_given;
	unsigned int svc_ip;
	uint64_t no_plans;
	uint64_t seed;
	uint64_t link_latency;
	uint64_t svc_latency;
	uint64_t svc_mbps;
	uint64_t svc_jitter;
	unsigned int svc_double;
	unsigned int svc_break;
	uint64_t svc_cpu_ns;
	bool svc_shared;
	unsigned int frame_loss;
	uint64_t traffic;
	bool adaptive;
	unsigned int fanout;
	uint64_t member_max;
	unsigned int flap_limit;
	uint64_t flap_half_life;
	uint64_t hold_max;
	bool share;
	bool lines;
	bool vanish;
	bool arbiter;
	bool links_only;
	uint8_t bubble;
	uint16_t slots;
	unsigned int verbose;
};

/**
 * struct world_counts - what the managers have done
 * @messages, @bytes: messages on the service network, and their bytes with the headers of TCP, IP
 *	and Ethernet
 * @root_messages, @root_bytes: messages to and from the root
 * @hellos: HELLOs that were sent
 * @versions: tables that were applied at the root
 * @rows: rows written to NICs
 * @sampled: @rows and @held were counted on one node out of this number; 0: on all nodes
 * @held: rows put on hold
 * @holding: rows on hold now
 * @held_ns: time on hold, summed over all rows whose hold was lifted
 * @held_max: the longest time from a node's first hold until all its holds were lifted
 * @released: when the last hold was lifted
 */
struct world_counts {
	uint64_t messages, bytes;
	uint64_t root_messages, root_bytes;
	uint64_t hellos;
	uint64_t versions;
	uint64_t rows;
	uint32_t sampled;
	uint64_t held;
	uint64_t holding;
	uint64_t held_ns;
	uint64_t held_max;
	uint64_t released;
};

void world_config_default(struct world_config *c);

struct world *world_new(const struct world_config *c);
void world_free(struct world *w);
void world_watch(struct world *w, const struct world_watch *watch);
void world_run(struct world *w, uint64_t ns);
/*
 * Runs the world until @done returns true, but for at most @ns. Return: true if @done returned
 * true.
 */
bool world_until(struct world *w, bool (*done)(struct world *w), uint64_t ns);
uint64_t world_now(const struct world *w);
uint64_t world_random(struct world *w);
uint32_t world_nodes(const struct world *w);
const struct world_config *world_config(const struct world *w);

/* Return: the counts since the last call. */
struct world_counts world_counts(struct world *w);

/*
 * Switches the power of a node, which has a NIC and a manager. Without power, the NIC loses its
 * state.
 */
void world_power(struct world *w, uint32_t node, bool on);
/* Sets the address plan in the configuration of managers that start from now on. */
void world_plan_set(struct world *w, const struct torus_plan *plan, unsigned int given);
/* Return: the address plan of the NIC; all 0 if the default plan. */
struct torus_plan world_plan(const struct world *w, uint32_t node);
/* Starts or ends the manager of a node; the NIC keeps running. */
void world_manager(struct world *w, uint32_t node, bool on);
/* Deletes what the manager of a node has stored on its disk. */
void world_wipe(struct world *w, uint32_t node);
/*
 * Stops the manager of a node, with its connections open; later the manager handles all events that
 * it missed.
 */
void world_hang(struct world *w, uint32_t node, bool hung);
/*
 * Stops the NIC and the manager of a node, as if the host were stopped; later they handle all
 * events that came meanwhile, and their clocks are late by the time of the pause.
 */
void world_pause(struct world *w, uint32_t node, bool paused);
bool world_managed(const struct world *w, uint32_t node);

/*
 * The service network loses all packets from @a to @b from now on. A connection that has lost data
 * breaks when the path works again and more data is sent. A connection that is opened meanwhile
 * hangs.
 */
void world_one_way(struct world *w, uint32_t a, uint32_t b, bool lost);
/*
 * Makes the service network lose all packets between the nodes of @mask and all others, in both
 * directions, and no other packets. 0: it loses none.
 */
void world_partition(struct world *w, uint64_t mask);

/* Cables have numbers: the cable at port +d of a node has the number node * ndims + d. */
uint32_t world_cables(const struct world *w);
bool world_cable_there(const struct world *w, uint32_t cable);
void world_cut(struct world *w, uint32_t cable, bool cut);
/* Loses all frames of a cable, both ways; the carrier stays. */
void world_silence(struct world *w, uint32_t cable, bool silent);
/* Loses all frames that one end of a cable sends. */
void world_mute(struct world *w, uint32_t cable, unsigned int end, bool mute);
/*
 * Return: true if a cable works: it is plugged, neither cut nor silent, and both nodes have power.
 */
bool world_cable_whole(const struct world *w, uint32_t cable);
/* Sets the signal properties of a cable in both directions. The world must have @lines. */
void world_line(struct world *w, uint32_t cable, const struct tn_cable *line);
/* Before power: swaps the far ends of two cables; plugs a cable between any two ports; removes
 * a cable. */
void world_cross(struct world *w, uint32_t a, uint32_t b);
void world_plug(struct world *w, uint32_t cable, uint32_t node, unsigned int port,
		uint32_t node2, unsigned int port2);
/*
 * Before a node has power: sets its name, fabric, bootstrap flag, GUID, relay_packets. @fabric must
 * exist as long as the world.
 */
void world_name(struct world *w, uint32_t node, const char *name);
void world_fabric(struct world *w, uint32_t node, const char *fabric);
void world_bootstrap(struct world *w, uint32_t node, bool on);
void world_guid(struct world *w, uint32_t node, uint64_t guid);
void world_relay_packets(struct world *w, uint32_t node, uint32_t packets);
/*
 * Sets the root_priority of a node's manager, fm_config.priority; called before the manager starts.
 */
void world_priority(struct world *w, uint32_t node, unsigned int priority);

void world_traffic(struct world *w, uint64_t interval);
/* Makes @src the only node that sends traffic, to @dst only. */
void world_flow(struct world *w, uint32_t src, uint32_t dst);
void world_disturb(struct world *w, unsigned int doubled, unsigned int breaks, uint64_t jitter);

/*
 * From now on each action of the manager at its NIC takes @ns, one after the other, and of 1000
 * actions @fails fail: half of the failed actions were done in spite of the error.
 */
void world_slow(struct world *w, uint32_t node, uint64_t ns, unsigned int fails);

/*
 * Sets the arbiter's answer from now on, and its delay. FM_GRANTED: like a store with
 * compare-and-swap, it refuses epochs before the last one granted. At first the answer is
 * FM_UNKNOWN.
 */
void world_arbiter(struct world *w, enum fm_verdict verdict, uint64_t delay);
/* Makes the arbiter remember that it granted @epoch to @guid. */
void world_arbiter_granted(struct world *w, uint64_t epoch, uint64_t guid);
/* Return: how many questions the arbiter got. */
unsigned int world_arbiter_asked(const struct world *w);

/*
 * The next @times actions of that kind that the manager of @node asks of its NIC fail, and are not
 * done: for example, the NIC is never placed, or never replays. WORLD_ALWAYS: all actions fail.
 * WORLD_STUCK: the next action never ends, so that this manager asks nothing of its NIC any more.
 */
enum world_act {
	WORLD_OBEY, WORLD_PLACE, WORLD_ROWS, WORLD_RELEASE, WORLD_REPLAY, WORLD_COUNT, WORLD_ACTS
};
#define WORLD_ALWAYS (~0u)
#define WORLD_STUCK (~1u)
void world_refuse(struct world *w, uint32_t node, enum world_act act, unsigned int times);

/*
 * Takes the port of that NIC up or down. @stalled: the reason is that its neighbour returns no
 * credits, as when daemon/stall.c takes a port down.
 */
void world_admin(struct world *w, uint32_t node, unsigned int port, bool up, bool stalled);

/* The manager of @node ignores messages of the types in @mask (1 << FM_MSG_...) from now on. */
void world_ignore(struct world *w, uint32_t node, uint32_t mask);

/* Orders the manager of @root to hand over to @node. Return: as fm_root_move(). */
int world_move(struct world *w, uint32_t root, uint32_t node);
/* The manager of @node receives @msg on its @k-th connection (modulo their number), as if from
 * its peer. Return: false if there is no connection, or the codec rejects @msg. */
bool world_send_msg(struct world *w, uint32_t node, unsigned int k, const struct fm_msg *msg);

/* The manager of @node receives a management packet on @port, as if from its neighbour there. */
void world_receive(struct world *w, uint32_t node, unsigned int port, const void *data, size_t len);

struct fm *world_fm(struct world *w, uint32_t node);
struct tn_nic *world_nic(struct world *w, uint32_t node);
/*
 * Return: the node that is root in the latest epoch; if there is no root, the powered node with the
 * bootstrap flag.
 */
uint32_t world_root(struct world *w);

/*
 * Return: true if the world is at rest: all managers have a path to the root, its version is in
 * force at them, with no recovery under way, and exactly the links of whole cables are up.
 */
bool world_settled(struct world *w);

#endif /* WORLD_H */
