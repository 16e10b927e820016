// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes 3 and 4 of a ring were judged dead together. Node 3 comes back, and its row decides if the
 * NIC of 4 works on. And nodes that report, or whose parent reports, that they cannot follow a
 * version, and when the root may do without them.
 */
#include <errno.h>
#include <stdio.h>

#include "daemon/fm/node/machine.h"
#include "stage_root.h"

/* --- beside a node that is back ------------------------------------------------------------- */

static struct fm_row row3, row4;	/* the last rows before they are lost */

static void ring_of_8(void)
{
	root("8x1");
	for (uint32_t i = 1; i < 8; i++)
		join(i);
	settle(8);
	row3 = stage_row(&s, 3);
	row4 = stage_row(&s, 4);
	row3.serial = row4.serial = 2;
	row3.port[0].session = 5;
}

/* Nodes 2 and 5 have lost their links to the pair, and its connections end. */
static void pair_dies(void)
{
	row(3, &row3);
	row(4, &row4);
	settle(8);
	stage_run_ns(&s, s.now + 100 * MS);
	for (uint32_t i = 2; i < 6; i += 3) {
		struct fm_row r = stage_row(&s, i);

		r.serial = 2;
		r.port[i == 2 ? 0 : 2].state = FM_PORT_FAULTY;
		row(i, &r);
	}
	stage_down(&s, 103);
	stage_down(&s, 104);
	settle(8);
	stage_run_ns(&s, s.now + 600 * MS);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_DEAD);
	assert_int_equal(fm_node(s.fm, 4)->state, FM_NODE_DEAD);
	stage_forget(&s);
}

/* Return: how many problems stand that say so. */
static unsigned int tells(const char *text)
{
	unsigned int n = 0;

	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		n += strstr(fm_problem(s.fm, i)->text, text) != NULL;
	return n;
}

/* Node 3 says HELLO with that row. Return: the state of 4 then. */
static int back(struct fm_row r)
{
	struct fm_msg m = hello(3);
	int is;

	m.hello.attach = 2;
	m.hello.row = r;
	m.hello.row.serial = 3;
	joins(&m);
	settle(8);
	is = fm_node(s.fm, 4)->state;
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(tells("node 4,0 ('n4') is silent: its NIC works on"), is == FM_NODE_SILENT);
	assert_int_equal(tells("node 4,0 ('n4') is dead"), is == FM_NODE_DEAD);
	stage_end(&s);
	return is;
}

/* The same link as before, which 4 had up, too: its NIC works on. */
static void same_link(void **state)
{
	(void)state;
	ring_of_8();
	pair_dies();
	assert_int_equal(back(row3), FM_NODE_SILENT);
	/* The port of node 3 may be any, also the first and the last. */
	for (unsigned int p = 0; p < 4; p++) {
		ring_of_8();
		row3.port[p] = row3.port[0];
		row3.port[p].peer_port = 1;
		row4.port[1] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 3,
						      .peer_port = (uint8_t)p };
		if (p)
			row3.port[0] = (struct fm_port_row) { .state = FM_PORT_DOWN };
		pair_dies();
		assert_int_equal(back(row3), FM_NODE_SILENT);
	}
}

/*
 * A pair of nodes that come back with one link that is not the same are not proved to be the same.
 */
static void another_link(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 8; k++) {
		struct fm_row now;

		ring_of_8();
		if (k == 0)
			row3.port[0].state = FM_PORT_DOWN;
		if (k == 1)
			row3.port[0].peer_guid = NIC + 6;
		if (k == 2)
			row4.port[2].state = FM_PORT_DOWN;
		pair_dies();
		now = row3;
		now.port[0].state = FM_PORT_UP;
		now.port[0].peer_guid = NIC + 4;
		if (k == 3)
			now.port[0].state = FM_PORT_DOWN;
		if (k == 4)
			now.port[0].session = 6;
		if (k == 5)
			now.port[0].peer_port = TORUS_MAX_PORTS - 1;
		if (k == 6)
			now.port[0].peer_guid = NIC + 20;
		if (k == 7)
			now.port[0].peer_guid = 0;
		assert_int_equal(back(now), FM_NODE_DEAD);
	}
}

