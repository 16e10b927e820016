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
 * @net: prefix of the addresses of all nodes
 * @net_len: length of @net, bits
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

/*
 * Sends @msg. @bad: the message could not be built, so it is freed instead. Return: 0 or a libnl
 * error.
 */
static int send_netdev(struct nl_sock *sk, struct nl_msg *msg, bool bad)
{
	if (msg && !bad)
		return nl_send_sync(sk, msg);
	nlmsg_free(msg);
	return -NLE_NOMEM;
}

/*
 * Disables the interface's link-local address, because no node answers its multicasts. Called
 * before the link is set up.
 */
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
	int err = send_netdev(sk, msg, !msg || nla_put(msg, IFA_LOCAL, a->len, a->at) ||
			      (add && nla_put_u8(msg, IFA_PROTO, LT_NETDEV_PROTO)));

	return err == -NLE_EXIST || (!add && err == -NLE_NOADDR) ? 0 : err;
}

/* Adds the route to all nodes, or deletes the route with that protocol number. */
static int route_change(struct nl_sock *sk, uint32_t ifindex, const struct address *a, bool add,
			uint8_t protocol)
{
	struct rtmsg rtm = {
		.rtm_family = a->family, .rtm_dst_len = (uint8_t)a->net_len,
		.rtm_table = RT_TABLE_MAIN, .rtm_protocol = protocol,
		.rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg = new_netdev_request(add ? RTM_NEWROUTE : RTM_DELROUTE,
						add ? NLM_F_CREATE | NLM_F_REPLACE : 0, &rtm,
						sizeof(rtm));

	return send_netdev(sk, msg, !msg || nla_put(msg, RTA_DST, a->len, a->net) ||
			   (add && nla_put(msg, RTA_PREFSRC, a->len, a->at)) ||
			   nla_put_u32(msg, RTA_OIF, ifindex));
}

/* Deletes the route to a former prefix. An earlier release has added this route as a static one. */
static void delete_route(struct nl_sock *sk, uint32_t ifindex, const struct address *old)
{
	if (route_change(sk, ifindex, old, false, LT_NETDEV_PROTO))
		route_change(sk, ifindex, old, false, RTPROT_STATIC);
}

static bool is_same_net(const struct address *a, const struct address *b)
{
	return a->net_len == b->net_len && !memcmp(a->net, b->net, sizeof(a->net));
}

static bool is_same_entry(const struct address *a, const struct address *b)
{
	return is_same_net(a, b) && !memcmp(a->at, b->at, sizeof(a->at));
}

#define STALE_MAX 4	/* most entries of a dead process that are deleted in one round */

/**
 * struct survey - result of listing the routes and addresses of one family
 * @a: the address that the interface has to get
 * @ifindex: interface index of the NIC
 * @foreign: name of another interface that has a route to the same prefix; "": there is none
 * @stale, @n: prefixes and addresses that this code has set at the interface and that differ from
 *	@a, because the process that set them was killed before it could delete them
 */
struct survey {
	const struct address *a;
	uint32_t ifindex;
	char foreign[IF_NAMESIZE];
	struct address stale[STALE_MAX];
	unsigned int n;
};

static void note_foreign(struct survey *v, uint32_t ifindex)
{
	if (!if_indextoname(ifindex, v->foreign))
		strcpy(v->foreign, "none");
}

static int on_route(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct rtmsg *rtm = nlmsg_data(head);
	struct survey *v = arg;
	struct address net = { .family = v->a->family, .len = v->a->len };
	struct nlattr *tb[RTA_MAX + 1];
	uint32_t ifindex;

	if (head->nlmsg_type != RTM_NEWROUTE || nlmsg_parse(head, sizeof(*rtm), tb, RTA_MAX, NULL))
		return NL_SKIP;
	if (rtm->rtm_table != RT_TABLE_MAIN || rtm->rtm_family != net.family || !tb[RTA_DST] ||
	    nla_len(tb[RTA_DST]) < net.len)
		return NL_SKIP;
	net.net_len = rtm->rtm_dst_len;
	memcpy(net.net, nla_data(tb[RTA_DST]), (size_t)net.len);
	ifindex = tb[RTA_OIF] ? nla_get_u32(tb[RTA_OIF]) : 0;
	if (is_same_net(&net, v->a) && ifindex != v->ifindex)
		note_foreign(v, ifindex);
	else if (!is_same_net(&net, v->a) && ifindex == v->ifindex &&
		 rtm->rtm_protocol == LT_NETDEV_PROTO && v->n < STALE_MAX)
		v->stale[v->n++] = net;
	return NL_OK;
}

static int on_address(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct ifaddrmsg *ifa = nlmsg_data(head);
	struct survey *v = arg;
	struct address old = { .family = v->a->family, .len = v->a->len };
	struct nlattr *tb[IFA_MAX + 1], *own;

	if (head->nlmsg_type != RTM_NEWADDR || nlmsg_parse(head, sizeof(*ifa), tb, IFA_MAX, NULL))
		return NL_SKIP;
	own = tb[IFA_LOCAL] ? tb[IFA_LOCAL] : tb[IFA_ADDRESS];	/* IFA_ADDRESS may be the address
								 * of a peer */
	if (ifa->ifa_family != old.family || ifa->ifa_index != v->ifindex ||
	    ifa->ifa_prefixlen != 8 * old.len || !own || nla_len(own) < old.len ||
	    !tb[IFA_PROTO] || nla_get_u8(tb[IFA_PROTO]) != LT_NETDEV_PROTO)
		return NL_SKIP;
	memcpy(old.at, nla_data(own), (size_t)old.len);
	if (memcmp(old.at, v->a->at, sizeof(old.at)) && v->n < STALE_MAX)
		v->stale[v->n++] = old;
	return NL_OK;
}

/*
 * Makes the kernel list all objects of the kind @type, and calls @on with each. Return: 0 or a
 * libnl error.
 */
static int dump_netdev(struct nl_sock *sk, int type, void *head, size_t len,
		       nl_recvmsg_msg_cb_t on, struct survey *v)
{
	int err;

	v->n = 0;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on, v);
	err = nl_send_simple(sk, type, NLM_F_DUMP, head, len);
	if (err >= 0)
		err = nl_recvmsgs_default(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_DEFAULT, NULL, NULL);
	return err < 0 ? err : 0;
}

