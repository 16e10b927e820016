// SPDX-License-Identifier: GPL-2.0-only
/*
 * A candidate's keeper: whose an event is, what it asks the root for, what it takes of the answer,
 * and when it asks again. The question and the state of the fabric are the test's; the history is
 * the real one, in a directory of the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/answer.h"
#include "daemon/history.h"
#include "daemon/keeper.h"
#include "daemon/query.h"
#include "tests/unit/clock.h"

static char dir[64];
static struct fabricd d;
static struct keeper *k;
static struct loop_timer *poll_timer;
static bool (*until)(void);

/* --- the rest of the daemon ------------------------------------------------------------ */

static bool leads, has_root;
static json_t *asked;			/* the last question; NULL: none is under way */
static unsigned int asks;
static const struct query_done *done;

bool fm_is_root(const struct fm *fm)
{
	(void)fm;
	return leads;
}

void fm_root_status(const struct fm *fm, struct fm_root_status *r)
{
	(void)fm;
	r->reachable = has_root;
}

json_t *event_json(const struct fabricd *of, const struct event_record *r)
{
	assert_ptr_equal(of, &d);
	return json_pack("{s:I, s:s}", "seq", (json_int_t)r->seq, "text", r->text);
}

void fabricd_event(struct fabricd *of, double time, const char *node, enum fm_level level,
		   const char *kind, const char *text)
{
	(void)of;
	(void)time;
	(void)node;
	(void)level;
	(void)kind;
	(void)text;	/* that the disk is slow, if much time passes meanwhile */
}

struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *cmd,
		      const struct svc_user *user, unsigned int timeout_ms,
		      const struct query_done *how, void *arg)
{
	(void)q;
	(void)node;
	(void)timeout_ms;
	assert_int_equal(to, SVC_TO_ROOT);
	assert_true(user->privileged);
	assert_ptr_equal(arg, k);
	assert_null(asked);
	asked = json_deep_copy(cmd);
	asks++;
	done = how;
	return (struct ask *)asked;
}

void query_cancel(struct ask *ask)
{
	assert_ptr_equal(ask, asked);
	json_decref(asked);
	asked = NULL;
}

static bool queue_full;

bool __real_history_room(struct history *h);
bool __wrap_history_room(struct history *h);

bool __wrap_history_room(struct history *h)
{
	return !queue_full && __real_history_room(h);
}

/* --- helpers --------------------------------------------------------------------------- */

static void on_poll(void *arg)
{
	(void)arg;
	if (until())
		loop_stop(d.loop);
	else
		loop_timer_set(poll_timer, loop_now());
}

static void wait_until(bool (*is)(void))
{
	until = is;
	loop_timer_set(poll_timer, loop_now());
	assert_int_equal(loop_run(d.loop), 0);
}

static unsigned int turns;

static bool has_turned(void)
{
	usleep(100);
	return turns++ >= 20;
}

/* Lets @ns pass, and everything happen that is due then. */
static void passes(uint64_t ns)
{
	clock_move(ns);
	turns = 0;
	wait_until(has_turned);
}

static bool is_loaded(void)
{
	struct history_stats s;

	history_stats(keeper_history(k), &s);
	usleep(100);
	return s.loaded;
}

static uint64_t wanted;

static bool has_events(void)
{
	struct history_stats s;

	history_stats(keeper_history(k), &s);
	usleep(100);
	return s.events >= wanted;
}

/* Return: the number of events in the history, once it has @n or more. */
static uint64_t events(uint64_t n)
{
	struct history_stats s;

	wanted = n;
	wait_until(has_events);
	passes(0);
	history_stats(keeper_history(k), &s);
	return s.events;
}

static void begin(void)
{
	strcpy(dir, "/tmp/torus-keeper-XXXXXX");
	assert_non_null(mkdtemp(dir));
	memset(&d, 0, sizeof(d));
	clock_stop();
	d.loop = loop_new();
	d.events = events_new();
	d.guid = 7;
	d.fm = (struct fm *)&d;
	d.query = (struct query *)&d;
	d.config.history = true;
	d.config.history_bytes = HISTORY_BYTES_MIN;
	strcpy(d.config.fm.fabric, "lab");
	strcpy(d.config.fm.name, "n1");
	poll_timer = loop_timer_new(d.loop, on_poll, NULL);
	leads = has_root = queue_full = false;
	asks = 0;
	k = keeper_new(&d);
	assert_non_null(k);
	keeper_open(k, dir);
	assert_non_null(keeper_history(k));
	wait_until(is_loaded);
}

