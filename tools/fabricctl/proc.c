// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/clock.h"
#include "netns.h"
#include "proc.h"

#define STAT_MAX 1024

/*
 * Reads /proc/PID/stat into @line. Return: field 3, the state, and the fields after it. The name in
 * field 2 may contain any character, so the end of the name is searched from the end; NULL: there
 * is no such process.
 */
static const char *read_stat(pid_t pid, char line[STAT_MAX])
{
	char path[64], *p = NULL;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return NULL;
	if (fgets(line, STAT_MAX, f))
		p = strrchr(line, ')');
	fclose(f);
	return p && p[1] == ' ' ? p + 2 : NULL;
}

/* Return: field 22 of /proc/PID/stat; 0 if the process has ended. */
static unsigned long long start_time(pid_t pid)
{
	unsigned long long start = 0;
	char line[STAT_MAX];
	const char *p = read_stat(pid, line);

	if (!p || *p == 'Z' || *p == 'X' ||
	    sscanf(p, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
		      "%*s %*s %*s %*s %*s %llu", &start) != 1)
		return 0;
	return start;
}

bool proc_is_paused(int pid)
{
	char line[STAT_MAX];
	const char *p = read_stat(pid, line);

	return p && *p == 'T';
}

/*
 * A killed process ends at once, except that the kernel may need seconds to free its devices, such
 * as hundreds of tun devices of one process.
 */
#define GONE_MS 60000

static int pidfile_write(const char *path)
{
	char fresh[PATH_MAX];
	FILE *f;

	snprintf(fresh, sizeof(fresh), "%s.new", path);
	f = fopen(fresh, "we");
	if (!f)
		return -errno;
	fprintf(f, "%d %llu\n", getpid(), start_time(getpid()));
	if (fclose(f) || rename(fresh, path))
		return -errno;
	return 0;
}

static void become_program(const struct proc *p, int report)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	int log = open(p->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
	sigset_t none;
	int err = 0;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	setsid();
	umask(022);
	if (null < 0 || log < 0 || chdir("/"))
		err = errno;
	if (!err)
		err = -netns_enter(p->netns);
	if (!err)
		err = -pidfile_write(p->pidfile);
	if (!err && (dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0))
		err = errno;
	if (!err) {
		close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
		execv(p->argv[0], p->argv);
		err = errno;
	}
	if (write(report, &err, sizeof(err)) < 0)
		_exit(126);
	_exit(127);
}

int proc_start(const struct proc *p)
{
	int report[2], err = 0;
	pid_t pid;

	if (pipe2(report, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid == 0)
		become_program(p, report[1]);
	close(report[1]);
	if (pid < 0)
		err = errno;
	else if (read(report[0], &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(report[0]);
	if (err && pid > 0) {
		waitpid(pid, NULL, 0);
		unlink(p->pidfile);
	}
	return err ? -err : pid;
}

static pid_t pidfile_read(const char *path, unsigned long long *start)
{
	FILE *f = fopen(path, "re");
	int pid = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d %llu", &pid, start) != 2)
		pid = 0;
	fclose(f);
	return pid;
}

int proc_running(const char *pidfile)
{
	unsigned long long start;
	pid_t pid = pidfile_read(pidfile, &start);

	return pid > 1 && start && start_time(pid) == start ? pid : 0;
}

int proc_hold_pid(pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	return fd < 0 ? -errno : fd;
}

/*
 * The pidfd is opened before the start time is compared, so the process id cannot be reused in
 * between.
 */
int proc_hold(const char *pidfile)
{
	unsigned long long start;
	pid_t pid = pidfile_read(pidfile, &start);
	int fd;

	if (pid <= 1)
		return -ESRCH;
	fd = proc_hold_pid(pid);
	if (fd >= 0 && (!start || start_time(pid) != start)) {
		close(fd);
		return -ESRCH;
	}
	return fd;
}

int proc_signal(int pidfd, int sig)
{
	return syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0) ? -errno : 0;
}

static long long now_ms(void)
{
	return (long long)(clock_ns(CLOCK_MONOTONIC) / MS);
}

static unsigned int wait_all(int *pidfd, unsigned int n, int ms)
{
	long long end = now_ms() + ms;
	unsigned int left = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct pollfd p = { .fd = pidfd[i], .events = POLLIN };
		long long rest = end - now_ms();

		if (pidfd[i] < 0)
			continue;
		if (poll(&p, 1, rest > 0 ? (int)rest : 0) > 0) {
			close(pidfd[i]);
			pidfd[i] = -1;
		} else {
			left++;
		}
	}
	return left;
}

static void signal_all(const int *pidfd, unsigned int n, int sig)
{
	for (unsigned int i = 0; i < n; i++)
		if (pidfd[i] >= 0)
			proc_signal(pidfd[i], sig);
}

int proc_end(int *pidfd, unsigned int n, int grace_ms)
{
	unsigned int left;

	if (grace_ms > 0) {
		signal_all(pidfd, n, SIGTERM);
		signal_all(pidfd, n, SIGCONT);
	}
	if (grace_ms <= 0 || wait_all(pidfd, n, grace_ms))
		signal_all(pidfd, n, SIGKILL);
	left = wait_all(pidfd, n, GONE_MS);
	for (unsigned int i = 0; i < n; i++)
		if (pidfd[i] >= 0)
			close(pidfd[i]);
	return left ? -EBUSY : 0;
}

void proc_files(void)
{
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
}

static int try_place(const char *dir, int len, const char *sub, const char *name, char *path,
		     unsigned int max)
{
	int n = snprintf(path, max, "%.*s%s/%s", len, dir, sub, name);

	return n > 0 && (unsigned int)n < max && !access(path, X_OK) ? 0 : -ENOENT;
}

int proc_find_program(const char *name, char *path, unsigned int len)
{
	const char *dirs = getenv("PATH");
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		dirname(self);
		if (!try_place(self, (int)strlen(self), "", name, path, len) ||
		    !try_place(self, (int)strlen(self), "/../sbin", name, path, len))
			return 0;
	}
	while (dirs && *dirs) {
		int part = (int)strcspn(dirs, ":");

		if (part && !try_place(dirs, part, "", name, path, len))
			return 0;
		dirs += part + (dirs[part] == ':');
	}
	return -ENOENT;
}
