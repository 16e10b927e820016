// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's part in a recovery, by itself: random tables, steps, reports, failures and ends of
 * actions at the NIC, which come in any order, again, or late. Each message and each order to the
 * task is compared with a model, which computes the sum of the reports anew each time.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "tests/unit/taking_part.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/reports.h"

#define SELF	0x100
#define MEMBER_MAX (5000 * MS)

/** struct kid - what the model knows of a connection */
struct kid {
	bool reported, failed;
	uint64_t asked;
	uint32_t node;
	struct fm_report report;
};

/** struct model - what the node has done of the present step */
struct model {
	uint64_t version;
	uint32_t round;
	bool sent, failed, in_force;
	uint8_t clean;
	struct fm_step step;
	struct fm_base base;
	struct kid kid[CONNS];
};

static struct model m;

/* --- the model ---------------------------------------------------------------------------- */

static bool is_awaited(unsigned int i)
{
	return conn[i].role == FM_CONN_CHILD && !m.kid[i].reported && !m.kid[i].failed &&
	       fm_table_takes(&fm, m.kid[i].node, conn[i].guid, conn[i].epoch);
}

static bool is_missing(void)
{
	for (unsigned int i = 0; i < CONNS; i++)
		if (is_awaited(i))
			return true;
	return false;
}

/* Adds up what this node and its children have reported. */
static void check_model(bool again)
{
	struct fm_msg msg = { .type = FM_MSG_REPORT };
	struct fm_report *r = &msg.report;
	bool is_done = is_own || !mine;

	if (!m.version || is_missing() || (m.sent && !again) || !(m.failed || (is_done && !busy)))
		return;
	for (unsigned int i = 0; i <= CONNS; i++) {
		const struct fm_report *part = i < CONNS ? &m.kid[i].report : &own;

		if (i < CONNS ? !m.kid[i].reported : m.failed || !is_own)
			continue;
		r->count += part->count;
		r->set += part->set;
		r->sums.lost += part->sums.lost;
		r->sums.flow[1][2] += part->sums.flow[1][2];
	}
	if (!r->count)
		return;
	m.sent = true;
	r->term = fm.term;
	r->version = m.version;
	r->round = m.round;
	note_msg(want, "up", &msg);
}

static void begin_model(uint64_t version, uint32_t round)
{
	if (!round)
		m.failed = m.in_force = false;
	m.version = version;
	m.round = round;
	m.sent = false;
	for (unsigned int i = 0; i < CONNS; i++) {
		m.kid[i].reported = false;
		m.kid[i].failed &= round != 0;
		if (conn[i].role == FM_CONN_CHILD)
			m.kid[i].asked = fm.now;
	}
	note(want, "await\n");
}

static void pass_on(const struct fm_msg *msg, bool guests)
{
	char to[8];

	for (unsigned int i = 0; i < CONNS; i++) {
		snprintf(to, sizeof(to), "%d", conn[i].id);
		if (conn[i].role == FM_CONN_CHILD && !m.kid[i].reported && !(conn[i].guest && !guests))
			note_msg(want, to, msg);
	}
}

static void report_failure(bool now)
{
	struct fm_msg msg = { .type = FM_MSG_FAILED,
			      .failed = { .guid = SELF, .epoch = 3, .version = m.version,
					  .err = (uint32_t)-error } };

	if (!(now || m.failed) || !mine || fm.is_root)
		return;
	m.failed = true;
	m.sent = false;
	note_msg(want, "up", &msg);
}

static struct fm_msg present_step(void)
{
	struct fm_msg msg = { .type = FM_MSG_STEP, .step = m.step };

	msg.step.term = fm.term;
	msg.step.version = m.version;
	return msg;
}

