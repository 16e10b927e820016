/* SPDX-License-Identifier: GPL-2.0-only */
/* Inside of check_flow: what its files have in common. */
#ifndef CHECK_IMPL_H
#define CHECK_IMPL_H

#include "check.h"
#include "tools/fabricsim/world_impl.h"

struct fate;
struct holds;

/**
 * struct flow - of one source, destination and VC
 * @next: sequence number after that of the last packet that arrived
 * @anew: the destination has lost its memory since, so @next means nothing
 * @last_at: when a packet came last
 * @pause: the longest time between two packets
 * @fate: of each packet, @nfates of them in room for @room; those below @low have no copies
 */
struct flow {
	uint64_t sent, got, returned;
	uint64_t next;
	bool anew;
	uint64_t last_at;
	uint64_t pause;
	struct fate *fate;
	uint64_t nfates, room, low;
};

/**
 * struct check_flow - all that is watched of a world
 * @alive: packets that are under way, or wait at their source
 * @holds: which rows must be on hold, check_hold.c
 * @bounded_at: when a node last went on although the root had no proof that the network
 *	was drained: what was sent before may be late; 0: never
 * @bounded: the version of that
 * @deaths: NICs that lost their power
 * @judged_dead: the root took some NIC for dead: what its neighbours keep for it, it may have
 * @died, @unreachable: packets that are gone for this reason, of VCD and of VCA
 * @late: packets of VCD that are gone because nobody waited for them
 * @gone: of NICs that ended, what their counters were
 */
struct check_flow {
	struct world *w;
	uint32_t nodes;		/* of it, which may end first */
	struct flow *flow;
	struct holds *holds;
	uint64_t alive;
	uint64_t bounded_at;
	uint64_t bounded;
	unsigned int deaths;
	bool judged_dead;
	uint64_t died[2], unreachable[2], late;
	uint64_t gone[TORUS_NC_COUNT];
	char wrong[200];
};

/* The first thing found wrong is kept. */
void flow_wrong(struct check_flow *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline struct flow *flow_of(struct check_flow *c, uint32_t src, uint32_t dst,
				   unsigned int vc)
{
	return &c->flow[(src * c->w->nodes + dst) * TORUS_VCS + vc];
}

/* check_fate.c */
void fate_sent(struct check_flow *c, const struct world_packet *p);
void fate_got(struct check_flow *c, const struct world_packet *p);
void fate_returned(struct check_flow *c, const struct world_packet *p);
void fate_copied(struct check_flow *c, const struct world_packet *p);
void fate_freed(struct check_flow *c, uint32_t node, const struct world_packet *p,
		const struct tn_pkt *pkt);
/*
 * Packets of @session that wait for their acknowledgement at @port of @node, or were parked
 * while they did, may have been accepted by the far end
 */
void fate_unsure(struct check_flow *c, uint32_t node, unsigned int port, uint32_t session);
/* @node lifts its holds: nothing of the flows that they were for is under way. */
void fate_released(struct check_flow *c, uint32_t node);
void fate_end(struct check_flow *c);
void fate_free(struct flow *f);

/* check_hold.c */
struct holds *holds_new(const struct world *w);
void holds_free(struct holds *h);
void holds_power(struct check_flow *c, uint32_t node);
void holds_switched(struct check_flow *c, uint32_t node, uint64_t version);
void holds_released(struct check_flow *c, uint32_t node);

/* check_where.c */
enum where { IN_INPUT, IN_RETRY, IN_PARKING, IN_HELD, IN_WINDOW, IN_GAP };
/* Each packet in the memory of the NIC of @node, @port of its RETRY buffer; until @see is true. */
bool each_packet(const struct world *w, uint32_t node,
		 bool (*see)(void *arg, const struct tn_pkt *pkt, enum where where,
			     unsigned int port), void *arg);
/*
 * Whether the far end of a cable has not accepted what waits in the RETRY buffer of @port
 * of @node, or waited there until it was parked. What one that died or began anew had is
 * not known: this may be a copy of what went on from there.
 */
bool not_accepted(const struct world *w, uint32_t node, unsigned int port, uint32_t session,
		  uint16_t tseq);
/* Where a copy of @p is that may still arrive: a text in @buf. False: nowhere. */
bool find_packet(const struct world *w, const struct world_packet *p, char *buf, size_t room);

#endif /* CHECK_IMPL_H */
