// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Folds a grid of ranks onto a box of nodes, so that neighbours in the grid are neighbours in the
 * torus.
 *
 * The box has digits: a position in each of its dimensions, and the factors of the number of ranks
 * on a node. A whole ring of four nodes may also be two digits of two, because it is a square:
 * positions 0 1 2 3 are the digits 00 01 11 10. Each dimension of the grid takes some of the digits
 * whose sizes have its length as product, and counts in them by a Gray code, in which one digit
 * changes by one with each step. So no step is longer than a hop.
 *
 * There are two codes. The reflected one goes to and fro in each digit, so that it needs no cable
 * that closes a ring, and ends beside its beginning if its first digit is even. The modular one
 * goes round and round: the digit counts, less the number that the digits before it make. It ends
 * beside its beginning if each size divides the product of those before it.
 *
 * Not all assignments of digits are equally good if the ends of a dimension of the grid are
 * neighbours, or if cables are cut. All are tried, up to a limit, and counted on the rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <torus/topology.h>
#include "map.h"

#define GRID_DIMS	6
/* a node has fewer than 2^24 slots, so their number has fewer than 24 digits */
#define DIGITS_MAX	(2 * TORUS_MAX_DIMS + 24)
#define TRIES_MAX	512

/** struct grid - a grid of ranks, the last dimension counting fastest */
struct grid {
	unsigned int dims;
	uint32_t size[GRID_DIMS];
};

/**
 * struct digit - a digit of the box
 * @size: number of its values
 * @dim: dimension of the torus, or DIM_NODE: slots of a node
 * @of: dimension of the grid to which it is assigned
 */
struct digit {
	uint32_t size;
	unsigned int dim;
	unsigned int of;
};

#define DIM_NODE TORUS_MAX_DIMS

/**
 * struct fold - a box, and the folding that is tried
 * @first: coordinates of the box's lowest corner
 * @size: its sizes; @each: slots of each node
 * @at: slots, by position in the box and number on the node
 * @digit: digits of the box, those of a grid's dimension from the first to the last
 * @modular: the code
 * @tries: number of foldings that may still be tried
 */
struct fold {
	const struct torus_map *m;
	struct map_trial *best;
	uint16_t first[TORUS_MAX_DIMS], size[TORUS_MAX_DIMS];
	uint32_t each;
	uint32_t *at, *place;
	struct grid grid;
	struct digit digit[DIGITS_MAX];
	unsigned int digits;
	bool modular;
	unsigned int tries;
};

/* --- the box ----------------------------------------------------------------------- */

/*
 * Sets the range of the coordinates in a dimension; it may wrap around from the highest coordinate
 * to 0.
 * Return: true if there is one range.
 */
static bool set_range(struct fold *f, unsigned int d, const bool *used)
{
	unsigned int size = f->m->shape->size[d], begins = 0, n = 0;

	for (unsigned int c = 0; c < size; c++) {
		n += used[c];
		if (used[c] && !used[(c + size - 1) % size]) {
			f->first[d] = (uint16_t)c;
			begins++;
		}
	}
	f->size[d] = (uint16_t)n;
	return begins <= 1;
}

/*
 * Finds the range of the coordinates in each dimension. Return: 1 if each dimension has one, 0 if
 * not; or -ENOMEM
 */
static int find_box_ranges(struct fold *f)
{
	const struct torus_map *m = f->m;
	bool *used = malloc((UINT16_MAX + 1) * sizeof(*used));
	int ok = used ? 1 : -ENOMEM;

	for (unsigned int d = 0; ok > 0 && d < m->shape->ndims; d++) {
		memset(used, 0, m->shape->size[d] * sizeof(*used));
		for (uint32_t s = 0; s < m->slots; s++) {
			struct torus_coords at;

			torus_node_coords(m->shape, m->slot[s], &at);
			used[at.c[d]] = true;
		}
		ok = set_range(f, d, used);
	}
	free(used);
	return ok;
}

/* Return: position of a node in the box */
static uint32_t box_position(const struct fold *f, uint32_t node)
{
	const struct torus_shape *shape = f->m->shape;
	struct torus_coords at;
	uint32_t p = 0;

	torus_node_coords(shape, node, &at);
	for (unsigned int d = shape->ndims; d-- > 0;)
		p = p * f->size[d] + (at.c[d] + shape->size[d] - f->first[d]) % shape->size[d];
	return p;
}

