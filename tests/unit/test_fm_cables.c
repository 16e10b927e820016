// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of cables at the root: one for each cable that is lost or comes back, whichever end
 * reports it, and however many do so at once.
 */
#include <stdio.h>

#include "daemon/fm/root/cables.h"
#include "daemon/fm/root/facts.h"
#include "stage_flaps.h"

#define LOST(a, b) "log warning link: " a " to " b " is lost"
#define BACK(a, b) "log info link: " a " to " b " is up again"

/* Sets the state of these ports of 1,1 and of the other ends of their cables. */
static void ports(uint16_t mask, enum fm_port_state is, enum torus_link_reason why)
{
	struct fm_row r = stage_row(&s, 5);

	for (unsigned int p = 0; p < 4; p++) {
		uint32_t o = torus_neighbour(&s.shape, 5, p);
		struct fm_row far = stage_row(&s, o);
		struct fm_port_row *ends[] = { &r.port[p],
					       &far.port[torus_dir_opposite(&s.shape, p)] };

		for (unsigned int k = 0; k < 2 && mask & 1u << p; k++) {
			ends[k]->state = (uint8_t)is;
			ends[k]->session = serial[o] + 1;
			ends[k]->closed = true;
			ends[k]->reason = k ? TORUS_REASON_SILENCE : (uint8_t)why;
		}
		if (mask & 1u << p)
			reports_row(o, far);
	}
	reports_row(5, r);
}

static unsigned int links(void)
{
	return stage_count(&s, " link: ");
}

static void start(void)
{
	root();
	lives(5000);
	assert_int_equal(links(), 0);	/* that links come up is not an event */
	stage_forget(&s);
}

/*
 * Checks that @n cables are faulty, all for reason @why, and the first one at 0,1 since about @ms.
 */
static void faulty(unsigned int n, const char *why, uint64_t ms)
{
	struct fm_faulty f;
	uint32_t i = 0;

	assert_true(fm_faulty(s.fm, &i, &f));
	assert_int_equal(f.node, 4);
	assert_int_equal(f.port, 0);
	assert_string_equal(f.reason, why);
	assert_in_range(f.since, START + ms * MS, START + (ms + 100) * MS);
	while (fm_faulty(s.fm, &i, &f))
		n--;
	assert_int_equal(n, 1);
}

/* Three cables of a node are pulled at once: three events, each by its end with a "+". */
static void three_lost_cables_make_three_events(void **state)
{
	uint64_t since;
	uint32_t downs;

	(void)state;
	start();
	ports(7, FM_PORT_FAULTY, TORUS_REASON_CARRIER);
	lives(5100);
	assert_int_equal(links(), 3);
	assert_int_equal(stage_count(&s, LOST("1,1:+x ('n5')", "2,1:-x ('n6')")
				     ": carrier, after 5"), 1);
	assert_int_equal(stage_count(&s, LOST("1,1:+y ('n5')", "1,2:-y ('n9')")
				     ": carrier, after 5"), 1);
	assert_int_equal(stage_count(&s, LOST("0,1:+x ('n4')", "1,1:-x ('n5')")
				     ": silence, after 5"), 1);
	assert_int_equal(stage_count(&s, "(3 links lost or back)\n"), 1);
	lives(8000);
	assert_int_equal(links(), 3);
	faulty(3, "silence", 5000);
	/* Both ends tell since when; a cable that is up has no such time, nor has one that is none. */
	for (unsigned int p = 0; p < 4; p++) {
		assert_int_equal(fm_lost_since(s.fm, 5, p, &since), p < 3);
		assert_in_range(p < 3 ? since : START + 5000 * MS, START + 5000 * MS,
				START + 5100 * MS);
	}
	assert_true(fm_lost_since(s.fm, 4, 0, &since));
	assert_false(fm_lost_since(s.fm, 16, 2, &since));
	stage_forget(&s);
	ports(7, FM_PORT_UP, TORUS_REASON_CARRIER);
	lives(8100);
	assert_int_equal(links(), 3);
	assert_int_equal(stage_count(&s, BACK("1,1:+x ('n5')", "2,1:-x ('n6')") ", after 3"), 1);
	assert_int_equal(stage_count(&s, BACK("1,1:+y ('n5')", "1,2:-y ('n9')") ", after 3"), 1);
	assert_int_equal(stage_count(&s, BACK("0,1:+x ('n4')", "1,1:-x ('n5')") ", after 3"), 1);
	/* Each cable was lost once, whichever end is asked; it counts again. */
	for (unsigned int p = 0; p < 3; p++) {
		assert_true(fm_downs(s.fm, 5, p, &downs));
		assert_int_equal(downs, 1);
	}
	assert_true(fm_downs(s.fm, 4, 0, &downs));
	assert_int_equal(downs, 1);
	assert_true(fm_downs(s.fm, 5, 3, &downs));
	assert_int_equal(downs, 0);
	ports(1, FM_PORT_FAULTY, TORUS_REASON_CARRIER);
	lives(9000);
	assert_true(fm_downs(s.fm, 6, 2, &downs));
	assert_int_equal(downs, 2);
	assert_false(fm_downs(s.fm, 16, 2, &downs));
	assert_false(fm_downs(s.fm, 6, 4, &downs));
	stage_end(&s);
}

