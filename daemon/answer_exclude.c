// SPDX-License-Identifier: GPL-2.0-only
/* Orders of administrators: exclude and include, with the guard against cutting nodes off. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/record.h"
#include "daemon/fm/wire/msg.h"

bool is_table_in_force(const struct fm *fm)
{
	return fm && fm_is_root(fm) && fm_in_force(fm, fm_version(fm));
}

/*
 * Return: true if more than half of the candidates have the table on disk, or if all candidates
 * that are up have reported whether they have it.
 */
static bool is_decided(const struct fm_kept_count *k)
{
	return 2 * k->have > k->of || !k->wait;
}

bool answer_in_force(struct request *rq)
{
	struct fm_kept_count k;

	return is_table_in_force(rq->d->fm) && fm_kept_count(rq->d->fm, &k) && is_decided(&k);
}

json_t *kept_json(const struct fm *fm)
{
	struct fm_kept_count k;

	if (!fm_kept_count(fm, &k) || !k.keep)
		return json_null();
	return json_pack("{s:i, s:i}", "have", (int)k.have, "of", (int)k.of);
}

static void answer_excluded(struct request *rq, bool late)
{
	struct fabricd *d = rq->d;
	json_t *j;

	(void)late;
	if (!d->fm || !fm_is_root(d->fm)) {
		answer_error(rq, "unreachable",
			     "this node is not the root any more; 'table' shows whether the change "
			     "is in force");
		return;
	}
	j = table_json(d);
	json_object_set_new(j, "changed", json_boolean(rq->changed));
	json_object_set_new(j, "in_force", json_boolean(is_table_in_force(d->fm)));
	json_object_set_new(j, "kept", kept_json(d->fm));
	answer_ok(rq, j, NULL);
}

/* Reads "reason" into @to. Return: false, after answering the request, if it cannot be kept. */
static bool take_reason(struct request *rq, char *to)
{
	const char *text = json_string_value(json_object_get(rq->args, "reason"));
	bool fits = !text || strlen(text) < FM_REASON_MAX;

	for (const char *c = text; c && *c; c++)
		fits &= *c >= ' ' && *c <= '~';
	if (!fits) {
		answer_error(rq, "usage", "reason: must be at most %d characters of printable "
			     "ASCII", FM_REASON_MAX - 1);
		return false;
	}
	if (text)
		strcpy(to, text);
	return true;
}

#define TERM_MAX (365 * 86400)	/* seconds */

/* Reads "for" into @o. Return: false, after answering the request, if it is out of range. */
static bool take_term(struct request *rq, struct fm_order *o)
{
	const json_t *term = json_object_get(rq->args, "for");
	json_int_t s = json_integer_value(term);

	if (!json_is_integer(term))
		return true;
	if (s < 1 || s > TERM_MAX) {
		answer_error(rq, "usage", "for: must be 1 to %d seconds", TERM_MAX);
		return false;
	}
	o->until = o->since + (uint64_t)s;
	return true;
}

/*
 * Reads an order; for an inclusion, reads only the user. The time of an order is that of the root's
 * clock, so that the times of all orders of one root ascend. Return: false, after answering the
 * request, if an argument is wrong.
 */
static bool read_order(struct request *rq, bool on, struct fm_order *o)
{
	const struct fm_entry *e = fm_node(rq->d->fm, rq->user.node);

	o->uid = rq->user.uid;
	o->since = (uint64_t)loop_wall();
	snprintf(o->by, sizeof(o->by), "%s", e ? e->name : "");
	return !on || (take_reason(rq, o->reason) && take_term(rq, o));
}

/* Copies the item @i of "links", "1,0:+x" or "1,0", to the arguments "node" and "port". */
static void take_link(struct request *rq, size_t i)
{
	const char *text = json_string_value(json_array_get(json_object_get(rq->args, "links"), i));
	const char *colon;

	if (!text)
		return;		/* without "links", the request has "node" and "port" already */
	colon = strchr(text, ':');
	json_object_set_new(rq->args, "node",
			    json_stringn(text, colon ? (size_t)(colon - text) : strlen(text)));
	if (colon)
		json_object_set_new(rq->args, "port", json_string(colon + 1));
	else
		json_object_del(rq->args, "port");
}

