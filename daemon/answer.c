// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/history.h"
#include "daemon/log.h"
#include "daemon/query.h"
#include "daemon/question.h"

#define KNOWN (ANSWER_ROOT | ANSWER_KNOWN)

static const struct answer_cmd commands[] = {
	{ "status", "", KNOWN, answer_status, NULL, NULL },
	{ "nodes", " node count", KNOWN, answer_nodes, local_nodes, NULL },
	{ "links", " node count lanes degraded brief bad errors", KNOWN, answer_links, NULL,
	  &question_links_get },
	{ "eye", " node port lane", ANSWER_ROOT, answer_eye, NULL, &question_eye_get },
	{ "counters", " node count", KNOWN, answer_counters, NULL, &question_counters_get },
	{ "rows", " node count runs", KNOWN, answer_rows, NULL, &question_rows_get },
	{ "park", " node flows", KNOWN, answer_park, NULL, &question_park_get },
	{ "metrics", " node", 0, answer_metrics, NULL, &question_metrics },
	{ "events", " since follow", 0, answer_events, NULL, NULL },
	{ "history", " from to level kind node port last after local pull have", ANSWER_KNOWN,
	  answer_history, NULL, NULL },
	{ "config", " node count values", 0, answer_config, local_config, NULL },
	{ "coord", " name", 0, answer_coord, NULL, NULL },
	{ "table", "", KNOWN, answer_table, NULL, NULL },
	{ "root", "", KNOWN, answer_root, NULL, NULL },
	{ "move", " node", ANSWER_ROOT | ANSWER_CHANGE, answer_move, NULL, NULL },
	{ "exclude", " node port links reason for force", ANSWER_ROOT | ANSWER_CHANGE,
	  answer_exclude, NULL, NULL },
	{ "include", " node port links", ANSWER_ROOT | ANSWER_CHANGE, answer_include, NULL, NULL },
	{ "jobs", " name from", KNOWN, answer_jobs, NULL, NULL },
	{ "job-start", " name count how node nodes min_links min_rate min_margin",
	  ANSWER_ROOT | ANSWER_JOB, answer_job_start, NULL, NULL },
	{ "job-stop", " name", ANSWER_ROOT | ANSWER_JOB, answer_job_stop, NULL, NULL },
	{ "port", " node port up", ANSWER_ROOT | ANSWER_CHANGE, answer_set_port, NULL,
	  &question_port_set },
	{ "retrain", " node port", ANSWER_ROOT | ANSWER_CHANGE, answer_retrain, NULL,
	  &question_retrain },
	{ "retry", " node port protocol", ANSWER_ROOT | ANSWER_CHANGE, answer_set_retry, NULL,
	  &question_retry_set },
	{ "test", " node port step token packets seconds size rate", ANSWER_ROOT | ANSWER_CHANGE,
	  answer_test, NULL, &question_test },
	{ "locate", " node port seconds", ANSWER_ROOT | ANSWER_CHANGE, answer_locate, NULL,
	  &question_locate },
	{ "module", " node port look", ANSWER_ROOT, answer_module, NULL, &question_module },
	{ "replay", " node", ANSWER_ROOT | ANSWER_CHANGE, answer_replay, NULL,
	  &question_replay },
	{ "log", " level", ANSWER_CHANGE, answer_log, NULL, NULL },
};

#define NCOMMANDS (sizeof(commands) / sizeof(commands[0]))

/* --- replies --------------------------------------------------------------- */

static void request_free(struct request *rq)
{
	answer_forget(rq);
	query_cancel(rq->ask);
	if (rq->job)
		history_forget(rq->job);
	gathering_free(rq->g);
	json_decref(rq->args);
	free(rq);
}

/*
 * Size of a reply, bytes: after sending a larger reply, fabricd returns free memory to the kernel.
 * The JSON objects of a reply take some twenty times as much memory as its text.
 */
#define BIG 16384
#define NO_MEMORY "{\"ok\":false,\"code\":\"failed\",\"error\":\"out of memory\"}"

void answer_finish(struct request *rq, const char *line)
{
	void (*reply)(void *arg, const char *line) = rq->reply;
	void *arg = rq->arg;

	request_free(rq);
	reply(arg, line ? line : NO_MEMORY);
	if (line && strlen(line) > BIG)
		malloc_trim(0);
}

