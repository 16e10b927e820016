/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The manager around recovery.c: stubs for the functions that the file calls, and what they saw;
 * and a model of a recovery by the rules at the head of that file.
 */
#ifndef TESTS_PHASES_H
#define TESTS_PHASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/fm/node/lag.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/member.h"
#include "daemon/fm/node/reports.h"
#include "daemon/fm/root/apart.h"
#include "daemon/fm/root/claim.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/ended.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/grow.h"
#include "daemon/fm/root/leftover.h"
#include "daemon/fm/root/quorum.h"
#include "daemon/fm/root/recovery.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/sums.h"
#include "daemon/fm/root/tally.h"
#include "daemon/fm/status.h"

#define RESEND		(100 * MS)
#define MEMBER_MAX	(1000 * MS)
#define DRAIN_MAX	(50 * MS)
#define RESOLVE_MAX	(70 * MS)
#define AWAITED		77

/** struct seen - the calls of the file */
struct seen {
	unsigned int sent, lines, checked, anew, repeated, resumed, applied, begun, unproven;
	bool problem, proven, bounded;
	uint64_t since;
	struct fm_step step;
	struct fm_recovery end;
	enum fm_level level;
	char kind[20], text[FM_TEXT_MAX], warning[FM_TEXT_MAX], problem_text[FM_TEXT_MAX];
	uint8_t line;
};

static struct fm_root root;
static struct fm fm = { .root = &root, .term = 9, .cfg = {
	.resend = RESEND, .member_max = MEMBER_MAX, .drain_max = DRAIN_MAX,
	.resolve_max = RESOLVE_MAX } };
static struct fm_tally tally;
static struct fm_record record = { .name = "n1", .address = "a1" };
static struct seen seen;
static struct fm_sums net;	/* the counters of all NICs */
static uint64_t lag, awaited;
static bool took, demanded, demand_drained, mixed, grows;

uint64_t fm_lag_answer(const struct fm *f)
{
	(void)f;
	return lag;
}

const struct fm_tally *fm_tally(const struct fm *f)
{
	(void)f;
	return &tally;
}

void fm_tally_applied(struct fm *f)
{
	(void)f;
	seen.applied++;
}

void fm_grow_applied(struct fm *f)
{
	(void)f;
	seen.applied += 10;
}

void fm_quorum_taken(struct fm *f, uint64_t version)
{
	(void)f;
	assert_int_equal(version, root.version);
	seen.applied += 100;
}

bool fm_quorum_took(struct fm *f)
{
	(void)f;
	return took;
}

bool fm_grow_mixed(const struct fm_root *r)
{
	(void)r;
	return mixed;
}

bool fm_grow_drained(struct fm *f, const struct fm_sums *s, bool proven, uint64_t since,
		     uint64_t *count_at)
{
	assert_memory_equal(s, &net, sizeof(net));
	seen.since = since;
	seen.proven = proven;
	if (grows)
		*count_at = f->now + 3;
	return grows;
}

bool fm_demand_is(const struct fm_root *r)
{
	(void)r;
	return demanded;
}

bool fm_demand_drained(struct fm *f)
{
	(void)f;
	return demand_drained;
}

const char *fm_demand_cause(const struct fm_root *r)
{
	static char cause[FM_TEXT_MAX] = "a cause";

	(void)r;
	return cause;
}

uint64_t fm_demand_since(const struct fm_root *r)
{
	(void)r;
	return fm.now - 1234567;
}

void fm_ended_fill(struct fm *f, struct fm_step *s)
{
	(void)f;
	s->nended = 1;
}

static bool reopened;

void fm_ended_reopen(struct fm *f)
{
	(void)f;
	reopened = true;
}

void fm_ended_forget(struct fm *f)
{
	(void)f;
	seen.resumed++;
}

void fm_apart_look(struct fm *f)
{
	(void)f;
	seen.resumed += 10;
}

void fm_leftover_begin(struct fm *f)
{
	(void)f;
	seen.begun++;
}

void fm_leftover_end(struct fm *f, const struct fm_sums *s, bool bounded)
{
	(void)f;
	assert_memory_equal(s, &net, sizeof(net));
	seen.bounded = bounded;
	seen.resumed += 100;
}

