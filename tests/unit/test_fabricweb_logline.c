// SPDX-License-Identifier: GPL-2.0-only
/* Lines of the log: the longest change that a client may send is logged as a whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/fabricweb/logline.h"
#include "tools/fabricweb/request.h"

static char line[8 * WEB_BODY_MAX];

/* Reads what log_line() has written since then to standard error, which @file has replaced. */
static void read_line(FILE *file, int saved)
{
	size_t n;

	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	n = fread(line, 1, sizeof(line) - 1, file);
	line[n] = '\0';
	fclose(file);
}

static void log_plan(const struct web_plan *plan)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	log_line("%s: done", plan->ask);
	read_line(file, saved);
}

static void longest_change_is_logged_as_a_whole(void **state)
{
	static const char begin[] = "{\"reason\":\"", end[] = "\",\"node\":\"1,0\"}";
	static char body[WEB_BODY_MAX];
	struct web_request rq = { .method = WEB_POST, .uri = "/api/exclude", .body = body,
				  .content_type = "application/json" };
	struct web_plan plan;
	size_t len = sizeof(begin) - 1;

	(void)state;
	memcpy(body, begin, len);
	for (; len + 2 + sizeof(end) <= sizeof(body); len += 2)
		memcpy(body + len, "\xc3\xa4", 2);
	memcpy(body + len, end, sizeof(end) - 1);
	rq.body_len = len + sizeof(end) - 1;
	web_plan_make(&rq, &plan);
	assert_int_equal(plan.kind, WEB_ASK);
	log_plan(&plan);
	assert_non_null(strstr(line, "\"node\":\"1,0\"}: done\n"));
	web_plan_free(&plan);
}

static void unprintable_characters_are_replaced(void **state)
{
	char ask[] = "a\n\x7f\xc3 b";
	struct web_plan plan = { .ask = ask };

	(void)state;
	log_plan(&plan);
	assert_string_equal(line, "fabricweb: a??? b: done\n");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(longest_change_is_logged_as_a_whole),
		cmocka_unit_test(unprintable_characters_are_replaced),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
