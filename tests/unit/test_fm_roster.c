// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root and its nodes: who is welcome, under which parent, who is refused and why, what
 * is believed of words that come late, and what of all this the next table says.
 */
#include <errno.h>
#include <stdio.h>

#include "stage.h"

static struct stage s;

/* The root of a fabric of that shape, whose links are up. */
static void root(const char *shape)
{
	struct fm_row row;

	stage_init(&s, shape, 0);
	s.deaf = "init ping pong report lost rows place release ";
	row = stage_row(&s, 0);
	for (unsigned int p = 0; p < row.nports; p++)
		if (row.port[p].state == FM_PORT_UP)
			stage_link_up(&s, p, 1);
	stage_start(&s);
}

static struct fm_msg hello(uint32_t node)
{
	return stage_hello(&s, node);
}

/* By connection 100 + node. */
static void joins(const struct fm_msg *m)
{
	int conn = (int)(m->hello.guid - NIC + 100);

	stage_up(&s, conn);
	stage_msg(&s, conn, m);
}

static void join(uint32_t node)
{
	struct fm_msg m = hello(node);

	joins(&m);
}

static void reports(uint32_t node, uint32_t round)
{
	struct fm_msg m = stage_report(&s, node, fm_version(s.fm), round);

	stage_msg(&s, (int)node + 100, &m);
}

/* All that are children of the root do what is asked for until nothing is under way. */
static void settle(uint32_t nodes)
{
	stage_run_ns(&s, s.now + 10 * MS);
	for (uint32_t round = 0; round < 6; round++) {
		for (uint32_t i = 1; i < nodes; i++)
			reports(i, round);
		stage_run_ns(&s, s.now + MS);
	}
}

/* ... of a ring of four, all of them children of the root, at rest. */
static void ring(void)
{
	struct fm_outline o;

	root("4x1");
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	settle(4);
	fm_outline(s.fm, &o);
	assert_false(o.under_way);
	assert_int_equal(fm_version(s.fm), 1);
	stage_forget(&s);
}

/* --- joining ------------------------------------------------------------------------------- */

static void test_join(void **state)
{
	(void)state;
	root("4x1");
	stage_run(&s, 10);
	stage_forget(&s);
	join(1);
	stage_did(&s, "log info node: 'n1' (10.0.0.1:1) joins\n"
		      "101 < welcome own term root 100 parent ''\n");
	join(2);
	join(3);
	stage_forget(&s);
	/* All are there: the table begins at once, and goes to all. */
	stage_run(&s, 10);
	assert_int_equal(stage_count(&s, "log info bootstrap: shape 4x1, 4 of 4 nodes\n"), 1);
	assert_int_equal(stage_count(&s, "log info table: version 1: bootstrap\n"), 1);
	for (int c = 101; c < 104; c++) {
		char want[200];

		sprintf(want, "%d < table 1 own term 4x1 [0 'n0' 100/1 fault 10] [1 'n1' 101/1 "
			"fault 10] [2 'n2' 102/1 fault 10] [3 'n3' 103/1 fault 10]\n", c);
		assert_int_equal(stage_count(&s, want), 1);
	}
	stage_end(&s);
}

/* The tree is a heap: the parent of number i is (i - 1) / fanout. */
static void test_parents(void **state)
{
	(void)state;
	for (unsigned int fanout = 1; fanout < 5; fanout++) {
		root("20x1");
		s.cfg.fanout = fanout;
		stage_end(&s);
		stage_start(&s);
		for (uint32_t i = 1; i < 20; i++) {
			uint32_t p = (i - 1) / fanout;
			char want[100], address[32];

			stage_forget(&s);
			join(i);
			sprintf(address, "10.0.0.%u:1", p);
			sprintf(want, "%u < welcome own term root 100 parent '%s'\n", 100 + i,
				p ? address : "");
			stage_did_some(&s, want);
		}
		stage_end(&s);
	}
}

