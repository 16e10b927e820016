// SPDX-License-Identifier: GPL-2.0-only
/* Answers about links, with the facts that only the root knows, and about degraded lines. */
#include <torus/torus.h>
#include <uapi/torus_policy.h>
#include "daemon/answer.h"
#include "daemon/answer_nic.h"
#include "daemon/errors.h"
#include "daemon/line.h"
#include "daemon/question.h"

#define LINKS_MAX	2048	/* most ends of cables in a reply */
#define BAD_MAX		24576	/* most ends of cables in a short reply about bad links only */
#define LANES_PIECE	128	/* most ends of cables that are gathered at once with their lanes,
				 * 3 kB each */
#define LINKS_PIECE	256	/* the same without lanes, 1.2 kB each */
#define BRIEF_PIECE	512	/* the same in brief, 0.6 kB each */

/*
 * Return: the node to which the shape has the cable at @port lead: this node itself in a dimension
 * of one node, and at a port that the NIC has and the shape does not
 */
static uint32_t find_neighbour(const struct fabricd *d, unsigned int port)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	uint32_t own = fm_own(d->fm);

	return port < 2u * shape->ndims ? torus_neighbour(shape, own, port) : own;
}

/* Return: the other end of the cable; if the wiring is wrong, it is not at the neighbour. */
static json_t *peer_json(struct fabricd *d, const struct torus_link *l)
{
	const struct fm_entry *e;
	uint32_t node;

	if (!l->peer_guid)
		return json_null();
	node = find_neighbour(d, l->port);
	e = fm_node(d->fm, node);
	if (!e || e->guid != l->peer_guid)
		node = fm_node_by_guid(d->fm, l->peer_guid);
	return json_pack("{s:o, s:o}", "node", node_json(d, node), "port",
			 port_json(d, l->peer_port));
}

/* Return: where the cable should end; null if none should be there. */
static json_t *expected_json(const struct fabricd *d, const struct torus_link *l)
{
	uint32_t node = find_neighbour(d, l->port);

	if (node == fm_own(d->fm))
		return json_null();
	return json_pack("{s:o, s:o}", "node", node_json(d, node), "port",
			 port_json(d, torus_dir_opposite(fm_shape(d->fm), l->port)));
}

/*
 * Return: the name of the node at the other end, from the table or from the node's Init; NULL if it
 * is not known.
 */
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

		json_array_append_new(list, json_pack(
			"{s:s, s:I, s:i, s:i, s:i, s:o, s:o, s:i, s:i, s:f}",
			"state", torus_lane_name(a->state), "rate",
			a->state == TORUS_LANE_ON ? (json_int_t)l->gauge[TORUS_PG_RATE] : 0,
			"margin", a->margin, "pre", a->pre, "post", a->post,
			"ctle", equaliser_json(a->ctle), "dfe", equaliser_json(a->dfe),
			"height", a->height, "width", a->width, "ber",
			(double)a->ber / (double)TORUS_BER_ONE));
	}
	return list;
}

/* Return: what monitoring collects of each lane; a quarter of the text of lanes_json() */
static json_t *margins_json(const struct torus_link *l)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < l->nlanes; i++)
		json_array_append_new(list, json_pack("{s:s, s:i}", "state",
						      torus_lane_name(l->lane[i].state),
						      "margin", l->lane[i].margin));
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

/* Return: the reason why the link is not up; NULL if it has none. */
static const char *reason_text(const struct torus_link *l)
{
	return torus_link_reason_name(l->state == TORUS_LINK_UP ? TORUS_REASON_NONE : l->reason);
}

/*
 * Return: the parameter whose different values at both ends keep the link from coming up, with both
 * values; null: there is no such parameter.
 */
static json_t *differs_json(const struct torus_link *l)
{
	const char *name = torus_differs_name(l->differs);
	char own[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX];

	if (l->differs == TORUS_DIFFERS_NOTHING || l->state == TORUS_LINK_UP)
		return json_null();
	return json_pack("{s:s, s:s, s:s}", "parameter", name ? name : "unknown",
			 "own", torus_differs_text(l->differs, l->differs_own, own),
			 "peer", torus_differs_text(l->differs, l->differs_peer, peer));
}

