// SPDX-License-Identifier: GPL-2.0-only
/*
 * The actions of this node at its NIC for the present step, one after the other (nic_actions.c):
 *
 *	table	place, rows, resolve, count
 *	COUNT	resolve, count
 *	REPLAY	replay, count
 *	RESUME	release, count
 *
 * All actions are orders of the root that the node has joined; if the NIC was not yet ordered to
 * obey that root, this is the first action.
 *
 * A newer step replaces the rest of an older one. An action that failed ends the task without a
 * report; when the root asks for the step again, the task begins again. Because the action may fail
 * each time, the failure is reported as a problem that lasts until the action succeeds, not as a
 * log line for each failure. The exception is a failed replay: the count follows nevertheless, and
 * reports that ports stay closed, so the root asks for another replay. If a NIC fails for too long,
 * in one step or at every replay, the node reports it to the root (member.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/task.h"
#include "daemon/fm/node/candidate.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/nic_actions.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/node/rows.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/node/uplink.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/wire/plan.h"
#include "lib/deps/invariant.h"

#define BACKOFF_MAX 20	/* in units of fm_config.member_max: longest time between attempts of a
			 * node whose NIC failed to join again */

#define AGAIN 4		/* member_max / AGAIN is how long a NIC that failed before may fail until
			 * it is reported */

/* The work that is left, including the action under way. */
enum fm_todo {
	FM_TODO_NOTHING,
	FM_TODO_APPLY,		/* put the present table in force */
	FM_TODO_STEP,		/* do the step @step */
};

/**
 * struct fm_task - the part of this node in the present step
 * @todo: enum fm_todo
 * @lost: the count reads the counter of lost packets, too
 * @stepped: the present step is @step, and not the table itself
 * @orphans: as in fm_step; @ended: the step contains ends of sessions
 * @began: when the step came
 * @own: this node has done the step, and @report is its part in the report
 * @err: negative errno of the last action that failed; 0: none failed
 * @reached: enum fm_act: the last action, other than a count, that succeeded for this step
 * @did: when that action succeeded for the first time
 * @refused: time since which the replay fails; 0: it does not fail
 * @rejoin: when this node, whose NIC failed, joins again; NEVER: it does not wait for that
 * @backoff: the last wait before it joined again
 * @replay: mask of the ports that REPLAY opens, without those that have changed since it began
 */
struct fm_task {
	uint8_t todo, reached;
	bool lost;
	bool stepped, orphans, ended, own;
	uint8_t step;
	uint16_t replay;
	int err;
	uint64_t began, did, refused, rejoin, backoff;
	struct fm_report report;
};

bool fm_task_new(struct fm *fm)
{
	fm->task = calloc(1, sizeof(*fm->task));
	if (!fm->task)
		return false;
	fm->task->rejoin = NEVER;
	return true;
}

void fm_task_free(struct fm *fm)
{
	free(fm->task);
}

const struct fm_report *fm_task_report(const struct fm *fm)
{
	return fm->task->own ? &fm->task->report : NULL;
}

bool fm_task_busy(const struct fm *fm)
{
	return fm->task->todo != FM_TODO_NOTHING;
}

int fm_task_error(const struct fm *fm)
{
	return fm->task->err;
}

void fm_task_port(struct fm *fm, unsigned int port)
{
	fm->task->replay &= (uint16_t)~(1u << port);
}

bool fm_task_mine(const struct fm *fm)
{
	return fm_table_takes(fm, fm_table_self(fm), fm->guid, fm->epoch);
}

/*
 * Return: ns for which a NIC may fail before it is reported to the root; 0 if it refuses the plan,
 * which time does not change.
 */
static uint64_t fail_limit(const struct fm *fm)
{
	if (fm->task->err == -EADDRINUSE)
		return 0;
	return fm->task->backoff ? fm->cfg.member_max / AGAIN : 2 * fm->cfg.member_max;
}

bool fm_task_fails(const struct fm *fm)
{
	const struct fm_task *t = fm->task;

	return !t->own && fm->now >= later(t->began, t->did) + fail_limit(fm);
}

