/* SPDX-License-Identifier: GPL-2.0-only */
/* Nonblocking SOCK_SEQPACKET sockets that belong to root. */
#ifndef EMU_SOCK_H
#define EMU_SOCK_H

/**
 * sock_listen() - listen at @path; a socket file without a listener is replaced. Return: fd or
 * negative errno
 */
int sock_listen(const char *path);
/** sock_listen_all() - as sock_listen(), for a socket to which any user may connect */
int sock_listen_all(const char *path);
/**
 * sock_accept() - accept a connection. Return: fd; -EPERM if the peer is not root; other negative
 * errno
 */
int sock_accept(int fd);

#endif /* EMU_SOCK_H */
