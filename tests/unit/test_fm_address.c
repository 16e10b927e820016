// SPDX-License-Identifier: GPL-2.0-only
/*
 * The place of a node by the Inits of its neighbours: which Inits contradict it and which do not,
 * when it moves and how often, and what ends a contradiction.
 */
#include <stdio.h>

#include "stage.h"

static struct stage s;

/*
 * Checks that the problem "wave" at that port has @part in its text; NULL: there is no such
 * problem.
 */
static void stands(unsigned int port, const char *part)
{
	char at[TORUS_TEXT_MAX + 2];
	const struct fm_problem *p;
	const char *text = NULL;

	sprintf(at, ":");
	torus_port_text(s.shape.ndims, port, at + 1);
	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->kind, "wave") && strstr(p->text, at) &&
		    strstr(p->text, at) < strstr(p->text, " is cabled"))
			text = p->text;
	if (part && (!text || !strstr(text, part)))
		fail_msg("port %u: '%s' does not stand, but '%s'", port, part, text ? text : "");
	if (!part && text)
		fail_msg("port %u: '%s' stands", port, text);
}

static void is_at(int x, int y)
{
	struct fm_place at;

	assert_true(fm_place(s.fm, &at));
	assert_false(at.confirmed);
	assert_int_equal(at.position[0], x);
	assert_int_equal(at.position[1], y);
}

/* Begins with node 1,2 of a 4x4, which has received no Init. */
static void begin(const char *shape, uint32_t node)
{
	stage_init(&s, shape, node);
	s.deaf = "log init hello row connect close ";
	stage_start(&s);
	for (unsigned int p = 0; p < 4; p++)
		stage_link_up(&s, p, 1);
	stage_run(&s, 1);
}

static struct fm_init from(unsigned int port)
{
	return stage_neighbour(&s, port);
}

static void sends_position(unsigned int port, int x, int y)
{
	struct fm_init i = from(port);

	i.position[0] = x;
	i.position[1] = y;
	stage_receive(&s, port, &i);
}

/*
 * The first Init places the node; it moves once more neighbours imply another place, and not
 * before.
 */
static void node_takes_place_that_most_neighbours_imply(void **state)
{
	struct fm_place at;

	(void)state;
	begin("4x4", 9);
	assert_false(fm_place(s.fm, &at));
	sends_position(0, 3, 1);
	is_at(2, 1);
	sends_position(1, 1, 3);
	is_at(2, 1);
	stands(1, "2,1:+y ('n9') is cabled to 1,3:-y ('n13'), expected 2,2:-y, by the Inits of "
		  "neighbours: leads to the wrong node");
	stands(0, NULL);
	sends_position(2, 0, 2);
	is_at(1, 2);
	stands(0, "1,2:+x ('n9') is cabled to 3,1:-x ('n10'), expected 2,2:-x");
	stands(1, NULL);
	stands(2, NULL);
	sends_position(3, 1, 1);
	stands(3, NULL);
	sends_position(0, 2, 2);
	stands(0, NULL);
	is_at(1, 2);
	stage_end(&s);
}

/* --- squares ---------------------------------------------------------------------------- */

/* The true ends of all cables of @node, but those between the nodes 3, 4, 6 and 7: see below. */
static void ends_of(uint32_t node, struct fm_init *i)
{
	static const uint32_t swapped[][3] = {
		{ 3, 0, 7 }, { 7, 2, 3 }, { 6, 0, 4 }, { 4, 2, 6 },
	};

	i->nends = 4;
	for (unsigned int p = 0; p < 4; p++)
		i->end[p] = (struct fm_end) {
			NIC + torus_neighbour(&s.shape, node, p),
			(uint8_t)torus_dir_opposite(&s.shape, p),
		};
	for (unsigned int k = 0; k < 4; k++)
		if (swapped[k][0] == node)
			i->end[swapped[k][1]].guid = NIC + swapped[k][2];
}

/* The neighbour at @port reports all that it knows: its place, its doubt, and its cables. */
static void sends_all(unsigned int port, int x, int y, uint8_t doubt)
{
	struct fm_init i = from(port);

	i.position[0] = x;
	i.position[1] = y;
	i.doubt = doubt;
	ends_of((uint32_t)(i.guid - NIC), &i);
	stage_receive(&s, port, &i);
}

