// SPDX-License-Identifier: GPL-2.0-only
/* The NIC and its host, and a neighbour that lies. */
#include "tests/flits.h"
#include "tests/unit/fabric.h"
#include "tests/unit/lone.h"
#include "lib/util/times.h"

#define STILL 1000000000

static struct fabric f;
static struct lone alone;

/* --- set-up ------------------------------------------------------------------------- */

/* A NIC without a place only exchanges management packets with its neighbours. */
static void unplaced_nic_sends_only_management_packets(void **state)
{
	struct tn_nic_config cfg = { .ops = &f.ops, .host = &f.node, .nports = 4 };
	struct tn_nic *nic = aligned_alloc(64, (tn_nic_size() + 63) & ~63ul);
	struct torus_shape s;
	struct torus_coords at;
	struct tn_pkt pkt = { 0 };
	u32 n = 0;
	u64 v;

	(void)state;
	assert_non_null(nic);
	tn_params_default(&cfg.params);
	assert_int_equal(tn_nic_init(nic, &cfg, 1), 0);
	assert_false(tn_nic_at(nic, &s, &at));
	assert_false(tn_nic_rows(nic, &n, &v));
	assert_null(tn_nic_rows_get(nic, 0, 0));
	assert_int_equal(tn_nic_send(nic, &pkt, 0, 0, 1), -ENODEV);
	assert_int_equal(tn_nic_rows_begin(nic, 1), -ENODEV);
	assert_int_equal(tn_nic_rows_put(nic, 1, 0, &v, 0), -ENODEV);
	assert_int_equal(tn_nic_rows_commit(nic, 1, 1), -ENODEV);
	assert_int_equal(tn_nic_hold(nic, &n, 0), -ENODEV);
	assert_int_equal(tn_nic_release(nic, 0, false, 1), -ENODEV);
	assert_int_equal(tn_nic_park_replay(nic, 0, 0, 1), -ENODEV);
	assert_int_equal(tn_nic_mgmt_send(nic, 0, (const u8 *)"x", 1, 1), -ENETDOWN);
	assert_int_equal(tn_nic_mgmt_send(nic, 4, (const u8 *)"x", 1, 1), -EINVAL);
	tn_nic_work(nic, 1);
	assert_int_equal(tn_nic_expiry(nic), ~0ull);
	tn_nic_flush(nic);
	free(nic);
}

static void only_possible_place_is_taken_and_makes_rows_invalid(void **state)
{
	static const struct torus_shape shapes[] = {
		{ 0, { 1, 1, 1, 1, 1, 1 } }, { 3, { 2, 2, 2, 1, 1, 1 } },
		{ 7, { 1, 1, 1, 1, 1, 1 } }, { 2, { 0, 2, 1, 1, 1, 1 } },
		{ 2, { 4097, 1, 1, 1, 1, 1 } }, { 2, { 2, 2, 2, 1, 1, 1 } },
	};
	struct torus_coords at = { { 0 } }, out = { { 3, 0 } }, extra = { { 0, 0, 1 } }, now;
	struct torus_shape s;
	struct tn_nic *nic;
	void *table;
	u64 v;
	u32 n;

	(void)state;
	fabric_start(&f, 1, "3x3");
	nic = f.node[4].nic;
	for (unsigned int i = 0; i < ARRAY_SIZE(shapes); i++)
		assert_int_equal(tn_nic_set_shape(nic, &shapes[i], &at, f.node[4].table), -EINVAL);
	assert_int_equal(tn_nic_set_shape(nic, &f.shape, &out, f.node[4].table), -EINVAL);
	assert_int_equal(tn_nic_set_shape(nic, &f.shape, &extra, f.node[4].table), -EINVAL);
	assert_true(tn_nic_at(nic, &s, &now));
	assert_true(now.c[0] == 1 && now.c[1] == 1);
	/* Setting the same place again changes nothing and does not touch the memory. */
	assert_int_equal(tn_nic_set_shape(nic, &f.shape, &now, NULL), 0);
	assert_true(*tn_nic_rows_get(nic, 0, 1) & TORUS_ROW_VALID);
	/* Another place: all rows are invalid, version 0, and no packet is left inside. */
	f.load = 2;
	fabric_run(&f, 2 * MS);
	table = aligned_alloc(64, (tn_nic_table_size(&f.shape) + 63) & ~63ul);
	assert_non_null(table);
	memset(table, 0, tn_nic_table_size(&f.shape));
	assert_int_equal(tn_nic_set_shape(nic, &f.shape, &at, table), 0);
	free(f.node[4].table);
	f.node[4].table = table;
	assert_true(tn_nic_rows(nic, &n, &v));
	assert_false(*tn_nic_rows_get(nic, 1, 1) & TORUS_ROW_VALID);
	assert_int_equal(v, 0);
	fabric_end(&f);
}

