/* SPDX-License-Identifier: GPL-2.0-only */
/* All that kernel/req needs from its environment, for the kernel; lib/deps: for user space. */
#ifndef REQ_DEPS_H
#define REQ_DEPS_H

#include <linux/netlink.h>

#include "tn_deps.h"

#endif /* REQ_DEPS_H */
