// SPDX-License-Identifier: GPL-2.0-only
/* Authentication of a peer: one with the key is accepted, and no other, whatever it sends. */
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
#include "daemon/frame.h"

#define NEWEST 0x106	/* the newest schema */

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

/** struct pair - both ends of a handshake: @i the initiator, @l the listener */
struct pair {
	struct auth_session i, l;
	struct svc_auth msg[4];		/* messages in the order in which they were sent */
	bool i_done, l_done;
};

/* Changes a message on its way, as an attacker would. Return: false if it does not arrive. */
typedef bool meddle(struct svc_auth *msg, unsigned int turn, void *arg);

/* Runs a handshake, with @fn applied to each message. Return: whether both ends accept. */
static bool converse_through(struct pair *p, const struct auth *a, const struct auth *b,
			     meddle *fn, void *arg)
{
	struct svc_auth received, none;

	memset(p, 0, sizeof(*p));
	auth_session_init(&p->i, a, true);
	auth_session_init(&p->l, b, false);
	p->i.newest = p->l.newest = NEWEST;
	assert_int_equal(auth_start(&p->i, &p->msg[0]), 0);
	for (unsigned int turn = 0; turn < 4; turn++) {
		struct auth_session *to = turn % 2 ? &p->i : &p->l;
		struct svc_auth *reply = turn < 3 ? &p->msg[turn + 1] : &none;
		enum auth_next next, right = turn < 2 ? AUTH_SEND : turn < 3 ? AUTH_LAST : AUTH_DONE;

		received = p->msg[turn];
		if (fn && !fn(&received, turn, arg))
			return false;
		next = auth_step(to, &received, reply);
		if (next == AUTH_REFUSED)
			return false;
		assert_int_equal(next, right);
		p->l_done |= next == AUTH_LAST;
		p->i_done |= next == AUTH_DONE;
	}
	return p->i_done;
}

static bool converse(struct pair *p, const struct auth *a, const struct auth *b)
{
	return converse_through(p, a, b, NULL, NULL);
}

static void ends_with_same_key_authenticate(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	assert_true(converse(&p, &a, &b));
	assert_string_equal(p.i.peer_name, "n1");
	assert_string_equal(p.l.peer_name, "n0");
	/* The listener sends no proof first, because an attacker could try keys on it offline. */
	assert_int_equal(p.msg[1].proof_len, 0);
	auth_close(&a);
	auth_close(&b);
}

static void peer_with_other_key_is_refused(void **state)
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

static void ends_of_different_fabrics_are_refused(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "blue", "n1", key_a);
	assert_false(converse(&p, &a, &b));
	assert_non_null(strstr(p.l.text, "'green', must be 'blue'"));
	auth_close(&a);
	/* The name of one fabric is a prefix of the other's. */
	open_ok(&a, "blues", "n0", key_a);
	assert_false(converse(&p, &a, &b));
	assert_non_null(strstr(p.l.text, "'blues', must be 'blue'"));
	auth_close(&a);
	auth_close(&b);
}

