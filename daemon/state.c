// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: the table that a candidate keeps on its disk
 *
 * There is one file for each NIC, fabricd-GUID.state. Its first line is:
 *
 *	torus-state FORMAT FABRIC GUID EPOCH VERSION LENGTH CRC
 *
 * CRC is CRC-32C in hexadecimal, over the line up to it and LENGTH bytes that follow: the table as
 * a message of the service network (svc.proto).
 *
 * Neither an update of fabricd nor a return to the release before may lose exclusions. So these
 * files have a FORMAT of their own. The message has a schema, too, which rises when managers of two
 * releases would misunderstand each other; a reader of this file ignores it. In svc.proto, the
 * members that a reader of this file uses keep their field numbers and their meaning: shape, open
 * dimensions, epoch, version, and of each entry its state, GUID, name and exclusions. An earlier
 * release skips a member that a later one adds. FORMAT rises if an earlier release would
 * misunderstand a file. A release reads all formats up to its own, and refuses later ones.
 *
 * The file is always complete, either the old one or the new one: the new one is written under
 * another name and synchronised (fsync), renamed, and the directory is synchronised.
 *
 * A disk may hang for minutes. So a thread writes, and the manager does not wait for it. While the
 * thread writes, a new table replaces a table that waits. A failed write is tried again every
 * AGAIN.
 *
 * Tests: tests/unit/test_state.c for the file, test_state_disk.c for disks that fail or hang,
 * tests/netns/test_keep.sh for exclusions that survive.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "daemon/state.h"
#include "daemon/thread.h"
#include "lib/deps/tn_deps.h"

#define STATE_PATH_MAX 512
#define FORMAT 1
#define MAGIC "torus-state"
#define LINE_MAX_BYTES 200
#define BODY_MAX (16u << 20)
#define AGAIN (30 * SEC)	/* time after which a failed write is tried again */
#define SLOW (5 * SEC)	/* a write that takes longer is reported as a problem */

/**
 * struct work - one write
 * @data: @len bytes to be written to @path
 * @refs: number of users, protected by the lock
 */
struct work {
	unsigned int refs;
	char path[STATE_PATH_MAX];
	uint8_t *data;
	size_t len;
};

/**
 * struct state
 * @lock: protects @todo to @free_it
 * @todo: the next write; NULL: there is none
 * @began: when the thread began to write; 0: it is not writing
 * @given: when the loop gave an idle thread a write; 0: the thread is idle
 * @ended: the thread has ended a write, with @err
 * @stop: the thread has to end; @free_it: the thread has to free this struct, because state_free()
 *	has returned
 * @last: the last write, kept to try it again
 * @epoch, @version: those of the table in @last
 */
struct state {
	char dir[STATE_PATH_MAX];
	char fabric[TORUS_NAME_MAX + 1];
	const struct state_ops *ops;
	void *arg;
	struct loop_fd *watch;
	struct loop_timer *timer;
	bool bad;
	struct work *last;
	uint64_t epoch, version, given;
	int event;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct work *todo;
	uint64_t began;
	bool ended, stop, free_it;
	int err;
};

/* --- the file -------------------------------------------------------------------------- */

static bool state_path(char *path, const char *dir, uint64_t guid, const char *end)
{
	int n = snprintf(path, STATE_PATH_MAX, "%s/fabricd-%016" PRIx64 ".state%s", dir, guid, end);

	return n > 0 && n < STATE_PATH_MAX;
}

static uint32_t state_crc(const char *line, size_t n, const void *body, size_t len)
{
	return tn_crc32c(tn_crc32c(0, line, n), body, len);
}

/** struct head - the first line */
struct head {
	unsigned int format;
	char fabric[TORUS_NAME_MAX + 1];
	uint64_t guid, epoch, version;
	size_t len;
	uint32_t crc;
};

/*
 * Makes the first line. A line in a file must equal this line byte by byte, else it counts as
 * damaged.
 */
