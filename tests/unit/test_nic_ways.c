// SPDX-License-Identifier: GPL-2.0-only
/* The port by which a packet leaves, and when; packets that wait, are parked, and are replayed. */
#include "tests/unit/one_lone.h"

static void few_slots(struct lone *t)
{
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		t->peer[p].slots = 3;
}

/* Begins with node 0 of 3x3: +x, +y, -x, -y are ports 0 to 3; rows lead to 1, 3, 4. */
static void begin(void (*tune)(struct lone *l))
{
	lone_begin(tune);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	lone_row(&l, 4, lone_dirs(3) | TORUS_ROW_ADAPTIVE | 3ull << TORUS_ROW_ADAPT_SHIFT);
	release();
}

static void sends(unsigned int n, u32 dst, unsigned int vc)
{
	while (n--)
		assert_int_equal(lone_send(&l, dst, vc, 1), 0);
	work();
}

/* Return: packets of @vc that were sent by @port since its RETRY buffer was empty. */
static u32 went(unsigned int port, unsigned int vc)
{
	const struct tn_pkt *pkt = lone_link(&l, port)->retry.tx.sent.head;
	u32 n = 0;

	for (; pkt; pkt = pkt->next)
		n += pkt->hdr.type == TN_DATA && pkt->hdr.vc == vc;
	return n;
}

static u64 waited(unsigned int port)
{
	struct tn_link_info info;

	tn_nic_link_info(l.nic, port, &info, l.now);
	return info.gauge[TORUS_PG_WAITED];
}

/* The neighbour frees @n buffers of @vc. */
static void frees(unsigned int port, u8 vc, u16 n)
{
	lone_drain(&l, port);
	lone_rx_pkt(&l, port, (struct tn_hdr) { .type = TN_CREDIT, .crp = n, .crp_vc = vc },
		    (struct tn_tail) { 0 });
	work();
}

static struct tn_park_info parked(void)
{
	struct tn_park_info info;

	tn_nic_park_info(l.nic, &info);
	return info;
}

/* --- room ---------------------------------------------------------------------------------- */

/*
 * A packet that enters the ring may take the first two of three buffers, and one that continues in
 * it all; a packet that waits is counted once, and its waiting time is shown.
 */
static void entering_packet_leaves_bubble_and_waits(void **state)
{
	const struct tn_hdr on = { .type = TN_DATA, .src = 2, .dst = 1, .dir = 1, .first = 15,
				   .last = 15 };
	struct tn_link *link;

	(void)state;
	begin(few_slots);
	link = lone_link(&l, 0);
	sends(2, 1, 0);
	assert_int_equal(went(0, 0), 2);
	assert_int_equal(waited(0), 0);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 0);
	l.now += 10;
	sends(2, 1, 0);
	work();
	assert_int_equal(went(0, 0), 2);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 1);
	l.now += 5;
	assert_int_equal(waited(0), 5);
	assert_int_equal(lone_link(&l, 0)->waiting[1], 0);
	/* the packet comes from +y, so it enters, too */
	lone_rx_pkt(&l, 1, on, (struct tn_tail) { 0 });
	work();
	assert_int_equal(went(0, 0), 2);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 2);
	lone_rx_pkt(&l, 2, on, (struct tn_tail) { 0 });	/* the packet comes from -x */
	work();
	assert_int_equal(went(0, 0), 3);
	assert_int_equal(waited(0), 0);	/* one packet entered the ring */
	l.now += 4;
	assert_int_equal(waited(0), 4);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 1);
	lone_rx_pkt(&l, 2, on, (struct tn_tail) { 0 });
	work();
	assert_int_equal(went(0, 0), 3);
	assert_int_equal(lone_link(&l, 2)->credit.used[0], 1);
	/*
	 * There is room for one more packet: one that continues in the ring is sent first, others
	 * wait.
	 */
	frees(0, 0, 1);
	assert_int_equal(link->credit.ct[0], 3);
	assert_int_equal(lone_link(&l, 2)->credit.used[0], 0);
	frees(0, 0, 3);
	assert_int_equal(link->credit.ct[0], 2);
	frees(0, 0, 2);
	assert_int_equal(link->credit.ct[0], 1);
	/* each packet is counted once */
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 3);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_STALLS_VCD0), 3);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_STALLS_VCD1), 0);
	assert_int_equal(waited(0), 0);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 3);
	end();
}

/* The VC whose packets wait longest reports for how long. */
static void longest_wait_of_all_vcs_is_reported(void **state)
{
	(void)state;
	begin(few_slots);
	sends(3, 1, 1);
	l.now += 10;
	sends(3, 1, 0);
	l.now += 7;
	assert_int_equal(waited(0), 17);
	frees(0, 1, 2);
	assert_int_equal(waited(0), 7);
	assert_int_equal(waited(1), 0);
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(waited(0), 0);
	end();
}

static void one_slot(struct lone *t)
{
	t->params.bubble = TORUS_BUBBLE_MBS;
	t->params.slots = 1;
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		t->peer[p].slots = 1;
}

