/* SPDX-License-Identifier: GPL-2.0-only */
/* The slots for the ranks of a program: nodes, each with room for some ranks. */
#ifndef SLOTS_H
#define SLOTS_H

#include <jansson.h>

#include "rows.h"

#define SLOTS_EACH_MAX 4096	/* most slots of a node */

/**
 * struct slots - slots in the order in which a launcher would fill them
 * @shape: shape of the torus
 * @node: node of each slot; @number: number of the slot on its node
 * @n: number of slots
 * @name: for each node of the torus its name, or NULL; in the answer that @answer holds
 */
struct slots {
	struct torus_shape shape;
	uint32_t *node, *number;
	uint32_t n;
	const char **name;
	json_t *answer;
};

/**
 * slots_new() - take the slots of all nodes that are up and not out of service, or of @hosts
 * @nodes: answer of the manager; a reference is kept
 * @each: slots of a node for which @hosts has no number
 * @hosts: NAME[:SLOTS],..., or @FILE with a host in each line; NULL: all nodes
 * Return: OK or CANNOT.
 */
int slots_new(const struct exclusions *table, json_t *nodes, uint32_t each, const char *hosts,
	      struct slots *out);
/**
 * slots_of_job() - take the slots of the nodes of a job, by number; those that are not up or out of
 * service have none
 * @members: nodes of the job, as job_get() gets them; a reference is kept
 * @each: slots of a node
 * @missing: set to the number of nodes without slots
 * Return: OK or CANNOT.
 */
int slots_of_job(const struct exclusions *table, json_t *members, uint32_t each, struct slots *out,
		 uint32_t *missing);
void slots_free(struct slots *s);

#endif /* SLOTS_H */
