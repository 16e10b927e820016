// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A torus and its excluded cables.
 *
 * A cable may be used only if neither end excludes it. The exclusions of each end are stored, so
 * that a cable becomes usable only when the last end that excluded it no longer does, and so that
 * disagreements can be reported.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "health.h"

void torus_exclusions_close(const struct torus_shape *shape, uint16_t *excluded)
{
	uint32_t nodes = torus_nodes(shape), node;
	unsigned int dir;

	for (node = 0; node < nodes; node++) {
		if (!excluded[node])
			continue;
		for (dir = 0; dir < 2u * shape->ndims; dir++)
			if (excluded[node] & 1u << dir)
				excluded[torus_neighbour(shape, node, dir)] |=
					(uint16_t)(1u << torus_dir_opposite(shape, dir));
	}
}

/* --- runs ------------------------------------------------------------------ */

static uint64_t *rings_at(const struct torus_health *h, const struct torus_coords *at,
			  unsigned int d)
{
	uint32_t ring = 0;
	unsigned int j;

	for (j = 0; j < h->shape.ndims; j++)
		ring += at->c[j] * h->ring[d][j];
	invariant(ring < h->nodes / h->shape.size[d]);
	return h->cut[d] + (size_t)ring * h->words[d];
}

/* Return: the first set bit from @lo to @hi - 1, or @hi. */
static unsigned int first_set(const uint64_t *bits, unsigned int lo, unsigned int hi)
{
	unsigned int w;

	invariant(lo <= hi);
	for (w = lo / 64; w * 64 < hi; w++) {
		uint64_t word = w == lo / 64 ? bits[w] & ~0ull << lo % 64 : bits[w];
		unsigned int i = w * 64 + (word ? (unsigned int)__builtin_ctzll(word) : 64);

		if (word)
			return i < hi ? i : hi;
	}
	return hi;
}

/* Return: one more than the last set bit from @lo to @hi - 1, or @lo. */
static unsigned int last_set(const uint64_t *bits, unsigned int lo, unsigned int hi)
{
	unsigned int w;

	invariant(lo <= hi);
	for (w = (hi + 63) / 64; w-- > lo / 64; ) {
		uint64_t word =
			hi - w * 64 < 64 ? bits[w] & ((1ull << (hi - w * 64)) - 1) : bits[w];
		unsigned int i = (w + 1) * 64 - (word ? (unsigned int)__builtin_clzll(word) : 64);

		if (word)
			return i > lo ? i : lo;
	}
	return lo;
}

bool lt_run_ok(const struct torus_health *h, const struct torus_coords *at,
	       unsigned int dir, unsigned int hops)
{
	unsigned int n = h->shape.ndims, d = dir < n ? dir : dir - n;
	unsigned int size = h->shape.size[d], lo = at->c[d], hi;
	const uint64_t *bits;

	invariant(hops <= size);
	if (!h->nfaults)
		return true;
	bits = rings_at(h, at, d);
	if (dir >= n)
		lo = lo >= hops ? lo - hops : lo + size - hops;
	hi = lo + hops;
	if (hi <= size)
		return first_set(bits, lo, hi) == hi;
	return first_set(bits, lo, size) == size && first_set(bits, 0, hi - size) == hi - size;
}

unsigned int lt_reach(const struct torus_health *h, const struct torus_coords *at,
		      unsigned int dir)
{
	unsigned int n = h->shape.ndims, d = dir < n ? dir : dir - n;
	unsigned int size = h->shape.size[d], from = at->c[d], cut;
	const uint64_t *bits = rings_at(h, at, d);

	if (dir < n) {
		cut = first_set(bits, from, size);
		return cut < size ? cut - from : size - from + first_set(bits, 0, from);
	}
	cut = last_set(bits, 0, from);
	return cut ? from - cut : from + size - last_set(bits, from, size);
}

static bool cable_ok(const struct torus_health *h, const struct torus_coords *at,
		     unsigned int dir)
{
	unsigned int n = h->shape.ndims;

	return h->shape.size[dir < n ? dir : dir - n] > 1 && lt_run_ok(h, at, dir, 1);
}

bool lt_isolated(const struct torus_health *h, uint32_t node)
{
	struct torus_coords at;
	unsigned int dir;

	if (!h->nfaults)
		return false;
	torus_node_coords(&h->shape, node, &at);
	for (dir = 0; dir < 2u * h->shape.ndims; dir++)
		if (!(h->reported[node] & 1u << dir) && cable_ok(h, &at, dir))
			return false;
	return true;
}

/* --- components ------------------------------------------------------------ */

static int prepare_search(struct torus_health *h)
{
	if (!h->mark)
		h->mark = calloc(h->nodes, sizeof(*h->mark));
	if (!h->queue)
		h->queue = calloc(h->nodes, sizeof(*h->queue));
	if (!h->mark || !h->queue)
		return -ENOMEM;
	if (!++h->round) {
		memset(h->mark, 0, h->nodes * sizeof(*h->mark));
		h->round = 1;
	}
	return 0;
}

