// SPDX-License-Identifier: GPL-2.0-only
/*
 * The place of a node by its neighbours' Inits, by itself (node/wave.c). The test says which cables
 * close squares. The functions of the manager that the file calls are in this test.
 */
#include <stdio.h>
#include <string.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/port.h"
#include "daemon/fm/node/square.h"
#include "daemon/fm/node/wave.h"
#include "daemon/fm/status.h"
#include "daemon/fm/wire/init.h"

#define PORTS 5	/* ports of the NIC: one more than the fabric of two dimensions uses */
#define MOVES 6	/* number of moves of a node with the same doubt */
#define TURNS 4	/* number of times that a neighbour may turn */
#define CLOSED FM_SQUARE_CLOSED
enum { OWN = 100, ROOT = 7, OTHER = 8, NEAR = 1000 };

static struct fm fm;
static enum fm_square square[PORTS];
static char problem[PORTS][TORUS_MAX_PORTS * TORUS_TEXT_MAX], reported[1024];
static unsigned int moved, says;
static uint64_t root;		/* root that neighbours follow */

unsigned int fm_opposite(unsigned int ndims, unsigned int port)
{
	return port < ndims ? port + ndims : port - ndims;
}

unsigned int fm_ports_used(const struct fm *f)
{
	return 2 * f->ndims;
}

const char *fm_port_text(const struct fm *f, unsigned int p, char *buf)
{
	return torus_port_text(f->ndims, p, buf);
}

bool fm_port_up(const struct fm *f, unsigned int p)
{
	return f->row.port[p].state == FM_PORT_UP;
}

void fm_ports_spread(struct fm *f)
{
	(void)f;
	moved++;
}

enum fm_square fm_squares_judge(const struct fm *f, unsigned int port)
{
	assert_true(port < fm_ports_used(f));
	return square[port];
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_int_equal(level, FM_INFO);
	assert_string_equal(kind, "bootstrap");
	va_start(args, fmt);
	vsnprintf(reported, sizeof(reported), fmt, args);
	va_end(args);
	says++;
}

/* A problem waits for the root only if that will report it, too. */
void fm_problem_await(struct fm *f, const char *kind, uint64_t key)
{
	assert_true(f->placed);
	assert_string_equal(kind, "wave");
	assert_true(key < PORTS);
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "wave");
	assert_true(key < PORTS);
	va_start(args, fmt);
	vsnprintf(problem[key], sizeof(problem[key]), fmt, args);
	va_end(args);
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "wave");
	assert_true(key < PORTS);
	problem[key][0] = 0;
}

static void finish(void)
{
	if (fm.wave)
		fm_wave_free(&fm);
	memset(&fm, 0, sizeof(fm));
	memset(square, 0, sizeof(square));
	memset(problem, 0, sizeof(problem));
	moved = says = 0;
}

/*
 * Begins with a node of a fabric of two dimensions with these sizes (0: unknown) that follows a
 * root.
 */
static void begin(unsigned int x, unsigned int y)
{
	finish();
	fm.guid = OWN;
	fm.ndims = 2;
	fm.size[0] = (uint16_t)x;
	fm.size[1] = (uint16_t)y;
	fm.nports = PORTS;
	fm.have_root = true;
	fm.root_guid = root = ROOT;
	strcpy(fm.cfg.name, "own");
	assert_true(fm_wave_new(&fm));
}

/* The Init of the neighbour at @p, by which this node is at @x, @y. */
static struct fm_init init_of(unsigned int p, int x, int y, unsigned int doubt)
{
	struct fm_init i = {
		.placed = true, .guid = NEAR + p, .root_guid = root, .ndims = 2,
		.port = (uint8_t)fm_opposite(2, p), .doubt = (uint8_t)doubt,
		.size = { fm.size[0], fm.size[1] }, .position = { x, y },
	};

	i.position[p % 2] += p < 2 ? 1 : -1;
	snprintf(i.name, sizeof(i.name), "n%u", p);
	return i;
}

static bool receive_init(unsigned int p, int x, int y, unsigned int doubt)
{
	struct fm_init i = init_of(p, x, y, doubt);

	return fm_wave_init(&fm, p, &i);
}

static void is_at(int x, int y)
{
	assert_true(fm.have_position);
	assert_int_equal(fm.position[0], x);
	assert_int_equal(fm.position[1], y);
}