/* The parent given is the nearest forebear that is there. */
static void test_forebears(void **state)
{
	struct fm_msg m;

	(void)state;
	root("20x1");
	s.cfg.fanout = 2;
	stage_end(&s);
	stage_start(&s);
	for (uint32_t i = 1; i < 9; i++)
		join(i);
	/* 8 hangs below 3, 1 and the root. It goes there, as guests do. */
	stage_run(&s, 5);
	stage_down(&s, 108);
	stage_forget(&s);
	/* Its parent does not take it. */
	m = hello(8);
	m.hello.attach = 2;
	m.hello.stray = true;
	joins(&m);
	stage_did_some(&s, "108 < welcome own term root 100 parent '10.0.0.1:1'\n");
	stage_run(&s, 6);
	m.hello.row.serial++;
	stage_msg(&s, 108, &m);
	stage_did_some(&s, "108 < welcome own term root 100 parent ''\n");
	/* Long after, it is as at first. */
	stage_run(&s, 3000);
	stage_down(&s, 108);
	stage_run(&s, 10005.999);
	m.hello.attach = 3;
	m.hello.stray = false;
	stage_forget(&s);
	joins(&m);
	assert_int_equal(stage_count(&s, "parent '10.0.0.3:1'"), 0);
	stage_end(&s);
}

/* --- who is refused ------------------------------------------------------------------------- */

/* Whether it is among the problems. */
static bool stands(const char *kind, const char *text)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->kind, kind) && !strcmp(p->text, text))
			return true;
	return false;
}

static void refused(struct fm_msg *m, const char *why)
{
	char want[400];

	stage_up(&s, 300);
	stage_msg(&s, 300, m);
	sprintf(want, "log error refused: %s\n300 < refuse %s\nclose 300\n", why, why);
	stage_did(&s, want);
	assert_true(stands("refused", why));
	/* The same again is not told anew. */
	stage_up(&s, 300);
	stage_msg(&s, 300, m);
	stage_did(&s, want + strlen("log error refused: \n") + strlen(why));
}

static void test_refused(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = hello(2);
	strcpy(m.hello.name, "other");
	refused(&m, "GUID 0000000000000102 of 'other' (10.0.0.2:1) is in use by 'n2' (10.0.0.2:1)");
	strcpy(m.hello.name, "n2");
	strcpy(m.hello.address, "10.0.0.9:1");
	m.hello.epoch = 9;
	refused(&m, "GUID 0000000000000102 of 'n2' (10.0.0.9:1) is in use by 'n2' (10.0.0.2:1)");
	m = hello(9);
	m.hello.epoch = 5;
	m.hello.row.nports = 3;
	refused(&m, "'n9' has 3 ports; a fabric of 2 dimensions needs 4");
	m = hello(9);
	m.hello.epoch = 6;
	strcpy(m.hello.name, "n2");
	refused(&m, "name 'n2' of 0000000000000109 (10.0.0.9:1) is in use by "
		    "0000000000000102 (10.0.0.2:1)");
	strcpy(m.hello.name, "n0");
	refused(&m, "name 'n0' of 0000000000000109 (10.0.0.9:1) is in use by "
		    "0000000000000100 (10.0.0.0:1)");
	/* Once it is another, it is welcome, and what was told is over. */
	strcpy(m.hello.name, "n9");
	stage_up(&s, 300);
	stage_msg(&s, 300, &m);
	assert_int_equal(stage_count(&s, "log info refused: over: name 'n0' of"), 1);
	stage_did_some(&s, "300 < welcome own term root 100 parent ''\n");
	/* The name of one that is gone is free. */
	stage_down(&s, 102);
	stage_forget(&s);
	m = hello(10);
	strcpy(m.hello.name, "n2");
	stage_up(&s, 301);
	stage_msg(&s, 301, &m);
	stage_did_some(&s, "301 < welcome own term root 100 parent ''\n");
	/* And then it is not free for who had it before, nor is its GUID for another. */
	stage_up(&s, 302);
	m = hello(2);
	stage_msg(&s, 302, &m);
	stage_did_some(&s, "302 < refuse name 'n2' of 0000000000000102 (10.0.0.2:1) is in use by "
			   "000000000000010a (10.0.0.10:1)\n");
	stage_end(&s);
}

