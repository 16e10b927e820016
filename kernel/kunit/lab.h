/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers of the KUnit suites of torus.ko: they make NICs and Ethernet devices, which are removed
 * when the test that made them ends, and execute netlink requests without a socket.
 *
 * kunit/ is part of the module only if that is built with TORUS_KUNIT=y, for a kernel with KUnit
 * (tests/vm/test_kunit.sh). The module starts the suites at the end of its init function, because
 * some versions of KUnit would start them before that.
 */
#ifndef TORUS_KUNIT_LAB_H
#define TORUS_KUNIT_LAB_H

#include <kunit/test.h>

#include "../genl.h"
#include "../soft/nic.h"

#define LAB_ROW		(TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT | \
			 15ull << TORUS_ROW_LAST_SHIFT)

/**
 * lab_nic() - make a NIC in the initial network namespace; the test fails if that is impossible
 * @test: the test, at whose end the NIC is removed
 * @nports: number of its ports
 * @park_bytes: memory of the NIC for parked packets; 0: the size does not matter to the test
 * Return: the NIC.
 */
struct torus_soft *lab_nic(struct kunit *test, u8 nports, u64 park_bytes);

/** lab_own() - unregister @dev, which is registered, at the end of the test, unless it is gone */
void lab_own(struct kunit *test, struct net_device *dev);

/** lab_place() - make NIC @s node 0 of a ring of @nodes */
void lab_place(struct kunit *test, struct torus_soft *s, u16 nodes);
/** lab_place_at() - make NIC @s node @node of a ring of @nodes */
void lab_place_at(struct kunit *test, struct torus_soft *s, u16 nodes, u16 node);
/**
 * lab_set_place() - give NIC @s the coordinates @at in any @shape, by the command DEVICE_SET
 * Return: the result of the command.
 */
int lab_set_place(struct torus_soft *s, const struct torus_shape *shape,
		  const struct torus_coords *at);

/** lab_counter() - Return: the value of a counter of the node */
u64 lab_counter(struct torus_soft *s, enum torus_node_counter which);

/** lab_lower() - make an Ethernet device that is up and discards all frames. Return: the device */
struct net_device *lab_lower(struct kunit *test, const char *name, unsigned int mtu);
/** lab_lower_del() - unregister a device of lab_lower() before the end of the test */
void lab_lower_del(struct net_device *lower);

/**
 * struct lab_cable - a cable between two Ethernet devices, ktc0 and ktc1
 * @end: the two devices
 * @virtual: true: the devices are a pair like veth. Each names the other as its peer, and a frame
 *	is passed on as it is, with the marks that the network stack has set in the skb. false: a
 *	frame is copied, as if it went over a wire, and the copy has no marks
 * @queued: both devices have a queueing discipline, as an administrator can give to a veth pair
 * @netkit: with @virtual: the devices are a pair of netkit, not of veth
 * @touch: if not NULL, called for each frame between the two devices, with skb->data at its
 *	Ethernet payload and bottom halves off. It may change the frame if @virtual is false
 */
struct lab_cable {
	struct net_device *end[2];
	bool virtual, queued, netkit;
	void (*touch)(struct lab_cable *cable, struct sk_buff *skb);
};

/** lab_cable() - make the two devices of @cable; the caller has set its other members */
void lab_cable(struct kunit *test, struct lab_cable *cable);
/**
 * lab_attach() - bind port @port to the device @name
 * Return: 0, or a negative errno; -ENOMSG: an error that the command did not explain.
 */
int lab_attach(struct torus_soft *s, unsigned int port, const char *name);

/** lab_msg() - Return: a request for @cmd without attributes, or NULL if out of memory */
struct sk_buff *lab_msg(u8 cmd);

/**
 * lab_send() - check a request by the policy of its command, and execute it
 * @s: the NIC that genl.c would have found for it; NULL: the request is only checked
 * @skb: the request, which is freed
 * @bad: if not NULL, set to the attribute that the error names, 0 for none
 * Return: the result of the command.
 */
int lab_send(struct torus_soft *s, struct sk_buff *skb, unsigned int *bad);

/* The following functions may be called by any thread. */

/** lab_version() - execute ROWS_BEGIN, ROWS_COMMIT or RELEASE for @version. Return: its result */
int lab_version(struct torus_soft *s, u8 cmd, u64 version);
/**
 * lab_put() - execute ROWS_PUT for @version: @n destinations, from @first on, get the same @row
 * Return: the result of the command.
 */
int lab_put(struct torus_soft *s, u64 version, u32 first, u64 row, u32 n);

extern struct kunit_suite torus_policy_suite, torus_rows_suite, torus_park_suite,
	torus_port_suite, torus_frame_suite, torus_tx_suite, torus_cut_suite, torus_msg_suite,
	torus_cable_suite, torus_show_suite, torus_pkt_suite, torus_null_suite;

#endif /* TORUS_KUNIT_LAB_H */
