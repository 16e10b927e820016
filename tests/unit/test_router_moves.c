// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests single steps of the router: packets of one queue that take different courses, the choice of
 * an adaptive packet, closed ports, and which inputs are served.
 */
#include "tests/unit/one_lone.h"

static const struct tn_tail good;

/* Node 0 of a torus, all of whose links are up. All rows go by port 0 first but that of node 1. */
static void begin_in(struct lone *x, const char *shape, void (*tune)(struct lone *l))
{
	lone_start(x, shape, 0, tune);
	lone_all_up(x);
	for (u32 dst = 1; dst < x->nic->nodes; dst++)
		x->nic->rows[dst] = lone_dirs(dst == 1 ? 8 : 3);
}

static void begin(const char *shape)
{
	begin_in(&l, shape, NULL);
}

static struct tn_pkt *put(struct lone *x, u32 input, struct tn_hdr h, struct tn_tail t, u8 port,
			  u8 vc)
{
	struct tn_pkt *pkt = memory_new(&x->mem, h.len);

	pkt->hdr = h;
	pkt->tail = t;
	pkt->via = (struct tn_via) { .dst = 5, .payer = 1 };
	pkt->in_port = port;
	pkt->in_vc = vc;
	pkt->unresolved = pkt->stalled = pkt->unsummed = 0;
	if (port < x->cfg.nports)
		lone_link(x, port)->credit.used[vc]++;
	tn_input_push(x->nic, input, pkt);
	return pkt;
}

/* --- packets of one queue ------------------------------------------------------------------ */

enum change {
	NONE, DST, DIR, LAST, FIRST, VC, IN_VC, IN_PORT, RELAYED, SERVICE, HERE, NIC, ALL_LAST, CHANGES
};

enum limit { FREE, CREDITS, PLACES, BOTH, CLOSED, MARKS, BUBBLE, LIMITS };

static bool from_host;

/* Puts the packet number @n of a queue, of which number 2 is another one. */
static void put_like(struct lone *x, enum change c, u32 n)
{
	struct tn_hdr h = {
		.type = TN_DATA, .src = 1, .dst = 4, .dir = 3, .len = 1,
		.first = TN_NO_STEP, .last = TN_NO_STEP,
	};
	u8 port = from_host ? TN_PORT_HOST : 2, vc = 0;
	struct tn_tail t = { .eseq = n };
	struct tn_pkt *pkt;

	if (n == 2) {
		h.dst = c == DST ? 3 : c == HERE ? 0 : 4;
		h.dir = c == DIR ? 2 : 3;
		h.last = c == LAST ? 1 : TN_NO_STEP;
		h.first = c == FIRST ? 1 : TN_NO_STEP;
		h.vc = c == VC;
		vc = c == IN_VC;
		port = c == IN_PORT ? 3 : port;
		h.relayed = c == RELAYED;
		h.nic = c == NIC;
		t.vb = c == SERVICE ? TN_SERVICE_RMA : 0;
	}
	if (c == ALL_LAST) {		/* the last step is all that is left of the path */
		h.dst = 1;
		h.dir = h.last = 0;
	}
	pkt = put(x, from_host ? TN_INPUT_INJECT : 2 * TORUS_VCS, h, t, port, vc);
	pkt->stalled = n & 1;
	if (h.relayed)
		pkt->via.dst = 99;	/* no node */
}

static void set_cbs(struct lone *x)
{
	x->params.bubble = TORUS_BUBBLE_CBS;
}

static void limit(struct lone *x, enum limit what, u32 n)
{
	struct tn_link *k = lone_link(x, 0);

	k->wire = 5;		/* its peer has no services */
	if (what == CREDITS || what == BOTH)
		k->credit.ct[0] = (u16)(k->credit.n_inp[0] - n);
	if (what == PLACES || what == BOTH)
		k->retry_packets = n;
	if (what == CLOSED)
		k->closed = true;
	if (what == MARKS)
		tn_nic_marks(x->nic, 0, TORUS_BER_ONE, 1);
}

