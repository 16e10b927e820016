// SPDX-License-Identifier: GPL-2.0-only
/*
 * The number of the first table of a root that begins anew: the next one, or a later one if a NIC
 * may have had rows of later versions than all that are reported. Its colour is one that no node
 * stamps.
 */
#include "stage_claim.h"

#define NODES 4

/* version of the rows of each NIC; 0: it has lost its memory */
static uint64_t versions[NODES];

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
			says(i, &m);
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
				stage_say(&s, i, FM_MSG_PING);
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
	/* The table was made by none of these nodes. */
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

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(next_version_follows_only_known_latest_table),
		cmocka_unit_test(new_version_has_colour_of_no_packet),
	};

	return cmocka_run_group_tests_name("fm_versions", all, NULL, NULL);
}
