// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of links (linktest.h). The client asks one end of a cable to echo, then the other one to
 * send, and both for their results until the sender has ended.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <torus/torus.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/lower.h"
#include "daemon/question.h"
#include "daemon/tester.h"

#define TOKEN_DIGITS	16
#define SECONDS_MAX	3600
#define RATE_MAX	100000
#define ECHO_LONGER	(10 * SEC)	/* the node that echoes goes on for this long after the
					 * other node should have ended */
#define SIZE_USUAL	1024
#define RATE_USUAL	2000

enum step { STEP_ECHO, STEP_SEND, STEP_SHOW, STEP_END, STEPS };

static const char *const steps[STEPS] = { "echo", "send", "show", "end" };

static enum step step_of(const json_t *cmd)
{
	const char *text = json_string_value(json_object_get(cmd, "step"));
	unsigned int i = 0;

	while (i < STEPS && (!text || strcmp(text, steps[i])))
		i++;
	return (enum step)i;
}

/*
 * Return: the number in the member @key; @usual if there is no such member. If the number is out of
 * range: 0, and @wrong is set to @key.
 */
static uint64_t get_plan_number(const json_t *cmd, const char *key, uint64_t usual, uint64_t least,
				uint64_t most, const char **wrong)
{
	json_t *v = json_object_get(cmd, key);
	uint64_t n = json_is_integer(v) ? (uint64_t)json_integer_value(v) : usual;

	if (n >= least && n <= most)
		return n;
	*wrong = key;
	return 0;
}

/* Reads the plan of a test. Return: NULL, or the name of the member that is wrong. */
static const char *read_plan(const json_t *cmd, struct linktest_plan *plan)
{
	const char *token = json_string_value(json_object_get(cmd, "token")), *wrong = NULL;

	if (!token || strlen(token) != TOKEN_DIGITS ||
	    strspn(token, "0123456789abcdef") != TOKEN_DIGITS)
		return "token";
	plan->token = strtoull(token, NULL, 16);
	if (!plan->token)
		return "token";
	plan->ns = SEC * get_plan_number(cmd, "seconds", 5, 1, SECONDS_MAX, &wrong);
	plan->packets = get_plan_number(cmd, "packets", 0, 0, UINT32_MAX, &wrong);
	plan->size = (uint32_t)get_plan_number(cmd, "size", SIZE_USUAL, LINKTEST_SIZE_MIN,
					       TORUS_MGMT_MAX, &wrong);
	plan->rate = (uint32_t)get_plan_number(cmd, "rate", RATE_USUAL, 1, RATE_MAX, &wrong);
	return wrong;
}

static bool begin_test(struct question *q, const json_t *cmd)
{
	const char *text = json_string_value(json_object_get(cmd, "port"));

	q->step = step_of(cmd);
	return q->step < STEPS && text && !read_plan(cmd, &q->plan) &&
	       !torus_port_parse(text, fm_shape(q->d->fm)->ndims, &q->port);
}

/* Reads the link; for a test that begins, also reads the highest rate of the link. */
static int run_test(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = torus_link_get(dev, q->port, &q->link[0]);
	uint64_t peer = q->link[0].gauge[TORUS_PG_PEER_RATE];
	uint32_t lower;

	if (err || q->step > STEP_SEND)
		return err;
	if (q->step == STEP_ECHO)
		q->plan.ns += ECHO_LONGER;
	lower = lower_speed(q->link[0].lower);
	q->plan.mbps = peer && (!lower || peer < lower) ? (uint32_t)peer : lower;
	return 0;
}

static json_t *rtt_json(const struct linktest_result *r)
{
	if (!r->rtt_max)
		return json_null();
	return json_pack("{s:f, s:f, s:f}", "min", (double)r->rtt_min / US, "median",
			 (double)r->rtt_median / US, "max", (double)r->rtt_max / US);
}

static json_t *counts_json(const struct tester_counts *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "bits", (json_int_t)c->bits, "frames",
			 (json_int_t)c->frames, "crc_errors", (json_int_t)c->crc_errors,
			 "malformed", (json_int_t)c->malformed, "lost_frames",
			 (json_int_t)c->lost_frames, "retries", (json_int_t)c->retries);
}

static json_t *head_json(const struct question *q)
{
	return json_pack("{s:o, s:o}", "node", node_json(q->d, fm_own(q->d->fm)), "port",
			 port_json(q->d, q->port));
}

