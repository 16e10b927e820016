// SPDX-License-Identifier: GPL-2.0-only
/*
 * By which nodes a discovered shape can grow, and to which sizes: random fabrics that grow along one
 * dimension, compared with a search in true coordinates; and cables by which no shape can grow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <torus/topology.h>

#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/extend.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "tests/unit/idle_ops.h"
#include "tests/unit/memory.h"
#include "tests/unit/random.h"

#define NODES 128

static struct fm *fm;
static struct torus_shape whole;	/* the fabric, if all nodes of it were there */
static unsigned int closed;		/* mask of dimensions whose ends are joined */
static bool is_there[NODES];
static uint32_t first;			/* the root, whose place is that of any node */
static struct torus_shape found;
static uint8_t open;

static struct fm_record *record(uint32_t node)
{
	return fm_record(fm->root, node + 1);
}

/* Return: the node at the other end of port @p of @node in the whole fabric, or NODES. */
static uint32_t beside(uint32_t node, unsigned int p)
{
	unsigned int d = p % whole.ndims;
	struct torus_coords at;

	torus_node_coords(&whole, node, &at);
	if (whole.size[d] == 1 ||
	    (!(closed & 1u << d) && at.c[d] == (p < whole.ndims ? whole.size[d] - 1 : 0)))
		return NODES;
	return torus_neighbour(&whole, node, p);
}

static bool has(const struct torus_shape *shape, uint32_t node)
{
	struct torus_coords at;

	torus_node_coords(&whole, node, &at);
	for (unsigned int d = 0; d < whole.ndims; d++)
		if (at.c[d] >= shape->size[d])
			return false;
	return true;
}

/* Makes a root with all nodes that are there; those in @old have their places. */
static void fabric(const struct torus_shape *old)
{
	const struct fm_ops ops = idle_ops();
	struct torus_device dev = { .guid = first + 1, .nports = TORUS_MAX_PORTS, .bootstrap = true };
	struct torus_link links[TORUS_MAX_PORTS] = { 0 };
	struct fm_config c;

	fm_config_default(&c);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		links[p].port = (uint8_t)p;
	fm = fm_new(&c, &ops, NULL, &dev, links, NULL, NULL, 0);
	assert_non_null(fm);
	fm->table.shape = *old;
	for (uint32_t i = 0; i < torus_nodes(&whole); i++) {
		struct fm_record *m;

		if (!is_there[i])
			continue;
		m = i == first ? record(i) : fm_record_add(fm->root, i + 1);
		m->row = (struct fm_row) { .nports = (uint8_t)(2 * whole.ndims) };
		for (unsigned int p = 0; p < m->row.nports; p++) {
			uint32_t o = beside(i, p);

			if (o != NODES && is_there[o])
				m->row.port[p] = (struct fm_port_row) {
					.state = FM_PORT_UP, .peer_guid = o + 1,
					.peer_port = (uint8_t)torus_dir_opposite(&whole, p),
				};
		}
		if (has(old, i)) {
			struct torus_coords at;

			torus_node_coords(&whole, i, &at);
			m->node = torus_node_id(old, &at);
		}
	}
}

static bool extends(void)
{
	memset(&found, 0xee, sizeof(found));
	return fm_extend(fm, &found, &open);
}

/* --- along one dimension ---------------------------------------------------------------------- */

/* Adds the nodes that cables join to those of @old, without going round dimension @d. */
static void joined(const struct torus_shape *old, unsigned int d, bool known[NODES])
{
	bool more = true;

	for (uint32_t i = 0; i < torus_nodes(&whole); i++)
		known[i] = has(old, i);
	while (more) {
		more = false;
		for (uint32_t i = 0; i < torus_nodes(&whole); i++)
			for (unsigned int p = 0; known[i] && p < 2u * whole.ndims; p++) {
				uint32_t o = beside(i, p);
				struct torus_coords a, b;

				if (o == NODES || !is_there[o] || known[o] ||
				    record(o)->state == FM_NODE_DEAD)
					continue;
				torus_node_coords(&whole, i, &a);
				torus_node_coords(&whole, o, &b);
				if (abs(a.c[d] - b.c[d]) > 1 ||
				    (p % whole.ndims == d && whole.size[d] == 2 && p >= whole.ndims))
					continue;
				known[o] = more = true;
			}
	}
}

