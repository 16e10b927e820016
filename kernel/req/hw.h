/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface between netlink commands and a NIC, which is implemented in software (soft.h)
 * or by hardware.
 *
 * The driver holds a mutex of the NIC around each command, so the calls for one NIC do not
 * overlap. They may sleep. Answers are copies. The caller has checked the arguments: ports are
 * below hw->nports, nodes are below the number of rows, and numbers are within their rules
 * (rules.c). Calls return 0 or a negative errno. A NIC sets an operation that it does not support
 * to NULL, unless the operation is marked "never NULL".
 */
#ifndef TORUS_REQ_HW_H
#define TORUS_REQ_HW_H

#include "attr.h"
#include <torus_reply.h>

struct torus_hw;

/**
 * struct torus_link_order - changes that LINK_SET makes to a port, in the order of the members
 * @fault: faults and cable, by enum torus_fault_attr; NULL: no change
 * @retry: enum torus_retry; -1: no change
 * @admin: 1 up, 0 down, -1: no change
 * @retrain: retrain the link
 */
struct torus_link_order {
	const struct nlattr *const *fault;
	int retry;
	int admin;
	bool retrain;
};

/**
 * struct torus_hw_ops - operations of a NIC
 * @injects: the ports are simulated: link_set() accepts faults, and link_get() reports the faults
 *	and the cable
 * @place: set a new place in the torus. All rows become invalid, and the version becomes 0.
 *	-EINVAL: the NIC does not support this shape; -ENOMEM
 * @plan: set the address plan, which is valid and has addresses for the whole shape. Rows, packets
 *	under way and holds stay. NULL: the NIC supports only the default plan
 * @device_get: fill the members of @out that struct torus_hw does not have; never NULL
 * @link_get: fill @out, which is zeroed, without the ifindex; fault and line only if @injects;
 *	never NULL
 * @link_set: never NULL
 * @link_attach: bind a port to a lower device; "" unbinds it. The driver holds RTNL. NULL: the
 *	NIC's ports cannot be bound. @why gets only the reason of a failure
 * @eye_get: fill @out, without ifindex, port and lane
 * @rows: get the number of rows and the version of the active table; never NULL.
 *	Return: false if the NIC has no place
 * @rows_begin: copy the active table to the shadow table. -ENODEV: no place
 * @rows_put: write rows into the shadow table, all or none; @rows may be unaligned.
 *	-ESTALE: no begin of this version; -EINVAL: a row with an unknown format or out of range
 * @rows_commit: make the shadow table the active one. -ESTALE: no begin of this version
 * @rows_get: copy @n active rows, starting with @first; @to may be unaligned
 * @hold: keep new packets to these destinations in host memory. -ENODEV: no place
 * @release: end all holds. -ESTALE: not the active version
 * @flow_get, @park_get, @park_flows_get: fill @out, without the ifindex
 * @park_resolve: decide on packets that were parked from a RETRY buffer: drop those before @seq,
 *	which the peer has accepted; @dead: the peer no longer exists, so @seq is ignored and all
 *	packets are kept
 * @park_replay: send the parked packets again. -ESTALE: not the active version; -EBUSY: some
 *	packets are unresolved
 * @mgmt_send: send a management packet. -ENETDOWN: the link is not up; -EAGAIN: the queue is full
 */
struct torus_hw_ops {
	bool injects;
	int (*place)(struct torus_hw *hw, const struct torus_shape *shape,
		     const struct torus_coords *at);
	void (*plan)(struct torus_hw *hw, const struct torus_plan *plan);
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

/** union torus_reply - the answer to a command, by command */
union torus_reply {
	struct torus_device device;
	struct torus_link link;
	struct torus_flow flow;
	struct torus_park park;
	struct torus_park_flows park_flows;
	struct torus_eye eye;
};

/**
 * struct torus_hw - the state of a NIC that commands use
 * @guid, @epoch, @nports, @driver: constant for the lifetime of the NIC
 * @ifindex, @ifname: of the netdev at present; 0 and "": there is no netdev
 * @name: node name that the manager has set
 * @bootstrap: the bootstrap flag; on hardware the state of the BootStrap jumper
 * @shape, @at, @node: place in the torus, valid if @placed
 * @plan: address plan, if there is an operation to set it
 * @root_epoch, @root_guid: the root that the NIC obeys (fence.c); 0: none yet
 * @rows_epoch: epoch of the root that the active rows come from; 0: from no root
 * @rows_gen: generation of the rows, never 0: incremented by commit, hold, release and place
 * @rows_writer: number of the socket that sent the last begin, until its commit; 0: none
 * @reply: the answer to the running command
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
	struct torus_plan plan;
	u64 root_epoch;
	u64 root_guid;
	u64 rows_epoch;
	u32 rows_gen;
	u64 rows_writer;
	union torus_reply reply;
};

#endif /* TORUS_REQ_HW_H */