/* --- the first place ------------------------------------------------------------------- */

static void first_init_gives_position(void **state)
{
	(void)state;
	for (unsigned int p = 0; p < 4; p++) {
		begin(0, 0);
		square[p] = p ? CLOSED : FM_SQUARE_NONE;
		assert_false(receive_init(p, 5, -3, 2));
		is_at(5, -3);
		assert_int_equal(fm_wave_doubt(&fm), p ? 2 : 3);
		assert_int_equal(says, 1);
		assert_int_equal(moved, 0);
		assert_non_null(strstr(reported, "position from node 'n"));
		/* The place is reduced by the sizes, which may be negative at first. */
		begin(4, 3);
		receive_init(p, 5, -4, 7);
		is_at(1, 2);
		assert_int_equal(fm_wave_doubt(&fm), 7);
	}
	finish();
}

/* An Init by a wrong cable, or from too far away, gives no place. */
static void wrong_cable_or_far_position_gives_no_place(void **state)
{
	struct fm_init i;

	(void)state;
	begin(0, 0);
	i = init_of(0, 1, 1, 0);
	i.port = 3;
	fm_wave_init(&fm, 0, &i);
	assert_false(fm.have_position);
	assert_string_equal(problem[0], "");
	i = init_of(0, 1, 1, 0);
	i.guid = OWN;
	fm_wave_init(&fm, 0, &i);
	assert_false(fm.have_position);
	assert_string_equal(problem[0], "");
	receive_init(0, TORUS_MAX_NODES + 1, 0, 0);
	assert_false(fm.have_position);
	receive_init(0, -TORUS_MAX_NODES - 1, 0, 0);
	assert_false(fm.have_position);
	fm.size[0] = 1;
	receive_init(0, 2, 0, 0);
	assert_false(fm.have_position);
	fm.size[0] = 4;
	fm_wave_squares(&fm);		/* only an Init gives the first place */
	assert_false(fm.have_position);
	fm.size[0] = 1;
	receive_init(1, 0, 5, 0);
	is_at(0, 5);
	begin(0, 0);
	receive_init(0, TORUS_MAX_NODES, 0, 0);
	is_at(TORUS_MAX_NODES, 0);
	/* A root and a node that the root has placed are not moved by Inits. */
	for (unsigned int is = 0; is < 2; is++) {
		begin(4, 4);
		fm.is_root = is;
		fm.placed = !is;
		receive_init(0, 1, 1, 0);
		assert_false(fm.have_position);
		assert_int_equal(fm_wave_doubt(&fm), 0);
	}
	finish();
}

/* --- another place --------------------------------------------------------------------- */

/*
 * The place of the neighbours with the least doubt is taken, or that of most of them; a place with
 * as many votes as the present one is not.
 */
static void majority_of_least_doubt_decides(void **state)
{
	(void)state;
	begin(4, 4);
	memset(square, 0, sizeof(square));
	receive_init(0, 1, 1, 3);
	is_at(1, 1);
	receive_init(1, 3, 1, 4);
	is_at(1, 1);
	receive_init(1, 3, 1, 3);
	is_at(1, 1);
	assert_int_equal(moved, 0);
	receive_init(1, 3, 1, 2);
	is_at(3, 1);
	assert_int_equal(moved, 1);
	assert_int_equal(fm_wave_doubt(&fm), 3);
	/* With a closed square the same neighbour causes less doubt. */
	square[0] = CLOSED;
	receive_init(0, 1, 1, 2);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), 2);
	assert_int_equal(moved, 2);
	/* Two neighbours imply another place than one does. */
	square[1] = square[2] = CLOSED;
	receive_init(1, 3, 1, 2);
	is_at(1, 1);
	receive_init(2, 3, 1, 2);
	is_at(3, 1);
	assert_int_equal(moved, 3);
	assert_int_equal(says, 4);
	/*
	 * Less doubt for the present place is sent to the neighbours, but does not count as a move.
	 */
	receive_init(1, 3, 1, 1);
	is_at(3, 1);
	assert_int_equal(fm_wave_doubt(&fm), 1);
	assert_int_equal(moved, 4);
	assert_int_equal(says, 4);
	finish();
}

