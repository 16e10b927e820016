// SPDX-License-Identifier: GPL-2.0-only
/*
 * NICs as relays: tori in which every hop of every packet ends in the memory of a relay, and broken
 * ones in which some pairs need relays.
 */
#include <stdio.h>
#include <torus/route.h>
#include <torus/topology.h>
#include "tests/unit/fabric.h"
#include "lib/util/times.h"

static struct fabric f;

/* --- every node a relay ---------------------------------------------------------- */

/* Gives each destination two or more hops away a relay that is one hop nearer to it. */
static void hop_by_hop(struct fabric *t, u32 node, uint64_t *rows)
{
	struct torus_coords at, to;

	torus_node_coords(&t->shape, node, &at);
	for (u32 i = 0; i < t->n; i++) {
		uint32_t dist = torus_distance(&t->shape, node, i), way[TORUS_MAX_PORTS];
		unsigned int n = 0;

		if (dist < 2)
			continue;
		torus_node_coords(&t->shape, i, &to);
		for (unsigned int p = 0; p < t->nports; p++) {
			uint32_t next = torus_neighbour(&t->shape, node, p);

			if (next != node && torus_distance(&t->shape, next, i) < dist)
				way[n++] = next;
		}
		n = way[rnd_below(&t->r, n)];
		rows[i] = (rows[n] & ~(TORUS_ROW_ADAPTIVE | TORUS_ROW_RELAY |
				       TORUS_ROW_NODE_MASK << TORUS_ROW_RELAY_SHIFT)) |
			  TORUS_ROW_RELAY | (u64)n << TORUS_ROW_RELAY_SHIFT;
	}
}

static void tight(struct fabric *t)
{
	t->params.slots = 4;
	t->params.retry_packets = 1 + rnd_below(&t->r, 16);
	fabric_vary_packets(t);
	t->params.relay_packets = rnd_below(&t->r, 3) ? 1 + rnd_below(&t->r, 200) : 1;
	t->params.hold_bytes = 2000;
	t->max_flits = rnd_below(&t->r, 8) ? 4 : t->params.payload_max / TN_FLIT;
	t->reroute = hop_by_hop;
}

static u64 counted(enum torus_node_counter c)
{
	u64 sum = 0;

	for (u32 i = 0; i < f.n; i++)
		sum += tn_nic_counters(f.node[i].nic)[c];
	return sum;
}

static void saturate(uint64_t seed, const char *shape, u64 ns)
{
	fabric_start_tuned(&f, seed, shape, tight);
	f.load = 2 + rnd_below(&f.r, 2);
	f.busy_host = rnd_below(&f.r, 2) ? 3 : 0;
	for (int i = 0; i < 4; i++) {
		u64 before = f.delivered;

		fabric_run(&f, ns / 4);
		expect(&f.r, f.delivered > before, "%s: nothing moves", shape);
	}
	fabric_settle(&f, 60000 * MS);
	expect(&f.r, counted(TORUS_NC_RELAY_FORWARDED) && !f.returned && !fabric_parked(&f),
	       "%s", shape);
	expect(&f.r, counted(TORUS_NC_RELAYED_TX) &&
	       counted(TORUS_NC_RELAYED_TX) == counted(TORUS_NC_RELAYED_RX) &&
	       !counted(TORUS_NC_LOST), "%s: counters", shape);
	for (u32 i = 0; i < f.n; i++) {
		u64 until = f.now + 2000 * MS;

		while (f.node[i].nic->relay.out) {
			fabric_step(&f);
			expect(&f.r, f.now < until, "window of node %u stays shut", i);
		}
	}
	fabric_end(&f);
}

static const char *shape_now;

static void saturate_one(uint64_t seed)
{
	saturate(seed, shape_now, 12 * MS);
}

static void saturated_relays_lose_no_packet(void **state)
{
	static const char *const s[] = { "4", "5", "2x2", "3x3", "2x2x2", "4x4", "1x6", "2x5" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(s); i++) {
		shape_now = s[i];
		for_seeds(3, saturate_one);
	}
}

/* --- broken fabrics -------------------------------------------------------------- */

static void small_memory(struct fabric *t)
{
	t->params.slots = 4;
	t->params.relay_packets = 1 + rnd_below(&t->r, 100);
	t->params.hold_bytes = 2000;
	t->relays = true;
}

