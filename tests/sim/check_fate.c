// SPDX-License-Identifier: GPL-2.0-only
/*
 * Follows each packet by counting its copies in the memory of NICs. A packet must arrive once,
 * or come back as unreachable, or its last copy must be freed for one of these reasons:
 *
 *	died		a copy was in a NIC that lost its power
 *	unreachable	no row led to the destination, and none back to the source
 *	late		its destination had given it up, and rightly so: the root had ended the
 *			drain without proof (bounded_at), or the packet was under way for longer
 *			than a receiver waits (gap_time), or a copy was in a living NIC that was
 *			judged dead because no link joined it to the others
 *
 * Anything else is a loss. It is reported when the last copy is freed, with the node. It is also
 * an error to give up a packet too early: a receiver continues behind a gap, or a source lifts a
 * hold, although a copy can still arrive.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check_impl.h"
#include "kernel/core/nic_impl.h"

#define SENT	  1
#define ARRIVED	  2
#define RETURNED  4
#define DIED	  8	/* a NIC that had a copy lost its power */
#define UNSURE	  16	/* a NIC may have accepted it and passed it on without acknowledging it */
#define REFUSED	  32	/* a copy came after its destination had given the packet up */
#define APART	  64	/* a copy was in a living NIC when that was judged dead */
#define WAYLESS	  128	/* a NIC had no row for it, and none back to its source */
#define OVER	  256	/* it is not counted as alive any more, though it may yet come by a cable */

#define PARKED_APART UINT16_MAX

/**
 * struct fate - what became of a packet
 * @life: nic_life of the destination when it arrived
 * @copies: number of copies in the memory of NICs
 * @parked: 1 + the node that replayed a parked copy; 0: none did; PARKED_APART: several did
 * @is: mask of SENT, ARRIVED, ...
 * @bounds: that of struct check_flow when it was sent
 */
struct fate {
	uint64_t sent_at;
	uint32_t life;
	uint16_t copies, parked, is;
	uint32_t bounds;
};

static struct fate *fate_of(struct check_flow *c, const struct world_packet *p)
{
	struct flow *f = flow_of(c, p->src, p->dst, p->vc);

	while (f->room <= p->seq) {
		f->room = f->room ? 2 * f->room : 64;
		f->fate = realloc(f->fate, f->room * sizeof(*f->fate));
		if (!f->fate)
			abort();
	}
	for (; f->nfates <= p->seq; f->nfates++)
		f->fate[f->nfates] = (struct fate) { 0 };
	return &f->fate[p->seq];
}

void fate_free(struct flow *f)
{
	free(f->fate);
}

static bool ended(const struct fate *fate)
{
	return fate->is & (ARRIVED | RETURNED);
}

/* Return: true if the packet may be given up although a copy can still arrive. */
static bool may_be_late(const struct check_flow *c, const struct fate *fate)
{
	struct tn_params params;

	tn_params_default(&params);
	return fate->is & APART || fate->sent_at <= c->bounded_at ||
	       c->w->now - fate->sent_at > params.gap_time;
}

static void wrong_packet(struct check_flow *c, const struct world_packet *p, const char *what)
{
	flow_wrong(c, "%u to %u, VC %u: packet %llu %s", p->src, p->dst, p->vc,
		   (unsigned long long)p->seq, what);
}

void fate_copied(struct check_flow *c, const struct world_packet *p)
{
	fate_of(c, p)->copies++;
}

/* Notes how many packets the NICs have counted as early: further ones are judged at the end. */
static void begin_early(struct check_flow *c)
{
	for (uint32_t i = 0; i < c->w->nodes; i++)
		c->early[i] = c->w->node[i].on ?
				tn_nic_counters(c->w->node[i].nic)[TORUS_NC_REORDERED] : 0;
}

void fate_bounded(struct check_flow *c)
{
	c->bounded_at = c->w->now;
	c->bounds++;
	c->older = c->alive;
	if (!c->older)
		begin_early(c);
}

/* A packet arrives or comes back, or its last copy in a NIC ends. */
static void end_packet(struct check_flow *c, struct fate *fate)
{
	if (fate->is & OVER)
		return;
	fate->is |= OVER;
	c->alive--;
	if (fate->bounds != c->bounds && !--c->older)
		begin_early(c);
}

void fate_sent(struct check_flow *c, const struct world_packet *p)
{
	struct fate *fate = fate_of(c, p);

	fate->is |= SENT;
	fate->sent_at = c->w->now;
	fate->bounds = c->bounds;
	c->alive++;
}

