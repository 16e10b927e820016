// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: a node's part in a recovery
 *
 * The step at hand is (version, round). A table is round 0 of its version; the
 * root's steps are rounds 1, 2, ... Whatever comes with a lower pair is old and
 * ignored, the same again is a repetition and answered again; so messages may
 * be late, doubled or out of order between connections without harm.
 *
 * Each node does the step, and reports upward once it has done so and all of
 * its children have: counters added up, together with the number of nodes and
 * the sum of their fingerprints. From these two the root sees that every NIC it
 * waits for is in the sum exactly once, whatever the tree looked like on the
 * way. When a child comes or goes the sum is made anew and sent again.
 *
 * The root runs this code like everyone; its report goes to its recovery.
 */
#include <string.h>

#include "daemon/fm/node/member.h"
#include "daemon/fm/node/conns.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"

/* Whether the table expects this node to take part. */
static bool takes_part(const struct fm *fm)
{
	return fm->placed && fm_table_takes(fm, fm->node, fm->guid, fm->epoch);
}

static void own_report(struct fm *fm, bool lost)
{
	struct fm_member *m = &fm->member;

	memset(&m->report, 0, sizeof(m->report));
	m->report.count = 1;
	m->report.set = fm_fingerprint(fm->guid, fm->epoch);
	fm_reports_own(fm, &m->report.sums);
	if (lost && fm->ops.lost_get)
		fm->ops.lost_get(fm->io, &m->report.sums.lost);
	m->own = true;
}

/* Sends the sum upward if it is complete, and new or asked for again. */
void fm_member_check(struct fm *fm, bool again)
{
	struct fm_member *m = &fm->member;
	struct fm_msg msg = { .type = FM_MSG_REPORT };
	struct fm_report *sum = &msg.report;

	if (!m->version || m->nawaited || (m->sent && !again) || (takes_part(fm) && !m->own))
		return;
	if (m->own)
		fm_report_add(sum, &m->report, 1);
	fm_report_add(sum, &m->below, 1);
	if (!sum->count)
		return;
	m->sent = true;
	sum->term = fm->uplink.term;
	sum->version = m->version;
	sum->round = m->round;
	fm->up->send(fm, &msg);
}

void fm_member_report(struct fm *fm, struct fm_conn *c, const struct fm_report *r)
{
	const struct fm_member *m = &fm->member;

	if (r->term != fm->uplink.term || r->version != m->version || r->round != m->round)
		return;
	fm_reports_take(fm, c, r);
	fm->member.sent = false;
	fm_member_check(fm, false);
}

static void new_step(struct fm *fm, uint64_t version, uint32_t round)
{
	struct fm_member *m = &fm->member;

	m->version = version;
	m->round = round;
	m->own = false;
	m->sent = false;
	for (unsigned int i = 0; i < fm->conns.n; i++) {
		struct fm_conn *c = fm->conns.list[i];

		c->reported = false;
		fm_reports_await(fm, c);
		if (c->role == FM_CONN_CHILD)
			c->asked = fm->now;
	}
	memset(&m->below, 0, sizeof(m->below));
	fm_conns_await(fm);
}

static void forward(struct fm *fm, const struct fm_msg *msg, bool guests)
{
	for (unsigned int i = 0; i < fm->conns.n; i++) {
		const struct fm_conn *c = fm->conns.list[i];

		if (c->role == FM_CONN_CHILD && !c->reported && (guests || !c->guest))
			fm_conn_send(fm, c, msg);
	}
}

/* The step at hand as a message. */
static void step_msg(const struct fm *fm, struct fm_msg *msg)
{
	*msg = (struct fm_msg) { .type = FM_MSG_STEP, .step = fm->member.step };
	msg->step.term = fm->uplink.term;
	msg->step.version = fm->member.version;
}

/*
 * The step at hand is asked for again: who cannot report it yet, for somebody
 * below has not, shows that it lives.
 */
static void answer_again(struct fm *fm)
{
	const struct fm_conn *up = fm_uplink_conn(fm);

	fm_member_repeat(fm);
	fm->member.sent = false;
	fm_member_check(fm, false);
	if (up && !fm->member.sent)
		fm_uplink_pong(fm, up);
}

/* A child came, or asks: it gets the table unless it has it, and the step. */
void fm_member_child(struct fm *fm, struct fm_conn *c, uint64_t version)
{
	struct fm_msg msg;

	if (!fm->table.version || fm->table.term != fm->uplink.term)
		return;
	if (version != fm->table.version && fm_table_whole(fm, &msg)) {
		fm_conn_send(fm, c, &msg);
		fm_table_whole_end(fm, &msg);
	}
	if (fm->member.round) {
		step_msg(fm, &msg);
		fm_conn_send(fm, c, &msg);
	}
}

static void fetch(struct fm *fm)
{
	struct fm_msg msg = { .type = FM_MSG_FETCH };

	msg.fetch.version = fm->table.version;
	fm_uplink_send(fm, &msg);
}

