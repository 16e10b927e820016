// SPDX-License-Identifier: GPL-2.0-only
/* Answers for which nodes ask their NICs: links, counters, rows, park, and replay (question.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>
#include <uapi/torus_policy.h>
#include "daemon/answer.h"
#include "daemon/line.h"
#include "daemon/question.h"

#define LINKS_MAX	2048	/* ends of cables in a reply */
#define ROWS_MAX	131072	/* in a reply: of several nodes, or of one if it has more */
#define RUNS_MAX	(1 << 20)	/* the same for rows that are sent as runs of equal rows */
#define RUNS_BYTES_MAX	(8 << 20)	/* bytes of runs in a reply */
#define ROWS_AT_ONCE	4096

static void add_counters(json_t *to, const struct torus_counter_desc *desc,
			 const uint64_t *value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		json_object_set_new(to, desc[i].name, json_integer((json_int_t)value[i]));
}

/*
 * Removes the answers of nodes that could not ask their NICs, so that these count as missing.
 * Return: the error of the one node that the request is about; NULL: there is none.
 */
static json_t *take_errors(struct request *rq, json_t **by_node, uint32_t n)
{
	json_t *why = NULL;

	for (uint32_t i = 0; i < n; i++) {
		json_t *error = json_object_get(by_node[i], "error");

		if (!json_is_string(error))
			continue;
		if (i == rq->node && !rq->count)
			why = json_incref(error);
		json_decref(by_node[i]);
		by_node[i] = NULL;
	}
	return why;
}

/* Answers that the one node that the request is about is silent. */
static void answer_silent(struct request *rq)
{
	answer_error(rq, "unreachable", rq->rootless ?
		     "no root answers, so node '%s' cannot be asked from here: run the command on that node" :
		     "node '%s' does not answer", json_string_value(json_object_get(rq->args, "node")));
}

/* Joins the arrays of all nodes into one, and answers with it. */
static void flat_end(struct request *rq, json_t **by_node, uint32_t n)
{
	json_t *all, *missing, *why;

	if (!answer_ready(rq))
		return;
	why = take_errors(rq, by_node, n);
	if (why) {
		answer_error(rq, "failed", "%s", json_string_value(why));
		json_decref(why);
		return;
	}
	all = json_array();
	for (uint32_t i = 0; i < n; i++) {
		if (json_is_array(by_node[i]))
			json_array_extend(all, by_node[i]);
		else if (by_node[i])
			json_array_append(all, by_node[i]);
	}
	missing = answer_missing(rq, by_node, n);
	if (rq->node != TORUS_NO_NODE && !rq->count && !by_node[rq->node]) {
		json_decref(all);
		json_decref(missing);
		answer_silent(rq);
		return;
	}
	if (rq->cmd->flags & ANSWER_KNOWN)
		answer_label(rq, all);
	answer_ok(rq, all, missing);
}

static void one_end(struct request *rq, json_t **by_node, uint32_t n)
{
	json_t *data = rq->node < n ? by_node[rq->node] : NULL;
	const char *error = json_string_value(json_object_get(data, "error"));

	if (!data) {
		answer_silent(rq);
	} else if (error) {
		answer_error(rq, "failed", "%s", error);
	} else {
		if (rq->cmd->flags & ANSWER_KNOWN)
			json_object_set_new(data, "rootless", json_boolean(rq->rootless));
		answer_ok(rq, json_incref(data), NULL);
	}
}

/* --- links ----------------------------------------------------------------- */

/* Return: the other end of the cable, which is not that of the neighbour if the wiring is wrong. */
static json_t *peer_json(struct fabricd *d, const struct torus_link *l)
{
	const struct fm_entry *e;
	uint32_t node;

	if (!l->peer_guid)
		return json_null();
	node = torus_neighbour(fm_shape(d->fm), fm_own(d->fm), l->port);
	e = fm_node(d->fm, node);
	if (!e || e->guid != l->peer_guid)
		node = fm_node_by_guid(d->fm, l->peer_guid);
	return json_pack("{s:o, s:o}", "node", node_json(d, node), "port",
			 port_json(d, l->peer_port));
}

