// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions of remote memory: their limits and addresses, and how they are closed. Random calls are
 * compared with a plain list of regions.
 */
#include "tests/unit/fake_service.h"
#include "tests/unit/seeds.h"

#define RW	(TORUS_RMA_ACCESS_READ | TORUS_RMA_ACCESS_WRITE)
#define USERS	4

/* --- a plain list of regions ----------------------------------------------------- */

/* A region of @ctx, if that is not NULL. ends: it is being closed. */
struct model {
	struct tn_soft_context *ctx;
	u64 bytes, addr;
	u32 key, flags, access;
	u8 *mem;
	bool ends;
};

static struct model have[TN_SOFT_REGIONS_MAX];

static u32 count_regions(const struct tn_soft_context *ctx, int64_t user)
{
	u32 n = 0;

	for (u32 i = 0; i < TN_SOFT_REGIONS_MAX; i++)
		n += have[i].ctx && (!ctx || have[i].ctx == ctx) &&
		     (user < 0 || have[i].ctx->job == user);
	return n;
}

static u64 sum_bytes(int64_t user, bool is_root_left_out)
{
	u64 n = 0;

	for (u32 i = 0; i < TN_SOFT_REGIONS_MAX; i++)
		if (have[i].ctx && (user < 0 || have[i].ctx->job == user) &&
		    !(is_root_left_out && !have[i].ctx->job))
			n += have[i].bytes;
	return n;
}

/* Return: the open region of this job that has one of these addresses; NULL: there is none. */
static const struct model *find_at(u32 job, u64 addr, u64 bytes)
{
	for (u32 i = 0; i < TN_SOFT_REGIONS_MAX; i++) {
		const struct model *m = &have[i];

		if (m->ctx && !m->ends && m->flags & TORUS_RMA_AT && m->ctx->job == job &&
		    addr < m->addr + m->bytes && m->addr < addr + bytes)
			return m;
	}
	return NULL;
}

static int expect_limits(const struct tn_soft_context *ctx, u64 bytes)
{
	u32 user = ctx->job;

	if (count_regions(ctx, -1) == 64)
		return -ENOSPC;
	if (bytes > FAKE_BYTES_MAX - sum_bytes(-1, false))
		return -ENOMEM;
	if (count_regions(NULL, -1) == 1024)
		return -ENOSPC;
	if (!user)
		return 0;
	if (count_regions(NULL, user) >= 256 ||
	    count_regions(NULL, -1) - count_regions(NULL, 0) >= 960)
		return -ENOSPC;
	return sum_bytes(user, true) + bytes > FAKE_BYTES_MAX / 2 ||
	       sum_bytes(-1, true) + bytes > FAKE_BYTES_MAX / 8 * 7 ? -ENOMEM : 0;
}

static int expect_share(const struct tn_soft_context *ctx, const struct torus_rma_call *c)
{
	bool fe = c->flags & TORUS_RMA_HAS_FE;
	int err;

	if (!c->bytes || c->access > 15 || c->flags > 7 || (fe && c->bytes % 8) ||
	    (!fe && (c->access & TORUS_RMA_ACCESS_FE || c->flags & TORUS_RMA_STARTS_EMPTY)))
		return -EINVAL;
	err = expect_limits(ctx, c->bytes);
	if (err || !(c->flags & TORUS_RMA_AT))
		return err;
	if (c->addr % 8 || !c->access || c->addr >= 1ull << 48)
		return -EINVAL;
	if (c->addr + c->bytes > 1ull << 48)
		return -ERANGE;
	return find_at(ctx->job, c->addr, c->bytes) ? -EEXIST : 0;
}

/* --- random calls ---------------------------------------------------------------- */

static bool has_space(u32 job)
{
	for (u32 i = 0; i < TN_SOFT_REGIONS_MAX; i++)
		if (have[i].ctx && !have[i].ends && have[i].flags & TORUS_RMA_AT &&
		    have[i].ctx->job == job)
			return true;
	return false;
}

