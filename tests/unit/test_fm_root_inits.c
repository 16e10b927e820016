// SPDX-License-Identifier: GPL-2.0-only
/*
 * A node's Inits to its neighbours about the root that it follows: their contents, which
 * neighbours it answers, and when it asks them.
 */
#include "stage_choice.h"

/* A root counts as lost until it answers, where one has led before, or the NIC has a place. */
static void root_counts_as_lost_until_it_answers(void **state)
{
	(void)state;
	first();
	assert_false(own_init().lost);
	stage_end(&s);
	led_no_table();
	receive_init(0, LEADS, GREATER, TERM + 1);
	assert_true(follows(GREATER) && own_init().lost);
	stage_end(&s);
	node_1();
	s.dev.placed = true;
	s.dev.shape = s.shape;
	s.dev.coords.c[0] = 1;
	s.dev.node = 1;
	stage_start(&s);
	receive_init(2, LEADS, FOLLOWED, TERM);
	assert_true(own_init().lost);
	/* The root is lost again if its connection ends before it led. */
	stage_up(&s, 1);
	welcome(1, FOLLOWED, TERM, true, "");
	assert_false(own_init().lost);
	stage_down(&s, 1);
	assert_true(own_init().lost);
	stage_end(&s);
}

static bool is_answered_at_once(void)
{
	bool tells;

	run(MS);
	tells = stage_count(&s, "init 0: ");
	stage_forget(&s);
	return tells;
}

/* A neighbour that follows an earlier root, which leads, has to learn of the later one. */
static void only_neighbour_of_earlier_root_is_answered(void **state)
{
	static const struct {
		uint64_t root, epoch;
		bool answers;
	} init[] = {
		{ LESSER, TERM, true }, { GREATER, TERM - 1, true }, { FOLLOWED, TERM - 1, false },
		{ FOLLOWED, TERM, false }, { GREATER, TERM, false }, { LESSER, TERM + 1, false },
	};

	(void)state;
	for (unsigned int k = 0; k < 6; k++)
		for (unsigned int kind = 0; kind < 2 * KINDS; kind++) {
			struct fm_init i = init_of(0, (enum kind)(kind % KINDS), init[k].root,
						   init[k].epoch);

			led();
			known_to_both();
			i.guid = 0xdead;
			i.placed = kind < KINDS;
			stage_receive(&s, 0, &i);
			run(60 * MS);
			assert_int_equal(stage_count(&s, "init 0: ") > 0,
					 init[k].answers && kind == LEADS);
			stage_end(&s);
		}
	/* A node whose own root is lost, or only asks, sends no Init at once. */
	for (unsigned int asks = 0; asks < 2; asks++) {
		if (asks)
			asked();
		else
			lost();
		known_to_both();
		receive_init(0, LEADS, LESSER - 1, TERM - 1);
		assert_true(follows(FOLLOWED));
		run(30 * MS);
		stage_did_no(&s, "init 0: ");
		stage_end(&s);
	}
}

/* News are sent once to all neighbours, at once. */
static void news_of_root_are_sent_once_to_all_neighbours(void **state)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM };

	(void)state;
	/* The root leads in another epoch. */
	led();
	known_to_both();
	welcome(1, FOLLOWED, TERM, false, "");
	assert_false(is_answered_at_once());
	welcome(1, FOLLOWED, TERM + 1, false, "");
	assert_true(is_answered_at_once());
	stage_end(&s);
	/* The root does not lead, but asks; then it asks in another epoch. */
	first();
	stage_up(&s, 1);
	known_to_both();
	m.claim.guid = FOLLOWED;
	for (unsigned int epoch = 0; epoch < 3; epoch++) {
		m.claim.epoch = epoch ? TERM + epoch : 0;
		stage_msg(&s, 1, &m);
		assert_true(is_answered_at_once());
		stage_msg(&s, 1, &m);
		assert_false(is_answered_at_once());
	}
	stage_end(&s);
	/* The root refuses the node, and so is lost. */
	first();
	for (unsigned int again = 0; again < 2; again++) {
		stage_up(&s, last_conn());
		if (!again)
			known_to_both();
		stage_refuse(&s, last_conn(), "no");
		assert_int_equal(is_answered_at_once(), !again);
		run(2000 * MS);
		stage_forget(&s);
	}
	stage_end(&s);
	/*
	 * A root that asks refuses the node: neighbours are asked at once if no root ever led this
	 * node.
	 */
	for (unsigned int was_led = 0; was_led < 2; was_led++) {
		if (was_led)
			asked();
		else
			fresh();
		receive_init(2, ASKS, FOLLOWED, TERM);
		receive_init(0, ASKS, FOLLOWED, TERM);
		stage_up(&s, last_conn());
		silent();
		stage_refuse(&s, last_conn(), "no");
		assert_int_equal(is_answered_at_once(), !was_led);
		stage_end(&s);
	}
}

