// SPDX-License-Identifier: GPL-2.0-only
#include "daemon/record.h"
#include "daemon/fm/wire/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[RECORD_KINDS] = {
	[RECORD_BEGIN] = "begin",     [RECORD_LINK] = "link",	    [RECORD_MGMT] = "mgmt",
	[RECORD_PARK] = "park",	      [RECORD_DONE] = "done",	    [RECORD_UP] = "up",
	[RECORD_DOWN] = "down",	      [RECORD_MSG] = "msg",	    [RECORD_TIMER] = "timer",
	[RECORD_EXCLUDE] = "exclude", [RECORD_MOVE] = "move",	    [RECORD_ARBITER] = "arbiter",
	[RECORD_KEPT] = "kept",	      [RECORD_STALLED] = "stalled", [RECORD_CLOCK] = "clock",
	[RECORD_PLAN] = "plan",	      [RECORD_JOB] = "job",
	[RECORD_GONE] = "gone",	      [RECORD_END] = "end",
};

/* --- bytes -------------------------------------------------------------------- */

json_t *record_hex(const void *data, size_t len)
{
	static const char digit[] = "0123456789abcdef";
	const uint8_t *p = data;
	char *text = malloc(2 * len + 1);
	json_t *j;

	if (!text)
		return NULL;
	for (size_t i = 0; i < len; i++) {
		text[2 * i] = digit[p[i] >> 4];
		text[2 * i + 1] = digit[p[i] & 15];
	}
	j = json_stringn(text, 2 * len);
	free(text);
	return j;
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Reads bytes from the member @key; the caller frees @data. Return: 0; -ENOENT if there is no such
 * member; another negative errno
 */
static int get_bytes(const json_t *j, const char *key, void **data, size_t *len)
{
	const json_t *v = json_object_get(j, key);
	const char *text = json_string_value(v);
	size_t n = json_string_length(v);
	uint8_t *p;

	if (!v)
		return -ENOENT;
	if (!text || n % 2)
		return -EINVAL;
	p = malloc(n / 2 + 1);
	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < n / 2; i++) {
		int high = digit_of(text[2 * i]), low = digit_of(text[2 * i + 1]);

		if (high < 0 || low < 0) {
			free(p);
			return -EINVAL;
		}
		p[i] = (uint8_t)(high << 4 | low);
	}
	*data = p;
	*len = n / 2;
	return 0;
}

/* --- members -------------------------------------------------------------------- */

/* Return: a number of 64 bits as a JSON integer, which is signed. */
static json_t *number_json(uint64_t v)
{
	return json_integer((json_int_t)v);
}

/*
 * Reads a number from 0 to @max; UINT64_MAX: any number. If the member is missing or out of range,
 * increases @wrong.
 */
static uint64_t get_number(const json_t *j, const char *key, uint64_t max, int *wrong)
{
	const json_t *v = json_object_get(j, key);
	uint64_t n = (uint64_t)json_integer_value(v);

	*wrong += !json_is_integer(v) || n > max;
	return n;
}

static bool get_bool(const json_t *j, const char *key, int *wrong)
{
	const json_t *v = json_object_get(j, key);

	*wrong += !json_is_boolean(v);
	return json_is_true(v);
}

static void get_text(const json_t *j, const char *key, char *to, size_t room, int *wrong)
{
	const char *text = json_string_value(json_object_get(j, key));

	if (!text || strlen(text) >= room)
		(*wrong)++;
	else
		memcpy(to, text, strlen(text) + 1);
}

static json_t *record_shape_json(const struct torus_shape *s)
{
	json_t *list = json_array();

	for (unsigned int d = 0; d < s->ndims; d++)
		json_array_append_new(list, json_integer(s->size[d]));
	return list;
}

static void get_record_shape(const json_t *j, const char *key, struct torus_shape *to, int *wrong)
{
	const json_t *list = json_object_get(j, key), *v;
	size_t i;

	*to = (struct torus_shape) { .ndims = 0 };
	for (i = 0; i < TORUS_MAX_DIMS; i++)
		to->size[i] = 1;
	if (!json_is_array(list) || json_array_size(list) > TORUS_MAX_DIMS) {
		(*wrong)++;
		return;
	}
	to->ndims = (uint8_t)json_array_size(list);
	json_array_foreach(list, i, v) {
		json_int_t n = json_integer_value(v);

		*wrong += n < 1 || n > TORUS_MAX_SIZE;
		to->size[i] = (uint16_t)n;
	}
	*wrong += to->ndims && !torus_nodes(to);
}

