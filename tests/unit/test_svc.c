// SPDX-License-Identifier: GPL-2.0-only
/*
 * The service network between the ends of two managers in one process, and with a stranger: a peer
 * that has not proved itself and writes whatever the test wants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/address.h"
#include "daemon/frame.h"
#include "tests/unit/svc_ends.h"

static bool b_has_1000(void)
{
	return b.msgs == 1000;
}

static bool b_has_big(void)
{
	return b.msgs == 1001;
}

static void members_exchange_many_and_large_messages(void **state)
{
	char *big = malloc(8u << 20);

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	for (unsigned int i = 0; i < 1000; i++)
		send_text(&a, "{}");
	run_until(b_has_1000);
	memset(big, 'x', (8u << 20) - 1);
	big[(8u << 20) - 1] = '\0';
	send_text(&a, big);
	run_until(b_has_big);
	assert_int_equal(b.bytes, (8u << 20) - 1);
	free(big);
	assert_int_equal(svc_stats(a.svc)->up, 1);
	/* b closes the connection in a callback; only a is informed that it is down. */
	b.close_at = 1002;
	send_text(&a, "{}");
	run_until(a_down);
	assert_int_equal(b.down, 0);
	assert_int_equal(svc_stats(a.svc)->up, 0);
	end_close(&a);
	end_close(&b);
}

static bool two_up(void)
{
	return a.up == 2 && b.up == 2;
}

/* Return: how many sockets of this process have this value of an option. */
static unsigned int sockets_with(int level, int option, int value)
{
	unsigned int n = 0;

	for (int fd = 0; fd < 64; fd++) {
		socklen_t len = sizeof(int);
		int is;

		n += !getsockopt(fd, level, option, &is, &len) && is == value;
	}
	return n;
}

/* Two connections between the same ends. A message sent before the proof is dropped. */
static void two_connections_between_same_ends_both_come_up(void **state)
{
	int first, second;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	first = svc_connect(a.svc, b.address);
	second = svc_connect(a.svc, b.address);
	assert_true(first > 0 && second > first);
	a.conn = first;
	send_text(&a, "{}");
	assert_int_equal(connections(&a, true), 0);
	run_until(two_up);
	assert_int_equal(connections(&a, true), 2);
	assert_int_equal(connections(&a, false), 0);
	assert_int_equal(connections(&b, true), 0);
	assert_int_equal(connections(&b, false), 2);
	assert_int_equal(a.msgs + b.msgs, 0);
	assert_int_equal(sockets_with(IPPROTO_TCP, TCP_USER_TIMEOUT, USER_TIMEOUT_MS), 4);
	assert_int_equal(sockets_with(IPPROTO_TCP, TCP_NODELAY, 1), 4);
	/* Outgoing connections share ports if their peers differ, so there can be more of them. */
	assert_int_equal(sockets_with(IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1), 2);
	end_close(&a);
	end_close(&b);
}

