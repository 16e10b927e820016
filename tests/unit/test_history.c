// SPDX-License-Identifier: GPL-2.0-only
/* The history on the disk: kept events are found again, whatever happens to the disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/history.h"
#include "daemon/history_impl.h"
#include "daemon/loop.h"
#include "lib/deps/tn_deps.h"

#define GUID UINT64_C(0xabcdef0123456789)
#define LOG UINT64_C(0x1111222233334444)
#define BYTES 8192

static char dir[64], folder[128], reported[HISTORY_TEXT_MAX];
static unsigned int tellings;
static struct loop *loop;
static struct loop_timer *poll_timer;
static bool (*until)(void);
static struct history *h;
static uint64_t run;

/* --- the disk -------------------------------------------------------------------------- */

static atomic_int hangs, fails, syncs, reads_hang, read_takes, opens_fail, read_error, reads_left;

int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
ssize_t __real_pwrite(int fd, const void *data, size_t len, off_t at);
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at);
ssize_t __real_pread(int fd, void *data, size_t len, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if (opens_fail && !(flags & (O_CREAT | O_DIRECTORY))) {
		errno = opens_fail;
		return -1;
	}
	return __real_open(path, flags, mode);
}

/* Fails each read, after so many that are left. */
ssize_t __wrap_pread(int fd, void *data, size_t len, off_t at)
{
	while (reads_hang)
		usleep(500);
	if (read_takes)
		usleep((useconds_t)read_takes);
	if (!read_error || reads_left-- > 0)
		return __real_pread(fd, data, len, at);
	errno = read_error;
	return -1;
}

int __wrap_fdatasync(int fd)
{
	syncs++;
	while (hangs)
		usleep(500);
	return __real_fdatasync(fd);
}

/* Writes only a part, as on a full disk. */
ssize_t __wrap_pwrite(int fd, const void *data, size_t len, off_t at)
{
	if (!fails)
		return __real_pwrite(fd, data, len, at);
	if (len < 2) {
		errno = fails;
		return -1;
	}
	return __real_pwrite(fd, data, len / 2, at);
}

static atomic_uint waits;	/* calls of functions that wait for a time */

int __real_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);
int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t);

int __wrap_pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *t)
{
	waits++;
	return __real_pthread_cond_timedwait(c, m, t);
}

/* --- helpers --------------------------------------------------------------------------- */

static void on_error(void *arg, const char *why)
{
	(void)arg;
	strcpy(reported, why);
	tellings++;
}

static const struct history_ops ops = { .error = on_error };

static void on_poll(void *arg)
{
	(void)arg;
	if (until())
		loop_stop(loop);
	else
		loop_timer_set(poll_timer, loop_now() + MS);
}

static void wait_until(bool (*is)(void))
{
	until = is;
	loop_timer_set(poll_timer, loop_now());
	assert_int_equal(loop_run(loop), 0);
}

static bool is_loaded(void)
{
	struct history_stats s;

	history_stats(h, &s);
	return s.loaded;
}

/* Each run of a manager has a log of its own. */
static void begin_of(const char *fabric, uint64_t bytes)
{
	h = history_new(loop, &(struct history_config) {
		.dir = dir, .fabric = fabric, .guid = GUID, .log = LOG + run++, .bytes = bytes,
	}, &ops, NULL);
	assert_non_null(h);
}

static void start_of(const char *fabric, uint64_t bytes)
{
	begin_of(fabric, bytes);
	wait_until(is_loaded);
}

static void start(void)
{
	start_of("lab", 64 << 20);
}

