// SPDX-License-Identifier: GPL-2.0-only
/* The thread that writes the history (history.c). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "daemon/history_impl.h"
#include "daemon/loop.h"

#define BATCH 65536u			/* bytes that are written at once */
#define LOGS_MAX 4096u
#define TRIES 100			/* how many numbers are tried for a new file */
#define AGAIN (10 * SEC)		/* time after which a failed write is tried again */

/**
 * struct history_writer - state that only the writer uses
 * @fd: the file to which it appends; -1: none is open
 * @last_try: the writer has to end, and tries a failed write for the last time
 * @anew: the writer begins another file, because the last file could not be read or has an earlier
 *	format
 */
struct history_writer {
	int fd;
	bool last_try, anew;
	char batch[BATCH];
};

struct history_writer *history_writer_new(void)
{
	struct history_writer *w = malloc(sizeof(*w));

	if (w) {
		w->fd = -1;
		w->last_try = false;
		w->anew = false;
	}
	return w;
}

const char *history_path(const struct history *h, uint32_t n, char to[HISTORY_PATH_MAX])
{
	snprintf(to, HISTORY_PATH_MAX, "%s/%08" PRIu32 ".log", h->dir, n);
	return to;
}

void history_wake_loop(struct history *h)
{
	eventfd_write(h->event, 1);
}

static void set_history_why(struct history *h, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void set_history_why(struct history *h, const char *fmt, ...)
{
	char text[HISTORY_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (char *p = text; *p; p++)	/* the text becomes a part of JSON, and may quote a
					 * damaged file */
		if (*p < ' ' || *p > '~')
			*p = '?';
	pthread_mutex_lock(&h->lock);
	if (strcmp(h->why, text)) {
		strcpy(h->why, text);
		history_wake_loop(h);
	}
	pthread_mutex_unlock(&h->lock);
}

/* --- what the files contain; called with the lock -------------------------------------- */

struct history_log *history_find_log(struct history *h, uint64_t log)
{
	for (uint32_t i = h->nlogs; i-- > 0;)
		if (h->logs[i].log == log)
			return &h->logs[i];
	return NULL;
}

void history_note_log(struct history *h, uint64_t log, uint64_t seq, uint32_t segment)
{
	struct history_log *l = history_find_log(h, log), *more;

	if (!l && h->nlogs < LOGS_MAX) {
		more = realloc(h->logs, (h->nlogs + 1) * sizeof(*more));
		if (!more)
			return;
		h->logs = more;
		l = &more[h->nlogs++];
		*l = (struct history_log) { .log = log };
	}
	if (!l)
		return;
	if (seq > l->seq)
		l->seq = seq;
	if (segment > l->segment)
		l->segment = segment;
}

static void forget_logs(struct history *h, uint32_t before)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < h->nlogs; i++)
		if (h->logs[i].segment >= before)
			h->logs[n++] = h->logs[i];
	h->nlogs = n;
}

uint32_t history_last_number(const struct history *h)
{
	return h->nseg ? h->seg[h->nseg - 1].n : 0;
}

static struct history_segment *add_segment(struct history *h, uint32_t n)
{
	struct history_segment *seg = realloc(h->seg, (h->nseg + 1) * sizeof(*seg));

	if (!seg)
		return NULL;
	h->seg = seg;
	seg = &seg[h->nseg++];
	*seg = (struct history_segment) { .n = n, .min = INT64_MAX, .max = INT64_MIN };
	return seg;
}

static void count_event(struct history *h, struct history_segment *s, int64_t time)
{
	s->count++;
	if (time < s->min)
		s->min = time;
	if (time > s->max)
		s->max = time;
	h->events++;
}

/* --- files from before this start ------------------------------------------------------ */

static bool is_stopped(struct history *h)
{
	bool stopped;

	pthread_mutex_lock(&h->lock);
	stopped = h->stop;
	pthread_mutex_unlock(&h->lock);
	return stopped;
}

