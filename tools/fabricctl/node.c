// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <arpa/inet.h>

#include "netns.h"
#include "node.h"
#include "proc.h"
#include "say.h"

#define ARGS_MAX 96

char *node_port_name(const struct lab *lab, unsigned int port, char *buf)
{
	char text[TORUS_TEXT_MAX];

	torus_port_text(lab->shape.ndims, port, text);
	snprintf(buf, IFNAMSIZ, "p%c%c", text[1], text[0]);
	return buf;
}

int programs_find(struct programs *p)
{
	const char *name = "torusemu";

	if (!proc_find_program(name, p->nic, sizeof(p->nic))) {
		name = "fabricd";
		if (!proc_find_program(name, p->manager, sizeof(p->manager)))
			return OK;
	}
	return fail("cannot find the program '%s' beside fabricctl or in PATH: build it with "
		    "'make' or install it", name);
}

static int write_config(const struct lab *lab, uint32_t node, const char *extra)
{
	char path[LAB_TEXT_MAX], text[TORUS_TEXT_MAX], service[INET_ADDRSTRLEN];
	struct in_addr a = lab_service(lab, node);
	FILE *f = fopen(lab_path(lab, node, "fabricd.conf", path), "we");

	if (!f)
		return -errno;
	inet_ntop(AF_INET, &a, service, sizeof(service));
	fprintf(f, "# Written by fabricctl lab up.\n");
	fprintf(f, "fabric = %s\nname = %s\n", lab->name, lab_host(lab, node, text));
	fprintf(f, "shape = %s\n", lab->auto_shape || node ? "auto" :
		torus_shape_text(&lab->shape, text));
	fprintf(f, "device = %s\n", lab_device(lab, node, path));
	fprintf(f, "service_address = %s:%d\n", service, LAB_SERVICE_PORT);
	fprintf(f, "key_file = %s\n", lab_path(lab, TORUS_NO_NODE, "key", path));
	fprintf(f, "control = %s\n", lab_path(lab, node, "control", path));
	fprintf(f, "log_level = %s\n%s", lab->log_level, extra);
	return fclose(f) ? -errno : 0;
}

int node_files(const struct lab *lab, uint32_t node, const char *extra)
{
	char path[LAB_TEXT_MAX];

	if (mkdir(lab_path(lab, node, "", path), 0755))
		return -errno;
	return write_config(lab, node, extra);
}

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

static int start(const struct lab *lab, uint32_t node, int netns, const char *program,
		 struct args *a)
{
	char file[64], log[LAB_TEXT_MAX], pidfile[LAB_TEXT_MAX];
	struct proc p = { .argv = a->arg, .netns = netns, .log = log, .pidfile = pidfile };
	int pid;

	snprintf(file, sizeof(file), "%s.log", program);
	lab_path(lab, node, file, log);
	snprintf(file, sizeof(file), "%s.pid", program);
	lab_path(lab, node, file, pidfile);
	pid = proc_start(&p);
	while (a->n)
		free(a->arg[--a->n]);
	return pid;
}

int node_start_nic(const struct lab *lab, uint32_t node, int netns,
		   const struct programs *p)
{
	char text[LAB_TEXT_MAX], dev[IFNAMSIZ];
	struct args a = { .n = 0 };

	push(&a, "%s", p->nic);
	push(&a, "--foreground");
	push(&a, "--name");
	push(&a, "%s", lab_host(lab, node, text));
	push(&a, "--ports");
	push(&a, "%d", 2 * lab->shape.ndims);
	push(&a, "--socket");
	push(&a, "%s", lab_path(lab, node, "nic.sock", text));
	push(&a, "--tun");
	push(&a, "torus0");
	push(&a, "--guid");
	push(&a, "%016" PRIx64, lab_guid(lab, node));
	push(&a, "--log-level");
	push(&a, "%s", lab->log_level);
	if (node == 0)
		push(&a, "--bootstrap");
	for (unsigned int port = 0; port < 2u * lab->shape.ndims; port++) {
		if (!lab_cable(lab, port))
			continue;
		push(&a, "--port");
		push(&a, "%s=%s", torus_port_text(lab->shape.ndims, port, text),
		     node_port_name(lab, port, dev));
	}
	for (int i = 0; lab->sets[i]; i++) {
		push(&a, "--set");
		push(&a, "%s", lab->sets[i]);
	}
	return start(lab, node, netns, "torusemu", &a);
}

