// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <torus/route.h>
#include <torus/torus.h>

#include "tests/unit/fake_manager.h"

static int listener;
static pthread_t thread;

static json_t *place(const struct fake *f, uint32_t id)
{
	json_t *list = json_array();
	struct torus_coords at;

	torus_node_coords(&f->shape, id, &at);
	for (unsigned int d = 0; d < f->shape.ndims; d++)
		json_array_append_new(list, json_integer(at.c[d]));
	return list;
}

static json_t *shape_of(const struct fake *f)
{
	json_t *list = json_array();

	for (unsigned int d = 0; d < f->shape.ndims; d++)
		json_array_append_new(list, json_integer(f->shape.size[d]));
	return list;
}

static char *name_of(const struct fake *f, uint32_t id, char *buf)
{
	char text[TORUS_TEXT_MAX];

	snprintf(buf, TORUS_TEXT_MAX, "n%.62s", torus_node_text(&f->shape, id, text));
	for (char *p = buf; *p; p++)
		if (*p == ',')
			*p = '-';
	return buf;
}

static const char *state_of(const struct fake *f, uint32_t id)
{
	return f->dead[id] ? "dead" : f->rootless && f->silent[id] ? "unknown" : "up";
}

static json_t *candidate(const struct fake *f, uint32_t id, int priority)
{
	char name[TORUS_TEXT_MAX];

	return json_pack("{so ss si sb ss?}", "node", place(f, id), "name", name_of(f, id, name),
			 "priority", priority, "heard", !f->dead[id], "disk", id ? "behind" : NULL);
}

static json_t *candidates(const struct fake *f)
{
	return f->no_candidate ? json_array() : json_pack("[oo]", candidate(f, 0, 255), candidate(f, 1, 100));
}

static json_t *root(const struct fake *f)
{
	const char *state = f->root_state ? f->root_state : f->rootless ? "lost" : "leads";
	char name[TORUS_TEXT_MAX];

	return json_pack("{so ss? ss? ss sI sf ss sb so si si s{si si si si} s{ss ss si sf ss?} so}",
			 "node", f->unnamed ? json_null() : place(f, f->root),
			 "name", f->unnamed ? NULL : name_of(f, f->root, name),
			 "address", f->unnamed ? "172.30.0.1:7117" : NULL, "state", state, "epoch", (json_int_t)3,
			 "since", 1700000000.0, "why", "root 'n9-9' lost", "reachable", !f->rootless,
			 "unreachable_since", f->rootless ? json_real(1700000000) : json_null(),
			 "here", f->root_here ? (int)f->root_here : 2, "need", f->root_state ? 9 : 0,
			 "calls", "called", (int)f->calls[0], "follow", (int)f->calls[1],
			 "others", (int)f->calls[2], "unknown", (int)f->calls[3],
			 "arbiter", "program", "/lib/arbiter", "answer", f->refuses_move ? "unknown" : "granted",
			 "epoch", 3, "time", 1700000000.0, "why", f->refuses_move ? "it is down" : NULL,
			 "candidates", candidates(f));
}

static json_t *move(struct fake *f, uint32_t node)
{
	bool changed = f->root != node;

	if (!f->refuses_move)
		f->root = node;
	return json_pack("{so sb}", "node", place(f, node), "changed", changed);
}

static bool is_out(const struct fake *f, uint32_t id)
{
	return f->admin[id] == (1u << 2 * f->shape.ndims) - 1;
}

