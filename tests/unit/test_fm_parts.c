// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes of another part join a root: it asks two of them for the whole table that they had, and
 * takes over the exclusions in it, also at nodes that no node of that part can report.
 */
#include "stage_root.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"

#define THERE (NIC + 3)	/* the root of the other part */
#define OTHER (NIC + 77)

static struct fm_entry entry[4];

/*
 * Node @i joins anew, with table @version that root @maker made, of the epoch that was @before
 * epochs before this root's.
 */
static void comes_with(uint32_t i, uint64_t maker, uint64_t version, uint64_t before)
{
	struct fm_msg m = hello(i);

	stage_down(&s, 100 + (int)i);
	s.joiner[100 + i].known = false;
	m.hello.placed = true;
	m.hello.version = m.hello.table = version;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = (int16_t)i;
	m.hello.term = fm_epoch(s.fm) - before;
	m.hello.table_root = maker;
	m.hello.row.serial = 100;
	joins(&m);
}

/* Node @i joins anew, with table 9 that root @maker made, of the epoch before this root's. */
static void comes(uint32_t i, uint64_t maker)
{
	comes_with(i, maker, 9, 1);
}

/*
 * Node @i sends a table that @maker made, of @version, in an epoch that is @before less than that
 * of this root. Two ports of @node are excluded in it.
 */
static void sends_table(uint32_t i, uint64_t maker, uint64_t version, uint64_t before, uint32_t node)
{
	struct fm_msg m = stage_table(&s, version, entry);

	entry[node].admin = 3;
	m.table.term = fm_epoch(s.fm) - before;
	m.table.former = true;
	m.table.maker = maker;
	stage_msg(&s, 100 + (int)i, &m);
}

/* Node @i sends the table that comes() named. */
static void sends(uint32_t i, uint64_t maker, uint32_t node)
{
	sends_table(i, maker, 9, 1, node);
}

static unsigned int asked(void)
{
	return stage_count(&s, "< fetch");
}

/*
 * The other part excluded ports of node 1, which is none of that part, nor a neighbour of node 3.
 */
static void exclusions_of_other_part_stay_for_nodes_elsewhere(void **state)
{
	(void)state;
	ring();
	stage_forget(&s);
	comes(3, THERE);
	assert_int_equal(stage_count(&s, "103 < fetch former"), 1);
	sends(3, THERE, 1);
	assert_int_equal(s.fm->root->admin[1], 3);
	stage_did_some(&s, "led another part: 2 ports excluded there stay excluded, the first is "
			   "1,0:+x");
	settle(4);
	assert_int_equal(fm_version(s.fm), 10);
	assert_int_equal(fm_node(s.fm, 1)->admin, 3);
	/* Other nodes of that part have the same table, whenever they come. */
	comes(2, THERE);
	assert_int_equal(stage_count(&s, "fetch former"), 0);
	stage_run_ns(&s, s.now + 2 * s.cfg.resend);
	comes(2, THERE);
	assert_int_equal(stage_count(&s, "fetch former"), 0);
	stage_end(&s);
}

/* Orders of the other part come with their exclusions, but not those of ports that are open. */
static void orders_of_other_part_stay(void **state)
{
	static struct fm_order order[] = {
		{ .node = 1, .ports = 1, .since = 10, .by = "alice" },
		{ .node = 1, .ports = 2, .since = 11, .by = "bob" },
		{ .node = 2, .ports = 3, .since = 12, .by = "carol" },
		{ .node = 3, .ports = 3, .since = 13, .by = "dave" },
	};
	static const uint16_t ports[] = { 1, 2, 2 };	/* those of the orders that stay */
	struct fm_orders *o;
	struct fm_msg m;

	(void)state;
	ring();
	comes(3, THERE);
	m = stage_table(&s, 9, entry);
	entry[1].admin = 3;
	entry[2].admin = 2;
	m.table.term = fm_epoch(s.fm) - 1;
	m.table.former = true;
	m.table.maker = THERE;
	m.table.orders = order;
	m.table.norders = sizeof(order) / sizeof(order[0]);
	stage_msg(&s, 103, &m);
	o = &s.fm->root->orders;
	assert_int_equal(o->n, sizeof(ports) / sizeof(ports[0]));
	for (uint32_t i = 0; i < o->n; i++) {
		assert_int_equal(o->of[i].node, order[i].node);
		assert_int_equal(o->of[i].ports, ports[i]);
		assert_int_equal(o->of[i].since, order[i].since);
		assert_string_equal(o->of[i].by, order[i].by);
	}
	stage_end(&s);
}

