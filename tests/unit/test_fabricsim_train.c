// SPDX-License-Identifier: GPL-2.0-only
/* fabricsim train: compared with training by hand; and properties that hold for any cable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <torus/torus.h>

#include "kernel/core/nic.h"
#include "tests/unit/program.h"
#include "tests/unit/random.h"
#include "tools/fabricctl/command.h"
#include "tools/fabricsim/train_run.h"
#include "tools/fabricsim/train_wear.h"

const struct program this_program = { .name = "test_fabricsim_train" };

static struct train_plan plan_of(const struct tn_cable *cable)
{
	struct tn_params p;

	tn_params_default(&p);
	return (struct train_plan) {
		.cable = *cable, .look = p.eye_interval,
		.params = {
			.target_ber = p.target_ber, .mask_height = p.mask_height,
			.mask_width = p.mask_width, .margin_train = p.margin_train,
			.margin_retrain = p.margin_retrain,
		},
	};
}

/* The search, setting by setting and rate by rate; it uses nothing of the core but the model. */
static u32 best_mbps(const struct train_plan *plan)
{
	struct tn_serdes_model m;
	u32 best = 0;

	tn_serdes_model_init(&m);
	tn_serdes_model_lay(&m, &plan->cable, 1);
	for (unsigned int rate = 0; rate < m.serdes.rates; rate++) {
		u32 lanes = 0;

		m.serdes.ops->set_rate(&m, rate);
		for (unsigned int l = 0; l < m.serdes.lanes; l++) {
			bool good = false;

			for (u32 i = 0; i < 2048 && !good; i++) {
				struct tn_taps taps = { i & 7, i >> 3 & 15 };
				struct tn_rx rx = { i >> 7 & 3, i >> 9 };
				struct tn_eye e;

				m.serdes.ops->set_taps(&m, l, taps);
				m.serdes.ops->set_rx(&m, l, rx);
				m.serdes.ops->measure(&m, l, &e, 1);
				good = e.signal && tn_eye_margin(&e, &plan->params) >=
					plan->params.margin_train &&
					tn_eye_ber(&e) <= plan->params.target_ber;
			}
			lanes += good;
		}
		if (lanes * m.serdes.mbps[rate] > best)
			best = lanes * m.serdes.mbps[rate];
	}
	return best;
}

static void training_finds_best_setting_of_random_cable(void **state)
{
	uint64_t seed = random_seed(11), r = seed;
	unsigned int slower = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 60; i++) {
		struct tn_cable c = {
			.length = 1 + (u32)random_below(&r, 1400), .loss = 500 + (u32)random_below(&r, 3000),
			.crosstalk = (u32)random_below(&r, 30), .seed = random_next(&r),
			.warmer = (s32)random_below(&r, 100) - 40,
			.dead = (u16)(random_next(&r) & random_next(&r) & 0xfff),
		};
		struct train_plan plan = plan_of(&c);
		struct train_result t;

		train_run(&plan, &t);
		assert_int_equal(t.trained.width * t.trained.mbps, best_mbps(&plan));
		assert_true(!t.trained.width || t.trained.ber <= plan.params.target_ber);
		assert_true(t.took >= 100000 && t.took <= 4 * (128 + 16 + 25) * 100000ull);
		assert_int_equal(t.took, t.settings * 100000ull);
		slower += t.trained.width && t.trained.mbps < 6250;
	}
	assert_true(slower > 5);
}

