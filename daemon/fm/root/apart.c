// SPDX-License-Identifier: GPL-2.0-only
/*
 * Jobs that have fallen apart: some of their nodes are joined only through nodes that are not
 * theirs. These nodes cannot reach each other until cables are mended, because a job never leaves
 * its nodes (node/job_rows.c).
 */
#include <stdlib.h>

#include "daemon/fm/root/apart.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/library.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/status.h"

static void report_job(struct fm *fm, const struct fm_job *j, const struct fm_job_count *c)
{
	if (c->parts < 2)
		return;
	fm_problem_set(fm, "job", j->id,
		       "job '%s' has fallen apart: no working links between its nodes join its "
		       "%u parts, which cannot reach each other; a job uses no links of other "
		       "nodes", j->name, c->parts);
}

void fm_apart_look(struct fm *fm)
{
	const struct fm_jobs *jobs = &fm->table.book->jobs;
	struct fm_job_count *count;

	fm_problems_mark(fm, "job");
	count = jobs->n ? malloc((FM_JOBS_MAX + 1) * sizeof(*count)) : NULL;
	if (count && fm_jobs_count(&fm->table, count))
		for (uint32_t i = 0; i < jobs->n; i++)
			report_job(fm, &jobs->of[i], &count[jobs->of[i].id]);
	free(count);
	fm_problems_sweep(fm, "job");
}
