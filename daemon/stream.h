/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A connected socket with bounded input and output buffers. Sending never blocks; if the bytes to
 * send do not fit into the output buffer, the stream ends.
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
 * struct stream_ops - callbacks to the owner
 * @connected: an outgoing connect() succeeded; may be NULL
 * @input: @len bytes were received. Return: how many of them were consumed, or a negative errno to
 *	end the stream
 * @drained: the output buffer has become empty; may be NULL
 * @closed: the stream has ended; @err: 0 if the peer closed it, else a negative
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
 * stream_new() - create a stream, which owns the non-blocking socket @fd from then on
 * @connecting: connect() is under way
 * @in_max, @out_max: most bytes to be buffered
 * Return: NULL if out of memory; the caller then still owns the socket.
 */
struct stream *stream_new(struct loop *loop, int fd, bool connecting,
			  size_t in_max, size_t out_max,
			  const struct stream_ops *ops, void *arg);
/** stream_free() - close the socket, and free; no callback is called any more */
void stream_free(struct stream *s);
void stream_limit(struct stream *s, size_t in_max, size_t out_max);

/** stream_send() - send bytes; if this fails, @closed is called later */
void stream_send(struct stream *s, const void *data, size_t len);
/** stream_end() - close the socket when all output is sent; input is ignored */
void stream_end(struct stream *s);
/** stream_pending() - Return: number of bytes in the output buffer */
size_t stream_pending(const struct stream *s);

/** stream_hold() - stop reading if @on is true, else continue */
void stream_hold(struct stream *s, bool on);

#endif /* STREAM_H */
