/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a client comes from, as far as limits are concerned: an address of IPv4, or a network of 64
 * bits of IPv6, of which a client may have all addresses. The loopback network is one source.
 */
#ifndef FABRICWEB_SOURCE_H
#define FABRICWEB_SOURCE_H

#include <stdbool.h>
#include <sys/socket.h>

#define SOURCE_TEXT_MAX 64

struct source {
	unsigned char key[16];
};

/** source_of_address() - Return: the source; zeroed, if it is no address of IP */
struct source source_of_address(const struct sockaddr *address);
bool source_is_same(const struct source *a, const struct source *b);

/**
 * struct tries - what each source may still do of a thing that is limited; zeroed, all may
 * @left: how often it may do so at time @at
 */
struct tries {
	struct {
		struct source from;
		double left, at;
	} of[128];
};

/** tries_take() - Return: true if the source may do so once more: ten times, and once a second */
bool tries_take(struct tries *t, const struct source *from, double now);

#endif /* FABRICWEB_SOURCE_H */