/*
 * A torus of 3x3 nodes, node i at i modulo 3 and i / 3. The cables of the nodes 3 and 6 at +x have
 * exchanged their far ends, 7 and 4. The wave came through 3 and 7 first, so 7 and all nodes that
 * it reached first are one row off, and agree with each other: they are all neighbours of node 1
 * but the root. The cable of node 1 to the root closes no square, because both of its squares have
 * a swapped cable. But then node 2 gets its place from the root, by a cable that closes a square.
 */
static void square_of_links_decides_between_places(void **state)
{
	(void)state;
	begin("3x3", 1);
	sends_all(3, 1, 1, 1);
	sends_all(1, 1, 0, 1);
	sends_all(0, 2, 2, 1);
	is_at(1, 2);
	sends_all(2, 0, 0, 0);
	is_at(1, 2);
	stands(2, "1,2:-x ('n1') is cabled to 0,0:+x ('n0'), expected 0,2:+x");
	sends_all(0, 2, 0, 0);
	is_at(1, 0);
	stands(2, NULL);
	stands(0, NULL);
	stands(1, "leads to the wrong node");
	/* Further words of the misled ones count no more, whatever their number is. */
	sends_all(3, 1, 1, 1);
	sends_all(1, 1, 0, 1);
	is_at(1, 0);
	sends_all(3, 1, 2, 0);
	sends_all(1, 1, 1, 0);
	is_at(1, 0);
	for (unsigned int p = 0; p < 4; p++)
		stands(p, NULL);
	stage_end(&s);
}

/* The wave comes in the other order: Inits of more doubt do not move the node. */
static void inits_of_more_doubt_do_not_move_node(void **state)
{
	(void)state;
	begin("3x3", 1);
	sends_all(2, 0, 0, 0);
	sends_all(0, 2, 0, 0);
	is_at(1, 0);
	sends_all(3, 1, 1, 1);
	sends_all(1, 1, 0, 1);
	is_at(1, 0);
	/* At the same doubt, the number of neighbours decides. */
	sends_all(3, 1, 1, 0);
	is_at(1, 0);
	sends_all(1, 1, 0, 0);
	is_at(1, 2);
	stage_end(&s);
}

/*
 * A node is sure of its place, and then all its cables are moved: it takes the place that its new
 * neighbours imply, though they have more doubt than the former ones had. As long as one of the
 * former is left, it does not.
 */
static void node_with_moved_cables_takes_new_place(void **state)
{
	(void)state;
	for (unsigned int left = 0; left < 2; left++) {
		begin("3x3", 1);
		sends_all(2, 0, 0, 0);
		sends_all(0, 2, 0, 0);
		is_at(1, 0);
		stage_link_lost(&s, 2, 1);
		if (!left)
			stage_link_lost(&s, 0, 1);
		for (unsigned int p = 1; p < 4; p += 2) {
			stage_link_lost(&s, p, 1);
			stage_link_up(&s, p, 2);
			sends_all(p, 1, p == 1 ? 0 : 1, 3);
		}
		if (left)
			is_at(1, 0);
		else
			is_at(1, 2);
		stage_end(&s);
	}
}

/* A neighbour reports its cables later, without a place: then a square closes. */
static void late_report_of_cables_closes_square(void **state)
{
	struct fm_init i;

	(void)state;
	begin("3x3", 1);
	sends_position(2, 0, 0);
	sends_all(1, 1, 0, FM_DOUBT_MAX);
	i = from(0);
	i.position[0] = 2;
	i.position[1] = 2;
	stage_receive(&s, 0, &i);
	is_at(1, 0);
	stands(0, "leads to the wrong node");
	i.placed = false;
	i.ndims = 0;
	i.root_guid = 0;
	ends_of(2, &i);
	stage_receive(&s, 0, &i);
	is_at(1, 2);
	stands(0, NULL);
	stage_end(&s);
}

