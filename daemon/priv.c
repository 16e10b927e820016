// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "daemon/priv.h"

/* Drops all but CAP_NET_ADMIN from the bounding set. Without CAP_SETPCAP this does nothing. */
static void drop_bounds(void)
{
	for (int cap = 0; prctl(PR_CAPBSET_READ, cap) >= 0; cap++)
		if (cap != CAP_NET_ADMIN)
			prctl(PR_CAPBSET_DROP, cap);
}

int priv_drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct had[2], keep[2] = { { 0 } };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return -errno;
	if (syscall(SYS_capget, &head, had))
		return -errno;
	drop_bounds();
	keep[0].permitted = had[0].permitted & (1u << CAP_NET_ADMIN);
	keep[0].effective = keep[0].permitted;
	return syscall(SYS_capset, &head, keep) ? -errno : 0;
}