static int put_record_plan(json_t *j, const struct torus_plan *p)
{
	struct torus_plan full = fm_plan_full(p);
	char text[TORUS_TEXT_MAX];

	return json_object_set_new(j, "address4", json_string(torus_plan_text4(&full, text))) |
	       json_object_set_new(j, "address6", json_string(torus_plan_text6(&full, text)));
}

/*
 * Reads an address plan. Recordings of earlier releases have no plan; then all members of @p become
 * 0.
 */
static void get_record_plan(const json_t *j, struct torus_plan *p, int *wrong)
{
	const char *v4 = json_string_value(json_object_get(j, "address4"));
	const char *v6 = json_string_value(json_object_get(j, "address6"));

	*p = (struct torus_plan) { .len4 = 0 };
	if (!v4 && !v6)
		return;
	*wrong += !v4 || !v6 || torus_plan_parse4(v4, p) || torus_plan_parse6(v6, p);
}

/* --- parts of events -------------------------------------------------------------- */

#define CONFIG_NUMBERS(X) \
	X(fanout) X(init_interval) X(quiet) X(resend) X(drain_max) X(resolve_max) X(member_max) \
	X(keepalive) X(flap_limit) X(flap_half_life) X(hold_max) X(takeover) \
	X(priority) X(arbiter) X(seed)

static json_t *config_json(const struct fm_config *c)
{
	json_t *j = json_pack("{s:s, s:s, s:s, s:o*}", "fabric", c->fabric, "name", c->name,
			      "address", c->address, "shape", record_shape_json(&c->shape));

#define X(member) json_object_set_new(j, #member, number_json(c->member));
	CONFIG_NUMBERS(X)
#undef X
	json_object_set_new(j, "keeps", json_boolean(c->keeps));
	json_object_set_new(j, "plan_given", json_integer(c->plan_given));
	put_record_plan(j, &c->plan);
	return j;
}

