// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is kept on disk: it is read again as it was written, or refused; a disk that fails or hangs is
 * told of, and nothing waits for it.
 */
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
#include "lib/deps/tn_deps.h"
#include "tests/unit/clock.h"

#define GUID UINT64_C(0xabcdef0123456789)
#define BYTES 4096

static char dir[64], path[128], refused[140], told[STATE_TEXT_MAX];
static struct loop *loop;
static struct loop_timer *poll_timer;
static bool (*until)(void);
static unsigned int ntold;
static uint64_t kept_told;
static bool kept_ok;

/* --- the disk --------------------------------------------------------------------------- */

static atomic_int hangs, fails, syncs;

int __real_fsync(int fd);
int __wrap_fsync(int fd);

int __wrap_fsync(int fd)
{
	syncs++;
	while (hangs)
		usleep(500);
	if (fails) {
		errno = fails;
		return -1;
	}
	return __real_fsync(fd);
}

/* --- helpers ---------------------------------------------------------------------------- */

static void on_told(void *arg, const char *why)
{
	(void)arg;
	ntold++;
	snprintf(told, sizeof(told), "%s", why);
}

static void on_kept(void *arg, uint64_t epoch, uint64_t version, bool ok)
{
	(void)arg;
	assert_int_equal(epoch, 7);
	kept_told = version;
	kept_ok = ok;
}

static const struct state_ops ops = { .told = on_told, .kept = on_kept };

static void on_poll(void *arg)
{
	(void)arg;
	if (until())
		loop_stop(loop);
	else
		loop_timer_set(poll_timer, loop_now() + LOOP_MS);
}

static void wait_until(bool (*is)(void))
{
	until = is;
	loop_timer_set(poll_timer, loop_now());
	assert_int_equal(loop_run(loop), 0);
}

static int setup(void **state)
{
	(void)state;
	clock_go();
	strcpy(dir, "/tmp/torus-state-XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/fabricd-%016" PRIx64 ".state", dir, GUID);
	snprintf(refused, sizeof(refused), "%s.refused", path);
	loop = loop_new();
	poll_timer = loop_timer_new(loop, on_poll, NULL);
	ntold = 0;
	kept_told = 0;
	told[0] = '\0';
	hangs = fails = syncs = 0;
	return 0;
}

static int teardown(void **state)
{
	char command[100];

	(void)state;
	loop_timer_free(poll_timer);
	loop_free(loop);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* A table of three nodes, of that version. */
static const struct fm_msg *table(uint64_t version)
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

static int load(struct fm_msg *out, char *why)
{
	return state_load(dir, "lab", GUID, out, why);
}

/* Return: the version that is kept, 0: none. */
static uint64_t kept(void)
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

static bool is_kept(void)
{
	return kept() == 9;
}

static size_t read_all(uint8_t *data)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = read(fd, data, BYTES);

	close(fd);
	assert_in_range(n, 100, BYTES - 1);
	return (size_t)n;
}

static void write_all(const uint8_t *data, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, data, len), len);
	close(fd);
}

static void keep_one(void)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	assert_non_null(s);
	state_save(s, GUID, table(9));
	wait_until(is_kept);
	state_free(s);
}

/* The file is refused, for a reason that has @what in it, and is not lost. */
static void is_refused(const char *what)
{
	char why[STATE_TEXT_MAX];
	struct fm_msg msg;

	assert_int_equal(load(&msg, why), -EBADMSG);
	if (!strstr(why, what))
		fail_msg("'%s' does not say '%s'", why, what);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(access(refused, F_OK), 0);
}

/* --- tests ------------------------------------------------------------------------------ */

static void read_as_written(void **state)
{
	char why[STATE_TEXT_MAX];
	struct fm_msg msg;
	struct stat st;

	(void)state;
	assert_int_equal(load(&msg, why), -ENOENT);
	keep_one();
	assert_int_equal(load(&msg, why), 0);
	assert_int_equal(msg.table.term, 7);
	assert_int_equal(msg.table.version, 9);
	assert_int_equal(msg.table.nentries, 3);
	assert_string_equal(msg.table.entries[2].name, "node-2");
	assert_int_equal(msg.table.entries[1].admin, 1);
	assert_int_equal(msg.table.entries[1].guid, 101);
	fm_msg_clear(&msg);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(syncs >= 2);	/* the file, and its name */
	assert_int_equal(ntold, 0);
}

