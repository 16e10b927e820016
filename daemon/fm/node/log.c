// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output for people: lines for the log, and the list of problems
 * that stand until they are gone. A problem is logged when it begins and when
 * it ends, not while it lasts.
 *
 * A neighbour, or a cable that is half broken, can make a problem begin and end as often as it
 * likes. So a problem is remembered by its kind and key after it has ended, too: its first line is
 * logged at once, the next not before GAP_MIN has passed, and this gap doubles with each line up
 * to GAP_MAX. A problem that stands when its gap is over, and has not been logged with its present
 * text, is logged then; one that stood meanwhile is only counted. An end is logged if the
 * beginning was. A problem that has not come for FORGET is treated as new.
 *
 * If there are more problems than the list has room for, the others wait (spare.c): they are counted,
 * and the oldest of them gets the place of the next one that ends.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/spare.h"
#include "daemon/fm/status.h"

#define GAP_MIN (1000 * MS)
#define GAP_MAX (600 * 1000 * MS)
#define FORGET (3600 * 1000 * MS)

/**
 * struct trouble - a problem that stands, or that stood
 * @open: a line of it was logged, and not that it is over
 * @unsaid: it stands, and has not been logged as it stands
 * @missed: how often it was not logged since the last line, this time included
 * @said: when it was logged last
 * @gap: from then until it may be logged again
 * @until: when it ends by itself; 0: it does not
 */
struct trouble {
	struct fm_problem problem;
	uint64_t key;
	bool mark, open, unsaid;
	unsigned int missed;
	uint64_t said, gap, until;
};

/**
 * struct fm_problems - the first @n stand; of the others it is known when they were logged
 * @spares: they stand, too, but are not logged
 */
struct fm_problems {
	struct trouble *trouble;
	unsigned int n, known, room;
	struct fm_spares spares;
};

bool fm_problems_new(struct fm *fm)
{
	fm->problems = calloc(1, sizeof(*fm->problems));
	return fm->problems;
}

void fm_problems_free(struct fm *fm)
{
	if (fm->problems) {
		fm_spares_free(&fm->problems->spares);
		free(fm->problems->trouble);
	}
	free(fm->problems);
}

unsigned int fm_problems_count(const struct fm *fm)
{
	return fm->problems->n;
}

unsigned int fm_problems_more(const struct fm *fm)
{
	return fm->problems->spares.n;
}

static void write_line(struct fm *fm, enum fm_level level, const char *kind, const char *text)
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
	write_line(fm, level, kind, text);
}

/* Among the problems that stand and those that stood. */
static int problem_find(const struct fm *fm, const char *kind, uint64_t key)
{
	for (unsigned int i = 0; i < fm->problems->known; i++)
		if (fm->problems->trouble[i].key == key &&
		    !strcmp(fm->problems->trouble[i].problem.kind, kind))
			return (int)i;
	return -1;
}

/* Finds the problem to be replaced: the one that was logged longest ago. */
static struct trouble *trouble_replace(struct fm_problems *p)
{
	struct trouble *oldest = &p->trouble[p->n];

	for (unsigned int i = p->n; i < p->known; i++)
		if (p->trouble[i].said < oldest->said)
			oldest = &p->trouble[i];
	return oldest;
}

/* Most machines never have any. Return: one that does not stand yet; NULL: no room, no memory. */
static struct trouble *trouble_add(struct fm_problems *p, const char *kind, uint64_t key)
{
	unsigned int room = p->room ? 2 * p->room : 2;
	struct trouble *t;

	if (p->known == FM_PROBLEMS_KNOWN) {
		t = trouble_replace(p);
	} else {
		if (p->known == p->room) {
			t = realloc(p->trouble, room * sizeof(*t));
			if (!t)
				return NULL;
			p->trouble = t;
			p->room = room;
		}
		t = &p->trouble[p->known++];
	}
	*t = (struct trouble) { .key = key };
	snprintf(t->problem.kind, sizeof(t->problem.kind), "%s", kind);
	return t;
}

/* Puts @t in the place of trouble @i, and that one in the place of @t. Return: where @t is now. */
static struct trouble *trouble_swap(struct fm_problems *p, struct trouble *t, unsigned int i)
{
	struct trouble other = p->trouble[i];

	p->trouble[i] = *t;
	*t = other;
	return &p->trouble[i];
}

static void trouble_say(struct fm *fm, struct trouble *t, unsigned int missed)
{
	if (missed)
		fm_say(fm, FM_ERROR, t->problem.kind, "%s (said %u time%s more meanwhile)",
		       t->problem.text, missed, missed == 1 ? "" : "s");
	else
		write_line(fm, FM_ERROR, t->problem.kind, t->problem.text);
	t->open = true;
	t->unsaid = false;
	t->missed = 0;
	t->gap = t->gap ? earlier(2 * t->gap, GAP_MAX) : GAP_MIN;
	t->said = fm->now;
}

