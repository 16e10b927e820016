/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connected socket with an input buffer and a bounded output buffer. What is
 * sent never blocks; what does not fit ends the stream.
 */
#ifndef STREAM_H
#define STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct loop;
struct stream;

/**
 * struct stream_ops - of the owner
 * @connected: an outgoing connect() succeeded; may be NULL
 * @input: @len bytes have come. Return: how many were consumed, or a negative
 *	errno to end the stream
 * @drained: the output buffer has become empty; may be NULL
 * @closed: the stream is at its end; 0 the peer closed it, else a negative
 *	errno. Called once, never from within stream_send(); the owner frees
 *	the stream, here or later
 *
 * Each may call stream_free().
 */
struct stream_ops {
	void (*connected)(void *arg);
	ssize_t (*input)(void *arg, const uint8_t *data, size_t len);
	void (*drained)(void *arg);
	void (*closed)(void *arg, int err);
};

/**
 * stream_new() - take over a non-blocking socket
 * @connecting: connect() is under way
 * @in_max, @out_max: most bytes to be buffered
 * Return: NULL if out of memory; the socket is then still the caller's.
 */
struct stream *stream_new(struct loop *loop, int fd, bool connecting,
			  size_t in_max, size_t out_max,
			  const struct stream_ops *ops, void *arg);
/** stream_free() - closes the socket; no callback follows */
void stream_free(struct stream *s);
void stream_limit(struct stream *s, size_t in_max, size_t out_max);

/** stream_send() - on failure closed() follows */
void stream_send(struct stream *s, const void *data, size_t len);
/** stream_end() - close when all that was sent is out; input is ignored */
void stream_end(struct stream *s);
/** stream_pending() - bytes not yet taken by the peer's side */
size_t stream_pending(const struct stream *s);

/** stream_hold() - stop or go on reading */
void stream_hold(struct stream *s, bool on);

#endif /* STREAM_H */