static void check_spaces(struct rnd *r)
{
	unsigned int n = 0;

	for (struct tn_soft_space *s = f.rma.space; s; s = s->next)
		n++;
	for (u32 job = 0; job < USERS; job++) {
		const struct tn_window *w = f.cfg.ops->space(f.cfg.host, job);
		struct tn_far far;
		u64 addr = 8 * rnd_below(r, 200);
		const struct model *m = find_at(job, addr, 1);

		expect(r, !!w == has_space(job), "job %u", job);
		n -= !!w;
		if (!w)
			continue;
		expect(r, tn_window_look(w, addr, 1, 0, &far) == (m ? 0 : -ENXIO), "%u", job);
		expect(r, !m || (far.target == (u32)(m - have) && far.access == m->access &&
				 far.to == addr - m->addr), "0x%llx",
		       (unsigned long long)addr);
	}
	expect(r, !n, "%u spaces too many", n);
}

static u64 find_room(u32 id, u32 region, u64 offset)
{
	return f.rma.context[id]->ring.cfg.ops->room(&f.rma, id, region, offset);
}

/* Checks how much a ring may use of a region of its context. */
static void check_room(struct rnd *r, const struct model *m, u32 i)
{
	u32 id = m->ctx->id;

	expect(r, find_room(id, i, 0) == (m->ends ? 0 : m->bytes), "region %u", i);
	expect(r, find_room(id, i, m->bytes - 1) == !m->ends, "region %u", i);
	expect(r, !find_room(id, i, m->bytes), "region %u", i);
	expect(r, !find_room((id + 1) % (2 * USERS), i, 0), "region %u", i);
}

static void check_regions(struct rnd *r)
{
	u32 ending = 0;

	for (u32 i = 0; i < TN_SOFT_REGIONS_MAX; i++) {
		const struct model *m = &have[i];
		const struct tn_rma_region *g = &f.rma.region[i];
		u64 run, at = m->bytes / 2;

		ending += m->ends;
		expect(r, f.rma.owned[i].ctx == m->ctx && g->bytes == m->bytes, "region %u", i);
		expect(r, g->key == m->key, "region %u: key %x, not %x", i, g->key, m->key);
		expect(r, !!g->fe == !!(m->flags & TORUS_RMA_HAS_FE), "region %u", i);
		if (!m->ctx) {
			expect(r, !find_room(0, i, 0), "region %u", i);
			continue;
		}
		expect(r, g->job == m->ctx->job && g->access == m->access, "region %u", i);
		expect(r, f.cfg.ops->mem(f.cfg.host, i, at, &run) == m->mem + at &&
			  run == m->bytes - at, "region %u", i);
		check_room(r, m, i);
	}
	expect(r, f.rma.ending == ending && f.rma.shared == sum_bytes(-1, false), "%u", ending);
}

/* The key of a region that is made in the place of an earlier one. */
static u32 next_key(u32 old, u32 random)
{
	u32 low = random % 0x1000000;

	return (old / 0x1000000 + 1) * 0x1000000 + (low ? low : 1);
}

