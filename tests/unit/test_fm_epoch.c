// SPDX-License-Identifier: GPL-2.0-only
/*
 * The epoch of a root: above all that it knows of. Two roots of one epoch would give out tables of
 * the same numbers, and NICs could not distinguish their orders.
 */
#include <errno.h>

#include "daemon/fm/clock.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/epoch.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"

static void root_of(uint64_t epoch, uint64_t guid)
{
	root("4x1");
	stage_end(&s);
	s.dev.root_epoch = epoch;
	s.dev.root_guid = guid;
	stage_start(&s);
	stage_forget(&s);
}

/* Node @node, whose NIC obeys that root, joins. */
static void joins_from(uint32_t node, uint64_t epoch, uint64_t guid)
{
	struct fm_msg m = hello(node);

	m.hello.root_epoch = epoch;
	m.hello.root_guid = guid;
	joins(&m);
}

static void epoch_is(uint64_t epoch)
{
	struct fm_outline o;

	stage_run_ns(&s, s.now + 10 * MS);
	fm_outline(s.fm, &o);
	assert_int_equal(o.term, epoch);
}

static void all_join(void)
{
	for (uint32_t i = 1; i < 4; i++)
		join(i);
}

/* A root that begins anew takes an epoch above the one that its NIC obeys. */
static void restarted_root_takes_epoch_above_that_of_its_nic(void **state)
{
	(void)state;
	root_of(0, 0);
	all_join();
	epoch_is(1);
	stage_end(&s);
	root_of(41, NIC);
	all_join();
	epoch_is(42);
	stage_end(&s);
	root_of(41, 0xabc);
	all_join();
	epoch_is(42);
	stage_end(&s);
}

/*
 * A root that leads finds a node of a later epoch: it gives up its leadership, and leads in an
 * epoch after that once the nodes have promised to obey it there.
 */
static void anew(bool led, uint64_t epoch, uint64_t guid, uint64_t next)
{
	struct fm_msg m = hello(2);
	char want[200], who[32];

	root_of(0, 0);
	join(1);
	if (led) {
		join(2);
		join(3);
		settle(4);
		stage_down(&s, 102);
	}
	stage_forget(&s);
	m.hello.root_epoch = epoch;
	m.hello.root_guid = guid;
	m.hello.placed = !led;
	m.hello.version = m.hello.placed;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 2;
	joins(&m);
	if (guid == NIC)
		strcpy(who, "'n0' (0,0)");
	else
		sprintf(who, "%016llx", (unsigned long long)guid);
	sprintf(want,
		"log warning root: 'n2' obeys root %s of epoch %llu: all nodes are asked anew\n",
		who,
		(unsigned long long)epoch);
	assert_int_equal(stage_count(&s, led ? want :
				     "'n2' has rows of a former root: all nodes are asked"), 1);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(stage_count(&s, "close 101"), 1);
	assert_false(fm_reachable(s.fm));
	/*
	 * The root's Inits say so: nodes that know of that epoch follow no root of an earlier one.
	 */
	assert_int_equal(s.fm->root_epoch, epoch);
	stage_did_no(&s, "welcome");
	all_join();
	epoch_is(next);
	sprintf(want, "is root now, in epoch %llu: root asked all nodes anew",
		(unsigned long long)next);
	assert_int_equal(stage_count(&s, want), 1);
	stage_did_some(&s, "102 < welcome own term root 100 parent ''\n");
	stage_end(&s);
}

/*
 * The first root finds a later epoch at nodes without a place: neither root has made a table, and
 * this one leads on.
 */
static void not_asked(uint64_t epoch, uint64_t guid, uint64_t next)
{
	struct fm_msg m;

	root_of(0, 0);
	join(1);
	stage_forget(&s);
	joins_from(2, epoch, guid);
	assert_int_equal(stage_count(&s, "close 101"), 1);
	assert_true(fm_reachable(s.fm));
	/* Node 2 is welcomed when it sends HELLO again: by then the root's NIC knows the epoch. */
	stage_did_no(&s, "welcome");
	m = hello(2);
	m.hello.root_epoch = epoch;
	m.hello.root_guid = guid;
	stage_msg(&s, 102, &m);
	stage_did_some(&s, "102 < welcome own term root 100 parent ''\n");
	join(1);
	join(3);
	epoch_is(next);
	/* From now on the node knows an epoch, and does not believe every other one. */
	stage_forget(&s);
	joins_from(3, next + 1025, NIC);
	stage_did_some(&s, "103 < refuse 'n3' obeys epoch");
	stage_end(&s);
}

