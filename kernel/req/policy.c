// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "policy.h"

const char *torus_cmd_name(unsigned int cmd)
{
	return cmd <= TORUS_CMD_MAX && torus_scopes[cmd].name ? torus_scopes[cmd].name :
	       "unknown command";
}

unsigned int torus_kind_width(enum torus_kind kind)
{
	static const u8 width[TORUS_NEST + 1] = {
		[TORUS_U8] = 1, [TORUS_U16] = 2, [TORUS_U32] = 4, [TORUS_U64] = 8,
		[TORUS_BYTES] = 1, [TORUS_U16S] = 2, [TORUS_U32S] = 4, [TORUS_U64S] = 8,
	};

	return width[kind];
}

static int check_number(const struct nlattr *a, const struct torus_rule *rule, const char *where,
			struct torus_refusal *why)
{
	unsigned int len = torus_attr_len(a), width = torus_kind_width(rule->kind);
	u64 v;

	if (len != width)
		return torus_refuse(why, -EINVAL, a, "%s%s has %u bytes, must have %u", where,
				    rule->name, len, width);
	v = torus_attr_number(a);
	if (v < rule->min || v > rule->max)
		return torus_refuse(why, -ERANGE, a, "%s%s is %llu, must be %llu to %llu", where,
				    rule->name, (unsigned long long)v,
				    (unsigned long long)rule->min, (unsigned long long)rule->max);
	return 0;
}

static int check_text(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		      struct torus_refusal *why)
{
	unsigned int len = torus_attr_len(a);
	size_t n = strnlen(torus_attr_data(a), len);

	if (n + 1 != len)
		return torus_refuse(why, -EINVAL, a, "%s%s must end with a NUL, and have no other",
				    where, rule->name);
	if (n < rule->min || n > rule->max)
		return torus_refuse(why, -EINVAL, a, "%s%s has %zu bytes, must have %llu to %llu",
				    where, rule->name, n, (unsigned long long)rule->min,
				    (unsigned long long)rule->max);
	return 0;
}

static int check_array(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		       struct torus_refusal *why)
{
	unsigned int len = torus_attr_len(a), width = torus_kind_width(rule->kind);

	if (len % width)
		return torus_refuse(why, -EINVAL, a,
				    "%s%s has %u bytes, must have a multiple of %u",
				    where, rule->name, len, width);
	if (len / width < rule->min || len / width > rule->max)
		return torus_refuse(why, -EINVAL, a, "%s%s has %u %s, must have %llu to %llu",
				    where, rule->name, len / width, width > 1 ? "entries" : "bytes",
				    (unsigned long long)rule->min, (unsigned long long)rule->max);
	return 0;
}

int torus_check_value(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		      struct torus_refusal *why)
{
	switch (rule->kind) {
	case TORUS_TEXT:
		return check_text(a, rule, where, why);
	case TORUS_FLAG:
		if (torus_attr_len(a))
			return torus_refuse(why, -EINVAL, a,
					    "%s%s has %u bytes, must have none, for it is a flag",
					    where, rule->name, torus_attr_len(a));
		return 0;
	case TORUS_BYTES:
	case TORUS_U16S:
	case TORUS_U32S:
	case TORUS_U64S:
		return check_array(a, rule, where, why);
	case TORUS_NEST:
		return 0;	/* the attributes inside a nest are checked by their own rules */
	default:
		return check_number(a, rule, where, why);
	}
}

int torus_check_form(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		     struct torus_refusal *why)
{
	struct torus_rule wide = *rule;

	if (torus_is_number(rule->kind)) {
		wide.min = 0;
		wide.max = ~0ULL;
	}
	return torus_check_value(a, &wide, where, why);
}

static int check_nest(const struct nlattr *nest, const struct torus_set *set,
		      struct torus_refusal *why);

/**
 * struct where - the list of attributes that is being checked: of a request or of a nest
 * @set: the rules of these attributes
 * @allowed: the attributes that may be present; NULL: all
 * @name: name of the command or nest, for texts
 * @dump: the request is a dump
 * @before: prefix of attribute names in texts
 * @tb: filled with the attributes found, by number; may be NULL
 * @seen: the attributes found so far
 */
