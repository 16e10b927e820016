// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checkers of tables, orders, deaths, exclusions and takeovers find errors: each test makes
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/tally.h"
#include "kernel/core/nic_impl.h"
#include "check_impl.h"
#include "trial.h"
#include "tools/fabricsim/world_impl.h"

#define VICTIM 4

static struct trial s;

static void begin_with(uint64_t latency)
{
	struct world_config c;

	trial_config(&c, "3x3", 1);
	c.link_latency = latency ? latency : c.link_latency;
	c.member_max = 300 * MS;
	trial_begin(&s, &c);
	trial_power_all(&s);
	trial_rest(&s, 10 * SEC);
}

static void begin(void)
{
	begin_with(0);
}

/* Makes all nodes get a further table. */
static void change(void)
{
	world_cut(s.w, 0, true);
	trial_rest(&s, 10 * SEC);
}

static void end(const char *found)
{
	const char *wrong = check_flow_wrong(s.flow);

	if (!found && wrong)
		fail_msg("found without a fault: %s", wrong);
	if (found && (!wrong || !strstr(wrong, found)))
		fail_msg("'%s' not found, but: %s", found, wrong ? wrong : "nothing");
	world_free(s.w);
	check_flow_free(s.flow);
}

static void check_finds_nothing_wrong_in_right_fabric(void **state)
{
	(void)state;
	begin();
	world_hang(s.w, 0, true);
	world_run(s.w, 4 * SEC);
	world_hang(s.w, 0, false);
	change();
	end(NULL);
}

/* A NIC forgets that it has obeyed a later root. */
static void check_finds_falling_epoch(void **state)
{
	struct wnode *n;

	(void)state;
	begin();
	world_hang(s.w, 0, true);
	world_run(s.w, 4 * SEC);
	n = &s.w->node[VICTIM];
	n->root_epoch = --n->by_epoch;
	change();
	end("the NIC of node 4 has epoch");
}

static void check_finds_tables_of_two_roots(void **state)
{
	(void)state;
	begin();
	s.w->node[VICTIM].root_guid = s.w->node[VICTIM].by_guid = 1;
	change();
	end("the NIC of node 4 has tables of roots");
}

static void check_finds_two_tables_of_one_version(void **state)
{
	(void)state;
	begin();
	s.w->node[VICTIM].fm->table.entry[8].admin ^= 1;
	change();
	end("have different tables");
}

/* The checker looks at the table of VICTIM again, which the test has changed. */
static void look_again(const char *found)
{
	epochs_switched(s.flow, VICTIM, fm_version(world_fm(s.w, VICTIM)));
	end(found);
}

static void check_finds_two_plans_of_one_version(void **state)
{
	(void)state;
	begin();
	world_fm(s.w, VICTIM)->table.plan.net6[15] ^= 1;
	look_again("have different tables");
}

static void check_finds_two_sets_of_voters(void **state)
{
	struct fm_table *t;

	(void)state;
	begin();
	change();
	t = &world_fm(s.w, VICTIM)->table;
	assert_in_range(t->voters.n, 1, FM_VOTERS_MAX);
	t->voters.set[t->voters.n - 1].ups++;
	look_again("have different tables");
}

/* Bits of an entry count if the table has such sets of voters. */
static void check_finds_two_votes(void **state)
{
	(void)state;
	for (unsigned int beyond = 0; beyond < 2; beyond++) {
		struct fm_table *t;

		begin();
		change();
		t = &world_fm(s.w, VICTIM)->table;
		assert_in_range(t->voters.n, 1, FM_VOTERS_MAX - 1);
		t->entry[8].differs ^= (uint8_t)(1u << (t->voters.n - !beyond));
		look_again(beyond ? NULL : "have different tables");
	}
}

/* The root takes a node for dead that has links to all its neighbours. */
static void check_finds_wrong_death(void **state)
{
	struct fm_record *m;
	struct fm *fm;

	(void)state;
	begin();
	fm = world_fm(s.w, 0);
	m = fm_record_at(fm->root, VICTIM);
	m->state = FM_NODE_DEAD;
	fm_change_node(fm, VICTIM);
	change();
	end("node 4 is judged dead, but has a link to");
}

static void exclude(bool excluded, bool tell)
{
	assert_int_equal(tell ? trial_exclude(&s, 5, 1, excluded) :
				fm_exclude(world_fm(s.w, 0), 5, 1, excluded, world_now(s.w)), 0);
	change();
}

