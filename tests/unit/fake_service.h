/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Remote memory of a software NIC (soft_rma.h) by itself. Stubs stand for the service of the core,
 * its rings and its shell: they do what the test says, and note what they were asked.
 */
#ifndef TESTS_FAKE_SERVICE_H
#define TESTS_FAKE_SERVICE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/req/soft_rma.h"

#define FAKE_BYTES_MAX		8000
#define FAKE_PEOPLE		(2 * TN_SOFT_CONTEXTS_MAX)
/* bytes of the service for each slot */
#define FAKE_SLOT		3

/**
 * struct fake_ring - what the ring of a context does, and what it was asked
 * @state: what tn_rma_ring_work() returns; @issues: so many requests are issued by it, in @steps
 * @used: region that an open request uses
 * @works, @closes: number of calls; @worked: time of the last one
 * @cookie, @src: of the last part that ended, and of the last message
 */
struct fake_ring {
	enum tn_rma_ring_state state;
	unsigned int issues, steps;
	u32 used;
	unsigned int works, closes;
	u64 worked;
	u64 cookie;
	u32 src;
};

/**
 * struct fake_issue - arguments of the last tn_nic_rma_issue(), tn_rma_cancel() or message
 */
struct fake_issue {
	u32 dst, bytes;
	const struct tn_rma_ask *ask;
	const u8 *data;
	u64 cookie, now;
	u16 slot;
};

/**
 * struct fake_service - all of it
 * @ctx: contexts, of which a test adds some; @ring: of a context by its number
 * @cfg, @memory, @opened: arguments of tn_nic_rma_open(), while the service @is_open
 * @is_out: the shell has no memory
 * @error: what it returns; @answer: what issue, cancel and a message return
 * @replies: so many regions can be closed before the memory for replies is used up
 * @closings: calls of tn_rma_owner_close()
 * @wakes, @unmaps, @frees, @lefts, @ends: calls of the shell
 * @woken, @unmapped, @ended: arguments of the last ones
 */
struct fake_service {
	struct tn_soft soft;
	struct tn_soft_rma rma;
	struct tn_soft_context ctx[FAKE_PEOPLE];
	struct fake_ring ring[TN_SOFT_CONTEXTS_MAX];
	struct tn_nic_rma_config cfg;
	struct tn_rma_owner owner;
	struct tn_rma_initiator initiator;
	struct fake_issue issue;
	void *memory;
	u64 opened;
	bool is_open, is_out;
	int error, answer;
	unsigned int replies, closings;
	unsigned int wakes, unmaps, frees, lefts, ends;
	struct tn_soft_context *woken, *ended;
	struct tn_soft_region unmapped;
};

extern struct fake_service f;
extern u8 fake_memory[FAKE_BYTES_MAX];

#define CALL(...)	(struct torus_rma_call) { __VA_ARGS__ }

/* Frees what tn_soft_rma_leave() returned. Return: number of pieces */
unsigned int fake_free(struct tn_soft_block *memory);
/* A NIC at node 7 of 12, whose service is open, without a context. */
void fake_begin(void);
/* A context of this user, which has called OPEN. Its rings and operations are not in any memory. */
struct tn_soft_context *fake_context(u32 user);
/* The call failed with @err, and said @why. */
void fake_refused(int returned, int err, const struct torus_rma_call *call, const char *why);
/* Memory for a further space, which is not 0. */
struct tn_soft_space *fake_space(void);
/* A call SHARE as a shell answers it: if the region cannot be made, it is no longer reserved. */
int fake_reserve_and_share(struct tn_soft_context *ctx, struct tn_soft_share *share,
			   struct torus_rma_call *c);
/* A call SHARE of @ctx for fake_memory, and what it says; NULL: it succeeds. */
void fake_share(struct tn_soft_context *ctx, struct torus_rma_call c, int err, const char *why);

#endif /* TESTS_FAKE_SERVICE_H */
