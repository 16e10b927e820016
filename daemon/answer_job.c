// SPDX-License-Identifier: GPL-2.0-only
/* Jobs: which there are, and how users start and stop them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/record.h"

static const char *const how_names[FM_JOB_HOWS] = { "box", "list", "grow" };

/* Return: the state of a job, in words. */
static const char *job_state(const struct fm_job *j, const struct fm_job_count *c)
{
	if (c->parts > 1)
		return "fallen-apart";
	return c->up < j->nodes ? "degraded" : "runs";
}

/* Return: members @from to @from + ANSWER_NODES_MAX - 1 of a job, by number. */
static json_t *members_json(const struct fabricd *d, const struct fm_job *j, uint32_t from)
{
	json_t *list = json_array();
	uint32_t n = j->nodes > from ? j->nodes - from : 0;
	uint32_t *node;

	n = n < ANSWER_NODES_MAX ? n : ANSWER_NODES_MAX;
	node = calloc(n + 1, sizeof(*node));
	for (uint32_t i = 0; node && i < torus_nodes(fm_shape(d->fm)); i++) {
		const struct fm_entry *e = fm_node(d->fm, i);

		if (e && e->job == j->id && e->number >= from && e->number - from < n)
			node[e->number - from] = i + 1;
	}
	for (uint32_t i = 0; node && i < n; i++) {
		const struct fm_entry *e = node[i] ? fm_node(d->fm, node[i] - 1) : NULL;

		if (e)
			json_array_append_new(list, json_pack("{s:I, s:o, s:o, s:s, s:b}", "number",
				(json_int_t)(from + i), "node", node_json(d, node[i] - 1),
				"name", text_json(e->name), "state", fm_node_state_name(e->state),
				"excluded", fm_out_of_service(d->fm, node[i] - 1)));
	}
	free(node);
	return list;
}

static json_t *job_json(const struct fabricd *d, const struct fm_job *j,
			const struct fm_job_count *c, json_t *members)
{
	(void)d;
	return json_pack("{s:s, s:o, s:o, s:I, s:s, s:I, s:I, s:I, s:s, s:o}", "name", j->name,
			 "uid", j->uid == SVC_NO_UID ? json_null() : json_integer(j->uid),
			 "by", text_json(j->by), "since", (json_int_t)j->since,
			 "how", how_names[j->how], "nodes", (json_int_t)j->nodes,
			 "up", (json_int_t)c->up, "parts", (json_int_t)c->parts,
			 "state", job_state(j, c), "members", members);
}

/* Reads "name". Return: NULL, after answering the request, if it is not a name of a job. */
static const char *read_name(struct request *rq)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789-_.";
	const char *name = json_string_value(json_object_get(rq->args, "name"));
	size_t n = name ? strlen(name) : 0;

	if (n && n <= TORUS_NAME_MAX && strspn(name, allowed) == n)
		return name;
	answer_error(rq, "usage", "name of the job '%.80s': must be 1 to %d letters, digits, "
		     "'-', '_' and '.'", name ? name : "", TORUS_NAME_MAX);
	return NULL;
}

static void no_such_job(struct request *rq, const char *name)
{
	answer_error(rq, "usage", "there is no job '%s': 'fabricctl job list' shows those that "
		     "there are", name);
}

/* Return: the jobs, or the one of that name with its members; NULL if there is no memory. */
static json_t *list_jobs(const struct fabricd *d, const char *name, uint32_t from)
{
	struct fm_job_count *count = calloc(FM_JOBS_MAX + 1, sizeof(*count));
	json_t *list = NULL;
	const struct fm_job *j;

	if (count && fm_job_counts(d->fm, count))
		list = json_array();
	for (uint32_t i = 0; list && (j = fm_job(d->fm, i)); i++)
		if (!name || !strcmp(j->name, name))
			json_array_append_new(list, job_json(d, j, &count[j->id],
					      name ? members_json(d, j, from) : json_null()));
	free(count);
	return list;
}

void answer_jobs(struct request *rq)
{
	const json_t *from = json_object_get(rq->args, "from");
	const char *name = NULL;
	json_t *list;

	if (!answer_ready(rq))
		return;
	if (json_object_get(rq->args, "name")) {
		name = read_name(rq);
		if (!name)
			return;
	}
	list = list_jobs(rq->d, name, (uint32_t)json_integer_value(from));
	if (!list) {
		answer_error(rq, "failed", "out of memory");
	} else if (name && !json_array_size(list)) {
		json_decref(list);
		no_such_job(rq, name);
	} else {
		answer_ok(rq, json_pack("{s:I, s:o}", "version",
					(json_int_t)fm_version(rq->d->fm), "jobs", list), NULL);
	}
}

/* --- start and stop -------------------------------------------------------------------- */

