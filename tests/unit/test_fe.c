// SPDX-License-Identifier: GPL-2.0-only
/*
 * Full/empty bits compared with an interpreter that keeps all waiters in one list and scans it
 * after each step: all sequences of six operations on a word, and long random ones on several.
 */
#include <pthread.h>

#include "tests/unit/seeds.h"
#include "kernel/core/fe.h"

#define WORDS	130	/* more than one word of the bit maps */
#define WAITS	24
#define EVENTS	64

/* An operation was executed, and the word had this value before it. */
struct event {
	u32 number;
	u64 old;
};

struct log {
	struct event event[EVENTS];
	unsigned int n;
};

struct naive_wait {
	u64 word;
	struct tn_fe_ask ask;
};

struct naive {
	u64 value[WORDS];
	bool full[WORDS];
	struct naive_wait wait[WAITS];
	unsigned int waits;
	struct log log;
};

/* The product's side of it. */
struct memory {
	struct tn_fe_wait wait[WAITS];
	struct tn_fe_wait *bucket[4];
	struct tn_fe_pool pool;
	struct tn_fe_quota quota;
	struct tn_fe_bits bits;
	u64 value[WORDS], full[3], waits[3];
	struct log log;
};

static void memory_init(struct memory *m, unsigned int waits, unsigned int buckets, u64 seed)
{
	memset(m, 0, sizeof(*m));
	/* all words are empty, with bits of either kind */
	m->bits = (struct tn_fe_bits) {
		.full = m->full, .waits = m->waits, .n = WORDS, .inverted = seed & 1,
		.quota = &m->quota,
	};
	m->quota.max = ~0u;
	memset(m->full, seed & 1 ? 0xff : 0, sizeof(m->full));
	tn_fe_pool_init(&m->pool, m->wait, waits, m->bucket, buckets, seed);
}

static void note(struct log *log, u32 number, u64 old)
{
	assert_true(log->n < EVENTS);
	log->event[log->n++] = (struct event) { number, old };
}

static bool naive_may(const struct naive *m, u64 word, const struct tn_fe_ask *a)
{
	u64 v = m->value[word];
	s64 sv = (s64)v, sx = (s64)a->value;
	bool is_signed = a->type == TN_AMO_S64;

	if (a->op == TN_FE_WAIT) {
		switch (a->cmp) {
		case TN_FE_EQ: return v == a->value;
		case TN_FE_NE: return v != a->value;
		case TN_FE_LT: return is_signed ? sv < sx : v < a->value;
		case TN_FE_LE: return is_signed ? sv <= sx : v <= a->value;
		case TN_FE_GT: return is_signed ? sv > sx : v > a->value;
		default: return is_signed ? sv >= sx : v >= a->value;
		}
	}
	return a->q == TN_FE_ANY || m->full[word] == (a->q == TN_FE_FULL);
}

static void naive_do(struct naive *m, u64 word, const struct tn_fe_ask *a)
{
	note(&m->log, a->number, a->op == TN_FE_PURGE ? 0 : m->value[word]);
	if (a->op == TN_FE_WRITE)
		m->value[word] = a->value;
	if (a->op == TN_FE_AMO)
		m->value[word] += a->value;
	if (a->op == TN_FE_PURGE0)
		m->value[word] = 0;
	if (a->op == TN_FE_PURGE || a->op == TN_FE_PURGE0)
		m->full[word] = false;
	else if (a->r != TN_FE_ANY)
		m->full[word] = a->r == TN_FE_FULL;
}

/* Executes the first waiter of the word that may go, again and again. */
static void naive_serve(struct naive *m, u64 word)
{
	for (unsigned int i = 0; i < m->waits;) {
		struct naive_wait w = m->wait[i];

		if (w.word != word || !naive_may(m, word, &w.ask)) {
			i++;
			continue;
		}
		m->waits--;
		memmove(m->wait + i, m->wait + i + 1, sizeof(w) * (m->waits - i));
		naive_do(m, word, &w.ask);
		i = 0;
	}
}

