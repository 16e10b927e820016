// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root and its nodes: which nodes it accepts, under which parents, which it refuses and why,
 * which part of a row is new, and the table that follows.
 */
#include <errno.h>
#include <stdio.h>

#include "stage_root.h"

/* --- joining ---------------------------------------------------------------------------- */

static void first_table_goes_to_all_when_all_have_joined(void **state)
{
	(void)state;
	root("4x1");
	stage_run(&s, 10);
	stage_forget(&s);
	join(1);
	stage_did(&s, "log info node: 'n1' (30.0.0.1:1) joins\n"
		      "101 < welcome own term root 100 parent ''\n");
	join(2);
	join(3);
	stage_forget(&s);
	/* All nodes are there: the table begins at once, and goes to all. */
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

/* The tree has the order of a heap: the parent of number i is (i - 1) / fanout. */
static void tree_has_order_of_heap(void **state)
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
			sprintf(address, "30.0.0.%u:1", p);
			sprintf(want, "%u < welcome own term root 100 parent '%s'\n", 100 + i,
				p ? address : "");
			stage_did_some(&s, want);
		}
		stage_end(&s);
	}
}

/* A node's parent is its nearest ancestor that is there. */
static void parent_is_nearest_connected_ancestor(void **state)
{
	struct fm_msg m;

	(void)state;
	root("20x1");
	s.cfg.fanout = 2;
	stage_end(&s);
	stage_start(&s);
	for (uint32_t i = 1; i < 9; i++)
		join(i);
	/* 8 belongs below 3, 1 and the root. It joins its parent as guests do. */
	stage_run(&s, 5);
	stage_down(&s, 108);
	stage_forget(&s);
	/* The parent of node 8 does not accept it. */
	m = hello(8);
	m.hello.attach = 2;
	m.hello.stray = true;
	joins(&m);
	stage_did_some(&s, "108 < welcome own term root 100 parent '30.0.0.1:1'\n");
	stage_run(&s, 6);
	m.hello.row.serial++;
	stage_msg(&s, 108, &m);
	stage_did_some(&s, "108 < welcome own term root 100 parent ''\n");
	/* Long after that, the root begins with the first choice again. */
	stage_run(&s, 3000);
	stage_down(&s, 108);
	stage_run(&s, 10004.999);
	m.hello.attach = 3;
	m.hello.stray = false;
	stage_forget(&s);
	joins(&m);
	assert_int_equal(stage_count(&s, "parent '30.0.0.3:1'"), 0);
	stage_end(&s);
}

/* --- who is refused --------------------------------------------------------------------- */

/* Return: true if a problem has that text. */
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
	/* The same problem is not logged again. */
	stage_up(&s, 300);
	stage_msg(&s, 300, m);
	stage_did(&s, want + strlen("log error refused: \n") + strlen(why));
}

static void node_with_guid_or_name_in_use_is_refused(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = hello(2);
	strcpy(m.hello.name, "other");
	refused(&m, "GUID 0000000000000102 of 'other' (30.0.0.2:1) is in use by 'n2' (30.0.0.2:1)");
	strcpy(m.hello.name, "n2");
	strcpy(m.hello.address, "30.0.0.9:1");
	m.hello.epoch = 9;
	refused(&m, "GUID 0000000000000102 of 'n2' (30.0.0.9:1) is in use by 'n2' (30.0.0.2:1)");
	m = hello(9);
	m.hello.epoch = 5;
	m.hello.row.nports = 3;
	refused(&m, "'n9' has 3 ports; a fabric of 2 dimensions needs 4");
	m = hello(9);
	strcpy(m.hello.address, "30.0.1.9:1");
	m.hello.epoch = 6;
	strcpy(m.hello.name, "n2");
	refused(&m, "name 'n2' of 0000000000000109 (30.0.1.9:1) is in use by "
		    "0000000000000102 (30.0.0.2:1)");
	strcpy(m.hello.address, "30.0.2.9:1");
	strcpy(m.hello.name, "n0");
	m.hello.epoch = 7;
	refused(&m, "name 'n0' of 0000000000000109 (30.0.2.9:1) is in use by "
		    "0000000000000100 (30.0.0.0:1)");
	/*
	 * The refused manager starts again with another name: it is accepted, and the problem is
	 * over.
	 */
	m.hello.epoch = 8;
	strcpy(m.hello.name, "n9");
	stage_up(&s, 300);
	stage_msg(&s, 300, &m);
	assert_int_equal(stage_count(&s, "log info refused: over: name 'n0' of"), 1);
	stage_did_some(&s, "300 < welcome own term root 100 parent ''\n");
	/* The name of a node that is gone is free. */
	stage_down(&s, 102);
	stage_forget(&s);
	m = hello(10);
	strcpy(m.hello.name, "n2");
	stage_up(&s, 301);
	stage_msg(&s, 301, &m);
	stage_did_some(&s, "301 < welcome own term root 100 parent ''\n");
	/* The name is not free then for its former owner, nor is the GUID for another node. */
	stage_up(&s, 302);
	m = hello(2);
	stage_msg(&s, 302, &m);
	stage_did_some(&s, "302 < refuse name 'n2' of 0000000000000102 (30.0.0.2:1) is in use by "
			   "000000000000010a (30.0.0.10:1)\n");
	stage_end(&s);
}