static void stop(void)
{
	history_free(h);
	h = NULL;
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/torus-history-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(folder, sizeof(folder), "%s/fabricd-%016" PRIx64 ".history", dir, GUID);
	loop = loop_new();
	poll_timer = loop_timer_new(loop, on_poll, NULL);
	reported[0] = '\0';
	hangs = fails = syncs = reads_hang = read_takes = opens_fail = read_error = 0;
	run = 0;
	start();
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	hangs = reads_hang = 0;
	stop();
	loop_timer_free(poll_timer);
	loop_free(loop);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* Adds event number @seq of log @log, at that many seconds. */
static void add_of(char whose, uint64_t log, uint64_t seq, const char *text)
{
	char json[256];
	struct history_record r = {
		.whose = whose, .log = log, .seq = seq, .time = (int64_t)seq * 1000,
		.level = seq % 2 ? FM_WARNING : FM_INFO, .kind = "link", .json = json,
	};

	r.len = (size_t)snprintf(json, sizeof(json), "{\"text\":\"%s\"}", text);
	history_add(h, &r);
}

static void add(uint64_t seq)
{
	add_of(HISTORY_LED, LOG, seq, "1,2:+y is lost");
}

static char *found;
static char found_after[HISTORY_AFTER_MAX];
static bool found_more, found_lost, found_loading, has_found;
static int found_unread;

static void on_found(void *arg, const struct history_found *f)
{
	(void)arg;
	free(found);
	found = f->events ? strdup(f->events) : NULL;
	strcpy(found_after, f->after);
	found_more = f->more;
	found_lost = f->lost;
	found_loading = f->loading;
	found_unread = f->unread;
	has_found = true;
}

static bool is_found(void)
{
	return has_found;
}

/*
 * Return: the numbers of the events that a search finds; "-": the search is lost. A limit of 0 is
 * none.
 */
static const char *search(struct history_filter f)
{
	static char seqs[8192];
	size_t n = 0;

	has_found = false;
	f.to = f.to ? f.to : INT64_MAX;
	f.level = f.level ? f.level : FM_DEBUG;
	f.room = f.room ? f.room : 1 << 20;
	assert_non_null(history_ask(h, &f, on_found, NULL));
	wait_until(is_found);
	seqs[0] = '\0';
	if (found_lost)
		return "-";
	assert_non_null(found);
	for (const char *p = found; (p = strstr(p, "\"seq\":")) && n < sizeof(seqs) - 16; p++)
		n += (size_t)sprintf(seqs + n, "%s%d", n ? " " : "", atoi(p + 6));
	return seqs;
}

#define FINDS(wanted, ...) \
	assert_string_equal(search((struct history_filter) { __VA_ARGS__ }), wanted)

static char *file(uint32_t n, char *path)
{
	sprintf(path, "%s/%08" PRIu32 ".log", folder, n);
	return path;
}

static size_t read_all(uint8_t *data)
{
	char path[160];
	int fd = open(file(1, path), O_RDONLY);
	ssize_t n = read(fd, data, BYTES);

	close(fd);
	assert_in_range(n, 1, BYTES - 1);
	return (size_t)n;
}

static void write_all(const void *data, size_t len)
{
	char path[160];
	int fd = open(file(1, path), O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

/* --- tests ----------------------------------------------------------------------------- */

static void events_are_found_again_after_restart(void **state)
{
	struct history_stats s;
	char *have;

	(void)state;
	FINDS("");
	for (uint64_t i = 1; i <= 5; i++)
		add(i);
	FINDS("1 2 3 4 5");
	stop();
	assert_true(syncs > 0);
	start();
	FINDS("1 2 3 4 5");
	add_of(HISTORY_LED, LOG + 1, 7, "x");
	FINDS("1 2 3 4 5 7");
	history_stats(h, &s);
	assert_int_equal(s.events, 6);
	assert_int_equal(s.since, 1000);
	assert_int_equal(s.dropped + s.damaged, 0);
	assert_true(history_has(h, LOG, 5));
	assert_false(history_has(h, LOG, 6));
	assert_false(history_has(h, LOG + 9, 1));
	have = history_have(h);
	assert_string_equal(have, "1111222233334444=5,1111222233334445=7");
	free(have);
	assert_string_equal(reported, "");
}

static void filters_find_exactly_matching_events(void **state)
{
	(void)state;
	add_of(HISTORY_LED, LOG, 1, "1,2:+y is lost");
	add_of(HISTORY_LED, LOG, 2, "11,2:+y is lost");
	add_of(HISTORY_OWN, LOG, 3, "node 1,2 is dead");
	add_of(HISTORY_PULLED, LOG, 4, "node 1,2,0 is dead");
	add_of(HISTORY_LED, LOG, 5, "[1,2] at 0,1,2:+y");
	FINDS("1 2 4 5", .whose = "rp");
	FINDS("3", .whose = "l");
	FINDS("2 3 4", .from = 2000, .to = 4000);
	FINDS("1 3 5", .level = FM_WARNING);
	FINDS("1 2 3 4 5", .kind = "link");
	FINDS("", .kind = "lin");
	FINDS("1", .words = 1, .word = { "1,2:" });
	FINDS("3 5", .words = 2, .word = { "node 1,2", "[1,2]" });
	FINDS("4 5", .last = 2);
	FINDS("1 2 3 4 5", .last = 9);
	FINDS("1 2 3", .last = 3, .to = 3000);
}

/* A long answer comes in parts, which go on in the next file, too. */
static void long_answer_comes_in_parts(void **state)
{
	struct history_filter f = { .room = 2000 };
	unsigned int parts = 0;
	char path[160];

	(void)state;
	stop();
	start_of("lab", HISTORY_BYTES_MIN);
	for (uint64_t i = 1; i <= 500; i++)
		add(i);
	for (uint64_t due = 1; ; parts++) {
		const char *seqs = search(f), *p = seqs;

		for (; *p; p += strcspn(p, " "), p += *p == ' ')
			assert_int_equal(atoi(p), due++);
		strcpy(f.after, found_after);
		if (!found_more) {
			assert_int_equal(due, 501);
			break;
		}
	}
	assert_in_range(parts, 5, 30);
	assert_int_equal(access(file(3, path), F_OK), 0);
	assert_string_equal(search(f), "");
	add(501);
	assert_string_equal(search(f), "501");
	FINDS("500 501", .last = 2);
	strcpy(f.after, "1111222233334444:1:99");	/* a position of an earlier run */
	assert_string_equal(search(f), "-");
	strcpy(f.after, "nonsense");
	assert_string_equal(search(f), "-");
}

/* A search on a slow disk ends with a part of the events, and reports that there are more. */
static void search_on_slow_disk_reports_that_there_is_more(void **state)
{
	struct history_filter f = { .room = 1 << 20 };
	unsigned int parts = 1;
	uint64_t due = 1;

	(void)state;
	stop();
	start_of("lab", HISTORY_BYTES_MIN);
	for (uint64_t i = 1; i <= 500; i++)
		add(i);
	FINDS("500", .last = 1);
	read_takes = 300000;
	for (;; parts++) {
		const char *p = search(f);

		for (; *p; p += strcspn(p, " "), p += *p == ' ')
			assert_int_equal(atoi(p), due++);
		strcpy(f.after, found_after);
		if (!found_more)
			break;
	}
	assert_int_equal(due, 501);
	assert_in_range(parts, 2, 10);
	search((struct history_filter) { .last = 500 });
	assert_true(found_more);
	read_takes = 0;
}

/* A position is accepted only if a search has given it: of this run, of a file, and within that. */
static void only_position_given_by_search_is_accepted(void **state)
{
	static const struct { const char *after, *finds; } row[] = {
		{ "1111222233334444:1:%zu", "" }, { "1111222233334444:0:0", "1 2 3" },
		{ "1111222233334444:1:99999", "-" }, { "1111222233334444:2:1", "-" },
		{ "1111222233334444:1:%zux", "-" }, { "1111222233334445:1:%zu", "-" },
		{ "1111222233334444:1", "-" },
	};

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		add(i);
	FINDS("1 2 3");
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct history_filter f = { .room = 1 << 20 };
		uint8_t data[BYTES];
		char end[24];
		const char *z = strstr(row[i].after, "%zu");

		snprintf(end, sizeof(end), "%zu", read_all(data));
		snprintf(f.after, sizeof(f.after), "%.*s%s%s",
			 (int)(z ? z - row[i].after : 60), row[i].after, z ? end : "",
			 z ? z + 3 : "");
		assert_string_equal(search(f), row[i].finds);
	}
}

/* A candidate gets the events that it does not have. */
static void candidate_gets_events_that_it_lacks(void **state)
{
	(void)state;
	for (uint64_t i = 1; i <= 5; i++)
		add_of(HISTORY_LED, i < 4 ? LOG + 20 : LOG + 10, i, "x");
	FINDS("3 4 5", .have = strdup("1111222233334458=2"));
	FINDS("3 5", .have = strdup("1111222233334458=2,111122223333444e=4"));
	FINDS("1 2 3 4 5", .have = strdup("0000000000000001=9"));
	FINDS("1 2 3 4 5", .have = strdup("nonsense"));
}

/* A file is cut off anywhere: the whole lines are found, and events are added after them. */
static void file_cut_off_anywhere_keeps_whole_lines(void **state)
{
	uint8_t data[BYTES];
	char due[32];
	size_t len, n;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		add(i);
	stop();
	len = read_all(data);
	for (size_t cut = 0; cut <= len; cut++) {
		write_all(data, cut);
		start();
		add(9);
		n = 0;
		due[0] = '\0';
		for (size_t i = 0, line = 0; i < cut; i++)
			if (data[i] == '\n' && line++)
				n += (size_t)sprintf(due + n, "%zu ", line - 1);
		strcpy(due + n, "9");
		FINDS(due);
		assert_string_equal(reported, "");
		stop();
		start();
		FINDS(due);
		stop();
	}
	start();
}

/** struct lines - what a walk has found */
struct lines {
	unsigned int n;
	uint64_t sum;
};

static bool count_line(void *arg, const struct history_record *r, uint64_t next)
{
	struct lines *l = arg;

	(void)next;
	assert_in_range(r->seq, 1, 3);
	assert_int_equal(r->time, (int64_t)r->seq * 1000);
	l->n++;
	l->sum += r->seq;
	return true;
}

/*
 * A line with any bit flipped is left out, at most with the next one, and no other event is
 * changed.
 */
static void line_with_flipped_bit_is_left_out(void **state)
{
	uint8_t data[BYTES];
	size_t len, head;
	char path[160], line[HISTORY_HEAD_MAX];
	int fd;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		add(i);
	stop();
	len = read_all(data);
	head = history_head(line, "lab", GUID);
	fd = open(file(1, path), O_RDWR);
	for (size_t bit = 8 * head; bit < 8 * len; bit++) {
		struct lines lines = { .n = 0 };
		struct history_walk walk = { .each = count_line, .arg = &lines };
		uint8_t byte = data[bit / 8] ^ (uint8_t)(1u << bit % 8);

		assert_int_equal(__real_pwrite(fd, &byte, 1, (off_t)(bit / 8)), 1);
		assert_int_equal(history_walk(fd, head, len, &walk), 0);
		assert_in_range(lines.n, 1, 2);
		assert_true(walk.damaged || walk.end < len);
		assert_int_equal(__real_pwrite(fd, &data[bit / 8], 1, (off_t)(bit / 8)), 1);
	}
	close(fd);
	data[head + 9] ^= 1;
	write_all(data, len);
	start();
	FINDS("2 3");
	add(4);
	FINDS("2 3 4");
}

/*
 * A file that is not of this history is not written to: it is renamed, and the reason is reported.
 */
static void file_of_other_history_is_renamed_and_reported(void **state)
{
	static const char *const other[][2] = {
		{ "noise\n", "it is not a history file" },
		{ "torus-history 3 lab abcdef0123456789 00000000\n",
		  "it has format 3, of a later fabricd; this one knows 2" },
		{ "torus-history 1 lib abcdef0123456789 00000000\n",
		  "it is of fabric 'lib', and this is 'lab'" },
		{ "torus-history 1 l\xff\033b abcdef0123456789 00000000\n",
		  "it is of fabric 'l??b', and this is 'lab'" },
		{ "torus-history 1 lab abcdef0123456780 00000000\n",
		  "it is of NIC abcdef0123456780" },
		{ "torus-history 1 lab abcdef0123456789 00000000\n", "its first line is damaged" },
	};
	char path[200], text[256], due[2] = "";
	struct stat st;

	(void)state;
	add(1);
	stop();
	for (size_t i = 0; i < sizeof(other) / sizeof(other[0]); i++) {
		write_all(other[i][0], strlen(other[i][0]));
		start();
		add(i + 2);
		due[0] = (char)('2' + i);
		FINDS(due);
		snprintf(text, sizeof(text), "%s is not used: %s; it was renamed to .refused",
			 file(1, path), other[i][1]);
		assert_string_equal(reported, text);
		strcat(path, ".refused");
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, strlen(other[i][0]));
		stop();
		unlink(file(1, path));
		unlink(strcat(path, ".refused"));
	}
	/* A directory or a symbolic link, wherever it leads, is not a file of the history. */
	for (unsigned int link = 0; link < 2; link++) {
		reported[0] = '\0';
		assert_int_equal(link ? symlink("/dev/null", file(1, path)) :
				 mkdir(file(1, path), 0700), 0);
		start();
		snprintf(text, sizeof(text),
			 "%s is not used: it is not a regular file; it was renamed to .refused",
			 file(1, path));
		assert_string_equal(reported, text);
		strcat(path, ".refused");
		assert_int_equal(lstat(path, &st), 0);
		assert_true(link ? S_ISLNK(st.st_mode) : S_ISDIR(st.st_mode));
		assert_int_equal(link ? unlink(path) : rmdir(path), 0);
		due[0] = (char)('8' + link);
		add(8 + link);
		FINDS(due);
		stop();
		unlink(file(1, path));
	}
	start();
}

static void history_stays_within_its_size(void **state)
{
	struct history_stats s;
	char path[160];

	(void)state;
	stop();
	start_of("lab", HISTORY_BYTES_MIN);
	for (uint64_t i = 1; i <= 20000; i++) {
		add(i);
		if (i % 2000 == 0)
			FINDS("", .words = 1, .word = { "no such text" });
		history_stats(h, &s);
		assert_in_range(s.bytes, 0, HISTORY_BYTES_MIN);
	}
	/* Each search waits a moment for the writer, which may be slower. */
	for (unsigned int i = 0; i < 100 && s.events + (uint64_t)s.since / 1000 != 20001; i++) {
		FINDS("", .words = 1, .word = { "no such text" });
		history_stats(h, &s);
	}
	assert_int_equal(s.dropped, 0);
	assert_in_range(s.bytes, HISTORY_BYTES_MIN * 9 / 10, HISTORY_BYTES_MIN);
	assert_in_range(s.events, 5000, 15000);
	assert_int_equal(s.since, (20001 - (int64_t)s.events) * 1000);
	assert_int_equal(access(file(1, path), F_OK), -1);
	FINDS("19999 20000", .last = 2);
	FINDS("", .to = 1000);
	assert_true(history_has(h, LOG, 20000));
}

/*
 * The oldest file is deleted if the limit leaves no room for another file and a line. With one byte
 * more it stays.
 */
static void oldest_file_is_deleted_when_next_has_no_room(void **state)
{
	struct history_stats s;
	uint64_t bytes = 0;
	char path[160];

	(void)state;
	for (uint64_t i = 1; i <= 100; i++)
		add(i);
	FINDS("100", .last = 1);
	stop();
	for (unsigned int less = 0; less < 2; less++) {
		start();
		history_stats(h, &s);
		stop();
		for (bytes = s.bytes; bytes - bytes / 64 < s.bytes + HISTORY_LINE_MAX - less;)
			bytes++;
		start_of("lab", bytes);
		add(101 + less);
		FINDS(less ? "102" : "101", .last = 1);
		history_stats(h, &s);
		assert_int_equal(s.events, less ? 1 : 101);
		/* A number is free again when no file is left. */
		assert_int_equal(access(file(2, path), F_OK), less ? -1 : 0);
		stop();
		if (!less)
			unlink(file(2, path));
	}
	start();
}

/* When a file is deleted, a log whose last event was in it is unknown again. */
static void log_of_deleted_file_is_unknown_again(void **state)
{
	uint64_t bytes = 0;
	struct history_stats s;

	(void)state;
	add_of(HISTORY_PULLED, LOG + 20, 7, "x");
	for (uint64_t i = 1; i <= 100; i++)
		add(i);
	FINDS("100", .last = 1);
	stop();
	start();
	history_stats(h, &s);
	assert_true(history_has(h, LOG + 20, 7));
	stop();
	while (bytes - bytes / 64 < s.bytes + HISTORY_LINE_MAX - 1)
		bytes++;
	start_of("lab", bytes);
	assert_true(history_has(h, LOG + 20, 7));
	add_of(HISTORY_LED, LOG + 21, 101, "x");
	FINDS("101");
	assert_true(history_has(h, LOG + 21, 101));
	assert_false(history_has(h, LOG + 20, 7));
	assert_false(history_has(h, LOG, 100));
}

/* The name of the directory must fit, with its end. */
static void too_long_name_of_directory_is_refused(void **state)
{
	struct history_config c = { .fabric = "lab", .guid = GUID, .log = LOG + 9,
				    .bytes = 1 << 20 };
	size_t len = HISTORY_PATH_MAX - 32 - strlen("/fabricd-0123456789abcdef.history") - 1;
	char path[HISTORY_PATH_MAX];

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct history *other;

		memset(path, '/', sizeof(path));
		memcpy(path, dir, strlen(dir));
		path[len + i] = '\0';
		c.dir = path;
		other = history_new(loop, &c, &ops, NULL);
		assert_int_equal(other == NULL, i == 1);
		history_free(other);
	}
}

