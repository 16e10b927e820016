// SPDX-License-Identifier: GPL-2.0-only
/* Reception by a link: the fate of each packet, and the counters. */
#include "lib/util/times.h"
#include "tests/unit/lone.h"

static struct lone l;
static u8 flits[2 * TN_PACKET_MAX];
static const struct tn_tail good;

/* Begins with node 0 of a ring of four; the neighbours on both sides are up. */
static struct tn_link *begin(void (*tune)(struct lone *l))
{
	lone_start(&l, "4", 0, tune);
	lone_all_up(&l);
	return lone_link(&l, 0);
}

static void end(void)
{
	lone_end(&l);
}

static u64 pc(enum torus_port_counter c)
{
	return lone_pc(&l, 0, c);
}

/* A packet to this node. */
static struct tn_hdr data(u16 len)
{
	return (struct tn_hdr) {
		.type = TN_DATA, .len = len, .src = 1, .dst = 0, .dir = 3,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};
}

/* Receives a packet of the neighbour, whose state does not change. */
static void once(struct tn_hdr h, struct tn_tail t)
{
	lone_rx(&l, 0, flits, lone_make(&l, 0, flits, h, t, NULL, NULL));
}

/* Checks the counters of received packets, flits and bytes. */
static void came(u64 packets, u64 nflits, u64 bytes)
{
	assert_int_equal(pc(TORUS_PC_RX_PACKETS), packets);
	assert_int_equal(pc(TORUS_PC_RX_FLITS), nflits);
	assert_int_equal(pc(TORUS_PC_RX_BYTES), bytes);
}

/* Checks that no error is counted. */
static void no_errors(void)
{
	static const u8 errors[] = {
		TORUS_PC_RETRIES, TORUS_PC_REPLAYED_PACKETS, TORUS_PC_CRC_ERRORS,
		TORUS_PC_SEQ_ERRORS,
		TORUS_PC_DUPLICATES, TORUS_PC_MALFORMED, TORUS_PC_E_SENT, TORUS_PC_E_RECEIVED,
		TORUS_PC_VB_DROPS, TORUS_PC_CREDIT_STALLS, TORUS_PC_MGMT_DROPS,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++)
		assert_int_equal(pc(errors[i]), 0);
}

/* Receives a packet, and an invalid INIT behind it, which would be counted if it were read. */
static void before_noise(struct tn_hdr h)
{
	u32 len = lone_make(&l, 0, flits, h, good, NULL, NULL);

	memset(flits + len, 0, (2 + TN_INIT_FLITS) * TN_FLIT);
	tn_hdr_put(flits + len, &(struct tn_hdr) { .type = TN_INIT, .len = TN_INIT_FLITS });
	lone_rx(&l, 0, flits, len + (2 + TN_INIT_FLITS) * TN_FLIT);
	l.peer[0].tseq++;
}

/* --- what is accepted ---------------------------------------------------------------- */

static void accepted_packets_are_delivered_and_counted(void **state)
{
	struct tn_link *link = begin(NULL);
	u64 frames = pc(TORUS_PC_RX_FRAMES);
	struct tn_pkt *pkt;

	(void)state;
	lone_rx_pkt(&l, 0, data(3), (struct tn_tail) { .flags = 5 | TN_TAIL_FIRST, .eseq = 0 });
	came(1, 5, 43);
	/* the packet has no flit and no padding */
	lone_rx_pkt(&l, 0, data(0), (struct tn_tail) { .flags = 5, .eseq = 1 });
	came(2, 7, 43);
	lone_rx_pkt(&l, 0, data(1), (struct tn_tail) { .eseq = 2 });
	came(3, 10, 59);
	assert_int_equal(pc(TORUS_PC_RX_FRAMES), frames + 3);
	assert_int_equal(link->credit.used[0], 3);
	assert_int_equal(link->unacked, 3);
	no_errors();
	assert_int_equal(l.nic->input[0].count, 3);
	pkt = l.nic->input[0].head;
	assert_int_equal(pkt->in_port, 0);
	assert_int_equal(pkt->in_vc, 0);
	assert_int_equal(pkt->hdr.len, 3);
	assert_int_equal(pkt->tail.flags, 5 | TN_TAIL_FIRST);
	assert_int_equal(pkt->unresolved, 0);
	assert_int_equal(pkt->unsummed, 0);
	assert_int_equal(pkt->stalled, 0);
	for (u32 i = 0; i < 48; i++)
		assert_int_equal(pkt->payload[i], (u8)(i * 7 + 3));
	tn_nic_work(l.nic, l.now);
	assert_int_equal(link->credit.used[0], 0);
	assert_int_equal(link->credit.owed[0], 3);
	assert_int_equal(lone_clear(&l), 3);
	end();
}

