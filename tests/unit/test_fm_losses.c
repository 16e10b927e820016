// SPDX-License-Identifier: GPL-2.0-only
/*
 * Losses of a link as the root counts them: a single one holds the link down here. And the holds
 * that it reports: those of the fabric's own ports, each cable once.
 */
#include "stage_root.h"

/* Begins with the root of a ring of four in that shape. Each loss of a link holds it down. */
static void begins(const char *shape, unsigned int limit)
{
	struct fm_row mine;

	stage_init(&s, shape, 0);
	s.cfg.flap_limit = limit;
	s.deaf = "init ping pong report lost rows place release ";
	mine = stage_row(&s, 0);
	for (unsigned int p = 0; p < mine.nports; p++)
		if (mine.port[p].state == FM_PORT_UP)
			stage_link_up(&s, p, 1);
	stage_start(&s);
}

static void all_join(void)
{
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	settle(4);
	stage_run_ns(&s, s.now + 100 * MS);
}

static void ring_of(const char *shape, unsigned int limit)
{
	begins(shape, limit);
	all_join();
}

/* Return: how many cables are held down. */
static unsigned int holds(void)
{
	struct fm_hold h;
	unsigned int n = 0;

	while (fm_held(s.fm, n, START + s.now, &h))
		n++;
	return n;
}

/* --- what is a loss ------------------------------------------------------------------------- */

/* The port of node 1 to node 2 becomes @is, and was @was before. Return: true if that is a loss. */
static bool is_loss(struct fm_port_row was, struct fm_port_row is)
{
	struct fm_msg m;
	bool held;

	begins("4x1", 1);
	m = hello(1);
	m.hello.row.port[0] = was;
	joins(&m);
	join(2);
	join(3);
	settle(4);
	assert_int_equal(holds(), 0);
	m.hello.row.port[0] = is;
	m.hello.row.port[0].closed = true;
	m.hello.row.serial = 2;
	row(1, &m.hello.row);
	held = holds() == 1;
	assert_int_equal(holds(), held);
	stage_end(&s);
	return held;
}

static void only_end_of_link_that_was_up_is_loss(void **state)
{
	static const struct fm_port_row up = {
		.state = FM_PORT_UP, .peer_guid = NIC + 2, .peer_port = 2,
	};
	struct fm_port_row other = up, port = up, both = up, unknown = { .state = FM_PORT_UP };
	struct fm_port_row stranger = up, old = up, down = { .state = FM_PORT_DOWN };
	struct fm_port_row faulty = { .state = FM_PORT_FAULTY };

	(void)state;
	other.peer_guid = NIC + 9;
	port.peer_port = 3;
	both.peer_guid = NIC + 9;
	both.peer_port = 3;
	stranger.problem = FM_PROBLEM_FABRIC;
	old.problem = FM_PROBLEM_VERSION;
	/* The link ends. */
	assert_true(is_loss(up, down));
	assert_true(is_loss(up, faulty));
	assert_true(is_loss(stranger, faulty));
	/* There is another neighbour at a link that stays up, or another port of the same. */
	assert_true(is_loss(up, other));
	assert_true(is_loss(up, port));
	assert_true(is_loss(up, both));
	assert_true(is_loss(up, unknown));
	/* The cable turns out to be wrong, or wrong in another way. */
	assert_true(is_loss(up, stranger));
	assert_true(is_loss(stranger, old));
	/* The cable is as it was, or becomes right; or the neighbour is known at last. */
	assert_false(is_loss(up, up));
	assert_false(is_loss(stranger, stranger));
	assert_false(is_loss(stranger, up));
	assert_false(is_loss(unknown, up));
	assert_false(is_loss(unknown, unknown));
	/* A link that was not up is not lost. */
	assert_false(is_loss(down, up));
	assert_false(is_loss(faulty, down));
	assert_false(is_loss(down, stranger));
}

