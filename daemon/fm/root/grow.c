// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a shape that grows
 *
 * A discovered shape is that of the nodes which are there when the fabric settles. Nodes that boot
 * later have no place in it; extend.c decides if it can grow by them. Nodes keep their coordinates,
 * and so their addresses. But node ids depend on the sizes, and rows, flows and the destinations in
 * packets are all ids. So a NIC that is given another shape is reset: it drops its packets,
 * including those that wait for rows on hold. So a shape may grow only while the network is empty
 * and no host wants to send. The root makes sure of that in two steps:
 *
 *	PAUSE	a table of the present shape whose rows are all on hold. The recovery for it proves
 *		that the network is empty, as always (recovery.c): packets that are sent from then
 *		on wait in the NIC of their sender. All is counted once more after LISTEN.
 *	GO	if nothing waits and nothing is parked, the next table follows instead of RESUME.
 *		It has the new shape, goes to all as a whole, and is put in force like every other.
 *		Each NIC gets its place again and makes all rows again, on hold, until RESUME.
 *
 * Lemmas, with the tests of tests/unit/test_fm_grow.c; tests/sim/test_grow.c has whole fabrics.
 *
 *  1. No packet is duplicated or delivered to a wrong node: between PAUSE and RESUME every row of
 *     every NIC is on hold, and the network is empty, so a NIC of the old shape and one of the new
 *     shape never exchange a packet. RESUME is sent when all nodes have reported the new shape
 *     (shape_grows_by_held_table_and_then_whole_one()).
 *  2. No packet is lost that was sent before the last count. If a packet waits or is parked, or
 *     there is no proof, the recovery ends as always, with nothing lost. The next attempt is made
 *     after a while, longer each time, and a problem of status advises the administrator
 *     (shape_does_not_grow_while_packets_wait(), nic_failing_before_table_keeps_old_shape()).
 *  3. Packets that a host sends between the last count and the new shape, that is, for the time of
 *     two messages down the tree, are dropped, or refused as unreachable. So a fabric does not grow
 *     if some host sends more often than once in LISTEN; if hosts send seldom, packets of that
 *     moment may be lost.
 *  4. Nothing grows while a node is silent, because its NIC works on with the old shape, which only
 *     its manager can change (silent_node_prevents_growth()).
 *  5. If a manager is lost during the change, its NIC has all rows on hold, but would forward
 *     packets of others by the old sizes. So all its cables are excluded until it has taken its new
 *     place, and no holds are lifted before (nic_left_with_old_shape_is_excluded()).
 *  6. A root that is restarted during the change continues with the shape of its own NIC
 *     (disturbed_growth_ends_in_whole_torus() of tests/sim/test_grow.c).
 */
#include <stdlib.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/grow.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/extend.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/root/tally.h"
#include "daemon/fm/wire/plan.h"
#include "lib/deps/invariant.h"

#define LISTEN (20 * MS)	/* no host may want to send for this long */
#define WAIT_MAX (30000 * MS)	/* longest time between two attempts */
#define BUSY_MAX 3	/* after this many failed attempts a problem is reported */

/**
 * struct fm_grow - the growth of the shape
 * @step: enum fm_grow_step
 * @version: version of the table that puts all rows on hold; 0: it is not made yet
 * @at: when the next attempt is made; NEVER: not
 * @wait: ns until the next attempt, longer after each failed one
 * @busy: number of attempts that failed because something was sent or changed
 * @old: some NIC may work with the former shape
 */
struct fm_grow {
	uint8_t step;
	uint64_t version;
	uint64_t at, wait;
	unsigned int busy;
	bool old;
};

bool fm_grow_new(struct fm_root *r)
{
	r->grow = calloc(1, sizeof(*r->grow));
	if (r->grow)
		r->grow->at = NEVER;
	return r->grow;
}

void fm_grow_free(struct fm_root *r)
{
	free(r->grow);
}

enum fm_grow_step fm_grow_step(const struct fm_root *r)
{
	return r->grow->step;
}

bool fm_grow_mixed(const struct fm_root *r)
{
	return r->grow->old;
}

/*
 * Return: true if the shape was discovered, and some node has no place in it and does not wait for
 * its neighbours.
 */
static bool is_growth_wanted(const struct fm *fm)
{
	const struct fm_root *r = fm->root;

	return r->settled && !fm->cfg.shape.ndims && r->unplaced > r->early;
}

