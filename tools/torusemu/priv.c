// SPDX-License-Identifier: GPL-2.0-only
#include "priv.h"

#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int priv_drop(bool visits)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct set[_LINUX_CAPABILITY_U32S_3] = { 0 };

	set[0].permitted = 1u << CAP_NET_ADMIN | 1u << CAP_NET_RAW;
	if (visits)
		set[0].permitted |= 1u << CAP_SYS_ADMIN;
	set[0].effective = set[0].permitted;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &head, set) < 0)
		return -errno;
	return 0;
}
