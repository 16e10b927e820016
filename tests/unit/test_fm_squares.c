// SPDX-License-Identifier: GPL-2.0-only
/*
 * Squares of cables by themselves (node/square.c): which of them are closed or open, and which are
 * none. The functions of the manager that the file calls are in this test.
 */
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/wire/init.h"

#define NONE FM_SQUARE_NONE
#define OPEN FM_SQUARE_OPEN
#define CLOSED FM_SQUARE_CLOSED

/* The node itself, its neighbours at ports 0, 1 and 2, and nodes beyond them */
enum { OWN = 100, A, B, C, OTHER, FAR = 1000 };

static struct fm fm;
static struct fm_init reported[TORUS_MAX_PORTS];	/* the Init that came last by each port */

unsigned int fm_opposite(unsigned int ndims, unsigned int port)
{
	return port < ndims ? port + ndims : port - ndims;
}

unsigned int fm_ports_used(const struct fm *f)
{
	return 2 * f->ndims;
}

static void finish(void)
{
	if (fm.squares)
		fm_squares_free(&fm);
	memset(&fm, 0, sizeof(fm));
	memset(reported, 0, sizeof(reported));
}

/* Begins with a NIC with one port more than the fabric uses, and no cable. */
static void begin(unsigned int ndims)
{
	finish();
	fm.guid = OWN;
	fm.ndims = ndims;
	fm.nports = 2 * ndims + 1;
	assert_true(fm_squares_new(&fm));
}

/* Adds a right cable at @port to @guid, of whose far cables no Init reports yet. */
static void cable(unsigned int port, uint64_t guid)
{
	fm.row.port[port].peer_guid = guid;
	fm.row.port[port].peer_port = (uint8_t)fm_opposite(fm.ndims, port);
	reported[port].guid = guid;
	fm_squares_store(&fm, port, &reported[port]);
}

/* The neighbour at @port reports that its cable at @at leads to @far of @guid. */
static void reports_cable(unsigned int port, unsigned int at, uint64_t guid, unsigned int far)
{
	reported[port].end[at] = (struct fm_end) { .guid = guid, .port = (uint8_t)far };
	fm_squares_store(&fm, port, &reported[port]);
}

/* Both neighbours report right cables to one node, which closes the square along @p and @q. */
static void close_square(unsigned int p, unsigned int q)
{
	reports_cable(p, q, FAR + 10 * p + q, fm_opposite(fm.ndims, q));
	reports_cable(q, p, FAR + 10 * p + q, fm_opposite(fm.ndims, p));
}

/*
 * Begins with two dimensions: A at port 0 (+x), B at port 1 (+y), and the square between both,
 * closed.
 */
static void one_square(void)
{
	begin(2);
	cable(0, A);
	cable(1, B);
	close_square(0, 1);
}

/* Checks the results for the cables to A and B. */
static void judged(enum fm_square a, enum fm_square b)
{
	assert_int_equal(fm_squares_judge(&fm, 0), a);
	assert_int_equal(fm_squares_judge(&fm, 1), b);
}

static void closed_square_confirms_both_cables(void **state)
{
	(void)state;
	one_square();
	judged(CLOSED, CLOSED);
	/* Ports without a cable have no square. */
	assert_int_equal(fm_squares_judge(&fm, 2), NONE);
	assert_int_equal(fm_squares_judge(&fm, 3), NONE);
	finish();
}

/* A square is open if the cables beyond A and B end at different nodes, or at a wrong port. */
static void square_is_open_if_ends_differ(void **state)
{
	(void)state;
	one_square();
	reports_cable(0, 1, OTHER, 3);
	judged(OPEN, OPEN);
	one_square();
	reports_cable(0, 1, reported[0].end[1].guid, 2);
	judged(OPEN, OPEN);
	one_square();
	reports_cable(1, 0, reported[1].end[0].guid, 3);
	judged(OPEN, OPEN);
	finish();
}

/*
 * A square is not judged if one of its four cables is missing, is not known yet, or is wrong by
 * itself.
 */
static void square_with_missing_or_wrong_cable_is_not_judged(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < 2; p++) {
		one_square();
		reports_cable(p, !p, 0, 0);
		judged(NONE, NONE);
		one_square();
		fm.row.port[p].peer_guid = 0;
		judged(NONE, NONE);
		one_square();
		fm.row.port[p].peer_port = !p;
		judged(NONE, NONE);
		/* The Init is of another node than that at the cable now. */
		one_square();
		fm.row.port[p].peer_guid = C;
		judged(NONE, NONE);
		/* The cable leads back to this node. */
		one_square();
		reported[p].guid = OWN;
		cable(p, OWN);
		judged(NONE, NONE);
	}
	/* No Init came by a port whose cable leads to a node that the NIC does not name. */
	begin(2);
	cable(0, A);
	reports_cable(0, 1, FAR, 3);
	fm.row.port[1].peer_port = 3;
	judged(NONE, NONE);
	finish();
}