static void answer_started(struct request *rq, bool late)
{
	struct fabricd *d = rq->d;
	const char *name = json_string_value(json_object_get(rq->args, "name"));
	json_t *list;

	(void)late;
	if (!d->fm || !fm_is_root(d->fm)) {
		answer_error(rq, "unreachable",
			     "this node is not the root any more; 'fabricctl job "
			     "list' shows whether the job has begun or ended");
		return;
	}
	list = list_jobs(d, name, 0);
	answer_ok(rq, json_pack("{s:I, s:o?, s:b, s:o}", "version", (json_int_t)fm_version(d->fm),
				"jobs", list, "in_force", is_table_in_force(d->fm),
				"kept", kept_json(d->fm)), NULL);
}

/* Reads "how". Return: false, after answering the request, if it is unknown. */
static bool read_how(struct request *rq, uint8_t *how)
{
	const char *text = json_string_value(json_object_get(rq->args, "how"));

	for (*how = 0; *how < FM_JOB_HOWS; ++*how)
		if (!text || !strcmp(text, how_names[*how]))
			return true;
	answer_error(rq, "usage", "how '%.32s': must be box, list or grow", text);
	return false;
}

/*
 * Reads "nodes", each a name or coordinates. Return: the node ids; NULL, after answering the
 * request, if they are wrong
 */
static uint32_t *read_list(struct request *rq, uint32_t *n)
{
	json_t *nodes = json_object_get(rq->args, "nodes");
	uint32_t *list;

	*n = (uint32_t)json_array_size(nodes);
	if (!*n || *n > torus_nodes(fm_shape(rq->d->fm))) {
		answer_error(rq, "usage", "nodes: %u are listed, must be 1 to %u", *n,
			     torus_nodes(fm_shape(rq->d->fm)));
		return NULL;
	}
	list = calloc(*n, sizeof(*list));
	if (!list)
		answer_error(rq, "failed", "out of memory");
	for (uint32_t i = 0; list && i < *n; i++) {
		json_object_set(rq->args, "node", json_array_get(nodes, i));
		if (answer_node(rq, true, &list[i])) {
			free(list);
			return NULL;
		}
	}
	return list;
}

/*
 * Reads a number that each node of a job that grows must have. Return: false, after answering the
 * request, if it is out of range
 */
static bool read_term(struct request *rq, const char *key, uint32_t max, uint32_t *out)
{
	json_int_t n = json_integer_value(json_object_get(rq->args, key));

	*out = (uint32_t)n;
	if (n >= 0 && n <= max)
		return true;
	answer_error(rq, "usage", "%s %lld: must be 0 to %u", key, (long long)n, max);
	return false;
}

static bool read_terms(struct request *rq, struct fm_job_want *want)
{
	uint32_t links, margin;

	if (!read_term(rq, "min_links", TORUS_MAX_PORTS, &links) ||
	    !read_term(rq, "min_rate", INT32_MAX, &want->rate) ||
	    !read_term(rq, "min_margin", UINT16_MAX, &margin))
		return false;
	want->links = (uint8_t)links;
	want->margin = (uint16_t)margin;
	return true;
}

/*
 * Reads which nodes the job shall have; the caller frees @want->list. Return: false, after
 * answering the request, if they are wrong
 */
static bool read_want(struct request *rq, struct fm_job_want *want)
{
	json_int_t count = json_integer_value(json_object_get(rq->args, "count"));
	uint32_t all = torus_nodes(fm_shape(rq->d->fm));

	if (!read_how(rq, &want->how))
		return false;
	if (want->how == FM_JOB_LIST) {
		want->at = TORUS_NO_NODE;
		want->list = read_list(rq, &want->nodes);
		return want->list;
	}
	if (count < 1 || count > all) {
		answer_error(rq, "usage", "%lld nodes: must be 1 to %u", (long long)count, all);
		return false;
	}
	want->nodes = (uint32_t)count;
	if (want->how == FM_JOB_GROW && !read_terms(rq, want))
		return false;
	if (answer_node(rq, false, &want->at))
		return false;
	if (want->how == FM_JOB_GROW && want->at == TORUS_NO_NODE)
		want->at = rq->user.node == TORUS_NO_NODE ? fm_own(rq->d->fm) : rq->user.node;
	return true;
}

static void refuse_job(struct request *rq, int err, const char *name, const char *why)
{
	if (err == -EAGAIN)
		answer_error(rq, "not-ready", "the fabric is still bootstrapping");
	else if (err == -EPERM)
		answer_error(rq, "unreachable", "this node is not the root any more");
	else if (err == -EHOSTUNREACH && *why)
		answer_error(rq, "unreachable", "%s", why);
	else if (err == -EEXIST)
		answer_error(rq, "usage",
			     "there is a job '%s' already: choose another name, or stop "
			     "it first", name);
	else if (err == -ENOSPC && !*why)
		answer_error(rq, "failed", "there are %u jobs, which is the limit: stop one "
			     "first", FM_JOBS_MAX);
	else
		answer_error(rq, err == -EINVAL ? "usage" : "failed", "%s",
			     *why ? why : strerror(-err));
}

