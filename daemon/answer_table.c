// SPDX-License-Identifier: GPL-2.0-only
/* The exclusion table, and the orders of administrators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"
#include "daemon/fm/wire/msg.h"

json_t *shape_json(const struct torus_shape *shape)
{
	json_t *j = json_array();

	for (unsigned int i = 0; i < shape->ndims; i++)
		json_array_append_new(j, json_integer(shape->size[i]));
	return j;
}

json_t *until_json(uint64_t until)
{
	return until ? json_integer((json_int_t)until) : json_null();
}

json_t *order_json(const struct fabricd *d, const struct fm_order *o, uint16_t ports)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	unsigned int first = (unsigned int)__builtin_ctz(ports);
	json_t *list = json_array();
	const struct fm_entry *e;
	uint32_t node = o->node;

	if (ports == 1u << first && first >= shape->ndims) {
		node = torus_neighbour(shape, node, first);
		ports = (uint16_t)(1u << torus_dir_opposite(shape, first));
	}
	for (unsigned int p = 0; p < 2u * shape->ndims; p++)
		if (ports & 1u << p)
			json_array_append_new(list, port_json(d, p));
	e = fm_node(d->fm, node);
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}",
			 "node", node_json(d, node), "name", text_json(e ? e->name : NULL),
			 "ports", list,
			 "uid", o->uid == SVC_NO_UID ? json_null() : json_integer(o->uid),
			 "by", text_json(o->by), "since", (json_int_t)o->since,
			 "until", until_json(o->until),
			 "reason", text_json(o->reason));
}

/*
 * Adds an order to @list: as one item if it is about all ports of a node, else as one item for each
 * cable.
 */
static void add_order(const struct fabricd *d, const struct fm_order *o, json_t *list)
{
	unsigned int ports = 2u * fm_shape(d->fm)->ndims;

	if (o->ports == (1u << ports) - 1) {
		json_array_append_new(list, order_json(d, o, o->ports));
		return;
	}
	for (unsigned int p = 0; p < ports; p++)
		if (o->ports & 1u << p)
			json_array_append_new(list, order_json(d, o, (uint16_t)(1u << p)));
}

json_t *orders_json(const struct fabricd *d)
{
	json_t *list = json_array();
	const struct fm_order *o;

	for (uint32_t i = 0; d->fm && (o = fm_order(d->fm, i)); i++)
		add_order(d, o, list);
	return list;
}

static void add_excluded_port(json_t *list, struct fabricd *d, uint32_t node, unsigned int port,
			      const char *why)
{
	json_array_append_new(list, json_pack("{s:o, s:o, s:s}", "node", node_json(d, node),
					      "port", port_json(d, port), "why", why));
}

/*
 * Return: the excluded cables. Each cable is listed once, by its end at a port with "+". Of a node
 * out of service, all ports are listed, because the whole node is out and not only its cables.
 */
static json_t *excluded_json(struct fabricd *d)
{
	const struct torus_shape *shape = fm_shape(d->fm);
	json_t *list = json_array();

	for (uint32_t i = 0; i < torus_nodes(shape); i++) {
		bool out = fm_out_of_service(d->fm, i);

		for (unsigned int p = 0; p < 2u * shape->ndims; p++) {
			uint32_t peer = torus_neighbour(shape, i, p);
			const char *why = fm_excluded(d->fm, i, p);

			if (out)
				add_excluded_port(list, d, i, p, "admin");
			else if (p < shape->ndims && peer != i && why &&
				 !(fm_out_of_service(d->fm, peer) && !strcmp(why, "admin")))
				add_excluded_port(list, d, i, p, why);
		}
	}
	return list;
}

/*
 * Return: for each port that routing does not use, the reason. A cable that is excluded at one end
 * is excluded at both ends.
 */
static json_t *reasons_json(const struct fabricd *d, uint32_t node)
{
	json_t *j = json_object();
	char text[TORUS_TEXT_MAX];

	for (unsigned int p = 0; p < 2u * fm_shape(d->fm)->ndims; p++) {
		const char *why = fm_excluded(d->fm, node, p);

		if (why)
			json_object_set_new(j, torus_port_text(fm_shape(d->fm)->ndims, p, text),
					    json_string(why));
	}
	return j;
}

static json_t *table_node_json(const struct fabricd *d, uint32_t node)
{
	const struct fm_entry *e = fm_node(d->fm, node);

	return json_pack("{s:o, s:s, s:o}", "node", node_json(d, node), "state",
			 fm_node_state_name(e ? e->state : FM_NODE_ABSENT), "ports",
			 reasons_json(d, node));
}

/* Return: the table, with these nodes; takes over the reference to @nodes. */
static json_t *table_with(struct fabricd *d, json_t *nodes)
{
	const struct torus_shape *shape = fm_shape(d->fm);

	return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o}", "version",
			 (json_int_t)fm_version(d->fm),
			 "epoch", (json_int_t)fm_version_epoch(d->fm), "shape",
			 shape_json(shape), "excluded", excluded_json(d), "nodes", nodes, "orders",
			 orders_json(d));
}

json_t *table_json(struct fabricd *d)
{
	json_t *nodes = json_array();

	for (uint32_t i = 0; i < torus_nodes(fm_shape(d->fm)); i++)
		json_array_append_new(nodes, table_node_json(d, i));
	return table_with(d, nodes);
}

/*
 * Return: the text of the array of all nodes, to be freed; NULL if out of memory. JSON values of
 * all nodes would take twenty times as much memory.
 */
static char *table_nodes_text(const struct fabricd *d)
{
	uint32_t n = torus_nodes(fm_shape(d->fm));
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		json_t *j = table_node_json(d, i);

		fputc(i ? ',' : '[', f);
		json_dumpf(j, f, JSON_COMPACT);
		json_decref(j);
	}
	fputs(n ? "]" : "[]", f);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

void answer_table(struct request *rq)
{
	char *nodes;

	if (!answer_ready(rq))
		return;
	nodes = table_nodes_text(rq->d);
	if (nodes)
		answer_ok_with(rq, table_with(rq->d, json_array()), "nodes", nodes);
	else
		answer_error(rq, "failed", "out of memory");
	free(nodes);
}
