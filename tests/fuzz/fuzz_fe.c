// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as requests for words with full/empty bits. After each step no request waits whose
 * condition holds, the bits of words with waiters are right, and no waiter of the pool is missing.
 *
 * Input: WAITERS (1 byte), then records of WHAT (1; below 6: an operation, 6: the end of an
 * initiator, 7: a cancellation, else a store), WORD (1), Q, R, AMO, TYPE, CMP, FROM (1 each),
 * VALUE (1), NUMBER (1).
 */
#include <stdint.h>
#include <stdlib.h>

#include "kernel/core/fe.h"

#define WORDS	70
#define WAITS	16
#define RECORD	10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

struct world {
	struct tn_fe_wait wait[WAITS];
	struct tn_fe_wait *bucket[4];
	struct tn_fe_pool pool;
	struct tn_fe_bits bits;
	u64 value[WORDS], full[2], waits[2];
	u32 waiters;
};

static void must(bool yes)
{
	if (!yes)
		abort();
}

/* Counts the waiters of each word in @ctx, and chooses none of them. */
static bool count_waiter(void *ctx, const struct tn_fe_wait *w)
{
	must(w->word < WORDS);
	((unsigned int *)ctx)[w->word]++;
	return false;
}

static bool is_of(void *ctx, const struct tn_fe_wait *w)
{
	return w->ask.from == *(u32 *)ctx;
}

static void serve_word(struct world *w, u64 word)
{
	struct tn_fe_wait done;
	unsigned int n = 0;
	u64 old;

	while (tn_fe_serve(&w->pool, &w->bits, word, &w->value[word], &done, &old) == TN_FE_DONE)
		must(n++ < WAITS && done.word == word);
}

static void check_world(struct world *w)
{
	unsigned int count[WORDS] = { 0 }, all = 0, listed = 0;
	unsigned int idle = w->waiters - w->pool.unused;
	struct tn_fe_wait done;
	u64 old;

	must(!tn_fe_end(&w->pool, count_waiter, count));
	for (u64 i = 0; i < WORDS; i++) {
		must(tn_fe_has_waiters(&w->bits, i) == (count[i] > 0));
		must(tn_fe_serve(&w->pool, &w->bits, i, &w->value[i], &done, &old) == TN_FE_NONE);
		all += count[i];
	}
	for (const struct tn_fe_wait *i = w->pool.idle; i; i = i->next)
		must(idle++ < w->waiters);
	for (const struct tn_fe_wait *i = w->bits.oldest; i; i = i->newer)
		must(listed++ < all && (i->newer ? i->newer->older == i : w->bits.newest == i));
	must(listed == all && all == w->pool.waiting && all + idle == w->waiters);
}

static void take_request(struct world *w, const uint8_t *p)
{
	struct tn_fe_ask ask = {
		.op = p[0], .q = p[2], .r = p[3], .amo = p[4], .type = p[5], .cmp = p[6],
		.from = p[7] % 4, .value = (u64)(s64)(signed char)p[8], .number = p[9],
	};
	u64 word = p[1] % WORDS, old;
	u32 waiting = w->pool.waiting;
	int result;

	if (p[0] == 6) {
		must(tn_fe_end_from(&w->pool, ask.from, WAITS) == waiting - w->pool.waiting);
		must(!tn_fe_end(&w->pool, is_of, &ask.from));
	} else if (p[0] == 7) {
		result = tn_fe_cancel(&w->pool, &w->bits, word, ask.from, ask.number);
		must(result == (w->pool.waiting < waiting ? 0 : -ENOENT));
	} else if (p[0] > 7) {
		w->value[word] = ask.value;
		serve_word(w, word);
	} else {
		result = tn_fe_ask(&w->pool, &w->bits, word, &w->value[word], &ask, 0, &old);
		must(w->pool.waiting == waiting + (result == TN_FE_WAITS));
		if (result == TN_FE_DONE)
			serve_word(w, word);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct world w = { .waiters = 0 };

	if (!len)
		return 0;
	w.waiters = data[0] % (WAITS + 1);
	w.bits = (struct tn_fe_bits) { .full = w.full, .waits = w.waits, .n = WORDS };
	tn_fe_pool_init(&w.pool, w.wait, w.waiters, w.bucket, 4, 1);
	for (data++, len--; len >= RECORD; data += RECORD, len -= RECORD) {
		take_request(&w, data);
		check_world(&w);
	}
	return 0;
}