static void share_one(struct rnd *r, struct tn_soft_context *ctx)
{
	static const u32 flags[] = { 0, 0, TORUS_RMA_HAS_FE, TORUS_RMA_AT, TORUS_RMA_AT, 7, 2, 8 };
	struct torus_rma_call c = {
		.bytes = rnd_below(r, 4) ? 8 * rnd_below(r, 9) : rnd_below(r, 1500),
		.access = rnd_below(r, 18), .flags = flags[rnd_below(r, 8)],
		.addr = rnd_one_in(r, 9) ? (1ull << 48) - 8 * rnd_below(r, 9) :
					   8 * rnd_below(r, 200) + !rnd_below(r, 9),
	};
	struct tn_soft_share share = {
		.mem = fake_memory + rnd_below(r, 99), .pin = ctx, .key = (u32)rnd64(r),
		.space = fake_space(),
	};
	bool made = has_space(ctx->job);
	int want = expect_share(ctx, &c);

	if (rnd_one_in(r, 8))
		share.key &= 0xff000000;
	share.bits = c.flags & TORUS_RMA_HAS_FE ? calloc(1, tn_soft_rma_bits(c.bytes)) : NULL;
	expect(r, fake_reserve_and_share(ctx, &share, &c) == want, "%d: %s", want, c.why);
	expect(r, !want || c.why[0], "%d", want);
	expect(r, share.space || (c.flags & TORUS_RMA_AT && !made), "memory of a space");
	free(share.space);
	if (want) {
		free(share.bits);
		return;
	}
	for (u32 i = 0; i < c.region; i++)
		expect(r, have[i].ctx, "region %u is free, %u was taken", i, c.region);
	expect(r, c.key == next_key(have[c.region].key, share.key), "key %x", c.key);
	have[c.region] = (struct model) {
		.ctx = ctx, .bytes = c.bytes, .addr = c.addr, .key = c.key, .flags = c.flags,
		.access = c.access, .mem = share.mem,
	};
}

/* @i was closed or waits for it: the owner was asked once. */
static void close_one(struct rnd *r, u32 i, unsigned int unmaps, bool closes)
{
	struct model *m = &have[i];

	m->ends = !closes;
	expect(r, f.unmaps == unmaps + closes, "region %u", i);
	if (!closes)
		return;
	expect(r, f.unmapped.mem == m->mem && f.unmapped.pin == m->ctx &&
		  !!f.unmapped.bits == !!(m->flags & TORUS_RMA_HAS_FE), "region %u", i);
	*m = (struct model) { .key = m->key };
}

static void unshare_one(struct rnd *r, struct tn_soft_context *ctx, u32 region)
{
	struct torus_rma_call c = { .region = region };
	unsigned int unmaps = f.unmaps;
	bool own = have[c.region].ctx == ctx && !have[c.region].ends, closes = rnd_below(r, 2);
	int want = !own ? -ENOENT : rnd_one_in(r, 4) ? -EBUSY : 0;

	f.replies = closes;
	f.ring[ctx->id].used = want == -EBUSY ? c.region : ~0u;
	expect(r, tn_soft_rma_unshare(ctx, &c) == want, "region %u", c.region);
	expect(r, !want || c.why[0], "%d", want);
	if (!want)
		close_one(r, c.region, unmaps, closes);
}

/* The owner has memory for the replies of some regions, which are closed in order of numbers. */
static void settle_some(struct rnd *r)
{
	unsigned int replies = rnd_below(r, 3), closings = f.closings, asked = 0;
	bool stops = false;

	f.replies = replies;
	f.unmaps = 0;
	tn_soft_rma_settle(&f.rma);
	for (u32 i = 0; i < TN_SOFT_REGIONS_MAX; i++) {
		struct model *m = &have[i];

		if (!m->ends || stops)
			continue;
		asked++;
		if (!replies) {
			stops = true;
			continue;
		}
		replies--;
		*m = (struct model) { .key = m->key };
		f.unmaps--;
	}
	expect(r, !f.unmaps && f.closings == closings + asked, "%u asked", asked);
}

static void play_calls(uint64_t seed)
{
	struct tn_soft_context *ctx[2 * USERS], *c;
	struct rnd r = rnd_new(seed);
	u32 region;

	fake_begin();
	memset(have, 0, sizeof(have));
	for (u16 i = 0; i < 2 * USERS; i++)
		ctx[i] = fake_context(i / 2);
	for (unsigned int i = 0; i < 300; i++) {
		c = ctx[rnd_below(&r, 2 * USERS)];
		region = rnd_below(&r, 12);
		switch (rnd_below(&r, 6)) {
		case 0:
		case 1:
			if (have[region].ctx && !rnd_one_in(&r, 6))
				c = have[region].ctx;
			unshare_one(&r, c, region);
			break;
		case 2:
			settle_some(&r);
			break;
		default:
			share_one(&r, c);
		}
		if (i % 4 == 0)
			check_regions(&r);
		check_spaces(&r);
	}
	f.replies = ~0u;
	fake_free(tn_soft_rma_leave(&f.rma));
	expect(&r, !f.rma.shared && !f.rma.space && f.ends == 2 * USERS, "%u", f.ends);
}