/*
 * MBS with one buffer an input: a bubble is in the way of a packet that enters the ring. The
 * neighbour upstream has died in the handshake, so that the ring is a line: the bubble is dropped,
 * and the packet goes on.
 */
static void packet_behind_bubble_of_dead_line_goes_after_silence(void **state)
{
	struct tn_init i;
	u64 died;

	(void)state;
	begin(one_slot);
	tn_nic_carrier(l.nic, 2, false, l.now);
	tn_nic_carrier(l.nic, 2, true, l.now);
	lone_drain(&l, 2);
	i = lone_init_of(&l, 2);
	i.nonce_received = 0;
	lone_init(&l, 2, &i);
	lone_link(&l, 2)->give_up_at = ~0ull;	/* as if the link had not failed before */
	died = l.now;
	sends(1, 1, 0);
	assert_int_equal(went(0, 0), 0);
	while (!went(0, 0) && l.now < died + 2 * l.params.silence) {
		l.now += l.params.ack_delay;
		for (unsigned int p = 0; p < 4; p++) {
			lone_drain(&l, p);
			if (p != 2)
				lone_rx_pkt(&l, p, (struct tn_hdr) { .type = TN_IDLE },
					    (struct tn_tail) { 0 });
		}
		tn_nic_poll(l.nic, l.now);
		work();
	}
	assert_int_equal(went(0, 0), 1);
	assert_true(l.now >= died + l.params.silence);
	end();
}

/* --- ways -------------------------------------------------------------------------------- */

/* Packets to @dst by @row enter the queues of @port, by channel, however often they are asked for. */
static void enters(u32 dst, u64 row, unsigned int port)
{
	for (unsigned int vc = TORUS_VC_D0; vc <= TORUS_VC_D1; vc++) {
		for (unsigned int i = 0; i < 2; i++)
			assert_int_equal(tn_inject_input(l.nic, dst, row, vc),
					 TN_INPUT_INJECT + port * TORUS_VCS + vc);
	}
}

/* Each packet follows its own header, whatever the header before it was. */
static void each_packet_follows_its_own_header(void **state)
{
	static const struct { u32 dst; u64 row; unsigned int port; u8 last; } way[] = {
		{ 4, 15ull << 12 | 15ull << 16 | 3, 0, 15 },
		{ 4, 1ull << 12 | 15ull << 16 | 3, 1, 15 },	/* a first step by +y */
		{ 4, 15ull << 12 | 15ull << 16 | 3, 0, 15 },
		{ 4, 15ull << 12 | 0ull << 16 | 3, 1, 0 },	/* a last step by +x */
		{ 3, 15ull << 12 | 1ull << 16 | 3, 1, 15 },	/* the packet has no other step */
		{ 2, 15ull << 12 | 15ull << 16 | 1, 0, 15 },
		{ 2, 15ull << 12 | 15ull << 16 | 4, 2, 15 },	/* the other way round */
		{ 1, 15ull << 12 | 15ull << 16 | 4, 2, 15 },
		{ 6, 15ull << 12 | 15ull << 16 | 12, 3, 15 },
	};

	(void)state;
	begin(NULL);
	for (unsigned int i = 0; i < ARRAY_SIZE(way); i++) {
		lone_row(&l, way[i].dst, TORUS_ROW_VALID | way[i].row);
		enters(way[i].dst, TORUS_ROW_VALID | way[i].row, way[i].port);
		sends(1, way[i].dst, 0);
		assert_int_equal(tn_nic_tx_ports(l.nic), 1u << way[i].port);
		assert_int_equal(lone_drain(&l, way[i].port), 1);
		assert_int_equal(l.sent[0].hdr.first, TN_NO_STEP);	/* that step was taken */
		assert_int_equal(l.sent[0].hdr.last, way[i].last);
	}
	end();
}

/* --- adaptive ways ----------------------------------------------------------------------------- */

/*
 * An adaptive packet takes the allowed port with most credits; of equal ones the first; if there is
 * none the escape.
 */
static void adaptive_packet_takes_port_with_most_credits(void **state)
{
	(void)state;
	begin(few_slots);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 10);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 11);
	sends(4, 4, TORUS_VC_A);	/* the packet enters no ring: three packets each */
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 33);
	sends(2, 4, TORUS_VC_A);
	assert_int_equal(went(0, 0) * 10 + went(1, 0), 20);
	assert_int_equal(nc(TORUS_NC_ESCAPED), 2);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT + TORUS_VC_A].count, 1);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_CREDIT_STALLS), 1);
	assert_int_equal(lone_pc(&l, 0, TORUS_PC_STALLS_VCA), 1);
	l.now += 5;
	assert_int_equal(waited(0) + waited(1), 0);	/* only counted for VCD packets */
	frees(1, TORUS_VC_A, 1);
	assert_int_equal(went(1, 2), 1);
	assert_int_equal(fc(TORUS_FC_INJECTED), 0);
	end();
}

/*
 * A packet that may take both directions of a dimension does not return by the port by which it
 * arrived.
 */
