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
#include "nic.h"
#include "node.h"
#include "pack.h"
#include "proc.h"
#include "say.h"

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

int node_start(const struct lab *lab, uint32_t node, int netns, const char *program,
	       char *const *argv)
{
	char file[64], log[LAB_TEXT_MAX], pidfile[LAB_TEXT_MAX];
	struct proc p = { .argv = argv, .netns = netns, .log = log, .pidfile = pidfile };

	snprintf(file, sizeof(file), "%s.log", program);
	lab_path(lab, node, file, log);
	snprintf(file, sizeof(file), "%s.pid", program);
	lab_path(lab, node, file, pidfile);
	return proc_start(&p);
}

int node_start_manager(const struct lab *lab, uint32_t node, int netns,
		       const struct programs *p)
{
	char path[LAB_TEXT_MAX];
	char *const argv[] = {
		(char *)p->manager, (char *)"--config",
		lab_path(lab, node, "fabricd.conf", path), NULL,
	};

	return node_start(lab, node, netns, "fabricd", argv);
}

unsigned int node_missing(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];
	unsigned int missing = 0;

	if (!nic_running(lab, node))
		missing |= LAB_NO_NIC;
	if (!proc_running(lab_path(lab, node, "fabricd.pid", path)))
		missing |= LAB_NO_MANAGER;
	return missing;
}

static int end_manager(const struct lab *lab, uint32_t node)
{
	char path[LAB_TEXT_MAX];
	int fd = proc_hold(lab_path(lab, node, "fabricd.pid", path));

	if (fd < 0)
		return fd == -ESRCH ? 0 : fd;
	return proc_end(&fd, 1, 0);
}

int node_kill(const struct lab *lab, uint32_t node, unsigned int what)
{
	int err = what & LAB_NO_MANAGER ? end_manager(lab, node) : 0;
	int nic = what & LAB_NO_NIC ? nic_end(lab, node) : 0;

	return err ? err : nic;
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

static int pack_wires(const struct lab *lab, uint32_t node, uint16_t ports)
{
	int err = 0;

	for (unsigned int port = 0; !err && port < 2u * lab->shape.ndims; port++)
		if (ports & 1 << port && lab_cable(lab, port))
			err = pack_wire(lab, node, port);
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
	uint16_t ports = (uint16_t)(1 << port);

	return lab->packed ? pack_wires(lab, node, ports) : wires_inside(lab, node, ports);
}

int node_wires(const struct lab *lab, uint32_t node)
{
	return lab->packed ? pack_wires(lab, node, UINT16_MAX) :
			     wires_inside(lab, node, UINT16_MAX);
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
