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
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/root.h"
#include "daemon/fm/root/roster.h"

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
		*t = (struct fm_told) { .epoch = h->term, .table = h->table, .open = h->open,
					.root = h->table_root, .ups = h->ups };
	if (h->term == t->epoch && h->table == t->table)
		t->clean |= h->clean;
}

/* The shape that the fabric will have, if it is known before it settles. */
static const struct torus_shape *coming(const struct fm *fm)
{
	if (fm->root->restored)
		return &fm->root->shape;
	return fm->cfg.shape.ndims ? &fm->cfg.shape : NULL;
}

static bool said_room(struct fm_root *r, const struct torus_shape *shape)
{
	if (!r->said)
		r->said = calloc(torus_nodes(shape), sizeof(*r->said));
	return r->said;
}

/*
 * The NIC of the latest version works in the shape that the fabric has. A root whose NIC has lost its
 * memory, or has been away for long, takes that, and all nodes keep their places.
 */
static bool shape_take(struct fm *fm, const struct fm_hello *h)
{
	const struct torus_shape *cfg = &fm->cfg.shape;
	struct fm_root *r = fm->root;

	if (!h->version || h->version <= r->version_seen || torus_nodes(&h->shape) < 2 ||
	    (cfg->ndims && memcmp(cfg, &h->shape, sizeof(*cfg))) ||
	    (r->restored && !memcmp(&r->shape, &h->shape, sizeof(h->shape))))
		return false;
	fm_recall_free(r);
	for (uint32_t i = 0; i < r->nmates; i++)
		if (r->mate[i].node != TORUS_NO_NODE)
			fm_mate_move(fm, &r->mate[i], TORUS_NO_NODE);
	r->mate[0].fixed = false;
	r->restored = true;
	r->shape = h->shape;
	return true;
}

void fm_recall_own(struct fm *fm)
{
	const struct fm_table *t = &fm->table;
	struct fm_root *r = fm->root;

	if (!t->version || !r->restored || memcmp(&t->shape, &r->shape, sizeof(t->shape)) ||
	    !said_room(r, &t->shape))
		return;
	for (uint32_t i = 0; i < t->nodes; i++)
		r->said[i] = (struct fm_said) { .table = t->version, .admin = t->entry[i].admin };
	for (uint32_t i = 0; i < t->nodes; i++)
		for (unsigned int p = 0; p < 2u * t->shape.ndims; p++)
			if (t->entry[torus_neighbour(&t->shape, i, p)].admin &
			    1u << torus_dir_opposite(&t->shape, p))
				r->said[i].across |= (uint16_t)(1u << p);
}

void fm_recall_hello(struct fm *fm, const struct fm_hello *h)
{
	const struct torus_shape *shape = coming(fm);
	struct fm_root *r = fm->root;
	struct fm_said *s;

	if (r->settled || !h->placed)
		return;
	if (h->table)
		told(&r->told, h);
	if (shape_take(fm, h))
		shape = coming(fm);
	if (!h->table || !shape || memcmp(shape, &h->shape, sizeof(*shape)) || !said_room(r, shape))
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
