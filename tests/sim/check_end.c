// SPDX-License-Identifier: GPL-2.0-only
/* Checks of a fabric at rest. */
#include <stdio.h>
#include <torus/route.h>

#include "check.h"
#include "tools/fabricsim/world_impl.h"

const char *check_table(struct world *w, char *buf, size_t room)
{
	const struct fm *root = w->node[world_root(w)].fm;
	const uint16_t *closed = root ? fm_exclusions(root) : NULL;

	if (!closed)
		return "no table";
	for (uint32_t i = 0; i < w->ncables; i++) {
		const struct cable *c = &w->cable[i];
		bool usable = world_cable_whole(w, i) && w->node[c->node[0]].managed &&
			      w->node[c->node[1]].managed;
		bool open = !(closed[c->node[0]] & 1u << c->port[0]);

		/* If both nodes are without power, no node reports the state of their cable. */
		if (!w->node[c->node[0]].on && !w->node[c->node[1]].on)
			continue;
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

/* Return: a copy of the rows of @node's NIC, for the caller to free; NULL: it is not placed. */
static uint64_t *rows_of(struct world *w, uint32_t node)
{
	const u64 *rows = tn_nic_rows_get(w->node[node].nic, 0, w->nodes);
	uint64_t *copy = rows ? malloc(w->nodes * sizeof(*copy)) : NULL;

	if (rows && !copy)
		abort();
	if (copy)
		memcpy(copy, rows, w->nodes * sizeof(*copy));
	return copy;
}

/* Return: the ports closed for the job of @node, for the caller to free. */
static uint16_t *closed_for_job(const struct fm *root, const struct torus_shape *shape,
				uint32_t node)
{
	uint32_t nodes = torus_nodes(shape);
	uint16_t *closed = calloc(nodes, sizeof(*closed)), job = fm_node(root, node)->job;

	if (!closed)
		abort();
	for (uint32_t i = 0; i < nodes; i++)
		for (unsigned int p = 0; p < 2u * shape->ndims; p++)
			if (fm_exclusions(root)[i] & 1u << p || fm_node(root, i)->job != job ||
			    fm_node(root, torus_neighbour(shape, i, p))->job != job)
				closed[i] |= (uint16_t)(1u << p);
	return closed;
}

/* Puts into @due the rows that @node must have to the other nodes of its job. */
static void due_in_job(struct world *w, uint32_t node, uint64_t *due)
{
	const struct fm *root = w->node[world_root(w)].fm;
	uint16_t *closed = closed_for_job(root, &w->cfg.shape, node);
	uint64_t *inside = calloc(w->nodes, sizeof(*inside));
	struct torus_health *health;

	if (!inside || torus_health_new(&w->cfg.shape, closed, &health) ||
	    torus_health_rows(health, node, TORUS_ROUTES_RELAY, inside) < 0)
		abort();
	for (uint32_t to = 0; to < w->nodes; to++)
		if (to != node && fm_node(root, to)->job == fm_node(root, node)->job)
			due[to] = inside[to];
	torus_health_free(health);
	free(closed);
	free(inside);
}

/* Return: the exclusions, and all ports of nodes in other parts of the job of @to, for the caller to free. */
static uint16_t *closed_around(const struct fm *root, const struct torus_shape *shape, uint32_t to)
{
	uint16_t *inside = closed_for_job(root, shape, to);
	uint16_t *closed = calloc(torus_nodes(shape), sizeof(*closed));
	struct torus_health *job;

	if (!closed || torus_health_new(shape, inside, &job))
		abort();
	for (uint32_t i = 0; i < torus_nodes(shape); i++)
		closed[i] = fm_node(root, i)->job == fm_node(root, to)->job &&
			    torus_health_component(job, i) != torus_health_component(job, to) ?
			    (uint16_t)((1u << 2 * shape->ndims) - 1) : fm_exclusions(root)[i];
	torus_health_free(job);
	free(inside);
	return closed;
}

/* Puts into @due the rows of @node through relays to nodes of other jobs. */
static void due_around(struct world *w, uint32_t node, struct torus_health *health, uint64_t *due)
{
	const struct fm *root = w->node[world_root(w)].fm;
	struct torus_routes *routes;

	if (torus_routes_new(health, node, TORUS_ROUTES_RELAY, &routes))
		abort();
	for (uint32_t to = 0; to < w->nodes; to++) {
		struct torus_health *relays;
		uint16_t *closed;

		if (!(due[to] & TORUS_ROW_RELAY) || !fm_node(root, to)->job ||
		    fm_node(root, to)->job == fm_node(root, node)->job)
			continue;
		closed = closed_around(root, &w->cfg.shape, to);
		if (torus_health_new(&w->cfg.shape, closed, &relays) ||
		    torus_routes_around(routes, relays, to, &due[to]))
			abort();
		torus_health_free(relays);
		free(closed);
	}
	torus_routes_free(routes);
}

/* Compares the rows in @node's NIC, bit for bit, with those that the table asks for. */
static const char *rows_wrong(struct world *w, uint32_t node, struct torus_health *health,
			      const uint64_t *rows, char *buf, size_t room)
{
	uint64_t *due = calloc(w->nodes, sizeof(*due));
	const char *wrong = NULL;

	if (!due || torus_health_rows(health, node, TORUS_ROUTES_RELAY, due) < 0)
		abort();
	due_around(w, node, health, due);
	if (fm_node(w->node[world_root(w)].fm, node)->job)
		due_in_job(w, node, due);
	for (uint32_t to = 0; rows && !wrong && to < w->nodes; to++) {
		if (rows[to] == due[to])
			continue;
		snprintf(buf, room, "row of %u to %u is %016llx, not %016llx", node, to,
			 (unsigned long long)rows[to], (unsigned long long)due[to]);
		wrong = buf;
	}
	if (!rows) {
		snprintf(buf, room, "node %u has no coordinates", node);
		wrong = buf;
	}
	free(due);
	return wrong;
}

/**
 * struct proof - a proof by torus_verify()
 * @root: rows between nodes of one job may be missing; NULL: no row may be missing
 * @missing: number of these
 */
struct proof {
	const struct fm *root;
	char *buf;
	size_t room;
	const char *wrong;
	uint32_t missing;
};

static void culprit(void *arg, const struct torus_culprit *c)
{
	struct proof *p = arg;

	if (p->root && c->what == (enum torus_wrong)TORUS_WALK_NO_ROW &&
	    fm_node(p->root, c->from)->job &&
	    fm_node(p->root, c->from)->job == fm_node(p->root, c->to)->job) {
		p->missing++;
		return;
	}
	if (p->wrong)
		return;
	snprintf(p->buf, p->room, "row of %u to %u: %s", c->from, c->to,
		 torus_wrong_text(c->what));
	p->wrong = p->buf;
}

/*
 * Checks all rows together: every joined pair must have a path, except, if @root is not NULL, two
 * nodes of a job that has fallen apart, and nothing may deadlock. Return: what is wrong, or NULL.
 */
static const char *unproven(struct world *w, const struct fm *root, const uint16_t *closed,
			    const uint64_t *const *rows, const bool *up, char *buf, size_t room)
{
	struct proof proof = { .root = root, .buf = buf, .room = room };
	struct torus_tables tables = { .rows = rows };
	struct torus_verified found;
	struct torus_verify v = {
		.shape = &w->cfg.shape,
		.excluded = closed,
		.tables = &tables,
		.n = 1,
		.up = up,
		.culprit = culprit,
		.arg = &proof,
	};

	if (torus_verify(&v, &found))
		abort();
	if (!proof.wrong && found.unroutable != proof.missing) {
		snprintf(buf, room, "%llu pairs have no path, and %u have no row",
			 (unsigned long long)found.unroutable, proof.missing);
		proof.wrong = buf;
	}
	return proof.wrong;
}

/* Proves for each job that its packets use only its own cables. */
static const char *jobs_unproven(struct world *w, const uint64_t *const *rows, const bool *up,
				 char *buf, size_t room)
{
	const struct fm *root = w->node[world_root(w)].fm;
	bool *member = calloc(w->nodes, sizeof(*member));
	const struct fm_job *j;
	const char *wrong = NULL;

	if (!member)
		abort();
	for (uint32_t k = 0; !wrong && (j = fm_job(root, k)); k++) {
		uint32_t one = TORUS_NO_NODE;
		uint16_t *closed;

		for (uint32_t i = 0; i < w->nodes; i++) {
			member[i] = up[i] && fm_node(root, i)->job == j->id;
			one = fm_node(root, i)->job == j->id ? i : one;
		}
		if (one == TORUS_NO_NODE)
			continue;
		closed = closed_for_job(root, &w->cfg.shape, one);
		wrong = unproven(w, NULL, closed, rows, member, buf, room);
		free(closed);
	}
	free(member);
	return wrong;
}

const char *check_rows(struct world *w, char *buf, size_t room)
{
	struct fm *root = w->node[world_root(w)].fm;
	const uint16_t *closed = root ? fm_exclusions(root) : NULL;
	uint64_t **rows = calloc(w->nodes, sizeof(*rows));
	bool *up = calloc(w->nodes, sizeof(*up));
	struct torus_health *health;
	const char *wrong = NULL;

	if (!closed) {
		free(rows);
		free(up);
		return "no table";
	}
	if (!rows || !up || torus_health_new(&w->cfg.shape, closed, &health))
		abort();
	for (uint32_t i = 0; !wrong && i < w->nodes; i++) {
		if (!w->node[i].managed)
			continue;
		up[i] = true;
		rows[i] = rows_of(w, i);
		wrong = rows_wrong(w, i, health, rows[i], buf, room);
	}
	if (!wrong)
		wrong = unproven(w, root, closed, (const uint64_t *const *)rows, up, buf, room);
	if (!wrong)
		wrong = jobs_unproven(w, (const uint64_t *const *)rows, up, buf, room);
	torus_health_free(health);
	for (uint32_t i = 0; i < w->nodes; i++)
		free(rows[i]);
	free(rows);
	free(up);
	return wrong;
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
	wrong = check_table(w, buf, room);
	for (uint32_t i = 0; !wrong && i < w->nodes; i++)
		if (w->node[i].managed)
			wrong = nic_wrong(w, i, buf, room);
	return wrong ? wrong : check_rows(w, buf, room);
}
