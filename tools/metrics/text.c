// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints families in the two text formats. These differ in the name by which a counter is
 * announced, in the escapes of a help text, and in the last line.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/metrics/metrics.h"

static const char *member_text(const json_t *j, const char *key)
{
	const char *text = json_string_value(json_object_get(j, key));

	return text ? text : "";
}

/* Prints a value of a label or a help text; @quotes: quotation marks need an escape, too. */
static void print_escaped(FILE *f, const char *text, bool quotes)
{
	while (*text) {
		size_t plain = strcspn(text, quotes ? "\n\\\"" : "\n\\");

		fwrite_unlocked(text, 1, plain, f);
		text += plain;
		if (!*text)
			return;
		putc_unlocked('\\', f);
		putc_unlocked(*text == '\n' ? 'n' : *text, f);
		text++;
	}
}

/* Prints {a="b",...}; @le: a further label of that name, or NULL. */
static void print_labels(FILE *f, json_t *labels, const char *le)
{
	const char *key, *before = "{";
	json_t *v;

	json_object_foreach(labels, key, v) {
		fputs_unlocked(before, f);
		fputs_unlocked(key, f);
		fputs_unlocked("=\"", f);
		print_escaped(f, json_string_value(v), true);
		putc_unlocked('"', f);
		before = ",";
	}
	if (le) {
		fprintf(f, "%sle=\"%s\"", before, le);
		before = ",";
	}
	if (*before == ',')
		putc_unlocked('}', f);
}

static void print_sample_value(FILE *f, const json_t *v)
{
	if (json_is_integer(v))
		fprintf(f, " %llu\n", (unsigned long long)json_integer_value(v));
	else
		fprintf(f, " %.15g\n", json_real_value(v));
}

static void print_histogram(FILE *f, const char *name, json_t *sample)
{
	json_t *labels = json_object_get(sample, "labels"), *le = json_object_get(sample, "le");
	json_t *count = json_object_get(sample, "count");
	size_t n = json_array_size(le);
	char bound[32];

	for (size_t i = 0; i <= n; i++) {
		snprintf(bound, sizeof(bound), "%.15g", json_number_value(json_array_get(le, i)));
		fprintf(f, "%s_bucket", name);
		print_labels(f, labels, i < n ? bound : "+Inf");
		print_sample_value(f, json_array_get(count, i));
	}
	fprintf(f, "%s_sum", name);
	print_labels(f, labels, NULL);
	print_sample_value(f, json_object_get(sample, "sum"));
	fprintf(f, "%s_count", name);
	print_labels(f, labels, NULL);
	print_sample_value(f, json_array_get(count, n));
}

static void print_family(FILE *f, const json_t *family, enum metrics_format format)
{
	const char *name = member_text(family, "name"), *type = member_text(family, "type");
	const char *ending = !strcmp(type, "counter") ? "_total" : !strcmp(type, "info") ? "_info" : "";
	bool open = format == METRICS_OPENMETRICS;
	const char *announced = open ? "" : ending;
	size_t i;
	json_t *v;

	fprintf(f, "# HELP %s%s ", name, announced);
	print_escaped(f, member_text(family, "help"), open);
	fprintf(f, "\n# TYPE %s%s %s\n", name, announced,
		!open && !strcmp(type, "info") ? "gauge" : type);
	if (open && *member_text(family, "unit"))
		fprintf(f, "# UNIT %s %s\n", name, member_text(family, "unit"));
	json_array_foreach(json_object_get(family, "samples"), i, v) {
		if (!strcmp(type, "histogram")) {
			print_histogram(f, name, v);
			continue;
		}
		fputs_unlocked(name, f);
		fputs_unlocked(ending, f);
		print_labels(f, json_object_get(v, "labels"), NULL);
		print_sample_value(f, json_object_get(v, "value"));
	}
}

char *metrics_text(const json_t *families, enum metrics_format format)
{
	char *text = NULL;
	bool failed;
	size_t size, i;
	json_t *v;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	json_array_foreach(families, i, v)
		print_family(f, v, format);
	if (format == METRICS_OPENMETRICS)
		fputs("# EOF\n", f);
	failed = ferror(f);
	if (!fclose(f) && !failed)
		return text;
	free(text);
	return NULL;
}

const char *metrics_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS ?
	       "application/openmetrics-text; version=1.0.0; charset=utf-8" :
	       "text/plain; version=0.0.4; charset=utf-8";
}
