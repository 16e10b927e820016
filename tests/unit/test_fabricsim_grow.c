// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim grow: messages and times of healthy tori, and random histories with dead nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/naive_grow.h"
#include "tests/unit/program.h"
#include "tests/unit/random.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/grow_run.h"

const struct program this_program = { .name = "test_fabricsim_grow" };

static int64_t whole_at(json_t *points, size_t i, const char *key)
{
	json_t *v = json_object_get(json_array_get(points, i), key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static void messages_to_grow_equal_known_values(void **state)
{
	static const struct {
		double messages;
		int hop_times;
	} want[] = { { 1.75, 4 }, { 4.34, 22 }, { 11.5, 80 }, { 20.2, 642 } };
	json_t *all, *points;

	(void)state;
	expect("grow --json", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_array_size(points), 4);
	for (size_t i = 0; i < 4; i++) {
		json_t *p = json_array_get(points, i);

		assert_float_equal(json_real_value(json_object_get(p, "messages_per_node")),
				   want[i].messages, 0.051);
		assert_int_equal(whole_at(points, i, "hop_times"), want[i].hop_times);
		assert_int_equal(whole_at(points, i, "members"), whole_at(points, i, "nodes"));
		assert_true(json_is_true(json_object_get(p, "over")));
	}
	assert_int_equal(whole_at(points, 1, "propagate"), 163);
	assert_int_equal(whole_at(points, 1, "refuse"), 29);
	assert_int_equal(whole_at(points, 1, "done"), 86);
	/* Messages are answered by others, except for the last one of each member, START. */
	assert_int_equal(whole_at(points, 1, "ack"), 63);
	assert_int_equal(whole_at(points, 3, "ack"), 511);
	json_decref(all);
}

/* Return: number of live nodes that are connected with node 0. */
static uint32_t count_reached(const struct torus_shape *s, const bool *dead)
{
	uint32_t queue[256], head = 0, tail = 0;
	bool met[256] = { true };

	queue[tail++] = 0;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (unsigned int p = 0; p < 2u * s->ndims; p++) {
			uint32_t to = torus_neighbour(s, at, p);

			if (met[to] || dead[to])
				continue;
			met[to] = true;
			queue[tail++] = to;
		}
	}
	return tail;
}

/*
 * As many members as possible, and at the end the root knows exactly how many, with the messages and
 * the times of the rules alone.
 */
static void random_growths_reach_all_and_obey_rules(void **state)
{
	static const char *const shapes[] = { "4x4x4", "8x8", "5x3", "2x2x2", "1", "2", "16", "3x1x2x4" };
	uint64_t seed = random_seed(18);

	(void)state;
	for (int i = 0; i < 2000; i++) {
		struct grow_case c = { .jitter = random_below(&seed, 8), .seed = random_next(&seed) };
		struct grow_result r, naive;
		bool dead[256] = { false };
		uint32_t nodes, can;

		assert_int_equal(torus_shape_parse(shapes[i % 8], &c.shape), 0);
		nodes = torus_nodes(&c.shape);
		for (uint32_t k = random_below(&seed, nodes * 2 / 3 + 1); k; k--)
			dead[random_below(&seed, nodes)] = true;
		dead[0] = false;
		c.dead = dead;
		c.ask = 1 + random_below(&seed, nodes + 4);
		can = count_reached(&c.shape, dead);
		assert_int_equal(grow_run(&c, &r), 0);
		assert_int_equal(r.members, c.ask < can ? c.ask : can);
		assert_int_equal(r.counted, r.members);
		assert_int_equal(r.missing, c.ask - r.members);
		assert_true(r.over);
		assert_int_equal(naive_grow(&c, &naive), 0);
		assert_int_equal(naive.members, r.members);
		assert_int_equal(naive.hop_times, r.hop_times);
		for (int k = 0; k < FM_GROWTH_KINDS; k++)
			if (grow_searches((enum fm_growth_kind)k))
				assert_int_equal(naive.messages[k], r.messages[k]);
	}
}

static void grow_options_are_used_or_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "--shape 4x", "--shape '4x'" },
		{ "--shape 64x64x64", "262144 nodes, must have at most 65536" },
		{ "--shape 4 --dead-nodes 4", "the first is alive" },
		{ "--nodes 0", "nodes" },
	};
	json_t *all;

	(void)state;
	expect("grow --shape 4x4x4 --nodes 64 --dead-nodes 39 --jitter 5 --json", OK);
	all = printed();
	assert_true(whole_at(json_object_get(all, "points"), 0, "members") <= 25);
	json_decref(all);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char line[128];

		snprintf(line, sizeof(line), "grow %s", bad[i][0]);
		expect(line, CANNOT);
		has(err, bad[i][1]);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_to_grow_equal_known_values),
		cmocka_unit_test(random_growths_reach_all_and_obey_rules),
		cmocka_unit_test(grow_options_are_used_or_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
