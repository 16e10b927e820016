// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counters and gauges of the NIC get their families from the one list of them (<torus/uapi.h>): the
 * name after a prefix, the unit converted to a base unit, which ends the name. One that belongs to
 * a virtual channel or to a state of the link is a sample of a common family (grouped[]). So what
 * is added to the list is exported without a change here.
 *
 * Only torus_node_info has the coordinates and the name of the node: a monitoring system knows from
 * which host samples came, and repeating them would make the text a third longer.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>
#include <torus/torus.h>

#include "tools/metrics/metrics.h"
#include "tools/metrics/samples.h"

/**
 * struct maker - the families that are being made
 * @counters, @gauges: the families of the counters and gauges of ports, once they have samples:
 *	they are looked up by their name for the first port only
 */
struct maker {
	struct samples *samples;
	struct family *counters[TORUS_PC_COUNT], *gauges[TORUS_PG_COUNT];
};

/* --- samples -------------------------------------------------------------------------- */

const char *metrics_unit(const char *name)
{
	static const char *const units[] = { "bytes_per_second", "seconds", "bytes", "ratio" };
	size_t n = strlen(name);

	for (unsigned int i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t len = strlen(units[i]);

		if (n > len && name[n - len - 1] == '_' && !strcmp(name + n - len, units[i]))
			return units[i];
	}
	return "";
}

/*
 * Adds a sample; its labels follow @value, up to NULL. Takes over @value; if that is no number,
 * adds nothing.
 */
static void add_sample(struct maker *m, const char *name, const char *type, const char *help,
		       json_t *value, ...)
{
	va_list pairs;

	va_start(pairs, value);
	if (json_is_number(value))
		samples_add(m->samples, samples_family(m->samples, name, type, help), value, pairs);
	va_end(pairs);
	json_decref(value);
}

/* Does the same for a family that is known. */
static void add_to_family(struct maker *m, struct family *f, const json_t *value, ...)
{
	va_list pairs;

	va_start(pairs, value);
	samples_add(m->samples, f, value, pairs);
	va_end(pairs);
}

/* Return: a number of @from, multiplied; NULL if it has none of that name. */
static json_t *scaled_number(const json_t *from, const char *key, double scale)
{
	json_t *v = json_object_get(from, key);

	if (json_is_boolean(v))
		return json_integer(json_is_true(v));
	if (scale == 1)
		return json_incref(json_is_number(v) ? v : NULL);
	return json_is_number(v) ? json_real(json_number_value(v) * scale) : NULL;
}

static json_t *same_number(const json_t *from, const char *key)
{
	return scaled_number(from, key, 1);
}

/*
 * Adds a histogram of the manager. Each of its counts excludes those of lower bounds, so they are
 * added up.
 */
static void add_histogram(struct maker *m, const char *name, const char *help, const json_t *h,
			  const char *key, const char *value)
{
	json_t *le, *counts, *sum = json_object_get(h, "sum");
	json_int_t n = 0;
	size_t i;
	json_t *v;

	if (!json_is_number(sum))
		return;
	le = json_array();
	counts = json_array();
	json_array_foreach(json_object_get(h, "le"), i, v)
		if (json_is_number(v))
			json_array_append(le, v);
	json_array_foreach(json_object_get(h, "count"), i, v) {
		n += json_integer_value(v);
		json_array_append_new(counts, json_integer(n));
	}
	if (json_array_size(counts) == json_array_size(le) + 1)
		samples_add_histogram(m->samples,
				      samples_family(m->samples, name, "histogram", help), key,
				      value, le, counts, sum);
	json_decref(le);
	json_decref(counts);
}

/* --- counters and gauges of the list --------------------------------------------------- */

/** struct grouped - a counter or gauge that is a sample of the family @name, by the label @label */
struct grouped {
	const char *counter, *name, *label, *value, *help;
};

#define STATE_TIME "time that the link spent in a state"
#define VC_SENT "data packets sent on a virtual channel, first time"
#define VC_STALLS "times a packet waited for a credit or bubble of a virtual channel"
#define VC_CREDITS "free packet buffers at the peer"
#define VC_TAKEN "packet buffers taken at the peer"
#define VC_BUFFERS "packet buffers that the peer has"
#define VC_CRITICAL "free packet buffers at the peer that are critical bubbles (CBS, MBS)"

