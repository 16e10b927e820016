// SPDX-License-Identifier: GPL-2.0-only
/*
 * Packets that arrive at a node: order, gaps, duplicates, packets that cannot be forwarded;
 * counters.
 */
#include "tests/unit/one_lone.h"

/* Begins with node 0 of 3x3; port 0 leads to 1, port 1 to 3. */
static void begin(void)
{
	lone_begin(NULL);
}

static struct tn_hdr to_here(u32 src)
{
	return (struct tn_hdr) {
		.type = TN_DATA, .len = 2, .src = src, .dir = 15, .first = 15, .last = 15,
		.colour = 2,
	};
}

/* Receives packet @eseq of the flow from node 1, in @epoch. */
static void comes_in(u32 eseq, u16 epoch)
{
	lone_rx_pkt(&l, 0, to_here(1), (struct tn_tail) { .eseq = eseq, .epoch = epoch });
	work();
}

static void comes(u32 eseq)
{
	comes_in(eseq, 5);
}

/* Checks that the host got packet @eseq next. */
static void got(u32 eseq)
{
	struct tn_pkt *pkt = lone_got(&l);

	assert_non_null(pkt);
	assert_int_equal(pkt->tail.eseq, eseq);
	lone_free(&l, pkt);
}

static void got_none(void)
{
	assert_null(l.got.head);
}

/* --- delivery ------------------------------------------------------------------------------ */

/* A delivery counts once in each counter; a full host gets the packet at the next tn_nic_work(). */
static void delivery_counts_once_in_each_counter(void **state)
{
	(void)state;
	begin();
	l.busy = true;
	comes(0);
	assert_int_equal(fc(TORUS_FC_LINK_RX), 1);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_LINK_RX][2], 1);
	assert_int_equal(nc(TORUS_NC_DELIVERED) + fc(TORUS_FC_DELIVERED), 0);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 1);
	l.busy = false;
	work();
	assert_int_equal(nc(TORUS_NC_DELIVERED), 1);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_DELIVERED][2], 1);
	assert_int_equal(fc(TORUS_FC_REPLAY_RX), 0);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 0);
	got(0);
	comes(1);
	got(1);
	/* A packet that was parked on its way. */
	lone_rx_pkt(&l, 0, to_here(1), (struct tn_tail) { .eseq = 2, .epoch = 5,
						       .flags = TN_TAIL_REPLAYED });
	work();
	got(2);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_REPLAY_RX][2], 1);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 3);
	assert_int_equal(nc(TORUS_NC_FORWARDED) + nc(TORUS_NC_DUPLICATES) + nc(TORUS_NC_REORDERED) +
			 nc(TORUS_NC_LOST) + nc(TORUS_NC_RETURNED) + nc(TORUS_NC_HOST_DROPS) +
			 nc(TORUS_NC_RELAYED_RX), 0);
	assert_int_equal(l.events, 0);
	end();
}

/* Packets of VCA are delivered in any order, have no numbers, and are in none of the sums. */
static void adaptive_packets_are_delivered_in_any_order(void **state)
{
	struct tn_hdr h = to_here(1);

	(void)state;
	begin();
	h.vc = TORUS_VC_A;
	for (u32 i = 0; i < 2; i++) {
		lone_rx_pkt(&l, 0, h,
			    (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE, .eseq = 7 - i });
		h.vc = TORUS_VC_D0;	/* the packet took the escape */
	}
	work();
	assert_int_equal(lone_clear(&l), 2);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 2);
	assert_int_equal(fc(TORUS_FC_LINK_RX) + fc(TORUS_FC_DELIVERED), 0);
	l.busy = true;
	lone_rx_pkt(&l, 0, h, (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE });
	work();
	assert_int_equal(nc(TORUS_NC_DELIVERED), 2);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 1);
	end();
}

/* A packet of this node that could not be delivered comes back marked as such. */
static void undeliverable_packet_comes_back_marked(void **state)
{
	struct tn_hdr h = to_here(4);
	struct tn_pkt *pkt;

	(void)state;
	begin();
	h.type = TN_UNREACH;
	h.vc = TORUS_VC_D1;
	l.busy = true;
	lone_rx_pkt(&l, 0, h, (struct tn_tail) { .eseq = 9 });
	work();
	assert_int_equal(nc(TORUS_NC_RETURNED), 0);
	l.busy = false;
	work();
	assert_int_equal(nc(TORUS_NC_RETURNED), 1);
	assert_int_equal(nc(TORUS_NC_DELIVERED) + fc(TORUS_FC_DELIVERED) + fc(TORUS_FC_LINK_RX), 0);
	pkt = lone_got(&l);
	assert_true(pkt->hdr.type == TN_UNREACH && pkt->hdr.src == 4 && pkt->hdr.vc == 1);
	lone_free(&l, pkt);
	end();
}

