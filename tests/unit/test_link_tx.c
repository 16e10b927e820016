// SPDX-License-Identifier: GPL-2.0-only
/* Transmission by a link: the contents of frames, when they are sent, and the counters. */
#include "tests/unit/lone.h"
#include "lib/util/times.h"

static struct lone l;
static u8 flits[TN_PACKET_MAX];
static const struct tn_tail good;

/* Begins with node 0 of a ring of four: its neighbours are up, and 1 is reached by port 0. */
static struct tn_link *begin(void (*tune)(struct lone *l))
{
	lone_start(&l, "4", 0, tune);
	lone_all_up(&l);
	lone_row(&l, 1, lone_dirs(1));
	assert_int_equal(tn_nic_release(l.nic, 1, false, l.now), 0);
	l.nic->colour = 0;	/* that of the peer's packets: others are acknowledged at once */
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

/* Queues @n packets of @len flits for port 0. */
static void ready(unsigned int n, u16 len)
{
	while (n--)
		assert_int_equal(lone_send(&l, 1, 0, len), 0);
	tn_nic_work(l.nic, l.now);
}

/* Receives a packet for this node, and frees its buffer again. */
static void freed(unsigned int vc)
{
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .vc = (u8)vc, .src = 1, .dir = 3,
					  .first = 15, .last = 15 }, good);
	tn_nic_work(l.nic, l.now);
	lone_clear(&l);
}

static void once(struct tn_hdr h)
{
	lone_rx(&l, 0, flits, lone_make(&l, 0, flits, h, good, NULL, NULL));
}

/* --- what a frame takes ------------------------------------------------------------------ */

/* All queued packets are sent, each whole and once, and are counted. */
static void queued_packets_are_sent_whole_and_once(void **state)
{
	u64 frames;

	(void)state;
	begin(NULL);
	frames = pc(TORUS_PC_TX_FRAMES);
	assert_int_equal(lone_send(&l, 1, 0, 0), 0);
	ready(2, 3);
	assert_int_equal(tn_nic_tx_ports(l.nic), 1);
	assert_int_equal(lone_tx(&l, 0), 3);
	assert_int_equal(l.bytes, (2 + 5 + 5) * TN_FLIT);
	assert_int_equal(l.tn.nsegs, 2 + 3 + 3);
	for (u32 i = 0; i < 3; i++) {
		assert_int_equal(l.sent[i].hdr.type, TN_DATA);
		assert_int_equal(l.sent[i].hdr.len, i ? 3 : 0);
		assert_int_equal(l.sent[i].hdr.tseq,
				 (l.peer[0].received.first_tseq + i) & TN_SEQ_MASK);
		assert_int_equal(l.sent[i].tail.eseq, i);
	}
	assert_int_equal(pc(TORUS_PC_TX_FRAMES), frames + 1);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 3);
	assert_int_equal(pc(TORUS_PC_TX_VCD0), 3);
	assert_int_equal(pc(TORUS_PC_TX_VCD1), 0);
	assert_int_equal(pc(TORUS_PC_TX_FLITS), 12);
	assert_int_equal(pc(TORUS_PC_TX_BYTES), 96);
	assert_int_equal(lone_tx(&l, 0), 0);
	assert_int_equal(l.tn.bytes, 0);
	assert_int_equal(l.tn.nsegs, 0);
	assert_int_equal(pc(TORUS_PC_TX_FRAMES), frames + 1);
	assert_int_equal(tn_nic_tx_ports(l.nic), 0);
	end();
}

/* A packet that is sent again does not count as a packet sent. */
static void packet_sent_again_is_not_counted_as_sent(void **state)
{
	(void)state;
	begin(NULL);
	ready(3, 1);
	assert_int_equal(lone_tx(&l, 0), 3);
	l.peer[0].rseq = (u16)(l.peer[0].rseq - 2);	/* the first packet arrived */
	once((struct tn_hdr) { .type = TN_IDLE, .e = 1 });
	assert_int_equal(pc(TORUS_PC_E_RECEIVED), 1);
	assert_int_equal(pc(TORUS_PC_RETRIES), 1);
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 3);
	assert_int_equal(pc(TORUS_PC_REPLAYED_PACKETS), 2);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 4);
	assert_int_equal(pc(TORUS_PC_TX_FLITS), 12);
	assert_int_equal(pc(TORUS_PC_TX_BYTES), 64);
	end();
}

