// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "names.h"
#include "output.h"

/* Prints an address, the node's name, and the name of its place if it differs. */
static void print_name(FILE *f, const char *address, const char *host, const char *place,
		       const char *what)
{
	fprintf(f, "%s\t%s%s", address, host, what);
	if (strcmp(host, place))
		fprintf(f, " %s%s", place, what);
	fputc('\n', f);
}

void names_print(const struct lab *lab, FILE *f)
{
	char a[INET6_ADDRSTRLEN], host[TORUS_TEXT_MAX], at[TORUS_TEXT_MAX];

	for (uint32_t id = 0; id < lab->nodes; id++) {
		struct in_addr a4 = torus_plan_addr4(&lab->plan, &lab->shape, id);
		struct in_addr s = lab_service(lab, id);
		struct in6_addr a6 = torus_plan_addr6(&lab->plan, &lab->shape, id);

		lab_host(lab, id, host);
		lab_place_name(lab, id, at);
		print_name(f, inet_ntop(AF_INET, &a4, a, sizeof(a)), host, at, "");
		print_name(f, inet_ntop(AF_INET6, &a6, a, sizeof(a)), host, at, "");
		print_name(f, inet_ntop(AF_INET, &s, a, sizeof(a)), host, at, "-svc");
	}
}

/*
 * Writes into the existing file and does not replace it, because nodes with running programs have
 * it mounted.
 */
int names_renew(const struct lab *lab)
{
	char hosts[LAB_TEXT_MAX];
	FILE *f = fopen(lab_path(lab, TORUS_NO_NODE, "hosts", hosts), "we");

	if (!f)
		return -errno;
	fprintf(f, "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n");
	names_print(lab, f);
	return fclose(f) ? -errno : 0;
}

static int link_names(const struct lab *lab, uint32_t node, const char *hosts)
{
	char path[sizeof(LAB_ETC) + LAB_TEXT_MAX + 8], ns[LAB_TEXT_MAX];

	snprintf(path, sizeof(path), LAB_ETC "/%s", lab_netns(lab, node, ns));
	if (mkdir(path, 0755) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), LAB_ETC "/%s/hosts", ns);
	if (!symlink(hosts, path))
		return 0;
	if (errno == EEXIST)
		warn("%s exists, and is not that of a lab: remove it, or choose another --lab",
		     path);
	return -errno;
}

int names_write(const struct lab *lab)
{
	char hosts[LAB_TEXT_MAX];
	int err = names_renew(lab);

	if (err)
		return err;
	lab_path(lab, TORUS_NO_NODE, "hosts", hosts);
	/* ip-netns(8) has one file for each namespace, and all packed nodes are in one. */
	if (!lab->tun)
		return 0;
	if (mkdir(LAB_ETC, 0755) && errno != EEXIST)
		return -errno;
	for (uint32_t id = 0; !err && id < lab->nodes; id++)
		err = link_names(lab, id, hosts);
	return err;
}

/*
 * Finds the lab to which the link in /etc/netns/@dir belongs. Return: false if the link does not
 * belong to a lab.
 */
static bool lab_of(const char *dir, char *name)
{
	char path[PATH_MAX], to[PATH_MAX], *end;
	ssize_t n;

	snprintf(path, sizeof(path), LAB_ETC "/%s/hosts", dir);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return false;
	to[n] = '\0';
	if (strncmp(to, LAB_RUN "/", sizeof(LAB_RUN)))
		return false;
	end = strchr(to + sizeof(LAB_RUN), '/');
	if (!end || strcmp(end, "/hosts") || end - to - sizeof(LAB_RUN) > LAB_NAME_MAX)
		return false;
	*end = '\0';
	strcpy(name, to + sizeof(LAB_RUN));
	return true;
}

int names_each(int (*fn)(const char *name, void *arg), void *arg)
{
	DIR *dir = opendir(LAB_ETC);
	char name[LAB_NAME_MAX + 1];
	struct dirent *e;
	int err = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (e = readdir(dir)) != NULL)
		if (e->d_name[0] != '.' && lab_of(e->d_name, name))
			err = fn(name, arg);
	closedir(dir);
	return err;
}

int names_remove(const char *name)
{
	DIR *dir = opendir(LAB_ETC);
	char found[LAB_NAME_MAX + 1], path[PATH_MAX];
	size_t len = strlen(name);
	struct dirent *e;
	int n = 0;

	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while ((e = readdir(dir)) != NULL) {
		const char *rest = e->d_name + len;

		if (strncmp(e->d_name, name, len) || *rest != '-')
			continue;
		if (lab_of(e->d_name, found) && !strcmp(found, name)) {
			snprintf(path, sizeof(path), LAB_ETC "/%s/hosts", e->d_name);
			unlink(path);
			n++;
		}
		/* If lab up was interrupted, a node may have an empty directory. */
		snprintf(path, sizeof(path), LAB_ETC "/%s", e->d_name);
		if (strspn(rest + 1, "0123456789.") == strlen(rest + 1))
			rmdir(path);
	}
	closedir(dir);
	return n;
}
