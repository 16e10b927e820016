// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables for which a root needs a quorum while none is taken, and when a node forgets; and when
 * a table may go on with the nodes that have taken it.
 */
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/tally.h"
#include "stage_quorum.h"

/* Makes the table @version, in which the nodes of @up are up. */
static void make(unsigned int up, uint64_t version)
{
	for (uint32_t k = 0; k < NODES; k++)
		fm_quorum_entry(s.fm, fm_record_no(r, k), up >> k & 1, version);
}

/* Checks the sets of which the next table needs a quorum: how many nodes are in each. */
static void voters(uint64_t version, unsigned int n, const uint32_t *ups)
{
	struct fm_voters v;

	fm_quorum_voters(s.fm, version, &v);
	assert_int_equal(v.n, n);
	for (unsigned int i = 0; i < n; i++)
		assert_int_equal(v.set[i].ups, ups[i]);
}

#define VOTERS(version, ...) \
	voters(version, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4, (uint32_t[]){ __VA_ARGS__ })

/* --- tables that are made one after the other ---------------------------------------------- */

/* A quorum has taken a table: the later ones may be in force, too, and still need their voters. */
static void taking_earlier_table_leaves_later_ones_open(void **state)
{
	(void)state;
	begin();
	make(ALL, 1);
	make(ALL - 2, 2);
	make(ALL - 6, 3);
	make(ALL - 14, 4);
	VOTERS(5, 6, 5, 4, 3);
	fm_quorum_taken(s.fm, 2);
	VOTERS(5, 5, 4, 3);
	fm_quorum_taken(s.fm, 3);
	VOTERS(5, 4, 3);
	stage_end(&s);
}

/* No table is taken for long: there is no quorum of all of them, until the last one is. */
static void too_many_open_tables_have_no_quorum(void **state)
{
	(void)state;
	begin();
	for (uint32_t k = 1; k < NODES; k++)
		fm_record_no(r, k)->via = NIC;
	for (uint64_t v = 1; v <= FM_QUORUM_OPEN + 4; v++) {
		make(v & 1 ? ALL : ALL - 2, v);
		assert_int_equal(fm_quorum_look(s.fm), v < FM_QUORUM_OPEN);
	}
	fm_quorum_taken(s.fm, FM_QUORUM_OPEN + 4);
	assert_true(fm_quorum_look(s.fm));
	VOTERS(FM_QUORUM_OPEN + 5, 5);
	stage_end(&s);
}

/*
 * Entries may keep bits of sets of voters that the table has no more. A node that gets the whole
 * table gets none of them, whether all places are filled or not: it would refuse the message.
 */
static void bits_of_former_voters_are_not_sent(void **state)
{
	const struct fm_entry blank = { .state = FM_NODE_ABSENT };

	(void)state;
	for (uint32_t absent = 0; absent < 2; absent++) {
		struct fm_table *t;
		struct fm_msg m;

		begin();
		t = &s.fm->table;
		t->voters.n = 2;
		if (absent)
			t->entry[3] = blank;
		for (uint32_t odd = 0; odd < 2; odd++) {
			t->entry[odd].differs = 6;
			assert_true(fm_table_whole(s.fm, &m));
			assert_int_equal(m.table.nentries, NODES - absent);
			for (uint32_t i = 0; i < m.table.nentries; i++) {
				struct fm_entry e = t->entry[m.table.entries[i].node];

				e.differs &= 3;
				assert_memory_equal(&m.table.entries[i], &e, sizeof(e));
			}
			fm_table_whole_end(s.fm, &m);
			assert_int_equal(t->entry[odd].differs, 6);
			t->entry[odd].differs = 2;
		}
		stage_end(&s);
	}
}

/* --- a NIC loses its memory ------------------------------------------------------------------ */

/*
 * A node that has lost its memory counts for no table from before, and in the next one as a node
 * that was not there.
 */
