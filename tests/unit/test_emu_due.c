// SPDX-License-Identifier: GPL-2.0-only
/* torusemu's timers compared with an array that is searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "random.h"
#include "tools/torusemu/due.h"

#define ENTRIES 100

static void heap_of_due_times_equals_model(void **state)
{
	struct due entry[ENTRIES];
	bool in[ENTRIES] = { false };
	struct due_heap h = { 0 };
	const uint64_t seed = random_seed(1);
	uint64_t rng = seed;

	(void)state;
	for (int round = 0; round < 200000; round++) {
		unsigned int i = random_below(&rng, ENTRIES);
		u64 first = DUE_NEVER;
		u32 n = 0;

		if (!in[i]) {
			assert_int_equal(due_add(&h, &entry[i]), 0);
			in[i] = true;
		} else if (random_below(&rng, 8)) {
			due_set(&h, &entry[i], random_below(&rng, 50) ? random_below(&rng, 1000) : DUE_NEVER);
		} else {
			due_del(&h, &entry[i]);
			in[i] = false;
		}
		for (int k = 0; k < ENTRIES; k++) {
			n += in[k];
			if (in[k] && entry[k].at < first)
				first = entry[k].at;
		}
		if (h.n != n || (n ? due_first(&h)->at != first : !!due_first(&h)))
			fail_msg("round %d of SEED=%llu", round, (unsigned long long)seed);
	}
	due_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_of_due_times_equals_model),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
