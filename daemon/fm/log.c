// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the machine tells people: lines for the log, and the list of problems
 * that stand until they are gone. A problem is logged when it begins and when
 * it ends, not while it lasts.
 */
#include <stdarg.h>
#include <stdio.h>

#include "machine.h"

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
		if (fm->problem_key[i] == key && !strcmp(fm->problem[i].kind, kind))
			return (int)i;
	return -1;
}

void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
{
	int i = problem_find(fm, kind, key);
	char text[FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (i >= 0) {
		fm->problem_mark[i] = 0;
		if (!strcmp(fm->problem[i].text, text))
			return;
	} else if (fm->nproblems < FM_PROBLEMS_MAX) {
		i = (int)fm->nproblems++;
		fm->problem_key[i] = key;
		fm->problem_mark[i] = 0;
		snprintf(fm->problem[i].kind, sizeof(fm->problem[i].kind), "%s", kind);
	} else {
		return;
	}
	memcpy(fm->problem[i].text, text, sizeof(text));
	say(fm, FM_ERROR, kind, text);
}

static void problem_drop(struct fm *fm, unsigned int i)
{
	unsigned int last = --fm->nproblems;

	fm_say(fm, FM_INFO, fm->problem[i].kind, "over: %s", fm->problem[i].text);
	fm->problem[i] = fm->problem[last];
	fm->problem_key[i] = fm->problem_key[last];
	fm->problem_mark[i] = fm->problem_mark[last];
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
		if (!strcmp(fm->problem[i].kind, kind))
			fm->problem_mark[i] = 1;
}

void fm_problems_sweep(struct fm *fm, const char *kind)
{
	for (unsigned int i = fm->nproblems; i-- > 0;)
		if (fm->problem_mark[i] && !strcmp(fm->problem[i].kind, kind))
			problem_drop(fm, i);
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	return i < fm->nproblems ? &fm->problem[i] : NULL;
}

/* splitmix64's finisher. */
uint64_t fm_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ULL;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

uint64_t fm_random(struct fm *fm)
{
	fm->random += 0x9e3779b97f4a7c15ULL;
	return fm_mix(fm->random);
}
