// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links that flap, and cables whose ends differ, at the root: when a cable is held down and for
 * how long, what is reported, and the next table.
 */
#include <errno.h>
#include <stdio.h>

#include "stage_flaps.h"
#include "daemon/fm/root/dispute.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define HELD "the link from 1,1:+x ('n5') to 2,1:-x ('n6') fails again and again: it is " \
	     "held down until it has been quiet for a while"

static bool held(void)
{
	struct fm_hold h;

	return fm_held(s.fm, 0, START + s.now, &h);
}

static uint64_t left(void)
{
	struct fm_hold h;

	assert_true(fm_held(s.fm, 0, START + s.now, &h));
	assert_int_equal(h.node, 5);
	assert_int_equal(h.port, 0);
	assert_int_equal(h.peer, 6);
	assert_int_equal(h.peer_port, 2);
	assert_false(fm_held(s.fm, 1, START + s.now, &h));
	return h.left;
}

/* Loses the cable @n times in quick succession. */
static void flaps(unsigned int n)
{
	while (n--) {
		cable(FM_PORT_FAULTY);
		if (n)
			cable(FM_PORT_UP);
	}
}

/* --- held down -------------------------------------------------------------------------- */

/* A link is held at the limit, and not before. */
static void link_is_held_at_limit_and_not_before(void **state)
{
	(void)state;
	root();
	lives(100);
	flaps(LIMIT - 1);
	assert_false(held());
	lives(200);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "fault");
	cable(FM_PORT_UP);
	lives(300);
	assert_null(fm_excluded(s.fm, 5, 0));
	stage_forget(&s);
	row(5, 0, FM_PORT_FAULTY);
	assert_int_equal(stage_count(&s, "log error flap: " HELD "\n"), 1);
	stage_forget(&s);
	/* The other end belongs to the same cable. */
	row(6, 2, FM_PORT_FAULTY);
	stage_did_no(&s, "flap");
	lives(400);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
	assert_string_equal(fm_excluded(s.fm, 6, 2), "held");
	assert_int_equal(fm_node(s.fm, 5)->held, 1);
	assert_int_equal(fm_node(s.fm, 6)->held, 4);
	assert_null(fm_excluded(s.fm, 5, 2));
	/* When it comes up again, and is lost once more, there is no new table. */
	{
		uint64_t version = fm_version(s.fm);

		cable(FM_PORT_UP);
		lives(500);
		cable(FM_PORT_FAULTY);
		lives(600);
		assert_int_equal(fm_version(s.fm), version);
		assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
		/* A change of another port of the node makes a new table. */
		row(5, 1, FM_PORT_FAULTY);
		lives(700);
		assert_true(fm_version(s.fm) > version);
	}
	stage_end(&s);
}

/* Old losses decay: by half in each half-life, to within 6 %. */
static void penalty_halves_each_half_life(void **state)
{
	(void)state;
	/* 1 + 1/2 + 1/4 ... stays below 2 for ever. */
	root();
	for (unsigned int i = 1; i < 20; i++) {
		cable(FM_PORT_FAULTY);
		lives(i * HALF - HALF / 2.);
		cable(FM_PORT_UP);
		lives(i * HALF);
		assert_false(held());
	}
	stage_end(&s);
	/* Three losses that decay to a half, then two more: the limit of 3.5 is reached. */
	root();
	lives(100);
	flaps(3);
	cable(FM_PORT_UP);
	lives(100 + HALF + 200);
	flaps(1);
	assert_false(held());
	cable(FM_PORT_UP);
	flaps(1);
	assert_false(held());
	cable(FM_PORT_UP);
	flaps(1);
	assert_true(held());
	stage_end(&s);
	root();
	lives(100);
	flaps(3);
	cable(FM_PORT_UP);
	/* 3 decays to 2.625 in a quarter of the half-life; until 2 of 3.625 are left ... */
	lives(100 + HALF * 0.25);
	flaps(1);
	assert_in_range(left(), 1.625 / 3.625 * 2 * HALF * MS - MS,
			1.625 / 3.625 * 2 * HALF * MS + MS);
	stage_end(&s);
	root();
	lives(100);
	flaps(3);
	cable(FM_PORT_UP);
	lives(100 + HALF * 0.40);
	flaps(1);
	assert_false(held());
	stage_end(&s);
	/* After a very long time nothing is left of the count. */
	root();
	lives(100);
	flaps(3);
	cable(FM_PORT_UP);
	lives(100 + 33. * HALF);
	flaps(3);
	assert_false(held());
	stage_end(&s);
}

