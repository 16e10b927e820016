// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Prints families in the two text formats. These differ in the name by which a counter is
 * announced, in the escapes of a help text, and in the last line.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/metrics/metrics.h"
#include "tools/metrics/samples.h"

/* Appends one of the lines that announce a family, up to the text that ends it. */
static void announce(struct text *t, const char *word, const struct family *f, const char *ending)
{
	text_add(t, word);
	text_add(t, f->name);
	text_add(t, ending);
	text_add(t, " ");
}

static void print_family(struct text *t, const struct family *f, enum metrics_format format)
{
	bool open = format == METRICS_OPENMETRICS, info = !strcmp(f->type, "info");
	const char *ending = open ? "" : info ? "_info" :
			     !strcmp(f->type, "counter") ? "_total" : "";
	const char *unit = metrics_unit(f->name);

	announce(t, "# HELP ", f, ending);
	text_add_escaped(t, f->help, open);
	announce(t, "\n# TYPE ", f, ending);
	text_add(t, !open && info ? "gauge" : f->type);
	if (open && *unit) {
		announce(t, "\n# UNIT ", f, "");
		text_add(t, unit);
	}
	text_add(t, "\n");
	text_add(t, f->text.at ? f->text.at : "");
}

char *metrics_text(const json_t *answer, enum metrics_format format)
{
	struct samples *s = samples_new(true);
	struct text t = { 0 };

	if (!s)
		return NULL;
	metrics_make(s, answer);
	for (const struct family *f = samples_first(s); f; f = f->next)
		print_family(&t, f, format);
	text_add(&t, format == METRICS_OPENMETRICS ? "# EOF\n" : "");
	if (samples_failed(s) || t.failed) {
		free(t.at);
		t.at = NULL;
	}
	samples_free(s);
	return t.at;
}

const char *metrics_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS ?
	       "application/openmetrics-text; version=1.0.0; charset=utf-8" :
	       "text/plain; version=0.0.4; charset=utf-8";
}
