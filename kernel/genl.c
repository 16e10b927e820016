// SPDX-License-Identifier: GPL-2.0-only
/* The generic netlink family: nothing yet. */
#include "torus.h"

int torus_genl_init(void)
{
	return 0;
}

void torus_genl_exit(void)
{
}

void torus_genl_link_event(struct torus_dev *d, const struct tn_event *ev)
{
}

void torus_genl_park_event(struct torus_dev *d)
{
}

void torus_genl_mgmt(struct torus_dev *d, unsigned int port, const u8 *data, unsigned int len)
{
}

void torus_genl_overrun(struct torus_dev *d)
{
}
