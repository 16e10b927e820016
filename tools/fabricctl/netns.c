// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lab.h"
#include "netns.h"
#include "proc.h"

#define PATH_LEN (sizeof(LAB_NETNS) + LAB_TEXT_MAX + 1)

static char *netns_path(const char *name, char *buf)
{
	snprintf(buf, PATH_LEN, LAB_NETNS "/%.*s", LAB_TEXT_MAX, name);
	return buf;
}

int netns_home(void)
{
	int fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int netns_enter(int fd)
{
	return setns(fd, CLONE_NEWNET) ? -errno : 0;
}

/* Makes the directory a shared mount; else other mount namespaces keep deleted namespaces alive. */
static int prepare_mount(void)
{
	static bool done;

	if (done)
		return 0;
	if ((mkdir("/run", 0755) && errno != EEXIST) ||
	    (mkdir(LAB_NETNS, 0755) && errno != EEXIST))
		return -errno;
	if (mount("", LAB_NETNS, "none", MS_SHARED | MS_REC, NULL)) {
		if (errno != EINVAL)
			return -errno;
		if (mount(LAB_NETNS, LAB_NETNS, "none", MS_BIND | MS_REC, NULL) ||
		    mount("", LAB_NETNS, "none", MS_SHARED | MS_REC, NULL))
			return -errno;
	}
	done = true;
	return 0;
}

int netns_create(const char *name)
{
	char path[PATH_LEN];
	int fd, err = prepare_mount();

	if (err)
		return err;
	fd = open(netns_path(name, path), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	close(fd);
	if (unshare(CLONE_NEWNET) || mount("/proc/self/ns/net", path, "none", MS_BIND, NULL)) {
		err = -errno;
		unlink(path);
		return err;
	}
	fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int netns_open(const char *name)
{
	char path[PATH_LEN];
	struct statfs fs;
	int fd = open(netns_path(name, path), O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (!fstatfs(fd, &fs) && fs.f_type == NSFS_MAGIC &&
	    ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNET)
		return fd;
	close(fd);
	return -EINVAL;
}

int netns_delete(const char *name)
{
	char path[PATH_LEN];

	netns_path(name, path);
	if (umount2(path, MNT_DETACH) && errno != EINVAL && errno != ENOENT)
		return -errno;
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

int netns_stat(const char *name, struct stat *st)
{
	int fd = netns_open(name);
	int err;

	if (fd < 0)
		return fd;
	err = fstat(fd, st) ? -errno : 0;
	close(fd);
	return err;
}

bool netns_has(const struct stat *ns, int pid)
{
	struct stat st;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", pid);
	return !stat(path, &st) && st.st_dev == ns->st_dev && st.st_ino == ns->st_ino;
}

int netns_visit(const char *name, int (*visit)(void *arg), void *arg)
{
	int home = netns_home(), ns = netns_open(name);
	int err = home < 0 ? home : ns < 0 ? ns : netns_enter(ns);

	if (!err) {
		err = visit(arg);
		netns_enter(home);
	}
	if (home >= 0)
		close(home);
	if (ns >= 0)
		close(ns);
	return err;
}

static bool lives_there(const struct stat *ns, unsigned int n, int pid)
{
	for (unsigned int i = 0; i < n; i++)
		if (ns[i].st_ino && netns_has(&ns[i], pid))
			return true;
	return false;
}

/*
 * The pidfd is opened before the namespace is checked, so the process id cannot be reused in
 * between.
 */
unsigned int netns_hold(const struct stat *ns, unsigned int n, int *fd, unsigned int max)
{
	DIR *dir = opendir("/proc");
	unsigned int found = 0;
	struct dirent *e;

	while (dir && found < max && (e = readdir(dir)) != NULL) {
		int pid = atoi(e->d_name);

		if (pid <= 1 || pid == getpid() || !lives_there(ns, n, pid))
			continue;
		fd[found] = proc_hold_pid(pid);
		if (fd[found] < 0)
			continue;
		if (lives_there(ns, n, pid))
			found++;
		else
			close(fd[found]);
	}
	if (dir)
		closedir(dir);
	return found;
}
