// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement of ranks: costs are compared with a count hop by hop, improved placements with the best
 * of all placements of small programs and with lower bounds of large ones.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <torus/map.h>
#include <torus/topology.h>
#include "tests/unit/random.h"

#define NODES_MAX	256
#define RANKS_MAX	512
#define TRAFFIC_MAX	8192

/** struct scene - a torus with the rows of all its nodes, and a program */
struct scene {
	struct torus_shape shape;
	uint16_t excluded[NODES_MAX];
	uint64_t row[NODES_MAX][NODES_MAX];
	const uint64_t *rows[NODES_MAX];
	uint32_t slot[RANKS_MAX], place[RANKS_MAX];
	struct torus_traffic traffic[TRAFFIC_MAX];
	struct torus_map map;
};

static struct scene scene;

static void compute_rows(struct scene *s)
{
	struct torus_health *h;

	torus_exclusions_close(&s->shape, s->excluded);
	assert_int_equal(torus_health_new(&s->shape, s->excluded, &h), 0);
	for (uint32_t id = 0; id < torus_nodes(&s->shape); id++) {
		assert_true(torus_health_rows(h, id, TORUS_ROUTES_RELAY, s->row[id]) >= 0);
		s->rows[id] = s->row[id];
	}
	torus_health_free(h);
}

/* Sets a healthy torus, with @each slots on each node, one after the other, and a rank in each. */
static void set_scene(struct scene *s, const char *shape, uint32_t each)
{
	memset(s->excluded, 0, sizeof(s->excluded));
	assert_int_equal(torus_shape_parse(shape, &s->shape), 0);
	s->map = (struct torus_map){ .shape = &s->shape, .rows = s->rows, .excluded = s->excluded,
		.slot = s->slot, .traffic = s->traffic };
	s->map.slots = s->map.ranks = torus_nodes(&s->shape) * each;
	assert_true(s->map.slots <= RANKS_MAX);
	for (uint32_t i = 0; i < s->map.slots; i++) {
		s->slot[i] = i / each;
		s->place[i] = i;
	}
	compute_rows(s);
}

static void exclude_some(struct scene *s, unsigned int n, uint64_t *seed)
{
	while (n--)
		s->excluded[random_below(seed, torus_nodes(&s->shape))] |=
			(uint16_t)(1u << random_below(seed, 2u * s->shape.ndims));
	compute_rows(s);
}

static void send_bytes(struct scene *s, uint32_t from, uint32_t to, uint64_t bytes)
{
	assert_true(s->map.n < TRAFFIC_MAX);
	s->traffic[s->map.n++] = (struct torus_traffic){ from, to, bytes };
}

/* Each rank sends to its neighbours in a grid, whose last dimension counts fastest. */
static void send_halo(struct scene *s, const uint32_t *size, unsigned int dims, bool periodic)
{
	for (uint32_t r = 0; r < s->map.ranks; r++) {
		uint32_t step = 1;

		for (unsigned int j = dims; j-- > 0; step *= size[j]) {
			uint32_t at = r / step % size[j];
			uint32_t up = r - at * step + (at + 1) % size[j] * step;
			uint32_t down = r - at * step + (at + size[j] - 1) % size[j] * step;

			if (periodic || at + 1 < size[j])
				send_bytes(s, r, up, 1000);
			if (periodic || at > 0)
				send_bytes(s, r, down, 1000);
		}
	}
}

static void send_at_random(struct scene *s, unsigned int n, uint64_t *seed)
{
	s->map.n = 0;
	while (n--)
		send_bytes(s, random_below(seed, s->map.ranks), random_below(seed, s->map.ranks),
		     random_below(seed, 5) * 100);
}

static void shuffle(struct scene *s, uint64_t *seed)
{
	uint32_t all[RANKS_MAX];

	for (uint32_t i = 0; i < s->map.slots; i++)
		all[i] = i;
	for (uint32_t i = 0; i < s->map.ranks; i++) {
		uint32_t k = i + random_below(seed, s->map.slots - i), x = all[k];

		all[k] = all[i];
		s->place[i] = all[i] = x;
	}
}

