// SPDX-License-Identifier: GPL-2.0-only
/*
 * The usable part of a torus (lib/route/health.h), compared with a table of dead cables: runs of
 * hops, reach, components, and the effects of changes. Rings are short, or longer than a machine
 * word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "lib/route/health.h"
#include "naive.h"
#include "random.h"

static const char *const shapes[] = {
	"1", "2", "3", "5", "63", "64", "65", "128", "130", "200", "1x1", "2x2", "1x5", "5x1",
	"4x4", "70x3", "3x70", "2x128", "2x2x2", "4x3x2", "3x1x65", "2x3x4x5", "2x2x2x2x2x2",
};

struct both {
	struct model m;
	struct torus_health *h;
};

/* Return: true if a cable is excluded in the ring of @node along @d. */
static bool hurt(const struct model *m, uint32_t node, unsigned int d)
{
	for (unsigned int i = 0; i < m->shape.size[d]; i++, node = m->next[node][d])
		if (m->shape.size[d] > 1 && dead(m, node, d))
			return true;
	return false;
}

/* Return: hops along @port from @node to the first dead cable; the whole ring if there is none. */
static unsigned int reach(const struct model *m, uint32_t node, unsigned int port)
{
	unsigned int n = 0;

	for (; n < m->shape.size[port % m->n] && !dead(m, node, port); n++)
		node = m->next[node][port];
	return n;
}

static void check_runs(const struct both *b, uint32_t node)
{
	struct torus_coords at;

	torus_node_coords(&b->m.shape, node, &at);
	for (unsigned int p = 0; p < 2 * b->m.n; p++) {
		unsigned int size = b->m.shape.size[p % b->m.n], far;

		assert_int_equal(torus_health_cut(b->h, node, p), dead(&b->m, node, p));
		if (size < 2)
			continue;
		far = reach(&b->m, node, p);
		assert_int_equal(lt_reach(b->h, &at, p), far);
		for (unsigned int hops = 0; hops <= size; hops++)
			assert_int_equal(lt_run_ok(b->h, &at, p, hops), hops <= far);
	}
}

static void check_hurt(const struct both *b, uint32_t node)
{
	for (unsigned int d = 0; d < b->m.n; d++) {
		uint64_t word = lt_hurt_word(b->h, node, d);

		for (unsigned int i = 0; i < 64 && node + i < b->m.nodes; i++)
			assert_int_equal(word >> i & 1, hurt(&b->m, node + i, d));
		assert_int_equal(lt_hurt(b->h, node, d), hurt(&b->m, node, d));
	}
}

/* The only node of a torus is not isolated. */
static bool isolated(const struct model *m, uint32_t node)
{
	if (m->nodes == 1)
		return false;
	for (unsigned int p = 0; p < 2 * m->n; p++)
		if (!dead(m, node, p))
			return false;
	return true;
}

/** struct levels - of a search, which ends after @left of them with @ret */
struct levels {
	const struct model *m;
	uint32_t away[NODES_MAX], at, seen;
	unsigned int left;
	int ret;
};

static int check_level(void *arg, const uint32_t *node, uint32_t n)
{
	struct levels *s = arg;
	uint32_t want = 0;

	s->at++;
	for (uint32_t i = 0; i < s->m->nodes; i++)
		want += s->away[i] == s->at;
	assert_int_equal(n, want);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(s->away[node[i]], s->at);
		s->away[node[i]] = NEVER;	/* each node is found once */
	}
	s->seen += n;
	return --s->left ? 0 : s->ret;
}

static void check_spread(struct both *b, uint32_t from)
{
	struct levels s = { .m = &b->m, .left = 1000 };
	uint32_t all = 0;

	/* Searches have numbers, which wrap around. */
	if (from % 5 == 0 && b->h->round)
		b->h->round = UINT32_MAX;
	flood(&b->m, from, s.away);
	for (uint32_t i = 0; i < b->m.nodes; i++)
		all += i != from && s.away[i] != NEVER;
	assert_int_equal(lt_spread(b->h, from, check_level, &s), 0);
	assert_int_equal(s.seen, all);
	if (!all)
		return;
	s = (struct levels){ .m = &b->m, .left = 1, .ret = 7 };
	flood(&b->m, from, s.away);
	assert_int_equal(lt_spread(b->h, from, check_level, &s), 7);
	assert_int_equal(s.at, 1);
}

static void check_components(struct both *b, uint32_t node)
{
	uint32_t away[NODES_MAX], lowest = 0;

	flood(&b->m, node, away);
	while (away[lowest] == NEVER)
		lowest++;
	for (uint32_t i = 0; i < b->m.nodes; i += 1 + b->m.nodes / 32)
		assert_int_equal(lt_apart(b->h, node, i), away[i] == NEVER);
	assert_int_equal(torus_health_component(b->h, node), lowest);
	assert_int_equal(lt_isolated(b->h, node), isolated(&b->m, node));
}

static bool listed(const struct torus_cable *c, uint32_t n, uint32_t node, unsigned int d)
{
	unsigned int times = 0;

	for (; n--; c++)
		times += c->node == node && c->dim == d;
	assert_true(times < 2);
	return times;
}

