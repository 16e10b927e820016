// SPDX-License-Identifier: GPL-2.0-only
/*
 * Windows of libtorus. kernel/core/window.c has its own test of the search; here a list of rows
 * says which memory an address must give while rows come and go, so that memory of one row is
 * never that of another one, and tables say what is refused and how.
 */
#include <errno.h>
#include "tests/unit/seeds.h"
#include <torus/rma.h>
#include <string.h>

#define BASE	0x7f0000000000ull
#define BITS	16
#define SPAN	(1u << BITS)
#define ROWS	12
#define ALL	15
#define SHIFT	10

struct naive {
	struct torus_window_row row[ROWS];
	unsigned int n;
};

static struct torus_window *make(enum torus_window_kind kind, unsigned int shift, uint32_t rows)
{
	struct torus_window *w;

	if (torus_window_new(kind, BASE, BITS, shift, rows, &w))
		fail_msg("%s", torus_window_error(NULL));
	return w;
}

static uint64_t begin_of(enum torus_window_kind kind, const struct torus_window_row *row)
{
	return kind == TORUS_WINDOW_INDEX ? row->from << SHIFT : row->from;
}

static const struct torus_window_row *find(const struct naive *n, enum torus_window_kind kind,
					   uint64_t at)
{
	for (unsigned int i = 0; i < n->n; i++) {
		uint64_t begin = begin_of(kind, &n->row[i]);

		if (at >= begin && at - begin < n->row[i].bytes)
			return &n->row[i];
	}
	return NULL;
}

static struct torus_window_row draw_row(struct rnd *r, enum torus_window_kind kind, uint32_t i)
{
	return (struct torus_window_row) {
		.from = kind == TORUS_WINDOW_INDEX ? rnd_below(r, ROWS) : rnd_below(r, SPAN),
		.bytes = 1 + rnd_below(r, 1u << SHIFT), .offset = rnd64(r) >> 16,
		.far = { i, rnd_below(r, 3) ? i * 7 : TORUS_RMA_BY_ADDRESS, i * 11 },
		.access = 1 + rnd_below(r, ALL),
	};
}

static bool overlaps(const struct naive *n, enum torus_window_kind kind,
		     const struct torus_window_row *row)
{
	for (unsigned int i = 0; i < n->n; i++) {
		const struct torus_window_row *o = &n->row[i];

		if (kind == TORUS_WINDOW_INDEX ? o->from == row->from :
		    o->from < row->from + row->bytes && row->from < o->from + o->bytes)
			return true;
	}
	return false;
}

static void put_or_drop(struct rnd *r, struct torus_window *w, enum torus_window_kind kind,
			struct naive *n, uint32_t i)
{
	struct torus_window_row row = draw_row(r, kind, i);
	int err = 0;

	if (n->n && rnd_one_in(r, 3)) {
		unsigned int k = rnd_below(r, n->n);

		expect(r, !torus_window_drop(w, n->row[k].from), "drop");
		expect(r, torus_window_drop(w, n->row[k].from) == -ENXIO, "drop twice");
		n->row[k] = n->row[--n->n];
		return;
	}
	if (kind == TORUS_WINDOW_HIGH && row.from + row.bytes > SPAN)
		err = -ERANGE;
	else if (overlaps(n, kind, &row))
		err = -EEXIST;
	else if (n->n == ROWS)
		err = -ENOSPC;
	expect(r, torus_window_put(w, &row) == err, "put: not %d: %s", err, torus_window_error(w));
	if (!err)
		n->row[n->n++] = row;
}

static void look(struct rnd *r, struct torus_window *w, enum torus_window_kind kind,
		 const struct naive *n)
{
	uint64_t at = rnd_below(r, SPAN);
	unsigned int need = rnd_below(r, ALL + 1);
	size_t bytes = rnd_below(r, 200);
	const struct torus_window_row *row = find(n, kind, at);
	struct torus_place p;
	uint64_t in = row ? at - begin_of(kind, row) : 0;
	int err = !row ? -ENXIO : need & ~row->access ? -EACCES : bytes > row->bytes - in ?
		  -ERANGE : 0;

	expect(r, torus_window_look(w, BASE + at, bytes, need, &p) == err, "look: not %d: %s", err,
	       torus_window_error(w));
	if (err)
		return;
	expect(r, !memcmp(&p.far, &row->far, sizeof(p.far)), "the memory of another row");
	expect(r, p.offset == row->offset + in && p.room == row->bytes - in, "offset and room");
}

