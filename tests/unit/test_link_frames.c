// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests what a link puts into a frame beside and around packets: requests for false packets, false
 * packets, marked copies, answers; how long a frame takes on a paced wire; buffers that are freed.
 */
#include "lib/util/times.h"
#include "tests/unit/one_lone.h"

#define NEVER (~0ull)

static struct tn_link *link;
static u32 bubble, retry, small_max, packets, slots;

static void tune(struct lone *one)
{
	one->params.bubble = bubble;
	one->params.retry = retry;
	one->cfg.small_max = small_max;
	one->params.retry_packets = packets ? packets : 256;
	one->params.slots = slots ? slots : 256;
}

/* The settings above hold for one NIC: they are cleared here. */
static void begin(void)
{
	lone_begin(tune);
	lone_row(&l, 1, lone_dirs(1));
	release();
	link = lone_link(&l, 0);
	bubble = retry = small_max = packets = slots = 0;
}

static u64 pc(enum torus_port_counter c)
{
	return lone_pc(&l, 0, c);
}

static void send_mgmt(u32 flits)
{
	static const u8 data[TORUS_MGMT_MAX] = { 1, 2, 3 };

	assert_int_equal(tn_nic_mgmt_send(l.nic, 0, data, flits * TN_FLIT, l.now), 0);
}

/* Queues a packet of @len flits in front of the link. */
static struct tn_pkt *push(struct tn_hdr h, u16 len)
{
	struct tn_pkt *pkt = memory_new(&l.mem, len);

	for (u32 i = 0; i < len * TN_FLIT; i++)
		pkt->payload[i] = (u8)(i + 5);
	h.len = len;
	pkt->hdr = h;
	pkt->tail = (struct tn_tail) { .eseq = 9, .flags = 5 };
	pkt->via = (struct tn_via) { .dst = 6, .payer = 4 };
	pkt->in_port = TN_PORT_HOST;
	pkt->unresolved = 0;
	pkt->unsummed = TN_UNSUMMED;
	tn_link_push(link, pkt, l.now);
	return pkt;
}

/* --- requests and false packets (MBS) --------------------------------------------------------- */

/* Each requested VC has an IDLE of its own behind an answer; a frame without any has one IDLE. */
static void each_request_is_an_idle(void **state)
{
	(void)state;
	for (u32 code = 0; code < 4 * 2 * 2; code++) {
		u32 asks = code & 3, answers = code >> 2 & 1, n = 0, bytes;

		bubble = TORUS_BUBBLE_MBS;
		retry = code & 8 ? TORUS_RETRY_ACKNAK : TORUS_RETRY_ANGARA;
		begin();
		link->asks = (u8)asks;
		link->ack_now = answers;
		memset(link->ctl, 0xa5, sizeof(link->ctl));
		lone_tx(&l, 0);
		bytes = (answers && code & 8 ? TN_ACKNAK_BYTES : 0) +
			2 * TN_FLIT * (asks == 3 ? 2 : asks ? 1 : answers && !(code & 8));
		assert_int_equal(l.bytes * !!(asks | answers), bytes);
		for (u32 vc = 0; vc < TORUS_VC_A && bytes; vc++) {
			if (!(asks >> vc & 1))
				continue;
			assert_true(l.sent[n].hdr.type == TN_IDLE && l.sent[n].hdr.nic);
			assert_int_equal(l.sent[n].hdr.vc, vc);
			n++;
		}
		if (!asks && answers && !(code & 8)) {
			const struct tn_hdr want = {
				.type = TN_IDLE, .tseq = l.peer[0].rseq, .rseq = l.peer[0].tseq,
			};

			assert_memory_equal(&l.sent[n++].hdr, &want, sizeof(want));
		}
		if (bytes)
			assert_int_equal(l.nsent, n);
		for (u32 i = 0; i < n; i++) {
			struct tn_tail t = l.sent[i].tail;

			assert_true(!t.ecrc && !t.eseq && !t.flags && !t.vb && !t.epoch);
		}
		assert_int_equal(link->asks, 0);
		assert_false(tn_link_wants(link));
		assert_ptr_equal(lone_link(&l, 1)->ops, link->ops);	/* no byte beyond the link */
		end();
	}
}

