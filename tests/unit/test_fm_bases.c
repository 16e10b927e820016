// SPDX-License-Identifier: GPL-2.0-only
/*
 * The base, by itself: which NICs leave it known, and which stored one a root takes after a
 * restart. Stubs in this test stand for the functions of the manager that the file calls.
 */
#include <string.h>

#include "tests/unit/seeds.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/base.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

#define RECORDS 3

static struct fm_root root;
static struct fm fm = { .root = &root };
static struct fm_record record[RECORDS] = {
	{ .guid = 1, .epoch = 10 }, { .guid = 2, .epoch = 20 }, { .guid = 3, .epoch = 30 },
};

uint64_t fm_fingerprint(uint64_t guid, uint32_t epoch)
{
	return guid * 1000 + epoch;
}

uint32_t fm_roster_size(const struct fm_root *r)
{
	(void)r;
	return RECORDS;
}

struct fm_record *fm_record_no(const struct fm_root *r, uint32_t i)
{
	(void)r;
	assert_true(i < RECORDS);
	return &record[i];
}

static void one_counter_of_a_new_nic_makes_base_unknown(void **state)
{
	struct fm_hello h;

	(void)state;
	for (unsigned int k = 0; k <= TORUS_FC_COUNT * TORUS_COLOURS; k++) {
		bool blank = k == TORUS_FC_COUNT * TORUS_COLOURS;

		memset(&h, 0, sizeof(h));
		h.sums.parked = h.sums.lost = h.sums.held = 1;	/* the base does not have these */
		if (!blank)
			h.sums.flow[k / TORUS_COLOURS][k % TORUS_COLOURS] = 1;
		root.base = (struct fm_base) { .known = 0x1f, .set = 7 };
		fm_base_count(&fm, &record[1], &h);
		assert_int_equal(root.base.known, blank ? 0x1f : 0);
		assert_int_equal(root.base.set, blank ? 2027 : 7);
	}
}

static void base_is_forgotten(void **state)
{
	(void)state;
	root.base.known = 0x1f;
	fm_base_forget(&root);
	assert_int_equal(root.base.known, 0);
}

static void latest_stored_base_is_kept(void **state)
{
	static const uint64_t version[] = { 3, 5, 4, 5, 6 }, kept[] = { 3, 5, 5, 5, 6 };
	struct fm_hello h;

	(void)state;
	memset(&h, 0, sizeof(h));
	root.base_seen.version = 0;
	for (unsigned int i = 0; i < 5; i++) {
		h.base.version = version[i];
		h.base.missing[0] = i;
		fm_base_count(&fm, &record[0], &h);
		assert_int_equal(root.base_seen.version, kept[i]);
		assert_int_equal(root.base_seen.missing[0], i < 2 ? i : i < 4 ? 1 : 4);
	}
}

/* @version, @set: of the stored base; @set is that of all nodes, or not */
static void stored_base_is_valid_only_for_same_nics(void **state)
{
	const uint64_t all = 1010 + 2020 + 3030;

	(void)state;
	for (unsigned int k = 0; k < 4; k++) {
		bool valid = k == 3;

		root.base = (struct fm_base) { .known = 0, .set = 99, .version = 2 };
		root.base_seen = (struct fm_base) { .version = k & 1, .known = 0x1f,
						    .set = all + !(k & 2), .missing = { 4 } };
		fm_base_restore(&fm);
		assert_int_equal(root.base.set, all);
		assert_int_equal(root.base.known, valid ? 0x1f : 0);
		assert_int_equal(root.base.missing[0], valid ? 4 : 0);
		assert_int_equal(root.base.version, valid ? 1 : 2);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(one_counter_of_a_new_nic_makes_base_unknown),
		cmocka_unit_test(base_is_forgotten),
		cmocka_unit_test(latest_stored_base_is_kept),
		cmocka_unit_test(stored_base_is_valid_only_for_same_nics),
	};

	return cmocka_run_group_tests_name("fm_bases", all, NULL, NULL);
}