/* A packet to an unknown node, or on a VC without flows, is not delivered, but counts as ended. */
static void packet_to_unknown_node_counts_as_ended(void **state)
{
	struct tn_hdr h = to_here(9);

	(void)state;
	begin();
	lone_rx_pkt(&l, 0, h, (struct tn_tail) { 0 });
	work();
	assert_int_equal(nc(TORUS_NC_HOST_DROPS), 1);
	h = to_here(8);
	h.vc = TORUS_VC_A;
	lone_rx_pkt(&l, 0, h, (struct tn_tail) { 0 });
	work();
	assert_int_equal(nc(TORUS_NC_HOST_DROPS), 2);
	assert_int_equal(fc(TORUS_FC_DELIVERED), 2);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 0);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 0);
	/* An adaptive packet of no node does not come to the host either. */
	h = to_here(9);
	lone_rx_pkt(&l, 0, h, (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE });
	work();
	assert_int_equal(nc(TORUS_NC_HOST_DROPS), 3);
	assert_int_equal(nc(TORUS_NC_HOST_RX_DROPS), 3);
	assert_int_equal(nc(TORUS_NC_HOST_TX_DROPS), 0);
	got_none();
	lone_rx_pkt(&l, 0, to_here(8), (struct tn_tail) { 0 });
	work();
	got(0);
	end();
}

/* --- turns ------------------------------------------------------------------------------------ */

/* A packet ahead of its turn waits, its buffer is free, and it counts as received. */
static void early_packet_waits_outside_buffers(void **state)
{
	(void)state;
	begin();
	comes(0);
	got(0);
	comes(2);
	comes(3);
	assert_int_equal(nc(TORUS_NC_REORDERED), 2);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 1);
	assert_int_equal(fc(TORUS_FC_DELIVERED), 3);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 0);
	got_none();
	/* Other flows do not wait for it. */
	lone_rx_pkt(&l, 0, to_here(2), (struct tn_tail) { .epoch = 5 });
	work();
	got(0);
	comes(1);
	got(1);
	got(2);
	got(3);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 5);
	assert_int_equal(nc(TORUS_NC_REORDERED), 2);
	assert_int_equal(nc(TORUS_NC_LOST), 0);
	assert_true(tn_nic_expiry(l.nic) < l.now + 5000 * MS);
	end();
}

/* Packets behind one that has waited need not wait after that is delivered. */
static void packet_in_turn_again_does_not_wait(void **state)
{
	(void)state;
	begin();
	comes(0);
	comes(2);
	for (u32 eseq = 1; eseq < 4; eseq += 2)
		lone_rx_pkt(&l, 0, to_here(1), (struct tn_tail) { .eseq = eseq, .epoch = 5 });
	work();
	for (u32 eseq = 0; eseq < 4; eseq++)
		got(eseq);
	assert_int_equal(nc(TORUS_NC_REORDERED), 1);
	end();
}

/* A full host gets the waiting packets when it has room. */
static void full_host_gets_waiting_packets_later(void **state)
{
	(void)state;
	begin();
	comes(0);
	got(0);
	comes(2);
	comes(1);
	got(1);
	got(2);
	comes(4);
	l.busy = true;
	comes(3);
	got_none();
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 1);
	l.busy = false;
	work();
	got(3);
	got(4);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 5);
	end();
}

static void little_park(struct lone *t)
{
	t->params.payload_max = 1024;
	t->params.park_bytes = 1024 + 48;	/* 67 flits */
}

/* Waiting packets have as much room as the parking segment; then links have to wait. */
static void waiting_packets_have_as_much_room_as_parked_ones(void **state)
{
	(void)state;
	lone_begin(little_park);
	comes(0);
	got(0);
	for (u32 n = 0; n < 16; n++)
		comes(2 + n);		/* 64 flits */
	assert_int_equal(nc(TORUS_NC_REORDERED), 16);
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .len = 1, .src = 1, .first = 15,
		    .last = 15 }, (struct tn_tail) { .eseq = 18, .epoch = 5 });
	work();
	assert_int_equal(nc(TORUS_NC_REORDERED), 17);	/* full to the last byte */
	comes(19);
	assert_int_equal(nc(TORUS_NC_REORDERED), 17);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 1);
	end();
}

