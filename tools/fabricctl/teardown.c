// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order of teardown: the processes of the pid files; all other processes in the lab's network
 * namespaces; the namespaces, and with them their interfaces; files; lab.json last, so that another
 * "lab down" can start again if this one is interrupted.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab.h"
#include "names.h"
#include "netns.h"
#include "output.h"
#include "proc.h"
#include "teardown.h"

#define GRACE_MS 1500

/* Return: true if @file is a namespace of this lab: NAME-1.0.3 or NAME-service. */
static bool is_of_lab(const char *file, const char *name)
{
	size_t len = strlen(name);
	const char *rest = file + len + 1;

	if (strncmp(file, name, len) || file[len] != '-')
		return false;
	if (!strcmp(rest, "service"))
		return true;
	return isdigit((unsigned char)*rest) && strspn(rest, "0123456789.") == strlen(rest);
}

struct list {
	char **item;
	unsigned int n;
};

static void add_item(struct list *l, const char *item)
{
	char **more = realloc(l->item, (l->n + 1) * sizeof(*more));

	if (!more)
		return;
	l->item = more;
	l->item[l->n] = strdup(item);
	l->n += l->item[l->n] != NULL;
}

static void list_free(struct list *l)
{
	while (l->n)
		free(l->item[--l->n]);
	free(l->item);
}

static void find_namespaces(const char *name, struct list *l)
{
	DIR *dir = opendir(LAB_NETNS);
	struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir)) != NULL)
		if (is_of_lab(e->d_name, name))
			add_item(l, e->d_name);
	closedir(dir);
}

struct count {
	const char *name;
	unsigned int n;
};

static int count_name(const char *found, void *arg)
{
	struct count *count = arg;

	count->n += !strcmp(found, count->name);
	return 0;
}

void leftovers_find(const char *name, struct leftovers *out)
{
	struct count count = { .name = name };
	struct list l = { 0 };
	char path[PATH_MAX];

	find_namespaces(name, &l);
	snprintf(path, sizeof(path), LAB_RUN "/%s", name);
	names_each(count_name, &count);
	out->run = !access(path, F_OK);
	out->netns = l.n;
	out->names = count.n;
	list_free(&l);
}

/* Ends the processes of all pid files, those of the nodes and that of the lab. */
static int end_pidfiles(const char *name)
{
	char pattern[PATH_MAX];
	glob_t g = { 0 };
	int *fd, err = 0;

	snprintf(pattern, sizeof(pattern), LAB_RUN "/%s/*.pid", name);
	glob(pattern, GLOB_NOSORT, NULL, &g);
	snprintf(pattern, sizeof(pattern), LAB_RUN "/%s/*/*.pid", name);
	glob(pattern, GLOB_NOSORT | GLOB_APPEND, NULL, &g);
	fd = calloc(g.gl_pathc + 1, sizeof(*fd));
	for (size_t i = 0; fd && i < g.gl_pathc; i++)
		fd[i] = proc_hold(g.gl_pathv[i]);
	err = fd ? proc_end(fd, (unsigned int)g.gl_pathc, GRACE_MS) : -ENOMEM;
	free(fd);
	globfree(&g);
	return err;
}

static int end_inhabitants(const struct list *l)
{
	struct stat *ns = calloc(l->n + 1, sizeof(*ns));
	int fd[256], err = 0;
	unsigned int n;

	if (!ns)
		return -ENOMEM;
	for (unsigned int i = 0; i < l->n; i++)
		if (netns_stat(l->item[i], &ns[i]))
			ns[i].st_ino = 0;
		/* Processes that start during a round are found in a later one. */
	for (int round = 0; round < 8 && !err; round++) {
		n = netns_hold(ns, l->n, fd, sizeof(fd) / sizeof(fd[0]));
		if (!n)
			break;
		err = proc_end(fd, n, round ? 0 : GRACE_MS);
	}
	free(ns);
	return err;
}

static bool is_in_lab(const struct list *l)
{
	struct stat ns;

	for (unsigned int i = 0; i < l->n; i++)
		if (!netns_stat(l->item[i], &ns) && netns_has(&ns, getpid()))
			return true;
	return false;
}

static int remove_path(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	if (ftw->level == 0 || (ftw->level == 1 && !strcmp(path + ftw->base, "lab.json")))
		return 0;
	if (remove(path) && errno != ENOENT)
		warn("cannot remove %s: %m", path);
	return 0;
}

static int remove_run(const char *name)
{
	char path[PATH_MAX], json[PATH_MAX];

	snprintf(path, sizeof(path), LAB_RUN "/%s", name);
	snprintf(json, sizeof(json), LAB_RUN "/%s/lab.json", name);
	if (nftw(path, remove_path, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return -errno;
	if ((unlink(json) && errno != ENOENT) || (rmdir(path) && errno != ENOENT))
		return -errno;
	return 0;
}

static int clear_lab(const char *name, const struct list *l)
{
	int err, status = OK;

	err = end_pidfiles(name);
	if (err)
		status = fail("lab '%s': processes do not end: %s", name, strerror(-err));
	err = end_inhabitants(l);
	if (err)
		status = fail("lab '%s': processes in its namespaces do not end: %s", name,
			      strerror(-err));
	for (unsigned int i = 0; i < l->n; i++) {
		err = netns_delete(l->item[i]);
		if (err)
			status = fail("cannot delete namespace %s: %s", l->item[i],
				      strerror(-err));
	}
	err = names_remove(name);
	if (err < 0)
		status = fail("cannot clear " LAB_ETC ": %s", strerror(-err));
	if (status != OK)
		return status;
	err = remove_run(name);
	return err ? fail("cannot remove " LAB_RUN "/%s: %s", name, strerror(-err)) : OK;
}

int teardown(const char *name)
{
	struct list l = { 0 };
	int status;

	proc_files();
	find_namespaces(name, &l);
	if (is_in_lab(&l))
		status = fail("this process lives in lab '%s' itself: leave it first", name);
	else
		status = clear_lab(name, &l);
	list_free(&l);
	return status;
}
