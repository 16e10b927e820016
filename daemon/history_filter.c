// SPDX-License-Identifier: GPL-2.0-only
/* Decides which events fit the filter of a search. */
#include <string.h>
#include "daemon/history.h"

static bool is_decimal(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Return: true if the match is not a part of a longer number or list: "1,2" is found in neither
 * "11,2" nor "1,2,0".
 */
static bool is_whole_number(const char *text, const char *end, const char *at, size_t n)
{
	const char *after = at + n;

	if (is_decimal(*at) && at > text && (is_decimal(at[-1]) || at[-1] == ','))
		return false;
	return !is_decimal(after[-1]) || after == end || (!is_decimal(*after) && *after != ',');
}

static bool has_word(const struct history_record *r, const char *word)
{
	const char *end = r->json + r->len, *at = r->json;
	size_t n = strlen(word);

	while (n && (at = memmem(at, (size_t)(end - at), word, n))) {
		if (is_whole_number(r->json, end, at, n))
			return true;
		at++;
	}
	return false;
}

/* Return: true if @kind is in @list, whose kinds are separated by commas. */
static bool names_kind(const char *list, const char *kind)
{
	size_t n = strlen(kind);

	for (const char *p = list; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
		if (!strncmp(p, kind, n) && (!p[n] || p[n] == ','))
			return true;
	return false;
}

bool history_wants(const struct history_filter *f, const struct history_record *r)
{
	if (r->time < f->from || r->time > f->to || r->level > f->level)
		return false;
	if (f->kind[0] && !names_kind(f->kind, r->kind))
		return false;
	for (unsigned int i = 0; i < f->words; i++)
		if (has_word(r, f->word[i]))
			return true;
	return !f->words;
}
