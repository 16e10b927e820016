// SPDX-License-Identifier: GPL-2.0-only
/*
 * Series of packets ("Series" in kernel/core/link.h): a NIC that receives packets in one frame, and
 * moves and sends them together, must end as one that receives each in a frame of its own, where no
 * series exists.
 */
#include "lib/util/times.h"
#include "tests/unit/lone.h"
#include "tests/unit/random.h"

#define PACKETS	40		/* most packets of a frame, at 80 bytes at most: see flits */
#define FRAMES	300

/* The NICs under test, node 0 of a ring of four each: one gets whole frames, one single packets. */
static struct lone whole, single;
static uint64_t rnd;
static unsigned int flow_vc;	/* the VC of all packets of a run */
static u32 returned;		/* credits that the frame may still return */
static u8 flits[PACKETS * 128];

static bool one_in(uint32_t n)
{
	return !random_below(&rnd, n);
}

static void tune(struct lone *l)
{
	static const u8 retries[] = { TORUS_RETRY_ANGARA, TORUS_RETRY_ACKNAK, TORUS_RETRY_HIPPI };
	uint64_t r = rnd;	/* the same values for both */

	l->params.retry = retries[random_below(&r, ARRAY_SIZE(retries))];
	l->params.slots = 4 + random_below(&r, 40);
	l->params.retry_packets = 8 + random_below(&r, 100);
	l->params.bubble = one_in(4) ? TORUS_BUBBLE_CBS : TORUS_BUBBLE_BLOC;
}

static void begin(struct lone *l, u64 marks)
{
	uint64_t r = rnd;

	lone_start(l, "4", 0, tune);
	rnd = r;
	lone_all_up(l);
	for (unsigned int p = 0; p < l->cfg.nports; p++)
		tn_nic_marks(l->nic, p, marks, p + 1);
	lone_row(l, 1, lone_dirs(1));
	lone_row(l, 2, lone_dirs(1));
	lone_row(l, 3, lone_dirs(2));
	if (rnd & 1)	/* the ECRC then does not show that a copy is marked bad */
		tn_nic_rx_checked(l->nic, 0, true);
}

/* The header of the next packet: mostly that of the packet before. */
static void vary_header(struct tn_hdr *h)
{
	if (one_in(6))
		h->dst = random_below(&rnd, 4);
	if (one_in(8))
		h->len = (u16)random_below(&rnd, 4);
	if (one_in(20))
		h->src = 1 + random_below(&rnd, 3);
	if (one_in(20))
		h->colour = (u8)random_below(&rnd, TORUS_COLOURS);
	/* a packet from NIC to NIC, as relays send them, which has one flit and only passes here */
	h->nic = h->dst && one_in(10);
	h->len = h->nic ? 1 : h->len;
	h->dir = h->dst == 3 ? 2 : 1;
	h->crp_vc = h->vc;
	h->crp = returned && one_in(20);
	returned -= h->crp;
}

static struct tn_tail vary_tail(void)
{
	return (struct tn_tail) {
		.eseq = random_below(&rnd, 4),
		.flags = (u8)random_below(&rnd, 0x40),
		.vb = one_in(30) ? TN_VB_BAD : 0,
	};
}

/* Return: the number with which port 0 accepts a packet. */
static u16 expected_number(struct lone *l)
{
	const struct tn_retry *r = &lone_link(l, 0)->retry;

	return r->ops->counts ? r->next : r->rx.expected;
}

/*
 * The answer of the neighbour on @port in the HIPPI protocol: that it has got all packets, or none.
 * Other protocols repeat the answer in each packet.
 */
static void set_answer(struct lone *l, unsigned int port, bool all)
{
	const struct tn_retry *r = &lone_link(l, port)->retry;

	if (r->ops->counts)
		l->peer[port].rseq = all ? (u16)((r->head + r->tx.sent.count) % 255) : 255;
}

/* Makes the next packet at @at, sometimes one that a link does not accept. Return: its bytes. */
static u32 make_packet(u8 *at, struct tn_hdr h, bool last)
{
	u32 bytes;

	if (one_in(30))
		h.type = TN_IDLE;
	if (one_in(60))
		h.tseq = (u16)(random_below(&rnd, 3) - 1u) & TN_SEQ_MASK;
	if (h.type == TN_IDLE)
		h = (struct tn_hdr) { .type = TN_IDLE };
	bytes = lone_make(&whole, 0, at, h, vary_tail(), NULL, NULL);
	if (last && one_in(4))	/* after a damaged one nothing more of a frame is read */
		at[random_below(&rnd, bytes)] ^= 1;
	return bytes;
}

