// SPDX-License-Identifier: GPL-2.0-only
/* A root that restarts among nodes that remember: shape, places, versions, colours. */
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "stage_shape.h"
#include "daemon/fm/clock.h"
#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/machine.h"
#include "daemon/fm/node/table.h"
#include "daemon/fm/root/demand.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/roster.h"

/*
 * After a restart of the root the shape stays, nodes that join keep their places, and the root
 * waits twice as long.
 */
static void restarted_root_keeps_shape_and_places(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		restart(known, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, placed);
		settles_then(0);
		assert_int_equal(stage_count(&s, "log info bootstrap: shape 4x4, 16 of 16 "
			"nodes\n"), 1);
		assert_int_equal(stage_count(&s, "log info table: version 7: root restarted\n"), 1);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
		stage_end(&s);
		/* A node that does not join, and whose links are up, is silent. */
		restart(known, "4x4", 0, 6);
		for (uint32_t i = 1; i < 15; i++)
			join(i, placed);
		settles_then(6000);
		assert_int_equal(fm_node(s.fm, 15)->state, FM_NODE_SILENT);
		assert_int_equal(fm_node(s.fm, 15)->guid, NIC + 15);
		assert_int_equal(fm_node(s.fm, 15)->fault, 0);
		assert_int_equal(fm_exclusions(s.fm)[14], 0);
		stage_end(&s);
	}
}

static uint64_t nics;	/* fingerprint of those of whom the former root knew how many were lost */

static void lost_seven(struct fm_hello *h)
{
	placed(h);
	h->base = (struct fm_base) { .version = 6, .known = 0x1f, .set = nics,
				     .missing = { 0, 7 } };
}

/* The base of the former root is valid still, if all NICs are the same. */
static void base_is_valid_only_if_all_nics_are_the_same(void **state)
{
	(void)state;
	for (uint32_t without = 0; without < 17; without++) {
		nics = 0;
		for (uint32_t i = 0; i < 16; i++)
			nics += i == without ? 0 : fm_fingerprint(NIC + i, 1);
		restart(true, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, lost_seven);
		settles_then(0);
		assert_int_equal(s.fm->root->base.missing[1], without == 16 ? 7 : 0);
		stage_end(&s);
	}
}

static void spare_port(struct fm_hello *h)
{
	placed(h);
	if (h->guid != NIC + 5)
		return;
	h->row.nports = 6;
	h->row.port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 50,
						.peer_port = 2 };
}

static void other_end(struct fm_hello *h)
{
	placed(h);
	if (h->guid == NIC + 6)
		h->row.port[2].peer_guid = NIC + 9;
}

/*
 * Ports that the fabric does not use lead to no node, and a wrong cable that only its end at a port
 * with "-" reports has its name from the other end.
 */
static void spare_and_wrong_cables_are_reported_after_restart(void **state)
{
	static const char *const text[] = {
		"log info bootstrap: shape 4x4, 16 of 16 nodes\n",
		"log error wiring: 1,2:+x ('n9') is cabled to 2,1:-x ('n6'), expected 2,2:-x: leads",
	};

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		restart(true, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, k ? other_end : spare_port);
		settles_then(0);
		assert_int_equal(stage_count(&s, text[k]), 1);
		stage_end(&s);
	}
}

/* If the NIC of the root had another shape or place, nothing is kept. */
static void nic_of_other_shape_or_place_keeps_nothing(void **state)
{
	static const char text[] =
		"log warning bootstrap: the NIC has coordinates in another shape: "
				   "it gets new ones\n";

	(void)state;
	restart(true, "4x3", 0, 6);
	stage_did_some(&s, text);
	for (uint32_t i = 1; i < 16; i++)
		join(i, NULL);
	settles_then(0);
	/*
	 * The versions of the root continue, because packets may be in the network; nodes without a
	 * place may have had other versions.
	 */
	assert_int_equal(stage_count(&s, "version 11: root restarted\n"), 1);
	stage_end(&s);
	/* The root may be at any place. */
	restart(true, "4x4", 1, 6);
	stage_did_nothing(&s);
	stage_end(&s);
	restart(false, "4x4", 1, 6);
	stage_did_nothing(&s);
	stage_end(&s);
	/* The shape is to be discovered: the former one is kept, unless the root was alone. */
	restart(false, "4x3", 0, 6);
	stage_did_nothing(&s);
	stage_end(&s);
	restart(false, "1x1", 0, 6);
	stage_did_some(&s, text);
	stage_end(&s);
	stage_init(&s, "1x1", 0);
	s.cfg.shape.ndims = 0;
	s.dev.placed = true;
	s.dev.shape = s.shape;
	stage_start(&s);
	stage_did_nothing(&s);
	stage_end(&s);
	/* A new NIC logs nothing of that. */
	root(true);
	stage_did_nothing(&s);
	stage_end(&s);
}

