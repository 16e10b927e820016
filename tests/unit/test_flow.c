// SPDX-License-Identifier: GPL-2.0-only
/*
 * End-to-end sequence numbers compared with a model that keeps a list of sent packets for each
 * flow: packets come in any order, some twice, some never.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/flow.h"

#define NODES 5
#define FLOWS (NODES * TN_FLOWS)
#define PACKETS 400

struct world {
	struct rnd r;
	struct tn_flows out, in;
	struct tn_flow_tx tx[2][FLOWS];
	struct tn_flow_rx rx[2][FLOWS];
	struct tn_pkt pool[PACKETS];
	struct tn_queue idle;
	struct tn_pkt *way[PACKETS];	/* packets under way, in any order */
	unsigned int n;
	u32 sent[FLOWS], got[FLOWS];
	bool missing[FLOWS];		/* something of the flow was lost */
	bool received[FLOWS];		/* some packets of it were delivered */
	u64 lost, now;
};

/* A table of @version replaces one of @old. */
static void age(struct tn_flows *f, u64 old, u64 version)
{
	tn_flows_age(f, 0, f->nodes, old);
	tn_flows_commit(f, version);
}

static unsigned int flow_of(const struct tn_pkt *p)
{
	return p->hdr.src * TN_FLOWS + p->tail.vb * TN_FLOW_VCS + p->hdr.vc;
}

/* The sender numbers by destination, the receiver looks up by source: one number. */
static void emit(struct world *w)
{
	struct tn_pkt *p = w->n < PACKETS / 2 ? tn_queue_pop(&w->idle) : NULL;
	unsigned int f;

	if (!p)
		return;
	p->hdr = (struct tn_hdr) { .dst = rnd_below(&w->r, NODES),
				   .vc = (u8)rnd_below(&w->r, TN_FLOW_VCS), .len = 1 };
	p->hdr.src = p->hdr.dst;
	p->tail.vb = (u8)rnd_below(&w->r, TN_FLOW_SERVICES);
	f = flow_of(p);
	tn_flow_stamp(&w->out, p, p->hdr.vc);
	expect(&w->r, p->tail.eseq == w->sent[f], "number %u", p->tail.eseq);
	w->sent[f]++;
	w->way[w->n++] = p;
}

static void delivered(struct world *w, struct tn_pkt *p)
{
	unsigned int f = flow_of(p);

	expect(&w->r, p->tail.eseq == w->got[f] ||
	       (w->missing[f] && p->tail.eseq > w->got[f]), "flow %u: %u after %u", f,
	       p->tail.eseq, w->got[f]);
	/* Before the first packet that comes, the flow may have had another NIC. */
	if (w->received[f])
		w->lost += p->tail.eseq - w->got[f];
	w->received[f] = true;
	w->got[f] = p->tail.eseq + 1;
	tn_flow_done(&w->in, p);
	tn_queue_push(&w->idle, p);
}

static void waiting(struct world *w)
{
	struct tn_pkt *p;

	while ((p = tn_flow_next(&w->in))) {
		tn_flow_unwait(&w->in, p);
		if (tn_flow_turn(&w->in, p) == TN_FLOW_NOW)
			delivered(w, p);
		else
			tn_queue_push(&w->idle, p);
	}
}

static void receive(struct world *w, struct tn_pkt *p)
{
	unsigned int f = flow_of(p);

	switch (tn_flow_turn(&w->in, p)) {
	case TN_FLOW_NOW:
		delivered(w, p);
		waiting(w);
		break;
	case TN_FLOW_EARLY:
		expect(&w->r, p->tail.eseq > w->got[f], "%u is not early", p->tail.eseq);
		tn_flow_wait(&w->in, p, w->now);
		break;
	case TN_FLOW_BEHIND:
		expect(&w->r, p->tail.eseq < w->got[f], "%u is not behind", p->tail.eseq);
		tn_queue_push(&w->idle, p);
		break;
	case TN_FLOW_LATE:
		expect(&w->r, false, "%u is of no former epoch", p->tail.eseq);
		break;
	}
}

