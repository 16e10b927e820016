// SPDX-License-Identifier: GPL-2.0-only
/*
 * The manager of a node starts again: which of the roots that Inits name it may follow. Most nodes are
 * of a ring of four, and have rows that use the cable at +x, and not that at -x, which may be a
 * wrong one.
 */
#include "daemon/fm/node/machine.h"
#include "stage_choice.h"

#define PLUS 0u
#define MINUS 2u		/* port -x in 4x1 */
#define INSISTS (30 * SEC)
#define OWN_ROOT (NIC + 0x50)
#define KEPT_ROOT (NIC + 0x60)
#define STRANGER 0xdeadULL

static uint64_t rows[4];
static struct fm_entry kept_entry[4];
static struct fm_msg kept;

/* Begins with a node whose NIC has its place and @r as rows, and the first @up ports up. */
static void make_placed(const char *shape, uint32_t node, unsigned int up, uint64_t *r)
{
	stage_init(&s, shape, node);
	s.cfg.priority = 0;
	s.cfg.takeover = TAKEOVER;
	s.deaf = "ping log hello row place rows release report lost ";
	for (unsigned int p = 0; p < up; p++)
		stage_link_up(&s, p, 1);
	s.dev.placed = true;
	s.dev.shape = s.shape;
	s.dev.node = node;
	torus_node_coords(&s.shape, node, &s.dev.coords);
	s.dev.version = 4;
	s.dev.root_epoch = s.dev.rows_epoch = TERM;
	s.dev.root_guid = OWN_ROOT;
	s.rows = r;
	stage_start(&s);
}

static void make(bool placed, uint64_t rows_epoch, bool keeps)
{
	node_1();
	s.cfg.priority = 0;
	s.cfg.takeover = TAKEOVER;
	s.deaf = "ping log hello row place rows release report lost ";
	memset(rows, 0, sizeof(rows));
	for (uint32_t i = 0; i < 4; i++)
		rows[i] = TORUS_ROW_VALID | 1u << PLUS;
	if (placed) {
		s.dev.placed = true;
		s.dev.shape = s.shape;
		s.dev.node = 1;
		s.dev.coords.c[0] = 1;
		s.dev.version = 4;
		s.dev.root_epoch = TERM;
		s.dev.root_guid = OWN_ROOT;
		s.dev.rows_epoch = rows_epoch;
		s.rows = rows;
	}
	if (keeps) {
		kept = stage_table(&s, 5, kept_entry);
		kept.table.term = TERM;
		kept.table.maker = KEPT_ROOT;
		s.cfg.kept = &kept.table;
	}
	stage_start(&s);
}

/* An Init of a node that this one does not know, at its place beside @port. */
static struct fm_init stranger(unsigned int port, enum kind kind, uint64_t root)
{
	struct fm_init i = init_of(port, kind, root, TERM + 1);

	i.guid = STRANGER;
	i.settled = true;
	return i;
}

static bool takes(const struct fm_init *i, unsigned int port)
{
	stage_receive(&s, port, i);
	return follows(i->root_guid);
}

static bool is_reported(void)
{
	const struct fm_problem *p = fm_problem(s.fm, 0);

	return p && strstr(p->text, "is not of the fabric of this node");
}

static void new_node_follows_strange_root(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_init i;

		make(k, 0, false);
		i = stranger(MINUS, LEADS, GREATER);
		assert_true(takes(&i, MINUS));
		stage_end(&s);
	}
}

/*
 * An Init counts as one of the own fabric by the place of its port, the NIC's neighbours, or the
 * table that was kept.
 */
