// SPDX-License-Identifier: GPL-2.0-only
/*
 * Structs of replies put into messages and parsed from them. The manager must read what the NIC
 * put, member by member; and no message, however damaged, may be read beyond its end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "kernel/req/tree.h"
#include "tests/unit/random.h"

static union {
	u8 bytes[4096];
	u32 aligned;
	struct torus_device device;
	struct torus_link link;
	struct torus_flow flow;
	struct torus_park park;
	struct torus_eye eye;
	struct torus_park_flows park_flows;
} in, out;

static const struct tree {
	const char *name;
	const struct torus_tree *tree;
} trees[] = {
	{ "device", &torus_tree_device_get }, { "link", &torus_tree_link_get },
	{ "link event", &torus_tree_link_ntf }, { "flow", &torus_tree_flow_get },
	{ "park", &torus_tree_park_get }, { "eye", &torus_tree_eye_get },
	{ "park flows", &torus_tree_park_flows_get },
};

#define for_each_tree(t) for (const struct tree *t = trees; t < trees + ARRAY_SIZE(trees); t++)

static u32 buf[1024];
static struct torus_refusal why;
static struct torus_attrs seen;
static uint64_t rng;

static u64 draw(u64 n)
{
	return random_next(&rng) % n;
}

/* Fills in a value that the rule allows, or any if it is not checked. */
static void fill(const struct torus_tree *t, u8 *to)
{
	for (unsigned int i = 0; i < t->fields; i++) {
		const struct torus_field *f = &t->field[i];
		const struct torus_rule *r = &t->set->rules[f->attr];
		u64 v = r->min + draw(r->max - r->min ? r->max - r->min + (r->max != ~0ULL) : 1);

		if (r->kind == TORUS_NEST && f->nest && !f->size) {
			fill(f->nest, to);
		} else if (r->kind == TORUS_NEST && f->nest) {
			to[f->count] = (u8)draw(f->size / f->nest->size + 1);
			for (unsigned int n = 0; n < to[f->count]; n++)
				fill(f->nest, to + f->at + n * f->nest->size);
		} else if (torus_is_number(r->kind)) {
			memcpy(to + f->at, &v, f->size);
		} else if (r->kind == TORUS_TEXT) {
			memset(to + f->at, 'a' + (int)draw(26), (size_t)(v < f->size ? v : f->size - 1u));
		} else {
			if (f->counted && !to[f->count])
				to[f->count] = (u8)v;
			for (unsigned int n = 0; n < f->size; n++)
				if (!f->counted || n < to[f->count] * torus_kind_width(r->kind))
					to[f->at + n] = (u8)draw(256);
		}
	}
}

static int put(const struct tree *t)
{
	return torus_tree_put(t->tree, NULL, &in, buf, sizeof(buf));
}

static int parse(const struct tree *t, const void *from, size_t len)
{
	memset(&out, 0, sizeof(out));
	return torus_tree_parse(t->tree, (struct torus_span) { from, len }, &out, &seen, &why);
}

static void fill_all(const struct tree *t)
{
	memset(&in, 0, sizeof(in));
	fill(t->tree, in.bytes);
}

static void parsed_tree_equals_written_one(void **state)
{
	(void)state;
	for_each_tree(t) {
		for (unsigned int i = 0; i < 200; i++) {
			rng = i;
			fill_all(t);
			if (parse(t, buf, (size_t)put(t)) || memcmp(&in, &out, t->tree->size))
				fail_msg("%s, seed %u: %s", t->name, i, why.text);
			for (unsigned int f = 0; f < t->tree->fields; f++)
				assert_true(torus_attrs_has(&seen, t->tree->field[f].attr));
		}
	}
}

/* With less room nothing is written behind it. */
static void tree_without_room_writes_nothing_after_it(void **state)
{
	(void)state;
	for_each_tree(t) {
		int n;

		rng = 1;
		fill_all(t);
		n = put(t);
		assert_in_range(n, 16, sizeof(buf));
		for (int room = 0; room < n; room++) {
			memset(buf, 0x5a, sizeof(buf));
			assert_int_equal(torus_tree_put(t->tree, NULL, &in, buf, (size_t)room), -EMSGSIZE);
			assert_int_equal(((u8 *)buf)[room], 0x5a);
		}
		assert_int_equal(torus_tree_put(t->tree, NULL, &in, buf, (size_t)n), n);
	}
}

/*
 * Parses damaged messages, each in memory of its own, so that a sanitizer notices reads behind it.
 */
static void damaged_tree_is_read_within_its_length(void **state)
{
	(void)state;
	for_each_tree(t) {
		size_t len;

		rng = 2;
		fill_all(t);
		len = (size_t)put(t);
		for (size_t n = 0; n < len; n += 1 + draw(3)) {
			u8 *copy = malloc(n + 1);

			assert_non_null(copy);
			memcpy(copy, buf, n);
			if (n)
				copy[draw(n)] ^= (u8)(1 << draw(8));
			assert_true(parse(t, copy, n) == 0 || *why.text);
			free(copy);
		}
	}
}

