// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "change.h"
#include "job.h"
#include "json.h"
#include "moment.h"
#include "orders.h"
#include "output.h"
#include "table.h"

/* Asks for the members from number @from on. Return: OK, or the kind of the error */
static int ask_job_members(struct ask *a, const char *name, size_t from, json_t **job)
{
	json_t *data;
	int status = ask(a, json_pack("{ss ss sI}", "cmd", "jobs", "name", name, "from",
				      (json_int_t)from), &data);

	if (status != OK)
		return status;
	*job = json_incref(json_array_get(json_object_get(data, "jobs"), 0));
	json_decref(data);
	return *job ? OK : fail_as(PROBLEM, "there is no job '%s' any more", name);
}

int job_get(struct ask *a, const char *name, json_t **job, json_t **members)
{
	size_t got, all;

	*members = json_array();
	*job = NULL;
	do {
		json_t *part;
		int status;

		got = json_array_size(*members);
		status = ask_job_members(a, name, got, &part);
		if (status != OK) {
			json_decref(*members);
			json_decref(*job);
			return status;
		}
		json_array_extend(*members, json_object_get(part, "members"));
		json_decref(*job);
		*job = part;
		all = json_count(part, "nodes");
	} while (json_array_size(*members) > got && json_array_size(*members) < all);
	json_object_del(*job, "members");
	return OK;
}

int job_runs(struct ask *a, const char *name, bool *runs)
{
	json_t *data, *v;
	int status = ask(a, json_pack("{ss}", "cmd", "jobs"), &data);
	size_t i;

	*runs = false;
	if (status != OK)
		return status;
	json_array_foreach(json_object_get(data, "jobs"), i, v)
		*runs |= json_text(v, "name") && !strcmp(json_text(v, "name"), name);
	json_decref(data);
	return OK;
}

void job_warn_apart(struct ask *a)
{
	const char *kind;
	json_t *status, *v;
	size_t i;

	if (ask(a, json_pack("{ss}", "cmd", "status"), &status) != OK)
		return;
	json_array_foreach(json_object_get(status, "problems"), i, v) {
		kind = json_text(v, "kind");
		if (kind && !strcmp(kind, "job"))
			warn("%s", json_text(v, "text") ? json_text(v, "text") :
							  "a job has fallen apart");
	}
	json_decref(status);
}

static enum colour job_state_colour(const char *state)
{
	return !strcmp(state, "runs") ? GOOD : !strcmp(state, "degraded") ? DOUBTFUL : BAD;
}

void job_table(const json_t *jobs)
{
	static const char *const titles[] = { "JOB", ">NODES", ">UP", "STATE", "HOW", "BY", "SINCE",
					      NULL };
	struct table *t = table_new(titles);
	char text[ORDERS_USER_MAX];
	size_t i;
	json_t *v;

	json_array_foreach(jobs, i, v) {
		const char *state = table_or_dash(json_text(v, "state"));

		table_cell(t, STRONG, "%s", table_or_dash(json_text(v, "name")));
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "nodes"));
		table_cell(t, PLAIN, "%llu", (unsigned long long)json_count(v, "up"));
		table_cell(t, job_state_colour(state), "%s", state);
		table_cell(t, PLAIN, "%s", table_or_dash(json_text(v, "how")));
		orders_user_text(v, text);
		table_cell(t, PLAIN, "%s", *text ? text : "-");
		/* A job knows the second of its start, but not the ms. */
		table_cell(t, PLAIN, "%.19s", moment_text((double)json_count(v, "since"), text));
	}
	table_print(t, "no jobs");
}

int job_status(const json_t *job)
{
	const char *state = json_text(job, "state");

	return state && !strcmp(state, "runs") ? OK : PROBLEM;
}

int job_changed(const struct ctl *ctl, const json_t *data)
{
	if (ctl->json)
		json_show(json_incref((json_t *)data));
	if (!json_is_true(json_object_get(data, "in_force"))) {
		warn("not in force yet: a recovery waits for something; 'fabricctl status' says "
		     "for what");
		return PROBLEM;
	}
	return change_kept(data);
}