/* Return: user of the order for port 0 of node 1 in the present table. */
static const char *user_in_table(void)
{
	const struct fm_order *o = fm_orders_first(&s.fm->table.book->orders, 1);

	return o ? o->by : "";
}

/*
 * Two parts excluded the same ports. The later order describes them, also in the next table, though
 * the second part changes no exclusion.
 */
static void later_order_for_same_exclusion_is_published(void **state)
{
	static const uint64_t makers[] = { THERE, OTHER, OTHER + 1 };
	static struct fm_order order[] = {
		{ .node = 1, .ports = 3, .since = 10, .by = "alice" },
		{ .node = 1, .ports = 3, .since = 20, .by = "bob" },
		{ .node = 1, .ports = 3, .since = 15, .by = "carol" },
	};
	static const char *const user[] = { "alice", "bob", "bob" };

	(void)state;
	ring();
	for (uint32_t i = 0; i < 3; i++) {
		struct fm_msg m;

		comes(3, makers[i]);
		m = stage_table(&s, 9, entry);
		entry[1].admin = 3;
		m.table.term = fm_epoch(s.fm) - 1;
		m.table.former = true;
		m.table.maker = makers[i];
		m.table.orders = &order[i];
		m.table.norders = 1;
		stage_msg(&s, 103, &m);
		settle(4);
		assert_int_equal(fm_node(s.fm, 1)->admin, 3);
		assert_string_equal(user_in_table(), user[i]);
	}
	stage_end(&s);
}

/*
 * The table with which nodes of another part are taken waits for their exclusions, but for a resend
 * at most.
 */
static void table_waits_a_resend_for_exclusions_of_part(void **state)
{
	(void)state;
	for (unsigned int answer = 0; answer < 2; answer++) {
		ring();
		comes(3, THERE);
		stage_run_ns(&s, s.now + s.cfg.resend / 2);
		assert_int_equal(fm_version(s.fm), 1);
		if (answer) {
			sends(3, THERE, 1);
			settle(4);
			assert_int_equal(fm_version(s.fm), 10);
			assert_int_equal(fm_node(s.fm, 1)->admin, 3);
		}
		stage_run_ns(&s, s.now + s.cfg.resend / 2 + 10 * MS);
		assert_int_equal(fm_version(s.fm), 10);
		stage_end(&s);
	}
}

/* However many parts come without an answer, the table does not wait for ever. */
static void table_waits_once_for_parts_without_answer(void **state)
{
	(void)state;
	ring();
	comes(3, THERE);
	for (unsigned int i = 0; i < 4; i++) {
		stage_run_ns(&s, s.now + s.cfg.resend / 3);
		comes_with(2, THERE + 2 + i, 9, 1);
	}
	assert_int_equal(fm_version(s.fm), 10);
	stage_end(&s);
}

/* A table that was not asked for is not taken. */
static void only_requested_table_is_taken(void **state)
{
	(void)state;
	ring();
	sends(3, THERE, 1);
	sends_table(3, 0, 0, fm_epoch(s.fm), 1);
	assert_int_equal(s.fm->root->admin[1], 0);
	comes(3, THERE);
	sends(3, THERE + 1, 1);
	sends(3, 0, 1);
	sends_table(3, THERE, 8, 1, 1);
	sends_table(3, THERE, 9, 2, 1);
	assert_int_equal(s.fm->root->admin[1], 0);
	sends(3, THERE, 1);
	assert_int_equal(s.fm->root->admin[1], 3);
	/* The table comes again: the root has it already. */
	sends(3, THERE, 2);
	assert_int_equal(s.fm->root->admin[2], 0);
	stage_end(&s);
}

/*
 * Other nodes of the same part have a later table, or a node is of a third part: their tables are
 * fetched, too.
 */