/* Return: where the cable should end; null in a dimension of one node. */
static json_t *expected_json(const struct fabricd *d, const struct torus_link *l)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	uint32_t own = fm_own(d->fm), node = torus_neighbour(shape, own, l->port);

	if (node == own)
		return json_null();
	return json_pack("{s:o, s:o}", "node", node_json(d, node), "port",
			 port_json(d, torus_dir_opposite(shape, l->port)));
}

/* Return: the name of the node at the other end, by the table or its Init; NULL: not known. */
static const char *peer_name(const struct fabricd *d, const struct torus_link *l,
			     struct fm_neighbour *n)
{
	const struct fm_entry *e = fm_node(d->fm, fm_node_by_guid(d->fm, l->peer_guid));

	if (e && e->name[0])
		return e->name;
	return fm_neighbour(d->fm, l->port, n) && n->guid == l->peer_guid ? n->name : NULL;
}

static void add_names(const struct fabricd *d, const struct torus_link *l, json_t *j)
{
	json_t *peer = json_object_get(j, "peer");
	struct fm_neighbour n;

	json_object_set_new(j, "name", json_string(d->config.fm.name));
	if (json_is_object(peer))
		json_object_set_new(peer, "name", text_json(peer_name(d, l, &n)));
}

/* Return: the setting; null: the driver of that NIC does not set an equaliser */
static json_t *equaliser_json(uint8_t setting)
{
	return setting ? json_integer(setting - 1) : json_null();
}

static json_t *lanes_json(const struct torus_link *l)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < l->nlanes; i++) {
		const struct torus_lane *a = &l->lane[i];

		json_array_append_new(list, json_pack("{s:s, s:I, s:i, s:i, s:i, s:o, s:o, s:i, s:i, s:f}",
			"state", torus_lane_name(a->state), "rate",
			a->state == TORUS_LANE_ON ? (json_int_t)l->gauge[TORUS_PG_RATE] : 0,
			"margin", a->margin, "pre", a->pre, "post", a->post,
			"ctle", equaliser_json(a->ctle), "dfe", equaliser_json(a->dfe),
			"height", a->height, "width", a->width, "ber", (double)a->ber / (double)TORUS_BER_ONE));
	}
	return list;
}

/* Return: the properties of a modelled line; null: the line is a real one. */
static json_t *line_json(const struct torus_link *l)
{
	const struct torus_line *a = &l->line;

	if (!l->modelled)
		return json_null();
	return json_pack("{s:I, s:I, s:I, s:i, s:I, s:I, s:i, s:i}", "length",
			 (json_int_t)a->length, "loss", (json_int_t)a->loss, "crosstalk",
			 (json_int_t)a->crosstalk, "temperature",
			 (int)a->temperature - TORUS_KELVIN, "drift", (json_int_t)a->drift,
			 "ageing", (json_int_t)a->ageing, "aged", a->aged, "dead", a->dead);
}

/* Sets "excluded" and "until" of @j, the object of the link @l. */
static void add_excluded(struct fabricd *d, const struct torus_link *l, json_t *j)
{
	uint64_t until = fm_excluded_until(d->fm, fm_own(d->fm), l->port);
	const char *why = fm_excluded(d->fm, fm_own(d->fm), l->port);

	json_object_set_new(j, "excluded", why ? json_string(why) : json_null());
	json_object_set_new(j, "until", until ? json_integer((json_int_t)until) : json_null());
}

/* Return: the reason why the link is not up; NULL: it has none. */
static const char *reason_text(const struct torus_link *l)
{
	return torus_link_reason_name(l->state == TORUS_LINK_UP ? TORUS_REASON_NONE : l->reason);
}

/*
 * Return: only what a table of links shows. With all counters the links of 1024 nodes are 15 MB of
 * text; writing and reading it takes the root and the client most of their time.
 */