/* Finds how far the known nodes reach along @d, and if a cable leads from the last to the first. */
static uint16_t reach(const bool known[NODES], const struct torus_shape *old, unsigned int d,
		      bool *round)
{
	uint16_t wide = old->size[d];

	*round = false;
	for (uint32_t i = 0; i < torus_nodes(&whole); i++) {
		struct torus_coords at;

		if (!known[i])
			continue;
		torus_node_coords(&whole, i, &at);
		if (at.c[d] >= wide)
			wide = (uint16_t)(at.c[d] + 1);
		*round |= closed & 1u << d && at.c[d] == whole.size[d] - 1 && !has(old, i);
	}
	return wide;
}

static void random_fabric_grows_exactly_as_model(void **state)
{
	uint64_t seed = random_seed(1), random = seed;
	unsigned int grew = 0, went_round = 0, not = 0;

	(void)state;
	for (unsigned int k = 0; k < 1500; k++) {
		unsigned int d, missing = random_below(&random, 8);
		bool known[NODES], round;
		struct torus_shape old;
		uint8_t before;
		uint16_t wide;

		whole = (struct torus_shape) { .ndims = (uint8_t)(1 + random_below(&random, 3)) };
		for (unsigned int e = 0; e < TORUS_MAX_DIMS; e++)
			whole.size[e] = (uint16_t)(e < whole.ndims ? 1 + random_below(&random, 5) : 1);
		d = random_below(&random, whole.ndims);
		closed = random_below(&random, 8);
		old = whole;
		old.size[d] = (uint16_t)(1 + random_below(&random, whole.size[d]));
		for (uint32_t i = 0; i < torus_nodes(&whole); i++)
			is_there[i] = has(&old, i) || random_below(&random, 8) >= missing;
		do
			first = random_below(&random, torus_nodes(&whole));
		while (!has(&old, first));
		fabric(&old);
		before = fm->root->open = (uint8_t)random_below(&random, 1u << whole.ndims);
		for (uint32_t i = 0; i < torus_nodes(&whole); i++)
			if (is_there[i] && !has(&old, i) && !random_below(&random, 30))
				record(i)->state = FM_NODE_DEAD;
		joined(&old, d, known);
		wide = reach(known, &old, d, &round);
		if (wide == old.size[d]) {
			assert_false(extends());
			not++;
		} else {
			assert_true(extends());
			old.size[d] = round ? whole.size[d] : wide;
			assert_memory_equal(found.size, old.size, sizeof(old.size));
			if (round)
				assert_int_equal(open, before & ~(1u << d));
			else
				assert_int_equal(open, before | 1u << d);
			went_round += round;
			grew++;
		}
		fm_free(fm);
	}
	assert_true(grew > 300 && went_round > 50 && not > 300);
}

/* --- by which no shape can grow --------------------------------------------------------------- */

/* Makes a fabric of @large, of which the nodes of @old have places. */
static void part_of(const char *large, const char *small)
{
	struct torus_shape old;

	assert_int_equal(torus_shape_parse(large, &whole), 0);
	assert_int_equal(torus_shape_parse(small, &old), 0);
	closed = 3;
	first = 0;
	for (uint32_t i = 0; i < torus_nodes(&whole); i++)
		is_there[i] = true;
	fabric(&old);
}

/* Makes a fabric of 4x3, of which the first two columns have places. */
static void columns(void)
{
	part_of("4x3", "2x3");
}

/* The cable at @port of @from, as that node reports it, leads to @to. */
static void plug(uint32_t from, unsigned int port, uint32_t to)
{
	record(from)->row.port[port] = (struct fm_port_row) {
		.state = FM_PORT_UP, .peer_guid = to + 1,
		.peer_port = (uint8_t)torus_dir_opposite(&whole, port),
	};
}

static void fabric_with_new_columns_grows_to_whole(void **state)
{
	(void)state;
	columns();
	assert_true(extends());
	assert_memory_equal(found.size, whole.size, sizeof(whole.size));
	fm_free(fm);
}

/* Nothing grows without memory for the search. */
static void fabric_does_not_grow_without_memory(void **state)
{
	bool grows, failed;
	unsigned int n = 1;

	(void)state;
	columns();
	do {
		memory_fails_at(n++);
		grows = extends();
		failed = memory_failed();
		assert_int_equal(grows, !failed);
	} while (failed);
	assert_int_equal(n, 6);		/* positions, the queue, what is known, and places */
	assert_true(extends());
	fm_free(fm);
}

