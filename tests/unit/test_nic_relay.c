// SPDX-License-Identifier: GPL-2.0-only
/* One NIC as a relay and as source and destination of relayed packets, packet by packet. */
#include "tests/unit/one_lone.h"

#define NONE TORUS_NO_NODE

/*
 * Begins with node 0 of 3x3; rows of version 9 lead to 1 by port 0, to 3 by port 1, and to 8
 * through node 1.
 */
static void begin(void (*tune)(struct lone *l))
{
	lone_begin(tune);
	assert_int_equal(tn_nic_rows_begin(l.nic, 6), 0);
	assert_int_equal(tn_nic_rows_commit(l.nic, 6, l.now), 0);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	lone_row(&l, 8, lone_dirs(1) | TORUS_ROW_RELAY | 1ull << TORUS_ROW_RELAY_SHIFT);
	release();
	l.events = 0;
}

/* Receives a packet from node 6 through this one to @dst, in the window of @payer, at port 2. */
static void relayed(u8 type, u32 dst, u32 payer, u16 legs, u8 colour)
{
	const struct tn_hdr h = {
		.type = type, .len = 1, .src = 6, .dir = 15, .first = 15, .last = 15,
		.colour = colour, .vc = 1,
	};

	lone_rx_pkt_via(&l, 2, h, (struct tn_tail) { .eseq = 0, .epoch = 3 },
			(struct tn_via) { .dst = dst, .payer = payer, .gen = 9, .legs = legs });
	work();
}

/* Receives a message between NICs: from @from, on its last leg. */
static void word(u32 from, u32 what, u32 gen, u32 count)
{
	u8 flits[3 * TN_FLIT], payload[TN_FLIT] = { 0 };
	const struct tn_hdr h = { .type = TN_DATA, .nic = 1, .len = 1, .src = from, .vc = 1,
				  .dir = 15, .first = 15, .last = 15 };

	tn_put_le32(payload, what);
	tn_put_le32(payload + 4, gen);
	tn_put_le32(payload + 8, count);
	lone_rx(&l, 0, flits, lone_make(&l, 0, flits, h, (struct tn_tail) { 0 }, NULL, payload));
	l.peer[0].tseq = (u16)((l.peer[0].tseq + 1) & TN_SEQ_MASK);
	work();
}

/*
 * Checks that the NIC sent exactly this message to @to by @port: 16 bytes, and nothing else in the
 * frame.
 */
static void check_sent(unsigned int port, u32 to, u32 what, u32 gen, u32 count)
{
	const struct sent *s = &l.sent[0];

	assert_int_equal(lone_tx(&l, port), 1);
	assert_true(s->hdr.type == TN_DATA && s->hdr.nic && s->hdr.len == 1 && s->hdr.vc == 1);
	assert_true(s->hdr.src == 0 && s->hdr.dst == to && !s->hdr.relayed);
	assert_int_equal(tn_get_le32(s->payload), what);
	assert_int_equal(tn_get_le32(s->payload + 4), gen);
	assert_int_equal(tn_get_le32(s->payload + 8), count);
	assert_int_equal(tn_get_le32(s->payload + 12), 0);
	assert_true(!s->tail.eseq && !s->tail.epoch && !s->tail.vb && !s->tail.flags);
	assert_int_equal(s->tail.ecrc, tn_ecrc(s->payload, &s->hdr, &s->tail));
}

/* --- as a relay ------------------------------------------------------------------------------ */

/*
 * A packet is received and sent on: it counts as that and as nothing else; colour and window stay
 * the same.
 */
static void relayed_packet_keeps_colour_and_window(void **state)
{
	const struct sent *s = &l.sent[0];

	(void)state;
	begin(NULL);
	relayed(TN_DATA, 3, 6, 2, 2);
	assert_int_equal(lone_link(&l, 2)->credit.used[1], 0);
	assert_int_equal(lone_tx(&l, 1), 1);
	assert_true(s->hdr.relayed && s->hdr.src == 6 && s->hdr.dst == 3 && s->hdr.dir == 2);
	assert_int_equal(s->hdr.colour, 2);
	assert_true(s->via.dst == 3 && s->via.payer == 6 && s->via.gen == 9 && s->via.legs == 3);
	assert_int_equal(nc(TORUS_NC_RELAY_FORWARDED), 1);
	assert_int_equal(nc(TORUS_NC_FORWARDED) + nc(TORUS_NC_RELAYED_TX) + nc(TORUS_NC_RELAYED_RX) +
			 nc(TORUS_NC_INJECTED) + nc(TORUS_NC_RELAY_DROPS), 0);
	assert_int_equal(fc(TORUS_FC_INJECTED) + fc(TORUS_FC_DELIVERED), 0);
	/* Through a further relay. */
	relayed(TN_DATA, 8, 6, 0, 2);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_true(s->hdr.dst == 1 && s->via.dst == 8 && s->via.legs == 1 && s->via.payer == 6);
	end();
}

