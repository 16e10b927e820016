// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: addresses by the wave
 *
 * An Init contains the sender's position and the port by which it left. So each neighbour implies a
 * position of this node: one step beyond its own, modulo the size of the dimension if that is
 * known. The first Init places the node. All further Inits check the place, and may give a better
 * one, so the order in which they come does not decide. This needs no service network: a node that
 * has no connection to the root knows its coordinates and its neighbours.
 *
 * Agreement. Where a size is not known yet, positions are signed, and two that differ by a multiple
 * of the size are the same place. Wherever nodes differ the size is at least 2, so only a
 * difference of 1 is a contradiction there. Where the size is known, any other place is a
 * contradiction. So is a cable between ports that are not opposite, or in a dimension of size 1.
 *
 * Contradiction. The node reports it as a problem: both ends, both ports, the expected end, and the
 * present one. Both ends of the cable find it, each by the other's Init.
 *
 * Doubt. A cable is doubtful if it closes no square (square.c), or if none of its squares can be
 * judged yet. The doubt of a path from the root is the number of doubtful cables on it, at most
 * FM_DOUBT_MAX; the doubt of a node is that of the path by which it got its place, and its Inits
 * contain it. The root has doubt 0. A node takes the place that the neighbour with the least doubt
 * implies.
 *
 * Lemma 1. Each node ends with the least doubt of any path from the root, whichever Init came
 * first. As long as a node's links stay up and its root is the same, its doubt only falls, so it
 * changes a bounded number of times, and each time the node sends new Inits. When a link is lost,
 * the node takes the least doubt by those neighbours left that imply its place, and FM_DOUBT_MAX
 * without any: if it kept the doubt that it had by a cable that is gone, that would outweigh all
 * new neighbours. Not detected: two nodes that are moved together and keep the cable between them.
 * Then each has its doubt by the other node, which has it by cables that are gone, so both may keep
 * their old places until the root places them (as for bundles in square.c).
 *
 * Lemma 2. If just two cables were exchanged, each place with doubt 0 is right. Each cable that
 * closes a square is right (square.c, also for size 2), and all nodes that a path of such cables
 * joins to the root have doubt 0. Where no dimension has size 1 or 2, and all links are up, these
 * are all nodes except one that lies between both wrong cables. That node has right cables to nodes
 * with doubt 0, and they agree. tests/sim/test_wave.c tries each pair of cables on 3x3 nodes.
 *
 * Without the doubt the wave would stay wrong wherever an Init over a wrong cable comes first: the
 * misplaced node places others, which agree with it and with each other, so that most neighbours
 * of each imply the same wrong place.
 *
 * Majority. The neighbours with the least doubt vote. A neighbour whose cable has squares but
 * closes none has a vote only if there are no others. The node takes the place that most of them
 * imply, and stays where it is if no other place has more votes.
 *
 * Lemma 3. A node moves a bounded number of times. A move makes more cables of this node right than
 * it makes wrong, and a cable is right or wrong for both its ends, so moves one after the other
 * come to an end. Moves at the same time might not; so with the same doubt a node moves at most
 * MOVES_MAX times. On a ring of one dimension there are no squares, a node has two neighbours, and
 * no majority: the node takes the place by the path with fewer cables.
 *
 * Flapping. A neighbour has turned if it agreed with this node's place and then implies another
 * one, while this node did not move. The count of its turns restarts when it has less doubt than
 * ever before. A neighbour that turns more often than Lemma 3 allows loses its vote, and its
 * problem stays until its link begins a new session. The root damps a link that comes and goes
 * (root/damp.c).
 *
 * Confirmation. The root does not place nodes by the wave, but by their cables, as NICs report
 * them. So one wrong cable or one forger misplaces no node in the table (root/discover.c). The
 * root's decision wins: when the NIC is placed, the position is that of the table, and only settled
 * Inits of the same sizes are judged. The root then names and excludes wrong cables
 * (root/wiring.c); the problem of the wave for such a cable ends with the table that excludes it.
 *
 * Safety. The position by the wave goes to the log, to status, to Inits and to HELLO, and nowhere
 * else. It writes no row, and places no NIC. A NIC without place and rows forwards nothing, so a
 * port with a contradiction carries no packet before the root has judged its cable. Rows made from
 * the positions of neighbours would not help: a node does not know the far cables, and two nodes
 * with contradicting places could make a cycle. A node that forges Inits, for which it needs the
 * key of the fabric (seal.c), can make other nodes show an unconfirmed place until more neighbours,
 * or the root, contradict it. It can do no more: the root excludes a cable because of what NICs
 * report of its ends, never because of a place in an Init, so a forger cannot take cables of other
 * nodes out of the table.
 *
 * Tests: tests/unit/test_fm_wave.c, tests/sim/test_wave.c.
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
#include "lib/deps/invariant.h"

