// SPDX-License-Identifier: GPL-2.0-only
/* Reports on a day: what is to be repaired and why, and the page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "tools/fabricctl/command.h"
#include "tools/fabricctl/errors.h"
#include "tools/fabricctl/json.h"
#include "tools/fabricctl/report.h"

const struct program this_program = { .name = "test" };

#define CABLE "\"node\":[0,0],\"port\":\"+x\",\"name\":\"a\",\"peer\":{\"node\":[1,0],\"port\":\"-x\",\"name\":\"b\"}"
#define OTHER_END "\"node\":[1,0],\"port\":\"-x\",\"name\":\"b\",\"peer\":{\"node\":[0,0],\"port\":\"+x\",\"name\":\"a\"}"
#define LINK(time, state) "{\"time\":" #time ",\"log\":\"l\",\"level\":\"warning\",\"kind\":\"link\",\"link\":{" CABLE \
	",\"state\":\"" state "\",\"reason\":\"carrier\",\"excluded\":false}}"
#define LOSS(at, back) LINK(at, "lost") "," LINK(back, "up")
#define EVENT(level, kind, text) "{\"time\":5000,\"level\":\"" level "\",\"kind\":\"" kind "\",\"text\":\"" text "\"}"
#define DEAD "node 1,0 ('b') is dead"
#define AT(time, level, text) "{\"time\":" #time ",\"level\":\"" level "\",\"kind\":\"node\",\"text\":\"" text "\"}"
#define DEATH(at, back) LINK(at, "lost") "," AT(at, "error", DEAD) "," AT(back, "info", "over: " DEAD) "," LINK(back, "up")
#define RECEIVER(cable, level, worn, errors, ber) "{" cable ",\"margin\":80,\"quality\":{\"level\":\"" level \
	"\",\"worn\":" worn ",\"usual_margin\":120.0,\"errors\":" #errors ",\"ber\":" #ber "}}"

static json_t *parse(const char *text)
{
	json_error_t why;
	json_t *j = json_loads(text, JSON_DECODE_ANY, &why);

	if (!j)
		fail_msg("%s: %s", why.text, text);
	return j;
}

/* @degraded: NULL: not known */
static json_t *make(const char *events, const char *degraded, const char *orders)
{
	json_t *e = parse(events), *d = degraded ? parse(degraded) : NULL, *o = parse(orders);
	json_t *none = json_array();
	struct report_facts facts = {
		.from = 0, .to = 86400, .until = 86400, .fabric = "f<&>", .events = e, .degraded = d,
		.faulty = none, .orders = o,
	};
	json_t *report = report_make(&facts);

	json_decref(none);
	json_decref(o);
	json_decref(d);
	json_decref(e);
	return report;
}

static void wants(json_t *report, const char *key, const char *wanted)
{
	json_t *w = parse(wanted);

	if (!json_equal(json_object_get(report, key), w))
		fail_msg("%s is %s", key, json_dumps(json_object_get(report, key), JSON_ENCODE_ANY));
	json_decref(w);
	json_decref(report);
}

static void bad_cable_is_to_be_replaced_or_cleaned(void **state)
{
	(void)state;
	wants(make("[" LOSS(10, 20) "," LOSS(30, 40) "]", "[]", "[]"), "to_do", "[]");
	wants(make("[" LOSS(10, 20) "," LOSS(30, 40) "," LOSS(50, 60) "]", "[]", "[]"), "to_do",
	      "[{\"link\":{" CABLE "},\"what\":\"replace\",\"why\":[\"lost 3 times (carrier)\"]}]");
	wants(make("[]", "[" RECEIVER(CABLE, "fail", "false", 7, 1e-6) "]", "[]"), "to_do",
	      "[{\"link\":{" CABLE "},\"what\":\"replace\",\"why\":[\"0,0:+x receives badly: bit error rate 1.0e-06\"]}]");
	wants(make("[]", "[" RECEIVER(CABLE, "warn", "true", 0, 0.0) "]", "[]"), "to_do",
	      "[{\"link\":{" CABLE "},\"what\":\"replace\",\"why\":[\"0,0:+x loses margin: 80%, was 120%\"]}]");
	wants(make("[]", "[" RECEIVER(CABLE, "warn", "false", 7, 1e-9) "]", "[]"), "to_do",
	      "[{\"link\":{" CABLE "},\"what\":\"clean\",\"why\":[\"0,0:+x receives badly: bit error rate 1.0e-09\"]}]");
	/* The receiver is at the other end, and the cable is named as everywhere else. */
	wants(make("[]", "[" RECEIVER(OTHER_END, "fail", "false", 7, 1e-6) "]", "[]"), "to_do",
	      "[{\"link\":{" CABLE "},\"what\":\"replace\",\"why\":[\"1,0:-x receives badly: bit error rate 1.0e-06\"]}]");
	wants(make("[]", "[" RECEIVER(CABLE, "good", "false", 7, 1e-15) "]", "[]"), "to_do", "[]");
}

