// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts the routing rows that a new exclusion table changes at each node. fabricsim uses this for
 * large fabrics, where making all rows would take too long. (A row is the routing entry of one
 * destination.)
 *
 * A row depends only on the shape, the exclusions, the source and the destination
 * (<torus/route.h>). If no cable of the plain path, in dimension order, is excluded, it is the
 * plain row. Two kinds of rows can change:
 *
 *  - Rows with another path: their plain path crosses a cable that is excluded in the old table or
 *    in the new one (lib/route/box.h). Each of these rows is computed for both tables and compared.
 *    Those that differ are put on hold, as in daemon/fm/node/rows.c, and written.
 *  - Rows with the same path that get or lose adaptive directions: their destinations are in the
 *    escape box of a cable whose state changed. In the escape box of an excluded cable, a row that
 *    is also in the narrow box has no adaptive directions; of any other row only the directions of
 *    its own path are adaptive. If another excluded cable has the same effect, nothing changes.
 *
 * Rows through relays are not counted: they are needed only if faults are close together. With many
 * faults in a large fabric, only a sample of the nodes is examined, and each node of the sample
 * counts for several.
 */
#include <stdlib.h>

#include "lib/route/box.h"
#include "lib/route/search.h"
#include "nic_plain.h"

#define VERSIONS 8	/* most versions that different nodes may have at the same time */
#define WORK_MAX (1u << 24)	/* if nodes times faults is not more than this, all nodes are
				 * examined */

/** struct version - a table that some node has */
struct version {
	uint64_t version;
	struct torus_health *health;
};

/*
 * Kinds of cables. A destination may be in their escape boxes and, from NARROW on, in their narrow
 * boxes.
 */
enum { WENT, CAME, KEPT, NARROW, KINDS = 2 * NARROW };

/**
 * struct run - from destination @first on, destinations are in a box (@step 1), or not any more
 * (-1)
 */
struct run {
	uint32_t first;
	int8_t step;
	uint8_t kind;
};

/**
 * struct plain_route - state that all nodes of a world share
 * @from, @to: the two versions that @cable belongs to
 * @kind: for each entry of @cable: WENT or CAME if its state changed, KEPT if it is excluded in
 *	both
 * @dst: destinations with a fault on their plain path
 * @nheld: number of destinations that get another path
 * @run: runs of destinations in escape boxes
 */
struct plain_route {
	struct version known[VERSIONS];
	unsigned int next;
	uint64_t from, to;
	struct torus_cable *cable;
	uint8_t *kind;
	uint32_t ncables, nchanged;
	uint32_t *dst;
	uint32_t ndst, dst_room, nheld;
	struct run *run;
	uint32_t nruns, runs_room;
	uint8_t run_kind;
	uint64_t run_sum;
};

static void *grow_or_abort(void *array, uint32_t n, uint32_t *room, size_t size)
{
	if (n < *room)
		return array;
	*room = *room ? 2 * *room : 256;
	array = realloc(array, *room * size);
	if (!array)
		abort();
	return array;
}

void plain_end(struct world *w)
{
	struct plain_route *r = w->route;

	if (!r)
		return;
	for (unsigned int i = 0; i < VERSIONS; i++)
		torus_health_free(r->known[i].health);
	free(r->cable);
	free(r->kind);
	free(r->dst);
	free(r->run);
	free(r);
	w->route = NULL;
}

static struct torus_health *health_of(struct plain_route *r, uint64_t version)
{
	for (unsigned int i = 0; i < VERSIONS; i++)
		if (r->known[i].health && r->known[i].version == version)
			return r->known[i].health;
	return NULL;
}

static struct torus_health *health_make(struct world *w, uint64_t version, const uint16_t *closed)
{
	struct plain_route *r = w->route;
	struct torus_health *h = health_of(r, version);
	struct version *v = &r->known[r->next % VERSIONS];

