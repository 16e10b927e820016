// SPDX-License-Identifier: GPL-2.0-only
/*
 * A claim to be root, and tables of former roots: the one with which it begins, when that arrives,
 * and from how many nodes.
 */
#include "daemon/fm/root/recall.h"
#include "daemon/fm/root/roster.h"
#include "stage_claim.h"

/* --- with which table it begins ------------------------------------------------------------- */

/*
 * A candidate fetches the latest table that a node reports. A table of the same number, but of a
 * former epoch, is another table.
 */
static void candidate_fetches_latest_reported_table(void **state)
{
	struct fm_entry entry[4];
	struct fm_msg m;

	(void)state;
	asks_anew();
	s.stubborn = true;
	m = with_table(1, 0xabc);
	sends_up(1, &m);
	stage_did_some(&s, "101 < fetch former\n");
	m = stage_table(&s, 9, entry);
	m.table.term = 41;
	m.table.former = true;
	stage_msg(&s, 101, &m);
	stage_run_ns(&s, s.now + RESEND);
	m = with_table(1, 0xabc);
	sends_up(1, &m);
	stage_did_no(&s, "fetch");
	m = with_table(2, 0xabd);
	m.hello.term = 42;
	sends_up(2, &m);
	stage_did_some(&s, "102 < fetch former\n");
	stage_end(&s);
}

/* Node 1 sends the latest table, which 0xabc made: +x of node 3 is excluded in it. */
static void sends_the_latest(void)
{
	static struct fm_entry entry[4];
	struct fm_msg m = stage_table(&s, 9, entry);

	entry[3].admin = 1;
	m.table.term = 41;
	m.table.maker = 0xabc;
	m.table.former = true;
	stage_msg(&s, 101, &m);
}

/*
 * Three of the four nodes of the latest table take part. As long as it is not there, the root does not
 * know whether they are enough; it claims as soon as it is.
 */
static void claim_begins_with_latest_table(void **state)
{
	struct fm_msg m;

	(void)state;
	asks_anew();
	m = with_table(1, 0xabc);
	sends_up(1, &m);
	m = with_table(2, 0xabc);
	sends_up(2, &m);
	stage_run_ns(&s, s.now + RESEND / 2);
	assert_int_equal(state_of(), FM_ROOT_ASKS);
	sends_the_latest();
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(state_of(), FM_ROOT_CLAIMS);
	stage_end(&s);
}

static void has_first_table(void)
{
	stage_run_ns(&s, s.now + 3 * s.cfg.member_max);
	assert_true(fm_version(s.fm) > 0);
	assert_non_null(fm_node(s.fm, 3));
}

/* A table that a node has kept is of use before the first table only. */
static void kept_table_comes_too_late(void **state)
{
	static struct fm_entry entry[4];
	struct fm_msg m;

	(void)state;
	ring();
	m = stage_table(&s, 9, entry);
	m.table.term = fm_epoch(s.fm);
	m.table.maker = NIC;
	stage_msg(&s, 101, &m);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_no(&s, "was kept");
	assert_int_equal(s.fm->kept.version, 0);	/* this node has kept no table */
	stage_end(&s);
}

/*
 * Node 2 works at another place than the latest table has, and says HELLO before the table comes.
 */
static void node_has_place_of_latest_table(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		struct fm_msg m, old;

		asks_anew();
		old = hello(2);
		old.hello.placed = true;
		old.hello.version = 8;
		old.hello.shape = s.shape;
		old.hello.coords.c[0] = 3;
		/* The table does not have node 9: it stays where it says that it works. */
		m = hello(9);
		m.hello.placed = true;
		m.hello.version = 8;
		m.hello.shape = s.shape;
		m.hello.coords.c[0] = 1;
		sends_up(9, &m);
		if (!late)
			sends_up(2, &old);
		m = with_table(1, 0xabc);
		sends_up(1, &m);
		sends_the_latest();
		assert_int_equal(fm_record(s.fm->root, NIC + 9)->node, 1);
		if (late)
			sends_up(2, &old);
		assert_int_equal(fm_record(s.fm->root, NIC + 2)->node, 2);
		stage_down(&s, 109);
		sends_hello(3);
		has_first_table();
		assert_int_equal(fm_node(s.fm, 2)->guid, NIC + 2);
		assert_int_equal(fm_node(s.fm, 3)->guid, NIC + 3);
		stage_end(&s);
	}
}

/*
 * The latest table has another NIC at the place of the root: that was replaced, and is not
 * reported.
 */
