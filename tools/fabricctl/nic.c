// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device.h"
#include "netns.h"
#include "nic.h"
#include "pack.h"
#include "proc.h"
#include "say.h"

#define ARGS_MAX 96
#define START_MS 10000

static int failed(const struct lab *lab, uint32_t node, const char *why)
{
	char text[TORUS_TEXT_MAX];

	return fail("cannot start the NIC of node %s: %s",
		    torus_node_text(&lab->shape, node, text), why);
}

/* --- in user space --------------------------------------------------------- */

/* An argument list under construction; what it points to is its own. */
struct args {
	char *arg[ARGS_MAX];
	int n;
};

static void __attribute__((format(printf, 2, 3))) push(struct args *a, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (a->n < ARGS_MAX - 1 && vasprintf(&a->arg[a->n], fmt, ap) >= 0)
		a->n++;
	va_end(ap);
	a->arg[a->n] = NULL;
}

static void push_ports(const struct lab *lab, uint32_t node, struct args *a)
{
	char text[TORUS_TEXT_MAX], lower[IFNAMSIZ];

	for (unsigned int port = 0; port < 2u * lab->shape.ndims; port++) {
		if (!lab_cable(lab, port))
			continue;
		push(a, "--port");
		push(a, "%s=%s", torus_port_text(lab->shape.ndims, port, text),
		     lab->packed ? pack_cable(lab, node, port, lower) :
				   node_port_name(lab, port, lower));
	}
}

static void push_nic(const struct lab *lab, uint32_t node, struct args *a)
{
	char text[LAB_TEXT_MAX];

	push(a, "--name");
	push(a, "%s", lab_host(lab, node, text));
	push(a, "--ports");
	push(a, "%d", 2 * lab->shape.ndims);
	push(a, "--socket");
	push(a, "%s", lab_path(lab, node, "nic.sock", text));
	unlink(text);
	push(a, "--guid");
	push(a, "%016" PRIx64, lab_guid(lab, node));
	if (node == 0)
		push(a, "--bootstrap");
	push_ports(lab, node, a);
	for (int i = 0; lab->sets[i]; i++) {
		push(a, "--set");
		push(a, "%s", lab->sets[i]);
	}
}

static void args_free(struct args *a)
{
	while (a->n)
		free(a->arg[--a->n]);
}

static int user_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	struct args a = { .n = 0 };
	int pid;

	push(&a, "%s", program);
	push(&a, "--foreground");
	push(&a, "--tun");
	push(&a, LAB_INTERFACE);
	push(&a, "--log-level");
	push(&a, "%s", lab->log_level);
	push_nic(lab, node, &a);
	pid = node_start(lab, node, netns, "torusemu", a.arg);
	args_free(&a);
	return pid < 0 ? failed(lab, node, strerror(-pid)) : OK;
}

static int user_running(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];

	return proc_running(lab_path(lab, node, "torusemu.pid", path));
}

static int user_end(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];
	int fd = proc_hold(lab_path(lab, node, "torusemu.pid", path));

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	return proc_end(&fd, 1, 0);
}

/* Its socket is there a moment before it can be connected to. */
static bool user_answers(const struct lab *lab, uint32_t node)
{
	char where[LAB_TEXT_MAX];
	struct torus_dev *dev;

	if (torus_open(lab_device(lab, node, where), &dev))
		return false;
	torus_close(dev);
	return true;
}

static int user_wait(const struct lab *lab, uint32_t node)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	int left = START_MS;

	while (!user_answers(lab, node)) {
		if (!user_running(lab, node) || --left < 0) {
			failed(lab, node, left < 0 ? "no socket yet" : "it ended at once");
			node_show_log(lab, node, "torusemu");
			return CANNOT;
		}
		nanosleep(&pause, NULL);
	}
	return OK;
}

/* --- in a pack ------------------------------------------------------------- */

static int packed_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	struct args a = { .n = 0 };
	int status = pack_start(lab, netns, program);
	char name[LAB_TEXT_MAX];

	push(&a, "add");
	if (lab->tun) {
		push(&a, "--tun");
		push(&a, LAB_INTERFACE);
		push(&a, "--netns");
		push(&a, LAB_NETNS "/%s", lab_netns(lab, node, name));
	} else {
		push(&a, "--no-tun");
	}
	push_nic(lab, node, &a);
	if (status == OK)
		status = pack_add(lab, node, a.arg);
	args_free(&a);
	return status;
}

