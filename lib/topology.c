// SPDX-License-Identifier: LGPL-2.1-or-later
/* Shape, coordinates and directions, as text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <torus/topology.h>
#include "kernel/core/topo.h"

static const char letters[] = "xyzabc";

uint32_t torus_nodes(const struct torus_shape *shape)
{
	return tn_shape_nodes(shape);
}

uint32_t torus_node_id(const struct torus_shape *shape, const struct torus_coords *at)
{
	return tn_node_id(shape, at);
}

void torus_node_coords(const struct torus_shape *shape, uint32_t id,
		       struct torus_coords *at)
{
	tn_node_coords(shape, id, at);
}

uint32_t torus_neighbour(const struct torus_shape *shape, uint32_t id, unsigned int dir)
{
	struct torus_coords at;

	tn_node_coords(shape, id, &at);
	tn_step(shape, &at, dir);
	return tn_node_id(shape, &at);
}

unsigned int torus_dir_opposite(const struct torus_shape *shape, unsigned int dir)
{
	return tn_dir_opposite(shape, dir);
}

uint32_t torus_distance(const struct torus_shape *shape, uint32_t a, uint32_t b)
{
	struct torus_coords ca, cb;
	uint32_t sum = 0;
	unsigned int d;

	tn_node_coords(shape, a, &ca);
	tn_node_coords(shape, b, &cb);
	for (d = 0; d < shape->ndims; d++) {
		unsigned int size = shape->size[d];
		unsigned int plus = (cb.c[d] + size - ca.c[d]) % size;

		sum += plus <= size - plus ? plus : size - plus;
	}
	return sum;
}

/* --- text ------------------------------------------------------------------ */

/*
 * Parses decimal digits at *@text, and moves *@text after them. Signs, blanks and leading zeros
 * are errors, so that each value has exactly one text.
 */
static int number_parse(const char **text, unsigned int max, unsigned int *out)
{
	const char *s = *text;
	unsigned int v = 0;

	if (*s < '0' || *s > '9' || (s[0] == '0' && s[1] >= '0' && s[1] <= '9'))
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (unsigned int)(*s - '0');
		if (v > max)
			return -ERANGE;
	}
	*text = s;
	*out = v;
	return 0;
}

int torus_shape_parse(const char *text, struct torus_shape *out)
{
	struct torus_shape s = { .size = { 1, 1, 1, 1, 1, 1 } };
	unsigned int v;
	int err;

	for (;;) {
		err = number_parse(&text, TORUS_MAX_SIZE, &v);
		if (err)
			return err;
		if (v < 1 || s.ndims == TORUS_MAX_DIMS)
			return -ERANGE;
		s.size[s.ndims++] = (uint16_t)v;
		if (!*text)
			break;
		if (*text++ != 'x')
			return -EINVAL;
	}
	if (!tn_shape_nodes(&s))
		return -ERANGE;
	*out = s;
	return 0;
}

/* Parses coordinates up to the character @end; then *@text points to this character. */
static int coords_parse(const char **text, char end, const struct torus_shape *shape,
			struct torus_coords *out)
{
	struct torus_coords at = { { 0 } };
	unsigned int d, v;
	int err;

	for (d = 0; d < shape->ndims; d++) {
		if (d && *(*text)++ != ',')
			return -EINVAL;
		err = number_parse(text, shape->size[d] - 1u, &v);
		if (err)
			return err;
		at.c[d] = (uint16_t)v;
	}
	if (**text != end)
		return -EINVAL;
	*out = at;
	return 0;
}

int torus_coords_parse(const char *text, const struct torus_shape *shape,
		       struct torus_coords *out)
{
	return coords_parse(&text, '\0', shape, out);
}

int torus_port_parse(const char *text, unsigned int ndims, unsigned int *port)
{
	const char *letter;
	unsigned int d;

	if ((text[0] != '+' && text[0] != '-') || !text[1] || text[2])
		return -EINVAL;
	letter = strchr(letters, text[1]);
	if (!letter)
		return -EINVAL;
	d = (unsigned int)(letter - letters);
	if (d >= ndims)
		return -ERANGE;
	*port = text[0] == '+' ? d : ndims + d;
	return 0;
}

int torus_link_parse(const char *text, const struct torus_shape *shape, uint32_t *node,
		     unsigned int *port)
{
	struct torus_coords at;
	unsigned int p;
	int err;

	err = coords_parse(&text, ':', shape, &at);
	if (err)
		return err;
	err = torus_port_parse(text + 1, shape->ndims, &p);
	if (err)
		return err;
	*node = tn_node_id(shape, &at);
	*port = p;
	return 0;
}

static char *join_numbers(const __u16 *v, unsigned int n, char sep, char *buf)
{
	size_t at = 0;
	unsigned int d;

	buf[0] = '\0';
	for (d = 0; d < n && d < TORUS_MAX_DIMS; d++) {
		if (d)
			buf[at++] = sep;
		at += (size_t)snprintf(buf + at, TORUS_TEXT_MAX - at, "%u", v[d]);
	}
	return buf;
}

char *torus_shape_text(const struct torus_shape *shape, char *buf)
{
	return join_numbers(shape->size, shape->ndims, 'x', buf);
}

char *torus_coords_text(const struct torus_shape *shape, const struct torus_coords *at,
			char *buf)
{
	return join_numbers(at->c, shape->ndims, ',', buf);
}

char *torus_node_text(const struct torus_shape *shape, uint32_t id, char *buf)
{
	struct torus_coords at;

	tn_node_coords(shape, id, &at);
	return torus_coords_text(shape, &at, buf);
}

char *torus_port_text(unsigned int ndims, unsigned int port, char *buf)
{
	if (port < 2 * ndims && ndims <= TORUS_MAX_DIMS)
		snprintf(buf, TORUS_TEXT_MAX, "%c%c", port < ndims ? '+' : '-',
			 letters[port < ndims ? port : port - ndims]);
	else
		snprintf(buf, TORUS_TEXT_MAX, "?%u", port);
	return buf;
}
