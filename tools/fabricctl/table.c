// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdint.h>
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

/* There is room for a power of two, or for none. Return: whether there is for one more now */
static bool make_room_for_cell(struct table *t)
{
	struct cell *more;

	if (t->n & (t->n - 1))
		return true;
	more = realloc(t->cell, (t->n ? 2 * t->n : 1) * sizeof(*more));
	if (more)
		t->cell = more;
	return more;
}

void table_cell(struct table *t, enum colour c, const char *fmt, ...)
{
	va_list ap;

	if (!t || t->failed)
		return;
	va_start(ap, fmt);
	if (!make_room_for_cell(t) || vasprintf(&t->cell[t->n].text, fmt, ap) < 0)
		t->failed = true;
	else
		t->cell[t->n++].colour = c;
	va_end(ap);
}

static bool has_mark(const char *title, char mark)
{
	return title[0] == mark || (strchr(">?", title[0]) && title[1] == mark);
}

static bool is_right(const char *title)
{
	return has_mark(title, '>');
}

static const char *title_text(const char *title)
{
	return title + strspn(title, ">?");
}

static size_t column_width(const struct table *t, unsigned int column)
{
	size_t max = strlen(title_text(t->titles[column]));

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

static bool is_column_empty(const struct table *t, unsigned int column)
{
	for (size_t i = column; i < t->n; i += t->columns)
		if (t->cell[i].colour != FAINT)
			return false;
	return has_mark(t->titles[column], '?');
}

/* Columns without a value get the width 0 if the table is wider than the screen. */
static void find_widths(const struct table *t, size_t *wide)
{
	size_t all = 0;

	for (unsigned int c = 0; c < t->columns; c++) {
		wide[c] = column_width(t, c);
		all += wide[c] + 2;
	}
	for (unsigned int c = 0; c < t->columns && all > (size_t)screen_columns() + 2; c++)
		if (is_column_empty(t, c))
			wide[c] = 0;
}

static void print_line(const struct table *t, const size_t *wide, size_t row)
{
	unsigned int last = t->columns;

	while (last && !wide[last - 1])
		last--;
	for (unsigned int c = 0; c < last; c++) {
		const struct cell *cell = row == SIZE_MAX ? NULL : &t->cell[row * t->columns + c];

		if (wide[c] || !*title_text(t->titles[c]))
			print_cell(cell ? cell->text : title_text(t->titles[c]),
				   cell ? cell->colour : STRONG, wide[c], is_right(t->titles[c]),
				   c + 1 == last);
	}
	putchar('\n');
}

static void print_lines(const struct table *t)
{
	size_t *wide = calloc(t->columns, sizeof(*wide));

	if (!wide)
		return;
	find_widths(t, wide);
	print_line(t, wide, SIZE_MAX);
	for (size_t row = 0; row < t->n / t->columns; row++)
		print_line(t, wide, row);
	free(wide);
}

void table_free(struct table *t)
{
	for (size_t i = 0; t && i < t->n; i++)
		free(t->cell[i].text);
	if (t)
		free(t->cell);
	free(t);
}

void table_print(struct table *t, const char *empty)
{
	if (!t || t->failed)
		warn("out of memory");
	else if (t->n)
		print_lines(t);
	else
		printf("%s\n", empty);
	table_free(t);
}

const char *table_or_dash(const char *text)
{
	return text && *text ? text : "-";
}