static void assert_placement(const struct scene *s)
{
	bool taken[RANKS_MAX] = { false };

	for (uint32_t r = 0; r < s->map.ranks; r++) {
		assert_true(s->place[r] < s->map.slots);
		assert_false(taken[s->place[r]]);
		taken[s->place[r]] = true;
	}
}

static struct torus_map_score score_of(const struct scene *s)
{
	struct torus_map_score score;

	assert_int_equal(torus_map_score(&s->map, s->place, &score), 0);
	return score;
}

/* Return: hops from one node to another, counted leg by leg; -1 if there is no way */
static int count_load(const struct scene *s, uint32_t from, uint32_t to, uint64_t *load,
		      uint64_t bytes)
{
	uint64_t row = s->row[from][to];
	struct torus_hop hop[128];
	int rest;
	uint32_t n, leg = to;

	if (!(row & TORUS_ROW_VALID))
		return -1;
	if (row & TORUS_ROW_RELAY)
		leg = row >> TORUS_ROW_RELAY_SHIFT & TORUS_ROW_NODE_MASK;
	rest = leg == to ? 0 : count_load(s, leg, to, load, bytes);
	if (rest < 0)
		return -1;
	assert_int_equal(torus_walk(&s->shape, s->excluded, from, leg, row, hop, 128, &n),
			 TORUS_WALK_ARRIVED);
	for (uint32_t i = 0; i < n; i++)
		load[hop[i].node * 12 + hop[i].port] += bytes;
	return rest + (int)n;
}

static void assert_score(const struct scene *s)
{
	struct torus_map_score got = score_of(s), want = { .local = 0 };
	static uint64_t load[NODES_MAX * 12];

	memset(load, 0, sizeof(load));
	for (size_t i = 0; i < s->map.n; i++) {
		const struct torus_traffic *t = &s->traffic[i];
		uint32_t a = s->slot[s->place[t->from]], b = s->slot[s->place[t->to]];
		int hops = a == b ? 0 : count_load(s, a, b, load, t->bytes);

		if (a == b)
			want.local += t->bytes;
		else if (hops < 0)
			want.stranded += t->bytes;
		else if (t->bytes) {
			want.bytes += t->bytes;
			want.hop_bytes += t->bytes * (unsigned int)hops;
			want.pairs++;
			want.hops += (unsigned int)hops;
			want.dilation = want.dilation > (unsigned int)hops ? want.dilation :
									     (unsigned int)hops;
		}
	}
	for (unsigned int i = 0; i < NODES_MAX * 12; i++)
		want.load = want.load > load[i] ? want.load : load[i];
	assert_int_equal(got.local, want.local);
	assert_int_equal(got.stranded, want.stranded);
	assert_int_equal(got.bytes, want.bytes);
	assert_int_equal(got.hop_bytes, want.hop_bytes);
	assert_int_equal(got.pairs, want.pairs);
	assert_int_equal(got.hops, want.hops);
	assert_int_equal(got.dilation, want.dilation);
	assert_int_equal(got.load, want.load);
	if (got.load)
		assert_int_equal(load[got.busiest.node * 12 + got.busiest.port], got.load);
	else
		assert_int_equal(got.busiest.node, TORUS_NO_NODE);
}

static void score_equals_count_hop_by_hop(void **state)
{
	static const char *const shapes[] = { "8", "4x4", "3x2x4", "2x2x2x2", "1x5x2" };
	uint64_t seed = random_seed(1);
	unsigned int stranded = 0;

	(void)state;
	for (int round = 0; round < 200; round++) {
		set_scene(&scene, shapes[round % 5], 1 + (unsigned int)round % 3);
		exclude_some(&scene, random_below(&seed, 14), &seed);
		scene.map.ranks -= random_below(&seed, scene.map.ranks / 2);
		shuffle(&scene, &seed);
		send_at_random(&scene, 100, &seed);
		assert_score(&scene);
		stranded += score_of(&scene).stranded != 0;
	}
	assert_in_range(stranded, 10, 190);
}

