/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The address plan: which IP address each node has, by two prefixes of the fabric. torus(4) has the
 * rule with examples.
 *
 * An address consists of the prefix and the place of the node, in one of two forms:
 *
 *	fields	a byte (IPv4) or a group of 16 bits (IPv6) for each coordinate, the first one where
 *		the first whole byte or group after the prefix begins; all other bits are 0. This
 *		form is used if these bytes or groups exist and, for IPv4, no size is above 255.
 *	number	else the node id, in the last bits of the address.
 *
 * So a prefix is long enough if it leaves as many bits as a node id has. Each node has one address
 * of each family, and no other address of the prefix belongs to a node.
 */
#ifndef TN_PLAN_H
#define TN_PLAN_H

#include "tn_deps.h"
#include <torus_uapi.h>

/*
 * 10.0.0.0/8, and fd74:6f72::/32: an IPv6 prefix of unique local addresses, with the letters "tor".
 */
extern const struct torus_plan tn_plan_default;

/**
 * tn_plan_valid4() - Return: true if the IPv4 prefix is valid: a length of 1 to 32, no bits set
 * after it, and no address that never belongs to a host (multicast, loopback, ...)
 */
bool tn_plan_valid4(const struct torus_plan *plan);
/** tn_plan_valid6() - the same check of the IPv6 prefix, with a length of 1 to 128 */
bool tn_plan_valid6(const struct torus_plan *plan);

/** tn_plan_holds4() - Return: true if the IPv4 prefix has an address for each node of @shape */
bool tn_plan_holds4(const struct torus_plan *plan, const struct torus_shape *shape);
bool tn_plan_holds6(const struct torus_plan *plan, const struct torus_shape *shape);

/* All functions below need a plan that is valid and has an address for each node of the shape. */

/** tn_plan_addr4() - Return: IPv4 address of @node, in host order */
u32 tn_plan_addr4(const struct torus_plan *plan, const struct torus_shape *shape, u32 node);
/** tn_plan_addr6() - write the IPv6 address of @node, 16 bytes, to @addr */
void tn_plan_addr6(const struct torus_plan *plan, const struct torus_shape *shape, u32 node,
		   u8 *addr);
/** tn_plan_node4() - Return: the node with the address @addr (host order), or TORUS_NO_NODE */
u32 tn_plan_node4(const struct torus_plan *plan, const struct torus_shape *shape, u32 addr);
/** tn_plan_node6() - Return: the node with the address in 16 bytes at @addr, or TORUS_NO_NODE */
u32 tn_plan_node6(const struct torus_plan *plan, const struct torus_shape *shape, const u8 *addr);

#endif /* TN_PLAN_H */
