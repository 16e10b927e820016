// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: rows inside a job
 *
 * A node belongs to one job at most. Its rows to the other nodes of its job are computed as if all
 * cables that leave the job were excluded: so packets between them use the cables and, as relays,
 * the nodes of the job alone. Rows to all other nodes are those of the whole fabric, and may cross
 * the job.
 *
 * If cables or nodes fail, a job may fall apart into parts: nodes of the job that its own cables
 * still join. Rows from one part to another are not valid: the NIC refuses these packets as
 * unreachable, because a job never leaves its nodes. So a node of another part cannot be a relay
 * to a node of the job: it has no row on, and it cannot have one for the packets of others alone,
 * since a NIC has one row for each destination. For this reason the nodes outside a job that has
 * fallen apart choose their relays to it anew: a relay must be a node that cables join with the
 * destination which do not end at the other parts (torus_routes_around()). All nodes compute the
 * parts of that job from the same table.
 *
 * No deadlock. Rows of all kinds follow the order of directions within a leg, and a relay takes
 * packets into its host's memory, so the argument of the fabric's rows (lib/route) holds for all
 * rows together.
 *
 * Chains of relays end. Let d be the destination, P its part of its job, and D the number of hops
 * to d over cables that do not end at other parts of the job, infinite where they do not lead.
 *  1. In P, rows to d are those of a torus that has only the cables of P. They join P, so each has
 *     a row, and its relays are in P: the chain ends (lib/route/relay.h).
 *  2. Outside the job, a row to d is direct, or its relay has a lower D than the node. A relay is
 *     outside the job, or in P. So D decreases until the chain is at d or in P. Each relay has a
 *     row on: its D is finite, so a neighbour has a lower D, and the header of one hop leads there.
 *  3. No chain comes to another part: rows never name its nodes as relays to d.
 * This holds if all nodes choose their relays so. During an update of the managers, a node with an
 * earlier one orders relays by the hops in the whole fabric, and two relays may name each other;
 * then the NICs end the chain (TN_RELAY_LEGS), and the packet returns as unreachable.
 *
 * Isolation. Only rows of nodes outside the job change, so packets between the nodes of the job
 * use what they used before. A leg may cross other parts, like every row of the fabric, because
 * transit routers look only at the header.
 *
 * Order. A row that a job changes is like a row that a lost cable changes: rows.c puts it on hold,
 * and root/recovery.c lets it go when older packets have arrived. So the start, the repair and the
 * end of a job are versions of the table, and neither lose, double nor reorder packets.
 *
 * Limits, of a job that has fallen apart, which is reported (root/apart.c). A node outside it has
 * no row to a node of it if no header leads from it to such a relay: then its packets are refused
 * at once, although a relay in another part would have a way. And if a packet of an outside node,
 * on its way to another part, is parked at a node of the job, it returns to its source as
 * unreachable, because it is replayed by the rows of that node. Both would need a second row in
 * the NIC, for packets of others.
 *
 * Tests: tests/unit/test_fm_job_rows.c kills all sets of cables of small fabrics, and proves the
 * rows of all nodes together by torus_verify(). tests/sim/test_job.c has traffic while a job falls
 * apart.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/node/job_rows.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/machine.h"
#include "lib/deps/invariant.h"

#define SAME_ROW UINT64_MAX	/* of fm_job_rows.around: the row of the whole fabric counts */

/**
 * struct job - a job, and the rows of this node inside it
 * @id: 0: none
 * @nodes: of the shape
 * @member, @closed: by node id, as in fm_jobs_close(); NULL: no job
 * @health: of these cables; @routes: of @health
 */
struct job {
	uint16_t id;
	uint32_t nodes;
	bool *member;
	uint16_t *closed;
	struct torus_health *health;
	struct torus_routes *routes;
};

/**
 * struct fm_job_rows - the rows that jobs change
 * @own: this node's job
 * @around: by node id: rows with relays that are not in other parts of a job, or SAME_ROW; NULL: no
 *	row has a relay to a node of another job
 * @nodes: number of these rows
 */
struct fm_job_rows {
	struct job own;
	uint64_t *around;
	uint32_t nodes;
};

bool fm_job_rows_new(struct fm *fm)
{
	fm->job_rows = calloc(1, sizeof(*fm->job_rows));
	return fm->job_rows;
}

static void forget_job(struct job *j)
{
	torus_routes_free(j->routes);
	torus_health_free(j->health);
	free(j->member);
	free(j->closed);
	*j = (struct job) { .id = 0 };
}

void fm_job_rows_forget(struct fm *fm)
{
	struct fm_job_rows *had = fm->job_rows;

	forget_job(&had->own);
	free(had->around);
	had->around = NULL;
}

void fm_job_rows_free(struct fm *fm)
{
	if (fm->job_rows)
		fm_job_rows_forget(fm);
	free(fm->job_rows);
}

/* Fills @j with the nodes and cables of the job @id. Return: false if there is no memory. */
static bool find_cables_of_job(const struct fm *fm, uint16_t id, struct job *j)
{
	const struct fm_table *t = &fm->table;

	j->id = id;
	j->nodes = t->nodes;
	j->member = calloc(t->nodes, sizeof(*j->member));
	j->closed = calloc(t->nodes, sizeof(*j->closed));
	if (!j->member || !j->closed)
		return false;
	for (uint32_t i = 0; i < t->nodes; i++)
		j->member[i] = t->entry[i].job == id;
	fm_jobs_close(t, j->member, j->closed);
	return true;
}

