/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of a lab. Each writes its own pid file before it becomes its
 * program, so none can run without one. A pid file holds "PID START": the start
 * time (field 22 of /proc/PID/stat) tells a reused number from the process.
 */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct proc - a process to start
 * @argv: program (absolute path) and arguments
 * @netns: descriptor of its network namespace
 * @log, @pidfile: paths
 */
struct proc {
	char *const *argv;
	int netns;
	const char *log;
	const char *pidfile;
};

/** proc_start() - Return: its pid, or a negative errno (also of the exec) */
int proc_start(const struct proc *p);
/** proc_running() - Return: pid of the live process of a pid file, or 0 */
int proc_running(const char *pidfile);
/**
 * proc_hold() - a descriptor of the process of a pid file
 * Return: a pidfd, -ESRCH if it does not run, another negative errno.
 */
int proc_hold(const char *pidfile);
/** proc_hold_pid() - the same by number */
int proc_hold_pid(pid_t pid);
int proc_signal(int pidfd, int sig);

/** proc_end() - ask (TERM), wait, insist (KILL), wait: all of @n pidfds; closes them */
int proc_end(int *pidfd, unsigned int n, int grace_ms);

/** proc_files() - as many open files as may be: a lab has some for each node */
void proc_files(void);

/** proc_find_program() - beside fabricctl, in ../sbin, then PATH. Return: 0, -ENOENT */
int proc_find_program(const char *name, char *path, unsigned int len);

#endif /* PROC_H */
