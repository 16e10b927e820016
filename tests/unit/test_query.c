// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions that a node passes on, and the answers to them. The test plays the connections to other
 * nodes and the service at this node. The clock only moves when the test moves it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/log.h"
#include "daemon/loop.h"
#include "daemon/query.h"
#include "daemon/svc.h"
#include "tests/unit/clock.h"

#define OWN	5		/* id of this node */
#define UP	1		/* two connections that we opened, then two that others opened */
#define UP_TOO	2
#define LEFT	3
#define RIGHT	4
#define SENT	600

static struct loop *loop;
static struct loop_timer *due;
static struct query *query;

/* The messages sent by each connection. */
static struct sent {
	int conn;
	uint8_t type;
	uint64_t id;
	bool more;
	char *text;
} sent[SENT];

static unsigned int nsent;

/* --- the functions of svc.c that query.c calls ------------------------------------- */

void svc_send(struct svc *svc, int conn, const struct svc_msg *msg)
{
	static const char *const to_name[] = { "root", "all", "node" };
	struct sent *m = &sent[nsent];
	int n = -1;

	(void)svc;
	assert_true(nsent++ < SENT);
	*m = (struct sent) { .conn = conn, .type = msg->type };
	if (msg->type == SVC_ASK) {
		m->id = msg->ask.id;
		n = asprintf(&m->text, "to %s node %u privileged %d ttl %u %s",
			     to_name[msg->ask.to],
			     msg->ask.node, msg->ask.user.privileged, msg->ask.ttl,
			     msg->ask.command);
	} else if (msg->type == SVC_ANSWER) {
		m->id = msg->answer.id;
		m->more = msg->answer.more;
		n = asprintf(&m->text, "%u: %s", msg->answer.node, msg->answer.reply);
	} else if (msg->type == SVC_EVENT) {
		n = asprintf(&m->text, "%s %s", msg->event.kind, msg->event.text);
	} else {
		n = asprintf(&m->text, "%u: %s", msg->lines.node, msg->lines.links);
	}
	assert_true(n >= 0);
}

void svc_each(struct svc *svc, bool outgoing, void (*fn)(void *arg, int conn), void *arg)
{
	(void)svc;
	fn(arg, outgoing ? UP : LEFT);
	fn(arg, outgoing ? UP_TOO : RIGHT);
}

/* --- the node -------------------------------------------------------------------- */

static bool is_root;

/* The questions to this node, and the answers that the asker got. */
static struct {
	unsigned int served, dropped, local, forgotten, events;
	bool later;
	struct svc_user user;
	struct ask *ask;
	unsigned int items, replies, ends;
	uint32_t node;
	char *reply;
} did;

static uint32_t own(void *arg)
{
	(void)arg;
	return OWN;
}

static bool root(void *arg)
{
	(void)arg;
	return is_root;
}

/* Answers a question to this node now, or when the test says so. */
static void *local(void *arg, json_t *cmd, struct ask *ask)
{
	(void)arg;
	(void)cmd;
	did.local++;
	did.ask = ask;
	if (did.later)
		return &did;
	query_local(ask, json_string("here"));
	return NULL;
}

static void forget(void *arg, void *handle)
{
	(void)arg;
	assert_ptr_equal(handle, &did);
	did.forgotten++;
}

static void *serve(void *arg, json_t *cmd, const struct svc_user *user, struct ask *ask)
{
	(void)arg;
	(void)cmd;
	did.served++;
	did.user = *user;
	did.ask = ask;
	return &did;
}

static void drop(void *arg, void *handle)
{
	(void)arg;
	assert_ptr_equal(handle, &did);
	did.dropped++;
}

static void on_event(void *arg, const struct svc_msg *msg)
{
	(void)arg;
	(void)msg;
	did.events++;
}

static const struct svc_user nobody;
static const struct query_ops ops = {
	.own = own, .is_root = root, .local = local, .serve = serve, .drop = drop, .received = on_event,
	.forget = forget,
};

static void on_item(void *arg, uint32_t node, json_t *data)
{
	(void)arg;
	(void)data;
	did.items++;
	did.node = node;
}

