// SPDX-License-Identifier: GPL-2.0-only
/* Coordinates and ids of the core, compared with explicit sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/core/topo.h"
#include "random.h"

/* Return: a shape of up to @most nodes. */
static struct torus_shape random_shape(uint64_t *seed, uint32_t most)
{
	struct torus_shape s = { .size = { 1, 1, 1, 1, 1, 1 } };
	unsigned int d;

	s.ndims = (u8)(1 + random_below(seed, TORUS_MAX_DIMS));
	for (d = 0; d < s.ndims; d++) {
		uint32_t max = most < TORUS_MAX_SIZE ? most : TORUS_MAX_SIZE;

		/* Small sizes as often as large ones. */
		if (random_below(seed, 2) && max > 4)
			max = 4;
		s.size[d] = (u16)(1 + random_below(seed, max));
		most /= s.size[d];
	}
	return s;
}

/* Return: x + X * (y + Y * (z + ...)), term by term. */
static u64 id_of(const struct torus_shape *s, const struct torus_coords *at)
{
	u64 id = 0, weight = 1;
	unsigned int d;

	for (d = 0; d < s->ndims; d++) {
		id += weight * at->c[d];
		weight *= s->size[d];
	}
	return id;
}

static void only_possible_shapes_have_nodes(void **state)
{
	static const struct {
		struct torus_shape shape;
		u32 nodes;
	} t[] = {
		{ { 1, { 1, 1, 1, 1, 1, 1 } }, 1 },
		{ { 1, { 4096, 1, 1, 1, 1, 1 } }, 4096 },
		{ { 2, { 4096, 4096, 1, 1, 1, 1 } }, 1 << 24 },
		{ { 6, { 16, 16, 16, 16, 16, 16 } }, 1 << 24 },
		{ { 6, { 2, 1, 3, 1, 5, 7 } }, 210 },
		{ { 0, { 1, 1, 1, 1, 1, 1 } }, 0 },
		{ { 7, { 1, 1, 1, 1, 1, 1 } }, 0 },
		{ { 255, { 1, 1, 1, 1, 1, 1 } }, 0 },
		{ { 1, { 0, 1, 1, 1, 1, 1 } }, 0 },
		{ { 1, { 4097, 1, 1, 1, 1, 1 } }, 0 },
		{ { 1, { 65535, 1, 1, 1, 1, 1 } }, 0 },
		{ { 2, { 4, 4, 4, 1, 1, 1 } }, 0 },
		{ { 2, { 4, 4, 0, 1, 1, 1 } }, 0 },
		{ { 3, { 4096, 4096, 2, 1, 1, 1 } }, 0 },
		{ { 6, { 16, 16, 16, 16, 16, 17 } }, 0 },
		{ { 6, { 4096, 4096, 4096, 4096, 4096, 4096 } }, 0 },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(t); i++)
		assert_int_equal(tn_shape_nodes(&t[i].shape), t[i].nodes);
}

static void each_id_has_its_coordinates(void **state)
{
	uint64_t seed = random_seed(1), was;
	unsigned int round, d;
	u32 id;

	(void)state;
	for (round = 0; round < 300; round++) {
		was = seed;
		struct torus_shape s = random_shape(&seed, 2000);
		u32 nodes = tn_shape_nodes(&s);
		struct torus_coords shadow = { { 0 } }, at;

		assert_in_range(nodes, 1, 2000);
		/* The model counts up like an odometer. */
		for (id = 0; id < nodes; id++) {
			memset(&at, 0xff, sizeof(at));
			tn_node_coords(&s, id, &at);
			if (memcmp(&at, &shadow, sizeof(at)) || tn_node_id(&s, &at) != id ||
			    id_of(&s, &at) != id)
				fail_msg("SEED=%llu id %u", (unsigned long long)was, id);
			for (d = 0; d < s.ndims; d++) {
				if (++shadow.c[d] < s.size[d])
					break;
				shadow.c[d] = 0;
			}
		}
	}
}

static void large_ids_have_their_coordinates(void **state)
{
	static const struct torus_shape shapes[] = {
		{ 2, { 4096, 4096, 1, 1, 1, 1 } },
		{ 6, { 16, 16, 16, 16, 16, 16 } },
		{ 3, { 128, 128, 64, 1, 1, 1 } },
		{ 4, { 3, 4095, 7, 180, 1, 1 } },
	};
	uint64_t seed = random_seed(2);
	struct torus_coords at;
	unsigned int i, k;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(shapes); i++) {
		u32 nodes = tn_shape_nodes(&shapes[i]);

		assert_int_not_equal(nodes, 0);
		for (k = 0; k < 20000; k++) {
			u32 id = k ? random_below(&seed, nodes) : nodes - 1;

			tn_node_coords(&shapes[i], id, &at);
			assert_int_equal(tn_node_id(&shapes[i], &at), id);
			assert_int_equal(id_of(&shapes[i], &at), id);
		}
	}
}

static void steps_and_opposite_steps_agree(void **state)
{
	uint64_t seed = random_seed(3);
	unsigned int round, dir, n;

	(void)state;
	for (round = 0; round < 2000; round++) {
		struct torus_shape s = random_shape(&seed, TORUS_MAX_NODES);
		struct torus_coords at, start, shadow;

		tn_node_coords(&s, random_below(&seed, tn_shape_nodes(&s)), &start);
		for (dir = 0; dir < 2u * s.ndims; dir++) {
			unsigned int d = dir % s.ndims, back = (dir + s.ndims) % (2u * s.ndims);
			int c = start.c[d] + (dir < s.ndims ? 1 : -1);

			assert_int_equal(tn_dir_dim(&s, dir), d);
			assert_int_equal(tn_dir_opposite(&s, dir), back);
			at = shadow = start;
			shadow.c[d] = (u16)((c + s.size[d]) % s.size[d]);
			tn_step(&s, &at, dir);
			assert_memory_equal(&at, &shadow, sizeof(at));
			tn_step(&s, &at, back);
			assert_memory_equal(&at, &start, sizeof(at));
			/* A walk round the ring ends where it began. */
			for (n = 0; n < s.size[d]; n++)
				tn_step(&s, &at, dir);
			assert_memory_equal(&at, &start, sizeof(at));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_possible_shapes_have_nodes),
		cmocka_unit_test(each_id_has_its_coordinates),
		cmocka_unit_test(large_ids_have_their_coordinates),
		cmocka_unit_test(steps_and_opposite_steps_agree),
	};

	return cmocka_run_group_tests_name("topo", tests, NULL, NULL);
}