static struct tn_pkt *(*new)(void *host, unsigned int nflits);

static struct tn_pkt *on_new(void *host, unsigned int nflits)
{
	assert_int_equal(nflits, 0);
	return new(host, nflits);
}

/* A false packet takes a buffer of the peer, and needs memory and the link. */
static void false_packet_is_sent_if_it_can_be(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * 2 * 4; code++) {
		u32 vc = code & 1, handed = code >> 1 & 1, why = code / 4;
		u16 ct;

		bubble = TORUS_BUBBLE_MBS;
		begin();
		new = l.ops.pkt_new;
		l.ops.pkt_new = on_new;
		if (why == 1)
			l.no_memory = true;
		if (why != 3)	/* the last buffer is enough */
			link->credit.ct[vc] = (u16)(link->credit.n_inp[vc] - (why != 2));
		if (why == 3)
			tn_nic_retrain(l.nic, 0, l.now);
		ct = link->credit.ct[vc];
		assert_int_equal(tn_link_false(link, vc, handed, l.now), why == 0);
		assert_int_equal(link->credit.ct[vc], ct + !why);
		assert_int_equal(link->retry.tx.sent.count, why == 0);
		if (why == 0) {
			assert_int_equal(lone_tx(&l, 0), 1);
			assert_true(l.sent[0].hdr.type == TN_CREDIT && l.sent[0].hdr.nic);
			assert_true(l.sent[0].hdr.vc == vc && l.sent[0].hdr.dst == handed);
			assert_true(!l.sent[0].tail.eseq && !l.sent[0].tail.flags &&
				    !l.sent[0].tail.vb && !l.sent[0].tail.ecrc);
			assert_int_equal(l.bytes, 2 * TN_FLIT);
			assert_int_equal(pc(TORUS_PC_TX_VCD0) + pc(TORUS_PC_TX_VCD1), 0);
			link->credit.owed[0] = 1;	/* a report of credits has no payload, too */
			link->credit_now = true;
		}
		lone_drain(&l, 0);
		assert_int_equal(link->credit.owed[0], 0);
		end();
	}
}

/* --- the wire ---------------------------------------------------------------------------------- */

/* A frame takes its time if this end is paced and the peer's receiver has a rate. */
static void paced_frame_takes_its_time(void **state)
{
	(void)state;
	for (u32 code = 0; code < 3 * 3 * 4; code++) {
		u32 pace = code % 3, mbps = code / 3 % 3 * 1000;
		u64 time = mbps ? 48ull * 8000 * pace / mbps : 0, from;
		/* how long before this frame the wire was free */
		u64 early = (const u64[]) { 0, time, MS, MS + 1 }[code / 9];

		begin();
		l.nic->params.pace = pace;
		link->peer_mbps = mbps;
		link->free_at = l.now - early;
		from = early > MS ? l.now : link->free_at;
		send_mgmt(1);
		assert_int_equal(lone_tx(&l, 0), 1);
		assert_int_equal(l.bytes, 48);
		if (time)
			assert_true(link->free_at == from + time);
		assert_int_equal(link->paced, time && from + time > l.now);
		end();
	}
}

/* A frame may take exactly a millisecond; a packet that takes longer goes behind an answer only. */
static void slow_frame_has_one_packet_or_a_millisecond(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * 3; code++) {
		bool answers = code & 1;

		retry = TORUS_RETRY_ACKNAK;
		begin();
		l.nic->params.pace = 1000;
		/* two packets take 1 ms, a little more, or one does so already */
		link->peer_mbps = (const u32[]) { 768, 767, 383 }[code / 2];
		link->ack_now = answers;
		send_mgmt(1);
		send_mgmt(1);
		/* 8 bytes of an answer are beyond the millisecond */
		assert_int_equal(lone_tx(&l, 0), code == 0 ? 2 : 1);
		end();
	}
}