	if (h)
		return h;
	r->next++;
	torus_health_free(v->health);
	v->version = version;
	if (torus_health_new(&w->cfg.shape, closed, &v->health))
		abort();
	return v->health;
}

static void cable_add(struct plain_route *r, const struct torus_cable *c, uint8_t kind,
		      uint32_t *room)
{
	uint32_t same = *room;

	r->cable = grow_or_abort(r->cable, r->ncables, room, sizeof(*r->cable));
	r->kind = grow_or_abort(r->kind, r->ncables, &same, sizeof(*r->kind));
	r->cable[r->ncables] = *c;
	r->kind[r->ncables++] = kind;
	r->nchanged += kind != KEPT;
}

/* Finds the differences of two tables; the same for all nodes that change from one to the other. */
static void find_changes(struct plain_route *r, uint64_t from, uint64_t to,
			 const struct torus_health *old, const struct torus_health *new)
{
	const struct torus_cable *list;
	uint32_t room = 0, n;

	if (r->cable && r->from == from && r->to == to)
		return;
	free(r->cable);
	free(r->kind);
	r->cable = NULL;
	r->kind = NULL;
	r->ncables = r->nchanged = 0;
	r->from = from;
	r->to = to;
	n = torus_health_faults(old, &list);
	for (uint32_t i = 0; i < n; i++)
		cable_add(r, &list[i],
			  torus_health_cut(new, list[i].node, list[i].dim) ? KEPT : CAME, &room);
	n = torus_health_faults(new, &list);
	for (uint32_t i = 0; i < n; i++)
		if (!torus_health_cut(old, list[i].node, list[i].dim))
			cable_add(r, &list[i], WENT, &room);
	if (!r->cable)
		r->cable = grow_or_abort(NULL, 0, &room, sizeof(*r->cable));
}

/* --- one node ---------------------------------------------------------------- */

static void on_path(void *arg, const struct patch *p)
{
	struct plain_route *r = arg;

	for (uint32_t i = 0; i < p->lines; i++)
		for (uint32_t j = 0; j < p->n; j++) {
			r->dst = grow_or_abort(r->dst, r->ndst, &r->dst_room, sizeof(*r->dst));
			r->dst[r->ndst++] = p->first + i * p->stride + j;
		}
}

static void escape_sum(void *arg, const struct patch *p)
{
	struct plain_route *r = arg;

	r->run_sum += (uint64_t)p->lines * p->n;
}

static void append_run(struct plain_route *r, uint32_t first, int8_t by)
{
	r->run = grow_or_abort(r->run, r->nruns, &r->runs_room, sizeof(*r->run));
	r->run[r->nruns++] = (struct run) { first, by, r->run_kind };
}

