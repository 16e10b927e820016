// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists that the root writes node by node. The test plays the fabric, whose nodes answer with texts
 * of 20,000 bytes, and the client, which reads when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "daemon/answer.h"
#include "daemon/log.h"
#include "daemon/query.h"

#define NODES	8
#define BYTES	20000

static struct torus_shape shape = { .ndims = 1, .size = { NODES, 1, 1, 1, 1, 1 } };
static const struct answer_cmd cmd = { .name = "things", .flags = 0 };
static struct fm_entry entry[NODES];
static struct fabricd d;
static struct request *rq;
static const struct query_done *done;
static uint64_t now;
static bool slow, ready;	/* of the client, and of the fabric */
static bool enough;		/* the question needs no more answers */
static unsigned int made, broken, questions;
static char asked[64], code[16];
static char *got;

/* --- what answer_gather.c calls -------------------------------------------------- */

uint64_t loop_now(void) { return now; }
const struct torus_shape *fm_shape(const struct fm *fm) { (void)fm; return &shape; }
uint32_t fm_own(const struct fm *fm) { (void)fm; return ready ? 0 : TORUS_NO_NODE; }
bool fm_out_of_service(const struct fm *fm, uint32_t node) { (void)fm, (void)node; return false; }
json_t *rootless_json(const struct request *r) { (void)r; return json_null(); }
void answer_label(const struct request *r, json_t *list) { (void)r, (void)list; }
void query_enough(struct ask *ask) { (void)ask; enough = true; }
json_t *node_json(const struct fabricd *of, uint32_t node) { (void)of; return json_pack("[i]", (int)node); }

const struct fm_entry *fm_node(const struct fm *fm, uint32_t node)
{
	(void)fm;
	return node < NODES ? &entry[node] : NULL;
}

void log_printf(enum fm_level level, const char *kind, const char *fmt, ...)
{
	(void)level, (void)kind, (void)fmt;
}

static void forget(struct request *r)
{
	gathering_free(r->g);
	json_decref(r->args);
	free(r);
	rq = NULL;
	done = NULL;
}

void answer_drop(struct request *r) { forget(r); }

void answer_error(struct request *r, const char *what, const char *fmt, ...)
{
	(void)fmt;
	snprintf(code, sizeof(code), "%s", what);
	forget(r);
}

void answer_silent(struct request *r) { answer_error(r, "silent", "x"); }

bool answer_ready(struct request *r)
{
	if (!ready)
		answer_error(r, "not-ready", "x");
	return ready;
}

int answer_node(struct request *r, bool needed, uint32_t *out)
{
	(void)r, (void)needed, (void)out;
	return 0;
}

bool answer_range(struct request *r, uint32_t max)
{
	(void)r, (void)max;
	return true;
}

static void take(const char *text, size_t len)
{
	size_t had = strlen(got);

	got = realloc(got, had + len + 1);
	assert_non_null(got);
	memcpy(got + had, text, len);
	got[had + len] = '\0';
}

void answer_finish(struct request *r, const char *line)
{
	forget(r);
	assert_non_null(line);
	take(line, strlen(line));
	strcpy(code, "ok");
}

struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *args,
		      const struct svc_user *user, unsigned int timeout_ms,
		      const struct query_done *of, void *arg)
{
	const char *first = json_string_value(json_object_get(args, "node"));

	(void)q, (void)to, (void)node, (void)user, (void)timeout_ms;
	assert_ptr_equal(arg, rq);
	done = of;
	questions++;
	snprintf(asked, sizeof(asked), "%s %d", first ? first : "all",
		 (int)json_integer_value(json_object_get(args, "count")));
	return (struct ask *)&asked;
}

/* --- a client -------------------------------------------------------------------- */

static bool on_more(void *arg, const char *text, size_t len)
{
	(void)arg;
	if (text)
		take(text, len);
	else
		broken++;
	return !slow;
}

static json_t *things(struct request *r, uint32_t node, json_t *reported)
{
	made++;
	return flat_items(r, node, reported);
}

static const struct listing listing = { .items = things };

static void begin(uint32_t piece, bool by_pieces)
{
	rq = calloc(1, sizeof(*rq));
	assert_non_null(rq);
	rq->d = &d;
	rq->cmd = &cmd;
	rq->args = json_object();
	rq->node = TORUS_NO_NODE;
	rq->more = by_pieces ? on_more : NULL;
	answer_list(rq, &listing, piece);
}

