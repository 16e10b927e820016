// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: addresses by the wave
 *
 * An Init tells the sender's position and the port that it left by. So each neighbour implies a
 * position of this node: one step beyond its own, modulo the size of the dimension if that is
 * known. The first Init places the node. All further Inits check the place, and may tell a better
 * one, so the order in which they come does not decide. This needs no service network: a node that
 * has no way to the root knows its coordinates and its neighbours.
 *
 * Agreement. Where a size is not known yet, positions are signed, and two that differ by a multiple
 * of the size are one place. The size is at least 2 wherever nodes differ, so only a difference of
 * 1 is a contradiction there. Where it is known, any other place is one. So is a cable between
 * ports that are not opposite, or in a dimension of size 1.
 *
 * Contradiction. The node names it: both ends, both ports, the end that was expected, and the one
 * that is there. Both ends of the cable find it, each by the other's Init.
 *
 * Doubt. A cable that closes no square (square.c), or none that can be judged yet, is doubtful. An
 * Init tells how many doubtful cables are on the way by which its sender got its place; the root
 * has none. Of all that its neighbours say, a node believes that by which its own way has the
 * fewest. So each node ends with the fewest that any way from the root has, whichever was the
 * quickest. The number is counted up to FM_DOUBT_MAX, and that of a node only falls, for one root:
 * a bounded number of times, and each time the neighbours are told.
 *
 * If the wrong cables are two that were exchanged, each cable that closes a square is right
 * (square.c, also for size 2), and so is each place without doubt. All nodes that a way of such
 * cables joins to the root get one. Where no dimension has size 1 or 2, and all links are up, these
 * are all nodes but one that lies between both wrong cables; that one has right cables to nodes
 * without doubt, and they agree (tests/sim/test_wave.c tries each pair on 3x3 nodes). Without the
 * doubt the wave would go wrong for ever wherever a wrong cable is quicker than the right ones: the
 * node that it misplaces places others, which agree with it and with each other, so that most
 * neighbours of each say the same.
 *
 * Majority. Of the neighbours by which the doubt is least, those whose cable closes none of several
 * squares count only if there are no others. The node is where most of them see it, and stays where
 * it is if none is seen by more. Each such move makes more cables of this node right than it makes
 * wrong, and a cable is right or wrong for both its ends. So moves one after the other come to an
 * end. Moves at one time might not, so a node moves a bounded number of times with the same doubt.
 * On a ring of one dimension there are no squares, a node has two neighbours, and no majority: the
 * way with fewer cables is believed.
 *
 * Flapping. A neighbour that agreed and then says a wrong place, while this node stood still, has
 * turned. Turns are counted anew when it tells less doubt than ever before. One that turns more
 * often than the bounded moves allow has no vote, and the problem stands, whatever it says, until
 * its link comes up anew; and a link that comes and goes is damped by the root (root/damp.c).
 *
 * Confirmation. The root places nodes by their cables, as NICs report them, not by the wave, so one
 * wrong cable or liar misplaces no node in the table (root/discover.c). Its word wins: once the NIC
 * is placed, the position is that of the table, and only settled Inits of the same sizes are
 * judged. Wrong cables are then named and excluded by the root (root/wiring.c).
 *
 * Safety. The position by the wave goes to the log, to status, to Inits and to HELLO, and nowhere
 * else. It writes no row, and places no NIC. A NIC without place and rows forwards nothing, so a
 * port with a contradiction carries no packet before the root has judged its cable. Rows from the
 * positions of neighbours would be no gain: a node does not know the far cables, and two nodes that
 * believe in different places could make a cycle. So a liar, which needs the key of the fabric
 * (seal.c), can make nodes show a place that is not confirmed, until more neighbours, or the root,
 * say otherwise, and that is all. The root excludes a cable for what NICs say of its ends, never
 * for what an Init says of a place, so a liar does not take cables of others out of the table.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/wave.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/status.h"
#include "daemon/fm/wire/init.h"

#define MOVES_MAX 6	/* for each root and doubt: see above */
#define TURNS_MAX (MOVES_MAX / 2 + 1)	/* of an honest neighbour: it moves, and is confirmed */

/**
 * struct heard - what the neighbour at a port said last
 * @known: it said something in this session of the link
 * @surest: the least doubt that it told of this root
 * @turns: how often it agreed, and then did not, while this node stood still, since it told that
 */
struct heard {
	bool known, settled;
	uint8_t port, ndims, doubt, surest;
	uint8_t turns;
	uint16_t size[TORUS_MAX_DIMS];
	int32_t position[TORUS_MAX_DIMS];
	uint64_t guid, root_guid;
	char name[TORUS_NAME_MAX + 1];
};

