// SPDX-License-Identifier: GPL-2.0-only
/*
 * A root that leads, and hears of a later one of its fabric: it gives way only to one that it
 * reaches.
 */
#include "daemon/fm/node/machine.h"
#include "daemon/fm/root/claim.h"
#include "stage_root.h"

#define OTHER (NIC + 0x20)

/* An Init of the neighbour at port 0, which is in the table and obeys another root. */
static struct fm_init of_other(uint64_t more)
{
	struct fm_init i = stage_neighbour(&s, 0);

	i.received = true;
	i.root_guid = OTHER;
	i.epoch = fm_epoch(s.fm) + more;
	strcpy(i.root_address, "30.1.0.32:1");
	return i;
}

/* Return: the connection that the Init makes this root open; 0: none. */
static int tries(uint64_t more)
{
	struct fm_init i = of_other(more);
	int next = s.next_conn;

	stage_receive(&s, 0, &i);
	assert_true(fm_is_root(s.fm));
	return s.next_conn == next ? 0 : next;
}

static bool reports_it(void)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (strstr(p->text, "stays with its own"))
			return true;
	return false;
}

/* The later root claims the node that asks on @conn; if it does not lead, without an epoch. */
static void send_claim(int conn, uint64_t epoch)
{
	struct fm_msg m = { .type = FM_MSG_CLAIM, .claim = { .guid = OTHER, .epoch = epoch } };

	stage_msg(&s, conn, &m);
}

static struct fm_root_status root_status(void)
{
	struct fm_root_status r;

	fm_root_status(s.fm, &r);
	return r;
}

static void root_gives_way_to_later_root_that_it_reaches(void **state)
{
	char closes[20], asks[40];
	uint64_t term;
	int conn;

	(void)state;
	ring();
	term = fm_epoch(s.fm) + 1;
	conn = tries(1);
	assert_int_not_equal(conn, 0);
	stage_forget(&s);
	stage_up(&s, conn);
	stage_run_ns(&s, s.now + 10 * MS);
	snprintf(asks, sizeof(asks), "%d < hello join", conn);
	assert_int_equal(stage_count(&s, asks), 1);
	/* It leads until the later root accepts it. */
	assert_true(fm_is_root(s.fm));
	send_claim(conn, term);
	assert_false(fm_is_root(s.fm));
	assert_int_equal(root_status().guid, OTHER);
	/* The connection is used on, and those of its former children are closed. */
	snprintf(closes, sizeof(closes), "close %d\n", conn);
	assert_int_equal(stage_count(&s, closes), 0);
	assert_int_equal(stage_count(&s, "close 101\n"), 1);
	stage_run_ns(&s, s.now + 10 * MS);
	assert_true(stage_count(&s, asks) > 1);
	stage_end(&s);
}

static void root_stays_and_reports_later_root_out_of_reach(void **state)
{
	struct fm_msg m = { .type = FM_MSG_WELCOME };
	int conn;

	(void)state;
	ring();
	conn = tries(1);
	assert_int_not_equal(conn, 0);
	assert_int_equal(tries(1), 0);
	stage_down(&s, conn);
	assert_true(fm_is_root(s.fm) && reports_it());
	assert_int_equal(tries(1), 0);
	stage_run_ns(&s, s.now + 2 * SEC);
	conn = tries(1);
	assert_int_not_equal(conn, 0);
	stage_up(&s, conn);
	m.welcome.root_guid = OTHER;
	m.welcome.term = of_other(1).epoch;
	assert_true(fm_is_root(s.fm));
	stage_msg(&s, conn, &m);
	assert_false(fm_is_root(s.fm));
	assert_false(reports_it());
	stage_end(&s);
}

static void root_does_not_connect_to_earlier_root(void **state)
{
	(void)state;
	ring();
	s.fm->root_epoch++;
	assert_int_equal(tries(0), 0);
	stage_end(&s);
}

/* A node with the table of this root says HELLO. */
static void sends_hello_again(uint32_t node, uint64_t term)
{
	struct fm_msg m = hello(node);

	m.hello.placed = m.hello.counted = true;
	m.hello.version = m.hello.table = 1;
	m.hello.shape = s.shape;
	m.hello.coords.c[0] = (int16_t)node;
	m.hello.term = m.hello.root_epoch = term;
	m.hello.table_root = m.hello.root_guid = NIC;
	m.hello.ups = 4;
	m.hello.attach = 1;
	joins(&m);
}

/* The later root refuses this one, or does not lead any more: its part keeps it, for any time. */
static void refused_root_leads_on(void **state)
{
	int conn;

	(void)state;
	ring();
	stage_forget(&s);
	for (unsigned int k = 0; k < 8; k++) {
		while (!(conn = tries(1))) {
			stage_run_ns(&s, s.now + 100 * MS);
			for (int child = 101; child < 104; child++)
				stage_send(&s, child, FM_MSG_PONG);
		}
		stage_up(&s, conn);
		if (k % 2)
			stage_refuse(&s, conn, "another node has its name");
		else
			send_claim(conn, 0);
		assert_true(fm_is_root(s.fm) && root_status().state == FM_ROOT_LEADS);
		assert_true(reports_it());
		assert_int_equal(tries(1), 0);
	}
	for (conn = 101; conn < 104; conn++) {
		char closes[20];

		snprintf(closes, sizeof(closes), "close %d\n", conn);
		assert_int_equal(stage_count(&s, closes), 0);
	}
	stage_end(&s);
}

/*
 * The later root has refused this one, which then asks to be root again. Meanwhile it avoids that
 * one, but its claim takes an epoch above that one's, as always if another root leads a neighbour.
 */
static void epoch_of_root_that_refused_counts_in_the_next_claim(void **state)
{
	struct fm_init i;
	uint64_t term;
	int conn;

	(void)state;
	ring();
	s.fm->cfg.takeover = 100 * MS;
	term = fm_epoch(s.fm);
	i = of_other(4);
	conn = tries(4);
	stage_up(&s, conn);
	stage_refuse(&s, conn, "another node has its name");
	assert_true(fm_is_root(s.fm));
	fm_claim_anew(s.fm, term);
	stage_run_ns(&s, s.now + 1);
	assert_int_equal(root_status().state, FM_ROOT_ASKS);
	conn = s.next_conn;
	stage_receive(&s, 0, &i);
	assert_int_equal(s.next_conn, conn);
	for (uint32_t node = 1; node < 4; node++)
		sends_hello_again(node, term);
	stage_run_ns(&s, s.now + 200 * MS);
	assert_true(fm_epoch(s.fm) > term);
	assert_true(fm_epoch(s.fm) > i.epoch);
	stage_end(&s);
}

/* During the attempt this root gets an epoch that is the later one. */
static void root_that_got_later_epoch_meanwhile_stays(void **state)
{
	int conn;

	(void)state;
	ring();
	conn = tries(1);
	s.fm->root_epoch += 2;
	stage_forget(&s);
	stage_up(&s, conn);
	assert_true(fm_is_root(s.fm));
	stage_did_some(&s, "close ");
	stage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_gives_way_to_later_root_that_it_reaches),
		cmocka_unit_test(root_stays_and_reports_later_root_out_of_reach),
		cmocka_unit_test(root_does_not_connect_to_earlier_root),
		cmocka_unit_test(refused_root_leads_on),
		cmocka_unit_test(epoch_of_root_that_refused_counts_in_the_next_claim),
		cmocka_unit_test(root_that_got_later_epoch_meanwhile_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
