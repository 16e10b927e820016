// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables on the disk: which are given to the host to be kept, which are read from it, and what is
 * sent to a node that asks to be root.
 */
#include <stdio.h>

#include "daemon/fm/node/keep.h"
#include "daemon/fm/node/machine.h"
#include "memory.h"
#include "stage_member.h"

static struct fm_hello reported;	/* the last HELLO that was sent */

static void sees(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type == FM_MSG_HELLO)
		reported = msg->hello;
}

/* Only a whole table of a fabric is taken; HELLO names it to the root. */
static void only_whole_table_is_kept_and_named_in_hello(void **state)
{
	static const struct {
		const char *shape;
		uint64_t base;
		bool taken;
	} t[] = { { "4x1", 0, true }, { "4x1", 8, false }, { "1x1", 0, false } };

	(void)state;
	for (unsigned int k = 0; k < sizeof(t) / sizeof(t[0]); k++) {
		struct fm_entry entries[4];
		struct fm_msg m;

		node_1();
		m = stage_table(&s, 9, entries);
		assert_int_equal(torus_shape_parse(t[k].shape, &m.table.shape), 0);
		m.table.nentries = torus_nodes(&m.table.shape);
		m.table.base = t[k].base;
		s.cfg.kept = &m.table;
		s.sees = sees;
		reported.kept = reported.kept_term = 77;
		joins();
		assert_int_equal(reported.kept, t[k].taken ? 9 : 0);
		assert_int_equal(reported.kept_term, t[k].taken ? TERM : 0);
		stage_end(&s);
	}
}

/* Gives the node table @version of epoch @term, made by NIC 0xabc. Return: true if it is taken. */
static bool takes(uint64_t term, uint64_t version, const char *shape)
{
	struct fm_entry entries[4];
	struct fm_msg m = stage_table(&s, version, entries);

	assert_int_equal(torus_shape_parse(shape, &m.table.shape), 0);
	m.table.nentries = torus_nodes(&m.table.shape);
	m.table.term = term;
	m.table.maker = 0xabc;
	m.table.open = 1;
	m.table.line = (struct fm_line) { .n = 1, .past = { { 6, version, 0xdef } } };
	entries[0].differs = entries[1].differs = 1;
	return fm_keep_take(s.fm, &m.table);
}

/* A later table than the kept one is taken, and passed on as it came, but without votes. */
static void later_table_is_kept_without_votes(void **state)
{
	struct fm_hello h = { .kept = 0 };
	struct fm_msg out;

	(void)state;
	node_1();
	s.cfg.keeps = true;
	joins();
	fm_keep_fill(s.fm, &h);
	assert_true(h.keeps && !h.kept && !h.kept_term && !h.kept_root);
	assert_false(fm_keep_whole(s.fm, &out));
	assert_true(takes(0, 0, "2x1"));	/* without a table, each table is a later one */
	assert_true(takes(7, 5, "4x1"));
	assert_false(takes(7, 5, "4x1"));
	assert_false(takes(7, 4, "4x1"));
	assert_false(takes(6, 9, "4x1"));
	assert_true(takes(7, 6, "4x1"));
	assert_false(takes(8, 1, "1x1"));
	assert_true(takes(8, 1, "4x1"));
	fm_keep_fill(s.fm, &h);
	assert_int_equal(h.kept_term, 8);
	assert_int_equal(h.kept, 1);
	assert_int_equal(h.kept_root, 0xabc);
	memset(&out, 0xff, sizeof(out));
	assert_true(fm_keep_whole(s.fm, &out));
	assert_true(!out.table.base && !out.table.former && !out.table.voters.n);
	assert_int_equal(out.table.line.n, 1);
	assert_int_equal(out.table.line.past[0].version, 1);
	assert_int_equal(out.type, FM_MSG_TABLE);
	assert_int_equal(out.table.term, 8);
	assert_int_equal(out.table.version, 1);
	assert_int_equal(out.table.maker, 0xabc);
	assert_int_equal(out.table.open, 1);
	assert_int_equal(out.table.nentries, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(out.table.entries[i].guid, NIC + i);
		assert_int_equal(out.table.entries[i].node, i);
		assert_int_equal(out.table.entries[i].differs, 0);
	}
	stage_end(&s);
	/* A node without a disk for tables reports that. */
	joined();
	h.keeps = true;
	fm_keep_fill(s.fm, &h);
	assert_false(h.keeps);
	stage_end(&s);
}

