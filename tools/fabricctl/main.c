// SPDX-License-Identifier: GPL-2.0-only
/* fabricctl: the admin's tool of a torus fabric. */
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "say.h"

static int help(void)
{
	printf("usage: fabricctl COMMAND [OPTION...] [ARGUMENT...]\n\n"
	       "NODE is coordinates or a name: 1,0,3 or n1-0-3; LINK is a node and its port:\n"
	       "1,0,3:+y\n\nthe fabric:\n");
	command_list("");
	printf("\na whole fabric on this machine:\n");
	command_list("lab");
	printf("\n'fabricctl COMMAND --help' says more, and so does fabricctl(8)\n"
	       "exit status: 0 fine, 1 the fabric has a problem, 2 usage or cannot ask\n");
	return OK;
}

/* "fabricctl links | head" is no error. */
static bool reader_left(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO, .events = POLLOUT };

	return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

/* Looks until the user has seen enough; the exit status is that of the last. */
static int watch(const struct command *cmd, struct ctl *ctl, int argc, char **argv)
{
	struct timespec pause = {
		.tv_sec = (time_t)ctl->interval,
		.tv_nsec = (long)((ctl->interval - (double)(time_t)ctl->interval) * 1e9),
	};
	int status;

	for (;;) {
		if (!ctl->json && *paint(PLAIN))
			fputs("\033[H\033[2J", stdout);
		status = cmd->run(ctl, argc, argv);
		if (!ctl->json && !*paint(PLAIN))
			putchar('\n');
		fflush(stdout);
		if ((status == CANNOT && !ctl->again) || ferror(stdout) || reader_left())
			return status;
		ctl->again = true;
		nanosleep(&pause, NULL);
	}
}

static int run(const struct command *cmd, int argc, char **argv)
{
	struct ctl ctl = { 0 };
	int first = command_parse(cmd, &ctl, argc, argv);

	if (first < 0)
		return -1 - first;
	if (ctl.watch)
		return watch(cmd, &ctl, argc - first, argv + first);
	return cmd->run(&ctl, argc - first, argv + first);
}

static int lab_help(void)
{
	printf("usage: fabricctl lab COMMAND [OPTION...] [ARGUMENT...]\n\n"
	       "A whole fabric on this machine: a network namespace for each node, a veth pair\n"
	       "for each cable, a NIC and a manager in each node.\n\n");
	command_list("lab");
	return OK;
}

static bool is(const char *arg, const char *a, const char *b)
{
	return !strcmp(arg, a) || !strcmp(arg, b);
}

static int dispatch(int argc, char **argv)
{
	const char *family = "";
	const struct command *cmd;

	if (argc < 2) {
		help();
		return CANNOT;
	}
	if (is(argv[1], "--help", "-h") || is(argv[1], "help", "help"))
		return help();
	if (is(argv[1], "--version", "-V")) {
		printf("fabricctl %s\n", TORUS_VERSION);
		return OK;
	}
	if (!strcmp(argv[1], "lab")) {
		family = argv[1];
		argc--;
		argv++;
		if (argc < 2) {
			lab_help();
			return CANNOT;
		}
		if (is(argv[1], "--help", "-h") || is(argv[1], "help", "help"))
			return lab_help();
	}
	cmd = command_find(family, argv[1]);
	return cmd ? run(cmd, argc - 1, argv + 1) : CANNOT;
}

int main(int argc, char **argv)
{
	int status;

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	status = dispatch(argc, argv);
	errno = 0;
	if ((fflush(stdout) || ferror(stdout)) && !reader_left())
		return fail("cannot write to standard output%s%s", errno ? ": " : "",
			    errno ? strerror(errno) : "");
	return status;
}