/* An answer and packets up to the limit of small bytes; payloads of 512 bytes are not among them. */
static void answer_counts_in_limit_of_small_bytes(void **state)
{
	(void)state;
	for (u32 answers = 0; answers < 2; answers++) {
		retry = TORUS_RETRY_ACKNAK;
		small_max = TN_PAYLOAD_MIN;
		begin();
		link->ack_now = answers;
		send_mgmt(TN_PAYLOAD_MIN / 2 / TN_FLIT - 2 - 1);	/* 496 bytes */
		send_mgmt(TN_PAYLOAD_MIN / 2 / TN_FLIT - 2 + 1);	/* 528 bytes */
		assert_int_equal(lone_tx(&l, 0), answers ? 1 : 2);
		assert_int_equal(l.tn.small, answers ? 496 + TN_ACKNAK_BYTES : TN_PAYLOAD_MIN);
		lone_drain(&l, 0);
		for (u32 n = 0; n < 3; n++)
			push((struct tn_hdr) { .type = TN_DATA, .dst = 1 }, 256);
		assert_int_equal(lone_tx(&l, 0), 3);
		assert_int_equal(l.tn.small, 3 * 2 * TN_FLIT);
		assert_int_equal(l.tn.large, 3);
		end();
	}
}

/* A frame postpones the keep-alive, and has each answer of HIPPI once. */
static void frame_has_answer_once_and_postpones_keepalive(void **state)
{
	u64 k;

	(void)state;
	retry = TORUS_RETRY_HIPPI;
	begin();
	l.peer[0].tseq = 0;
	l.peer[0].rseq = 255;
	lone_rx_pkt(&l, 0, (struct tn_hdr) { .type = TN_MGMT, .len = 1 }, (struct tn_tail) { 0 });
	l.now += 3 * l.params.keepalive;
	k = l.params.keepalive;
	send_mgmt(1);
	send_mgmt(1);
	assert_int_equal(lone_tx(&l, 0), 2);
	assert_int_equal(l.sent[0].hdr.rseq, 1);
	assert_int_equal(l.sent[1].hdr.rseq, 255);
	assert_true(l.sent[1].tail.ecrc == tn_ecrc(l.sent[1].payload, &l.sent[1].hdr, &l.sent[1].tail));
	assert_true(link->keepalive_at == (l.now / k + 1) * k);
	end();
}

/* Packets of hosts count on their VC, also those that return. */
static void sent_packets_count_on_their_vc(void **state)
{
	(void)state;
	begin();
	push((struct tn_hdr) { .type = TN_DATA, .vc = 0 }, 1);
	push((struct tn_hdr) { .type = TN_UNREACH, .vc = 1 }, 1);
	push((struct tn_hdr) { .type = TN_DATA, .vc = 2, .relayed = 1 }, 1);
	send_mgmt(1);
	assert_int_equal(lone_tx(&l, 0), 4);
	assert_true(l.sent[2].via.dst == 6 && l.sent[2].via.payer == 4);
	assert_int_equal(l.bytes, (4 * 3 + 1) * TN_FLIT);
	assert_int_equal(l.sent[3].tail.ecrc,
			 tn_ecrc(l.sent[3].payload, &l.sent[3].hdr, &l.sent[3].tail));
	for (u32 vc = 0; vc < TORUS_VCS; vc++)
		assert_int_equal(pc(TORUS_PC_TX_VCD0 + vc), 1);
	assert_int_equal(pc(TORUS_PC_TX_PACKETS), 4);
	/* Nothing is left, so no frame is made and no answer is asked for. */
	assert_int_equal(lone_tx(&l, 0), 0);
	end();
}

/* --- marked copies ------------------------------------------------------------------------------ */

