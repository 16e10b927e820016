// SPDX-License-Identifier: GPL-2.0-only
/* The windows of relayed packets by themselves; test_via.c tests NICs as relays. */
#include "tests/unit/seeds.h"
#include "kernel/core/relay.h"

#define NODES 5

/**
 * struct ends - window of node 0 against the counts of the others, over a network that
 * loses, doubles and delays what they say
 * @to: packets on their way, by destination
 */
struct ends {
	struct tn_relay at[NODES];
	struct tn_relay_peer peer[NODES][NODES];
	u32 to[NODES][64], n[NODES];
	struct { u32 from, gen, count; } ack[64];
	u32 nacks, gen;
};

static void begin_relay(struct tn_relay *r, struct tn_relay_peer *peer, u32 packets)
{
	memset(peer, 0, NODES * sizeof(*peer));
	tn_relay_init(r, peer, NODES, packets);
}

static void send_to_random_end(struct rnd *r, struct ends *e)
{
	u32 to = 1 + rnd_below(r, NODES - 1);
	struct tn_pkt pkt = { .via = { .dst = to } };

	if (!tn_relay_may(&e->at[0]))
		return;
	tn_relay_charge(&e->at[0], &pkt, 0);
	expect(r, pkt.via.payer == 0 && pkt.via.gen == e->gen, "charge");
	e->to[to][e->n[to]++] = e->gen;
}

static void ends_send_ack(struct rnd *r, struct ends *e, u32 from, u32 gen)
{
	if (e->nacks == ARRAY_SIZE(e->ack))
		e->nacks = rnd_below(r, e->nacks);
	e->ack[e->nacks].from = from;
	e->ack[e->nacks].gen = gen;
	e->ack[e->nacks++].count = tn_relay_count(&e->at[from], 0, gen);
}

static void ends_arrive(struct rnd *r, struct ends *e)
{
	u32 to = 1 + rnd_below(r, NODES - 1), gen;

	if (!e->n[to])
		return;
	gen = e->to[to][--e->n[to]];
	if (tn_relay_ended(&e->at[to], &(struct tn_via) { .payer = 0, .gen = gen }))
		ends_send_ack(r, e, to, gen);
	else	/* a count is ignored unless it is of the present generation */
		expect(r, gen != e->gen, "not counted");
}

static void ends_receive_ack(struct rnd *r, struct ends *e)
{
	u32 i;

	if (!e->nacks)
		return;
	i = rnd_below(r, e->nacks);
	tn_relay_acked(&e->at[0], e->ack[i].from, e->ack[i].gen, e->ack[i].count);
}

static u32 ends_live(const struct ends *e)
{
	u32 live = 0;

	for (u32 to = 1; to < NODES; to++) {
		for (u32 i = 0; i < e->n[to]; i++)
			live += e->to[to][i] == e->gen;
	}
	return live;
}

static void window_one(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct ends e = { .gen = 0 };
	u32 packets = 1 + rnd_below(&r, 40);

	for (u32 i = 0; i < NODES; i++)
		begin_relay(&e.at[i], e.peer[i], packets);
	expect(&r, e.at[0].window == (packets < NODES ? 1 : packets / NODES), "w");
	for (int i = 0; i < 4000; i++) {
		switch (rnd_below(&r, 50) ? rnd_below(&r, 3) : 3) {
		case 0:
			send_to_random_end(&r, &e);
			break;
		case 1:
			ends_arrive(&r, &e);
			break;
		case 2:
			ends_receive_ack(&r, &e);
			break;
		default:	/* the window begins anew, or packets are lost */
			if (rnd_below(&r, 4))
				break;
			for (u32 to = 1; to < NODES; to++)
				e.n[to] = rnd_below(&r, 2) ? 0 : e.n[to] > 8 ? 8 : e.n[to];
			tn_relay_renew(&e.at[0], ++e.gen);
			expect(&r, !e.at[0].out, "renewed");
			tn_relay_renew(&e.at[0], e.gen);
		}
		expect(&r, ends_live(&e) <= e.at[0].out && e.at[0].out <= e.at[0].window,
		       "step %d: %u under way, %u known", i, ends_live(&e), e.at[0].out);
	}
	/* The node that is asked last answers for all packets. */
	while (ends_live(&e))
		ends_arrive(&r, &e);
	for (u32 i = 0; i < 2 * NODES && e.at[0].out; i++) {
		u32 asked = tn_relay_ask(&e.at[0], NODES);

		if (asked != TORUS_NO_NODE)
			expect(&r, tn_relay_acked(&e.at[0], asked, e.gen,
						  tn_relay_count(&e.at[asked], 0, e.gen)),
			       "answer");
	}
	expect(&r, !e.at[0].out, "%u left", e.at[0].out);
}

