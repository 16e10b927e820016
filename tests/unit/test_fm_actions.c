// SPDX-License-Identifier: GPL-2.0-only
/*
 * The actions of a node at its NIC, by themselves: tables, steps and repetitions come at random,
 * while the NIC is slow or fails. Each action that begins, and each consequence of one that ends, is
 * compared with a model. It keeps a plain list of what is left to do.
 */
#include "tests/unit/actions.h"
#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/task.h"

#define SELF	0x100
#define EPOCH	7
#define MEMBER_MAX (4000 * MS)

enum todo { NOTHING, TABLE, STEP };

/** struct root_known - a root that the NIC obeys, or may obey */
struct root_known {
	uint64_t epoch, guid;
};

/** struct model - what the NIC does, and what is left; @tag, @act: the action under way */
struct model {
	enum todo left;
	struct fm_step step;
	bool stepped, own, count_lost, old;
	uint32_t tag;
	enum fm_act act, reached;
	int err;
	uint64_t begun, took;
	uint64_t began, did, refused, rejoin, backoff, lost;
	uint16_t replay;
	bool position;
	unsigned int ndims;
	bool obey, hello, reported;
	struct root_known obeys, maybe, asked;
};

static struct model m;

/* --- the model ---------------------------------------------------------------------------- */

static bool is_mine(void)
{
	return self != TORUS_NO_NODE && entry[self].epoch == EPOCH && entry[self].state == FM_NODE_UP;
}

static uint32_t begin_action(enum fm_act act)
{
	m.act = act;
	m.old = false;
	m.begun = fm.now;
	return ++m.tag;
}

static void begin_count(bool lost)
{
	note(want, "%u: count %d\n", begin_action(FM_ACT_COUNT), lost);
}

static void order_to_obey(void)
{
	m.obey = false;
	m.asked = (struct root_known) { fm.term, fm.root_guid };
	note(want, "%u: obey %u %u\n", begin_action(FM_ACT_OBEY), (unsigned int)fm.term,
	     (unsigned int)fm.root_guid);
}

static void note_result(enum fm_act act, int err)
{
	if (err)
		note_problem(want, "nic", act, err);
	else if (act != FM_ACT_ROWS)
		note(want, "no problem nic %u\n", act);
}

/* The place of the NIC becomes the position of the node. */
static void move_model(void)
{
	if (moves || !m.position || m.ndims != fm.shape.ndims)
		note(want, "spread\n");
	m.position = true;
	m.ndims = fm.shape.ndims;
}

static void join_anew(void)
{
	if (!m.err) {
		note(want, "rejoin\n");
	} else if (m.rejoin == NEVER) {
		m.backoff = m.backoff ? 2 * m.backoff : MEMBER_MAX;
		if (m.backoff > 20 * MEMBER_MAX)
			m.backoff = 20 * MEMBER_MAX;
		m.rejoin = fm.now + m.backoff;
	}
}

/* Return: true if the place is given, and no action is under way for it. */
static bool place_model(void)
{
	if (self == TORUS_NO_NODE)
		return true;
	if (in_plan) {
		note_problem(want, "plan", 1, -EADDRINUSE);
		m.err = -EADDRINUSE;
		return false;
	}
	note(want, "no problem plan 1\n");
	if (slow_place) {
		note(want, "%u: place %u\n", begin_action(FM_ACT_PLACE), self);
		return false;
	}
	note(want, "place %u\n", self);
	note_result(FM_ACT_PLACE, place_err);
	if (place_err)
		m.err = place_err;
	else
		move_model();
	return !place_err;
}

static void table_model(void)
{
	note(want, "lookup\n");
	if (self != TORUS_NO_NODE && entry[self].epoch == EPOCH && entry[self].state != FM_NODE_UP) {
		join_anew();
		return;
	}
	if (!place_model() || !is_mine())
		return;
	note(want, "acked %u\n", entry[self].serial);
	if (slow_rows) {
		note(want, "%u: rows\n", begin_action(FM_ACT_ROWS));
	} else {
		note(want, "rows\n");
		if (rows_err) {
			m.err = rows_err;
			return;
		}
		note(want, "resolve 0\n");
		begin_count(m.count_lost = true);
	}
}

