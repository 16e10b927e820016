/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A directory in which a table is kept, on a disk that can hang and fail, and a loop that waits for
 * what becomes of it. Programs wrap fsync(), read(), close() and pthread_cond_signal().
 */
#ifndef TESTS_STATE_DISK_H
#define TESTS_STATE_DISK_H

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

#include "daemon/state.h"
#include "tests/unit/clock.h"

#define GUID UINT64_C(0xabcdef0123456789)
#define BYTES 4096

static char dir[64], path[128], refused[140], error_text[STATE_TEXT_MAX];
static struct loop *loop;
static struct loop_timer *poll_timer;
static bool (*until)(void);
static unsigned int nerrors;
static uint64_t kept_version;
static bool kept_ok;

/* --- the disk --------------------------------------------------------------------------- */

static atomic_int hangs, fails, dir_fails, close_fails, syncs;

static inline bool is_dir(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && S_ISDIR(st.st_mode);
}

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	syncs++;
	while (hangs)
		usleep(500);
	if (fails || (dir_fails && is_dir(fd))) {
		errno = fails ? fails : dir_fails;
		return -1;
	}
	return __real_fsync(fd);
}

/* The disk does not give what is on it; EINTR: once. */
static atomic_int read_fails;

ssize_t __real_read(int fd, void *buf, size_t room);
ssize_t __wrap_read(int fd, void *buf, size_t room);

ssize_t __wrap_read(int fd, void *buf, size_t room)
{
	struct stat st;
	int err = !fstat(fd, &st) && S_ISREG(st.st_mode) ? read_fails : 0;

	if (!err)
		return __real_read(fd, buf, room);
	if (err == EINTR)
		read_fails = 0;
	errno = err;
	return -1;
}

int __real_close(int fd);
int __wrap_close(int fd);

/* A file was written and cannot be brought to the disk: so NFS says it. */
int __wrap_close(int fd)
{
	int err = fcntl(fd, F_GETFL) & O_ACCMODE ? atomic_exchange(&close_fails, 0) : 0;
	int ret = __real_close(fd);

	if (!err)
		return ret;
	errno = err;
	return -1;
}

/* While @sleeps the thread is not woken; wake() does that later. */
static atomic_int sleeps;
static pthread_cond_t *sleeper;

int __real_pthread_cond_signal(pthread_cond_t *cond);
int __wrap_pthread_cond_signal(pthread_cond_t *cond);

int __wrap_pthread_cond_signal(pthread_cond_t *cond)
{
	sleeper = cond;
	return sleeps ? 0 : __real_pthread_cond_signal(cond);
}

static inline void wake(void)
{
	sleeps = 0;
	__real_pthread_cond_signal(sleeper);
}

/* --- helpers ---------------------------------------------------------------------------- */

static inline void on_error(void *arg, const char *why)
{
	(void)arg;
	nerrors++;
	snprintf(error_text, sizeof(error_text), "%s", why);
}

static inline void on_kept(void *arg, uint64_t epoch, uint64_t version, bool ok)
{
	(void)arg;
	assert_int_equal(epoch, 7);
	kept_version = version;
	kept_ok = ok;
}

static const struct state_ops ops = { .error = on_error, .kept = on_kept };

static inline void on_poll(void *arg)
{
	(void)arg;
	if (until())
		loop_stop(loop);
	else
		loop_timer_set(poll_timer, loop_now() + MS);
}

static inline void wait_until(bool (*is)(void))
{
	until = is;
	loop_timer_set(poll_timer, loop_now());
	assert_int_equal(loop_run(loop), 0);
}

static inline int setup(void **state)
{
	(void)state;
	clock_go();
	strcpy(dir, "/tmp/torus-state-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fabricd-%016" PRIx64 ".state", dir, GUID);
	snprintf(refused, sizeof(refused), "%s.refused", path);
	loop = loop_new();
	poll_timer = loop_timer_new(loop, on_poll, NULL);
	nerrors = 0;
	kept_version = 0;
	error_text[0] = '\0';
	hangs = fails = dir_fails = close_fails = read_fails = syncs = sleeps = 0;
	return 0;
}

static inline int teardown(void **state)
{
	char command[100];

	(void)state;
	loop_timer_free(poll_timer);
	loop_free(loop);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* A table of three nodes, of that version. */
static inline const struct fm_msg *table(uint64_t version)
{
	static struct fm_entry entry[3];
	static struct fm_msg msg;

	msg = (struct fm_msg) { .type = FM_MSG_TABLE, .table = {
		.term = 7, .version = version, .shape = { .ndims = 1, .size = { 3 } },
		.nentries = 3, .entries = entry,
	} };
	for (uint32_t i = 0; i < 3; i++) {
		entry[i] = (struct fm_entry) { .node = i, .state = FM_NODE_UP, .guid = 100 + i,
					       .admin = (uint16_t)(i == 1), .epoch = 5 };
		snprintf(entry[i].name, sizeof(entry[i].name), "node-%u", i);
	}
	return &msg;
}

static inline int load(struct fm_msg *out, char *why)
{
	return state_load(dir, "lab", GUID, out, why);
}

/* Return: the version that is kept, 0: none. */
static inline uint64_t kept(void)
{
	char why[STATE_TEXT_MAX];
	struct fm_msg msg;
	uint64_t version;

	if (access(path, F_OK) || load(&msg, why))
		return 0;
	version = msg.table.version;
	fm_msg_clear(&msg);
	return version;
}

static inline bool is_kept(void)
{
	return kept() == 9;
}

static inline bool is_last_kept(void)
{
	return kept_version == 9;
}

static inline size_t read_all(uint8_t *data)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, data, BYTES);

	close(fd);
	assert_in_range(n, 100, BYTES - 1);
	return (size_t)n;
}

static inline void write_all(const uint8_t *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static inline void keep_one(void)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	assert_non_null(s);
	state_save(s, GUID, table(9));
	wait_until(is_kept);
	state_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif /* TESTS_STATE_DISK_H */