static void two_at_5(struct fm_hello *h)
{
	placed(h);
	if (h->guid == NIC + 6)
		torus_node_coords(&s.shape, 5, &h->coords);
}

static void of_5x4(struct fm_hello *h)
{
	placed(h);
	if (h->guid == NIC + 6)
		h->shape.size[0] = 5;
}

/* Two NICs work at one place: one of them keeps it; the other is placed by its cables. */
static void one_of_two_nics_keeps_shared_place(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		restart(true, "4x4", 0, 6);
		for (uint32_t i = 1; i < 16; i++)
			join(i, k ? two_at_5 : of_5x4);
		settles_then(0);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(fm_node(s.fm, i)->guid, NIC + i);
		stage_end(&s);
		assert_int_equal(memory_blocks(), 0);
	}
}

/* Places a node where it is if the root is at 1,0. */
static void beside(struct fm_hello *h)
{
	placed(h);
	h->coords.c[0] = (int16_t)((h->coords.c[0] + 1) % 4);
}

/* The NIC of the root has lost its memory; the others work at their places, and keep them. */
static void root_whose_nic_lost_memory_keeps_places_of_others(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		root(known);
		/* The first such HELLO shows the root that there was one before; all join anew. */
		join(1, beside);
		stage_run(&s, 1);
		memset(s.joiner, 0, sizeof(s.joiner));
		for (uint32_t i = 1; i < 16; i++)
			join(i, beside);
		settles_then(0);
		for (uint32_t i = 0; i < 16; i++)
			assert_int_equal(fm_node(s.fm, i / 4 * 4 + (i + 1) % 4)->guid, NIC + i);
		stage_end(&s);
	}
}

/* There are as many nodes as the root has room for: nothing after the last is read. */
static void full_fabric_reads_nothing_after_last_node(void **state)
{
	(void)state;
	memory_guard(true);
	restart(true, "4x4", 0, 6);
	for (uint32_t i = 1; i < 16; i++)
		join(i, placed);
	settles_then(0);
	stage_end(&s);
	memory_guard(false);
}

/*
 * All nodes began anew, and three of the kept table do not come. Without memory for all of them
 * there is a table nevertheless.
 */
static void first_table_comes_without_memory_for_kept_nodes(void **state)
{
	static struct fm_entry entry[16];
	struct fm_msg kept;
	bool failed = true;

	(void)state;
	for (unsigned int n = 1; failed; n++) {
		root_init(true);
		kept = stage_table(&s, 6, entry);
		for (uint32_t i = 0; i < 16; i++)
			entry[i].guid += i > 12 ? 0x1000 : 0;
		s.cfg.kept = &kept.table;
		s.in_one = true;
		stage_start(&s);
		for (uint32_t i = 1; i < 16; i++)
			join(i, NULL);
		memory_fails_at(n);
		stage_run_ns(&s, s.now + 2 * MS);
		failed = memory_failed();
		stage_run_ns(&s, s.now + 1000 * MS);
		assert_int_not_equal(fm_version(s.fm), 0);
		assert_int_equal(fm_node(s.fm, 5)->guid, NIC + 5);
		stage_end(&s);
	}
}