static void step_model(void)
{
	if (m.step.step == FM_STEP_REPLAY) {
		m.replay = reopen;
		note(want, "%u: replay 9 %x\n", begin_action(FM_ACT_REPLAY), reopen);
	} else if (m.step.step == FM_STEP_RESUME) {
		note(want, "%u: release 9\n", begin_action(FM_ACT_RELEASE));
	} else {
		if (m.step.orphans || m.step.nended)
			note(want, "resolve %d\n", m.step.orphans);
		begin_count(m.count_lost = false);
	}
}

/* Begins what is left, if the NIC does nothing. */
static void go_on(void)
{
	if (m.act != FM_ACT_NONE || m.left == NOTHING)
		return;
	if (!m.reported || m.obeys.epoch != fm.term || m.obeys.guid != fm.root_guid)
		order_to_obey();
	else if (m.left == TABLE)
		table_model();
	else
		step_model();
	if (m.act == FM_ACT_NONE)
		m.left = NOTHING;
}

static void work_on(enum todo left)
{
	m.left = left;
	m.old = true;
	go_on();
}

static void obeyed_model(int err)
{
	if (!err) {
		m.obeys = m.asked;
		m.maybe = (struct root_known) { 0, 0 };
		m.reported = true;
	} else if (err != -ESTALE && m.asked.epoch >= m.maybe.epoch) {
		if (m.asked.epoch == m.maybe.epoch && m.asked.guid != m.maybe.guid)
			m.maybe.guid = 0;
		else
			m.maybe = m.asked;
	}
}

/* Notes what the action has changed at the NIC, even if its step is outdated. */
static void end_model(enum fm_act act, int err)
{
	if (act == FM_ACT_OBEY)
		obeyed_model(err);
	if (act == FM_ACT_PLACE)
		note(want, "placed %d\n", err);
	if (act == FM_ACT_PLACE && !err)
		move_model();
	if (act == FM_ACT_ROWS)
		note(want, "written %d\n", err);
	if (act == FM_ACT_RELEASE && !err) {
		note(want, "released\n");
		if (!reopen && !fm.park.parked) {
			m.refused = 0;
			note(want, "no problem nic %u\n", FM_ACT_REPLAY);
		}
	}
	if (act == FM_ACT_REPLAY && !err)
		note(want, "opened %x\n", m.replay);
	if (act == FM_ACT_REPLAY)
		m.refused = err ? (m.refused ? m.refused : fm.now) : 0;
}

static void report_model(uint64_t lost)
{
	m.own = true;
	m.left = NOTHING;
	m.lost = m.count_lost ? lost : 0;
	if (m.refused)
		return;
	m.err = 0;
	m.backoff = 0;
	if (m.stepped && m.step.step == FM_STEP_RESUME)
		note(want, "fit\n");
}

/* Begins what follows the action of the present step. */
static void follow_model(enum fm_act act, int err, uint64_t lost)
{
	if (err && act != FM_ACT_REPLAY) {
		m.left = NOTHING;
	} else if (act == FM_ACT_COUNT) {
		report_model(lost);
	} else if (act == FM_ACT_ROWS) {
		note(want, "resolve 0\n");
		begin_count(m.count_lost = true);
	} else if (act == FM_ACT_RELEASE || act == FM_ACT_REPLAY) {
		begin_count(m.count_lost = act == FM_ACT_RELEASE);
	}
}

static void wait_model(void)
{
	if (m.obey && m.act == FM_ACT_NONE) {
		order_to_obey();
		m.old = true;
	} else if (!m.obey && m.hello && m.act == FM_ACT_NONE) {
		begin_count(false);
		m.old = true;
	}
}

/* --- events ------------------------------------------------------------------------------- */

static void table_comes(struct rnd *r)
{
	self = rnd_one_in(r, 4) ? TORUS_NO_NODE : rnd_below(r, NODES);
	memset(entry, 0, sizeof(entry));
	if (self != TORUS_NO_NODE)
		entry[self] = (struct fm_entry) {
			.guid = SELF, .epoch = EPOCH - rnd_one_in(r, 6),
			.state = rnd_one_in(r, 3) ? FM_NODE_SILENT : FM_NODE_UP,
			.serial = rnd_below(r, 9) };
	in_force = false;
	fm.shape.ndims = fm.table.shape.ndims = 1 + rnd_below(r, 3);
	fm.shape.size[0] = (uint16_t)rnd_below(r, 9);
	m.began = fm.now;
	m.reached = FM_ACT_NONE;
	m.own = m.stepped = false;
	work_on(TABLE);
	fm_task_table(&fm);
}