static const struct grouped grouped[] = {
	{ "ns_down", "state_seconds", "state", "down", STATE_TIME },
	{ "ns_training", "state_seconds", "state", "training", STATE_TIME },
	{ "ns_up", "state_seconds", "state", "up", STATE_TIME },
	{ "ns_faulty", "state_seconds", "state", "faulty", STATE_TIME },
	{ "tx_vcd0", "vc_tx_packets", "vc", "vcd0", VC_SENT },
	{ "tx_vcd1", "vc_tx_packets", "vc", "vcd1", VC_SENT },
	{ "tx_vca", "vc_tx_packets", "vc", "vca", VC_SENT },
	{ "stalls_vcd0", "vc_stalls", "vc", "vcd0", VC_STALLS },
	{ "stalls_vcd1", "vc_stalls", "vc", "vcd1", VC_STALLS },
	{ "stalls_vca", "vc_stalls", "vc", "vca", VC_STALLS },
	{ "credits_vcd0", "vc_credits", "vc", "vcd0", VC_CREDITS },
	{ "credits_vcd1", "vc_credits", "vc", "vcd1", VC_CREDITS },
	{ "credits_vca", "vc_credits", "vc", "vca", VC_CREDITS },
	{ "ct_vcd0", "vc_credits_taken", "vc", "vcd0", VC_TAKEN },
	{ "ct_vcd1", "vc_credits_taken", "vc", "vcd1", VC_TAKEN },
	{ "ct_vca", "vc_credits_taken", "vc", "vca", VC_TAKEN },
	{ "n_inp_vcd0", "vc_buffers", "vc", "vcd0", VC_BUFFERS },
	{ "n_inp_vcd1", "vc_buffers", "vc", "vcd1", VC_BUFFERS },
	{ "n_inp_vca", "vc_buffers", "vc", "vca", VC_BUFFERS },
	{ "critical_vcd0", "vc_critical_bubbles", "vc", "vcd0", VC_CRITICAL },
	{ "critical_vcd1", "vc_critical_bubbles", "vc", "vcd1", VC_CRITICAL },
};

/* Return: how a counter is grouped; NULL if it has a family of its own. */
static const struct grouped *find_grouped(const char *counter)
{
	for (unsigned int i = 0; i < sizeof(grouped) / sizeof(grouped[0]); i++)
		if (!strcmp(grouped[i].counter, counter))
			return &grouped[i];
	return NULL;
}

/**
 * struct scale - how a unit of the list becomes a base unit
 * @ending: of the family's name
 * @drop: a beginning of the counter's name that the ending replaces
 */
struct scale {
	const char *unit;
	double factor;
	const char *ending, *drop;
};

static const struct scale *find_scale(const char *unit)
{
	static const struct scale scales[] = {
		{ "ns", 1e-9, "_seconds", "ns_" },
		{ "percent", 1e-2, "_ratio", "" },
		{ "1e-18", 1e-18, "_ratio", "" },
		{ "Mb/s", 125e3, "_bytes_per_second", "" },
		{ "", 1, "", "" },
	};
	unsigned int i = 0;

	while (*scales[i].unit && strcmp(scales[i].unit, unit))
		i++;
	return &scales[i];
}

/* Writes the name of a family: bytes in its middle, as of host_bytes_tx, move to the end. */
static void name_family(const char *prefix, const char *counter, const struct scale *s, char *to)
{
	const char *bytes = strstr(counter, "_bytes_");
	size_t drop = strlen(s->drop);

	if (bytes)
		snprintf(to, FAMILY_NAME_MAX, "%s_%.*s%s_bytes", prefix, (int)(bytes - counter),
			 counter, bytes + strlen("_bytes"));
	else
		snprintf(to, FAMILY_NAME_MAX, "%s_%s%s", prefix,
			 strncmp(counter, s->drop, drop) ? counter : counter + drop, s->ending);
}

