/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Which attributes a request may carry, and what they may say. */
#ifndef TORUS_REQ_POLICY_H
#define TORUS_REQ_POLICY_H

#include "attr.h"

/* TORUS_U16S to TORUS_U64S are arrays. */
enum torus_kind {
	TORUS_NONE, TORUS_U8, TORUS_U16, TORUS_U32, TORUS_U64, TORUS_TEXT, TORUS_FLAG, TORUS_BYTES,
	TORUS_U16S, TORUS_U32S, TORUS_U64S, TORUS_NEST
};

/**
 * struct torus_rule - what an attribute may say
 * @min, @max: of a number; of the bytes of a text (without its NUL) or of TORUS_BYTES; of the
 *	entries of an array
 * @repeats: it may be there more than once
 * @nest: what is in a nest that requests carry
 */
struct torus_rule {
	const char *name;
	enum torus_kind kind;
	u64 min, max;
	bool repeats;
	const struct torus_set *nest;
};

/**
 * struct torus_set - the attributes of the family, or of a nest
 * @prefix: said before the names of those in a nest
 * @rules: by number, 0 to @max
 * @required: of a nest, in a request
 */
struct torus_set {
	const char *name;
	const char *prefix;
	const struct torus_rule *rules;
	unsigned int max;
	struct torus_attrs required;
};

/**
 * struct torus_scope - a command
 * @privileged: it needs CAP_NET_ADMIN
 * @allowed, @required: attributes of a do
 * @dump: attributes that a dump may carry; none: it cannot be dumped
 */
struct torus_scope {
	const char *name;
	bool privileged;
	struct torus_attrs allowed, required, dump;
};

/* rules.c */
extern const struct torus_set torus_set_torus, torus_set_fault, torus_set_rows, torus_set_lane, torus_set_park_flow;
extern const struct torus_scope torus_scopes[TORUS_CMD_MAX + 1];

/** torus_kind_width() - bytes of a number or of an array's entry; 0: neither */
unsigned int torus_kind_width(enum torus_kind kind);

/**
 * torus_check_value() - is it a value of its kind, and within its limits?
 * @where: said before its name, such as "FAULT."
 * Return: 0, -EINVAL or -ERANGE.
 */
int torus_check_value(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		      struct torus_refusal *why);

/** torus_check_form() - the same, but a number may be out of range: in replies of newer NICs */
int torus_check_form(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		     struct torus_refusal *why);

static inline bool torus_is_number(enum torus_kind kind)
{
	return kind >= TORUS_U8 && kind <= TORUS_U64;
}

/**
 * torus_check_request() - check all attributes of a request, also those in nests
 * @tb: gets them by number, of one that repeats the first; NULL if nobody asks
 * Return: 0 or a negative errno with the reason in @why.
 */
int torus_check_request(unsigned int cmd, bool dump, struct torus_span attrs,
			const struct nlattr **tb, struct torus_refusal *why);

/** torus_parse_nest() - by number the attributes of a nest that a check has found good */
void torus_parse_nest(const struct nlattr *nest, const struct nlattr **tb, unsigned int max);

/** torus_cmd_name() - name of a command, for texts */
const char *torus_cmd_name(unsigned int cmd);

#endif /* TORUS_REQ_POLICY_H */
