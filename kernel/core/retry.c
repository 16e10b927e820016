// SPDX-License-Identifier: GPL-2.0-only
/* The RETRY buffer, common to all protocols; see retry.h. */
#include "retry.h"

_Static_assert(TN_SEQ_MASK / 2 >= TN_RETRY_MAX, "a delayed packet is not mistaken for a new one");

const struct tn_retry_ops *tn_retry_of(unsigned int protocol)
{
	switch (protocol) {
	case TORUS_RETRY_ANGARA:
		return &tn_retry_angara;
	case TORUS_RETRY_ACKNAK:
		return &tn_retry_acknak;
	case TORUS_RETRY_HIPPI:
		return &tn_retry_hippi;
	default:
		return NULL;
	}
}

/* Asserts the invariants of a RETRY buffer, which hold between any two calls. */
static void check_buffer(const struct tn_retry *r)
{
	const struct tn_retry_tx *tx = &r->tx;

	tn_assert(!tx->sent.head == !tx->sent.count);
	tn_assert(tx->sent.head || !tx->next);
	tn_assert(tx->sent.head || !tx->flits);
	tn_assert(tx->sent.count <= r->ops->limit);
	/*
	 * Packets of the buffer have consecutive numbers, and every packet that left it was on the
	 * wire.
	 */
	tn_assert(!tx->sent.head ||
		  tn_seq_diff(tx->tseq, tx->sent.head->hdr.tseq) == tx->sent.count);
	tn_assert(tn_seq_diff(tx->tseq, tx->high) <= tx->sent.count);
	tn_assert(tx->on_wire <= tx->sent.count);
	tn_assert(tx->next || tx->on_wire == tx->sent.count);
	tn_assert(tx->window <= 4 * TN_RETRY_MAX);
	tn_assert(tx->gen < 2);
	tn_assert(r->rx.expected <= TN_SEQ_MASK);
}

void tn_retry_start(struct tn_retry *r, const struct tn_retry_ops *ops, u16 first_tx,
		    u16 first_rx, u64 now)
{
	tn_assert(ops);
	*r = (struct tn_retry) {
		.ops = ops,
		.tx = {
			.tseq = first_tx & TN_SEQ_MASK,
			.high = first_tx & TN_SEQ_MASK,
			.window = 4 * TN_RETRY_MAX,
			.since = now,
			.sent_at = now,
		},
		.rx = { .expected = first_rx & TN_SEQ_MASK },
	};
}

void tn_retry_resume(struct tn_retry *r, u64 now)
{
	r->tx.next = r->tx.sent.head;
	r->tx.on_wire = 0;
	r->tx.gen = 0;
	if (r->ops->remind)	/* the other protocols continue to count tries after a retraining */
		r->tx.tries = 0;
	r->tx.since = now;
	r->rx.ignoring = false;
	r->rx.e_gen = 0;
	r->rx.gen_seen = 0;
	r->owed = 0;
	r->sent_times = 0;
	r->answered = false;
	check_buffer(r);
}

/* Called before @n packets, of which @first is the first one, enter the buffer. */
static inline void begin_push(struct tn_retry *r, struct tn_pkt *first, u32 n, u64 now)
{
	struct tn_retry_tx *tx = &r->tx;

	tn_assert(n && tx->sent.count + n <= r->ops->limit);
	tn_assert(tx->sent.head || !tx->tries);
	if (!tx->sent.head)
		tx->since = now;
	if (!tx->next)
		tx->next = first;
}

static inline void number_packet(struct tn_retry_tx *tx, struct tn_pkt *pkt)
{
	pkt->hdr.tseq = tx->tseq;
	pkt->vccr_set = 0;
	tx->tseq = (u16)((tx->tseq + 1) & TN_SEQ_MASK);
	tx->flits += tn_pkt_flits(pkt);
}

void tn_retry_push(struct tn_retry *r, struct tn_pkt *pkt, u64 now)
{
	begin_push(r, pkt, 1, now);
	number_packet(&r->tx, pkt);
	tn_queue_push(&r->tx.sent, pkt);
	check_buffer(r);
}

void tn_retry_push_series(struct tn_retry *r, struct tn_queue *some, u64 now)
{
	struct tn_pkt *pkt;

	begin_push(r, some->head, some->count, now);
	for (pkt = some->head; pkt; pkt = pkt->next)
		number_packet(&r->tx, pkt);
	tn_queue_move(&r->tx.sent, some, some->tail, some->count);
	check_buffer(r);
}