/* A search does not wait for the writer when that has written all. */
static void search_does_not_wait_for_idle_writer(void **state)
{
	(void)state;
	add(1);
	add(2);
	FINDS("1 2");
	for (struct history_stats s = { 0 }; s.events < 2;)
		history_stats(h, &s);
	waits = 0;
	FINDS("1 2");
	assert_int_equal(waits, 0);
}

/* While the disk is full, adds lines of this many bytes to the queue. */
static void fill_queue(size_t left)
{
	static char text[HISTORY_LINE_MAX];
	struct history_record r = {
		.whose = HISTORY_LED, .log = LOG, .seq = 1000, .kind = "link", .json = text,
		.len = 3000,
	};
	size_t len, rest;

	memset(text, 'x', sizeof(text));
	free(history_line(&r, &len));
	rest = len - r.len;
	for (; left >= 2 * len; left -= len, r.seq++)
		assert_true(history_add(h, &r));
	r.len = left / 2 - rest;
	assert_true(history_add(h, &r));
	left -= r.len + rest;
	r.seq++;
	r.len = left - rest;
	assert_true(history_add(h, &r));
	assert_in_range(r.seq, 1001, 9998);
}

/* The queue takes lines as long as any line fits, to the byte. */
static void queue_takes_lines_while_any_line_fits(void **state)
{
	struct history_record r = {
		.whose = HISTORY_LED, .log = LOG, .seq = 9999, .kind = "link", .json = "",
	};
	struct history_stats s;

	(void)state;
	fails = ENOSPC;
	fill_queue((1 << 20) - HISTORY_LINE_MAX);
	assert_true(history_add(h, &r));
	history_stats(h, &s);
	assert_int_equal(s.dropped, 0);
	assert_false(history_add(h, &r));
	history_stats(h, &s);
	assert_int_equal(s.dropped, 1);
	fails = 0;
}

