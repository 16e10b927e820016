// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps: of the devices of a namespace, and of the ports or rows of one device.
 *
 * A dump of rows is flagged NLM_F_DUMP_INTR if anything changed them since its last message
 * (torus_hw.rows_gen).
 */
#include "genl.h"

#define LINK_BYTES	2560	/* most bytes of the attributes of one port */
#define AT_ONCE		32	/* devices found by one walk over the netdevs of a namespace */

/*
 * Calls @fn once, before the first part of a dump. This is not done in genl_ops.start, because
 * Linux 6.1 does not send the extack of that function.
 */
static int begin_dump(struct netlink_callback *cb, int (*fn)(struct netlink_callback *cb))
{
	struct torus_dump *dump = torus_dump_of(cb);
	int err = dump->begun ? 0 : fn(cb);

	dump->begun = !err;
	return err;
}

static unsigned int cmd_of(const struct netlink_callback *cb)
{
	return ((struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd;
}

/*
 * Appends a message with the next part of @p. Return: 1, 0 if there is no part left, or -errno
 * (-EMSGSIZE if the skb is full).
 */
static int put_part(struct sk_buff *skb, struct netlink_callback *cb, struct torus_dev *d,
		    struct torus_parts *p)
{
	unsigned int cmd = cmd_of(cb);
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&torus_family, NLM_F_MULTI, (u8)cmd);
	int n;

	lockdep_assert_held(&d->ctl);
	if (!hdr)
		return -EMSGSIZE;
	n = torus_req_part(d->hw, cmd, p, skb_tail_pointer(skb), (size_t)skb_tailroom(skb));
	if (n <= 0) {
		genlmsg_cancel(skb, hdr);
		return n;
	}
	if (cmd != TORUS_CMD_LINK_GET)
		genl_dump_check_consistent(cb, hdr);
	skb_put(skb, (unsigned int)n);
	genlmsg_end(skb, hdr);
	return 1;
}

/* --- devices ----------------------------------------------------------------------- */

static int begin_devices(struct netlink_callback *cb)
{
	struct nlattr **attrs = torus_dump_attrs(cb);
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	/* All devices, or only the one that the request names. */
	if (!attrs[TORUS_A_IFINDEX] && !attrs[TORUS_A_NAME])
		return torus_dump_check(cb, TORUS_CMD_DEVICE_GET, NULL, NULL);
	err = torus_dump_check(cb, TORUS_CMD_DEVICE_GET, &d, &t);
	if (err)
		return err;
	torus_dump_of(cb)->ifindex = d->netdev->ifindex - 1;
	torus_dump_of(cb)->last = d->netdev->ifindex;
	torus_dev_put(d, &t);
	return 0;
}

/* Appends the device @ifindex. Return: as put_part(); 1 also if it was deleted meanwhile. */
static int put_one_device(struct sk_buff *skb, struct netlink_callback *cb, int ifindex)
{
	struct torus_parts one = { .end = 1 };
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	d = torus_dev_get_by_index(sock_net(cb->skb->sk), ifindex, &t);
	if (!d)
		return 1;
	torus_dev_lock_sender(d);
	err = put_part(skb, cb, d, &one);
	torus_dev_unlock(d);
	torus_dev_put(d, &t);
	return err;
}

/*
 * Appends those of the found devices that fit and are in the dump. Return: as put_part(); 1 also if
 * there are none.
 */
static int put_devices(struct sk_buff *skb, struct netlink_callback *cb, const int *ifindex,
		       unsigned int n)
{
	struct torus_dump *dump = torus_dump_of(cb);
	unsigned int i;
	int err = 1;

	for (i = 0; i < n && err > 0; i++) {
		err = dump->last && ifindex[i] > dump->last ? 0 :
		      put_one_device(skb, cb, ifindex[i]);
		if (err > 0)
			dump->ifindex = ifindex[i];
	}
	return err;
}

int torus_device_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(cb->skb->sk);
	struct torus_dump *dump = torus_dump_of(cb);
	int ifindex[AT_ONCE];
	unsigned int n;
	int err;

	err = begin_dump(cb, begin_devices);
	if (err)
		return err;
	cb->seq = net->dev_base_seq;
	do {
		n = torus_dev_list(net, dump->ifindex, ifindex, AT_ONCE);
		err = put_devices(skb, cb, ifindex, n);
	} while (n == AT_ONCE && err > 0);
	return skb->len ?: min(err, 0);
}

/* --- ports and rows ------------------------------------------------------------------ */

int torus_link_dump_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = TORUS_MAX_PORTS * LINK_BYTES;
	return 0;
}

static int begin_parts(struct netlink_callback *cb)
{
	struct torus_dump *dump = torus_dump_of(cb);
	struct torus_req r = {
		.cmd = cmd_of(cb),
		.tb = (const struct nlattr *const *)torus_dump_attrs(cb),
	};
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	err = torus_dump_check(cb, r.cmd, &d, &t);
	if (err)
		return err;
	dump->ifindex = d->netdev->ifindex;
	torus_dev_lock_sender(d);
	err = torus_req_dump(d->hw, &r, &dump->parts);
	torus_dev_unlock(d);
	torus_dev_put(d, &t);
	return err ? torus_refused(cb->extack, &r.why, err) : 0;
}

/* Appends as many ports as fit, or one message with as many rows as fit. */
static int put_parts(struct sk_buff *skb, struct netlink_callback *cb, struct torus_dev *d)
{
	struct torus_parts *parts = &torus_dump_of(cb)->parts;
	int err;

	if (cmd_of(cb) == TORUS_CMD_ROWS_GET) {
		cb->seq = d->hw->rows_gen;
		return put_part(skb, cb, d, parts);
	}
	do
		err = put_part(skb, cb, d, parts);
	while (err > 0);
	return err;
}

int torus_parts_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	netdevice_tracker t;
	struct torus_dev *d;
	int err;

	err = begin_dump(cb, begin_parts);
	if (err)
		return err;
	d = torus_dev_get_by_index(sock_net(cb->skb->sk), torus_dump_of(cb)->ifindex, &t);
	if (!d)
		return -ENODEV;
	torus_dev_lock_sender(d);
	err = put_parts(skb, cb, d);
	torus_dev_unlock(d);
	torus_dev_put(d, &t);
	return err < 0 && !skb->len ? err : skb->len;
}