static void later_tables_and_those_of_third_part_are_fetched(void **state)
{
	/* There is no epoch two before the first root's: the second table is of one after it. */
	static const struct { uint64_t maker, version, before; } other[] = {
		{ THERE, 10, 1 }, { THERE, 9, (uint64_t)-1 }, { THERE + 1, 9, 1 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(other) / sizeof(other[0]); k++) {
		ring();
		comes(3, THERE);
		sends(3, THERE, 1);
		stage_forget(&s);
		comes_with(2, other[k].maker, other[k].version, other[k].before);
		assert_int_equal(stage_count(&s, "102 < fetch former"), 1);
		sends_table(2, other[k].maker, other[k].version, other[k].before, 2);
		assert_int_equal(s.fm->root->admin[2], 3);
		stage_end(&s);
	}
}

/*
 * Two nodes that have the table are asked, because one may die before it answers. A third one is
 * not asked.
 */
static void two_nodes_of_part_are_asked_for_table(void **state)
{
	(void)state;
	for (uint32_t dead = 2; dead < 4; dead++) {
		ring();
		stage_forget(&s);
		comes(3, THERE);
		comes(3, THERE);
		comes(2, THERE);
		comes(1, THERE);
		assert_int_equal(stage_count(&s, "103 < fetch former"), 1);
		assert_int_equal(stage_count(&s, "102 < fetch former"), 1);
		assert_int_equal(stage_count(&s, "101 < fetch former"), 0);
		stage_down(&s, 100 + (int)dead);
		sends(5 - dead, THERE, 1);
		assert_int_equal(s.fm->root->admin[1], 3);
		stage_end(&s);
	}
}

/* Nodes of two parts come before either has sent its table. */
static void exclusions_of_two_parts_at_once_stay(void **state)
{
	(void)state;
	ring();
	comes(2, THERE);
	comes(3, THERE + 1);
	sends(2, THERE, 1);
	assert_int_equal(s.fm->root->admin[1], 3);
	sends(3, THERE + 1, 2);
	assert_int_equal(s.fm->root->admin[2], 3);
	stage_end(&s);
}

/* A table of this root's line is not fetched: all its decisions are in the present table. */
static void table_of_own_line_is_not_fetched(void **state)
{
	struct fm_line *l;

	(void)state;
	ring();
	l = &s.fm->root->line;
	l->n = 1;
	l->past[0] = (struct fm_past) { .epoch = fm_epoch(s.fm) - 1, .version = 9, .root = THERE };
	stage_forget(&s);
	comes(3, THERE);
	assert_int_equal(stage_count(&s, "fetch former"), 0);
	/* Another root of that epoch. */
	comes(2, THERE + 1);
	assert_int_equal(stage_count(&s, "102 < fetch former"), 1);
	/* Node 3 alone got a later table of that root than the one in the line. */
	l->past[0].version = 8;
	comes(3, THERE);
	assert_int_equal(stage_count(&s, "103 < fetch former"), 1);
	stage_end(&s);
}

/*
 * The manager of the root of the other part began anew, and has only its kept table. That has the
 * numbers of a table of this root's line, but another root made it.
 */
static void kept_table_of_same_numbers_is_fetched_if_root_differs(void **state)
{
	struct fm_past same;
	struct fm_line *l;

	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		struct fm_msg m = hello(3), t;

		ring();
		l = &s.fm->root->line;
		same = (struct fm_past) { .epoch = fm_epoch(s.fm) - 1, .version = 9, .root = THERE + 1 };
		l->past[l->n++] = same;
		stage_forget(&s);
		stage_down(&s, 103);
		s.joiner[103].known = false;
		m.hello.kept_term = same.epoch;
		m.hello.kept = same.version;
		m.hello.kept_root = other ? THERE : same.root;
		m.hello.row.serial = 100;
		joins(&m);
		assert_int_equal(stage_count(&s, "103 < fetch"), other);
		t = stage_table(&s, 9, entry);
		entry[1].admin = 3;
		t.table.term = same.epoch;
		t.table.maker = THERE;
		stage_msg(&s, 103, &t);
		assert_int_equal(s.fm->root->admin[1], other ? 3 : 0);
		stage_end(&s);
	}
}

/*
 * All managers began anew. The root has kept a table of epoch 7, node 3 one of epoch 5. The latter
 * is of another part if it is not in the line that was kept with the former.
 */
