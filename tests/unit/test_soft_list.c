// SPDX-License-Identifier: GPL-2.0-only
/* Descriptions of regions and of the requests that wait for their words: who may see which. */
#include "tests/unit/fake_service.h"

/* Regions 0 to 3: of users 1, 2 and 1, and one that is being closed. Requests wait in 1 and 2. */
static struct tn_soft_context *make_regions(void)
{
	struct tn_soft_context *ctx = fake_context(1), *other = fake_context(2);

	fake_share(ctx, CALL(.bytes = 5, .access = 1), 0, NULL);
	fake_share(other, CALL(.bytes = 8, .flags = 3), 0, NULL);
	fake_share(ctx, CALL(.bytes = 16, .flags = 7, .access = 15, .addr = 0x1000), 0, NULL);
	fake_share(ctx, CALL(.bytes = 8, .flags = 3), 0, NULL);
	f.replies = 0;
	assert_int_equal(tn_soft_rma_unshare(ctx, &CALL(.region = 3)), 0);
	return ctx;
}

static void end_regions(void)
{
	f.replies = ~0u;
	fake_free(tn_soft_rma_leave(&f.rma));
}

static void let_wait(u32 region, u64 word, u32 from, u8 op, u64 value, u64 now)
{
	struct tn_fe_ask ask = {
		.op = op, .q = op == TN_FE_WAIT ? TN_FE_ANY : TN_FE_FULL, .r = TN_FE_ANY,
		.cmp = op == TN_FE_WAIT ? TN_FE_GT : 0, .type = op == TN_FE_WAIT ? TN_AMO_S64 : 0,
		.from = from, .value = value,
	};
	u64 old;

	assert_int_equal(tn_fe_ask(&f.rma.pool, f.rma.region[region].fe, word,
				   (u64 *)(fake_memory + 8 * word), &ask, now, &old), TN_FE_WAITS);
}

static void describes(struct tn_soft_context *ctx, u32 from, struct torus_rma_region_info want)
{
	struct torus_rma_call c = CALL(.region = from);

	assert_int_equal(tn_soft_region_get(ctx, &c), 0);
	assert_memory_equal(&c.region_info, &want, sizeof(want));
}

static void regions_are_described_to_their_users(void **state)
{
	const struct torus_rma_region_info
		first = { .bytes = 5, .job = 1, .access = 1 },
		second = { .bytes = 8, .region = 1, .context = 1, .job = 2,
			   .flags = TORUS_RMA_HAS_FE, .waits = 1 },
		third = { .bytes = 16, .region = 2, .job = 1, .access = 15, .waits = 2,
			  .flags = TORUS_RMA_HAS_FE | TORUS_RMA_AT, .addr = 0x1000 };
	struct torus_rma_call c = CALL(.region = 3);
	struct tn_soft_context *ctx, *root;

	(void)state;
	fake_begin();
	ctx = make_regions();
	root = fake_context(0);
	let_wait(2, 0, 1, TN_FE_READ, 0, 0);
	let_wait(1, 0, 1, TN_FE_READ, 0, 0);
	let_wait(2, 1, 1, TN_FE_READ, 0, 0);
	describes(ctx, 0, first);
	describes(ctx, 1, third);
	describes(root, 1, second);
	describes(root, 2, third);
	fake_refused(tn_soft_region_get(ctx, &c), -ENOENT, &c,
		     "there is no region from number 3 on");
	c.region = 3;
	fake_refused(tn_soft_region_get(root, &c), -ENOENT, &c,
		     "there is no region from number 3 on");
	c.region = ~0u;
	fake_refused(tn_soft_region_get(root, &c), -ENOENT, &c,
		     "there is no region from number 4294967295 on");
	c.region = TN_SOFT_REGIONS_MAX;
	assert_int_equal(tn_soft_region_get(root, &c), -ENOENT);
	end_regions();
}

static void describes_wait(struct tn_soft_context *ctx, u64 from, struct torus_rma_wait_info want)
{
	struct torus_rma_call c = CALL(.bytes = from);
	struct tn_soft_search search = { 0 };

	assert_int_equal(tn_soft_wait_get(ctx, &c, &search, 1000), 0);
	assert_memory_equal(&c.wait_info, &want, sizeof(want));
}