/* There is room for many lines while less than half of the queue is taken, in lines and in bytes. */
static void half_full_queue_has_no_room_for_many(void **state)
{
	(void)state;
	fails = ENOSPC;
	for (uint64_t i = 1; i <= 4096; i++) {
		assert_true(history_room(h));
		add(i);
	}
	assert_false(history_room(h));
	for (size_t less = 0; less < 2; less++) {
		fails = 0;
		stop();
		start();
		fails = ENOSPC;
		fill_queue((1 << 19) - less);
		assert_int_equal(history_room(h), less);
	}
	fails = 0;
}

/*
 * Checks that a line of these fields, with the right checksum, is accepted if @right, else refused.
 */
static void is_line(const char *fields, bool right)
{
	struct history_record r;
	char line[200];
	int n = snprintf(line, sizeof(line), "00000000%s", fields);

	snprintf(line, 9, "%08x", tn_crc32c(0, line + 8, (size_t)n - 8));
	line[8] = fields[0];
	memset(&r, 0xff, sizeof(r));
	if ((history_line_read(line, (size_t)n, &r) == 0) != right)
		fail_msg("'%s' is%s read as a line", line, right ? " not" : "");
	if (!right)
		return;
	assert_int_equal(r.whose, 'r');
	assert_int_equal(r.log, 0x0123456789abcdef);
	assert_int_equal(r.seq, 7);
	assert_int_equal(r.time, 8);
	assert_int_equal(r.level, FM_DEBUG);
	assert_string_equal(r.kind, "link");
	assert_int_equal(r.len, strlen(strrchr(fields, ' ') + 1));
	assert_memory_equal(r.json, strrchr(fields, ' ') + 1, r.len);
}