static json_t *brief_json(struct fabricd *d, const struct torus_link *l)
{
	static const unsigned char counters[] = {
		TORUS_PC_TX_BYTES, TORUS_PC_RX_BYTES, TORUS_PC_RETRIES, TORUS_PC_CRC_ERRORS,
		TORUS_PC_SEQ_ERRORS, TORUS_PC_MALFORMED, TORUS_PC_RETRAINS,
	}, gauges[] = {
		TORUS_PG_LANES, TORUS_PG_WIDTH, TORUS_PG_RATE, TORUS_PG_RATE_MAX, TORUS_PG_MARGIN,
		TORUS_PG_MARGIN_TRAIN, TORUS_PG_WAITED,
	};
	const char *state = torus_link_state_name(l->state), *reason = reason_text(l);
	json_t *j = json_pack("{s:o, s:o, s:o, s:s, s:I, s:n, s:s, s:n, s:s, s:o}",
			      "node", node_json(d, fm_own(d->fm)), "port", port_json(d, l->port),
			      "peer", peer_json(d, l), "state", state ? state : "?",
			      "state_age", (json_int_t)l->state_age, "downs",
			      "reason", reason ? reason : "?", "held_ms",
			      "lower", l->lower, "line", line_json(l));

	json_object_set_new(j, "expected", expected_json(d, l));
	add_excluded(d, l, j);
	for (unsigned int i = 0; j && i < sizeof(counters); i++)
		add_counters(j, &torus_port_counters[counters[i]], &l->counter[counters[i]], 1);
	for (unsigned int i = 0; j && i < sizeof(gauges); i++)
		add_counters(j, &torus_port_gauges[gauges[i]], &l->gauge[gauges[i]], 1);
	return j;
}

static json_t *link_json(struct fabricd *d, const struct torus_link *l)
{
	const char *state = torus_link_state_name(l->state), *reason = reason_text(l);
	json_t *j;

	j = json_pack("{s:o, s:o, s:o, s:s, s:I, s:s, s:b, s:n, s:b, s:s, s:I, s:s*, s:s*, s:o}",
		      "node", node_json(d, fm_own(d->fm)), "port", port_json(d, l->port),
		      "peer", peer_json(d, l), "state", state ? state : "?",
		      "state_age", (json_int_t)l->state_age,
		      "reason", reason ? reason : "?", "admin", l->admin,
		      "held_ms", "closed", l->closed,
		      "lower", l->lower, "session", (json_int_t)l->session,
		      "retry", torus_retry_name(l->retry),
		      "retry_wanted", torus_retry_name(l->retry_wanted), "line", line_json(l));
	if (!j)
		return NULL;
	json_object_set_new(j, "last_reason", l->reason == TORUS_REASON_NONE ? json_null() :
			    text_json(torus_link_reason_name(l->reason)));
	json_object_set_new(j, "downs", json_null());
	json_object_set_new(j, "expected", expected_json(d, l));
	add_names(d, l, j);
	add_excluded(d, l, j);
	add_counters(j, torus_port_counters, l->counter, TORUS_PC_COUNT);
	add_counters(j, torus_port_gauges, l->gauge, TORUS_PG_COUNT);
	return j;
}

json_t *links_json(struct fabricd *d, const struct torus_link *links, unsigned int n, bool lanes,
		   bool degraded, bool brief)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < n; i++) {
		json_t *j;

		if (degraded && !line_degraded(&links[i]))
			continue;
		j = brief ? brief_json(d, &links[i]) : link_json(d, &links[i]);
		if (lanes)
			json_object_set_new(j, "lane", lanes_json(&links[i]));
		json_array_append_new(list, j);
	}
	return list;
}

static bool begin_links(struct question *q, const json_t *cmd)
{
	q->lanes = json_is_true(json_object_get(cmd, "lanes"));
	q->degraded = json_is_true(json_object_get(cmd, "degraded"));
	q->brief = json_is_true(json_object_get(cmd, "brief"));
	return true;
}

