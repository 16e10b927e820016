// SPDX-License-Identifier: GPL-2.0-only
/* Start, become a daemon, stop. */
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "args.h"
#include "emu.h"
#include "guid.h"
#include "log.h"
#include "priv.h"
#include "lib/netdev.h"

#define NICE (-10)

static struct emu emu;
static struct watch signals;

static void signal_ready(struct watch *w, u32 events)
{
	struct signalfd_siginfo si;

	(void)events;
	if (read(w->fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		log_info("ended by signal %u", si.ssi_signo);
		emu.stop = true;
	}
}

static int catch_signals(void)
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
	err = loop_add(&emu.loop, &signals, fd, EPOLLIN, signal_ready);
	if (err)
		close(fd);
	return err;
}

/* The frames of the whole NIC must fit the smallest of its devices. */
static int fit_frames(struct args *a)
{
	for (unsigned int i = 0; i < a->nports; i++) {
		int mtu;

		if (!a->lower[i][0])
			continue;
		mtu = port_mtu(a->lower[i]);
		if (mtu < 0) {
			log_err("%s: %s", a->lower[i], strerror(-mtu));
			return mtu;
		}
		if (mtu < TN_PACKET_MAX) {
			log_err("%s: its MTU is %d, allowed %d and more", a->lower[i], mtu,
				TN_PACKET_MAX);
			return -EINVAL;
		}
		if (!a->frame_max_set && (u32)mtu < a->params.frame_max)
			a->params.frame_max = (u32)mtu;
	}
	return 0;
}

static void placed(struct emu *e, const struct torus_shape *old, u32 old_node)
{
	struct lt_netdev dev = {
		.ifindex = (u32)e->tun.ifindex, .mtu = TUN_MTU,
		.old = old, .old_node = old_node, .shape = &e->shape, .node = e->node,
	};
	char text[128];
	int err = lt_netdev_place(&dev, text, sizeof(text));

	log_info("node %u of %u", e->node, tn_shape_nodes(&e->shape));
	if (err == -EAFNOSUPPORT)
		log_warn("%s has no IPv6 address: %s", e->tun.name, text);
	else if (err)
		log_err("%s: cannot set addresses: %s", e->tun.name, text);
}

static int make_nic(const struct args *a)
{
	int err;

	emu.params = a->params;
	emu.nports = (u8)a->nports;
	emu.guid = a->guid_set ? a->guid : guid_lasting(a->name);
	emu.bootstrap = a->bootstrap;
	emu.attach = port_attach;
	emu.placed = placed;
	strcpy(emu.name, a->name);
	if (getrandom(&emu.rng, sizeof(emu.rng), 0) < 0)
		emu.rng = loop_now();
	/* Not the time of day: a machine without a clock of its own repeats that. */
	emu.epoch = (u32)(emu.rng >> 32) | 1;
	err = emu_init(&emu, loop_now());
	if (err)
		log_err("the parameters do not fit together: %s", strerror(-err));
	return err;
}

static int attach_all(const struct args *a)
{
	for (unsigned int i = 0; i < a->nports; i++) {
		const char *why = NULL;
		int err;

		if (!a->lower[i][0])
			continue;
		err = port_attach(&emu.port[i], a->lower[i], &why, loop_now());
		if (err) {
			log_err("port %u on %s: %s", i, a->lower[i], why ? why : strerror(-err));
			return err;
		}
	}
	return 0;
}

static int failed(const char *what, int err)
{
	log_err("%s: %s", what, strerror(-err));
	return err;
}

static int open_socket_at(const char *path)
{
	char *copy = strdup(path);
	int err;

	if (copy)
		mkdir(dirname(copy), 0755);
	free(copy);
	err = server_open(&emu, path);
	if (err == -EADDRINUSE) {
		log_err("%s: another NIC listens there", path);
		return err;
	}
	return err ? failed(path, err) : 0;
}

static int start(struct args *a)
{
	int err;

	if (geteuid()) {
		log_err("only root may make a NIC");
		return -EPERM;
	}
	err = fit_frames(a);
	if (!err)
		err = make_nic(a);
	if (err)
		return err;
	err = catch_signals();
	if (err)
		return failed("signals", err);
	err = lower_init(&emu);
	if (err)
		return failed("rtnetlink", err);
	err = open_socket_at(a->socket);
	if (err)
		return err;
	err = tun_open(&emu, a->tun);
	if (err)
		return failed(a->tun, err);
	err = attach_all(a);
	if (err)
		return err;
	if (getpriority(PRIO_PROCESS, 0) > NICE)
		setpriority(PRIO_PROCESS, 0, NICE);
	err = priv_drop();
	return err ? failed("dropping privileges", err) : 0;
}

static void stop(void)
{
	sd_notify(0, "STOPPING=1");
	server_close(&emu);
	tun_close(&emu);
	lower_fini(&emu);
	loop_del(&emu.loop, &signals);
	emu_fini(&emu);
}

/* The parent waits for one byte that says the NIC is ready. */
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

static void now_ready(int pipefd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	sd_notify(0, "READY=1");
	if (pipefd < 0)
		return;
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		close(null);
	}
	if (write(pipefd, "", 1) != 1)
		log_warn("nobody waits for us to be ready");
	close(pipefd);
}

int main(int argc, char **argv)
{
	struct args args;
	int pipefd = -1;
	int err = args_parse(&args, argc, argv);

	if (err)
		return err < 0 ? 2 : 0;
	log_init(args.name, args.log_level);
	signals.fd = emu.tun.watch.fd = emu.server.watch.fd = -1;
	if (!args.foreground) {
		pipefd = become_daemon();
		if (pipefd < 0) {
			failed("fork", pipefd);
			return 2;
		}
	}
	if (start(&args)) {
		if (emu.nic)
			stop();
		return 2;
	}
	now_ready(pipefd);
	emu_run(&emu);
	stop();
	return 0;
}
