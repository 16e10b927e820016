// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of recoveries, by themselves: random reports of random sums at chosen times, before and
 * after each time limit. A model says by the rules at the head of recovery.c which step follows
 * when, what is proven, and how many packets were lost. Stubs in this test stand for the functions
 * of the manager that the file calls.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "tests/unit/phases.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/sums.h"

static void compare(struct rnd *r)
{
	uint64_t again = w.waits ? w.asked + RESEND + lag : NEVER;

	expect(r, fm_recovery_phase(&root) == w.phase, "%u", fm_recovery_phase(&root));
	expect(r, fm_recovery_waits(&root) == w.waits, "phase %u", w.phase);
	expect(r, fm_recovery_round(&root) == w.round, "phase %u", w.phase);
	expect(r, fm_recovery_round_began(&root) == w.round_began, "phase %u", w.phase);
	expect(r, fm_recovery_orphans(&root) == w.orphans, "phase %u", w.phase);
	expect(r, fm_recovery_expiry(&fm) == (again < w.next ? again : w.next), "phase %u",
	       w.phase);
	assert_memory_equal(fm_recovery_sums(&root), &w.sums, sizeof(w.sums));
	assert_memory_equal(fm_recovery_log(&root), &w.log, sizeof(w.log));
	assert_memory_equal(fm_recovery_last(&root), &w.last, sizeof(w.last));
	assert_memory_equal(&root.base, &w.base, sizeof(w.base));
	expect(r, root.clean == w.clean, "%x", root.clean);
	expect(r, seen.sent == w.sent && seen.lines == w.lines, "lines %u", seen.lines);
	expect(r, seen.repeated == w.repeated && seen.anew == w.anew, "anew %u", seen.anew);
	expect(r, seen.resumed == w.resumed && seen.begun == w.begun, "%u", seen.begun);
	expect(r, seen.checked == w.checked, "%u", seen.checked);
	expect(r, seen.problem == w.problem && fm.rolls == w.rolls, "phase %u", w.phase);
}

/* --- random events ------------------------------------------------------------ */

static void add(unsigned int counter, unsigned int c, int64_t n)
{
	net.flow[counter][c] += (uint64_t)(n > 0 ? n : -n);
}

/* As many packets are missing as the base says. */
static void restore_base(void)
{
	for (unsigned int c = 0; c < TORUS_COLOURS; c++) {
		int64_t more = fm_sums_missing(&net, c) - w.base.missing[c];

		add(more > 0 ? TORUS_FC_DELIVERED : TORUS_FC_INJECTED, c, more);
	}
}

/* Each NIC is empty. */
static void empty_links(void)
{
	for (unsigned int c = 0; c < TORUS_COLOURS; c++) {
		struct fm_sums one = { .parked = 0 };
		int64_t more;

		for (unsigned int f = 0; f < TORUS_FC_COUNT; f++)
			one.flow[f][c] = net.flow[f][c];
		more = (int64_t)(fm_sums_in(&one, TORUS_COLOURS) -
				 fm_sums_out(&one, TORUS_COLOURS));
		add(more > 0 ? TORUS_FC_LINK_TX : TORUS_FC_LINK_RX, c, more);
	}
}

/* Packets go in and come out; @r decides how many, and which proofs are possible. */
static void change_net(struct rnd *r)
{
	static const uint8_t kinds[] = { TORUS_FC_INJECTED, TORUS_FC_DELIVERED, TORUS_FC_LINK_RX,
					 TORUS_FC_LINK_TX, TORUS_FC_REPLAY_TX, TORUS_FC_REPLAY_RX };
	unsigned int c = rnd_below(r, TORUS_COLOURS);

	if (rnd_one_in(r, 2))
		return;
	net.unresolved = net.unresolved ? !rnd_one_in(r, 4) : rnd_one_in(r, 8);
	net.parked = rnd_one_in(r, 4) ? rnd_below(r, 3) : net.parked;
	net.reopen = rnd_one_in(r, 4) ? rnd_below(r, 2) : net.reopen;
	net.lost += rnd_one_in(r, 5);
	if (rnd_one_in(r, 3))
		net.flow[kinds[rnd_below(r, sizeof(kinds))]][c]++;
	if (rnd_one_in(r, 2))
		restore_base();
	if (rnd_one_in(r, 4)) {
		int64_t more = fm_sums_replay_missing(&net) - w.base.replay_missing;

		add(more > 0 ? TORUS_FC_REPLAY_RX : TORUS_FC_REPLAY_TX, 0, more);
		net.parked = net.reopen = 0;
	}
	if (rnd_one_in(r, 2))
		empty_links();
	net.flow[TORUS_FC_INJECTED][colour()] += rnd_one_in(r, 2);
}

