// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Full/empty bits; see fe.h. */
#include "fe.h"
#include "splitmix64.h"

#define NEIGHBOURS	8u	/* words whose lists are in one cache line */
/*
 * One list of this many may contain waiters of a given initiator. If it has all waiters of the
 * pool, its lists are about this long, and cancelling searches one of them. Ending all waiters of
 * an initiator walks along its lists.
 */
#define INITIATOR_SHARE	32u

void tn_fe_pool_init(struct tn_fe_pool *p, struct tn_fe_wait *wait, u32 n,
		     struct tn_fe_wait **bucket, u32 buckets, u64 seed)
{
	tn_assert(buckets && !(buckets & (buckets - 1)));
	*p = (struct tn_fe_pool) {
		.bucket = bucket, .wait = wait, .seed = seed, .n = n, .mask = buckets - 1,
	};
}

/* Return: a free entry; NULL: there is none. */
static struct tn_fe_wait *find_free_entry(const struct tn_fe_pool *p)
{
	return p->idle ? p->idle : p->unused < p->n ? &p->wait[p->unused] : NULL;
}

/* Takes the entry that find_free_entry() has found. */
static void take_entry(struct tn_fe_pool *p, struct tn_fe_wait *w)
{
	if (w == p->idle)
		p->idle = w->next;
	else
		p->unused++;
}

/*
 * Return: the list of the hash of a word. The lists of NEIGHBOURS words lie together, so words that
 * are used one after the other need the memory of their lists only once.
 */
static struct tn_fe_wait **bucket_of_word(struct tn_fe_pool *p, const struct tn_fe_bits *bits,
					  u64 word)
{
	u64 region = splitmix64_mix((unsigned long)bits ^ p->seed);
	u64 hash = splitmix64_mix(region + word / NEIGHBOURS);

	return &p->bucket[(hash * NEIGHBOURS + word % NEIGHBOURS) & p->mask];
}

/* Return: number of lists that contain the waiters of one initiator */
static u32 lists_of_initiator(const struct tn_fe_pool *p)
{
	return p->n / INITIATOR_SHARE + 1;
}

/* Return: head of list @i of those that contain the waiters of an initiator; they lie together */
static struct tn_fe_wait **list_at(struct tn_fe_pool *p, u32 from, u32 i)
{
	return &p->wait[((u32)splitmix64_mix(from ^ p->seed) + i) % p->n].hashed;
}

/* Return: head of the list of waiters whose requests have the same hash as this one */
static struct tn_fe_wait **list_of_ask(struct tn_fe_pool *p, u32 from, u32 number)
{
	u64 hash = (u32)splitmix64_mix(number ^ p->seed);

	return list_at(p, from, (u32)(hash * lists_of_initiator(p) >> 32));
}

static bool is_purge(const struct tn_fe_ask *ask)
{
	return ask->op == TN_FE_PURGE || ask->op == TN_FE_PURGE0;
}

static int check_ask(const struct tn_fe_ask *ask)
{
	bool any = ask->op == TN_FE_WAIT || is_purge(ask);
	bool typed = ask->op == TN_FE_WAIT || ask->op == TN_FE_AMO;

	if (ask->op >= TN_FE_OPS)
		return -EOPNOTSUPP;
	if (typed && (ask->type >= TN_AMO_TYPES || tn_amo_bytes(ask->type) != 8))
		return -EOPNOTSUPP;
	if (ask->op == TN_FE_AMO && ask->amo >= TN_AMO_OPS)
		return -EOPNOTSUPP;
	if (ask->op == TN_FE_WAIT && ask->cmp >= TN_FE_CMPS)
		return -EOPNOTSUPP;
	if (ask->q >= TN_FE_STATES || ask->r >= TN_FE_STATES || (any && ask->q != TN_FE_ANY))
		return -EINVAL;
	return is_purge(ask) && ask->r != TN_FE_ANY ? -EINVAL : 0;
}

static bool compare_word(const struct tn_fe_ask *ask, u64 v)
{
	switch (ask->cmp) {
	case TN_FE_EQ:
		return v == ask->value;
	case TN_FE_NE:
		return v != ask->value;
	case TN_FE_LT:
		return tn_amo_less(ask->type, v, ask->value);
	case TN_FE_LE:
		return !tn_amo_less(ask->type, ask->value, v);
	case TN_FE_GT:
		return tn_amo_less(ask->type, ask->value, v);
	default:
		return !tn_amo_less(ask->type, v, ask->value);
	}
}

/*
 * Return: true if the condition of the request holds. For a WAIT, *@seen is set to the value that
 * fulfils it: a processor may change the word at any time, so the value is loaded only once.
 */
static bool may_execute(const struct tn_fe_ask *ask, bool full, const u64 *at, u64 *seen)
{
	if (ask->op == TN_FE_WAIT) {
		u64 v = tn_load64(at);

		if (!compare_word(ask, v))
			return false;
		*seen = v;
		return true;
	}
	return ask->q == TN_FE_ANY || (ask->q == TN_FE_FULL) == full;
}

