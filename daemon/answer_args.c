// SPDX-License-Identifier: GPL-2.0-only
/* Checks the arguments of a request, and that there is a fabric to ask about. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/answer.h"

bool answer_ready(struct request *rq)
{
	struct fabricd *d = rq->d;

	if (!d->fm) {
		answer_error(rq, "not-ready", "no NIC: %s", d->nic_text);
		return false;
	}
	if (fm_own(d->fm) == TORUS_NO_NODE || !fm_node(d->fm, 0)) {
		answer_error(rq, "not-ready", "the fabric is still bootstrapping");
		return false;
	}
	return true;
}

/*
 * Return: the number of nodes whose names neither this root nor the root before this one has
 * learned.
 */
static uint32_t count_nameless(const struct fm *fm)
{
	const struct fm_entry *e;
	uint32_t n = 0;

	for (uint32_t i = 0; (e = fm_node(fm, i)); i++)
		n += (e->state == FM_NODE_SILENT || e->state == FM_NODE_DEAD) && !e->name[0];
	return n;
}

static void unknown_name(struct request *rq, const struct torus_shape *shape, const char *text)
{
	char all[TORUS_TEXT_MAX], last[TORUS_TEXT_MAX];
	bool coordinates = !text[strspn(text, "0123456789,")];
	uint32_t n = coordinates ? 0 : count_nameless(rq->d->fm);

	torus_node_text(shape, torus_nodes(shape) - 1, last);
	if (n)
		answer_error(rq, "failed",
			     "no node is known as '%.64s', but the names of %u node%s are not "
			     "known, because %s not answer: write coordinates up to %s",
			     text, n, n == 1 ? "" : "s",
			     n == 1 ? "its manager does" : "their managers do", last);
	else
		answer_error(rq, "usage",
			     "node '%.64s' is neither a node's name nor coordinates in %s: "
			     "must be a name, an address or a GUID ('fabricctl nodes' "
			     "lists them), or coordinates up to %s",
			     text, torus_shape_text(shape, all), last);
}

static void wrong_node(struct request *rq, const struct torus_shape *shape, const char *text)
{
	const char *p = text;

	for (unsigned int i = 0; i < shape->ndims; i++) {
		char *end;
		unsigned long at = strtoul(p, &end, 10);

		if (end == p || *end != (i + 1 < shape->ndims ? ',' : '\0'))
			break;
		if (at >= shape->size[i]) {
			answer_error(rq, "usage", "node '%.64s': %c is %.*s, must be 0 to %u", text,
				     "xyzabc"[i], (int)(end - p < 20 ? end - p : 20), p,
				     shape->size[i] - 1u);
			return;
		}
		p = end + 1;
	}
	unknown_name(rq, shape, text);
}

/* Return: true if @text is the address of a manager, with its port or without. */
static bool is_service(const struct fm_entry *e, const char *text)
{
	size_t n = strlen(text);

	return n && !strncmp(e->address, text, n) && (!e->address[n] || e->address[n] == ':');
}

/* Finds a node by its address in the torus, the address of its manager, or its GUID. */
static uint32_t find_by_address(const struct fm *fm, const struct torus_shape *shape,
				const char *text)
{
	bool guid = strlen(text) == 16 && strspn(text, "0123456789abcdefABCDEF") == 16;
	struct in_addr addr;
	const struct fm_entry *e;
	struct torus_plan plan = fm_address_plan(fm);
	bool v4 = inet_pton(AF_INET, text, &addr) == 1;
	struct in6_addr addr6;
	bool v6 = inet_pton(AF_INET6, text, &addr6) == 1;

	if (guid)
		return fm_node_by_guid(fm, strtoull(text, NULL, 16));
	if (!strpbrk(text, ".:"))
		return TORUS_NO_NODE;
	for (uint32_t i = 0; (e = fm_node(fm, i)); i++)
		if (is_service(e, text))
			return i;
	if (!torus_nodes(shape))
		return TORUS_NO_NODE;
	return v4 ? torus_plan_node4(&plan, shape, addr) :
	       v6 ? torus_plan_node6(&plan, shape, &addr6) : TORUS_NO_NODE;
}