/* Return: true if every NIC in the fabric takes part. */
static bool all_take_part(const struct fm *fm)
{
	const struct fm_tally *t = fm_tally(fm);

	return !t->parts[FM_PART_LIVES] && !t->parts[FM_PART_ANEW];
}

/* Ends the present attempt, and sets the time of the next one. */
static void try_later(struct fm *fm)
{
	struct fm_grow *g = fm->root->grow;

	g->step = FM_GROW_REST;
	g->version = 0;
	g->wait = later(g->wait, fm->cfg.quiet);
	g->at = fm->now + g->wait;
}

/* Called when the present attempt has failed: counts it, and sets the time of the next one. */
static void postpone_growth(struct fm *fm)
{
	struct fm_grow *g = fm->root->grow;

	g->busy++;
	try_later(fm);
	g->wait = earlier(2 * g->wait, WAIT_MAX);
}

void fm_grow_look(struct fm *fm)
{
	struct fm_grow *g = fm->root->grow;

	if (!is_growth_wanted(fm))
		*g = (struct fm_grow) { .at = NEVER, .old = g->old };
	else if (g->step == FM_GROW_REST && g->at == NEVER)
		try_later(fm);
}

const char *fm_grow_why(struct fm *fm)
{
	struct torus_shape shape;
	uint8_t open;

	if (fm->cfg.shape.ndims)
		return "";
	if (!fm_extend(fm, &shape, &open) && shape.ndims &&
	    !fm_plan_holds(&fm->root->plan, &shape))
		return "; the shape cannot grow by it, for the prefix address4 or address6 has too "
		       "few addresses: set a shorter one in the root's fabricd.conf, then: "
		       "systemctl reload fabricd";
	if (!fm_extend(fm, &shape, &open))
		return "; the shape was found (shape = auto) before it came, and cannot grow by "
		       "it: set the whole shape (shape = 4x4) in the root's fabricd.conf, then "
		       "restart the root: systemctl restart fabricd";
	if (fm->root->grow->busy >= BUSY_MAX || !all_take_part(fm))
		return "; the shape can grow by it, but not while packets are sent or parked, or a "
		       "node is silent: stop the traffic for a while";
	return NULL;
}

void fm_grow_due(struct fm *fm, bool recovers)
{
	struct fm_root *r = fm->root;
	struct torus_shape shape;
	char text[TORUS_TEXT_MAX];
	uint8_t open;

	if (fm->now < r->grow->at)
		return;
	r->grow->at = NEVER;
	if (!is_growth_wanted(fm) || !fm_extend(fm, &shape, &open))
		return;
	if (fm->now < fm_news_newest(r) + fm->cfg.quiet) {	/* other nodes may join soon */
		try_later(fm);
		return;
	}
	if (fm_demand_is(r) || recovers || !all_take_part(fm)) {
		postpone_growth(fm);
		return;
	}
	r->grow->step = FM_GROW_PAUSE;
	fm_demand(fm, 0, "all flows on hold, to grow to %s", torus_shape_text(&shape, text));
}

uint64_t fm_grow_expiry(const struct fm *fm)
{
	return fm->root->grow->at;
}

bool fm_grow_drained(struct fm *fm, const struct fm_sums *s, bool proven, uint64_t since,
		     uint64_t *count_at)
{
	struct fm_root *r = fm->root;

	if (r->grow->step != FM_GROW_PAUSE || r->grow->version != r->version)
		return false;
	if (!proven || s->held || s->parked || s->reopen || !all_take_part(fm)) {
		postpone_growth(fm);
		return false;
	}
	/*
	 * The counts were read when each NIC began to hold, so the hosts must be watched for a
	 * while: count once more.
	 */
	if (fm->now < since + LISTEN) {
		*count_at = since + LISTEN;
		return true;
	}
	r->grow->step = FM_GROW_GO;
	fm_demand(fm, 0, "the shape grows");
	return true;
}

/* --- the new shape ---------------------------------------------------------------- */

static uint32_t id_in_shape(const struct torus_shape *from, const struct torus_shape *to,
			    uint32_t node)
{
	struct torus_coords at;

	torus_node_coords(from, node, &at);
	return torus_node_id(to, &at);
}

