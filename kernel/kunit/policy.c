// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each attribute of each command at its limits, checked by the kernel's own validation: a value at
 * the limit of the ABI passes, the next value beyond is refused, and the error names the attribute.
 * The limits are those of the ABI's rules.
 */
#include "lab.h"

#include "../req/policy.h"

/* An attribute, and the bounds of its value. */
struct edge {
	unsigned int type;
	enum torus_kind kind;
	u64 min, max;
};

static bool next_edge(const struct torus_set *set, struct edge *e)
{
	while (++e->type <= set->max) {
		const struct torus_rule *r = &set->rules[e->type];

		*e = (struct edge) { e->type, r->kind, r->min, r->max };
		if (e->kind)
			return true;
	}
	return false;
}

#define for_each_edge(e, set) for (struct edge e##_ = { 0 }, *e = &e##_; next_edge(set, e); )

/* All commands that a request may ask for. */
#define for_each_cmd(i)							\
	for (unsigned int i = 1; i <= TORUS_CMD_MAX; i++)		\
		if (torus_attrs_has(&torus_scopes[i].allowed, TORUS_A_IFINDEX))

static bool allowed(unsigned int cmd, const struct edge *e)
{
	return torus_attrs_has(&torus_scopes[cmd].allowed, e->type);
}

static bool required(unsigned int cmd, unsigned int type)
{
	return torus_attrs_has(&torus_scopes[cmd].required, type);
}

/* Return: bytes of one value of @kind. A copy of the table in req/policy.c, to check it. */
static unsigned int width(enum torus_kind kind)
{
	static const u8 bytes[] = {
		[TORUS_U8] = 1,	   [TORUS_U16] = 2,  [TORUS_U32] = 4,  [TORUS_U64] = 8,
		[TORUS_BYTES] = 1, [TORUS_U16S] = 2, [TORUS_U32S] = 4, [TORUS_U64S] = 8,
	};

	return kind < ARRAY_SIZE(bytes) ? bytes[kind] : 0;
}

static bool is_number(enum torus_kind kind)
{
	return kind >= TORUS_U8 && kind <= TORUS_U64;
}

static void put_zeros(struct sk_buff *skb, unsigned int type, unsigned int bytes)
{
	struct nlattr *a = nla_reserve(skb, (int)type, (int)bytes);

	if (a)
		memset(nla_data(a), 0, bytes);
}

/* Puts an attribute with the value @v, or with that many letters or entries. */
static void put_edge(struct sk_buff *skb, const struct edge *e, u64 v)
{
	struct nlattr *nest;

	if (is_number(e->kind)) {
		nla_put(skb, (int)e->type, (int)width(e->kind), &v);
	} else if (e->kind == TORUS_TEXT) {
		put_zeros(skb, e->type, (unsigned int)v + 1);
		memset(skb_tail_pointer(skb) - NLA_ALIGN(v + 1), 'x', v);
	} else if (e->kind == TORUS_NEST) {
		nest = nla_nest_start(skb, (int)e->type);
		if (e->type == TORUS_A_ROWS) {
			nla_put_u32(skb, TORUS_ROWS_FIRST, 0);
			put_zeros(skb, TORUS_ROWS_DATA, sizeof(u64));
		}
		nla_nest_end(skb, nest);
	} else {
		put_zeros(skb, e->type, (unsigned int)v * width(e->kind));
	}
}

/* Return: a request with all attributes that @cmd needs, except @but. */
static struct sk_buff *request(struct kunit *test, unsigned int i, unsigned int but)
{
	struct sk_buff *skb = lab_msg((u8)i);

	KUNIT_ASSERT_NOT_NULL(test, skb);
	for_each_edge(e, &torus_set_torus)
		if (e->type != but && required(i, e->type))
			put_edge(skb, e, e->min ?: e->kind != TORUS_FLAG);
	return skb;
}