/* A table in which nodes are absent is kept as well; nothing after its last node is read. */
static void table_with_absent_nodes_is_kept(void **state)
{
	struct fm_msg m;

	(void)state;
	memory_guard(true);
	node_1();
	s.cfg.takeover = 300 * MS;
	joins();
	m = stage_table(&s, 1, entry);
	entry[2] = (struct fm_entry) { .node = 2 };
	entry[3] = (struct fm_entry) { .node = 3 };
	stage_msg(&s, 1, &m);
	step(1, 1, FM_STEP_RESUME);
	stage_run_ns(&s, s.now + MS);
	stage_did_some(&s, "keep version 1 of epoch 126\n");
	stage_end(&s);
	memory_guard(false);
}

/* Return: whether a problem of that kind stands. */
static bool has_problem(const char *kind)
{
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		if (!strcmp(fm_problem(s.fm, i)->kind, kind))
			return true;
	return false;
}

/*
 * There is no memory to give a table to the host: that is reported, and it is given later. Return:
 * true if memory was asked for.
 */
static bool given_later(unsigned int fails, unsigned int *own_init)
{
	struct fm_msg m;
	unsigned int given, at_once;
	bool failed;

	node_1();
	s.cfg.takeover = 300 * MS;
	s.cfg.keeps = true;
	joins();
	m = stage_table(&s, 1, entry);
	entry[2] = (struct fm_entry) { .node = 2 };
	entry[3] = (struct fm_entry) { .node = 3 };
	stage_msg(&s, 1, &m);
	step(1, 1, FM_STEP_RESUME);
	stage_forget(&s);
	memory_fails_at(fails);
	stage_run_ns(&s, s.now + MS);
	failed = memory_failed();
	*own_init += has_problem("memory");
	given = at_once = stage_count(&s, "keep version 1 of epoch 126\n");
	assert_int_equal(at_once, !has_problem("memory"));
	for (unsigned int i = 0; i < 401; i++) {
		stage_forget(&s);
		stage_send(&s, 1, FM_MSG_PONG);
		stage_run_ns(&s, s.now + 100 * MS);
		given += stage_count(&s, "keep version 1 of epoch 126\n");
	}
	/* The host has not answered the first time either. */
	assert_int_equal(given, 1 + at_once);
	assert_false(has_problem("memory"));
	stage_end(&s);
	return failed;
}

static void table_without_memory_is_not_kept(void **state)
{
	unsigned int own_init = 0;

	(void)state;
	for (unsigned int n = 1; given_later(n, &own_init); n++)
		;
	assert_int_equal(own_init, 1);
}

/*
 * A node that lacked memory to keep a table is not a candidate any more when the next table comes:
 * then it keeps none, and the problem ends.
 */
static void former_candidate_has_no_problem_of_memory(void **state)
{
	struct fm_msg m;

	(void)state;
	node_1();
	s.cfg.takeover = 300 * MS;
	s.cfg.keeps = true;
	joins();
	m = stage_table(&s, 1, entry);
	entry[2] = (struct fm_entry) { .node = 2 };
	entry[3] = (struct fm_entry) { .node = 3 };
	stage_msg(&s, 1, &m);
	step(1, 1, FM_STEP_RESUME);
	for (unsigned int n = 1; !has_problem("memory"); n++) {
		assert_true(n < 20);
		memory_fails_at(n);
		s.fm->now = fm_keep_expiry(s.fm);
		fm_keep_due(s.fm);
		fm_keep(s.fm);
	}
	memory_fails_at(0);
	s.fm->cfg.priority = 0;
	fm_keep(s.fm);
	assert_false(has_problem("memory"));
	stage_end(&s);
}