/**
 * struct fm_wave - what the neighbours said
 * @moves: of this node since it follows @root_guid with this @doubt
 * @doubt: doubtful cables on the way by which it got its place
 * @places: this node's position is by the wave
 */
struct fm_wave {
	struct heard port[TORUS_MAX_PORTS];
	unsigned int moves, doubt;
	bool places;
	uint64_t root_guid;
};

bool fm_wave_new(struct fm *fm)
{
	fm->wave = calloc(1, sizeof(*fm->wave));
	return fm->wave;
}

void fm_wave_free(struct fm *fm)
{
	free(fm->wave);
}

/* --- places ---------------------------------------------------------------------- */

static int32_t reduce(const struct fm *fm, unsigned int d, int32_t at)
{
	int32_t size = fm->size[d];

	return size ? (at % size + size) % size : at;
}

/* Return: true if two positions may be one place: see above. */
static bool is_same_place(const struct fm *fm, const int32_t *a, const int32_t *b)
{
	for (unsigned int d = 0; d < fm->ndims; d++) {
		int32_t far = a[d] - b[d];

		if (fm->size[d] ? far % fm->size[d] : abs(far) == 1)
			return false;
	}
	return true;
}

static bool is_same_size(const struct fm *fm, const struct heard *h)
{
	return !memcmp(fm->size, h->size, fm->ndims * sizeof(*fm->size));
}

/* Return: true if what came by that port is of the present root and counts. */
static bool is_comparable(const struct fm *fm, const struct heard *h)
{
	return h->known && fm->have_root && h->root_guid == fm->root_guid && h->ndims == fm->ndims &&
	       (!fm->placed || (h->settled && is_same_size(fm, h)));
}

/*
 * Where the neighbour at @p sees this node.
 * Return: false: nowhere, for no cable should be between these ports.
 */
static bool derive_position(const struct fm *fm, unsigned int p, int32_t *at)
{
	const struct heard *h = &fm->wave->port[p];
	unsigned int d = p % fm->ndims;

	if (p != fm_opposite(fm->ndims, h->port) || fm->size[d] == 1 || h->guid == fm->guid)
		return false;
	memcpy(at, h->position, sizeof(h->position));
	at[d] += h->port < fm->ndims ? 1 : -1;
	for (unsigned int k = 0; k < fm->ndims; k++)
		at[k] = reduce(fm, k, at[k]);
	return abs(at[d]) <= TORUS_MAX_NODES;
}

static bool agrees(const struct fm *fm, unsigned int p, const int32_t *place)
{
	int32_t at[TORUS_MAX_DIMS];

	return derive_position(fm, p, at) && is_same_place(fm, at, place);
}

/* Return: true if what the neighbour at @p says counts for the place of this node. */
static bool has_vote(const struct fm *fm, unsigned int p)
{
	const struct heard *h = &fm->wave->port[p];

	return is_comparable(fm, h) && h->turns <= TURNS_MAX;
}

/* Doubtful cables on the way over the neighbour at @p. */
static unsigned int doubt_by(const struct fm *fm, unsigned int p)
{
	unsigned int doubt = fm->wave->port[p].doubt;

	return doubt + (doubt < FM_DOUBT_MAX && fm_squares_judge(fm, p) != FM_SQUARE_CLOSED);
}

/**
 * struct poll - the neighbours that are asked for the place
 * @doubt: the least that there is; more than the most: none sees this node
 * @ports: mask of those by which it is that
 */
struct poll {
	unsigned int doubt;
	uint32_t ports;
};

/* Those whose cable closes no square of several that could be judged count only by themselves. */
static struct poll find_poll(const struct fm *fm)
{
	struct poll least = { .doubt = FM_DOUBT_MAX + 1 };
	int32_t at[TORUS_MAX_DIMS];
	uint32_t open = 0;

	for (unsigned int p = 0; p < fm_ports_used(fm); p++) {
		unsigned int doubt;

		if (!has_vote(fm, p) || !derive_position(fm, p, at))
			continue;
		doubt = doubt_by(fm, p);
		if (doubt < least.doubt)
			least = (struct poll) { .doubt = doubt };
		if (doubt == least.doubt)
			least.ports |= 1u << p;
		if (fm_squares_judge(fm, p) == FM_SQUARE_OPEN)
			open |= 1u << p;
	}
	if (least.ports & ~open)
		least.ports &= ~open;
	return least;
}

/* How many of the asked neighbours see this node at a place. */
static unsigned int votes_for(const struct fm *fm, const struct poll *poll, const int32_t *place)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < fm_ports_used(fm); p++)
		n += poll->ports >> p & 1 && agrees(fm, p, place);
	return n;
}