static json_t *status(const struct fake *f)
{
	json_t *problems = json_array(), *held = json_array(), *j;
	uint32_t up = 0, out = 0;

	for (uint32_t id = 0; id < f->nodes; id++) {
		up += !f->dead[id];
		out += is_out(f, id);
		if (f->dead[id])
			json_array_append_new(problems, json_pack("{ss ss}", "kind", "node",
					      "text", "a node is dead"));
		if (f->held[id])
			json_array_append_new(held, json_pack("{so ss sn sf}", "node", place(f, id),
					      "port", "+x", "peer", "left_ms", 12500.0));
	}
	j = json_pack("{so ss sI s{si si si} s{si si si si si} si si so s{si si} s{so ss} ss so so "
			 "s{sI ss sf sf si si si s{sf sf sf sf sn sf}}}",
			 "shape", shape_of(f), "state", f->state, "table_version",
			 (json_int_t)f->table_version, "nodes", "total", f->nodes, "up", up, "excluded", out,
			 "links", "total", 2 * f->nodes, "up", 2 * f->nodes - !f->whole, "faulty", !f->whole,
			 "excluded", (int)f->out_links, "wrong", (int)f->wrong_links, "parked_packets", 3, "relayed_pairs", 12,
			 "root", root(f), "heard", "nodes", f->rootless ? 1 : f->nodes, "links",
			 f->rootless ? 4 : 2 * f->nodes, "own", "node", place(f, 1), "name", "n1-0",
			 "fabric", "fake", "problems", problems, "held_links", held, "last_recovery", "version",
			 (json_int_t)f->table_version, "cause", "link 0,0:+x down", "started",
			 1700000000.5, "duration_ms", 12.5, "parked", 83, "replayed", 83, "lost",
			 0, "timeline", "detected", 0.0, "table", 1.25, "rebuilt", 4.0, "drained",
			 6.0, "replayed", "resumed", 12.5);
	json_object_set_new(j, "problems_more", json_integer(f->more_problems));
	if (f->faulty)
		json_object_set_new(j, "faulty", json_loads(f->faulty, 0, NULL));
	if (f->recovery)
		json_object_set_new(j, "recovery", json_loads(f->recovery, 0, NULL));
	for (unsigned int i = 0; i < f->orders; i++) {
		if (!i)
			json_object_set_new(j, "orders", json_array());
		json_array_append_new(json_object_get(j, "orders"), json_pack("{so s[s] si ss sI ss}",
				      "node", place(f, i), "ports", "+x", "uid", i ? 4000000 : 0, "by", "n0-0",
				      "since", f->ordered ? f->ordered : 1700000000, "reason", "dust"));
	}
	return j;
}

/* The nodes that a question is about: one, some, or all. */
struct range {
	uint32_t from, to;
};

static char *guid_of(uint32_t id, char *buf)
{
	sprintf(buf, "%016x", 0xaa + id);
	return buf;
}

static json_t *nodes(const struct fake *f, struct range of)
{
	json_t *list = json_array();
	char name[TORUS_TEXT_MAX], guid[20];

	for (uint32_t id = of.from; id < of.to; id++)
		json_array_append_new(list, json_pack("{so ss si ss ss ss so sn ss so sb sb}", "node",
				      place(f, id), "name", name_of(f, id, name), "id", id,
				      "guid", guid_of(id, guid), "state", state_of(f, id),
				      "address", "10.0.0.0", "table_version", f->silent[id] ?
				      json_null() : json_integer((json_int_t)f->version[id]),
				      "parent", "software", "0.1.0", "heard_ms", f->silent[id] ?
				      json_real(2100) : json_real(0), "excluded", is_out(f, id),
				      "rootless", f->rootless));
	return list;
}

static json_t *link_json(const struct fake *f, uint32_t id, unsigned int port)
{
	unsigned int n = f->shape.ndims, back = torus_dir_opposite(&f->shape, port);
	char text[TORUS_TEXT_MAX], peer[TORUS_TEXT_MAX];
	bool out = f->excluded[id] & 1 << port, held = f->held[id] & 1 << port;

	return json_pack("{so ss s{so ss} ss ss ss si sb so so sb ss si ss ss sI sI sI si sI sI}", "node", place(f, id),
			 "port", torus_port_text(n, port, text), "peer", "node",
			 place(f, torus_neighbour(&f->shape, id, port)), "port",
			 torus_port_text(n, back, peer), "state", out ? "faulty" : "up", "reason",
			 out ? "carrier" : "none", "last_reason", "silence", "downs", out ? 2 : 0, "admin", 1, "excluded",
			 held ? json_string("held") : out ? json_string("fault") : json_null(),
			 "held_ms", held ? json_real(12500) : json_null(), "closed", 0, "lower", "px+",
			 "session", 1, "retry", "hippi", "retry_wanted", "auto", "state_age",
			 (json_int_t)90 * 1000000000, "retries", (json_int_t)(out ? 1500 : 0),
			 "crc_errors", (json_int_t)2, "retrains", 4, "tx_bytes",
			 (json_int_t)(5 << 20), "rx_bytes", (json_int_t)(6 << 20));
}

