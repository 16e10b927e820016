/* SPDX-License-Identifier: GPL-2.0-only */
/* Interfaces between the files of the netlink family; genl.c has the table of commands. */
#ifndef TORUS_GENL_H
#define TORUS_GENL_H

#include <net/genetlink.h>
#include <net/sock.h>

#include "genl_policy.h"
#include "torus.h"

extern struct genl_family torus_family;

/* --- genl.c --------------------------------------------------------------------- */

/**
 * torus_request_check() - the whole check of a request, by req/policy.c
 * A policy cannot say: no attribute twice (but nests that may repeat), all that the command
 * needs, of a dump only what a dump may carry, arrays of whole entries.
 * Return: 0 or a negative errno with text and attribute in @extack.
 */
int torus_request_check(unsigned int cmd, bool dump, const void *attrs, int len,
			struct netlink_ext_ack *extack);
/** torus_refused() - why, into @extack; Return: @err */
int torus_refused(struct netlink_ext_ack *extack, const struct torus_refusal *why, int err);

/** torus_req_dev() - the device that genl.c found for a do; referenced until its end */
static inline struct torus_dev *torus_req_dev(const struct genl_info *info)
{
	return info->user_ptr[0];
}

/**
 * torus_dump_check() - check the request of a dump, find its device if it names one
 * @d: the device, referenced with @t; NULL: none is asked for
 */
int torus_dump_check(struct netlink_callback *cb, unsigned int cmd, struct torus_dev **d,
		     netdevice_tracker *t);

/* --- genl_do.c -------------------------------------------------------------------- */

/** torus_put() - a struct of <torus/reply.h> as attributes; Return: 0 or -EMSGSIZE */
int torus_put(struct sk_buff *skb, const struct torus_tree *tree, const struct torus_attrs *without,
	      const void *from);

int torus_genl_do(struct sk_buff *skb, struct genl_info *info);
int torus_genl_attach(struct sk_buff *skb, struct genl_info *info);

/* --- genl_dump.c ------------------------------------------------------------------ */

/**
 * struct torus_dump - a dump in progress, in netlink_callback.ctx
 * No reference to the device: who stops reading must not keep it from going.
 * @ifindex: the device; of a dump of devices: the last one told
 * @last: of a dump of one device: it; 0: of all
 * @parts: of a dump of ports or rows
 * @begun: its request was found to be good
 */
struct torus_dump {
	int ifindex;
	int last;
	struct torus_parts parts;
	bool begun;
};

static inline struct torus_dump *torus_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct torus_dump) > sizeof(cb->ctx));
	return (struct torus_dump *)cb->ctx;
}

int torus_device_dump(struct sk_buff *skb, struct netlink_callback *cb);
int torus_link_dump_start(struct netlink_callback *cb);
int torus_parts_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* TORUS_GENL_H */
