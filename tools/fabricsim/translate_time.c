// SPDX-License-Identifier: GPL-2.0-only
/* The time of a translation; see translate_time.h. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "kernel/core/splitmix64.h"
#include "kernel/core/window.h"
#include "translate_paper.h"
#include "translate_time.h"

#define ADDRESSES	65536	/* number of random addresses, used one after the other */
#define STEP		64	/* look-ups of the shortest run */
#define RUNS		5
#define RUN_NS		4000000.0
#define AGAIN		16	/* accesses to one row, for TRANSLATE_LAST_HIGH */

const char *const translate_methods[TRANSLATE_METHODS + 1] = {
	"bare-array", "linear-index", "linear-high", "direct-index", "sorted-high", "last-high",
	"arithmetic", NULL,
};

struct tables {
	enum translate_method method;
	struct translate_bridge bridge;
	struct tn_window window;
	struct translate_row *row;	/* rows of the bridge */
	struct tn_window_row *rows;	/* rows of the window */
	u64 *from;
	u64 *addr;
	size_t n;
};

static bool is_linear(enum translate_method m)
{
	return m == TRANSLATE_LINEAR_INDEX || m == TRANSLATE_LINEAR_HIGH;
}

static bool has_bridge(enum translate_method m)
{
	return is_linear(m) || m == TRANSLATE_BARE;
}

static u64 target_of(u64 i)
{
	return (i + 1) << 32;
}

static int fill_window(struct tables *t)
{
	static const unsigned int mode[TRANSLATE_METHODS] = {
		[TRANSLATE_DIRECT_INDEX] = TN_WINDOW_INDEX,
		[TRANSLATE_SORTED_HIGH] = TN_WINDOW_HIGH,
		[TRANSLATE_LAST_HIGH] = TN_WINDOW_HIGH,
		[TRANSLATE_ARITHMETIC] = TN_WINDOW_ARITH,
	};
	unsigned int m = mode[t->method];
	struct tn_window_why why;

	if (tn_window_init(&t->window, m, 0, 48, m == TN_WINDOW_HIGH ? 0 : TRANSLATE_SHIFT, t->from,
			   t->rows, (u32)t->n, &why))
		return -EIO;
	for (u64 i = 0; i < (m == TN_WINDOW_ARITH ? 1 : t->n); i++) {
		struct tn_window_row row = {
			.from = m == TN_WINDOW_HIGH ? i << TRANSLATE_SHIFT : i,
			.bytes = 1 << TRANSLATE_SHIFT,
			.to = m == TN_WINDOW_ARITH ? 0 : target_of(i),
			.target = (u32)i, .access = TN_ACCESS_ALL,
		};

		if (tn_window_put(&t->window, &row, &why))
			return -EIO;
	}
	return 0;
}

static void fill_bridge(struct tables *t)
{
	for (size_t i = 0; i < t->n; i++)
		t->row[i] = (struct translate_row) { .index = (u32)i, .high = (u32)i,
						     .to = target_of(i), .valid = true };
	t->bridge = (struct translate_bridge) { .by_table = true, .row = t->row, .n = t->n };
}

static void draw_addresses(struct tables *t, u64 seed)
{
	u64 row = 0;

	for (unsigned int i = 0; i < ADDRESSES; i++) {
		u64 z = splitmix64_mix(seed += SPLITMIX64_STEP);

		if (t->method != TRANSLATE_LAST_HIGH || i % AGAIN == 0)
			row = (z >> 16) % t->n;
		t->addr[i] = row << TRANSLATE_SHIFT | (z & 0xff8);
	}
}

/* Return: the result of a look-up as one number; ~0 if nothing was found. */
static inline __attribute__((always_inline)) u64 look_up(struct tables *t, enum translate_method m,
							 u64 addr)
{
	struct tn_far far;
	uint64_t to;

	if (m == TRANSLATE_BARE)
		return t->row[addr >> TRANSLATE_SHIFT].to + (addr & 0xffff);
	if (is_linear(m)) {
		enum translate_program program =
			m == TRANSLATE_LINEAR_HIGH ? TRANSLATE_HIGH : TRANSLATE_INDEX_ONCE;

		return translate_plain(program, &t->bridge, addr, &to) ? ~0ull : to;
	}
	if (tn_window_look(&t->window, addr, 8, TN_ACCESS_WRITE, &far))
		return ~0ull;
	return m == TRANSLATE_ARITHMETIC ? far.to + target_of(far.target) : far.to;
}

static int check_tables(struct tables *t)
{
	for (unsigned int i = 0; i < 1024; i++) {
		u64 addr = t->addr[i];

		if (look_up(t, t->method, addr) !=
		    target_of(addr >> TRANSLATE_SHIFT) + (addr & 0xffff))
			return -EIO;
	}
	return 0;
}

static double thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/*
 * Return: nanoseconds per look-up in one run, which is repeated with more look-ups until it takes
 * RUN_NS. @chained: an address depends on the result before.
 */
static inline __attribute__((always_inline)) double time_run(struct tables *t,
							     enum translate_method m,
							     bool chained, u64 *sink)
{
	u64 mask = *(volatile u64 *)sink & 1;	/* 0, but compilers do not know that */

	for (u64 count = STEP;; count *= 2) {
		double began = thread_ns(), took;
		u64 sum = 0;

		for (u64 i = 0; i < count; i++) {
			u64 addr = t->addr[i % ADDRESSES];
			u64 to = look_up(t, m, chained ? addr + (sum & mask) : addr);

			sum = chained ? to : sum + to;
		}
		took = thread_ns() - began;
		*sink += sum & 2;
		if (took >= RUN_NS)
			return took / (double)count;
	}
}

/* The method is a constant in each loop, which then has no branch for it. */
static double time_method(struct tables *t, bool chained, u64 *sink)
{
	switch (t->method) {
	case TRANSLATE_BARE:
		return time_run(t, TRANSLATE_BARE, chained, sink);
	case TRANSLATE_LINEAR_INDEX:
		return time_run(t, TRANSLATE_LINEAR_INDEX, chained, sink);
	case TRANSLATE_LINEAR_HIGH:
		return time_run(t, TRANSLATE_LINEAR_HIGH, chained, sink);
	case TRANSLATE_ARITHMETIC:
		return time_run(t, TRANSLATE_ARITHMETIC, chained, sink);
	default:
		return time_run(t, TRANSLATE_DIRECT_INDEX, chained, sink);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double time_median(struct tables *t, bool chained)
{
	double ns[RUNS];
	u64 sink = 0;

	for (unsigned int i = 0; i < RUNS; i++)
		ns[i] = time_method(t, chained, &sink);
	qsort(ns, RUNS, sizeof(*ns), by_size);
	return ns[RUNS / 2];
}

int translate_measure(enum translate_method method, size_t n, uint64_t seed,
		      struct translate_time *t)
{
	struct tables a = { .method = method, .n = n };
	int err = -ENOMEM;

	a.row = calloc(n, sizeof(*a.row));
	a.rows = calloc(n, sizeof(*a.rows));
	a.from = calloc(n, sizeof(*a.from));
	a.addr = calloc(ADDRESSES, sizeof(*a.addr));
	if (a.row && a.rows && a.from && a.addr) {
		draw_addresses(&a, seed);
		if (has_bridge(method))
			fill_bridge(&a);
		err = has_bridge(method) ? 0 : fill_window(&a);
	}
	if (!err)
		err = check_tables(&a);
	if (!err)
		*t = (struct translate_time) { time_median(&a, false), time_median(&a, true) };
	free(a.row);
	free(a.rows);
	free(a.from);
	free(a.addr);
	return err;
}