static void node_that_lost_memory_counts_for_no_former_table(void **state)
{
	const unsigned int set[1] = { ALL };

	(void)state;
	begin();
	former(set, 1, CLAIMED);
	fm_quorum_begin(s.fm);
	make(ALL - 2, 1);
	assert_int_equal(fm_quorum_differs(s.fm, fm_record_no(r, 4), false, 2), 3);
	fm_quorum_forgot(s.fm, fm_record_no(r, 4));
	assert_int_equal(fm_quorum_differs(s.fm, fm_record_no(r, 4), false, 2), 0);
	/* Node 1 was not up in the first table, and node 3 is not up any more. */
	fm_quorum_forgot(s.fm, fm_record_no(r, 1));
	make(ALL - 0x12, 2);
	make(ALL - 0x1a, 3);
	fm_quorum_forgot(s.fm, fm_record_no(r, 3));
	make(ALL - 8, 4);
	VOTERS(4, 6, 5, 3);
	VOTERS(5, 6, 5, 3, 5);
	stage_end(&s);
}

/* --- the claim was made without a table ------------------------------------------------------ */

/* Begins with a kept table, in which the first five nodes were; no node had a table. */
static void kept(void)
{
	struct fm_entry e[NODES];
	struct fm_msg m;

	begin();
	m = stage_table(&s, 7, e);
	m.table.nentries = 5;
	assert_true(fm_keep_take(s.fm, &m.table));
	s.fm->table.version = 0;
	r->settled = false;
	r->restored = true;
	r->shape = s.shape;
	r->stage = FM_STAGE_ASKS;
}

/*
 * All nodes of the kept table count: those that joined, that come before the first table, or that
 * are away.
 */
static void all_nodes_of_kept_table_count(void **state)
{
	struct fm_entry e = { .state = FM_NODE_UP };
	struct fm_voters v = { .n = 0 };
	const struct fm_record *late;

	(void)state;
	kept();
	late = fm_record_no(r, 4);
	fm_quorum_begin(s.fm);
	for (uint32_t k = 0; k < NODES; k++)
		assert_int_equal(fm_quorum_differs(s.fm, fm_record_no(r, k), false, 1), k < 5);
	fm_record_no(r, 4)->stated.chose = 0;
	fm_quorum_hello(s.fm, fm_record_no(r, 4));
	assert_int_equal(fm_quorum_differs(s.fm, late, false, 1), 1);
	/* A node that comes when there is a first table counts by that. */
	fm_record_no(r, 4)->stated.chose = 0;
	r->settled = true;
	fm_quorum_hello(s.fm, fm_record_no(r, 4));
	assert_int_equal(fm_quorum_differs(s.fm, late, false, 1), 0);
	fm_quorum_former(s.fm, fm_record_no(r, 4), &v, &e);
	assert_int_equal(fm_quorum_differs(s.fm, late, false, 1), 1);
	stage_end(&s);
}

/* --- who has taken a table -------------------------------------------------------------------- */

/* Adds or removes the cable at port +x of @node. */
static void cable(uint32_t node, bool is)
{
	uint8_t state = is ? FM_PORT_UP : FM_PORT_DOWN;

	fm_record(r, NIC + node)->row.port[0].state = state;
	fm_record(r, NIC + (node + 1) % NODES)->row.port[2].state = state;
}

/* All nodes are in the table that was taken last; now those of @who take the next one. */
static bool took(unsigned int who)
{
	for (uint32_t k = 0; k < NODES; k++)
		fm_record(r, NIC + k)->state = who >> k & 1 ? FM_NODE_UP : FM_NODE_SILENT;
	return fm_quorum_took(s.fm);
}

static void begin_taken(void)
{
	begin();
	make(ALL, 1);
	fm_quorum_taken(s.fm, 1);
}

