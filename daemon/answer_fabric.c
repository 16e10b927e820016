// SPDX-License-Identifier: GPL-2.0-only
/* Answers from the manager's table: status, nodes, coord. */
#include <arpa/inet.h>
#include <stdio.h>
#include "daemon/answer.h"
#include "daemon/keeper.h"
#include "daemon/schema.h"
#include "daemon/seal.h"
#include "daemon/fm/wire/msg.h"

#define REFUSED_RECENT	(60 * SEC)

json_t *node_json(const struct fabricd *d, uint32_t node)
{
	const struct torus_shape *shape;
	struct torus_coords at;
	json_t *j;

	if (!d->fm || node == TORUS_NO_NODE)
		return json_null();
	shape = fm_shape(d->fm);
	if (node >= torus_nodes(shape))
		return json_null();
	torus_node_coords(shape, node, &at);
	j = json_array();
	for (unsigned int i = 0; i < shape->ndims; i++)
		json_array_append_new(j, json_integer(at.c[i]));
	return j;
}

json_t *port_json(const struct fabricd *d, unsigned int port)
{
	char text[TORUS_TEXT_MAX];

	return json_string(torus_port_text(fm_shape(d->fm)->ndims, port, text));
}

json_t *text_json(const char *text)
{
	return text && *text ? json_string(text) : json_null();
}

/* --- status ---------------------------------------------------------------- */

double answer_wall(uint64_t at)
{
	return loop_wall() - (double)(loop_now() - at) * 1e-9;
}

static json_t *ms_since(uint64_t from, uint64_t at)
{
	return at ? json_real((double)(at - from) * 1e-6) : json_null();
}

static json_t *recovery_json(const struct fm_recovery *r)
{
	uint64_t first = r->at[FM_AT_DETECTED], last = first;
	json_t *line;

	if (!r->version)
		return json_null();
	line = json_object();
	for (unsigned int i = 0; i < FM_STAMPS; i++) {
		json_object_set_new(line, fm_stamp_name(i), ms_since(first, r->at[i]));
		if (r->at[i] > last)
			last = r->at[i];
	}
	return json_pack("{s:I, s:s, s:f, s:f, s:I, s:I, s:I, s:b, s:o}",
			 "version", (json_int_t)r->version, "cause", r->cause,
			 "started", answer_wall(first), "duration_ms",
			 (double)(last - first) * 1e-6,
			 "parked", (json_int_t)r->parked, "replayed", (json_int_t)r->replayed,
			 "lost", (json_int_t)r->lost, "bounded", r->bounded, "timeline", line);
}

/* Adds the recovery that goes on, with the time that it has taken so far; null: none does. */
static void add_present(json_t *status, const struct fm_recovery *r)
{
	json_t *j = recovery_json(r);

	if (r->version)
		json_object_set_new(j, "duration_ms",
				    json_real((double)(loop_now() - r->at[FM_AT_DETECTED]) * 1e-6));
	json_object_set_new(status, "recovery", j);
}

static void add_problem(json_t *list, const char *kind, const char *text)
{
	json_array_append_new(list, json_pack("{s:s, s:s}", "kind", kind, "text", text));
}

void add_local_problems(struct fabricd *d, json_t *list)
{
	const struct svc_stats *st = svc_stats(d->svc);
	char text[sizeof(st->last_refused) + FM_TEXT_MAX], mixed[FM_TEXT_MAX];
	unsigned int n = svc_mixed(d->svc, mixed, sizeof(mixed));
	const struct fm_problem *p;

	for (unsigned int i = 0; d->fm && (p = fm_problem(d->fm, i)); i++)
		add_problem(list, p->kind, p->text);
	if (!d->fm)
		add_problem(list, "nic", d->nic_text);
	if (keeper_problem(d->keeper)[0])
		add_problem(list, "history", keeper_problem(d->keeper));
	if (d->state_text[0])
		add_problem(list, "state", d->state_text);
	if (d->config_text[0])
		add_problem(list, "config", d->config_text);
	if (n) {
		snprintf(text, sizeof(text), "%u connection%s to managers of another release; "
			 "service schemas: this one up to %u, %s",
			 n, n == 1 ? "" : "s", schema_newest, mixed);
		add_problem(list, "release", text);
	}
	if (d->refused_at && loop_now() - d->refused_at < REFUSED_RECENT)
		add_problem(list, "seal", fabricd_refused_text(d, text, sizeof(text)));
	if (st->refused_at && loop_now() - st->refused_at < REFUSED_RECENT) {
		snprintf(text, sizeof(text), "refused %s", st->last_refused);
		add_problem(list, "refused", text);
	}
}