static json_t *tell_links(struct question *q)
{
	return links_json(q->d, q->link, q->n, q->lanes, q->degraded, q->brief);
}

const struct question_kind question_links_get = {
	.begin = begin_links, .run = question_links, .tell = tell_links,
};

static void gather_nodes(struct request *rq, bool needed,
			 void (*end)(struct request *rq, json_t **by_node, uint32_t n))
{
	if (answer_ready(rq) && !answer_node(rq, needed, &rq->node))
		answer_gather(rq, end);
}

/*
 * Gathers answers of one node, of all, or, if the request has a "count", of the nodes from "node"
 * on. A reply has room for @max items: a node has @each of them in each dimension; 0: one.
 */
static void gather_some(struct request *rq, uint32_t max, unsigned int each,
			void (*end)(struct request *rq, json_t **by_node, uint32_t n))
{
	if (!json_is_integer(json_object_get(rq->args, "count")))
		gather_nodes(rq, false, end);
	else if (answer_ready(rq) &&
		 answer_range(rq, each ? max / (each * fm_shape(rq->d->fm)->ndims) : max))
		answer_gather(rq, end);
}

/* Sets "held_ms" of the link of @node at @port, if it is among @links, to @ms. */
static void set_held(struct fabricd *d, json_t *links, uint32_t node, unsigned int port,
		     double ms)
{
	json_t *of = node_json(d, node), *at = port_json(d, port), *v;
	size_t i;

	json_array_foreach(links, i, v)
		if (json_equal(json_object_get(v, "port"), at) &&
		    json_equal(json_object_get(v, "node"), of))
			json_object_set_new(v, "held_ms", json_real(ms));
	json_decref(at);
	json_decref(of);
}

/*
 * On the root, which alone knows it: adds to links how long they are still held down.
 * @all: links of all nodes; NULL: @by_node has those of each of @n nodes
 */
static void add_held(struct fabricd *d, json_t *all, json_t **by_node, uint32_t n)
{
	struct fm_hold h;

	for (unsigned int i = 0; d->fm && fm_held(d->fm, i, loop_now(), &h); i++) {
		double ms = (double)h.left * 1e-6;

		if (all || h.node < n)
			set_held(d, all ? all : by_node[h.node], h.node, h.port, ms);
		if (all || h.peer < n)
			set_held(d, all ? all : by_node[h.peer], h.peer, h.peer_port, ms);
	}
}

/* On the root, which alone knows it: adds how often it has seen the links of @node lost. */
static void add_downs(struct fabricd *d, uint32_t node, json_t *links)
{
	unsigned int port;
	uint32_t downs;
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		const char *text = json_string_value(json_object_get(v, "port"));

		if (text && !torus_port_parse(text, fm_shape(d->fm)->ndims, &port) &&
		    fm_downs(d->fm, node, port, &downs))
			json_object_set_new(v, "downs", json_integer(downs));
	}
}

static void links_end(struct request *rq, json_t **by_node, uint32_t n)
{
	add_held(rq->d, NULL, by_node, n);
	for (uint32_t i = 0; rq->d->fm && i < n; i++)
		add_downs(rq->d, i, by_node[i]);
	flat_end(rq, by_node, n);
}

/* Return: the coordinates of nodes whose manager is silent, so that their lines are not known. */
static json_t *silent_json(struct fabricd *d)
{
	json_t *list = json_array();
	const struct fm_entry *e;

	for (uint32_t i = 0; (e = fm_node(d->fm, i)); i++)
		if (e->state == FM_NODE_SILENT)
			json_array_append_new(list, node_json(d, i));
	return list;
}

/* Return: the root's list of all degraded links in the fabric, with the present holds. */
static json_t *degraded_json(struct fabricd *d)
{
	json_t *kept = lines_json(d), *list = json_deep_copy(kept);

	json_decref(kept);
	add_held(d, list, NULL, 0);
	return list;
}

