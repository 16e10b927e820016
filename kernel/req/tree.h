/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Converts the structs of <torus/reply.h> to attributes of replies and notifications, and back.
 * Tables (trees.c) map members to attributes.
 */
#ifndef TORUS_REQ_TREE_H
#define TORUS_REQ_TREE_H

#include "policy.h"
#include <torus_reply.h>

/**
 * struct torus_field - maps an attribute to a member of a struct
 * @attr: attribute number in the tree's set, whose rule has its type. A nest without @nest is an
 *	array of u64, numbered from 1; a nest with @nest and without @size fills members of the same
 *	struct; a nest with both is an array of structs
 * @needed: a message without this attribute is refused
 * @checked: a message in which this number is out of range is refused
 * @at, @size: offset and size of the member
 * @counted, @count: @count is the offset of a byte with the number of entries
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
 * @size: size of the struct
 */
struct torus_tree {
	const struct torus_set *set;
	const struct torus_field *field;
	unsigned int fields;
	unsigned int size;
};

/* Used by trees.c. NUMBER() does not compile if the size of the member is not @width. */
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
 * A text, array or number below its minimum, such as an IFINDEX of 0, is left out.
 * @without: further attributes to leave out; may be NULL
 * @to, @room: the buffer, aligned to 4 bytes
 * Return: the bytes written, or -EMSGSIZE.
 */
int torus_tree_put(const struct torus_tree *t, const struct torus_attrs *without, const void *from,
		   void *to, size_t room);

/**
 * torus_tree_parse() - fill a zeroed struct from attributes
 * Attributes that the tree does not have are ignored: a newer NIC may send them.
 * @seen: filled with the attributes found
 * Return: 0, or -EBADMSG with the reason in @why.
 */
int torus_tree_parse(const struct torus_tree *t, struct torus_span s, void *to,
		     struct torus_attrs *seen, struct torus_refusal *why);

#endif /* TORUS_REQ_TREE_H */
