// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "daemon/service_network.h"
#include "lib/util/units.h"

/* Return: the @n bytes of an address in network order; NULL if the address has another family. */
static const uint8_t *address_bytes(const struct sockaddr *a, int family, size_t *n)
{
	if (!a || a->sa_family != family)
		return NULL;
	*n = family == AF_INET ? 4 : 16;
	return family == AF_INET ? (const uint8_t *)&((const struct sockaddr_in *)a)->sin_addr :
				   (const uint8_t *)&((const struct sockaddr_in6 *)a)->sin6_addr;
}

/* Return: byte @i of the netmask. */
static uint8_t mask_byte(const struct prefix *p, unsigned int i)
{
	unsigned int bits = p->bits > 8 * i ? p->bits - 8 * i : 0;

	return bits >= 8 ? 0xff : (uint8_t)(0xff00 >> bits);
}

int prefix_parse(const char *text, struct prefix *out)
{
	const char *slash = strchr(text, '/');
	char ip[INET6_ADDRSTRLEN];
	struct prefix p = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };
	unsigned int n = p.family == AF_INET ? 4 : 16;
	uint64_t bits;

	if (!slash || (size_t)(slash - text) >= sizeof(ip))
		return -EINVAL;
	memcpy(ip, text, (size_t)(slash - text));
	ip[slash - text] = '\0';
	if (inet_pton(p.family, ip, p.bytes) != 1 || number_parse(slash + 1, 0, 8 * n, &bits))
		return -EINVAL;
	p.bits = (unsigned int)bits;
	for (unsigned int i = 0; i < n; i++)
		if (p.bytes[i] & ~mask_byte(&p, i))
			return -EINVAL;
	*out = p;
	return 0;
}

/* Return: true if the address is in the network. */
static bool prefix_has(const struct prefix *p, const struct sockaddr *a)
{
	const uint8_t *bytes;
	size_t n;

	bytes = address_bytes(a, p->family, &n);
	for (unsigned int i = 0; bytes && i < n; i++)
		if ((bytes[i] & mask_byte(p, i)) != p->bytes[i])
			return false;
	return bytes;
}

static bool is_same_address(const struct sockaddr_storage *a, const struct sockaddr *b)
{
	const uint8_t *x, *y;
	size_t n;

	x = address_bytes((const struct sockaddr *)a, b->sa_family, &n);
	y = address_bytes(b, b->sa_family, &n);
	return x && y && !memcmp(x, y, n);
}

static void copy_address(struct sockaddr_storage *out, const struct sockaddr *a)
{
	memset(out, 0, sizeof(*out));
	memcpy(out, a,
	       a->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
}

static void add_address_text(char *text, size_t room, const struct ifaddrs *i)
{
	char ip[INET6_ADDRSTRLEN] = "";
	size_t n = strlen(text), bytes;

	inet_ntop(i->ifa_addr->sa_family,
		  address_bytes(i->ifa_addr, i->ifa_addr->sa_family, &bytes), ip, sizeof(ip));
	snprintf(text + n, room - n, "%s%s (%s)", n ? ", " : "", ip, i->ifa_name);
}

/* Adds to @text the addresses of this family that could be a service address, for an error text. */
static void add_others(const struct prefix *p, const struct ifaddrs *list, char *text, size_t room)
{
	for (const struct ifaddrs *i = list; i; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == p->family &&
		    !(i->ifa_flags & IFF_LOOPBACK))
			add_address_text(text, room, i);
	if (!*text)
		snprintf(text, room, "none");
}

int service_network_find(const struct prefix *p, const struct ifaddrs *list,
			 struct sockaddr_storage *out, char *text, size_t room)
{
	bool several = false, found = false;

	*text = '\0';
	for (const struct ifaddrs *i = list; i; i = i->ifa_next) {
		if (!prefix_has(p, i->ifa_addr) || (found && is_same_address(out, i->ifa_addr)))
			continue;
		several |= found;
		if (!found)
			copy_address(out, i->ifa_addr);
		found = true;
		add_address_text(text, room, i);
	}
	if (!found)
		add_others(p, list, text, room);
	return several ? -ENOTUNIQ : found ? 0 : -EADDRNOTAVAIL;
}
