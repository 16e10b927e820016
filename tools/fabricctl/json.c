// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "output.h"

static json_t *missing, *rootless;
static bool full, shown;
static char refusal[24];

void json_full(void)
{
	full = true;
}

/* Adds each node once, because several questions of one command may lack the same nodes. */
void json_missing(const json_t *nodes, const json_t *how)
{
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	if (!full)
		return;
	if (!missing)
		missing = json_object();
	json_array_foreach(nodes, i, v)
		json_object_set(missing, json_coords_text(v, at), v);
	if (json_is_object(how) && !rootless)
		rootless = json_copy((json_t *)how);
}

void json_code(const char *code)
{
	snprintf(refusal, sizeof(refusal), "%s", code ? code : "");
}

static json_t *wrap_data(json_t *data)
{
	json_t *list = json_array(), *v, *j;
	const char *key;

	json_object_foreach(missing, key, v)
		json_array_append(list, v);
	j = json_pack("{so so so}", "data", data, "missing", list, "rootless",
		      rootless ? rootless : json_null());
	json_decref(missing);
	missing = rootless = NULL;
	return j;
}

/* Return: @text as a string; with '?' for each byte that is not ASCII if it is not valid UTF-8 */
static json_t *readable_json(const char *text)
{
	json_t *j = json_string(text);
	char *copy = j ? NULL : strdup(text);

	for (char *c = copy; c && *c; c++)
		*c = (unsigned char)*c < 0x80 ? *c : '?';
	if (copy)
		j = json_string(copy);
	free(copy);
	return j;
}

void json_failed(int status)
{
	static const char *const codes[] = {
		[PROBLEM] = "failed", [CANNOT] = "usage", [NOT_KEPT] = "failed",
		[DENIED] = "denied", [UNREACHABLE] = "unreachable", [TIMEOUT] = "timeout",
	};
	const char *code = *refusal ? refusal :
			   status > 0 && status <= TIMEOUT ? codes[status] : "failed";
	json_t *j;

	if (status != OK && !shown && *last_message()) {
		j = json_pack("{sb ss so}", "ok", 0, "code", code, "error",
			      readable_json(last_message()));
		json_dumpf(j, stdout, JSON_COMPACT);
		putchar('\n');
		json_decref(j);
	}
	shown = false;
	*refusal = '\0';
}

void json_show(json_t *j)
{
	if (!j) {
		warn("out of memory");
		return;
	}
	shown = true;
	if (full)
		j = wrap_data(j);
	json_dumpf(j, stdout, JSON_COMPACT | JSON_ENCODE_ANY);
	putchar('\n');
	json_decref(j);
}

json_t *json_shape(const struct torus_shape *shape)
{
	json_t *list = json_array();

	for (unsigned int d = 0; d < shape->ndims; d++)
		json_array_append_new(list, json_integer(shape->size[d]));
	return list;
}

json_t *json_node(const struct torus_shape *shape, uint32_t id)
{
	json_t *list = json_array();
	struct torus_coords at;

	torus_node_coords(shape, id, &at);
	for (unsigned int d = 0; d < shape->ndims; d++)
		json_array_append_new(list, json_integer(at.c[d]));
	return list;
}

int json_shape_read(const json_t *j, struct torus_shape *shape)
{
	size_t n = json_array_size(j);

	if (n < 1 || n > TORUS_MAX_DIMS)
		return -EINVAL;
	shape->ndims = (uint8_t)n;
	for (unsigned int d = 0; d < TORUS_MAX_DIMS; d++) {
		json_int_t v = d < n ? json_integer_value(json_array_get(j, d)) : 1;

		if (v < 1 || v > TORUS_MAX_SIZE)
			return -EINVAL;
		shape->size[d] = (uint16_t)v;
	}
	return torus_nodes(shape) ? 0 : -EINVAL;
}

int json_node_read(const json_t *j, const struct torus_shape *shape, uint32_t *id)
{
	struct torus_coords at = { 0 };

	if (json_array_size(j) != shape->ndims)
		return -EINVAL;
	for (unsigned int d = 0; d < shape->ndims; d++) {
		json_t *v = json_array_get(j, d);

		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) >= shape->size[d])
			return -EINVAL;
		at.c[d] = (uint16_t)json_integer_value(v);
	}
	*id = torus_node_id(shape, &at);
	return 0;
}

static json_t *names;	/* names of nodes, by coordinates as text */

void json_names_set(const json_t *nodes)
{
	char at[TORUS_TEXT_MAX];
	size_t i;
	json_t *v;

	json_decref(names);
	names = json_object();
	json_array_foreach(nodes, i, v)
		if (json_is_array(json_object_get(v, "node")) && json_text(v, "name"))
			json_object_set(names, json_coords_text(json_object_get(v, "node"), at),
					json_object_get(v, "name"));
}

/* Replaces coordinates in @buf by the node's name, if it is known. */
static char *name_text(char *buf)
{
	const char *name = json_text(names, buf);

	if (name)
		snprintf(buf, TORUS_TEXT_MAX, "%s", name);
	return buf;
}

char *json_node_text(const json_t *j, char *buf)
{
	return name_text(json_coords_text(j, buf));
}

char *json_id_text(const struct torus_shape *shape, uint32_t id, char *buf)
{
	return name_text(torus_node_text(shape, id, buf));
}

char *json_coords_text(const json_t *j, char *buf)
{
	size_t len = 0, i;
	json_t *v;

	strcpy(buf, "-");
	json_array_foreach(j, i, v)
		if (len < TORUS_TEXT_MAX - 8)
			len += (size_t)sprintf(buf + len, "%s%u", i ? "," : "",
					       (unsigned int)(json_integer_value(v) & 0xffff));
	return buf;
}

char *json_end_text(const json_t *j, char *buf)
{
	const char *port = json_text(j, "port");
	const json_t *node = json_object_get(j, "node");

	json_node_text(node, buf);
	if (port && json_is_null(node))
		strcpy(buf, "?");	/* the NIC of that node is in no table */
	if (port && strlen(buf) + strlen(port) + 2 < TORUS_TEXT_MAX)
		sprintf(buf + strlen(buf), ":%s", port);
	return buf;
}

const char *json_text(const json_t *j, const char *key)
{
	return json_string_value(json_object_get(j, key));
}

uint64_t json_count(const json_t *j, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(j, key));
}
