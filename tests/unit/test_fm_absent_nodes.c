// SPDX-License-Identifier: GPL-2.0-only
/*
 * The root of a ring of eight has the table of a former one, and some nodes of it do not join. The
 * link states that the others report decide whether it waits for them, and whether their NICs count
 * as at work or as dead; for nodes of which no other reports a link, a former table does.
 */
#include "stage_claim.h"

#define NODES 8

static struct fm_entry entry[NODES];	/* entries of the former table */
static struct fm_row rows[NODES];
static struct fm_msg former;
static const char *shape;
static bool root_works;		/* the NIC of the root has its place and rows */
static unsigned int plus, minus;	/* ports to the next node, and to the one before */

static int in_a_row(void **state)
{
	(void)state;
	shape = "8x1";
	plus = 0;
	minus = 2;
	return 0;
}

/* The same in another dimension than the first, of a shape that has more. */
static int in_a_column(void **state)
{
	(void)state;
	shape = "1x1x8";
	plus = 2;
	minus = 5;
	return 0;
}

/* Node @i as with_table() has it, at its place. */
static struct fm_msg hello_of(uint32_t i)
{
	struct fm_msg m = with_table(i, 0xabc);

	torus_node_coords(&s.shape, i, &m.hello.coords);
	m.hello.ups = NODES;
	return m;
}

/* A root begins anew, which has learned of a former one. */
static void begins(void)
{
	struct fm_msg m;

	stage_init(&s, shape, 0);
	s.deaf = "init ping pong report lost rows place release ";
	s.dev.placed = root_works;
	s.dev.shape = s.shape;
	s.dev.version = root_works ? 9 : 0;
	stage_link_up(&s, plus, 1);
	stage_link_up(&s, minus, 1);
	stage_start(&s);
	m = hello_of(1);
	sends_up(1, &m);
	stage_run_ns(&s, s.now + 1);
	memset(s.joiner, 0, sizeof(s.joiner));
	former = stage_table(&s, 9, entry);
	former.table.term = 41;
	former.table.maker = 0xabc;
	former.table.former = true;
	for (uint32_t i = 0; i < NODES; i++)
		rows[i] = stage_row(&s, i);
	stage_forget(&s);
}

/* The link from @node to the next, by the word of either end, is lost. */
static void cut(uint32_t node)
{
	rows[node].port[plus].state = FM_PORT_DOWN;
	rows[(node + 1) % NODES].port[minus].state = FM_PORT_DOWN;
}

/* All but those of the mask @away join, and one sends the former table. */
static void join_but(unsigned int away)
{
	for (unsigned int p = 0; p < rows[0].nports; p++)
		if (rows[0].port[p].peer_guid && rows[0].port[p].state != FM_PORT_UP)
			stage_link_lost(&s, p, 1);
	for (uint32_t i = 1; i < NODES; i++) {
		struct fm_msg m = hello_of(i);

		m.hello.row = rows[i];
		m.hello.row.serial = 5;
		m.hello.attach = 5;
		if (!(away & 1u << i))
			sends_up(i, &m);
	}
	for (uint32_t i = 1; i < NODES; i++) {
		char text[40];

		sprintf(text, "%u < fetch former\n", 100 + i);
		if (stage_count(&s, text))
			stage_msg(&s, 100 + (int)i, &former);
	}
}

/* All nodes that have joined send PING, so that the root does not lose them. */
static void live(void)
{
	for (int conn = 101; conn < 100 + NODES; conn++)
		if (s.joiner[conn].known)
			stage_send(&s, conn, FM_MSG_PING);
}

/* Return: the ms until there is a table. */
static uint64_t waits(void)
{
	uint64_t from = s.now;

	while (!fm_version(s.fm) && s.now < from + 20000 * MS) {
		uint64_t left = (fm_expiry(s.fm) - START - s.now) / MS;

		stage_run_ns(&s, s.now + (left < 400 ? left + 1 : 400) * MS);
		live();
	}
	return (s.now - from) / MS;
}