/* Compares proofs with constants made by Python's hmac: managers of all versions must agree. */
static void proofs_equal_constants_of_python_hmac(void **state)
{
	static const uint8_t of_i[32] = {
		0x7c, 0x25, 0xd7, 0x56, 0x0f, 0x36, 0x77, 0x98, 0xe7, 0x58, 0x7f, 0x84, 0xd4, 0x85,
		0x8c, 0x94, 0xce, 0x87, 0xf3, 0x44, 0x5b, 0x80, 0x40, 0x2f, 0xd5, 0x46, 0x55, 0x2e,
		0xc0, 0x76, 0x0d, 0x5d,
	}, of_l[32] = {
		0x01, 0x31, 0x13, 0x3e, 0xd6, 0x6d, 0xa0, 0xc6, 0x4b, 0x54, 0x6d, 0xf3, 0xe7, 0x6a,
		0x2e, 0xf0, 0x33, 0x98, 0xa2, 0x48, 0xf6, 0xf3, 0xc4, 0x44, 0xb6, 0xb6, 0xfa, 0xe5,
		0xb7, 0xeb, 0x81, 0x25,
	};
	struct svc_auth m = { .fabric = "green", .name = "n1", .nonce_len = 32 }, out;
	struct auth_session i, l;
	struct auth a, b;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	auth_session_init(&i, &a, true);
	assert_int_equal(auth_start(&i, &out), 0);
	auth_session_init(&l, &b, false);
	for (unsigned int k = 0; k < 32; k++) {
		i.own_nonce[k] = (uint8_t)k;
		m.nonce[k] = (uint8_t)(32 + k);
	}
	assert_int_equal(auth_step(&i, &m, &out), AUTH_SEND);
	assert_int_equal(out.proof_len, 32);
	assert_memory_equal(out.proof, of_i, 32);
	strcpy(m.name, "n0");
	memcpy(m.nonce, i.own_nonce, 32);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_SEND);
	for (unsigned int k = 0; k < 32; k++)
		l.own_nonce[k] = (uint8_t)(32 + k);
	m.proof_len = 32;
	memcpy(m.proof, of_i, 32);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_LAST);
	assert_int_equal(out.proof_len, 32);
	assert_memory_equal(out.proof, of_l, 32);
	strcpy(m.name, "n1");
	memcpy(m.proof, of_l, 32);
	assert_int_equal(auth_step(&i, &m, &out), AUTH_DONE);
	auth_close(&a);
	auth_close(&b);
}

/* The code of a management packet, also by Python's hmac. It covers the label and its end. */
static void code_of_packet_equals_constant_and_covers_label(void **state)
{
	static const uint8_t right[AUTH_MAC] = {
		0xa2, 0x80, 0x81, 0x9d, 0xb5, 0xc9, 0x2e, 0xc5, 0x1a, 0xc6, 0x04, 0x4a, 0x1a, 0x3a,
		0x14, 0x3a, 0xa5, 0xa4, 0xa1, 0x45, 0xa1, 0xac, 0x50, 0xe7, 0xb1, 0x27, 0x3b, 0xe8,
		0xeb, 0x1f, 0xb9, 0x6b,
	};
	uint8_t out[AUTH_MAC];
	struct auth a;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	assert_int_equal(auth_mac(&a, "a label", "some bytes", 10, out), 0);
	assert_memory_equal(out, right, AUTH_MAC);
	assert_int_equal(auth_mac(&a, "a labels", "ome bytes", 9, out), 0);
	assert_memory_not_equal(out, right, AUTH_MAC);
	auth_close(&a);
}

/* Every random byte of the nonces changes: one that is equal 64 times is hardly random. */
static void each_random_byte_of_nonces_changes(void **state)
{
	struct svc_auth first[2] = { 0 };
	uint8_t differs[2][24] = { 0 };
	struct auth a;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	for (unsigned int i = 0; i < 64; i++) {
		assert_true(converse(&p, &a, &a));
		for (unsigned int k = 0; k < 2; k++) {
			assert_int_equal(p.msg[k].nonce_len, 32);
			if (!i)
				first[k] = p.msg[k];
			assert_memory_equal(p.msg[k].nonce + 24, "schema\1\6", 8);
			for (unsigned int n = 0; n < 24; n++)
				differs[k][n] |= p.msg[k].nonce[n] ^ first[k].nonce[n];
		}
	}
	assert_null(memchr(differs, 0, sizeof(differs)));
	auth_close(&a);
}

/*
 * Replays any two messages of the handshake @sent, in any order, to a new session of @a. With
 * @nonce_as_then the session gets the nonce of the old one: then exactly the two right messages in
 * their order are accepted, so that the others fail not only because the nonce is another.
 * Return: how many pairs are accepted.
 */
