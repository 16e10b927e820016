// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "daemon/address.h"
#include "daemon/fm/fm.h"

static int port_parse(const char *text, in_port_t *out)
{
	unsigned long v;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (errno || *end || v < 1 || v > 65535)
		return -EINVAL;
	*out = htons((uint16_t)v);
	return 0;
}

int address_parse(const char *text, struct sockaddr_storage *out, socklen_t *len)
{
	struct sockaddr_in *a4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *a6 = (struct sockaddr_in6 *)out;
	char host[FM_ADDR_MAX];
	const char *colon = strrchr(text, ':');
	size_t n;

	if (!colon || strlen(text) >= FM_ADDR_MAX)
		return -EINVAL;
	memset(out, 0, sizeof(*out));
	n = (size_t)(colon - text);
	if (n > 2 && text[0] == '[' && text[n - 1] == ']') {
		memcpy(host, text + 1, n - 2);
		host[n - 2] = '\0';
		a6->sin6_family = AF_INET6;
		*len = sizeof(*a6);
		if (inet_pton(AF_INET6, host, &a6->sin6_addr) != 1)
			return -EINVAL;
		return port_parse(colon + 1, &a6->sin6_port);
	}
	memcpy(host, text, n);
	host[n] = '\0';
	a4->sin_family = AF_INET;
	*len = sizeof(*a4);
	if (inet_pton(AF_INET, host, &a4->sin_addr) != 1)
		return -EINVAL;
	return port_parse(colon + 1, &a4->sin_port);
}

char *address_text(const struct sockaddr_storage *a, char *buf)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a;
	char host[INET6_ADDRSTRLEN];

	if (a->ss_family == AF_INET6 && inet_ntop(AF_INET6, &a6->sin6_addr, host, sizeof(host)))
		snprintf(buf, FM_ADDR_MAX, "[%s]:%u", host, ntohs(a6->sin6_port));
	else if (a->ss_family == AF_INET && inet_ntop(AF_INET, &a4->sin_addr, host, sizeof(host)))
		snprintf(buf, FM_ADDR_MAX, "%s:%u", host, ntohs(a4->sin_port));
	else
		snprintf(buf, FM_ADDR_MAX, "?");
	return buf;
}
