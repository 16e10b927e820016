// SPDX-License-Identifier: GPL-2.0-only
/* A hash against a plain list, with few keys and with keys whose runs go around its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "lib/util/hash.h"
#include "tests/unit/random.h"

#define MOST 40

static struct { uint32_t key, value; } list[MOST];
static uint32_t n;
static bool no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size)
{
	return no_memory ? NULL : __real_calloc(count, size);
}

/* Checks that all values of each key are found, each once, and no others. */
static void compare(const struct hash *h, const uint32_t *keys, uint32_t nkeys)
{
	assert_int_equal(h->used, n);
	for (uint32_t k = 0; k < nkeys; k++) {
		uint32_t value, found = 0, want = 0;

		for (uint32_t at = 0; hash_next(h, keys[k], &at, &value); found++) {
			uint32_t i = 0;

			while (i < n && (list[i].key != keys[k] || list[i].value != value))
				i++;
			assert_true(i < n);
		}
		for (uint32_t i = 0; i < n; i++)
			want += list[i].key == keys[k];
		assert_int_equal(found, want);
	}
}

static void random_operations_equal_naive_table(void **state)
{
	static const uint32_t keys[] = { 0, 1, 5, 6, 7, 8, 14, 15, 63, ~0u, ~0u - 1, 1u << 31 };
	const uint32_t nkeys = sizeof(keys) / sizeof(*keys);
	uint64_t random = random_seed(1);

	(void)state;
	for (unsigned int life = 0; life < 300; life++) {
		struct hash h = { .size = 0 };

		n = 0;
		compare(&h, keys, nkeys);
		for (uint32_t step = 0; step < 100; step++) {
			uint32_t i = n ? random_below(&random, n) : 0;

			if (n < MOST && (!n || random_below(&random, 5) > 1)) {
				assert_true(hash_reserve(&h, n + 1));
				assert_true(h.size >= 2 * (n + 1));
				list[n].key = keys[random_below(&random, nkeys)];
				list[n].value = step;
				hash_put(&h, list[n].key, step);
				n++;
			} else if (random_below(&random, 2)) {
				hash_change(&h, list[i].key, list[i].value, 1000 + step);
				list[i].value = 1000 + step;
			} else {
				hash_del(&h, list[i].key, list[i].value);
				list[i] = list[--n];
			}
			compare(&h, keys, nkeys);
		}
		hash_free(&h);
		assert_null(h.slot);
	}
}

/* Without memory to grow, the table keeps what it has. */
static void table_without_memory_to_grow_keeps_entries(void **state)
{
	struct hash h = { .size = 0 };
	uint32_t value = 0, at = 0;

	(void)state;
	no_memory = true;
	assert_false(hash_reserve(&h, 1));
	assert_false(hash_next(&h, 3, &at, &value));
	no_memory = false;
	assert_true(hash_reserve(&h, 4));
	hash_put(&h, 3, 77);
	no_memory = true;
	assert_true(hash_reserve(&h, 4));
	assert_false(hash_reserve(&h, 5));
	no_memory = false;
	assert_true(hash_next(&h, 3, &at, &value));
	assert_int_equal(value, 77);
	assert_false(hash_next(&h, 3, &at, &value));
	hash_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_operations_equal_naive_table),
		cmocka_unit_test(table_without_memory_to_grow_keeps_entries),
	};

	return cmocka_run_group_tests_name("hash", tests, NULL, NULL);
}
