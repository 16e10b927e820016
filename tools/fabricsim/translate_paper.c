// SPDX-License-Identifier: GPL-2.0-only
/* The paper about bridges; see translate_paper.h. */
#include <errno.h>
#include <stdlib.h>

#include "translate_paper.h"

#define FLIT 16

const struct translate_labour translate_basic = { 208.935, 49.107, 300.591 };
const struct translate_labour translate_modified = { 117.621, 37.707, 208.935 };

const struct translate_row translate_tables[4] = {
	{ .index = 0, .high = 0x0100, .to = 0x11000000, .valid = true, .port = 1 },
	{ .index = 1, .high = 0x0200, .to = 0x16000000, .valid = true, .port = 2 },
	{ .index = 2, .high = 0x0400, .to = 0x1d000000, .valid = true, .port = 3 },
	{ .index = 3, .high = 0x0500, .to = 0xb100c000, .valid = false, .port = 4 },
};

struct translate_labour translate_ratio(struct translate_labour a, struct translate_labour b)
{
	return (struct translate_labour) { a.avg / b.avg, a.min / b.min, a.max / b.max };
}

struct translate_labour translate_ns(struct translate_labour ops)
{
	return (struct translate_labour) { ops.avg / TRANSLATE_OPS_NS, ops.min / TRANSLATE_OPS_NS,
					   ops.max / TRANSLATE_OPS_NS };
}

/* Return: the bits of an address above the offset and below those compared with BAR[2]. */
static inline uint32_t field_of(uint64_t addr)
{
	return (uint32_t)(addr >> TRANSLATE_SHIFT);
}

/* Adds to the count of operations; without a count the compiler leaves it out. */
static inline void spend_ops(uint64_t *ops, unsigned int n)
{
	if (ops)
		*ops += n;
}

/* Return: the row that is searched, NULL if there is none. */
static inline __attribute__((always_inline)) const struct translate_row *
search_rows(enum translate_program program, const struct translate_bridge *b, uint64_t addr,
	    uint64_t *ops)
{
	uint32_t wanted = field_of(addr);

	spend_ops(ops, 3);				/* shift, mask; i = 0 */
	for (size_t i = 0; i < b->n; i++) {
		const struct translate_row *row = &b->row[i];

		spend_ops(ops, 2);			/* compare i with n, branch */
		if (program == TRANSLATE_INDEX) {
			wanted = field_of(addr);
			spend_ops(ops, 2);		/* (6) shift, mask */
		}
		spend_ops(ops, 3);			/* (7) load, compare, branch */
		if ((program == TRANSLATE_HIGH ? row->high : row->index) == wanted)
			return row;
		spend_ops(ops, 1);			/* i++ */
	}
	spend_ops(ops, 2);
	return NULL;
}

static inline __attribute__((always_inline)) int
translate_by(enum translate_program program, const struct translate_bridge *b, uint64_t addr,
	  uint64_t *to, uint64_t *ops)
{
	const struct translate_row *row;

	spend_ops(ops, 2);				/* (3) load, branch */
	if (!b->by_table)
		return -EINVAL;
	spend_ops(ops, 3);				/* (4) shift, two masks: RgA */
	spend_ops(ops, 3);				/* (5) load, compare, branch */
	if (addr >> 48 != b->bar)
		return -ENXIO;
	row = search_rows(program, b, addr, ops);
	if (!row)
		return -ENXIO;
	spend_ops(ops, 2);				/* (8) load, branch */
	if (!row->valid)
		return -ESTALE;
	spend_ops(ops, 6);				/* (9) load, store; (10) add, store;
							 * load, store LT[Par] */
	*to = row->to + (addr & ((1u << TRANSLATE_SHIFT) - 1));
	return 0;
}

int translate_run(enum translate_program program, const struct translate_bridge *b, uint64_t addr,
		  uint64_t *to, uint64_t *ops)
{
	return translate_by(program, b, addr, to, ops);
}

int translate_plain(enum translate_program program, const struct translate_bridge *b, uint64_t addr,
		    uint64_t *to)
{
	/* A constant program, so that the search has no branch for it. */
	if (program == TRANSLATE_HIGH)
		return translate_by(TRANSLATE_HIGH, b, addr, to, NULL);
	return translate_by(TRANSLATE_INDEX_ONCE, b, addr, to, NULL);
}

int translate_count(enum translate_program program, size_t n, struct translate_counts *c)
{
	struct translate_row *row = calloc(n, sizeof(*row));
	struct translate_bridge b = { .by_table = true, .row = row, .n = n };
	uint64_t to, ops, sum = 0, least = UINT64_MAX, most = 0;

	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		row[i] = (struct translate_row) { .index = (uint32_t)i, .high = (uint32_t)i,
						  .valid = true };
	for (size_t i = 0; i < n; i++) {
		ops = 0;
		translate_run(program, &b, (uint64_t)i << TRANSLATE_SHIFT, &to, &ops);
		sum += ops;
		least = ops < least ? ops : least;
		most = ops > most ? ops : most;
	}
	ops = 0;
	translate_run(program, &b, (uint64_t)n << TRANSLATE_SHIFT, &to, &ops);
	*c = (struct translate_counts) {
		.hit = { (double)sum / (double)n, (double)least, (double)most },
		.miss = (double)ops,
	};
	free(row);
	return 0;
}

unsigned int translate_bytes(unsigned int bytes, bool keyed)
{
	unsigned int data = (bytes + FLIT - 1) / FLIT;

	/* header and tail, the request's own flits */
	return (2 + 1 + (keyed ? 1 : 0) + data) * FLIT;
}
