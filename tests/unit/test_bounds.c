// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root in a recovery in which packets are missing: how long it waits for them, what it reports
 * about them, and that it does not wait twice for packets that are lost.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/one_fm.h"

/* A missing packet is more likely late than lost if the earlier losses are known. */
#define LATE (10 * ONE_DRAIN_MAX)
/* A replay in which something always moves must end, too. */
#define FOR_EVER (40 * ONE_DRAIN_MAX)

static struct one_fm o;

static const struct fm_recovery *last(uint64_t version)
{
	one_finish(&o);
	assert_int_equal(fm_last(o.fm)->version, version);
	return fm_last(o.fm);
}

static void takes(unsigned int step, uint64_t ns)
{
	assert_in_range(one_until(&o, step), ns, ns + ONE_SOON);
}

static void join_anew(uint32_t node)
{
	one_gone(&o, node);
	o.node[node].epoch++;
	memset(&o.node[node].sums, 0, sizeof(o.node[node].sums));
	one_join(&o, node);
}

/* The NIC of @node lost its memory, so the number of earlier losses is not known any more. */
static void starts_anew(uint32_t node)
{
	join_anew(node);
	one_answer(&o);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_APPLY);
	one_answer(&o);
}

/* --- drain -------------------------------------------------------------------------- */

/* Checks that the root counts again at once, and then at growing intervals of at most 20 ms. */
static void root_counts_again_at_growing_intervals(void **state)
{
	uint64_t was, gap = 0;

	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 1);
	one_version(&o, 2);
	was = o.now;
	for (unsigned int i = 0; i < 40; i++) {
		assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
		assert_true(o.now - was >= gap);
		gap = o.now - was;
		assert_true(gap <= (i ? 20 : 1) * MS);
		was = o.now;
		one_answer(&o);
	}
	assert_int_equal(gap, 20 * MS);
	one_end(&o);
}

/*
 * Each NIC was empty when it was read, which only a second count can prove. That count follows at
 * once, because traffic waits for it.
 */
static void empty_nics_are_counted_again_at_once(void **state)
{
	uint64_t was;

	(void)state;
	one_root(&o, 4, 8);
	starts_anew(3);
	was = o.now;
	assert_int_equal(one_asked(&o, 1), FM_STEP_COUNT);
	assert_int_equal(o.now, was);
	one_answer(&o);
	assert_int_equal(one_asked(&o, 1), FM_STEP_RESUME);
	assert_false(last(2)->bounded);
	one_end(&o);
}

static void packets_lost_in_network_end_drain_by_bound(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 3);
	one_version(&o, 2);
	takes(FM_STEP_RESUME, LATE);
	assert_true(last(2)->bounded);
	assert_int_equal(fm_last(o.fm)->lost, 3);
	/*
	 * The lost packets may only have been late, so they do not prove the next drain, either.
	 * They are not counted as lost again.
	 */
	one_sends(&o, 1, 2, 2);
	one_version(&o, 3);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	one_gets(&o, 1, 2, 2);
	takes(FM_STEP_RESUME, ONE_DRAIN_MAX);
	assert_true(last(3)->bounded);
	assert_int_equal(fm_last(o.fm)->lost, 0);
	one_end(&o);
}

static void losses_before_recovery_do_not_count(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 3);
	o.node[2].sums.lost = 10;
	starts_anew(3);
	takes(FM_STEP_RESUME, ONE_DRAIN_MAX);
	/* Receivers have then given up missing packets and report how many. */
	o.node[2].sums.lost = 11;
	assert_true(last(2)->bounded);
	assert_int_equal(fm_last(o.fm)->lost, 1);
	one_end(&o);
}

static void late_packets_are_progress(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 12);
	one_version(&o, 2);
	began = o.now;
	for (unsigned int i = 1; i <= 10; i++) {
		while (o.now < began + i * LATE / 2) {
			assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
			one_answer(&o);
		}
		one_gets(&o, 1, 1, 1);
	}
	/* New packets in the network say nothing about the old ones. */
	began = o.now;
	for (;;) {
		one_sends(&o, 2, 2, 1);
		if (one_asked(&o, ONE_SOON) == FM_STEP_RESUME)
			break;
		one_answer(&o);
	}
	assert_in_range(o.now, began + LATE, began + LATE + 2 * ONE_SOON);
	assert_int_equal(last(2)->lost, 2);
	one_end(&o);
}

/* Adaptive packets are in no sum, so their parking and replay is no progress. */
static void parked_packets_do_not_count_as_progress(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 3);
	one_version(&o, 2);
	began = o.now;
	while (one_asked(&o, ONE_SOON) == FM_STEP_COUNT) {
		o.node[1].sums.parked ^= 3;
		one_answer(&o);
	}
	assert_in_range(o.now, began + LATE, began + LATE + ONE_SOON);
	one_end(&o);
}

