// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root and the tables of other parts, before its own first table: which it asks for, which it
 * takes, and the exclusions of the first table then.
 */
#include "stage_root.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/epoch.h"

#define OLD 0xabc	/* the root that made the latest table, number 9 of epoch 41 */
#define OTHER 0xdef

static struct fm_entry entry[8];

/* Node @i says that it has the table @t. */
static struct fm_msg has(uint32_t i, struct fm_past t)
{
	struct fm_msg m = hello(i);

	m.hello.placed = true;
	m.hello.version = m.hello.table = t.version;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = (int16_t)i;
	m.hello.term = t.epoch;
	m.hello.table_root = t.root;
	m.hello.ups = 4;
	m.hello.counted = true;
	return m;
}

static const struct fm_past latest = { 41, 9, OLD }, former = { 40, 5, OTHER };

/*
 * Begins anew with the root of a ring of four, which asks to be root. Node 1 has the latest table.
 */
static void asks(void)
{
	struct fm_msg m = { .type = 0 };

	root("4x1");
	m = has(1, latest);
	joins(&m);
	stage_run_ns(&s, s.now + 1);
	memset(s.joiner, 0, sizeof(s.joiner));
	m = has(1, latest);
	m.hello.line.n = 1;
	m.hello.line.past[0] = former;
	joins(&m);
	stage_forget(&s);
}

/* How many tables node @i is asked for. */
static unsigned int asked(uint32_t i)
{
	char text[40];

	snprintf(text, sizeof(text), "1%02u < fetch", i);
	return stage_count(&s, text);
}

/* Node @i sends table @t: port +x of node @node is excluded in it. */
static struct fm_msg sent(struct fm_past t, uint32_t node)
{
	struct fm_msg m = stage_table(&s, t.version, entry);

	entry[node].admin = 1;
	m.table.term = t.epoch;
	m.table.maker = t.root;
	return m;
}

static void sends(uint32_t i, struct fm_past t, uint32_t node)
{
	struct fm_msg m = sent(t, node);

	stage_msg(&s, 100 + (int)i, &m);
}

/* --- one node has a table ---------------------------------------------------------------------- */

/*
 * The latest table of all is known: a list of tables that node 2 may have, and how many of them are
 * asked for.
 */
static void first_root_asks_for_tables_it_may_lack(void **state)
{
	static const struct {
		struct fm_past t, line;
		unsigned int times;
	} is[] = {
		{ { 0, 0, 0 }, { 0 }, 0 },
		/* node 2 has the latest table itself, which this node lacks */
		{ { 41, 9, OLD }, { 0 }, 1 },
		{ { 41, 8, OLD }, { 0 }, 0 },
		{ { 41, 9, OLD - 1 }, { 0 }, 1 },	/* two roots made tables in one epoch */
		{ { 40, 5, OTHER }, { 0 }, 0 },
		{ { 40, 4, OTHER }, { 0 }, 0 },
		{ { 40, 6, OTHER }, { 0 }, 1 },
		{ { 40, 5, OTHER + 1 }, { 0 }, 1 },
		{ { 42, 1, OTHER }, { 41, 9, OLD }, 1 },	/* the latest now, and comes from that */
		/* the latest table comes from one of another part */
		{ { 42, 1, OTHER }, { 41, 9, OTHER }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct fm_msg m;

		asks();
		stage_run_ns(&s, s.now + s.cfg.resend);
		m = is[i].t.version ? has(2, is[i].t) : hello(2);
		if (is[i].line.version) {
			m.hello.line.n = 1;
			m.hello.line.past[0] = is[i].line;
		}
		joins(&m);
		if (asked(2) != is[i].times)
			fail_msg("case %zu: asked %u times", i, asked(2));
		stage_end(&s);
	}
}

/* All nodes but 1 and 3 are new. Waits for the first table. */
static void first_table(void)
{
	struct fm_msg m = has(1, latest);

	stage_run_ns(&s, s.now + MS);
	join(2);
	joins(&m);
	stage_run_ns(&s, s.now + s.cfg.resend);	/* that table is requested, and does not come */
	settle(4);
	assert_true(fm_version(s.fm) > 0);
}

/*
 * Node 3 is of another part: the exclusions of its own cables are taken, though other nodes have
 * later tables.
 */
static void exclusions_of_cables_of_other_part_are_taken(void **state)
{
	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		struct fm_msg m, two;
		uint64_t version;

		asks();
		m = has(3, other ? (struct fm_past) { 40, 5, OTHER + 1 } : former);
		m.hello.admin = 4;
		joins(&m);
		two = has(2, latest);
		joins(&two);
		stage_run_ns(&s, s.now + MS);
		m = has(1, latest);
		joins(&m);
		stage_run_ns(&s, s.now + 4 * s.cfg.resend);
		settle(4);
		assert_true(fm_version(s.fm) > 0);
		assert_int_equal(fm_node(s.fm, 3)->admin, other ? 4 : 0);
		/* The exclusion was in the first table: no other table comes for it. */
		version = fm_version(s.fm);
		stage_run_ns(&s, s.now + 100 * MS);
		assert_int_equal(fm_version(s.fm), version);
		stage_end(&s);
	}
}