/* Return: the family of a counter or gauge; @g: how it is grouped, or NULL. */
static struct family *get_listed(struct maker *m, const char *prefix, const char *type,
				 const struct torus_counter_desc *desc, const struct grouped *g)
{
	char name[FAMILY_NAME_MAX];

	if (g)
		snprintf(name, sizeof(name), "%s_%s", prefix, g->name);
	else
		name_family(prefix, desc->name, find_scale(desc->unit), name);
	return samples_family(m->samples, name, type, g ? g->help : desc->help);
}

/*
 * Adds the counters or gauges @desc of an object; @port: a label, or NULL. @known: their families,
 * if they were looked up before.
 */
static void add_listed(struct maker *m, const char *prefix, const char *type, const json_t *from,
		       const struct torus_counter_desc *desc, unsigned int n, struct family **known,
		       const char *port)
{
	for (unsigned int i = 0; i < n; i++) {
		json_t *v = scaled_number(from, desc[i].name, find_scale(desc[i].unit)->factor);
		const struct grouped *g = v ? find_grouped(desc[i].name) : NULL;

		if (v && !known[i])
			known[i] = get_listed(m, prefix, type, &desc[i], g);
		if (v && g)
			add_to_family(m, known[i], v, "port", port, g->label, g->value, NULL);
		else if (v)
			add_to_family(m, known[i], v, port ? "port" : NULL, port, NULL);
		json_decref(v);
	}
}

/* --- the NIC ----------------------------------------------------------------------------- */

static void add_colours(struct maker *m, const json_t *flow)
{
	char colour[24];
	size_t i;
	json_t *v;

	for (unsigned int k = 0; k < TORUS_FC_COUNT; k++)
		json_array_foreach(json_object_get(flow, torus_flow_counters[k].name), i, v) {
			snprintf(colour, sizeof(colour), "%zu", i);
			add_sample(m, "torus_node_colour_packets", "counter",
				   "packets of a colour that a recovery adds up, by what happened "
				   "to them",
				   json_incref(v), "colour", colour, "event",
				   torus_flow_counters[k].name, NULL);
		}
}

static void add_nic(struct maker *m, const json_t *nic)
{
	const json_t *park = json_object_get(nic, "park");
	struct family *known[TORUS_NC_COUNT] = { NULL };

	add_sample(m, "torus_node_nic_answers", "gauge", "1: the NIC answers its manager",
		   json_integer(json_is_object(nic)), NULL);
	if (!json_is_object(nic))
		return;
	add_sample(m, "torus_node_uptime_seconds", "gauge",
		   "time since the NIC started, or got its place",
		   same_number(nic, "uptime"), NULL);
	add_sample(m, "torus_node_rows", "gauge", "routing rows in the NIC",
		   same_number(nic, "row_count"), NULL);
	add_sample(m, "torus_node_park_packets", "gauge", "packets in the parking segment now",
		   same_number(park, "parked"), NULL);
	add_sample(m, "torus_node_park_unresolved_packets", "gauge",
		   "packets of lost links of which the manager has not decided yet which the peer "
		   "got",
		   same_number(park, "unresolved"), NULL);
	add_sample(m, "torus_node_park_used_bytes", "gauge", "bytes in the parking segment now",
		   same_number(park, "bytes"), NULL);
	add_sample(m, "torus_node_park_size_bytes", "gauge", "size of the parking segment",
		   same_number(park, "bytes_max"), NULL);
	add_sample(m, "torus_node_on_hold_packets", "gauge",
		   "packets that wait at the source on a hold now",
		   same_number(park, "held"), NULL);
	add_listed(m, "torus_node", "counter", nic, torus_node_counters, TORUS_NC_COUNT, known,
		   NULL);
	add_colours(m, json_object_get(nic, "flow"));
}

/* --- links ---------------------------------------------------------------------------------- */

