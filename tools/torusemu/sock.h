/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Nonblocking SOCK_SEQPACKET sockets that belong to root. When the process has no descriptor left,
 * accept() fails, the client stays in the queue, and its socket stays readable: a loop that waits
 * for it would not sleep any more. So there is a spare descriptor, which is closed for a moment to
 * accept such a client, send it the error, and disconnect it.
 */
#ifndef EMU_SOCK_H
#define EMU_SOCK_H

#include <stddef.h>

/**
 * sock_listen() - listen at @path; a socket file without a listener is replaced. Return: fd or
 * negative errno
 */
int sock_listen(const char *path);
/** sock_listen_all() - as sock_listen(), for a socket to which any user may connect */
int sock_listen_all(const char *path);
/**
 * sock_accept() - accept a connection. Return: fd; -EPERM if the peer is not root; -EMFILE if there
 * was no descriptor for the peer, which is disconnected; other negative errno
 */
int sock_accept(int fd);
/**
 * sock_accept_all() - accept a connection of any user
 * @refusal: message of @bytes bytes for a peer for which there is no descriptor
 * Return: fd; -EMFILE if there was no descriptor; other negative errno
 */
int sock_accept_all(int fd, const void *refusal, size_t bytes);

#endif /* EMU_SOCK_H */