static void finds(unsigned int port, bool up, int x, int y, const char *fault)
{
	struct fm_cable c;

	assert_true(fm_cable(s.fm, port, &c));
	assert_int_equal(c.up, up);
	assert_true(c.expects);
	assert_int_equal(c.due[0], x);
	assert_int_equal(c.due[1], y);
	assert_int_equal(c.due_port, port ^ 2);
	assert_string_equal(c.fault ? c.fault : "none", fault);
}

/* Each cable is shown with the end that is expected there, also where no link is up. */
static void cable_shows_end_that_is_expected(void **state)
{
	struct fm_cable c;

	(void)state;
	begin("4x4", 9);
	assert_false(fm_cable(s.fm, 0, &c));
	sends_position(0, 2, 2);
	sends_position(1, 1, 2);
	stage_link_lost(&s, 3, 1);
	finds(0, true, 2, 2, "none");
	finds(1, true, 1, 3, "leads to the wrong node");
	finds(2, true, 0, 2, "none");
	finds(3, false, 1, 1, "none");
	assert_true(fm_cable(s.fm, 0, &c));
	assert_int_equal(c.guid, NIC + 10);
	assert_int_equal(c.port, 2);
	assert_false(fm_cable(s.fm, 4, &c));
	stage_end(&s);
}

/*
 * Where no size is known, places that differ by one contradict each other, and others may be one
 * place.
 */
static void places_without_sizes_contradict_if_they_differ_by_1(void **state)
{
	static const struct {
		int x, y;
		bool fits;
	} t[] = {
		{ 2, 2, true }, { 3, 2, false }, { 1, 2, false }, { 4, 2, true }, { -1, 2, true },
		{ 2, 1, false }, { 2, 3, false }, { 2, -2, true }, { -2, 6, true },
		{ -2, 3, false },
	};

	(void)state;
	begin("4x4", 9);
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		struct fm_init i;

		for (unsigned int p = 3; p < 4; p--) {
			i = from(p);
			i.size[0] = i.size[1] = 0;
			if (!p) {
				i.position[0] = t[k].x;
				i.position[1] = t[k].y;
			}
			stage_receive(&s, p, &i);
		}
		is_at(1, 2);
		stands(0, t[k].fits ? NULL : "leads to the wrong node");
		stage_link_lost(&s, 0, 1);
		stands(0, NULL);
		stage_link_up(&s, 0, 2 + k);
	}
	stage_end(&s);
}

/* An Init by port 0 of a root with this many dimensions, of no known sizes, in that epoch. */
static void dimensions(uint8_t ndims, uint64_t epoch, bool asks, int y, int z)
{
	struct fm_init i = from(0);

	i.ndims = ndims;
	i.port = ndims;
	i.epoch = epoch;
	i.asks = asks;
	i.settled = false;
	memset(i.size, 0, sizeof(i.size));
	i.position[0] = 1;
	i.position[1] = y;
	i.position[2] = ndims > 2 ? z : 0;
	stage_receive(&s, 0, &i);
}

/*
 * The root begins anew with a dimension more. Sizes are not known, so the place by the former
 * dimensions might equal the one that neighbours imply now: it is dropped all the same.
 */
static void root_with_another_dimension_places_node_anew(void **state)
{
	(void)state;
	for (unsigned int asks = 0; asks < 2; asks++) {
		struct fm_place at;

		begin("4x4x4", 5);
		dimensions(2, TERM, false, 0, 0);
		is_at(0, 0);
		dimensions(2, TERM, false, 2, 0);	/* the same place, as far as is known */
		is_at(0, 0);
		dimensions(3, TERM + 1, asks, 2, 2);
		is_at(0, 2);
		assert_true(fm_place(s.fm, &at));
		assert_int_equal(at.ndims, 3);
		assert_int_equal(at.position[2], 2);
		/* A neighbour that has not learned of it yet is not followed back. */
		dimensions(2, TERM, false, 0, 0);
		is_at(0, 2);
		stage_end(&s);
	}
}

static uint64_t status_root(void)
{
	struct fm_root_status r;

	fm_root_status(s.fm, &r);
	return r.guid;
}