static void answer_degraded(struct request *rq)
{
	json_t *list = degraded_json(rq->d);

	answer_label(rq, list);
	answer_ok(rq, list, silent_json(rq->d));
}

void answer_links(struct request *rq)
{
	bool lanes = json_is_true(json_object_get(rq->args, "lanes"));
	bool degraded = json_is_true(json_object_get(rq->args, "degraded"));

	if (!degraded || lanes || json_is_string(json_object_get(rq->args, "node")))
		gather_some(rq, LINKS_MAX, 2, links_end);
	else if (answer_ready(rq))
		answer_degraded(rq);
}

/* --- one end of a cable ------------------------------------------------------ */

/* Reads the port that the request names. */
static bool begin_port(struct question *q, const json_t *cmd)
{
	const char *text = json_string_value(json_object_get(cmd, "port"));

	q->up = json_is_true(json_object_get(cmd, "up"));
	return text && !torus_port_parse(text, fm_shape(q->d->fm)->ndims, &q->port);
}

static void gather_end_of_cable(struct request *rq)
{
	int port;

	if (!answer_ready(rq) || answer_port(rq, &port))
		return;
	if (port < 0)
		answer_error(rq, "usage", "'%s' needs a port", rq->cmd->name);
	else
		gather_nodes(rq, true, one_end);
}

static bool begin_eye(struct question *q, const json_t *cmd)
{
	json_int_t lane = json_integer_value(json_object_get(cmd, "lane"));

	if (!begin_port(q, cmd))
		return false;
	if (lane < 0 || lane >= TORUS_LANES_MAX) {
		snprintf(q->error, sizeof(q->error), "there is no such lane");
		return false;
	}
	q->lane = (unsigned int)lane;
	return true;
}

static int run_eye(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;

	return torus_eye_get(dev, q->port, q->lane, &q->eye);
}

static json_t *tell_eye(struct question *q)
{
	const struct torus_eye *eye = &q->eye;
	char text[2 * TORUS_EYE_COLS + 1];
	json_t *rows = json_array();

	for (unsigned int r = 0; r < TORUS_EYE_ROWS; r++) {
		for (unsigned int c = 0; c < TORUS_EYE_COLS; c++)
			snprintf(text + 2 * c, 3, "%02x", eye->map[r][c]);
		json_array_append_new(rows, json_string(text));
	}
	return json_pack("{s:o, s:o, s:i, s:i, s:i, s:i, s:o}", "node",
			 node_json(q->d, fm_own(q->d->fm)), "port", port_json(q->d, q->port),
			 "lane", (int)q->lane, "swing", eye->swing,
			 "mask_height", eye->mask_height, "mask_width", eye->mask_width,
			 "rows", rows);
}

const struct question_kind question_eye_get = {
	.begin = begin_eye, .run = run_eye, .tell = tell_eye, .words = true,
};

void answer_eye(struct request *rq)
{
	json_t *lane = json_object_get(rq->args, "lane");

	if (lane && (!json_is_integer(lane) || json_integer_value(lane) < 0 ||
			  json_integer_value(lane) >= TORUS_LANES_MAX))
		answer_error(rq, "usage", "lane: allowed 0 to %d", TORUS_LANES_MAX - 1);
	else
		gather_end_of_cable(rq);
}

/* Takes the port up or down. The NIC keeps this state when its manager is restarted. */
static int run_set_port(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;

	return torus_admin_set(dev, q->port, q->up);
}

static json_t *tell_set_port(struct question *q)
{
	char where[TORUS_TEXT_MAX], text[2 * TORUS_TEXT_MAX];
	struct fabricd *d = q->d;

	snprintf(text, sizeof(text), "port %s:%s was taken %s by an administrator", d->own,
		 torus_port_text(fm_shape(d->fm)->ndims, q->port, where), q->up ? "up" : "down");
	fabricd_event(d, loop_wall(), "", q->up ? FM_INFO : FM_WARNING, "admin", text);
	return json_pack("{s:o, s:o, s:b}", "node", node_json(d, fm_own(d->fm)), "port",
			 port_json(d, q->port), "up", q->up);
}