static unsigned int any_two(const struct pair *sent, const struct auth *a, bool initiator,
			    bool nonce_as_then)
{
	const struct auth_session *then = initiator ? &sent->i : &sent->l;
	unsigned int sessions = 0;

	for (unsigned int n = 0; n < 16; n++) {
		enum auth_next next;
		struct auth_session s;
		struct svc_auth out;

		auth_session_init(&s, a, initiator);
		if (initiator)
			assert_int_equal(auth_start(&s, &out), 0);
		next = auth_step(&s, &sent->msg[n / 4], &out);
		assert_true(next == AUTH_SEND || next == AUTH_REFUSED);
		if (next == AUTH_REFUSED)
			continue;
		if (nonce_as_then)
			memcpy(s.own_nonce, then->own_nonce, sizeof(s.own_nonce));
		next = auth_step(&s, &sent->msg[n % 4], &out);
		if (next == AUTH_REFUSED)
			continue;
		assert_int_equal(next, initiator ? AUTH_DONE : AUTH_LAST);
		assert_int_equal(n, initiator ? 1 * 4 + 3 : 0 * 4 + 2);
		sessions++;
	}
	return sessions;
}

/* Messages of a recorded handshake are refused in another, at both ends and in any order. */
static void replayed_handshake_messages_are_refused(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	assert_true(converse(&p, &a, &b));
	assert_int_equal(any_two(&p, &b, false, false), 0);
	assert_int_equal(any_two(&p, &a, true, false), 0);
	assert_int_equal(any_two(&p, &b, false, true), 1);
	assert_int_equal(any_two(&p, &a, true, true), 1);
	/* The same if both ends have one name, which does not tell whose a message is. */
	assert_true(converse(&p, &a, &a));
	assert_int_equal(any_two(&p, &a, false, false), 0);
	assert_int_equal(any_two(&p, &a, true, false), 0);
	assert_int_equal(any_two(&p, &a, false, true), 1);
	assert_int_equal(any_two(&p, &a, true, true), 1);
	auth_close(&a);
	auth_close(&b);
}

/* An attacker sends a node its own messages back, under @name. */
static void reflect(const struct auth *a, const char *name)
{
	struct auth_session l, i;
	struct svc_auth received, out;

	auth_session_init(&i, a, true);
	assert_int_equal(auth_start(&i, &received), 0);
	strcpy(received.name, name);
	/* The node's own nonce comes back to it as the listener's, then its own proof. */
	assert_int_equal(auth_step(&i, &received, &out), AUTH_SEND);
	received = out;
	strcpy(received.name, name);
	assert_int_equal(auth_step(&i, &received, &out), AUTH_REFUSED);
	/* A listener sends only a nonce before it has received a proof. */
	auth_session_init(&l, a, false);
	auth_session_init(&i, a, true);
	assert_int_equal(auth_start(&i, &received), 0);
	strcpy(received.name, name);
	assert_int_equal(auth_step(&l, &received, &out), AUTH_SEND);
	assert_int_equal(out.proof_len, 0);
	received = out;
	strcpy(received.name, name);
	assert_int_equal(auth_step(&l, &received, &out), AUTH_REFUSED);
	assert_int_equal(out.proof_len, 0);
}

static void reflected_messages_are_refused(void **state)
{
	struct auth a;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	reflect(&a, "n0");
	reflect(&a, "n1");
	auth_close(&a);
}

/* --- messages changed on their way ------------------------------------------- */

/**
 * struct damage - changes one message, as bytes on the network
 * @turn: which message, from 0
 * @len: of its frame
 * @bit: the bit to flip; none if it is past the end
 * @keep: how many bytes arrive
 */
struct damage {
	unsigned int turn;
	size_t len, bit, keep;
};

/* Return: true if @data is still a message of the handshake that svc.c would accept. */
static bool arrive(const uint8_t *data, size_t len, struct svc_auth *msg)
{
	struct svc_msg m;
	bool fine;

	if (svc_msg_unpack(data, len, &m))
		return false;
	fine = m.type == SVC_AUTH && m.schema == 5;
	*msg = m.auth;
	svc_msg_clear(&m);
	return fine;
}

