/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Checks the attributes of a request: which may be present, and which values they may have. */
#ifndef TORUS_REQ_POLICY_H
#define TORUS_REQ_POLICY_H

#include "attr.h"

/* The type of an attribute. TORUS_U16S to TORUS_U64S are arrays of numbers. */
enum torus_kind {
	TORUS_NONE, TORUS_U8, TORUS_U16, TORUS_U32, TORUS_U64, TORUS_TEXT, TORUS_FLAG, TORUS_BYTES,
	TORUS_U16S, TORUS_U32S, TORUS_U64S, TORUS_NEST
};

/**
 * struct torus_rule - type and limits of an attribute
 * @min, @max: limits of a number, of the length of a text (without its NUL) or of TORUS_BYTES, or
 *	of the number of entries of an array
 * @repeats: the attribute may be present more than once
 * @nest: the attributes in a nest, if requests carry it
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
 * @prefix: prefix of the names of attributes in a nest, for texts
 * @rules: rules by attribute number, 0 to @max
 * @required: the attributes that a nest must have in a request
 */
struct torus_set {
	const char *name;
	const char *prefix;
	const struct torus_rule *rules;
	unsigned int max;
	struct torus_attrs required;
};

/**
 * struct torus_scope - the attributes of a command
 * @privileged: the command needs CAP_NET_ADMIN
 * @allowed, @required: attributes that a request may and must have, unless it is a dump
 * @dump: attributes that a dump may have; none: the command has no dump
 */
struct torus_scope {
	const char *name;
	bool privileged;
	struct torus_attrs allowed, required, dump;
};

/* the following are in rules.c */
extern const struct torus_set torus_set_torus, torus_set_fault, torus_set_rows, torus_set_lane, torus_set_park_flow;
extern const struct torus_scope torus_scopes[TORUS_CMD_MAX + 1];

/** torus_kind_width() - bytes of a number, or of an entry of an array; 0: for other types */
unsigned int torus_kind_width(enum torus_kind kind);

/**
 * torus_check_value() - check that an attribute has the right type and is within its limits
 * @where: prefix of its name in texts, such as "FAULT."
 * Return: 0, -EINVAL or -ERANGE.
 */
int torus_check_value(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		      struct torus_refusal *why);

/**
 * torus_check_form() - as torus_check_value(), but without the limits of numbers, which newer NICs
 * may exceed
 */
int torus_check_form(const struct nlattr *a, const struct torus_rule *rule, const char *where,
		     struct torus_refusal *why);

static inline bool torus_is_number(enum torus_kind kind)
{
	return kind >= TORUS_U8 && kind <= TORUS_U64;
}

/**
 * torus_check_request() - check all attributes of a request, also those in nests
 * @tb: filled with the attributes by number, the first of each; may be NULL
 * Return: 0 or a negative errno with the reason in @why.
 */
int torus_check_request(unsigned int cmd, bool dump, struct torus_span attrs,
			const struct nlattr **tb, struct torus_refusal *why);

/** torus_parse_nest() - list the attributes of a checked nest in @tb by their numbers */
void torus_parse_nest(const struct nlattr *nest, const struct nlattr **tb, unsigned int max);

/** torus_cmd_name() - the name of a command, for texts */
const char *torus_cmd_name(unsigned int cmd);

#endif /* TORUS_REQ_POLICY_H */
