// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim retry: the published figures, the exact ones, and the NIC's code on a wire. */
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

/* The source truncates: @value must have these @digits after the point, in percent. */
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
	/* At 1.56e-5, 40 % of packets are hit, and both protocols are nearly equal. */
	assert_float_equal(-expm1(32768 * log1p(-1.56e-5)), 0.4, 0.001);
	assert_float_equal(crossing(packet, micro, paper_efficiency), 1.45e-5, 0.02e-5);
}

/* The publication is inexact: the packet that arrives is sent once. */
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

/* One hit costs what the formula says: the packets on the line are sent once more. */
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

/* PCI Express waits for its timer when a replay is hit; Angara sends a second E and does not. */
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

/* The measured efficiency of a plan: payload divided by flow. */
static double measured(const struct wire_plan *p)
{
	struct wire_cost c = wire_run(p);

	assert_true(c.ended);
	return efficiency(&c);
}

static double exact(const struct wire_plan *p)
{
	struct formula f = p->protocol == TORUS_RETRY_HIPPI ? micro : packet;

	f.overhead = p->overhead;
	f.answer = p->protocol == TORUS_RETRY_ACKNAK ? p->answer : 0;
	f.ber = p->ber;
	f.waste = line_waste(p);
	return exact_efficiency(&f);
}

/*
 * Bytes that errors add to those of a clean line: what the formula says, to a tenth.
 * The formula is a mean over the phases that the two directions may have to each other;
 * lines of eight lengths within a unit have eight of them.
 */
static void test_errors(void **state)
{
	(void)state;
	for (unsigned int protocol = 1; protocol < TORUS_RETRIES; protocol++) {
		struct wire_plan p = plan_of(protocol);
		unsigned int unit = p.payload + p.overhead;
		double cost[2] = { 0 };

		p.units = 5000 * (4096 / p.payload);
		p.delay -= unit / 2;
		for (unsigned int i = 0; i < 8; i++, p.delay += unit / 8) {
			struct wire_plan clean = p;

			p.seed = i + 1;
			p.ber = 1e-6;
			clean.ber = 0;
			clean.units /= 10;
			cost[0] += measured(&clean) / measured(&p) - 1;
			cost[1] += exact(&clean) / exact(&p) - 1;
		}
		if (fabs(cost[0] / cost[1] - 1) > 0.1)
			fail_msg("protocol %u: errors cost %g, by the formula %g", protocol,
				 cost[0] / 8, cost[1] / 8);
	}
}

/* No protocol ever stops making progress. */
static void test_ends(void **state)
{
	(void)state;
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

/* Packets against micro-packets at a bit error rate, counted by hand: 1 + 3 and 1 + 50. */
static bool packets_win(double ber)
{
	double good = pow(1 - ber, 8 * 4124), good_micro = pow(1 - ber, 8 * 40);

	return 4096 / 4124. / (1 + 3 * (1 - good) / good) >
	       0.8 / (1 + 50 * (1 - good_micro) / good_micro);
}

static double crossover(const char *args, const char *key)
{
	json_t *all;
	double at;

	expect(args, OK);
	all = printed();
	at = json_number_value(json_object_get(json_object_get(all, "crossover"), key));
	json_decref(all);
	return at;
}

/* Where micro-packets become better: by the formula, by counting, and with the NIC's code. */
static void test_crossing(void **state)
{
	static const char both[] = "retry --json --messages 10 --ber 1e-6",
			  one_way[] = "retry --json --messages 10 --ber 1e-6 --one-way";
	json_t *all, *points;
	double at[4];

	(void)state;
	assert_true(packets_win(2.87e-6) && !packets_win(2.89e-6));
	assert_float_equal(crossover(one_way, "exact"), 2.88e-6, 0.01e-6);
	assert_float_equal(crossover(both, "exact"), 2.42e-6, 0.01e-6);
	assert_float_equal(crossover(both, "analytic"), 1.45e-5, 0.01e-5);
	expect("retry --json --protocol acknak,hippi --ber 2e-6,2.5e-6", OK);
	all = printed();
	points = json_object_get(all, "points");
	for (size_t i = 0; i < 4; i++)
		at[i] = json_number_value(json_object_get(json_array_get(points, i), "measured"));
	json_decref(all);
	assert_true(at[0] > at[2] && at[1] < at[3]);
}

/* The command prints what the formulas and the wire give for the lines that it describes. */
static void test_program(void **state)
{
	static const char *const names[] = { "", "angara", "acknak", "hippi" };
	json_t *all, *points, *point;
	size_t i;

	(void)state;
	expect("retry --json --ber 1e-6 --messages 20000", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_array_size(points), 3);
	json_array_foreach(points, i, point) {
		struct wire_plan p = plan_of((unsigned int)i + 1);
		double got = json_number_value(json_object_get(point, "exact"));

		p.ber = 1e-6;
		p.answer = i ? 8 : 32;
		p.delay = i == 0 ? 3080 : p.delay;
		assert_string_equal(json_string_value(json_object_get(point, "protocol")),
				    names[i + 1]);
		assert_int_equal(json_integer_value(json_object_get(point, "delay")), p.delay);
		assert_float_equal(got, exact(&p), 1e-9);
		assert_float_equal(json_number_value(json_object_get(point, "measured")), got, 0.012);
		assert_true(json_is_true(json_object_get(point, "ended")));
		assert_true(json_integer_value(json_object_get(point, "backs")) > 0);
	}
	json_decref(all);
	/* Two packets or 49 micro-packets follow a damaged one, which is sent again as well. */
	expect("retry --csv --retries 0:3:1 --protocol acknak,hippi", OK);
	has(out, "\nacknak,4096,4096,3089,1,,1,0.24830");
	has(out, "\nhippi,4096,32,966,1,,1,0.57528");
	expect("retry --protocol acknak --ber 0", OK);
	has(out, "measured");
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

/* Impossible parameters are refused with a reason. */
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
		cmocka_unit_test(test_ends),	  cmocka_unit_test(test_crossing),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_same),	  cmocka_unit_test(test_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests_name("fabricsim_retry", all, NULL, NULL);
}
