// SPDX-License-Identifier: GPL-2.0-only
/*
 * Checks of the requests of a process. A table written from include/uapi/torus_rma.h has the flags,
 * the bits of the member word, and the other members of each operation. The tests compare the check
 * with it for all operations, flags and bits, and for each limit from both sides.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/rma_ring.h"

#define NODES	9u
#define DATA	100u		/* most bytes of a message */
#define RECVS	3u		/* most RECV that may be posted */
#define BYTES	4096u		/* of the one region that the context has */
#define REGION	3u
#define END	(1ull << 48)	/* first address that no node has */
#define ALL	63		/* all flags that exist */

enum { HAS_DATA = 1, HAS_OPERANDS = 2, HAS_TARGET = 4, HAS_COOKIE = 8 };

/* Members of the operations; @word: the bits that they may set. */
static const struct rule {
	u8 op;
	u8 flags;
	u16 word;
	u8 has;
} rules[] = {
	{ TORUS_RMA_PUT,
	  TORUS_RMA_KEYED | TORUS_RMA_NOTIFY | TORUS_RMA_FENCE | TORUS_RMA_INLINE, 0,
	  HAS_DATA | HAS_TARGET },
	{ TORUS_RMA_GET, TORUS_RMA_KEYED | TORUS_RMA_FENCE, 0, HAS_DATA | HAS_TARGET },
	{ TORUS_RMA_AMO, TORUS_RMA_KEYED | TORUS_RMA_FENCE | TORUS_RMA_POSTED, 0x7c00,
	  HAS_OPERANDS | HAS_TARGET },
	{ TORUS_RMA_FE, TORUS_RMA_KEYED | TORUS_RMA_FENCE, 0x7fff, HAS_OPERANDS | HAS_TARGET },
	{ TORUS_RMA_SEND, TORUS_RMA_FENCE | TORUS_RMA_INLINE, 0, HAS_DATA | HAS_TARGET | HAS_COOKIE },
	{ TORUS_RMA_CANCEL, 0, 0, HAS_COOKIE },
	{ TORUS_RMA_RECV, 0, 0, HAS_DATA },
};

static u64 find_room(void *host, u32 id, u32 region, u64 offset)
{
	assert_ptr_equal(host, &rules);
	assert_int_equal(id, 77);
	return region == REGION && offset < BYTES ? BYTES - offset : 0;
}

static const struct tn_rma_ring_ops ops = { .room = find_room };
static const struct tn_rma_ring ring = {
	.cfg = {
		.ops = &ops, .host = (void *)&rules, .id = 77, .nodes = NODES, .data_max = DATA,
		.ops_max = 2 * RECVS + 1,
	},
};

static void expect_answer(const struct torus_rma_ask *ask, u8 reason, u64 allowed)
{
	u64 reported = ~0ull;
	u8 r = tn_rma_ring_check(&ring, ask, &reported);

	if (r != reason || (r && reported != allowed))
		fail_msg("op %u, flags %u, word 0x%x: reason %u, not %u; allowed %llu, not %llu",
			 ask->op, ask->flags, ask->word, r, reason, (unsigned long long)reported,
			 (unsigned long long)allowed);
}

/* Return: a right request with all members that it may have; they are not 0 if possible. */
static struct torus_rma_ask make_ask(const struct rule *r, u8 flags)
{
	struct torus_rma_ask a = { .op = r->op, .flags = flags, .word = r->word, .cookie = 5 };

	if (r->has & HAS_TARGET) {
		a.node = NODES - 1;
		a.addr = 64;
	}
	if (flags & TORUS_RMA_KEYED) {
		a.region = 17;
		a.key = 18;
	}
	if (r->has & HAS_DATA) {
		a.bytes = 8;
		a.offset = 24;
		a.local = flags & TORUS_RMA_INLINE ? 0 : REGION;
	}
	if (r->has & HAS_OPERANDS || flags & TORUS_RMA_NOTIFY) {
		a.value = 19;
		a.compare = 20;
	}
	if (r->has & HAS_COOKIE)
		a.value = 21;
	return a;
}

static const struct rule *find_rule(unsigned int op)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++)
		if (rules[i].op == op)
			return &rules[i];
	return NULL;
}

