// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Why a request was refused, in words: the text of the extended ACK, and the attribute
 * that it is about. The kernel says of a broken policy only that something is "out of
 * range" and where in the request it lies; its name, value and limits are found here.
 */
#include <inttypes.h>
#include <linux/netlink.h>
#include <uapi/torus_policy.h>

#include "client.h"

enum kind { NONE, U8, U16, U32, U64, TEXT, FLAG, BYTES, U16S, U32S, U64S, NEST };

struct rule {
	const char *name;
	enum kind kind;
	uint64_t min, max;
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

/** struct scope - the attributes that are looked at, and what they may say */
struct scope {
	const struct rule *rules;
	int max;
	struct nlattr *first;
	int len;
};

static bool inside(const struct nlattr *a, const char *at)
{
	return at >= (const char *)a && at < (const char *)a + nla_len(a) + NLA_HDRLEN;
}

/* The innermost attribute with the byte @at. Return: NULL if there is no such. */
static const struct nlattr *find(struct scope *s, const char *at, const struct rule **rule)
{
	struct nlattr *a;
	int left;

	nla_for_each_attr(a, s->first, s->len, left) {
		int type = nla_type(a);

		if (!inside(a, at))
			continue;
		*rule = type <= s->max && s->rules[type].name ? &s->rules[type] : NULL;
		if (!*rule || (*rule)->kind != NEST || at == (const char *)a)
			return *rule ? a : NULL;
		*s = (struct scope) {
			.rules = type == TORUS_A_ROWS ? rows_rules : fault_rules,
			.max = type == TORUS_A_ROWS ? TORUS_ROWS_MAX : TORUS_FAULT_MAX,
			.first = nla_data(a), .len = nla_len(a),
		};
		return find(s, at, rule);
	}
	return NULL;
}

static unsigned int width(enum kind kind)
{
	static const unsigned int widths[NEST + 1] = {
		[U8] = 1, [U16] = 2, [U32] = 4, [U64] = 8, [U16S] = 2, [U32S] = 4, [U64S] = 8,
	};

	return widths[kind];
}

static uint64_t value_of(const struct nlattr *a, unsigned int w)
{
	uint64_t v = 0;

	memcpy(&v, nla_data(a), w);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	v >>= 64 - 8 * w;
#endif
	return v;
}

/* Of a text or a number that keeps its limits what it says. Return: false if it is none. */
static bool quote(char *to, size_t size, const struct nlattr *a, const struct rule *rule)
{
	unsigned int w = width(rule->kind), len = (unsigned int)nla_len(a);
	size_t n = strnlen(nla_data(a), len);

	if (rule->kind == TEXT && n >= rule->min && n <= rule->max) {
		snprintf(to, size, "%s '%.*s'", rule->name, (int)n, (const char *)nla_data(a));
		return true;
	}
	if (rule->kind < U8 || rule->kind > U64 || len != w || value_of(a, w) < rule->min ||
	    value_of(a, w) > rule->max)
		return false;
	snprintf(to, size, "%s is %" PRIu64, rule->name, value_of(a, w));
	return true;
}

/* What @a says, and what it may say; as other errors of NICs do. */
static void describe(char *to, size_t size, const struct nlattr *a, const struct rule *rule)
{
	unsigned int w = width(rule->kind), len = (unsigned int)nla_len(a);

	if (rule->kind == FLAG || rule->kind == NEST) {
		snprintf(to, size, "%s", rule->name);
		return;
	}
	if (rule->kind == TEXT || rule->kind == BYTES || rule->kind > BYTES) {
		snprintf(to, size, "%s has %u %s, allowed %" PRIu64 " to %" PRIu64, rule->name,
			 w ? len / w : len, w ? "entries" : "bytes", rule->min, rule->max);
		return;
	}
	if (len != w) {
		snprintf(to, size, "%s has %u bytes, allowed %u", rule->name, len, w);
		return;
	}
	snprintf(to, size, "%s is %" PRIu64 ", allowed %" PRIu64 " to %" PRIu64, rule->name,
		 value_of(a, w), rule->min, rule->max);
}

/* The limits of the NIC that refused, where it tells them: it may be of another version. */
static void limits(struct rule *rule, struct nlattr *policy)
{
	struct nlattr *a;
	int left;

	nla_for_each_nested(a, policy, left) {
		if (nla_len(a) != sizeof(uint64_t))
			continue;
		if (nla_type(a) == NL_POLICY_TYPE_ATTR_MIN_VALUE_U)
			rule->min = nla_get_u64(a);
		else if (nla_type(a) == NL_POLICY_TYPE_ATTR_MAX_VALUE_U)
			rule->max = nla_get_u64(a);
	}
}

static const char *text_of(struct nlattr *tlvs, int len)
{
	struct nlattr *a = nla_find(tlvs, len, NLMSGERR_ATTR_MSG);

	if (!a || nla_len(a) < 2 || !memchr(nla_data(a), 0, (size_t)nla_len(a)))
		return NULL;
	return nla_data(a);
}

void lt_refusal(char *to, size_t size, struct nlmsghdr *req, struct nlattr *tlvs, int len)
{
	struct nlattr *offs = nla_find(tlvs, len, NLMSGERR_ATTR_OFFS);
	struct genlmsghdr *g = nlmsg_data(req);
	struct scope top = { rules, TORUS_A_MAX, genlmsg_attrdata(g, 0), genlmsg_attrlen(g, 0) };
	struct nlattr *policy = nla_find(tlvs, len, NLMSGERR_ATTR_POLICY);
	const char *text = text_of(tlvs, len);
	const struct rule *rule = NULL;
	const struct nlattr *a = NULL;
	struct rule here;
	char what[96];

	if (offs && nla_len(offs) == sizeof(uint32_t) && nla_get_u32(offs) < req->nlmsg_len)
		a = find(&top, (char *)req + nla_get_u32(offs), &rule);
	if (!a || (text && strstr(text, rule->name))) {
		snprintf(to, size, "%s", text ? text : "");
		return;
	}
	here = *rule;
	if (policy)
		limits(&here, policy);
	/* What is within its limits was not refused for them. */
	if (policy || !quote(what, sizeof(what), a, &here))
		describe(what, sizeof(what), a, &here);
	snprintf(to, size, "%s%s%s", what, text ? ": " : "", text ? text : "");
}