static void kept_table_of_other_part_is_fetched(void **state)
{
	const struct fm_past past = { .epoch = 5, .version = 9, .root = THERE };
	struct fm_entry own[4];

	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		struct fm_msg kept, m = hello(3), t;
		const struct fm_line *l;

		stage_init(&s, "4x1", 0);
		s.deaf = "init ping pong report lost rows place release ";
		stage_link_up(&s, 0, 1);
		stage_link_up(&s, 1, 1);
		kept = stage_table(&s, 6, own);
		own[2].admin = 1;
		kept.table.term = 7;
		kept.table.maker = NIC;
		kept.table.line.past[0] = past;
		kept.table.line.n = other ? 0 : 1;
		s.cfg.kept = &kept.table;
		stage_start(&s);
		s.cfg.kept = NULL;
		join(1);
		join(2);
		m.hello.kept_term = past.epoch;
		m.hello.kept = past.version;
		m.hello.kept_root = past.root;
		joins(&m);
		assert_int_equal(stage_count(&s, "103 < fetch"), other);
		if (other) {
			t = stage_table(&s, 9, entry);
			entry[1].admin = 3;
			t.table.term = past.epoch;
			t.table.maker = past.root;
			stage_msg(&s, 103, &t);
		}
		settle(4);
		assert_true(fm_version(s.fm) > 0);
		assert_int_equal(s.fm->root->admin[1] & 3, other ? 3 : 0);
		assert_int_equal(s.fm->root->admin[2], 1);
		l = &s.fm->root->line;
		assert_int_equal(l->n, 2);
		assert_int_equal(l->past[0].epoch, 7);
		assert_int_equal(l->past[1].epoch, 5);
		stage_end(&s);
	}
}

