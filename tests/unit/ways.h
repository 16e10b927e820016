/* SPDX-License-Identifier: GPL-2.0-only */
/* One NIC whose rows lead to three nodes, and what its ports sent; for tests of paths and parking. */
#ifndef TESTS_WAYS_H
#define TESTS_WAYS_H

#include "tests/unit/one_lone.h"

static inline void few_slots(struct lone *t)
{
	for (unsigned int p = 0; p < TORUS_MAX_PORTS; p++)
		t->peer[p].slots = 3;
}

/* Begins with node 0 of 3x3: +x, +y, -x, -y are ports 0 to 3; rows lead to 1, 3, 4. */
static inline void begin(void (*tune)(struct lone *l))
{
	lone_begin(tune);
	lone_row(&l, 1, lone_dirs(1));
	lone_row(&l, 3, lone_dirs(2));
	lone_row(&l, 4, lone_dirs(3) | TORUS_ROW_ADAPTIVE | 3ull << TORUS_ROW_ADAPT_SHIFT);
	release();
}

static inline void sends(unsigned int n, u32 dst, unsigned int vc)
{
	while (n--)
		assert_int_equal(lone_send(&l, dst, vc, 1), 0);
	work();
}

/* Return: packets of @vc that were sent by @port since its RETRY buffer was empty. */
static inline u32 went(unsigned int port, unsigned int vc)
{
	const struct tn_pkt *pkt = lone_link(&l, port)->retry.tx.sent.head;
	u32 n = 0;

	for (; pkt; pkt = pkt->next)
		n += pkt->hdr.type == TN_DATA && pkt->hdr.vc == vc;
	return n;
}

static inline u64 waited(unsigned int port)
{
	struct tn_link_info info;

	tn_nic_link_info(l.nic, port, &info, l.now);
	return info.gauge[TORUS_PG_WAITED];
}

/* The neighbour frees @n buffers of @vc. */
static inline void frees(unsigned int port, u8 vc, u16 n)
{
	lone_drain(&l, port);
	lone_rx_pkt(&l, port, (struct tn_hdr) { .type = TN_CREDIT, .crp = n, .crp_vc = vc },
		    (struct tn_tail) { 0 });
	work();
}

static inline struct tn_park_info parked(void)
{
	struct tn_park_info info;

	tn_nic_park_info(l.nic, &info);
	return info;
}

#endif /* TESTS_WAYS_H */