static size_t one(unsigned int type, const void *value, size_t n)
{
	struct nlattr a = { .nla_len = (u16)(NLA_HDRLEN + n), .nla_type = (u16)type };
	u8 *to = (u8 *)buf;

	memset(buf, 0, sizeof(buf));
	for (size_t i = 0; i < n; i++)
		to[NLA_HDRLEN + i] = ((const u8 *)value)[i];
	memcpy(buf, &a, sizeof(a));
	return (NLA_HDRLEN + n + 3) / 4 * 4;
}

static void value_beyond_limits_is_refused(void **state)
{
	static const struct {
		unsigned int type;
		size_t len;
		u8 value[12];
		const char *text;
	} t[] = {
		{ TORUS_A_STATE, 1, { TORUS_LINK_STATES }, "STATE is 6, must be 0 to 5" },
		{ TORUS_A_RETRY, 1, { TORUS_RETRIES }, "RETRY is 4, must be 0 to 3" },
		{ TORUS_A_PORT, 1, { TORUS_MAX_PORTS }, "PORT is 12, must be 0 to 11" },
		{ TORUS_A_SEQ, 1, { 0 }, "SEQ has 1 bytes, must have 2" },
		{ TORUS_A_SEQ, 2, { 0xff, 0xff }, "PORT is missing" },
		{ TORUS_A_PORT, 1, { 3 }, "STATE is missing" },
		{ TORUS_A_MAX + 7, 1, { 3 }, "PORT is missing" },
		{ TORUS_A_EYE, 1, { 3 }, "PORT is missing" },
		{ TORUS_A_LOWER, 3, "abc", "LOWER must end with a NUL, and have no other" },
		{ TORUS_A_FAULT, 5, { 5, 0, TORUS_FAULT_BER, 0, 1 }, "FAULT.BER has 1 bytes, must have 8" },
		{ TORUS_A_GAUGES, 5, { 5, 0, 1, 0, 1 }, "GAUGES: counter 1 has 1 bytes" },
		{ TORUS_A_GAUGES, 5, { 5, 0, 255, 0, 1 }, "PORT is missing" },
		{ TORUS_A_LANES, 4, { 4, 0, 2, 0 }, "LANES has entry 2 after 0, must have at most 12 in order" },
		{ TORUS_A_LANES, 9, { 9, 0, 1, 0, 5, 0, TORUS_LANE_A_STATE, 0, 9 },
		  "LANE.STATE is 9, must be 0 to 3" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(t); i++) {
		assert_int_equal(parse(&trees[1], buf, one(t[i].type, t[i].value, t[i].len)), -EBADMSG);
		assert_string_equal(why.text, t[i].text);
	}
}

/* A device without place, netdev or name does not mention them. */
static void values_that_device_lacks_are_left_out(void **state)
{
	static const struct torus_attrs node = { {
		[TORUS_A_NODE / 64] = 1ULL << TORUS_A_NODE % 64
	} };
	static const unsigned int left_out[] = {
		TORUS_A_IFINDEX, TORUS_A_IFNAME, TORUS_A_NAME, TORUS_A_SHAPE, TORUS_A_COORDS, TORUS_A_NODE,
	};
	int n;

	(void)state;
	memset(&in, 0, sizeof(in));
	n = torus_tree_put(&torus_tree_device_get, &node, &in, buf, sizeof(buf));
	assert_int_equal(parse(&trees[0], buf, (size_t)n), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(left_out); i++)
		assert_false(torus_attrs_has(&seen, left_out[i]));
	assert_true(torus_attrs_has(&seen, TORUS_A_GUID));
	assert_true(torus_attrs_has(&seen, TORUS_A_DRIVER));
}

/* A reply is malformed if SHAPE and COORDS have different lengths, or a flag is neither 0 nor 1. */
static void shape_and_coords_of_different_length_are_refused(void **state)
{
	static const u16 three[] = { 4, 4, 4 };
	static const u8 two = 2;
	size_t n;

	(void)state;
	n = one(TORUS_A_SHAPE, three, sizeof(three));
	memcpy((u8 *)buf + n, buf, n);
	((struct nlattr *)((u8 *)buf + n))->nla_type = TORUS_A_COORDS;
	((struct nlattr *)((u8 *)buf + n))->nla_len -= 2;
	assert_int_equal(parse(&trees[0], buf, 2 * n), -EBADMSG);
	assert_string_equal(why.text, "COORDS has 2 entries, not 3");
	parse(&trees[1], buf, one(TORUS_A_ADMIN, &two, 1));
	assert_int_equal(out.bytes[offsetof(struct torus_link, admin)], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parsed_tree_equals_written_one),
		cmocka_unit_test(tree_without_room_writes_nothing_after_it),
		cmocka_unit_test(damaged_tree_is_read_within_its_length),
		cmocka_unit_test(value_beyond_limits_is_refused),
		cmocka_unit_test(values_that_device_lacks_are_left_out),
		cmocka_unit_test(shape_and_coords_of_different_length_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
