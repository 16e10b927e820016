// SPDX-License-Identifier: GPL-2.0-only
/* Exclusions of the administrator before the root restarted, as nodes remember them. */
#include <stdio.h>
#include <string.h>

#include "stage_shape.h"
#include "daemon/fm/root/facts.h"
#include "daemon/fm/root/news.h"
#include "daemon/fm/root/roster.h"

static uint64_t table_of[16];
static uint16_t admin_of[16], across_of[16];
static uint32_t away;

static void joins_as(struct fm_hello *h)
{
	uint32_t i = (uint32_t)(h->guid - NIC);

	placed(h);
	h->table = table_of[i];
	h->admin = admin_of[i];
	h->across = across_of[i];
	h->ups = 16;
	h->counted = true;
}

/* @words: expected in the log. */
static void recalled(bool known, const char *words)
{
	restart(known, "4x4", 0, 6);
	for (uint32_t i = 1; i < 16; i++)
		if (i != away)
			join(i, joins_as);
	/* The former table of these nodes is asked for, and does not come. */
	stage_run(&s, away ? 6005 : 4 * s.cfg.resend / MS + 5);
	assert_int_not_equal(fm_version(s.fm), 0);
	assert_int_equal(stage_count(&s, "excluded as before"), words[0] != '\0');
	if (words[0])
		assert_int_equal(stage_count(&s, words), 1);
}

static void free_exclusions(void)
{
	for (unsigned int i = 0; i < 16; i++) {
		table_of[i] = 6;
		admin_of[i] = across_of[i] = 0;
	}
	away = 0;
}

/* The later of two tables is right about a cable, at both of its ends. */
static void later_table_decides_on_each_cable(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		free_exclusions();
		recalled(known, "");
		stage_end(&s);
		/* 5:+x is excluded in that table, and 6 knows it. */
		admin_of[5] = 1;
		across_of[6] = 4;
		recalled(known, "log info table: 1 port stays excluded as before\n");
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		assert_int_equal(fm_node(s.fm, 6)->admin, 0);
		assert_string_equal(fm_excluded(s.fm, 6, 2), "admin");
		stage_end(&s);
		/* Two ports are excluded. */
		admin_of[9] = 2;
		across_of[13] = 8;
		recalled(known, "log info table: 2 ports stay excluded as before\n");
		assert_int_equal(fm_node(s.fm, 9)->admin, 2);
		stage_end(&s);
		/* The port was included since, which 6 knows and 5 does not. */
		free_exclusions();
		admin_of[5] = 1;
		table_of[6] = 7;
		recalled(known, "");
		stage_end(&s);
		/* The port was excluded since. */
		free_exclusions();
		across_of[6] = 4;
		table_of[6] = 7;
		recalled(known, "1 port stays");
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		stage_end(&s);
		/* The older table of 6 is not believed. */
		table_of[6] = 5;
		recalled(known, "");
		stage_end(&s);
		/* 5 is away, or has restarted: its neighbours know its exclusions. */
		table_of[6] = 6;
		away = 5;
		recalled(known, "1 port stays");
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		stage_end(&s);
		away = 0;
		table_of[5] = 0;
		recalled(known, "1 port stays");
		stage_end(&s);
	}
}

/* The HELLO with the later table counts; one of another shape, or without a place, does not. */
static void hello_with_later_table_of_same_shape_counts(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		restart(true, "4x4", 0, 6);
		free_exclusions();
		for (uint32_t i = 1; i < 16; i++) {
			struct fm_msg m = stage_hello(&s, i);

			joins_as(&m.hello);
			if (i == 5) {
				m.hello.admin = k < 2 || k > 2 ? 1 : 0;
				m.hello.placed = k != 3;
				m.hello.shape.size[1] = k == 4 ? 5 : 4;
			}
			stage_up(&s, 100 + (int)i);
			stage_msg(&s, 100 + (int)i, &m);
			if (i != 5 || k > 2)
				continue;
			/* The node joins again before the others have joined. */
			m.hello.attach = 2;
			m.hello.table = k == 1 ? 5 : 7;
			m.hello.admin = k == 0 ? 0 : k == 1 ? 0 : 1;
			stage_up(&s, 300);
			stage_msg(&s, 300, &m);
		}
		stage_run(&s, 4 * s.cfg.resend / MS + 5);
		assert_int_equal(stage_count(&s, "1 port stays excluded"), k == 1 || k == 2);
		stage_end(&s);
	}
}

/*
 * A root that leads fetches the table with which nodes work, and waits for it, because it has
 * exclusions that none of these nodes reports.
 */
