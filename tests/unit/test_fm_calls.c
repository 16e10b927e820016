// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls over the service network: which nodes a node that asks to be root calls, how often, and
 * how many at once; and what the called node and the calling one do.
 */
#include <errno.h>

#include "daemon/fm/node/conns.h"
#include "stage_calls.h"
#include "tests/unit/memory.h"

/* --- whom a root calls -------------------------------------------------------------------- */

/*
 * A root that asks calls the nodes to which no node that takes part has a link, once no new node
 * has said HELLO for SETTLE.
 */
static void nodes_without_links_to_participants_are_called(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.stubborn = true;
	stage_run_ns(&s, from + SETTLE / 2);
	sends_hello(1);
	stage_run_ns(&s, s.now + SETTLE - MS);
	sends_hello(1);		/* a repeated HELLO is not news */
	assert_int_equal(stage_count(&s, "connect"), 0);
	stage_run_ns(&s, s.now + 2 * MS);
	for (uint32_t i = 0; i < 8; i++)	/* 7 is a neighbour of the root, 2 of node 1 */
		assert_int_equal(called(i), i >= 3 && i <= 6);
	stage_end(&s);
}

/* New nodes say HELLO all the time: after ten times resend the calls begin all the same. */
static void calls_begin_although_wave_does_not_end(void **state)
{
	uint64_t from;

	(void)state;
	asks(60, &from);
	for (uint32_t i = 1; i < 30; i++) {
		stage_run_ns(&s, from + i * RESEND);
		if (i < 10)
			assert_int_equal(stage_count(&s, "connect"), 0);
		sends_hello(i);
	}
	assert_int_not_equal(called(40), 0);
	stage_end(&s);
}

/*
 * A call and the answers to it: what the call says, and what the root counts. An answered
 * connection is closed.
 */
static void call_names_root_and_answers_are_counted(void **state)
{
	uint64_t from, epoch;
	char text[60];
	int conn;

	(void)state;
	asks(8, &from);
	conn = s.next_conn;
	stage_run_ns(&s, from + SETTLE + MS);
	/* all nodes but 1 and 7 are called */
	assert_int_equal(stage_count(&s, "connect"), 5);
	assert_int_equal(sent_to, 0);
	stage_up(&s, conn + 1);					/* the connection to node 3 */
	assert_int_equal(sent_to, conn + 1);
	assert_true(sent.asks && !sent.lost && sent.placed && sent.settled);
	assert_int_equal(sent.guid, NIC);
	assert_int_equal(sent.root_guid, NIC);
	assert_string_equal(sent.root_address, "30.0.0.0:1");
	epoch = sent.epoch;
	stage_forget(&s);
	answers(conn + 1, NIC, epoch, false);
	snprintf(text, sizeof(text), "close %d\n", conn + 1);
	assert_int_equal(stage_count(&s, text), 1);
	sends_hello(3);
	assert_int_equal(count().called, 5);
	assert_int_equal(count().follow, 1);
	assert_int_equal(count().others, 0);
	/* A called node that leads is not followed because of its answer: it would call. */
	stage_up(&s, conn + 2);
	answers(conn + 2, NIC + 4, epoch + 1, true);
	assert_int_equal(stage_count(&s, "does not ask to be root any more"), 0);
	assert_int_equal(count().others, 1);
	stage_end(&s);
}

/*
 * A called node answers that it follows another root: that is counted, and it is soon called again.
 */
static void node_that_follows_other_root_is_called_again(void **state)
{
	uint64_t from;
	int conn;

	(void)state;
	asks(8, &from);
	conn = s.next_conn;
	stage_run_ns(&s, from + SETTLE + MS);
	stage_up(&s, conn + 1);
	stage_forget(&s);
	answers(conn + 1, 0x1, sent.epoch, false);
	assert_int_equal(count().others, 1);
	stage_run_ns(&s, s.now + 3 * RESEND);
	assert_int_equal(called(3), 1);
	assert_int_equal(count().others, 0);
	stage_end(&s);
}

