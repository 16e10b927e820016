// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thread that searches the history. A search finds all events that were added before it was
 * started: it waits AWAIT_MS for the writer. If the disk hangs or fails, lines that are not written
 * yet are added from the queue, at the end; they count as not searched, so a search that goes on
 * finds them again.
 *
 * A file is read only if it may contain events of the times in the filter. The clock of a host can
 * jump, so the times of a file are its earliest and its latest.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "daemon/history_impl.h"
#include "daemon/loop.h"

#define JOBS_MAX 32
#define AWAIT_MS 250		/* longest wait for the writer */
#define SEARCH_MAX (250 * MS)	/* longest time of one search; a further search continues where
				 * it ended */

/**
 * struct history_job - a search
 * @has: numbers of the logs that the caller has, ascending; @nhas: number of these logs
 * @events, @len, @room: JSON texts of events, a comma after each
 * @seg, @at: position where the search goes on
 * @unread: errno of a file that could not be read
 * @until: the search ends after the file that it is reading at this time
 * @done: callback of the caller; NULL: history_forget() was called
 * @ended: the thread has ended the search
 * @dropped: the thread has to free this struct when the search has ended
 */
struct history_job {
	struct history *h;
	struct history_job *next;
	struct history_filter f;
	struct history_log *has;
	uint32_t nhas;
	char *events;
	size_t len, room;
	uint32_t *lens;
	uint32_t n, nroom;
	uint32_t seg;
	uint64_t at, until;
	bool full, lost, failed, loading, taken, ended, dropped;
	int unread;
	void (*done)(void *arg, const struct history_found *found);
	void *arg;
};

/* --- the filter ------------------------------------------------------------------------ */

static int order_logs(const void *a, const void *b)
{
	const struct history_log *p = a, *q = b;

	return p->log < q->log ? -1 : p->log > q->log;
}

/*
 * Parses the text of history_have() of another node. Return: false if out of memory, or if the text
 * is malformed.
 */
static bool read_have(struct history_job *j)
{
	const char *p = j->f.have;
	struct history_log l, *more;
	int n;

	while (p && sscanf(p, "%16" SCNx64 "=%" SCNu64 "%n", &l.log, &l.seq, &n) == 2) {
		more = realloc(j->has, (j->nhas + 1) * sizeof(*more));
		if (!more)
			return false;
		j->has = more;
		more[j->nhas++] = l;
		p = p[n] == ',' ? p + n + 1 : NULL;
	}
	if (j->nhas)
		qsort(j->has, j->nhas, sizeof(*j->has), order_logs);
	return true;
}

static bool job_wants(const struct history_job *j, const struct history_record *r)
{
	const struct history_log key = { .log = r->log }, *l;

	if (j->f.whose[0] && !strchr(j->f.whose, r->whose))
		return false;
	l = j->nhas ? bsearch(&key, j->has, j->nhas, sizeof(key), order_logs) : NULL;
	return (!l || r->seq > l->seq) && history_wants(&j->f, r);
}

/* --- events found ---------------------------------------------------------------------- */

static bool grow_lens(struct history_job *j, uint32_t n)
{
	uint32_t room = n < 64 ? 64 : 2 * n;
	uint32_t *lens = realloc(j->lens, room * sizeof(*lens));

	if (!lens)
		return false;
	j->lens = lens;
	j->nroom = room;
	return true;
}

static bool grow_found(struct history_job *j, size_t len)
{
	char *events;

	if (j->len + len > j->room) {
		events = realloc(j->events, 2 * j->room + len);
		if (!events)
			return false;
		j->events = events;
		j->room = 2 * j->room + len;
	}
	return j->n < j->nroom || grow_lens(j, j->n + 1);
}

/* Removes the first @n events, because only the last ones are wanted. */
static void drop_first(struct history_job *j, uint32_t n)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < n; i++)
		bytes += j->lens[i];
	memmove(j->events, j->events + bytes, j->len -= bytes);
	memmove(j->lens, j->lens + n, (j->n -= n) * sizeof(*j->lens));
}

