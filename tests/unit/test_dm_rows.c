// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows by D(1,m) addresses on tori with excluded cables, expanded to a row for each destination:
 * torus_verify() finds nothing wrong.
 */
#include <errno.h>

#include "random.h"
#include "verify_fabric.h"

/* The row of vertex @v to vertex @d that a NIC makes of its m rows. */
static uint64_t expanded_row(const struct torus_dm *dm, const uint64_t *rows, uint32_t v,
			     uint32_t d)
{
	unsigned int m = torus_dm_digits(dm);
	uint64_t row = rows[torus_dm_digit(m, torus_dm_address(dm, v), torus_dm_address(dm, d))];

	if ((row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK) == torus_dm_node(dm, d))
		row &= ~(TORUS_ROW_RELAY | TORUS_ROW_NODE_MASK << TORUS_ROW_RELAY_SHIFT);
	return row;
}

/* Makes the rows of all nodes of the component of @node. Return: number of digits. */
static unsigned int make_dm_rows(struct fabric *f, struct torus_health *h, uint32_t node,
				 const struct torus_dm_rule *rule)
{
	uint64_t rows[TORUS_DM_DIGITS_MAX];
	unsigned int m;
	struct torus_dm *dm;
	uint32_t members = 0;

	assert_int_equal(torus_dm_new_torus(h, node, rule, &dm), 0);
	m = torus_dm_digits(dm);
	for (uint32_t from = 0; from < f->nodes; from++) {
		uint32_t v = torus_dm_node_vertex(dm, from);

		if (v == TORUS_NO_NODE)
			continue;
		members++;
		assert_int_equal(torus_dm_node(dm, v), from);
		assert_int_equal(torus_dm_rows(dm, v, rows), 0);
		for (uint32_t to = 0; to < f->nodes; to++) {
			uint32_t d = torus_dm_node_vertex(dm, to);

			if (d != TORUS_NO_NODE)
				f->rows[0][from][to] = d == v ? NONE : expanded_row(dm, rows, v, d);
		}
		f->list[0][from] = f->rows[0][from];
	}
	assert_int_equal(torus_dm_rows(dm, members, rows), -EINVAL);
	torus_dm_free(dm);
	return m;
}

/* Return: the most digits of a component. */
static unsigned int make_all_rows(struct fabric *f, const struct torus_dm_rule *rule)
{
	struct torus_health *h;
	unsigned int most = 0;

	memset(f->rows[0], 0, sizeof(f->rows[0]));
	assert_int_equal(torus_health_new(&f->shape, f->excluded, &h), 0);
	for (uint32_t node = 0; node < f->nodes; node++)
		if (torus_health_component(h, node) == node) {
			unsigned int m = make_dm_rows(f, h, node, rule);

			most = m > most ? m : most;
		}
	torus_health_free(h);
	return most;
}

static void rows_of_healthy_torus_reach_all_pairs(void **state)
{
	static const char *const shapes[] = { "4x4x4", "8x8", "64", "3x5", "2x2x2x2x2x2", "7x1x3", "1" };
	static struct fabric f;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		unsigned int m;

		begin(&f, shapes[i]);
		m = make_all_rows(&f, NULL);
		good(&f, 1, 0);
		assert_true(f.found.legs_max <= (m ? m : 1));
		assert_int_equal(f.found.unroutable, 0);
	}
}

/* Many cables are excluded, so that nodes are apart and no header leads to some halves. */
static void rows_after_faults_lead_only_over_working_cables(void **state)
{
	static const char *const shapes[] = { "4x4x4", "8x8", "4x4", "3x5", "2x3x4", "16" };
	static struct fabric f;
	uint64_t seed = random_seed(3), was, apart = 0, far = 0;
	unsigned int rounds = getenv("EVERY") ? 10 : 60;

	(void)state;
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		for (unsigned int round = 0; round < rounds; round++) {
			const struct torus_dm_rule rule = {
				.match = round & 1 ? TORUS_DM_DOMINANT : TORUS_DM_EXACT };
			unsigned int m, cuts;

			was = seed;
			begin(&f, shapes[i]);
			cuts = random_below(&seed, 2 * f.nodes);
			while (cuts--)
				cut(&f, random_below(&seed, f.nodes),
				    random_below(&seed, 2u * f.shape.ndims));
			m = make_all_rows(&f, &rule);
			good(&f, 1, was);
			assert_int_equal(f.found.unroutable, 0);
			apart += f.found.apart;
			far += f.found.legs_max > m;
		}
	/* Legs of one hop may make a path longer than its digits. */
	assert_true(apart > 0 && far > 0);
}

static void addresses_from_unknown_node_are_refused(void **state)
{
	struct torus_shape s;
	struct torus_health *h;
	struct torus_dm *dm;

	(void)state;
	assert_int_equal(torus_shape_parse("4x4", &s), 0);
	assert_int_equal(torus_health_new(&s, NULL, &h), 0);
	assert_int_equal(torus_dm_new_torus(h, 16, NULL, &dm), -EINVAL);
	torus_health_free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_healthy_torus_reach_all_pairs),
		cmocka_unit_test(rows_after_faults_lead_only_over_working_cables),
		cmocka_unit_test(addresses_from_unknown_node_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
