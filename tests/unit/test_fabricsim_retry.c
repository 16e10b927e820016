// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim retry: the published figures, the exact ones, and the NIC's code on a wire. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void formulas_equal_published_numbers(void **state)
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
static void exact_formula_sends_arriving_packet_once(void **state)
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

static void clean_line_has_efficiency_of_its_framing(void **state)
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
static void one_hit_costs_the_packets_on_the_line(void **state)
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
static void only_acknak_waits_for_timer_after_second_hit(void **state)
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
static void cost_of_errors_is_within_a_tenth_of_formula(void **state)
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
static void no_protocol_stops_making_progress(void **state)
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
static void three_ways_agree_where_micro_packets_win(void **state)
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

/*
 * The advice of fabricsim's README: packets where errors are seldom, with either protocol;
 * micro-packets, which cost a fifth of the line, only on a line that is worse than any in use.
 */
static void advice_of_readme_agrees_with_measurement(void **state)
{
	json_t *all, *points;
	double at[3][2];

	(void)state;
	expect("retry --json --protocol angara,acknak,hippi --ber 1e-7,1e-5 --messages 2000", OK);
	all = printed();
	points = json_object_get(all, "points");
	assert_int_equal(json_array_size(points), 6);
	for (size_t i = 0; i < 6; i++)
		at[i / 2][i % 2] = json_number_value(json_object_get(json_array_get(points, i),
								     "measured"));
	json_decref(all);
	assert_true(at[0][0] > 0.95 && at[1][0] > 0.95);
	assert_true(at[2][0] > 0.75 && at[2][0] < 0.80);
	assert_true(at[2][1] > 1.2 * at[0][1] && at[2][1] > 1.2 * at[1][1]);
}

/* The command prints what the formulas and the wire give for the lines that it describes. */
static void command_prints_values_of_formulas_and_wire(void **state)
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
	assert_string_equal(err, "");
	expect("retry --protocol angara --ber 1e-3,1e-9 --messages 20", PROBLEM);
	has(err, "1 of 2 runs stopped making progress, because hardly a packet arrives whole: exit status 1");
	has(out, "measured");
}

/* Return: the actions of one end of a play, such as "sent 2 again", in the order of time. */
static json_t *play(const char *args, const char *protocol, int timeouts)
{
	char text[128];
	json_t *all;

	snprintf(text, sizeof(text), "retry --json --play %s", args);
	expect(text, OK);
	all = printed();
	assert_string_equal(json_string_value(json_object_get(all, "protocol")), protocol);
	assert_int_equal(json_integer_value(json_object_get(all, "timeouts")), timeouts);
	assert_true(json_is_true(json_object_get(all, "ended")));
	return all;
}

/* How many events have these values; copy: at least that many; -1, NULL: any. */
static unsigned int events(const json_t *all, const char *event, int unit, int copy, int says,
			   const char *verdict)
{
	unsigned int n = 0;
	const json_t *ev;
	size_t i;

	json_array_foreach(json_object_get(all, "events"), i, ev) {
		const char *v = json_string_value(json_object_get(ev, "verdict"));
		const json_t *p = json_object_get(ev, "packet"), *s = json_object_get(ev, "says");

		n += !strcmp(json_string_value(json_object_get(ev, "event")), event) &&
		     (unit < 0 || (json_is_integer(p) && json_integer_value(p) == unit)) &&
		     json_integer_value(json_object_get(ev, "copy")) >= copy &&
		     (says < 0 || (json_is_integer(s) && json_integer_value(s) == says)) &&
		     (!verdict || (v && !strcmp(v, verdict)));
	}
	return n;
}

/* Each packet is taken once, and only once; and what each figure shows. */
static void each_packet_of_figures_is_taken_once(void **state)
{
	json_t *p;

	(void)state;
	for (unsigned int fig = 3; fig <= 8; fig++) {
		char args[8];

		if (fig == 6)
			continue;
		snprintf(args, sizeof(args), "fig%u", fig);
		p = play(args, fig == 4 || fig == 8 ? "hippi" : "acknak", fig >= 7);
		for (int k = 0; k < 6; k++)
			assert_int_equal(events(p, "came", k, 0, -1, "taken"), 1);
		/* A lost answer of ACK/NAK costs nothing; else the bad packet is sent again. */
		assert_int_equal(json_integer_value(json_object_get(p, "backs")), fig != 5);
		assert_int_equal(events(p, "sent", 2, 1, -1, NULL), fig != 5);
		/* Good packets only if the NAK is lost, which would have acknowledged them. */
		assert_int_equal(events(p, "sent", 1, 1, -1, NULL), fig == 7);
		assert_int_equal(events(p, "came", 1, 0, -1, "behind"), fig == 7);
		/* The NAK acknowledges packets 0 and 1. */
		if (fig == 3)
			assert_int_equal(events(p, "came", -1, 0, 2, "heard"), 1);
		/* The same answer comes twice: 2 is expected. */
		if (fig == 4)
			assert_int_equal(events(p, "came", -1, 0, 2, "heard"), 2);
		json_decref(p);
	}
}