static const char dead[] = "[" LINK(86300, "lost") "," AT(86300, "error", DEAD) "," AT(86390, "error", DEAD ": why") "]";

/* A loss by a node's death or an administrator is no fault of the cable; the node is listed. */
static void loss_by_dead_node_is_no_fault_of_cable(void **state)
{
	static const char deaths[] = "[" DEATH(10, 20) "," DEATH(30, 40) "," DEATH(50, 60) "]";
#define DOWN "{\"time\":10,\"kind\":\"link\",\"link\":{" CABLE ",\"state\":\"lost\",\"reason\":\"admin\"}}"

	(void)state;
	wants(make(deaths, "[]", "[]"), "to_do", "[]");
	wants(make(deaths, "[]", "[]"), "cables", "[]");
	wants(make(deaths, "[]", "[]"), "nodes",
	      "[{\"node\":[1,0],\"name\":\"b\",\"times\":3,\"dead_ms\":30000.0,\"dead\":false}]");
	wants(make(dead, "[]", "[]"), "cables", "[]");
	wants(make(dead, "[]", "[]"), "nodes",
	      "[{\"node\":[1,0],\"name\":\"b\",\"times\":1,\"dead_ms\":100000.0,\"dead\":true}]");
	wants(make("[" AT(10, "info", "over: " DEAD) "]", "[]", "[]"), "nodes",
	      "[{\"node\":[1,0],\"name\":\"b\",\"times\":0,\"dead_ms\":0.0,\"dead\":false}]");
	wants(make("[" DOWN "]", "[]", "[]"), "cables", "[]");
	wants(make("[" LOSS(10, 20) "]", "[]", "[]"), "nodes", "[]");
}

/* A cable has one entry, whichever end is at fault, and the greater task counts. */
static void cable_has_one_entry_for_both_ends(void **state)
{
	(void)state;
	wants(make("[" LOSS(10, 20) "," LOSS(30, 40) "," LOSS(50, 60) "]",
		   "[" RECEIVER(OTHER_END, "warn", "false", 7, 1e-9) "]", "[]"), "to_do",
	      "[{\"link\":{" CABLE "},\"what\":\"replace\",\"why\":[\"lost 3 times (carrier)\","
	      "\"1,0:-x receives badly: bit error rate 1.0e-09\"]}]");
}

/* The worst receiver comes first; unknown receivers are not shown as "none". */
static void worst_receiver_comes_first(void **state)
{
	json_t *r = make("[]", "[" RECEIVER(CABLE, "warn", "false", 9, 1e-7) ","
			 RECEIVER(OTHER_END, "fail", "false", 2, 1e-8) "]", "[]");
	json_t *errors = json_object_get(r, "errors");

	(void)state;
	assert_int_equal(json_array_size(errors), 2);
	assert_string_equal(json_text(json_array_get(errors, 0), "port"), "-x");
	assert_string_equal(json_text(json_array_get(errors, 1), "port"), "+x");
	json_decref(r);
	wants(make("[]", NULL, "[]"), "errors", "null");
}

/* Other warnings are kept, the last 100 of them; cables are in the outages. */
static void last_100_other_warnings_are_kept(void **state)
{
	char *events = calloc(102, 100), *at = events;
	json_t *r;

	(void)state;
	for (int i = 0; i < 101; i++)
		at += sprintf(at, "%s" EVENT("warning", "flap", "%d"), i ? "," : "[", i);
	strcpy(at, "]");
	r = make(events, "[]", "[]");
	free(events);
	assert_int_equal(json_array_size(json_object_get(r, "warnings")), 100);
	assert_int_equal(json_count(r, "warnings_more"), 1);
	assert_string_equal(json_text(json_array_get(json_object_get(r, "warnings"), 0), "text"), "1");
	json_decref(r);
	r = make("[" LOSS(1, 2) "," EVENT("info", "node", "joins") "," EVENT("error", "node", "dead") "]", "[]", "[]");
	assert_int_equal(json_array_size(json_object_get(r, "warnings")), 1);
	assert_string_equal(json_text(json_array_get(json_object_get(r, "warnings"), 0), "text"), "dead");
	json_decref(r);
}

/* --- the page -------------------------------------------------------------------------- */

static char *page_of(json_t *report)
{
	char *page = NULL;
	size_t size;
	FILE *f = open_memstream(&page, &size);

	report_html(f, report);
	fclose(f);
	json_decref(report);
	return page;
}

