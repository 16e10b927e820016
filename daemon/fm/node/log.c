// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine tells people: lines for the log, and the list of problems
 * that stand until they are gone. A problem is logged when it begins and when
 * it ends, not while it lasts.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/status.h"

/** struct fm_trouble - a problem that stands */
struct fm_trouble {
	struct fm_problem problem;
	uint64_t key;
	bool mark;
};

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
	for (unsigned int i = 0; i < fm->problems.n; i++)
		if (fm->problems.trouble[i].key == key && !strcmp(fm->problems.trouble[i].problem.kind, kind))
			return (int)i;
	return -1;
}

/* Most machines never have any. NULL: no room, no memory. */
static struct fm_trouble *trouble_add(struct fm *fm)
{
	unsigned int room = fm->problems.room ? 2 * fm->problems.room : 2;
	struct fm_trouble *more;

	if (fm->problems.n == FM_PROBLEMS_MAX)
		return NULL;
	if (fm->problems.n == fm->problems.room) {
		more = realloc(fm->problems.trouble, room * sizeof(*more));
		if (!more)
			return NULL;
		fm->problems.trouble = more;
		fm->problems.room = room;
	}
	return &fm->problems.trouble[fm->problems.n++];
}

void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
{
	int i = problem_find(fm, kind, key);
	struct fm_trouble *t = i < 0 ? NULL : &fm->problems.trouble[i];
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
	struct fm_trouble *t = &fm->problems.trouble[i];

	fm_say(fm, FM_INFO, t->problem.kind, "over: %s", t->problem.text);
	*t = fm->problems.trouble[--fm->problems.n];
}

void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key)
{
	int i = problem_find(fm, kind, key);

	if (i >= 0)
		problem_drop(fm, (unsigned int)i);
}

void fm_problems_mark(struct fm *fm, const char *kind)
{
	for (unsigned int i = 0; i < fm->problems.n; i++)
		if (!strcmp(fm->problems.trouble[i].problem.kind, kind))
			fm->problems.trouble[i].mark = true;
}

void fm_problems_sweep(struct fm *fm, const char *kind)
{
	for (unsigned int i = fm->problems.n; i-- > 0;)
		if (fm->problems.trouble[i].mark && !strcmp(fm->problems.trouble[i].problem.kind, kind))
			problem_drop(fm, i);
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	return i < fm->problems.n ? &fm->problems.trouble[i].problem : NULL;
}

void fm_problems_free(struct fm *fm)
{
	free(fm->problems.trouble);
}