static void random_windows_equal_model(void **state)
{
	(void)state;
	for_seeds(200, window_one);
}

/* The nodes that sent no count between two checks are asked, each in turn. */
static void relays_without_counts_are_asked_in_turn(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 8 * NODES);
	for (u32 to = 1; to < 4; to++)
		for (u32 i = 0; i < 2; i++)
			tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = to } }, 0);
	assert_int_equal(tn_relay_ask(&r, 4096), TORUS_NO_NODE);
	assert_true(tn_relay_acked(&r, 2, 0, 1));
	assert_int_equal(tn_relay_ask(&r, 4096), 1);
	assert_int_equal(tn_relay_ask(&r, 4096), 3);
	assert_int_equal(tn_relay_ask(&r, 4096), 1);
	assert_int_equal(tn_relay_ask(&r, 4096), 2);
	assert_true(tn_relay_acked(&r, 1, 0, 2) && tn_relay_acked(&r, 2, 0, 2));
	assert_int_equal(tn_relay_ask(&r, 4096), 3);
	assert_true(tn_relay_acked(&r, 3, 0, 2));
	assert_int_equal(r.ask_at, ~0ull);
	assert_int_equal(tn_relay_ask(&r, 4096), TORUS_NO_NODE);
}

/*
 * One packet under way is enough for its relay to be asked about; the search wraps around to node
 * 0.
 */
static void single_packet_under_way_is_asked_about(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 8 * NODES);
	tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = 3 } }, 1);
	tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = 0 } }, 1);
	assert_int_equal(tn_relay_ask(&r, NODES), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, NODES), 0);
	assert_int_equal(tn_relay_ask(&r, NODES), 3);
	assert_int_equal(tn_relay_ask(&r, NODES), 0);
	/* A few nodes at a time, each in turn. */
	assert_int_equal(tn_relay_ask(&r, 1), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, 1), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, 1), 3);
	assert_int_equal(tn_relay_ask(&r, 1), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, 1), 0);
}

static bool ended(struct tn_relay *r, u32 payer, u32 gen)
{
	return tn_relay_ended(r, &(struct tn_via) { .payer = payer, .gen = gen });
}

/* A count is accepted if it is of this generation, new, and of no more packets than were sent. */
static void only_new_plausible_count_is_accepted(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 8 * NODES);
	tn_relay_renew(&r, 7);
	for (int i = 0; i < 5; i++)
		tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = 1 } }, 0);
	tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = 2 } }, 0);
	assert_false(tn_relay_acked(&r, 1, 6, 1));
	assert_false(tn_relay_acked(&r, 1, 8, 1));
	assert_false(tn_relay_acked(&r, 1, 7, 0));
	assert_false(tn_relay_acked(&r, 1, 7, 6));
	assert_false(tn_relay_acked(&r, 3, 7, 1));
	assert_int_equal(r.out, 6);
	assert_true(tn_relay_acked(&r, 1, 7, 3));
	assert_int_equal(r.out, 3);
	/* The same again, less, and more than are left. */
	assert_false(tn_relay_acked(&r, 1, 7, 3));
	assert_false(tn_relay_acked(&r, 1, 7, 2));
	assert_false(tn_relay_acked(&r, 1, 7, 6));
	assert_int_equal(r.out, 3);
	assert_true(tn_relay_acked(&r, 1, 7, 5));
	assert_true(tn_relay_acked(&r, 2, 7, 1));
	assert_int_equal(r.out, 0);
	/* A payer that does not exist. */
	assert_false(ended(&r, NODES, 7));
	assert_false(ended(&r, TORUS_NO_NODE, 7));
	assert_true(ended(&r, NODES - 1, 7));
}

/* Generations wrap around, and only the present one is reported. */
static void generations_wrap_around(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 8 * NODES);
	assert_true(ended(&r, 1, 0x7fffffffu));
	assert_true(ended(&r, 1, 0xfffffffeu));
	assert_true(ended(&r, 1, 0xfffffffeu));
	assert_int_equal(tn_relay_count(&r, 1, 0xfffffffeu), 2);
	assert_int_equal(tn_relay_count(&r, 1, 0x7fffffffu), 0);
	assert_true(ended(&r, 1, 2));
	assert_false(ended(&r, 1, 0xfffffffeu));
	assert_int_equal(tn_relay_count(&r, 1, 2), 1);
	assert_int_equal(tn_relay_count(&r, 1, 0xfffffffeu), 0);
	assert_int_equal(tn_relay_count(&r, 2, 2), 0);
}

