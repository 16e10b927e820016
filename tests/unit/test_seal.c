// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two managers that communicate over a link, and an attacker who can send on it, unchanged or
 * changed, all that was ever sent on it or on other links of the fabric.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>
#include "tests/unit/seeds.h"
#include <cmocka.h>

#include "daemon/auth.h"
#include "daemon/loop.h"
#include "daemon/seal.h"

#define A 0x10			/* GUIDs, and the ports of the link */
#define B 0x20
#define PORT_A 2
#define PORT_B 5
#define SESSION 77
#define ANSWER_MAX 4096

/** struct sent - a packet that was on the link; @from: which side */
struct sent {
	unsigned int from;
	size_t len;
	uint8_t data[TORUS_MGMT_MAX];
};

/**
 * struct side - a manager
 * @received, @n: the text that it got, and how often
 */
struct side {
	struct seal *seal;
	unsigned int port, refused, n;
	char received[64];
};

static struct auth key, other_key;
static struct side side[2];
static struct sent sent[ANSWER_MAX];
static unsigned int nsent, delivered;
static bool clock_stands, no_random;

static uint64_t now = 1000;

uint64_t loop_now(void)
{
	return now += clock_stands ? 0 : 10;
}

/* Returns different bytes each time, never by chance the same. */
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	static uint64_t n = 0x1234567;

	(void)flags;
	assert_int_equal(len, 8);
	if (no_random)
		return -1;
	n = n * 0xd1342543de82ef95ULL + 1;
	memcpy(buf, &n, len);
	return 8;
}

static void out(void *arg, unsigned int port, const void *data, size_t len)
{
	struct side *s = arg;

	assert_int_equal(port, s->port);
	assert_true(len <= TORUS_MGMT_MAX && nsent < ANSWER_MAX);
	/* A hello has no data, and nothing else is without. */
	assert_int_equal(((const uint8_t *)data)[5], len > SEAL_BYTES);
	sent[nsent].from = (unsigned int)(s - side);
	sent[nsent].len = len;
	memcpy(sent[nsent++].data, data, len);
}

static void in(void *arg, unsigned int port, const void *data, size_t len)
{
	struct side *s = arg;

	assert_int_equal(port, s->port);
	assert_true(len < sizeof(s->received));
	memcpy(s->received, data, len);
	s->received[len] = '\0';
	s->n++;
}

static void refused(void *arg, unsigned int port)
{
	struct side *s = arg;

	assert_int_equal(port, s->port);
	s->refused++;
}

static const struct seal_ops ops = { .send = out, .received = in, .refused = refused };

static struct torus_link link_of(unsigned int i, uint32_t session, bool up)
{
	return (struct torus_link) {
		.port = (uint8_t)side[i].port, .state = up ? TORUS_LINK_UP : TORUS_LINK_FAULTY,
		.session = session,
		.peer_guid = i ? A : B, .peer_port = i ? PORT_A : PORT_B,
	};
}

static void links(unsigned int i, uint32_t session, bool up)
{
	struct torus_link l = link_of(i, session, up);

	seal_link(side[i].seal, &l);
}

static void manager(unsigned int i, const struct auth *a)
{
	seal_free(side[i].seal);
	side[i] = (struct side) { .port = i ? PORT_B : PORT_A };
	side[i].seal = seal_new(a, i ? B : A, &ops, &side[i]);
	assert_non_null(side[i].seal);
}

/* Delivers all packets on the link, and their answers. */
static void arrive(void)
{
	unsigned int begun = delivered;

	for (; delivered < nsent; delivered++) {
		struct side *to = &side[!sent[delivered].from];

		seal_receive(to->seal, to->port, sent[delivered].data, sent[delivered].len);
		assert_true(delivered - begun < 100);	/* answers end after a while */
	}
}

static void sends_text(unsigned int i, const char *text)
{
	seal_send(side[i].seal, side[i].port, text, strlen(text));
}

static void begin(void)
{
	nsent = delivered = 0;
	for (unsigned int i = 0; i < 2; i++)
		manager(i, &key);
}

static void up(void)
{
	begin();
	links(0, SESSION, true);
	links(1, SESSION, true);
	sends_text(0, "from A");
	sends_text(1, "from B");
	arrive();
	assert_string_equal(side[0].received, "from B");
	assert_string_equal(side[1].received, "from A");
	assert_int_equal(side[0].n + side[1].n, 2);
}

