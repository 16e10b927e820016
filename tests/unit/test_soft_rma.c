// SPDX-License-Identifier: GPL-2.0-only
/*
 * Contexts of remote memory at a software NIC (kernel/req/soft_rma.h): what users share, so that
 * none of them can take all of it, and how much one call does while packets wait.
 */
#include "tests/unit/softnic.h"

#include <stdlib.h>

#include "kernel/req/soft_rma.h"

#define ENTRIES		256
#define BYTES		4096

struct process {
	struct tn_soft_context ctx;
	struct torus_rma_head *head;
	struct torus_rma_ask *sq;
	struct torus_rma_end *cq;
	struct tn_rma_ring_op *op;
	u64 *memory;
	bool ended;
};

static struct tn_soft_rma rma;
static struct process process[TN_SOFT_CONTEXTS_MAX];
static unsigned int blocks, unmaps;

static struct process *process_of(struct tn_soft_context *ctx)
{
	return (struct process *)((char *)ctx - offsetof(struct process, ctx));
}

static void on_wake(struct tn_soft_context *ctx)
{
	(void)ctx;
}

static void on_unmap(struct tn_soft_rma *of, struct tn_soft_region *r)
{
	(void)of;
	unmaps++;
	free(r->bits);
	free(r->mem);
}

static void *on_alloc(size_t bytes)
{
	blocks++;
	return calloc(1, bytes);
}

static void on_left(struct tn_soft_context *ctx)
{
	tn_soft_rma_end(ctx, w.l.now);
}

static void on_ended(struct tn_soft_context *ctx)
{
	process_of(ctx)->ended = true;
}

static const struct tn_soft_rma_ops calls = {
	.wake = on_wake, .unmap = on_unmap, .alloc = on_alloc, .free = free, .left = on_left,
	.ended = on_ended,
};

/* --- a NIC and its processes ----------------------------------------------------------- */

static void begin(void)
{
	const struct torus_shape shape = { .ndims = 2, .size = { 4, 4, 1, 1, 1, 1 } };
	const struct torus_coords at = { { 1, 1 } };

	softnic_begin();
	assert_int_equal(OP.place(HW, &shape, &at), 0);
	w.s.hw.placed = true;
	w.s.hw.node = 5;
	w.s.nic = w.l.nic;		/* as with the lock of the NIC, from now on */
	memset(&rma, 0, sizeof(rma));
	memset(process, 0, sizeof(process));
	rma.soft = &w.s;
	rma.ops = &calls;
	rma.bytes_max = 1 << 30;
	blocks = unmaps = 0;
}

static void free_process(struct process *p)
{
	free(p->head);
	free(p->op);
	p->head = NULL;
}

static void finish(void)
{
	struct tn_soft_block *memory = tn_soft_rma_leave(&rma), *next;

	for (; memory; memory = next) {
		next = memory->next;
		free(memory);
		blocks--;
	}
	assert_int_equal(blocks, 0);
	assert_int_equal(rma.contexts, 0);
	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++)
		free_process(&process[i]);
	w.s.nic = NULL;
	softnic_end();
}

/* Opens the context of a process. Return: 0, or the error of tn_soft_rma_add() */
static int open_process(struct process *p, u32 user)
{
	struct torus_rma_call call = { .version = TORUS_RMA_VERSION, .entries = ENTRIES };
	int err = tn_soft_rma_add(&rma, &p->ctx, user);
	void *memory = NULL;

	if (err)
		return err;
	assert_int_equal(tn_soft_rma_check(&p->ctx, &call), 0);
	if (!rma.memory)
		memory = on_alloc(tn_soft_rma_size(&rma));
	assert_int_equal(tn_soft_rma_begin(&rma, &memory, 7, w.l.now, &call), 0);
	assert_null(memory);
	p->head = calloc(1, tn_soft_rma_ring_size(ENTRIES));
	p->op = calloc(1, tn_soft_rma_ops_size(ENTRIES));
	assert_true(p->head && p->op);
	tn_soft_rma_open(&p->ctx, p->head, p->op, ENTRIES, 5);
	p->sq = (void *)((char *)p->head + p->head->sq_offset);
	p->cq = (void *)((char *)p->head + p->head->cq_offset);
	return 0;
}

