// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's choice among the roots that Inits name: in each situation of the node, all kinds of
 * Inits, by epoch and GUID.
 */
#include "stage_choice.h"

/*
 * The roots that a node follows. Columns: a root of the epoch before, with a lesser and a greater
 * GUID; of the same epoch; of the next one. The neighbour is in the table, or is unknown.
 */
static const struct {
	const char *name;
	void (*make)(void);
	const char *leads, *asks, *lost;	/* y: it follows */
	const char *unknown;			/* leads, by an unknown neighbour */
} situations[] = {
	{ "none", none, "yyyyyy", "yyyyyy", "yyyyyy", "yyyyyy" },
	{ "first", first, "...yyy", "..yyyy", "......", "...yyy" },
	{ "first, tried", first_tried, "..yyyy", "..yyyy", "......", "..yyyy" },
	{ "led", led, "...yyy", "......", "......", "......" },
	{ "led, no table", led_no_table, "...yyy", "......", "......", "...yyy" },
	{ "lost", lost, "...yyy", "..yyyy", "......", "......" },
	{ "lost nearly long", lost_nearly_long, "...yyy", "..yyyy", "......", "......" },
	{ "lost long", lost_long, "yyyyyy", "..yyyy", "......", "yyyyyy" },
	{ "tried", tried, "..yyyy", "...yyy", "......", "..yyyy" },
	{ "asked", asked, "..yyyy", "...yyy", "......", "..yyyy" },
	{ "asked long", asked_long, "yyyyyy", "...yyy", "......", "yyyyyy" },
	{ "asked, with parent", asked_with_parent, "..yyyy", "...yyy", "......", "..yyyy" },
	{ "asked, parent lost", asked_parent_lost, "..yyyy", "..yyyy", "......", "..yyyy" },
};

static void init_is_followed_as_in_table_of_situations(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < sizeof(situations) / sizeof(situations[0]); k++) {
		const char *const want[] = { situations[k].leads, situations[k].asks,
					     situations[k].lost, situations[k].lost,
					     situations[k].unknown };

		for (unsigned int n = 0; n < 5 * 6; n++) {
			enum kind kind = n / 6 < KINDS ? (enum kind)(n / 6) : LEADS;
			uint64_t epoch = TERM - 1 + n % 6 / 2, root = n % 2 ? GREATER : LESSER;
			struct fm_init i;
			bool is;
			int next;

			situations[k].make();
			i = init_of(0, kind, root, epoch);
			if (n / 6 == KINDS)
				i.guid = 0xdead;
			next = s.next_conn;
			stage_receive(&s, 0, &i);
			/* A node that a root leads tries the other one before it leaves its own. */
			if (!follows(root) && s.next_conn != next)
				accept_try(next, root, epoch);
			is = follows(root);
			if (is != (want[n / 6][n % 6] == 'y'))
				fail_msg("%s: row %u, column %u", situations[k].name, n / 6, n % 6);
			if (is)
				assert_int_equal(own_init().epoch, epoch);
			stage_end(&s);
		}
	}
}

/* Hears of a root that leads. If the node tries to reach it first, it does. */
static void receive_and_try(uint64_t root, uint64_t epoch)
{
	int next = s.next_conn;

	receive_init(0, LEADS, root, epoch);
	if (!follows(root) && s.next_conn != next)
		accept_try(next, root, epoch);
}

/* An Init without a place, or that names this node itself as root, is never followed. */
static void init_without_place_or_of_own_root_is_not_followed(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < sizeof(situations) / sizeof(situations[0]); k++) {
		struct fm_init i;

		situations[k].make();
		i = init_of(0, LEADS, GREATER, TERM + 1);
		i.placed = false;
		stage_receive(&s, 0, &i);
		assert_false(follows(GREATER));
		receive_init(0, ASKS, NIC + 1, TERM + 1);
		receive_init(0, LEADS, NIC + 1, TERM + 1);
		assert_false(follows(NIC + 1));
		stage_end(&s);
	}
}

/* The root that led the node last counts as lost, until an Init reports a later epoch of it. */
static void last_root_is_lost_until_later_epoch(void **state)
{
	(void)state;
	for (unsigned int later = 0; later < 2; later++) {
		asked();
		receive_init(0, LEADS, LESSER - 1, TERM - 1);
		assert_true(follows(FOLLOWED));
		stage_end(&s);
		lost();
		receive_init(0, ASKS, GREATER, TERM);
		assert_true(follows(GREATER));
		s.refuse_connect = 0;
		receive_and_try(FOLLOWED, TERM + later);
		assert_int_equal(follows(FOLLOWED), later);
		stage_end(&s);
	}
}

/* --- the followed root ------------------------------------------------------------------ */

