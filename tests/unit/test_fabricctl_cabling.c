// SPDX-License-Identifier: GPL-2.0-only
/* The steps from the cables that are there to those that are wanted: done, they lead there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/seeds.h"
#include "tools/fabricctl/cabling.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/json.h"

#define ENDS_MAX 256

const struct program this_program = { .name = "test_fabricctl_cabling" };

/** struct pile - cables as people see them: two ends each */
struct pile {
	uint32_t end[ENDS_MAX][2], n;
};

static void pile_of(const struct cables *c, struct pile *p)
{
	p->n = 0;
	for (uint32_t e = 0; e < c->ends; e++)
		if (c->far[e] != CABLE_NONE && c->far[e] > e) {
			p->end[p->n][0] = e;
			p->end[p->n++][1] = c->far[e];
		}
}

/* Cables that were there before any step: an end may be taken by two while cables are moved. */
static void do_step(struct pile *p, const struct pile *before, const struct cables *c, const json_t *step)
{
	uint32_t at = cables_end_read(c, json_object_get(step, "at"));
	uint32_t to = cables_end_read(c, json_object_get(step, "to"));
	const char *what = json_text(step, "do");

	if (!strcmp(what, "plug")) {
		p->end[p->n][0] = at;
		p->end[p->n++][1] = to;
		return;
	}
	for (uint32_t i = 0; i < before->n; i++)
		for (unsigned int k = 0; k < 2; k++) {
			if (before->end[i][k] != at)
				continue;
			if (!strcmp(what, "move"))
				p->end[i][k] = to;
			else
				p->end[i][0] = p->end[i][1] = CABLE_NONE;
			return;
		}
	fail_msg("no cable at the end that is to be moved");
}

static unsigned int ends_up(const struct cables *wanted, const struct cables *is)
{
	json_t *steps = cables_steps(wanted, is), *v;
	struct pile before, p;
	uint32_t good = 0, all = 0;
	unsigned int n = (unsigned int)json_array_size(steps);
	size_t i;

	pile_of(is, &before);
	p = before;
	json_array_foreach(steps, i, v)
		do_step(&p, &before, wanted, v);
	for (uint32_t k = 0; k < p.n; k++) {
		if (p.end[k][0] == CABLE_NONE)
			continue;
		assert_int_equal(wanted->far[p.end[k][0]], p.end[k][1]);
		assert_int_equal(wanted->far[p.end[k][1]], p.end[k][0]);
		good++;
	}
	for (uint32_t e = 0; e < wanted->ends; e++)
		all += wanted->far[e] != CABLE_NONE;
	assert_int_equal(2 * good, all);
	json_decref(steps);
	return n;
}

static void ends_to_move_for_swapped_cables_are_counted(void **state)
{
	struct torus_shape shape;
	struct cables wanted, is;

	(void)state;
	torus_shape_parse("4x4", &shape);
	assert_true(cables_new(&wanted, &shape) && cables_new(&is, &shape));
	cables_torus(&wanted);
	cables_torus(&is);
	assert_int_equal(ends_up(&wanted, &is), 0);
	/* Two cables are swapped: two ends are moved, and nothing else. 0:+x and 4:+x are 0 and 16. */
	is.far[0] = wanted.far[16];
	is.far[16] = wanted.far[0];
	is.far[wanted.far[16]] = 0;
	is.far[wanted.far[0]] = 16;
	assert_int_equal(ends_up(&wanted, &is), 2);
	/* One of the two cables is not plugged in. */
	is.far[is.far[1]] = CABLE_NONE;
	is.far[1] = CABLE_NONE;
	assert_int_equal(ends_up(&wanted, &is), 3);
	assert_false(cables_join(&is, 0, 2));
	assert_false(cables_join(&is, 1, 1));
	assert_true(cables_join(&is, 0, wanted.far[16]));
	cables_free(&wanted);
	cables_free(&is);
}

/* Any cables, and any that are wanted. */
static void random_cabling_against_random_plan(void **state)
{
	static const char *const shapes[] = { "3", "2x2", "4x3", "3x2x2", "1x4" };

	(void)state;
	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct rnd r = rnd_new(seed);
		struct torus_shape shape;
		struct cables c[2];

		torus_shape_parse(shapes[seed % 5], &shape);
		assert_true(cables_new(&c[0], &shape) && cables_new(&c[1], &shape));
		if (seed % 2)
			cables_torus(&c[0]);
		for (unsigned int k = seed % 2; k < 2; k++)
			for (uint32_t i = 0; i < 2 * c[k].ends; i++)
				cables_join(&c[k], rnd_below(&r, c[k].ends), rnd_below(&r, c[k].ends));
		ends_up(&c[0], &c[1]);
		cables_free(&c[0]);
		cables_free(&c[1]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_to_move_for_swapped_cables_are_counted),
		cmocka_unit_test(random_cabling_against_random_plan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
