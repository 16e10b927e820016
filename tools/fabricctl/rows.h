/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads the rows in the NICs, and the exclusion table. */
#ifndef ROWS_H
#define ROWS_H

#include <torus/route.h>

#include "ask.h"

/** struct rows - the rows of one NIC */
struct rows {
	uint64_t version;
	uint32_t n;
	uint64_t *row;
};

/** rows_get() - read the rows of @node from its NIC. Return: OK, or the kind of the error */
int rows_get(struct ask *a, const struct torus_shape *shape, uint32_t node,
	     struct rows *out);
/**
 * struct rows_reader - reads the rows of all nodes, as many nodes at once as a reply has room for
 * @apart: the manager's release does not know runs of rows; set by the reader
 */
struct rows_reader {
	struct ask *ask;
	const struct torus_shape *shape;
	bool apart;
};

/** rows_batch() - Return: number of nodes of the next question, which limits the size of replies */
uint32_t rows_batch(const struct rows_reader *r);
/**
 * rows_get_some() - read the rows of some nodes from @first on
 * @out: one for each node that is left; its row is NULL if that node's rows cannot be read, which
 *	is printed
 * @n: set to the number of nodes of the answer
 *	Return: OK, or the kind of the error if none was read.
 */
int rows_get_some(struct rows_reader *r, uint32_t first, struct rows *out, uint32_t *n);
void rows_free(struct rows *r);

/** struct exclusions - the exclusion table that is in force at all nodes */
struct exclusions {
	uint64_t version;
	struct torus_shape shape;
	uint16_t *port;		/* closed table: both ends of a cable agree */
	bool *up;		/* for each node, true if it is up */
	bool *out;		/* for each node, true if an administrator has excluded all its
				 * ports */
	json_t *missing;	/* nodes that are not up: {node, state} of each */
};

/** exclusions_get() - read the table. Return: OK, or the kind of the error */
int exclusions_get(struct ask *a, struct exclusions *out);
void exclusions_free(struct exclusions *e);

/** rows_dirs_text() - convert a DIR mask to "+x -y", or "-". Return: @buf, of TORUS_TEXT_MAX */
char *rows_dirs_text(unsigned int ndims, unsigned int mask, char *buf);
json_t *rows_dirs_json(unsigned int ndims, unsigned int mask);
/** rows_step() - Return: the port of the first or last step, or -1 */
int rows_step(uint64_t row, unsigned int shift);

#endif /* ROWS_H */