/* The memory that early packets occupy counts in the limit, even if the packets are small. */
static void memory_of_waiting_packets_counts(void **state)
{
	(void)state;
	lone_begin(little_park);
	l.each = 1000;
	comes(0);
	got(0);
	comes(2);
	comes(3);
	assert_int_equal(nc(TORUS_NC_REORDERED), 1);
	assert_int_equal(l.nic->flows.wait_bytes, 1000);
	assert_int_equal(lone_link(&l, 0)->credit.used[0], 1);
	l.each = 72;			/* a message holds less memory now */
	work();
	assert_int_equal(nc(TORUS_NC_REORDERED), 2);
	assert_int_equal(l.nic->flows.wait_bytes, 1072);
	comes(1);
	for (u32 eseq = 1; eseq < 4; eseq++)
		got(eseq);
	/* One packet may always wait, as otherwise nothing would end the wait. */
	l.each = 5000;
	comes(5);
	assert_int_equal(l.nic->flows.waiting, 1);
	comes(6);
	assert_int_equal(l.nic->flows.waiting, 1);
	tn_nic_poll(l.nic, l.now += l.params.gap_time);
	work();
	got(5);
	got(6);
	end();
}

/* A packet that came before, or was given up, is not delivered. */
static void duplicate_is_not_delivered(void **state)
{
	(void)state;
	begin();
	comes(0);
	comes(0);
	comes(1);
	comes(0);
	assert_int_equal(nc(TORUS_NC_DUPLICATES), 2);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 2);
	assert_int_equal(fc(TORUS_FC_DELIVERED), 4);
	assert_int_equal(nc(TORUS_NC_LOST), 0);
	assert_int_equal(lone_clear(&l), 2);
	assert_int_equal(l.mem.live, 0);
	/* The same happens to two copies that both waited. */
	comes(3);
	comes(3);
	comes(2);
	got(2);
	got(3);
	got_none();
	assert_int_equal(nc(TORUS_NC_DUPLICATES), 3);
	assert_int_equal(nc(TORUS_NC_REORDERED), 2);
	end();
}

/* A table that was begun, but not committed, makes no epoch old. */
static void uncommitted_table_makes_no_epoch_old(void **state)
{
	(void)state;
	begin();
	assert_int_equal(tn_nic_rows_begin(l.nic, 5), 0);
	assert_int_equal(tn_nic_rows_commit(l.nic, 5, l.now), 0);
	comes(0);
	got(0);
	for (u64 version = 5; version < 0x8000; version += 0x1ffb) {
		assert_int_equal(tn_nic_rows_begin(l.nic, version), 0);
		comes_in(0, 4);
		got_none();
	}
	comes(1);
	got(1);
	/* Once it is committed, the source may have begun anew. */
	assert_int_equal(tn_nic_rows_begin(l.nic, 0x2005), 0);
	assert_int_equal(tn_nic_rows_commit(l.nic, 0x2005, l.now), 0);
	comes_in(0, 4);
	got(0);
	end();
}

/* A packet of an earlier numbering of its flow is lost. */
static void packet_of_earlier_numbering_is_lost(void **state)
{
	(void)state;
	begin();
	comes_in(0, 6);
	got(0);
	comes_in(7, 5);
	got_none();
	assert_int_equal(nc(TORUS_NC_LOST), 1);
	assert_int_equal(nc(TORUS_NC_DUPLICATES), 0);
	assert_int_equal(fc(TORUS_FC_DELIVERED), 2);
	assert_int_equal(l.mem.live, 0);
	comes_in(1, 6);
	got(1);
	end();
}

/*
 * When the next numbering begins, waiting packets of the former are delivered first, and gaps are
 * lost.
 */
static void waiting_packets_of_former_numbering_come_first(void **state)
{
	(void)state;
	begin();
	comes(0);
	got(0);
	comes(2);
	comes(5);
	l.busy = true;
	comes_in(0, 6);
	got_none();
	l.busy = false;
	work();
	got(2);
	got(5);
	got(0);
	got_none();
	assert_int_equal(nc(TORUS_NC_LOST), 3);
	assert_int_equal(nc(TORUS_NC_DELIVERED), 4);
	end();
}

