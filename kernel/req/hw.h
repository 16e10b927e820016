/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seam between netlink and a NIC: what any NIC does for commands, be it of software
 * (soft.h) or of hardware.
 *
 * Calls for one NIC come one at a time: the driver holds a mutex of the NIC around each command.
 * They may sleep. What they answer is a copy, which nobody changes any more. Ports are below
 * hw->nports, nodes below the number of rows, numbers within their rules (rules.c): whoever calls
 * has checked. 0 or a negative errno is returned; what a NIC cannot do it leaves NULL, unless
 * said otherwise.
 */
#ifndef TORUS_REQ_HW_H
#define TORUS_REQ_HW_H

#include "attr.h"
#include <torus_reply.h>

struct torus_hw;

/**
 * struct torus_link_order - what LINK_SET changes at a port, in this order
 * @fault: faults and cable, by enum torus_fault_attr; NULL: they stay
 * @retry: enum torus_retry; -1: it stays
 * @admin: 1 up, 0 down, -1: it stays
 * @retrain: train anew
 */
struct torus_link_order {
	const struct nlattr *const *fault;
	int retry;
	int admin;
	bool retrain;
};

/**
 * struct torus_hw_ops - what a NIC does
 * @injects: link_set() may be given faults, and link_get() tells faults and cable: the ports are
 *	of software
 * @place: its place, not the one that it has. Rows start invalid, version 0.
 *	-EINVAL (it does not take this shape), -ENOMEM
 * @device_get: all of @out that struct torus_hw does not know; never NULL
 * @link_get: all of @out but the ifindex, from zeros; fault and line only if @injects; never NULL
 * @link_set: never NULL
 * @link_attach: bind a port to a lower device; "" unbinds. The driver holds RTNL. NULL: ports
 *	are what they are. The text of @why is only the reason
 * @eye_get: all of @out but ifindex, port and lane
 * @rows: how many, and the version of the active ones; never NULL. Return: false without a place
 * @rows_begin: the shadow table begins as a copy of the active one. -ENODEV
 * @rows_put: @rows need not be aligned; all or none of them. -ESTALE no begin of this version,
 *	-EINVAL one is of unknown format or range
 * @rows_commit: -ESTALE
 * @rows_get: @n active rows from @first on; @to need not be aligned
 * @hold: -ENODEV
 * @release: -ESTALE not the active version
 * @flow_get, @park_get, @park_flows_get: all of @out but the ifindex
 * @park_resolve: @dead: the peer is gone, and @seq says nothing
 * @park_replay: -ESTALE, -EBUSY some packets are unresolved
 * @mgmt_send: -ENETDOWN the link is not up, -EAGAIN the queue is full
 */
struct torus_hw_ops {
	bool injects;
	int (*place)(struct torus_hw *hw, const struct torus_shape *shape,
		     const struct torus_coords *at);
	void (*device_get)(struct torus_hw *hw, struct torus_device *out);
	int (*link_get)(struct torus_hw *hw, unsigned int port, struct torus_link *out);
	int (*link_set)(struct torus_hw *hw, unsigned int port,
			const struct torus_link_order *order);
	int (*link_attach)(struct torus_hw *hw, unsigned int port, const char *lower,
			   struct torus_refusal *why);
	int (*eye_get)(struct torus_hw *hw, unsigned int port, unsigned int lane,
		       struct torus_eye *out);
	bool (*rows)(struct torus_hw *hw, u32 *n, u64 *version);
	int (*rows_begin)(struct torus_hw *hw, u64 version);
	int (*rows_put)(struct torus_hw *hw, u64 version, u32 first, const void *rows, u32 n);
	int (*rows_commit)(struct torus_hw *hw, u64 version);
	int (*rows_get)(struct torus_hw *hw, u32 first, u32 n, void *to);
	int (*hold)(struct torus_hw *hw, const u32 *nodes, u32 n);
	int (*release)(struct torus_hw *hw, u64 version, bool give_up);
	int (*flow_get)(struct torus_hw *hw, struct torus_flow *out);
	int (*park_get)(struct torus_hw *hw, struct torus_park *out);
	int (*park_flows_get)(struct torus_hw *hw, struct torus_park_flows *out);
	int (*park_resolve)(struct torus_hw *hw, unsigned int port, u32 session, u16 seq,
			    bool dead);
	int (*park_replay)(struct torus_hw *hw, u64 version, u32 ports);
	int (*mgmt_send)(struct torus_hw *hw, unsigned int port, const u8 *data, u32 len);
};

/**
 * union torus_reply - what commands answer
 */
union torus_reply {
	struct torus_device device;
	struct torus_link link;
	struct torus_flow flow;
	struct torus_park park;
	struct torus_park_flows park_flows;
	struct torus_eye eye;
};

/**
 * struct torus_hw - a NIC as commands see it
 * @guid, @epoch, @nports, @driver: fixed when it is made
 * @ifindex, @ifname: of its netdev, as they are now; 0 and "": it has none
 * @name: what the manager calls it
 * @bootstrap: the BootStrap jumper
 * @shape, @at, @node: its place, if @placed
 * @root_epoch, @root_guid: the root that the NIC obeys (fence.c); 0: none yet
 * @rows_epoch: the root's that the active rows are of; 0: they are of none
 * @rows_gen: counts changes of the rows: commits, holds, releases, places; not 0
 * @rows_writer: number of the socket that began a version last; 0: it is committed, or none did
 * @reply: what a command answers
 */
struct torus_hw {
	const struct torus_hw_ops *ops;
	const char *driver;
	u32 ifindex;
	char ifname[16];
	u64 guid;
	u32 epoch;
	u8 nports;
	bool bootstrap;
	bool placed;
	char name[TORUS_NAME_MAX + 1];
	struct torus_shape shape;
	struct torus_coords at;
	u32 node;
	u64 root_epoch;
	u64 root_guid;
	u64 rows_epoch;
	u32 rows_gen;
	u64 rows_writer;
	union torus_reply reply;
};

#endif /* TORUS_REQ_HW_H */