static int naive_ask(struct naive *m, u64 word, const struct tn_fe_ask *a, unsigned int room)
{
	if (naive_may(m, word, a)) {
		naive_do(m, word, a);
		naive_serve(m, word);
		return TN_FE_DONE;
	}
	if (m->waits == room)
		return -ENOSPC;
	m->wait[m->waits++] = (struct naive_wait) { word, *a };
	return TN_FE_WAITS;
}

static void serve_all(struct memory *m, u64 word)
{
	struct tn_fe_wait done;
	u64 old, *at = &m->value[word];
	int result;

	while ((result = tn_fe_serve(&m->pool, &m->bits, word, at, &done, &old)) == TN_FE_DONE) {
		assert_true(done.word == word && done.since == done.ask.number);
		note(&m->log, done.ask.number, old);
	}
	assert_int_equal(result, TN_FE_NONE);
}

static int ask_one(struct memory *m, u64 word, const struct tn_fe_ask *a)
{
	u64 old;
	int result = tn_fe_ask(&m->pool, &m->bits, word, &m->value[word], a, a->number, &old);

	if (result == TN_FE_DONE) {
		note(&m->log, a->number, old);
		serve_all(m, word);
	}
	return result;
}

/* Return: true if both have executed the same, in the same order, and left the same. */
static bool are_equal(const struct memory *a, const struct naive *b)
{
	bool waits[WORDS] = { false };
	const struct tn_fe_wait *w = a->bits.oldest, *last = NULL;

	if (a->log.n != b->log.n || a->pool.waiting != b->waits || a->bits.waiting != b->waits ||
	    a->quota.waiting != b->waits)
		return false;
	for (unsigned int i = 0; i < a->log.n; i++)
		if (a->log.event[i].number != b->log.event[i].number ||
		    a->log.event[i].old != b->log.event[i].old)
			return false;
	for (unsigned int i = 0; i < b->waits; i++) {
		if (naive_may(b, b->wait[i].word, &b->wait[i].ask))
			return false;
		waits[b->wait[i].word] = true;
		if (!w || w->older != last || w->word != b->wait[i].word ||
		    w->ask.number != b->wait[i].ask.number)
			return false;
		last = w;
		w = w->newer;
	}
	if (w || a->bits.newest != last)
		return false;
	for (u64 i = 0; i < WORDS; i++)
		if (a->value[i] != b->value[i] || tn_fe_is_full(&a->bits, i) != b->full[i] ||
		    tn_fe_has_waiters(&a->bits, i) != waits[i])
			return false;
	return true;
}

#define ASK(op_, q_, r_, ...) { .op = TN_FE_##op_, .q = TN_FE_##q_, .r = TN_FE_##r_,	\
	.type = TN_AMO_U64, ##__VA_ARGS__ }

/* Operations of the exhaustive test. */
static const struct tn_fe_ask some[] = {
	ASK(READ, FULL, EMPTY), ASK(READ, FULL, FULL), ASK(READ, EMPTY, FULL),
	ASK(WRITE, EMPTY, FULL, .value = 1), ASK(WRITE, ANY, FULL, .value = 2),
	ASK(WRITE, FULL, ANY, .value = 3), ASK(PURGE, ANY, ANY),
	ASK(PURGE0, ANY, ANY), ASK(AMO, FULL, FULL, .amo = TN_AMO_ADD, .value = 1),
	ASK(WAIT, ANY, EMPTY, .cmp = TN_FE_EQ, .value = 3),
};

#define STEPS 6

/*
 * The owner executes one request at a time, so requests of three initiators are one sequence. Each
 * one has a number and its initiator: the requests of a sequence go to the three in turn.
 */
static void all_sequences_of_requests_equal_naive_model(void **state)
{
	unsigned int total = 1;

	(void)state;
	for (int i = 0; i < STEPS; i++)
		total *= ARRAY_SIZE(some);
	for (unsigned int code = 0; code < total; code++) {
		static struct memory m;
		static struct naive n;
		unsigned int rest = code;

		if (getenv("EVERY") && code % 7)
			continue;
		memory_init(&m, WAITS, 1, 1);
		memset(&n, 0, sizeof(n));
		for (u32 i = 0; i < STEPS; i++, rest /= ARRAY_SIZE(some)) {
			struct tn_fe_ask a = some[rest % ARRAY_SIZE(some)];

			a.number = i;
			a.from = i % 3;
			if (ask_one(&m, 0, &a) != naive_ask(&n, 0, &a, WAITS) || !are_equal(&m, &n)) {
				print_error("sequence %u, step %u\n", code, i);
				fail();
			}
		}
	}
}

