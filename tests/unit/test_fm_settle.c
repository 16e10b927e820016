// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a root makes its first table: gaps, nodes that only Inits name, changes that do not end,
 * and a root that is alone.
 */
#include <stdio.h>
#include <string.h>

#include "stage_shape.h"

/* Checks that the first table comes @ms from now, neither sooner nor later. */
static void settles(uint64_t ms)
{
	stage_run_ns(&s, s.now + ms * MS - (ms != 0));
	if (ms)
		assert_int_equal(fm_version(s.fm), 0);
	stage_run_ns(&s, s.now + (ms != 0));
	assert_int_not_equal(fm_version(s.fm), 0);
}

/* --- when ------------------------------------------------------------------------------- */

static void first_table_is_made_at_once_when_all_have_joined(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		stage_run(&s, 50);
		for (uint32_t i = 1; i < 16; i++) {
			assert_int_equal(fm_version(s.fm), 0);
			join(i, NULL);
		}
		settles(0);
		stage_did_some(&s, "log info bootstrap: shape 4x4, 16 of 16 nodes\n");
		stage_end(&s);
	}
}

/* A missing node to which others report links is waited for, from the last news on. */
static void missing_node_with_links_is_waited_for(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		for (uint32_t i = 1; i < 15; i++) {
			stage_run(&s, 100 * i);
			join(i, NULL);
		}
		/* the timer is called too early, and does nothing */
		fm_timer(s.fm, START + s.now);
		settles(3000);
		stage_did_some(&s, "log info bootstrap: shape 4x4, 15 of 16 nodes\n");
		stage_end(&s);
	}
}

static void no_11(struct fm_hello *h)
{
	for (unsigned int p = 0; p < 4; p++)
		if (h->row.port[p].peer_guid == NIC + 11)
			h->row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
}

static void stranger_11(struct fm_hello *h)
{
	for (unsigned int p = 0; p < 4; p++)
		if (h->row.port[p].peer_guid == NIC + 11)
			h->row.port[p].problem = FM_PROBLEM_FABRIC;
}

static void nameless_11(struct fm_hello *h)
{
	for (unsigned int p = 0; p < 4; p++)
		if (h->row.port[p].peer_guid == NIC + 11)
			h->row.port[p].peer_guid = 0;
}

static void port_down(struct fm_hello *h)
{
	if (h->guid == NIC + 5)
		h->row.port[0].state = FM_PORT_DOWN;
	if (h->guid == NIC + 6)
		h->row.port[2].state = FM_PORT_DOWN;
}

/* The root waits for the node of a known gap until there is no news for half a second. */
static void known_gap_is_waited_for_half_a_second(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		settles(500);
		stage_end(&s);
		root(known);	/* a node that comes back is news */
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		stage_run(&s, 400);
		stage_down(&s, 102);
		join(2, no_11);
		settles(500);
		stage_end(&s);
		/* Messages without news do not delay the table; a row does. */
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		stage_run(&s, 400);
		stage_send(&s, 101, FM_MSG_PING);
		stage_run(&s, 450);
		struct fm_msg m = { .type = FM_MSG_ROW };

		m.row = (struct fm_row_msg) { .guid = NIC + 2, .epoch = 1,
					      .row = stage_row(&s, 2) };
		m.row.row.serial = 2;
		m.row.row.port[0].closed = true;
		stage_msg(&s, 102, &m);
		settles(500);
		stage_end(&s);
		/* All nodes are there, but not all cables: that is enough if the shape is known. */
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			join(i, port_down);
		settles(known ? 0 : 500);
		stage_end(&s);
		/* Cables to another fabric, or to an unknown node, are not waited for. */
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, stranger_11);
		settles(known ? 500 : 0);
		stage_end(&s);
		root(known);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, nameless_11);
		settles(known ? 500 : 0);
		stage_end(&s);
	}
}

/* The first node that joined reports another row. */
static void row_changes(uint32_t serial)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + 1, .epoch = 1, .row = stage_row(&s, 1) };
	m.row.row.serial = serial;
	m.row.row.port[0].closed = serial % 2;
	stage_msg(&s, 101, &m);
}

/* Return: the ms until the table comes, while @news comes each 400 ms. */
static uint64_t with_news(void (*news)(uint32_t k))
{
	uint64_t began = s.now;

	for (uint32_t k = 0; k < 1000 && !fm_version(s.fm); k++) {
		if (k)
			stage_run_ns(&s, s.now + 400 * MS);
		if (!fm_version(s.fm))
			news(k);
	}
	assert_int_not_equal(fm_version(s.fm), 0);
	return (s.now - began) / MS;
}

/* Number 11 joins without its cables, and with another GUID each time. */
static void new_guid(uint32_t k)
{
	struct fm_msg m = stage_hello(&s, 11);

	m.hello.guid = NIC + 100 + k % 10;
	snprintf(m.hello.name, sizeof(m.hello.name), "new%u", k);
	m.hello.epoch = 1 + k;
	m.hello.row.serial = 1 + k;
	m.hello.row.nports = 4;
	for (unsigned int p = 0; p < 4; p++)
		m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	if (k > 20)
		m.hello.guid += k << 8;
	stage_up(&s, 200 + (int)k);
	stage_msg(&s, 200 + (int)k, &m);
}

static void same_again(uint32_t k)
{
	struct fm_msg m = stage_hello(&s, 2);

	m.hello.epoch = 2 + k;
	m.hello.row.serial = 2 + k;
	m.hello.row.port[0].closed = k % 2;
	m.hello.attach = 2 + k;
	stage_down(&s, k ? 199 + (int)k : 102);
	stage_up(&s, 200 + (int)k);
	stage_msg(&s, 200 + (int)k, &m);
}