/* The first one waits in a region that is being closed. */
static void waiting_requests_are_described_in_order(void **state)
{
	const struct torus_rma_wait_info
		second = { .number = 1, .age_ns = 909, .region = 1, .node = 6, .job = 2,
			   .word = TORUS_RMA_WORD_FE(TN_FE_READ, TN_FE_FULL, TN_FE_ANY) },
		third = { .number = 2, .offset = 8, .age_ns = 908, .value = 77, .operand = 78,
			  .region = 2, .node = 7, .job = 1, .full = 1,
			  .word = TORUS_RMA_WORD_FE(TN_FE_WAIT, TN_FE_ANY, TN_FE_ANY) |
				  TORUS_RMA_WORD_CMP(TN_FE_GT) |
				  TORUS_RMA_WORD_AMO(0, TN_AMO_S64) },
		fourth = { .number = 3, .age_ns = 907, .operand = 3, .region = 2, .node = 8,
			   .job = 1, .word = second.word };
	const struct tn_fe_ask fill = {
		.op = TN_FE_WRITE, .q = TN_FE_ANY, .r = TN_FE_FULL, .value = 77,
	};
	u64 old, *word = (u64 *)(fake_memory + 8);
	struct torus_rma_call c = CALL(.bytes = 0);
	struct tn_soft_search first = { 0 }, last = { 0 };
	struct tn_soft_context *ctx, *root;

	(void)state;
	fake_begin();
	ctx = make_regions();
	root = fake_context(0);
	fake_refused(tn_soft_wait_get(ctx, &c, &first, 0), -ENOENT, &c, "no request waits");
	memset(fake_memory, 0, 16);
	assert_int_equal(tn_fe_ask(&f.rma.pool, f.rma.region[2].fe, 1, word, &fill, 0,
				   &old), TN_FE_DONE);
	let_wait(3, 0, 5, TN_FE_READ, 0, 90);
	let_wait(1, 0, 6, TN_FE_READ, 0, 91);
	let_wait(2, 1, 7, TN_FE_WAIT, 78, 92);
	let_wait(2, 0, 8, TN_FE_READ, 3, 93);
	describes_wait(root, 0, second);
	describes_wait(ctx, 0, third);
	describes_wait(ctx, 2, third);
	describes_wait(ctx, 3, fourth);
	c.bytes = 4;
	fake_refused(tn_soft_wait_get(root, &c, &last, 0), -ENOENT, &c, "no request waits");
	end_regions();
}

static u64 first_wait(struct tn_soft_context *ctx, struct tn_soft_search *search)
{
	struct torus_rma_call c = CALL(.bytes = 0);
	int err = tn_soft_wait_get(ctx, &c, search, 1000);

	return err ? (u64)err : c.wait_info.number;
}

/* Request 2 waits where request 0 waited, before request 1 in memory. */
static void requests_are_found_by_number(void **state)
{
	struct tn_soft_search search = { 0 };
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = make_regions();
	let_wait(2, 0, 5, TN_FE_READ, 0, 0);
	let_wait(2, 0, 6, TN_FE_READ, 0, 0);
	assert_int_equal(tn_fe_cancel(&f.rma.pool, f.rma.region[2].fe, 0, 5, 0), 0);
	let_wait(2, 0, 7, TN_FE_READ, 0, 0);
	assert_int_equal(first_wait(ctx, &search), 1);
	end_regions();
}

/* The request that a search found ends before the search does; another one takes its place. */
static void search_begins_anew_if_request_ends(void **state)
{
	struct tn_soft_search search = { 0 };
	struct tn_soft_context *ctx;

	(void)state;
	fake_begin();
	ctx = make_regions();
	for (u32 i = 0; i < TN_SOFT_SEARCH + 9; i++)
		let_wait(2, 0, i, TN_FE_READ, 0, 0);
	assert_int_equal(first_wait(ctx, &search), (u64)-EAGAIN);
	assert_int_equal(tn_fe_cancel(&f.rma.pool, f.rma.region[2].fe, 0, 0, 0), 0);
	let_wait(2, 0, 9999, TN_FE_READ, 0, 0);
	assert_int_equal(first_wait(ctx, &search), (u64)-EAGAIN);
	assert_int_equal(first_wait(ctx, &search), (u64)-EAGAIN);
	assert_int_equal(first_wait(ctx, &search), 1);
	/* When the place is left, none waits any more. */
	search = (struct tn_soft_search) { 0 };
	assert_int_equal(first_wait(ctx, &search), (u64)-EAGAIN);
	end_regions();
	assert_int_equal(tn_soft_rma_add(&f.rma, &f.ctx[0], 0), 0);
	assert_int_equal(first_wait(&f.ctx[0], &search), (u64)-ENOENT);
	search = (struct tn_soft_search) { 0 };
	assert_int_equal(first_wait(&f.ctx[0], &search), (u64)-ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(regions_are_described_to_their_users),
		cmocka_unit_test(waiting_requests_are_described_in_order),
		cmocka_unit_test(requests_are_found_by_number),
		cmocka_unit_test(search_begins_anew_if_request_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
