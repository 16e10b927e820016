// SPDX-License-Identifier: GPL-2.0-only
/*
 * The nodes that a root calls over the service network in random fabrics, compared with a search of
 * the test's own; and the times of its rounds, while it asks and while it leads.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/unit/memory.h"
#include "tests/unit/seeds.h"
#include "stage_calls.h"
#include "daemon/fm/root/calls.h"

/* --- whom, in random fabrics ---------------------------------------------------------------- */

#define MANY 24			/* nodes of a 4x3x2 */
#define SIDES 6

/**
 * struct world - who takes part, and which ports may have links
 * @row: of a node that says HELLO; @part: it takes part, so that counts; else the table does
 */
struct world {
	bool part[MANY], up[MANY][SIDES];
	struct fm_row row[MANY];
};

static void draw_row(struct rnd *rnd, struct world *w, uint32_t node)
{
	struct fm_row *row = &w->row[node];

	*row = stage_row(&s, node);
	for (unsigned int p = 0; p < SIDES; p++) {
		if (rnd_below(rnd, 3))
			row->port[p].state = (uint8_t)rnd_below(rnd, 3);
		if (!rnd_below(rnd, 9))
			row->port[p].peer_guid = 0xdead;
	}
}

static void draw_entry(struct rnd *rnd, struct world *w, uint32_t node)
{
	struct fm_entry *e = &s.fm->table.entry[node];

	e->fault = rnd_below(rnd, 2) ? (uint16_t)rnd_below(rnd, 1u << SIDES) : 0;
	for (unsigned int p = 0; p < SIDES; p++)
		w->up[node][p] = !(e->fault >> p & 1);
	if (rnd_below(rnd, 8) || node < 3)
		return;
	*e = (struct fm_entry) { .node = node };
	memset(w->up[node], 0, sizeof(w->up[node]));
}

/*
 * Lets nodes say HELLO in three groups. Those of the first do not count any more when the calls
 * begin.
 */
static void send_hello(struct rnd *rnd, struct world *w, uint64_t from)
{
	static const unsigned int at[] = { 0, 19, 38 };	/* tenths of RESEND */
	uint8_t group[MANY];

	for (uint32_t i = 1; i < MANY; i++)
		group[i] = i < 3 ? (uint8_t)i : (uint8_t)rnd_below(rnd, 8);
	for (unsigned int g = 0; g < 3; g++) {
		stage_run_ns(&s, from + at[g] * RESEND / 10);
		for (uint32_t i = 1; i < MANY; i++) {
			struct fm_msg m = hello(i);

			if (group[i] != g || (g && s.fm->table.entry[i].state == FM_NODE_ABSENT))
				continue;
			draw_row(rnd, w, i);
			m.hello.row = w->row[i];
			stage_up(&s, 100 + (int)i);
			stage_msg(&s, 100 + (int)i, &m);
			w->part[i] = g > 0;
		}
	}
	w->part[0] = true;
	w->row[0] = stage_row(&s, 0);
	for (uint32_t i = 0; i < MANY; i++)
		for (unsigned int p = 0; p < SIDES && w->part[i]; p++)
			w->up[i][p] = w->row[i].port[p].state == FM_PORT_UP;
	stage_run_ns(&s, from + 58 * RESEND / 10 - 1);
}

static bool is_beside(const struct world *w, uint32_t node)
{
	for (unsigned int p = 0; p < SIDES; p++) {
		uint32_t o = torus_neighbour(&s.shape, node, p);
		unsigned int q = torus_dir_opposite(&s.shape, p);

		if (w->part[o] && w->up[o][q] && w->row[o].port[q].peer_guid == NIC + node)
			return true;
	}
	return false;
}

/* Marks the nodes to which links may lead. */
static void mark_near(const struct world *w, bool *near)
{
	bool more = true;

	memcpy(near, w->part, sizeof(w->part));
	while (more) {
		more = false;
		for (uint32_t i = 0; i < MANY; i++)
			for (unsigned int p = 0; p < SIDES; p++) {
				uint32_t o = torus_neighbour(&s.shape, i, p);

				if (!near[i] || near[o] || !w->up[i][p] ||
				    !w->up[o][torus_dir_opposite(&s.shape, p)])
					continue;
				near[o] = more = true;
			}
	}
}