static void check_faults(const struct both *b)
{
	const struct torus_cable *list;
	uint32_t n = torus_health_faults(b->h, &list), want = 0;

	for (uint32_t node = 0; node < b->m.nodes; node++)
		for (unsigned int p = 0; p < 2 * b->m.n; p++) {
			bool is = b->m.shape.size[p % b->m.n] > 1 && dead(&b->m, node, p);
			uint32_t far = b->m.next[node][p];

			assert_int_equal(torus_health_disagree(b->h, node, p),
					 (b->m.reported[node] >> p & 1) !=
					 (b->m.reported[far] >> back(&b->m, p) & 1));
			if (p >= b->m.n)
				continue;
			assert_int_equal(listed(list, n, node, p), is);
			want += is;
		}
	assert_int_equal(n, want);
	assert_int_equal(torus_health_faults(b->h, NULL), want);
}

/* A new report of a node changes the right cables, and returns each of them once. */
static void change(struct both *b, unsigned int density, bool tell)
{
	struct torus_cable changed[TORUS_MAX_PORTS];
	uint32_t node = random_below(&b->m.seed, b->m.nodes);
	uint16_t ports = 0;
	bool was[2 * DIMS];
	unsigned int count = 0;
	int n;

	for (unsigned int p = 0; p < 2 * b->m.n; p++) {
		was[p] = dead(&b->m, node, p);
		ports |= (uint16_t)((random_below(&b->m.seed, 100) < density) << p);
	}
	b->m.reported[node] = ports;
	n = torus_health_set(b->h, node, ports, tell ? changed : NULL);
	for (unsigned int p = 0; p < 2 * b->m.n; p++) {
		bool is = dead(&b->m, node, p) != was[p];

		count += is;
		if (is && tell)
			assert_true(listed(changed, (uint32_t)n,
					   p < b->m.n ? node : b->m.next[node][p], p % b->m.n));
	}
	assert_int_equal(n, count);
}

static void check_all(struct both *b)
{
	unsigned int step = b->m.nodes > 64 ? 5 : 1;

	/* Beyond the last node, and beyond the last port. */
	assert_true(torus_health_cut(b->h, b->m.nodes, 0) && torus_health_cut(b->h, 0, 2 * b->m.n));
	assert_false(torus_health_disagree(b->h, b->m.nodes, 0) ||
		     torus_health_disagree(b->h, 0, 2 * b->m.n));
	assert_int_equal(torus_health_set(b->h, b->m.nodes, 0, NULL), -EINVAL);
	assert_int_equal(torus_health_component(b->h, b->m.nodes), TORUS_NO_NODE);
	check_faults(b);
	for (uint32_t node = random_below(&b->m.seed, step); node < b->m.nodes; node += step) {
		check_runs(b, node);
		check_hurt(b, node);
		check_spread(b, node);
		check_components(b, node);
	}
}

static void random_changes_equal_model_of_health(void **state)
{
	static struct both b;
	uint64_t seed = random_seed(1);

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		model_make(&b.m, shapes[i]);
		b.m.seed = seed;
		assert_int_equal(torus_health_new(&b.m.shape, NULL, &b.h), 0);
		check_all(&b);
		for (unsigned int round = 0; round < 4; round++) {
			/* The number of dead cables goes from few to many, and back. */
			for (unsigned int n = 0; n < 4 + b.m.nodes / 2; n++)
				change(&b, round == 3 ? 0 : 10 + 25 * round, n % 3);
			check_all(&b);
		}
		torus_health_free(b.h);
	}
}

/*
 * A health made from the reports of all nodes equals one that was changed to them, whatever the
 * reports say of ports that do not exist.
 */
static void health_made_at_once_equals_changed_one(void **state)
{
	static struct both b;
	uint64_t seed = random_seed(2);

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		uint16_t reported[NODES_MAX], closed[NODES_MAX];
		unsigned int all;

		model_make(&b.m, shapes[i]);
		b.m.seed = seed;
		all = (1u << 2 * b.m.n) - 1;
		for (uint32_t node = 0; node < b.m.nodes; node++) {
			reported[node] = (uint16_t)(random_below(&seed, 4) ? ~all :
						    random_next(&seed) & random_next(&seed));
			b.m.reported[node] = closed[node] = reported[node] & (uint16_t)all;
		}
		assert_int_equal(torus_health_new(&b.m.shape, reported, &b.h), 0);
		check_all(&b);
		torus_health_free(b.h);
		torus_exclusions_close(&b.m.shape, closed);
		for (uint32_t node = 0; node < b.m.nodes; node++)
			for (unsigned int p = 0; p < 2 * b.m.n; p++)
				assert_int_equal(closed[node] >> p & 1, b.m.reported[node] >> p & 1 ||
						 b.m.reported[b.m.next[node][p]] >> back(&b.m, p) & 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes_equal_model_of_health),
		cmocka_unit_test(health_made_at_once_equals_changed_one),
	};

	return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