/* Gives each node that has a place the same coordinates in the new shape. */
static void move_places(struct fm *fm, const struct torus_shape *from, const struct fm_root *old)
{
	const struct torus_shape *to = &fm->table.shape;
	struct fm_root *r = fm->root;
	struct fm_orders was = { .n = 0 };

	fm_orders_copy(&was, &r->orders);
	fm_orders_free(&r->orders);
	for (uint32_t i = 0; i < was.n; i++) {
		struct fm_order o = was.of[i];

		o.node = id_in_shape(from, to, o.node);
		fm_orders_put(&r->orders, &o);
	}
	fm_orders_free(&was);
	for (uint32_t i = 0; i < torus_nodes(from); i++) {
		uint32_t id = id_in_shape(from, to, i);

		r->admin[id] = old->admin[i];
		r->seat[id] = old->seat[i];
		if (old->admin[i] || old->seat[i].job)
			fm_change_node(fm, id);
	}
	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		struct fm_record *m = fm_record_no(r, i);

		m->worked_at = TORUS_NO_NODE;
		if (m->node == TORUS_NO_NODE)
			continue;
		m->node = id_in_shape(from, to, m->node);
		invariant(!r->at[m->node]);
		m->old_shape = m->state != FM_NODE_DEAD;
		r->at[m->node] = i + 1;
		fm_change_node(fm, m->node);
	}
}

/*
 * Changes the root's state of each node to @shape. Return: false if there is no memory, and nothing
 * has changed.
 */
static bool take_shape(struct fm *fm, const struct torus_shape *shape, uint8_t open)
{
	struct fm_root *r = fm->root, old = *r;
	struct torus_shape from = fm->table.shape;

	memset(&r->changes, 0, sizeof(r->changes));
	r->counted = NULL;
	if (!fm_settle_room(fm, shape)) {
		r->changes = old.changes;
		r->counted = old.counted;
		r->admin = old.admin;
		r->seat = old.seat;
		r->at = old.at;
		return false;
	}
	memcpy(fm->size, shape->size, sizeof(fm->size));
	r->open = open;
	move_places(fm, &from, &old);
	fm_changes_free(&old);
	fm_tally_free(&old);
	free(old.admin);
	free(old.seat);
	free(old.at);
	return true;
}

static void grow_shape(struct fm *fm)
{
	struct fm_root *r = fm->root;
	struct torus_shape shape;
	char text[TORUS_TEXT_MAX];
	uint8_t open;

	/* If something has changed since the network was empty, the shape does not grow now. */
	if (!fm_extend(fm, &shape, &open) || !all_take_part(fm) || !take_shape(fm, &shape, open)) {
		postpone_growth(fm);
		return;
	}
	*r->grow = (struct fm_grow) { .at = NEVER, .old = true };
	r->joined = false;
	fm_log(fm, FM_INFO, "bootstrap", "the shape grows to %s", torus_shape_text(&shape, text));
}

bool fm_grow_table(struct fm *fm, uint64_t version)
{
	struct fm_grow *g = fm->root->grow;

	if (g->step == FM_GROW_GO)
		grow_shape(fm);
	else if (g->step == FM_GROW_PAUSE && g->version)
		try_later(fm);	/* a table for another change was made first */
	if (g->step != FM_GROW_PAUSE)
		return false;
	g->version = version;
	return true;
}

/* --- NICs that have the former shape ------------------------------------------------ */

void fm_grow_applied(struct fm *fm)
{
	struct fm_root *r = fm->root;

	if (!r->grow->old)
		return;
	r->grow->old = false;
	for (uint32_t i = 0; i < fm_roster_size(r); i++) {
		struct fm_record *m = fm_record_no(r, i);

		if (m->node == TORUS_NO_NODE || m->state == FM_NODE_DEAD ||
		    fm_tally_part(fm, m->node) == FM_PART_TAKES)
			m->old_shape = false;
		r->grow->old |= m->old_shape;
	}
}

/* A NIC that has no place does not use the former shape. */
void fm_grow_hello(struct fm *fm, struct fm_record *m, const struct fm_hello *h)
{
	if (!m->old_shape || (h->placed && memcmp(&h->shape, &fm->table.shape, sizeof(h->shape))))
		return;
	m->old_shape = false;
	fm_change_node(fm, m->node);
}