/* A generation far ahead keeps others from being counted until the own window begins anew. */
static void forged_generation_ends_with_next_window(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 8 * NODES);
	tn_relay_renew(&r, 100);
	assert_true(ended(&r, 1, 100));
	assert_true(ended(&r, 1, 1u << 30));
	assert_false(ended(&r, 1, 100));
	tn_relay_renew(&r, 101);
	assert_true(ended(&r, 1, 101));
	assert_int_equal(tn_relay_count(&r, 1, 101), 1);
	assert_false(ended(&r, 1, 100));
	/* A number that is little ahead stays, as does one that was right. */
	assert_true(ended(&r, 1, 101 + TN_RELAY_AHEAD + 1));
	tn_relay_renew(&r, 102);
	assert_false(ended(&r, 1, 102));
	assert_true(ended(&r, 2, 500));
	tn_relay_renew(&r, 499);
	assert_false(ended(&r, 2, 499));
	assert_true(ended(&r, 2, 500));
}

/* The time to ask is forgotten with the last packet, and the interval with any new count. */
static void last_packet_stops_timer(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 8 * NODES);
	for (u32 to = 1; to < 3; to++)
		tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = to } }, 0);
	r.ask_at = 1000;
	r.asks = 3;
	assert_true(tn_relay_acked(&r, 1, 0, 1));
	assert_int_equal(r.asks, 0);
	assert_int_equal(r.ask_at, 1000);
	r.asks = 3;
	assert_true(tn_relay_acked(&r, 2, 0, 1));
	assert_int_equal(r.asks, 0);
	assert_int_equal(r.ask_at, ~0ull);
	tn_relay_charge(&r, &(struct tn_pkt) { .via = { .dst = 4 } }, 0);
	r.ask_at = 2000;
	r.asks = 3;
	tn_relay_renew(&r, 1);
	assert_int_equal(r.asks, 0);
	assert_int_equal(r.ask_at, ~0ull);
	assert_int_equal(tn_relay_ask(&r, NODES), TORUS_NO_NODE);
	assert_false(tn_relay_acked(&r, 4, 1, 1));
}

/* A relay has room for the windows of all nodes, even if fewer packets were asked for. */
static void relay_has_room_for_windows_of_all_nodes(void **state)
{
	static const struct { u32 packets, window; } sizes[] = {
		{ 1, 1 }, { NODES - 1, 1 }, { NODES, 1 }, { 2 * NODES - 1, 1 }, { 2 * NODES, 2 },
		{ 4096, 4096 / NODES },
	};
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		begin_relay(&r, peer, sizes[i].packets);
		assert_int_equal(r.window, sizes[i].window);
		assert_int_equal(r.capacity, sizes[i].window * NODES);
	}
}

/* --- the counters, call by call ------------------------------------------------------ */

/* A new generation: the window is empty, at all nodes, and other windows do not change. */
static void new_generation_empties_window(void **state)
{
	static struct tn_relay_peer peer[NODES + 1];
	struct tn_relay r;

	(void)state;
	memset(peer, 0xa5, sizeof(peer));
	begin_relay(&r, peer, 3 * NODES + 2);
	assert_true(r.window == 3 && r.capacity == 3 * NODES && !r.used && r.ask_at == ~0ull);
	for (u32 node = 1; node < NODES; node += NODES - 2) {
		struct tn_pkt pkt = { .via = { .dst = node } };

		tn_relay_charge(&r, &pkt, 0);
	}
	assert_true(r.used && r.out == 2);
	peer[1].ended = 4;
	r.asks = 3;
	r.ask_at = 5;
	tn_relay_renew(&r, 0);			/* the present generation */
	assert_true(r.out == 2 && r.asks == 3);
	tn_relay_renew(&r, 7);
	assert_true(!r.out && !r.used && !r.asks && r.ask_at == ~0ull && r.gen == 7);
	for (u32 node = 0; node < NODES; node++)
		assert_false(tn_relay_acked(&r, node, 7, 1));
	assert_int_equal(peer[1].ended, 4);	/* a count of the other window */
	assert_int_equal(peer[NODES].sent, 0xa5a5a5a5);
	begin_relay(&r, peer, NODES - 1);
	assert_true(r.window == 1 && r.capacity == NODES);
}

