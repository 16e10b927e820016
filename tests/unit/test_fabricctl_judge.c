// SPDX-License-Identifier: GPL-2.0-only
/*
 * The judge of "fabricctl lab traffic", which counts what happened to the records of a flow: each
 * fault of a path raises the right count and no other. Then random paths are compared with a
 * simple judge that remembers every number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/seeds.h"
#include "tools/fabricctl/traffic_judge.h"

#define SIZE 200
#define RECORDS 1000

static struct judge judge;
static struct flow flow;
static double now;

static void begin(uint64_t sent)
{
	memset(&judge, 0, sizeof(judge));
	flow = (struct flow) { .sent = sent };
	judge.f = &flow;
	now = 0;
}

static void arrives(uint64_t number)
{
	char buf[SIZE];

	record_fill(buf, sizeof(buf), number, 0);
	judge_datagram(&judge, buf, sizeof(buf), now += 0.001);
}

static void arrive(uint64_t from, uint64_t to)
{
	for (uint64_t n = from; n < to; n++)
		arrives(n);
}

static void ends(uint64_t total)
{
	char buf[sizeof(struct record)];

	record_fill(buf, sizeof(buf), RECORD_END, total);
	judge_datagram(&judge, buf, sizeof(buf), now);
}

static void expect_counts(uint64_t received, uint64_t lost, uint64_t duplicates, uint64_t reordered,
			  uint64_t corrupt)
{
	assert_int_equal(flow.received, received);
	assert_int_equal(flow_lost(&flow), lost);
	assert_int_equal(flow.duplicates, duplicates);
	assert_int_equal(flow.reordered, reordered);
	assert_int_equal(flow.corrupt, corrupt);
	assert_int_equal(flow_is_clean(&flow), !(lost || duplicates || reordered || corrupt));
}

static void flow_in_order_is_clean(void **state)
{
	(void)state;
	begin(RECORDS);
	arrive(0, RECORDS);
	assert_false(judge_has_all(&judge));
	ends(RECORDS);
	assert_true(judge_has_all(&judge));
	expect_counts(RECORDS, 0, 0, 0, 0);
	assert_int_equal(flow.bytes, RECORDS * SIZE);
}

static void flow_without_records_is_not_clean(void **state)
{
	(void)state;
	begin(0);
	ends(0);
	assert_true(judge_has_all(&judge));
	assert_false(flow_is_clean(&flow));
}

/* Any one record is lost, also the first or the last. */
static void each_single_lost_record_is_counted(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < RECORDS; n++) {
		begin(RECORDS);
		arrive(0, n);
		arrive(n + 1, RECORDS);
		ends(RECORDS);
		assert_false(judge_has_all(&judge));
		expect_counts(RECORDS - 1, 1, 0, 0, 0);
	}
}

/* A record comes again at once, and again when all others have come. */
static void each_duplicate_record_is_counted(void **state)
{
	(void)state;
	for (uint64_t n = 0; n < RECORDS; n++) {
		begin(RECORDS);
		arrive(0, n + 1);
		arrives(n);
		arrive(n + 1, RECORDS);
		expect_counts(RECORDS, 0, 1, 0, 0);
		arrives(n);
		expect_counts(RECORDS, 0, 2, 0, 0);
	}
}

/* One lost and one duplicated record are both counted: they do not cancel out. */
static void lost_and_duplicate_records_do_not_cancel_out(void **state)
{
	(void)state;
	begin(RECORDS);
	arrive(0, 10);
	arrive(11, RECORDS);
	arrives(500);
	ends(RECORDS);
	assert_false(judge_has_all(&judge));
	expect_counts(RECORDS - 1, 1, 1, 0, 0);
}

/* A single record is overtaken by others, by one or by many. */
static void overtaken_record_is_counted_once(void **state)
{
	(void)state;
	for (uint64_t by = 1; by < RECORDS; by++) {
		begin(RECORDS);
		arrive(1, 1 + by);
		arrives(0);
		arrive(1 + by, RECORDS);
		expect_counts(RECORDS, 0, 0, 1, 0);
		flow.any_order = true;
		assert_true(flow_is_clean(&flow));
	}
}

