// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "json.h"
#include "map.h"

#define CELL_MAX 24
#define ALONG 4			/* columns between two nodes of a row */

enum cable { NO_CABLE, CABLE_UP, CABLE_DOWN, CABLE_EXCLUDED };

struct map {
	struct torus_shape shape;
	uint32_t nodes;
	char (*name)[CELL_MAX];
	enum colour *colour;
	enum cable *cable;		/* state of each cable, by [node][dimension]: the cable
					 * at the node's plus port */
	int cell;			/* columns for a node's name */
};

enum colour map_colour(const char *state)
{
	if (!state)
		return FAINT;
	if (!strcmp(state, "up"))
		return GOOD;
	return strcmp(state, "joining") && strcmp(state, "silent") ? BAD : DOUBTFUL;
}

static void put_nodes(struct map *m, const json_t *nodes)
{
	char text[TORUS_TEXT_MAX];
	uint32_t id;
	size_t i;
	json_t *v;

	for (id = 0; id < m->nodes; id++) {
		snprintf(m->name[id], CELL_MAX, "%s", "?");
		m->colour[id] = FAINT;
	}
	json_array_foreach(nodes, i, v) {
		const char *state = json_text(v, "state");
		bool up = state && !strcmp(state, "up");

		if (json_node_read(json_object_get(v, "node"), &m->shape, &id))
			continue;
		torus_node_text(&m->shape, id, text);
		snprintf(m->name[id], CELL_MAX, up ? "%.20s" : "(%.20s)", text);
		m->colour[id] = map_colour(state);
	}
	for (id = 0; id < m->nodes; id++)
		if ((int)strlen(m->name[id]) > m->cell)
			m->cell = (int)strlen(m->name[id]);
}

/* Marks each cable with the worse of the states that its two ends report. */
static void place_links(struct map *m, const json_t *links)
{
	unsigned int port, n = m->shape.ndims;
	uint32_t id;
	size_t i;
	json_t *v;

	json_array_foreach(links, i, v) {
		const char *state = json_text(v, "state"), *text = json_text(v, "port");
		enum cable c = state && !strcmp(state, "up") ? CABLE_UP : CABLE_DOWN;
		enum cable *at;

		if (json_node_read(json_object_get(v, "node"), &m->shape, &id) || !text ||
		    torus_port_parse(text, n, &port) || m->shape.size[port % n] == 1)
			continue;
		if (c == CABLE_UP && json_is_string(json_object_get(v, "excluded")))
			c = CABLE_EXCLUDED;
		if (port >= n)
			id = torus_neighbour(&m->shape, id, port);
		at = &m->cable[id * n + port % n];
		if (*at != CABLE_DOWN)
			*at = *at == CABLE_EXCLUDED && c == CABLE_UP ? *at : c;
	}
}

static uint32_t node_at(const struct map *m, unsigned int x, unsigned int y, unsigned int z)
{
	struct torus_coords at = { .c = { (uint16_t)x, (uint16_t)y, (uint16_t)z } };

	return torus_node_id(&m->shape, &at);
}

static void draw_along(enum cable c)
{
	static const char *const fine[] = { "    ", " \u2500\u2500 ", " \u2573\u2573 ",
					    " \u2504\u2504 " };
	static const char *const plain[] = { "    ", " -- ", " xx ", " .. " };
	static const enum colour colours[] = { PLAIN, FAINT, BAD, DOUBTFUL };

	printf("%s%s%s", paint(colours[c]), (wide() ? fine : plain)[c], paint(PLAIN));
}

static void draw_across(const struct map *m, enum cable c)
{
	static const char *const fine[] = { " ", "\u2502", "\u2573", "\u2506" };
	static const char *const plain[] = { " ", "|", "x", ":" };
	static const enum colour colours[] = { PLAIN, FAINT, BAD, DOUBTFUL };
	int left = (m->cell - 1) / 2;

	printf("%*s%s%s%s%*s", left, "", paint(colours[c]), (wide() ? fine : plain)[c],
	       paint(PLAIN), m->cell - left - 1 + ALONG, "");
}

