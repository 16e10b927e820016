// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transmitter of an end is free, or busy until a known time; a frame arrives whole, after the
 * line's delay. The next event is an arrival, a transmitter that becomes free and has something to
 * send, or a timer, whichever is earliest. At equal times arrivals come first, so that the next
 * frame can carry the answer.
 */
#include "lib/deps/invariant.h"
#include "retry_wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/core/retry.h"
#include "kernel/core/splitmix64.h"

#define NEVER UINT64_MAX
#define FLYING 4096		/* most frames on the line: more than any window */

struct flight {
	struct tn_hdr h;
	uint64_t arrives;
	uint64_t unit;
	enum wire_fate fate;
	unsigned int copy;
};

struct end {
	struct tn_retry retry;
	struct tn_pkt *pool;
	struct tn_queue idle;
	struct flight line[FLYING];	/* ring of the frames on the line from this end */
	unsigned int first, flying;
	uint64_t free_at;
	uint64_t pushed, acked, got;
	uint64_t progress_at;
	uint64_t clean_bits;		/* number of bits until the next error */
	unsigned int unanswered;
	unsigned int eager;		/* number of units to be answered at once, because an
					 * error was seen */
	bool answer_now;
	uint64_t to_send;
};

struct wire {
	const struct wire_plan *plan;
	struct wire_cost cost;
	struct end end[2];
	uint64_t now, rng;
	unsigned int hits;
};

unsigned int wire_window_max(unsigned int protocol)
{
	unsigned int limit = tn_retry_of(protocol)->limit;

	return limit < TN_RETRY_MAX ? limit : TN_RETRY_MAX;
}

double line_waste(const struct wire_plan *plan)
{
	double unit = plan->payload + plan->overhead, back = plan->answer;

	if (!plan->one_way)
		back = unit / 2 + (tn_retry_of(plan->protocol)->alone ? back : unit);
	return (2 * (double)plan->delay + back) / unit + 0.5;
}

/* --- chance --------------------------------------------------------------- */

static double draw_uniform(struct wire *w)
{
	uint64_t z = splitmix64_mix(w->rng += SPLITMIX64_STEP);

	return ((double)(z >> 11) + 0.5) / 9007199254740992.0;
}

/* Draws how many bits are good before the next bad one. */
static uint64_t clean_bits(struct wire *w)
{
	double n;

	if (w->plan->ber <= 0)
		return NEVER;
	if (w->plan->ber >= 1)
		return 0;
	n = floor(log(draw_uniform(w)) / log1p(-w->plan->ber));
	return n < 1e18 ? (uint64_t)n : NEVER;
}

static bool is_damaged(struct wire *w, struct end *e, unsigned int bytes)
{
	uint64_t bits = 8ull * bytes;
	bool hit = false;

	while (e->clean_bits < bits) {
		hit = true;
		bits -= e->clean_bits + 1;
		e->clean_bits = clean_bits(w);
	}
	if (e->clean_bits != NEVER)
		e->clean_bits -= bits;
	return hit;
}

/* --- sending -------------------------------------------------------------- */

/* Return: the sequence number up to which the answer in @h acknowledges packets, or -1. */
static int find_acked(const struct tn_retry *r, const struct tn_hdr *h)
{
	if (r->ops->alone)
		return h->type == TN_ACKNAK ? (h->rseq + 1) & TN_SEQ_MASK : -1;
	return r->ops->number && h->rseq == 255 ? -1 : h->rseq;
}

static struct wire_event event_of(struct wire *w, const struct end *e, const struct flight *f,
				  enum wire_what what)
{
	return (struct wire_event) {
		.at = w->now, .what = what, .end = e != w->end, .answer = f->h.type != TN_DATA,
		.unit = f->unit, .copy = f->copy, .says = find_acked(&e->retry, &f->h),
		.nak = f->h.e, .fate = f->fate,
	};
}

static void notify_watch(struct wire *w, const struct wire_event *ev)
{
	if (w->plan->watch)
		w->plan->watch->tell(w->plan->watch->arg, ev);
}

static void put_frame(struct wire *w, struct end *e, const struct tn_hdr *h, unsigned int bytes,
		      uint64_t unit, unsigned int copy)
{
	struct flight *f = &e->line[(e->first + e->flying++) % FLYING];
	bool chosen = h->type == TN_DATA && e == w->end && unit == w->plan->hit_unit &&
		      w->hits < w->plan->hit;
	struct wire_event ev;

	invariant(e->flying <= FLYING && e->free_at <= w->now);
	w->hits += chosen;
	e->free_at = w->now + bytes;
	w->cost.flow += bytes;
	*f = (struct flight) {
		.h = *h,
		.arrives = e->free_at + w->plan->delay,
		.unit = unit,
		.copy = copy,
		.fate = is_damaged(w, e, bytes) || chosen ? WIRE_DAMAGED : WIRE_WHOLE,
	};
	if (!w->plan->watch)
		return;
	ev = event_of(w, e, f, WIRE_SENT);
	ev.fate = f->fate = w->plan->watch->fate(w->plan->watch->arg, &ev);
	notify_watch(w, &ev);
}

