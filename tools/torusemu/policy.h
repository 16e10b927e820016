/* SPDX-License-Identifier: GPL-2.0-only */
/* Which attributes a request may carry, and what they may say. */
#ifndef EMU_POLICY_H
#define EMU_POLICY_H

#include <netlink/attr.h>
#include <netlink/msg.h>

#include "tn_deps.h"
#include <torus_uapi.h>

struct client;
struct emu;

#define REQ_TEXT_MAX 160

/**
 * struct req - one request being worked on
 * @tb: its attributes; of one that may repeat, the first
 * @text: extended ack of a failure
 */
struct req {
	struct emu *emu;
	struct client *client;
	const struct nlmsghdr *nlh;
	u8 cmd;
	u64 now;
	struct nlattr *tb[TORUS_A_MAX + 1];
	char text[REQ_TEXT_MAX];
};

/** req_fail() - note @fmt for the client; Return: @err */
__attribute__((format(printf, 3, 4)))
int req_fail(struct req *r, int err, const char *fmt, ...);

/**
 * policy_check() - parse and check the attributes of a request into @r->tb, as
 * <uapi/torus_policy.h> says for its command, which must be one to ask for
 * Return: 0 or negative errno with @r->text set.
 */
int policy_check(struct req *r, bool dump);

/** policy_nest() - the same for a nest that policy_check() accepted */
int policy_nest(struct req *r, struct nlattr *nest, struct nlattr **tb);

/** policy_cmd_name() - name of a command, for texts */
const char *policy_cmd_name(unsigned int cmd);

#endif /* EMU_POLICY_H */
