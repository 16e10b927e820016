/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of a connection, for limits per client: an IPv4 address; or a /64 prefix of IPv6,
 * because one client may use all its addresses. All loopback addresses are one source.
 */
#ifndef FABRICWEB_SOURCE_H
#define FABRICWEB_SOURCE_H

#include <stdbool.h>
#include <sys/socket.h>

#define SOURCE_TEXT_MAX 64

struct source {
	unsigned char key[16];
};

/** source_of_address() - Return: the source; all 0 if @address is no IP address */
struct source source_of_address(const struct sockaddr *address);
bool source_is_same(const struct source *a, const struct source *b);

/**
 * struct tries - a rate limit for each source (token buckets); if all members are 0, all are full
 * @from: the source
 * @left: number of tokens that the source had at time @at
 */
struct tries {
	struct {
		struct source from;
		double left, at;
	} of[128];
};

/**
 * tries_take() - take a token of the source: a bucket holds ten, and gets one more each second
 * Return: false if there was none.
 */
bool tries_take(struct tries *t, const struct source *from, double now);

#endif /* FABRICWEB_SOURCE_H */
