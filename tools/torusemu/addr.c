// SPDX-License-Identifier: GPL-2.0-only
/* Addresses of the tun device, which show the node's coordinates. */
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/inet6.h>
#include <netlink/route/route.h>
#include <torus/topology.h>

#include "emu.h"
#include "log.h"

static struct nl_addr *node_addr(const struct torus_shape *shape, u32 node, int family)
{
	struct in_addr a4 = torus_addr4(shape, node);
	struct in6_addr a6 = torus_addr6(shape, node);

	return family == AF_INET ? nl_addr_build(family, &a4, sizeof(a4))
				 : nl_addr_build(family, &a6, sizeof(a6));
}

static struct nl_addr *fabric_net(int family)
{
	static const u8 net4[4] = { 10 };
	static const u8 net6[16] = { 0xfd, 0x74, 0x6f, 0x72 };
	struct nl_addr *a = family == AF_INET ? nl_addr_build(family, net4, sizeof(net4))
					      : nl_addr_build(family, net6, sizeof(net6));

	if (a)
		nl_addr_set_prefixlen(a, family == AF_INET ? 8 : 32);
	return a;
}

static int addr_change(struct nl_sock *sk, int ifindex, struct nl_addr *local, bool add)
{
	struct rtnl_addr *ra = rtnl_addr_alloc();
	int err;

	if (!ra)
		return -NLE_NOMEM;
	rtnl_addr_set_ifindex(ra, ifindex);
	rtnl_addr_set_local(ra, local);
	rtnl_addr_set_flags(ra, IFA_F_NODAD);
	err = add ? rtnl_addr_add(sk, ra, NLM_F_CREATE | NLM_F_REPLACE)
		  : rtnl_addr_delete(sk, ra, 0);
	rtnl_addr_put(ra);
	return err == -NLE_EXIST || (!add && err == -NLE_NOADDR) ? 0 : err;
}

static int route_add(struct nl_sock *sk, int ifindex, struct nl_addr *local, int family)
{
	struct rtnl_route *rt = rtnl_route_alloc();
	struct rtnl_nexthop *nh = rtnl_route_nh_alloc();
	struct nl_addr *net = fabric_net(family);
	int err = -NLE_NOMEM;

	if (rt && nh && net) {
		rtnl_route_set_family(rt, (uint8_t)family);
		rtnl_route_set_dst(rt, net);
		rtnl_route_set_pref_src(rt, local);
		rtnl_route_set_scope(rt, RT_SCOPE_LINK);
		rtnl_route_set_protocol(rt, RTPROT_STATIC);
		rtnl_route_nh_set_ifindex(nh, ifindex);
		rtnl_route_add_nexthop(rt, nh);
		nh = NULL;
		err = rtnl_route_add(sk, rt, NLM_F_CREATE | NLM_F_REPLACE);
	}
	if (nh)
		rtnl_route_nh_free(nh);
	nl_addr_put(net);
	rtnl_route_put(rt);
	return err;
}

static int link_change(struct nl_sock *sk, int ifindex, struct rtnl_link *to)
{
	struct rtnl_link *old = rtnl_link_alloc();
	int err = -NLE_NOMEM;

	if (old && to) {
		rtnl_link_set_ifindex(old, ifindex);
		err = rtnl_link_change(sk, old, to, 0);
	}
	rtnl_link_put(old);
	rtnl_link_put(to);
	return err;
}

static int link_up(struct nl_sock *sk, int ifindex)
{
	struct rtnl_link *quiet = rtnl_link_alloc();
	struct rtnl_link *up = rtnl_link_alloc();
	int err;

	/* No link-local address: nobody here answers its multicasts. Only before up. */
	if (quiet)
		rtnl_link_inet6_set_addr_gen_mode(quiet, rtnl_link_inet6_str2addrgenmode("none"));
	err = link_change(sk, ifindex, quiet);
	if (err)
		log_debug("no IPv6 here: %s", nl_geterror(err));
	if (up) {
		rtnl_link_set_mtu(up, TUN_MTU);
		rtnl_link_set_flags(up, IFF_UP);
	}
	return link_change(sk, ifindex, up);
}

static int set_family(struct emu *e, struct nl_sock *sk, const struct torus_shape *old,
		      u32 old_node, int family)
{
	struct nl_addr *before = old ? node_addr(old, old_node, family) : NULL;
	struct nl_addr *local = node_addr(&e->shape, e->node, family);
	int err = -NLE_NOMEM;

	if (before && local && nl_addr_cmp(before, local))
		addr_change(sk, e->tun.ifindex, before, false);
	if (local)
		err = addr_change(sk, e->tun.ifindex, local, true);
	if (!err)
		err = route_add(sk, e->tun.ifindex, local, family);
	nl_addr_put(before);
	nl_addr_put(local);
	return err;
}

int tun_addr_set(struct emu *e, const struct torus_shape *old, u32 old_node)
{
	struct nl_sock *sk = nl_socket_alloc();
	int err = -NLE_NOMEM;

	if (!sk)
		return -ENOMEM;
	err = nl_connect(sk, NETLINK_ROUTE);
	if (!err)
		err = link_up(sk, e->tun.ifindex);
	if (!err)
		err = set_family(e, sk, old, old_node, AF_INET);
	if (!err) {
		err = set_family(e, sk, old, old_node, AF_INET6);
		if (err) {
			log_warn("%s has no IPv6 address: %s", e->tun.name, nl_geterror(err));
			err = 0;
		}
	}
	if (err)
		log_err("%s: cannot set addresses: %s", e->tun.name, nl_geterror(err));
	nl_socket_free(sk);
	return err ? -EIO : 0;
}
