// SPDX-License-Identifier: GPL-2.0-only
/* Contexts of remote memory: their limits, what they tell the core, when they work and end. */
#include "tests/unit/fake_service.h"
#include "tests/unit/seeds.h"

#define SECOND	1000000000ull

/* --- contexts and their limits --------------------------------------------------- */

/* Users of the contexts, by number; -1: no context. The model of tn_soft_rma_add(). */
static int64_t users[TN_SOFT_CONTEXTS_MAX];

static unsigned int count(int64_t from, int64_t to)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++)
		n += users[i] >= from && users[i] <= to;
	return n;
}

/* Return: the number that a new context must get, or the error. */
static int expected(int64_t user)
{
	if (user && count(user, user) == 16)
		return -EUSERS;
	if (count(0, ~0u) == 64 || (user && count(1, ~0u) == 60))
		return -ENOSPC;
	for (int i = 0;; i++)
		if (users[i] < 0)
			return i;
}

static void add_one(struct rnd *r, u32 user)
{
	struct tn_soft_context *ctx = f.ctx;
	int want = expected(user);

	while (ctx->rma)
		ctx++;
	expect(r, tn_soft_rma_add(&f.rma, ctx, user) == (want < 0 ? want : 0), "user %u", user);
	if (want < 0) {
		expect(r, !ctx->rma, "a context that was refused");
		return;
	}
	users[want] = user;
	expect(r, ctx->id == want && ctx->job == user && f.rma.context[want] == ctx, "%d", want);
	expect(r, ctx->user->job == user && ctx->user->contexts == count(user, user) &&
		  ctx->user->waits.all == &f.rma.others, "user %u", user);
}

static void end_one(struct rnd *r, u32 i)
{
	struct tn_soft_context *ctx = f.rma.context[i];
	unsigned int ends = f.ends;

	expect(r, !!ctx == (users[i] >= 0), "%u", i);
	if (!ctx)
		return;
	tn_soft_rma_end(ctx, 0);
	expect(r, f.ends == ends + 1 && f.ended == ctx && !f.rma.context[i], "%u", i);
	users[i] = -1;
}

static void play_limits(uint64_t seed)
{
	static const u32 user[] = { 1, 2, 65536, 65537, ~0u };
	struct rnd r = rnd_new(seed);

	fake_begin();
	memset(users, -1, sizeof(users));
	for (unsigned int i = 0; i < 1200; i++) {
		if (i % 400 < 330 ? rnd_one_in(&r, 9) : !rnd_one_in(&r, 3))
			end_one(&r, rnd_below(&r, TN_SOFT_CONTEXTS_MAX));
		else
			add_one(&r, rnd_one_in(&r, 40) ? 0 : user[rnd_below(&r, ARRAY_SIZE(user))]);
		expect(&r, f.rma.contexts == count(0, ~0u), "%u", f.rma.contexts);
	}
}

static void contexts_are_limited_by_user(void **state)
{
	(void)state;
	for_seeds(8, play_limits);
}

/* --- OPEN ------------------------------------------------------------------------ */

static void check_entries(struct tn_soft_context *ctx, u32 entries)
{
	struct torus_rma_call call = { .version = TORUS_RMA_VERSION, .entries = entries };
	int err = tn_soft_rma_check(ctx, &call);
	bool fits = false;
	char why[100];

	for (u32 n = 1; n <= 256; n *= 2)
		fits |= n == entries;
	if (fits) {
		assert_int_equal(err, 0);
		return;
	}
	snprintf(why, sizeof(why), "%u requests in the ring: must be a power of two up to 256",
		 entries);
	fake_refused(err, -EINVAL, &call, why);
}

static void open_names_what_is_wrong(void **state)
{
	struct torus_rma_call call = { .version = TORUS_RMA_VERSION + 1, .entries = 1 };
	struct tn_soft_context ctx = { 0 };

	(void)state;
	fake_begin();
	for (u32 entries = 0; entries <= 1024; entries++)
		check_entries(&ctx, entries);
	check_entries(&ctx, 1u << 31);
	fake_refused(tn_soft_rma_check(&ctx, &call), -EPROTO, &call,
		     "version 2 of the rings: must be 1");
	call.version = 0;
	fake_refused(tn_soft_rma_check(&ctx, &call), -EPROTO, &call,
		     "version 0 of the rings: must be 1");
	call.version = TORUS_RMA_VERSION;
	ctx.open = true;
	fake_refused(tn_soft_rma_check(&ctx, &call), -EBUSY, &call, "the context is open");
}

