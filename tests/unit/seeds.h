/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random tests with seeds: the same seed gives the same run; a failure prints the seed. SEED=N in
 * the environment runs only that seed, SEEDS=N runs seeds 1 to N, or N seeds from FIRST on. If
 * EVERY is set, to any value, only the first quarter of the seeds is run: these tests are short,
 * and with fewer seeds they would find much less.
 */
#ifndef TESTS_SEEDS_H
#define TESTS_SEEDS_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include "kernel/core/splitmix64.h"

struct rnd {
	uint64_t seed;
	uint64_t state;
};

static inline struct rnd rnd_new(uint64_t seed)
{
	return (struct rnd) { .seed = seed, .state = seed * 0xd1342543de82ef95ULL + 1 };
}

/* splitmix64 */
static inline uint64_t rnd64(struct rnd *r)
{
	return splitmix64_mix(r->state += SPLITMIX64_STEP);
}

/* A random number from 0 to n - 1; n > 0 */
static inline uint32_t rnd_below(struct rnd *r, uint32_t n)
{
	return (uint32_t)((rnd64(r) >> 32) * n >> 32);
}

/* Return: true with a probability of 1 in n. */
static inline int rnd_one_in(struct rnd *r, uint32_t n)
{
	return n && !rnd_below(r, n);
}

static inline void rnd_fill(struct rnd *r, void *p, size_t len)
{
	uint8_t *b = p;

	while (len--)
		*b++ = (uint8_t)rnd64(r);
}

/* Runs @fn for seeds 1 to @n, or for those that the environment names. */
static inline void for_seeds(unsigned int n, void (*fn)(uint64_t seed))
{
	const char *one = getenv("SEED"), *more = getenv("SEEDS"), *from = getenv("FIRST");
	uint64_t first = more && from ? strtoull(from, NULL, 0) : 1, s;

	if (one) {
		fn(strtoull(one, NULL, 0));
		return;
	}
	if (more)
		n = (unsigned int)strtoul(more, NULL, 0);
	else if (getenv("EVERY"))
		n = (n + 3) / 4;
	for (s = first; s - first < n; s++)
		fn(s);
}

/* Like assert_true(); a failure also prints the seed that repeats it. */
#define expect(r, cond, fmt, ...) do {						\
	if (!(cond)) {								\
		print_error("SEED=%" PRIu64 ": %s: " fmt "\n", (r)->seed,	\
			    #cond, ##__VA_ARGS__);				\
		fail();								\
	}									\
} while (0)

#endif /* TESTS_SEEDS_H */
