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

static const char *said;	/* JSON that the manager answers; NULL: nothing */
static char request[128];

void ask_label(const struct ask *a, bool aside)
{
	(void)a;
	(void)aside;
}

int ask(struct ask *a, json_t *json, json_t **data)
{
	char *text = json_dumps(json, JSON_COMPACT);

	(void)a;
	snprintf(request, sizeof(request), "%s", text);
	free(text);
	json_decref(json);
	*data = said ? json_loads(said, 0, NULL) : NULL;
	return *data ? OK : CANNOT;
}

/* No more rows than an answer may hold, which bounds what the root has in memory; but a node. */
static void nodes_at_once(void **state)
{
	static const struct {
		const char *shape;
		uint32_t n;
	} wanted[] = {
		{ "1", 1 }, { "4x4", 16 }, { "362", 362 }, { "363", 361 }, { "32x32", 128 },
		{ "256x256", 2 }, { "256x512", 1 }, { "512x512", 1 },
	};
	struct torus_shape shape;

	(void)state;
	for (unsigned int i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_int_equal(torus_shape_parse(wanted[i].shape, &shape), 0);
		assert_int_equal(rows_batch(&shape), wanted[i].n);
	}
}

#define OF(node, version, first) "{\"node\":[" node "],\"version\":" version ",\"rows\":" \
	"[\"" first "\",\"0000000000000002\",\"0000000000000003\"]}"
#define ONE "0000000000000001"

/*
 * Whatever the order of the answers, each is taken for the node that it names, the first for each.
 * A node that does not answer, or wrongly, costs no other its rows. Rows are texts or one text.
 */
static void answers_in_any_order(void **state)
{
	struct torus_shape shape;
	struct rows rows[2];

	(void)state;
	torus_shape_parse("3", &shape);
	said = "[" OF("2", "9", ONE) "," OF("1", "8", ONE) "," OF("1", "7", ONE) ","
	       OF("0", "6", ONE) "," OF("3", "6", ONE) ",null]";
	assert_int_equal(rows_get_range(NULL, &shape, 1, 2, rows), OK);
	assert_string_equal(request, "{\"cmd\":\"rows\",\"node\":\"1\",\"count\":2}");
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(rows[i].version, 8 + i);
		assert_int_equal(rows[i].n, 3);
		assert_int_equal(rows[i].row[2], 3);
		rows_free(&rows[i]);
	}
	said = "[{\"node\":[1],\"version\":8,\"rows\":[]}," OF("2", "9", ONE) "]";
	assert_int_equal(rows_get_range(NULL, &shape, 1, 2, rows), OK);
	assert_null(rows[0].row);
	assert_int_equal(rows[1].row[0], 1);
	rows_free(&rows[1]);
	said = "[" OF("1", "8", "000000000000000g") "]";
	assert_int_equal(rows_get_range(NULL, &shape, 1, 2, rows), OK);
	assert_null(rows[0].row);
	assert_null(rows[1].row);
	said = "[{\"node\":[1],\"version\":8,\"rows\":\"" ONE "fedcba9876543210FEDCBA9876543210\"},"
	       "{\"node\":[2],\"version\":8,\"rows\":\"" ONE ONE ONE "\"}]";
	assert_int_equal(rows_get_range(NULL, &shape, 1, 2, rows), OK);
	assert_int_equal(rows[0].row[0], 1);
	assert_true(rows[0].row[1] == 0xfedcba9876543210);
	assert_true(rows[0].row[2] == 0xfedcba9876543210);
	assert_int_equal(rows[1].row[2], 1);
	rows_free(&rows[0]);
	rows_free(&rows[1]);
	said = "[{\"node\":[1],\"version\":8,\"rows\":\"" ONE ONE "\"},"
	       "{\"node\":[2],\"version\":8,\"rows\":\"" ONE ONE "000000000000000/\"}]";
	assert_int_equal(rows_get_range(NULL, &shape, 1, 2, rows), OK);
	assert_null(rows[0].row);
	assert_null(rows[1].row);
	said = NULL;
	rows[0].row = rows[1].row = (uint64_t *)rows;
	assert_int_equal(rows_get_range(NULL, &shape, 1, 2, rows), CANNOT);
	assert_null(rows[0].row);
	assert_null(rows[1].row);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(nodes_at_once),
		cmocka_unit_test(answers_in_any_order),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
