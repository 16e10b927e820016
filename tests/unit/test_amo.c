// SPDX-License-Identifier: GPL-2.0-only
/* Atomic operations compared with arithmetic on wider numbers, and on a word that others change. */
#include <pthread.h>
#include "tests/unit/seeds.h"
#include "kernel/core/amo.h"

typedef __int128 wide;

/* Return: the word as a number of its type. */
static wide number_of(unsigned int type, u64 v)
{
	switch (type) {
	case TN_AMO_U32:
		return (u32)v;
	case TN_AMO_U64:
		return v;
	case TN_AMO_S32:
		return (wide)(u32)v - ((u32)v >> 31 ? (wide)1 << 32 : 0);
	default:
		return (wide)v - (v >> 63 ? (wide)1 << 64 : 0);
	}
}

static u64 naive(unsigned int op, unsigned int type, u64 old, u64 operand, u64 compare)
{
	wide a = number_of(type, old), b = number_of(type, operand);
	wide results[TN_AMO_OPS] = {
		[TN_AMO_ADD] = a + b, [TN_AMO_AND] = a & b, [TN_AMO_OR] = a | b, [TN_AMO_XOR] = a ^ b,
		[TN_AMO_MIN] = a < b ? a : b, [TN_AMO_MAX] = a > b ? a : b, [TN_AMO_SWAP] = b,
		[TN_AMO_CAS] = a == number_of(type, compare) ? b : a,
	};
	u64 v = (u64)results[op];

	return type == TN_AMO_U32 || type == TN_AMO_S32 ? (u32)v : v;
}

static u64 draw_value(struct rnd *r)
{
	static const u64 ends[] = { 0, 1, ~0ull, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32,
				    ~0ull >> 1, 1ull << 63 };
	unsigned int i = rnd_below(r, 2 * (unsigned int)ARRAY_SIZE(ends));

	return i < ARRAY_SIZE(ends) ? ends[i] : rnd64(r);
}

/* Executes on a word between two others, which must stay as they are. */
static void run_values(uint64_t seed)
{
	struct rnd r = rnd_new(seed);

	for (int i = 0; i < 5000; i++) {
		unsigned int op = rnd_below(&r, TN_AMO_OPS), type = rnd_below(&r, TN_AMO_TYPES);
		unsigned int bytes = tn_amo_bytes(type);
		u64 was = draw_value(&r), operand = draw_value(&r), old = 7, now = 0;
		u64 compare = rnd_below(&r, 2) ? was ^ (u64)rnd_below(&r, 2) << 32 : draw_value(&r);
		u64 memory[3] = { 0x1111111111111111, 0x2222222222222222, 0x3333333333333333 };

		memcpy(&memory[1], &was, bytes);
		was = bytes == 4 ? (u32)was : was;
		assert_int_equal(tn_amo(&memory[1], op, type, operand, compare,
					rnd_below(&r, 4) ? &old : NULL), 0);
		memcpy(&now, &memory[1], bytes);
		expect(&r, now == naive(op, type, was, operand, compare), "op %u, type %u", op, type);
		expect(&r, old == 7 || old == was, "old value, op %u, type %u", op, type);
		expect(&r, memory[0] == 0x1111111111111111 && memory[2] == 0x3333333333333333, "beside");
		if (bytes == 4)
			expect(&r, (u32)(memory[1] >> 32) == 0x22222222, "the other half");
		expect(&r, tn_amo_less(type, was, operand) ==
		       (number_of(type, was) < number_of(type, operand)), "type %u", type);
	}
}

static void all_operations_have_right_results(void **state)
{
	(void)state;
	for_seeds(20, run_values);
}

static void amo_of_unknown_op_type_or_misaligned_address_is_refused(void **state)
{
	u64 memory[2] = { 5, 5 }, old = 7;

	(void)state;
	assert_int_equal(tn_amo(memory, TN_AMO_OPS, TN_AMO_U64, 1, 0, &old), -EOPNOTSUPP);
	assert_int_equal(tn_amo(memory, TN_AMO_ADD, TN_AMO_TYPES, 1, 0, &old), -EOPNOTSUPP);
	for (unsigned int i = 1; i < 8; i++) {
		char *at = (char *)memory + i;

		assert_int_equal(tn_amo(at, TN_AMO_ADD, TN_AMO_U64, 0, 0, NULL), -EINVAL);
		assert_int_equal(tn_amo(at, TN_AMO_ADD, TN_AMO_S32, 0, 0, NULL), i == 4 ? 0 : -EINVAL);
	}
	assert_true(memory[0] == 5 && memory[1] == 5 && old == 7);
}

#define ADDS 300000

static u64 shared;
static u64 executed;	/* operations that tn_amo() has executed */

/* Adds by the processor's own instruction, as a process of the owner may. */
static void *add_beside(void *arg)
{
	(void)arg;
	for (int i = 0; i < ADDS; i++)
		__atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *add_here(void *arg)
{
	u64 old, last = 0;

	(void)arg;
	for (int i = 0; i < ADDS; i++) {
		int err = tn_amo(&shared, TN_AMO_ADD, TN_AMO_U64, 1, 0, &old);

		if (err == -EAGAIN)	/* the operation was not executed */
			continue;
		assert_int_equal(err, 0);
		assert_true(old >= last);
		last = old + 1;
		__atomic_fetch_add(&executed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* No addition is lost between two engines and a process. */
static void no_concurrent_addition_is_lost(void **state)
{
	pthread_t t[3];

	(void)state;
	pthread_create(&t[0], NULL, add_beside, NULL);
	pthread_create(&t[1], NULL, add_here, NULL);
	pthread_create(&t[2], NULL, add_here, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(shared, executed + ADDS);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(all_operations_have_right_results),
		cmocka_unit_test(amo_of_unknown_op_type_or_misaligned_address_is_refused),
		cmocka_unit_test(no_concurrent_addition_is_lost),
	};

	return cmocka_run_group_tests_name("amo", all, NULL, NULL);
}