/* A node's HELLO that knows of an earlier root makes the first root ask. */
static void asks_for(const struct fm_msg *m)
{
	root_of(0, 0);
	join(1);
	assert_true(fm_reachable(s.fm));
	joins(m);
	stage_run_ns(&s, s.now + 1);
	assert_false(fm_reachable(s.fm));
	stage_did_no(&s, "102 < welcome");
	all_join();
	epoch_is(later(m->hello.kept_term, 1) + 1);
	stage_end(&s);
}

static void first_root_asks_if_others_kept_tables(void **state)
{
	struct fm_msg m;

	(void)state;
	root("4x1");
	stage_end(&s);
	m = hello(2);
	m.hello.kept_term = 7;
	m.hello.kept = 3;
	asks_for(&m);
	/* A kept table of the first epoch was made by another first root. */
	m.hello.kept_term = 1;
	asks_for(&m);
	m.hello.kept_term = 7;
	/* An epoch without a version, as no manager of ours says it, counts as well. */
	m.hello.kept = 0;
	asks_for(&m);
	/* A version without an epoch counts as well, here of a node that obeys another root. */
	m.hello.kept_term = 0;
	m.hello.kept = 5;
	m.hello.root_epoch = 1;
	m.hello.root_guid = 0xabc;
	asks_for(&m);
	/* Rows of a root that it does not obey any more. */
	m = hello(2);
	m.hello.placed = true;
	m.hello.version = 1;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 2;
	asks_for(&m);
}

/* A neighbour that has lost its root reports @epoch. Return: whether the root asks anew */
static bool asks_by_init(bool led, uint64_t guid, uint64_t epoch)
{
	struct fm_init init;
	bool asks;

	root_of(0, 0);
	if (led) {
		all_join();
		settle(4);
	}
	init = stage_neighbour(&s, 0);
	init.guid = guid;
	init.root_guid = 0xabc;
	init.epoch = epoch;
	init.lost = true;
	stage_receive(&s, 0, &init);
	stage_run_ns(&s, s.now + 1);
	asks = !fm_reachable(s.fm);
	stage_end(&s);
	return asks;
}

static void init_of_later_epoch_makes_root_ask(void **state)
{
	(void)state;
	/* The first root is not the first, if there was one. */
	assert_true(asks_by_init(false, NIC + 1, 1));
	assert_true(asks_by_init(false, NIC + 1, 5));
	/* A root that leads does not believe an earlier epoch in a stranger's Init. */
	assert_false(asks_by_init(true, 0xdead, 1));
	assert_true(asks_by_init(true, 0xdead, 2));
	assert_true(asks_by_init(true, 0xdead, 1 + 1024));
	assert_false(asks_by_init(true, 0xdead, 1 + 1025));
	/* The epoch of its own nodes reaches the root by HELLO. */
	assert_false(asks_by_init(true, NIC + 1, 2));
}

/*
 * No node is welcomed in an epoch that the root's NIC does not obey yet, because the root's next
 * life would take the same epoch.
 */
static void no_node_is_welcomed_before_own_nic_obeys(void **state)
{
	struct fm_msg m;

	(void)state;
	root("4x1");
	stage_end(&s);
	s.roots = true;
	s.err.root = -EBUSY;
	stage_start(&s);
	join(1);
	stage_did_no(&s, "welcome");
	stage_run(&s, 95);
	stage_did_no(&s, "root 100 of 1\n");
	s.err.root = 0;
	stage_run(&s, 105);
	stage_did_some(&s, "root 100 of 1\n");
	m = hello(1);
	stage_msg(&s, 101, &m);
	stage_did_some(&s, "101 < welcome own term root 100 parent ''\n");
	stage_run(&s, 1000);
	stage_did_no(&s, "root 100 of 1\n");
	stage_end(&s);
}

/*
 * The root's NIC lost its memory: if nodes obey an epoch that is not below the root's, all join
 * once more.
 */
static void root_takes_epoch_above_all_that_nodes_obey(void **state)
{
	(void)state;
	for (unsigned int led = 0; led < 2; led++) {
		anew(led, 7, NIC, 8);
		anew(led, 7, 0xabc, 8);
		anew(led, 1000, NIC, 1001);
		anew(led, 1, 0xabc, 2);
	}
	/* The root was of this epoch itself, in a life of which it knows nothing. */
	anew(false, 1, NIC, 2);
	not_asked(5000, NIC, 5001);
	not_asked(1, NIC, 2);
	not_asked(1, 0xabc, 2);
}

/*
 * A NIC that did not answer in time may obey another root of this epoch, or a later one: all nodes
 * are asked anew. If it may obey this root, it gets the order again.
 */