/* Arriving packets of any colour are progress: the drain is not given up by its bound. */
static void arriving_packets_of_any_colour_put_off_bound(void **state)
{
	(void)state;
	for (unsigned int colour = 0; colour < TORUS_COLOURS; colour++) {
		uint64_t version = TORUS_COLOURS + colour + 1;

		one_root(&o, 4, 8);
		for (uint64_t v = 2; v < version; v++) {
			one_version(&o, v);
			one_finish(&o);
		}
		one_sends(&o, 1, colour, 4);
		one_version(&o, version);
		for (unsigned int i = 0; i < 4; i++) {
			for (uint64_t end = o.now + LATE * 2 / 3; o.now < end;) {
				assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
				one_answer(&o);
			}
			one_gets(&o, 1, colour, 1);
		}
		one_until(&o, FM_STEP_RESUME);
		assert_false(last(version)->bounded);
		one_end(&o);
	}
}

/* A NIC without a manager goes on to send packets of an old colour: the drain ends by its bound. */
static void drain_ends_by_bound_if_silent_nic_keeps_sending(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	one_gone(&o, 3);
	assert_int_equal(one_asked(&o, ONE_MEMBER_MAX + ONE_SOON), FM_STEP_APPLY);
	began = o.now;
	while (one_asked(&o, ONE_SOON) != FM_STEP_RESUME) {
		one_answer(&o);
		one_gets(&o, 1, 1, 1);
	}
	assert_in_range(o.now, began + 2 * ONE_DRAIN_MAX, began + 2 * ONE_DRAIN_MAX + ONE_SOON);
	assert_true(last(2)->bounded);
	one_end(&o);
}

/* --- replay --------------------------------------------------------------------------- */

/* Node 1 has parked @n packets and is asked to replay them. */
static void parked(uint64_t version, uint64_t n)
{
	one_sends(&o, 1, (version - 1) % TORUS_COLOURS, n);
	one_parks(&o, 1, (version - 1) % TORUS_COLOURS, n);
	one_version(&o, version);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
}

static void replay_lasts_until_all_packets_have_arrived(void **state)
{
	const struct fm_recovery *r;

	(void)state;
	one_root(&o, 4, 8);
	parked(2, 3);
	one_answer(&o);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
	one_replays(&o, 1, 2, 3);
	one_gets_again(&o, 3, 2, 2);
	one_answer(&o);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
	one_gets_again(&o, 3, 2, 1);
	takes(FM_STEP_RESUME, 0);
	r = last(2);
	assert_int_equal(r->parked, 3);
	assert_int_equal(r->replayed, 3);
	assert_int_equal(r->lost, 0);
	assert_false(r->bounded);
	for (unsigned int i = 1; i < FM_STAMPS; i++)
		assert_true(r->at[i] && r->at[i] >= r->at[i - 1]);
	/* The packets of that recovery are not counted again in the next one. */
	one_version(&o, 3);
	takes(FM_STEP_RESUME, 0);
	r = last(3);
	assert_int_equal(r->parked + r->replayed + r->lost, 0);
	assert_int_equal(r->at[FM_AT_REPLAYED], 0);
	one_end(&o);
}

/* A replay opens closed ports even if nothing is parked. */
static void replay_opens_ports_though_nothing_is_parked(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	o.node[1].sums.reopen = 1;
	one_version(&o, 2);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
	one_answer(&o);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
	o.node[1].sums.reopen = 0;
	takes(FM_STEP_RESUME, 0);
	assert_false(last(2)->bounded);
	one_end(&o);
}

static void packets_lost_in_replay_are_counted(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	parked(2, 3);
	one_replays(&o, 1, 2, 3);
	one_gets_again(&o, 3, 2, 1);
	takes(FM_STEP_RESUME, LATE);
	assert_true(last(2)->bounded);
	assert_int_equal(fm_last(o.fm)->lost, 2);
	one_version(&o, 3);
	last(3);
	/*
	 * The replay does not wait again for packets that are known as lost, but the drain has no
	 * proof; it waits for others.
	 */
	one_sends(&o, 1, 3, 1);
	one_parks(&o, 1, 3, 1);
	one_version(&o, 4);
	takes(FM_STEP_REPLAY, ONE_DRAIN_MAX);
	one_replays(&o, 1, 0, 1);
	one_answer(&o);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
	one_gets_again(&o, 3, 0, 1);
	takes(FM_STEP_RESUME, 0);
	assert_true(last(4)->bounded);
	assert_int_equal(fm_last(o.fm)->lost, 0);
	one_end(&o);
}

