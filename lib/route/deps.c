// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include <torus/topology.h>
#include "lib/deps/invariant.h"
#include "deps.h"

#define UNSEEN 0xffffffffu

int lt_deps_init(struct deps *g, const struct torus_shape *shape)
{
	*g = (struct deps){
		.shape = shape,
		.channels = torus_nodes(shape) * 2u * shape->ndims,
	};
	g->next = calloc(g->channels, sizeof(*g->next));
	g->component = malloc(g->channels * sizeof(*g->component));
	g->bad = calloc(g->channels, sizeof(*g->bad));
	if (g->next && g->component && g->bad)
		return 0;
	lt_deps_free(g);
	return -ENOMEM;
}

void lt_deps_free(struct deps *g)
{
	free(g->next);
	free(g->component);
	free(g->bad);
	*g = (struct deps){ .channels = 0 };
}

/**
 * struct solver - R. Tarjan's algorithm for strongly connected components, without recursion
 * @index: for each channel, its number in the order of discovery, or UNSEEN
 * @low: for each channel, the least number that it leads to
 * @path: channels on the path from the root of the search to the present one
 * @todo: for each channel of @path, successors that are still to be visited
 * @stack: channels that were discovered and have no component yet
 */
struct solver {
	struct deps *g;
	uint32_t *index, *low, *path, *stack;
	uint16_t *todo;
	uint32_t found, depth, height, components;
};

static void enter_channel(struct solver *s, uint32_t c)
{
	invariant(s->depth < s->g->channels && s->height < s->g->channels);
	s->index[c] = s->low[c] = s->found++;
	s->todo[c] = s->g->next[c];
	s->path[s->depth++] = c;
	s->stack[s->height++] = c;
}

/*
 * Closes the component of which @c was discovered first; its other channels are above @c on the
 * stack. It is bad unless all of them have one direction: such channels can lead to each other only
 * round one ring.
 */
static void close_component(struct solver *s, uint32_t c)
{
	struct deps *g = s->g;
	uint32_t ports = 2u * g->shape->ndims, member;

	do {
		invariant(s->height);
		member = s->stack[--s->height];
		invariant(g->component[member] == UNSEEN && s->index[member] >= s->index[c]);
		g->component[member] = s->components;
		if (member % ports != c % ports)
			g->bad[s->components] = true;
	} while (member != c);
	s->components++;
}

static void search_from(struct solver *s, uint32_t root)
{
	struct deps *g = s->g;
	unsigned int ports = 2u * g->shape->ndims;

	enter_channel(s, root);
	while (s->depth) {
		uint32_t c = s->path[s->depth - 1], next;
		unsigned int port;

		if (!s->todo[c]) {
			if (s->low[c] == s->index[c])
				close_component(s, c);
			if (--s->depth && s->low[s->path[s->depth - 1]] > s->low[c])
				s->low[s->path[s->depth - 1]] = s->low[c];
			continue;
		}
		port = (unsigned int)__builtin_ctz(s->todo[c]);
		s->todo[c] &= (uint16_t)(s->todo[c] - 1);
		next = lt_channel(g, torus_neighbour(g->shape, c / ports, c % ports), port);
		if (s->index[next] == UNSEEN)
			enter_channel(s, next);
		else if (g->component[next] == UNSEEN && s->index[next] < s->low[c])
			s->low[c] = s->index[next];
	}
	invariant(!s->height);
}

int lt_deps_solve(struct deps *g)
{
	size_t n = g->channels;
	struct solver s = {
		.g = g,
		.index = malloc(n * sizeof(*s.index)),
		.low = malloc(n * sizeof(*s.low)),
		.path = malloc(n * sizeof(*s.path)),
		.stack = malloc(n * sizeof(*s.stack)),
		.todo = malloc(n * sizeof(*s.todo)),
	};
	int bad = -ENOMEM;

	if (s.index && s.low && s.path && s.stack && s.todo) {
		for (uint32_t c = 0; c < n; c++)
			s.index[c] = g->component[c] = UNSEEN;
		for (uint32_t c = 0; c < n; c++)
			if (s.index[c] == UNSEEN)
				search_from(&s, c);
		invariant(s.found == n && s.components <= n);
		bad = 0;
		for (uint32_t i = 0; i < s.components; i++)
			bad += g->bad[i];
	}
	free(s.index);
	free(s.low);
	free(s.path);
	free(s.stack);
	free(s.todo);
	return bad;
}

bool lt_deps_bad(const struct deps *g, uint32_t a, uint32_t b)
{
	return g->component[a] == g->component[b] && g->bad[g->component[a]];
}