static void may_obey(bool led, uint64_t epoch, uint64_t guid, uint64_t next)
{
	struct fm_msg m = hello(2);

	root_of(5, NIC);
	all_join();
	if (led)
		settle(4);
	assert_int_equal(fm_epoch(s.fm), 6);
	stage_down(&s, 102);
	stage_forget(&s);
	m.hello.root_epoch = 5;
	m.hello.root_guid = NIC;
	m.hello.maybe_epoch = epoch;
	m.hello.maybe_guid = guid;
	joins(&m);
	assert_int_equal(stage_count(&s, "'n2' may obey epoch"), next > 6);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(fm_reachable(s.fm), next == 6 || !led);
	all_join();
	epoch_is(next);
	stage_end(&s);
}

static void root_takes_epoch_above_what_nics_may_obey(void **state)
{
	(void)state;
	for (unsigned int led = 0; led < 2; led++) {
		may_obey(led, 6, NIC, 6);
		may_obey(led, 6, 0xabc, 7);
		may_obey(led, 6, 0, 7);
		may_obey(led, 9, NIC, 10);
		may_obey(led, 5, 0xabc, 6);
	}
}

/* The epoch that a NIC may obey (maybe_epoch of HELLO) does not count as its promise. */
static void epoch_that_nic_may_obey_is_no_promise(void **state)
{
	struct fm_msg m = hello(1);

	(void)state;
	root_of(5, NIC);
	s.stubborn = true;
	for (unsigned int i = 0; i < 3; i++) {
		joins(&m);
		stage_did_no(&s, "welcome");
		m.hello.maybe_epoch = fm_epoch(s.fm);
		m.hello.maybe_guid = NIC;
	}
	m.hello.root_epoch = m.hello.maybe_epoch;
	m.hello.root_guid = NIC;
	m.hello.maybe_epoch = m.hello.maybe_guid = 0;
	joins(&m);
	stage_did_some(&s, "welcome");
	stage_end(&s);
}

static void nodes_of_own_epoch_do_not_join_anew(void **state)
{
	(void)state;
	root_of(6, NIC);
	joins_from(1, 6, NIC);
	joins_from(2, 5, 0xabc);
	joins_from(3, 0, 0);
	assert_int_equal(stage_count(&s, "join anew"), 0);
	epoch_is(7);
	/* By now the nodes obey this root. */
	stage_down(&s, 101);
	joins_from(1, 7, NIC);
	assert_int_equal(stage_count(&s, "join anew"), 0);
	epoch_is(7);
	stage_end(&s);
}

/*
 * A node that reports an epoch far above that of the root is not believed; epochs that others
 * report are.
 */
static void epoch_far_above_is_refused(void **state)
{
	(void)state;
	root_of(6, NIC);
	all_join();
	epoch_is(7);
	joins_from(2, 7 + 1024, NIC);
	stage_run_ns(&s, s.now + 1);
	joins_from(3, 1031 + 1025, NIC);
	assert_string_equal(fm_problem(s.fm, 0)->text, "'n3' obeys epoch 2056; a root of epoch 7 "
			    "accepts 2055 at most");
	stage_did_some(&s, "103 < refuse 'n3' obeys epoch 2056");
	all_join();
	epoch_is(1032);
	stage_end(&s);
}

/*
 * A root whose NIC lost its memory knows an epoch, if it has kept a table, and so believes none far
 * above that.
 */
static void root_refuses_epoch_far_above_that_of_kept_table(void **state)
{
	struct fm_entry e[4];
	struct fm_msg kept;

	(void)state;
	root("4x1");
	stage_end(&s);
	kept = stage_table(&s, 7, e);
	kept.table.term = 9;
	s.cfg.kept = &kept.table;
	stage_start(&s);
	stage_forget(&s);
	joins_from(2, 10 + 1024, NIC);
	stage_did_some(&s, "102 < refuse 'n2' obeys epoch 1034");
	joins_from(2, 9 + 1024, NIC);
	stage_did_no(&s, "102 < refuse");
	stage_end(&s);
	/* A table of such an epoch is not taken, whatever the HELLO said of it; a later one is. */
	stage_start(&s);
	joins_from(2, 8, NIC);
	kept.table.term = 10 + 1024;
	stage_msg(&s, 102, &kept);
	assert_int_equal(s.fm->kept.term, 9);
	kept.table.term = 9 + 1024;
	stage_msg(&s, 102, &kept);
	assert_int_equal(s.fm->kept.term, 9 + 1024);
	stage_end(&s);
	s.cfg.kept = NULL;
}

/* A root that has led no other node yet knows no epoch, and believes any, also with a table. */
static void root_that_has_led_no_node_accepts_any_epoch(void **state)
{
	(void)state;
	root_of(0, 0);
	stage_run_ns(&s, s.now + 10 * s.cfg.member_max);
	assert_true(s.fm->root->settled);
	joins_from(2, 5000, NIC);
	stage_did_no(&s, "refuse");
	stage_end(&s);
}