/* Former releases and old state files do not say which root made a table. */
static void table_of_unknown_maker_is_fetched_if_not_own(void **state)
{
	static const struct {
		uint64_t past, maker, before;
		bool asks;
	} is[] = {
		{ THERE, 0, 1, false }, { 0, THERE, 1, false }, { 0, 0, 1, false },
		/* A table that this root made, or that another root made in its epoch. */
		{ THERE, NIC, 0, false }, { THERE, 0, 0, false }, { THERE, THERE, 0, true },
		{ THERE, NIC, 1, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct fm_line *l;

		ring();
		l = &s.fm->root->line;
		l->past[l->n++] = (struct fm_past) { fm_epoch(s.fm) + 7, 2, OTHER };
		l->past[l->n++] = (struct fm_past) { fm_epoch(s.fm) - 1, 9, is[i].past };
		stage_forget(&s);
		comes_with(3, is[i].maker, 9, is[i].before);
		if (asked() != is[i].asks)
			fail_msg("case %zu: asked %u times", i, asked());
		stage_end(&s);
	}
}

/*
 * The request for the table of another part is repeated at each resend until the table comes; a
 * node without a table is not asked.
 */
static void table_of_other_part_is_asked_for_each_resend(void **state)
{
	(void)state;
	ring();
	stage_down(&s, 103);
	s.joiner[103].known = false;
	join(3);
	assert_int_equal(asked(), 0);
	comes_with(3, THERE, 1, 1);
	assert_int_equal(stage_count(&s, "103 < fetch former"), 1);
	stage_run_ns(&s, s.now + s.cfg.resend - 1);
	comes_with(3, THERE, 1, 1);
	assert_int_equal(asked(), 1);
	stage_run_ns(&s, s.now + 1);
	comes_with(3, THERE, 1, 1);
	assert_int_equal(asked(), 2);
	stage_end(&s);
}

/* Four tables are fetched at once: the fifth takes the place of the first. */
static void fifth_fetched_table_takes_place_of_first(void **state)
{
	(void)state;
	ring();
	for (uint32_t i = 0; i < 5; i++) {
		stage_run_ns(&s, s.now + MS);
		comes(3, THERE + i);
	}
	sends(3, THERE, 1);
	assert_int_equal(s.fm->root->admin[1], 0);
	for (uint32_t i = 1; i < 5; i++) {
		sends(3, THERE + i, i % 4);
		assert_int_equal(s.fm->root->admin[i % 4], 3);
	}
	stage_end(&s);
}

/* A table that excludes nothing more needs no new table, nor does one of another shape. */
static void table_that_excludes_nothing_new_makes_no_table(void **state)
{
	(void)state;
	for (unsigned int shape = 0; shape < 2; shape++) {
		struct fm_msg m;

		ring();
		comes(3, THERE);
		m = stage_table(&s, 9, entry);
		m.table.term = fm_epoch(s.fm) - 1;
		m.table.former = true;
		m.table.maker = THERE;
		if (shape) {
			entry[2].admin = 1;
			assert_int_equal(torus_shape_parse("2x2", &m.table.shape), 0);
		}
		stage_msg(&s, 103, &m);
		assert_int_equal(stage_count(&s, "another part"), 0);
		assert_int_equal(s.fm->root->admin[2], 0);
		settle(4);
		stage_run_ns(&s, s.now + 100 * MS);
		assert_int_equal(stage_count(&s, "another part"), 0);
		stage_end(&s);
	}
}

/* Exclusions of ports of three dimensions are taken, and of no others. */
static void exclusions_of_three_dimensions_are_taken(void **state)
{
	static struct fm_entry all[8];
	struct fm_msg m;

	(void)state;
	root("2x2x2");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
	assert_true(fm_version(s.fm) > 0);
	m = hello(3);
	stage_down(&s, 103);
	s.joiner[103].known = false;
	m.hello.placed = true;
	m.hello.version = m.hello.table = 9;
	m.hello.shape = s.shape;
	torus_node_coords(&s.shape, 3, &m.hello.coords);
	m.hello.term = fm_epoch(s.fm) - 1;
	m.hello.table_root = THERE;
	m.hello.admin = 0xe0;
	m.hello.across = 0x21;
	m.hello.row.serial = 100;
	joins(&m);
	assert_int_equal(s.fm->root->admin[3], 0x20);
	assert_int_equal(s.fm->root->admin[2], 0x8);	/* -x, opposite of +x */
	assert_int_equal(s.fm->root->admin[7], 0x4);
	m = stage_table(&s, 9, all);
	all[5].admin = 0xe0;
	m.table.term = fm_epoch(s.fm) - 1;
	m.table.former = true;
	m.table.maker = THERE;
	stage_msg(&s, 103, &m);
	assert_int_equal(s.fm->root->admin[5], 0x20);
	assert_int_equal(stage_count(&s, ": 1 port excluded there stays excluded, the first is "
				     "1,0,1:-z"), 1);
	stage_end(&s);
}

/* --- a member that lies ----------------------------------------------------------------------- */

#define KEPT_MAX 16	/* tables of other parts that a root keeps */

/* The root forgets the tables that it fetched first; their exclusions stay. */
static void exclusions_of_forgotten_tables_stay(void **state)
{
	/* The first ones are in the line of the next table, and not asked for again. */
	uint32_t first = FM_LINE_MAX;

	(void)state;
	ring();
	for (uint32_t i = 0; i <= first + KEPT_MAX; i++) {
		comes(3, THERE + i);
		sends(3, THERE + i, i > first ? 2 : 1);
	}
	assert_int_equal(s.fm->root->line.n, FM_LINE_MAX);
	assert_int_equal(s.fm->root->admin[1], 3);
	assert_int_equal(s.fm->root->admin[2], 3);
	stage_did_no(&s, "is dropped");
	comes(3, THERE + first + 1);
	assert_int_equal(stage_count(&s, "fetch former"), 0);
	comes(3, THERE + first);
	assert_int_equal(stage_count(&s, "fetch former"), 1);
	stage_end(&s);
}

/* Node 3 sends a table that it has kept, which no node asked for: port +x of @node is excluded. */
static void sends_kept(uint64_t epoch, uint32_t node)
{
	struct fm_msg m = stage_table(&s, 9, entry);

	entry[node].admin = 1;
	m.table.term = epoch;
	m.table.maker = THERE + epoch;
	stage_msg(&s, 103, &m);
}

/*
 * All managers began anew, and a node sends too many tables before the root has made its first one:
 * those of the earliest epochs are dropped, but not what the root has kept itself.
 */
static void tables_of_earliest_epochs_are_dropped_if_there_are_too_many(void **state)
{
	struct fm_entry own[4];
	struct fm_msg kept;

	(void)state;
	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong report lost rows place release ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 1, 1);
	kept = stage_table(&s, 6, own);
	own[0].admin = 2;
	kept.table.term = 10;
	kept.table.maker = NIC;
	s.cfg.kept = &kept.table;
	stage_start(&s);
	s.cfg.kept = NULL;
	join(1);
	stage_up(&s, 103);
	join(3);
	for (uint32_t i = 0; i < KEPT_MAX + 8; i++) {
		/* This root has kept the table of epoch 10. */
		sends_kept(11 + i * 7 % (KEPT_MAX + 8), i * 7 % (KEPT_MAX + 8) < 9 ? 1 : 2);
		assert_true(stage_count(&s, "is dropped") <= 4);
	}
	assert_int_equal(stage_count(&s, "is dropped"), 4);
	assert_int_equal(stage_count(&s, "may be lost (8 so far)"), 1);
	join(2);
	settle(4);
	assert_true(fm_version(s.fm) > 0);
	assert_int_equal(s.fm->root->admin[0], 2);
	assert_int_equal(s.fm->root->admin[1], 0);
	assert_int_equal(s.fm->root->admin[2], 1);
	stage_end(&s);
}