static void row_again(uint32_t k)
{
	row_changes(2 + k);
}

/*
 * Events that repeat cannot delay the table for ever: rows, a node that restarts, NICs that have
 * another GUID each time. Each alone would delay it by half a second.
 */
static void repeated_news_do_not_delay_table_for_ever(void **state)
{
	static const struct {
		void (*news)(uint32_t k);
		uint64_t ms;
	} t[] = { { row_again, 9000 }, { same_again, 9000 }, { new_guid, 60000 } };

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		uint64_t ms;

		root(false);
		for (uint32_t i = 1; i < 16; i++)
			if (i != 11)
				join(i, no_11);
		ms = with_news(t[k].news);
		assert_in_range(ms, t[k].ms, t[k].ms + 1000);
		stage_end(&s);
	}
}

/* However late the first node comes, the root waits for the others after it. */
static void root_waits_for_others_after_late_first_node(void **state)
{
	(void)state;
	root(false);
	for (unsigned int i = 1; i <= 5; i++)
		stage_run(&s, 100000 * i);
	for (uint32_t i = 1; i < 15; i++) {
		stage_run(&s, 500000 + 400 * i);
		join(i, NULL);
		/* the root is not alone any more, and reports that */
		fm_timer(s.fm, START + s.now);
	}
	settles(3000);
	stage_end(&s);
}

/*
 * In row y the cable behind column y is cut: no row is closed, but together the rows show their
 * length.
 */
static void cut_in_each_row(struct fm_hello *h)
{
	uint32_t i = (uint32_t)(h->guid - NIC), x = i % 4, y = i / 4;

	if (x == y)
		h->row.port[0] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	if (x == (y + 1) % 4)
		h->row.port[2] = (struct fm_port_row) { .state = FM_PORT_DOWN };
}

/*
 * A node reports a cable to another, which does not report it: the cable shows nothing of the
 * shape.
 */
static void one_sided_cable_shows_nothing_of_shape(void **state)
{
	(void)state;
	for (unsigned int stranger = 0; stranger < 2; stranger++) {
		struct fm_msg m;

		root(false);
		stage_link_lost(&s, 0, 0);
		for (uint32_t i = 1; i < 16; i++)
			join(i, cut_in_each_row);
		m = stage_hello(&s, 50);
		m.hello.row = (struct fm_row) { .serial = 1, .nports = 4 };
		m.hello.row.port[0] = (struct fm_port_row) { .state = FM_PORT_UP,
							     .peer_guid = NIC + 4, .peer_port = 2 };
		if (stranger) {
			stage_up(&s, 150);
			stage_msg(&s, 150, &m);
		}
		settles(500);
		assert_memory_equal(fm_shape(s.fm), &s.shape, sizeof(s.shape));
		assert_int_equal(stage_count(&s, " open "), 0);
		stage_end(&s);
	}
}

/* --- alone ------------------------------------------------------------------------------ */

static void marked(struct fm_hello *h)
{
	h->marked = true;
}

/* A root with cables that knows no shape waits for a neighbour, and logs it after 30 s. */
static void lone_root_without_shape_logs_it_after_30_s(void **state)
{
	(void)state;
	root(false);
	stage_run_ns(&s, 30000 * MS - 1);
	stage_did_nothing(&s);
	stage_run(&s, 40000);
	stage_did(&s, "at 30000 ms\nlog error bootstrap: no other node joined for 30 s: do "
		      "neighbours run, with links that are up? shape = auto finds nothing without "
		      "them\n");
	assert_int_equal(fm_version(s.fm), 0);
	join(1, marked);
	fm_timer(s.fm, START + s.now);
	stage_did_some(&s, "log info bootstrap: over: no other node joined for 30 s");
	/* A second node with the bootstrap flag is another problem, and stays one. */
	assert_non_null(fm_problem(s.fm, 0));
	assert_non_null(strstr(fm_problem(s.fm, 0)->text, "two NICs have the bootstrap flag"));
	stage_end(&s);
	/* A root that knows the shape is not alone. */
	root(true);
	settles(3000);
	stage_end(&s);
	/* A NIC without any cables is not alone. */
	stage_init(&s, "4x4", 0);
	s.cfg.shape.ndims = 0;
	stage_start(&s);
	settles(500);
	stage_end(&s);
	/* A root whose links are not up is alone, also if its ports have no lower devices. */
	for (unsigned int i = 0; i < 3; i++) {
		stage_init(&s, "4x4", 0);
		s.cfg.shape.ndims = 0;
		strcpy(s.link[2].lower, i ? "" : "eth0");
		s.link[2].carrier = i == 1;
		s.link[2].state = i == 2 ? TORUS_LINK_FAULTY : TORUS_LINK_DOWN;
		stage_start(&s);
		stage_run(&s, 29999);
		assert_null(fm_problem(s.fm, 0));
		stage_run(&s, 30000);
		assert_non_null(fm_problem(s.fm, 0));
		assert_string_equal(fm_problem(s.fm, 0)->kind, "bootstrap");
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(first_table_is_made_at_once_when_all_have_joined),
		cmocka_unit_test(missing_node_with_links_is_waited_for),
		cmocka_unit_test(known_gap_is_waited_for_half_a_second),
		cmocka_unit_test(repeated_news_do_not_delay_table_for_ever),
		cmocka_unit_test(root_waits_for_others_after_late_first_node),
		cmocka_unit_test(one_sided_cable_shows_nothing_of_shape),
		cmocka_unit_test(lone_root_without_shape_logs_it_after_30_s),
	};

	return cmocka_run_group_tests_name("fm_settle", all, NULL, NULL);
}