/* A frame has several packets, up to its end or to padding; all are counted. */
static void frame_of_many_packets_is_read_to_its_end(void **state)
{
	u32 at = 0;

	(void)state;
	begin(NULL);
	for (u32 i = 0; i < 4; i++) {
		at += lone_make(&l, 0, flits + at, data(2), (struct tn_tail) { .eseq = i }, NULL,
				NULL);
		l.peer[0].tseq++;
	}
	memset(flits + at, 0, 48);		/* TN_PAD */
	lone_rx(&l, 0, flits, at + 48);
	came(4, 16, 128);
	assert_int_equal(pc(TORUS_PC_RX_FRAMES), 2);	/* the INIT was in the other one */
	no_errors();
	/* Nothing behind padding is read; an IDLE and a damaged answer do not end a frame. */
	memset(flits, 0, TN_FLIT);
	at = TN_FLIT + lone_make(&l, 0, flits + TN_FLIT, data(1), good, NULL, NULL);
	lone_rx(&l, 0, flits, at);
	came(4, 16, 128);
	at = lone_make(&l, 0, flits, (struct tn_hdr) { .type = TN_IDLE }, good, NULL, NULL);
	memset(flits + at, 0, TN_ACKNAK_BYTES);
	flits[at] = TN_ACKNAK;
	at += TN_ACKNAK_BYTES;
	at += lone_make(&l, 0, flits + at, data(1), (struct tn_tail) { .eseq = 4 }, NULL, NULL);
	lone_rx(&l, 0, flits, at);
	came(5, 19, 144);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	end();
}

/* The ECRC of a relayed packet is computed with its final destination. */
static void ecrc_of_relayed_packet_covers_destination(void **state)
{
	const struct tn_via via = { .dst = 2, .payer = 1, .gen = 77, .legs = 3 };
	const struct tn_pkt *pkt;

	(void)state;
	begin(NULL);
	lone_rx_pkt_via(&l, 0, data(2), good, via);
	came(1, 5, 32);
	no_errors();
	pkt = l.nic->input[0].head;
	assert_true(pkt->hdr.dst == 0 && pkt->hdr.relayed && pkt->via.dst == 2);
	assert_true(pkt->via.payer == 1 && pkt->via.gen == 77 && pkt->via.legs == 3);
	lone_rx(&l, 0, flits, lone_make(&l, 0, flits, data(2), (struct tn_tail) { .ecrc = 1 }, &via,
					NULL));
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	end();
}

/* A management packet goes to the host, whole; it takes none of the credits' buffers. */
static void management_packet_goes_to_host_whole(void **state)
{
	struct tn_hdr h = { .type = TN_MGMT, .len = 2 };
	struct tn_link *link = begin(NULL);

	(void)state;
	/* A management packet makes one hop, so a mark from upstream has no meaning. */
	lone_rx_pkt(&l, 0, h, (struct tn_tail) { .flags = 7, .vb = TN_VB_BAD });
	assert_int_equal(l.mgmts, 1);
	assert_int_equal(l.mgmt_port, 0);
	assert_int_equal(l.mgmt_len, 25);
	assert_int_equal(l.mgmt[24], (u8)(24 * 7 + 3));
	assert_int_equal(pc(TORUS_PC_MGMT_RX), 1);
	came(1, 4, 25);
	assert_int_equal(tn_credit_owed(&link->credit), 0);
	assert_int_equal(link->credit.used[0], 0);
	no_errors();
	/* Damage is detected although the packet is marked. */
	once(h, (struct tn_tail) { .vb = TN_VB_BAD, .ecrc = 1 });
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	assert_int_equal(l.mgmts, 1);
	end();
}

/* A host without room loses the packet, which is counted; the link takes no harm. */
static void management_packet_without_room_is_dropped(void **state)
{
	struct tn_hdr h = { .type = TN_MGMT, .len = 2 };

	(void)state;
	begin(NULL);
	l.mgmt_full = true;
	lone_rx_pkt(&l, 0, h, good);
	assert_int_equal(pc(TORUS_PC_MGMT_DROPS), 1);
	assert_int_equal(pc(TORUS_PC_MGMT_RX), 1);
	l.mgmt_full = false;
	lone_rx_pkt(&l, 0, h, good);
	assert_int_equal(l.mgmts, 1);
	assert_int_equal(pc(TORUS_PC_MGMT_DROPS), 1);
	assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_UP);
	end();
}

