// SPDX-License-Identifier: GPL-2.0-only
/* Packets that cannot leave by their port: parked, and replayed by new rows. */
#include "tests/unit/ways.h"

/* --- parking ------------------------------------------------------------------------------------ */

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

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(packet_with_dead_escape_is_parked),
		cmocka_unit_test(packets_for_dead_link_are_parked),
		cmocka_unit_test(full_segment_is_reported_once_and_loses_nothing),
		cmocka_unit_test(packets_of_lost_link_are_unresolved_until_peer_reports),
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
	};

	return cmocka_run_group_tests_name("divert", all, NULL, NULL);
}