/* Sends packets to node 8 by +x and +y. Return: mask of the ports by which they leave. */
static u32 leaves_by(struct node *node)
{
	const u64 row = TORUS_ROW_VALID | 3u << TORUS_ROW_DIR_SHIFT |
			(u64)TORUS_ROW_NO_STEP << TORUS_ROW_FIRST_SHIFT |
			(u64)TORUS_ROW_NO_STEP << TORUS_ROW_LAST_SHIFT;
	struct tn_pkt *pkt = memory_new(&node->mem, 1);
	struct tn_frame frame;
	u32 ports;

	assert_non_null(pkt);
	pkt->hdr.len = 1;
	assert_int_equal(tn_nic_rows_begin(node->nic, 9), 0);
	assert_int_equal(tn_nic_rows_put(node->nic, 9, 8, &row, 1), 0);
	assert_int_equal(tn_nic_rows_commit(node->nic, 9, f.now), 0);
	assert_int_equal(tn_nic_tx_ports(node->nic), 0);
	assert_int_equal(tn_nic_send(node->nic, pkt, 8, 0, f.now), 0);
	tn_nic_work(node->nic, f.now);
	ports = tn_nic_tx_ports(node->nic);
	for (unsigned int p = 0; p < f.nports; p++)
		tn_nic_tx(node->nic, p, &frame, f.now);
	return ports;
}

/* The same header leads elsewhere from another place. */
static void same_header_leads_elsewhere_from_another_place(void **state)
{
	const struct torus_coords at = { { 2, 1 } };
	struct node *node;
	void *table;

	(void)state;
	fabric_start(&f, 1, "3x3");
	node = &f.node[4];		/* the node at 1,1 */
	assert_int_equal(leaves_by(node), 1u << 0);
	table = aligned_alloc(64, (tn_nic_table_size(&f.shape) + 63) & ~63ul);
	assert_non_null(table);
	memset(table, 0, tn_nic_table_size(&f.shape));
	assert_int_equal(tn_nic_set_shape(node->nic, &f.shape, &at, table), 0);
	free(node->table);
	node->table = table;
	assert_int_equal(leaves_by(node), 1u << 1);
	fabric_end(&f);
}

static void impossible_packet_is_not_sent(void **state)
{
	struct tn_nic *nic;
	struct tn_pkt *pkt;
	u64 zero = 0;

	(void)state;
	fabric_start(&f, 1, "3x3");
	nic = f.node[0].nic;
	pkt = memory_new(&f.node[0].mem, 257);
	assert_non_null(pkt);
	pkt->hdr.len = 1;
	assert_int_equal(tn_nic_send(nic, pkt, 9, 0, f.now), -EINVAL);
	assert_int_equal(tn_nic_send(nic, pkt, TORUS_NO_NODE, 0, f.now), -EINVAL);
	assert_int_equal(tn_nic_send(nic, pkt, 1, TORUS_VCS, f.now), -EINVAL);
	pkt->hdr.len = 257;
	assert_int_equal(tn_nic_send(nic, pkt, 1, 0, f.now), -EINVAL);
	pkt->hdr.len = 1;
	assert_int_equal(tn_nic_rows_begin(nic, 2), 0);
	assert_int_equal(tn_nic_rows_put(nic, 2, 5, &zero, 1), 0);
	assert_int_equal(tn_nic_rows_commit(nic, 2, f.now), 0);
	assert_int_equal(tn_nic_send(nic, pkt, 5, 0, f.now), -EHOSTUNREACH);
	assert_int_equal(tn_nic_counters(nic)[TORUS_NC_UNREACHABLE], 1);
	memory_put(&f.node[0].mem, pkt);
	fabric_end(&f);
}

/* An injection queue has a limit, and the NIC reports how much room is left. */
static void injection_queue_has_a_limit(void **state)
{
	struct tn_nic *nic;
	unsigned int n = 0, room;

	(void)state;
	fabric_start(&f, 1, "4");
	nic = f.node[0].nic;
	room = tn_nic_room(nic, 1, 1);
	assert_true(room > 0);
	for (;; n++) {
		struct tn_pkt *pkt = memory_new(&f.node[0].mem, 1);
		int err;

		memset(pkt->payload, 0, TN_FLIT);
		pkt->hdr.len = 1;
		pkt->tail.flags = TN_TAIL_FIRST;
		assert_int_equal(tn_nic_room(nic, 1, 1), room - n);
		err = tn_nic_send(nic, pkt, 1, 1, f.now);
		if (!err)
			continue;
		memory_put(&f.node[0].mem, pkt);
		assert_int_equal(err, -EAGAIN);
		break;
	}
	assert_int_equal(n, room);
	assert_int_equal(tn_nic_room(nic, 1, 1), 0);
	assert_int_equal(tn_nic_room(nic, 1, 0), room);
	f.unchecked = true;
	f.load = STILL;
	fabric_run(&f, 50 * MS);
	assert_int_equal(tn_nic_room(nic, 1, 1), room);
	assert_int_equal(f.delivered, n);
	fabric_end(&f);
}

