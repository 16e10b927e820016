/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Planned cables, present cables, and the steps that turn the present cables into the planned ones.
 */
#ifndef CABLING_H
#define CABLING_H

#include <jansson.h>
#include <stdbool.h>
#include <torus/topology.h>

/** struct cables - for each end (node * ports + port), the other end of its cable */
struct cables {
	struct torus_shape shape;
	uint32_t ends;
	uint32_t *far;		/* CABLE_NONE: no cable */
};

#define CABLE_NONE UINT32_MAX

/** cables_new() - make an empty set. Return: false without memory */
bool cables_new(struct cables *c, const struct torus_shape *shape);
void cables_free(struct cables *c);
/** cables_join() - add a cable from @a to @b. Return: false if an end has another cable */
bool cables_join(struct cables *c, uint32_t a, uint32_t b);
/** cables_torus() - add all cables of the shape */
void cables_torus(struct cables *c);
/** cables_end() - Return: @end as {node, port} */
json_t *cables_end(const struct cables *c, uint32_t end);
/**
 * cables_end_read() - parse {"node","port"}. Return: the end; CABLE_NONE: the shape has no such end
 */
uint32_t cables_end_read(const struct cables *c, const json_t *end);

/**
 * cables_steps() - compute the steps that turn @is into @wanted: [{do, at, to}]
 * do: "move": the end at @at to @to; "plug": a cable from @at to @to; "remove": the cable at @at
 */
json_t *cables_steps(const struct cables *wanted, const struct cables *is);

#endif /* CABLING_H */