/* Two cables of the new nodes are exchanged: their positions contradict each other. */
static void exchanged_cables_prevent_growth(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < 2; p++) {
		struct fm_port_row was;
		/* the new nodes are at 2,1 and 3,1, or at 2,2 */
		uint32_t a = 6, b = p ? 7 : 10;

		columns();
		was = record(a)->row.port[p];
		record(a)->row.port[p] = record(b)->row.port[p];
		record(b)->row.port[p] = was;
		assert_false(extends());
		fm_free(fm);
	}
}

/*
 * New nodes are not found if the cables to them are down, wrong, of a row too short, or lead
 * nowhere.
 */
static void unusable_cables_find_no_new_node(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 6; k++) {
		columns();
		for (uint32_t i = 0; i < 12; i++) {
			struct fm_row *r = &record(i)->row;

			if (i % 4 > 1)
				continue;
			for (unsigned int p = 0; p < 4; p += 2) {
				struct fm_port_row *port = &r->port[p];

				if (port->peer_guid % 4 == 1 || port->peer_guid % 4 == 2)
					continue;
				if (k == 0)
					port->state = FM_PORT_FAULTY;
				if (k == 1)
					port->problem = FM_PROBLEM_FABRIC;
				if (k == 2)
					port->peer_port = (uint8_t)p;
				if (k == 3)
					port->peer_guid = i + 1;
				if (k == 4)
					port->peer_guid = 500;
			}
			if (k == 5)
				r->nports = 0;
		}
		assert_false(extends());
		fm_free(fm);
	}
}

/* Nothing grows if a cable of a new node leads to a known node that is elsewhere. */
static void cable_of_new_node_to_wrong_place_prevents_growth(void **state)
{
	static const struct {
		uint32_t from, to;
		unsigned int port;
	} t[] = {
		{ 2, 4, 1 },	/* the cable leads from 2,0 by +y to 0,1 */
		{ 6, 8, 0 },	/* from 2,1 by +x to 0,2 */
		{ 2, 10, 1 },	/* from 2,0 by +y to 2,2; that dimension is closed, and has 3 nodes */
		{ 3, 1, 0 },	/* from 3,0 by +x to 1,0: a ring of 3, but there are 4 */
		{ 3, 2, 0 },	/* from 3,0 by +x to 2,0: a ring of 2 */
		{ 7, 8, 0 },	/* from 3,1 by +x to 0,2: a ring of 4, but not straight */
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(*t); k++) {
		columns();
		/* the fabric is open in the first dimension */
		for (uint32_t i = 3; i < 12; i += 4)
			record(i)->row.port[0].state = FM_PORT_DOWN;
		assert_true(extends());
		plug(t[k].from, t[k].port, t[k].to);
		assert_false(extends());
		assert_int_equal(found.ndims, 0);
		fm_free(fm);
	}
}

/* Wrong cables between nodes that have places, or from a node to itself, prevent nothing. */
static void wrong_cables_elsewhere_do_not_prevent_growth(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		part_of("5x3", "3x3");
		switch (k) {
		case 0:		/* two of +y are exchanged */
			plug(0, 1, 6);
			plug(1, 1, 5);
			break;
		case 1:		/* from 2,0, the last one, by +x to 1,0 */
			plug(2, 0, 1);
			break;
		case 2:		/* from 0,0 by +x to 0,1 */
			plug(0, 0, 5);
			break;
		case 3:		/* of a new node to itself */
			plug(14, 0, 14);
			break;
		default:	/* a spare node at 1,0 by -y, where 1,2 is */
			fm_record_add(fm->root, 100)->row.nports = 4;
			plug(1, 3, 99);
		}
		assert_true(extends());
		assert_memory_equal(found.size, whole.size, sizeof(whole.size));
		fm_free(fm);
	}
}

/* Two nodes that have places name the same new node. */
static void contradicting_cables_to_one_new_node_prevent_growth(void **state)
{
	(void)state;
	columns();
	for (uint32_t i = 0; i < 12; i++)
		for (unsigned int p = 0; p < 4; p++)
			if (i % 4 > 1)
				record(i)->row.port[p].state = FM_PORT_DOWN;
	assert_true(extends());
	plug(5, 0, 2);		/* from 1,1 by +x to 2,0 */
	assert_false(extends());
	fm_free(fm);
}

