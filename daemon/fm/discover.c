// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: sizes and coordinates from reported cables
 *
 * Every node reports for every port the GUID and port at the other end. From
 * that the root knows the whole graph, and need not trust the positions which
 * the wave handed out.
 *
 * Size of a dimension: follow its + ports until they come back to the start;
 * each line votes for its length, the majority wins, the shorter if they are
 * even. Crossed cables change the length of a few lines; two lines that became
 * one have one vote, not one for each node. If no line closes (every one has a
 * link that is down, or the dimension is a mesh), lay the nodes out by
 * breadth first search without reducing; what a cable says beyond one step is a
 * multiple of the size, so the greatest common divisor of these is the size. If
 * there are none either, the dimension is a mesh as long as it extends.
 *
 * Coordinates: lines that close after as many nodes as they should are believed
 * first, those that do not close next. The root is 0; of all nodes not placed yet the one goes first on
 * whose place most of its placed neighbours agree; then nodes that most of
 * their neighbours would rather see elsewhere move there, trading places if
 * need be, while this makes more cables right. A crossed pair of cables is thus
 * reported as two wrong cables, not as two wrong nodes.
 */
#include "root.h"

#define REFINE_PASSES 8

/* The mate at the other end of a port, if the cable joins opposite ports. */
static struct fm_mate *peer(const struct fm *fm, const struct fm_mate *m, unsigned int p)
{
	const struct fm_port_row *port = &m->row.port[p];
	struct fm_mate *o;

	if (p >= m->row.nports || port->state != FM_PORT_UP || port->problem ||
	    port->peer_port != fm_opposite(fm->ndims, p))
		return NULL;
	o = fm_mate(fm->root, port->peer_guid);
	return o == m ? NULL : o;
}

/* --- sizes ------------------------------------------------------------------- */

/* Length of the line through @m, 0 if it does not close. */
static uint32_t line_length(const struct fm *fm, const struct fm_mate *m, unsigned int d)
{
	const struct fm_mate *at = m;

	for (uint32_t n = 1; n <= fm->root->nmates && n <= TORUS_MAX_SIZE; n++) {
		at = peer(fm, at, d);
		if (!at)
			return 0;
		if (at == m)
			return n;
	}
	return 0;
}

static uint32_t size_by_lines(const struct fm *fm, unsigned int d)
{
	uint32_t *on_lines = calloc(TORUS_MAX_SIZE + 1, sizeof(*on_lines));
	uint32_t best = 0;

	if (!on_lines)
		return 0;
	for (uint32_t i = 0; i < fm->root->nmates; i++)
		on_lines[line_length(fm, &fm->root->mate[i], d)]++;
	for (uint32_t n = 1; n <= TORUS_MAX_SIZE; n++)
		if (on_lines[n] && (!best || on_lines[n] / n > on_lines[best] / best))
			best = n;
	free(on_lines);
	return best;
}

/** struct layout - nodes laid out without reducing by any size */
struct layout {
	int32_t (*pos)[TORUS_MAX_DIMS];
	uint32_t *queue;
	bool *known;
};

static void lay_out(const struct fm *fm, struct layout *l)
{
	const struct fm_root *r = fm->root;
	uint32_t head = 0, tail = 0;

	l->queue[tail++] = 0;
	l->known[0] = true;
	while (head < tail) {
		uint32_t i = l->queue[head++];

		for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
			const struct fm_mate *o = peer(fm, &r->mate[i], p);
			uint32_t j = o ? (uint32_t)(o - r->mate) : 0;

			if (!o || l->known[j])
				continue;
			memcpy(l->pos[j], l->pos[i], sizeof(l->pos[j]));
			l->pos[j][p % fm->ndims] += p < fm->ndims ? 1 : -1;
			l->known[j] = true;
			l->queue[tail++] = j;
		}
	}
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t t = a % b;

		a = b;
		b = t;
	}
	return a;
}

