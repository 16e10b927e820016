// SPDX-License-Identifier: GPL-2.0-only
/*
 * All figures of one node that monitoring collects, in one answer: of its NIC, of its manager and,
 * if that is the root, of the fabric. A node answers for itself without the root, so that
 * collecting from every node costs the root nothing.
 */
#include <torus/torus.h>
#include <stdlib.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/histogram.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/nic.h"
#include "daemon/seal.h"

static double to_seconds(uint64_t ns)
{
	return (double)ns * 1e-9;
}

/* --- the manager ------------------------------------------------------------------- */

/* Return: counts by upper bound in seconds, each without those of lower bounds, and their sum. */
static json_t *histogram_json(const struct histogram *h)
{
	json_t *bounds = json_array(), *counts = json_array();

	for (unsigned int i = 0; i <= HISTOGRAM_BOUNDS; i++) {
		json_t *bound = i < HISTOGRAM_BOUNDS ? json_real(to_seconds(histogram_bounds[i])) :
						       json_null();

		json_array_append_new(bounds, bound);
		json_array_append_new(counts, json_integer((json_int_t)h->count[i]));
	}
	return json_pack("{s:o, s:o, s:f}", "le", bounds, "count", counts,
			 "sum", to_seconds(h->sum));
}

static json_t *events_json(const struct meter *m)
{
	json_t *j = json_object();

	for (unsigned int i = FM_ERROR; i < FM_DEBUG; i++)
		json_object_set_new(j, log_level_name((enum fm_level)i),
				    json_integer((json_int_t)m->events[i]));
	return j;
}

static json_t *manager_json(struct fabricd *d)
{
	static const struct histogram none;
	struct fm_root_status r = { .node = TORUS_NO_NODE };
	struct seal_counts seal = { 0 };

	if (d->fm)
		fm_root_status(d->fm, &r);
	if (d->seal)
		seal = *seal_counts(d->seal);
	return json_pack("{s:s, s:I, s:I, s:I, s:b, s:b, s:o, s:I, s:o, s:o, s:o, s:o, s:o, "
			 "s:{s:I, s:I}, s:{s:I, s:I}}",
			 "state", fm_state_name(d->fm ? fm_state(d->fm) : FM_BOOTSTRAPPING),
			 "table_version", (json_int_t)(d->fm ? fm_version(d->fm) : 0),
			 "applied_version", (json_int_t)(d->fm ? fm_applied(d->fm) : 0),
			 "epoch", (json_int_t)r.epoch,
			 "root", d->fm && fm_is_root(d->fm), "root_reachable", r.reachable,
			 "rootless_for",
			 r.lost ? json_real(to_seconds(loop_now() - r.lost)) : json_null(),
			 "became_root", (json_int_t)d->meter.became_root,
			 "events", events_json(&d->meter),
			 "timer_delay", histogram_json(loop_late(d->loop)),
			 "nic_call", histogram_json(d->nic ? nic_times(d->nic) : &none),
			 "service", service_json(d), "history", keeper_json(d->keeper),
			 "seal", "refused", (json_int_t)seal.refused,
			 "late", (json_int_t)seal.late,
			 "replies", "kept", (json_int_t)d->meter.kept,
			 "refused", (json_int_t)d->meter.unkept);
}

/* --- the fabric, on the root ----------------------------------------------------------- */

static json_t *recoveries_json(const struct meter *m)
{
	static const char *const step[FM_STAMPS] = {
		[FM_AT_TABLE] = "table", [FM_AT_REBUILT] = "rebuild", [FM_AT_DRAINED] = "drain",
		[FM_AT_REPLAYED] = "replay", [FM_AT_RESUMED] = "resume",
	};
	json_t *steps = json_object();

	for (unsigned int i = FM_AT_TABLE; i < FM_STAMPS; i++)
		json_object_set_new(steps, step[i], histogram_json(&m->step[i]));
	return json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "bounded", (json_int_t)m->bounded,
			 "parked", (json_int_t)m->parked, "replayed", (json_int_t)m->replayed,
			 "lost", (json_int_t)m->lost, "duration", histogram_json(&m->recovery),
			 "steps", steps);
}

/* Return: how many jobs there are, and how many of them lack nodes or have fallen apart. */
static json_t *jobs_summed(struct fabricd *d)
{
	struct fm_job_count *count = calloc(FM_JOBS_MAX + 1, sizeof(*count));
	int total = 0, degraded = 0, apart = 0;
	const struct fm_job *j;
	bool counted = count && fm_job_counts(d->fm, count);

	for (uint32_t i = 0; counted && (j = fm_job(d->fm, i)); i++) {
		total++;
		degraded += count[j->id].up < j->nodes;
		apart += count[j->id].parts > 1;
	}
	free(count);
	return json_pack("{s:i, s:i, s:i}", "total", total, "degraded", degraded, "apart", apart);
}

