// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "appgraph.h"
#include "command.h"
#include "number.h"
#include "output.h"

#define RANK_MAX ((1u << 24) - 1)

/** struct graph_line - the line that is read, for messages */
struct graph_line {
	const char *file;
	unsigned int number;
};

/* Return: the field that ends before @end or at a comma, without blanks around it; NULL: none */
static char *take_field(char **at)
{
	char *field = *at, *end;

	if (!field)
		return NULL;
	end = strchr(field, ',');
	*at = end ? end + 1 : NULL;
	if (!end)
		end = field + strlen(field);
	while (isspace((unsigned char)*field))
		field++;
	while (end > field && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	return field;
}

static int parse_rank(const struct graph_line *l, const char *text, uint32_t ranks, uint32_t *out)
{
	uint32_t max = ranks ? ranks - 1 : RANK_MAX;
	uint64_t n;

	if (number_parse(text, 0, max, &n))
		return fail("%s:%u: rank '%s': must be 0 to %u", l->file, l->number, text, max);
	*out = (uint32_t)n;
	return OK;
}

/* Parses FROM,TO,BYTES. */
static int parse_entry(const struct graph_line *l, char *text, uint32_t ranks,
		       struct torus_traffic *t)
{
	char *from = take_field(&text), *to = take_field(&text), *bytes = take_field(&text);
	int status;

	if (!to || !bytes || text)
		return fail("%s:%u: must be three numbers with commas: rank that sends, "
			    "rank that receives, bytes", l->file, l->number);
	status = parse_rank(l, from, ranks, &t->from);
	if (status == OK)
		status = parse_rank(l, to, ranks, &t->to);
	if (status == OK && number_parse(bytes, 0, INT64_MAX, &t->bytes))
		return fail("%s:%u: bytes '%s': must be 0 to %lld", l->file, l->number, bytes,
			    (long long)INT64_MAX);
	return status;
}

static int append_entry(struct appgraph *g, size_t *room, const struct torus_traffic *t)
{
	if (g->n == *room) {
		size_t more = *room ? 2 * *room : 1024;
		struct torus_traffic *traffic = realloc(g->traffic, more * sizeof(*traffic));

		if (!traffic)
			return fail("out of memory");
		g->traffic = traffic;
		*room = more;
	}
	g->traffic[g->n++] = *t;
	return OK;
}

static int compare_entries(const void *a, const void *b)
{
	const struct torus_traffic *s = a, *t = b;

	if (s->from != t->from)
		return s->from < t->from ? -1 : 1;
	return s->to < t->to ? -1 : s->to > t->to;
}

/* Adds up the entries of each pair of ranks. */
static int merge_entries(struct appgraph *g, const char *file)
{
	size_t n = 0;

	if (g->n)
		qsort(g->traffic, g->n, sizeof(*g->traffic), compare_entries);
	for (size_t i = 0; i < g->n; i++) {
		struct torus_traffic *t = &g->traffic[i], *last = n ? &g->traffic[n - 1] : NULL;

		if (!last || compare_entries(last, t))
			g->traffic[n++] = *t;
		else if (__builtin_add_overflow(last->bytes, t->bytes, &last->bytes))
			return fail("%s: the bytes from rank %u to rank %u are more than 64 bits "
				    "can count", file, t->from, t->to);
	}
	g->n = n;
	return OK;
}

/* A first line of words is a title; a line with '#' is a comment. */
static bool is_data(const struct graph_line *l, const char *text)
{
	text += strspn(text, " \t\r\n");
	return *text && *text != '#' && !(l->number == 1 && isalpha((unsigned char)*text));
}

static int read_entries(FILE *f, const char *file, uint32_t ranks, struct appgraph *g)
{
	struct graph_line l = { .file = file };
	struct torus_traffic t;
	size_t room = 0, size = 0;
	char *text = NULL;
	int status = OK;

	while (status == OK && getline(&text, &size, f) >= 0) {
		l.number++;
		if (!is_data(&l, text))
			continue;
		status = parse_entry(&l, text, ranks, &t);
		if (status == OK)
			status = append_entry(g, &room, &t);
		if (status == OK && t.from >= g->ranks)
			g->ranks = t.from + 1;
		if (status == OK && t.to >= g->ranks)
			g->ranks = t.to + 1;
	}
	free(text);
	if (status == OK && ferror(f))
		status = fail("%s: %s", file, strerror(errno));
	return status;
}

int appgraph_read(const char *file, uint32_t ranks, struct appgraph *out)
{
	bool input = !strcmp(file, "-");
	FILE *f = input ? stdin : fopen(file, "re");
	int status;

	*out = (struct appgraph){ .ranks = ranks };
	if (!f)
		return fail("%s: %s", file, strerror(errno));
	status = read_entries(f, file, ranks, out);
	if (!input)
		fclose(f);
	if (status == OK && !out->ranks)
		status = fail("%s: names no rank; each line must have rank, rank and bytes", file);
	if (status == OK)
		status = merge_entries(out, file);
	if (status != OK)
		appgraph_free(out);
	return status;
}

void appgraph_free(struct appgraph *g)
{
	free(g->traffic);
	g->traffic = NULL;
	g->n = 0;
}