/* Return: how many packets the neighbour may send on @vc. */
static u32 room(unsigned int vc)
{
	const struct tn_credit *c = &lone_link(&single, 0)->credit;

	return single.params.slots - c->used[vc] - c->owed[vc];
}

/* Both NICs receive a frame of @n packets, or of as many as there are buffers for. */
static void receive(struct tn_hdr h, u32 n)
{
	u32 at = 0;

	if (n > room(h.vc))
		n = room(h.vc);
	whole.peer[0].tseq = expected_number(&whole);
	set_answer(&whole, 0, false);
	returned = whole.params.bubble ? 0 : lone_link(&whole, 0)->credit.ct[h.vc];
	for (u32 i = 0; i < n; i++) {
		u32 bytes;

		vary_header(&h);
		bytes = make_packet(flits + at, h, i == n - 1);
		lone_rx(&single, 0, flits + at, bytes);
		tn_nic_work(single.nic, single.now);
		at += bytes;
		whole.peer[0].tseq = expected_number(&single);
		if (lone_link(&single, 0)->retry.rx.ignoring)
			break;		/* the rest of the frame may not be read */
	}
	lone_rx(&whole, 0, flits, at);
	tn_nic_work(whole.nic, whole.now);
	single.peer[0].tseq = whole.peer[0].tseq;
}

static void same_packets(const struct tn_queue *a, const struct tn_queue *b)
{
	const struct tn_pkt *p = a->head, *q = b->head;

	assert_int_equal(a->count, b->count);
	for (; p && q; p = p->next, q = q->next) {
		assert_true(tn_hdr_like(&p->hdr, &q->hdr));
		assert_int_equal(p->hdr.tseq, q->hdr.tseq);
		assert_int_equal(p->tail.eseq, q->tail.eseq);
		assert_int_equal(p->tail.flags, q->tail.flags);
		assert_int_equal(p->tail.vb, q->tail.vb);
		assert_true(p->in_port == q->in_port && p->in_vc == q->in_vc);
		assert_true(p->unsummed == q->unsummed && p->unresolved == q->unresolved);
		if (p->hdr.len)
			assert_memory_equal(p->payload, q->payload, p->hdr.len * TN_FLIT);
	}
	assert_true(!p && !q);
}

static void same_link(unsigned int port)
{
	const struct tn_link *a = lone_link(&whole, port), *b = lone_link(&single, port);

	for (unsigned int c = 0; c < TORUS_PC_COUNT; c++) {
		if (c != TORUS_PC_RX_FRAMES && c != TORUS_PC_CREDIT_STALLS &&
		    (c < TORUS_PC_STALLS_VCD0 || c > TORUS_PC_STALLS_VCA))
			assert_int_equal(a->counter[c], b->counter[c]);
	}
	assert_memory_equal(&a->credit, &b->credit, sizeof(a->credit));
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->unacked, b->unacked);
	assert_int_equal(a->eager, b->eager);
	assert_int_equal(a->retry.rx.expected, b->retry.rx.expected);
	assert_int_equal(a->retry.rx.ignoring, b->retry.rx.ignoring);
	assert_int_equal(a->retry.owed, b->retry.owed);
	assert_int_equal(a->retry.tx.tseq, b->retry.tx.tseq);
	assert_int_equal(a->retry.tx.flits, b->retry.tx.flits);
	same_packets(&a->retry.tx.sent, &b->retry.tx.sent);
}

static void same_nic(void)
{
	for (unsigned int p = 0; p < whole.cfg.nports; p++)
		same_link(p);
	for (unsigned int i = 0; i < TN_INPUTS; i++)
		same_packets(&whole.nic->input[i], &single.nic->input[i]);
	assert_memory_equal(whole.nic->active, single.nic->active, sizeof(whole.nic->active));
	for (unsigned int c = 0; c < TORUS_NC_COUNT; c++)
		assert_int_equal(whole.nic->counter[c], single.nic->counter[c]);
	assert_memory_equal(whole.nic->flow, single.nic->flow, sizeof(whole.nic->flow));
	same_packets(&whole.got, &single.got);
}