static void adaptive_packet_does_not_go_back(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .vc = TORUS_VC_A, .src = 2, .dst = 1, .dir = 5,
				  .first = 15, .last = 15 };
	const struct tn_tail adaptive = { .flags = TN_TAIL_ADAPTIVE };

	(void)state;
	begin(few_slots);
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(went(0, 2), 1);	/* -x, port 2, has more credits now */
	lone_rx_pkt(&l, 2, h, adaptive);
	work();
	assert_int_equal(went(0, 2) * 10 + went(2, 2), 20);
	assert_int_equal(lone_link(&l, 0)->retry.tx.sent.tail->hdr.dir, 1);
	lone_rx_pkt(&l, 1, h, adaptive);		/* the packet came by neither port */
	work();
	assert_int_equal(went(0, 2) * 10 + went(2, 2), 21);
	assert_int_equal(lone_link(&l, 2)->retry.tx.sent.tail->hdr.dir, 5);
	end();
}

/*
 * Among ports with equal credits, the one whose peer receives at the highest rate is taken; a peer
 * that reports none counts as whole.
 */
static void adaptive_packet_prefers_faster_peer(void **state)
{
	static const struct { u32 x, y; unsigned int port; } way[] = {
		{ 75000, 75000, 0 }, { 75000, 50000, 0 }, { 50000, 75000, 1 }, { 0, 75000, 0 },
		{ 75000, 0, 1 }, { 0, 0, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(way); i++) {
		begin(few_slots);
		lone_link(&l, 0)->peer_mbps = way[i].x;
		lone_link(&l, 1)->peer_mbps = way[i].y;
		sends(1, 4, TORUS_VC_A);
		assert_int_equal(went(way[i].port, 2), 1);
		sends(1, 4, TORUS_VC_A);	/* more credits count more than the rate */
		assert_int_equal(went(0, 2) * 10 + went(1, 2), 11);
		end();
	}
}

/*
 * An adaptive packet takes no port that leads away, is dead or closed; but the escape if that is
 * not dead.
 */
static void adaptive_packet_takes_no_dead_port(void **state)
{
	struct tn_hdr h = { .type = TN_DATA, .vc = TORUS_VC_A, .src = 2, .dst = 1, .dir = 3,
			    .first = 15, .last = 15 };
	const struct tn_tail adaptive = { .flags = TN_TAIL_ADAPTIVE };

	(void)state;
	begin(few_slots);
	lone_rx_pkt(&l, 2, h, adaptive);		/* 1 is not reached by +y */
	work();
	assert_int_equal(went(0, 2) * 10 + went(1, 2), 10);
	tn_nic_admin(l.nic, 0, false, l.now);
	work();
	assert_int_equal(nc(TORUS_NC_REROUTED), 1);	/* the packet finds no other path */
	assert_int_equal(nc(TORUS_NC_PARKED), 1);
	sends(3, 4, TORUS_VC_A);
	assert_int_equal(went(1, 2), 3);
	/* One port is alive, but without room, and the escape is dead: the packet does not wait. */
	sends(1, 4, TORUS_VC_A);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT + TORUS_VC_A].count, 0);
	assert_int_equal(nc(TORUS_NC_PARKED), 2);
	tn_nic_admin(l.nic, 1, false, l.now);
	work();
	assert_int_equal(nc(TORUS_NC_REROUTED), 4);
	assert_int_equal(nc(TORUS_NC_PARKED), 5);
	assert_int_equal(fc(TORUS_FC_PARKED), 0);
	end();
}

/*
 * A transit packet whose escape is dead does not wait for a credit of another port: it is parked,
 * and frees its input buffer. If the segment is full, it goes by that port as soon as it can.
 */
static void packet_with_dead_escape_is_parked(void **state)
{
	const struct tn_hdr h = { .type = TN_DATA, .vc = TORUS_VC_A, .src = 2, .dst = 4, .dir = 3,
				  .first = 15, .last = 15 };
	const struct tn_tail adaptive = { .flags = TN_TAIL_ADAPTIVE };
	struct tn_credit *in;

	(void)state;
	begin(few_slots);
	in = &lone_link(&l, 2)->credit;
	tn_nic_admin(l.nic, 0, false, l.now);
	sends(3, 4, TORUS_VC_A);
	assert_int_equal(went(1, TORUS_VC_A), 3);
	lone_rx_pkt(&l, 2, h, adaptive);
	work();
	assert_int_equal(in->used[TORUS_VC_A], 0);
	assert_true(parked().parked == 1 && nc(TORUS_NC_PARKED) == 1);
	l.no_park = true;
	lone_rx_pkt(&l, 2, h, adaptive);
	work();
	assert_int_equal(in->used[TORUS_VC_A], 1);
	assert_true(l.nic->park.full);
	frees(1, TORUS_VC_A, 1);
	assert_int_equal(in->used[TORUS_VC_A], 0);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 1);
	assert_true(parked().parked == 1 && nc(TORUS_NC_PARKED) == 1);
	/* The rows are the same and there is no room: parked once more, and not replayed again. */
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(nc(TORUS_NC_REPLAYED), 1);
	assert_true(parked().parked == 1 && nc(TORUS_NC_PARKED) == 2);
	lone_row(&l, 4, lone_dirs(6) | TORUS_ROW_ADAPTIVE | 6ull << TORUS_ROW_ADAPT_SHIFT);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(nc(TORUS_NC_REPLAYED), 2);
	assert_true(parked().parked == 0 && went(2, TORUS_VC_A) == 1);
	end();
}