static void replaced_root_is_not_reported_dead(void **state)
{
	static struct fm_entry entry[4];
	struct fm_msg m;

	(void)state;
	asks_anew();
	m = with_table(1, 0xabc);
	sends_up(1, &m);
	m = stage_table(&s, 9, entry);
	entry[0].guid = 0x777;
	m.table.term = 41;
	m.table.maker = 0xabc;
	m.table.former = true;
	stage_msg(&s, 101, &m);
	sends_hello(2);
	sends_hello(3);
	has_first_table();
	assert_int_equal(fm_node(s.fm, 0)->guid, s.fm->guid);
	stage_did_some(&s, "shape 4x1, 4 of 4 nodes");
	assert_int_equal(stage_count(&s, "is dead"), 0);
	stage_end(&s);
}

/* Exclusions of the latest table hold, whatever an older table of its root says. */
static void exclusions_of_latest_table_hold(void **state)
{
	static struct fm_entry entry[8];
	struct fm_msg m;

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		asks_anew();
		m = with_table(1, 0xabc);
		sends_up(1, &m);
		m = stage_table(&s, 9, entry);
		entry[0].admin = 2;
		entry[3].admin = 1;
		m.table.term = 41;
		m.table.maker = 0xabc;
		m.table.former = true;
		/* The table is not whole, or is of another shape. */
		m.table.base = k == 1 ? 8 : 0;
		if (k == 2)
			assert_int_equal(torus_shape_parse("2x2", &m.table.shape), 0);
		stage_msg(&s, 101, &m);
		assert_int_equal(fm_recall_has_latest(s.fm), k != 1);
		/* The same table with other contents is not taken. */
		entry[3].admin = 8;
		m.table.base = 0;
		if (k != 1)
			stage_msg(&s, 101, &m);
		m = with_table(3, 0xabc);
		m.hello.table = 8;
		sends_up(3, &m);
		sends_hello(2);
		has_first_table();
		assert_int_equal(fm_node(s.fm, 0)->admin, k ? 0 : 2);
		assert_int_equal(fm_node(s.fm, 3)->admin, k ? 0 : 1);
		stage_end(&s);
	}
}

/*
 * The latest former table comes when the node leads already: names, votes and exclusions of a node
 * that is away are taken from it, as when it comes before.
 */
static void late_former_table_restores_names_and_exclusions(void **state)
{
	(void)state;
	for (unsigned int late = 0; late < 2; late++) {
		asks_anew();
		for (uint32_t i = 1; i < 3; i++) {
			struct fm_msg m = with_table(i, 0xabc);

			sends_up(i, &m);
		}
		s.fm->root->former.ups = 3;	/* two nodes are enough for a quorum */
		if (!late)
			sends_the_latest();
		stage_run_ns(&s, s.now + 2 * MS);
		assert_int_equal(state_of(), FM_ROOT_LEADS);
		assert_int_equal(fm_version(s.fm), 0);
		if (late)
			sends_the_latest();
		has_first_table();
		assert_string_equal(fm_node(s.fm, 3)->name, "n3");
		assert_int_equal(fm_node(s.fm, 3)->admin, 1);
		assert_int_equal(fm_node(s.fm, 3)->differs, 1);
		/* After that it does not take the table any more. */
		sends_the_latest();
		assert_false(fm_recall_has_latest(s.fm));
		stage_end(&s);
	}
}

/*
 * A node says HELLO to the new root, and does not obey yet when the first table comes: it keeps its
 * place in that.
 */
static void waiting_node_without_links_is_dead_at_its_place(void **state)
{
	struct fm_msg m;

	(void)state;
	asks_anew();
	stage_link_lost(&s, 2, 0);
	for (uint32_t i = 1; i < 3; i++) {
		m = with_table(i, 0xabc);
		/* The manager of a stranger is waited for. No cable leads to node 3. */
		m.hello.row.port[0].state = i < 2 ? FM_PORT_UP : FM_PORT_DOWN;
		m.hello.row.port[1].state = i < 2 ? FM_PORT_DOWN : FM_PORT_UP;
		m.hello.row.port[1].peer_guid = 0xdead;
		sends_up(i, &m);
	}
	sends_the_latest();
	stage_run_ns(&s, s.now + 2 * MS);
	assert_int_equal(state_of(), FM_ROOT_LEADS);
	assert_int_equal(fm_version(s.fm), 0);
	s.stubborn = true;
	m = with_table(3, 0xabc);
	m.hello.row.port[0].state = m.hello.row.port[2].state = FM_PORT_DOWN;
	sends_up(3, &m);
	assert_int_equal(fm_version(s.fm), 0);
	has_first_table();
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(s.fm, 3)->guid, NIC + 3);
	assert_string_equal(fm_node(s.fm, 3)->name, "n3");
	stage_end(&s);
}

/* --- whose words count ----------------------------------------------------------------------- */

