/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Reads netlink attributes from a buffer that may be unaligned. */
#ifndef TORUS_REQ_ATTR_H
#define TORUS_REQ_ATTR_H

#include "req_deps.h"
#include <torus_uapi.h>

#define TORUS_ATTR_WORDS	(TORUS_A_MAX / 64 + 1)

#define TORUS_REFUSAL_MAX	112	/* size of the text of a refusal, bytes */

/** struct torus_attrs - a bitmap of attribute numbers, of the family or of a nest */
struct torus_attrs {
	u64 word[TORUS_ATTR_WORDS];
};

static inline bool torus_attrs_has(const struct torus_attrs *s, unsigned int type)
{
	return s->word[type / 64] >> type % 64 & 1;
}

static inline void torus_attrs_add(struct torus_attrs *s, unsigned int type)
{
	s->word[type / 64] |= 1ULL << type % 64;
}

/* NLA_HDRLEN as an unsigned number: the macros of <linux/netlink.h> have type int. */
#define TORUS_ATTR_HEAD	((unsigned int)sizeof(struct nlattr))

static inline unsigned int torus_attr_type(const struct nlattr *a)
{
	return a->nla_type & 0x3fffu;	/* NLA_TYPE_MASK */
}

/** torus_attr_len() - number of bytes of the value */
static inline unsigned int torus_attr_len(const struct nlattr *a)
{
	return a->nla_len - TORUS_ATTR_HEAD;
}

static inline const void *torus_attr_data(const struct nlattr *a)
{
	return (const u8 *)a + TORUS_ATTR_HEAD;
}

/** torus_number_at() - read a number of 1, 2, 4 or 8 bytes at any address */
u64 torus_number_at(const void *p, unsigned int width);

static inline u64 torus_attr_number(const struct nlattr *a)
{
	return torus_number_at(torus_attr_data(a), torus_attr_len(a));
}

/** struct torus_span - consecutive attributes that are still to be read */
struct torus_span {
	const void *at;
	size_t left;
};

static inline struct torus_span torus_attr_inside(const struct nlattr *a)
{
	return (struct torus_span) { torus_attr_data(a), torus_attr_len(a) };
}

/**
 * torus_attr_next() - take the first attribute from @s
 * Return: the attribute; NULL at the end, or, with s->left not 0, before malformed bytes.
 */
const struct nlattr *torus_attr_next(struct torus_span *s);

/**
 * struct torus_refusal - why a message was refused
 * @attr: the attribute at fault, or NULL
 * @missing: number of a required attribute that is absent, or 0
 */
struct torus_refusal {
	const struct nlattr *attr;
	unsigned int missing;
	char text[TORUS_REFUSAL_MAX];
};

/** torus_refuse() - write the reason into @why; Return: @err */
__attribute__((format(printf, 4, 5)))
int torus_refuse(struct torus_refusal *why, int err, const struct nlattr *attr,
		 const char *fmt, ...);

#endif /* TORUS_REQ_ATTR_H */