/* A NIC that has a place follows a root of more dimensions: its manager reports no position. */
static void placed_nic_follows_root_of_more_dimensions(void **state)
{
	struct fm_entry entries[16];
	struct fm_place at;
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	stage_init(&s, "4x4", 5);
	s.deaf = "hello row log connect close ";
	s.dev.nports = 6;
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	m = stage_table(&s, 1, entries);
	stage_msg(&s, 1, &m);
	assert_true(fm_place(s.fm, &at));
	assert_true(at.confirmed);
	stage_down(&s, 1);
	i.asks = true;
	i.root_guid = NIC + 77;
	i.epoch = TERM + 1;
	i.ndims = 3;
	i.port = 3;
	i.size[2] = 4;
	stage_receive(&s, 0, &i);
	assert_int_equal(status_root(), NIC + 77);
	assert_false(fm_place(s.fm, &at));
	stage_forget(&s);
	stage_link_up(&s, 0, 2);
	stage_run(&s, 2);
	stage_did_some(&s, "init 0: asks ");
	stage_did_no(&s, "/4");
	/* The node that asks cannot be reached: back to the root that has led. */
	stage_down(&s, 2);
	assert_int_equal(status_root(), NIC);
	assert_true(fm_place(s.fm, &at));
	assert_int_equal(at.ndims, 2);
	assert_true(at.confirmed);
	stage_end(&s);
}

/* A dimension of size 1 has no cables, so an Init by one of its ports implies no place. */
static void port_of_dimension_of_size_1_implies_no_place(void **state)
{
	struct fm_place at;
	struct fm_cable c;
	struct fm_init i;

	(void)state;
	begin("4x1", 1);
	i = from(1);
	i.guid = NIC + 2;
	stage_receive(&s, 1, &i);
	assert_false(fm_place(s.fm, &at));
	sends_position(0, 2, 0);
	is_at(1, 0);
	stands(0, NULL);
	stands(1, "in a dimension of size 1");
	assert_true(fm_cable(s.fm, 1, &c));
	assert_false(c.expects);
	assert_string_equal(c.fault, "in a dimension of size 1");
	stage_end(&s);
}

/* A node whose neighbours always imply other places moves six times for a root, and then stays. */
static void node_moves_at_most_six_times_per_root(void **state)
{
	unsigned int moves = 0;
	int x = 1;

	(void)state;
	begin("9x9", 10);
	for (unsigned int k = 0; k < 40; k++) {
		struct fm_place at;
		int to = 1 + (int)(k % 2) * 4;

		if (k < 10) {
			sends_position(1, to, 2);
			sends_position(3, to, 0);
		} else {
			sends_position(0, to + 1, 1);
			sends_position(2, to - 1, 1);
		}
		assert_true(fm_place(s.fm, &at));
		moves += at.position[0] != x;
		x = at.position[0];
	}
	assert_int_equal(moves, 6);
	stage_end(&s);
}

/*
 * A neighbour that reports another place again and again loses its vote, and its contradiction
 * stays a problem until its link comes up anew, whatever place it reports meanwhile.
 */
static void neighbour_that_keeps_changing_place_loses_its_vote(void **state)
{
	(void)state;
	begin("4x4", 9);
	for (unsigned int p = 3; p < 4; p--)
		sends_position(p, from(p).position[0], from(p).position[1]);
	for (unsigned int k = 1; k <= 5; k++) {
		stands(0, NULL);
		sends_position(0, 0, 0);
		stands(0, "leads to the wrong node");
		sends_position(0, 2, 2);
	}
	stands(0, "the neighbour has claimed several places");
	is_at(1, 2);
	/* No other neighbour is left but one that sees it elsewhere: the vote at +x does not count. */
	for (unsigned int p = 1; p < 4; p++)
		stage_link_lost(&s, p, 1);
	stage_link_up(&s, 1, 2);
	sends_position(1, 3, 0);
	is_at(3, 3);
	stage_link_lost(&s, 0, 1);
	stands(0, NULL);
	stage_link_up(&s, 0, 2);
	sends_position(0, 0, 3);
	stands(0, NULL);
	stage_end(&s);
}