/* An end that was told of the loss by its peer does not know why: the peer's reason counts. */
static void reason_of_peer_is_used(void **state)
{
	(void)state;
	start();
	ports(7, FM_PORT_FAULTY, TORUS_REASON_PEER);
	lives(5100);
	assert_int_equal(stage_count(&s, LOST("1,1:+x ('n5')", "2,1:-x ('n6')")
				     ": silence, after 5"), 1);
	assert_int_equal(stage_count(&s, LOST("0,1:+x ('n4')", "1,1:-x ('n5')")
				     ": silence, after 5"), 1);
	faulty(3, "silence", 5000);
	stage_end(&s);
}

/*
 * A lost cable has one name, also if only its other end reports the loss; the log of the table
 * names it in the same way.
 */
static void loss_reported_by_other_end_has_same_name(void **state)
{
	(void)state;
	start();
	row(5, 2, FM_PORT_FAULTY);
	lives(5100);
	assert_int_equal(links(), 1);
	assert_int_equal(stage_count(&s, LOST("0,1:+x ('n4')", "1,1:-x ('n5')") ", after 5"), 1);
	assert_int_equal(stage_count(&s, ": link 0,1:+x down\n"), 1);
	stage_end(&s);
}

/* The text of an outage has its duration in minutes and seconds. */
static void outage_has_duration_in_min_and_s(void **state)
{
	(void)state;
	start();
	lives(100 * 1000);
	row(5, 0, FM_PORT_FAULTY);
	lives(100 * 1000 + 100);
	stage_did_some(&s, ", after 1 min 40 s\n");
	lives(1030 * 1000);
	row(5, 0, FM_PORT_UP);
	lives(1030 * 1000 + 100);
	assert_int_equal(stage_count(&s, ", after 15 min "), 1);
	stage_end(&s);
}

/* A cable that an administrator excluded may be pulled: no warning. */
static void loss_of_excluded_cable_is_no_warning(void **state)
{
	(void)state;
	start();
	assert_int_equal(fm_exclude(s.fm, 6, 2, true, START + s.now), 0);
	lives(5100);
	assert_int_equal(links(), 0);
	cable(FM_PORT_FAULTY);
	lives(5200);
	assert_int_equal(stage_count(&s, "log info link: 1,1:+x ('n5') to 2,1:-x ('n6') is lost"),
			 1);
	assert_int_equal(links(), 1);
	stage_end(&s);
}

/* A cable that is held down because it flaps is lost until it is used again. */
static void held_cable_is_lost_until_used_again(void **state)
{
	(void)state;
	start();
	for (unsigned int k = 0; k < LIMIT; k++) {
		lives(5100 + 200 * k);
		cable(FM_PORT_FAULTY);
		lives(5200 + 200 * k);
		cable(FM_PORT_UP);
	}
	lives(6500);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
	assert_int_equal(stage_count(&s, LOST("1,1:+x", "2,1:-x")), 0);
	assert_int_equal(stage_count(&s, LOST("1,1:+x ('n5')", "2,1:-x ('n6')")), LIMIT);
	assert_int_equal(stage_count(&s, BACK("1,1:+x ('n5')", "2,1:-x ('n6')")), LIMIT - 1);
	lives(60000);
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_int_equal(stage_count(&s, BACK("1,1:+x ('n5')", "2,1:-x ('n6')")), LIMIT);
	stage_end(&s);
}

/*
 * A cable that is plugged into a wrong port is not back; it is when it is plugged into the right
 * one.
 */