static void push_packets(struct wire *w, struct end *e)
{
	struct tn_pkt *pkt;

	while (e->pushed < e->to_send && e->retry.tx.sent.count < w->plan->window) {
		pkt = tn_queue_pop(&e->idle);
		invariant(pkt);
		pkt->hdr = (struct tn_hdr) { .type = TN_DATA };
		pkt->session = (u32)e->pushed++;
		pkt->stalled = 0;	/* @stalled is used as the number of times that the
					 * packet was sent */
		tn_retry_push(&e->retry, pkt, w->now + 1);
	}
}

static bool wants_wire(const struct end *e)
{
	return e->answer_now || tn_retry_ready(&e->retry);
}

static void send_wire_answer(struct wire *w, struct end *e)
{
	struct tn_hdr h = { .type = e->retry.ops->alone ? TN_ACKNAK : TN_IDLE };

	e->retry.ops->stamp(&e->retry, &h);
	e->answer_now = tn_retry_urgent(&e->retry);
	e->unanswered = 0;
	w->cost.answers++;
	put_frame(w, e, &h, w->plan->answer, 0, 0);
}

static void send_next(struct wire *w, struct end *e)
{
	struct tn_pkt *pkt = e->retry.tx.next;
	struct tn_hdr h;

	if (e->answer_now && (e->retry.ops->alone || !tn_retry_ready(&e->retry))) {
		send_wire_answer(w, e);
		return;
	}
	h = pkt->hdr;
	e->retry.ops->stamp(&e->retry, &h);
	tn_retry_sending(&e->retry, w->now + 1);
	if (!e->retry.ops->alone) {
		e->answer_now = tn_retry_urgent(&e->retry);
		e->unanswered = 0;
	}
	w->cost.sent++;
	put_frame(w, e, &h, w->plan->payload + w->plan->overhead, pkt->session, pkt->stalled++);
}

/* --- receiving ------------------------------------------------------------ */

/*
 * Handles an answer. Return: false if it acknowledges packets that were not sent, which is an error
 * of the protocol.
 */
static bool take_retry_answer(struct wire *w, struct end *e, const struct tn_hdr *h)
{
	struct tn_queue done = { 0 };
	enum tn_received received = tn_retry_receive(&e->retry, h, &done, w->now + 1);
	struct tn_pkt *pkt;

	w->cost.backs += received == TN_RECEIVED_REPLAY;
	if (received == TN_RECEIVED_ASK)
		e->answer_now = true;
	while ((pkt = tn_queue_pop(&done))) {
		e->acked++;
		invariant(e->acked <= e->pushed && e->acked <= w->end[e == w->end].got);
		e->progress_at = w->now;
		tn_queue_push(&e->idle, pkt);
	}
	return received != TN_RECEIVED_INVALID;
}

static bool take_data(struct wire *w, struct end *e, struct flight *f)
{
	bool alone = e->retry.ops->alone;

	if (f->unit != e->got)
		return false;		/* the packet is out of order, which must never happen */
	e->got++;
	invariant(e->got <= w->end[e == w->end].pushed);
	w->cost.payload += w->plan->payload;
	tn_retry_accept(&e->retry, &f->h);
	/* An answer that another packet can carry needs no packet of its own. */
	if (++e->unanswered >= (alone ? w->plan->coalesce : 1) || e->eager ||
	    e->got == w->plan->units)
		e->answer_now = true;
	e->eager -= e->eager > 0;
	return true;
}

/* Notes a reception error as a link does: it is reported at once, and acknowledged eagerly. */
static void note_error(struct end *e, unsigned int gen)
{
	if (!tn_retry_error(&e->retry, (u8)gen))
		return;
	e->answer_now = true;
	e->eager = TN_RETRY_EAGER;
}

static enum wire_verdict verdict_of(struct end *e, struct flight *f)
{
	if (f->h.type != TN_DATA)
		return WIRE_HEARD;
	switch (tn_retry_check(&e->retry, &f->h)) {
	case TN_RX_ACCEPT:
		return WIRE_TAKEN;
	case TN_RX_AHEAD:
		return WIRE_AHEAD;
	default:
		return WIRE_BEHIND;
	}
}

/* Return: false if the protocol delivered a wrong packet. */
static bool arrive_whole(struct wire *w, struct end *e, struct flight *f, struct wire_event *ev)
{
	struct tn_hdr answer = f->h;
	uint64_t backs = w->cost.backs;

	ev->verdict = verdict_of(e, f);
	if (!w->plan->in_sequence || ev->verdict == WIRE_HEARD || ev->verdict == WIRE_TAKEN) {
		if (!take_retry_answer(w, e, &answer))
			return false;
		ev->back = w->cost.backs > backs;
	}
	if (ev->verdict == WIRE_TAKEN)
		return take_data(w, e, f);
	if (ev->verdict == WIRE_AHEAD)
		note_error(e, f->h.gen);
	if (ev->verdict == WIRE_BEHIND)
		e->answer_now |= tn_retry_behind(&e->retry, &f->h);
	return true;
}