/*
 * Return: only the values that a table of links shows. With all counters, the links of 1024 nodes
 * would be 15 MB of text, and the root and the client would spend most of their time on writing and
 * reading it.
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
	json_object_set_new(j, "differs", differs_json(l));
	if (errors_bad(d, l))
		json_object_set_new(j, "quality", errors_json(d, l->port));
	add_excluded(d, l, j);
	for (unsigned int i = 0; j && i < sizeof(counters); i++)
		answer_add_counters(j, &torus_port_counters[counters[i]], &l->counter[counters[i]],
				    1);
	for (unsigned int i = 0; j && i < sizeof(gauges); i++)
		answer_add_counters(j, &torus_port_gauges[gauges[i]], &l->gauge[gauges[i]], 1);
	return j;
}

/* Return: the NIC's epoch, which identifies the start of the NIC since which its counters count. */
static json_t *epoch_json(const struct fabricd *d)
{
	const struct fm_entry *e = fm_node(d->fm, fm_own(d->fm));

	return e ? json_integer((json_int_t)e->epoch) : json_null();
}

/* Return: only what a table of errors shows, 0.5 kB, for the reason of brief_json(). */
static json_t *error_counts_json(struct fabricd *d, const struct torus_link *l)
{
	static const unsigned char counters[] = {
		TORUS_PC_CRC_ERRORS, TORUS_PC_MALFORMED, TORUS_PC_SEQ_ERRORS, TORUS_PC_RX_FLITS,
		TORUS_PC_RX_FRAMES,
	};
	const char *state = torus_link_state_name(l->state);
	json_t *j = json_pack("{s:o, s:o, s:o, s:s, s:o, s:o}", "node",
			      node_json(d, fm_own(d->fm)), "port", port_json(d, l->port), "peer",
			      peer_json(d, l), "state", state ? state : "?", "quality",
			      errors_json(d, l->port), "epoch", epoch_json(d));

	add_names(d, l, j);
	for (unsigned int i = 0; j && i < sizeof(counters); i++)
		answer_add_counters(j, &torus_port_counters[counters[i]], &l->counter[counters[i]],
				    1);
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
	json_object_set_new(j, "differs", differs_json(l));
	json_object_set_new(j, "quality", errors_json(d, l->port));
	json_object_set_new(j, "epoch", epoch_json(d));
	add_names(d, l, j);
	add_excluded(d, l, j);
	answer_add_counters(j, torus_port_counters, l->counter, TORUS_PC_COUNT);
	answer_add_counters(j, torus_port_gauges, l->gauge, TORUS_PG_COUNT);
	return j;
}

static bool is_bad(const struct fabricd *d, const struct torus_link *l)
{
	return l->state != TORUS_LINK_UP || fm_excluded(d->fm, fm_own(d->fm), l->port) ||
	       line_degraded(d, l);
}

json_t *links_json(struct fabricd *d, const struct torus_link *links, unsigned int n,
		   struct links_want want)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < n; i++) {
		json_t *j;

		if ((want.degraded && !line_degraded(d, &links[i])) ||
		    (want.bad && !is_bad(d, &links[i])))
			continue;
		j = want.errors ? error_counts_json(d, &links[i]) :
		    want.brief	? brief_json(d, &links[i]) : link_json(d, &links[i]);
		if (want.lanes || want.margins)
			json_object_set_new(j, "lane", want.lanes ? lanes_json(&links[i]) :
						       margins_json(&links[i]));
		json_array_append_new(list, j);
	}
	return list;
}

static struct links_want read_links_want(const json_t *cmd)
{
	return (struct links_want) {
		.lanes = json_is_true(json_object_get(cmd, "lanes")),
		.degraded = json_is_true(json_object_get(cmd, "degraded")),
		.brief = json_is_true(json_object_get(cmd, "brief")),
		.bad = json_is_true(json_object_get(cmd, "bad")),
		.errors = json_is_true(json_object_get(cmd, "errors")),
	};
}