static struct tn_fe_ask draw_ask(struct rnd *r)
{
	struct tn_fe_ask a = {
		.op = (u8)rnd_below(r, TN_FE_OPS), .q = (u8)rnd_below(r, TN_FE_STATES),
		.r = (u8)rnd_below(r, TN_FE_STATES), .amo = TN_AMO_ADD,
		.type = rnd_below(r, 2) ? TN_AMO_U64 : TN_AMO_S64, .cmp = (u8)rnd_below(r, TN_FE_CMPS),
		.from = rnd_below(r, 3), .value = (u64)(s64)((int)rnd_below(r, 5) - 2),
	};

	if (a.op == TN_FE_WAIT || a.op == TN_FE_PURGE || a.op == TN_FE_PURGE0)
		a.q = TN_FE_ANY;
	if (a.op == TN_FE_PURGE || a.op == TN_FE_PURGE0)
		a.r = TN_FE_ANY;
	return a;
}

static bool is_of_initiator(void *ctx, const struct tn_fe_wait *w)
{
	return w->ask.from == *(u32 *)ctx;
}

/* Ends all waiters of an initiator on both sides. */
static u32 naive_end(struct naive *n, u32 from)
{
	u32 ended = 0;

	for (unsigned int i = 0; i < n->waits;) {
		if (n->wait[i].ask.from != from) {
			i++;
			continue;
		}
		n->waits--;
		memmove(n->wait + i, n->wait + i + 1, sizeof(*n->wait) * (n->waits - i));
		ended++;
	}
	return ended;
}

static int naive_cancel(struct naive *n, u64 word, u32 from, u32 number)
{
	for (unsigned int i = 0; i < n->waits; i++) {
		if (n->wait[i].word != word || n->wait[i].ask.number != number ||
		    n->wait[i].ask.from != from)
			continue;
		n->waits--;
		memmove(n->wait + i, n->wait + i + 1, sizeof(*n->wait) * (n->waits - i));
		return 0;
	}
	return -ENOENT;
}

/* Ends the waiter that came first on both sides. */
static void end_oldest_of_both(struct memory *m, struct naive *n)
{
	if (!n->waits)
		return;
	tn_fe_end_oldest(&m->pool, &m->bits);
	n->waits--;
	memmove(n->wait, n->wait + 1, sizeof(*n->wait) * n->waits);
}

/* Return: how many conditions requests wait for at a word. */
static unsigned int conditions_of(const struct naive *n, u64 word, const struct tn_fe_ask *a,
				  bool *has)
{
	unsigned int count = 0;

	*has = false;
	for (unsigned int i = 0; i <= n->waits; i++) {
		const struct tn_fe_ask *b = i < n->waits ? &n->wait[i].ask : a;
		unsigned int k;

		if (i < n->waits && n->wait[i].word != word)
			continue;
		for (k = 0; k < i; k++) {
			const struct tn_fe_ask *c = &n->wait[k].ask;

			if (n->wait[k].word == word && (b->op == TN_FE_WAIT) == (c->op == TN_FE_WAIT) &&
			    (b->op == TN_FE_WAIT ? b->cmp == c->cmp && b->value == c->value &&
			     b->type == c->type : b->q == c->q))
				break;
		}
		if (i < n->waits)
			count += k == i;
		else
			*has = k < i;
	}
	return count;
}