const struct question_kind question_port_set = {
	.begin = begin_port, .run = run_set_port, .tell = tell_set_port, .words = true,
};

static int run_retrain(struct nic_question *nq, struct torus_dev *dev)
{
	return torus_retrain(dev, ((struct question *)nq)->port);
}

static json_t *tell_retrain(struct question *q)
{
	return json_pack("{s:o, s:o}", "node", node_json(q->d, fm_own(q->d->fm)), "port",
			 port_json(q->d, q->port));
}

const struct question_kind question_retrain = {
	.begin = begin_port, .run = run_retrain, .tell = tell_retrain, .words = true,
};

static bool begin_set_retry(struct question *q, const json_t *cmd)
{
	const char *protocol = json_string_value(json_object_get(cmd, "protocol"));

	return protocol && !torus_retry_parse(protocol, &q->protocol) && begin_port(q, cmd);
}

static int run_set_retry(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;

	return torus_retry_set(dev, q->port, q->protocol);
}

static json_t *tell_set_retry(struct question *q)
{
	return json_pack("{s:o, s:o, s:s}", "node", node_json(q->d, fm_own(q->d->fm)), "port",
			 port_json(q->d, q->port), "retry_wanted", torus_retry_name(q->protocol));
}

const struct question_kind question_retry_set = {
	.begin = begin_set_retry, .run = run_set_retry, .tell = tell_set_retry, .words = true,
};

void answer_set_port(struct request *rq)
{
	if (json_is_boolean(json_object_get(rq->args, "up")))
		gather_end_of_cable(rq);
	else
		answer_error(rq, "usage", "port: argument 'up' is missing: true or false");
}

void answer_retrain(struct request *rq)
{
	gather_end_of_cable(rq);
}

void answer_set_retry(struct request *rq)
{
	const char *protocol = json_string_value(json_object_get(rq->args, "protocol"));
	enum torus_retry parsed;

	if (protocol && !torus_retry_parse(protocol, &parsed))
		gather_end_of_cable(rq);
	else
		answer_error(rq, "usage",
			     "retry: protocol '%s': allowed angara, acknak, hippi, auto",
			     protocol ? protocol : "");
}

/* --- counters -------------------------------------------------------------- */

static json_t *flow_json(const struct torus_flow *flow)
{
	json_t *j = json_object();

	for (unsigned int i = 0; i < TORUS_FC_COUNT; i++) {
		json_t *colours = json_array();

		for (unsigned int c = 0; c < TORUS_COLOURS; c++)
			json_array_append_new(colours,
					      json_integer((json_int_t)flow->counter[i][c]));
		json_object_set_new(j, torus_flow_counters[i].name, colours);
	}
	return j;
}

static int run_counters(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = torus_device_get(dev, &q->dev);

	return err ? err : torus_flow_get(dev, &q->flow);
}

static json_t *tell_counters(struct question *q)
{
	json_t *j;

	if (!q->dev.placed)
		return NULL;
	j = json_pack("{s:o}", "node", node_json(q->d, q->dev.node));
	add_counters(j, torus_node_counters, q->dev.counter, TORUS_NC_COUNT);
	json_object_set_new(j, "flow", flow_json(&q->flow));
	return j;
}

const struct question_kind question_counters_get = { .run = run_counters, .tell = tell_counters };

void answer_counters(struct request *rq)
{
	gather_some(rq, ANSWER_NODES_MAX, 0, flat_end);
}

/* --- rows ------------------------------------------------------------------ */

#define ROW_DIGITS 16

/* Writes the digits of @row and a NUL. */
static void row_text(uint64_t row, char *text)
{
	for (unsigned int i = ROW_DIGITS; i-- > 0; row >>= 4)
		text[i] = "0123456789abcdef"[row & 15];
	text[ROW_DIGITS] = '\0';
}