/* A neighbour reports that the lost root leads: the node tries it at once. */
static void lost_root_that_leads_again_is_tried_at_once(void **state)
{
	(void)state;
	lost();
	s.refuse_connect = 0;
	stage_forget(&s);
	receive_init(0, LOST, FOLLOWED, TERM);
	stage_run_ns(&s, s.now);
	assert_int_equal(stage_count(&s, "connect"), 0);
	receive_init(0, LEADS, FOLLOWED, TERM);
	stage_run_ns(&s, s.now);
	stage_did_some(&s, "connect 30.1.0.16:1");
	stage_end(&s);
	/*
	 * A root that the node tries for the first time is not tried more often because of its
	 * Init.
	 */
	first_tried();
	stage_forget(&s);
	receive_init(0, LEADS, FOLLOWED, TERM);
	stage_run_ns(&s, s.now);
	stage_did_no(&s, "connect");
	stage_end(&s);
}

/* An Init of an epoch before, or one that comes while the root leads the node, changes nothing. */
static void init_of_former_epoch_changes_nothing(void **state)
{
	struct fm_init i;

	(void)state;
	lost();
	stage_forget(&s);
	receive_init(0, ASKS, FOLLOWED, TERM - 1);
	i = init_of(0, ASKS, FOLLOWED, TERM - 1);
	i.guid = FOLLOWED;
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 0, &i);
	assert_false(own_init().asks);
	assert_int_equal(own_init().epoch, TERM);
	receive_init(0, ASKS, FOLLOWED, TERM);
	assert_true(own_init().asks);
	stage_end(&s);
	led();
	receive_init(0, ASKS, FOLLOWED, TERM + 1);
	assert_false(own_init().asks);
	assert_int_equal(own_init().epoch, TERM);
	stage_did_no(&s, "close");
	stage_end(&s);
	/*
	 * The epoch of the root is not taken from a neighbour's Init: the root reports it itself.
	 */
	asked();
	receive_init(0, LEADS, FOLLOWED, TERM + 1);
	assert_int_equal(own_init().epoch, TERM);
	stage_end(&s);
}

/*
 * The manager of the followed root began anew at another address: the node's Inits and its next
 * connection have that address.
 */
static void new_address_of_root_is_used_and_passed_on(void **state)
{
	struct fm_init i;

	(void)state;
	led();
	s.deaf = "ping log hello row place rows release report lost ";
	i = init_of(0, LEADS, FOLLOWED, TERM);
	strcpy(i.root_address, "30.9.9.9:9");
	stage_receive(&s, 0, &i);
	run(MS);
	i.epoch++;
	stage_receive(&s, 0, &i);
	i.epoch--;
	run(MS);
	assert_string_equal(own_init().root_address, "30.1.0.16:1");
	stage_forget(&s);
	i.guid = FOLLOWED;
	stage_receive(&s, 0, &i);
	run(MS);
	assert_int_equal(stage_count(&s, "init 2: "), 1);
	stage_did_some(&s, "30.9.9.9:9");
	/* A second node, which asks, is followed and lost; the node goes back to the first. */
	stage_down(&s, 1);
	receive_init(0, ASKS, GREATER, TERM + 1);
	stage_up(&s, last_conn());
	stage_msg(&s, last_conn(), &(struct fm_msg) { .type = FM_MSG_CLAIM,
						      .claim = { .guid = GREATER } });
	assert_false(own_init().lost);
	stage_down(&s, last_conn());
	assert_true(follows(FOLLOWED));
	assert_string_equal(own_init().root_address, "30.9.9.9:9");
	assert_true(own_init().lost);
	stage_end(&s);
}

/* --- without success -------------------------------------------------------------------- */

/* A node that left an unsuccessful asking node follows no asking node for a while. */
static void leading_root_is_left_for_asking_one_after_5_resends(void **state)
{
	(void)state;
	for (unsigned int leads = 0; leads < 2; leads++) {
		asked_long();
		if (leads)
			receive_and_try(GREATER, TERM + 1);
		else
			receive_init(0, ASKS, GREATER, TERM + 1);
		assert_true(follows(GREATER));
		receive_init(0, ASKS, GREATER + 1, TERM + 2);
		assert_int_equal(follows(GREATER + 1), !leads);
		run(5 * s.cfg.resend - 1);
		receive_init(0, ASKS, GREATER + 2, TERM + 2);
		assert_int_equal(follows(GREATER + 2), !leads);
		run(1);
		receive_init(0, ASKS, GREATER + 3, TERM + 3);
		assert_true(follows(GREATER + 3));
		stage_end(&s);
	}
}

/*
 * A root that asks, and could not be reached twice, is not followed again; the same node is
 * followed when it leads.
 */
