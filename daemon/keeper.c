// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the same history at all candidates
 *
 * Users ask the root what happened, so its history should have all events of the earlier roots.
 * Each candidate therefore copies new events from the root: it asks at once after a change of the
 * fabric, once more SOON after that for later events, and every IDLE. The first question is so
 * early that a root which hands over after an order of the administrator has passed its record of
 * that order to a candidate before it stops being root, also if other orders came just before. If
 * there are many changes, a candidate asks once in SOON at most. A candidate asks for the events
 * after the last answer, and sends the last number of each run of a manager (log) that it has. So a
 * candidate also gets the events of the time while it was down, and no candidate stores an event
 * twice.
 *
 * A new root may lack events that another candidate has: those that it did not copy in time, those
 * of the time while it was down, and those of a former root that comes back with its disk. So it
 * asks each candidate once, one after the other: when it becomes root, and when a candidate comes,
 * or is restarted. What it gets, the other candidates copy from it. A candidate that does not
 * answer is asked again after REFUSED, together with the others.
 *
 * If a root dies and does not come back, its last events that no candidate has copied yet are lost.
 * While there is no root, each candidate keeps its own events as events of the fabric.
 *
 * Tests: tests/unit/test_keeper.c, tests/netns/test_history.sh.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <inttypes.h>
#include "daemon/answer.h"
#include "daemon/history.h"
#include "daemon/keeper.h"
#include "daemon/log.h"
#include "daemon/query.h"

#define IDLE (10 * SEC)
#define SOON (200 * MS)
#define AT_ONCE (5 * MS)		/* time for further changes, before the first question */
#define BURST 10			/* questions that may be asked with less than SOON
					 * between them */
#define NEXT (20 * MS)			/* time until the next part of an answer is asked for */
#define REFUSED (60 * SEC)		/* time until a root that does not know this command is
					 * asked again */

/**
 * struct keeper
 * @log: the log of this run; @boot: id of this boot of the machine, as text
 * @text: text of the present problem
 * @history: the history; NULL: there is no history; @guid: GUID of its NIC
 * @ask: the question to the root that is under way; @due: when the next question is sent
 * @spent: limits the rate: each question adds SOON; if no question was asked for long, it is the
 *	time of the last question
 * @after: position where the root's last answer ended; "": the next question begins at the root's
 *	first event
 * @sources: sum of all candidates that this root asks, or has asked; 0: it has asked none
 * @source: number of the candidate that is asked next
 * @answered: the candidate that was asked has answered; @partly: not with all events
 * @unanswered: a candidate did not answer
 * @changed: the fabric has changed since the last answer, so the root is asked once more, SOON
 *	after the next answer
 * @missed: the fabric has changed while a question was under way, so its answer may lack events of
 *	that change
 */
struct keeper {
	struct fabricd *d;
	uint64_t log;
	char boot[9];
	char text[HISTORY_TEXT_MAX];
	struct history *history;
	uint64_t guid;
	struct loop_timer *timer;
	uint64_t due, spent;
	struct ask *ask;
	char after[HISTORY_AFTER_MAX];
	uint64_t sources;
	unsigned int source;
	bool answered, partly, unanswered;
	bool changed, missed;
};

struct history *keeper_history(const struct keeper *k)
{
	return k ? k->history : NULL;
}

const char *keeper_problem(const struct keeper *k)
{
	return k ? k->text : "";
}

json_t *keeper_json(const struct keeper *k)
{
	struct history_stats s = { 0 };

	if (!k || !k->history)
		return json_null();
	history_stats(k->history, &s);
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:o}", "events", (json_int_t)s.events,
			 "bytes", (json_int_t)s.bytes, "bytes_max", (json_int_t)s.bytes_max,
			 "dropped", (json_int_t)s.dropped, "damaged", (json_int_t)s.damaged,
			 "since", s.since ? json_real((double)s.since / 1e3) : json_null());
}

json_t *keeper_record(const struct keeper *k, const struct event_record *r)
{
	json_t *j = event_json(k->d, r);
	char log[17];

	snprintf(log, sizeof(log), "%016" PRIx64, k->log);
	json_object_set_new(j, "by", json_string(k->d->config.fm.name));
	json_object_set_new(j, "log", json_string(log));
	json_object_set_new(j, "boot", k->boot[0] ? json_string(k->boot) : json_null());
	json_object_set_new(j, "clock_ms", json_integer((json_int_t)(loop_now() / MS)));
	return j;
}

