// SPDX-License-Identifier: GPL-2.0-only
/* What a fabric at rest must look like. */
#include <stdio.h>
#include <torus/route.h>

#include "check.h"
#include "tools/fabricsim/world_impl.h"

/* A path of healthy links between two nodes: rows may be missing only else. */
static bool joined(const struct world *w, const uint16_t *closed, uint32_t a, uint32_t b)
{
	uint32_t *queue = malloc(w->nodes * sizeof(*queue)), head = 0, tail = 0;
	bool *seen = calloc(w->nodes, sizeof(*seen)), found;

	if (!queue || !seen)
		abort();
	queue[tail++] = a;
	seen[a] = true;
	while (head < tail && !seen[b]) {
		uint32_t at = queue[head++];

		for (unsigned int p = 0; p < w->nports; p++) {
			uint32_t to = torus_neighbour(&w->cfg.shape, at, p);

			if (closed[at] & 1u << p || seen[to])
				continue;
			seen[to] = true;
			queue[tail++] = to;
		}
	}
	found = seen[b];
	free(queue);
	free(seen);
	return found;
}

/* The table's exclusions against the cables as they are. */
static const char *table_wrong(struct world *w, const struct fm *root, char *buf, size_t room)
{
	const uint16_t *closed = fm_exclusions(root);

	for (uint32_t i = 0; i < w->ncables; i++) {
		const struct cable *c = &w->cable[i];
		bool usable = world_cable_whole(w, i) && w->node[c->node[0]].managed &&
			      w->node[c->node[1]].managed;
		bool open = !(closed[c->node[0]] & 1u << c->port[0]);

		if (c->there && usable != open) {
			const struct fm_entry *a = fm_node(root, c->node[0]);
			const struct fm_entry *b = fm_node(root, c->node[1]);

			snprintf(buf, room,
				 "cable %u at %u:%u and %u:%u is %s but the table says %s: states %u %u, faults %x %x, wiring %x %x",
				 i, c->node[0], c->port[0], c->node[1], c->port[1],
				 usable ? "whole" : "down", open ? "up" : "excluded", a->state,
				 b->state, a->fault, b->fault, a->wiring, b->wiring);
			return buf;
		}
	}
	return NULL;
}

static const char *rows_wrong(struct world *w, uint32_t node, const uint16_t *closed, char *buf,
			      size_t room)
{
	uint32_t hops;
	const u64 *rows = tn_nic_rows_get(w->node[node].nic, 0, w->nodes);

	for (uint32_t to = 0; to < w->nodes; to++) {
		enum torus_walk_end end = torus_walk(&w->cfg.shape, closed, node, to,
						     rows ? rows[to] : 0, NULL, 0, &hops);

		if (rows && rows[to] & TORUS_ROW_HOLD) {
			snprintf(buf, room, "row of %u to %u is still on hold", node, to);
			return buf;
		}
		if (end == TORUS_WALK_ARRIVED)
			continue;
		if (end == TORUS_WALK_NO_ROW && !joined(w, closed, node, to))
			continue;
		/* This engine tries no relays: rare pairs have no ordered path. */
		if (end == TORUS_WALK_NO_ROW) {
			uint64_t *all = malloc(w->nodes * sizeof(*all));
			bool none = all && torus_route_rows(&w->cfg.shape, closed, node, all) > 0 &&
				    !(all[to] & TORUS_ROW_VALID);

			free(all);
			if (none)
				continue;
		}
		snprintf(buf, room, "row of %u to %u: %s", node, to, torus_walk_end_text(end));
		return buf;
	}
	return NULL;
}

static const char *nic_wrong(struct world *w, uint32_t node, char *buf, size_t room)
{
	struct tn_park_info park;

	tn_nic_park_info(w->node[node].nic, &park);
	if (!park.parked && !park.held)
		return NULL;
	snprintf(buf, room, "node %u has %llu packets parked and %llu held", node,
		 (unsigned long long)park.parked, (unsigned long long)park.held);
	return buf;
}

const char *check_end(struct world *w, char *buf, size_t room)
{
	struct fm *root = w->node[world_root(w)].fm;
	const uint16_t *closed = root ? fm_exclusions(root) : NULL;
	struct fm_status s;
	const char *wrong;

	if (!closed)
		return "no table";
	fm_status(root, &s);
	if (memcmp(&s.shape, &w->cfg.shape, sizeof(s.shape))) {
		char text[TORUS_TEXT_MAX];

		snprintf(buf, room, "shape found is %s", torus_shape_text(&s.shape, text));
		return buf;
	}
	wrong = table_wrong(w, root, buf, room);
	for (uint32_t i = 0; !wrong && i < w->nodes; i++) {
		if (!w->node[i].managed)
			continue;
		wrong = nic_wrong(w, i, buf, room);
		if (!wrong)
			wrong = rows_wrong(w, i, closed, buf, room);
	}
	return wrong;
}