/* --- inside this node's job ---------------------------------------------------- */

static bool has_same_cables(const struct job *a, const struct job *b)
{
	return a->id == b->id && a->nodes == b->nodes && a->routes &&
	       !memcmp(a->member, b->member, a->nodes * sizeof(*a->member)) &&
	       !memcmp(a->closed, b->closed, a->nodes * sizeof(*a->closed));
}

static int update_own(struct fm *fm, bool *changed)
{
	struct job *had = &fm->job_rows->own, new = { .id = 0 };
	uint16_t id = fm->table.entry[fm->node].job;
	int err = 0;

	if (!id) {
		*changed |= had->id > 0;
		forget_job(had);
		return 0;
	}
	if (!find_cables_of_job(fm, id, &new))
		err = -ENOMEM;
	if (err || has_same_cables(had, &new)) {
		forget_job(&new);
		return err;
	}
	*changed = true;
	err = torus_health_new(&fm->table.shape, new.closed, &new.health);
	if (!err)
		err = torus_routes_new(new.health, fm->node, TORUS_ROUTES_RELAY, &new.routes);
	forget_job(err ? &new : had);
	if (!err)
		*had = new;
	return err;
}

/* --- to other jobs --------------------------------------------------------------- */

/* Return: true if the row to @to has a relay, and @to belongs to another job. */
static bool is_relayed_to_job(const struct fm *fm, uint32_t to)
{
	const struct fm_entry *e = fm->table.entry;

	return torus_routes_rows(fm->routes)[to] & TORUS_ROW_RELAY && e[to].job &&
	       e[to].job != e[fm->node].job;
}

/*
 * Computes the rows through relays to the part of the job @j to which @to belongs. The relays are
 * nodes that cables join with @to which do not end at its other parts.
 */
static int go_around_parts(struct fm *fm, struct job *j, uint32_t to, uint64_t *around)
{
	const struct fm_table *t = &fm->table;
	uint16_t all = (uint16_t)((1u << 2 * t->shape.ndims) - 1);
	uint32_t part = torus_health_component(j->health, to);
	uint16_t *closed = malloc(t->nodes * sizeof(*closed));
	struct torus_health *relays = NULL;
	int err = -ENOMEM;

	for (uint32_t i = 0; closed && i < t->nodes; i++) {
		bool other = j->member[i] && torus_health_component(j->health, i) != part;

		closed[i] = other ? all : t->closed[i];
	}
	if (closed)
		err = torus_health_new(&t->shape, closed, &relays);
	for (uint32_t i = to; !err && i < t->nodes; i++)
		if (j->member[i] && torus_health_component(j->health, i) == part &&
		    is_relayed_to_job(fm, i))
			err = torus_routes_around(fm->routes, relays, i, &around[i]);
	torus_health_free(relays);
	free(closed);
	return err;
}

/* Computes the rows through relays to the job of @first, from this node on. */
static int go_around_job(struct fm *fm, uint32_t first, uint64_t *around)
{
	struct job j = { .id = 0 };
	int err = -ENOMEM;

	if (find_cables_of_job(fm, fm->table.entry[first].job, &j))
		err = torus_health_new(&fm->table.shape, j.closed, &j.health);
	/* Finds the parts of the job, so that no later question needs memory. */
	if (!err && torus_health_component(j.health, first) == TORUS_NO_NODE)
		err = -ENOMEM;
	for (uint32_t i = first; !err && i < j.nodes; i++)
		if (j.member[i] && around[i] == SAME_ROW && is_relayed_to_job(fm, i))
			err = go_around_parts(fm, &j, i, around);
	forget_job(&j);
	return err;
}

/* Sets *@around to the rows to other jobs, by node id; NULL: none of them has a relay. */
static int find_rows_around(struct fm *fm, uint64_t **around)
{
	uint32_t nodes = fm->table.nodes;
	int err = 0;

	for (uint32_t i = 0; !err && i < nodes; i++) {
		if (!is_relayed_to_job(fm, i))
			continue;
		if (!*around) {
			*around = malloc(nodes * sizeof(**around));
			if (!*around)
				return -ENOMEM;
			memset(*around, 0xff, nodes * sizeof(**around));
		}
		if ((*around)[i] == SAME_ROW)
			err = go_around_job(fm, i, *around);
	}
	return err;
}

static int update_around(struct fm *fm, bool *changed)
{
	struct fm_job_rows *had = fm->job_rows;
	uint32_t nodes = fm->table.nodes;
	uint64_t *new = NULL;
	int err = find_rows_around(fm, &new);

	if (err) {
		free(new);
		return err;
	}
	*changed |= !had->around != !new ||
		    (new && (had->nodes != nodes ||
			     memcmp(had->around, new, nodes * sizeof(*new))));
	free(had->around);
	had->around = new;
	had->nodes = nodes;
	return 0;
}

int fm_job_rows_update(struct fm *fm, bool *changed)
{
	int err;

	invariant(fm->node < fm->table.nodes);
	err = update_own(fm, changed);
	return err ? err : update_around(fm, changed);
}

uint64_t fm_job_row(const struct fm *fm, uint32_t to, uint64_t row)
{
	const struct fm_job_rows *j = fm->job_rows;

	if (j->own.id && to != fm->node && j->own.member[to])
		return torus_routes_rows(j->own.routes)[to];
	return j->around && j->around[to] != SAME_ROW ? j->around[to] : row;
}
