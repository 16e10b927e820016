// SPDX-License-Identifier: GPL-2.0-only
/* Orders and questions about one end of a cable: its port, receiver and retry protocol. */
#include <stdio.h>
#include <torus/torus.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/question.h"

/* Reads the port that the request names. */
static bool begin_port(struct question *q, const json_t *cmd)
{
	const char *text = json_string_value(json_object_get(cmd, "port"));
	const char *by = json_string_value(json_object_get(cmd, "by"));

	/* a root of an earlier release does not say who asked */
	snprintf(q->by, sizeof(q->by), "%.95s", by ? by : "an administrator");
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
		answer_gather_nodes(rq, true, answer_one_end);
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

static json_t *reply_eye(struct question *q)
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
	.begin = begin_eye, .run = run_eye, .reply = reply_eye, .words = true,
};

void answer_eye(struct request *rq)
{
	json_t *lane = json_object_get(rq->args, "lane");

	if (lane && (!json_is_integer(lane) || json_integer_value(lane) < 0 ||
			  json_integer_value(lane) >= TORUS_LANES_MAX))
		answer_error(rq, "usage", "lane: must be 0 to %d", TORUS_LANES_MAX - 1);
	else
		gather_end_of_cable(rq);
}

/* Takes the port up or down. The NIC keeps this state when its manager is restarted. */
static int run_set_port(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;

	return torus_admin_set(dev, q->port, q->up);
}

static json_t *reply_set_port(struct question *q)
{
	char where[TORUS_TEXT_MAX], text[FM_TEXT_MAX];
	struct fabricd *d = q->d;

	snprintf(text, sizeof(text), "port %s:%s was taken %s by %s", d->own,
		 torus_port_text(fm_shape(d->fm)->ndims, q->port, where), q->up ? "up" : "down",
		 q->by);
	fabricd_event(d, loop_wall(), "", q->up ? FM_INFO : FM_WARNING, "admin", text);
	return json_pack("{s:o, s:o, s:b}", "node", node_json(d, fm_own(d->fm)), "port",
			 port_json(d, q->port), "up", q->up);
}

const struct question_kind question_port_set = {
	.begin = begin_port, .run = run_set_port, .reply = reply_set_port, .words = true,
};

static int run_retrain(struct nic_question *nq, struct torus_dev *dev)
{
	return torus_retrain(dev, ((struct question *)nq)->port);
}

static json_t *reply_retrain(struct question *q)
{
	return json_pack("{s:o, s:o}", "node", node_json(q->d, fm_own(q->d->fm)), "port",
			 port_json(q->d, q->port));
}

const struct question_kind question_retrain = {
	.begin = begin_port, .run = run_retrain, .reply = reply_retrain, .words = true,
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

static json_t *reply_set_retry(struct question *q)
{
	return json_pack("{s:o, s:o, s:s}", "node", node_json(q->d, fm_own(q->d->fm)), "port",
			 port_json(q->d, q->port), "retry_wanted", torus_retry_name(q->protocol));
}

const struct question_kind question_retry_set = {
	.begin = begin_set_retry, .run = run_set_retry, .reply = reply_set_retry, .words = true,
};

/* Adds who asked, for the event of the node that takes the port up or down. */
static void add_user(struct request *rq)
{
	const struct fm_entry *e = rq->d->fm ? fm_node(rq->d->fm, rq->user.node) : NULL;

	json_object_del(rq->args, "by");
	if (rq->user.uid != SVC_NO_UID)
		json_object_set_new(rq->args, "by",
				    json_sprintf("user %u%s%s", rq->user.uid, e ? " at " : "",
						 e ? e->name : ""));
}

void answer_set_port(struct request *rq)
{
	if (!json_is_boolean(json_object_get(rq->args, "up"))) {
		answer_error(rq, "usage", "port: argument 'up' is missing: true or false");
		return;
	}
	add_user(rq);
	gather_end_of_cable(rq);
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
			     "retry: protocol '%s': must be angara, acknak, hippi or auto",
			     protocol ? protocol : "");
}