/** struct loading - a file that is being read */
struct loading {
	struct history *h;
	struct history_segment seg;
};

static bool load_record(void *arg, const struct history_record *r, uint64_t next)
{
	struct loading *l = arg;

	(void)next;
	pthread_mutex_lock(&l->h->lock);
	count_event(l->h, &l->seg, r->time);
	history_note_log(l->h, r->log, r->seq, l->seg.n);
	pthread_mutex_unlock(&l->h->lock);
	return !is_stopped(l->h);
}

static void refuse_segment(struct history *h, const char *path, const char *why)
{
	char aside[HISTORY_PATH_MAX + 16];

	snprintf(aside, sizeof(aside), "%s.refused", path);
	set_history_why(h, "%.120s is not used: %s%s", path, why,
		rename(path, aside) ? "" : "; it was renamed to .refused");
}

static void load_lines(struct history *h, uint32_t n, int fd, uint64_t size, uint64_t head)
{
	struct loading l = { .h = h, .seg = { .n = n, .min = INT64_MAX, .max = INT64_MIN } };
	struct history_walk walk = { .each = load_record, .arg = &l };
	struct history_segment *s;
	int err = history_walk(fd, head, size, &walk);

	h->w->anew = err;
	if (err)
		set_history_why(h, "cannot read file %08" PRIu32 " below %.120s: %s", n, h->dir,
				strerror(-err));
	/* Truncates an incomplete last line, but never lines that were not read. */
	if (walk.end < size && !err && !is_stopped(h) && !ftruncate(fd, (off_t)walk.end))
		walk.damaged++;
	/* New lines are written after all lines that were not read. */
	l.seg.bytes = err || is_stopped(h) ? size : walk.end;
	pthread_mutex_lock(&h->lock);
	h->damaged += walk.damaged;
	h->bytes += l.seg.bytes;
	s = add_segment(h, n);
	if (s)
		*s = l.seg;
	pthread_mutex_unlock(&h->lock);
}

/*
 * Return: bytes of the first line; 0 if the first line is incomplete; -EBADMSG if the file is not a
 * file of this history; or -errno
 */
static ssize_t open_segment(struct history *h, const char *path, int *fd, uint64_t *size,
			    bool *former, char *why, size_t room)
{
	char head[HISTORY_HEAD_MAX];
	struct stat st;
	ssize_t len;

	*fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (*fd < 0 && errno != ELOOP && errno != ENXIO && errno != EISDIR)
		return -errno;
	if (*fd >= 0 && fstat(*fd, &st))
		return -errno;
	if (*fd < 0 || !S_ISREG(st.st_mode)) {
		snprintf(why, room, "it is not a regular file");
		return -EBADMSG;
	}
	*size = (uint64_t)st.st_size;
	len = pread(*fd, head, sizeof(head), 0);
	if (len < 0)
		return errno == EBADMSG ? -EIO : -errno;
	return history_head_check(head, (size_t)len, h->fabric, h->guid, former, why, room);
}

/* Reads a file. A file that cannot be read now keeps its name, because its contents may be good. */
static void load_segment(struct history *h, uint32_t n)
{
	char path[HISTORY_PATH_MAX], why[160];
	bool former = false;
	uint64_t size = 0;
	ssize_t at;
	int fd;

	at = open_segment(h, history_path(h, n, path), &fd, &size, &former, why, sizeof(why));
	if (at > 0)
		load_lines(h, n, fd, size, (uint64_t)at);
	else if (at == -EBADMSG)
		refuse_segment(h, path, why);
	else if (!at)
		unlink(path);	/* a crash happened before the first line was written */
	else
		set_history_why(h, "%.120s is not used: %s", path, strerror((int)-at));
	if (at < 0 || former)
		h->w->anew = true;
	if (fd >= 0)
		close(fd);
}

static int is_segment(const struct dirent *e)
{
	return strspn(e->d_name, "0123456789") == 8 && !strcmp(e->d_name + 8, ".log");
}

