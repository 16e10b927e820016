// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that have fallen apart: some of their nodes are joined only through nodes that are not
 * theirs. These nodes cannot reach each other until cables are mended, because a job never leaves
 * its nodes (node/job_rows.c). This is judged when a recovery has ended: while a table is put in
 * force, cables may already be lost whose node is not yet known to be dead, and a node without
 * cables would count as a part. If the root wants another table by then, it already knows that the
 * present one is outdated, and judges when the next recovery has ended. For example, a node that
 * comes back may have its cables to the job a moment after others.
 *
 * A job does not begin while a manager does not know jobs (job.c), nor while such a manager is
 * silent, because it may only be starting again. But a node may join with an older manager later.
 * It is not refused, because other nodes need its rows, and its loss would stop the job; it is
 * reported.
 */
#include <stdio.h>
#include <stdlib.h>
#include <torus/route.h>
#include <torus/topology.h>

#include "daemon/fm/root/apart.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/orders.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/status.h"

#define NAMED_MAX 4		/* most cables that the report of a job names */
#define STRANGER_KEY 4000	/* key of this problem of kind "release"; bootstrap.c uses lower
				 * keys */

/* Return: why node @i of a job cannot join parts of it: "dead"; NULL if its NIC works. */
static const char *why_lost(const struct fm *fm, uint32_t i)
{
	const struct fm_entry *e = &fm->table.entry[i];

	if (fm_is_out_of_service(&fm->table.shape, e->admin))
		return "excluded";
	return e->state == FM_NODE_UP || e->state == FM_NODE_SILENT ? NULL : "dead";
}

/* Names the first nodes of the job that do not work: "; lost: node 0,1 (dead) and 2 more". */
static void name_lost_nodes(const struct fm *fm, const struct fm_job *j, char *text, size_t room)
{
	uint32_t n = 0, len = 0;

	for (uint32_t i = 0; i < fm->table.nodes; i++) {
		const char *why = fm->table.entry[i].job == j->id ? why_lost(fm, i) : NULL;
		char node[TORUS_TEXT_MAX];

		if (why && n++ < NAMED_MAX && len < room)
			len += (uint32_t)snprintf(text + len, room - len, "%s%s (%s)",
						  n > 1 ? ", " : "; lost: node ",
						  torus_node_text(&fm->table.shape, i, node), why);
	}
	if (n > NAMED_MAX && len < room)
		snprintf(text + len, room - len, " and %u more", n - NAMED_MAX);
}

/*
 * Names the first cables whose repair would join parts of the job: "; lost: 0,1:+y and 2 more". If
 * no cables between nodes that work would, it names the nodes that have to work again.
 */
static void name_severed(const struct fm *fm, const struct fm_job *j, char *text, size_t room)
{
	struct torus_cable c[NAMED_MAX];
	uint32_t n = fm_jobs_severed(&fm->table, j->id, c, NAMED_MAX), len = 0;

	*text = '\0';
	if (n && (why_lost(fm, c->node) ||
		  why_lost(fm, torus_neighbour(&fm->table.shape, c->node, c->dim)))) {
		name_lost_nodes(fm, j, text, room);
		return;
	}
	for (uint32_t i = 0; i < n && i < NAMED_MAX && len < room; i++) {
		char node[TORUS_TEXT_MAX], port[TORUS_TEXT_MAX];

		len += (uint32_t)snprintf(text + len, room - len, "%s%s:%s", i ? ", " : "; lost: ",
					  torus_node_text(&fm->table.shape, c[i].node, node),
					  torus_port_text(fm->table.shape.ndims, c[i].dim, port));
	}
	if (n > NAMED_MAX && len < room)
		snprintf(text + len, room - len, " and %u more", n - NAMED_MAX);
}

static void report_job(struct fm *fm, const struct fm_job *j, const struct fm_job_count *c)
{
	char lost[128];

	if (c->parts < 2)
		return;
	name_severed(fm, j, lost, sizeof(lost));
	fm_problem_set(fm, "job", j->id,
		       "job '%s' has fallen apart: no working links between its nodes join its "
		       "%u parts, which cannot reach each other%s; a job uses no links of other "
		       "nodes", j->name, c->parts, lost);
}

const char *fm_apart_stranger(const struct fm *fm)
{
	for (uint32_t i = 1; i < fm_roster_size(fm->root); i++) {
		const struct fm_record *m = fm_record_no(fm->root, i);

		if (fm_record_joined(m) && !m->unjoined && !m->jobs && m->state != FM_NODE_DEAD)
			return m->name;
	}
	return NULL;
}

void fm_apart_tell(struct fm *fm)
{
	const struct fm_book *b = fm->table.version ? fm->table.book : NULL;
	const char *name = b && b->jobs.n ? fm_apart_stranger(fm) : NULL;

	if (name)
		fm_problem_set(fm, "release", STRANGER_KEY,
			       "the manager of '%s' does not know jobs: it, and nodes below it in "
			       "the tree, may use links outside their job: update fabricd there",
			       name);
	else
		fm_problem_clear(fm, "release", STRANGER_KEY);
}

void fm_apart_look(struct fm *fm)
{
	const struct fm_jobs *jobs = &fm->table.book->jobs;
	struct fm_job_count *count;

	if (fm_demand_is(fm->root))
		return;
	fm_problems_mark(fm, "job");
	count = jobs->n ? malloc((FM_JOBS_MAX + 1) * sizeof(*count)) : NULL;
	if (count && fm_jobs_count(&fm->table, count))
		for (uint32_t i = 0; i < jobs->n; i++)
			report_job(fm, &jobs->of[i], &count[jobs->of[i].id]);
	free(count);
	fm_problems_sweep(fm, "job");
}

void fm_apart_forget(struct fm *fm)
{
	fm_problems_mark(fm, "job");
	fm_problems_sweep(fm, "job");
	fm_problem_clear(fm, "release", STRANGER_KEY);
}
