// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "tree.h"

static const struct torus_rule *rule_of(const struct torus_tree *t, const struct torus_field *f)
{
	return &t->set->rules[f->attr];
}

/*
 * Return: the number of entries of an array; if the field has no counter, as many as the member has
 * room for.
 */
static unsigned int count_entries(const struct torus_field *f, const u8 *from, unsigned int width)
{
	return f->counted ? from[f->count] : f->size / width;
}

/* --- put ------------------------------------------------------------------------------ */

/** struct out - the buffer of a message, and how much of it is used */
struct out {
	u8 *at;
	size_t room;
};

/* Appends an attribute of @len bytes. Return: the address of its value; NULL if no room. */
static u8 *put_attr(struct out *o, unsigned int type, size_t len)
{
	struct nlattr a = { .nla_len = (u16)(TORUS_ATTR_HEAD + len), .nla_type = (u16)type };
	size_t padded = (TORUS_ATTR_HEAD + len + 3) / 4 * 4;
	u8 *value = o->at + TORUS_ATTR_HEAD;

	if (padded > o->room)
		return NULL;
	memset(o->at, 0, padded);
	memcpy(o->at, &a, sizeof(a));
	o->at += padded;
	o->room -= padded;
	return value;
}

static int put_bytes(struct out *o, unsigned int type, const void *from, size_t len)
{
	u8 *to = put_attr(o, type, len);

	if (!to)
		return -EMSGSIZE;
	memcpy(to, from, len);
	return 0;
}

/* Begins a nest; attributes appended to @o are inside it. Return: its head. */
static u8 *begin_nest(struct out *o, unsigned int type)
{
	u8 *value = put_attr(o, type | NLA_F_NESTED, 0);

	return value ? value - TORUS_ATTR_HEAD : NULL;
}

static void end_nest(struct out *o, u8 *head)
{
	u16 len = (u16)(o->at - head);

	memcpy(head, &len, sizeof(len));
}

static int put_tree(struct out *o, const struct torus_tree *t, const struct torus_attrs *without,
		    const u8 *from);

static int put_counters(struct out *o, const struct torus_field *f, const u8 *from)
{
	int err = 0;

	for (unsigned int i = 0; i < f->size / sizeof(u64) && !err; i++)
		err = put_bytes(o, i + 1, from + f->at + i * sizeof(u64), sizeof(u64));
	return err;
}

static int put_structs(struct out *o, const struct torus_field *f, const u8 *from)
{
	int err = 0;

	for (unsigned int i = 0; i < count_entries(f, from, f->nest->size) && !err; i++) {
		u8 *head = begin_nest(o, i + 1);

		err = head ? put_tree(o, f->nest, NULL, from + f->at + i * f->nest->size) :
		      -EMSGSIZE;
		if (!err)
			end_nest(o, head);
	}
	return err;
}

static int put_nest(struct out *o, const struct torus_field *f, const u8 *from)
{
	u8 *head = begin_nest(o, f->attr);
	int err;

	if (!head)
		return -EMSGSIZE;
	if (!f->nest)
		err = put_counters(o, f, from);
	else
		err = f->size ? put_structs(o, f, from) : put_tree(o, f->nest, NULL, from);
	if (!err)
		end_nest(o, head);
	return err;
}

static int put_field(struct out *o, const struct torus_rule *rule, const struct torus_field *f,
		     const u8 *from)
{
	const u8 *p = from + f->at;
	size_t n;

	switch (rule->kind) {
	case TORUS_NEST:
		return put_nest(o, f, from);
	case TORUS_TEXT:
		n = strnlen((const char *)p, f->size - 1u);
		return n < rule->min ? 0 : put_bytes(o, f->attr, p, n + 1);
	default:
		if (torus_is_number(rule->kind))
			return torus_number_at(p, f->size) < rule->min ? 0 :
			       put_bytes(o, f->attr, p, f->size);
		n = count_entries(f, from, torus_kind_width(rule->kind));
		return n < rule->min ? 0 :
				       put_bytes(o, f->attr, p, n * torus_kind_width(rule->kind));
	}
}

static int put_tree(struct out *o, const struct torus_tree *t, const struct torus_attrs *without,
		    const u8 *from)
{
	int err = 0;

	for (unsigned int i = 0; i < t->fields && !err; i++) {
		const struct torus_field *f = &t->field[i];

		if (!without || !torus_attrs_has(without, f->attr))
			err = put_field(o, rule_of(t, f), f, from);
	}
	return err;
}

int torus_tree_put(const struct torus_tree *t, const struct torus_attrs *without, const void *from,
		   void *to, size_t room)
{
	struct out o = { to, room };
	int err = put_tree(&o, t, without, from);

	return err ? err : (int)(o.at - (u8 *)to);
}

/* --- parse ---------------------------------------------------------------------------- */

static int bad_counter(const struct nlattr *a, const struct torus_rule *rule,
		       struct torus_refusal *why)
{
	return torus_refuse(why, -EBADMSG, a, "%s: counter %u has %u bytes", rule->name,
			    torus_attr_type(a), torus_attr_len(a));
}