/* --- parking ------------------------------------------------------------------------------------ */

/* Packets for a dead link are parked: counted, reported once, their buffers freed. */
static void packets_for_dead_link_are_parked(void **state)
{
	const struct tn_hdr on = { .type = TN_DATA, .src = 2, .dst = 1, .dir = 1, .first = 15,
				   .last = 15, .len = 3, .colour = 3 };

	(void)state;
	begin(NULL);
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_true(lone_link(&l, 0)->closed);
	l.events = 0;
	sends(2, 1, 0);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	lone_rx_pkt(&l, 2, on, (struct tn_tail) { 0 });
	work();
	assert_int_equal(lone_link(&l, 2)->credit.used[0], 0);
	assert_int_equal(nc(TORUS_NC_FORWARDED), 0);
	assert_int_equal(nc(TORUS_NC_PARKED), 3);
	assert_int_equal(fc(TORUS_FC_PARKED), 3);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_PARKED][3], 3);
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 0);
	assert_int_equal(l.parks, 3);
	assert_true(parked().parked == 3 && parked().bytes == (3 + 3 + 5) * TN_FLIT);
	assert_int_equal(parked().unresolved, 0);
	assert_int_equal(l.events, 0);
	/* A packet that was replayed before also counts as that. */
	lone_rx_pkt(&l, 2, on, (struct tn_tail) { .eseq = 1, .flags = TN_TAIL_REPLAYED });
	work();
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 1);
	assert_int_equal(l.nic->park.q.tail->tail.flags, 0);
	/* Messages between NICs are dropped. */
	lone_rx_pkt(&l, 2,
		    (struct tn_hdr) { .type = TN_DATA, .nic = 1, .len = 1, .src = 2, .dst = 1,
		    .vc = 1, .dir = 1, .first = 15, .last = 15 }, (struct tn_tail) { 0 });
	work();
	assert_int_equal(nc(TORUS_NC_PARKED), 4);
	assert_int_equal(lone_link(&l, 2)->credit.used[1], 0);
	assert_int_equal(l.mem.live, 4);
	end();
}

static void park_nine(struct lone *t)
{
	t->params.payload_max = 1024;
	t->params.park_bytes = 1024 + 48;	/* 67 flits: 22 of 3, and 1 */
}

/* A full segment is reported once; packets without room wait where they are; none is lost. */
static void full_segment_is_reported_once_and_loses_nothing(void **state)
{
	const struct tn_hdr on = { .type = TN_DATA, .src = 2, .dst = 1, .dir = 1, .first = 15,
				   .last = 15, .len = 1 };

	(void)state;
	for (int host = 0; host < 2; host++) {
		begin(park_nine);
		tn_nic_admin(l.nic, 0, false, l.now);
		l.events = 0;
		sends(22 - 2 * (u32)host, 1, 0);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
		assert_int_equal(l.nic->park.full, 0);
		l.no_park = host;
		sends(1, 1, 0);
		assert_int_equal(l.nic->park.full, 1);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
		sends(1, 1, 0);
		work();
		assert_int_equal(l.events, 0);
		assert_int_equal(nc(TORUS_NC_PARKED), 22 - 2 * (u32)host);
		assert_int_equal(l.nic->input[TN_INPUT_INJECT].count, 2);
		/* A packet that another node replayed waits in the same way. */
		lone_rx_pkt(&l, 2, on, (struct tn_tail) { .flags = TN_TAIL_REPLAYED });
		work();
		assert_int_equal(lone_link(&l, 2)->credit.used[0], 1);
		l.no_park = false;
		l.nic->turn = TN_INPUT_INJECT;	/* the host is served before the other node */
		work();
		assert_int_equal(nc(TORUS_NC_PARKED), 22);
		assert_int_equal(lone_link(&l, 2)->credit.used[0], 1);
		end();
	}
}

/*
 * The RETRY buffer of a lost link is parked as it is, unresolved, until the peer reports what it
 * has received.
 */
