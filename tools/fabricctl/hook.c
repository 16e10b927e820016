// SPDX-License-Identifier: GPL-2.0-only
/*
 * DOC: hooks
 *
 * Between this process and the program there is a keeper, a child of this process. It becomes the
 * parent of all processes that the program leaves behind (PR_SET_CHILD_SUBREAPER), even if they
 * called setsid(). When the program has ended, or its time is over, or this process is gone, the
 * keeper kills the program's process group, then its own children until it has none, and ends.
 * Test: tests/netns/test_hook.sh.
 *
 * So a hook cannot start a process that outlives it; it can ask a batch system or systemd to start
 * one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ask.h"
#include "hook.h"
#include "json.h"
#include "lib/util/clock.h"
#include "output.h"

#define WAITING_MAX 1000	/* most events that wait for their hooks; further events are left
				 * out */
#define KEEPERS_MAX 64

static const char *program;
static uint64_t seconds_max, keepers_max;
static pid_t keeper[KEEPERS_MAX];
static unsigned int keepers;
static json_t *waiting;
static unsigned long long left_out;

/* --- the keeper ------------------------------------------------------------------------- */

/* Return: the parent of that process, or 0. */
static pid_t hook_parent(const char *pid)
{
	char path[64], line[512], *end;
	int parent = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	/* The name is in parentheses, and may contain some, too. */
	if (fgets(line, sizeof(line), f) && (end = strrchr(line, ')')))
		sscanf(end + 1, " %*c %d", &parent);
	fclose(f);
	return parent;
}

static void kill_children(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	while (dir && (d = readdir(dir)))
		if (d->d_name[0] >= '1' && d->d_name[0] <= '9' &&
		    hook_parent(d->d_name) == getpid())
			kill((pid_t)atoi(d->d_name), SIGKILL);
	if (dir)
		closedir(dir);
}

/*
 * Kills the process group, then the children of this process until it has none. It inherits the
 * children of processes that it kills.
 */
static void kill_all(pid_t group)
{
	const struct timespec moment = { .tv_nsec = 2000000 };

	kill(-group, SIGKILL);
	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid)
			continue;
		kill_children();
		nanosleep(&moment, NULL);
	}
}

static void run_hook(int input)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	setsid();
	dup2(input, STDIN_FILENO);
	close_range(3, ~0u, 0);
	execl(program, program, (char *)NULL);
	warn("hook %s: %s", program, strerror(errno));
	_exit(127);
}

static int64_t hook_now_ms(void)
{
	return (int64_t)(clock_ns(CLOCK_MONOTONIC) / MS);
}

/* Waits for @pid. Return: true if it has ended within its time; else the caller has to kill it. */
static bool await_program(pid_t pid, const sigset_t *signals, int *status)
{
	int64_t until = hook_now_ms() + (int64_t)seconds_max * 1000;

	for (;;) {
		int64_t left = until - hook_now_ms();
		struct timespec wait = { .tv_sec = left / 1000, .tv_nsec = left % 1000 * 1000000 };
		pid_t ended;

		while ((ended = waitpid(-1, status, WNOHANG)) > 0)
			if (ended == pid)
				return true;
		if (left <= 0)
			return false;
		switch (sigtimedwait(signals, NULL, &wait)) {
		case SIGTERM:
		case SIGINT:
		case SIGHUP:
			kill_all(pid);
			_exit(0);
		}
	}
}

static void report_end(unsigned long long seq, bool in_time, int status)
{
	if (!in_time)
		warn("hook %s: killed after %llu s, for event %llu", program,
		     (unsigned long long)seconds_max, seq);
	else if (WIFSIGNALED(status))
		warn("hook %s: killed by signal %d, for event %llu", program, WTERMSIG(status),
		     seq);
	else if (WEXITSTATUS(status))
		warn("hook %s: exit status %d, for event %llu", program, WEXITSTATUS(status), seq);
}

/* Runs the program as its keeper; does not return. */
static void run_keeper(const json_t *event, pid_t above, const sigset_t *signals)
{
	char *text = json_dumps(event, JSON_COMPACT | JSON_REAL_PRECISION(15));
	int input, status = 0;
	unsigned long long seq = json_count(event, "seq");
	bool in_time;
	pid_t pid;

	/* Close the connection to the manager, which would count as a client that reads nothing. */
	close_range(3, ~0u, 0);
	input = memfd_create("event", MFD_CLOEXEC);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (getppid() != above)
		_exit(0);
	if (!text || input < 0 || dprintf(input, "%s\n", text) < 0 || lseek(input, 0, SEEK_SET)) {
		warn("hook %s: cannot pass event %llu on: %s", program, seq, strerror(errno));
		_exit(0);
	}
	pid = fork();
	if (!pid)
		run_hook(input);
	if (pid < 0) {
		warn("hook %s: not run for event %llu: %s", program, seq, strerror(errno));
		_exit(0);
	}
	in_time = await_program(pid, signals, &status);
	kill_all(pid);
	report_end(seq, in_time, status);
	_exit(0);
}

/* --- this process ------------------------------------------------------------------------- */

int hook_start(const struct hook *hook)
{
	struct stat st;

	program = hook->program;
	seconds_max = hook->seconds;
	keepers_max = hook->at_once < KEEPERS_MAX ? hook->at_once : KEEPERS_MAX;
	waiting = json_array();
	if (stat(program, &st) || access(program, X_OK))
		return fail("--exec '%s': %s", program, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail("--exec '%s': it is not a regular file", program);
	return OK;
}

static void begin_hook(const json_t *event)
{
	pid_t above = getpid(), pid;
	sigset_t signals, was;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &was);
	fflush(NULL);
	pid = fork();
	if (!pid)
		run_keeper(event, above, &signals);
	sigprocmask(SIG_SETMASK, &was, NULL);
	if (pid > 0)
		keeper[keepers++] = pid;
	else
		warn("hook %s: not run: %s", program, strerror(errno));
}

void hook_run(const json_t *event)
{
	if (json_array_size(waiting) < WAITING_MAX) {
		json_array_append(waiting, (json_t *)event);
	} else if (!left_out++) {
		warn("hook %s: %d events wait, further ones are left out", program, WAITING_MAX);
	}
	hook_look();
}

static void reap_keepers(void)
{
	for (unsigned int i = 0; i < keepers;) {
		if (waitpid(keeper[i], NULL, WNOHANG) == 0)
			i++;
		else
			keeper[i] = keeper[--keepers];
	}
}

bool hook_look(void)
{
	reap_keepers();
	while (keepers < keepers_max && json_array_size(waiting)) {
		begin_hook(json_array_get(waiting, 0));
		json_array_remove(waiting, 0);
	}
	if (left_out && json_array_size(waiting) < WAITING_MAX / 2) {
		warn("hook %s: %llu events were left out", program, left_out);
		left_out = 0;
	}
	return keepers || json_array_size(waiting);
}
