// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes 3 and 4 of a ring are judged dead together. Their problems end with that. Node 3 comes back,
 * and its row decides if the NIC of 4 works on.
 */
#include "daemon/fm/node/machine.h"
#include "stage_root.h"

static struct fm_row row3, row4;	/* the last rows before they are lost */

static void ring_of_8(void)
{
	root("8x1");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
	row3 = stage_row(&s, 3);
	row4 = stage_row(&s, 4);
	row3.serial = row4.serial = 2;
	row3.port[0].session = 5;
}

/* Nodes 2 and 5 have lost their links to the pair, and its connections end. */
static void pair_dies(void)
{
	row(3, &row3);
	row(4, &row4);
	settle(8);
	stage_run_ns(&s, s.now + 100 * MS);
	for (uint32_t i = 2; i < 6; i += 3) {
		struct fm_row r = stage_row(&s, i);

		r.serial = 2;
		r.port[i == 2 ? 0 : 2].state = FM_PORT_FAULTY;
		row(i, &r);
	}
	stage_down(&s, 103);
	stage_down(&s, 104);
	settle(8);
	stage_run_ns(&s, s.now + 600 * MS);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(s.fm, 4)->state, FM_NODE_DEAD);
	stage_forget(&s);
}

/* Return: how many problems have @text in their texts. */
static unsigned int count_problems(const char *text)
{
	unsigned int n = 0;

	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		n += strstr(fm_problem(s.fm, i)->text, text) != NULL;
	return n;
}

/* Node 3 says HELLO with that row. Return: the state of 4 then. */
static int back(struct fm_row r)
{
	struct fm_msg m = hello(3);
	int is;

	m.hello.attach = 2;
	m.hello.row = r;
	m.hello.row.serial = 3;
	joins(&m);
	settle(8);
	is = fm_node(s.fm, 4)->state;
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(count_problems("node 4,0 ('n4') is silent: its NIC works on"),
			 is == FM_NODE_SILENT);
	assert_int_equal(count_problems("node 4,0 ('n4') is dead"), is == FM_NODE_DEAD);
	stage_end(&s);
	return is;
}

/* The link is the same as before, and node 4 had it up, too: its NIC works on. */
static void node_back_with_same_link_is_silent(void **state)
{
	(void)state;
	ring_of_8();
	pair_dies();
	assert_int_equal(back(row3), FM_NODE_SILENT);
	/* The port of node 3 may be any, also the first and the last. */
	for (unsigned int p = 0; p < 4; p++) {
		ring_of_8();
		row3.port[p] = row3.port[0];
		row3.port[p].peer_port = 1;
		row4.port[1] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 3,
						      .peer_port = (uint8_t)p };
		if (p)
			row3.port[0] = (struct fm_port_row) { .state = FM_PORT_DOWN };
		pair_dies();
		assert_int_equal(back(row3), FM_NODE_SILENT);
	}
}

/*
 * A pair of nodes that come back with one link that is not the same are not proved to be the same.
 */
static void node_back_with_another_link_stays_dead(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		struct fm_row now;

		ring_of_8();
		if (k == 0)
			row3.port[0].state = FM_PORT_DOWN;
		if (k == 1)
			row3.port[0].peer_guid = NIC + 6;
		if (k == 2)
			row4.port[2].state = FM_PORT_DOWN;
		pair_dies();
		now = row3;
		now.port[0].state = FM_PORT_UP;
		now.port[0].peer_guid = NIC + 4;
		if (k == 3)
			now.port[0].state = FM_PORT_DOWN;
		if (k == 4)
			now.port[0].session = 6;
		if (k == 5)
			now.port[0].peer_port = TORUS_MAX_PORTS - 1;
		if (k == 6)
			now.port[0].peer_guid = NIC + 20;
		if (k == 7)
			now.port[0].peer_guid = 0;
		assert_int_equal(back(now), FM_NODE_DEAD);
	}
}

/*
 * A link after the last port of a node's row is not proof: neither of the row before its death, nor
 * of its row now.
 */
static void link_after_last_port_proves_nothing(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		struct fm_row now;

		ring_of_8();
		row3.port[0].state = FM_PORT_DOWN;
		row3.nports = k == 1 ? 5 : 4;
		row3.port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 4,
						      .peer_port = 1 };
		row4.port[1] = (struct fm_port_row) { .state = FM_PORT_UP };
		row4.port[4] = (struct fm_port_row) { .state = FM_PORT_UP };
		if (k == 2) {	/* the port after the last one of node 4 vouches for none either */
			row3.port[0].state = FM_PORT_UP;
			row3.port[0].peer_port = 4;
		}
		pair_dies();
		now = row3;
		now.nports = k == 0 ? 5 : 4;
		assert_int_equal(back(now), FM_NODE_DEAD);
	}
}

/*
 * A cable from a node to itself proves nothing about it; the state of a node that is not dead
 * stays.
 */
static void cable_to_itself_proves_nothing(void **state)
{
	struct fm_row now;

	(void)state;
	ring_of_8();
	for (unsigned int p = 1; p < 4; p += 2)
		row3.port[p] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 3,
						      .peer_port = (uint8_t)(4 - p) };
	pair_dies();
	now = row3;
	now.port[0].state = FM_PORT_DOWN;
	now.port[2].state = FM_PORT_UP;	/* the link to node 2, which is up */
	assert_int_equal(back(now), FM_NODE_DEAD);
}

/* Both ends of the pair come back, in either order: each is up, and no problem stands. */
static void both_ends_of_dead_pair_come_back_up(void **state)
{
	struct fm_msg m;

	(void)state;
	ring_of_8();
	pair_dies();
	m = hello(3);
	m.hello.attach = 2;
	m.hello.row = row3;
	m.hello.row.serial = 3;
	joins(&m);
	m = hello(4);
	m.hello.attach = 2;
	m.hello.row = row4;
	m.hello.row.serial = 3;
	joins(&m);
	settle(8);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 4)->state, FM_NODE_UP);
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		assert_string_not_equal(fm_problem(s.fm, i)->kind, "node");
	stage_end(&s);
}

/* Return: true if a problem of that kind stands. */
static bool stands(const char *kind)
{
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		if (!strcmp(fm_problem(s.fm, i)->kind, kind))
			return true;
	return false;
}

/* The problems of a node end with it: as a relay it is no worse than others once it is dead. */
static void relay_problem_ends_when_node_dies(void **state)
{
	struct fm_msg m;

	(void)state;
	ring_of_8();
	m = hello(3);
	m.hello.attach = 2;
	m.hello.relay_packets = 7;
	m.hello.row.serial = 2;
	s.fm->relay_packets = 9;
	joins(&m);
	assert_true(stands("relay"));
	row3.serial = 3;
	pair_dies();
	assert_false(stands("relay"));
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_back_with_same_link_is_silent),
		cmocka_unit_test(node_back_with_another_link_stays_dead),
		cmocka_unit_test(link_after_last_port_proves_nothing),
		cmocka_unit_test(cable_to_itself_proves_nothing),
		cmocka_unit_test(both_ends_of_dead_pair_come_back_up),
		cmocka_unit_test(relay_problem_ends_when_node_dies),
	};

	return cmocka_run_group_tests_name("fm_dead_pair", all, NULL, NULL);
}
