// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a node's part in a recovery
 *
 * Symbols:
 *
 *	(version, round)  the present step. A table is round 0 of its version; the root's steps are
 *			  rounds 1, 2, ...
 *	report		  the sum over a subtree: counters, number of nodes, and fingerprints
 *
 * 1. Order. A message with a lower pair than that of the present step is old, and is ignored; one
 *    with the same pair is a repetition, and is answered again. So messages may be late,
 *    duplicated, or out of order between connections without harm.
 *
 * 2. Completeness. Each node does the step, and reports upward once it and all of its children have
 *    done it. From the number of nodes and the sum of fingerprints the root sees that each NIC for
 *    which it waits is in the sum exactly once, whichever way the tree changed meanwhile. When a
 *    child comes or goes, the node computes its sum again and sends it again.
 *
 * 3. Progress. If a node cannot do the step, the root learns it from the node or from its parent. A
 *    node whose NIC fails reports it itself (FAILED), and repeats that until there is another
 *    table. From then on its reports count only the nodes below it, and its parent does not wait
 *    for its own part. A node that is asked for the step again answers with its report, or with a
 *    PONG. The PONG contains whether the node waits: for its NIC, whose action will end or fail, or
 *    for a child that has not reported, for which this node is responsible. So of all nodes whose
 *    report is missing, only the lowest has nothing to wait for. If it sends neither answer for
 *    member_max, its parent reports it to the root.
 *
 * The root's own node runs this code, too; its report goes to its recovery.
 *
 * Tests: tests/unit/test_fm_member.c, tests/sim/test_members.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/member.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/task.h"
#include "daemon/fm/node/uplink.h"
#include "lib/deps/invariant.h"

/**
 * struct fm_member - this node's part in the present step
 * @version, @round: the present step; version 0: there was none yet
 * @step: the last step message of this version; all 0 while @round is 0
 * @sent: this node's report was sent, and has not changed since
 * @failed: this node has reported that it cannot do this version; its reports count only the nodes
 *	below it
 */
struct fm_member {
	uint64_t version;
	uint32_t round;
	struct fm_step step;
	bool sent, failed;
};

bool fm_member_new(struct fm *fm)
{
	fm->member = calloc(1, sizeof(*fm->member));
	return fm->member;
}

void fm_member_free(struct fm *fm)
{
	free(fm->member);
}

uint32_t fm_member_round(const struct fm *fm)
{
	return fm->member->round;
}

bool fm_member_ended(const struct fm *fm)
{
	return fm->member->step.step == FM_STEP_RESUME && !fm_task_busy(fm);
}

void fm_member_check(struct fm *fm, bool again)
{
	struct fm_member *m = fm->member;
	const struct fm_report *own = fm_task_report(fm);
	struct fm_msg msg = { .type = FM_MSG_REPORT };
	struct fm_report *sum = &msg.report;

	if (!m->version || fm_reports_missing(fm) || (m->sent && !again))
		return;
	if (!m->failed && (fm_task_busy(fm) || (fm_task_mine(fm) && !own)))
		return;
	invariant(!own || own->count == 1);
	if (own && !m->failed)
		fm_report_add(sum, own, 1);
	fm_report_add(sum, fm_reports_sum(fm), 1);
	if (!sum->count)
		return;
	m->sent = true;
	sum->term = fm->term;
	sum->version = m->version;
	sum->round = m->round;
	fm->up->send(fm, &msg);
}

void fm_member_report(struct fm *fm, struct fm_conn *c, const struct fm_report *r)
{
	const struct fm_member *m = fm->member;

	if (r->term != fm->term || r->version != m->version || r->round != m->round)
		return;
	fm_reports_take(fm, c, r);
	fm->member->sent = false;
	fm_member_check(fm, false);
}