/* Adds what a receiver on a modelled line reports. */
static void add_serdes(const struct fake *f, uint32_t id, unsigned int port, json_t *link)
{
	json_t *more = json_pack("{si si si si si si s{si si si si si si si si} s[{ss si si sf si si si si si si}{ss}{ss}]}",
				 "lanes", 12, "width", f->narrow[id] & 1 << port ? 10 : 12,
				 "rate", 5000, "rate_max", 6250, "margin", 131, "margin_train",
				 110, "line", "length", 500, "loss", 2000, "crosstalk", 10,
				 "temperature", -20, "drift", 0, "ageing", 0, "aged", 0, "dead",
				 0, "lane", "state", "on", "rate", 5000, "margin", 131, "ber",
				 2.5e-13, "pre", 3, "post", 5, "ctle", 2, "dfe", 1, "height", 120,
				 "width", 450, "state", "off", "state", "dead");

	json_object_update(link, more);
	json_decref(more);
}

static json_t *link_of(const struct fake *f, uint32_t id, unsigned int port)
{
	json_t *l = link_json(f, id, port);

	if (f->narrow[id] & 1 << port)
		add_serdes(f, id, port, l);
	if (f->differs[id] & 1 << port) {
		json_t *more = json_pack("{ss ss s{ss ss ss}}", "state", "init", "reason", "bubble", "differs",
					 "parameter", "bubble", "own", "mbs", "peer", "bloc");

		json_object_update(l, more);
		json_decref(more);
	}
	if (f->swapped[id] & 1 << port)
		json_object_set_new(l, "expected", json_pack("{so ss}", "node", place(f, f->nodes - 1),
							     "port", "-y"));
	return l;
}

static json_t *degraded(const struct fake *f)
{
	json_t *list = json_array();

	for (uint32_t id = 0; id < f->nodes; id++)
		for (unsigned int p = 0; p < 2u * f->shape.ndims; p++)
			if (f->narrow[id] & 1 << p)
				json_array_append_new(list, link_of(f, id, p));
	return list;
}

static json_t *links(struct fake *f, struct range of)
{
	json_t *list = json_array();

	for (uint32_t id = of.from; id < of.to; id++)
		for (unsigned int p = 0; p < 2u * f->shape.ndims; p++)
			if (f->shape.size[p % f->shape.ndims] > 1) {
				json_t *l = link_of(f, id, p);

				if (f->queued)
					json_object_set_new(l, "queued_packets", json_integer(p + 1));
				json_object_set_new(l, "rx_packets", json_integer(2000000 - f->flowing +
										  f->inits));
				json_object_set_new(l, "mgmt_rx", json_integer(f->inits));
				json_array_append_new(list, l);
			}
	f->queued -= f->queued > 0;
	f->flowing -= f->flowing > 0;
	f->inits += f->inits > 0;
	return list;
}

static json_t *counters(const struct fake *f, struct range of)
{
	json_t *list = json_array();

	for (uint32_t id = of.from; id < of.to; id++)
		if (!f->silent[id])
			json_array_append_new(list, json_pack("{so sI si si si si si si si si si si "
					      "s{s[iiii]}}", "node", place(f, id), "injected",
					      (json_int_t)1234567, "delivered", 7, "forwarded", 8,
					      "relay_forwarded", 9, "parked", 10, "replayed", 11,
					      "unreachable", 12, "reordered", 13, "duplicates", 14,
					      "lost", id, "host_drops", 16, "flow", "injected",
					      1, 2, 3, 4));
	return list;
}

static json_t *rows(const struct fake *f, uint32_t id, bool joined)
{
	json_t *list = json_array();
	char text[FAKE_NODES_MAX * 16 + 1] = "";

	for (uint32_t to = 0; to < f->nodes; to++) {
		char *hex = text + (joined ? to * 16 : 0);

		snprintf(hex, 17, "%016" PRIx64, f->row[id][to]);
		if (!joined)
			json_array_append_new(list, json_string(hex));
	}
	if (joined) {
		json_decref(list);
		list = json_string(text);
	}
	return json_pack("{so sI so}", "node", place(f, id), "version",
			 (json_int_t)f->version[id], "rows", list);
}