static void packets_of_lost_link_are_unresolved_until_peer_reports(void **state)
{
	struct tn_link_info info;
	u16 seq;

	(void)state;
	begin(NULL);
	sends(2, 1, 0);
	sends(1, 1, 1);
	assert_int_equal(tn_nic_mgmt_send(l.nic, 0, (const u8 *)"x", 1, l.now), 0);
	seq = (u16)((l.peer[0].rseq + 1) & TN_SEQ_MASK);
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	assert_true(parked().parked == 3 && parked().unresolved == 3 && l.parks == 3);
	assert_int_equal(nc(TORUS_NC_PARKED) + fc(TORUS_FC_PARKED), 0);
	assert_int_equal(l.mem.live, 3);
	tn_nic_link_info(l.nic, 0, &info, l.now);
	assert_true(info.closed && info.session);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), -EBUSY);
	assert_int_equal(tn_nic_park_resolve(l.nic, 4, info.session, seq, false), -EINVAL);
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, info.session + 1, seq, false), 0);
	assert_int_equal(parked().unresolved, 3);
	assert_int_equal(tn_nic_park_resolve(l.nic, 3, info.session, seq, false), 0);
	assert_true(parked().unresolved == 0 && parked().parked == 2);
	assert_int_equal(fc(TORUS_FC_LINK_TX), 1);
	assert_int_equal(nc(TORUS_NC_PARKED), 2);
	assert_int_equal(fc(TORUS_FC_PARKED), 2);
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, info.session, 0, true), 0);
	assert_int_equal(parked().parked, 2);
	end();
}

/*
 * Sends @n adaptive packets by port 0, of which the first @sent go onto the wire; then the link
 * fails. Return: the number of the first one.
 */
static u16 fail_adaptive(u32 n, u32 sent)
{
	u16 seq;

	begin(NULL);
	tn_nic_admin(l.nic, 1, false, l.now);
	lone_link(&l, 0)->retry.tx.window = 4 * sent;
	sends(n, 4, TORUS_VC_A);
	assert_int_equal(went(0, TORUS_VC_A), n);
	seq = l.peer[0].rseq;
	if (sent)
		assert_int_equal(lone_drain(&l, 0), sent);
	tn_nic_admin(l.nic, 1, true, l.now);
	lone_up(&l, 1);
	lone_link(&l, 1)->closed = false;
	tn_nic_carrier(l.nic, 0, false, l.now);
	work();
	return seq;
}

/*
 * Adaptive packets of a failed link: those never sent go another way at once, the others when it is
 * known that the peer does not have them; none of those that it has.
 */
static void adaptive_packets_of_failed_link_go_another_way(void **state)
{
	u32 session;
	u16 seq;

	(void)state;
	seq = fail_adaptive(5, 3);
	session = lone_link(&l, 0)->session;
	assert_int_equal(went(1, TORUS_VC_A), 2);
	assert_int_equal(nc(TORUS_NC_REROUTED), 2);
	assert_true(parked().parked == 3 && parked().unresolved == 3);
	seq = (u16)((seq + 1) & TN_SEQ_MASK);
	l.events = 0;
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, session, seq, false), 0);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);	/* the segment is empty */
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, session, seq, false), 0);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 0);
	work();
	assert_int_equal(went(1, TORUS_VC_A), 4);
	assert_int_equal(nc(TORUS_NC_REROUTED), 4);
	assert_true(parked().parked == 0 && parked().bytes == 0);
	assert_int_equal(nc(TORUS_NC_PARKED) + nc(TORUS_NC_UNSURE), 0);
	assert_int_equal(lone_drain(&l, 1), 4);
	assert_int_equal(l.mem.live, 4);
	end();
}

/*
 * The peer is gone and may have passed adaptive packets on: they are sent again, and counted for
 * that.
 */
static void unsure_adaptive_packets_are_sent_again_and_counted(void **state)
{
	(void)state;
	fail_adaptive(3, 2);
	assert_int_equal(nc(TORUS_NC_UNSURE), 0);
	assert_int_equal(tn_nic_park_resolve(l.nic, 0, lone_link(&l, 0)->session, 0, true), 0);
	work();
	assert_int_equal(nc(TORUS_NC_UNSURE), 2);
	assert_int_equal(nc(TORUS_NC_REROUTED), 3);
	assert_int_equal(went(1, TORUS_VC_A), 3);
	end();
}

/* --- replay ------------------------------------------------------------------------------------- */

/* Begins with @n parked packets for 1; port 0 works again, but is closed. */
static void begin_parked(unsigned int n)
{
	begin(NULL);
	tn_nic_admin(l.nic, 0, false, l.now);
	sends(n, 1, 0);
	tn_nic_admin(l.nic, 0, true, l.now);
	lone_up(&l, 0);
	l.events = 0;
	assert_int_equal(lone_drain(&l, 0), 0);
}

/*
 * Parked packets are replayed in order, with the new colour; then come those that came meanwhile;
 * then the port is open.
 */
