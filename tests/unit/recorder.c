// SPDX-License-Identifier: GPL-2.0-only
#include "tests/unit/recorder.h"

/* --- the NIC ----------------------------------------------------------------------- */

static struct recorder *of(struct torus_hw *h)
{
	return (struct recorder *)((u8 *)h - offsetof(struct recorder, hw));
}

__attribute__((format(printf, 2, 3)))
static int note(struct torus_hw *h, const char *fmt, ...)
{
	struct recorder *r = of(h);
	size_t used = strlen(r->asked);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->asked + used, sizeof(r->asked) - used, fmt, ap);
	va_end(ap);
	return r->error;
}

static int on_place(struct torus_hw *h, const struct torus_shape *s, const struct torus_coords *at)
{
	return note(h, "place %u: %ux%ux%u at %u %u %u", s->ndims, s->size[0], s->size[1], s->size[2],
		    at->c[0], at->c[1], at->c[2]);
}

static void on_plan(struct torus_hw *h, const struct torus_plan *p)
{
	note(h, "plan %u.%u.%u.%u/%u %02x%02x:%02x%02x/%u", p->net4[0], p->net4[1], p->net4[2],
	     p->net4[3], p->len4, p->net6[0], p->net6[1], p->net6[2], p->net6[3], p->len6);
}

static void on_device_get(struct torus_hw *h, struct torus_device *out)
{
	out->relay_packets = 31;
	out->payload_max = 32;
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
		out->counter[i] = 100 + i;
	note(h, "device_get");
}

static int on_link_get(struct torus_hw *h, unsigned int port, struct torus_link *out)
{
	*out = (struct torus_link) { .port = (u8)port, .state = TORUS_LINK_UP, .session = 40 + port };
	return note(h, "link_get %u;", port);
}

static int on_link_set(struct torus_hw *h, unsigned int port, const struct torus_link_order *o)
{
	note(h, "link_set %u: retry %d admin %d retrain %d", port, o->retry, o->admin, o->retrain);
	for (unsigned int i = 1; o->fault && i <= TORUS_FAULT_MAX; i++)
		if (o->fault[i])
			note(h, " fault[%u] %llu", i,
			     (unsigned long long)torus_attr_number(o->fault[i]));
	return of(h)->error;
}

static int on_link_attach(struct torus_hw *h, unsigned int port, const char *lower,
			  struct torus_refusal *why)
{
	if (of(h)->error == -EBUSY)
		torus_refuse(why, -EBUSY, NULL, "it carries another port");
	return note(h, "link_attach %u '%s'", port, lower);
}

static int on_eye_get(struct torus_hw *h, unsigned int port, unsigned int lane,
		      struct torus_eye *out)
{
	out->swing = 300;
	out->map[3][4] = 5;
	return note(h, "eye_get %u lane %u", port, lane);
}

static bool on_rows(struct torus_hw *h, u32 *n, u64 *active)
{
	if (!h->placed)
		return false;
	*n = of(h)->rows;
	*active = of(h)->version;
	return true;
}

static int on_rows_begin(struct torus_hw *h, u64 v)
{
	return note(h, "rows_begin %llu", (unsigned long long)v);
}

static int on_rows_put(struct torus_hw *h, u64 v, u32 first, const void *from, u32 n)
{
	u64 row;

	note(h, "rows_put %llu from %u:", (unsigned long long)v, first);
	for (u32 i = 0; i < n; i++) {
		memcpy(&row, (const u8 *)from + i * sizeof(row), sizeof(row));
		note(h, " %llu", (unsigned long long)row);
	}
	return note(h, ";");
}

static int on_rows_commit(struct torus_hw *h, u64 v)
{
	return note(h, "rows_commit %llu", (unsigned long long)v);
}

static int on_rows_get(struct torus_hw *h, u32 first, u32 n, void *to)
{
	for (u32 i = 0; !of(h)->error && i < n; i++) {
		u64 row = 1000 + first + i;

		memcpy((u8 *)to + i * sizeof(row), &row, sizeof(row));
	}
	return of(h)->error;
}

static int on_hold(struct torus_hw *h, const u32 *nodes, u32 n)
{
	note(h, "hold");
	for (u32 i = 0; i < n; i++)
		note(h, " %u", nodes[i]);
	return of(h)->error;
}

static int on_release(struct torus_hw *h, u64 v, bool give_up)
{
	return note(h, "release %llu %d", (unsigned long long)v, give_up);
}

static int on_flow_get(struct torus_hw *h, struct torus_flow *out)
{
	*out = (struct torus_flow) { .version = 50, .epoch = 51 };
	return note(h, "flow_get");
}