/* On a healthy torus the way is as long as the coordinates are apart. */
static void hops_of_healthy_torus_equal_distance(void **state)
{
	uint64_t seed = random_seed(2), sum = 0;

	(void)state;
	set_scene(&scene, "5x4x3", 1);
	shuffle(&scene, &seed);
	send_at_random(&scene, 500, &seed);
	for (size_t i = 0; i < scene.map.n; i++)
		sum += scene.traffic[i].bytes *
		       torus_distance(&scene.shape, scene.place[scene.traffic[i].from],
				      scene.place[scene.traffic[i].to]);
	assert_int_equal(score_of(&scene).hop_bytes, sum);
}

static void traffic_without_known_way_is_stranded(void **state)
{
	struct torus_map_score score;

	(void)state;
	set_scene(&scene, "4", 1);
	send_bytes(&scene, 0, 2, 7);
	send_bytes(&scene, 1, 2, 5);
	send_bytes(&scene, 3, 3, 2);
	scene.rows[0] = NULL;
	score = score_of(&scene);
	assert_int_equal(score.stranded, 7);
	assert_int_equal(score.bytes, 5);
	assert_int_equal(score.local, 2);
	/* A row that ends at a dead link does not arrive. */
	scene.excluded[1] = 1;
	torus_exclusions_close(&scene.shape, scene.excluded);
	assert_int_equal(score_of(&scene).stranded, 12);
	assert_int_equal(score_of(&scene).busiest.node, TORUS_NO_NODE);
}

static void assert_refused(const struct torus_map *m, const uint32_t *place, int err)
{
	struct torus_map_score score;
	uint32_t mine[RANKS_MAX];

	memcpy(mine, place, sizeof(mine));
	assert_int_equal(torus_map_score(m, place, &score), err);
	assert_int_equal(torus_map_improve(m, 1, 0, mine), err);
	assert_memory_equal(mine, place, sizeof(mine));
}

static void wrong_map_is_refused_and_placement_stays(void **state)
{
	struct torus_shape none = { .ndims = 0 };
	struct torus_map m;

	(void)state;
	set_scene(&scene, "4x4", 1);
	send_bytes(&scene, 0, 15, 100);
	m = scene.map;
	m.shape = &none;
	assert_refused(&m, scene.place, -EINVAL);
	m = scene.map;
	m.ranks = 0;
	assert_refused(&m, scene.place, -EINVAL);
	m.ranks = 17;
	assert_refused(&m, scene.place, -EINVAL);
	m.ranks = 15;	/* the traffic has rank 15 */
	assert_refused(&m, scene.place, -EINVAL);
	scene.traffic[0] = (struct torus_traffic){ 16, 0, 1 };
	assert_refused(&scene.map, scene.place, -EINVAL);
	scene.map.n = 0;
	scene.slot[3] = 16;
	assert_refused(&scene.map, scene.place, -EINVAL);
	scene.slot[3] = 3;
	scene.place[3] = 16;
	assert_refused(&scene.map, scene.place, -EINVAL);
	scene.place[3] = 4;	/* the place of rank 4 */
	assert_refused(&scene.map, scene.place, -EINVAL);
	scene.place[3] = 3;
	assert_int_equal(score_of(&scene).hop_bytes, 0);
	send_bytes(&scene, 0, 1, UINT64_MAX);
	assert_int_equal(score_of(&scene).hop_bytes, UINT64_MAX);
	send_bytes(&scene, 0, 4, 1);
	assert_refused(&scene.map, scene.place, -EOVERFLOW);
	scene.map.n = 0;
	send_bytes(&scene, 0, 5, UINT64_MAX / 2 + 1);
	assert_refused(&scene.map, scene.place, -EOVERFLOW);
}

