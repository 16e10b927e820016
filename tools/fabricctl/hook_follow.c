// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events for hooks. A manager sends the events in its memory, and then further ones as they happen;
 * the hook runs once for each. If the connection ends, hooks that run or wait continue, and the
 * command connects again: the manager may have been restarted, as by an update. Then all its events
 * are new, and are numbered from 1.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "ask.h"
#include "follow.h"
#include "hook_follow.h"
#include "json.h"
#include "output.h"

#define LOOK_MS 50	/* between two checks of running hooks */
#define AGAIN_MS 1000	/* between two attempts to connect again */
#define AGAIN_MAX 60	/* largest number of these attempts */

/** struct last - the last event for which the hook was run; @seq 0: there was none */
struct last {
	unsigned long long seq;
	double time;
};

static double event_time(const json_t *event)
{
	return json_number_value(json_object_get(event, "time"));
}

static void note_last_event(struct last *last, const json_t *event)
{
	last->seq = json_count(event, "seq");
	last->time = event_time(event);
}

static void run_new(struct last *last, const json_t *events)
{
	size_t i;
	json_t *v;

	json_array_foreach(events, i, v) {
		if (json_count(v, "seq") <= last->seq)
			continue;
		note_last_event(last, v);
		hook_run(v);
	}
}

static int list_events(struct ask *a, uint64_t since, json_t **events)
{
	return ask(a, json_pack("{ss sI}", "cmd", "events", "since", (json_int_t)since), events);
}

/*
 * Follows events, beginning with the last event, which the manager sends once more, so that a reply
 * comes at once.
 */
static int follow_events(struct ask *a, struct last *last)
{
	unsigned long long from = last->seq ? last->seq - 1 : 0;
	json_t *events;
	int status = ask_first(a, json_pack("{ss sI sb}", "cmd", "events", "since",
					    (json_int_t)from, "follow", 1), &events);

	if (status != OK)
		return status;
	run_new(last, events);
	json_decref(events);
	return OK;
}

static int begin_following(struct ask *a, const uint64_t *since, struct last *last)
{
	json_t *events;
	int status = list_events(a, since ? *since : 0, &events);
	size_t n;

	if (status != OK)
		return status;
	n = json_array_size(events);
	if (since)
		run_new(last, events);
	else if (n)
		note_last_event(last, json_array_get(events, n - 1));
	json_decref(events);
	return follow_events(a, last);
}

/* Connects to the manager again. Return: OK, or the kind of the error. */
static int resume_following(const struct ctl *ctl, struct ask *a, struct last *last)
{
	struct ctl same = *ctl;
	char path[sizeof(a->path)];
	json_t *events;
	int status;

	strcpy(path, a->path);
	same.control = path;
	same.lab = same.node = NULL;
	ask_close(a);
	status = ask_open(&same, a);
	if (status == OK)
		status = list_events(a, 0, &events);
	if (status != OK)
		return status;
	warn("hooks: the manager is back");
	if (!follow_is_same_run(events, last->seq, last->time))
		*last = (struct last) { .seq = 0 };
	run_new(last, events);
	json_decref(events);
	return follow_events(a, last);
}

static bool does_answer(const char *path)
{
	json_t *data;

	if (ask_quietly(path, "{\"cmd\":\"events\"}", AGAIN_MS, &data))
		return false;
	json_decref(data);
	return true;
}

/* Waits for @ms while hooks run. Return: true if a hook runs or waits */
static bool let_run(int ms)
{
	const struct timespec moment = { .tv_nsec = LOOK_MS * 1000000 };

	for (; ms > 0; ms -= LOOK_MS) {
		hook_look();
		nanosleep(&moment, NULL);
	}
	return hook_look();
}

/*
 * Called if the manager does not answer, for a reason of kind @status: waits for it. Return: OK
 * when events are followed again; else @status, after all hooks have ended.
 */
static int await_manager(const struct ctl *ctl, struct ask *a, struct last *last, int status)
{
	for (int i = 0; i < AGAIN_MAX; i++) {
		let_run(AGAIN_MS);
		if (does_answer(a->path) && resume_following(ctl, a, last) == OK)
			return OK;
	}
	while (let_run(LOOK_MS))
		;
	return status;
}

int hook_follow(const struct ctl *ctl, const uint64_t *since, const struct hook *hook)
{
	struct last last = { .seq = since ? *since : 0 };
	int status = hook_start(hook);
	json_t *events;
	struct ask a;

	if (status != OK)
		return status;
	status = ask_open(ctl, &a);
	if (status != OK)
		return status;
	status = begin_following(&a, since, &last);
	while (status == OK) {
		status = ask_poll(&a, hook_look() ? LOOK_MS : INT_MAX, &events);
		if (status == OK) {
			run_new(&last, events);
			json_decref(events);
		} else {
			status = await_manager(ctl, &a, &last, status);
		}
	}
	ask_close(&a);
	return status;
}
