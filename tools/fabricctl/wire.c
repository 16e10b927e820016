// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/veth.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/bridge.h>
#include <netlink/socket.h>
#include <sys/socket.h>

#include "wire.h"

/* Errno and text of the kernel's last error, since libnl translates errors and drops texts. */
static struct {
	int err;
	char text[192];
} refused;

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *nlh = (struct nlmsghdr *)((char *)e - NLMSG_HDRLEN);
	size_t head = NLMSG_ALIGN(sizeof(*e)), len = (size_t)nlmsg_datalen(nlh);
	struct nlattr *text = NULL;

	(void)from;
	(void)arg;
	if (!(nlh->nlmsg_flags & NLM_F_CAPPED))
		head += NLMSG_ALIGN(e->msg.nlmsg_len - NLMSG_HDRLEN);
	if (nlh->nlmsg_flags & NLM_F_ACK_TLVS && len > head)
		text = nla_find((struct nlattr *)((char *)e + head), (int)(len - head),
				NLMSGERR_ATTR_MSG);
	refused.err = e->error;
	snprintf(refused.text, sizeof(refused.text), "%s%s%s",
		 text ? nla_get_string(text) : "", text ? ": " : "", strerror(-e->error));
	return NL_STOP;
}

/* Converts an error of libnl itself, NLE_*, to a negative errno. */
static int of_libnl(int err)
{
	switch (err < 0 ? -err : err) {
	case NLE_PERM:
	case NLE_NOACCESS:
		return -EPERM;
	case NLE_NODEV:
	case NLE_OBJ_NOTFOUND:
		return -ENODEV;
	case NLE_NOMEM:
		return -ENOMEM;
	case NLE_INVAL:
	case NLE_RANGE:
		return -EINVAL;
	case NLE_AGAIN:
		return -EAGAIN;
	}
	return -EIO;
}

static int to_errno(int nle)
{
	int err = refused.err ? refused.err : nle ? of_libnl(nle) : 0;

	if (err && !refused.err)
		snprintf(refused.text, sizeof(refused.text), "%s", strerror(-err));
	refused.err = 0;
	return err;
}

const char *wire_error(void)
{
	return refused.text;
}

struct nl_sock *wire_open(void)
{
	struct nl_sock *sk = nl_socket_alloc();
	int on = 1;

	if (!sk || nl_connect(sk, NETLINK_ROUTE)) {
		nl_socket_free(sk);
		return NULL;
	}
	nl_socket_modify_err_cb(sk, NL_CB_CUSTOM, on_error, NULL);
	setsockopt(nl_socket_get_fd(sk), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	return sk;
}

int wire_send(struct nl_sock *sk, struct nl_msg *msg)
{
	return to_errno(nl_send_sync(sk, msg));
}

int wire_ask(struct nl_sock *sk, struct nl_msg *msg, int (*answer)(struct nl_msg *msg, void *arg),
	     void *arg)
{
	int err;

	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, answer, arg);
	err = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	if (err >= 0)
		err = nl_recvmsgs_default(sk);
	if (err >= 0 && !refused.err)
		err = nl_wait_for_ack(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_DEFAULT, NULL, NULL);
	return to_errno(err < 0 ? err : 0);
}

void wire_close(struct nl_sock *sk)
{
	nl_socket_free(sk);
}

static int put_end(struct nl_msg *msg, const struct wire_end *end)
{
	int err = nla_put_string(msg, IFLA_IFNAME, end->name);

	err = err ? err : nla_put_u32(msg, IFLA_NET_NS_FD, (uint32_t)end->netns);
	err = err ? err : nla_put_u32(msg, IFLA_TXQLEN, WIRE_QUEUE);
	return err ? err : nla_put_u32(msg, IFLA_MTU, WIRE_MTU);
}

/*
 * Makes both ends of a veth pair by one message, in their namespaces. Only the first can be made
 * up: the kernel opens the second before they are joined.
 */