/* Gives the process a region whose words are empty. Return: the request that waits for a word */
static struct torus_rma_ask share_empty(struct process *p)
{
	struct torus_rma_call call = {
		.bytes = BYTES, .access = TORUS_RMA_ACCESS_FE | TORUS_RMA_ACCESS_WRITE,
		.flags = TORUS_RMA_HAS_FE | TORUS_RMA_STARTS_EMPTY,
	};
	struct tn_soft_share share = {
		.mem = calloc(1, BYTES), .bits = calloc(1, tn_soft_rma_bits(BYTES)), .key = 9,
	};

	assert_int_equal(tn_soft_rma_reserve(&p->ctx, &call), 0);
	assert_int_equal(tn_soft_rma_share(&p->ctx, &share, &call), 0);
	return (struct torus_rma_ask) {
		.op = TORUS_RMA_FE, .flags = TORUS_RMA_KEYED, .node = w.s.hw.node,
		.region = call.region, .key = call.key,
		.word = TORUS_RMA_WORD_FE(TORUS_RMA_READ, TORUS_RMA_FULL, TORUS_RMA_FULL),
	};
}

static void submit(struct process *p, const struct torus_rma_ask *ask)
{
	assert_true(p->head->sq_tail - p->head->sq_head < ENTRIES);
	p->sq[p->head->sq_tail++ % ENTRIES] = *ask;
	p->ctx.ready = true;
}

/* Lets the NIC work until all it has to do is done. */
static void work_all(void)
{
	while (tn_soft_rma_step(&rma, w.l.now) || tn_soft_rma_expiry(&rma) <= w.l.now)
		tn_nic_work(w.l.nic, w.l.now);
}

/* Opens contexts @from to @to of a user, which wait for a word with all their requests. */
static void wait_with_contexts(unsigned int from, unsigned int to, u32 user)
{
	struct torus_rma_ask ask;

	for (unsigned int i = from; i <= to; i++) {
		assert_int_equal(open_process(&process[i], user), 0);
		if (i == from)
			ask = share_empty(&process[i]);
		for (int k = 0; k < ENTRIES; k++)
			submit(&process[i], &ask);
		work_all();
	}
}

/* Return: the last completion of a process. */
static const struct torus_rma_end *last_end(const struct process *p)
{
	assert_true(p->head->cq_tail);
	return &p->cq[(p->head->cq_tail - 1) % p->head->cq_entries];
}

/* --- shares of users ------------------------------------------------------------------- */

/* Requests of one user that wait leave room for others; those of all leave room for root. */
static void users_leave_waits_to_each_other_and_to_root(void **state)
{
	const struct torus_rma_end *end;
	unsigned int at = 0;

	(void)state;
	begin();
	wait_with_contexts(0, TN_SOFT_USER_WAITS / ENTRIES, 1000);
	assert_int_equal(rma.pool.waiting, TN_SOFT_USER_WAITS);
	at = TN_SOFT_USER_WAITS / ENTRIES;
	end = last_end(&process[at++]);
	assert_int_equal(end->status, TORUS_RMA_REFUSED);
	assert_int_equal(end->reason, TORUS_RMA_NO_ROOM);
	assert_int_equal(end->value, TN_SOFT_USER_WAITS);
	for (u32 user = 1001; user < 1004; user++) {
		wait_with_contexts(at, at + TN_SOFT_USER_WAITS / ENTRIES - 1, user);
		at += TN_SOFT_USER_WAITS / ENTRIES;
	}
	assert_int_equal(rma.pool.waiting, TN_SOFT_WAITS - TN_SOFT_ROOT_WAITS);
	end = last_end(&process[at - 1]);
	assert_int_equal(end->reason, TORUS_RMA_NO_ROOM);
	assert_int_equal(end->value, TN_SOFT_WAITS - TN_SOFT_ROOT_WAITS);
	wait_with_contexts(at, at + 1, 0);
	assert_int_equal(rma.pool.waiting, TN_SOFT_WAITS);
	finish();
}