static json_t *runs(const struct fake *f, uint32_t id)
{
	char text[FAKE_NODES_MAX * 17 + 1] = "";
	int n = 0;

	for (uint32_t to = 0, end; to < f->nodes; to = end) {
		for (end = to + 1; end < f->nodes && f->row[id][end] == f->row[id][to]; end++)
			;
		n += sprintf(text + n, "%s%016" PRIx64, to ? "," : "", f->row[id][to]);
		if (end - to > 1)
			n += sprintf(text + n, "*%u", end - to);
	}
	return json_pack("{so sI ss}", "node", place(f, id), "version",
			 (json_int_t)f->version[id], "rows", text);
}

/* Return: those of @count nodes from @first on that answer. */
static json_t *rows_of_several(const struct fake *f, uint32_t first, const json_t *request)
{
	json_int_t count = json_integer_value(json_object_get(request, "count"));
	bool as_runs = json_is_true(json_object_get(request, "runs"));
	json_t *list = json_array();

	for (uint32_t id = first; id < f->nodes && id - first < count; id++)
		if (!f->silent[id])
			json_array_append_new(list, as_runs ? runs(f, id) : rows(f, id, true));
	return list;
}

static json_t *table(const struct fake *f)
{
	json_t *excluded = json_array(), *list = json_array();
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < f->nodes; id++) {
		json_t *ports = json_object();

		json_array_append_new(list, json_pack("{so ss so}", "node", place(f, id), "state",
				      f->dead[id] ? "dead" : "up", "ports", ports));
		for (unsigned int p = 0; p < 2u * f->shape.ndims; p++)
			if (f->excluded[id] & 1 << p) {
				json_object_set_new(ports, torus_port_text(f->shape.ndims, p, text),
						    json_string(f->admin[id] & 1 << p ? "admin" : "fault"));
				json_array_append_new(excluded, json_pack("{so ss ss}", "node",
						      place(f, id), "port",
						      torus_port_text(f->shape.ndims, p, text),
						      "why", f->admin[id] & 1 << p ?
						      "admin" : "fault"));
			}
	}
	return json_pack("{sI si so so so}", "version", (json_int_t)f->table_version, "epoch", 3, "shape",
			 shape_of(f), "excluded", excluded, "nodes", list);
}

/* @what: "1,0", or "1,0:+x", which excludes both ends of that cable */
static void exclude(struct fake *f, const char *what)
{
	const char *colon = strchr(what, ':');
	struct torus_coords at;
	char node[TORUS_TEXT_MAX];
	unsigned int only;
	uint32_t id;

	snprintf(node, sizeof(node), "%.*s", colon ? (int)(colon - what) : 63, what);
	if (torus_coords_parse(node, &f->shape, &at) ||
	    (colon && torus_port_parse(colon + 1, f->shape.ndims, &only)))
		return;
	id = torus_node_id(&f->shape, &at);
	for (unsigned int p = 0; p < 2u * f->shape.ndims; p++) {
		uint32_t peer = torus_neighbour(&f->shape, id, p);
		uint16_t back = (uint16_t)(1u << torus_dir_opposite(&f->shape, p));

		if (colon && p != only)
			continue;
		f->excluded[id] |= (uint16_t)(1u << p);
		f->admin[id] |= (uint16_t)(1u << p);
		f->excluded[peer] |= back;
		f->admin[peer] |= back;
	}
}

static void exclude_all(struct fake *f, const json_t *request)
{
	const char *node = json_string_value(json_object_get(request, "node"));
	const char *port = json_string_value(json_object_get(request, "port"));
	char what[2 * TORUS_TEXT_MAX];
	json_t *v;
	size_t i;

	json_array_foreach(json_object_get(request, "links"), i, v)
		exclude(f, json_string_value(v));
	snprintf(what, sizeof(what), "%s%s%s", node ? node : "", port ? ":" : "", port ? port : "");
	exclude(f, what);
}

