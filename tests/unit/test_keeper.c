// SPDX-License-Identifier: GPL-2.0-only
/*
 * A candidate's keeper: which node's log an event belongs to, its questions to the root, what it
 * takes of the answer, and when it asks again. The question and the state of the fabric are the
 * test's; the history is the real one, in a directory of the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
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
static enum fm_level reported_level;	/* level of the last problem of the history */
static char reported[HISTORY_TEXT_MAX + 8];
static bool slow;			/* the keeper reported that writing takes long */
static atomic_bool hangs, in_sync;	/* state of the disk */

#define OWN 3
static struct fm_candidate_status candidate[4];
static uint32_t ncandidates, asked_node;
static struct fm_entry entry;

bool fm_candidate(const struct fm *fm, uint32_t *i, struct fm_candidate_status *out)
{
	(void)fm;
	if (*i >= ncandidates)
		return false;
	*out = candidate[(*i)++];
	return true;
}

uint32_t fm_own(const struct fm *fm)
{
	(void)fm;
	return OWN;
}

const struct fm_entry *fm_node(const struct fm *fm, uint32_t node)
{
	(void)fm;
	(void)node;
	return &entry;
}

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
	if (strcmp(kind, "history"))
		return;
	if (strstr(text, "takes more than")) {
		slow = !strncmp(text, "writing below ", 14);
		return;		/* this also comes if much time passes meanwhile */
	}
	reported_level = level;
	snprintf(reported, sizeof(reported), "%s", text);
}