/* Reads the item @i into @e. Return: false, after answering the request, if it is wrong. */
static bool read_link(struct request *rq, size_t i, struct record_event *e)
{
	take_link(rq, i);
	return !answer_node(rq, true, &e->exclude.node) && !answer_port(rq, &e->exclude.port);
}

/* Return: true if @o excludes all @ports of @node. */
static bool is_order_about(const struct fm_order *o, uint32_t node, unsigned int ports)
{
	return o->node == node && (o->ports & ports) == ports;
}

/* Return: the order that excludes all @ports of @node already; NULL if there is none. */
static const struct fm_order *find_order(const struct fabricd *d, uint32_t node, unsigned int ports)
{
	const struct fm_order *o;

	for (uint32_t i = 0; (o = fm_order_given(d->fm, i)); i++)
		if (is_order_about(o, node, ports))
			return o;
	return NULL;
}

/*
 * Reads the item @i as an order. A cable that is excluded already is named by the same end again.
 * A user who gives no reason does not take back the present one: "drain" excludes again what was
 * excluded for a reason.
 */
static bool read_target(struct request *rq, size_t i, struct record_event *e)
{
	const struct torus_shape *shape = fm_shape(rq->d->fm);
	unsigned int all = (1u << 2 * shape->ndims) - 1, port;
	const struct fm_order *o;
	uint32_t peer;

	if (!read_link(rq, i, e))
		return false;
	if (!e->exclude.on)
		return true;
	port = (unsigned int)e->exclude.port;
	o = find_order(rq->d, e->exclude.node, e->exclude.port < 0 ? all : 1u << port);
	if (!o && e->exclude.port >= 0) {
		peer = torus_neighbour(shape, e->exclude.node, port);
		port = torus_dir_opposite(shape, port);
		o = find_order(rq->d, peer, 1u << port);
		if (o && o->ports != all) {
			e->exclude.node = peer;
			e->exclude.port = (int)port;
		}
	}
	if (!json_object_get(rq->args, "reason"))
		strcpy(e->exclude.order.reason, o ? o->reason : "");
	return true;
}

static bool changes_link(const struct fabricd *d, const struct record_event *e)
{
	const struct fm_order *o = &e->exclude.order;

	return fm_exclude_changes(d->fm, e->exclude.node, e->exclude.port, e->exclude.on,
				  e->exclude.on ? o : NULL);
}

/* Writes the names of nodes into @buf: "1,1 ('n1-1'), 2,1 ('n2-1') and 3 more". */
static void name_severed(const struct fabricd *d, const struct fm_severed *s, char *buf,
			 size_t room)
{
	uint32_t n = s->nodes < FM_SEVERED_MAX ? s->nodes : FM_SEVERED_MAX;
	char at[TORUS_TEXT_MAX];
	size_t len = 0;

	*buf = '\0';
	for (uint32_t i = 0; i < n && len < room; i++) {
		const struct fm_entry *e = fm_node(d->fm, s->node[i]);

		len += (size_t)snprintf(buf + len, room - len, "%s%s ('%.32s')", i ? ", " : "",
					torus_node_text(fm_shape(d->fm), s->node[i], at),
					e ? e->name : "");
	}
	if (n < s->nodes && len < room)
		snprintf(buf + len, room - len, " and %u more", s->nodes - n);
}

/*
 * Return: true if all cables of @node are excluded already, or will be excluded by the @n orders
 * @end.
 */
static bool loses_all(const struct fabricd *d, uint32_t node, const struct fm_target *end, size_t n)
{
	const struct torus_shape *shape = fm_shape(d->fm);

	for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
		uint32_t peer = torus_neighbour(shape, node, p);
		int back = (int)torus_dir_opposite(shape, p);
		bool out = peer == node || fm_excluded(d->fm, node, p);

		for (size_t i = 0; i < n; i++)
			out |= (end[i].node == node && end[i].port == (int)p) ||
			       (end[i].node == peer && (end[i].port == back || end[i].port < 0));
		if (!out)
			return false;
	}
	return true;
}

/*
 * Return: true if one of the orders @end excludes the last cable of a node that would be cut off.
 */