/* Sorts the slots. Return: true if each node of the box has the same number of them. */
static bool sort_slots(struct fold *f, uint32_t *filled)
{
	for (uint32_t s = 0; s < f->m->slots; s++) {
		uint32_t p = box_position(f, f->m->slot[s]);

		if (filled[p] == f->each)
			return false;
		f->at[p * f->each + filled[p]++] = s;
	}
	return true;
}

/* Finds the box of nodes that the slots fill. Return: 1 if there is one, 0 if not; or -ENOMEM */
static int find_box(struct fold *f)
{
	uint64_t box = 1;
	uint32_t *filled;
	int ok = f->m->ranks == f->m->slots ? find_box_ranges(f) : 0;

	if (ok <= 0)
		return ok;
	for (unsigned int d = 0; d < f->m->shape->ndims; d++)
		box *= f->size[d];
	if (box > f->m->slots || f->m->slots % box)
		return 0;
	f->each = f->m->slots / (uint32_t)box;
	filled = calloc(box, sizeof(*filled));
	f->at = calloc(f->m->slots, sizeof(*f->at));
	f->place = calloc(f->m->ranks, sizeof(*f->place));
	ok = filled && f->at && f->place ? sort_slots(f, filled) : -ENOMEM;
	free(filled);
	return ok;
}

/* --- one folding ------------------------------------------------------------------- */

/* Sets all digits that are assigned to one dimension of the grid, for position @x in it. */
static void code_digits(const struct fold *f, unsigned int of, uint32_t x, uint32_t *value)
{
	uint32_t below = f->grid.size[of];

	for (unsigned int i = 0; i < f->digits; i++) {
		uint32_t size = f->digit[i].size, before, here;

		if (f->digit[i].of != of)
			continue;
		before = x / below;
		below /= size;
		here = x / below % size;
		if (f->modular)
			value[i] = (here + size - before % size) % size;
		else
			value[i] = before % 2 ? size - 1 - here : here;
	}
}

static uint32_t slot_of_digits(const struct fold *f, const uint32_t *value)
{
	uint32_t at[TORUS_MAX_DIMS + 1] = { 0 }, p = 0;
	bool halved[TORUS_MAX_DIMS + 1] = { false };

	for (unsigned int i = 0; i < f->digits; i++) {
		unsigned int d = f->digit[i].dim;

		if (d < DIM_NODE && halved[d])
			at[d] = 2 * at[d] + (at[d] ^ value[i]);
		else
			at[d] = at[d] * f->digit[i].size + value[i];
		halved[d] = true;
	}
	for (unsigned int d = f->m->shape->ndims; d-- > 0;)
		p = p * f->size[d] + at[d];
	return f->at[p * f->each + at[DIM_NODE]];
}

static void place_ranks(const struct fold *f)
{
	uint32_t value[DIGITS_MAX];

	for (uint32_t r = 0; r < f->m->ranks; r++) {
		uint32_t left = r;

		for (unsigned int j = f->grid.dims; j-- > 0;) {
			code_digits(f, j, left % f->grid.size[j], value);
			left /= f->grid.size[j];
		}
		f->place[r] = slot_of_digits(f, value);
	}
}

/*
 * Tries both ways to count with the digits. Return: as lt_map_try(); 1 also if no more foldings may
 * be tried.
 */
static int try_codes(struct fold *f)
{
	int found = 0;

	for (int code = 0; !found && code < 2; code++) {
		if (!f->tries--)
			return 1;
		f->modular = code;
		place_ranks(f);
		found = lt_map_try(f->m, f->place, f->best);
	}
	return found;
}

/* --- all foldings ------------------------------------------------------------------ */

/*
 * Assigns the digits from @i on to dimensions of the grid, in all ways.
 * @left: for each dimension, product of the sizes of the digits that it still lacks
 */
static int assign_digits(struct fold *f, unsigned int i, uint32_t *left)
{
	int found = 0;

	if (i == f->digits)
		return try_codes(f);
	for (unsigned int j = 0; !found && j < f->grid.dims; j++) {
		if (left[j] % f->digit[i].size)
			continue;
		left[j] /= f->digit[i].size;
		f->digit[i].of = j;
		found = assign_digits(f, i + 1, left);
		left[j] *= f->digit[i].size;
	}
	return found;
}