/* A hold lasts until the penalty is half of the limit: 4 flaps take one half-life, 8 take two. */
static void hold_lasts_until_penalty_is_half_of_limit(void **state)
{
	(void)state;
	for (unsigned int n = LIMIT; n <= 2 * LIMIT; n += LIMIT) {
		uint64_t for_ns = (n == LIMIT ? 1 : 2) * HALF * MS, from;

		root();
		lives(100);
		flaps(n);
		cable(FM_PORT_UP);
		from = s.now;
		assert_in_range(left(), for_ns - MS, for_ns + MS);
		for_ns = left();
		lives_ns(from + for_ns / 2);
		assert_int_equal(left(), from + for_ns - s.now);
		stage_forget(&s);
		lives_ns(from + for_ns - 1);
		assert_int_equal(left(), 1);
		assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
		stage_did_no(&s, "log");
		lives_ns(from + for_ns);
		assert_false(held());
		assert_int_equal(stage_count(&s, "log info flap: over: " HELD "\n"), 1);
		lives_ns(from + for_ns + 20 * MS);
		assert_int_equal(stage_count(&s, ": 1,1:+x ('n5') is no longer held down\n"), 1);
		assert_int_equal(stage_count(&s, "log info table"), 1);
		assert_null(fm_excluded(s.fm, 5, 0));
		/* Half of the limit is left: two more losses and the link is held again. */
		flaps(1);
		assert_false(held());
		cable(FM_PORT_UP);
		flaps(1);
		assert_true(held());
		stage_end(&s);
	}
	/* 6 takes one half-life and the time from 3 to 2. */
	root();
	lives(100);
	flaps(6);
	assert_in_range(left(), HALF * 1.5 * MS, HALF * 1.75 * MS);
	stage_end(&s);
}

/* A hold ends at most hold_max after the last loss, however long the link flapped. */
static void hold_ends_hold_max_after_last_loss(void **state)
{
	uint64_t from;

	(void)state;
	root();
	lives(100);
	flaps(100);
	from = s.now;
	assert_int_equal(left(), HOLD_MAX * MS);
	lives(5100);
	assert_int_equal(left(), HOLD_MAX * MS + from - s.now);
	/* A loss while the link is held is counted, too. */
	cable(FM_PORT_UP);
	assert_int_equal(left(), HOLD_MAX * MS + from - s.now);
	row(6, 2, FM_PORT_FAULTY);
	from = s.now;
	assert_int_equal(left(), HOLD_MAX * MS);
	row(6, 2, FM_PORT_UP);
	/* Both ends are used again at the same time. */
	lives_ns(from + HOLD_MAX * MS - 1);
	assert_true(held());
	stage_forget(&s);
	lives_ns(from + HOLD_MAX * MS + 50 * MS);
	assert_false(held());
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_int_equal(stage_count(&s, "log info table"), 1);
	stage_end(&s);
}

/* A link is still down when its hold ends: then it is like any other link that is down. */
static void link_still_down_after_hold_is_faulty(void **state)
{
	(void)state;
	root();
	lives(100);
	flaps(LIMIT);
	lives(200 + HALF);
	assert_false(held());
	assert_string_equal(fm_excluded(s.fm, 5, 0), "fault");
	cable(FM_PORT_UP);
	lives(300 + HALF);
	assert_null(fm_excluded(s.fm, 5, 0));
	stage_end(&s);
}