/* The parts of the shared memory follow each other without a gap, and the CQ ends with it. */
static void check_layout(const struct tn_rma_ring_config *cfg, const u8 *shared, u32 entries)
{
	const struct torus_rma_head *head = (const void *)shared;

	assert_ptr_equal(cfg->head, head);
	assert_ptr_equal(cfg->sq, shared + sizeof(*head));
	assert_ptr_equal(cfg->cq, cfg->sq + entries);
	assert_ptr_equal(cfg->cq + 2 * entries, shared + tn_soft_rma_ring_size(entries));
	assert_ptr_equal(cfg->sq, shared + head->sq_offset);
	assert_ptr_equal(cfg->cq, shared + head->cq_offset);
	assert_int_equal(cfg->sq_entries, entries);
	assert_int_equal(cfg->cq_entries, 2 * entries);
	assert_int_equal(head->sq_entries, entries);
	assert_int_equal(head->cq_entries, 2 * entries);
	assert_int_equal(tn_soft_rma_ops_size(entries), cfg->ops_max * sizeof(*cfg->op));
}

static void check_head(const struct torus_rma_head *head)
{
	assert_int_equal(head->magic, TORUS_RMA_MAGIC);
	assert_int_equal(head->version, TORUS_RMA_VERSION);
	assert_int_equal(head->node, 7);
	assert_int_equal(head->nodes, 12);
	assert_int_equal(head->job, 500);
	assert_int_equal(head->message_max, 1024 - TN_RMA_HEAD_MAX);
	assert_int_equal(head->name, 0xabcdef120001);
	assert_int_equal(head->sq_tail | head->cq_head | head->sq_head | head->cq_tail, 0);
}

/* Contexts do not take slots from each other (rma_ring.h), so all parts of all of them have one. */
static void open_tells_process_and_core_the_same(void **state)
{
	struct tn_soft_context *ctx;
	const struct tn_rma_ring_config *cfg;
	struct tn_rma_ring_op op;
	u64 shared[600];

	(void)state;
	fake_begin();
	fake_context(0);
	ctx = &f.ctx[1];
	assert_int_equal(tn_soft_rma_add(&f.rma, ctx, 500), 0);
	assert_true(sizeof(shared) >= tn_soft_rma_ring_size(8));
	tn_soft_rma_open(ctx, shared, &op, 8, 0xabcdef12);
	assert_true(ctx->open);
	assert_int_equal(tn_soft_rma_expiry(&f.rma), 0);
	cfg = &ctx->ring.cfg;
	check_layout(cfg, (u8 *)shared, 8);
	check_head(cfg->head);
	assert_ptr_equal(cfg->host, &f.rma);
	assert_ptr_equal(cfg->op, &op);
	assert_null(cfg->gather);
	assert_int_equal(cfg->seed, 1);
	assert_true(cfg->parts_max * TN_SOFT_CONTEXTS_MAX <= f.cfg.slots);
	assert_int_equal(cfg->nodes, 12);
	assert_int_equal(cfg->data_max, cfg->head->message_max);
	assert_int_equal(cfg->name, cfg->head->name);
	assert_int_equal(cfg->id, 1);
	assert_int_equal(cfg->ep, 1);
	assert_int_equal(cfg->job, 500);
}

/* --- the service ----------------------------------------------------------------- */

static void service_needs_place_and_memory(void **state)
{
	struct torus_rma_call call = { 0 };
	u8 memory[1];
	void *left = memory;

	(void)state;
	fake_begin();
	assert_int_equal(fake_free(tn_soft_rma_leave(&f.rma)), 1);
	f.soft.hw.placed = false;
	fake_refused(tn_soft_rma_begin(&f.rma, &left, 9, 4, &call), -EAGAIN, &call,
		     "the NIC has no place in a torus yet");
	f.soft.hw.placed = true;
	left = NULL;
	fake_refused(tn_soft_rma_begin(&f.rma, &left, 9, 4, &call), -ENOMEM, &call,
		     "out of memory");
}