/* Notes that @p is given up for the reason @why. This is an error if a copy can still arrive. */
static void given_up(struct check_flow *c, const struct world_packet *p, const char *why)
{
	const struct fate *fate = fate_of(c, p);
	char where[100], text[160];

	if (!fate->copies || ended(fate) || may_be_late(c, fate) ||
	    !find_packet(c->w, p, where, sizeof(where)))
		return;
	snprintf(text, sizeof(text), "is still %s, but %s", where, why);
	wrong_packet(c, p, text);
}

/*
 * Handles the delivery of the VCD packet @p: its receiver has given up all missing packets before
 * it.
 */
static void gap(struct check_flow *c, const struct world_packet *p)
{
	struct flow *f = flow_of(c, p->src, p->dst, p->vc);
	struct world_packet missing = *p;

	for (missing.seq = f->next; missing.seq < p->seq; missing.seq++)
		given_up(c, &missing, "a later one arrived before it");
}

struct unsure {
	struct check_flow *c;
	unsigned int port;
	uint32_t session;
};

static bool mark_unsure(void *arg, const struct tn_pkt *pkt, enum where where, unsigned int port)
{
	struct unsure *u = arg;
	struct world_packet id;

	if (((where == IN_RETRY && port == u->port) ||
	     (where == IN_PARKING && pkt->unresolved && pkt->session == u->session)) &&
	    nic_packet(pkt, &id))
		fate_of(u->c, &id)->is |= UNSURE;
	return false;
}

void fate_unsure(struct check_flow *c, uint32_t node, unsigned int port, uint32_t session)
{
	each_packet(c->w, node, mark_unsure, &(struct unsure) { c, port, session });
}

static bool mark_apart(void *arg, const struct tn_pkt *pkt, enum where where, unsigned int port)
{
	struct world_packet id;

	(void)port;
	if (where != IN_HELD && where != IN_WINDOW && nic_packet(pkt, &id))
		fate_of(arg, &id)->is |= APART;
	return false;
}

void fate_apart(struct check_flow *c, uint32_t node)
{
	each_packet(c->w, node, mark_apart, c);
}

/* Return: where packets were parked of which one was at @a and one at @b, as in struct fate. */
static uint16_t parked_at(uint16_t a, uint16_t b)
{
	return !a || a == b ? b : !b ? a : PARKED_APART;
}

struct replay {
	struct check_flow *c;
	uint32_t node;
};

static bool mark_parked(void *arg, const struct tn_pkt *pkt, enum where where, unsigned int port)
{
	const struct replay *r = arg;
	struct world_packet id;
	struct fate *fate;

	(void)port;
	if (where == IN_PARKING && nic_packet(pkt, &id)) {
		fate = fate_of(r->c, &id);
		fate->parked = parked_at(fate->parked, (uint16_t)(r->node + 1));
	}
	return false;
}

void fate_replayed(struct check_flow *c, uint32_t node)
{
	each_packet(c->w, node, mark_parked, &(struct replay) { c, node });
}

/*
 * @p arrived before. Packets of VCA have no sequence number by which the destination could tell a
 * second copy. There may be one if a NIC could not know what its neighbour had, and has counted
 * that.
 */
static void judge_second(struct check_flow *c, const struct world_packet *p,
			 const struct fate *fate)
{
	if (p->vc != TORUS_VC_A || !(fate->is & UNSURE))
		wrong_packet(c, p, "arrived twice");
	else if (++c->twice > fate_counted(c, TORUS_NC_UNSURE))
		wrong_packet(c, p, "arrived twice, and no NIC has counted it as unsure");
}

void fate_got(struct check_flow *c, const struct world_packet *p)
{
	struct flow *f = flow_of(c, p->src, p->dst, p->vc);
	struct fate *fate = fate_of(c, p);
	uint32_t life = c->w->node[p->dst].nic_life;

	if (fate->is & ARRIVED && fate->life == life)
		judge_second(c, p, fate);
	fate->life = life;
	end_packet(c, fate);
	if (p->vc != TORUS_VC_A && !f->anew)
		gap(c, p);
	fate->is |= ARRIVED;
	c->handed = fate;
}

void fate_returned(struct check_flow *c, const struct world_packet *p)
{
	struct fate *fate = fate_of(c, p);

	end_packet(c, fate);
	c->back += p->vc != TORUS_VC_A && !(fate->is & RETURNED);
	fate->is |= RETURNED;
}