/*
 * The other end's packet 2 is lost, and two equal answers report that. Its next packets are out of
 * sequence. If their answers do not count, the first end times out, and sends again what has arrived.
 */
static void figure_6_repeats_only_without_answers_always(void **state)
{
	(void)state;
	for (int always = 0; always < 2; always++) {
		json_t *p = play(always ? "fig6 --answers always" : "fig6", "hippi", always ? 0 : 2);

		for (int k = 0; k < 6; k++)
			assert_int_equal(events(p, "came", k, 0, -1, "taken"), 2);
		assert_int_equal(json_integer_value(json_object_get(p, "backs")), always ? 1 : 3);
		assert_true(events(p, "came", -1, 0, 3, "ahead") > 0);
		assert_int_equal(!events(p, "sent", 0, 1, -1, NULL), always);
		assert_int_equal(!events(p, "came", 0, 0, -1, "behind"), always);
		json_decref(p);
	}
	/* With a longer RETRY buffer the first end does not wait. */
	json_decref(play("fig6 --window 127", "hippi", 0));
}

/*
 * Two steps of --play for one packet hit it twice. If no packet follows a lost one, only the timer
 * causes its retransmission.
 */
static void two_steps_of_play_for_one_packet_hit_it_twice(void **state)
{
	json_t *p;

	(void)state;
	p = play("lose-2,damage-2 --protocol angara --one-way --messages 3", "angara", 2);
	assert_int_equal(json_integer_value(json_object_get(p, "sent")), 5);
	assert_int_equal(events(p, "sent", 2, 1, -1, NULL), 2);
	assert_int_equal(events(p, "came", 2, 0, -1, "taken"), 1);
	json_decref(p);
	p = play("lose-answer-0 --protocol acknak --one-way --messages 2", "acknak", 0);
	assert_int_equal(json_integer_value(json_object_get(p, "sent")), 2);
	json_decref(p);
	p = play("lose-back-1 --protocol hippi --messages 4", "hippi", 0);
	assert_int_equal(events(p, "sent", 1, 1, -1, NULL), 1);
	json_decref(p);
	expect("retry --play fig7", OK);
	expect("retry --figure fig7", OK);
	has(out, "NAK 1  (lost)");
	has(out, "timer runs out; goes back");
	has(out, "packet 1: came before, dropped");
	has(out, "12 packets sent; a sender went back 1 time, 1 of them by its timer");
}

static double value_of(const char *args, const char *key)
{
	json_t *all;
	double v;

	expect(args, OK);
	all = printed();
	v = json_number_value(json_object_get(json_array_get(json_object_get(all, "points"), 0), key));
	json_decref(all);
	return v;
}

/*
 * If only answers in sequence count, HIPPI has more time-outs. One way there is no difference. Two
 * full directions do not block each other, although each says its answer on packets that the other
 * does not take: a second replay is answered however short it is.
 */
static void answers_in_sequence_cost_hippi_more_timeouts(void **state)
{
#define HIPPI "retry --json --protocol hippi --micro 0 --ber 1e-6 "
	(void)state;
	assert_true(value_of(HIPPI "--messages 500 --answers in-sequence", "timeouts") >
		    value_of(HIPPI "--messages 500", "timeouts"));
	assert_true(value_of(HIPPI "--messages 500 --one-way --answers in-sequence", "measured") ==
		    value_of(HIPPI "--messages 500 --one-way", "measured"));
	assert_true(value_of(HIPPI "--messages 20000", "timeouts") == 125);
	assert_true(value_of(HIPPI "--messages 20000 --answers in-sequence", "timeouts") == 286);
	has(out, "\"ended\":true");
#undef HIPPI
}

/* With one overhead for both, whole packets of two protocols cost the same on a good line. */
static void equal_overhead_costs_the_same(void **state)
{
	(void)state;
	assert_float_equal(value_of("retry --json --one-way --protocol hippi --micro 0 --ber 0 --overhead 28 "
				    "--messages 500", "measured"), 4096.0 / (4124 + 8), 1e-4);
	assert_float_equal(value_of("retry --json --one-way --protocol acknak --ber 0 --messages 500",
				    "measured"), 4096.0 / (4124 + 8), 1e-4);
}