static void parked_packets_are_replayed_in_order(void **state)
{
	(void)state;
	begin_parked(2);
	sends(1, 1, 0);			/* closed: parked behind the others */
	assert_int_equal(nc(TORUS_NC_PARKED), 3);
	assert_int_equal(l.events, 0);
	lone_row(&l, 2, lone_dirs(1));
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version - 1, 1, l.now), -ESTALE);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 2, l.now), 0);
	work();				/* a packet of another port is parked again, at the end */
	assert_int_equal(parked().parked, 3);
	assert_true(lone_link(&l, 0)->closed);
	assert_int_equal(fc(TORUS_FC_REPLAY_TX), 3);
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 3);
	assert_int_equal(nc(TORUS_NC_PARKED), 6);
	l.events = 0;
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	assert_true(lone_link(&l, 0)->closed);
	work();
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	assert_false(lone_link(&l, 0)->closed);
	assert_int_equal(nc(TORUS_NC_REPLAYED), 6);
	assert_int_equal(fc(TORUS_FC_REPLAY_TX), 6);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_REPLAY_TX][l.nic->colour], 6);
	assert_true(parked().parked == 0 && parked().bytes == 0);
	assert_int_equal(lone_tx(&l, 0), 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(l.sent[i].tail.eseq, i);
		assert_int_equal(l.sent[i].hdr.colour, l.nic->colour);
		assert_int_equal(l.sent[i].tail.flags,
				 TN_TAIL_REPLAYED | TN_TAIL_FIRST | TN_TAIL_LAST);
		assert_int_equal(l.sent[i].tail.ecrc,
				 tn_ecrc(l.sent[i].payload, &l.sent[i].hdr, &l.sent[i].tail));
	}
	sends(1, 1, 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].tail.flags, TN_TAIL_FIRST | TN_TAIL_LAST);
	end();
}

/* Packets that this node replayed itself find room, however full the segment is. */
static void replayed_packets_find_room_in_full_segment(void **state)
{
	(void)state;
	begin_parked(2);
	l.no_park = true;
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 2, l.now), 0);
	work();
	assert_true(parked().parked == 2 && nc(TORUS_NC_PARKED) == 4);
	assert_false(l.nic->park.full);
	/* Rows that lead nowhere: it is over; later packets are not replayed too. */
	assert_false(l.nic->park.through);
	end();
}

/* Makes the row that leads to @dst by @port, adaptively too. */
static void leads(u32 dst, unsigned int port)
{
	lone_row(&l, dst, lone_dirs(1u << port) | TORUS_ROW_ADAPTIVE |
		 1ull << port << TORUS_ROW_ADAPT_SHIFT);
}

/*
 * An adaptive packet of a former replay waits behind another one, because no drain counts such
 * packets. When it is parked by the rows of a later replay, it is replayed by these rows.
 */
static void replay_is_through_despite_packet_of_former_one(void **state)
{
	struct tn_credit *c;

	(void)state;
	begin(NULL);
	leads(3, 1);
	leads(1, 0);
	tn_nic_admin(l.nic, 0, false, l.now);
	tn_nic_admin(l.nic, 1, false, l.now);
	sends(1, 3, TORUS_VC_A);
	sends(1, 1, TORUS_VC_A);
	assert_int_equal(parked().parked, 2);
	for (unsigned int p = 0; p < 2; p++) {
		tn_nic_admin(l.nic, p, true, l.now);
		lone_up(&l, p);
	}
	c = &lone_link(&l, 1)->credit;
	c->ct[TORUS_VC_A] = c->n_inp[TORUS_VC_A];
	c->ct[TORUS_VC_D0] = c->n_inp[TORUS_VC_D0];
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 3, l.now), 0);
	work();
	assert_int_equal(l.nic->input[TN_INPUT_REPLAY + TORUS_VC_A].count, 2);
	tn_nic_admin(l.nic, 0, false, l.now);
	leads(1, 2);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 6, l.now), 0);
	work();
	assert_int_equal(l.nic->input[TN_INPUT_REPLAY + TORUS_VC_A].count, 2);
	c->ct[TORUS_VC_A] = 0;
	work();
	assert_int_equal(went(1, TORUS_VC_A), 1);
	assert_int_equal(went(2, TORUS_VC_A), 1);
	assert_int_equal(parked().parked, 0);
	assert_true(l.nic->park.through);
	end();
}

/*
 * An adaptive packet that was replayed, and whose link fails before it is sent, is one like any other
 * again: it is not parked in a full segment, and the port that waits for a replay is closed to it.
 */
static void replayed_adaptive_packet_of_failed_link_is_rerouted(void **state)
{
	(void)state;
	begin(NULL);
	leads(1, 0);
	tn_nic_admin(l.nic, 0, false, l.now);
	sends(1, 1, TORUS_VC_A);
	tn_nic_admin(l.nic, 0, true, l.now);
	lone_up(&l, 0);
	lone_link(&l, 0)->retry.tx.window = 0;
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(went(0, TORUS_VC_A), 1);
	l.no_park = true;
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_int_equal(nc(TORUS_NC_REROUTED), 1);
	work();
	assert_int_equal(parked().parked, 0);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT + TORUS_VC_A].count, 1);
	assert_true(l.nic->park.full);
	l.no_park = false;
	lone_up(&l, 0);
	work();
	assert_true(parked().parked == 1 && nc(TORUS_NC_PARKED) == 2);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(went(0, TORUS_VC_A), 1);
	end();
}

