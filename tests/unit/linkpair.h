/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two links joined by a cable, with what a NIC does around them: queues in the input buffers, a
 * host that takes packets at its own pace, and a parking segment for the RETRY buffers of dead
 * links. After every step it checks that packets arrive exactly once and in order, and that every
 * buffer is accounted for.
 */
#ifndef TESTS_LINKPAIR_H
#define TESTS_LINKPAIR_H

#include "tests/unit/cable.h"
#include "kernel/core/link.h"
#include "kernel/core/serdes_model.h"

#define PAIR_TICK 10000		/* length of a step, ns */

/**
 * struct end - one link and its surroundings
 * @input: accepted packets in their buffers
 * @backlog: packets of a dead link, to be sent again before new ones; @unresolved of them, from
 * 	@lost_session, were perhaps accepted by the peer
 * @sent, @got: packets of each VC, numbered from 0
 * @mgmt_sent, @mgmt_got: management packets, likewise
 * @drain: a buffer is freed with a chance of one in this many, each tick
 * @load: a packet is sent on each VC with a chance of one in this many, each tick; 0: never
 * @serdes: the receiver's SerDes, if @modelled (pair_cable())
 * @fails: how often the link failed; @reason: of the last failure
 * @thin: at the last report the margin was less than training accepts; @thins: how many reports
 * 	changed only this
 */
struct end {
	struct tn_link link;
	struct memory mem;
	struct tn_ops host_ops;
	struct tn_params params;
	struct pair *pair;
	struct end *peer;
	struct lane out;
	struct tn_queue input[TORUS_VCS];
	struct tn_queue backlog;
	unsigned int unresolved;
	u32 lost_session;
	u32 sent[TORUS_VCS], got[TORUS_VCS];
	u32 mgmt_sent, mgmt_got;
	unsigned int drain, load, mgmt;
	struct tn_serdes_model serdes;
	bool modelled;
	unsigned int fails, thins;
	bool thin;
	u8 reason;
	bool tx_off;		/* the host does not take frames off the link */
};

struct pair {
	struct rnd r;
	struct rnd cuts;	/* how frames are cut into pieces */
	u64 now;
	u64 begun;
	struct end end[2];
	bool forged;		/* packets are forged: only memory safety is checked */
	u32 limit;		/* limit of packets of each VC and end; 0: none */
	u64 delivered;
};

void pair_start(struct pair *p, uint64_t seed);
/* Sets the cable from which @e receives, before the first carrier or at any later time. */
void end_cable(struct end *e, const struct tn_cable *cable);
void pair_carrier(struct pair *p, bool up);
void pair_step(struct pair *p);
void pair_run(struct pair *p, u64 ns);
/* Runs until both links are up. Return: the ns it took; fails after @limit. */
u64 pair_up(struct pair *p, u64 limit);
bool pair_both(const struct pair *p, unsigned int state);
/* Stops faults and new packets and runs until all packets arrive; fails after @limit ns. */
void pair_settle(struct pair *p, u64 limit);
/* Frees everything and checks that nothing leaked. */
void pair_end(struct pair *p);
void end_restart(struct end *e);
/* Before the links come up: sets random sizes, paces and faults of the cable. */
void end_vary(struct end *e);
const char *pair_text(const struct pair *p);

#endif /* TESTS_LINKPAIR_H */