static void regions_are_those_of_a_list(void **state)
{
	(void)state;
	for_seeds(20, play_calls);
}

/* --- limits ---------------------------------------------------------------------- */

#define NOT_FE "full/empty bits: the region must be made with them, and have whole words of 8 bytes"

static void share_names_the_wrong_value(void **state)
{
	struct torus_rma_call at = CALL(.bytes = 9, .flags = TORUS_RMA_AT, .access = RW);
	struct tn_soft_share none = { .mem = fake_memory };
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = fake_context(1);
	fake_share(ctx, CALL(.access = RW), -EINVAL, "a region of 0 bytes: must be 1 or more");
	fake_share(ctx, CALL(.bytes = 8, .access = 16), -EINVAL,
		   "access 0x10: must be within the mask 0xf");
	fake_share(ctx, CALL(.bytes = 8, .flags = 8), -EINVAL,
		   "flags 0x8: must be within the mask 0x7");
	fake_share(ctx, CALL(.bytes = 7, .flags = TORUS_RMA_HAS_FE), -EINVAL, NOT_FE);
	fake_share(ctx, CALL(.bytes = 8, .access = TORUS_RMA_ACCESS_FE), -EINVAL, NOT_FE);
	fake_share(ctx, CALL(.bytes = 9, .flags = TORUS_RMA_AT, .addr = 4, .access = RW), -EINVAL,
		   "address 0x4: must be a multiple of 8");
	fake_share(ctx, CALL(.bytes = 9, .flags = TORUS_RMA_AT), -EINVAL,
		   "a region with an address must allow some access");
	fake_refused(fake_reserve_and_share(ctx, &none, &at), -ENOMEM, &at, "out of memory");
	ctx->open = false;
	fake_share(ctx, CALL(.bytes = 8), -EINVAL, "the context is not open");
}

static void address_names_the_region_that_has_it(void **state)
{
	struct torus_rma_call c = CALL(.bytes = 0x20, .flags = TORUS_RMA_AT, .access = RW,
				       .addr = 16);
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = fake_context(1);
	fake_share(ctx, CALL(.bytes = 8), 0, NULL);
	fake_share(ctx, c, 0, NULL);
	c.addr = 40;
	fake_share(ctx, c, -EEXIST, "address 0x28: region 1 has 0x10 to 0x2f");
	c.addr = 0xffffffffffe8;
	fake_share(ctx, c, -ERANGE,
		   "address 0xffffffffffe8: the region must end at 0x1000000000000 at the latest");
	fake_free(tn_soft_rma_leave(&f.rma));
	assert_int_equal(f.frees, 1);
}

/* A space whose first region is refused is given back. */
static void refused_region_leaves_no_space(void **state)
{
	struct torus_rma_call c = CALL(.bytes = 9, .flags = TORUS_RMA_AT, .access = RW,
				       .addr = 0xfffffffffff8);
	struct tn_soft_share share = { .space = fake_space(), .mem = fake_memory };
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = fake_context(1);
	assert_int_equal(fake_reserve_and_share(ctx, &share, &c), -ERANGE);
	assert_null(f.rma.space);
	assert_int_equal(f.frees, 1);
	assert_int_equal(ctx->regions, 0);
	assert_int_equal(f.rma.shared, 0);
	assert_null(f.rma.owned[0].ctx);
}