static void states(const char *want)
{
	char is[NODES + 1] = "";

	for (uint32_t i = 0; i < NODES; i++)
		is[i] = ".jusx"[fm_node(s.fm, i)->state];
	assert_string_equal(is, want);
}

/* ms until the root leads, if all nodes report at once */
#define AT_ONCE 2
#define QUIET (AT_ONCE + 500)	/* time without news after which the first table is made */
/* the first table waits this long if a link leads to a node that does not join */
#define PATIENT (AT_ONCE + 6000)

/* Return: how many nodes are dead, by the problems that stand. */
static unsigned int dead(void)
{
	unsigned int n = 0;

	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		n += strstr(fm_problem(s.fm, i)->text, "is dead") != NULL;
	return n;
}

static void becomes(uint64_t ms, const char *want)
{
	bool links_end = strstr(want, "sss");

	assert_int_equal(waits(), ms);
	states(want);
	/* Nodes that are away keep name, address and NIC; a problem reports each. */
	for (uint32_t i = 0; i < NODES; i++) {
		const struct fm_entry *e = fm_node(s.fm, i);
		char text[80], node[TORUS_TEXT_MAX];

		snprintf(text, sizeof(text), "log error node: node %s ('n%u') is ",
			 torus_node_text(&s.shape, i, node), i);
		assert_int_equal(stage_count(&s, text), want[i] == 's' || want[i] == 'x');
		if (want[i] == '.')
			continue;
		assert_int_equal(e->guid, NIC + i);
		assert_int_equal(e->epoch, 1);
		assert_string_equal(e->name, entry[i].name);
		assert_string_equal(e->address, entry[i].address);
	}
	/* All of them stay what they are, as long as the links are there that lead to the silent. */
	settle(NODES);
	live();
	stage_run_ns(&s, s.now + 700 * MS);
	live();
	states(want);
	for (uint32_t i = 1; links_end && i < 6; i += 4) {
		struct fm_row r = rows[i];

		r.serial = 6;
		r.port[i == 1 ? plus : minus].state = FM_PORT_FAULTY;
		row(i, &r);
		stage_run_ns(&s, s.now + 500 * MS);
		settle(NODES);
		/* Node 2 dies with the link to 1, unless one led to 3. All die with the last link. */
		if (i == 5 || rows[5].port[minus].state != FM_PORT_UP)
			assert_int_equal(dead(), 3);
		else
			assert_int_equal(dead(), (entry[2].fault >> plus & 1) ||
						 (entry[3].fault >> minus & 1));
	}
	stage_end(&s);
}

/* --- nodes of which a neighbour tells -------------------------------------------------------- */

/* All are there, or have no link any more, or are waited for. */
static void first_table_waits_for_away_node_with_link(void **state)
{
	(void)state;
	begins();
	join_but(0);
	becomes(AT_ONCE, "uuuuuuuu");
	begins();
	join_but(1u << 3);
	becomes(PATIENT, "uuusuuuu");
	begins();
	cut(2);
	cut(3);
	join_but(1u << 3);
	becomes(AT_ONCE, "uuuxuuuu");
	/* A neighbour has a link to the node: the other neighbour's report is not enough. */
	begins();
	cut(2);
	join_but(1u << 3);
	becomes(PATIENT, "uuusuuuu");
	begins();
	cut(3);
	join_but(1u << 3);
	becomes(PATIENT, "uuusuuuu");
	/* The cables of a node that died with the former root are told as lost, and no others. */
	begins();
	cut(2);
	cut(3);
	join_but(1u << 3);
	assert_int_equal(waits(), AT_ONCE);
	assert_int_equal(stage_count(&s, "log warning link: "), 2);
	assert_int_equal(stage_count(&s, "('n2') to "), 1);
	assert_int_equal(stage_count(&s, "('n3') to "), 1);
	assert_int_equal(stage_count(&s, "('n4') is lost\n") + stage_count(&s, "('n3') is lost\n"),
			 2);
	stage_end(&s);
	/* The loss of a cable that the former root had reported is not logged again. */
	begins();
	entry[2].fault |= 1u << plus;
	cut(2);
	cut(3);
	join_but(1u << 3);
	waits();
	states("uuuxuuuu");
	assert_int_equal(stage_count(&s, "log warning link: "), 1);
	assert_int_equal(stage_count(&s, "('n3') to "), 1);
	stage_end(&s);
	/* The root's own word is enough, if its NIC works. */
	root_works = true;
	begins();
	root_works = false;
	cut(6);
	join_but(1u << 7);
	assert_int_equal(waits(), PATIENT);
	states("uuuuuuus");
	stage_end(&s);
	/* The last of the ring. */
	begins();
	join_but(1u << 7);
	becomes(PATIENT, "uuuuuuus");
	begins();
	cut(6);
	cut(7);
	join_but(1u << 7);
	becomes(AT_ONCE, "uuuuuuux");
}