/*
 * A table from which another stored one comes is not taken: its exclusions may have been included
 * since.
 */
static void table_of_which_later_one_is_stored_is_ignored(void **state)
{
	const struct fm_past old = { 39, 5, OTHER + 1 }, later = { 39, 6, OTHER + 1 },
		other = { 40, 5, OTHER + 2 };

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		struct fm_msg m, t;

		asks();
		m = has(3, old);
		joins(&m);
		t = sent(old, 2);
		t.table.former = true;
		stage_msg(&s, 103, &t);
		/* A later table of that root, one whose line has it, or one of another part. */
		m = has(2, k ? other : later);
		joins(&m);
		t = sent(k ? other : later, 1);
		t.table.former = true;
		t.table.line.n = 1;
		t.table.line.past[0] = k == 1 ? later : former;
		stage_msg(&s, 102, &t);
		first_table();
		assert_int_equal(fm_node(s.fm, 1)->admin, 1);
		assert_int_equal(fm_node(s.fm, 2)->admin, k == 2);
		stage_end(&s);
	}
}

/* --- what is taken -------------------------------------------------------------------------------- */

/* A node sends the table that it has only if it was asked for it, and whole. */
static void only_wanted_whole_tables_are_taken(void **state)
{
	const struct fm_past other = { 40, 5, OTHER + 1 };

	(void)state;
	for (unsigned int k = 0; k < 6; k++) {
		struct fm_past t = other;
		struct fm_msg m;

		asks();
		m = has(3, other);
		if (k)
			joins(&m);
		else
			join(3);
		if (k == 4)
			sends(3, other, 1);	/* the table comes again, with other contents */
		m = sent(t, 2);
		m.table.former = true;
		m.table.base = k == 1 ? 4 : 0;
		m.table.maker += k == 2;
		m.table.version += k == 3;
		stage_msg(&s, 103, &m);
		first_table();
		if (fm_node(s.fm, 2)->admin != (k == 5))
			fail_msg("case %u: %u", k, fm_node(s.fm, 2)->admin);
		assert_int_equal(fm_node(s.fm, 1)->admin, k == 4);
		stage_end(&s);
	}
}

/*
 * A kept table, which recall.c may have asked for, is not taken if its epoch is far above those
 * that are known.
 */
static void kept_table_of_epoch_far_above_is_not_taken(void **state)
{
	(void)state;
	for (unsigned int above = 0; above < 2; above++) {
		asks();
		sends(1, (struct fm_past) { fm_epoch_credible(s.fm) + above, 5, OTHER }, 2);
		join(3);
		first_table();
		assert_int_equal(fm_node(s.fm, 2)->admin, !above);
		stage_end(&s);
	}
}

/* --- no node has a table, but some were kept --------------------------------------------------------- */

/* This node has kept table 6 of epoch 7, with that line: at node @node port +x is excluded. */
static void has_kept(const struct fm_line *line, const char *shape, uint32_t node)
{
	struct fm_msg kept;

	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong report lost rows place release ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	assert_int_equal(torus_shape_parse(shape, &s.shape), 0);
	kept = sent((struct fm_past) { 7, 6, NIC }, node);
	kept.table.line = *line;
	s.cfg.kept = &kept.table;
	stage_start(&s);
	assert_int_equal(torus_shape_parse("4x1", &s.shape), 0);
	s.cfg.kept = NULL;
	stage_forget(&s);
}

