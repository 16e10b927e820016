/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Configures the network interface of a NIC that has coordinates: addresses that contain the
 * coordinates, and routes to all other nodes. torusemu does this for its tun device, fabricd for a
 * NIC of the kernel. Not part of libtorus's interface.
 */
#ifndef LIB_NETDEV_H
#define LIB_NETDEV_H

#include <stddef.h>
#include <torus/topology.h>

/** LT_NETDEV_PROTO - protocol number of the routes and addresses that lt_netdev_place() sets */
#define LT_NETDEV_PROTO 117

/**
 * struct lt_netdev - an interface and its place
 * @ifindex: interface index, in the caller's network namespace
 * @mtu: MTU to be set, bytes; 0: the MTU stays as it is
 * @shape: shape of the fabric
 * @plan: address plan of the fabric
 * @node: node id of the NIC
 * @old: former shape; the addresses of the former place are deleted; NULL: there was no former
 *	place
 * @old_plan: former address plan
 * @old_node: node id in @old
 */
struct lt_netdev {
	uint32_t ifindex;
	uint32_t mtu;
	const struct torus_shape *old;
	const struct torus_plan *old_plan;
	uint32_t old_node;
	const struct torus_shape *shape;
	const struct torus_plan *plan;
	uint32_t node;
};

/**
 * lt_netdev_place() - set addresses and routes of the interface, and take it up
 * @dev: the interface
 * @text: gets the text of an error
 * @len: bytes of @text
 * The function may be called again. If another interface has a route to the same prefix, that route
 * stays, and the function fails. Routes and addresses of LT_NETDEV_PROTO that the interface should
 * not have are deleted.
 * Return: 0; -EAFNOSUPPORT if only IPv6 failed, for example because it is disabled; -EIO.
 */
int lt_netdev_place(const struct lt_netdev *dev, char *text, size_t len);

#endif /* LIB_NETDEV_H */
