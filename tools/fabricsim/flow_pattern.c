// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traffic patterns. Deterministic patterns as in Dally and Towles, Principles and
 * Practices of Interconnection Networks, 3.2; distribute and hotregion as in the
 * INSEE simulator. A node whose pattern leads to itself sends nothing.
 */
#include "flow_net.h"

#define HOT_SHARE 4		/* one packet in HOT_SHARE goes to the hot region */
#define HOT_PART 8		/* the hot region has one node in HOT_PART */

static u32 each_dimension(const struct flow_net *net, u32 src, enum flow_pattern pattern)
{
	const struct torus_shape *s = &net->p.shape;
	struct torus_coords to = { 0 };

	for (unsigned int d = 0; d < net->dims; d++) {
		u16 at = net->node[src].at[d], k = s->size[d];

		if (pattern == FLOW_TRANSPOSE)
			to.c[net->dims - 1 - d] = at;
		else if (pattern == FLOW_COMPLEMENT)
			to.c[d] = (u16)(k - 1 - at);
		else if (pattern == FLOW_TORNADO)
			to.c[d] = (u16)((at + (k + 1) / 2 - 1) % k);
		else
			to.c[d] = (u16)((at + 1) % k);
	}
	return torus_node_id(s, &to);
}

static u32 random_other(struct node *n, u32 src, u32 nodes)
{
	u32 dst = below(&n->random, nodes - 1);

	return dst + (dst >= src);
}

u32 pattern_destination(struct flow_net *net, u32 src)
{
	struct node *n = &net->node[src];
	u32 dst, hot;

	if (net->nodes < 2)
		return NONE;
	switch (net->p.pattern) {
	case FLOW_UNIFORM:
		return random_other(n, src, net->nodes);
	case FLOW_HOTREGION:
		if (below(&n->random, HOT_SHARE))
			return random_other(n, src, net->nodes);
		hot = net->nodes < HOT_PART ? 1 : net->nodes / HOT_PART;
		dst = below(&n->random, hot);
		return dst == src ? random_other(n, src, net->nodes) : dst;
	case FLOW_DISTRIBUTE:
		dst = 1 + n->turn;
		n->turn = dst == net->nodes - 1 ? 0 : n->turn + 1;
		return (u32)(((u64)src + dst) % net->nodes);
	default:
		dst = each_dimension(net, src, net->p.pattern);
		return dst == src ? NONE : dst;
	}
}