/* A relayed packet without a row, or after too many legs, goes back as unreachable. */
static void relayed_packet_without_way_onward_goes_back(void **state)
{
	(void)state;
	begin(NULL);
	relayed(TN_DATA, 3, 6, TN_RELAY_LEGS - 1, 2);
	assert_int_equal(lone_drain(&l, 1), 1);
	relayed(TN_DATA, 3, 6, TN_RELAY_LEGS, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	relayed(TN_DATA, 5, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
	relayed(TN_DATA, 9, 6, 0, 2);		/* there is no such node */
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 3);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_UNREACHABLE][2], 3);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 0);
	lone_rx_pkt_via(&l, 2, (struct tn_hdr) { .type = TN_DATA, .src = 6, .dst = 1, .dir = 15,
			.first = 15, .last = 15 }, (struct tn_tail) { 0 },	/* not even to its relay */
			(struct tn_via) { .dst = 9, .payer = 6 });
	work();
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 4);
	assert_int_equal(nc(TORUS_NC_RELAY_FORWARDED), 1);
	end();
}

static void three_each(struct lone *t)
{
	t->params.relay_packets = 9;		/* room for one packet of each node */
}

/*
 * A relay keeps as many packets of windows as promised, and TN_RELAY_RIDERS others; neither takes
 * the room of the other.
 */
static void relay_keeps_as_many_packets_as_promised(void **state)
{
	(void)state;
	begin(three_each);
	assert_int_equal(l.nic->relay.capacity, 9);
	tn_nic_retrain(l.nic, 1, l.now);	/* for now no packet can go to 3, which is not dead */
	for (int i = 0; i < 9; i++)
		relayed(TN_DATA, 3, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 0);
	assert_int_equal(l.nic->input[TN_INPUT_RELAY + 1].count, 9);
	assert_int_equal(l.kept, 0);
	relayed(TN_DATA, 3, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	for (u32 i = 0; i < TN_RELAY_RIDERS; i++) {
		relayed(i % 2 ? TN_UNREACH : TN_DATA, 3, i % 2 ? 6 : NONE, 0, 2);
		lone_drain(&l, 2);		/* the packet's buffers are given back */
		assert_int_equal(l.nic->relay.riders, i + 1);
		/* Packets that come when many wait already keep no frame. */
		assert_int_equal(l.kept, i + 9 < TN_RELAY_REFER ? 0 : i + 10 - TN_RELAY_REFER);
	}
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 0);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	relayed(TN_UNREACH, 3, NONE, 0, 2);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 1);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	assert_int_equal(l.nic->relay.riders, TN_RELAY_RIDERS);
	relayed(TN_DATA, 3, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
	assert_int_equal(lone_link(&l, 2)->credit.used[1], 0);
	end();
}

/* A packet of no window without a row is dropped; if it is data, it counts as ended. */
static void packet_of_no_window_without_row_is_dropped(void **state)
{
	(void)state;
	begin(NULL);
	relayed(TN_UNREACH, 5, NONE, 0, 2);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 1);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 0);
	relayed(TN_DATA, 5, NONE, 0, 2);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 2);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 0);
	assert_int_equal(l.mem.live, 0);
	/* A rider with a row goes on, and is not kept any longer. */
	relayed(TN_UNREACH, 3, NONE, 0, 2);
	assert_int_equal(l.nic->relay.riders, 0);
	assert_int_equal(lone_drain(&l, 1), 1);
	assert_int_equal(nc(TORUS_NC_RELAY_FORWARDED), 1);
	/* A packet that circles between relays does not go on for ever. */
	relayed(TN_UNREACH, 3, NONE, TN_RELAY_LEGS - 1, 2);
	assert_int_equal(lone_drain(&l, 1), 1);
	relayed(TN_UNREACH, 3, NONE, TN_RELAY_LEGS, 2);
	assert_int_equal(lone_drain(&l, 1), 0);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 3);
	end();
}