static void init_of_own_fabric_is_known_by_place_nic_or_table(void **state)
{
	static const struct {
		bool placed, keeps;
		unsigned int port;
		uint64_t guid, root;
		bool own;
	} c[] = {
		{ true, false, MINUS, STRANGER, GREATER, false },
		{ true, false, MINUS, NIC + 0, GREATER, false },
		{ true, false, MINUS, STRANGER, OWN_ROOT, true },
		{ true, false, MINUS, STRANGER, KEPT_ROOT, false },
		{ true, false, PLUS, STRANGER, GREATER, true },
		{ false, true, MINUS, STRANGER, GREATER, false },
		{ false, true, PLUS, STRANGER, GREATER, false },
		{ false, true, MINUS, NIC + 0, GREATER, true },
		{ false, true, MINUS, STRANGER, NIC + 3, true },
		{ false, true, MINUS, STRANGER, KEPT_ROOT, true },
		{ false, true, MINUS, STRANGER, OWN_ROOT, false },
		{ true, true, MINUS, STRANGER, GREATER, false },
		{ true, true, PLUS, STRANGER, GREATER, true },
		{ true, true, MINUS, STRANGER, OWN_ROOT, true },
	};

	(void)state;
	for (unsigned int n = 0; n < sizeof(c) / sizeof(c[0]); n++) {
		for (enum kind kind = LEADS; kind <= ASKS; kind++) {
			struct fm_init i;

			make(c[n].placed, TERM, c[n].keeps);
			i = stranger(c[n].port, kind, c[n].root);
			i.guid = c[n].guid;
			if (takes(&i, c[n].port) != c[n].own)
				fail_msg("case %u, kind %d", n, kind);
			assert_int_equal(is_reported(), !c[n].own);
			stage_end(&s);
		}
	}
}

/* A cable that its rows use leads to another place, or to a fabric of another shape. */
static void settled_init_of_another_place_is_foreign(void **state)
{
	(void)state;
	for (unsigned int n = 0; n < 6; n++) {
		struct fm_init i;
		bool own = n < 3;

		make(true, TERM, false);
		i = stranger(PLUS, LEADS, GREATER);
		i.settled = n != 1 && n != 2;
		i.size[0] += n == 1 || n == 3;
		i.position[0] += n == 2 ? 4 : n == 4 ? 1 : 0;
		i.ndims -= n == 5;
		if (takes(&i, PLUS) != own)
			fail_msg("case %u", n);
		stage_end(&s);
	}
}

/* Rows that lead elsewhere, or through a relay, or that are not valid, are not rows of a cable. */
static void rows_that_lead_elsewhere_are_no_proof(void **state)
{
	static const uint64_t others[] = {
		TORUS_ROW_VALID | 1u << MINUS, 1u << PLUS, 0,
		TORUS_ROW_VALID | TORUS_ROW_RELAY | 1u << PLUS,
	};

	(void)state;
	for (unsigned int n = 0; n < 4; n++) {
		struct fm_init i;

		make(true, TERM, false);
		s.fm->rows[2] = others[n];
		i = stranger(PLUS, LEADS, GREATER);
		assert_false(takes(&i, PLUS));
		stage_end(&s);
	}
}

/*
 * The neighbour at @port says @what: 'a' names another root and implies the place of this NIC, 'e'
 * implies another place, 'o' names a third root, 'n' no root any more, ' ' is silent
 */
static void neighbour_sends(unsigned int port, char what)
{
	struct fm_init i = stranger(port, LEADS, what == 'o' ? LESSER : GREATER);

	if (what == ' ')
		return;
	if (what == 'e')
		i.position[port % 2]++;
	stage_receive(&s, port, &i);
	if (what != 'n')
		return;
	i = (struct fm_init) { .guid = i.guid, .port = i.port, .fabric = "fab" };
	stage_receive(&s, port, &i);
}

/*
 * Node 5 of 4x4 is excluded, so it has no rows. It follows another root as soon as neighbours at
 * most of its cables, and at two at least, name that and imply its place.
 */
static void excluded_node_follows_root_that_most_neighbours_name(void **state)
{
	static const struct {
		const char *reported;	/* what the neighbour at each port that is up reports */
		/* number of reports after which the node follows; 0: never */
		unsigned int after;
	} c[] = {
		{ "aaaa", 3 }, { "aaa ", 3 }, { " aaa", 4 }, { "eaaa", 4 }, { "oaaa", 4 },
		{ "naaa", 4 },
		{ "aa ", 2 },  { "a a", 3 },  { "aa", 2 },   { "aa  ", 0 }, { "aaee", 0 },
		{ "ooaa", 0 },
		{ "nnaa", 0 }, { "a", 0 },    { "ea", 0 },   { "eeee", 0 }, { "oaoa", 0 },
	};
	static uint64_t none[16];

	(void)state;
	for (unsigned int n = 0; n < sizeof(c) / sizeof(c[0]); n++) {
		unsigned int up = (unsigned int)strlen(c[n].reported);

		make_placed("4x4", 5, up, none);
		for (unsigned int p = 0; p < up; p++) {
			neighbour_sends(p, c[n].reported[p]);
			if (follows(GREATER) != (c[n].after && p + 1 >= c[n].after))
				fail_msg("case %u, port %u", n, p);
		}
		stage_end(&s);
	}
}

