// SPDX-License-Identifier: GPL-2.0-only
/* The module: what it registers, and in which order that goes away again. */
#include <linux/module.h>
#include <net/rtnetlink.h>

#include "torus.h"

static int __init torus_init(void)
{
	int err;

	err = torus_pkt_init();
	if (err)
		return err;
	err = torus_port_register();
	if (err)
		goto err_pkt;
	err = torus_genl_init();
	if (err)
		goto err_port;
	err = rtnl_link_register(&torus_link_ops);
	if (err)
		goto err_genl;
	torus_kunit_init();
	return 0;

err_genl:
	torus_genl_exit();
err_port:
	torus_port_unregister();
err_pkt:
	torus_pkt_exit();
	return err;
}

/* The family first: no command may find a device on its way out of the module. */
static void __exit torus_exit(void)
{
	torus_kunit_exit();
	torus_genl_exit();
	rtnl_link_unregister(&torus_link_ops);
	torus_port_unregister();
	/* Timers and frames on their way run this module's code to their end. */
	rcu_barrier();
	torus_pkt_exit();
}

module_init(torus_init);
module_exit(torus_exit);

MODULE_DESCRIPTION("Torus NIC over Ethernet devices");
MODULE_LICENSE("GPL");
MODULE_VERSION(TORUS_VERSION);
MODULE_ALIAS_RTNL_LINK(TORUS_DRIVER);
MODULE_ALIAS("net-pf-16-proto-16-family-" TORUS_GENL_NAME);
