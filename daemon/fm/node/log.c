// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output for people: log lines, and the list of present problems. A problem is something that is
 * wrong at present. It is logged when it begins and when it ends, not while it lasts.
 *
 * A neighbour, or a bad cable, can make a problem begin and end many times a second. So the log
 * limits the rate of each problem, which it remembers by kind and key after its end. The first
 * line is logged at once, the next one not before GAP_MIN has passed, and this gap doubles with
 * each line up to GAP_MAX. If a problem is present when its gap is over, and its present text has
 * not been logged, it is logged then. A problem that began and ended within the gap is only
 * counted. An end is logged if the beginning was. After FORGET without the problem, its gap is
 * reset.
 *
 * Problems beyond the capacity of the list wait in spare.c. When a problem of the list ends, the
 * oldest of them takes its place.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/spare.h"
#include "daemon/fm/status.h"
#include "lib/deps/invariant.h"

#define GAP_MIN (1000 * MS)
#define GAP_MAX (600 * 1000 * MS)
#define FORGET (3600 * 1000 * MS)

/**
 * struct trouble - a present or past problem
 * @node: the node that it is about; TORUS_NO_NODE: this node, or the whole fabric
 * @mark: fm_problems_sweep() ends the problem, unless it is set again before that
 * @open: the beginning of the problem was logged, and its end was not
 * @unlogged: the problem is present, and its present text has not been logged
 * @missed: how often it began or changed without a log line since the last line
 * @logged: when it was logged last
 * @gap: time from @logged until it may be logged again
 * @until: when the problem ends by itself; 0: it does not
 */
struct trouble {
	struct fm_problem problem;
	uint64_t key;
	uint32_t node;
	bool mark, open, unlogged;
	unsigned int missed;
	uint64_t logged, gap, until;
};

/**
 * struct fm_problems - present problems first, then past ones
 * @n: how many are present; @known: present and past ones; @room: allocated
 * @spares: further present problems, for which the list has no room; they are not logged
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

static void write_line(struct fm *fm, uint32_t node, enum fm_level level, const char *kind,
		       const char *text)
{
	struct fm_log line = { .level = level, .kind = kind, .text = text, .node = node };

	fm->ops.log(fm->io, &line);
}

void fm_log(struct fm *fm, enum fm_level level, const char *kind, const char *fmt, ...)
{
	char text[2 * FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	write_line(fm, TORUS_NO_NODE, level, kind, text);
}

void fm_log_of(struct fm *fm, uint32_t node, enum fm_level level, const char *kind,
	       const char *fmt, ...)
{
	char text[2 * FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	write_line(fm, node, level, kind, text);
}

/* Finds a present or past problem. Return: its index, or -1. */
static int find_trouble(const struct fm *fm, const char *kind, uint64_t key)
{
	for (unsigned int i = 0; i < fm->problems->known; i++)
		if (fm->problems->trouble[i].key == key &&
		    !strcmp(fm->problems->trouble[i].problem.kind, kind))
			return (int)i;
	return -1;
}

/* Return: true if @i is the index of a present problem. */
static bool is_present(const struct fm_problems *p, int i)
{
	return i >= 0 && (unsigned int)i < p->n;
}

/* Finds the past problem to be replaced: the one that was logged longest ago. */
static struct trouble *find_oldest(struct fm_problems *p)
{
	struct trouble *oldest = &p->trouble[p->n];

	invariant(p->n < p->known);
	for (unsigned int i = p->n; i < p->known; i++)
		if (p->trouble[i].logged < oldest->logged)
			oldest = &p->trouble[i];
	return oldest;
}

/*
 * Adds a past problem, or replaces the oldest. The list grows on demand, because most machines have
 * no problems. Return: NULL if there is no memory.
 */
static struct trouble *add_trouble(struct fm_problems *p, const char *kind, uint64_t key)
{
	unsigned int room = p->room ? 2 * p->room : 2;
	struct trouble *t;