/* With a limit of 0 no link is held. */
static void limit_0_holds_no_link(void **state)
{
	(void)state;
	root();
	stage_end(&s);
	s.cfg.flap_limit = 0;
	stage_start(&s);
	join_all();
	lives(100);
	flaps(50);
	assert_false(held());
	stage_end(&s);
}

/*
 * The administrator ends a hold, of a port or a node, at either end. An exclusion of that cable ends
 * by either of its ends, too, but not by the other node as a whole.
 */
static void include_ends_hold_at_either_end(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		root();
		lives(100);
		flaps(LIMIT);
		cable(FM_PORT_UP);
		lives(200);
		assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
		stage_forget(&s);
		assert_true(fm_exclude_changes(s.fm, 5, 0, false, NULL));
		assert_true(fm_exclude_changes(s.fm, 6, 2, false, NULL));
		assert_true(fm_exclude_changes(s.fm, 6, -1, false, NULL));
		assert_false(fm_exclude_changes(s.fm, 5, 2, false, NULL));
		/* Including another port, or excluding, does not end the hold. */
		assert_int_equal(fm_exclude(s.fm, 5, 2, false, START + s.now), 0);
		assert_int_equal(fm_exclude(s.fm, 10, 0, false, START + s.now), 0);
		lives(300);
		assert_true(held());
		assert_int_equal(fm_exclude(s.fm, 5, 0, true, START + s.now), 0);
		assert_true(held());
		lives(400);
		assert_string_equal(fm_excluded(s.fm, 5, 0), "admin");
		assert_int_equal(fm_exclude(s.fm, 5, 0, true, START + s.now), 0);
		assert_int_equal(fm_exclude(s.fm, k < 2 ? 5 : 6, k & 1 ? -1 : k < 2 ? 0 : 2, false,
					    START + s.now), 0);
		assert_false(held());
		lives(500);
		assert_int_equal(stage_count(&s, "log info flap: over: " HELD "\n"), 1);
		if (k < 3)
			assert_null(fm_excluded(s.fm, 5, 0));
		else
			assert_string_equal(fm_excluded(s.fm, 5, 0), "admin");
		stage_end(&s);
	}
}

/* An exclusion whose time is over ends a hold of that cable, as an inclusion does. */
static void end_of_term_ends_hold(void **state)
{
	const struct fm_order o = { .uid = 7, .since = 1700000000, .until = 1700000005 };

	(void)state;
	root();
	lives(100);
	flaps(LIMIT);
	cable(FM_PORT_UP);
	lives(200);
	assert_int_equal(fm_exclude_by(s.fm, 5, 0, &o, START + s.now), 0);
	stage_forget(&s);
	lives(5199);
	assert_true(held());
	assert_string_equal(fm_excluded(s.fm, 5, 0), "admin");
	lives(5201);
	assert_false(held());
	assert_int_equal(stage_count(&s, "log info flap: over: " HELD "\n"), 1);
	lives(5300);
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_int_equal(stage_count(&s, "log info table"), 1);
	stage_end(&s);
}

/* Several links are held down at once: each is reported, and each returns by itself. */
static void several_held_links_return_one_by_one(void **state)
{
	struct fm_hold h;
	unsigned int n = 0;

	(void)state;
	root();
	lives(100);
	for (uint32_t i = 1; i < 15; i += 2)
		for (unsigned int k = 0; k < LIMIT; k++) {
			row(i, 1, FM_PORT_FAULTY);
			row(i, 1, FM_PORT_UP);
		}
	while (fm_held(s.fm, n, START + s.now, &h)) {
		assert_int_equal(h.node, 1 + 2 * n);
		assert_int_equal(h.port, 1);
		assert_int_equal(h.peer, torus_neighbour(&s.shape, h.node, 1));
		assert_int_equal(h.peer_port, 3);
		n++;
	}
	assert_int_equal(n, 7);
	assert_int_equal(stage_count(&s, "log error flap: "), 7);
	assert_int_equal(fm_exclude(s.fm, 7, 1, false, START + s.now), 0);
	for (n = 0; fm_held(s.fm, n, START + s.now, &h); n++)
		assert_int_not_equal(h.node, 7);
	assert_int_equal(n, 6);
	lives(200 + HALF);
	assert_false(held());
	assert_int_equal(stage_count(&s, "log info flap: over: "), 7);
	stage_end(&s);
}