static bool arrive_frame(struct wire *w, struct end *e, struct flight *f)
{
	struct wire_event ev = event_of(w, e, f, WIRE_CAME);
	bool kept = true;

	if (f->fate == WIRE_LOST)
		return true;
	/*
	 * A damaged answer is handled like a missing packet, because a receiver cannot distinguish
	 * it from data.
	 */
	if (f->fate == WIRE_WHOLE)
		kept = arrive_whole(w, e, f, &ev);
	else if (f->h.type != TN_ACKNAK)
		note_error(e, e->retry.rx.gen_seen);
	notify_watch(w, &ev);
	return kept;
}

/* --- time ----------------------------------------------------------------- */

static uint64_t timer_at(const struct wire *w, const struct end *e)
{
	const struct tn_retry_tx *tx = &e->retry.tx;
	uint64_t from = tx->sent_at > e->progress_at ? tx->sent_at : e->progress_at;

	/* In PCI Express, REPLAY_TIMER runs from the last progress on. */
	if (e->retry.ops->alone)
		from = e->progress_at;
	return tx->on_wire || e->unanswered ? from + w->plan->timeout : NEVER;
}

static void run_timer(struct wire *w, struct end *e)
{
	struct wire_event ev = { .at = w->now, .what = WIRE_TIMER, .end = e != w->end, .says = -1 };

	e->progress_at = w->now;
	e->retry.tx.sent_at = w->now;
	if (e->retry.tx.on_wire && tn_retry_back(&e->retry)) {
		w->cost.backs++;
		w->cost.timeouts++;
		ev.back = true;
		notify_watch(w, &ev);
	}
	e->answer_now |= e->unanswered > 0;
	if (e->retry.rx.ignoring && e->retry.ops->remind) {
		tn_retry_remind(&e->retry);
		e->answer_now = true;
	}
}

static uint64_t next_time(const struct wire *w)
{
	uint64_t at = NEVER;

	for (int i = 0; i < 2; i++) {
		const struct end *e = &w->end[i];
		uint64_t t = e->flying ? e->line[e->first].arrives : NEVER;

		at = t < at ? t : at;
		t = wants_wire(e) ? e->free_at : timer_at(w, e);
		at = t < at ? t : at;
	}
	return at < w->now ? w->now : at;
}

/* Return: false if the protocol made an error. */
static bool step_wire(struct wire *w)
{
	for (int i = 0; i < 2; i++) {
		struct end *e = &w->end[i];

		while (e->flying && e->line[e->first].arrives <= w->now) {
			struct flight *f = &e->line[e->first];

			e->first = (e->first + 1) % FLYING;
			e->flying--;
			if (!arrive_frame(w, &w->end[!i], f))
				return false;
		}
	}
	for (int i = 0; i < 2; i++) {
		struct end *e = &w->end[i];

		push_packets(w, e);
		if (wants_wire(e) && e->free_at <= w->now)
			send_next(w, e);
		else if (!wants_wire(e) && timer_at(w, e) <= w->now)
			run_timer(w, e);
	}
	return true;
}

/* --- a run ---------------------------------------------------------------- */

static bool begin_wire(struct wire *w, const struct wire_plan *plan)
{
	w->plan = plan;
	w->rng = plan->seed;
	for (int i = 0; i < 2; i++) {
		struct end *e = &w->end[i];

		e->pool = calloc(plan->window, sizeof(*e->pool));
		if (!e->pool)
			return false;
		for (unsigned int k = 0; k < plan->window; k++)
			tn_queue_push(&e->idle, &e->pool[k]);
		tn_retry_start(&e->retry, tn_retry_of(plan->protocol), 0, 0, 1);
		e->to_send = i && plan->one_way ? 0 : plan->units;
		e->clean_bits = clean_bits(w);
		push_packets(w, e);
	}
	return true;
}

static bool all_acked(const struct wire *w)
{
	return w->end[0].acked == w->end[0].to_send && w->end[1].acked == w->end[1].to_send;
}

struct wire_cost wire_run(const struct wire_plan *plan)
{
	struct wire *w = calloc(1, sizeof(*w));
	struct wire_cost cost = { 0 };
	uint64_t stuck = 0, before = 0;

	if (!w || !begin_wire(w, plan))
		goto out;
	while (!all_acked(w) && stuck < 1000) {
		w->now = next_time(w);
		invariant(w->now != NEVER);
		if (!step_wire(w))
			goto out;
		stuck = w->end[0].acked + w->end[1].acked > before ? 0 :
			stuck + (w->cost.timeouts > cost.timeouts);
		before = w->end[0].acked + w->end[1].acked;
		cost.timeouts = w->cost.timeouts;
	}
	w->cost.time = w->now;
	w->cost.ended = all_acked(w);
	cost = w->cost;
out:
	for (int i = 0; w && i < 2; i++)
		free(w->end[i].pool);
	free(w);
	return cost;
}
