// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <arpa/inet.h>

#include "labconf.h"
#include "nic.h"
#include "node.h"
#include "node_proc.h"
#include "output.h"
#include "proc.h"

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
	fprintf(f, "control = %s\n", lab_path(lab, node, "control", path));
	if (!labconf_has(extra, "key_file"))
		fprintf(f, "key_file = %s\n", lab_path(lab, TORUS_NO_NODE, "key", path));
	if (!labconf_has(extra, "state_dir"))
		fprintf(f, "state_dir = %s\n", lab_path(lab, node, "state", path));
	if (!labconf_has(extra, "log_level"))
		fprintf(f, "log_level = %s\n", lab->log_level);
	fputs(extra, f);
	return fclose(f) ? -errno : 0;
}

int node_files(const struct lab *lab, uint32_t node, const char *extra)
{
	char path[LAB_TEXT_MAX];

	if (mkdir(lab_path(lab, node, "", path), 0755))
		return -errno;
	return write_config(lab, node, extra);
}

/* Writes fabricd.conf again, with another name; all other lines stay. */
static int rename_manager(const struct lab *lab, uint32_t node, const char *name)
{
	char path[LAB_TEXT_MAX], fresh[LAB_TEXT_MAX], line[1024];
	FILE *in, *out;
	int err = 0;

	in = fopen(lab_path(lab, node, "fabricd.conf", path), "re");
	if (!in)
		return -errno;
	out = fopen(lab_path(lab, node, "fabricd.conf.new", fresh), "we");
	if (!out) {
		err = -errno;
		fclose(in);
		return err;
	}
	while (fgets(line, sizeof(line), in))
		if (!strncmp(line, "name = ", 7))
			fprintf(out, "name = %s\n", name);
		else
			fputs(line, out);
	if (ferror(in))
		err = -EIO;
	fclose(in);
	if (fclose(out) || (!err && rename(fresh, path)))
		err = -errno;
	return err;
}

static int remove_node(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path) && errno != ENOENT ? -1 : 0;
}

int node_renew(const struct lab *lab, uint32_t node, const char *name)
{
	char path[LAB_TEXT_MAX];

	if (nftw(lab_path(lab, node, "state", path), remove_node, 16, FTW_DEPTH | FTW_PHYS) &&
	    errno != ENOENT)
		return -errno;
	return name ? rename_manager(lab, node, name) : 0;
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

int node_wire(const struct lab *lab, uint32_t node, unsigned int port)
{
	return nic_wires(lab, node, (uint16_t)(1 << port));
}

int node_wires(const struct lab *lab, uint32_t node)
{
	return nic_wires(lab, node, UINT16_MAX);
}