static json_t *changed(struct fake *f, const json_t *request)
{
	json_t *j;

	if (!f->forgets && !strcmp(json_string_value(json_object_get(request, "cmd")), "exclude"))
		exclude_all(f, request);
	j = table(f);
	if (!f->former)
		json_object_set_new(j, "changed", json_boolean(!f->unchanged));
	if (f->unchanged)
		f->unchanged--;
	json_object_set_new(j, "in_force", json_boolean(!f->late));
	json_object_set_new(j, "kept", f->kept_of ? json_pack("{si si}", "have", (int)f->kept_have,
							      "of", (int)f->kept_of) : json_null());
	f->kept_have += f->kept_gain;
	return j;
}

static json_t *park(const struct fake *f, int only, bool flows)
{
	json_t *list = json_array();

	for (uint32_t id = 0; id < f->nodes; id++)
		if (only < 0 || (uint32_t)only == id)
			json_array_append_new(list, json_pack("{so si si sI sI si}", "node",
					      place(f, id), "parked", f->at_rest ? 0 : id, "unresolved",
					      2, "bytes", (json_int_t)id * 4096, "bytes_max",
					      (json_int_t)16 << 20, "held", f->at_rest ? 0 : 5));
	if (flows)
		json_object_update_new(json_array_get(list, 0), json_pack("{s[{so so ss si si si}] si}",
				       "flows", "from", place(f, 0), "to", place(f, 1), "vc", "vcd0",
				       "packets", 3, "bytes", 4096, "age", 0, "more", 0));
	return list;
}

/* Return: the node that a request names; -1: none; -2: no node of this fabric. */
static int node_of(const struct fake *f, const json_t *request, const char *key)
{
	const char *text = json_string_value(json_object_get(request, key));
	struct torus_coords at;
	char copy[TORUS_TEXT_MAX], name[TORUS_TEXT_MAX];

	if (!text)
		return -1;
	for (uint32_t id = 0; id < f->nodes; id++)
		if (!strcmp(text, name_of(f, id, name)))
			return (int)id;
	snprintf(copy, sizeof(copy), "%s", text);
	return torus_coords_parse(copy, &f->shape, &at) ? -2 : (int)torus_node_id(&f->shape, &at);
}

/* The job "mine" of the corner 0,0 to 1,1: each node is beside the one with the number before. */
static json_t *jobs(const struct fake *f, const json_t *request)
{
	static const uint8_t corner[][2] = { { 1, 0 }, { 0, 0 }, { 0, 1 }, { 1, 1 } };
	const char *wanted = json_string_value(json_object_get(request, "name"));
	json_t *members = json_array();
	const char *state = "runs";
	char name[32];

	if (!wanted) {
		json_decref(members);
		return f->job ? json_pack("{si s[{ss si ss si ss si}]}", "version", 7, "jobs", "name",
					  "mine", "nodes", 4, "state", "runs", "uid", 0, "by", "n1-0",
					  "since", 1700000000) :
				json_pack("{si s[]}", "version", 7, "jobs");
	}
	if (strcmp(wanted, "mine") || f->shape.ndims != 2) {
		json_decref(members);
		return NULL;
	}
	for (unsigned int i = 0; i < 4; i++) {
		uint32_t id = corner[i][0] + corner[i][1] * f->shape.size[0];

		if (f->dead[id])
			state = "degraded";
		json_array_append_new(members, json_pack("{si so ss ss sb}", "number", i, "node",
			place(f, id), "name", name_of(f, id, name), "state",
			f->dead[id] ? "down" : "up", "excluded", 0));
	}
	return json_pack("{si s[{ss si ss so}]}", "version", 7, "jobs", "name", "mine", "nodes", 4,
			 "state", state, "members", members);
}

static json_t *coord(const struct fake *f, const json_t *request)
{
	int id = node_of(f, request, "name");
	char name[TORUS_TEXT_MAX];

	if (id == -2)
		return NULL;
	id = id < 0 ? 0 : id;
	return json_pack("{so ss si ss so so}", "node", place(f, (uint32_t)id), "name",
			 name_of(f, (uint32_t)id, name), "id", id, "address", "10.0.0.0", "shape",
			 shape_of(f), "own", place(f, 0));
}