/* A marked copy precedes its packet, if both have room; it differs by VB and in its payload. */
static void marked_copy_precedes_packet_if_there_is_room(void **state)
{
	(void)state;
	for (u32 code = 0; code < 3 * 6; code++) {
		u32 len = code % 3, why = code / 3;
		struct tn_pkt *pkt, *copy;

		packets = 8;
		begin();
		tn_nic_marks(l.nic, 0, why == 3 ? len & 1 : TORUS_BER_ONE, 1);
		for (u32 n = 0; n < (why == 1 ? 7 : 6); n++)
			send_mgmt(1);
		if (why == 2)
			link->credit.ct[0] = (u16)(link->credit.n_inp[0] - 2);
		if (why == 4)
			link->credit.ct[0] = (u16)(link->credit.n_inp[0] - 3);
		l.no_memory = why == 5;
		pkt = push((struct tn_hdr) { .type = TN_DATA, .relayed = 1, .dst = 3, .src = 2 },
			   (u16)len);
		copy = link->retry.tx.sent.head;
		while (copy->hdr.type == TN_MGMT)
			copy = copy->next;
		assert_int_equal(copy == pkt, why != 0 && why != 4);
		assert_ptr_equal(link->retry.tx.sent.tail, pkt);
		if (why == 0) {
			assert_true(tn_hdr_like(&copy->hdr, &pkt->hdr));
			assert_int_equal(copy->hdr.tseq + 1, pkt->hdr.tseq);
			assert_true(copy->tail.vb == TN_VB_BAD && pkt->tail.vb == 0);
			assert_true(copy->tail.eseq == 9 && copy->tail.flags == 5);
			assert_true(copy->via.dst == 6 && copy->via.payer == 4);
			assert_true(copy->in_port == TN_PORT_HOST && !copy->unresolved);
			assert_true(!copy->stalled && !copy->unsummed);
			for (u32 i = 0; i < len * TN_FLIT; i++)
				assert_int_equal(copy->payload[i], pkt->payload[i] ^ !i);
			assert_int_equal(link->credit.ct[0], 2);
		}
		end();
	}
}

/* --- buffers and answers ------------------------------------------------------------------------ */

/* Buffers that are freed together are reported as if each were freed by itself. */
static void buffers_freed_together_count_each(void **state)
{
	(void)state;
	for (u32 code = 0; code < 12 * 2; code++) {
		u32 n = 1 + code / 2;
		struct tn_credit want;
		bool now;
		u64 at;

		for (u32 together = 0; together < 2; together++) {
			bubble = code & 1 ? TORUS_BUBBLE_CBS : TORUS_BUBBLE_BLOC;
			slots = 32;
			begin();
			link->credit.used[1] = 20;
			if (together)
				tn_link_freed_some(link, 1, n, l.now);
			for (u32 i = 0; i < n && !together; i++)
				tn_link_freed(link, 1, false, l.now);
			if (together) {
				assert_memory_equal(&link->credit, &want, sizeof(want));
				assert_int_equal(link->credit_now, now);
				/* the timer does not matter if the report goes at once */
				assert_true(now || link->credit_at == at);
			}
			want = link->credit;
			now = link->credit_now;
			at = link->credit_at;
			assert_int_equal(now, n >= 8);
			assert_true(want.used[1] == 20 - n && want.owed[1] == n);
			link->credit.used[1] = 0;
			end();
		}
	}
}

/* Only a link that is up, and has something to acknowledge, does so. */
static void only_link_that_is_up_acknowledges(void **state)
{
	(void)state;
	for (u32 code = 0; code < 4; code++) {
		begin();
		if (code & 2)
			tn_nic_retrain(l.nic, 0, l.now);
		link->unacked = code & 1;
		tn_link_ack(link);
		assert_int_equal(link->ack_now, code == 1);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_request_is_an_idle),
		cmocka_unit_test(false_packet_is_sent_if_it_can_be),
		cmocka_unit_test(paced_frame_takes_its_time),
		cmocka_unit_test(slow_frame_has_one_packet_or_a_millisecond),
		cmocka_unit_test(answer_counts_in_limit_of_small_bytes),
		cmocka_unit_test(frame_has_answer_once_and_postpones_keepalive),
		cmocka_unit_test(sent_packets_count_on_their_vc),
		cmocka_unit_test(marked_copy_precedes_packet_if_there_is_room),
		cmocka_unit_test(buffers_freed_together_count_each),
		cmocka_unit_test(only_link_that_is_up_acknowledges),
	};

	return cmocka_run_group_tests_name("link_frames", all, NULL, NULL);
}
