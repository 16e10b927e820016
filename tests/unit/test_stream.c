// SPDX-License-Identifier: GPL-2.0-only
/* A stream and its peer, the other end of a socket pair: limits, order, the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "daemon/loop.h"
#include "daemon/stream.h"

#define BIG (4u << 20)

static struct loop *loop;
static struct loop_timer *due;
static struct stream *stream;
static int peer;

/* The data that the owner got, and how it behaves. */
static struct {
	size_t take;			/* bytes that it takes at a time */
	bool hold;			/* sets a hold after it has taken some data */
	size_t taken;
	unsigned int inputs, connected, drained, closed;
	int err;
} owner;

static void on_connected(void *arg)
{
	(void)arg;
	owner.connected++;
}

static ssize_t on_input(void *arg, const uint8_t *data, size_t len)
{
	size_t n = len < owner.take ? len : owner.take;

	(void)arg;
	for (size_t i = 0; i < n; i++)
		assert_int_equal(data[i], (uint8_t)(owner.taken + i));
	owner.inputs++;
	owner.taken += n;
	if (owner.hold)
		stream_hold(stream, true);
	return (ssize_t)n;
}

static void on_drained(void *arg)
{
	(void)arg;
	owner.drained++;
	assert_int_equal(stream_pending(stream), 0);
}

static void on_closed(void *arg, int err)
{
	(void)arg;
	owner.closed++;
	owner.err = err;
}

static const struct stream_ops ops = {
	.connected = on_connected, .input = on_input, .drained = on_drained, .closed = on_closed,
};

static void on_due(void *arg)
{
	(void)arg;
	loop_stop(loop);
}

/* Runs all callbacks that are due now. */
static void run_due(void)
{
	for (unsigned int i = 0; i < 50; i++) {
		loop_timer_set(due, 0);
		loop_run(loop);
	}
}

static void begin(bool connecting, size_t in_max, size_t out_max)
{
	int fd[2];

	memset(&owner, 0, sizeof(owner));
	owner.take = SIZE_MAX;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	peer = fd[1];
	stream = stream_new(loop, fd[0], connecting, in_max, out_max, &ops, NULL);
	assert_non_null(stream);
}

static void end(void)
{
	stream_free(stream);
	close(peer);
}

/* Writes as many of @n bytes as there is room for, counted from byte @from. */
static size_t peer_writes(size_t from, size_t n)
{
	static uint8_t data[4096];
	size_t done = 0;
	ssize_t got;

	while (done < n) {
		size_t more = n - done < sizeof(data) ? n - done : sizeof(data);

		for (size_t i = 0; i < more; i++)
			data[i] = (uint8_t)(from + done + i);
		got = send(peer, data, more, MSG_NOSIGNAL);
		if (got < 0)
			break;
		done += (size_t)got;
	}
	return done;
}

static size_t peer_reads(void)
{
	static uint8_t data[65536];
	size_t done = 0;
	ssize_t got;

	while ((got = recv(peer, data, sizeof(data), 0)) > 0)
		done += (size_t)got;
	return done;
}

/* Input that the owner does not take is kept up to a limit; then it cannot become a message. */
static void input_beyond_limit_closes_stream(void **state)
{
	(void)state;
	begin(false, 100, 100);
	owner.take = 0;
	peer_writes(0, 99);
	run_due();
	assert_int_equal(owner.closed, 0);
	peer_writes(99, 1);
	run_due();
	assert_int_equal(owner.closed, 1);
	assert_int_equal(owner.err, -EMSGSIZE);
	end();
}

/* While the stream is on hold the owner is not called and nothing is read. */
static void held_stream_reads_nothing(void **state)
{
	size_t sent;

	(void)state;
	begin(false, 100, 100);
	owner.take = 10;
	owner.hold = true;
	sent = peer_writes(0, 300);
	run_due();
	assert_int_equal(owner.inputs, 1);
	assert_int_equal(owner.closed, 0);
	sent += peer_writes(sent, BIG);
	assert_true(sent < BIG);
	run_due();
	assert_int_equal(peer_writes(sent, BIG), 0);
	owner.take = SIZE_MAX;
	owner.hold = false;
	stream_hold(stream, false);
	for (unsigned int i = 0; i < 100 && owner.taken < sent; i++)
		run_due();
	assert_int_equal(owner.taken, sent);
	assert_int_equal(owner.closed, 0);
	end();
}