/* --- gaps ------------------------------------------------------------------------------------- */

/*
 * After gap_time, and not earlier, waiting packets are delivered; missing ones are counted and
 * reported.
 */
static void gap_is_given_up_after_gap_time(void **state)
{
	u64 at;

	(void)state;
	begin();
	for (unsigned int p = 0; p < 4; p++)
		tn_nic_admin(l.nic, p, p == 0, l.now);
	comes(0);
	got(0);
	l.now += 5;
	comes(3);
	at = l.now + l.params.gap_time;
	comes(7);
	for (unsigned int p = 0; p < 4; p++)
		tn_nic_admin(l.nic, p, false, l.now);
	l.events = 0;
	assert_true(tn_nic_expiry(l.nic) == at);
	tn_nic_poll(l.nic, l.now = at - 1);
	got_none();
	assert_int_equal(nc(TORUS_NC_LOST), 0);
	tn_nic_poll(l.nic, l.now = at);
	got(3);
	got_none();			/* one gap is closed after the other */
	assert_int_equal(nc(TORUS_NC_LOST), 2);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	at = l.now + l.params.gap_time;
	assert_true(tn_nic_expiry(l.nic) == at);
	tn_nic_poll(l.nic, l.now = at);
	got(7);
	assert_int_equal(nc(TORUS_NC_LOST), 5);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	assert_true(tn_nic_expiry(l.nic) == ~0ull);
	tn_nic_poll(l.nic, l.now += 2 * l.params.gap_time);
	assert_int_equal(l.events, 0);
	end();
}

/*
 * The host is full when a gap is given up: it gets the waiting packets at the next tn_nic_work().
 */
static void full_host_gets_packets_behind_gap_later(void **state)
{
	(void)state;
	begin();
	comes(0);
	got(0);
	comes(2);
	l.busy = true;
	tn_nic_poll(l.nic, l.now += l.params.gap_time);
	work();
	got_none();
	l.busy = false;
	work();
	got(2);
	end();
}

/* A NIC that has just started counts no packets as lost of flows that began before. */
static void new_nic_counts_no_losses_of_older_flows(void **state)
{
	(void)state;
	begin();
	comes(3);
	got_none();
	tn_nic_poll(l.nic, l.now += l.params.gap_time);
	got(3);
	assert_int_equal(nc(TORUS_NC_LOST), 0);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 0);
	end();
}

/* RELEASE with GIVE_UP ends all gaps, also those that appear once after it, and reports losses. */
static void release_with_give_up_ends_all_gaps(void **state)
{
	(void)state;
	begin();
	for (u32 give_up = 0; give_up < 2; give_up++) {
		comes(0);
		lone_clear(&l);
		comes(2);
		comes(5);
		assert_int_equal(tn_nic_release(l.nic, 0, give_up, l.now), 0);
		if (!give_up) {
			got_none();
			comes(1);
			comes(4);
			comes(3);
			assert_int_equal(lone_clear(&l), 5);
			assert_int_equal(nc(TORUS_NC_LOST), 0);
			assert_int_equal(l.events, 0);
			end();
			begin();
			continue;
		}
		got(2);
		got(5);
		assert_int_equal(nc(TORUS_NC_LOST), 3);
		assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	}
	/* Now one more flow may begin with a gap, but only with one gap. */
	lone_rx_pkt(&l, 0, to_here(2), (struct tn_tail) { .eseq = 4, .epoch = 5 });
	work();
	got(4);
	lone_rx_pkt(&l, 0, to_here(2), (struct tn_tail) { .eseq = 6, .epoch = 5 });
	work();
	got_none();
	/* If no packet is missing, nothing is reported. */
	lone_rx_pkt(&l, 0, to_here(2), (struct tn_tail) { .eseq = 5, .epoch = 5 });
	work();
	assert_int_equal(lone_clear(&l), 2);
	assert_int_equal(tn_nic_release(l.nic, 0, true, l.now), 0);
	assert_int_equal(l.events, 0);
	/* A host that takes no packet does not make it loop for ever. */
	comes(9);
	l.busy = true;
	assert_int_equal(tn_nic_release(l.nic, 0, true, l.now), 0);
	l.busy = false;
	work();
	got(9);
	end();
}

/* Takes what the host got. Return: how many packets, which are those from @first on. */
static u32 got_from(u32 first)
{
	u32 n = 0;

	while (l.got.head)
		got(first + n++);
	return n;
}

