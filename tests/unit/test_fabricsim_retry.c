// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim retry: the published figures, the exact ones, and the code on a wire. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <torus/torus.h>

#include "tests/unit/program.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/retry_formula.h"
#include "tools/fabricsim/retry_wire.h"

const struct program this_program = { .name = "test_fabricsim_retry" };

static const struct formula packet = { .payload = 4096, .unit = 4096, .overhead = 28, .waste = 2 };
static const struct formula micro = { .payload = 4096, .unit = 32, .overhead = 8, .waste = 49 };

/* The source cuts digits off; so @digits of @value after the point, in percent. */
static void published(double value, double percent, unsigned int digits)
{
	double scale = pow(10, digits);

	assert_float_equal(floor(value * 100 * scale + 1e-9) / scale, percent, 1e-9);
}

static void test_published(void **state)
{
	struct formula f = packet;

	(void)state;
	published(paper_retries(&packet, 0), 99.32, 2);
	published(paper_retries(&packet, 1), 24.8, 1);
	published(paper_retries(&packet, 2), 12.4, 1);
	published(paper_retries(&packet, 3), 8.2, 1);
	published(paper_retries(&micro, 0), 80, 0);
	published(paper_retries(&micro, 1), 57.5, 1);
	published(paper_retries(&micro, 2), 44.9, 1);
	f.ber = 1e-15;
	published(paper_efficiency(&f), 99.32, 2);
	f.answer = 8;
	published(paper_efficiency(&f), 99.12, 2);
	published(exact_efficiency(&f), 99.12, 2);
	/* At 1.56e-5 two packets of five are hit, and both are as good, nearly. */
	assert_float_equal(-expm1(32768 * log1p(-1.56e-5)), 0.4, 0.001);
	assert_float_equal(crossing(packet, micro, paper_efficiency), 1.45e-5, 0.02e-5);
}

/* Where the publication is loose: what arrives is sent once. */
static void test_exact(void **state)
{
	(void)state;
	assert_float_equal(exact_retries(&packet, 1), paper_retries(&packet, 1), 1e-12);
	assert_float_equal(exact_retries(&packet, 2), 4096 / (4124. * 7), 1e-12);
	assert_float_equal(exact_retries(&packet, 3), 4096 / (4124. * 10), 1e-12);
	for (unsigned int k = 0; k < 5; k++)
		assert_float_equal(exact_retries(&micro, k), paper_retries(&micro, k), 1e-12);
}

static struct wire_plan plan_of(unsigned int protocol)
{
	bool hippi = protocol == TORUS_RETRY_HIPPI;

	return (struct wire_plan) {
		.protocol = protocol, .payload = hippi ? 32 : 4096, .answer = 8,
		.overhead = hippi ? 8 : protocol == TORUS_RETRY_ANGARA ? 32 : 28,
		.delay = hippi ? 966 : 3089, .window = wire_window_max(protocol), .coalesce = 1,
		.timeout = 60000, .units = 4000, .seed = 1,
	};
}

static double efficiency(const struct wire_cost *c)
{
	return (double)c->payload / (double)c->flow;
}

static void test_clean(void **state)
{
	static const double want[] = { 0, 4096 / 4128., 4096 / 4132., 0.8 };

	(void)state;
	for (unsigned int protocol = 1; protocol < TORUS_RETRIES; protocol++) {
		struct wire_plan p = plan_of(protocol);
		struct wire_cost c = wire_run(&p);

		assert_true(c.ended);
		assert_int_equal(c.backs, 0);
		assert_int_equal(c.sent, 8000);
		assert_float_equal(efficiency(&c), want[protocol], 0.002);
	}
}