/*
 * Deletes the routes of former nets, or the former addresses, in rounds of as many as the survey
 * has room for, until all are deleted or the first could not be deleted. Return: 0 or a libnl error
 * of a dump.
 */
static int delete_stale(struct nl_sock *sk, struct survey *v, bool routes)
{
	struct rtmsg rtm = { .rtm_family = v->a->family };
	struct ifaddrmsg ifa = { .ifa_family = v->a->family };
	struct address first;
	bool failed = false;
	int err;

	v->n = 0;
	do {
		first = v->n ? v->stale[0] : (struct address){ 0 };
		err = routes ? dump_netdev(sk, RTM_GETROUTE, &rtm, sizeof(rtm), on_route, v) :
			       dump_netdev(sk, RTM_GETADDR, &ifa, sizeof(ifa), on_address, v);
		for (unsigned int i = 0; !err && i < v->n; i++)
			failed |= routes ? route_change(sk, v->ifindex, &v->stale[i], false,
							LT_NETDEV_PROTO) :
					   address_change(sk, v->ifindex, &v->stale[i], false);
	} while (!err && !failed && v->n == STALE_MAX && !is_same_entry(&first, &v->stale[0]));
	return err;
}

/*
 * Searches for a route to the same prefix at another interface: it may be the route of the service
 * network, which NLM_F_REPLACE would replace. Deletes entries of a process that was killed. Linux
 * before 5.18 does not report which program has set an address, so there addresses stay. Return: 0
 * or a libnl error.
 */
static int look_round(struct nl_sock *sk, struct survey *v)
{
	int err = delete_stale(sk, v, true);

	return err ? err : delete_stale(sk, v, false);
}

/*
 * Sets the address and the route of one family. Writes the text of an error to @text, unless it is
 * an error of libnl.
 */
static int set_family(struct nl_sock *sk, const struct lt_netdev *dev, uint8_t family, char *text,
		      size_t len)
{
	struct address a, old;
	struct survey v = { .a = &a, .ifindex = dev->ifindex };
	char net[TORUS_TEXT_MAX];
	int err;

	address_of(dev->plan, dev->shape, dev->node, family, &a);
	if (dev->old) {
		address_of(dev->old_plan, dev->old, dev->old_node, family, &old);
		if (!is_same_net(&old, &a))
			delete_route(sk, dev->ifindex, &old);
		if (memcmp(old.at, a.at, sizeof(a.at)))
			address_change(sk, dev->ifindex, &old, false);
	}
	err = look_round(sk, &v);
	if (!err && v.foreign[0]) {
		snprintf(text, len, "%s is already a route of interface %s",
			 family == AF_INET ? torus_plan_text4(dev->plan, net) :
					     torus_plan_text6(dev->plan, net), v.foreign);
		return -NLE_EXIST;
	}
	if (!err)
		err = address_change(sk, dev->ifindex, &a, true);
	return err ? err : route_change(sk, dev->ifindex, &a, true, LT_NETDEV_PROTO);
}

int lt_netdev_place(const struct lt_netdev *dev, char *text, size_t len)
{
	struct nl_sock *sk = nl_socket_alloc();
	const char *step = "rtnetlink";
	char why[128] = "";
	int status = -EIO, err = sk ? nl_connect(sk, NETLINK_ROUTE) : -NLE_NOMEM;

	if (!err) {
		step = "taking it up";
		set_no_link_local(sk, dev->ifindex); /* fails if the kernel has no IPv6 */
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