static void end(void)
{
	for (unsigned int i = 0; i < 2; i++) {
		seal_free(side[i].seal);
		side[i].seal = NULL;
	}
}

/* --- what arrives ---------------------------------------------------------------------- */

static void messages_get_through_when_both_ends_begin_at_once(void **state)
{
	(void)state;
	up();
	sends_text(0, "more");
	arrive();
	assert_string_equal(side[1].received, "more");
	assert_int_equal(side[0].refused + side[1].refused, 0);
	assert_int_equal(seal_counts(side[0].seal)->late + seal_counts(side[1].seal)->late, 0);
	end();
}

/* Without random numbers the nonces are odd numbers of the clock: never 0, which means none. */
static void nonces_without_random_numbers_are_never_0(void **state)
{
	(void)state;
	no_random = true;
	for (unsigned int i = 0; i < 2; i++) {
		now += now % 2 != i;
		up();
		assert_int_equal(side[0].refused + side[1].refused, 0);
		end();
	}
	no_random = false;
}

/*
 * The NIC at one end knows of the session first, and its manager sends: what comes too soon for the
 * other end is sent again.
 */
static void early_message_is_sent_again(void **state)
{
	(void)state;
	for (unsigned int first = 0; first < 2; first++) {
		begin();
		links(first, SESSION, true);
		sends_text(first, "early");
		arrive();
		assert_int_equal(side[!first].n, 0);
		links(!first, SESSION, true);
		arrive();
		assert_string_equal(side[!first].received, "early");
		sends_text(!first, "answer");
		arrive();
		assert_string_equal(side[first].received, "answer");
		assert_int_equal(side[0].refused + side[1].refused, 0);
		end();
	}
}

/* A message that is sent again gets through, whichever messages were lost before. */
static void repeated_message_gets_through_whatever_was_lost(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++) {
		begin();
		links(0, SESSION, true);
		if (k & 1)
			delivered = nsent;
		links(1, SESSION, true);
		if (k & 2)
			delivered = nsent;
		for (unsigned int i = delivered; i < (k == 4 ? 1 : nsent); i++)
			seal_receive(side[!sent[i].from].seal, side[!sent[i].from].port,
				     sent[i].data, sent[i].len);
		delivered = nsent;	/* all answers are lost */
		sends_text(0, "again");
		arrive();
		assert_string_equal(side[1].received, "again");
		sends_text(1, "and back");
		arrive();
		assert_string_equal(side[0].received, "and back");
		end();
	}
}

static void second_message_of_one_instant_gets_through(void **state)
{
	(void)state;
	up();
	clock_stands = true;
	sends_text(0, "first");
	arrive();
	sends_text(0, "second");
	arrive();
	assert_string_equal(side[1].received, "second");
	clock_stands = false;
	end();
}

/* Only the last of the waiting messages is sent. */
static void only_last_waiting_message_is_sent(void **state)
{
	(void)state;
	begin();
	links(0, SESSION, true);
	sends_text(0, "first");
	sends_text(0, "second");
	links(1, SESSION, true);
	arrive();
	assert_string_equal(side[1].received, "second");
	assert_int_equal(side[1].n, 1);
	end();
}

/* A manager that began anew gets what was sent before, and its own messages are accepted. */
static void restarted_manager_gets_earlier_message(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		up();
		manager(i, &key);
		links(i, SESSION, true);
		arrive();
		assert_string_equal(side[i].received, i ? "from A" : "from B");
		sends_text(i, "anew");
		arrive();
		assert_string_equal(side[!i].received, "anew");
		end();
	}
}

/* Messages of a session are not sent in the next one; a retraining does not begin a session. */
static void message_of_session_is_not_sent_in_next_one(void **state)
{
	struct torus_link l;
	unsigned int was;

	(void)state;
	up();
	l = link_of(0, SESSION, true);
	l.state = TORUS_LINK_RETRAINING;
	seal_link(side[0].seal, &l);
	sends_text(0, "in between");
	arrive();
	assert_string_equal(side[1].received, "in between");
	side[1].n = 0;
	was = nsent;
	for (unsigned int i = 0; i < 2; i++) {
		links(i, SESSION, false);
		sends_text(i, "to nobody");
	}
	assert_int_equal(nsent, was);
	for (unsigned int i = 0; i < 2; i++)
		links(i, SESSION + 1, true);
	arrive();
	assert_int_equal(side[1].n, 0);
	sends_text(0, "next");
	arrive();
	assert_string_equal(side[1].received, "next");
	end();
}

