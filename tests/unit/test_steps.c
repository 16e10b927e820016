// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root in a recovery: its messages to nodes that do not answer, and to nodes that wait for the
 * other end of a dead link, and its knowledge of ports when they are opened.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/machine.h"
#include "tests/unit/one_fm.h"

static struct one_fm o;

/* --- nodes that do not answer ---------------------------------------------------------- */

/* A step is repeated until it is answered; after a while the slow nodes are logged. */
static void step_is_repeated_and_slow_nodes_are_logged(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
	one_report(&o, 2);
	one_report(&o, 3);
	one_run(&o, 9 * ONE_RESEND);
	assert_int_equal(o.node[1].times, 10);
	assert_int_equal(o.node[2].times, 1);
	assert_false(one_problem(&o, "recovery", ""));
	one_run(&o, 2 * ONE_RESEND);
	assert_int_equal(o.node[1].times, 12);
	assert_true(one_problem(&o, "recovery", "'n1'"));
	assert_int_equal(fm_last(o.fm)->version, 1);
	one_report(&o, 1);
	assert_false(one_problem(&o, "recovery", ""));
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_RESUME);
	/* Which node is late does not matter. */
	one_report(&o, 1);
	one_report(&o, 2);
	one_run(&o, 11 * ONE_RESEND);
	assert_true(one_problem(&o, "recovery", "'n3'"));
	one_end(&o);
}

/* --- what is told of a recovery -------------------------------------------------------- */

/* Each step is told when it is reached, not at the end; a status has those reached so far. */
static void each_step_is_reported_when_it_is_reached(void **state)
{
	struct fm_status s;

	(void)state;
	one_root(&o, 4, 8);
	fm_status(o.fm, &s);
	assert_int_equal(s.present.version, 0);
	o.steps[0] = '\0';
	one_sends(&o, 1, 1, 3);
	one_version(&o, 2);
	assert_string_equal(o.steps, "2 table 2 rebuilt ");
	fm_status(o.fm, &s);
	assert_int_equal(s.present.version, 2);
	assert_int_equal(s.present.at[FM_AT_DRAINED], 0);
	assert_int_not_equal(s.present.at[FM_AT_REBUILT], 0);
	one_parks(&o, 1, 1, 3);
	one_until(&o, FM_STEP_REPLAY);
	assert_string_equal(o.steps, "2 table 2 rebuilt 2 drained ");
	one_replays(&o, 1, 2, 3);
	one_gets_again(&o, 3, 2, 3);
	one_until(&o, FM_STEP_RESUME);
	assert_string_equal(o.steps, "2 table 2 rebuilt 2 drained 2 replayed ");
	one_finish(&o);
	assert_string_equal(o.steps, "2 table 2 rebuilt 2 drained 2 replayed 2 end ");
	fm_status(o.fm, &s);
	assert_int_equal(s.present.version, 0);
	/* One that supersedes another begins again. */
	o.steps[0] = '\0';
	one_sends(&o, 1, 2, 1);
	one_version(&o, 3);
	one_version(&o, 4);
	one_gets(&o, 1, 2, 1);
	one_finish(&o);
	assert_string_equal(o.steps, "3 table 3 rebuilt 4 table 4 rebuilt 4 drained 4 end ");
	one_end(&o);
}

/* The steps of some of many recoveries in quick succession are told, and the end of each. */
static void only_some_of_many_recoveries_report_their_steps(void **state)
{
	unsigned int ends = 0, tables = 0;

	(void)state;
	one_root(&o, 4, 8);
	for (uint64_t v = 2; v < 22; v++) {
		o.steps[0] = '\0';
		one_version(&o, v);
		one_finish(&o);
		ends += strstr(o.steps, "end ") != NULL;
		tables += strstr(o.steps, "table ") != NULL;
	}
	assert_int_equal(ends, 20);
	assert_in_range(tables, 14, 18);
	one_run(&o, 5 * SEC);
	o.steps[0] = '\0';
	one_version(&o, 22);
	one_finish(&o);
	assert_string_equal(o.steps, "22 table 22 rebuilt 22 drained 22 end ");
	one_end(&o);
}