/*
 * A link behind the last port of a node's row is no proof: neither of the row before its death, nor
 * of its row now.
 */
static void behind_the_row(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		struct fm_row now;

		ring_of_8();
		row3.port[0].state = FM_PORT_DOWN;
		row3.nports = k == 1 ? 5 : 4;
		row3.port[4] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 4,
						      .peer_port = 1 };
		row4.port[1] = (struct fm_port_row) { .state = FM_PORT_UP };
		row4.port[4] = (struct fm_port_row) { .state = FM_PORT_UP };
		if (k == 2) {	/* ... nor behind that of node 4 */
			row3.port[0].state = FM_PORT_UP;
			row3.port[0].peer_port = 4;
		}
		pair_dies();
		now = row3;
		now.nports = k == 0 ? 5 : 4;
		assert_int_equal(back(now), FM_NODE_DEAD);
	}
}

/* A cable from a node to itself says nothing of it; a node that is not dead stays what it is. */
static void beside_itself_and_the_living(void **state)
{
	struct fm_row now;

	(void)state;
	ring_of_8();
	for (unsigned int p = 1; p < 4; p += 2)
		row3.port[p] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 3,
						      .peer_port = (uint8_t)(4 - p) };
	pair_dies();
	now = row3;
	now.port[0].state = FM_PORT_DOWN;
	now.port[2].state = FM_PORT_UP;	/* to 2, which is there */
	assert_int_equal(back(now), FM_NODE_DEAD);
}

/* Both ends of the pair come back, in either order: each is up, and no problem stands. */
static void both_back(void **state)
{
	struct fm_msg m;

	(void)state;
	ring_of_8();
	pair_dies();
	m = hello(3);
	m.hello.attach = 2;
	m.hello.row = row3;
	m.hello.row.serial = 3;
	joins(&m);
	m = hello(4);
	m.hello.attach = 2;
	m.hello.row = row4;
	m.hello.row.serial = 3;
	joins(&m);
	settle(8);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 4)->state, FM_NODE_UP);
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		assert_string_not_equal(fm_problem(s.fm, i)->kind, "node");
	stage_end(&s);
}

/* --- nodes that cannot follow -------------------------------------------------------- */

static struct fm_failed says_failed(uint32_t node)
{
	return (struct fm_failed) { .guid = NIC + node, .epoch = 1, .version = fm_version(s.fm) };
}

static void failed(struct fm_failed f)
{
	struct fm_msg m = { .type = FM_MSG_FAILED, .failed = f };

	stage_msg(&s, 101, &m);
}

/*
 * The NIC of a node fails, with an error or without an answer: the node is silent at once, but
 * stays connected.
 */
static void nic_fails(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_failed f;

		ring();
		f = says_failed(2);
		f.err = k ? EIO : 0;
		failed(f);
		assert_non_null(fm_problem(s.fm, 0));
		assert_string_equal(fm_problem(s.fm, 0)->kind, "node");
		assert_string_equal(fm_problem(s.fm, 0)->text,
				    k ?	"node 2,0 ('n2') is silent: it cannot follow version 1: "
					"its NIC says Input/output error, "
					"and works on with the rows that it has" :
					"node 2,0 ('n2') is silent: it cannot follow version 1: "
					"its NIC does not answer, "
					"and works on with the rows that it has");
		stage_run_ns(&s, s.now + MS);
		assert_int_equal(stage_count(&s, "version 2: node 'n2' is silent\n"), 1);
		assert_int_equal(stage_count(&s, "close"), 0);
		assert_int_equal(stage_count(&s, "drop"), 0);
		assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_SILENT);
		/* Said again, of the next version, it changes nothing. */
		stage_forget(&s);
		f.version = fm_version(s.fm);
		f.err = ENOMEM;
		failed(f);
		assert_null(strstr(fm_problem(s.fm, 0)->text, "memory"));
		assert_int_equal(stage_count(&s, "log error"), 0);
		stage_end(&s);
	}
}