static int end(void **state)
{
	char command[100];

	(void)state;
	clock_go();
	keeper_free(k);
	json_decref(asked);
	asked = NULL;
	loop_timer_free(poll_timer);
	events_free(d.events);
	loop_free(d.loop);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* The root can be reached, and is asked. */
static void asks_root(void)
{
	has_root = true;
	passes(200 * MS);
	assert_int_equal(asks, 1);
	assert_non_null(asked);
}

/* The question ends; the root's reply, if any, comes before. */
static void ends(const char *reply)
{
	json_decref(asked);
	asked = NULL;
	if (reply)
		done->reply(k, reply);
	done->end(k);
}

/* Expects the next question after @ns, and not a millisecond before. */
static void asked_after(uint64_t ns)
{
	unsigned int before = asks;

	passes(ns - MS);
	assert_int_equal(asks, before);
	passes(MS);
	assert_int_equal(asks, before + 1);
}

static const char *said(const char *key)
{
	return json_string_value(json_object_get(asked, key));
}

#define EVENT(seq, level) "{\"seq\":" #seq ",\"log\":\"00000000000000ab\",\"level\":\"" level \
	"\",\"kind\":\"link\",\"time\":" #seq ".5,\"text\":\"x\"}"
#define REPLY(events, rest) "{\"ok\":true,\"data\":{\"events\":[" events "]," rest "}}"
#define TWO EVENT(1, "info") "," EVENT(2, "warning")

static void add_event(uint64_t seq, enum fm_level level)
{
	static char text[1000];
	struct event_record e = { .seq = seq, .time = (double)seq, .level = level, .kind = "link",
				  .text = text };

	memset(text, 'y', sizeof(text) - 1);

	keeper_event(k, &e);
}

static char *found;

static void on_found(void *arg, const struct history_found *f)
{
	(void)arg;
	free(found);
	found = strdup(f->events);
}

static bool is_found(void)
{
	usleep(100);
	return found;
}

/* Return: whether event @seq is in the history as one of @whose. */
static bool has_as(const char *whose, unsigned int seq)
{
	struct history_filter f = { .to = INT64_MAX, .level = FM_DEBUG, .room = 1 << 20 };
	char part[32];
	bool has;

	snprintf(part, sizeof(part), "\"seq\":%u,", seq);
	strcpy(f.whose, whose);
	assert_non_null(history_ask(keeper_history(k), &f, on_found, NULL));
	wait_until(is_found);
	has = strstr(found, part);
	free(found);
	found = NULL;
	return has;
}

/* --- tests ----------------------------------------------------------------------------- */

/* Without a root, errors and warnings are the fabric's; else only those of a node that leads. */
static void whose(void **state)
{
	static const struct { bool leads, root; enum fm_level level; char whose[2]; } row[] = {
		{ true, false, FM_INFO, "r" }, { true, true, FM_ERROR, "r" },
		{ false, false, FM_ERROR, "r" }, { false, false, FM_WARNING, "r" },
		{ false, false, FM_INFO, "l" }, { false, true, FM_ERROR, "l" },
		{ false, true, FM_INFO, "l" },
	};

	(void)state;
	begin();
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		leads = row[i].leads;
		has_root = row[i].root;
		add_event(i + 1, row[i].level);
		assert_true(has_as(row[i].whose, i + 1));
		assert_false(has_as(row[i].whose[0] == 'r' ? "lp" : "rp", i + 1));
	}
}

/* Only a candidate with a root that it can reach asks, and not while it is asking. */
static void whom_it_asks(void **state)
{
	(void)state;
	begin();
	passes(200 * MS);
	leads = has_root = true;
	passes(20 * SEC);
	leads = false;
	d.query = NULL;
	passes(20 * SEC);
	assert_int_equal(asks, 0);
	d.query = (struct query *)&d;
	passes(10 * SEC);
	assert_int_equal(asks, 1);
	assert_string_equal(said("cmd"), "history");
	assert_true(json_is_true(json_object_get(asked, "pull")));
	assert_string_equal(said("have"), "");
	assert_null(said("after"));
	assert_null(json_object_get(asked, "from"));
	passes(30 * SEC);
	keeper_changed(k);
	passes(30 * SEC);
	assert_int_equal(asks, 1);
	ends(NULL);
	asked_after(10 * SEC);
}

/* The table has changed: the root is asked soon, however often that is said. */
static void after_a_change(void **state)
{
	(void)state;
	begin();
	asks_root();
	ends(REPLY("", "\"after\":\"a:1:2\""));
	passes(SEC);
	keeper_changed(k);
	passes(150 * MS);
	keeper_changed(k);
	asked_after(50 * MS);
}

