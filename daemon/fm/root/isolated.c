// SPDX-License-Identifier: GPL-2.0-only
/*
 * Isolated nodes: those that answer, but that no packet can reach.
 *
 * A search over all nodes finds those that no path joins to the root; if the root is out of
 * service, those that are not in the largest part of the fabric. A new table needs no search if no
 * node comes or goes by it, and if for each excluded cable at a changed node a short path joins the
 * two ends: all packets that went over the cable can take that path.
 *
 * Test: tests/unit/test_fm_isolated.c.
 */
#include <stdlib.h>
#include <torus/topology.h>

#include "daemon/fm/root/isolated.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "lib/deps/invariant.h"

#define ROUND_MAX 128	/* most nodes that the search for a short path visits */

/* Marks @from, and all nodes that healthy links join to it, with @mark. Return: their number. */
static uint32_t mark_part(const struct fm_table *t, uint32_t from, uint32_t mark, uint32_t *part,
			  uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	invariant(mark && !part[from]);
	queue[tail++] = from;
	part[from] = mark;
	while (head < tail) {
		uint32_t at = queue[head++];

		for (unsigned int p = 0; p < 2u * t->shape.ndims; p++) {
			uint32_t to = torus_neighbour(&t->shape, at, p);

			if (t->closed[at] & 1u << p || part[to])
				continue;
			part[to] = mark;
			queue[tail++] = to;
		}
	}
	return tail;
}

/* Return: true if the node is out of service; then it is cut off on purpose. */
static bool is_out(const struct fm_table *t, uint32_t node)
{
	return fm_is_out_of_service(&t->shape, t->entry[node].admin);
}

/*
 * Marks the main part of the fabric: that of the root, or the largest one if the root is out of
 * service. Return: its mark; 0 if there is no memory.
 */
static uint32_t mark_parts(const struct fm_table *t, uint32_t root, uint32_t *part)
{
	uint32_t *queue = malloc(t->nodes * sizeof(*queue)), most = 0, best = root + 1;

	if (!queue)
		return 0;
	if (!is_out(t, root))
		mark_part(t, root, best, part, queue);
	for (uint32_t i = 0; i < t->nodes && is_out(t, root); i++) {
		uint32_t n;

		if (part[i] || t->entry[i].state != FM_NODE_UP || is_out(t, i))
			continue;
		n = mark_part(t, i, i + 1, part, queue);
		if (n <= most)
			continue;
		most = n;
		best = i + 1;
	}
	free(queue);
	return best;
}

/*
 * Return: true if the manager of that node does not answer. Then judge.c decides whether the node
 * is dead, and a later table contains the result.
 */
static bool is_missing(const struct fm_root *r, uint64_t guid)
{
	const struct fm_record *m = r->roster ? fm_record(r, guid) : NULL;

	return m && m != fm_record_no(r, 0) && (!m->via || m->state != FM_NODE_UP);
}

/* Searches all nodes, and reports the isolated ones. */
static void search_all(struct fm *fm)
{
	const struct fm_table *t = &fm->table;
	uint32_t *part = calloc(t->nodes, sizeof(*part)), joined;
	char node[TORUS_TEXT_MAX];

	fm->root->joined = false;
	joined = part ? mark_parts(t, fm->node, part) : 0;
	if (!joined) {
		free(part);
		return;
	}
	fm->root->joined = true;
	fm_problems_mark(fm, "isolated");
	for (uint32_t i = 0; i < t->nodes; i++) {
		const struct fm_entry *e = &t->entry[i];

		if (e->state != FM_NODE_UP || part[i] == joined)
			continue;
		fm->root->joined = false;
		if (!is_out(t, i) && !is_missing(fm->root, e->guid))
			fm_problem_of(fm, i, "isolated", e->guid,
				      "node %s ('%s') is cut off: its manager answers, but no "
				      "path of healthy links joins it to the rest",
				      torus_node_text(&t->shape, i, node), e->name);
	}
	fm_problems_sweep(fm, "isolated");
	free(part);
}

static bool is_among(const uint32_t *list, uint32_t n, uint32_t node)
{
	while (n)
		if (list[--n] == node)
			return true;
	return false;
}

/* Return: true if a short path joins the two nodes. */
static bool has_way_round(const struct fm_table *t, uint32_t from, uint32_t to)
{
	uint32_t seen[ROUND_MAX] = { from }, n = 1;

	for (uint32_t head = 0; head < n; head++) {
		for (unsigned int p = 0; p < 2u * t->shape.ndims; p++) {
			uint32_t next = torus_neighbour(&t->shape, seen[head], p);

			if (t->closed[seen[head]] & 1u << p)
				continue;
			if (next == to)
				return true;
			if (n < ROUND_MAX && !is_among(seen, n, next))
				seen[n++] = next;
		}
	}
	return false;
}

static bool has_nic(const struct fm_entry *e)
{
	return e->state == FM_NODE_UP || e->state == FM_NODE_SILENT;
}

/* Return: true if short paths join @node to all neighbours whose cables to it are excluded. */
static bool is_still_joined(const struct fm_table *t, uint32_t node)
{
	for (unsigned int p = 0; p < 2u * t->shape.ndims && has_nic(&t->entry[node]); p++) {
		uint32_t o = torus_neighbour(&t->shape, node, p);

		if (t->closed[node] & 1u << p && o != node && has_nic(&t->entry[o]) &&
		    !has_way_round(t, node, o))
			return false;
	}
	return true;
}

void fm_isolated_report(struct fm *fm, const struct fm_table_msg *t, bool doubts)
{
	bool joined = fm->root->joined;

	for (uint32_t i = 0; joined && i < t->nentries; i++)
		joined = is_still_joined(&fm->table, t->entries[i].node);
	/* A node that is cut off because it has no power will soon be judged dead. */
	if (doubts)
		fm->root->joined = joined;
	else if (!joined)
		search_all(fm);
}

void fm_isolated_again(struct fm *fm)
{
	if (fm->table.version && !fm->root->joined)
		search_all(fm);
}