static void leading_root_fetches_and_awaits_latest_table(void **state)
{
	struct fm_entry entry[16];
	struct fm_msg m;

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		restart(k, "4x4", 0, 6);
		free_exclusions();
		for (uint32_t i = 1; i < 16; i++)
			join(i, joins_as);
		assert_int_equal(stage_count(&s, "101 < fetch"), 1);
		assert_int_equal(stage_count(&s, "102 < fetch"), 1);
		assert_int_equal(stage_count(&s, "fetch"), 2);
		stage_run(&s, s.cfg.resend / MS - 10);
		assert_int_equal(fm_version(s.fm), 0);
		m = stage_table(&s, 6, entry);
		entry[5].admin = 1;
		m.table.term = s.fm->root->former.epoch;
		m.table.maker = s.fm->root->former.root;
		m.table.former = true;
		stage_msg(&s, 101, &m);
		stage_run(&s, 5);
		assert_int_not_equal(fm_version(s.fm), 0);
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		stage_end(&s);
	}
}

/* A root that gets little processor time waits longer for that table, and for other nodes. */
static void root_with_little_time_waits_longer_for_table(void **state)
{
	(void)state;
	for (uint64_t lag = 0; lag <= 50 * MS; lag += 50 * MS) {
		restart(true, "4x4", 0, 6);
		free_exclusions();
		for (uint32_t i = 1; i < 16; i++)
			join(i, joins_as);
		s.fm->lag = lag;
		s.fm->lag_at = s.fm->now;
		stage_forget(&s);
		stage_run_ns(&s, s.now + s.cfg.resend + 4 * lag - MS);
		assert_int_equal(stage_count(&s, "fetch"), 0);
		assert_int_equal(fm_version(s.fm), 0);
		stage_run_ns(&s, s.now + 2 * MS);
		assert_int_equal(stage_count(&s, "fetch"), 1);
		stage_end(&s);
	}
}

static uint32_t cut;	/* nodes that have lost their link to node 10 */

static void has_cut(struct fm_hello *h)
{
	joins_as(h);
	for (unsigned int p = 0; p < 4; p++)
		if (cut >> (h->guid - NIC) & 1 && h->row.port[p].peer_guid == NIC + 10)
			h->row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
}

/*
 * Lets the root begin with the latest table. @hung: nodes that do not join. Return: state of node
 * 10.
 */
static enum fm_node_state begins_without(uint32_t hung)
{
	struct fm_entry entry[16];
	enum fm_node_state state;
	struct fm_msg m;

	restart(true, "4x4", 0, 6);
	free_exclusions();
	for (uint32_t i = 1; i < 16; i++)
		if (!(hung >> i & 1))
			join(i, has_cut);
	m = stage_table(&s, 6, entry);
	m.table.term = s.fm->root->former.epoch;
	m.table.maker = s.fm->root->former.root;
	m.table.former = true;
	stage_msg(&s, 101, &m);
	stage_run(&s, 6005);
	assert_int_not_equal(fm_version(s.fm), 0);
	state = fm_node(s.fm, 10)->state;
	stage_end(&s);
	return state;
}

/*
 * Node 10 has not joined, and no row has a link to it that is up. A neighbour that has not joined
 * either, but to which others have links, may have such a link: then node 10 is not dead, though
 * another neighbour has lost its link to it.
 */
static void missing_node_is_dead_only_if_all_neighbours_joined(void **state)
{
	(void)state;
	cut = 1u << 6 | 1u << 9 | 1u << 11 | 1u << 14;
	assert_int_equal(begins_without(1u << 10), FM_NODE_DEAD);
	assert_int_equal(begins_without(1u << 10 | 1u << 11), FM_NODE_SILENT);
	assert_int_equal(begins_without(1u << 10 | 1u << 6 | 1u << 11 | 1u << 14), FM_NODE_SILENT);
	cut = 0;
	assert_int_equal(begins_without(1u << 10), FM_NODE_SILENT);
}

/*
 * The two nodes that were asked die. Others have that table, too: one of these is asked, then the
 * next.
 */