static unsigned int some_called, worlds;

static void one_world(uint64_t seed)
{
	struct rnd rnd = rnd_new(seed);
	struct world w = { .part = { false } };
	bool near[MANY];
	uint64_t from;

	asks_in("4x3x2", MANY, &from);
	s.stubborn = true;
	s.refuse_connect = -ENETUNREACH;	/* so there is room for all of them */
	for (uint32_t i = 1; i < MANY; i++)
		draw_entry(&rnd, &w, i);
	send_hello(&rnd, &w, from);
	if (!fm_is_root(s.fm) && !stage_count(&s, "claims epoch")) {
		assert_int_equal(stage_count(&s, "connect"), 0);
		stage_run_ns(&s, s.now + 1);
		mark_near(&w, near);
		for (uint32_t i = 0; i < MANY; i++) {
			bool want = near[i] && !w.part[i] && !is_beside(&w, i);

			expect(&rnd, called(i) == want, "node %u is called %u times", i, called(i));
			some_called += want;
		}
		worlds++;
	}
	stage_end(&s);
}

static void called_nodes_of_random_fabric_equal_model(void **state)
{
	(void)state;
	for_seeds(120, one_world);
	assert_true(getenv("SEED") || (worlds > 20 && some_called > 2 * worlds));
}

/* --- when ------------------------------------------------------------------------------------ */

#define ROUND (3 * RESEND)	/* time from one round to the next */

/* Makes the node ask to be root. Return: the time at which it begins. */
static uint64_t begins(uint32_t nodes)
{
	uint64_t from;

	asks(nodes, &from);
	return from - 1;
}

/*
 * No call is answered, and none lasts: each node is called in rounds 0, 1, 2, 4, 8 and so on, and
 * at last in each 128th.
 */
static void unanswered_node_is_called_ever_more_rarely(void **state)
{
	unsigned int want = 0;
	uint64_t from;

	(void)state;
	from = begins(8);
	s.refuse_connect = -ENETUNREACH;
	s.deaf = "init ping pong report lost rows place release log ";
	for (unsigned int round = 0; round < 520; round++) {
		unsigned int rare = round < 128 ? round : 128;

		stage_run_ns(&s, from + SETTLE + round * ROUND - 1);
		assert_int_equal(called(3), want);
		want += !(rare & (rare - 1)) && !(round % (rare ? rare : 1));
		stage_run_ns(&s, s.now + 1);
		if (called(3) != want)
			fail_msg("round %u: called %u times, wanted %u", round, called(3), want);
	}
	stage_end(&s);
}

/* A node is not called again as long as a call to it is under way; the first may have the number 0. */
static void node_has_one_call_at_a_time(void **state)
{
	uint64_t from;

	(void)state;
	from = begins(8);
	s.next_conn = 0;
	stage_run_ns(&s, from + SETTLE + WAIT);
	for (uint32_t i = 2; i < 7; i++)
		assert_int_equal(called(i), 1);
	assert_int_equal(stage_count(&s, "close 0\n"), 1);
	stage_run_ns(&s, from + SETTLE + 2 * ROUND + MS);
	for (uint32_t i = 2; i < 7; i++)
		assert_int_equal(called(i), 2);
	stage_end(&s);
}

/*
 * A node that has said HELLO, and does not any more, is called in the next round, whichever that
 * is.
 */
static void node_that_fell_silent_is_called_next_round(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	sends_hello(4);
	stage_run_ns(&s, from + SETTLE + ROUND - 1);
	for (uint32_t i = 1; i < 8; i++)	/* nodes 3 and 5 are neighbours of it */
		assert_int_equal(called(i), i == 2 || i == 6);
	stage_run_ns(&s, s.now + 1);
	for (uint32_t i = 2; i < 7; i++)
		assert_int_equal(called(i), 1);
	stage_end(&s);
}

