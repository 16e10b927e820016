// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions that nodes can answer only after asking their NICs (question.h): counters, park and
 * replay.
 */
#include <errno.h>
#include <stdio.h>
#include <torus/torus.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/question.h"

#define COUNTERS_PIECE	128	/* most nodes whose counters are gathered at once */

void answer_add_counters(json_t *to, const struct torus_counter_desc *desc,
			 const uint64_t *value, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		json_object_set_new(to, desc[i].name, json_integer((json_int_t)value[i]));
}

void answer_silent(struct request *rq)
{
	answer_error(rq, "unreachable", rq->rootless ?
		     "no root answers, so node '%s' cannot be asked from here: run the command on "
		     "that node" :
		     "node '%s' does not answer",
		     json_string_value(json_object_get(rq->args, "node")));
}

void answer_one_end(struct request *rq, json_t **by_node, uint32_t n)
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

void answer_gather_nodes(struct request *rq, bool needed,
			 void (*end)(struct request *rq, json_t **by_node, uint32_t n))
{
	if (answer_ready(rq) && !answer_node(rq, needed, &rq->node))
		answer_gather(rq, end);
}

/* --- counters -------------------------------------------------------------- */

json_t *flow_json(const struct torus_flow *flow)
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

static json_t *reply_counters(struct question *q)
{
	json_t *j;

	if (!q->dev.placed)
		return NULL;
	j = json_pack("{s:o}", "node", node_json(q->d, q->dev.node));
	answer_add_counters(j, torus_node_counters, q->dev.counter, TORUS_NC_COUNT);
	json_object_set_new(j, "flow", flow_json(&q->flow));
	return j;
}

const struct question_kind question_counters_get = { .run = run_counters, .reply = reply_counters };

void answer_counters(struct request *rq)
{
	answer_list_some(rq, ANSWER_NODES_MAX, 0, &listing_flat, COUNTERS_PIECE);
}

/* --- park, replay ---------------------------------------------------------- */

static bool begin_park(struct question *q, const json_t *cmd)
{
	q->flows = json_is_true(json_object_get(cmd, "flows"));
	return true;
}

/*
 * Reads the number of parked packets. A NIC of an earlier release does not report the flows of
 * these packets.
 */
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

json_t *park_json(const struct question *q)
{
	const struct torus_park *p = &q->park;

	return json_pack("{s:o, s:I, s:I, s:I, s:I, s:I}", "node",
			 node_json(q->d, fm_own(q->d->fm)), "parked", (json_int_t)p->parked,
			 "unresolved", (json_int_t)p->unresolved, "bytes", (json_int_t)p->bytes,
			 "bytes_max", (json_int_t)p->bytes_max, "held", (json_int_t)p->held);
}

static json_t *reply_park(struct question *q)
{
	json_t *j = park_json(q);

	if (q->flows) {
		json_object_set_new(j, "flows", park_flows_json(q));
		json_object_set_new(j, "more", json_integer((json_int_t)q->parked.more));
	}
	return j;
}

const struct question_kind question_park_get = {
	.begin = begin_park, .run = run_park, .reply = reply_park,
};

void answer_park(struct request *rq)
{
	answer_list_some(rq, ANSWER_NODES_MAX, 0, &listing_flat, 0);
}

/*
 * Checks that no recovery is under way, because during a recovery the root decides when nodes
 * replay packets. The call to the NIC names the root that this manager follows, like all actions of
 * the manager.
 */
static bool begin_replay_question(struct question *q, const json_t *cmd)
{
	struct fm_outline o;

	(void)cmd;
	fm_outline(q->d->fm, &o);
	q->version = fm_applied(q->d->fm);
	if (!o.under_way && o.version)
		return true;
	snprintf(q->error, sizeof(q->error), "a recovery is under way, which replays parked "
		 "packets by itself");
	return false;
}

static int run_replay(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = torus_park_replay(dev, q->version, 0);

	return err ? err : torus_park_get(dev, &q->park);
}

const struct question_kind question_replay = {
	.begin = begin_replay_question, .run = run_replay, .reply = reply_park, .words = true,
};

void answer_replay(struct request *rq)
{
	answer_gather_nodes(rq, true, answer_one_end);
}