static bool joined(void)
{
	bool seen[64] = { true }, more = true;
	u32 n = 0;

	while (more) {
		more = false;
		for (u32 i = 0; i < f.n; i++) {
			for (unsigned int p = 0; p < f.nports; p++) {
				u32 to = torus_neighbour(&f.shape, i, p);

				if (!seen[i] || seen[to] || f.node[i].out[p].cut)
					continue;
				seen[to] = more = true;
			}
		}
	}
	for (u32 i = 0; i < f.n; i++)
		n += seen[i];
	return n == f.n;
}

static void turn_cable(u32 node, unsigned int port, bool up)
{
	if (!fabric_wired(&f, port) || up != f.node[node].out[port].cut)
		return;
	fabric_carrier(&f, node, port, up);
	if (!joined())
		fabric_carrier(&f, node, port, true);
}

/*
 * Cables go down and come back. A path is always left between any two nodes, so all packets must
 * arrive, in order; none may come back.
 */
static u64 relayed;

static void broken_one(uint64_t seed)
{
	fabric_start_tuned(&f, seed, shape_now, small_memory);
	f.load = 4;
	for (int round = 0; round < 4; round++) {
		bool heal = round == 3;

		fabric_run(&f, 2 * MS);
		for (u32 i = 0; i < f.n; i++) {
			for (unsigned int p = 0; p < f.ndims; p++) {
				turn_cable(i, p, heal || rnd_below(&f.r, 10) < 5);
			}
		}
		fabric_run(&f, (1 + rnd_below(&f.r, 40)) * MS / 2);
		fabric_recover(&f, 60000 * MS);
	}
	fabric_run(&f, 5 * MS);
	fabric_settle(&f, 60000 * MS);
	expect(&f.r, !f.returned && !counted(TORUS_NC_LOST), "%s: lost", shape_now);
	relayed += counted(TORUS_NC_RELAY_FORWARDED);
	fabric_end(&f);
}

static void relays_in_broken_fabric_lose_no_packet(void **state)
{
	static const char *const s[] = { "3x3", "2x2x2", "4x4", "5x2" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(s); i++) {
		shape_now = s[i];
		for_seeds(10, broken_one);
	}
	printf("%llu packets relayed\n", (unsigned long long)relayed);
	assert_true(relayed > 100);
}

/* --- a neighbour that lies --------------------------------------------------------- */

#define FINAL	8		/* node two hops from RELAY, by the rows of hop_by_hop() */
#define RELAY	0
#define LIAR	2		/* behind port -x of RELAY */
#define LIAR_IN	2		/* the port of RELAY at which LIAR is */

static const struct tn_via honest = { .dst = FINAL, .payer = LIAR };

/* Tunes a torus whose links stay down: packets of RELAY stay, or go to the parking segment. */
static void relay_alone(struct fabric *t)
{
	t->params.relay_packets = 18;	/* 2 for each of 9 nodes */
	t->params.slots = 1024;
	t->reroute = hop_by_hop;
}

static struct tn_nic *relay_start(void)
{
	fabric_start_tuned(&f, 1, "3x3", relay_alone);
	f.unchecked = true;
	assert_true(f.node[RELAY].nic->rows[FINAL] & TORUS_ROW_RELAY);
	return f.node[RELAY].nic;
}

/* Receives a packet from LIAR, as the link passes it on. */
static struct tn_pkt *receive_forged(struct tn_hdr h, const struct tn_via *via)
{
	struct tn_nic *nic = f.node[RELAY].nic;
	struct tn_pkt *pkt = memory_new(&f.node[RELAY].mem, 1);

	assert_non_null(pkt);
	memset(pkt->payload, 0, TN_FLIT);
	pkt->hdr = h;
	pkt->hdr.dst = RELAY;
	pkt->hdr.src = LIAR;
	pkt->hdr.len = 1;
	pkt->hdr.first = pkt->hdr.last = TN_NO_STEP;
	pkt->hdr.colour = nic->colour;
	pkt->tail = (struct tn_tail) { 0 };
	pkt->via = *via;
	pkt->in_port = LIAR_IN;
	pkt->in_vc = h.vc;
	pkt->unresolved = 0;
	pkt->stalled = 0;
	nic->link[LIAR_IN].credit.used[h.vc]++;
	return pkt;
}

/* Passes packets on while none can leave: the queue of the relay is held. */
static void hand_over(struct tn_hdr h, const struct tn_via *via)
{
	struct tn_nic *nic = f.node[RELAY].nic;

	tn_input_push(nic, LIAR_IN * TORUS_VCS + h.vc, receive_forged(h, via));
	nic->active[TN_INPUT_RELAY / 64] &= ~(7ull << TN_INPUT_RELAY % 64);
	nic->turn = LIAR_IN * TORUS_VCS;
	for (unsigned int p = 0; p < f.nports; p++)	/* no packet may leave */
		nic->link[p].credit.ct[0] = nic->link[p].credit.ct[1] =
			nic->link[p].credit.ct[2] = nic->link[p].credit.n_inp[0];
	tn_nic_work(nic, f.now);
}