/* A packet of another colour whose row is on hold is parked here; one of this colour goes on. */
static void relayed_packet_of_other_colour_on_hold_is_parked(void **state)
{
	u32 held = 3;

	(void)state;
	begin(NULL);
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	relayed(TN_DATA, 3, 6, 0, l.nic->colour);
	assert_int_equal(nc(TORUS_NC_PARKED), 0);
	assert_int_equal(lone_drain(&l, 1), 1);
	relayed(TN_DATA, 3, 6, 0, (u8)(l.nic->colour ^ 1));
	assert_int_equal(nc(TORUS_NC_PARKED), 1);
	assert_int_equal(fc(TORUS_FC_PARKED), 1);
	assert_int_equal(l.parks, 1);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	assert_int_equal(lone_link(&l, 2)->credit.used[1], 0);
	/* The packet is parked even without memory for that: it is in a relay's memory. */
	l.no_park = true;
	relayed(TN_DATA, 3, 6, 0, (u8)(l.nic->colour ^ 1));
	assert_int_equal(nc(TORUS_NC_PARKED), 2);
	release();
	relayed(TN_DATA, 3, 6, 0, (u8)(l.nic->colour ^ 1));
	assert_int_equal(nc(TORUS_NC_PARKED), 2);
	end();
}

/*
 * A packet whose window is of a later table than the rows here is parked, and not replayed before
 * that table comes.
 */
static void packet_of_later_table_is_parked_until_table_comes(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .len = 1, .src = 6, .dir = 15, .first = 15,
				  .last = 15, .colour = 2, .vc = 1 };
	struct tn_via via = { .dst = 3, .payer = 6, .gen = 9 };

	(void)state;
	begin(NULL);
	assert_int_equal(tn_nic_park_replay(l.nic, 9, 0, l.now), 0);
	lone_rx_pkt_via(&l, 2, h, (struct tn_tail) { .epoch = 3 }, via);
	work();
	assert_int_equal(lone_drain(&l, 1), 1);
	via.gen = 10;
	for (u32 n = 1; n < 3; n++) {
		lone_rx_pkt_via(&l, 2, h, (struct tn_tail) { .eseq = n, .epoch = 3 }, via);
		work();
		assert_int_equal(nc(TORUS_NC_PARKED), n);
		assert_int_equal(l.nic->park.q.count, n);
		assert_int_equal(lone_link(&l, 2)->credit.used[1], 0);
	}
	assert_int_equal(lone_drain(&l, 1), 0);
	lone_row(&l, 3, lone_dirs(2));		/* version 10 */
	assert_int_equal(tn_nic_park_replay(l.nic, 10, 0, l.now), 0);
	work();
	assert_int_equal(l.nic->park.q.count, 0);
	assert_int_equal(nc(TORUS_NC_REPLAYED), 2);
	assert_int_equal(lone_drain(&l, 1), 2);
	end();
}

/*
 * A packet of a later window comes while a replay goes on. Packets that a closed port diverts after
 * it belong to that replay, and go before the port opens; the packet of the later window stays for
 * the next replay.
 */
static void packets_diverted_in_replay_are_part_of_it(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .len = 1, .src = 6, .dir = 15, .first = 15,
				  .last = 15, .colour = 2, .vc = 1 };
	struct tn_via via = { .dst = 3, .payer = 6, .gen = 1000 };

	(void)state;
	begin(NULL);
	tn_nic_retrain(l.nic, 1, l.now);	/* for now no packet can go to 3, which is not dead */
	lone_link(&l, 1)->closed = true;
	assert_int_equal(lone_send(&l, 3, 0, 1), 0);
	work();
	assert_int_equal(l.nic->park.q.count, 1);
	assert_int_equal(tn_nic_park_replay(l.nic, 9, 2, l.now), 0);
	work();
	assert_int_equal(l.nic->park.q.count, 0);
	for (u32 n = 0; n < 2; n++) {
		lone_rx_pkt_via(&l, 2, h, (struct tn_tail) { .eseq = n, .epoch = 3 }, via);
		work();
		assert_int_equal(l.nic->park.later, n + 1);
		assert_int_equal(lone_send(&l, 3, 0, 1), 0);	/* the port is still closed */
		work();
		assert_int_equal(l.nic->park.q.count, n + 1);
		assert_int_equal(l.nic->input[TN_INPUT_REPLAY].count, n + 2);
	}
	assert_false(l.nic->park.replaying);
	assert_int_equal(tn_nic_park_replay(l.nic, 9, 2, l.now), 0);
	work();
	assert_int_equal(l.nic->park.q.count + l.nic->park.later, 0);
	end();
}

static void little_park(struct lone *t)
{
	t->params.payload_max = 1024;
	t->params.park_bytes = 1024 + 48;	/* 22 packets of 3 flits */
	t->params.relay_packets = 9;
}

