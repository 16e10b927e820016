// SPDX-License-Identifier: GPL-2.0-only
/* A NIC of a lab in the kernel, made in the node's namespace. */
#include <errno.h>
#include <net/if.h>
#include <string.h>

#include "device.h"
#include "netns.h"
#include "nic_backend.h"
#include "wire.h"

static int attach_ports(const struct lab *lab, uint32_t node, struct torus_dev *dev)
{
	char name[IFNAMSIZ];

	for (unsigned int port = 0; port < 2u * lab->shape.ndims; port++)
		if (lab_cable(lab, port) &&
		    torus_attach(dev, port, lab_port_name(lab, port, name)))
			return nic_failed(lab, node, torus_error(dev));
	return OK;
}

static int make_kernel_nic(const struct lab *lab, uint32_t node)
{
	char host[TORUS_TEXT_MAX];
	struct device_spec spec = {
		.ifname = LAB_INTERFACE, .name = lab_host(lab, node, host),
		.guid = lab_guid(lab, node), .ports = (uint8_t)(2 * lab->shape.ndims),
		.bootstrap = node == 0, .sets = (const char *const *)lab->sets,
	};
	struct nl_sock *sk = wire_open();
	int status = OK;

	if (!sk)
		return nic_failed(lab, node, "no rtnetlink");
	if (device_make(sk, &spec))
		status = nic_failed(lab, node, wire_error());
	wire_close(sk);
	return status;
}

static int make_and_attach(const struct lab *lab, uint32_t node)
{
	struct torus_dev *dev;
	int status = make_kernel_nic(lab, node);

	if (status != OK)
		return status;
	if (torus_open("genl:" LAB_INTERFACE, &dev))
		return nic_failed(lab, node, torus_error(NULL));
	status = attach_ports(lab, node, dev);
	torus_close(dev);
	return status;
}

/* struct visit - an action inside a node's namespace */
struct visit {
	const struct lab *lab;
	uint32_t node;
	struct torus_dev **dev;
};

static int visit_start(void *arg)
{
	const struct visit *v = arg;

	return make_and_attach(v->lab, v->node);
}

static int visit_open(void *arg)
{
	return torus_open("genl:" LAB_INTERFACE, ((struct visit *)arg)->dev);
}

static int visit_index(void *arg)
{
	(void)arg;
	return (int)if_nametoindex(LAB_INTERFACE);
}

static int visit_end(void *arg)
{
	struct nl_sock *sk = wire_open();
	int err = sk ? device_remove(sk, LAB_INTERFACE) : -errno;

	(void)arg;
	wire_close(sk);
	return err == -ENODEV ? 0 : err;
}

static int visit_nic(const struct lab *lab, uint32_t node, int (*fn)(void *arg),
		     struct torus_dev **dev)
{
	struct visit v = { lab, node, dev };
	char name[LAB_TEXT_MAX];

	return netns_visit(lab_netns(lab, node, name), fn, &v);
}

static int kernel_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	int status = visit_nic(lab, node, visit_start, NULL);

	(void)netns;
	(void)program;
	return status < 0 ? nic_failed(lab, node, strerror(-status)) : status;
}

static int kernel_running(const struct lab *lab, uint32_t node)
{
	int index = visit_nic(lab, node, visit_index, NULL);

	return index < 0 ? 0 : index;
}

static int kernel_end(const struct lab *lab, uint32_t node)
{
	return visit_nic(lab, node, visit_end, NULL);
}

static int kernel_open(const struct lab *lab, uint32_t node, struct torus_dev **dev)
{
	return visit_nic(lab, node, visit_open, dev);
}

static int kernel_plug(const struct lab *lab, uint32_t node, unsigned int port)
{
	struct torus_dev *dev;
	char name[IFNAMSIZ];
	int err = kernel_open(lab, node, &dev);

	if (err)
		return err;
	err = torus_attach(dev, port, lab_port_name(lab, port, name));
	torus_close(dev);
	return err;
}

const struct nic_backend nic_kernel = {
	.start = kernel_start,
	.running = kernel_running,
	.end = kernel_end,
	.open = kernel_open,
	.wires = nic_wires_inside,
	.plug = kernel_plug,
};