/* A line whose checksum is right but which has no event is damaged, too. */
static void line_without_event_is_damaged(void **state)
{
	static const char *const wrong[] = {
		" r 0123456789abcdef 7 8 4 link {}", " r 0123456789abcdeg 7 8 3 link {}",
		" r 0123456789abcdef a 8 3 link {}", " r 0123456789abcdef 7 a 3 link {}",
		" r 0123456789abcdef 7 8 a link {}", " r  7 8 3 link {}",
		" r 0123456789abcdef  8 3 link {}", " r 0123456789abcdef 7 8 3  {}",
		" r 0123456789abcdef 7 8 3 link", " r 0123456789abcdef 7 8 3",
		" r 0123456789abcdef 7 8",
		" r 0123456789abcdef", " r ", " r", " ", "",
		" r 0123456789abcdef 7 8 3 0123456789abcdef0123456789abcdef {}",
	};

	(void)state;
	is_line(" r 0123456789abcdef 7 8 3 link {}", true);
	is_line(" r 123456789abcdef 7 8 3 link ", true);
	is_line(" r AEjRWeJq83v 7 8 3 link {}", true);
	is_line(" r AEjRWeJq8*v 7 8 3 link {}", false);
	is_line(" r AEjRWeJq83v", false);
	is_line(" r AEjRWeJq83v ", false);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		is_line(wrong[i], false);
}