static bool do_damage(struct svc_auth *msg, unsigned int turn, void *arg)
{
	struct svc_msg m = { .type = SVC_AUTH, .auth = *msg };
	struct damage *d = arg;
	const uint8_t *body;
	bool arrives = false;
	uint8_t *data;
	size_t n;

	if (turn != d->turn)
		return true;
	assert_int_equal(frame_pack(&m, 5, &data, &d->len), 0);
	if (d->bit < 8 * d->len)
		data[d->bit / 8] ^= (uint8_t)(1u << d->bit % 8);
	if (frame_next(data, d->keep < d->len ? d->keep : d->len, FRAME_MAX_STRANGER, &body, &n) > 0)
		arrives = arrive(body, n, msg);
	free(data);
	return arrives;
}

/*
 * Checks that damage @d makes the handshake fail. If the last message is damaged, the listener has
 * accepted the initiator before, which is right; the initiator refuses.
 */
static void fails(const struct auth *a, const struct auth *b, struct damage *d)
{
	struct pair p;

	if (converse_through(&p, a, b, do_damage, d) || p.l_done != (d->turn == 3))
		fail_msg("message %u, bit %zu, %zu bytes: it is accepted", d->turn, d->bit, d->keep);
}

/* Flips each bit of each message: each is noticed. */
static void each_flipped_bit_of_handshake_is_noticed(void **state)
{
	struct damage d = { .keep = SIZE_MAX };
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	for (d.turn = 0; d.turn < 4; d.turn++) {
		d.bit = SIZE_MAX;
		assert_true(converse_through(&p, &a, &b, do_damage, &d));
		for (d.bit = 0; d.bit < 8 * d.len; d.bit++)
			fails(&a, &b, &d);
		assert_true(d.bit > 8 * 40);
	}
	auth_close(&a);
	auth_close(&b);
}

/* Changes the schema that messages name: those of the side *@arg say another one. */
static bool downgrade(struct svc_auth *msg, unsigned int turn, void *arg)
{
	const unsigned int *side = arg;

	if (turn % 2 == *side)
		msg->newest = NEWEST - 1;
	return true;
}

/* A man in the middle cannot make both ends believe that the other speaks only an older schema. */
static void no_downgrade_of_schema_by_host_between(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	for (unsigned int side = 0; side < 2; side++) {
		assert_false(converse_through(&p, &a, &b, downgrade, &side));
		assert_false(p.l_done);
		assert_string_equal(side ? p.i.text : p.l.text, "the schema was changed in transit");
	}
	auth_close(&a);
	auth_close(&b);
}

/* A peer of an earlier release sends its schemas, but no mark in its nonce: it is accepted. */
static void nonce_without_mark_is_accepted(void **state)
{
	struct auth_session old, now;
	struct auth a, b;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	for (unsigned int i = 0; i < 2; i++) {
		struct auth_session *from = i ? &now : &old, *to = i ? &old : &now;
		struct svc_auth m, reply;

		auth_session_init(&old, &a, from == &old);
		auth_session_init(&now, &b, from == &now);
		now.newest = 7;
		assert_int_equal(auth_start(from, &m), 0);
		for (unsigned int turn = 0; turn < 4; turn++) {
			if (from == &old)
				m.newest = 6;
			assert_int_equal(auth_step(to, &m, &reply), turn < 2 ? AUTH_SEND :
					 turn < 3 ? AUTH_LAST : AUTH_DONE);
			m = reply;
			from = to;
			to = from == &old ? &now : &old;
		}
	}
	auth_close(&a);
	auth_close(&b);
}

/* Cuts a message short, and frames it correctly again. */
static bool shorten(struct svc_auth *msg, unsigned int turn, void *arg)
{
	struct svc_msg m = { .type = SVC_AUTH, .auth = *msg };
	struct damage *d = arg;
	bool arrives;
	uint8_t *data;

	if (turn != d->turn)
		return true;
	assert_int_equal(svc_msg_pack(&m, 5, &data, &d->len), 0);
	arrives = arrive(data, d->keep < d->len ? d->keep : d->len, msg);
	free(data);
	return arrives;
}

