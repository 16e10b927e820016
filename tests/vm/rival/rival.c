// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that owns the driver's kind of links, so that the driver cannot register it: shows
 * that the driver is refused then, and leaves nothing behind.
 */
#include <linux/module.h>
#include <net/rtnetlink.h>

static void rival_setup(struct net_device *dev)
{
}

static struct rtnl_link_ops rival_ops = {
	.kind = "torus",
	.setup = rival_setup,
};

static int __init rival_init(void)
{
	return rtnl_link_register(&rival_ops);
}

static void __exit rival_exit(void)
{
	rtnl_link_unregister(&rival_ops);
}

module_init(rival_init);
module_exit(rival_exit);
MODULE_DESCRIPTION("Owner of another driver's kind of links");
MODULE_LICENSE("GPL");