/* Exclusions and inclusions that are asked for at once come into one table. */
static void orders_given_at_once_share_one_table(void **state)
{
	const struct fm_order o = { .uid = 7, .since = 1700000000, .reason = "dust" };
	uint64_t version;

	(void)state;
	root();
	lives(100);
	version = fm_version(s.fm);
	assert_int_equal(fm_exclude_first(s.fm, 5, 0, true, &o, START + s.now), 0);
	assert_int_equal(fm_exclude_first(s.fm, 9, -1, true, NULL, START + s.now), 0);
	assert_int_equal(fm_version(s.fm), version);
	assert_int_equal(fm_exclude(s.fm, 7, 1, true, START + s.now), 0);
	assert_int_equal(fm_version(s.fm), version + 1);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "admin");
	assert_string_equal(fm_excluded(s.fm, 9, 1), "admin");
	assert_string_equal(fm_excluded(s.fm, 7, 1), "admin");
	assert_string_equal(fm_order(s.fm, 0)->reason, "dust");
	lives(200);
	assert_int_equal(fm_exclude_first(s.fm, 5, 0, false, NULL, START + s.now), 0);
	assert_int_equal(fm_exclude_first(s.fm, 99, 0, true, NULL, START + s.now), -EINVAL);
	/* If nothing follows after all, the table is made at the next moment. */
	lives(200.001);
	assert_int_equal(fm_version(s.fm), version + 2);
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_string_equal(fm_excluded(s.fm, 7, 1), "admin");
	stage_end(&s);
}

/* Any number of links is held, of ports of any dimension. */
static void any_number_of_links_can_be_held(void **state)
{
	struct fm_hold h;
	unsigned int n = 0;

	(void)state;
	root_of("4x4x2");
	stage_run_ns(&s, s.now + 100 * MS);
	for (uint32_t i = 1; i < 32; i++)
		for (unsigned int k = 0; k < LIMIT; k++) {
			row(i, 5, FM_PORT_FAULTY);
			row(i, 5, FM_PORT_UP);
		}
	while (fm_held(s.fm, n, START + s.now, &h)) {
		assert_int_equal(h.node, 1 + n);
		assert_int_equal(h.port, 5);
		n++;
	}
	stage_did_some(&s, "the link from 1,0,0:-z ('n1') to 1,0,1:+z ('n17') fails again");
	assert_int_equal(n, 31);
	stage_end(&s);
}

/* Only one end reports losses: the administrator may end the hold at the other end as well. */
static void administrator_may_end_hold_at_other_end(void **state)
{
	(void)state;
	root();
	lives(100);
	assert_false(fm_exclude_changes(s.fm, 6, 2, false, NULL));
	for (unsigned int k = 0; k < LIMIT; k++) {
		row(5, 0, FM_PORT_FAULTY);
		row(5, 0, FM_PORT_UP);
	}
	assert_true(held());
	assert_true(fm_exclude_changes(s.fm, 6, 2, false, NULL));
	assert_true(fm_exclude_changes(s.fm, 5, 0, false, NULL));
	assert_false(fm_exclude_changes(s.fm, 6, 0, false, NULL));
	assert_int_equal(fm_exclude(s.fm, 6, 2, false, START + s.now), 0);
	assert_false(held());
	assert_false(fm_exclude_changes(s.fm, 6, 2, false, NULL));
	stage_end(&s);
}