/* Other nodes wait until there is room for their calls, which is checked four times in RESEND. */
static void calls_beyond_limit_wait_for_room(void **state)
{
	uint64_t from;
	int conn;

	(void)state;
	from = begins(60);
	conn = s.next_conn;
	stage_run_ns(&s, from + SETTLE + MS);
	assert_int_equal(stage_count(&s, "connect"), 16);
	stage_down(&s, conn + 3);
	sends_hello(1);		/* a new node, but the calls have begun */
	stage_run_ns(&s, from + SETTLE + RESEND / 4 - 1);
	assert_int_equal(stage_count(&s, "connect"), 16);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(stage_count(&s, "connect"), 17);
	assert_int_equal(called(18), 1);
	stage_end(&s);
}

/* A new HELLO between two rounds does not put the next one off. */
static void hello_between_rounds_delays_no_round(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.refuse_connect = -ENETUNREACH;
	stage_run_ns(&s, from + SETTLE + ROUND - MS);
	assert_int_equal(called(4), 1);
	sends_hello(1);
	stage_run_ns(&s, s.now + 2 * MS);
	assert_int_equal(called(4), 2);
	stage_end(&s);
}

/* A link comes up between two rounds: the nodes behind it are called. */
static void nodes_behind_new_link_are_called(void **state)
{
	struct fm_msg m = { .type = FM_MSG_HELLO };
	uint64_t from;

	(void)state;
	asks(8, &from);
	m = hello(1);
	m.hello.row.port[0].state = FM_PORT_DOWN;
	stage_up(&s, 101);
	stage_msg(&s, 101, &m);
	m = hello(7);
	m.hello.row.port[2].state = FM_PORT_DOWN;
	stage_up(&s, 107);
	stage_msg(&s, 107, &m);
	/*
	 * The root would lead if no link led from these three nodes to another NIC: one leads to a
	 * stranger.
	 */
	m.hello.row.port[1].state = FM_PORT_UP;
	m.hello.row.port[1].peer_guid = 0xdead;
	stage_msg(&s, 107, &m);
	stage_run_ns(&s, from + SETTLE + MS);
	assert_int_equal(stage_count(&s, "connect"), 0);
	sends_hello(1);
	stage_run_ns(&s, from + SETTLE + ROUND + MS);
	assert_int_equal(called(2), 0);
	for (uint32_t i = 3; i < 7; i++)
		assert_int_equal(called(i), 1);
	stage_end(&s);
}

/*
 * A node that was called many times, and answers that it follows another root, is called in each
 * second round.
 */
static void answering_node_is_called_each_second_round(void **state)
{
	uint64_t from;
	int conn;

	(void)state;
	asks(8, &from);
	s.refuse_connect = -ENETUNREACH;
	stage_run_ns(&s, from + SETTLE + 15 * ROUND);
	assert_int_equal(called(3), 5);
	s.refuse_connect = 0;
	conn = s.next_conn;
	stage_run_ns(&s, s.now + ROUND);
	stage_up(&s, conn + 1);
	answers(conn + 1, 1, sent.epoch, false);
	assert_int_equal(count().others, 1);
	assert_int_equal(count().called, 5);
	stage_run_ns(&s, s.now + ROUND);
	assert_int_equal(called(3), 6);
	stage_run_ns(&s, s.now + ROUND);
	assert_int_equal(called(3), 7);
	/* The node joins all the same. */
	stage_up(&s, s.next_conn - 5 + 1);
	answers(s.next_conn - 5 + 1, 1, sent.epoch, false);
	sends_hello(3);
	assert_int_equal(count().others, 0);
	assert_int_equal(count().follow, 1);
	stage_end(&s);
}

/* --- while it claims, and leads -------------------------------------------------------------------- */

/* Six of eight nodes say HELLO. The neighbours of node 4 are away, so no link leads to it. */
static void most_send_hello(void)
{
	static const uint32_t here[] = { 1, 2, 6, 7 };

	for (unsigned int i = 0; i < 4; i++)
		sends_hello(here[i]);
}

