// SPDX-License-Identifier: GPL-2.0-only
/* A driver that does nothing: the operations of the NIC, and of a netdev; see null.h. */
#include <linux/ethtool.h>

#include "null.h"

static struct null_nic *null_of(struct torus_hw *hw)
{
	return container_of(hw, struct null_nic, hw);
}

/*
 * The beginning of all operations: counts the call of @op, a NULL_OP(). Return: the error that the
 * test wants from @op, or 0.
 */
static int enter(struct torus_hw *hw, size_t op)
{
	struct null_nic *n = null_of(hw);

	atomic_inc(&n->seen->asked);
	if (atomic_inc_return(&n->seen->inside) > 1)
		atomic_inc(&n->seen->met);
	if (n->inside)
		n->inside(n->inside_data);
	atomic_dec(&n->seen->inside);
	if (op != n->fails)
		return 0;
	if (n->passes) {
		n->passes--;
		return 0;
	}
	return n->error;
}

/* --- for commands -------------------------------------------------------------------- */

static int null_place(struct torus_hw *hw, const struct torus_shape *shape,
		      const struct torus_coords *at)
{
	return enter(hw, NULL_OP(place));
}

static void null_device_get(struct torus_hw *hw, struct torus_device *out)
{
	enter(hw, NULL_OP(device_get));
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
		out->counter[i] = NULL_COUNTER + i;
}

static int null_link_get(struct torus_hw *hw, unsigned int port, struct torus_link *out)
{
	*out = (struct torus_link) {
		.port = (u8)port, .state = TORUS_LINK_UP, .session = NULL_SESSION + port,
	};
	out->counter[TORUS_PC_RX_FRAMES] = port + 1;
	return enter(hw, NULL_OP(link_get));
}

static int null_link_set(struct torus_hw *hw, unsigned int port,
			 const struct torus_link_order *order)
{
	return enter(hw, NULL_OP(link_set));
}

static int null_link_attach(struct torus_hw *hw, unsigned int port, const char *lower,
			    struct torus_refusal *why)
{
	return enter(hw, NULL_OP(link_attach));
}

static int null_eye_get(struct torus_hw *hw, unsigned int port, unsigned int lane,
			struct torus_eye *out)
{
	return enter(hw, NULL_OP(eye_get));
}

static bool null_rows(struct torus_hw *hw, u32 *n, u64 *version)
{
	bool fails = enter(hw, NULL_OP(rows));

	*n = NULL_ROWS;
	*version = null_of(hw)->version;
	return hw->placed && !fails;
}

static int null_rows_begin(struct torus_hw *hw, u64 version)
{
	return enter(hw, NULL_OP(rows_begin));
}

static int null_rows_put(struct torus_hw *hw, u64 version, u32 first, const void *rows, u32 n)
{
	return enter(hw, NULL_OP(rows_put));
}

static int null_rows_commit(struct torus_hw *hw, u64 version)
{
	int err = enter(hw, NULL_OP(rows_commit));

	if (!err)
		null_of(hw)->version = version;
	return err;
}

static int null_rows_get(struct torus_hw *hw, u32 first, u32 n, void *to)
{
	memset(to, 0, n * sizeof(u64));
	return enter(hw, NULL_OP(rows_get));
}

static int null_hold(struct torus_hw *hw, const u32 *nodes, u32 n)
{
	return enter(hw, NULL_OP(hold));
}

static int null_release(struct torus_hw *hw, u64 version, bool give_up)
{
	return enter(hw, NULL_OP(release));
}

static int null_flow_get(struct torus_hw *hw, struct torus_flow *out)
{
	*out = (struct torus_flow) { .version = null_of(hw)->version, .epoch = hw->epoch };
	return enter(hw, NULL_OP(flow_get));
}

static int null_park_get(struct torus_hw *hw, struct torus_park *out)
{
	*out = (struct torus_park) { .flow = { .version = null_of(hw)->version } };
	return enter(hw, NULL_OP(park_get));
}

static int null_park_flows_get(struct torus_hw *hw, struct torus_park_flows *out)
{
	*out = (struct torus_park_flows) { .more = 0 };
	return enter(hw, NULL_OP(park_flows_get));
}