/* The last copy of @p was freed at @node, and the packet has not arrived. */
static void lost(struct check_flow *c, uint32_t node, const struct world_packet *p,
		 struct fate *fate)
{
	bool adaptive = p->vc == TORUS_VC_A;
	char text[100];

	end_packet(c, fate);
	if (fate->is & DIED) {
		c->died[adaptive]++;
	} else if (fate->is & REFUSED) {
		c->late++;
	} else if (fate->is & WAYLESS) {
		c->unreachable[adaptive]++;
	} else {
		snprintf(text, sizeof(text), "is lost: its last copy ended at node %u", node);
		wrong_packet(c, p, text);
	}
}

/*
 * A copy of @p ended at its destination without being delivered, and the packet has arrived there
 * before: the destination has discarded a second copy. There may be one only if some NIC could not
 * know what its neighbour had. If the flow has been numbered anew since, the destination cannot know
 * that it had the packet, and counts the copy as lost (kernel/core/flow.h).
 */
static void discarded(struct check_flow *c, const struct world_packet *p, const struct fate *fate,
		      const struct tn_pkt *pkt)
{
	if (flow_of(c, p->src, p->dst, p->vc)->epoch == pkt->tail.epoch)
		c->doubles++;
	else
		c->outdated[p->dst]++;
	if (!(fate->is & UNSURE))
		wrong_packet(c, p, "came twice, although each NIC knew what its neighbour had");
}

/*
 * Return: true if @pkt was replayed by the NIC in whose memory it is, and not by one before. This
 * includes packets that were parked when the replay had begun, for a port that opens at its end.
 */
static bool was_replayed_here(const struct tn_pkt *pkt)
{
	return pkt->tail.flags & TN_TAIL_REPLAYED && pkt->in_port == TN_PORT_HOST;
}

void fate_freed(struct check_flow *c, uint32_t node, const struct world_packet *p,
		const struct tn_pkt *pkt)
{
	struct fate *fate = fate_of(c, p);
	bool refused = node == p->dst && pkt->hdr.type == TN_DATA && !ended(fate);
	bool handed = c->handed == fate;

	c->handed = NULL;
	if (was_replayed_here(pkt))
		fate->parked = parked_at(fate->parked, (uint16_t)(node + 1));
	if (handed && pkt->hdr.type == TN_DATA)
		flow_of(c, p->src, p->dst, p->vc)->epoch = pkt->tail.epoch;
	if (node == p->dst && node != p->src && pkt->hdr.type == TN_DATA && !pkt->hdr.relayed &&
	    p->vc != TORUS_VC_A && !handed && c->w->node[node].on && fate->is & ARRIVED) {
		if (fate->life == c->w->node[node].nic_life) {
			discarded(c, p, fate, pkt);
		} else {
			/*
			 * The NIC has restarted since, and takes it for one of before its first, or
			 * for one of an earlier numbering, which it counts as lost.
			 */
			c->refused++;
			c->outdated[node]++;
		}
	}
	if (!c->w->node[node].on)
		fate->is |= DIED;
	else if (refused && p->vc != TORUS_VC_A && may_be_late(c, fate)) {
		fate->is |= REFUSED;
		c->refused++;
	}
	if (pkt->hdr.type == TN_UNREACH)
		fate->is |= WAYLESS;	/* another copy may be in a RETRY buffer yet */
	if (!--fate->copies && fate->is & SENT && !ended(fate))
		lost(c, node, p, fate);
}

/* --- holds are lifted -------------------------------------------------------------- */

struct waiting {
	struct check_flow *c;
	uint32_t node;
	uint64_t *n;		/* packets of each flow of @node not yet in the network */
};

static bool count_waiting(void *arg, const struct tn_pkt *pkt, enum where where,
			  unsigned int port)
{
	struct waiting *w = arg;
	struct world_packet id;

	(void)port;
	if ((where == IN_HELD || where == IN_WINDOW) && nic_packet(pkt, &id))
		w->n[id.dst * TORUS_VCS + id.vc]++;
	return false;
}

/* Handles the end of a flow's hold: all its packets but the last @waiting must have ended. */
static void flow_released(struct check_flow *c, struct world_packet p, uint64_t waiting)
{
	struct flow *f = flow_of(c, p.src, p.dst, p.vc);

	while (f->low < f->nfates && (!f->fate[f->low].copies || ended(&f->fate[f->low])))
		f->low++;
	for (p.seq = f->low; p.seq + waiting < f->nfates; p.seq++)
		given_up(c, &p, "its flow's hold is lifted");
}

