// SPDX-License-Identifier: GPL-2.0-only
/* Parameters of a NIC: their defaults and limits, and which contradict each other. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel/core/params.h"
#include "kernel/core/retry.h"
#include "lib/util/times.h"

/* The defaults that nic.h and the manual pages state. */
static void defaults_are_those_of_manual(void **state)
{
	struct tn_params_why why;
	struct tn_params p;

	(void)state;
	tn_params_default(&p);
	assert_true(p.keepalive == 100 * MS && p.silence == 350 * MS && p.ack_delay == MS);
	assert_true(p.replay_timeout == 20 * MS && p.retry_time == 500 * MS && p.retry_count == 4);
	assert_true(p.init_interval == 10 * MS && p.probe_interval == 100 * MS);
	assert_true(p.retrain_time == 200 * MS && p.gap_time == 5000 * MS);
	assert_true(p.eye_interval == 50 * MS && p.target_ber == TORUS_BER_ONE / 1000000000000);
	assert_true(p.mask_height == 60 && p.mask_width == 100 && p.margin_train == 110);
	assert_true(p.margin_retrain == 100 && p.retry_packets == 256 && p.slots == 256);
	assert_true(p.payload_max == 4096 && p.frame_max == 65520 && p.relay_packets == 4096);
	assert_true(p.park_bytes == 16 << 20 && p.hold_bytes == 24 << 20 && !p.retry && !p.pace);
	assert_int_equal(p.bubble, TORUS_BUBBLE_BLOC);
	assert_true(p.dscp_vcd1 == 1ull << 32 && p.dscp_vca == 1ull << 8);
	assert_int_equal(tn_params_check(&p, &why), 0);
}

/* Each parameter is kept in its own member, whole, and no other changes. */
static void each_parameter_has_its_own_member(void **state)
{
	struct tn_params p;

	(void)state;
	for (unsigned int i = 0; i < TN_PARAMS; i++) {
		const struct tn_param *of = &tn_param_list[i];

		memset(&p, 0xff, sizeof(p));
		tn_param_set(&p, of, 0);
		for (unsigned int k = 0; k < TN_PARAMS; k++)
			assert_true(tn_param_get(&p, &tn_param_list[k]) ==
				    (k == i ? 0 : tn_param_list[k].is_wide ? ~0ull : ~0u));
	}
}

/** struct limit - the last valid value of a parameter and the first invalid one */
struct limit {
	enum tn_param_id id;
	u64 taken, refused;
	enum tn_param_id than;	/* it contradicts; TN_PARAMS: none */
};

#define RANGE(id, taken, refused) { TN_PARAM_##id, taken, refused, TN_PARAMS }
#define ORDER(id, taken, refused, than) { TN_PARAM_##id, taken, refused, TN_PARAM_##than }

static void expect_limit(const struct limit *t)
{
	const struct tn_param *p = &tn_param_list[t->id];
	struct tn_params_why why;
	struct tn_params all;

	tn_params_default(&all);
	tn_param_set(&all, p, t->taken);
	if (tn_params_check(&all, &why))
		fail_msg("%s %llu is refused", p->name, (unsigned long long)t->taken);
	tn_param_set(&all, p, t->refused);
	assert_int_equal(tn_params_check(&all, &why), t->than == TN_PARAMS ? -ERANGE : -EINVAL);
	if (t->than == TN_PARAMS) {
		assert_ptr_equal(why.param, p);
		assert_null(why.than);
		assert_true(why.min == p->min && why.max == p->max);
		return;
	}
	/* The same one of two that contradict each other is named, whichever is changed. */
	assert_true(why.param == p || why.than == p);
	assert_true(why.param == &tn_param_list[t->than] || why.than == &tn_param_list[t->than]);
	assert_true(why.min == tn_param_get(&all, why.than) + why.more);
	assert_true(why.max == why.param->max);
	tn_param_set(&all, why.param, why.min);
	assert_int_equal(tn_params_check(&all, &why), 0);
}

/*
 * The last valid and the first invalid values are those that other things fix: the wire, arrays,
 * and other parameters.
 */