void fm_member_step(struct fm *f, const struct fm_step *s)
{
	(void)f;
	seen.step = *s;
	seen.sent++;
	assert_int_equal(reopened, s->step == FM_STEP_REPLAY);
	reopened = false;
}

void fm_member_check(struct fm *f, bool again)
{
	(void)f;
	assert_true(again);
	seen.checked++;
}

void fm_member_repeat(struct fm *f)
{
	(void)f;
	seen.repeated++;
}

void fm_claim_anew(struct fm *f, uint64_t epoch)
{
	assert_int_equal(epoch, f->term);
	seen.anew++;
}

uint64_t fm_reports_awaited(const struct fm *f)
{
	(void)f;
	return awaited;
}

struct fm_record *fm_record(const struct fm_root *r, uint64_t guid)
{
	(void)r;
	return guid == AWAITED ? &record : NULL;
}

void fm_problem_set(struct fm *f, const char *kind, uint64_t key, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "recovery");
	assert_int_equal(key, 0);
	va_start(args, fmt);
	vsnprintf(seen.problem_text, sizeof(seen.problem_text), fmt, args);
	va_end(args);
	seen.problem = true;
}

void fm_problem_clear(struct fm *f, const char *kind, uint64_t key)
{
	(void)f;
	assert_string_equal(kind, "recovery");
	assert_int_equal(key, 0);
	seen.problem = false;
}

void fm_log(struct fm *f, enum fm_level level, const char *kind, const char *fmt, ...)
{
	va_list args;

	(void)f;
	assert_string_equal(kind, "recovery");
	if (level != FM_WARNING)
		return;
	va_start(args, fmt);
	vsnprintf(seen.warning, sizeof(seen.warning), fmt, args);
	va_end(args);
	seen.unproven += !!strstr(seen.warning, "without proof");
}

static void log_line(void *io, const struct fm_log *log)
{
	(void)io;
	seen.lines++;
	seen.line = log->step;
	seen.level = log->level;
	snprintf(seen.kind, sizeof(seen.kind), "%s", log->kind);
	snprintf(seen.text, sizeof(seen.text), "%s", log->text);
	seen.end = *log->recovery;
}

#define LOG_EVERY	(5000 * MS)
#define LOG_ROOM	(16 * LOG_EVERY)
#define REPLAY_KNOWN	0x10

/**
 * struct model - the expected state
 * @began, @moved: when the phase began, and when the sums last changed in it
 * @credit, @credit_at: time for which steps may still be logged, and when that was so
 * @lost, @lost_set, @lost_nics, @lost_sum: how many packets were given up as lost, and the last
 *	count of that
 */
struct model {
	enum fm_phase phase;
	bool waits, orphans, logged, was_known, counted;
	uint32_t round;
	uint64_t asked, round_began, next, interval, began, moved, unresolved, credit, credit_at;
	uint64_t set, lost, lost_set, lost_nics, lost_sum, replayed;
	struct fm_sums sums;
	int64_t gone;
	struct fm_recovery log, last;
	struct fm_base base;
	uint8_t clean;
	unsigned int sent, lines, checked, anew, repeated, resumed, rolls, begun;
	bool problem;
};

static struct model w;

/* --- the model ---------------------------------------------------------------- */

static unsigned int colour(void)
{
	return root.version % TORUS_COLOURS;
}

static void stamp(enum fm_stamp at)
{
	if (w.log.at[at])
		return;
	w.log.at[at] = fm.now;
	w.lines += w.logged && at != FM_AT_RESUMED;
}

static void enter(enum fm_phase phase)
{
	w.phase = phase;
	w.began = w.moved = fm.now;
	w.interval = MS / 4;
	w.next = NEVER;
}

/* All nodes get a step. */
static void step(enum fm_step_kind kind)
{
	w.sent++;
	w.round++;
	w.waits = true;
	w.next = NEVER;
	w.asked = w.round_began = fm.now;
	assert_int_equal(seen.sent, w.sent);
	assert_int_equal(seen.step.step, kind);
	assert_int_equal(seen.step.round, w.round);
	assert_int_equal(seen.step.term, 9);
	assert_int_equal(seen.step.version, root.version);
	assert_int_equal(seen.step.clean, w.clean);
	assert_int_equal(seen.step.orphans, w.orphans);
	assert_int_equal(seen.step.nended, !!w.sums.unresolved);
	assert_int_equal(seen.step.base.version, kind == FM_STEP_RESUME ? root.version : 0);
	w.base.version = seen.step.base.version;
	if (kind == FM_STEP_RESUME)
		assert_memory_equal(&seen.step.base, &w.base, sizeof(w.base));
	w.base.version = 0;
}