static void add_digit(struct fold *f, uint32_t size, unsigned int dim)
{
	if (size > 1 && f->digits < DIGITS_MAX)
		f->digit[f->digits++] = (struct digit){ .size = size, .dim = dim };
}

/*
 * Makes the digits: in descending sizes those of the dimensions, then those of the slots of a node.
 * @halve: mask of the dimensions of size 4 that become two digits of size 2
 */
static void make_digits(struct fold *f, unsigned int halve)
{
	uint32_t left = f->each;

	f->digits = 0;
	for (uint32_t size = UINT16_MAX; size > 1; size--)
		for (unsigned int d = 0; d < f->m->shape->ndims; d++) {
			if (halve & 1u << d ? size == 2 : f->size[d] == size)
				add_digit(f, size, d);
			if (halve & 1u << d && size == 2)
				add_digit(f, size, d);
		}
	for (uint32_t p = 2; left > 1; p++)
		for (; left % p == 0; left /= p)
			add_digit(f, p, DIM_NODE);
}

/* Return: mask of the dimensions that are whole rings of four nodes */
static unsigned int rings_of_four(const struct fold *f)
{
	unsigned int mask = 0;

	for (unsigned int d = 0; d < f->m->shape->ndims; d++)
		if (f->size[d] == 4 && f->m->shape->size[d] == 4)
			mask |= 1u << d;
	return mask;
}

static int fold_grid(struct fold *f)
{
	unsigned int four = rings_of_four(f), halve = 0;
	uint32_t left[GRID_DIMS];
	int found;

	do {
		make_digits(f, halve);
		memcpy(left, f->grid.size, sizeof(left));
		found = assign_digits(f, 0, left);
		halve = (halve - four) & four;	/* the next subset */
	} while (!found && halve);
	return found;
}

/* --- grids ------------------------------------------------------------------------- */

/*
 * Return: true if the two ranks are neighbours in the grid; the two ends of a dimension count as
 * neighbours, too
 * @diagonal: neighbours may differ in several dimensions
 */
static bool are_neighbours(const struct grid *g, uint32_t a, uint32_t b, bool diagonal)
{
	unsigned int differ = 0;

	for (unsigned int j = g->dims; j-- > 0;) {
		uint32_t size = g->size[j], step = (a % size + size - b % size) % size;

		if (step > 1 && step != size - 1)
			return false;
		differ += step != 0;
		a /= size;
		b /= size;
	}
	return diagonal || differ <= 1;
}

static bool fits_grid(const struct torus_map *m, const struct grid *g, bool diagonal)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->traffic[i].bytes &&
		    !are_neighbours(g, m->traffic[i].from, m->traffic[i].to, diagonal))
			return false;
	return true;
}

/*
 * Tries all grids whose first sizes are given.
 * @left: product of the sizes that are not given; @fitted: set if the traffic fits a grid
 */
static int try_grids(struct fold *f, uint32_t left, bool diagonal, bool *fitted)
{
	struct grid *g = &f->grid;
	int found = 0;

	if (left == 1) {
		if (!fits_grid(f->m, g, diagonal))
			return 0;
		*fitted = true;
		return fold_grid(f);
	}
	if (g->dims == GRID_DIMS)
		return 0;
	for (uint32_t size = left; !found && size > 1; size--) {
		if (left % size)
			continue;
		g->size[g->dims++] = size;
		found = try_grids(f, left / size, diagonal, fitted);
		g->dims--;
	}
	return found;
}

int lt_map_fold(const struct torus_map *m, struct map_trial *best)
{
	struct fold f = { .m = m, .best = best, .tries = TRIES_MAX };
	bool fitted = false;
	int box = find_box(&f), found = box < 0 ? box : 0;

	if (box > 0)
		found = try_grids(&f, m->ranks, false, &fitted);
	if (box > 0 && !found && !fitted)
		found = try_grids(&f, m->ranks, true, &fitted);
	free(f.at);
	free(f.place);
	/* no perfect placement was found, but the limit of trials is reached */
	if (found == 1 && f.tries + 1 == 0)
		return 0;
	return found;
}