static void next_node_with_latest_table_is_asked(void **state)
{
	struct fm_entry entry[16];
	struct fm_msg m;

	(void)state;
	for (unsigned int dead = 1; dead < 4; dead++) {
		restart(true, "4x4", 0, 6);
		free_exclusions();
		for (uint32_t i = 1; i < 16; i++)
			join(i, joins_as);
		assert_int_equal(stage_count(&s, "101 < fetch former"), 1);
		for (unsigned int i = 1; i <= dead; i++) {
			stage_down(&s, 100 + (int)i);
			stage_forget(&s);
			stage_run_ns(&s, s.now + s.cfg.resend + MS);
			assert_int_equal(stage_count(&s, "fetch former"), i < 3);
		}
		if (dead == 3) {	/* the root does not ask for ever */
			assert_int_not_equal(fm_version(s.fm), 0);
			stage_end(&s);
			continue;
		}
		assert_int_equal(fm_version(s.fm), 0);
		m = stage_table(&s, 6, entry);
		entry[5].admin = 1;
		m.table.term = s.fm->root->former.epoch;
		m.table.maker = s.fm->root->former.root;
		m.table.former = true;
		stage_msg(&s, 101 + (int)dead, &m);
		stage_run_ns(&s, s.now + s.cfg.quiet + 5 * MS);
		assert_int_not_equal(fm_version(s.fm), 0);
		assert_int_equal(fm_node(s.fm, 5)->admin, 1);
		stage_end(&s);
	}
}

/*
 * Four nodes with the latest table stay below the root, which may have to ask them for it, wherever the
 * tree has place for them; but not one that has a former table, nor a fifth one.
 */
static void latest_table_is_asked_of_nodes_below_root(void **state)
{
	static const char *const parents[] = { "", "30.0.0.1:1", "", "", "", "30.0.0.5:1" };

	(void)state;
	restart(false, "4x4", 0, 6);
	s.fm->cfg.fanout = 1;
	s.deaf = "init ping pong report lost rows place release log fetch ";
	free_exclusions();
	table_of[2] = 5;
	for (uint32_t i = 1; i < 16; i++)
		join(i, joins_as);
	stage_run(&s, 5);
	for (unsigned int i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		char line[80];

		snprintf(line, sizeof(line), "10%u < welcome own term root 100 parent '%s'\n",
			 i + 1,
			 parents[i]);
		assert_int_equal(stage_count(&s, line), 1);
	}
	stage_end(&s);
}

/*
 * A node sends its kept table instead of the latest, which does not have the nodes that were up:
 * another node is asked.
 */
static void kept_table_sent_instead_of_latest_makes_root_ask_another(void **state)
{
	struct fm_entry entry[16];
	struct fm_msg m;

	(void)state;
	restart(true, "4x4", 0, 6);
	free_exclusions();
	for (uint32_t i = 1; i < 16; i++)
		join(i, joins_as);
	for (unsigned int former = 0; former < 2; former++) {
		m = stage_table(&s, 6, entry);
		m.table.term = s.fm->root->former.epoch;
		m.table.maker = s.fm->root->former.root;
		m.table.former = former;
		stage_forget(&s);
		stage_msg(&s, 101, &m);
		stage_run_ns(&s, s.now + s.cfg.resend + MS);
		assert_int_equal(stage_count(&s, "fetch former"), !former);
	}
	assert_int_not_equal(fm_version(s.fm), 0);
	stage_end(&s);
}

/*
 * No other node has that table: the root then waits only for other nodes, and does not search again
 * and again.
 */
static void root_asks_no_further_node_if_no_other_has_table(void **state)
{
	(void)state;
	for (unsigned int news = 0; news < 2; news++) {
		restart(true, "4x4", 0, 6);
		free_exclusions();
		table_of[1] = 7;
		for (uint32_t i = 1; i < 16; i++)
			join(i, joins_as);
		assert_int_equal(stage_count(&s, "101 < fetch former"), 1);
		stage_forget(&s);
		if (news)
			fm_news_wait(s.fm, s.fm->now + 3 * s.cfg.resend);
		stage_run_ns(&s, s.now + 2 * s.cfg.resend);
		assert_int_equal(stage_count(&s, "fetch"), 0);
		assert_int_equal(fm_version(s.fm) != 0, !news);
		stage_end(&s);
	}
}

/* The root does not wait for ever for a node that comes again and again with a later table. */
static void wait_for_latest_table_ends(void **state)
{
	struct fm_msg m;
	uint64_t began;

	(void)state;
	restart(true, "4x4", 0, 6);
	free_exclusions();
	for (uint32_t i = 1; i < 16; i++)
		join(i, joins_as);
	began = s.now;
	for (unsigned int i = 0; i < 10 && !fm_version(s.fm); i++) {
		stage_run_ns(&s, s.now + s.cfg.resend - 10 * MS);
		m = stage_hello(&s, 1);
		joins_as(&m.hello);
		m.hello.table = 7 + i;
		m.hello.attach = 2 + i;
		stage_up(&s, 300 + (int)i);
		stage_msg(&s, 300 + (int)i, &m);
	}
	assert_in_range(s.now - began, 3 * s.cfg.resend, 6 * s.cfg.resend);
	stage_end(&s);
}