/*
 * Sets @since, so that reading each file may take HISTORY_SLOW before it counts as a problem.
 * Return: false if the writer has to end.
 */
static bool begin_load(struct history *h)
{
	bool go_on;

	pthread_mutex_lock(&h->lock);
	h->since = loop_now();
	go_on = !h->stop;
	pthread_mutex_unlock(&h->lock);
	return go_on;
}

static void load_all(struct history *h)
{
	struct dirent **list;
	int n = scandir(h->dir, &list, is_segment, alphasort);

	for (int i = 0; i < n; i++) {
		if (begin_load(h))
			load_segment(h, (uint32_t)strtoul(list[i]->d_name, NULL, 10));
		free(list[i]);
	}
	if (n >= 0)
		free(list);
	pthread_mutex_lock(&h->lock);
	h->loaded = !h->stop;
	h->since = 0;
	pthread_mutex_unlock(&h->lock);
}

/* --- writing --------------------------------------------------------------------------- */

/* Deletes the oldest file. */
static void drop_segment(struct history *h)
{
	char path[HISTORY_PATH_MAX];
	struct history_segment old;

	pthread_mutex_lock(&h->lock);
	old = h->seg[0];
	memmove(h->seg, h->seg + 1, --h->nseg * sizeof(*h->seg));
	h->events -= old.count;
	h->bytes -= old.bytes;
	forget_logs(h, old.n + 1);
	pthread_mutex_unlock(&h->lock);
	unlink(history_path(h, old.n, path));
}