static void unknown_operations_are_refused(void **state)
{
	(void)state;
	for (unsigned int op = 0; op < 256; op++) {
		struct torus_rma_ask a = { .op = (u8)op };

		if (!find_rule(op))
			expect_answer(&a, TORUS_RMA_BAD_OP, 0);
	}
}

static void each_operation_has_its_flags_and_no_others(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++) {
		for (unsigned int flags = 0; flags < 256; flags++) {
			bool wrong = flags & ~(unsigned int)rules[i].flags;
			struct torus_rma_ask a = make_ask(&rules[i], (u8)flags);

			expect_answer(&a, wrong ? TORUS_RMA_BAD_FLAGS : 0, rules[i].flags);
		}
	}
}

static void each_operation_has_its_bits_of_word_and_no_others(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++) {
		for (unsigned int bit = 0; bit < 16; bit++) {
			struct torus_rma_ask a = make_ask(&rules[i], 0);
			bool has = rules[i].word >> bit & 1;

			a.word = (u16)(1u << bit);
			expect_answer(&a, has ? 0 : TORUS_RMA_BAD_WORD, rules[i].word);
		}
	}
}

/* Sets one member to @to. Return: false if there is no more member. */
static bool set_member(struct torus_rma_ask *a, unsigned int i, u64 to)
{
	switch (i) {
	case 0: a->node = (u32)to; return true;
	case 1: a->addr = to; return true;
	case 2: a->region = (u32)to; return true;
	case 3: a->key = (u32)to; return true;
	case 4: a->bytes = (u32)to; return true;
	case 5: a->local = (u32)to; return true;
	case 6: a->offset = to; return true;
	case 7: a->value = to; return true;
	case 8: a->compare = to; return true;
	default: return false;
	}
}

/* Return: true if a request with these flags has member @i of set_member(). */
static bool has_member(const struct rule *r, u8 flags, unsigned int i)
{
	bool operands = r->has & HAS_OPERANDS || flags & TORUS_RMA_NOTIFY;

	switch (i) {
	case 0:
	case 1:
		return r->has & HAS_TARGET;
	case 2:
	case 3:
		return flags & TORUS_RMA_KEYED;
	case 4:
	case 6:
		return r->has & HAS_DATA;
	case 5:
		return r->has & HAS_DATA && !(flags & TORUS_RMA_INLINE);
	case 7:
		return operands || r->has & HAS_COOKIE;
	default:
		return operands;
	}
}

static void members_that_operation_does_not_have_must_be_0(void **state)
{
	unsigned int refused = 0;

	(void)state;
	for (unsigned int n = 0; n < ARRAY_SIZE(rules); n++) {
		for (unsigned int flags = 0; flags <= ALL; flags++) {
			struct torus_rma_ask a;

			if (flags & ~(unsigned int)rules[n].flags)
				continue;
			a = make_ask(&rules[n], (u8)flags);
			for (unsigned int i = 0; set_member(&a, i, 1); i++) {
				if (!has_member(&rules[n], (u8)flags, i)) {
					expect_answer(&a, TORUS_RMA_BAD_REST, 0);
					refused++;
				}
				a = make_ask(&rules[n], (u8)flags);
			}
		}
	}
	assert_true(refused > 50);
}

static void node_must_be_in_torus(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rules); i++) {
		struct torus_rma_ask a = make_ask(&rules[i], 0);

		a.node = NODES;
		expect_answer(&a, TORUS_RMA_BAD_NODE, NODES - 1);
		a.node = ~0u;
		expect_answer(&a, TORUS_RMA_BAD_NODE, NODES - 1);
	}
}

static void region_must_fit_in_packet(void **state)
{
	struct torus_rma_ask a = make_ask(find_rule(TORUS_RMA_PUT), TORUS_RMA_KEYED);

	(void)state;
	a.region = (1u << 24) - 1;
	expect_answer(&a, 0, 0);
	a.region++;
	expect_answer(&a, TORUS_RMA_BAD_REGION, (1u << 24) - 1);
}

