// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "texts.h"

#define COUNT_UP 255

static bool is_text_digit(char c)
{
	return c >= '0' && c <= '9';
}

/*
 * Increases by one the number that ends before the last @tail characters. Return: false if there is
 * no number.
 */
static bool count_texts(char *text, size_t tail)
{
	size_t len = strlen(text), at = len - tail;

	if (!at || !is_text_digit(text[at - 1]))
		return false;
	while (at && text[at - 1] == '9')
		text[--at] = '0';
	if (at && is_text_digit(text[at - 1])) {
		text[at - 1]++;
		return true;
	}
	if (len + 1 >= TEXTS_MAX)
		return false;
	memmove(text + at + 1, text + at, len + 1 - at);
	text[at] = '1';
	return true;
}

static void append_text(struct texts_out *t, const void *data, size_t n)
{
	if (t->failed)
		return;
	if (t->n + n > t->room) {
		size_t room = 2 * t->room + n + 64;
		uint8_t *more = realloc(t->data, room);

		if (!more) {
			t->failed = true;
			return;
		}
		t->data = more;
		t->room = room;
	}
	memcpy(t->data + t->n, data, n);
	t->n += n;
}

static void put_edit(struct texts_out *t, const char *text)
{
	size_t was = strlen(t->last), is = strlen(text), least = was < is ? was : is;
	size_t head = 0, tail = 0;
	uint8_t edit[3];

	while (head < least && t->last[head] == text[head])
		head++;
	while (tail < least - head && t->last[was - tail - 1] == text[is - tail - 1])
		tail++;
	edit[0] = (uint8_t)head;
	edit[1] = (uint8_t)tail;
	edit[2] = (uint8_t)(is - head - tail);
	append_text(t, edit, sizeof(edit));
	append_text(t, text + head, edit[2]);
	t->tail = tail;
	t->run = 0;
}

void texts_put(struct texts_out *t, const char *text)
{
	static const uint8_t begin[2] = { COUNT_UP, 1 };
	char next[TEXTS_MAX];
	bool counts;

	memcpy(next, t->last, sizeof(next));
	counts = count_texts(next, t->tail) && !strcmp(next, text);
	if (t->failed)
		return;
	if (counts && t->run && t->data[t->run] < UINT8_MAX) {
		t->data[t->run]++;
	} else if (counts) {
		append_text(t, begin, sizeof(begin));
		t->run = t->n - 1;
	} else {
		put_edit(t, text);
	}
	strcpy(t->last, text);
}

static bool get_edit(struct texts_in *t)
{
	size_t was = strlen(t->last), head, tail, n;
	char text[TEXTS_MAX];

	if (t->end - t->at < 3)
		return false;
	head = t->at[0];
	tail = t->at[1];
	n = t->at[2];
	t->at += 3;
	if (head + tail > was || head + n + tail >= sizeof(text) || n > (size_t)(t->end - t->at))
		return false;
	for (size_t i = 0; i < n; i++)
		if (t->at[i] < ' ' || t->at[i] > '~')
			return false;
	memcpy(text, t->last, head);
	memcpy(text + head, t->at, n);
	memcpy(text + head + n, t->last + was - tail, tail + 1);
	memcpy(t->last, text, head + n + tail + 1);
	t->at += n;
	t->tail = tail;
	return true;
}

bool texts_get(struct texts_in *t, char *text, size_t room)
{
	bool fine;

	if (!t->left && t->end - t->at >= 2 && t->at[0] == COUNT_UP) {
		t->left = t->at[1];
		t->at += 2;
		if (!t->left)
			return false;
	}
	if (t->left) {
		t->left--;
		fine = count_texts(t->last, t->tail);
	} else {
		fine = get_edit(t);
	}
	if (!fine || strlen(t->last) >= room)
		return false;
	strcpy(text, t->last);
	return true;
}

bool texts_end(const struct texts_in *t)
{
	return !t->left && t->at == t->end;
}