/* A report is lost with its connection, and no node notices that. */
static void node_with_lost_report_is_called_to_join_anew(void **state)
{
	uint64_t term;

	(void)state;
	one_root(&o, 4, 8);
	for (unsigned int n = 0; n < 2; n++) {	/* in the next recovery it is noticed as soon */
		uint64_t version = fm_version(o.fm) + 1;

		term = o.node[1].asked.term;
		o.node[1].below.set = 1;
		one_version(&o, version);
		one_run(&o, 3 * ONE_MEMBER_MAX - 1);
		assert_int_not_equal(o.node[1].conn, 0);
		one_run(&o, 1);
		assert_int_equal(o.node[1].conn + o.node[2].conn + o.node[3].conn, 0);
		o.node[1].below.set = 0;
		for (uint32_t i = 1; i < 4; i++)
			one_join(&o, i);
		one_finish(&o);
		assert_true(fm_last(o.fm)->version >= version);
		assert_int_not_equal(o.node[1].asked.term, term);
		for (uint32_t i = 1; i < 4; i++)
			assert_int_equal(fm_node(o.fm, i)->state, FM_NODE_UP);
	}
	one_end(&o);
}

/* A root that has all nodes join anew draws a term that is not 0, because 0 means no term. */
static void drawn_term_is_never_0(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	o.node[1].below.set = 1;
	one_version(&o, 2);
	o.fm->random = -0x9e3779b97f4a7c15ULL;
	one_run(&o, 3 * ONE_MEMBER_MAX + ONE_RESEND);
	assert_int_equal(o.node[1].conn, 0);
	o.node[1].below.set = 0;
	for (uint32_t i = 1; i < 4; i++)
		one_join(&o, i);
	assert_int_not_equal(one_asked(&o, ONE_SOON), ONE_NOTHING);
	assert_int_not_equal(o.node[1].asked.term, 0);
	one_end(&o);
}

/* A node does not answer twenty times: its manager hangs, and its connection counts as lost. */
static void node_that_does_not_answer_is_lost(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	one_run(&o, 40 * ONE_RESEND);	/* what was waited for before is forgotten */
	began = o.now;
	assert_int_equal(fm_exclude(o.fm, 0, -1, false, o.now), 0);
	one_report(&o, 2);
	one_report(&o, 3);
	one_run(&o, began + 20 * ONE_RESEND - 1 - o.now);
	assert_int_not_equal(o.node[1].conn, 0);
	one_run(&o, 1);
	assert_int_equal(o.node[1].conn, 0);
	assert_int_not_equal(o.node[2].conn, 0);
	one_end(&o);
}

/* Counts of an older round, or of an older version, do not count for this one. */
static void reports_of_older_round_do_not_count(void **state)
{
	struct fm_step before;

	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 2, 1, 1);
	one_version(&o, 2);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	before = o.node[1].asked;
	one_answer(&o);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	one_gets(&o, 2, 1, 1);
	one_report(&o, 2);
	one_report(&o, 3);
	for (unsigned int i = 0; i < 2; i++) {
		struct fm_step now = o.node[1].asked;

		o.node[1].asked = before;
		one_report(&o, 1);
		o.node[1].asked = now;
		assert_int_equal(one_asked(&o, 5 * ONE_RESEND), ONE_NOTHING);
		before = now;
		before.version--;
	}
	one_report(&o, 1);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_RESUME);
	one_end(&o);
}

/* --- ends of links that become known after the table ------------------------------------- */

/*
 * The next version has a colour that may still be in the network, so it waits, and reports of nodes
 * go into no table for now.
 */
static void no_table_may_begin(uint32_t nodes)
{
	one_root(&o, nodes, nodes);
	one_sends(&o, 1, 1, 1);
	for (uint64_t version = 2; version <= 4; version++)
		one_version(&o, version);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
}