static void on_reply(void *arg, const char *text)
{
	struct ask **a = arg;

	did.replies++;
	free(did.reply);
	did.reply = strdup(text);
	query_cancel(*a);
}

static void on_end(void *arg)
{
	(void)arg;
	did.ends++;
}

static const struct query_done done = { .item = on_item, .reply = on_reply, .end = on_end };

static void on_due(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

static void run_due(void)
{
	for (unsigned int i = 0; i < 3; i++) {
		loop_timer_set(due, 0);
		loop_run(loop);
	}
}

static void forget_sent(void)
{
	while (nsent)
		free(sent[--nsent].text);
}

static int begin(void **state)
{
	(void)state;
	log_level_set(FM_ERROR);
	clock_stop();
	free(did.reply);
	memset(&did, 0, sizeof(did));
	is_root = false;
	loop = loop_new();
	due = loop_timer_new(loop, on_due, NULL);
	query = query_new(loop, NULL, &ops, NULL);
	return !loop || !due || !query;
}

static int end(void **state)
{
	(void)state;
	forget_sent();
	query_free(query);
	loop_timer_free(due);
	loop_free(loop);
	clock_go();
	return 0;
}

static void answers(int conn, uint64_t id, uint32_t node, const char *reply)
{
	struct svc_msg m = {
		.type = SVC_ANSWER,
		.answer = { .id = id, .more = true, .node = node, .reply = (char *)reply },
	};

	query_msg(query, conn, &m);
}

static void ends(int conn, uint64_t id)
{
	struct svc_msg m = { .type = SVC_ANSWER, .answer = { .id = id, .reply = (char *)"" } };

	query_msg(query, conn, &m);
}

static void asks_this(int conn, uint64_t id, const char *command)
{
	struct svc_msg m = {
		.type = SVC_ASK,
		.ask = { .id = id, .to = SVC_TO_ALL, .ttl = 800, .command = (char *)command },
	};

	query_msg(query, conn, &m);
}

static void asks(int conn, uint64_t id, enum svc_to to, unsigned int node, bool privileged,
		 unsigned int ttl)
{
	struct svc_msg m = {
		.type = SVC_ASK,
		.ask = {
			.id = id, .to = (uint8_t)to, .node = node,
			.user = { privileged, 1000, 5, privileged },
			.ttl = ttl, .command = (char *)"{\"cmd\":\"x\"}",
		},
	};

	query_msg(query, conn, &m);
}

/* Checks the @i-th message that was sent. */
static void went(unsigned int i, int conn, uint8_t type, uint64_t id, bool more, const char *has)
{
	assert_true(i < nsent);
	assert_int_equal(sent[i].conn, conn);
	assert_int_equal(sent[i].type, type);
	assert_true(sent[i].id == id);
	assert_int_equal(sent[i].more, more);
	if (!strstr(sent[i].text, has))
		fail_msg("'%s' is not in %s", has, sent[i].text);
}

/* --- asked by others --------------------------------------------------------------- */

/*
 * A question to the root goes up by one connection, with no more rights and less time than it came
 * with.
 */
static void question_goes_up_with_less_time_and_same_rights(void **state)
{
	(void)state;
	asks(LEFT, 7, SVC_TO_ROOT, 9, false, 800);
	assert_int_equal(nsent, 1);
	went(0, UP, SVC_ASK, 7, false, "to root ");
	went(0, UP, SVC_ASK, 7, false, "privileged 0 ");
	went(0, UP, SVC_ASK, 7, false, "ttl 700 {\"cmd\":\"x\"}");
	went(0, UP, SVC_ASK, 7, false, "node 9 ");
	asks(LEFT, 8, SVC_TO_ROOT, 9, true, 8);
	went(1, UP, SVC_ASK, 8, false, "privileged 1 ");
	/* An answer is only accepted from there, and goes back the way the question came. */
	answers(RIGHT, 7, 6, "lies");
	answers(UP_TOO, 7, 6, "lies");
	answers(UP, 9, 6, "lies");
	assert_int_equal(nsent, 2);
	answers(UP, 7, 6, "yes");
	assert_int_equal(nsent, 3);
	went(2, LEFT, SVC_ANSWER, 7, true, "yes");
	ends(UP, 7);
	assert_int_equal(nsent, 4);
	went(3, LEFT, SVC_ANSWER, 7, false, "0: ");
	answers(UP, 7, 6, "late");
	assert_int_equal(nsent, 4);
	assert_int_equal(did.served + did.local, 0);
}

/*
 * The time of a question is over: its asker gets the end of the answers, and an answer that comes
 * later is dropped.
 */
static void late_answer_is_dropped(void **state)
{
	(void)state;
	asks(LEFT, 7, SVC_TO_ROOT, 0, false, 800);
	clock_move(800 * MS - US);
	run_due();
	assert_int_equal(nsent, 1);
	clock_move(US);
	run_due();
	assert_int_equal(nsent, 2);
	went(1, LEFT, SVC_ANSWER, 7, false, "0: ");
	answers(UP, 7, 6, "late");
	assert_int_equal(nsent, 2);
}

/* The root answers a question, with the rights that it came with, once. */
static void root_serves_question_once_with_its_rights(void **state)
{
	(void)state;
	is_root = true;
	asks(LEFT, 7, SVC_TO_ROOT, 0, false, 800);
	assert_int_equal(did.served, 1);
	assert_false(did.user.privileged);
	/* the same question comes by another connection */
	asks(RIGHT, 7, SVC_TO_ROOT, 0, true, 800);
	assert_int_equal(did.served, 1);
	assert_int_equal(nsent, 1);
	went(0, RIGHT, SVC_ANSWER, 7, false, "0: ");
	query_served(did.ask, "done");
	run_due();
	assert_int_equal(nsent, 3);
	went(1, LEFT, SVC_ANSWER, 7, true, "done");
	went(2, LEFT, SVC_ANSWER, 7, false, "0: ");
	asks(LEFT, 8, SVC_TO_ROOT, 0, true, 800);
	assert_true(did.user.privileged);
	/* The asker is gone, or its time is over: neither question is answered any more. */
	query_conn_down(query, LEFT);
	assert_int_equal(did.dropped, 1);
	asks(RIGHT, 9, SVC_TO_ROOT, 0, true, 800);
	clock_move(800 * MS);
	run_due();
	assert_int_equal(did.dropped, 2);
	asks(RIGHT, 10, SVC_TO_ROOT, 0, true, 800);
	query_reset(query);
	assert_int_equal(did.dropped, 3);
}

/*
 * A question to all is answered here, passed on to all below but the asker, and ended when they
 * have answered.
 */
static void question_to_all_is_passed_on_and_answered(void **state)
{
	(void)state;
	asks(LEFT, 7, SVC_TO_ALL, 0, false, 800);
	assert_int_equal(did.local, 1);
	assert_int_equal(nsent, 2);
	went(0, RIGHT, SVC_ASK, 7, false, "to all ");
	went(1, LEFT, SVC_ANSWER, 7, true, "5: \"here\"");
	answers(RIGHT, 7, 6, "1");
	went(2, LEFT, SVC_ANSWER, 7, true, "6: 1");
	query_conn_down(query, RIGHT);		/* nothing comes from there any more */
	run_due();
	assert_int_equal(nsent, 4);
	went(3, LEFT, SVC_ANSWER, 7, false, "0: ");
	/* A question to this node goes no further, one to another node does. */
	asks(UP, 8, SVC_TO_NODE, OWN, false, 800);
	assert_int_equal(did.local, 2);
	assert_int_equal(nsent, 6);
	went(4, UP, SVC_ANSWER, 8, true, "5: ");
	went(5, UP, SVC_ANSWER, 8, false, "0: ");
	asks(UP, 9, SVC_TO_NODE, OWN + 1, false, 800);
	assert_int_equal(did.local, 2);
	assert_int_equal(nsent, 8);
	went(6, LEFT, SVC_ASK, 9, false, "to node ");
	went(7, RIGHT, SVC_ASK, 9, false, "to node ");
}

/* This node answers later: its own answer is awaited, as long as there is time, as others' are. */
static void own_late_answer_is_awaited(void **state)
{
	(void)state;
	did.later = true;
	asks(LEFT, 7, SVC_TO_ALL, 0, false, 800);
	went(0, RIGHT, SVC_ASK, 7, false, "to all ");
	answers(RIGHT, 7, 6, "1");
	ends(RIGHT, 7);
	assert_int_equal(nsent, 2);
	query_local(did.ask, json_string("here"));
	assert_int_equal(nsent, 4);
	went(2, LEFT, SVC_ANSWER, 7, true, "5: \"here\"");
	went(3, LEFT, SVC_ANSWER, 7, false, "0: ");
	/* Another connection is lost meanwhile. */
	asks(LEFT, 8, SVC_TO_ALL, 0, false, 800);
	query_conn_down(query, RIGHT);
	run_due();
	assert_int_equal(nsent, 5);
	query_local(did.ask, NULL);
	assert_int_equal(nsent, 6);
	went(5, LEFT, SVC_ANSWER, 8, false, "0: ");
	/* This node knows no answer to what only it could answer. */
	asks(UP, 9, SVC_TO_NODE, OWN, false, 800);
	assert_int_equal(nsent, 6);
	query_local(did.ask, NULL);
	assert_int_equal(nsent, 7);
	assert_int_equal(did.forgotten, 0);
}

/* The time is over, the asker is gone, or all ends: this node's answer is not awaited any more. */
static void own_answer_is_not_awaited_after_time(void **state)
{
	(void)state;
	did.later = true;
	asks(UP, 7, SVC_TO_NODE, OWN, false, 800);
	clock_move(800 * MS);
	run_due();
	assert_int_equal(did.forgotten, 1);
	assert_int_equal(nsent, 1);
	went(0, UP, SVC_ANSWER, 7, false, "0: ");
	asks(UP, 8, SVC_TO_NODE, OWN, false, 800);
	query_conn_down(query, UP);
	assert_int_equal(did.forgotten, 2);
	asks(UP, 9, SVC_TO_NODE, OWN, false, 800);
	query_reset(query);
	assert_int_equal(did.forgotten, 3);
	asks(UP, 10, SVC_TO_NODE, OWN, false, 800);
	query_free(query);
	assert_int_equal(did.forgotten, 4);
	query = NULL;
}

/*
 * Only one node can answer a question to a node: after its answer, silent branches are not waited
 * for.
 */
static void question_to_one_node_ends_with_its_answer(void **state)
{
	(void)state;
	asks(UP, 7, SVC_TO_NODE, 6, false, 800);
	/* an answer of another node: the question still waits */
	answers(RIGHT, 7, 9, "1");
	run_due();
	assert_int_equal(nsent, 3);
	answers(RIGHT, 7, 6, "2");
	run_due();
	assert_int_equal(nsent, 5);
	went(3, UP, SVC_ANSWER, 7, true, "6: 2");
	went(4, UP, SVC_ANSWER, 7, false, "0: ");
	/* A question to all waits for all. */
	asks(UP, 8, SVC_TO_ALL, 6, false, 800);
	answers(RIGHT, 8, 6, "2");
	run_due();
	assert_int_equal(nsent, 9);
	went(8, UP, SVC_ANSWER, 8, true, "6: 2");
}

/* A question whose command is no object gets the end of an answer, and nothing else. */
static void malformed_question_gets_empty_answer(void **state)
{
	static const char *const bad[] = { "", "[]", "1", "{", "{\"cmd\":\"x\"", "{} {}" };
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		asks_this(LEFT, 100 + i, bad[i]);
		assert_int_equal(nsent, i + 1);
		went(i, LEFT, SVC_ANSWER, 100 + i, false, "0: ");
	}
	assert_int_equal(did.local + did.served, 0);
	asks(LEFT, 200, SVC_TO_ALL, 0, false, SVC_TTL_MAX);
	assert_int_equal(did.local, 1);
	asks(LEFT, 201, SVC_TO_ALL, 0, false, 1);
	assert_int_equal(did.local, 2);
}