/*
 * Finds this node in a new table and takes the place it gives.
 * Return: 0, also if it is not in it; negative errno: the NIC is where it was.
 */
static int take_place(struct fm *fm)
{
	uint32_t node = fm->node;
	bool known = fm->have_position && fm->ndims == fm->table.shape.ndims;
	int err;

	if (!fm->placed || node >= fm->table.nodes || fm->table.entry[node].guid != fm->guid)
		node = fm_table_find(fm, fm->guid);
	if (node == TORUS_NO_NODE)
		return 0;
	err = fm_rows_place(fm, &fm->table.shape, node);
	if (err)
		return err;
	fm->ndims = fm->shape.ndims;
	memcpy(fm->size, fm->shape.size, sizeof(fm->size));
	for (unsigned int d = 0; d < fm->ndims; d++)
		fm->position[d] = fm->coords.c[d];
	fm->have_position = true;
	if (!known)
		fm_ports_spread(fm);
	return 0;
}

static void apply(struct fm *fm)
{
	const struct fm_entry *e;
	int err = take_place(fm);

	fm_reports_lookup(fm);
	if (err)
		return;
	if (!takes_part(fm)) {
		e = fm->placed && fm->node < fm->table.nodes ? &fm->table.entry[fm->node] : NULL;
		if (e && e->guid == fm->guid && e->epoch == fm->epoch)
			fm_uplink_rejoin(fm);
		return;
	}
	fm_uplink_row_acked(fm, fm->table.entry[fm->node].serial);
	if (fm_rows_apply(fm))
		return;
	fm_rows_resolve(fm, false);
	own_report(fm, true);
}

/* A table that could not be applied, for lack of memory or for the NIC, is tried again. */
static void apply_again(struct fm *fm)
{
	if (!fm->member.round && !fm->member.own)
		apply(fm);
}

/* Sends the step at hand again; of a table only its version: a node that lacks it asks for it. */
void fm_member_repeat(struct fm *fm)
{
	struct fm_msg msg;

	if (!fm->member.version)
		return;
	step_msg(fm, &msg);
	forward(fm, &msg, true);
	if (!fm->is_root)
		return;
	apply_again(fm);
	fm_member_check(fm, false);
}

/* The step at hand comes again. */
static void again(struct fm *fm)
{
	apply_again(fm);
	answer_again(fm);
}

void fm_member_table(struct fm *fm, const struct fm_table_msg *t)
{
	bool same_term = t->term == fm->table.term;
	struct fm_msg msg = { .type = FM_MSG_TABLE, .table = *t };

	if (t->term != fm->uplink.term || (same_term && t->version < fm->table.version))
		return;
	if (same_term && t->version == fm->table.version) {
		again(fm);
		return;
	}
	if (!fm_table_take(fm, t)) {
		fetch(fm);
		return;
	}
	new_step(fm, t->version, 0);
	memset(&fm->member.step, 0, sizeof(fm->member.step));
	forward(fm, &msg, false);
	apply(fm);
	fm_member_check(fm, false);
}

static void reopen(struct fm *fm)
{
	uint16_t ports = fm_rows_reopen(fm);
	int err = fm->ops.park_replay(fm->io, fm->table.version, ports);

	if (err) {
		fm_say(fm, FM_WARNING, "recovery", "replay refused: %s", strerror(-err));
		return;
	}
	fm_ports_opened(fm, ports);
}

static void do_step(struct fm *fm, const struct fm_step *s)
{
	switch (s->step) {
	case FM_STEP_COUNT:
		if (s->orphans || s->nended)
			fm_rows_resolve(fm, s->orphans);
		break;
	case FM_STEP_REPLAY:
		reopen(fm);
		break;
	case FM_STEP_RESUME:
		if (!fm->ops.release(fm->io, s->version, true))
			fm_rows_released(fm);
		break;
	}
	own_report(fm, s->step == FM_STEP_RESUME);
}

void fm_member_step(struct fm *fm, const struct fm_step *s)
{
	struct fm_member *m = &fm->member;
	struct fm_msg msg = { .type = FM_MSG_STEP, .step = *s };

	if (s->term != fm->uplink.term || s->version < fm->table.version)
		return;
	if (s->version > fm->table.version || fm->table.term != s->term) {
		fetch(fm);
		return;
	}
	if (s->round < m->round)
		return;
	if (s->round == m->round) {
		again(fm);
		return;
	}
	new_step(fm, s->version, s->round);
	m->step = *s;
	for (uint32_t i = 0; i < s->nended; i++)
		fm_table_ended(fm, &s->ended[i]);
	if (s->step == FM_STEP_RESUME)
		m->base = s->base;
	forward(fm, &msg, false);
	/* A node that could not apply the table has nothing to go on from. */
	if (takes_part(fm) && fm->applied == s->version)
		do_step(fm, s);
	fm_member_check(fm, false);
}