static void arrive(struct world *w, bool mixed, bool lossy)
{
	struct tn_pkt *p, *copy;
	unsigned int i;

	if (!w->n)
		return;
	i = mixed ? rnd_below(&w->r, w->n < 20 ? w->n : 20) : 0;
	p = w->way[i];
	memmove(&w->way[i], &w->way[i + 1], (--w->n - i) * sizeof(*w->way));
	if (lossy && rnd_one_in(&w->r, 50)) {
		w->missing[flow_of(p)] = true;
		tn_queue_push(&w->idle, p);
		return;
	}
	copy = mixed && rnd_one_in(&w->r, 20) ? tn_queue_pop(&w->idle) : NULL;
	if (copy) {
		copy->hdr = p->hdr;
		copy->tail = p->tail;
		w->way[w->n++] = copy;
	}
	receive(w, p);
}

/* Makes the flows of one end, 0 or 1, as they are in a NIC that has just started. */
static void begin_flows(struct world *w, int end)
{
	memset(w->tx[end], 0, sizeof(w->tx[end]));
	memset(w->rx[end], 0, sizeof(w->rx[end]));
	tn_flows_init(end ? &w->in : &w->out, w->tx[end], w->rx[end], NODES);
}

static void world_start(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof(*w));
	w->r = rnd_new(seed);
	for (int i = 0; i < PACKETS; i++)
		tn_queue_push(&w->idle, &w->pool[i]);
	begin_flows(w, 0);
	begin_flows(w, 1);
	w->now = 1;
}

static void drain(struct world *w)
{
	while (w->n)
		arrive(w, true, false);
}

static void order_one(uint64_t seed)
{
	static struct world w;

	world_start(&w, seed);
	for (int i = 0; i < 20000; i++) {
		w.now++;
		emit(&w);
		arrive(&w, true, false);
		expect(&w.r, !w.in.waiting == (w.in.since == ~0ull), "since");
	}
	drain(&w);
	for (unsigned int f = 0; f < FLOWS; f++)
		expect(&w.r, w.got[f] == w.sent[f], "flow %u: %u of %u", f, w.got[f], w.sent[f]);
	expect(&w.r, !w.in.waiting && !w.in.wait_bytes && !w.in.lost, "nothing waits");
	expect(&w.r, w.idle.count == PACKETS, "%u packets", w.idle.count);
}

/* In any order and with duplicates: each packet is delivered exactly once, in order. */
static void packets_in_any_order_are_delivered_once_in_order(void **state)
{
	(void)state;
	for_seeds(20, order_one);
}

static void loss_one(uint64_t seed)
{
	static struct world w;

	world_start(&w, seed);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 300; i++) {
			w.now++;
			emit(&w);
			arrive(&w, true, true);
		}
		/* The manager knows that nothing more can arrive, and closes the gaps. */
		drain(&w);
		for (unsigned int before = ~0u; w.in.waiting && w.in.waiting < before;) {
			before = w.in.waiting;
			tn_flow_close_gaps(&w.in);
			waiting(&w);
		}
		tn_flow_license(&w.in);
		expect(&w.r, !w.in.waiting, "gaps are closed");
		/* Losses at the very end of a flow are noticed with its next packet. */
		for (unsigned int f = 0; f < FLOWS; f++)
			expect(&w.r, w.missing[f] || w.got[f] == w.sent[f], "flow %u", f);
		/*
		 * From now on the same table is in force and all paths are stable until the next
		 * commit.
		 */
		for (int i = 0; i < 200; i++) {
			emit(&w);
			arrive(&w, false, false);
			expect(&w.r, !w.in.waiting, "nobody waits for what was given up");
		}
		while (w.n)
			arrive(&w, false, false);
		w.in.licensed = false;
		for (unsigned int f = 0; f < FLOWS; f++)
			w.missing[f] &= w.got[f] != w.sent[f];
	}
	expect(&w.r, w.in.lost == w.lost, "lost %llu, model %llu", (unsigned long long)w.in.lost,
	       (unsigned long long)w.lost);
}

/* Lost packets are given up when the manager says so, counted, and the rest goes on in order. */
static void lost_packets_are_given_up_when_licensed(void **state)
{
	(void)state;
	for_seeds(20, loss_one);
}

static enum tn_flow_turn turn_of(struct world *w, u16 epoch, u32 eseq)
{
	struct tn_pkt p = { .hdr = { .src = 2, .vc = 1 },
			    .tail = { .eseq = eseq, .epoch = epoch } };
	enum tn_flow_turn turn = tn_flow_turn(&w->in, &p);