json_t *problems_json(struct fabricd *d)
{
	json_t *list = json_array(), *stalls, *v;
	size_t k;

	add_local_problems(d, list);
	stalls = stall_problems(d);
	json_array_foreach(stalls, k, v)
		add_problem(list, "stall", json_string_value(v));
	json_decref(stalls);
	return list;
}

/* Return: the cables that the root holds down because they flap; other nodes do not know them. */
static json_t *holds_json(const struct fabricd *d)
{
	json_t *list = json_array(), *peer;
	struct fm_hold h;

	for (unsigned int i = 0; d->fm && fm_held(d->fm, i, loop_now(), &h); i++) {
		peer = h.peer == TORUS_NO_NODE ? json_null() :
		       json_pack("{s:o, s:o}", "node", node_json(d, h.peer), "port",
				 port_json(d, h.peer_port));
		json_array_append_new(list,
			json_pack("{s:o, s:o, s:o, s:f}", "node", node_json(d, h.node), "port",
				  port_json(d, h.port), "peer", peer,
				  "left_ms", (double)h.left * 1e-6));
	}
	return list;
}

#define STATUS_FAULTY 64	/* most cables that a status lists */

static json_t *end_json(const struct fabricd *d, uint32_t node, unsigned int port)
{
	const struct fm_entry *e = fm_node(d->fm, node);

	return json_pack("{s:o, s:o, s:o}", "node", node_json(d, node), "port", port_json(d, port),
			 "name", text_json(e ? e->name : NULL));
}

static json_t *faulty_json(const struct fabricd *d, const struct fm_faulty *f)
{
	json_t *j = end_json(d, f->node, f->port);

	json_object_set_new(j, "peer", end_json(d, f->peer, f->peer_port));
	json_object_set_new(j, "reason", text_json(f->reason));
	json_object_set_new(j, "dead", node_json(d, f->dead));
	json_object_set_new(j, "for_ms", f->since ?
			    json_real((double)(loop_now() - f->since) * 1e-6) : json_null());
	return j;
}

/*
 * Adds the faulty cables to the status; the cables of dead nodes come last, because these nodes are
 * listed as problems already.
 */
static void add_faulty(const struct fabricd *d, json_t *status)
{
	json_t *list = json_array();
	struct fm_faulty f;
	json_int_t more = 0;

	for (int dead = 0; d->fm && dead < 2; dead++)
		for (uint32_t i = 0; fm_faulty(d->fm, &i, &f);) {
			if ((f.dead != TORUS_NO_NODE) != dead)
				continue;
			if (json_array_size(list) < STATUS_FAULTY)
				json_array_append_new(list, faulty_json(d, &f));
			else
				more++;
		}
	json_object_set_new(status, "faulty", list);
	json_object_set_new(status, "faulty_more", json_integer(more));
}

json_t *service_json(struct fabricd *d)
{
	const struct svc_stats *st = svc_stats(d->svc);

	return json_pack("{s:s, s:i, s:[i,i], s:I, s:I, s:I, s:I, s:I, s:o}",
			 "address", d->config.fm.address, "connections", (int)st->up,
			 "schemas", (int)schema_oldest, (int)schema_newest,
			 "refused_fabric", (json_int_t)st->refused_fabric,
			 "refused_key", (json_int_t)st->refused_key,
			 "refused_schema", (json_int_t)st->refused_schema,
			 "refused_malformed", (json_int_t)st->refused_malformed,
			 "refused_busy", (json_int_t)st->refused_busy,
			 "last_refused", text_json(st->last_refused));
}