/* A node's doubt stays if a neighbour has more; neighbours with more doubt do not vote. */
static void neighbours_with_more_doubt_do_not_vote(void **state)
{
	struct fm_init wrong;

	(void)state;
	begin(8, 8);
	receive_init(0, 1, 1, 1);
	receive_init(1, 3, 1, 5);
	receive_init(2, 3, 1, 5);
	receive_init(0, 1, 1, 6);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), 2);
	fm_wave_forget(&fm, 3);		/* no Init has come by this port */
	assert_int_equal(fm_wave_doubt(&fm), 2);
	/* With the most doubt of all the votes are counted, too. */
	begin(8, 8);
	receive_init(0, 1, 1, FM_DOUBT_MAX);
	receive_init(1, 3, 1, FM_DOUBT_MAX);
	is_at(1, 1);
	receive_init(2, 3, 1, FM_DOUBT_MAX);
	is_at(3, 1);
	/* A neighbour by a wrong cable has no vote. */
	begin(8, 8);
	receive_init(0, 1, 1, 5);
	wrong = init_of(3, 1, 1, 0);
	wrong.port = 0;
	fm_wave_init(&fm, 3, &wrong);
	receive_init(1, 3, 1, 3);
	is_at(3, 1);
	/* The doubt is that of the wave of the present root. */
	assert_int_equal(fm_wave_doubt(&fm), 4);
	root = fm.root_guid = OTHER;
	receive_init(1, 3, 1, 5);
	assert_int_equal(fm_wave_doubt(&fm), 6);
	finish();
}

/* A neighbour whose cable only has open squares has a vote if there are no others. */
static void neighbour_with_open_squares_votes_only_alone(void **state)
{
	(void)state;
	begin(4, 4);
	square[0] = FM_SQUARE_OPEN;
	receive_init(0, 1, 1, 3);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), 4);
	/* An Init of the same doubt without any square moves the node. */
	receive_init(1, 3, 1, 3);
	is_at(3, 1);
	/* Two neighbours with open squares do not move the node back. */
	square[2] = FM_SQUARE_OPEN;
	receive_init(2, 1, 1, 3);
	is_at(3, 1);
	/* An Init of less doubt decides, although its squares are open. */
	receive_init(2, 1, 1, 2);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), 3);
	/* Two places by such cables: the one with more votes is taken. */
	receive_init(0, 1, 3, 2);
	is_at(1, 1);
	square[3] = FM_SQUARE_OPEN;
	receive_init(3, 1, 3, 2);
	is_at(1, 3);
	finish();
}

/*
 * Three of four neighbours imply the place @x, 0, with @doubt. The two that have turned least do so
 * by turning; the third is the one that did not agree with the former place. Return: true if the
 * node has moved.
 */
static bool three_imply(int x, unsigned int doubt, unsigned int *turns, unsigned int *free)
{
	unsigned int a = 4, b = 4, was = moved;

	for (unsigned int p = 0; p < 4; p++) {
		if (p == *free)
			continue;
		if (a == 4 || turns[p] < turns[a]) {
			b = a;
			a = p;
		} else if (b == 4 || turns[p] < turns[b]) {
			b = p;
		}
	}
	receive_init(*free, x, 0, doubt);
	receive_init(a, x, 0, doubt);
	assert_int_equal(moved, was);
	receive_init(b, x, 0, doubt);
	turns[a]++;
	turns[b]++;
	*free = 6 - a - b - *free;	/* the numbers of all four add up to 6 */
	return moved > was;
}

/*
 * With the same doubt a node moves a limited number of times; with less doubt, or another root, the
 * count begins anew.
 */
static void moves_are_limited_for_each_doubt_and_root(void **state)
{
	(void)state;
	begin(100, 8);
	for (unsigned int doubt = 5; doubt > 2; doubt--) {
		unsigned int turns[4] = { 0 }, free = 3;

		for (unsigned int p = 0; p < 4; p++)
			receive_init(p, 0, 0, doubt);
		is_at(0, 0);
		/* that neighbour may vote again, and has turned once */
		receive_init(3, 10, 0, doubt);
		moved = 0;
		for (int k = 1; k <= MOVES; k++) {
			assert_true(three_imply(10 * k + 1, doubt, turns, &free));
			is_at(10 * k + 1, 0);
		}
		receive_init(free, 91, 0, doubt);
		for (unsigned int p = 0; p < 4; p++)
			if (p != free && turns[p] < TURNS)
				receive_init(p, 91, 0, doubt);
		is_at(10 * MOVES + 1, 0);
		assert_int_equal(moved, MOVES);
	}
	root = fm.root_guid = OTHER;
	receive_init(0, 0, 0, FM_DOUBT_MAX);
	is_at(0, 0);
	finish();
}

