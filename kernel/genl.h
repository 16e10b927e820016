/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the netlink family say to each other; genl.c is the table. */
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

/** torus_req_dev() - the device that genl.c found for a do; referenced until its end */
static inline struct torus_dev *torus_req_dev(const struct genl_info *info)
{
	return info->user_ptr[0];
}

/**
 * struct torus_dump - a dump in progress, in netlink_callback.ctx
 * No reference to the device: who stops reading must not keep it from going.
 * @ifindex: the device; of a dump of devices: the last one told
 * @next: port or row to go on with
 * @end: of rows
 * @begun: its request was found to be good
 */
struct torus_dump {
	int ifindex;
	u32 next;
	u32 end;
	bool begun;
};

static inline struct torus_dump *torus_dump_of(struct netlink_callback *cb)
{
	BUILD_BUG_ON(sizeof(struct torus_dump) > sizeof(cb->ctx));
	return (struct torus_dump *)cb->ctx;
}

/**
 * torus_dump_begin() - by @begin, once, before the first part of a dump
 * Not in genl_ops.start: Linux 6.1 tells nobody why that failed.
 */
int torus_dump_begin(struct netlink_callback *cb, int (*begin)(struct netlink_callback *cb));
/** torus_dump_dev() - the same, and the device, referenced with @t, or an ERR_PTR() */
struct torus_dev *torus_dump_dev(struct netlink_callback *cb,
				 int (*begin)(struct netlink_callback *cb), netdevice_tracker *t);

/**
 * torus_dump_check() - check the request of a dump, find its device if it names one
 * @d: the device, referenced with @t; NULL: none is asked for
 */
int torus_dump_check(struct netlink_callback *cb, unsigned int cmd, struct torus_dev **d,
		     netdevice_tracker *t);

/** torus_dump_put() - begin a message of a dump; NULL if it does not fit */
void *torus_dump_put(struct sk_buff *skb, struct netlink_callback *cb, unsigned int cmd);

/** torus_reply_new() - a reply with its header put, at @hdr; NULL if out of memory */
struct sk_buff *torus_reply_new(struct genl_info *info, void **hdr);
/** torus_reply_put() - a reply of what @put says of the device, with the lock held */
int torus_reply_put(struct genl_info *info, int (*put)(struct sk_buff *skb, struct torus_dev *d));
/** torus_reply() - finish and send it, or drop it if @err; Return: 0 or -errno */
int torus_reply(struct genl_info *info, struct sk_buff *skb, void *hdr, int err);

/** torus_req_port() - PORT, which must be one of the device's; Return: it or -EINVAL */
int torus_req_port(struct genl_info *info);
/** torus_need_place() - -ENODEV with text if the NIC has none (lock) */
int torus_need_place(struct torus_dev *d, struct netlink_ext_ack *extack);

/* --- genl_reply.c ----------------------------------------------------------------- */

/** torus_put() - a struct of <torus/reply.h> as attributes; Return: 0 or -EMSGSIZE */
int torus_put(struct sk_buff *skb, const struct torus_tree *tree, const struct torus_attrs *without,
	      const void *from);

/* What commands of these names answer, all with the lock held. Return: 0 or -EMSGSIZE. */
int torus_put_device(struct sk_buff *skb, struct torus_dev *d);
int torus_put_link(struct sk_buff *skb, struct torus_dev *d, unsigned int port, u64 now);
int torus_put_link_event(struct sk_buff *skb, struct torus_dev *d, const struct tn_event *ev);
int torus_put_flow(struct sk_buff *skb, struct torus_dev *d);
int torus_put_park(struct sk_buff *skb, struct torus_dev *d);

/* --- commands: genl_device.c, genl_link.c, genl_rows.c, genl_park.c ----------------- */

int torus_device_get(struct sk_buff *skb, struct genl_info *info);
int torus_device_set(struct sk_buff *skb, struct genl_info *info);
int torus_device_dump(struct sk_buff *skb, struct netlink_callback *cb);

int torus_link_get(struct sk_buff *skb, struct genl_info *info);
int torus_eye_get(struct sk_buff *skb, struct genl_info *info);
int torus_link_set(struct sk_buff *skb, struct genl_info *info);
int torus_link_attach(struct sk_buff *skb, struct genl_info *info);
int torus_link_dump_start(struct netlink_callback *cb);
int torus_link_dump(struct sk_buff *skb, struct netlink_callback *cb);
int torus_mgmt_send(struct sk_buff *skb, struct genl_info *info);

int torus_rows_begin(struct sk_buff *skb, struct genl_info *info);
int torus_rows_put(struct sk_buff *skb, struct genl_info *info);
int torus_rows_commit(struct sk_buff *skb, struct genl_info *info);
int torus_rows_dump(struct sk_buff *skb, struct netlink_callback *cb);

/**
 * torus_version_error() - what an error of the core means for a request that
 * names a version
 * @active: the version that was active then
 * Return: @err, with a text.
 */
int torus_version_error(struct genl_info *info, int err, u64 active);

int torus_hold(struct sk_buff *skb, struct genl_info *info);
int torus_release(struct sk_buff *skb, struct genl_info *info);
int torus_flow_get(struct sk_buff *skb, struct genl_info *info);
int torus_park_get(struct sk_buff *skb, struct genl_info *info);
int torus_park_resolve(struct sk_buff *skb, struct genl_info *info);
int torus_park_replay(struct sk_buff *skb, struct genl_info *info);

#endif /* TORUS_GENL_H */