	if (turn == TN_FLOW_NOW)
		tn_flow_done(&w->in, &p);
	return turn;
}

/* A NIC that has just started does not count packets as lost of which it does not know. */
static void nic_that_starts_late_counts_no_unknown_losses(void **state)
{
	static struct world w;

	(void)state;
	world_start(&w, 1);
	tn_flow_license(&w.in);
	assert_int_equal(turn_of(&w, 7, 1000), TN_FLOW_NOW);
	assert_int_equal(w.in.lost, 0);
	/* From then on every number counts ... */
	tn_flow_license(&w.in);
	assert_int_equal(turn_of(&w, 7, 1003), TN_FLOW_NOW);
	assert_int_equal(w.in.lost, 2);
	/* ... and the next numbering begins with 0. */
	tn_flow_license(&w.in);
	assert_int_equal(turn_of(&w, 8, 5), TN_FLOW_NOW);
	assert_int_equal(w.in.lost, 7);
}

/* A row that becomes valid begins its flows anew, at 0, in a later epoch. */
static void valid_row_begins_flow_at_0_in_later_epoch(void **state)
{
	static struct world w;
	struct tn_pkt p = { .hdr = { .dst = 2, .src = 2, .vc = 1 } };

	(void)state;
	world_start(&w, 1);
	tn_flow_begin(&w.out, 2, 7);
	for (u32 i = 0; i < 3; i++) {
		tn_flow_stamp(&w.out, &p, 1);
		assert_int_equal(p.tail.eseq, i);
		assert_int_equal(p.tail.epoch, 7);
		assert_int_equal(turn_of(&w, p.tail.epoch, p.tail.eseq), TN_FLOW_NOW);
	}
	tn_flow_begin(&w.out, 2, 9);
	tn_flow_stamp(&w.out, &p, 1);
	assert_int_equal(p.tail.eseq, 0);
	assert_int_equal(p.tail.epoch, 9);
	assert_int_equal(turn_of(&w, 9, 0), TN_FLOW_NOW);
	/* Packets that were sent before and come only now are late, and change nothing. */
	for (u32 i = 0; i < 5; i++)
		assert_int_equal(turn_of(&w, 7, i), TN_FLOW_LATE);
	/* This NIC need not have known that epoch. */
	assert_int_equal(turn_of(&w, 8, 0), TN_FLOW_LATE);
	/* The same table does not begin again with number 0. */
	tn_flow_begin(&w.out, 2, 9);
	tn_flow_stamp(&w.out, &p, 1);
	assert_int_equal(p.tail.eseq, 1);
	assert_int_equal(turn_of(&w, 9, 1), TN_FLOW_NOW);
	/* VCA has no flows. */
	tn_flow_stamp(&w.out, &p, TORUS_VC_A);
	assert_int_equal(p.tail.eseq, 0);
	assert_int_equal(p.tail.epoch, 0);
}

/*
 * An epoch far ahead of the table silences the source until the next table at the latest. One that
 * a newer table confirms stays, as does one that is little ahead.
 */
static void forged_epoch_silences_source_only_until_next_table(void **state)
{
	static const u16 ahead[] = { 65, 1000, 0x7f00 };
	static struct world w;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ahead); i++)
		for (u32 before = 0; before < 8; before++) {
			world_start(&w, 1);
			for (u32 v = 0; v < before; v++)
				age(&w.in, v, v + 1);
			age(&w.in, before, 100);
			assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_NOW);
			assert_int_equal(turn_of(&w, (u16)(100 + ahead[i]), 0), TN_FLOW_NOW);
			assert_int_equal(turn_of(&w, 5, 1), TN_FLOW_LATE);
			age(&w.in, 100, 101);
			if (ahead[i] == 65) {	/* now it is little ahead */
				assert_int_equal(turn_of(&w, 5, 1), TN_FLOW_LATE);
				assert_int_equal(turn_of(&w, 165, 1), TN_FLOW_NOW);
				continue;
			}
			assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_NOW);
			assert_int_equal(turn_of(&w, 5, 1), TN_FLOW_NOW);
			assert_int_equal(turn_of(&w, 4, 0), TN_FLOW_LATE);
		}
	/* A NIC that missed 200 tables, and then gets the present one. */
	world_start(&w, 1);
	age(&w.in, 0, 100);
	assert_int_equal(turn_of(&w, 300, 0), TN_FLOW_NOW);
	age(&w.in, 100, 299);
	assert_int_equal(turn_of(&w, 5, 1), TN_FLOW_LATE);
	assert_int_equal(turn_of(&w, 300, 1), TN_FLOW_NOW);
	/* Little ahead it stays, however many tables come. */
	world_start(&w, 1);
	age(&w.in, 0, 100);
	assert_int_equal(turn_of(&w, 164, 0), TN_FLOW_NOW);
	for (u64 v = 100; v < 120; v++) {
		age(&w.in, v, v + 1);
		assert_int_equal(turn_of(&w, 100, 1), TN_FLOW_LATE);
	}
}