static void frames_of_100_flits(struct lone *t)
{
	t->params.payload_max = 1024;
	t->params.frame_max = 100 * TN_FLIT;
}

/* A frame is filled up to its limit, and no further. */
static void frame_is_filled_to_its_limit(void **state)
{
	(void)state;
	begin(frames_of_100_flits);
	ready(2, 48);
	ready(1, 0);
	assert_int_equal(lone_tx(&l, 0), 2);
	assert_int_equal(l.bytes, 100 * TN_FLIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	ready(1, 49);
	ready(1, 48);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	/* The device may take less than the parameter says; more changes nothing. */
	tn_nic_frame_max(l.nic, 0, 99 * TN_FLIT);
	ready(2, 48);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	tn_nic_frame_max(l.nic, 0, 101 * TN_FLIT);
	ready(1, 48);
	ready(1, 49);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	/* the limit of another port does not count */
	tn_nic_frame_max(l.nic, 1, 70 * TN_FLIT);
	ready(2, 48);
	assert_int_equal(lone_tx(&l, 0), 2);
	end();
}

/* A frame has TN_FRAME_SEGS pieces at most. */
static void frame_has_limited_number_of_pieces(void **state)
{
	(void)state;
	begin(NULL);
	ready(140, 1);
	assert_int_equal(lone_tx(&l, 0), TN_FRAME_SEGS / 3);
	assert_int_equal(l.tn.nsegs, TN_FRAME_SEGS);
	assert_int_equal(lone_tx(&l, 0), 140 - TN_FRAME_SEGS / 3);
	end();
}

static void two_large(struct lone *t)
{
	t->cfg.large_max = 2;
	t->cfg.small_max = 1200;
}

/* A frame has limits for large payloads, of TN_FRAME_LARGE bytes or more, and for the rest. */
static void frame_has_limits_for_large_payloads_and_rest(void **state)
{
	(void)state;
	begin(two_large);
	ready(3, 32);
	assert_int_equal(lone_tx(&l, 0), 2);
	assert_int_equal(l.tn.large, 2);
	assert_int_equal(l.tn.small, 4 * TN_FLIT);
	assert_int_equal(l.tn.nsegs, 6);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.tn.large, 1);
	/* 33 + 2 + 33 + 7 flits beside the large one are 1200 bytes. */
	ready(1, 31);
	ready(1, 32);
	ready(1, 31);
	ready(1, 5);
	ready(1, 0);
	assert_int_equal(lone_tx(&l, 0), 4);
	assert_int_equal(l.tn.small, 1200);
	assert_int_equal(l.tn.large, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.tn.small, 2 * TN_FLIT);
	ready(1, 31);
	ready(1, 31);
	ready(1, 8);
	assert_int_equal(lone_tx(&l, 0), 2);
	assert_int_equal(l.tn.small, 66 * TN_FLIT);
	assert_int_equal(lone_tx(&l, 0), 1);
	end();
}

/* A cable in memory gets no ECRC, except in replays. */
static void cable_in_memory_gets_ecrc_only_in_replay(void **state)
{
	struct tn_link *link = begin(NULL);
	u32 sum;

	(void)state;
	tn_nic_tx_memory(l.nic, 0, true);
	ready(1, 2);
	assert_int_equal(lone_tx(&l, 0), 1);
	sum = tn_ecrc(l.sent[0].payload, &l.sent[0].hdr, &l.sent[0].tail);
	assert_int_equal(l.sent[0].tail.ecrc, 0);
	assert_int_not_equal(sum, 0);
	l.peer[0].rseq--;
	once((struct tn_hdr) { .type = TN_IDLE, .e = 1 });
	assert_int_equal(pc(TORUS_PC_RETRIES), 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].tail.ecrc, sum);
	assert_int_equal(link->retry.tx.sent.head->unsummed, 0);
	assert_int_equal(pc(TORUS_PC_REPLAYED_PACKETS), 1);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 1);
	end();
}

/* --- credits ------------------------------------------------------------------------------ */

/*
 * A freed buffer is reported after ack_delay, or at once in any packet that is sent; a quarter of
 * all buffers is reported at once, in packets of its own if there is no other.
 */
