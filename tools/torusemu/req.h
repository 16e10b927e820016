/* SPDX-License-Identifier: GPL-2.0-only */
/* A request being worked on. */
#ifndef EMU_REQ_H
#define EMU_REQ_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "kernel/req/request.h"

struct client;
struct emu;

/**
 * struct req - one request
 * @req: the request as any NIC sees it, with the extended ack of a failure
 * @tb: its attributes; of one that may repeat, the first
 */
struct req {
	struct emu *emu;
	struct client *client;
	const struct nlmsghdr *nlh;
	struct torus_req req;
	const struct nlattr *tb[TORUS_A_MAX + 1];
};

/** req_fail() - note @fmt for the client; Return: @err */
__attribute__((format(printf, 3, 4)))
int req_fail(struct req *r, int err, const char *fmt, ...);

#endif /* EMU_REQ_H */
