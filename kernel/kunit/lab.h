/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites of torus.ko stand on: NICs and Ethernet devices that go with the
 * test that made them, and requests of the netlink family without a socket.
 *
 * kunit/ is in the module only if it is built with TORUS_KUNIT=y, for a kernel that
 * has KUnit in it (tests/vm/test_kunit.sh). The suites run at the end of the module's
 * init: KUnit by itself runs a module's suites before that in some versions.
 */
#ifndef TORUS_KUNIT_LAB_H
#define TORUS_KUNIT_LAB_H

#include <kunit/test.h>

#include "../genl.h"

#define LAB_ROW		(TORUS_ROW_VALID | 15ull << TORUS_ROW_FIRST_SHIFT | \
			 15ull << TORUS_ROW_LAST_SHIFT)

/** lab_nic() - a NIC in the first namespace; fails the test if there is none */
struct torus_dev *lab_nic(struct kunit *test, u8 nports, u64 park_bytes);

/** lab_place() - make it node 0 of a ring of @nodes */
void lab_place(struct kunit *test, struct torus_dev *d, u16 nodes);

/** lab_lower() - an Ethernet device that is up and swallows frames */
struct net_device *lab_lower(struct kunit *test, const char *name, unsigned int mtu);
/** lab_lower_del() - unregister it now */
void lab_lower_del(struct net_device *lower);

typedef int (*lab_doit)(struct sk_buff *skb, struct genl_info *info);

/** lab_msg() - an empty request; NULL if out of memory */
struct sk_buff *lab_msg(u8 cmd);

/**
 * lab_send() - have @skb checked by its command's policy and obeyed by @doit
 * @doit: may be NULL: it is checked only
 * @d: the device that genl.c would have found
 * @bad: if not NULL, gets the attribute that was complained of, 0 for none
 * Return: as the command returns. @skb is gone.
 */
int lab_send(struct torus_dev *d, struct sk_buff *skb, lab_doit doit, unsigned int *bad);

/* ROWS_BEGIN, ROWS_COMMIT, RELEASE with VERSION; ROWS_PUT of @n times @row. Any thread. */
int lab_version(struct torus_dev *d, u8 cmd, u64 version);
int lab_put(struct torus_dev *d, u64 version, u32 first, u64 row, u32 n);

extern struct kunit_suite torus_policy_suite, torus_rows_suite, torus_park_suite,
	torus_port_suite, torus_frame_suite, torus_tx_suite, torus_cut_suite;

#endif /* TORUS_KUNIT_LAB_H */
