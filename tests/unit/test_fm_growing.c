// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shape that grows, by itself: random events at a root, and its reaction to each: when it tries,
 * gives up, waits and tries again, and the places, exclusions and orders in the new shape. Stubs
 * in this test stand for the functions of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/extend.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/settle.h"
#include "daemon/fm/root/tally.h"

#define RECORDS	8
#define NODES	64		/* more than the largest shape has, 6x6 */
#define QUIET	(300 * MS)
#define LISTEN	(20 * MS)
#define WAIT_MAX (30000 * MS)

/** struct model - the expected state; @at: when the next attempt is due */
struct model {
	unsigned int step, busy;
	uint64_t version, at, wait;
	bool old;
};

static struct fm_root root;
static struct fm fm = { .root = &root, .cfg = { .quiet = QUIET } };
static struct fm_record record[RECORDS];
static struct fm_tally tally;
static uint8_t part[NODES];
static struct torus_shape larger;	/* shape that the cables imply; no dimensions: none */
static uint8_t open_ends;
static bool demanded, has_demand, has_room;
static char cause[100];
static uint64_t newest;
static bool marked[NODES];
static uint16_t *was_admin;
static uint32_t *was_at;
static struct fm_order order[4], had[4];
static bool freed_changes, freed_tally;

const struct fm_tally *fm_tally(const struct fm *f)
{
	(void)f;
	return &tally;
}

enum fm_part fm_tally_part(const struct fm *f, uint32_t node)
{
	(void)f;
	return part[node];
}

bool fm_extend(const struct fm *f, struct torus_shape *shape, uint8_t *open)
{
	(void)f;
	*shape = larger;
	*open = open_ends;
	return larger.ndims;
}

void fm_demand(struct fm *f, uint64_t delay, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(delay, 0);
	demanded = true;
	va_start(args, fmt);
	vsnprintf(cause, sizeof(cause), fmt, args);
	va_end(args);
}

bool fm_demand_is(const struct fm_root *r)
{
	(void)r;
	return has_demand;
}

uint64_t fm_news_newest(const struct fm_root *r)
{
	(void)r;
	return newest;
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return RECORDS;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < RECORDS);
	return &record[i];
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)f;
	(void)level;
	(void)kind;
	(void)fmt;
}

void fm_change_node(struct fm *f, uint32_t node)
{
	(void)f;
	assert_true(node < NODES);
	marked[node] = true;
}

static char counted_before, counted_now;

bool fm_settle_room(struct fm *f, const struct torus_shape *shape)
{
	/* The former one is forgotten, so that this cannot free it. */
	assert_null(root.changes.table.node);
	assert_null(root.counted);
	root.admin = NULL;
	root.seat = NULL;
	root.at = NULL;
	if (!has_room)
		return false;
	f->table.shape = *shape;
	root.admin = calloc(torus_nodes(shape), sizeof(*root.admin));
	root.seat = calloc(torus_nodes(shape), sizeof(*root.seat));
	root.at = calloc(torus_nodes(shape), sizeof(*root.at));
	root.counted = (void *)&counted_now;
	root.changes.nodes = torus_nodes(shape);
	return true;
}

void fm_changes_free(struct fm_root *r)
{
	assert_ptr_equal(r->changes.table.node, &newest);
	assert_ptr_not_equal(r, &root);
	freed_changes = true;
}

void fm_tally_free(struct fm_root *r)
{
	assert_ptr_equal(r->counted, &counted_before);
	assert_ptr_not_equal(r, &root);
	freed_tally = true;
}

void fm_orders_copy(struct fm_orders *to, const struct fm_orders *from)
{
	assert_ptr_equal(from, &root.orders);
	*to = (struct fm_orders) { .of = had, .n = from->n };
	memcpy(had, from->of, from->n * sizeof(*had));
}

void fm_orders_free(struct fm_orders *s)
{
	s->n = 0;
}

bool fm_orders_put(struct fm_orders *s, const struct fm_order *o)
{
	assert_ptr_equal(s, &root.orders);
	order[s->n++] = *o;
	return true;
}

/* --- a fabric of 4x3 --------------------------------------------------------------------- */

