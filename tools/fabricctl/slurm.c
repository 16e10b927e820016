// SPDX-License-Identifier: GPL-2.0-only
/*
 * The forms are those of topology.conf(5) of Slurm 22.05 and of topology.yaml(5) of 26.05. Slurm
 * ends if topology.conf has no switch, and if it names an unknown node.
 * Tests: tests/unit/test_slurm.c; tests/slurm, where Slurm reads the tree.
 */
#include <string.h>

#include "slurm.h"

#define SLURM_DIMS 3u		/* of a torus3d */

bool slurm_is_name(const char *name)
{
	return *name && *name != '-' &&
	       !name[strspn(name,
			    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.")];
}

/* --- topology/tree ----------------------------------------------------------------- */

/**
 * struct tree - a tree of switches
 * @dim: dimensions with more than one node, or the first dimension; @levels: their number
 */
struct tree {
	FILE *f;
	const struct torus_shape *shape;
	const char *const *name;
	unsigned int dim[TORUS_MAX_DIMS], levels;
};

/* Return: true if a node below that switch of @level has a name */
static bool has_nodes(const struct tree *t, unsigned int level, struct torus_coords *at)
{
	unsigned int d = t->dim[level];
	bool has = false;

	for (uint16_t c = 0; c < t->shape->size[d] && !has; c++) {
		at->c[d] = c;
		has = level ? has_nodes(t, level - 1, at) : !!t->name[torus_node_id(t->shape, at)];
	}
	at->c[d] = 0;
	return has;
}

/* Writes the name of a switch: the dimensions that are below it, and its place in the others. */
static void write_switch_name(const struct tree *t, unsigned int level,
			      const struct torus_coords *at)
{
	static const char letters[] = "xyzabc";

	for (unsigned int i = 0; i <= level; i++)
		fputc(letters[t->dim[i]], t->f);
	for (unsigned int i = level + 1; i < t->levels; i++)
		fprintf(t->f, "-%u", at->c[t->dim[i]]);
}

/* Writes the line of a switch. */
static void write_children(const struct tree *t, unsigned int level, struct torus_coords *at)
{
	unsigned int d = t->dim[level];
	const char *comma = "";

	fputs("SwitchName=", t->f);
	write_switch_name(t, level, at);
	fputs(level ? " Switches=" : " Nodes=", t->f);
	for (uint16_t c = 0; c < t->shape->size[d]; c++) {
		at->c[d] = c;
		if (level ? !has_nodes(t, level - 1, at) : !t->name[torus_node_id(t->shape, at)])
			continue;
		fputs(comma, t->f);
		comma = ",";
		if (level)
			write_switch_name(t, level - 1, at);
		else
			fputs(t->name[torus_node_id(t->shape, at)], t->f);
	}
	at->c[d] = 0;
	fputc('\n', t->f);
}

/* Writes the lines of all switches below one of @level, and then its own. */
static void write_switches(const struct tree *t, unsigned int level, struct torus_coords *at)
{
	unsigned int d = t->dim[level];

	if (!has_nodes(t, level, at))
		return;
	for (uint16_t c = 0; level && c < t->shape->size[d]; c++) {
		at->c[d] = c;
		write_switches(t, level - 1, at);
	}
	at->c[d] = 0;
	write_children(t, level, at);
}

void slurm_write_tree(FILE *f, const struct torus_shape *shape, const char *const *name)
{
	struct tree t = { .f = f, .shape = shape, .name = name };
	struct torus_coords at = { .c = { 0 } };

	for (unsigned int d = 0; d < shape->ndims; d++)
		if (shape->size[d] > 1)
			t.dim[t.levels++] = d;
	t.levels += !t.levels;
	write_switches(&t, t.levels - 1, &at);
}

/* --- topology/torus3d -------------------------------------------------------------- */

static void write_place(FILE *f, const char *key, const uint16_t c[SLURM_DIMS])
{
	fprintf(f, "%s: {x: %u, y: %u, z: %u}\n", key, c[0], c[1], c[2]);
}

/* Writes @n names from @first on, whose ids follow one another. */
static void write_names(FILE *f, const char *indent, const char *const *first, uint32_t n)
{
	fprintf(f, "%snodes: \"", indent);
	for (uint32_t i = 0; i < n; i++)
		fprintf(f, "%s%s", i ? "," : "", first[i]);
	fputs("\"\n", f);
}

/* Writes a torus in which some nodes have no name: each run of names in a line is a region. */
static void write_regions(FILE *f, const uint16_t size[SLURM_DIMS], const char *const *name)
{
	uint32_t nodes = (uint32_t)size[0] * size[1] * size[2], n;

	fputs("        regions:\n", f);
	for (uint32_t id = 0; id < nodes; id += n ? n : 1) {
		uint16_t anchor[] = { (uint16_t)(id % size[0]), (uint16_t)(id / size[0] % size[1]),
				      (uint16_t)(id / size[0] / size[1]) };

		for (n = 0; anchor[0] + n < size[0] && name[id + n]; n++)
			;
		if (!n)
			continue;
		write_place(f, "          - anchor", anchor);
		write_place(f, "            dims", (uint16_t[]){ (uint16_t)n, 1, 1 });
		write_names(f, "            ", name + id, n);
	}
}

/* Writes all boxes whose sides divide those of the torus, so that any number of them fills it. */
static void write_placements(FILE *f, const uint16_t size[SLURM_DIMS])
{
	uint16_t c[SLURM_DIMS];

	fputs("        placements:\n", f);
	for (c[2] = 1; c[2] <= size[2]; c[2]++)
		for (c[1] = 1; c[1] <= size[1]; c[1]++)
			for (c[0] = 1; c[0] <= size[0]; c[0]++)
				if (!(size[0] % c[0]) && !(size[1] % c[1]) && !(size[2] % c[2]))
					write_place(f, "          - dims", c);
}

static void write_torus(FILE *f, const uint16_t size[SLURM_DIMS], const char *const *name,
			const char *label)
{
	uint32_t nodes = (uint32_t)size[0] * size[1] * size[2], named = 0;

	for (uint32_t id = 0; id < nodes; id++)
		named += !!name[id];
	if (!named)
		return;
	fprintf(f, "      - name: %s\n", label);
	write_place(f, "        dims", size);
	if (named == nodes)
		write_names(f, "        ", name, nodes);
	else
		write_regions(f, size, name);
	write_placements(f, size);
}

void slurm_write_torus3d(FILE *f, const struct torus_shape *shape, const char *const *name)
{
	uint16_t size[SLURM_DIMS] = { 1, 1, 1 };
	uint32_t nodes = torus_nodes(shape), each;

	for (unsigned int d = 0; d < shape->ndims && d < SLURM_DIMS; d++)
		size[d] = shape->size[d];
	each = (uint32_t)size[0] * size[1] * size[2];
	fputs("- topology: torus\n  cluster_default: true\n  torus3d:\n    toruses:\n", f);
	for (uint32_t first = 0; first < nodes; first += each) {
		char label[64] = "torus";
		size_t n = strlen(label);
		struct torus_coords at;

		torus_node_coords(shape, first, &at);
		for (unsigned int d = SLURM_DIMS; d < shape->ndims; d++)
			n += (size_t)snprintf(label + n, sizeof(label) - n, "-%u", at.c[d]);
		write_torus(f, size, name + first, label);
	}
}