/* Appends the unseen neighbours of @node to the queue. Return: its new length. */
static uint32_t push_neighbours(struct torus_health *h, uint32_t node, uint32_t tail)
{
	struct torus_coords at, next;
	unsigned int dir;

	torus_node_coords(&h->shape, node, &at);
	for (dir = 0; dir < 2u * h->shape.ndims; dir++) {
		uint32_t to;

		if (!cable_ok(h, &at, dir))
			continue;
		next = at;
		to = lt_step(h, &next, node, dir);
		if (h->mark[to] == h->round)
			continue;
		invariant(tail < h->nodes);
		h->mark[to] = h->round;
		h->queue[tail++] = to;
	}
	return tail;
}

int lt_spread(struct torus_health *h, uint32_t from,
	      int (*level)(void *arg, const uint32_t *node, uint32_t n), void *arg)
{
	uint32_t head = 0, tail = 0, end;
	int ret = prepare_search(h);

	if (ret)
		return ret;
	h->mark[from] = h->round;
	h->queue[tail++] = from;
	while (head < tail && !ret) {
		for (end = tail; head < end; head++)
			tail = push_neighbours(h, h->queue[head], tail);
		if (tail > end)
			ret = level(arg, h->queue + end, tail - end);
	}
	return ret;
}

struct label {
	uint32_t *of;
	uint32_t name;
};

static int label_level(void *arg, const uint32_t *node, uint32_t n)
{
	const struct label *l = arg;

	while (n--) {
		invariant(l->of[node[n]] == TORUS_NO_NODE && node[n] > l->name);
		l->of[node[n]] = l->name;
	}
	return 0;
}

static int label_all(struct torus_health *h)
{
	struct label l;
	uint32_t i;
	int err;

	if (!h->label)
		h->label = malloc(h->nodes * sizeof(*h->label));
	if (!h->label)
		return -ENOMEM;
	memset(h->label, 0xff, h->nodes * sizeof(*h->label));
	l.of = h->label;
	for (i = 0; i < h->nodes; i++) {
		if (h->label[i] != TORUS_NO_NODE)
			continue;
		h->label[i] = l.name = i;
		err = lt_spread(h, i, label_level, &l);
		if (err)
			return err;
	}
	h->labelled = true;
	return 0;
}

int lt_apart(struct torus_health *h, uint32_t a, uint32_t b)
{
	if (!h->nfaults)
		return 0;
	if (!h->labelled) {
		int err = label_all(h);

		if (err)
			return err;
	}
	return h->label[a] != h->label[b];
}

uint32_t torus_health_component(struct torus_health *h, uint32_t node)
{
	if (node >= h->nodes || (!h->labelled && label_all(h)))
		return TORUS_NO_NODE;
	return h->label[node];
}

/* --- changes --------------------------------------------------------------- */

/* Makes room for another excluded cable. Called before a change, so that the change cannot fail. */
static int reserve_fault(struct torus_health *h)
{
	uint32_t room = h->room ? 2 * h->room : 64;
	struct torus_cable *f;

	if (h->room - h->nfaults >= TORUS_MAX_PORTS)
		return 0;
	f = realloc(h->fault, room * sizeof(*f));
	if (!f)
		return -ENOMEM;
	h->fault = f;
	h->room = room;
	return 0;
}

static void fault_remove(struct torus_health *h, const struct torus_cable *c)
{
	uint32_t i;

	for (i = 0; i < h->nfaults; i++)
		if (h->fault[i].node == c->node && h->fault[i].dim == c->dim) {
			h->fault[i] = h->fault[--h->nfaults];
			return;
		}
	invariant(!"an excluded cable is listed");
}

/*
 * Sets the bit in @hurt of all nodes of a ring, if a cable of the ring is excluded; else clears it.
 */
static void hurt_set(struct torus_health *h, uint32_t node, const struct torus_coords *at,
		     unsigned int d)
{
	unsigned int size = h->shape.size[d], i;
	bool is = first_set(rings_at(h, at, d), 0, size) < size;

	invariant(node / h->stride[d] % size == at->c[d]);
	if (is == lt_hurt(h, node, d))
		return;
	node -= at->c[d] * h->stride[d];
	for (i = 0; i < size; i++, node += h->stride[d])
		h->hurt[d][node / 64] ^= 1ull << node % 64;
}

