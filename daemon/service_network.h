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
 * @bits: its length
 * @bytes: 4 or 16, in network order; those after @bits are 0
 */
struct prefix {
	int family;
	unsigned int bits;
	uint8_t bytes[16];
};

/**
 * prefix_parse() - parse an IP address, "/" and the number of bits
 * Return: 0, or -EINVAL: not such a network, or bits after @bits are set.
 */
int prefix_parse(const char *text, struct prefix *out);

/**
 * service_network_find() - find the one address of this host in a network
 * @list: of getifaddrs(); an address that several interfaces have counts once
 * @out: gets the address, with port 0
 * @text: if there is not exactly one, it gets the addresses with their interfaces: those in the
 *	network, or, if none is, those of the same family but the loopback; "none" if there are none
 * Return: 0, -EADDRNOTAVAIL if no address is in it, or -ENOTUNIQ if several are.
 */
int service_network_find(const struct prefix *p, const struct ifaddrs *list,
			 struct sockaddr_storage *out, char *text, size_t room);

#endif /* SERVICE_NETWORK_H */
