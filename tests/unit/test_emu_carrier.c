// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions for the carrier of devices, whose answers the kernel delays. The test is the kernel,
 * and the ports.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <semaphore.h>
#include <string.h>
#include <cmocka.h>

#include "tools/torusemu/carrier.h"
#include "tools/torusemu/ether.h"
#include "tools/torusemu/port.h"

static sem_t asked, may_answer;	/* a question has come to the kernel; it may answer one */
static struct carriers carriers;
static struct loop loop;
static struct tn_soft_port soft[2];
static struct port port[2];
static unsigned int nreported[2];
static bool carrier[2];
static bool kernel_says = true, waits;

void ether_look(const char *name, struct ether_state *state)
{
	assert_true(!strcmp(name, "p0") || !strcmp(name, "p1"));
	if (waits) {
		sem_post(&asked);
		sem_wait(&may_answer);
	}
	*state = (struct ether_state) { .carrier = kernel_says, .mtu = 1500 };
}

void ether_set_state(struct port *p, const struct ether_state *state, u64 now)
{
	unsigned int i = (unsigned int)(p - port);

	(void)now;
	nreported[i]++;
	carrier[i] = state->carrier;
}

/* Answers the question that the fake kernel has. */
static void answer(bool says)
{
	sem_wait(&asked);
	kernel_says = says;
	sem_post(&may_answer);
}

/* Runs the loop until the carrier of port @i was reported @times. */
static void run_until_reported(unsigned int i, unsigned int times)
{
	for (unsigned int n = 0; n < 1000 && nreported[i] < times; n++)
		loop_wait(&loop, loop_now() + 10000000);
	assert_int_equal(nreported[i], times);
}

static void begin(bool thread)
{
	memset(nreported, 0, sizeof(nreported));
	memset(port, 0, sizeof(port));
	for (unsigned int i = 0; i < 2; i++) {
		port[i].soft = &soft[i];
		soft[i].lower[0] = 'p';
		soft[i].lower[1] = (char)('0' + i);
	}
	sem_init(&asked, 0, 0);
	sem_init(&may_answer, 0, 0);
	waits = thread;
	assert_int_equal(loop_init(&loop), 0);
	carriers_init(&carriers);
	if (thread)
		assert_int_equal(carriers_start(&carriers, &loop), 0);
}

static void end(void)
{
	for (unsigned int i = 0; i < 2; i++)
		carrier_forget(&port[i]);
	sem_post(&may_answer);	/* the thread may wait for the kernel */
	sem_post(&may_answer);
	carriers_fini(&carriers, &loop);
	loop_fini(&loop);
	sem_destroy(&asked);
	sem_destroy(&may_answer);
}

/* Before the thread runs, a question is answered at once. */
static void carrier_without_thread_is_answered_at_once(void **state)
{
	(void)state;
	begin(false);
	kernel_says = true;
	carrier_ask(&carriers, &port[1]);
	assert_int_equal(nreported[1], 1);
	assert_true(carrier[1]);
	end();
}

/*
 * The kernel does not answer for a long time, and the loop goes on. Ports get their carrier in the
 * order of the questions.
 */
static void slow_carrier_answers_come_in_order_of_questions(void **state)
{
	(void)state;
	begin(true);
	for (unsigned int i = 0; i < 2; i++)
		carrier_ask(&carriers, &port[i]);
	loop_wait(&loop, loop_now());
	assert_int_equal(nreported[0] + nreported[1], 0);
	answer(true);
	run_until_reported(0, 1);
	assert_int_equal(nreported[1], 0);
	answer(false);
	run_until_reported(1, 1);
	assert_true(carrier[0] && !carrier[1]);
	assert_null(port[0].question);
	end();
}

/* If the carrier changes while the kernel answers, the port asks again, once. */
static void carrier_changed_meanwhile_is_asked_once_more(void **state)
{
	(void)state;
	begin(true);
	carrier_ask(&carriers, &port[0]);
	sem_wait(&asked);
	for (unsigned int i = 0; i < 3; i++)
		carrier_ask(&carriers, &port[0]);
	kernel_says = true;
	sem_post(&may_answer);
	run_until_reported(0, 1);
	answer(false);
	run_until_reported(0, 2);
	assert_false(carrier[0]);
	loop_wait(&loop, loop_now() + 20000000);
	assert_int_equal(sem_trywait(&asked), -1);
	end();
}

/* A port that is bound to another device gets no answer for the former one. */
static void forgotten_port_gets_no_late_carrier(void **state)
{
	(void)state;
	begin(true);
	carrier_ask(&carriers, &port[0]);
	carrier_ask(&carriers, &port[1]);
	carrier_forget(&port[0]);
	carrier_ask(&carriers, &port[0]);
	answer(false);
	answer(true);
	run_until_reported(1, 1);
	assert_int_equal(nreported[0], 0);
	answer(true);
	run_until_reported(0, 1);
	assert_true(carrier[0]);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(carrier_without_thread_is_answered_at_once),
		cmocka_unit_test(slow_carrier_answers_come_in_order_of_questions),
		cmocka_unit_test(carrier_changed_meanwhile_is_asked_once_more),
		cmocka_unit_test(forgotten_port_gets_no_late_carrier),
	};

	return cmocka_run_group_tests_name("emu_carrier", tests, NULL, NULL);
}