static void begin(struct rnd *r)
{
	memset(&root, 0, sizeof(root));
	memset(record, 0, sizeof(record));
	assert_int_equal(torus_shape_parse("4x3", &fm.table.shape), 0);
	memcpy(fm.size, fm.table.shape.size, sizeof(fm.size));
	fm.cfg.shape.ndims = 0;
	root.settled = true;
	root.unplaced = 1;
	root.admin = calloc(12, sizeof(*root.admin));
	root.seat = calloc(12, sizeof(*root.seat));
	root.at = calloc(12, sizeof(*root.at));
	root.changes.table.node = (void *)&newest;
	root.changes.nodes = 12;
	root.counted = (void *)&counted_before;
	root.orders.of = order;
	fm.now = newest = SEC;
	assert_true(fm_grow_new(&root));
	for (uint32_t i = 0; i < RECORDS; i++) {
		record[i].node = i && rnd_one_in(r, 4) ? TORUS_NO_NODE : i + 2;
		record[i].worked_at = i;
		record[i].state = (uint8_t)(rnd_one_in(r, 4) ? FM_NODE_DEAD : FM_NODE_UP);
		if (record[i].node != TORUS_NO_NODE)
			root.at[record[i].node] = i + 1;
	}
}

static void end(void)
{
	fm_grow_free(&root);
	free(root.admin);
	free(root.seat);
	free(root.at);
}

/* Gives the root changes. */
static void change(struct rnd *r)
{
	static const char *const shapes[] = { "5x3", "4x4", "6x6" };

	memset(&tally, 0, sizeof(tally));
	tally.parts[FM_PART_TAKES] = rnd_below(r, 3);
	if (rnd_one_in(r, 8))
		tally.parts[rnd_one_in(r, 2) ? FM_PART_LIVES : FM_PART_ANEW] = 1;
	if (rnd_one_in(r, 6))
		larger.ndims = 0;
	else
		torus_shape_parse(shapes[rnd_below(r, 3)], &larger);
	/* The shape that it has is no larger one. */
	if (fm.table.shape.size[0] != 4 || fm.table.shape.size[1] != 3)
		larger.ndims = 0;
	open_ends = (uint8_t)rnd_below(r, 4);
	has_demand = rnd_one_in(r, 8);
	has_room = !rnd_one_in(r, 4);
	root.settled = !rnd_one_in(r, 20);
	root.unplaced = !rnd_one_in(r, 12);
	fm.cfg.shape.ndims = rnd_one_in(r, 20);
	if (rnd_one_in(r, 8))
		newest = fm.now;
	record[rnd_below(r, RECORDS)].state = (uint8_t)(rnd_one_in(r, 4) ? FM_NODE_DEAD : FM_NODE_UP);
}

static bool wanted(void)
{
	return root.settled && root.unplaced && fm.cfg.shape.ndims == 0;
}

static bool whole(void)
{
	return tally.parts[FM_PART_LIVES] + tally.parts[FM_PART_ANEW] == 0;
}

static void rest(struct model *m)
{
	m->step = FM_GROW_REST;
	m->version = 0;
	if (m->wait < QUIET)
		m->wait = QUIET;
	m->at = fm.now + m->wait;
}

static void fail_once(struct model *m)
{
	rest(m);
	m->busy++;
	m->wait = m->wait * 2 > WAIT_MAX ? WAIT_MAX : m->wait * 2;
}

/* --- one event each: the file does it, then the model ------------------------------------ */

static void look(struct model *m)
{
	fm_grow_look(&fm);
	if (!wanted())
		*m = (struct model) { .at = NEVER, .old = m->old };
	else if (m->step == FM_GROW_REST && m->at == NEVER)
		rest(m);
}

static void ask_why(struct rnd *r, struct model *m)
{
	const char *why = fm_grow_why(&fm);

	if (fm.cfg.shape.ndims)
		assert_string_equal(why, "");
	else if (!larger.ndims)
		expect(r, why && strstr(why, "cannot grow by it"), "%s", why);
	else if (m->busy > 2 || !whole())
		expect(r, why && strstr(why, "stop the traffic"), "%s", why);
	else
		assert_null(why);
}

static void due(struct rnd *r, struct model *m)
{
	bool recovers = rnd_one_in(r, 8);

	/* Mostly when it is due, to the nanosecond, and sometimes when the last node just came. */
	if (m->at != NEVER && m->at > fm.now && !rnd_one_in(r, 4))
		fm.now = m->at - rnd_one_in(r, 5);
	if (rnd_one_in(r, 4))
		newest = fm.now - QUIET + rnd_below(r, 2);
	demanded = false;
	fm_grow_due(&fm, recovers);
	if (fm.now < m->at) {
		assert_false(demanded);
		return;
	}
	m->at = NEVER;
	if (!wanted() || !larger.ndims) {
		assert_false(demanded);
	} else if (fm.now < newest + QUIET) {
		rest(m);
	} else if (has_demand || recovers || !whole()) {
		fail_once(m);
	} else {
		m->step = FM_GROW_PAUSE;
		expect(r, demanded && strstr(cause, "on hold"), "%s", cause);
		return;
	}
	assert_false(demanded);
}