/* Return: the session that the present step has for @port of @node, and @seq; 0: none. */
static uint32_t session_of(uint32_t node, unsigned int port, unsigned int *seq)
{
	const struct fm_step *s = &o.node[1].asked;
	uint32_t found = 0;

	for (uint32_t i = 0; i < s->nended; i++) {
		if (s->ended[i].node != node || s->ended[i].port != port)
			continue;
		assert_int_equal(found, 0);	/* the step has it only once */
		found = s->ended[i].session;
		*seq = s->ended[i].seq;
	}
	return found;
}

static void comes_count(void)
{
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
}

static void next_count(void)
{
	one_answer(&o);
	comes_count();
}

static void late_report_of_other_end_is_in_next_count(void **state)
{
	unsigned int seq;

	(void)state;
	no_table_may_begin(4);
	/* As far as the root knows, no node waits for it. */
	one_lose(&o, 2, 1, 9, 3);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 0);
	o.node[1].sums.unresolved = 1;
	next_count();
	next_count();
	assert_int_equal(o.node[1].asked.nended, 0);
	one_end(&o);

	no_table_may_begin(4);
	o.node[1].sums.unresolved = 1;
	next_count();
	one_lose(&o, 2, 1, 9, 3);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 1);
	assert_int_equal(session_of(2, 1, &seq), 9);
	assert_int_equal(seq, 3);
	/* The end is reported once, and again if it changes. */
	next_count();
	assert_int_equal(o.node[1].asked.nended, 0);
	one_lose(&o, 2, 1, 9, 4);
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 9);
	assert_int_equal(seq, 4);
	one_lose(&o, 2, 1, 11, 4);
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 11);
	/* The same holds for a link that is up again and closed. */
	one_mend(&o, 2, 1, 12);
	o.node[2].row.port[0].state = FM_PORT_UP;
	o.node[2].row.port[0].closed = true;
	o.node[2].row.port[0].session = 5;
	o.node[2].row.port[0].seq = 6;
	one_row(&o, 2);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 1);
	assert_int_equal(session_of(2, 0, &seq), 5);
	assert_int_equal(seq, 6);
	/* If its row has no session, there is nothing to tell. */
	o.node[2].row.port[1] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	one_row(&o, 2);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 0);
	/* The next table has it. */
	o.node[1].sums.unresolved = 0;
	one_gets(&o, 1, 1, 1);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 5);
	assert_true(o.in_table[2]);
	assert_int_equal(o.entry[2].ended, 1);
	assert_int_equal(o.entry[2].session[0], 5);
	assert_int_equal(o.entry[2].seq[0], 6);
	one_end(&o);
}

/*
 * An end that was reported with a count is in the root's own table by then. The next table goes to
 * nodes that may have missed the count, so it has that end again.
 */
static void end_reported_with_count_is_again_in_next_table(void **state)
{
	unsigned int seq;

	(void)state;
	one_root(&o, 4, 4);
	one_sends(&o, 1, 1, 1);
	one_lose(&o, 2, 1, 9, 3);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_APPLY);
	one_answer(&o);
	for (uint64_t version = 3; version <= 4; version++)
		one_version(&o, version);
	o.node[1].sums.unresolved = 1;
	comes_count();
	one_lose(&o, 2, 1, 9, 4);
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 9);
	o.node[1].sums.unresolved = 0;
	one_gets(&o, 1, 1, 1);
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 5);
	assert_true(o.in_table[2]);
	assert_int_equal(o.entry[2].seq[1], 4);
	assert_false(o.in_table[1] || o.in_table[3]);
	one_finish(&o);
	one_version(&o, 6);
	assert_false(o.in_table[2]);
	one_end(&o);
}