/* Checks the last frame of @port: each header is that of its packet with the present answer. */
static void headers_are_right(struct lone *l, unsigned int port)
{
	struct tn_link *link = lone_link(l, port);

	for (u32 i = 0; i < l->nsent; i++) {
		const struct tn_pkt *pkt = link->retry.tx.sent.head;
		u8 flit[TN_FLIT];
		struct tn_hdr h;

		if (l->sent[i].hdr.type == TN_IDLE || link->retry.ops->counts)
			continue;
		while (pkt && pkt->hdr.tseq != l->sent[i].hdr.tseq)
			pkt = pkt->next;
		assert_non_null(pkt);
		h = pkt->hdr;
		link->retry.ops->stamp(&link->retry, &h);
		tn_hdr_put(flit, &h);
		assert_memory_equal(flit, l->sent[i].flits, TN_FLIT);
		assert_true(tn_lcrc_ok(flit, l->sent[i].payload + h.len * TN_FLIT, link->seed));
	}
}

/* Both NICs send what they have, and sometimes the neighbours acknowledge it and return credits. */
static void answer(void)
{
	bool acks = one_in(2);

	for (unsigned int p = 0; p < whole.cfg.nports; p++) {
		struct tn_hdr credits = { .type = TN_CREDIT, .crp_vc = (u8)flow_vc };
		u32 n = 0;

		do {
			n = lone_tx(&whole, p);
			assert_int_equal(lone_tx(&single, p), n);
			assert_int_equal(whole.bytes, single.bytes);
			headers_are_right(&whole, p);
		} while (n);
		if (!acks)
			continue;
		set_answer(&whole, p, true);
		set_answer(&single, p, true);
		lone_ack(&whole, p);
		lone_ack(&single, p);
		set_answer(&whole, p, false);
		set_answer(&single, p, false);
		credits.crp = lone_link(&whole, p)->credit.ct[flow_vc];
		if (!credits.crp || lone_link(&whole, p)->credit.policy != TN_BUBBLE_BLOC)
			continue;
		lone_rx_pkt(&whole, p, credits, (struct tn_tail) { 0 });
		lone_rx_pkt(&single, p, credits, (struct tn_tail) { 0 });
	}
	tn_nic_work(whole.nic, whole.now);
	tn_nic_work(single.nic, single.now);
}

/* Both NICs receive a frame of packets of the neighbour. */
static void receive_some(void)
{
	struct tn_hdr h = {
		.type = TN_DATA, .dst = random_below(&rnd, 4), .src = 1, .vc = (u8)flow_vc, .len = 2,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};

	receive(h, random_below(&rnd, PACKETS) + 1);
}

/* The hosts of both NICs send packets, for which there is room. */
static void send_some(void)
{
	u32 dst = 1 + random_below(&rnd, 3);

	for (u32 n = random_below(&rnd, PACKETS); n; n--) {
		u16 len = (u16)random_below(&rnd, 4);

		if (one_in(4))
			dst = 1 + random_below(&rnd, 3);
		if (!tn_nic_room(whole.nic, dst, flow_vc))
			continue;
		assert_int_equal(lone_send(&whole, dst, flow_vc, len), 0);
		assert_int_equal(lone_send(&single, dst, flow_vc, len), 0);
		tn_nic_work(single.nic, single.now);
	}
	tn_nic_work(whole.nic, whole.now);
}

/* Makes 40 runs of FRAMES steps, in which @step gives packets to both NICs. */
static void compare(void (*step)(void), u64 marks)
{
	uint64_t seed = random_seed(41);
	u64 received = 0, moved = 0;

	for (unsigned int run = 0; run < 40; run++) {
		rnd = seed + run;
		flow_vc = run % 2;	/* VCs take the RETRY buffer's last places in any order */
		begin(&whole, marks);
		begin(&single, marks);
		same_nic();
		for (unsigned int i = 0; i < FRAMES; i++) {
			step();
			same_nic();
			answer();
			same_nic();
			lone_clear(&whole);
			lone_clear(&single);
		}
		received += whole.nic->link[0].counter[TORUS_PC_RX_PACKETS];
		moved += whole.nic->counter[TORUS_NC_FORWARDED] + whole.nic->counter[TORUS_NC_INJECTED];
		lone_end(&whole);
		lone_end(&single);
	}
	assert_true(moved > 2000 && (step == send_some || received > 5000));
}

static void series_ends_as_single_packets_do(void **state)
{
	(void)state;
	compare(receive_some, 0);
}

static void series_of_host_ends_as_single_packets_do(void **state)
{
	(void)state;
	compare(send_some, 0);
}

static void marked_copies_precede_same_packets_of_series(void **state)
{
	(void)state;
	compare(receive_some, TORUS_BER_ONE / 3);
	compare(send_some, TORUS_BER_ONE / 3);
}