/* Node 3 says that it has kept the table @t. */
static void keeps(struct fm_past t)
{
	struct fm_msg m = hello(3);

	m.hello.kept_term = t.epoch;
	m.hello.kept = t.version;
	m.hello.kept_root = t.root;
	joins(&m);
}

static void first_root_asks_for_tables_its_kept_one_lacks(void **state)
{
	static const struct {
		struct fm_past t;
		unsigned int times;
	} is[] = {
		{ { 0, 0, 0 }, 0 },
		{ { 7, 5, NIC }, 0 }, { { 7, 5, 0 }, 0 }, { { 7, 7, NIC }, 1 },
		{ { 7, 5, OTHER }, 1 }, { { 7, 6, OTHER }, 1 },
		{ { 8, 1, OTHER }, 1 },		/* a later one */
		{ { 5, 9, OLD }, 0 }, { { 5, 8, OLD }, 0 }, { { 5, 10, OLD }, 1 },
		{ { 5, 9, 0 }, 0 }, { { 5, 9, OTHER }, 1 },
		{ { 4, 3, OLD }, 0 }, { { 4, 3, OTHER }, 0 }, { { 4, 4, OTHER }, 1 },
		{ { 3, 1, OTHER }, 1 },
	};
	/* The maker of the second one is not named. */
	const struct fm_line line = { .n = 2, .past = { { 5, 9, OLD }, { 4, 3, 0 } } };

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		has_kept(&line, "4x1", 0);
		keeps(is[i].t);
		if (asked(3) != is[i].times)
			fail_msg("case %zu: asked %u times", i, asked(3));
		stage_end(&s);
	}
}

/*
 * The line of a new root's table is its kept table, followed by the latest eight of the kept
 * table's line.
 */
static void line_of_first_table_begins_with_kept_one(void **state)
{
	struct fm_line line = { .n = 0 };

	(void)state;
	for (; line.n <= FM_LINE_MAX; line.n++) {
		unsigned int n = line.n < FM_LINE_MAX ? line.n + 1 : FM_LINE_MAX;

		has_kept(&line, "4x1", 0);
		for (uint32_t i = 1; i < 4; i++)
			join(i);
		settle(4);
		assert_true(fm_version(s.fm) > 0);
		assert_int_equal(s.fm->table.line.n, n);
		for (unsigned int i = 0; i < n; i++)
			assert_int_equal(s.fm->table.line.past[i].epoch, 7 - i);
		stage_end(&s);
		if (line.n < FM_LINE_MAX)
			line.past[line.n] = (struct fm_past) { 6 - line.n, 1, OLD };
		if (line.n == FM_LINE_MAX)
			break;
	}
	/* The new table does not begin with a kept table of another shape. */
	has_kept(&line, "8x1", 0);
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	stage_run_ns(&s, s.now + 100 * MS);
	settle(4);
	assert_true(fm_version(s.fm) > 0);
	assert_int_equal(s.fm->table.line.n, 0);
	stage_end(&s);
}

/* A node that has the latest table joins: what this one has kept may be of another part. */
static void exclusions_of_kept_table_of_other_part_stay(void **state)
{
	const struct fm_line none = { .n = 0 };

	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		has_kept(&none, "4x1", 2);
		stage_run_ns(&s, s.now + 1);
		for (uint32_t i = 1; i < 4; i++) {
			struct fm_msg m = has(i, latest);

			m.hello.line.n = 1;
			m.hello.line.past[0] = (struct fm_past) { 7, 6, other ? OTHER : NIC };
			joins(&m);
		}
		stage_run_ns(&s, s.now + 4 * s.cfg.resend);
		settle(4);
		assert_true(fm_version(s.fm) > 0);
		assert_int_equal(fm_node(s.fm, 2)->admin, other);
		assert_int_equal(s.fm->table.line.n, 2 + other);
		stage_end(&s);
	}
}