/* At the port there is another node now, of another fabric; or a cable to a wrong port. */
static void wrong_cable_does_not_vouch_for_away_node(void **state)
{
	(void)state;
	/* A stranger is there: node 3 is gone. */
	begins();
	cut(2);
	cut(3);
	rows[2].port[plus] = (struct fm_port_row) { .state = FM_PORT_UP,
						    .problem = FM_PROBLEM_FABRIC,
						 .peer_guid = NIC + 50, .peer_port = 1 };
	rows[4].port[minus] = (struct fm_port_row) { .state = FM_PORT_UP,
						     .problem = FM_PROBLEM_FABRIC,
						 .peer_guid = NIC + 51, .peer_port = 1 };
	join_but(1u << 3);
	becomes(AT_ONCE, "uuuxuuuu");
	/* The node is reported to be of another fabric: it is neither lost nor at work here. */
	begins();
	rows[2].port[plus].problem = rows[4].port[minus].problem = FM_PROBLEM_FABRIC;
	join_but(1u << 3);
	becomes(QUIET, "uuuxuuuu");
	/* The node is cabled wrongly: it is waited for, but has no place by that cable. */
	begins();
	cut(3);
	rows[2].port[plus].peer_port = 1;
	join_but(1u << 3);
	becomes(PATIENT, "uuuxuuuu");
	/* The cable of a dimension of one node leads nowhere. */
	begins();
	cut(2);
	cut(3);
	rows[2].port[1] = (struct fm_port_row) { .state = FM_PORT_UP, .peer_guid = NIC + 3,
						 .peer_port = 3 };
	join_but(1u << 3);
	assert_int_equal(waits(), PATIENT);
	assert_int_not_equal(fm_node(s.fm, 3)->state, FM_NODE_UP);
	stage_end(&s);
}

/* By the former table a node that is away was dead, or never there, or had no link. */
static void node_away_before_is_dead_in_first_table(void **state)
{
	(void)state;
	begins();
	cut(2);
	cut(3);
	entry[3].state = FM_NODE_DEAD;
	join_but(1u << 3);
	becomes(AT_ONCE, "uuuxuuuu");
	begins();
	cut(2);
	cut(3);
	entry[3] = (struct fm_entry) { .node = 3 };
	join_but(1u << 3);
	becomes(AT_ONCE, "uuu.uuuu");
	/*
	 * The node was silent, as its links were up: so it is not known to be lost before they end.
	 */
	begins();
	cut(2);
	cut(3);
	entry[3].state = FM_NODE_SILENT;
	join_but(1u << 3);
	becomes(AT_ONCE, "uuuxuuuu");
	/* Node 3 had no link in the former table: that it has none now does not prove it dead. */
	for (unsigned int ends = 0; ends < 4; ends++) {
		begins();
		cut(2);
		cut(3);
		if (ends & 1)
			entry[3].fault |= 1u << minus;
		else
			entry[2].fault |= 1u << plus;
		if (ends & 2)
			entry[3].fault |= 1u << plus;
		else
			entry[4].fault |= 1u << minus;
		join_but(1u << 3);
		becomes(QUIET, "uuuxuuuu");
	}
}

/* --- nodes of which no other tells --------------------------------------------------- */