/* --- in the kernel --------------------------------------------------------- */

static int attach_all(const struct lab *lab, uint32_t node, struct torus_dev *dev)
{
	char name[IFNAMSIZ];

	for (unsigned int port = 0; port < 2u * lab->shape.ndims; port++)
		if (lab_cable(lab, port) &&
		    torus_attach(dev, port, node_port_name(lab, port, name)))
			return failed(lab, node, torus_error(dev));
	return OK;
}

static int make(const struct lab *lab, uint32_t node)
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
		return failed(lab, node, "no rtnetlink");
	if (device_make(sk, &spec))
		status = failed(lab, node, wire_error());
	wire_close(sk);
	return status;
}

static int make_and_attach(const struct lab *lab, uint32_t node)
{
	struct torus_dev *dev;
	int status = make(lab, node);

	if (status != OK)
		return status;
	if (torus_open("genl:" LAB_INTERFACE, &dev))
		return failed(lab, node, torus_error(NULL));
	status = attach_all(lab, node, dev);
	torus_close(dev);
	return status;
}

static int kernel_start(const struct lab *lab, uint32_t node, int netns)
{
	int home = netns_home(), status;
	int err = home < 0 ? home : netns_enter(netns);

	if (err) {
		status = failed(lab, node, strerror(-err));
	} else {
		status = make_and_attach(lab, node);
		netns_enter(home);
	}
	if (home >= 0)
		close(home);
	return status;
}

/* struct visit - what is done inside a node's namespace */
struct visit {
	struct torus_dev **dev;
	int result;
};

static int visit_open(struct visit *v)
{
	return torus_open("genl:" LAB_INTERFACE, v->dev);
}

static int visit_index(struct visit *v)
{
	v->result = (int)if_nametoindex(LAB_INTERFACE);
	return 0;
}

static int visit_end(struct visit *v)
{
	struct nl_sock *sk = wire_open();
	int err = sk ? device_remove(sk, LAB_INTERFACE) : -errno;

	(void)v;
	wire_close(sk);
	return err == -ENODEV ? 0 : err;
}

static int visit(const struct lab *lab, uint32_t node, int (*fn)(struct visit *v),
		 struct visit *v)
{
	char name[LAB_TEXT_MAX];
	int home = netns_home(), ns = netns_open(lab_netns(lab, node, name));
	int err = home < 0 ? home : ns < 0 ? ns : netns_enter(ns);

	if (!err) {
		err = fn(v);
		netns_enter(home);
	}
	if (home >= 0)
		close(home);
	if (ns >= 0)
		close(ns);
	return err;
}

/* --- either ---------------------------------------------------------------- */

int nic_start(const struct lab *lab, uint32_t node, int netns, const char *program)
{
	if (lab->packed)
		return packed_start(lab, node, netns, program);
	return lab->kernel[node] ? kernel_start(lab, node, netns) :
				   user_start(lab, node, netns, program);
}

int nic_wait(const struct lab *lab, uint32_t node)
{
	return lab->kernel[node] || lab->packed ? OK : user_wait(lab, node);
}

int nic_running(const struct lab *lab, uint32_t node)
{
	struct visit v = { 0 };

	if (lab->packed)
		return pack_running(lab, node);
	if (!lab->kernel[node])
		return user_running(lab, node);
	visit(lab, node, visit_index, &v);
	return v.result;
}

int nic_end(const struct lab *lab, uint32_t node)
{
	struct visit v = { 0 };

	if (lab->packed)
		return pack_kill(lab, node);
	return lab->kernel[node] ? visit(lab, node, visit_end, &v) : user_end(lab, node);
}

int nic_open(const struct lab *lab, uint32_t node, struct torus_dev **dev)
{
	struct visit v = { .dev = dev };
	char where[LAB_TEXT_MAX];

	return lab->kernel[node] ? visit(lab, node, visit_open, &v) :
				   torus_open(lab_device(lab, node, where), dev);
}

int nic_sets_check(const struct lab *lab)
{
	return device_sets_check((const char *const *)lab->sets);
}
