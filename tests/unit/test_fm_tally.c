// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tests of the nodes that count as taking part in the version at hand, for each kind of entry of
 * the table and of node at that place; and of the NICs that may still lack their place: once their
 * manager is silent no packet is to pass through them.
 */
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/changes.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"
#include "daemon/fm/root/tally.h"
#include "stage_root.h"

#define NODE 3

/** struct kind - an entry, and the node at its place; @guid, @epoch: it is that of the entry */
struct kind {
	uint8_t entry, node;
	bool is_there, guid, epoch;
	bool unknown;		/* the entry has no epoch: the root never met that NIC */
};

static enum fm_part part_of(const struct kind *k)
{
	bool up = k->entry == FM_NODE_UP;

	/* Another node, or none: the NIC of the entry may be at work, if it was alive. */
	if (!k->is_there || !k->guid)
		return up || k->entry == FM_NODE_SILENT ? FM_PART_LIVES : FM_PART_NONE;
	if (k->node == FM_NODE_DEAD)
		return FM_PART_NONE;
	if (k->unknown)
		return up || k->entry == FM_NODE_SILENT ? FM_PART_LIVES : FM_PART_NONE;
	/* The NIC began anew: what it had is gone. */
	if (!k->epoch)
		return up ? FM_PART_ANEW : FM_PART_NONE;
	if (k->entry == FM_NODE_ABSENT)
		return FM_PART_NONE;
	if (k->node == FM_NODE_UP)
		return up ? FM_PART_TAKES : FM_PART_LIVES;
	return k->entry == FM_NODE_DEAD ? FM_PART_NONE : FM_PART_LIVES;
}

/* Checks that the sums are those of all nodes. */
static void sums_are_right(void)
{
	const struct fm_tally *t = fm_tally(s.fm);
	uint32_t parts[FM_PARTS] = { 0 };
	uint64_t set = 0;

	for (uint32_t i = 0; i < 4; i++) {
		const struct fm_entry *e = fm_node(s.fm, i);
		enum fm_part part = fm_tally_part(s.fm, i);

		parts[part]++;
		if (part == FM_PART_TAKES)
			set += fm_fingerprint(e->guid, e->epoch);
	}
	for (unsigned int i = FM_PART_TAKES; i < FM_PARTS; i++)
		assert_int_equal(t->parts[i], parts[i]);
	assert_int_equal(t->set, set);
}

static void one_kind(const struct kind *k)
{
	struct fm_entry *e = &s.fm->table.entry[NODE];
	struct fm_record *m = fm_record(s.fm->root, NIC + NODE);

	e->state = k->entry;
	e->guid = k->guid ? NIC + NODE : NIC + 50;
	e->epoch = k->unknown ? 0 : 1;
	m->state = k->node;
	m->epoch = k->epoch ? 1 : 2;
	s.fm->root->at[NODE] = k->is_there ? fm_record_number(s.fm->root, m) + 1 : 0;
	fm_change_node(s.fm, NODE);
	assert_int_equal(fm_tally_part(s.fm, NODE), part_of(k));
	sums_are_right();
}

static void each_kind_of_node_is_counted_as_expected(void **state)
{
	static const uint8_t states[] = { FM_NODE_ABSENT, FM_NODE_UP, FM_NODE_SILENT, FM_NODE_DEAD };

	(void)state;
	ring();
	for (unsigned int e = 0; e < 4; e++)
		for (unsigned int n = 1; n < 4; n++)
			for (unsigned int k = 0; k < 16; k++)
				one_kind(&(struct kind) {
					.entry = states[e], .node = states[n], .is_there = k & 1,
					.guid = k & 2, .epoch = k & 4, .unknown = k & 8,
				});
	stage_end(&s);
}

/* --- NICs that may not have their place --------------------------------------------------------- */

/* Nodes of the mask @do report what they are asked, until nothing more comes of it. */
static void report(unsigned int mask)
{
	for (uint32_t round = 0; round < 6; round++) {
		for (uint32_t i = 1; i < 4; i++)
			if (mask & 1u << i)
				reports(i, round);
		stage_run_ns(&s, s.now + MS);
	}
}

static void nic_fails(uint32_t node)
{
	struct fm_msg m = { .type = FM_MSG_FAILED };

	m.failed = (struct fm_failed) { .guid = NIC + node, .epoch = 1, .version = fm_version(s.fm) };
	stage_msg(&s, 100 + (int)node, &m);
}

static bool all_excluded(uint32_t node)
{
	assert_int_equal(fm_node(s.fm, node)->state, FM_NODE_SILENT);
	return fm_node(s.fm, node)->fault == 0xf;
}

/*
 * Nodes 2 and 3 fall silent after the first table. A node that has reported it works at its place;
 * of one that has not this is not known, so all its cables are excluded.
 */
static void cables_of_silent_node_without_report_are_excluded(void **state)
{
	(void)state;
	for (unsigned int mask = 0; mask < 16; mask += 4) {
		root("4x1");
		for (uint32_t i = 1; i < 4; i++)
			join(i);
		stage_run_ns(&s, s.now + 10 * MS);
		assert_int_equal(fm_version(s.fm), 1);
		report(mask == 12 ? 14 : 2 | mask);
		nic_fails(2);
		stage_run_ns(&s, s.now + MS);
		assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_SILENT);
		assert_int_equal(all_excluded(2), mask != 12);
		report(2 | 8);
		nic_fails(3);
		stage_run_ns(&s, s.now + 20 * MS);
		report(2);
		stage_run_ns(&s, s.now + 20 * MS);
		assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_SILENT);
		assert_false(all_excluded(3));
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(each_kind_of_node_is_counted_as_expected),
		cmocka_unit_test(cables_of_silent_node_without_report_are_excluded),
	};

	return cmocka_run_group_tests_name("fm_tally", all, NULL, NULL);
}
