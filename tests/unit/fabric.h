/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A whole torus of NICs in one process with one virtual clock, with random traffic on all VCs, and
 * a manager that sees all NICs at once. After every step it checks that packets arrive exactly once
 * and, on VCD0 and VCD1, in order; that the flow counters account for every packet in the network;
 * that every ring keeps its bubble; and that credits are conserved.
 */
#ifndef TESTS_FABRIC_H
#define TESTS_FABRIC_H

#include "tests/unit/cable.h"
#include "kernel/core/nic_impl.h"

#define FABRIC_TICK 20000	/* length of a step, ns */
#define FABRIC_SEEN 2048	/* VCA packets per pair that can be told apart */

/**
 * struct traffic - packets from one node to another
 * @sent, @got: packets of each VC; for VCD0 and VCD1 the next number
 * @arrived: VCD packets that arrived, if numbers may be missing
 * @back: packets returned as unreachable
 * @seen: VCA packets that arrived
 */
struct traffic {
	u32 sent[TORUS_VCS];
	u32 got[TORUS_VCS];
	u32 arrived[TORUS_VCS];
	u32 back[TORUS_VCS];
	u8 seen[FABRIC_SEEN / 8];
};

struct node {
	struct fabric *fabric;
	u32 id;
	struct torus_coords at;
	u32 peer[TORUS_MAX_PORTS];	/* node at the other end of the cable of each port */
	struct tn_nic *nic;
	void *table;
	struct memory mem;
	struct lane out[TORUS_MAX_PORTS];
	u64 link_events, park_events;
	u32 mgmt_got;
	bool frozen;		/* its host does not run */
};

/**
 * struct fabric
 * @load: each node sends with a chance of one in this many in each step; 0: never
 * @queue: packets of a VC that wait in a NIC for injection before its host stops
 * @busy_host: one delivery in this many is refused; 0: none
 * @max_flits: largest payload of a packet
 * @lossy: numbers may be missing because nodes died; order, and no doubles, are still checked
 * @relays: destinations that no header reaches have rows through relays
 * @reroute: if set, may change the rows that a node is to have
 * @unchecked: packets are forged: only memory safety and links are checked
 * @excluded: cables out of use; set at both ends
 * @version: of the tables
 */
struct fabric {
	struct rnd r;
	u64 now;
	struct torus_shape shape;
	u32 n;
	unsigned int ndims, nports;
	struct tn_ops ops;
	struct tn_params params;
	struct node *node;
	struct traffic *traffic;	/* n * n entries */
	unsigned int load, queue, busy_host, max_flits;
	bool lossy, unchecked, relays;
	void (*reroute)(struct fabric *f, u32 node, uint64_t *rows);
	u16 *excluded;
	u64 version;
	u64 delivered, returned, checks;
};

/*
 * Makes a torus such as "4x4x2" with default parameters: cables plugged in, links up, and tables of
 * version 1 in force.
 */
void fabric_start(struct fabric *f, uint64_t seed, const char *shape);
/* For @tune: packets of random sizes, in frames that hold one or several of the largest. */
void fabric_vary_packets(struct fabric *f);
/* As fabric_start(); @tune may change f->params before the NICs are made. */
void fabric_start_tuned(struct fabric *f, uint64_t seed, const char *shape,
			void (*tune)(struct fabric *f));
void fabric_end(struct fabric *f);
/* Sends a packet of random size, if the NIC has room for it. */
void fabric_send(struct fabric *f, u32 node, u32 dst, unsigned int vc);
void fabric_step(struct fabric *f);
void fabric_run(struct fabric *f, u64 ns);
/* Checks the counters, bubbles, and windows of relays; fabric_step() does so after each step. */
void fabric_check(struct fabric *f);
/* Stops new traffic and runs until all packets have arrived; fails after @limit ns. */
void fabric_settle(struct fabric *f, u64 limit);

bool fabric_wired(const struct fabric *f, unsigned int port);
u32 fabric_peer(const struct fabric *f, u32 node, unsigned int port, unsigned int *peer_port);
void fabric_carrier(struct fabric *f, u32 node, unsigned int port, bool up);
void fabric_silence(struct fabric *f, u32 node, unsigned int port, bool on);

/*
 * Critical bubbles of the ring that leaves @node by @port; @closed: all its links are up, in one
 * session at both ends, or retrain.
 */
unsigned int fabric_critical(const struct fabric *f, u32 node, unsigned int port, unsigned int vc,
			     bool *closed);
/* Packets that are in the network according to the counters, by colour. */
void fabric_sums(const struct fabric *f, s64 *sum);
u64 fabric_parked(const struct fabric *f);
/* Finds the cables that are not up at both ends. Return: whether they differ from f->excluded. */
bool fabric_faults(const struct fabric *f, u16 *excluded);
/*
 * A recovery as the manager does it: tables with holds, drain, replay, resume. It starts again if
 * cables change meanwhile. Fails after @limit ns.
 */
void fabric_recover(struct fabric *f, u64 limit);

#endif /* TESTS_FABRIC_H */