/* However many packets of later windows come, the relay keeps no more than it has memory for. */
static void packets_of_later_windows_have_a_limit(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .len = 1, .src = 6, .dir = 15, .first = 15,
				  .last = 15, .colour = 2, .vc = 1 };

	(void)state;
	begin(little_park);
	for (u32 n = 0; n < 2 * TN_ANSWERS_MAX; n++) {
		lone_rx_pkt_via(&l, 2, h, (struct tn_tail) { .eseq = n, .epoch = 3 },
				(struct tn_via) { .dst = 3, .payer = 6, .gen = 10 + n });
		work();
		lone_drain(&l, 2);		/* the buffer is given back */
	}
	assert_in_range(l.nic->park.q.count, 16, 31);	/* 16 of 4 flits, and 9 */
	assert_int_equal(nc(TORUS_NC_PARKED), l.nic->park.q.count);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2 * TN_ANSWERS_MAX - nc(TORUS_NC_PARKED));
	assert_int_equal(lone_link(&l, 2)->credit.used[1], 0);
	assert_int_equal(tn_nic_park_replay(l.nic, 9, 0, l.now), 0);
	work();
	assert_int_equal(l.nic->park.q.count + l.nic->park.relayed, 0);
	end();
}

/*
 * The next link is dead and the parking segment full: the packet leaves the relay's memory
 * nevertheless.
 */
static void packet_leaves_relay_though_segment_is_full(void **state)
{
	(void)state;
	begin(little_park);
	tn_nic_admin(l.nic, 1, false, l.now);
	for (int i = 0; i < 23; i++)
		assert_int_equal(lone_send(&l, 3, 0, 1), 0);
	work();
	assert_int_equal(nc(TORUS_NC_PARKED), 22);
	relayed(TN_DATA, 3, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_PARKED), 23);
	assert_int_equal(l.nic->input[TN_INPUT_RELAY + 1].count, 0);
	/*
	 * Relayed packets are parked also without memory for that, but no more than there is relay
	 * memory.
	 */
	l.no_park = true;
	for (int i = 1; i < 20; i++) {
		lone_drain(&l, 2);		/* the buffer is given back */
		relayed(TN_DATA, 3, 6, 0, 2);
	}
	assert_int_equal(nc(TORUS_NC_PARKED), 22 + 9);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 20 - 9);
	relayed(TN_UNREACH, 3, NONE, 0, 2);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), 1);
	assert_int_equal(l.nic->input[TN_INPUT_RELAY + 1].count, 0);
	end();
}

/* Packets that are to go back to their sources wait until they can be sent, up to a limit. */
static void returning_packets_wait_up_to_a_limit(void **state)
{
	(void)state;
	begin(NULL);
	lone_row(&l, 6, lone_dirs(2));
	release();
	tn_nic_retrain(l.nic, 1, l.now);
	for (u32 n = 0; n < 2 * TN_ANSWERS_MAX; n++) {
		lone_drain(&l, 2);
		relayed(TN_DATA, 5, 6, 0, 2);
	}
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2 * TN_ANSWERS_MAX);
	assert_int_equal(l.nic->input[TN_INPUT_ANSWER].count, TN_ANSWERS_MAX);
	assert_int_equal(l.mem.live, TN_ANSWERS_MAX);
	assert_int_equal(nc(TORUS_NC_RELAY_DROPS), TN_ANSWERS_MAX);
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++)	/* the host's room is its own */
		assert_int_equal(tn_nic_room(l.nic, 6, vc), TN_INJECT_MAX);
	end();
}

/* Returning packets that cannot leave do not block answers and host packets by other ports. */
static void blocked_returning_packets_block_no_other_port(void **state)
{
	(void)state;
	begin(NULL);
	lone_row(&l, 6, lone_dirs(2));
	release();
	tn_nic_retrain(l.nic, 1, l.now);
	for (u32 n = 0; n < TN_ANSWERS_MAX; n++) {
		lone_drain(&l, 2);
		relayed(TN_DATA, 5, 6, 0, 2);
	}
	word(1, TN_NIC_ASK, 9, 0);
	check_sent(0, 1, TN_NIC_ACK, 9, 0);
	assert_int_equal(lone_send(&l, 1, TORUS_VC_D1, 1), 0);
	work();
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.src, 0);
	/* A waiting answer gave way to the ACK. */
	assert_int_equal(l.nic->input[TN_INPUT_ANSWER].count, TN_ANSWERS_MAX - 1);
	end();
}