static int with(struct kunit *test, unsigned int i, const struct edge *e, u64 v, unsigned int *bad)
{
	struct sk_buff *skb = request(test, i, e->type);

	put_edge(skb, e, v);
	return lab_send(NULL, skb, bad);
}

static bool fits(const struct edge *e, u64 v)
{
	return v * width(e->kind) <= TORUS_MSG_MAX - 512;
}

static void values_outside_their_bounds_are_refused(struct kunit *test)
{
	unsigned int bad;

	for_each_cmd(i) {
		for_each_edge(e, &torus_set_torus) {
			u64 top = is_number(e->kind) ? ~0ull >> (64 - 8 * width(e->kind)) : ~0ull;

			if (!allowed(i, e) ||
			    e->kind == TORUS_NEST || e->kind == TORUS_FLAG)
				continue;
			KUNIT_EXPECT_EQ_MSG(test, with(test, i, e, e->min, NULL), 0,
					    "cmd %u attr %u min", i, e->type);
			if (e->min) {
				KUNIT_EXPECT_NE_MSG(test, with(test, i, e, e->min - 1, &bad), 0,
						    "cmd %u attr %u", i, e->type);
				KUNIT_EXPECT_EQ(test, bad, e->type);
			}
			if (!is_number(e->kind) && !fits(e, e->max + 1))
				continue;
			KUNIT_EXPECT_EQ_MSG(test, with(test, i, e, e->max, NULL), 0,
					    "cmd %u attr %u max", i, e->type);
			if (e->max < top) {
				KUNIT_EXPECT_NE_MSG(test, with(test, i, e, e->max + 1, &bad), 0,
						    "cmd %u attr %u", i, e->type);
				KUNIT_EXPECT_EQ(test, bad, e->type);
			}
		}
	}
}

static void attributes_of_wrong_length_are_refused(struct kunit *test)
{
	for_each_edge(e, &torus_set_torus) {
		unsigned int bad, i = 1;

		while (i <= TORUS_CMD_MAX && !allowed(i, e))
			i++;
		if (width(e->kind) < 2 || i > TORUS_CMD_MAX)
			continue;
		for (int off = -1; off <= (is_number(e->kind) ? -1 : 1); off += 2) {
			struct sk_buff *skb = request(test, i, e->type);

			put_zeros(skb, e->type,
				  width(e->kind) * (is_number(e->kind) ? 1 : 2) + off);
			KUNIT_EXPECT_NE_MSG(test, lab_send(NULL, skb, &bad), 0,
					    "attr %u, %d bytes off", e->type, off);
			KUNIT_EXPECT_EQ(test, bad, e->type);
		}
	}
}

static void attributes_of_other_commands_are_refused(struct kunit *test)
{
	unsigned int bad, refused = 0;

	for_each_cmd(i) {
		for_each_edge(e, &torus_set_torus) {
			if (allowed(i, e))
				continue;
			KUNIT_EXPECT_EQ_MSG(test, with(test, i, e, e->min, &bad), -EINVAL,
					    "cmd %u attr %u", i, e->type);
			KUNIT_EXPECT_EQ(test, bad, e->type);
			refused++;
		}
	}
	KUNIT_EXPECT_GT(test, refused, 100u);
}

static void missing_required_attributes_are_refused(struct kunit *test)
{
	unsigned int bad;

	for_each_cmd(i) {
		KUNIT_EXPECT_EQ_MSG(test, lab_send(NULL, request(test, i, 0), NULL), 0,
				    "cmd %u", i);
		for (unsigned int type = 1; type <= TORUS_A_MAX; type++) {
			if (!required(i, type))
				continue;
			KUNIT_EXPECT_EQ_MSG(test,
					    lab_send(NULL, request(test, i, type), &bad),
					    -EINVAL, "cmd %u without %u", i, type);
			KUNIT_EXPECT_EQ(test, bad, type);
		}
	}
}

