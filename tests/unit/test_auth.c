// SPDX-License-Identifier: GPL-2.0-only
/* The proof of a peer: who has the key gets in, and nobody else by any trick. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/auth.h"

static const char key_a[] = "0123456789abcdef0123456789abcdef\n";
static const char key_b[] = "0123456789abcdef0123456789abcdeF\n";

static int open_key(struct auth *a, const char *fabric, const char *name, const char *key,
		    size_t len, mode_t mode, char *text)
{
	char path[] = "/tmp/test_auth.XXXXXX";
	int fd = mkstemp(path);
	int err;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, key, len), len);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	err = auth_open(a, &auth_key_ops, fabric, name, path, text);
	unlink(path);
	return err;
}

static void open_ok(struct auth *a, const char *fabric, const char *name, const char *key)
{
	char text[AUTH_TEXT_MAX];

	assert_int_equal(open_key(a, fabric, name, key, strlen(key), 0600, text), 0);
}

/** struct pair - both ends of a conversation */
struct pair {
	struct auth_session i, l;
	struct fm_auth msg[4];		/* in the order they were sent */
	bool i_done, l_done;
};

/* Return: true if both are content. */
static bool converse(struct pair *p, const struct auth *a, const struct auth *b)
{
	enum auth_next next;

	memset(p, 0, sizeof(*p));
	auth_session_init(&p->i, a, true);
	auth_session_init(&p->l, b, false);
	assert_int_equal(auth_start(&p->i, &p->msg[0]), 0);
	if (auth_step(&p->l, &p->msg[0], &p->msg[1]) != AUTH_SEND)
		return false;
	if (auth_step(&p->i, &p->msg[1], &p->msg[2]) != AUTH_SEND)
		return false;
	next = auth_step(&p->l, &p->msg[2], &p->msg[3]);
	p->l_done = next == AUTH_LAST;
	if (!p->l_done)
		return false;
	p->i_done = auth_step(&p->i, &p->msg[3], &p->msg[0]) == AUTH_DONE;
	return p->i_done;
}

static void same_key(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	assert_true(converse(&p, &a, &b));
	assert_string_equal(p.i.peer_name, "n1");
	assert_string_equal(p.l.peer_name, "n0");
	/* Before the initiator has proved, the listener gives nothing to try keys on. */
	assert_int_equal(p.msg[1].proof_len, 0);
	auth_close(&a);
	auth_close(&b);
}

static void other_key(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_b);
	assert_false(converse(&p, &a, &b));
	assert_false(p.l_done);
	assert_non_null(strstr(p.l.text, "key"));
	auth_close(&a);
	auth_close(&b);
}

static void other_fabric(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "blue", "n1", key_a);
	assert_false(converse(&p, &a, &b));
	assert_non_null(strstr(p.l.text, "'green', allowed: 'blue'"));
	auth_close(&a);
	auth_close(&b);
}

/* A proof heard once is worth nothing in another conversation. */
static void replayed(void **state)
{
	struct auth a, b;
	struct pair p;
	struct auth_session l;
	struct fm_auth out;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	assert_true(converse(&p, &a, &b));
	auth_session_init(&l, &b, false);
	assert_int_equal(auth_start(&p.i, &p.msg[0]), 0);
	auth_session_init(&l, &b, false);
	assert_int_equal(auth_step(&l, &p.msg[0], &out), AUTH_SEND);
	assert_int_equal(auth_step(&l, &p.msg[2], &out), AUTH_REFUSED);
	auth_close(&a);
	auth_close(&b);
}

/* A stranger gives back to a node what that node says. */
static void reflected(void **state)
{
	struct auth_session l, i;
	struct fm_auth first, nonce, proof, out;
	struct auth a;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	auth_session_init(&i, &a, true);
	assert_int_equal(auth_start(&i, &first), 0);
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &first, &nonce), AUTH_SEND);
	/* The node's own nonce comes back to it as the listener's. */
	assert_int_equal(auth_step(&i, &first, &proof), AUTH_SEND);
	assert_int_equal(auth_step(&i, &proof, &out), AUTH_REFUSED);
	auth_close(&a);
}