/* Cut off anywhere, or one bit another: it is never taken for something else. */
static void damaged(void **state)
{
	uint8_t data[BYTES], other[BYTES];
	size_t len;

	(void)state;
	keep_one();
	len = read_all(data);
	for (size_t n = 0; n < len; n++) {
		write_all(data, n);
		is_refused(n < 12 ? "no state file" : "");
	}
	for (size_t bit = 0; bit < 8 * len; bit++) {
		memcpy(other, data, len);
		other[bit / 8] ^= (uint8_t)(1u << bit % 8);
		write_all(other, len);
		is_refused("");
	}
	memcpy(other, data, len);
	other[len] = 'x';
	write_all(other, len + 1);
	is_refused("bytes of");
	write_all(data, len);
	assert_int_equal(kept(), 9);
}

static void of_others(void **state)
{
	char why[STATE_TEXT_MAX], other[140];
	uint8_t data[BYTES];
	struct fm_msg msg;
	size_t len;

	(void)state;
	keep_one();
	len = read_all(data);
	assert_int_equal(state_load(dir, "lib", GUID, &msg, why), -EBADMSG);
	assert_non_null(strstr(why, "it is of fabric 'lab', and this is 'lib'"));
	write_all(data, len);
	snprintf(other, sizeof(other), "%s/fabricd-%016" PRIx64 ".state", dir, GUID + 1);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(state_load(dir, "lab", GUID + 1, &msg, why), -EBADMSG);
	assert_non_null(strstr(why, "it is of NIC abcdef0123456789"));
	data[12] = '2';
	write_all(data, len);
	is_refused("it has format 2, of a later fabricd; this one knows 1");
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(load(&msg, why), -EFBIG);
	assert_non_null(strstr(why, "cannot read "));
	rmdir(path);
}

/* --- other releases --------------------------------------------------------------------- */

/* What each later release must read: written by the first fabricd that kept anything. */
static void of_the_first_release(void **state)
{
	uint8_t data[BYTES];
	struct fm_msg msg;
	char why[STATE_TEXT_MAX];
	int fd = open("tests/unit/golden/state-format-1", O_RDONLY);
	ssize_t n;

	(void)state;
	assert_true(fd >= 0);
	n = read(fd, data, sizeof(data));
	close(fd);
	write_all(data, (size_t)n);
	assert_int_equal(load(&msg, why), 0);
	assert_int_equal(msg.table.term, 7);
	assert_int_equal(msg.table.version, 9);
	assert_int_equal(msg.table.shape.size[0], 3);
	assert_int_equal(msg.table.nentries, 3);
	assert_string_equal(msg.table.entries[2].name, "node-2");
	assert_int_equal(msg.table.entries[1].admin, 1);
	assert_int_equal(msg.table.entries[1].guid, 101);
	fm_msg_clear(&msg);
}

/* Writes @body with the first line that fits to it. */
static void write_body(const uint8_t *body, size_t len)
{
	uint8_t data[BYTES];
	int n = sprintf((char *)data, "torus-state 1 lab %016" PRIx64 " 7 9 %zu ", GUID, len);

	n += sprintf((char *)data + n, "%08x\n",
		     tn_crc32c(tn_crc32c(0, data, (size_t)n), body, len));
	memcpy(data + n, body, len);
	write_all(data, (size_t)n + len);
}

/*
 * The schema of the service network is not the format of files; what a later release adds is
 * skipped.
 */
static void of_another_schema(void **state)
{
	static const uint8_t unknown[] = { 0xf8, 0x7f, 1 };	/* field 2047 */
	uint8_t data[BYTES], *body;
	size_t len;

	(void)state;
	keep_one();
	len = read_all(data);
	body = (uint8_t *)memchr(data, '\n', len) + 1;
	len -= (size_t)(body - data);
	assert_int_equal(body[0], 1 << 3);	/* schema */
	for (uint8_t schema = 1; schema < 100; schema += 3) {
		body[1] = schema;
		write_body(body, len);
		assert_int_equal(kept(), 9);
	}
	memcpy(body + len, unknown, sizeof(unknown));
	write_body(body, len + sizeof(unknown));
	assert_int_equal(kept(), 9);
	/* Another message is no table, of whatever schema. */
	write_body((const uint8_t *)"\x08\x07\x52\x00", 4);	/* PING */
	is_refused("there is no table in it");
}