static bool begin_links(struct question *q, const json_t *cmd)
{
	q->want = read_links_want(cmd);
	return true;
}

static json_t *reply_links(struct question *q)
{
	return links_json(q->d, q->link, q->n, q->want);
}

const struct question_kind question_links_get = {
	.begin = begin_links, .run = question_links, .reply = reply_links,
};

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
 * Called on the root, because other nodes do not know holds: adds to the links of @node, or of all
 * nodes if it is TORUS_NO_NODE, how long they are still held down.
 */
static void add_held(struct fabricd *d, json_t *links, uint32_t node)
{
	bool all = node == TORUS_NO_NODE;
	struct fm_hold h;

	for (unsigned int i = 0; d->fm && fm_held(d->fm, i, loop_now(), &h); i++) {
		double ms = (double)h.left * 1e-6;

		if (all || h.node == node)
			set_held(d, links, h.node, h.port, ms);
		if (h.peer != TORUS_NO_NODE && (all || h.peer == node))
			set_held(d, links, h.peer, h.peer_port, ms);
	}
}

/*
 * Called on the root, because other nodes do not know these numbers: adds how often the links of
 * @node were lost, and for how long.
 */
static void add_downs(struct fabricd *d, uint32_t node, json_t *links)
{
	unsigned int port;
	uint64_t since;
	uint32_t downs;
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		const char *text = json_string_value(json_object_get(v, "port"));

		if (!text || torus_port_parse(text, fm_shape(d->fm)->ndims, &port))
			continue;
		if (fm_downs(d->fm, node, port, &downs))
			json_object_set_new(v, "downs", json_integer(downs));
		if (fm_lost_since(d->fm, node, port, &since))
			json_object_set_new(v, "lost_ms",
					    json_real((double)(loop_now() - since) * 1e-6));
	}
}

static json_t *link_items(struct request *rq, uint32_t node, json_t *answer)
{
	add_held(rq->d, answer, node);
	add_downs(rq->d, node, answer);
	return flat_items(rq, node, answer);
}

static const struct listing listing_links = { .items = link_items };

/*
 * Return: the coordinates of the nodes whose managers are silent; the state of their lines is not
 * known.
 */
static json_t *silent_json(struct fabricd *d)
{
	json_t *list = json_array();
	const struct fm_entry *e;

	for (uint32_t i = 0; (e = fm_node(d->fm, i)); i++)
		if (e->state == FM_NODE_SILENT)
			json_array_append_new(list, node_json(d, i));
	return list;
}

/*
 * Return: the root's list of all degraded links in the fabric, with the holds that are now in
 * force.
 */
static json_t *degraded_json(struct fabricd *d)
{
	json_t *kept = lines_json(d), *list = json_deep_copy(kept);

	json_decref(kept);
	add_held(d, list, TORUS_NO_NODE);
	return list;
}

static void answer_degraded(struct request *rq)
{
	json_t *list = degraded_json(rq->d);

	answer_label(rq, list);
	answer_ok(rq, list, silent_json(rq->d));
}

/* Return: the most ends of cables that are gathered at once; 0: all, because they are few. */
static uint32_t links_piece(const struct links_want *want)
{
	if (want->lanes)
		return LANES_PIECE;
	if (want->bad || want->degraded)
		return 0;
	return want->brief || want->errors ? BRIEF_PIECE : LINKS_PIECE;
}

void answer_links(struct request *rq)
{
	struct links_want want = read_links_want(rq->args);
	bool few = !want.lanes && want.brief && want.bad;

	if (!want.degraded || want.lanes || json_is_string(json_object_get(rq->args, "node")))
		answer_list_some(rq, few ? BAD_MAX : LINKS_MAX, 2, &listing_links,
				 links_piece(&want));
	else if (answer_ready(rq))
		answer_degraded(rq);
}