static struct range range_of(const struct fake *f, const json_t *request, int node)
{
	json_int_t count = json_integer_value(json_object_get(request, "count"));
	struct range r = { 0, f->nodes };

	if (node < 0)
		return r;
	r.from = (uint32_t)node;
	r.to = count ? r.from + (uint32_t)count : r.from + 1;
	return r.to > f->nodes ? (struct range){ r.from, f->nodes } : r;
}

/* Answers with the eye of a lane on which no bit is right. */
static json_t *eye(const struct fake *f, uint32_t id, const json_t *request)
{
	char row[2 * TORUS_EYE_COLS + 1];
	json_t *rows = json_array();

	memset(row, '0', sizeof(row) - 1);
	row[sizeof(row) - 1] = '\0';
	for (unsigned int r = 0; r < TORUS_EYE_ROWS; r++)
		json_array_append_new(rows, json_string(row));
	return json_pack("{so sO sO si si si so}", "node", place(f, id), "port",
			 json_object_get(request, "port"), "lane",
			 json_object_get(request, "lane"), "swing", 400, "mask_height", 60,
			 "mask_width", 150, "rows", rows);
}

static json_t *early_answer(const struct fake *f, const char *cmd)
{
	if (strcmp(cmd, "status"))
		return NULL;
	return json_pack("{s[] ss so}", "shape", "state", "bootstrapping", "own",
			 json_loads(f->early, 0, NULL));
}

static json_t *event(const struct fake *f, int seq, const char *text)
{
	return json_pack("{si sf so ss ss ss ss}", "seq", seq, "time", 1700000000.25 + seq, "node",
			 place(f, 1), "level", "warning", "kind", "link", "text", text, "log", "ab");
}

/*
 * Answers with the history in two parts, or the last events in one; and each time after that with
 * the new events.
 */
static json_t *history(const struct fake *f, const json_t *request)
{
	const char *after = json_string_value(json_object_get(request, "after"));
	int at = after ? atoi(after + 3) : 0;
	bool last = json_object_get(request, "last");
	json_t *list = json_pack("[o]", event(f, at + 7, at ? "link 2,0:+x up" : "link 1,0:+x down"));
	char next[16];

	if (last)
		json_array_append_new(list, event(f, 8, "link 2,0:+x up"));
	snprintf(next, sizeof(next), "ab:%d", at + 1);
	return json_pack("{so ss sb sb so ss s{si sf} sn}", "events", list, "after", next,
			 "more", !at && !last, "lost", 0, "node", place(f, 0), "name", "n0-0",
			 "kept", "events", 9, "since", 1700000000.0, "problem");
}

/*
 * Answers with configurations: node 1 has another keepalive, node 3 is of a release with one key
 * less; all names differ.
 */
static json_t *configs(const struct fake *f, struct range of, bool values)
{
	json_t *all = json_array(), *j;
	char name[32];

	for (uint32_t i = of.from; i < of.to; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		j = json_pack("{so ss ss ss}", "node", place(f, i), "name", name, "software",
			      i == 3 ? "0.0.9" : "0.1.0", "file", "/f.conf");
		if (!values)
			json_object_set_new(j, "config", json_pack("[{ss ss ss ss si}{ss ss ss ss sn}{ss ss sn ss sn}]",
				"section", "timers", "key", "keepalive", "value", "2s", "source", "file", "line", 17,
				"section", "links", "key", "warn_ber", "value", "1e-10", "source", "default", "line",
				"section", "options", "key", "record", "value", "source", "default", "line"));
		else
			json_object_set_new(j, "values", json_pack("{ss ss ss}", "timers.keepalive",
				i == 1 ? "2s" : "1s", i == 3 ? "name" : "fanout", i == 3 ? "x" : "8", "name", name));
		json_array_append_new(all, j);
	}
	return all;
}