static void repeat_model(void)
{
	struct fm_msg msg = present_step();

	if (!m.version)
		return;
	pass_on(&msg, true);
	for (int i = CONNS - 1; i >= 0; i--) {
		uint64_t since = conn[i].busy > m.kid[i].asked ? conn[i].busy : m.kid[i].asked;

		if (!is_awaited((unsigned int)i) || conn[i].received <= m.kid[i].asked ||
		    fm.now < since + MEMBER_MAX + lag)
			continue;
		msg = (struct fm_msg) { .type = FM_MSG_FAILED,
					.failed = { .guid = conn[i].guid, .epoch = conn[i].epoch,
						    .by = SELF, .version = m.version,
						    .round = m.round } };
		note_msg(want, "up", &msg);
	}
	if (fm.is_root) {
		note(want, "task again\n");
		check_model(false);
	}
}

/* The step comes again: the node begins anew what has failed, and answers. */
static void answer_model(void)
{
	struct fm_msg msg = { .type = FM_MSG_PONG };

	report_failure(fails);
	note(want, "task again\n");
	repeat_model();
	m.sent = false;
	check_model(false);
	msg.pong.adrift = fm.cut_off;
	msg.pong.waits = is_missing() || (mine && (busy || error));
	if (!m.sent)
		note_msg(want, "parent", &msg);
}

static void fetch_model(void)
{
	struct fm_msg msg = { .type = FM_MSG_FETCH, .fetch = { .version = fm.table.version } };

	note_msg(want, "parent", &msg);
}

/* --- events ------------------------------------------------------------------------------- */

static void deal_entries(struct rnd *r)
{
	uint32_t first = rnd_below(r, NODES);

	for (uint32_t i = 0; i < NODES; i++)
		entry[(first + i) % NODES] = (struct fm_entry) {
			.guid = GUID + i, .epoch = rnd_one_in(r, 6), .state = FM_NODE_UP };
	entry[rnd_below(r, NODES)].state = FM_NODE_SILENT;
}

static uint64_t some_version(struct rnd *r)
{
	uint64_t v = fm.table.version + rnd_below(r, 3);

	return v > 1 ? v - 1 : 1;
}

static void table_comes(struct rnd *r)
{
	struct fm_msg msg = { .type = FM_MSG_TABLE };
	struct fm_table_msg *t = &msg.table;

	t->term = fm.term + rnd_one_in(r, 6);
	t->version = some_version(r);
	t->clean = (uint8_t)rnd_below(r, 4);
	takes = !rnd_one_in(r, 4);
	if (t->term != fm.term || (t->term == fm.table.term && t->version < fm.table.version)) {
		;
	} else if (t->term == fm.table.term && t->version == fm.table.version) {
		answer_model();
	} else if (!takes) {
		fetch_model();
	} else {
		deal_entries(r);
		begin_model(t->version, 0);
		m.clean = t->clean;
		m.step = (struct fm_step) { .version = 0 };
		pass_on(&msg, false);
		note(want, "task table\n");
		check_model(false);
	}
	fm_member_table(&fm, t);
}

static void step_comes(struct rnd *r)
{
	struct fm_msg msg = { .type = FM_MSG_STEP };
	struct fm_step *s = &msg.step;

	s->term = fm.term + rnd_one_in(r, 6);
	s->version = rnd_one_in(r, 4) ? some_version(r) : fm.table.version + !fm.table.version;
	s->round = m.round + rnd_below(r, 4);
	s->round -= s->round > 0;
	s->step = (uint8_t)rnd_below(r, FM_STEPS);
	s->clean = (uint8_t)rnd_below(r, 4);
	s->nended = rnd_below(r, 3);
	s->ended[1].node = 1;
	s->base.version = 1 + rnd_below(r, 9);
	if (s->term != fm.term || s->version < fm.table.version) {
		;
	} else if (s->version > fm.table.version || fm.table.term != fm.term) {
		fetch_model();
	} else if (s->round == m.round) {
		answer_model();
	} else if (s->round > m.round) {
		begin_model(m.version, s->round);
		m.step = *s;
		m.in_force |= s->step != FM_STEP_APPLY;
		m.clean = s->clean;
		for (uint32_t i = 0; i < s->nended; i++)
			note(want, "ended %u\n", i);
		if (s->step == FM_STEP_RESUME)
			m.base = s->base;
		pass_on(&msg, false);
		note(want, "task step %u\n", s->round);
		check_model(false);
	}
	fm_member_step(&fm, s);
}