#define MOVES_MAX 6	/* most moves for each root and doubt: Lemma 3 */
#define TURNS_MAX (MOVES_MAX / 2 + 1)	/* turns of an honest neighbour: its moves, and the
					 * confirmation by the root */

/**
 * struct last_init - the last Init of the neighbour at a port
 * @known: an Init has come in this session of the link
 * @surest: the least doubt that the neighbour had, for this root
 * @turns: how often the neighbour turned (see Flapping above) since it had @surest
 */
struct last_init {
	bool known, settled;
	uint8_t port, ndims, doubt, surest;
	uint8_t turns;
	uint16_t size[TORUS_MAX_DIMS];
	int32_t position[TORUS_MAX_DIMS];
	uint64_t guid, root_guid;
	char name[TORUS_NAME_MAX + 1];
};

/**
 * struct fm_wave - the place of this node by the wave
 * @port: for each port, the last Init of the neighbour
 * @moves: how often this node has moved, for @root_guid and with @doubt
 * @doubt: the doubt of this node
 * @places: this node's position comes from the wave
 * @root_guid: the root whose wave this is
 */
struct fm_wave {
	struct last_init port[TORUS_MAX_PORTS];
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

/* Return: coordinate @at modulo the size of dimension @d; @at if the size is not known. */
static int32_t reduce_position(const struct fm *fm, unsigned int d, int32_t at)
{
	int32_t size = fm->size[d];

	return size ? (at % size + size) % size : at;
}

/* Return: true if two positions may be the same place: see Agreement above. */
static bool is_same_place(const struct fm *fm, const int32_t *a, const int32_t *b)
{
	for (unsigned int d = 0; d < fm->ndims; d++) {
		int32_t far = a[d] - b[d];

		if (fm->size[d] ? far % fm->size[d] : abs(far) == 1)
			return false;
	}
	return true;
}

static bool is_same_size(const struct fm *fm, const struct last_init *h)
{
	return !memcmp(fm->size, h->size, fm->ndims * sizeof(*fm->size));
}

/*
 * Return: true if the Init is about the present root, so that it can be compared with this node's
 * place.
 */
static bool is_comparable(const struct fm *fm, const struct last_init *h)
{
	return h->known && fm->have_root && h->root_guid == fm->root_guid &&
	       h->ndims == fm->ndims && (!fm->placed || (h->settled && is_same_size(fm, h)));
}

/*
 * Computes the position of this node that the Init of the neighbour at @p implies.
 * Return: false if it implies none, because no cable should join these two ports.
 */
static bool derive_position(const struct fm *fm, unsigned int p, int32_t *at)
{
	const struct last_init *h = &fm->wave->port[p];
	unsigned int d = p % fm->ndims;

	if (p != fm_opposite(fm->ndims, h->port) || fm->size[d] == 1 || h->guid == fm->guid)
		return false;
	memcpy(at, h->position, sizeof(h->position));
	at[d] += h->port < fm->ndims ? 1 : -1;
	for (unsigned int k = 0; k < fm->ndims; k++)
		at[k] = reduce_position(fm, k, at[k]);
	return abs(at[d]) <= TORUS_MAX_NODES;
}

/* Return: true if the neighbour at @p implies that this node is at @place. */
static bool is_implied(const struct fm *fm, unsigned int p, const int32_t *place)
{
	int32_t at[TORUS_MAX_DIMS];

	return derive_position(fm, p, at) && is_same_place(fm, at, place);
}

/* Return: true if the neighbour at @p has a vote about the place of this node. */
static bool has_vote(const struct fm *fm, unsigned int p)
{
	const struct last_init *h = &fm->wave->port[p];

	return is_comparable(fm, h) && h->turns <= TURNS_MAX;
}

/* Return: the doubt of this node if it takes the place that the neighbour at @p implies. */
static unsigned int doubt_by(const struct fm *fm, unsigned int p)
{
	unsigned int doubt = fm->wave->port[p].doubt;

	return doubt + (doubt < FM_DOUBT_MAX && fm_squares_judge(fm, p) != FM_SQUARE_CLOSED);
}

/**
 * struct poll - the neighbours that have a vote now
 * @doubt: the doubt that this node has by them; above FM_DOUBT_MAX: no neighbour has a vote
 * @ports: mask of their ports
 */
struct poll {
	unsigned int doubt;
	uint32_t ports;
};

/* Finds the neighbours that vote: see Majority above. */
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
	invariant(!least.ports == (least.doubt > FM_DOUBT_MAX));
	return least;
}

