/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ground of the suites of torus.ko: NICs and Ethernet devices that go with the test that made
 * them, and requests of the netlink family without a socket.
 *
 * kunit/ is in the module only if it is built with TORUS_KUNIT=y, for a kernel that
 * has KUnit in it (tests/vm/test_kunit.sh). The suites run at the end of the module's
 * init: KUnit by itself runs a module's suites before that in some versions.
 */
#ifndef TORUS_KUNIT_LAB_H
#define TORUS_KUNIT_LAB_H

#include <kunit/test.h>

#include "../genl.h"
#include "../soft/nic.h"

#define LAB_ROW		(TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT | \
			 15ull << TORUS_ROW_LAST_SHIFT)

/**
 * lab_nic() - a NIC in the first namespace; @park_bytes 0: some; fails the test if there is none
 */
struct torus_soft *lab_nic(struct kunit *test, u8 nports, u64 park_bytes);

/** lab_own() - @dev, which is registered, goes with the test, unless it has gone before */
void lab_own(struct kunit *test, struct net_device *dev);

/** lab_place() - make it node 0 of a ring of @nodes */
void lab_place(struct kunit *test, struct torus_soft *s, u16 nodes);
/** lab_place_at() - make it node @node of a ring of @nodes */
void lab_place_at(struct kunit *test, struct torus_soft *s, u16 nodes, u16 node);
/** lab_set_place() - the same for any shape, by DEVICE_SET. Return: as that */
int lab_set_place(struct torus_soft *s, const struct torus_shape *shape,
		  const struct torus_coords *at);

/** lab_counter() - a counter of the node */
u64 lab_counter(struct torus_soft *s, enum torus_node_counter which);

/** lab_lower() - an Ethernet device that is up and swallows frames */
struct net_device *lab_lower(struct kunit *test, const char *name, unsigned int mtu);
/** lab_lower_del() - unregister it now */
void lab_lower_del(struct net_device *lower);

/**
 * struct lab_cable - two Ethernet devices, ktc0 and ktc1, joined
 * @virtual: each names the other as its peer, as those of a veth pair do, and marks of the
 *	stack pass; else frames are copied, as over a wire, and marks do not
 * @queued: both have a queueing discipline, as an administrator can give to those of a veth pair
 * @touch: if not NULL, called for each frame under way, with its Ethernet payload at skb->data and
 *	bottom halves off; may change it unless @virtual, because then it is a copy
 */
struct lab_cable {
	struct net_device *end[2];
	bool virtual, queued;
	void (*touch)(struct lab_cable *cable, struct sk_buff *skb);
};

/** lab_cable() - make @cable, of which @virtual, @queued and @touch are set */
void lab_cable(struct kunit *test, struct lab_cable *cable);
/** lab_attach() - bind port @port. Return: 0, or an error that was told (else -ENOMSG) */
int lab_attach(struct torus_soft *s, unsigned int port, const char *name);

/** lab_msg() - an empty request; NULL if out of memory */
struct sk_buff *lab_msg(u8 cmd);

/**
 * lab_send() - have @skb checked by its command's policy and executed
 * @s: the device that genl.c would have found; NULL: it is checked only
 * @bad: if not NULL, gets the attribute that the error names, 0 for none
 * Return: as the command returns. @skb is freed.
 */
int lab_send(struct torus_soft *s, struct sk_buff *skb, unsigned int *bad);

/* ROWS_BEGIN, ROWS_COMMIT, RELEASE with VERSION; ROWS_PUT of @n times @row. Any thread. */
int lab_version(struct torus_soft *s, u8 cmd, u64 version);
int lab_put(struct torus_soft *s, u64 version, u32 first, u64 row, u32 n);

extern struct kunit_suite torus_policy_suite, torus_rows_suite, torus_park_suite,
	torus_port_suite, torus_frame_suite, torus_tx_suite, torus_cut_suite, torus_msg_suite,
	torus_cable_suite, torus_show_suite, torus_pkt_suite, torus_null_suite;

#endif /* TORUS_KUNIT_LAB_H */