/* A node with which nothing was sent for long has no counts of a former generation. */
static void idle_node_has_no_counts_of_former_generation(void **state)
{
	struct tn_pkt old = { .via = { .dst = 1 } }, pkt = { .via = { .dst = 2 } };
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 10 * NODES);
	tn_relay_charge(&r, &old, 0);
	for (u32 gen = 1; gen <= 65536; gen++) {
		tn_relay_renew(&r, gen);
		tn_relay_charge(&r, &pkt, 0);
		assert_true(tn_relay_acked(&r, 2, gen, 1));
	}
	tn_relay_charge(&r, &pkt, 0);
	assert_false(tn_relay_acked(&r, 1, 65536, 1));
	assert_int_equal(tn_relay_ask(&r, NODES), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, NODES), 2);
}

/* Few of many nodes are looked at when a generation begins, and all before their turn is back. */
static void all_nodes_are_looked_at_in_turn(void **state)
{
	enum { MANY = 0x20001 };
	struct tn_relay_peer *peer = calloc(MANY, sizeof(*peer));
	struct tn_pkt old = { .via = { .dst = MANY - 1 } }, pkt = { .via = { .dst = 2 } };
	unsigned int fresh = 0;
	struct tn_relay r;

	(void)state;
	assert_non_null(peer);
	tn_relay_init(&r, peer, MANY, 10);
	tn_relay_charge(&r, &old, 0);
	for (u32 gen = 1; gen <= 65536; gen++) {
		tn_relay_renew(&r, gen);
		if (gen < 65536)
			tn_relay_charge(&r, &pkt, 0);
	}
	for (u32 node = 0; node < MANY; node++)
		fresh += peer[node].turn == r.turn;
	assert_int_equal(fresh, 3);
	assert_false(tn_relay_acked(&r, MANY - 1, 65536, 1));
	free(peer);
}

/* The nodes that sent no count since the last check are asked one after the other. */
static void silent_nodes_are_asked_one_by_one(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 10 * NODES);
	assert_int_equal(tn_relay_ask(&r, 3), TORUS_NO_NODE);
	assert_int_equal(r.cursor, 0);		/* no node owes a report */
	for (u32 node = 1; node < 4; node++) {
		struct tn_pkt pkt = { .via = { .dst = node } };

		tn_relay_charge(&r, &pkt, 0);
		tn_relay_charge(&r, &pkt, 0);
	}
	assert_true(tn_relay_acked(&r, 2, 0, 1));	/* before the first look */
	assert_int_equal(tn_relay_ask(&r, NODES), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, NODES), 1);
	assert_true(tn_relay_acked(&r, 2, 0, 2));	/* all of them */
	assert_int_equal(tn_relay_ask(&r, 1), TORUS_NO_NODE);
	assert_int_equal(tn_relay_ask(&r, 1), 3);
	assert_int_equal(tn_relay_ask(&r, NODES), 1);
	assert_int_equal(tn_relay_ask(&r, NODES), 3);
}

/* A count that is old, of another generation, or larger than what was sent frees nothing. */
static void outdated_count_frees_nothing(void **state)
{
	struct tn_relay_peer peer[NODES];
	struct tn_pkt pkt = { .via = { .dst = 2 } };
	struct tn_relay r;

	(void)state;
	begin_relay(&r, peer, 10 * NODES);
	for (int n = 0; n < 3; n++)
		tn_relay_charge(&r, &pkt, 0);
	r.ask_at = 5;
	assert_false(tn_relay_acked(&r, 2, 1, 1));
	assert_false(tn_relay_acked(&r, 2, 0, 4));
	assert_false(tn_relay_acked(&r, 2, 0, 0));
	assert_false(tn_relay_acked(&r, 1, 0, 1));
	assert_int_equal(r.out, 3);
	assert_true(tn_relay_acked(&r, 2, 0, 2));
	assert_false(tn_relay_acked(&r, 2, 0, 2));
	assert_false(tn_relay_acked(&r, 2, 0, 1));
	assert_true(r.out == 1 && r.ask_at == 5);
	assert_true(tn_relay_acked(&r, 2, 0, 3));
	assert_true(r.out == 0 && r.ask_at == ~0ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_windows_equal_model),
		cmocka_unit_test(relays_without_counts_are_asked_in_turn),
		cmocka_unit_test(single_packet_under_way_is_asked_about),
		cmocka_unit_test(only_new_plausible_count_is_accepted),
		cmocka_unit_test(generations_wrap_around),
		cmocka_unit_test(forged_generation_ends_with_next_window),
		cmocka_unit_test(last_packet_stops_timer),
		cmocka_unit_test(relay_has_room_for_windows_of_all_nodes),
		cmocka_unit_test(new_generation_empties_window),
		cmocka_unit_test(idle_node_has_no_counts_of_former_generation),
		cmocka_unit_test(all_nodes_are_looked_at_in_turn),
		cmocka_unit_test(silent_nodes_are_asked_one_by_one),
		cmocka_unit_test(outdated_count_frees_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