/*
 * The first packet of a flow is of @epoch, when the table has version @at. A table of version
 * @then follows, and a packet of that epoch. Return: whether it is taken, as flow.h says.
 */
static bool taken_after(u16 epoch, u16 at, u16 then)
{
	unsigned int first = (u16)(epoch - at), now = (u16)(epoch - then);
	bool refuted = first > 64 && first < 0x8000 && now > 64 && now < 0x8000;

	return !now || now > 0x8000 || refuted;
}

static void epoch_is_refuted_if_two_tables_are_more_than_64_before(void **state)
{
	static const u16 version[] = { 0, 1000, 0xffc0 };
	static struct world w;

	(void)state;
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(version); i++) {
		u16 at = version[i / 2], then = (u16)(at + i % 2);

		for (u32 epoch = 0; epoch < 0x10000; epoch++) {
			enum tn_flow_turn turn;

			memset(w.rx[1], 0, sizeof(w.rx[1]));
			tn_flows_init(&w.in, w.tx[1], w.rx[1], NODES);
			tn_flows_commit(&w.in, at);
			assert_int_equal(turn_of(&w, (u16)epoch, 0), TN_FLOW_NOW);
			tn_flows_commit(&w.in, then);
			turn = turn_of(&w, then, 0);
			if ((turn != TN_FLOW_LATE) != taken_after((u16)epoch, at, then))
				fail_msg("epoch %u, tables %u and %u: %d", epoch, at, then, turn);
		}
	}
}

/* A receiver that starts anew finds flows at any number, also beyond 2^31. */
static void new_receiver_finds_flow_at_any_number(void **state)
{
	static struct world w;
	struct tn_pkt p = { .hdr = { .src = 2, .vc = 1 },
			    .tail = { .eseq = 3000000000u, .epoch = 5 } };

	(void)state;
	world_start(&w, 1);
	assert_int_equal(tn_flow_turn(&w.in, &p), TN_FLOW_EARLY);
	tn_flow_wait(&w.in, &p, 1);
	assert_null(tn_flow_next(&w.in));
	tn_flow_close_gaps(&w.in);
	assert_ptr_equal(tn_flow_next(&w.in), &p);
	tn_flow_unwait(&w.in, &p);
	assert_int_equal(turn_of(&w, 5, 3000000000u), TN_FLOW_NOW);
	assert_int_equal(turn_of(&w, 5, 3000000001u), TN_FLOW_NOW);
	assert_int_equal(turn_of(&w, 5, 2999999999u), TN_FLOW_BEHIND);
	/* For every receiver the next numbering starts at 0. */
	assert_int_equal(turn_of(&w, 6, 4000000000u), TN_FLOW_EARLY);
	assert_int_equal(turn_of(&w, 6, 0), TN_FLOW_NOW);
	/* The same happens with a license at once. */
	world_start(&w, 1);
	tn_flow_license(&w.in);
	assert_int_equal(turn_of(&w, 5, 3000000000u), TN_FLOW_NOW);
}

/* A packet that was parked while the source sent half the range of numbers is late. */
static void packet_parked_for_half_the_range_is_late(void **state)
{
	static struct world w;

	(void)state;
	world_start(&w, 1);
	assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_NOW);
	for (u32 jump = 1; jump < 60; jump++) {
		tn_flow_license(&w.in);
		assert_int_equal(turn_of(&w, 5, jump << 26), TN_FLOW_NOW);
		assert_int_equal(turn_of(&w, 5, 1), TN_FLOW_BEHIND);
		assert_int_equal(turn_of(&w, 5, (jump << 26) + 2), TN_FLOW_EARLY);
		assert_int_equal(turn_of(&w, 5, (jump << 26) + 1), TN_FLOW_NOW);
	}
}

