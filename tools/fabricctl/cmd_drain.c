// SPDX-License-Identifier: GPL-2.0-only
/*
 * Excludes cables, and waits until no packet is left on them: the exclusion is in force, the ports
 * at both ends have no packet in their buffers, and a node that is drained as a whole has no parked
 * or held packets.
 *
 * Packets that were routed before may still be on their way to these cables when their ports are
 * empty. So several checks in a row must find the ports empty, and no packet may have been received
 * between them. Management packets do not count: no exclusion ends them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"
#include "change.h"
#include "json.h"
#include "lib/util/clock.h"
#include "output.h"

#define TIMEOUT_S 30
#define LOOK_MS 100
#define LOOKS 10	/* number of checks in a row that must find no packets */

static struct exclusion how;

/**
 * struct drain - the cables to be drained
 * @ports: for each node, the ports of these cables; @whole: nodes that are drained as a whole
 * @version: version of the table that excludes these cables
 * @excluded: the manager's table excludes all of them; @in_force: that table is in force
 * @received: packets received by each port at the last check; @looked: there was such a check
 * @quiet: how many checks in a row, up to the last, found no packet
 * @waits: what is not drained yet: {node, port, what, packets}
 */
struct drain {
	struct ask ask;
	struct torus_shape shape;
	uint16_t *ports;
	bool *whole;
	uint64_t version;
	bool excluded, in_force, looked;
	uint64_t (*received)[TORUS_MAX_PORTS];
	unsigned int quiet;
	json_t *waits;
};

static void mark_port(struct drain *d, uint32_t node, unsigned int port)
{
	if (d->shape.size[port % d->shape.ndims] < 2)
		return;		/* no cable */
	d->ports[node] |= (uint16_t)(1u << port);
	d->ports[torus_neighbour(&d->shape, node, port)] |=
		(uint16_t)(1u << torus_dir_opposite(&d->shape, port));
}

/*
 * Return: OK, or PROBLEM: the request does not fit the fabric any more, because the fabric has
 * grown meanwhile.
 */
static int mark_request(struct drain *d, const json_t *request)
{
	const char *node = json_text(request, "node"), *port = json_text(request, "port");
	struct torus_coords at;
	unsigned int p;
	uint32_t id;

	if (!node || torus_coords_parse(node, &d->shape, &at))
		return fail_as(PROBLEM, "%s is not a node of the fabric", node ? node : "?");
	id = torus_node_id(&d->shape, &at);
	d->whole[id] |= !port;
	if (!port)
		for (p = 0; p < 2u * d->shape.ndims; p++)
			mark_port(d, id, p);
	else if (torus_port_parse(port, d->shape.ndims, &p))
		return fail_as(PROBLEM, "%s is not a port of the fabric", port);
	else
		mark_port(d, id, p);
	return OK;
}

static int mark_requests(struct drain *d, const json_t *requests)
{
	int status = ask_shape(&d->ask, &d->shape);
	uint32_t nodes = status == OK ? torus_nodes(&d->shape) : 1;
	size_t i;
	json_t *v;

	d->ports = calloc(nodes, sizeof(*d->ports));
	d->whole = calloc(nodes, sizeof(*d->whole));
	d->received = calloc(nodes, sizeof(*d->received));
	if (status == OK && (!d->ports || !d->whole || !d->received))
		return fail("out of memory");
	json_array_foreach(requests, i, v)
		if (status == OK)
			status = mark_request(d, v);
	return status;
}

/* Adds a node or port that is not drained yet to @d->waits. @port NULL: the node itself */
static void add_drain_wait(struct drain *d, uint32_t node, const char *port, const char *what,
			   uint64_t packets)
{
	json_array_append_new(d->waits, json_pack("{so ss? ss sI}", "node",
						  json_node(&d->shape, node), "port", port,
						  "what", what, "packets", (json_int_t)packets));
}

/*
 * Checks a node that does not answer: a dead node has no packets, but a silent node may have some.
 */
static int look_at_silent(struct drain *d, uint32_t node)
{
	char at[TORUS_TEXT_MAX];
	const char *state;
	json_t *data;
	int status = ask(&d->ask, json_pack("{ss ss}", "cmd", "nodes", "node",
					    torus_node_text(&d->shape, node, at)), &data);

	if (status != OK)
		return status;
	state = json_text(json_array_get(data, 0), "state");
	if (!state || (strcmp(state, "dead") && strcmp(state, "absent")))
		add_drain_wait(d, node, NULL, "its manager does not answer", 0);
	json_decref(data);
	return OK;
}

