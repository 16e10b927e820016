// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* The address plan: nodes to IP addresses and back. */
#include "plan.h"
#include "topo.h"

#define BYTES4	4u	/* bytes of an IPv4 address */
#define BYTES6	16u
#define GROUPS6	8u	/* groups of 16 bits in an IPv6 address */
/* most nodes along a dimension whose coordinate is one byte of an address */
#define BYTE_SIZE_MAX 255u

const struct torus_plan tn_plan_default = {
	.net4 = { 10 },
	.len4 = 8,
	.net6 = { 0xfd, 0x74, 0x6f, 0x72 },
	.len6 = 32,
};

/**
 * struct reserved - a range of addresses that no plan may contain
 * @net: first bytes of these addresses
 * @len: number of the bits of @net that these addresses have in common
 */
struct reserved {
	u8 net[2];
	u8 len;
};

static const struct reserved never4[] = {
	{ { 0 }, 8 },		/* "this network" */
	{ { 127 }, 8 },		/* loopback */
	{ { 169, 254 }, 16 },	/* link-local */
	{ { 224 }, 3 },		/* multicast, reserved, broadcast */
};

static const struct reserved never6[] = {
	{ { 0 }, 8 },		/* unspecified, loopback, IPv4 in IPv6 */
	{ { 0xfe, 0x80 }, 10 },	/* link-local */
	{ { 0xff }, 8 },	/* multicast */
};

/* Return: the bits of byte @i of an address that belong to a prefix of @len bits. */
static u8 prefix_byte(unsigned int i, unsigned int len)
{
	if (len >= 8 * (i + 1))
		return 0xff;
	return (u8)(len <= 8 * i ? 0 : 0xff00u >> (len - 8 * i));
}

static bool is_clean(const u8 *net, unsigned int bytes, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < bytes; i++) {
		if (net[i] & (u8)~prefix_byte(i, len))
			return false;
	}
	return true;
}

/* Return: true if some address is both in the prefix @net/@len and in the range @r. */
static bool does_overlap(const u8 *net, unsigned int len, const struct reserved *r)
{
	unsigned int common = len < r->len ? len : r->len, i;

	for (i = 0; i < sizeof(r->net); i++) {
		if ((net[i] ^ r->net[i]) & prefix_byte(i, common))
			return false;
	}
	return true;
}

/* A prefix of 0 bits is not valid, because it overlaps the ranges @never. */
static bool is_prefix_valid(const u8 *net, unsigned int bytes, unsigned int len,
			    const struct reserved *never, unsigned int n)
{
	unsigned int i;

	if (len > 8 * bytes || !is_clean(net, bytes, len))
		return false;
	for (i = 0; i < n; i++) {
		if (does_overlap(net, len, &never[i]))
			return false;
	}
	return true;
}

bool tn_plan_valid4(const struct torus_plan *plan)
{
	return is_prefix_valid(plan->net4, BYTES4, plan->len4, never4,
			       sizeof(never4) / sizeof(never4[0]));
}

bool tn_plan_valid6(const struct torus_plan *plan)
{
	return is_prefix_valid(plan->net6, BYTES6, plan->len6, never6,
			       sizeof(never6) / sizeof(never6[0]));
}

/* Return: true if @bits suffice to number all nodes. */
static bool can_number(const struct torus_shape *shape, unsigned int bits)
{
	return bits >= 24 || tn_shape_nodes(shape) <= 1u << bits;
}

bool tn_plan_holds4(const struct torus_plan *plan, const struct torus_shape *shape)
{
	return can_number(shape, 8 * BYTES4 - plan->len4);
}

bool tn_plan_holds6(const struct torus_plan *plan, const struct torus_shape *shape)
{
	return can_number(shape, 8 * BYTES6 - plan->len6);
}

/* --- IPv4 ------------------------------------------------------------------------ */

static u32 net4_of(const struct torus_plan *plan)
{
	return (u32)plan->net4[0] << 24 | (u32)plan->net4[1] << 16 | (u32)plan->net4[2] << 8 |
	       plan->net4[3];
}

/*
 * Return: true if there is a whole byte of the address for each coordinate; then *@shift is the
 * number of bits to the right of that of the last coordinate.
 */
