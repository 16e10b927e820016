// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the history of a fabric on the disk of a candidate
 *
 * The directory fabricd-GUID.history has files with ascending numbers (history_file.c). A thread,
 * the writer (history_write.c), appends lines to the last file. When this file is full, the writer
 * begins the next one, and deletes the oldest ones until there is room for it.
 *
 * The loop only puts lines into a queue, which is bounded: if the disk hangs or is full, further
 * events are dropped and counted. The writer removes a line from the queue after it has written it.
 * After a failed write it truncates the file to whole lines, and tries again after AGAIN.
 *
 * At first, the writer reads all files, for the number and times of events and the last number of
 * each log. A file that is not of this history is renamed. A last line without its end, which a
 * crash leaves, is truncated.
 *
 * Tests: tests/unit/test_history.c, for full, failing and hanging disks, too; a daemon with a full
 * disk: tests/netns/test_history.sh.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include "daemon/history_impl.h"
#include "daemon/loop.h"
#include "daemon/thread.h"

#define QUEUE_MAX 8192u			/* most lines in the queue */
#define QUEUE_BYTES_MAX (1u << 20)
#define SEGMENTS 64u			/* approximate number of files, which determines the size
					 * of a file */
#define SEGMENT_MAX (4u << 20)

/*
 * Calls @error if the error has changed. Return: when the writer began its present read or write;
 * 0 if it is idle
 */
static uint64_t report_history(struct history *h)
{
	char why[HISTORY_TEXT_MAX];
	bool loaded, slow;
	uint64_t since;

	pthread_mutex_lock(&h->lock);
	since = h->since;
	slow = since && loop_now() >= since + HISTORY_SLOW;
	loaded = h->loaded;
	strcpy(why, h->why);
	pthread_mutex_unlock(&h->lock);
	if (slow)
		snprintf(why, sizeof(why),
			 "%s below %.160s takes more than 5 s: does the disk hang?",
			 loaded ? "writing" : "reading", h->dir);
	if (strcmp(h->reported, why)) {
		strcpy(h->reported, why);
		h->ops->error(h->arg, why);
	}
	return since;
}

static void on_history_event(void *arg, unsigned int what)
{
	struct history *h = arg;
	uint64_t n;

	(void)what;
	eventfd_read(h->event, &n);
	report_history(h);
	history_search_done(h);
}

static void on_history_timer(void *arg)
{
	struct history *h = arg;
	uint64_t since = report_history(h);

	h->armed = since;
	loop_timer_set(h->timer, since ? loop_now() + HISTORY_SLOW : LOOP_NEVER);
}

static bool start_history_thread(pthread_t *thread, void *(*run)(void *arg), struct history *h)
{
	pthread_mutex_lock(&h->lock);
	h->users++;
	pthread_mutex_unlock(&h->lock);
	if (!thread_start(thread, run, h))
		return true;
	memset(thread, 0, sizeof(*thread));
	pthread_mutex_lock(&h->lock);
	h->users--;
	pthread_mutex_unlock(&h->lock);
	return false;
}

static void set_up_conditions(struct history *h)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->wake, &attr);
	pthread_cond_init(&h->written, &attr);
	pthread_cond_init(&h->asked, &attr);
	pthread_condattr_destroy(&attr);
}

void history_put(struct history *h)
{
	bool last;

	pthread_mutex_lock(&h->lock);
	last = !--h->users;
	pthread_mutex_unlock(&h->lock);
	if (!last)
		return;
	while (h->first) {
		struct history_item *i = h->first;

		h->first = i->next;
		free(i->line);
		free(i);
	}
	close(h->event);
	pthread_cond_destroy(&h->wake);
	pthread_cond_destroy(&h->written);
	pthread_cond_destroy(&h->asked);
	pthread_mutex_destroy(&h->lock);
	free(h->logs);
	free(h->seg);
	free(h->w);
	free(h);
}

static void end_thread(pthread_t thread, const struct timespec *until)
{
	/*
	 * A thread that hangs continues when the disk answers; then it frees the memory that it
	 * uses.
	 */
	if (thread && !thread_join(thread, until))
		pthread_detach(thread);
}

void history_free(struct history *h)
{
	struct timespec until;

	if (!h)
		return;
	loop_fd_free(h->watch);
	loop_timer_free(h->timer);
	pthread_mutex_lock(&h->lock);
	h->stop = true;
	pthread_cond_broadcast(&h->wake);
	pthread_cond_broadcast(&h->written);
	pthread_cond_broadcast(&h->asked);
	pthread_mutex_unlock(&h->lock);
	until = thread_grace();
	end_thread(h->writer, &until);
	end_thread(h->searcher, &until);
	history_search_drop(h);
	history_put(h);
}

