// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine tells people: lines for the log, and the list of problems
 * that stand until they are gone. A problem is logged when it begins and when
 * it ends, not while it lasts.
 */
#include <stdarg.h>
#include <stdio.h>

#include "daemon/fm/node/machine.h"
#include "kernel/core/splitmix64.h"

static void say(struct fm *fm, enum fm_level level, const char *kind, const char *text)
{
	struct fm_log line = { .level = level, .kind = kind, .text = text };

	fm->ops.log(fm->io, &line);
}

void fm_say(struct fm *fm, enum fm_level level, const char *kind, const char *fmt, ...)
{
	char text[2 * FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	say(fm, level, kind, text);
}

static int problem_find(const struct fm *fm, const char *kind, uint64_t key)
{
	for (unsigned int i = 0; i < fm->nproblems; i++)
		if (fm->trouble[i].key == key && !strcmp(fm->trouble[i].problem.kind, kind))
			return (int)i;
	return -1;
}

/* Most machines never have any. NULL: no room, no memory. */
static struct fm_trouble *trouble_add(struct fm *fm)
{
	unsigned int room = fm->trouble_room ? 2 * fm->trouble_room : 2;
	struct fm_trouble *more;

	if (fm->nproblems == FM_PROBLEMS_MAX)
		return NULL;
	if (fm->nproblems == fm->trouble_room) {
		more = realloc(fm->trouble, room * sizeof(*more));
		if (!more)
			return NULL;
		fm->trouble = more;
		fm->trouble_room = room;
	}
	return &fm->trouble[fm->nproblems++];
}

void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
{
	int i = problem_find(fm, kind, key);
	struct fm_trouble *t = i < 0 ? NULL : &fm->trouble[i];
	char text[FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (t) {
		t->mark = false;
		if (!strcmp(t->problem.text, text))
			return;
	} else {
		t = trouble_add(fm);
		if (!t)
			return;
		t->key = key;
		t->mark = false;
		snprintf(t->problem.kind, sizeof(t->problem.kind), "%s", kind);
	}
	memcpy(t->problem.text, text, sizeof(text));
	say(fm, FM_ERROR, kind, text);
}

static void problem_drop(struct fm *fm, unsigned int i)
{
	struct fm_trouble *t = &fm->trouble[i];

	fm_say(fm, FM_INFO, t->problem.kind, "over: %s", t->problem.text);
	*t = fm->trouble[--fm->nproblems];
}

void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key)
{
	int i = problem_find(fm, kind, key);

	if (i >= 0)
		problem_drop(fm, (unsigned int)i);
}

void fm_problems_mark(struct fm *fm, const char *kind)
{
	for (unsigned int i = 0; i < fm->nproblems; i++)
		if (!strcmp(fm->trouble[i].problem.kind, kind))
			fm->trouble[i].mark = true;
}

void fm_problems_sweep(struct fm *fm, const char *kind)
{
	for (unsigned int i = fm->nproblems; i-- > 0;)
		if (fm->trouble[i].mark && !strcmp(fm->trouble[i].problem.kind, kind))
			problem_drop(fm, i);
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	return i < fm->nproblems ? &fm->trouble[i].problem : NULL;
}

uint64_t fm_mix(uint64_t x)
{
	return splitmix64_mix(x);
}

uint64_t fm_random(struct fm *fm)
{
	return splitmix64_mix(fm->random += SPLITMIX64_STEP);
}