/* If nothing is parked the ports open at once; bits of ports that do not exist are ignored. */
static void ports_without_parked_packets_open_at_once(void **state)
{
	(void)state;
	begin(NULL);
	for (unsigned int p = 0; p < 4; p++) {
		tn_nic_carrier(l.nic, p, false, l.now);
		lone_up(&l, p);
		assert_true(lone_link(&l, p)->closed);
	}
	l.events = 0;
	lone_link(&l, 4)->closed = true;
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 0x19, l.now), 0);
	for (unsigned int p = 0; p < 5; p++)
		assert_int_equal(lone_link(&l, p)->closed, !(0x9 >> p & 1));
	assert_int_equal(l.nic->reopening, 0);
	assert_int_equal(l.events, 0);
	end();
}

/* A port that waits to be opened and fails again stays closed. */
static void port_that_fails_again_stays_closed(void **state)
{
	(void)state;
	begin_parked(1);
	/* there is no room, so the replay lasts */
	l.nic->input[TN_INPUT_REPLAY].count = TN_INJECT_MAX;
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_true(lone_link(&l, 0)->closed);
	assert_int_equal(nc(TORUS_NC_REPLAYED), 0);
	l.nic->input[TN_INPUT_REPLAY].count = 0;
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_int_equal(l.nic->reopening, 0);
	lone_up(&l, 0);
	work();
	assert_true(lone_link(&l, 0)->closed);
	end();
}

/*
 * A row is lost during a replay: the packet ends as unreachable, and the sums count it as replayed.
 */
static void replayed_packet_of_lost_row_is_unreachable(void **state)
{
	struct tn_pkt *pkt;

	(void)state;
	begin_parked(2);
	lone_row(&l, 1, 0);
	l.events = 0;
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(nc(TORUS_NC_REPLAYED), 2);
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
	assert_int_equal(fc(TORUS_FC_REPLAY_TX), 2);
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 2);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_UNREACHABLE][l.nic->colour], 2);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 3);	/* two lost, and the segment is empty */
	pkt = lone_got(&l);
	assert_true(pkt->hdr.type == TN_UNREACH && pkt->hdr.src == 1 &&
		    pkt->tail.flags == (TN_TAIL_FIRST | TN_TAIL_LAST));
	lone_free(&l, pkt);
	assert_false(lone_link(&l, 0)->closed);
	end();
}

/* Packets follow the present rows, not those by which they were parked. */
static void replayed_packets_follow_present_rows(void **state)
{
	(void)state;
	begin_parked(1);
	lone_row(&l, 1, lone_dirs(4));
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(tn_nic_tx_ports(l.nic), 1u << 2);
	end();
}

/*
 * More packets are replayed than a queue holds: all are sent in one tn_nic_work(), and "empty" is
 * reported once.
 */
static void many_parked_packets_are_replayed_in_one_call(void **state)
{
	(void)state;
	begin_parked(100);
	sends(200, 1, 0);
	assert_int_equal(parked().parked, 300);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	assert_int_equal(parked().parked, 0);
	end();
	/* Work ends when no packet can move, not when as many moved as came. */
	begin_parked(20);
	for (int i = 0; i < 4; i++)
		assert_int_equal(lone_send(&l, 3, 1, 1), 0);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_true(lone_idle(&l) && went(0, 0) == 20);
	end();
}

/* A port opens when the last replayed packet has left, of whichever VC. */
static void port_opens_when_last_replayed_packet_has_left(void **state)
{
	(void)state;
	for (u8 vc = 0; vc < 2; vc++) {
		begin(few_slots);
		tn_nic_admin(l.nic, 0, false, l.now);
		sends(5, 1, vc);
		tn_nic_admin(l.nic, 0, true, l.now);
		lone_up(&l, 0);
		assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
		work();
		assert_int_equal(went(0, vc), 2);
		for (int i = 0; i < 2; i++) {
			assert_true(lone_link(&l, 0)->closed);
			frees(0, vc, 2);
		}
		assert_false(lone_link(&l, 0)->closed);
		end();
	}
}

/* The peer of port 0 passes on all VCD0 packets that it gets, until none comes. */
static void frees_all(void)
{
	for (u32 n = went(0, 0); n; n = went(0, 0))
		frees(0, 0, (u16)n);
}

/*
 * A later version ends a replay. Its packets that are on their way go on; others that are still
 * parked, or come meanwhile, stay, and the port stays closed. So later packets of their flow do not
 * overtake them before the next replay.
 */
static void later_version_ends_replay(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		bool left = k & 1, comes = k & 2;

		begin(few_slots);
		tn_nic_admin(l.nic, 0, false, l.now);
		sends(5, 1, 0);
		if (left)
			sends(TN_INJECT_MAX, 1, 0);
		tn_nic_admin(l.nic, 0, true, l.now);
		lone_up(&l, 0);
		assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
		work();
		assert_int_equal(went(0, 0), 2);
		assert_int_equal(parked().parked, left ? 3 : 0);
		lone_row(&l, 3, lone_dirs(2));
		if (comes)
			sends(1, 1, 0);
		assert_int_equal(parked().parked, (left ? 3 : 0) + comes);
		frees_all();
		assert_int_equal(lone_link(&l, 0)->closed, left || comes);
		sends(1, 1, 0);
		assert_int_equal(parked().parked, left || comes ? (left ? 3 : 0) + comes + 1 : 0);
		/* The next one, after which a packet stays whose link is dead. */
		tn_nic_admin(l.nic, 1, false, l.now);
		sends(1, 3, 0);
		assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 0, l.now), 0);
		work();
		frees_all();
		assert_int_equal(parked().parked, 1);
		assert_false(lone_link(&l, 0)->closed);
		end();
	}
}

