// SPDX-License-Identifier: GPL-2.0-only
/* A state file is read again as it was written, or refused. */
#include "state_disk.h"
#include "lib/deps/tn_deps.h"

/* Checks that the file is refused, for a reason that has @what in it, and is not lost. */
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

static void state_is_read_as_written(void **state)
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
	assert_int_equal(nerrors, 0);
}

/* A power failure has left a file that was being written, longer than the next one. */
static void temporary_file_left_over_is_replaced(void **state)
{
	static const uint8_t longer[BYTES] = { 'x' };
	char beside[140];
	struct state *s;

	(void)state;
	snprintf(beside, sizeof(beside), "%s.new", path);
	write_all(longer, sizeof(longer));
	assert_int_equal(rename(path, beside), 0);
	s = state_new(loop, dir, "lab", &ops, NULL);
	state_save(s, GUID, table(9));
	wait_until(is_last_kept);
	state_free(s);
	assert_int_equal(kept(), 9);
	assert_int_not_equal(access(beside, F_OK), 0);
}

/* A file that is cut off anywhere, or has one bit flipped, is never used. */
static void damaged_state_is_not_taken(void **state)
{
	uint8_t data[BYTES], other[BYTES];
	size_t len;

	(void)state;
	keep_one();
	len = read_all(data);
	for (size_t n = 0; n < len; n++) {
		write_all(data, n);
		is_refused(n < 12 ? "not a state file" : "");
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

static void state_of_other_fabric_or_nic_is_not_taken(void **state)
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
	unlink(refused);
	assert_int_equal(load(&msg, why), -EFBIG);
	assert_non_null(strstr(why, "cannot read it"));
	assert_non_null(strstr(why, "it was renamed to .refused"));
	assert_int_equal(rmdir(refused), 0);
}

/* A file that the disk does not give may be the only copy: the next table must not replace it. */
static void file_that_cannot_be_read_is_set_aside(void **state)
{
	char why[STATE_TEXT_MAX];
	uint8_t data[BYTES], kept_aside[BYTES];
	struct fm_msg msg;
	size_t len;

	(void)state;
	keep_one();
	len = read_all(data);
	read_fails = EIO;
	assert_int_equal(load(&msg, why), -EIO);
	read_fails = 0;
	assert_non_null(strstr(why,
			       " is not used: cannot read it: Input/output error; it was renamed "
			       "to .refused"));
	keep_one();
	assert_int_equal(rename(refused, path), 0);
	assert_int_equal(read_all(kept_aside), len);
	assert_memory_equal(kept_aside, data, len);
}

/* A signal during the read is no reason to refuse the file. */
static void interrupted_read_is_repeated(void **state)
{
	(void)state;
	keep_one();
	read_fails = EINTR;
	assert_int_equal(kept(), 9);
	assert_int_equal(read_fails, 0);
}

/* --- other releases --------------------------------------------------------------------- */

/* Each later release must read this file, which was written by the first fabricd that kept any. */
static void state_of_first_release_is_read(void **state)
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
static void state_is_read_whatever_its_schema(void **state)
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
	/* Another message is not a table, of whatever schema. */
	write_body((const uint8_t *)"\x08\x07\x52\x00", 4);	/* PING */
	is_refused("there is no table in it");
}

/* A daemon without a standard input: the file and its directory get descriptor 0. */
static void state_works_with_descriptor_0(void **state)
{
	struct state *s = state_new(loop, dir, "lab", &ops, NULL);
	int input = dup(0);

	(void)state;
	close(0);
	state_save(s, GUID, table(9));
	wait_until(is_last_kept);
	assert_true(kept_ok);
	assert_int_equal(kept(), 9);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	dup2(input, 0);
	close(input);
	state_free(s);
}

/* Something that is not a file is not waited for, and no link is followed. */
static void path_that_is_no_file_is_not_followed(void **state)
{
	char why[STATE_TEXT_MAX];
	struct fm_msg msg;

	(void)state;
	alarm(20);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(load(&msg, why), -EFBIG);
	alarm(0);
	assert_non_null(strstr(why, "cannot read it"));
	assert_int_equal(unlink(refused), 0);
	assert_int_equal(symlink("/dev/zero", path), 0);
	assert_int_equal(load(&msg, why), -ELOOP);
	/* The symbolic link is set aside, and not the file that it names. */
	assert_int_equal(unlink(refused), 0);
	keep_one();
	assert_int_equal(kept(), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(state_is_read_as_written),
		TEST(temporary_file_left_over_is_replaced),
		TEST(damaged_state_is_not_taken),
		TEST(state_of_other_fabric_or_nic_is_not_taken),
		TEST(file_that_cannot_be_read_is_set_aside),
		TEST(interrupted_read_is_repeated),
		TEST(state_of_first_release_is_read),
		TEST(state_is_read_whatever_its_schema),
		TEST(state_works_with_descriptor_0),
		TEST(path_that_is_no_file_is_not_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
