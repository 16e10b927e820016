// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "netns.h"
#include "node.h"
#include "output.h"
#include "raise.h"
#include "wire.h"

/*
 * Makes the network of a packed lab: one namespace, whose loopback device has all addresses of the
 * service network; with tun devices, each tun device has another namespace of its own.
 */
static int one_network(const struct lab *lab, struct nl_sock *sk)
{
	int err = wire_set_up(sk, "lo", true);

	return err ? err : wire_address(sk, "lo", lab_service(lab, 0), lab->service_bits);
}

static int host_namespace(const char *name)
{
	int ns = netns_create(name), err = ns < 0 ? ns : wire_quiet();
	struct nl_sock *sk = err ? NULL : wire_open();

	if (!err)
		err = sk ? wire_set_up(sk, "lo", true) : -errno;
	wire_close(sk);
	if (ns >= 0)
		close(ns);
	return err;
}

static int host_namespaces(const struct lab *lab)
{
	char name[LAB_TEXT_MAX];

	for (uint32_t id = 0; lab->tun && id < lab->nodes; id++) {
		int err = host_namespace(lab_netns(lab, id, name));

		if (id % 16 == 0)
			progress("namespaces %u/%u", id, lab->nodes);
		if (err)
			return fail("cannot make node %s: %s", name, strerror(-err));
	}
	return OK;
}

static int raise_one(const struct lab *lab, int *netns)
{
	char name[LAB_TEXT_MAX];
	int ns = netns_create(lab_bridge_netns(lab, name)), err = ns < 0 ? ns : 0;
	struct nl_sock *sk;

	if (err)
		return fail("cannot make namespace %s: %s", name, strerror(-err));
	sk = wire_open();
	err = sk ? one_network(lab, sk) : -errno;
	wire_close(sk);
	for (uint32_t id = 0; !err && id < lab->nodes; id++) {
		netns[id] = fcntl(ns, F_DUPFD_CLOEXEC, 0);
		err = netns[id] < 0 ? -errno : 0;
	}
	close(ns);
	if (err)
		return fail("cannot set up namespace %s: %s", name, strerror(-err));
	return host_namespaces(lab);
}

/* struct service - the service network: a bridge in a namespace of its own */
struct service {
	int netns;
	int bridge;
	struct nl_sock *sk;
};

static int service_open(const struct lab *lab, struct service *s)
{
	char name[LAB_TEXT_MAX];

	s->sk = NULL;
	s->netns = netns_create(lab_bridge_netns(lab, name));
	if (s->netns < 0)
		return fail("cannot make namespace %s: %s", name, strerror(-s->netns));
	s->bridge = wire_quiet();
	s->sk = wire_open();
	if (!s->sk)
		return fail("cannot open rtnetlink: %m");
	if (!s->bridge)
		s->bridge = wire_bridge(s->sk, "br0");
	if (s->bridge < 0)
		return fail("cannot make the service bridge: %s", strerror(-s->bridge));
	return OK;
}

static int node_network(const struct lab *lab, uint32_t node, const struct service *s,
			int netns)
{
	struct wire_end port = { .netns = s->netns };
	struct wire_end own = { .netns = netns, .name = "svc0" };
	struct nl_sock *sk = wire_open();
	int err = sk ? wire_quiet() : -errno;

	snprintf(port.name, sizeof(port.name), "v%u", node);
	err = err ? err : wire_plug(s->sk, s->bridge, &port, &own);
	err = err ? err : wire_set_up(sk, "lo", true);
	err = err ? err : wire_set_up(sk, "svc0", true);
	err = err ? err : wire_address(sk, "svc0", lab_service(lab, node), lab->service_bits);
	wire_close(sk);
	return err;
}

static int raise_nodes(const struct lab *lab, const struct service *s, int *netns)
{
	char name[LAB_TEXT_MAX];
	int err;

	for (uint32_t id = 0; id < lab->nodes; id++) {
		if (id % 16 == 0)
			progress("namespaces %u/%u", id, lab->nodes);
		netns[id] = netns_create(lab_netns(lab, id, name));
		err = netns[id] < 0 ? netns[id] : node_network(lab, id, s, netns[id]);
		if (err)
			return fail("cannot make node %s: %s", name, strerror(-err));
	}
	return OK;
}

static int raise_cable(const struct lab *lab, uint32_t node, unsigned int port,
		       struct nl_sock *sk, const int *netns)
{
	struct wire_end a = { .netns = netns[node], .index = WIRE_INDEX + (int)port }, b;
	unsigned int peer_port;
	uint32_t peer;

	lab_peer(lab, node, port, &peer, &peer_port);
	b.netns = netns[peer];
	b.index = WIRE_INDEX + (int)peer_port;
	lab_port_name(lab, port, a.name);
	lab_port_name(lab, peer_port, b.name);
	return wire_cable(sk, &a, &b);
}

/*
 * Makes each cable once, at its end at a plus port, because in a dimension of size 2 two cables
 * join the same two nodes.
 */
static int raise_cables(const struct lab *lab, struct nl_sock *sk, const int *netns)
{
	char text[LAB_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++) {
		if (id % 16 == 0)
			progress("cables of node %u/%u", id, lab->nodes);
		for (unsigned int port = 0; port < lab->shape.ndims; port++) {
			int err = lab_cable(lab, port) ? raise_cable(lab, id, port, sk, netns) : 0;

			if (err)
				return fail("cannot make cable %s: %s",
					    lab_link_text(lab, id, port, text), strerror(-err));
		}
	}
	return OK;
}

static int far_ends(const struct lab *lab)
{
	struct nl_sock *sk = wire_open();
	char dev[IFNAMSIZ];
	int err = sk ? 0 : -errno;

	for (unsigned int d = 0; !err && d < lab->shape.ndims; d++)
		if (lab_cable(lab, d))
			err = wire_set_up(sk, lab_port_name(lab, lab->shape.ndims + d, dev), true);
	wire_close(sk);
	return err;
}

static int plug_in(const struct lab *lab, const int *netns)
{
	char text[TORUS_TEXT_MAX];
	int err = 0;

	for (uint32_t id = 0; id < lab->nodes; id++) {
		if (id % 16 == 0)
			progress("plugging in %u/%u", id, lab->nodes);
		err = netns_enter(netns[id]);
		err = err ? err : far_ends(lab);
		if (err)
			return fail("cannot plug in the cables of node %s: %s",
				    torus_node_text(&lab->shape, id, text), strerror(-err));
	}
	return OK;
}

static int raise_each(const struct lab *lab, int *netns)
{
	struct service s = { .netns = -1 };
	int status = service_open(lab, &s);

	if (status == OK)
		status = raise_nodes(lab, &s, netns);
	if (status == OK)
		status = raise_cables(lab, s.sk, netns);
	if (status == OK)
		status = plug_in(lab, netns);
	if (s.netns >= 0)
		close(s.netns);
	wire_close(s.sk);
	return status;
}

int raise_network(const struct lab *lab, int *netns)
{
	int home = netns_home(), status;

	for (uint32_t id = 0; id < lab->nodes; id++)
		netns[id] = -1;
	if (home < 0)
		return fail("cannot open the network namespace of this process: %s",
			    strerror(-home));
	status = lab->packed ? raise_one(lab, netns) : raise_each(lab, netns);
	if (netns_enter(home))
		status = fail("cannot return to the network namespace of this process: %m");
	close(home);
	return status;
}