struct where {
	const struct torus_set *set;
	const struct torus_attrs *allowed;
	const char *name;
	bool dump;
	const char *before;
	const struct nlattr **tb;
	struct torus_attrs seen;
};

static int check_one(const struct nlattr *a, struct where *w, struct torus_refusal *why)
{
	unsigned int type = torus_attr_type(a);
	const struct torus_rule *rule = &w->set->rules[type <= w->set->max ? type : 0];
	int err;

	if (!rule->name)
		return torus_refuse(why, -EINVAL, a, "attribute %u is unknown in %s", type,
				    w->name);
	if (w->allowed && !torus_attrs_has(w->allowed, type))
		return torus_refuse(why, -EINVAL, a, "%s%s is not allowed in %s%s", w->before,
				    rule->name, w->dump ? "a dump of " : "", w->name);
	if (torus_attrs_has(&w->seen, type) && !rule->repeats)
		return torus_refuse(why, -EINVAL, a, "%s%s is there twice", w->before, rule->name);
	if (w->tb && !w->tb[type])
		w->tb[type] = a;
	torus_attrs_add(&w->seen, type);
	err = torus_check_value(a, rule, w->before, why);
	return err || !rule->nest ? err : check_nest(a, rule->nest, why);
}

static int check_attrs(struct torus_span s, struct where *w, struct torus_refusal *why)
{
	const struct nlattr *a;
	int err = 0;

	while (!err && (a = torus_attr_next(&s)))
		err = check_one(a, w, why);
	if (!err && s.left)
		return torus_refuse(why, -EINVAL, NULL, "%zu bytes in %s are not an attribute",
				    s.left, w->name);
	return err;
}

static int check_required(const struct torus_attrs *required, const struct where *w,
			  struct torus_refusal *why)
{
	for (unsigned int type = 1; type <= w->set->max; type++) {
		if (!torus_attrs_has(required, type) || torus_attrs_has(&w->seen, type))
			continue;
		why->missing = type;
		return torus_refuse(why, -EINVAL, NULL, "%s needs %s", w->name,
				    w->set->rules[type].name);
	}
	return 0;
}

static int check_nest(const struct nlattr *nest, const struct torus_set *set,
		      struct torus_refusal *why)
{
	struct where w = { .set = set, .name = set->name, .before = set->prefix };
	int err = check_attrs(torus_attr_inside(nest), &w, why) ?:
		  check_required(&set->required, &w, why);

	/* The required attribute is missing in the nest, not in the request. */
	if (err && why->missing) {
		why->missing = 0;
		why->attr = nest;
	}
	return err;
}

int torus_check_request(unsigned int cmd, bool dump, struct torus_span attrs,
			const struct nlattr **tb, struct torus_refusal *why)
{
	const struct torus_scope *c = &torus_scopes[cmd <= TORUS_CMD_MAX ? cmd : 0];
	static const struct torus_attrs none;
	struct where w = {
		.set = &torus_set_torus, .allowed = dump ? &c->dump : &c->allowed,
		.name = c->name, .dump = dump, .before = "", .tb = tb,
	};
	int err;

	*why = (struct torus_refusal) { 0 };
	if (tb)
		memset(tb, 0, sizeof(*tb) * (TORUS_A_MAX + 1));
	if (!c->name)
		return torus_refuse(why, -EOPNOTSUPP, NULL,
				    "command %u is a notification or unknown, not a request", cmd);
	if (dump && !memcmp(&c->dump, &none, sizeof(none)))
		return torus_refuse(why, -EOPNOTSUPP, NULL, "%s cannot be dumped", c->name);
	err = check_attrs(attrs, &w, why);
	return err || dump ? err : check_required(&c->required, &w, why);
}

void torus_parse_nest(const struct nlattr *nest, const struct nlattr **tb, unsigned int max)
{
	struct torus_span s = torus_attr_inside(nest);
	const struct nlattr *a;

	memset(tb, 0, sizeof(*tb) * (max + 1));
	while ((a = torus_attr_next(&s)))
		tb[torus_attr_type(a)] = a;
}
