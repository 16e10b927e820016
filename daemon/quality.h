/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quality of the line into one receiver, judged by what the receiver counts. It does no I/O and
 * knows no daemon, so fabricd and fabricsim judge by the same code.
 *
 * The measured quantity: a NIC counts packets whose check sum was wrong, and flits of packets that
 * it accepted. Their quotient is the bit error rate as long as a packet rarely has more than one
 * error, that is below 1e-6 with packets of 16 KiB; above, it is too low by up to the bits of a
 * packet, and then the link is bad by any limit.
 *
 * When it is a warning. Errors come at random, so a few of them prove nothing, and a window of
 * fixed length is too short for slow links and too long for fast ones. So a cumulative sum
 * (CUSUM, Page 1954) is kept for each limit: it grows by one with each error and falls with the
 * bits received, by (l - r) / ln(l / r) errors a bit, where l is the limit and r a tenth of it;
 * never below zero. This is the test that decides soonest between the rates r and l. It reports
 * when it reaches errors_min. At the limit that takes about errors_min / 0.6 errors, at ten
 * times the limit errors_min / 0.96. With a rate of r or less it is reached once in
 * 10^errors_min errors (Wald's bound), so errors_min = 20 never happens by chance. Errors of one
 * reading are not enough: a static discharge, or a plug that is touched, ends within one, and a
 * bad cable goes on.
 *
 * When it is over. Another sum grows with the bits received, by the errors that the limit would
 * allow, and falls by two for each error: it rises only at less than half of the limit. It must
 * reach QUALITY_CLEAN, which a line at the limit does with a probability of 2 %, and clean_for
 * must have passed since the last reading that argued against it. So a line without traffic
 * stays as it was judged last: nothing is known of it.
 *
 * Readings of another life of the NIC, or of another session of the link, count from zero: a
 * counter that falls has begun anew. Errors while a link is not up are those of its training,
 * and do not count.
 */
#ifndef QUALITY_H
#define QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#define QUALITY_CLEAN	5	/* errors that the limit would allow, and that did not come */

enum quality_level { QUALITY_GOOD, QUALITY_WARN, QUALITY_FAIL };

/**
 * struct quality_rules - when a line is bad
 * @warn_ber, @fail_ber: limits, errors per bit
 * @errors_min: see above; @clean_for: ns
 */
struct quality_rules {
	double warn_ber, fail_ber;
	unsigned int errors_min;
	uint64_t clean_for;
};

/** struct quality_sample - a reading of a receiver; counters only grow within a @session */
struct quality_sample {
	uint64_t at, bits, errors;
	uint32_t session;
	bool up;
};

/** struct quality_count - errors in so many bits, since @at */
struct quality_count {
	uint64_t at, bits, errors;
};

/** struct quality_sum - the sums of one limit, and when the last reading argued for @bad */
struct quality_sum {
	double up, down;
	unsigned int readings;	/* with errors, since @up was 0 */
	struct quality_count since;	/* @up was 0 */
	uint64_t against;
	bool bad;
};

/**
 * struct quality - of one receiver; all zero: nothing is known yet
 * @fresh: the last reading had new errors
 * @window: the present one, and the one before: a window has errors_min errors, or is an hour long.
 *   A level that rises is told by what came since its sum was 0, and not by older windows
 */
struct quality {
	bool based, fresh;
	struct quality_sample last;
	struct quality_sum warn, fail;
	struct quality_count window[2];
	enum quality_level level;
};

/** quality_rules_default() - fabricd.conf(5) argues for these */
void quality_rules_default(struct quality_rules *rules);
/** quality_read() - takes a reading. Return: true if the level is another one now */
bool quality_read(struct quality *q, const struct quality_rules *rules,
		  const struct quality_sample *s);
/** quality_suspects() - Return: true: the next reading may decide, so it should come soon */
bool quality_suspects(const struct quality *q);
/** quality_recent() - Return: errors and bits of the last two windows */
struct quality_count quality_recent(const struct quality *q);
/** quality_ber() - Return: errors per bit; 0 if there are no bits */
double quality_ber(const struct quality_count *c);
const char *quality_level_name(enum quality_level level);

#endif /* QUALITY_H */
