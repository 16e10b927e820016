// SPDX-License-Identifier: GPL-2.0-only
/* Trees of JSON in memory that is freed at once. */
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricweb/arena.h"

/* Objects of all sizes, one larger than a block, twice: the second time blocks are there. */
static void blocks_are_used_again_for_second_tree(void **state)
{
	json_t *before = json_pack("{s:i}", "a", 1);
	char *large = malloc(1000001);

	(void)state;
	memset(large, 'x', 1000000);
	large[1000000] = '\0';
	for (int round = 0; round < 3; round++) {
		json_t *tree;

		arena_enter();
		tree = json_array();
		for (int i = 0; i < 20000; i++)
			json_array_append_new(tree, json_pack("{s:i, s:s}", "n", i, "text", "some text"));
		json_array_append_new(tree, json_string(large));
		for (int i = 0; i < 20000; i++)
			assert_int_equal(json_integer_value(json_object_get(json_array_get(tree, (size_t)i), "n")), i);
		assert_string_equal(json_string_value(json_array_get(tree, 20000)), large);
		arena_leave();
	}
	/* Memory outside the arena is unchanged. */
	json_object_set_new(before, "b", json_string("more"));
	assert_string_equal(json_string_value(json_object_get(before, "b")), "more");
	json_decref(before);
	free(large);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(blocks_are_used_again_for_second_tree),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