/* Counts the rows. */
static int size_rows(struct question *q, struct torus_dev *dev)
{
	int err = torus_device_get(dev, &q->dev);

	if (err || !q->dev.placed)
		return err ? err : -EAGAIN;
	q->nrows = torus_nodes(&q->dev.shape);
	q->row = calloc(q->nrows ? q->nrows : 1, sizeof(*q->row));
	return q->row ? 0 : -ENOMEM;
}

/*
 * Reads some rows. If rows were written since the last call, it starts again from the first row,
 * because all must be of one version.
 */
static int run_rows(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	uint32_t got = ROWS_AT_ONCE;
	uint64_t version;
	int err = q->row ? 0 : size_rows(q, dev);

	if (got > q->nrows - q->rows_done)
		got = q->nrows - q->rows_done;
	if (!err)
		err = torus_rows_get(dev, q->rows_done, q->row + q->rows_done, &got, &version);
	if (err || !got)
		return err ? err : -EIO;
	if (q->rows_done && version != q->rows_version) {
		q->rows_done = 0;
		return NICQ_MORE;
	}
	q->rows_version = version;
	q->rows_done += got;
	return q->rows_done < q->nrows ? NICQ_MORE : 0;
}

static bool begin_rows(struct question *q, const json_t *cmd)
{
	q->joined = json_is_integer(json_object_get(cmd, "count"));
	q->runs = json_is_true(json_object_get(cmd, "runs"));
	return true;
}

static json_t *rows_apart(const struct question *q)
{
	json_t *list = json_array();
	char text[ROW_DIGITS + 1];

	for (uint32_t i = 0; i < q->nrows; i++) {
		row_text(q->row[i], text);
		json_array_append_new(list, json_string(text));
	}
	return list;
}

/*
 * Return: all rows in one text. A fabric of 1024 nodes has a million rows. One text for each row
 * costs over a second of processor time until fabricctl has it, one text for each node a tenth.
 */
static json_t *rows_joined(const struct question *q)
{
	char *text = malloc((size_t)q->nrows * ROW_DIGITS + 1);
	json_t *j;

	for (uint32_t i = 0; text && i < q->nrows; i++)
		row_text(q->row[i], text + (size_t)i * ROW_DIGITS);
	j = text ? json_stringn_nocheck(text, (size_t)q->nrows * ROW_DIGITS) : NULL;
	free(text);
	return j;
}

/*
 * Return: all rows in one text, as runs of equal rows. Many destinations that follow each other
 * have equal rows: a node of 16x8x8 has 1024 rows in some 260 runs, so this is a quarter of all
 * digits. A run is never longer than its rows with commas between them.
 */
static json_t *rows_runs(const struct question *q)
{
	char *text = malloc((size_t)q->nrows * (ROW_DIGITS + 1) + 1), *at = text;
	json_t *j;

	for (uint32_t i = 0, end; text && i < q->nrows; i = end) {
		for (end = i + 1; end < q->nrows && q->row[end] == q->row[i]; end++)
			;
		if (i)
			*at++ = ',';
		row_text(q->row[i], at);
		at += ROW_DIGITS;
		if (end - i > 1)
			at += sprintf(at, "*%u", end - i);
	}
	j = text ? json_stringn_nocheck(text, (size_t)(at - text)) : NULL;
	free(text);
	return j;
}

static json_t *tell_rows(struct question *q)
{
	return json_pack("{s:o, s:I, s:o}", "node", node_json(q->d, fm_own(q->d->fm)),
			 "version", (json_int_t)q->rows_version, "rows",
			 q->joined && q->runs ? rows_runs(q) :
			 q->joined ? rows_joined(q) : rows_apart(q));
}

const struct question_kind question_rows_get = {
	.begin = begin_rows, .run = run_rows, .tell = tell_rows,
};

