// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the table to the NIC: rows that change go on hold, all rows are switched in one step, and
 * packets that are parked at dead links are resolved.
 *
 * A row that was on hold stays on hold, whether its path changes or not: the hold of an older
 * version is still in force, and only a release of the version that is active at that time ends it.
 * A row to a node that was not reachable before goes on hold as well: the nodes on its path may not
 * be placed yet. The NIC itself holds rows through relays, changed or not, because this node does
 * not know which of the relays' rows change.
 *
 * Two roots may make tables of the same version, with the same rows, if a former root hung before
 * it sent its last version. The table of the later epoch is written even if no row differs: the NIC
 * stores the epoch of its rows, and a claim can count a node whose manager started again only by
 * that epoch (root/quorum.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/node/job_rows.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/wire/plan.h"
#include "lib/deps/invariant.h"

/**
 * struct fm_writing - the write to the NIC that is under way, and the result of the last one
 * @shape, @place, @at, @plan, @rows: the new place: shape, node id, coordinates, address plan, and
 *	its empty rows, unless only the plan changes
 * @moves: the place changes; false: only the address plan does
 * @epoch, @version, @node, @n: the new rows: epoch and version of their table, and the @n nodes
 *	that they lead to
 * @in_force: epoch of the root by whose order the NIC took its present rows; 0: none
 * @doubt: version that a failed write may have put in force, or 0
 */
struct fm_writing {
	struct torus_shape shape;
	uint32_t place;
	struct torus_coords at;
	struct torus_plan plan;
	bool moves;
	uint64_t *rows;
	uint64_t epoch, version;
	uint32_t *node, n;
	uint64_t in_force;
	uint64_t doubt;
};

bool fm_rows_new(struct fm *fm, uint64_t epoch)
{
	fm->writing = calloc(1, sizeof(*fm->writing));
	if (!fm->writing)
		return false;
	fm->writing->in_force = epoch;
	return true;
}

uint64_t fm_rows_epoch(const struct fm *fm)
{
	return fm->writing->in_force;
}

uint64_t fm_rows_version(const struct fm *fm)
{
	return fm->writing->doubt ? fm->writing->doubt : fm->applied;
}

static void routes_free(struct fm *fm)
{
	fm_job_rows_forget(fm);
	torus_routes_free(fm->routes);
	torus_health_free(fm->health);
	fm->routes = NULL;
	fm->health = NULL;
}

static void forget_rows(struct fm *fm)
{
	struct fm_writing *w = fm->writing;

	routes_free(fm);
	fm->relayed = 0;
	free(fm->rows);
	fm->rows = NULL;
	free(w->rows);
	w->rows = NULL;
	free(w->node);
	w->node = NULL;
}

void fm_rows_free(struct fm *fm)
{
	if (fm->writing)
		forget_rows(fm);
	free(fm->writing);
}

int fm_rows_place(struct fm *fm, const struct torus_shape *shape, uint32_t node)
{
	struct fm_writing *w = fm->writing;
	uint32_t nodes = torus_nodes(shape);
	struct torus_coords at;
	uint64_t *rows;

	torus_node_coords(shape, node, &at);
	w->moves = !fm->placed || memcmp(&fm->shape, shape, sizeof(*shape)) ||
		   memcmp(&fm->coords, &at, sizeof(at));
	if (!w->moves && fm_plan_same(&fm->plan, &fm->table.plan))
		return 0;
	if (shape->ndims > fm->nports / 2)
		return -EINVAL;
	rows = fm->ops.rows_apply || !w->moves ? NULL : calloc(nodes, sizeof(*rows));
	if (!rows && !fm->ops.rows_apply && w->moves)
		return -ENOMEM;
	w->shape = *shape;
	w->place = node;
	w->at = at;
	w->plan = fm->table.plan;
	w->rows = rows;
	fm->ops.place_set(fm->io, fm_nic_begin(fm, FM_ACT_PLACE), shape, &at, &w->plan);
	return 0;
}

static void log_address_plan(struct fm *fm)
{
	struct torus_plan full = fm_plan_full(&fm->writing->plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	fm_log(fm, FM_INFO, "plan", "the nodes' addresses are in %s and %s",
	       torus_plan_text4(&full, v4), torus_plan_text6(&full, v6));
}

void fm_rows_placed(struct fm *fm, int err)
{
	struct fm_writing *w = fm->writing;
	uint64_t *rows = w->rows;

	w->rows = NULL;
	if (err) {
		free(rows);
		return;
	}
	if (!fm_plan_same(&fm->plan, &w->plan))
		log_address_plan(fm);
	fm->plan = w->plan;
	if (!w->moves)
		return;
	if (fm->placed && !memcmp(&fm->coords, &w->at, sizeof(w->at)))
		fm_log(fm, FM_INFO, "bootstrap",
		       "the shape changes, and this node keeps its coordinates");
	else if (fm->placed)
		fm_log(fm, FM_WARNING, "bootstrap", "this node gets other coordinates");
	forget_rows(fm);
	fm->rows = rows;
	fm->nrows = torus_nodes(&w->shape);
	fm->shape = w->shape;
	fm->coords = w->at;
	fm->node = w->place;
	invariant(fm->node < fm->nrows && fm->shape.ndims <= fm->nports / 2);
	fm->placed = true;
	fm->applied = w->doubt = 0;
}

/*
 * The bits of a row that decide the path of packets on VCD0 and VCD1: all except HOLD and those for
 * VCA.
 */
#define ORDERED_WAY (~(TORUS_ROW_HOLD | TORUS_ROW_ADAPTIVE | \
		       TORUS_ROW_DIR_MASK << TORUS_ROW_ADAPT_SHIFT))