/* Return: how many neighbours of @poll imply that this node is at @place. */
static unsigned int votes_for(const struct fm *fm, const struct poll *poll, const int32_t *place)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < fm_ports_used(fm); p++)
		n += poll->ports >> p & 1 && is_implied(fm, p, place);
	return n;
}

/* --- contradictions, as problems --------------------------------------------------- */

static const char *place_text(const struct fm *fm, const int32_t *at, char *buf)
{
	size_t n = 0;

	for (unsigned int d = 0; d < fm->ndims; d++)
		n += (size_t)snprintf(buf + n, TORUS_TEXT_MAX - n, d ? ",%d" : "%d",
				      (int)reduce_position(fm, d, at[d]));
	return buf;
}

/* Computes the position of the node that should be at @p: one step from this node. */
static void step_along(const struct fm *fm, unsigned int p, int32_t *at)
{
	memcpy(at, fm->position, sizeof(fm->position));
	at[p % fm->ndims] += p < fm->ndims ? 1 : -1;
}

static void report_fault(struct fm *fm, unsigned int p, const char *what)
{
	const struct last_init *h = &fm->wave->port[p];
	char here[TORUS_TEXT_MAX], there[TORUS_TEXT_MAX], want[TORUS_TEXT_MAX];
	char port[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX], due[TORUS_TEXT_MAX];
	int32_t at[TORUS_MAX_DIMS];

	step_along(fm, p, at);
	fm_problem_set(fm, "wave", p,
		       "%s:%s ('%s') is cabled to %s:%s ('%s'), expected %s:%s, by the Inits of "
		       "neighbours: %s",
		       place_text(fm, fm->position, here), torus_port_text(fm->ndims, p, port),
		       fm->cfg.name, place_text(fm, h->position, there),
		       torus_port_text(fm->ndims, h->port, peer), h->name,
		       place_text(fm, at, want),
		       torus_port_text(fm->ndims, fm_opposite(fm->ndims, p), due), what);
}

/* Return: the fault of the cable at @p, by the neighbour's Init; NULL if none is known. */
static const char *find_init_fault(const struct fm *fm, unsigned int p)
{
	const struct last_init *h = &fm->wave->port[p];

	if (!is_comparable(fm, h) || !fm->have_position)
		return NULL;
	if (h->guid == fm->guid)
		return "a cable from a node to itself";
	if (p != fm_opposite(fm->ndims, h->port))
		return "joins ports that are not opposite";
	if (fm->size[p % fm->ndims] == 1)
		return "in a dimension of size 1";
	if (!is_implied(fm, p, fm->position))
		return "leads to the wrong node";
	return h->turns <= TURNS_MAX ? NULL : "the neighbour has claimed several places";
}

/*
 * Return: true if the root has found that cable wrong, too, and reports that itself
 * (root/wiring.c).
 */
static bool is_root_problem(const struct fm *fm, unsigned int p)
{
	return fm->placed && fm->node < fm->table.nodes &&
	       fm->table.entry[fm->node].wiring & 1u << p;
}

/*
 * Reports the fault of each cable as a problem, and ends the problems of right ones. If the root
 * has placed this node, it will report the wrong cable itself, so this node delays its log line.
 */
static void judge_cables(struct fm *fm)
{
	for (unsigned int p = 0; p < fm->nports; p++) {
		const char *what = p < fm_ports_used(fm) ? find_init_fault(fm, p) : NULL;

		if (!what || is_root_problem(fm, p)) {
			fm_problem_clear(fm, "wave", p);
			continue;
		}
		if (fm->placed)
			fm_problem_await(fm, "wave", p);
		report_fault(fm, p, what);
	}
}

/* --- this node's place ------------------------------------------------------------- */

static void adopt_position(struct fm *fm, unsigned int p, const int32_t *at)
{
	char port[TORUS_TEXT_MAX];

	invariant(!fm->is_root && !fm->placed);
	memcpy(fm->position, at, sizeof(fm->position));
	fm->have_position = true;
	fm->wave->places = true;
	fm_log(fm, FM_INFO, "bootstrap", "this node takes its position from node '%s' at port %s",
	       fm->wave->port[p].name, fm_port_text(fm, p, port));
}