/* --- what counters and queries say ----------------------------------------------------- */

static void counters_agree_with_packets(void **state)
{
	u64 injected = 0, delivered = 0, sent = 0, up = 0;
	struct tn_link_info info;

	(void)state;
	fabric_start(&f, 5, "3x2");
	f.load = 3;
	fabric_run(&f, 10 * MS);
	fabric_settle(&f, 100 * MS);
	for (u32 i = 0; i < f.n; i++) {
		const u64 *c = tn_nic_counters(f.node[i].nic);

		injected += c[TORUS_NC_INJECTED];
		delivered += c[TORUS_NC_DELIVERED];
		assert_int_equal(c[TORUS_NC_UNREACHABLE], 0);
		assert_int_equal(c[TORUS_NC_PARKED], 0);
	}
	for (u32 i = 0; i < f.n * f.n; i++)
		sent += f.traffic[i].sent[0] + f.traffic[i].sent[1] + f.traffic[i].sent[2];
	assert_true(sent > 500);
	assert_int_equal(injected, sent);
	assert_int_equal(delivered, sent);
	fabric_run(&f, 5 * MS);		/* the last credits return */
	for (unsigned int p = 0; p < f.nports; p++) {
		const u64 *c = tn_nic_port_counters(f.node[0].nic, p, f.now);

		tn_nic_link_info(f.node[0].nic, p, &info, f.now);
		assert_int_equal(info.state, TORUS_LINK_UP);
		assert_true(info.session && info.admin && info.carrier && !info.closed);
		assert_int_equal(info.peer_guid,
				 1000 + fabric_peer(&f, 0, p, &(unsigned int){ 0 }));
		assert_int_equal(info.peer_port, tn_dir_opposite(&f.shape, p));
		assert_int_equal(info.gauge[TORUS_PG_CREDITS_VCD0], f.params.slots);
		assert_int_equal(info.gauge[TORUS_PG_CREDITS_VCA], f.params.slots);
		assert_int_equal(info.gauge[TORUS_PG_QUEUED_PACKETS], 0);
		assert_int_equal(info.gauge[TORUS_PG_RETRY_FLITS], 0);
		up = c[TORUS_PC_NS_UP];
		assert_true(up > 10 * MS && up + c[TORUS_PC_NS_TRAINING] + c[TORUS_PC_NS_DOWN] +
			    c[TORUS_PC_NS_FAULTY] <= f.now);
	}
	fabric_end(&f);
}

static void few_slots(struct lone *t)
{
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		t->peer[p].slots = 3;
}

/* A packet of @vc from node 2 to node 1, which goes through node 0 of a ring of three. */
static void through(u8 vc)
{
	const struct tn_hdr h = { .type = TN_DATA, .vc = vc, .src = 2, .dst = 1, .dir = 1,
				  .first = 15, .last = 15 };

	lone_rx_pkt(&alone, 1, h, (struct tn_tail) { 0 });
	tn_nic_work(alone.nic, alone.now);
}

/* Where packets of two VCs wait, both are shown, and the time of the VC that waits longest. */
static void gauges_show_packets_and_time_of_longest_waiting_vc(void **state)
{
	struct tn_link_info info;

	(void)state;
	lone_start(&alone, "3", 0, few_slots);
	lone_all_up(&alone);
	for (unsigned int i = 0; i < 5; i++)
		through(TORUS_VC_D0);		/* three packets go on */
	alone.now += 7;
	for (unsigned int i = 0; i < 4; i++)
		through(TORUS_VC_D1);
	alone.now += 4;
	tn_nic_link_info(alone.nic, 0, &info, alone.now);
	assert_int_equal(info.gauge[TORUS_PG_WAITED], 11);
	tn_nic_link_info(alone.nic, 1, &info, alone.now);
	assert_int_equal(info.gauge[TORUS_PG_QUEUED_PACKETS], 2 + 1);
	lone_end(&alone);
}