struct ask *query_ask(struct query *q, enum svc_to to, uint32_t node, json_t *cmd,
		      const struct svc_user *user, unsigned int timeout_ms,
		      const struct query_done *how, void *arg)
{
	(void)q;
	(void)timeout_ms;
	assert_int_equal(to, leads ? SVC_TO_NODE : SVC_TO_ROOT);
	asked_node = node;
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

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

int __wrap_fdatasync(int fd)
{
	in_sync = hangs;
	while (hangs)
		usleep(100);
	in_sync = false;
	return __real_fdatasync(fd);
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

/* Lets @ns pass, and runs everything that is due then. */
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
	ncandidates = 0;
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
	hangs = false;
	keeper_free(k);
	json_decref(asked);
	asked = NULL;
	loop_timer_free(poll_timer);
	events_free(d.events);
	loop_free(d.loop);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* Lets the root be reached and asked. */
static void asks_root(void)
{
	has_root = true;
	passes(200 * MS);
	assert_int_equal(asks, 1);
	assert_non_null(asked);
}

/* Ends the question, after the root's reply, if any. */
static void ends(const char *reply)
{
	json_decref(asked);
	asked = NULL;
	if (reply)
		done->reply(k, reply);
	done->end(k);
}

/* Checks that the next question comes after @ns, and not a millisecond before. */
static void asked_after(uint64_t ns)
{
	unsigned int before = asks;

	passes(ns - MS);
	assert_int_equal(asks, before);
	passes(MS);
	assert_int_equal(asks, before + 1);
}

static const char *asked_for(const char *key)
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
static void origin_of_event_depends_on_root(void **state)
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

/* Only a candidate that can reach its root asks for events, and asks one question at a time. */
static void only_candidate_with_root_asks(void **state)
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
	assert_string_equal(asked_for("cmd"), "history");
	assert_true(json_is_true(json_object_get(asked, "pull")));
	assert_string_equal(asked_for("have"), "");
	assert_null(asked_for("after"));
	assert_null(json_object_get(asked, "from"));
	passes(30 * SEC);
	keeper_changed(k);
	passes(30 * SEC);
	assert_int_equal(asks, 1);
	ends(NULL);
	asked_after(10 * SEC);
}

/*
 * Ends the question that the root has asked a candidate. @answer: its answer; NULL: it did not
 * answer
 */
static void source_ends(uint32_t node, const char *answer)
{
	json_t *data = answer ? json_loads(answer, 0, NULL) : NULL;

	assert_non_null(asked);
	assert_int_equal(asked_node, node);
	json_decref(asked);
	asked = NULL;
	if (data)
		done->item(k, node, data);
	json_decref(data);
	done->end(k);
}

#define SOURCE(list, after, more) "{\"events\":[" list "],\"after\":\"" after "\",\"more\":" more ",\"lost\":false}"
#define EVENT_OF(log, seq) "{\"log\":\"" log "\",\"seq\":" #seq ",\"time\":5,\"level\":\"error\",\"kind\":\"link\"}"

/* Candidates 1 and 2 answer, 0 does not, and 3 is this node. */
static void leads_candidates(void)
{
	begin();
	for (uint32_t i = 0; i < 4; i++)
		candidate[i] = (struct fm_candidate_status) { .node = i, .answers = i > 0 };
	ncandidates = 4;
	entry.epoch = 1;
	passes(200 * MS);
	leads = true;
	keeper_changed(k);
	passes(5 * MS);
}

static void new_root_asks_each_candidate_for_what_it_misses(void **state)
{
	(void)state;
	leads_candidates();
	assert_int_equal(asks, 1);
	assert_string_equal(asked_for("cmd"), "history");
	assert_true(json_is_true(json_object_get(asked, "pull")));
	source_ends(1, SOURCE(EVENT_OF("a", 1) "," EVENT_OF("a", 2), "x:1:2", "true"));
	assert_int_equal(events(2), 2);
	passes(200 * MS);
	assert_string_equal(asked_for("after"), "x:1:2");
	source_ends(1, SOURCE(EVENT_OF("a", 3), "x:1:3", "false"));
	passes(20 * MS);
	assert_null(asked_for("after"));
	source_ends(2, SOURCE(EVENT_OF("a", 3) "," EVENT_OF("b", 7), "y:1:3", "false"));
	assert_int_equal(events(4), 4);
	/* All have been asked. */
	passes(100 * SEC);
	assert_null(asked);
	assert_int_equal(asks, 3);
	/* One comes, and one was restarted. */
	candidate[0].answers = true;
	passes(10 * SEC);
	source_ends(0, SOURCE("", "z:1:1", "false"));
	passes(20 * MS);
	source_ends(1, SOURCE("", "x:1:3", "false"));
	passes(20 * MS);
	source_ends(2, SOURCE("", "y:1:3", "false"));
	passes(100 * SEC);
	assert_int_equal(asks, 6);
	entry.epoch++;
	passes(10 * SEC);
	source_ends(0, SOURCE("", "z:1:1", "false"));
	passes(20 * MS);
	assert_non_null(asked);
	leads = false;
}

/* A candidate of an earlier release, or whose disk hangs, has no answer. */
static void candidate_without_answer_is_asked_again_later(void **state)
{
	(void)state;
	leads_candidates();
	source_ends(1, NULL);
	passes(20 * MS);
	source_ends(2, SOURCE("", "y:1:3", "false"));
	passes(20 * MS);
	passes(50 * SEC);
	assert_null(asked);
	passes(10 * SEC);
	source_ends(1, "{}");
	passes(20 * MS);
	source_ends(2, SOURCE("", "y:1:3", "false"));
	passes(20 * MS);
	passes(60 * SEC);
	source_ends(1, SOURCE("", "x:1:3", "false"));
	passes(20 * MS);
	source_ends(2, SOURCE("", "y:1:3", "false"));
	passes(100 * SEC);
	assert_null(asked);
	leads = false;
}

/*
 * A candidate's manager starts again while its history is copied, or deletes a file of it. Later its
 * history is closed.
 */
static void candidate_that_lost_the_position_is_asked_from_the_beginning(void **state)
{
	static const char *const lost =
		"{\"events\":[],\"after\":\"n:0:0\",\"more\":false,\"lost\":true}";

	(void)state;
	leads_candidates();
	source_ends(1, SOURCE(EVENT_OF("a", 1), "x:1:2", "true"));
	passes(200 * MS);
	assert_string_equal(asked_for("after"), "x:1:2");
	source_ends(1, lost);
	passes(200 * MS);
	assert_null(asked_for("after"));
	source_ends(1, SOURCE(EVENT_OF("a", 2), "n:1:2", "false"));
	assert_int_equal(events(2), 2);
	passes(20 * MS);
	source_ends(2, lost);
	passes(20 * MS);
	assert_null(asked);
	asked_after(60 * SEC);
	leads = false;
}

/* The position in a candidate's history has no meaning for the next root. */
static void former_root_asks_next_root_from_the_beginning(void **state)
{
	(void)state;
	leads_candidates();
	source_ends(1, SOURCE("", "x:1:2", "true"));
	leads = false;
	has_root = true;
	passes(SEC);
	assert_non_null(asked);
	assert_null(asked_for("after"));
}

/* The fabric has changed: the root is asked at once, however often that is said, and soon again. */
static void change_of_fabric_asks_root_at_once(void **state)
{
	(void)state;
	begin();
	asks_root();
	ends(REPLY("", "\"after\":\"a:1:2\""));
	passes(SEC);
	keeper_changed(k);
	passes(2 * MS);
	keeper_changed(k);
	asked_after(3 * MS);
	keeper_changed(k);	/* changes while the root is asked */
	ends(REPLY("", "\"after\":\"a:1:2\""));
	asked_after(5 * MS);
	ends(REPLY("", "\"after\":\"a:1:2\""));
	asked_after(200 * MS);
	ends(REPLY("", "\"after\":\"a:1:2\""));
	asked_after(10 * SEC);
	keeper_changed(k);	/* the root that is asked has no history */
	ends("{\"ok\":false,\"code\":\"usage\"}");
	asked_after(200 * MS);
}

/* Several orders follow each other: each causes a question, until there are too many. */
static void each_of_several_changes_asks_up_to_limit(void **state)
{
	(void)state;
	begin();
	asks_root();
	ends(REPLY("", "\"after\":\"a:1:2\""));
	passes(SEC);
	for (unsigned int n = 0; n < 10; n++) {
		keeper_changed(k);
		asked_after(5 * MS);
		ends(REPLY("", "\"after\":\"a:1:2\""));
	}
	keeper_changed(k);
	asked_after(155 * MS);
	for (unsigned int n = 0; n < 5; n++) {
		ends(REPLY("", "\"after\":\"a:1:2\""));
		keeper_changed(k);
		asked_after(200 * MS);
	}
	ends(REPLY("", "\"after\":\"a:1:2\""));
	asked_after(200 * MS);
	ends(REPLY("", "\"after\":\"a:1:2\""));
	passes(SEC);
	for (unsigned int n = 0; n < 4; n++) {
		keeper_changed(k);
		asked_after(5 * MS);
		ends(REPLY("", "\"after\":\"a:1:2\""));
	}
}

/* A change that led to no answer does not delay the question after the next one. */
static void change_without_answer_does_not_delay_next_question(void **state)
{
	(void)state;
	begin();
	asks_root();
	ends(REPLY("", "\"after\":\"a:1:2\""));
	passes(SEC);
	keeper_changed(k);
	asked_after(5 * MS);
	ends(NULL);		/* the root is gone */
	passes(SEC);
	keeper_changed(k);
	asked_after(5 * MS);
	ends(REPLY("", "\"after\":\"a:1:2\""));
	asked_after(200 * MS);
	ends(REPLY("", "\"after\":\"a:1:2\""));
	leads = true;
	keeper_changed(k);
	passes(SEC);
	leads = false;
	keeper_changed(k);
	asked_after(5 * MS);
}

/* An event that comes twice is kept once; the next question continues where the answer ended. */
static void doubled_event_is_kept_once(void **state)
{
	(void)state;
	begin();
	asks_root();
	ends(REPLY(TWO, "\"after\":\"a:1:2\",\"more\":true"));
	assert_int_equal(events(2), 2);
	assert_true(has_as("p", 1) && has_as("p", 2));
	asked_after(20 * MS);
	assert_string_equal(asked_for("after"), "a:1:2");
	assert_string_equal(asked_for("have"), "00000000000000ab=2");
	ends(REPLY(TWO "," EVENT(3, "error"), "\"after\":\"a:1:3\""));
	assert_int_equal(events(3), 3);
	asked_after(10 * SEC);
	assert_string_equal(asked_for("after"), "a:1:3");
}

/* Items that are not events are left out, and the others are taken. */
static void malformed_events_are_left_out(void **state)
{
	static const char *const bad[] = {
		"{}", "7",
		"{\"seq\":9,\"log\":\"zz\",\"level\":\"info\",\"kind\":\"link\",\"time\":1}",
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
static void lost_position_begins_anew(void **state)
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
		assert_string_equal(asked_for("after"), "a:1:2");
		ends(row[i].reply);
		asked_after(row[i].again);
		if (row[i].stays)
			assert_string_equal(asked_for("after"), "a:1:2");
		else
			assert_null(asked_for("after"));
	}
}

/* A candidate with a full history asks only for events that are not older than its own. */
static void full_history_asks_only_for_newer_events(void **state)
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
static void root_is_not_asked_while_queue_is_full(void **state)
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

/* A record has the node that noticed the event, the run of its manager and the boot of its host. */
static void record_names_node_run_and_boot(void **state)
{
	static const struct { const char *given, *boot; } row[] = {
		{ "01234567", "01234567" }, { "fedcba9876543210fedcba9876543210", "fedcba98" },
		{ "0123456", NULL }, { "0123456g", NULL }, { NULL, NULL },
	};
	static char x[] = "x";
	struct event_record e = { .seq = 5, .text = x };
	char log[17] = "", *end_of;

	(void)state;
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const char *boot;
		json_t *j;

		if (row[i].given)
			setenv("TORUS_BOOT", row[i].given, 1);
		else
			unsetenv("TORUS_BOOT");
		begin();
		j = keeper_record(k, &e);
		assert_int_equal(json_integer_value(json_object_get(j, "seq")), 5);
		assert_string_equal(json_string_value(json_object_get(j, "by")), "n1");
		assert_int_equal(json_integer_value(json_object_get(j, "clock_ms")),
				 loop_now() / MS);
		boot = json_string_value(json_object_get(j, "boot"));
		/* Without one that is reported, it is the kernel's, if there is one. */
		if (row[i].boot)
			assert_string_equal(boot, row[i].boot);
		else
			assert_true(!boot ||
				    (strlen(boot) == 8 && strspn(boot, "0123456789abcdef") == 8));
		assert_string_not_equal(boot ? boot : "", row[i].boot ? "" : "01234567");
		/* Each run has a log of its own, of 16 digits. */
		assert_string_not_equal(json_string_value(json_object_get(j, "log")), log);
		strcpy(log, json_string_value(json_object_get(j, "log")));
		assert_int_equal(strlen(log), 16);
		assert_true(strtoull(log, &end_of, 16) && !*end_of);
		json_decref(j);
		if (i + 1 < sizeof(row) / sizeof(row[0]))
			end(NULL);
	}
}