/* --- for people ------------------------------------------------------------------- */

static const char *place_text(const struct fm *fm, const int32_t *at, char *buf)
{
	size_t n = 0;

	for (unsigned int d = 0; d < fm->ndims; d++)
		n += (size_t)snprintf(buf + n, TORUS_TEXT_MAX - n, d ? ",%d" : "%d",
				      (int)reduce(fm, d, at[d]));
	return buf;
}

/* Which node should be at @p: one step from here. */
static void due_at(const struct fm *fm, unsigned int p, int32_t *at)
{
	memcpy(at, fm->position, sizeof(fm->position));
	at[p % fm->ndims] += p < fm->ndims ? 1 : -1;
}

static void tell_fault(struct fm *fm, unsigned int p, const char *what)
{
	const struct heard *h = &fm->wave->port[p];
	char here[TORUS_TEXT_MAX], there[TORUS_TEXT_MAX], want[TORUS_TEXT_MAX];
	char port[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX], due[TORUS_TEXT_MAX];
	int32_t at[TORUS_MAX_DIMS];

	due_at(fm, p, at);
	fm_problem_set(fm, "wave", p,
		       "%s:%s ('%s') is cabled to %s:%s ('%s'), expected %s:%s, by the Inits of "
		       "neighbours: %s",
		       place_text(fm, fm->position, here), torus_port_text(fm->ndims, p, port),
		       fm->cfg.name, place_text(fm, h->position, there),
		       torus_port_text(fm->ndims, h->port, peer), h->name,
		       place_text(fm, at, want),
		       torus_port_text(fm->ndims, fm_opposite(fm->ndims, p), due), what);
}

/* Return: the fault of the cable at @p, as its Inits show it; NULL: none. */
static const char *find_init_fault(const struct fm *fm, unsigned int p)
{
	const struct heard *h = &fm->wave->port[p];

	if (!is_comparable(fm, h) || !fm->have_position)
		return NULL;
	if (h->guid == fm->guid)
		return "a cable from a node to itself";
	if (p != fm_opposite(fm->ndims, h->port))
		return "joins ports that are not opposite";
	if (fm->size[p % fm->ndims] == 1)
		return "in a dimension of size 1";
	if (!agrees(fm, p, fm->position))
		return "leads to the wrong node";
	return h->turns <= TURNS_MAX ? NULL : "the neighbour has said several places";
}

static void judge(struct fm *fm)
{
	for (unsigned int p = 0; p < fm->nports; p++) {
		const char *what = p < fm_ports_used(fm) ? find_init_fault(fm, p) : NULL;

		if (what)
			tell_fault(fm, p, what);
		else
			fm_problem_clear(fm, "wave", p);
	}
}

/* --- this node's place ------------------------------------------------------------- */

static void adopt_position(struct fm *fm, unsigned int p, const int32_t *at)
{
	char port[TORUS_TEXT_MAX];

	memcpy(fm->position, at, sizeof(fm->position));
	fm->have_position = true;
	fm->wave->places = true;
	fm_say(fm, FM_INFO, "bootstrap", "position from node '%s' at port %s",
	       fm->wave->port[p].name, fm_port_text(fm, p, port));
}

/*
 * Finds where most of the asked neighbours see this node, if that is more than see it where it is.
 * Return: the first of them; the number of ports: there is none.
 */
static unsigned int find_better(const struct fm *fm, const struct poll *poll, unsigned int here)
{
	unsigned int most = here, from = fm->nports;
	int32_t at[TORUS_MAX_DIMS];

	for (unsigned int p = 0; p < fm_ports_used(fm); p++) {
		unsigned int n;

		if (!(poll->ports >> p & 1) || !derive_position(fm, p, at))
			continue;
		n = votes_for(fm, poll, at);
		if (n <= most)
			continue;
		most = n;
		from = p;
	}
	return from;
}

/* Moves to where most of the neighbours that are asked see this node. */
static void choose(struct fm *fm)
{
	struct poll poll = find_poll(fm);
	bool surer = poll.doubt < fm->wave->doubt;
	int32_t at[TORUS_MAX_DIMS];
	unsigned int from;

	if (poll.doubt > fm->wave->doubt || (!surer && fm->wave->moves >= MOVES_MAX))
		return;
	/* As long as a size is not known, two places may seem to be one: the surer one is taken. */
	from = find_better(fm, &poll, surer ? 0 : votes_for(fm, &poll, fm->position));
	if (from == fm->nports || !derive_position(fm, from, at))
		return;
	fm->wave->moves = surer ? 0 : fm->wave->moves + 1;
	fm->wave->doubt = poll.doubt;
	if (memcmp(at, fm->position, fm->ndims * sizeof(*at)))
		adopt_position(fm, from, at);
	fm_ports_moved(fm);
}

