// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the administrator excluded outlives the root: nodes say in HELLO which of their
 * cables the table they have excludes so, at either end, and both ends of a cable know of
 * both. Who has the later table is right, so nothing comes back that was
 * included meanwhile. A node that is away, or began anew, is spoken for by its neighbours.
 *
 * So do the colours that the former root knew to be gone from the network, and the dimensions
 * whose ends are not cabled together.
 *
 * Only the first table of a root is made of this: whoever comes later may not have heard
 * what has been decided since.
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/root.h"

/** struct fm_said - as in fm_hello, of the former root's table */
struct fm_said {
	uint64_t table;
	uint16_t admin;
	uint16_t across;
};

/* Within a version what is clean only becomes more: who heard the root last knows most. */
static void told(struct fm_told *t, const struct fm_hello *h)
{
	if (h->term > t->epoch || (h->term == t->epoch && h->table > t->table))
		*t = (struct fm_told) { .epoch = h->term, .table = h->table, .open = h->open };
	if (h->term == t->epoch && h->table == t->table)
		t->clean |= h->clean;
}

/* The shape that the fabric will have, if it is known before it settles. */
static const struct torus_shape *coming(const struct fm *fm)
{
	if (fm->root->restored)
		return &fm->shape;
	return fm->cfg.shape.ndims ? &fm->cfg.shape : NULL;
}

void fm_recall_hello(struct fm *fm, const struct fm_hello *h)
{
	const struct torus_shape *shape = coming(fm);
	struct fm_root *r = fm->root;
	struct fm_said *s;

	if (r->settled || !h->table || !h->placed || !shape ||
	    memcmp(shape, &h->shape, sizeof(*shape)))
		return;
	told(&r->told, h);
	if (!r->said)
		r->said = calloc(torus_nodes(shape), sizeof(*r->said));
	if (!r->said)
		return;
	s = &r->said[torus_node_id(shape, &h->coords)];
	if (h->table >= s->table)
		*s = (struct fm_said) { .table = h->table, .admin = h->admin, .across = h->across };
}

/* Of @node's ports those that were excluded when it, or its neighbour, heard of it last. */
static uint16_t excluded(const struct fm_said *said, const struct torus_shape *shape,
			 uint32_t node)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
		const struct fm_said *own = &said[node];
		const struct fm_said *far = &said[torus_neighbour(shape, node, p)];
		unsigned int q = torus_dir_opposite(shape, p);
		bool is = own->table >= far->table ? own->admin & 1u << p : far->across & 1u << q;

		if (is)
			mask |= (uint16_t)(1u << p);
	}
	return mask;
}

void fm_recall_end(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_root *r = fm->root;
	uint32_t ports = 0;

	for (uint32_t i = 0; r->said && i < torus_nodes(shape); i++) {
		r->admin[i] = excluded(r->said, shape, i);
		ports += (uint32_t)__builtin_popcount(r->admin[i]);
	}
	if (ports)
		fm_say(fm, FM_INFO, "table", "%u port%s stay%s excluded as before", ports,
		       ports == 1 ? "" : "s", ports == 1 ? "s" : "");
	fm_recall_free(r);
}

void fm_recall_free(struct fm_root *r)
{
	free(r->said);
	r->said = NULL;
}