/* A neighbour that reports several places in turn loses its vote until its link ends. */
static void neighbour_of_several_places_loses_vote_until_link_ends(void **state)
{
	(void)state;
	begin(8, 8);
	for (unsigned int p = 0; p < 3; p++)
		receive_init(p, 1, 1, 5);
	for (unsigned int n = 1; n <= TURNS + 1; n++) {
		receive_init(3, 1, 1, 4 + (n > 1));
		if (n == 1)
			receive_init(3, 1, 1, 5);
		assert_string_equal(problem[3], "");
		receive_init(3, 3, 1, 5);
		assert_non_null(strstr(problem[3], "leads to the wrong node"));
		is_at(1, 1);
	}
	receive_init(3, 1, 1, 5);
	assert_non_null(strstr(problem[3], "the neighbour has claimed several places"));
	/* The doubt of this place is not by it, although it implies the place. */
	for (unsigned int p = 0; p < 3; p++)
		fm_wave_forget(&fm, p);
	assert_int_equal(fm_wave_doubt(&fm), FM_DOUBT_MAX);
	for (unsigned int p = 0; p < 3; p++)
		receive_init(p, 1, 1, 5);
	assert_int_equal(fm_wave_doubt(&fm), 6);
	/* The fourth Init alone would give another place. */
	receive_init(3, 3, 1, 5);
	for (unsigned int p = 0; p < 3; p++)
		fm_wave_forget(&fm, p);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), FM_DOUBT_MAX);
	fm_wave_forget(&fm, 3);
	assert_string_equal(problem[3], "");
	receive_init(3, 3, 1, 5);
	is_at(3, 1);
	/* Less doubt than ever, or another root, begins the count anew. */
	for (unsigned int less = 0; less < 2; less++) {
		struct fm_init i;

		begin(8, 8);
		for (unsigned int p = 0; p < 3; p++)
			receive_init(p, 1, 1, 3);
		for (unsigned int n = 0; n < 256; n++) {
			receive_init(3, 1, 1, 6);
			receive_init(3, 3, 1, 6);
		}
		receive_init(3, 1, 1, 6);
		assert_non_null(strstr(problem[3], "the neighbour has claimed several places"));
		i = init_of(3, 1, 1, less ? 5 : 6);
		if (!less) {
			i.root_guid = OTHER;
			fm_wave_init(&fm, 3, &i);
			i.root_guid = ROOT;
		}
		fm_wave_init(&fm, 3, &i);
		assert_string_equal(problem[3], "");
	}
	finish();
}

/* --- neighbours that go ---------------------------------------------------------------- */

/*
 * After a link is lost the node has the doubt by the neighbours that are left, which may imply
 * another place.
 */
static void lost_link_leaves_doubt_and_place_of_other_neighbours(void **state)
{
	struct fm_init wrong;

	(void)state;
	begin(8, 8);
	receive_init(0, 1, 1, 1);
	receive_init(1, 1, 1, 3);
	receive_init(2, 4, 4, 5);
	assert_int_equal(fm_wave_doubt(&fm), 2);
	/* The node's doubt does not come from port 2, nor from a port that received no Init. */
	fm_wave_forget(&fm, 2);
	fm_wave_forget(&fm, 3);
	assert_int_equal(fm_wave_doubt(&fm), 2);
	assert_int_equal(moved, 0);
	receive_init(2, 4, 4, 5);
	fm_wave_forget(&fm, 0);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), 4);
	assert_int_equal(moved, 1);
	fm_wave_forget(&fm, 1);
	is_at(4, 4);
	assert_int_equal(fm_wave_doubt(&fm), 6);
	assert_int_equal(moved, 3);
	/* A wrong cable implies no place, however little doubt its neighbour has. */
	begin(8, 8);
	receive_init(0, 1, 1, 1);
	wrong = init_of(3, 1, 1, 0);
	wrong.port = 0;
	fm_wave_init(&fm, 3, &wrong);
	fm_wave_forget(&fm, 0);
	assert_int_equal(fm_wave_doubt(&fm), FM_DOUBT_MAX);
	/* A node whose place does not come from the wave of this root is not moved. */
	for (unsigned int k = 0; k < 3; k++) {
		begin(8, 8);
		receive_init(0, 1, 1, 1);
		if (k == 0)
			fm.placed = true;
		else if (k == 1)
			fm.is_root = true;
		else
			fm.root_guid = OTHER;
		fm_wave_forget(&fm, 0);
		assert_int_equal(moved, 0);
		fm.placed = fm.is_root = false;
		fm.root_guid = ROOT;
		assert_int_equal(fm_wave_doubt(&fm), 2);
	}
	finish();
}

