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
 * torus_request_check() - check a request completely, by req/policy.c
 * @cmd: TORUS_CMD_*
 * @dump: it is the request of a dump
 * @attrs: attributes of the request
 * @len: bytes of these
 * @extack: gets text and attribute of an error
 * Beyond the nla_policy this checks that no attribute is repeated (except nests that may be
 * repeated), that all required attributes are present, that a dump has only attributes of a dump,
 * and that arrays have whole entries.
 * Return: 0 or a negative errno.
 */
int torus_request_check(unsigned int cmd, bool dump, const void *attrs, int len,
			struct netlink_ext_ack *extack);
/** torus_refused() - copy the reason @why of an error to @extack. Return: @err */
int torus_refused(struct netlink_ext_ack *extack, const struct torus_refusal *why, int err);

/** torus_req_dev() - Return: the device of a do, with a reference until the do ends */
static inline struct torus_dev *torus_req_dev(const struct genl_info *info)
{
	return info->user_ptr[0];
}

/**
 * torus_dump_check() - check the request of a dump, and find its device
 * @cb: the dump
 * @cmd: command of the request
 * @d: gets the device, with a reference; NULL if the dump needs no device
 * @t: tracks the reference
 * Return: 0 or a negative errno with text and attribute in the extack of @cb.
 */
int torus_dump_check(struct netlink_callback *cb, unsigned int cmd, struct torus_dev **d,
		     netdevice_tracker *t);

/* --- genl_do.c -------------------------------------------------------------------- */

/**
 * torus_put() - append a struct of <torus/reply.h> as attributes
 * @skb: a message
 * @tree: the attributes, and where their values are in the struct
 * @without: attributes to leave out, or NULL
 * @from: the struct
 * Return: 0 or -EMSGSIZE.
 */
int torus_put(struct sk_buff *skb, const struct torus_tree *tree, const struct torus_attrs *without,
	      const void *from);

/** torus_genl_do() - doit of all commands but LINK_ATTACH. Return: 0 or -errno */
int torus_genl_do(struct sk_buff *skb, struct genl_info *info);
/** torus_genl_attach() - doit of LINK_ATTACH; takes RTNL. Return: 0 or -errno */
int torus_genl_attach(struct sk_buff *skb, struct genl_info *info);

/* --- genl_dump.c ------------------------------------------------------------------ */

/**
 * struct torus_dump - a dump in progress, in netlink_callback.ctx
 * It has no reference to the device: a reader that stops must not keep the device from going away.
 * @ifindex: interface index of the device; in a dump of devices, of the last one put into a message
 * @last: ifindex of the device, in a dump of devices that names one; 0: all devices
 * @parts: position in a dump of ports or rows
 * @begun: the request was checked, and is valid
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

/** torus_device_dump() - dumpit of DEVICE_GET */
int torus_device_dump(struct sk_buff *skb, struct netlink_callback *cb);
/**
 * torus_link_dump_start() - start of the dump of LINK_GET: requests messages with room for all
 * ports
 */
int torus_link_dump_start(struct netlink_callback *cb);
/** torus_parts_dump() - dumpit of LINK_GET and ROWS_GET */
int torus_parts_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* TORUS_GENL_H */