/* At most 256 questions are under way; one more gets the end of its answers at once. */
static void question_257_is_ended_at_once(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 256; i++)
		asks(LEFT, 1000 + i, SVC_TO_ROOT, 0, false, 800);
	assert_int_equal(nsent, 256);
	asks(LEFT, 2000, SVC_TO_ROOT, 0, false, 800);
	assert_int_equal(nsent, 257);
	went(256, LEFT, SVC_ANSWER, 2000, false, "0: ");
	query_conn_down(query, LEFT);
	asks(RIGHT, 2001, SVC_TO_ROOT, 0, false, 800);
	went(257, UP, SVC_ASK, 2001, false, "root");
}

/* A node's events go up by all its own connections until they reach the root. */
static void events_go_up_to_root(void **state)
{
	const struct svc_msg on_event[] = {
		{ .type = SVC_EVENT, .event = { .kind = "link", .text = "gone" } },
		{ .type = SVC_LINES, .lines = { .node = 9, .links = (char *)"[]" } },
	};

	(void)state;
	query_msg(query, LEFT, &on_event[0]);
	query_msg(query, LEFT, &on_event[1]);
	assert_int_equal(nsent, 4);
	went(0, UP, SVC_EVENT, 0, false, "link gone");
	went(1, UP_TOO, SVC_EVENT, 0, false, "link gone");
	went(2, UP, SVC_LINES, 0, false, "9: []");
	went(3, UP_TOO, SVC_LINES, 0, false, "9: []");
	assert_int_equal(did.events, 0);
	is_root = true;
	query_msg(query, LEFT, &on_event[0]);
	query_msg(query, LEFT, &on_event[1]);
	assert_int_equal(nsent, 4);
	assert_int_equal(did.events, 2);
}

