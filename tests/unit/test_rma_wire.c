// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages of remote memory compared with a second implementation of their document: a table says
 * for each operation which bits are which field, and all others must be zero.
 */
#include "tests/unit/seeds.h"
#include "kernel/core/rma_wire.h"

#define BIT(op)		(1u << TN_RMA_##op)
#define SLOTTED		(BIT(GET) | BIT(FE) | BIT(CANCEL))
#define PLACED		(SLOTTED | BIT(AMO))		/* all of these have flit 1 */
#define MEMORY		(PLACED | BIT(PUT))
#define ORDERED		(MEMORY | BIT(SEND))
#define ALL		(ORDERED | BIT(QUERY) | BIT(RESET))
#define VALUED		(BIT(AMO) | BIT(FE) | BIT(SEND))	/* have flit 2 */

/*
 * Bits of a request; in flit 1 and 2 counted from its beginning. @with: only with this flag;
 * @without: only without it.
 */
static const struct field {
	u8 flit, at, width, with, without;
	u32 ops;
	size_t offset, size;
} fields[] = {
#define F(flit, at, width, with, ops, name)	{ flit, at, width, with, 0, ops,	\
	offsetof(struct tn_rma_ask, name), sizeof(((struct tn_rma_ask *)0)->name) }
/* One half of a member of 32 bits; @high: the second one. */
#define HALF(flit, at, with, without, ops, name, high)	{ flit, at, 16, with, without, ops,	\
	offsetof(struct tn_rma_ask, name) + 2 * (high), 2 }
	F(0, 0, 8, 0, ALL, op), F(0, 8, 8, 0, ALL, flags), F(0, 16, 16, 0, ORDERED, ep),
	F(0, 32, 32, 0, ALL, number), F(0, 64, 48, 0, ORDERED, addr), HALF(0, 112, 0, 0, ORDERED, job, 0),
	F(1, 0, 32, TN_RMA_KEYED, MEMORY, key), F(1, 32, 24, TN_RMA_KEYED, MEMORY, region),
	F(1, 64, 16, 0, ORDERED, slot), HALF(1, 112, TN_RMA_WIDE, 0, ORDERED, job, 1),
	F(1, 80, 3, 0, BIT(FE), fe_op), F(1, 83, 2, 0, BIT(FE), q), F(1, 85, 2, 0, BIT(FE), r),
	F(1, 87, 3, 0, BIT(FE), cmp), F(1, 90, 3, 0, BIT(FE) | BIT(AMO), amo),
	F(1, 93, 2, 0, BIT(FE) | BIT(AMO), type), HALF(1, 96, 0, 0, BIT(GET), bytes, 0),
	HALF(1, 112, 0, TN_RMA_WIDE, BIT(GET), bytes, 1),
	F(2, 0, 64, 0, VALUED | BIT(PUT), value), F(2, 64, 64, 0, VALUED | BIT(PUT), compare),
};

/* Flags that an operation may have. */
static u8 allowed_flags(u32 op)
{
	u32 bit = 1u << op;

	return (u8)((bit & MEMORY ? TN_RMA_KEYED : 0) | (bit & ORDERED ? TN_RMA_WIDE : 0) |
		    (bit & BIT(PUT) ? TN_RMA_NOTIFY : 0) |
		    (bit & (BIT(PUT) | BIT(AMO) | BIT(SEND)) ? TN_RMA_ASK : 0));
}

/* Return: where flit @n of a request is, or -1 if it has none. */
static int place_of(u32 op, u8 flags, unsigned int n)
{
	bool one = 1u << op & PLACED || flags & (TN_RMA_KEYED | TN_RMA_WIDE);
	bool two = 1u << op & VALUED || flags & TN_RMA_NOTIFY;

	if (n == 1)
		return one ? 1 : -1;
	if (n == 2)
		return two ? 1 + one : -1;
	return 0;
}

static u64 read_field(const struct tn_rma_ask *a, const struct field *f)
{
	u64 v = 0;

	memcpy(&v, (const u8 *)a + f->offset, f->size);	/* little endian machines only */
	return v;
}

static void write_field(struct tn_rma_ask *a, const struct field *f, u64 v)
{
	memcpy((u8 *)a + f->offset, &v, f->size);
}

static bool has_field(const struct field *f, u8 op, u8 flags)
{
	return 1u << op & f->ops && place_of(op, flags, f->flit) >= 0 &&
	       (flags & f->with) == f->with && !(flags & f->without);
}

static u64 low_bits(u64 v, unsigned int width)
{
	return width == 64 ? v : v & ((1ull << width) - 1);
}