static unsigned int inits(void)
{
	return stage_count(&s, "init");
}

/* The neighbour of the node's own fabric is silent, or gone, or names the other root, too. */
static void stranger_is_followed_when_own_fabric_is_gone(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		struct fm_init i, own;

		make(true, TERM, false);
		i = stranger(MINUS, LEADS, GREATER);
		own = stranger(PLUS, LEADS, GREATER);
		own.position[0]++;
		if (k == 1)
			stage_link_lost(&s, PLUS, 0);
		if (k == 2)
			assert_false(takes(&own, PLUS));
		assert_false(takes(&i, MINUS));
		run(INSISTS - s.now - 1);
		assert_false(takes(&i, MINUS));
		stage_forget(&s);
		run(1);
		assert_true(inits());
		assert_int_equal(takes(&i, MINUS), k != 0);
		if (k == 2)
			stage_receive(&s, PLUS, &own);
		assert_int_equal(is_reported(), k == 0);
		if (!k) {
			run(INSISTS);
			assert_false(takes(&i, MINUS));
			stage_forget(&s);
			stage_link_lost(&s, PLUS, 0);
			run(0);
			assert_true(inits());
			assert_true(takes(&i, MINUS));
		}
		stage_end(&s);
	}
}

/* The cable to a node of the kept table, from which no Init comes. */
static void cable_to_node_of_kept_table_keeps_own_fabric(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_init i;

		make(false, 0, true);
		s.link[PLUS].peer_guid = k ? NIC + 2 : STRANGER;
		stage_report_link(&s, PLUS);
		i = stranger(MINUS, LEADS, GREATER);
		run(INSISTS);
		assert_int_equal(takes(&i, MINUS), !k);
		stage_end(&s);
	}
}

/* The problem ends with the link, and when its own root leads the node. */
static void problem_of_foreign_fabric_ends_with_link_or_root(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fm_init i;

		make(true, TERM, false);
		i = stranger(MINUS, LEADS, GREATER);
		assert_false(takes(&i, MINUS));
		assert_true(is_reported());
		if (k) {
			i.root_guid = OWN_ROOT;
			assert_true(takes(&i, MINUS));
		} else {
			stage_link_lost(&s, MINUS, 0);
		}
		assert_false(is_reported());
		stage_end(&s);
	}
}

/* With its first table it has the rules of all nodes. */
static void node_with_table_ignores_foreign_root_silently(void **state)
{
	struct fm_init i;

	(void)state;
	make(true, TERM, false);
	receive_init(PLUS, LEADS, OWN_ROOT, TERM);
	stage_up(&s, 1);
	welcome(1, OWN_ROOT, TERM, false, "");
	table(5);
	i = stranger(MINUS, LEADS, GREATER);
	assert_false(takes(&i, MINUS));
	assert_false(is_reported());
	stage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_node_follows_strange_root),
		cmocka_unit_test(init_of_own_fabric_is_known_by_place_nic_or_table),
		cmocka_unit_test(settled_init_of_another_place_is_foreign),
		cmocka_unit_test(rows_that_lead_elsewhere_are_no_proof),
		cmocka_unit_test(excluded_node_follows_root_that_most_neighbours_name),
		cmocka_unit_test(stranger_is_followed_when_own_fabric_is_gone),
		cmocka_unit_test(cable_to_node_of_kept_table_keeps_own_fabric),
		cmocka_unit_test(problem_of_foreign_fabric_ends_with_link_or_root),
		cmocka_unit_test(node_with_table_ignores_foreign_root_silently),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