static void truncated_message_is_refused(void **state)
{
	struct damage d = { .bit = SIZE_MAX };
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	for (d.turn = 0; d.turn < 4; d.turn++) {
		d.keep = SIZE_MAX;
		assert_true(converse_through(&p, &a, &b, shorten, &d));
		for (d.keep = 0; d.keep < d.len; d.keep++) {
			assert_false(converse_through(&p, &a, &b, shorten, &d));
			assert_int_equal(p.l_done, d.turn == 3);
		}
		d.keep = 0;
		do
			fails(&a, &b, &d);
		while (++d.keep < d.len);	/* now the frame is cut */
	}
	auth_close(&a);
	auth_close(&b);
}

/* Changes the length of a nonce or proof, not its bytes. */
static bool resize(struct svc_auth *msg, unsigned int turn, void *arg)
{
	const struct damage *d = arg;

	if (turn == d->turn && turn < 2)
		msg->nonce_len = (uint32_t)d->len;
	else if (turn == d->turn)
		msg->proof_len = (uint32_t)d->len;
	return true;
}

static void only_nonce_or_proof_of_32_bytes_is_accepted(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	for (unsigned int turn = 0; turn < 4; turn++)
		for (size_t len = 0; len <= SVC_AUTH_MAX; len++) {
			struct damage d = { .turn = turn, .len = len };

			assert_int_equal(converse_through(&p, &a, &b, resize, &d), len == 32);
		}
	auth_close(&a);
	auth_close(&b);
}

/**
 * struct forged - replaces names in all messages of a side
 * @fabric, @name: what to tell [0] of the initiator, [1] of the listener; NULL: no change
 */
struct forged {
	const char *fabric[2], *name[2];
};

static bool forge(struct svc_auth *msg, unsigned int turn, void *arg)
{
	const struct forged *f = arg;

	if (f->fabric[turn % 2])
		strcpy(msg->fabric, f->fabric[turn % 2]);
	if (f->name[turn % 2])
		strcpy(msg->name, f->name[turn % 2]);
	return true;
}

static void flipped_bit_of_name_is_noticed(void **state)
{
	struct auth a, b;
	struct pair p;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	open_ok(&b, "green", "n1", key_a);
	for (unsigned int side = 0; side < 2; side++)
		for (unsigned int bit = 0; bit < 3 * 8; bit++) {
			char name[4] = { 'n', (char)('0' + side) };
			struct forged f = { .name = { side ? NULL : name, side ? name : NULL } };

			name[bit / 8] ^= (char)(1u << bit % 8);
			assert_false(converse_through(&p, &a, &b, forge, &f));
			assert_false(p.l_done);
			assert_non_null(strstr(p.l.text, "the key"));
		}
	auth_close(&a);
	auth_close(&b);
}

/*
 * Two nodes have the same key, perhaps in two fabrics, which should not be. An attacker between
 * them replaces names and fabrics so that each end gets a message that it accepts. The proofs must
 * not match.
 */
static void brought_together(const char *fabric_i, const char *name_i, const char *fabric_l,
			     const char *name_l, const struct forged *f)
{
	struct auth a, b;
	struct pair p;

	open_ok(&a, fabric_i, name_i, key_a);
	open_ok(&b, fabric_l, name_l, key_a);
	assert_false(converse_through(&p, &a, &b, forge, (void *)f));
	assert_false(p.l_done);
	assert_string_equal(p.l.text, "the key differs");
	auth_close(&a);
	auth_close(&b);
}