json_t *guid_json(uint64_t guid)
{
	char text[24];

	if (!guid)
		return json_null();
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)guid);
	return json_string(text);
}

static json_t *position_json(unsigned int ndims, const int32_t *position)
{
	json_t *j = json_array();

	for (unsigned int i = 0; i < ndims; i++)
		json_array_append_new(j, json_integer(position[i]));
	return j;
}

static json_t *neighbours_json(const struct fabricd *d, unsigned int ndims)
{
	char here[TORUS_TEXT_MAX], there[TORUS_TEXT_MAX];
	json_t *list = json_array();
	struct fm_neighbour n;

	for (unsigned int p = 0; p < 2 * ndims; p++)
		if (fm_neighbour(d->fm, p, &n))
			json_array_append_new(list,
				json_pack("{s:s, s:s, s:o, s:s, s:o, s:b, s:b}",
					  "port", torus_port_text(ndims, p, here), "name", n.name,
					  "guid", guid_json(n.guid),
					  "peer_port", torus_port_text(ndims, n.port, there),
					  "position", position_json(ndims, n.position),
					  "confirmed", n.settled, "agrees", n.agrees));
	return list;
}

static json_t *due_json(unsigned int ndims, const struct fm_cable *c)
{
	char port[TORUS_TEXT_MAX];

	if (!c->expects)
		return json_null();
	return json_pack("{s:o, s:s}", "position", position_json(ndims, c->due),
			 "port", torus_port_text(ndims, c->due_port, port));
}

/*
 * Return: for each port of this node, the neighbour that its NIC finds there, and the neighbour
 * that should be there.
 */
static json_t *cables_json(const struct fabricd *d, unsigned int ndims)
{
	char here[TORUS_TEXT_MAX], there[TORUS_TEXT_MAX];
	json_t *list = json_array();
	struct fm_cable c;

	for (unsigned int p = 0; p < 2 * ndims; p++)
		if (fm_cable(d->fm, p, &c))
			json_array_append_new(list,
				json_pack("{s:s, s:b, s:o, s:o, s:o, s:o}",
					  "port", torus_port_text(ndims, p, here), "up", c.up,
					  "guid", guid_json(c.guid), "peer_port",
					  text_json(c.guid ? torus_port_text(ndims, c.port, there) :
							     NULL),
					  "expected", due_json(ndims, &c),
					  "fault", text_json(c.fault)));
	return list;
}

/* Return: the place of this node as computed from the Inits of its neighbours. */
static json_t *wave_json(const struct fabricd *d)
{
	struct fm_place at;
	json_t *size;

	if (!d->fm || !fm_place(d->fm, &at))
		return json_null();
	size = json_array();
	for (unsigned int i = 0; i < at.ndims; i++)
		json_array_append_new(size, at.size[i] ? json_integer(at.size[i]) : json_null());
	return json_pack("{s:o, s:o, s:b, s:o, s:o}",
			 "position", position_json(at.ndims, at.position), "size", size,
			 "confirmed", at.confirmed, "neighbours", neighbours_json(d, at.ndims),
			 "ports", cables_json(d, at.ndims));
}

void add_own_status(struct fabricd *d, json_t *status)
{
	uint32_t node = d->fm ? fm_own(d->fm) : TORUS_NO_NODE;
	struct seal_counts seal = { 0 };

	if (d->seal)
		seal = *seal_counts(d->seal);
	json_object_set_new(status, "own", json_pack("{s:o, s:s, s:o}", "node", node_json(d, node),
						     "name", d->config.fm.name,
						     "wave", wave_json(d)));
	json_object_set_new(status, "service", service_json(d));
	json_object_set_new(status, "history", keeper_json(d->keeper));
	json_object_set_new(status, "seal",
			    json_pack("{s:I, s:I}", "refused", (json_int_t)seal.refused,
				      "late", (json_int_t)seal.late));
}

#define STATUS_ORDERS 16	/* most orders that a status lists; a table has all orders */