/* Begins a new step: no child has reported for it yet. */
static void enter_step(struct fm *fm, uint64_t version, uint32_t round)
{
	struct fm_member *m = fm->member;

	invariant(version == fm->table.version);
	invariant(!round || (version == m->version && round > m->round));
	m->failed &= round > 0;
	m->version = version;
	m->round = round;
	m->sent = false;
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		struct fm_conn *c = fm_conn_no(fm, i);

		c->reported = false;
		c->failed &= round > 0;
		fm_reports_await(fm, c);
		if (c->role == FM_CONN_CHILD)
			c->asked = fm->now;
	}
	fm_reports_step(fm);
	fm_conns_await(fm);
}

/*
 * Sends a step to the children that have not reported; @guests: also to guests (nodes that were
 * given another parent).
 */
static void forward_down(struct fm *fm, const struct fm_msg *msg, bool guests)
{
	for (unsigned int i = 0; i < fm_conns_count(fm); i++) {
		const struct fm_conn *c = fm_conn_no(fm, i);

		if (c->role == FM_CONN_CHILD && !c->reported && (guests || !c->guest))
			fm_conn_send(fm, c, msg);
	}
}

/* Makes a message of the present step. */
static void make_step_msg(const struct fm *fm, struct fm_msg *msg)
{
	*msg = (struct fm_msg) { .type = FM_MSG_STEP, .step = fm->member->step };
	msg->step.term = fm->term;
	msg->step.version = fm->member->version;
}

/* Return: true if this node's report waits for an action at its NIC, or for a child. */
static bool report_waits(const struct fm *fm)
{
	return fm_reports_missing(fm) ||
	       (fm_task_mine(fm) && (fm_task_busy(fm) || fm_task_error(fm)));
}

/*
 * Called when the step is requested again: sends the report, or a PONG that says whether this node
 * waits.
 */
static void answer_again(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_PONG };

	fm_member_repeat(fm);
	fm->member->sent = false;
	fm_member_check(fm, false);
	if (fm->member->sent)
		return;
	msg.pong.adrift = fm->cut_off;
	msg.pong.waits = report_waits(fm);
	fm_uplink_send(fm, &msg);
}

void fm_member_child(struct fm *fm, struct fm_conn *c, uint64_t version)
{
	struct fm_msg msg;

	if (!fm->table.version || fm->table.term != fm->term)
		return;
	if (version != fm->table.version && fm_table_whole(fm, &msg)) {
		fm_conn_send(fm, c, &msg);
		fm_table_whole_end(fm, &msg);
	}
	if (fm->member->round) {
		make_step_msg(fm, &msg);
		fm_conn_send(fm, c, &msg);
	}
}

static void fetch_table(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_FETCH };

	msg.fetch.version = fm->table.version;
	fm_uplink_send(fm, &msg);
}

void fm_member_excuse(struct fm *fm, const struct fm_failed *f)
{
	struct fm_conn *c = fm_conn_of_child(fm, f->guid, NULL);

	if (!c || f->by || c->epoch != f->epoch || f->version != fm->member->version)
		return;
	c->failed = true;
	fm_reports_await(fm, c);
	fm_member_check(fm, false);
}

/*
 * Reports to the root each child whose manager answers, but has sent neither a report nor a PONG
 * that it waits, for member_max. A child that does not answer at all counts as lost by its silence
 * (conns.c).
 */
static void report_stuck(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_FAILED };

	for (unsigned int i = fm_conns_count(fm); i-- > 0;) {
		const struct fm_conn *c = fm_conn_no(fm, i);

		if (!c || !c->awaited || c->received <= c->asked ||
		    fm->now < later(c->asked, c->busy) + fm->cfg.member_max + fm_lag_answer(fm))
			continue;
		msg.failed = (struct fm_failed) {
			.guid = c->guid, .epoch = c->epoch, .by = fm->guid,
			.version = fm->member->version, .round = fm->member->round,
		};
		fm->up->send(fm, &msg);
	}
}

/* A table itself is not sent again, only its version: a node that lacks the table asks for it. */
void fm_member_repeat(struct fm *fm)
{
	struct fm_msg msg;

	if (!fm->member->version)
		return;
	make_step_msg(fm, &msg);
	forward_down(fm, &msg, true);
	report_stuck(fm);
	if (!fm->is_root)
		return;
	fm_task_again(fm);
	fm_member_check(fm, false);
}