static void credits_are_reported_after_delay_or_by_quarter(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	l.now += 5;
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_DATA, .src = 1, .dir = 3, .first = 15,
					  .last = 15 }, good);
	l.now += 7;
	tn_nic_work(l.nic, l.now);
	assert_int_equal(lone_clear(&l), 1);
	assert_true(link->credit_at == l.now + l.params.ack_delay);
	assert_false(tn_link_wants(link));
	l.now += 9;
	freed(0);			/* a further free buffer does not delay the report */
	assert_true(link->credit_at == l.now - 9 + l.params.ack_delay);
	link->ack_at = ~0ull;
	l.now = link->credit_at - 1;
	assert_true(tn_link_expiry(link) == l.now + 1);
	tn_nic_poll(l.nic, l.now);
	assert_false(tn_link_wants(link));
	tn_nic_poll(l.nic, ++l.now);
	assert_true(tn_link_wants(link));
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_CREDIT);
	assert_int_equal(l.sent[0].hdr.len, 0);
	assert_int_equal(l.sent[0].hdr.crp, 2);
	assert_int_equal(l.sent[0].hdr.crp_vc, 0);
	assert_int_equal(l.sent[0].tail.ecrc, 0);	/* there are no flits to sum, and no flow */
	assert_int_equal(l.sent[0].tail.eseq, 0);
	assert_true(link->credit_at == ~0ull);
	assert_int_equal(tn_credit_owed(&link->credit), 0);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 1);
	assert_int_equal(pc(TORUS_PC_TX_FLITS), 2);
	assert_int_equal(pc(TORUS_PC_TX_BYTES), 0);
	assert_false(tn_link_wants(link));
	end();
}

/* Data packets carry credits, one report each; then no other packet is needed. */
static void data_packets_carry_credits(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	freed(1);
	freed(1);
	freed(2);
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.crp, 2);
	assert_int_equal(l.sent[0].hdr.crp_vc, 1);
	assert_int_equal(tn_credit_owed(&link->credit), 1);
	assert_true(link->credit_at == l.now + l.params.ack_delay);
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.crp, 1);
	assert_int_equal(l.sent[0].hdr.crp_vc, 2);
	assert_true(link->credit_at == ~0ull);
	/* A replay has the same report. */
	l.peer[0].rseq--;
	freed(0);
	once((struct tn_hdr) { .type = TN_IDLE, .e = 1 });
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.crp, 1);
	assert_int_equal(l.sent[0].hdr.crp_vc, 2);
	assert_int_equal(link->credit.owed[0], 1);
	end();
}

static void sixteen_slots(struct lone *t)
{
	t->params.slots = 16;
}

static void quarter_of_buffers_is_reported_at_once(void **state)
{
	struct tn_link *link = begin(sixteen_slots);

	(void)state;
	for (int i = 0; i < 3; i++)
		freed(1);
	assert_false(tn_link_wants(link));
	freed(0);			/* a credit of another VC */
	assert_false(tn_link_wants(link));
	freed(1);
	assert_true(tn_link_wants(link));
	/* All VCs that owe credits, one packet for each. */
	assert_int_equal(lone_tx(&l, 0), 2);
	assert_int_equal(l.sent[0].hdr.type, TN_CREDIT);
	assert_int_equal(l.sent[1].hdr.type, TN_CREDIT);
	assert_int_equal(l.sent[0].hdr.crp + l.sent[1].hdr.crp, 5);
	assert_int_equal(l.sent[0].hdr.crp, l.sent[0].hdr.crp_vc ? 4 : 1);
	assert_false(tn_link_wants(link));
	/* The NIC gets its own packets back when the peer has them. */
	assert_int_equal(l.mem.live, 2);
	lone_ack(&l, 0);
	assert_int_equal(l.mem.live, 0);
	assert_int_equal(lone_fc(&l, TORUS_FC_LINK_TX), 0);
	freed(1);			/* this credit waits again */
	assert_false(tn_link_wants(link));
	end();
}

/* Without memory for a packet credits stay owed for another ack_delay. */
static void credits_without_memory_stay_owed(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	freed(0);
	l.now = link->credit_at;
	link->ack_at = ~0ull;
	tn_nic_poll(l.nic, l.now);
	l.no_memory = true;
	assert_true(tn_link_wants(link));
	assert_int_equal(lone_tx(&l, 0), 0);
	assert_false(tn_link_wants(link));
	assert_true(link->credit_at == l.now + l.params.ack_delay);
	assert_int_equal(tn_credit_owed(&link->credit), 1);
	l.no_memory = false;
	l.now = link->credit_at;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.crp, 1);
	end();
}