/* Ageing lanes are shed or the rate falls, and no measurement ever misses the target. */
static void ageing_line_sheds_lanes_but_keeps_target(void **state)
{
	struct tn_cable c = { .length = 600, .loss = 2000, .crosstalk = 10, .seed = 4,
			      .ageing = 150, .aged = 3, .drift = 50 };
	struct train_plan plan = plan_of(&c);
	struct train_result t;

	(void)state;
	plan.life = 60000000000ull;
	train_run(&plan, &t);
	assert_true(t.retrains > 0);
	assert_true(t.worst <= plan.params.target_ber);
	assert_int_equal(t.lived, plan.life);
	assert_true(t.ended.width * t.ended.mbps < t.trained.width * t.trained.mbps);
	/* All lanes age: the link dies. */
	plan.cable.aged = 0xfff;
	plan.cable.ageing = 500;
	train_run(&plan, &t);
	assert_true(t.lived < plan.life);
	assert_int_equal(t.ended.width, 0);
}

static void rate_falls_with_length_of_cable(void **state)
{
	json_t *got, *points, *p;
	double last = 1e9;
	size_t i;

	(void)state;
	expect("train --json --length 100:2900:400", 0);
	got = printed();
	points = json_object_get(got, "points");
	assert_int_equal(json_array_size(points), 8);
	json_array_foreach(points, i, p) {
		double mbps = json_number_value(json_object_get(p, "mbps"));

		assert_true(mbps <= last);
		last = mbps;
	}
	assert_true(last == 0);
	json_decref(got);
	expect("train --json --length 500 --lanes --dead 2,4-5", 0);
	got = printed();
	points = json_object_get(got, "points");
	assert_int_equal(json_array_size(points), TORUS_LANES_MAX);
	json_array_foreach(points, i, p)
		assert_string_equal(json_string_value(json_object_get(p, "state")),
				    i == 2 || i == 4 || i == 5 ? "dead" : "on");
	json_decref(got);
	expect("train --csv --class dac30,optical --length 1000 --temperature=-20,60 --seeds 3", 0);
	has(out, "class,length,loss,");
	has(out, "optical,1000,1,0,60,");
}

static void wrong_train_options_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{ "train --class copper", "'copper'" },
		{ "train --class dac24,", "''" },
		{ "train --class dac24 --loss 100", "give one" },
		{ "train --length 20000", "20000" },
		{ "train --temperature 200", "200" },
		{ "train --dead 12", "'12'" },
		{ "train --target-ber 0", "'0'" },
		{ "train --margin-train 90", "margin-retrain, 100" },
		{ "train --look 1us", "'1us'" },
		{ "train --life x", "x" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		expect(bad[i][0], 2);
		has(err, bad[i][1]);
	}
}

/* fabricd warns 10 minutes before lanes are lost, and of no line that only follows the room. */
static void wear_is_reported_before_lanes_are_lost(void **state)
{
	uint64_t seed = random_seed(12), r = seed;
	unsigned int failed = 0, early = 0;

	(void)state;
	print_message("SEED=%llu\n", (unsigned long long)seed);
	for (unsigned int i = 0; i < 20; i++) {
		struct tn_cable c = {
			.length = 100 + (u32)random_below(&r, 800), .loss = 2000, .crosstalk = 10,
			.drift = 20, .seed = random_next(&r),
		};
		struct train_plan plan = plan_of(&c);
		u64 before;

		assert_int_equal(wear_month(&plan), 0);
		plan.cable.ageing = 1;
		plan.cable.aged = (u16)(1u << random_below(&r, TORUS_LANES_MAX));
		before = wear_age(&plan, 1 + random_below(&r, 200));
		if (before == ~0ull)
			continue;
		failed++;
		early += before >= WEAR_EARLY;
	}
	assert_in_range(failed, 15, 20);
	assert_true(100 * early >= 95 * failed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(wear_is_reported_before_lanes_are_lost),
		cmocka_unit_test(training_finds_best_setting_of_random_cable),
		cmocka_unit_test(ageing_line_sheds_lanes_but_keeps_target),
		cmocka_unit_test(rate_falls_with_length_of_cable),
		cmocka_unit_test(wrong_train_options_are_refused),
	};

	(void)argc;
	program_is(argv[0], "fabricsim");
	return cmocka_run_group_tests(all, NULL, NULL);
}