/* The far end reports another neighbour: the problem names the cable as far as it is known. */
static void held_cable_is_named_as_far_as_it_is_known(void **state)
{
	struct fm_msg m = { .type = FM_MSG_ROW };
	struct fm_hold h;

	(void)state;
	root();
	lives(100);
	m.row = (struct fm_row_msg) { .guid = NIC + 6, .epoch = 1, .row = stage_row(&s, 6) };
	m.row.row.serial = ++serial[6];
	m.row.row.port[2].peer_guid = NIC + 9;
	stage_msg(&s, 106, &m);
	for (unsigned int k = 0; k < LIMIT; k++) {
		row(5, 0, FM_PORT_FAULTY);
		row(5, 0, FM_PORT_UP);
	}
	assert_true(fm_held(s.fm, 0, START + s.now, &h));
	assert_int_equal(h.node, 5);
	assert_int_equal(h.peer, TORUS_NO_NODE);
	assert_int_equal(stage_count(&s, "log error flap: the link from 1,1:+x ('n5') to a node "
		"that "
				     "is not known fails again and again"), 1);
	stage_end(&s);
	/* A port that the fabric does not use has no direction. */
	root();
	lives(100);
	m.row.guid = NIC + 5;
	for (unsigned int k = 0; k < 2 * LIMIT; k++) {
		m.row.row = stage_row(&s, 5);
		m.row.row.serial = ++serial[5];
		m.row.row.nports = 6;
		m.row.row.port[4].state = k & 1 ? FM_PORT_FAULTY : FM_PORT_UP;
		stage_msg(&s, 105, &m);
	}
	stage_did_some(&s, "log error flap: the link from port 4 of 'n5' to a node that is not");
	stage_end(&s);
	/* A manager that is not a root knows of no holds. */
	stage_init(&s, "4x4", 5);
	stage_start(&s);
	assert_false(held());
	stage_end(&s);
}

/* --- links that are not held down -------------------------------------------------------- */

/* The three other cables of node 5, to 9, 4 and 1, go down at both ends. */
static void lose_others(void)
{
	struct fm_row r = stage_row(&s, 5);

	for (unsigned int p = 1; p < 4; p++) {
		static const uint32_t other[] = { 0, 9, 4, 1 };

		r.port[p].state = FM_PORT_FAULTY;
		r.port[p].session = serial[5] + 1;
		row(other[p], p == 2 ? 0 : 4 - p, FM_PORT_FAULTY);
	}
	reports_row(5, r);
}

/* Sets the state of the cable from 5 to 6, while the other links of node 5 are down. */
static void last_cable(enum fm_port_state is)
{
	struct fm_row r = fm_record(s.fm->root, NIC + 5)->row;

	r.port[0].state = (uint8_t)is;
	reports_row(5, r);
	row(6, 2, is);
}

/* A hold would cut a node off: its last link is used again as soon as it is up. */
static void last_link_of_node_is_not_held(void **state)
{
	(void)state;
	/* The others are lost before the link flaps. */
	root();
	lives(100);
	lose_others();
	lives(200);
	for (unsigned int k = 0; k < 2 * LIMIT; k++) {
		last_cable(FM_PORT_FAULTY);
		last_cable(FM_PORT_UP);
		assert_false(held());
	}
	assert_int_not_equal(stage_count(&s, "log error flap"), 0);
	lives(400);
	assert_null(fm_excluded(s.fm, 5, 0));
	stage_end(&s);
	/* The same if the others are lost while it is held. */
	root();
	lives(100);
	flaps(LIMIT);
	cable(FM_PORT_UP);
	lives(200);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
	lose_others();
	lives(400);
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_false(held());
	stage_end(&s);
}

/*
 * The other cables of the node are excluded by the administrator, each at its near or its far end:
 * its last link is used again, too, and not before the last of them is excluded.
 */