/* On the connection of a call only the answer is taken: no child, no table, no order. */
static void only_answer_is_taken_on_connection_of_call(void **state)
{
	struct fm_entry entries[8];
	struct fm_msg m;
	uint64_t from;
	int conn;

	(void)state;
	asks(8, &from);
	s.deaf = "ping log ";
	conn = s.next_conn;
	stage_run_ns(&s, from + SETTLE + MS);
	stage_up(&s, conn + 1);
	stage_forget(&s);
	stage_send(&s, conn + 1, FM_MSG_PING);
	m = hello(3);
	fm_msg(s.fm, conn + 1, &m, START + s.now);
	m = stage_table(&s, 1000, entries);
	m.table.former = true;
	fm_msg(s.fm, conn + 1, &m, START + s.now);
	m = (struct fm_msg) { .type = FM_MSG_DROP };
	fm_msg(s.fm, conn + 1, &m, START + s.now);
	stage_did_nothing(&s);
	answers(conn + 1, 0x1, sent.epoch, false);
	assert_int_equal(count().others, 1);
	stage_end(&s);
}

/* Without memory for a call its connection is closed again, even if its number is 0. */
static void call_without_memory_is_closed(void **state)
{
	unsigned int failed = 0;
	uint64_t from;

	(void)state;
	for (unsigned int n = 1; n <= 12; n++) {
		unsigned int known = 0;

		asks(8, &from);
		s.next_conn = 0;
		memory_fails_at(n);
		stage_run_ns(&s, from + SETTLE + MS);
		memory_failed();
		for (unsigned int i = 0; i < fm_conns_count(s.fm); i++)
			known += fm_conn_no(s.fm, i)->role == FM_CONN_CALL;
		assert_int_equal(stage_count(&s, "connect 30") - stage_count(&s, "close "), known);
		failed += stage_count(&s, "close 0\n");
		stage_end(&s);
	}
	assert_true(failed > 0);
}

/* No node answers: at most 16 are called at once, and each less and less often. */
static void unanswered_calls_are_limited_and_get_rarer(void **state)
{
	unsigned int opened, most = 0;
	uint64_t from;

	(void)state;
	asks(60, &from);
	for (unsigned int ms = 0; ms < 3000; ms += 5) {
		stage_run_ns(&s, from + ms * MS);
		opened = stage_count(&s, "connect 30.0.0.") - stage_count(&s, "close ");
		assert_in_range(opened, 0, 16);
		most = opened > most ? opened : most;
	}
	assert_int_equal(most, 16);
	for (uint32_t i = 2; i < 59; i++)
		assert_in_range(called(i), 1, 2);
	assert_int_equal(called(1) + called(59), 0);
	assert_int_equal(count().called, 57);
	assert_int_equal(count().follow + count().others, 0);
	stage_end(&s);
}

/* All connections fail at once: then, too, calls become rarer. */
static void failed_connections_make_calls_rarer(void **state)
{
	unsigned int first;
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.refuse_connect = -ENETUNREACH;
	stage_run_ns(&s, from + SETTLE + MS);
	assert_int_equal(called(4), 1);
	stage_run_ns(&s, from + 3000 * MS);
	first = called(4);
	assert_in_range(first, 4, 6);
	stage_run_ns(&s, from + 40000 * MS);
	assert_in_range(called(4), first + 1, first + 4);
	assert_int_equal(count().called, 5);
	stage_end(&s);
}

/*
 * A node without an address in the table is logged once, and counted as unknown, and nothing else
 * happens.
 */
