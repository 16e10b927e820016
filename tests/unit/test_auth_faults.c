// SPDX-License-Identifier: GPL-2.0-only
/*
 * A peer's proof when the functions that compute it fail: no peer is accepted because of that, and
 * nothing is left behind. The exact messages about key files that cannot be used. And no key stays
 * in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gcrypt.h>
#include <cmocka.h>

#include "daemon/auth.h"
#include "tests/unit/calls.h"
#include "tests/unit/memory.h"

/* --- libgcrypt that fails -------------------------------------------------------- */

enum step { NONE, VERSION, OPEN, SETKEY, WRITE, READ, SHORT };

static enum step fails;
static unsigned int fails_at, handles;

const char *__real_gcry_check_version(const char *want);
const char *__wrap_gcry_check_version(const char *want);
gcry_error_t __real_gcry_mac_open(gcry_mac_hd_t *h, int algo, unsigned int flags, gcry_ctx_t ctx);
gcry_error_t __wrap_gcry_mac_open(gcry_mac_hd_t *h, int algo, unsigned int flags, gcry_ctx_t ctx);
gcry_error_t __real_gcry_mac_setkey(gcry_mac_hd_t h, const void *key, size_t len);
gcry_error_t __wrap_gcry_mac_setkey(gcry_mac_hd_t h, const void *key, size_t len);
gcry_error_t __real_gcry_mac_write(gcry_mac_hd_t h, const void *data, size_t len);
gcry_error_t __wrap_gcry_mac_write(gcry_mac_hd_t h, const void *data, size_t len);
gcry_error_t __real_gcry_mac_read(gcry_mac_hd_t h, void *data, size_t *len);
gcry_error_t __wrap_gcry_mac_read(gcry_mac_hd_t h, void *data, size_t *len);
void __real_gcry_mac_close(gcry_mac_hd_t h);
void __wrap_gcry_mac_close(gcry_mac_hd_t h);

/* Return: true if the call of this step is the one that fails. */
static bool turn_of(enum step step)
{
	if (fails != step || --fails_at)
		return false;
	fails = NONE;
	return true;
}

const char *__wrap_gcry_check_version(const char *want)
{
	return turn_of(VERSION) ? NULL : __real_gcry_check_version(want);
}

gcry_error_t __wrap_gcry_mac_open(gcry_mac_hd_t *h, int algo, unsigned int flags, gcry_ctx_t ctx)
{
	if (turn_of(OPEN))
		return gcry_error(GPG_ERR_ENOMEM);
	handles++;
	return __real_gcry_mac_open(h, algo, flags, ctx);
}

gcry_error_t __wrap_gcry_mac_setkey(gcry_mac_hd_t h, const void *key, size_t len)
{
	return turn_of(SETKEY) ? gcry_error(GPG_ERR_ENOMEM) : __real_gcry_mac_setkey(h, key, len);
}

gcry_error_t __wrap_gcry_mac_write(gcry_mac_hd_t h, const void *data, size_t len)
{
	return turn_of(WRITE) ? gcry_error(GPG_ERR_ENOMEM) : __real_gcry_mac_write(h, data, len);
}

gcry_error_t __wrap_gcry_mac_read(gcry_mac_hd_t h, void *data, size_t *len)
{
	gcry_error_t err = turn_of(READ) ? gcry_error(GPG_ERR_ENOMEM) :
			   __real_gcry_mac_read(h, data, len);

	if (turn_of(SHORT))
		--*len;
	return err;
}

void __wrap_gcry_mac_close(gcry_mac_hd_t h)
{
	handles--;
	__real_gcry_mac_close(h);
}

/* --- key files ------------------------------------------------------------------- */

static int opened_with;		/* the flags of the last file opened */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);

int __wrap_open(const char *path, int flags, ...)
{
	opened_with = flags;
	return __real_open(path, flags);
}

#define KEY "0123456789abcdef"