/* One bit anywhere in any message, and it ends there. */
static void every_bit(void **state)
{
	struct auth a, b;
	struct pair good, p;
	unsigned int refused = 0, tried = 0;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	assert_true(converse(&good, &a, &b));
	for (unsigned int bit = 0; bit < 32 * 8; bit++) {
		struct fm_auth m, out;

		auth_session_init(&p.i, &a, true);
		auth_session_init(&p.l, &b, false);
		auth_start(&p.i, &p.msg[0]);
		auth_step(&p.l, &p.msg[0], &p.msg[1]);
		m = p.msg[1];
		m.nonce[bit / 8] ^= (uint8_t)(1u << bit % 8);
		auth_step(&p.i, &m, &p.msg[2]);
		tried += 2;
		refused += auth_step(&p.l, &p.msg[2], &out) == AUTH_REFUSED;

		auth_session_init(&p.i, &a, true);
		auth_session_init(&p.l, &b, false);
		auth_start(&p.i, &p.msg[0]);
		auth_step(&p.l, &p.msg[0], &p.msg[1]);
		auth_step(&p.i, &p.msg[1], &p.msg[2]);
		p.msg[2].proof[bit / 8] ^= (uint8_t)(1u << bit % 8);
		refused += auth_step(&p.l, &p.msg[2], &out) == AUTH_REFUSED;
	}
	assert_int_equal(refused, tried);
	auth_close(&a);
	auth_close(&b);
}

static void malformed(void **state)
{
	struct auth_session l;
	struct fm_auth m, out;
	struct auth a;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	memset(&m, 0, sizeof(m));
	strcpy(m.fabric, "green");
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);	/* no name */
	strcpy(m.name, "x");
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);	/* no nonce */
	m.nonce_len = 32;
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_SEND);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);	/* no proof */
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_SEND);
	strcpy(m.name, "y");
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);	/* another name */
	auth_close(&a);
}

static void key_files(void **state)
{
	static char big[AUTH_KEY_MAX + 1];
	char text[AUTH_TEXT_MAX];
	struct auth a;

	(void)state;
	memset(big, 'k', sizeof(big));
	assert_int_equal(open_key(&a, "f", "n", big, AUTH_KEY_MIN, 0640, text), 0);
	auth_close(&a);
	assert_int_equal(open_key(&a, "f", "n", big, AUTH_KEY_MAX, 0400, text), 0);
	auth_close(&a);
	assert_int_equal(open_key(&a, "f", "n", big, AUTH_KEY_MAX + 1, 0600, text), -EINVAL);
	assert_non_null(strstr(text, "16 to 4096"));
	assert_int_equal(open_key(&a, "f", "n", big, AUTH_KEY_MIN - 1, 0600, text), -EINVAL);
	assert_int_equal(open_key(&a, "f", "n", "123456789012345\n\n", 17, 0600, text), -EINVAL);
	assert_non_null(strstr(text, "has 15 bytes"));
	assert_int_equal(open_key(&a, "f", "n", big, 32, 0604, text), -EPERM);
	assert_non_null(strstr(text, "mode 0604"));
	assert_int_equal(auth_open(&a, &auth_key_ops, "f", "n", "/nonexistent", text), -ENOENT);
	assert_int_equal(auth_open(&a, &auth_key_ops, "f", "n", "/dev/null", text), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(same_key),
		cmocka_unit_test(other_key),
		cmocka_unit_test(other_fabric),
		cmocka_unit_test(replayed),
		cmocka_unit_test(reflected),
		cmocka_unit_test(every_bit),
		cmocka_unit_test(malformed),
		cmocka_unit_test(key_files),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
