/* SPDX-License-Identifier: GPL-2.0-only */
/* Internal header of check_flow, shared by its files. */
#ifndef CHECK_IMPL_H
#define CHECK_IMPL_H

#include "check.h"
#include "tools/fabricsim/world_impl.h"

struct fate;
struct holds;
struct epochs;
struct orders;
struct admin;
struct takeover;

/**
 * struct flow - one source, destination and VC
 * @next: sequence number after that of the last packet that arrived
 * @anew: the destination has got a new NIC since, so @next means nothing
 * @epoch: numbering of the last packet that arrived
 * @fate: of each packet; @nfates are used of @room. All below @low have ended or have no copies
 */
struct flow {
	uint64_t sent, got, returned;
	uint64_t next;
	bool anew;
	uint16_t epoch;
	struct fate *fate;
	uint64_t nfates, room, low;
};

/**
 * struct check_flow - what the checker knows of a world
 * @nodes: number of nodes; kept here because the world may be freed first
 * @alive: packets in the network or queued at their source
 * @holds: which rows must be on hold, check_hold.c
 * @epochs: which tables there were, check_epoch.c
 * @orders: what roots had ordered when they ended, check_order.c
 * @admin: what administrators have excluded, check_admin.c
 * @takeover: time since which no node leads, check_takeover.c
 * @bounded_at: when a node last replayed or lifted holds although the root had no proof that
 *	the network was drained, or it is not known: packets sent before may come late; 0: never
 * @bounded: the version of that recovery
 * @bounds: how often that was; @older: packets sent before the last time that have not ended yet
 * @early: how many packets each NIC had counted as early when the last of @older ended
 * @coloured: the last version of each colour that began
 * @mixed: a version that began with older packets of its colour in the network: it must not
 *	replay or lift holds; @mixed_text: where these packets were
 * @unproven: some node ever did so
 * @held: the longest time, in ns, from a switch of a node's rows until its holds were lifted
 * @deaths: NICs that lost their power
 * @lies: the nodes lie to the root, so it may be wrong about which nodes are dead
 * @died, @unreachable: packets lost for this reason, [0] of VCD and [1] of VCA
 * @back: VCD packets that came back to their source as unreachable
 * @late: VCD packets lost because they came after their receiver had given them up
 * @twice: second copies of packets of VCA that arrived
 * @doubles: second copies of VCD packets that their destination discarded; @outdated: by
 *	destination, those of a former numbering of the flow; @refused: copies that it discarded of
 *	packets that it had given up
 * @handed: the packet that a host is just taking; its copy is freed next
 * @gone: sums of the counters of NICs that lost their power
 */
struct check_flow {
	struct world *w;
	uint32_t nodes;
	struct flow *flow;
	struct holds *holds;
	struct epochs *epochs;
	struct orders *orders;
	struct admin *admin;
	struct takeover *takeover;
	uint64_t alive;
	uint64_t bounded_at;
	uint64_t bounded;
	uint32_t bounds;
	uint64_t older;
	uint64_t *early;
	uint64_t coloured[TORUS_COLOURS];
	uint64_t mixed;
	char mixed_text[150];
	bool unproven;
	uint64_t held;
	unsigned int deaths;
	bool lies;
	uint64_t died[2], unreachable[2], back, late;
	uint64_t twice, doubles, refused;
	uint64_t *outdated;
	const struct fate *handed;
	uint64_t gone[TORUS_NC_COUNT];
	char wrong[200];
};

/* Records an error; only the first one is kept. */
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
 * Marks the packets of @session at @port of @node that are not acknowledged, in the RETRY buffer
 * or parked from it: the far end may have accepted them.
 */
void fate_unsure(struct check_flow *c, uint32_t node, unsigned int port, uint32_t session);
/* @node lives and is judged dead: packets in its NIC may be given up. */
void fate_apart(struct check_flow *c, uint32_t node);
/* A node has gone on without proof: packets that were sent may come late, and be overtaken. */
void fate_bounded(struct check_flow *c);
/* @node is about to replay its parked packets. */
void fate_replayed(struct check_flow *c, uint32_t node);
/* @node lifts its holds: no packet of the flows on hold may be in the network. */
void fate_released(struct check_flow *c, uint32_t node);
uint64_t fate_died(const struct check_flow *c);
uint64_t fate_counted(const struct check_flow *c, enum torus_node_counter which);
void fate_end(struct check_flow *c);
void fate_free(struct flow *f);

/* check_hold.c */
struct holds *holds_new(const struct world *w);
void holds_free(struct holds *h);
void holds_power(struct check_flow *c, uint32_t node);
void holds_switched(struct check_flow *c, uint32_t node, uint64_t version);
void holds_released(struct check_flow *c, uint32_t node);

/* check_epoch.c */
struct epochs *epochs_new(const struct world *w);
void epochs_free(struct epochs *e);
void epochs_power(struct check_flow *c, uint32_t node);
void epochs_switched(struct check_flow *c, uint32_t node, uint64_t version);
void epochs_look(struct check_flow *c);

/* check_order.c */
struct orders *orders_new(void);
void orders_free(struct orders *o);
/* The manager of @node is about to end. */
void orders_ended(struct check_flow *c, uint32_t node);
/*
 * Return: true if the root of the NIC of @node had proof that the network was drained for @version,
 * its last, when its manager ended.
 */
bool orders_proven(const struct check_flow *c, uint32_t node, uint64_t version);
/* @node is about to replay, or to lift holds. @root: the root of its NIC; NULL: it leads no more. */
void orders_look(struct check_flow *c, const struct fm *root, uint32_t node, uint64_t version,
		 bool replays);

/* check_admin.c */
struct admin *admin_new(const struct world *w);
void admin_free(struct admin *a);
void admin_power(struct check_flow *c, uint32_t node);
void admin_switched(struct check_flow *c, uint32_t node, uint64_t version);
void admin_look(struct check_flow *c);

/* check_takeover.c */
struct takeover *takeover_new(const struct world *w);
void takeover_free(struct takeover *t);
void takeover_look(struct check_flow *c);

/* check_where.c */
enum where { IN_INPUT, IN_RETRY, IN_PARKING, IN_HELD, IN_WINDOW, IN_GAP };
/*
 * Calls @see for each packet in the memory of @node's NIC until it returns true. @port is that
 * of the RETRY buffer (IN_RETRY), else 0. Return: whether @see returned true.
 */
bool each_packet(const struct world *w, uint32_t node,
		 bool (*see)(void *arg, const struct tn_pkt *pkt, enum where where,
			     unsigned int port), void *arg);
/*
 * Return: true if the far end of the cable has not accepted packet @tseq of @session, which waits
 * in the RETRY buffer of @port of @node or was parked from it. False also if the far end has died
 * or started anew: it may have accepted the packet, so this may be only a copy.
 */
bool not_accepted(const struct world *w, uint32_t node, unsigned int port, uint32_t session,
		  uint16_t tseq);
/* Finds a copy of @p that may still arrive, and says in @buf where. False: there is none. */
bool find_packet(const struct world *w, const struct world_packet *p, char *buf, size_t room);

#endif /* CHECK_IMPL_H */