/* Return: true if a cable of those in @cables, each at +x of a node, leads from @who to another. */
static bool leads_on(unsigned int who, unsigned int cables)
{
	unsigned int next = (who << 1 | who >> (NODES - 1)) & ALL, ends = (who ^ next) & ALL;

	return (ends >> 1 | ends << (NODES - 1)) & ALL & cables;
}

/* Tries all sets of nodes that take the table, with all sets of cables. */
static void root_goes_on_with_majority_or_all_reachable(void **state)
{
	unsigned int few = 0;

	(void)state;
	begin_taken();
	for (unsigned int cables = 0; cables <= ALL; cables++) {
		for (uint32_t k = 0; k < NODES; k++)
			cable(k, cables >> k & 1);
		for (unsigned int who = 1; who <= ALL; who += 2) {
			bool most = quorum(who, ALL, 0), want = most || !leads_on(who, cables);

			if (took(who) != want)
				fail_msg("nodes %x, cables %x: not %d", who, cables, want);
			few += !most && want;
		}
	}
	assert_true(few > 50);
	stage_end(&s);
}

/*
 * A cable to a NIC that no node knows leads out of the set; one to a NIC that has not named itself
 * does not.
 */
static void cable_to_stranger_leads_out_of_set(void **state)
{
	struct fm_port_row *p;

	(void)state;
	begin_taken();
	for (uint32_t k = 0; k < NODES; k++)
		cable(k, k == 0);
	assert_true(took(3));
	p = &fm_record(r, NIC + 1)->row.port[1];
	*p = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = 0xdead };
	assert_false(took(3));
	p->state = FM_PORT_FAULTY;
	assert_true(took(3));
	*p = (struct fm_port_row) { .state = FM_PORT_UP };
	assert_true(took(3));
	stage_end(&s);
}

/* A node that has no place has not taken it. */
static void node_without_place_has_not_taken_table(void **state)
{
	uint32_t had;

	(void)state;
	begin_taken();
	assert_true(took(0xf));
	had = fm_record(r, NIC + 1)->node;
	fm_record(r, NIC + 1)->node = TORUS_NO_NODE;
	assert_true(took(0xf));
	assert_false(took(7));
	fm_record(r, NIC + 1)->node = had;
	stage_end(&s);
}

/*
 * All nodes for which the root waits have reported, but they are no quorum, and a link leads to others:
 * the table does not come into force before enough take it.
 */
static void reports_of_too_few_put_no_table_in_force(void **state)
{
	struct fm_report rep;
	struct fm_row row1;

	(void)state;
	begin();
	row1 = stage_row(&s, 1);
	row1.serial = 50;
	row1.port[0].state = FM_PORT_FAULTY;
	row(1, &row1);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_recovery_phase(r), FM_PHASE_APPLY);
	rep = (struct fm_report) {
		.version = fm_version(s.fm), .count = fm_tally(s.fm)->parts[FM_PART_TAKES],
		.set = fm_tally(s.fm)->set,
	};
	assert_false(took(1));
	fm_recovery_report(s.fm, &rep);
	assert_int_equal(fm_recovery_phase(r), FM_PHASE_APPLY);
	assert_true(took(0xf));
	fm_recovery_report(s.fm, &rep);
	assert_int_not_equal(fm_recovery_phase(r), FM_PHASE_APPLY);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(taking_earlier_table_leaves_later_ones_open),
		cmocka_unit_test(too_many_open_tables_have_no_quorum),
		cmocka_unit_test(bits_of_former_voters_are_not_sent),
		cmocka_unit_test(node_that_lost_memory_counts_for_no_former_table),
		cmocka_unit_test(all_nodes_of_kept_table_count),
		cmocka_unit_test(root_goes_on_with_majority_or_all_reachable),
		cmocka_unit_test(cable_to_stranger_leads_out_of_set),
		cmocka_unit_test(node_without_place_has_not_taken_table),
		cmocka_unit_test(reports_of_too_few_put_no_table_in_force),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