/* A manager includes an excluded port without an administrator's order. */
static void check_finds_forgotten_exclusion(void **state)
{
	char buf[100];

	(void)state;
	begin();
	exclude(true, true);
	assert_null(check_admin(s.flow, buf, sizeof(buf)));
	exclude(false, false);
	assert_non_null(check_admin(s.flow, buf, sizeof(buf)));
	end("are not excluded any more");
}

static void check_accepts_ended_exclusion(void **state)
{
	char buf[100];

	(void)state;
	begin();
	exclude(true, true);
	exclude(false, true);
	assert_null(check_admin(s.flow, buf, sizeof(buf)));
	end(NULL);
}

/* The check must find that no root takes over: the claim reaches no node that would obey. */
static void check_finds_missing_takeover(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_ignore(s.w, i, 1u << FM_MSG_HELLO);
	world_hang(s.w, 0, true);
	world_run(s.w, 2900 * MS);
	assert_null(check_flow_wrong(s.flow));
	world_run(s.w, 200 * MS);
	end("nobody leads");
}

/*
 * The same as check_finds_missing_takeover(), by five nodes that are left of nine since the table
 * before the latest.
 */
static void check_finds_missing_takeover_by_five_of_nine(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 5; i < 9; i++)
		world_power(s.w, i, false);
	trial_rest(&s, 10 * SEC);
	change();
	for (uint32_t i = 0; i < 5; i++)
		world_ignore(s.w, i, 1u << FM_MSG_HELLO);
	world_hang(s.w, 0, true);
	world_run(s.w, 3300 * MS);
	end("nobody leads");
}

/*
 * The same as check_finds_missing_takeover(), beside NICs that are somewhat slow, and one that is
 * so slow that it does not count.
 */
static void check_finds_missing_takeover_beside_slow_nics(void **state)
{
	(void)state;
	begin();
	world_slow(s.w, 4, 500 * MS, 0);
	world_slow(s.w, 5, 2 * MS, 0);
	world_slow(s.w, 6, 2 * MS, 0);
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_ignore(s.w, i, 1u << FM_MSG_HELLO);
	world_hang(s.w, 0, true);
	world_run(s.w, 3300 * MS);
	end("nobody leads");
}

/* Four of nine NICs are so slow that no root is expected: the others are no majority. */
static void check_expects_no_root_without_slow_nics(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < world_nodes(s.w); i++)
		world_ignore(s.w, i, 1u << FM_MSG_HELLO);
	for (uint32_t i = 5; i < 9; i++)
		world_slow(s.w, i, 500 * MS, 0);
	world_hang(s.w, 0, true);
	world_run(s.w, 5 * SEC);
	end(NULL);
}

/* Half of the nodes are no majority, so no node need lead. */
static void check_expects_no_root_without_majority(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < 5; i++)
		world_hang(s.w, i, true);
	world_run(s.w, 5 * SEC);
	end(NULL);
}

/*
 * A root that waits for nothing ends each drain without proof, while older packets are about: no NIC is
 * silent, so these would have come to rest.
 */
static void check_finds_drain_without_wait(void **state)
{
	(void)state;
	begin_with(3 * MS);
	trial_traffic(&s, 20 * US);
	world_run(s.w, 20 * MS);
	world_fm(s.w, 0)->cfg.drain_max = 0;
	world_cut(s.w, 0, true);
	world_run(s.w, 50 * MS);
	end("is bounded, but node");
}

/* A node lifts its holds, or replays, before the root says so; with @ends the root has ended. */
static void without_order(bool ends, bool replays)
{
	const struct fm *fm;

	begin();
	world_cut(s.w, 0, true);
	fm = world_fm(s.w, VICTIM);
	for (unsigned int i = 0; i < 20000 && s.w->node[VICTIM].nic->version != 2; i++)
		world_run(s.w, 5 * US);
	assert_int_equal(trial_step(&s), STEP_APPLY);
	if (ends)
		world_manager(s.w, 0, false);
	if (replays)
		fm->ops.park_replay(fm->io, 0, fm_version(fm), 0);
	else
		fm->ops.release(fm->io, 0, fm_version(fm), true);
	world_run(s.w, 1 * MS);
	end(replays ? "node 4 replays at version 2, which" : "node 4 lifts holds at version 2, which");
}

static void check_finds_action_without_order(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++)
		without_order(k & 1, k & 2);
}

