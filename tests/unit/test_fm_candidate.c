// SPDX-License-Identifier: GPL-2.0-only
/* When a node that has lost its root asks to be root itself. */
#include "stage_member.h"

#define TAKEOVER 300	/* ms */

static bool asks(void)
{
	struct fm_status st;

	fm_status(s.fm, &st);
	return st.root.state == FM_ROOT_ASKS && st.root.own;
}

/* A candidate with a place, which has just lost its root. */
static void lost(void)
{
	node_1();
	s.cfg.takeover = TAKEOVER * MS;
	joins();
	table(1);
	stage_run(&s, 20);
	stage_down(&s, 1);
	assert_false(asks());
}

/* Nobody else is there: it asks after the time in which the root may come back. */
static void after_a_while(void **state)
{
	(void)state;
	lost();
	stage_run_ns(&s, s.now + TAKEOVER * MS);
	assert_false(asks());
	stage_run_ns(&s, s.now + TAKEOVER * MS);
	assert_true(asks());
	stage_end(&s);
}

/* The root is there again, and the NIC is slow: no HELLO has been said yet. It is waited for. */
static void not_while_it_joins(void **state)
{
	(void)state;
	lost();
	stage_run_ns(&s, s.now + 100 * MS);
	s.slow = true;
	stage_up(&s, 2);
	stage_run_ns(&s, s.now + 4 * TAKEOVER * MS);
	assert_false(asks());
	/* That connection breaks, too, and no other one comes. */
	s.refuse_connect = -1;
	stage_down(&s, 2);
	stage_run_ns(&s, s.now + 2 * TAKEOVER * MS);
	assert_true(asks());
	stage_end(&s);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(after_a_while),
		cmocka_unit_test(not_while_it_joins),
	};

	return cmocka_run_group_tests_name("fm_candidate", all, NULL, NULL);
}