static int add_veth(struct nl_sock *sk, const struct wire_end *a, const struct wire_end *b,
		    int master)
{
	struct ifinfomsg up = { .ifi_flags = IFF_UP, .ifi_change = IFF_UP, .ifi_index = a->index };
	struct ifinfomsg plain = { .ifi_index = b->index };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL);
	struct nlattr *info, *data, *peer;

	if (!msg)
		return -ENOMEM;
	if (nlmsg_append(msg, &up, sizeof(up), NLMSG_ALIGNTO) || put_end(msg, a) ||
	    (master && nla_put_u32(msg, IFLA_MASTER, (uint32_t)master)) ||
	    !(info = nla_nest_start(msg, IFLA_LINKINFO)) ||
	    nla_put_string(msg, IFLA_INFO_KIND, "veth") ||
	    !(data = nla_nest_start(msg, IFLA_INFO_DATA)) ||
	    !(peer = nla_nest_start(msg, VETH_INFO_PEER)) ||
	    nlmsg_append(msg, &plain, sizeof(plain), NLMSG_ALIGNTO) || put_end(msg, b)) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	nla_nest_end(msg, peer);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return wire_send(sk, msg);
}

int wire_cable(struct nl_sock *sk, const struct wire_end *a, const struct wire_end *b)
{
	return add_veth(sk, a, b, 0);
}

int wire_plug(struct nl_sock *sk, int bridge, const struct wire_end *port,
	      const struct wire_end *end)
{
	return add_veth(sk, port, end, bridge);
}

static int index_of(struct nl_sock *sk, const char *name)
{
	struct rtnl_link *link;
	int index, err = rtnl_link_get_kernel(sk, 0, name, &link);

	if (err)
		return to_errno(err);
	index = rtnl_link_get_ifindex(link);
	rtnl_link_put(link);
	return index;
}

int wire_bridge(struct nl_sock *sk, const char *name)
{
	struct rtnl_link *bridge = rtnl_link_bridge_alloc();
	int err;

	if (!bridge)
		return -ENOMEM;
	rtnl_link_set_name(bridge, name);
	rtnl_link_set_flags(bridge, IFF_UP);
	err = to_errno(rtnl_link_add(sk, bridge, NLM_F_CREATE | NLM_F_EXCL));
	rtnl_link_put(bridge);
	return err ? err : index_of(sk, name);
}

int wire_address(struct nl_sock *sk, const char *dev, struct in_addr a, unsigned int bits)
{
	struct rtnl_addr *addr = rtnl_addr_alloc();
	struct nl_addr *local = nl_addr_build(AF_INET, &a, sizeof(a));
	int err = -ENOMEM, index = index_of(sk, dev);

	if (addr && local && index > 0) {
		nl_addr_set_prefixlen(local, (int)bits);
		rtnl_addr_set_ifindex(addr, index);
		err = rtnl_addr_set_local(addr, local);
		err = to_errno(err ? err : rtnl_addr_add(sk, addr, NLM_F_EXCL));
	}
	nl_addr_put(local);
	rtnl_addr_put(addr);
	return index < 0 ? index : err;
}

static int link_change(struct nl_sock *sk, const char *dev, unsigned int flags, uint32_t mtu)
{
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);
	struct ifinfomsg ifi = { .ifi_flags = flags, .ifi_change = mtu ? 0 : IFF_UP };

	if (!msg)
		return -ENOMEM;
	if (nlmsg_append(msg, &ifi, sizeof(ifi), NLMSG_ALIGNTO) ||
	    nla_put_string(msg, IFLA_IFNAME, dev) ||
	    (mtu && nla_put_u32(msg, IFLA_MTU, mtu))) {
		nlmsg_free(msg);
		return -ENOMEM;
	}
	return wire_send(sk, msg);
}

int wire_set_mtu(struct nl_sock *sk, const char *dev, uint32_t mtu)
{
	return link_change(sk, dev, 0, mtu);
}

int wire_set_up(struct nl_sock *sk, const char *dev, bool up)
{
	return link_change(sk, dev, up ? IFF_UP : 0, 0);
}

static int sysctl_set(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;	/* the kernel has no IPv6 */
	n = write(fd, value, strlen(value));
	close(fd);
	return n < 0 ? -errno : 0;
}

int wire_quiet(void)
{
	int err = sysctl_set("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");

	err = err ? err : sysctl_set("/proc/sys/net/ipv6/conf/default/accept_ra", "0");
	return err ? err : sysctl_set("/proc/sys/net/ipv6/conf/default/router_solicitations",
				      "0");
}