static int64_t number(const char *key)
{
	json_t *j = keeper_json(k);
	int64_t n = json_is_number(json_object_get(j, key)) ?
		    (int64_t)(json_number_value(json_object_get(j, key)) * 1000) : -1;

	json_decref(j);
	return n;
}

/* The control socket shows the numbers of the history; null without one. */
static void control_socket_shows_history(void **state)
{
	struct fabricd bare = { .loop = NULL };
	struct keeper *none;
	json_t *j;

	(void)state;
	begin();
	assert_int_equal(number("since"), -1);
	assert_int_equal(number("events"), 0);
	for (unsigned int i = 2; i < 5; i++)
		add_event(i, FM_WARNING);
	assert_int_equal(events(3), 3);
	assert_int_equal(number("events"), 3000);
	assert_int_equal(number("since"), 2000);
	assert_int_equal(number("dropped"), 0);
	assert_int_equal(number("damaged"), 0);
	assert_int_equal(number("bytes_max"), (int64_t)HISTORY_BYTES_MIN * 1000);
	assert_in_range(number("bytes"), 3000 * 1000, 6000 * 1000);
	assert_string_equal(keeper_problem(k), "");
	bare.loop = d.loop;
	none = keeper_new(&bare);
	j = keeper_json(none);
	assert_true(json_is_null(j));
	json_decref(j);
	j = keeper_json(NULL);
	assert_true(json_is_null(j));
	json_decref(j);
	assert_null(keeper_history(none));
	assert_null(keeper_history(NULL));
	assert_string_equal(keeper_problem(NULL), "");
	keeper_event(none, &(struct event_record) { .seq = 1 });
	keeper_event(NULL, &(struct event_record) { .seq = 1 });
	keeper_changed(none);
	keeper_changed(NULL);
	keeper_free(none);
	keeper_free(NULL);
}