/* Before the connection is up, output is kept, up to the allowed amount. */
static void output_is_kept_up_to_limit(void **state)
{
	static const uint8_t data[100];

	(void)state;
	begin(true, 100, 100);
	stream_send(stream, data, 60);
	stream_send(stream, data, 40);
	assert_int_equal(stream_pending(stream), 100);
	assert_int_equal(peer_reads(), 0);
	run_due();
	assert_int_equal(owner.connected, 1);
	assert_int_equal(owner.drained, 1);
	assert_int_equal(peer_reads(), 100);
	assert_int_equal(owner.closed, 0);
	end();
	begin(true, 100, 100);
	stream_send(stream, data, 60);
	stream_send(stream, data, 41);
	assert_int_equal(owner.closed, 0);	/* never called from within */
	run_due();
	assert_int_equal(owner.closed, 1);
	assert_int_equal(owner.err, -ENOBUFS);
	end();
}

/*
 * More is sent than the kernel takes at once: the owner is informed when all of it has been sent.
 */
static void owner_learns_that_output_was_sent(void **state)
{
	uint8_t *data = calloc(1, BIG);
	size_t received = 0;

	(void)state;
	begin(false, 100, BIG);
	stream_send(stream, data, BIG);
	assert_true(stream_pending(stream) > 0);
	while (stream_pending(stream)) {
		assert_int_equal(owner.drained, 0);
		received += peer_reads();
		run_due();
	}
	assert_int_equal(owner.drained, 1);
	assert_int_equal(received + peer_reads(), BIG);
	free(data);
	end();
}

/* Data from before the end is sent; data that comes or is sent after it is dropped. */
static void data_before_end_is_sent(void **state)
{
	uint8_t *data = calloc(1, BIG);
	size_t received = 0;

	(void)state;
	begin(false, 100, BIG);
	stream_send(stream, data, BIG);
	stream_end(stream);
	stream_send(stream, data, 1);
	peer_writes(0, 200);
	run_due();
	assert_int_equal(owner.inputs + owner.closed, 0);
	for (unsigned int i = 0; i < 1000 && !owner.closed; i++) {
		received += peer_reads();
		run_due();
	}
	assert_int_equal(owner.closed, 1);
	assert_int_equal(owner.err, 0);
	assert_int_equal(owner.inputs, 0);
	assert_int_equal(received + peer_reads(), BIG);
	free(data);
	end();
	/* With nothing left to send it ends at once, from the loop. */
	begin(false, 100, 100);
	stream_end(stream);
	assert_int_equal(owner.closed, 0);
	run_due();
	assert_int_equal(owner.closed, 1);
	end();
	/* The peer has ended it. */
	begin(false, 100, 100);
	peer_writes(0, 50);
	shutdown(peer, SHUT_WR);
	run_due();
	assert_int_equal(owner.taken, 50);
	assert_int_equal(owner.closed, 1);
	assert_int_equal(owner.err, 0);
	end();
}

static int setup(void **state)
{
	(void)state;
	loop = loop_new();
	due = loop_timer_new(loop, on_due, NULL);
	return !loop || !due;
}

static int teardown(void **state)
{
	(void)state;
	loop_timer_free(due);
	loop_free(loop);
	return 0;
}

int main(void)
{
	const struct CMUnitTest t[] = {
		cmocka_unit_test(input_beyond_limit_closes_stream),
		cmocka_unit_test(held_stream_reads_nothing),
		cmocka_unit_test(output_is_kept_up_to_limit),
		cmocka_unit_test(owner_learns_that_output_was_sent),
		cmocka_unit_test(data_before_end_is_sent),
	};

	return cmocka_run_group_tests(t, setup, teardown);
}