/* The next event comes at, or just before, one of the times at which something has to happen. */
static void advance(struct rnd *r)
{
	bool known = w.phase == FM_PHASE_REPLAY ? w.base.known & REPLAY_KNOWN :
						  !is_silent() && knows_older();
	uint64_t most, still = still_max(known, &most), at[] = {
		w.next, w.moved + still, w.unresolved ? w.unresolved + RESOLVE_MAX : 0,
		w.asked + RESEND + lag, most == NEVER ? 0 : w.began + most,
		w.round_began + 10 * RESEND + lag,
		w.round_began + ((3 * (MEMBER_MAX + lag)) << w.rolls), fm.now + LOG_EVERY,
		fm.now + rnd_below(r, (uint32_t)MS),
	};
	uint64_t to = at[rnd_below(r, rnd_one_in(r, 3) ? 9 : 3)];

	to -= rnd_one_in(r, 4);
	if (to > fm.now && to != NEVER && to != NEVER - 1)
		fm.now = to;
}

static void begin_next(struct rnd *r)
{
	root.version += 1 + rnd_one_in(r, 4);
	fm.table.version = root.version;
	root.clean &= (uint8_t)~(1u << colour());
	w.clean = root.clean;
	tally.set = 1 + rnd_below(r, 4);
	net.lost -= rnd_one_in(r, 3) && net.lost;	/* with a NIC that goes its count goes */
	tally.parts[FM_PART_TAKES] = 2 + (uint32_t)tally.set / 2;
	tally.parts[FM_PART_LIVES] = rnd_one_in(r, 4);
	if (rnd_one_in(r, 4))
		root.base.known = (uint8_t)(rnd_one_in(r, 2) ? 0x1f : rnd_below(r, 0x20));
	w.base.known = root.base.known;
	fm_recovery_begin(&fm);
	begin();
}

/* A report comes: in one of three cases one that does not count. */
static void report(struct rnd *r)
{
	struct fm_report rep = { .term = 9, .version = root.version, .round = w.round,
				 .count = tally.parts[FM_PART_TAKES], .set = tally.set };
	unsigned int wrong = rnd_below(r, 15);

	took = true;
	if (wrong == 0)
		rep.version -= 1;
	else if (wrong == 1)
		rep.round++;
	else if (wrong == 2)
		rep.count += rnd_one_in(r, 2) ? 1 : -1u;
	else if (wrong == 3)
		rep.set++;
	else if (wrong == 4)
		took = false;
	rep.sums = net;
	if (wrong > 4 && w.waits) {
		change_net(r);
		rep.sums = net;
		seen.applied = w.phase == FM_PHASE_APPLY ? 0 : 111;
		seen.unproven = 0;
		took = w.phase == FM_PHASE_APPLY || rnd_one_in(r, 2);
		fm_recovery_report(&fm, &rep);
		reported();
		assert_int_equal(seen.applied, 111);
	} else if (wrong < 4 || !w.waits || w.phase == FM_PHASE_APPLY) {
		rep.sums.parked += 100;
		fm_recovery_report(&fm, &rep);
	}
}

static void event(struct rnd *r)
{
	unsigned int what = rnd_below(r, 24);

	lag = rnd_one_in(r, 3) ? rnd_below(r, 3) * MS : lag;
	demanded = rnd_one_in(r, 3);
	mixed = rnd_one_in(r, 6);
	tally.parts[FM_PART_ANEW] = rnd_one_in(r, 6);
	demand_drained = rnd_one_in(r, 10);
	grows = rnd_one_in(r, 10);
	awaited = rnd_one_in(r, 2) ? AWAITED : 0;
	if (rnd_one_in(r, 40))		/* base.c: other NICs are counted */
		root.base.known = w.base.known = 0;
	if (w.phase == FM_PHASE_REST || what == 0 || (!w.waits && w.next == NEVER)) {
		begin_next(r);
	} else if (what < 9) {
		fm_recovery_due(&fm);
		due();
	} else if (what == 9) {
		fm_recovery_recheck(&fm);
		w.checked += w.waits;
	} else {
		report(r);
	}
}