static int head_line(char line[LINE_MAX_BYTES], const struct head *h)
{
	return snprintf(line, LINE_MAX_BYTES,
			MAGIC " %u %s %016" PRIx64 " %" PRIu64 " %" PRIu64 " %zu ", h->format,
			h->fabric, h->guid, h->epoch, h->version, h->len);
}

/* Drops a reference; called with the lock, unless no other thread can use @w. */
static void put_work(struct work *w)
{
	if (!w || --w->refs)
		return;
	free(w->data);
	free(w);
}

static struct work *work_new(const struct state *s, uint64_t guid, const struct fm_msg *table)
{
	struct work *w = calloc(1, sizeof(*w));
	char line[LINE_MAX_BYTES];
	uint8_t *body = NULL;
	struct head h;
	size_t len;
	int n;

	if (w)
		w->refs = 1;
	if (!w || !state_path(w->path, s->dir, guid, "") || fm_msg_pack(table, &body, &len)) {
		put_work(w);
		return NULL;
	}
	h = (struct head) { .format = FORMAT, .guid = guid, .epoch = table->table.term,
			    .version = table->table.version, .len = len };
	strcpy(h.fabric, s->fabric);
	n = head_line(line, &h);
	w->data = malloc((size_t)n + 9 + len);
	if (w->data) {
		snprintf((char *)w->data, (size_t)n + 10, "%s%08x", line,
			 state_crc(line, (size_t)n, body, len));
		w->data[n + 8] = '\n';
		memcpy(w->data + n + 9, body, len);
		w->len = (size_t)n + 9 + len;
	}
	free(body);
	if (w->data)
		return w;
	put_work(w);
	return NULL;
}

static int write_all(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		data += n;
		len -= (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

static int sync_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = fsync(fd) ? -errno : 0;
	close(fd);
	return err;
}

static int write_file(const char *dir, const struct work *w)
{
	char beside[STATE_PATH_MAX + 4];
	int fd, err;

	snprintf(beside, sizeof(beside), "%s.new", w->path);
	if (mkdir(dir, 0700) && errno != EEXIST)
		return -errno;
	fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, w->data, w->len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(beside, w->path))
		err = -errno;
	if (err)
		unlink(beside);
	return err ? err : sync_dir(dir);
}

/* --- reading --------------------------------------------------------------------------- */