static int null_park_resolve(struct torus_hw *hw, unsigned int port, u32 session, u16 seq,
			     bool dead)
{
	return enter(hw, NULL_OP(park_resolve));
}

static int null_park_replay(struct torus_hw *hw, u64 version, u32 ports)
{
	return enter(hw, NULL_OP(park_replay));
}

static int null_mgmt_send(struct torus_hw *hw, unsigned int port, const u8 *data, u32 len)
{
	return enter(hw, NULL_OP(mgmt_send));
}

static const struct torus_hw_ops null_hw_ops = {
	.place = null_place,
	.device_get = null_device_get,
	.link_get = null_link_get,
	.link_set = null_link_set,
	.link_attach = null_link_attach,
	.eye_get = null_eye_get,
	.rows = null_rows,
	.rows_begin = null_rows_begin,
	.rows_put = null_rows_put,
	.rows_commit = null_rows_commit,
	.rows_get = null_rows_get,
	.hold = null_hold,
	.release = null_release,
	.flow_get = null_flow_get,
	.park_get = null_park_get,
	.park_flows_get = null_park_flows_get,
	.park_resolve = null_park_resolve,
	.park_replay = null_park_replay,
	.mgmt_send = null_mgmt_send,
};

/* --- for the netdev -------------------------------------------------------------------- */

static struct null_seen *seen_of(struct torus_dev *d)
{
	return container_of(d, struct null_nic, dev)->seen;
}

static int null_init(struct torus_dev *d)
{
	struct null_nic *n = container_of(d, struct null_nic, dev);

	return n->fails == ~0ul ? n->error : 0;
}

/* Takes the NIC down. A command that was still under way would use what is freed here. */
static void null_uninit(struct torus_dev *d)
{
	atomic_add(atomic_read(&seen_of(d)->inside), &seen_of(d)->met);
}

static void null_free(struct torus_dev *d)
{
	atomic_add(atomic_read(&seen_of(d)->inside), &seen_of(d)->met);
	seen_of(d)->freed = true;
}

static void null_xmit(struct torus_dev *d, struct sk_buff *skb)
{
	atomic_inc(&seen_of(d)->sent);
	consume_skb(skb);
}

static u16 null_select(struct torus_dev *d, const u8 *ip, unsigned int n)
{
	return 0;
}

static void null_stop(struct torus_dev *d)
{
}

static void null_counters(struct torus_dev *d, u64 *to)
{
	for (unsigned int i = 0; i < TORUS_NC_COUNT; i++)
		to[i] = NULL_COUNTER + i;
}

static u64 null_tx_waited(struct torus_dev *d)
{
	return NULL_WAITED;
}

static u64 null_rx_drops(struct torus_dev *d, unsigned int port)
{
	return NULL_DROPS + port;
}

static void null_get_coalesce(struct torus_dev *d, struct ethtool_coalesce *c)
{
	c->tx_max_coalesced_frames = 1;
}

static int null_set_coalesce(struct torus_dev *d, const struct ethtool_coalesce *c,
			     struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "messages do not wait here");
	return -EOPNOTSUPP;
}

static const struct torus_net_ops null_net_ops = {
	.init = null_init,
	.uninit = null_uninit,
	.free = null_free,
	.xmit = null_xmit,
	.select = null_select,
	.stop = null_stop,
	.counters = null_counters,
	.tx_waited = null_tx_waited,
	.rx_drops = null_rx_drops,
	.get_coalesce = null_get_coalesce,
	.set_coalesce = null_set_coalesce,
};

static void null_setup(struct net_device *dev)
{
	struct null_nic *n = netdev_priv(dev);

	n->ops = null_hw_ops;
	n->hw = (struct torus_hw) {
		.ops = &n->ops, .driver = "null", .guid = 0x6e756c6c, .epoch = 3,
		.nports = NULL_PORTS, .name = "nobody", .rows_gen = 1,
	};
	n->dev.ops = &null_net_ops;
	n->dev.hw = &n->hw;
	torus_netdev_setup(dev);
}

struct null_nic *null_alloc(struct null_seen *seen)
{
	struct net_device *dev = alloc_netdev(sizeof(struct null_nic), "ktn%d", NET_NAME_ENUM,
					      null_setup);
	struct null_nic *n = dev ? netdev_priv(dev) : NULL;

	if (n)
		n->seen = seen;
	return n;
}