/* An acknowledgement also carries credits, in packets. */
static void acknowledgement_also_carries_credits(void **state)
{
	struct tn_link *link = begin(NULL);

	(void)state;
	freed(0);
	assert_false(tn_link_wants(link));
	l.now = link->ack_at;
	link->credit_at = ~0ull;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_CREDIT);
	assert_int_equal(l.sent[0].hdr.rseq, l.peer[0].tseq);
	assert_int_equal(tn_credit_owed(&link->credit), 0);
	end();
}

/* --- acknowledgements ------------------------------------------------------------------------ */

static void retry_40(struct lone *t)
{
	t->params.retry_packets = 40;
}

static void mgmt_came(void)
{
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_MGMT, .len = 1 }, good);
}

/*
 * An acknowledgement is sent after ack_delay, or with a quarter of the RETRY buffer plus one, or in
 * any packet.
 */
static void acknowledgement_comes_after_delay_or_by_quarter(void **state)
{
	struct tn_link *link = begin(retry_40);

	(void)state;
	assert_true(link->ack_at == ~0ull);
	mgmt_came();
	assert_true(link->ack_at == l.now + l.params.ack_delay);
	l.now += 3;
	mgmt_came();
	assert_true(link->ack_at == l.now - 3 + l.params.ack_delay);
	assert_true(tn_link_expiry(link) == link->ack_at);
	l.now = link->ack_at - 1;
	tn_nic_poll(l.nic, l.now);
	assert_false(tn_link_wants(link));
	tn_nic_poll(l.nic, ++l.now);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_IDLE);
	assert_int_equal(l.sent[0].hdr.rseq, l.peer[0].tseq);
	assert_int_equal(l.bytes, 2 * TN_FLIT);
	assert_true(link->ack_at == ~0ull);
	assert_int_equal(link->unacked, 0);
	for (int i = 0; i < 10; i++)
		mgmt_came();
	assert_false(tn_link_wants(link));
	mgmt_came();
	assert_true(tn_link_wants(link));
	assert_int_equal(lone_tx(&l, 0), 1);
	mgmt_came();
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.rseq, l.peer[0].tseq);
	assert_true(link->ack_at == ~0ull);
	/* An IDLE needs no acknowledgement. */
	lone_ack(&l, 0);
	assert_true(link->ack_at == ~0ull);
	assert_int_equal(link->unacked, 0);
	end();
}

/* After an error each frame is acknowledged at once, for TN_RETRY_EAGER packets. */
static void after_error_each_frame_is_acknowledged(void **state)
{
	struct tn_hdr ahead = { .type = TN_MGMT, .len = 1, .tseq = 1 };
	struct tn_link *link = begin(NULL);

	(void)state;
	once(ahead);
	lone_drain(&l, 0);
	lone_ack(&l, 0);		/* an IDLE is not acknowledged */
	assert_false(tn_link_wants(link));
	/* The last of these packets is acknowledged like any other. */
	for (u32 i = 0; i < TN_RETRY_EAGER - 1; i++) {
		mgmt_came();
		assert_true(tn_link_wants(link));
		lone_drain(&l, 0);
	}
	mgmt_came();
	assert_false(tn_link_wants(link));
	end();
}

/*
 * With HIPPI a packet numbered 255, here an IDLE, gets no answer, not even after an error, when all
 * others are answered at once: otherwise two idle ends would answer each other for ever.
 */
static void packet_255_of_hippi_gets_no_answer(void **state)
{
	struct tn_hdr empty = { .type = TN_IDLE, .tseq = 255 },
	other = { .type = TN_MGMT, .len = 1 };
	struct tn_link *link;

	(void)state;
	lone_start(&l, "4", 0, NULL);
	tn_nic_retry(l.nic, 0, TORUS_RETRY_HIPPI, l.now);
	lone_up(&l, 0);
	link = lone_link(&l, 0);
	assert_int_equal(link->retry.ops->protocol, TORUS_RETRY_HIPPI);
	empty.rseq = other.rseq = (u16)(255 - l.peer[0].rseq);	/* no answer, either */
	assert_false(tn_link_wants(link));
	for (int i = 0; i < 40; i++)
		once(empty);
	assert_false(tn_link_wants(link));
	assert_true(link->ack_at == ~0ull);
	assert_int_equal(link->unacked, 0);
	other.tseq = (u16)(1 - l.peer[0].tseq);		/* numbers of this protocol begin at 0 */
	once(other);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_true(l.sent[0].hdr.type == TN_IDLE && l.sent[0].hdr.tseq == 255);
	assert_int_equal(l.sent[0].hdr.rseq, 0);
	lone_drain(&l, 0);
	for (int i = 0; i < 40; i++)
		once(empty);
	assert_false(tn_link_wants(link));
	assert_true(link->ack_at == ~0ull);
	other.tseq--;				/* the number that is expected */
	once(other);
	assert_true(tn_link_wants(link));
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.rseq, 1);
	end();
}