/* With a limit of 0 nothing is held down. */
static void limit_0_holds_no_link(void **state)
{
	struct fm_row r;

	(void)state;
	ring_of("4x1", 0);
	for (uint32_t k = 0; k < 8; k++) {
		r = stage_row(&s, 1);
		r.serial = 2 + k;
		r.port[0].state = k % 2 ? FM_PORT_UP : FM_PORT_FAULTY;
		row(1, &r);
		settle(4);
	}
	assert_int_equal(holds(), 0);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* --- which are told ------------------------------------------------------------------------------ */

/*
 * Both ends of the cable from 1 to 2 are lost. @port: where it ends at node 2, by the row of node
 * 1.
 */
static void cable_lost(unsigned int port, uint64_t peer, uint32_t serial)
{
	struct fm_row r = stage_row(&s, 1);

	r.serial = serial;
	r.port[0].peer_port = (uint8_t)port;
	r.port[0].peer_guid = peer;
	row(1, &r);
	settle(4);
	r.serial++;
	r.port[0].state = FM_PORT_FAULTY;
	row(1, &r);
	r = stage_row(&s, 2);
	r.serial = serial;
	r.port[2].state = FM_PORT_FAULTY;
	row(2, &r);
	settle(4);
}

/*
 * A held cable is reported once if both ends name the same cable; otherwise each end is reported,
 * without the other.
 */
static void held_cable_is_reported_once_if_ends_agree(void **state)
{
	static const unsigned int port[] = { 3, 4, 2, 2 };
	static const uint64_t peer[] = { NIC + 2, NIC + 2, NIC + 3, NIC + 1 };
	struct fm_hold h;

	(void)state;
	ring_of("4x1", 1);
	cable_lost(2, NIC + 2, 2);
	assert_int_equal(holds(), 1);
	assert_true(fm_held(s.fm, 0, START + s.now, &h));
	assert_int_equal(h.node, 1);
	assert_int_equal(h.port, 0);
	assert_int_equal(h.peer, 2);
	assert_int_equal(h.peer_port, 2);
	assert_int_equal(fm_node(s.fm, 1)->held, 1);
	assert_int_equal(fm_node(s.fm, 2)->held, 4);
	stage_end(&s);
	for (unsigned int k = 0; k < 4; k++) {
		ring_of("4x1", 1);
		cable_lost(port[k], peer[k], 2);
		assert_int_equal(holds(), 2);
		for (unsigned int i = 0; i < 2; i++) {
			assert_true(fm_held(s.fm, i, START + s.now, &h));
			assert_int_equal(h.peer, TORUS_NO_NODE);
		}
		stage_end(&s);
	}
}

/*
 * A port that the fabric does not use may be lost any number of times: no table is made for that.
 */
static void lost_spare_port_makes_no_table(void **state)
{
	struct fm_row r;

	(void)state;
	begins("4x1", 1);
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = hello(i);

		m.hello.row.nports = 6;
		m.hello.row.port[4] = (struct fm_port_row) { .state = FM_PORT_UP };
		m.hello.row.port[5] = (struct fm_port_row) { .state = FM_PORT_UP };
		joins(&m);
	}
	settle(4);
	r = stage_row(&s, 1);
	r.serial = 2;
	r.nports = 6;
	row(1, &r);
	settle(4);
	assert_int_equal(holds(), 0);
	assert_int_equal(fm_node(s.fm, 1)->held, 0);
	assert_int_equal(fm_node(s.fm, 1)->fault, 1 << 1 | 1 << 3);
	/*
	 * A port that the fabric uses is lost as well: that is reported, and the table has that
	 * alone.
	 */
	r.serial = 3;
	r.port[0].state = FM_PORT_FAULTY;
	row(1, &r);
	settle(4);
	assert_int_equal(holds(), 1);
	assert_int_equal(fm_node(s.fm, 1)->held, 1);
	stage_end(&s);
}

/*
 * The last port of a fabric of three dimensions can be held, is reported, and can be included by
 * order.
 */
static void last_port_of_three_dimensions_can_be_held(void **state)
{
	struct fm_hold h;
	struct fm_row r;

	(void)state;
	ring_of("1x1x4", 1);
	r = stage_row(&s, 2);
	r.serial = 2;
	r.port[5].state = FM_PORT_FAULTY;
	row(2, &r);
	settle(4);
	assert_int_equal(holds(), 1);
	assert_true(fm_held(s.fm, 0, START + s.now, &h));
	assert_int_equal(h.node, 2);
	assert_int_equal(h.port, 5);
	assert_int_equal(fm_node(s.fm, 2)->held, 1 << 5);
	assert_string_equal(fm_excluded(s.fm, 2, 5), "held");
	r.serial = 3;
	r.port[5].state = FM_PORT_UP;
	row(2, &r);
	settle(4);
	assert_string_equal(fm_excluded(s.fm, 2, 5), "held");
	assert_int_equal(fm_exclude(s.fm, 2, 5, false, START + s.now), 0);
	settle(4);
	assert_int_equal(holds(), 0);
	assert_null(fm_excluded(s.fm, 2, 5));
	stage_end(&s);
}

/*
 * A change of a held port alone needs no table. A table is needed as soon as another port changes,
 * too, or the node has more ports.
 */
static void change_of_held_port_alone_makes_no_table(void **state)
{
	struct fm_row r;
	uint64_t version;

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		ring_of("4x1", 1);
		cable_lost(2, NIC + 2, 2);
		stage_run_ns(&s, s.now + 100 * MS);
		settle(4);
		version = fm_version(s.fm);
		r = stage_row(&s, 1);
		r.serial = 9;
		if (k == 1)
			r.port[2].closed = true;
		if (k == 2)
			r.port[1].state = FM_PORT_FAULTY;
		if (k == 3) {
			r.nports = 5;
			r.port[0].state = FM_PORT_FAULTY;
		}
		row(1, &r);
		stage_run_ns(&s, s.now + 20 * MS);
		assert_int_equal(fm_version(s.fm), version + (k > 0));
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_end_of_link_that_was_up_is_loss),
		cmocka_unit_test(limit_0_holds_no_link),
		cmocka_unit_test(held_cable_is_reported_once_if_ends_agree),
		cmocka_unit_test(lost_spare_port_makes_no_table),
		cmocka_unit_test(last_port_of_three_dimensions_can_be_held),
		cmocka_unit_test(change_of_held_port_alone_makes_no_table),
	};

	return cmocka_run_group_tests_name("fm_losses", all, NULL, NULL);
}
