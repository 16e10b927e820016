// SPDX-License-Identifier: GPL-2.0-only
/* Conversion of the jobs of a table to messages of svc.proto and back. */
#include <errno.h>
#include <stdlib.h>

#include "daemon/codec.h"

static void put_job(Svc__Job *to, const struct fm_job *j)
{
	svc__job__init(to);
	to->id = j->id;
	to->how = j->how == FM_JOB_GROW ? FM_JOB_LIST : j->how;
	to->grown = j->how == FM_JOB_GROW;
	to->nodes = j->nodes;
	to->uid = j->uid;
	to->since = j->since;
	to->name = (char *)j->name;
	to->by = (char *)j->by;
}

bool codec_jobs_put(struct codec_jobs *j, const struct fm_table_msg *t, Svc__Table *out)
{
	out->anew = t->anew;
	if (!t->njobs)
		return true;
	j->of = malloc(t->njobs * sizeof(*j->of));
	j->list = malloc(t->njobs * sizeof(Svc__Job *));
	if (!j->of || !j->list)
		return false;
	for (uint32_t i = 0; i < t->njobs; i++) {
		put_job(&j->of[i], &t->jobs[i]);
		j->list[i] = &j->of[i];
	}
	out->n_job = t->njobs;
	out->job = j->list;
	return true;
}

void codec_jobs_free(struct codec_jobs *j)
{
	free(j->of);
	free(j->list);
}

static bool get_job(struct fm_job *to, const Svc__Job *from, uint32_t above)
{
	if (from->id <= above || from->id > FM_JOBS_MAX || from->how > FM_JOB_LIST ||
	    (from->grown && from->how != FM_JOB_LIST) ||
	    !from->nodes || from->nodes > TORUS_MAX_NODES || from->since > FM_TIME_MAX ||
	    !codec_text(to->name, sizeof(to->name), from->name) || !to->name[0] ||
	    !codec_text(to->by, sizeof(to->by), from->by))
		return false;
	to->id = (uint16_t)from->id;
	to->how = from->grown ? FM_JOB_GROW : (uint8_t)from->how;
	to->nodes = from->nodes;
	to->uid = from->uid;
	to->since = from->since;
	return true;
}

int codec_jobs_get(struct fm_table_msg *t, const Svc__Table *from)
{
	t->anew = from->anew;
	if (!from->n_job)
		return 0;
	if (!from->anew || from->n_job > FM_JOBS_MAX)
		return -EBADMSG;
	t->jobs = calloc(from->n_job, sizeof(*t->jobs));
	if (!t->jobs)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n_job; i++) {
		if (get_job(&t->jobs[i], from->job[i], i ? t->jobs[i - 1].id : 0))
			continue;
		free(t->jobs);
		return -EBADMSG;
	}
	t->njobs = (uint32_t)from->n_job;
	return 0;
}