/* An event that comes twice is kept once; the next question goes on where the answer ended. */
static void once(void **state)
{
	(void)state;
	begin();
	asks_root();
	ends(REPLY(TWO, "\"after\":\"a:1:2\",\"more\":true"));
	assert_int_equal(events(2), 2);
	assert_true(has_as("p", 1) && has_as("p", 2));
	asked_after(20 * MS);
	assert_string_equal(said("after"), "a:1:2");
	assert_string_equal(said("have"), "00000000000000ab=2");
	ends(REPLY(TWO "," EVENT(3, "error"), "\"after\":\"a:1:3\""));
	assert_int_equal(events(3), 3);
	asked_after(10 * SEC);
	assert_string_equal(said("after"), "a:1:3");
}

/* Items that are not events are left out, and the others are taken. */
static void malformed(void **state)
{
	static const char *const bad[] = {
		"{}", "7", "{\"seq\":9,\"log\":\"zz\",\"level\":\"info\",\"kind\":\"link\",\"time\":1}",
		"{\"seq\":9,\"log\":\"ab\",\"level\":\"loud\",\"kind\":\"link\",\"time\":1}",
		"{\"seq\":9,\"log\":\"ab\",\"kind\":\"link\",\"time\":1}",
		"{\"seq\":9,\"log\":\"ab\",\"level\":\"info\",\"time\":1}",
		"{\"seq\":9,\"level\":\"info\",\"kind\":\"link\",\"time\":1}",
		"{\"seq\":9,\"log\":\"ab\",\"level\":\"info\",\"kind\":\"link\",\"time\":-1}",
		"{\"seq\":9,\"log\":\"ab\",\"level\":\"info\",\"kind\":\"link\",\"time\":1e300}",
	};
	char reply[1024];

	(void)state;
	begin();
	asks_root();
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(reply, sizeof(reply), "{\"ok\":true,\"data\":{\"events\":[%s,"
			 "{\"seq\":%u,\"log\":\"ab\",\"level\":\"info\",\"kind\":\"link\",\"time\":0}],"
			 "\"after\":\"a:1:1\"}}", bad[i], i + 1);
		ends(reply);
		assert_int_equal(events(i + 1), i + 1);
		asked_after(10 * SEC);
	}
}

/*
 * The position belongs to a root with a history. A node that does not lead, that has none or that
 * has lost the position is asked from the beginning; after a refusal the position stays.
 */
static void begins_anew(void **state)
{
	static const struct { const char *reply; uint64_t again; bool stays; } row[] = {
		{ "{\"ok\":true,\"rootless\":{},\"data\":{\"after\":\"b:1:1\"}}", 10 * SEC, false },
		{ REPLY("", "\"more\":true"), 10 * SEC, false },
		{ REPLY("", "\"after\":\"b:1:1\",\"lost\":true"), 20 * MS, false },
		{ "{\"ok\":false,\"code\":\"usage\"}", 60 * SEC, true },
		{ "{\"ok\":false,\"code\":\"busy\"}", 10 * SEC, true },
		{ "nonsense", 10 * SEC, true },
	};

	(void)state;
	begin();
	asks_root();
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		ends(REPLY("", "\"after\":\"a:1:2\""));
		asked_after(10 * SEC);
		assert_string_equal(said("after"), "a:1:2");
		ends(row[i].reply);
		asked_after(row[i].again);
		if (row[i].stays)
			assert_string_equal(said("after"), "a:1:2");
		else
			assert_null(said("after"));
	}
}

/* A full history asks only for events that are not older than its own. */
static void full(void **state)
{
	struct history_stats s = { 0 };
	uint64_t n = 0;

	(void)state;
	begin();
	leads = true;
	while (s.bytes < HISTORY_BYTES_MIN / 10 * 9) {
		for (unsigned int i = 0; i < 20; i++)
			add_event(1000 + n++, FM_WARNING);
		assert_int_equal(events(n), n);
		history_stats(keeper_history(k), &s);
	}
	assert_int_equal(s.since, 1000 * 1000);
	leads = false;
	asks_root();
	assert_int_equal(json_integer_value(json_object_get(asked, "from")), s.since);
}

/* While many lines wait for the disk, the root is not asked for more. */
static void no_room(void **state)
{
	(void)state;
	begin();
	has_root = true;
	queue_full = true;
	passes(200 * MS);
	passes(10 * SEC);
	assert_int_equal(asks, 0);
	queue_full = false;
	asked_after(10 * SEC);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_teardown(whose, end),
		cmocka_unit_test_teardown(whom_it_asks, end),
		cmocka_unit_test_teardown(after_a_change, end),
		cmocka_unit_test_teardown(once, end),
		cmocka_unit_test_teardown(malformed, end),
		cmocka_unit_test_teardown(begins_anew, end),
		cmocka_unit_test_teardown(full, end),
		cmocka_unit_test_teardown(no_room, end),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
