// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: one cable of a growth
 *
 * A link carries management packets in order and repeats lost ones, but a manager may lose some:
 * its socket is full, or the link is trained anew. So a message does not contain what is new, but
 * how much its sender has sent since the growth began (struct fm_growth_sums), and how much it has
 * received from the other end. Sums only rise, and the receiver takes the differences. So any later
 * message makes up for a lost one, and a repeated message has no effect.
 *
 * An end repeats its last message until the other one has received all its sums. Every message
 * other than ACK and REFUSE is answered within ACK_AFTER: by the next message that the receiver
 * sends over this cable, whatever its kind, or else by ACK. This is sooner than REPEAT, so a
 * message is repeated only if it or its answer was lost, or late. In a growth that is faster than
 * ACK_AFTER, nearly all answers are messages that are sent anyway. REFUSE is itself an answer: if
 * it was lost, the neighbour repeats PROPAGATE, and is refused again.
 *
 * A node that is not a member keeps no sums: it refuses everything that the asking end asks for. If
 * it becomes a member later, its sums for that cable begin with the amount that it has refused,
 * which the first message of the other end contains.
 *
 * Invariant, for each sum: confirmed <= sent at each end, and received at one end <= sent at the
 * other. So a message is forged if it confirms more than was sent, or if it and those before it
 * together answer for more nodes than were asked for: the largest sums count, because those are
 * kept. Otherwise one message could say that all nodes were found and the next one that none was.
 * fm_edge_open() would be below 0, and the growth would wait for answers until its limit
 * (answers_that_exceed_the_question_together_are_forged()). A manager that has started again since
 * it refused contradicts itself without a lie: it no longer knows that it gave nodes back. So does
 * a member that has left, and then refuses all nodes.
 */
#include <string.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/grow/edge.h"
#include "lib/deps/invariant.h"

#define REPEAT (50 * MS)
#define ACK_AFTER (20 * MS)
/* after this many attempts the neighbour is silent: 1 s, less than the limit of root/grown.c */
#define TRIES_MAX 20

void fm_edges_reset(struct fm_growth *g)
{
	memset(g->edge, 0, sizeof(g->edge));
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		g->edge[p].due = g->edge[p].ack = NEVER;
}

/*
 * Nodes that a member gives back to a node other than its parent are refused, so they need no
 * confirmation.
 */
static bool lacks_confirmation(const struct fm_growth *g, unsigned int p)
{
	const struct fm_growth_edge *e = &g->edge[p];

	return e->sent.asked != e->confirmed.asked || e->sent.done != e->confirmed.done ||
	       (p == g->up && e->sent.back != e->confirmed.back) ||
	       e->sent.step != e->confirmed.step;
}

void fm_edge_send(struct fm_growth *g, unsigned int p, enum fm_growth_kind kind)
{
	struct fm_growth_edge *e = &g->edge[p];
	struct fm_growth_msg m = {
		.kind = kind, .id = g->id, .terms = g->terms, .sent = e->sent,
		.received = e->received, .life = g->life, .to = e->life, .first = e->first,
		.total = g->total, .met = g->met, .end = g->end };

	e->ack = NEVER;
	if (!g->port[p].up)
		return;
	if (kind != FM_GROWTH_ACK && kind != FM_GROWTH_RELEASED && kind != FM_GROWTH_REFUSE) {
		e->kind = kind;
		e->due = g->now + REPEAT;
	}
	g->ops->send(g->arg, p, &m);
}

void fm_edge_answer(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m,
		    enum fm_growth_kind kind, uint8_t met)
{
	struct fm_growth_msg r = {
		.kind = kind, .id = m->id, .received = m->sent, .to = m->life, .met = met };

	if (kind == FM_GROWTH_REFUSE)
		r.sent.back = m->sent.asked;
	else
		r.end = (struct fm_growth_end) {
			.guid = g->guid, .why = FM_GROWTH_FORGOTTEN, .port = (uint8_t)p };
	g->ops->send(g->arg, p, &r);
}