/* A node's HELLO has the exclusions of its table, for both ends of its cables. */
static void hello_has_exclusions_of_both_ends_of_cables(void **state)
{
	struct fm_entry entry[16];
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	stage_init(&s, "4x4", 5);
	s.deaf = "init log ";
	stage_start(&s);
	i = stage_neighbour(&s, 0);
	stage_receive(&s, 0, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	m = stage_table(&s, 4, entry);
	entry[5].admin = 6;
	entry[6].admin = 4;	/* 6:-x is the other end of 5:+x */
	entry[1].admin = 2;	/* 1:+y is the other end of 5:-y */
	entry[9].admin = 2;	/* 9:+y leads elsewhere */
	stage_msg(&s, 1, &m);
	stage_down(&s, 1);
	stage_run(&s, 100);
	stage_forget(&s);
	stage_up(&s, 2);
	stage_did_some(&s, " table 4 admin 6 across 9 row");
	/* A parent gets no report of this. */
	stage_welcome(&s, 2, TERM, "30.0.0.9:1");
	stage_up(&s, 3);
	stage_did_no(&s, "across");
	stage_end(&s);
}

/* --- in which shape NICs work ----------------------------------------------------------------- */

/* Node @node says that its NIC works at that place of that shape, with rows of @version. */
static void works(uint32_t node, const char *shape, uint32_t place, uint64_t version)
{
	struct fm_msg m = stage_hello(&s, node);

	m.hello.placed = true;
	assert_int_equal(torus_shape_parse(shape, &m.hello.shape), 0);
	torus_node_coords(&m.hello.shape, place, &m.hello.coords);
	m.hello.version = version;
	m.hello.attach = version;
	stage_up(&s, 100 + (int)node);
	stage_msg(&s, 100 + (int)node, &m);
}

static void is_shape(const char *shape)
{
	struct torus_shape want = { .ndims = 0 };

	if (shape)
		assert_int_equal(torus_shape_parse(shape, &want), 0);
	assert_int_equal(s.fm->root->restored, shape != NULL);
	assert_memory_equal(&s.fm->root->shape, &want, sizeof(want));
}

static uint32_t place_of(uint32_t node)
{
	return fm_record(s.fm->root, NIC + node)->node;
}

/*
 * The fabric has the shape in which the NIC of the latest version works; NICs of other shapes have
 * no place.
 */
static void fabric_has_shape_of_latest_version(void **state)
{
	(void)state;
	root(false);
	s.stubborn = true;
	works(1, "1x1", 0, 9);		/* a shape of one node is no fabric */
	is_shape(NULL);
	stage_run_ns(&s, s.now + 1);	/* the root asks all nodes anew now */
	works(1, "2x1", 1, 10);
	is_shape("2x1");
	assert_int_equal(place_of(1), 1);
	works(2, "4x4", 2, 10);		/* this is no later version */
	is_shape("2x1");
	works(2, "4x4", 2, 11);
	is_shape("4x4");
	assert_int_equal(place_of(1), TORUS_NO_NODE);
	assert_int_equal(place_of(2), 2);
	/* The same shape again: no node loses the place. */
	works(3, "4x4", 3, 12);
	is_shape("4x4");
	assert_int_equal(place_of(2), 2);
	assert_int_equal(place_of(3), 3);
	stage_end(&s);
	/* Where the shape is configured, another one is not taken. */
	root(true);
	s.stubborn = true;
	works(1, "8x2", 1, 9);
	is_shape(NULL);
	stage_run_ns(&s, s.now + 1);
	works(1, "8x2", 1, 10);
	is_shape(NULL);
	works(2, "4x4", 2, 11);
	is_shape("4x4");
	stage_end(&s);
}

/* Exclusions at places of the former shape are forgotten, and there is room for a larger one. */
static void exclusions_of_former_shape_are_forgotten(void **state)
{
	(void)state;
	root(false);
	s.stubborn = true;
	works(1, "4x4", 1, 9);
	stage_run_ns(&s, s.now + 1);
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_msg m = stage_hello(&s, 2 + k);

		m.hello.placed = true;
		assert_int_equal(torus_shape_parse(k ? "4x5" : "4x4", &m.hello.shape), 0);
		torus_node_coords(&m.hello.shape, k ? 16 : 2, &m.hello.coords);
		m.hello.version = m.hello.table = 10 + k;
		m.hello.term = 3;
		m.hello.table_root = NIC + 1;
		m.hello.admin = k ? 0 : 1;
		stage_up(&s, 102 + (int)k);
		stage_msg(&s, 102 + (int)k, &m);
	}
	is_shape("4x5");
	assert_int_equal(place_of(3), 16);
	stage_end(&s);		/* the fence behind the memory is whole */
}