/* A flow survives half the range of epochs, in use or idle. */
static void flow_survives_half_the_range_of_epochs(void **state)
{
	static struct world w;
	u64 version = 5;

	(void)state;
	world_start(&w, 1);
	assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_NOW);
	for (u32 i = 1; i < 190; i++) {
		u64 next = version + 997;

		age(&w.in, version, next);
		version = next;
		if (i < 150)
			assert_int_equal(turn_of(&w, 5, i), TN_FLOW_NOW);
	}
	/* Ahead of 5 by more than half the range, and by no multiple of it. */
	assert_true((u16)(version - 5) > 0x8000);
	assert_int_equal(turn_of(&w, (u16)version, 0), TN_FLOW_NOW);
	assert_int_equal(turn_of(&w, (u16)(version - 1), 0), TN_FLOW_LATE);
}

/*
 * Histories of one flow: the source restarts or finds its destination again, the
 * destination restarts, packets are kept back somewhere while the table's version
 * rises, up to several circles of epochs. Whatever comes when, a destination gets
 * the packets in the order in which they were sent, and is never deaf: the newest
 * packet is taken.
 */
#define KEPT 64
#define KEPT_VERSIONS 20000	/* versions as in flow.h */

struct history {
	struct rnd r;
	struct world w;
	struct { struct tn_pkt p; u64 key, version; } kept[KEPT];
	unsigned int nkept;
	u64 version, numbering, last;
	bool any;
	unsigned int late, taken;
};

static void history_deliver(struct history *h, unsigned int i)
{
	struct tn_pkt p = h->kept[i].p;
	u64 key = h->kept[i].key;

	h->kept[i] = h->kept[--h->nkept];
	/* Gaps are given up at once: when to do so is not tested here. */
	tn_flow_license(&h->w.in);
	switch (tn_flow_turn(&h->w.in, &p)) {
	case TN_FLOW_NOW:
		expect(&h->r, !h->any || key > h->last, "version %llu: %llx came after %llx",
		       (unsigned long long)h->version, (unsigned long long)key,
		       (unsigned long long)h->last);
		tn_flow_done(&h->w.in, &p);
		h->last = key;
		h->any = true;
		h->taken++;
		break;
	case TN_FLOW_EARLY:
		expect(&h->r, false, "a gap is licensed");
		break;
	case TN_FLOW_BEHIND:
	case TN_FLOW_LATE:
		expect(&h->r, h->any && key < h->last, "version %llu: %llx refused after %llx",
		       (unsigned long long)h->version, (unsigned long long)key,
		       (unsigned long long)h->last);
		h->late++;
		break;
	}
}

static void history_send(struct history *h)
{
	struct tn_pkt *p;

	if (h->nkept == KEPT)
		history_deliver(h, 0);
	p = &h->kept[h->nkept].p;
	*p = (struct tn_pkt) { .hdr = { .dst = 2, .src = 2, .vc = 1 } };
	tn_flow_stamp(&h->w.out, p, 1);
	h->kept[h->nkept].key = h->numbering << 32 | p->tail.eseq;
	h->kept[h->nkept++].version = h->version;
}

/* The next table; the row was lost before, perhaps, and is there again. */
static void history_table(struct history *h, u64 step, bool new_row)
{
	u64 next = h->version + step;

	age(&h->w.in, h->version, next);
	age(&h->w.out, h->version, next);
	h->version = next;
	if (new_row) {
		tn_flow_begin(&h->w.out, 2, h->version);
		h->numbering++;
	}
	for (unsigned int i = 0; i < h->nkept;) {
		if (h->version - h->kept[i].version < KEPT_VERSIONS)
			i++;
		else
			h->kept[i] = h->kept[--h->nkept];
	}
}