static void run_random(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	unsigned int room = 1 + rnd_below(&r, WAITS);
	static struct memory m;
	static struct naive n;

	memory_init(&m, room, 1u << rnd_below(&r, 3), rnd64(&r));
	memset(&n, 0, sizeof(n));
	for (u32 i = 0; i < 600; i++) {
		u64 word = rnd_below(&r, 3) * 64;
		struct tn_fe_ask a = draw_ask(&r);
		bool known;
		int want;

		m.log.n = n.log.n = 0;
		a.number = i;
		if (rnd_one_in(&r, 40)) {
			u32 ended = naive_end(&n, a.from), most = rnd_one_in(&r, 2) ? ended : WAITS;

			expect(&r, ended == (rnd_one_in(&r, 2) ? tn_fe_end_from(&m.pool, a.from, most) :
					     tn_fe_end(&m.pool, is_of_initiator, &a.from)), "step %u", i);
		} else if (rnd_one_in(&r, 12)) {
			end_oldest_of_both(&m, &n);
		} else if (rnd_one_in(&r, 12)) {
			u32 number = i - rnd_below(&r, 30);

			expect(&r, tn_fe_cancel(&m.pool, &m.bits, word, a.from, number) ==
			       naive_cancel(&n, word, a.from, number), "step %u", i);
		} else if (rnd_one_in(&r, 12)) {	/* a store by other means */
			m.value[word] = n.value[word] = a.value;
			serve_all(&m, word);
			naive_serve(&n, word);
		} else {
			bool full = conditions_of(&n, word, &a, &known) == TN_FE_CONDITIONS && !known;

			want = naive_ask(&n, word, &a, full ? n.waits : room);
			expect(&r, ask_one(&m, word, &a) == want, "step %u", i);
		}
		expect(&r, are_equal(&m, &n), "step %u", i);
	}
}

static void random_requests_equal_naive_model(void **state)
{
	(void)state;
	for_seeds(300, run_random);
}

struct tally {
	u32 of[5], all;
};

static bool count_initiator(void *ctx, const struct tn_fe_wait *w)
{
	struct tally *t = ctx;

	t->of[w->ask.from]++;
	t->all++;
	return false;
}

/* A full pool, in which each initiator has several lists: the others' waiters stay. */
static void end_one_initiator(uint64_t seed)
{
	enum { MANY = 256 };
	static struct tn_fe_wait wait[MANY], *bucket[MANY];
	struct rnd r = rnd_new(seed);
	u64 full = 0, waits = 0, at[64] = { 0 }, old;
	struct tn_fe_bits bits = { .full = &full, .waits = &waits, .n = 64 };
	struct tn_fe_ask a = ASK(READ, FULL, ANY);
	struct tally has = { .all = 0 };
	struct tn_fe_pool pool;

	memset(wait, 0, sizeof(wait));
	memset(bucket, 0, sizeof(bucket));
	tn_fe_pool_init(&pool, wait, MANY, bucket, MANY, rnd64(&r));
	for (a.number = 0; a.number < MANY; a.number++) {
		a.from = rnd_below(&r, ARRAY_SIZE(has.of));
		has.of[a.from]++;
		expect(&r, tn_fe_ask(&pool, &bits, rnd_below(&r, 64), at, &a, 0, &old) == TN_FE_WAITS,
		       "number %u", a.number);
	}
	for (a.from = 0; a.from < ARRAY_SIZE(has.of); a.from++) {
		u32 part = rnd_below(&r, has.of[a.from] + 1);
		struct tally now = { .all = 0 };

		expect(&r, tn_fe_end_from(&pool, a.from, part) == part &&
		       tn_fe_end_from(&pool, a.from, ~0u) == has.of[a.from] - part, "initiator %u", a.from);
		has.of[a.from] = 0;
		tn_fe_end(&pool, count_initiator, &now);
		expect(&r, now.all == pool.waiting && !memcmp(now.of, has.of, sizeof(has.of)),
		       "initiator %u", a.from);
	}
	expect(&r, !pool.waiting && !waits, "waiters are left");
}

static void waiters_of_one_initiator_end_alone(void **state)
{
	(void)state;
	for_seeds(30, end_one_initiator);
}

/* As many conditions as are allowed wait; one more is refused, more waiters of these are not. */
static void one_condition_too_many_is_refused(void **state)
{
	struct tn_fe_ask a = ASK(WAIT, ANY, ANY, .cmp = TN_FE_EQ);
	static struct memory m;

	(void)state;
	memory_init(&m, WAITS, 4, 1);
	for (u64 i = 1; i <= TN_FE_CONDITIONS; i++) {
		a.value = i;
		assert_int_equal(ask_one(&m, 5, &a), TN_FE_WAITS);
	}
	assert_int_equal(ask_one(&m, 5, &a), TN_FE_WAITS);
	a.value++;
	assert_int_equal(ask_one(&m, 5, &a), -ENOSPC);
	assert_int_equal(ask_one(&m, 6, &a), TN_FE_WAITS);
	assert_int_equal(m.pool.waiting, TN_FE_CONDITIONS + 2);
}

