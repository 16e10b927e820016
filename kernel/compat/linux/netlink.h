/* SPDX-License-Identifier: GPL-2.0-only */
/* Formatted texts in extended acks, for kernels before 6.3. */
#include_next <linux/netlink.h>

#ifndef TORUS_COMPAT_NETLINK_H
#define TORUS_COMPAT_NETLINK_H

#ifndef NL_SET_ERR_MSG_ATTR_FMT

__printf(2, 3)
void torus_compat_extack(struct netlink_ext_ack *extack, const char *fmt, ...);

#undef NL_SET_ERR_MSG_FMT
#define NL_SET_ERR_MSG_FMT(extack, fmt, args...) \
	torus_compat_extack((extack), fmt, ##args)

#define NL_SET_ERR_MSG_ATTR_FMT(extack, attr, fmt, args...) do {	\
	NL_SET_BAD_ATTR((extack), (attr));				\
	torus_compat_extack((extack), fmt, ##args);			\
} while (0)

#endif

#endif /* TORUS_COMPAT_NETLINK_H */