static void run_random(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	enum torus_window_kind kind = seed & 1 ? TORUS_WINDOW_HIGH : TORUS_WINDOW_INDEX;
	struct torus_window *w = make(kind, seed & 1 ? 0 : SHIFT, ROWS);
	struct naive n = { .n = 0 };

	for (uint32_t i = 0; i < 500; i++) {
		put_or_drop(&r, w, kind, &n, i);
		for (int k = 0; k < 10; k++)
			look(&r, w, kind, &n);
	}
	torus_window_free(w);
}

static void addresses_give_memory_of_their_rows(void **state)
{
	(void)state;
	for_seeds(60, run_random);
}

/* Node i has the addresses from i << SHIFT on. */
static void address_has_node_in_window_without_table(void **state)
{
	const struct torus_window_row row = {
		.bytes = 1u << SHIFT, .far = { 3, TORUS_RMA_BY_ADDRESS, 0 }, .offset = 0x5000,
		.access = ALL,
	};
	struct torus_window *w = make(TORUS_WINDOW_ARITH, SHIFT, 5);
	struct torus_window_row keyed = row, far = row;
	struct torus_place p;

	(void)state;
	keyed.far.region = 1;
	assert_int_equal(torus_window_put(w, &keyed), -EINVAL);
	far.far.node = UINT32_MAX - 3;
	assert_int_equal(torus_window_put(w, &far), -ERANGE);
	assert_string_equal(torus_window_error(w), "node 4294967292: must be at most 4294967291");
	assert_int_equal(torus_window_put(w, &row), 0);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(torus_window_look(w, BASE + (i << SHIFT) + 8, 8, 1, &p), 0);
		assert_int_equal(p.far.node, 3 + i);
		assert_true(p.far.region == TORUS_RMA_BY_ADDRESS);
		assert_int_equal(p.offset, 0x5008);
	}
	assert_int_equal(torus_window_look(w, BASE + (5 << SHIFT), 8, 1, &p), -ENXIO);
	torus_window_free(w);
}

static void direct_window_has_one_row(void **state)
{
	const struct torus_window_row row = {
		.bytes = 100, .far = { 9, 8, 7 }, .offset = 50, .access = 1,
	};
	struct torus_window *w = make(TORUS_WINDOW_DIRECT, 0, 1);
	struct torus_place p;

	(void)state;
	assert_int_equal(torus_window_look(w, BASE, 1, 1, &p), -ENXIO);
	assert_int_equal(torus_window_put(w, &row), 0);
	assert_int_equal(torus_window_put(w, &row), -EEXIST);
	assert_int_equal(torus_window_look(w, BASE + 99, 1, 1, &p), 0);
	assert_int_equal(p.far.key, 7);
	assert_int_equal(p.offset, 149);
	assert_int_equal(torus_window_look(w, BASE + 99, 2, 1, &p), -ERANGE);
	assert_string_equal(torus_window_error(w),
			    "address 0x7f0000000063: 2 bytes: must be at most 1");
	assert_int_equal(torus_window_look(w, BASE + 99, 1, 3, &p), -EACCES);
	assert_string_equal(torus_window_error(w),
			    "address 0x7f0000000063: access 0x3: must be within 0x1");
	assert_int_equal(torus_window_look(w, BASE + 99, 1, 0x10001, &p), -EACCES);
	assert_int_equal(torus_window_drop(w, 0), 0);
	assert_int_equal(torus_window_look(w, BASE + 99, 1, 1, &p), -ENXIO);
	torus_window_free(w);
}

static void expect_refusal(enum torus_window_kind kind, uint64_t base, unsigned int bits,
			   unsigned int shift, uint32_t rows, const char *text)
{
	struct torus_window *w;

	assert_int_equal(torus_window_new(kind, base, bits, shift, rows, &w), -EINVAL);
	assert_null(w);
	assert_string_equal(torus_window_error(NULL), text);
}

static void wrong_window_is_refused_with_what_is_allowed(void **state)
{
	(void)state;
	expect_refusal((enum torus_window_kind)4, 0, 16, 0, 1, "kind 0x4: must be 0x0 to 0x3");
	expect_refusal(TORUS_WINDOW_HIGH, 0, 65, 0, 1, "bits 0x41: must be 0x1 to 0x40");
	expect_refusal(TORUS_WINDOW_HIGH, 8, 16, 0, 1, "base 0x8: must be a multiple of 0x10000");
	expect_refusal(TORUS_WINDOW_HIGH, 0, 16, 0, 0, "rows 0x0: must be 0x1 to 0x1000000");
	expect_refusal(TORUS_WINDOW_INDEX, 0, 16, 17, 1, "shift 0x11: must be 0x0 to 0x10");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_give_memory_of_their_rows),
		cmocka_unit_test(address_has_node_in_window_without_table),
		cmocka_unit_test(direct_window_has_one_row),
		cmocka_unit_test(wrong_window_is_refused_with_what_is_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
