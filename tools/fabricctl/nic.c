// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <net/if.h>

#include "device.h"
#include "netns.h"
#include "nic.h"
#include "nic_backend.h"
#include "wire.h"

static const struct nic_backend *backend_of(const struct lab *lab, uint32_t node)
{
	return lab->packed ? &nic_packed : lab->kernel[node] ? &nic_kernel : &nic_user;
}

int nic_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	return backend_of(lab, node)->start(lab, node, netns, program);
}

int nic_wait(const struct lab *lab, uint32_t node)
{
	const struct nic_backend *b = backend_of(lab, node);

	return b->wait ? b->wait(lab, node) : OK;
}

int nic_running(const struct lab *lab, uint32_t node)
{
	return backend_of(lab, node)->running(lab, node);
}

int nic_end(const struct lab *lab, uint32_t node)
{
	return backend_of(lab, node)->end(lab, node);
}

int nic_open(const struct lab *lab, uint32_t node, struct torus_dev **dev)
{
	return backend_of(lab, node)->open(lab, node, dev);
}

int nic_wires(const struct lab *lab, uint32_t node, uint16_t ports)
{
	return backend_of(lab, node)->wires(lab, node, ports);
}

int nic_plug(const struct lab *lab, uint32_t node, unsigned int port)
{
	const struct nic_backend *b = backend_of(lab, node);

	return b->plug && b->running(lab, node) ? b->plug(lab, node, port) : 0;
}

char *nic_cable(const struct lab *lab, uint32_t node, unsigned int port, char *buf)
{
	const struct nic_backend *b = backend_of(lab, node);

	return b->cable ? b->cable(lab, node, port, buf) : lab_port_name(lab, port, buf);
}

int nic_sets_check(const struct lab *lab)
{
	return device_sets_check((const char *const *)lab->sets);
}

/* --- functions that the backends use ------------------------------------------- */

int nic_failed(const struct lab *lab, uint32_t node, const char *why)
{
	char text[TORUS_TEXT_MAX];

	return fail("cannot start the NIC of node %s: %s",
		    torus_node_text(&lab->shape, node, text), why);
}

int nic_open_socket(const struct lab *lab, uint32_t node, struct torus_dev **dev)
{
	char where[LAB_TEXT_MAX];

	return torus_open(lab_device(lab, node, where), dev);
}

/* struct ends - the cable ends of a node */
struct ends {
	const struct lab *lab;
	uint32_t node;
	uint16_t ports;
};

static int set_ends(void *arg)
{
	const struct ends *e = arg;
	const struct lab *lab = e->lab;
	struct nl_sock *sk = wire_open();
	int err = sk ? 0 : -errno;
	char dev[IFNAMSIZ];

	for (unsigned int port = 0; !err && port < 2u * lab->shape.ndims; port++)
		if (e->ports & 1 << port && lab_cable(lab, port))
			err = wire_set_up(sk, lab_port_name(lab, port, dev),
					  lab_end_up(lab, e->node, port));
	wire_close(sk);
	return err;
}

int nic_wires_inside(const struct lab *lab, uint32_t node, uint16_t ports)
{
	struct ends e = { lab, node, ports };
	char name[LAB_TEXT_MAX];

	return netns_visit(lab_netns(lab, node, name), set_ends, &e);
}