/*
 * Finds the place with the most votes, if it has more than @here, the votes of the present place.
 * Return: the first port whose neighbour implies that place; fm->nports: there is no such place.
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

/* Moves this node to the place that most votes are for, if it may still move. */
static void choose_place(struct fm *fm)
{
	struct poll poll = find_poll(fm);
	bool surer = poll.doubt < fm->wave->doubt;
	int32_t at[TORUS_MAX_DIMS];
	unsigned int from;

	invariant(fm->have_position && fm->wave->root_guid == fm->root_guid);
	invariant(fm->wave->doubt <= FM_DOUBT_MAX && fm->wave->moves <= MOVES_MAX);
	if (poll.doubt > fm->wave->doubt || (!surer && fm->wave->moves >= MOVES_MAX))
		return;
	/*
	 * While the size is not known, two places may seem to be the same: then the place with less
	 * doubt is taken.
	 */
	from = find_better(fm, &poll, surer ? 0 : votes_for(fm, &poll, fm->position));
	if (from == fm->nports || !derive_position(fm, from, at))
		return;
	fm->wave->moves = surer ? 0 : fm->wave->moves + 1;
	fm->wave->doubt = poll.doubt;
	if (memcmp(at, fm->position, fm->ndims * sizeof(*at)))
		adopt_position(fm, from, at);
	fm_ports_spread(fm);
}

/*
 * Called when an Init has come by @port: the first one gives this node its place, later ones may
 * move it.
 */
static void update_place(struct fm *fm, unsigned int port)
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
	choose_place(fm);
}

bool fm_wave_init(struct fm *fm, unsigned int port, const struct fm_init *init)
{
	struct last_init *h = &fm->wave->port[port];
	bool agreed = fm->have_position && is_comparable(fm, h) &&
		      is_implied(fm, port, fm->position);
	bool surer = !h->known || h->root_guid != init->root_guid || init->doubt < h->surest;
	bool news = h->known &&
		    (h->doubt != init->doubt ||
		     memcmp(h->position, init->position, init->ndims * sizeof(*h->position)));

	/* Only the dimensions that the Init has are copied. */
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
	} else if (agreed && is_comparable(fm, h) && !is_implied(fm, port, fm->position) &&
		   h->turns <= TURNS_MAX) {
		h->turns++;
	}
	invariant(h->surest <= h->doubt && h->turns <= TURNS_MAX + 1);
	update_place(fm, port);
	judge_cables(fm);
	return news;
}

/*
 * Return: true if this node has its place, and its doubt, from the wave of the root that it follows
 * now.
 */
static bool is_placed_by_wave(const struct fm *fm)
{
	return fm->have_root && fm->have_position && fm->wave->root_guid == fm->root_guid &&
	       !fm->is_root && !fm->placed;
}

void fm_wave_squares(struct fm *fm)
{
	if (!is_placed_by_wave(fm))
		return;
	choose_place(fm);
	judge_cables(fm);
}

unsigned int fm_wave_doubt(const struct fm *fm)
{
	return fm->is_root || fm->placed ? 0 : fm->wave->doubt;
}

/*
 * Return: the least doubt by any neighbour that implies the present place; FM_DOUBT_MAX if there is
 * none.
 */
static unsigned int doubt_of_place(const struct fm *fm)
{
	unsigned int least = FM_DOUBT_MAX;

	for (unsigned int p = 0; p < fm_ports_used(fm); p++)
		if (has_vote(fm, p) && is_implied(fm, p, fm->position) && doubt_by(fm, p) < least)
			least = doubt_by(fm, p);
	return least;
}

void fm_wave_forget(struct fm *fm, unsigned int port)
{
	bool had = fm->wave->port[port].known;
	unsigned int doubt;

	memset(&fm->wave->port[port], 0, sizeof(fm->wave->port[port]));
	fm_problem_clear(fm, "wave", port);
	if (!had || !is_placed_by_wave(fm))
		return;
	doubt = doubt_of_place(fm);
	if (doubt <= fm->wave->doubt)
		return;
	fm->wave->doubt = doubt;
	fm_ports_spread(fm);
	fm_wave_squares(fm);
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
		fm_log(fm, FM_INFO, "bootstrap", "the root places this node at %s; by the Inits of "
		       "neighbours it was at %s", place_text(fm, at, is),
		       place_text(fm, fm->position, was));
	memcpy(fm->position, at, sizeof(fm->position));
	fm->have_position = true;
	fm->wave->places = false;
	judge_cables(fm);
	return moved;
}

bool fm_wave_neighbour(const struct fm *fm, unsigned int port, struct fm_neighbour *out)
{
	const struct last_init *h = &fm->wave->port[port];

	if (port >= fm_ports_used(fm) || !h->known || h->root_guid != fm->root_guid ||
	    h->ndims != fm->ndims)
		return false;
	*out = (struct fm_neighbour) {
		.name = h->name, .guid = h->guid, .port = h->port, .settled = h->settled,
		.agrees = !find_init_fault(fm, port),
	};
	for (unsigned int d = 0; d < fm->ndims; d++)
		out->position[d] = reduce_position(fm, d, h->position[d]);
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
	step_along(fm, port, out->due);
	for (unsigned int d = 0; d < fm->ndims; d++)
		out->due[d] = reduce_position(fm, d, out->due[d]);
}