static void check_same_queue(const struct tn_queue *a, const struct tn_queue *b)
{
	const struct tn_pkt *p = a->head, *q = b->head;

	assert_int_equal(a->count, b->count);
	for (; p; p = p->next, q = q->next) {
		assert_memory_equal(&p->hdr, &q->hdr, sizeof(p->hdr));
		assert_int_equal(p->tail.eseq, q->tail.eseq);
		assert_true(p->in_port == q->in_port && p->tail.vb == q->tail.vb);
		assert_int_equal(p->stalled, q->stalled);
	}
}

/* The packets of a queue go as if each had come when the one before was gone. */
static void packets_of_queue_go_as_single_ones(void **state)
{
	static struct lone one;

	(void)state;
	for (u32 code = 0; code < CHANGES * LIMITS * 2 * 6; code++) {
		enum change c = code % CHANGES;
		enum limit what = code / CHANGES % LIMITS;
		u32 n = code / CHANGES / LIMITS / 2;

		from_host = code / CHANGES / LIMITS % 2;
		if (n && what != CREDITS && what != PLACES && what != BOTH)
			continue;
		begin_in(&l, "3x3", what == BUBBLE ? set_cbs : NULL);
		begin_in(&one, "3x3", what == BUBBLE ? set_cbs : NULL);
		limit(&l, what, n);
		limit(&one, what, n);
		for (u32 i = 0; i < 5; i++) {
			put_like(&l, c, i);
			put_like(&one, c, i);
			tn_nic_work(one.nic, one.now);
		}
		work();
		for (u32 p = 0; p < 4; p++) {
			struct tn_link *a = lone_link(&l, p), *b = lone_link(&one, p);

			check_same_queue(&a->retry.tx.sent, &b->retry.tx.sent);
			assert_true(!a->retry.tx.sent.head || !a->retry.tx.sent.head->stalled);
			assert_memory_equal(&a->credit, &b->credit, sizeof(a->credit));
			assert_int_equal(a->credit_now, b->credit_now);
			assert_true(a->credit_at == b->credit_at);
		}
		for (u32 i = 0; i < TN_INPUTS; i++)
			check_same_queue(&l.nic->input[i], &one.nic->input[i]);
		check_same_queue(&l.nic->park.q, &one.nic->park.q);
		check_same_queue(&l.got, &one.got);
		assert_memory_equal(l.nic->counter, one.nic->counter, sizeof(one.nic->counter));
		assert_memory_equal(l.nic->active, one.nic->active, sizeof(one.nic->active));
		end();
		lone_end(&one);
	}
}

/* Two inputs take turns of 16 packets, also if these leave as a series. */
static void series_ends_after_16_packets(void **state)
{
	const struct tn_pkt *pkt;
	u32 n = 0;

	(void)state;
	begin("3x3");
	for (u32 i = 0; i < 80; i++) {
		u8 port = i < 40 ? 2 : 3;

		put(&l, port * TORUS_VCS,
		    (struct tn_hdr) { .type = TN_DATA, .src = port, .dst = 1, .dir = 1,
				      .first = TN_NO_STEP, .last = TN_NO_STEP }, good, port, 0);
	}
	work();
	assert_int_equal(nc(TORUS_NC_FORWARDED), 80);
	for (pkt = lone_link(&l, 0)->retry.tx.sent.head; pkt; pkt = pkt->next, n++)
		assert_int_equal(pkt->hdr.src, n < 64 ? 2 + n / 16 % 2 : n < 72 ? 2 : 3);
	assert_int_equal(n, 80);
	end();
}

/* --- which inputs are served ---------------------------------------------------------------- */

/* A packet in any input is moved, whichever input comes first in this round. */
static void each_input_is_served_in_each_round(void **state)
{
	(void)state;
	begin("3x3");
	for (u32 input = 0; input < TN_INPUTS; input++) {
		for (u32 turn = 0; turn < TN_INPUTS; turn++) {
			/* it is adaptive, so it belongs to no flow */
			put(&l, input, (struct tn_hdr) { .type = TN_DATA, .src = 1, .vc = 1,
							 .first = TN_NO_STEP, .last = TN_NO_STEP },
			    (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE }, TN_PORT_HOST, 1);
			l.nic->turn = (u8)turn;
			work();
			assert_int_equal(lone_clear(&l), 1);
			assert_true(lone_idle(&l));
		}
	}
	end();
}

