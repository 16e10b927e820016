// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Texts of refused requests: the text of the extended ACK, and the attribute that it refers to. For
 * an attribute that violates a policy, the kernel returns only a text such as "out of range" and
 * the offset in the request; this file finds name, value and limits of the attribute.
 */
#include <linux/netlink.h>

#include "client.h"
#include "kernel/req/policy.h"

/** struct scope - attributes of the request, or of a nest in it, and the rules of their policy */
struct scope {
	const struct torus_set *set;
	struct nlattr *first;
	int len;
};

static bool holds_byte(const struct nlattr *a, const char *at)
{
	return at >= (const char *)a && at < (const char *)a + nla_len(a) + NLA_HDRLEN;
}

/* Return: the innermost attribute that contains the byte @at, or NULL. */
static const struct nlattr *find_attribute(struct scope *s, const char *at,
					 const struct torus_rule **rule)
{
	struct nlattr *a;
	int left;

	nla_for_each_attr(a, s->first, s->len, left) {
		unsigned int type = (unsigned int)nla_type(a);

		if (!holds_byte(a, at))
			continue;
		*rule = type <= s->set->max && s->set->rules[type].name ? &s->set->rules[type] :
			NULL;
		if (!*rule || !(*rule)->nest || at == (const char *)a)
			return *rule ? a : NULL;
		*s = (struct scope) { (*rule)->nest, nla_data(a), nla_len(a) };
		return find_attribute(s, at, rule);
	}
	return NULL;
}

/*
 * Writes the value of @a, if the value is a text or a number within its limits. Return: false if
 * the value was not written.
 */
static bool quote_value(char *to, size_t size, const struct nlattr *a,
			const struct torus_rule *rule)
{
	size_t n = strnlen(nla_data(a), (size_t)nla_len(a));
	struct torus_refusal why;

	if (rule->kind == TORUS_TEXT && n >= rule->min && n <= rule->max) {
		snprintf(to, size, "%s '%.*s'", rule->name, (int)n, (const char *)nla_data(a));
		return true;
	}
	if (rule->kind < TORUS_U8 || rule->kind > TORUS_U64 ||
	    torus_check_value(a, rule, "", &why))
		return false;
	snprintf(to, size, "%s is %llu", rule->name, torus_attr_number(a));
	return true;
}

/* Writes the value of @a and its limits, in the wording that NICs use for their errors. */
static void describe_value(char *to, size_t size, const struct nlattr *a,
			   const struct torus_rule *rule)
{
	struct torus_refusal why;

	if (torus_check_value(a, rule, "", &why))
		snprintf(to, size, "%s", why.text);
	else if (rule->kind >= TORUS_U8 && rule->kind <= TORUS_U64)
		snprintf(to, size, "%s is %llu, must be %llu to %llu", rule->name,
			 torus_attr_number(a), rule->min, rule->max);
	else
		snprintf(to, size, "%s", rule->name);
}

/*
 * Replaces limits by those that the NIC returned, if any: a NIC of another version may have other
 * limits.
 */
static void take_limits(struct torus_rule *rule, struct nlattr *policy)
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

static const char *rule_text(struct nlattr *tlvs, int len)
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
	struct scope top = { &torus_set_torus, genlmsg_attrdata(g, 0), genlmsg_attrlen(g, 0) };
	struct nlattr *policy = nla_find(tlvs, len, NLMSGERR_ATTR_POLICY);
	const char *text = rule_text(tlvs, len);
	const struct torus_rule *rule = NULL;
	const struct nlattr *a = NULL;
	struct torus_rule here;
	char what[TORUS_REFUSAL_MAX];

	if (offs && nla_len(offs) == sizeof(uint32_t) && nla_get_u32(offs) < req->nlmsg_len)
		a = find_attribute(&top, (char *)req + nla_get_u32(offs), &rule);
	if (!a || (text && strstr(text, rule->name))) {
		snprintf(to, size, "%s", text ? text : "");
		return;
	}
	here = *rule;
	if (policy)
		take_limits(&here, policy);
	/* If the value is within its limits, these are not the reason of the refusal. */
	if (policy || !quote_value(what, sizeof(what), a, &here))
		describe_value(what, sizeof(what), a, &here);
	snprintf(to, size, "%s%s%s", what, text ? ": " : "", text ? text : "");
}