/* With ACK/NAK an answer takes 8 bytes in front of the packets, and only these answer. */
static void acknak_answer_takes_8_bytes_before_packets(void **state)
{
	struct tn_link *link;

	(void)state;
	lone_start(&l, "4", 0, NULL);
	tn_nic_retry(l.nic, 0, TORUS_RETRY_ACKNAK, l.now);
	lone_up(&l, 0);
	link = lone_link(&l, 0);
	lone_row(&l, 1, lone_dirs(1));
	tn_nic_release(l.nic, 1, false, l.now);
	mgmt_came();
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.bytes, 3 * TN_FLIT);		/* no answer is due */
	assert_int_equal(link->unacked, 1);
	assert_true(link->ack_at != ~0ull);
	l.now = link->ack_at;
	tn_nic_poll(l.nic, l.now);
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.bytes, TN_ACKNAK_BYTES + 3 * TN_FLIT);
	assert_int_equal(tn_type_of(l.frame), TN_ACKNAK);
	assert_int_equal(pc(TORUS_PC_ACKS_SENT), 1);
	assert_int_equal(link->unacked, 0);
	assert_true(link->ack_at == ~0ull);
	mgmt_came();
	l.now = link->ack_at;
	tn_nic_poll(l.nic, l.now);
	assert_int_equal(lone_tx(&l, 0), 0);
	assert_int_equal(l.bytes, TN_ACKNAK_BYTES);	/* and there is no IDLE */
	assert_int_equal(pc(TORUS_PC_ACKS_SENT), 2);
	assert_int_equal(pc(TORUS_PC_NAKS_SENT), 0);
	lone_rx(&l, 0, (const u8[TN_FLIT]) { TN_MGMT }, TN_FLIT);	/* a damaged packet */
	assert_int_equal(lone_tx(&l, 0), 0);
	assert_int_equal(tn_type_of(l.frame), TN_ACKNAK);
	assert_int_equal(pc(TORUS_PC_ACKS_SENT), 2);
	assert_int_equal(pc(TORUS_PC_NAKS_SENT), 1);
	end();
}

/* --- management packets ------------------------------------------------------------------------ */

static int mgmt(unsigned int len)
{
	static u8 bytes[TORUS_MGMT_MAX + 1] = { 1, 2, 3, [25] = 26, [TORUS_MGMT_MAX - 1] = 9 };

	return tn_nic_mgmt_send(l.nic, 0, bytes, len, l.now);
}

static void retry_2(struct lone *t)
{
	t->params.retry_packets = 2;
}

static void management_packet_has_its_bytes_and_limits(void **state)
{
	struct tn_link *link = begin(retry_2);

	(void)state;
	assert_int_equal(mgmt(0), -EINVAL);
	assert_int_equal(mgmt(TORUS_MGMT_MAX + 1), -EINVAL);
	assert_int_equal(tn_nic_mgmt_send(l.nic, 2, flits, 1, l.now), -EINVAL);
	assert_int_equal(mgmt(26), 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.type, TN_MGMT);
	assert_int_equal(l.sent[0].hdr.len, 2);
	assert_int_equal(l.sent[0].tail.flags, 6);
	assert_int_equal(l.sent[0].payload[25], 26);
	for (int i = 26; i < 32; i++)
		assert_int_equal(l.sent[0].payload[i], 0);
	assert_int_equal(l.sent[0].tail.ecrc,
			 tn_ecrc(l.sent[0].payload, &l.sent[0].hdr, &l.sent[0].tail));
	assert_int_equal(mgmt(TORUS_MGMT_MAX), 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.len, TORUS_MGMT_MAX / TN_FLIT);
	assert_int_equal(l.sent[0].tail.flags, 0);
	assert_int_equal(l.sent[0].payload[TORUS_MGMT_MAX - 1], 9);
	assert_int_equal(mgmt(16), 0);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_int_equal(l.sent[0].hdr.len, 1);
	assert_int_equal(pc(TORUS_PC_MGMT_TX), 3);
	assert_int_equal(pc(TORUS_PC_TX_BYTES), 26 + 1024 + 16);
	assert_int_equal(link->credit.ct[0], 0);
	l.no_memory = true;
	assert_int_equal(mgmt(1), -EAGAIN);
	assert_int_equal(pc(TORUS_PC_MGMT_TX), 3);
	tn_nic_admin(l.nic, 0, false, l.now);
	assert_int_equal(mgmt(1), -ENETDOWN);
	assert_int_equal(pc(TORUS_PC_MGMT_DROPS), 0);	/* no queue was full */
	end();
}