/* --- messages: tn_nic_send_message() must do what tn_nic_send() does for each packet ------------- */

/* Return: the row of both NICs to node @dst: valid, on hold, through a relay, or none. */
static u64 draw_row(u32 dst)
{
	switch (random_below(&rnd, 6)) {
	case 0:
		return 0;
	case 1:
		return lone_dirs(1) | TORUS_ROW_HOLD;
	case 2:
		return lone_dirs(1) | TORUS_ROW_RELAY | (u64)(dst == 1 ? 2 : 1) << TORUS_ROW_RELAY_SHIFT;
	default:
		return lone_dirs(1 + random_below(&rnd, 2));
	}
}

/* Makes the packets of a message. Some are too long, begin another message, or have a wrong flag. */
static struct tn_queue make_message(struct lone *l, u32 n)
{
	uint32_t odds = n > PACKETS ? 4096 : 32;
	struct tn_queue msg = { 0 };
	uint64_t r = rnd;	/* the same values for both */

	for (u32 i = 0; i < n; i++) {
		u16 len = (u16)(random_below(&r, odds) ? random_below(&r, 3) : l->params.payload_max / TN_FLIT + 1);
		struct tn_pkt *pkt = memory_new(&l->mem, len);

		memset(pkt->payload, 0x5a, (size_t)len * TN_FLIT);
		pkt->in_vc = 0xa5;
		pkt->hdr.len = len;
		pkt->tail.flags = (u8)random_below(&r, 16);	/* the host's bits, and one that is not */
		pkt->tail.flags |= i && random_below(&r, odds) ? 0 : TN_TAIL_FIRST;
		pkt->tail.flags |= random_below(&r, odds) ? 0 : TN_TAIL_REPLAYED;
		tn_queue_push(&msg, pkt);
	}
	return msg;
}

/* Sends each packet of @msg by itself. Return: as tn_nic_send_message(). */
static int send_each(struct lone *l, struct tn_queue *msg, u32 dst, unsigned int vc)
{
	struct tn_pkt *pkt;

	while ((pkt = tn_queue_pop(msg))) {
		int err = tn_nic_send(l->nic, pkt, dst, vc, l->now);

		if (!err)
			continue;
		tn_queue_push_front(msg, pkt);
		return err;
	}
	return 0;
}

/* Both NICs get another row, and sometimes the end of a recovery. */
static void change_row(void)
{
	u32 dst = 1 + random_below(&rnd, 3), n;
	u64 row = draw_row(dst), version;

	lone_row(&whole, dst, row);
	lone_row(&single, dst, row);
	if (one_in(3))
		return;
	assert_true(tn_nic_rows(whole.nic, &n, &version));
	assert_int_equal(tn_nic_release(whole.nic, version, false, whole.now), 0);
	assert_int_equal(tn_nic_release(single.nic, version, false, single.now), 0);
}

static void send_message_to_both(void)
{
	u32 n = 1 + random_below(&rnd, one_in(10) ? 3 * TN_INJECT_MAX : PACKETS), dst = random_below(&rnd, 5);
	unsigned int vc = random_below(&rnd, TORUS_VCS + 1);
	struct tn_queue a = make_message(&whole, n), b = make_message(&single, n);
	int err = tn_nic_send_message(whole.nic, &a, dst, vc, whole.now);

	assert_int_equal(send_each(&single, &b, dst, vc), err);
	assert_int_equal(a.count, b.count);
	assert_int_equal(!a.count, !err);
	same_packets(&whole.nic->held, &single.nic->held);
	same_packets(&whole.nic->relay.wait, &single.nic->relay.wait);
	assert_int_equal(whole.nic->held_bytes, single.nic->held_bytes);
	while (a.head)
		lone_free(&whole, tn_queue_pop(&a));
	while (b.head)
		lone_free(&single, tn_queue_pop(&b));
}

static void message_is_taken_like_its_packets_one_by_one(void **state)
{
	uint64_t seed = random_seed(42);
	u64 injected = 0, kept = 0;

	(void)state;
	for (unsigned int run = 0; run < 60; run++) {
		rnd = seed + run;
		begin(&whole, 0);
		begin(&single, 0);
		for (unsigned int i = 0; i < 100; i++) {
			if (one_in(8))
				change_row();
			send_message_to_both();
			same_nic();
			if (one_in(3))	/* otherwise the injection queues become full */
				answer();
			same_nic();
			lone_clear(&whole);
			lone_clear(&single);
		}
		injected += whole.nic->counter[TORUS_NC_INJECTED];
		kept += whole.nic->counter[TORUS_NC_HELD] + whole.nic->counter[TORUS_NC_RELAY_WAITED];
		lone_end(&whole);
		lone_end(&single);
	}
	assert_true(injected > 5000 && kept > 1000);
}