/* The waits of a user whose contexts have all ended are forgotten, and the user may have new ones. */
static void share_of_a_user_comes_back_with_the_contexts(void **state)
{
	(void)state;
	begin();
	for (int round = 0; round < 3; round++) {
		wait_with_contexts(0, 1, 1000);
		assert_int_equal(rma.pool.waiting, 2 * ENTRIES);
		assert_int_equal(rma.user[0].waits.waiting, 2 * ENTRIES);
		for (int i = 0; i < 2; i++)
			tn_soft_rma_end(&process[i].ctx, w.l.now);
		for (int i = 0; i < 100 && !(process[0].ended && process[1].ended); i++)
			work_all();
		assert_true(process[0].ended && process[1].ended);
		assert_int_equal(rma.pool.waiting + rma.others.waiting + rma.user[0].contexts, 0);
		for (int i = 0; i < 2; i++) {
			free_process(&process[i]);
			process[i] = (struct process) { .ended = false };
		}
	}
	assert_int_equal(unmaps, 3);
	finish();
}

static void user_has_a_quarter_of_the_contexts(void **state)
{
	unsigned int i;

	(void)state;
	begin();
	for (i = 0; i < TN_SOFT_USER_CONTEXTS; i++)
		assert_int_equal(open_process(&process[i], 1000), 0);
	assert_int_equal(open_process(&process[i], 1000), -EUSERS);
	for (; i < TN_SOFT_CONTEXTS_MAX - TN_SOFT_ROOT_CONTEXTS; i++)
		assert_int_equal(open_process(&process[i], 1001 + i / 16), 0);
	assert_int_equal(open_process(&process[i], 2000), -ENOSPC);
	for (; i < TN_SOFT_CONTEXTS_MAX; i++)
		assert_int_equal(open_process(&process[i], 0), 0);
	finish();
}

/*
 * Users above 65535, such as those of a directory service, have remote memory. None is taken for
 * the user whose number has the same low 16 bits.
 */
static void users_above_16_bits_are_distinct(void **state)
{
	static const u32 user[] = { 100000, 100000 & 0xffff, 100000 + (1 << 16), 100000 };
	struct torus_rma_ask put;

	(void)state;
	begin();
	for (unsigned int i = 0; i < ARRAY_SIZE(user); i++) {
		assert_int_equal(open_process(&process[i], user[i]), 0);
		assert_int_equal(process[i].head->job, user[i]);
	}
	put = share_empty(&process[0]);
	put = (struct torus_rma_ask) {
		.op = TORUS_RMA_PUT, .flags = TORUS_RMA_KEYED | TORUS_RMA_INLINE, .node = put.node,
		.region = put.region, .key = put.key, .bytes = 8,
	};
	for (unsigned int i = 0; i < ARRAY_SIZE(user); i++) {
		const struct torus_rma_end *end;

		submit(&process[i], &put);
		work_all();
		end = last_end(&process[i]);
		assert_int_equal(end->status, i % 3 ? TORUS_RMA_REFUSED : TORUS_RMA_DONE);
		assert_int_equal(end->reason, i % 3 ? TORUS_RMA_JOB : 0);
	}
	finish();
}

/*
 * A region counts from the time at which it is reserved, while its memory is made: so processes that
 * make memory at the same time keep the limits together. Nobody can use it before.
 */
static void reserved_region_counts_and_is_closed(void **state)
{
	struct torus_rma_call half = { .bytes = 1 << 29, .access = TORUS_RMA_ACCESS_WRITE };
	struct torus_rma_call more = { .bytes = 1 << 29 }, list = { 0 }, end = { 0 };
	struct torus_rma_ask put = { .op = TORUS_RMA_PUT, .bytes = 8, .node = 5 };
	struct tn_soft_share share = { .key = 9 };

	(void)state;
	begin();
	assert_int_equal(open_process(&process[0], 1000), 0);
	assert_int_equal(open_process(&process[1], 1000), 0);
	assert_int_equal(tn_soft_rma_reserve(&process[0].ctx, &half), 0);
	assert_int_equal(tn_soft_rma_reserve(&process[1].ctx, &more), -ENOMEM);
	put.local = end.region = half.region;
	submit(&process[0], &put);
	work_all();
	assert_int_equal(last_end(&process[0])->reason, TORUS_RMA_BAD_LOCAL);
	assert_int_equal(tn_soft_region_get(&process[0].ctx, &list), -ENOENT);
	assert_int_equal(tn_soft_rma_unshare(&process[0].ctx, &end), -ENOENT);
	tn_soft_rma_unreserve(&process[1].ctx, half.region);	/* not its own */
	assert_int_equal(rma.shared, half.bytes);
	tn_soft_rma_unreserve(&process[0].ctx, half.region);
	assert_int_equal(rma.shared, 0);
	assert_int_equal(tn_soft_rma_share(&process[0].ctx, &share, &half), -ENOENT);
	assert_int_equal(tn_soft_rma_reserve(&process[1].ctx, &more), 0);
	tn_soft_rma_end(&process[1].ctx, w.l.now);
	work_all();
	assert_true(process[1].ended);
	assert_int_equal(rma.shared + unmaps, 0);
	finish();
}

