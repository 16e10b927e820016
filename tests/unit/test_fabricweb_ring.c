// SPDX-License-Identifier: GPL-2.0-only
/* The events that browsers get again: none twice, none left out without being told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricweb/ring.h"

static struct ring ring;

static int empty(void **state)
{
	(void)state;
	ring_clear(&ring);
	return 0;
}

/* Event @seq of a manager that started at @start seconds. */
static bool add(uint64_t seq, uint64_t start)
{
	char text[32];

	snprintf(text, sizeof(text), "%d/%d", (int)start, (int)seq);
	return ring_add(&ring, seq, start * 1000000 + seq, text);
}

/* Return: the text of the first event after that one; "": there is none. */
static const char *after(const char *id, bool missed)
{
	bool lost;
	const struct ring_event *e = ring_at(&ring, ring_after(&ring, id, &lost));

	assert_int_equal(lost, missed);
	return e ? e->json : "";
}

static void events_continue_after_given_id(void **state)
{
	char id[RING_ID_MAX];

	(void)state;
	assert_string_equal(ring_id(ring_at(&ring, 0), id), "");
	for (uint64_t seq = 1; seq <= 5; seq++)
		assert_true(add(seq, 100));
	assert_string_equal(ring_id(ring_at(&ring, 2), id), "3-100000003");
	assert_string_equal(after(id, false), "100/4");
	assert_string_equal(after("5-100000005", false), "");
	assert_true(add(6, 100));
	assert_string_equal(after("5-100000005", false), "100/6");
}

static void event_sent_again_is_not_added_twice(void **state)
{
	(void)state;
	for (uint64_t seq = 1; seq <= 5; seq++)
		assert_true(add(seq, 100));
	/* The connection was lost, and the manager sends all that it keeps again. */
	for (uint64_t seq = 1; seq <= 6; seq++)
		assert_int_equal(add(seq, 100), seq == 6);
	assert_int_equal(ring.next, 6);
	/* It was restarted, and counts from 1 again. */
	assert_true(add(1, 200));
	assert_string_equal(after("6-100000006", false), "200/1");
}

static void oldest_events_are_dropped(void **state)
{
	(void)state;
	for (uint64_t seq = 1; seq <= RING_MAX + 10; seq++)
		assert_true(add(seq, 100));
	assert_int_equal(ring_first(&ring), 10);
	assert_null(ring_at(&ring, 9));
	assert_null(ring_at(&ring, ring.next));
	assert_string_equal(ring_at(&ring, 10)->json, "100/11");
	assert_string_equal(after("11-100000011", false), "100/12");
	assert_string_equal(after("10-100000010", true), "100/11");
	assert_string_equal(after("3-100000003", true), "100/11");
}

static void unknown_id_gives_all_events_kept(void **state)
{
	static const char *const wrong[] = { "x", "1", "1-", "-1", "1-2x", "1-100000001 ", "\xff",
		"1-99999999999999999999999" };

	(void)state;
	for (uint64_t seq = 1; seq <= 3; seq++)
		assert_true(add(seq, 100));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_string_equal(after(wrong[i], true), "100/1");
	/* Only later events follow those of another manager. */
	assert_string_equal(after("77-100000001", true), "100/2");
	assert_string_equal(after("77-300000001", true), "");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(events_continue_after_given_id, empty, empty),
		cmocka_unit_test_setup_teardown(event_sent_again_is_not_added_twice, empty, empty),
		cmocka_unit_test_setup_teardown(oldest_events_are_dropped, empty, empty),
		cmocka_unit_test_setup_teardown(unknown_id_gives_all_events_kept, empty, empty),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