static void last_link_that_is_not_excluded_is_not_held(void **state)
{
	static const struct {
		uint32_t node;
		int port;
	} end[3][2] = { { { 5, 1 }, { 9, 3 } }, { { 5, 2 }, { 4, 0 } }, { { 5, 3 }, { 1, 1 } } };

	(void)state;
	for (unsigned int far = 0; far < 8; far++) {
		root();
		lives(100);
		flaps(LIMIT);
		cable(FM_PORT_UP);
		lives(200);
		for (unsigned int k = 0; k < 3; k++) {
			unsigned int e = far >> k & 1;

			assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
			assert_int_equal(fm_exclude(s.fm, end[k][e].node, end[k][e].port, true,
						    START + s.now), 0);
			lives(300 + 100 * k);
		}
		assert_false(held());
		assert_null(fm_excluded(s.fm, 5, 0));
		stage_end(&s);
	}
}

/*
 * A ring with a held cable loses another one, far from it: the held cable is used again, as it
 * joins the two parts.
 */
static void held_cable_that_joins_two_parts_is_used_again(void **state)
{
	(void)state;
	root_of("8x1");
	lives(100);
	flaps(LIMIT);
	cable(FM_PORT_UP);
	lives(200);
	assert_string_equal(fm_excluded(s.fm, 5, 0), "held");
	row(1, 0, FM_PORT_FAULTY);
	row(2, 2, FM_PORT_FAULTY);
	assert_true(held());
	lives(300);
	assert_false(held());
	assert_null(fm_excluded(s.fm, 5, 0));
	assert_string_equal(fm_excluded(s.fm, 1, 0), "fault");
	stage_end(&s);
}

/* The root stood still: losses that it learns of then do not count as flaps. */
static void losses_while_root_stood_still_do_not_count(void **state)
{
	(void)state;
	root();
	lives(100);
	s.now += 600 * MS;
	flaps(LIMIT);
	cable(FM_PORT_UP);
	assert_false(held());
	lives(700 + 4 * 600 + 100);
	flaps(LIMIT - 1);
	assert_false(held());
	cable(FM_PORT_UP);
	flaps(1);
	assert_true(held());
	stage_end(&s);
}

/* --- disputes --------------------------------------------------------------------------- */

#define DISPUTE "1,1:+x ('n5') reports that its link is up, and 2,1:-x ('n6') that it is down: " \
		"nothing is sent over it"

/* The ends differ for a moment at each change: only a lasting difference is reported. */
static void only_lasting_dispute_is_reported(void **state)
{
	uint64_t from;

	(void)state;
	for (unsigned int other = 0; other < 2; other++) {
		root();
		lives(100);
		stage_forget(&s);
		from = s.now;
		row(other ? 5 : 6, other ? 0 : 2, FM_PORT_FAULTY);
		lives_ns(from + 1999 * MS);
		assert_int_equal(stage_count(&s, "dispute"), 0);
		assert_string_equal(fm_excluded(s.fm, 5, 0), "fault");
		lives_ns(from + 2001 * MS);
		assert_int_equal(stage_count(&s, other ?
				 "log error dispute: 2,1:-x ('n6') reports that its link is up, "
				 "and "
				 "1,1:+x ('n5') that it is down: nothing is sent over it\n" :
				 "log error dispute: " DISPUTE "\n"), 1);
		/* The difference lasts. */
		lives_ns(from + 9000 * MS);
		assert_int_equal(stage_count(&s, "dispute"), 1);
		stage_forget(&s);
		/* The ends agree: it is over at the next check. */
		row(other ? 5 : 6, other ? 0 : 2, FM_PORT_UP);
		lives_ns(from + 11000 * MS);
		assert_int_equal(stage_count(&s, "log info dispute: over: "), 1);
		stage_end(&s);
	}
	/* If it ends before the second check, it is not reported. */
	root();
	lives(100);
	row(6, 2, FM_PORT_FAULTY);
	lives(1900);
	row(5, 0, FM_PORT_FAULTY);
	lives(9000);
	assert_int_equal(stage_count(&s, "dispute"), 0);
	/* Both ends are up again, one of them a bit later. */
	row(6, 2, FM_PORT_UP);
	lives(9005);
	row(5, 0, FM_PORT_UP);
	lives(15000);
	assert_int_equal(stage_count(&s, "dispute"), 0);
	stage_end(&s);
}