static void members_connect_over_ipv6(void **state)
{
	(void)state;
	end_open(&a, "[::1]", "green", "n0", KEY_A);
	end_open(&b, "[::1]", "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	end_close(&a);
	end_close(&b);
}

/* A peer reads nothing: when the output buffer is full, the connection ends. */
static void peer_that_reads_nothing_is_closed(void **state)
{
	char *big = malloc(9u << 20);
	int conn;

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	memset(big, 'x', (9u << 20) - 1);
	big[(9u << 20) - 1] = '\0';
	conn = a.conn;
	for (unsigned int i = 0; i < 8; i++) {
		a.conn = conn;
		send_text(&a, big);
		assert_int_equal(a.down, 0);	/* down() is not called within svc_send() */
	}
	run_until(both_down);
	free(big);
	end_close(&a);
	end_close(&b);
}

static void peer_with_other_key_is_refused(void **state)
{
	(void)state;
	/* a connects from the address on which it listens. */
	end_open(&a, "127.0.0.7", "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_B);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(a_down);
	assert_int_equal(a.up + b.up + b.down, 0);
	assert_int_equal(svc_stats(b.svc)->refused_key, 1);
	assert_int_equal(strncmp(svc_stats(b.svc)->last_refused, "127.0.0.7:", 10), 0);
	assert_non_null(strstr(svc_stats(b.svc)->last_refused, "n0: the key"));
	assert_non_null(strstr(svc_stats(a.svc)->last_refused, "the key"));
	end_close(&a);
	end_close(&b);
}

static void peer_of_other_fabric_is_refused(void **state)
{
	(void)state;
	end_open(&a, HERE, "blue", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	assert_true(svc_connect(a.svc, b.address) > 0);
	run_until(a_down);
	assert_int_equal(a.up + b.up, 0);
	assert_int_equal(svc_stats(b.svc)->refused_fabric, 1);
	assert_non_null(strstr(svc_stats(b.svc)->last_refused, "'blue', must be 'green'"));
	end_close(&a);
	end_close(&b);
}

static void connection_to_no_peer_fails(void **state)
{
	char address[FM_ADDR_MAX];

	(void)state;
	end_open(&a, HERE, "green", "n0", KEY_A);
	end_open(&b, HERE, "green", "n1", KEY_A);
	strcpy(address, b.address);
	end_close(&b);
	assert_int_equal(svc_connect(a.svc, "nowhere"), -EINVAL);
	assert_int_equal(svc_connect(a.svc, "[::1]:5"), -EAFNOSUPPORT);
	assert_true(svc_connect(a.svc, address) > 0);
	run_until(a_down);
	end_close(&a);
}

/* --- strangers ------------------------------------------------------------- */

static bool refused_malformed(void)
{
	return svc_stats(b.svc)->refused_malformed == 1;
}

static void refuses(const void *data, size_t len)
{
	int fd;

	end_open(&b, HERE, "green", "n1", KEY_A);
	fd = stranger();
	assert_int_equal(send(fd, data, len, 0), len);
	run_until(refused_malformed);
	assert_int_equal(b.up, 0);
	close(fd);
	end_close(&b);
}

static void malformed_data_of_stranger_is_refused(void **state)
{
	struct svc_msg early = { .fm = { .type = FM_MSG_PING } };
	struct svc_msg refusal = { .fm = { .type = FM_MSG_REFUSE } };
	uint8_t *data;
	size_t len;

	(void)state;
	refuses("GET / HTTP/1.1\r\n\r\n", 18);
	refuses("\0\0\0\0", 4);
	refuses("\0\0\4\1", 4);			/* FRAME_MAX_STRANGER + 1 bytes */
	refuses("\0\0\0\4\377\377\377\377", 8);
	assert_int_equal(frame_pack(&early, 5, &data, &len), 0);
	refuses(data, len);
	free(data);
	/* A listener takes no REFUSE from a peer that has not proved itself. */
	assert_int_equal(frame_pack(&refusal, 5, &data, &len), 0);
	refuses(data, len);
	free(data);
}

/* --- releases ---------------------------------------------------------------- */

static void end_of(struct end *e, const char *name, unsigned int oldest, unsigned int newest)
{
	ends_schemas[0] = oldest;
	ends_schemas[1] = newest;
	end_open(e, HERE, "green", name, KEY_A);
	ends_schemas[0] = 5;
	ends_schemas[1] = 6;
}

static bool b_has_ping(void)
{
	return b.fm_type == FM_MSG_PING;
}

/*
 * Return: what the other end has received after these two messages, of which schema 5 does not know
 * the first.
 */
static unsigned int received_of_two(void)
{
	send_fm(&a, FM_MSG_KEPT);
	send_fm(&a, FM_MSG_PING);
	run_until(b_has_ping);
	return b.msgs;
}

static unsigned int received_by_b(unsigned int a_newest, unsigned int b_oldest,
				  unsigned int b_newest, bool b_begins)
{
	unsigned int n;
	char text[100];

	end_of(&a, "n0", 5, a_newest);
	end_of(&b, "n1", b_oldest, b_newest);
	assert_true(b_begins ? svc_connect(b.svc, a.address) > 0 :
		    svc_connect(a.svc, b.address) > 0);
	run_until(both_up);
	assert_int_equal(svc_mixed(a.svc, text, sizeof(text)), a_newest != b_newest);
	if (a_newest != b_newest)
		assert_non_null(strstr(text, "'n1' ("));
	assert_int_equal(svc_mixed(b.svc, text, sizeof(text)), a_newest != b_newest);
	assert_int_equal(svc_mixed(b.svc, text, 3), a_newest != b_newest);
	n = received_of_two();
	end_close(&a);
	end_close(&b);
	return n;
}

/* The ends use the newest schema that both know, and send only messages that it has. */
static void ends_use_newest_common_schema(void **state)
{
	(void)state;
	for (unsigned int begins = 0; begins < 2; begins++) {
		assert_int_equal(received_by_b(6, 5, 6, begins), 2);
		assert_int_equal(received_by_b(6, 6, 7, begins), 2);
		assert_int_equal(received_by_b(6, 5, 5, begins), 1);
		assert_int_equal(received_by_b(5, 5, 6, begins), 1);
	}
}

/* No schema is common to both ends: both refuse, whichever of them begins. */
static void ends_without_common_schema_refuse(void **state)
{
	(void)state;
	for (unsigned int begins = 0; begins < 2; begins++) {
		struct end *from = begins ? &a : &b, *to = begins ? &b : &a;

		end_of(from, "n0", 5, 5);
		end_of(to, "n1", 6, 7);
		assert_true(svc_connect(a.svc, b.address) > 0);
		run_until(a_down);
		assert_int_equal(a.up + b.up, 0);
		assert_int_equal(svc_stats(b.svc)->refused_schema, 1);
		assert_non_null(strstr(svc_stats(b.svc)->last_refused, begins ?
				       "n0: 'n0' speaks service schemas 5 to 5, 'n1' 6 to 7: " :
				       "n1: 'n1' speaks service schemas 6 to 7, 'n0' 5 to 5: "));
		assert_non_null(strstr(svc_stats(a.svc)->last_refused, begins ?
				       "5 to 5, 'n1' 6 to 7: " :
				       "6 to 7, 'n0' 5 to 5: "));
		end_close(&a);
		end_close(&b);
	}
}

static void send_auth(int fd, unsigned int schema, unsigned int newest)
{
	struct svc_msg m = { .type = SVC_AUTH,
			     .auth = { .fabric = "green", .name = "old", .newest = newest,
							 .nonce_len = 32 } };
	uint8_t *data;
	size_t len;

	assert_int_equal(frame_pack(&m, schema, &data, &len), 0);
	assert_int_equal(send(fd, data, len, 0), len);
	free(data);
}

static bool refused_schema(void)
{
	return svc_stats(b.svc)->refused_schema == 1;
}

/* A peer of an earlier release names no other schemas, and understands its own alone. */
static void peer_of_old_release_gets_only_its_schema(void **state)
{
	struct svc_msg m;
	uint8_t data[2000];
	const uint8_t *body;
	ssize_t n;
	size_t len;
	int fd;

	(void)state;
	end_of(&b, "n1", 5, 6);
	fd = stranger();
	send_auth(fd, 4, 0);
	run_until(refused_schema);
	n = recv(fd, data, sizeof(data), 0);
	assert_true(frame_next(data, (size_t)n, FRAME_MAX_STRANGER, &body, &len) == n);
	assert_int_equal(svc_msg_unpack(body, len, &m), 0);
	assert_int_equal(m.schema, 4);
	assert_int_equal(m.fm.type, FM_MSG_REFUSE);
	assert_non_null(strstr(m.fm.refuse.text,
			       "'old' speaks service schemas 4 to 4, 'n1' 5 to 6: "));
	close(fd);
	/* The agreement holds. */
	fd = stranger();
	send_auth(fd, 5, 6);
	send_auth(fd, 5, 6);
	run_until(refused_malformed);
	assert_non_null(strstr(svc_stats(b.svc)->last_refused, "of another schema than agreed"));
	close(fd);
	end_close(&b);
}

static bool refused_busy(void)
{
	return svc_stats(b.svc)->refused_busy == 36;
}

/* A host that opens many connections and proves nothing does not lock out other hosts. */
static void unproven_connections_do_not_lock_out_others(void **state)
{
	int fd[100], other;

	(void)state;
	end_open(&b, HERE, "green", "n1", KEY_A);
	for (int i = 0; i < 100; i++)
		fd[i] = stranger();
	run_until(refused_busy);
	other = stranger_from("127.0.0.2:1");
	assert_int_equal(send(other, "\0\0\0\0", 4, 0), 4);
	run_until(refused_malformed);
	assert_true(refused_busy());
	close(other);
	for (int i = 0; i < 100; i++)
		close(fd[i]);
	end_close(&b);
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(members_exchange_many_and_large_messages),
		cmocka_unit_test(two_connections_between_same_ends_both_come_up),
		cmocka_unit_test(members_connect_over_ipv6),
		cmocka_unit_test(peer_that_reads_nothing_is_closed),
		cmocka_unit_test(peer_with_other_key_is_refused),
		cmocka_unit_test(peer_of_other_fabric_is_refused),
		cmocka_unit_test(connection_to_no_peer_fails),
		cmocka_unit_test(malformed_data_of_stranger_is_refused),
		cmocka_unit_test(unproven_connections_do_not_lock_out_others),
		cmocka_unit_test(ends_use_newest_common_schema),
		cmocka_unit_test(ends_without_common_schema_refuse),
		cmocka_unit_test(peer_of_old_release_gets_only_its_schema),
	};

	return cmocka_run_group_tests(t, ends_setup, ends_teardown);
}
