/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The families that are being made, in one of two forms: as JSON, or as the text of their samples,
 * which is the same in both text formats. A node with 12 ports has a thousand samples, so none of
 * them becomes an object first if text is wanted.
 *
 * If there is no memory for a sample, it is left out, and samples_failed() is true.
 */
#ifndef METRICS_SAMPLES_H
#define METRICS_SAMPLES_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>

#define FAMILY_NAME_MAX 96

/** struct text - text that grows; @failed: a part is missing, because memory ran out */
struct text {
	char *at;
	size_t len, room;
	bool failed;
};

/** text_add() - append a text */
void text_add(struct text *t, const char *more);
/** text_add_escaped() - append a value of a label, or a help text; @quotes: escape " too */
void text_add_escaped(struct text *t, const char *more, bool quotes);

/**
 * struct family - samples of one name
 * @next: the family that was begun after this one
 * @type, @help: constants
 * @text: the lines of its samples
 * @list: its samples as JSON
 */
struct family {
	struct family *next;
	char name[FAMILY_NAME_MAX];
	const char *type, *help;
	struct text text;
	json_t *list;
};

struct samples;

/** samples_new() - @as_text: makes text, not JSON. Return: NULL if out of memory */
struct samples *samples_new(bool as_text);
void samples_free(struct samples *s);
bool samples_failed(const struct samples *s);
/** samples_first() - Return: the family that was begun first; NULL: there is none */
const struct family *samples_first(const struct samples *s);

/**
 * samples_family() - Return: the family of that name, which is begun if it does not exist; NULL if
 * out of memory. @type and @help must be constants.
 */
struct family *samples_family(struct samples *s, const char *name, const char *type,
			      const char *help);
/**
 * samples_add() - add a sample
 * @f: NULL: adds nothing
 * @pairs: its labels, pairs of a key and a value up to NULL; values may be NULL
 */
void samples_add(struct samples *s, struct family *f, const json_t *value, va_list pairs);
/**
 * samples_add_histogram() - add a sample of a histogram
 * @key, @value: its label; NULL: it has none
 * @le: the upper bounds except the infinite one
 * @count: the number of values up to each bound, and up to the infinite one
 */
void samples_add_histogram(struct samples *s, struct family *f, const char *key, const char *value,
			   json_t *le, json_t *count, json_t *sum);

/** metrics_unit() - Return: the base unit that ends a name; "": it names none */
const char *metrics_unit(const char *name);
/** metrics_make() - make all families from the data of the command "metrics" */
void metrics_make(struct samples *s, const json_t *answer);

#endif /* METRICS_SAMPLES_H */