static void service_begins_once(void **state)
{
	struct torus_rma_call call = { 0 };
	void *left, *memory;
	size_t size;

	(void)state;
	fake_begin();
	fake_free(tn_soft_rma_leave(&f.rma));
	size = tn_soft_rma_size(&f.rma);
	left = memory = calloc(1, size);
	f.error = -EBUSY;
	fake_refused(tn_soft_rma_begin(&f.rma, &left, 9, 4, &call), -EBUSY, &call,
		     "the service of the NIC does not start");
	assert_ptr_equal(left, memory);
	f.error = 0;
	assert_int_equal(tn_soft_rma_begin(&f.rma, &left, 9, 4, &call), 0);
	assert_null(left);
	assert_int_equal((uintptr_t)f.memory % 64, 0);
	assert_true((u8 *)f.memory >= (u8 *)memory + TN_SOFT_WAITS * sizeof(struct tn_fe_wait));
	assert_true((u8 *)f.memory + 12 + f.cfg.slots * FAKE_SLOT <= (u8 *)memory + size);
	assert_int_equal(f.opened, 4);
	assert_int_equal(f.rma.pool.seed, 9);
	assert_int_equal(f.rma.pool.n, TN_SOFT_WAITS);
	assert_int_equal(f.rma.others.max, TN_SOFT_WAITS - TN_SOFT_ROOT_WAITS);
	assert_ptr_equal(f.cfg.pool, &f.rma.pool);
	assert_ptr_equal(f.cfg.region, f.rma.region);
	assert_int_equal(f.cfg.regions, TN_SOFT_REGIONS_MAX);
	left = &left;
	assert_int_equal(tn_soft_rma_begin(&f.rma, &left, 0, 5, &call), 0);
	assert_ptr_equal(left, &left);
	assert_int_equal(f.opened, 4);
}

/* All pieces are given back when the place is left. */
static void service_gets_more_memory(void **state)
{
	static const u8 zero[100];
	u8 *more[3];

	(void)state;
	fake_begin();
	for (unsigned int i = 0; i < 3; i++) {
		more[i] = f.cfg.ops->memory(f.cfg.host, sizeof(zero));
		assert_memory_equal(more[i], zero, sizeof(zero));
	}
	memset(more[1], 0xff, sizeof(zero));
	f.is_out = true;
	assert_null(f.cfg.ops->memory(f.cfg.host, sizeof(zero)));
	assert_int_equal(fake_free(tn_soft_rma_leave(&f.rma)), 4);
}

static void core_reaches_the_context_that_is_named(void **state)
{
	struct tn_soft_context *ctx[3] = { 0 };
	struct tn_rma_ask ask = { .addr = 0xabc0001 };
	u64 allowed = 0;
	u8 byte;

	(void)state;
	fake_begin();
	ctx[0] = fake_context(5);
	ctx[1] = fake_context(6);
	f.ctx[2].id = 9;
	assert_int_equal(tn_soft_rma_add(&f.rma, &f.ctx[2], 6), 0);
	ctx[0]->ready = ctx[1]->ready = false;
	f.answer = 6;
	assert_int_equal(f.cfg.ops->recv(f.cfg.host, 3, &ask, &byte, 8, &allowed), 6);
	assert_int_equal(f.ring[1].src, 3);
	assert_int_equal(f.ring[0].src, 0);
	assert_int_equal(allowed, 1);
	assert_ptr_equal(f.issue.ask, &ask);
	assert_ptr_equal(f.issue.data, &byte);
	assert_int_equal(f.issue.bytes, 8);
	assert_true(ctx[1]->ready);
	assert_false(ctx[0]->ready);
	for (u32 id = 2; id <= 0xffff; id += id % 64 ? 1 : 999) {
		ask.addr = id;
		assert_int_equal(f.cfg.ops->recv(f.cfg.host, 3, &ask, &byte, 8, &allowed),
				 TN_RMA_REGION);
	}
	f.cfg.ops->done(f.cfg.host, 0x12345, NULL);
	assert_int_equal(f.ring[0].cookie, 0x12345);
	assert_true(ctx[0]->ready);
	ctx[1]->ready = false;
	f.cfg.ops->done(f.cfg.host, 1ull << 48 | 7, NULL);
	assert_int_equal(f.ring[1].cookie, 1ull << 48 | 7);
	assert_true(ctx[1]->ready);
}