/* Fills all that users may have with regions of one byte, and then what root may have. */
static void regions_are_limited_by_user(void **state)
{
	struct tn_soft_context *ctx = NULL;

	(void)state;
	fake_begin();
	fake_share(fake_context(0), CALL(.bytes = 1, .flags = TORUS_RMA_AT, .access = RW), 0, NULL);
	for (unsigned int i = 0; i < 960; i++) {
		if (i % 64 == 0)
			ctx = fake_context(1 + i / 256);
		fake_share(ctx, CALL(.bytes = 1), 0, NULL);
		if (i == 63)
			fake_share(ctx, CALL(.bytes = 1), -ENOSPC,
				   "the context has 64 regions, the limit is 64");
		if (i == 255)
			fake_share(fake_context(1), CALL(.bytes = 1), -ENOSPC,
				   "user 1 has 256 regions, the limit is 256");
	}
	fake_share(fake_context(9), CALL(.bytes = 1), -ENOSPC,
		   "all users have 960 regions, the limit is 960");
	ctx = fake_context(0);
	for (unsigned int i = 0; i < 63; i++)
		fake_share(ctx, CALL(.bytes = 1), 0, NULL);
	fake_share(fake_context(0), CALL(.bytes = 1), -ENOSPC,
		   "the NIC has 1024 regions, and may not have more");
	fake_free(tn_soft_rma_leave(&f.rma));
}

static void bytes_are_limited_by_user(void **state)
{
	struct tn_soft_context *a, *b, *root;

	(void)state;
	fake_begin();
	a = fake_context(1);
	b = fake_context(2);
	root = fake_context(0);
	fake_share(a, CALL(.bytes = 4001), -ENOMEM, "a region of 4001 bytes: user 1 has 0, "
		   "all users 0; the limits are 4000 and 7000");
	fake_share(a, CALL(.bytes = 1000), 0, NULL);
	fake_share(root, CALL(.bytes = 900), 0, NULL);
	fake_share(a, CALL(.bytes = 3001), -ENOMEM, "a region of 3001 bytes: user 1 has 1000, "
		   "all users 1000; the limits are 4000 and 7000");
	fake_share(a, CALL(.bytes = 3000), 0, NULL);
	fake_share(b, CALL(.bytes = 3001), -ENOMEM, "a region of 3001 bytes: user 2 has 0, "
		   "all users 4000; the limits are 4000 and 7000");
	fake_share(b, CALL(.bytes = 3000), 0, NULL);
	fake_share(root, CALL(.bytes = 101), -ENOMEM,
		   "a region of 101 bytes: this NIC may have 100 more");
	fake_share(root, CALL(.bytes = 100), 0, NULL);
	fake_share(a, CALL(.bytes = ~0ull), -ENOMEM,
		   "a region of 18446744073709551615 bytes: this NIC may have 0 more");
}

/* --- how regions end ------------------------------------------------------------- */

static void unshare_names_the_region(void **state)
{
	struct torus_rma_call c = { 0 };
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = fake_context(1);
	fake_share(ctx, CALL(.bytes = 8), 0, NULL);
	f.ring[0].used = 0;
	fake_refused(tn_soft_rma_unshare(ctx, &c), -EBUSY, &c,
		     "open requests of this context use region 0");
	f.ring[0].used = ~0u;
	ctx->open = false;
	fake_refused(tn_soft_rma_unshare(ctx, &c), -EINVAL, &c, "the context is not open");
	ctx->open = true;
	fake_refused(tn_soft_rma_unshare(fake_context(1), &c), -ENOENT, &c,
		     "this context has no region 0");
	c.region = ~0u;
	fake_refused(tn_soft_rma_unshare(ctx, &c), -ENOENT, &c,
		     "this context has no region 4294967295");
	assert_int_equal(find_room(0, ~0u, 0), 0);
}

