// SPDX-License-Identifier: GPL-2.0-only
/*
 * Full/empty bits and atomic operations of the NIC core in memory: nanoseconds of processor time to
 * wake a waiter, with many that wait at one word or at as many words, and of an atomic operation on
 * a word in the cache and on one of 256 MiB. Neither NIC nor packets are counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "kernel/core/fe.h"
#include "kernel/core/splitmix64.h"
#include "tests/bench/sample.h"

#define COLD	(1u << 25)	/* words of 256 MiB */
#define AMOS	(1u << 22)
#define ENDS	(1u << 14)

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *memory_of(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p) {
		fprintf(stderr, "bench_fe: out of memory\n");
		exit(2);
	}
	explicit_bzero(p, n * size);	/* the compiler would omit memset(), so pages were not there */
	return p;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_fe: %s\n", what);
	exit(1);
}

static void print_row(const char *what, double ns)
{
	printf("%-60s %8.1f ns\n", what, ns);
	sample(what, "ns", ns);
}

/*
 * Lets @n readers wait, each for its word to be full, then writes until all have been woken. @words
 * is 1 or @n. Each uses the word @step behind that of the one before; @step is prime to @n.
 */
static void bench_wake(u32 n, u32 words, u64 step)
{
	static const struct tn_fe_ask get = {
		.op = TN_FE_READ, .q = TN_FE_FULL, .r = TN_FE_EMPTY, .type = TN_AMO_U64,
	};
	static const struct tn_fe_ask set = {
		.op = TN_FE_WRITE, .q = TN_FE_EMPTY, .r = TN_FE_FULL, .type = TN_AMO_U64, .value = 7,
	};
	struct tn_fe_wait *wait = memory_of(n, sizeof(*wait)), done;
	u32 buckets = 1u << (32 - __builtin_clz(n - 1));	/* at least n */
	struct tn_fe_wait **bucket = memory_of(buckets, sizeof(struct tn_fe_wait *));
	u64 *at = memory_of(words, sizeof(*at)), old;
	struct tn_fe_bits bits = { .full = memory_of(words / 64 + 1, 8),
				   .waits = memory_of(words / 64 + 1, 8), .n = words };
	struct tn_fe_pool pool;
	double began, waited;
	const char *order;
	char what[80];

	tn_fe_pool_init(&pool, wait, n, bucket, buckets, 1);
	began = cpu_ns();
	for (u32 i = 0; i < n; i++)
		if (tn_fe_ask(&pool, &bits, i * step % words, &at[i * step % words], &get, i,
			      &old) != TN_FE_WAITS)
			die("a reader does not wait");
	waited = cpu_ns();
	for (u32 i = 0; i < n; i++) {
		u32 word = (u32)(i * step % words);

		if (tn_fe_ask(&pool, &bits, word, &at[word], &set, i, &old) != TN_FE_DONE ||
		    tn_fe_serve(&pool, &bits, word, &at[word], &done, &old) != TN_FE_DONE ||
		    old != 7 || done.since != i ||
		    tn_fe_serve(&pool, &bits, word, &at[word], &done, &old) != TN_FE_NONE)
			die("the wrong waiter was woken");
	}
	order = words == 1 ? "" : step == 1 ? "s in order" : "s in any order";
	snprintf(what, sizeof(what), "begin to wait, %u at %u word%s", n, words, order);
	print_row(what, (waited - began) / n);
	snprintf(what, sizeof(what), "write and wake, %u at %u word%s", n, words, order);
	print_row(what, (cpu_ns() - waited) / n);
	free(bits.waits);
	free(bits.full);
	free(at);
	free(bucket);
	free(wait);
}

static const struct tn_fe_ask get = { .op = TN_FE_READ, .q = TN_FE_FULL, .r = TN_FE_EMPTY };

/** struct crowd - readers that wait for one word */
struct crowd {
	struct tn_fe_wait *wait, **bucket;
	u64 full, waits, at;
	struct tn_fe_bits bits;
	struct tn_fe_pool pool;
};

static void begin_wait(struct crowd *c, u32 from, u32 number)
{
	struct tn_fe_ask ask = get;
	u64 old;

	ask.from = from;
	ask.number = number;
	if (tn_fe_ask(&c->pool, &c->bits, 0, &c->at, &ask, 0, &old) != TN_FE_WAITS)
		die("a reader does not wait");
}

/* Makes a pool of @n entries, in which @readers of initiator 0 wait. */
static void make_crowd(struct crowd *c, u32 n, u32 readers)
{
	*c = (struct crowd){ .wait = memory_of(n, sizeof(*c->wait)),
			     .bucket = memory_of(n, sizeof(*c->bucket)) };
	c->bits = (struct tn_fe_bits){ .full = &c->full, .waits = &c->waits, .n = 1 };
	tn_fe_pool_init(&c->pool, c->wait, n, c->bucket, n, 1);
	for (u32 i = 0; i < readers; i++)
		begin_wait(c, 0, i);
}

static void free_crowd(struct crowd *c)
{
	free(c->bucket);
	free(c->wait);
}

/* Lets @n readers wait for one word, and cancels them in any order. */
static void bench_cancel(u32 n)
{
	struct crowd c;
	double began;
	char what[80];

	make_crowd(&c, n, n);
	began = cpu_ns();
	for (u32 i = 0; i < n; i++)
		if (tn_fe_cancel(&c.pool, &c.bits, 0, 0, i * 40503u % n))
			die("a reader was not cancelled");
	snprintf(what, sizeof(what), "cancel, %u at 1 word", n);
	print_row(what, (cpu_ns() - began) / n);
	free_crowd(&c);
}

/* One reader waits among @n of others, and its initiator begins anew, again and again. */
static void bench_end(u32 n)
{
	struct crowd c;
	double began;
	char what[80];

	make_crowd(&c, n, n - 1);
	began = cpu_ns();
	for (u32 i = 0; i < ENDS; i++) {
		begin_wait(&c, 1, i);
		if (tn_fe_end_from(&c.pool, 1, 1) != 1)
			die("the reader did not end");
	}
	snprintf(what, sizeof(what), "begin and end 1 of %u", n);
	print_row(what, (cpu_ns() - began) / ENDS);
	free_crowd(&c);
}

static void bench_amo(const char *what, u64 *word, u32 n)
{
	double began = cpu_ns();
	u64 state = 1;

	for (u32 i = 0; i < AMOS; i++) {
		state += SPLITMIX64_STEP;
		if (tn_amo(&word[splitmix64_mix(state) % n], TN_AMO_ADD, TN_AMO_U64, 1, 0, NULL))
			die("an addition failed");
	}
	print_row(what, (cpu_ns() - began) / AMOS);
}

int main(void)
{
	static const u32 waiters[] = { 1024, 65536, 1000000 };
	u64 *cold;

	for (unsigned int i = 0; i < ARRAY_SIZE(waiters); i++) {
		bench_wake(waiters[i], 1, 1);
		bench_wake(waiters[i], waiters[i], 1);
		bench_wake(waiters[i], waiters[i], 611953);
	}
	bench_cancel(1024);
	bench_cancel(65536);
	bench_end(8192);
	bench_end(65536);
	cold = memory_of(COLD, sizeof(*cold));
	bench_amo("add to a word in the cache", cold, 1);
	bench_amo("add to a random word of 256 MiB", cold, COLD);
	free(cold);
	return 0;
}
