// SPDX-License-Identifier: GPL-2.0-only
/*
 * The destinations that a channel matters to, computed as a box (lib/route/box.h), compared with
 * checking each destination by itself, on small shapes: every node, every channel.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <torus/topology.h>
#include "lib/route/box.h"
#include "naive.h"
#include "random.h"

static const char *const shapes[] = {
	"1", "2", "3", "4", "5", "6", "9", "1x1", "2x2", "1x4", "4x1", "3x2", "2x5", "4x4", "6x3",
	"5x5", "2x2x2", "1x3x4", "4x3x2", "2x4x4", "3x1x3", "6x2x4", "2x2x2x2", "3x2x1x4",
	"2x1x2x3x2", "2x2x1x2x2x2", "70x2", "2x66",
};

/** struct sets - sets of destinations of one node, one bit per channel for each */
struct sets {
	struct model m;
	struct torus_health *h;
	uint32_t from;
	struct torus_coords at;
	uint64_t path[NODES_MAX][2 * DIMS][NODES_MAX / 64];
	uint64_t escape[NODES_MAX][2 * DIMS][NODES_MAX / 64];
	uint64_t tie[NODES_MAX][2 * DIMS][NODES_MAX / 64];
	uint64_t got[NODES_MAX / 64];
};

static void add(uint64_t *set, uint32_t node)
{
	set[node / 64] |= 1ull << node % 64;
}

/* Does the same for packets that may take either way half round a ring, once for each way. */
static void look_ties(struct sets *s, uint32_t to)
{
	unsigned int ways = half_apart(&s->m, s->from, to), dirs = plain_dirs(&s->m, s->from, to);
	struct visit visit[NODES_MAX];

	for (unsigned int flip = 0; ways && flip <= ways; flip++) {
		unsigned int n = flip & ~ways ? 0 : visits(&s->m, s->from, to,
							    dirs ^ (flip | flip << s->m.n), visit);

		while (n--)
			add(s->tie[visit[n].node][visit[n].port], to);
	}
}

/*
 * Finds, for each destination, the channels of its packets, and those on which adaptive packets may
 * rely.
 */
static void look(struct sets *s)
{
	struct visit visit[NODES_MAX];

	memset(s->path, 0, sizeof(s->path));
	memset(s->escape, 0, sizeof(s->escape));
	memset(s->tie, 0, sizeof(s->tie));
	torus_node_coords(&s->m.shape, s->from, &s->at);
	for (uint32_t to = 0; to < s->m.nodes; to++) {
		struct head plain = { plain_dirs(&s->m, s->from, to), NO_STEP, NO_STEP };
		uint32_t n = travel_by(&s->m, s->from, to, &plain, visit);

		while (n--)
			add(s->path[visit[n].node][visit[n].port], to);
		for (n = visits(&s->m, s->from, to, plain.dirs, visit); n--; )
			add(s->escape[visit[n].node][visit[n].port], to);
		look_ties(s, to);
	}
}

static void gather(void *arg, const struct patch *p)
{
	struct sets *s = arg;

	assert_true(p->n > 0 && p->lines > 0);
	for (uint32_t i = 0; i < p->lines; i++)
		for (uint32_t j = 0; j < p->n; j++) {
			uint32_t to = p->first + i * p->stride + j;

			assert_true(to < s->m.nodes);
			assert_false(s->got[to / 64] >> to % 64 & 1);	/* no row is given twice */
			add(s->got, to);
		}
}

/* Compares what was gathered with @want. */
static void compare(const struct sets *s, const char *what, const uint64_t *want,
		    const struct channel *ch)
{
	for (uint32_t to = 0; to < s->m.nodes; to++)
		if ((s->got[to / 64] ^ want[to / 64]) >> to % 64 & 1)
			fail_msg("%u dimensions, of %u nodes: %s of %u by port %u of %u: %u is %s",
				 s->m.n, s->m.nodes, what, s->from, ch->dir,
				 torus_node_id(&s->m.shape, &ch->at), to,
				 want[to / 64] >> to % 64 & 1 ? "missing" : "too many");
}

static void check(struct sets *s, const char *what, bool some, const struct box *box,
		  const uint64_t *want, const struct channel *ch)
{
	memset(s->got, 0, sizeof(s->got));
	if (some)
		lt_box_each(s->h, &s->at, box, gather, s);
	compare(s, what, want, ch);
}

/* Checks the destinations of an escape box that are half way round in each dimension. */
static void check_ties(struct sets *s, bool some, const struct box *box, const uint64_t *escape,
		       const uint64_t *tie, const struct channel *ch)
{
	uint64_t want[NODES_MAX / 64];

	for (unsigned int d = 0; d < s->m.n; d++) {
		memset(s->got, 0, sizeof(s->got));
		memset(want, 0, sizeof(want));
		if (some)
			lt_box_each_tie(s->h, &s->at, box, d, gather, s);
		for (uint32_t to = 0; to < s->m.nodes; to++)
			if (half_apart(&s->m, s->from, to) >> d & 1 &&
			    (escape[to / 64] | tie[to / 64]) >> to % 64 & 1)
				add(want, to);
		compare(s, "ties", want, ch);
	}
}

/*
 * Checks that an escape box has the destinations of @escape, and those of @tie that are half way
 * round.
 */
static void check_escape(struct sets *s, bool some, const struct box *box, const uint64_t *escape,
			 const uint64_t *tie, const struct channel *ch)
{
	uint64_t want[NODES_MAX / 64];
	struct box narrow = *box;

	for (unsigned int i = 0; i < NODES_MAX / 64; i++)
		want[i] = escape[i] | tie[i];
	check(s, "escapes", some, box, want, ch);
	check_ties(s, some, box, escape, tie, ch);
	if (some)
		lt_box_narrow(s->h, &narrow);
	check(s, "escapes of rows", some, &narrow, escape, ch);
	for (uint32_t to = 0; some && to < s->m.nodes; to++)
		if (want[to / 64] >> to % 64 & 1)
			assert_int_equal(!(plain_dirs(&s->m, s->from, to) & box->other),
					 escape[to / 64] >> to % 64 & 1);
}

