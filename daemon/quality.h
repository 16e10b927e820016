/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Quality of the line into one receiver, judged by the receiver's counters. The code does no I/O
 * and does not depend on the daemon, so fabricd and fabricsim use the same code.
 *
 *	l	the limit, errors per bit: warn_ber or fail_ber
 *	r	a tenth of it: a line with so few errors is not reported
 *	up	the sum that argues for "bad" (quality_sum.up)
 *	down	the sum that argues for "good again" (quality_sum.down)
 *
 *  1. Measured quantity. A NIC counts packets whose check sum was wrong, and flits of packets that
 *     it accepted. Their quotient is the bit error rate as long as a packet rarely has more than
 *     one error, that is below 1e-6 with packets of 16 KiB. Above, it is too low by at most the
 *     bits of a packet, and then the link is bad by any limit.
 *  2. A line becomes bad. Errors come at random, so a few of them prove nothing, and a window of
 *     fixed length is too short for slow links and too long for fast ones. So @up is a cumulative
 *     sum (CUSUM, Page 1954): it grows by one with each error and falls with the bits received, by
 *     (l - r) / ln(l / r) errors a bit, never below zero. This is the test that decides soonest
 *     between the rates r and l. The line is bad when @up reaches errors_min: at the limit after
 *     about errors_min / 0.6 errors (errors_at_limit_make_line_warn_after_known_number()), at ten
 *     times the limit after errors_min / 0.96 (errors_at_ten_times_limit_are_found_soon()). With a
 *     rate of r or less it is reached once in 10^errors_min errors (Wald's bound), so errors_min =
 *     20 never happens by chance (errors_at_tenth_of_limit_raise_no_alarm()).
 *  3. Errors of a moment are not enough. A static discharge, or a plug that is touched, damages
 *     packets for some milliseconds to a second or two, and at 75 Gbit/s that can be thousands. A
 *     longer disturbance takes the link down, because nothing arrives. A bad cable has errors as
 *     long as packets come. Neither the number of errors nor that of readings distinguishes these:
 *     a reading may contain all errors of seconds, and one moment may lie in two readings.
 *     Therefore the NIC counts the seconds in which packets were damaged, each beginning with such
 *     a packet, as ITU-T G.826 (errored seconds) and IEEE 802.3 (errored frame seconds) do.
 *     QUALITY_SECONDS of them are needed: then the first and the last error lie that many seconds
 *     apart, less one (one_burst_does_not_make_line_bad(),
 *     errors_of_one_reading_count_if_spread()). This delays no verdict by more than these seconds,
 *     and chance needs the sum of 2 besides. With a NIC that does not count seconds, each reading
 *     with errors counts as one.
 *  4. A line becomes good again. @down grows with the bits received, by the errors that the limit
 *     would allow, and falls by two for each error: it rises only if the error rate is below half
 *     of the limit. It must reach QUALITY_CLEAN, which a line at the limit does with a probability
 *     of 2 %, and clean_for must have passed since the last reading that argued for "bad"
 *     (clean_line_is_good_after_clean_for(), line_without_traffic_or_with_errors_stays_bad()).
 *     Therefore a line without traffic keeps its level.
 *  5. A counter that has fallen was reset, because the NIC was restarted or the link has another
 *     session; then the reading counts from zero (fallen_counters_count_from_zero(),
 *     readings_of_other_sessions_do_not_count()). Errors while a link is not up are those of its
 *     training, and do not count.
 *
 * Tests: tests/unit/test_quality.c; verdicts_equal_naive_computation() compares all with a second
 * implementation.
 */
#ifndef QUALITY_H
#define QUALITY_H

#include <stdbool.h>
#include <stdint.h>

#define QUALITY_SECONDS	3	/* least number of seconds with errors, before a line is bad */
#define QUALITY_CLEAN	5	/* errors that the limit would allow for the bits received
				 * without errors */

enum quality_level { QUALITY_GOOD, QUALITY_WARN, QUALITY_FAIL };

/**
 * struct quality_rules - when a line is bad
 * @warn_ber, @fail_ber: limits, errors per bit
 * @errors_min: see 2 above; @clean_for: see 4 above, ns
 */
struct quality_rules {
	double warn_ber, fail_ber;
	unsigned int errors_min;
	uint64_t clean_for;
};

/**
 * struct quality_sample - a reading of a receiver; counters only grow within a @session
 * @seconds: number of seconds with errors; 0: the NIC does not count them
 */
struct quality_sample {
	uint64_t at, bits, errors, seconds;
	uint32_t session;
	bool up;
};

/** struct quality_count - number of errors and bits since @at */
struct quality_count {
	uint64_t at, bits, errors;
};

/**
 * struct quality_sum - the sums of one limit; @against: time of the last reading that argued for
 * "bad"
 */
struct quality_sum {
	double up, down;
	uint64_t seconds;	/* seconds with errors since @up was 0 */
	struct quality_count since;	/* errors and bits since @up was 0 */
	uint64_t against;
	bool bad;
};

/**
 * struct quality - quality of the line into one receiver; all zero: nothing is known yet
 * @fresh: the last reading had new errors
 * @window: the present window and the one before it: a window ends after errors_min errors or an
 *   hour. A level that rises is reported with the errors since its sum was 0, not with older
 *   windows
 */
struct quality {
	bool based, fresh;
	struct quality_sample last;
	struct quality_sum warn, fail;
	struct quality_count window[2];
	enum quality_level level;
};

/** quality_rules_default() - set the defaults; fabricd.conf(5) gives the reasons */
void quality_rules_default(struct quality_rules *rules);
/** quality_read() - add a reading. Return: true if it has changed the level */
bool quality_read(struct quality *q, const struct quality_rules *rules,
		  const struct quality_sample *s);
/**
 * quality_suspects() - Return: true if the next reading may change the level; then the caller
 * should read the counters soon
 */
bool quality_suspects(const struct quality *q);
/** quality_recent() - Return: errors and bits of the last two windows */
struct quality_count quality_recent(const struct quality *q);
/** quality_ber() - Return: errors per bit; 0 if there are no bits */
double quality_ber(const struct quality_count *c);
const char *quality_level_name(enum quality_level level);

#endif /* QUALITY_H */
