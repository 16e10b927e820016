// SPDX-License-Identifier: GPL-2.0-only
/*
 * The router's choice, hop by hop, compared with a model that computes all hops of a header at
 * once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/core/route.h"
#include "random.h"

#define HOPS_MAX 4096

/**
 * struct shadow - all hops of a header
 * @end: TN_ROUTE_HERE or TN_ROUTE_LOST
 */
struct shadow {
	u8 dir[HOPS_MAX];
	unsigned int n;
	unsigned int end;
};

static void shadow_go(const struct torus_shape *s, struct shadow *h,
		      struct torus_coords *at, unsigned int dir)
{
	unsigned int d = dir % s->ndims;

	assert_true(h->n < HOPS_MAX);
	h->dir[h->n++] = (u8)dir;
	at->c[d] = (u16)((at->c[d] + (dir < s->ndims ? 1 : s->size[d] - 1)) % s->size[d]);
}

static void shadow_run(const struct torus_shape *s, struct torus_coords at,
		       const struct tn_path *p, struct shadow *h)
{
	struct torus_coords goal;
	unsigned int dir, d;

	h->n = 0;
	tn_node_coords(s, p->dst, &goal);
	if (p->last != 15)
		goal.c[p->last % s->ndims] = (u16)
			((goal.c[p->last % s->ndims] +
			  (p->last < s->ndims ? s->size[p->last % s->ndims] - 1 : 1)) %
			 s->size[p->last % s->ndims]);
	if (p->first != 15)
		shadow_go(s, h, &at, p->first);
	/* A dimension that was finished is never entered again: one pass in order is enough. */
	for (dir = 0; dir < 2u * s->ndims; dir++)
		while (p->dir >> dir & 1 && at.c[dir % s->ndims] != goal.c[dir % s->ndims])
			shadow_go(s, h, &at, dir);
	h->end = TN_ROUTE_HERE;
	for (d = 0; d < s->ndims; d++)
		if (at.c[d] != goal.c[d])
			h->end = TN_ROUTE_LOST;
	if (h->end == TN_ROUTE_HERE && p->last != 15)
		shadow_go(s, h, &at, p->last);
}

static void compare(const struct torus_shape *s, u32 from, struct tn_path path,
		    uint64_t seed)
{
	static struct shadow h;
	struct torus_coords at;
	unsigned int i, dir;

	tn_node_coords(s, from, &at);
	shadow_run(s, at, &path, &h);
	for (i = 0; i <= h.n; i++) {
		dir = tn_route_next(s, &at, &path);
		if (dir != (i < h.n ? h.dir[i] : h.end))
			fail_msg("SEED=%llu hop %u from %u: %u, expected %u",
				 (unsigned long long)seed, i, from, dir,
				 i < h.n ? h.dir[i] : h.end);
		if (i == h.n)
			break;
		tn_route_leave(s, &at, &path, dir);
		tn_step(s, &at, dir);
	}
	if (h.end == TN_ROUTE_HERE)
		assert_int_equal(tn_node_id(s, &at), path.dst);
}

static u8 random_step(uint64_t *seed, const struct torus_shape *s)
{
	u32 v = random_below(seed, 4u * s->ndims);

	return v < 2u * s->ndims ? (u8)v : TORUS_ROW_NO_STEP;
}

static void random_headers_follow_their_order(void **state)
{
	static const struct torus_shape shapes[] = {
		{ 3, { 4, 4, 4, 1, 1, 1 } }, { 1, { 5, 1, 1, 1, 1, 1 } },
		{ 2, { 2, 2, 1, 1, 1, 1 } }, { 6, { 2, 3, 1, 4, 2, 3 } },
		{ 2, { 9, 7, 1, 1, 1, 1 } }, { 3, { 1, 1, 2, 1, 1, 1 } },
	};
	uint64_t seed = random_seed(1), was;
	unsigned int i, round;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		const struct torus_shape *s = &shapes[i];
		u32 nodes = tn_shape_nodes(s);

		for (round = 0; round < 20000; round++) {
			was = seed;
			u32 from = random_below(&seed, nodes);
			struct tn_path path = {
				.dst = random_below(&seed, nodes),
				.dir = (u16)random_below(&seed, 1u << 2 * s->ndims),
				.first = random_step(&seed, s),
				.last = random_step(&seed, s),
			};

			compare(s, from, path, was);
		}
	}
}