static void begin(void)
{
	bool on = w.phase != FM_PHASE_REST;
	const struct fm_recovery was = w.log;

	w.credit += fm.now - w.credit_at;
	w.credit = w.credit > LOG_ROOM ? LOG_ROOM : w.credit;
	w.credit_at = fm.now;
	w.logged = w.credit >= LOG_EVERY;
	w.credit -= w.logged ? LOG_EVERY : 0;
	w.was_known = w.base.known == (0xf | REPLAY_KNOWN) && (!on || w.was_known);
	if (!on) {
		w.gone = 0;
		w.counted = false;
		w.lost = w.lost_set = w.lost_nics = w.lost_sum = 0;
	}
	memset(&w.sums, 0, sizeof(w.sums));
	w.round = w.set = w.unresolved = 0;
	w.orphans = false;
	w.waits = true;
	w.asked = w.round_began = fm.now;
	w.begun++;
	w.log = (struct fm_recovery) { .version = root.version, .cause = "a cause" };
	w.log.at[FM_AT_DETECTED] = on ? was.at[FM_AT_DETECTED] : fm.now - 1234567;
	w.log.parked = on ? was.parked : 0;
	w.log.bounded = on && was.bounded;
	enter(FM_PHASE_APPLY);
	stamp(FM_AT_TABLE);
}

static void count_losses(void)
{
	bool same = w.lost_set == tally.set;

	if (same || (tally.parts[FM_PART_TAKES] < w.lost_nics && net.lost > w.lost_sum))
		w.lost += net.lost - w.lost_sum;
	w.lost_set = tally.set;
	w.lost_nics = tally.parts[FM_PART_TAKES];
	w.lost_sum = net.lost;
}

static bool is_silent(void)
{
	return tally.parts[FM_PART_LIVES];
}

static bool is_outdated(void)
{
	return demanded && (tally.parts[FM_PART_ANEW] || mixed);
}

/* Return: how long sums may stay the same; @most: how long the phase may take at all */
static uint64_t still_max(bool known, uint64_t *most)
{
	uint64_t bound = DRAIN_MAX + lag;

	*most = is_silent() ? 2 * bound : w.phase == FM_PHASE_DRAIN ? NEVER : 40 * bound;
	return known ? 10 * bound : bound;
}

static bool is_bounded(bool known)
{
	uint64_t most, still = still_max(known, &most);

	return fm.now >= w.moved + still || (most != NEVER && fm.now >= w.began + most);
}

static void count_later(void)
{
	w.next = fm.now + w.interval;
	w.interval += w.interval / 2;
	w.interval = w.interval > 20 * MS ? 20 * MS : w.interval;
}

static bool knows_older(void)
{
	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		if (c != colour() && !(w.base.known & 1u << c))
			return false;
	return true;
}

static bool is_base(void)
{
	for (unsigned int c = 0; c < TORUS_COLOURS; c++)
		if (c != colour() && fm_sums_missing(&net, c) != w.base.missing[c])
			return false;
	return true;
}

static void drained(bool proven)
{
	stamp(FM_AT_DRAINED);
	w.log.bounded |= !proven;
	assert_int_equal(seen.unproven, !proven);
	for (unsigned int c = 0; c < TORUS_COLOURS; c++) {
		if (c == colour())
			continue;
		if (w.base.known & 1u << c)
			w.gone += fm_sums_missing(&net, c) - w.base.missing[c];
		w.base.missing[c] = fm_sums_missing(&net, c);
		w.base.known = (uint8_t)(proven ? w.base.known | 1u << c :
						  w.base.known & ~(1u << c));
		w.clean |= (uint8_t)(1u << c);
	}
	w.base.replay_missing = fm_sums_replay_missing(&net);
	w.base.known |= REPLAY_KNOWN;
	if (demand_drained || is_outdated())
		return;
	assert_int_equal(seen.since, w.began);
	assert_int_equal(seen.proven, proven);
	if (grows) {
		w.next = fm.now + 3;
	} else if (net.parked || net.reopen) {
		enter(FM_PHASE_REPLAY);
		step(FM_STEP_REPLAY);
	} else {
		enter(FM_PHASE_RESUME);
		step(FM_STEP_RESUME);
	}
}

