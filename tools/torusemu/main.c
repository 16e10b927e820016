// SPDX-License-Identifier: GPL-2.0-only
/* Start, become a daemon, stop. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "args.h"
#include "emu.h"
#include "log.h"
#include "make.h"
#include "pack.h"
#include "priv.h"
#include "lib/util/priority.h"
#include "lib/util/systemd.h"

#define NICE (-10)
#define NICE_PACK (-20)		/* priority of a process with many NICs, each of which has a
				 * manager with the priority NICE */

/**
 * struct program - the state of the program
 * @who: name of the NIC, or "pack", for log messages
 */
struct program {
	struct chassis chassis;
	struct pack pack;
	struct watch signals;
	const char *who;
};

static void signal_ready(struct watch *w, u32 events)
{
	struct program *p = container_of(w, struct program, signals);
	struct signalfd_siginfo si;

	(void)events;
	if (read(w->fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		log_info(p->who, "ended by signal %u", si.ssi_signo);
		p->chassis.stop = true;
	}
}

static int catch_signals(struct program *p)
{
	sigset_t set;
	int fd, err;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = loop_add(&p->chassis.loop, &p->signals, fd, EPOLLIN, signal_ready);
	if (err)
		close(fd);
	return err;
}

static int log_failure(const struct program *p, const char *what, int err)
{
	log_err(p->who, "%s: %s", what, strerror(-err));
	return err;
}

static int start_pack(struct program *p, const char *path)
{
	struct rlimit files;
	int err;

	/*
	 * Each NIC has several descriptors, for its socket, its clients and its tun device, so the
	 * limit is raised.
	 */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	err = pack_open(&p->pack, &p->chassis, path);
	return err ? log_failure(p, path, err) : 0;
}

static int start_first_nic(struct program *p, struct args *a)
{
	char why[ARGS_WHY_MAX];

	if (make_nic(&p->chassis, a, why, sizeof(why)))
		return 0;
	log_err(p->who, "%s", why);
	return -EINVAL;
}

static int start_nics(struct program *p, struct args *a)
{
	int err;

	if (geteuid()) {
		log_err(p->who, "only root may make a NIC");
		return -EPERM;
	}
	err = catch_signals(p);
	if (err)
		return log_failure(p, "signals", err);
	err = lower_init(&p->chassis);
	if (err)
		return log_failure(p, "rtnetlink", err);
	err = a->pack ? start_pack(p, a->pack) : start_first_nic(p, a);
	if (err)
		return err;
	priority_raise(a->pack ? NICE_PACK : NICE);
	err = priv_drop(a->pack || a->netns);
	return err ? log_failure(p, "dropping privileges", err) : 0;
}

static void stop_nics(struct program *p)
{
	systemd_notify("STOPPING=1");
	if (p->pack.chassis)
		pack_close(&p->pack);
	else if (p->chassis.nics)
		unmake_nic(p->chassis.nics);
	loop_del(&p->chassis.loop, &p->signals);
	chassis_fini(&p->chassis);
}

/* Forks. The parent exits when the child writes a byte, which it does when the NIC is ready. */
static int become_daemon(void)
{
	int pipefd[2];
	char ok;
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid) {
		close(pipefd[1]);
		_exit(read(pipefd[0], &ok, 1) == 1 ? 0 : 2);
	}
	close(pipefd[0]);
	setsid();
	return pipefd[1];
}

static void now_ready(const struct program *p, int pipefd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	systemd_ready();
	if (pipefd < 0)
		return;
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	if (write(pipefd, "", 1) != 1)
		log_warn(p->who, "cannot report readiness: the starting process is gone");
	close(pipefd);
}

static int run_emu(struct program *p, struct args *a)
{
	int pipefd = a->foreground ? -1 : become_daemon(), err;

	p->who = a->pack ? "pack" : a->name;
	p->signals.fd = p->pack.listener.fd = -1;
	if (!a->foreground && pipefd < 0)
		return log_failure(p, "fork", pipefd);
	err = chassis_init(&p->chassis);
	if (err)
		return log_failure(p, "start", err);
	err = start_nics(p, a);
	if (!err) {
		now_ready(p, pipefd);
		chassis_run(&p->chassis);
	}
	stop_nics(p);
	return err;
}

int main(int argc, char **argv)
{
	static struct program program;
	char why[ARGS_WHY_MAX];
	struct args args;
	int what = args_parse(&args, argc, argv, why, sizeof(why));

	switch (what) {
	case ARGS_RUN:
		break;
	case ARGS_HELP:
		fputs(args_help, stdout);
		return 0;
	case ARGS_VERSION:
		puts("torusemu " TORUS_VERSION);
		return 0;
	default:
		fprintf(stderr, "torusemu: %s\n", why);
		return 2;
	}
	log_init(args.log_level);
	return run_emu(&program, &args) ? 2 : 0;
}