static void few_slots_in_y(struct lone *t)
{
	t->peer[1].slots = 5;
}

/*
 * Packets of a later replay wait behind those of one that was cut short, whose rows had no first
 * step: each goes by its own header.
 */
static void packets_of_two_replays_take_their_own_first_steps(void **state)
{
	const u64 none = 15ull << 12, back = 2ull << 12, y_then_back = 15ull << 16 | 6;

	(void)state;
	begin(few_slots_in_y);
	lone_row(&l, 5, lone_dirs(3));
	tn_nic_admin(l.nic, 0, false, l.now);
	sends(6, 5, 0);
	lone_row(&l, 5, TORUS_ROW_VALID | none | y_then_back);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	assert_int_equal(went(1, 0), 4);	/* two wait for buffers */
	lone_row(&l, 5, lone_dirs(3));		/* ends the replay */
	sends(2, 5, 0);
	assert_int_equal(parked().parked, 2);
	lone_row(&l, 5, TORUS_ROW_VALID | back | y_then_back);
	assert_int_equal(tn_nic_park_replay(l.nic, l.nic->version, 1, l.now), 0);
	work();
	frees(1, 0, 4);
	assert_int_equal(lone_drain(&l, 1), 2);
	assert_int_equal(lone_drain(&l, 2), 2);
	assert_int_equal(l.sent[0].hdr.first, TN_NO_STEP);
	end();
}

/* --- turns -------------------------------------------------------------------------------------- */

/* Inputs take turns of 16 packets, so that none has to wait for all packets of another. */
static void inputs_take_turns_of_16_packets(void **state)
{
	const struct tn_pkt *pkt;
	unsigned int run = 0, vc = 9, runs = 0;

	(void)state;
	begin(NULL);
	for (int i = 0; i < 40; i++) {
		assert_int_equal(lone_send(&l, 1, 0, 1), 0);
		assert_int_equal(lone_send(&l, 1, 1, 1), 0);
	}
	work();
	for (pkt = lone_link(&l, 0)->retry.tx.sent.head; pkt; pkt = pkt->next) {
		if (pkt->hdr.vc != vc) {
			runs++;
			run = 0;
		}
		vc = pkt->hdr.vc;
		assert_true(++run <= 16);
	}
	assert_int_equal(runs, 6);
	assert_true(lone_idle(&l));
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(entering_packet_leaves_bubble_and_waits),
		cmocka_unit_test(longest_wait_of_all_vcs_is_reported),
		cmocka_unit_test(packet_behind_bubble_of_dead_line_goes_after_silence),
		cmocka_unit_test(each_packet_follows_its_own_header),
		cmocka_unit_test(adaptive_packet_takes_port_with_most_credits),
		cmocka_unit_test(adaptive_packet_does_not_go_back),
		cmocka_unit_test(adaptive_packet_prefers_faster_peer),
		cmocka_unit_test(adaptive_packet_takes_no_dead_port),
		cmocka_unit_test(packet_with_dead_escape_is_parked),
		cmocka_unit_test(packets_for_dead_link_are_parked),
		cmocka_unit_test(full_segment_is_reported_once_and_loses_nothing),
		cmocka_unit_test(packets_of_lost_link_are_unresolved_until_peer_reports),
		cmocka_unit_test(adaptive_packets_of_failed_link_go_another_way),
		cmocka_unit_test(unsure_adaptive_packets_are_sent_again_and_counted),
		cmocka_unit_test(parked_packets_are_replayed_in_order),
		cmocka_unit_test(replayed_packets_find_room_in_full_segment),
		cmocka_unit_test(replay_is_through_despite_packet_of_former_one),
		cmocka_unit_test(replayed_adaptive_packet_of_failed_link_is_rerouted),
		cmocka_unit_test(ports_without_parked_packets_open_at_once),
		cmocka_unit_test(port_that_fails_again_stays_closed),
		cmocka_unit_test(replayed_packet_of_lost_row_is_unreachable),
		cmocka_unit_test(replayed_packets_follow_present_rows),
		cmocka_unit_test(many_parked_packets_are_replayed_in_one_call),
		cmocka_unit_test(port_opens_when_last_replayed_packet_has_left),
		cmocka_unit_test(later_version_ends_replay),
		cmocka_unit_test(packets_of_two_replays_take_their_own_first_steps),
		cmocka_unit_test(inputs_take_turns_of_16_packets),
	};

	return cmocka_run_group_tests_name("nic_ways", all, NULL, NULL);
}
