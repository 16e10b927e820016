/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of this node's links: connects linktest.h with the NIC and the loop. */
#ifndef TESTER_H
#define TESTER_H

#include <stdbool.h>
#include "daemon/linktest.h"

struct fabricd;
struct tester;

/** struct tester_counts - increase of a receiver's counters since its test began */
struct tester_counts {
	uint64_t bits, frames, crc_errors, malformed, lost_frames, retries;
};

/** tester_new() - allocate the state of all tests. Return: NULL if out of memory */
struct tester *tester_new(struct fabricd *d);
/**
 * tester_free() - free @t; call it after nic_free(), because the NIC's queue may have packets of a
 * test
 */
void tester_free(struct tester *t);

/**
 * tester_begin() - begin a test on the link @l, which was just read
 * Return: as linktest_begin(); -ENETDOWN if the link is not up.
 */
int tester_begin(struct tester *t, const struct torus_link *l, enum linktest_role role,
		 const struct linktest_plan *plan);
/** tester_end() - see linktest_end() */
void tester_end(struct tester *t, unsigned int port, uint64_t token);
/**
 * tester_result() - see linktest_result(); @l: the link, just read; @counts: computed from the
 * counters in @l
 * Return: false if there is no such test.
 */
bool tester_result(struct tester *t, const struct torus_link *l, enum linktest_role role,
		   uint64_t token, struct linktest_result *out, struct tester_counts *counts);

/** tester_receive() - handle a management packet. Return: false if it is not a packet of a test */
bool tester_receive(struct tester *t, unsigned int port, const void *data, size_t len);
/** tester_link() - note the state of a link; called after each change */
void tester_link(struct tester *t, const struct torus_link *l);
/** tester_gone() - end all tests as failed, because the NIC was lost */
void tester_gone(struct tester *t);

#endif /* TESTER_H */
