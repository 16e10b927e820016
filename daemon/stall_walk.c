// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/stall_walk.h"

static uint8_t first_verdict(unsigned int peer)
{
	if (!(peer & STALL_REPORTED))
		return STALL_SILENT;
	return peer & STALL_WAITS ? STALL_CIRCLE : STALL_SINK;
}

void stall_walk(const struct torus_shape *shape, uint8_t *node, struct stall_wait *w, size_t n)
{
	bool more = true;

	for (size_t i = 0; i < n; i++)
		node[w[i].node] |= STALL_WAITS;
	for (size_t i = 0; i < n; i++) {
		w[i].verdict = first_verdict(node[torus_neighbour(shape, w[i].node, w[i].port)]);
		if (w[i].verdict != STALL_CIRCLE)
			node[w[i].node] |= STALL_ENDS;
	}
	while (more) {		/* the loop ends, because each round but the last sets a verdict */
		more = false;
		for (size_t i = 0; i < n; i++) {
			if (w[i].verdict != STALL_CIRCLE ||
			    !(node[torus_neighbour(shape, w[i].node, w[i].port)] & STALL_ENDS))
				continue;
			w[i].verdict = STALL_PASSES;
			node[w[i].node] |= STALL_ENDS;
			more = true;
		}
	}
}

const struct stall_wait *stall_same(const struct stall_wait *before, size_t n,
				    const struct stall_wait *w)
{
	for (size_t i = 0; i < n; i++)
		if (before[i].node == w->node && before[i].port == w->port)
			return before[i].verdict == STALL_SINK && before[i].ns < w->ns ?
			       &before[i] : NULL;
	return NULL;
}
