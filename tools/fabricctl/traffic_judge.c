// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "traffic_judge.h"

static bool test_and_set(struct judge *j, uint64_t number)
{
	uint64_t bit = 1ULL << number % 64, *word = &j->seen[number % JUDGE_SEEN / 64];
	bool was = *word & bit;

	*word |= bit;
	return was;
}

/* Clears the bits of old numbers that are used for the numbers up to @number. */
static void advance_window(struct judge *j, uint64_t number)
{
	if (number - j->next >= JUDGE_SEEN)
		memset(j->seen, 0, sizeof(j->seen));
	else
		for (uint64_t n = j->next; n <= number; n++)
			j->seen[n % JUDGE_SEEN / 64] &= ~(1ULL << n % 64);
	j->next = number + 1;
}

static void measure_gap(struct judge *j, double now)
{
	double ms = (now - j->last_at) * 1e3;

	if (j->f->received && ms > j->f->gap_max_ms)
		j->f->gap_max_ms = ms;
	j->last_at = now;
}

void judge_datagram(struct judge *j, const void *buf, uint32_t size, double now)
{
	struct record rec;
	bool behind;

	if (!record_good(buf, size)) {
		j->f->corrupt++;
		return;
	}
	memcpy(&rec, buf, sizeof(rec));
	if (rec.number == RECORD_END) {
		if (!j->ended)
			j->latest = now;
		j->ended = true;
		j->total = rec.last;
		return;
	}
	measure_gap(j, now);
	j->latest = now;
	behind = rec.number < j->next;
	if (behind && (j->next - rec.number > JUDGE_SEEN || test_and_set(j, rec.number))) {
		j->f->duplicates++;
		return;
	}
	if (!behind) {
		advance_window(j, rec.number);
		test_and_set(j, rec.number);
	}
	j->f->reordered += behind;
	j->f->received++;
	j->f->bytes += size;
}

void judge_stream(struct judge *j, const void *buf, double now)
{
	struct record rec;

	memcpy(&rec, buf, sizeof(rec));
	measure_gap(j, now);
	if (!record_good(buf, rec.size)) {
		j->f->corrupt++;
		j->next++;
		return;
	}
	if (rec.number < j->next)
		j->f->duplicates++;
	else if (rec.number > j->next)
		j->f->reordered++;
	j->next = rec.number + 1;
	j->f->received++;
	j->f->bytes += rec.size;
}

bool judge_has_all(const struct judge *j)
{
	return j->ended && j->f->received >= j->total;
}

uint64_t flow_lost(const struct flow *f)
{
	uint64_t arrived = f->received + f->corrupt;

	return f->sent > arrived ? f->sent - arrived : 0;
}

bool flow_is_disordered(const struct flow *f)
{
	return !f->any_order && f->reordered;
}

bool flow_is_clean(const struct flow *f)
{
	return !f->err && f->sent && f->received == f->sent && !f->duplicates && !f->corrupt &&
		!flow_is_disordered(f);
}
