// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each wrong cable keeps one end, and its other end is moved to the port that the plan has for it.
 * Each cable of the plan is made from at most one existing cable; the other cables of the plan are
 * plugged in, and existing cables that are not needed are removed.
 */
#include <stdlib.h>

#include "cabling.h"
#include "json.h"

bool cables_new(struct cables *c, const struct torus_shape *shape)
{
	c->shape = *shape;
	c->ends = torus_nodes(shape) * 2u * shape->ndims;
	c->far = malloc(c->ends * sizeof(*c->far));
	for (uint32_t i = 0; c->far && i < c->ends; i++)
		c->far[i] = CABLE_NONE;
	return c->far;
}

void cables_free(struct cables *c)
{
	free(c->far);
	c->far = NULL;
}

bool cables_join(struct cables *c, uint32_t a, uint32_t b)
{
	if (c->far[a] == b && c->far[b] == a)
		return true;
	if (a == b || c->far[a] != CABLE_NONE || c->far[b] != CABLE_NONE)
		return false;
	c->far[a] = b;
	c->far[b] = a;
	return true;
}

void cables_torus(struct cables *c)
{
	unsigned int ports = 2u * c->shape.ndims;

	for (uint32_t end = 0; end < c->ends; end++) {
		uint32_t node = end / ports, port = end % ports;

		if (port < c->shape.ndims && c->shape.size[port] > 1)
			cables_join(c, end, torus_neighbour(&c->shape, node, port) * ports +
					    torus_dir_opposite(&c->shape, port));
	}
}

json_t *cables_end(const struct cables *c, uint32_t end)
{
	unsigned int ports = 2u * c->shape.ndims;
	char port[TORUS_TEXT_MAX];

	return json_pack("{so ss}", "node", json_node(&c->shape, end / ports), "port",
			 torus_port_text(c->shape.ndims, end % ports, port));
}

uint32_t cables_end_read(const struct cables *c, const json_t *end)
{
	const char *text = json_text(end, "port");
	unsigned int port;
	uint32_t node;

	if (!text || torus_port_parse(text, c->shape.ndims, &port) ||
	    json_node_read(json_object_get(end, "node"), &c->shape, &node))
		return CABLE_NONE;
	return node * 2u * c->shape.ndims + port;
}

static void add_step(json_t *list, const struct cables *c, const char *what, uint32_t at,
		     uint32_t to)
{
	json_array_append_new(list, json_pack("{ss so so}", "do", what, "at", cables_end(c, at),
					      "to", cables_end(c, to)));
}

/*
 * Adds the step that moves an end to its planned port, if that cable is not made by an earlier
 * step.
 */
static bool move_end(const struct cables *wanted, uint32_t kept, uint32_t moved, bool *made,
		     json_t *list)
{
	uint32_t to = wanted->far[kept];

	if (to == CABLE_NONE || made[kept])
		return false;
	made[kept] = made[to] = true;
	add_step(list, wanted, "move", moved, to);
	return true;
}

json_t *cables_steps(const struct cables *wanted, const struct cables *is)
{
	bool *made = calloc(wanted->ends, sizeof(*made));
	json_t *list = made ? json_array() : NULL;

	for (uint32_t end = 0; list && end < wanted->ends; end++)
		made[end] = wanted->far[end] != CABLE_NONE && is->far[end] == wanted->far[end];
	for (uint32_t end = 0; list && end < is->ends; end++) {
		uint32_t far = is->far[end];

		if (far == CABLE_NONE || far < end || far == wanted->far[end])
			continue;
		if (!move_end(wanted, end, far, made, list) &&
		    !move_end(wanted, far, end, made, list))
			add_step(list, wanted, "remove", end, far);
	}
	for (uint32_t end = 0; list && end < wanted->ends; end++)
		if (wanted->far[end] != CABLE_NONE && wanted->far[end] > end && !made[end])
			add_step(list, wanted, "plug", end, wanted->far[end]);
	free(made);
	return list;
}
