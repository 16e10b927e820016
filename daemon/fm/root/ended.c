// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ends of sessions of links. When a link is lost, each end must learn up to which packet the
 * other end had received, by a table or by a later step of its recovery. The ports at both ends
 * stay closed until a replay.
 *
 * Test: tests/unit/test_fm_ends.c, tests/unit/test_fm_sessions.c.
 */
#include <torus/topology.h>

#include "daemon/fm/root/ended.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

static bool is_in_table(const struct fm_entry *e, const struct fm_ended *n)
{
	return e->session[n->port] == n->session &&
	       (e->seq[n->port] == n->seq || n->seq == FM_SEQ_GONE);
}

/*
 * Adds the end of a session to the step, unless the table contains it. Session 0 means that the
 * port is up and open.
 */
static void add_port(const struct fm *fm, struct fm_step *s, const struct fm_ended *n)
{
	if (n->session && s->nended < FM_ENDED_MAX && !is_in_table(&fm->table.entry[n->node], n))
		s->ended[s->nended++] = *n;
}

/*
 * Adds to the step, for each neighbour of @node, that @node is dead: how far it had received is not
 * known.
 */
static void add_dead(struct fm *fm, struct fm_step *s, uint32_t node)
{
	const struct torus_shape *shape = &fm->table.shape;

	for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
		const struct fm_record *o = fm_record_at(fm->root, torus_neighbour(shape, node, p));
		const struct fm_port_row *far =
			o ? &o->row.port[torus_dir_opposite(shape, p)] : NULL;

		if (far)
			add_port(fm, s, &(struct fm_ended) { node, far->session, FM_SEQ_GONE,
							    (uint8_t)p });
	}
}

static void add_node(struct fm *fm, struct fm_step *s, uint32_t node)
{
	const struct fm_record *m = fm_record_at(fm->root, node);

	if (!m)
		return;
	if (m->state == FM_NODE_DEAD)
		add_dead(fm, s, node);
	for (unsigned int p = 0; p < 2 * fm->ndims; p++)
		add_port(fm, s, &(struct fm_ended) { node, m->row.port[p].session,
						    m->row.port[p].seq, (uint8_t)p });
}

/*
 * The second end of a cable may report the end of its session after the table was made, or be found
 * dead. The nodes that wait for this information get it with the next count, because a new version
 * would use up a colour.
 */
void fm_ended_fill(struct fm *fm, struct fm_step *s)
{
	const struct fm_marks *changed = &fm->root->changes.table;

	for (uint32_t i = 0; i < changed->n; i++)
		add_node(fm, s, changed->node[i]);
}

void fm_ended_reopen(struct fm *fm)
{
	const struct fm_marks *closed = &fm->root->changes.closed;

	for (uint32_t i = 0; i < closed->n; i++) {
		uint32_t node = closed->node[i];
		struct fm_record *m = fm_record_at(fm->root, node);

		for (unsigned int p = 0; m && p < 2 * fm->ndims; p++)
			if (m->row.port[p].state == FM_PORT_UP &&
			    !(fm->table.closed[node] & 1u << p))
				m->opening |= (uint16_t)(1u << p);
	}
}

/*
 * Forgets the ended sessions of the ports that @node opened at REPLAY. For a port that has closed
 * again since, the end of the session is kept, because the other end waits for it. It is also kept
 * for a port that the present table excludes: the REPLAY was that of an earlier table, and the node
 * may not have done it before it took this one; a silent neighbour's entry depends on it
 * (publish.c). Return: true if ports stay closed.
 */
static bool forget_node(struct fm *fm, uint32_t node)
{
	struct fm_record *m = fm_record_at(fm->root, node);
	bool left = false;

	for (unsigned int p = 0; m && p < 2 * fm->ndims; p++) {
		if (!m->row.port[p].closed)
			continue;
		if (!(m->opening & ~fm->table.closed[node] & 1u << p)) {
			left = true;
			continue;
		}
		m->row.port[p].closed = false;
		m->row.port[p].session = 0;
		m->row.port[p].seq = 0;
		fm_mark(&fm->root->changes.table, node);
	}
	if (m)
		m->opening = 0;
	return left;
}

/*
 * The nodes have removed the ends of sessions of opened ports from their port rows, and the root
 * does the same in its copies.
 */
void fm_ended_forget(struct fm *fm)
{
	struct fm_marks *closed = &fm->root->changes.closed;
	uint32_t left = 0;

	for (uint32_t i = 0; i < closed->n; i++) {
		uint32_t node = closed->node[i];

		closed->is[node] = forget_node(fm, node);
		if (closed->is[node])
			closed->node[left++] = node;
	}
	closed->n = left;
}