static bool is_reported(void)
{
	usleep(100);
	return reported[0];
}

/* A problem of the disk is an event, and is in the status. */
static void disk_problem_is_event_and_in_status(void **state)
{
	char folder[128], text[600];

	(void)state;
	begin();
	snprintf(folder, sizeof(folder), "%s/fabricd-%016x.history", dir, 7);
	reported[0] = '\0';
	/* the path is not a directory */
	assert_int_equal(close(open(folder, O_CREAT | O_WRONLY, 0600)), 0);
	add_event(1, FM_ERROR);
	wait_until(is_reported);
	assert_int_equal(reported_level, FM_ERROR);
	snprintf(text, sizeof(text), "cannot write below %s: Not a directory; events are kept in "
		 "memory only", folder);
	assert_string_equal(reported, text);
	assert_string_equal(keeper_problem(k), text);
}

static bool is_in_sync(void)
{
	usleep(100);
	return in_sync;
}

static bool is_fast(void)
{
	usleep(100);
	return !slow;
}

/*
 * A disk that hangs is a problem after 5 s, also if it was idle for long; and none as soon as the
 * write has ended.
 */
static void hanging_disk_is_problem_after_5_s(void **state)
{
	(void)state;
	slow = false;
	begin();
	for (unsigned int i = 1; i <= 2; i++) {
		passes(6 * SEC);
		hangs = true;
		add_event(i, FM_ERROR);
		wait_until(is_in_sync);
		passes(5 * SEC - MS);
		assert_false(slow);
		passes(MS);
		assert_true(slow);
		hangs = false;
		wait_until(is_fast);
		assert_int_equal(events(i), i);
	}
}