void fm_rows_taken(struct fm *fm)
{
	fm->relayed = 0;
	for (uint32_t i = 0; i < fm->nrows; i++)
		fm->relayed += !!(fm->rows[i] & TORUS_ROW_RELAY);
}

/* --- rows of the table ---------------------------------------------------------- */

#define FOLLOW_MAX 256	/* most cables in the list of changes; if more change, all rows are
			 * computed again */

/**
 * struct rows_change - the rows that a new table changes
 * @range, @nranges: rows that may have changed, ascending by @first; ranges may overlap
 * @node, @row, @n: rows that have changed
 */
struct rows_change {
	struct torus_range *range;
	uint32_t nranges;
	uint32_t *node;
	uint64_t *row;
	uint32_t n;
};

/* Computes all rows of the table. */
static int compute_routes(struct fm *fm)
{
	int err;

	fm->merged = false;
	fm->table.nnews = 0;
	err = torus_health_new(&fm->table.shape, fm->table.closed, &fm->health);
	if (err)
		return err;
	return torus_routes_new(fm->health, fm->node, TORUS_ROUTES_RELAY, &fm->routes);
}

/**
 * struct cables - the @n cables that have changed; if @n is more than FOLLOW_MAX, they are not
 * listed
 */
struct cables {
	struct torus_cable list[FOLLOW_MAX + TORUS_MAX_PORTS];
	uint32_t n;
};

/* Updates the state of one node's cables, and adds those that have changed to @c. */
static int update_node(struct fm *fm, struct cables *c, uint32_t node)
{
	int ret = torus_health_set(fm->health, node, fm->table.closed[node],
				   c->n <= FOLLOW_MAX ? c->list + c->n : NULL);

	invariant(ret <= TORUS_MAX_PORTS);
	if (ret > 0)
		c->n += (uint32_t)ret;
	return ret < 0 ? ret : 0;
}

/* Only nodes whose entries changed, and their neighbours, can have other exclusions than before. */
static int update_news(struct fm *fm, struct cables *c)
{
	const struct fm_table *t = &fm->table;
	int err = 0;

	for (uint32_t i = 0; i < t->nnews && !err; i++) {
		err = update_node(fm, c, t->news[i]);
		for (unsigned int p = 0; p < 2u * t->shape.ndims && !err; p++)
			err = update_node(fm, c, torus_neighbour(&t->shape, t->news[i], p));
	}
	return err;
}

/* Computes the rows that the new table changes. */
static int update_routes(struct fm *fm, const struct torus_range **range, uint32_t *n)
{
	struct cables c;
	int err = 0;

	c.n = 0;
	if (fm->table.nnews <= FM_NEWS_MAX)
		err = update_news(fm, &c);
	else
		for (uint32_t i = 0; i < fm->table.nodes && !err; i++)
			err = update_node(fm, &c, i);
	fm->table.nnews = 0;
	if (err)
		return err;
	return torus_routes_update(fm->routes, c.n <= FOLLOW_MAX ? c.list : NULL, c.n, range, n);
}

