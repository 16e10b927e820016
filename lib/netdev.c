// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <net/if.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "netdev.h"

/**
 * struct address - address of a node, in one family
 * @len: bytes of the address
 * @net: prefix of all nodes
 * @net_len: its length, bits
 */
struct address {
	uint8_t family;
	int len;
	uint8_t at[16];
	uint8_t net[16];
	unsigned int net_len;
};

static void address_of(const struct torus_plan *plan, const struct torus_shape *shape,
		       uint32_t node, uint8_t family, struct address *a)
{
	struct in_addr a4 = torus_plan_addr4(plan, shape, node);
	struct in6_addr a6 = torus_plan_addr6(plan, shape, node);
	bool v4 = family == AF_INET;

	*a = (struct address){ .family = family, .len = v4 ? 4 : 16,
			       .net_len = v4 ? plan->len4 : plan->len6 };
	memcpy(a->at, v4 ? (void *)&a4 : (void *)&a6, (size_t)a->len);
	memcpy(a->net, v4 ? plan->net4 : plan->net6, (size_t)a->len);
}

static struct nl_msg *new_netdev_request(int type, int flags, void *head, size_t len)
{
	struct nl_msg *msg = nlmsg_alloc_simple(type, flags);

	if (msg && !nlmsg_append(msg, head, len, NLMSG_ALIGNTO))
		return msg;
	nlmsg_free(msg);
	return NULL;
}

/* Sends @msg unless it could not be built (@bad). Return: 0 or a libnl error. */
static int send_netdev(struct nl_sock *sk, struct nl_msg *msg, bool bad)
{
	if (msg && !bad)
		return nl_send_sync(sk, msg);
	nlmsg_free(msg);
	return -NLE_NOMEM;
}

