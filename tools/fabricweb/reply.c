// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A reply may have megabytes. Making a tree of it and printing that again takes ten times its size
 * of memory, so only its outermost object is parsed.
 *
 * Test: tests/unit/test_fabricweb_request.c, tests/fuzz/fuzz_web.c.
 */
#include <string.h>

#include "reply.h"

/* struct scan - the rest of the text */
struct scan {
	const char *at, *end;
};

static void skip_blanks(struct scan *s)
{
	while (s->at < s->end && strchr(" \t\r\n", *s->at) && *s->at)
		s->at++;
}

/* Skips a text; the present character is its quotation mark. */
static bool skip_string(struct scan *s)
{
	for (s->at++; s->at < s->end; s->at++) {
		if (*s->at == '\\')
			s->at++;
		else if (*s->at == '"')
			return s->at++, true;
	}
	return false;
}

/* Skips an array or an object. */
static bool skip_nested(struct scan *s)
{
	size_t depth = 0;

	while (s->at < s->end) {
		char c = *s->at;

		if (c == '"') {
			if (!skip_string(s))
				return false;
			continue;
		}
		s->at++;
		depth += c == '{' || c == '[';
		if ((c == '}' || c == ']') && !--depth)
			return true;
	}
	return false;
}

static bool skip_value(struct scan *s, struct part *part)
{
	bool fine = true;

	skip_blanks(s);
	part->at = s->at;
	if (s->at == s->end)
		return false;
	if (*s->at == '"')
		fine = skip_string(s);
	else if (*s->at == '{' || *s->at == '[')
		fine = skip_nested(s);
	else
		while (s->at < s->end && !strchr(",}] \t\r\n", *s->at))
			s->at++;
	fine = fine && s->at <= s->end && s->at > part->at;
	part->len = fine ? (size_t)(s->at - part->at) : 0;
	return fine;
}

static bool is_text(const struct part *part, const char *text)
{
	return part->len == strlen(text) && !memcmp(part->at, text, part->len);
}

static void keep_member(struct reply *r, const struct part *key, const struct part *value)
{
	if (is_text(key, "\"ok\""))
		r->ok = is_text(value, "true");
	else if (is_text(key, "\"data\""))
		r->data = *value;
	else if (is_text(key, "\"missing\""))
		r->missing = *value;
	else if (is_text(key, "\"rootless\""))
		r->rootless = *value;
	else if (is_text(key, "\"code\""))
		r->code = *value;
	else if (is_text(key, "\"error\""))
		r->error = *value;
}

/* Skips a character, after blanks. */
static bool skip_char(struct scan *s, char c)
{
	skip_blanks(s);
	if (s->at == s->end || *s->at != c)
		return false;
	s->at++;
	return true;
}

bool reply_find(const char *text, size_t len, struct reply *reply)
{
	struct scan s = { text, text + len };
	struct part key, value;

	memset(reply, 0, sizeof(*reply));
	if (!skip_char(&s, '{'))
		return false;
	do {
		skip_blanks(&s);
		if (s.at == s.end || *s.at != '"' || !skip_value(&s, &key) || !skip_char(&s, ':') ||
		    !skip_value(&s, &value))
			return false;
		keep_member(reply, &key, &value);
	} while (skip_char(&s, ','));
	return skip_char(&s, '}') && (reply->ok ? reply->data.len : reply->error.len);
}

const char *reply_code(const struct reply *reply, char *buf, size_t size)
{
	size_t n = reply->code.len;

	if (n < 3 || n - 2 >= size || *reply->code.at != '"')
		return "failed";
	memcpy(buf, reply->code.at + 1, n - 2);
	buf[n - 2] = '\0';
	return buf;
}