/* Return: the fabric summed up; null: this node is not the root. */
static json_t *fabric_json(struct fabricd *d)
{
	struct fm_status s;
	json_t *problems, *lines;
	size_t n, degraded;

	if (!d->fm || !fm_is_root(d->fm))
		return json_null();
	fm_status(d->fm, &s);
	problems = problems_json(d);
	n = json_array_size(problems) + fm_problems_more(d->fm);
	json_decref(problems);
	lines = lines_json(d);
	degraded = json_array_size(lines);
	json_decref(lines);
	return json_pack("{s:{s:i, s:i, s:i}, s:o, s:{s:i, s:i, s:i, s:i, s:i}, s:i, s:I, s:I, "
			 "s:I, s:o}",
			 "nodes", "total", (int)s.nodes, "up", (int)s.nodes_up,
			 "excluded", (int)s.nodes_excluded, "jobs", jobs_summed(d),
			 "links", "total", (int)s.links, "up", (int)s.links_up,
			 "faulty", (int)s.links_faulty, "excluded", (int)s.links_excluded,
			 "wrong", (int)s.links_wrong,
			 "degraded_links", (int)degraded,
			 "parked_packets", (json_int_t)s.parked,
			 "relayed_pairs", (json_int_t)s.relayed, "problems", (json_int_t)n,
			 "recoveries", recoveries_json(&d->meter));
}

/* --- the NIC --------------------------------------------------------------------------- */

static int run_metrics(struct nic_question *nq, struct torus_dev *dev)
{
	struct question *q = (struct question *)nq;
	int err = torus_device_get(dev, &q->dev);

	if (!err)
		err = torus_flow_get(dev, &q->flow);
	if (!err)
		err = torus_park_get(dev, &q->park);
	return err ? err : question_links(nq, dev);
}

static json_t *nic_json(struct question *q)
{
	json_t *j = json_pack("{s:f, s:I, s:I}", "uptime", to_seconds(q->dev.uptime), "epoch",
			      (json_int_t)q->dev.epoch, "row_count", (json_int_t)q->dev.row_count);

	answer_add_counters(j, torus_node_counters, q->dev.counter, TORUS_NC_COUNT);
	json_object_set_new(j, "flow", flow_json(&q->flow));
	json_object_set_new(j, "park", park_json(q));
	return j;
}

/* Return: the whole answer; takes over @nic, JSON null if the NIC cannot be asked, and @links. */
static json_t *metrics_json(struct fabricd *d, json_t *nic, json_t *links)
{
	return json_pack("{s:o, s:s, s:o, s:s, s:s, s:f, s:o, s:o, s:o, s:o}",
			 "node", node_json(d, d->fm ? fm_own(d->fm) : TORUS_NO_NODE),
			 "name", d->config.fm.name, "guid", guid_json(d->guid),
			 "fabric_name", d->config.fm.fabric, "software", TORUS_VERSION,
			 "time", loop_wall(), "nic", nic, "links", links,
			 "manager", manager_json(d), "fabric", fabric_json(d));
}

static json_t *reply_metrics(struct question *q)
{
	struct links_want want = { .margins = true };

	return metrics_json(q->d, nic_json(q), links_json(q->d, q->link, q->n, want));
}

const struct question_kind question_metrics = { .run = run_metrics, .reply = reply_metrics };

/*
 * Answers. If the NIC of this node does not answer, the reply has the figures of its manager only.
 */
static void metrics_end(struct request *rq, json_t **by_node, uint32_t n)
{
	json_t *data = rq->node < n ? by_node[rq->node] : NULL;

	if (rq->d->fm && rq->node == fm_own(rq->d->fm) && !json_object_get(data, "nic"))
		answer_ok(rq, metrics_json(rq->d, json_null(), json_array()), NULL);
	else
		answer_one_end(rq, by_node, n);
}

void answer_metrics(struct request *rq)
{
	struct fabricd *d = rq->d;
	uint32_t up;

	if (json_object_get(rq->args, "node")) {
		if (answer_leads(rq) && answer_ready(rq) && !answer_node(rq, true, &rq->node))
			answer_gather(rq, metrics_end);
	} else if (!d->fm || !fm_nodes(d->fm, &up) || fm_own(d->fm) == TORUS_NO_NODE) {
		answer_ok(rq, metrics_json(d, json_null(), json_array()), NULL);
	} else {
		rq->node = fm_own(d->fm);
		answer_gather(rq, metrics_end);
	}
}