static void start(void)
{
	memset(&w, 0, sizeof(w));
	memset(&seen, 0, sizeof(seen));
	memset(&net, 0, sizeof(net));
	memset(&root, 0, sizeof(root));
	memset(&tally, 0, sizeof(tally));
	fm.ops.log = log_line;
	fm.now = 5000 * MS;
	fm.rolls = 0;
	root.version = 6;
	root.clean = w.clean = 3;
	assert_true(fm_recovery_new(&root));
	w.next = NEVER;
	w.credit = LOG_ROOM;
	w.credit_at = fm.now;
}

static void history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	start();
	compare(&r);
	for (unsigned int i = 0; i < 400; i++) {
		if (w.phase != FM_PHASE_REST || rnd_one_in(&r, 3))
			advance(&r);
		event(&r);
		compare(&r);
	}
	fm_recovery_free(&root);
}

static void random_reports_lead_to_steps_of_model(void **state)
{
	(void)state;
	for_seeds(120, history);
}

/* --- texts -------------------------------------------------------------------- */

static void end_phase(void)
{
	fm_recovery_report(&fm, &(struct fm_report) {
		.version = root.version, .round = fm_recovery_round(&root), .set = 1, .count = 2,
		.sums = net });
}

static void begin_alone(void)
{
	start();
	took = true;
	demanded = demand_drained = mixed = grows = false;
	lag = 0;
	awaited = AWAITED;
	tally.set = 1;
	tally.parts[FM_PART_TAKES] = 2;
	root.base.known = 0x1f;
	root.version = fm.table.version = 7;
	root.clean = 0;
	fm_recovery_begin(&fm);
}

static void each_step_and_end_of_recovery_have_line_in_log(void **state)
{
	(void)state;
	begin_alone();
	assert_string_equal(seen.kind, "step");
	assert_int_equal(seen.level, FM_DEBUG);
	assert_int_equal(seen.line, FM_AT_TABLE);
	assert_string_equal(seen.text,
			    "version 7, 1.234 ms after its cause: table sent to all nodes");
	fm.now += 4001000;
	net.parked = 2;
	net.unresolved = 1;
	end_phase();
	assert_string_equal(seen.text, "version 7, 5.235 ms after its cause: "
			    "all nodes have switched their rows");
	fm.now = fm_recovery_expiry(&fm);
	fm_recovery_due(&fm);
	net.unresolved = 0;
	end_phase();
	assert_int_equal(seen.line, FM_AT_DRAINED);
	assert_string_equal(seen.text,
			    "version 7, 5.485 ms after its cause: older packets have drained");
	net.parked = 0;
	net.flow[TORUS_FC_REPLAY_TX][0] = net.flow[TORUS_FC_REPLAY_RX][0] = 2;
	end_phase();
	assert_int_equal(seen.line, FM_AT_REPLAYED);
	assert_string_equal(seen.text, "version 7, 5.485 ms after its cause: "
			    "parked packets have been replayed");
	fm.now += 1007 * MS;
	end_phase();
	assert_string_equal(seen.text, "version 7 in force after 1012.485 ms: "
			    "2 parked, 2 replayed, 0 lost");
	fm_recovery_free(&root);
}

static void warnings_name_version_time_and_awaited_node(void **state)
{
	(void)state;
	begin_alone();
	fm.now += 3 * MEMBER_MAX;
	fm_recovery_due(&fm);
	assert_string_equal(seen.problem_text, "version 7 waits for an answer of 'n1' (a1), "
			    "or of a node below it in the tree");
	assert_string_equal(seen.warning,
			    "version 7 makes no progress: all nodes are asked to join anew");
	tally.parts[FM_PART_LIVES] = 1;
	end_phase();
	fm.now += DRAIN_MAX;
	fm_recovery_due(&fm);
	end_phase();
	assert_int_equal(seen.line, FM_AT_DRAINED);
	assert_string_equal(seen.warning, "version 7: the network is taken as empty without proof: "
			    "the counts have not changed for 50 ms");
	fm_recovery_free(&root);
}