/* Two inputs have turns of some packets each: one call moves all that can go on. */
static void one_call_moves_all_packets_that_can_go_on(void **state)
{
	(void)state;
	for (unsigned int turn = 0; turn < TN_INPUTS; turn++) {
		lone_start(&alone, "3", 0, NULL);
		lone_all_up(&alone);
		for (unsigned int i = 0; i < 40; i++) {
			lone_rx_pkt(&alone, 1,
				    (struct tn_hdr) { .type = TN_DATA, .src = 2, .dst = 1,
				    .dir = 1, .first = 15, .last = 15 }, (struct tn_tail) { 0 });
			lone_rx_pkt(&alone, 0,
				    (struct tn_hdr) { .type = TN_DATA, .src = 1, .dst = 2,
				    .dir = 2, .first = 15, .last = 15 }, (struct tn_tail) { 0 });
		}
		alone.nic->turn = (u8)turn;
		tn_nic_work(alone.nic, alone.now);
		assert_int_equal(lone_nc(&alone, TORUS_NC_FORWARDED), 80);
		lone_end(&alone);
	}
}

/* --- a neighbour that lies ---------------------------------------------------------------- */

/* Makes a packet of any content that the link at port 0 of node 0 accepts as its next. */
static void forge(struct tn_hdr h, struct tn_tail t)
{
	unsigned int pp;
	struct node *liar = &f.node[fabric_peer(&f, 0, 0, &pp)];
	struct tn_link *l = &f.node[0].nic->link[0];
	static u8 flits[TN_PACKET_MAX];
	struct tn_pkt pkt = { .hdr = h, .tail = t };

	rnd_fill(&f.r, flits, sizeof(flits));
	pkt.hdr.tseq = l->retry.rx.expected;
	pkt.hdr.rseq = l->retry.tx.sent.head ? l->retry.tx.sent.head->hdr.tseq : l->retry.tx.tseq;
	pkt.tail.ecrc = tn_ecrc(flits + TN_FLIT, &pkt.hdr, &pkt.tail);
	tn_hdr_put(flits, &pkt.hdr);
	tn_tail_put(flits_tail(flits, h.len), &pkt.tail);
	flits_seal(flits, h.len, l->seed);
	tn_nic_rx(f.node[0].nic, 0, flits, (h.len + 2u) * TN_FLIT, NULL, f.now);
	(void)liar;
}

static struct tn_hdr random_hdr(void)
{
	struct rnd *r = &f.r;

	return (struct tn_hdr) {
		.type = (u8)rnd_below(r, 8), .vc = (u8)rnd_below(r, 4), .e = (u8)rnd_below(r, 2),
		.gen = (u8)rnd_below(r, 2), .gen_echo = (u8)rnd_below(r, 2),
		.len = (u16)(rnd_below(r, 4) ? rnd_below(r, 4) : rnd_below(r, 257)),
		.crp = rnd_below(r, 3) ? 0 : (u16)rnd_below(r, 4096),
		.crp_vc = (u8)rnd_below(r, 4), .colour = (u8)rnd_below(r, 4),
		.first = (u8)rnd_below(r, 16), .last = (u8)rnd_below(r, 16),
		.dst = rnd_below(r, 2) ? rnd_below(r, f.n) : rnd_below(r, 1 << 24),
		.src = rnd_below(r, 2) ? rnd_below(r, f.n) : rnd_below(r, 1 << 24),
		.dir = (u16)rnd_below(r, 4096),
	};
}

static struct tn_pkt *forged_get(void *host, void *owner, const u8 *payload)
{
	struct node *n = host;
	struct frame *frame = owner;
	struct tn_pkt *pkt;

	(void)payload;
	if (frame)
		return memory_get(&n->mem, frame);
	/* Forged bytes are in no frame: give them one that stays. */
	frame = frame_new(0);
	pkt = memory_get(&n->mem, frame);
	frame_put(frame);
	return pkt;
}

/*
 * Well-formed frames with right checksums and random content: only the link to the liar may fail,
 * and packets still arrive. Their order is not checked, because a forged packet may claim to be
 * of any flow.
 */
