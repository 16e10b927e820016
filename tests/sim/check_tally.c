// SPDX-License-Identifier: GPL-2.0-only
/* Checks that the data that the root updates at each change equal those computed from all nodes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>

#include "check.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/tally.h"

static bool has_nic(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP || e->state == FM_NODE_SILENT;
}

/*
 * Checks that each node that is neither marked nor odd has the entry that the next table would
 * give it.
 */
static const char *entries_wrong(struct fm *fm, char *buf, size_t room)
{
	const struct fm_changes *t = &fm->root->changes;
	struct fm_entry e;

	for (uint32_t i = 0; i < t->nodes; i++) {
		if (t->table.is[i] || t->odd.is[i] || t->differ.is[i])
			continue;
		if (fm_publish_entry(fm, i, fm->root->version + 1, &e) && memcmp(&e, &fm->table.entry[i], sizeof(e))) {
			snprintf(buf, room, "node %u: its entry changed, but it is not marked", i);
			return buf;
		}
		if (t->odd.is[i])
			return "a node is odd and was not marked so";
	}
	return NULL;
}

static const char *parts_wrong(const struct fm *fm)
{
	uint32_t count = 0, lives = 0;
	uint64_t set = 0;

	for (uint32_t i = 0; i < fm->table.nodes; i++) {
		const struct fm_entry *e = &fm->table.entry[i];
		const struct fm_record *m = fm_record_at(fm->root, i);

		if (e->state == FM_NODE_UP && m && m->guid == e->guid && m->epoch == e->epoch &&
		    m->state == FM_NODE_UP) {
			count++;
			set += fm_fingerprint(e->guid, e->epoch);
		} else {
			bool same = m && m->guid == e->guid;

			/* not counted: it was judged dead, or has restarted since */
			if (same && (m->state == FM_NODE_DEAD || (e->epoch && m->epoch != e->epoch)))
				continue;
			/* counted: it lives, or has come back since it was judged dead */
			lives += has_nic(e) || (e->state == FM_NODE_DEAD && same &&
						m->state == FM_NODE_UP);
		}
	}
	if (fm_tally(fm)->parts[FM_PART_TAKES] != count || fm_tally(fm)->set != set)
		return "the root miscounts the nodes that take part";
	return fm_tally(fm)->parts[FM_PART_LIVES] == lives ? NULL :
	       "the root miscounts the nodes that live and take no part";
}

static const char *closed_wrong(const struct fm *fm, uint16_t *closed)
{
	const struct fm_table *t = &fm->table;
	uint16_t all = (uint16_t)((1u << 2 * t->shape.ndims) - 1);

	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];
		const struct fm_record *m = fm_record_at(fm->root, i);

		closed[i] = has_nic(e) ? (e->fault | e->wiring | e->admin) & all : all;
		for (unsigned int p = 0; m && p < 2u * t->shape.ndims; p++)
			if (m->row.port[p].closed && !fm->root->changes.closed.is[i])
				return "a port is closed and its node is not marked";
	}
	torus_exclusions_close(&t->shape, closed);
	return memcmp(closed, t->closed, t->nodes * sizeof(*closed)) ?
	       "the table's exclusions do not follow from its entries" : NULL;
}

/* Checks that links join all nodes that are up, if the root says so. */
static const char *joined_wrong(const struct fm *fm, bool *seen)
{
	const struct fm_table *t = &fm->table;
	bool more = true;

	seen[fm->node] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < t->nodes; i++) {
			for (unsigned int p = 0; seen[i] && p < 2u * t->shape.ndims; p++) {
				uint32_t to = torus_neighbour(&t->shape, i, p);

				if (t->closed[i] & 1u << p || seen[to])
					continue;
				seen[to] = more = true;
			}
		}
	}
	for (uint32_t i = 0; i < t->nodes; i++)
		if (fm->root->joined && t->entry[i].state == FM_NODE_UP && !seen[i])
			return "a node is cut off, but the root does not know";
	return NULL;
}

const char *check_tally(struct world *w, char *buf, size_t room)
{
	struct fm *fm = world_fm(w, world_root(w));
	const char *wrong;
	uint16_t *closed;
	bool *seen;

	if (!fm || !fm->root || !fm->root->settled || !fm->table.version)
		return NULL;
	closed = calloc(fm->table.nodes, sizeof(*closed));
	seen = calloc(fm->table.nodes, sizeof(*seen));
	if (!closed || !seen)
		abort();
	wrong = entries_wrong(fm, buf, room);
	if (!wrong)
		wrong = parts_wrong(fm);
	if (!wrong)
		wrong = closed_wrong(fm, closed);
	if (!wrong)
		wrong = joined_wrong(fm, seen);
	free(closed);
	free(seen);
	return wrong;
}