/* A context has ended only when the last of its regions is closed, which a step continues. */
static void context_waits_for_its_regions(void **state)
{
	struct tn_soft_context *ctx, *other;

	(void)state;
	fake_begin();
	ctx = fake_context(1);
	other = fake_context(1);
	for (unsigned int i = 0; i < 3; i++) {
		fake_share(ctx, CALL(.bytes = 8), 0, NULL);
		fake_share(other, CALL(.bytes = 8), 0, NULL);
	}
	f.replies = 1;
	tn_soft_rma_end(ctx, 0);
	assert_int_equal(f.unmaps, 1);
	assert_int_equal(f.ends, 0);
	assert_int_equal(f.rma.ending, 2);
	tn_soft_rma_step(&f.rma, 0);
	assert_int_equal(f.unmaps, 1);
	assert_int_equal(f.rma.ending, 2);
	assert_int_equal(ctx->regions, 2);
	f.replies = 1;
	tn_soft_rma_step(&f.rma, 0);
	assert_int_equal(f.unmaps, 2);
	assert_int_equal(f.ends, 0);
	f.replies = 9;
	tn_soft_rma_step(&f.rma, 0);
	assert_int_equal(f.unmaps, 3);
	assert_int_equal(f.ends, 1);
	assert_int_equal(other->regions, 3);
}

/* A step closes what the call could not; when the place is left, nothing is kept for replies. */
static void region_is_closed_later(void **state)
{
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = fake_context(1);
	fake_share(ctx, CALL(.bytes = 8), 0, NULL);
	fake_share(ctx, CALL(.bytes = 8), 0, NULL);
	f.replies = 0;
	assert_int_equal(tn_soft_rma_unshare(ctx, &CALL(.region = 0)), 0);
	f.replies = 1;
	tn_soft_rma_step(&f.rma, 0);
	assert_int_equal(f.unmaps, 1);
	fake_free(tn_soft_rma_leave(&f.rma));
	assert_int_equal(f.unmaps, 2);
	assert_int_equal(f.ends, 1);
}

/* --- full/empty bits ------------------------------------------------------------- */

static void bits_begin_full_or_empty(void **state)
{
	struct tn_soft_context *ctx;

	(void)state;
	assert_int_equal(tn_soft_rma_bits(8), 16);
	assert_int_equal(tn_soft_rma_bits(64 * 8), 16);
	assert_int_equal(tn_soft_rma_bits(65 * 8), 32);
	fake_begin();
	ctx = fake_context(1);
	fake_share(ctx, CALL(.bytes = 65 * 8, .flags = TORUS_RMA_HAS_FE), 0, NULL);
	fake_share(ctx, CALL(.bytes = 8, .flags = 3), 0, NULL);
	for (u32 i = 0; i < 2; i++) {
		struct tn_fe_bits *fe = f.rma.region[i].fe;

		assert_int_equal(fe->n, i ? 1 : 65);
		assert_int_equal(tn_fe_is_full(fe, fe->n - 1), !i);
		assert_ptr_equal(fe->quota, &ctx->user->waits);
		assert_ptr_equal(fe->full, f.rma.owned[i].bits);
		assert_ptr_equal(fe->waits, fe->full + (i ? 1 : 2));
	}
	fake_share(fake_context(0), CALL(.bytes = 8, .flags = TORUS_RMA_HAS_FE), 0, NULL);
	assert_null(f.rma.region[2].fe->quota);
	fake_free(tn_soft_rma_leave(&f.rma));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_those_of_a_list),
		cmocka_unit_test(share_names_the_wrong_value),
		cmocka_unit_test(address_names_the_region_that_has_it),
		cmocka_unit_test(refused_region_leaves_no_space),
		cmocka_unit_test(regions_are_limited_by_user),
		cmocka_unit_test(bytes_are_limited_by_user),
		cmocka_unit_test(unshare_names_the_region),
		cmocka_unit_test(context_waits_for_its_regions),
		cmocka_unit_test(region_is_closed_later),
		cmocka_unit_test(bits_begin_full_or_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