/* A blocked answer stops no other: it waits in its queue, which stays active. */
static void blocked_answer_stops_no_other(void **state)
{
	const struct tn_hdr to[] = {
		{ .type = TN_DATA, .vc = 1, .dst = 1, .dir = 1, .nic = 1, .len = 1,
		  .first = TN_NO_STEP, .last = TN_NO_STEP },
		{ .type = TN_DATA, .vc = 1, .dst = 3, .dir = 2, .nic = 1, .len = 1,
		  .first = TN_NO_STEP, .last = TN_NO_STEP },
	};

	(void)state;
	begin("3x3");
	for (u32 n = 0; n < 6; n++)
		put(&l, TN_INPUT_ANSWER, to[n & 1], good, TN_PORT_HOST, 1);
	lone_link(&l, 0)->credit.ct[1] = lone_link(&l, 0)->credit.n_inp[1];
	work();
	assert_int_equal(lone_link(&l, 1)->retry.tx.sent.count, 3);
	assert_int_equal(l.nic->input[TN_INPUT_ANSWER].count, 3);
	assert_false(lone_idle(&l));
	lone_link(&l, 0)->credit.ct[1] = 0;
	work();
	assert_int_equal(lone_link(&l, 0)->retry.tx.sent.count, 3);
	assert_true(lone_idle(&l));
	end();
}

/* --- the way of a packet --------------------------------------------------------------------- */

/* Packets to each node of a large torus leave by the port of their row, also after many others. */
static void each_node_of_large_torus_has_its_way(void **state)
{
	(void)state;
	begin("32x32");
	for (u32 round = 0; round < 2; round++) {
		for (u32 dst = 33; dst < 1024; dst += 31) {
			u32 port = (dst + round) % 2 + 2 * (dst / 8 % 2);

			if (!(dst % 32) || !(dst / 32))
				continue;	/* a step in one dimension only */
			l.nic->rows[dst] = lone_dirs(1u << port);
			assert_int_equal(lone_send(&l, dst, 0, 1), 0);
			assert_int_equal(l.nic->input[TN_INPUT_INJECT + port * TORUS_VCS].count, 1);
			work();
			assert_int_equal(lone_drain(&l, port), 1);
			assert_int_equal(l.sent[0].hdr.dst, dst);
			lone_ack(&l, port);
		}
	}
	end();
}

/* A packet whose row leads nowhere waits for port 0, and comes back from there. */
static void packet_without_way_waits_for_port_0(void **state)
{
	(void)state;
	begin("3x3");
	l.nic->rows[4] = lone_dirs(0);
	for (u32 vc = 0; vc < TORUS_VC_A; vc++) {
		assert_int_equal(lone_send(&l, 4, vc, 1), 0);
		assert_int_equal(l.nic->input[TN_INPUT_INJECT + vc].count, 1);
		work();
		assert_int_equal(lone_clear(&l), 1);
	}
	end();
}

/* An adaptive packet has the directions that its row allows it; others those of the path. */
static void adaptive_packet_has_its_own_directions(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * TORUS_VCS; code++) {
		bool allowed = code & 1;
		u32 vc = code / 2;
		u64 row = TORUS_ROW_VALID | 1 | 6ull << TORUS_ROW_ADAPT_SHIFT |
			  2ull << TORUS_ROW_FIRST_SHIFT | 3ull << TORUS_ROW_LAST_SHIFT;
		bool own = vc == TORUS_VC_A && allowed;
		struct tn_pkt *pkt;

		begin("3x3");
		l.nic->rows[4] = row | (allowed ? TORUS_ROW_ADAPTIVE : 0);
		assert_int_equal(lone_send(&l, 4, vc, 1), 0);
		for (u32 i = 0; i < TN_INPUTS; i++) {
			pkt = l.nic->input[i].head;
			if (!pkt)
				continue;
			assert_int_equal(pkt->hdr.dir, own ? 6 : 1);
			assert_int_equal(pkt->hdr.first, own ? TN_NO_STEP : 2);
			assert_int_equal(pkt->hdr.last, own ? TN_NO_STEP : 3);
			assert_int_equal(pkt->hdr.vc, own ? TORUS_VC_A : vc == TORUS_VC_A ? 0 : vc);
		}
		end();
	}
}

