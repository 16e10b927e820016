// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <unistd.h>

#include "cable.h"
#include "device.h"
#include "kind.h"
#include "netns.h"
#include "nic.h"
#include "node.h"
#include "output.h"
#include "wire.h"

static void mark_cut(struct lab *lab, uint32_t node, unsigned int port, bool cut)
{
	if (cut)
		lab->cut[node] |= (uint16_t)(1 << port);
	else
		lab->cut[node] &= (uint16_t)~(1 << port);
}

/*
 * Cuts or mends a cable. The lab is saved first, so that the cable stays cut if a node is revived.
 */
static int plug_cable(struct lab *lab, uint32_t node, unsigned int port, bool cut)
{
	unsigned int peer_port;
	uint32_t peer;
	int err;

	lab_peer(lab, node, port, &peer, &peer_port);
	mark_cut(lab, node, port, cut);
	mark_cut(lab, peer, peer_port, cut);
	err = lab_save(lab);
	err = err ? err : node_wire(lab, node, port);
	return err ? err : node_wire(lab, peer, peer_port);
}

int cable_set(const char *lab_name, const char *link, bool cut)
{
	struct lab lab;
	unsigned int port;
	uint32_t node;
	int err, status;

	if (geteuid())
		return fail_as(DENIED,
			       "cables can be cut and mended by root only: run it with sudo");
	status = lab_open(&lab, lab_name, LAB_ALONE);
	if (status != OK)
		return status;
	status = lab_link_parse(&lab, link, &node, &port);
	if (status == OK) {
		err = plug_cable(&lab, node, port, cut);
		if (err)
			status = fail_as(kind_of_errno(err), "link '%s': %s", link, strerror(-err));
	}
	lab_free(&lab);
	return status;
}

/* struct end - one end of a cable */
struct end {
	uint32_t node;
	unsigned int port;
};

static struct end far_end(const struct lab *lab, struct end e)
{
	struct end far;

	lab_peer(lab, e.node, e.port, &far.node, &far.port);
	return far;
}

static bool are_same(struct end a, struct end b)
{
	return a.node == b.node && a.port == b.port;
}

/* Removes a cable by its interface @arg in the namespace of one end. */
static int remove_interface(void *arg)
{
	struct nl_sock *sk = wire_open();
	int err = sk ? device_remove(sk, arg) : -errno;

	wire_close(sk);
	return err;
}

static int remove_cable(const struct lab *lab, struct end e)
{
	char ns[LAB_TEXT_MAX], dev[IFNAMSIZ];

	return netns_visit(lab_netns(lab, e.node, ns), remove_interface,
			   lab_port_name(lab, e.port, dev));
}

/* Makes a cable between two ends, takes up the ends that have to be up, and plugs the cable in. */
static int lay_cable(const struct lab *lab, struct end a, struct end b)
{
	struct nl_sock *sk = wire_open();
	struct wire_end wire[2] = { { .netns = -1 }, { .netns = -1 } };
	char ns[LAB_TEXT_MAX];
	int err = sk ? 0 : -errno;

	wire[0].netns = netns_open(lab_netns(lab, a.node, ns));
	wire[1].netns = netns_open(lab_netns(lab, b.node, ns));
	lab_port_name(lab, a.port, wire[0].name);
	lab_port_name(lab, b.port, wire[1].name);
	wire[0].index = WIRE_INDEX + (int)a.port;
	wire[1].index = WIRE_INDEX + (int)b.port;
	for (int i = 0; !err && i < 2; i++)
		err = wire[i].netns < 0 ? wire[i].netns : 0;
	err = err ? err : wire_cable(sk, &wire[0], &wire[1]);
	for (int i = 0; i < 2; i++)
		if (wire[i].netns >= 0)
			close(wire[i].netns);
	wire_close(sk);
	err = err ? err : node_wire(lab, a.node, a.port);
	err = err ? err : node_wire(lab, b.node, b.port);
	err = err ? err : nic_plug(lab, a.node, a.port);
	return err ? err : nic_plug(lab, b.node, b.port);
}

static int swap_cables(struct lab *lab, struct end a, struct end b)
{
	struct end far_a = far_end(lab, a), far_b = far_end(lab, b);
	int err;

	lab_join(lab, a.node, a.port, far_b.node, far_b.port);
	lab_join(lab, b.node, b.port, far_a.node, far_a.port);
	err = lab_save(lab);
	err = err ? err : remove_cable(lab, a);
	err = err ? err : remove_cable(lab, b);
	err = err ? err : lay_cable(lab, a, far_b);
	return err ? err : lay_cable(lab, b, far_a);
}

static int swap_links(struct lab *lab, const char *link, const char *other)
{
	struct end a, b;
	int err;

	if (lab->packed)
		return fail("lab '%s' is packed: its cables lie in one process and cannot be "
			    "plugged elsewhere", lab->name);
	if (lab_link_parse(lab, link, &a.node, &a.port) != OK ||
	    lab_link_parse(lab, other, &b.node, &b.port) != OK)
		return CANNOT;
	if (are_same(a, b) || are_same(a, far_end(lab, b)))
		return fail("'%s' and '%s' are one cable: swap takes two", link, other);
	if (lab->cut[a.node] & 1 << a.port || lab->cut[b.node] & 1 << b.port)
		return fail("link '%s' is cut: 'fabricctl lab mend' it first",
			    lab->cut[a.node] & 1 << a.port ? link : other);
	err = swap_cables(lab, a, b);
	if (err)
		return fail_as(kind_of_errno(err), "links '%s' and '%s': %s", link, other,
			       strerror(-err));
	return OK;
}

int cable_swap(const char *lab_name, const char *link, const char *other)
{
	struct lab lab;
	int status;

	if (geteuid())
		return fail_as(DENIED, "cables can be swapped by root only: run it with sudo");
	status = lab_open(&lab, lab_name, LAB_ALONE);
	if (status != OK)
		return status;
	status = swap_links(&lab, link, other);
	lab_free(&lab);
	return status;
}

int cable_fault(const char *lab_name, const char *link, const struct fault_wish *wish)
{
	struct lab lab;
	unsigned int port;
	uint32_t node;
	int status;

	if (geteuid())
		return fail_as(DENIED, "faults can be made by root only: run it with sudo");
	status = lab_open(&lab, lab_name, LAB_SHARED);
	if (status != OK)
		return status;
	status = lab_link_parse(&lab, link, &node, &port);
	if (status == OK)
		status = fault_put(&lab, node, port, wish);
	lab_free(&lab);
	return status;
}
