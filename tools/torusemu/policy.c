// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

#include <inttypes.h>
#include <linux/genetlink.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>

#include "fault.h"

enum kind { NONE, U8, U16, U32, U64, TEXT, FLAG, BYTES, U16S, U32S, U64S, NEST };

/**
 * struct rule - what an attribute may say
 * @min, @max: of the value, the length of a text or bytes, or the entries of an
 *	array
 */
struct rule {
	const char *name;
	enum kind kind;
	bool repeats;
	u64 min, max;
};

#define ANY	0, ~0ull

static const struct rule rules[TORUS_A_MAX + 1] = {
	[TORUS_A_IFINDEX] = { "IFINDEX", U32, false, 1, 0x7fffffff },
	[TORUS_A_NAME] = { "NAME", TEXT, false, 1, TORUS_NAME_MAX },
	[TORUS_A_BOOTSTRAP] = { "BOOTSTRAP", U8, false, 0, 1 },
	[TORUS_A_SHAPE] = { "SHAPE", U16S, false, 1, TORUS_MAX_DIMS },
	[TORUS_A_COORDS] = { "COORDS", U16S, false, 1, TORUS_MAX_DIMS },
	[TORUS_A_VERSION] = { "VERSION", U64, false, ANY },
	[TORUS_A_PORT] = { "PORT", U8, false, 0, TORUS_MAX_PORTS - 1 },
	[TORUS_A_LOWER] = { "LOWER", TEXT, false, 0, IFNAMSIZ - 1 },
	[TORUS_A_ADMIN] = { "ADMIN", U8, false, 0, 1 },
	[TORUS_A_RETRAIN] = { "RETRAIN", FLAG, false, 0, 0 },
	[TORUS_A_SESSION] = { "SESSION", U32, false, 0, 0xffffffff },
	[TORUS_A_SEQ] = { "SEQ", U16, false, 0, 0xfff },
	[TORUS_A_FAULT] = { "FAULT", NEST, false, 0, 0 },
	[TORUS_A_ROWS] = { "ROWS", NEST, true, 0, 0 },
	[TORUS_A_FIRST] = { "FIRST", U32, false, 0, TORUS_MAX_NODES - 1 },
	[TORUS_A_COUNT] = { "COUNT", U32, false, 0, TORUS_MAX_NODES },
	[TORUS_A_NODES] = { "NODES", U32S, false, 1, TORUS_MSG_MAX / 4 },
	[TORUS_A_GIVE_UP] = { "GIVE_UP", FLAG, false, 0, 0 },
	[TORUS_A_PORTS] = { "PORTS", U16, false, 0, (1 << TORUS_MAX_PORTS) - 1 },
	[TORUS_A_DATA] = { "DATA", BYTES, false, 1, TORUS_MGMT_MAX },
	[TORUS_A_GROUPS] = { "GROUPS", U32, false, 0, (1 << TORUS_GROUPS) - 1 },
};

static const struct rule fault_rules[TORUS_FAULT_MAX + 1] = {
	[TORUS_FAULT_BER] = { "FAULT.BER", U64, false, 0, FAULT_BER_ONE },
	[TORUS_FAULT_SILENCE] = { "FAULT.SILENCE", U8, false, 0, 1 },
	[TORUS_FAULT_LATENCY] = { "FAULT.LATENCY", U64, false, 0, FAULT_LATENCY_MAX },
	[TORUS_FAULT_SEED] = { "FAULT.SEED", U64, false, ANY },
};

static const struct rule rows_rules[TORUS_ROWS_MAX + 1] = {
	[TORUS_ROWS_FIRST] = { "ROWS.FIRST", U32, false, 0, TORUS_MAX_NODES - 1 },
	[TORUS_ROWS_DATA] = { "ROWS.DATA", U64S, false, 1, TORUS_MSG_MAX / 8 },
};

static const char *const cmd_names[TORUS_CMD_MAX + 1] = {
	[TORUS_CMD_DEVICE_GET] = "DEVICE_GET",
	[TORUS_CMD_DEVICE_SET] = "DEVICE_SET",
	[TORUS_CMD_LINK_GET] = "LINK_GET",
	[TORUS_CMD_LINK_SET] = "LINK_SET",
	[TORUS_CMD_LINK_ATTACH] = "LINK_ATTACH",
	[TORUS_CMD_ROWS_BEGIN] = "ROWS_BEGIN",
	[TORUS_CMD_ROWS_PUT] = "ROWS_PUT",
	[TORUS_CMD_ROWS_COMMIT] = "ROWS_COMMIT",
	[TORUS_CMD_ROWS_GET] = "ROWS_GET",
	[TORUS_CMD_HOLD] = "HOLD",
	[TORUS_CMD_RELEASE] = "RELEASE",
	[TORUS_CMD_FLOW_GET] = "FLOW_GET",
	[TORUS_CMD_PARK_GET] = "PARK_GET",
	[TORUS_CMD_PARK_RESOLVE] = "PARK_RESOLVE",
	[TORUS_CMD_PARK_REPLAY] = "PARK_REPLAY",
	[TORUS_CMD_MGMT_SEND] = "MGMT_SEND",
	[TORUS_CMD_SUBSCRIBE] = "SUBSCRIBE",
	[TORUS_CMD_LINK_NTF] = "LINK_NTF",
	[TORUS_CMD_MGMT_NTF] = "MGMT_NTF",
	[TORUS_CMD_PARK_NTF] = "PARK_NTF",
};

const char *policy_cmd_name(unsigned int cmd)
{
	return cmd <= TORUS_CMD_MAX && cmd_names[cmd] ? cmd_names[cmd] : "unknown command";
}

