// SPDX-License-Identifier: GPL-2.0-only
/* The rows of many nodes in one answer: how many are asked for at once, and whose rows are whose. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tools/fabricctl/rows.h"

const struct program this_program = { .name = "test_fabricctl_rows" };

static const char *reported;	/* JSON that the manager answers; NULL: nothing */
static bool old;		/* the manager knows no runs */
static char request[128];
static unsigned int asked;
static struct torus_shape shape;
static struct rows rows[2];

void ask_label(const struct ask *a, bool aside)
{
	(void)a;
	(void)aside;
}

int ask(struct ask *a, json_t *json, json_t **data)
{
	char *text = json_dumps(json, JSON_COMPACT);

	(void)a;
	asked++;
	snprintf(request, sizeof(request), "%s", text);
	free(text);
	json_decref(json);
	*data = reported ? json_loads(reported, 0, NULL) : NULL;
	return *data ? OK : CANNOT;
}

int ask_try(struct ask *a, json_t *json, json_t **data, bool *unknown)
{
	int status = ask(a, json, data);

	*unknown = old && status == OK;
	if (*unknown)
		json_decref(*data);
	return *unknown ? CANNOT : status;
}

/* No more rows than an answer may hold, which bounds what the root has in memory; but a node. */
static void question_asks_for_no_more_rows_than_fit(void **state)
{
	static const struct {
		const char *shape;
		uint32_t runs, apart;
	} wanted[] = {
		{ "1", 1, 1 }, { "4x4", 16, 16 }, { "362", 362, 362 }, { "363", 363, 361 },
		{ "32x32", 1024, 128 }, { "1025", 1023, 127 }, { "256x256", 16, 2 },
		{ "256x512", 8, 1 }, { "1024x1024", 1, 1 }, { "2048x1024", 1, 1 },
	};
	struct torus_shape of;

	(void)state;
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(torus_shape_parse(wanted[i].shape, &of), 0);
		assert_int_equal(rows_batch(&(struct rows_reader){ .shape = &of }),
				 wanted[i].runs);
		assert_int_equal(rows_batch(&(struct rows_reader){ .shape = &of, .apart = true }),
				 wanted[i].apart);
	}
}

/* Return: of how many nodes the answer @text is, which is asked for from node 1 of @shape on. */
static uint32_t reads(const char *text, int status)
{
	struct rows_reader r = { .shape = &shape };
	uint32_t n;

	reported = text;
	asked = 0;
	assert_int_equal(rows_get_some(&r, 1, rows, &n), status);
	return n;
}

static void forget_rows(void)
{
	for (unsigned int i = 0; i < 2; i++)
		rows_free(&rows[i]);
}

static void none_are_read(const char *text)
{
	assert_int_equal(reads(text, OK), 2);
	assert_null(rows[0].row);
	assert_null(rows[1].row);
}

#define OF(node, version, first) "{\"node\":[" node "],\"version\":" version ",\"rows\":" \
	"[\"" first "\",\"0000000000000002\",\"0000000000000003\"]}"
#define AS_TEXT(node, rows) "{\"node\":[" node "],\"version\":8,\"rows\":\"" rows "\"}"
#define ONE "0000000000000001"

/*
 * Answers may come in any order: each belongs to the node that it names, and the first one for each
 * node counts. A node that does not answer, or answers wrongly, does not affect the rows of others.
 * Rows are an array of texts, or one text.
 */