/*
 * If this node's NIC @fails, or has failed in this version, reports that to the root, which then
 * continues without this node. (For a NIC that is slow but succeeds, all nodes wait.) A root whose
 * own NIC fails hands over (root/resign.c), because no recovery ends without the root.
 */
static void report_own_failure(struct fm *fm, bool fails)
{
	struct fm_msg msg = { .type = FM_MSG_FAILED };

	if ((!fails && !fm->member->failed) || fm->is_root || !fm_task_mine(fm))
		return;
	fm->member->failed = true;
	fm->member->sent = false;
	msg.failed.guid = fm->guid;
	msg.failed.epoch = fm->epoch;
	msg.failed.version = fm->member->version;
	msg.failed.err = (uint32_t)-fm_task_error(fm);
	fm->up->send(fm, &msg);
}

void fm_member_gone(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_FAILED };

	if (fm->is_root)
		return;
	msg.failed.guid = fm->guid;
	msg.failed.epoch = fm->epoch;
	msg.failed.err = ENODEV;
	fm->up->send(fm, &msg);
}

/* Called when the root has repeated the present step: answers again. */
static void repeat_step(struct fm *fm)
{
	report_own_failure(fm, fm_task_fails(fm));
	fm_task_again(fm);
	answer_again(fm);
}

void fm_member_table(struct fm *fm, const struct fm_table_msg *t)
{
	bool same_term = t->term == fm->table.term;
	struct fm_msg msg = { .type = FM_MSG_TABLE, .table = *t };

	if (t->term != fm->term || (same_term && t->version < fm->table.version))
		return;
	if (same_term && t->version == fm->table.version) {
		repeat_step(fm);
		return;
	}
	if (!fm_table_take(fm, t)) {
		fetch_table(fm);
		return;
	}
	enter_step(fm, t->version, 0);
	fm->table.clean = t->clean;
	memset(&fm->member->step, 0, sizeof(fm->member->step));
	forward_down(fm, &msg, false);
	fm_task_table(fm);
	fm_member_check(fm, false);
}

void fm_member_step(struct fm *fm, const struct fm_step *s)
{
	struct fm_member *m = fm->member;
	struct fm_msg msg = { .type = FM_MSG_STEP, .step = *s };

	if (s->term != fm->term || s->version < fm->table.version)
		return;
	if (s->version > fm->table.version || fm->table.term != s->term) {
		fetch_table(fm);
		return;
	}
	if (s->round < m->round)
		return;
	if (s->round == m->round) {
		repeat_step(fm);
		return;
	}
	enter_step(fm, s->version, s->round);
	m->step = *s;
	/* The root begins the step after APPLY when the table is in force. */
	if (s->step != FM_STEP_APPLY)
		fm->table.in_force = true;
	fm->table.clean = s->clean;
	for (uint32_t i = 0; i < s->nended; i++)
		fm_table_ended(fm, &s->ended[i]);
	if (s->step == FM_STEP_RESUME)
		fm->base = s->base;
	forward_down(fm, &msg, false);
	fm_task_step(fm, s);
	fm_member_check(fm, false);
}

void fm_member_done(struct fm *fm, uint32_t tag, int err, const struct fm_counts *counts)
{
	enum fm_act act = fm_nic_end(fm, tag);

	if (act == FM_ACT_NONE)
		return;
	if (act == FM_ACT_COUNT && !counts && !err)
		err = -EPROTO;
	if (act == FM_ACT_COUNT && !err) {
		fm->park = counts->park;
		fm_uplink_counted(fm);
	}
	fm_task_done(fm, act, err, counts);
	if (act == FM_ACT_REPLAY && err)
		report_own_failure(fm, fm_task_refuses(fm));
	fm_member_check(fm, false);
}

void fm_member_left(struct fm *fm)
{
	fm->member->sent = false;
	fm_member_check(fm, false);
}