/* FAILED is ignored if it is of another epoch or version, or names the root or a stranger. */
static void failed_is_late(void **state)
{
	struct fm_failed f;

	(void)state;
	ring();
	f = says_failed(2);
	f.epoch = 2;
	failed(f);
	f = says_failed(2);
	f.version++;
	failed(f);
	f.version -= 2;
	failed(f);
	failed(says_failed(0));
	failed(says_failed(9));
	stage_run_ns(&s, s.now + 10 * MS);
	assert_int_equal(fm_version(s.fm), 1);
	assert_null(fm_problem(s.fm, 0));
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(fm_node(s.fm, i)->state, FM_NODE_UP);
	/* Node 1 is a node as any other. */
	failed(says_failed(1));
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_SILENT);
	stage_end(&s);
}

/* Return: true if a problem of that kind stands. */
static bool stands(const char *kind)
{
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		if (!strcmp(fm_problem(s.fm, i)->kind, kind))
			return true;
	return false;
}

/* The problems of a node end with it: as a relay it is no worse than others once it is dead. */
static void relay_dies(void **state)
{
	struct fm_msg m;

	(void)state;
	ring_of_8();
	m = hello(3);
	m.hello.attach = 2;
	m.hello.relay_packets = 7;
	m.hello.row.serial = 2;
	s.fm->relay_packets = 9;
	joins(&m);
	assert_true(stands("relay"));
	row3.serial = 3;
	pair_dies();
	assert_false(stands("relay"));
	stage_end(&s);
}

/* All have reported: a parent that says otherwise, of whichever round, is late. */
static void lacks_at_rest(void **state)
{
	(void)state;
	ring();
	for (uint32_t round = 0; round < 10; round++) {
		struct fm_failed f = says_failed(3);

		f.by = NIC + 2;
		f.round = round;
		failed(f);
	}
	stage_run_ns(&s, s.now + MS);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	assert_int_equal(fm_version(s.fm), 1);
	stage_end(&s);
}

/* --- without more than half of the nodes ---------------------------------------------- */

static void live(unsigned int first, unsigned int last, uint64_t ms)
{
	for (uint64_t k = 0; k < ms; k += 100) {
		stage_run_ns(&s, s.now + 100 * MS);
		for (unsigned int i = first; i <= last; i++)
			stage_say(&s, 100 + (int)i, FM_MSG_PING);
	}
}

/* The root alone may not do without the two other nodes, of which one was away first. */
static void alone_of_three(void **state)
{
	(void)state;
	root("3x1");
	join(1);
	join(2);
	settle(3);
	stage_run_ns(&s, s.now + 100 * MS);
	stage_down(&s, 101);
	stage_run_ns(&s, s.now + MS);
	stage_down(&s, 102);
	stage_run_ns(&s, s.now + 2990 * MS);
	assert_null(fm_problem(s.fm, 0));
	stage_run_ns(&s, s.now + 110 * MS);
	assert_int_equal(fm_node(s.fm, 1)->state, FM_NODE_UP);
	assert_int_equal(fm_node(s.fm, 2)->state, FM_NODE_UP);
	assert_true(stands("quorum"));
	assert_false(stands("node"));
	stage_end(&s);
}

/*
 * The root and two others of eight nodes remain: that is reported when the five would be silent,
 * not before, also if one of them is silent already. Those that come back end it.
 */