static void node_without_address_is_logged_once(void **state)
{
	uint64_t from;

	(void)state;
	asks(8, &from);
	s.fm->table.entry[4].address[0] = '\0';
	stage_run_ns(&s, from + 2000 * MS);
	assert_int_equal(stage_count(&s, "warning root: 'n4' cannot be called"), 1);
	assert_int_equal(stage_count(&s, "connect :"), 0);
	assert_int_equal(count().unknown, 1);
	assert_int_equal(count().called, 4);
	stage_end(&s);
}

/* --- what a node makes of a call ------------------------------------------------------------- */

/* A call of node 3, which asks to be root. */
static struct fm_init of_asker(void)
{
	struct fm_init i = stage_neighbour(&s, 0);

	i.guid = i.root_guid = NIC + 3;
	i.epoch = TERM;
	i.asks = true;
	i.settled = true;
	strcpy(i.root_address, "30.0.0.3:1");
	return i;
}

/* Node 1 of a ring of four, which has a table, and whose root is away if it is @adrift. */
static void member(bool adrift)
{
	static struct fm_entry entry[4];
	struct fm_init i;
	struct fm_msg m;

	stage_init(&s, "4x1", 1);
	s.deaf = "init ";
	stage_link_up(&s, 0, 1);
	stage_link_up(&s, 2, 1);
	stage_start(&s);
	i = stage_neighbour(&s, 2);
	stage_receive(&s, 2, &i);
	stage_up(&s, 1);
	stage_welcome(&s, 1, TERM, "");
	m = stage_table(&s, 1, entry);
	stage_msg(&s, 1, &m);
	stage_run(&s, 1);
	if (adrift)
		stage_down(&s, 1);
	stage_forget(&s);
	s.sees = sees;
	sent_to = 0;
}

static void is_called(const struct fm_init *i)
{
	struct fm_msg m = call(i);

	stage_up(&s, 70);
	stage_msg(&s, 70, &m);
}

/*
 * A called node that is led stays with its root, asks whether that root lives, and names it to the
 * caller.
 */
static void called_node_with_root_stays_with_it(void **state)
{
	struct fm_init i;

	(void)state;
	member(false);
	i = of_asker();
	is_called(&i);
	stage_did(&s, "1 < ping\n");
	assert_int_equal(sent_to, 70);
	assert_int_equal(sent.root_guid, NIC);
	assert_true(!sent.asks && !sent.lost);
	assert_true(fm_reachable(s.fm));
	stage_end(&s);
}

/*
 * A called node that is adrift follows the caller: it says so, connects, and says HELLO; the
 * promise is asked for and given there.
 */
static void called_node_without_root_follows_caller(void **state)
{
	struct fm_init i;
	int conn;

	(void)state;
	member(true);
	i = of_asker();
	conn = s.next_conn;
	is_called(&i);
	assert_int_equal(stage_count(&s, "connect 30.0.0.3:1"), 1);
	assert_int_equal(sent.root_guid, NIC + 3);
	stage_forget(&s);
	stage_up(&s, conn);
	stage_did_some(&s, "< hello");
	/* A repeated call changes nothing. */
	is_called(&i);
	stage_did_nothing(&s);
	stage_end(&s);
}

static bool has_problem(const char *part)
{
	const struct fm_problem *p;

	for (unsigned int i = 0; (p = fm_problem(s.fm, i)); i++)
		if (!strcmp(p->kind, "root") && strstr(p->text, part))
			return true;
	return false;
}

/*
 * A call with an epoch far above is a problem until 30 s after the last one that named it: as long
 * as the caller goes on, whoever else calls, and not for ever.
 */
static void problem_of_far_epoch_ends_30_s_after_last_call(void **state)
{
	static const char doubt[] = "a call: node 'n2' names root 'n3' (3,0) of epoch";
	struct fm_init wrong, right;
	uint64_t from;

	(void)state;
	member(false);
	wrong = right = of_asker();
	wrong.epoch = TERM + FM_EPOCH_STEP + 1;
	is_called(&wrong);
	from = s.now;
	assert_true(has_problem(doubt));
	is_called(&right);
	assert_true(has_problem(doubt));
	stage_run_ns(&s, from + 20000 * MS);
	is_called(&wrong);
	stage_run_ns(&s, from + 49999 * MS);
	assert_true(has_problem(doubt));
	stage_run_ns(&s, from + 50000 * MS);
	assert_false(has_problem(doubt));
	/* A problem that begins later is reported as the first was. */
	is_called(&wrong);
	assert_true(has_problem(doubt));
	stage_end(&s);
}