/* The largest packet is accepted; one with one more flit makes the link fail. */
static void largest_packet_is_accepted_and_longer_one_fails_link(void **state)
{
	(void)state;
	for (u32 more = 0; more < 2; more++) {
		begin(NULL);
		lone_rx_pkt(&l, 0, data((u16)(l.params.payload_max / TN_FLIT + more)), good);
		came(!more, more ? 0 : 258, more ? 0 : 4096);
		assert_int_equal(pc(TORUS_PC_MALFORMED), more);
		assert_int_equal(lone_link(&l, 0)->state, more ? TORUS_LINK_FAULTY : TORUS_LINK_UP);
		end();
		begin(NULL);
		lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_MGMT,
			    .len = (u16)(TORUS_MGMT_MAX / TN_FLIT + more) }, good);
		assert_int_equal(pc(TORUS_PC_MGMT_RX), !more);
		assert_int_equal(pc(TORUS_PC_MALFORMED), more);
		end();
	}
}

/* Packets that no right peer of this session can send are counted, and the link fails. */
static void impossible_packets_fail_link(void **state)
{
	static const struct tn_hdr bad[] = {
		{ .type = TN_DATA, .vc = 3 }, { .type = TN_UNREACH, .vc = 3 },
		{ .type = TN_DATA, .crp_vc = 3 }, { .type = TN_UNREACH, .crp_vc = 3 },
		{ .type = TN_CREDIT, .len = 1 }, { .type = TN_IDLE, .len = 1 },
		{ .type = TN_CREDIT, .crp_vc = 3 }, { .type = TN_IDLE, .crp_vc = 3 },
		{ .type = TN_MGMT }, { .type = TN_MGMT, .len = 1, .crp_vc = 3 },
		{ .type = TN_DATA, .nic = 1 }, { .type = TN_DATA, .nic = 1, .len = 2 },
		{ .type = TN_UNREACH, .nic = 1, .len = 1 }, { .type = TN_CREDIT, .nic = 1 },
		{ .type = TN_IDLE, .nic = 1 }, { .type = TN_MGMT, .nic = 1, .len = 1 },
	};

	(void)state;
	begin(NULL);			/* so is an ACK of what was never sent */
	before_noise((struct tn_hdr) { .type = TN_IDLE, .rseq = 1 });
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	assert_int_equal(lone_link(&l, 0)->reason, TORUS_REASON_PROTOCOL);
	end();
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		begin(NULL);
		before_noise(bad[i]);
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
		assert_int_equal(pc(TORUS_PC_MALFORMED), 1);
		assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_FAULTY);
		assert_int_equal(lone_link(&l, 0)->reason, TORUS_REASON_PROTOCOL);
		came(0, 0, 0);
		assert_int_equal(l.events, 1);
		assert_int_equal(l.event[0].reason, TORUS_REASON_PROTOCOL);
		assert_int_equal(l.event[0].old_state, TORUS_LINK_UP);
		end();
	}
	begin(NULL);			/* and a message from NIC to NIC that has one */
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .nic = 1, .len = 1 }, good);
	assert_int_equal(pc(TORUS_PC_MALFORMED), 0);
	came(1, 3, 16);
	end();
	/* Only data can be relayed. */
	for (u8 type = TN_DATA; type <= TN_UNREACH; type++) {
		const struct tn_via via = { .dst = 0, .payer = TORUS_NO_NODE };
		struct tn_hdr h = { .type = type, .len = type == TN_MGMT, .dst = 0, .dir = 3,
				    .first = 15, .last = 15 };
		bool fine = type == TN_DATA || type == TN_UNREACH;

		if (type == TN_INIT)
			continue;
		begin(NULL);
		lone_rx_pkt_via(&l, 0, h, good, via);
		assert_int_equal(pc(TORUS_PC_MALFORMED), !fine);
		assert_int_equal(pc(TORUS_PC_RX_FLITS), fine ? 3 : 0);
		end();
	}
}

/* --- damage --------------------------------------------------------------------------- */

/*
 * A damaged packet, by either checksum, is counted, reported once and dropped; so are the packets
 * behind it, until it comes again.
 */
static void damaged_packet_is_counted_and_dropped(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		u16 payload = i < 2 ? 2 : 0;
		bool lcrc = i % 2;
		u32 len;

		begin(NULL);
		len = lone_make(&l, 0, flits, data(payload), (struct tn_tail) { .ecrc = !lcrc },
				NULL, NULL);
		if (lcrc)
			flits[5] ^= 1;
		/* The rest of the frame is not read. */
		lone_rx(&l, 0, flits,
			len + lone_make(&l, 0, flits + len, data(2), good, NULL, NULL));
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
		assert_int_equal(pc(TORUS_PC_E_SENT), 1);
		lone_rx(&l, 0, flits, len);
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 2);
		assert_int_equal(pc(TORUS_PC_E_SENT), 1);
		came(0, 0, 0);
		assert_true(tn_link_wants(lone_link(&l, 0)));
		assert_int_equal(lone_tx(&l, 0), 1);
		assert_int_equal(l.sent[0].hdr.type, TN_IDLE);
		assert_int_equal(l.sent[0].hdr.e, 1);
		assert_int_equal(l.sent[0].hdr.rseq, l.peer[0].tseq);
		lone_rx_pkt(&l, 0, data(2), good);
		came(1, 4, 32);
		assert_int_equal(pc(TORUS_PC_SEQ_ERRORS), 0);
		end();
	}
}