/* Whatever names are had and given up, nobody is refused by one that nobody has. */
static void test_names(void **state)
{
	struct fm_msg m;

	(void)state;
	root("200x1");
	s.deaf = "init ping pong report lost rows place release table log step ";
	for (uint32_t i = 1; i < 100; i++)
		join(i);
	for (unsigned int k = 0; k < 60; k++) {
		for (uint32_t i = 1; i < 100; i += 7) {
			stage_down(&s, (int)i + 100);
			m = hello(i);
			m.hello.attach = k + 2;
			sprintf(m.hello.name, "k%u-%u", k, i);
			m.hello.row.serial = k + 2;
			stage_forget(&s);
			joins(&m);
			assert_int_equal(stage_count(&s, "refuse"), 0);
			assert_int_equal(stage_count(&s, "welcome"), 1);
		}
		m = hello(150);
		sprintf(m.hello.name, "k%u-%u", k, 8);
		stage_up(&s, 900);
		stage_msg(&s, 900, &m);
		stage_did_some(&s, "900 < refuse name");
	}
	/* Those who never changed theirs are known still. */
	for (uint32_t i = 2; i < 8; i++) {
		m = hello(150);
		sprintf(m.hello.name, "n%u", i);
		stage_up(&s, 900);
		stage_msg(&s, 900, &m);
		stage_did_some(&s, "900 < refuse name");
	}
	stage_end(&s);
}

/* Memory of relays: told, while it is not the same everywhere. */
static void test_relay(void **state)
{
	struct fm_msg m;

	(void)state;
	root("4x1");
	stage_end(&s);
	s.dev.relay_packets = 64;
	stage_start(&s);
	stage_forget(&s);
	m = hello(1);
	joins(&m);
	assert_null(fm_problem(s.fm, 0));
	m = hello(2);
	m.hello.relay_packets = 64;
	joins(&m);
	assert_null(fm_problem(s.fm, 0));
	m = hello(3);
	m.hello.relay_packets = 32;
	joins(&m);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "relay");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "'n3' keeps 32 packets as a relay, the root 'n0' 64: set relay_packets "
			    "of all NICs to the same, or relays return what they have no room for");
	m.hello.relay_packets = 64;
	m.hello.row.serial++;
	joins(&m);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* --- rows ------------------------------------------------------------------------------------- */

static void row(uint32_t node, const struct fm_row *r)
{
	struct fm_msg m = { .type = FM_MSG_ROW };

	m.row = (struct fm_row_msg) { .guid = NIC + node, .epoch = 1, .row = *r };
	stage_msg(&s, 101, &m);
}

#define TABLE2 "log info table: version 2: "

/* One end tells of a loss: the table waits 6 ms for the other, and names it first. */
static void test_one_end(void **state)
{
	struct fm_row r;

	(void)state;
	ring();
	r = stage_row(&s, 2);
	r.serial = 2;
	r.port[0].state = FM_PORT_FAULTY;
	r.port[0].session = 5;
	r.port[0].seq = 77;
	row(2, &r);
	stage_run_ns(&s, s.now + 6 * MS - 1);
	stage_did_nothing(&s);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(stage_count(&s, TABLE2 "link 2,0:+x down\n"), 1);
	assert_int_equal(stage_count(&s, "101 < table 2 after 1 own term 4x1 [2 'n2' 102/1 fault 11 "
					 "0 ended s5/77]\n"), 1);
	stage_end(&s);
}

/* Both have told: it waits a moment for other cables. */
static void test_both_ends(void **state)
{
	struct fm_row r;

	(void)state;
	ring();
	r = stage_row(&s, 2);
	r.serial = 2;
	r.port[2].state = FM_PORT_DOWN;
	row(2, &r);
	stage_run_ns(&s, s.now + MS);
	r = stage_row(&s, 1);
	r.serial = 2;
	r.port[0].state = FM_PORT_FAULTY;
	row(1, &r);
	stage_run_ns(&s, s.now + MS / 4 - 1);
	stage_did_nothing(&s);
	stage_run_ns(&s, s.now + 1);
	stage_did_some(&s, TABLE2 "link 2,0:-x down\n");
	/* Up again, and said the same way. */
	settle(4);
	stage_forget(&s);
	r = stage_row(&s, 1);
	r.serial = 3;
	row(1, &r);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_some(&s, "log info table: version 3: link 1,0:+x up\n");
	stage_end(&s);
}