static void has(const char *page, const char *text)
{
	if (!strstr(page, text))
		fail_msg("'%s' is not in %s", text, page);
}

static void lacks(const char *page, const char *text)
{
	if (strstr(page, text))
		fail_msg("'%s' is in %s", text, page);
}

/* All that is between < and > is a tag of the page, and each that opens is closed, in order. */
static void is_nested(const char *page)
{
	const char *open[32];
	size_t n = 0;

	for (const char *p = strchr(page, '<'); p; p = strchr(p, '<')) {
		const char *end = strchr(p, '>');

		assert_non_null(end);
		assert_null(memchr(p + 1, '<', (size_t)(end - p - 1)));
		if (p[1] == '/') {
			assert_true(n > 0);
			n--;
			assert_memory_equal(open[n], p + 2, (size_t)(end - p - 2));
		} else if (p[1] != '!' && end[-1] != '/') {
			assert_true(n < 32);
			open[n++] = p + 1;
		}
		p = end;
	}
	assert_int_equal(n, 0);
}

static void hostile_texts_are_escaped_in_page(void **state)
{
	char *page = page_of(make("[" EVENT("error", "node", "</td><script>x\\u0007\\u001b[31m") "]",
				  "[" RECEIVER("\"node\":[0,0],\"port\":\"+x\",\"name\":\"<i>\\\"'\",\"peer\":null",
					       "fail", "false", 7, 1e-6) "]",
				  "[{\"node\":[0,0],\"name\":\"n\",\"ports\":[\"+x\"],\"since\":7,\"until\":null,"
				  "\"uid\":0,\"by\":\"n\",\"reason\":\"<img src=x onerror=alert(1)> & \\u202e more\"}]"));

	(void)state;
	is_nested(page);
	lacks(page, "<script");
	lacks(page, "<img");
	lacks(page, "<i>");
	lacks(page, "\x1b");
	lacks(page, "\x07");
	has(page, "<title>Fabric f&lt;&amp;&gt;,");
	has(page, "&lt;/td&gt;&lt;script&gt;x\xef\xbf\xbd\xef\xbf\xbd[31m");
	has(page, "&lt;i&gt;&quot;&#39;");
	has(page, "&lt;img src=x onerror=alert(1)&gt; &amp; ");
	has(page, ">root(0)@n</td>");
	free(page);
}

/* A long text is not truncated, and so never within a character. */
static void long_text_is_not_cut(void **state)
{
	char events[4096] = "[{\"time\":1,\"level\":\"error\",\"kind\":\"node\",\"text\":\"", *page;

	(void)state;
	for (int i = 0; i < 900; i++)
		strcat(events, "\xc3\xa4");
	strcat(events, "end\"}]");
	page = page_of(make(events, "[]", "[]"));
	has(page, "\xc3\xa4" "end</td>");
	is_nested(page);
	free(page);
}

static void outages_are_drawn_over_the_day(void **state)
{
	char *page = page_of(make("[" LOSS(8640, 17280) "," LINK(43200, "lost") "]", "[]", "[]"));

	(void)state;
	is_nested(page);
	has(page, "<rect x=\"100.0\" width=\"100.0\" height=\"10\"/>");
	/* No root has seen how this one ended, and its length is not known. */
	has(page, "<rect x=\"500.0\" width=\"3.0\" height=\"10\"/>");
	has(page, "not seen");
	free(page);
}

/* The list of outages excuses a cable that was lost with a node, as the list of cables does. */
static void page_excuses_cable_of_dead_node(void **state)
{
	char *page = page_of(make("[" DEATH(10, 20) "]", "[]", "[]"));

	(void)state;
	has(page, "carrier (1,0 dead)");
	free(page);
}

static void page_lists_dead_nodes(void **state)
{
	char *page = page_of(make("[" DEATH(10, 20) "," DEATH(30, 40) "]", "[]", "[]"));

	(void)state;
	is_nested(page);
	has(page, ">Nodes that were dead<");
	has(page, ">1,0 (b)</td><td data-t=\"Times\" class=\"n\">2</td><td data-t=\"For\" class=\"n\">20.0 s</td>"
	    "<td data-t=\"State\">no longer dead</td>");
	free(page);
	page = page_of(make(dead, "[]", "[]"));
	has(page, ">still dead: repair or start it</td>");
	free(page);
	page = page_of(make("[" AT(10, "info", "over: " DEAD) "]", "[]", "[]"));
	has(page, ">0</td><td data-t=\"For\" class=\"n\">-</td><td data-t=\"State\">no longer dead</td>");
	free(page);
	page = page_of(make("[" LOSS(10, 20) "]", "[]", "[]"));
	lacks(page, "Nodes that were dead");
	free(page);
}