static const char *read_text(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

/* Writes coordinates as 1,0; "" for null. Return: @to */
static const char *write_coords(const json_t *coords, char *to, size_t room)
{
	size_t n = 0, i;
	json_t *v;

	*to = '\0';
	json_array_foreach(coords, i, v)
		if (n < room)
			n += (size_t)snprintf(to + n, room - n, "%s%lld", i ? "," : "",
					      (long long)json_integer_value(v));
	return to;
}

static void add_lanes(struct maker *m, const json_t *lanes, const char *port)
{
	char lane[24];
	size_t i;
	json_t *v;

	json_array_foreach(lanes, i, v) {
		if (strcmp(read_text(v, "state") ? read_text(v, "state") : "", "on"))
			continue;
		snprintf(lane, sizeof(lane), "%zu", i);
		add_sample(m, "torus_lane_margin_ratio", "gauge",
			   "largest mask that fits the eye of a lane that is on, relative to the "
			   "configured one",
			   scaled_number(v, "margin", 1e-2), "port", port, "lane", lane, NULL);
	}
}

static void add_link(struct maker *m, const json_t *l)
{
	const char *port = read_text(l, "port"), *state = read_text(l, "state");
	const json_t *peer = json_object_get(l, "peer"), *q = json_object_get(l, "quality");
	const char *level = read_text(q, "level"), *excluded = read_text(l, "excluded");
	char coords[TORUS_TEXT_MAX];

	if (!port || !state)
		return;
	add_sample(m, "torus_link", "info", "the cable at a port, and its state", json_integer(1),
		   "port", port, "peer",
		   write_coords(json_object_get(peer, "node"), coords, sizeof(coords)),
		   "peer_port", read_text(peer, "port"), "peer_name", read_text(peer, "name"),
		   "lower", read_text(l, "lower"), "retry", read_text(l, "retry"), "state", state,
		   "reason", read_text(l, "reason"), NULL);
	add_sample(m, "torus_link_up", "gauge", "1: the link is up",
		   json_integer(!strcmp(state, "up")), "port", port, NULL);
	add_sample(m, "torus_link_admin_up", "gauge",
		   "1: the link is to be up, by order of the administrator",
		   same_number(l, "admin"), "port", port, NULL);
	add_sample(m, "torus_link_excluded", "gauge", "1: the link is out of service by order",
		   json_integer(excluded && !strcmp(excluded, "admin")), "port", port, NULL);
	add_sample(m, "torus_link_state_age_seconds", "gauge",
		   "time since the link is in its state",
		   scaled_number(l, "state_age", 1e-9), "port", port, NULL);
	if (json_is_object(q)) {
		add_sample(m, "torus_link_bad", "gauge",
			   "1: the error rate of the cable is above its limit (fabricctl links "
			   "--errors)",
			   json_integer(level && strcmp(level, "good")), "port", port, NULL);
		add_sample(m, "torus_link_worn", "gauge", "1: the margin of the link falls",
			   same_number(q, "worn"), "port", port, NULL);
		add_sample(m, "torus_link_slow", "gauge",
			   "1: the round trip over the cable is long",
			   same_number(q, "slow"), "port", port, NULL);
		add_sample(m, "torus_link_bit_error_ratio", "gauge",
			   "measured bit error rate of the cable",
			   same_number(q, "ber"), "port", port, NULL);
	}
	add_listed(m, "torus_port", "counter", l, torus_port_counters, TORUS_PC_COUNT, m->counters,
		   port);
	add_listed(m, "torus_port", "gauge", l, torus_port_gauges, TORUS_PG_COUNT, m->gauges, port);
	add_lanes(m, json_object_get(l, "lane"), port);
}

/* --- the manager ------------------------------------------------------------------------------ */

static void add_service(struct maker *m, const json_t *s)
{
	static const char *const reasons[] = { "fabric", "key", "schema", "malformed", "busy" };
	char key[32];

	add_sample(m, "torus_manager_connections", "gauge", "connections to other managers",
		   same_number(s, "connections"), NULL);
	for (unsigned int i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
		snprintf(key, sizeof(key), "refused_%s", reasons[i]);
		add_sample(m, "torus_manager_refused_connections", "counter",
			   "connections of other managers that were refused", same_number(s, key),
			   "reason", reasons[i], NULL);
	}
}

static void add_history(struct maker *m, const json_t *h)
{
	add_sample(m, "torus_manager_history_events", "gauge", "events in the history on disk",
		   same_number(h, "events"), NULL);
	add_sample(m, "torus_manager_history_used_bytes", "gauge", "size of the history on disk",
		   same_number(h, "bytes"), NULL);
	add_sample(m, "torus_manager_history_dropped", "counter",
		   "events that could not be written",
		   same_number(h, "dropped"), NULL);
	add_sample(m, "torus_manager_history_damaged", "counter",
		   "damaged records found in the history",
		   same_number(h, "damaged"), NULL);
}

static void add_manager(struct maker *m, const json_t *j)
{
	const json_t *seal = json_object_get(j, "seal");
	const json_t *replies = json_object_get(j, "replies");
	const char *level;
	json_t *v;

	add_sample(m, "torus_manager_state", "gauge",
		   "1, with the state of the fabric as this manager knows it",
		   json_integer(1), "state", read_text(j, "state"), NULL);
	add_sample(m, "torus_table_version", "gauge",
		   "version of the exclusion table that the manager has",
		   same_number(j, "table_version"), NULL);
	add_sample(m, "torus_table_applied_version", "gauge",
		   "version of the rows that the NIC has",
		   same_number(j, "applied_version"), NULL);
	add_sample(m, "torus_root_epoch", "gauge", "epoch of the root that the manager follows",
		   same_number(j, "epoch"), NULL);
	add_sample(m, "torus_manager_is_root", "gauge", "1: this manager is the root",
		   same_number(j, "root"), NULL);
	add_sample(m, "torus_manager_root_reachable", "gauge",
		   "1: the manager has a way to the root",
		   same_number(j, "root_reachable"), NULL);
	v = json_object_get(j, "rootless_for");
	add_sample(m, "torus_manager_rootless_seconds", "gauge",
		   "time since the manager has no way to a root",
		   json_is_null(v) ? json_integer(0) : json_incref(v), NULL);
	add_sample(m, "torus_manager_became_root", "counter", "times that this manager became root",
		   same_number(j, "became_root"), NULL);
	json_object_foreach(json_object_get(j, "events"), level, v)
		add_sample(m, "torus_manager_events", "counter",
			   "events that this manager logged, also those that other nodes reported "
			   "to it",
			   json_incref(v), "level", level, NULL);
	add_histogram(m, "torus_manager_timer_delay_seconds",
		      "how late timers of the manager fired",
		      json_object_get(j, "timer_delay"), NULL, NULL);
	add_histogram(m, "torus_manager_nic_call_seconds", "how long calls of the NIC took",
		      json_object_get(j, "nic_call"), NULL, NULL);
	add_service(m, json_object_get(j, "service"));
	add_history(m, json_object_get(j, "history"));
	add_sample(m, "torus_manager_seal_refused_packets", "counter",
		   "management packets without a valid seal",
		   same_number(seal, "refused"), NULL);
	add_sample(m, "torus_manager_seal_late_packets", "counter",
		   "management packets of an earlier session",
		   same_number(seal, "late"), NULL);
	add_sample(m, "torus_manager_kept_replies_bytes", "gauge",
		   "answers of other nodes that are kept now for replies",
		   same_number(replies, "kept"), NULL);
	add_sample(m, "torus_manager_refused_replies", "counter",
		   "requests refused because the reply was too long or took too much memory",
		   same_number(replies, "refused"), NULL);
}

/* --- the fabric ------------------------------------------------------------------------------ */

static void add_recoveries(struct maker *m, const json_t *r)
{
	static const char *const outcomes[] = { "parked", "replayed", "lost" };
	const char *step;
	json_t *v;

	add_histogram(m, "torus_fabric_recovery_duration_seconds",
		      "how long recoveries took, from detection to the end",
		      json_object_get(r, "duration"), NULL, NULL);
	json_object_foreach(json_object_get(r, "steps"), step, v)
		add_histogram(m, "torus_fabric_recovery_step_duration_seconds",
			      "how long each step of recoveries took", v, "step", step);
	add_sample(m, "torus_fabric_recoveries_bounded", "counter",
		   "recoveries of which some wait ended by its bound, not by proof",
		   same_number(r, "bounded"), NULL);
	for (unsigned int i = 0; i < sizeof(outcomes) / sizeof(outcomes[0]); i++)
		add_sample(m, "torus_fabric_recovery_packets", "counter",
			   "packets that recoveries parked, replayed, or found to be lost with a "
			   "dead node",
			   same_number(r, outcomes[i]), "outcome", outcomes[i], NULL);
}

static void add_fabric(struct maker *m, const json_t *f)
{
	const json_t *nodes = json_object_get(f, "nodes"), *links = json_object_get(f, "links");
	const json_t *jobs = json_object_get(f, "jobs");

	if (!json_is_object(f))
		return;
	add_sample(m, "torus_fabric_nodes", "gauge", "nodes of the fabric",
		   same_number(nodes, "total"), NULL);
	add_sample(m, "torus_fabric_nodes_up", "gauge", "nodes that are up",
		   same_number(nodes, "up"), NULL);
	add_sample(m, "torus_fabric_nodes_excluded", "gauge",
		   "nodes that are out of service by order",
		   same_number(nodes, "excluded"), NULL);
	add_sample(m, "torus_fabric_jobs", "gauge", "jobs", same_number(jobs, "total"), NULL);
	add_sample(m, "torus_fabric_jobs_degraded", "gauge", "jobs that lack nodes",
		   same_number(jobs, "degraded"), NULL);
	add_sample(m, "torus_fabric_jobs_apart", "gauge", "jobs that have fallen apart",
		   same_number(jobs, "apart"), NULL);
	add_sample(m, "torus_fabric_links", "gauge", "cables of the fabric",
		   same_number(links, "total"), NULL);
	add_sample(m, "torus_fabric_links_up", "gauge", "cables that are up",
		   same_number(links, "up"), NULL);
	add_sample(m, "torus_fabric_links_faulty", "gauge", "cables that are lost",
		   same_number(links, "faulty"), NULL);
	add_sample(m, "torus_fabric_links_excluded", "gauge",
		   "cables that are out of service by order",
		   same_number(links, "excluded"), NULL);
	add_sample(m, "torus_fabric_links_wrong", "gauge", "cables that lead to a wrong port",
		   same_number(links, "wrong"), NULL);
	add_sample(m, "torus_fabric_links_degraded", "gauge",
		   "ends of cables that are up and degraded",
		   same_number(f, "degraded_links"), NULL);
	add_sample(m, "torus_fabric_parked_packets", "gauge",
		   "packets that are parked, by the last count",
		   same_number(f, "parked_packets"), NULL);
	add_sample(m, "torus_fabric_relayed_pairs", "gauge", "pairs of nodes that relays serve",
		   same_number(f, "relayed_pairs"), NULL);
	add_sample(m, "torus_fabric_problems", "gauge", "present problems (fabricctl status)",
		   same_number(f, "problems"), NULL);
	add_recoveries(m, json_object_get(f, "recoveries"));
}

void metrics_make(struct samples *samples, const json_t *answer)
{
	struct maker m = { .samples = samples };
	char node[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	add_sample(&m, "torus_node", "info", "the node", json_integer(1), "node",
		   write_coords(json_object_get(answer, "node"), node, sizeof(node)), "name",
		   read_text(answer, "name"), "guid", read_text(answer, "guid"), "fabric",
		   read_text(answer, "fabric_name"), "software", read_text(answer, "software"),
		   NULL);
	add_nic(&m, json_object_get(answer, "nic"));
	json_array_foreach(json_object_get(answer, "links"), i, v)
		add_link(&m, v);
	add_manager(&m, json_object_get(answer, "manager"));
	add_fabric(&m, json_object_get(answer, "fabric"));
}

json_t *metrics_families(const json_t *answer)
{
	struct samples *s = samples_new(false);
	json_t *families = json_array();
	bool failed;

	if (s)
		metrics_make(s, answer);
	for (const struct family *f = s ? samples_first(s) : NULL; f; f = f->next)
		json_array_append_new(families, json_pack("{s:s, s:s, s:s, s:s, s:O}",
							  "name", f->name, "type", f->type,
							  "unit", metrics_unit(f->name),
							  "help", f->help, "samples", f->list));
	failed = !s || samples_failed(s);
	if (s)
		samples_free(s);
	if (!failed)
		return families;
	json_decref(families);
	return NULL;
}
