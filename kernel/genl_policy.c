// SPDX-License-Identifier: GPL-2.0-only
/*
 * One netlink policy a command, made at load from the lists that torusemu's
 * checks are made from too. What a netlink policy cannot say is checked after
 * it, by torus_policy_check(). Who reads the policies back (CTRL_CMD_GETPOLICY)
 * finds the types, ranges and lengths of these lists there.
 */
#include "genl.h"

#include "../include/uapi/torus_policy.h"

enum kind { NONE, U8, U16, U32, U64, TEXT, FLAG, BYTES, U16S, U32S, U64S, NEST, KINDS };

static const u8 type_of[KINDS] = {
	[U8] = NLA_U8, [U16] = NLA_U16, [U32] = NLA_U32, [U64] = NLA_U64,
	[TEXT] = NLA_NUL_STRING, [FLAG] = NLA_FLAG, [BYTES] = NLA_BINARY,
	[U16S] = NLA_BINARY, [U32S] = NLA_BINARY, [U64S] = NLA_BINARY, [NEST] = NLA_NESTED,
};

/* Bytes of an array's entry; 0: not an array. */
static const u8 entry_of[KINDS] = { [BYTES] = 1, [U16S] = 2, [U32S] = 4, [U64S] = 8 };

/** struct rule - what an attribute may say, as in <uapi/torus_policy.h> */
struct rule {
	const char *name;
	enum kind kind;
	u64 min, max;
};

#define RULE(prefix, id, kind, min, max) [prefix##id] = { #id, kind, min, max },

static const struct rule rules[TORUS_A_MAX + 1] = {
#define TOP(id, kind, min, max) RULE(TORUS_A_, id, kind, min, max)
	TORUS_REQUEST_ATTR_LIST(TOP)
};

static const struct rule fault_rules[TORUS_FAULT_MAX + 1] = {
#define FAULT(id, kind, min, max) RULE(TORUS_FAULT_, id, kind, min, max)
	TORUS_REQUEST_FAULT_LIST(FAULT)
};

static const struct rule rows_rules[TORUS_ROWS_MAX + 1] = {
#define ROWS(id, kind, min, max) RULE(TORUS_ROWS_, id, kind, min, max)
	TORUS_REQUEST_ROWS_LIST(ROWS)
};

/** struct scope - attributes of one command, as masks of 1 << attribute */
struct scope {
	const char *name;
	u64 allowed, required, dump;
};

static const struct scope scopes[TORUS_CMD_MAX + 1] = {
#define SCOPE(id, privilege, allowed, required, dump) \
	[TORUS_CMD_##id] = { #id, allowed, required, dump },
	TORUS_COMMAND_LIST(SCOPE)
};

/* --- netlink policies ---------------------------------------------------------- */

static struct netlink_range_validation ranges[TORUS_A_MAX + 1] __ro_after_init;
static struct netlink_range_validation fault_ranges[TORUS_FAULT_MAX + 1] __ro_after_init;
static struct netlink_range_validation rows_ranges[TORUS_ROWS_MAX + 1] __ro_after_init;
static struct nla_policy top_policy[TORUS_A_MAX + 1] __ro_after_init;
static struct nla_policy fault_policy[TORUS_FAULT_MAX + 1] __ro_after_init;
static struct nla_policy rows_policy[TORUS_ROWS_MAX + 1] __ro_after_init;
struct nla_policy torus_policies[TORUS_CMD_MAX + 1][TORUS_A_MAX + 1] __ro_after_init;

/* Parts of a netlink policy are const: it is written as a whole. */
static void __init put(struct nla_policy *to, struct nla_policy policy)
{
	memcpy(to, &policy, sizeof(policy));
}

static void __init make(const struct rule *rule, int max, struct netlink_range_validation *range,
			struct nla_policy *policy)
{
	for (int i = 0; i <= max; i++, rule++, range++, policy++) {
		u8 type = type_of[rule->kind], entry = entry_of[rule->kind];

		if (rule->kind == TEXT) {
			put(policy, (struct nla_policy) { .type = type, .len = (u16)rule->max });
		} else if (type == NLA_FLAG || type == NLA_UNSPEC) {
			put(policy, (struct nla_policy) { .type = type });
		} else if (entry && rule->max * entry <= S16_MAX) {
			put(policy, (struct nla_policy) {
				.type = type,
				.validation_type = NLA_VALIDATE_RANGE,
				.min = (s16)(rule->min * entry),
				.max = (s16)(rule->max * entry),
			});
		} else if (type != NLA_NESTED) {
			range->min = rule->min * (entry ?: 1);
			range->max = entry ? rule->max * entry : rule->max;
			put(policy, (struct nla_policy) {
				.type = type,
				.validation_type = NLA_VALIDATE_RANGE_PTR,
				.range = range,
			});
		}
	}
}

void __init torus_policy_init(void)
{
	static const struct nla_policy no = {
		.type = NLA_REJECT, .reject_message = "attribute is not allowed in this command",
	};

	make(rules, TORUS_A_MAX, ranges, top_policy);
	make(fault_rules, TORUS_FAULT_MAX, fault_ranges, fault_policy);
	make(rows_rules, TORUS_ROWS_MAX, rows_ranges, rows_policy);
	put(&top_policy[TORUS_A_FAULT], (struct nla_policy)NLA_POLICY_NESTED(fault_policy));
	put(&top_policy[TORUS_A_ROWS], (struct nla_policy)NLA_POLICY_NESTED(rows_policy));
	for (unsigned int c = 0; c <= TORUS_CMD_MAX; c++) {
		u64 allowed = TORUS_A_DEVICE | scopes[c].allowed | scopes[c].dump;

		for (unsigned int a = 0; a <= TORUS_A_MAX; a++)
			put(&torus_policies[c][a], allowed >> a & 1 ? top_policy[a] : no);
	}
}

/* --- what they cannot say -------------------------------------------------------- */

static int check_text(const struct nlattr *a, const struct rule *rule,
		      struct netlink_ext_ack *extack)
{
	size_t n = strnlen(nla_data(a), nla_len(a));

	if (n + 1 != nla_len(a)) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s does not end with its only NUL",
					rule->name);
		return -EINVAL;
	}
	if (n < rule->min) {
		NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s has %zu bytes, allowed %llu to %llu",
					rule->name, n, rule->min, rule->max);
		return -EINVAL;
	}
	return 0;
}

