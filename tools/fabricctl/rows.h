/* SPDX-License-Identifier: GPL-2.0-only */
/* Rows as they really stand in the NICs, and the exclusion table. */
#ifndef ROWS_H
#define ROWS_H

#include <torus/route.h>

#include "ask.h"

/** struct rows - of one NIC */
struct rows {
	uint64_t version;
	uint32_t n;
	uint64_t *row;
};

/** rows_get() - of @node, read from its NIC. Return: OK, or why not (kind.h) */
int rows_get(struct ask *a, const struct torus_shape *shape, uint32_t node,
	     struct rows *out);
/**
 * struct rows_reader - reads the rows of all nodes, of as many at once as a reply has room for
 * @apart: the manager is of a release that knows no runs of rows; set by the reader
 */
struct rows_reader {
	struct ask *ask;
	const struct torus_shape *shape;
	bool apart;
};

/** rows_batch() - of how many nodes the next question is; it bounds the bytes under way */
uint32_t rows_batch(const struct rows_reader *r);
/**
 * rows_get_some() - of the nodes from @first on
 * @out: one for each node that is left; its row is NULL if that node's rows cannot be read, which
 *	is said
 * @n: of how many nodes the answer is
 * Return: OK, or why none was read (kind.h).
 */
int rows_get_some(struct rows_reader *r, uint32_t first, struct rows *out, uint32_t *n);
void rows_free(struct rows *r);

/** struct exclusions - the table, in force all over the fabric */
struct exclusions {
	uint64_t version;
	struct torus_shape shape;
	uint16_t *port;		/* closed: both ends of a cable agree */
	bool *up;		/* nodes */
	bool *out;		/* nodes taken out by an admin, with all their ports */
};

/** exclusions_get() - Return: OK, or why not (kind.h) */
int exclusions_get(struct ask *a, struct exclusions *out);
void exclusions_free(struct exclusions *e);

/** rows_dirs_text() - "+x -y" of a DIR mask, or "-". @buf: TORUS_TEXT_MAX */
char *rows_dirs_text(unsigned int ndims, unsigned int mask, char *buf);
json_t *rows_dirs_json(unsigned int ndims, unsigned int mask);
/** rows_step() - first or last step: a port, or -1 */
int rows_step(uint64_t row, unsigned int shift);

#endif /* ROWS_H */