/* Return: true if both requests wait for the same condition. */
static bool same_condition(const struct tn_fe_ask *a, const struct tn_fe_ask *b)
{
	if (a->op == TN_FE_WAIT && b->op == TN_FE_WAIT)
		return a->cmp == b->cmp && a->value == b->value && a->type == b->type;
	return a->op != TN_FE_WAIT && b->op != TN_FE_WAIT && a->q == b->q;
}

/*
 * Executes a request whose condition holds. @seen: for a WAIT, the value that may_execute() has
 * set. Return: TN_FE_DONE, or the error of tn_amo().
 */
static int execute_ask(struct tn_fe_bits *bits, u64 word, u64 *at, const struct tn_fe_ask *ask,
		       u64 seen, u64 *old)
{
	u64 bit = 1ull << word % 64;
	u8 r = is_purge(ask) ? TN_FE_EMPTY : ask->r;

	*old = 0;
	if (ask->op == TN_FE_AMO) {
		int err = tn_amo(at, ask->amo, ask->type, ask->value, ask->compare, old);

		if (err)
			return err;
	} else if (ask->op == TN_FE_WAIT) {
		*old = seen;
	} else if (ask->op != TN_FE_PURGE) {
		*old = tn_load64(at);
	}
	if (ask->op == TN_FE_WRITE)
		tn_store64(at, ask->value);
	if (ask->op == TN_FE_PURGE0)
		tn_store64(at, 0);
	if (r == TN_FE_ANY)
		return TN_FE_DONE;
	if (r == (bits->inverted ? TN_FE_EMPTY : TN_FE_FULL))
		bits->full[word / 64] |= bit;
	else
		bits->full[word / 64] &= ~bit;
	return TN_FE_DONE;
}

/* Adds a waiter to the list of its region. */
static void list_waiter(struct tn_fe_bits *bits, struct tn_fe_wait *w)
{
	w->older = bits->newest;
	if (bits->newest)
		bits->newest->newer = w;
	else
		bits->oldest = w;
	bits->newest = w;
}

/* Adds a waiter to the list of the hash of its request. */
static void hash_waiter(struct tn_fe_pool *p, struct tn_fe_wait *w)
{
	struct tn_fe_wait **list = list_of_ask(p, w->ask.from, w->ask.number);

	w->like = *list;
	if (w->like)
		w->like->like_link = &w->like;
	w->like_link = list;
	*list = w;
}

/* Adds @n, which is 1 or -1, to the numbers of waiters of which this one is a part. */
static void count_waiter(struct tn_fe_pool *p, struct tn_fe_bits *bits, int n)
{
	struct tn_fe_quota *q;

	for (q = bits->quota; q; q = q->all)
		q->waiting += (u32)n;
	bits->waiting += (u32)n;
	p->waiting += (u32)n;
}

/* Frees a waiter that was removed from its group. */
static void free_waiter(struct tn_fe_pool *p, struct tn_fe_wait *w)
{
	count_waiter(p, w->bits, -1);
	*w->like_link = w->like;
	if (w->like)
		w->like->like_link = w->like_link;
	if (w->older)
		w->older->newer = w->newer;
	else
		w->bits->oldest = w->newer;
	if (w->newer)
		w->newer->older = w->older;
	else
		w->bits->newest = w->older;
	w->bits = NULL;
	w->next = p->idle;
	p->idle = w;
}

const struct tn_fe_quota *tn_fe_full_quota(const struct tn_fe_bits *bits)
{
	const struct tn_fe_quota *q = bits->quota;

	while (q && q->waiting < q->max)
		q = q->all;
	return q;
}

/* Adds the request to the group of its condition, or makes a group of it. */
static int let_wait(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word,
		    const struct tn_fe_ask *ask, u64 now)
{
	struct tn_fe_wait **bucket = bucket_of_word(p, bits, word), *first;
	struct tn_fe_wait *w = find_free_entry(p);
	unsigned int conditions = 0;

	if (tn_fe_full_quota(bits))
		return -EDQUOT;
	if (!w)
		return -ENOSPC;
	for (first = *bucket; first; first = first->chain) {
		if (first->bits != bits || first->word != word)
			continue;
		if (same_condition(&first->ask, ask))
			break;
		conditions++;
	}
	if (!first && conditions == TN_FE_CONDITIONS)
		return -ENOSPC;
	take_entry(p, w);
	*w = (struct tn_fe_wait) {
		.tail = w, .hashed = w->hashed, .bits = bits, .word = word, .order = p->order++,
		.since = now, .ask = *ask,
	};
	if (first) {
		w->prev = first->tail;
		first->tail->next = w;
		first->tail = w;
	} else {
		w->chain = *bucket;
		*bucket = w;
	}
	list_waiter(bits, w);
	hash_waiter(p, w);
	bits->waits[word / 64] |= 1ull << word % 64;
	count_waiter(p, bits, 1);
	return TN_FE_WAITS;
}