/* --- this manager's events ------------------------------------------------------------- */

/*
 * Return: the origin of an event. Without a root, a node's own events belong to the history of the
 * fabric.
 */
static char choose_whose(const struct fabricd *d, enum fm_level level)
{
	struct fm_root_status r = { .reachable = false };

	if (d->fm && fm_is_root(d->fm))
		return HISTORY_LED;
	if (d->fm)
		fm_root_status(d->fm, &r);
	return level <= FM_WARNING && !r.reachable ? HISTORY_LED : HISTORY_OWN;
}

/* Return: the time @seconds >= 0 in milliseconds. (llround() would load libm for this alone.) */
static int64_t nearest_ms(double seconds)
{
	return (int64_t)(seconds * 1e3 + 0.5);
}

/* Adds a record with the event @j. Return: false if there is no room now. */
static bool add_json(struct keeper *k, struct history_record *r, const json_t *j)
{
	static const char *const apart[] = { "seq", "time", "log", "level", "kind" };
	json_t *rest = json_copy((json_t *)j);
	bool room;
	char *text;

	for (size_t i = 0; i < sizeof(apart) / sizeof(apart[0]); i++)
		json_object_del(rest, apart[i]);
	text = json_dumps(rest, JSON_COMPACT | JSON_REAL_PRECISION(15));
	json_decref(rest);
	if (!text)
		return true;
	r->json = text;
	r->len = strlen(text);
	room = history_add(k->history, r);
	free(text);
	return room;
}

void keeper_event(struct keeper *k, const struct event_record *e)
{
	struct history_record r = { .level = e->level, .seq = e->seq };
	json_t *j;

	if (!k || !k->history)
		return;
	j = keeper_record(k, e);
	r.log = k->log;
	r.whose = choose_whose(k->d, e->level);
	r.time = e->time > 0 ? nearest_ms(e->time) : 0;
	history_kind(r.kind, e->kind);
	add_json(k, &r, j);
	json_decref(j);
}

/* --- events of the root ---------------------------------------------------------------- */

static void ask_at(struct keeper *k, uint64_t at)
{
	k->due = at;
	loop_timer_set(k->timer, at);
}

/* Return: the earliest time at which the root can be asked after a change. */
static uint64_t find_turn(const struct keeper *k)
{
	uint64_t at = loop_now() + AT_ONCE, early = (BURST - 1) * SOON;

	return at + early < k->spent + SOON ? k->spent + SOON - early : at;
}

void keeper_changed(struct keeper *k)
{
	if (!k || !k->history)
		return;
	if (!k->ask && k->due > find_turn(k))
		ask_at(k, find_turn(k));
	k->changed = true;
	k->missed |= k->ask != NULL;
}

/* Adds an event of the root. Return: false if there is no room for it now. */
static bool take_pulled(struct keeper *k, const json_t *j)
{
	const char *log = json_string_value(json_object_get(j, "log"));
	const char *level = json_string_value(json_object_get(j, "level"));
	const char *kind = json_string_value(json_object_get(j, "kind"));
	double time = json_number_value(json_object_get(j, "time"));
	struct history_record r = { .whose = HISTORY_PULLED };

	r.seq = (uint64_t)json_integer_value(json_object_get(j, "seq"));
	if (!log || !level || !kind || sscanf(log, "%16" SCNx64, &r.log) != 1 ||
	    log_level_parse(level, &r.level) || !(time >= 0 && time <= SVC_TIME_MAX) ||
	    history_has(k->history, r.log, r.seq))
		return true;
	r.time = nearest_ms(time);
	history_kind(r.kind, kind);
	return add_json(k, &r, j);
}

/* Adds events of the root, in order, as long as there is room. Return: false if some are left. */
static bool take_all_pulled(struct keeper *k, const json_t *events)
{
	json_t *v;
	size_t i;

	json_array_foreach(events, i, v)
		if (!take_pulled(k, v))
			return false;
	return true;
}

static bool knows_no_history(const json_t *reply)
{
	const char *code = json_string_value(json_object_get(reply, "code"));

	return code && !strcmp(code, "usage");
}