/* The root, which lacks the table that this node has, fetches it; the memory for that is freed. */
static void table_is_sent_to_root_that_lacks_it(void **state)
{
	struct fm_msg m, fetch = { .type = FM_MSG_FETCH, .fetch = { .former = true } };

	(void)state;
	joined();
	m = stage_table(&s, 1, entry);
	entry[2] = (struct fm_entry) { .node = 2 };
	stage_msg(&s, 1, &m);
	stage_forget(&s);
	stage_msg(&s, 1, &fetch);
	stage_did(&s,
		  "1 < table 1 term 126 4x1 former [0 'n0' 100/1] [1 'n1' 101/1] [3 'n3' 103/1]\n");
	stage_end(&s);
	assert_int_equal(memory_blocks(), 0);
}

/*
 * Votes in sets of voters that no longer exist are sent to no node, because it would refuse the
 * table.
 */
static void votes_of_former_voters_are_not_sent(void **state)
{
	struct fm_msg m, fetch = { .type = FM_MSG_FETCH, .fetch = { .former = true } };

	(void)state;
	joined();
	m = stage_table(&s, 1, entry);
	m.table.voters = (struct fm_voters) { .n = 1, .set = { { .ups = 3 } } };
	entry[3].differs = 1;
	stage_msg(&s, 1, &m);
	m.table.base = 1;
	m.table.version = 2;
	m.table.voters.n = 0;
	m.table.nentries = 1;
	stage_msg(&s, 1, &m);
	stage_forget(&s);
	stage_msg(&s, 1, &fetch);
	assert_int_equal(stage_count(&s, "1 < table 2 term 126 4x1 former"), 1);
	stage_end(&s);
}

static unsigned int wrong, tables;

/* A receiver takes only entries whose ids rise. */
static void sees_table(int conn, const struct fm_msg *msg)
{
	(void)conn;
	if (msg->type != FM_MSG_TABLE)
		return;
	tables++;
	for (uint32_t i = 0; i + 1 < msg->table.nentries; i++)
		wrong += msg->table.entries[i].node >= msg->table.entries[i + 1].node;
}

/*
 * A new root fetches a kept table of a fabric in which nodes are absent: the node sends it with
 * rising ids, as a receiver requires.
 */
static void kept_table_with_absent_nodes_is_sent_in_order(void **state)
{
	struct fm_msg m, fetch = { .type = FM_MSG_FETCH };
	struct fm_entry entries[4];

	(void)state;
	node_1();
	m = stage_table(&s, 9, entries);
	entries[2] = entries[3];
	m.table.nentries = 3;
	s.cfg.kept = &m.table;
	s.sees = sees_table;
	joins();
	stage_msg(&s, 1, &fetch);
	assert_int_equal(tables, 1);
	assert_int_equal(wrong, 0);
	stage_end(&s);
	assert_int_equal(memory_blocks(), 0);
}

/* --- what must survive ------------------------------------------------------------------ */

static void put(uint64_t version, unsigned int change)
{
	struct fm_msg m = stage_table(&s, version, entry);

	entry[3] = (struct fm_entry) { .node = 3 };
	switch (change) {
	case 1:
		m.table.open = 1;
		break;
	case 2:
		strcpy(entry[0].name, "m0");
		break;
	case 3:
		entry[0].guid = 0xabc;
		break;
	case 4:
		entry[2].admin = 1;
		break;
	case 5:
		entry[3] = entry[2];
		entry[3].node = 3;
		entry[2] = (struct fm_entry) { .node = 2 };
		break;
	case 6:
		m.table.shape.size[0] = 5;
		m.table.nentries = 4;
		break;
	case 7:
		strcpy(entry[2].name, "n");
		break;
	case 8:
		entry[2].state = FM_NODE_DEAD;
		break;
	case 9:
		entry[2].fault = 1;
		strcpy(entry[2].address, "30.0.0.9:1");
		entry[2].epoch = 5;
		break;
	}
	stage_forget(&s);
	stage_msg(&s, 1, &m);
	step(version, 1, FM_STEP_RESUME);
	stage_run_ns(&s, s.now + MS);
}

static void report_kept(uint64_t term, uint64_t version, bool ok)
{
	fm_kept(s.fm, term, version, ok, START + s.now);
}

