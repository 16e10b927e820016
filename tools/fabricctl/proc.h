/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of a lab. Each writes its own pid file before it executes its program, so no process
 * can run without a pid file. A pid file contains "PID START": by the start time (field 22 of
 * /proc/PID/stat) a process is distinguished from a later one with the same number.
 */
#ifndef PROC_H
#define PROC_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * struct proc - a process to start
 * @argv: program (absolute path) and arguments
 * @netns: descriptor of the process's network namespace
 * @log, @pidfile: paths
 */
struct proc {
	char *const *argv;
	int netns;
	const char *log;
	const char *pidfile;
};

/** proc_start() - start a process. Return: its pid, or a negative errno (also that of the exec) */
int proc_start(const struct proc *p);
/** proc_running() - Return: pid of the live process of a pid file, or 0 */
int proc_running(const char *pidfile);
/** proc_is_paused() - Return: true if SIGSTOP has stopped that process */
bool proc_is_paused(int pid);
/**
 * proc_hold() - open the process of a pid file
 * Return: a pidfd, -ESRCH if it does not run, another negative errno.
 */
int proc_hold(const char *pidfile);
/** proc_hold_pid() - like proc_hold(), by the process id */
int proc_hold_pid(pid_t pid);
int proc_signal(int pidfd, int sig);

/** proc_end() - end processes: SIGTERM, wait @grace_ms, SIGKILL, wait; closes the pidfds */
int proc_end(int *pidfd, unsigned int n, int grace_ms);

/** proc_files() - raise the limit of open files, because a lab needs some for each node */
void proc_files(void);

/**
 * proc_find_program() - find a program in the directory of fabricctl, in ../sbin, or in PATH.
 * Return: 0, -ENOENT
 */
int proc_find_program(const char *name, char *path, unsigned int len);

#endif /* PROC_H */
