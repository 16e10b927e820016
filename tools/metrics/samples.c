// SPDX-License-Identifier: GPL-2.0-or-later
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/metrics/samples.h"

#define SLOTS 512	/* a power of two, above twice the number of families */
#define TEXT_MIN 1024

/**
 * struct samples - all families
 * @slot: the families by a hash of their names; a family whose slot is taken gets the next free one
 */
struct samples {
	bool as_text, failed;
	struct family *first, **end;
	struct family *slot[SLOTS];
	unsigned int n;
};

/* --- text ----------------------------------------------------------------------------- */

static void append_bytes(struct text *t, const char *bytes, size_t len)
{
	size_t room = t->room ? t->room : TEXT_MIN;
	char *at;

	while (room <= t->len + len)
		room *= 2;
	if (room != t->room) {
		at = t->failed ? NULL : realloc(t->at, room);
		t->failed = !at;
		if (!at)
			return;
		t->at = at;
		t->room = room;
	}
	memcpy(t->at + t->len, bytes, len);
	t->len += len;
	t->at[t->len] = '\0';
}

void text_add(struct text *t, const char *more)
{
	append_bytes(t, more, strlen(more));
}

void text_add_escaped(struct text *t, const char *more, bool quotes)
{
	while (*more) {
		size_t plain = strcspn(more, quotes ? "\n\\\"" : "\n\\");

		append_bytes(t, more, plain);
		more += plain;
		if (!*more)
			return;
		text_add(t, *more == '\n' ? "\\n" : *more == '"' ? "\\\"" : "\\\\");
		more++;
	}
}

static void print_number(struct text *t, const json_t *v)
{
	unsigned long long n = (unsigned long long)json_integer_value(v);
	char digits[32], *at = digits + sizeof(digits);

	if (!json_is_integer(v)) {
		snprintf(digits, sizeof(digits), " %.15g\n", json_real_value(v));
		text_add(t, digits);
		return;
	}
	*--at = '\n';
	do {
		*--at = (char)('0' + n % 10);
		n /= 10;
	} while (n);
	*--at = ' ';
	append_bytes(t, at, (size_t)(digits + sizeof(digits) - at));
}

/* Appends a label; *@before is the bracket or comma before it. */
static void print_label(struct text *t, const char **before, const char *key, const char *value)
{
	text_add(t, *before);
	text_add(t, key);
	text_add(t, "=\"");
	text_add_escaped(t, value, true);
	text_add(t, "\"");
	*before = ",";
}

static void print_bracket(struct text *t, const char *before)
{
	if (*before == ',')
		text_add(t, "}");
}

static void print_sample(struct family *f, const json_t *value, va_list pairs)
{
	const char *before = "{", *key;

	text_add(&f->text, f->name);
	text_add(&f->text, !strcmp(f->type, "counter") ? "_total" :
			   !strcmp(f->type, "info") ? "_info" : "");
	while ((key = va_arg(pairs, const char *))) {
		const char *label = va_arg(pairs, const char *);

		print_label(&f->text, &before, key, label ? label : "");
	}
	print_bracket(&f->text, before);
	print_number(&f->text, value);
}

static void print_histogram_line(struct family *f, const char *ending, const char *key,
				 const char *value, const char *le, const json_t *number)
{
	const char *before = "{";

	text_add(&f->text, f->name);
	text_add(&f->text, ending);
	if (key)
		print_label(&f->text, &before, key, value);
	if (le)
		print_label(&f->text, &before, "le", le);
	print_bracket(&f->text, before);
	print_number(&f->text, number);
}

static void print_histogram(struct family *f, const char *key, const char *value, json_t *le,
		      json_t *count, json_t *sum)
{
	size_t n = json_array_size(le);
	char bound[32];

	for (size_t i = 0; i <= n; i++) {
		snprintf(bound, sizeof(bound), "%.15g", json_number_value(json_array_get(le, i)));
		print_histogram_line(f, "_bucket", key, value, i < n ? bound : "+Inf",
				     json_array_get(count, i));
	}
	print_histogram_line(f, "_sum", key, value, NULL, sum);
	print_histogram_line(f, "_count", key, value, NULL, json_array_get(count, n));
}

/* --- JSON ------------------------------------------------------------------------------ */

static void append_object(struct samples *s, struct family *f, json_t *object)
{
	if (json_array_append_new(f->list, object))
		s->failed = true;
}

static json_t *make_labels(va_list pairs)
{
	json_t *labels = json_object();
	const char *key, *value;

	while ((key = va_arg(pairs, const char *))) {
		value = va_arg(pairs, const char *);
		json_object_set_new(labels, key, json_string(value ? value : ""));
	}
	return labels;
}

/* --- families ---------------------------------------------------------------------------- */

static struct family **find_family(struct samples *s, const char *name)
{
	uint32_t hash = 2166136261u;

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	while (s->slot[hash % SLOTS] && strcmp(s->slot[hash % SLOTS]->name, name))
		hash++;
	return &s->slot[hash % SLOTS];
}

struct family *samples_family(struct samples *s, const char *name, const char *type,
			      const char *help)
{
	struct family **slot = find_family(s, name), *f = *slot;

	if (f)
		return f;
	f = s->n < SLOTS / 2 ? calloc(1, sizeof(*f)) : NULL;
	if (!f) {
		s->failed = true;
		return NULL;
	}
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->type = type;
	f->help = help;
	f->list = s->as_text ? NULL : json_array();
	*slot = f;
	*s->end = f;
	s->end = &f->next;
	s->n++;
	return f;
}

void samples_add(struct samples *s, struct family *f, const json_t *value, va_list pairs)
{
	if (!f)
		return;
	if (s->as_text)
		print_sample(f, value, pairs);
	else
		append_object(s, f, json_pack("{s:o, s:O}", "labels", make_labels(pairs),
					      "value", value));
}

void samples_add_histogram(struct samples *s, struct family *f, const char *key, const char *value,
			   json_t *le, json_t *count, json_t *sum)
{
	json_t *labels;

	if (!f)
		return;
	if (s->as_text) {
		print_histogram(f, key, value, le, count, sum);
		return;
	}
	labels = json_object();
	if (key)
		json_object_set_new(labels, key, json_string(value));
	append_object(s, f, json_pack("{s:o, s:O, s:O, s:O}", "labels", labels, "le", le,
				      "count", count, "sum", sum));
}

struct samples *samples_new(bool as_text)
{
	struct samples *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->as_text = as_text;
	s->end = &s->first;
	return s;
}

void samples_free(struct samples *s)
{
	struct family *f, *next;

	for (f = s->first; f; f = next) {
		next = f->next;
		json_decref(f->list);
		free(f->text.at);
		free(f);
	}
	free(s);
}

bool samples_failed(const struct samples *s)
{
	bool failed = s->failed;

	for (const struct family *f = s->first; f; f = f->next)
		failed |= f->text.failed;
	return failed;
}

const struct family *samples_first(const struct samples *s)
{
	return s->first;
}