static void get_config(const json_t *j, struct fm_config *c, int *wrong)
{
	*c = (struct fm_config) { .fanout = 0 };
	get_text(j, "fabric", c->fabric, sizeof(c->fabric), wrong);
	get_text(j, "name", c->name, sizeof(c->name), wrong);
	get_text(j, "address", c->address, sizeof(c->address), wrong);
	get_record_shape(j, "shape", &c->shape, wrong);
#define X(member) \
	c->member = (__typeof__(c->member))get_number(j, #member, (__typeof__(c->member))-1, wrong);
	CONFIG_NUMBERS(X)
#undef X
	c->keeps = json_is_true(json_object_get(j, "keeps"));
	if (json_object_get(j, "plan_given"))
		c->plan_given = (unsigned int)get_number(j, "plan_given", FM_PLAN4 | FM_PLAN6,
							 wrong);
	get_record_plan(j, &c->plan, wrong);
	c->plan = fm_plan_short(&c->plan);
}

static json_t *device_json(const struct torus_device *d)
{
	json_t *j = json_pack("{s:s, s:o*, s:I, s:o*, s:o*, s:i, s:b, s:b, s:I, s:I}",
			      "name", d->name,
			      "guid", number_json(d->guid), "epoch", (json_int_t)d->epoch,
			      "root_epoch", number_json(d->root_epoch), "root_guid",
			      number_json(d->root_guid), "ports",
			      d->nports, "bootstrap", d->bootstrap, "placed", d->placed,
			      "relay_packets", (json_int_t)d->relay_packets, "payload_max",
			      (json_int_t)d->payload_max);

	if (d->plan.len4)
		put_record_plan(j, &d->plan);
	if (d->placed) {
		json_object_set_new(j, "shape", record_shape_json(&d->shape));
		json_object_set_new(j, "node", json_integer(d->node));
		json_object_set_new(j, "version", number_json(d->version));
		json_object_set_new(j, "rows_epoch", number_json(d->rows_epoch));
	}
	return j;
}

static void get_device(const json_t *j, struct torus_device *d, int *wrong)
{
	*d = (struct torus_device) { .guid = get_number(j, "guid", UINT64_MAX, wrong) };
	get_text(j, "name", d->name, sizeof(d->name), wrong);
	d->epoch = (uint32_t)get_number(j, "epoch", UINT32_MAX, wrong);
	d->root_epoch = get_number(j, "root_epoch", UINT64_MAX, wrong);
	d->root_guid = get_number(j, "root_guid", UINT64_MAX, wrong);
	d->nports = (uint8_t)get_number(j, "ports", TORUS_MAX_PORTS, wrong);
	d->bootstrap = get_bool(j, "bootstrap", wrong);
	d->placed = get_bool(j, "placed", wrong);
	d->relay_packets = (uint32_t)get_number(j, "relay_packets", UINT32_MAX, wrong);
	d->payload_max = (uint32_t)get_number(j, "payload_max", UINT32_MAX, wrong);
	get_record_plan(j, &d->plan, wrong);
	if (!d->placed)
		return;
	get_record_shape(j, "shape", &d->shape, wrong);
	d->node = (uint32_t)get_number(j, "node", torus_nodes(&d->shape) - 1, wrong);
	d->version = get_number(j, "version", UINT64_MAX, wrong);
	if (json_object_get(j, "rows_epoch"))
		d->rows_epoch = get_number(j, "rows_epoch", UINT64_MAX, wrong);
	if (!*wrong)
		torus_node_coords(&d->shape, d->node, &d->coords);
}

static json_t *record_link_json(const struct torus_link *l)
{
	return json_pack("{s:i, s:i, s:i, s:i, s:b, s:b, s:b, s:s, s:I, s:i, s:o*, s:i, s:i, s:i, "
			 "s:I, s:I, s:I}",
			 "port", l->port, "state", l->state, "old_state", l->old_state, "reason",
			 l->reason, "admin", l->admin, "carrier", l->carrier, "closed", l->closed,
			 "lower", l->lower, "session", (json_int_t)l->session, "seq", l->seq,
			 "peer_guid", number_json(l->peer_guid), "peer_port", l->peer_port, "retry",
			 l->retry, "retry_wanted", l->retry_wanted, "rate",
			 (json_int_t)l->gauge[TORUS_PG_RATE], "width",
			 (json_int_t)l->gauge[TORUS_PG_WIDTH], "margin",
			 (json_int_t)l->gauge[TORUS_PG_MARGIN]);
}

/* Reads a gauge, which recordings of earlier releases do not have. */
static uint64_t get_gauge(const json_t *j, const char *key, int *wrong)
{
	return json_object_get(j, key) ? get_number(j, key, INT64_MAX, wrong) : 0;
}

static void get_link(const json_t *j, struct torus_link *l, int *wrong)
{
	*l = (struct torus_link) { 0 };
	l->port = (uint8_t)get_number(j, "port", TORUS_MAX_PORTS - 1, wrong);
	l->state = (uint8_t)get_number(j, "state", TORUS_LINK_STATES - 1, wrong);
	l->old_state = (uint8_t)get_number(j, "old_state", TORUS_LINK_STATES - 1, wrong);
	l->reason = (uint8_t)get_number(j, "reason", TORUS_REASONS - 1, wrong);
	l->admin = get_bool(j, "admin", wrong);
	l->carrier = get_bool(j, "carrier", wrong);
	l->closed = get_bool(j, "closed", wrong);
	get_text(j, "lower", l->lower, sizeof(l->lower), wrong);
	l->session = (uint32_t)get_number(j, "session", UINT32_MAX, wrong);
	l->seq = (uint16_t)get_number(j, "seq", UINT16_MAX, wrong);
	l->peer_guid = get_number(j, "peer_guid", UINT64_MAX, wrong);
	l->peer_port = (uint8_t)get_number(j, "peer_port", UINT8_MAX, wrong);
	l->retry = (uint8_t)get_number(j, "retry", TORUS_RETRIES - 1, wrong);
	l->retry_wanted = (uint8_t)get_number(j, "retry_wanted", TORUS_RETRIES - 1, wrong);
	l->gauge[TORUS_PG_RATE] = get_gauge(j, "rate", wrong);
	l->gauge[TORUS_PG_WIDTH] = get_gauge(j, "width", wrong);
	l->gauge[TORUS_PG_MARGIN] = get_gauge(j, "margin", wrong);
}

static json_t *record_park_json(const struct torus_park *p)
{
	return json_pack("{s:o*, s:o*, s:o*, s:o*, s:o*, s:o*, s:I, s:o*}", "parked",
			 number_json(p->parked), "unresolved", number_json(p->unresolved), "bytes",
			 number_json(p->bytes), "bytes_max", number_json(p->bytes_max), "held",
			 number_json(p->held), "version", number_json(p->flow.version), "epoch",
			 (json_int_t)p->flow.epoch, "counters",
			 record_hex(p->flow.counter, sizeof(p->flow.counter)));
}

static int park_parse(const json_t *j, struct torus_park *p)
{
	void *counters = NULL;
	size_t len = 0;
	int wrong = 0;

	*p = (struct torus_park) { .parked = get_number(j, "parked", UINT64_MAX, &wrong) };
	p->unresolved = get_number(j, "unresolved", UINT64_MAX, &wrong);
	p->bytes = get_number(j, "bytes", UINT64_MAX, &wrong);
	p->bytes_max = get_number(j, "bytes_max", UINT64_MAX, &wrong);
	p->held = get_number(j, "held", UINT64_MAX, &wrong);
	p->flow.version = get_number(j, "version", UINT64_MAX, &wrong);
	p->flow.epoch = (uint32_t)get_number(j, "epoch", UINT32_MAX, &wrong);
	if (get_bytes(j, "counters", &counters, &len) || len != sizeof(p->flow.counter))
		wrong++;
	else
		memcpy(p->flow.counter, counters, len);
	free(counters);
	return wrong ? -EINVAL : 0;
}

/* --- events -------------------------------------------------------------------- */

static int record_kept_json(const struct fm_msg *kept, json_t *j)
{
	uint8_t *data;
	size_t len;
	int bad;

	if (fm_msg_pack(kept, &data, &len))
		return -1;
	bad = json_object_set_new(j, "kept", record_hex(data, len));
	free(data);
	return bad;
}

static int begin_json(const struct record_event *e, json_t *j)
{
	const struct torus_device *dev = &e->begin.dev;
	json_t *links = json_array();
	int bad = json_object_set_new(j, "format", json_integer(RECORD_FORMAT)) |
		  json_object_set_new(j, "config", config_json(&e->begin.config)) |
		  json_object_set_new(j, "device", device_json(dev));

	for (unsigned int p = 0; p < dev->nports; p++)
		bad |= json_array_append_new(links, record_link_json(&e->begin.links[p]));
	bad |= json_object_set_new(j, "links", links);
	bad |= json_object_set_new(j, "park", record_park_json(&e->begin.park));
	if (dev->placed && e->begin.rows)
		bad |= json_object_set_new(j, "rows", record_hex(e->begin.rows,
					   torus_nodes(&dev->shape) * sizeof(uint64_t)));
	if (e->begin.kept)
		bad |= record_kept_json(e->begin.kept, j);
	return bad;
}

static int done_json(const struct record_event *e, json_t *j)
{
	int bad = json_object_set_new(j, "tag", json_integer(e->done.tag)) |
		  json_object_set_new(j, "err", json_integer(e->done.err));

	if (e->done.has_counts)
		bad |= json_object_set_new(j, "park", record_park_json(&e->done.counts.park)) |
		       json_object_set_new(j, "lost", number_json(e->done.counts.lost));
	return bad;
}

static int msg_json(const struct record_event *e, json_t *j)
{
	uint8_t *data;
	size_t len;
	int bad;

	if (fm_msg_pack(e->msg.msg, &data, &len))
		return -1;
	bad = json_object_set_new(j, "conn", json_integer(e->msg.conn)) |
	      json_object_set_new(j, "type", json_string(fm_msg_name(e->msg.msg->type))) |
	      json_object_set_new(j, "data", record_hex(data, len));
	free(data);
	return bad;
}

static int record_order_json(const struct fm_order *o, json_t *j)
{
	return json_object_set_new(j, "uid", json_integer(o->uid)) |
	       json_object_set_new(j, "by", json_string(o->by)) |
	       json_object_set_new(j, "since", number_json(o->since)) |
	       json_object_set_new(j, "until", number_json(o->until)) |
	       json_object_set_new(j, "reason", json_string(o->reason));
}

/* Reads an order. Recordings of earlier releases have no orders. */
static void get_record_order(const json_t *line, struct fm_order *o, int *wrong)
{
	if (!json_object_get(line, "since"))
		return;
	o->uid = (uint32_t)get_number(line, "uid", UINT32_MAX, wrong);
	get_text(line, "by", o->by, sizeof(o->by), wrong);
	o->since = get_number(line, "since", UINT64_MAX, wrong);
	o->until = get_number(line, "until", UINT64_MAX, wrong);
	get_text(line, "reason", o->reason, sizeof(o->reason), wrong);
}

static json_t *record_want_json(const struct fm_job_want *w)
{
	return json_pack("{s:I, s:I, s:i, s:I, s:i}", "at", (json_int_t)w->at, "nodes",
			 (json_int_t)w->nodes, "links", (int)w->links, "rate", (json_int_t)w->rate,
			 "margin", (int)w->margin);
}

static void get_record_want(const json_t *from, struct fm_job_want *w, int *wrong)
{
	w->how = FM_JOB_GROW;
	w->at = (uint32_t)get_number(from, "at", TORUS_MAX_NODES - 1, wrong);
	w->nodes = (uint32_t)get_number(from, "nodes", TORUS_MAX_NODES, wrong);
	w->links = (uint8_t)get_number(from, "links", TORUS_MAX_PORTS, wrong);
	w->rate = (uint32_t)get_number(from, "rate", UINT32_MAX, wrong);
	w->margin = (uint16_t)get_number(from, "margin", UINT16_MAX, wrong);
}

static int record_job_json(const struct record_event *e, json_t *j)
{
	const struct fm_job *job = &e->job.job;
	json_t *list = json_array();

	for (uint32_t i = 0; e->job.on && job->how != FM_JOB_GROW && i < job->nodes; i++)
		json_array_append_new(list, json_integer(e->job.node[i]));
	if (e->job.on && job->how == FM_JOB_GROW &&
	    json_object_set_new(j, "want", record_want_json(&e->job.want)))
		return -1;
	return json_object_set_new(j, "on", json_boolean(e->job.on)) |
	       json_object_set_new(j, "name", json_string(job->name)) |
	       json_object_set_new(j, "uid", number_json(job->uid)) |
	       json_object_set_new(j, "by", json_string(job->by)) |
	       json_object_set_new(j, "since", number_json(job->since)) |
	       json_object_set_new(j, "how", json_integer(job->how)) |
	       json_object_set_new(j, "nodes", list);
}

static int get_record_job(const json_t *line, struct record_event *e, int *wrong)
{
	const json_t *list = json_object_get(line, "nodes"), *v;
	struct fm_job *job = &e->job.job;
	uint32_t *node;
	size_t i;

	e->job.on = get_bool(line, "on", wrong);
	get_text(line, "name", job->name, sizeof(job->name), wrong);
	job->uid = (uint32_t)get_number(line, "uid", UINT32_MAX, wrong);
	get_text(line, "by", job->by, sizeof(job->by), wrong);
	job->since = get_number(line, "since", FM_TIME_MAX, wrong);
	job->how = (uint8_t)get_number(line, "how", FM_JOB_HOWS - 1, wrong);
	if (e->job.on && job->how == FM_JOB_GROW) {
		get_record_want(json_object_get(line, "want"), &e->job.want, wrong);
		job->nodes = e->job.want.nodes;
		return 0;
	}
	if (json_array_size(list) > TORUS_MAX_NODES)
		return -EINVAL;
	job->nodes = (uint32_t)json_array_size(list);
	node = calloc(job->nodes + 1, sizeof(*node));
	if (!node)
		return -ENOMEM;
	json_array_foreach(list, i, v) {
		*wrong += !json_is_integer(v) || json_integer_value(v) < 0 ||
			  json_integer_value(v) >= TORUS_MAX_NODES;
		node[i] = (uint32_t)json_integer_value(v);
	}
	e->job.node = node;
	return 0;
}

static int body_json(const struct record_event *e, json_t *j)
{
	switch (e->kind) {
	case RECORD_BEGIN:
		return begin_json(e, j);
	case RECORD_LINK:
		return json_object_set_new(j, "link", record_link_json(&e->link));
	case RECORD_MGMT:
		return json_object_set_new(j, "port", json_integer(e->mgmt.port)) |
		       json_object_set_new(j, "data", record_hex(e->mgmt.data, e->mgmt.len));
	case RECORD_PARK:
		return json_object_set_new(j, "park", record_park_json(&e->park));
	case RECORD_DONE:
		return done_json(e, j);
	case RECORD_UP:
	case RECORD_DOWN:
		return json_object_set_new(j, "conn", json_integer(e->conn));
	case RECORD_MSG:
		return msg_json(e, j);
	case RECORD_ARBITER:
		return json_object_set_new(j, "epoch", number_json(e->arbiter.epoch)) |
		       json_object_set_new(j, "verdict", json_integer(e->arbiter.verdict)) |
		       json_object_set_new(j, "high", number_json(e->arbiter.high)) |
		       json_object_set_new(j, "why", json_string(e->arbiter.why));
	case RECORD_KEPT:
		return json_object_set_new(j, "epoch", number_json(e->kept.epoch)) |
		       json_object_set_new(j, "version", number_json(e->kept.version)) |
		       json_object_set_new(j, "ok", json_boolean(e->kept.ok));
	case RECORD_EXCLUDE:
		return json_object_set_new(j, "node", json_integer(e->exclude.node)) |
		       json_object_set_new(j, "port", json_integer(e->exclude.port)) |
		       json_object_set_new(j, "on", json_boolean(e->exclude.on)) |
		       (e->exclude.more ? json_object_set_new(j, "more", json_true()) : 0) |
		       (e->exclude.order.since ? record_order_json(&e->exclude.order, j) : 0);
	case RECORD_JOB:
		return record_job_json(e, j);
	case RECORD_CLOCK:
		return json_object_set_new(j, "wall", number_json(e->wall));
	case RECORD_PLAN:
		return json_object_set_new(j, "plan_given", json_integer(e->plan.given)) |
		       put_record_plan(j, &e->plan.plan);
	case RECORD_MOVE:
		return json_object_set_new(j, "node", json_integer(e->move));
	case RECORD_STALLED:
		return json_object_set_new(j, "port", json_integer(e->stalled.port)) |
		       json_object_set_new(j, "is", json_boolean(e->stalled.is));
	default:
		return 0;
	}
}

json_t *record_event_json(const struct record_event *e)
{
	json_t *j = json_pack("{s:s, s:o*}", "event", names[e->kind], "now", number_json(e->now));

	if (j && !body_json(e, j))
		return j;
	json_decref(j);
	return NULL;
}

bool record_is_event(const json_t *line)
{
	return json_object_get(line, "event");
}

static int parse_kept(const json_t *line, struct record_event *e)
{
	void *data = NULL;
	size_t len;
	int err = get_bytes(line, "kept", &data, &len);

	if (err)
		return err == -ENOENT ? 0 : err;
	e->begin.kept = calloc(1, sizeof(*e->begin.kept));
	err = e->begin.kept ? fm_msg_unpack(data, len, e->begin.kept) : -ENOMEM;
	free(data);
	if (!err && e->begin.kept->type != FM_MSG_TABLE)
		return -EINVAL;
	if (!err)
		e->begin.config.kept = &e->begin.kept->table;
	return err == -ENOMEM || !err ? err : -EINVAL;
}

static int parse_begin(const json_t *line, struct record_event *e)
{
	const json_t *list = json_object_get(line, "links"), *v;
	struct torus_link *links = calloc(TORUS_MAX_PORTS, sizeof(*links));
	void *rows = NULL;
	int wrong = 0, err;
	size_t i, len = 0;

	e->begin.links = links;
	if (!links)
		return -ENOMEM;
	if (json_integer_value(json_object_get(line, "format")) != RECORD_FORMAT)
		return -EPROTO;
	get_config(json_object_get(line, "config"), &e->begin.config, &wrong);
	get_device(json_object_get(line, "device"), &e->begin.dev, &wrong);
	if (json_array_size(list) != e->begin.dev.nports)
		return -EINVAL;
	json_array_foreach(list, i, v)
		get_link(v, &links[i], &wrong);
	err = get_bytes(line, "rows", &rows, &len);
	e->begin.rows = rows;
	if (wrong || (err && err != -ENOENT) ||
	    park_parse(json_object_get(line, "park"), &e->begin.park))
		return err == -ENOMEM ? err : -EINVAL;
	if (rows && len != torus_nodes(&e->begin.dev.shape) * sizeof(uint64_t))
		return -EINVAL;
	return parse_kept(line, e);
}

static int parse_done(const json_t *line, struct record_event *e)
{
	json_int_t err = json_integer_value(json_object_get(line, "err"));
	int wrong = !json_is_integer(json_object_get(line, "err")) || err > 0 || err < -4095;

	e->done.tag = (uint32_t)get_number(line, "tag", UINT32_MAX, &wrong);
	e->done.err = (int)err;
	e->done.has_counts = json_object_get(line, "park");
	if (wrong || !e->done.has_counts)
		return wrong ? -EINVAL : 0;
	e->done.counts.lost = get_number(line, "lost", UINT64_MAX, &wrong);
	wrong |= park_parse(json_object_get(line, "park"), &e->done.counts.park);
	return wrong ? -EINVAL : 0;
}

static int parse_msg(const json_t *line, struct record_event *e)
{
	void *data = NULL;
	size_t len;
	int err;

	e->msg.msg = calloc(1, sizeof(*e->msg.msg));
	if (!e->msg.msg)
		return -ENOMEM;
	e->msg.conn = (int)json_integer_value(json_object_get(line, "conn"));
	err = get_bytes(line, "data", &data, &len);
	if (!err)
		err = fm_msg_unpack(data, len, e->msg.msg);
	free(data);
	return err == -ENOMEM ? err : err ? -EINVAL : 0;
}

static int parse_body(const json_t *line, struct record_event *e)
{
	void *data = NULL;
	int wrong = 0, err = 0;

	switch (e->kind) {
	case RECORD_BEGIN:
		return parse_begin(line, e);
	case RECORD_LINK:
		get_link(json_object_get(line, "link"), &e->link, &wrong);
		break;
	case RECORD_MGMT:
		e->mgmt.port = (unsigned int)get_number(line, "port", TORUS_MAX_PORTS - 1, &wrong);
		err = get_bytes(line, "data", &data, &e->mgmt.len);
		e->mgmt.data = data;
		break;
	case RECORD_PARK:
		return park_parse(json_object_get(line, "park"), &e->park);
	case RECORD_DONE:
		return parse_done(line, e);
	case RECORD_UP:
	case RECORD_DOWN:
		e->conn = (int)get_number(line, "conn", UINT64_MAX, &wrong);
		break;
	case RECORD_MSG:
		return parse_msg(line, e);
	case RECORD_EXCLUDE:
		e->exclude.node = (uint32_t)get_number(line, "node", UINT32_MAX, &wrong);
		e->exclude.port = (int)get_number(line, "port", UINT64_MAX, &wrong);
		e->exclude.on = get_bool(line, "on", &wrong);
		e->exclude.more = json_is_true(json_object_get(line, "more"));
		get_record_order(line, &e->exclude.order, &wrong);
		break;
	case RECORD_JOB:
		err = get_record_job(line, e, &wrong);
		break;
	case RECORD_CLOCK:
		e->wall = get_number(line, "wall", FM_TIME_MAX, &wrong);
		break;
	case RECORD_PLAN:
		e->plan.given = (unsigned int)get_number(line, "plan_given", FM_PLAN4 | FM_PLAN6,
							 &wrong);
		get_record_plan(line, &e->plan.plan, &wrong);
		break;
	case RECORD_STALLED:
		e->stalled.port = (unsigned int)get_number(line, "port", TORUS_MAX_PORTS - 1,
							   &wrong);
		e->stalled.is = get_bool(line, "is", &wrong);
		break;
	case RECORD_ARBITER:
		e->arbiter.epoch = get_number(line, "epoch", UINT64_MAX, &wrong);
		e->arbiter.verdict = (enum fm_verdict)get_number(line, "verdict", FM_VERDICTS - 1,
								 &wrong);
		e->arbiter.high = get_number(line, "high", UINT64_MAX, &wrong);
		get_text(line, "why", e->arbiter.why, sizeof(e->arbiter.why), &wrong);
		break;
	case RECORD_KEPT:
		e->kept.epoch = get_number(line, "epoch", UINT64_MAX, &wrong);
		e->kept.version = get_number(line, "version", UINT64_MAX, &wrong);
		e->kept.ok = get_bool(line, "ok", &wrong);
		break;
	case RECORD_MOVE:
		e->move = (uint32_t)get_number(line, "node", UINT32_MAX, &wrong);
		break;
	default:
		break;
	}
	return err == -ENOMEM ? err : err || wrong ? -EINVAL : 0;
}

int record_event_parse(const json_t *line, struct record_event *e)
{
	const char *name = json_string_value(json_object_get(line, "event"));
	int wrong = 0, err;

	memset(e, 0, sizeof(*e));
	e->kind = RECORD_KINDS;
	for (unsigned int k = 0; name && k < RECORD_KINDS; k++)
		if (!strcmp(name, names[k]))
			e->kind = k;
	e->now = get_number(line, "now", UINT64_MAX, &wrong);
	if (e->kind == RECORD_KINDS || wrong)
		return -EINVAL;
	err = parse_body(line, e);
	if (err)
		record_event_clear(e);
	return err;
}

void record_event_clear(struct record_event *e)
{
	if (e->kind == RECORD_BEGIN) {
		free((void *)e->begin.links);
		free((void *)e->begin.rows);
		if (e->begin.kept)
			fm_msg_clear(e->begin.kept);
		free(e->begin.kept);
	} else if (e->kind == RECORD_JOB) {
		free((void *)e->job.node);
	} else if (e->kind == RECORD_MGMT) {
		free((void *)e->mgmt.data);
	} else if (e->kind == RECORD_MSG && e->msg.msg) {
		fm_msg_clear(e->msg.msg);
		free(e->msg.msg);
	}
	e->kind = RECORD_KINDS;
}

int record_event_play(const struct record_event *e, struct fm *fm)
{
	switch (e->kind) {
	case RECORD_LINK:
		fm_link(fm, &e->link, e->now);
		break;
	case RECORD_MGMT:
		fm_mgmt(fm, e->mgmt.port, e->mgmt.data, e->mgmt.len, e->now);
		break;
	case RECORD_PARK:
		fm_park(fm, &e->park, e->now);
		break;
	case RECORD_DONE:
		fm_done(fm, e->done.tag, e->done.err, e->done.has_counts ? &e->done.counts : NULL,
			e->now);
		break;
	case RECORD_UP:
		fm_conn_up(fm, e->conn, e->now);
		break;
	case RECORD_DOWN:
		fm_conn_down(fm, e->conn, e->now);
		break;
	case RECORD_MSG:
		fm_msg(fm, e->msg.conn, e->msg.msg, e->now);
		break;
	case RECORD_GONE:
		fm_nic_gone(fm, e->now);
		break;
	case RECORD_TIMER:
		fm_timer(fm, e->now);
		break;
	case RECORD_STALLED:
		fm_stalled(fm, e->stalled.port, e->stalled.is, e->now);
		break;
	case RECORD_ARBITER:
		fm_arbiter(fm, e->arbiter.epoch, e->arbiter.verdict, e->arbiter.high,
			   e->arbiter.why, e->now);
		break;
	case RECORD_KEPT:
		fm_kept(fm, e->kept.epoch, e->kept.version, e->kept.ok, e->now);
		break;
	case RECORD_EXCLUDE:
		if (e->exclude.more)
			return fm_exclude_first(fm, e->exclude.node, e->exclude.port, e->exclude.on,
						e->exclude.order.since ? &e->exclude.order : NULL,
						e->now);
		if (e->exclude.on && e->exclude.order.since)
			return fm_exclude_by(fm, e->exclude.node, e->exclude.port,
					     &e->exclude.order, e->now);
		if (e->exclude.order.since)
			return fm_include_by(fm, e->exclude.node, e->exclude.port,
					     &e->exclude.order, e->now);
		return fm_exclude(fm, e->exclude.node, e->exclude.port, e->exclude.on, e->now);
	case RECORD_JOB:
		if (e->job.on && e->job.job.how == FM_JOB_GROW)
			return fm_job_grow(fm, &e->job.job, &e->job.want, e->now);
		if (e->job.on)
			return fm_job_start(fm, &e->job.job, e->job.node, e->now);
		return fm_job_stop(fm, e->job.job.name, e->job.job.uid, e->now);
	case RECORD_CLOCK:
		fm_clock(fm, e->wall, e->now);
		break;
	case RECORD_PLAN:
		fm_plan(fm, &e->plan.plan, e->plan.given, e->now);
		break;
	case RECORD_MOVE:
		return fm_root_move(fm, e->move, e->now);
	default:
		break;
	}
	return 0;
}