/* The router puts packets into a series only if in_vc is the VC of their flow. */
static void host_packets_have_vc_of_their_flow(void **state)
{
	const struct tn_pkt *pkt;

	(void)state;
	for (flow_vc = 0; flow_vc < 2; flow_vc++) {
		begin(&whole, 0);
		for (u32 n = 0; n < 3; n++)
			assert_int_equal(lone_send(&whole, 1, flow_vc, 2), 0);
		tn_nic_work(whole.nic, whole.now);
		assert_int_equal(lone_link(&whole, 0)->retry.tx.sent.count, 3);
		for (pkt = lone_link(&whole, 0)->retry.tx.sent.head; pkt; pkt = pkt->next)
			assert_true(pkt->in_vc == flow_vc && pkt->hdr.vc == flow_vc);
		lone_end(&whole);
	}
}

static void hippi(struct lone *l)
{
	l->params.retry = TORUS_RETRY_HIPPI;
}

static void repeated_hippi_answer_in_frame_is_nak(void **state)
{
	struct tn_hdr h = {
		.type = TN_DATA, .dst = 0, .src = 1, .len = 1, .dir = 1,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};
	u32 at = 0;

	(void)state;
	lone_start(&whole, "4", 0, hippi);
	lone_all_up(&whole);
	lone_row(&whole, 1, lone_dirs(1));
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(lone_send(&whole, 1, TORUS_VC_D0, 1), 0);
	tn_nic_work(whole.nic, whole.now);
	assert_int_equal(lone_drain(&whole, 0), 3);
	/* only if both numberings are equal by chance, packets look like a series */
	lone_link(&whole, 0)->retry.rx.expected = lone_link(&whole, 0)->retry.next;
	set_answer(&whole, 0, true);	/* in both packets of the frame: all but the last arrived */
	whole.peer[0].rseq--;
	whole.peer[0].tseq = expected_number(&whole);
	for (u32 i = 0; i < 2; i++) {
		at += lone_make(&whole, 0, flits + at, h, (struct tn_tail) { .eseq = i }, NULL, NULL);
		whole.peer[0].tseq++;
	}
	lone_rx(&whole, 0, flits, at);
	assert_int_equal(lone_pc(&whole, 0, TORUS_PC_RX_PACKETS), 2);
	assert_int_equal(lone_pc(&whole, 0, TORUS_PC_RETRIES), 1);
	assert_int_equal(lone_drain(&whole, 0), 1);
	tn_nic_work(whole.nic, whole.now);
	assert_int_equal(lone_clear(&whole), 2);
	lone_end(&whole);
}

static void few_slots(struct lone *l)
{
	l->params.slots = 4;
}

static void series_beyond_buffers_fails_link(void **state)
{
	struct tn_hdr h = {
		.type = TN_DATA, .dst = 0, .src = 1, .len = 1, .dir = 1,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};
	u32 at = 0;

	(void)state;
	lone_start(&whole, "4", 0, few_slots);
	lone_all_up(&whole);
	for (u32 i = 0; i < 5; i++) {
		at += lone_make(&whole, 0, flits + at, h, (struct tn_tail) { .eseq = i }, NULL,
				NULL);
		whole.peer[0].tseq++;
	}
	lone_rx(&whole, 0, flits, at);
	assert_int_equal(lone_pc(&whole, 0, TORUS_PC_RX_PACKETS), 4);
	assert_int_equal(lone_link(&whole, 0)->state, TORUS_LINK_FAULTY);
	assert_int_equal(lone_link(&whole, 0)->reason, TORUS_REASON_PROTOCOL);
	tn_nic_work(whole.nic, whole.now);
	assert_int_equal(lone_clear(&whole), 4);
	lone_end(&whole);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(series_beyond_buffers_fails_link),
		cmocka_unit_test(repeated_hippi_answer_in_frame_is_nak),
		cmocka_unit_test(series_ends_as_single_packets_do),
		cmocka_unit_test(series_of_host_ends_as_single_packets_do),
		cmocka_unit_test(marked_copies_precede_same_packets_of_series),
		cmocka_unit_test(host_packets_have_vc_of_their_flow),
		cmocka_unit_test(message_is_taken_like_its_packets_one_by_one),
	};

	return cmocka_run_group_tests_name("series", all, NULL, NULL);
}