int node_start_manager(const struct lab *lab, uint32_t node, int netns,
		       const struct programs *p)
{
	char path[LAB_TEXT_MAX];
	struct args a = { .n = 0 };

	push(&a, "%s", p->manager);
	push(&a, "--config");
	push(&a, "%s", lab_path(lab, node, "fabricd.conf", path));
	return start(lab, node, netns, "fabricd", &a);
}

unsigned int node_missing(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];
	unsigned int missing = 0;

	if (!proc_running(lab_path(lab, node, "torusemu.pid", path)))
		missing |= LAB_NO_NIC;
	if (!proc_running(lab_path(lab, node, "fabricd.pid", path)))
		missing |= LAB_NO_MANAGER;
	return missing;
}

int node_kill(const struct lab *lab, uint32_t node, unsigned int what)
{
	char path[LAB_TEXT_MAX];
	unsigned int n = 0;
	int fd[2], err = 0;

	if (what & LAB_NO_MANAGER)
		fd[n++] = proc_hold(lab_path(lab, node, "fabricd.pid", path));
	if (what & LAB_NO_NIC)
		fd[n++] = proc_hold(lab_path(lab, node, "torusemu.pid", path));
	for (unsigned int i = 0; i < n; i++)
		if (fd[i] < 0 && fd[i] != -ESRCH)
			err = fd[i];
	return proc_end(fd, n, 0) ? -EBUSY : err;
}

int node_wait_nic(const struct lab *lab, uint32_t node, int timeout_ms)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	char path[LAB_TEXT_MAX];

	while (access(lab_path(lab, node, "nic.sock", path), F_OK)) {
		if (node_missing(lab, node) & LAB_NO_NIC)
			return -ECHILD;
		if (--timeout_ms < 0)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}

static int wires(const struct lab *lab, uint32_t node, uint16_t ports)
{
	struct nl_sock *sk = wire_open();
	int err = sk ? 0 : -errno;
	char dev[IFNAMSIZ];

	for (unsigned int port = 0; !err && port < 2u * lab->shape.ndims; port++)
		if (ports & 1 << port && lab_cable(lab, port))
			err = wire_set_up(sk, node_port_name(lab, port, dev),
					  lab_end_up(lab, node, port));
	wire_close(sk);
	return err;
}

static int wires_inside(const struct lab *lab, uint32_t node, uint16_t ports)
{
	char name[LAB_TEXT_MAX];
	int home = netns_home(), ns = netns_open(lab_netns(lab, node, name));
	int err = home < 0 ? home : ns < 0 ? ns : netns_enter(ns);

	if (!err) {
		err = wires(lab, node, ports);
		netns_enter(home);
	}
	if (home >= 0)
		close(home);
	if (ns >= 0)
		close(ns);
	return err;
}

int node_wire(const struct lab *lab, uint32_t node, unsigned int port)
{
	return wires_inside(lab, node, (uint16_t)(1 << port));
}

int node_wires(const struct lab *lab, uint32_t node)
{
	return wires_inside(lab, node, UINT16_MAX);
}

void node_show_log(const struct lab *lab, uint32_t node, const char *program)
{
	char file[64], path[LAB_TEXT_MAX], tail[1024], *p = tail;
	FILE *f;
	size_t n;

	snprintf(file, sizeof(file), "%s.log", program);
	f = fopen(lab_path(lab, node, file, path), "re");
	if (!f)
		return;
	fprintf(stderr, "the end of %s:\n", path);
	if (fseek(f, -(long)sizeof(tail) + 1, SEEK_END) == 0 || fseek(f, 0, SEEK_SET) == 0) {
		n = fread(tail, 1, sizeof(tail) - 1, f);
		tail[n] = '\0';
		if (n == sizeof(tail) - 1 && (p = strchr(tail, '\n')) != NULL)
			p++;
		fputs(p ? p : tail, stderr);
	}
	fclose(f);
}