/* A candidate calls no node while it waits for promises. */
static void claiming_candidate_calls_no_node(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.stubborn = true;
	most_send_hello();
	stage_run_ns(&s, from + 10 * RESEND - MS);
	assert_int_equal(stage_count(&s, "claims epoch"), 1);
	assert_int_equal(stage_count(&s, "connect"), 0);
	stage_end(&s);
}

/*
 * A root that leads goes on to call until none is left. It begins again, after RESEND, when it is
 * informed that there may be one.
 */
static void leading_root_calls_nodes_until_all_have_answered(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.refuse_connect = -ENETUNREACH;
	most_send_hello();
	stage_run_ns(&s, from + 19 * RESEND / 10);
	assert_true(fm_is_root(s.fm));
	sends_hello(1);		/* this HELLO does not delay the round */
	assert_int_equal(stage_count(&s, "connect"), 0);
	stage_run_ns(&s, from + SETTLE);
	assert_int_equal(called(4), 1);
	stage_run_ns(&s, from + SETTLE + ROUND);
	assert_int_equal(called(4), 2);
	assert_int_equal(fm_calls_expiry(s.fm), START + s.now + ROUND);
	sends_hello(3);
	sends_hello(5);
	sends_hello(4);
	stage_run_ns(&s, s.now + ROUND);
	assert_int_equal(stage_count(&s, "connect"), 2);
	assert_int_equal(fm_calls_expiry(s.fm), NEVER);
	fm_calls_look(s.fm);
	assert_int_equal(fm_calls_expiry(s.fm), START + s.now + RESEND);
	stage_run_ns(&s, s.now + RESEND / 2);
	fm_calls_look(s.fm);
	assert_int_equal(fm_calls_expiry(s.fm), START + s.now + RESEND / 2);
	stage_run_ns(&s, s.now + RESEND);
	assert_int_equal(fm_calls_expiry(s.fm), NEVER);
	stage_end(&s);
}

/*
 * A node whose address the table lacks joins by itself: then it does not count as unknown any more.
 */
static void node_without_address_is_known_once_it_joins(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.fm->table.entry[4].address[0] = '\0';
	stage_run_ns(&s, from + SETTLE + MS);
	assert_int_equal(count().unknown, 1);
	sends_hello(4);
	assert_int_equal(count().unknown, 0);
	stage_end(&s);
}

/*
 * A request for memory is refused during a round of calls: the calls that it was needed for are
 * made in the next round.
 */
static void calls_without_memory_are_made_next_round(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned int n = 1; failed; n++) {
		unsigned int closed;
		uint64_t from = begins(8);

		stage_run_ns(&s, from + SETTLE - 1);
		memory_fails_at(n);
		stage_run_ns(&s, s.now + 1);
		failed = memory_failed();
		closed = stage_count(&s, "close ");
		assert_true(stage_count(&s, "connect ") == 5 || !stage_count(&s, "connect "));
		assert_true(closed == 0 || (failed && closed == 1));
		stage_run_ns(&s, from + SETTLE + 2 * ROUND);
		for (uint32_t i = 2; i < 7; i++)
			assert_in_range(called(i), 1, 2);
		stage_end(&s);
		assert_true(n < 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(called_nodes_of_random_fabric_equal_model),
		cmocka_unit_test(unanswered_node_is_called_ever_more_rarely),
		cmocka_unit_test(node_has_one_call_at_a_time),
		cmocka_unit_test(node_that_fell_silent_is_called_next_round),
		cmocka_unit_test(calls_beyond_limit_wait_for_room),
		cmocka_unit_test(hello_between_rounds_delays_no_round),
		cmocka_unit_test(nodes_behind_new_link_are_called),
		cmocka_unit_test(answering_node_is_called_each_second_round),
		cmocka_unit_test(claiming_candidate_calls_no_node),
		cmocka_unit_test(leading_root_calls_nodes_until_all_have_answered),
		cmocka_unit_test(node_without_address_is_known_once_it_joins),
		cmocka_unit_test(calls_without_memory_are_made_next_round),
	};

	return cmocka_run_group_tests_name("calls_who", tests, NULL, NULL);
}
