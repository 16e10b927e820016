// SPDX-License-Identifier: GPL-2.0-only
/*
 * The check of requests that torus.ko, torusemu and libtorus share: each attribute of each command
 * at its limits, and what no limit says. If it let something wrong pass, commands would read beyond
 * attributes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "kernel/req/policy.h"

static u8 buf[70000];
static size_t used;
static struct torus_refusal why;

static void *put(unsigned int type, const void *data, size_t len)
{
	struct nlattr a = { .nla_len = (u16)(NLA_HDRLEN + len), .nla_type = (u16)type };
	u8 *at = buf + used;

	memcpy(at, &a, sizeof(a));
	memset(at + sizeof(a), 0, len);
	for (size_t i = 0; data && i < len; i++)
		at[sizeof(a) + i] = ((const u8 *)data)[i];
	used += (sizeof(a) + len + 3) / 4 * 4;
	return at;
}

/* Puts the value @v; for a text or an array: as many letters or entries. */
static void put_value(unsigned int type, const struct torus_rule *r, u64 v)
{
	unsigned int width = torus_kind_width(r->kind);
	size_t start = used, first;

	switch (r->kind) {
	case TORUS_TEXT:
		put(type, NULL, v + 1);
		memset(buf + start + sizeof(struct nlattr), 'x', v);
		break;
	case TORUS_NEST:
		put(type, NULL, 0);
		for (unsigned int t = 1; r->nest && t <= r->nest->max; t++) {
			first = used;
			if (torus_attrs_has(&r->nest->required, t))
				put_value(t, &r->nest->rules[t], 1);
			((struct nlattr *)(buf + start))->nla_len += (u16)(used - first);
		}
		break;
	case TORUS_FLAG:
		put(type, NULL, 0);
		break;
	case TORUS_U8:
	case TORUS_U16:
	case TORUS_U32:
	case TORUS_U64:
		put(type, &v, width);
		break;
	default:
		put(type, NULL, v * width);
	}
}

static const struct torus_rule *rule(unsigned int type)
{
	return &torus_set_torus.rules[type];
}

static int check_as(unsigned int cmd, bool dump)
{
	return torus_check_request(cmd, dump, (struct torus_span) { buf, used }, NULL, &why);
}

/* Begins a request with all attributes that @cmd needs, but @but. */
static void begin(unsigned int cmd, unsigned int but)
{
	used = 0;
	for (unsigned int t = 1; t <= TORUS_A_MAX; t++)
		if (t != but && torus_attrs_has(&torus_scopes[cmd].required, t))
			put_value(t, rule(t), rule(t)->min ? rule(t)->min : 1);
}

/* Makes @cmd with attribute @type of value @v. Return: what the check says. */
static int with(unsigned int cmd, unsigned int type, u64 v)
{
	begin(cmd, type);
	put_value(type, rule(type), v);
	return check_as(cmd, false);
}

static bool is_number(unsigned int type)
{
	return rule(type)->kind >= TORUS_U8 && rule(type)->kind <= TORUS_U64;
}

static void refused(int err, int want, unsigned int type)
{
	assert_int_equal(err, want);
	assert_non_null(why.attr);
	assert_int_equal(torus_attr_type(why.attr), type);
	assert_non_null(strstr(why.text, rule(type)->name));
}

static void check_limits(unsigned int cmd, unsigned int type)
{
	const struct torus_rule *r = rule(type);
	int range = is_number(type) ? -ERANGE : -EINVAL;
	u64 top = is_number(type) ? ~0ull >> (64 - 8 * torus_kind_width(r->kind)) :
		  60000 / (torus_kind_width(r->kind) ? torus_kind_width(r->kind) : 1);

	if (r->kind == TORUS_FLAG || r->kind == TORUS_NEST)
		return;
	assert_int_equal(with(cmd, type, r->min), 0);
	if (r->min)
		refused(with(cmd, type, r->min - 1), range, type);
	if (r->max > top)
		return;
	assert_int_equal(with(cmd, type, r->max), 0);
	if (r->max < top)
		refused(with(cmd, type, r->max + 1), range, type);
}