/* The text of the answer of @node. */
static char *thing(uint32_t node, char *text, size_t bytes)
{
	memset(text, 'x', bytes);
	memcpy(text, "[\"", 2);
	text[2] = (char)('0' + node);
	strcpy(text + bytes - 2, "\"]");
	return text;
}

/* Nodes @from to @to - 1 answer, which takes @ns, and the question ends. */
static void answer(uint32_t from, uint32_t to, uint64_t ns)
{
	const struct query_done *of = done;
	char text[BYTES + 1];

	assert_non_null(of);
	for (uint32_t i = from; i < to; i++)
		of->text(rq, i, thing(i, text, BYTES));
	now += ns;
	of->end(rq);
}

/* The reply with the items of all nodes for which a bit is set. */
static void expect_reply(unsigned int nodes, const char *rest)
{
	char *want = malloc((BYTES + 1) * NODES + 256), *at = want, text[BYTES + 1];

	assert_non_null(want);
	at += sprintf(at, "{\"ok\":true,\"data\":[");
	for (uint32_t i = 0; i < NODES; i++)
		if (nodes >> i & 1)
			at += sprintf(at, "%s%.*s", at[-1] == '[' ? "" : ",", BYTES - 2,
				      thing(i, text, BYTES) + 1);
	sprintf(at, "]%s}", rest);
	assert_string_equal(code, "ok");
	assert_string_equal(got, want);
	free(want);
}

static int set_up(void **state)
{
	(void)state;
	free(got);
	got = calloc(1, 1);
	shape = (struct torus_shape) { .ndims = 1, .size = { NODES, 1, 1, 1, 1, 1 } };
	ready = true;
	slow = enough = false;
	now = 0;
	made = broken = questions = 0;
	code[0] = '\0';
	d = (struct fabricd) { .fm = (struct fm *)&d };
	for (uint32_t i = 0; i < NODES; i++)
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP };
	return !got;
}

static int tear_down(void **state)
{
	(void)state;
	assert_null(rq);
	assert_int_equal(d.meter.kept, 0);
	free(got);
	got = NULL;
	return 0;
}

/* --- tests ------------------------------------------------------------------------- */

static void list_is_the_same_in_pieces_of_any_size(void **state)
{
	for (unsigned int by_pieces = 0; by_pieces < 2; by_pieces++)
		for (uint32_t piece = 0; piece <= NODES + 1; piece++) {
			uint32_t step = piece ? piece : NODES;

			set_up(state);
			step = by_pieces ? step : NODES;
			begin(piece, by_pieces);
			for (uint32_t at = 0; at < NODES; at += step)
				answer(at, at + step < NODES ? at + step : NODES, 0);
			expect_reply(0xff, "");
			assert_int_equal(questions, (NODES + step - 1) / step);
		}
}

static void next_nodes_are_asked_by_a_range(void **state)
{
	(void)state;
	begin(3, true);
	assert_string_equal(asked, "0 3");
	answer(0, 3, 0);
	assert_string_equal(asked, "3 3");
	answer(3, 6, 0);
	assert_string_equal(asked, "6 2");
	answer(6, 8, 0);
	expect_reply(0xff, "");
}

/* The items of a node are separated at the commas between them, and not at others. */
static void items_of_a_node_are_any_json(void **state)
{
	static const char *const same[] = {
		"", "1", "null,true", "\"a,b]\",2", "\"\\\\\",\"\\\",[\"", "[1,[2,3]],{\"a\":[4],\"b\":{\"c\":5,\"d]\":\"}\"}}",
	};
	char text[128];

	for (unsigned int i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		set_up(state);
		begin(0, false);
		for (uint32_t n = 1; n < NODES; n++)
			entry[n].state = FM_NODE_DEAD;
		snprintf(text, sizeof(text), "[%s]", same[i]);
		done->text(rq, 0, text);
		done->end(rq);
		snprintf(text, sizeof(text), "{\"ok\":true,\"data\":[%s]}", same[i]);
		assert_string_equal(got, text);
	}
}

/*
 * A node of another release may send anything; the readable part of its answer is in the list, and
 * the node is listed as missing.
 */