static void fewer_stranded_then_hop_bytes_then_load_is_better(void **state)
{
	struct torus_map_score a = { .stranded = 1, .hop_bytes = 9, .load = 9 }, b = a;

	(void)state;
	assert_false(torus_map_better(&a, &b));
	b.load = 8;
	assert_true(torus_map_better(&b, &a) && !torus_map_better(&a, &b));
	a.hop_bytes = 8;
	assert_true(torus_map_better(&a, &b) && !torus_map_better(&b, &a));
	b.stranded = 0;
	assert_true(torus_map_better(&b, &a) && !torus_map_better(&a, &b));
}

/* Sets @best to the best score of all placements of ranks from @r on. */
static void search_all(struct scene *s, uint32_t r, uint32_t taken, struct torus_map_score *best)
{
	struct torus_map_score score;

	if (r == s->map.ranks) {
		score = score_of(s);
		if (torus_map_better(&score, best))
			*best = score;
		return;
	}
	for (uint32_t slot = 0; slot < s->map.slots; slot++)
		if (!(taken & 1u << slot)) {
			s->place[r] = slot;
			search_all(s, r + 1, taken | 1u << slot, best);
		}
}

/* The least hop-bytes of all placements are found, also with cut cables and free slots. */
static void small_program_gets_least_hop_bytes(void **state)
{
	static const char *const shapes[] = { "6", "3x2", "2x2x2", "7", "3" };
	uint64_t seed = random_seed(3);

	(void)state;
	for (int round = 0; round < 25; round++) {
		struct torus_map_score best = { .stranded = UINT64_MAX }, score;

		set_scene(&scene, shapes[round % 5], round % 5 == 4 ? 2 : 1);
		exclude_some(&scene, random_below(&seed, 4), &seed);
		if (scene.map.ranks > 6)
			scene.map.ranks = 6;
		send_at_random(&scene, 12, &seed);
		search_all(&scene, 0, 0, &best);
		shuffle(&scene, &seed);
		assert_int_equal(torus_map_improve(&scene.map, seed, 0, scene.place), 0);
		assert_placement(&scene);
		score = score_of(&scene);
		assert_int_equal(score.stranded, best.stranded);
		assert_int_equal(score.hop_bytes, best.hop_bytes);
	}
}

/* A placement stays one, is never worse, and depends on the seed alone. */
static void improved_placement_is_no_worse_and_depends_on_seed(void **state)
{
	static const char *const shapes[] = { "16", "4x4", "3x3x3", "2x3x4", "2x2x2x2x2" };
	uint64_t seed = random_seed(4);
	unsigned int differ = 0;

	(void)state;
	for (int round = 0; round < 60; round++) {
		struct torus_map_score before, after;
		uint32_t begin[RANKS_MAX], found[RANKS_MAX];
		size_t size;

		set_scene(&scene, shapes[round % 5], 1 + random_below(&seed, 3));
		exclude_some(&scene, random_below(&seed, 20), &seed);
		scene.map.ranks -= random_below(&seed, 5);
		size = scene.map.ranks * sizeof(*begin);
		shuffle(&scene, &seed);
		send_at_random(&scene, random_below(&seed, 300), &seed);
		memcpy(begin, scene.place, sizeof(begin));
		before = score_of(&scene);
		assert_int_equal(torus_map_improve(&scene.map, 7, 3000, scene.place), 0);
		assert_placement(&scene);
		after = score_of(&scene);
		assert_false(torus_map_better(&before, &after));
		memcpy(found, scene.place, size);
		memcpy(scene.place, begin, size);
		assert_int_equal(torus_map_improve(&scene.map, 7, 3000, scene.place), 0);
		assert_memory_equal(found, scene.place, size);
		memcpy(scene.place, begin, size);
		assert_int_equal(torus_map_improve(&scene.map, 8, 3000, scene.place), 0);
		differ += !!memcmp(found, scene.place, size);
	}
	assert_in_range(differ, 10, 60);
}

