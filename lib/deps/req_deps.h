/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * All that kernel/req needs from its environment, for user space: what the core needs, the layout
 * of netlink attributes, and vsnprintf().
 */
#ifndef REQ_DEPS_H
#define REQ_DEPS_H

#include <linux/netlink.h>
#include <stdarg.h>
#include <stdio.h>

#include "tn_deps.h"

#endif /* REQ_DEPS_H */