static void attributes_that_come_twice_are_refused(struct kunit *test)
{
	for_each_cmd(i) {
		for_each_edge(e, &torus_set_torus) {
			struct sk_buff *skb;
			unsigned int bad;

			if (!allowed(i, e))
				continue;
			skb = request(test, i, e->type);
			put_edge(skb, e, e->min);
			put_edge(skb, e, e->min);
			KUNIT_EXPECT_EQ_MSG(test, lab_send(NULL, skb, &bad),
					    e->type == TORUS_A_ROWS ? 0 : -EINVAL,
					    "cmd %u attr %u", i, e->type);
			KUNIT_EXPECT_EQ(test, bad, e->type == TORUS_A_ROWS ? 0 : e->type);
		}
	}
}

static int with_fault(struct kunit *test, const struct edge *e, u64 v)
{
	struct sk_buff *skb = lab_msg(TORUS_CMD_LINK_SET);
	struct nlattr *nest;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put_u8(skb, TORUS_A_PORT, 0);
	nest = nla_nest_start(skb, TORUS_A_FAULT);
	put_edge(skb, e, v);
	nla_nest_end(skb, nest);
	return lab_send(NULL, skb, NULL);
}

static void nested_values_outside_their_bounds_are_refused(struct kunit *test)
{
	for_each_edge(e, &torus_set_fault) {
		KUNIT_EXPECT_EQ_MSG(test, with_fault(test, e, e->min), 0, "fault %u", e->type);
		KUNIT_EXPECT_EQ_MSG(test, with_fault(test, e, e->max), 0, "fault %u", e->type);
		if (e->max != ~0ull)
			KUNIT_EXPECT_EQ_MSG(test, with_fault(test, e, e->max + 1), -ERANGE,
					    "fault %u", e->type);
	}
}

/*
 * The data of a management packet may have any content, even bytes that would be refused as
 * attributes.
 */
static void data_of_management_packet_may_be_anything(struct kunit *test)
{
	struct sk_buff *skb = lab_msg(TORUS_CMD_MGMT_SEND);
	struct nlattr *data;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put_u8(skb, TORUS_A_PORT, 0);
	data = nla_nest_start_noflag(skb, TORUS_A_DATA);
	nla_put_u8(skb, TORUS_FAULT_SILENCE, 1);
	nla_put_u8(skb, TORUS_FAULT_SILENCE, 1);
	nla_nest_end(skb, data);
	KUNIT_EXPECT_EQ(test, lab_send(NULL, skb, NULL), 0);
}

static void text_without_end_is_refused(struct kunit *test)
{
	static const char inside[] = "a\0b", unended[] = { 'a', 'b' };
	struct sk_buff *skb = lab_msg(TORUS_CMD_DEVICE_GET);
	unsigned int bad;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put(skb, TORUS_A_NAME, sizeof(inside), inside);
	KUNIT_EXPECT_EQ(test, lab_send(NULL, skb, &bad), -EINVAL);
	KUNIT_EXPECT_EQ(test, bad, (unsigned int)TORUS_A_NAME);
	skb = lab_msg(TORUS_CMD_DEVICE_GET);
	KUNIT_ASSERT_NOT_NULL(test, skb);
	nla_put(skb, TORUS_A_NAME, sizeof(unended), unended);
	KUNIT_EXPECT_NE(test, lab_send(NULL, skb, &bad), 0);
	KUNIT_EXPECT_EQ(test, bad, (unsigned int)TORUS_A_NAME);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(values_outside_their_bounds_are_refused),
	KUNIT_CASE(attributes_of_wrong_length_are_refused),
	KUNIT_CASE(attributes_of_other_commands_are_refused),
	KUNIT_CASE(missing_required_attributes_are_refused),
	KUNIT_CASE(attributes_that_come_twice_are_refused),
	KUNIT_CASE(nested_values_outside_their_bounds_are_refused),
	KUNIT_CASE(data_of_management_packet_may_be_anything),
	KUNIT_CASE(text_without_end_is_refused),
	{}
};

struct kunit_suite torus_policy_suite = { .name = "torus-policy", .test_cases = cases };