static void data_must_end_within_address_space(void **state)
{
	struct torus_rma_ask a = make_ask(find_rule(TORUS_RMA_PUT), TORUS_RMA_NOTIFY);

	(void)state;
	a.addr = END - a.bytes;
	expect_answer(&a, 0, 0);
	a.addr++;
	expect_answer(&a, TORUS_RMA_BAD_ADDR, END);
	a.addr = ~0ull;		/* the sum with the bytes is beyond 2^64 */
	expect_answer(&a, TORUS_RMA_BAD_ADDR, END);
	a.addr = 0;
	a.compare = END - 8;	/* address of the flag that the PUT sets */
	expect_answer(&a, 0, 0);
	a.compare++;
	expect_answer(&a, TORUS_RMA_BAD_ADDR, END);
	a = make_ask(find_rule(TORUS_RMA_AMO), 0);
	a.compare = ~0ull;	/* an operand, which is not an address */
	expect_answer(&a, 0, 0);
	a.addr = END;
	expect_answer(&a, TORUS_RMA_BAD_ADDR, END);
}

static void data_must_lie_in_region_of_context(void **state)
{
	static const u8 op[] = { TORUS_RMA_PUT, TORUS_RMA_GET, TORUS_RMA_RECV };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(op); i++) {
		struct torus_rma_ask a = make_ask(find_rule(op[i]), 0);

		a.offset = BYTES - 8;
		expect_answer(&a, 0, 0);
		a.offset++;
		expect_answer(&a, TORUS_RMA_BAD_LOCAL, 0);
		a.offset = 0;
		a.bytes = BYTES;
		expect_answer(&a, 0, 0);
		a.bytes++;
		expect_answer(&a, TORUS_RMA_BAD_LOCAL, 0);
		a.bytes = 1;
		a.local = REGION + 1;
		expect_answer(&a, TORUS_RMA_BAD_LOCAL, 0);
		a.bytes = 0;	/* no data, so no region is needed */
		expect_answer(&a, 0, 0);
	}
}

static void message_must_fit_in_packet(void **state)
{
	struct torus_rma_ask a = make_ask(find_rule(TORUS_RMA_SEND), 0);

	(void)state;
	a.bytes = DATA;
	expect_answer(&a, 0, 0);
	a.bytes++;
	expect_answer(&a, TORUS_RMA_BAD_LENGTH, DATA);
	a.bytes = 8;
	a.addr = END - 1;	/* a name, so its bytes are not added */
	expect_answer(&a, 0, 0);
	a.addr++;
	expect_answer(&a, TORUS_RMA_BAD_ADDR, END);
}

static void half_of_places_may_be_posted_for_messages(void **state)
{
	struct torus_rma_ask a = make_ask(find_rule(TORUS_RMA_RECV), 0);
	struct tn_rma_ring posted = ring;
	u64 allowed;

	(void)state;
	posted.recvs = RECVS - 1;
	assert_int_equal(tn_rma_ring_check(&posted, &a, &allowed), 0);
	posted.recvs++;
	assert_int_equal(tn_rma_ring_check(&posted, &a, &allowed), TORUS_RMA_BAD_COUNT);
	assert_int_equal(allowed, RECVS);
}

static void inline_data_has_8_bytes_at_most(void **state)
{
	struct torus_rma_ask a = make_ask(find_rule(TORUS_RMA_PUT), TORUS_RMA_INLINE);

	(void)state;
	a.offset = ~0ull;	/* the data themselves */
	expect_answer(&a, 0, 0);
	a.bytes = 9;
	expect_answer(&a, TORUS_RMA_BAD_INLINE, 8);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(unknown_operations_are_refused),
		cmocka_unit_test(each_operation_has_its_flags_and_no_others),
		cmocka_unit_test(each_operation_has_its_bits_of_word_and_no_others),
		cmocka_unit_test(members_that_operation_does_not_have_must_be_0),
		cmocka_unit_test(node_must_be_in_torus),
		cmocka_unit_test(region_must_fit_in_packet),
		cmocka_unit_test(data_must_end_within_address_space),
		cmocka_unit_test(data_must_lie_in_region_of_context),
		cmocka_unit_test(message_must_fit_in_packet),
		cmocka_unit_test(half_of_places_may_be_posted_for_messages),
		cmocka_unit_test(inline_data_has_8_bytes_at_most),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