/*
 * At most the RETRY buffer and TN_LINK_CTL_SLACK more packets may wait; refused packets are
 * counted.
 */
static void management_packets_beyond_queue_are_refused(void **state)
{
	struct tn_link *link = begin(retry_2);
	u16 expected;

	(void)state;
	for (u32 i = 0; i < 2 + TN_LINK_CTL_SLACK; i++)
		assert_int_equal(mgmt(1), 0);
	assert_int_equal(pc(TORUS_PC_MGMT_DROPS), 0);
	assert_int_equal(mgmt(1), -EAGAIN);
	assert_int_equal(mgmt(1), -EAGAIN);
	assert_int_equal(pc(TORUS_PC_MGMT_DROPS), 2);
	assert_int_equal(pc(TORUS_PC_MGMT_TX), 2 + TN_LINK_CTL_SLACK);
	/* There is no room for a credit packet either; the credit stays owed. */
	expected = l.peer[0].rseq;
	lone_drain(&l, 0);
	l.peer[0].rseq = expected;	/* none of the packets arrived */
	freed(0);
	link->credit_now = true;
	lone_drain(&l, 0);
	assert_int_equal(link->retry.tx.sent.count, 2 + TN_LINK_CTL_SLACK);
	assert_int_equal(link->credit.owed[0], 1);
	end();
}

/* Data may be pushed while the RETRY buffer holds fewer packets than its limit. */
static void data_wait_for_room_in_retry_buffer(void **state)
{
	struct tn_link *link = begin(retry_2);

	(void)state;
	ready(3, 1);
	assert_int_equal(link->retry.tx.sent.count, 2);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT].count, 1);
	lone_drain(&l, 0);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT].count, 1);
	lone_ack(&l, 0);
	assert_int_equal(lone_fc(&l, TORUS_FC_LINK_TX), 2);
	tn_nic_work(l.nic, l.now);
	assert_int_equal(l.nic->input[TN_INPUT_INJECT].count, 0);
	end();
}

/*
 * Gauges show the numbers of the Angara paper, CTTR, CTRP, CT and N_inp, and the packets of each
 * VC.
 */
static void gauges_show_numbers_of_paper(void **state)
{
	struct tn_link_info info;
	struct tn_link *link;

	(void)state;
	link = begin(NULL);
	assert_int_equal(lone_send(&l, 1, 1, 1), 0);
	ready(2, 1);
	lone_tx(&l, 0);
	freed(0);
	tn_nic_link_info(l.nic, 0, &info, l.now);
	assert_int_equal(info.gauge[TORUS_PG_CTTR], (l.peer[0].received.first_tseq + 3) & TN_SEQ_MASK);
	assert_int_equal(info.gauge[TORUS_PG_CTRP], link->retry.rx.expected);
	assert_int_equal(info.gauge[TORUS_PG_CTRP], info.seq);
	assert_int_equal(info.gauge[TORUS_PG_CT_VCD0], 2);
	assert_int_equal(info.gauge[TORUS_PG_CT_VCD1], 1);
	assert_int_equal(info.gauge[TORUS_PG_CT_VCA], 0);
	for (unsigned int vc = 0; vc < TORUS_VCS; vc++)
		assert_int_equal(info.gauge[TORUS_PG_N_INP_VCD0 + vc],
				 info.gauge[TORUS_PG_CT_VCD0 + vc] +
				 info.gauge[TORUS_PG_CREDITS_VCD0 + vc]);
	assert_true(info.gauge[TORUS_PG_N_INP_VCA] > 0);
	assert_int_equal(pc(TORUS_PC_TX_VCD0), 2);
	assert_int_equal(pc(TORUS_PC_TX_VCD1), 1);
	assert_int_equal(pc(TORUS_PC_TX_VCA), 0);
	end();
}