/*
 * An adaptive packet takes the allowed port with most credits that has room, up to the last
 * dimension; without any it takes the escape channel by the port of the path.
 */
static void adaptive_packet_takes_port_with_room(void **state)
{
	(void)state;
	for (u32 code = 0; code < 3 * 3 * 3; code++) {
		u32 best = 9, most = 0, free[3] = { code % 3, code / 3 % 3, code / 9 };

		for (u32 full = 0; full < 4; full++) {
			u32 taken = 9;

			best = 9;
			most = 0;
			begin("3x3x3");
			for (u32 d = 0; d < 3; d++) {
				struct tn_link *k = lone_link(&l, d + 3);

				k->credit.ct[TORUS_VC_A] = (u16)(k->credit.n_inp[2] - free[d]);
				if (full == d)
					k->retry_packets = 0;
				else if (free[d] > most)
					best = d + 3, most = free[d];
			}
			put(&l, TN_INPUT_INJECT + 2,
			    (struct tn_hdr) { .type = TN_DATA, .vc = TORUS_VC_A, .dst = 26, .dir = 070,
					      .first = TN_NO_STEP, .last = TN_NO_STEP },
			    (struct tn_tail) { .flags = TN_TAIL_ADAPTIVE }, TN_PORT_HOST, 2);
			work();
			for (u32 p = 0; p < 6; p++) {
				struct tn_pkt *pkt = lone_link(&l, p)->retry.tx.sent.head;

				if (!pkt)
					continue;
				taken = p;
				assert_int_equal(pkt->hdr.vc, best == 9 ? TORUS_VC_D0 : TORUS_VC_A);
			}
			if (best != 9)
				assert_int_equal(taken, best);
			else	/* the path begins by the first dimension, unless that has no place */
				assert_int_equal(taken, full == 0 ? 9 : 3);
			end();
		}
	}
}

/* The way back is closed to adaptive packets only: the header of others stays as it is. */
static void only_adaptive_packet_loses_direction_back(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * 2; code++) {
		bool adaptive = code & 1, host = code & 2;
		struct tn_pkt *pkt;

		begin("3x3");
		put(&l, host ? TN_INPUT_INJECT : 2 * TORUS_VCS,
		    (struct tn_hdr) { .type = TN_DATA, .vc = adaptive ? TORUS_VC_A : 0, .dst = 4,
				      .dir = 1 | 4, .first = TN_NO_STEP, .last = TN_NO_STEP },
		    (struct tn_tail) { .flags = adaptive ? TN_TAIL_ADAPTIVE : 0 },
		    host ? TN_PORT_HOST : 2, adaptive ? TORUS_VC_A : 0);
		work();
		pkt = lone_link(&l, 0)->retry.tx.sent.head;
		if (!pkt)
			pkt = lone_link(&l, 2)->retry.tx.sent.head;
		if (pkt)
			assert_int_equal(pkt->hdr.dir, adaptive && !host ? 1 : 5);
		end();
	}
}

/* --- ports that cannot be used ------------------------------------------------------------------ */

/* A packet for a link that has never been up closes it, so that no later packet overtakes it. */
static void first_parked_packet_closes_port(void **state)
{
	(void)state;
	lone_start(&l, "3x3", 0, NULL);
	lone_up(&l, 2);
	assert_false(lone_link(&l, 0)->closed);
	lone_rx_pkt(&l, 2, (struct tn_hdr) { .type = TN_DATA, .dst = 1, .src = 2, .dir = 1,
					     .first = TN_NO_STEP, .last = TN_NO_STEP }, good);
	work();
	assert_true(lone_link(&l, 0)->closed);
	assert_int_equal(l.nic->park.q.count, 1);
	assert_int_equal(l.nic->park.q.head->in_port, TN_PORT_HOST);
	assert_int_equal(lone_link(&l, 2)->credit.used[0], 0);
	lone_up(&l, 0);
	lone_rx_pkt(&l, 2, (struct tn_hdr) { .type = TN_DATA, .dst = 1, .src = 2, .dir = 1,
					     .first = TN_NO_STEP, .last = TN_NO_STEP }, good);
	work();
	assert_int_equal(l.nic->park.q.count, 2);
	end();
}