int answer_node(struct request *rq, bool needed, uint32_t *out)
{
	const char *text = json_string_value(json_object_get(rq->args, "node"));
	const struct torus_shape *shape;
	struct torus_coords at;

	*out = TORUS_NO_NODE;
	if (!text && !needed)
		return 0;
	if (!text) {
		answer_error(rq, "usage", "%s: argument 'node' is missing: coordinates such as "
			     "'1,0,3', or a name", rq->cmd->name);
		return -EINVAL;
	}
	shape = fm_shape(rq->d->fm);
	if (torus_coords_parse(text, shape, &at) == 0)
		*out = torus_node_id(shape, &at);
	else
		*out = fm_node_by_name(rq->d->fm, text);
	if (*out == TORUS_NO_NODE)
		*out = find_by_address(rq->d->fm, shape, text);
	if (*out != TORUS_NO_NODE)
		return 0;
	wrong_node(rq, shape, text);
	return -EINVAL;
}

int answer_port(struct request *rq, int *out)
{
	const char *text = json_string_value(json_object_get(rq->args, "port"));
	unsigned int port, ndims;
	char last[TORUS_TEXT_MAX];

	*out = -1;
	if (!text)
		return 0;
	ndims = fm_shape(rq->d->fm)->ndims;
	if (torus_port_parse(text, ndims, &port) == 0) {
		*out = (int)port;
		return 0;
	}
	answer_error(rq, "usage", "port '%.32s', must be +x to %s", text,
		     torus_port_text(ndims, 2 * ndims - 1, last));
	return -EINVAL;
}

/*
 * If "node" or "name" is an array of coordinates, the form that replies use, converts it to a text.
 */
static int coords_to_text(json_t *args, const char *key)
{
	json_t *j = json_object_get(args, key);
	char text[TORUS_TEXT_MAX] = "";
	size_t n = 0, i;
	json_t *c;

	if (!json_is_array(j))
		return 0;
	if (!json_array_size(j) || json_array_size(j) > TORUS_MAX_DIMS)
		return -EINVAL;
	json_array_foreach(j, i, c) {
		json_int_t v = json_integer_value(c);

		if (!json_is_integer(c) || v < 0 || v >= TORUS_MAX_SIZE)
			return -EINVAL;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%d", i ? "," : "", (int)v);
	}
	return json_object_set_new(args, key, json_string(text));
}

static bool is_named(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (!n || strchr(name, ' '))
		return false;
	for (const char *p = list; (p = strstr(p, name)); p++)
		if (p > list && p[-1] == ' ' && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

static bool is_number(const char *key)
{
	return is_named(" since lane count for from to last packets seconds size rate "
			"min_links min_rate min_margin", key);
}

static bool is_flag(const char *key)
{
	return is_named(" follow lanes degraded brief bad errors up flows runs force local pull "
			"values look", key);
}

static bool is_list(const char *key)
{
	return is_named(" links nodes", key);
}

static bool are_texts(const json_t *list)
{
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v)
		if (!json_is_string(v))
			return false;
	return json_array_size(list);
}

static bool right_type(const char *key, const json_t *v)
{
	if (json_is_null(v))
		return true;
	if (is_number(key))
		return json_is_integer(v) && json_integer_value(v) >= 0;
	if (is_flag(key))
		return json_is_boolean(v);
	if (is_list(key))
		return are_texts(v);
	return json_is_string(v);
}

bool answer_args(struct request *rq)
{
	const char *key;
	json_t *v;

	if (coords_to_text(rq->args, "node") || coords_to_text(rq->args, "name")) {
		answer_error(rq, "usage", "coordinates are 1 to %d numbers of 0 to %d",
			     TORUS_MAX_DIMS, TORUS_MAX_SIZE - 1);
		return false;
	}
	json_object_foreach(rq->args, key, v) {
		if (!strcmp(key, "cmd"))
			continue;
		if (!is_named(rq->cmd->args, key)) {
			answer_error(rq, "usage", "%s: unknown argument '%.64s', known:%s",
				     rq->cmd->name, key,
				     *rq->cmd->args ? rq->cmd->args : " none");
			return false;
		}
		if (!right_type(key, v)) {
			answer_error(rq, "usage",
				     "%s: argument '%s' has the wrong type, must be %s",
				     rq->cmd->name, key,
				     is_number(key) ? "a number from 0 on" :
				     is_flag(key)   ? "true or false" :
				     is_list(key)   ? "an array of texts" :
						      "a text");
			return false;
		}
	}
	return true;
}