/* The first of several tables of one epoch and version stays: a node that lies displaces none. */
static void first_of_equal_tables_stays(void **state)
{
	struct fm_msg m;

	(void)state;
	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong report lost rows place release ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 1, 1);
	stage_start(&s);
	join(1);
	stage_up(&s, 103);
	join(3);
	for (uint32_t i = 0; i < KEPT_MAX + 2; i++) {
		m = stage_table(&s, 9, entry);
		entry[i < KEPT_MAX ? 1 : 2].admin = 1;
		m.table.term = 11;
		m.table.maker = THERE + i;
		stage_msg(&s, 103, &m);
		entry[1].admin = entry[2].admin = 0;
	}
	assert_int_equal(stage_count(&s, "is dropped"), 2);
	join(2);
	settle(4);
	assert_true(fm_version(s.fm) > 0);
	assert_int_equal(s.fm->root->admin[1], 1);
	assert_int_equal(s.fm->root->admin[2], 0);
	stage_end(&s);
}

/* --- what each node says of its own cables ------------------------------------------------- */

/* Node 3 joins from another part: in its table +x of itself and the far end of its -x are excluded. */
static struct fm_msg excludes(void)
{
	struct fm_msg m = hello(3);

	stage_down(&s, 103);
	s.joiner[103].known = false;
	m.hello.placed = true;
	m.hello.version = m.hello.table = 9;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 3;
	m.hello.term = fm_epoch(s.fm) - 1;
	m.hello.table_root = THERE;
	m.hello.admin = 1;
	m.hello.across = 4;
	m.hello.row.serial = 100;
	return m;
}

/* Checks which ports of nodes 2 and 3 are excluded once node 3 has joined. */
static void excluded_by(const struct fm_msg *m, uint16_t two, uint16_t three)
{
	joins(m);
	assert_int_equal(s.fm->root->admin[2], two);
	assert_int_equal(s.fm->root->admin[3], three);
	stage_end(&s);
	ring();
}

/*
 * A HELLO of another part excludes both ends of cables, no port that does not exist, and only if it
 * is of the same shape and not of this root's line.
 */
static void hello_of_part_excludes_both_ends_of_cables(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = excludes();
	excluded_by(&m, 1, 1);
	m = excludes();
	m.hello.admin |= 0xff0;
	m.hello.across |= 0xff0;
	excluded_by(&m, 1, 1);
	m = excludes();
	m.hello.table = 0;
	excluded_by(&m, 0, 0);
	m = excludes();
	m.hello.shape.size[1] = 2;
	excluded_by(&m, 0, 0);
	m = excludes();
	s.fm->root->line.n = 1;
	s.fm->root->line.past[0] = (struct fm_past) { fm_epoch(s.fm) - 1, 9, THERE };
	excluded_by(&m, 0, 0);
	m = excludes();
	m.hello.term++;	/* a table of this root itself */
	m.hello.table_root = NIC;
	excluded_by(&m, 0, 0);
	stage_end(&s);
}

/*
 * A node without a place reports a shape and exclusions, which no right node does: they are
 * ignored.
 */