/* Versions continue from the highest that any node has, without colours that are in use. */
static void versions_continue_above_all_and_unused_colours(void **state)
{
	static const struct {
		uint64_t root, one, rest, next;
	} t[] = {
		{ 6, 6, 6, 7 }, { 6, 9, 6, 11 }, { 6, 2, 6, 7 }, { 6, 3, 6, 8 }, { 7, 8, 6, 9 },
		{ 5, 7, 6, 8 }, { 4, 5, 3, 6 }, { 6, 9, 8, 11 },
		/* A node has lost its memory, and may have had a later version. */
		{ 5, 0, 7, 12 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		restart(true, "4x4", 0, t[k].root);
		for (uint32_t i = 1; i < 16; i++) {
			struct fm_msg m = stage_hello(&s, i);

			placed(&m.hello);
			m.hello.version = i == 7 ? t[k].one : t[k].rest;
			stage_up(&s, 100 + (int)i);
			stage_msg(&s, 100 + (int)i, &m);
		}
		settles_then(0);
		if (fm_version(s.fm) != t[k].next)
			fprintf(stderr, "case %u: %llu\n", k, (unsigned long long)fm_version(s.fm));
		assert_int_equal(fm_version(s.fm), t[k].next);
		stage_end(&s);
	}
}

/**
 * struct received - what a node learned of the former root
 * @version: of its NIC's rows; @table, @term: of its table; @clean, @open: said with it
 */
struct next_version {
	uint64_t version, table, term;
	uint8_t clean, open;
};

static uint64_t base;	/* the version of which all know how many packets are lost for good */

/*
 * All nodes learned @rest from the former root but node 7, which learned @one. Return: the version
 * of the next table.
 */
static uint64_t next_version(const struct next_version *rest, const struct next_version *one)
{
	restart(true, "4x4", 0, rest->version);
	for (uint32_t i = 1; i < 16; i++) {
		const struct next_version *h = i == 7 ? one : rest;
		struct fm_msg m = stage_hello(&s, i);

		placed(&m.hello);
		m.hello.version = h->version;
		m.hello.table = h->table;
		m.hello.term = h->term;
		m.hello.table_root = NIC;
		m.hello.clean = h->clean;
		m.hello.open = h->open;
		m.hello.base.version = base;
		stage_up(&s, 100 + (int)i);
		stage_msg(&s, 100 + (int)i, &m);
	}
	/* The root asks for the former table of these nodes, and none of them sends it. */
	stage_run_ns(&s, s.now + 4 * s.cfg.resend + 5 * MS);
	assert_int_not_equal(fm_version(s.fm), 0);
	return fm_version(s.fm);
}

/* A colour is taken that was clean by the former root, and it need not be the next. */
static void clean_colour_of_former_root_is_taken(void **state)
{
	static const struct {
		struct next_version rest, one;
		uint64_t next;
	} t[] = {
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0x1, 0 }, 8 },
		{ { 6, 6, 1, 0x8, 0 }, { 6, 6, 1, 0x8, 0 }, 7 },
		{ { 6, 6, 1, 0x2, 0 }, { 6, 6, 1, 0x2, 0 }, 9 },
		/* A node that heard the last step knows more than one that heard the table only. */
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0x9, 0 }, 7 },
		/*
		 * With an older table, or one of a former epoch, a node knows of its own packets
		 * only.
		 */
		{ { 6, 6, 1, 0x1, 0 }, { 5, 5, 1, 0xf, 0 }, 8 },
		{ { 6, 6, 2, 0x3, 0 }, { 6, 6, 1, 0xa, 0 }, 9 },
		{ { 6, 6, 1, 0xa, 0 }, { 6, 6, 2, 0x3, 0 }, 9 },
		{ { 6, 6, 2, 0x1, 0 }, { 6, 6, 1, 0x8, 0 }, 7 },
		/* A colour is still in use if some NIC sends packets with it. */
		{ { 6, 6, 1, 0x9, 0 }, { 3, 3, 1, 0xf, 0 }, 8 },
		/* A NIC has rows of a later table than the node has reported: neither counts. */
		{ { 6, 6, 1, 0x1, 0 }, { 7, 6, 1, 0x1, 0 }, 8 },
		{ { 6, 6, 1, 0x2, 0 }, { 8, 6, 1, 0x2, 0 }, 9 },
		/* A NIC that was silent in that table has older rows: no drain included it. */
		{ { 6, 6, 1, 0x1, 0 }, { 5, 6, 1, 0x1, 0 }, 7 },
		/* Nothing is known to be gone. */
		{ { 6, 6, 1, 0, 0 }, { 6, 6, 1, 0, 0 }, 7 },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		uint64_t next = next_version(&t[k].rest, &t[k].one);

		if (next != t[k].next)
			fprintf(stderr, "case %u: %llu\n", k, (unsigned long long)next);
		assert_int_equal(next, t[k].next);
		stage_end(&s);
	}
}

/*
 * If no colour is known to be clean, packets of the one that is taken may be left. So another table
 * follows when those of all others are gone, also if the base is known.
 */
static void table_without_clean_colour_is_followed_by_another(void **state)
{
	static const struct {
		struct next_version rest, one;
		uint64_t base;
		bool again;
	} t[] = {
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0x1, 0 }, 6, false },
		{ { 6, 6, 1, 0, 0 }, { 6, 6, 1, 0, 0 }, 6, true },
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0x1, 0 }, 5, true },
		{ { 6, 6, 1, 0, 0 }, { 6, 6, 1, 0, 0 }, 5, true },
		/* The node that did not hear that a colour is clean brings no packets of it. */
		{ { 6, 6, 1, 0x1, 0 }, { 6, 6, 1, 0, 0 }, 6, false },
	};

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		base = t[k].base;
		next_version(&t[k].rest, &t[k].one);
		assert_int_equal(fm_demand_is(s.fm->root), t[k].again);
		stage_end(&s);
	}
	base = 0;
}

/*
 * A manager is restarted before the first table, and does not know any more which colours are clean:
 * packets of all may be in its NIC, if that gets another place after the first table.
 */