static void paced(struct lone *t)
{
	t->params.pace = 10;
}

/* With pace a bit takes 10 ns of 1,000 Mb/s by 10: nothing but INITs is sent meanwhile. */
static void paced_link_sends_only_inits_meanwhile(void **state)
{
	struct tn_link *link = begin(paced);
	u64 free_at;

	(void)state;
	link->peer_mbps = 1000;
	l.now += 10 * MS;
	ready(3, 1);
	assert_int_equal(lone_tx(&l, 0), 3);
	free_at = l.now + 9 * TN_FLIT * 80;
	ready(1, 1);
	assert_false(tn_link_wants(link));
	assert_true(tn_nic_expiry(l.nic) == free_at);
	tn_nic_poll(l.nic, l.now = free_at - 1);
	assert_int_equal(lone_tx(&l, 0), 0);
	tn_nic_poll(l.nic, l.now = free_at);
	assert_int_equal(lone_tx(&l, 0), 1);
	/* A late timer does not slow it down, and what was left unused is not caught up. */
	free_at += 3 * TN_FLIT * 80;
	tn_nic_poll(l.nic, l.now = free_at + MS);
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_false(link->paced);
	assert_true(link->free_at == free_at + 3 * TN_FLIT * 80);
	l.now = link->free_at + MS + 1;
	ready(1, 1);
	assert_int_equal(lone_tx(&l, 0), 1);
	assert_true(link->free_at == l.now + 3 * TN_FLIT * 80);
	/* Another session begins with a free wire; the peer has said nothing. */
	assert_true(link->paced);
	link->init_now = true;
	assert_int_equal(lone_tx(&l, 0), 1);
	tn_nic_carrier(l.nic, 0, false, l.now);
	assert_true(tn_nic_expiry(l.nic) > l.now + MS);
	lone_up(&l, 0);
	assert_false(link->paced);
	end();
}

/*
 * With pace a frame takes at most a millisecond, so that answers do not wait for longer, or is one
 * packet.
 */
static void paced_frame_takes_at_most_a_millisecond(void **state)
{
	struct tn_link *link = begin(paced);

	(void)state;
	link->peer_mbps = 1000;
	l.now += 10 * MS;
	ready(30, 62);			/* 1024 bytes each; 12,500 take 1 ms */
	assert_int_equal(lone_tx(&l, 0), 12);
	link->peer_mbps = 10;
	tn_nic_poll(l.nic, l.now = link->free_at);
	assert_int_equal(lone_tx(&l, 0), 1);
	end();
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(gauges_show_numbers_of_paper),
		cmocka_unit_test(queued_packets_are_sent_whole_and_once),
		cmocka_unit_test(packet_sent_again_is_not_counted_as_sent),
		cmocka_unit_test(frame_is_filled_to_its_limit),
		cmocka_unit_test(frame_has_limited_number_of_pieces),
		cmocka_unit_test(frame_has_limits_for_large_payloads_and_rest),
		cmocka_unit_test(cable_in_memory_gets_ecrc_only_in_replay),
		cmocka_unit_test(credits_are_reported_after_delay_or_by_quarter),
		cmocka_unit_test(data_packets_carry_credits),
		cmocka_unit_test(quarter_of_buffers_is_reported_at_once),
		cmocka_unit_test(credits_without_memory_stay_owed),
		cmocka_unit_test(acknowledgement_also_carries_credits),
		cmocka_unit_test(acknowledgement_comes_after_delay_or_by_quarter),
		cmocka_unit_test(after_error_each_frame_is_acknowledged),
		cmocka_unit_test(packet_255_of_hippi_gets_no_answer),
		cmocka_unit_test(acknak_answer_takes_8_bytes_before_packets),
		cmocka_unit_test(management_packet_has_its_bytes_and_limits),
		cmocka_unit_test(management_packets_beyond_queue_are_refused),
		cmocka_unit_test(data_wait_for_room_in_retry_buffer),
		cmocka_unit_test(paced_link_sends_only_inits_meanwhile),
		cmocka_unit_test(paced_frame_takes_at_most_a_millisecond),
	};

	return cmocka_run_group_tests_name("link_tx", all, NULL, NULL);
}