static void answers_that_end_early_do_no_harm(void **state)
{
	static const char *const cut[] = { "[", "[1", "[1,", "[\"", "[\"\\", "[{", "[1,{]", "x", "" };

	for (unsigned int i = 0; i < sizeof(cut) / sizeof(cut[0]); i++) {
		json_t *reply;

		set_up(state);
		begin(0, false);
		for (uint32_t n = 1; n < NODES; n++)
			entry[n].state = FM_NODE_DEAD;
		done->text(rq, 0, cut[i]);
		done->end(rq);
		reply = json_loads(got, 0, NULL);
		assert_true(json_is_array(json_object_get(reply, "data")));
		assert_int_equal(json_array_size(json_object_get(reply, "missing")), 1);
		json_decref(reply);
	}
}

static void list_of_one_piece_is_asked_as_the_client_asked(void **state)
{
	(void)state;
	begin(NODES, true);
	assert_string_equal(asked, "all 0");
	answer(0, NODES, 0);
	expect_reply(0xff, "");
}

static void nothing_is_made_for_a_client_that_does_not_read(void **state)
{
	(void)state;
	slow = true;
	begin(4, true);
	answer(0, 4, 0);
	for (unsigned int i = 1; i <= 4; i++) {
		assert_int_equal(made, i);
		assert_int_equal(questions, 1);
		assert_true(strlen(got) < i * (BYTES + 100));
		answer_continue(rq);
	}
	assert_int_equal(questions, 2);
	answer_continue(rq);		/* the question is under way */
	assert_int_equal(questions, 2);
	slow = false;
	answer(4, 8, 0);
	expect_reply(0xff, "");
}

static void nodes_without_an_answer_are_missing_in_any_piece(void **state)
{
	(void)state;
	entry[6].state = FM_NODE_DEAD;
	begin(3, true);
	answer(1, 3, 0);
	answer(3, 5, 0);
	answer(7, 8, 0);
	expect_reply(0xbf & ~0x21, ",\"missing\":[[0],[5]]");
}

static void rest_is_asked_at_once_after_silent_nodes_took_long(void **state)
{
	(void)state;
	begin(1, true);
	answer(0, 0, 1500 * MS);
	answer(1, 1, 1500 * MS);
	assert_string_equal(asked, "2 1");
	answer(2, 2, 1500 * MS);
	assert_string_equal(asked, "3 5");
	answer(3, 8, 0);
	expect_reply(0xf8, ",\"missing\":[[0],[1],[2]]");
}

/*
 * A node that passed the request on waits 2.5 s for the root, less what the way takes: too short for
 * a silent node in each of two pieces.
 */
static void all_are_asked_at_once_for_a_node_that_waits(void **state)
{
	(void)state;
	begin(1, false);
	assert_string_equal(asked, "all 0");
	answer(2, 8, 1500 * MS);
	assert_int_equal(questions, 1);
	expect_reply(0xfc, ",\"missing\":[[0],[1]]");
}

static void fabric_that_begins_anew_breaks_off_a_reply_that_has_begun(void **state)
{
	(void)state;
	begin(2, true);
	answer(0, 2, 0);
	ready = false;
	answer(2, 4, 0);
	assert_int_equal(broken, 1);
	assert_string_equal(code, "");
}

/* The fabric has come up again as 4x2, not 8: the same numbers are other nodes. */
static void fabric_of_another_shape_breaks_off_a_reply_that_has_begun(void **state)
{
	(void)state;
	begin(2, true);
	answer(0, 2, 0);
	shape = (struct torus_shape) { .ndims = 2, .size = { 4, 2, 1, 1, 1, 1 } };
	answer(2, 4, 0);
	assert_int_equal(broken, 1);
	assert_string_equal(code, "");
}

static void fabric_that_begins_anew_before_the_reply_is_an_error(void **state)
{
	(void)state;
	begin(2, true);
	for (uint32_t i = 0; i < 2; i++)
		done->text(rq, i, "[1]");
	done->end(rq);
	ready = false;
	answer(2, 4, 0);
	assert_int_equal(broken, 0);
	assert_string_equal(code, "not-ready");
}

static void reply_that_becomes_too_long_is_refused_after_the_first_piece(void **state)
{
	size_t bytes = 3u << 20;
	char *text = malloc(bytes + 1);

	(void)state;
	assert_non_null(text);
	begin(1, true);
	done->text(rq, 0, thing(0, text, bytes));
	done->end(rq);
	assert_string_equal(code, "failed");
	assert_int_equal(questions, 1);
	free(text);
}

/* Begins a request of another node, and gives it one text of @bytes from each of @nodes. */
static void keep(unsigned int nodes, size_t bytes)
{
	char *text = malloc(bytes + 1);

	assert_non_null(text);
	begin(1, false);
	for (uint32_t i = 0; i < nodes; i++)
		done->text(rq, i, thing(i, text, bytes));
	free(text);
}