/* Numbers of bytes that would overflow the sums of the annealing are scaled down. */
static void large_bytes_still_give_best_placement_of_ring(void **state)
{
	uint64_t seed = random_seed(5);
	struct torus_map_score before;
	uint32_t name[16];

	(void)state;
	set_scene(&scene, "4x4", 1);
	shuffle(&scene, &seed);
	memcpy(name, scene.place, sizeof(name));	/* these ranks do not form a grid */
	for (uint32_t i = 0; i < 15; i++)
		send_bytes(&scene, name[i], name[i + 1], UINT64_MAX / 200);
	send_bytes(&scene, name[15], name[0], 1);
	before = score_of(&scene);
	assert_int_equal(torus_map_improve(&scene.map, 1, 0, scene.place), 0);
	assert_true(score_of(&scene).hop_bytes < before.hop_bytes);
	assert_int_equal(score_of(&scene).hop_bytes, UINT64_MAX / 200 * 15 + 1);
}

/* --- foldings ---------------------------------------------------------------------- */

struct folding {
	const char *shape;
	uint32_t each;
	uint32_t size[6];
	unsigned int dims;
	bool periodic;
};

/* Each neighbour is one hop away or on the same node. No exchange of ranks is tried. */
static void grid_is_folded_so_that_neighbours_are_1_hop_apart(void **state)
{
	static const struct folding list[] = {
		{ "4x4x4", 1, { 4, 4, 4 }, 3, true }, { "4x4x4", 1, { 8, 8 }, 2, true },
		{ "4x4x4", 1, { 16, 4 }, 2, true }, { "4x4x4", 1, { 64 }, 1, true },
		{ "4x4x4", 1, { 2, 2, 2, 2, 2, 2 }, 6, true }, { "8x8", 1, { 8, 8 }, 2, true },
		{ "8x8", 1, { 64 }, 1, true }, { "3x4x5", 1, { 5, 3, 4 }, 3, true },
		{ "3x4x5", 1, { 12, 5 }, 2, true }, { "3x5", 1, { 15 }, 1, false },
		{ "4x2x3", 1, { 8, 3 }, 2, true }, { "4x4", 4, { 8, 8 }, 2, false },
		{ "4x4", 2, { 4, 8 }, 2, false }, { "16", 1, { 16 }, 1, true },
		{ "2x8", 1, { 8, 2 }, 2, true }, { "4x4x4x4", 1, { 16, 16 }, 2, true },
		{ "1x4x1x4", 1, { 4, 4 }, 2, true }, { "3x3", 1, { 9 }, 1, true },
		{ "3x3x5", 1, { 5, 9 }, 2, true },
	};
	uint64_t seed = random_seed(6);

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++) {
		const struct folding *f = &list[i];
		struct torus_map_score score;

		set_scene(&scene, f->shape, f->each);
		send_halo(&scene, f->size, f->dims, f->periodic);
		shuffle(&scene, &seed);
		assert_int_equal(torus_map_improve(&scene.map, 1, 1, scene.place), 0);
		assert_placement(&scene);
		score = score_of(&scene);
		if (score.dilation != 1)
			print_error("%s, grid %zu: %u hops\n", f->shape, i, score.dilation);
		assert_int_equal(score.dilation, 1);
	}
}

/* Four ranks of a node are a square of the grid, so that a node has eight neighbours, not ten. */
static void ranks_of_node_form_square_of_grid(void **state)
{
	uint64_t seed = random_seed(7);

	(void)state;
	set_scene(&scene, "4x4", 4);
	send_halo(&scene, (uint32_t[]){ 8, 8 }, 2, true);
	shuffle(&scene, &seed);
	assert_int_equal(torus_map_improve(&scene.map, 1, 1, scene.place), 0);
	assert_int_equal(score_of(&scene).hop_bytes, 16 * 8 * 1000);
}

/* A box that crosses the edge of the torus, and has no rings. */
static void grid_on_part_of_torus_has_neighbours_1_hop_apart(void **state)
{
	uint64_t seed = random_seed(8);
	uint32_t n = 0;

	(void)state;
	set_scene(&scene, "5x5", 1);
	for (uint32_t id = 0; id < 25; id++)
		if (id % 5 != 2 && id / 5 != 1)
			scene.slot[n++] = id;
	scene.map.ranks = scene.map.slots = n;
	send_halo(&scene, (uint32_t[]){ 4, 4 }, 2, false);
	shuffle(&scene, &seed);
	assert_int_equal(torus_map_improve(&scene.map, 1, 1, scene.place), 0);
	assert_int_equal(score_of(&scene).dilation, 1);
}