static bool ends_last_cable(const struct fabricd *d, const struct fm_severed *s,
			    const struct fm_target *end, size_t n)
{
	for (uint32_t k = 0; k < s->nodes && k < FM_SEVERED_MAX; k++)
		for (size_t i = 0; i < n; i++) {
			uint32_t node = end[i].node;

			if (end[i].port < 0)
				continue;
			if (node != s->node[k])
				node = torus_neighbour(fm_shape(d->fm), node,
						       (unsigned int)end[i].port);
			if (node == s->node[k] && loses_all(d, node, end, n))
				return true;
		}
	return false;
}

/* Return: false, after answering the request, if the order would divide a job. */
static bool divides_no_job(struct request *rq, const struct fm_severed *s)
{
	if (!s->job)
		return true;
	answer_error(rq, "cuts-off", "would divide job '%s' into %u parts, which could not reach "
		     "each other: nothing was excluded; wait until the job ends, or --force "
		     "excludes it anyway", s->job->name, s->parts);
	return false;
}

/*
 * Refuses an order that would cut nodes off, or divide a job, unless the user has forced it. The
 * check assumes that all earlier orders are in force. Return: false if it was refused, and the
 * request is answered.
 */
static bool cuts_nothing(struct request *rq, size_t n)
{
	struct fm_target *end = calloc(n, sizeof(*end));
	struct fm_severed s = { .nodes = 0 };
	struct record_event e;
	bool last = false;
	char who[400];
	int err = end ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < n && read_link(rq, i, &e); i++)
		end[i] = (struct fm_target) { e.exclude.node, e.exclude.port };
	if (!err)
		err = fm_exclude_severs(rq->d->fm, end, (uint32_t)n, &s);
	if (!err)
		last = ends_last_cable(rq->d, &s, end, n);
	free(end);
	if (err == -ENOMEM) {
		answer_error(rq, "failed", "no memory to find out what would be cut off");
		return false;
	}
	if (err == -EAGAIN) {
		answer_error(rq, "not-ready",
			     "the root has made no table yet, so it cannot tell what "
			     "would be cut off: try again");
		return false;
	}
	if (!err && s.left < 2 && s.went > s.left) {
		answer_error(rq, "cuts-off", "would leave %s in service: nothing was excluded; "
			     "--force excludes it anyway", s.left ? "only one node" : "no node");
		return false;
	}
	if (err)	/* other errors are reported when the manager gets the order */
		return true;
	if (!s.nodes)
		return divides_no_job(rq, &s);
	name_severed(rq->d, &s, who, sizeof(who));
	answer_error(rq, "cuts-off", "would cut off %s, and leave %llu pairs of nodes without a "
		     "path: nothing was excluded; %s", who, (unsigned long long)s.pairs, last ?
		     "name the node to take it out as a whole, or --force excludes it anyway" :
		     "--force excludes it anyway");
	return false;
}

/* Checks all links before the first is changed; one table then contains all of them. */
static void take_exclusion(struct request *rq, bool on)
{
	size_t n = json_array_size(json_object_get(rq->args, "links")), last = 0;
	struct record_event e = { .kind = RECORD_EXCLUDE, .now = loop_now(), .exclude.on = on };
	int err = 0;

	if (!answer_ready(rq))
		return;
	n = n ? n : 1;
	for (size_t i = 0; i < n; i++)
		if (!read_link(rq, i, &e))
			return;
	if (!read_order(rq, on, &e.exclude.order))
		return;
	if (on && !json_is_true(json_object_get(rq->args, "force")) && !cuts_nothing(rq, n))
		return;
	for (size_t i = 0; i < n && read_target(rq, i, &e); i++) {
		if (!changes_link(rq->d, &e))
			continue;
		rq->changed = true;
		last = i;
	}
	for (size_t i = 0; rq->changed && !err && i <= last && read_target(rq, i, &e); i++) {
		e.exclude.more = i < last;
		if (i == last || changes_link(rq->d, &e))
			err = machine_event(rq->d, &e);
	}
	if (err == -EAGAIN)
		answer_error(rq, "not-ready", "the fabric is still bootstrapping");
	else if (err == -EPERM)
		answer_error(rq, "unreachable", "this node is not the root any more");
	else if (err)
		answer_error(rq, "failed", "%s: %s", rq->cmd->name, strerror(-err));
	else
		answer_wait(rq, answer_in_force, answer_excluded, ANSWER_CHANGE_NS);
}

void answer_exclude(struct request *rq)
{
	take_exclusion(rq, true);
}

void answer_include(struct request *rq)
{
	take_exclusion(rq, false);
}