/* The squares of a neighbour's cable have changed, so another place may have less doubt. */
static void changed_squares_move_node_to_less_doubt(void **state)
{
	(void)state;
	begin(8, 8);
	fm_wave_squares(&fm);
	receive_init(0, 1, 1, 2);
	receive_init(1, 3, 3, 2);
	square[1] = CLOSED;
	fm.placed = true;
	fm_wave_squares(&fm);
	fm.placed = false;
	fm.have_root = false;
	fm_wave_squares(&fm);
	fm.have_root = true;
	is_at(1, 1);
	assert_non_null(strstr(problem[1], "leads to the wrong node"));
	fm_wave_squares(&fm);
	is_at(3, 3);
	assert_int_equal(fm_wave_doubt(&fm), 2);
	assert_string_equal(problem[1], "");
	assert_non_null(strstr(problem[0], "leads to the wrong node"));
	finish();
}

/* When the squares of three cables close at once, the place that two of them imply is taken. */
static void place_that_most_closed_squares_imply_is_taken(void **state)
{
	(void)state;
	begin(8, 8);
	square[3] = CLOSED;
	receive_init(3, 1, 1, 4);
	receive_init(0, 3, 3, 4);
	receive_init(1, 3, 3, 4);
	receive_init(2, 5, 5, 4);
	is_at(1, 1);
	square[0] = square[1] = square[2] = CLOSED;
	square[3] = FM_SQUARE_OPEN;
	fm_wave_squares(&fm);
	is_at(3, 3);
	finish();
}

/* Without the size two implied places may be the same: the one with the least doubt is taken. */
static void without_size_least_doubt_decides(void **state)
{
	(void)state;
	begin(0, 0);
	receive_init(2, 1, 1, 7);
	receive_init(0, 10, 1, 7);
	is_at(1, 1);
	receive_init(1, 20, 1, 2);
	is_at(20, 1);
	finish();
}

/* An Init by a port that the fabric does not use has no vote, gives no doubt and is no fault. */
static void init_by_unused_port_has_no_vote(void **state)
{
	struct fm_neighbour n;
	struct fm_init i;

	(void)state;
	begin(8, 8);
	receive_init(0, 1, 1, 3);
	i = init_of(4, 3, 3, 0);
	i.port = 6;
	fm_wave_init(&fm, 4, &i);
	is_at(1, 1);
	i.position[0] = 2;
	i.position[1] = 1;
	fm_wave_init(&fm, 4, &i);
	fm_wave_forget(&fm, 0);
	is_at(1, 1);
	assert_int_equal(fm_wave_doubt(&fm), FM_DOUBT_MAX);
	i.port = 2;
	fm_wave_init(&fm, 4, &i);
	assert_string_equal(problem[4], "");
	assert_false(fm_wave_neighbour(&fm, 4, &n));
	finish();
}

/* --- what is known of neighbours and cables -------------------------------------------- */

/* An Init with another place or doubt than the one before is news, but the first one is not. */
static void changed_place_or_doubt_is_news(void **state)
{
	(void)state;
	begin(0, 0);
	assert_false(receive_init(0, 1, 1, 2));
	assert_false(receive_init(0, 1, 1, 2));
	assert_true(receive_init(0, 1, 1, 3));
	assert_true(receive_init(0, 1, 2, 3));
	assert_true(receive_init(0, 2, 2, 3));
	assert_false(receive_init(0, 2, 2, 3));
	assert_true(receive_init(0, 2, 2 + 65536, 3));
	fm_wave_forget(&fm, 0);
	assert_false(receive_init(0, 3, 3, 3));
	finish();
}