static void history_one(uint64_t seed)
{
	static struct history h;

	memset(&h, 0, sizeof(h));
	world_start(&h.w, seed);
	h.r = rnd_new(seed);
	h.version = rnd64(&h.r) >> (16 + rnd_below(&h.r, 48));
	history_table(&h, 1, true);
	for (int i = 0; i < 3000; i++) {
		switch (rnd_below(&h.r, 16)) {
		case 0:
			history_table(&h, 1 + rnd_below(&h.r, 3), true);
			break;
		case 1:		/* a source that restarts has no rows before the next table */
			begin_flows(&h.w, 0);
			history_table(&h, 1 + rnd_below(&h.r, 3), true);
			break;
		case 2:
			begin_flows(&h.w, 1);
			h.any = false;
			break;
		case 3:
			history_table(&h, 1 + rnd_below(&h.r, 1 << rnd_below(&h.r, 12)), false);
			break;
		case 4:
			history_send(&h);
			history_deliver(&h, h.nkept - 1);
			break;
		default:
			if (rnd_one_in(&h.r, 2))
				history_send(&h);
			else if (h.nkept)
				history_deliver(&h, rnd_below(&h.r, h.nkept));
		}
	}
	expect(&h.r, h.late && h.taken, "late %u, taken %u", h.late, h.taken);
}

static void random_histories_equal_model(void **state)
{
	(void)state;
	for_seeds(200, history_one);
}

/*
 * A sender leaves a gap, sends all it can behind it and mixes it, as a liar or two ends of a
 * replay do: each packet is delivered once, in order, and what is missing is counted. Work
 * that grew with the square of what waits, under the lock of a NIC, would show in this test's
 * time.
 */
#define MANY 200000

static void many_waiting_packets_are_delivered_and_counted(void **state)
{
	static struct world w;
	static struct tn_pkt many[MANY];
	u64 taken = 0, last = 0, copies = 0;

	(void)state;
	world_start(&w, 1);
	for (u32 i = 0; i < MANY; i++) {
		many[i] = (struct tn_pkt) { .hdr = { .src = 3, .len = 1 },
					    .tail = { .eseq = 3 * (i - i % 5 / 4) + 1 } };
		copies += i % 5 == 4;
	}
	for (u32 i = MANY; i > 1; i--) {
		u32 k = rnd_below(&w.r, i);
		struct tn_pkt p = many[k];

		many[k] = many[i - 1];
		many[i - 1] = p;
	}
	for (u32 i = 0; i < MANY; i++) {
		assert_int_equal(tn_flow_turn(&w.in, &many[i]), TN_FLOW_EARLY);
		tn_flow_wait(&w.in, &many[i], 1);
	}
	while (w.in.waiting) {
		struct tn_pkt *p = tn_flow_next(&w.in);

		if (!p) {
			tn_flow_close_gaps(&w.in);
			continue;
		}
		tn_flow_unwait(&w.in, p);
		if (tn_flow_turn(&w.in, p) != TN_FLOW_NOW)
			continue;
		expect(&w.r, p->tail.eseq > last, "%u after %llu", p->tail.eseq,
		       (unsigned long long)last);
		last = p->tail.eseq;
		tn_flow_done(&w.in, p);
		taken++;
	}
	assert_int_equal(taken, MANY - copies);
	/* it is not known whether number 0 was lost */
	assert_int_equal(w.in.lost, last + 1 - taken - 1);
	assert_int_equal(w.in.wait_bytes, 0);
}

/* A packet of flow 2, VC 1, comes; it waits in @w if its turn has not come. */
static enum tn_flow_turn comes(struct world *w, struct tn_pkt *p, u16 epoch, u32 eseq)
{
	enum tn_flow_turn turn;

	*p = (struct tn_pkt) { .hdr = { .src = 2, .vc = 1, .len = 1 },
			       .tail = { .eseq = eseq, .epoch = epoch } };
	turn = tn_flow_turn(&w->in, p);
	if (turn == TN_FLOW_NOW)
		tn_flow_done(&w->in, p);
	else if (turn == TN_FLOW_EARLY)
		tn_flow_wait(&w->in, p, 1);
	return turn;
}

/* Where numbers and epochs part into before and after. */
static void numbers_part_into_before_and_after_at_half(void **state)
{
	static struct world w;

	(void)state;
	world_start(&w, 1);
	assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_NOW);
	assert_int_equal(turn_of(&w, 5, 1 + (1u << 26)), TN_FLOW_EARLY);
	assert_int_equal(turn_of(&w, 5, 2 + (1u << 26)), TN_FLOW_BEHIND);
	assert_int_equal(turn_of(&w, 5 + 0x8000, 0), TN_FLOW_LATE);
	assert_int_equal(turn_of(&w, 5 + 0x7fff, 0), TN_FLOW_NOW);
	assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_LATE);
}