/*
 * A second with errors begins with a damaged packet, and counts once, however many packets were
 * damaged in it; whole packets and idle time count nothing.
 */
static void seconds_with_damaged_packets_are_counted(void **state)
{
	static const u64 later[] = { 0, SEC - 1, 1, SEC / 2, SEC / 2 - 1, 1, 5 * SEC };
	static const u8 counted[] = { 1, 1, 2, 2, 2, 3, 4 };
	u32 len;

	(void)state;
	begin(NULL);
	l.now = 100;			/* no second has passed since the NIC began */
	assert_int_equal(pc(TORUS_PC_ERROR_SECONDS), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(later); i++) {
		l.now += later[i];
		len = lone_make(&l, 0, flits, data(2), good, NULL, NULL);
		flits[5] ^= 1;
		lone_rx(&l, 0, flits, len);
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), i + 1);
		assert_int_equal(pc(TORUS_PC_ERROR_SECONDS), counted[i]);
	}
	l.now += 5 * SEC;
	lone_rx_pkt(&l, 0, data(2), good);
	came(1, 4, 32);
	assert_int_equal(pc(TORUS_PC_ERROR_SECONDS), 4);
	l.now += 5 * SEC;
	lone_rx(&l, 0, flits, TN_FLIT + 1);	/* the rest of a packet is missing */
	assert_int_equal(pc(TORUS_PC_MALFORMED), 1);
	assert_int_equal(pc(TORUS_PC_ERROR_SECONDS), 5);
	end();
}

/* Packets ahead cause one error report, however many they are; packets behind cause none. */
static void packets_ahead_cause_one_error_report(void **state)
{
	struct tn_hdr ahead = data(1), behind = data(1);

	(void)state;
	begin(NULL);
	ahead.tseq = 1;
	once(ahead, good);
	assert_int_equal(pc(TORUS_PC_SEQ_ERRORS), 1);
	assert_int_equal(pc(TORUS_PC_E_SENT), 1);
	ahead.tseq = 2;
	once(ahead, good);
	assert_int_equal(pc(TORUS_PC_SEQ_ERRORS), 1);
	assert_int_equal(pc(TORUS_PC_E_SENT), 1);
	came(0, 0, 0);
	lone_rx_pkt(&l, 0, data(1), good);
	once(ahead, good);			/* two packets ahead: a new error */
	assert_int_equal(pc(TORUS_PC_SEQ_ERRORS), 2);
	assert_int_equal(pc(TORUS_PC_E_SENT), 2);
	assert_int_equal(pc(TORUS_PC_DUPLICATES), 0);
	behind.tseq = (u16)-1;
	once(behind, good);
	assert_int_equal(pc(TORUS_PC_DUPLICATES), 1);
	behind.tseq = (u16)-2047;
	once(behind, good);
	assert_int_equal(pc(TORUS_PC_DUPLICATES), 2);
	assert_int_equal(pc(TORUS_PC_E_SENT), 2);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	came(1, 3, 16);
	end();
}

/* Acknowledgements count, also in packets that are ahead, ignored after an error, or behind. */
static void acknowledgements_count_in_each_packet(void **state)
{
	static const struct { u16 tseq, rseq; u32 left; } reported[] = {
		{ 1, (u16)-2, 2 }, { 2, (u16)-1, 1 }, { (u16)-1, 0, 0 },
	};
	const struct tn_link *link = begin(NULL);
	struct tn_hdr h = data(1);

	(void)state;
	lone_row(&l, 1, lone_dirs(1));
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(lone_send(&l, 1, TORUS_VC_D0, 1), 0);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_drain(&l, 0), 3);
	assert_int_equal(link->retry.tx.sent.count, 3);
	for (unsigned int i = 0; i < ARRAY_SIZE(reported); i++) {
		h.tseq = reported[i].tseq;
		h.rseq = reported[i].rseq;
		once(h, good);
		assert_int_equal(link->retry.tx.sent.count, reported[i].left);
	}
	assert_int_equal(pc(TORUS_PC_SEQ_ERRORS), 1);
	assert_int_equal(pc(TORUS_PC_DUPLICATES), 1);
	came(0, 0, 0);
	end();
}