struct history *history_new(struct loop *loop, const struct history_config *c,
			    const struct history_ops *ops, void *arg)
{
	struct history *h = calloc(1, sizeof(*h));
	int n;

	if (!h)
		return NULL;
	h->users = 1;
	set_up_conditions(h);
	h->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->w = history_writer_new();
	h->guid = c->guid;
	h->log = c->log;
	h->since = loop_now();
	h->armed = true;
	h->bytes_max = c->bytes;
	h->segment_max = c->bytes / SEGMENTS < SEGMENT_MAX ? c->bytes / SEGMENTS : SEGMENT_MAX;
	h->ops = ops;
	h->arg = arg;
	n = snprintf(h->dir, sizeof(h->dir), "%s/fabricd-%016" PRIx64 ".history", c->dir, c->guid);
	snprintf(h->fabric, sizeof(h->fabric), "%s", c->fabric);
	if (h->event >= 0)
		h->watch = loop_fd_new(loop, h->event, LOOP_READ, on_history_event, h);
	h->timer = loop_timer_new(loop, on_history_timer, h);
	if (h->timer)
		loop_timer_set(h->timer, h->since + HISTORY_SLOW);
	if (h->w && h->watch && h->timer && n < (int)sizeof(h->dir)) {
		if (start_history_thread(&h->writer, history_write_thread, h) &&
		    start_history_thread(&h->searcher, history_search_thread, h))
			return h;
	}
	history_free(h);
	return NULL;
}

/*
 * Called with the lock: adds a line to the queue. Return: false if out of memory, or if the line is
 * too long.
 */
static bool queue_line(struct history *h, const struct history_record *r)
{
	struct history_item *i = malloc(sizeof(*i));

	if (!i)
		return false;
	*i = (struct history_item) { .time = r->time };
	i->line = history_line(r, &i->len);
	if (!i->line) {
		free(i);
		return false;
	}
	*(h->last ? &h->last->next : &h->first) = i;
	h->last = i;
	h->queued++;
	h->queued_bytes += i->len;
	h->given++;
	return true;
}

bool history_add(struct history *h, const struct history_record *r)
{
	bool room;

	pthread_mutex_lock(&h->lock);
	room = h->queued < QUEUE_MAX && h->queued_bytes + HISTORY_LINE_MAX <= QUEUE_BYTES_MAX;
	if (room)
		history_note_log(h, r->log, r->seq, history_last_number(h) + 1);
	if (room ? !queue_line(h, r) : r->whose != HISTORY_PULLED)
		h->dropped++;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	if (!h->armed)
		loop_timer_set(h->timer, loop_now() + HISTORY_SLOW);
	h->armed = true;
	return room;
}

bool history_room(struct history *h)
{
	bool room;

	pthread_mutex_lock(&h->lock);
	room = h->queued < QUEUE_MAX / 2 && h->queued_bytes < QUEUE_BYTES_MAX / 2;
	pthread_mutex_unlock(&h->lock);
	return room;
}

bool history_has(struct history *h, uint64_t log, uint64_t seq)
{
	const struct history_log *l;
	bool has;

	pthread_mutex_lock(&h->lock);
	l = history_find_log(h, log);
	has = l && l->seq >= seq;
	pthread_mutex_unlock(&h->lock);
	return has;
}

char *history_have(struct history *h)
{
	char *text = NULL, *p;

	pthread_mutex_lock(&h->lock);
	if (h->loaded)
		text = malloc(h->nlogs * 40 + 1);
	p = text;
	if (p)
		*p = '\0';
	for (uint32_t i = 0; p && i < h->nlogs; i++)
		p += sprintf(p, "%s%016" PRIx64 "=%" PRIu64, i ? "," : "", h->logs[i].log,
			     h->logs[i].seq);
	pthread_mutex_unlock(&h->lock);
	return text;
}

void history_stats(struct history *h, struct history_stats *out)
{
	int64_t since = INT64_MAX;

	pthread_mutex_lock(&h->lock);
	for (uint32_t i = 0; i < h->nseg; i++)
		if (h->seg[i].count && h->seg[i].min < since)
			since = h->seg[i].min;
	*out = (struct history_stats) {
		.loaded = h->loaded, .events = h->events, .bytes = h->bytes,
		.bytes_max = h->bytes_max, .dropped = h->dropped, .damaged = h->damaged,
		.since = since == INT64_MAX ? 0 : since,
	};
	pthread_mutex_unlock(&h->lock);
}