/* --- jobs that grow -------------------------------------------------------------------- */

static bool is_grown(struct request *rq)
{
	const char *name = json_string_value(json_object_get(rq->args, "name"));
	char why[FM_TEXT_MAX];
	int err = rq->d->fm ? fm_job_growth(rq->d->fm, name, why) : -EPERM;

	return err ? err != -EINPROGRESS : answer_in_force(rq);
}

static void answer_grown(struct request *rq, bool late)
{
	const char *name = json_string_value(json_object_get(rq->args, "name"));
	char why[FM_TEXT_MAX] = "";
	int err = rq->d->fm ? fm_job_growth(rq->d->fm, name, why) : -EPERM;

	if (err)
		refuse_job(rq, err == -EAGAIN || err == -EINVAL ? -ECANCELED : err, name,
			   err == -EINPROGRESS ? "the job still grows" : why);
	else
		answer_started(rq, late);
}

static void grow_job(struct request *rq, const struct record_event *e)
{
	const struct fm_job_want *want = &e->job.want;
	const struct fm_job_want first = { .how = FM_JOB_LIST, .nodes = 1, .at = TORUS_NO_NODE,
					   .list = &want->at };
	char why[FM_TEXT_MAX] = "", text[TORUS_TEXT_MAX];
	uint32_t node;
	int err = fm_job_given(rq->d->fm, e->job.job.name) ? -EEXIST :
		  fm_job_choose(rq->d->fm, &first, &node, why);

	if (!err) {
		*why = '\0';
		err = machine_event(rq->d, e);
	}

	if (err == -EHOSTUNREACH)
		snprintf(why, sizeof(why), "the manager of node %s does not answer",
			 torus_node_text(fm_shape(rq->d->fm), want->at, text));
	else if (err == -ENOSPC && !*why)
		snprintf(why, sizeof(why), "too many jobs grow at the same time: try again");
	if (err)
		refuse_job(rq, err, e->job.job.name, why);
	else
		answer_wait(rq, is_grown, answer_grown, ANSWER_CHANGE_NS);
}

static void place_job(struct request *rq, struct record_event *e, const struct fm_job_want *want)
{
	uint32_t *node = calloc(want->nodes, sizeof(*node));
	char why[FM_TEXT_MAX] = "";
	int err = node ? 0 : -ENOMEM;

	e->job.node = node;
	if (!err && fm_job_given(rq->d->fm, e->job.job.name))
		err = -EEXIST;
	if (!err)
		err = fm_job_choose(rq->d->fm, want, node, why);
	if (!err) {
		*why = '\0';
		err = machine_event(rq->d, e);
	}
	free(node);
	if (err)
		refuse_job(rq, err, e->job.job.name, why);
	else
		answer_wait(rq, answer_in_force, answer_started, ANSWER_CHANGE_NS);
}

static void start_job(struct request *rq, const char *name, const struct fm_job_want *want)
{
	struct record_event e = { .kind = RECORD_JOB, .now = loop_now(), .job.on = true };
	const struct fm_entry *at = fm_node(rq->d->fm, rq->user.node);

	e.job.job = (struct fm_job) {
		.how = want->how, .nodes = want->nodes, .uid = rq->user.uid };
	e.job.job.since = (uint64_t)loop_wall();
	strcpy(e.job.job.name, name);
	if (at)
		strcpy(e.job.job.by, at->name);
	if (want->how == FM_JOB_GROW) {
		e.job.want = *want;
		grow_job(rq, &e);
	} else {
		place_job(rq, &e, want);
	}
}

void answer_job_start(struct request *rq)
{
	struct fm_job_want want = { .list = NULL };
	const char *name;

	if (!answer_ready(rq))
		return;
	name = read_name(rq);
	if (!name || !read_want(rq, &want))
		return;
	start_job(rq, name, &want);
	free((void *)want.list);
}

void answer_job_stop(struct request *rq)
{
	struct record_event e = { .kind = RECORD_JOB, .now = loop_now(), .job.on = false };
	const struct fm_job *j;
	const char *name;
	int err;

	if (!answer_ready(rq))
		return;
	name = read_name(rq);
	if (!name)
		return;
	j = fm_job_given(rq->d->fm, name);
	if (!j) {
		no_such_job(rq, name);
		return;
	}
	if (!rq->user.privileged && rq->user.uid != j->uid) {
		answer_error(rq, "denied", "job '%s' belongs to user %u: only that user, root and "
			     "members of control_group may stop it", name, j->uid);
		return;
	}
	strcpy(e.job.job.name, name);
	e.job.job.uid = rq->user.uid;
	err = machine_event(rq->d, &e);
	if (err)
		refuse_job(rq, err, name, "");
	else
		answer_wait(rq, answer_in_force, answer_started, ANSWER_CHANGE_NS);
}