void fate_released(struct check_flow *c, uint32_t node)
{
	const struct tn_nic *nic = c->w->node[node].nic;
	struct waiting w = { c, node, calloc((size_t)c->w->nodes * TORUS_VCS, sizeof(*w.n)) };

	if (!w.n)
		abort();
	each_packet(c->w, node, count_waiting, &w);
	for (uint32_t dst = 0; dst < c->w->nodes && dst < nic->nodes; dst++)
		for (unsigned int vc = 0; tn_on_hold(nic, dst) && vc < TORUS_VC_A; vc++)
			flow_released(c, (struct world_packet) { node, dst, vc, 0 },
				      w.n[dst * TORUS_VCS + vc]);
	free(w.n);
}

/* --- the end ------------------------------------------------------------------------ */

uint64_t fate_counted(const struct check_flow *c, enum torus_node_counter which)
{
	uint64_t n = c->gone[which];

	for (uint32_t i = 0; i < c->w->nodes; i++)
		if (c->w->node[i].on)
			n += tn_nic_counters(c->w->node[i].nic)[which];
	return n;
}

uint64_t fate_died(const struct check_flow *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->w->nodes * c->w->nodes * TORUS_VCS; i++) {
		const struct wnode *src = &c->w->node[i / TORUS_VCS / c->w->nodes];
		const struct wnode *dst = &c->w->node[i / TORUS_VCS % c->w->nodes];
		const struct flow *f = &c->flow[i];

		/* NICs in their first life. */
		if (src->nic_life != 1 || dst->nic_life != 1 || i % TORUS_VCS == TORUS_VC_A)
			continue;
		for (uint64_t seq = 0; seq < f->nfates; seq++)
			n += f->fate[seq].is & SENT && f->fate[seq].is & DIED &&
			     !f->fate[seq].copies && !ended(&f->fate[seq]);
	}
	return n;
}

/* Reports packets that are still under way. */
static void none_alive(struct check_flow *c)
{
	for (uint32_t i = 0; i < c->w->nodes * c->w->nodes * TORUS_VCS; i++) {
		struct world_packet p = {
			.src = i / TORUS_VCS / c->w->nodes,
			.dst = i / TORUS_VCS % c->w->nodes,
			.vc = i % TORUS_VCS,
		};
		struct flow *f = &c->flow[i];

		for (p.seq = 0; p.seq < f->nfates; p.seq++)
			if (f->fate[p.seq].is & SENT && f->fate[p.seq].copies &&
			    !ended(&f->fate[p.seq]))
				wrong_packet(c, &p, "never arrived and is still in a NIC");
	}
}

/*
 * Return: how many packets of a flow arrived in other lives of the destination than @life, between
 * two packets that arrived in @life.
 */
static uint64_t other_lives(const struct flow *f, uint32_t life)
{
	uint64_t n = 0, since = 0;
	bool begun = false;

	for (uint64_t seq = 0; seq < f->nfates; seq++) {
		const struct fate *fate = &f->fate[seq];

		if (!(fate->is & ARRIVED))
			continue;
		if (fate->life == life) {
			n += since;
			since = 0;
			begun = true;
		}
		since += begun && fate->life != life;
	}
	return n;
}

/*
 * A flow's destination got some packets in one life, and an earlier packet of the flow in a later
 * one: it died and came back while no root led. In the first life it had given that packet up. In the
 * second it cannot know that the packets between were delivered (kernel/core/flow.h). So it counts
 * these as lost in both.
 */
static uint64_t outlived(const struct check_flow *c)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < c->w->nodes * c->w->nodes * TORUS_VCS; i++) {
		uint32_t dst = i / TORUS_VCS % c->w->nodes;

		for (uint32_t life = 1; life <= c->w->node[dst].nic_life; life++)
			n += other_lives(&c->flow[i], life);
	}
	return n;
}

/*
 * Return: how many numbers of the flow are missing before the last packet that arrived; one that came
 * when it had been given up counts twice.
 */
static uint64_t missing(const struct flow *f)
{
	uint64_t n = 0, since = 0;

	for (uint64_t seq = 0; seq < f->nfates; seq++) {
		if (f->fate[seq].is & ARRIVED) {
			n += since;
			since = 0;
		} else {
			since += f->fate[seq].is & SENT;
			since += !!(f->fate[seq].is & REFUSED);
		}
	}
	return n;
}

