// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "output.h"
#include "rows.h"

#define ROW_DIGITS 16
#define ROWS_MAX 131072		/* most rows in an answer: fabricd-control(7) */
#define RUNS_MAX (1 << 20)	/* most rows in an answer that has runs of rows */

static int digit_read(char c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static int row_read(const char *text, uint64_t *row)
{
	*row = 0;
	for (unsigned int i = 0; i < ROW_DIGITS; i++) {
		int digit = digit_read(text[i]);

		if (digit < 0)
			return CANNOT;
		*row = *row << 4 | (unsigned int)digit;
	}
	return OK;
}

/* Reads rows, each a text of its own. Return: number of rows */
static size_t read_apart(const json_t *rows, uint64_t *row, size_t max)
{
	size_t i, n = json_array_size(rows);

	for (i = 0; i < n && i < max; i++) {
		const char *text = json_string_value(json_array_get(rows, i));

		if (!text || strlen(text) != ROW_DIGITS || row_read(text, &row[i]) != OK)
			return i;
	}
	return n;
}

/* Reads "*N" after a row. Return: N; 1 if there is no "*N"; 0 if N is not a number */
static size_t read_times(const char **text)
{
	size_t n = 0;

	if (**text != '*')
		return 1;
	for (++*text; **text >= '0' && **text <= '9' && n <= UINT32_MAX; ++*text)
		n = 10 * n + (size_t)(**text - '0');
	return n;
}

/* Reads rows or runs of rows from one text. Return: number of rows, at most @max + 1 */
static size_t read_runs(const char *text, uint64_t *row, size_t max)
{
	size_t n = 0;

	while (*text && n < max) {
		size_t times;

		if (row_read(text, &row[n]) != OK)
			return n;
		text += ROW_DIGITS;
		times = read_times(&text);
		if (times > max - n)
			return max + 1;
		for (size_t i = 1; i < times; i++)
			row[n + i] = row[n];
		n += times;
		text += *text == ',';
	}
	return n + !!*text;
}

static int unpack_rows(const json_t *data, uint32_t nodes, struct rows *out)
{
	const json_t *rows = json_object_get(data, "rows");
	size_t n;

	out->version = json_count(data, "version");
	out->n = nodes;
	out->row = calloc(nodes, sizeof(*out->row));
	if (!out->row)
		return fail("out of memory");
	n = json_is_string(rows) ? read_runs(json_string_value(rows), out->row, nodes) :
				   read_apart(rows, out->row, nodes);
	if (n == nodes)
		return OK;
	rows_free(out);
	return fail_as(PROBLEM,
		       "a NIC has %zu rows of %d hex digits, the fabric %u nodes: it has not its "
		       "table yet; try again", n, ROW_DIGITS, nodes);
}

int rows_get(struct ask *a, const struct torus_shape *shape, uint32_t node, struct rows *out)
{
	char at[TORUS_TEXT_MAX];
	json_t *data;
	int status;

	*out = (struct rows) { 0 };
	torus_node_text(shape, node, at);
	status = ask(a, json_pack("{ss ss}", "cmd", "rows", "node", at), &data);
	if (status != OK)
		return status;
	status = unpack_rows(data, torus_nodes(shape), out);
	json_decref(data);
	return status;
}

uint32_t rows_batch(const struct rows_reader *r)
{
	uint32_t n = torus_nodes(r->shape), max = (r->apart ? ROWS_MAX : RUNS_MAX) / n;

	return max < 1 ? 1 : max < n ? max : n;
}

/*
 * Takes the rows of one node from the answer about @n nodes from @first on. The answer ends with
 * the first node for whose rows it had no room.
 */
static void parse_rows(const json_t *data, const struct torus_shape *shape, uint32_t first,
		       struct rows *out, uint32_t *n)
{
	uint32_t id;

	if (json_node_read(json_object_get(data, "node"), shape, &id) || id < first ||
	    id - first >= *n || out[id - first].row)
		return;
	if (id > first && json_is_null(json_object_get(data, "rows")))
		*n = id - first;
	else
		unpack_rows(data, torus_nodes(shape), &out[id - first]);
}

/* Asks for rows. @runs: request runs of rows, which a manager of an earlier release refuses. */
static int ask_rows(struct rows_reader *r, uint32_t first, bool runs, uint32_t *n, json_t **list)
{
	uint32_t left = torus_nodes(r->shape) - first;
	char at[TORUS_TEXT_MAX];
	json_t *request;

	*n = rows_batch(r) < left ? rows_batch(r) : left;
	request = json_pack("{ss ss si}", "cmd", "rows", "node",
			    torus_node_text(r->shape, first, at), "count", (int)*n);
	if (!runs)
		return ask(r->ask, request, list);
	json_object_set_new(request, "runs", json_true());
	return ask_try(r->ask, request, list, &r->apart);
}

int rows_get_some(struct rows_reader *r, uint32_t first, struct rows *out, uint32_t *n)
{
	bool runs = !r->apart;
	uint32_t asked;
	json_t *list, *v;
	size_t i;
	int status = ask_rows(r, first, runs, n, &list);

	if (runs && r->apart)
		status = ask_rows(r, first, false, n, &list);
	asked = *n;
	memset(out, 0, asked * sizeof(*out));
	if (status != OK)
		return status;
	json_array_foreach(list, i, v)
		parse_rows(v, r->shape, first, out, n);
	for (uint32_t id = *n; id < asked; id++)
		rows_free(&out[id]);
	json_decref(list);
	return OK;
}

void rows_free(struct rows *r)
{
	free(r->row);
	r->row = NULL;
}

/* Return: the ports that can have a cable: those of dimensions with more than one node. */
static uint16_t ports_of_cable(const struct torus_shape *shape)
{
	uint16_t mask = 0;

	for (unsigned int p = 0; p < 2 * shape->ndims; p++)
		if (shape->size[p % shape->ndims] > 1)
			mask |= (uint16_t)(1 << p);
	return mask;
}

static uint16_t rows_port_mask(const struct torus_shape *shape, const char *text)
{
	unsigned int port;

	if (!text)
		return (uint16_t)((1 << 2 * shape->ndims) - 1);
	return torus_port_parse(text, shape->ndims, &port) ? 0 : (uint16_t)(1 << port);
}

/* Reads the excluded ports. @admin: one for each node, zeroed by the caller. */
static void take_excluded(const json_t *list, struct exclusions *e, uint16_t *admin)
{
	uint16_t all = ports_of_cable(&e->shape);
	uint32_t id;
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		const char *why = json_text(v, "why");
		uint16_t mask = rows_port_mask(&e->shape, json_text(v, "port"));

		if (json_node_read(json_object_get(v, "node"), &e->shape, &id))
			continue;
		e->port[id] |= mask;
		if (why && !strcmp(why, "admin"))
			admin[id] |= mask;
		e->out[id] = all && (admin[id] & all) == all;
	}
	torus_exclusions_close(&e->shape, e->port);
}