static void step_comes(struct rnd *r)
{
	struct fm_step s = { .step = (uint8_t)(FM_STEP_COUNT + rnd_below(r, 3)),
			     .orphans = rnd_one_in(r, 3), .nended = rnd_one_in(r, 3) };

	m.began = fm.now;
	m.reached = FM_ACT_NONE;
	m.own = false;
	m.stepped = true;
	m.step = s;
	work_on(is_mine() && in_force ? STEP : NOTHING);
	fm_task_step(&fm, &s);
}

static void step_is_repeated(void)
{
	if (!m.own && m.left == NOTHING && (!m.stepped || (is_mine() && in_force)))
		work_on(m.stepped ? STEP : TABLE);
	fm_task_again(&fm);
}

static void action_ends(struct rnd *r)
{
	static const int errors[] = { 0, 0, 0, -EIO, -ESTALE };
	struct fm_counts counts = { .lost = 1 + rnd_below(r, 9) };
	int err = errors[rnd_below(r, 5)];
	enum fm_act act = m.act;
	bool old = m.old;

	if (rnd_one_in(r, 8)) {
		assert_int_equal(fm_nic_end(&fm, m.tag + 1), FM_ACT_NONE);
		return;
	}
	assert_int_equal(fm_nic_end(&fm, m.tag), act);
	if (act == FM_ACT_NONE)
		return;
	m.act = FM_ACT_NONE;
	m.took = fm.now - m.begun;
	m.hello &= act != FM_ACT_COUNT;
	if (err)
		m.err = err;
	else if (act != FM_ACT_COUNT && act > m.reached) {
		m.reached = act;
		m.did = fm.now;
	}
	if (act != FM_ACT_ROWS)
		note_result(act, err);
	end_model(act, err);
	if (!old)
		follow_model(act, err, counts.lost);
	wait_model();
	go_on();
	fm_task_done(&fm, act, err, err ? NULL : &counts);
}

static void change_world(struct rnd *r)
{
	in_plan = rnd_one_in(r, 6);
	slow_place = rnd_one_in(r, 2);
	slow_rows = rnd_one_in(r, 2);
	place_err = rnd_one_in(r, 4) ? -EBUSY : 0;
	rows_err = rnd_one_in(r, 4) ? -ENOMEM : 0;
	reopen = (uint16_t)(rnd_below(r, 2) * rnd_below(r, 64));
	moves = rnd_one_in(r, 3);
	fm.park.parked = rnd_one_in(r, 3);
	if (rnd_one_in(r, 4))
		fm.have_position = m.position = false;
	if (rnd_one_in(r, 6))
		fm.term = 3 + rnd_below(r, 4);
	if (rnd_one_in(r, 6))
		fm.root_guid = 1 + rnd_below(r, 3);
}

static void time_passes(struct rnd *r)
{
	static const uint64_t steps[] = { 1, MEMBER_MAX / 4, MEMBER_MAX, 2 * MEMBER_MAX };

	fm.now += steps[rnd_below(r, 4)];
	if (fm.now >= m.rejoin) {
		m.rejoin = NEVER;
		m.err = 0;
		note(want, "rejoin\n");
	}
	fm_task_due(&fm);
}

static void is_asked_for_more(struct rnd *r)
{
	if (rnd_one_in(r, 2)) {
		m.obey = true;
		wait_model();
		fm_nic_obey_soon(&fm);
	} else {
		bool obey = m.obey;

		m.hello = true;
		m.obey = false;		/* an order to obey that waits is given by the next end */
		wait_model();
		m.obey = obey;
		fm_nic_hello(&fm);
	}
}

static void event(struct rnd *r)
{
	unsigned int p = rnd_below(r, 6);

	switch (rnd_below(r, 14)) {
	case 0: table_comes(r); break;
	case 1: case 2: step_comes(r); break;
	case 3: step_is_repeated(); break;
	case 4: change_world(r); break;
	case 5: time_passes(r); break;
	case 6: is_asked_for_more(r); break;
	case 7: case 9:
		m.replay &= (uint16_t)~(1u << p);
		fm_task_port(&fm, p);
		break;
	case 8:
		if (!rnd_one_in(r, 3))
			break;
		m.left = NOTHING;
		m.old = true;
		fm_task_stop(&fm);
		break;
	default: action_ends(r);
	}
	if (rnd_one_in(r, 60)) {
		m.refused = 0;
		fm_task_forgive(&fm);
	}
}

/* --- tests -------------------------------------------------------------------------------- */