static void child_reports(struct rnd *r, unsigned int i)
{
	struct fm_report report = {
		.term = fm.term + rnd_one_in(r, 8), .version = m.version + rnd_one_in(r, 8),
		.round = m.round + rnd_one_in(r, 8), .count = 1 + rnd_below(r, 3),
		.set = rnd_below(r, 1000), .sums = { .lost = rnd_below(r, 9) } };

	report.sums.flow[1][2] = rnd_below(r, 9);
	if (report.term == fm.term && report.version == m.version && report.round == m.round) {
		m.kid[i].reported = true;
		m.kid[i].report = report;
		m.sent = false;
		check_model(false);
	}
	fm_member_report(&fm, &conn[i], &report);
}

static void child_fails(struct rnd *r, unsigned int i)
{
	struct fm_failed f = { .guid = conn[i].guid, .epoch = conn[i].epoch + rnd_one_in(r, 4),
			       .version = m.version + rnd_one_in(r, 4),
			       .by = rnd_one_in(r, 4) ? SELF : 0 };

	if (conn[i].role == FM_CONN_CHILD && !f.by && f.epoch == conn[i].epoch && f.version == m.version) {
		m.kid[i].failed = true;
		check_model(false);
	}
	fm_member_excuse(&fm, &f);
}

/* A child leaves, or another node becomes a child. */
static void child_changes(struct rnd *r, unsigned int i)
{
	struct fm_conn *c = &conn[i];

	if (c->role == FM_CONN_CHILD) {
		fm_reports_forget(&fm, c);
		c->role = FM_CONN_STRANGER;
		c->reported = c->awaited = c->failed = false;
		m.kid[i].reported = false;
		m.sent = false;
		check_model(false);
		fm_member_left(&fm);
		return;
	}
	c->role = FM_CONN_CHILD;
	c->guest = rnd_one_in(r, 3);
	c->epoch = rnd_one_in(r, 4);
	c->node = m.kid[i].node = rnd_one_in(r, 3) ? NODES : fm_table_find(&fm, c->guid);
	entry[NODES].guid = c->guid;
	c->failed = m.kid[i].failed = false;
	c->asked = m.kid[i].asked = fm.now;
	fm_reports_await(&fm, c);
}

/* The children's places are looked up in the table, to which they may have come by a change. */
static void table_moves_children(void)
{
	for (unsigned int i = 0; i < CONNS; i++)
		if (conn[i].role == FM_CONN_CHILD)
			m.kid[i].node = fm_table_find(&fm, conn[i].guid);
	fm_reports_lookup(&fm);
}

static void child_asks(struct rnd *r, unsigned int i)
{
	uint64_t version = fm.table.version - rnd_one_in(r, 2);
	struct fm_msg msg = { .type = FM_MSG_TABLE };
	char to[8];

	snprintf(to, sizeof(to), "%d", conn[i].id);
	msg.table.term = fm.table.term;
	msg.table.version = fm.table.version;
	has_memory = !rnd_one_in(r, 3);
	if (fm.table.version && fm.table.term == fm.term) {
		if (version != fm.table.version && has_memory) {
			note(want, "whole\n");
			note_msg(want, to, &msg);
			note(want, "end of whole\n");
		}
		msg = present_step();
		if (m.round)
			note_msg(want, to, &msg);
	}
	fm_member_child(&fm, &conn[i], version);
}

static void action_ends(struct rnd *r)
{
	struct fm_counts counts = { .park = { .parked = rnd_below(r, 5) } };
	int err = rnd_one_in(r, 3) ? -EIO : 0;
	bool has = !err && !rnd_one_in(r, 4);

	ended_act = (enum fm_act)rnd_below(r, FM_ACT_COUNT + 1);
	if (ended_act != FM_ACT_NONE) {
		bool is_count = ended_act == FM_ACT_COUNT;

		if (is_count && !err && has)
			note(want, "counted %u\n", (unsigned int)counts.park.parked);
		note(want, "task done %u %d %d\n", ended_act, is_count && !err && !has ? -EPROTO : err, has);
		if (ended_act == FM_ACT_REPLAY && err)
			report_failure(refuses);
		check_model(false);
	}
	fm_member_done(&fm, 77, err, has ? &counts : NULL);
}