static int parse_counters(const struct nlattr *nest, const struct torus_rule *rule,
			  const struct torus_field *f, u8 *to, struct torus_refusal *why)
{
	struct torus_span s = torus_attr_inside(nest);
	const struct nlattr *a;

	while ((a = torus_attr_next(&s))) {
		unsigned int i = torus_attr_type(a) - 1;

		if (i >= f->size / sizeof(u64))
			/* a newer NIC may send counters that this program does not know */
			continue;
		if (torus_attr_len(a) != sizeof(u64))
			return bad_counter(a, rule, why);
		memcpy(to + f->at + i * sizeof(u64), torus_attr_data(a), sizeof(u64));
	}
	return 0;
}

static int parse_structs(const struct nlattr *nest, const struct torus_rule *rule,
			 const struct torus_field *f, u8 *to, struct torus_refusal *why)
{
	struct torus_span s = torus_attr_inside(nest);
	struct torus_attrs seen;
	const struct nlattr *a;
	unsigned int n = 0;
	int err;

	while ((a = torus_attr_next(&s))) {
		if (torus_attr_type(a) != n + 1 || n >= f->size / f->nest->size)
			return torus_refuse(why, -EBADMSG, a,
					    "%s has entry %u after %u, must have at most %u in order",
					    rule->name,
					    torus_attr_type(a), n, f->size / f->nest->size);
		err = torus_tree_parse(f->nest, torus_attr_inside(a),
				       to + f->at + n * f->nest->size, &seen, why);
		if (err)
			return err;
		to[f->count] = (u8)++n;
	}
	return 0;
}

static int parse_nest(const struct nlattr *a, const struct torus_rule *rule,
		      const struct torus_field *f, u8 *to, struct torus_refusal *why)
{
	struct torus_attrs seen;

	if (!f->nest)
		return parse_counters(a, rule, f, to, why);
	if (f->size)
		return parse_structs(a, rule, f, to, why);
	return torus_tree_parse(f->nest, torus_attr_inside(a), to, &seen, why);
}

/* Parses an array. Arrays that share a counter must have the same number of entries. */
static int parse_array(const struct nlattr *a, const struct torus_rule *rule,
		       const struct torus_field *f, u8 *to, struct torus_refusal *why)
{
	unsigned int len = torus_attr_len(a), n = len / torus_kind_width(rule->kind);

	if (len > f->size || (f->counted && to[f->count] && to[f->count] != n))
		return torus_refuse(why, -EBADMSG, a, "%s has %u entries, not %u", rule->name, n,
				    f->counted && to[f->count] ? to[f->count] :
				    f->size / torus_kind_width(rule->kind));
	if (f->counted)
		to[f->count] = (u8)n;
	memcpy(to + f->at, torus_attr_data(a), len);
	return 0;
}

static int parse_field(const struct nlattr *a, const struct torus_tree *t,
		       const struct torus_field *f, u8 *to, struct torus_refusal *why)
{
	const struct torus_rule *rule = rule_of(t, f);
	int err = f->checked ? torus_check_value(a, rule, t->set->prefix, why) :
		  torus_check_form(a, rule, t->set->prefix, why);

	if (err)
		return -EBADMSG;
	if (rule->kind == TORUS_NEST)
		return parse_nest(a, rule, f, to, why);
	if (!torus_is_number(rule->kind) && rule->kind != TORUS_TEXT)
		return parse_array(a, rule, f, to, why);
	if (torus_attr_len(a) > f->size)
		return torus_refuse(why, -EBADMSG, a, "%s has %u bytes", rule->name,
				    torus_attr_len(a));
	memcpy(to + f->at, torus_attr_data(a), torus_attr_len(a));
	if (rule->kind == TORUS_U8 && rule->max == 1)	/* a flag is 0 or 1 */
		to[f->at] = to[f->at] != 0;
	return 0;
}

static const struct torus_field *find_field(const struct torus_tree *t, unsigned int type)
{
	for (unsigned int i = 0; i < t->fields; i++)
		if (t->field[i].attr == type)
			return &t->field[i];
	return NULL;
}

int torus_tree_parse(const struct torus_tree *t, struct torus_span s, void *to,
		     struct torus_attrs *seen, struct torus_refusal *why)
{
	const struct nlattr *a;
	int err;

	*seen = (struct torus_attrs) { 0 };
	while ((a = torus_attr_next(&s))) {
		const struct torus_field *f = find_field(t, torus_attr_type(a));

		if (!f)
			continue;
		err = parse_field(a, t, f, to, why);
		if (err)
			return err;
		torus_attrs_add(seen, f->attr);
	}
	for (unsigned int i = 0; i < t->fields; i++)
		if (t->field[i].needed && !torus_attrs_has(seen, t->field[i].attr))
			return torus_refuse(why, -EBADMSG, NULL, "%s%s is missing", t->set->prefix,
					    rule_of(t, &t->field[i])->name);
	return 0;
}