/* cilk_sync: it waits until as many have arrived as were spawned. */
static void cilk_sync_waits_until_all_threads_have_arrived(void **state)
{
	struct tn_fe_ask sync = ASK(WAIT, ANY, ANY, .cmp = TN_FE_EQ, .value = 5, .number = 9);
	struct tn_fe_ask arrive = ASK(AMO, ANY, ANY, .amo = TN_AMO_ADD, .value = 1);
	static struct memory m;

	(void)state;
	memory_init(&m, WAITS, 4, 1);
	assert_int_equal(ask_one(&m, 5, &sync), TN_FE_WAITS);
	for (u32 i = 1; i <= 5; i++) {
		assert_false(m.log.n > i - 1);
		assert_int_equal(ask_one(&m, 5, &arrive), TN_FE_DONE);
	}
	assert_int_equal(m.log.n, 6);
	assert_true(m.log.event[5].number == 9 && m.log.event[5].old == 5);
}

static void refuse(struct tn_fe_ask a, int err)
{
	static struct memory m;

	memory_init(&m, WAITS, 4, 1);
	assert_int_equal(ask_one(&m, 5, &a), err);
	assert_int_equal(m.pool.waiting, 0);
}

static void impossible_request_is_refused(void **state)
{
	(void)state;
	refuse((struct tn_fe_ask)ASK(OPS, ANY, ANY), -EOPNOTSUPP);
	refuse((struct tn_fe_ask)ASK(AMO, ANY, ANY, .amo = TN_AMO_OPS), -EOPNOTSUPP);
	refuse((struct tn_fe_ask)ASK(WAIT, ANY, ANY, .cmp = TN_FE_CMPS), -EOPNOTSUPP);
	refuse((struct tn_fe_ask) { .op = TN_FE_WAIT, .type = TN_AMO_S32 }, -EOPNOTSUPP);
	refuse((struct tn_fe_ask) { .op = TN_FE_AMO, .type = TN_AMO_TYPES + 1 }, -EOPNOTSUPP);
	refuse((struct tn_fe_ask)ASK(READ, STATES, ANY), -EINVAL);
	refuse((struct tn_fe_ask)ASK(READ, ANY, STATES), -EINVAL);
	refuse((struct tn_fe_ask)ASK(WAIT, FULL, ANY), -EINVAL);
	refuse((struct tn_fe_ask)ASK(PURGE, FULL, ANY), -EINVAL);
	refuse((struct tn_fe_ask)ASK(PURGE0, ANY, FULL), -EINVAL);
}

/* Only AMO and WAIT look at the type of the word. */
static void only_amo_and_wait_check_type(void **state)
{
	static const u8 ops[] = { TN_FE_READ, TN_FE_WRITE, TN_FE_PURGE, TN_FE_PURGE0 };
	static struct memory m;
	u64 old;

	(void)state;
	memory_init(&m, 0, 1, 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		struct tn_fe_ask ask = {
			.op = ops[i], .q = TN_FE_ANY, .r = TN_FE_ANY, .type = TN_AMO_U32,
		};

		assert_int_equal(tn_fe_ask(&m.pool, &m.bits, 0, m.value, &ask, 0, &old),
				 TN_FE_DONE);
	}
}

static bool toggled;