/* Reads a file. Return: 0, and *@data must be freed by the caller; or a negative errno. */
static int read_file(const char *path, char **data, size_t *len)
{
	/* The daemon must not wait for a FIFO or another file that is not regular. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n;
	int err = 0;

	if (fd < 0)
		return -errno;
	*data = NULL;
	*len = 0;
	if (fstat(fd, &st))
		err = -errno;
	else if (!S_ISREG(st.st_mode) || st.st_size > BODY_MAX + LINE_MAX_BYTES)
		err = -EFBIG;
	else if (!(*data = malloc((size_t)st.st_size + 1)))
		err = -ENOMEM;
	while (!err && *len < (size_t)st.st_size) {
		n = read(fd, *data + *len, (size_t)st.st_size - *len);
		if (!n)
			break;
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EINTR)
			err = -errno;
	}
	close(fd);
	if (!err) {
		(*data)[*len] = '\0';
		return 0;
	}
	free(*data);
	return err;
}

/* Parses the first line. Return: number of bytes up to the CRC; 0 if the line is malformed. */
static size_t head_of(const char *data, size_t len, struct head *h)
{
	char line[LINE_MAX_BYTES], crc[9];
	int before = 0, all = 0;

	if (!memchr(data, '\n', len < LINE_MAX_BYTES ? len : LINE_MAX_BYTES) ||
	    sscanf(data, MAGIC " %u %63s %" SCNx64 " %" SCNu64 " %" SCNu64 " %zu %n%8x%n",
		   &h->format, h->fabric, &h->guid, &h->epoch, &h->version, &h->len, &before,
		   &h->crc, &all) != 7 ||
	    all != before + 8 || data[all] != '\n')
		return 0;
	snprintf(crc, sizeof(crc), "%08x", h->crc);
	if (head_line(line, h) != before || memcmp(line, data, (size_t)before) ||
	    memcmp(crc, data + before, 8))
		return 0;
	return (size_t)before;
}

static int refuse_file(char *why, const char *path, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse_file(char *why, const char *path, const char *fmt, ...)
{
	char text[STATE_TEXT_MAX / 2 - 40], aside[STATE_PATH_MAX + 16];
	bool moved;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(aside, sizeof(aside), "%s.refused", path);
	moved = !rename(path, aside);
	snprintf(why, STATE_TEXT_MAX, "%.120s is not used: %s%s", path, text,
		 moved ? "; it was renamed to .refused" : "");
	return -EBADMSG;
}

static int unpack_state(const char *path, const char *fabric, uint64_t guid, const char *data,
			size_t size, struct fm_msg *out, char *why)
{
	struct head h = { 0 };
	size_t n, line;
	int err;

	if (strncmp(data, MAGIC " ", strlen(MAGIC) + 1))
		return refuse_file(why, path, "it is not a state file");
	n = head_of(data, size, &h);
	if (h.format > FORMAT)
		return refuse_file(why, path,
				   "it has format %u, of a later fabricd; this one knows %u",
				   h.format, FORMAT);
	if (!n)
		return refuse_file(why, path, "its first line is damaged");
	line = n + 9;
	if (size - line != h.len)
		return refuse_file(why, path, "it has %zu bytes of %zu", size - line, h.len);
	if (state_crc(data, n, data + line, h.len) != h.crc)
		return refuse_file(why, path, "it is damaged: its check sum is wrong");
	if (strcmp(h.fabric, fabric))
		return refuse_file(why, path, "it is of fabric '%s', and this is '%s'", h.fabric,
				   fabric);
	if (h.guid != guid)
		return refuse_file(why, path, "it is of NIC %016" PRIx64, h.guid);
	err = fm_msg_unpack((const uint8_t *)data + line, h.len, out);
	if (err == -ENOMEM)
		return err;
	if (!err && (out->type != FM_MSG_TABLE || out->table.base)) {
		fm_msg_clear(out);
		err = -EBADMSG;
	}
	return err ? refuse_file(why, path, "there is no table in it") : 0;
}

int state_load(const char *dir, const char *fabric, uint64_t guid, struct fm_msg *out,
	       char why[STATE_TEXT_MAX])
{
	char path[STATE_PATH_MAX], *data = NULL;
	size_t size = 0;
	int err;

	why[0] = '\0';
	if (!state_path(path, dir, guid, ""))
		return -ENAMETOOLONG;
	err = read_file(path, &data, &size);
	if (!err) {
		err = unpack_state(path, fabric, guid, data, size, out, why);
		free(data);
	}
	if (err && err != -ENOENT && !why[0])
		refuse_file(why, path, "cannot read it: %s", strerror(-err));
	return err;
}

/* --- the thread ------------------------------------------------------------------------ */

static void free_all(struct state *s)
{
	put_work(s->todo);
	put_work(s->last);
	close(s->event);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void *write_states(void *arg)
{
	struct state *s = arg;
	bool free_it;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		struct work *w;
		int err;

		while (!s->todo && !s->stop)
			pthread_cond_wait(&s->wake, &s->lock);
		w = s->todo;
		s->todo = NULL;
		if (!w)
			break;
		s->began = loop_now();
		pthread_mutex_unlock(&s->lock);
		err = write_file(s->dir, w);
		pthread_mutex_lock(&s->lock);
		put_work(w);
		s->began = 0;
		s->err = err;
		s->ended = true;
		eventfd_write(s->event, 1);
	}
	free_it = s->free_it;
	pthread_mutex_unlock(&s->lock);
	if (free_it)
		free_all(s);
	return NULL;
}

/* --- the loop -------------------------------------------------------------------------- */

static void forget_last(struct state *s)
{
	pthread_mutex_lock(&s->lock);
	put_work(s->last);
	s->last = NULL;
	pthread_mutex_unlock(&s->lock);
}

/* Gives @last to the thread, in place of a write that waits. This needs no memory. */
static void hand_over_job(struct state *s)
{
	if (!s->last)
		return;
	pthread_mutex_lock(&s->lock);
	put_work(s->todo);
	s->todo = s->last;
	s->last->refs++;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	if (s->given)
		return;
	s->given = loop_now();
	loop_timer_set(s->timer, s->given + SLOW);
}

static void report_state(struct state *s, const char *fmt, const char *text)
{
	char why[STATE_TEXT_MAX];

	s->bad = text;
	snprintf(why, sizeof(why), fmt, s->dir, text ? text : "");
	s->ops->error(s->arg, text ? why : "");
}

static void on_state_event(void *arg, unsigned int what)
{
	struct state *s = arg;
	bool ended;
	uint64_t n;
	int err;

	(void)what;
	eventfd_read(s->event, &n);
	pthread_mutex_lock(&s->lock);
	ended = s->ended && !s->todo && !s->began;
	s->ended = false;
	err = s->err;
	pthread_mutex_unlock(&s->lock);
	if (!ended)
		return;
	s->given = 0;
	if (err) {
		report_state(s,
			     "cannot write below %.160s: %s; this node keeps exclusions in memory "
			     "only",
			     strerror(-err));
		loop_timer_set(s->timer, loop_now() + AGAIN);
		s->ops->kept(s->arg, s->epoch, s->version, false);
		return;
	}
	loop_timer_set(s->timer, LOOP_NEVER);
	forget_last(s);
	if (s->bad)
		report_state(s, "%s%s", NULL);
	s->ops->kept(s->arg, s->epoch, s->version, true);
}

static void on_state_timer(void *arg)
{
	struct state *s = arg;
	uint64_t began;

	pthread_mutex_lock(&s->lock);
	began = s->began;
	pthread_mutex_unlock(&s->lock);
	if (!began) {
		s->given = 0;
		hand_over_job(s);
		return;
	}
	report_state(s, "writing below %.160s takes more than 5 s: does the disk hang?%s", "");
}

struct state *state_new(struct loop *loop, const char *dir, const char *fabric,
			const struct state_ops *ops, void *arg)
{
	struct state *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	snprintf(s->dir, sizeof(s->dir), "%s", dir);
	snprintf(s->fabric, sizeof(s->fabric), "%s", fabric);
	s->ops = ops;
	s->arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->wake, NULL);
	s->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->timer = loop_timer_new(loop, on_state_timer, s);
	s->watch = s->event < 0 ? NULL : loop_fd_new(loop, s->event, LOOP_READ, on_state_event, s);
	if (s->timer && s->watch && !thread_start(&s->thread, write_states, s))
		return s;
	loop_fd_free(s->watch);
	loop_timer_free(s->timer);
	free_all(s);
	return NULL;
}

void state_save(struct state *s, uint64_t guid, const struct fm_msg *table)
{
	struct work *w = work_new(s, guid, table);

	if (!w) {
		report_state(s, "cannot keep anything below %.160s: %s",
			     "out of memory, or the path is too long");
		return;
	}
	forget_last(s);
	s->last = w;
	s->epoch = table->table.term;
	s->version = table->table.version;
	hand_over_job(s);
}

void state_free(struct state *s)
{
	struct timespec until;

	if (!s)
		return;
	loop_fd_free(s->watch);
	loop_timer_free(s->timer);
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	until = thread_grace();
	if (thread_join(s->thread, &until)) {
		free_all(s);
		return;
	}
	/* The thread frees the memory when the disk answers, unless the process ends before. */
	pthread_mutex_lock(&s->lock);
	s->free_it = true;
	pthread_mutex_unlock(&s->lock);
	pthread_detach(s->thread);
}