static struct tn_rma_ask random_ask(struct rnd *r)
{
	struct tn_rma_ask a = { .slot = TN_RMA_POSTED };
	u8 op = (u8)(TN_RMA_PUT + rnd_below(r, 8)), flags = (u8)rnd64(r) & allowed_flags(op);

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (has_field(&fields[i], op, flags))
			write_field(&a, &fields[i], low_bits(rnd64(r), fields[i].width));
	a.op = op;
	a.flags = flags;
	if (flags & TN_RMA_WIDE)
		a.job |= 0x10000;
	if (1u << op & SLOTTED)
		a.slot %= TN_RMA_POSTED;
	if (op == TN_RMA_PUT || op == TN_RMA_SEND || (op == TN_RMA_AMO && rnd_one_in(r, 2)))
		a.slot = TN_RMA_POSTED;
	return a;
}

/* Writes the request by the document. Return: bytes. */
static u32 put_by_document(u8 *flits, const struct tn_rma_ask *a)
{
	u32 bytes = TN_RMA_FLIT;

	memset(flits, 0, TN_RMA_HEAD_MAX);
	for (unsigned int n = 1; n < 3; n++)
		bytes += place_of(a->op, a->flags, n) >= 0 ? TN_RMA_FLIT : 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];

		for (unsigned int b = 0; b < f->width && has_field(f, a->op, a->flags); b++) {
			unsigned int at = (unsigned int)place_of(a->op, a->flags, f->flit) * 128 +
					  f->at + b;

			flits[at / 8] |= (u8)((read_field(a, f) >> b & 1) << at % 8);
		}
	}
	return bytes;
}

/* Return: bytes before the data of what has arrived, 0: the document does not allow it. */
static u32 judge_by_document(const u8 *p, u32 len)
{
	u8 again[TN_RMA_HEAD_MAX];
	struct tn_rma_ask a = { .slot = TN_RMA_POSTED };
	u32 head;

	if (len < TN_RMA_FLIT || p[0] < 1 || p[0] > 8 || p[1] & ~allowed_flags(p[0]))
		return 0;
	a.op = p[0];
	a.flags = p[1];
	head = put_by_document(again, &a);
	if (len < head || (len > head && !(1u << a.op & (BIT(PUT) | BIT(SEND)))))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const struct field *f = &fields[i];
		u64 v = 0;

		for (unsigned int b = 0; b < f->width && has_field(f, a.op, a.flags); b++) {
			unsigned int at = (unsigned int)place_of(a.op, a.flags, f->flit) * 128 +
					  f->at + b;

			v |= (u64)(p[at / 8] >> at % 8 & 1) << b;
		}
		if (has_field(f, a.op, a.flags))
			write_field(&a, f, v);
	}
	put_by_document(again, &a);
	if (memcmp(again, p, head))
		return 0;	/* a bit that is no field's is set */
	if (1u << a.op & SLOTTED ? a.slot == TN_RMA_POSTED :
	    a.op != TN_RMA_AMO && a.slot != TN_RMA_POSTED)
		return 0;
	if (a.flags & TN_RMA_WIDE && !(a.job >> 16))
		return 0;
	return head;
}

static void test_ask_seed(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct tn_rma_ask a = random_ask(&r), b;
	u8 product[TN_RMA_HEAD_MAX + 8] = { 0 }, own[TN_RMA_HEAD_MAX];
	u32 head = tn_rma_ask_put(product, &a);

	expect(&r, head == put_by_document(own, &a), "op %u: %u bytes", a.op, head);
	expect(&r, !memcmp(product, own, head), "op %u", a.op);
	expect(&r, tn_rma_ask_get(product, head, &b) == head, "op %u", a.op);
	expect(&r, !memcmp(&a, &b, sizeof(a)), "op %u", a.op);

	/* Each bit wrong, and each length. */
	for (unsigned int bit = 0; bit < head * 8; bit++) {
		product[bit / 8] ^= (u8)(1u << bit % 8);
		for (u32 len = head - TN_RMA_FLIT; len <= head + TN_RMA_FLIT / 2; len += 8)
			expect(&r, tn_rma_ask_get(product, len, &b) ==
			       judge_by_document(product, len),
			       "op %u, bit %u, %u bytes", a.op, bit, len);
		product[bit / 8] ^= (u8)(1u << bit % 8);
	}
	for (u32 len = 0; len <= sizeof(product); len++)
		expect(&r, tn_rma_ask_get(product, len, &b) == judge_by_document(product, len),
		       "op %u, %u bytes", a.op, len);
}

static void random_request_is_read_as_written(void **state)
{
	(void)state;
	for_seeds(300, test_ask_seed);
}

/* The sizes that the document promises for 8 bytes; header and tail are two flits more. */
static void sizes_are_those_of_document(void **state)
{
	struct tn_rma_ask put = { .op = TN_RMA_PUT };
	u8 flits[TN_RMA_HEAD_MAX];

	(void)state;
	assert_int_equal(tn_rma_ask_put(flits, &put) + 16 + 2 * 16, 64);
	put.flags = TN_RMA_KEYED;
	assert_int_equal(tn_rma_ask_put(flits, &put) + 16 + 2 * 16, 80);
}

