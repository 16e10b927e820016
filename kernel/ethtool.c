// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ethtool operations: -i, link state, -S (counters of the NIC and of each port, with the same
 * names as elsewhere, without those that ip -s link shows), and -c (interrupt moderation: how long
 * small messages of the host may wait to be batched).
 */
#include <linux/ethtool.h>

#include "torus.h"

#define X(id, name, unit, help) #name,
static const char *const nic_names[] = { TORUS_NODE_COUNTER_LIST(X) "tx_waited" };
static const char *const port_names[] = { TORUS_PORT_COUNTER_LIST(X) "rx_queue_drops" };
#undef X

static_assert(ARRAY_SIZE(nic_names) == TORUS_NC_COUNT + 1);
static_assert(ARRAY_SIZE(port_names) == TORUS_PC_COUNT + 1);

/* Node counters that all netdevs have (torus_ndo_get_stats64()): -S must not repeat them. */
#define STANDARD	(BIT_ULL(TORUS_NC_HOST_MESSAGES_TX) | BIT_ULL(TORUS_NC_HOST_BYTES_TX) | \
			 BIT_ULL(TORUS_NC_HOST_MESSAGES_RX) | BIT_ULL(TORUS_NC_HOST_BYTES_RX) | \
			 BIT_ULL(TORUS_NC_HOST_DROPS) | BIT_ULL(TORUS_NC_HOST_TX_DROPS) | \
			 BIT_ULL(TORUS_NC_HOST_RX_DROPS))
#define NIC_STATS	(ARRAY_SIZE(nic_names) - HWEIGHT64(STANDARD))

static_assert(TORUS_NC_COUNT <= 64);

static bool is_standard(unsigned int counter)
{
	return counter < TORUS_NC_COUNT && STANDARD >> counter & 1;
}

static void get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, TORUS_DRIVER, sizeof(info->driver));
	strscpy(info->version, TORUS_VERSION, sizeof(info->version));
	strscpy(info->bus_info, "virtual", sizeof(info->bus_info));
}

static int get_sset_count(struct net_device *dev, int sset)
{
	struct torus_dev *d = netdev_priv(dev);

	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return (int)(NIC_STATS + d->hw->nports * ARRAY_SIZE(port_names));
}

static void get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	struct torus_dev *d = netdev_priv(dev);
	unsigned int p, i;

	if (sset != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(nic_names); i++) {
		if (!is_standard(i))
			ethtool_sprintf(&data, "%s", nic_names[i]);
	}
	for (p = 0; p < d->hw->nports; p++) {
		for (i = 0; i < ARRAY_SIZE(port_names); i++)
			ethtool_sprintf(&data, "port%u_%s", p, port_names[i]);
	}
}

/* Writes ARRAY_SIZE(port_names) counters of a port, or zeroes if the NIC cannot read the port. */
static void port_stats(struct torus_dev *d, unsigned int port, u64 *data)
{
	struct torus_link *link = &d->hw->reply.link;

	BUILD_BUG_ON(sizeof(link->counter) != TORUS_PC_COUNT * sizeof(*data));
	lockdep_assert_held(&d->ctl);
	if (d->hw->ops->link_get(d->hw, port, link))
		memset(link, 0, sizeof(*link));
	memcpy(data, link->counter, sizeof(link->counter));
	data[TORUS_PC_COUNT] = d->ops->rx_drops(d, port);
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct torus_dev *d = netdev_priv(dev);
	u64 counter[TORUS_NC_COUNT];
	unsigned int i;

	d->ops->counters(d, counter);
	for (i = 0; i < TORUS_NC_COUNT; i++) {
		if (!is_standard(i))
			*data++ = counter[i];
	}
	*data++ = d->ops->tx_waited(d);
	torus_dev_lock(d);
	for (unsigned int p = 0; p < d->hw->nports; p++)
		port_stats(d, p, data + p * ARRAY_SIZE(port_names));
	torus_dev_unlock(d);
}

static int get_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct torus_dev *d = netdev_priv(dev);

	d->ops->get_coalesce(d, c);
	return 0;
}

static int set_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct torus_dev *d = netdev_priv(dev);

	return d->ops->set_coalesce(d, c, extack);
}

const struct ethtool_ops torus_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_TX_USECS | ETHTOOL_COALESCE_TX_MAX_FRAMES,
	.get_drvinfo = get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_ts_info = ethtool_op_get_ts_info,
	.get_coalesce = get_coalesce,
	.set_coalesce = set_coalesce,
	.get_sset_count = get_sset_count,
	.get_strings = get_strings,
	.get_ethtool_stats = get_ethtool_stats,
};