static void rings_reach_the_core_and_the_shell(void **state)
{
	const struct tn_rma_ring_ops *ops;
	struct tn_soft_context *ctx;
	struct tn_rma_ask ask;
	u8 byte;

	(void)state;
	fake_begin();
	fake_context(5);
	ctx = fake_context(6);
	ops = ctx->ring.cfg.ops;
	f.answer = 77;
	assert_int_equal(ops->issue(ctx->ring.cfg.host, 3, &ask, &byte, 4, 99, 1234), 77);
	assert_int_equal(f.issue.dst, 3);
	assert_ptr_equal(f.issue.ask, &ask);
	assert_ptr_equal(f.issue.data, &byte);
	assert_int_equal(f.issue.bytes, 4);
	assert_int_equal(f.issue.cookie, 99);
	assert_int_equal(f.issue.now, 1234);
	f.answer = -ENOENT;
	assert_int_equal(ops->cancel(ctx->ring.cfg.host, 8, &ask), -ENOENT);
	assert_int_equal(f.issue.slot, 8);
	ops->wake(ctx->ring.cfg.host, 1);
	assert_int_equal(f.wakes, 1);
	assert_ptr_equal(f.woken, ctx);
}

/* --- when rings work ------------------------------------------------------------- */

/* A context in one of its states; @due: time to cancel once more. */
struct work {
	bool open, ready, blocked, dead, due, keeps;
	enum tn_rma_ring_state ring;
	unsigned int issues;
};

static struct work work_of(unsigned int no)
{
	return (struct work) {
		.open = no & 1, .ready = no & 2, .blocked = no & 4, .dead = no & 8, .due = no & 16,
		.keeps = no & 32, .issues = no >> 6 & 1, .ring = no >> 7,
	};
}

#define WORKS	(3 << 7)

static void check_expiry(const struct work *w, u64 again_at)
{
	assert_int_equal(tn_soft_rma_expiry(&f.rma), !w->open ? ~0ull : w->ready ? 0 :
			 w->dead ? again_at : ~0ull);
}

/* Steps a context, beside another one that has nothing to do. */
static void check_step(const struct work *w)
{
	bool cancels = w->open && w->dead && w->due;
	bool runs = w->open && (w->ready || w->blocked || cancels);
	struct tn_soft_context *ctx;
	u64 now = 20 * SECOND;

	fake_begin();
	fake_context(1)->ready = false;
	ctx = fake_context(2);
	ctx->open = w->open;
	f.rma.opened = w->open ? 3 : 1;
	ctx->ready = w->ready;
	ctx->blocked = w->blocked;
	ctx->dead = w->dead;
	ctx->again_at = w->due ? now : now + 1;
	ctx->ring.closed = w->dead;
	ctx->ring.open = w->keeps;
	f.ring[1].state = w->ring;
	f.ring[1].issues = w->issues;
	check_expiry(w, ctx->again_at);
	assert_int_equal(tn_soft_rma_step(&f.rma, now),
			 (w->open && w->ready) || (runs && w->issues));
	assert_int_equal(f.ring[0].works, 0);
	assert_int_equal(f.ring[1].works, runs);
	assert_int_equal(f.ring[1].worked, runs ? now : 0);
	assert_int_equal(f.ring[1].closes, cancels);
	assert_int_equal(f.ends, w->open && w->dead && !w->keeps);
	if (f.ends || !w->open)
		return;
	assert_int_equal(ctx->ready, runs && w->ring == TN_RMA_RING_MORE);
	assert_int_equal(ctx->blocked, runs && w->ring == TN_RMA_RING_BLOCKED);
	assert_int_equal(ctx->again_at, cancels ? now + SECOND : w->due ? now : now + 1);
}

static void ring_works_when_it_has_to(void **state)
{
	(void)state;
	for (unsigned int no = 0; no < WORKS; no++) {
		struct work w = work_of(no);

		check_step(&w);
	}
}

/* After 256 steps the other contexts wait for the next call, which begins with them. */
static void contexts_take_turns(void **state)
{
	(void)state;
	for (unsigned int steps = 4; steps < 300; steps++) {
		unsigned int each = (255 + steps) / steps;

		fake_begin();
		for (unsigned int i = 0; i < TN_SOFT_CONTEXTS_MAX; i++) {
			fake_context(0);
			f.ring[i].state = TN_RMA_RING_MORE;
			f.ring[i].steps = steps;
		}
		for (unsigned int i = 1; i <= 20; i++) {
			tn_soft_rma_step(&f.rma, i);
			assert_int_equal(f.rma.turn, i * each % TN_SOFT_CONTEXTS_MAX);
			assert_int_equal(f.ring[(i * each - 1) % TN_SOFT_CONTEXTS_MAX].worked, i);
			assert_int_equal(f.ring[i * each % TN_SOFT_CONTEXTS_MAX].worked == i,
					 each == TN_SOFT_CONTEXTS_MAX);
		}
	}
}