/* Any arrival of replayed packets is progress, because others may follow. */
static void late_replays_are_progress(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	o.node[1].sums.reopen = 2;
	parked(2, 9);
	for (unsigned int i = 0; i < 5; i++) {
		for (uint64_t end = o.now + LATE / 2 + ONE_SOON; o.now < end;) {
			one_answer(&o);
			assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_REPLAY);
		}
		switch (i) {
		case 0:
			o.node[1].sums.flow[TORUS_FC_REPLAY_TX][2] = 8;
			break;
		case 1:
			o.node[1].sums.parked = 0;
			break;
		case 2:
			o.node[3].sums.flow[TORUS_FC_REPLAY_RX][2] = 4;
			break;
		case 3:
			o.node[3].sums.flow[TORUS_FC_REPLAY_PARKED][2] = 1;
			break;
		case 4:
			o.node[1].sums.reopen = 1;
			break;
		}
	}
	takes(FM_STEP_RESUME, LATE);
	one_end(&o);
}

/*
 * The time of the drain begins when the last end of a link, and so the number of packets parked
 * there, is known.
 */
static void drain_begins_when_ends_are_known(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 3);
	o.node[2].sums.unresolved = 1;
	starts_anew(3);
	for (uint64_t end = o.now + 2 * ONE_DRAIN_MAX; o.now < end;) {
		assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
		one_answer(&o);
	}
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	o.node[2].sums.unresolved = 0;
	takes(FM_STEP_RESUME, ONE_DRAIN_MAX);
	one_end(&o);
}

/*
 * Each replay of a node parks another packet, of a flow that leads to a dead link: the recovery
 * ends by its bound.
 */
static void endless_parking_ends_recovery_by_its_bound(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	parked(2, 1);
	began = o.now;
	while (one_asked(&o, ONE_SOON) != FM_STEP_RESUME) {
		o.node[1].sums.parked ^= 3;
		one_answer(&o);
	}
	assert_in_range(o.now, began + FOR_EVER, began + FOR_EVER + ONE_SOON);
	one_end(&o);
}

/*
 * Packets that are left parked cause another recovery: soon, or later if this one reached a bound.
 */
static void packets_left_parked_cause_another_recovery(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	one_version(&o, 2);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_RESUME);
	o.node[1].sums.parked = 1;
	one_answer(&o);
	began = o.now;
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_APPLY);
	assert_int_equal(o.now, began + 20 * MS);
	one_answer(&o);
	takes(FM_STEP_RESUME, LATE);
	one_answer(&o);
	assert_true(fm_last(o.fm)->bounded);
	began = o.now;
	assert_int_equal(one_asked(&o, 1100 * MS), FM_STEP_APPLY);
	assert_int_equal(o.now, began + 1000 * MS);
	assert_int_equal(fm_version(o.fm), 4);
	one_end(&o);
}

/* --- a version takes the place of another ------------------------------------------------ */

static void bound_of_drain_and_of_replay_are_both_reported(void **state)
{
	uint64_t began;

	(void)state;
	one_root(&o, 4, 8);
	/* a packet that was counted long ago */
	o.node[2].sums.flow[TORUS_FC_REPLAY_TX][1] = 7;
	one_gets_again(&o, 2, 1, 7);
	one_sends(&o, 1, 1, 5);
	one_parks(&o, 1, 1, 2);
	began = o.now;
	one_version(&o, 2);
	takes(FM_STEP_REPLAY, LATE);
	one_replays(&o, 1, 2, 2);
	one_answer(&o);
	/* None of the replayed packets has arrived: the next drain waits for them. */
	one_version(&o, 3);
	assert_int_equal(one_asked(&o, ONE_SOON), FM_STEP_COUNT);
	one_gets_again(&o, 3, 2, 2);
	takes(FM_STEP_RESUME, ONE_DRAIN_MAX);
	assert_int_equal(last(3)->lost, 3);
	assert_true(fm_last(o.fm)->bounded);
	assert_int_equal(fm_last(o.fm)->parked, 2);
	assert_int_equal(fm_last(o.fm)->replayed, 2);
	assert_int_equal(fm_last(o.fm)->at[FM_AT_DETECTED], began);
	assert_true(fm_last(o.fm)->at[FM_AT_TABLE] > began + LATE);
	one_version(&o, 4);
	assert_int_equal(last(4)->lost, 0);
	assert_true(fm_last(o.fm)->at[FM_AT_DETECTED] > began + LATE);
	one_end(&o);
}

/*
 * Losses are counted from the first recovery on, before which the number of earlier losses was not
 * known.
 */
static void losses_count_from_first_recovery_on(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_sends(&o, 1, 1, 3);
	o.node[2].sums.lost = 10;
	starts_anew(3);
	takes(FM_STEP_RESUME, ONE_DRAIN_MAX);
	o.node[2].sums.lost = 12;
	one_version(&o, 3);
	one_until(&o, FM_STEP_RESUME);
	/* Now the earlier losses are known again, but not those of this recovery. */
	one_version(&o, 4);
	o.node[2].sums.lost = 13;
	assert_int_equal(last(4)->lost, 3);
	one_end(&o);
}