	if (p->known == FM_PROBLEMS_KNOWN) {
		t = find_oldest(p);
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

/* Exchanges @t with the problem at index @i. Return: the problem @t in its new position @i. */
static struct trouble *swap_trouble(struct fm_problems *p, struct trouble *t, unsigned int i)
{
	struct trouble other = p->trouble[i];

	invariant(i < p->known && t >= p->trouble && t < p->trouble + p->known);
	p->trouble[i] = *t;
	*t = other;
	return &p->trouble[i];
}

static void log_trouble(struct fm *fm, struct trouble *t, unsigned int missed)
{
	invariant(fm->now >= t->logged + t->gap);
	if (missed)
		fm_log_of(fm, t->node, FM_ERROR, t->problem.kind,
			  "%s (said %u time%s more meanwhile)",
			  t->problem.text, missed, missed == 1 ? "" : "s");
	else
		write_line(fm, t->node, FM_ERROR, t->problem.kind, t->problem.text);
	t->open = true;
	t->unlogged = false;
	t->missed = 0;
	t->gap = t->gap ? earlier(2 * t->gap, GAP_MAX) : GAP_MIN;
	t->logged = fm->now;
}

/*
 * Called when a problem has begun, or has a new text: logs it, or, if its gap is not over, counts
 * it.
 */
static void begin_trouble(struct fm *fm, struct trouble *t)
{
	if (fm->now >= t->logged + FORGET)
		t->gap = t->missed = 0;
	if (fm->now >= t->logged + t->gap) {
		log_trouble(fm, t, t->missed);
	} else {
		t->unlogged = true;
		t->missed++;
	}
}

/*
 * Makes a problem of @node present, with @text. The list must have room, or contain the problem
 * already. Return: NULL if there is no memory.
 */
static struct trouble *put_problem(struct fm *fm, uint32_t node, const char *kind, uint64_t key,
				   const char *text)
{
	struct fm_problems *p = fm->problems;
	int i = find_trouble(fm, kind, key);
	struct trouble *t = i < 0 ? add_trouble(p, kind, key) : &p->trouble[i];
	bool stands = is_present(p, i);

	if (!t)
		return NULL;
	t->mark = false;
	t->node = node;
	if (stands && !strcmp(t->problem.text, text))
		return t;
	snprintf(t->problem.text, sizeof(t->problem.text), "%s", text);
	if (!stands)
		t = swap_trouble(p, t, p->n++);
	invariant(p->n <= p->known && p->n <= FM_PROBLEMS_MAX);
	begin_trouble(fm, t);
	return t;
}

/* Makes a problem present, in the list or, if that has no room, among the spare ones. */
static void add_problem(struct fm *fm, uint32_t node, const char *kind, uint64_t key,
			const char *text)
{
	struct fm_problems *p = fm->problems;

	if (p->n == FM_PROBLEMS_MAX && !is_present(p, find_trouble(fm, kind, key)))
		fm_spare_put(&p->spares, node, kind, key, text);
	else
		put_problem(fm, node, kind, key, text);
}

void fm_problem_set(struct fm *fm, const char *kind, uint64_t key, const char *fmt, ...)
{
	char text[FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add_problem(fm, TORUS_NO_NODE, kind, key, text);
}

void fm_problem_of(struct fm *fm, uint32_t node, const char *kind, uint64_t key,
		   const char *fmt, ...)
{
	char text[FM_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	add_problem(fm, node, kind, key, text);
}

void fm_problem_await(struct fm *fm, const char *kind, uint64_t key)
{
	struct fm_problems *p = fm->problems;
	int i = find_trouble(fm, kind, key);
	struct trouble *t = i < 0 ? add_trouble(p, kind, key) : &p->trouble[i];

	if (!t || is_present(p, i))
		return;
	if (t->logged + t->gap >= fm->now + GAP_MIN)
		return;		/* the gap of the problem is longer than that anyway */
	t->logged = fm->now;
	t->gap = GAP_MIN;
	t->missed = 0;
}

/* Moves the problem that has waited longest into the list, which has room. */
static void take_spare(struct fm *fm)
{
	struct fm_spare spare;
	struct trouble *t;

	if (!fm_spare_take(&fm->problems->spares, &spare))
		return;
	t = put_problem(fm, spare.node, spare.kind, spare.key, spare.text);
	if (t) {
		t->mark = spare.mark;
		t->until = spare.until;
	}
	free(spare.text);
}

/* Ends the problem at index @i of the list. The last problem of the list takes its place. */
static void end_problem(struct fm *fm, unsigned int i)
{
	struct trouble *t = &fm->problems->trouble[i];

	invariant(i < fm->problems->n);
	if (t->open)
		fm_log_of(fm, t->node, FM_INFO, t->problem.kind, "over: %s", t->problem.text);
	t->open = t->unlogged = false;
	t->until = 0;
	swap_trouble(fm->problems, t, --fm->problems->n);
	take_spare(fm);
}

void fm_problem_clear(struct fm *fm, const char *kind, uint64_t key)
{
	int i = find_trouble(fm, kind, key);

	if (is_present(fm->problems, i))
		end_problem(fm, (unsigned int)i);
	else
		fm_spare_clear(&fm->problems->spares, kind, key);
}

void fm_problem_limit(struct fm *fm, const char *kind, uint64_t key, uint64_t until)
{
	int i = find_trouble(fm, kind, key);

	if (is_present(fm->problems, i))
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
			end_problem(fm, i);	/* another problem has got this index */
			continue;
		}
		if (t->unlogged && fm->now >= t->logged + t->gap)
			log_trouble(fm, t, t->missed - 1);
		i++;
	}
}

uint64_t fm_problems_expiry(const struct fm *fm)
{
	uint64_t at = fm_spares_expiry(&fm->problems->spares);

	for (unsigned int i = 0; i < fm->problems->n; i++) {
		const struct trouble *t = &fm->problems->trouble[i];

		if (t->unlogged)
			at = earlier(at, t->logged + t->gap);
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
	/*
	 * The spare problems first, so that none that is marked takes the place of a problem that
	 * ends below.
	 */
	fm_spares_sweep(&fm->problems->spares, kind);
	for (unsigned int i = fm->problems->n; i-- > 0;)
		if (fm->problems->trouble[i].mark &&
		    !strcmp(fm->problems->trouble[i].problem.kind, kind))
			end_problem(fm, i);
}

const struct fm_problem *fm_problem(const struct fm *fm, unsigned int i)
{
	return i < fm->problems->n ? &fm->problems->trouble[i].problem : NULL;
}