/*
 * Two roots of one epoch lead the node one after the other: status has the time of the later one.
 */
static void status_has_time_of_later_root_of_same_epoch(void **state)
{
	struct fm_status st;

	(void)state;
	led_no_table();
	run(50 * MS);
	receive_init(0, LEADS, GREATER, TERM);
	stage_up(&s, last_conn());
	welcome(last_conn(), GREATER, TERM, false, "");
	fm_status(s.fm, &st);
	assert_int_equal(st.root.since, START + s.now);
	stage_end(&s);
}

/*
 * A node with a place, which no root has led, and whose asking node is gone, asks to be root soon.
 */
static void placed_node_without_asking_root_asks_soon(void **state)
{
	uint64_t from;

	(void)state;
	node_1();
	s.cfg.takeover = TAKEOVER;
	s.dev.placed = true;
	s.dev.shape = s.shape;
	s.dev.coords.c[0] = 1;
	s.dev.node = 1;
	stage_start(&s);
	receive_init(2, ASKS, FOLLOWED, TERM);
	stage_down(&s, 1);
	for (from = s.now; !follows(NIC + 1) && s.now < from + 3000 * MS;)
		run(10 * MS);
	assert_true(follows(NIC + 1) && own_init().asks);
	assert_true(s.now - from < 3 * TAKEOVER);
	stage_end(&s);
}

/*
 * A node that lost its root asks its neighbours: at once if one of them has named an asking node,
 * else later each time that an asking node was lost.
 */
static void node_without_root_asks_neighbours_later_after_each_loss(void **state)
{
	uint64_t after[9];

	(void)state;
	for (unsigned int n = 0; n < 2 * KINDS; n++) {
		enum kind kind = (enum kind)(n % KINDS);

		led();
		run(200 * MS);
		if (n < KINDS)
			receive_init(0, kind, GREATER, TERM - 1);
		else
			receive_init(0, kind, FOLLOWED, TERM);
		run(100 * MS);
		s.refuse_connect = -1;
		stage_down(&s, 1);
		assert_int_equal(asks_around(), kind == ASKS ? 0 : TAKEOVER / 2);
		stage_end(&s);
	}
	lost();
	for (unsigned int k = 0; k < 9; k++) {
		s.refuse_connect = 0;
		receive_init(0, ASKS, GREATER + k, TERM + 1);
		assert_true(follows(GREATER + k));
		run(200 * MS);
		receive_init(0, ASKS, GREATER + k, TERM + 1);	/* acknowledges the repetition */
		receive_init(2, ASKS, GREATER + k, TERM + 1);
		s.refuse_connect = -1;
		stage_down(&s, last_conn());
		assert_true(follows(FOLLOWED));
		after[k] = asks_around();
		assert_int_equal(after[k], TAKEOVER / 2 << (k < 6 ? k + 1 : 6));
	}
	stage_end(&s);
}

/*
 * A node has no root, for the one that asks cannot be reached: it goes on to send Inits that say
 * so.
 */
static void node_without_root_goes_on_sending_inits(void **state)
{
	struct fm_init i;

	(void)state;
	fresh();
	for (unsigned int k = 0; k < 4; k++) {
		i = init_of(2, ASKS, FOLLOWED, TERM);
		i.received = false;
		stage_receive(&s, 2, &i);
		if (k < 2)
			stage_down(&s, last_conn());
		run(MS);
	}
	assert_false(follows(FOLLOWED));
	silent();
	run(500 * MS);
	assert_true(stage_count(&s, "init 2: asks") > 1);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(root_counts_as_lost_until_it_answers),
		cmocka_unit_test(only_neighbour_of_earlier_root_is_answered),
		cmocka_unit_test(news_of_root_are_sent_once_to_all_neighbours),
		cmocka_unit_test(status_has_time_of_later_root_of_same_epoch),
		cmocka_unit_test(node_without_root_goes_on_sending_inits),
		cmocka_unit_test(placed_node_without_asking_root_asks_soon),
		cmocka_unit_test(node_without_root_asks_neighbours_later_after_each_loss),
	};

	return cmocka_run_group_tests_name("fm_root_inits", all, NULL, NULL);
}