/*
 * Another NIC takes the place of that of node 3: losses of others before that count, and losses of
 * the new NIC elsewhere do not.
 */
static void losses_count_on_when_nic_is_replaced(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	o.node[2].sums.lost = 10;
	starts_anew(3);
	one_until(&o, FM_STEP_RESUME);
	o.node[2].sums.lost = 12;
	one_version(&o, 3);
	one_until(&o, FM_STEP_COUNT);
	join_anew(3);
	o.node[3].sums.lost = 50;
	one_until(&o, FM_STEP_APPLY);
	one_answer(&o);
	o.node[2].sums.lost = 13;
	assert_int_equal(last(4)->lost, 3);
	one_end(&o);
}

/*
 * The base is known, and no packet is missing: packets that receivers give up now were counted
 * before.
 */
static void losses_counted_before_are_not_counted_again(void **state)
{
	(void)state;
	one_root(&o, 4, 8);
	one_version(&o, 2);
	one_until(&o, FM_STEP_RESUME);
	o.node[2].sums.lost = 3;
	assert_int_equal(last(2)->lost, 0);
	assert_false(fm_last(o.fm)->bounded);
	one_end(&o);
}

/* --- packets left parked ------------------------------------------------------------------ */

/*
 * Replays without success, until the recovery is over. Return: the time until the next one begins.
 */
static uint64_t until_next(uint64_t within)
{
	uint64_t was;

	one_until(&o, FM_STEP_RESUME);
	one_answer(&o);
	was = o.now;
	return one_asked(&o, within) == FM_STEP_APPLY ? o.now - was : 0;
}

/*
 * Recoveries for parked packets without success come later each time, because flows are on hold
 * meanwhile.
 */
static void recoveries_for_stuck_packets_come_ever_later(void **state)
{
	static const uint64_t waits[] = { 1, 2, 4, 8, 16, 32, 32, 32 };

	(void)state;
	one_root(&o, 4, 8);
	o.node[1].sums.parked = 1;
	one_version(&o, 2);
	for (unsigned int i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		assert_in_range(until_next(40000 * MS), waits[i] * 1000 * MS,
				waits[i] * 1000 * MS + 2 * MS);
	/* Another reason for one, while nothing is under way: it is made at once. */
	one_until(&o, FM_STEP_RESUME);
	one_answer(&o);
	assert_true(fm_in_force(o.fm, fm_version(o.fm)));
	one_lose(&o, 3, 1, 9, 5);
	assert_int_equal(one_asked(&o, 20 * MS), FM_STEP_APPLY);
	assert_in_range(until_next(40000 * MS), 1000 * MS, 1002 * MS);
	o.node[1].sums.parked = 0;
	assert_int_equal(until_next(2500 * MS), 0);
	/* The packet is parked from the beginning. */
	o.node[1].sums.parked = 1;
	one_version(&o, fm_version(o.fm) + 1);
	assert_in_range(until_next(40000 * MS), 1000 * MS, 1002 * MS);
	one_end(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_counts_again_at_growing_intervals),
		cmocka_unit_test(empty_nics_are_counted_again_at_once),
		cmocka_unit_test(packets_lost_in_network_end_drain_by_bound),
		cmocka_unit_test(losses_before_recovery_do_not_count),
		cmocka_unit_test(late_packets_are_progress),
		cmocka_unit_test(parked_packets_do_not_count_as_progress),
		cmocka_unit_test(arriving_packets_of_any_colour_put_off_bound),
		cmocka_unit_test(drain_ends_by_bound_if_silent_nic_keeps_sending),
		cmocka_unit_test(replay_lasts_until_all_packets_have_arrived),
		cmocka_unit_test(replay_opens_ports_though_nothing_is_parked),
		cmocka_unit_test(packets_lost_in_replay_are_counted),
		cmocka_unit_test(late_replays_are_progress),
		cmocka_unit_test(drain_begins_when_ends_are_known),
		cmocka_unit_test(endless_parking_ends_recovery_by_its_bound),
		cmocka_unit_test(packets_left_parked_cause_another_recovery),
		cmocka_unit_test(bound_of_drain_and_of_replay_are_both_reported),
		cmocka_unit_test(losses_count_from_first_recovery_on),
		cmocka_unit_test(losses_count_on_when_nic_is_replaced),
		cmocka_unit_test(losses_counted_before_are_not_counted_again),
		cmocka_unit_test(recoveries_for_stuck_packets_come_ever_later),
	};

	return cmocka_run_group_tests_name("bounds", tests, NULL, NULL);
}