static int by_first(const void *a, const void *b)
{
	const struct torus_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static int find_ranges(struct fm *fm, struct rows_change *c)
{
	const struct torus_range *range = NULL;
	struct torus_range all = { 0, fm->nrows };
	int err = fm->routes ? update_routes(fm, &range, &c->nranges) : compute_routes(fm);
	bool moved = false;

	if (!err)
		err = fm_job_rows_update(fm, &moved);
	if (err) {
		routes_free(fm);
		return err;
	}
	if (!fm->merged || fm->table.pause || moved) {
		range = &all;
		c->nranges = 1;
	}
	c->range = malloc((c->nranges + 1) * sizeof(*c->range));
	if (!c->range)
		return -ENOMEM;
	if (c->nranges)
		memcpy(c->range, range, c->nranges * sizeof(*c->range));
	qsort(c->range, c->nranges, sizeof(*c->range), by_first);
	return 0;
}

static int alloc_change(const struct fm *fm, struct rows_change *c)
{
	size_t room = 1;

	for (uint32_t i = 0; i < c->nranges; i++)
		room += c->range[i].count;
	room = room < fm->nrows ? room : fm->nrows;
	c->node = malloc(room * sizeof(*c->node));
	c->row = malloc(room * sizeof(*c->row));
	return c->node && c->row ? 0 : -ENOMEM;
}

/* --- rows of the NIC ------------------------------------------------------------ */

/*
 * Return: the row for the NIC, made from the row @new of the table: with HOLD if it must be on
 * hold.
 */
static uint64_t merge_row(const struct fm *fm, uint32_t to, uint64_t new)
{
	uint64_t old = fm->rows[to];

	if (!(new & TORUS_ROW_VALID))
		return 0;
	if (to != fm->node && (fm->table.pause || (new ^ old) & ORDERED_WAY))
		return new | TORUS_ROW_HOLD;
	return new | (old & TORUS_ROW_HOLD);
}

static void set_nic_row(struct fm *fm, uint32_t to, uint64_t row)
{
	invariant(to < fm->nrows);
	invariant(fm->relayed >= !!(fm->rows[to] & TORUS_ROW_RELAY));
	fm->relayed -= !!(fm->rows[to] & TORUS_ROW_RELAY);
	fm->relayed += !!(row & TORUS_ROW_RELAY);
	fm->rows[to] = row;
}

static void merge_rows(struct fm *fm, struct rows_change *c)
{
	const uint64_t *rows = torus_routes_rows(fm->routes);
	uint32_t next = 0;

	for (uint32_t i = 0; i < c->nranges; i++) {
		const struct torus_range *r = &c->range[i];

		invariant(r->first + r->count <= fm->nrows);
		for (next = next > r->first ? next : r->first; next < r->first + r->count; next++) {
			uint64_t row = merge_row(fm, next, fm_job_row(fm, next, rows[next]));

			if (row == fm->rows[next])
				continue;
			c->node[c->n] = next;
			c->row[c->n++] = row;
			set_nic_row(fm, next, row);
		}
	}
}

/* Begins to write the rows. Their list is kept until the result is known. */
static void write_rows(struct fm *fm, struct rows_change *c)
{
	struct fm_writing *w = fm->writing;

	invariant(!w->node);
	w->epoch = fm->table.term;
	w->version = fm->table.version;
	w->node = c->node;
	w->n = c->n;
	c->node = NULL;
	fm->ops.rows_write(fm->io, fm_nic_begin(fm, FM_ACT_ROWS), w->version, w->node, c->row,
			   w->n);
}

/* Computes the rows that change, and begins to write them to the NIC. */
static int change_rows(struct fm *fm)
{
	struct rows_change c = { .n = 0 };
	int err = find_ranges(fm, &c);

	if (!err)
		err = alloc_change(fm, &c);
	/* Until the write has succeeded, the NIC's rows are not known to be those of the table. */
	fm->merged = false;
	if (!err)
		merge_rows(fm, &c);
	if (!err && (c.n || !fm_rows_in_force(fm)))
		write_rows(fm, &c);
	else
		fm->merged = !err;
	free(c.row);
	free(c.node);
	free(c.range);
	return err;
}

static void report_unapplied(struct fm *fm, uint64_t version, int err)
{
	fm_problem_set(fm, "table", 0, "table %llu cannot be applied: %s",
		       (unsigned long long)version, strerror(-err));
}

int fm_rows_apply(struct fm *fm)
{
	int err = 0;

	if (fm->ops.rows_apply) {
		fm->writing->epoch = fm->table.term;
		fm->writing->version = fm->table.version;
		fm->ops.rows_apply(fm->io, fm_nic_begin(fm, FM_ACT_ROWS), fm->table.version,
				   fm->table.closed);
	} else {
		err = change_rows(fm);
	}
	if (err)
		report_unapplied(fm, fm->table.version, err);
	else if (fm_nic_idle(fm))
		fm_problem_clear(fm, "table", 0);
	return err;
}

/*
 * After a failed write, the NIC may have the former or the new row, for each row that was to
 * change. Such a row is noted here as HOLD without VALID, a value that merge_row() never returns.
 * So it differs from any row of the next table, and is written, on hold.
 */
static void doubt_rows(struct fm *fm)
{
	struct fm_writing *w = fm->writing;

	for (uint32_t i = 0; i < w->n; i++)
		set_nic_row(fm, w->node[i], w->node[i] == fm->node ? 0 : TORUS_ROW_HOLD);
	w->doubt = w->version;
}

void fm_rows_written(struct fm *fm, int err)
{
	struct fm_writing *w = fm->writing;

	if (err) {
		doubt_rows(fm);
		report_unapplied(fm, w->version, err);
	} else {
		invariant(w->epoch > w->in_force || w->version >= fm->applied);
		fm->applied = w->version;
		w->in_force = w->epoch;
		fm->merged = true;
		w->doubt = 0;
		fm_problem_clear(fm, "table", 0);
	}
	free(w->node);
	w->node = NULL;
	w->n = 0;
}

bool fm_rows_in_force(const struct fm *fm)
{
	return fm->table.version && fm->applied == fm->table.version &&
	       fm->writing->in_force == fm->table.term;
}

/* --- parking -------------------------------------------------------------------- */

/*
 * A dead link leaves packets that were sent but not acknowledged. The table contains up to which
 * packet the other end had received, or that the other end is dead. After resolve_max the root no
 * longer waits for this information (@orphans). Packets that were received are dropped here, the
 * others stay to be replayed. A packet that is kept wrongly arrives twice, and its receiver
 * discards it; a packet that is dropped wrongly would be lost.
 */
void fm_rows_resolve(struct fm *fm, bool orphans)
{
	const struct fm_table *t = &fm->table;

	for (unsigned int p = 0; p < 2 * t->shape.ndims; p++) {
		const struct fm_port_row *own = &fm->row.port[p];
		unsigned int q = torus_dir_opposite(&t->shape, p);
		const struct fm_entry *e;

		invariant(fm->node < t->nodes);
		if (own->state == FM_PORT_UP && !own->closed)
			continue;
		e = &t->entry[torus_neighbour(&t->shape, fm->node, p)];
		if (e->ended & 1u << q)
			fm->ops.park_resolve(fm->io, p, e->session[q],
					     e->seq[q] == FM_SEQ_GONE ? -1 : e->seq[q]);
		if (own->session && (orphans || e->state == FM_NODE_DEAD))
			fm->ops.park_resolve(fm->io, p, own->session, -1);
	}
}

/*
 * A port whose link is down again is not in the mask: the next table will exclude the port, so it
 * stays closed.
 */
uint16_t fm_rows_reopen(const struct fm *fm)
{
	uint16_t mask = 0;

	if (!fm->table.version || !fm->placed)
		return 0;
	for (unsigned int p = 0; p < 2 * fm->table.shape.ndims; p++)
		if (fm->row.port[p].closed && fm->row.port[p].state == FM_PORT_UP &&
		    !(fm->table.closed[fm->node] & 1u << p))
			mask |= (uint16_t)(1u << p);
	return mask;
}

void fm_rows_released(struct fm *fm)
{
	for (uint32_t i = 0; fm->rows && i < fm->nrows; i++)
		fm->rows[i] &= ~TORUS_ROW_HOLD;
}