json_t *fake_answer(struct fake *f, const json_t *request)
{
	const char *cmd = json_string_value(json_object_get(request, "cmd"));
	int node = node_of(f, request, "node");
	struct range of = range_of(f, request, node);

	if (!cmd || node == -2)
		return NULL;
	if (f->early)
		return early_answer(f, cmd);
	f->mute = !strcmp(cmd, "links") && node >= 0 && f->silent[node] &&
		  !json_object_get(request, "count");
	if (f->mute)
		return NULL;
	if (f->cuts_off && !strcmp(cmd, "exclude") && !json_object_get(request, "force"))
		return NULL;
	if (f->former && (json_object_get(request, "runs") || json_object_get(request, "force") ||
			  (strcmp(cmd, "status") && json_object_get(request, "links"))))
		return NULL;
	if (f->root_away && (!strcmp(cmd, "rows") || !strcmp(cmd, "exclude") || !strcmp(cmd, "move")))
		return NULL;
	if (!strcmp(cmd, "status"))
		return status(f);
	if (!strcmp(cmd, "root"))
		return root(f);
	if (!strcmp(cmd, "move"))
		return move(f, (uint32_t)node);
	if (!strcmp(cmd, "nodes"))
		return nodes(f, of);
	if (!strcmp(cmd, "links") && f->former &&
	    (json_object_get(request, "brief") || json_object_get(request, "bad") ||
	     json_object_get(request, "errors")))
		return NULL;
	if (!strcmp(cmd, "links") && json_is_true(json_object_get(request, "degraded")))
		return degraded(f);
	if (!strcmp(cmd, "links"))
		return links(f, of);
	if (!strcmp(cmd, "counters"))
		return counters(f, of);
	if (!strcmp(cmd, "rows") && node >= 0 && json_object_get(request, "count"))
		return rows_of_several(f, (uint32_t)node, request);
	if (!strcmp(cmd, "rows") && node >= 0 && !f->silent[node])
		return rows(f, (uint32_t)node, false);
	if (!strcmp(cmd, "park"))
		return park(f, node, json_is_true(json_object_get(request, "flows")));
	if (!strcmp(cmd, "jobs"))
		return jobs(f, request);
	if (!strcmp(cmd, "coord"))
		return coord(f, request);
	if (!strcmp(cmd, "table"))
		return table(f);
	if (!strcmp(cmd, "exclude") || !strcmp(cmd, "include"))
		return changed(f, request);
	if (!strcmp(cmd, "port"))
		return json_pack("{so sO sO}", "node", place(f, (uint32_t)node), "port",
				 json_object_get(request, "port"), "up",
				 json_object_get(request, "up"));
	if (!strcmp(cmd, "eye"))
		return eye(f, (uint32_t)node, request);
	if (!strcmp(cmd, "retrain"))
		return json_pack("{so sO}", "node", place(f, (uint32_t)node), "port",
				 json_object_get(request, "port"));
	if (!strcmp(cmd, "retry"))
		return json_pack("{so sO sO}", "node", place(f, (uint32_t)node), "port",
				 json_object_get(request, "port"), "retry_wanted",
				 json_object_get(request, "protocol"));
	if (!strcmp(cmd, "replay"))
		return json_pack("{si}", "parked", node);
	if (!strcmp(cmd, "log"))
		return json_pack("{ss}", "level", json_object_get(request, "level") ?
				 json_string_value(json_object_get(request, "level")) : "info");
	if (!strcmp(cmd, "config"))
		return configs(f, of, json_is_true(json_object_get(request, "values")));
	if (!strcmp(cmd, "history"))
		return history(f, request);
	if (!strcmp(cmd, "events"))
		return json_pack("[{si sf so ss ss ss}]", "seq", 7, "time", 1700000000.25, "node",
				 place(f, 1), "level", "warning", "kind", "link", "text",
				 "link 1,0:+x down");
	return NULL;
}

static json_t *missing(const struct fake *f)
{
	json_t *list = json_array();

	for (uint32_t id = 0; id < f->nodes; id++)
		if (f->silent[id])
			json_array_append_new(list, place(f, id));
	return list;
}

/* Leaves all but one of the data's elements to the replies that follow. */
static json_t *split(json_t *data)
{
	json_t *rest = json_copy(data);

	json_array_remove(rest, 0);
	while (json_array_size(data) > 1)
		json_array_remove(data, 1);
	return rest;
}

