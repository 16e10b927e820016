// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the larger shape for nodes that join later
 *
 * Nodes that have a place keep their coordinates, and with them their addresses. So a dimension can
 * grow only at its far end: there are new nodes after the last one, and if one of these leads back
 * to the nodes at 0, the dimension is closed. A dimension whose ends are cabled together has no far
 * end. New nodes are laid out from the last ones onward, without modulo along a dimension that can
 * grow. What a cable that leads back is off by is a multiple of the size, as in discover.c. Without
 * such a cable the dimension is open, and its size is the number of its positions.
 *
 * Nodes before coordinate 0 are at the far end of a dimension whose size is not known yet: they
 * wait until cables join them to the other nodes from that end. A node whose cable leads to a place
 * that may be taken is not laid out at all: it is a spare node, or has a wrong cable. For the nodes
 * that are laid out, all cables must agree, and each node must have its own place; otherwise
 * nothing grows, because a wrong shape can never shrink again.
 *
 * The Angara paper shows two dimensions of a known size (figure 7); discovery is our addition.
 *
 * Tests: tests/unit/test_fm_grow.c, tests/unit/test_fm_growing.c.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/extend.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/wire/plan.h"
#include "lib/deps/invariant.h"
#include "lib/util/gcd.h"

#define NONE (~0U)

/**
 * struct extension - one search for a larger shape; nodes are given by their roster index
 * @old, @new: the present and the larger shape
 * @can: mask of dimensions that may grow
 * @pos: positions of the nodes that are @known
 * @queue, @n: the nodes that are known, in the order in which they were found
 * @multiple: for each dimension its size, or a multiple of it, from cables that lead back; 0: none
 *	does
 */
struct extension {
	const struct fm *fm;
	struct torus_shape old, new;
	unsigned int can;
	int32_t (*pos)[TORUS_MAX_DIMS];
	uint32_t *queue, n;
	bool *known;
	uint32_t multiple[TORUS_MAX_DIMS];
};

static const struct fm_record *mate_of(const struct extension *x, uint32_t i)
{
	return fm_record_no(x->fm->root, i);
}

/*
 * Return: the node that the cable at port @p of @i leads to, if it joins opposite ports; else NONE.
 */
static uint32_t find_cabled_peer(const struct extension *x, uint32_t i, unsigned int p)
{
	const struct fm_record *m = mate_of(x, i), *o;
	const struct fm_port_row *port = &m->row.port[p];

	if (p >= m->row.nports || port->state != FM_PORT_UP || port->problem ||
	    port->peer_port != fm_opposite(x->old.ndims, p))
		return NONE;
	o = fm_record(x->fm->root, port->peer_guid);
	return !o || o == m || o->state == FM_NODE_DEAD ? NONE : fm_record_number(x->fm->root, o);
}

static bool is_placed(const struct extension *x, uint32_t i)
{
	return mate_of(x, i)->node != TORUS_NO_NODE;
}

/* Computes the position one step through port @p. Return: false if that is before coordinate 0. */
static bool step_to(const struct extension *x, const int32_t *from, unsigned int p, int32_t *to)
{
	unsigned int d = p % x->old.ndims;
	int32_t size = x->old.size[d];

	memcpy(to, from, TORUS_MAX_DIMS * sizeof(*to));
	to[d] += p < x->old.ndims ? 1 : -1;
	if (!(x->can & 1u << d))
		to[d] = (to[d] + size) % size;
	return to[d] >= 0;
}

static bool is_inside(const struct extension *x, const int32_t *pos)
{
	for (unsigned int d = 0; d < x->old.ndims; d++)
		if (pos[d] >= x->old.size[d])
			return false;
	return true;
}

/* Finds the dimensions that can grow: those whose last nodes do not lead to the first ones. */
static void find_open(struct extension *x)
{
	x->can = ~0u;
	for (uint32_t k = 0; k < x->n; k++)
		for (unsigned int d = 0; d < x->old.ndims; d++) {
			uint32_t i = x->queue[k], j = find_cabled_peer(x, i, d);

			if (x->pos[i][d] == x->old.size[d] - 1 && j != NONE && x->known[j] &&
			    x->pos[j][d] == 0)
				x->can &= ~(1u << d);
		}
}

static void start_from_placed(struct extension *x)
{
	for (uint32_t i = 0; i < fm_roster_size(x->fm->root); i++) {
		struct torus_coords at;

		if (!is_placed(x, i) || mate_of(x, i)->state == FM_NODE_DEAD)
			continue;
		torus_node_coords(&x->old, mate_of(x, i)->node, &at);
		for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++)
			x->pos[i][d] = at.c[d];
		x->known[i] = true;
		x->queue[x->n++] = i;
	}
	find_open(x);
}

static void place_new_nodes(struct extension *x)
{
	int32_t to[TORUS_MAX_DIMS];

	for (uint32_t k = 0; k < x->n; k++)
		for (unsigned int p = 0; p < 2u * x->old.ndims; p++) {
			uint32_t i = x->queue[k], j = find_cabled_peer(x, i, p);

			if (j == NONE || x->known[j] || !step_to(x, x->pos[i], p, to) ||
			    is_inside(x, to))
				continue;
			invariant(!is_placed(x, j));	/* those with a place are known already,
							 * except for dead ones */
			memcpy(x->pos[j], to, sizeof(to));
			x->known[j] = true;
			x->queue[x->n++] = j;
		}
}