/* One hit costs what the formula says: the line's worth of packets once more. */
static void test_one_hit(void **state)
{
	(void)state;
	for (unsigned int protocol = 1; protocol < TORUS_RETRIES; protocol++) {
		struct wire_plan p = plan_of(protocol);
		struct wire_cost c;

		p.one_way = true;
		p.hit = 1;
		p.hit_unit = 1000;
		c = wire_run(&p);
		assert_true(c.ended);
		assert_int_equal(c.backs, 1);
		assert_int_equal(c.timeouts, 0);
		assert_int_equal(c.sent - 4000, protocol == TORUS_RETRY_HIPPI ? 50 : 3);
	}
}

/* PCI Express waits for its timer when a replay is hit; Angara's second E does not. */
static void test_second_hit(void **state)
{
	struct wire_plan p = plan_of(TORUS_RETRY_ACKNAK);
	struct wire_cost c;

	(void)state;
	p.one_way = true;
	p.hit = 2;
	p.hit_unit = 1000;
	c = wire_run(&p);
	assert_true(c.ended);
	assert_int_equal(c.timeouts, 1);
	p.protocol = TORUS_RETRY_ANGARA;
	c = wire_run(&p);
	assert_true(c.ended);
	assert_int_equal(c.timeouts, 0);
}

/* Measured and exact agree where errors are rare; and no protocol ever breaks. */
static void test_errors(void **state)
{
	(void)state;
	for (unsigned int protocol = 1; protocol < TORUS_RETRIES; protocol++) {
		struct wire_plan p = plan_of(protocol);
		struct formula f = protocol == TORUS_RETRY_HIPPI ? micro : packet;
		struct wire_cost c;

		p.units = protocol == TORUS_RETRY_HIPPI ? 100000 : 4000;
		f.overhead = p.overhead;
		f.ber = p.ber = 1e-6;
		f.waste = 2 * (double)p.delay / (p.payload + p.overhead) + 2;
		c = wire_run(&p);
		assert_true(c.ended);
		assert_float_equal(efficiency(&c), exact_efficiency(&f), 0.02);
	}
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct wire_plan p = plan_of(1 + (unsigned int)(seed % 3));

		p.seed = seed;
		p.units = 300;
		p.ber = pow(10, -3 - (double)(seed % 5));
		if (p.payload > 32)
			p.ber /= 20;
		p.delay = seed * 97 % 5000;
		p.window = 1 + (unsigned int)(seed * 31 % wire_window_max(p.protocol));
		p.coalesce = 1 + (unsigned int)(seed % 7);
		p.one_way = seed % 2;
		if (!wire_run(&p).ended)
			fail_msg("protocol %u seed %u does not end", p.protocol, (unsigned int)seed);
	}
}

static void test_same(void **state)
{
	struct wire_plan p = plan_of(TORUS_RETRY_ANGARA);
	struct wire_cost a, b;

	(void)state;
	p.ber = 1e-5;
	a = wire_run(&p);
	b = wire_run(&p);
	assert_memory_equal(&a, &b, sizeof(a));
	p.seed = 2;
	b = wire_run(&p);
	assert_int_not_equal(a.flow, b.flow);
}

/* What cannot be is refused, and the reason is named. */
static void test_refused(void **state)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{ "--ber=-1", "0 to 0.5" }, { "--ber 0.6", "0 to 0.5" },
		{ "--protocol tcp", "angara" }, { "--window 1024", "at most 127" },
		{ "--protocol acknak --micro 32", "12 bits" },
		{ "--payload 100", "multiple" }, { "--retries 1 --ber 1e-6", "--ber" },
		{ "--coalesce 0", "1 to 1024" }, { "--payload 0", "1 to" },
	};
	char args[128];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(args, sizeof(args), "retry %s", bad[i].args);
		expect(args, CANNOT);
		has(err, bad[i].says);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_published), cmocka_unit_test(test_exact),
		cmocka_unit_test(test_clean),	  cmocka_unit_test(test_one_hit),
		cmocka_unit_test(test_second_hit), cmocka_unit_test(test_errors),
		cmocka_unit_test(test_same),	  cmocka_unit_test(test_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests_name("fabricsim_retry", all, NULL, NULL);
}
