/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows of all nodes of a fabric, which a test may make wrong, for tests of torus_verify(). */
#ifndef TESTS_VERIFY_FABRIC_H
#define TESTS_VERIFY_FABRIC_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <torus/route.h>
#include <torus/topology.h>

#define NODES 64
#define NONE (TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT | 15ull << TORUS_ROW_LAST_SHIFT)
#define RELAY(node) (TORUS_ROW_RELAY | (uint64_t)(node) << TORUS_ROW_RELAY_SHIFT)
#define ADAPTIVE(dirs) (TORUS_ROW_ADAPTIVE | (uint64_t)(dirs) << TORUS_ROW_ADAPT_SHIFT)

/** struct fabric - rows of all nodes, old and new; and what torus_verify() found */
struct fabric {
	struct torus_shape shape;
	uint32_t nodes;
	uint16_t excluded[NODES];
	uint64_t rows[2][NODES][NODES];
	const uint64_t *list[2][NODES];
	struct torus_tables tables[2];
	unsigned int reported[16];
	struct torus_culprit last, cycle;
	struct torus_verified found;
};

/* Clears @f and sets its shape; the second table is the old one. No node has rows yet. */
void begin(struct fabric *f, const char *shape);
/* Excludes a cable, at both ends. */
void cut(struct fabric *f, uint32_t node, unsigned int port);
/* Makes the former rows the old ones, and computes the right ones for the exclusions. */
void make_rows(struct fabric *f);
/* A row with these directions and steps. */
uint64_t steps(uint64_t dirs, uint64_t first, uint64_t last);

/* Runs torus_verify() on the first @n tables. */
void verify(struct fabric *f, unsigned int n);
/* Runs it, and fails unless it finds nothing wrong; prints @seed. */
void good(struct fabric *f, unsigned int n, uint64_t seed);
/* Runs it on the new table, and fails unless it reports @what for the row of @from to @to. */
void expect(struct fabric *f, enum torus_wrong what, uint32_t from, uint32_t to);
/* The callback that verify() gives to torus_verify(). */
void note(void *arg, const struct torus_culprit *c);

#endif /* TESTS_VERIFY_FABRIC_H */