/*
 * Checks the cable from @i to @j against their positions. If it leads back, it gives a multiple of
 * the size, which is stored; in a dimension that cannot grow, it is less than the size, so that
 * find_sizes() finds none. Return: false if the cable contradicts the positions.
 */
static bool check_cable(struct extension *x, uint32_t i, unsigned int d, uint32_t j)
{
	int32_t to[TORUS_MAX_DIMS];

	step_to(x, x->pos[i], d, to);
	for (unsigned int e = 0; e < x->old.ndims; e++)
		if (e != d && to[e] != x->pos[j][e])
			return false;
	if (to[d] == x->pos[j][d])
		return true;
	x->multiple[d] = gcd((uint32_t)abs(to[d] - x->pos[j][d]), x->multiple[d]);
	return true;
}

static bool check_cables(struct extension *x)
{
	for (uint32_t k = 0; k < x->n; k++)
		for (unsigned int d = 0; d < x->old.ndims; d++) {
			uint32_t i = x->queue[k], j = find_cabled_peer(x, i, d);

			if (j == NONE || !x->known[j] || (is_placed(x, i) && is_placed(x, j)))
				continue;
			if (!check_cable(x, i, d, j))
				return false;
		}
	return true;
}

/* Computes the new sizes and open dimensions. Return: false if there are none, or nothing grows. */
static bool find_sizes(struct extension *x, uint8_t *open)
{
	uint64_t nodes = 1;

	x->new = x->old;
	for (unsigned int d = 0; d < x->old.ndims; d++) {
		uint32_t wide = x->old.size[d], size;

		for (uint32_t k = 0; k < x->n; k++)
			if (x->pos[x->queue[k]][d] >= (int32_t)wide)
				wide = (uint32_t)x->pos[x->queue[k]][d] + 1;
		size = x->multiple[d] ? x->multiple[d] : wide;
		if (size < wide || size > TORUS_MAX_SIZE)
			return false;
		if (x->multiple[d])
			*open &= (uint8_t)~(1u << d);
		else if (size != x->old.size[d])
			*open |= (uint8_t)(1u << d);
		x->new.size[d] = (uint16_t)size;
		nodes *= size;
	}
	return nodes <= TORUS_MAX_NODES && nodes > torus_nodes(&x->old);
}

static uint32_t extended_id(const struct extension *x, uint32_t i)
{
	struct torus_coords at = { .c = { 0 } };

	for (unsigned int d = 0; d < x->old.ndims; d++) {
		invariant(x->pos[i][d] >= 0 && x->pos[i][d] < x->new.size[d]);
		at.c[d] = (uint16_t)x->pos[i][d];
	}
	return torus_node_id(&x->new, &at);
}

/* Return: true if the node with the former id @was has the same addresses with the new id @id. */
static bool keeps_addresses(const struct extension *x, const struct torus_plan *plan, uint32_t was,
			    uint32_t id)
{
	struct in6_addr old = torus_plan_addr6(plan, &x->old, was),
			new = torus_plan_addr6(plan, &x->new, id);

	return torus_plan_addr4(plan, &x->new, id).s_addr ==
	       torus_plan_addr4(plan, &x->old, was).s_addr && !memcmp(&old, &new, sizeof(new));
}

/* Return: true if each node has its own place, and keeps its addresses if it had a place. */
static bool each_has_its_own(const struct extension *x)
{
	bool *taken = calloc(torus_nodes(&x->new), sizeof(*taken));
	struct torus_plan plan = fm_plan_full(&x->fm->root->plan);
	bool fine = taken && fm_plan_holds(&plan, &x->new);

	for (uint32_t k = 0; k < x->n && fine; k++) {
		uint32_t i = x->queue[k], id = extended_id(x, i);

		fine = !taken[id];
		taken[id] = true;
		if (is_placed(x, i))
			fine &= keeps_addresses(x, &plan, mate_of(x, i)->node, id);
	}
	free(taken);
	return fine;
}

bool fm_extend(const struct fm *fm, struct torus_shape *shape, uint8_t *open)
{
	uint32_t n = fm_roster_size(fm->root);
	struct extension x = {
		.fm = fm,
		.old = fm->table.shape,
		.pos = calloc(n, sizeof(*x.pos)),
		.queue = calloc(n, sizeof(*x.queue)),
		.known = calloc(n, sizeof(*x.known)),
	};
	bool found = x.pos && x.queue && x.known;

	*shape = x.new;
	*open = fm->root->open;
	if (found) {
		start_from_placed(&x);
		place_new_nodes(&x);
		invariant(x.n <= n);
		found = check_cables(&x) && find_sizes(&x, open);
		if (found)
			*shape = x.new;
		found = found && each_has_its_own(&x);
	}
	free(x.pos);
	free(x.queue);
	free(x.known);
	return found;
}