/* The problem of a refused node ends if it does not ask again for a minute. */
static void problem_of_refused_node_ends_after_a_minute(void **state)
{
	static const char why[] = "name 'n0' of 0000000000000103 (30.0.0.3:1) is in use by "
				  "0000000000000100 (30.0.0.0:1)";
	struct fm_msg m;

	(void)state;
	root("4x1");
	stage_run(&s, 1);
	stage_forget(&s);
	m = hello(3);
	strcpy(m.hello.name, "n0");
	refused(&m, why);
	stage_run(&s, 50 * 1000);
	assert_true(stands("refused", why));
	stage_up(&s, 300);
	stage_msg(&s, 300, &m);
	stage_run(&s, 109 * 1000);
	assert_true(stands("refused", why));
	stage_run(&s, 111 * 1000);
	assert_false(stands("refused", why));
	stage_end(&s);
}

/* After any names were taken and given up, no node is refused for a name that is free. */
static void free_name_is_never_refused(void **state)
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
	/* Nodes that never changed their names are still known. */
	for (uint32_t i = 2; i < 8; i++) {
		m = hello(150);
		sprintf(m.hello.name, "n%u", i);
		stage_up(&s, 900);
		stage_msg(&s, 900, &m);
		stage_did_some(&s, "900 < refuse name");
	}
	stage_end(&s);
}

/* A node whose memory for relays differs from the root's is reported. */
static void other_relay_memory_is_reported(void **state)
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

/* One NIC with the bootstrap flag is right; two are a problem, until one flag is gone. */
static void second_nic_with_bootstrap_flag_is_problem(void **state)
{
	struct fm_msg m;

	(void)state;
	root("4x1");
	m = hello(1);
	joins(&m);
	assert_null(fm_problem(s.fm, 0));
	m = hello(2);
	m.hello.marked = true;
	joins(&m);
	assert_string_equal(fm_problem(s.fm, 0)->kind, "bootstrap");
	assert_string_equal(fm_problem(s.fm, 0)->text,
			    "two NICs have the bootstrap flag, of 'n0' and 'n2': remove one flag, "
			    "or "
			    "they lead two fabrics when all nodes start anew");
	m.hello.row.serial++;
	joins(&m);
	assert_non_null(fm_problem(s.fm, 0));
	/* If there are more, two are named: there is room for no more. */
	for (uint32_t i = 1; i < 4; i += 2) {
		struct fm_msg o = hello(i);

		o.hello.marked = true;
		o.hello.row.serial = 2;
		joins(&o);
	}
	assert_non_null(strstr(fm_problem(s.fm, 0)->text, "flag, of 'n0' and 'n1': "));
	for (uint32_t i = 1; i < 4; i += 2) {
		struct fm_msg o = hello(i);

		o.hello.row.serial = 3;
		joins(&o);
	}
	m.hello.marked = false;
	m.hello.row.serial++;
	joins(&m);
	assert_null(fm_problem(s.fm, 0));
	stage_end(&s);
}

/* --- rows ------------------------------------------------------------------------------- */

#define TABLE2 "log info table: version 2: "

/*
 * One end reports the loss of a link: the root waits 6 ms for the report of the other end, and its
 * table names the first.
 */
static void root_waits_6_ms_for_report_of_other_end(void **state)
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
	assert_int_equal(stage_count(&s, "101 < table 2 after 1 own term 4x1 [2 'n2' 102/1 fault "
		"11 "
					 "0 ended s5/77]\n"), 1);
	stage_end(&s);
}

/* Both ends have reported: the table waits a moment for changes of other cables. */
static void table_waits_a_moment_after_both_ends_reported(void **state)
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
	stage_did_some(&s, TABLE2 "link 1,0:+x down\n");
	/* The cable is up again, reported in the same way. */
	settle(4);
	stage_forget(&s);
	r = stage_row(&s, 1);
	r.serial = 3;
	row(1, &r);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_some(&s, "log info table: version 3: link 1,0:+x up\n");
	stage_end(&s);
}