/*
 * A receiver in its first life must not count more packets as lost than are missing in the flows to
 * it, and than it got second copies of a former numbering. If it got none of these, no NIC was
 * restarted, all packets had a way, and none came late, it must count exactly what is missing. A
 * restarted NIC may number its flows anew, and so may others that had no way to it, and what is
 * missing before that is not counted.
 */
static void lost_are_counted(struct check_flow *c)
{
	bool exact = !c->unreachable[0] && !c->back && !c->late;

	for (uint32_t i = 0; i < c->w->nodes; i++)
		exact &= c->w->node[i].nic_life <= 1;
	for (uint32_t dst = 0; dst < c->w->nodes; dst++) {
		uint64_t lost, due = 0;

		if (!c->w->node[dst].on || c->w->node[dst].nic_life > 1)
			continue;
		for (uint32_t src = 0; src < c->w->nodes; src++)
			for (unsigned int vc = 0; vc < TORUS_VC_A; vc++)
				due += missing(flow_of(c, src, dst, vc));
		lost = tn_nic_counters(c->w->node[dst].nic)[TORUS_NC_LOST];
		if (lost > due + c->outdated[dst] || (lost < due && exact && !c->outdated[dst]))
			flow_wrong(c, "node %u counted %llu packets as lost; %llu are missing", dst,
				   (unsigned long long)lost, (unsigned long long)due);
	}
}

/*
 * Return: packets of the flow, of those sent when @bounds was the same, that may have come before an
 * earlier one. That one is missing, or was
 * in a NIC that was judged dead; or it came in an earlier life of the destination's NIC, which does
 * not know that now; or both were parked, at different nodes, which replay at the same time.
 */
static uint64_t overtaking(const struct flow *f, uint32_t bounds)
{
	uint32_t life = UINT32_MAX;
	uint16_t parked = 0;
	uint64_t n = 0;
	bool may = false;

	for (uint64_t seq = 0; seq < f->nfates; seq++) {
		const struct fate *fate = &f->fate[seq];

		may |= fate->is & APART || (fate->is & (SENT | ARRIVED)) == SENT;
		if (fate->is & ARRIVED) {
			may |= fate->life > life;
			life = fate->life < life ? fate->life : life;
			n += fate->bounds == bounds &&
			     (may || (fate->parked &&
				      parked_at(parked, fate->parked) == PARKED_APART));
		}
		parked = parked_at(parked, fate->parked);
	}
	return n;
}

/*
 * A packet may overtake another one of its flow only in the cases of overtaking(), or if holds were
 * released without proof that earlier packets had arrived; then only until all these have ended.
 */
static void order_is_counted(struct check_flow *c)
{
	if (c->older)
		return;
	for (uint32_t dst = 0; dst < c->w->nodes; dst++) {
		uint64_t counted, may = 0;

		if (!c->w->node[dst].on)
			continue;
		for (uint32_t src = 0; src < c->w->nodes; src++)
			for (unsigned int vc = 0; vc < TORUS_VC_A; vc++)
				may += overtaking(flow_of(c, src, dst, vc), c->bounds);
		counted = tn_nic_counters(c->w->node[dst].nic)[TORUS_NC_REORDERED] - c->early[dst];
		if (counted > may)
			flow_wrong(c, "node %u counted %llu packets as early; %llu may have been", dst,
				   (unsigned long long)counted, (unsigned long long)may);
	}
}

void fate_end(struct check_flow *c)
{
	uint64_t doubled = fate_counted(c, TORUS_NC_DUPLICATES);
	uint64_t missed = fate_counted(c, TORUS_NC_LOST);
	/*
	 * A packet that came back leaves a gap if an earlier one of its flow still arrives. A late
	 * packet may count as lost twice: when it is given up, and when it comes.
	 */
	uint64_t gone = c->died[0] + c->unreachable[0] + c->back + 2 * c->late + outlived(c);

	for (uint32_t dst = 0; dst < c->w->nodes; dst++)
		gone += c->outdated[dst];
	none_alive(c);
	lost_are_counted(c);
	order_is_counted(c);
	/* A packet that comes after it was given up may count as a duplicate, too. */
	if (doubled < c->doubles || doubled > c->doubles + c->refused)
		flow_wrong(c, "NICs counted %llu duplicates, and %llu to %llu came",
			   (unsigned long long)doubled, (unsigned long long)c->doubles,
			   (unsigned long long)(c->doubles + c->refused));
	if (missed > gone)
		flow_wrong(c, "receivers counted %llu packets as lost, but at most %llu were",
			   (unsigned long long)missed, (unsigned long long)gone);
}