/* A source that already has the next table is not behind. */
static void source_with_next_table_is_not_behind(void **state)
{
	static struct world w;

	(void)state;
	world_start(&w, 1);
	assert_int_equal(turn_of(&w, 8193, 0), TN_FLOW_NOW);
	age(&w.in, 8191, 8192);
	assert_int_equal(turn_of(&w, 8190, 0), TN_FLOW_LATE);
	/* 2^13 versions behind is too old; one less is not. */
	age(&w.in, 16383, 16384);
	assert_int_equal(turn_of(&w, 8190, 0), TN_FLOW_LATE);
	age(&w.in, 20479, 20480);
	assert_int_equal(turn_of(&w, 8190, 0), TN_FLOW_NOW);
}

/* A licence that has ended lets no packet pass a gap, even of a flow that never used it. */
static void ended_license_lets_no_packet_pass_gap(void **state)
{
	static struct world w;
	struct tn_pkt p;

	(void)state;
	world_start(&w, 1);
	assert_int_equal(turn_of(&w, 5, 0), TN_FLOW_NOW);
	tn_flow_license(&w.in);
	w.in.licensed = false;		/* as at a commit */
	assert_int_equal(comes(&w, &p, 5, 4), TN_FLOW_EARLY);
	assert_int_equal(w.in.lost, 0);
}

/* Missing packets of a numbering are counted from its own beginning. */
static void losses_of_new_numbering_count_from_its_beginning(void **state)
{
	static struct world w;

	(void)state;
	world_start(&w, 1);
	for (u32 i = 0; i < 10; i++)
		assert_int_equal(turn_of(&w, 5, i), TN_FLOW_NOW);
	tn_flow_license(&w.in);
	assert_int_equal(turn_of(&w, 6, 3), TN_FLOW_NOW);
	assert_int_equal(w.in.lost, 3);
}

/* Packets that still wait when the next numbering begins are delivered before it. */
static void waiting_packets_of_former_epoch_come_first(void **state)
{
	static struct world w;
	struct tn_pkt old, new, older;

	(void)state;
	world_start(&w, 1);
	assert_int_equal(comes(&w, &new, 5, 0), TN_FLOW_NOW);
	assert_int_equal(comes(&w, &old, 5, 9), TN_FLOW_EARLY);
	older = old;
	older.tail.epoch = 3;
	assert_false(tn_flow_overdue(&w.in, &older));
	assert_false(tn_flow_overdue(&w.in, &old));
	new.tail.epoch = 6;
	assert_true(tn_flow_overdue(&w.in, &new));
	/* If it was not delivered, it is due now, and is no gap of the new numbering. */
	assert_int_equal(tn_flow_turn(&w.in, &new), TN_FLOW_NOW);
	tn_flow_done(&w.in, &new);
	tn_flow_close_gaps(&w.in);
	assert_int_equal(w.in.lost, 0);
	assert_ptr_equal(tn_flow_next(&w.in), &old);
	tn_flow_unwait(&w.in, &old);
	assert_int_equal(tn_flow_turn(&w.in, &old), TN_FLOW_LATE);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(packets_in_any_order_are_delivered_once_in_order),
		cmocka_unit_test(lost_packets_are_given_up_when_licensed),
		cmocka_unit_test(nic_that_starts_late_counts_no_unknown_losses),
		cmocka_unit_test(valid_row_begins_flow_at_0_in_later_epoch),
		cmocka_unit_test(forged_epoch_silences_source_only_until_next_table),
		cmocka_unit_test(epoch_is_refuted_if_two_tables_are_more_than_64_before),
		cmocka_unit_test(new_receiver_finds_flow_at_any_number),
		cmocka_unit_test(packet_parked_for_half_the_range_is_late),
		cmocka_unit_test(flow_survives_half_the_range_of_epochs),
		cmocka_unit_test(random_histories_equal_model),
		cmocka_unit_test(many_waiting_packets_are_delivered_and_counted),
		cmocka_unit_test(numbers_part_into_before_and_after_at_half),
		cmocka_unit_test(source_with_next_table_is_not_behind),
		cmocka_unit_test(ended_license_lets_no_packet_pass_gap),
		cmocka_unit_test(losses_of_new_numbering_count_from_its_beginning),
		cmocka_unit_test(waiting_packets_of_former_epoch_come_first),
	};

	return cmocka_run_group_tests_name("flow", all, NULL, NULL);
}
