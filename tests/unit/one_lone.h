/* SPDX-License-Identifier: GPL-2.0-only */
/* One NIC alone (lone.h), and short names for what its tests do most. */
#ifndef TESTS_ONE_LONE_H
#define TESTS_ONE_LONE_H

#include "lib/util/times.h"
#include "tests/unit/lone.h"

static struct lone l;

/* Node 0 of 3x3; ports 0 to 3, +x, +y, -x and -y, are up. */
static inline void lone_begin(void (*tune)(struct lone *l))
{
	lone_start(&l, "3x3", 0, tune);
	lone_all_up(&l);
}

static inline void end(void)
{
	lone_end(&l);
}

/* Lifts the holds that a commit has left. */
static inline void release(void)
{
	assert_int_equal(tn_nic_release(l.nic, l.nic->version, false, l.now), 0);
}

static inline u64 nc(enum torus_node_counter c)
{
	return lone_nc(&l, c);
}

static inline u64 fc(enum torus_flow_counter c)
{
	return lone_fc(&l, c);
}

static inline void work(void)
{
	tn_nic_work(l.nic, l.now);
}

/* Return: a packet of @len flits of data, all of a message. */
static inline struct tn_pkt *make_packet(u16 len)
{
	struct tn_pkt *pkt = memory_new(&l.mem, len);

	memset(pkt->payload, 0x5a, (size_t)len * TN_FLIT);
	pkt->hdr = (struct tn_hdr) { .type = TN_DATA, .len = len };
	pkt->tail = (struct tn_tail) { .flags = TN_TAIL_FIRST | TN_TAIL_LAST };
	pkt->in_vc = 0xa5;
	return pkt;
}

#endif /* TESTS_ONE_LONE_H */