/* With any_order only the order is free: lost and duplicated records are still counted. */
static void any_order_still_counts_lost_and_duplicate_records(void **state)
{
	(void)state;
	begin(3);
	flow.any_order = true;
	arrives(2);
	arrives(1);
	assert_false(flow_is_clean(&flow));
	assert_int_equal(flow_lost(&flow), 1);
	arrives(0);
	assert_true(flow_is_clean(&flow));
	arrives(1);
	assert_false(flow_is_clean(&flow));
	assert_int_equal(flow.duplicates, 1);
}

/* A second, altered copy counts as corrupt although the first one was whole. */
static void altered_copy_is_corrupt(void **state)
{
	char buf[SIZE];

	(void)state;
	begin(1);
	arrives(0);
	record_fill(buf, sizeof(buf), 0, 0);
	buf[SIZE - 1]++;
	judge_datagram(&judge, buf, sizeof(buf), now);
	expect_counts(1, 0, 0, 0, 1);
}

/* Flips each bit of a record, also of its number and size, and cuts a record short. */
static void each_flipped_bit_makes_record_corrupt(void **state)
{
	char buf[SIZE];

	(void)state;
	for (unsigned int bit = 0; bit < 8 * SIZE; bit++) {
		begin(2);
		arrives(0);
		record_fill(buf, sizeof(buf), 1, 0);
		buf[bit / 8] ^= (char)(1 << bit % 8);
		judge_datagram(&judge, buf, sizeof(buf), now);
		expect_counts(1, 0, 0, 0, 1);
	}
	for (uint32_t size = 0; size < SIZE; size++) {
		begin(2);
		arrives(0);
		record_fill(buf, sizeof(buf), 1, 0);
		judge_datagram(&judge, buf, size, now);
		expect_counts(1, 0, 0, 0, 1);
	}
}

/* A number further back than JUDGE_SEEN counts as duplicated, for it is not remembered. */
static void record_older_than_window_counts_as_duplicated(void **state)
{
	(void)state;
	begin(JUDGE_SEEN + 2);
	arrives(0);
	arrives(JUDGE_SEEN + 1);
	arrives(0);
	expect_counts(2, JUDGE_SEEN, 1, 0, 0);
	arrives(JUDGE_SEEN);
	arrives(2);
	assert_int_equal(flow.reordered, 2);
	arrives(2);
	assert_int_equal(flow.duplicates, 2);
}

/* JUDGE_SEEN - 1 others overtake a record; then again one whose number uses the same bit. */
static void records_of_one_bit_in_window_are_distinguished(void **state)
{
	(void)state;
	begin(2 * JUDGE_SEEN);
	arrive(1, JUDGE_SEEN);
	arrives(0);
	arrives(0);
	arrive(JUDGE_SEEN + 1, 2 * JUDGE_SEEN);
	arrives(JUDGE_SEEN);
	assert_int_equal(flow.received, 2 * JUDGE_SEEN);
	assert_int_equal(flow.reordered, 2);
	assert_int_equal(flow.duplicates, 1);
}

static void gap_is_longest_time_between_records(void **state)
{
	(void)state;
	begin(3);
	now = 5;	/* the time before the first record is no gap */
	arrives(0);
	now += 0.25;
	arrives(1);
	arrives(2);
	assert_true(flow.gap_max_ms > 250.5 && flow.gap_max_ms < 251.5);
}

/*
 * Records may still come for a while after the end was reported, even if none came before;
 * the end is reported again and again, which does not extend that.
 */
static void late_records_have_time_after_reported_end(void **state)
{
	(void)state;
	begin(64);
	now = 7;
	ends(64);
	assert_true(judge.latest == 7 && judge.last_at == 0);
	now = 9;
	ends(64);
	assert_true(judge.latest == 7);
	arrives(0);
	assert_true(judge.latest == now && judge.last_at == now);
	assert_false(judge_has_all(&judge));
}

static void streams(uint64_t number, unsigned int flip)
{
	char buf[SIZE];

	record_fill(buf, sizeof(buf), number, 0);
	buf[SIZE - 1] ^= (char)flip;
	judge_stream(&judge, buf, now += 0.001);
}

