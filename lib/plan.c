// SPDX-License-Identifier: LGPL-2.1-or-later
/* The address plan: prefixes as text, and addresses of nodes. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <torus/topology.h>

#include "kernel/core/plan.h"

void torus_plan_default(struct torus_plan *plan)
{
	*plan = tn_plan_default;
}

bool torus_plan_valid(const struct torus_plan *plan)
{
	return tn_plan_valid4(plan) && tn_plan_valid6(plan);
}

bool torus_plan_holds4(const struct torus_plan *plan, const struct torus_shape *shape)
{
	return tn_plan_holds4(plan, shape);
}

bool torus_plan_holds6(const struct torus_plan *plan, const struct torus_shape *shape)
{
	return tn_plan_holds6(plan, shape);
}

unsigned int torus_plan_longest(const struct torus_shape *shape, unsigned int bits)
{
	unsigned int len = bits;

	while (bits - len < 24 && torus_nodes(shape) > 1u << (bits - len))
		len--;
	return len;
}

/* Parses ADDRESS/LENGTH. Return: the length; -EINVAL if the text has another form. */
static int parse_prefix(const char *text, int family, void *net)
{
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t n = slash ? (size_t)(slash - text) : 0;
	const char *digit;
	int len = 0;

	if (!n || n >= sizeof(address))
		return -EINVAL;
	memcpy(address, text, n);
	address[n] = '\0';
	if (inet_pton(family, address, net) != 1)
		return -EINVAL;
	for (digit = slash + 1; *digit >= '0' && *digit <= '9' && len <= 128; digit++)
		len = 10 * len + *digit - '0';
	return *digit || digit == slash + 1 || len > 128 ? -EINVAL : len;
}

int torus_plan_parse4(const char *text, struct torus_plan *plan)
{
	struct torus_plan p = *plan;
	int len = parse_prefix(text, AF_INET, p.net4);

	if (len < 0)
		return len;
	p.len4 = (uint8_t)len;
	if (!tn_plan_valid4(&p))
		return -EINVAL;
	*plan = p;
	return 0;
}

int torus_plan_parse6(const char *text, struct torus_plan *plan)
{
	struct torus_plan p = *plan;
	int len = parse_prefix(text, AF_INET6, p.net6);

	if (len < 0)
		return len;
	p.len6 = (uint8_t)len;
	if (!tn_plan_valid6(&p))
		return -EINVAL;
	*plan = p;
	return 0;
}

static char *prefix_text(int family, const void *net, unsigned int len, char *buf)
{
	char address[INET6_ADDRSTRLEN];

	inet_ntop(family, net, address, sizeof(address));
	snprintf(buf, TORUS_TEXT_MAX, "%s/%u", address, len);
	return buf;
}

char *torus_plan_text4(const struct torus_plan *plan, char *buf)
{
	return prefix_text(AF_INET, plan->net4, plan->len4, buf);
}

char *torus_plan_text6(const struct torus_plan *plan, char *buf)
{
	return prefix_text(AF_INET6, plan->net6, plan->len6, buf);
}

struct in_addr torus_plan_addr4(const struct torus_plan *plan, const struct torus_shape *shape,
				uint32_t id)
{
	return (struct in_addr){ htonl(tn_plan_addr4(plan, shape, id)) };
}

struct in6_addr torus_plan_addr6(const struct torus_plan *plan, const struct torus_shape *shape,
				 uint32_t id)
{
	struct in6_addr a;

	tn_plan_addr6(plan, shape, id, a.s6_addr);
	return a;
}

uint32_t torus_plan_node4(const struct torus_plan *plan, const struct torus_shape *shape,
			  struct in_addr a)
{
	return tn_plan_node4(plan, shape, ntohl(a.s_addr));
}

uint32_t torus_plan_node6(const struct torus_plan *plan, const struct torus_shape *shape,
			  const struct in6_addr *a)
{
	return tn_plan_node6(plan, shape, a->s6_addr);
}

struct in_addr torus_addr4(const struct torus_shape *shape, uint32_t id)
{
	return torus_plan_addr4(&tn_plan_default, shape, id);
}

struct in6_addr torus_addr6(const struct torus_shape *shape, uint32_t id)
{
	return torus_plan_addr6(&tn_plan_default, shape, id);
}

uint32_t torus_node_of_addr4(const struct torus_shape *shape, struct in_addr a)
{
	return torus_plan_node4(&tn_plan_default, shape, a);
}

uint32_t torus_node_of_addr6(const struct torus_shape *shape, const struct in6_addr *a)
{
	return torus_plan_node6(&tn_plan_default, shape, a);
}