#define BADLY(node, ber) EVENT("warning", "errors", node " receives badly from 1,0:-x ('b'): 9 errors in 1e6 bits, " \
	"bit error rate " ber ": replace the cable")

/* Return: the texts of the receivers that were judged bad before, one a line. */
static const char *judged(const char *events, const char *degraded)
{
	static char text[1024];
	json_t *report = make(events, degraded, "[]"), *v;
	size_t i, n = 0;

	*text = '\0';
	json_array_foreach(json_object_get(report, "judged"), i, v)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%.27s\n", json_text(v, "text"));
	json_decref(report);
	return text;
}

/* A receiver that was judged bad is not forgotten when its link is included and judged anew. */
static void receiver_that_was_judged_bad_is_in_report(void **state)
{
	static const char twice[] = "[" BADLY("0,0:+x ('a')", "1.0e-06") "," BADLY("0,0:+x ('a')", "2.0e-06") ","
		BADLY("0,0:+y ('a')", "3.0e-06") "," EVENT("info", "errors", "over: 0,0:+x ('a') receives from 1,0:-x ('b'): "
		"the link was included and is judged anew") ","
		EVENT("warning", "errors", "0,0:-x ('a') is taken out of service: replace its cable") ","
		EVENT("warning", "node", "0,0:-x ('a') receives badly") "]";

	(void)state;
	assert_string_equal(judged(twice, "[]"),
			    "0,0:+x ('a') receives badly\n"
			    "0,0:+y ('a') receives badly\n");
	/* One that is bad now is in the table of receivers. */
	assert_string_equal(judged(twice, "[" RECEIVER(CABLE, "fail", "false", 9, 2e-6) "]"),
			    "0,0:+y ('a') receives badly\n");
	assert_string_equal(judged("[]", NULL), "");
}

/* Return: true if "links --errors" calls a receiver good that has received no error, whose rate is below @ber_max. */
static bool is_good(const char *fail_ber, const char *ber_max)
{
	char item[512], out[4096];
	FILE *to = tmpfile();
	int kept = dup(1);
	json_t *list;
	size_t n;

	snprintf(item, sizeof(item), "[{" CABLE ",\"errors\":0,\"lost\":0,\"bits\":9000000,\"ber_max\":%s,"
		 "\"quality\":{\"level\":\"good\"%s}}]", ber_max, fail_ber);
	list = parse(item);
	assert_non_null(to);
	fflush(stdout);
	dup2(fileno(to), 1);
	errors_show(list);
	fflush(stdout);
	dup2(kept, 1);
	close(kept);
	rewind(to);
	n = fread(out, 1, sizeof(out) - 1, to);
	out[n] = '\0';
	fclose(to);
	json_decref(list);
	assert_non_null(strstr(out, "0,0:+x"));
	return strstr(out, " good ");
}

/* The limit is that of the manager, or the default one if a manager does not send its own. */
static void receiver_is_good_by_limit_of_its_manager(void **state)
{
	(void)state;
	assert_true(is_good(",\"fail_ber\":1e-6", "5e-7"));
	assert_false(is_good(",\"fail_ber\":1e-7", "5e-7"));
	assert_false(is_good(",\"fail_ber\":1e-9", "5e-8"));
	assert_true(is_good("", "5e-8"));
	assert_false(is_good("", "5e-7"));
	assert_true(is_good(",\"fail_ber\":0", "5e-8"));
}

static void page_of_fine_day_says_so(void **state)
{
	char *page = page_of(make("[]", "[]", "[]"));

	(void)state;
	is_nested(page);
	has(page, "No cable is to be mended or replaced.");
	has(page, "No cable was lost.");
	has(page, "None has too many.");
	free(page);
	page = page_of(make("[]", NULL, "[]"));
	has(page, "The root does not report them.");
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bad_cable_is_to_be_replaced_or_cleaned),
		cmocka_unit_test(loss_by_dead_node_is_no_fault_of_cable),
		cmocka_unit_test(cable_has_one_entry_for_both_ends),
		cmocka_unit_test(worst_receiver_comes_first),
		cmocka_unit_test(last_100_other_warnings_are_kept),
		cmocka_unit_test(hostile_texts_are_escaped_in_page),
		cmocka_unit_test(long_text_is_not_cut),
		cmocka_unit_test(outages_are_drawn_over_the_day),
		cmocka_unit_test(page_excuses_cable_of_dead_node),
		cmocka_unit_test(page_lists_dead_nodes),
		cmocka_unit_test(receiver_that_was_judged_bad_is_in_report),
		cmocka_unit_test(receiver_is_good_by_limit_of_its_manager),
		cmocka_unit_test(page_of_fine_day_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