static void restarted_manager_may_bring_all_colours(void **state)
{
	struct fm_msg m;

	(void)state;
	restart(true, "4x4", 0, 6);
	m = stage_hello(&s, 7);
	placed(&m.hello);
	m.hello.version = m.hello.table = 6;
	m.hello.term = 1;
	m.hello.table_root = NIC;
	m.hello.clean = 0x3;
	stage_up(&s, 107);
	stage_msg(&s, 107, &m);
	assert_int_equal(fm_record(s.fm->root, NIC + 7)->brought, (uint8_t)~0x3);
	m.hello.epoch = 2;
	m.hello.table = 0;
	m.hello.rows_term = 1000;	/* the rows are by another root */
	stage_up(&s, 207);
	stage_msg(&s, 207, &m);
	assert_int_equal(fm_record(s.fm->root, NIC + 7)->brought, UINT8_MAX);
	assert_int_equal(fm_version(s.fm), 0);
	stage_end(&s);
}

/*
 * The NICs that had the latest table have lost their memory, and others know their flows by its
 * version. A candidate has kept it, so the next version is above that, and above those that may
 * have followed it.
 */
static void versions_continue_from_kept_table(void **state)
{
	static struct fm_entry entry[16];
	struct fm_msg kept;

	(void)state;
	root_init(true);
	kept = stage_table(&s, 9, entry);
	s.cfg.kept = &kept.table;
	s.dev.placed = true;
	assert_int_equal(torus_shape_parse("4x4", &s.dev.shape), 0);
	s.dev.version = 6;
	stage_start(&s);
	for (uint32_t i = 1; i < 16; i++)
		join(i, placed);
	stage_run_ns(&s, s.now + 200 * MS);
	assert_in_range(fm_version(s.fm), 10 + FM_KEEP_AHEAD, 9 + FM_KEEP_AHEAD + TORUS_COLOURS);
	stage_end(&s);
}

/* A mesh that was discovered does not become a torus with lost cables. */
static void mesh_stays_mesh_after_restart(void **state)
{
	const struct next_version mesh = { 6, 6, 1, 0x8, 2 };
	const struct next_version old = { 5, 5, 1, 0x8, 1 };

	(void)state;
	next_version(&mesh, &mesh);
	assert_int_equal(stage_count(&s, " open 2"), 15);
	stage_end(&s);
	next_version(&mesh, &old);
	assert_int_equal(stage_count(&s, " open 2"), 15);
	stage_end(&s);
}

/*
 * The kept table does not have this node, and all NICs have lost their memory: a problem says that
 * it has no place, as long as it finds none.
 */
static void root_without_place_in_kept_table_is_problem(void **state)
{
	static struct fm_entry entry[16];
	struct fm_msg kept;
	unsigned int at;

	(void)state;
	stage_init(&s, "4x4", 0);
	kept = stage_table(&s, 6, entry);
	for (uint32_t i = 0; i < 16; i++)
		entry[i].guid += 0x1000;
	s.cfg.kept = &kept.table;
	stage_start(&s);
	stage_run(&s, 1000);
	assert_int_equal(fm_version(s.fm), 0);	/* the node may be cut off for a moment only */
	stage_run(&s, 4000);
	assert_int_not_equal(fm_version(s.fm), 0);
	/* None of the 16 nodes of the table has joined: each is named. */
	for (at = 0; !strcmp(fm_problem(s.fm, at)->kind, "node"); at++)
		assert_non_null(strstr(fm_problem(s.fm, at)->text,
				       " is dead: it has not joined since this root leads"));
	assert_int_equal(at, 16);
	stage_did_some(&s, "log info bootstrap: shape 4x4, 1 of 16 nodes\n");
	assert_string_equal(fm_problem(s.fm, at)->kind, "place");
	assert_string_equal(fm_problem(s.fm, at)->text,
			    "node 'n0' (30.0.0.0:1) has no place: no free coordinates fit its "
			    "cables");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(restarted_root_keeps_shape_and_places),
		cmocka_unit_test(base_is_valid_only_if_all_nics_are_the_same),
		cmocka_unit_test(spare_and_wrong_cables_are_reported_after_restart),
		cmocka_unit_test(nic_of_other_shape_or_place_keeps_nothing),
		cmocka_unit_test(one_of_two_nics_keeps_shared_place),
		cmocka_unit_test(versions_continue_above_all_and_unused_colours),
		cmocka_unit_test(clean_colour_of_former_root_is_taken),
		cmocka_unit_test(table_without_clean_colour_is_followed_by_another),
		cmocka_unit_test(restarted_manager_may_bring_all_colours),
		cmocka_unit_test(versions_continue_from_kept_table),
		cmocka_unit_test(mesh_stays_mesh_after_restart),
		cmocka_unit_test(root_whose_nic_lost_memory_keeps_places_of_others),
		cmocka_unit_test(full_fabric_reads_nothing_after_last_node),
		cmocka_unit_test(first_table_comes_without_memory_for_kept_nodes),
		cmocka_unit_test(root_without_place_in_kept_table_is_problem),
	};

	return cmocka_run_group_tests_name("fm_restart", all, NULL, NULL);
}