/*
 * A packet that is cut short is counted and reported; one without a whole header belongs to no VC.
 */
static void packet_cut_short_is_malformed(void **state)
{
	static const u32 left[] = { 8, 15, 16, 31, 47, 63 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(left); i++) {
		begin(NULL);
		lone_make(&l, 0, flits, data(2), good, NULL, NULL);
		lone_rx(&l, 0, flits, left[i]);
		assert_int_equal(pc(TORUS_PC_MALFORMED), left[i] >= 16);
		assert_int_equal(pc(TORUS_PC_E_SENT), left[i] >= 16);
		came(0, 0, 0);
		assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_UP);
		end();
	}
}

/* A link that is not up reads INITs only. */
static void link_that_is_not_up_reads_only_inits(void **state)
{
	u32 len;

	(void)state;
	begin(NULL);
	tn_nic_admin(l.nic, 0, false, l.now);
	len = lone_make(&l, 0, flits, data(2), good, NULL, NULL);
	lone_rx(&l, 0, flits, len);
	flits[4] ^= 1;
	lone_rx(&l, 0, flits, len);
	flits[0] = TN_ACKNAK;
	lone_rx(&l, 0, flits, TN_ACKNAK_BYTES);
	came(0, 0, 0);
	no_errors();
	assert_int_equal(pc(TORUS_PC_RX_FRAMES), 4);
	/* Packets cut short are counted in any state; but here no peer can be told. */
	lone_rx(&l, 0, flits + 16, 16);
	end();
}

/* A damaged INIT is counted; the rest of its frame is read. */
static void damaged_init_is_counted_and_rest_is_read(void **state)
{
	const u32 len = (2 + TN_INIT_FLITS) * TN_FLIT;
	static const struct { u32 at; u8 bit; } hit[] = { { 3, 1 }, { 20, 1 }, { 84, 1 } };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(hit); i++) {
		struct tn_hdr h = { .type = TN_INIT, .len = TN_INIT_FLITS };
		struct tn_tail t = { 0 };
		struct tn_init init;

		begin(NULL);
		init = lone_init_of(&l, 0);
		tn_hdr_put(flits, &h);
		tn_init_put(flits + TN_FLIT, &init);
		t.ecrc = tn_ecrc(flits + TN_FLIT, &h, &t);
		tn_tail_put(flits_tail(flits, h.len), &t);
		flits_seal(flits, h.len, ~0u);
		flits[hit[i].at] ^= hit[i].bit;
		lone_rx(&l, 0, flits,
			len + lone_make(&l, 0, flits + len, data(1), good, NULL, NULL));
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
		assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_UP);
		came(1, 3, 16);
		end();
	}
	/* An INIT of another length is none. */
	begin(NULL);
	l.peer[0].seed = ~0u;
	once((struct tn_hdr) { .type = TN_INIT, .len = TN_INIT_FLITS + 1 }, good);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_UP);
	end();
}

/* --- marked upstream ------------------------------------------------------------------- */

/*
 * VB marks a packet as bad; a good copy follows. The marked one is dropped and counted, without a
 * check of its ECRC and without memory; its buffer is returned, and it is no reception error.
 */
static void packet_marked_bad_is_dropped_and_its_copy_taken(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	l.no_memory = true;
	lone_rx_pkt(&l, 0, data(2), (struct tn_tail) { .vb = TN_VB_BAD, .ecrc = 1 });
	assert_int_equal(pc(TORUS_PC_VB_DROPS), 1);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	assert_int_equal(pc(TORUS_PC_E_SENT), 0);
	came(1, 4, 32);
	assert_int_equal(link->credit.used[0], 0);
	assert_int_equal(link->credit.owed[0], 1);
	assert_int_equal(l.nic->input[0].count, 0);
	l.no_memory = false;
	end();
}

static void four(struct lone *t)
{
	t->peer[0].highest = 0;
}

/* In version 4 another value of VB is no mark, is in no ECRC, and is not sent on. */
static void version_4_ignores_other_values_of_vb(void **state)
{
	struct tn_link *link = begin(four);

	(void)state;
	assert_int_equal(link->wire, 4);
	lone_rx_pkt(&l, 0, data(2), (struct tn_tail) { .vb = TN_VB_BAD - 1 });
	assert_int_equal(pc(TORUS_PC_VB_DROPS), 0);
	assert_int_equal(pc(TORUS_PC_MALFORMED), 0);
	assert_int_equal(l.nic->input[0].count, 1);
	assert_int_equal(l.nic->input[0].head->tail.vb, 0);
	once(data(2), (struct tn_tail) { .vb = TN_VB_BAD - 1, .ecrc = 1 });
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	end();
	begin(four);
	lone_rx_pkt(&l, 0, data(2), (struct tn_tail) { .vb = TN_VB_BAD, .ecrc = 1 });
	assert_int_equal(pc(TORUS_PC_VB_DROPS), 1);
	end();
}