/* The source of a long packet gets as much of it as an ICMP error quotes, in memory of its own. */
static void source_gets_as_much_as_icmp_quotes(void **state)
{
	static const u16 lens[] = { 0, 1, TN_RETURN_FLITS, TN_RETURN_FLITS + 1, 256 };
	const struct sent *s = &l.sent[0];

	(void)state;
	begin(NULL);
	lone_row(&l, 6, lone_dirs(2));
	release();
	for (unsigned int i = 0; i < ARRAY_SIZE(lens); i++) {
		bool cut = lens[i] > TN_RETURN_FLITS;
		u8 flags = TN_TAIL_FIRST | TN_TAIL_LAST | (lens[i] ? 3 : 0);

		lone_rx_pkt(&l, 2,
			    (struct tn_hdr) { .type = TN_DATA, .len = lens[i], .src = 6, .dst = 5,
			    .first = 15, .last = 15 }, (struct tn_tail) { .flags = flags });
		work();
		lone_drain(&l, 2);
		assert_int_equal(lone_tx(&l, 1), 1);
		assert_true(s->hdr.type == TN_UNREACH && s->hdr.src == 5 && s->hdr.dst == 6);
		assert_int_equal(s->hdr.len, cut ? TN_RETURN_FLITS : lens[i]);
		assert_int_equal(s->tail.flags, cut ? TN_TAIL_FIRST : flags);
		assert_int_equal(s->tail.ecrc, tn_ecrc(s->payload, &s->hdr, &s->tail));
	}
	end();
}

/* A packet on its way back that is parked waits for no peer's report: it can be replayed at once. */
static void returning_packet_is_parked_as_resolved(void **state)
{
	struct tn_park_info info;

	(void)state;
	begin(NULL);
	lone_row(&l, 6, lone_dirs(2));
	release();
	tn_nic_retrain(l.nic, 1, l.now);
	lone_link(&l, 1)->closed = true;
	relayed(TN_DATA, 5, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	tn_nic_park_info(l.nic, &info);
	assert_int_equal(l.nic->park.q.count, 1);
	assert_int_equal(info.unresolved, 0);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 2, l.now), 0);
	work();
	assert_int_equal(l.nic->park.q.count, 0);
	end();
}

/* A destination that no header can hold does not become the source of a packet that goes back. */
static void destination_beyond_header_does_not_go_back(void **state)
{
	(void)state;
	begin(NULL);
	lone_row(&l, 6, lone_dirs(2));
	release();
	tn_nic_retrain(l.nic, 1, l.now);
	relayed(TN_DATA, 5, 6, 0, 2);
	relayed(TN_DATA, TORUS_MAX_NODES, 6, 0, 2);
	relayed(TN_DATA, ~0u, 6, 0, 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 3);
	assert_int_equal(l.nic->input[TN_INPUT_ANSWER].count, 1);
	assert_int_equal(l.mem.live, 1);
	end();
}

/* --- at the end ------------------------------------------------------------------------------ */

/* The host gets a packet as its source made it; the payer of its window is told, each time. */
static void delivered_packet_frees_window_of_payer(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	begin(NULL);
	for (u32 n = 1; n < 3; n++) {
		lone_rx_pkt_via(&l, 2,
				(struct tn_hdr) { .type = TN_DATA, .len = 1, .src = 6, .vc = 1,
				.dir = 15, .first = 15, .last = 15, .colour = 1 },
				(struct tn_tail) { .eseq = n - 1 },
				(struct tn_via) { .dst = 0, .payer = 1, .gen = 9, .legs = 2 });
		work();
		assert_int_equal(nc(TORUS_NC_RELAYED_RX), n);
		assert_int_equal(nc(TORUS_NC_DELIVERED), n);
		assert_int_equal(fc(TORUS_FC_DELIVERED), n);
		pkt = lone_got(&l);
		assert_true(!pkt->hdr.relayed && pkt->hdr.src == 6 && pkt->hdr.dst == 0);
		lone_free(&l, pkt);
		check_sent(0, 1, TN_NIC_ACK, 9, n);
	}
	/* A packet of no window, of a former one, of an unknown node: no message is sent. */
	relayed(TN_DATA, 0, NONE, 2, 1);
	relayed(TN_DATA, 0, 9, 2, 1);
	assert_int_equal(nc(TORUS_NC_RELAYED_RX), 4);
	assert_int_equal(lone_tx(&l, 0), 0);
	lone_clear(&l);
	/* An adaptive packet that was relayed is in the sums. */
	assert_int_equal(fc(TORUS_FC_DELIVERED), 4);
	lone_rx_pkt_via(&l, 2, (struct tn_hdr) { .type = TN_DATA, .src = 6, .vc = 2, .dir = 15,
			.first = 15, .last = 15 }, (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE },
			(struct tn_via) { .dst = 0, .payer = NONE });
	work();
	assert_int_equal(fc(TORUS_FC_DELIVERED), 5);
	assert_int_equal(lone_clear(&l), 1);
	assert_int_equal(nc(TORUS_NC_RELAYED_RX), 5);
	/* In a window of this node: no message is needed. */
	relayed(TN_DATA, 0, 0, 2, 1);
	assert_int_equal(lone_tx(&l, 0), 0);
	/* A full host gets it later; until then it still counts as relayed. */
	l.busy = true;
	relayed(TN_UNREACH, 0, 1, 2, 1);
	assert_int_equal(nc(TORUS_NC_RELAYED_RX), 6);
	assert_true(l.nic->input[2 * TORUS_VCS + 1].head->hdr.relayed);
	l.busy = false;
	work();
	assert_int_equal(nc(TORUS_NC_RELAYED_RX), 7);
	check_sent(0, 1, TN_NIC_ACK, 9, 3);
	end();
}

