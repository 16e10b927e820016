/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A world of NICs and managers in virtual time: the real cores, joined by
 * cables with latency and loss; the real machines, joined by a service network
 * with latency, breaks and doubled messages; and traffic between all nodes.
 * The same config and the same calls give the same history.
 *
 * Nothing here knows of a test framework: checkers watch through struct
 * world_watch or read the world between calls.
 */
#ifndef WORLD_H
#define WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/fm/status.h"
#include "kernel/core/nic.h"
#include "kernel/core/serdes_model.h"

#define W_US 1000ULL
#define W_MS 1000000ULL
#define W_S 1000000000ULL

struct world;

/** struct world_packet - a packet of the traffic: the @seq-th of its flow */
struct world_packet {
	uint32_t src, dst;
	unsigned int vc;
	uint64_t seq;
};

/**
 * struct world_watch - what a checker is told; any may be NULL
 * @sent: the NIC of @p->src took the packet from its host
 * @got: the host of @p->dst got it
 * @returned: the host of @p->src got it back as unreachable
 * @copied: @node has one more copy of the packet in its memory
 * @freed: @node frees its copy @pkt
 * @power: @node gets power, and has a new NIC; or loses it, and its NIC is about to end
 * @keeps: @node is about to keep all that it parked from the RETRY buffer of @port in
 *	@session, for it will not be told what the far end had of it
 * @switched: the NIC of @node has switched to the rows of @version
 * @replays: the NIC of @node is about to replay what it parked, by the rows of @version
 * @releases: it is about to lift the holds of @version; @give_up: and to give up gaps
 */
struct world_watch {
	void (*sent)(void *arg, const struct world_packet *p);
	void (*got)(void *arg, const struct world_packet *p);
	void (*returned)(void *arg, const struct world_packet *p);
	void (*copied)(void *arg, uint32_t node, const struct world_packet *p);
	void (*freed)(void *arg, uint32_t node, const struct world_packet *p,
		      const struct tn_pkt *pkt);
	void (*power)(void *arg, uint32_t node, bool on);
	void (*keeps)(void *arg, uint32_t node, unsigned int port, uint32_t session);
	void (*switched)(void *arg, uint32_t node, uint64_t version);
	void (*replays)(void *arg, uint32_t node, uint64_t version);
	void (*releases)(void *arg, uint32_t node, uint64_t version, bool give_up);
	void *arg;
};

/**
 * struct world_config - how a world is made
 * @shape: as cabled; node i has the coordinates of id i, node 0 the jumper
 * @discover: the root is not told the shape
 * @open: mask of dimensions whose ends are not cabled together
 * @link_latency, @svc_latency: one way
 * @svc_mbps: of each node's own link to the service network, which a message
 *	passes at both ends, one after another; 0: without bound
 * @svc_jitter: added to a message at random, order kept within a connection
 * @svc_double: of 1000 messages, this many come again later
 * @svc_break: of 100000 messages, this many break their connection
 * @frame_loss: of 100000 frames, this many are lost
 * @traffic: ns between a node's packets; 0: none
 * @adaptive: a third of them goes by VCA; false: none does
 * @share: managers share what is equal (struct fm_library); see there
 * @lines: receivers train for modelled lines, perfect until world_line() says otherwise
 * @links_only: NICs of which nothing but their links is there; no traffic
 * @member_max, @flap_limit, @flap_half_life, @hold_max: as in struct fm_config; 0: its default
 * @verbose: 0: silence; else what machines log up to this level + 1
 */
struct world_config {
	struct torus_shape shape;
	bool discover;
	uint8_t open;
	uint64_t seed;
	uint64_t link_latency;
	uint64_t svc_latency;
	uint64_t svc_mbps;
	uint64_t svc_jitter;
	unsigned int svc_double;
	unsigned int svc_break;
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
	bool links_only;
	unsigned int verbose;
};

/**
 * struct world_counts - what the managers have done
 * @messages, @bytes: on the service network, headers of the wire included
 * @root_messages, @root_bytes: of these, to and from the root
 * @versions: tables that were put into force at the root
 * @rows: written to NICs
 * @sampled: @rows and @held were counted on one of so many nodes; 0: on all
 * @held: rows put on hold; a row is a flow to a destination
 * @holding: of these, on hold now
 * @held_ns: how long they were, summed over rows whose hold is lifted
 * @held_max: the longest hold
 * @released: when the last hold was lifted
 */
struct world_counts {
	uint64_t messages, bytes;
	uint64_t root_messages, root_bytes;
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
/* Runs until @done or for at most @ns. Return: whether @done. */
bool world_until(struct world *w, bool (*done)(struct world *w), uint64_t ns);
uint64_t world_now(const struct world *w);
uint64_t world_random(struct world *w);
uint32_t world_nodes(const struct world *w);
const struct world_config *world_config(const struct world *w);

/* What was counted since the last call; @holding is as it is now. */
struct world_counts world_counts(struct world *w);

/* Power of a node: NIC and manager. Off takes all that is in the NIC with it. */
void world_power(struct world *w, uint32_t node, bool on);
/* Its manager alone. */
void world_manager(struct world *w, uint32_t node, bool on);
/* It stands still, connections open, and goes on later where it was. */
void world_hang(struct world *w, uint32_t node, bool hung);
bool world_powered(const struct world *w, uint32_t node);
bool world_managed(const struct world *w, uint32_t node);

/* Cable c joins two ports; as made, (node, d) is cable node * ndims + d. */
uint32_t world_cables(const struct world *w);
bool world_cable_there(const struct world *w, uint32_t cable);
void world_cut(struct world *w, uint32_t cable, bool cut);
void world_silence(struct world *w, uint32_t cable, bool silent);
/* ... what one end sends, and nothing of the other end */
void world_mute(struct world *w, uint32_t cable, unsigned int end, bool mute);
bool world_cable_whole(const struct world *w, uint32_t cable);
/* What the cable does to signals, both ways; in worlds with @lines. */
void world_line(struct world *w, uint32_t cable, const struct tn_cable *line);
/* Crosses the far ends of two cables, or plugs one end elsewhere; before power. */
void world_cross(struct world *w, uint32_t a, uint32_t b);
void world_plug(struct world *w, uint32_t cable, uint32_t node, unsigned int port,
		uint32_t node2, unsigned int port2);
void world_remove(struct world *w, uint32_t cable);
/* Gives a node another name, fabric or the jumper; before its power. */
void world_name(struct world *w, uint32_t node, const char *name);
void world_fabric(struct world *w, uint32_t node, const char *fabric);
void world_jumper(struct world *w, uint32_t node, bool on);
void world_guid(struct world *w, uint32_t node, uint64_t guid);
void world_relay_packets(struct world *w, uint32_t node, uint32_t packets);

void world_traffic(struct world *w, uint64_t interval);
void world_disturb(struct world *w, unsigned int doubled, unsigned int breaks, uint64_t jitter);

/* A peer of that manager says something, on its @k-th connection (modulo). Return:
 * whether the codec lets it pass. */
bool world_say(struct world *w, uint32_t node, unsigned int k, const struct fm_msg *msg);

struct fm *world_fm(struct world *w, uint32_t node);
struct tn_nic *world_nic(struct world *w, uint32_t node);
/* The powered node with the jumper. */
uint32_t world_root(const struct world *w);

/* At rest: every managed node has the root's version and nothing is under way. */
bool world_settled(struct world *w);

#endif /* WORLD_H */