static void call_with_epoch_far_above_is_problem(void **state)
{
	struct fm_init i;

	(void)state;
	for (unsigned int more = 0; more < 2; more++) {
		member(true);
		i = of_asker();
		i.epoch = TERM + FM_EPOCH_STEP + more;
		is_called(&i);
		assert_int_equal(stage_count(&s, "connect"), !more);
		assert_int_equal(has_problem("a call: node 'n2' names root 'n3' (3,0) of epoch"),
				 more);
		stage_end(&s);
	}
}

/*
 * A message that is no Init, or an Init of another fabric, of another kind of fabric, or of this
 * node itself, is not answered.
 */
static void invalid_init_of_call_is_not_answered(void **state)
{
	struct fm_init i;
	struct fm_msg m;

	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		member(true);
		i = of_asker();
		if (k == 0)
			strcpy(i.fabric, "other");
		else if (k == 1)
			i.guid = NIC + 1;
		else if (k == 2)
			i.ndims = 6;
		m = call(&i);
		if (k == 3)
			m.claim.ninit--;
		else if (k == 4)
			m.claim.ninit = 0;
		stage_up(&s, 70);
		stage_msg(&s, 70, &m);
		stage_did(&s, "close 70\n");
		assert_int_equal(sent_to, 0);
		stage_end(&s);
	}
}

/*
 * A called root that leads gives way only to a later root. A caller that still names its former
 * root in its Init does not make it give way.
 */
static void leading_root_gives_way_only_to_later_one(void **state)
{
	struct fm_init i;

	(void)state;
	for (unsigned int more = 0; more < 2; more++) {
		root("4x1");
		for (uint32_t k = 1; k < 4; k++)
			join(k);
		settle(4);
		s.sees = sees;
		stage_forget(&s);
		i = of_asker();
		i.asks = false;
		i.epoch = fm_epoch(s.fm) + more;
		is_called(&i);
		assert_true(fm_is_root(s.fm));
		if (more) {	/* the node can reach that root, which accepts it */
			struct fm_msg m = { .type = FM_MSG_CLAIM };

			stage_up(&s, s.next_conn - 1);
			m.claim.guid = i.root_guid;
			m.claim.epoch = i.epoch;
			stage_msg(&s, s.next_conn - 1, &m);
		}
		assert_int_equal(fm_is_root(s.fm), !more);
		stage_end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_without_links_to_participants_are_called),
		cmocka_unit_test(calls_begin_although_wave_does_not_end),
		cmocka_unit_test(call_names_root_and_answers_are_counted),
		cmocka_unit_test(node_that_follows_other_root_is_called_again),
		cmocka_unit_test(only_answer_is_taken_on_connection_of_call),
		cmocka_unit_test(call_without_memory_is_closed),
		cmocka_unit_test(unanswered_calls_are_limited_and_get_rarer),
		cmocka_unit_test(failed_connections_make_calls_rarer),
		cmocka_unit_test(node_without_address_is_logged_once),
		cmocka_unit_test(called_node_with_root_stays_with_it),
		cmocka_unit_test(called_node_without_root_follows_caller),
		cmocka_unit_test(call_with_epoch_far_above_is_problem),
		cmocka_unit_test(problem_of_far_epoch_ends_30_s_after_last_call),
		cmocka_unit_test(invalid_init_of_call_is_not_answered),
		cmocka_unit_test(leading_root_gives_way_only_to_later_one),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