/* Headers that no manager makes: the router must still return a valid answer. */
static void malformed_header_gets_valid_answer(void **state)
{
	uint64_t seed = random_seed(2);
	unsigned int round, dir, hops;

	(void)state;
	for (round = 0; round < 100000; round++) {
		struct torus_shape s = { .ndims = (u8)(1 + random_below(&seed, 3)),
					 .size = { 1, 1, 1, 1, 1, 1 } };
		struct tn_path path = {
			.dst = random_below(&seed, 1 << 24),
			.dir = (u16)random_below(&seed, 1 << 12),
			.first = (u8)random_below(&seed, 16),
			.last = (u8)random_below(&seed, 16),
		};
		struct torus_coords at;
		unsigned int d;

		for (d = 0; d < s.ndims; d++)
			s.size[d] = (u16)(1 + random_below(&seed, 5));
		if (random_below(&seed, 2))
			path.dst %= tn_shape_nodes(&s);
		tn_node_coords(&s, random_below(&seed, tn_shape_nodes(&s)), &at);
		for (hops = 0; ; hops++) {
			dir = tn_route_next(&s, &at, &path);
			if (dir == TN_ROUTE_HERE || dir == TN_ROUTE_LOST)
				break;
			assert_true(dir < 2u * s.ndims);
			assert_true(hops < 2 + 3 * 5);
			tn_route_leave(&s, &at, &path, dir);
			tn_step(&s, &at, dir);
		}
		if (path.dst >= tn_shape_nodes(&s))
			assert_int_equal(dir, TN_ROUTE_LOST);
		else if (dir == TN_ROUTE_HERE)
			assert_int_equal(tn_node_id(&s, &at), path.dst);
	}
}

/* An adaptive packet may leave by a port that its header does not name: then nothing changes. */
static void leaving_by_unnamed_port_changes_nothing(void **state)
{
	struct torus_shape s = { 2, { 4, 4, 1, 1, 1, 1 } };
	struct torus_coords at = { { 0, 0 } };
	struct tn_path path = { .dst = 5, .dir = 3, .first = 0, .last = 1 }, was = path;

	(void)state;
	tn_route_leave(&s, &at, &path, 1);
	assert_memory_equal(&path, &was, sizeof(path));
	tn_route_leave(&s, &at, &path, 0);
	assert_int_equal(path.first, TORUS_ROW_NO_STEP);
	/* +y is the last step, but at 0,0 its turn has not come yet. */
	tn_route_leave(&s, &at, &path, 1);
	assert_int_equal(path.last, 1);
	at.c[0] = 1;
	tn_route_leave(&s, &at, &path, 1);
	assert_int_equal(path.last, TORUS_ROW_NO_STEP);
}

static void path_of_row_has_its_directions(void **state)
{
	struct tn_path p = tn_path_of_row(7, TORUS_ROW_VALID | TORUS_ROW_HOLD |
					  0xabcull | 3ull << 12 | 11ull << 16 | 0xfffull << 20 |
					  0xffffffull << 32);

	(void)state;
	assert_int_equal(p.dst, 7);
	assert_int_equal(p.dir, 0xabc);
	assert_int_equal(p.first, 3);
	assert_int_equal(p.last, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_headers_follow_their_order),
		cmocka_unit_test(malformed_header_gets_valid_answer),
		cmocka_unit_test(leaving_by_unnamed_port_changes_nothing),
		cmocka_unit_test(path_of_row_has_its_directions),
	};

	return cmocka_run_group_tests_name("route", tests, NULL, NULL);
}