static void sixteen_recoveries_at_once_and_then_one_in_five_seconds_are_logged(void **state)
{
	(void)state;
	begin_alone();
	for (unsigned int i = 1; i < 18; i++) {
		assert_int_equal(seen.lines, i < 16 ? i : 16);
		root.version = ++fm.table.version;
		fm_recovery_begin(&fm);
	}
	for (unsigned int i = 0; i < 2; i++) {
		fm.now += LOG_EVERY - 1;
		root.version = ++fm.table.version;
		fm_recovery_begin(&fm);
		assert_int_equal(seen.lines, 16 + i);
		fm.now++;
		root.version = ++fm.table.version;
		fm_recovery_begin(&fm);
		assert_int_equal(seen.lines, 17 + i);
	}
	fm_recovery_free(&root);
}

/*
 * A replay of two packets, of which one arrives. @forgotten: other NICs are counted meanwhile.
 * Return: how long the replay lasts.
 */
static uint64_t lose_replayed(bool forgotten)
{
	uint64_t since;

	begin_alone();
	net.parked = 2;
	end_phase();
	fm_recovery_due(&fm);
	end_phase();
	assert_int_equal(fm_recovery_phase(&root), FM_PHASE_REPLAY);
	net.parked = 0;
	net.flow[TORUS_FC_REPLAY_TX][0] = 2;
	net.flow[TORUS_FC_REPLAY_RX][0] = 1;
	root.base.known &= forgotten ? 0 : 0xff;
	fm.now = fm_recovery_expiry(&fm);
	fm_recovery_due(&fm);
	since = fm.now;
	for (;;) {
		end_phase();
		if (fm_recovery_phase(&root) != FM_PHASE_REPLAY)
			break;
		fm.now = fm_recovery_expiry(&fm);
		fm_recovery_due(&fm);
	}
	since = fm.now - since;
	end_phase();
	assert_true(seen.end.bounded);
	assert_int_equal(seen.end.lost, !forgotten);
	fm_recovery_free(&root);
	return since;
}

static void packets_that_do_not_arrive_by_limit_of_replay_are_lost_if_base_is_known(void **state)
{
	uint64_t known = lose_replayed(false), unknown = lose_replayed(true);

	(void)state;
	assert_in_range(known, 10 * DRAIN_MAX, 11 * DRAIN_MAX);
	assert_in_range(unknown, DRAIN_MAX, 2 * DRAIN_MAX);
}

/* Whenever all nodes are asked, this node becomes root again, and begins a recovery. */
static void time_until_nodes_are_asked_anew_doubles_four_times(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 7; i++) {
		unsigned int rolls = fm.rolls;

		begin_alone();
		fm.rolls = i ? rolls : 0;
		fm.now += ((3 * MEMBER_MAX) << (i < 4 ? i : 4)) - 1;
		fm_recovery_due(&fm);
		assert_int_equal(seen.anew, 0);
		fm.now += RESEND;
		fm_recovery_due(&fm);
		assert_int_equal(seen.anew, 1);
		fm_recovery_free(&root);
	}
}

static void lack_of_memory_is_reported(void **state)
{
	(void)state;
	memory_fails_at(1);
	assert_false(fm_recovery_new(&root));
	assert_true(memory_failed());
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(random_reports_lead_to_steps_of_model),
		cmocka_unit_test(each_step_and_end_of_recovery_have_line_in_log),
		cmocka_unit_test(warnings_name_version_time_and_awaited_node),
		cmocka_unit_test(
			sixteen_recoveries_at_once_and_then_one_in_five_seconds_are_logged),
		cmocka_unit_test(time_until_nodes_are_asked_anew_doubles_four_times),
		cmocka_unit_test(
			packets_that_do_not_arrive_by_limit_of_replay_are_lost_if_base_is_known),
		cmocka_unit_test(lack_of_memory_is_reported),
	};

	return cmocka_run_group_tests_name("fm_phases", all, NULL, NULL);
}