static void each_attribute_has_its_limits_and_commands(void **state)
{
	unsigned int allowed = 0, others = 0;

	(void)state;
	for (unsigned int cmd = 1; cmd <= TORUS_CMD_MAX; cmd++) {
		for (unsigned int type = 1; type <= TORUS_A_MAX; type++) {
			if (!rule(type)->name)
				continue;
			if (torus_attrs_has(&torus_scopes[cmd].allowed, type)) {
				check_limits(cmd, type);
				allowed++;
			} else {
				refused(with(cmd, type, rule(type)->min), -EINVAL, type);
				assert_non_null(strstr(why.text, "is not allowed in "));
				others++;
			}
		}
	}
	assert_in_range(allowed, 40, 200);
	assert_in_range(others, 500, 3000);
}

static void attribute_of_wrong_length_is_refused(void **state)
{
	static const u8 zeros[16];

	(void)state;
	for (unsigned int type = 1; type <= TORUS_A_MAX; type++) {
		unsigned int width = torus_kind_width(rule(type)->kind), n = is_number(type) ? 1 : 2;
		struct nlattr *a;

		if (width < 2)
			continue;
		for (int off = -1; off <= 1; off += 2) {
			used = 0;
			a = put(type, zeros, n * width + (unsigned int)off);
			assert_int_equal(torus_check_value(a, rule(type), "IN.", &why), -EINVAL);
			assert_non_null(strstr(why.text, "IN."));
			assert_ptr_equal(why.attr, a);
		}
	}
	used = 0;
	assert_int_equal(torus_check_value(put(TORUS_A_GIVE_UP, zeros, 1), rule(TORUS_A_GIVE_UP),
					   "", &why), -EINVAL);
}

static void missing_required_attribute_is_named(void **state)
{
	unsigned int n = 0;

	(void)state;
	for (unsigned int cmd = 1; cmd <= TORUS_CMD_MAX; cmd++) {
		for (unsigned int type = 1; type <= TORUS_A_MAX; type++) {
			if (!torus_attrs_has(&torus_scopes[cmd].required, type))
				continue;
			begin(cmd, type);
			assert_int_equal(check_as(cmd, false), -EINVAL);
			assert_int_equal(why.missing, type);
			assert_null(why.attr);
			n++;
		}
		if (torus_attrs_has(&torus_scopes[cmd].allowed, TORUS_A_NAME)) {
			begin(cmd, 0);
			assert_int_equal(check_as(cmd, false), 0);
		}
	}
	assert_in_range(n, 15, 40);
}

static void attribute_that_comes_twice_is_refused(void **state)
{
	(void)state;
	for (unsigned int cmd = 1; cmd <= TORUS_CMD_MAX; cmd++) {
		for (unsigned int type = 1; type <= TORUS_A_MAX; type++) {
			if (!torus_attrs_has(&torus_scopes[cmd].allowed, type))
				continue;
			with(cmd, type, rule(type)->min);
			put_value(type, rule(type), rule(type)->min);
			if (type == TORUS_A_ROWS)
				assert_int_equal(check_as(cmd, false), 0);
			else
				refused(check_as(cmd, false), -EINVAL, type);
		}
	}
}

static void dump_allows_only_its_own_attributes(void **state)
{
	(void)state;
	used = 0;
	assert_int_equal(check_as(TORUS_CMD_LINK_GET, true), 0);	/* without PORT */
	put_value(TORUS_A_FIRST, rule(TORUS_A_FIRST), 1);
	assert_int_equal(check_as(TORUS_CMD_ROWS_GET, true), 0);
	refused(check_as(TORUS_CMD_LINK_GET, true), -EINVAL, TORUS_A_FIRST);
	assert_string_equal(why.text, "FIRST is not allowed in a dump of LINK_GET");
}

/*
 * Makes a request with a single attribute within FAULT or ROWS, of @len bytes. Return: what the
 * check of requests says.
 */
static int nested(unsigned int cmd, unsigned int nest, unsigned int type, const void *data, size_t len)
{
	struct nlattr *a;

	begin(cmd, nest);
	a = put(nest | NLA_F_NESTED, NULL, 0);
	put(type, data, len);
	a->nla_len = (u16)(NLA_HDRLEN + NLA_HDRLEN + len);
	return check_as(cmd, false);
}

