// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Simulated annealing of a placement: a rank changes places with another one, or goes to a free
 * slot, if that saves hop-bytes, and with the probability exp(-cost / temperature) if it costs
 * some. The temperature falls by the same factor in each of STEPS steps. The first run begins so
 * hot that hardly anything is left of the placement; the second one begins with the best placement,
 * and only mends it, which is all that a good folding on a torus with faults needs.
 *
 * Half of the moves bring a rank beside one with which it exchanges data, because on a large torus
 * few random moves do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "kernel/core/splitmix64.h"
#include "map.h"

#define STEPS		256
/* factor of the temperature for each step: 1/256 after all STEPS */
#define COOLING		0.9785720620877001
#define FREE		UINT32_MAX
#define NODES_MAX	8192	/* most nodes: the table of their hops has 128 MiB */
#define MOVES_EACH	16384	/* default number of moves for each rank, and the most in all */
#define MOVES_MAX	(1u << 23)
#define WEIGHT_MAX	(1ull << 44)	/* the sum of weights, times MAP_FAR, must fit 63 bits */

/** struct mate - a rank with which another one exchanges data, and how much */
struct mate {
	uint32_t rank;
	int64_t out, in;
};

/**
 * struct anneal - state of the annealing
 * @nodes: number of nodes that have slots
 * @index: for each slot, the index of its node; @index_of: for each node, TORUS_NO_NODE if none
 * @slot_of: for each index, a slot of the node; slots of a node follow each other in @next
 * @hops: hops from node to node, by index
 * @mate: mates of all ranks; those of rank r are @first [r] to @first [r + 1]
 * @place: slot of each rank; @owner: rank of each slot, or FREE
 * @random: state of the random numbers
 */
struct anneal {
	const struct torus_map *m;
	uint32_t nodes;
	uint32_t *index, *index_of, *node, *slot_of, *next;
	uint16_t *hops;
	struct mate *mate;
	size_t *first;
	uint32_t *place, *owner;
	uint64_t random;
};

static uint64_t draw_word(struct anneal *a)
{
	return splitmix64_mix(a->random += SPLITMIX64_STEP);
}

static uint32_t draw_number(struct anneal *a, uint64_t n)
{
	return (uint32_t)((draw_word(a) >> 32) * n >> 32);
}

/*
 * Return: a random number of the exponential distribution with the mean 1: -ln x, in which the
 * logarithm of the mantissa is interpolated
 */
static double draw_exponential(struct anneal *a)
{
	uint64_t x = draw_word(a) | 1;
	int zeros = __builtin_clzll(x);
	double mantissa = (double)(x << zeros) / 0x1p64;	/* mantissa of x, 1/2 to 1 */

	return (zeros + 2 - 2 * mantissa) * 0.6931471805599453;
}

/* --- tables ------------------------------------------------------------------------ */

/* Numbers the nodes that have slots. Return: false if there are too many. */
static bool number_nodes(struct anneal *a)
{
	uint32_t all = torus_nodes(a->m->shape);

	for (uint32_t id = 0; id < all; id++)
		a->index_of[id] = TORUS_NO_NODE;
	for (uint32_t s = a->m->slots; s-- > 0;) {
		uint32_t *index = &a->index_of[a->m->slot[s]];

		if (*index == TORUS_NO_NODE) {
			a->node[a->nodes] = a->m->slot[s];
			a->slot_of[a->nodes] = FREE;
			*index = a->nodes++;
		}
		a->index[s] = *index;
		a->next[s] = a->slot_of[*index];
		a->slot_of[*index] = s;
	}
	return a->nodes <= NODES_MAX;
}

static int measure_hops(struct anneal *a)
{
	struct map_walk w;
	int err = lt_map_walk_new(a->m, &w);

	a->hops = err ? NULL : malloc((size_t)a->nodes * a->nodes * sizeof(*a->hops));
	for (uint32_t i = 0; a->hops && i < a->nodes; i++)
		for (uint32_t k = 0; k < a->nodes; k++)
			a->hops[(size_t)i * a->nodes + k] =
				(uint16_t)lt_map_hops(a->m, &w, a->node[i], a->node[k], NULL, 0);
	lt_map_walk_free(&w);
	return a->hops ? 0 : -ENOMEM;
}

