// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/spare.h"
#include "daemon/fm/clock.h"
#include "lib/deps/invariant.h"

void fm_spares_free(struct fm_spares *s)
{
	for (unsigned int i = 0; i < s->n; i++)
		free(s->list[i].text);
	free(s->list);
	*s = (struct fm_spares) { .n = 0 };
}

static struct fm_spare *find_spare(const struct fm_spares *s, const char *kind, uint64_t key)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (s->list[i].key == key && !strcmp(s->list[i].kind, kind))
			return &s->list[i];
	return NULL;
}

static bool make_room(struct fm_spares *s)
{
	unsigned int room = s->room ? 2 * s->room : 16;
	struct fm_spare *list;

	if (s->n < s->room)
		return true;
	list = s->n < FM_SPARES_MAX ? realloc(s->list, room * sizeof(*list)) : NULL;
	if (!list)
		return false;
	s->list = list;
	s->room = room;
	invariant(s->room <= FM_SPARES_MAX);
	return true;
}

void fm_spare_put(struct fm_spares *s, uint32_t node, const char *kind, uint64_t key,
		  const char *text)
{
	struct fm_spare *old = find_spare(s, kind, key);
	char *copy;

	if (old && !strcmp(old->text, text)) {
		old->mark = false;
		return;
	}
	copy = old || make_room(s) ? strdup(text) : NULL;
	if (!copy)
		return;
	if (old) {
		free(old->text);
	} else {
		old = &s->list[s->n++];
		*old = (struct fm_spare) { .key = key };
		snprintf(old->kind, sizeof(old->kind), "%s", kind);
	}
	old->text = copy;
	old->node = node;
	old->mark = false;
}

static void drop_spare(struct fm_spares *s, unsigned int i)
{
	invariant(i < s->n && s->n <= s->room);
	s->n--;
	memmove(&s->list[i], &s->list[i + 1], (s->n - i) * sizeof(*s->list));
}

void fm_spare_clear(struct fm_spares *s, const char *kind, uint64_t key)
{
	struct fm_spare *p = find_spare(s, kind, key);

	if (!p)
		return;
	free(p->text);
	drop_spare(s, (unsigned int)(p - s->list));
}

bool fm_spare_take(struct fm_spares *s, struct fm_spare *out)
{
	if (!s->n)
		return false;
	*out = s->list[0];
	drop_spare(s, 0);
	return true;
}

void fm_spare_limit(struct fm_spares *s, const char *kind, uint64_t key, uint64_t until)
{
	struct fm_spare *p = find_spare(s, kind, key);

	if (p)
		p->until = until;
}

void fm_spares_mark(struct fm_spares *s, const char *kind)
{
	for (unsigned int i = 0; i < s->n; i++)
		if (!strcmp(s->list[i].kind, kind))
			s->list[i].mark = true;
}

/* Removes the marked problems of @kind; if @kind is NULL, those whose time is over. */
static void remove_ended(struct fm_spares *s, const char *kind, uint64_t now)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < s->n; i++) {
		const struct fm_spare *p = &s->list[i];

		if (kind ? p->mark && !strcmp(p->kind, kind) : p->until && now >= p->until)
			free(p->text);
		else
			s->list[left++] = *p;
	}
	s->n = left;
}

void fm_spares_sweep(struct fm_spares *s, const char *kind)
{
	remove_ended(s, kind, 0);
}

void fm_spares_due(struct fm_spares *s, uint64_t now)
{
	remove_ended(s, NULL, now);
}

uint64_t fm_spares_expiry(const struct fm_spares *s)
{
	uint64_t at = NEVER;

	for (unsigned int i = 0; i < s->n; i++)
		if (s->list[i].until)
			at = earlier(at, s->list[i].until);
	return at;
}