/* Appends the runs of destinations of a patch. */
static void escape_run(void *arg, const struct patch *p)
{
	for (uint32_t i = 0; i < p->lines; i++) {
		append_run(arg, p->first + i * p->stride, 1);
		append_run(arg, p->first + i * p->stride + p->n, -1);
	}
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int compare_ids(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Adds the escape box @box of a cable of @kind. */
static void add_escapes(struct plain_route *r, const struct torus_health *h,
			const struct torus_coords *own, struct box box, uint8_t kind)
{
	r->run_kind = kind;
	if (r->ncables == 1) {
		lt_box_each(h, own, &box, escape_sum, r);
		return;
	}
	lt_box_each(h, own, &box, escape_run, r);
	r->run_kind += NARROW;
	lt_box_narrow(h, &box);
	lt_box_each(h, own, &box, escape_run, r);
}

/* Fills @dst and the runs of escape boxes. */
static void fill_boxes(struct plain_route *r, const struct torus_health *h,
		       const struct torus_coords *own)
{
	r->ndst = r->nruns = 0;
	r->run_sum = 0;
	for (uint32_t i = 0; i < r->ncables; i++) {
		struct channel ch[2];
		struct box box;

		lt_channels(h, &r->cable[i], ch);
		for (unsigned int k = 0; k < 2; k++) {
			if (!lt_box_escape(h, own, &ch[k], &box))
				continue;
			add_escapes(r, h, own, box, r->kind[i]);
			if (lt_box_path(h, own, &ch[k], &box))
				lt_box_each(h, own, &box, on_path, r);
		}
	}
}

/* Removes from @dst the destinations whose path stays the same; the rest is ascending. */
static void ways_changed(struct plain_route *r, uint32_t from, struct torus_health *old,
			 struct torus_health *new)
{
	uint32_t last = from, n = 0;
	uint64_t row;

	r->nheld = 0;
	if (r->ndst)
		qsort(r->dst, r->ndst, sizeof(*r->dst), compare_ids);
	for (uint32_t i = 0; i < r->ndst; i++) {
		uint32_t to = r->dst[i];

		if (to == last || to == from)
			continue;
		last = to;
		row = lt_direct_row(new, from, to);
		if (row == lt_direct_row(old, from, to))
			continue;
		r->dst[n++] = to;
		r->nheld += row != 0;
	}
	r->ndst = n;
}

/*
 * Boxes of changed cables are used only if their kind is @changed.
 * Return: the directions that adaptive packets may use in the boxes @in: 0 if there is none, 1:
 * those of the row, 2: all.
 */
static unsigned int adaptive_dirs(const uint32_t *in, unsigned int changed)
{
	if (in[NARROW + changed] || in[NARROW + KEPT])
		return 0;
	return in[changed] || in[KEPT] ? 1 : 2;
}

/*
 * Return: how many rows change: their adaptive directions, or else their path. A single cable
 * changes the path of no row whose adaptive directions it leaves as they are.
 */
static uint64_t rows_changed(struct plain_route *r)
{
	uint32_t in[KINDS] = { 0 }, at = 0, d = 0;
	uint64_t n = 0;

	if (r->ncables == 1)
		return r->run_sum;
	if (r->nruns)
		qsort(r->run, r->nruns, sizeof(*r->run), compare_runs);
	for (uint32_t i = 0; i < r->nruns; i++) {
		bool other = adaptive_dirs(in, WENT) != adaptive_dirs(in, CAME);

		if (other)
			n += r->run[i].first - at;
		for (; d < r->ndst && r->dst[d] < r->run[i].first; d++)
			n += !other;
		at = r->run[i].first;
		in[r->run[i].kind] += (uint32_t)r->run[i].step;
	}
	return n + r->ndst - d;
}

/* Return: the number of nodes for which one examined node counts. */
static uint32_t nodes_per_sample(const struct world *w)
{
	uint64_t work = (uint64_t)w->nodes * w->route->ncables;

	return work <= WORK_MAX || w->route->ncables == 1 ? 1 : (uint32_t)(work / WORK_MAX) + 1;
}

int plain_rows(struct world *w, uint32_t node, uint64_t version, const uint16_t *closed)
{
	struct plain *n = w->node[node].plain;
	struct torus_health *old, *new;
	struct plain_route *r;
	uint32_t every;

	if (!w->route)
		w->route = calloc(1, sizeof(*w->route));
	if (!w->route)
		abort();
	r = w->route;
	new = health_make(w, version, closed);
	old = n->version ? health_of(r, n->version) : NULL;
	if (!old) {	/* all rows change, and all but the node's row to itself go on hold */
		w->counts.rows += w->nodes;
		held_more(w, node, w->nodes - 1);
	} else if (n->version != version) {
		find_changes(r, n->version, version, old, new);
		every = nodes_per_sample(w);
		if (every > 1)
			w->counts.sampled = every;
		if (n->node % every == 0) {
			struct torus_coords own;

			torus_node_coords(&new->shape, n->node, &own);
			fill_boxes(r, new, &own);
			ways_changed(r, n->node, old, new);
			w->counts.rows += rows_changed(r) * every;
			held_more(w, node, r->nheld * every);
		}
	}
	n->version = version;
	return 0;
}