/*
 * Return: by how many bits numbers of bytes must be shifted right so that the sum of all costs fits
 * 63 bits
 */
static unsigned int weight_shift(const struct torus_map *m)
{
	uint64_t sum = 0;
	unsigned int shift = 0;

	for (size_t i = 0; i < m->n; i++)
		if (__builtin_add_overflow(sum, m->traffic[i].bytes >> 16, &sum))
			sum = UINT64_MAX;
	while (sum >> shift > WEIGHT_MAX >> 16)
		shift++;
	return shift;
}

static void add_mate(struct anneal *a, uint32_t rank, uint32_t other, uint64_t out, uint64_t in)
{
	a->mate[--a->first[rank]] = (struct mate){ other, (int64_t)out, (int64_t)in };
}

/* Lists the mates of each rank: @first is the end of each list until the list is full. */
static void list_mates(struct anneal *a)
{
	const struct torus_map *m = a->m;
	unsigned int shift = weight_shift(m);
	size_t sum = 0;

	for (size_t i = 0; i < m->n; i++) {
		a->first[m->traffic[i].from]++;
		a->first[m->traffic[i].to]++;
	}
	for (uint32_t r = 0; r < m->ranks; r++)
		a->first[r] = sum += a->first[r];
	a->first[m->ranks] = sum;
	for (size_t i = 0; i < m->n; i++) {
		const struct torus_traffic *t = &m->traffic[i];
		uint64_t weight = t->bytes ? (t->bytes >> shift) + !(t->bytes >> shift) : 0;

		add_mate(a, t->from, t->to, weight, 0);
		add_mate(a, t->to, t->from, 0, weight);
	}
}

static void free_anneal(struct anneal *a)
{
	free(a->index);
	free(a->index_of);
	free(a->node);
	free(a->slot_of);
	free(a->next);
	free(a->hops);
	free(a->mate);
	free(a->first);
	free(a->place);
	free(a->owner);
}

/* Return: 1 if there is something to anneal, 0 if not; or -ENOMEM */
static int prepare_anneal(struct anneal *a)
{
	const struct torus_map *m = a->m;

	a->index = calloc(m->slots, sizeof(*a->index));
	a->index_of = calloc(torus_nodes(m->shape), sizeof(*a->index_of));
	a->node = calloc(m->slots, sizeof(*a->node));
	a->slot_of = calloc(m->slots, sizeof(*a->slot_of));
	a->next = calloc(m->slots, sizeof(*a->next));
	a->first = calloc(m->ranks + 1, sizeof(*a->first));
	a->mate = calloc(2 * m->n + 1, sizeof(*a->mate));
	a->place = calloc(m->ranks, sizeof(*a->place));
	a->owner = calloc(m->slots, sizeof(*a->owner));
	if (!a->index || !a->index_of || !a->node || !a->slot_of || !a->next || !a->first ||
	    !a->mate || !a->place || !a->owner)
		return -ENOMEM;
	if (!m->n || !number_nodes(a) || a->nodes < 2)
		return 0;
	list_mates(a);
	return measure_hops(a) ? -ENOMEM : 1;
}

/* --- moves ------------------------------------------------------------------------- */

/* Return: costs of a rank's traffic, without that to @except */
static int64_t cost_of_rank(const struct anneal *a, uint32_t r, uint32_t except)
{
	size_t here = a->index[a->place[r]];
	int64_t cost = 0;

	for (size_t i = a->first[r]; i < a->first[r + 1]; i++) {
		const struct mate *t = &a->mate[i];
		size_t there;

		if (t->rank == except)
			continue;
		there = a->index[a->place[t->rank]];
		cost += t->out * a->hops[here * a->nodes + there] +
			t->in * a->hops[there * a->nodes + here];
	}
	return cost;
}

static void move_rank(struct anneal *a, uint32_t r, uint32_t slot)
{
	uint32_t other = a->owner[slot], from = a->place[r];

	a->owner[from] = other;
	if (other != FREE)
		a->place[other] = from;
	a->owner[slot] = r;
	a->place[r] = slot;
}

/*
 * Moves a rank to a slot; the rank that has this slot gets the former slot of @r. Return: the
 * increase of the cost.
 */