static void drain(bool empty)
{
	bool known = !is_silent() && knows_older();

	if (net.unresolved) {
		w.unresolved = w.unresolved ? w.unresolved : fm.now;
		if (fm.now >= w.unresolved + RESOLVE_MAX) {
			w.orphans = true;
			w.base.known = 0;
		}
		count_later();
		return;
	}
	w.unresolved = 0;
	w.orphans = false;
	if (!is_silent() && (empty || (known && is_base())))
		drained(true);
	else if (is_bounded(known))
		drained(false);
	else {
		count_later();
		if (!is_silent() && (!w.round ||
				     fm_sums_in(&net, colour()) == fm_sums_out(&net, colour())))
			w.next = fm.now;
	}
}

static void replay(void)
{
	bool known = w.base.known & REPLAY_KNOWN;
	int64_t more = fm_sums_replay_missing(&net) - w.base.replay_missing;
	bool done = known && !net.parked && !net.reopen && !more;

	if (is_outdated())
		return;
	if (!done && !is_bounded(known)) {
		count_later();
		return;
	}
	if (!done) {
		w.gone += known ? more : 0;
		w.log.bounded = true;
	}
	stamp(FM_AT_REPLAYED);
	enter(FM_PHASE_RESUME);
	step(FM_STEP_RESUME);
}

static void resumed(void)
{
	int64_t lost = w.gone;

	count_losses();
	if (!w.was_known && (int64_t)w.lost > lost)
		lost = (int64_t)w.lost;
	stamp(FM_AT_RESUMED);
	w.log.lost = lost > 0 ? (uint64_t)lost : 0;
	w.log.replayed = fm_sums_replayed(&net) - w.replayed;
	w.last = w.log;
	w.phase = FM_PHASE_REST;
	w.lines++;
	w.resumed += 111;
	assert_int_equal(seen.bounded, w.log.bounded);
	w.rolls = 0;
	assert_string_equal(seen.kind, "recovery");
	assert_int_equal(seen.level, lost > 0 ? FM_WARNING : FM_INFO);
	assert_memory_equal(&seen.end, &w.log, sizeof(w.log));
}

/* All nodes have reported @net. */
static void reported(void)
{
	bool empty = w.set == tally.set &&
		     fm_sums_in(&net, colour()) == fm_sums_out(&w.sums, colour());

	w.waits = false;
	w.problem = false;
	if (w.phase == FM_PHASE_APPLY) {
		stamp(FM_AT_REBUILT);
		if (!w.counted)
			w.replayed = fm_sums_replayed(&net);
		w.counted = true;
		count_losses();
		enter(FM_PHASE_DRAIN);
	} else if (fm_sums_moved(&w.sums, &net, colour(), w.phase == FM_PHASE_REPLAY)) {
		w.moved = fm.now;
	}
	w.sums = net;
	w.set = tally.set;
	if (net.parked > w.log.parked)
		w.log.parked = net.parked;
	if (w.phase == FM_PHASE_DRAIN)
		drain(empty);
	else if (w.phase == FM_PHASE_REPLAY)
		replay();
	else
		resumed();
}

static void due(void)
{
	if (w.waits && fm.now >= w.asked + RESEND + lag) {
		w.asked = fm.now;
		w.repeated++;
		if (awaited == AWAITED && fm.now >= w.round_began + 10 * RESEND + lag)
			w.problem = true;
		if (fm.now >= w.round_began + ((3 * (MEMBER_MAX + lag)) << w.rolls)) {
			w.anew++;
			w.rolls += w.rolls < 4;
		}
	}
	if (fm.now >= w.next)
		step(w.phase == FM_PHASE_REPLAY ? FM_STEP_REPLAY : FM_STEP_COUNT);
}

#endif /* TESTS_PHASES_H */
