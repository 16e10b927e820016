// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: one cable of a growth
 *
 * A link carries management packets in order and repeats lost ones, but a manager may lose some:
 * its socket is full, or the link is trained anew. So a message does not say what is new, but how
 * much its sender has said since the growth began (struct fm_growth_sums), and what it has got
 * from the receiver. Sums only rise, and the receiver takes the differences. A message that was
 * lost is made up for by any later one, and one that came already has no difference.
 *
 * An end repeats its last message until the other one has got all its sums. To a message other
 * than ACK and REFUSE there is always an answer: another message that the receiver sends by this
 * cable at once, or else ACK. So a message is repeated only if it or its answer was lost. REFUSE is
 * itself an answer: if it was lost, the neighbour repeats PROPAGATE, and is refused again.
 *
 * A node that is not a member keeps no sums: it refuses all that the asking end says. If it becomes
 * a member later, its sums by that cable begin with what the first message says that it refused.
 *
 * Invariant: heard <= said at each end, and got here <= said there, in each sum. By the first, an
 * end that claims to have got more than was said lies; so does one that has answered for more
 * nodes than it was asked for.
 */
#include <string.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/grow/edge.h"
#include "lib/deps/invariant.h"

#define REPEAT (50 * MS)
/* after this many attempts the neighbour is silent: 2 s, as long as the root waits for managers */
#define TRIES_MAX 40

void fm_edges_reset(struct fm_growth *g)
{
	memset(g->edge, 0, sizeof(g->edge));
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		g->edge[p].due = NEVER;
}

/* Nodes that a member gives back to another one than its parent are refused: no confirmation. */
static bool lacks_confirmation(const struct fm_growth *g, unsigned int p)
{
	const struct fm_growth_edge *e = &g->edge[p];

	return e->said.asked != e->heard.asked || e->said.done != e->heard.done ||
	       (p == g->up && e->said.back != e->heard.back) || e->said.step != e->heard.step;
}

void fm_edge_send(struct fm_growth *g, unsigned int p, enum fm_growth_kind kind)
{
	struct fm_growth_edge *e = &g->edge[p];
	struct fm_growth_msg m = {
		.kind = kind, .id = g->id, .terms = g->terms, .said = e->said, .got = e->got,
		.life = g->life, .to = e->life, .first = e->first, .total = g->total,
		.met = g->met, .end = g->end };

	if (!g->port[p].up)
		return;
	e->spoke = true;
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
		.kind = kind, .id = m->id, .got = m->said, .to = m->life, .met = met };

	if (kind == FM_GROWTH_REFUSE)
		r.said.back = m->said.asked;
	else
		r.end = (struct fm_growth_end) {
			.guid = g->guid, .why = FM_GROWTH_FORGOTTEN, .port = (uint8_t)p };
	g->ops->send(g->arg, p, &r);
}

void fm_edge_meet(struct fm_growth_edge *e, const struct fm_growth_msg *m)
{
	uint32_t back = m->got.back < m->said.asked ? m->got.back : m->said.asked;

	if (e->said.back || e->got.asked)
		return;
	e->said.back = back;
	e->heard.back = back;
	e->got.asked = back;
}

bool fm_edge_is_past(const struct fm_growth *g, unsigned int p, const struct fm_growth_msg *m)
{
	const struct fm_growth_edge *e = &g->edge[p];

	return (m->to && m->to != g->life) || (e->life && m->life && m->life != e->life) ||
	       ((!m->to || p == g->up) && m->got.back > e->said.back);
}

bool fm_edge_is_true(const struct fm_growth_edge *e, const struct fm_growth_msg *m)
{
	return (uint64_t)m->said.done + m->said.back <= e->said.asked &&
	       m->got.asked <= e->said.asked && m->got.done <= e->said.done &&
	       m->got.back <= e->said.back && m->got.step <= e->said.step &&
	       m->said.asked <= TORUS_MAX_NODES;
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

	raise_sum(&e->heard.asked, m->got.asked, &rises);
	raise_sum(&e->heard.done, m->got.done, &rises);
	raise_sum(&e->heard.back, m->got.back, &rises);
	if (m->got.step > e->heard.step) {
		e->heard.step = m->got.step;
		rises = true;
	}
	if (rises)
		e->tries = 0;
	if (!lacks_confirmation(g, p))
		e->due = NEVER;
	invariant(e->heard.asked <= e->said.asked && e->heard.step <= e->said.step);
}

void fm_edge_close(struct fm_growth *g, unsigned int p)
{
	g->open &= (uint16_t)~(1u << p);
	g->edge[p].due = NEVER;
}

uint16_t fm_edge_repeat(struct fm_growth *g)
{
	uint16_t silent = 0;

	for (unsigned int p = 0; p < g->ports; p++) {
		struct fm_growth_edge *e = &g->edge[p];

		if (e->due > g->now)
			continue;
		if (e->tries == TRIES_MAX) {
			e->due = NEVER;
			silent |= (uint16_t)(1u << p);
		} else {
			e->tries++;
			fm_edge_send(g, p, e->kind);
		}
	}
	return silent;
}
