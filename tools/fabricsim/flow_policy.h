/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Policies, which prevent deadlock: they select the output of a packet, and decide which packets
 * may take an output. A policy is a struct flow_policy in a file flow_policy_NAME.c, and a line in
 * flow_policies.h.
 */
#ifndef FLOW_POLICY_H
#define FLOW_POLICY_H

#include "flow_net.h"

/**
 * struct flow_policy - one policy
 * @name: name of the policy in --policy
 * @vcs: virtual channels of a link, 1 or 2
 * @rule: the bubble rule of an output
 * @leaves_one: a packet that enters a ring leaves one buffer free, so inputs need two
 * @tests: the policy uses flow_params.test
 * @bubbles: function that returns the default number of critical bubbles in the rings of dimension
 *	@dim; NULL: the policy has no critical bubbles
 * @output: returns the output that the first packet of input @number requests if it continues along
 *	@dir; NONE: the packet sets a bit in node.waiting instead. Not called with one virtual
 *	channel, where the output is @dir
 * @arbitrate: grants outputs of all nodes, by arbitrate_nodes() (flow_grant.h)
 * @may_move: returns true if packet @p, first in input @number, can move now or later, provided
 *	that the inputs marked in @alive can (flow_check.c)
 */
struct flow_policy {
	const char *name;
	unsigned int vcs;
	enum tn_bubble_policy rule;
	bool leaves_one, tests;
	unsigned int (*bubbles)(const struct flow_params *p, unsigned int dim);
	unsigned int (*output)(struct flow_net *net, u32 node, unsigned int number,
			       unsigned int dir);
	void (*arbitrate)(struct flow_net *net);
	bool (*may_move)(const struct flow_net *net, const u8 *alive, u32 node,
			 unsigned int number, const struct packet *p, unsigned int dir);
};

/**
 * flow_way_alive() - for flow_policy.may_move: Return: true if the first packet of input @number
 * may take output @out of @node now, or if the input behind that output can get room.
 */
bool flow_way_alive(const struct flow_net *net, const u8 *alive, u32 node, unsigned int number,
		    unsigned int out, enum tn_bubble_policy rule);

#endif /* FLOW_POLICY_H */