static json_t *result_json(const struct question *q)
{
	static const char *const states[] = { "none", "runs", "done", "failed" };
	struct linktest_result r;
	struct tester_counts counts;
	json_t *j;

	for (unsigned int i = 0; i < LINKTEST_ROLES; i++) {
		if (!tester_result(q->d->tester, &q->link[0], (enum linktest_role)i, q->plan.token,
				   &r, &counts))
			continue;
		j = head_json(q);
		json_object_update_new(j, json_pack("{s:s, s:s, s:o, s:f, s:I, s:I, s:o}", "role",
				       i == LINKTEST_SENDER ? "send" : "echo", "state",
				       states[r.state], "why", text_json(r.why), "ms",
				       (double)r.elapsed / MS, "received", (json_int_t)r.received,
				       "wrong", (json_int_t)r.wrong, "counted",
				       counts_json(&counts)));
		if (i == LINKTEST_SENDER)
			json_object_update_new(j, json_pack("{s:I, s:I, s:I, s:f, s:o}", "sent",
					       (json_int_t)r.sent, "lost", (json_int_t)r.lost,
					       "bytes", (json_int_t)r.bytes, "rate", r.rate,
					       "rtt_us", rtt_json(&r)));
		return j;
	}
	return json_pack("{s:s}", "error", "this end has no such test: it has ended long ago, or "
			 "its fabricd was restarted");
}

static json_t *refused_json(struct question *q, int err)
{
	char where[TORUS_TEXT_MAX], text[192];
	const char *state = torus_link_state_name(q->link[0].state);

	torus_port_text(fm_shape(q->d->fm)->ndims, q->port, where);
	if (err == -ENETDOWN)
		snprintf(text, sizeof(text), "link %s:%s is not up, but %s", q->d->own, where,
			 state ? state : "?");
	else if (err == -EBUSY)
		snprintf(text, sizeof(text), "link %s:%s is being tested already", q->d->own,
			 where);
	else
		snprintf(text, sizeof(text), "link %s:%s: %s", q->d->own, where, strerror(-err));
	return json_pack("{s:s}", "error", text);
}

static json_t *reply_test(struct question *q)
{
	uint64_t limit = q->d->config.round_trip_max;
	json_t *mbps, *slow;
	int err;

	if (q->step == STEP_SHOW)
		return result_json(q);
	if (q->step == STEP_END) {
		tester_end(q->d->tester, q->port, q->plan.token);
		return head_json(q);
	}
	err = tester_begin(q->d->tester, &q->link[0],
			   q->step == STEP_SEND ? LINKTEST_SENDER : LINKTEST_ECHO, &q->plan);
	if (err)
		return refused_json(q, err);
	mbps = q->plan.mbps ? json_integer(q->plan.mbps) : json_null();
	slow = limit ? json_real((double)limit / US) : json_null();
	return json_pack("{s:o, s:o, s:o, s:o}", "node", node_json(q->d, fm_own(q->d->fm)), "port",
			 port_json(q->d, q->port), "mbps", mbps, "slow_us", slow);
}

const struct question_kind question_test = {
	.begin = begin_test, .run = run_test, .reply = reply_test, .words = true,
};

/* A manager of an earlier release does not know the command, so it sends no answer. */
static void test_end(struct request *rq, json_t **by_node, uint32_t n)
{
	if (rq->node < n && !by_node[rq->node])
		answer_error(rq, "unreachable", "node '%s' does not answer, or its fabricd is of a "
			     "release that cannot test links",
			     json_string_value(json_object_get(rq->args, "node")));
	else
		answer_one_end(rq, by_node, n);
}

void answer_test(struct request *rq)
{
	struct linktest_plan plan = { 0 };
	const char *wrong = read_plan(rq->args, &plan);
	int port;

	if (step_of(rq->args) == STEPS)
		answer_error(rq, "usage", "test: step: must be echo, send, show or end");
	else if (wrong)
		answer_error(rq, "usage", "test: %s: must be, for token, 16 hexadecimal digits; "
			     "seconds 1 to %d; packets 0 to %u; size %d to %d; rate 1 to %d",
			     wrong, SECONDS_MAX, UINT32_MAX, LINKTEST_SIZE_MIN, TORUS_MGMT_MAX,
			     RATE_MAX);
	else if (answer_ready(rq) && !answer_port(rq, &port)) {
		if (port < 0)
			answer_error(rq, "usage", "'test' needs a port");
		else
			answer_gather_nodes(rq, true, test_end);
	}
}