/* The node at the other end is alive and has not reported yet: the root waits for it. */
static void root_waits_for_report_of_living_other_end(void **state)
{
	unsigned int seq;

	(void)state;
	no_table_may_begin(4);
	o.node[1].sums.unresolved = 1;
	next_count();
	one_lose(&o, 1, 0, 9, 5);
	one_row(&o, 2);
	o.node[2].row.port[0].peer_port ^= 1;	/* any other news of node 2 */
	one_row(&o, 2);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 1);
	assert_int_equal(session_of(1, 0, &seq), 9);
	assert_int_equal(seq, 5);
	one_end(&o);
}

/* A link beside an empty place has no other end: the recovery continues. */
static void link_beside_empty_place_has_no_other_end(void **state)
{
	unsigned int seq;

	(void)state;
	one_root_without(&o, 6, 3);
	assert_false(o.in_table[3]);
	one_sends(&o, 1, 1, 1);
	for (uint64_t version = 2; version <= 4; version++)
		one_version(&o, version);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	o.node[1].sums.unresolved = 1;
	next_count();
	one_lose(&o, 1, 0, 9, 5);
	one_gone(&o, 2);
	one_run(&o, ONE_RESEND / 2);
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 9);
	assert_int_equal(o.node[1].asked.nended, 2);
	o.node[1].sums.unresolved = 0;
	one_parks(&o, 1, 1, 1);
	one_until(&o, FM_STEP_APPLY);
	one_until(&o, FM_STEP_REPLAY);
	o.node[1].sums.parked = 0;
	one_until(&o, FM_STEP_RESUME);
	one_end(&o);
}

/* Node 2 dies, and its neighbours learn that it will not report: they keep all their packets. */
static void neighbours_learn_that_dead_end_will_not_report(void **state)
{
	unsigned int seq;

	(void)state;
	no_table_may_begin(5);
	o.node[1].sums.unresolved = 1;
	next_count();
	one_lose(&o, 1, 0, 9, 5);
	one_lose(&o, 3, 1, 8, 5);
	one_gone(&o, 2);
	one_run(&o, ONE_RESEND / 2);
	one_mend(&o, 3, 1, 20);		/* node 2 has power again, without its memory */
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 9);
	assert_int_equal(seq, FM_SEQ_GONE);
	assert_int_equal(session_of(2, 0, &seq), 8);
	assert_int_equal(seq, FM_SEQ_GONE);
	/* The far ends are reported as well, once each. */
	assert_int_equal(session_of(1, 0, &seq), 9);
	assert_int_equal(session_of(3, 1, &seq), 8);
	assert_int_equal(o.node[1].asked.nended, 4);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 0);
	one_end(&o);
}

/* The report that a node made of its lost link before it died is valid. */
static void report_of_end_that_died_later_is_valid(void **state)
{
	unsigned int seq;

	(void)state;
	no_table_may_begin(5);
	o.node[1].sums.unresolved = 1;
	next_count();
	one_lose(&o, 2, 1, 9, 3);
	one_lose(&o, 2, 0, 8, 3);
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 9);
	assert_int_equal(seq, 3);
	one_lose(&o, 1, 0, 9, 5);
	one_lose(&o, 3, 1, 8, 5);
	one_gone(&o, 2);
	one_run(&o, ONE_RESEND / 2);
	next_count();
	assert_int_equal(session_of(2, 1, &seq), 0);
	assert_int_equal(session_of(2, 0, &seq), 0);
	assert_int_equal(o.node[1].asked.nended, 2);
	one_end(&o);
}

/* Ends of sessions for which a step has no room are in the next one. */
static void session_ends_beyond_room_of_step_are_in_next_one(void **state)
{
	unsigned int n = 0;

	(void)state;
	no_table_may_begin(40);
	o.node[1].sums.unresolved = 1;
	next_count();
	for (uint32_t i = 2; i < 40; i++)
		for (unsigned int p = 0; p < ONE_PORTS; p++)
			one_lose(&o, i, p, 100 * i + p, 1);
	one_lose(&o, 1, 0, 99, 1);
	next_count();
	assert_int_equal(o.node[1].asked.nended, FM_ENDED_MAX);
	next_count();
	n = o.node[1].asked.nended;
	assert_int_equal(FM_ENDED_MAX + n, 2 * 38 + 1);
	next_count();
	assert_int_equal(o.node[1].asked.nended, 0);
	one_end(&o);
}