/* The same if the host has checked the frame: it cannot know the version. */
static void vb_of_checked_frame_of_version_4_is_cleared(void **state)
{
	(void)state;
	begin(four);
	tn_nic_rx_checked(l.nic, 0, true);
	lone_rx_pkt(&l, 0, data(2), (struct tn_tail) { .vb = TN_SERVICE_RMA });
	assert_int_equal(l.nic->input[0].head->tail.vb, 0);
	once(data(2), (struct tn_tail) { .vb = TN_SERVICE_RMA, .ecrc = 1 });
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	assert_int_equal(l.nic->input[0].count, 1);
	end();
}

static void five(struct lone *t)
{
	t->peer[0].highest = 5;
}

/* In version 5 another value of VB is reserved, in every packet that is accepted in sequence. */
static void reserved_vb_of_version_5_fails_link(void **state)
{
	static const u8 values[] = { 1, 0x80, TN_VB_BAD - 1, 0xff };
	const struct tn_hdr packets[] = {
		data(2), data(0), { .type = TN_CREDIT }, { .type = TN_MGMT, .len = 1 },
		{ .type = TN_UNREACH, .src = 1, .dst = 0, .dir = 3, .first = TN_NO_STEP,
		  .last = TN_NO_STEP },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(values) * ARRAY_SIZE(packets); i++) {
		struct tn_link *link = begin(five);

		assert_int_equal(link->wire, 5);
		lone_rx_pkt(&l, 0, packets[i / ARRAY_SIZE(values)],
			    (struct tn_tail) { .vb = values[i % ARRAY_SIZE(values)] });
		assert_int_equal(pc(TORUS_PC_MALFORMED), 1);
		assert_int_equal(link->state, TORUS_LINK_FAULTY);
		assert_int_equal(link->reason, TORUS_REASON_PROTOCOL);
		assert_int_equal(l.mgmts, 0);
		came(0, 0, 0);
		end();
	}
}

/* In version 6 service 1 is allowed, in data on VCD0 and VCD1; the ECRC covers it. */
static void service_1_of_version_6_is_allowed_in_ordered_data(void **state)
{
	static const struct { u8 type, vc, flags, nic, value; bool good; } p[] = {
		{ TN_DATA, 0, 0, 0, 1, true }, { TN_DATA, 1, TN_TAIL_REPLAYED, 0, 1, true },
		{ TN_UNREACH, 1, 0, 0, 1, true }, { TN_UNREACH, 0, 0, 0, 1, true },
		{ TN_DATA, 2, TN_TAIL_ADAPTIVE, 0, 1, false }, { TN_DATA, 2, 0, 0, 1, false },
		{ TN_DATA, 0, TN_TAIL_ADAPTIVE, 0, 1, false }, { TN_DATA, 1, 0, 1, 1, false },
		{ TN_MGMT, 0, 0, 0, 1, false }, { TN_CREDIT, 0, 0, 0, 1, false },
		{ TN_DATA, 0, 0, 0, 2, false }, { TN_DATA, 0, 0, 0, 0x81, false },
		{ TN_DATA, 0, 0, 0, 0xff, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(p); i++) {
		struct tn_tail t = { .vb = p[i].value, .flags = p[i].flags, .ecrc = 1 };
		struct tn_link *link = begin(NULL);
		struct tn_hdr h = data(p[i].type == TN_CREDIT ? 0 : 1);

		assert_int_equal(link->wire, 6);
		h.type = p[i].type;
		h.vc = p[i].vc;
		h.nic = p[i].nic;
		if (p[i].good) {
			once(h, t);
			assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
		}
		t.ecrc = 0;
		lone_rx_pkt(&l, 0, h, t);
		assert_int_equal(pc(TORUS_PC_MALFORMED), !p[i].good);
		assert_int_equal(link->reason, p[i].good ? 0 : TORUS_REASON_PROTOCOL);
		assert_int_equal(pc(TORUS_PC_RX_PACKETS), p[i].good);
		if (p[i].good)
			assert_int_equal(l.nic->input[p[i].vc].head->tail.vb, 1);
		end();
	}
}

/* Version 4 does not read the last two bytes of a relay flit; in version 5 they must be zero. */
static void reserved_relay_bytes_are_zero_from_version_5(void **state)
{
	const struct tn_via via = { .dst = 2, .payer = TORUS_NO_NODE, .legs = 1 };
	u32 len;

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		bool of_4 = i & 1;
		struct tn_link *link = begin(of_4 ? four : NULL);

		len = lone_make(&l, 0, flits, data(2), good, &via, NULL);
		if (i >= 2)		/* otherwise the flit is all zero */
			flits[len - (i & 2 ? 1 : 2)] = i & 4 ? 0x80 : 1;
		flits_seal(flits, 2, l.peer[0].seed);
		lone_rx(&l, 0, flits, len);
		assert_int_equal(pc(TORUS_PC_MALFORMED), i >= 2 && !of_4);
		assert_int_equal(link->reason, i >= 2 && !of_4 ? TORUS_REASON_PROTOCOL : 0);
		assert_int_equal(pc(TORUS_PC_RX_PACKETS), i < 2 || of_4);
		end();
	}
}

