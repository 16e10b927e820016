// SPDX-License-Identifier: GPL-2.0-only
/*
 * Judges squares of cables as node/square.c does, but from what each node has reported of its own
 * cables. So the cables at three corners are enough: the fourth corner need not have joined.
 */
#include <torus/topology.h>

#include "daemon/fm/root/corner.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/wire/init.h"

/* Return: the other end of the cable of @m at port @p; its GUID is 0 if it is not known. */
static struct fm_end find_end(const struct fm_record *m, unsigned int p)
{
	const struct fm_port_row *r = m ? &m->row.port[p] : NULL;

	if (!m || m->state == FM_NODE_DEAD || p >= m->row.nports || r->state != FM_PORT_UP)
		return (struct fm_end){ .guid = 0 };
	return (struct fm_end){ .guid = r->peer_guid, .port = r->peer_port };
}

/*
 * Return: the GUID of the node at the other end of the cable at @p, if it is another node, and the
 * cable ends there at the port opposite to @p; else 0.
 */
static uint64_t find_straight(const struct fm *fm, const struct fm_record *m, unsigned int p)
{
	struct fm_end end = find_end(m, p);

	return end.guid != m->guid && end.port == fm_opposite(fm->ndims, p) ? end.guid : 0;
}

static bool leads_to(struct fm_end end, uint64_t guid, unsigned int port)
{
	return end.guid == guid && end.port == port;
}

/*
 * Judges the square of a node, its neighbour @at_p at port @p, its neighbour @at_q at port @q, and
 * the node at the fourth corner.
 */
static enum fm_square judge_one(const struct fm *fm, uint64_t at_p, unsigned int p, uint64_t at_q,
				unsigned int q)
{
	unsigned int back_p = fm_opposite(fm->ndims, p), back_q = fm_opposite(fm->ndims, q);
	struct fm_end far = find_end(fm_record(fm->root, at_p), q);
	struct fm_end by_q = find_end(fm_record(fm->root, at_q), p);
	bool closed;

	if (far.guid && by_q.guid) {
		closed = leads_to(by_q, far.guid, back_p) && far.port == back_q;
	} else if (far.guid) {
		by_q = find_end(fm_record(fm->root, far.guid), back_p);
		closed = leads_to(by_q, at_q, p) && far.port == back_q;
	} else {
		far = find_end(fm_record(fm->root, by_q.guid), back_q);
		closed = leads_to(far, at_p, q) && by_q.port == back_p;
	}
	if (!far.guid || !by_q.guid)
		return FM_SQUARE_NONE;
	return closed ? FM_SQUARE_CLOSED : FM_SQUARE_OPEN;
}

enum fm_square fm_corner_judge(const struct fm *fm, const struct torus_shape *shape,
			       const struct fm_record *m, unsigned int port)
{
	uint64_t at_p = find_straight(fm, m, port), at_q;
	bool open = false;

	for (unsigned int q = 0; at_p && q < 2 * fm->ndims; q++) {
		enum fm_square is;

		if (q % fm->ndims == port % fm->ndims)
			continue;
		at_q = find_straight(fm, m, q);
		is = at_q ? judge_one(fm, at_p, port, at_q, q) : FM_SQUARE_NONE;
		/* A square does not count if that dimension has size 2 (node/square.c). */
		if (is == FM_SQUARE_CLOSED && shape->size[q % fm->ndims] != 2)
			return is;
		open |= is == FM_SQUARE_OPEN;
	}
	return open ? FM_SQUARE_OPEN : FM_SQUARE_NONE;
}
