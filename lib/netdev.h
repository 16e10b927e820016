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

/** LT_NETDEV_PROTO - protocol number of the routes and addresses that are set here */
#define LT_NETDEV_PROTO 117

/**
 * struct lt_netdev - an interface and its place
 * @ifindex: in the caller's network namespace
 * @mtu: bytes; 0: unchanged
 * @shape: of the fabric
 * @plan: its address plan
 * @node: node id of the NIC
 * @old: shape of the place before, whose addresses are deleted; NULL: there was none
 * @old_plan: address plan before
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
 * May be repeated. A route of the same prefix that another interface has stays, and is an error.
 * Routes and addresses of LT_NETDEV_PROTO that the interface should not have are deleted.
 * Return: 0; -EAFNOSUPPORT if only IPv6 failed, as where it is disabled; -EIO.
 */
int lt_netdev_place(const struct lt_netdev *dev, char *text, size_t len);

#endif /* LIB_NETDEV_H */