static json_t *rootless(const struct fake *f)
{
	if (!f->rootless)
		return json_null();
	return json_pack("{sf sI s{so ss}}", "since", 1700000000.0, "table_version",
			 (json_int_t)f->table_version, "own", "node", place(f, 1), "name", "n1-0");
}

static char *reply_with(struct fake *f, json_t *data, bool more)
{
	json_t *reply;
	char *text;

	if (data)
		reply = json_pack("{sb so so sb so}", "ok", 1, "data", data, "missing", missing(f),
				  "more", more, "rootless", rootless(f));
	else
		reply = json_pack("{sb ss ss}", "ok", 0, "code", f->early ? "not-ready" :
				  f->root_away || f->mute ? "unreachable" : f->cuts_off ? "cuts-off" : "usage", "error",
				  f->early ? "the fabric is still bootstrapping" :
				  f->root_away ? "there is no root" : "no such thing in this fabric");
	text = json_dumps(reply, JSON_COMPACT);
	json_decref(reply);
	return text;
}

/* Return: the last reply to a request, after sending those before it. */
static char *reply_to(struct fake *f, const char *line, int fd)
{
	json_t *data, *rest;

	if (f->raw)
		return strdup(f->raw);
	json_decref(f->request);
	f->request = json_loads(line, 0, NULL);
	data = fake_answer(f, f->request);
	while (f->split && json_array_size(data) > 1) {
		char *text;

		rest = split(data);
		text = reply_with(f, data, true);
		dprintf(fd, "%s\n", text);
		free(text);
		data = rest;
	}
	return reply_with(f, data, false);
}

static bool json_text_is(const json_t *j, const char *key, const char *text)
{
	const char *is = json_string_value(json_object_get(j, key));

	return is && !strcmp(is, text);
}

static void serve_one(struct fake *f, int fd)
{
	FILE *in = fdopen(fd, "r");
	char line[4096];

	while (fgets(line, sizeof(line), in)) {
		char *text = reply_to(f, line, fd);

		dprintf(fd, "%s\n", text);
		/* A client follows: it gets two events, then the manager goes away. */
		if (json_text_is(f->request, "after", "ab:2")) {
			free(text);
			unlink(f->path);
			break;
		}
		if (json_is_true(json_object_get(f->request, "follow"))) {
			dprintf(fd, "%s\n", text);
			free(text);
			unlink(f->path);
			break;
		}
		free(text);
	}
	fclose(in);
}

static void *serve(void *arg)
{
	int fd;

	while ((fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0)
		serve_one(arg, fd);
	return NULL;
}

void fake_rows(struct fake *f)
{
	struct torus_health *health;

	if (torus_health_new(&f->shape, f->excluded, &health))
		abort();
	for (uint32_t id = 0; id < f->nodes; id++) {
		if (torus_health_rows(health, id, TORUS_ROUTES_RELAY, f->row[id]) < 0)
			abort();
		f->version[id] = f->table_version;
	}
	torus_health_free(health);
}

void fake_start(struct fake *f, const char *shape)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	memset(f, 0, sizeof(*f));
	torus_shape_parse(shape, &f->shape);
	f->nodes = torus_nodes(&f->shape);
	f->state = "running";
	f->table_version = 7;
	fake_rows(f);
	snprintf(f->path, sizeof(f->path), "/tmp/test_fabricctl.%d", getpid());
	unlink(f->path);
	strcpy(sa.sun_path, f->path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (struct sockaddr *)&sa, sizeof(sa)) || listen(listener, 8) ||
	    pthread_create(&thread, NULL, serve, f))
		abort();
}

void fake_stop(struct fake *f)
{
	shutdown(listener, SHUT_RDWR);
	pthread_join(thread, NULL);
	close(listener);
	unlink(f->path);
	json_decref(f->request);
	f->request = NULL;
}

struct fake fake;

int fake_setup(void **state)
{
	(void)state;
	fake_start(&fake, "4x4");
	setenv("TORUS_CONTROL", fake.path, 1);
	setenv("COLUMNS", "200", 1);	/* tables have all columns */
	return 0;
}

int fake_teardown(void **state)
{
	(void)state;
	fake_stop(&fake);
	return 0;
}