int tn_fe_ask(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word, u64 *at,
	      const struct tn_fe_ask *ask, u64 now, u64 *old)
{
	int err = check_ask(ask);
	u64 seen = 0;

	tn_assert(word < bits->n);
	if (err)
		return err;
	if (may_execute(ask, tn_fe_is_full(bits, word), at, &seen))
		return execute_ask(bits, word, at, ask, seen, old);
	return let_wait(p, bits, word, ask, now);
}

/* Clears the bit of a word that has no waiters any more. */
static void note_empty(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word)
{
	const struct tn_fe_wait *w;

	for (w = *bucket_of_word(p, bits, word); w; w = w->chain)
		if (w->bits == bits && w->word == word)
			return;
	bits->waits[word / 64] &= ~(1ull << word % 64);
}

/* Removes the first waiter of the group that @link points to, and frees it. */
static void remove_first(struct tn_fe_pool *p, struct tn_fe_wait **link)
{
	struct tn_fe_wait *w = *link, *second = w->next;

	if (second) {
		second->prev = NULL;
		second->tail = w->tail;
		second->chain = w->chain;
		*link = second;
	} else {
		*link = w->chain;
		note_empty(p, w->bits, w->word);
	}
	free_waiter(p, w);
}

int tn_fe_serve(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word, u64 *at,
		struct tn_fe_wait *done, u64 *old)
{
	struct tn_fe_wait **link, **best = NULL;
	bool full = tn_fe_is_full(bits, word);
	u64 seen = 0;
	int err;

	if (!tn_fe_has_waiters(bits, word))
		return TN_FE_NONE;
	for (link = bucket_of_word(p, bits, word); *link; link = &(*link)->chain) {
		if ((*link)->bits != bits || (*link)->word != word)
			continue;
		if ((!best || (*link)->order < (*best)->order) &&
		    may_execute(&(*link)->ask, full, at, &seen))
			best = link;
	}
	if (!best)
		return TN_FE_NONE;
	*done = **best;
	err = execute_ask(bits, word, at, &done->ask, seen, old);
	if (err)
		return err;
	remove_first(p, best);
	return TN_FE_DONE;
}

/* Removes @w, which is not the first one of the group that begins with @first. */
static void remove_later(struct tn_fe_pool *p, struct tn_fe_wait *first, struct tn_fe_wait *w)
{
	w->prev->next = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		first->tail = w->prev;
	free_waiter(p, w);
}

void tn_fe_end_oldest(struct tn_fe_pool *p, struct tn_fe_bits *bits)
{
	struct tn_fe_wait *w = bits->oldest, **link = bucket_of_word(p, bits, w->word);

	/* A group is in the order of arrival, too, so this is the first of its group. */
	while (*link != w)
		link = &(*link)->chain;
	remove_first(p, link);
}

/* Removes a waiter from the group of its condition, and frees it. */
static void remove_waiter(struct tn_fe_pool *p, struct tn_fe_wait *w)
{
	struct tn_fe_wait **link = bucket_of_word(p, w->bits, w->word);

	while ((*link)->bits != w->bits || (*link)->word != w->word ||
	       !same_condition(&(*link)->ask, &w->ask))
		link = &(*link)->chain;
	if (w->prev)
		remove_later(p, *link, w);
	else
		remove_first(p, link);
}

u32 tn_fe_end(struct tn_fe_pool *p, bool (*ends)(void *ctx, const struct tn_fe_wait *w), void *ctx)
{
	u32 i, before = p->waiting;

	for (i = 0; i < p->unused; i++)
		if (p->wait[i].bits && ends(ctx, &p->wait[i]))
			remove_waiter(p, &p->wait[i]);
	return before - p->waiting;
}

u32 tn_fe_end_from(struct tn_fe_pool *p, u32 from, u32 most)
{
	u32 i, before = p->waiting, rest = most < before ? before - most : 0;
	struct tn_fe_wait *w, *like;

	for (i = 0; p->waiting > rest && i < lists_of_initiator(p); i++) {
		for (w = *list_at(p, from, i); p->waiting > rest && w; w = like) {
			like = w->like;
			if (w->ask.from == from)
				remove_waiter(p, w);
		}
	}
	return before - p->waiting;
}

int tn_fe_cancel(struct tn_fe_pool *p, struct tn_fe_bits *bits, u64 word, u32 from, u32 number)
{
	struct tn_fe_wait *w;

	if (!tn_fe_has_waiters(bits, word))
		return -ENOENT;
	for (w = *list_of_ask(p, from, number); w; w = w->like)
		if (w->bits == bits && w->word == word && w->ask.from == from &&
		    w->ask.number == number)
			break;
	if (!w)
		return -ENOENT;
	remove_waiter(p, w);
	return 0;
}
