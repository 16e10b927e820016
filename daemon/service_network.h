/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds the service address among the addresses of this host by the key service_network, so that
 * one configuration file serves all nodes.
 */
#ifndef SERVICE_NETWORK_H
#define SERVICE_NETWORK_H

#include <ifaddrs.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/**
 * struct prefix - a network, such as 172.16.0.0/16 or fd00::/64
 * @family: AF_INET or AF_INET6
 * @bits: length of the prefix
 * @bytes: 4 or 16, in network order; bits after @bits are 0
 */
struct prefix {
	int family;
	unsigned int bits;
	uint8_t bytes[16];
};

/**
 * prefix_parse() - parse an IP address, "/" and the number of bits
 * Return: 0, or -EINVAL if the text is not a network, or bits after the prefix are set.
 */
int prefix_parse(const char *text, struct prefix *out);

/**
 * service_network_find() - find the one address of this host in a network
 * @list: result of getifaddrs(); an address that several interfaces have counts once
 * @out: gets the address, with port 0
 * @text: if the host does not have exactly one address in the network, set to the addresses in the
 *	network with their interfaces. If there is no such address, set to the addresses of the same
 *	family, but the loopback address, or to "none"
 * Return: 0, -EADDRNOTAVAIL if no address is in the network, or -ENOTUNIQ if several are.
 */
int service_network_find(const struct prefix *p, const struct ifaddrs *list,
			 struct sockaddr_storage *out, char *text, size_t room);

#endif /* SERVICE_NETWORK_H */