static int check_entries(const struct nlattr *a, const struct rule *rule,
			 struct netlink_ext_ack *extack)
{
	if (nla_len(a) % entry_of[rule->kind] == 0)
		return 0;
	NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s has %d bytes, allowed multiples of %u",
				rule->name, nla_len(a), entry_of[rule->kind]);
	return -EINVAL;
}

/* Attributes beside each other, of @seen in the end; those in nests are looked at later. */
static int check_all(const struct nlattr *head, int len, const struct rule *rules, u64 *seen,
		     struct netlink_ext_ack *extack)
{
	const struct nlattr *a;
	int left, err = 0;

	nla_for_each_attr(a, head, len, left) {
		const struct rule *rule = &rules[nla_type(a)];

		if (*seen >> nla_type(a) & 1 && (rule->kind != NEST || rule->max == 1)) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s is there twice", rule->name);
			return -EINVAL;
		}
		if (rule->kind == TEXT)
			err = check_text(a, rule, extack);
		else if (entry_of[rule->kind])
			err = check_entries(a, rule, extack);
		if (err)
			return err;
		*seen |= 1ull << nla_type(a);
	}
	return 0;
}

static int check_rows(const struct nlattr *rows, struct netlink_ext_ack *extack)
{
	const u64 needed = 1ull << TORUS_ROWS_FIRST | 1ull << TORUS_ROWS_DATA;
	u64 seen = 0;
	int err = check_all(nla_data(rows), nla_len(rows), rows_rules, &seen, extack);

	if (err || (seen & needed) == needed)
		return err;
	NL_SET_ERR_MSG_ATTR(extack, rows, "ROWS needs FIRST and DATA");
	return -EINVAL;
}

static int check_nest(const struct nlattr *a, struct netlink_ext_ack *extack)
{
	u64 seen = 0;

	if (nla_type(a) == TORUS_A_ROWS)
		return check_rows(a, extack);
	return check_all(nla_data(a), nla_len(a), fault_rules, &seen, extack);
}

int torus_policy_check(unsigned int cmd, bool dump, const struct nlattr *head, int len,
		       struct nlattr **attrs, struct netlink_ext_ack *extack)
{
	const struct scope *s = &scopes[cmd];
	const struct nlattr *a;
	u64 seen = 0;
	int left, err;

	nla_for_each_attr(a, head, len, left) {
		if (dump && !((TORUS_A_DEVICE | s->dump) >> nla_type(a) & 1)) {
			NL_SET_ERR_MSG_ATTR_FMT(extack, a, "%s is not allowed in a dump of %s",
						rules[nla_type(a)].name, s->name);
			return -EINVAL;
		}
	}
	err = check_all(head, len, rules, &seen, extack);
	nla_for_each_attr(a, head, len, left)
		if (!err && rules[nla_type(a)].kind == NEST)
			err = check_nest(a, extack);
	if (err)
		return err;
	for (unsigned int type = 1; type <= TORUS_A_MAX && !dump; type++) {
		if (s->required & ~seen & 1ull << type) {
			NL_SET_ERR_ATTR_MISS(extack, NULL, type);
			NL_SET_ERR_MSG_FMT(extack, "%s needs %s", s->name, rules[type].name);
			return -EINVAL;
		}
	}
	return 0;
}