static void rows_are_taken_for_node_that_they_name(void **state)
{
	(void)state;
	assert_int_equal(reads("[" OF("2", "9", ONE) "," OF("1", "8", ONE) "," OF("1", "7", ONE) ","
			       OF("0", "6", ONE) "," OF("3", "6", ONE) ",null]", OK), 2);
	assert_string_equal(request, "{\"cmd\":\"rows\",\"node\":\"1\",\"count\":2,\"runs\":true}");
	assert_int_equal(asked, 1);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(rows[i].version, 8 + i);
		assert_int_equal(rows[i].n, 3);
		assert_int_equal(rows[i].row[2], 3);
	}
	forget_rows();
	reads("[{\"node\":[1],\"version\":8,\"rows\":[]}," OF("2", "9", ONE) "]", OK);
	assert_null(rows[0].row);
	assert_int_equal(rows[1].row[0], 1);
	forget_rows();
	none_are_read("[" OF("1", "8", "000000000000000g") "]");
	reads("[" AS_TEXT("1", ONE "fedcba9876543210FEDCBA9876543210") ","
	      AS_TEXT("2", ONE ONE ONE) "]", OK);
	assert_int_equal(rows[0].row[0], 1);
	assert_true(rows[0].row[1] == 0xfedcba9876543210);
	assert_true(rows[0].row[2] == 0xfedcba9876543210);
	assert_int_equal(rows[1].row[2], 1);
	forget_rows();
	none_are_read("[" AS_TEXT("1", ONE ONE) "," AS_TEXT("2", ONE ONE "000000000000000/") "]");
	rows[0].row = rows[1].row = (uint64_t *)rows;
	reads(NULL, CANNOT);
	assert_null(rows[0].row);
	assert_null(rows[1].row);
}

/* Equal rows that follow each other may be a run of them. */
static void valid_runs_of_rows_are_read_and_others_refused(void **state)
{
	(void)state;
	reads("[" AS_TEXT("1", ONE "*2,000000000000000f") "," AS_TEXT("2", ONE "*3") "]", OK);
	assert_int_equal(rows[0].row[0], 1);
	assert_int_equal(rows[0].row[1], 1);
	assert_int_equal(rows[0].row[2], 15);
	assert_int_equal(rows[1].row[2], 1);
	forget_rows();
	reads("[" AS_TEXT("1", ONE "," ONE "*1,000000000000000f") "]", OK);
	assert_int_equal(rows[0].row[2], 15);
	forget_rows();
	none_are_read("[" AS_TEXT("1", ONE "*2") "," AS_TEXT("2", ONE "*4") "]");
	none_are_read("[" AS_TEXT("1", ONE "*3," ONE) "," AS_TEXT("2", ONE "*0") "]");
	none_are_read("[" AS_TEXT("1", ONE "*18446744073709551619") "," AS_TEXT("2", ONE "*") "]");
	none_are_read("[" AS_TEXT("1", ONE "*2;" ONE) "," AS_TEXT("2", "*3") "]");
}

/* A reply has no room for the rows of all nodes: the next one begins where they are null. */
static void next_question_begins_where_rows_are_null(void **state)
{
#define NO_ROOM(node) "{\"node\":[" node "],\"version\":8,\"rows\":null}"
	(void)state;
	assert_int_equal(reads("[" OF("1", "8", ONE) "," NO_ROOM("2") "]", OK), 1);
	assert_non_null(rows[0].row);
	forget_rows();
	assert_int_equal(reads("[" OF("2", "8", ONE) "," NO_ROOM("2") "]", OK), 2);
	assert_non_null(rows[1].row);
	forget_rows();
	/* A reply that leaves out all rows is none of a manager: each question must get further. */
	none_are_read("[" NO_ROOM("1") "]");
}

/* A manager that knows no runs is asked once again, then never with them. */
static void manager_without_runs_is_asked_again_once(void **state)
{
	struct rows_reader r = { .shape = &shape };
	uint32_t n;

	(void)state;
	reported = "[" AS_TEXT("1", ONE ONE ONE) "," AS_TEXT("2", ONE ONE ONE) "]";
	old = true;
	asked = 0;
	assert_int_equal(rows_get_some(&r, 1, rows, &n), OK);
	assert_int_equal(asked, 2);
	assert_int_equal(n, 2);
	assert_non_null(rows[0].row);
	forget_rows();
	assert_int_equal(rows_get_some(&r, 1, rows, &n), OK);
	assert_int_equal(asked, 3);
	assert_string_equal(request, "{\"cmd\":\"rows\",\"node\":\"1\",\"count\":2}");
	assert_non_null(rows[1].row);
	forget_rows();
	old = false;
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(question_asks_for_no_more_rows_than_fit),
		cmocka_unit_test(rows_are_taken_for_node_that_they_name),
		cmocka_unit_test(valid_runs_of_rows_are_read_and_others_refused),
		cmocka_unit_test(next_question_begins_where_rows_are_null),
		cmocka_unit_test(manager_without_runs_is_asked_again_once),
	};

	torus_shape_parse("3", &shape);
	return cmocka_run_group_tests(t, NULL, NULL);
}