static void drained(struct rnd *r, struct model *m)
{
	struct fm_sums s = { .held = rnd_one_in(r, 9), .parked = rnd_one_in(r, 9),
			     .reopen = rnd_one_in(r, 9) };
	bool proven = !rnd_one_in(r, 9), follows;
	uint64_t since = fm.now - LISTEN + rnd_below(r, 3) - 1, again = 7;

	root.version = m->version + rnd_one_in(r, 3);
	demanded = false;
	follows = fm_grow_drained(&fm, &s, proven, since, &again);
	if (m->step != FM_GROW_PAUSE || m->version != root.version) {
		assert_false(follows);
	} else if (!proven || s.held + s.parked + s.reopen || !whole()) {
		fail_once(m);
		assert_false(follows);
	} else if (fm.now - since < LISTEN) {
		expect(r, follows && again == since + LISTEN, "%" PRIu64, again);
		assert_false(demanded);
		return;
	} else {
		m->step = FM_GROW_GO;
		assert_true(follows && demanded);
	}
	assert_int_equal(again, 7);
	assert_int_equal(demanded, follows);
}

static uint32_t moved(uint32_t node)
{
	return node / 4 * fm.table.shape.size[0] + node % 4;
}

/*
 * Checks that all nodes have the same coordinates in the new shape, and that those whose ids
 * changed are marked.
 */
static void check_moved(struct rnd *r, const struct fm_record *was, const uint16_t *admin,
			const struct fm_seat *seat, const struct fm_order *orders, uint32_t norders)
{
	bool mark[NODES] = { false };
	uint16_t excluded[NODES] = { 0 };
	struct fm_seat seats[NODES] = { { 0 } };
	uint32_t at[NODES] = { 0 };

	for (uint32_t i = 0; i < 12; i++) {
		excluded[moved(i)] = admin[i];
		seats[moved(i)] = seat[i];
		mark[moved(i)] = admin[i] || seat[i].job;
	}
	for (uint32_t i = 0; i < RECORDS; i++) {
		expect(r, record[i].worked_at == TORUS_NO_NODE, "record %u", i);
		if (was[i].node == TORUS_NO_NODE) {
			expect(r, record[i].node == TORUS_NO_NODE, "record %u", i);
			expect(r, record[i].old_shape == was[i].old_shape, "record %u", i);
			continue;
		}
		expect(r, record[i].node == moved(was[i].node), "record %u", i);
		expect(r, record[i].old_shape == (was[i].state != FM_NODE_DEAD), "record %u", i);
		at[record[i].node] = i + 1;
		mark[record[i].node] = true;
	}
	for (uint32_t i = 0; i < torus_nodes(&fm.table.shape); i++)
		expect(r, root.admin[i] == excluded[i] && root.at[i] == at[i] &&
		       !memcmp(&root.seat[i], &seats[i], sizeof(seats[i])) &&
		       marked[i] == mark[i], "node %u", i);
	assert_int_equal(root.orders.n, norders);
	for (uint32_t i = 0; i < norders; i++)
		expect(r, order[i].node == moved(orders[i].node) &&
		       order[i].uid == orders[i].uid, "order %u", i);
	assert_memory_equal(fm.size, larger.size, sizeof(fm.size));
	assert_int_equal(root.open, open_ends);
	assert_ptr_equal(root.counted, &counted_now);
	assert_true(freed_changes && freed_tally);
	assert_false(root.joined);
}

/* Makes the next table: the pause, or the new shape, or another change that came first. */
static void make_table(struct rnd *r, struct model *m)
{
	uint64_t version = 2 + rnd_below(r, 3);
	struct fm_record was[RECORDS];
	uint16_t admin[12];
	struct fm_seat seat[12];
	struct fm_order orders[4];
	uint32_t norders = 0;
	bool pause, grows = m->step == FM_GROW_GO && larger.ndims && whole() && has_room;

	memcpy(was, record, sizeof(was));
	memset(marked, 0, sizeof(marked));
	freed_changes = freed_tally = false;
	was_admin = root.admin;
	was_at = root.at;
	if (root.counted == (void *)&counted_before) {
		root.orders.n = norders = rnd_below(r, 4);
		for (uint32_t i = 0; i < 12; i++)
			root.admin[i] = (uint16_t)(rnd_one_in(r, 3) ? rnd_below(r, 16) : 0);
		for (uint32_t i = 0; i < 12; i++)
			root.seat[i].job = (uint16_t)(rnd_one_in(r, 3) ? rnd_below(r, 3) : 0);
		for (uint32_t i = 0; i < root.orders.n; i++)
			order[i] = (struct fm_order) { .node = rnd_below(r, 12), .uid = i };
		memcpy(admin, root.admin, sizeof(admin));
		memcpy(seat, root.seat, sizeof(seat));
		memcpy(orders, order, sizeof(orders));
	}
	root.joined = true;
	root.open = 9;
	pause = fm_grow_table(&fm, version);
	if (grows) {
		check_moved(r, was, admin, seat, orders, norders);
		*m = (struct model) { .at = NEVER, .old = true };
	} else {
		expect(r, root.admin == was_admin && root.at == was_at && root.joined &&
		       root.open == 9 && !freed_changes && !freed_tally, "no room");
		assert_non_null(root.counted);
		assert_memory_equal(was, record, sizeof(was));
		if (root.counted == (void *)&counted_before)
			assert_ptr_equal(root.changes.table.node, &newest);
		if (m->step == FM_GROW_GO)
			fail_once(m);
		else if (m->step == FM_GROW_PAUSE && m->version)
			rest(m);
	}
	assert_int_equal(pause, m->step == FM_GROW_PAUSE);
	if (pause)
		m->version = version;
}

