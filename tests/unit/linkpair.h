/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two links joined by a cable, with what a NIC would do around them: queues in
 * the input buffers, a host that takes packets at its own pace, and a parking
 * lot for RETRY buffers of dead links. Checks after every step that packets
 * arrive exactly once and in order, and that every buffer is accounted for.
 */
#ifndef TESTS_LINKPAIR_H
#define TESTS_LINKPAIR_H

#include "tests/unit/cable.h"
#include "kernel/core/link.h"
#include "kernel/core/serdes_model.h"

#define PAIR_TICK 10000		/* ns */

/**
 * struct end - one link and its surroundings
 * @input: accepted packets in their buffers
 * @backlog: packets of a dead link, to be sent again before new ones;
 *	@unresolved of them, from @lost_session, perhaps accepted by the peer
 * @sent, @got: packets of each VC, numbered from 0
 * @mgmt_sent, @mgmt_got: management packets, likewise
 * @drain: one chance in so many, each tick, to free a buffer
 * @load: one chance in so many, each tick, to send on each VC; 0 never
 * @serdes: the receiver's, if @modelled (pair_cable())
 * @fails: times the link failed; @reason: of the last
 * @thin: when it told last, it had less margin than training takes; @thins: times that
 *	this alone was told
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
	struct rnd cuts;	/* of frames into pieces */
	u64 now;
	u64 begun;
	struct end end[2];
	bool forged;		/* somebody lies: only safety is checked */
	u32 limit;		/* packets of each VC and end; 0 none */
	u64 delivered;
};

void pair_start(struct pair *p, uint64_t seed);
/* Before the first carrier and at any time later: what @e receives from. */
void end_cable(struct end *e, const struct tn_cable *cable);
void pair_carrier(struct pair *p, bool up);
void pair_step(struct pair *p);
void pair_run(struct pair *p, u64 ns);
/* Run until both are up. Return: ns it took; fails after @limit. */
u64 pair_up(struct pair *p, u64 limit);
bool pair_both(const struct pair *p, unsigned int state);
/* No faults, no new packets: everything must arrive. Fails after @limit ns. */
void pair_settle(struct pair *p, u64 limit);
/* Free all, and see that nothing leaked. */
void pair_end(struct pair *p);
void end_restart(struct end *e);
/* Before the links come up: random sizes, paces and faults of the cable. */
void end_vary(struct end *e);
const char *pair_text(const struct pair *p);

#endif /* TESTS_LINKPAIR_H */