/* The cable at each port is named as the cause of a table, by its end with a "+". */
static void cause_of_table_names_cable_by_positive_end(void **state)
{
	static const char *const name[] = { "1,1,1:+x", "1,1,1:+y", "1,1,1:+z", "0,1,1:+x",
					    "1,0,1:+y", "1,1,0:+z" };

	(void)state;
	for (unsigned int p = 0; p < 6; p++) {
		char text[100];
		struct fm_row r;

		root("3x3x3");
		for (uint32_t i = 1; i < 27; i++)
			join(i);
		settle(27);
		stage_forget(&s);
		r = stage_row(&s, 13);
		r.serial = 2;
		r.port[p].state = FM_PORT_FAULTY;
		row(13, &r);
		stage_run_ns(&s, s.now + 6 * MS);
		snprintf(text, sizeof(text), TABLE2 "link %s down\n", name[p]);
		stage_did_some(&s, text);
		stage_end(&s);
	}
}

/* A row changes no state of a port: the cause names the node, and no port. */
static void change_without_port_names_node_as_cause(void **state)
{
	struct fm_row r;

	(void)state;
	root("4x1x1");
	for (uint32_t i = 1; i < 4; i++)
		join(i);
	settle(4);
	r = stage_row(&s, 2);
	r.serial = 2;
	r.port[0].session = 4;
	row(2, &r);
	stage_run_ns(&s, s.now + 10 * MS);
	stage_did_some(&s, TABLE2 "links of 'n2'\n");
	stage_end(&s);
}

/* A change of each field of a row is news; the same row again, or an older one, is none. */
static void only_changed_row_is_news(void **state)
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
			r.serial = 0x80000000;	/* older: serials wrap around */
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
		/* The row is of a former life of the NIC, or of an unknown one. */
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

/* --- HELLO again ------------------------------------------------------------------------ */

/* A node that was not away repeats its HELLO: the root answers, and does nothing else. */
static void repeated_hello_is_only_answered(void **state)
{
	struct fm_msg m;

	(void)state;
	ring();
	m = hello(2);
	stage_msg(&s, 102, &m);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(stage_count(&s, "102 < welcome own term root 100 parent ''\n"), 1);
	assert_int_equal(stage_count(&s, TABLE2), 0);
	/* An older row in it is ignored. */
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

/* A node returns by a new connection with the version in force: nothing is to be done. */
static void node_back_with_version_in_force_needs_no_table(void **state)
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

/*
 * A root that leads never answers that it is adrift, because all nodes below would report a loss.
 */
static void root_that_leads_is_never_adrift(void **state)
{
	(void)state;
	ring();
	s.deaf = "init ";
	stage_send(&s, 102, FM_MSG_PING);
	stage_did(&s, "102 < pong\n");
	stage_end(&s);
}

/*
 * All nodes of a large fabric join at once: the work for one must not grow with their number, or
 * this test would not end.
 */
static void work_for_joining_node_does_not_grow(void **state)
{
	struct fm_msg m;

	(void)state;
	root("250x200");
	s.deaf = "init log welcome adopted connect close refuse table ";
	for (uint32_t i = 1; i < 20000; i++) {
		m = hello(i);
		joins(&m);
	}
	stage_did_nothing(&s);
	/* Each is found by its name and its GUID. */
	s.deaf = "init log welcome adopted connect close table ";
	for (uint32_t i = 1; i < 20000; i += 500) {
		m = hello(i);
		m.hello.guid = NIC + 60000;
		joins(&m);
		stage_did_some(&s, "refuse name 'n");
		m = hello(i);
		m.hello.name[0] = 'x';
		joins(&m);
		stage_did_some(&s, "refuse GUID ");
	}
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(first_table_goes_to_all_when_all_have_joined),
		cmocka_unit_test(tree_has_order_of_heap),
		cmocka_unit_test(parent_is_nearest_connected_ancestor),
		cmocka_unit_test(node_with_guid_or_name_in_use_is_refused),
		cmocka_unit_test(problem_of_refused_node_ends_after_a_minute),
		cmocka_unit_test(free_name_is_never_refused),
		cmocka_unit_test(other_relay_memory_is_reported),
		cmocka_unit_test(second_nic_with_bootstrap_flag_is_problem),
		cmocka_unit_test(root_waits_6_ms_for_report_of_other_end),
		cmocka_unit_test(table_waits_a_moment_after_both_ends_reported),
		cmocka_unit_test(change_without_port_names_node_as_cause),
		cmocka_unit_test(only_changed_row_is_news),
		cmocka_unit_test(repeated_hello_is_only_answered),
		cmocka_unit_test(node_back_with_version_in_force_needs_no_table),
		cmocka_unit_test(root_that_leads_is_never_adrift),
		cmocka_unit_test(work_for_joining_node_does_not_grow),
		cmocka_unit_test(cause_of_table_names_cable_by_positive_end),
	};

	return cmocka_run_group_tests_name("fm_roster", all, NULL, NULL);
}
