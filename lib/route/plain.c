// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Composes the rows of the fault-free torus. The direction bits of a row are the sum of one choice
 * for each dimension, which depends on the two coordinates in that dimension and, in a tie, on the
 * parity of the destination's coordinates above it. Adaptive packets have both directions of a tie.
 * So the rows of a line along dimension 0 are one of two templates plus the bits of the other
 * dimensions.
 */
#include "plain.h"
#include "search.h"

#define ADAPT_OF(dir) (1ull << TORUS_ROW_ADAPT_SHIFT << (dir))
#define BIT_OF(dir) (1ull << TORUS_ROW_DIR_SHIFT << (dir) | ADAPT_OF(dir))

/**
 * struct choice - bits of a row that depend on one dimension
 * @size, @from: size of the dimension, and the source's coordinate
 * @up, @down: bits of a row that goes + or -
 * @tie: bits for the coordinate half way round, for both parities of the destination's coordinates
 *	in higher dimensions
 */
struct choice {
	unsigned int size, from;
	uint64_t up, down, tie[2];
};

/**
 * struct plain - rows that are being composed
 * @line: rows of a line along dimension 0, for both parities of the coordinates in higher
 *	dimensions
 */
struct plain {
	const struct torus_health *h;
	uint64_t *rows;
	struct choice dim[DIMS];
	uint64_t line[2][TORUS_MAX_SIZE];
};

/*
 * Sets @c for dimension @d. @odd: parity of the sum of the source's coordinates up to and with
 * dimension @d.
 */
static void make_choice(struct choice *c, const struct torus_shape *s, unsigned int d,
			unsigned int from, unsigned int odd)
{
	unsigned int back = s->ndims + d;

	c->size = s->size[d];
	c->from = from;
	c->up = BIT_OF(d);
	c->down = BIT_OF(back);
	for (unsigned int to_odd = 0; to_odd < 2; to_odd++)
		c->tie[to_odd] = ADAPT_OF(d) | ADAPT_OF(back) |
				 (lt_tie_up(odd, to_odd) ? c->up : c->down);
}

static uint64_t direction_bit(const struct choice *c, unsigned int to, unsigned int to_odd)
{
	unsigned int twice = 2 * (to >= c->from ? to - c->from : to + c->size - c->from);

	if (!twice)
		return 0;
	if (twice == c->size)
		return c->tie[to_odd & 1];
	return twice < c->size ? c->up : c->down;
}

static void write_plain_line(const struct plain *p, uint32_t id, uint64_t above,
			     unsigned int to_odd)
{
	const uint64_t *restrict line = p->line[to_odd & 1];
	uint64_t *restrict rows = p->rows + id;
	unsigned int size = p->h->shape.size[0], c;

	for (c = 0; c + 4 <= size; c += 4) {
		rows[c] = line[c] | above;
		rows[c + 1] = line[c + 1] | above;
		rows[c + 2] = line[c + 2] | above;
		rows[c + 3] = line[c + 3] | above;
	}
	for (; c < size; c++)
		rows[c] = line[c] | above;
}

static void put_dim(const struct plain *p, unsigned int d, uint32_t id, uint64_t above,
		    unsigned int to_odd)
{
	unsigned int size = p->h->shape.size[d], c;

	if (!d) {
		write_plain_line(p, id, above, to_odd);
		return;
	}
	for (c = 0; c < size; c++, id += p->h->stride[d])
		put_dim(p, d - 1, id, above | direction_bit(&p->dim[d], c, to_odd), to_odd ^ c);
}

void lt_plain_rows(const struct torus_health *h, uint32_t from,
		   const struct torus_coords *at, uint64_t *rows)
{
	unsigned int d, c, odd = 0;
	struct plain p;

	p.h = h;
	p.rows = rows;
	for (d = 0; d < h->shape.ndims; d++) {
		odd ^= at->c[d];
		make_choice(&p.dim[d], &h->shape, d, at->c[d], odd);
	}
	for (c = 0; c < h->shape.size[0]; c++) {
		p.line[0][c] = direction_bit(&p.dim[0], c, 0);
		p.line[1][c] = direction_bit(&p.dim[0], c, 1);
	}
	put_dim(&p, h->shape.ndims - 1u, 0, ROW_PLAIN | TORUS_ROW_ADAPTIVE, 0);
	rows[from] = ROW_PLAIN;
}