/* What no single step explains along dimension @d: a multiple of its size. */
static uint32_t size_by_closing(const struct fm *fm, const struct layout *l, unsigned int d)
{
	const struct fm_root *r = fm->root;
	uint32_t g = 0;

	for (uint32_t i = 0; i < r->nmates; i++) {
		for (unsigned int p = 0; l->known[i] && p < fm->ndims; p++) {
			const struct fm_mate *o = peer(fm, &r->mate[i], p);
			uint32_t j = o ? (uint32_t)(o - r->mate) : 0;
			int32_t step = p == d ? 1 : 0;

			if (o && l->known[j])
				g = gcd((uint32_t)abs(l->pos[i][d] + step - l->pos[j][d]), g);
		}
	}
	return g;
}

static uint32_t extent(const struct fm *fm, const struct layout *l, unsigned int d)
{
	int32_t low = 0, high = 0;

	for (uint32_t i = 0; i < fm->root->nmates; i++) {
		if (!l->known[i])
			continue;
		low = l->pos[i][d] < low ? l->pos[i][d] : low;
		high = l->pos[i][d] > high ? l->pos[i][d] : high;
	}
	return (uint32_t)(high - low) + 1;
}

static uint32_t size_of(struct fm *fm, const struct layout *l, unsigned int d)
{
	uint32_t size = size_by_lines(fm, d), wide;

	if (size)
		return size;
	wide = extent(fm, l, d);
	size = size_by_closing(fm, l, d);
	if (size > 1)
		return size;
	if (wide > 1)
		fm->root->open |= (uint8_t)(1u << d);
	return wide;
}

bool fm_discover_shape(struct fm *fm, struct torus_shape *shape)
{
	uint32_t n = fm->root->nmates;
	struct layout l = {
		.pos = calloc(n, sizeof(*l.pos)),
		.queue = calloc(n, sizeof(*l.queue)),
		.known = calloc(n, sizeof(*l.known)),
	};
	bool fine = l.pos && l.queue && l.known;
	uint64_t nodes = 1;

	memset(shape, 0, sizeof(*shape));
	shape->ndims = (uint8_t)fm->ndims;
	if (fine)
		lay_out(fm, &l);
	for (unsigned int d = 0; fine && d < TORUS_MAX_DIMS; d++) {
		uint32_t size = d < fm->ndims ? size_of(fm, &l, d) : 1;

		nodes *= size;
		fine = size <= TORUS_MAX_SIZE && nodes <= TORUS_MAX_NODES;
		shape->size[d] = (uint16_t)size;
	}
	free(l.pos);
	free(l.queue);
	free(l.known);
	if (!fine)
		fm_problem_set(fm, "bootstrap", 0, "no shape of at most %u nodes fits the cables",
			       TORUS_MAX_NODES);
	return fine;
}

/* --- coordinates ------------------------------------------------------------- */

/*
 * How far the cable at a port may be believed: on a line that closes after as
 * many nodes as it should; on one that does not close; on one that closes
 * elsewhere, which must have a wrong cable.
 */
enum trust { CROSSED, UNSURE, SURE };

static enum trust trust(const struct fm *fm, const struct torus_shape *shape,
			const struct fm_mate *m, unsigned int p)
{
	uint32_t n = line_length(fm, m, p % fm->ndims);

	return !n ? UNSURE : n == shape->size[p % fm->ndims] ? SURE : CROSSED;
}

/* Where the neighbour at port @p, if placed, sees @m; or TORUS_NO_NODE. */
static uint32_t seen_at(const struct fm *fm, const struct torus_shape *shape,
			const struct fm_mate *m, unsigned int p)
{
	const struct fm_mate *o = peer(fm, m, p);

	if (!o || o->node == TORUS_NO_NODE || shape->size[p % fm->ndims] == 1)
		return TORUS_NO_NODE;
	return torus_neighbour(shape, o->node, fm_opposite(fm->ndims, p));
}

/* How many of its neighbours would see @m at @node. */
static unsigned int agree(const struct fm *fm, const struct torus_shape *shape,
			  const struct fm_mate *m, uint32_t node, enum trust least)
{
	unsigned int n = 0;

	for (unsigned int p = 0; p < 2 * fm->ndims; p++)
		n += seen_at(fm, shape, m, p) == node && trust(fm, shape, m, p) >= least;
	return n;
}

