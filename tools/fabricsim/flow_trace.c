// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow_trace.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricctl/number.h"
#include "tools/fabricctl/output.h"

#define WORDS 3
#define TIME_MAX 2000000000u

static int node_read(const char *text, const struct torus_shape *shape, uint32_t *id)
{
	struct torus_coords at;
	uint64_t v;

	if (!number_parse(text, 0, torus_nodes(shape) - 1, &v)) {
		*id = (uint32_t)v;
		return 0;
	}
	if (torus_coords_parse(text, shape, &at))
		return -1;
	*id = torus_node_id(shape, &at);
	return 0;
}

/* Return: NULL, or the text of the error in the line. */
static const char *entry_read(char **word, const struct torus_shape *shape, struct flow_entry *e)
{
	uint64_t time;

	if (number_parse(word[0], 0, TIME_MAX, &time))
		return "the time is a number of cycles, 0 to 2000000000";
	e->time = (uint32_t)time;
	if (node_read(word[1], shape, &e->src))
		return "there is no such source in this shape";
	if (node_read(word[2], shape, &e->dst))
		return "there is no such destination in this shape";
	return e->src == e->dst ? "source and destination are the same" : NULL;
}

/* Return: number of words found, at most WORDS + 1. */
static int split_line(char *line, char **word)
{
	char *save, *w;
	int n = 0;

	line[strcspn(line, "#\n")] = '\0';
	for (w = strtok_r(line, " \t\r", &save); w && n <= WORDS;
	     w = strtok_r(NULL, " \t\r", &save))
		word[n++] = w;
	return n;
}

static int line_read(char *line, const char *file, size_t number,
		     const struct torus_shape *shape, struct flow_trace *t, size_t *room)
{
	char *word[WORDS + 1], *shown = strndup(line, strcspn(line, "\n"));
	const char *wrong;
	int n = split_line(line, word), status = OK;

	if (shown && n && t->n == *room) {
		size_t want = *room ? 2 * *room : 256;
		struct flow_entry *more = realloc(t->entry, want * sizeof(*more));

		if (more) {
			t->entry = more;
			*room = want;
		}
	}
	if (!shown || (n && t->n == *room)) {
		free(shown);
		return fail("out of memory");
	}
	if (n) {
		wrong = n == WORDS ? entry_read(word, shape, &t->entry[t->n]) :
				     "a line is TIME SRC DST";
		if (wrong)
			status = fail("%s:%zu: '%.60s': %s", file, number, shown, wrong);
		t->n++;
	}
	free(shown);
	return status;
}

/* Sorts by time; entries of one time stay in the order of the file. */
static void merge_sort(struct flow_entry *e, struct flow_entry *spare, size_t n)
{
	for (size_t run = 1; run < n; run *= 2) {
		for (size_t from = 0; from < n; from += 2 * run) {
			size_t mid = from + run < n ? from + run : n;
			size_t end = from + 2 * run < n ? from + 2 * run : n;
			size_t a = from, b = mid;

			for (size_t i = from; i < end; i++)
				spare[i] = b == end || (a < mid && e[a].time <= e[b].time) ?
					   e[a++] : e[b++];
		}
		memcpy(e, spare, n * sizeof(*e));
	}
}

int flow_trace_read(const char *file, const struct torus_shape *shape, struct flow_trace *t)
{
	FILE *f = fopen(file, "r");
	struct flow_entry *spare;
	size_t room = 0, size = 0, number = 0;
	char *line = NULL;
	int status = OK;

	*t = (struct flow_trace){ .n = 0 };
	if (!f)
		return fail("cannot read '%s': %s", file, strerror(errno));
	while (status == OK && getline(&line, &size, f) >= 0)
		status = line_read(line, file, ++number, shape, t, &room);
	if (status == OK && ferror(f))
		status = fail("cannot read '%s': %s", file, strerror(errno));
	free(line);
	fclose(f);
	if (status == OK && !t->n)
		status = fail("%s: has no packets", file);
	spare = status == OK ? malloc(t->n * sizeof(*spare)) : NULL;
	if (spare)
		merge_sort(t->entry, spare, t->n);
	else if (status == OK)
		status = fail("out of memory");
	free(spare);
	if (status != OK) {
		free(t->entry);
		t->entry = NULL;
	}
	return status;
}