static void liar_one(uint64_t seed)
{
	unsigned int pp;
	u32 liar;

	fabric_start(&f, seed, "3x3");
	f.ops.pkt_get = forged_get;
	f.unchecked = true;
	liar = fabric_peer(&f, 0, 0, &pp);
	f.load = 6;
	for (int i = 0; i < 400; i++) {
		forge(random_hdr(), (struct tn_tail) {
			.eseq = (u32)rnd64(&f.r), .epoch = (u16)rnd64(&f.r),
			.flags = (u8)rnd64(&f.r), .vb = rnd_below(&f.r, 8) ? 0 : TN_VB_BAD,
		});
		fabric_run(&f, FABRIC_TICK * rnd_below(&f.r, 4));
	}
	for (u32 i = 0; i < f.n; i++) {
		for (unsigned int p = 0; p < f.nports; p++) {
			if ((i == 0 && p == 0) || (i == liar && p == pp))
				continue;
			expect(&f.r, f.node[i].nic->link[p].state == TORUS_LINK_UP &&
			       f.node[i].nic->link[p].reason == TORUS_REASON_NONE,
			       "node %u, port %u failed: reason %u", i, p,
			       f.node[i].nic->link[p].reason);
		}
	}
	expect(&f.r, f.delivered > 100, "%llu delivered", (unsigned long long)f.delivered);
	fabric_end(&f);
}

static void peer_with_false_credits_fails_only_its_own_link(void **state)
{
	(void)state;
	for_seeds(15, liar_one);
}

/* A packet that finds no way and names a source after the last node does not go back. */
static void packet_of_unknown_source_does_not_go_back(void **state)
{
	struct tn_hdr h = { .type = TN_DATA, .src = 8, .dst = 4, .first = 15, .last = 15 };

	(void)state;
	lone_start(&alone, "4x2", 1, NULL);
	lone_all_up(&alone);
	for (unsigned int i = 0; i < 2; i++)	/* both tables have the row */
		lone_row(&alone, 0, lone_dirs(4));
	assert_int_equal(tn_nic_release(alone.nic, alone.nic->version, false, alone.now), 0);
	for (h.src = 8; h.src < 11; h.src++) {
		lone_rx_pkt(&alone, 0, h, (struct tn_tail) { 0 });
		tn_nic_work(alone.nic, alone.now);
		assert_int_equal(alone.mem.live, 0);
	}
	assert_int_equal(lone_nc(&alone, TORUS_NC_UNREACHABLE), 3);
	for (unsigned int p = 0; p < 4; p++)
		assert_int_equal(lone_drain(&alone, p), 0);
	lone_end(&alone);
}

/*
 * Packets of another colour are acknowledged at once, and all that came before when new rows come
 * into force: the drain of older colours does not wait for ack_delay.
 */
static void packets_of_other_colours_are_acknowledged_at_once(void **state)
{
	struct tn_hdr h = { .type = TN_DATA, .src = 5, .dst = 0, .first = 15, .last = 15 };
	struct tn_link *link;
	u64 version;

	(void)state;
	lone_start(&alone, "4x2", 1, NULL);
	lone_all_up(&alone);
	link = &alone.nic->link[0];
	version = alone.nic->version;
	for (unsigned int i = 0; i < TORUS_COLOURS; i++) {
		h.colour = (u8)((version + i) % TORUS_COLOURS);
		lone_rx_pkt(&alone, 0, h, (struct tn_tail) { 0 });
		assert_true(link->unacked);
		assert_true(link->ack_now == (i > 0));
		if (i)
			lone_drain(&alone, 0);
	}
	assert_int_equal(link->unacked, 0);
	h.colour = alone.nic->colour;
	lone_rx_pkt(&alone, 0, h, (struct tn_tail) { 0 });
	assert_true(link->unacked && !link->ack_now);
	assert_int_equal(tn_nic_rows_begin(alone.nic, version + 1), 0);
	assert_int_equal(tn_nic_rows_commit(alone.nic, version + 1, alone.now), 0);
	assert_true(link->ack_now);
	lone_drain(&alone, 0);
	assert_int_equal(tn_nic_rows_begin(alone.nic, version + 2), 0);
	assert_int_equal(tn_nic_rows_commit(alone.nic, version + 2, alone.now), 0);
	assert_false(link->ack_now);
	lone_end(&alone);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(unplaced_nic_sends_only_management_packets),
		cmocka_unit_test(only_possible_place_is_taken_and_makes_rows_invalid),
		cmocka_unit_test(same_header_leads_elsewhere_from_another_place),
		cmocka_unit_test(impossible_packet_is_not_sent),
		cmocka_unit_test(injection_queue_has_a_limit),
		cmocka_unit_test(counters_agree_with_packets),
		cmocka_unit_test(gauges_show_packets_and_time_of_longest_waiting_vc),
		cmocka_unit_test(one_call_moves_all_packets_that_can_go_on),
		cmocka_unit_test(peer_with_false_credits_fails_only_its_own_link),
		cmocka_unit_test(packet_of_unknown_source_does_not_go_back),
		cmocka_unit_test(packets_of_other_colours_are_acknowledged_at_once),
	};

	return cmocka_run_group_tests_name("nic", all, NULL, NULL);
}