/*
 * The length of a reply was judged when all nodes had answered, so the texts of one request could
 * take any amount of memory, and nothing limited all requests together.
 */
static void request_keeps_no_more_than_a_reply_may_have(void **state)
{
	(void)state;
	keep(NODES, 3u << 20);
	assert_int_equal(d.meter.kept, 5 * ((3u << 20) + 1));
	enough = false;
	done->text(rq, 7, "[7]");
	assert_true(enough);
	assert_int_equal(d.meter.kept, 5 * ((3u << 20) + 1));
	done->end(rq);
	assert_string_equal(code, "failed");
	assert_int_equal(d.meter.unkept, 1);
}

static void requests_of_other_nodes_share_a_limit_of_memory(void **state)
{
	struct request *first[4];

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		keep(NODES - 1, ANSWER_KEPT_MAX / 4 / (NODES - 1) - 8);
		assert_false(enough);
		first[i] = rq;
	}
	assert_true(d.meter.kept <= ANSWER_KEPT_MAX && d.meter.kept > ANSWER_KEPT_MAX - 300);
	keep(1, 300);
	assert_true(enough);
	assert_true(d.meter.kept <= ANSWER_KEPT_MAX);
	done->end(rq);
	assert_string_equal(code, "failed");
	assert_int_equal(d.meter.unkept, 1);
	for (unsigned int i = 0; i < 4; i++)
		answer_drop(first[i]);
	begin(1, false);
	answer(0, NODES, 0);		/* there is room again */
	expect_reply(0xff, "");
	assert_int_equal(d.meter.unkept, 1);
}

/* A client of the control socket gets its list by pieces, whatever other nodes want. */
static void list_by_pieces_does_not_count(void **state)
{
	(void)state;
	d.meter.kept = ANSWER_KEPT_MAX;
	begin(3, true);
	answer(0, 3, 0);
	answer(3, 6, 0);
	answer(6, 8, 0);
	expect_reply(0xff, "");
	assert_int_equal(d.meter.kept, ANSWER_KEPT_MAX);
	d.meter.kept = 0;
}

static void reply_that_is_too_long_for_a_message_is_refused(void **state)
{
	size_t bytes = 3u << 20;
	char *text = malloc(bytes + 1);

	(void)state;
	assert_non_null(text);
	begin(1, false);
	for (uint32_t i = 0; i < NODES; i++)
		done->text(rq, i, thing(i, text, bytes));
	done->end(rq);
	assert_string_equal(code, "failed");
	free(text);
}

static void client_that_leaves_in_the_middle_frees_the_rest(void **state)
{
	(void)state;
	slow = true;
	begin(4, true);
	answer(0, 4, 0);
	answer_drop(rq);
	assert_int_equal(made, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(list_is_the_same_in_pieces_of_any_size, set_up, tear_down),
		cmocka_unit_test_setup_teardown(next_nodes_are_asked_by_a_range, set_up, tear_down),
		cmocka_unit_test_setup_teardown(items_of_a_node_are_any_json, set_up, tear_down),
		cmocka_unit_test_setup_teardown(answers_that_end_early_do_no_harm, set_up, tear_down),
		cmocka_unit_test_setup_teardown(list_of_one_piece_is_asked_as_the_client_asked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_is_made_for_a_client_that_does_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nodes_without_an_answer_are_missing_in_any_piece, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rest_is_asked_at_once_after_silent_nodes_took_long, set_up, tear_down),
		cmocka_unit_test_setup_teardown(all_are_asked_at_once_for_a_node_that_waits, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fabric_that_begins_anew_breaks_off_a_reply_that_has_begun, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fabric_of_another_shape_breaks_off_a_reply_that_has_begun, set_up, tear_down),
		cmocka_unit_test_setup_teardown(fabric_that_begins_anew_before_the_reply_is_an_error, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reply_that_becomes_too_long_is_refused_after_the_first_piece, set_up, tear_down),
		cmocka_unit_test_setup_teardown(request_keeps_no_more_than_a_reply_may_have, set_up, tear_down),
		cmocka_unit_test_setup_teardown(requests_of_other_nodes_share_a_limit_of_memory, set_up, tear_down),
		cmocka_unit_test_setup_teardown(list_by_pieces_does_not_count, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reply_that_is_too_long_for_a_message_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(client_that_leaves_in_the_middle_frees_the_rest, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