/* A NIC that asks gets its count; one that asks for another generation gets 0. */
static void asking_nic_gets_its_count_of_its_generation(void **state)
{
	(void)state;
	begin(NULL);
	relayed(TN_DATA, 0, 3, 2, 1);
	check_sent(1, 3, TN_NIC_ACK, 9, 1);
	word(3, TN_NIC_ASK, 9, 0);
	check_sent(1, 3, TN_NIC_ACK, 9, 1);
	word(3, TN_NIC_ASK, 10, 0);
	check_sent(1, 3, TN_NIC_ACK, 10, 0);
	assert_int_equal(lone_link(&l, 0)->credit.used[1], 0);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 1);
	/*
	 * No answer goes to a node without a row, an unknown one, or the NIC itself; other messages
	 * are ignored.
	 */
	word(5, TN_NIC_ASK, 9, 0);
	word(9, TN_NIC_ASK, 9, 0);
	word(0, TN_NIC_ASK, 9, 0);
	word(3, 3, 9, 0);
	word(3, 0, 9, 0);
	for (unsigned int p = 0; p < 4; p++)
		assert_int_equal(lone_drain(&l, p), 0);
	/* No answer is sent if the host has no packet for it: the other NIC will ask again. */
	l.no_memory = true;
	tn_via_ended(l.nic, &(struct tn_via) { .payer = 3, .gen = 9 });
	assert_int_equal(l.nic->input[TN_INPUT_ANSWER].count, 0);
	end();
}

/* --- the window -------------------------------------------------------------------------------- */

/* A NIC that sends no count is asked, later each time, until some NIC sends one. */
static void silent_nic_is_asked_for_count_less_and_less(void **state)
{
	u64 at;

	(void)state;
	begin(NULL);
	for (unsigned int p = 2; p < 4; p++)
		tn_nic_admin(l.nic, p, false, l.now);
	assert_true(l.nic->relay.ask_at == ~0ull);
	assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	work();
	at = l.now + 20 * MS;
	assert_true(l.nic->relay.ask_at == at);
	assert_true(tn_nic_expiry(l.nic) <= at);
	lone_drain(&l, 0);
	/* The first look only notes counts; each later one asks, up to 2^6 times later. */
	for (unsigned int n = 0; n < 10; n++) {
		unsigned int shift = n < 1 ? 0 : n < 7 ? n - 1 : 6;

		tn_via_poll(l.nic, l.now = at - 1);
		assert_true(l.nic->relay.ask_at == at);
		tn_via_poll(l.nic, l.now = at);
		work();
		assert_int_equal(lone_drain(&l, 0), n > 0);
		if (n)
			assert_true(l.sent[0].hdr.nic && l.sent[0].via.dst == 8);
		lone_ack(&l, 0);
		at = l.now + (20 * MS << shift);
		assert_true(l.nic->relay.ask_at == at);
	}
	/* News: the next look does not ask, and the one after it does. */
	word(8, TN_NIC_ACK, l.nic->relay.gen, 1);
	tn_via_poll(l.nic, l.now = at);
	work();
	assert_int_equal(lone_drain(&l, 0), 0);
	assert_true(l.nic->relay.ask_at == l.now + 20 * MS);
	assert_int_equal(l.nic->relay.out, 1);
	assert_int_equal(l.nic->relay.asks, 0);
	word(8, TN_NIC_ACK, l.nic->relay.gen, 2);
	assert_int_equal(l.nic->relay.out, 0);
	assert_true(l.nic->relay.ask_at == ~0ull);
	end();
}

/* A parked packet stays in its window; if a new window has begun, it is charged again. */
static void parked_packet_stays_in_window_or_is_charged_again(void **state)
{
	(void)state;
	for (int anew = 0; anew < 2; anew++) {
		u32 gen;

		begin(NULL);
		gen = l.nic->relay.gen;
		tn_nic_admin(l.nic, 0, false, l.now);
		assert_int_equal(lone_send(&l, 8, 0, 1), 0);
		work();
		assert_true(nc(TORUS_NC_PARKED) == 1 && l.nic->relay.out == 1);
		tn_nic_admin(l.nic, 0, true, l.now);
		lone_up(&l, 0);
		if (anew)
			lone_row(&l, 5, 0);	/* a further table comes */
		assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
		work();
		assert_int_equal(l.nic->relay.out, 1);
		assert_int_equal(nc(TORUS_NC_RELAYED_TX), 1 + anew);
		assert_int_equal(lone_drain(&l, 0), 1);
		assert_true(l.sent[0].hdr.relayed && l.sent[0].hdr.dst == 1);
		assert_true(l.sent[0].via.dst == 8 && l.sent[0].via.payer == 0);
		assert_int_equal(l.sent[0].via.gen, gen + (u32)anew);
		end();
	}
}