bool fm_task_refuses(const struct fm *fm)
{
	return fm->task->refused && fm->now >= fm->task->refused + fail_limit(fm);
}

void fm_task_forgive(struct fm *fm)
{
	fm->task->refused = 0;
}

uint64_t fm_task_fails_at(const struct fm *fm, bool counts)
{
	const struct fm_task *t = fm->task;
	uint64_t at = NEVER;

	if (counts && !t->own)
		at = later(t->began, t->did) + (t->err ? 1 : 2) * fm->cfg.member_max;
	if (t->refused)
		at = earlier(at, t->refused + fm->cfg.member_max);
	return at;
}

/* Begins or ends the problem of a failed action; for rows, rows.c does that. */
static void update_problem(struct fm *fm, enum fm_act act, int err)
{
	static const char *const failed[] = {
		[FM_ACT_OBEY] = "the NIC does not obey the root",
		[FM_ACT_PLACE] = "the NIC does not take its coordinates",
		[FM_ACT_RELEASE] = "the NIC cannot end its holds",
		[FM_ACT_REPLAY] = "the NIC refuses to replay its parked packets",
		[FM_ACT_COUNT] = "the NIC's counters cannot be read",
	};

	if (act == FM_ACT_ROWS)
		return;
	if (err)
		fm_problem_set(fm, "nic", act, "%s: %s", failed[act], strerror(-err));
	else
		fm_problem_clear(fm, "nic", act);
}

/*
 * Called when RESUME is done: no row is on hold any more. Ends the problem of a failed replay,
 * unless ports or packets are left for the replay of another version.
 */
static void end_replay(struct fm *fm)
{
	fm_rows_released(fm);
	if (fm_rows_reopen(fm) || fm->park.parked)
		return;
	fm->task->refused = 0;
	fm_problem_clear(fm, "nic", FM_ACT_REPLAY);
}

static void begin_count(struct fm *fm, bool lost)
{
	fm->task->lost = lost;
	fm_nic_count(fm, lost);
}

/* --- a table ------------------------------------------------------------------- */

/* Makes the NIC's place the position of this node, and sends Inits if that is new. */
static void take_position(struct fm *fm)
{
	bool known = fm->have_position && fm->ndims == fm->shape.ndims;

	fm->ndims = fm->shape.ndims;
	memcpy(fm->size, fm->shape.size, sizeof(fm->size));
	if (fm_wave_confirm(fm) || !known)
		fm_ports_spread(fm);
}

#define OWN_ADDRESS 1	/* key of this problem of kind "plan"; root/plan.c uses 0 */

/*
 * Refuses a table whose address plan contains the service address of this node: the routes of the
 * plan would lead the service network into the torus. Return: 0 or -EADDRINUSE.
 */
static int check_plan(struct fm *fm)
{
	struct torus_plan full = fm_plan_full(&fm->table.plan);
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];

	if (!fm_plan_has(&full, fm->cfg.address)) {
		fm_problem_clear(fm, "plan", OWN_ADDRESS);
		return 0;
	}
	fm_problem_set(fm, "plan", OWN_ADDRESS,
		       "version %llu is refused: this node has the service address %s, but %s and "
		       "%s are the torus itself: give it an address of another network",
		       (unsigned long long)fm->table.version, fm->cfg.address,
		       torus_plan_text4(&full, v4), torus_plan_text6(&full, v6));
	return -EADDRINUSE;
}

/*
 * Begins to move the NIC to the place that the table gives this node, if it gives one.
 * Return: 0; negative errno: the NIC keeps its place.
 */
static int take_place(struct fm *fm, uint32_t node)
{
	int err;

	if (node == TORUS_NO_NODE)
		return 0;
	err = check_plan(fm);
	if (err)
		return err;
	err = fm_rows_place(fm, &fm->table.shape, node);
	if (fm_nic_idle(fm))
		update_problem(fm, FM_ACT_PLACE, err);
	if (!err && fm_nic_idle(fm))
		take_position(fm);
	return err;
}

