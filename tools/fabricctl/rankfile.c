// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats: Open MPI's rank file; the host file of MPICH's Hydra, which gives ranks to hosts in
 * the order of its lines; SLURM_HOSTFILE of Slurm, a host for each rank, which is also right for
 * "mpirun --map-by seq --hostfile"; and the map file of Rubik, coordinates for each rank.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"
#include "output.h"
#include "rankfile.h"

static void write_openmpi(FILE *f, const struct slots *s, const uint32_t *place, uint32_t ranks)
{
	for (uint32_t r = 0; r < ranks; r++)
		fprintf(f, "rank %u=%s slot=%u\n", r, s->name[s->node[place[r]]],
			s->number[place[r]]);
}

static void write_mpich(FILE *f, const struct slots *s, const uint32_t *place, uint32_t ranks)
{
	uint32_t count = 0;

	for (uint32_t r = 0; r < ranks; r++) {
		count++;
		if (r + 1 < ranks && s->node[place[r + 1]] == s->node[place[r]])
			continue;
		fprintf(f, "%s:%u\n", s->name[s->node[place[r]]], count);
		count = 0;
	}
}

static void write_slurm(FILE *f, const struct slots *s, const uint32_t *place, uint32_t ranks)
{
	for (uint32_t r = 0; r < ranks; r++)
		fprintf(f, "%s\n", s->name[s->node[place[r]]]);
}

static void write_rubik(FILE *f, const struct slots *s, const uint32_t *place, uint32_t ranks)
{
	for (uint32_t r = 0; r < ranks; r++) {
		struct torus_coords at;

		torus_node_coords(&s->shape, s->node[place[r]], &at);
		for (unsigned int d = 0; d < s->shape.ndims; d++)
			fprintf(f, "%s%u", d ? " " : "", at.c[d]);
		fputc('\n', f);
	}
}

static const struct rankfile_format {
	const char *name;
	bool names;		/* nodes are written by name */
	void (*write)(FILE *f, const struct slots *s, const uint32_t *place, uint32_t ranks);
} formats[] = {
	{ "openmpi", true, write_openmpi },
	{ "mpich", true, write_mpich },
	{ "slurm", true, write_slurm },
	{ "rubik", false, write_rubik },
};

static const struct rankfile_format *find_format(const char *name)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

bool rankfile_known(const char *format)
{
	return find_format(format);
}

int rankfile_write(FILE *f, const char *format, const struct slots *s, const uint32_t *place,
		   uint32_t ranks)
{
	const struct rankfile_format *how = find_format(format);
	char text[TORUS_TEXT_MAX];

	for (uint32_t r = 0; how->names && r < ranks; r++)
		if (!s->name[s->node[place[r]]])
			return fail("node %s has no name, by which a launcher could find it; the "
				    "key 'name' of fabricd.conf(5) gives it one",
				    torus_node_text(&s->shape, s->node[place[r]], text));
	how->write(f, s, place, ranks);
	return OK;
}

/* Parses coordinates with blanks. Return: the node, TORUS_NO_NODE if it does not exist */
static uint32_t parse_place(const struct torus_shape *shape, char *text)
{
	struct torus_coords at = { .c = { 0 } };
	char *word, *rest = text;
	unsigned int d = 0;
	uint64_t c;

	while ((word = strsep(&rest, " \t\r\n")) != NULL) {
		if (!*word)
			continue;
		if (d == shape->ndims || number_parse(word, 0, shape->size[d] - 1u, &c))
			return TORUS_NO_NODE;
		at.c[d++] = (uint16_t)c;
	}
	return d == shape->ndims ? torus_node_id(shape, &at) : TORUS_NO_NODE;
}

/* Return: the first free slot of a node; TORUS_NO_NODE if there is none */
static uint32_t free_slot(const struct slots *s, const bool *taken, uint32_t node)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->node[i] == node && !taken[i])
			return i;
	return TORUS_NO_NODE;
}

static int place_rank(const char *file, const struct slots *s, uint32_t rank, char *text,
		      bool *taken, uint32_t *place)
{
	char shape[TORUS_TEXT_MAX], at[TORUS_TEXT_MAX];
	uint32_t node;

	text[strcspn(text, "\r\n")] = '\0';
	snprintf(at, sizeof(at), "%s", text);
	node = parse_place(&s->shape, text);
	if (node == TORUS_NO_NODE)
		return fail("%s:%u: '%s': must be coordinates of a node of %s, with blanks between",
			    file, rank + 1, at, torus_shape_text(&s->shape, shape));
	place[rank] = free_slot(s, taken, node);
	if (place[rank] == TORUS_NO_NODE)
		return fail("%s:%u: node %s has no slot left for rank %u; --slots or --hosts give "
			    "it more", file, rank + 1, torus_node_text(&s->shape, node, at), rank);
	taken[place[rank]] = true;
	return OK;
}

int rankfile_read(const char *file, const struct slots *s, uint32_t *place, uint32_t ranks)
{
	FILE *f = fopen(file, "re");
	bool *taken = calloc(s->n, sizeof(*taken));
	char *text = NULL;
	size_t size = 0;
	uint32_t rank = 0;
	int status = OK;

	if (!f || !taken)
		status = f ? fail("out of memory") : fail("%s: %s", file, strerror(errno));
	while (status == OK && rank < ranks && getline(&text, &size, f) >= 0) {
		status = place_rank(file, s, rank, text, taken, place);
		rank++;
	}
	if (status == OK && rank < ranks)
		status = fail("%s: has %u lines, and the program %u ranks: each needs a line", file,
			      rank, ranks);
	free(text);
	free(taken);
	if (f)
		fclose(f);
	return status;
}