/* --- what was kept ----------------------------------------------------------------------- */

static void has_kept(struct fm_hello *h)
{
	h->kept_term = 3;
	h->kept = h->guid == NIC + 7 ? 9 : 0;
}

/*
 * All NICs have lost their memory, but one node has kept a table: it is asked for it, and gets some
 * time to send it.
 */
static void kept_table_is_fetched_and_waited_for(void **state)
{
	(void)state;
	for (unsigned int comes = 0; comes < 2; comes++) {
		struct fm_entry entry[16];
		struct fm_msg m;

		root(true);
		join(7, has_kept);
		stage_run(&s, 1);
		memset(s.joiner, 0, sizeof(s.joiner));
		for (uint32_t i = 1; i < 16; i++)
			join(i, has_kept);
		stage_run(&s, 80);
		assert_true(stage_count(&s, "107 < fetch\n") > 0);
		assert_int_equal(fm_version(s.fm), 0);
		m = stage_table(&s, 9, entry);
		m.table.term = 3;
		entry[5].admin = 1;
		if (comes)
			stage_msg(&s, 107, &m);
		stage_run(&s, 120);
		assert_int_not_equal(fm_version(s.fm), 0);
		assert_int_equal(fm_node(s.fm, 5)->admin, comes);
		stage_end(&s);
	}
}

/*
 * The root waits for a kept table also after it has asked for longer than new nodes can delay the
 * first table.
 */
static void kept_table_is_waited_for_after_long_asking(void **state)
{
	(void)state;
	root(true);
	join(7, has_kept);
	stage_run(&s, 1);
	memset(s.joiner, 0, sizeof(s.joiner));
	join(6, has_kept);
	stage_run(&s, 70000);
	memset(s.joiner, 0, sizeof(s.joiner));
	stage_forget(&s);
	for (uint32_t i = 1; i < 16; i++)
		join(i, has_kept);
	stage_run(&s, 70080);
	assert_true(stage_count(&s, "107 < fetch\n") > 0);
	assert_int_equal(fm_version(s.fm), 0);
	stage_run(&s, 70120);
	assert_int_not_equal(fm_version(s.fm), 0);
	stage_end(&s);
}

/*
 * A node that begins anew all the time, and never sends its kept table, does not delay the first
 * table for ever.
 */
static void wait_for_kept_table_ends(void **state)
{
	double ms = 1;

	(void)state;
	root(true);
	join(7, has_kept);
	stage_run(&s, ms);
	memset(s.joiner, 0, sizeof(s.joiner));
	for (uint32_t i = 1; i < 16; i++)
		join(i, has_kept);
	for (; !fm_version(s.fm) && ms < 70000; ms += 50) {
		stage_run(&s, ms);
		stage_down(&s, 107);
		join(7, has_kept);
		stage_forget(&s);
	}
	assert_true(ms > 50000);
	assert_int_not_equal(fm_version(s.fm), 0);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(later_table_decides_on_each_cable),
		cmocka_unit_test(hello_with_later_table_of_same_shape_counts),
		cmocka_unit_test(leading_root_fetches_and_awaits_latest_table),
		cmocka_unit_test(root_with_little_time_waits_longer_for_table),
		cmocka_unit_test(missing_node_is_dead_only_if_all_neighbours_joined),
		cmocka_unit_test(next_node_with_latest_table_is_asked),
		cmocka_unit_test(latest_table_is_asked_of_nodes_below_root),
		cmocka_unit_test(kept_table_sent_instead_of_latest_makes_root_ask_another),
		cmocka_unit_test(root_asks_no_further_node_if_no_other_has_table),
		cmocka_unit_test(wait_for_latest_table_ends),
		cmocka_unit_test(hello_has_exclusions_of_both_ends_of_cables),
		cmocka_unit_test(fabric_has_shape_of_latest_version),
		cmocka_unit_test(exclusions_of_former_shape_are_forgotten),
		cmocka_unit_test(kept_table_is_fetched_and_waited_for),
		cmocka_unit_test(kept_table_is_waited_for_after_long_asking),
		cmocka_unit_test(wait_for_kept_table_ends),
	};

	return cmocka_run_group_tests_name("fm_recall", all, NULL, NULL);
}