static void take_reply(void *arg, const char *text)
{
	struct keeper *k = arg;
	json_t *reply = json_loads(text, 0, NULL);
	const json_t *data = json_object_get(reply, "data");
	const char *after = json_string_value(json_object_get(data, "after"));
	uint64_t again = IDLE;

	if (!json_is_true(json_object_get(reply, "ok"))) {
		again = knows_no_history(reply) ? REFUSED : IDLE;
	} else if (json_object_get(reply, "rootless") || !after) {
		k->after[0] = '\0';	/* that node is not root, or has no history */
	} else if (json_is_true(json_object_get(data, "lost"))) {
		k->after[0] = '\0';
		again = NEXT;
	} else if (!take_all_pulled(k, json_object_get(data, "events"))) {
		again = SOON;	/* the next question asks for the rest */
	} else {
		snprintf(k->after, sizeof(k->after), "%s", after);
		again = json_is_true(json_object_get(data, "more")) ? NEXT : IDLE;
	}
	json_decref(reply);
	ask_at(k, loop_now() + (k->changed && again > SOON ? SOON : again));
	if (k->missed && again <= IDLE && k->due > find_turn(k))
		ask_at(k, find_turn(k));
	k->changed = k->missed;
	k->missed = false;
}

static void on_asked(void *arg)
{
	struct keeper *k = arg;

	k->ask = NULL;
	if (k->due <= loop_now())
		ask_at(k, loop_now() + IDLE);
}

static const struct query_done asked = {
	.reply = take_reply,
	.end = on_asked,
};

/* Asks the root, or a candidate, for the next events that this node does not have. */
static void ask_events(struct keeper *k, enum svc_to to, uint32_t node,
		       const struct query_done *how)
{
	struct fabricd *d = k->d;
	char *have = history_have(k->history);
	struct history_stats s;
	json_t *cmd;

	if (!have)
		return;	/* the history of this node is not read yet */
	history_stats(k->history, &s);
	cmd = json_pack("{s:s, s:b, s:s}", "cmd", "history", "pull", 1, "have", have);
	if (k->after[0])
		json_object_set_new(cmd, "after", json_string(k->after));
	/* If the history is full, older events would only displace newer ones. */
	if (s.bytes >= s.bytes_max / 10 * 9)
		json_object_set_new(cmd, "from", json_integer((json_int_t)s.since));
	k->missed = false;
	k->spent = k->spent + SOON > loop_now() ? k->spent + SOON : loop_now();
	k->ask = query_ask(d->query, to, node, cmd, &SVC_MANAGER,
			   to == SVC_TO_ROOT ? QUERY_ROOT_MS : QUERY_NODE_MS, how, k);
	json_decref(cmd);
	free(have);
}

/* --- events of other candidates, for a new root ------------------------------------------ */

/*
 * Return: the candidate number @n of those that answer; TORUS_NO_NODE: there are not that many.
 * @all: set to a sum of all of them and of the starts of their NICs
 */
static uint32_t find_source(const struct fm *fm, unsigned int n, uint64_t *all)
{
	struct fm_candidate_status c;
	uint32_t node = TORUS_NO_NODE;
	const struct fm_entry *e;

	*all = 0;
	for (uint32_t i = 0; fm_candidate(fm, &i, &c);) {
		if (!c.answers || c.node == TORUS_NO_NODE || c.node == fm_own(fm))
			continue;
		e = fm_node(fm, c.node);
		*all += (c.node + 1) * 0x9e3779b97f4a7c15ull + (e ? e->epoch : 0);
		if (!n--)
			node = c.node;
	}
	return node;
}

/*
 * A candidate that has lost the position, because its manager has started again or has deleted that
 * file, is asked from the beginning. If there was no position, it has closed its history, and is
 * asked again later.
 */
static void take_from_source(void *arg, uint32_t node, json_t *data)
{
	struct keeper *k = arg;
	const char *after = json_string_value(json_object_get(data, "after"));
	const json_t *events = json_object_get(data, "events");
	bool lost = json_is_true(json_object_get(data, "lost"));

	(void)node;
	k->answered = after && json_is_array(events) && (k->after[0] || !lost);
	if (!k->answered)
		return;
	k->partly = true;
	if (!take_all_pulled(k, events))
		return;
	k->partly = lost || json_is_true(json_object_get(data, "more"));
	snprintf(k->after, sizeof(k->after), "%s", lost ? "" : after);
}

static void end_source(void *arg)
{
	struct keeper *k = arg;

	k->ask = NULL;
	if (!k->answered || !k->partly) {
		k->unanswered |= !k->answered;
		k->source++;
		k->after[0] = '\0';
	}
	ask_at(k, loop_now() + (k->partly ? SOON : NEXT));
}

static const struct query_done sourced = {
	.item = take_from_source,
	.end = end_source,
};

