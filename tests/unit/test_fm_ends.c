// SPDX-License-Identifier: GPL-2.0-only
/*
 * A discovered fabric of two lines of three nodes, which are open, or rings. A node at the end of one
 * dies, and a new one is cabled to the far side of the other end: in a ring it comes to the place of
 * the dead one, but the ends of a line are not joined, so it has no place. Where the dead one was
 * cabled a new one takes its place, also if the root, which is at 0, was in the middle of its line.
 */
#include "stage_root.h"

#define NEW 9

static struct fm_row rows[6];

/* Nodes 0 to 2 are the first line, in +x, and 3 to 5 the second one. */
static void six(bool ring)
{
	stage_init(&s, "3x2", 0);
	s.cfg.shape.ndims = 0;
	s.deaf = "init ping pong report lost rows place release ";
	for (uint32_t i = 0; i < 6; i++) {
		rows[i] = stage_row(&s, i);
		if (!ring && i % 3 == 0)
			rows[i].port[2] = (struct fm_port_row) { .state = FM_PORT_DOWN };
		if (!ring && i % 3 == 2)
			rows[i].port[0] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	}
	for (unsigned int p = 0; p < 4; p++)
		if (rows[0].port[p].state == FM_PORT_UP)
			stage_link_up(&s, p, 1);
	stage_start(&s);
	for (uint32_t i = 1; i < 6; i++) {
		struct fm_msg m = hello(i);

		m.hello.row = rows[i];
		joins(&m);
	}
	stage_run_ns(&s, s.now + 600 * MS);
	settle(6);
	assert_int_equal(fm_version(s.fm), 1);
	assert_memory_equal(fm_shape(s.fm)->size, s.shape.size, sizeof(s.shape.size));
	assert_int_equal(stage_count(&s, " open 1"), ring ? 0 : 5);
}

static void reports_row(uint32_t i, unsigned int p, struct fm_port_row port)
{
	if (!i) {
		s.link[p].state = port.state == FM_PORT_UP ? TORUS_LINK_UP : TORUS_LINK_DOWN;
		s.link[p].peer_guid = port.peer_guid;
		s.link[p].peer_port = port.peer_port;
		stage_report_link(&s, p);
		return;
	}
	rows[i].serial++;
	rows[i].port[p] = port;
	row(i, &rows[i]);
}

/* Lets time pass, during which all nodes execute the orders that they receive. */
static void passes(void)
{
	for (unsigned int k = 0; k < 4; k++) {
		settle(6);
		stage_run_ns(&s, s.now + 50 * MS);
	}
}

static void dies(uint32_t node)
{
	for (unsigned int p = 0; p < 4; p++) {
		uint32_t o = torus_neighbour(&s.shape, node, p);
		struct fm_port_row its = rows[o].port[(p + 2) % 4];

		if (rows[node].port[p].state != FM_PORT_UP)
			continue;
		its.state = FM_PORT_FAULTY;
		reports_row(o, (p + 2) % 4, its);
	}
	stage_down(&s, 100 + (int)node);
	passes();
	assert_int_equal(fm_node(s.fm, node)->state, FM_NODE_DEAD);
}

/* The new node is cabled to port @p of @other. */
static void comes_beside(uint32_t other, unsigned int p)
{
	unsigned int q = (p + 2) % 4;
	struct fm_msg m = hello(NEW);

	reports_row(other, p, (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + NEW,
						  .peer_port = (uint8_t)q });
	m.hello.row = (struct fm_row) { .serial = 1, .nports = 4 };
	m.hello.row.port[q] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + other,
						     .peer_port = (uint8_t)p };
	joins(&m);
	passes();
}

static void new_node_replaces_dead_one_in_ring_only(void **state)
{
	static const struct {
		uint32_t dead, other;
		unsigned int port;
	} t[] = { { 2, 0, 2 }, { 3, 5, 0 }, { 5, 3, 2 } };

	(void)state;
	for (unsigned int ring = 0; ring < 2; ring++)
		for (unsigned int k = 0; k < 3; k++) {
			six(ring);
			dies(t[k].dead);
			comes_beside(t[k].other, t[k].port);
			assert_int_equal(fm_node(s.fm, t[k].dead)->guid,
					 NIC + (ring ? NEW : t[k].dead));
			stage_end(&s);
		}
}

/* A new node is cabled to the neighbour of a dead node, and takes the place of the dead node. */
static void new_node_takes_place_of_dead_one(void **state)
{
	(void)state;
	for (unsigned int ring = 0; ring < 2; ring++) {
		six(ring);
		dies(2);
		comes_beside(1, 0);
		assert_int_equal(fm_node(s.fm, 2)->guid, NIC + NEW);
		stage_end(&s);
		six(ring);
		dies(3);
		comes_beside(4, 2);
		assert_int_equal(fm_node(s.fm, 3)->guid, NIC + NEW);
		stage_end(&s);
	}
}

/*
 * The root is in the middle of a line of three: it is at 0, and 1 and 2 are beside it. Either is
 * replaced by a new node. Node 2, beside 0, was once taken for an end of the line, so that its
 * successor was refused the place.
 */
static void new_node_beside_root_takes_place_of_dead_one(void **state)
{
	(void)state;
	for (unsigned int dead = 1; dead < 3; dead++) {
		unsigned int port = dead == 1 ? 0 : 2;

		stage_init(&s, "3x1", 0);
		s.cfg.shape.ndims = 0;
		s.deaf = "init ping pong report lost rows place release ";
		stage_link_up(&s, 0, 1);
		stage_link_up(&s, 2, 1);
		stage_start(&s);
		for (uint32_t i = 1; i < 3; i++) {
			struct fm_msg m = hello(i);

			rows[i] = m.hello.row;
			rows[i].port[i == 1 ? 0 :
				     2] = (struct fm_port_row) { .state = FM_PORT_DOWN };
			m.hello.row = rows[i];
			joins(&m);
		}
		stage_run_ns(&s, s.now + 600 * MS);
		settle(3);
		assert_int_equal(fm_shape(s.fm)->size[0], 3);
		assert_int_equal(stage_count(&s, " open 1"), 2);
		stage_run_ns(&s, s.now + 100 * MS);
		stage_link_lost(&s, port, 1);
		stage_down(&s, 100 + (int)dead);
		passes();
		assert_int_equal(fm_node(s.fm, dead)->state, FM_NODE_DEAD);
		comes_beside(0, port);
		assert_int_equal(fm_node(s.fm, dead)->guid, NIC + NEW);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(new_node_replaces_dead_one_in_ring_only),
		cmocka_unit_test(new_node_takes_place_of_dead_one),
		cmocka_unit_test(new_node_beside_root_takes_place_of_dead_one),
	};

	return cmocka_run_group_tests_name("fm_ends", all, NULL, NULL);
}