/*
 * Members of an event that a line stores beside the JSON are in the found event again, each once.
 */
static void members_beside_json_are_in_found_event_once(void **state)
{
	struct history_record r = {
		.whose = HISTORY_LED, .log = 0xf, .seq = 7, .time = 1795740055042, .level = FM_INFO,
		.kind = "link", .json = "{}", .len = 2,
	};
	char path[160], line[200] = "";
	int fd;

	(void)state;
	add_of(HISTORY_LED, UINT64_C(0xfedcba9876543210), 1, "dust");
	history_add(h, &r);
	FINDS("1 7");
	assert_string_equal(found,
			    "[{\"seq\":1,\"time\":1.000,\"log\":\"fedcba9876543210\",\"level\":"
			    "\"warning\",\"kind\":\"link\",\"text\":\"dust\"},{\"seq\":7,\"time\":"
			    "1795740055.042,\"log\":\"000000000000000f\",\"level\":\"info\",\"kind\":"
			    "\"link\"}]");
	stop();
	fd = open(file(1, path), O_RDONLY);
	assert_in_range(read(fd, line, sizeof(line) - 1), 100, 190);
	close(fd);
	assert_non_null(strstr(line, " r P7cuph2VDIQ 1 1000 1 link {\"text\":\"dust\"}\n"));
	start();
}

/* A file of the former format is read, and the next events go into a new one. */
static void file_of_former_format_is_read(void **state)
{
	static const char event[] = "{\"seq\":3,\"time\":8.00012,\"text\":\"dust\"}";
	char path[160], data[400], fields[200];
	int n = sprintf(data, "torus-history 1 lab %016" PRIx64 " ", GUID);

	(void)state;
	add(1);
	stop();
	n += sprintf(data + n, "%08x\n", tn_crc32c(0, data, (size_t)n));
	sprintf(fields, " r 0123456789abcdef 3 8000 2 link %s", event);
	sprintf(data + n, "%08x%s\n", tn_crc32c(0, fields, strlen(fields)), fields);
	write_all(data, strlen(data));
	start();
	add(4);
	FINDS("3 4");
	assert_non_null(strstr(found, event));
	assert_true(history_has(h, UINT64_C(0x0123456789abcdef), 3));
	stop();
	assert_int_equal(access(file(2, path), F_OK), 0);
	start();
	add(5);
	FINDS("3 4 5");
	stop();
	assert_int_equal(access(file(3, path), F_OK), -1);
	start();
}