int req_fail(struct req *r, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(r->text, sizeof(r->text), fmt, ap);
	va_end(ap);
	return err;
}

static unsigned int width(enum kind kind)
{
	switch (kind) {
	case U8:
		return 1;
	case U16:
	case U16S:
		return 2;
	case U32:
	case U32S:
		return 4;
	case U64:
	case U64S:
		return 8;
	default:
		return 0;
	}
}

static u64 value(struct nlattr *a, enum kind kind)
{
	switch (kind) {
	case U8:
		return nla_get_u8(a);
	case U16:
		return nla_get_u16(a);
	case U32:
		return nla_get_u32(a);
	default:
		return nla_get_u64(a);
	}
}

static int check_number(struct req *r, struct nlattr *a, const struct rule *rule)
{
	u64 v;

	if ((unsigned int)nla_len(a) != width(rule->kind))
		return req_fail(r, -EINVAL, "%s has %d bytes, allowed %u", rule->name,
				nla_len(a), width(rule->kind));
	v = value(a, rule->kind);
	if (v < rule->min || v > rule->max)
		return req_fail(r, -ERANGE, "%s is %" PRIu64 ", allowed %" PRIu64 " to %" PRIu64,
				rule->name, (uint64_t)v, (uint64_t)rule->min,
				(uint64_t)rule->max);
	return 0;
}

static int check_text(struct req *r, struct nlattr *a, const struct rule *rule)
{
	size_t n = strnlen(nla_data(a), (size_t)nla_len(a));

	if (n + 1 != (size_t)nla_len(a))
		return req_fail(r, -EINVAL, "%s does not end with its only NUL", rule->name);
	if (n < rule->min || n > rule->max)
		return req_fail(r, -EINVAL, "%s has %zu bytes, allowed %" PRIu64 " to %" PRIu64,
				rule->name, n, (uint64_t)rule->min, (uint64_t)rule->max);
	return 0;
}

static int check_array(struct req *r, struct nlattr *a, const struct rule *rule)
{
	unsigned int each = rule->kind == BYTES ? 1 : width(rule->kind);
	unsigned int n = (unsigned int)nla_len(a) / each;

	if ((unsigned int)nla_len(a) % each)
		return req_fail(r, -EINVAL, "%s has %d bytes, allowed multiples of %u",
				rule->name, nla_len(a), each);
	if (n < rule->min || n > rule->max)
		return req_fail(r, -EINVAL, "%s has %u entries, allowed %" PRIu64 " to %" PRIu64,
				rule->name, n, (uint64_t)rule->min, (uint64_t)rule->max);
	return 0;
}

static int check_attr(struct req *r, struct nlattr *a, const struct rule *rule)
{
	switch (rule->kind) {
	case TEXT:
		return check_text(r, a, rule);
	case FLAG:
		if (nla_len(a))
			return req_fail(r, -EINVAL, "%s has %d bytes, allowed none: a flag",
					rule->name, nla_len(a));
		return 0;
	case BYTES:
	case U16S:
	case U32S:
	case U64S:
		return check_array(r, a, rule);
	case NEST:
		return 0;	/* policy_nest() looks inside */
	default:
		return check_number(r, a, rule);
	}
}

struct scope {
	const struct rule *rules;
	int max;
	u64 allowed;
	const char *where;
};

static int check_one(struct req *r, struct nlattr *a, const struct scope *s, struct nlattr **tb)
{
	int type = nla_type(a);
	const struct rule *rule = &s->rules[type <= s->max ? type : 0];
	int err;

	if (!rule->name)
		return req_fail(r, -EINVAL, "attribute %d is unknown in %s", type, s->where);
	if (!(s->allowed >> type & 1))
		return req_fail(r, -EINVAL, "%s is not allowed in %s", rule->name, s->where);
	if (tb[type] && !rule->repeats)
		return req_fail(r, -EINVAL, "%s is there twice", rule->name);
	err = check_attr(r, a, rule);
	if (!err && !tb[type])
		tb[type] = a;
	return err;
}

static int check_all(struct req *r, struct nlattr *head, int len, const struct scope *s,
		     struct nlattr **tb)
{
	struct nlattr *a;
	int left, err;

	memset(tb, 0, sizeof(*tb) * (size_t)(s->max + 1));
	nla_for_each_attr(a, head, len, left) {
		err = check_one(r, a, s, tb);
		if (err)
			return err;
	}
	if (left > 0)
		return req_fail(r, -EINVAL, "%d bytes in %s are no attribute", left, s->where);
	return 0;
}

int policy_check(struct req *r, u64 allowed, u64 required)
{
	struct scope s = { rules, TORUS_A_MAX, allowed, policy_cmd_name(r->cmd) };
	int len = nlmsg_attrlen(r->nlh, GENL_HDRLEN);
	int err = check_all(r, nlmsg_attrdata(r->nlh, GENL_HDRLEN), len, &s, r->tb);

	if (err)
		return err;
	for (int type = 1; type <= TORUS_A_MAX; type++)
		if (required >> type & 1 && !r->tb[type])
			return req_fail(r, -EINVAL, "%s needs %s", policy_cmd_name(r->cmd),
					rules[type].name);
	return 0;
}

int policy_nest(struct req *r, struct nlattr *nest, struct nlattr **tb)
{
	bool rows = nla_type(nest) == TORUS_A_ROWS;
	struct scope s = {
		rows ? rows_rules : fault_rules,
		rows ? TORUS_ROWS_MAX : TORUS_FAULT_MAX,
		~0ull,
		rows ? "ROWS" : "FAULT",
	};

	return check_all(r, nla_data(nest), nla_len(nest), &s, tb);
}