static u64 by_relay(u64 dirs, u64 relay)
{
	return lone_dirs(dirs) | TORUS_ROW_RELAY | relay << TORUS_ROW_RELAY_SHIFT;
}

/*
 * The host's memory of a packet may hold what an earlier packet left there, such as a charge of the
 * present window: only that of a packet that is relayed counts. This one had a way without a relay.
 */
static void parked_packet_of_direct_way_is_charged(void **state)
{
	(void)state;
	begin(NULL);
	lone_row(&l, 8, lone_dirs(1));
	release();
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	work();
	assert_true(nc(TORUS_NC_PARKED) == 1 && l.nic->relay.out == 0);
	tn_nic_admin(l.nic, 0, true, l.now);
	lone_up(&l, 0);
	lone_row(&l, 8, by_relay(1, 1));
	l.nic->park.q.head->via = (struct tn_via) { .dst = 3, .payer = 0,
						    .gen = (u32)l.nic->version };
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(l.nic->relay.out, 1);
	assert_int_equal(nc(TORUS_NC_RELAYED_TX), 1);
	assert_int_equal(lone_drain(&l, 0), 1);
	assert_true(l.sent[0].hdr.relayed && l.sent[0].hdr.dst == 1 && l.sent[0].via.dst == 8);
	end();
}

static void window_two(struct lone *t)
{
	t->params.relay_packets = 2 * 9 + 8;
}

/* Receives from node @from that it has got @count packets of the window. */
static void acked(u32 from, u32 count)
{
	struct tn_pkt *pkt = memory_new(&l.mem, 1);

	pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .nic = 1, .len = 1, .src = from };
	tn_put_le32(pkt->payload, TN_NIC_ACK);
	tn_put_le32(pkt->payload + 4, l.nic->relay.gen);
	tn_put_le32(pkt->payload + 8, count);
	tn_via_receive(l.nic, pkt);
}

/* A packet to a relay has its fields; two may be sent; others wait in order, later ones too. */
static void full_window_makes_packets_wait_in_order(void **state)
{
	struct tn_park_info info;

	(void)state;
	begin(window_two);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 8, by_relay(1, 1));
	release();
	for (int n = 0; n < 4; n++)
		assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	assert_int_equal(nc(TORUS_NC_RELAY_WAITED), 2);
	assert_int_equal(nc(TORUS_NC_RELAYED_TX), 2);
	assert_int_equal(nc(TORUS_NC_INJECTED), 2);
	assert_int_equal(nc(TORUS_NC_HELD), 0);
	assert_int_equal(l.nic->held_bytes, 2 * 3 * TN_FLIT);
	tn_nic_park_info(l.nic, &info);
	assert_int_equal(info.held, 2);
	assert_int_equal(lone_send(&l, 1, 0, 1), 0);	/* this packet needs no relay */
	tn_nic_work(l.nic, l.now);
	assert_true(l.nic->relay.ask_at == l.now + l.params.replay_timeout);
	assert_int_equal(lone_tx(&l, 0), 3);
	for (u32 n = 0; n < 2; n++) {
		assert_true(l.sent[n].hdr.relayed && l.sent[n].hdr.dst == 1);
		assert_true(l.sent[n].via.dst == 8 && l.sent[n].via.payer == 0);
		assert_true(l.sent[n].via.gen == l.nic->version && !l.sent[n].via.legs);
	}
	assert_false(l.sent[2].hdr.relayed);
	/* The window has room for one packet, but another packet waits for it. */
	acked(8, 1);
	assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	assert_int_equal(nc(TORUS_NC_RELAY_WAITED), 3);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(nc(TORUS_NC_RELAYED_TX), 3);
	assert_int_equal(l.nic->held_bytes, 2 * 3 * TN_FLIT);
	acked(8, 3);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(nc(TORUS_NC_RELAYED_TX), 5);
	assert_int_equal(l.nic->held_bytes, 0);
	lone_ack(&l, 0);
	assert_int_equal(lone_tx(&l, 0), 3);
	assert_int_equal(l.sent[2].tail.eseq, 4);
	end();
}