static struct channel channel_of(const struct sets *s, uint32_t node, unsigned int dir)
{
	struct channel ch = { .dir = (uint8_t)dir };

	torus_node_coords(&s->m.shape, node, &ch.at);
	return ch;
}

/* Compares the boxes of two random channels with the sets. */
static void check_both(struct sets *s, const struct box *in, uint32_t in_node, unsigned int in_dir)
{
	uint32_t node = random_below(&s->m.seed, s->m.nodes);
	unsigned int dir = random_below(&s->m.seed, 2 * s->m.n);
	const uint64_t *escape = s->escape[in_node][in_dir], *tie = s->tie[in_node][in_dir];
	struct channel other = channel_of(s, node, dir);
	uint64_t own[NODES_MAX / 64], any[NODES_MAX / 64];
	struct box box;
	bool some;

	if (s->m.shape.size[dir % s->m.n] < 2)
		return;
	for (unsigned int i = 0; i < NODES_MAX / 64; i++) {
		own[i] = (escape[i] | tie[i]) & s->escape[node][dir][i];
		any[i] = (escape[i] | tie[i]) & (s->escape[node][dir][i] | s->tie[node][dir][i]);
	}
	some = lt_box_escape_in(s->h, &s->at, &other, in, &box);
	check(s, "escapes of both", some, &box, any, &other);
	for (uint32_t to = 0; some && to < s->m.nodes; to++)
		if (any[to / 64] >> to % 64 & 1)
			assert_int_equal(!(plain_dirs(&s->m, s->from, to) & box.other),
					 own[to / 64] >> to % 64 & 1);
}

static void check_from(struct sets *s)
{
	struct box box;

	look(s);
	for (uint32_t node = 0; node < s->m.nodes; node++)
		for (unsigned int dir = 0; dir < 2 * s->m.n; dir++) {
			struct channel ch = channel_of(s, node, dir);
			bool some;

			if (s->m.shape.size[dir % s->m.n] < 2)
				continue;
			some = lt_box_path(s->h, &s->at, &ch, &box);
			check(s, "paths", some, &box, s->path[node][dir], &ch);
			some = lt_box_escape(s->h, &s->at, &ch, &box);
			check_escape(s, some, &box, s->escape[node][dir], s->tie[node][dir], &ch);
			if (some)
				check_both(s, &box, node, dir);
		}
}

static void boxes_contain_exactly_nodes_whose_paths_use_channel(void **state)
{
	static struct sets s;
	uint64_t seed = random_seed(1);

	(void)state;
	for (unsigned int i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		model_make(&s.m, shapes[i]);
		s.m.seed = seed;
		assert_int_equal(torus_health_new(&s.m.shape, NULL, &s.h), 0);
		/*
		 * If there are many nodes, those that show every parity, and both ends of each
		 * ring.
		 */
		for (s.from = 0; s.from < s.m.nodes; s.from++)
			if (s.m.nodes <= 20 || !random_below(&s.m.seed, s.m.nodes / 10))
				check_from(&s);
		torus_health_free(s.h);
	}
}

/* A channel that no path of a healthy torus uses has no box. */
static void channel_without_path_has_no_box(void **state)
{
	static struct sets s;
	struct channel ch;
	struct box box;

	(void)state;
	model_make(&s.m, "5x5");
	assert_int_equal(torus_health_new(&s.m.shape, NULL, &s.h), 0);
	torus_node_coords(&s.m.shape, 0, &s.at);
	ch = channel_of(&s, 3, 0);		/* 3,0:+x is further than half way round */
	assert_false(lt_box_path(s.h, &s.at, &ch, &box));
	assert_false(lt_box_escape(s.h, &s.at, &ch, &box));
	ch = channel_of(&s, 5, 0);		/* 0,1:+x: only adaptive packets go +y first */
	assert_false(lt_box_path(s.h, &s.at, &ch, &box));
	assert_true(lt_box_escape(s.h, &s.at, &ch, &box));
	torus_health_free(s.h);
}

static void cable_has_one_channel_each_way(void **state)
{
	static const char *const few[] = { "2", "5", "4x3", "1x2x3" };
	static struct sets s;

	(void)state;
	for (unsigned int i = 0; i < sizeof(few) / sizeof(few[0]); i++) {
		model_make(&s.m, few[i]);
		assert_int_equal(torus_health_new(&s.m.shape, NULL, &s.h), 0);
		for (uint32_t node = 0; node < s.m.nodes; node++)
			for (unsigned int d = 0; d < s.m.n; d++) {
				struct torus_cable c = { .node = node, .dim = (uint8_t)d };
				struct channel ch[2];

				lt_channels(s.h, &c, ch);
				assert_int_equal(torus_node_id(&s.m.shape, &ch[0].at), node);
				assert_int_equal(ch[0].dir, d);
				assert_int_equal(torus_node_id(&s.m.shape, &ch[1].at),
						 s.m.next[node][d]);
				assert_int_equal(ch[1].dir, d + s.m.n);
			}
		torus_health_free(s.h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_contain_exactly_nodes_whose_paths_use_channel),
		cmocka_unit_test(channel_without_path_has_no_box),
		cmocka_unit_test(cable_has_one_channel_each_way),
	};

	return cmocka_run_group_tests_name("box", tests, NULL, NULL);
}