static void add_orders(const struct fabricd *d, json_t *status)
{
	json_t *list = orders_json(d);
	size_t n = json_array_size(list);

	for (size_t i = n; i > STATUS_ORDERS; i--)
		json_array_remove(list, i - 1);
	json_object_set_new(status, "orders", list);
	json_object_set_new(status, "orders_more",
			    json_integer(n > STATUS_ORDERS ? (json_int_t)(n - STATUS_ORDERS) : 0));
}

/* Adds the address plan; null if this node does not know the plan yet. */
static void add_plan(const struct fabricd *d, json_t *status)
{
	char v4[TORUS_TEXT_MAX], v6[TORUS_TEXT_MAX];
	struct torus_plan plan;

	if (d->fm)
		plan = fm_address_plan(d->fm);
	json_object_set_new(status, "address4",
			    d->fm ? json_string(torus_plan_text4(&plan, v4)) : json_null());
	json_object_set_new(status, "address6",
			    d->fm ? json_string(torus_plan_text6(&plan, v6)) : json_null());
}

static json_t *status_json(struct fabricd *d)
{
	struct fm_status s = { .root.node = TORUS_NO_NODE };
	json_t *j;

	if (d->fm)
		fm_status(d->fm, &s);
	j = json_pack("{s:o, s:s, s:I, s:{s:i, s:i, s:i}, s:{s:i, s:i, s:i, s:i, s:i}, s:I, s:I, "
		      "s:o, s:s, s:s, s:o, s:o, s:o, s:{s:i, s:i}}",
		      "shape", s.placed ? shape_json(&s.shape) : json_array(),
		      "state", fm_state_name(d->fm ? s.state : FM_BOOTSTRAPPING),
		      "table_version", (json_int_t)s.version,
		      "nodes", "total", (int)s.nodes, "up", (int)s.nodes_up,
		      "excluded", (int)s.nodes_excluded,
		      "links", "total", (int)s.links, "up", (int)s.links_up,
		      "faulty", (int)s.links_faulty, "excluded", (int)s.links_excluded,
		      "wrong", (int)s.links_wrong,
		      "parked_packets", (json_int_t)s.parked,
		      "relayed_pairs", (json_int_t)s.relayed,
		      "root", d->fm ? root_json(d, &s.root) : json_null(),
		      "fabric", d->config.fm.fabric, "software", TORUS_VERSION,
		      "problems", problems_json(d),
		      "held_links", holds_json(d),
		      "last_recovery", recovery_json(&s.last),
		      "heard", "nodes", (int)s.nodes_answering, "links", (int)s.links_answering);
	add_present(j, &s.present);
	add_plan(d, j);
	add_faulty(d, j);
	add_orders(d, j);
	json_object_set_new(j, "problems_more",
			    json_integer(d->fm ? fm_problems_more(d->fm) : 0));
	add_own_status(d, j);
	return j;
}

void answer_status(struct request *rq)
{
	answer_ok(rq, status_json(rq->d), NULL);
}

/* --- nodes ----------------------------------------------------------------- */

json_t *local_nodes(struct fabricd *d, json_t *cmd)
{
	(void)cmd;
	return json_pack("{s:I, s:s}", "table_version", (json_int_t)fm_applied(d->fm),
			 "software", TORUS_VERSION);
}

static json_t *address_json(const struct torus_plan *plan, const struct torus_shape *shape,
			    uint32_t node)
{
	struct in_addr a = torus_plan_addr4(plan, shape, node);
	char text[INET_ADDRSTRLEN];

	return json_string(inet_ntop(AF_INET, &a, text, sizeof(text)));
}

/*
 * If no root answers, the table may be out of date. Then a node that is up in the table is shown as
 * "unknown", unless a message from this node came lately. The node that answers this request is up,
 * whatever the table contains.
 */
static const char *state_text(const struct request *rq, uint32_t node, const struct fm_entry *e,
			      bool lately)
{
	if (rq->rootless && node == fm_own(rq->d->fm))
		return fm_node_state_name(FM_NODE_UP);
	if (rq->rootless && !lately && e && (e->state == FM_NODE_UP || e->state == FM_NODE_SILENT))
		return "unknown";
	return fm_node_state_name(e ? e->state : FM_NODE_ABSENT);
}

