// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/retrymasks.h"

#define FLYING 64	/* frames under way in each direction */
#define ROUNDS_MAX 4000

struct frame {
	struct tn_hdr h;
	u32 id;
	unsigned int due;
	bool damaged;
};

struct way {
	struct frame f[FLYING];
	unsigned int n;
};

struct history {
	const struct masks *m;
	u32 mask;
	unsigned int frames, round;
	struct tn_retry a, b;
	struct tn_pkt pkt[16];
	struct way forth, back;
	unsigned int pushed, acked, accepted, unanswered;
	unsigned int progress_at;
	bool answer_now;
	u64 sent, timeouts;
};

static void check(const struct history *h, bool ok, const char *what)
{
	if (!ok)
		fail_msg("MASK=0x%x protocol %u, hit %d, delay %u, every %u, round %u: %s", h->mask,
			 h->m->ops->protocol, h->m->hit, h->m->delay, h->m->every, h->round, what);
}

static void put(struct history *h, struct way *w, struct frame f)
{
	bool hit = h->frames < h->m->bits && h->mask >> h->frames & 1;
	unsigned int at = w->n, copies = 1;

	h->frames++;
	f.due = h->round + h->m->delay;
	if (hit && h->m->hit == HIT_LOST)
		return;
	if (hit && h->m->hit == HIT_TWICE)
		copies = 2;
	f.damaged = hit && h->m->hit == HIT_DAMAGED;
	if (hit && h->m->hit == HIT_LATE)	/* the next two frames overtake it */
		f.due += 2;
	while (copies--) {
		check(h, w->n < FLYING, "too many frames under way");
		while (at && w->f[at - 1].due > f.due)
			at--;
		memmove(&w->f[at + 1], &w->f[at], (w->n - at) * sizeof(f));
		w->f[at] = f;
		at = ++w->n;
	}
}

static bool get(struct history *h, struct way *w, struct frame *f)
{
	if (!w->n || w->f[0].due > h->round)
		return false;
	*f = w->f[0];
	memmove(w->f, w->f + 1, --w->n * sizeof(*f));
	return true;
}

static void transmit(struct history *h)
{
	struct tn_retry *a = &h->a;
	struct frame f = { 0 };

	if (h->pushed < h->m->packets && a->tx.sent.count < h->m->window) {
		struct tn_pkt *pkt = &h->pkt[h->pushed];

		*pkt = (struct tn_pkt) { .hdr = { .type = TN_DATA, .dst = h->pushed++ } };
		tn_retry_push(a, pkt, h->round + 1);
	}
	if (!tn_retry_ready(a))
		return;
	f.h = a->tx.next->hdr;
	f.id = f.h.dst;
	a->ops->stamp(a, &f.h);
	tn_retry_sending(a, h->round + 1);
	h->sent++;
	put(h, &h->forth, f);
}

static void receive(struct history *h)
{
	struct tn_retry *b = &h->b;
	struct frame f;

	while (get(h, &h->forth, &f)) {
		if (f.damaged) {
			h->answer_now |= tn_retry_error(b, b->rx.gen_seen);
			continue;
		}
		switch (tn_retry_check(b, &f.h)) {
		case TN_RX_ACCEPT:
			check(h, f.id == h->accepted, "accepted out of order");
			h->accepted++;
			tn_retry_accept(b, &f.h);
			if (++h->unanswered >= h->m->every)
				h->answer_now = true;
			break;
		case TN_RX_AHEAD:
			check(h, f.id > h->accepted, "called ahead");
			h->answer_now |= tn_retry_error(b, f.h.gen);
			break;
		case TN_RX_BEHIND:
			check(h, f.id < h->accepted, "called behind");
			h->answer_now |= tn_retry_behind(b, &f.h);
			break;
		}
	}
}

static void answer(struct history *h)
{
	struct frame f = { .h = { .type = h->b.ops->alone ? TN_ACKNAK : TN_IDLE } };

	if (!h->answer_now)
		return;
	h->b.ops->stamp(&h->b, &f.h);
	h->answer_now = tn_retry_urgent(&h->b);
	h->unanswered = 0;
	put(h, &h->back, f);
}

static void receive_next(struct history *h)
{
	struct tn_queue done = { 0 };
	struct tn_pkt *pkt;
	struct frame f;

	while (get(h, &h->back, &f)) {
		if (f.damaged)
			continue;
		check(h, tn_retry_receive(&h->a, &f.h, &done, h->round + 1) != TN_RECEIVED_INVALID,
		      "an honest answer taken for a lie");
		while ((pkt = tn_queue_pop(&done))) {
			check(h, pkt->hdr.dst == h->acked, "released out of order");
			h->acked++;
			h->progress_at = h->round;
		}
		check(h, h->acked <= h->accepted, "released before it was accepted");
	}
}

/* Runs the timers of a link: that of the sender, and the receiver's reminder of an E. */
static void timers(struct history *h)
{
	if (h->round - h->progress_at < h->m->timeout)
		return;
	h->progress_at = h->round;
	h->timeouts++;
	tn_retry_back(&h->a);
	h->answer_now |= h->unanswered > 0;
	if (h->b.rx.ignoring && h->b.ops->remind) {
		tn_retry_remind(&h->b);
		h->answer_now = true;
	}
}

static void history_run(struct history *h, const struct masks *m, u32 mask)
{
	memset(h, 0, sizeof(*h));
	h->m = m;
	h->mask = mask;
	tn_retry_start(&h->a, m->ops, 4094, 17, 1);	/* numbers that wrap soon */
	tn_retry_start(&h->b, m->ops, 17, 4094, 1);
	while (h->acked < m->packets) {
		check(h, h->round++ < ROUNDS_MAX, "does not end");
		transmit(h);
		receive(h);
		answer(h);
		receive_next(h);
		timers(h);
	}
	check(h, h->accepted == m->packets && !h->a.tx.sent.count, "the end");
}

struct masks_cost masks_run(const struct masks *m)
{
	static struct history h;
	struct masks_cost cost = { 0 };
	const char *one = getenv("MASK");
	u32 mask = one ? (u32)strtoul(one, NULL, 0) : 0;

	do {
		history_run(&h, m, mask);
		cost.histories++;
		cost.sent += h.sent;
		cost.timeouts += h.timeouts;
		if (h.round > cost.rounds_max)
			cost.rounds_max = h.round;
	} while (!one && ++mask < 1u << m->bits);
	return cost;
}

void masks_all(const struct tn_retry_ops *ops)
{
	unsigned int bits = getenv("EVERY") ? 10 : 14;	/* sanitized runs are slow */
	u64 histories = 0;

	for (int hit = 0; hit < HITS; hit++) {
		for (unsigned int delay = 1; delay <= 3; delay++) {
			for (unsigned int every = 1; every <= 3; every += 2) {
				struct masks m = {
					.ops = ops, .hit = (enum hit)hit, .bits = bits,
					.packets = 8, .window = 4, .delay = delay,
					.every = every, .timeout = 4 * delay + 4,
				};

				histories += masks_run(&m).histories;
			}
		}
	}
	print_message("# %" PRIu64 " histories\n", (uint64_t)histories);
}