/*
 * More cables are disputed than are remembered: those that are disputed at two checks are reported,
 * and their ends.
 */
static void more_disputes_than_remembered_are_reported(void **state)
{
	uint64_t from;

	(void)state;
	root_of("12x12");
	lives(100);
	stage_forget(&s);
	from = s.now;
	row(12, 0, FM_PORT_FAULTY);
	row(12, 2, FM_PORT_FAULTY);	/* the row changes again: the hold is remembered once */
	for (uint32_t i = 14; i < nodes; i += 2)
		row(i, 0, FM_PORT_FAULTY);
	lives_ns(from + 1999 * MS);
	assert_int_equal(stage_count(&s, "dispute"), 0);
	lives_ns(from + 2001 * MS);
	assert_int_equal(stage_count(&s, "log error dispute: "), FM_SUSPECTS);
	for (uint32_t i = 12; i < nodes; i += 2)
		row(i, 0, FM_PORT_UP);
	lives_ns(from + 5000 * MS);
	assert_int_equal(stage_count(&s, "log info dispute: over: "), FM_SUSPECTS);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/*
 * A disputed cable of the root itself, for which there was no room at first, is reported once there
 * is.
 */
static void dispute_without_room_is_reported_once_there_is(void **state)
{
	uint64_t from;

	(void)state;
	root_of("12x12");
	lives(100);
	stage_forget(&s);
	from = s.now;
	for (uint32_t i = 0; i < FM_SUSPECTS; i++)
		row(2 + 2 * i, 0, FM_PORT_FAULTY);
	row(132, 1, FM_PORT_FAULTY);
	row(2, 0, FM_PORT_UP);
	lives_ns(from + 2001 * MS);
	assert_int_equal(stage_count(&s, "log error dispute: "), FM_SUSPECTS);
	assert_int_equal(stage_count(&s,
				     "log error dispute: 0,0:-y ('n0') reports that its link is "
				 "up, and 0,11:+y ('n132') that it is down"), 1);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(link_is_held_at_limit_and_not_before),
		cmocka_unit_test(penalty_halves_each_half_life),
		cmocka_unit_test(hold_lasts_until_penalty_is_half_of_limit),
		cmocka_unit_test(hold_ends_hold_max_after_last_loss),
		cmocka_unit_test(link_still_down_after_hold_is_faulty),
		cmocka_unit_test(limit_0_holds_no_link),
		cmocka_unit_test(include_ends_hold_at_either_end),
		cmocka_unit_test(end_of_term_ends_hold),
		cmocka_unit_test(administrator_may_end_hold_at_other_end),
		cmocka_unit_test(several_held_links_return_one_by_one),
		cmocka_unit_test(orders_given_at_once_share_one_table),
		cmocka_unit_test(any_number_of_links_can_be_held),
		cmocka_unit_test(held_cable_is_named_as_far_as_it_is_known),
		cmocka_unit_test(last_link_of_node_is_not_held),
		cmocka_unit_test(last_link_that_is_not_excluded_is_not_held),
		cmocka_unit_test(held_cable_that_joins_two_parts_is_used_again),
		cmocka_unit_test(losses_while_root_stood_still_do_not_count),
		cmocka_unit_test(only_lasting_dispute_is_reported),
		cmocka_unit_test(more_disputes_than_remembered_are_reported),
		cmocka_unit_test(dispute_without_room_is_reported_once_there_is),
	};

	return cmocka_run_group_tests_name("fm_damp", all, NULL, NULL);
}
