/* SPDX-License-Identifier: GPL-2.0-only */
/* Cables: which should be there, which are, and what is to be done about the difference. */
#ifndef CABLING_H
#define CABLING_H

#include <jansson.h>
#include <stdbool.h>
#include <torus/topology.h>

/** struct cables - by end, which is node * ports + port: the end of its cable that is there */
struct cables {
	struct torus_shape shape;
	uint32_t ends;
	uint32_t *far;		/* CABLE_NONE: no cable */
};

#define CABLE_NONE UINT32_MAX

/** cables_new() - none yet. Return: false: no memory */
bool cables_new(struct cables *c, const struct torus_shape *shape);
void cables_free(struct cables *c);
/** cables_join() - a cable from @a to @b. Return: false: another one is there already */
bool cables_join(struct cables *c, uint32_t a, uint32_t b);
/** cables_torus() - all cables of the shape */
void cables_torus(struct cables *c);
/** cables_end() - @end as {node, port} */
json_t *cables_end(const struct cables *c, uint32_t end);
/** cables_end_read() - {"node","port"}. Return: the end; CABLE_NONE: it is none of the shape */
uint32_t cables_end_read(const struct cables *c, const json_t *end);

/**
 * cables_steps() - how @is becomes @wanted: [{do, at, to}]
 * do: "move": the end at @at to @to; "plug": a cable from @at to @to; "remove": that from @at to @to
 */
json_t *cables_steps(const struct cables *wanted, const struct cables *is);

#endif /* CABLING_H */