/* Answers with the rows of nodes; null for all nodes from the first on whose rows do not fit. */
static void runs_end(struct request *rq, json_t **by_node, uint32_t n)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		size_t more = json_string_length(json_object_get(by_node[i], "rows"));

		if (bytes && bytes + more > RUNS_BYTES_MAX) {
			json_object_set_new(by_node[i], "rows", json_null());
			bytes = RUNS_BYTES_MAX;
		}
		bytes += more;
	}
	flat_end(rq, by_node, n);
}

void answer_rows(struct request *rq)
{
	bool runs = json_is_true(json_object_get(rq->args, "runs"));

	if (!json_is_integer(json_object_get(rq->args, "count")))
		gather_nodes(rq, true, one_end);
	else if (answer_ready(rq) &&
		 answer_range(rq, (runs ? RUNS_MAX : ROWS_MAX) / torus_nodes(fm_shape(rq->d->fm))))
		answer_gather(rq, runs ? runs_end : flat_end);
}

/* --- park, replay ---------------------------------------------------------- */

static bool begin_park(struct question *q, const json_t *cmd)
{
	q->flows = json_is_true(json_object_get(cmd, "flows"));
	return true;
}

/* Reads what is parked. A NIC of an earlier release does not report to which flows it belongs. */
static int run_park(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = torus_park_get(dev, &q->park);

	if (err || !q->flows)
		return err;
	err = torus_park_flows_get(dev, &q->parked);
	q->flows = err != -EOPNOTSUPP;
	return q->flows ? err : 0;
}

static json_t *park_flows_json(const struct question *q)
{
	static const char *const vc[TORUS_VCS] = { "vcd0", "vcd1", "vca" };
	json_t *list = json_array();

	for (unsigned int i = 0; i < q->parked.nflows; i++) {
		const struct torus_park_flow *f = &q->parked.flow[i];

		json_array_append_new(list, json_pack("{s:o, s:o, s:s, s:I, s:I, s:I}",
						      "from", node_json(q->d, f->from),
						      "to", node_json(q->d, f->to),
						      "vc", f->vc < TORUS_VCS ? vc[f->vc] : "?",
						      "packets", (json_int_t)f->packets,
						      "bytes", (json_int_t)f->bytes,
						      "age", (json_int_t)f->age));
	}
	return list;
}

static json_t *tell_park(struct question *q)
{
	const struct torus_park *p = &q->park;
	json_t *j = json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "node",
			      node_json(q->d, fm_own(q->d->fm)), "parked", (json_int_t)p->parked,
			      "unresolved", (json_int_t)p->unresolved,
			      "bytes", (json_int_t)p->bytes,
			      "bytes_max", (json_int_t)p->bytes_max, "held", (json_int_t)p->held);

	if (q->flows) {
		json_object_set_new(j, "flows", park_flows_json(q));
		json_object_set_new(j, "more", json_integer((json_int_t)q->parked.more));
	}
	return j;
}

const struct question_kind question_park_get = {
	.begin = begin_park, .run = run_park, .tell = tell_park,
};

void answer_park(struct request *rq)
{
	gather_nodes(rq, false, flat_end);
}

/*
 * Checks that no recovery is under way: within one the root decides when nodes replay. The NIC gets
 * the call as an order of the root that this manager follows, like all actions of the manager.
 */
static bool begin_replay_question(struct question *q, const json_t *cmd)
{
	struct fm_outline o;

	(void)cmd;
	fm_outline(q->d->fm, &o);
	q->version = fm_applied(q->d->fm);
	if (!o.under_way && o.version)
		return true;
	snprintf(q->error, sizeof(q->error), "a recovery is under way; it replays by itself");
	return false;
}

static int run_replay(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = torus_park_replay(dev, q->version, 0);

	return err ? err : torus_park_get(dev, &q->park);
}

const struct question_kind question_replay = {
	.begin = begin_replay_question, .run = run_replay, .tell = tell_park, .words = true,
};

void answer_replay(struct request *rq)
{
	gather_nodes(rq, true, one_end);
}
