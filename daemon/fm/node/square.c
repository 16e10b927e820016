// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: squares of cables
 *
 * The NICs at the ends of a cable exchange GUID and port, and an Init contains the other ends of
 * all cables of its sender. So a node knows the neighbours of its neighbours, before any of them
 * has a place. In a torus, a step along port p and then one along port q, which is of another
 * dimension, leads to the same node as a step along q and then one along p: the four cables are a
 * square. In n dimensions a node with a neighbour at each port has 2(n - 1) squares with each of
 * its cables.
 *
 * Lemma 1. A correct cable closes each square whose other three cables are correct.
 *
 * Lemma 2. A cable whose far end was exchanged with that of another cable closes no square that
 * counts. Proof: let the far ends of two cables from A and from A' along p be exchanged, and let
 * all others be correct. A square of A's cable with q closes then only if A' is the neighbour of A
 * at q, and A is the neighbour of A' at q as well, so the dimension of q has size 2. There the two
 * rings of p look alike, and the square does not show which of them continues where. So for a cable
 * along p no square counts as closed if the dimension of q has size 2; the size of the dimension of
 * p does not matter.
 *
 * One closed square is enough to call a cable correct. More cannot be required: a wrong cable, or a
 * neighbour that reports false cables, opens some squares of the correct cables near it. The
 * squares on the other side of these cables do not contain it, and stay closed. Cables that were
 * moved together, as a bundle, are not detected: they close the squares among themselves.
 *
 * Test: tests/sim/test_wave.c exchanges each pair of cables of 3x3 nodes, and some of others.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/square.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/wire/init.h"
#include "lib/deps/invariant.h"

/** struct peer_cables - the cables of the neighbour @guid, from its last Init at one port */
struct peer_cables {
	uint64_t guid;
	struct fm_end end[TORUS_MAX_PORTS];
};

/** struct fm_squares - for each port, the neighbour's cables */
struct fm_squares {
	struct peer_cables port[TORUS_MAX_PORTS];
};

bool fm_squares_new(struct fm *fm)
{
	fm->squares = calloc(1, sizeof(*fm->squares));
	return fm->squares;
}

void fm_squares_free(struct fm *fm)
{
	free(fm->squares);
}

static bool is_same_end(const struct fm_end *a, const struct fm_end *b)
{
	return a->guid == b->guid && a->port == b->port;
}

bool fm_squares_store(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	struct peer_cables *t = &fm->squares->port[port];
	bool news = false;

	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		news |= !is_same_end(&t->end[p], &init->end[p]);
	t->guid = init->guid;
	memcpy(t->end, init->end, sizeof(t->end));
	return news;
}

void fm_squares_fill(const struct fm *fm, struct fm_init *init)
{
	invariant(fm->nports <= TORUS_MAX_PORTS);
	init->nends = (uint8_t)fm->nports;
	for (unsigned int p = 0; p < fm->nports; p++)
		init->end[p] = (struct fm_end) {
			.guid = fm->row.port[p].peer_guid, .port = fm->row.port[p].peer_port,
		};
}

/* Return: the cables of the neighbour at @p; NULL if they are not known. */
static const struct peer_cables *cables_at(const struct fm *fm, unsigned int p)
{
	const struct peer_cables *t = &fm->squares->port[p];

	return t->guid && t->guid == fm->row.port[p].peer_guid ? t : NULL;
}

/* Return: true if the dimension of @p has size 2: both of its ports lead to one node. */
static bool is_pair(const struct fm *fm, unsigned int p)
{
	return fm->size[p % fm->ndims] == 2 || fm->row.port[p].peer_guid ==
	       fm->row.port[fm_opposite(fm->ndims, p)].peer_guid;
}

/* Return: true if the cable at @p leads to the opposite port of another node. */
static bool is_straight(const struct fm *fm, unsigned int p)
{
	const struct fm_port_row *r = &fm->row.port[p];

	return r->peer_guid && r->peer_guid != fm->guid &&
	       r->peer_port == fm_opposite(fm->ndims, p);
}

/* Judges the square along the ports @p and @q. The cables of both neighbours must be known. */
static enum fm_square judge_square(const struct fm *fm, unsigned int p, unsigned int q)
{
	const struct fm_end *a = &cables_at(fm, p)->end[q], *b = &cables_at(fm, q)->end[p];

	invariant(p % fm->ndims != q % fm->ndims);
	if (!a->guid || !b->guid)
		return FM_SQUARE_NONE;
	return a->guid == b->guid && a->port == fm_opposite(fm->ndims, q) &&
	       b->port == fm_opposite(fm->ndims, p) ? FM_SQUARE_CLOSED : FM_SQUARE_OPEN;
}

enum fm_square fm_squares_judge(const struct fm *fm, unsigned int port)
{
	bool open = false;

	invariant(fm->ndims && port < fm_ports_used(fm));
	if (!is_straight(fm, port) || !cables_at(fm, port))
		return FM_SQUARE_NONE;
	for (unsigned int q = 0; q < fm_ports_used(fm); q++) {
		enum fm_square is;

		if (q % fm->ndims == port % fm->ndims || !is_straight(fm, q) || !cables_at(fm, q))
			continue;
		is = judge_square(fm, port, q);
		if (is == FM_SQUARE_CLOSED && !is_pair(fm, q))
			return is;
		open |= is == FM_SQUARE_OPEN;
	}
	return open ? FM_SQUARE_OPEN : FM_SQUARE_NONE;
}