/* A manager that was started without standard input works with descriptor 0 for its file. */
static void history_works_with_descriptor_0(void **state)
{
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 100);

	(void)state;
	close(0);
	add(1);
	FINDS("1");
	assert_true(fcntl(0, F_GETFD) >= 0);
	add(2);
	FINDS("1 2");
	stop();
	assert_int_equal(fcntl(0, F_GETFD), -1);
	assert_int_equal(dup2(kept, 0), 0);
	close(kept);
	start();
	FINDS("1 2");
}

/*
 * The disk is full: no event is lost as long as there is memory, nor when the disk has room again.
 */
static void full_disk_loses_no_event_while_memory_lasts(void **state)
{
	struct history_stats s;

	(void)state;
	add(1);
	FINDS("1");
	fails = ENOSPC;
	add(2);
	add(3);
	FINDS("1 2 3");
	assert_non_null(strstr(reported, "cannot write below "));
	assert_non_null(strstr(reported, "No space left on device; events are kept in memory only"));
	for (uint64_t i = 4; i <= 10000; i++)
		add(i);
	history_stats(h, &s);
	assert_int_equal(s.events, 1);
	assert_in_range(s.dropped, 1000, 5000);
	fails = 0;
	stop();
	start();
	FINDS("1 2 3", .to = 3000);
	history_stats(h, &s);
	assert_int_equal(s.damaged, 0);
	assert_in_range(s.events, 5000, 9000);
}

/*
 * A search that says which events it has finds the events that a full disk does not take a part at a
 * time; another one would find the same part again.
 */
static void events_that_wait_for_the_disk_are_found_in_parts(void **state)
{
	unsigned int parts = 0;
	uint64_t has = 0;
	char have[64];

	(void)state;
	fails = ENOSPC;
	for (uint64_t i = 1; i <= 20; i++)
		add(i);
	search((struct history_filter) { .room = 1000 });
	assert_false(found_more);
	do {
		const char *seqs, *last;

		snprintf(have, sizeof(have), "%016llx=%llu", (unsigned long long)LOG,
			 (unsigned long long)has);
		seqs = search((struct history_filter) { .room = 1000, .have = strdup(have) });
		last = strrchr(seqs, ' ');
		assert_int_equal(atoi(seqs), has + 1);
		has = (uint64_t)atoi(last ? last + 1 : seqs);
		parts++;
	} while (found_more && parts < 20);
	assert_int_equal(has, 20);
	assert_true(parts > 1);
	fails = 0;
}

/* A disk that hangs delays neither those who add events, nor those who search. */
static void hanging_disk_delays_neither_adding_nor_search(void **state)
{
	struct history_stats s;
	uint64_t began = loop_now();

	(void)state;
	hangs = 1;
	for (uint64_t i = 1; i <= 20000; i++)
		add(i);
	FINDS("1 2 3", .to = 3000);
	history_stats(h, &s);
	assert_in_range(s.dropped, 1000, 20000);
	stop();
	assert_in_range(loop_now() - began, 0, 30 * SEC);
	hangs = 0;
	start();
	FINDS("1 2 3", .to = 3000);
}

static unsigned int threads(void)
{
	struct stat st;

	assert_int_equal(stat("/proc/self/task", &st), 0);
	return (unsigned int)st.st_nlink - 2;
}

/* The disk hangs while the files are read, and the history is closed: no line is overwritten. */
static void history_closed_while_read_overwrites_no_line(void **state)
{
	unsigned int before;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		add(i);
	stop();
	before = threads();
	reads_hang = 1;
	begin_of("lab", 64 << 20);
	add(4);
	stop();
	reads_hang = 0;
	while (threads() > before)
		usleep(1000);
	start();
	FINDS("1 2 3");
}

/* A file that cannot be opened or read now is neither deleted, nor moved, nor written over. */
static void unreadable_file_is_left_as_it_is(void **state)
{
	uint64_t seq = 3;
	char due[32] = "1 2 3";

	(void)state;
	for (uint64_t i = 1; i <= seq; i++)
		add(i);
	for (int i = 0; i < 3; i++) {
		stop();
		reported[0] = '\0';
		opens_fail = i == 0 ? EMFILE : 0;
		read_error = i == 0 ? 0 : EIO;
		reads_left = i == 1 ? 0 : 1;
		start();
		opens_fail = read_error = 0;
		add(++seq);
		stop();
		start();
		sprintf(due + strlen(due), " %d", (int)seq);
		FINDS(due);
	}
	assert_int_equal(seq, 6);
}

static bool is_slow(void)
{
	return strstr(reported, "takes more than 5 s");
}

/* A disk that hangs is reported once, although searches end meanwhile. */
static void hanging_disk_is_reported_once(void **state)
{
	(void)state;
	hangs = 1;
	add(1);
	wait_until(is_slow);
	tellings = 0;
	FINDS("1");
	FINDS("1");
	assert_int_equal(tellings, 0);
	assert_true(is_slow());
	hangs = 0;
}