/* If its destination is put on hold, a packet keeps waiting for the window; those behind it go. */
static void held_packet_waits_for_window_and_others_go(void **state)
{
	u32 held = 8;

	(void)state;
	begin(window_two);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 8, by_relay(1, 1));
	lone_row(&l, 7, by_relay(1, 1));
	release();
	for (int n = 0; n < 3; n++)
		assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	assert_int_equal(lone_send(&l, 7, 0, 1), 0);
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	acked(8, 2);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(nc(TORUS_NC_RELAYED_TX), 3);
	assert_int_equal(l.nic->held.count, 2);
	assert_int_equal(l.nic->relay.wait.count, 0);
	assert_int_equal(l.nic->held_bytes, 2 * 3 * TN_FLIT);
	/* The packets of a flow that waited for the window go first. */
	release();
	acked(7, 1);
	acked(8, 3);
	tn_nic_work(l.nic, l.now);
	lone_drain(&l, 0);
	assert_int_equal(nc(TORUS_NC_RELAYED_TX), 5);
	assert_int_equal(l.sent[0].tail.eseq, 3);
	end();
}

/* A packet on hold whose row is lost does not wait for the window as well. */
static void held_packet_of_lost_row_waits_for_no_window(void **state)
{
	u32 held = 7;
	struct tn_pkt *pkt;

	(void)state;
	begin(window_two);
	lone_row(&l, 8, by_relay(1, 1));
	lone_row(&l, 7, by_relay(1, 1));
	release();
	assert_int_equal(tn_nic_hold(l.nic, &held, 1), 0);
	assert_int_equal(lone_send(&l, 7, 0, 1), 0);
	for (int n = 0; n < 2; n++)
		assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	assert_false(tn_relay_may(&l.nic->relay));
	lone_row(&l, 7, by_relay(1, 1) & ~TORUS_ROW_VALID);
	l.nic->relays_held = false;
	tn_release_held(l.nic);
	assert_int_equal(l.nic->relay.wait.count, 0);
	pkt = lone_got(&l);
	assert_true(pkt && pkt->hdr.type == TN_UNREACH && pkt->hdr.src == 7);
	lone_free(&l, pkt);
	end();
}

/* Packets that wait for the window are given back when the NIC is emptied, and do not hold it up. */
static void emptied_nic_keeps_no_packet_for_relay(void **state)
{
	(void)state;
	begin(window_two);
	lone_row(&l, 8, by_relay(1, 1));
	release();
	for (int n = 0; n < 4; n++)
		assert_int_equal(lone_send(&l, 8, 0, 1), 0);
	assert_int_equal(l.nic->relay.wait.count, 2);
	tn_nic_flush(l.nic);
	assert_int_equal(l.nic->relay.wait.count, 0);
	assert_int_equal(l.nic->held_bytes, 0);
	assert_int_equal(l.mem.live, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(relayed_packet_keeps_colour_and_window),
		cmocka_unit_test(relayed_packet_without_way_onward_goes_back),
		cmocka_unit_test(relay_keeps_as_many_packets_as_promised),
		cmocka_unit_test(packet_of_no_window_without_row_is_dropped),
		cmocka_unit_test(relayed_packet_of_other_colour_on_hold_is_parked),
		cmocka_unit_test(packet_of_later_table_is_parked_until_table_comes),
		cmocka_unit_test(packets_diverted_in_replay_are_part_of_it),
		cmocka_unit_test(packets_of_later_windows_have_a_limit),
		cmocka_unit_test(packet_leaves_relay_though_segment_is_full),
		cmocka_unit_test(returning_packets_wait_up_to_a_limit),
		cmocka_unit_test(blocked_returning_packets_block_no_other_port),
		cmocka_unit_test(source_gets_as_much_as_icmp_quotes),
		cmocka_unit_test(returning_packet_is_parked_as_resolved),
		cmocka_unit_test(destination_beyond_header_does_not_go_back),
		cmocka_unit_test(delivered_packet_frees_window_of_payer),
		cmocka_unit_test(asking_nic_gets_its_count_of_its_generation),
		cmocka_unit_test(silent_nic_is_asked_for_count_less_and_less),
		cmocka_unit_test(parked_packet_stays_in_window_or_is_charged_again),
		cmocka_unit_test(parked_packet_of_direct_way_is_charged),
		cmocka_unit_test(full_window_makes_packets_wait_in_order),
		cmocka_unit_test(held_packet_waits_for_window_and_others_go),
		cmocka_unit_test(held_packet_of_lost_row_waits_for_no_window),
		cmocka_unit_test(emptied_nic_keeps_no_packet_for_relay),
	};

	return cmocka_run_group_tests_name("nic_relay", all, NULL, NULL);
}
