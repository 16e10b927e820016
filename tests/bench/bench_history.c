// SPDX-License-Identifier: GPL-2.0-only
/*
 * The history of a root: events of cables that are lost and come back, spread evenly over ten
 * days. Measured are the time to write them, their size on the disk, the memory of the process,
 * the time of questions about one day, and that to read all files after a start.
 *
 *	bench_history [EVENTS]		1000000
 *
 * The files are below $TMPDIR, or /tmp. After the writing they are in the page cache.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "daemon/history.h"
#include "daemon/loop.h"
#include "tests/bench/sample.h"

#define DAYS 10
#define DAY_MS INT64_C(86400000)
#define BEGIN_MS INT64_C(1795651200000)
#define LOG UINT64_C(0xcc49457f055d99f6)
#define ROOM (64u << 10)		/* room for an answer, as in answer_history.c */
#define ROUNDS 9

/** struct bench - @added: events that the history has taken; @answers: parts of the last question */
struct bench {
	struct loop *loop;
	struct loop_timer *timer;
	struct history *history;
	uint64_t events, added;
	struct history_filter filter;
	unsigned int answers;
	size_t bytes;
	bool failed;
};

static void print_row(const char *figure, double value, const char *unit, const char *wanted)
{
	printf("%-52s %12.4g %-4s %s\n", figure, value, unit, wanted);
	sample(figure, unit, value);
}

/* --- writing --------------------------------------------------------------------------- */

/* Writes the events of a lost cable, or of one that is back: three each time. */
static size_t make_event(uint64_t i, char *json, size_t room, struct history_record *r)
{
	static const char *const kinds[] = { "table", "link", "recovery" };
	bool up = i / 3 % 2;
	unsigned int kind = i % 3, x = i / 6 % 16, y = i / 96 % 16;
	char body[320];

	if (kind == 1)
		snprintf(body, sizeof(body),
			 "\"text\":\"%u,%u:+x ('n%u-%u') to %u,%u:-x ('n%u-%u') is %s\","
			 "\"link\":{\"node\":[%u,"
			 "%u],\"port\":\"+x\",\"name\":\"n%u-%u\",\"peer\":{\"node\":"
			 "[%u,%u],\"port\":\"-x\",\"name\":\"n%u-%u\"},\"state\":\"%s\",\"reason\":%s,"
			 "\"excluded\":false,\"version\":4,\"was_for_ms\":1032}", x, y, x, y, x + 1,
			 y, x + 1,
			 y, up ? "up again, after 540 ms" : "lost: carrier, after 1032 ms", x, y, x,
			 y,
			 x + 1, y, x + 1, y, up ? "up" : "lost", up ? "null" : "\"carrier\"");
	else if (kind)
		snprintf(body, sizeof(body),
			 "\"text\":\"version 4 in force after 7.736 ms: 0 parked, "
			 "0 replayed, 0 "
			 "lost\",\"recovery\":{\"version\":4,\"duration_ms\":7.736824,"
			 "\"parked\":0,\"replayed\":0,\"lost\":0}");
	else
		snprintf(body, sizeof(body), "\"text\":\"version 4: link %u,%u:+x %s\"", x, y,
			 up ? "up" : "down");
	r->level = kind == 1 && !up ? FM_WARNING : FM_INFO;
	strcpy(r->kind, kinds[kind]);
	return (size_t)snprintf(json, room,
				"{\"node\":[%u,%u],%s,\"by\":\"n0-0\",\"boot\":\"0db84dc4\","
				"\"clock_ms\":%" PRIu64 "}", x, y, body, i * 864);
}

static void add_events(struct bench *b)
{
	char json[1024];

	while (b->added < b->events && history_room(b->history)) {
		struct history_record r = {
			.whose = HISTORY_LED, .log = LOG, .seq = b->added + 1, .json = json,
			.time = BEGIN_MS + (int64_t)((double)b->added / (double)b->events * DAYS * DAY_MS),
		};

		r.len = make_event(b->added, json, sizeof(json), &r);
		if (!history_add(b->history, &r))
			return;
		b->added++;
	}
}

static void on_write(void *arg)
{
	struct bench *b = arg;
	struct history_stats s;

	add_events(b);
	history_stats(b->history, &s);
	b->failed |= s.dropped > 0;
	if (b->failed || (s.loaded && s.events >= b->events))
		loop_stop(b->loop);
	else
		loop_timer_set(b->timer, loop_now() + MS / 2);
}

static void on_error(void *arg, const char *why)
{
	struct bench *b = arg;

	if (*why)
		fprintf(stderr, "bench_history: %s\n", why);
	b->failed |= *why != '\0';
}

static const struct history_ops ops = { .error = on_error };

