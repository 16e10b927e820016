// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/lower.h"
#include "daemon/module.h"

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

int lower_blink(const char *name)
{
	struct ethtool_value cmd = { .cmd = ETHTOOL_PHYS_ID, .data = 1 };

	return call_ethtool(name, &cmd);
}

/* --- the plug ---------------------------------------------------------------------- */

/**
 * struct reader - reads the memory of the plug in interface @name
 * @to, @len: buffer for the next answer; @got: bytes in it
 */
struct reader {
	struct nl_sock *sk;
	int family;
	const char *name;
	uint8_t *to;
	size_t len, got;
};

static int on_memory(struct nl_msg *msg, void *arg)
{
	struct nlattr *attr[ETHTOOL_A_MODULE_EEPROM_MAX + 1], *data;
	struct reader *r = arg;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, attr, ETHTOOL_A_MODULE_EEPROM_MAX, NULL))
		return NL_SKIP;
	data = attr[ETHTOOL_A_MODULE_EEPROM_DATA];
	if (data && (size_t)nla_len(data) <= r->len) {
		r->got = (size_t)nla_len(data);
		memcpy(r->to, nla_data(data), r->got);
	}
	return NL_OK;
}

static struct nl_msg *memory_request(const struct reader *r, uint8_t i2c, uint8_t page,
				     uint8_t offset, uint8_t len)
{
	struct nl_msg *msg = nlmsg_alloc();
	struct nlattr *head;

	if (!msg)
		return NULL;
	if (!genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, r->family, 0, 0,
			 ETHTOOL_MSG_MODULE_EEPROM_GET, ETHTOOL_GENL_VERSION))
		goto err;
	head = nla_nest_start(msg, ETHTOOL_A_MODULE_EEPROM_HEADER);
	if (!head || nla_put_string(msg, ETHTOOL_A_HEADER_DEV_NAME, r->name))
		goto err;
	nla_nest_end(msg, head);
	if (!nla_put_u32(msg, ETHTOOL_A_MODULE_EEPROM_OFFSET, offset) &&
	    !nla_put_u32(msg, ETHTOOL_A_MODULE_EEPROM_LENGTH, len) &&
	    !nla_put_u8(msg, ETHTOOL_A_MODULE_EEPROM_PAGE, page) &&
	    !nla_put_u8(msg, ETHTOOL_A_MODULE_EEPROM_BANK, 0) &&
	    !nla_put_u8(msg, ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, i2c))
		return msg;
err:
	nlmsg_free(msg);
	return NULL;
}

static int errno_of(int nle)
{
	switch (nle < 0 ? -nle : nle) {
	case 0:
		return 0;
	case NLE_OPNOTSUPP:
		return -EOPNOTSUPP;
	case NLE_NODEV:
	case NLE_OBJ_NOTFOUND:
		return -ENODEV;
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_NOMEM:
		return -ENOMEM;
	default:
		return -EIO;
	}
}

static int read_memory(void *arg, uint8_t i2c, uint8_t page, uint8_t offset, uint8_t len,
		       uint8_t *to)
{
	struct reader *r = arg;
	struct nl_msg *msg = memory_request(r, i2c, page, offset, len);
	int err;

	if (!msg)
		return -ENOMEM;
	r->to = to;
	r->len = len;
	r->got = 0;
	err = nl_send_auto(r->sk, msg);
	nlmsg_free(msg);
	if (err >= 0)
		err = nl_recvmsgs_default(r->sk);	/* the next message has the answer */
	if (err >= 0)
		err = nl_wait_for_ack(r->sk);
	if (err < 0)
		return errno_of(err);
	return r->got == len ? 0 : -EIO;
}

int lower_module(const char *name, struct module *out)
{
	struct reader r = { .sk = nl_socket_alloc(), .name = name };
	int err;

	if (!r.sk)
		return -ENOMEM;
	err = errno_of(genl_connect(r.sk));
	if (!err) {
		r.family = genl_ctrl_resolve(r.sk, ETHTOOL_GENL_NAME);
		err = r.family < 0 ? -EOPNOTSUPP : 0;
	}
	if (!err) {
		nl_socket_modify_cb(r.sk, NL_CB_VALID, NL_CB_CUSTOM, on_memory, &r);
		err = module_read(read_memory, &r, out);
	}
	nl_socket_free(r.sk);
	return err;
}