static void forged_fabric_or_name_is_refused(void **state)
{
	const struct forged other_fabric_ = { .fabric = { "blue", "green" } };
	/* Each end's names, concatenated without a separator, are the same letters. */
	const struct forged names = { .name = { "n0n1", "n1n1" } };
	const struct forged border = { .fabric = { "green", "gree" }, .name = { "n0", NULL } };

	(void)state;
	brought_together("green", "n0", "blue", "n1", &other_fabric_);
	brought_together("green", "n0", "green", "n1", &names);
	brought_together("gree", "nn0", "green", "n1", &border);
}

static void malformed_messages_are_refused(void **state)
{
	struct auth_session l;
	struct svc_auth m, out;
	struct auth a;

	(void)state;
	open_ok(&a, "green", "n0", key_a);
	memset(&m, 0, sizeof(m));
	strcpy(m.fabric, "green");
	auth_session_init(&l, &a, false);
	/* the message has no name */
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);
	strcpy(m.name, "x");
	auth_session_init(&l, &a, false);
	/* the message has no nonce */
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);
	m.nonce_len = 32;
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_SEND);
	/* the message has no proof */
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);
	auth_session_init(&l, &a, false);
	assert_int_equal(auth_step(&l, &m, &out), AUTH_SEND);
	strcpy(m.name, "y");
	/* the message has another name */
	assert_int_equal(auth_step(&l, &m, &out), AUTH_REFUSED);
	auth_close(&a);
}

static void key_file_of_wrong_length_or_mode_is_refused(void **state)
{
	char text[AUTH_TEXT_MAX], pipe[32] = "/tmp/test_auth.XXXXXX";
	static char big[AUTH_KEY_MAX + 1];
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
	assert_int_equal(open_key(&a, "f", "n", "123456789012345\r\n", 17, 0600, text), -EINVAL);
	for (mode_t others = 1; others < 8; others++)
		assert_int_equal(open_key(&a, "f", "n", big, 32, 0600 | others, text), -EPERM);
	assert_int_equal(open_key(&a, "f", "n", big, 32, 0604, text), -EPERM);
	assert_non_null(strstr(text, "mode 0604"));
	assert_int_equal(auth_open(&a, &auth_key_ops, "f", "n", "/nonexistent", text), -ENOENT);
	assert_int_equal(auth_open(&a, &auth_key_ops, "f", "n", "/dev/null", text), -EINVAL);
	/* Opening a pipe without a writer must not block. */
	assert_int_equal(mkdtemp(pipe) ? 0 : -1, 0);
	strcat(pipe, "/key");
	assert_int_equal(mkfifo(pipe, 0600), 0);
	assert_int_equal(auth_open(&a, &auth_key_ops, "f", "n", pipe, text), -EINVAL);
	unlink(pipe);
	*strrchr(pipe, '/') = '\0';
	rmdir(pipe);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(ends_with_same_key_authenticate),
		cmocka_unit_test(peer_with_other_key_is_refused),
		cmocka_unit_test(ends_of_different_fabrics_are_refused),
		cmocka_unit_test(proofs_equal_constants_of_python_hmac),
		cmocka_unit_test(code_of_packet_equals_constant_and_covers_label),
		cmocka_unit_test(each_random_byte_of_nonces_changes),
		cmocka_unit_test(replayed_handshake_messages_are_refused),
		cmocka_unit_test(reflected_messages_are_refused),
		cmocka_unit_test(each_flipped_bit_of_handshake_is_noticed),
		cmocka_unit_test(no_downgrade_of_schema_by_host_between),
		cmocka_unit_test(nonce_without_mark_is_accepted),
		cmocka_unit_test(truncated_message_is_refused),
		cmocka_unit_test(only_nonce_or_proof_of_32_bytes_is_accepted),
		cmocka_unit_test(flipped_bit_of_name_is_noticed),
		cmocka_unit_test(forged_fabric_or_name_is_refused),
		cmocka_unit_test(malformed_messages_are_refused),
		cmocka_unit_test(key_file_of_wrong_length_or_mode_is_refused),
	};

	return cmocka_run_group_tests(t, NULL, NULL);
}
