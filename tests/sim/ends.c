// SPDX-License-Identifier: GPL-2.0-only
#include "ends.h"
#include "tools/fabricsim/world_impl.h"

const char *const end_names[ENDS] = { "loses its power", "loses its manager", "hangs" };

void end_node(struct world *w, uint32_t node, enum ending end)
{
	if (end == POWER)
		world_power(w, node, false);
	else if (end == KILL)
		world_manager(w, node, false);
	else
		world_hang(w, node, true);
}

void end_undo(struct world *w, uint32_t node, enum ending end)
{
	if (end == POWER)
		world_power(w, node, true);
	else if (end == KILL)
		world_manager(w, node, true);
	else
		world_hang(w, node, false);
}

static bool runs(const struct world *w, uint32_t node)
{
	return w->node[node].managed && !w->node[node].hung;
}

unsigned int ends_roots(struct world *w)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < w->nodes; i++)
		n += runs(w, i) && fm_is_root(w->node[i].fm);
	return n;
}

uint32_t ends_leader(struct world *w, uint32_t but)
{
	for (uint32_t i = 0; i < w->nodes; i++) {
		const struct wnode *n = &w->node[i];

		if (i != but && runs(w, i) && fm_is_root(n->fm) && fm_version(n->fm) &&
		    n->rows_epoch == fm_epoch(n->fm))
			return i;
	}
	return TORUS_NO_NODE;
}

uint32_t ends_await(struct trial *s, uint32_t but, uint64_t limit)
{
	uint64_t end = world_now(s->w) + limit;
	uint32_t root = ends_leader(s->w, but);

	while (root == TORUS_NO_NODE && world_now(s->w) < end) {
		trial_run(s, 10 * MS);
		root = ends_leader(s->w, but);
	}
	return root;
}