/* If both ports of the other dimension lead to one node, a square proves nothing (Lemma 2). */
static void dimension_of_size_2_proves_no_square(void **state)
{
	(void)state;
	one_square();
	fm.size[1] = 2;
	judged(NONE, CLOSED);
	fm.size[1] = 3;
	judged(CLOSED, CLOSED);
	fm.size[0] = 2;
	judged(CLOSED, NONE);
	one_square();
	fm.row.port[3].peer_guid = B;
	judged(NONE, CLOSED);
	fm.row.port[3].peer_guid = C;
	fm.row.port[2].peer_guid = A;
	judged(CLOSED, NONE);
	/* An open one counts there as well. */
	reports_cable(0, 1, OTHER, 3);
	judged(OPEN, OPEN);
	finish();
}

/*
 * A cable with one closed square is right, whether an open square is judged before it or after it.
 */
static void cable_with_one_closed_square_is_right(void **state)
{
	(void)state;
	for (unsigned int q = 1; q < 3; q++) {
		begin(3);
		cable(0, A);
		cable(1, B);
		cable(2, C);
		close_square(0, q);
		assert_int_equal(fm_squares_judge(&fm, 0), CLOSED);
		assert_int_equal(fm_squares_judge(&fm, 3 - q), NONE);
		reports_cable(0, 3 - q, OTHER, 0);
		reports_cable(3 - q, 0, FAR, 0);
		assert_int_equal(fm_squares_judge(&fm, 0), CLOSED);
		assert_int_equal(fm_squares_judge(&fm, q), CLOSED);
		assert_int_equal(fm_squares_judge(&fm, 3 - q), OPEN);
		/* Without the closed one the open one is the result. */
		reports_cable(q, 0, 0, 0);
		assert_int_equal(fm_squares_judge(&fm, 0), OPEN);
		assert_int_equal(fm_squares_judge(&fm, q), NONE);
		/* A closed square that proves nothing does not hide the open one. */
		close_square(0, q);
		fm.size[q] = 2;
		assert_int_equal(fm_squares_judge(&fm, 0), OPEN);
	}
	finish();
}

/* Cables along one dimension are no sides of a square, nor is a cable at an unused port. */
static void cables_of_one_dimension_make_no_square(void **state)
{
	(void)state;
	begin(2);
	cable(0, A);
	cable(2, B);
	close_square(0, 2);
	assert_int_equal(fm_squares_judge(&fm, 0), NONE);
	assert_int_equal(fm_squares_judge(&fm, 2), NONE);
	begin(2);
	cable(1, A);
	cable(4, B);
	close_square(1, 4);
	assert_int_equal(fm_squares_judge(&fm, 1), NONE);
	finish();
}

/* --- reports of cables in Inits ------------------------------------------------------------- */

static void changed_end_in_init_is_news(void **state)
{
	struct fm_init i = { .guid = A, .nends = 4 };

	(void)state;
	begin(2);
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++) {
		i.end[p].guid = FAR;
		assert_true(fm_squares_store(&fm, 1, &i));
		assert_false(fm_squares_store(&fm, 1, &i));
		i.end[p].port = 3;
		assert_true(fm_squares_store(&fm, 1, &i));
		assert_false(fm_squares_store(&fm, 1, &i));
	}
	/* Another node with the same cables, and another port that none came by. */
	i.guid = B;
	assert_false(fm_squares_store(&fm, 1, &i));
	assert_true(fm_squares_store(&fm, 0, &i));
	finish();
}

/* The Inits of this node report all of its ports, also of those without a cable. */
static void init_reports_all_ports_of_node(void **state)
{
	struct fm_init i;

	(void)state;
	begin(2);
	cable(0, A);
	cable(1, B);
	cable(4, C);
	memset(&i, 0xff, sizeof(i));
	fm_squares_fill(&fm, &i);
	assert_int_equal(i.nends, 5);
	for (unsigned int p = 0; p < 5; p++) {
		assert_int_equal(i.end[p].guid, fm.row.port[p].peer_guid);
		assert_int_equal(i.end[p].port, fm.row.port[p].peer_port);
	}
	assert_int_equal(i.end[1].guid, B);
	assert_int_equal(i.end[4].guid, C);
	assert_int_equal(i.end[5].port, 0xff);
	finish();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(closed_square_confirms_both_cables),
		cmocka_unit_test(square_is_open_if_ends_differ),
		cmocka_unit_test(square_with_missing_or_wrong_cable_is_not_judged),
		cmocka_unit_test(dimension_of_size_2_proves_no_square),
		cmocka_unit_test(cable_with_one_closed_square_is_right),
		cmocka_unit_test(cables_of_one_dimension_make_no_square),
		cmocka_unit_test(changed_end_in_init_is_news),
		cmocka_unit_test(init_reports_all_ports_of_node),
	};

	return cmocka_run_group_tests_name("fm_squares", all, NULL, NULL);
}