/* What is no file is not waited for, and no link is followed. */
static void no_file(void **state)
{
	char why[STATE_TEXT_MAX];
	struct fm_msg msg;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load(&msg, why), -EFBIG);
	assert_non_null(strstr(why, "cannot read"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(load(&msg, why), -ELOOP);
	/* It is replaced, and not what it names. */
	keep_one();
	assert_int_equal(kept(), 9);
}

/* --- the disk that hangs or fails -------------------------------------------------------- */

static bool writing(void)
{
	return syncs > 0;
}

static bool last_kept_told(void)
{
	return kept_told == 9;
}

/* What comes while the disk hangs replaces what waits; when it works again, the last one is kept. */
static void a_disk_that_hangs(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	(void)state;
	hangs = 1;
	state_save(s, GUID, table(5));
	wait_until(writing);
	for (uint64_t version = 6; version <= 9; version++)
		state_save(s, GUID, table(version));
	assert_int_equal(kept(), 0);
	assert_int_equal(kept_told, 0);
	hangs = 0;
	wait_until(is_kept);
	assert_in_range(syncs, 2, 4);	/* the first and the last */
	wait_until(last_kept_told);
	assert_true(kept_ok);
	state_free(s);
}

static struct state *slow;
static uint64_t next_version, started;

/* A table comes each half second. */
static bool is_told_of_slowness(void)
{
	state_save(slow, GUID, table(next_version++));
	clock_move(LOOP_S / 2);
	return told[0] || loop_now() > started + 60 * LOOP_S;
}

static bool is_version_30(void)
{
	is_told_of_slowness();
	return next_version == 30;
}

static bool is_over(void)
{
	return !told[0];
}

/* ... and it is told, once, after 5 s, however many tables come meanwhile. */
static void a_disk_that_hangs_is_told(void **state)
{
	(void)state;
	slow = state_new(loop, dir, "lab", &ops, NULL);
	hangs = 1;
	state_save(slow, GUID, table(1));
	wait_until(writing);
	clock_stop();
	started = loop_now();
	next_version = 2;
	wait_until(is_told_of_slowness);
	assert_non_null(strstr(told, "takes more than 5 s"));
	assert_in_range(loop_now() - started, 5 * LOOP_S - LOOP_S / 2, 6 * LOOP_S);
	told[0] = '\0';
	next_version = 2;
	wait_until(is_version_30);
	assert_string_equal(told, "");
	state_save(slow, GUID, table(9));
	strcpy(told, "not over");
	clock_go();
	hangs = 0;
	wait_until(is_over);
	assert_int_equal(ntold, 2);
	assert_int_equal(kept(), 9);
	state_free(slow);
}

/* The daemon ends although the disk does not answer. */
static void an_end_while_the_disk_hangs(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);

	(void)state;
	hangs = 1;
	state_save(s, GUID, table(9));
	wait_until(writing);
	state_free(s);
	hangs = 0;
	wait_until(is_kept);
}

static bool is_told(void)
{
	return told[0];
}

static void a_disk_that_fails(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);
	char beside[140];

	(void)state;
	fails = ENOSPC;
	state_save(s, GUID, table(8));
	wait_until(is_told);
	assert_non_null(strstr(told, "No space left on device"));
	assert_non_null(strstr(told, dir));
	snprintf(beside, sizeof(beside), "%s.new", path);
	assert_int_not_equal(access(beside, F_OK), 0);
	assert_int_equal(kept_told, 8);
	assert_false(kept_ok);
	fails = 0;
	state_save(s, GUID, table(9));
	wait_until(is_over);
	wait_until(last_kept_told);
	assert_true(kept_ok);
	assert_int_equal(ntold, 2);
	assert_int_equal(kept(), 9);
	state_free(s);
}

static void no_directory(void **state)
{
	struct state *s = state_new(loop, "/proc/no/such", "lab", &ops, NULL);

	(void)state;
	state_save(s, GUID, table(9));
	wait_until(is_told);
	assert_non_null(strstr(told, "/proc/no/such: No such file or directory"));
	state_free(s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(read_as_written),
		TEST(damaged),
		TEST(of_others),
		TEST(of_the_first_release),
		TEST(of_another_schema),
		TEST(no_file),
		TEST(a_disk_that_hangs),
		TEST(a_disk_that_hangs_is_told),
		TEST(an_end_while_the_disk_hangs),
		TEST(a_disk_that_fails),
		TEST(no_directory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
