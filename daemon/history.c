// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the history of a fabric on the disk of a candidate
 *
 * The directory fabricd-GUID.history has files with ascending numbers (history_file.c). The writer,
 * a thread, appends lines to the last one. When it is full, the writer begins the next one, and
 * deletes the oldest ones until there is room for it.
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
#include "daemon/thread.h"

#define QUEUE_MAX 8192u			/* lines */
#define QUEUE_BYTES_MAX (1u << 20)
#define BATCH 65536u			/* bytes written at once */
#define SEGMENTS 64u			/* about so many files */
#define SEGMENT_MAX (4u << 20)
#define LOGS_MAX 4096u
#define TRIES 100			/* numbers that are tried for a new file */
#define AGAIN (10 * SEC)		/* until a failed write is tried again */
#define SLOW (5 * SEC)			/* a write that takes longer is a problem */

/**
 * struct history_writer - state that only the writer uses
 * @fd: the file to which it appends; -1: none is open
 * @last_try: the writer is to end, and tries a failed write for the last time
 * @anew: the last file could not be read, so the writer begins another one
 */
struct history_writer {
	int fd;
	bool last_try, anew;
	char batch[BATCH];
};

const char *history_path(const struct history *h, uint32_t n, char to[HISTORY_PATH_MAX])
{
	snprintf(to, HISTORY_PATH_MAX, "%s/%08" PRIu32 ".log", h->dir, n);
	return to;
}

void history_tell_loop(struct history *h)
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
	for (char *p = text; *p; p++)	/* the text becomes JSON, and may quote a damaged file */
		if (*p < ' ' || *p > '~')
			*p = '?';
	pthread_mutex_lock(&h->lock);
	if (strcmp(h->why, text)) {
		strcpy(h->why, text);
		history_tell_loop(h);
	}
	pthread_mutex_unlock(&h->lock);
}

/* --- what the files contain; called with the lock -------------------------------------- */

static struct history_log *find_log(struct history *h, uint64_t log)
{
	for (uint32_t i = h->nlogs; i-- > 0;)
		if (h->logs[i].log == log)
			return &h->logs[i];
	return NULL;
}

/* Notes an event of a log. There are few logs: one for each start of a manager that led. */
static void note_log(struct history *h, uint64_t log, uint64_t seq, uint32_t segment)
{
	struct history_log *l = find_log(h, log), *more;

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

static uint32_t last_number(const struct history *h)
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

/** struct loading - a file being read */
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
	note_log(l->h, r->log, r->seq, l->seg.n);
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
	/* Truncates an incomplete last line, but removes nothing that was not read. */
	if (walk.end < size && !err && !is_stopped(h) && !ftruncate(fd, (off_t)walk.end))
		walk.damaged++;
	/* Lines that were not read are never overwritten. */
	l.seg.bytes = err || is_stopped(h) ? size : walk.end;
	pthread_mutex_lock(&h->lock);
	h->damaged += walk.damaged;
	h->bytes += l.seg.bytes;
	s = add_segment(h, n);
	if (s)
		*s = l.seg;
	pthread_mutex_unlock(&h->lock);
}

/* Return: bytes of the first line; 0: it is incomplete; -EBADMSG: it is no such file; or -errno */
static ssize_t open_segment(struct history *h, const char *path, int *fd, uint64_t *size, char *why,
			    size_t room)
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
		snprintf(why, room, "it is no file");
		return -EBADMSG;
	}
	*size = (uint64_t)st.st_size;
	len = pread(*fd, head, sizeof(head), 0);
	if (len < 0)
		return errno == EBADMSG ? -EIO : -errno;
	return history_head_check(head, (size_t)len, h->fabric, h->guid, why, room);
}