/* It begins, or becomes another: it is logged, or counted. */
static void trouble_begin(struct fm *fm, struct trouble *t)
{
	if (fm->now >= t->said + FORGET)
		t->gap = t->missed = 0;
	if (fm->now >= t->said + t->gap) {
		trouble_say(fm, t, t->missed);
	} else {
		t->unsaid = true;
		t->missed++;
	}
}

/* It stands, with that text. There is room for it, or it stands already. */
static struct trouble *problem_put(struct fm *fm, const char *kind, uint64_t key, const char *text)
{
	struct fm_problems *p = fm->problems;
	int i = problem_find(fm, kind, key);
	struct trouble *t = i < 0 ? trouble_add(p, kind, key) : &p->trouble[i];
	bool stands = i >= 0 && (unsigned int)i < p->n;

	if (!t)
		return NULL;
	t->mark = false;
	if (stands && !strcmp(t->problem.text, text))
		return t;
	snprintf(t->problem.text, sizeof(t->problem.text), "%s", text);
	if (!stands)
		t = trouble_swap(p, t, p->n++);
	trouble_begin(fm, t);
	return t;
}

/* Return: true if it is among those that are listed. */
static bool is_listed(const struct fm *fm, const char *kind, uint64_t key)
{
	int i = problem_find(fm, kind, key);

	return i >= 0 && (unsigned int)i < fm->problems->n;
}

void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
{
	struct fm_problems *p = fm->problems;
	char text[FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (p->n == FM_PROBLEMS_MAX && !is_listed(fm, kind, key))
		fm_spare_put(&p->spares, kind, key, text);
	else
		problem_put(fm, kind, key, text);
}

/* A place is free: the problem that has waited longest gets it. */
static void take_spare(struct fm *fm)
{
	struct fm_spare spare;
	struct trouble *t;

	if (!fm_spare_take(&fm->problems->spares, &spare))
		return;
	t = problem_put(fm, spare.kind, spare.key, spare.text);
	if (t) {
		t->mark = spare.mark;
		t->until = spare.until;
	}
	free(spare.text);
}

/* The last of those that stand takes its place. */
static void problem_drop(struct fm *fm, unsigned int i)
{
	struct trouble *t = &fm->problems->trouble[i];

	if (t->open)
		fm_say(fm, FM_INFO, t->problem.kind, "over: %s", t->problem.text);
	t->open = t->unsaid = false;
	t->until = 0;
	trouble_swap(fm->problems, t, --fm->problems->n);
	take_spare(fm);
}

void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key)
{
	int i = problem_find(fm, kind, key);

	if (i >= 0 && (unsigned int)i < fm->problems->n)
		problem_drop(fm, (unsigned int)i);
	else
		fm_spare_clear(&fm->problems->spares, kind, key);
}

void fm_problem_limit(struct fm *fm, const char *kind, uint64_t key, uint64_t until)
{
	int i = problem_find(fm, kind, key);

	if (i >= 0 && (unsigned int)i < fm->problems->n)
		fm->problems->trouble[i].until = until;
	else
		fm_spare_limit(&fm->problems->spares, kind, key, until);
}

void fm_problems_due(struct fm *fm)
{
	fm_spares_due(&fm->problems->spares, fm->now);
	for (unsigned int i = 0; i < fm->problems->n;) {
		struct trouble *t = &fm->problems->trouble[i];

		if (t->until && fm->now >= t->until) {
			problem_drop(fm, i);	/* another is in its place */
			continue;
		}
		if (t->unsaid && fm->now >= t->said + t->gap)
			trouble_say(fm, t, t->missed - 1);
		i++;
	}
}

uint64_t fm_problems_expiry(const struct fm *fm)
{
	uint64_t at = fm_spares_expiry(&fm->problems->spares);

	for (unsigned int i = 0; i < fm->problems->n; i++) {
		const struct trouble *t = &fm->problems->trouble[i];

		if (t->unsaid)
			at = earlier(at, t->said + t->gap);
		if (t->until)
			at = earlier(at, t->until);
	}
	return at;
}

void fm_problems_mark(struct fm *fm, const char *kind)
{
	for (unsigned int i = 0; i < fm->problems->n; i++)
		if (!strcmp(fm->problems->trouble[i].problem.kind, kind))
			fm->problems->trouble[i].mark = true;
	fm_spares_mark(&fm->problems->spares, kind);
}

void fm_problems_sweep(struct fm *fm, const char *kind)
{
	fm_spares_sweep(&fm->problems->spares, kind);	/* first: none of them gets a place now */
	for (unsigned int i = fm->problems->n; i-- > 0;)
		if (fm->problems->trouble[i].mark &&
		    !strcmp(fm->problems->trouble[i].problem.kind, kind))
			problem_drop(fm, i);
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	return i < fm->problems->n ? &fm->problems->trouble[i].problem : NULL;
}