/* A search does not skip a line that is not written yet for a later, shorter one. */
static void search_skips_no_unwritten_line(void **state)
{
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	fails = ENOSPC;
	add(1);
	add_of(HISTORY_LED, LOG, 2, text);
	add(3);
	FINDS("1", .room = 120);
	FINDS("1 2 3");
	fails = 0;
}

static struct history_job *ask_all(void)
{
	struct history_filter f = { .to = INT64_MAX, .level = FM_DEBUG, .room = 1 << 20 };

	return history_ask(h, &f, on_found, NULL);
}

/* Searches that are forgotten keep no place, even if the disk hangs. */
static void forgotten_search_keeps_no_place(void **state)
{
	struct history_job *j;

	(void)state;
	add(1);
	FINDS("1");
	reads_hang = 1;
	for (unsigned int i = 0; i < 100; i++) {
		j = ask_all();
		assert_non_null(j);
		history_forget(j);
	}
	reads_hang = 0;
	FINDS("1");
}

/* Each search is ended, even if the history is closed and the disk hangs. */
static void each_search_is_ended_when_history_is_closed(void **state)
{
	unsigned int before;

	(void)state;
	add(1);
	FINDS("1");
	before = threads();
	reads_hang = 1;
	for (unsigned int i = 0; i < 2; i++) {
		assert_non_null(ask_all());
		usleep(300000);
	}
	has_found = false;
	stop();
	assert_true(has_found);
	assert_true(found_lost);
	assert_string_equal(found, "[]");
	reads_hang = 0;
	while (threads() > before - 2)
		usleep(1000);
}

/* A search that could not read a file reports that. */
static void search_reports_unread_file(void **state)
{
	(void)state;
	add(1);
	FINDS("1");
	assert_int_equal(found_unread, 0);
	assert_false(found_loading);
	read_error = EIO;
	reads_left = 0;
	FINDS("");
	assert_int_equal(found_unread, EIO);
	read_error = 0;
	opens_fail = EMFILE;
	FINDS("");
	assert_int_equal(found_unread, EMFILE);
	opens_fail = 0;
	stop();
	reads_hang = 1;
	begin_of("lab", 64 << 20);
	FINDS("");
	assert_true(found_loading);
	wait_until(is_slow);
	assert_non_null(strstr(reported, "reading below "));
	reads_hang = 0;
	wait_until(is_loaded);
	FINDS("1");
	assert_false(found_loading);
	assert_string_equal(reported, "");
}

/* An event for which there is no room does not count as kept: it can be asked for again. */
static void event_without_room_does_not_count_as_kept(void **state)
{
	struct history_record r = {
		.whose = HISTORY_PULLED, .log = LOG, .kind = "link", .json = "{}", .len = 2,
	};
	struct history_stats s;

	(void)state;
	assert_true(history_room(h));
	fails = ENOSPC;
	do
		r.seq++;
	while (history_add(h, &r));
	assert_false(history_room(h));
	assert_in_range(r.seq, 1000, 20000);
	assert_false(history_has(h, LOG, r.seq));
	assert_true(history_has(h, LOG, r.seq - 1));
	history_stats(h, &s);
	assert_int_equal(s.dropped, 0);
	fails = 0;
	stop();
	start();
	assert_true(history_add(h, &r));
	assert_true(history_has(h, LOG, r.seq));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest t[] = {
		TEST(events_are_found_again_after_restart),
		TEST(members_beside_json_are_in_found_event_once),
		TEST(file_of_former_format_is_read),
		TEST(filters_find_exactly_matching_events),
		TEST(long_answer_comes_in_parts),
		TEST(search_on_slow_disk_reports_that_there_is_more),
		TEST(only_position_given_by_search_is_accepted),
		TEST(candidate_gets_events_that_it_lacks),
		TEST(file_cut_off_anywhere_keeps_whole_lines),
		TEST(line_with_flipped_bit_is_left_out),
		TEST(file_of_other_history_is_renamed_and_reported),
		TEST(history_stays_within_its_size),
		TEST(oldest_file_is_deleted_when_next_has_no_room),
		TEST(log_of_deleted_file_is_unknown_again),
		TEST(history_works_with_descriptor_0), TEST(search_does_not_wait_for_idle_writer),
		TEST(too_long_name_of_directory_is_refused),
		TEST(queue_takes_lines_while_any_line_fits),
		TEST(half_full_queue_has_no_room_for_many),
		TEST(line_without_event_is_damaged),
		TEST(full_disk_loses_no_event_while_memory_lasts),
		TEST(events_that_wait_for_the_disk_are_found_in_parts),
		TEST(hanging_disk_delays_neither_adding_nor_search),
		TEST(history_closed_while_read_overwrites_no_line),
		TEST(unreadable_file_is_left_as_it_is),
		TEST(hanging_disk_is_reported_once),
		TEST(search_skips_no_unwritten_line),
		TEST(forgotten_search_keeps_no_place),
		TEST(each_search_is_ended_when_history_is_closed),
		TEST(search_reports_unread_file),
		TEST(event_without_room_does_not_count_as_kept),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