/* Asks the next candidate; does nothing if all have been asked. */
static void ask_source(struct keeper *k)
{
	uint64_t all;
	uint32_t node = find_source(k->d->fm, k->source, &all);

	if (all != k->sources) {
		k->sources = all;
		k->source = 0;
		k->after[0] = '\0';
		k->unanswered = false;
		node = find_source(k->d->fm, 0, &all);
	}
	if (node == TORUS_NO_NODE && k->unanswered) {
		k->sources = 0;
		ask_at(k, loop_now() + REFUSED);
	}
	if (node == TORUS_NO_NODE)
		return;
	k->answered = k->partly = false;
	ask_events(k, SVC_TO_NODE, node, &sourced);
}

static void on_keeper_timer(void *arg)
{
	struct keeper *k = arg;
	struct fabricd *d = k->d;
	struct fm_root_status r = { .reachable = false };

	ask_at(k, loop_now() + IDLE);
	if (!k->history || k->ask || !d->query || !d->fm || !history_room(k->history))
		return;
	if (fm_is_root(d->fm)) {
		ask_source(k);
		return;
	}
	if (k->sources)		/* it was root: the position is that of a candidate */
		k->after[0] = '\0';
	k->sources = 0;
	fm_root_status(d->fm, &r);
	if (r.reachable)
		ask_events(k, SVC_TO_ROOT, TORUS_NO_NODE, &asked);
}

/* --- begin and end --------------------------------------------------------------------- */

static void on_history_error(void *arg, const char *why)
{
	struct keeper *k = arg;
	char text[HISTORY_TEXT_MAX + 8];

	snprintf(text, sizeof(text), "%s%s", *why ? "" : "over: ", *why ? why : k->text);
	snprintf(k->text, sizeof(k->text), "%s", why);
	fabricd_event(k->d, loop_wall(), "", *why ? FM_ERROR : FM_INFO, "history", text);
}

static const struct history_ops history_ops = { .error = on_history_error };

/* Closes the history. Its last callbacks may answer requests, which then must find no history. */
static void close_history(struct keeper *k)
{
	struct history *h = k->history;

	k->history = NULL;
	history_free(h);
}

void keeper_open(struct keeper *k, const char *dir)
{
	struct fabricd *d = k ? k->d : NULL;
	struct history_config c;
	const struct event_record *r;

	if (!k || !dir || !d->config.history || (k->history && k->guid == d->guid))
		return;
	close_history(k);
	c = (struct history_config) {
		.dir = dir, .fabric = d->config.fm.fabric, .guid = d->guid, .log = k->log,
		.bytes = d->config.history_bytes,
	};
	k->guid = d->guid;
	k->after[0] = '\0';
	k->history = history_new(d->loop, &c, &history_ops, k);
	if (!k->history)
		return;
	for (uint64_t seq = 1; (r = events_next(d->events, seq)); seq = r->seq + 1)
		keeper_event(k, r);
	ask_at(k, loop_now() + SOON);
}

void keeper_resume(struct keeper *k, const char *dir)
{
	char path[512];
	struct stat st;

	if (!k || !dir)
		return;
	snprintf(path, sizeof(path), "%s/fabricd-%016" PRIx64 ".history", dir, k->d->guid);
	if (!stat(path, &st))
		keeper_open(k, dir);
}

/*
 * Reads the boot id. It is in the environment that the unit sets, because the unit hides /proc/sys.
 */
static void find_boot(struct keeper *k)
{
	const char *given = getenv("TORUS_BOOT");
	FILE *f;

	if (given && strspn(given, "0123456789abcdef") >= 8) {
		snprintf(k->boot, sizeof(k->boot), "%s", given);
		return;
	}
	f = fopen("/proc/sys/kernel/random/boot_id", "re");
	if (!f)
		return;
	if (!fgets(k->boot, sizeof(k->boot), f))
		k->boot[0] = '\0';
	fclose(f);
}

struct keeper *keeper_new(struct fabricd *d)
{
	struct keeper *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->d = d;
	k->due = LOOP_NEVER;
	if (getrandom(&k->log, sizeof(k->log), 0) != sizeof(k->log))
		k->log = loop_now();
	find_boot(k);
	k->timer = loop_timer_new(d->loop, on_keeper_timer, k);
	if (k->timer)
		return k;
	free(k);
	return NULL;
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	query_cancel(k->ask);
	loop_timer_free(k->timer);
	close_history(k);
	free(k);
}