static void first_cancellation_sets_the_expiry(void **state)
{
	struct tn_soft_context *a, *b;

	(void)state;
	fake_begin();
	assert_int_equal(tn_soft_rma_expiry(&f.rma), ~0ull);
	assert_false(tn_soft_rma_step(&f.rma, 1));
	a = fake_context(1);
	b = fake_context(1);
	a->ready = b->ready = false;
	a->dead = b->dead = true;
	for (unsigned int i = 0; i < 9; i++) {
		a->again_at = 5 + i % 3;
		b->again_at = 5 + i / 3;
		assert_int_equal(tn_soft_rma_expiry(&f.rma),
				 a->again_at < b->again_at ? a->again_at : b->again_at);
	}
}

/* --- how contexts end ------------------------------------------------------------ */

static void context_ends_with_its_operations(void **state)
{
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = fake_context(3);
	ctx->ready = false;
	ctx->ring.open = 1;
	tn_soft_rma_end(ctx, 100);
	assert_true(ctx->dead && ctx->ready);
	assert_int_equal(f.ring[0].closes, 1);
	assert_int_equal(ctx->again_at, 100 + SECOND);
	assert_int_equal(f.ends, 0);
	assert_true(tn_soft_rma_step(&f.rma, 100 + SECOND - 1));
	assert_int_equal(f.ring[0].closes, 1);
	assert_int_equal(f.ends, 0);
	ctx->ring.open = 0;
	tn_soft_rma_step(&f.rma, 100 + SECOND - 1);
	assert_int_equal(f.ends, 1);
	assert_int_equal(f.rma.contexts, 0);
	ctx = fake_context(3);
	tn_soft_rma_end(ctx, 100);
	assert_int_equal(f.ends, 2);
}

/* A context is dead, another one has not called OPEN, the last one has the highest number. */
static void all_contexts_end_with_the_place(void **state)
{
	struct tn_soft_context *dead;

	(void)state;
	fake_begin();
	dead = fake_context(3);
	dead->ring.open = 1;
	tn_soft_rma_end(dead, 100);
	assert_int_equal(tn_soft_rma_add(&f.rma, &f.ctx[1], 3), 0);
	for (unsigned int i = 2; i < TN_SOFT_CONTEXTS_MAX; i++)
		fake_context(0)->ring.open = 1;
	f.rma.region[5].key = 1;
	f.rma.region[TN_SOFT_REGIONS_MAX - 1].key = 1;
	assert_int_equal(fake_free(tn_soft_rma_leave(&f.rma)), 1);
	assert_false(f.is_open);
	assert_int_equal(f.lefts, TN_SOFT_CONTEXTS_MAX - 1);
	assert_int_equal(f.ends, TN_SOFT_CONTEXTS_MAX);
	assert_int_equal(f.rma.contexts, 0);
	assert_int_equal(f.rma.region[5].key, 0);
	assert_int_equal(f.rma.region[TN_SOFT_REGIONS_MAX - 1].key, 0);
	assert_null(tn_soft_rma_leave(&f.rma));
	assert_int_equal(tn_soft_rma_add(&f.rma, &f.ctx[0], 3), 0);
	assert_int_equal(tn_soft_rma_add(&f.rma, &f.ctx[1], 3), 0);
	f.rma.context[1]->open = true;
	assert_false(tn_soft_rma_step(&f.rma, 1));
	f.rma.context[1]->open = false;
	assert_null(tn_soft_rma_leave(&f.rma));
	assert_int_equal(f.ends, TN_SOFT_CONTEXTS_MAX + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contexts_are_limited_by_user),
		cmocka_unit_test(open_names_what_is_wrong),
		cmocka_unit_test(open_tells_process_and_core_the_same),
		cmocka_unit_test(service_needs_place_and_memory),
		cmocka_unit_test(service_begins_once),
		cmocka_unit_test(service_gets_more_memory),
		cmocka_unit_test(core_reaches_the_context_that_is_named),
		cmocka_unit_test(rings_reach_the_core_and_the_shell),
		cmocka_unit_test(ring_works_when_it_has_to),
		cmocka_unit_test(contexts_take_turns),
		cmocka_unit_test(first_cancellation_sets_the_expiry),
		cmocka_unit_test(context_ends_with_its_operations),
		cmocka_unit_test(all_contexts_end_with_the_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