static void unreached_asking_root_is_not_followed_again(void **state)
{
	(void)state;
	for (unsigned int reached = 0; reached < 2; reached++) {
		fresh();
		receive_init(2, ASKS, FOLLOWED, TERM);
		stage_down(&s, last_conn());
		receive_init(2, ASKS, FOLLOWED, TERM);
		if (reached)
			stage_up(&s, last_conn());
		stage_down(&s, last_conn());
		/* If it was reached once, this is the first failure since then. */
		receive_init(2, ASKS, FOLLOWED, TERM);
		if (reached)
			stage_down(&s, last_conn());
		receive_init(2, ASKS, FOLLOWED, TERM);
		assert_int_equal(follows(FOLLOWED), reached);
		receive_init(2, LEADS, FOLLOWED, TERM);
		assert_true(follows(FOLLOWED));
		stage_end(&s);
	}
	/* How long: no node that asks leads before. */
	for (unsigned int long_enough = 0; long_enough < 2; long_enough++) {
		fresh();
		for (unsigned int k = 0; k < 2; k++) {
			receive_init(2, ASKS, FOLLOWED, TERM);
			stage_down(&s, last_conn());
		}
		run(2 * TAKEOVER + 10 * s.cfg.resend - !long_enough);
		receive_init(2, ASKS, FOLLOWED, TERM);
		assert_int_equal(follows(FOLLOWED), long_enough);
		stage_end(&s);
	}
	/* Another one was not reached once, also if the first one is not followed now. */
	for (unsigned int times = 1; times < 3; times++) {
		fresh();
		for (unsigned int k = 0; k < times; k++) {
			receive_init(2, ASKS, FOLLOWED, TERM);
			stage_down(&s, last_conn());
		}
		receive_init(2, ASKS, GREATER, TERM);
		stage_down(&s, last_conn());
		receive_init(2, ASKS, GREATER, TERM);
		assert_true(follows(GREATER));
		stage_end(&s);
	}
	/* The refusing root led, as far as the node knew. */
	first();
	stage_up(&s, 1);
	stage_refuse(&s, 1, "no");
	receive_init(2, ASKS, FOLLOWED, TERM);
	assert_true(follows(FOLLOWED) && own_init().asks);
	stage_end(&s);
}

/*
 * A node that asks, and to which a connection has just failed, gives way to any other that asks, and
 * takes this node from none.
 */
static void asking_root_out_of_reach_gives_way_to_another(void **state)
{
	(void)state;
	for (unsigned int fails = 0; fails < 2; fails++) {
		tried();
		if (fails) {
			stage_down(&s, last_conn());
			receive_init(2, ASKS, FOLLOWED, TERM);
			assert_true(follows(FOLLOWED));
		}
		receive_init(0, ASKS, LESSER, TERM);
		assert_true(follows(fails ? LESSER : FOLLOWED));
		receive_init(2, ASKS, FOLLOWED, TERM);
		assert_true(follows(fails ? LESSER : FOLLOWED));
		stage_end(&s);
	}
}

/* Processes the claim of the followed node, by which @here nodes of @need take part. */
static void count(uint32_t here, uint32_t need)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM,
			    .claim = { .guid = FOLLOWED, .here = here, .need = need } };

	stage_msg(&s, last_conn(), &m);
}

/* A node that asks, and gets no further node, leaves this one to another that asks. */
static void asking_root_that_gets_no_further_node_gives_way(void **state)
{
	(void)state;
	for (unsigned int grows = 0; grows < 3; grows++) {
		asked();
		count(2, 4);
		run(5 * s.cfg.resend - 1);
		count(grows == 1 ? 3 : 2, grows == 2 ? 2 : 4);
		receive_init(0, ASKS, LESSER, TERM);
		assert_true(follows(FOLLOWED));
		run(1);
		receive_init(0, ASKS, LESSER, TERM);
		assert_true(follows(grows ? FOLLOWED : LESSER));
		/* It is followed again if the other one has had no success either. */
		receive_init(2, ASKS, FOLLOWED, TERM);
		assert_true(follows(grows ? FOLLOWED : LESSER));
		run(10 * s.cfg.resend);
		receive_init(2, ASKS, FOLLOWED, TERM);
		assert_true(follows(FOLLOWED));
		stage_end(&s);
	}
}

/* --- what it makes of a root that it does not follow -------------------------------------- */

static bool reports_two_roots(void)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (strstr(p->text, "two roots"))
			return true;
	return false;
}

