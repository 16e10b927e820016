/* SPDX-License-Identifier: GPL-2.0-only */
/* Unix sockets that belong to root: SOCK_SEQPACKET, not blocking. */
#ifndef EMU_SOCK_H
#define EMU_SOCK_H

/** sock_listen() - one nobody listens on any more is replaced. Return: fd, negative errno */
int sock_listen(const char *path);
/** sock_accept() - Return: fd, -EPERM for a peer that is not root, other negative errno */
int sock_accept(int fd);

#endif /* EMU_SOCK_H */