static void make_file(char *path, const char *data, size_t len, mode_t mode)
{
	int fd;

	strcpy(path, "/tmp/test_auth_faults.XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

/* The file of the key cannot be opened: nothing is left behind, and closing is harmless. */
static void not_opened(const char *path, int want, const char *text)
{
	unsigned int files = files_open();
	size_t blocks = memory_blocks();
	char sent[AUTH_TEXT_MAX] = "", right[2 * AUTH_TEXT_MAX];
	struct auth a;

	memset(&a, 0xff, sizeof(a));
	assert_int_equal(auth_open(&a, &auth_key_ops, "green", "n0", path, sent), want);
	snprintf(right, sizeof(right), text, path, path);
	assert_string_equal(sent, right);
	assert_int_equal(files_open(), files);
	assert_int_equal(memory_blocks(), blocks);
	auth_close(&a);
	auth_close(&a);
}

/*
 * A library that is too old is refused. This test comes first, because the version is checked only
 * once.
 */
static void too_old_library_is_refused(void **state)
{
	char path[64];

	(void)state;
	make_file(path, KEY, 16, 0600);
	fails = VERSION;
	fails_at = 1;
	not_opened(path, -ENOTSUP, "libgcrypt is older than " GCRYPT_VERSION);
	unlink(path);
}

static void unreadable_key_file_is_reported_with_reason(void **state)
{
	static char big[AUTH_KEY_MAX + 2];
	char path[64];

	(void)state;
	memset(big, 'k', sizeof(big));
	not_opened("/nonexistent/key", -ENOENT, "key file %s: No such file or directory");
	not_opened("/tmp", -EINVAL, "key file %s is not a regular file");
	not_opened("/dev/null", -EINVAL, "key file %s is not a regular file");
	/* A file that can be opened but not read. */
	not_opened("/proc/self/mem", -EIO, "key file %s: Input/output error");
	make_file(path, KEY, 16, 0601);
	not_opened(path, -EPERM,
		   "key file %s has mode 0601, others must have no access: chmod o= %s");
	unlink(path);
	make_file(path, KEY, 16, 06602);
	not_opened(path, -EPERM,
		   "key file %s has mode 6602, others must have no access: chmod o= %s");
	unlink(path);
	make_file(path, KEY "\n", 17, 0600);
	memory_fails_at(1);
	not_opened(path, -ENOMEM, "");
	assert_true(memory_failed());
	unlink(path);
	make_file(path, "", 0, 0600);
	not_opened(path, -EINVAL, "key file %s has 0 bytes, must have 16 to 4096");
	unlink(path);
	make_file(path, KEY, 15, 0600);
	not_opened(path, -EINVAL, "key file %s has 15 bytes, must have 16 to 4096");
	unlink(path);
	make_file(path, "\n\r\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n", 17, 0600);
	not_opened(path, -EINVAL, "key file %s has 0 bytes, must have 16 to 4096");
	unlink(path);
	make_file(path, big, AUTH_KEY_MAX + 1, 0600);
	not_opened(path, -EINVAL, "key file %s has over 4096 bytes, must have 16 to 4096");
	unlink(path);
}

static void open_ok(struct auth *a, const char *name)
{
	char path[64], text[AUTH_TEXT_MAX];

	make_file(path, KEY "\r\n", 18, 0600);
	memset(a, 0xff, sizeof(*a));
	assert_int_equal(auth_open(a, &auth_key_ops, "green", name, path, text), 0);
	/* A program that another thread starts meanwhile must not get the file. */
	assert_int_equal(opened_with, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	unlink(path);
}

/* A manager that was started without standard input may get descriptor 0 for any file. */
static void key_file_is_closed_if_it_gets_descriptor_0(void **state)
{
	int kept = fcntl(0, F_DUPFD_CLOEXEC, 100);
	unsigned int files;
	struct auth a;

	(void)state;
	close(0);
	files = files_open();
	open_ok(&a, "n0");
	auth_close(&a);
	assert_int_equal(files_open(), files);
	assert_int_equal(dup2(kept, 0), 0);
	close(kept);
}

/* Return: true if the block with the key had been wiped when it was freed. */
static bool wiped;

static void look_for_key(const void *p, size_t size)
{
	const uint8_t *byte = p;

	wiped = size >= AUTH_KEY_MAX;
	while (size--)
		wiped = wiped && !*byte++;
}

static void key_is_wiped_before_memory_is_freed(void **state)
{
	size_t blocks = memory_blocks();
	struct auth a;

	(void)state;
	open_ok(&a, "n0");
	assert_string_equal(a.fabric, "green");
	assert_string_equal(a.name, "n0");
	/* The library knows that no other code will initialise it. */
	assert_true(gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P));
	memory_on_free(look_for_key);
	auth_close(&a);
	memory_on_free(NULL);
	assert_true(wiped);
	assert_int_equal(memory_blocks(), blocks);
	auth_close(&a);
}

/* --- conversations ---------------------------------------------------------------- */

/* Runs a handshake of two ends of one fabric until it stops. Return: the text of the refusal. */
static const char *refused_at(unsigned int *turns)
{
	static struct auth_session s[2];
	static struct auth a, b;
	struct svc_auth msg[2] = { { .nonce_len = 0 } };
	enum auth_next next = AUTH_SEND;
	unsigned int turn;

	open_ok(&a, "n0");
	open_ok(&b, "n1");
	auth_session_init(&s[0], &a, true);
	auth_session_init(&s[1], &b, false);
	assert_int_equal(auth_start(&s[0], &msg[0]), 0);
	for (turn = 0; next == AUTH_SEND || next == AUTH_LAST; turn++)
		next = auth_step(&s[(turn + 1) % 2], &msg[turn % 2], &msg[(turn + 1) % 2]);
	auth_close(&a);
	auth_close(&b);
	assert_int_equal(handles, 0);
	*turns = turn;
	assert_int_equal(next, turn == 4 && !s[turn % 2].text[0] ? AUTH_DONE : AUTH_REFUSED);
	return s[turn % 2].text;
}

/*
 * A failure of libgcrypt at each proof ends the handshake. The initiator makes a proof in answer to
 * a nonce; the listener makes one to compare, and then its own; the initiator makes one to compare.
 */
static void broken(enum step step, unsigned int calls)
{
	static const char *const text[] = {
		"the proof cannot be made", "the key differs", "the proof cannot be made",
		"the key differs", "",
	};
	static const unsigned int at[] = { 2, 3, 3, 4, 4 };

	for (unsigned int i = 0; i <= 4 * calls; i++) {
		unsigned int turns;

		fails = step;
		fails_at = i + 1;
		assert_string_equal(refused_at(&turns), text[i / calls]);
		assert_int_equal(turns, at[i / calls]);
		assert_int_equal(fails, i < 4 * calls ? NONE : step);
	}
	fails = NONE;
}

static void failed_hash_function_ends_handshake(void **state)
{
	(void)state;
	broken(OPEN, 1);
	broken(SETKEY, 1);
	broken(WRITE, 7);	/* label, role, two nonces, three names */
	broken(READ, 1);
	broken(SHORT, 1);
}

/* A management packet gets no code that was not computed from all of it. */
static void failed_step_gives_no_code(void **state)
{
	static const struct { enum step step; unsigned int calls; } way[] = {
		{ OPEN, 1 }, { SETKEY, 1 }, { WRITE, 2 }, { READ, 1 }, { SHORT, 1 },
	};
	uint8_t out[AUTH_MAC];
	struct auth a;

	(void)state;
	open_ok(&a, "n0");
	for (size_t i = 0; i < sizeof(way) / sizeof(way[0]); i++)
		for (unsigned int at = 1; at <= way[i].calls; at++) {
			fails = way[i].step;
			fails_at = at;
			assert_int_equal(auth_mac(&a, "label", "bytes", 5, out), -EIO);
			assert_int_equal(fails, NONE);
			assert_int_equal(handles, 0);
		}
	assert_int_equal(auth_mac(&a, "label", "bytes", 5, out), 0);
	assert_int_equal(handles, 0);
	auth_close(&a);
}

static void missing_random_numbers_end_handshake(void **state)
{
	static const struct {
		long value;
		int err;
	} given[] = { { -1, ENOSYS }, { 31, 0 }, { 0, 0 } };
	struct auth_session s;
	struct svc_auth msg;
	unsigned int turns;
	struct auth a;

	(void)state;
	open_ok(&a, "n0");
	for (unsigned int i = 0; i < 3; i++) {
		auth_session_init(&s, &a, true);
		call_gives(CALL_RANDOM, 1, given[i].value, given[i].err);
		assert_int_equal(auth_start(&s, &msg), -EIO);
		assert_true(call_given());
		call_gives(CALL_RANDOM, 2, given[i].value, given[i].err);
		assert_string_equal(refused_at(&turns), "no random numbers");
		assert_true(call_given());
		assert_int_equal(turns, 1);
	}
	/* A signal must not make it give up. */
	call_gives(CALL_RANDOM, 1, -1, EINTR);
	assert_string_equal(refused_at(&turns), "");
	assert_true(call_given());
	assert_int_equal(turns, 4);
	auth_close(&a);
}

static unsigned int closes;

static int way_open(struct auth *a, const char *where, char *text)
{
	(void)a;
	strcpy(text, where);
	return -EACCES;
}

static void way_close(struct auth *a)
{
	(void)a;
	closes++;
}

/* With another method of proof, the answers of that are passed on, and it is closed once. */
static void other_method_of_proof_is_used_and_closed_once(void **state)
{
	static const struct auth_ops way = { .name = "way", .open = way_open, .close = way_close };
	struct auth a = { .ops = NULL };
	char text[AUTH_TEXT_MAX];

	(void)state;
	auth_close(&a);		/* never opened */
	assert_int_equal(auth_open(&a, &way, "green", "n0", "there", text), -EACCES);
	assert_string_equal(text, "there");
	auth_close(&a);
	auth_close(&a);
	assert_int_equal(closes, 1);
}

/* The refusals that a peer gets for a message that is wrong or comes at the wrong time. */
static void wrong_or_early_message_gets_reason(void **state)
{
	struct svc_auth m = { .fabric = "green", .nonce_len = 32 }, out;
	struct auth_session s;
	struct auth a;

	(void)state;
	open_ok(&a, "n0");
	auth_session_init(&s, &a, false);
	assert_int_equal(auth_step(&s, &m, &out), AUTH_REFUSED);
	assert_string_equal(s.text, "the name is missing, or has changed since the first message");
	strcpy(m.name, "n");		/* the shortest name */
	auth_session_init(&s, &a, false);
	assert_int_equal(auth_step(&s, &m, &out), AUTH_SEND);
	assert_string_equal(out.fabric, "green");
	assert_string_equal(out.name, "n0");
	strcpy(m.name, "m");
	assert_int_equal(auth_step(&s, &m, &out), AUTH_REFUSED);
	assert_string_equal(s.text, "the name is missing, or has changed since the first message");
	assert_string_equal(s.peer_name, "n");
	m.nonce_len = 31;
	auth_session_init(&s, &a, false);
	assert_int_equal(auth_step(&s, &m, &out), AUTH_REFUSED);
	assert_string_equal(s.text, "the nonce has the wrong length");
	strcpy(m.fabric, "blue");
	auth_session_init(&s, &a, false);
	assert_int_equal(auth_step(&s, &m, &out), AUTH_REFUSED);
	assert_string_equal(s.text, "fabric is 'blue', must be 'green'");
	assert_string_equal(s.peer_fabric, "blue");
	auth_close(&a);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(too_old_library_is_refused),
		cmocka_unit_test(unreadable_key_file_is_reported_with_reason),
		cmocka_unit_test(key_file_is_closed_if_it_gets_descriptor_0),
		cmocka_unit_test(key_is_wiped_before_memory_is_freed),
		cmocka_unit_test(failed_hash_function_ends_handshake),
		cmocka_unit_test(failed_step_gives_no_code),
		cmocka_unit_test(missing_random_numbers_end_handshake),
		cmocka_unit_test(other_method_of_proof_is_used_and_closed_once),
		cmocka_unit_test(wrong_or_early_message_gets_reason),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