char *error_line(const char *code, const char *text)
{
	char plain[512];
	char *line;
	json_t *j;

	/*
	 * A text that was shortened or that came from another program may be invalid UTF-8, and so
	 * invalid JSON.
	 */
	snprintf(plain, sizeof(plain), "%s", text);
	for (char *p = plain; *p; p++)
		if (*p & 0x80)
			*p = '?';
	j = json_pack("{s:b, s:s, s:s}", "ok", 0, "code", code, "error", plain);
	line = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(j);
	return line;
}

/*
 * Makes the text of a reply; takes over the references to @data and @missing. Return: the text, or
 * NULL if out of memory.
 */
static char *reply_line(const struct request *rq, json_t *data, json_t *missing)
{
	json_t *j = json_pack("{s:b, s:o}", "ok", 1, "data", data);
	char *line;

	if (j && missing && json_array_size(missing))
		json_object_set(j, "missing", missing);
	json_decref(missing);
	if (j && rq->rootless)
		json_object_set_new(j, "rootless", rootless_json(rq));
	line = j ? json_dumps(j, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	json_decref(j);
	return line;
}

void answer_ok(struct request *rq, json_t *data, json_t *missing)
{
	char *line = reply_line(rq, data, missing);

	answer_finish(rq, line);
	free(line);
}

void answer_ok_with(struct request *rq, json_t *data, const char *key, const char *text)
{
	char *line = reply_line(rq, data, NULL), *whole = NULL, empty[32];
	const char *at;

	snprintf(empty, sizeof(empty), "\"%s\":[]", key);
	at = line ? strstr(line, empty) : NULL;
	if (at && asprintf(&whole, "%.*s\"%s\":%s%s", (int)(at - line), line, key, text,
			   at + strlen(empty)) < 0)
		whole = NULL;
	free(line);
	answer_finish(rq, whole);
	free(whole);
}

void answer_error(struct request *rq, const char *code, const char *fmt, ...)
{
	char text[512];
	char *line;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	line = error_line(code, text);
	answer_finish(rq, line);
	free(line);
}

void answer_drop(struct request *rq)
{
	if (rq)
		request_free(rq);
}

/* --- requests that only the root answers ------------------------------------ */

static bool is_root(const struct fabricd *d)
{
	return d->fm && fm_is_root(d->fm);
}

/* Adds to the root's status the members about this node. Return: the text, or NULL. */
static char *own_status(struct fabricd *d, const char *text)
{
	json_t *reply = json_loads(text, 0, NULL);
	json_t *data = json_object_get(reply, "data");
	char *line = NULL;

	if (json_is_object(data)) {
		add_own_status(d, data);
		add_local_problems(d, json_object_get(data, "problems"));
		line = json_dumps(reply, JSON_COMPACT | JSON_REAL_PRECISION(15));
	}
	json_decref(reply);
	return line;
}

static void root_reply(void *arg, const char *text)
{
	struct request *rq = arg;
	char *line = NULL;

	if (strchr(text, '\n')) {
		answer_error(rq, "failed", "the root's reply cannot be parsed");
		return;
	}
	if (rq->cmd->run == answer_status)
		line = own_status(rq->d, text);
	answer_finish(rq, line ? line : text);
	free(line);
}

/*
 * Called if the root did not answer: this node answers the commands with the flag KNOWN from its
 * own table. A command that was sent may have been executed before the root, or the way to it, was
 * lost.
 */
static void root_silent(void *arg)
{
	struct request *rq = arg;
	struct fm_root_status r;

	rq->ask = NULL;
	if (rq->cmd->flags & ANSWER_KNOWN) {
		rq->rootless = true;
		rq->cmd->run(rq);
		return;
	}
	if (!rq->d->fm) {
		answer_ready(rq);
		return;
	}
	fm_root_status(rq->d->fm, &r);
	if (rq->cmd->flags & (ANSWER_CHANGE | ANSWER_JOB) && rq->sent)
		answer_error(rq, "unreachable",
			     "the root was asked, but has not answered: it is not known whether it "
			     "has done this; 'fabricctl root' shows whether it is lost, and %s",
			     rq->cmd->flags & ANSWER_JOB ?
			     "'fabricctl job list' which jobs there are" :
			     "'fabricctl status' what is excluded");
	else if (fm_own(rq->d->fm) == TORUS_NO_NODE)
		answer_error(rq, "not-ready", "the fabric is still bootstrapping");
	else if (r.lost)
		answer_error(rq, "unreachable",
			     "there is no root: 'fabricctl root' shows which node takes over");
	else
		answer_error(rq, "unreachable", "the root%s%s does not answer",
			     r.address ? " at " : "", r.address ? r.address : "");
}

static const struct query_done root_done = {
	.reply = root_reply,
	.end = root_silent,
};

static void pass_on(struct request *rq)
{
	rq->ask = query_ask(rq->d->query, SVC_TO_ROOT, TORUS_NO_NODE, rq->args, &rq->user,
			    QUERY_ROOT_MS, &root_done, rq);
	if (!rq->ask)
		answer_error(rq, "failed", "too many requests at once: try again");
	else
		rq->sent = query_was_sent(rq->ask);
}

bool answer_leads(struct request *rq)
{
	bool leads = is_root(rq->d);

	if (!leads)
		pass_on(rq);
	return leads;
}

/* --- running a command ------------------------------------------------------- */

static const struct answer_cmd *find_command(const char *name)
{
	for (unsigned int i = 0; i < NCOMMANDS; i++)
		if (!strcmp(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static void unknown_command(struct request *rq, const char *name)
{
	char all[384] = "";
	size_t n = 0;

	for (unsigned int i = 0; i < NCOMMANDS; i++)
		n += (size_t)snprintf(all + n, sizeof(all) - n, " %s", commands[i].name);
	if (name)
		answer_error(rq, "usage", "unknown cmd '%.64s', known:%s", name, all);
	else
		answer_error(rq, "usage", "cmd is missing, known:%s", all);
}

struct request *answer_new(struct fabricd *d, json_t *args, const struct svc_user *user,
			   void (*reply)(void *arg, const char *line),
			   void (*follow)(void *arg, uint64_t since), void *arg)
{
	struct request *rq = calloc(1, sizeof(*rq));

	if (!rq) {
		json_decref(args);
		return NULL;
	}
	rq->d = d;
	rq->args = args;
	rq->user = *user;
	rq->reply = reply;
	rq->follow = follow;
	rq->arg = arg;
	rq->node = TORUS_NO_NODE;
	rq->began = loop_now();
	return rq;
}

/* Return: the command of fabricctl that sends such a request, for error texts. */
static const char *typed_name(const struct request *rq)
{
	const char *name = rq->cmd->name;

	if (!strcmp(name, "port"))
		return json_is_true(json_object_get(rq->args, "up")) ? "link up" : "link down";
	if (!strncmp(name, "job-", 4))
		return !strcmp(name, "job-start") ? "job start" : "job stop";
	return !strcmp(name, "retrain") ? "link retrain" : !strcmp(name, "retry") ? "link retry" :
	       !strcmp(name, "test") ? "link test" :
	       !strcmp(name, "locate") ? "link locate" :
	       !strcmp(name, "replay") ? "park --replay" : !strcmp(name, "move") ? "root move" :
	       name;
}

static void deny_request(struct request *rq, const char *group)
{
	const char *does = !strcmp(rq->cmd->name, "test") ? "loads a link" :
			   !strcmp(rq->cmd->name, "locate") ? "lets a LED blink" :
			   "changes the fabric";
	const char *name = typed_name(rq);

	if (*group)
		answer_error(rq, "denied",
			     "%s %s: only root and members of group '%s' may "
			     "(control_group in fabricd.conf): run it as one of them, or with sudo",
			     name, does, group);
	else
		answer_error(rq, "denied",
			     "%s %s: only root may: run it with sudo, or set "
			     "control_group in fabricd.conf, which is not set, to a group of yours "
			     "and restart fabricd",
			     name, does);
}

static void deny_job(struct request *rq, const char *group)
{
	if (*group)
		answer_error(rq, "denied",
			     "%s: only root and members of group '%s' may (job_group in "
			     "fabricd.conf): run it as one of them, or with sudo",
			     typed_name(rq), group);
	else
		answer_error(rq, "denied",
			     "%s: only root may: run it with sudo, or set job_group in "
			     "fabricd.conf, which is not set, to a group of yours and restart "
			     "fabricd", typed_name(rq));
}

void answer_begin(struct request *rq)
{
	const char *name = json_string_value(json_object_get(rq->args, "cmd"));

	rq->cmd = name ? find_command(name) : NULL;
	if (!rq->cmd) {
		unknown_command(rq, name);
		return;
	}
	if (!answer_args(rq))
		return;
	if ((rq->cmd->flags & ANSWER_CHANGE) && !rq->user.privileged) {
		deny_request(rq, rq->d->config.control_group);
		return;
	}
	if ((rq->cmd->flags & ANSWER_JOB) && !rq->user.privileged && !rq->user.jobs) {
		deny_job(rq, rq->d->config.job_group);
		return;
	}
	if ((rq->cmd->flags & ANSWER_ROOT) && !is_root(rq->d))
		pass_on(rq);
	else
		rq->cmd->run(rq);
}

/* --- requests that other nodes passed on ------------------------------------- */

/** struct remote - a request that a user made at another node, which passed it on to this root */
struct remote {
	struct ask *ask;
	struct request *rq;
	bool beginning;
};

static void remote_reply(void *arg, const char *line)
{
	struct remote *r = arg;

	r->rq = NULL;
	query_served(r->ask, line);
	if (!r->beginning)
		free(r);
}

static void *serve_remote(void *arg, json_t *cmd, const struct svc_user *user, struct ask *ask)
{
	struct remote *r = calloc(1, sizeof(*r));

	if (r) {
		r->ask = ask;
		r->beginning = true;
		r->rq = answer_new(arg, json_incref(cmd), user, remote_reply, NULL, r);
	}
	if (!r || !r->rq) {
		free(r);
		query_served(ask, NO_MEMORY);
		return NULL;
	}
	answer_begin(r->rq);
	r->beginning = false;
	if (r->rq)
		return r;
	free(r);
	return NULL;
}

static void drop_remote(void *arg, void *handle)
{
	struct remote *r = handle;

	(void)arg;
	answer_drop(r->rq);
	free(r);
}

static uint32_t own_node(void *arg)
{
	struct fabricd *d = arg;

	return d->fm ? fm_own(d->fm) : TORUS_NO_NODE;
}

static bool own_is_root(void *arg)
{
	return is_root(arg);
}

static const struct question_kind *kind_of(const char *name)
{
	const struct answer_cmd *c = find_command(name);

	if (!strcmp(name, "waits"))
		return &question_waits;
	if (!strcmp(name, "stalled"))
		return &question_stalled;
	return c ? c->kind : NULL;
}

static void *serve_local(void *arg, json_t *cmd, struct ask *ask)
{
	const char *name = json_string_value(json_object_get(cmd, "cmd"));
	const struct answer_cmd *c = name ? find_command(name) : NULL;
	const struct question_kind *kind = name ? kind_of(name) : NULL;
	struct fabricd *d = arg;

	if (d->fm && !answer_range_has(d, cmd)) {
		query_local(ask, NULL);
		return NULL;
	}
	if (name && !strcmp(name, "history") && json_is_true(json_object_get(cmd, "pull")))
		return history_pull(d, cmd, ask);
	if (kind && d->fm)
		return question_ask(d, kind, cmd, ask);
	query_local(ask, c && c->local && d->fm ? c->local(d, cmd) : NULL);
	return NULL;
}

static void forget_question(void *arg, void *handle)
{
	if (!history_pull_forget(arg, handle))
		question_forget(handle);
}

static void take_message(void *arg, const struct svc_msg *msg)
{
	const struct svc_event *e = &msg->event;
	json_t *links;

	if (msg->type == SVC_EVENT) {
		fabricd_event(arg, e->time, e->node, (enum fm_level)e->level, e->kind, e->text);
		if (!strcmp(e->kind, "stall"))
			stall_hint(arg);
		return;
	}
	links = json_loads(msg->lines.links, 0, NULL);
	if (links)
		lines_take(arg, msg->lines.node, links);
	json_decref(links);
}

static const struct query_ops query_ops = {
	.own = own_node,
	.is_root = own_is_root,
	.local = serve_local,
	.serve = serve_remote,
	.drop = drop_remote,
	.forget = forget_question,
	.received = take_message,
};

int answer_start(struct fabricd *d)
{
	d->query = query_new(d->loop, d->svc, &query_ops, d);
	return d->query && !answer_wait_start(d) ? 0 : -ENOMEM;
}