/* Faults of cables are problems, which name both ends, and the expected end. */
static void fault_of_cable_names_both_ends(void **state)
{
	struct fm_init i;

	(void)state;
	begin(4, 4);
	receive_init(0, 1, 1, 0);
	receive_init(1, 3, 1, 7);
	assert_string_equal(problem[1], "1,1:+y ('own') is cabled to 3,2:-y ('n1'), expected "
			    "1,2:-y, by the Inits of neighbours: leads to the wrong node");
	receive_init(3, 1, 1, 7);
	assert_string_equal(problem[3], "");
	i = init_of(3, 1, 1, 7);
	i.port = 0;
	fm_wave_init(&fm, 3, &i);
	assert_string_equal(problem[3], "1,1:-y ('own') is cabled to 1,0:+x ('n3'), expected "
			    "1,0:+y, by the Inits of neighbours: joins ports that are not opposite");
	i = init_of(3, 1, 1, 7);
	i.guid = OWN;
	fm_wave_init(&fm, 3, &i);
	assert_non_null(strstr(problem[3], "a cable from a node to itself"));
	fm.size[1] = 1;
	receive_init(3, 1, 1, 7);
	assert_non_null(strstr(problem[3], "in a dimension of size 1"));
	/* No Init contradicts while the node has no root. */
	fm.have_root = false;
	receive_init(3, 2, 2, 7);
	assert_string_equal(problem[3], "");
	fm.have_root = true;
	/* An Init of another root or another number of dimensions contradicts nothing. */
	fm.size[1] = 4;
	for (unsigned int k = 0; k < 2; k++) {
		receive_init(3, 2, 2, 7);
		assert_non_null(strstr(problem[3], "leads to the wrong node"));
		i = init_of(3, 2, 2, 7);
		if (k)
			i.root_guid = OTHER;
		else
			i.ndims = 1;
		fm_wave_init(&fm, 3, &i);
		assert_string_equal(problem[3], "");
	}
	finish();
}

/* Without the size of a dimension only places one step apart contradict each other. */
static void places_without_size_contradict_one_step_apart(void **state)
{
	(void)state;
	begin(0, 4);
	receive_init(0, 2, 1, 0);
	for (int x = -2; x < 7; x++) {
		fm_wave_forget(&fm, 1);		/* the count of its turns begins anew */
		receive_init(1, x, 1, 7);
		assert_int_equal(!!problem[1][0], x == 1 || x == 3);
		receive_init(1, 2, x, 7);
		assert_int_equal(!!problem[1][0], (x + 3) % 4 != 0);
	}
	finish();
}

static void neighbour_has_name_guid_port_and_position(void **state)
{
	struct fm_neighbour n;

	(void)state;
	begin(4, 0);
	assert_false(fm_wave_neighbour(&fm, 0, &n));
	receive_init(0, 1, 1, 0);
	receive_init(1, 3, 1, 7);
	assert_true(fm_wave_neighbour(&fm, 0, &n));
	assert_string_equal(n.name, "n0");
	assert_int_equal(n.guid, NEAR);
	assert_int_equal(n.port, 2);
	assert_int_equal(n.position[0], 2);
	assert_int_equal(n.position[1], 1);
	assert_true(n.agrees && !n.settled);
	assert_true(fm_wave_neighbour(&fm, 1, &n));
	assert_false(n.agrees);
	assert_int_equal(n.position[1], 2);
	assert_false(fm_wave_neighbour(&fm, 4, &n));
	fm.root_guid = OTHER;
	assert_false(fm_wave_neighbour(&fm, 0, &n));
	fm.root_guid = ROOT;
	fm.ndims = 1;
	assert_false(fm_wave_neighbour(&fm, 0, &n));
	fm.ndims = 2;
	finish();
}

static void cable_has_both_ends_and_expected_place(void **state)
{
	struct fm_cable c;

	(void)state;
	begin(4, 1);
	receive_init(0, 3, 0, 0);
	fm.row.port[0].state = FM_PORT_UP;
	fm.row.port[0].peer_guid = 55;
	fm.row.port[0].peer_port = 2;
	fm_wave_cable(&fm, 0, &c);
	assert_true(c.up && c.expects && !c.fault);
	assert_int_equal(c.guid, 55);
	assert_int_equal(c.port, 2);
	assert_int_equal(c.due_port, 2);
	assert_int_equal(c.due[0], 0);
	assert_int_equal(c.due[1], 0);
	receive_init(2, 1, 0, 7);
	fm_wave_cable(&fm, 2, &c);
	assert_false(c.up);
	assert_string_equal(c.fault, "leads to the wrong node");
	assert_int_equal(c.due_port, 0);
	assert_int_equal(c.due[0], 2);
	fm_wave_cable(&fm, 1, &c);
	assert_false(c.expects);
	assert_int_equal(c.due[1], 0);
	finish();
}