/*
 * A long prefix has no room for a byte for each coordinate, so addresses follow from node ids, which
 * growth may change: then nothing grows. Nor does it if there are too few addresses.
 */
static void growth_keeps_addresses(void **state)
{
	static const char *const large[] = { "4x3", "3x4" }, *const small[] = { "2x3", "3x2" };
	unsigned int grew = 0, not = 0;

	(void)state;
	for (unsigned int k = 0; k < 12; k++) {
		struct torus_plan plan;
		struct torus_shape old;
		bool same = true;
		uint32_t node;

		part_of(large[k % 2], small[k % 2]);
		old = fm->table.shape;
		for (uint32_t i = 0; i < torus_nodes(&old); i++) {
			struct torus_coords at;

			torus_node_coords(&old, i, &at);
			node = torus_node_id(&whole, &at);
			same &= node == i;
		}
		torus_plan_default(&plan);
		if (k / 2 == 1 || k / 2 == 3)
			torus_plan_parse4("10.1.1.0/28", &plan);
		if (k / 2 == 2 || k / 2 == 3)
			torus_plan_parse6("fd00::/124", &plan);
		if (k / 2 == 4)
			torus_plan_parse4("10.1.1.0/29", &plan);
		if (k / 2 == 5)
			torus_plan_parse6("fd00::/125", &plan);
		fm->root->plan = plan;
		assert_int_equal(extends(), k < 2 || (k < 8 && same));
		assert_memory_equal(&found, &whole, sizeof(whole));	/* even if some lose addresses */
		grew += k > 1 && same;
		not += !same;
		fm_free(fm);
	}
	assert_true(grew && not);	/* growth of one dimension changes ids, of the other not */
}

/* Dead nodes that have places do not help, because they report no cables. */
static void dead_nodes_do_not_help_growth(void **state)
{
	(void)state;
	columns();
	for (uint32_t i = 0; i < 12; i += 4) {
		record(i)->row.port[2].state = FM_PORT_DOWN;
		record(i + 3)->row.port[0].state = FM_PORT_DOWN;
	}
	assert_true(extends());
	for (uint32_t i = 1; i < 12; i += 4)
		record(i)->state = FM_NODE_DEAD;
	assert_false(extends());
	fm_free(fm);
}

/* A place in the middle is empty, because the node of it has not been placed again: all others grow. */
static void node_without_place_inside_does_not_prevent_growth(void **state)
{
	(void)state;
	columns();
	record(5)->node = TORUS_NO_NODE;
	assert_true(extends());
	assert_memory_equal(found.size, whole.size, sizeof(whole.size));
	fm_free(fm);
}

/* Nothing grows if two nodes would have the same place. */
static void two_nodes_with_one_place_prevent_growth(void **state)
{
	struct fm_record *m;

	(void)state;
	columns();
	for (uint32_t i = 0; i < 12; i++)
		if (i % 4 > 1)
			for (unsigned int p = 0; p < 4; p++)
				record(i)->row.port[p].state = FM_PORT_DOWN;
	assert_true(extends());		/* nodes with places report the cables */
	assert_int_equal(found.size[0], 3);
	assert_int_equal(open & 1, 1);
	/* Another node is below the one at 2,1, where one is already. */
	m = fm_record_add(fm->root, 100);
	m->row.nports = 4;
	record(6)->row.port[3] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = 100,
						      .peer_port = 1 };
	assert_false(extends());
	fm_free(fm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_fabric_grows_exactly_as_model),
		cmocka_unit_test(fabric_with_new_columns_grows_to_whole),
		cmocka_unit_test(fabric_does_not_grow_without_memory),
		cmocka_unit_test(exchanged_cables_prevent_growth),
		cmocka_unit_test(unusable_cables_find_no_new_node),
		cmocka_unit_test(cable_of_new_node_to_wrong_place_prevents_growth),
		cmocka_unit_test(wrong_cables_elsewhere_do_not_prevent_growth),
		cmocka_unit_test(contradicting_cables_to_one_new_node_prevent_growth),
		cmocka_unit_test(growth_keeps_addresses),
		cmocka_unit_test(dead_nodes_do_not_help_growth),
		cmocka_unit_test(node_without_place_inside_does_not_prevent_growth),
		cmocka_unit_test(two_nodes_with_one_place_prevent_growth),
	};

	return cmocka_run_group_tests_name("extend", tests, NULL, NULL);
}
