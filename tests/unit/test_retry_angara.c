// SPDX-License-Identifier: GPL-2.0-only
/* Angara's retry: every history of a bad wire, and what an error costs. */
#include "tests/unit/retrymasks.h"

static void test_masks(void **state)
{
	(void)state;
	masks_all(&tn_retry_angara);
}

/* One hit anywhere costs one going back: no timer, one round trip sent again. */
static void test_one_hit(void **state)
{
	struct masks m = { .ops = &tn_retry_angara, .hit = HIT_DAMAGED, .bits = 1, .packets = 16,
			   .window = 16, .delay = 3, .every = 1, .timeout = 100 };
	struct masks_cost cost = masks_run(&m);

	(void)state;
	assert_int_equal(cost.timeouts, 0);
	/* The clean history sends 16; the other one the 7 of a round trip again. */
	assert_in_range(cost.sent, 33, 32 + 2 * 3 + 1);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_one_hit),
	};

	return cmocka_run_group_tests_name("retry_angara", all, NULL, NULL);
}