/* Each field of a row is news; the same again, or one that is older, is none. */
static void test_row_news(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 12; k++) {
		struct fm_row r;
		struct fm_msg m = { .type = FM_MSG_ROW };
		bool news = true;

		ring();
		r = stage_row(&s, 2);
		r.serial = 2;
		switch (k) {
		case 0:
			r.port[3].state = FM_PORT_UP;
			break;
		case 1:
			r.port[2].problem = FM_PROBLEM_FABRIC;
			break;
		case 2:
			r.port[0].closed = true;
			break;
		case 3:
			r.port[2].session = 4;
			break;
		case 4:
			r.port[0].seq = 4;
			break;
		case 5:
			r.port[2].peer_guid++;
			break;
		case 6:
			r.port[0].peer_port++;
			break;
		case 7:
			news = false;
			break;
		case 8:
			r.port[0].closed = true;
			r.serial = 1;
			news = false;
			break;
		case 9:
			r.port[0].closed = true;
			r.serial = 0;
			news = false;
			break;
		case 10:
			r.port[0].closed = true;
			r.serial = 0x80000000;	/* behind: numbers go round */
			news = true;
			break;
		case 11:
			r.port[0].closed = true;
			r.serial = 0x80000002;
			news = false;
			break;
		}
		m.row = (struct fm_row_msg) { .guid = NIC + 2, .epoch = 1, .row = r };
		stage_msg(&s, 101, &m);
		stage_run_ns(&s, s.now + 10 * MS);
		assert_int_equal(stage_count(&s, TABLE2), news);
		/* Of a former life, or of nobody. */
		if (!news) {
			r.port[0].closed = true;
			m.row.row = r;
			m.row.row.serial = 9;
			m.row.epoch = 2;
			stage_msg(&s, 101, &m);
			m.row.guid = 0x999;
			stage_msg(&s, 101, &m);
			stage_run_ns(&s, s.now + 10 * MS);
			stage_did_no(&s, TABLE2);
		}
		stage_end(&s);
	}
}

/* --- HELLO again -------------------------------------------------------------------------------- */

/* One that was not away says the same again: it is answered, and nothing else. */
static void test_hello_again(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = hello(2);
	stage_msg(&s, 102, &m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(stage_count(&s, "102 < welcome own term root 100 parent ''\n"), 1);
	assert_int_equal(stage_count(&s, TABLE2), 0);
	/* An older row in it is not taken. */
	m.hello.row.serial = 0;
	m.hello.row.port[0].state = FM_PORT_DOWN;
	stage_msg(&s, 102, &m);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_no(&s, TABLE2);
	m.hello.row.serial = 2;
	stage_msg(&s, 102, &m);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_some(&s, TABLE2 "link 2,0:+x down\n");
	stage_end(&s);
}

/* It comes by a new connection with the version in force: nothing to be done. */
static void test_comes_back(void **state)
{
	struct fm_msg m;

	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		static const char *const why[] = { NULL, "node 'n2' has version 9",
						   "node 'n2' has version 0",
						   "node 'n2' is back", NULL };

		ring();
		m = hello(2);
		m.hello.attach = 2;
		m.hello.placed = k != 4;
		m.hello.shape = s.shape;
		m.hello.coords.c[0] = 2;
		m.hello.version = k == 1 ? 9 : k == 2 || k == 4 ? 0 : 1;
		m.hello.epoch = k == 3 ? 2 : 1;
		stage_up(&s, 202);
		stage_msg(&s, 202, &m);
		assert_int_equal(stage_count(&s, "202 < welcome own term root 100 parent ''\n"), 1);
		assert_int_equal(stage_count(&s, "close 102\n"), 1);
		stage_forget(&s);
		stage_run_ns(&s, s.now + 2 * MS - 1);
		stage_did_nothing(&s);
		stage_run_ns(&s, s.now + 1);
		if (why[k]) {
			char want[100];

			sprintf(want, "log info table: version %u: %s\n", k == 1 ? 10 : 2, why[k]);
			stage_did_some(&s, want);
		} else {
			stage_did_nothing(&s);
		}
		stage_end(&s);
	}
}

/* --- who is missing ---------------------------------------------------------------------------- */

