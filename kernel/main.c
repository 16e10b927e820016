// SPDX-License-Identifier: GPL-2.0-only
/* The module: registers the netlink family, /dev/torus and the rtnl link type. */
#include <linux/module.h>
#include <net/genetlink.h>
#include <net/rtnetlink.h>

#include "torus.h"

static int __init torus_init(void)
{
	int err;

	err = torus_dev_init();
	if (err)
		return err;
	err = torus_genl_init();
	if (err)
		goto err_dev;
	err = torus_soft_register();
	if (err)
		goto err_genl;
	err = torus_rma_init();		/* last: a file may be open as soon as it is there */
	if (err)
		goto err_soft;
	torus_kunit_init();
	return 0;

err_soft:
	torus_soft_unregister();
err_genl:
	torus_genl_exit();
err_dev:
	torus_dev_exit();
	return err;
}

/* Unregisters the family first, so that no command finds a device while it is being removed. */
static void __exit torus_exit(void)
{
	torus_kunit_exit();
	torus_genl_exit();
	torus_soft_unregister();
	torus_rma_exit();
	torus_dev_exit();
}

module_init(torus_init);
module_exit(torus_exit);

MODULE_DESCRIPTION("Torus NIC over Ethernet devices");
MODULE_LICENSE("GPL");
MODULE_VERSION(TORUS_VERSION);
MODULE_ALIAS_RTNL_LINK(TORUS_DRIVER);
MODULE_ALIAS_GENL_FAMILY(TORUS_GENL_NAME);
