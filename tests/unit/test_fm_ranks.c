// SPDX-License-Identifier: GPL-2.0-only
/* A root reports candidates that are configured wrongly, until they are not. */
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/facts.h"
#include "stage_root.h"

static const char same[] = "'n1' and 'n2' have the same root_priority 7: the one with the lowest "
	"id asks first to be root; give each its own";
static const char none[] = "no node would become root if 'n0' is lost: root_priority of all "
	"others that are up is 0";

/*
 * Begins with a ring of four, of which node 0 leads with priority @own, and the others have these.
 */
static void ranked(unsigned int own, unsigned int n1, unsigned int n2, unsigned int n3)
{
	const unsigned int say[] = { own, n1, n2, n3 };
	struct fm_row row;

	stage_init(&s, "4x1", 0);
	s.deaf = "init ping pong report lost rows place release ";
	s.cfg.takeover = 200 * MS;
	s.cfg.priority = own;
	row = stage_row(&s, 0);
	for (unsigned int p = 0; p < row.nports; p++)
		if (row.port[p].state == FM_PORT_UP)
			stage_link_up(&s, p, 1);
	stage_start(&s);
	for (uint32_t i = 1; i < 4; i++) {
		struct fm_msg m = hello(i);

		m.hello.priority = (uint16_t)say[i];
		joins(&m);
	}
	settle(4);
	stage_run_ns(&s, s.now + s.cfg.resend);
}

static void joins_as(uint32_t node, unsigned int priority)
{
	static uint32_t serial = 7;
	struct fm_msg m = hello(node);

	m.hello.priority = (uint16_t)priority;
	m.hello.row.serial = serial++;
	stage_msg(&s, (int)node + 100, &m);
	stage_run_ns(&s, s.now + s.cfg.resend);
}

/* Checks that there is exactly one problem, with this text; NULL: none */
static void problem(const char *text)
{
	const struct fm_problem *p = fm_problem(s.fm, 0);

	if (!text) {
		assert_null(p);
		return;
	}
	assert_non_null(p);
	assert_string_equal(p->kind, "candidate");
	assert_string_equal(p->text, text);
	assert_null(fm_problem(s.fm, 1));
}

/*
 * Two equal configured priorities are a problem; nodes without a configured priority have equal
 * ones intentionally.
 */
static void equal_configured_priorities_are_a_problem(void **state)
{
	(void)state;
	ranked(FM_PRIORITY_AUTO, FM_PRIORITY_AUTO, FM_PRIORITY_AUTO, FM_PRIORITY_AUTO);
	problem(NULL);
	stage_end(&s);
	ranked(FM_PRIORITY_AUTO, 0, 0, 0);
	problem(none);
	stage_end(&s);
	ranked(FM_PRIORITY_AUTO, 7, 7, 8);
	problem(same);
	stage_did_some(&s, same);
	joins_as(2, 9);
	problem(NULL);
	joins_as(2, 255);
	problem("'n0' and 'n2' have the same root_priority 255: the one with the lowest id asks "
		"first to be root; give each its own");
	joins_as(2, 7);
	problem(same);
	/* Among several the two with the lowest ids are named, whoever came first. */
	joins_as(3, 7);
	problem("'n1' and 'n2' (and 1 more) have the same root_priority 7: the one with the lowest "
		"id asks "
		"first to be root; give each its own");
	joins_as(1, 8);
	problem("'n2' and 'n3' have the same root_priority 7: the one with the lowest id asks "
		"first to be "
		"root; give each its own");
	joins_as(1, 7);
	joins_as(2, 8);
	problem("'n1' and 'n3' have the same root_priority 7: the one with the lowest id asks "
		"first to be "
		"root; give each its own");
	stage_end(&s);
}

/* The priority of a dead node causes no problem. */
static void priority_of_dead_node_is_no_problem(void **state)
{
	struct fm_row r;

	(void)state;
	ranked(FM_PRIORITY_AUTO, 7, 7, 8);
	problem(same);
	r = stage_row(&s, 3);
	r.serial = 100;
	for (unsigned int p = 0; p < r.nports; p++)
		if (r.port[p].peer_guid == NIC + 2)
			r.port[p].state = FM_PORT_FAULTY;
	row(3, &r);
	r = stage_row(&s, 1);
	r.serial = 100;
	for (unsigned int p = 0; p < r.nports; p++)
		if (r.port[p].peer_guid == NIC + 2)
			r.port[p].state = FM_PORT_FAULTY;
	row(1, &r);
	stage_down(&s, 102);
	stage_run_ns(&s, s.now + 1000 * MS);
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		assert_string_not_equal(fm_problem(s.fm, i)->kind, "candidate");
	stage_end(&s);
}

/*
 * No other node is a candidate, from the start or because priorities have changed: the root reports
 * it. It does not where no candidate is wanted.
 */
static void lack_of_other_candidates_is_reported(void **state)
{
	(void)state;
	ranked(9, 0, 0, 0);
	problem(none);
	joins_as(3, 1);
	problem(NULL);
	joins_as(3, 0);
	problem(none);
	joins_as(3, FM_PRIORITY_AUTO);
	problem(NULL);
	stage_end(&s);
	/* A root that never is one again does not miss them, nor does one that takes nothing over. */
	ranked(0, 0, 0, 0);
	problem(NULL);
	stage_end(&s);
	ring();
	stage_run_ns(&s, s.now + 1000 * MS);
	problem(NULL);
	stage_end(&s);
}

/* A candidate without a place is reported, because it never asks to be root. */
static void candidate_without_place_is_reported(void **state)
{
	struct fm_msg m;
	bool found = false;

	(void)state;
	ranked(FM_PRIORITY_AUTO, 7, 8, 9);
	m = hello(1);
	m.hello.guid = NIC + 50;
	m.hello.priority = 7;
	strcpy(m.hello.name, "guest");
	strcpy(m.hello.address, "30.0.0.50:1");
	for (unsigned int p = 0; p < m.hello.row.nports; p++)
		m.hello.row.port[p] = (struct fm_port_row) { .state = FM_PORT_DOWN };
	joins(&m);
	stage_run_ns(&s, s.now + 300 * MS);
	for (unsigned int i = 0; fm_problem(s.fm, i); i++)
		if (!strcmp(fm_problem(s.fm, i)->kind, "candidate")) {
			assert_string_equal(fm_problem(s.fm, i)->text,
					    "'guest' has root_priority 7, and no "
					    "place in the fabric: it cannot become root");
			found = true;
		}
	assert_true(found);
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(equal_configured_priorities_are_a_problem),
		cmocka_unit_test(priority_of_dead_node_is_no_problem),
		cmocka_unit_test(lack_of_other_candidates_is_reported),
		cmocka_unit_test(candidate_without_place_is_reported),
	};

	return cmocka_run_group_tests_name("fm_ranks", all, NULL, NULL);
}