/* Adds an event to the result. @json is its JSON with a comma after it. */
static bool add_event(struct history_job *j, const char *json, size_t len)
{
	if (!grow_found(j, len)) {
		j->failed = true;
		return false;
	}
	memcpy(j->events + j->len, json, len);
	j->len += len;
	j->lens[j->n++] = (uint32_t)len;
	if (j->f.last && j->n > 2 * j->f.last)
		drop_first(j, j->n - j->f.last);
	return true;
}

/* Writes the event as JSON with a comma after it. Return: its length. */
static size_t write_event(const struct history_record *r, char json[HISTORY_JSON_MAX])
{
	size_t len = history_json(r, json);

	json[len] = ',';
	return len + 1;
}

/* Adds a record if it fits the filter. Return: false to end the search: there is no room. */
static bool look_at_record(void *arg, const struct history_record *r, uint64_t next)
{
	struct history_job *j = arg;
	char json[HISTORY_JSON_MAX];
	size_t len;

	if (job_wants(j, r)) {
		len = write_event(r, json);
		if (!j->f.last && j->n && j->len + len > j->f.room) {
			j->full = true;
			return false;
		}
		if (!add_event(j, json, len))
			return false;
	}
	j->at = next;
	return true;
}

/* --- files ----------------------------------------------------------------------------- */

static bool may_have(const struct history_job *j, const struct history_segment *s)
{
	return s->count && s->min <= j->f.to && s->max >= j->f.from;
}