static void corrupt_and_lost_records_of_stream_are_counted(void **state)
{
	(void)state;
	begin(3);
	for (uint64_t n = 0; n < 3; n++)
		streams(n, 0);
	expect_counts(3, 0, 0, 0, 0);
	begin(3);
	streams(0, 0);
	streams(1, 1);
	streams(2, 0);
	expect_counts(2, 0, 0, 0, 1);
	begin(3);
	streams(0, 0);
	streams(0, 0);
	assert_int_equal(flow.duplicates, 1);
	assert_false(flow_is_clean(&flow));
	begin(3);
	streams(0, 0);
	streams(2, 0);
	assert_int_equal(flow.reordered, 1);
	assert_int_equal(flow_lost(&flow), 1);
	assert_false(flow_is_clean(&flow));
}

/* A flow is not clean after an error, or with more records than were sent. */
static void flow_with_error_or_surplus_is_not_clean(void **state)
{
	(void)state;
	flow = (struct flow) { .sent = 5, .received = 5 };
	assert_true(flow_is_clean(&flow));
	flow.err = -5;
	assert_false(flow_is_clean(&flow));
	flow = (struct flow) { .sent = 5, .received = 6 };
	assert_false(flow_is_clean(&flow));
}

/* --- random paths ------------------------------------------------------------------- */

static unsigned int copies[RECORDS];

/* Record @number arrives, and with a chance of 1 in @bad it is altered. */
static void passes(struct rnd *r, uint64_t number, uint64_t *highest, struct flow *want,
		   unsigned int bad)
{
	char buf[SIZE];

	record_fill(buf, sizeof(buf), number, 0);
	if (rnd_one_in(r, bad)) {
		buf[rnd_below(r, SIZE)] ^= (char)(1 + rnd_below(r, 255));
		want->corrupt++;
	} else if (copies[number]++) {
		want->duplicates++;
	} else {
		want->received++;
		want->reordered += number + 1 < *highest;
		if (number + 1 > *highest)
			*highest = number + 1;
	}
	judge_datagram(&judge, buf, sizeof(buf), now += 0.001);
}

/* Some records come later than others, some come twice, some never. */
static void random_path(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	uint64_t late[64], highest = 0;
	unsigned int nlate = 0, bad = rnd_below(&r, 40), rate = 2 + rnd_below(&r, 20);
	struct flow want = { .sent = RECORDS };

	begin(RECORDS);
	memset(copies, 0, sizeof(copies));
	for (uint64_t n = 0; n < RECORDS; n++) {
		if (nlate < 64 && rnd_one_in(&r, rate))
			late[nlate++] = n;
		else if (!rnd_one_in(&r, rate))
			for (unsigned int c = 0; c < 1 + !rnd_below(&r, rate); c++)
				passes(&r, n, &highest, &want, bad);
		if (nlate && rnd_one_in(&r, rate))
			passes(&r, late[--nlate], &highest, &want, bad);
	}
	expect(&r, flow.received == want.received, "%" PRIu64, want.received);
	expect(&r, flow.duplicates == want.duplicates, "%" PRIu64, want.duplicates);
	expect(&r, flow.reordered == want.reordered, "%" PRIu64, want.reordered);
	expect(&r, flow.corrupt == want.corrupt, "%" PRIu64, want.corrupt);
	expect(&r, !flow_is_clean(&flow), "the path was bad");
}

static void random_arrivals_equal_counts_of_model(void **state)
{
	(void)state;
	for_seeds(200, random_path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flow_in_order_is_clean),
		cmocka_unit_test(flow_without_records_is_not_clean),
		cmocka_unit_test(each_single_lost_record_is_counted),
		cmocka_unit_test(each_duplicate_record_is_counted),
		cmocka_unit_test(lost_and_duplicate_records_do_not_cancel_out),
		cmocka_unit_test(overtaken_record_is_counted_once),
		cmocka_unit_test(any_order_still_counts_lost_and_duplicate_records),
		cmocka_unit_test(each_flipped_bit_makes_record_corrupt),
		cmocka_unit_test(altered_copy_is_corrupt),
		cmocka_unit_test(record_older_than_window_counts_as_duplicated),
		cmocka_unit_test(records_of_one_bit_in_window_are_distinguished),
		cmocka_unit_test(gap_is_longest_time_between_records),
		cmocka_unit_test(late_records_have_time_after_reported_end),
		cmocka_unit_test(corrupt_and_lost_records_of_stream_are_counted),
		cmocka_unit_test(flow_with_error_or_surplus_is_not_clean),
		cmocka_unit_test(random_arrivals_equal_counts_of_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
