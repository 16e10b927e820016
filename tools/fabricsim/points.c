// SPDX-License-Identifier: GPL-2.0-only
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "points.h"
#include "tools/fabricctl/output.h"
#include "tools/fabricctl/table.h"

#define COLUMNS_MAX 40
#define CELL_MAX 64

static const char *cell_text(const json_t *v, int digits, char *buf)
{
	if (json_is_string(v))
		return json_string_value(v);
	if (json_is_integer(v))
		snprintf(buf, CELL_MAX, "%lld", (long long)json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, CELL_MAX, "%.*g", digits, json_real_value(v));
	else if (json_is_boolean(v))
		snprintf(buf, CELL_MAX, "%s", json_is_true(v) ? "yes" : "no");
	else
		*buf = '\0';
	return buf;
}

/*
 * Return: the value with four digits; of a share that is nearly 1, two digits behind the nines:
 * 0.9999999983, not 1
 */
static const char *point_text(const json_t *v, char *buf)
{
	double real = json_is_real(v) ? json_real_value(v) : 0;

	if (real <= 0.999 || real >= 1)
		return cell_text(v, 4, buf);
	snprintf(buf, CELL_MAX, "%.*f", 1 - (int)floor(log10(1 - real)), real);
	return buf;
}

static void csv_cell(const char *text, bool first)
{
	if (!first)
		putchar(',');
	if (!*text || text[0] == '"')
		return;
	for (const char *p = text; *p; p++)
		putchar(*p == ',' ? ';' : *p);
}

static void show_csv(const json_t *points)
{
	const char *key;
	char buf[CELL_MAX];
	json_t *point, *v;
	size_t i;

	json_array_foreach(points, i, point) {
		bool first = true;

		if (i == 0) {
			json_object_foreach(point, key, v) {
				csv_cell(key, first);
				first = false;
			}
			putchar('\n');
			first = true;
		}
		json_object_foreach(point, key, v) {
			csv_cell(json_is_boolean(v) ? json_is_true(v) ? "1" : "0" :
				 cell_text(v, 10, buf), first);
			first = false;
		}
		putchar('\n');
	}
}

static void print_points(const json_t *points, const char *const *columns)
{
	const char *title[COLUMNS_MAX + 1] = { NULL };
	char text[COLUMNS_MAX][CELL_MAX], buf[CELL_MAX];
	const json_t *first = json_array_get(points, 0);
	struct table *t;
	json_t *point;
	size_t i, n;

	for (n = 0; columns[n] && n < COLUMNS_MAX; n++) {
		snprintf(text[n], CELL_MAX, "%s%s",
			 json_is_string(json_object_get(first, columns[n])) ? "" : ">", columns[n]);
		title[n] = text[n];
	}
	t = table_new(title);
	json_array_foreach(points, i, point)
		for (size_t k = 0; k < n; k++)
			table_cell(t, PLAIN, "%s", point_text(json_object_get(point, columns[k]),
							      buf));
	table_print(t, "no points");
}

int points_check(const struct ctl *ctl)
{
	if (ctl->json && ctl->csv)
		return fail("--json and --csv exclude each other: give one of them");
	return OK;
}

int points_show(const struct ctl *ctl, json_t *about, json_t *points, const char *const *columns)
{
	if (!about || !points) {
		json_decref(about);
		json_decref(points);
		return fail("out of memory");
	}
	if (ctl->json) {
		json_object_set(about, "points", points);
		/* prints 0.3, not 0.29999999999999999 */
		json_dumpf(about, stdout, JSON_COMPACT | JSON_REAL_PRECISION(12));
		putchar('\n');
	} else if (ctl->csv) {
		show_csv(points);
	} else {
		print_points(points, columns);
	}
	json_decref(about);
	json_decref(points);
	return OK;
}