static json_t *entry_json(const struct request *rq, uint32_t node, json_t *answer)
{
	struct fabricd *d = rq->d;
	const struct torus_shape *shape = fm_shape(d->fm);
	struct torus_plan plan = fm_address_plan(d->fm);
	const struct fm_entry *e = fm_node(d->fm, node);
	uint32_t parent = fm_node_parent(d->fm, node);
	json_t *version = json_object_get(answer, "table_version");
	json_t *software = json_object_get(answer, "software"), *last_alive;
	bool lately;

	last_alive = last_alive_json(rq, node, answer != NULL, &lately);
	return json_pack("{s:o, s:o, s:I, s:o, s:s, s:o, s:o, s:O, s:o, s:O, s:o, s:b, s:o}",
			 "node", node_json(d, node), "name", text_json(e ? e->name : NULL),
			 "id", (json_int_t)node, "guid", guid_json(e ? e->guid : 0),
			 "state", state_text(rq, node, e, lately),
			 "address", address_json(&plan, shape, node),
			 "service", text_json(e ? e->address : NULL),
			 "table_version", version ? version : json_null(),
			 "parent", node_json(d, parent),
			 "software", software ? software : json_null(), "heard_ms", last_alive,
			 "excluded", fm_out_of_service(d->fm, node),
			 "until", until_json(fm_out_until(d->fm, node)));
}

static json_t *joiner_json(const struct fm_joiner *j)
{
	return json_pack("{s:n, s:o, s:n, s:o, s:s, s:n, s:o, s:n, s:n, s:n, s:n, s:b, s:n}",
			 "node", "name", text_json(j->name), "id", "guid", guid_json(j->guid),
			 "state", fm_node_state_name(FM_NODE_JOINING), "address",
			 "service", text_json(j->address), "table_version", "parent", "software",
			 "heard_ms", "excluded", 0, "until");
}

static json_t *node_items(struct request *rq, uint32_t node, json_t *answer)
{
	return json_pack("[o]", entry_json(rq, node, answer));
}

/* Return: the nodes without a place, which come after all others. */
static json_t *joiner_items(struct request *rq)
{
	json_t *list = json_array();
	struct fm_joiner joiner;

	for (unsigned int i = 0; fm_joiner(rq->d->fm, i, &joiner); i++)
		json_array_append_new(list, joiner_json(&joiner));
	return list;
}

static const struct listing listing_nodes = {
	.items = node_items, .unanswered = true, .rest = joiner_items,
};

void answer_nodes(struct request *rq)
{
	bool some = json_is_string(json_object_get(rq->args, "node"));

	if (some && !json_is_integer(json_object_get(rq->args, "count")))
		json_object_set_new(rq->args, "count", json_integer(1));
	some |= json_is_integer(json_object_get(rq->args, "count"));
	if (answer_ready(rq) && (!some || answer_range(rq, ANSWER_NODES_MAX)))
		answer_list(rq, &listing_nodes, 0);
}

/* --- coord ----------------------------------------------------------------- */

void answer_coord(struct request *rq)
{
	const char *name = json_string_value(json_object_get(rq->args, "name"));
	struct fabricd *d = rq->d;
	const struct fm_entry *e;
	struct torus_plan plan;
	uint32_t node, own;
	json_t *j;

	if (!answer_ready(rq))
		return;
	plan = fm_address_plan(d->fm);
	node = own = fm_own(d->fm);
	if (name) {
		json_object_set_new(rq->args, "node", json_string(name));
		if (answer_node(rq, true, &node))
			return;
	}
	e = fm_node(d->fm, node);
	j = json_pack("{s:o, s:o, s:I, s:o, s:o, s:o}", "node", node_json(d, node),
		      "name", text_json(e && e->name[0] ? e->name :
					node == own ? d->config.fm.name : NULL),
		      "id", (json_int_t)node, "address", address_json(&plan, fm_shape(d->fm), node),
		      "shape", shape_json(fm_shape(d->fm)), "own", node_json(d, own));
	answer_ok(rq, j, NULL);
}
