/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The network interface of a NIC that has its place: addresses that show the
 * coordinates, and routes to all other nodes. torusemu does it for its tun device,
 * fabricd for a NIC of the kernel. Not part of libtorus's interface.
 */
#ifndef LIB_NETDEV_H
#define LIB_NETDEV_H

#include <stddef.h>
#include <torus/topology.h>

/**
 * struct lt_netdev - an interface and its place
 * @ifindex: in the caller's network namespace
 * @mtu: 0: as it is
 * @old, @old_node: the place before, whose addresses go; NULL: there was none
 */
struct lt_netdev {
	uint32_t ifindex;
	uint32_t mtu;
	const struct torus_shape *old;
	uint32_t old_node;
	const struct torus_shape *shape;
	uint32_t node;
};

/**
 * lt_netdev_place() - takes the interface up, with its addresses and routes
 * @text: what went wrong
 * May be repeated. Return: 0; -EAFNOSUPPORT if only IPv6 failed, as where it is
 * switched off; -EIO.
 */
int lt_netdev_place(const struct lt_netdev *dev, char *text, size_t len);

#endif /* LIB_NETDEV_H */