static void look_at_port(struct drain *d, uint32_t node, const json_t *l)
{
	const char *port = json_text(l, "port");
	uint64_t received;
	unsigned int p;

	if (!port || torus_port_parse(port, d->shape.ndims, &p) || !(d->ports[node] & 1u << p))
		return;
	if (json_count(l, "retry_packets"))
		add_drain_wait(d, node, port, "sent, and not acknowledged",
			       json_count(l, "retry_packets"));
	if (json_count(l, "queued_packets"))
		add_drain_wait(d, node, port, "queued", json_count(l, "queued_packets"));
	/* Management packets do not count: managers may send some at any time. */
	received = json_count(l, "rx_packets") - json_count(l, "mgmt_rx");
	if (d->looked && received != d->received[node][p])
		add_drain_wait(d, node, port, "received since the last check",
			       received - d->received[node][p]);
	d->received[node][p] = received;
}

/* Checks the packets in the answer to @cmd, "links" or "park", of a node. */
static int look_at(struct drain *d, uint32_t node, const char *cmd)
{
	char at[TORUS_TEXT_MAX];
	bool silent = false;
	json_t *data, *v;
	size_t i;
	int status = ask_sparing(&d->ask, json_pack("{ss ss}", "cmd", cmd, "node",
						    torus_node_text(&d->shape, node, at)),
				 &data, "unreachable", &silent);

	if (silent)
		return look_at_silent(d, node);
	if (status != OK)
		return status;
	json_array_foreach(data, i, v) {
		if (!strcmp(cmd, "links"))
			look_at_port(d, node, v);
		else if (json_count(v, "parked") + json_count(v, "held"))
			add_drain_wait(d, node, NULL, "parked or held",
				       json_count(v, "parked") + json_count(v, "held"));
	}
	json_decref(data);
	return OK;
}

static bool excludes_all(const struct drain *d, const json_t *table)
{
	const json_t *nodes = json_object_get(table, "nodes");
	char port[TORUS_TEXT_MAX];

	for (uint32_t i = 0; i < torus_nodes(&d->shape); i++) {
		const json_t *ports = json_object_get(json_array_get(nodes, i), "ports");

		for (unsigned int p = 0; p < 2u * d->shape.ndims; p++)
			if (d->ports[i] & 1u << p &&
			    !json_object_get(ports, torus_port_text(d->shape.ndims, p, port)))
				return false;
	}
	return true;
}

/*
 * Checks that the table excludes all of the cables. Its version alone is not proof: the answer to
 * the order may have had the table before it, a new root may not know the order, and another user
 * may have included the cables since.
 */
static int look_at_table(struct drain *d, uint64_t *version)
{
	json_t *table;
	int status = ask(&d->ask, json_pack("{ss}", "cmd", "table"), &table);

	if (status != OK)
		return status;
	*version = json_count(table, "version");
	d->excluded = *version >= d->version && excludes_all(d, table);
	json_decref(table);
	return OK;
}

static int look_at_force(struct drain *d)
{
	uint64_t version = 0;
	const char *state;
	json_t *data;
	int status = look_at_table(d, &version);

	if (status == OK)
		status = ask(&d->ask, json_pack("{ss}", "cmd", "status"), &data);
	if (status != OK)
		return status;
	state = json_text(data, "state");
	d->in_force = d->excluded && json_count(data, "table_version") == version && state &&
		      strcmp(state, "recovering") && strcmp(state, "bootstrapping");
	json_decref(data);
	return OK;
}

/*
 * Does one check. Return: OK, and @d->waits lists the ports that still have packets; else the kind
 * of the error, because not all nodes could be asked.
 */
static int look_once(struct drain *d)
{
	int status = look_at_force(d);

	json_array_clear(d->waits);
	for (uint32_t i = 0; status == OK && d->in_force && i < torus_nodes(&d->shape); i++) {
		if (d->ports[i])
			status = look_at(d, i, "links");
		if (status == OK && d->whole[i])
			status = look_at(d, i, "park");
	}
	d->looked = d->in_force;
	d->quiet = d->in_force && !json_array_size(d->waits) ? d->quiet + 1 : 0;
	return status;
}

static char *wait_text(const struct drain *d, char *buf, size_t room)
{
	const json_t *v = json_array_get(d->waits, 0);
	char at[TORUS_TEXT_MAX];

	if (!d->excluded)
		snprintf(buf, room, "the exclusion is not, or not any more, in the table");
	else if (!d->in_force)
		snprintf(buf, room, "the exclusion is not in force");
	else if (d->quiet)
		snprintf(buf, room, "only %u of %d checks in a row found no packet", d->quiet,
			 LOOKS);
	else if (json_count(v, "packets"))
		snprintf(buf, room, "%s: %llu packet%s %s", json_end_text(v, at),
			 (unsigned long long)json_count(v, "packets"),
			 json_count(v, "packets") == 1 ? "" : "s", json_text(v, "what"));
	else
		snprintf(buf, room, "%s: %s", json_end_text(v, at), json_text(v, "what"));
	return buf;
}