static void notice(enum fm_msg_type type, uint32_t node, uint32_t parent, uint64_t attach,
		   uint32_t epoch)
{
	struct fm_msg m = { .type = (uint8_t)type };

	m.left = (struct fm_left) { NIC + node, NIC + parent, attach, epoch };
	stage_msg(&s, 101, &m);
}

static void loses_links(uint32_t node)
{
	for (unsigned int p = 0; p < 4; p += 2) {
		struct fm_row r;
		uint32_t o = torus_neighbour(&s.shape, node, p);
		unsigned int q = torus_dir_opposite(&s.shape, p);

		if (!o) {
			stage_link_lost(&s, q, 1);
			continue;
		}
		r = stage_row(&s, o);
		r.serial = 50;
		r.port[q].state = FM_PORT_FAULTY;
		row(o, &r);
	}
}

/* Its connection is lost, and its links are: it is dead, and that is told. */
static void test_dead(void **state)
{
	(void)state;
	ring();
	stage_run(&s, 100);
	stage_forget(&s);
	stage_down(&s, 102);
	stage_did(&s, "log debug node: connection to 'n2' lost\n");
	loses_links(2);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(stage_count(&s, "log error node: node 2,0 ('n2') is dead\n"), 1);
	assert_int_equal(stage_count(&s, "version 2: link"), 1);
	assert_int_equal(stage_count(&s, "[2 'n2' 102/1 dead"), 2);
	stage_forget(&s);
	/* It comes back. */
	struct fm_msg m = hello(2);

	m.hello.attach = 2;
	m.hello.epoch = 2;
	joins(&m);
	assert_int_equal(stage_count(&s, "log info node: over: node 2,0 ('n2') is dead\n"), 1);
	stage_run_ns(&s, s.now + 500 * MS);
	stage_did_some(&s, "node 'n2' is back\n");
	stage_end(&s);
}

/* Its links are up, but its manager is away: silent, after member_max. */
static void test_silent(void **state)
{
	(void)state;
	ring();
	stage_down(&s, 102);
	stage_forget(&s);
	stage_run_ns(&s, s.now + 3000 * MS - 1);
	s.now++;
	assert_null(fm_problem(s.fm, 0));
	stage_run_ns(&s, s.now + 1);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "node");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "node 2,0 ('n2') is silent: its NIC works on, but packets that it "
			    "parks wait there, uncounted, until its manager answers");
	assert_int_equal(stage_count(&s, "version 2: node 'n2' is silent\n"), 1);
	stage_end(&s);
}

/* Notices of connections: what is older than what is known, or of another life, is nothing. */
static void test_notices(void **state)
{
	(void)state;
	ring();
	/* It is below node 1 now, which says so late. */
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_ADOPTED, 2, 3, 4, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_ADOPTED, 2, 3, 6, 2);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_ADOPTED, 9, 3, 6, 1);
	stage_down(&s, 102);		/* with number 1 */
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	notice(FM_MSG_LEFT, 2, 1, 4, 1);
	notice(FM_MSG_LEFT, 2, 1, 5, 2);
	notice(FM_MSG_LEFT, 9, 1, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 1);
	stage_did_no(&s, "lost");
	notice(FM_MSG_LEFT, 2, 1, 5, 1);
	stage_did_some(&s, "log debug node: connection to 'n2' lost\n");
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	/* That it was adopted by that connection is older than that it left. */
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	notice(FM_MSG_ADOPTED, 2, 3, 6, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 3);
	notice(FM_MSG_ADOPTED, 2, 3, 6, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), 3);
	stage_end(&s);
}

