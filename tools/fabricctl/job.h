/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests about jobs, and their output. */
#ifndef JOB_H
#define JOB_H

#include <jansson.h>
#include <stdbool.h>

#include "ask.h"

/**
 * job_get() - ask for the job @name with all its nodes
 * @job: set to the job, a new reference, without "members"
 * @members: set to its nodes, by number, a new reference
 */
int job_get(struct ask *a, const char *name, json_t **job, json_t **members);
/** job_runs() - ask whether there is a job @name. Return: OK, or the kind of the error */
int job_runs(struct ask *a, const char *name, bool *runs);
/** job_table() - print a line for each job */
void job_table(const json_t *jobs);
/** job_changed() - print what "job start" and "job stop" did. Return: the exit status */
int job_changed(const struct ctl *ctl, const json_t *data);
/** job_warn_apart() - warn of each job that has fallen apart: no path joins its parts */
void job_warn_apart(struct ask *a);
/** job_status() - Return: the exit status for a job: PROBLEM if it lacks nodes or fell apart */
int job_status(const json_t *job);

#endif /* JOB_H */
