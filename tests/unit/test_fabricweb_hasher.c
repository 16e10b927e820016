// SPDX-License-Identifier: GPL-2.0-only
/*
 * Passwords of many clients, with a hash that ends when the test says so: whose turn it is, and
 * which are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <event2/event.h>
#include <semaphore.h>
#include <cmocka.h>

#include "tools/fabricweb/hasher.h"

static struct event_base *base;
static struct hasher *hasher;
static sem_t begun, may_end;
static char order[512], left[512];

/* Takes the place of users.c. */
bool users_compare(const struct users_try *try, struct crypt_data *data)
{
	(void)data;
	sem_post(&begun);
	sem_wait(&may_end);
	return !strcmp(try->password, "right");
}

static void on_done(void *arg, const struct users_try *try, enum hasher_result result)
{
	char *text = result == HASHER_LEFT ? left : order;

	(void)arg;
	snprintf(text + strlen(text), sizeof(order) - strlen(text), "%s ", try->name);
}

static bool add(unsigned char client, const char *name)
{
	const struct source from = { { client } };
	struct users_try try = { .password = "wrong" };

	snprintf(try.name, sizeof(try.name), "%s", name);
	return hasher_add(hasher, &try, &from, on_done, NULL);
}

/* Ends @n hashes, and waits until the last of them has been answered or the next one has begun. */
static void end_hashes(unsigned int n, bool more)
{
	while (n--) {
		size_t before = strlen(order);

		sem_post(&may_end);
		while (strlen(order) == before)
			event_base_loop(base, EVLOOP_ONCE);
		if (n || more)
			sem_wait(&begun);
	}
}

static int begin(void **state)
{
	(void)state;
	sem_init(&begun, 0, 0);
	sem_init(&may_end, 0, 0);
	*order = *left = '\0';
	base = event_base_new();
	hasher = hasher_new(base);
	assert_non_null(hasher);
	assert_true(add(1, "a1"));
	sem_wait(&begun);
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		sem_post(&may_end);
	hasher_free(hasher);
	event_base_free(base);
	return 0;
}

/* Two clients that take turns with each other would leave nothing for a third. */
static void all_clients_take_turns(void **state)
{
	(void)state;
	assert_true(add(1, "a2") && add(1, "a3") && add(2, "b1") && add(2, "b2") && add(2, "b3"));
	assert_true(add(3, "c1") && add(3, "c2"));
	end_hashes(8, false);
	assert_string_equal(order, "a1 b1 a2 c1 a3 b2 c2 b3 ");
	assert_true(add(1, "a4"));
	sem_wait(&begun);
}

/* Clients that ask again as soon as they are answered do not overtake one that waits. */
static void returning_clients_wait_for_their_turn(void **state)
{
	(void)state;
	assert_true(add(2, "b1") && add(3, "c1") && add(3, "c2"));
	end_hashes(1, true);
	assert_true(add(1, "a2"));
	end_hashes(1, true);
	assert_true(add(2, "b2"));
	end_hashes(4, false);
	assert_string_equal(order, "a1 b1 c1 a2 c2 b2 ");
	assert_true(add(1, "a3"));
	sem_wait(&begun);
}

/* Nine clients with as many as each may have: none is refused its first. */
static void newcomer_gets_the_place_of_the_greediest(void **state)
{
	char name[16];

	(void)state;
	for (unsigned int i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "%u.%u", 2 + i / 4, i % 4);
		assert_true(add((unsigned char)(2 + i / 4), name));
	}
	assert_false(add(2, "2.4"));
	assert_string_equal(left, "");
	assert_true(add(20, "new"));
	assert_string_equal(left, "9.3 ");
	assert_true(add(20, "new2") && add(20, "new3"));
	assert_false(add(20, "new4"));
	assert_string_equal(left, "9.3 8.3 7.3 ");
}

/* The same password again needs no place, and goes with the first one. */
static void same_password_is_left_together(void **state)
{
	char name[16];

	(void)state;
	for (unsigned int i = 0; i < 32; i++) {
		snprintf(name, sizeof(name), "%u.%u", 2 + i / 4, i % 4);
		assert_true(add((unsigned char)(2 + i / 4), name));
	}
	assert_true(add(9, "9.3"));
	assert_true(add(20, "new"));
	assert_string_equal(left, "9.3 9.3 ");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(all_clients_take_turns, begin, end),
		cmocka_unit_test_setup_teardown(returning_clients_wait_for_their_turn, begin, end),
		cmocka_unit_test_setup_teardown(newcomer_gets_the_place_of_the_greediest, begin, end),
		cmocka_unit_test_setup_teardown(same_password_is_left_together, begin, end),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