static void last_valid_values_are_accepted_and_next_refused(void **state)
{
	static const struct limit limits[] = {
		RANGE(PAYLOAD_MAX, TN_PAYLOAD_MIN, TN_PAYLOAD_MIN - 1),
		RANGE(PAYLOAD_MAX, TN_PAYLOAD_MAX, TN_PAYLOAD_MAX + 1),
		RANGE(FRAME_MAX, 65535, 65536), RANGE(SLOTS, 1024, 1025),
		RANGE(RETRY_PACKETS, 1, 0), RANGE(RETRY_PACKETS, TN_RETRY_MAX, TN_RETRY_MAX + 1),
		RANGE(RETRY_COUNT, 1, 0), RANGE(RELAY_PACKETS, 1, 0),
		RANGE(MASK_HEIGHT, 1, 0), RANGE(MASK_HEIGHT, 10000, 10001),
		RANGE(MASK_WIDTH, 1, 0), RANGE(MASK_WIDTH, TN_HALF_UI, TN_HALF_UI + 1),
		RANGE(MARGIN_TRAIN, TN_MARGIN_MAX, TN_MARGIN_MAX + 1),
		RANGE(RETRY, TORUS_RETRY_HIPPI, TORUS_RETRIES), RANGE(PACE, 100, 101),
		RANGE(BUBBLE, TORUS_BUBBLE_MBS, TORUS_BUBBLES),
		RANGE(TARGET_BER, 1, 0), RANGE(TARGET_BER, TORUS_BER_ONE / 10, TORUS_BER_ONE / 10 + 1),
		ORDER(SILENCE, 100 * MS + 1, 100 * MS, KEEPALIVE),
		ORDER(KEEPALIVE, 350 * MS - 1, 350 * MS, SILENCE),
		ORDER(REPLAY_TIMEOUT, MS + 1, MS, ACK_DELAY),
		ORDER(ACK_DELAY, 20 * MS - 1, 20 * MS, REPLAY_TIMEOUT),
		ORDER(MARGIN_TRAIN, 100, 99, MARGIN_RETRAIN),
		ORDER(MARGIN_RETRAIN, 110, 111, MARGIN_TRAIN),
		ORDER(FRAME_MAX, 4096 + 48, 4096 + 47, PAYLOAD_MAX),
		ORDER(PARK_BYTES, 4096 + 48, 4096 + 47, PAYLOAD_MAX),
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(limits); i++)
		expect_limit(&limits[i]);
}

/* Each bubble policy needs a number of packet buffers an input. */
static void each_bubble_policy_needs_its_slots(void **state)
{
	static const u32 least[TORUS_BUBBLES] = {
		[TORUS_BUBBLE_BLOC] = 4, [TORUS_BUBBLE_CBS] = 2, [TORUS_BUBBLE_MBS] = 1,
	};

	(void)state;
	for (u32 bubble = 0; bubble < TORUS_BUBBLES; bubble++) {
		struct tn_params_why why;
		struct tn_params all;

		tn_params_default(&all);
		all.bubble = bubble;
		all.slots = least[bubble];
		assert_int_equal(tn_params_check(&all, &why), 0);
		all.slots--;
		assert_int_equal(tn_params_check(&all, &why), -ERANGE);
		assert_ptr_equal(why.param, &tn_param_list[TN_PARAM_SLOTS]);
		assert_null(why.than);
		assert_true(why.min == least[bubble] && why.max == 1024);
	}
}

/* Each parameter is checked against its range of the ABI, which is never empty. */
static void each_parameter_is_checked_against_its_range(void **state)
{
	(void)state;
	for (enum tn_param_id i = 0; i < TN_PARAMS; i++) {
		const struct tn_param *p = &tn_param_list[i];
		struct tn_params_why why;
		struct tn_params all;

		assert_true(p->min < p->max &&
			    (p->min > 0 || i == TN_PARAM_RETRY || i == TN_PARAM_PACE ||
			     i == TN_PARAM_BUBBLE || p->unit == TN_DSCPS));
		tn_params_default(&all);
		if (p->min) {
			tn_param_set(&all, p, p->min - 1);
			assert_int_equal(tn_params_check(&all, &why), -ERANGE);
			assert_ptr_equal(why.param, p);
		}
		if (p->max == UINT64_MAX)
			continue;
		tn_param_set(&all, p, p->max + 1);
		assert_int_equal(tn_params_check(&all, &why), -ERANGE);
		assert_ptr_equal(why.param, p);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(defaults_are_those_of_manual),
		cmocka_unit_test(each_parameter_has_its_own_member),
		cmocka_unit_test(last_valid_values_are_accepted_and_next_refused),
		cmocka_unit_test(each_bubble_policy_needs_its_slots),
		cmocka_unit_test(each_parameter_is_checked_against_its_range),
	};

	return cmocka_run_group_tests_name("params", all, NULL, NULL);
}