static int await_drained(const struct ctl *ctl, struct drain *d)
{
	const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
	double start = seconds_now(), timeout = ctl->timeout > 0 ? ctl->timeout : TIMEOUT_S;
	char why[256];
	int status;

	while ((status = look_once(d)) == OK && d->quiet < LOOKS) {
		progress("waits: %s", wait_text(d, why, sizeof(why)));
		if (seconds_now() - start > timeout) {
			status = fail_as(TIMEOUT, "not drained after %g s: %s; do not pull "
					 "anything yet. %s", timeout,
					 wait_text(d, why, sizeof(why)),
					 d->excluded ? "What was named stays excluded: 'fabricctl "
					 "include' ends that" : "'fabricctl table' shows what is "
					 "excluded");
			break;
		}
		nanosleep(&pause, NULL);
	}
	progress("%s", "");
	return status;
}

static void print_drained(char **what, int n)
{
	int nodes = 0;

	for (int i = 0; i < n; i++) {
		printf("%s%s", i ? ", " : "", what[i]);
		nodes += !ask_is_link(what[i]);
	}
	printf(" %s drained: the cable%s may be pulled%s%s%s\n", n > 1 ? "are" : "is",
	       n > 1 || nodes ? "s" : "", nodes ? ", and the node" : "", nodes > 1 ? "s" : "",
	       nodes ? " stopped" : "");
}

/*
 * The answer to the order comes after two seconds at the latest, and disks may be slower. So it is
 * given again, which changes nothing, to see what is on disk by now.
 */
static int order_again(struct drain *d, char **what, int n, json_t **table)
{
	json_t *requests = json_array();
	int status;

	json_decref(*table);
	*table = NULL;
	status = change_ask(&d->ask, "exclude", &how, what, n, requests, table);
	json_decref(requests);
	return status;
}

static int drain_named(const struct ctl *ctl, struct drain *d, char **what, int n)
{
	json_t *requests = json_array(), *table = NULL;
	int status = change_ask(&d->ask, "exclude", &how, what, n, requests, &table), kept;

	if (status == OK)
		status = mark_requests(d, requests);
	json_decref(requests);
	if (status != OK) {
		json_decref(table);
		return status;
	}
	d->version = json_count(table, "version");
	status = await_drained(ctl, d);
	if (ctl->json && (status == OK || status == TIMEOUT))
		json_show(json_pack("{sb sb sI sO}", "drained", status == OK, "in_force",
				    d->in_force, "version", (json_int_t)d->version, "waits",
				    d->waits));
	else if (status == OK)
		print_drained(what, n);
	if (status == OK && !change_is_kept(table))
		status = order_again(d, what, n, &table);
	kept = status == OK ? change_kept(table) : status;
	json_decref(table);
	return kept;
}

static int cmd_drain(struct ctl *ctl, int argc, char **argv)
{
	struct drain d = { .version = 0 };
	int status = ask_open(ctl, &d.ask);

	if (status != OK)
		return status;
	how.asks = !ctl->json;
	d.waits = json_array();
	status = drain_named(ctl, &d, argv, argc);
	free(d.ports);
	free(d.whole);
	free(d.received);
	json_decref(d.waits);
	ask_close(&d.ask);
	return status;
}

static const struct opt opts[] = {
	{ OPT_TEXT, "reason", 'r', "TEXT", &how.reason, 0, 0,
	  "the reason; stored with your name and the time" },
	{ OPT_FLAG, "force", 0, NULL, &how.force, 0, 0,
	  "exclude even if other nodes or pairs lose their paths" },
	{ .kind = OPT_END },
};

COMMAND(cmd_drain) = {
	.name = "drain",
	.args = "NODE | LINK...",
	.brief = "Exclude links or nodes, and wait until the cable may be pulled",
	.help = "Excludes as 'fabricctl exclude' does, which refuses to cut off other nodes\n"
		"unless --force is given. Then it waits until the exclusion is in the table and\n"
		"in force, and until 10 checks in a row, within about 1 s, found no packet in the\n"
		"buffers of the ports at both ends of each cable, none received there between the\n"
		"checks, and none parked or held at a node that is named as a whole. Only then it\n"
		"reports that the cable may be pulled. It waits 30 s, or --timeout; after that it\n"
		"ends with exit status 6 and says what is left, and the exclusion stays in force.\n"
		"On a terminal it asks for a reason if there is no --reason, as exclude does.\n"
		"Exit status 1 and 3 as with 'fabricctl exclude'. 'fabricctl include' puts the\n"
		"link or node back into service.",
	.opts = opts,
	.min = 1,
	.max = ANY_ARGS,
	.asks = true,
	.json = true,
	.run = cmd_drain,
};