static u32 relayed_here(const struct tn_nic *nic)
{
	return nic->input[TN_INPUT_RELAY].count + nic->input[TN_INPUT_RELAY + 1].count +
	       nic->input[TN_INPUT_RELAY + 2].count;
}

static const struct tn_hdr data_hdr = { .type = TN_DATA, .relayed = 1 };
static const struct tn_hdr word_hdr = {
	.type = TN_DATA, .vc = TORUS_VC_D1, .nic = 1, .relayed = 1,
};
static const struct tn_hdr back_hdr = { .type = TN_UNREACH, .vc = TORUS_VC_D1, .relayed = 1 };

/* A packet that has passed too many relays comes back; one with one leg less goes on. */
static void packet_of_too_many_legs_comes_back(void **state)
{
	static const struct { u16 legs; bool on; } packets[] = {
		{ 0, true }, { TN_RELAY_LEGS - 1, true }, { TN_RELAY_LEGS, false },
		{ 0xffff, false },
	};
	struct tn_nic *nic;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(packets); i++) {
		struct tn_via via = honest;

		nic = relay_start();
		via.legs = packets[i].legs;
		hand_over(data_hdr, &via);
		assert_int_equal(relayed_here(nic), packets[i].on);
		assert_int_equal(nic->counter[TORUS_NC_RELAY_FORWARDED], packets[i].on);
		assert_int_equal(nic->counter[TORUS_NC_UNREACHABLE], !packets[i].on);
		if (packets[i].on)
			assert_int_equal(nic->input[TN_INPUT_RELAY].head->via.legs,
					 packets[i].legs + 1);
		fabric_end(&f);
	}
}

/* A node that sends more than all windows together gets the excess back. */
static void packets_beyond_all_windows_come_back(void **state)
{
	struct tn_nic *nic = relay_start();
	u32 most = nic->relay.capacity;

	(void)state;
	assert_int_equal(most, 18);
	/* Packets of no window take none of that room. */
	hand_over(back_hdr, &(struct tn_via) { .dst = FINAL, .payer = TORUS_NO_NODE });
	assert_int_equal(nic->relay.riders, 1);
	for (u32 i = 0; i < most + 5; i++)
		hand_over(data_hdr, &honest);
	assert_int_equal(relayed_here(nic), most + 1);
	assert_int_equal(nic->counter[TORUS_NC_UNREACHABLE], 5);
	assert_int_equal(nic->counter[TORUS_NC_RELAY_DROPS], 0);
	fabric_end(&f);
}

/* A relay keeps a limited number of packets of no window and drops the rest, counted. */
static void packets_of_no_window_beyond_limit_are_dropped(void **state)
{
	struct tn_nic *nic = relay_start();

	(void)state;
	for (u32 i = 0; i < TN_RELAY_RIDERS + 3; i++)
		hand_over(i % 2 ? back_hdr : word_hdr,
			  &(struct tn_via) { .dst = FINAL, .payer = TORUS_NO_NODE });
	assert_int_equal(nic->relay.riders, TN_RELAY_RIDERS);
	assert_int_equal(relayed_here(nic), TN_RELAY_RIDERS);
	assert_int_equal(nic->counter[TORUS_NC_RELAY_DROPS], 3);
	/* Windows have their room nevertheless. */
	hand_over(data_hdr, &honest);
	assert_int_equal(relayed_here(nic), TN_RELAY_RIDERS + 1);
	fabric_end(&f);
}

/* Messages between NICs are sent before packets that wait at the relay. */
static void messages_of_nics_go_before_packets(void **state)
{
	struct tn_nic *nic = relay_start();

	(void)state;
	hand_over((struct tn_hdr) { .type = TN_DATA, .vc = TORUS_VC_D1, .relayed = 1 }, &honest);
	hand_over(word_hdr, &(struct tn_via) { .dst = FINAL, .payer = TORUS_NO_NODE });
	assert_true(nic->input[TN_INPUT_RELAY + TORUS_VC_D1].head->hdr.nic);
	fabric_end(&f);
}

/* --- messages between NICs ------------------------------------------------------------ */

