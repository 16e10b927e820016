// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of lost packets that the root reports after a recovery in which NICs died or came
 * back: those lost in that recovery, and none that were lost before.
 */
#include "daemon/fm/root/recovery.h"
#include "stage_claim.h"

static uint64_t lost[4];	/* lost packets, as each NIC counts them */
static int conn[4];		/* connection of each node */

/* Nodes of the mask @who do what they are asked, for that many rounds. */
static void answer(unsigned int who, uint32_t rounds)
{
	for (uint32_t round = 0; round < rounds; round++) {
		for (uint32_t i = 1; i < 4; i++) {
			struct fm_msg m = stage_report(&s, i, fm_version(s.fm), round);

			if (fm_recovery_phase(s.fm->root) == FM_PHASE_APPLY ||
			    fm_recovery_phase(s.fm->root) == FM_PHASE_RESUME)
				m.report.sums.lost = lost[i];
			if (who & 1u << i)
				stage_msg(&s, conn[i], &m);
		}
		stage_run_ns(&s, s.now + MS);
	}
}

/* Node 2 reports its row without, or with, its link to node 3. */
static void row_of_2(bool up, uint32_t serial)
{
	struct fm_row r = stage_row(&s, 2);

	r.serial = serial;
	if (!up)
		r.port[0].state = FM_PORT_FAULTY;
	row(2, &r);
}

static void node_3_dies(void)
{
	uint64_t version = fm_version(s.fm);

	stage_down(&s, 103);
	row_of_2(false, 50);
	stage_link_lost(&s, 2, 1);
	stage_run_ns(&s, s.now + 100 * MS);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
	assert_true(fm_version(s.fm) > version);
}

static void node_3_comes(void)
{
	struct fm_msg m = hello(3);

	m.hello.sums.flow[0][0] = 5;
	m.hello.sums.lost = lost[3];
	m.hello.root_epoch = fm_epoch(s.fm);
	m.hello.root_guid = NIC;
	m.hello.row.serial = 60;
	conn[3] = 105;
	memset(&s.joiner[105], 0, sizeof(s.joiner[105]));
	stage_up(&s, 105);
	stage_msg(&s, 105, &m);
	row_of_2(true, 70);
	stage_link_up(&s, 2, 2);
	stage_run_ns(&s, s.now + 100 * MS);
}

static void begins(void)
{
	ring();
	for (uint32_t i = 1; i < 4; i++) {
		lost[i] = 1000 * i;
		conn[i] = 100 + (int)i;
	}
	s.deaf = "init ping pong report lost rows place release ";
}

static uint64_t lost_in_last(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	assert_int_equal(st.last.version, fm_version(s.fm));
	return st.last.lost;
}

static void losses_of_returning_node_are_counted_once(void **state)
{
	(void)state;
	begins();
	node_3_dies();
	answer(6, 1);
	lost[1] += 3;
	answer(6, 6);
	assert_int_equal(lost_in_last(), 3);
	/* Node 3 comes with all that it has lost, in a recovery of its own. */
	node_3_comes();
	answer(14, 1);
	lost[2] += 4;
	answer(14, 6);
	assert_int_equal(lost_in_last(), 4);
	stage_end(&s);
	/* Node 3 comes while the recovery from its death goes on. */
	begins();
	node_3_dies();
	answer(6, 1);
	node_3_comes();
	answer(14, 1);
	lost[2] += 4;
	answer(14, 6);
	assert_int_equal(lost_in_last(), 4);
	stage_end(&s);
}

/*
 * Another node dies in the recovery from a death: packets that its NIC lost before do not count as
 * lost in this recovery.
 */
static void losses_before_another_death_do_not_count(void **state)
{
	(void)state;
	for (unsigned int before = 0; before < 2; before++) {
		struct fm_row r;

		begins();
		lost[2] = before ? 2000 : 0;
		node_3_dies();
		answer(6, 2);
		assert_int_equal(fm_recovery_phase(s.fm->root), FM_PHASE_RESUME);
		/* Packets are given up before the next table, in which node 2 is dead. */
		lost[1] += 5;
		stage_down(&s, 102);
		r = stage_row(&s, 1);
		r.serial = 50;
		r.port[0].state = FM_PORT_FAULTY;
		row(1, &r);
		stage_run_ns(&s, s.now + 100 * MS);
		assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_DEAD);
		answer(2, 1);
		lost[1] += 2;
		answer(2, 6);
		assert_int_equal(lost_in_last(), before ? 2 : 7);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(losses_of_returning_node_are_counted_once),
		cmocka_unit_test(losses_before_another_death_do_not_count),
	};

	return cmocka_run_group_tests_name("fm_lost", all, NULL, NULL);
}