static void exclusions_of_unplaced_node_are_ignored(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = excludes();
	m.hello.placed = false;
	m.hello.coords.c[0] = 0;
	excluded_by(&m, 0, 0);
	m = excludes();
	m.hello.placed = false;
	m.hello.admin = 0;
	excluded_by(&m, 0, 0);
	stage_end(&s);
}

/*
 * A node reports another exclusion in a repeated HELLO, and nothing else has changed: the root
 * makes a new table for that.
 */
static void exclusion_in_repeated_hello_makes_new_table(void **state)
{
	struct fm_msg m = hello(3);

	(void)state;
	ring();
	m.hello.placed = true;
	m.hello.version = 1;
	m.hello.table = 9;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 3;
	m.hello.term = fm_epoch(s.fm) - 1;
	m.hello.table_root = THERE;
	m.hello.attach = 2;
	stage_up(&s, 203);
	stage_msg(&s, 203, &m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_version(s.fm), 1);
	m.hello.attach = 3;
	m.hello.admin = 1;
	stage_up(&s, 303);
	stage_msg(&s, 303, &m);
	stage_run_ns(&s, s.now + s.cfg.resend);
	assert_int_equal(fm_version(s.fm), 2);
	assert_int_equal(fm_node(s.fm, 3)->admin, 1);
	stage_end(&s);
}

/*
 * The log says how many ports are excluded, and names the first; those that were excluded already
 * do not count.
 */
static void log_counts_exclusions_of_other_part(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = excludes();
	stage_forget(&s);
	joins(&m);
	assert_int_equal(stage_count(&s, "log warning table: 'n3' had another root: "
				     "2 ports excluded there stay excluded, the first is "
				     "3,0:+x\n"), 1);
	stage_end(&s);
	ring();
	s.fm->root->admin[3] = 1;
	m = excludes();
	stage_forget(&s);
	joins(&m);
	assert_int_equal(stage_count(&s, "1 port excluded there stays excluded, the first is "
				     "2,0:+x\n"), 1);
	stage_end(&s);
	ring();
	s.fm->root->admin[2] = s.fm->root->admin[3] = 1;
	m = excludes();
	stage_forget(&s);
	joins(&m);
	assert_int_equal(stage_count(&s, "had another root"), 0);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(exclusions_of_other_part_stay_for_nodes_elsewhere),
		cmocka_unit_test(orders_of_other_part_stay),
		cmocka_unit_test(later_order_for_same_exclusion_is_published),
		cmocka_unit_test(table_waits_a_resend_for_exclusions_of_part),
		cmocka_unit_test(table_waits_once_for_parts_without_answer),
		cmocka_unit_test(only_requested_table_is_taken),
		cmocka_unit_test(later_tables_and_those_of_third_part_are_fetched),
		cmocka_unit_test(two_nodes_of_part_are_asked_for_table),
		cmocka_unit_test(exclusions_of_two_parts_at_once_stay),
		cmocka_unit_test(table_of_own_line_is_not_fetched),
		cmocka_unit_test(table_of_unknown_maker_is_fetched_if_not_own),
		cmocka_unit_test(table_of_other_part_is_asked_for_each_resend),
		cmocka_unit_test(fifth_fetched_table_takes_place_of_first),
		cmocka_unit_test(table_that_excludes_nothing_new_makes_no_table),
		cmocka_unit_test(exclusions_of_three_dimensions_are_taken),
		cmocka_unit_test(kept_table_of_same_numbers_is_fetched_if_root_differs),
		cmocka_unit_test(kept_table_of_other_part_is_fetched),
		cmocka_unit_test(exclusions_of_forgotten_tables_stay),
		cmocka_unit_test(tables_of_earliest_epochs_are_dropped_if_there_are_too_many),
		cmocka_unit_test(first_of_equal_tables_stays),
		cmocka_unit_test(hello_of_part_excludes_both_ends_of_cables),
		cmocka_unit_test(exclusions_of_unplaced_node_are_ignored),
		cmocka_unit_test(exclusion_in_repeated_hello_makes_new_table),
		cmocka_unit_test(log_counts_exclusions_of_other_part),
	};

	return cmocka_run_group_tests_name("fm_parts", all, NULL, NULL);
}
