/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PRIV_H
#define PRIV_H

/**
 * priv_drop() - give up what the daemon does not need
 *
 * It stays root, because a NIC's socket belongs to root and is opened again
 * when the NIC comes back; of root's capabilities only CAP_NET_ADMIN is kept,
 * which generic netlink asks for. Nothing it might execute gains any.
 * Return: 0 or a negative errno.
 */
int priv_drop(void);

#endif /* PRIV_H */