/* --- ports that a replay opens ---------------------------------------------------------- */

/* The cable between nodes 1 and 2 fails and is up again; it is closed until the next replay. */
static void lost_and_mended(void)
{
	one_root(&o, 4, 8);
	one_lose(&o, 1, 0, 9, 5);
	one_lose(&o, 2, 1, 9, 3);
	one_finish(&o);
	assert_int_equal(fm_version(o.fm), 2);
	assert_int_equal(fm_exclusions(o.fm)[1], 1);
	one_mend(&o, 1, 0, 10);
	one_mend(&o, 2, 1, 10);
	o.node[1].sums.reopen = o.node[2].sums.reopen = 1;
	one_until(&o, FM_STEP_APPLY);
	assert_int_equal(fm_version(o.fm), 3);
}

static void node_opens(uint32_t node, unsigned int port)
{
	o.node[node].row.port[port].closed = false;
	o.node[node].row.port[port].session = 0;
	o.node[node].row.port[port].seq = 0;
	o.node[node].sums.reopen = 0;
}

/*
 * A node opens its ports without a report. When it joins anew, for example because its parent is
 * gone, its row has no news, and no flow is held up by a recovery.
 */
static void port_opened_without_report_needs_no_table(void **state)
{
	(void)state;
	lost_and_mended();
	one_until(&o, FM_STEP_REPLAY);
	node_opens(1, 0);
	node_opens(2, 1);
	one_finish(&o);
	assert_int_equal(fm_last(o.fm)->version, 3);
	assert_int_equal(fm_exclusions(o.fm)[1], 0);
	for (uint32_t i = 1; i <= 2; i++) {
		one_gone(&o, i);
		one_join(&o, i);
		one_finish(&o);
	}
	assert_int_equal(fm_version(o.fm), 3);
	/* The entries of both nodes have no ended sessions any more. */
	one_version(&o, 4);
	one_finish(&o);
	assert_int_equal(fm_node(o.fm, 1)->ended, 0);
	assert_int_equal(fm_node(o.fm, 2)->ended, 0);
	one_end(&o);
}

/* The administrator has excluded the other port of node 1, which stays closed. */
static void excluded_port_stays_closed_after_replay(void **state)
{
	(void)state;
	lost_and_mended();
	one_finish(&o);
	assert_int_equal(fm_exclude(o.fm, 1, 1, true, o.now), 0);
	one_finish(&o);
	one_lose(&o, 1, 1, 19, 5);
	one_finish(&o);
	one_mend(&o, 1, 1, 20);
	one_until(&o, FM_STEP_REPLAY);
	node_opens(1, 0);
	node_opens(2, 1);
	one_finish(&o);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t version = fm_version(o.fm);

		one_gone(&o, 1);
		one_join(&o, 1);
		one_finish(&o);
		assert_int_equal(fm_version(o.fm), version);
		one_version(&o, version + 1);
		one_finish(&o);
	}
	assert_int_equal(fm_node(o.fm, 1)->ended, 2);
	assert_int_equal(fm_node(o.fm, 1)->session[1], 19);
	one_end(&o);
}

