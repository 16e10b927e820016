// SPDX-License-Identifier: GPL-2.0-only
#include "verify_fabric.h"

void note(void *arg, const struct torus_culprit *c)
{
	struct fabric *f = arg;

	f->reported[c->what]++;
	if (c->what != TORUS_WRONG_CYCLE)	/* reported last, for many rows */
		f->last = *c;
	else
		f->cycle = *c;
}

void begin(struct fabric *f, const char *shape)
{
	uint32_t i;

	memset(f, 0, sizeof(*f));
	assert_int_equal(torus_shape_parse(shape, &f->shape), 0);
	f->nodes = torus_nodes(&f->shape);
	assert_true(f->nodes <= NODES);
	for (i = 0; i < f->nodes; i++) {
		f->list[0][i] = f->rows[0][i];
		f->list[1][i] = f->rows[1][i];
	}
	f->tables[0].rows = f->list[0];
	f->tables[1].rows = f->list[1];
	f->tables[1].old = true;
}

void cut(struct fabric *f, uint32_t node, unsigned int port)
{
	f->excluded[node] |= (uint16_t)(1u << port);
	torus_exclusions_close(&f->shape, f->excluded);
}

void make_rows(struct fabric *f)
{
	struct torus_health *h;
	uint32_t i;

	memcpy(f->rows[1], f->rows[0], sizeof(f->rows[1]));
	assert_int_equal(torus_health_new(&f->shape, f->excluded, &h), 0);
	for (i = 0; i < f->nodes; i++)
		assert_true(torus_health_rows(h, i, TORUS_ROUTES_RELAY, f->rows[0][i]) >= 0);
	torus_health_free(h);
}

uint64_t steps(uint64_t dirs, uint64_t first, uint64_t last)
{
	return TORUS_ROW_VALID | dirs | first << TORUS_ROW_FIRST_SHIFT |
	       last << TORUS_ROW_LAST_SHIFT;
}

void verify(struct fabric *f, unsigned int n)
{
	struct torus_verify v = {
		.shape = &f->shape, .excluded = f->excluded, .tables = f->tables, .n = n,
		.culprit = note, .arg = f,
	};

	memset(f->reported, 0, sizeof(f->reported));
	assert_int_equal(torus_verify(&v, &f->found), 0);
}

void good(struct fabric *f, unsigned int n, uint64_t seed)
{
	verify(f, n);
	if (f->found.wrong || f->found.unroutable || f->found.cycles)
		fail_msg("SEED=%llu %u tables: %llu wrong, the last %u to %u: %s",
			 (unsigned long long)seed, n, (unsigned long long)f->found.wrong,
			 f->last.from, f->last.to, torus_wrong_text(f->last.what));
}

void expect(struct fabric *f, enum torus_wrong what, uint32_t from, uint32_t to)
{
	verify(f, 1);
	if (!f->reported[what])
		fail_msg("'%s' of %u to %u is not found (%llu wrong)", torus_wrong_text(what), from,
			 to, (unsigned long long)f->found.wrong);
	if (what != TORUS_WRONG_CYCLE) {
		assert_int_equal(f->last.what, what);
		assert_int_equal(f->last.from, from);
		assert_int_equal(f->last.to, to);
		assert_true(f->found.unroutable >= 1);
	}
	assert_true(f->found.wrong >= 1);
}