static int64_t cost_to_move(struct anneal *a, uint32_t r, uint32_t slot)
{
	uint32_t other = a->owner[slot];
	int64_t before = cost_of_rank(a, r, FREE);

	if (other != FREE)
		before += cost_of_rank(a, other, r);
	move_rank(a, r, slot);
	if (other != FREE)
		before -= cost_of_rank(a, other, r);
	return cost_of_rank(a, r, FREE) - before;
}

/*
 * Return: a random slot: in one half of the cases on or next to the node of a mate of the rank,
 * else any slot
 */
static uint32_t draw_slot(struct anneal *a, uint32_t r)
{
	size_t mates = a->first[r + 1] - a->first[r];
	uint32_t any = draw_number(a, a->m->slots), node, slot;
	uint64_t bits = draw_word(a);
	const struct mate *t;

	if (!mates || bits & 1)
		return any;
	t = &a->mate[a->first[r] + draw_number(a, mates)];
	node = a->m->slot[a->place[t->rank]];
	/* If each node has one rank, the mate's own node has no other slot. */
	if (a->m->slots == a->nodes || bits & 2)
		node = torus_neighbour(a->m->shape, node,
				       draw_number(a, 2u * a->m->shape->ndims));
	if (a->index_of[node] == TORUS_NO_NODE)
		return any;
	slot = a->slot_of[a->index_of[node]];
	while (a->next[slot] != FREE && draw_word(a) & 1)
		slot = a->next[slot];
	return slot;
}

/*
 * Makes a random move, and undoes it if it costs too much. Return: the increase of the cost; 0 if
 * it was undone
 */
static int64_t try_move(struct anneal *a, double temperature)
{
	uint32_t r = draw_number(a, a->m->ranks), from = a->place[r], slot = draw_slot(a, r);
	int64_t cost;

	if (slot == from)
		return 0;
	cost = cost_to_move(a, r, slot);
	if (cost <= 0 || (double)cost <= temperature * draw_exponential(a))
		return cost;
	move_rank(a, r, from);
	return 0;
}

/* Return: average cost of the moves that increase the cost */
static double measure_cost(struct anneal *a)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < 256; i++) {
		uint32_t r = draw_number(a, a->m->ranks), from = a->place[r];
		int64_t cost = cost_to_move(a, r, draw_slot(a, r));

		if (cost > 0) {
			sum += (double)cost;
			n++;
		}
		move_rank(a, r, from);
	}
	return n ? sum / n : 1;
}

static void begin_run(struct anneal *a, const uint32_t *place)
{
	for (uint32_t s = 0; s < a->m->slots; s++)
		a->owner[s] = FREE;
	for (uint32_t r = 0; r < a->m->ranks; r++) {
		a->place[r] = place[r];
		a->owner[place[r]] = r;
	}
}

/*
 * Anneals once, beginning with the best placement so far.
 * @kept: gets the placement with the least cost at the end of a step
 * @heat: the first temperature, as a multiple of the average cost of a move
 */
static int run_anneal(struct anneal *a, double heat, uint64_t moves, uint32_t *kept,
		      struct map_trial *best)
{
	size_t size = a->m->ranks * sizeof(*kept);
	int64_t cost = 0, least = 0;
	double temperature;

	begin_run(a, best->place);
	memcpy(kept, a->place, size);
	temperature = heat * measure_cost(a);
	for (int step = 0; step < STEPS; step++) {
		for (uint64_t i = 0; i < moves / STEPS; i++)
			cost += try_move(a, temperature);
		if (cost < least) {
			least = cost;
			memcpy(kept, a->place, size);
		}
		temperature *= COOLING;
	}
	return lt_map_try(a->m, kept, best);
}

int lt_map_anneal(const struct torus_map *m, uint64_t seed, uint64_t moves,
		  struct map_trial *best)
{
	struct anneal a = { .m = m, .random = seed };
	uint32_t *kept = malloc(m->ranks * sizeof(*kept));
	int found = kept ? prepare_anneal(&a) : -ENOMEM;

	if (!moves)
		moves = (uint64_t)m->ranks * MOVES_EACH;
	if (moves > MOVES_MAX)
		moves = MOVES_MAX;
	if (found == 1) {
		found = run_anneal(&a, 1, moves / 2, kept, best);
		if (!found)
			found = run_anneal(&a, 1.0 / 16, moves / 2, kept, best);
	}
	free_anneal(&a);
	free(kept);
	return found;
}