static void search_segment(struct history_job *j, const struct history_segment *s, uint64_t from)
{
	struct history_walk walk = { .each = look_at_record, .arg = j };
	char path[HISTORY_PATH_MAX], head[HISTORY_HEAD_MAX];
	int fd, err;

	if (!from)
		from = history_head(head, j->h->fabric, j->h->guid);
	j->seg = s->n;
	j->at = from;
	if (may_have(j, s)) {
		fd = open(history_path(j->h, s->n, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
		err = fd < 0 ? -errno : history_walk(fd, from, s->bytes, &walk);
		if (fd >= 0)
			close(fd);
		if (err && err != -ENOENT)	/* ENOENT: the writer has deleted the file */
			j->unread = -err;
	}
	if (!j->full && !j->failed)
		j->at = s->bytes;
}

/* Searches forwards, beginning with the file in which an earlier search ended. */
static void search_on(struct history_job *j, const struct history_segment *seg, uint32_t n)
{
	uint32_t from = j->seg;
	uint64_t at = j->at;

	for (uint32_t i = 0; i < n && !j->full && !j->failed; i++)
		if (seg[i].n >= from) {
			search_segment(j, &seg[i], seg[i].n == from ? at : 0);
			j->full |= loop_now() >= j->until && i + 1 < n;
		}
}

/* Puts the events found in this file before the events found in later files. */
static bool put_before(struct history_job *j, struct history_job *later)
{
	bool ok = later->n == 0 || (grow_found(j, later->len) && (j->nroom >= j->n + later->n ||
								  grow_lens(j, j->n + later->n)));

	if (ok && later->n) {
		memcpy(j->events + j->len, later->events, later->len);
		memcpy(j->lens + j->n, later->lens, later->n * sizeof(*j->lens));
		j->len += later->len;
		j->n += later->n;
	}
	free(later->events);
	free(later->lens);
	return ok;
}

/* Searches for the last events: from the last file backwards. */
static void search_back(struct history_job *j, const struct history_segment *seg, uint32_t n)
{
	uint32_t last = n ? seg[n - 1].n : 0;
	uint64_t at = n ? seg[n - 1].bytes : 0;

	while (n-- && j->n < j->f.last && !j->failed && !j->full) {
		struct history_job later = *j;

		j->events = NULL;
		j->lens = NULL;
		j->len = j->room = 0;
		j->n = j->nroom = 0;
		search_segment(j, &seg[n], 0);
		j->failed |= !put_before(j, &later);
		if (j->n > j->f.last)
			drop_first(j, j->n - j->f.last);
		j->full = n && loop_now() >= j->until;
	}
	j->seg = last;
	j->at = at;
}

/* --- the thread ------------------------------------------------------------------------ */

/* Called with the lock: waits until the lines that are in the queue now are written. */
static void await_writer(struct history *h)
{
	uint64_t want = h->given;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += AWAIT_MS * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (h->done < want && !h->stop && !h->why[0])
		if (pthread_cond_timedwait(&h->written, &h->lock, &until))
			break;
}

/*
 * Called with the lock. Return: the lines in the queue, in order; NULL if the queue is empty, or
 * out of memory.
 */
static char *copy_queue(const struct history *h, size_t *len)
{
	char *lines = h->queued_bytes ? malloc(h->queued_bytes) : NULL;

	*len = 0;
	for (const struct history_item *i = lines ? h->first : NULL; i; i = i->next) {
		memcpy(lines + *len, i->line, i->len);
		*len += i->len;
	}
	return lines;
}

static void search_queue(struct history_job *j, const char *lines, size_t len)
{
	const char *end = lines + len, *nl;
	char json[HISTORY_JSON_MAX];
	struct history_record r;
	size_t n;

	for (; lines < end && !j->failed; lines = nl + 1) {
		nl = memchr(lines, '\n', (size_t)(end - lines));
		if (history_line_read(lines, (size_t)(nl - lines), &r) || !job_wants(j, &r))
			continue;
		/*
		 * If this event were skipped, its log would look complete up to a later event. A
		 * reader that sends the list of events that it has may continue; others would find
		 * the same events again.
		 */
		n = write_event(&r, json);
		if (!j->f.last && j->len + n > j->f.room) {
			j->full |= j->f.have != NULL;
			break;
		}
		add_event(j, json, n);
	}
}

/*
 * Reads @after. Return: false if @after was made by another run of the manager, or its file was
 * deleted.
 */
static bool read_after(struct history_job *j, const struct history_segment *seg, uint32_t n)
{
	uint64_t log;
	int end = 0;

	if (!j->f.after[0])
		return true;
	if (sscanf(j->f.after, "%16" SCNx64 ":%" SCNu32 ":%" SCNu64 "%n", &log, &j->seg, &j->at,
		   &end) != 3 || j->f.after[end] || log != j->h->log)
		return false;
	if (!j->seg)	/* there was no file when @after was made */
		return true;
	for (uint32_t i = 0; i < n; i++)
		if (seg[i].n == j->seg)
			return j->at <= seg[i].bytes;
	return false;
}

static void run_search(struct history_job *j)
{
	struct history *h = j->h;
	struct history_segment *seg;
	size_t waiting_len;
	char *waiting;
	uint32_t n;

	pthread_mutex_lock(&h->lock);
	await_writer(h);
	n = h->nseg;
	seg = malloc((n + 1) * sizeof(*seg));
	if (seg && n)
		memcpy(seg, h->seg, n * sizeof(*seg));
	waiting = copy_queue(h, &waiting_len);
	j->loading = !h->loaded;
	pthread_mutex_unlock(&h->lock);
	j->until = loop_now() + SEARCH_MAX;
	j->failed = !seg || !read_have(j);
	j->lost = !j->failed && !read_after(j, seg, n);
	if (!j->failed && !j->lost) {
		if (j->f.last)
			search_back(j, seg, n);
		else
			search_on(j, seg, n);
		if (!j->full || j->f.last)
			search_queue(j, waiting, waiting_len);
		if (j->f.last && j->n > j->f.last)
			drop_first(j, j->n - j->f.last);
	}
	free(waiting);
	free(seg);
}

static void job_free(struct history_job *j)
{
	free(j->f.have);
	free(j->has);
	free(j->events);
	free(j->lens);
	free(j);
}

/* Called with the lock. Return: the next search to be done; NULL if there is no search. */
static struct history_job *next_search(struct history *h)
{
	struct history_job *j = h->jobs;

	while (j && j->taken)
		j = j->next;
	if (j)
		j->taken = true;
	return j;
}

void *history_search_thread(void *arg)
{
	struct history *h = arg;
	struct history_job *j;

	pthread_mutex_lock(&h->lock);
	while (!h->stop) {
		j = next_search(h);
		if (!j) {
			pthread_cond_wait(&h->asked, &h->lock);
			continue;
		}
		pthread_mutex_unlock(&h->lock);
		run_search(j);
		pthread_mutex_lock(&h->lock);
		j->ended = true;
		if (j->dropped)
			job_free(j);
		else
			history_wake_loop(h);
	}
	pthread_mutex_unlock(&h->lock);
	history_put(h);
	return NULL;
}

/* --- the loop -------------------------------------------------------------------------- */

/*
 * Called with the lock: removes the first search that has ended from the list. Return: this search;
 * NULL if no search has ended.
 */
static struct history_job *take_ended(struct history *h)
{
	for (struct history_job **at = &h->jobs; *at; at = &(*at)->next) {
		struct history_job *j = *at;

		if (j->ended) {
			*at = j->next;
			return j;
		}
	}
	return NULL;
}

static void return_found(struct history_job *j)
{
	struct history_found found = {
		.more = j->full, .lost = j->lost, .loading = j->loading, .unread = j->unread,
	};
	char *list = j->failed ? NULL : malloc(j->len + 3);

	if (list) {
		size_t n = j->len ? j->len - 1 : 0;	/* without the last comma */

		list[0] = '[';
		if (n)
			memcpy(list + 1, j->events, n);
		strcpy(list + 1 + n, "]");
	}
	found.events = list;
	snprintf(found.after, sizeof(found.after), "%016" PRIx64 ":%" PRIu32 ":%" PRIu64, j->h->log,
		 j->seg, j->at);
	j->done(j->arg, &found);
	free(list);
}

void history_search_done(struct history *h)
{
	struct history_job *j;

	for (;;) {
		pthread_mutex_lock(&h->lock);
		j = take_ended(h);
		pthread_mutex_unlock(&h->lock);
		if (!j)
			return;
		if (j->done)
			return_found(j);
		job_free(j);
	}
}

void history_search_drop(struct history *h)
{
	char none[] = "[]";
	const struct history_found lost = { .events = none, .lost = true };
	void (*done)(void *arg, const struct history_found *found);
	struct history_job *j;
	void *arg;

	pthread_mutex_lock(&h->lock);
	while ((j = h->jobs)) {
		h->jobs = j->next;
		done = j->done;
		arg = j->arg;
		j->done = NULL;
		j->dropped = j->taken && !j->ended;	/* the thread is still in this search,
							 * because the disk hangs */
		if (!j->dropped)
			job_free(j);
		pthread_mutex_unlock(&h->lock);
		if (done)
			done(arg, &lost);
		pthread_mutex_lock(&h->lock);
	}
	pthread_mutex_unlock(&h->lock);
}

struct history_job *history_ask(struct history *h, const struct history_filter *f,
				void (*done)(void *arg, const struct history_found *found),
				void *arg)
{
	struct history_job *j = calloc(1, sizeof(*j)), **at;
	unsigned int n = 0;

	if (!j) {
		free(f->have);
		return NULL;
	}
	*j = (struct history_job) { .h = h, .f = *f, .done = done, .arg = arg };
	pthread_mutex_lock(&h->lock);
	for (at = &h->jobs; *at; at = &(*at)->next)
		n++;
	if (n < JOBS_MAX)
		*at = j;
	pthread_cond_signal(&h->asked);
	pthread_mutex_unlock(&h->lock);
	if (n < JOBS_MAX)
		return j;
	job_free(j);
	return NULL;
}

void history_forget(struct history_job *j)
{
	struct history *h = j->h;
	struct history_job **at = &h->jobs;

	pthread_mutex_lock(&h->lock);
	j->done = NULL;
	while (*at && *at != j)
		at = &(*at)->next;
	if (*at && !j->taken) {	/* the search has not begun: its place in the list becomes free */
		*at = j->next;
		job_free(j);
	}
	pthread_mutex_unlock(&h->lock);
}