/* The root places the node: that is a move if the wave had another place, and only then. */
static void place_by_root_may_move_node(void **state)
{
	struct fm_init i;

	(void)state;
	begin(4, 4);
	fm.coords.c[0] = 3;
	fm.coords.c[1] = 1;
	assert_false(fm_wave_confirm(&fm));
	is_at(3, 1);
	begin(4, 4);
	receive_init(0, 3, 1, 0);
	fm.coords.c[0] = 3;
	fm.coords.c[1] = 1;
	says = 0;
	assert_false(fm_wave_confirm(&fm));
	assert_int_equal(says, 0);
	begin(4, 4);
	receive_init(0, 2, 1, 0);
	fm.have_position = false;
	assert_false(fm_wave_confirm(&fm));
	begin(4, 4);
	receive_init(0, 2, 1, 0);
	fm.coords.c[0] = 3;
	fm.coords.c[1] = 1;
	assert_true(fm_wave_confirm(&fm));
	assert_string_equal(reported, "the root places this node at 3,1; by the Inits of neighbours it "
			    "was at 2,1");
	is_at(3, 1);
	assert_non_null(strstr(problem[0], "leads to the wrong node"));
	/* The next place of the table does not replace one of the wave. */
	fm.coords.c[0] = 1;
	assert_false(fm_wave_confirm(&fm));
	is_at(1, 1);
	/* From now on only settled Inits of the same sizes contradict. */
	fm.placed = true;
	for (unsigned int k = 0; k < 4; k++) {
		i = init_of(0, 2, 1, 0);
		i.settled = k != 1;
		i.size[0] = k == 2 ? 5 : 4;
		i.size[1] = k == 3 ? 5 : 4;
		fm_wave_init(&fm, 0, &i);
		assert_int_equal(!!problem[0][0], k == 0);
	}
	/* An Init that is not settled is no turn, nor is one that follows it. */
	for (unsigned int k = 0; k < 4 * TURNS + 8; k++) {
		i = init_of(0, 1 + (int)k % 2, 1, 0);
		i.settled = k % 2 == (k >= 2 * TURNS + 4);
		fm_wave_init(&fm, 0, &i);
		assert_int_equal(!!problem[0][0], i.settled && k % 2);
	}
	i = init_of(0, 1, 1, 0);
	i.settled = true;
	fm_wave_init(&fm, 0, &i);
	assert_string_equal(problem[0], "");
	is_at(1, 1);
	finish();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(first_init_gives_position),
		cmocka_unit_test(wrong_cable_or_far_position_gives_no_place),
		cmocka_unit_test(majority_of_least_doubt_decides),
		cmocka_unit_test(neighbours_with_more_doubt_do_not_vote),
		cmocka_unit_test(neighbour_with_open_squares_votes_only_alone),
		cmocka_unit_test(moves_are_limited_for_each_doubt_and_root),
		cmocka_unit_test(neighbour_of_several_places_loses_vote_until_link_ends),
		cmocka_unit_test(lost_link_leaves_doubt_and_place_of_other_neighbours),
		cmocka_unit_test(changed_squares_move_node_to_less_doubt),
		cmocka_unit_test(place_that_most_closed_squares_imply_is_taken),
		cmocka_unit_test(without_size_least_doubt_decides),
		cmocka_unit_test(init_by_unused_port_has_no_vote),
		cmocka_unit_test(changed_place_or_doubt_is_news),
		cmocka_unit_test(fault_of_cable_names_both_ends),
		cmocka_unit_test(places_without_size_contradict_one_step_apart),
		cmocka_unit_test(neighbour_has_name_guid_port_and_position),
		cmocka_unit_test(cable_has_both_ends_and_expected_place),
		cmocka_unit_test(place_by_root_may_move_node),
	};

	return cmocka_run_group_tests_name("fm_positions", all, NULL, NULL);
}