static void *toggle_word(void *word)
{
	while (!__atomic_load_n(&toggled, __ATOMIC_RELAXED)) {
		__atomic_store_n((u64 *)word, 7, __ATOMIC_RELEASE);
		__atomic_store_n((u64 *)word, 0, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A processor stores to the word meanwhile: a WAIT returns the value that ended it. */
static void wait_returns_value_that_fulfils_it(void **state)
{
	const struct tn_fe_ask ask = {
		.op = TN_FE_WAIT, .q = TN_FE_ANY, .r = TN_FE_ANY, .cmp = TN_FE_GE,
		.type = TN_AMO_U64, .value = 5, .from = 1, .number = 2,
	};
	static struct memory m;
	struct tn_fe_wait served;
	pthread_t other;
	u64 old;

	(void)state;
	memory_init(&m, 1, 1, 0);
	assert_int_equal(pthread_create(&other, NULL, toggle_word, m.value), 0);
	for (unsigned int i = 0; i < 3000000; i++) {
		bool done = tn_fe_ask(&m.pool, &m.bits, 0, m.value, &ask, 0, &old) == TN_FE_DONE ||
			    tn_fe_serve(&m.pool, &m.bits, 0, m.value, &served, &old) == TN_FE_DONE;

		if (done)
			assert_true(old >= 5);
		else
			assert_int_equal(tn_fe_cancel(&m.pool, &m.bits, 0, 1, 2), 0);
	}
	__atomic_store_n(&toggled, true, __ATOMIC_RELAXED);
	assert_int_equal(pthread_join(other, NULL), 0);
}

/*
 * A quota limits the waiters of its regions, and one of a larger set all of these. When a waiter
 * ends, another may wait. A request that need not wait needs no quota.
 */
static void quota_limits_waiters_of_its_regions_only(void **state)
{
	struct tn_fe_ask get = ASK(READ, FULL, FULL), set = ASK(WRITE, EMPTY, FULL);
	struct tn_fe_quota all = { .max = 3 }, user[2] = {
		{ .all = &all, .max = 2 }, { .all = &all, .max = 2 },
	};
	u64 full[2] = { 0 }, waits[2] = { 0 }, at[2] = { 0 }, old;
	struct tn_fe_wait wait[8] = { 0 }, *bucket[8] = { 0 };
	struct tn_fe_pool pool;
	struct tn_fe_bits bits[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		bits[i] = (struct tn_fe_bits) {
			.full = &full[i], .waits = &waits[i], .n = 1, .quota = &user[i],
		};
	tn_fe_pool_init(&pool, wait, 8, bucket, 8, 1);
	for (get.number = 0; get.number < 2; get.number++)
		assert_int_equal(tn_fe_ask(&pool, &bits[0], 0, &at[0], &get, 0, &old), TN_FE_WAITS);
	assert_int_equal(tn_fe_ask(&pool, &bits[0], 0, &at[0], &get, 0, &old), -EDQUOT);
	assert_ptr_equal(tn_fe_full_quota(&bits[0]), &user[0]);
	assert_int_equal(tn_fe_ask(&pool, &bits[1], 0, &at[1], &get, 0, &old), TN_FE_WAITS);
	assert_int_equal(tn_fe_ask(&pool, &bits[1], 0, &at[1], &get, 0, &old), -EDQUOT);
	assert_ptr_equal(tn_fe_full_quota(&bits[1]), &all);
	assert_int_equal(tn_fe_cancel(&pool, &bits[0], 0, 0, 1), 0);
	assert_null(tn_fe_full_quota(&bits[1]));
	assert_int_equal(tn_fe_ask(&pool, &bits[1], 0, &at[1], &get, 0, &old), TN_FE_WAITS);
	assert_true(user[0].waiting == 1 && user[1].waiting == 2 && all.waiting == 3);
	assert_int_equal(tn_fe_ask(&pool, &bits[0], 0, &at[0], &set, 0, &old), TN_FE_DONE);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(all_sequences_of_requests_equal_naive_model),
		cmocka_unit_test(random_requests_equal_naive_model),
		cmocka_unit_test(waiters_of_one_initiator_end_alone),
		cmocka_unit_test(one_condition_too_many_is_refused),
		cmocka_unit_test(cilk_sync_waits_until_all_threads_have_arrived),
		cmocka_unit_test(impossible_request_is_refused),
		cmocka_unit_test(only_amo_and_wait_check_type),
		cmocka_unit_test(wait_returns_value_that_fulfils_it),
		cmocka_unit_test(quota_limits_waiters_of_its_regions_only),
	};

	return cmocka_run_group_tests_name("fe", all, NULL, NULL);
}