/* A node of this root has kept a table of its epoch: that is no reason to ask all nodes anew. */
static void kept_table_of_own_epoch_asks_no_node_anew(void **state)
{
	struct fm_msg m = hello(2);

	(void)state;
	ring();
	stage_down(&s, 102);
	stage_forget(&s);
	m.hello.kept_term = 1;
	m.hello.kept = 1;
	joins(&m);
	stage_did_some(&s, "102 < welcome");
	stage_did_no(&s, "asked anew");
	assert_true(fm_reachable(s.fm));
	stage_end(&s);
}

/* --- versions ---------------------------------------------------------------------------------- */

/*
 * Node 3 joins anew, and reports that version of its rows, of its table of that epoch, or of the
 * one that it has kept.
 */
static void reports_version(uint64_t version, uint64_t table, uint64_t term, uint64_t kept)
{
	struct fm_msg m = hello(3);

	stage_down(&s, 103);
	m.hello.placed = true;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = 3;
	m.hello.version = version;
	m.hello.table = table;
	m.hello.kept = kept;
	m.hello.term = term;
	m.hello.root_epoch = fm_epoch(s.fm);
	m.hello.root_guid = NIC;
	joins(&m);
}

/* A version far above is not believed: after the highest number there would be no next table. */
static void version_far_above_is_refused(void **state)
{
	static const struct {
		uint64_t version, table, kept;
		bool believed;
	} cases[] = {
		{ UINT64_MAX, 0, 0, false }, { 0, UINT64_MAX, 0, false },
		{ 1ULL << 62, 1, 0, false },
		{ 2 + (1ULL << 30), 1, 0, false }, { 1 + (1ULL << 30), 1, 0, true },
		{ 1, 1, 2 + (1ULL << 30), false }, { 1, 1, 1 + (1ULL << 30), true },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		ring();
		reports_version(cases[i].version, cases[i].table, 1, cases[i].kept);
		if (cases[i].believed)
			stage_did_no(&s, "refuse");
		else
			stage_did_some(&s, "accepts 1073741825 at most");
		stage_link_lost(&s, 0, 7);
		stage_run_ns(&s, s.now + 200 * MS);
		assert_in_range(fm_version(s.fm), 2, 2 * (1ULL << 30));
		stage_end(&s);
	}
}

/* A table of an epoch far above is not believed, because it would count as the latest for ever. */
static void table_of_epoch_far_above_is_refused(void **state)
{
	(void)state;
	ring();
	reports_version(1, 1, 1026, 0);
	stage_did_some(&s, "'n3' obeys epoch 1026; a root of epoch 1 accepts 1025 at most");
	stage_end(&s);
}

/* While its own NIC does not obey it, the root repeats that order after each resend. */
static void nic_of_root_gets_another_order_only_in_new_epoch(void **state)
{
	struct fm_root *r;

	(void)state;
	root("4x1");
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	settle(4);
	r = s.fm->root;
	assert_int_equal(r->stage, FM_STAGE_LEADS);
	r->obey = s.fm->now;
	fm_epoch_due(s.fm);
	assert_int_equal(r->obey, NEVER);
	s.fm->term++;
	r->obey = s.fm->now;
	fm_epoch_due(s.fm);
	assert_int_equal(r->obey, s.fm->now + s.cfg.resend);
	s.fm->term--;
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(restarted_root_takes_epoch_above_that_of_its_nic),
		cmocka_unit_test(no_node_is_welcomed_before_own_nic_obeys),
		cmocka_unit_test(root_takes_epoch_above_all_that_nodes_obey),
		cmocka_unit_test(first_root_asks_if_others_kept_tables),
		cmocka_unit_test(init_of_later_epoch_makes_root_ask),
		cmocka_unit_test(root_takes_epoch_above_what_nics_may_obey),
		cmocka_unit_test(epoch_that_nic_may_obey_is_no_promise),
		cmocka_unit_test(nodes_of_own_epoch_do_not_join_anew),
		cmocka_unit_test(epoch_far_above_is_refused),
		cmocka_unit_test(root_refuses_epoch_far_above_that_of_kept_table),
		cmocka_unit_test(root_that_has_led_no_node_accepts_any_epoch),
		cmocka_unit_test(kept_table_of_own_epoch_asks_no_node_anew),
		cmocka_unit_test(version_far_above_is_refused),
		cmocka_unit_test(table_of_epoch_far_above_is_refused),
		cmocka_unit_test(nic_of_root_gets_another_order_only_in_new_epoch),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
