// SPDX-License-Identifier: GPL-2.0-only
/*
 * LEDs and plugs of the interfaces below ports (plug.h). The first request starts to blink or to
 * read; later requests without "seconds" or "look" get the result so far.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/torus.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/plug.h"
#include "daemon/question.h"

#define SECONDS_MAX	3600

/* Reads the port and the seconds; without "seconds", sets them to -1. */
static bool begin_plug(struct question *q, const json_t *cmd)
{
	const char *text = json_string_value(json_object_get(cmd, "port"));
	json_t *seconds = json_object_get(cmd, "seconds");
	json_int_t n = json_is_integer(seconds) ? json_integer_value(seconds) : -1;

	q->up = json_is_true(json_object_get(cmd, "look"));
	q->seconds = n < 0 || n > SECONDS_MAX ? -1 : (int)n;
	return n <= SECONDS_MAX && text &&
	       !torus_port_parse(text, fm_shape(q->d->fm)->ndims, &q->port);
}

static int run_plug(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;

	return torus_link_get(dev, q->port, &q->link[0]);
}

/* Return: a text with the reason why the interface @lower failed; null: it has not failed. */
static json_t *why_json(int err, const char *lower, const char *task)
{
	if (!err)
		return json_null();
	if (err == -EOPNOTSUPP)
		return json_sprintf("%s cannot %s: its driver has no such function", lower, task);
	if (err == -ENODEV)
		return json_sprintf("there is no interface %s here, so it cannot %s: the cable is "
				    "a virtual one, or the NIC is in another network namespace",
				    lower, task);
	if (err == -EPROTONOSUPPORT)
		return json_sprintf("the plug in %s is of a kind that is not known here", lower);
	return json_sprintf("%s cannot %s: %s", lower, task, strerror(-err));
}

static json_t *plug_json(const struct question *q, enum plug_state state, json_t *why)
{
	static const char *const states[PLUG_STATES] = { "none", "begins", "goes-on", "done",
							  "failed" };

	return json_pack("{s:o, s:o, s:s, s:o, s:s, s:o}", "node",
			 node_json(q->d, fm_own(q->d->fm)), "port", port_json(q->d, q->port),
			 "name",
			 q->d->config.fm.name, "lower", text_json(q->link[0].lower), "state",
			 states[state], "why", why);
}

/*
 * Answers for a port without an interface below it: a port of a hardware NIC, or of NICs that share
 * one process.
 */
static json_t *without_lower(const struct question *q)
{
	return plug_json(q, PLUG_FAILED, json_string("there is no interface below this port"));
}

static json_t *reply_locate(struct question *q)
{
	const char *lower = q->link[0].lower;
	struct plug_locate l = { .state = PLUG_NONE };
	json_t *j;

	if (*lower && q->seconds >= 0 &&
	    plug_locate(q->d->plugs, q->port, lower, (uint64_t)q->seconds * SEC))
		return json_pack("{s:s}", "error", "out of memory");
	if (*lower)
		plug_located(q->d->plugs, q->port, &l);
	j = *lower ? plug_json(q, l.state, why_json(l.err, lower, "blink")) : without_lower(q);
	json_object_set_new(j, "left_ms", json_real((double)l.left / MS));
	return j;
}

static json_t *powers_json(const double *mw, unsigned int n)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(list, json_real(mw[i]));
	return list;
}

static json_t *module_json(const struct plug_module *p)
{
	const struct module *m = &p->module;

	if (p->state != PLUG_DONE)
		return json_null();
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kind", m->kind,
			 "vendor", text_json(m->vendor), "part", text_json(m->part), "revision",
			 text_json(m->revision), "serial", text_json(m->serial), "date",
			 text_json(m->date), "celsius",
			 m->measured ? json_real(m->celsius) : json_null(), "volts",
			 m->measured ? json_real(m->volts) : json_null(), "tx_mw",
			 powers_json(m->tx_mw, m->ntx), "rx_mw", powers_json(m->rx_mw, m->nrx));
}

static json_t *reply_module(struct question *q)
{
	const char *lower = q->link[0].lower;
	struct plug_module m = { .state = PLUG_NONE };
	json_t *j;

	if (*lower && q->up && plug_look(q->d->plugs, q->port, lower))
		return json_pack("{s:s}", "error", "out of memory");
	if (*lower)
		plug_looked(q->d->plugs, q->port, &m);
	j = *lower ? plug_json(q, m.state, why_json(m.err, lower, "read a plug")) :
		     without_lower(q);
	json_object_set_new(j, "module", module_json(&m));
	return j;
}

const struct question_kind question_locate = {
	.begin = begin_plug, .run = run_plug, .reply = reply_locate, .words = true,
};

const struct question_kind question_module = {
	.begin = begin_plug, .run = run_plug, .reply = reply_module, .words = true,
};

/* A manager of an earlier release does not know these commands, so it sends no answer. */
static void plug_end(struct request *rq, json_t **by_node, uint32_t n)
{
	if (rq->node < n && !by_node[rq->node])
		answer_error(rq, "unreachable", "node '%s' does not answer, or its fabricd is of a "
			     "release that does not know '%s'",
			     json_string_value(json_object_get(rq->args, "node")), rq->cmd->name);
	else
		answer_one_end(rq, by_node, n);
}

static void gather_plug(struct request *rq)
{
	int port;

	if (!answer_ready(rq) || answer_port(rq, &port))
		return;
	if (port < 0)
		answer_error(rq, "usage", "'%s' needs a port", rq->cmd->name);
	else
		answer_gather_nodes(rq, true, plug_end);
}

void answer_locate(struct request *rq)
{
	json_t *seconds = json_object_get(rq->args, "seconds");

	if (json_is_integer(seconds) && json_integer_value(seconds) > SECONDS_MAX)
		answer_error(rq, "usage", "locate: seconds: must be 0 to %d", SECONDS_MAX);
	else
		gather_plug(rq);
}

void answer_module(struct request *rq)
{
	gather_plug(rq);
}