/* Called when the rows of the table are in force. */
static void end_apply(struct fm *fm)
{
	fm_rows_resolve(fm, false);
	begin_count(fm, true);
}

/*
 * Return: true if recoveries do not wait for this node, because its entry @node in the table is not
 * in state UP.
 */
static bool is_left_out(const struct fm *fm, uint32_t node)
{
	const struct fm_entry *e = node == TORUS_NO_NODE ? NULL : &fm->table.entry[node];

	invariant(!e || e->guid == fm->guid);
	return e && e->epoch == fm->epoch && !fm_table_counts(e);
}

/*
 * Called if recoveries do not wait for this node: it joins again, at once, or, if its NIC failed,
 * after a back-off.
 */
static void rejoin_later(struct fm *fm)
{
	struct fm_task *t = fm->task;

	if (!t->err) {
		fm_uplink_rejoin(fm);
		return;
	}
	if (t->rejoin != NEVER)
		return;
	t->backoff = t->backoff ? earlier(2 * t->backoff, BACKOFF_MAX * fm->cfg.member_max) :
				  fm->cfg.member_max;
	t->rejoin = fm->now + t->backoff;
}

void fm_task_due(struct fm *fm)
{
	if (fm->now < fm->task->rejoin)
		return;
	fm->task->rejoin = NEVER;
	fm->task->err = 0;
	fm_uplink_rejoin(fm);
}

uint64_t fm_task_expiry(const struct fm *fm)
{
	return fm->task->rejoin;
}

/* Begins the next action that the present table requires, if any. */
static void begin_apply(struct fm *fm)
{
	uint32_t node = fm_table_self(fm);
	int err;

	fm_reports_lookup(fm);
	if (is_left_out(fm, node)) {
		rejoin_later(fm);
		return;
	}
	err = take_place(fm, node);
	if (err)
		fm->task->err = err;
	if (err || !fm_nic_idle(fm) || !fm_task_mine(fm))
		return;
	invariant(fm->placed && fm->table.entry[fm->node].guid == fm->guid);
	fm_uplink_row_acked(fm, fm->table.entry[fm->node].serial);
	err = fm_rows_apply(fm);
	if (err)
		fm->task->err = err;
	else if (fm_nic_idle(fm))
		end_apply(fm);
}

/* --- a step -------------------------------------------------------------------- */

static void begin_step(struct fm *fm)
{
	const struct fm_task *t = fm->task;

	invariant(t->stepped && fm_rows_in_force(fm));
	switch (t->step) {
	case FM_STEP_REPLAY:
		fm->task->replay = fm_rows_reopen(fm);
		fm->ops.park_replay(fm->io, fm_nic_begin(fm, FM_ACT_REPLAY), fm->table.version,
				    fm->task->replay);
		break;
	case FM_STEP_RESUME:
		fm->ops.release(fm->io, fm_nic_begin(fm, FM_ACT_RELEASE), fm->table.version, true);
		break;
	default:
		if (t->orphans || t->ended)
			fm_rows_resolve(fm, t->orphans);
		begin_count(fm, false);
	}
}

static void continue_task(struct fm *fm)
{
	if (!fm_nic_idle(fm) || fm->task->todo == FM_TODO_NOTHING)
		return;
	if (!fm_nic_obeys(fm))
		fm_nic_obey(fm);
	else if (fm->task->todo == FM_TODO_APPLY)
		begin_apply(fm);
	else
		begin_step(fm);
	if (fm_nic_idle(fm))
		fm->task->todo = FM_TODO_NOTHING;
}

static void begin_work(struct fm *fm, enum fm_todo todo)
{
	fm->task->todo = (uint8_t)todo;
	fm_nic_step(fm);
	continue_task(fm);
}

static void reset_step(struct fm_task *t, uint64_t now)
{
	t->began = now;
	t->reached = FM_ACT_NONE;
	t->own = false;
}