/*
 * A table goes to the host if shape, open dimensions, places, GUIDs, names or exclusions differ
 * from those of the table before, and not for what only lives as long as the managers.
 */
static void table_is_kept_if_lasting_data_changes(void **state)
{
	uint64_t version = 1;
	char text[40];

	(void)state;
	node_1();
	s.cfg.takeover = 300 * MS;
	s.cfg.keeps = true;
	joins();
	put(version, 0);
	assert_int_equal(stage_count(&s, "keep version 1 of"), 1);
	report_kept(TERM, version, true);
	for (unsigned int change = 1; change < 10; change++)
		for (unsigned int back = 0; back < 2; back++) {
			put(++version, back ? 0 : change);
			snprintf(text, sizeof(text), "keep version %u of epoch 126",
				 (unsigned int)version);
			assert_int_equal(stage_count(&s, text), change < 8);
			/*
			 * For a change that must survive, KEPT informs the root when the host has
			 * the table; for others at once.
			 */
			assert_int_equal(stage_count(&s, "1 < kept"), change >= 8);
			report_kept(TERM, version, true);
		}
	stage_end(&s);
}

/* Only an answer for the table that was given last counts; it is repeated on a new connection. */
static void only_answer_for_latest_table_counts(void **state)
{
	(void)state;
	node_1();
	s.cfg.takeover = 300 * MS;
	s.cfg.keeps = true;
	joins();
	report_kept(0, 0, true);
	put(1, 0);
	put(2, 1);
	report_kept(TERM, 1, true);
	report_kept(TERM - 1, 2, true);
	assert_int_equal(stage_count(&s, "kept"), 0);
	report_kept(TERM, 2, false);
	stage_did_some(&s, "1 < kept 101 version 2 term 126 failed\n");
	report_kept(TERM, 2, true);
	stage_did_some(&s, "1 < kept 101 version 2 term 126\n");
	stage_down(&s, 1);
	stage_wait(&s, "connect");
	stage_up(&s, 2);
	stage_forget(&s);
	stage_welcome(&s, 2, TERM, "");
	stage_did_some(&s, "2 < kept 101 version 2 term 126\n");
	stage_end(&s);
}

/*
 * A root of a new epoch makes a table of the next number: it is not known which tables came
 * between.
 */
static void first_table_of_new_epoch_is_kept(void **state)
{
	struct fm_msg m;

	(void)state;
	for (unsigned int next = 0; next < 2; next++) {
		node_1();
		s.cfg.takeover = 300 * MS;
		s.cfg.keeps = true;
		joins();
		put(1, 0);
		report_kept(TERM, 1, true);
		stage_welcome(&s, 1, TERM + 1, "");
		stage_forget(&s);
		m = stage_table(&s, 1 + next, entry);
		entry[3] = (struct fm_entry) { .node = 3 };
		m.table.term = TERM + 1;
		stage_msg(&s, 1, &m);
		m = stage_step(1 + next, 1, FM_STEP_RESUME);
		m.step.term = TERM + 1;
		stage_msg(&s, 1, &m);
		stage_run_ns(&s, s.now + MS);
		assert_int_equal(stage_count(&s, "of epoch 127\n"), 1);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(only_whole_table_is_kept_and_named_in_hello),
		cmocka_unit_test(later_table_is_kept_without_votes),
		cmocka_unit_test(table_with_absent_nodes_is_kept),
		cmocka_unit_test(table_without_memory_is_not_kept),
		cmocka_unit_test(former_candidate_has_no_problem_of_memory),
		cmocka_unit_test(table_is_sent_to_root_that_lacks_it),
		cmocka_unit_test(votes_of_former_voters_are_not_sent),
		cmocka_unit_test(kept_table_with_absent_nodes_is_sent_in_order),
		cmocka_unit_test(table_is_kept_if_lasting_data_changes),
		cmocka_unit_test(only_answer_for_latest_table_counts),
		cmocka_unit_test(first_table_of_new_epoch_is_kept),
	};

	return cmocka_run_group_tests_name("fm_keep", all, NULL, NULL);
}
