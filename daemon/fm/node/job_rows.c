// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: rows inside a job
 *
 * A node belongs to one job at most. Its rows to the other nodes of its job are computed as if all
 * cables that leave the job were excluded: so packets between them use the cables and, as relays,
 * the nodes of the job alone. Rows to all other nodes are those of the whole fabric, and may cross
 * the job.
 *
 * No deadlock. Rows of both kinds follow the order of directions within a leg, and a relay takes
 * packets into its host's memory, so the argument of the fabric's rows (lib/route) holds for all
 * rows together.
 *
 * Order. A row that a job changes is like a row that a lost cable changes: rows.c puts it on hold,
 * and root/recovery.c lets it go when older packets have arrived. So the start, the repair and the
 * end of a job are versions of the table, and neither lose, double nor reorder packets.
 *
 * If cables or nodes fail, so that some nodes of the job are joined only through others, the rows
 * between them are not valid: the NIC refuses these packets as unreachable. A job never leaves its
 * nodes.
 *
 * Limit. A node outside the job chooses the relay of its rows (lib/route/relay.h) without regard to
 * jobs. If its relay to a node of a job is a node of the same job, but in another part of it, the
 * relay has no row on, and the packets return to their source as unreachable, although a way
 * without that relay may exist. It takes as many faults that no header leads from the source to
 * that node, and a job that has fallen apart, which is reported (root/apart.c).
 *
 * Tests: tests/sim/test_job.c, whose checker computes the rows in its own way.
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

/**
 * struct fm_job_rows - rows inside a job
 * @job: that job; 0: none
 * @nodes: of the shape
 * @member, @closed: by node id, as in fm_jobs_close(); NULL: no job
 * @routes: of @health
 */
struct fm_job_rows {
	uint16_t job;
	uint32_t nodes;
	bool *member;
	uint16_t *closed;
	struct torus_health *health;
	struct torus_routes *routes;
};

bool fm_job_rows_new(struct fm *fm)
{
	fm->job_rows = calloc(1, sizeof(*fm->job_rows));
	return fm->job_rows;
}

static void forget_job(struct fm_job_rows *j)
{
	torus_routes_free(j->routes);
	torus_health_free(j->health);
	free(j->member);
	free(j->closed);
	*j = (struct fm_job_rows) { .job = 0 };
}

void fm_job_rows_forget(struct fm *fm)
{
	forget_job(fm->job_rows);
}

void fm_job_rows_free(struct fm *fm)
{
	if (fm->job_rows)
		forget_job(fm->job_rows);
	free(fm->job_rows);
}

/* Fills @j with the nodes and cables of the job @job. Return: false if there is no memory. */
static bool find_cables_of_job(const struct fm *fm, uint16_t job, struct fm_job_rows *j)
{
	const struct fm_table *t = &fm->table;

	j->job = job;
	j->nodes = t->nodes;
	j->member = calloc(t->nodes, sizeof(*j->member));
	j->closed = calloc(t->nodes, sizeof(*j->closed));
	if (!j->member || !j->closed)
		return false;
	for (uint32_t i = 0; i < t->nodes; i++)
		j->member[i] = t->entry[i].job == job;
	fm_jobs_close(t, j->member, j->closed);
	return true;
}

static bool has_same_cables(const struct fm_job_rows *a, const struct fm_job_rows *b)
{
	return a->job == b->job && a->nodes == b->nodes && a->routes &&
	       !memcmp(a->member, b->member, a->nodes * sizeof(*a->member)) &&
	       !memcmp(a->closed, b->closed, a->nodes * sizeof(*a->closed));
}

int fm_job_rows_update(struct fm *fm, bool *changed)
{
	struct fm_job_rows *had = fm->job_rows, new = { .job = 0 };
	uint16_t job = fm->table.entry[fm->node].job;
	int err = 0;

	invariant(fm->node < fm->table.nodes);
	if (!job) {
		*changed |= had->job > 0;
		forget_job(had);
		return 0;
	}
	if (!find_cables_of_job(fm, job, &new))
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

uint64_t fm_job_row(const struct fm *fm, uint32_t to, uint64_t row)
{
	const struct fm_job_rows *j = fm->job_rows;

	if (!j->job || to == fm->node || !j->member[to])
		return row;
	return torus_routes_rows(j->routes)[to];
}