/* --- asked here ---------------------------------------------------------------------- */

static void own_question_is_sent_answered_and_cancelled(void **state)
{
	json_t *cmd = json_pack("{s:s}", "cmd", "x");
	struct ask *ask;
	uint64_t id;

	(void)state;
	ask = query_ask(query, SVC_TO_ROOT, TORUS_NO_NODE, cmd, &nobody, 1000, &done, &ask);
	assert_non_null(ask);
	assert_true(query_was_sent(ask));
	assert_int_equal(nsent, 1);
	id = sent[0].id;
	went(0, UP, SVC_ASK, id, false, "privileged 0 ");
	/* the question comes back, and is not sent again */
	asks(RIGHT, id, SVC_TO_ROOT, 0, true, 800);
	went(1, RIGHT, SVC_ANSWER, id, false, "0: ");
	answers(UP, id, 6, "yes");
	assert_string_equal(did.reply, "yes");
	/*
	 * A question to all: this node's answer and theirs, until all have ended or time is over.
	 */
	forget_sent();
	ask = query_ask(query, SVC_TO_ALL, TORUS_NO_NODE, cmd, &SVC_MANAGER, 1000, &done, &ask);
	assert_int_equal(nsent, 2);
	id = sent[0].id;
	went(1, RIGHT, SVC_ASK, id, false, "privileged 1 ");
	answers(LEFT, id, 6, "1");
	assert_int_equal(did.items, 2);
	assert_int_equal(did.node, 6);
	answers(LEFT, id, TORUS_NO_NODE, "1");
	answers(LEFT, id, 6, "{");
	answers(UP, id, 7, "1");
	assert_int_equal(did.items, 2);
	ends(LEFT, id);
	clock_move(1000 * MS - US);
	run_due();
	assert_int_equal(did.ends, 0);
	clock_move(US);
	run_due();
	assert_int_equal(did.ends, 1);
	assert_int_equal(did.items, 2);
	/* A question to this node alone is passed to no other. */
	forget_sent();
	ask = query_ask(query, SVC_TO_NODE, OWN, cmd, &SVC_MANAGER, 1000, &done, &ask);
	assert_false(query_was_sent(ask));
	run_due();
	assert_int_equal(nsent, 0);
	assert_int_equal(did.items, 3);
	assert_int_equal(did.ends, 2);
	/* A question to another node is passed to the nodes below. */
	did.local = 0;
	ask = query_ask(query, SVC_TO_NODE, OWN + 1, cmd, &SVC_MANAGER, 1000, &done, &ask);
	assert_int_equal(did.local, 0);
	assert_int_equal(nsent, 2);
	query_cancel(ask);
	json_decref(cmd);
}