void fm_edge_meet(struct fm_growth_edge *e, const struct fm_growth_msg *m)
{
	uint32_t back = m->received.back < m->sent.asked ? m->received.back : m->sent.asked;

	if (e->sent.back || e->received.asked)
		return;
	e->sent.back = back;
	e->confirmed.back = back;
	e->received.asked = back;
}

/*
 * Return: true if the other end answers for nodes for which it has answered before, as it no longer
 * knows: it gave them back, or was a member, and has left.
 */
static bool has_forgotten_answer(const struct fm_growth_edge *e, const struct fm_growth_msg *m)
{
	return (m->sent.back < e->received.back || (e->life && !m->life)) &&
	       later(m->sent.done, e->received.done) + later(m->sent.back, e->received.back) >
		       e->sent.asked;
}

bool fm_edge_is_past(const struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	const struct fm_growth_edge *e = &g->edge[p];

	return (m->to && m->to != g->life) || (e->life && m->life && m->life != e->life) ||
	       ((!m->to || p == g->up) && m->received.back > e->sent.back) ||
	       has_forgotten_answer(e, m);
}

bool fm_edge_is_true(const struct fm_growth_edge *e, const struct fm_growth_msg *m)
{
	uint64_t done = later(m->sent.done, e->received.done);
	uint64_t back = later(m->sent.back, e->received.back);

	return done + back <= e->sent.asked &&
	       m->received.asked <= e->sent.asked && m->received.done <= e->sent.done &&
	       m->received.back <= e->sent.back && m->received.step <= e->sent.step &&
	       m->sent.asked <= TORUS_MAX_NODES;
}

static void raise_sum(uint32_t *sum, uint32_t to, bool *rises)
{
	if (to <= *sum)
		return;
	*sum = to;
	*rises = true;
}

void fm_edge_confirm(struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	struct fm_growth_edge *e = &g->edge[p];
	bool rises = false;

	raise_sum(&e->confirmed.asked, m->received.asked, &rises);
	raise_sum(&e->confirmed.done, m->received.done, &rises);
	raise_sum(&e->confirmed.back, m->received.back, &rises);
	if (m->received.step > e->confirmed.step) {
		e->confirmed.step = m->received.step;
		rises = true;
	}
	if (rises)
		e->tries = 0;
	if (!lacks_confirmation(g, p))
		e->due = NEVER;
	invariant(e->confirmed.asked <= e->sent.asked && e->confirmed.step <= e->sent.step);
}

void fm_edge_owe(struct fm_growth *g, unsigned int p, enum fm_growth_kind kind)
{
	struct fm_growth_edge *e = &g->edge[p];

	if (kind != FM_GROWTH_ACK && kind != FM_GROWTH_REFUSE)
		e->ack = earlier(e->ack, g->now + ACK_AFTER);
}

void fm_edge_close(struct fm_growth *g, unsigned int p)
{
	g->open &= (uint16_t)~(1u << p);
	g->edge[p].due = g->edge[p].ack = NEVER;
}

uint16_t fm_edges_due(struct fm_growth *g)
{
	uint16_t silent = 0;

	for (unsigned int p = 0; p < g->ports; p++) {
		struct fm_growth_edge *e = &g->edge[p];

		if (e->due <= g->now && e->tries == TRIES_MAX) {
			e->due = NEVER;
			silent |= (uint16_t)(1u << p);
		} else if (e->due <= g->now) {
			e->tries++;
			fm_edge_send(g, p, e->kind);
		}
		if (e->ack <= g->now)
			fm_edge_send(g, p, FM_GROWTH_ACK);
	}
	return silent;
}

uint64_t fm_edges_expiry(const struct fm_growth *g)
{
	uint64_t at = NEVER;

	for (unsigned int p = 0; p < g->ports; p++)
		at = earlier(at, earlier(g->edge[p].due, g->edge[p].ack));
	return at;
}