/* Disables the link-local address, since no node answers its multicasts; before the link is up. */
static int set_no_link_local(struct nl_sock *sk, uint32_t ifindex)
{
	struct ifinfomsg ifi = { .ifi_index = (int)ifindex };
	struct nl_msg *msg = new_netdev_request(RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	struct nlattr *spec = msg ? nla_nest_start(msg, IFLA_AF_SPEC) : NULL;
	struct nlattr *inet6 = spec ? nla_nest_start(msg, AF_INET6) : NULL;
	bool bad = !inet6 || nla_put_u8(msg, IFLA_INET6_ADDR_GEN_MODE, IN6_ADDR_GEN_MODE_NONE);

	if (!bad) {
		nla_nest_end(msg, inet6);
		nla_nest_end(msg, spec);
	}
	return send_netdev(sk, msg, bad);
}

static int set_netdev_up(struct nl_sock *sk, uint32_t ifindex, uint32_t mtu)
{
	struct ifinfomsg ifi = {
		.ifi_index = (int)ifindex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP,
	};
	struct nl_msg *msg = new_netdev_request(RTM_NEWLINK, 0, &ifi, sizeof(ifi));

	return send_netdev(sk, msg, !msg || (mtu && nla_put_u32(msg, IFLA_MTU, mtu)));
}

/*
 * Adds or deletes an address. An address that already exists is not replaced, because replacing an
 * IPv6 address deletes its local route (seen on Linux 6.1).
 */
static int address_change(struct nl_sock *sk, uint32_t ifindex, const struct address *a,
			  bool add)
{
	struct ifaddrmsg ifa = {
		.ifa_family = a->family, .ifa_prefixlen = (uint8_t)(8 * a->len),
		.ifa_flags = IFA_F_NODAD, .ifa_index = ifindex,
	};
	struct nl_msg *msg = new_netdev_request(add ? RTM_NEWADDR : RTM_DELADDR,
						add ? NLM_F_CREATE | NLM_F_EXCL : 0, &ifa,
						sizeof(ifa));
	int err = send_netdev(sk, msg, !msg || nla_put(msg, IFA_LOCAL, a->len, a->at));

	return err == -NLE_EXIST || (!add && err == -NLE_NOADDR) ? 0 : err;
}

/* Adds the route to all nodes, or deletes that of a former prefix. */
static int route_change(struct nl_sock *sk, uint32_t ifindex, const struct address *a, bool add)
{
	struct rtmsg rtm = {
		.rtm_family = a->family, .rtm_dst_len = (uint8_t)a->net_len,
		.rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg = new_netdev_request(add ? RTM_NEWROUTE : RTM_DELROUTE,
						add ? NLM_F_CREATE | NLM_F_REPLACE : 0, &rtm,
						sizeof(rtm));

	return send_netdev(sk, msg, !msg || nla_put(msg, RTA_DST, a->len, a->net) ||
			   (add && nla_put(msg, RTA_PREFSRC, a->len, a->at)) ||
			   nla_put_u32(msg, RTA_OIF, ifindex));
}

/**
 * struct foreign - a search for a route of another interface
 * @a: the address whose net is looked for
 * @ifindex: the own interface
 * @name: of the other one; "": none is found yet
 */
struct foreign {
	const struct address *a;
	uint32_t ifindex;
	char name[IF_NAMESIZE];
};

static int on_route(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct rtmsg *rtm = nlmsg_data(head);
	struct foreign *f = arg;
	struct nlattr *tb[RTA_MAX + 1];
	uint32_t ifindex;

	if (head->nlmsg_type != RTM_NEWROUTE || nlmsg_parse(head, sizeof(*rtm), tb, RTA_MAX, NULL))
		return NL_SKIP;
	if (rtm->rtm_table != RT_TABLE_MAIN || rtm->rtm_family != f->a->family ||
	    rtm->rtm_dst_len != f->a->net_len || !tb[RTA_DST] ||
	    nla_len(tb[RTA_DST]) < f->a->len || memcmp(nla_data(tb[RTA_DST]), f->a->net, f->a->len))
		return NL_SKIP;
	ifindex = tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0;
	if (ifindex != f->ifindex && !if_indextoname(ifindex, f->name))
		strcpy(f->name, "none");
	return NL_OK;
}

/*
 * Looks for a route of the same net that another interface has: it may be the service network's,
 * and NLM_F_REPLACE would take its place. Return: 0 or a libnl error.
 */
static int find_foreign(struct nl_sock *sk, struct foreign *f)
{
	struct rtmsg rtm = { .rtm_family = f->a->family };
	int err;

	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_route, f);
	err = nl_send_simple(sk, RTM_GETROUTE, NLM_F_DUMP, &rtm, sizeof(rtm));
	if (err >= 0)
		err = nl_recvmsgs_default(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_DEFAULT, NULL, NULL);
	return err < 0 ? err : 0;
}

static bool is_same_net(const struct address *a, const struct address *b)
{
	return a->net_len == b->net_len && !memcmp(a->net, b->net, sizeof(a->net));
}

/* Writes the text of the error, if it is not one of libnl, to @text. */
static int set_family(struct nl_sock *sk, const struct lt_netdev *dev, uint8_t family, char *text,
		      size_t len)
{
	struct address a, old;
	struct foreign f = { .a = &a, .ifindex = dev->ifindex };
	char net[TORUS_TEXT_MAX];
	int err;

	address_of(dev->plan, dev->shape, dev->node, family, &a);
	if (dev->old) {
		address_of(dev->old_plan, dev->old, dev->old_node, family, &old);
		if (!is_same_net(&old, &a))
			route_change(sk, dev->ifindex, &old, false);
		if (memcmp(old.at, a.at, sizeof(a.at)))
			address_change(sk, dev->ifindex, &old, false);
	}
	err = find_foreign(sk, &f);
	if (!err && f.name[0]) {
		snprintf(text, len, "%s is already a route of interface %s",
			 family == AF_INET ? torus_plan_text4(dev->plan, net) :
					     torus_plan_text6(dev->plan, net), f.name);
		return -NLE_EXIST;
	}
	if (!err)
		err = address_change(sk, dev->ifindex, &a, true);
	return err ? err : route_change(sk, dev->ifindex, &a, true);
}

int lt_netdev_place(const struct lt_netdev *dev, char *text, size_t len)
{
	struct nl_sock *sk = nl_socket_alloc();
	const char *step = "rtnetlink";
	char why[128] = "";
	int status = -EIO, err = sk ? nl_connect(sk, NETLINK_ROUTE) : -NLE_NOMEM;

	if (!err) {
		step = "taking it up";
		set_no_link_local(sk, dev->ifindex); /* fails where there is no IPv6 */
		err = set_netdev_up(sk, dev->ifindex, dev->mtu);
	}
	if (!err) {
		step = "IPv4";
		err = set_family(sk, dev, AF_INET, why, sizeof(why));
	}
	if (!err) {
		step = "IPv6";
		status = -EAFNOSUPPORT;
		err = set_family(sk, dev, AF_INET6, why, sizeof(why));
	}
	if (err)
		snprintf(text, len, "%s: %s", step, why[0] ? why : nl_geterror(err));
	nl_socket_free(sk);
	return err ? status : 0;
}