/*
 * Node 1 was the only one whose manager lived on, but it hung while the root made its last tables.
 * Node 3 has kept the last one, in which a port is excluded.
 */
static void later_kept_table_of_same_root_is_asked_for(void **state)
{
	static const struct {
		struct fm_past t;
		unsigned int times;
	} is[] = {
		{ { 5, 8, OLD }, 0 }, { { 5, 9, OLD }, 0 }, { { 5, 9, 0 }, 0 },
		{ { 5, 10, OLD }, 1 }, { { 5, 10, 0 }, 1 }, { { 5, 10, OTHER }, 1 },
		{ { 6, 1, OLD }, 1 },
	};
	const struct fm_line none = { .n = 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		struct fm_msg m;

		has_kept(&none, "4x1", 0);
		m = has(1, (struct fm_past) { 5, 9, OLD });
		joins(&m);
		stage_run_ns(&s, s.now + 1);
		stage_forget(&s);
		keeps(is[i].t);
		if (asked(3) != is[i].times)
			fail_msg("case %zu: asked %u times", i, asked(3));
		if (is[i].times)
			sends(3, is[i].t, 2);
		join(2);
		stage_run_ns(&s, s.now + 4 * s.cfg.resend);
		settle(4);
		assert_true(fm_version(s.fm) > 0);
		assert_int_equal(fm_node(s.fm, 2)->admin, is[i].times);
		/* The line has one table of each root: the last. */
		assert_int_equal(s.fm->table.line.past[0].version, i == 3 || i == 4 ? 10 : 9);
		assert_int_equal(s.fm->table.line.n, i < 5 ? 2 : 3);
		stage_end(&s);
	}
}

/* Node @i sends the table @t, in which nodes 0 and 1 run a job that began at @since. */
static void sends_job(uint32_t i, struct fm_past t, uint64_t since)
{
	struct fm_job job = { .id = 1, .nodes = 2, .since = since, .name = "sim" };
	struct fm_msg m = sent(t, 2);

	entry[0].job = entry[1].job = job.id;
	entry[1].number = 1;
	m.table.njobs = 1;
	m.table.jobs = &job;
	stage_msg(&s, 100 + (int)i, &m);
}

/*
 * This node was away when the job of the latest table began, and gets that table before it knows
 * with which one it begins: the job runs on, and no other part had it. Node 3 has kept a table of
 * another part, in which a job had the same name: that job ends.
 */
static void only_jobs_of_other_parts_end(void **state)
{
	const struct fm_line none = { .n = 0 };

	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		struct fm_msg m;

		has_kept(&none, "4x1", 0);
		m = has(1, latest);
		m.hello.line.n = 1;
		m.hello.line.past[0] = (struct fm_past) { 7, 6, NIC };
		joins(&m);
		stage_run_ns(&s, s.now + 1);
		assert_true(asked(1) > 0);
		sends_job(1, latest, 5);
		if (other) {
			keeps(former);
			assert_int_equal(asked(3), 1);
			sends_job(3, former, 4);
		} else {
			join(3);
		}
		join(2);
		stage_run_ns(&s, s.now + 4 * s.cfg.resend);
		settle(4);
		assert_true(fm_version(s.fm) > 0);
		assert_non_null(fm_job(s.fm, 0));
		assert_int_equal(stage_count(&s, "job 'sim' of another part has ended"), other);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_root_asks_for_tables_it_may_lack),
		cmocka_unit_test(exclusions_of_cables_of_other_part_are_taken),
		cmocka_unit_test(table_of_which_later_one_is_stored_is_ignored),
		cmocka_unit_test(only_wanted_whole_tables_are_taken),
		cmocka_unit_test(kept_table_of_epoch_far_above_is_not_taken),
		cmocka_unit_test(first_root_asks_for_tables_its_kept_one_lacks),
		cmocka_unit_test(line_of_first_table_begins_with_kept_one),
		cmocka_unit_test(exclusions_of_kept_table_of_other_part_stay),
		cmocka_unit_test(later_kept_table_of_same_root_is_asked_for),
		cmocka_unit_test(only_jobs_of_other_parts_end),
	};

	return cmocka_run_group_tests_name("fm_parts_first", tests, NULL, NULL);
}