static bool has_bytes(const struct torus_plan *plan, const struct torus_shape *shape,
		      unsigned int *shift)
{
	unsigned int first = (plan->len4 + 7u) / 8, d;

	if (first + shape->ndims > BYTES4)
		return false;
	for (d = 0; d < shape->ndims; d++) {
		if (shape->size[d] > BYTE_SIZE_MAX)
			return false;
	}
	*shift = 8 * (BYTES4 - first - shape->ndims);
	return true;
}

u32 tn_plan_addr4(const struct torus_plan *plan, const struct torus_shape *shape, u32 node)
{
	struct torus_coords at;
	unsigned int shift, d;
	u32 host = 0;

	if (!has_bytes(plan, shape, &shift))
		return net4_of(plan) | node;
	tn_node_coords(shape, node, &at);
	for (d = 0; d < shape->ndims; d++)
		host = host << 8 | at.c[d];
	return net4_of(plan) | host << shift;
}

u32 tn_plan_node4(const struct torus_plan *plan, const struct torus_shape *shape, u32 addr)
{
	/* the coordinates or the node id, if the prefix is right */
	u32 host = addr ^ net4_of(plan);
	struct torus_coords at = { { 0 } };
	unsigned int shift, d;

	if (!has_bytes(plan, shape, &shift))
		return host < tn_shape_nodes(shape) ? host : TORUS_NO_NODE;
	if (host & ((1u << shift) - 1))
		return TORUS_NO_NODE;
	host >>= shift;
	for (d = shape->ndims; d-- > 0; host >>= 8) {
		at.c[d] = (u16)(host & 0xff);
		if (at.c[d] >= shape->size[d])
			return TORUS_NO_NODE;
	}
	return host ? TORUS_NO_NODE : tn_node_id(shape, &at);
}

/* --- IPv6 ------------------------------------------------------------------------ */

/*
 * Return: true if there is a group for each coordinate; then *@first is the group of the first one.
 */
static bool has_groups(const struct torus_plan *plan, const struct torus_shape *shape,
		       unsigned int *first)
{
	*first = (plan->len6 + 15u) / 16;
	return *first + shape->ndims <= GROUPS6;
}

void tn_plan_addr6(const struct torus_plan *plan, const struct torus_shape *shape, u32 node,
		   u8 *addr)
{
	struct torus_coords at;
	unsigned int first, i;

	memcpy(addr, plan->net6, BYTES6);
	if (!has_groups(plan, shape, &first)) {
		for (i = 0; i < 4; i++)
			addr[BYTES6 - 1 - i] |= (u8)(node >> 8 * i);
		return;
	}
	tn_node_coords(shape, node, &at);
	for (i = 0; i < shape->ndims; i++) {
		addr[2 * (first + i)] = (u8)(at.c[i] >> 8);
		addr[2 * (first + i) + 1] = (u8)at.c[i];
	}
}

/* Return: true if bytes @from to @to - 1 of the address are those of the prefix. */
static bool are_bytes_of_net(const struct torus_plan *plan, const u8 *addr, unsigned int from,
			     unsigned int to)
{
	unsigned int i;

	for (i = from; i < to; i++) {
		if (addr[i] != plan->net6[i])
			return false;
	}
	return true;
}

u32 tn_plan_node6(const struct torus_plan *plan, const struct torus_shape *shape, const u8 *addr)
{
	struct torus_coords at = { { 0 } };
	unsigned int first, i;
	u32 node = 0;

	if (!has_groups(plan, shape, &first)) {
		for (i = BYTES6 - 4; i < BYTES6; i++)
			node = node << 8 | (u8)(addr[i] ^ plan->net6[i]);
		return are_bytes_of_net(plan, addr, 0, BYTES6 - 4) &&
		       node < tn_shape_nodes(shape) ? node : TORUS_NO_NODE;
	}
	if (!are_bytes_of_net(plan, addr, 0, 2 * first) ||
	    !are_bytes_of_net(plan, addr, 2 * (first + shape->ndims), BYTES6))
		return TORUS_NO_NODE;
	for (i = 0; i < shape->ndims; i++) {
		at.c[i] = (u16)(addr[2 * (first + i)] << 8 | addr[2 * (first + i) + 1]);
		if (at.c[i] >= shape->size[i])
			return TORUS_NO_NODE;
	}
	return tn_node_id(shape, &at);
}