/* Who hangs below one that is lost is missing too, until it is told of again. */
static void test_below(void **state)
{
	(void)state;
	root("8x1");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
	/* 2 below 1, 3 and 4 below 2, 5 below 4; 6 below 3, 7 remains. */
	notice(FM_MSG_ADOPTED, 2, 1, 5, 1);
	notice(FM_MSG_ADOPTED, 3, 2, 5, 1);
	notice(FM_MSG_ADOPTED, 4, 2, 5, 1);
	notice(FM_MSG_ADOPTED, 5, 4, 5, 1);
	notice(FM_MSG_ADOPTED, 6, 3, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 5), 4);
	/* One of them moves first. */
	notice(FM_MSG_ADOPTED, 4, 7, 6, 1);
	stage_forget(&s);
	notice(FM_MSG_LEFT, 2, 1, 5, 1);
	for (uint32_t i = 1; i < 8; i++) {
		static const uint32_t above[] = { 0, 0, TORUS_NO_NODE, TORUS_NO_NODE, 7, 4,
						  TORUS_NO_NODE, 0 };

		assert_int_equal(fm_node_parent(s.fm, i), above[i]);
	}
	/* 2 is found again, and all below it follow. */
	notice(FM_MSG_ADOPTED, 2, 7, 6, 1);
	notice(FM_MSG_ADOPTED, 6, 3, 6, 1);
	notice(FM_MSG_ADOPTED, 3, 2, 6, 1);
	assert_int_equal(fm_node_parent(s.fm, 6), 3);
	/* And all are missing again. */
	notice(FM_MSG_LEFT, 7, 0, 5, 1);
	for (uint32_t i = 2; i < 8; i++)
		assert_int_equal(fm_node_parent(s.fm, i), TORUS_NO_NODE);
	assert_int_equal(fm_node_parent(s.fm, 1), 0);
	assert_int_equal(fm_node_parent(s.fm, 0), TORUS_NO_NODE);
	/* Nobody's word: but they are vouched for by those that have links to them. */
	stage_run_ns(&s, s.now + 4000 * MS);
	assert_int_equal(stage_count(&s, "log error node: "), 6);
	assert_int_equal(stage_count(&s, "is silent: its NIC works on"), 6);
	stage_end(&s);
}

/* A parent that is not known yet: who is said to hang there is counted there still. */
static void test_unknown_parent(void **state)
{
	(void)state;
	ring();
	notice(FM_MSG_ADOPTED, 2, 9, 5, 1);
	assert_int_equal(fm_node_parent(s.fm, 2), TORUS_NO_NODE);
	stage_run_ns(&s, s.now + 4000 * MS);
	/* It is with somebody: not silent. */
	assert_null(strstr(s.text, "'n2' is silent"));
	notice(FM_MSG_ADOPTED, 9, 1, 1, 1);
	notice(FM_MSG_LEFT, 9, 1, 1, 1);
	stage_end(&s);
}

/* --- later ----------------------------------------------------------------------------------- */

/* A node that comes after the table was made gets a place in the next. */
static void test_late(void **state)
{
	struct fm_joiner j;

	(void)state;
	root("4x1");
	for (uint32_t i = 1; i < 3; i++)
		join(i);
	stage_run(&s, 3500);
	settle(3);
	assert_int_equal(fm_version(s.fm), 1);
	stage_forget(&s);
	join(3);
	assert_true(fm_joiner(s.fm, 0, &j));
	assert_string_equal(j.name, "n3");
	assert_string_equal(j.address, "10.0.0.3:1");
	assert_int_equal(j.guid, NIC + 3);
	assert_false(fm_joiner(s.fm, 1, &j));
	stage_run_ns(&s, s.now + 10 * MS);
	assert_false(fm_joiner(s.fm, 0, &j));
	assert_int_equal(stage_count(&s, "version 2: node 'n3' joins\n"), 1);
	stage_did_some(&s, "101 < table 2 after 1 own term 4x1 [3 'n3' 103/1 fault 10]\n");
	stage_end(&s);
}

/* One for whom there is no place is told of, until there is. */
static void test_no_place(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = hello(9);
	joins(&m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "place");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "node 'n9' (10.0.0.9:1) has no place: no free coordinates fit its cables");
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_parents),
		cmocka_unit_test(test_forebears),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_relay),
		cmocka_unit_test(test_one_end),
		cmocka_unit_test(test_both_ends),
		cmocka_unit_test(test_row_news),
		cmocka_unit_test(test_hello_again),
		cmocka_unit_test(test_comes_back),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_notices),
		cmocka_unit_test(test_below),
		cmocka_unit_test(test_unknown_parent),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_no_place),
	};

	return cmocka_run_group_tests_name("fm_roster", all, NULL, NULL);
}