/* Three nodes are away, and links lead to the outer ones: the NIC in the middle works on, too. */
static void node_between_silent_ones_is_silent_too(void **state)
{
	(void)state;
	begins();
	join_but(7u << 2);
	becomes(PATIENT, "uusssuuu");
	/*
	 * The same if only one of the outer nodes has a link, to either side: the other may live.
	 */
	begins();
	cut(1);
	join_but(7u << 2);
	becomes(PATIENT, "uusssuuu");
	begins();
	cut(4);
	join_but(7u << 2);
	becomes(PATIENT, "uusssuuu");
	/* There is no table. */
	begins();
	cut(1);
	cut(4);
	join_but(7u << 2);
	becomes(QUIET, "uuxxxuuu");
}

/* By the former table the one in the middle was dead, absent, or had no link to the outer ones. */
static void node_without_links_between_silent_ones_is_dead(void **state)
{
	(void)state;
	begins();
	entry[3].state = FM_NODE_DEAD;
	join_but(7u << 2);
	becomes(PATIENT, "uusxsuuu");
	begins();
	entry[3] = (struct fm_entry) { .node = 3 };
	join_but(7u << 2);
	becomes(PATIENT, "uus.suuu");
	for (unsigned int ends = 0; ends < 4; ends++) {
		for (unsigned int both = 0; both < 2; both++) {
			begins();
			if (ends & 1)
				entry[2].fault |= 1u << plus;
			else
				entry[3].fault |= 1u << minus;
			if (both && ends & 2)
				entry[3].fault |= 1u << plus;
			else if (both)
				entry[4].fault |= 1u << minus;
			join_but(7u << 2);
			becomes(PATIENT, both ? "uusxsuuu" : "uusssuuu");
		}
	}
}

/* --- and when they come after all ----------------------------------------------------- */

static void comes(uint32_t node, const struct fm_row *row, uint64_t attach)
{
	struct fm_msg m = hello_of(node);

	m.hello.row = *row;
	m.hello.row.serial = (uint32_t)attach;
	m.hello.attach = attach;
	s.joiner[100 + node].known = false;
	sends_up(node, &m);
	settle(NODES);
}

/*
 * Nodes 3 and 4 were dead for this root from the beginning. If 3 comes with a link to 4, that works
 * on; but not if either of them has been here: then it is known when they had no such link.
 */
static void dead_pair_works_on_if_it_was_never_here(void **state)
{
	(void)state;
	for (unsigned int before = 0; before < 3; before++) {
		struct fm_row cut_off, now;

		begins();
		cut(2);
		cut(4);
		now = rows[3];
		cut(3);
		cut_off = before == 2 ? rows[4] : rows[3];
		join_but(3u << 3);
		assert_int_equal(waits(), AT_ONCE);
		settle(NODES);
		states("uuuxxuuu");
		if (before) {
			uint32_t i = before + 2;

			comes(i, &cut_off, 6);
			stage_run_ns(&s, s.now + 100 * MS);
			assert_int_equal(fm_node(s.fm, i)->state, FM_NODE_UP);
			stage_down(&s, 100 + (int)i);
			stage_run_ns(&s, s.now + 600 * MS);
			settle(NODES);
			states("uuuxxuuu");
		}
		comes(3, &now, 8);
		stage_run_ns(&s, s.now + 10 * MS);
		states(before ? "uuuuxuuu" : "uuuusuuu");
		stage_end(&s);
	}
}

#define both(test)										\
	cmocka_unit_test_setup(test, in_a_row),							\
	{ #test "_in_a_column", test, in_a_column, NULL, NULL }

int main(void)
{
	const struct CMUnitTest all[] = {
		both(first_table_waits_for_away_node_with_link),
		both(wrong_cable_does_not_vouch_for_away_node),
		both(node_away_before_is_dead_in_first_table),
		both(node_between_silent_ones_is_silent_too),
		both(node_without_links_between_silent_ones_is_dead),
		both(dead_pair_works_on_if_it_was_never_here),
	};

	return cmocka_run_group_tests_name("fm_absent_nodes", all, NULL, NULL);
}