static void three_of_eight(void **state)
{
	(void)state;
	for (unsigned int silent = 0; silent < 2; silent++) {
		ring_of_8();
		stage_run_ns(&s, s.now + 100 * MS);
		if (silent) {
			stage_down(&s, 107);
			live(1, 6, 3100);
			settle(7);
			assert_int_equal(fm_node(s.fm, 7)->state, FM_NODE_SILENT);
		}
		for (int conn = 101; conn < 105; conn++)
			stage_down(&s, conn);
		if (!silent)
			stage_down(&s, 107);
		live(5, 6, 2900);
		assert_false(stands("quorum"));
		live(5, 6, 200);
		assert_true(stands("quorum"));
		for (uint32_t i = 1; i < 5; i++) {
			struct fm_msg m = hello(i);

			assert_int_equal(fm_node(s.fm, i)->state, FM_NODE_UP);
			m.hello.attach = 2;
			joins(&m);
		}
		live(1, 6, 200);
		assert_false(stands("quorum"));
		stage_end(&s);
	}
}

static void rests(uint64_t ns)
{
	for (uint64_t end = s.now + ns; s.now < end;) {
		uint64_t left = end - s.now;

		stage_run_ns(&s, s.now + (left < 400 * MS ? left : 400 * MS));
		for (uint32_t i = 1; i < 4; i++)
			stage_say(&s, 100 + (int)i, FM_MSG_PING);
		for (uint32_t round = 0; round < 40; round++) {
			reports(1, round);
			reports(2, round);
		}
	}
}

/*
 * The parent of node 3 reports that node 3 has not reported a new table. Return: the ms for which
 * node 3 is refused then.
 */
static unsigned long long refused_for(uint64_t attach)
{
	static bool excluded;
	struct fm_msg m = { .type = FM_MSG_FAILED }, h = hello(3);
	unsigned long long version, passed, ms;
	const char *at;

	assert_int_equal(fm_exclude(s.fm, 1, 0, excluded = !excluded, START + s.now), 0);
	stage_run_ns(&s, s.now + 10 * MS);
	reports(1, 0);
	reports(2, 0);
	stage_forget(&s);
	m.failed = says_failed(3);
	m.failed.by = NIC + 2;
	stage_msg(&s, 102, &m);
	assert_non_null(fm_problem(s.fm, 0));
	at = strstr(fm_problem(s.fm, 0)->text, "node 3,0 ('n3') is silent: it cannot follow version");
	assert_non_null(at);
	assert_int_equal(sscanf(strstr(at, "version"), "version %llu: its manager "
				"(30.0.0.3:1) answers, but has not reported for %llu ms; it may join again after %llu ms",
				&version, &passed, &ms), 3);
	assert_int_equal(passed, 10);
	/* The connections of node 3 end, and so do its children's to it. */
	assert_int_equal(stage_count(&s, "close 103\n"), 1);
	rests(100 * MS);
	h.hello.attach = attach;
	rests(ms * MS - 300 * MS);
	joins(&h);
	assert_int_equal(stage_count(&s, "103 < refuse it has not reported"), 1);
	rests(201 * MS);
	h.hello.attach = attach + 1;
	joins(&h);
	settle(4);
	settle(4);
	assert_int_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	return ms;
}

/*
 * Each ban is twice as long as the one before, up to 20 times member_max, unless it has reported
 * for longer than that.
 */
static void bans(void **state)
{
	static const unsigned int ms[] = { 3000, 6000, 12000, 24000, 48000, 60000, 60000 };

	(void)state;
	ring();
	for (unsigned int i = 0; i < sizeof(ms) / sizeof(*ms); i++)
		assert_int_equal(refused_for(2 * i + 2), ms[i]);
	rests(59000 * MS);
	assert_int_equal(refused_for(50), 60000);
	rests(61000 * MS);
	assert_int_equal(refused_for(61), 3000);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(same_link),
		cmocka_unit_test(another_link),
		cmocka_unit_test(behind_the_row),
		cmocka_unit_test(beside_itself_and_the_living),
		cmocka_unit_test(both_back),
		cmocka_unit_test(nic_fails),
		cmocka_unit_test(failed_is_late),
		cmocka_unit_test(relay_dies),
		cmocka_unit_test(lacks_at_rest),
		cmocka_unit_test(alone_of_three),
		cmocka_unit_test(three_of_eight),
		cmocka_unit_test(bans),
	};

	return cmocka_run_group_tests_name("fm_back", all, NULL, NULL);
}