static void draw_row(const struct map *m, unsigned int y, unsigned int z)
{
	for (unsigned int x = 0; x < m->shape.size[0]; x++) {
		uint32_t id = node_at(m, x, y, z);
		int pad = m->cell - (int)strlen(m->name[id]);

		printf("%*s%s%s%s%*s", pad / 2, "", paint(m->colour[id]), m->name[id],
		       paint(PLAIN), pad - pad / 2, "");
		draw_along(m->cable[id * m->shape.ndims]);
	}
}

static void draw_space(const struct map *m, unsigned int y, unsigned int z)
{
	for (unsigned int x = 0; x < m->shape.size[0]; x++)
		draw_across(m, m->shape.ndims < 2 ? NO_CABLE :
			    m->cable[node_at(m, x, y, z) * m->shape.ndims + 1]);
}

/* Prints the cables along z that are not up, because the drawing shows only planes of x and y. */
static void name_depth(const struct map *m)
{
	char text[TORUS_TEXT_MAX];

	for (uint32_t id = 0; m->shape.ndims > 2 && id < m->nodes; id++) {
		enum cable c = m->cable[id * 3 + 2];

		if (c == CABLE_DOWN || c == CABLE_EXCLUDED)
			printf("%s%s:+z %s%s\n", paint(c == CABLE_DOWN ? BAD : DOUBTFUL),
			       torus_node_text(&m->shape, id, text),
			       c == CABLE_DOWN ? "is down" : "is excluded", paint(PLAIN));
	}
}

static void draw_planes(const struct map *m, unsigned int from, unsigned int to)
{
	int width = m->shape.size[0] * (m->cell + ALONG);

	if (m->shape.ndims > 2) {
		for (unsigned int z = from; z < to; z++)
			printf("z=%-*u", width + 2, z);
		putchar('\n');
	}
	for (unsigned int y = m->shape.size[1]; y-- > 0;) {
		for (unsigned int z = from; z < to; z++) {
			draw_space(m, y, z);
			printf("%s", z + 1 < to ? "    " : "\n");
		}
		for (unsigned int z = from; z < to; z++) {
			draw_row(m, y, z);
			printf("%s", z + 1 < to ? "    " : "\n");
		}
	}
	putchar('\n');
}

static void draw_map(const struct map *m)
{
	int width = m->shape.size[0] * (m->cell + ALONG) + 4;
	unsigned int fit = (unsigned int)(screen_columns() / width);
	unsigned int planes = m->shape.size[2];

	if (fit < 1)
		fit = 1;
	for (unsigned int z = 0; z < planes; z += fit)
		draw_planes(m, z, z + fit < planes ? z + fit : planes);
	name_depth(m);
	printf("x to the right, y upwards; stubs at the edges close the rings%s\n",
	       wide() ? "; \u2500 up, \u2573 down, \u2504 excluded, (node) not up" :
			"; - up, x down, . excluded, (node) not up");
}

int map_print(const struct torus_shape *shape, const json_t *nodes, const json_t *links)
{
	struct map m = { .shape = *shape, .nodes = torus_nodes(shape) };
	int status = OK;

	if (shape->ndims > 3)
		return fail("a map shows 1 to 3 dimensions, the fabric has %u; 'fabricctl nodes' "
			    "lists its nodes", shape->ndims);
	m.name = calloc(m.nodes, sizeof(*m.name));
	m.colour = calloc(m.nodes, sizeof(*m.colour));
	m.cable = calloc((size_t)m.nodes * shape->ndims, sizeof(*m.cable));
	if (m.name && m.colour && m.cable) {
		put_nodes(&m, nodes);
		place_links(&m, links);
		draw_map(&m);
	} else {
		status = fail("out of memory");
	}
	free(m.name);
	free(m.colour);
	free(m.cable);
	return status;
}
