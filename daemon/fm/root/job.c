// SPDX-License-Identifier: GPL-2.0-only
/*
 * How jobs begin and end: the next table has their nodes, and is put in force like any other
 * (node/job_rows.c). The table keeps them: a root that takes over finds them there (recall.c), and
 * candidates have them on disk. If parts of the fabric that had a root each meet, the jobs of the
 * root that leads from then on stay, and others end (parts.c).
 *
 * Tests: tests/unit/test_fm_job.c, tests/sim/test_job.c.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "daemon/fm/root/job.h"
#include "daemon/fm/node/jobs.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/publish.h"
#include "daemon/fm/root/roster.h"

/* Writes the user for a log line: "user 1000". Return: @buf */
static const char *name_user(uint32_t uid, char *buf, size_t room)
{
	if (uid == FM_NO_UID)
		snprintf(buf, room, "the manager");
	else
		snprintf(buf, room, "user %u", uid);
	return buf;
}

/* Return: 0 if @job may begin at these nodes, else as fm_job_start(). */
static int check_job(const struct fm *fm, const struct fm_job *job, const uint32_t *node)
{
	const struct fm_root *r = fm->root;

	if (!r->settled || !fm->table.version)
		return -EAGAIN;
	if (fm_jobs_named(&r->jobs, job->name))
		return -EEXIST;
	if (fm_apart_stranger(fm))
		return -EOPNOTSUPP;
	if (!fm_jobs_next(&r->jobs))
		return -ENOSPC;
	if (!job->nodes || job->nodes > fm->table.nodes)
		return -EINVAL;
	for (uint32_t i = 0; i < job->nodes; i++) {
		if (node[i] >= fm->table.nodes)
			return -EINVAL;
		if (r->seat[node[i]].job)
			return -EBUSY;
	}
	return 0;
}

int fm_job_begin(struct fm *fm, const struct fm_job *job, const uint32_t *node)
{
	struct fm_root *r = fm->root;
	int err = check_job(fm, job, node);
	struct fm_job new = *job;
	char user[32];

	if (err)
		return err;
	new.id = fm_jobs_next(&r->jobs);
	if (!fm_jobs_put(&r->jobs, &new))
		return -ENOMEM;
	for (uint32_t i = 0; i < new.nodes; i++) {
		r->seat[node[i]] = (struct fm_seat) { new.id, i };
		fm_change_node(fm, node[i]);
	}
	fm_log(fm, FM_INFO, "job", "job '%s' of %s began on %u node%s", new.name,
	       name_user(new.uid, user, sizeof(user)), new.nodes, new.nodes == 1 ? "" : "s");
	fm_demand(fm, 0, "job '%s' began", new.name);
	fm_publish_due(fm);
	return 0;
}

int fm_job_end(struct fm *fm, const char *name, uint32_t uid)
{
	struct fm_root *r = fm->root;
	const struct fm_job *job = fm_jobs_named(&r->jobs, name);
	char user[32];
	uint16_t id;

	if (!r->settled || !fm->table.version)
		return -EAGAIN;
	if (!job)
		return -ENOENT;
	id = job->id;
	fm_log(fm, FM_INFO, "job", "job '%s' was ended by %s", job->name,
	       name_user(uid, user, sizeof(user)));
	fm_demand(fm, 0, "job '%s' ended", job->name);
	fm_jobs_drop(&r->jobs, id);
	fm_problem_clear(fm, "job", id);
	for (uint32_t i = 0; i < fm->table.nodes; i++) {
		if (r->seat[i].job != id)
			continue;
		r->seat[i] = (struct fm_seat) { .job = 0 };
		fm_change_node(fm, i);
	}
	fm_publish_due(fm);
	return 0;
}