static void change_task(struct rnd *r)
{
	busy = rnd_one_in(r, 4);
	mine = !rnd_one_in(r, 4);
	is_own = !rnd_one_in(r, 3);
	error = rnd_one_in(r, 3) ? -EIO : 0;
	fails = rnd_one_in(r, 6);
	refuses = rnd_one_in(r, 3);
	lag = rnd_below(r, 2) * MS;
	fm.cut_off = rnd_below(r, 2);
	own = (struct fm_report) { .count = 1, .set = rnd_below(r, 1000),
				   .sums = { .lost = rnd_below(r, 5) } };
}

/* Children are heard, or report that they wait, at the last moment or one too late. */
static void pass_time(struct rnd *r)
{
	unsigned int i = rnd_below(r, CONNS);

	fm.now += rnd_one_in(r, 4) ? MEMBER_MAX + rnd_below(r, 3) * MS : rnd_below(r, 2);
	conn[i].received = rnd_one_in(r, 4) ? m.kid[i].asked : fm.now;
	conn[i].busy = fm.now - rnd_below(r, 2) * (MEMBER_MAX + rnd_below(r, 2) * MS);
}

static void joins_later_epoch(struct rnd *r)
{
	if (rnd_one_in(r, 6))
		fm.term++;
}

static void event(struct rnd *r)
{
	unsigned int i = rnd_below(r, CONNS);
	bool again = rnd_one_in(r, 2);

	switch (rnd_below(r, 14)) {
	case 0: table_comes(r); break;
	case 1: case 2: step_comes(r); break;
	case 3: case 4:
		if (conn[i].role == FM_CONN_CHILD)
			child_reports(r, i);
		break;
	case 5: child_fails(r, i); break;
	case 6: child_changes(r, i); break;
	case 7: child_asks(r, i); break;
	case 8: action_ends(r); break;
	case 9: change_task(r); break;
	case 10: pass_time(r); break;
	case 11:
		check_model(again);
		fm_member_check(&fm, again);
		break;
	case 12: table_moves_children(); break;
	default:
		repeat_model();
		fm_member_repeat(&fm);
		joins_later_epoch(r);
	}
}

/* --- tests -------------------------------------------------------------------------------- */

static void compare(struct rnd *r)
{
	uint64_t first = 0;

	expect(r, !strcmp(did, want), "did\n%snot\n%s", did, want);
	for (unsigned int i = CONNS; i-- > 0;) {
		const struct fm_conn *c = &conn[i];

		first = is_awaited(i) ? c->guid : first;
		if (c->role == FM_CONN_CHILD)
			expect(r, c->reported == m.kid[i].reported && c->failed == m.kid[i].failed &&
			       c->asked == m.kid[i].asked && c->awaited == is_awaited(i), "child %u", i);
		expect(r, c->node == m.kid[i].node, "child %u", i);
	}
	expect(r, fm_member_round(&fm) == m.round, "round %u", fm_member_round(&fm));
	expect(r, fm_member_ended(&fm) == (m.step.step == FM_STEP_RESUME && !busy), "%d", busy);
	expect(r, fm_reports_missing(&fm) == is_missing(), "%d", is_missing());
	expect(r, fm_reports_awaited(&fm) == first, "0x%x", (unsigned int)first);
	expect(r, fm.table.clean == m.clean && fm.table.in_force == m.in_force, "clean %u", m.clean);
	expect(r, fm.base.version == m.base.version, "base %u", (unsigned int)m.base.version);
}