static void compare_times(struct rnd *r)
{
	uint64_t last = m.began > m.did ? m.began : m.did, limit = 2 * MEMBER_MAX;
	uint64_t of_replay = m.refused ? m.refused + MEMBER_MAX : NEVER;
	uint64_t of_step = last + (m.err ? 1 : 2) * MEMBER_MAX;

	if (m.err == -EADDRINUSE)
		limit = 0;
	else if (m.backoff)
		limit = MEMBER_MAX / 4;
	expect(r, fm_task_fails(&fm) == (!m.own && fm.now >= last + limit), "%d", m.own);
	expect(r, fm_task_refuses(&fm) == (m.refused && fm.now >= m.refused + limit), "%d", m.err);
	expect(r, fm_task_fails_at(&fm, false) == of_replay, "%d", m.err);
	expect(r, fm_task_fails_at(&fm, true) ==
	       (m.own || of_step > of_replay ? of_replay : of_step), "%d", m.err);
	expect(r, fm_task_expiry(&fm) == m.rejoin, "%d", m.err);
}

static void compare(struct rnd *r)
{
	const struct fm_report *own = fm_task_report(&fm);
	struct fm_hello h = { .root_epoch = 0 };
	uint64_t epoch, guid = fm_nic_root(&fm, &epoch);

	expect(r, !strcmp(did, want), "did\n%snot\n%s", did, want);
	expect(r, fm_task_busy(&fm) == (m.left != NOTHING), "%u", m.left);
	expect(r, fm_task_error(&fm) == m.err, "%d", m.err);
	expect(r, fm_task_mine(&fm) == is_mine(), "node %u", self);
	expect(r, !own == !m.own, "%d", m.own);
	if (own)
		expect(r, own->count == 1 && own->set == SELF * 10 + EPOCH && own->sums.lost == m.lost,
		       "lost %u", (unsigned int)m.lost);
	expect(r, epoch == m.obeys.epoch && guid == m.obeys.guid, "epoch %u", (unsigned int)epoch);
	fm_nic_fill(&fm, &h);
	expect(r, h.root_epoch == m.obeys.epoch && h.root_guid == m.obeys.guid, "HELLO %u",
	       (unsigned int)h.root_epoch);
	expect(r, h.maybe_epoch == m.maybe.epoch && h.maybe_guid == m.maybe.guid, "maybe %u",
	       (unsigned int)h.maybe_epoch);
	expect(r, fm_nic_latest(&fm) == later(m.obeys.epoch, m.maybe.epoch), "epoch %u",
	       (unsigned int)epoch);
	expect(r, fm_nic_takes(&fm) == (m.act == FM_ACT_NONE ? m.took :
					later(m.took, fm.now - m.begun)), "%llu ns",
	       (unsigned long long)fm_nic_takes(&fm));
	expect(r, fm.ndims == m.ndims, "%u dimensions", fm.ndims);
	compare_times(r);
}

static void history(uint64_t seed)
{
	static const struct fm_ops ops = { .root_set = root_set, .count = count, .release = release,
					   .park_replay = park_replay };
	struct rnd r = rnd_new(seed);

	m = (struct model) { .rejoin = NEVER, .obeys = { 3 + rnd_below(&r, 3), 2 } };
	self = TORUS_NO_NODE;
	fm = (struct fm) { .guid = SELF, .epoch = EPOCH, .term = 5, .root_guid = 2, .now = SEC,
			   .ops = ops, .placed = true, .cfg = { .member_max = MEMBER_MAX,
								.address = ADDRESS },
			   .table = { .entry = entry, .nodes = NODES, .version = 9 } };
	fm.table.plan.len4 = 8;
	fm.table.plan.net4[0] = 30;
	change_world(&r);
	assert_true(fm_nic_new(&fm, m.obeys.epoch, 2) && fm_task_new(&fm));
	for (unsigned int k = 0; k < 200; k++) {
		did[0] = want[0] = '\0';
		event(&r);
		compare(&r);
	}
	fm_task_free(&fm);
	fm_nic_free(&fm);
}

static void random_history_equals_model(void **state)
{
	(void)state;
	for_seeds(600, history);
}

static void lack_of_memory_is_reported(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_task_new(&fm));
	memory_fails_at(1);
	assert_false(fm_nic_new(&fm, 0, 0));
	assert_true(memory_failed());
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_history_equals_model),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests_name("fm_actions", all, NULL, NULL);
}