static void place(struct fm *fm, unsigned int port)
{
	int32_t at[TORUS_MAX_DIMS];

	if (fm->wave->root_guid != fm->root_guid) {
		fm->wave->root_guid = fm->root_guid;
		fm->wave->moves = 0;
		fm->wave->doubt = FM_DOUBT_MAX;
	}
	if (fm->is_root || fm->placed)
		return;
	if (!fm->have_position) {
		if (!derive_position(fm, port, at))
			return;
		adopt_position(fm, port, at);
		fm->wave->doubt = doubt_by(fm, port);
	}
	choose(fm);
}

bool fm_wave_init(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	struct heard *h = &fm->wave->port[port];
	bool agreed = fm->have_position && is_comparable(fm, h) && agrees(fm, port, fm->position);
	bool surer = !h->known || h->root_guid != init->root_guid || init->doubt < h->surest;
	bool news = h->known &&
		    (h->doubt != init->doubt ||
		     memcmp(h->position, init->position, init->ndims * sizeof(*h->position)));

	/* Words of dimensions that the Init does not have go no further. */
	memset(h->size, 0, sizeof(h->size));
	memset(h->position, 0, sizeof(h->position));
	h->known = true;
	h->settled = init->settled;
	h->port = init->port;
	h->ndims = init->ndims;
	h->doubt = init->doubt;
	h->guid = init->guid;
	h->root_guid = init->root_guid;
	memcpy(h->size, init->size, init->ndims * sizeof(*h->size));
	memcpy(h->position, init->position, init->ndims * sizeof(*h->position));
	strcpy(h->name, init->name);
	if (surer) {
		h->surest = init->doubt;
		h->turns = 0;
	} else if (agreed && is_comparable(fm, h) && !agrees(fm, port, fm->position) &&
		   h->turns <= TURNS_MAX) {
		h->turns++;
	}
	place(fm, port);
	judge(fm);
	return news;
}

void fm_wave_squares(struct fm *fm)
{
	if (!fm->have_root || !fm->have_position || fm->wave->root_guid != fm->root_guid ||
	    fm->is_root || fm->placed)
		return;
	choose(fm);
	judge(fm);
}

unsigned int fm_wave_doubt(const struct fm *fm)
{
	return fm->is_root || fm->placed ? 0 : fm->wave->doubt;
}

void fm_wave_forget(struct fm *fm, unsigned int port)
{
	memset(&fm->wave->port[port], 0, sizeof(fm->wave->port[port]));
	fm_problem_clear(fm, "wave", port);
}

bool fm_wave_confirm(struct fm *fm)
{
	char was[TORUS_TEXT_MAX], is[TORUS_TEXT_MAX];
	int32_t at[TORUS_MAX_DIMS] = { 0 };
	bool moved;

	for (unsigned int d = 0; d < fm->ndims; d++)
		at[d] = fm->coords.c[d];
	moved = fm->have_position && fm->wave->places && !is_same_place(fm, fm->position, at);
	if (moved)
		fm_say(fm, FM_INFO, "bootstrap", "the root places this node at %s; by the Inits of "
		       "neighbours it was at %s", place_text(fm, at, is),
		       place_text(fm, fm->position, was));
	memcpy(fm->position, at, sizeof(fm->position));
	fm->have_position = true;
	fm->wave->places = false;
	judge(fm);
	return moved;
}

bool fm_wave_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out)
{
	const struct heard *h = &fm->wave->port[port];

	if (port >= fm_ports_used(fm) || !h->known || h->root_guid != fm->root_guid ||
	    h->ndims != fm->ndims)
		return false;
	*out = (struct fm_neighbour) {
		.name = h->name, .guid = h->guid, .port = h->port, .settled = h->settled,
		.agrees = !find_init_fault(fm, port),
	};
	for (unsigned int d = 0; d < fm->ndims; d++)
		out->position[d] = reduce(fm, d, h->position[d]);
	return true;
}

void fm_wave_cable(const struct fm *fm, unsigned int port, struct fm_cable *out)
{
	const struct fm_port_row *r = &fm->row.port[port];

	*out = (struct fm_cable) {
		.up = fm_port_up(fm, port), .guid = r->peer_guid, .port = r->peer_port,
		.expects = fm->size[port % fm->ndims] != 1,
		.due_port = fm_opposite(fm->ndims, port), .fault = find_init_fault(fm, port),
	};
	due_at(fm, port, out->due);
	for (unsigned int d = 0; d < fm->ndims; d++)
		out->due[d] = reduce(fm, d, out->due[d]);
}
