// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "daemon/quality.h"
#include "lib/util/times.h"

#define BETTER		10.0	/* a line with this many times fewer errors than the limit is not
				 * reported */
#define LOG_BETTER	2.302585092994046	/* natural logarithm of BETTER */
#define WINDOW_MAX	(3600 * SEC)

void quality_rules_default(struct quality_rules *rules)
{
	*rules = (struct quality_rules) {
		.warn_ber = 1e-10,
		.fail_ber = 1e-7,
		.errors_min = 20,
		.clean_for = 300 * SEC,
	};
}

static double at_least_zero(double v)
{
	return v > 0 ? v : 0;
}

/** struct reading - what a reading adds; @from: time of the reading before */
struct reading {
	uint64_t from, seconds;
	struct quality_count more;
};

/* Adds a reading to the sums of a limit. */
static void add_evidence(struct quality_sum *s, double limit, const struct reading *r)
{
	const struct quality_count *more = &r->more;
	double expected = limit * (double)more->bits, errors = (double)more->errors;

	if (s->up <= 0)
		s->since = (struct quality_count) { .at = r->from };
	s->since.bits += more->bits;
	s->since.errors += more->errors;
	s->up = at_least_zero(s->up + errors - expected * (1 - 1 / BETTER) / LOG_BETTER);
	if (!s->bad)
		s->down = 0;
	else
		s->down = at_least_zero(s->down + expected - 2 * errors);
	if (s->up <= 0)
		s->seconds = 0;
	else
		s->seconds += r->seconds;
}

/* Judges the line by one limit. With the limit 0, no line is bad. */
static void judge_sum(struct quality_sum *s, double limit, const struct quality_rules *rules,
		      const struct reading *r)
{
	const struct quality_count *more = &r->more;

	if (limit <= 0) {
		*s = (struct quality_sum) { .bad = false };
		return;
	}
	add_evidence(s, limit, r);
	if (s->up > 2 * rules->errors_min)	/* the sum has a maximum, so that it falls again
						 * as soon */
		s->up = 2 * rules->errors_min;
	if ((double)more->errors * 2 > limit * (double)more->bits)
		s->against = more->at;
	if (!s->bad)
		s->bad = s->up >= rules->errors_min && s->seconds >= QUALITY_SECONDS;
	else if (s->down >= QUALITY_CLEAN && more->at - s->against >= rules->clean_for)
		*s = (struct quality_sum) { .bad = false };
}

static void count_window(struct quality *q, const struct quality_rules *rules,
			 const struct quality_count *more)
{
	struct quality_count *w = &q->window[0];

	if (w->errors >= rules->errors_min || more->at - w->at >= WINDOW_MAX) {
		q->window[1] = *w;
		*w = (struct quality_count) { .at = q->last.at };
	}
	w->bits += more->bits;
	w->errors += more->errors;
}

/* Called when a line has fallen below a limit: it is judged only by later readings. */
static void forget_windows(struct quality *q, uint64_t at)
{
	q->window[0] = q->window[1] = (struct quality_count) { .at = at };
}

/*
 * Reports the errors that proved the line bad: with the bits received earlier, the rate would be
 * too low.
 */
static void report_proof(struct quality *q)
{
	const struct quality_sum *s = q->fail.bad ? &q->fail : &q->warn;

	if (quality_recent(q).at >= s->since.at)
		return;
	q->window[0] = s->since;
	q->window[1] = (struct quality_count) { .at = s->since.at };
}

/* Return: true if the counters in @s continue those of the last reading. */
static bool goes_on(const struct quality *q, const struct quality_sample *s)
{
	const struct quality_sample *was = &q->last;

	return q->based && was->up && s->up && was->session == s->session && s->at >= was->at &&
	       s->bits >= was->bits && s->errors >= was->errors && s->seconds >= was->seconds;
}

/* Return: what the reading @s adds to the one before. */
static struct reading read_more(const struct quality *q, const struct quality_sample *s)
{
	struct reading r = {
		.from = q->last.at, .seconds = s->seconds - q->last.seconds,
		.more = { s->at, s->bits - q->last.bits, s->errors - q->last.errors },
	};

	if (!s->seconds)
		r.seconds = r.more.errors != 0;
	return r;
}

bool quality_read(struct quality *q, const struct quality_rules *rules,
		  const struct quality_sample *s)
{
	struct reading r = read_more(q, s);
	enum quality_level was = q->level;

	if (!q->based)
		forget_windows(q, s->at);
	q->fresh = false;
	if (goes_on(q, s)) {
		q->fresh = r.more.errors;
		count_window(q, rules, &r.more);
		judge_sum(&q->warn, rules->warn_ber, rules, &r);
		judge_sum(&q->fail, rules->fail_ber, rules, &r);
	}
	q->based = true;
	q->last = *s;
	q->level = q->fail.bad ? QUALITY_FAIL : q->warn.bad ? QUALITY_WARN : QUALITY_GOOD;
	if (q->level < was)
		forget_windows(q, s->at);
	else if (q->level > was)
		report_proof(q);
	return q->level != was;
}

bool quality_suspects(const struct quality *q)
{
	return q->level == QUALITY_GOOD && q->fresh;
}

struct quality_count quality_recent(const struct quality *q)
{
	const struct quality_count *a = &q->window[0], *b = &q->window[1];
	bool two = b->bits || b->errors;

	return (struct quality_count) {
		two ? b->at : a->at, a->bits + b->bits, a->errors + b->errors,
	};
}

double quality_ber(const struct quality_count *c)
{
	return c->bits ? (double)c->errors / (double)c->bits : 0;
}

const char *quality_level_name(enum quality_level level)
{
	switch (level) {
	case QUALITY_WARN:
		return "warn";
	case QUALITY_FAIL:
		return "fail";
	default:
		return "good";
	}
}