static void measured_crossover_is_in_known_range(void **state)
{
	double at;
	json_t *all;

	(void)state;
	expect("retry --json --ber 1e-6 --protocol acknak,hippi --messages 1500 --crossover", OK);
	all = printed();
	at = json_number_value(json_object_get(json_object_get(all, "crossover"), "measured"));
	json_decref(all);
	assert_true(at > 1.8e-6 && at < 2.9e-6);
	expect("retry --json --ber 1e-6 --messages 10", OK);
	all = printed();
	assert_true(json_is_null(json_object_get(json_object_get(all, "crossover"), "measured")));
	json_decref(all);
}

static void same_seed_gives_same_run(void **state)
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
static void wrong_retry_options_are_refused(void **state)
{
	static const struct {
		const char *args, *says;
	} bad[] = {
		{ "--ber=-1", "0 to 0.5" }, { "--ber 0.6", "0 to 0.5" },
		{ "--protocol tcp", "angara" }, { "--window 1024", "at most 127" },
		{ "--protocol acknak --micro 32", "12 bits" },
		{ "--payload 100", "multiple" }, { "--retries 1 --ber 1e-6", "--ber" },
		{ "--answers some", "in-sequence" }, { "--overhead 65537", "65536" },
		{ "--play lose-9 --protocol acknak", "0 to 5" }, { "--play loose-3 --protocol acknak", "fig3 to fig8" },
		{ "--play lose-2", "--play 'lose-2': to play steps, name one protocol: --protocol angara" },
		{ "--play lose-2 --protocol hippi,acknak", "name one protocol" },
		{ "--play lose--1", "--play 'lose -1': there are packets 0 to 5" },
		{ "--play fig9", "must be fig3 to fig8" },
		{ "--play lose-answer-99 --protocol acknak", "answers were sent, numbered from 0" },
		{ "--play lose-back-1 --protocol hippi --one-way", "--one-way" },
		{ "--play fig9 --protocol hippi", "fig3 to fig8" }, { "--play lose-1,,lose-2 --protocol hippi", "''" },
		{ "--play fig3 --protocol hippi", "--protocol: --play fig3" },
		{ "--figure fig9", "--figure 'fig9': must be fig3 to fig8" },
		{ "--figure lose-2 --protocol hippi", "must be fig3 to fig8" },
		{ "--figure fig3 --play fig4", "--play fig4: --figure fig3" },
		{ "--play fig3 --messages 9", "--messages: --play fig3" },
		{ "--play fig3 --one-way", "--one-way: --play fig3" },
		{ "--play fig3 --ber 1e-6", "--ber: --play" }, { "--play fig3 --crossover", "--crossover: --play" },
		{ "--play lose-0 --protocol hippi --window 1024", "at most 127" },
		{ "--play lose-0 --protocol acknak --messages 1001", "1000 at most" },
		{ "--play lose-0 --protocol acknak --delay 1,2", "one value of --payload, --delay" },
		{ "--window 1024 --protocol acknak --crossover", "at most 127" },
		{ "--play fig3 --csv", "--json" }, { "--play fig3 --svg /nonexistent/x", "cannot write" }, { "--play lose-2-3 --protocol hippi", "lose 2-3" },
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
		cmocka_unit_test(formulas_equal_published_numbers),
		cmocka_unit_test(exact_formula_sends_arriving_packet_once),
		cmocka_unit_test(clean_line_has_efficiency_of_its_framing),
		cmocka_unit_test(one_hit_costs_the_packets_on_the_line),
		cmocka_unit_test(only_acknak_waits_for_timer_after_second_hit),
		cmocka_unit_test(cost_of_errors_is_within_a_tenth_of_formula),
		cmocka_unit_test(no_protocol_stops_making_progress),
		cmocka_unit_test(three_ways_agree_where_micro_packets_win),
		cmocka_unit_test(advice_of_readme_agrees_with_measurement),
		cmocka_unit_test(command_prints_values_of_formulas_and_wire),
		cmocka_unit_test(each_packet_of_figures_is_taken_once),
		cmocka_unit_test(figure_6_repeats_only_without_answers_always),
		cmocka_unit_test(two_steps_of_play_for_one_packet_hit_it_twice),
		cmocka_unit_test(answers_in_sequence_cost_hippi_more_timeouts),
		cmocka_unit_test(equal_overhead_costs_the_same),
		cmocka_unit_test(measured_crossover_is_in_known_range),
		cmocka_unit_test(same_seed_gives_same_run),
		cmocka_unit_test(wrong_retry_options_are_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests_name("fabricsim_retry", all, NULL, NULL);
}