void fm_task_table(struct fm *fm)
{
	reset_step(fm->task, fm->now);
	fm->task->stepped = false;
	begin_work(fm, FM_TODO_APPLY);
}

/* Return: true if this node has put the table in force, so that it can do the later steps. */
static bool can_step(const struct fm *fm)
{
	return fm_task_mine(fm) && fm_rows_in_force(fm);
}

void fm_task_step(struct fm *fm, const struct fm_step *s)
{
	struct fm_task *t = fm->task;

	reset_step(t, fm->now);
	t->stepped = true;
	t->step = s->step;
	t->orphans = s->orphans;
	t->ended = s->nended;
	begin_work(fm, can_step(fm) ? FM_TODO_STEP : FM_TODO_NOTHING);
}

void fm_task_stop(struct fm *fm)
{
	fm->task->todo = FM_TODO_NOTHING;
	fm_nic_step(fm);
}

void fm_task_again(struct fm *fm)
{
	if (fm->task->own || fm_task_busy(fm))
		return;
	if (!fm->task->stepped)
		begin_work(fm, FM_TODO_APPLY);
	else if (can_step(fm))
		begin_work(fm, FM_TODO_STEP);
}

/* Called when the task is done: makes this node's part in the report from the counters. */
static void report_counts(struct fm *fm, const struct fm_counts *counts)
{
	struct fm_task *t = fm->task;

	invariant(counts && t->todo != FM_TODO_NOTHING);
	t->report.count = 1;
	t->report.set = fm_fingerprint(fm->guid, fm->epoch);
	fm_reports_own(fm, &t->report.sums);
	if (t->lost)
		t->report.sums.lost = counts->lost;
	t->own = true;
	t->todo = FM_TODO_NOTHING;
	if (t->refused)
		return;
	t->err = 0;
	t->backoff = 0;
	if (t->stepped && t->step == FM_STEP_RESUME)
		fm_candidate_fit(fm);
}

/* --- ends of actions -------------------------------------------------------------- */

/* Notes how the action changed the NIC, whether it was for this step or for an older one. */
static void take_end(struct fm *fm, enum fm_act act, int err)
{
	switch (act) {
	case FM_ACT_OBEY:
		fm_nic_obeyed(fm, err);
		break;
	case FM_ACT_PLACE:
		fm_rows_placed(fm, err);
		if (!err)
			take_position(fm);
		break;
	case FM_ACT_ROWS:
		fm_rows_written(fm, err);
		break;
	case FM_ACT_RELEASE:
		if (!err)
			end_replay(fm);
		break;
	case FM_ACT_REPLAY:
		/* After a failure ports stay closed, and the report of the count includes this. */
		if (!err)
			fm->task->refused = 0;
		else if (!fm->task->refused)
			fm->task->refused = fm->now;
		if (!err)
			fm_ports_opened(fm, fm->task->replay);
		break;
	default:
		break;
	}
}

/* Begins the next action of the present step, or ends the task. */
static void continue_step(struct fm *fm, enum fm_act act, int err, const struct fm_counts *counts)
{
	if (err && act != FM_ACT_REPLAY) {
		fm->task->todo = FM_TODO_NOTHING;
		return;
	}
	switch (act) {
	case FM_ACT_COUNT:
		report_counts(fm, counts);
		break;
	case FM_ACT_ROWS:
		end_apply(fm);
		break;
	case FM_ACT_RELEASE:
		begin_count(fm, true);
		break;
	case FM_ACT_REPLAY:
		begin_count(fm, false);
		break;
	default:
		break;
	}
}

void fm_task_done(struct fm *fm, enum fm_act act, int err, const struct fm_counts *counts)
{
	if (err) {
		fm->task->err = err;
	} else if (act != FM_ACT_COUNT && act > fm->task->reached) {
		fm->task->reached = (uint8_t)act;
		fm->task->did = fm->now;
	}
	update_problem(fm, act, err);
	take_end(fm, act, err);
	if (fm_nic_at_hand(fm))
		continue_step(fm, act, err, counts);
	fm_nic_next(fm);
	continue_task(fm);
}