/*
 * Enough answers have come though other nodes are silent: the question ends, once, without waiting
 * for them. This node's own answer is among the first, so it counts, too.
 */
static void enough_answers_end_question_once(void **state)
{
	json_t *cmd = json_pack("{s:s}", "cmd", "x");
	struct ask *ask;
	uint64_t id;

	(void)state;
	ask = query_ask(query, SVC_TO_ALL, TORUS_NO_NODE, cmd, &nobody, 1000, &done, NULL);
	id = sent[0].id;
	answers(LEFT, id, 6, "1");
	assert_int_equal(did.items, 2);
	query_enough(ask);
	assert_int_equal(did.ends, 0);
	run_due();
	assert_int_equal(did.ends, 1);
	assert_int_equal(did.items, 2);
	answers(RIGHT, id, 7, "late");
	clock_move(1000 * MS);
	run_due();
	assert_int_equal(did.ends, 1);
	assert_int_equal(did.items, 2);
	json_decref(cmd);
}

/*
 * Each answer begins the time limit anew: a silent node is waited for until the limit has passed
 * since the last answer.
 */
static void each_answer_renews_time_limit(void **state)
{
	json_t *cmd = json_pack("{s:s}", "cmd", "x");
	uint64_t id;

	(void)state;
	query_ask(query, SVC_TO_ALL, TORUS_NO_NODE, cmd, &nobody, 1000, &done, NULL);
	id = sent[0].id;
	for (unsigned int i = 0; i < 3; i++) {
		clock_move(999 * MS);
		run_due();
		answers(LEFT, id, 6, "1");
	}
	ends(LEFT, id);
	clock_move(999 * MS);
	run_due();
	assert_int_equal(did.ends, 0);
	clock_move(MS);
	run_due();
	assert_int_equal(did.ends, 1);
	assert_int_equal(did.items, 4);
	/*
	 * The time of a node that passes answers on is extended as well; but there is a bound for
	 * all.
	 */
	forget_sent();
	asks(LEFT, 7, SVC_TO_ALL, 0, false, 800);
	for (unsigned int i = 0; i < 6; i++) {
		answers(RIGHT, 7, 6, "1");
		clock_move(799 * MS);
		run_due();
	}
	assert_int_equal(nsent, 8);
	answers(RIGHT, 7, 6, "1");
	assert_int_equal(nsent, 9);
	clock_move(6 * MS);
	run_due();
	assert_int_equal(nsent, 10);
	went(9, LEFT, SVC_ANSWER, 7, false, "0: ");
	json_decref(cmd);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_setup_teardown(question_goes_up_with_less_time_and_same_rights,
						begin, end),
		cmocka_unit_test_setup_teardown(late_answer_is_dropped, begin, end),
		cmocka_unit_test_setup_teardown(root_serves_question_once_with_its_rights,
						begin, end),
		cmocka_unit_test_setup_teardown(question_to_all_is_passed_on_and_answered,
						begin, end),
		cmocka_unit_test_setup_teardown(own_late_answer_is_awaited, begin, end),
		cmocka_unit_test_setup_teardown(own_answer_is_not_awaited_after_time, begin, end),
		cmocka_unit_test_setup_teardown(question_to_one_node_ends_with_its_answer,
						begin, end),
		cmocka_unit_test_setup_teardown(malformed_question_gets_empty_answer, begin, end),
		cmocka_unit_test_setup_teardown(question_257_is_ended_at_once, begin, end),
		cmocka_unit_test_setup_teardown(events_go_up_to_root, begin, end),
		cmocka_unit_test_setup_teardown(own_question_is_sent_answered_and_cancelled,
						begin, end),
		cmocka_unit_test_setup_teardown(enough_answers_end_question_once, begin, end),
		cmocka_unit_test_setup_teardown(each_answer_renews_time_limit, begin, end),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