/*
 * Return: a HELLO of node 1 or 2 with table 10 of root 0xabc, in which three nodes are up. Node 3
 * is away.
 */
static struct fm_msg of_three(uint32_t i)
{
	struct fm_msg m = with_table(i, 0xabc);

	m.hello.version = m.hello.table = 10;
	m.hello.ups = 3;
	return m;
}

/*
 * Nodes 1 and 2 send these HELLOs to a node that asks. Return: true if it claims: the two are
 * enough.
 */
static bool enough(struct fm_msg *one, struct fm_msg *two)
{
	bool is;

	asks_anew();
	sends_up(1, one);
	sends_up(2, two);
	stage_run_ns(&s, s.now + MS);
	is = state_of() != FM_ROOT_ASKS;
	stage_end(&s);
	return is;
}

/* Only nodes that were up in the same table, and in each of its voters, count towards a quorum. */
static void only_nodes_of_same_table_count_towards_quorum(void **state)
{
	struct fm_msg one = of_three(1), two = of_three(2);

	(void)state;
	assert_true(enough(&one, &two));
	two.hello.counted = false;
	assert_false(enough(&one, &two));
	two = of_three(2);
	two.hello.table_root = 0xabb;	/* the table is of another part */
	assert_false(enough(&one, &two));
	two = of_three(2);
	two.hello.term = 40;
	assert_false(enough(&one, &two));
	for (unsigned int votes = 0; votes < 4; votes++) {
		two = of_three(2);
		one.hello.voters.n = two.hello.voters.n = 1;
		one.hello.voters.set[0] = two.hello.voters.set[0] = (struct fm_set) { 3, 0xabb };
		one.hello.votes = votes & 1;
		two.hello.votes = votes >> 1;
		assert_int_equal(enough(&one, &two), votes == 3);
	}
}

/*
 * The manager of node 2 began anew. It counts as up in the table that node 1 sends, unless its NIC
 * has, or may have, rows of a later table, or is in another life.
 */
static void restarted_manager_counts_as_up_if_rows_are_older(void **state)
{
	static const struct {
		uint64_t rows, term;
		uint32_t node, life;
		bool maker, counts;
	} is[] = {
		{ 10, 41, 2, 1, false, true },
		{ 9, 41, 2, 1, false, true },
		{ 11, 41, 2, 1, false, false },
		{ 1, 42, 2, 1, false, false },
		{ 10, 0, 2, 1, false, false },
		{ 10, 41, 2, 2, false, false },
		{ 10, 41, 9, 1, false, false },	/* the table does not have that node */
		/* Having made the table counts only as long as no node has it. */
		{ 10, 41, 2, 1, true, true },
		{ 10, 41, 2, 2, true, false },
	};
	struct fm_entry entry[4];

	(void)state;
	for (size_t i = 0; i < sizeof(is) / sizeof(is[0]); i++) {
		uint64_t maker = is[i].maker ? NIC + 2 : 0xabc;
		struct fm_msg one = of_three(1), two = hello(is[i].node), table;

		asks_anew();
		one.hello.table_root = maker;
		one.hello.ups = 4;	/* this node, which is new, was there, too */
		sends_up(1, &one);
		table = stage_table(&s, 10, entry);
		table.table.term = 41;
		table.table.former = true;
		table.table.maker = maker;
		stage_msg(&s, 101, &table);
		two.hello.placed = true;
		two.hello.shape = s.shape;
		two.hello.coords.c[0] = 2;
		two.hello.row = stage_row(&s, 2);
		two.hello.version = is[i].rows;
		two.hello.rows_term = is[i].term;
		two.hello.epoch = is[i].life;
		sends_up(is[i].node, &two);
		stage_run_ns(&s, s.now + MS);
		if ((state_of() != FM_ROOT_ASKS) != is[i].counts)
			fail_msg("case %zu: not %d", i, is[i].counts);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(candidate_fetches_latest_reported_table),
		cmocka_unit_test(claim_begins_with_latest_table),
		cmocka_unit_test(kept_table_comes_too_late),
		cmocka_unit_test(node_has_place_of_latest_table),
		cmocka_unit_test(replaced_root_is_not_reported_dead),
		cmocka_unit_test(exclusions_of_latest_table_hold),
		cmocka_unit_test(late_former_table_restores_names_and_exclusions),
		cmocka_unit_test(waiting_node_without_links_is_dead_at_its_place),
		cmocka_unit_test(only_nodes_of_same_table_count_towards_quorum),
		cmocka_unit_test(restarted_manager_counts_as_up_if_rows_are_older),
	};

	return cmocka_run_group_tests_name("claim_table", tests, NULL, NULL);
}