static int sync_names(const struct history *h)
{
	int fd = open(h->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = fsync(fd) ? -errno : 0;
	close(fd);
	return err;
}

static int make_directory(const struct history *h)
{
	char state[HISTORY_PATH_MAX];
	char *slash;

	snprintf(state, sizeof(state), "%s", h->dir);
	slash = strrchr(state, '/');
	if (slash)
		*slash = '\0';
	if (mkdir(state, 0700) && errno != EEXIST)
		return -errno;
	return mkdir(h->dir, 0700) && errno != EEXIST ? -errno : 0;
}

/*
 * Creates a file with the number @n, or with a greater number, because a file that is not of this
 * history and could not be renamed may have the number.
 */
static int create_file(const struct history *h, uint32_t *n, char path[HISTORY_PATH_MAX])
{
	int fd = -1;

	for (unsigned int i = 0; i < TRIES; i++) {
		fd = open(history_path(h, ++*n, path),
			  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd < 0 ? -errno : fd;
}

static int begin_segment(struct history *h)
{
	char path[HISTORY_PATH_MAX], head[HISTORY_HEAD_MAX];
	size_t len = history_head(head, h->fabric, h->guid);
	uint32_t n = history_last_number(h);
	struct history_segment *s;
	int fd, err;

	err = make_directory(h);
	if (err)
		return err;
	fd = create_file(h, &n, path);
	if (fd < 0)
		return fd;
	errno = 0;
	err = write(fd, head, len) == (ssize_t)len ? sync_names(h) : -(errno ? errno : ENOSPC);
	pthread_mutex_lock(&h->lock);
	s = err ? NULL : add_segment(h, n);
	if (s) {
		s->bytes = len;
		h->bytes += len;
	}
	pthread_mutex_unlock(&h->lock);
	if (s) {
		h->w->fd = fd;
		h->w->anew = false;
		return 0;
	}
	unlink(path);
	close(fd);
	return err ? err : -ENOMEM;
}

static int open_last(struct history *h)
{
	char path[HISTORY_PATH_MAX];

	h->w->fd = open(history_path(h, history_last_number(h), path),
			O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	return h->w->fd < 0 ? -errno : 0;
}

/* Begins another file if the last one is full. Only this thread changes the list of files. */
static int prepare_segment(struct history *h)
{
	struct history_segment *s = h->nseg ? &h->seg[h->nseg - 1] : NULL;

	if (s && !h->w->anew && s->bytes < h->segment_max && (h->w->fd >= 0 || !open_last(h)))
		return 0;
	if (h->w->fd >= 0)
		close(h->w->fd);
	h->w->fd = -1;
	while (h->nseg && h->bytes + h->segment_max + HISTORY_LINE_MAX > h->bytes_max)
		drop_segment(h);
	return begin_segment(h);
}

/*
 * Takes the first lines that fit into @room, at least one. Return: number of these lines; @len: set
 * to their bytes
 */
static uint32_t take_batch(struct history *h, uint64_t room, size_t *len)
{
	uint32_t n = 0;

	*len = 0;
	for (struct history_item *i = h->first; i && *len + i->len <= BATCH; i = i->next, n++) {
		if (n && *len + i->len > room)
			break;
		memcpy(h->w->batch + *len, i->line, i->len);
		*len += i->len;
	}
	return n;
}

/* Removes the first @n lines, of @bytes, from the queue, because they are written. */
static void leave_queue(struct history *h, uint32_t n, size_t bytes)
{
	struct history_segment *s = &h->seg[h->nseg - 1];

	while (n--) {
		struct history_item *i = h->first;

		h->first = i->next;
		h->queued--;
		h->queued_bytes -= i->len;
		h->done++;
		count_event(h, s, i->time);
		free(i->line);
		free(i);
	}
	if (!h->first)
		h->last = NULL;
	s->bytes += bytes;
	h->bytes += bytes;
	pthread_cond_broadcast(&h->written);
}

static int write_at(int fd, const char *data, size_t len, uint64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, data, len, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		data += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

/*
 * Writes some lines. From then on searches find them, and they survive the end of this process;
 * after fdatasync() they survive a loss of power, too.
 */
static int write_lines(struct history *h)
{
	uint64_t at;
	uint32_t n;
	size_t len;
	int err = prepare_segment(h);

	if (err)
		return err;
	at = h->seg[h->nseg - 1].bytes;
	pthread_mutex_lock(&h->lock);
	n = take_batch(h, h->segment_max - at, &len);
	pthread_mutex_unlock(&h->lock);
	err = write_at(h->w->fd, h->w->batch, len, at);
	if (err) {
		if (ftruncate(h->w->fd, (off_t)at)) {
			close(h->w->fd);
			h->w->fd = -1;
		}
		return err;
	}
	pthread_mutex_lock(&h->lock);
	leave_queue(h, n, len);
	pthread_mutex_unlock(&h->lock);
	return fdatasync(h->w->fd) ? -errno : 0;
}

/*
 * Waits for lines or, if the last write @failed, for AGAIN. Return: false if the thread has to end
 */
static bool await_lines(struct history *h, bool failed)
{
	struct timespec until;
	bool go_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += AGAIN / SEC;
	pthread_mutex_lock(&h->lock);
	if (h->since && loop_now() >= h->since + HISTORY_SLOW)
		history_wake_loop(h);	/* the problem is over */
	h->since = 0;
	while (!h->stop && (failed || !h->first)) {
		if (!failed)
			pthread_cond_wait(&h->wake, &h->lock);
		else if (pthread_cond_timedwait(&h->wake, &h->lock, &until) == ETIMEDOUT)
			failed = false;
	}
	go_on = h->first && !(h->stop && failed && h->w->last_try);
	h->w->last_try = h->stop;
	h->since = go_on ? loop_now() : 0;
	pthread_mutex_unlock(&h->lock);
	return go_on;
}

void *history_write_thread(void *arg)
{
	struct history *h = arg;
	bool failed = false, bad = false;

	load_all(h);
	history_wake_loop(h);
	while (h->loaded && await_lines(h, failed)) {
		int err = write_lines(h);

		failed = err;
		if (err)
			set_history_why(h, "cannot write below %.160s: %s; events are kept in "
					"memory only", h->dir, strerror(-err));
		else if (bad)
			set_history_why(h, "%s", "");
		bad = err;
	}
	if (h->w->fd >= 0)
		close(h->w->fd);
	history_put(h);
	return NULL;
}
