// SPDX-License-Identifier: GPL-2.0-only
/*
 * Inits of a member after it has joined: until when they are repeated, the place in them, and that
 * none is sent without need.
 */
#include "daemon/fm/node/log.h"
#include "stage_member.h"

/* Both neighbours have received this node's Init, and it has received theirs: no Inits are sent. */
static void known_to_both(void)
{
	joined();
	s.deaf = "hello row pong connect ";
	for (unsigned int p = 0; p < 4; p += 2) {
		struct fm_init i = stage_neighbour(&s, p);

		i.received = true;
		stage_receive(&s, p, &i);
	}
	stage_run_ns(&s, s.now + 20 * MS);
	stage_forget(&s);
}

/* An Init may be lost: it is repeated until the neighbour acknowledges one. */
static void init_is_repeated_until_neighbour_acknowledges_it(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	s.deaf = "hello row pong connect ping close log ";
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_run_ns(&s, s.now + 5000 * MS);
	/*
	 * The first Init answers the neighbour's. The others request an answer, although this node
	 * needs no further Init: the neighbour sends none of its own accord.
	 */
	assert_int_equal(stage_count(&s, "init 0: heard "), 1);
	assert_true(stage_count(&s, "init 0: 1/4 ") > 5);
	i.received = true;
	stage_receive(&s, 0, &i);
	stage_forget(&s);
	stage_run_ns(&s, s.now + 20000 * MS);
	stage_did_no(&s, "init 0: ");
	stage_end(&s);
}

/*
 * The link comes up anew, perhaps to another NIC, whose manager may not know this node yet: the
 * Init is sent again.
 */
static void init_is_sent_again_in_new_session(void **state)
{
	struct fm_init i;

	(void)state;
	known_to_both();
	stage_link_lost(&s, 0, 1);
	stage_link_up(&s, 0, 2);
	s.deaf = "hello row pong connect ping close log ";
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_run_ns(&s, s.now + 5000 * MS);
	assert_true(stage_count(&s, "init 0: ") > 5);
	assert_int_equal(stage_count(&s, "init 2: "), 0);
	stage_end(&s);
}

/* News for all neighbours is repeated as well, until each has received it. */
static void news_are_repeated_until_all_neighbours_have_them(void **state)
{
	(void)state;
	known_to_both();
	stage_welcome(&s, 1, TERM + 1, "");
	stage_run_ns(&s, s.now + 900 * MS);
	assert_true(stage_count(&s, "init 0: ") > 3);
	assert_true(stage_count(&s, "init 2: ") > 3);
	/* The silent neighbours have to acknowledge them, and would not answer an acknowledgement. */
	stage_did_no(&s, "heard ");
	stage_end(&s);
}

/*
 * The root is lost for a moment: neighbours are informed that it is back only if they were informed
 * of the loss.
 */
static void return_of_root_is_sent_only_if_its_loss_was(void **state)
{
	(void)state;
	for (unsigned int asked = 0; asked < 2; asked++) {
		known_to_both();
		stage_down(&s, 1);
		if (asked) {
			struct fm_init i = stage_neighbour(&s, 0);

			i.received = false;
			stage_receive(&s, 0, &i);
		}
		stage_run_ns(&s, s.now + 60 * MS);
		assert_int_equal(stage_count(&s, "init 2: "), 0);
		stage_forget(&s);
		stage_up(&s, 2);
		stage_welcome(&s, 2, TERM, "");
		stage_run_ns(&s, s.now + MS);
		assert_int_equal(stage_count(&s, "init 0: "), asked);
		assert_int_equal(stage_count(&s, "init 2: "), asked);
		/* No neighbour is informed of the next loss. */
		for (unsigned int p = 0; p < 4; p += 2) {
			struct fm_init i = stage_neighbour(&s, p);

			i.received = true;
			stage_receive(&s, p, &i);
		}
		stage_forget(&s);
		stage_down(&s, 2);
		stage_run_ns(&s, s.now + 60 * MS);
		stage_up(&s, 3);
		stage_welcome(&s, 3, TERM, "");
		stage_run_ns(&s, s.now + MS);
		stage_did_no(&s, "init ");
		stage_end(&s);
	}
}

/*
 * The table gives the node another place than the first Init did: its Inits report the place of the
 * table.
 */
static void inits_have_place_of_table(void **state)
{
	struct fm_entry entries[16], other;
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	stage_init(&s, "4x4", 5);
	s.deaf = "hello row log ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_run(&s, 1);
	stage_did_some(&s, "init 0: 1/4 1/4 ");
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	m = stage_table(&s, 1, entries);
	other = entries[14];
	entries[14] = entries[5];
	entries[14].node = 14;
	entries[5] = other;
	entries[5].node = 5;
	stage_msg(&s, 1, &m);
	stage_forget(&s);
	stage_link_up(&s, 0, 2);
	stage_run(&s, 2);
	stage_did_some(&s, "init 0: settled 2/4 3/4 ");
	stage_end(&s);
}

/*
 * The wave has placed the node at @x, 0. Return: Inits sent by port 2 once the root has placed it
 * at 1,0.
 */