static void cable_in_wrong_port_is_not_back(void **state)
{
	struct fm_row r, wrong;

	(void)state;
	start();
	cable(FM_PORT_FAULTY);
	lives(5100);
	assert_int_equal(stage_count(&s, LOST("1,1:+x ('n5')", "2,1:-x ('n6')")), 1);
	cable(FM_PORT_UP);
	r = wrong = stage_row(&s, 5);
	wrong.port[0].peer_guid = stage_row(&s, 10).port[0].peer_guid;
	reports_row(5, wrong);
	lives(5200);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "wiring");
	lives(8000);
	assert_int_equal(stage_count(&s, BACK("1,1:+x", "2,1:-x")), 0);
	assert_int_equal(stage_count(&s, BACK("1,1:+x ('n5')", "2,1:-x ('n6')")), 0);
	reports_row(5, r);
	lives(9000);
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_int_equal(stage_count(&s, BACK("1,1:+x ('n5')", "2,1:-x ('n6')") ", after "), 1);
	/*
	 * The cable was plugged into another port between two rows: it counts as lost, with this
	 * reason.
	 */
	stage_end(&s);
	start();
	reports_row(5, wrong);
	lives(9500);
	assert_int_equal(stage_count(&s, LOST("1,1:+x ('n5')", "2,1:-x ('n6')") ": wiring, after "),
			 1);
	assert_int_equal(links(), 1);
	stage_end(&s);
	/* The same at its other end. */
	start();
	wrong = stage_row(&s, 6);
	wrong.port[2].peer_guid = stage_row(&s, 9).port[2].peer_guid;
	reports_row(6, wrong);
	lives(10000);
	assert_int_equal(stage_count(&s, LOST("1,1:+x ('n5')", "2,1:-x ('n6')") ": wiring, after "),
			 1);
	stage_end(&s);
}

/* The log of a table names a wrong cable by its end at a port with "+", too, wherever that is. */
static void wrong_cable_is_named_by_its_positive_port(void **state)
{
	struct fm_row wrong;

	(void)state;
	start();
	wrong = stage_row(&s, 6);
	wrong.port[2].peer_guid = stage_row(&s, 9).port[2].peer_guid;
	reports_row(6, wrong);
	lives(5100);
	assert_string_equal(fm_excluded(s.fm, 6, 2), "wiring");
	stage_forget(&s);
	wrong.port[2].state = FM_PORT_FAULTY;
	reports_row(6, wrong);
	lives(5200);
	assert_int_equal(stage_count(&s, ": link 0,2:+x down\n"), 1);
	stage_end(&s);
}

/*
 * A node that joins late adds cables that were not lost before. The same if the root had no memory
 * for the states of cables with its first table, and takes them from the present one.
 */
static void cables_of_new_node_were_not_lost(void **state)
{
	struct fm_msg m;

	(void)state;
	for (unsigned int anew = 0; anew < 2; anew++) {
		stage_init(&s, "4x4", 0);
		s.deaf = "init ping pong report lost rows place release welcome step close table "
			 "adopted ";
		nodes = 15;
		for (unsigned int p = 0; p < s.dev.nports; p++)
			stage_link_up(&s, p, 1);
		stage_start(&s);
		join_all();
		lives(9000);
		assert_int_equal(links(), 0);
		if (anew) {
			fm_cables_free(s.fm->root);
			assert_true(fm_cables_new(s.fm->root));
		}
		nodes = 16;
		m = stage_hello(&s, 15);
		serial[15] = 1;
		stage_up(&s, 115);
		stage_msg(&s, 115, &m);
		lives(12000);
		assert_null(fm_excluded(s.fm, 15, 0));
		assert_int_equal(fm_node(s.fm, 15)->state, FM_NODE_UP);
		assert_int_equal(links(), 0);
		stage_end(&s);
	}
}

/* A cable is up while both its nodes are up or silent, if no table says that one of its ends is not. */
static void cable_works_while_its_nodes_are_up_or_silent(void **state)
{
	(void)state;
	for (uint8_t is = 0; is < FM_NODE_STATES; is++) {
		bool works = is == FM_NODE_UP || is == FM_NODE_SILENT;
		struct fm_table_msg t = { .nentries = 1 };
		struct fm_entry e;

		start();
		e = s.fm->table.entry[5];
		assert_int_equal(e.fault, 0);
		e.state = is;
		t.entries = &e;
		assert_int_equal(fm_cables_look(s.fm, &t), works ? 0 : 4);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(three_lost_cables_make_three_events),
		cmocka_unit_test(reason_of_peer_is_used),
		cmocka_unit_test(loss_reported_by_other_end_has_same_name),
		cmocka_unit_test(outage_has_duration_in_min_and_s),
		cmocka_unit_test(loss_of_excluded_cable_is_no_warning),
		cmocka_unit_test(held_cable_is_lost_until_used_again),
		cmocka_unit_test(cable_in_wrong_port_is_not_back),
		cmocka_unit_test(wrong_cable_is_named_by_its_positive_port),
		cmocka_unit_test(cables_of_new_node_were_not_lost),
		cmocka_unit_test(cable_works_while_its_nodes_are_up_or_silent),
	};

	return cmocka_run_group_tests_name("fm_cables", all, NULL, NULL);
}