/* Opens the history, and returns when it has all events: those that it reads, or gets. */
static double fill_history(struct bench *b, const char *dir)
{
	uint64_t began = loop_now();

	b->history = history_new(b->loop, &(struct history_config) {
		.dir = dir, .fabric = "bench", .guid = 1, .log = LOG, .bytes = HISTORY_BYTES_MAX,
	}, &ops, b);
	b->timer = loop_timer_new(b->loop, on_write, b);
	if (!b->history || !b->timer)
		b->failed = true;
	if (b->failed)
		return 0;
	loop_timer_set(b->timer, loop_now());
	loop_run(b->loop);
	loop_timer_free(b->timer);
	return (double)(loop_now() - began) / 1e9;
}

/* --- questions ------------------------------------------------------------------------- */

static void ask_part(struct bench *b);

static void on_found(void *arg, const struct history_found *found)
{
	struct bench *b = arg;

	b->failed |= !found->events || found->lost || found->unread;
	b->answers++;
	b->bytes += found->events ? strlen(found->events) : 0;
	strcpy(b->filter.after, found->after);
	if (found->more && !b->failed)
		ask_part(b);
	else
		loop_stop(b->loop);
}

static void ask_part(struct bench *b)
{
	if (!history_ask(b->history, &b->filter, on_found, b)) {
		b->failed = true;
		loop_stop(b->loop);
	}
}

static double processor_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Asks for a day in the middle, all parts of the answer, and prints the median time. */
static void time_question(struct bench *b, const char *what, const char *kind, enum fm_level level,
			  const char *wanted)
{
	double ms[ROUNDS], used = processor_ms();
	char text[80];

	for (unsigned int i = 0; i < ROUNDS && !b->failed; i++) {
		uint64_t began = loop_now();

		b->filter = (struct history_filter) {
			.from = BEGIN_MS + 5 * DAY_MS, .to = BEGIN_MS + 6 * DAY_MS - 1,
			.level = level,
			.room = ROOM,
		};
		strcpy(b->filter.kind, kind);
		b->answers = 0;
		b->bytes = 0;
		ask_part(b);
		loop_run(b->loop);
		ms[i] = (double)(loop_now() - began) / 1e6;
	}
	if (b->failed)
		return;
	qsort(ms, ROUNDS, sizeof(ms[0]), by_value);
	snprintf(text, sizeof(text), "%s: %.1f MiB in %u parts", what, (double)b->bytes / (1 << 20),
		 b->answers);
	print_row(text, ms[ROUNDS / 2], "ms", wanted);
	print_row("  processor time, mean", (processor_ms() - used) / ROUNDS, "ms", "");
}

static void run_bench(struct bench *b, const char *dir)
{
	struct history_stats s;
	struct rusage usage;
	double seconds = fill_history(b, dir);

	if (b->failed)
		return;
	history_stats(b->history, &s);
	getrusage(RUSAGE_SELF, &usage);
	printf("history of %" PRIu64 " events in %d days\n", s.events, DAYS);
	print_row("events written a second", (double)s.events / seconds, "", "");
	print_row("size on the disk", (double)s.bytes / (1 << 20), "MiB", "<= 256 of 1000000");
	print_row("largest memory of the process", (double)usage.ru_maxrss / 1024, "MiB", "");
	time_question(b, "warnings of a day", "", FM_WARNING, "< 200");
	time_question(b, "links and recoveries of a day", "link,recovery", FM_DEBUG, "");
	time_question(b, "all events of a day", "", FM_DEBUG, "");
	history_free(b->history);
	seconds = fill_history(b, dir);
	print_row("reading all files after a start", seconds * 1e3, "ms", "");
	history_free(b->history);
}

int main(int argc, char **argv)
{
	struct bench b = { .events = 1000000 };
	const char *tmp = getenv("TMPDIR");
	char dir[256], command[300], *end = NULL;

	if (argc > 1)
		b.events = strtoull(argv[1], &end, 10);
	if (argc > 2 || (end && (*end || !b.events || b.events > 2000000))) {
		fprintf(stderr, "usage: bench_history [EVENTS]\t1 to 2000000\n");
		return 2;
	}
	snprintf(dir, sizeof(dir), "%s/bench_history.XXXXXX", tmp ? tmp : "/tmp");
	b.loop = loop_new();
	if (!b.loop || !mkdtemp(dir)) {
		fprintf(stderr, "bench_history: %s: %s\n", dir, strerror(errno));
		return 1;
	}
	run_bench(&b, dir);
	snprintf(command, sizeof(command), "rm -rf '%s'", dir);
	if (system(command))
		b.failed = true;
	loop_free(b.loop);
	return b.failed;
}
