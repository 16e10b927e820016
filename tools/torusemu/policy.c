// SPDX-License-Identifier: GPL-2.0-only
#include "policy.h"

#include <inttypes.h>
#include <linux/genetlink.h>
#include <stdarg.h>
#include <stdio.h>
#include <uapi/torus_policy.h>

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

#define RULE(prefix, text, id, kind, min, max) \
	[prefix##id] = { text #id, kind, (kind) == NEST && (max) != 1, min, max },

static const struct rule rules[TORUS_A_MAX + 1] = {
#define TOP(id, kind, min, max) RULE(TORUS_A_, "", id, kind, min, max)
	TORUS_REQUEST_ATTR_LIST(TOP)
};

static const struct rule fault_rules[TORUS_FAULT_MAX + 1] = {
#define FAULT(id, kind, min, max) RULE(TORUS_FAULT_, "FAULT.", id, kind, min, max)
	TORUS_REQUEST_FAULT_LIST(FAULT)
};

static const struct rule rows_rules[TORUS_ROWS_MAX + 1] = {
#define ROWS(id, kind, min, max) RULE(TORUS_ROWS_, "ROWS.", id, kind, min, max)
	TORUS_REQUEST_ROWS_LIST(ROWS)
};

/** struct scope_of - attributes of one command, as masks of 1 << attribute */
struct scope_of {
	const char *name;
	u64 allowed, required, dump;
};

static const struct scope_of commands[TORUS_CMD_MAX + 1] = {
#define COMMAND(id, privilege, allowed, required, dump) \
	[TORUS_CMD_##id] = { #id, allowed, required, dump },
	TORUS_COMMAND_LIST(COMMAND)
	[TORUS_CMD_LINK_NTF] = { .name = "LINK_NTF" },
	[TORUS_CMD_MGMT_NTF] = { .name = "MGMT_NTF" },
	[TORUS_CMD_PARK_NTF] = { .name = "PARK_NTF" },
};

const char *policy_cmd_name(unsigned int cmd)
{
	return cmd <= TORUS_CMD_MAX && commands[cmd].name ? commands[cmd].name : "unknown command";
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

int policy_check(struct req *r, bool dump)
{
	const struct scope_of *c = &commands[r->cmd];
	struct scope s = {
		rules, TORUS_A_MAX, TORUS_A_DEVICE | (dump ? c->dump : c->allowed), c->name
	};
	int len = nlmsg_attrlen(r->nlh, GENL_HDRLEN);
	int err = check_all(r, nlmsg_attrdata(r->nlh, GENL_HDRLEN), len, &s, r->tb);

	for (int type = 1; type <= TORUS_A_MAX && !err && !dump; type++)
		if (c->required >> type & 1 && !r->tb[type])
			return req_fail(r, -EINVAL, "%s needs %s", c->name, rules[type].name);
	return err;
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