/* A closed port lets through packets of NICs, those of its replay, and relayed ones of any replay. */
static void closed_port_lets_some_packets_through(void **state)
{
	(void)state;
	for (u32 code = 0; code < 32; code++) {
		bool nic = code & 1, relayed = code & 2, replayed = code & 4, opens = code & 8;
		u8 port = code & 16 ? 2 : TN_PORT_HOST;
		bool goes = nic || (relayed && replayed) ||
			    (opens && replayed && port == TN_PORT_HOST);

		if (nic && relayed)
			continue;
		begin("3x3");
		lone_link(&l, 0)->closed = true;
		/* a packet of another replay keeps the port from opening */
		l.nic->reopening = opens ? 1 : 2;
		l.nic->input[TN_INPUT_REPLAY + 2].head = (struct tn_pkt *)&good;
		put(&l, port == 2 ? 6 : TN_INPUT_INJECT,
		    (struct tn_hdr) { .type = TN_DATA, .dst = 1, .src = 2, .dir = 1, .nic = nic,
				      .relayed = relayed, .len = nic, .first = TN_NO_STEP,
				      .last = TN_NO_STEP },
		    (struct tn_tail) { .flags = replayed ? TN_TAIL_REPLAYED : 0 }, port, 0);
		work();
		assert_int_equal(lone_link(&l, 0)->retry.tx.sent.count, goes);
		assert_int_equal(l.nic->park.q.count, !goes);
		l.nic->input[TN_INPUT_REPLAY + 2].head = NULL;
		l.nic->reopening = 0;
		end();
	}
}

/* A packet that goes back is a new one of this node, from where it was to go to its source. */
static void returned_packet_is_one_of_this_node(void **state)
{
	(void)state;
	for (u32 code = 0; code < 2 * 3; code++) {
		bool relayed = code & 1;
		u32 src = 7 + code / 2;		/* node 9 does not exist */
		struct tn_pkt *pkt;

		begin("3x3");
		pkt = memory_new(&l.mem, 1);
		pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .src = src, .dst = 4, .len = 1,
					     .relayed = relayed };
		pkt->tail = (struct tn_tail) { .eseq = 3 };
		pkt->via = (struct tn_via) { .dst = 5, .payer = 1 };
		pkt->in_port = 2;
		pkt->stalled = pkt->unresolved = 1;
		tn_send_back(l.nic, pkt, TN_WHY_PATH);
		pkt = l.nic->input[TN_INPUT_ANSWER].head;
		assert_int_equal(!pkt, src == 9);
		assert_int_equal(l.mem.live, src != 9);
		if (pkt) {
			assert_true(pkt->hdr.type == TN_UNREACH && pkt->hdr.vc == TORUS_VC_D1);
			assert_true(pkt->hdr.dst == src && pkt->hdr.src == (relayed ? 5 : 4));
			assert_true(!pkt->hdr.relayed && pkt->tail.eseq == 3 && pkt->hdr.len == 1);
			assert_true(pkt->in_port == TN_PORT_HOST && !pkt->stalled);
			assert_true(!pkt->unresolved && pkt->unsummed == TN_UNSUMMED);
		}
		end();
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(packets_of_queue_go_as_single_ones),
		cmocka_unit_test(series_ends_after_16_packets),
		cmocka_unit_test(each_input_is_served_in_each_round),
		cmocka_unit_test(blocked_answer_stops_no_other),
		cmocka_unit_test(each_node_of_large_torus_has_its_way),
		cmocka_unit_test(packet_without_way_waits_for_port_0),
		cmocka_unit_test(adaptive_packet_has_its_own_directions),
		cmocka_unit_test(adaptive_packet_takes_port_with_room),
		cmocka_unit_test(only_adaptive_packet_loses_direction_back),
		cmocka_unit_test(first_parked_packet_closes_port),
		cmocka_unit_test(closed_port_lets_some_packets_through),
		cmocka_unit_test(returned_packet_is_one_of_this_node),
	};

	return cmocka_run_group_tests_name("router_moves", all, NULL, NULL);
}
