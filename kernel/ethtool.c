// SPDX-License-Identifier: GPL-2.0-only
/*
 * What ethtool asks: -i, link, and -S: the counters of the NIC and of each port,
 * under the names they have everywhere else. And -c: how long small messages of the
 * host wait for company.
 */
#include <linux/ethtool.h>

#include "torus.h"

#define X(id, name, unit, help) #name,
static const char nic_names[][ETH_GSTRING_LEN] = { TORUS_NODE_COUNTER_LIST(X) "tx_waited" };
static const char *const port_names[] = { TORUS_PORT_COUNTER_LIST(X) "rx_queue_drops" };
#undef X

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
	return (int)(ARRAY_SIZE(nic_names) + d->nports * ARRAY_SIZE(port_names));
}

static void get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	struct torus_dev *d = netdev_priv(dev);
	unsigned int p, i;

	if (sset != ETH_SS_STATS)
		return;
	memcpy(data, nic_names, sizeof(nic_names));
	data += sizeof(nic_names);
	for (p = 0; p < d->nports; p++) {
		for (i = 0; i < ARRAY_SIZE(port_names); i++)
			ethtool_sprintf(&data, "port%u_%s", p, port_names[i]);
	}
}

static void get_ethtool_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct torus_dev *d = netdev_priv(dev);
	u64 now = torus_now();
	unsigned int p;

	torus_dev_lock(d);
	memcpy(data, tn_nic_counters(d->nic), TORUS_NC_COUNT * sizeof(*data));
	data += TORUS_NC_COUNT;
	*data++ = READ_ONCE(d->tx.waited);
	for (p = 0; p < d->nports; p++) {
		memcpy(data, tn_nic_port_counters(d->nic, p, now), TORUS_PC_COUNT * sizeof(*data));
		data += TORUS_PC_COUNT;
		*data++ = (u64)atomic_long_read(&d->port[p].rx_dropped);
	}
	torus_dev_unlock_read(d);
}

static int get_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct torus_dev *d = netdev_priv(dev);

	c->tx_coalesce_usecs = d->tx.usecs;
	c->tx_max_coalesced_frames = d->tx.frames;
	return 0;
}

static int set_coalesce(struct net_device *dev, struct ethtool_coalesce *c,
			struct kernel_ethtool_coalesce *kernel, struct netlink_ext_ack *extack)
{
	struct torus_dev *d = netdev_priv(dev);

	if (c->tx_coalesce_usecs > TORUS_TX_USECS_MAX) {
		NL_SET_ERR_MSG(extack, "tx-usecs must be 0 to 10000");
		return -ERANGE;
	}
	if (!c->tx_max_coalesced_frames || c->tx_max_coalesced_frames > TORUS_TXQ_MAX) {
		NL_SET_ERR_MSG(extack, "tx-frames must be 1 to 128");
		return -ERANGE;
	}
	WRITE_ONCE(d->tx.usecs, c->tx_coalesce_usecs);
	WRITE_ONCE(d->tx.frames, c->tx_max_coalesced_frames);
	return 0;
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
