// SPDX-License-Identifier: GPL-2.0-only
/* Answers about the root and the candidates, and the order to move the root to another node. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/record.h"

static json_t *time_json(uint64_t at)
{
	return at ? json_real(answer_wall(at)) : json_null();
}

/*
 * Compares candidates by their priority, the order in which they try to become root, then by their
 * coordinates.
 */
static int earlier_candidate(const void *a, const void *b)
{
	const struct fm_candidate_status *p = a, *q = b;

	if (p->priority != q->priority)
		return p->priority > q->priority ? -1 : 1;
	return p->node < q->node ? -1 : p->node > q->node;
}

static json_t *candidates_json(const struct fabricd *d)
{
	struct fm_candidate_status *all = NULL, *more, one;
	json_t *list = json_array();
	uint32_t n = 0, at = 0;

	while (fm_candidate(d->fm, &at, &one)) {
		more = n & (n - 1) ? all : realloc(all, (n ? 2 * n : 1) * sizeof(*all));
		if (!more)
			break;
		all = more;
		all[n++] = one;
	}
	if (n)
		qsort(all, n, sizeof(*all), earlier_candidate);
	for (uint32_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:o, s:s, s:i, s:b, s:o}", "node",
						      node_json(d, all[i].node),
						      "name", all[i].name,
						      "priority", (int)all[i].priority,
						      "heard", all[i].answers, "disk",
						      text_json(fm_disk_name(all[i].disk))));
	free(all);
	return list;
}

/* Return: the configuration of this node's arbiter, and the last answer of the arbiter. */
static json_t *arbiter_json(const struct fabricd *d, const struct fm_root_status *r)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o}",
			 "program", text_json(r->arbiter ? d->config.arbiter : NULL),
			 "answer", text_json(r->answered ? fm_verdict_name(r->verdict) : NULL),
			 "epoch",
			 r->answered ? json_integer((json_int_t)r->asked_epoch) : json_null(),
			 "time", time_json(r->answered),
			 "why", text_json(r->answered && r->refusal[0] ? r->refusal : NULL));
}

static json_t *calls_json(const struct fm_calls_status *c)
{
	return json_pack("{s:i, s:i, s:i, s:i}", "called", (int)c->called, "follow", (int)c->follow,
			 "others", (int)c->others, "unknown", (int)c->unknown);
}

json_t *root_json(struct fabricd *d, const struct fm_root_status *r)
{
	const struct fm_entry *e = fm_node(d->fm, r->node);
	const char *name = r->own ? d->config.fm.name : e ? e->name : NULL;

	return json_pack("{s:o, s:o, s:o, s:s, s:I, s:o, s:o, s:b, s:o, s:i, s:i, s:o, s:o, s:o}",
			 "node", node_json(d, r->node),
			 "name", text_json(r->known ? name : NULL),
			 "address", text_json(r->known ? r->address : NULL),
			 "state", fm_root_state_name(r->state), "epoch", (json_int_t)r->epoch,
			 "since", time_json(r->since), "why", text_json(r->why),
			 "reachable", r->reachable, "unreachable_since", time_json(r->lost),
			 "here", (int)r->here, "need", (int)r->need, "calls", calls_json(&r->calls),
			 "arbiter", arbiter_json(d, r), "candidates", candidates_json(d));
}

void answer_root(struct request *rq)
{
	struct fm_root_status r;

	if (!rq->d->fm) {
		answer_ready(rq);
		return;
	}
	fm_root_status(rq->d->fm, &r);
	answer_ok(rq, root_json(rq->d, &r), NULL);
}

/* Return: the reason why the root cannot hand over to the node of @e now. */
static const char *away_reason(const struct fm_entry *e)
{
	switch (e ? e->state : FM_NODE_ABSENT) {
	case FM_NODE_ABSENT:
		return "no node has been seen there yet";
	case FM_NODE_DEAD:
		return "it is dead";
	case FM_NODE_SILENT:
		return "its manager does not answer; its NIC works";
	default:
		return "its manager does not answer";
	}
}

/*
 * Writes "n1-0 (1,0)" into @buf, or the coordinates alone if no node is known at these coordinates.
 */
static const char *root_place_text(const struct fabricd *d, uint32_t node, char *buf, size_t room)
{
	const struct fm_entry *e = fm_node(d->fm, node);
	char at[TORUS_TEXT_MAX];

	torus_node_text(fm_shape(d->fm), node, at);
	if (e && e->name[0])
		snprintf(buf, room, "%s (%s)", e->name, at);
	else
		snprintf(buf, room, "%s", at);
	return buf;
}

static void answer_moved(struct request *rq, int err)
{
	struct fabricd *d = rq->d;
	char who[TORUS_NAME_MAX + TORUS_TEXT_MAX + 4];

	root_place_text(d, rq->node, who, sizeof(who));
	if (err == -EAGAIN)
		answer_error(rq, "not-ready",
			     "a recovery is under way, and has not ended within 2 s: "
			     "'fabricctl status' shows the state; try again when it has ended");
	else if (err == -EPERM)
		answer_error(rq, "unreachable", "this node is not the root any more");
	else if (err == -EHOSTUNREACH)
		answer_error(rq, "failed", "node %s cannot become root: %s", who,
			     away_reason(fm_node(d->fm, rq->node)));
	else if (err == -EACCES)
		answer_error(rq, "failed",
			     "node %s cannot become root: its root_priority is 0, or its NIC "
			     "failed while it was root", who);
	else if (err)
		answer_error(rq, "failed", "node %s cannot become root: %s", who, strerror(-err));
	else
		answer_ok(rq, json_pack("{s:o, s:b}", "node", node_json(d, rq->node), "changed",
					rq->node != fm_own(d->fm)), NULL);
}

static int order_move(const struct request *rq)
{
	struct record_event e = { .kind = RECORD_MOVE, .now = loop_now(), .move = rq->node };

	return machine_event(rq->d, &e);
}

/*
 * Return: true if the root has settled and no recovery is under way, or if this node is not the
 * root.
 */
static bool at_rest(struct request *rq)
{
	const struct fm *fm = rq->d->fm;

	return !fm || !fm_root_busy(fm);
}

static void move_again(struct request *rq, bool late)
{
	/* The shape may have grown while the request waited: then nodes have other ids. */
	if (answer_ready(rq) && !answer_node(rq, true, &rq->node))
		answer_moved(rq, late ? -EAGAIN : order_move(rq));
}

/*
 * Moves the root to another node. A recovery of some ms may be under way, so the request waits for
 * its end.
 */
void answer_move(struct request *rq)
{
	int err;

	if (!answer_ready(rq) || answer_node(rq, true, &rq->node))
		return;
	err = order_move(rq);
	if (err == -EAGAIN)
		answer_wait(rq, at_rest, move_again, ANSWER_CHANGE_NS);
	else
		answer_moved(rq, err);
}