/* Reads a file. One that cannot be read now keeps its name: it may be a good one. */
static void load_segment(struct history *h, uint32_t n)
{
	char path[HISTORY_PATH_MAX], why[160];
	uint64_t size = 0;
	ssize_t at;
	int fd;

	at = open_segment(h, history_path(h, n, path), &fd, &size, why, sizeof(why));
	if (at > 0)
		load_lines(h, n, fd, size, (uint64_t)at);
	else if (at == -EBADMSG)
		refuse_segment(h, path, why);
	else if (!at)
		unlink(path);	/* a crash happened before its first line was written */
	else
		set_history_why(h, "%.120s is not used: %s", path, strerror((int)-at));
	if (at < 0)
		h->w->anew = true;
	if (fd >= 0)
		close(fd);
}

static int is_segment(const struct dirent *e)
{
	return strspn(e->d_name, "0123456789") == 8 && !strcmp(e->d_name + 8, ".log");
}

/* Sets @since, so that each file may take SLOW. Return: false if the writer is to end. */
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
 * Creates a file with the number @n or one of the next, because a file that is not of this history
 * and could not be renamed may have the number.
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
	uint32_t n = last_number(h);
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

	h->w->fd = open(history_path(h, last_number(h), path), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
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

/* Takes the first lines that fit into @room, at least one. Return: how many; @len: their bytes */
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
 * Writes some lines. Then searches find them, and they survive the end of this process; after
 * fdatasync() they survive a loss of power, too.
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

/* Waits for lines or, if the last write @failed, for AGAIN. Return: false: the thread is to end */
static bool await_lines(struct history *h, bool failed)
{
	struct timespec until;
	bool go_on;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += AGAIN / SEC;
	pthread_mutex_lock(&h->lock);
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

static void *history_write_thread(void *arg)
{
	struct history *h = arg;
	bool failed = false, bad = false;

	load_all(h);
	history_tell_loop(h);
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

/* --- the loop -------------------------------------------------------------------------- */

/* Calls @told if what is wrong has changed. Return: since when the writer is busy; 0: it is idle */
static uint64_t tell_history(struct history *h)
{
	char why[HISTORY_TEXT_MAX];
	uint64_t since;
	bool loaded;

	pthread_mutex_lock(&h->lock);
	since = h->since;
	loaded = h->loaded;
	strcpy(why, h->why);
	pthread_mutex_unlock(&h->lock);
	if (since && loop_now() >= since + SLOW)
		snprintf(why, sizeof(why),
			 "%s below %.160s takes more than 5 s: does the disk hang?",
			 loaded ? "writing" : "reading", h->dir);
	if (strcmp(h->told, why)) {
		strcpy(h->told, why);
		h->ops->told(h->arg, why);
	}
	return since;
}

static void on_history_event(void *arg, unsigned int what)
{
	struct history *h = arg;
	uint64_t n;

	(void)what;
	eventfd_read(h->event, &n);
	tell_history(h);
	history_search_done(h);
}

static void on_history_timer(void *arg)
{
	struct history *h = arg;
	uint64_t since = tell_history(h);

	h->armed = since;
	loop_timer_set(h->timer, since ? loop_now() + SLOW : LOOP_NEVER);
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
	/* A thread that hangs goes on when the disk answers, and then frees what it uses. */
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
	h->w = malloc(sizeof(*h->w));
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
		loop_timer_set(h->timer, h->since + SLOW);
	if (h->w && h->watch && h->timer && n < (int)sizeof(h->dir)) {
		h->w->fd = -1;
		h->w->last_try = false;
		h->w->anew = false;
		if (start_history_thread(&h->writer, history_write_thread, h) &&
		    start_history_thread(&h->searcher, history_search_thread, h))
			return h;
	}
	history_free(h);
	return NULL;
}

/* With the lock: adds a line to the queue. Return: false if out of memory, or it is too long. */
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
		note_log(h, r->log, r->seq, last_number(h) + 1);
	if (room ? !queue_line(h, r) : r->whose != HISTORY_PULLED)
		h->dropped++;
	pthread_cond_signal(&h->wake);
	pthread_mutex_unlock(&h->lock);
	if (!h->armed)
		loop_timer_set(h->timer, loop_now() + SLOW);
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
	l = find_log(h, log);
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