/* Two roots lead, and the neighbour is in no table of this node: two fabrics of one name. */
static void second_root_of_unknown_neighbour_is_another_fabric(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < sizeof(situations) / sizeof(situations[0]); k++)
		for (unsigned int n = 0; n < 2 * KINDS; n++) {
			bool unknown = n < KINDS, is_led = situations[k].make == led;
			struct fm_init i;

			situations[k].make();
			i = init_of(0, (enum kind)(n % KINDS), LESSER, TERM - 1);
			if (unknown)
				i.guid = 0xdead;
			stage_receive(&s, 0, &i);
			/* Nodes without a table know no neighbour. */
			if (situations[k].make == first || situations[k].make == first_tried ||
			    situations[k].make == led_no_table)
				is_led = unknown = true;
			assert_int_equal(reports_two_roots(), is_led && unknown &&
					 n % KINDS == LEADS &&
							   !follows(LESSER));
			stage_end(&s);
		}
}

/* The place of a node is final only if the fabric of the followed root has such a place. */
static void place_is_final_only_within_shape_of_root(void **state)
{
	(void)state;
	for (unsigned int size = 1; size < 3; size++) {
		struct fm_init i;

		lost();
		assert_true(own_init().settled);
		i = init_of(0, LEADS, GREATER, TERM + 1);
		i.size[0] = (uint16_t)size;
		stage_receive(&s, 0, &i);
		assert_true(follows(GREATER));
		assert_int_equal(own_init().settled, size > 1);
		stage_end(&s);
	}
	first();
	assert_false(own_init().settled);
	stage_end(&s);
}

/* A node that knows no epoch believes any; other nodes only one that is near theirs. */
static void far_epoch_is_accepted_only_without_own_epoch(void **state)
{
	uint64_t far = TERM + FM_EPOCH_STEP + 1;
	int next;

	(void)state;
	fresh();
	receive_init(2, LEADS, FOLLOWED, far);
	assert_true(follows(FOLLOWED));
	stage_end(&s);
	for (unsigned int near = 0; near < 2; near++) {
		led();
		next = s.next_conn;
		receive_init(0, LEADS, GREATER, far - near);
		assert_int_equal(s.next_conn != next, near);
		stage_end(&s);
	}
}

/* Two roots lead, and the node changes between them: that is logged less and less often. */
static void alternating_roots_are_logged_ever_more_seldom(void **state)
{
	uint64_t epoch = TERM;

	(void)state;
	for (unsigned int asks = 0; asks < 2; asks++) {
		fresh();
		s.deaf = "ping hello row place rows release report lost init connect ";
		receive_init(2, asks ? ASKS : LEADS, FOLLOWED, epoch);
		for (unsigned int k = 0; k < 30; k++) {
			receive_init(2, asks ? ASKS : LEADS, k % 2 ? FOLLOWED : GREATER, ++epoch);
			assert_true(follows(k % 2 ? FOLLOWED : GREATER));
			run(50 * MS);
		}
		assert_int_equal(stage_count(&s, "gives way"), 2);
		assert_int_equal(stage_count(&s, "(and 19 times more meanwhile)"), 1);
		stage_forget(&s);
		/* Lines on roots that lead, and on nodes that ask, do not wait for each other. */
		if (asks)
			receive_and_try(GREATER, ++epoch);
		else
			receive_init(2, ASKS, GREATER, ++epoch);
		assert_int_equal(stage_count(&s, "gives way"), 1);
		run(3600 * SEC);
		stage_forget(&s);
		/* the neighbour may have no root by now */
		receive_init(2, asks ? ASKS : LEADS, FOLLOWED, ++epoch);
		receive_init(2, asks ? ASKS : LEADS, GREATER, ++epoch);
		assert_int_equal(stage_count(&s, "gives way"), 1);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(init_is_followed_as_in_table_of_situations),
		cmocka_unit_test(init_without_place_or_of_own_root_is_not_followed),
		cmocka_unit_test(last_root_is_lost_until_later_epoch),
		cmocka_unit_test(lost_root_that_leads_again_is_tried_at_once),
		cmocka_unit_test(init_of_former_epoch_changes_nothing),
		cmocka_unit_test(new_address_of_root_is_used_and_passed_on),
		cmocka_unit_test(leading_root_is_left_for_asking_one_after_5_resends),
		cmocka_unit_test(unreached_asking_root_is_not_followed_again),
		cmocka_unit_test(asking_root_out_of_reach_gives_way_to_another),
		cmocka_unit_test(asking_root_that_gets_no_further_node_gives_way),
		cmocka_unit_test(second_root_of_unknown_neighbour_is_another_fabric),
		cmocka_unit_test(place_is_final_only_within_shape_of_root),
		cmocka_unit_test(far_epoch_is_accepted_only_without_own_epoch),
		cmocka_unit_test(alternating_roots_are_logged_ever_more_seldom),
	};

	return cmocka_run_group_tests_name("fm_choice", all, NULL, NULL);
}
