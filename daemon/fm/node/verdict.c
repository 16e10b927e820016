// SPDX-License-Identifier: GPL-2.0-only
/*
 * The answers of the site's arbiter to this node's claims. They are stored here because they
 * outlive the struct fm_root that asked.
 */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/fm/node/verdict.h"
#include "daemon/fm/node/log.h"
#include "daemon/fm/node/machine.h"
#include "lib/deps/invariant.h"

#define GAP_MIN (250 * MS)
#define GAP_MAX (8000 * MS)

/**
 * struct fm_arbitration - the last question and the last answer
 * @asked: the question has not been answered yet
 * @epoch: epoch of the question
 * @again: when this node may ask again, if the last answer did not grant the epoch; 0: at once
 * @gap: the last back-off, in ns
 */
struct fm_arbitration {
	bool asked;
	uint64_t epoch, again, gap;
	struct fm_answer answer;
};

bool fm_verdict_new(struct fm *fm)
{
	fm->verdict = calloc(1, sizeof(*fm->verdict));
	return fm->verdict;
}

void fm_verdict_free(struct fm *fm)
{
	free(fm->verdict);
}

const struct fm_answer *fm_verdict(const struct fm *fm)
{
	return &fm->verdict->answer;
}

void fm_verdict_ask(struct fm *fm)
{
	invariant(!fm->verdict->asked || fm->term > fm->verdict->epoch);
	fm->verdict->asked = true;
	fm->verdict->epoch = fm->term;
	fm->ops.arbitrate(fm->io, fm->term, fm->guid);
}

uint64_t fm_verdict_asked(const struct fm *fm, bool *waits)
{
	*waits = fm->verdict->asked;
	return fm->verdict->epoch;
}

void fm_verdict_put_off(struct fm *fm)
{
	struct fm_arbitration *v = fm->verdict;

	v->gap = v->gap ? earlier(2 * v->gap, GAP_MAX) : GAP_MIN;
	invariant(v->gap >= GAP_MIN && v->gap <= GAP_MAX);
	v->again = fm->now + v->gap;
}

uint64_t fm_verdict_again(const struct fm *fm)
{
	return fm->verdict->again;
}

bool fm_verdict_take(struct fm *fm, uint64_t epoch, enum fm_verdict verdict, uint64_t high,
		     const char *why)
{
	struct fm_arbitration *v = fm->verdict;
	struct fm_answer *a = &v->answer;

	if (!v->asked || epoch != v->epoch)
		return false;
	v->asked = false;
	a->at = fm->now;
	a->epoch = epoch;
	a->verdict = (uint8_t)verdict;
	a->high = verdict == FM_REFUSED ? high : 0;
	snprintf(a->why, sizeof(a->why), "%s", verdict == FM_GRANTED ? "" : why);
	if (verdict == FM_GRANTED) {
		v->again = v->gap = 0;
		fm_problem_clear(fm, "arbiter", 0);
		fm_log(fm, FM_INFO, "arbiter", "the arbiter grants epoch %llu",
		       (unsigned long long)epoch);
	}
	return true;
}

void fm_verdict_forget(struct fm *fm)
{
	fm->verdict->again = fm->verdict->gap = 0;
	fm_problem_clear(fm, "arbiter", 0);
}
