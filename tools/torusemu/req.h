/* SPDX-License-Identifier: GPL-2.0-only */
/* A request that is being handled. */
#ifndef EMU_REQ_H
#define EMU_REQ_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "kernel/req/request.h"

struct client;
struct emu;

/**
 * struct req - one request
 * @req: the request for kernel/req, with the extended ACK of an error
 * @tb: attributes of the request by number; of an attribute that is repeated, the first
 */
struct req {
	struct emu *emu;
	struct client *client;
	const struct nlmsghdr *nlh;
	struct torus_req req;
	const struct nlattr *tb[TORUS_A_MAX + 1];
};

/** req_fail() - set the text of an error. Return: @err */
__attribute__((format(printf, 3, 4)))
int req_fail(struct req *r, int err, const char *fmt, ...);

#endif /* EMU_REQ_H */