/* As comes(); the peer learns at once which of its packets left their buffers. */
static void come(u32 eseq)
{
	comes(eseq);
	lone_drain(&l, 0);
}

/*
 * Many packets become the next at once: each call delivers a part of them, and the NIC asks to be
 * called again. What comes in between keeps its place, also if it begins a new epoch.
 */
static void many_due_packets_are_delivered_in_parts(void **state)
{
	u32 n, all = 0, last = 1000;

	(void)state;
	begin();
	come(0);
	got(0);
	for (u32 i = 2; i <= last; i++)
		come(i);
	got_none();
	for (come(1); l.got.head; last < 1002 ? come(++last) : work()) {
		n = got_from(1 + all);
		assert_in_range(n, 1, 257);
		all += n;
		if (all < last)
			assert_true(tn_nic_due(l.nic) && tn_nic_expiry(l.nic) <= l.now);
	}
	assert_int_equal(all, last);
	assert_true(tn_nic_expiry(l.nic) > l.now);
	assert_false(tn_nic_due(l.nic));
	for (u32 i = last + 2; i < last + 902; i++)
		come(i);
	comes_in(0, 6);		/* all packets of the former epoch go first */
	n = 0;
	for (u32 turn = 0; turn < 8; turn++) {
		while (l.got.head && n < 900)
			got(last + 2 + n++);
		work();
	}
	assert_int_equal(n, 900);
	assert_int_equal(got_from(0), 1);
	assert_int_equal(nc(TORUS_NC_DUPLICATES), 0);
	end();
}

/* The same of gaps that are given up in turns, each before one packet. */
static void many_gaps_are_given_up_in_parts(void **state)
{
	u32 n = 0, turns = 1;

	(void)state;
	begin();
	come(0);
	got(0);
	for (u32 i = 1; i <= 700; i++)
		come(2 * i);
	got_none();
	assert_false(tn_nic_give_up(l.nic, l.nic->version + 1, l.now));
	got_none();
	for (; tn_nic_give_up(l.nic, l.nic->version, l.now); turns++) {
		u32 before = n;

		while (l.got.head)
			got(2 * ++n);
		assert_in_range(n - before, 1, 256);
	}
	while (l.got.head)
		got(2 * ++n);
	assert_int_equal(n, 700);
	assert_int_equal(turns, 3);
	assert_int_equal(tn_nic_release(l.nic, l.nic->version, true, l.now), 0);
	assert_int_equal(nc(TORUS_NC_LOST), 700);
	end();
}

/* --- packets that cannot go on ----------------------------------------------------------------- */

static struct tn_hdr astray(void)
{
	struct tn_hdr h = to_here(1);

	h.dst = 4;
	h.dir = 0;
	return h;
}

/* A packet goes back to its source, with its destination as the new source. */
static void packet_goes_back_to_its_source(void **state)
{
	const struct sent *s = &l.sent[0];

	(void)state;
	begin();
	lone_row(&l, 1, lone_dirs(1));
	tn_nic_release(l.nic, 1, false, l.now);
	lone_rx_pkt(&l, 1, astray(), (struct tn_tail) { .eseq = 6, .epoch = 5, .flags = 3 |
		    TN_TAIL_FIRST | TN_TAIL_REPLAYED });
	work();
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 1);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_UNREACHABLE][2], 1);
	assert_int_equal(tn_nic_flow(l.nic)[TORUS_FC_REPLAY_PARKED][2], 1);
	assert_int_equal(lone_events(&l, TN_EV_PARK), 1);
	assert_int_equal(lone_link(&l, 1)->credit.used[0], 0);
	assert_int_equal(lone_drain(&l, 0), 1);
	assert_true(s->hdr.type == TN_UNREACH && s->hdr.src == 4 && s->hdr.dst == 1);
	assert_true(s->hdr.vc == TORUS_VC_D1 && s->hdr.dir == 1 && s->hdr.colour == 1);
	assert_true(s->hdr.first == 15 && s->hdr.last == 15 && !s->hdr.relayed);
	assert_int_equal(s->tail.flags, 3 | TN_TAIL_FIRST);
	assert_int_equal(s->tail.eseq, 6);
	assert_int_equal(s->tail.ecrc, tn_ecrc(l.frame + TN_FLIT, &s->hdr, &s->tail));
	assert_int_equal(nc(TORUS_NC_FORWARDED), 0);
	/* An adaptive packet is in none of the sums, and goes back as a deterministic one. */
	lone_rx_pkt(&l, 1, astray(), (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE });
	work();
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 1);
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 1);
	assert_int_equal(lone_drain(&l, 0), 1);
	assert_true(s->hdr.vc == TORUS_VC_D1 && !s->tail.flags);
	end();
}

