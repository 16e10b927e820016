// SPDX-License-Identifier: GPL-2.0-only
/*
 * Books: the nodes of a table, one copy of each version for all machines of a library. Root, term
 * and version identify the content of a table, because no root has a term twice, or gives a version
 * to two tables. The first machine that takes a version makes the book, from its former book and
 * the changes. Machines that take the version later get the same book. The last user frees it.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/node/library.h"
#include "daemon/fm/fm.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/random.h"
#include "daemon/fm/wire/msg.h"
#include "lib/deps/invariant.h"

struct fm_library {
	struct fm_book *first;
};

struct fm_library *fm_library_new(void)
{
	return calloc(1, sizeof(struct fm_library));
}

void fm_library_free(struct fm_library *l)
{
	invariant(!l || !l->first);	/* all machines were freed before */
	free(l);
}

struct fm_book *fm_book_new(const struct torus_shape *shape)
{
	struct fm_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->refs = 1;
	b->shape = *shape;
	b->nodes = torus_nodes(shape);
	b->entry = calloc(b->nodes, sizeof(*b->entry));
	b->closed = calloc(b->nodes, sizeof(*b->closed));
	if (!b->nodes || !b->entry || !b->closed) {
		fm_book_put(b);
		return NULL;
	}
	return b;
}

struct fm_book *fm_book_get(struct fm_book *b)
{
	invariant(b->refs);
	b->refs++;
	return b;
}

void fm_book_put(struct fm_book *b)
{
	struct fm_book **at;

	invariant(!b || b->refs);
	if (!b || --b->refs)
		return;
	if (b->library) {
		for (at = &b->library->first; *at != b; at = &(*at)->next)
			;
		*at = b->next;
	}
	free(b->entry);
	free(b->closed);
	fm_orders_free(&b->orders);
	fm_jobs_free(&b->jobs);
	hash_free(&b->by_guid);
	free(b);
}

/* Return: mask of the ports that the node's own entry excludes. */
static uint16_t excluded_by(const struct fm_book *b, uint32_t node)
{
	const struct fm_entry *e = &b->entry[node];
	uint16_t all = (uint16_t)((1u << 2 * b->shape.ndims) - 1);

	if (e->state == FM_NODE_UP || e->state == FM_NODE_SILENT)
		return (e->fault | e->wiring | e->admin) & all;
	return all;
}

void fm_book_close(struct fm_book *b)
{
	for (uint32_t i = 0; i < b->nodes; i++)
		b->closed[i] = excluded_by(b, i);
	torus_exclusions_close(&b->shape, b->closed);
	hash_free(&b->by_guid);
}

/*
 * Return: true if both ends of each cable of @node are closed (must not be used), or both are open.
 */
static bool is_symmetric(const struct fm_book *b, uint32_t node)
{
	for (unsigned int p = 0; p < 2u * b->shape.ndims; p++) {
		uint16_t there = b->closed[torus_neighbour(&b->shape, node, p)];

		if ((b->closed[node] >> p & 1) != (there >> torus_dir_opposite(&b->shape, p) & 1))
			return false;
	}
	return true;
}

/*
 * Computes which ports of @node must not be used: those that its own entry or the entry of the
 * neighbour excludes.
 */
static void close_node(struct fm_book *b, uint32_t node)
{
	uint16_t mask = excluded_by(b, node);

	for (unsigned int p = 0; p < 2u * b->shape.ndims; p++)
		if (excluded_by(b, torus_neighbour(&b->shape, node, p)) &
		    1u << torus_dir_opposite(&b->shape, p))
			mask |= (uint16_t)(1u << p);
	b->closed[node] = mask;
}

#define CHANGE_MAX 16	/* if more than 1 of this many nodes change, the exclusions of all nodes
			 * are computed again */

void fm_book_change(struct fm_book *b, const struct fm_entry *entry, uint32_t n)
{
	bool all = n > b->nodes / CHANGE_MAX;

	invariant(!b->library);
	b->ups = 0;
	b->lack.known = false;
	for (uint32_t i = 0; i < n; i++) {
		struct fm_entry *e = &b->entry[entry[i].node];

		invariant(entry[i].node < b->nodes);
		if (e->guid != entry[i].guid ||
		    (e->state == FM_NODE_ABSENT) != (entry[i].state == FM_NODE_ABSENT))
			hash_free(&b->by_guid);
		*e = entry[i];
	}
	if (all)
		fm_book_close(b);
	for (uint32_t i = 0; !all && i < n; i++) {
		close_node(b, entry[i].node);
		for (unsigned int p = 0; p < 2u * b->shape.ndims; p++)
			close_node(b, torus_neighbour(&b->shape, entry[i].node, p));
	}
	for (uint32_t i = 0; i < n; i++)
		invariant(is_symmetric(b, entry[i].node));
}

void fm_book_orders(struct fm_book *b, const struct fm_table_msg *m)
{
	invariant(!b->library);
	for (uint32_t i = 0; b->orders.n && i < m->nentries; i++)
		fm_orders_drop(&b->orders, m->entries[i].node, UINT16_MAX);
	for (uint32_t i = 0; i < m->norders; i++) {
		struct fm_order o = m->orders[i];

		o.ports &= b->entry[o.node].admin;
		fm_orders_put(&b->orders, &o);
	}
}

void fm_book_jobs(struct fm_book *b, const struct fm_table_msg *m)
{
	invariant(!b->library);
	if (m->anew || !m->base)
		fm_jobs_set(&b->jobs, m->jobs, m->njobs);
}

static bool index_book(struct fm_book *b)
{
	if (!hash_reserve(&b->by_guid, b->nodes))
		return false;
	for (uint32_t i = 0; i < b->nodes; i++)
		if (b->entry[i].state != FM_NODE_ABSENT)
			hash_put(&b->by_guid, (uint32_t)fm_mix(b->entry[i].guid), i);
	return true;
}

static bool is_at(const struct fm_book *b, uint32_t node, uint64_t guid)
{
	return b->entry[node].guid == guid && b->entry[node].state != FM_NODE_ABSENT;
}

uint32_t fm_book_ups(struct fm_book *b)
{
	if (b->ups)
		return b->ups - 1;
	for (uint32_t i = 0; i < b->nodes; i++)
		b->ups += b->entry[i].state == FM_NODE_UP;
	return b->ups++;
}

uint32_t fm_book_find(struct fm_book *b, uint64_t guid)
{
	uint32_t i;

	if (!b->by_guid.size && !index_book(b)) {
		for (i = 0; i < b->nodes; i++)
			if (is_at(b, i, guid))
				return i;
		return TORUS_NO_NODE;
	}
	for (uint32_t at = 0; hash_next(&b->by_guid, (uint32_t)fm_mix(guid), &at, &i);)
		if (is_at(b, i, guid))
			return i;
	return TORUS_NO_NODE;
}

struct fm_book *fm_library_find(struct fm_library *l, uint64_t root, uint64_t term,
				uint64_t version, const struct torus_shape *shape)
{
	for (struct fm_book *b = l ? l->first : NULL; b; b = b->next)
		if (b->root == root && b->term == term && b->version == version &&
		    !memcmp(&b->shape, shape, sizeof(*shape)))
			return fm_book_get(b);
	return NULL;
}

void fm_library_add(struct fm_library *l, struct fm_book *b, uint64_t root, uint64_t term,
		    uint64_t version)
{
	invariant(!b->library && b->refs);
	b->root = root;
	b->term = term;
	b->version = version;
	b->library = l;
	b->next = l->first;
	l->first = b;
}
