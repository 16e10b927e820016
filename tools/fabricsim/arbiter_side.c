// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arbiter of a simulated site: it grants a claim only for an epoch later than the last one, or
 * gives the answer that a test has set.
 */
#include "world_impl.h"

/** struct answer - answer to the question of a manager about @epoch */
struct answer {
	uint64_t epoch, high;
	enum fm_verdict verdict;
};

/*
 * Grants a claim as a store with compare-and-swap does: only if the epoch is greater than the last
 * one granted.
 */
static enum fm_verdict decide_claim(struct world *w, uint64_t epoch, uint64_t guid)
{
	struct warbiter *a = &w->arbiter;

	a->asked++;
	if (a->verdict != FM_GRANTED)
		return a->verdict;
	if (epoch < a->epoch || (epoch == a->epoch && guid != a->guid))
		return FM_REFUSED;
	a->epoch = epoch;
	a->guid = guid;
	return FM_GRANTED;
}

void host_arbitrate(void *io, uint64_t epoch, uint64_t guid)
{
	struct whost *h = io;
	struct world *w = h->w;
	struct ev ev = { .kind = EV_ARBITER, .node = h->node, .life = w->node[h->node].fm_life,
			 .at = w->now + w->arbiter.delay };
	struct answer *a = malloc(sizeof(*a));

	if (!a)
		abort();
	a->epoch = epoch;
	a->verdict = decide_claim(w, epoch, guid);
	a->high = a->verdict == FM_REFUSED ? w->arbiter.epoch : 0;
	ev.data = a;
	world_post(w, &ev);
}

void host_answered(struct world *w, const struct ev *ev)
{
	static const char *const why[] = { "it is down", "", "no" };
	const struct answer *a = ev->data;

	fm_arbiter(w->node[ev->node].fm, a->epoch, a->verdict, a->high, why[a->verdict], w->now);
}

void world_arbiter(struct world *w, enum fm_verdict verdict, uint64_t delay)
{
	w->arbiter.verdict = verdict;
	w->arbiter.delay = delay;
}

void world_arbiter_granted(struct world *w, uint64_t epoch, uint64_t guid)
{
	w->arbiter.epoch = epoch;
	w->arbiter.guid = guid;
}

unsigned int world_arbiter_asked(const struct world *w)
{
	return w->arbiter.asked;
}