/* The free place most of its neighbours agree on. Return: how many do. */
static unsigned int best_place(const struct fm *fm, const struct torus_shape *shape,
			       const struct fm_mate *m, enum trust least, uint32_t *node)
{
	unsigned int best = 0;

	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		uint32_t at = seen_at(fm, shape, m, p);
		const struct fm_mate *there = at == TORUS_NO_NODE ? NULL :
					      fm_mate_at(fm->root, at);
		unsigned int n;

		if (at == TORUS_NO_NODE || (there && there->state != FM_NODE_DEAD))
			continue;
		n = agree(fm, shape, m, at, least);
		if (n > best) {
			best = n;
			*node = at;
		}
	}
	return best;
}

static void put(struct fm_root *r, struct fm_mate *m, uint32_t node)
{
	struct fm_mate *there = fm_mate_at(r, node);

	if (there && there != m)
		there->node = TORUS_NO_NODE;
	m->node = node;
	r->at[node] = (uint32_t)(m - r->mate) + 1;
}

/* One pass: everybody with as many votes as the best. Return: how many moved in. */
static unsigned int place_pass(struct fm *fm, const struct torus_shape *shape,
			       enum trust least)
{
	struct fm_root *r = fm->root;
	unsigned int best = 0, placed = 0;
	uint32_t node;

	for (uint32_t i = 0; i < r->nmates; i++) {
		unsigned int n = 0;

		if (r->mate[i].node == TORUS_NO_NODE && r->mate[i].state != FM_NODE_DEAD)
			n = best_place(fm, shape, &r->mate[i], least, &node);
		best = n > best ? n : best;
	}
	for (uint32_t i = 0; best && i < r->nmates; i++) {
		struct fm_mate *m = &r->mate[i];

		if (m->node != TORUS_NO_NODE || m->state == FM_NODE_DEAD ||
		    best_place(fm, shape, m, least, &node) < best)
			continue;
		put(r, m, node);
		placed++;
	}
	return placed;
}

/* Moves @m to where it fits better, trading with who is there. */
static bool refine(struct fm *fm, const struct torus_shape *shape, struct fm_mate *m)
{
	struct fm_root *r = fm->root;
	int here = (int)agree(fm, shape, m, m->node, CROSSED);

	for (unsigned int p = 0; p < 2 * fm->ndims; p++) {
		uint32_t at = seen_at(fm, shape, m, p), from = m->node;
		struct fm_mate *o = at == TORUS_NO_NODE ? NULL : fm_mate_at(r, at);
		int gain;

		if (at == TORUS_NO_NODE || at == from || (o && o->fixed))
			continue;
		gain = (int)agree(fm, shape, m, at, CROSSED) - here;
		if (o)
			gain += (int)agree(fm, shape, o, from, CROSSED) -
				(int)agree(fm, shape, o, at, CROSSED);
		if (gain <= 0)
			continue;
		r->at[from] = 0;
		r->at[at] = 0;
		put(r, m, at);
		if (o)
			put(r, o, from);
		return true;
	}
	return false;
}

void fm_discover_place(struct fm *fm, const struct torus_shape *shape)
{
	struct fm_root *r = fm->root;
	bool moved = true;

	for (int least = SURE; least >= CROSSED; least--)
		while (place_pass(fm, shape, (enum trust)least))
			;
	for (unsigned int pass = 0; moved && pass < REFINE_PASSES; pass++) {
		moved = false;
		for (uint32_t i = 0; i < r->nmates; i++)
			if (!r->mate[i].fixed && r->mate[i].node != TORUS_NO_NODE)
				moved |= refine(fm, shape, &r->mate[i]);
	}
	for (uint32_t i = 0; i < r->nmates; i++)
		if (r->mate[i].node != TORUS_NO_NODE)
			r->mate[i].fixed = true;
}
