/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests and rings of remote memory that break all rules, for rmahostile (the socket of torusemu)
 * and rmafuzz (the device of the driver).
 */
#ifndef RMA_HOSTILE_H
#define RMA_HOSTILE_H

#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <torus/torus_rma.h>
#include "kernel/core/splitmix64.h"

#define SHARED	4096

static uint64_t state;

static uint64_t any(void)
{
	return splitmix64_mix(state += SPLITMIX64_STEP);
}

static unsigned int below(unsigned int n)
{
	return (unsigned int)(any() >> 32) % n;
}

/* Fills a SEND or RECV that is nearly right. @self: name of this context */
static struct torus_rma_ask any_message(uint64_t self)
{
	struct torus_rma_ask a = {
		.op = below(2) ? TORUS_RMA_SEND : TORUS_RMA_RECV, .bytes = below(SHARED),
		.offset = below(SHARED), .local = below(8), .cookie = below(4),
	};

	if (a.op == TORUS_RMA_SEND) {
		a.node = below(2);
		a.addr = below(4) ? self : any() >> 16;
		a.value = any();
	}
	return a;
}

/* Fills a request that is nearly right. */
static struct torus_rma_ask any_ask(uint64_t self)
{
	struct torus_rma_ask a = {
		.op = (uint8_t)(1 + below(4)), .node = below(2), .flags = TORUS_RMA_KEYED,
		.addr = below(SHARED), .region = below(4), .key = (uint32_t)any(),
		.local = below(8), .cookie = below(4),
	};

	if (a.op <= TORUS_RMA_GET) {
		a.bytes = below(SHARED);
		a.offset = below(SHARED);
	} else {
		a.word = (uint16_t)(any() & 0x7fff);
		a.value = any();
	}
	if (!below(4))
		a = any_message(self);
	if (!below(4))
		((uint8_t *)&a)[below(sizeof(a))] = (uint8_t)any();
	return a;
}

/* Writes into memory that the NIC reads at this time. */
static void break_rings(struct torus_rma_head *head, size_t bytes, int bell)
{
	struct torus_rma_ask *sq = (void *)((char *)head + sizeof(*head));
	uint32_t tail = 0, entries = head->sq_entries ? head->sq_entries : 1;
	unsigned int n = 1 + below(200);

	for (unsigned int i = 0; i < n; i++) {
		sq[tail++ % entries] = any_ask(head->name);
		__atomic_store_n(&head->sq_tail, tail, __ATOMIC_RELEASE);
		if (below(2))
			__atomic_store_n(&head->cq_head, head->cq_tail, __ATOMIC_RELEASE);
		eventfd_write(bell, below(50) ? 1 : UINT64_MAX - 1);
		if (!below(20))
			((volatile uint32_t *)head)[below((unsigned int)(bytes / 4))] = (uint32_t)any();
		if (!below(100))
			usleep(1000);
	}
}

#endif /* RMA_HOSTILE_H */