/* A message may have any length for which a packet has room, but not 0. */
static void message_of_any_length_but_0_is_sent(void **state)
{
	char text[TORUS_MGMT_MAX] = { 0 };
	unsigned int was;

	(void)state;
	up();
	was = nsent;
	seal_send(side[0].seal, PORT_A, text, 0);
	seal_send(side[0].seal, PORT_A, text, TORUS_MGMT_MAX - SEAL_BYTES + 1);
	assert_int_equal(nsent, was);
	seal_send(side[0].seal, PORT_A, text, TORUS_MGMT_MAX - SEAL_BYTES);
	assert_int_equal(nsent, was + 1);
	assert_int_equal(sent[was].len, TORUS_MGMT_MAX);
	delivered = nsent;
	end();
}

/* --- what does not ----------------------------------------------------------------------- */

static void nothing_new(unsigned int at, const uint8_t *data, size_t len, bool is_refused)
{
	struct side *s = &side[at];
	unsigned int n = s->n, was = s->refused;
	uint64_t late = seal_counts(s->seal)->late;

	seal_receive(s->seal, s->port, data, len);
	assert_int_equal(s->n, n);
	assert_int_equal(s->refused, was + is_refused);
	assert_int_equal(seal_counts(s->seal)->refused, s->refused);
	assert_true(is_refused || seal_counts(s->seal)->late > late);
}

/* Computes the seal of a packet from A to B in another way. */
static void seal_by_hand(struct sent *p)
{
	uint8_t text[18 + TORUS_MGMT_MAX] = { A }, out[AUTH_MAC];

	text[8] = PORT_A;
	text[9] = B;
	text[17] = PORT_B;
	memcpy(text + 18, p->data, 36);
	memcpy(text + 18 + 36, p->data + 52, p->len - 52);
	assert_int_equal(auth_mac(&key, "fabricd seal 1", text, 18 + p->len - 16, out), 0);
	memcpy(p->data + 36, out, 16);
}

/* Messages of a later release, with the right key, and some that no packet can hold. */
static void message_of_later_release_is_ignored(void **state)
{
	static uint8_t longer[2 * TORUS_MGMT_MAX];
	struct sent p;

	(void)state;
	up();
	sends_text(0, "true");
	p = sent[nsent - 1];
	p.data[4] = 2;
	seal_by_hand(&p);
	nothing_new(1, p.data, p.len, true);
	p.data[4] = 1;
	p.data[5] = 2;
	seal_by_hand(&p);
	nothing_new(1, p.data, p.len, true);
	memcpy(longer, p.data, p.len);
	nothing_new(1, longer, sizeof(longer), true);
	p.data[5] = 1;
	seal_by_hand(&p);
	seal_receive(side[1].seal, PORT_B, p.data, p.len);
	assert_string_equal(side[1].received, "true");
	end();
}

