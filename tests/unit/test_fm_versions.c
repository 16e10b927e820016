// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of the first table of a root that begins anew: the next one, or a later one if a NIC
 * may have had rows of later versions than all that are reported. Its colour is one that no node
 * stamps.
 */
#include "daemon/fm/node/keep.h"
#include "stage_claim.h"

#define NODES 4

/* version of the rows of each NIC; 0: it has lost its memory */
static uint64_t versions[NODES];
/* version of the table on the disk of each node; 0: it has none */
static uint64_t versions_kept[NODES];

/* All nodes join, with the table of @maker. Return: the first version. */
static uint64_t first_version(uint64_t maker)
{
	struct fm_entry entry[NODES];
	struct fm_msg former;
	uint64_t version;

	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong report lost rows place release ";
	if (versions[0]) {
		s.dev.placed = true;
		s.dev.shape = s.shape;
		s.dev.version = versions[0];
	}
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	stage_start(&s);
	former = stage_table(&s, 9, entry);
	former.table.term = 41;
	former.table.maker = maker;
	former.table.former = true;
	/* The first time it learns that there was a root, and asks all nodes anew. */
	for (unsigned int again = 0; again < 2; again++) {
		memset(s.joiner, 0, sizeof(s.joiner));
		for (uint32_t i = 1; i < NODES; i++) {
			struct fm_msg m = with_table(i, maker);

			m.hello.version = versions[i];
			m.hello.placed = versions[i];
			m.hello.kept = versions_kept[i];
			m.hello.kept_term = versions_kept[i] ? 40 : 0;
			sends_up(i, &m);
		}
		stage_run_ns(&s, s.now + 1);
		for (int i = 101; i < 104; i++) {
			char text[40];

			sprintf(text, "%d < fetch former\n", i);
			if (stage_count(&s, text))
				stage_msg(&s, i, &former);
		}
	}
	for (unsigned int k = 0; k < 100 && !fm_version(s.fm); k++) {
		stage_run_ns(&s, s.now + 100 * MS);
		for (int i = 101; i < 104; i++)
			if (s.joiner[i].known)
				stage_send(&s, i, FM_MSG_PING);
	}
	version = fm_version(s.fm);
	stage_end(&s);
	return version;
}

static void all_have(uint64_t version)
{
	for (uint32_t i = 0; i < NODES; i++)
		versions[i] = version;
}

static void next_version_follows_only_known_latest_table(void **state)
{
	(void)state;
	all_have(9);
	/* The maker of the latest table is here: no node has had a later one. */
	assert_int_equal(first_version(NIC + 1), 10);
	assert_int_equal(first_version(NIC + 3), 10);
	assert_int_equal(first_version(NIC), 10);
	/* None of these nodes made the table. */
	assert_int_equal(first_version(0xabc), 14);
	/* Some NIC has lost its memory: the root's own, another one, the maker's. */
	for (uint32_t i = 0; i < NODES; i++) {
		all_have(9);
		versions[i] = 0;
		assert_int_equal(first_version(NIC + 1), 14);
	}
}

/* Some NICs have rows that others lack: no packet may have the colour of the new version. */
static void new_version_has_colour_of_no_packet(void **state)
{
	(void)state;
	all_have(9);
	versions[2] = 8;
	assert_int_equal(first_version(NIC + 1), 10);
	versions[2] = 6;	/* the colour of 6, which is also that of 10 */
	assert_int_equal(first_version(NIC + 1), 11);
	versions[3] = 7;
	assert_int_equal(first_version(NIC + 1), 12);
	versions[0] = 8;	/* no colour is left, so the next version is taken */
	assert_int_equal(first_version(NIC + 1), 10);
}

/* The root hears of kept tables; NICs have versions[]. Return: the first version after @kept. */
static uint64_t above_kept(uint64_t kept)
{
	uint64_t version;

	versions_kept[2] = kept;
	version = first_version(NIC + 1);
	versions_kept[2] = 0;
	return version - kept;
}

/*
 * A NIC whose manager hangs may have packets of later versions than all that are reported. They
 * follow the latest kept table, if NICs of those that report have lost their memory.
 */
static void forgotten_versions_are_not_used_again(void **state)
{
	(void)state;
	/* No NIC knows any version. */
	all_have(0);
	assert_int_equal(first_version(0), 1);
	assert_true(above_kept(1) > FM_KEEP_AHEAD && above_kept(1) < 2 * FM_KEEP_AHEAD);
	/* Some nodes report versions, but the others may have had later ones. */
	all_have(9);
	versions[1] = 0;
	assert_true(above_kept(9) > FM_KEEP_AHEAD);
	assert_true(above_kept(5) > FM_KEEP_AHEAD);
	/* The kept table itself is later than all that nodes remember. */
	all_have(9);
	assert_true(above_kept(10) > FM_KEEP_AHEAD);
	/* All remember a later table than the kept one. */
	assert_int_equal(above_kept(9), 1);
	assert_int_equal(above_kept(8), 2);
}

/*
 * A candidate whose disk has a later table than those of the others comes after the first table: the
 * versions up to that one, and those that may have followed it, are not used either.
 */
static void kept_table_that_comes_late_counts(void **state)
{
	(void)state;
	for (uint64_t kept = 1; kept <= 41; kept += 40) {
		struct fm_msg m;

		root("4x1");
		for (uint32_t i = 1; i < 3; i++)
			join(i);
		stage_run_ns(&s, s.now + 8000 * MS);
		settle(3);
		assert_int_equal(fm_version(s.fm), 1);
		m = hello(3);
		m.hello.kept = kept;
		m.hello.kept_term = 1;
		joins(&m);
		settle(4);
		settle(4);
		assert_int_equal(fm_version(s.fm), kept == 1 ? 2 : kept + FM_KEEP_AHEAD + 1);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(next_version_follows_only_known_latest_table),
		cmocka_unit_test(new_version_has_colour_of_no_packet),
		cmocka_unit_test(forgotten_versions_are_not_used_again),
		cmocka_unit_test(kept_table_that_comes_late_counts),
	};

	return cmocka_run_group_tests_name("fm_versions", all, NULL, NULL);
}
