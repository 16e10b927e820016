/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Replies and notifications: the structs of <torus/reply.h> as attributes. Tables say which member
 * is which attribute.
 */
#ifndef TORUS_REQ_TREE_H
#define TORUS_REQ_TREE_H

#include "policy.h"
#include <torus_reply.h>

/**
 * struct torus_field - an attribute and the member of a struct that it fills
 * @attr: of the tree's set, whose rule says of what kind it is. A nest without @nest is an array
 *	of u64, numbered from 1 on; one with it but without @size fills members of the same struct;
 *	one with both is an array of structs
 * @needed: a message without it is refused
 * @checked: and one in which this number is out of range
 * @at, @size: place of the member, and its bytes
 * @counted, @count: the number of entries, a byte, stands at @count
 */
struct torus_field {
	u8 attr;
	u16 at, size;
	bool counted;
	u16 count;
	const struct torus_tree *nest;
	bool needed, checked;
};

/**
 * struct torus_tree - the attributes of one message or nest
 * @size: of the struct
 */
struct torus_tree {
	const struct torus_set *set;
	const struct torus_field *field;
	unsigned int fields;
	unsigned int size;
};

/* For trees.c; NUMBER() does not compile if the member is not of @width bytes. */
#define MEMBER(s, m) \
	.at = offsetof(struct s, m), .size = sizeof(((struct s *)0)->m)
#define NUMBER(s, m, width)                                                                        \
	.at = offsetof(struct s, m) +                                                              \
	      0 * sizeof(char[sizeof(((struct s *)0)->m) == (width) ? 1 : -1]),                    \
	.size = (width)
#define COUNT(s, m) \
	.counted = true, \
	.count = offsetof(struct s, m) + 0 * sizeof(char[sizeof(((struct s *)0)->m) == 1 ? 1 : -1])

extern const struct torus_tree torus_tree_device_get, torus_tree_link_get, torus_tree_link_ntf,
	torus_tree_flow_get, torus_tree_park_get, torus_tree_eye_get,
	torus_tree_park_flows_get;

/**
 * torus_tree_put() - write a struct as attributes
 * A text, an array or a number that is below its least, such as an IFINDEX of 0, is left out.
 * @without: further attributes to leave out; may be NULL
 * @to, @room: where, aligned to 4 bytes
 * Return: the bytes written, or -EMSGSIZE.
 */
int torus_tree_put(const struct torus_tree *t, const struct torus_attrs *without, const void *from,
		   void *to, size_t room);

/**
 * torus_tree_parse() - fill a struct, all zeros before, from attributes
 * Attributes that the tree does not have are ignored: they are of a newer NIC.
 * @seen: gets those found
 * Return: 0, or -EBADMSG with the reason in @why.
 */
int torus_tree_parse(const struct torus_tree *t, struct torus_span s, void *to,
		     struct torus_attrs *seen, struct torus_refusal *why);

#endif /* TORUS_REQ_TREE_H */
