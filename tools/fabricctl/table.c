// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct cell {
	char *text;
	enum colour colour;
};

struct table {
	const char *const *titles;
	unsigned int columns;
	struct cell *cell;
	size_t n;
	bool failed;
};

struct table *table_new(const char *const *titles)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->titles = titles;
	while (titles[t->columns])
		t->columns++;
	return t;
}

void table_cell(struct table *t, enum colour c, const char *fmt, ...)
{
	struct cell *more;
	va_list ap;

	if (!t || t->failed)
		return;
	more = realloc(t->cell, (t->n + 1) * sizeof(*more));
	va_start(ap, fmt);
	if (more)
		t->cell = more;
	if (!more || vasprintf(&t->cell[t->n].text, fmt, ap) < 0)
		t->failed = true;
	else
		t->cell[t->n++].colour = c;
	va_end(ap);
}

static bool is_right(const char *title)
{
	return *title == '>';
}

static size_t column_width(const struct table *t, unsigned int column)
{
	size_t max = strlen(t->titles[column]) - is_right(t->titles[column]);

	for (size_t i = column; i < t->n; i += t->columns)
		if (strlen(t->cell[i].text) > max)
			max = strlen(t->cell[i].text);
	return max;
}

static void print_cell(const char *text, enum colour c, size_t wide, bool right, bool last)
{
	int pad = (int)(wide - strlen(text));

	if (right)
		printf("%*s", pad, "");
	printf("%s%s%s", c == PLAIN ? "" : paint(c), text, c == PLAIN ? "" : paint(PLAIN));
	if (!last)
		printf("%*s", (right ? 0 : pad) + 2, "");
}

static void print_lines(const struct table *t)
{
	size_t *wide = calloc(t->columns, sizeof(*wide));

	if (!wide)
		return;
	for (unsigned int c = 0; c < t->columns; c++)
		wide[c] = column_width(t, c);
	for (unsigned int c = 0; c < t->columns; c++)
		print_cell(t->titles[c] + is_right(t->titles[c]), STRONG, wide[c],
			   is_right(t->titles[c]), c + 1 == t->columns);
	putchar('\n');
	for (size_t i = 0; i < t->n; i++) {
		unsigned int c = (unsigned int)(i % t->columns);

		print_cell(t->cell[i].text, t->cell[i].colour, wide[c], is_right(t->titles[c]),
			   c + 1 == t->columns);
		if (c + 1 == t->columns)
			putchar('\n');
	}
	free(wide);
}

void table_print(struct table *t, const char *empty)
{
	if (!t || t->failed)
		warn("out of memory");
	else if (t->n)
		print_lines(t);
	else
		printf("%s\n", empty);
	for (size_t i = 0; t && i < t->n; i++)
		free(t->cell[i].text);
	if (t)
		free(t->cell);
	free(t);
}