static void send_to_relay(u32 from, u32 word, u32 gen, u32 count)
{
	struct tn_pkt *pkt = receive_forged((struct tn_hdr) { .type = TN_DATA, .vc = TORUS_VC_D1,
							 .nic = 1 }, &honest);

	pkt->hdr.src = from;
	tn_put_le32(pkt->payload, word);
	tn_put_le32(pkt->payload + 4, gen);
	tn_put_le32(pkt->payload + 8, count);
	f.node[RELAY].nic->link[LIAR_IN].credit.used[TORUS_VC_D1]--;
	tn_via_receive(f.node[RELAY].nic, pkt);
}

/* Return: messages of this NIC that wait to be sent. */
static u32 words(const struct tn_nic *nic)
{
	return nic->input[TN_INPUT_ANSWER].count;
}

enum { ASK = 1, ACK = 2 };	/* as in wire.h */

/* Nodes that do not exist, the NIC itself, and nodes without a row get no answer. */
static void unknown_node_gets_no_answer(void **state)
{
	static const u32 far[] = { 9, 1 << 20, (1 << 24) - 1 };
	struct tn_nic *nic = relay_start();
	u32 limit = TN_ANSWERS_MAX;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(far); i++) {
		send_to_relay(far[i], ASK, 0, 0);
		send_to_relay(far[i], ACK, 0, 1);
	}
	send_to_relay(RELAY, ASK, 0, 0);
	assert_int_equal(words(nic), 0);
	nic->rows[5] &= ~TORUS_ROW_VALID;
	send_to_relay(5, ASK, 0, 0);
	assert_int_equal(words(nic), 0);
	send_to_relay(4, 3, 0, 0);	/* an unknown type of message */
	assert_int_equal(words(nic), 0);
	/* A NIC that asks again and again fills the queue up to a limit and no further. */
	for (u32 i = 1; i <= limit + 5; i++) {
		send_to_relay(4, ASK, 0, 0);
		assert_int_equal(words(nic), i < limit ? i : limit);
	}
	assert_int_equal(nic->input[TN_INPUT_ANSWER].head->hdr.vc, TORUS_VC_D1);
	fabric_end(&f);
}

/* A NIC asks for a count at once, and then less and less often, until one comes. */
static void nic_asks_for_count_ever_more_seldom(void **state)
{
	struct tn_nic *nic = relay_start();
	struct tn_pkt pkt = { .hdr = { .type = TN_DATA, .relayed = 1 }, .via = { .dst = FINAL } };
	const u64 step = nic->params.replay_timeout;

	(void)state;
	tn_via_charge(nic, &pkt);
	assert_int_equal(nic->counter[TORUS_NC_RELAYED_TX], 1);
	assert_int_equal(nic->relay.out, 1);
	/* Packets that come back are in no window. */
	tn_via_charge(nic, &(struct tn_pkt) { .hdr = { .type = TN_UNREACH, .relayed = 1 } });
	tn_via_charge(nic, &(struct tn_pkt) { .hdr = { .type = TN_DATA } });
	assert_int_equal(nic->relay.out, 1);
	assert_int_equal(nic->counter[TORUS_NC_RELAYED_TX], 1);
	nic->relay.ask_at = 1000;
	tn_via_poll(nic, 999);
	assert_int_equal(nic->relay.ask_at, 1000);
	tn_via_poll(nic, 1000);		/* the first look asks no node */
	assert_int_equal(nic->relay.ask_at, 1000 + step);
	assert_int_equal(words(nic), 0);
	for (u32 i = 0; i < 10; i++) {
		u64 now = nic->relay.ask_at;

		tn_via_poll(nic, now);
		assert_int_equal(words(nic), i + 1);
		assert_int_equal(nic->relay.ask_at - now, step << (i < 6 ? i : 6));
	}
	send_to_relay(FINAL, ACK, nic->relay.gen, 1);
	assert_int_equal(nic->relay.out, 0);
	assert_int_equal(nic->relay.ask_at, ~0ull);
	fabric_end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saturated_relays_lose_no_packet),
		cmocka_unit_test(relays_in_broken_fabric_lose_no_packet),
		cmocka_unit_test(packet_of_too_many_legs_comes_back),
		cmocka_unit_test(packets_beyond_all_windows_come_back),
		cmocka_unit_test(packets_of_no_window_beyond_limit_are_dropped),
		cmocka_unit_test(messages_of_nics_go_before_packets),
		cmocka_unit_test(unknown_node_gets_no_answer),
		cmocka_unit_test(nic_asks_for_count_ever_more_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