static int on_park_get(struct torus_hw *h, struct torus_park *out)
{
	*out = (struct torus_park) { .parked = 60, .held = 61, .flow = { .version = 62 } };
	return note(h, "park_get");
}

static int on_park_flows_get(struct torus_hw *h, struct torus_park_flows *out)
{
	*out = (struct torus_park_flows) { .nflows = 1, .flow = { { 1, 2, 1, 3, 4, 5 } },
					   .more = 6 };
	return note(h, "park_flows_get");
}

static int on_park_resolve(struct torus_hw *h, unsigned int port, u32 session, u16 seq, bool dead)
{
	return note(h, "park_resolve %u session %u seq %u dead %d", port, session, seq, dead);
}

static int on_park_replay(struct torus_hw *h, u64 v, u32 ports)
{
	return note(h, "park_replay %llu %#x", (unsigned long long)v, ports);
}

static int on_mgmt_send(struct torus_hw *h, unsigned int port, const u8 *data, u32 len)
{
	return note(h, "mgmt_send %u '%.*s'", port, (int)len, (const char *)data);
}

static const struct torus_hw_ops all_ops = {
	.injects = true, .place = on_place, .plan = on_plan, .device_get = on_device_get, .link_get = on_link_get,
	.link_set = on_link_set, .link_attach = on_link_attach, .eye_get = on_eye_get,
	.rows = on_rows, .rows_begin = on_rows_begin, .rows_put = on_rows_put,
	.rows_commit = on_rows_commit, .rows_get = on_rows_get, .hold = on_hold,
	.release = on_release, .flow_get = on_flow_get, .park_get = on_park_get,
	.park_flows_get = on_park_flows_get,
	.park_resolve = on_park_resolve, .park_replay = on_park_replay, .mgmt_send = on_mgmt_send,
};

void recorder_start(struct recorder *r)
{
	*r = (struct recorder) {
		.ops = all_ops, .rows = RECORDER_ROWS, .version = 6,
		.hw = {
			.ops = &r->ops, .driver = "recorder-of-requests", .ifindex = 5, .ifname = "torus5",
			.guid = 0x1122334455667788, .epoch = 21, .nports = 4, .bootstrap = true,
			.placed = true, .name = "n9",
			.shape = { .ndims = 2, .size = { 4, 3, 1, 1, 1, 1 } },
			.at = { { 1, 2 } }, .node = 9, .plan = tn_plan_default, .rows_gen = 1,
		},
	};
}

/* --- requests ----------------------------------------------------------------------- */

/* Return: where it ends. */
static u8 *put(u8 *at, const struct value *a)
{
	struct nlattr head = { .nla_len = (u16)(sizeof(head) + a->len), .nla_type = (u16)a->type };

	memcpy(at, &head, sizeof(head));
	memcpy(at + sizeof(head), a->data ? a->data : &a->v, a->len);
	return at + (sizeof(head) + a->len + 3) / 4 * 4;
}

void recorder_request(struct recorder *r, unsigned int cmd, bool dump, const struct value *with)
{
	struct torus_refusal why;
	u8 *end = r->attrs.bytes;

	/* Behind the attributes lies nothing that would be good. */
	memset(r->attrs.bytes, 0xff, sizeof(r->attrs.bytes));
	for (; with->type; with++) {
		assert_true(end + 8 + with->len <= r->attrs.bytes + sizeof(r->attrs));
		end = put(end, with);
	}
	/* Members that are not set are as they may lie on a stack. */
	memset(&r->req, 0xa5, sizeof(r->req));
	r->req.cmd = cmd;
	r->req.tb = r->tb;
	r->req.attrs = (struct torus_span) { r->attrs.bytes, (size_t)(end - r->attrs.bytes) };
	r->req.from = RECORDER_FROM;
	if (torus_check_request(cmd, dump, r->req.attrs, r->tb, &why))
		fail_msg("%s: %s", torus_cmd_name(cmd), why.text);
	r->asked[0] = 0;
}

int recorder_run(struct recorder *r, unsigned int cmd, const struct value *with)
{
	recorder_request(r, cmd, false, with);
	return torus_req_run(&r->hw, &r->req);
}

void recorder_refused(const struct recorder *r, const struct torus_hw *before, const char *text,
		      unsigned int attr)
{
	assert_string_equal(r->req.why.text, text);
	assert_int_equal(r->req.why.attr ? torus_attr_type(r->req.why.attr) : 0, attr);
	assert_memory_equal(&r->hw, before, offsetof(struct torus_hw, reply));
}