static void take_nodes(const json_t *list, struct exclusions *e)
{
	uint32_t id;
	size_t i;
	json_t *v;

	json_array_foreach(list, i, v) {
		const char *state = json_text(v, "state");

		if (json_node_read(json_object_get(v, "node"), &e->shape, &id))
			continue;
		e->up[id] = state && !strcmp(state, "up");
		if (!e->up[id])
			json_array_append(e->missing, v);
	}
}

int exclusions_get(struct ask *a, struct exclusions *out)
{
	uint16_t *admin;
	uint32_t nodes;
	json_t *data;
	int status;

	*out = (struct exclusions) { 0 };
	status = ask(a, json_pack("{ss}", "cmd", "table"), &data);
	if (status != OK)
		return status;
	ask_label(a, true);
	out->version = json_count(data, "version");
	if (json_shape_read(json_object_get(data, "shape"), &out->shape)) {
		json_decref(data);
		return fail_as(PROBLEM,
			       "the fabric has no table yet: it is still bootstrapping; try again");
	}
	nodes = torus_nodes(&out->shape);
	out->port = calloc(nodes, sizeof(*out->port));
	out->up = calloc(nodes, sizeof(*out->up));
	out->out = calloc(nodes, sizeof(*out->out));
	out->missing = json_array();
	admin = calloc(nodes, sizeof(*admin));
	if (out->port && out->up && out->out && out->missing && admin) {
		take_excluded(json_object_get(data, "excluded"), out, admin);
		take_nodes(json_object_get(data, "nodes"), out);
	} else {
		exclusions_free(out);
		status = fail("out of memory");
	}
	free(admin);
	json_decref(data);
	return status;
}

void exclusions_free(struct exclusions *e)
{
	free(e->port);
	free(e->up);
	free(e->out);
	json_decref(e->missing);
	e->missing = NULL;
	e->port = NULL;
	e->up = NULL;
	e->out = NULL;
}

char *rows_dirs_text(unsigned int ndims, unsigned int mask, char *buf)
{
	char port[TORUS_TEXT_MAX];

	strcpy(buf, mask ? "" : "-");
	for (unsigned int p = 0; p < 2 * ndims; p++)
		if (mask & 1 << p) {
			if (*buf)
				strcat(buf, " ");
			strcat(buf, torus_port_text(ndims, p, port));
		}
	return buf;
}

json_t *rows_dirs_json(unsigned int ndims, unsigned int mask)
{
	char port[TORUS_TEXT_MAX];
	json_t *list = json_array();

	for (unsigned int p = 0; p < 2 * ndims; p++)
		if (mask & 1 << p)
			json_array_append_new(list, json_string(torus_port_text(ndims, p, port)));
	return list;
}

int rows_step(uint64_t row, unsigned int shift)
{
	unsigned int step = row >> shift & TORUS_ROW_STEP_MASK;

	return step == TORUS_ROW_NO_STEP ? -1 : (int)step;
}