static inline void begin_trip(struct tn_trips *t, u16 seq, u64 now)
{
	if (t->at)
		return;
	t->at = now;
	t->seq = seq;
}

/* Called when the peer has acknowledged the packet that is measured. */
static void end_trip(struct tn_trips *t, u64 now)
{
	u64 took = now - t->at;

	t->at = 0;
	if (!t->n || took < t->least)
		t->least = took;
	if (!t->n++)
		t->since = now;
	if (t->n < TN_TRIPS || now - t->since < TN_TRIP_TIME)
		return;
	t->known = t->least;
	t->n = 0;
}

bool tn_retry_sending(struct tn_retry *r, u64 now)
{
	struct tn_retry_tx *tx = &r->tx;
	struct tn_pkt *pkt = tx->next;
	bool replay = tn_seq_before(pkt->hdr.tseq, tx->high);

	tn_assert(replay || pkt->hdr.tseq == tx->high);	/* no number is left out */
	if (!replay) {
		tx->high = (u16)((pkt->hdr.tseq + 1) & TN_SEQ_MASK);
		begin_trip(&tx->trips, pkt->hdr.tseq, now);
	}
	tx->next = pkt->next;
	tx->on_wire++;
	tx->sent_at = now;
	if (!tx->timed_at) {
		tx->timed_at = now;
		tx->timed_seq = pkt->hdr.tseq;
	}
	check_buffer(r);
	return replay;
}

/* Moves the first @n packets of the buffer to @done. */
static void take_acked(struct tn_retry_tx *tx, u32 n, struct tn_queue *done)
{
	struct tn_pkt *pkt, *last = NULL;
	bool replays = false;	/* one of them would be sent next */
	u32 i, flits = 0;

	for (i = 0, pkt = tx->sent.head; i < n; i++, pkt = pkt->next) {
		replays |= pkt == tx->next;
		flits += tn_pkt_flits(pkt);
		last = pkt;
	}
	tn_assert(tx->flits >= flits);
	tx->flits -= flits;
	tn_queue_move(done, &tx->sent, last, n);
	if (replays)
		tx->next = tx->sent.head;
}

enum tn_ack tn_retry_ack(struct tn_retry *r, u16 rseq, struct tn_queue *done, u64 now)
{
	struct tn_retry_tx *tx = &r->tx;
	u16 base = tx->sent.head ? tx->sent.head->hdr.tseq : tx->tseq;
	u16 n = tn_seq_diff(rseq, base);

	if (n > tn_seq_diff(tx->high, base))
		return tn_seq_before(rseq, base) ? TN_ACK_STALE : TN_ACK_INVALID;
	if (!n)
		return TN_ACK_OK;
	if (tx->timed_at && tn_seq_before(tx->timed_seq, rseq)) {
		tx->rtt = (7 * tx->rtt + (now - tx->timed_at)) / 8;
		tx->timed_at = 0;
	}
	if (tx->trips.at && tn_seq_before(tx->trips.seq, rseq))
		end_trip(&tx->trips, now);
	tx->window += n;
	if (tx->window > 4 * TN_RETRY_MAX)
		tx->window = 4 * TN_RETRY_MAX;
	tx->on_wire = tx->on_wire > n ? tx->on_wire - n : 0;
	if (r->ops->number)
		r->head = (u8)((r->head + n) % 255);
	take_acked(tx, n, done);
	tx->since = now;
	tx->tries = 0;
	check_buffer(r);
	return TN_ACK_OK;
}

bool tn_retry_back(struct tn_retry *r)
{
	struct tn_retry_tx *tx = &r->tx;

	if (!tx->sent.head)
		return false;
	tx->next = tx->sent.head;
	/*
	 * Reduce the window by a quarter. If it was larger than what is on the wire, it limited
	 * nothing, so reduce that instead.
	 */
	if (tx->window > 4 * tx->on_wire)
		tx->window = 4 * tx->on_wire;
	tx->window -= tx->window / 4;
	if (tx->window < 4 * TN_RETRY_WINDOW_MIN)
		tx->window = 4 * TN_RETRY_WINDOW_MIN;
	tx->on_wire = 0;
	tx->timed_at = 0;
	tx->gen ^= 1;
	tx->tries++;
	check_buffer(r);
	return true;
}

void tn_retry_remind(struct tn_retry *r)
{
	r->rx.e_gen ^= 1;
}