/* The Inits of different roots are not compared; those of the former root count no more. */
static void inits_of_former_root_do_not_count(void **state)
{
	struct fm_init i;

	(void)state;
	begin("4x4", 9);
	sends_position(0, 2, 2);
	sends_position(2, 0, 2);
	is_at(1, 2);
	i = from(1);
	i.root_guid = NIC + 3;
	i.epoch++;
	i.position[0] = 3;
	i.position[1] = 0;
	strcpy(i.root_address, "30.0.0.3:1");
	stage_receive(&s, 1, &i);
	is_at(3, 3);
	for (unsigned int p = 0; p < 4; p++)
		stands(p, NULL);
	stage_end(&s);
}

/* A neighbour that lost its vote under one root has a vote again under another root. */
static void neighbour_has_its_vote_again_under_another_root(void **state)
{
	struct fm_init i;

	(void)state;
	begin("4x4", 9);
	sends_position(2, 0, 2);
	for (unsigned int k = 0; k < 6; k++) {
		sends_position(0, 2, 2);
		sends_position(0, 0, 0);
	}
	sends_position(0, 2, 2);
	stands(0, "the neighbour has claimed several places");
	i = from(0);
	i.root_guid = NIC + 3;
	i.epoch++;
	strcpy(i.root_address, "30.0.0.3:1");
	stage_receive(&s, 0, &i);
	is_at(1, 2);
	stands(0, NULL);
	stage_end(&s);
}

/* An Init with another place than before is answered, because its sender waits for that. */
static void init_with_another_place_is_answered(void **state)
{
	struct fm_init i;

	(void)state;
	begin("4x4", 9);
	i = from(0);
	i.received = true;
	stage_receive(&s, 0, &i);
	sends_position(2, 0, 2);
	stage_run(&s, 5000);
	s.deaf = "log hello row connect close ";
	stage_forget(&s);
	stage_receive(&s, 0, &i);
	stage_run(&s, 10000);
	assert_int_equal(stage_count(&s, "init 0:"), 0);
	i.position[0] = 3;
	stage_receive(&s, 0, &i);
	stage_run(&s, 15000);
	assert_int_equal(stage_count(&s, "init 0:"), 1);
	stage_end(&s);
}

/* Coordinates of an Init for a dimension that the fabric does not have are not passed on. */
static void coordinates_of_unknown_dimension_are_dropped(void **state)
{
	struct fm_init i;
	struct fm_place at;

	(void)state;
	begin("4x4", 9);
	i = from(0);
	for (unsigned int d = 2; d < TORUS_MAX_DIMS; d++) {
		i.position[d] = INT32_MIN;
		i.size[d] = UINT16_MAX;
	}
	stage_receive(&s, 0, &i);
	is_at(1, 2);
	assert_true(fm_place(s.fm, &at));
	for (unsigned int d = 2; d < TORUS_MAX_DIMS; d++)
		assert_int_equal(at.position[d], 0);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(node_takes_place_that_most_neighbours_imply),
		cmocka_unit_test(cable_shows_end_that_is_expected),
		cmocka_unit_test(root_with_another_dimension_places_node_anew),
		cmocka_unit_test(placed_nic_follows_root_of_more_dimensions),
		cmocka_unit_test(places_without_sizes_contradict_if_they_differ_by_1),
		cmocka_unit_test(square_of_links_decides_between_places),
		cmocka_unit_test(inits_of_more_doubt_do_not_move_node),
		cmocka_unit_test(late_report_of_cables_closes_square),
		cmocka_unit_test(node_with_moved_cables_takes_new_place),
		cmocka_unit_test(port_of_dimension_of_size_1_implies_no_place),
		cmocka_unit_test(node_moves_at_most_six_times_per_root),
		cmocka_unit_test(neighbour_that_keeps_changing_place_loses_its_vote),
		cmocka_unit_test(inits_of_former_root_do_not_count),
		cmocka_unit_test(neighbour_has_its_vote_again_under_another_root),
		cmocka_unit_test(init_with_another_place_is_answered),
		cmocka_unit_test(coordinates_of_unknown_dimension_are_dropped),
	};

	return cmocka_run_group_tests_name("fm_address", all, NULL, NULL);
}