/* All packets have arrived when a NIC counts one that was lost, came twice or overtook another. */
static void check_finds_wrong_counters_of_nic(void **state)
{
	static const char *const found[] = {
		"node 4 counted 1 packets as lost; 0 are missing",
		"NICs counted 1 duplicates, and 0 to 0 came", "node 4 counted 1 packets as early; 0 may have been",
	};

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct tn_nic *nic;

		begin();
		trial_traffic(&s, 20 * US);
		world_run(s.w, 20 * MS);
		trial_traffic(&s, 0);
		world_run(s.w, 20 * MS);
		assert_null(check_flow_end(s.flow));
		nic = s.w->node[VICTIM].nic;
		nic->flows.lost += i == 0;
		nic->counter[TORUS_NC_DUPLICATES] += i == 1;
		nic->counter[TORUS_NC_REORDERED] += i == 2;
		check_flow_end(s.flow);
		end(found[i]);
	}
}

static void miscount_set(struct fm *fm)
{
	((struct fm_tally *)fm_tally(fm))->set++;
}

static void miscount_lives(struct fm *fm)
{
	((struct fm_tally *)fm_tally(fm))->parts[FM_PART_LIVES]++;
}

/* The table's entry is not what the node reports. */
static void change_entry(struct fm *fm)
{
	fm->table.entry[8].wiring ^= 2;
}

static void close_port(struct fm *fm)
{
	fm->table.closed[8] ^= 2;
}

/* A node reports a port that is closed until a replay. */
static void miss_replay(struct fm *fm)
{
	fm_record_at(fm->root, 8)->row.port[1].closed = true;
}

/* All cables of a node are excluded, so no link joins it to the others. */
static void miss_cut(struct fm *fm)
{
	struct torus_shape *shape = &fm->table.shape;

	for (unsigned int p = 0; p < 4; p++) {
		fm->table.entry[8].fault |= 1u << p;
		fm->table.entry[torus_neighbour(shape, 8, p)].fault |= 1u << torus_dir_opposite(shape, p);
	}
	for (uint32_t i = 0; i < 9; i++) {
		fm->table.closed[i] = fm->table.entry[i].fault;
		fm->root->changes.table.is[i] = true;
	}
}

/* The counts that the root keeps up to date differ from those of the nodes and its table. */
static void check_finds_wrong_tally_of_root(void **state)
{
	static const struct {
		void (*fault)(struct fm *fm);
		const char *found;
	} all[] = {
		{ miscount_set, "the root miscounts the nodes that take part" },
		{ miscount_lives, "the root miscounts the nodes that live and take no part" },
		{ change_entry, "node 8: its entry changed, but it is not marked" },
		{ close_port, "the table's exclusions do not follow from its entries" },
		{ miss_replay, "a port is closed and its node is not marked" },
		{ miss_cut, "a node is cut off, but the root does not know" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char buf[200];
		const char *wrong;

		begin();
		assert_null(check_tally(s.w, buf, sizeof(buf)));
		all[i].fault(world_fm(s.w, 0));
		wrong = check_tally(s.w, buf, sizeof(buf));
		assert_non_null(wrong);
		assert_string_equal(wrong, all[i].found);
		end(NULL);
	}
}

int main(void)
{
	static const struct CMUnitTest all[] = {
		cmocka_unit_test(check_finds_nothing_wrong_in_right_fabric),
		cmocka_unit_test(check_finds_falling_epoch),
		cmocka_unit_test(check_finds_tables_of_two_roots),
		cmocka_unit_test(check_finds_two_tables_of_one_version),
		cmocka_unit_test(check_finds_two_plans_of_one_version),
		cmocka_unit_test(check_finds_two_sets_of_voters),
		cmocka_unit_test(check_finds_two_votes),
		cmocka_unit_test(check_finds_wrong_death),
		cmocka_unit_test(check_finds_forgotten_exclusion),
		cmocka_unit_test(check_accepts_ended_exclusion),
		cmocka_unit_test(check_finds_drain_without_wait),
		cmocka_unit_test(check_finds_missing_takeover),
		cmocka_unit_test(check_finds_missing_takeover_beside_slow_nics),
		cmocka_unit_test(check_expects_no_root_without_slow_nics),
		cmocka_unit_test(check_finds_missing_takeover_by_five_of_nine),
		cmocka_unit_test(check_expects_no_root_without_majority),
		cmocka_unit_test(check_finds_action_without_order),
		cmocka_unit_test(check_finds_wrong_counters_of_nic),
		cmocka_unit_test(check_finds_wrong_tally_of_root),
	};

	return cmocka_run_group_tests_name("check", all, NULL, NULL);
}
