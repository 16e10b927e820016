// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/lower.h"

/* Asks the driver of interface @name by an ethtool command. Return: 0 or a negative errno. */
static int call_ethtool(const char *name, void *cmd)
{
	struct ifreq ifr = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = cmd;
	err = ioctl(fd, SIOCETHTOOL, &ifr) < 0 ? -errno : 0;
	close(fd);
	return err;
}

uint32_t lower_speed(const char *name)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	uint32_t mbps;

	if (!*name || call_ethtool(name, &cmd))
		return 0;
	mbps = ethtool_cmd_speed(&cmd);
	return mbps == (uint32_t)SPEED_UNKNOWN ? 0 : mbps;
}