/* Some nodes apply the table; others do not, or are dead. */
static void applied(struct rnd *r, struct model *m)
{
	struct fm_record was[RECORDS];
	bool old = false;

	for (uint32_t i = 0; i < NODES; i++)
		part[i] = (uint8_t)(rnd_one_in(r, 6) ? FM_PART_LIVES : FM_PART_TAKES);
	memcpy(was, record, sizeof(was));
	fm_grow_applied(&fm);
	for (uint32_t i = 0; i < RECORDS; i++) {
		bool gone = was[i].node == TORUS_NO_NODE || was[i].state == FM_NODE_DEAD ||
			    part[was[i].node] == FM_PART_TAKES;

		if (m->old && gone)
			was[i].old_shape = false;
		old |= was[i].old_shape;
		expect(r, record[i].old_shape == was[i].old_shape, "record %u", i);
	}
	m->old = m->old && old;
}

static void hello(struct rnd *r)
{
	struct fm_record *x = &record[rnd_below(r, RECORDS)];
	struct fm_hello h = { .placed = !rnd_one_in(r, 3), .shape = fm.table.shape };
	bool was = x->old_shape, takes;

	if (x->node == TORUS_NO_NODE)
		return;
	if (rnd_one_in(r, 2))
		h.shape.size[1]++;
	takes = !h.placed || h.shape.size[1] == fm.table.shape.size[1];
	marked[x->node] = false;
	fm_grow_hello(&fm, x, &h);
	expect(r, x->old_shape == (was && !takes), "node %u", x->node);
	expect(r, marked[x->node] == (was && takes), "node %u", x->node);
}

static void one_event(struct rnd *r, struct model *m)
{
	change(r);
	fm.now += rnd_below(r, 50) * MS;
	switch (rnd_below(r, 10)) {
	case 0:
		return look(m);
	case 1:
		return ask_why(r, m);
	case 2:
		return applied(r, m);
	case 3:
		return hello(r);
	case 4:
	case 5:
		return make_table(r, m);
	case 6:
	case 7:
		return drained(r, m);
	default:
		return due(r, m);
	}
}

static void life(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct model m = { .at = NEVER };

	begin(&r);
	for (unsigned int i = 0; i < 150; i++) {
		one_event(&r, &m);
		expect(&r, fm_grow_step(&root) == m.step, "event %u: not %u", i, m.step);
		expect(&r, fm_grow_expiry(&fm) == m.at, "event %u", i);
		expect(&r, fm_grow_mixed(&root) == m.old, "event %u", i);
	}
	end();
}

static void random_growth_equals_model(void **state)
{
	(void)state;
	for_seeds(400, life);
}

/* Each attempt that fails doubles the wait, up to its limit. */
static void failed_attempt_doubles_wait_to_its_limit(void **state)
{
	struct rnd r = rnd_new(1);
	uint64_t wait = QUIET;

	(void)state;
	begin(&r);
	memset(&tally, 0, sizeof(tally));
	torus_shape_parse("4x4", &larger);
	has_demand = true;
	fm_grow_look(&fm);
	for (unsigned int i = 0; i < 12; i++) {
		fm.now = fm_grow_expiry(&fm);
		fm_grow_due(&fm, false);
		assert_int_equal(fm_grow_expiry(&fm) - fm.now, wait);
		wait = 2 * wait > WAIT_MAX ? WAIT_MAX : 2 * wait;
	}
	assert_int_equal(wait, WAIT_MAX);
	end();
}

static void growing_without_memory_fails(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_grow_new(&root));
	assert_true(memory_failed());
	fm_grow_free(&root);
	assert_int_equal(memory_blocks(), 0);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_growth_equals_model),
		cmocka_unit_test(failed_attempt_doubles_wait_to_its_limit),
		cmocka_unit_test(growing_without_memory_fails),
	};

	return cmocka_run_group_tests_name("fm_growing", all, NULL, NULL);
}