/* --- memory ---------------------------------------------------------------------------- */

/* The host has no memory for a packet: it is treated as if it had not come, and is sent again. */
static void packet_without_memory_is_sent_again(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	l.no_memory = true;
	once(data(2), good);
	came(0, 0, 0);
	assert_int_equal(link->credit.used[0], 0);
	assert_int_equal(link->unacked, 0);
	assert_int_equal(pc(TORUS_PC_E_SENT), 1);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	l.no_memory = false;
	lone_rx_pkt(&l, 0, data(2), good);
	came(1, 4, 32);
	assert_int_equal(l.mem.live, 1);
	end();
}

/*
 * A report returns more credits than were taken: its packet is dropped, and the rest of the frame
 * is not read, because the link has failed.
 */
static void report_of_too_many_credits_fails_link(void **state)
{
	(void)state;
	for (u8 type = TN_DATA; type <= TN_CREDIT; type = (u8)(type + 2)) {
		begin(NULL);
		before_noise((struct tn_hdr) { .type = type, .crp = 1, .crp_vc = 1 });
		assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
		assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_FAULTY);
		assert_int_equal(lone_link(&l, 0)->reason, TORUS_REASON_PROTOCOL);
		assert_int_equal(l.mem.live, 0);
		came(0, 0, 0);
		assert_int_equal(lone_link(&l, 0)->credit.used[0], 0);
		end();
	}
}

static void four_slots(struct lone *t)
{
	t->params.slots = 4;
}

/* As many packets of each VC as there are buffers are accepted; one more makes the link fail. */
static void packet_beyond_buffers_fails_link(void **state)
{
	(void)state;
	begin(four_slots);
	for (u8 vc = 0; vc < TORUS_VCS; vc++) {
		for (int i = 0; i < 4; i++)
			lone_rx_pkt(&l, 0,
				    (struct tn_hdr) { .type = i ? TN_DATA : TN_UNREACH, .vc = vc },
				    good);
		assert_int_equal(lone_link(&l, 0)->credit.used[vc], 4);
	}
	assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_UP);
	before_noise((struct tn_hdr) { .type = TN_UNREACH, .vc = 1 });
	assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_FAULTY);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	came(12, 24, 0);
	end();
}

/*
 * Buffers that are free again, but whose credits were not sent yet, may not be used. The host has
 * taken the first four packets; another four are accepted as soon as their credits went out.
 */
static void buffer_freed_without_credit_may_not_be_used(void **state)
{
	(void)state;
	for (int sent = 0; sent < 2; sent++) {
		begin(four_slots);
		for (int i = 0; i < 4; i++)
			lone_rx_pkt(&l, 0, data(1), good);
		tn_nic_work(l.nic, l.now);
		assert_int_equal(lone_link(&l, 0)->credit.used[0], 0);
		assert_int_equal(lone_link(&l, 0)->credit.owed[0], 4);
		if (sent)
			lone_drain(&l, 0);
		lone_rx_pkt(&l, 0, data(1), good);
		assert_int_equal(lone_link(&l, 0)->state, sent ? TORUS_LINK_UP : TORUS_LINK_FAULTY);
		end();
	}
}

/* --- cables in memory -------------------------------------------------------------------- */

/* Packets that come through memory have no checksum; before they leave over a wire they get one. */
static void packet_from_memory_gets_checksum_before_wire(void **state)
{
	struct tn_hdr h = data(2);
	struct tn_tail t = { .ecrc = 1, .eseq = 0 };

	(void)state;
	begin(NULL);
	h.dst = 2;			/* the packet goes through this node by +x */
	tn_nic_rx_memory(l.nic, 0, true);
	lone_rx_pkt(&l, 0, h, t);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	came(1, 4, 32);
	assert_int_equal(l.nic->input[0].head->unsummed, TN_UNSUMMED);
	h.dir = 1 << 1;
	lone_rx_pkt(&l, 0, h, t);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_drain(&l, 1), 1);
	assert_int_equal(l.sent[0].tail.ecrc,
			 tn_ecrc(l.frame + TN_FLIT, &l.sent[0].hdr, &l.sent[0].tail));
	/* If that is switched off again, a wrong checksum is an error. */
	tn_nic_rx_memory(l.nic, 0, false);
	once(h, t);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	end();
}

