/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PRIV_H
#define PRIV_H

/**
 * priv_drop() - give up the privileges that the daemon does not need
 *
 * The process stays root, because the socket of a NIC belongs to root and is opened again when the
 * NIC comes back. It keeps only the capability CAP_NET_ADMIN, which generic netlink asks for.
 * Programs that it executes get no capabilities.
 * Return: 0 or a negative errno.
 */
int priv_drop(void);

#endif /* PRIV_H */
