// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "recovery_block.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/output.h"

/* Return: the dimension across which the block is a plane; ndims: the block is not a plane. */
static unsigned int plane_dim(const struct torus_shape *shape, const struct block *b)
{
	unsigned int dim = shape->ndims;

	for (unsigned int d = 0; d < shape->ndims; d++) {
		if (b->size.size[d] == shape->size[d])
			continue;
		if (dim < shape->ndims || b->size.size[d] != 1)
			return shape->ndims;
		dim = d;
	}
	return dim;
}

void block_plane(const struct torus_shape *shape, struct block *out)
{
	unsigned int d = shape->ndims - 1u;

	while (d && shape->size[d] < 2)
		d--;
	*out = (struct block) { .size = *shape };
	out->size.size[d] = 1;
}

static int in_shape(const char *text, const struct torus_shape *shape, const struct block *b)
{
	char all[TORUS_TEXT_MAX];
	bool less = false;

	for (unsigned int d = 0; d < shape->ndims; d++) {
		if (b->size.ndims != shape->ndims || b->size.size[d] > shape->size[d])
			return fail("--dark '%s': must be %u sizes, up to those of the fabric, "
				    "%s", text, shape->ndims, torus_shape_text(shape, all));
		less |= b->size.size[d] < shape->size[d];
	}
	if (!less)
		return fail("--dark '%s': is the whole fabric, %s; some node must remain", text,
			    torus_shape_text(shape, all));
	return OK;
}

int block_parse(const char *text, const struct torus_shape *shape, struct block *out)
{
	const char *at = strchr(text, '@');
	char size[TORUS_TEXT_MAX], all[TORUS_TEXT_MAX];

	*out = (struct block) { .placed = at };
	snprintf(size, sizeof(size), "%.*s", at ? (int)(at - text) : (int)strlen(text), text);
	if (torus_shape_parse(size, &out->size))
		return fail("--dark '%s': must be SIZE or SIZE@NODE, such as 2x2x1 or "
			    "2x2x1@0,0,3", text);
	if (in_shape(text, shape, out))
		return CANNOT;
	if (at && torus_coords_parse(at + 1, shape, &out->at))
		return fail("--dark '%s': '%s' is not a node of %s", text, at + 1,
			    torus_shape_text(shape, all));
	if (at && block_has(shape, out, 0))
		return fail("--dark '%s': contains node 0, the root; must be a block without it",
			    text);
	return OK;
}

void block_place(const struct torus_shape *shape, struct block *b,
		 uint64_t (*random)(void *arg), void *arg)
{
	while (!b->placed) {
		for (unsigned int d = 0; d < shape->ndims; d++)
			b->at.c[d] = b->size.size[d] == shape->size[d] ? 0 :
				     (uint16_t)(random(arg) % shape->size[d]);
		b->placed = !block_has(shape, b, 0);
	}
}

bool block_has(const struct torus_shape *shape, const struct block *b, uint32_t node)
{
	struct torus_coords c;

	torus_node_coords(shape, node, &c);
	for (unsigned int d = 0; d < shape->ndims; d++)
		if ((c.c[d] + shape->size[d] - b->at.c[d]) % shape->size[d] >= b->size.size[d])
			return false;
	return true;
}

char *block_text(const struct torus_shape *shape, const struct block *b,
		 char buf[2 * TORUS_TEXT_MAX])
{
	unsigned int d = plane_dim(shape, b), n;

	if (d < shape->ndims) {
		snprintf(buf, 2 * TORUS_TEXT_MAX, "%c=%u", "xyzabc"[d], b->at.c[d]);
		return buf;
	}
	torus_shape_text(&b->size, buf);
	n = (unsigned int)strlen(buf);
	for (d = 0; d < shape->ndims && n < 2 * TORUS_TEXT_MAX; d++)
		n += (unsigned int)snprintf(buf + n, 2 * TORUS_TEXT_MAX - n, "%s%u",
					    d ? "," : " at ", b->at.c[d]);
	return buf;
}