/* --- work under the lock --------------------------------------------------------------- */

/* A step takes requests of some contexts, and the next step those of others. */
static void step_is_short_and_contexts_take_turns(void **state)
{
	struct torus_rma_ask get = { .op = TORUS_RMA_CANCEL, .value = 77 };
	u32 taken = 0, before;

	(void)state;
	begin();
	for (unsigned int i = 0; i < 16; i++) {
		assert_int_equal(open_process(&process[i], 1000), 0);
		for (int k = 0; k < ENTRIES; k++)
			submit(&process[i], &get);
	}
	for (unsigned int n = 0; n < 4; n++) {
		before = taken;
		taken = 0;
		assert_true(tn_soft_rma_step(&rma, w.l.now));
		for (unsigned int i = 0; i < 16; i++)
			taken += process[i].head->sq_head;
		assert_in_range(taken - before, 1, 5 * TN_RMA_RING_BATCH);
	}
	for (unsigned int i = 0; i < 16; i++)
		assert_true(process[i].head->sq_head);
	work_all();
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(process[i].head->sq_head, ENTRIES);
	finish();
}

/* Lists all waits, and lets another one end after each piece. Return: how many were listed */
static unsigned int list_waits(struct process *p, u32 region, bool ends)
{
	struct torus_rma_call call = { .bytes = 0 };
	unsigned int n = 0;

	for (;; n++) {
		struct tn_soft_search search = { 0 };
		u64 from = call.bytes;
		u32 at = 0;
		int err;

		while ((err = tn_soft_wait_get(&p->ctx, &call, &search, w.l.now)) == -EAGAIN) {
			assert_true(search.at <= at + TN_SOFT_SEARCH);
			at = search.at;
			if (ends && rma.owned[region].fe.oldest)
				tn_fe_end_oldest(&rma.pool, &rma.owned[region].fe);
		}
		if (err)
			return n;
		assert_true(call.wait_info.number >= from);
		assert_true(ends || call.wait_info.number == from);
		call = (struct torus_rma_call) { .bytes = call.wait_info.number + 1 };
	}
}

static void waits_are_listed_in_order_by_short_searches(void **state)
{
	struct torus_rma_call call = { 0 };

	(void)state;
	begin();
	assert_int_equal(open_process(&process[9], 1001), 0);
	wait_with_contexts(0, 4, 1000);
	assert_int_equal(list_waits(&process[0], 0, false), 5 * ENTRIES);
	assert_int_equal(list_waits(&process[9], 0, false), 0);
	assert_int_equal(tn_soft_region_get(&process[0].ctx, &call), 0);
	assert_int_equal(call.region_info.waits, 5 * ENTRIES);
	assert_in_range(list_waits(&process[0], 0, true), 1, 5 * ENTRIES / 2);
	rma.region[0].fe = NULL;	/* their initiators still wait: nobody ends them */
	finish();
}

/* --- versions ---------------------------------------------------------------------------- */

static void process_of_another_version_receives_both(void **state)
{
	struct torus_rma_call call = { .version = TORUS_RMA_VERSION + 1, .entries = ENTRIES };

	(void)state;
	begin();
	assert_int_equal(tn_soft_rma_add(&rma, &process[0].ctx, 0), 0);
	assert_int_equal(tn_soft_rma_check(&process[0].ctx, &call), -EPROTO);
	assert_string_equal(call.why, "version 2 of the rings: must be 1");
	finish();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(users_leave_waits_to_each_other_and_to_root),
		cmocka_unit_test(share_of_a_user_comes_back_with_the_contexts),
		cmocka_unit_test(user_has_a_quarter_of_the_contexts),
		cmocka_unit_test(users_above_16_bits_are_distinct),
		cmocka_unit_test(reserved_region_counts_and_is_closed),
		cmocka_unit_test(step_is_short_and_contexts_take_turns),
		cmocka_unit_test(waits_are_listed_in_order_by_short_searches),
		cmocka_unit_test(process_of_another_version_receives_both),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