/* Packets whose ECRCs the host has checked are not checked again, and leave with the same ones. */
static void checked_packet_is_not_checked_again(void **state)
{
	struct tn_hdr h = data(2);
	struct tn_tail t = { .ecrc = 1, .eseq = 0 };	/* the ECRC is wrong by 1 */
	const struct tn_pkt *pkt;

	(void)state;
	begin(NULL);
	tn_nic_rx_checked(l.nic, 0, true);
	lone_rx_pkt(&l, 0, h, t);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 0);
	came(1, 4, 32);
	pkt = l.nic->input[0].head;
	assert_int_equal(pkt->unsummed, 0);
	assert_int_equal(pkt->tail.ecrc, tn_ecrc(pkt->payload, &pkt->hdr, &pkt->tail) + 1);
	tn_nic_rx_checked(l.nic, 0, false);
	once(h, t);
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	end();
}

/* --- answers of their own ----------------------------------------------------------------- */

/* A damaged ACK or NAK is only counted; on a link with another protocol it makes the link fail. */
static void damaged_acknak_is_counted(void **state)
{
	const struct tn_hdr h = { .rseq = 0 };
	u8 bytes[TN_ACKNAK_BYTES];

	(void)state;
	begin(NULL);
	tn_acknak_put(bytes, &h, l.peer[0].seed);
	bytes[7] ^= 1;
	lone_rx(&l, 0, bytes, sizeof(bytes));
	assert_int_equal(pc(TORUS_PC_CRC_ERRORS), 1);
	assert_int_equal(pc(TORUS_PC_MALFORMED), 0);
	assert_int_equal(pc(TORUS_PC_E_SENT), 0);
	assert_int_equal(lone_link(&l, 0)->state, TORUS_LINK_UP);
	bytes[7] ^= 1;
	lone_rx(&l, 0, bytes, sizeof(bytes));
	assert_int_equal(pc(TORUS_PC_MALFORMED), 1);
	assert_int_equal(lone_link(&l, 0)->reason, TORUS_REASON_PROTOCOL);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(accepted_packets_are_delivered_and_counted),
		cmocka_unit_test(frame_of_many_packets_is_read_to_its_end),
		cmocka_unit_test(ecrc_of_relayed_packet_covers_destination),
		cmocka_unit_test(management_packet_goes_to_host_whole),
		cmocka_unit_test(management_packet_without_room_is_dropped),
		cmocka_unit_test(largest_packet_is_accepted_and_longer_one_fails_link),
		cmocka_unit_test(impossible_packets_fail_link),
		cmocka_unit_test(damaged_packet_is_counted_and_dropped),
		cmocka_unit_test(seconds_with_damaged_packets_are_counted),
		cmocka_unit_test(packets_ahead_cause_one_error_report),
		cmocka_unit_test(acknowledgements_count_in_each_packet),
		cmocka_unit_test(packet_cut_short_is_malformed),
		cmocka_unit_test(link_that_is_not_up_reads_only_inits),
		cmocka_unit_test(damaged_init_is_counted_and_rest_is_read),
		cmocka_unit_test(packet_marked_bad_is_dropped_and_its_copy_taken),
		cmocka_unit_test(version_4_ignores_other_values_of_vb),
		cmocka_unit_test(vb_of_checked_frame_of_version_4_is_cleared),
		cmocka_unit_test(reserved_vb_of_version_5_fails_link),
		cmocka_unit_test(service_1_of_version_6_is_allowed_in_ordered_data),
		cmocka_unit_test(reserved_relay_bytes_are_zero_from_version_5),
		cmocka_unit_test(packet_without_memory_is_sent_again),
		cmocka_unit_test(report_of_too_many_credits_fails_link),
		cmocka_unit_test(packet_beyond_buffers_fails_link),
		cmocka_unit_test(buffer_freed_without_credit_may_not_be_used),
		cmocka_unit_test(packet_from_memory_gets_checksum_before_wire),
		cmocka_unit_test(checked_packet_is_not_checked_again),
		cmocka_unit_test(damaged_acknak_is_counted),
	};

	return cmocka_run_group_tests_name("link_rx", all, NULL, NULL);
}
