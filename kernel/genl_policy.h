/* SPDX-License-Identifier: GPL-2.0-only */
/* Made by include/uapi/generate.py from torus.yaml: change that instead. */
#ifndef TORUS_GENL_POLICY_H
#define TORUS_GENL_POLICY_H

#include <net/genetlink.h>

#include "../include/uapi/torus.h"

extern const struct nla_policy torus_policies[TORUS_CMD_MAX + 1][TORUS_A_MAX + 1];

/* Flags of the commands: the capability that each one requires. */
enum {
	PERM_DEVICE_GET = 0,
	PERM_DEVICE_SET = GENL_UNS_ADMIN_PERM,
	PERM_LINK_GET = 0,
	PERM_LINK_SET = GENL_UNS_ADMIN_PERM,
	PERM_LINK_ATTACH = GENL_UNS_ADMIN_PERM,
	PERM_ROWS_BEGIN = GENL_UNS_ADMIN_PERM,
	PERM_ROWS_PUT = GENL_UNS_ADMIN_PERM,
	PERM_ROWS_COMMIT = GENL_UNS_ADMIN_PERM,
	PERM_ROWS_GET = 0,
	PERM_HOLD = GENL_UNS_ADMIN_PERM,
	PERM_RELEASE = GENL_UNS_ADMIN_PERM,
	PERM_FLOW_GET = 0,
	PERM_PARK_GET = 0,
	PERM_PARK_RESOLVE = GENL_UNS_ADMIN_PERM,
	PERM_PARK_REPLAY = GENL_UNS_ADMIN_PERM,
	PERM_MGMT_SEND = GENL_UNS_ADMIN_PERM,
	PERM_SUBSCRIBE = 0,
	PERM_EYE_GET = 0,
	PERM_PARK_FLOWS_GET = 0,
};

#endif /* TORUS_GENL_POLICY_H */