/* Return: true if the document allows this reply. */
static bool reply_allowed(const u8 *p, u32 len)
{
	u16 slot = (u16)(p[2] | p[3] << 8);
	bool empty = true;

	for (int i = 8; i < 16; i++)
		empty &= !p[i];
	if (len < 16 || (len > 16 && p[0] != TN_RMA_DATA && p[0] != TN_RMA_STATUS))
		return false;
	switch (p[0]) {
	case TN_RMA_DATA: return !p[1] && slot != 0xffff && empty;
	case TN_RMA_OLD: return !p[1] && slot != 0xffff;
	case TN_RMA_ACK: return !p[1] && slot == 0xffff && !p[12] && !p[13] && !p[14] && !p[15];
	case TN_RMA_NAK: return p[1] >= TN_RMA_BAD && p[1] <= TN_RMA_CANCELLED;
	case TN_RMA_STATUS:
		for (int i = 20; i < 32 && len == 32; i++)
			if (p[i])
				return false;
		return len == 32 && (p[1] == TN_RMA_QUERY || p[1] == TN_RMA_RESET);
	default: return false;
	}
}

static void test_reply_seed(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	struct tn_rma_reply a = {
		.op = (u8)(TN_RMA_DATA + rnd_below(&r, 6)), .why = (u8)rnd_below(&r, 16),
		.slot = rnd_one_in(&r, 3) ? TN_RMA_POSTED : (u16)rnd64(&r),
		.number = (u32)rnd64(&r), .value = rnd_one_in(&r, 2) ? 0 : rnd64(&r),
	}, b;
	bool counts = a.op == TN_RMA_ACK || a.op == TN_RMA_STATUS;
	u8 flit[33] = { 0 };
	u32 put;

	a.refused = counts ? (u32)rnd64(&r) : 0;
	if (a.op == TN_RMA_ACK)
		a.value = a.refused;
	put = tn_rma_reply_put(flit, &a);
	expect(&r, put == (a.op == TN_RMA_STATUS ? 32 : 16), "op %u: %u bytes", a.op, put);
	if (a.op == TN_RMA_STATUS && rnd_one_in(&r, 2))
		flit[16 + rnd_below(&r, 16)] ^= (u8)(1u << rnd_below(&r, 8));
	if (a.op == TN_RMA_STATUS)	/* as it is now */
		a.refused = (u32)(flit[16] | flit[17] << 8 | flit[18] << 16) |
			    (u32)flit[19] << 24;
	if (a.op == TN_RMA_ACK && rnd_one_in(&r, 2)) {
		flit[12] = (u8)rnd64(&r);
		a.value |= (u64)flit[12] << 32;
	}
	for (int i = 0; i < 8; i++) {
		expect(&r, i > 3 || flit[4 + i] == (u8)(a.number >> 8 * i), "%d", i);
		expect(&r, flit[8 + i] == (u8)(a.value >> 8 * i), "%d", i);
	}
	expect(&r, flit[0] == a.op && flit[1] == a.why, "op %u", a.op);
	expect(&r, (flit[2] | flit[3] << 8) == a.slot, "op %u", a.op);
	for (u32 len = 0; len <= sizeof(flit); len++) {
		bool right = tn_rma_reply_get(flit, len, &b);

		expect(&r, right == reply_allowed(flit, len), "op %u, %u bytes", a.op, len);
		expect(&r, !right || (a.op == b.op && a.why == b.why && a.slot == b.slot &&
		       a.number == b.number && a.value == b.value && a.refused == b.refused),
		       "op %u", a.op);
	}
}

static void random_reply_is_read_as_written(void **state)
{
	(void)state;
	for_seeds(5000, test_reply_seed);
}

/* Well-formed replies, and those that differ from one of them in one bit. */
static void each_bit_of_reply_is_checked(void **state)
{
	static const struct tn_rma_reply reply[] = {
		{ .op = TN_RMA_DATA }, { .op = TN_RMA_OLD, .value = 7 },
		{ .op = TN_RMA_ACK, .slot = TN_RMA_POSTED, .refused = 7 },
		{ .op = TN_RMA_NAK, .why = TN_RMA_BAD }, { .op = TN_RMA_STATUS, .why = TN_RMA_RESET },
	};
	struct tn_rma_reply got;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		u8 flit[32] = { 0 };
		u32 len = tn_rma_reply_put(flit, &reply[i]);

		assert_true(tn_rma_reply_get(flit, len, &got));
		for (u32 bit = 0; bit < 8 * len; bit++) {
			flit[bit / 8] ^= (u8)(1u << bit % 8);
			if (tn_rma_reply_get(flit, len, &got) != reply_allowed(flit, len))
				fail_msg("operation %u, bit %u", reply[i].op, bit);
			flit[bit / 8] ^= (u8)(1u << bit % 8);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_request_is_read_as_written),
		cmocka_unit_test(sizes_are_those_of_document),
		cmocka_unit_test(random_reply_is_read_as_written),
		cmocka_unit_test(each_bit_of_reply_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
