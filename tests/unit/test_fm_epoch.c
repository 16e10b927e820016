// SPDX-License-Identifier: GPL-2.0-only
/*
 * The epoch of a root: above all that it knows of. Two roots of one epoch would give out tables of
 * the same numbers, and NICs could not tell whom to obey.
 */
#include <errno.h>

#include "stage_root.h"

static void root_of(uint64_t epoch, uint64_t guid)
{
	root("4x1");
	stage_end(&s);
	s.dev.root_epoch = epoch;
	s.dev.root_guid = guid;
	stage_start(&s);
	stage_forget(&s);
}

/* Node @node, whose NIC obeys that root, joins. */
static void joins_from(uint32_t node, uint64_t epoch, uint64_t guid)
{
	struct fm_msg m = hello(node);

	m.hello.root_epoch = epoch;
	m.hello.root_guid = guid;
	joins(&m);
}

static void epoch_is(uint64_t epoch)
{
	struct fm_outline o;

	stage_run_ns(&s, s.now + 10 * MS);
	fm_outline(s.fm, &o);
	assert_int_equal(o.term, epoch);
}

static void all_join(void)
{
	for (uint32_t i = 1; i < 4; i++)
		join(i);
}

/* A root that begins anew is above itself. */
static void above_its_nic(void **state)
{
	(void)state;
	root_of(0, 0);
	all_join();
	epoch_is(1);
	stage_end(&s);
	root_of(41, NIC);
	all_join();
	epoch_is(42);
	stage_end(&s);
	root_of(41, 0xabc);
	all_join();
	epoch_is(42);
	stage_end(&s);
}

static void anew(uint64_t epoch, uint64_t guid, uint64_t next)
{
	struct fm_msg m;
	char want[200];

	root_of(0, 0);
	join(1);
	stage_forget(&s);
	joins_from(2, epoch, guid);
	sprintf(want, "log warning root: 'n2' obeys root %016llx of epoch %llu: all nodes join anew "
		"in epoch %llu\n", (unsigned long long)guid, (unsigned long long)epoch,
		(unsigned long long)next);
	assert_int_equal(stage_count(&s, want), 1);
	assert_int_equal(stage_count(&s, "close 101"), 1);
	/* It is welcomed when it says HELLO again: by then the root's NIC knows the epoch. */
	stage_did_no(&s, "welcome");
	m = hello(2);
	m.hello.root_epoch = epoch;
	m.hello.root_guid = guid;
	stage_msg(&s, 102, &m);
	stage_did_some(&s, "102 < welcome own term root 100 parent ''\n");
	join(1);
	join(3);
	epoch_is(next);
	stage_end(&s);
}

/* Nobody is welcomed in an epoch that the root's NIC does not keep: its next life would take it, too. */
static void first_its_nic(void **state)
{
	struct fm_msg m;

	(void)state;
	root("4x1");
	stage_end(&s);
	s.roots = true;
	s.err.root = -EBUSY;
	stage_start(&s);
	join(1);
	stage_did_no(&s, "welcome");
	stage_run(&s, 95);
	stage_did_no(&s, "root 100 of 1\n");
	s.err.root = 0;
	stage_run(&s, 105);
	stage_did_some(&s, "root 100 of 1\n");
	m = hello(1);
	stage_msg(&s, 101, &m);
	stage_did_some(&s, "101 < welcome own term root 100 parent ''\n");
	stage_run(&s, 1000);
	stage_did_no(&s, "root 100 of 1\n");
	stage_end(&s);
}

/* The root's NIC lost its memory: what the others obey is not below it, so all join once more. */
static void above_all_others(void **state)
{
	(void)state;
	anew(7, NIC, 8);
	anew(7, 0xabc, 8);
	anew(5000, NIC, 5001);
	/* It was of this epoch itself, in a life of which it knows nothing, or another was. */
	anew(1, NIC, 2);
	anew(1, 0xabc, 2);
}

static void not_above_its_own(void **state)
{
	(void)state;
	root_of(6, NIC);
	joins_from(1, 6, NIC);
	joins_from(2, 5, 0xabc);
	joins_from(3, 0, 0);
	assert_int_equal(stage_count(&s, "join anew"), 0);
	epoch_is(7);
	/* By now they obey this one. */
	stage_down(&s, 101);
	joins_from(1, 7, NIC);
	assert_int_equal(stage_count(&s, "join anew"), 0);
	epoch_is(7);
	stage_end(&s);
}

/* One node that is far above what this root knows is not believed; the others go on. */
static void far_above(void **state)
{
	(void)state;
	root_of(6, NIC);
	join(1);
	joins_from(2, 7 + 1024, NIC);
	assert_int_equal(stage_count(&s, "join anew in epoch 1032"), 1);
	stage_forget(&s);
	joins_from(3, 1032 + 1025, NIC);
	assert_int_equal(stage_count(&s, "join anew"), 0);
	assert_string_equal(fm_problem(s.fm, 0)->text, "'n3' obeys epoch 2057; a root of epoch 1032 "
			    "believes 2056 at most");
	stage_did_some(&s, "103 < refuse 'n3' obeys epoch 2057");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(above_its_nic),
		cmocka_unit_test(first_its_nic),
		cmocka_unit_test(above_all_others),
		cmocka_unit_test(not_above_its_own),
		cmocka_unit_test(far_above),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