/* The link is lost again while others replay: the next table reports that end. */
static void link_lost_again_in_replay_is_in_next_table(void **state)
{
	(void)state;
	lost_and_mended();
	one_until(&o, FM_STEP_REPLAY);
	node_opens(1, 0);
	node_opens(2, 1);
	one_lose(&o, 1, 0, 10, 7);
	one_lose(&o, 2, 1, 10, 8);
	one_finish(&o);
	for (uint64_t version = fm_version(o.fm) + 1; version < 7; version++) {
		one_version(&o, version);
		one_finish(&o);
	}
	assert_int_equal(fm_node(o.fm, 1)->ended, 1);
	assert_int_equal(fm_node(o.fm, 1)->session[0], 10);
	assert_int_equal(fm_node(o.fm, 1)->seq[0], 7);
	assert_int_equal(fm_node(o.fm, 2)->ended, 2);
	assert_int_equal(fm_node(o.fm, 2)->seq[1], 8);
	one_end(&o);
}

/*
 * The link is lost again before the others are asked to replay, and there is no table with that
 * yet. No node opens it, and the number that its far end may wait for is not forgotten.
 */
static void link_lost_before_replay_is_in_next_table(void **state)
{
	(void)state;
	lost_and_mended();
	one_lose(&o, 1, 0, 10, 7);
	o.node[1].sums.reopen = 0;
	one_answer(&o);
	assert_int_equal(one_asked(&o, 0), FM_STEP_REPLAY);
	node_opens(2, 1);
	one_finish(&o);
	assert_int_equal(fm_version(o.fm), 4);
	one_version(&o, 5);
	one_finish(&o);
	assert_int_equal(fm_exclusions(o.fm)[1], 1);
	assert_int_equal(fm_node(o.fm, 1)->ended, 1);
	assert_int_equal(fm_node(o.fm, 1)->session[0], 10);
	assert_int_equal(fm_node(o.fm, 1)->seq[0], 7);
	one_end(&o);
}

/* --- for a root that starts anew --------------------------------------------------------- */

static void resume_has_base_of_losses(void **state)
{
	const struct fm_base *b = &o.node[3].asked.base;

	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 3);
	one_version(&o, 2);
	assert_int_equal(o.node[3].asked.base.version, 0);
	one_until(&o, FM_STEP_RESUME);
	assert_int_equal(b->version, 2);
	assert_int_equal(b->missing[0], 0);
	assert_int_equal(b->missing[1], 3);
	assert_int_equal(b->missing[3], 0);
	/* Packets that were missing without proof may only be late: bits 0, 1 and 3 are not known. */
	assert_int_equal(b->known, 0x14);
	assert_int_equal(b->replay_missing, 0);
	assert_int_equal(b->set, one_fingerprint(&o, 0) + one_fingerprint(&o, 1) +
			 one_fingerprint(&o, 2) + one_fingerprint(&o, 3));
	one_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(step_is_repeated_and_slow_nodes_are_logged),
		cmocka_unit_test(node_with_lost_report_is_called_to_join_anew),
		cmocka_unit_test(each_step_is_reported_when_it_is_reached),
		cmocka_unit_test(only_some_of_many_recoveries_report_their_steps),
		cmocka_unit_test(drawn_term_is_never_0),
		cmocka_unit_test(node_that_does_not_answer_is_lost),
		cmocka_unit_test(reports_of_older_round_do_not_count),
		cmocka_unit_test(late_report_of_other_end_is_in_next_count),
		cmocka_unit_test(end_reported_with_count_is_again_in_next_table),
		cmocka_unit_test(root_waits_for_report_of_living_other_end),
		cmocka_unit_test(neighbours_learn_that_dead_end_will_not_report),
		cmocka_unit_test(report_of_end_that_died_later_is_valid),
		cmocka_unit_test(link_beside_empty_place_has_no_other_end),
		cmocka_unit_test(session_ends_beyond_room_of_step_are_in_next_one),
		cmocka_unit_test(port_opened_without_report_needs_no_table),
		cmocka_unit_test(excluded_port_stays_closed_after_replay),
		cmocka_unit_test(link_lost_again_in_replay_is_in_next_table),
		cmocka_unit_test(link_lost_before_replay_is_in_next_table),
		cmocka_unit_test(resume_has_base_of_losses),
	};

	return cmocka_run_group_tests_name("steps", tests, NULL, NULL);
}