static void history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	memset(&m, 0, sizeof(m));
	memset(conn, 0, sizeof(conn));
	conns = CONNS;
	vanish = false;
	fm = (struct fm) { .guid = SELF, .epoch = 3, .term = 20, .now = 1000 * SEC, .up = &up,
			   .is_root = rnd_one_in(&r, 3), .cfg = { .member_max = MEMBER_MAX },
			   .table = { .entry = entry, .nodes = NODES } };
	fm.table.term = fm.term - rnd_below(&r, 2);
	deal_entries(&r);
	for (unsigned int i = 0; i < CONNS; i++)
		conn[i] = (struct fm_conn) { .id = 50 + (int)i, .guid = GUID + i };
	busy = is_own = fails = refuses = false;
	mine = true;
	assert_true(fm_member_new(&fm) && fm_reports_new(&fm));
	for (unsigned int k = 0; k < 200; k++) {
		did[0] = want[0] = '\0';
		event(&r);
		compare(&r);
	}
	fm_member_free(&fm);
	fm_reports_free(&fm);
}

static void random_history_equals_model(void **state)
{
	(void)state;
	for_seeds(500, history);
}

/* The node's own counters are those that were read last; ports are counted that are to be opened. */
static void own_counters_are_those_of_park(void **state)
{
	struct fm_sums sums;

	(void)state;
	fm = (struct fm) { .relayed = 6,
			   .park = { .parked = 1, .unresolved = 2, .held = 3 } };
	fm.park.flow.counter[1][2] = 4;
	memset(&sums, 0xff, sizeof(sums));
	reopen = 0x15;
	fm_reports_own(&fm, &sums);
	assert_true(sums.parked == 1 && sums.unresolved == 2 && sums.held == 3);
	assert_true(sums.flow[1][2] == 4 && !sums.flow[0][0] && sums.relayed == 6);
	assert_true(sums.reopen == 3 && !sums.lost);
}

/* Adds a report in which each number differs, and subtracts it again. */
static void report_is_added_and_subtracted_in_all_its_numbers(void **state)
{
	struct fm_report one = { .count = 1, .set = 2,
				 .sums = { .parked = 3, .unresolved = 4, .held = 5, .lost = 6,
					   .reopen = 7, .relayed = 8 } };
	struct fm_report sum, zero = { .count = 0 };

	(void)state;
	for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			one.sums.flow[f][c] = 9 + 100 * f + c;
	memset(&sum, 0, sizeof(sum));
	fm_report_add(&sum, &one, 1);
	assert_memory_equal(&sum, &one, sizeof(sum));
	fm_report_add(&sum, &one, 1);
	assert_true(sum.count == 2 && sum.set == 4 && sum.sums.reopen == 14);
	fm_report_add(&sum, &one, -1);
	fm_report_add(&sum, &one, -1);
	assert_memory_equal(&sum, &zero, sizeof(sum));
}

/* The root may close connections when it learns of a failure. */
static void children_that_vanish_are_not_reported(void **state)
{
	struct fm_table_msg t = { .term = 20, .version = 1 };

	(void)state;
	fm = (struct fm) { .guid = SELF, .term = 20, .now = SEC, .up = &up,
			   .table = { .entry = entry, .nodes = NODES } };
	assert_true(fm_member_new(&fm) && fm_reports_new(&fm));
	conns = CONNS;
	takes = vanish = true;
	for (unsigned int i = 0; i < CONNS; i++) {
		entry[i] = (struct fm_entry) { .guid = GUID + i, .state = FM_NODE_UP };
		conn[i] = (struct fm_conn) { .role = FM_CONN_CHILD, .guid = GUID + i, .node = i,
					     .received = 2 * SEC };
	}
	fm_member_table(&fm, &t);
	fm.now += SEC;
	did[0] = '\0';
	fm_member_repeat(&fm);
	assert_non_null(strstr(did, "up failed 203/0"));
	assert_null(strstr(did, "up failed 202/0"));
	fm_member_free(&fm);
	fm_reports_free(&fm);
}

static void lack_of_memory_is_reported(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_member_new(&fm));
	memory_fails_at(1);
	assert_false(fm_reports_new(&fm));
	assert_true(memory_failed());
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_history_equals_model),
		cmocka_unit_test(own_counters_are_those_of_park),
		cmocka_unit_test(report_is_added_and_subtracted_in_all_its_numbers),
		cmocka_unit_test(children_that_vanish_are_not_reported),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests_name("fm_taking_part", all, NULL, NULL);
}
