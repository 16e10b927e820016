// SPDX-License-Identifier: GPL-2.0-only
/* LEDs and plugs, with drivers that the test plays. It waits for states, and never for a time. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/loop.h"
#include "daemon/lower.h"
#include "daemon/plug.h"

#define LONG	(1000 * SEC)

static struct loop *loop;
static struct loop_timer *timer;
static struct plugs *plugs;
static sem_t go;		/* the driver blinks until it is posted */
static _Atomic int blink_error, blinks, looks, module_error;
static _Atomic bool ends;	/* the driver waits for nobody any more */
static char blinked[16];

int lower_blink(const char *name)
{
	if (blink_error)
		return blink_error;
	blinks++;
	snprintf(blinked, sizeof(blinked), "%s", name);
	if (!ends)
		sem_wait(&go);
	return 0;
}

int lower_module(const char *name, struct module *out)
{
	looks++;
	*out = (struct module) { .kind = "SFP" };
	snprintf(out->vendor, sizeof(out->vendor), "%s", name);
	return module_error;
}

uint32_t lower_speed(const char *name)
{
	(void)name;
	return 0;
}

static void on_timer(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static int setup(void **state)
{
	(void)state;
	blink_error = blinks = looks = module_error = 0;
	ends = false;
	assert_int_equal(sem_init(&go, 0, 0), 0);
	loop = loop_new();
	timer = loop_timer_new(loop, on_timer, NULL);
	plugs = plugs_new(loop);
	return !plugs || !timer;
}

static int teardown(void **state)
{
	(void)state;
	ends = true;
	sem_post(&go);
	plugs_free(plugs);
	loop_timer_free(timer);
	loop_free(loop);
	sem_destroy(&go);
	return 0;
}

static struct plug_locate located(unsigned int port)
{
	struct plug_locate l;

	plug_located(plugs, port, &l);
	return l;
}

static void run_a_while(void)
{
	loop_timer_set(timer, loop_now() + 5 * MS);
	loop_run(loop);
}

static void until_located(unsigned int port, enum plug_state wanted)
{
	while (located(port).state != wanted)
		run_a_while();
}

static void plug_blinks_until_its_time_ends(void **state)
{
	(void)state;
	assert_int_equal(located(3).state, PLUG_NONE);
	assert_int_equal(plug_locate(plugs, 3, "eth3", LONG), 0);
	assert_int_equal(located(3).state, PLUG_BEGINS);
	until_located(3, PLUG_GOES_ON);
	assert_true(located(3).left > LONG / 2);
	assert_int_equal(blinks, 1);
	assert_string_equal(blinked, "eth3");
	sem_post(&go);			/* a second is over, and the next one begins */
	while (blinks != 2)
		run_a_while();
	assert_int_equal(located(3).state, PLUG_GOES_ON);
	assert_int_equal(plug_locate(plugs, 5, "eth5", 0), 0);	/* does not end that of port 3 */
	assert_int_equal(located(3).state, PLUG_GOES_ON);
	assert_int_equal(plug_locate(plugs, 3, "eth3", 0), 0);
	sem_post(&go);
	until_located(3, PLUG_DONE);
	assert_int_equal(blinks, 2);
	assert_int_equal(located(3).left, 0);
	assert_int_equal(located(5).state, PLUG_NONE);
}

static void plug_that_blinks_on_ends_at_own_time(void **state)
{
	(void)state;
	sem_post(&go);
	assert_int_equal(plug_locate(plugs, 0, "eth0", 10 * MS), 0);
	while (located(0).state != PLUG_DONE) {
		sem_post(&go);
		run_a_while();
	}
}

static void plugs_blink_one_at_a_time(void **state)
{
	(void)state;
	plug_locate(plugs, 1, "eth1", LONG);
	until_located(1, PLUG_GOES_ON);
	plug_locate(plugs, 2, "eth2", LONG);
	assert_int_equal(located(2).state, PLUG_BEGINS);
	sem_post(&go);
	until_located(1, PLUG_DONE);
	until_located(2, PLUG_GOES_ON);
	assert_string_equal(blinked, "eth2");
	/*
	 * The same port gets a new request: the end of the former request does not end the new one.
	 */
	plug_locate(plugs, 2, "eth2", LONG);
	sem_post(&go);
	while (blinks != 3)
		run_a_while();
	until_located(2, PLUG_GOES_ON);
	plug_locate(plugs, 2, "eth2", 0);
	sem_post(&go);
	until_located(2, PLUG_DONE);
}

static void plug_that_cannot_blink_reports_error(void **state)
{
	(void)state;
	blink_error = -EOPNOTSUPP;
	plug_locate(plugs, 1, "eth1", LONG);
	until_located(1, PLUG_FAILED);
	assert_int_equal(located(1).err, -EOPNOTSUPP);
	blink_error = 0;
	plug_locate(plugs, 1, "eth1", LONG);
	assert_int_equal(located(1).state, PLUG_BEGINS);
	assert_int_equal(located(1).err, 0);
	until_located(1, PLUG_GOES_ON);
	sem_post(&go);
	sem_post(&go);			/* the daemon ends while it blinks */
}

static struct plug_module looked(unsigned int port)
{
	struct plug_module m;

	plug_looked(plugs, port, &m);
	return m;
}

static void module_is_read_once_for_two_questions(void **state)
{
	(void)state;
	assert_int_equal(looked(1).state, PLUG_NONE);
	plug_look(plugs, 1, "eth1");
	plug_look(plugs, 1, "eth1");		/* the plug is being read already */
	while (looked(1).state != PLUG_DONE)
		run_a_while();
	assert_int_equal(looks, 1);
	assert_string_equal(looked(1).module.vendor, "eth1");
	assert_int_equal(looked(2).state, PLUG_NONE);
	module_error = -EIO;
	plug_look(plugs, 2, "eth2");
	while (looked(2).state != PLUG_FAILED)
		run_a_while();
	assert_int_equal(looked(2).err, -EIO);
	/* Again after a while, not at once. */
	module_error = 0;
	while (looked(2).state != PLUG_DONE) {
		plug_look(plugs, 2, "eth2");
		run_a_while();
	}
	assert_int_equal(looks, 3);
}

/* A plug is read while a LED blinks. */
static void plug_is_read_while_led_blinks(void **state)
{
	(void)state;
	plug_locate(plugs, 1, "eth1", LONG);
	until_located(1, PLUG_GOES_ON);
	plug_look(plugs, 2, "eth2");
	sem_post(&go);
	while (looked(2).state != PLUG_DONE)
		run_a_while();
	assert_int_equal(located(1).state, PLUG_GOES_ON);
	plug_locate(plugs, 1, "eth1", 0);
	sem_post(&go);
	until_located(1, PLUG_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(plug_blinks_until_its_time_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(plug_that_blinks_on_ends_at_own_time,
						setup, teardown),
		cmocka_unit_test_setup_teardown(plugs_blink_one_at_a_time, setup, teardown),
		cmocka_unit_test_setup_teardown(plug_that_cannot_blink_reports_error,
						setup, teardown),
		cmocka_unit_test_setup_teardown(module_is_read_once_for_two_questions,
						setup, teardown),
		cmocka_unit_test_setup_teardown(plug_is_read_while_led_blinks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