/* Updates the state of a cable from the exclusions of its ends. Return: true if it changed. */
static bool update_cable(struct torus_health *h, const struct torus_cable *c)
{
	unsigned int n = h->shape.ndims, d = c->dim;
	struct torus_coords at;
	uint64_t *word, bit;
	uint32_t far;
	bool down;

	far = torus_neighbour(&h->shape, c->node, d);
	down = h->reported[c->node] & 1u << d || h->reported[far] & 1u << (n + d);
	torus_node_coords(&h->shape, c->node, &at);
	word = rings_at(h, &at, d) + at.c[d] / 64;
	bit = 1ull << at.c[d] % 64;
	if (down == !!(*word & bit))
		return false;
	invariant(!down || h->nfaults < h->room);
	if (down)
		h->fault[h->nfaults++] = *c;
	else
		fault_remove(h, c);
	*word ^= bit;
	hurt_set(h, c->node, &at, d);
	h->labelled = false;
	return true;
}

int torus_health_set(struct torus_health *h, uint32_t node, uint16_t ports,
		     struct torus_cable changed[TORUS_MAX_PORTS])
{
	unsigned int n = h->shape.ndims, dir;
	uint16_t differ;
	int count = 0;

	if (node >= h->nodes || ports >> 2 * n)
		return -EINVAL;
	if (reserve_fault(h))
		return -ENOMEM;
	differ = h->reported[node] ^ ports;
	h->reported[node] = ports;
	for (dir = 0; differ && dir < 2 * n; dir++) {
		struct torus_cable c = { .node = node, .dim = (uint8_t)dir };

		if (!(differ & 1u << dir) || h->shape.size[dir < n ? dir : dir - n] < 2)
			continue;
		if (dir >= n) {
			c.node = torus_neighbour(&h->shape, node, dir);
			c.dim = (uint8_t)(dir - n);
		}
		if (!update_cable(h, &c))
			continue;
		if (changed)
			changed[count] = c;
		count++;
	}
	invariant(h->nfaults <= h->nodes * n);
	return count;
}

bool torus_health_cut(const struct torus_health *h, uint32_t node, unsigned int port)
{
	struct torus_coords at;

	if (node >= h->nodes || port >= 2u * h->shape.ndims)
		return true;
	torus_node_coords(&h->shape, node, &at);
	return !cable_ok(h, &at, port);
}

bool torus_health_disagree(const struct torus_health *h, uint32_t node, unsigned int port)
{
	uint32_t far;

	if (node >= h->nodes || port >= 2u * h->shape.ndims)
		return false;
	far = torus_neighbour(&h->shape, node, port);
	return (h->reported[node] >> port & 1) !=
	       (h->reported[far] >> torus_dir_opposite(&h->shape, port) & 1);
}

uint32_t torus_health_faults(const struct torus_health *h, const struct torus_cable **list)
{
	if (list)
		*list = h->fault;
	return h->nfaults;
}

/* --- beginning and end ----------------------------------------------------- */

static int make_rings(struct torus_health *h)
{
	unsigned int n = h->shape.ndims, d, j;

	for (d = 0; d < n; d++)
		h->stride[d] = d ? h->stride[d - 1] * h->shape.size[d - 1] : 1;
	for (d = 0; d < n; d++) {
		uint32_t rings = h->nodes / h->shape.size[d];

		for (j = 0; j < n; j++)
			h->ring[d][j] = j < d ? h->stride[j] :
					j > d ? h->stride[j] / h->shape.size[d] : 0;
		h->words[d] = (h->shape.size[d] + 63u) / 64;
		h->cut[d] = calloc((size_t)rings * h->words[d], sizeof(*h->cut[d]));
		h->hurt[d] = calloc(h->nodes / 64 + 2, sizeof(*h->hurt[d]));
		if (!h->cut[d] || !h->hurt[d])
			return -ENOMEM;
	}
	h->reported = calloc(h->nodes, sizeof(*h->reported));
	return h->reported ? 0 : -ENOMEM;
}

int torus_health_new(const struct torus_shape *shape, const uint16_t *excluded,
		     struct torus_health **out)
{
	struct torus_health *h;
	uint16_t all;
	uint32_t i;
	int err;

	*out = NULL;
	if (!torus_nodes(shape))
		return -EINVAL;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->shape = *shape;
	h->nodes = torus_nodes(shape);
	err = make_rings(h);
	all = (uint16_t)((1u << 2 * shape->ndims) - 1);
	for (i = 0; excluded && !err && i < h->nodes; i++)
		if (excluded[i] & all)
			err = torus_health_set(h, i, excluded[i] & all, NULL) < 0 ? -ENOMEM : 0;
	if (err) {
		torus_health_free(h);
		return err;
	}
	*out = h;
	return 0;
}

void torus_health_free(struct torus_health *h)
{
	unsigned int d;

	if (!h)
		return;
	for (d = 0; d < h->shape.ndims; d++) {
		free(h->cut[d]);
		free(h->hurt[d]);
	}
	free(h->reported);
	free(h->fault);
	free(h->label);
	free(h->mark);
	free(h->queue);
	free(h);
}