static unsigned int inits_after_place(int x)
{
	struct fm_init i;
	unsigned int n;

	node_1();
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	i.received = true;
	i.position[0] = x - 1;
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	s.deaf = "hello row pong connect ping close log ";
	stage_run(&s, 20);
	stage_receive(&s, 2, &i);
	stage_run(&s, 40);
	stage_forget(&s);
	table(1);
	stage_run(&s, 50);
	n = stage_count(&s, "init 2: settled 1/4");
	stage_end(&s);
	return n;
}

/* Neighbours are informed of the place that the root gives it only if the wave had another one. */
static void neighbours_are_informed_only_of_changed_place(void **state)
{
	(void)state;
	assert_int_equal(inits_after_place(1), 0);
	assert_int_equal(inits_after_place(3), 1);
}

/*
 * Once the root has placed the node, only places from the table, in the same shape, contradict its
 * own.
 */
static void only_place_of_same_table_contradicts_placed_node(void **state)
{
	struct fm_init i;

	(void)state;
	joined();
	table(1);
	stage_run(&s, 10);
	i = stage_neighbour(&s, 2);
	i.position[0] = 2;
	for (unsigned int k = 0; k < 4; k++) {
		i.settled = k & 1;
		i.size[0] = k & 2 ? 4 : 5;
		stage_receive(&s, 2, &i);
		assert_int_equal(fm_problems_count(s.fm), k == 3);
	}
	assert_string_equal(fm_problem(s.fm, 0)->kind, "wave");
	i.position[0] = 0;
	stage_receive(&s, 2, &i);
	assert_int_equal(fm_problems_count(s.fm), 0);
	stage_end(&s);
}

/* A shape is another if any of its sizes is, by however much. */
static void each_size_distinguishes_shapes(void **state)
{
	struct fm_init i;

	(void)state;
	stage_init(&s, "4x1x1", 1);
	s.deaf = "init ping ";
	stage_start(&s);
	stage_link_up(&s, 3, 1);
	i = stage_neighbour(&s, 3);
	stage_receive(&s, 3, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	table(1);
	stage_run(&s, 10);
	i.position[0] = 2;
	i.settled = true;
	for (unsigned int d = 0; d < 3; d++) {
		i.size[d] ^= 256;
		stage_receive(&s, 3, &i);
		assert_int_equal(fm_problems_count(s.fm), 0);
		i.size[d] ^= 256;
	}
	stage_receive(&s, 3, &i);
	assert_int_equal(fm_problems_count(s.fm), 1);
	stage_end(&s);
}

/*
 * A wrong cable is one problem: that of the root, as soon as its table excludes the cable. The log
 * of this node has it only if the root has not found it within a second.
 */
static void wrong_cable_known_to_root_is_no_problem_of_node(void **state)
{
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	joined();
	table(1);
	stage_run(&s, 10);
	stage_forget(&s);
	i = stage_neighbour(&s, 2);
	i.settled = true;
	i.position[0] = 2;
	stage_receive(&s, 2, &i);
	assert_int_equal(fm_problems_count(s.fm), 1);
	m = stage_table(&s, 2, entry);
	entry[1].wiring = 1u << 2;
	stage_msg(&s, 1, &m);
	stage_run(&s, 900);
	assert_int_equal(fm_problems_count(s.fm), 0);
	stage_did_no(&s, "wave");
	m = stage_table(&s, 3, entry);
	entry[1].wiring = 1u << 0;
	stage_msg(&s, 1, &m);
	stage_run(&s, 900);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "wave");
	stage_did_no(&s, "wave");
	stage_run_ns(&s, s.now + 1000 * MS);
	stage_did_some(&s, "log error wave: ");
	stage_end(&s);
}

/* A neighbour obeys another root now: its Init from before is no contradiction any more. */
static void init_of_neighbour_under_former_root_is_no_contradiction(void **state)
{
	struct fm_neighbour n;
	struct fm_init i;

	(void)state;
	joined();
	table(1);
	stage_run(&s, 10);
	i = stage_neighbour(&s, 2);
	i.settled = true;
	i.position[0] = 2;
	stage_receive(&s, 2, &i);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "wave");
	assert_true(fm_neighbour(s.fm, 2, &n));
	i.root_guid++;
	stage_receive(&s, 2, &i);
	for (unsigned int k = 0; fm_problem(s.fm, k); k++)
		assert_string_not_equal(fm_problem(s.fm, k)->kind, "wave");
	assert_false(fm_neighbour(s.fm, 2, &n));
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_place_of_same_table_contradicts_placed_node),
		cmocka_unit_test(each_size_distinguishes_shapes),
		cmocka_unit_test(wrong_cable_known_to_root_is_no_problem_of_node),
		cmocka_unit_test(init_of_neighbour_under_former_root_is_no_contradiction),
		cmocka_unit_test(neighbours_are_informed_only_of_changed_place),
		cmocka_unit_test(init_is_repeated_until_neighbour_acknowledges_it),
		cmocka_unit_test(init_is_sent_again_in_new_session),
		cmocka_unit_test(news_are_repeated_until_all_neighbours_have_them),
		cmocka_unit_test(return_of_root_is_sent_only_if_its_loss_was),
		cmocka_unit_test(inits_have_place_of_table),
	};

	return cmocka_run_group_tests_name("fm_wave", all, NULL, NULL);
}