/* Slots do not form a box, though a box can have as many: a grid cannot be folded onto them. */
static void program_on_slots_that_are_no_box_is_placed_well(void **state)
{
	static const uint32_t node[] = { 1, 1, 4, 4, 6, 6, 3, 3 };

	(void)state;
	set_scene(&scene, "4x2", 1);
	memcpy(scene.slot, node, sizeof(node));
	send_halo(&scene, (uint32_t[]){ 8 }, 1, true);
	assert_int_equal(torus_map_improve(&scene.map, 1, 0, scene.place), 0);
	assert_placement(&scene);
	assert_int_equal(score_of(&scene).local, 8000);
	assert_int_equal(score_of(&scene).hop_bytes, 16000);
}

/* Neighbours across corners, too: no grid of one hop, but the grid itself is the best. */
static void grid_with_corner_neighbours_is_placed_as_grid(void **state)
{
	uint64_t seed = random_seed(9);

	(void)state;
	set_scene(&scene, "6x4", 1);
	for (uint32_t r = 0; r < 24; r++)
		for (uint32_t k = 0; k < 9; k++) {
			uint32_t x = (r / 6 + k / 3 + 3) % 4, y = (r % 6 + k % 3 + 5) % 6;

			if (k != 4)
				send_bytes(&scene, r, x * 6 + y, 10);
		}
	shuffle(&scene, &seed);
	assert_int_equal(torus_map_improve(&scene.map, 1, 1, scene.place), 0);
	assert_int_equal(score_of(&scene).hop_bytes, 24 * (4 * 1 + 4 * 2) * 10);
}

/* Annealing alone, of a grid whose ranks are numbered at random. */
static void annealing_alone_comes_within_quarter_of_bound(void **state)
{
	uint64_t seed = random_seed(10);
	struct torus_map_score before, after;
	uint32_t name[64];

	(void)state;
	set_scene(&scene, "4x4x4", 1);
	send_halo(&scene, (uint32_t[]){ 4, 4, 4 }, 3, true);
	shuffle(&scene, &seed);
	memcpy(name, scene.place, sizeof(name));
	for (size_t i = 0; i < scene.map.n; i++) {
		scene.traffic[i].from = name[scene.traffic[i].from];
		scene.traffic[i].to = name[scene.traffic[i].to];
	}
	before = score_of(&scene);
	assert_int_equal(torus_map_improve(&scene.map, 1, 0, scene.place), 0);
	after = score_of(&scene);
	print_message("hop-bytes %llu, annealed %llu, bound %llu\n",
		      (unsigned long long)before.hop_bytes, (unsigned long long)after.hop_bytes,
		      (unsigned long long)after.bytes);
	assert_true(4 * after.hop_bytes < 5 * after.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(score_equals_count_hop_by_hop),
		cmocka_unit_test(hops_of_healthy_torus_equal_distance),
		cmocka_unit_test(traffic_without_known_way_is_stranded),
		cmocka_unit_test(wrong_map_is_refused_and_placement_stays),
		cmocka_unit_test(fewer_stranded_then_hop_bytes_then_load_is_better),
		cmocka_unit_test(small_program_gets_least_hop_bytes),
		cmocka_unit_test(improved_placement_is_no_worse_and_depends_on_seed),
		cmocka_unit_test(large_bytes_still_give_best_placement_of_ring),
		cmocka_unit_test(grid_is_folded_so_that_neighbours_are_1_hop_apart),
		cmocka_unit_test(ranks_of_node_form_square_of_grid),
		cmocka_unit_test(grid_on_part_of_torus_has_neighbours_1_hop_apart),
		cmocka_unit_test(program_on_slots_that_are_no_box_is_placed_well),
		cmocka_unit_test(grid_with_corner_neighbours_is_placed_as_grid),
		cmocka_unit_test(annealing_alone_comes_within_quarter_of_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