/*
 * A packet that cannot go back is counted, reported and dropped. Messages between NICs are not
 * counted.
 */
static void packet_without_way_back_is_dropped(void **state)
{
	struct tn_hdr h[4] = { astray(), astray(), astray(), astray() };

	(void)state;
	begin();
	lone_row(&l, 1, lone_dirs(1));
	tn_nic_release(l.nic, 1, false, l.now);
	h[0].type = TN_UNREACH;
	h[1].src = 9;
	h[2].src = 2;		/* there is no row back to this source */
	h[3].nic = 1;
	h[3].len = 1;
	for (unsigned int i = 0; i < 4; i++) {
		lone_rx_pkt(&l, 1, h[i], (struct tn_tail) { 0 });
		work();
		assert_int_equal(l.mem.live, 0);
		assert_int_equal(nc(TORUS_NC_UNREACHABLE), i < 3 ? i + 1 : 3);
		assert_int_equal(lone_events(&l, TN_EV_PARK), i < 3);
		assert_int_equal(lone_link(&l, 1)->credit.used[0], 0);
	}
	assert_int_equal(fc(TORUS_FC_UNREACHABLE), 2);
	assert_int_equal(fc(TORUS_FC_REPLAY_PARKED), 0);
	assert_int_equal(lone_drain(&l, 0), 0);
	assert_int_equal(nc(TORUS_NC_RETURNED), 0);
	end();
}

/* A packet of this node without a path goes back to the host, if that takes it. */
static void own_packet_without_path_goes_back_to_host(void **state)
{
	struct tn_hdr h = astray();
	struct tn_pkt *pkt;

	(void)state;
	begin();
	h.src = 0;
	lone_rx_pkt(&l, 1, h, (struct tn_tail) { .eseq = 3 });
	work();
	assert_int_equal(nc(TORUS_NC_RETURNED), 1);
	pkt = lone_got(&l);
	assert_true(pkt->hdr.type == TN_UNREACH && pkt->hdr.src == 4 && pkt->hdr.dst == 0);
	assert_int_equal(pkt->in_port, TN_PORT_HOST);
	lone_free(&l, pkt);
	l.busy = true;
	lone_rx_pkt(&l, 1, h, (struct tn_tail) { .eseq = 4 });
	work();
	assert_int_equal(nc(TORUS_NC_UNREACHABLE), 2);
	assert_int_equal(l.mem.live, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(delivery_counts_once_in_each_counter),
		cmocka_unit_test(adaptive_packets_are_delivered_in_any_order),
		cmocka_unit_test(undeliverable_packet_comes_back_marked),
		cmocka_unit_test(packet_to_unknown_node_counts_as_ended),
		cmocka_unit_test(early_packet_waits_outside_buffers),
		cmocka_unit_test(packet_in_turn_again_does_not_wait),
		cmocka_unit_test(full_host_gets_waiting_packets_later),
		cmocka_unit_test(waiting_packets_have_as_much_room_as_parked_ones),
		cmocka_unit_test(memory_of_waiting_packets_counts),
		cmocka_unit_test(duplicate_is_not_delivered),
		cmocka_unit_test(packet_of_earlier_numbering_is_lost),
		cmocka_unit_test(waiting_packets_of_former_numbering_come_first),
		cmocka_unit_test(uncommitted_table_makes_no_epoch_old),
		cmocka_unit_test(gap_is_given_up_after_gap_time),
		cmocka_unit_test(full_host_gets_packets_behind_gap_later),
		cmocka_unit_test(new_nic_counts_no_losses_of_older_flows),
		cmocka_unit_test(release_with_give_up_ends_all_gaps),
		cmocka_unit_test(many_due_packets_are_delivered_in_parts),
		cmocka_unit_test(many_gaps_are_given_up_in_parts),
		cmocka_unit_test(packet_goes_back_to_its_source),
		cmocka_unit_test(packet_without_way_back_is_dropped),
		cmocka_unit_test(own_packet_without_path_goes_back_to_host),
	};

	return cmocka_run_group_tests_name("nic_flow", all, NULL, NULL);
}