/* A packet with any bit flipped, or of another length, is refused. */
static void altered_packet_is_refused(void **state)
{
	struct sent p;

	(void)state;
	up();
	sends_text(0, "true");
	p = sent[nsent - 1];
	for (size_t i = 0; i < p.len * 8; i++) {
		p.data[i / 8] ^= (uint8_t)(1u << i % 8);
		/* A message of another session may be of one that the NIC has not told of yet. */
		nothing_new(1, p.data, p.len, i / 8 < 8 || i / 8 >= 12);
		p.data[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	for (size_t len = 0; len < p.len; len++)
		nothing_new(1, p.data, len, true);
	nothing_new(1, (const uint8_t *)"tINI\2 as before there was a seal, and long enough to "
		    "have one", 60, true);
	seal_receive(side[1].seal, PORT_B, p.data, p.len);
	assert_string_equal(side[1].received, "true");
	end();
}

/*
 * All packets that were ever sent are repeated to both managers, again and again: neither accepts
 * any, and both go on.
 */
static void replayed_packet_is_refused_and_both_go_on(void **state)
{
	unsigned int all;

	(void)state;
	up();
	sends_text(0, "one");
	sends_text(1, "two");
	arrive();
	manager(0, &key);
	links(0, SESSION, true);
	arrive();
	sends_text(0, "three");
	sends_text(1, "four");
	arrive();
	side[0].n = side[1].n = 0;
	all = nsent;
	for (unsigned int k = 0; k < all; k++)
		for (unsigned int to = 0; to < 2; to++) {
			seal_receive(side[to].seal, side[to].port, sent[k].data, sent[k].len);
			/* Its sender refuses it, because it is not for that port. */
			assert_true(to != sent[k].from || side[to].refused);
			arrive();
			assert_int_equal(side[0].n + side[1].n, 0);
		}
	sends_text(0, "still");
	sends_text(1, "here");
	arrive();
	assert_string_equal(side[1].received, "still");
	assert_string_equal(side[0].received, "here");
	end();
}

/* Packets are repeated to a manager that has begun anew, before the other knows. */
static void packet_replayed_to_restarted_manager_is_refused(void **state)
{
	unsigned int all;

	(void)state;
	up();
	sends_text(0, "one");
	arrive();
	all = nsent;
	manager(1, &key);
	links(1, SESSION, true);
	nsent = all;			/* what it says is lost */
	for (unsigned int k = 0; k < all; k++)
		seal_receive(side[1].seal, PORT_B, sent[k].data, sent[k].len);
	assert_int_equal(side[1].n, 0);
	assert_true(seal_counts(side[1].seal)->late > 0);
	delivered = all;
	arrive();
	assert_string_equal(side[1].received, "one");
	end();
}

/*
 * A packet is refused on another link, at another port, by another node: each of these is under the
 * seal.
 */
static void packet_of_another_link_port_or_node_is_refused(void **state)
{
	static const struct { uint64_t guid; uint8_t port; } to[] = { { B, 3 }, { 0x30, PORT_B },
								      { A, PORT_A } };
	static const struct { uint64_t guid; uint8_t port; } from[] = { { A, 3 }, { 0x30, PORT_A },
									{ B, PORT_B } };
	struct torus_link l = { .state = TORUS_LINK_UP, .session = SESSION };
	struct sent p;

	(void)state;
	up();
	sends_text(0, "to B");
	p = sent[nsent - 1];
	for (unsigned int i = 0; i < 6; i++) {
		seal_free(side[1].seal);
		side[1] = (struct side) { .port = i < 3 ? to[i].port : PORT_B };
		side[1].seal = seal_new(&key, i < 3 ? to[i].guid : B, &ops, &side[1]);
		l.port = (uint8_t)side[1].port;
		l.peer_guid = i < 3 ? A : from[i - 3].guid;
		l.peer_port = i < 3 ? PORT_A : from[i - 3].port;
		seal_link(side[1].seal, &l);
		nothing_new(1, p.data, p.len, true);
	}
	/* The cable is plugged into another node, or port, in the same session. */
	for (unsigned int i = 0; i < 2; i++) {
		up();
		l = link_of(1, SESSION, true);
		l.peer_guid += i;
		l.peer_port += !i;
		seal_link(side[1].seal, &l);
		sends_text(0, "to the former end");
		nothing_new(1, sent[nsent - 1].data, sent[nsent - 1].len, true);
	}
	end();
}

static void message_with_another_key_is_refused(void **state)
{
	(void)state;
	begin();
	manager(1, &other_key);
	links(0, SESSION, true);
	links(1, SESSION, true);
	sends_text(0, "from A");
	sends_text(1, "from a stranger");
	arrive();
	assert_int_equal(side[0].n + side[1].n, 0);
	assert_true(side[0].refused && side[1].refused);
	end();
}

/* Refused messages are answered, once a second: so a manager with another key learns of it. */
static void refused_message_is_answered_once_a_second(void **state)
{
	unsigned int was;

	(void)state;
	begin();
	manager(1, &other_key);
	links(1, SESSION, true);
	delivered = nsent;		/* the message is lost */
	links(0, SESSION, true);
	was = nsent;
	arrive();
	assert_int_equal(side[1].refused, 2);
	assert_int_equal(side[0].refused, 1);
	assert_int_equal(nsent, was + 2);
	for (unsigned int i = 0; i < 5; i++)
		sends_text(0, "from A");
	arrive();
	assert_int_equal(nsent, was + 7);
	now += SEC - 1000;
	sends_text(0, "from A");
	arrive();
	assert_int_equal(nsent, was + 8);
	now += 1000;
	sends_text(0, "from A");
	arrive();
	assert_int_equal(nsent, was + 11);	/* both managers answer */
	assert_int_equal(side[0].n + side[1].n, 0);
	end();
}

/* Messages for a link that is not up are ignored, and no one is blamed. */
static void message_for_link_that_is_not_up_is_ignored(void **state)
{
	(void)state;
	up();
	sends_text(0, "late");
	links(1, SESSION, false);
	side[1].n = 0;
	arrive();
	seal_receive(side[1].seal, TORUS_MAX_PORTS, "x", 1);
	seal_receive(side[1].seal, 0, "x", 1);
	assert_int_equal(side[1].n + side[1].refused, 0);
	end();
}

/*
 * Random histories: managers and sessions begin anew; packets are lost, and come late and again. No
 * message is accepted that was not sent in that life of both, or twice, or out of order; and in the
 * end both managers accept messages.
 */
static void one_history(uint64_t seed)
{
	struct rnd r = rnd_new(seed);
	unsigned int life[2] = { 0 }, word[2] = { 0 }, last[2] = { 0 };
	uint32_t session = SESSION;
	char text[64];

	begin();
	links(0, session, true);
	links(1, session, true);
	for (unsigned int step = 0; step < 60; step++) {
		unsigned int i = rnd_below(&r, 2), k;

		switch (rnd_below(&r, 8)) {
		case 0:
			manager(i, &key);
			links(i, session, true);
			life[i]++;
			last[i] = 0;
			break;
		case 1:
			session++;
			links(i, session, true);
			links(!i, session, true);
			break;
		case 2:
			delivered = nsent;
			break;
		case 3:
			for (k = 0; nsent && k < 4; k++) {
				const struct sent *p = &sent[rnd_below(&r, nsent)];

				seal_receive(side[!p->from].seal, side[!p->from].port, p->data,
					     p->len);
			}
			break;
		case 4:
		case 5:
			snprintf(text, sizeof(text), "%u %u", i, ++word[i]);
			sends_text(i, text);
			break;
		default:
			arrive();
		}
		for (i = 0; i < 2; i++) {
			unsigned int who, what;

			if (!side[i].n)
				continue;
			expect(&r, sscanf(side[i].received, "%u %u", &who, &what) == 2 && who == !i,
			       "'%s'", side[i].received);
			expect(&r, what >= last[i], "step %u: %u after %u", step, what, last[i]);
			last[i] = what;
		}
	}
	delivered = nsent;
	sends_text(0, "0 1000");
	sends_text(1, "1 1000");
	arrive();
	sends_text(0, "0 1001");
	sends_text(1, "1 1001");
	arrive();
	expect(&r, !strcmp(side[0].received, "1 1001") && !strcmp(side[1].received, "0 1001"),
	       "'%s' '%s'",
	       side[0].received, side[1].received);
	end();
}

static void random_histories_accept_only_genuine_messages(void **state)
{
	(void)state;
	for_seeds(400, one_history);
}

static void take_key(struct auth *a, const char *text)
{
	char path[] = "/tmp/seal-XXXXXX", why[AUTH_TEXT_MAX];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	assert_int_equal(auth_open(a, &auth_key_ops, "fabric", "node", path, why), 0);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(messages_get_through_when_both_ends_begin_at_once),
		cmocka_unit_test(nonces_without_random_numbers_are_never_0),
		cmocka_unit_test(early_message_is_sent_again),
		cmocka_unit_test(repeated_message_gets_through_whatever_was_lost),
		cmocka_unit_test(second_message_of_one_instant_gets_through),
		cmocka_unit_test(message_of_later_release_is_ignored),
		cmocka_unit_test(only_last_waiting_message_is_sent),
		cmocka_unit_test(restarted_manager_gets_earlier_message),
		cmocka_unit_test(message_of_session_is_not_sent_in_next_one),
		cmocka_unit_test(message_of_any_length_but_0_is_sent),
		cmocka_unit_test(altered_packet_is_refused),
		cmocka_unit_test(replayed_packet_is_refused_and_both_go_on),
		cmocka_unit_test(packet_replayed_to_restarted_manager_is_refused),
		cmocka_unit_test(packet_of_another_link_port_or_node_is_refused),
		cmocka_unit_test(message_with_another_key_is_refused),
		cmocka_unit_test(refused_message_is_answered_once_a_second),
		cmocka_unit_test(message_for_link_that_is_not_up_is_ignored),
		cmocka_unit_test(random_histories_accept_only_genuine_messages),
	};
	int err;

	take_key(&key, "0123456789abcdef0123456789abcdef");
	take_key(&other_key, "another key of another fabric, as long");
	err = cmocka_run_group_tests(all, NULL, NULL);
	auth_close(&key);
	auth_close(&other_key);
	return err;
}