/* After a restart the history goes on, if there was one of the same NIC and it is wanted. */
static void history_goes_on_after_restart(void **state)
{
	struct history *first;

	(void)state;
	begin();
	first = keeper_history(k);
	keeper_open(k, dir);		/* the same NIC: the history stays */
	assert_ptr_equal(keeper_history(k), first);
	keeper_open(k, NULL);
	keeper_open(NULL, dir);
	keeper_resume(NULL, dir);
	keeper_resume(k, NULL);
	assert_ptr_equal(keeper_history(k), first);
	add_event(1, FM_ERROR);
	assert_int_equal(events(1), 1);
	keeper_free(k);
	k = keeper_new(&d);
	d.guid = 8;
	keeper_resume(k, dir);		/* the history is that of another NIC */
	assert_null(keeper_history(k));
	d.guid = 7;
	d.config.history = false;
	keeper_resume(k, dir);
	assert_null(keeper_history(k));
	d.config.history = true;
	keeper_resume(k, dir);
	assert_non_null(keeper_history(k));
	assert_int_equal(events(1), 1);
	/* With another NIC the history is that one's: the root is asked for all of it. */
	asks_root();
	ends(REPLY(TWO, "\"after\":\"a:1:2\""));
	assert_int_equal(events(3), 3);
	d.guid = 8;
	keeper_open(k, dir);
	wait_until(is_loaded);
	assert_int_equal(events(0), 0);
	asked_after(200 * MS);
	assert_null(asked_for("after"));
	assert_string_equal(asked_for("have"), "");
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test_teardown(origin_of_event_depends_on_root, end),
		cmocka_unit_test_teardown(only_candidate_with_root_asks, end),
		cmocka_unit_test_teardown(new_root_asks_each_candidate_for_what_it_misses, end),
		cmocka_unit_test_teardown(candidate_without_answer_is_asked_again_later, end),
		cmocka_unit_test_teardown(candidate_that_lost_the_position_is_asked_from_the_beginning, end),
		cmocka_unit_test_teardown(former_root_asks_next_root_from_the_beginning, end),
		cmocka_unit_test_teardown(change_of_fabric_asks_root_at_once, end),
		cmocka_unit_test_teardown(each_of_several_changes_asks_up_to_limit, end),
		cmocka_unit_test_teardown(change_without_answer_does_not_delay_next_question, end),
		cmocka_unit_test_teardown(doubled_event_is_kept_once, end),
		cmocka_unit_test_teardown(malformed_events_are_left_out, end),
		cmocka_unit_test_teardown(lost_position_begins_anew, end),
		cmocka_unit_test_teardown(full_history_asks_only_for_newer_events, end),
		cmocka_unit_test_teardown(root_is_not_asked_while_queue_is_full, end),
		cmocka_unit_test_teardown(record_names_node_run_and_boot, end),
		cmocka_unit_test_teardown(control_socket_shows_history, end),
		cmocka_unit_test_teardown(disk_problem_is_event_and_in_status, end),
		cmocka_unit_test_teardown(hanging_disk_is_problem_after_5_s, end),
		cmocka_unit_test_teardown(history_goes_on_after_restart, end),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