static void nested_attribute_beyond_limits_is_refused(void **state)
{
	u64 ber = TORUS_BER_ONE;
	u32 first = 0;
	char text[48];

	(void)state;
	snprintf(text, sizeof(text), "attribute %d is unknown in FAULT", TORUS_FAULT_MAX + 1);
	assert_int_equal(nested(TORUS_CMD_LINK_SET, TORUS_A_FAULT, TORUS_FAULT_BER, &ber, 8), 0);
	ber++;
	assert_int_equal(nested(TORUS_CMD_LINK_SET, TORUS_A_FAULT, TORUS_FAULT_BER, &ber, 8),
			 -ERANGE);
	assert_string_equal(why.text, "FAULT.BER is 1000000000000000001, must be 0 to "
			    "1000000000000000000");
	assert_int_equal(torus_attr_type(why.attr), TORUS_FAULT_BER);
	assert_int_equal(nested(TORUS_CMD_LINK_SET, TORUS_A_FAULT, TORUS_FAULT_MAX + 1, NULL, 0),
			 -EINVAL);
	assert_string_equal(why.text, text);
	assert_int_equal(nested(TORUS_CMD_ROWS_PUT, TORUS_A_ROWS, TORUS_ROWS_FIRST, &first, 4),
			 -EINVAL);
	assert_string_equal(why.text, "ROWS needs DATA");
	assert_int_equal(torus_attr_type(why.attr), TORUS_A_ROWS);
	assert_int_equal(why.missing, 0);
}

static void text_without_end_is_refused(void **state)
{
	(void)state;
	used = 0;
	put(TORUS_A_NAME, "a\0b", 4);
	refused(check_as(TORUS_CMD_DEVICE_GET, false), -EINVAL, TORUS_A_NAME);
	used = 0;
	put(TORUS_A_NAME, "ab", 2);
	refused(check_as(TORUS_CMD_DEVICE_GET, false), -EINVAL, TORUS_A_NAME);
	used = 0;
	put(TORUS_A_NAME, NULL, 0);
	refused(check_as(TORUS_CMD_DEVICE_GET, false), -EINVAL, TORUS_A_NAME);
}

/*
 * A message that cannot be parsed is refused as a whole; otherwise each attribute found is
 * returned.
 */
static void malformed_message_is_refused_as_a_whole(void **state)
{
	const struct nlattr *tb[TORUS_A_MAX + 1];
	struct nlattr *a;

	(void)state;
	used = 0;
	put_value(TORUS_A_PORT, rule(TORUS_A_PORT), 3);
	a = put(TORUS_A_NAME, "abc", 4);
	assert_int_equal(torus_check_request(TORUS_CMD_LINK_GET, false,
					     (struct torus_span) { buf, used }, tb, &why), 0);
	assert_int_equal(torus_attr_number(tb[TORUS_A_PORT]), 3);
	assert_ptr_equal(tb[TORUS_A_NAME], a);
	assert_null(tb[TORUS_A_IFINDEX]);
	for (unsigned int n = 1; n < NLA_HDRLEN; n++) {
		assert_int_equal(torus_check_request(TORUS_CMD_LINK_GET, false,
						     (struct torus_span) { buf, used + n }, NULL,
						     &why), -EINVAL);
		assert_non_null(strstr(why.text, "are not an attribute"));
	}
	a->nla_len++;
	assert_int_equal(check_as(TORUS_CMD_LINK_GET, false), -EINVAL);
	a->nla_len = NLA_HDRLEN - 1;
	assert_int_equal(check_as(TORUS_CMD_LINK_GET, false), -EINVAL);
	put(TORUS_A_MAX + 1, NULL, 0);
	a->nla_len = NLA_HDRLEN + 4;
	assert_int_equal(check_as(TORUS_CMD_LINK_GET, false), -EINVAL);
	assert_non_null(strstr(why.text, "is unknown in LINK_GET"));
}

static void each_command_has_name_and_privilege(void **state)
{
	(void)state;
	assert_string_equal(torus_cmd_name(TORUS_CMD_EYE_GET), "EYE_GET");
	assert_string_equal(torus_cmd_name(0), "unknown command");
	assert_string_equal(torus_cmd_name(TORUS_CMD_MAX + 1), "unknown command");
	assert_true(torus_scopes[TORUS_CMD_LINK_SET].privileged);
	assert_false(torus_scopes[TORUS_CMD_LINK_GET].privileged);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_attribute_has_its_limits_and_commands),
		cmocka_unit_test(attribute_of_wrong_length_is_refused),
		cmocka_unit_test(missing_required_attribute_is_named),
		cmocka_unit_test(attribute_that_comes_twice_is_refused),
		cmocka_unit_test(dump_allows_only_its_own_attributes),
		cmocka_unit_test(nested_attribute_beyond_limits_is_refused),
		cmocka_unit_test(text_without_end_is_refused),
		cmocka_unit_test(malformed_message_is_refused_as_a_whole),
		cmocka_unit_test(each_command_has_name_and_privilege),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
